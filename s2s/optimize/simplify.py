"""Simplifications of SSA code, each one a function of its own: SSA in, SSA out. ``dead`` has one more.

    share          the same pure operation twice in a row of blocks is computed once
    drop_copies    arrays that were copied although nothing else refers to them
    drop_invariant what a loop carries although no trip changes it
    accumulate     sums that are joined or carried, written as additions in place
"""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import is_number, shape_of
from s2s.analysis.memory import Memory
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.values import Array, Scalar
from s2s.directives.policies import Chosen
from s2s.optimize.dead import changes_argument
from s2s.optimize.rewriting import count_uses, map_blocks, substitute, substitute_all

# --- sharing --------------------------------------------------------------------------------------------------------


def share(function: ir.Function, context: Context) -> ir.Function:
    """The function with equal pure operations on equal atoms computed once, where the first stands before the second.

    Only operations whose results are never stored to, and which read the same versions of what is.
    What a block computes that runs again is not shared with its second run.
    """
    stored, own = _stored(function, context), context.runtime_objects

    def block(b: ir.Block, seen: dict[Any, ir.Var], mapping: dict[ir.Atom, ir.Atom]) -> ir.Block:
        seen = dict(seen)
        made = []
        for s in b.statements:
            s = _map_own(s, mapping)
            target = s.target if isinstance(s, ir.Let) else None
            if isinstance(s, ir.Let) and target is not None and _is_shareable(target, s.value, stored | own, own):
                assert isinstance(s.value, ir.Call)
                key, passes = (s.value.fn, s.value.args, s.reads), target in context.passing
                if s.value.fn == _NEG:
                    of: ir.Atom = s.value.args[0]  # type: ignore[assignment]
                    negated[target] = of
                    twice = negated.get(of)
                    if twice is not None and isinstance(context.value(target), Scalar):  # an array stays its own
                        mapping[target] = twice
                        continue
                found = seen.get((key, passes)) or seen.get((key, False))
                if found is not None:
                    mapping[target] = found
                    continue
                seen[key, passes] = target
            made.append(map_blocks(s, lambda inner, seen=seen: block(inner, seen, mapping)))
        return ir.Block(tuple(made), tuple(mapping.get(a, a) for a in b.yields))

    mapping: dict[ir.Atom, ir.Atom] = {}
    negated: dict[ir.Atom, ir.Atom] = {}
    body = block(function.body, {}, mapping)
    made = ir.replace(function, body=body)
    return substitute_all(made, mapping) if mapping else made


def _map_own(s: ir.Statement, mapping: dict[ir.Atom, ir.Atom]) -> ir.Statement:
    if isinstance(s, ir.Let):
        return substitute(s, mapping)
    return s


def _stored(function: ir.Function, context: Context) -> set[ir.Atom]:
    """What some statement changes in place, under every name that it may have."""
    found: set[ir.Atom] = set()
    for s in ir.walk(function.body):
        if isinstance(s, ir.Store):
            found.add(s.target)
        elif isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and isinstance(s.value.fn, ir.Const):
            if changes_argument(s.value.fn.value) and not isinstance(s.value.args[0], ir.Star):
                found.add(s.value.args[0])
    if not found:
        return found
    memory = Memory(function, context.value)
    return {var for atom in found if isinstance(atom, ir.Var) for var in (*memory.same(atom), atom)}


_SHARED: set[Any] = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg, operator.matmul,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.getitem, getattr, len, np.shape,
    rt.quotient, rt.power,
}

_SHARED_MODULES = ("math", "numpy.linalg")


def _is_shareable(target: ir.Var, value: ir.Value, stored: set[ir.Atom], own: set[ir.Atom]) -> bool:
    if target in stored or not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const) or value.kwargs:
        return False
    fn = value.fn.value.func if isinstance(value.fn.value, Chosen) else value.fn.value
    try:
        known = fn in _SHARED or isinstance(fn, np.ufunc) or getattr(fn, "__module__", "") in _SHARED_MODULES
    except TypeError:
        return False
    return known and not any(isinstance(a, ir.Star) or a in own for a in value.args)


# --- copies ---------------------------------------------------------------------------------------------------------


_FRESH: set[Any] = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg, operator.matmul,
    np.zeros_like, np.full_like, np.copy, np.where,
}

_COPY, _NEG = ir.Const(np.copy), ir.Const(operator.neg)


