"""Why a loop stays one (``whole_loops``), in which Python does one iteration after the other: notes at its line."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s.analysis.functions import facts
from s2s.builder.builder import Context
from s2s.builder.stages import remark, text_at
from s2s.core import ir, ops
from s2s.core.operators import OPERATORS, plain_of
from s2s.core.values import Array
from s2s.optimize.ranges import constant_range

__all__ = ["tell_loops"]

_SUMS = {operator.add, operator.sub}
_ALSO = {id(fn) for fn in (
    operator.getitem, getattr, slice, range, len, float, int, abs, ops.make_tuple, np.sum, np.dot, np.matmul, np.copy,
    np.where, operator.matmul)} | {id(one.fn) for one in OPERATORS.values()}


def tell_loops(function: ir.Function, context: Context, exact: bool, few: int) -> None:
    """Note why loops are left that were looked at: the innermost ones, of more than ``few`` iterations."""
    for s in ir.walk(function.body):
        if not isinstance(s, ir.For) or any(isinstance(n, (ir.For, ir.While)) for n in ir.walk(s.body)):
            continue
        known = constant_range(context, s.iterable)
        why = None if known is not None and len(known) <= few else _why(s, context, exact)
        if why is not None:
            remark(context, s.span, "loop", f"stays one: {why}")


def _why(loop: ir.For, context: Context, exact: bool) -> str | None:
    """What stands in the way of operations on arrays; None where that is nothing that a person would change."""
    carried = _carried(loop, context)
    if carried is not None:
        return f"each iteration needs `{carried}` of the one before"
    if loop.leave is not None:
        return "it may end early"
    for s in ir.walk(loop.body):
        if isinstance(s, ir.If):
            return "there is a branch in it" + (f", in line {s.span.line}" if s.span is not None else "")
        if not isinstance(s, (ir.Let, ir.Store)):
            return None
        call = s.value if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) else None
        if call is not None and not _is_done_at_once(call.fn):
            text = None if s.span is None else text_at(s.span)
            return None if text is None else f"`{text}` cannot be done for all iterations at once"
    if context.definition(loop.iterable, range) is None:
        return "it does not go through a `range`"
    if exact and loop.carried:
        return "what it sums up has the value to the last bit that is asked for"
    return None


def _carried(loop: ir.For, context: Context) -> str | None:
    """A variable of which an iteration needs what the one before made of it, other than to add to it."""
    chosen: dict[ir.Atom, set[ir.Atom]] = {
        var: {then, orelse} for s in ir.walk(loop.body) if isinstance(s, ir.If)
        for var, then, orelse in zip(s.results, s.then.yields, s.orelse.yields, strict=True)}
    for c, after in zip(loop.carried, loop.body.yields, strict=False):
        readers = [s for s in ir.walk(loop.body) if isinstance(s, (ir.Let, ir.Store)) and c.param in ir.reads_of(s)]
        is_sum = (
            len(readers) == 1 and isinstance(s := readers[0], ir.Let) and _adds(s, c.param)
            and chosen.get(after, {after}) <= {c.param, s.target})
        if readers and not is_sum and not c.param.is_temporary:
            return c.param.name
    return _stored(loop, context)


def _adds(s: ir.Let, param: ir.Var) -> bool:
    call = s.value
    if not isinstance(call, ir.Call) or not isinstance(call.fn, ir.Const):
        return False
    fn = plain_of(call.fn.value) or call.fn.value
    return any(fn is one for one in _SUMS) and len(call.args) == 2 and call.args.count(param) == 1


def _stored(loop: ir.For, context: Context) -> str | None:
    """An array to which iterations write, each reading what another one has written: at a place beside its own."""
    stored = {s.target: s.key for s in loop.body.statements if isinstance(s, ir.Store) and s.kind == "item"}
    inside: set[ir.Atom] = {loop.item}  # what is another one in another iteration
    for s in loop.body.statements:
        inside.update(ir.defs_of(s) if not inside.isdisjoint(ir.reads_of(s)) else ())
    for s in loop.body.statements:  # of what all write to one place, and read
        if isinstance(s, ir.Store) and s.op is not None and s.key not in inside:
            read = [one for one in loop.body.statements if isinstance(one, ir.Let) and s.target in ir.reads_of(one)]
            if read and isinstance(s.target, ir.Var) and not s.target.is_temporary:
                return s.target.name
    for s in loop.body.statements:
        call = s.value if isinstance(s, ir.Let) else None
        if not isinstance(call, ir.Call) or not isinstance(call.fn, ir.Const) or call.fn.value is not operator.getitem:
            continue
        array, key = call.args
        assert not isinstance(array, ir.Star)
        if array not in stored or key == stored[array] or not isinstance(context.value(array), Array):
            continue
        pairs = zip(_parts(key, context), _parts(stored[array], context), strict=False)
        is_beside = all(
            one == other or loop.item == _origin(one, context) == _origin(other, context) for one, other in pairs)
        if is_beside and isinstance(array, ir.Var) and not array.is_temporary:
            return array.name
    return None


def _parts(key: Any, context: Context) -> tuple[Any, ...]:
    """The indices of a place, one for each axis."""
    return context.definition(key, ops.make_tuple) or (key,)


def _origin(key: Any, context: Context) -> ir.Atom | None:
    """The variable that an index is, with a number added."""
    made = context.definitions.get(key) if isinstance(key, ir.Var) else None
    if isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) and any(made.fn.value is one for one in _SUMS):
        constants = [a for a in made.args if isinstance(a, ir.Const)]
        others = [a for a in made.args if not isinstance(a, ir.Const)]
        return others[0] if len(constants) == 1 and len(others) == 1 else key  # type: ignore[return-value]
    return key  # type: ignore[no-any-return]


def _is_done_at_once(fn: ir.Atom) -> bool:
    if not isinstance(fn, ir.Const):
        return False
    value = plain_of(fn.value) or fn.value
    return id(value) in _ALSO or (type(value) is np.ufunc and facts(value).elementwise)
