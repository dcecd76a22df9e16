"""Generator functions: a call of one computes nothing yet. What takes its items runs its body, with what is done to an
item in the place of each ``yield``.

    def powers(x):                      total = 0.0
        yield x                         total = total + x
        yield x * x              ->     total = total + x * x

    for y in powers(x):
        total = total + y

What is carried from one item to the next is kept in cells of the heap, as the body may yield in loops and branches.
Where items are taken one by one (``next``) or more than once, a list of all of them is made.
"""

from __future__ import annotations

import inspect
import itertools
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from s2s.builder import virtual_heap
from s2s.builder.states import State
from s2s.core import ir, ops
from s2s.core.values import UNKNOWN, Known
from s2s.errors import DifferentiationError, error
from s2s.models import iterating
from s2s.specialize.heap import generators

if TYPE_CHECKING:
    from s2s.builder.builder import Builder, Context
    from s2s.specialize.frames import Frame
    from s2s.specialize.site import At
    from s2s.specialize.specializer import Specializer

__all__ = [
    "YIELD", "check_named", "listed", "make", "of_endless", "of_object", "over", "refuse_as_value", "refuse_result",
    "running",
]

YIELD = ir.Const(ops.yield_)

DEPTH = 40
"""So many generators may run in one another."""


@dataclass
class Generator:
    """A call of a generator function that has not begun: its body, the activation with its arguments, and the function
    that is then being followed; of a nested function the activation that made it. ``items`` has the list of its items,
    once that is made; ``has_run`` says that it was read."""

    function: ir.Function
    frame: Frame
    followed: Any
    receiver: Any
    span: ir.Span | None
    maker: Frame | None = None
    items: list[ir.Atom] = field(default_factory=list)
    has_run: bool = False


def make(
    specializer: Specializer, function: ir.Function, inner: Frame, followed: Any, receiver: Any, span: ir.Span | None,
    maker: Frame | None = None,
) -> ir.Atom:
    """What a call of a generator function gives."""
    context = specializer.context
    varied = any(map(context.is_varied, inner.env.values()))
    var = context.define("%generator", UNKNOWN, varied)
    context.generators[var] = Generator(function, inner, followed, receiver, span, maker)
    problem = refuse_as_value(function, span)

    def freeze(builder: Builder) -> ir.Atom:
        raise problem

    context.virtual_closures[var] = freeze
    return var


def refuse_as_value(function: ir.Function, span: ir.Span | None) -> DifferentiationError:
    """The error for a generator that is used as a value."""
    return error(
        "S2S103", span=function.span if span is None else span, label="it is used for more than to give its items",
        hint="loop over it, or make a list of its items: `list(...)`",
    )


def refuse_result(function: ir.Function) -> DifferentiationError:
    """The error for a generator function that is to be differentiated itself."""
    place = next(s for s in ir.walk(function.body) if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and (
        s.value.fn == YIELD))
    return error(
        "S2S103", span=place.span, label="yields many values; a derivative needs one result",
        hint="append each value to a list and `return` the list",
    )


def running(
    specializer: Specializer, atom: ir.Atom, builder: Builder, consume: Callable[[ir.Atom, Builder], ir.Atom]
) -> None:
    """Run a generator; ``consume`` writes what is done to an item, and gives whether no other is taken then."""
    made: Generator = specializer.context.generators[atom]  # type: ignore[index]
    inliner = specializer.inliner
    if made.has_run:  # nothing is left in it
        return
    made.has_run = True
    calls, receivers = list(inliner.active_calls), list(inliner.receivers)
    if len(calls) >= DEPTH:
        raise error("S2S209", span=made.span, asked_by=made.frame.called_from, name=made.function.name)

    def resume(item: ir.Atom, at: Builder) -> ir.Atom:
        inside = inliner.active_calls, inliner.receivers
        inliner.active_calls, inliner.receivers = calls, receivers
        try:
            return consume(item, at)
        finally:
            inliner.active_calls, inliner.receivers = inside

    frame = made.frame.copy()
    frame.consumer = resume
    inliner.active_calls.append(made.followed)
    inliner.receivers.append(made.receiver)
    try:
        specializer.run(made.function.body, frame, builder)
    finally:
        inliner.active_calls.pop()
        inliner.receivers.pop()


def of_object(at: At, atom: ir.Atom) -> ir.Atom | None:
    """The generator that iterating over an object runs; None where it runs none."""
    state = virtual_heap.state_of(at.context, atom)
    if state is None or not virtual_heap.is_instance(state) or state.kind is virtual_heap.Iterator:
        return None
    instances = at.specializer.instances
    method = instances.look_up(state.kind, "__iter__")
    if not isinstance(method, types.FunctionType) or not method.__code__.co_flags & inspect.CO_GENERATOR:
        return None
    found = instances.operate(at, iter, "__iter__", atom)
    return found if found in at.context.generators else None


