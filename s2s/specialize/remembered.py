"""Results that are kept from call to call: a specialised primal goes in, one with checks comes out.

    if not np.array_equal(self.x, x):            rt.check_not_remembered(x, self.x)
        self.x, self.y = x.copy(), solve(x)      if not np.array_equal(self.x, x):
    return np.sum(self.y * x)                        ...

What such a function finds where ``x`` is the one of the call before was computed of that ``x``, and how it was is not
known any more: it would be taken for a constant. So in a function that writes something differentiated outside of
itself, or may do so on a path that this version has not, a test whether something differentiated is equal to what is
not is preceded by a check, which refuses where it is. So is a difference of these that is compared with a bound. A
function that keeps nothing tests a special case, and has no check; one that computes with the difference to what it
has kept, as a mean that runs on does, has none either.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator

import numpy as np

from s2s import runtime as rt
from s2s.analysis.effects import writes_outside
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.values import Unknown
from s2s.specialize.severed import writes_down

__all__ = ["check_remembered"]

_EQUALITIES = frozenset(map(ir.Const, (
    operator.eq, operator.ne, np.equal, np.not_equal, np.array_equal, np.array_equiv, np.allclose, np.isclose,
    math.isclose)))  # fmt: skip

_ORDERS = frozenset(map(ir.Const, (
    operator.lt, operator.le, operator.gt, operator.ge, np.less, np.less_equal, np.greater, np.greater_equal)))

_MEMBERSHIPS = (ir.Const(ops.contains), ir.Const(ops.not_in))

_DIFFERENCES = frozenset(map(ir.Const, (operator.sub, np.subtract)))


def check_remembered(function: ir.Function, context: Context) -> ir.Function:
    """The function with a check before each test that may ask whether something differentiated is what it has kept."""
    if not any(_may_keep(s, context) for s in ir.walk(function.body)):
        return function
    compared = {atom for s in ir.walk(function.body) for atom in _compared(s, context)}
    return ir.replace(function, body=_checked(function.body, context, compared))


def _may_keep(s: ir.Statement, context: Context) -> bool:
    """Whether a statement writes something differentiated outside of the function, or stands for what may do so."""
    if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn == ir.Const(rt.unreached_error):
        return True
    return writes_outside(s) and any(_depends(atom, context) for atom in ir.atoms_of(s.value))  # type: ignore[union-attr]


def _compared(s: ir.Statement, context: Context) -> Iterator[ir.Atom]:
    """The differentiated values that a statement compares with a bound are computed of."""
    if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call) or s.value.fn not in _ORDERS | _EQUALITIES:
        return
    left = [*ir.atoms_of(s.value)]
    seen: set[ir.Atom] = set()
    while left:
        atom = left.pop()
        if isinstance(atom, ir.Var) and atom not in seen and context.is_varied(atom):
            seen.add(atom)
            made = context.definitions.get(atom)
            left += ir.atoms_of(made) if isinstance(made, ir.Call) else ()
    yield from seen


def _checked(block: ir.Block, context: Context, compared: set[ir.Atom]) -> ir.Block:
    made: list[ir.Statement] = []
    for s in block.statements:
        s = ir.with_blocks(s, (_checked(b, context, compared) for b in ir.blocks_of(s)))
        check = _check(s, context, compared)
        made += [s] if check is None else [ir.Let(None, check, span=s.span), s]
    return ir.Block(tuple(made), block.yields)


def _check(s: ir.Statement, context: Context, compared: set[ir.Atom]) -> ir.Call | None:
    """What is to run before a statement."""
    match s:
        case ir.Let(_, ir.Call(fn, (item, ir.Var() as container))) if fn in _MEMBERSHIPS:
            asked = _depends(item, context) and not _depends(container, context)
            if asked and not isinstance(context.value(container), Unknown):  # of those check_picks is told
                return ir.Call(ir.Const(rt.check_no_kept_key), (item, container))
        case ir.Let(target, ir.Call(fn, (one, other, *_))) if fn in _EQUALITIES or (
            fn in _DIFFERENCES and target in compared
        ):
            if _depends(one, context) != _depends(other, context) and not (_is_literal(one) or _is_literal(other)):
                return ir.Call(ir.Const(rt.check_not_remembered), (one, other))
    return None


def _is_literal(atom: object) -> bool:
    """Whether an operand is written in the program, or is no plain one. A text may be what an attribute holds, which a
    version is made for."""
    return not isinstance(atom, ir.Var) and not (isinstance(atom, ir.Const) and isinstance(atom.value, (str, bytes)))


def _depends(atom: object, context: Context) -> bool:
    """Whether an atom is differentiated, or a copy, a text or the hash of what is."""
    if not isinstance(atom, ir.Var):
        return False
    if context.is_varied(atom):
        return True
    made = context.definitions.get(atom)
    if not isinstance(made, ir.Call):
        return False
    if isinstance(made.fn, ir.Const):
        fn = made.fn.value
        if fn is not rt.as_it_is and fn is not hash and not writes_down(context, fn, made.args):
            return False
        return any(_depends(a, context) for a in ir.atoms_of(made))
    method = context.definitions.get(made.fn)
    is_method = isinstance(method, ir.Call) and method.fn == ir.Const(getattr)
    return is_method and method.args[1] == ir.Const("tobytes") and _depends(method.args[0], context)  # type: ignore