def drop_copies(function: ir.Function, context: Context) -> ir.Function:
    """The function without ``np.copy`` of an array that was made for it: a fresh result that nothing else reads. Both
    are made equally often: a copy in a loop of what was made before it is a new one in each trip. What may be of rank 0
    is copied: arithmetic makes numbers of it, which cannot be changed in place."""
    made = {s.target: s.value for s in ir.walk(function.body) if isinstance(s, ir.Let) and s.target is not None}
    if not any(isinstance(v, ir.Call) and v.fn == _COPY for v in made.values()):
        return function
    uses, loops = count_uses(function.body), _innermost_loops(function.body)
    mapping: dict[ir.Atom, ir.Atom] = {}
    for target, value in made.items():
        if not isinstance(value, ir.Call) or value.fn != _COPY or len(value.args) > 1 or value.kwargs:
            continue  # one in another order of memory is no copy of what there is
        source = value.args[0]
        if isinstance(source, ir.Var) and uses[source] == 1 and is_fresh(made.get(source)) and shape_of(
            context.value(source)
        ):
            if loops[source] == loops[target]:
                mapping[target] = source
    if not mapping:
        return function

    def block(b: ir.Block) -> ir.Block:
        kept = [s for s in b.statements if not (isinstance(s, ir.Let) and s.target in mapping)]
        return ir.Block(tuple(map_blocks(s, block) for s in kept), b.yields)

    resolved = {target: _follow(target, mapping) for target in mapping}
    return substitute_all(ir.replace(function, body=block(function.body)), resolved)


def _innermost_loops(block: ir.Block, loop: int = 0) -> dict[ir.Var, int]:
    """For each variable that a ``Let`` defines, a number that tells the innermost loop around it from others."""
    found: dict[ir.Var, int] = {}
    for s in block.statements:
        if isinstance(s, ir.Let) and s.target is not None:
            found[s.target] = loop
        for inner in ir.blocks_of(s):
            found |= _innermost_loops(inner, id(s) if isinstance(s, (ir.For, ir.While)) else loop)
    return found


def is_fresh(value: ir.Value | None) -> bool:
    """Whether a value is an array that arithmetic made just now."""
    if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const):
        return False
    fn = value.fn.value
    try:
        return fn in _FRESH or isinstance(fn, np.ufunc)
    except TypeError:
        return False


# --- loops ----------------------------------------------------------------------------------------------------------


def drop_invariant(function: ir.Function) -> ir.Function:
    """The function with carried variables that no trip changes replaced by what they are before the loop."""
    mapping: dict[ir.Atom, ir.Atom] = {}
    for s in ir.walk(function.body):
        if isinstance(s, (ir.For, ir.While)):
            for c, following in zip(s.carried, s.body.yields, strict=True):
                if following in (c.param, c.init):
                    mapping[c.param] = mapping[c.result] = c.init
    if not mapping:
        return function
    resolved: dict[ir.Atom, ir.Atom] = {k: _follow(k, mapping) for k in mapping}
    return substitute_all(ir.replace(function, body=_without(function.body, set(mapping))), resolved)


def _follow(atom: ir.Atom, mapping: dict[ir.Atom, ir.Atom]) -> ir.Atom:
    while atom in mapping:
        atom = mapping[atom]
    return atom


def _without(block: ir.Block, gone: set[ir.Atom]) -> ir.Block:
    made = []
    for s in block.statements:
        s = map_blocks(s, lambda inner: _without(inner, gone))
        if isinstance(s, (ir.For, ir.While)):
            keep = [k for k, c in enumerate(s.carried) if c.param not in gone]
            body = ir.Block(s.body.statements, tuple(s.body.yields[k] for k in keep))
            s = ir.replace(s, body=body, carried=tuple(s.carried[k] for k in keep))
        made.append(s)
    return ir.Block(tuple(made), block.yields)


# --- looks ----------------------------------------------------------------------------------------------------------


def drop_empty_sections(function: ir.Function) -> ir.Function:
    """The function without the title of a sweep that has no statement."""
    made: list[ir.Statement] = []
    for s in function.body.statements:
        if _is_title(s) and made and _is_title(made[-1]):
            made.pop()
        made.append(s)
    return ir.replace(function, body=ir.Block(tuple(made), function.body.yields))


def _is_title(s: ir.Statement) -> bool:
    return isinstance(s, ir.Note) and s.section in ("forward", "reverse")


def name_unused_items(function: ir.Function) -> ir.Function:
    """The function with the item of a loop called ``_`` where nothing reads it."""
    read = count_uses(function.body)
    versions = [s.item.version for s in ir.walk(function.body) if isinstance(s, ir.For)]
    fresh = itertools.count(1 + max(versions, default=0))
    captured = {a for s in ir.walk(function.body) if isinstance(s, ir.Let) for a in ir.atoms_of(s.value)}

    def block(b: ir.Block) -> ir.Block:
        made = []
        for s in b.statements:
            s = map_blocks(s, block)
            if isinstance(s, ir.For) and not read[s.item] and s.item not in captured:
                s = ir.replace(s, item=ir.Var("_", next(fresh)))
            made.append(s)
        return ir.Block(tuple(made), b.yields)

    return ir.replace(function, body=block(function.body))


