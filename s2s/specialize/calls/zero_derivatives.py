"""Operations that have a zero derivative for numbers, and may carry values all the same: these are refused.

``a | b`` of masks is flat; that of two dicts holds what the dicts hold. A number that is read from text comes, perhaps,
from a number that was written there.
"""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.builder.builder import Context
from s2s.builder.virtual_heap import state_of
from s2s.core import ir, ops
from s2s.core.values import Array, Known, Mapping, Scalar
from s2s.rules import table
from s2s.specialize.frames import in_rule, name_of
from s2s.specialize.severed import writes_down
from s2s.specialize.site import NOT_HANDLED, CallSite, Handler

__all__ = ["HANDLERS"]

DEPTH = 8
"""How many operations back a text is followed."""


# --- bits, or items -------------------------------------------------------------------------------------------------


def _with_items(site: CallSite) -> ir.Atom | None:
    """``a | b`` and its kin of what may be no mask: of dicts the dict of all entries, of anything else that is not
    known to be a number or an array a value that is looked at when the program runs."""
    args = site.args
    if in_rule(site.frame) or len(args) != 2:
        return NOT_HANDLED
    if not any(site.context.is_varied(a) and not _is_numeric(site.context, a) for a in args):
        return NOT_HANDLED
    if site.fn is operator.or_ and all(_is_dict(site.context, a) for a in args):
        return site.result_of(ops.merge_dict, args)
    made = site.compute(site.fn, *map(site.builder.frozen, args))
    return site.write(rt.check_bits, made)


def _is_numeric(context: Context, atom: ir.Atom) -> bool:
    value = context.value(atom)
    if isinstance(value, Known):
        return isinstance(value.value, (bool, int, np.generic, np.ndarray))
    return isinstance(value, (Scalar, Array)) and not context.is_virtual(atom)


def _is_dict(context: Context, atom: ir.Atom) -> bool:
    state = state_of(context, atom)
    return isinstance(context.value(atom), Mapping) or (state is not None and issubclass(state.kind, dict))


# --- text -----------------------------------------------------------------------------------------------------------

def _from_text(site: CallSite) -> ir.Atom | None:
    """Refuse a number that is read from text which a differentiated number was written into."""
    args = site.args
    if in_rule(site.frame) or len(args) != 1:
        return NOT_HANDLED
    if not site.context.is_varied(args[0]) and _holds_number(site.context, args[0], DEPTH):
        reason = "it reads a number from text, where a derivative is lost; use the number itself, or np.round"
        raise site.refusal("S2S202", name=name_of(site.fn), reason=reason)
    return NOT_HANDLED


def _holds_number(context: Context, atom: ir.Atom, depth: int) -> bool:
    """Whether a text is made of a differentiated number, as far back as its making is known."""
    made = context.definitions.get(atom) if isinstance(atom, ir.Var) and depth else None
    if not isinstance(made, ir.Call):
        return False
    fn = made.fn.value if isinstance(made.fn, ir.Const) else None
    atoms = [a.atom if isinstance(a, ir.Star) else a for a in (*made.args, *(a for _, a in made.kwargs))]
    if writes_down(context, fn, made.args):
        return any(context.is_varied(a) or _holds_number(context, a, depth - 1) for a in atoms)
    rule = table.find(fn)
    if rule is not None and rule.kind == "zero":
        return False  # a length, a comparison
    looked_at = atoms[:1] if fn is operator.getitem else atoms
    return any(_holds_number(context, a, depth - 1) for a in (*looked_at, made.fn))


HANDLERS: dict[Any, Handler] = {
    **dict.fromkeys((operator.and_, operator.or_, operator.xor), _with_items),
    **dict.fromkeys((builtins.float, builtins.complex, np.float64, np.float32, np.complex128), _from_text),
    np.frombuffer: _from_text,
}
"""What is looked at before a call is left to its rule."""