_ENDLESS: dict[Any, types.FunctionType] = {
    ir.Const(itertools.count): iterating.count, ir.Const(itertools.cycle): iterating.cycle,  # type: ignore[dict-item]
    ir.Const(itertools.repeat): iterating.repeat,  # type: ignore[dict-item]
}


_VIEWS_OF_ONE = frozenset({ir.Const(enumerate), ir.Const(iter)})
_VIEWS = _VIEWS_OF_ONE | {ir.Const(zip), ir.Const(map)}


def is_endless(at: At, atom: ir.Atom) -> bool:
    """Whether it is an iterator of ``itertools`` without an end, or a view of such."""
    made = at.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
    if not isinstance(made, ir.Call) or made.fn not in _VIEWS:
        return isinstance(made, ir.Call) and made.fn in _ENDLESS
    given = made.args[:1] if made.fn in _VIEWS_OF_ONE else made.args[made.fn == ir.Const(map) :]
    return bool(given) and all(is_endless(at, a) for a in given if not isinstance(a, ir.Star))


def of_endless(at: At, atom: ir.Atom) -> ir.Atom | None:
    """The generator that an iterator of ``itertools`` without an end stands for; None for anything else."""
    made = at.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
    if not isinstance(made, ir.Call) or made.fn not in _ENDLESS:
        return None
    found = at.inline(_ENDLESS[made.fn], list(made.args), dict(made.kwargs))
    return found if found in at.context.generators else None


# --- loops ------------------------------------------------------------------------------------------------------------


def over(specializer: Specializer, loop: ir.For, generator: ir.Atom, frame: Frame, builder: Builder) -> None:
    """A ``for`` over a generator."""
    context = specializer.context
    held = [_held(context, specializer.atom(c.init, frame), c.param.name) for c in loop.carried]
    left = _held(context, ir.Const(False), "left") if loop.leave is not None else None

    def consume(item: ir.Atom, at: Builder) -> ir.Atom:
        inner = frame.copy()
        inner.env[loop.item] = item
        inner.env.update({c.param: _now(context, cell) for c, cell in zip(loop.carried, held, strict=True)})
        yields = specializer.run(loop.body, inner, at)
        for cell, atom in zip(held, yields, strict=True):
            context.heap.change(cell, State(list, (0,), (atom,)), loop.span)
        if loop.leave is None or left is None:
            return ir.Const(False)
        leave = specializer.atom(loop.leave, inner)
        context.heap.change(left, State(list, (0,), (leave,)), loop.span)
        return leave

    running(specializer, generator, builder, consume)
    for c, cell in zip(loop.carried, held, strict=True):
        frame.env[c.result] = _now(context, cell)
    if loop.left is not None:
        frame.env[loop.left] = ir.Const(False) if left is None else _now(context, left)


def _held(context: Context, atom: ir.Atom, name: str) -> virtual_heap.Cell:
    return virtual_heap.make_cell(context, State(list, (0,), (atom,)), name)


def _now(context: Context, cell: virtual_heap.Cell) -> ir.Atom:
    return context.heap.state(cell).items[0]


# --- all items --------------------------------------------------------------------------------------------------------


def listed(at: At, generator: ir.Atom, builder: Builder | None = None, in_parts: bool = False) -> ir.Atom:
    """The list of the items of a generator. There is none of one that never ends; nor, where its items are read
    ``in_parts``, of one that ends by what it finds."""
    builder = at.builder if builder is None else builder
    context = at.context
    made: Generator = context.generators[generator]  # type: ignore[index]
    if made.items:
        return made.items[0]
    child = builder.child()
    with generators.noted(context, child) as items, generators.followed(context, child) as source:
        out = virtual_heap.make_cell(context, State(list), "items", at.span)

        def consume(item: ir.Atom, b: Builder) -> ir.Atom:
            append = ir.Const(list.append)
            at.specializer.apply(append, [out.var, item], {}, made.frame, b, at.span, effect=True)
            return ir.Const(False)

        running(at.specializer, generator, child, consume)
        items.append(out.var)
    endless = [s for s in ir.walk(child.block()) if isinstance(s, ir.While) and _is_true(context, s.test)]
    if endless and (in_parts or any(s.leave in (None, ir.Const(False)) for s in endless)):
        raise error("S2S142", span=at.span, name=made.function.name)
    builder.take(child)
    made.items.append(out.var)
    _note_captures(source, made)
    context.read_once[out.var] = source
    return out.var


def check_named(context: Context, generator: ir.Atom, name: str) -> None:
    """Raise where a variable that a generator has captured is assigned after a name was given to it."""
    made: Generator = context.generators[generator]  # type: ignore[index]
    source = generators.Source()
    _note_captures(source, made)
    source.check_names(made.span, name)


def _note_captures(source: generators.Source, made: Generator) -> None:
    source.names = {v.name for v in made.function.captures if not v.is_temporary and v.name != made.function.name}
    source.place, source.frame = made.function, made.maker


def _is_true(context: Context, test: ir.Block) -> bool:
    value = context.value(test.yields[0])
    return isinstance(value, Known) and bool(value.value)