_AT = {operator.add: np.add.at, operator.sub: np.subtract.at}


_STACKS = {
    ir.Const(ops.make_stack): ir.Const(ops.make_list), ir.Const(ops.copy_stack): ir.Const(list),
    ir.Const(ops.push): ir.Const(list.append), ir.Const(ops.pull): ir.Const(list.pop),
}
"""The operations of stacks, as generated code has them."""


def spell_stores(function: ir.Function) -> ir.Function:
    """The function with stores that add to an entry as often as it is named as calls of ``np.add.at``, stacks as
    lists."""

    def block(b: ir.Block) -> ir.Block:
        made = (map_blocks(t, block) for s in b.statements for t in _spelled(s))
        return ir.Block(tuple(made), b.yields)

    if not any(_spelled(s) != (s,) for s in ir.walk(function.body)):
        return function
    return ir.replace(function, body=block(function.body))


def drop_remarks(function: ir.Function) -> ir.Function:
    """The function without the remarks that a call may change an array, which ``specialize`` makes."""

    def block(b: ir.Block) -> ir.Block:
        kept = (s for s in b.statements if not (isinstance(s, ir.Store) and s.kind == "opaque"))
        return ir.Block(tuple(map_blocks(s, block) for s in kept), b.yields)

    return ir.replace(function, body=block(function.body))


def _spelled(s: ir.Statement) -> tuple[ir.Statement, ...]:
    match s:
        case ir.Store(kind="at", op=op) if op is not None:
            return (ir.Let(None, ir.Call(ir.Const(_AT[op]), (s.target, s.key, s.value)), s.span, s.reads, s.makes),)
        case ir.Let(_, ir.Call(ir.Const() as fn) as call) if fn in _STACKS:
            return (ir.replace(s, value=ir.replace(call, fn=_STACKS[fn])),)
        case _:
            return (s,)


def _joined_with_arrays(function: ir.Function, context: Context) -> set[ir.Var]:
    """The joins of paths that may give an array: one without dimensions stands for a number, as ``np.where`` makes it,
    and may have other names."""
    found: set[ir.Var] = set()

    def may_be_array(atom: ir.Atom) -> bool:
        return isinstance(atom, ir.Var) and (atom in found or isinstance(context.value(atom), Array))

    before = -1
    while len(found) != before:
        before = len(found)
        for s in ir.walk(function.body):
            match s:
                case ir.Let(ir.Var() as target, ir.Var() as source) if may_be_array(source):
                    found.add(target)
                case ir.If(results=results) | ir.Try(results=results):
                    rows = zip(results, *(side.yields for side in ir.sides_of(s)), strict=True)
                    found.update(result for result, *given in rows if any(map(may_be_array, given)))
                case ir.For(body=body, carried=carried) | ir.While(body=body, carried=carried):
                    for c, following in zip(carried, body.yields, strict=True):
                        if may_be_array(c.init) or may_be_array(following):
                            found.update((c.param, c.result))
                case _:
                    pass
    return found


def accumulate(function: ir.Function, context: Context) -> ir.Function:
    """The function with ``x_bar = x_bar + c`` as ``x_bar += c``, where ``x_bar`` is a number, or an array that the
    reverse sweep made itself and that nothing else reads."""
    uses = count_uses(function.body)
    captured = {a for s in ir.walk(function.body) if isinstance(s, ir.Let) and isinstance(s.value, ir.MakeFunction)
                for a in s.value.captures}
    made = {s.target: s.value for s in ir.walk(function.body) if isinstance(s, ir.Let) and s.target is not None}
    carried = {c.param for s in ir.walk(function.body) if isinstance(s, (ir.For, ir.While)) for c in s.carried}
    arrays = _joined_with_arrays(function, context)

    def is_own(old: ir.Var, new: ir.Var, change: Any) -> bool:
        known = context.value(old)
        if is_number(known) and is_number(context.value(new)):
            return old not in arrays
        same = isinstance(known, Array) and known == context.value(new) and bool(known.shape)
        return same and uses[old] == 1 and old not in captured and old not in carried and is_fresh(made.get(old))

    def change(s: ir.Statement) -> ir.Statement:
        match s:
            case ir.Let(ir.Var() as new, ir.Call(ir.Const(value=fn), (ir.Var() as old, other), ())) if (
                fn in (operator.add, operator.sub) and old.name == new.name and new.name.endswith("_bar")
                and is_own(old, new, other)
            ):
                in_place = operator.iadd if fn is operator.add else operator.isub
                return ir.replace(s, value=ir.Call(ir.Const(in_place), (old, other)))
            case _:
                return map_blocks(s, lambda b: ir.Block(tuple(map(change, b.statements)), b.yields))

    return ir.replace(function, body=ir.Block(tuple(map(change, function.body.statements)), function.body.yields))
