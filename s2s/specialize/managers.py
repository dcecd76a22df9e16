"""``with``, as the specialiser writes it: blocks of choices, managers that are called around the body, and managers
that stay.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from s2s import runtime as rt
from s2s.analysis import raising
from s2s.analysis.effects import writes_outside
from s2s.analysis.managers import may_set, may_swallow
from s2s.builder import virtual_heap
from s2s.builder.builder import Builder
from s2s.core import ir
from s2s.core.values import UNKNOWN, Known, Scalar
from s2s.errors import DifferentiationError, error
from s2s.specialize.calls.policy_calls import watch
from s2s.specialize.exceptions import try_statement
from s2s.specialize.frames import BLOCKS, Frame, lookup
from s2s.specialize.speculation import speculate
from s2s.specialize.variables import check_read
from s2s.versions.boundary import Raised

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["with_statement"]


def with_statement(specializer: Specializer, s: ir.With, frame: Frame, builder: Builder) -> bool:
    """Specialise a ``with``; True where nothing after it is reached."""
    manager = specializer.atom(s.manager, frame)
    check_read(specializer, s.manager, manager, builder, s.span, frame)
    if isinstance(manager, ir.Const) and isinstance(manager.value, BLOCKS):
        if s.target is not None:
            frame.env[s.target] = manager
        if s.ended is not None:
            frame.env[s.ended] = ir.Const(True)
        return specializer.holding.block(manager.value, s.body, frame, builder, s.span)
    state = virtual_heap.state_of(specializer.context, manager)
    maker = _maker_of(specializer, manager, frame) if state is None else state.kind
    if state is not None and not specializer.context.is_varied(manager) and (
        may_swallow(state.kind) or not _is_followed(specializer, manager, frame, builder, s.span)
    ):
        cell, manager = virtual_heap.cell_of(specializer.context, manager), builder.frozen(manager)
        assert cell is not None
        specializer.context.heap.unknown[cell] = "a `with` statement may change it"
    made = specializer.context.definitions.get(manager) if isinstance(manager, ir.Var) else None
    if maker is contextlib.suppress and isinstance(made, ir.Call):
        return _suppress(specializer, s, made.args, frame, builder)
    if specializer.context.is_varied(manager) or specializer.context.is_virtual(manager):
        return _called_manager(specializer, s, manager, frame, builder)
    child = builder.child()
    target = None
    if s.target is not None:
        target = specializer.context.define(s.target.name, UNKNOWN)
        frame.env[s.target] = target
    manager = watch(specializer.context, manager, maker, builder, s.span, frame)
    unsure = may_set(maker)
    specializer.unsure += unsure
    try:
        ended = specializer.run_statements(s.body, frame, child)
    finally:
        specializer.unsure -= unsure
    builder.bound |= child.bound
    if maker is contextlib.nullcontext and target is None:
        builder.statements += child.statements
        return ended
    flag = None
    if maker is None or may_swallow(maker):
        flag = specializer.context.define("ended", Scalar(bool))
    if s.ended is not None:
        frame.env[s.ended] = ir.Const(True) if flag is None else flag
    body = ir.Block((*child.statements,))
    builder.add(ir.With(manager, target, body, flag, s.span))
    if flag is not None:
        place = f"{frame.fn.__qualname__}, line {s.span.line}" if s.span is not None else frame.fn.__qualname__
        builder.add(ir.Let(None, ir.Call(ir.Const(rt.check_ended), (flag, ir.Const(place))), s.span))
    return ended


def _maker_of(specializer: Specializer, manager: ir.Atom, frame: Frame) -> Any:
    """The class or function whose call made a manager, where it is known: a function of ``contextlib`` stands for the
    generator function that it was made of."""
    value = specializer.context.value(manager)
    if isinstance(value, Known):
        return type(value.value)
    made = specializer.context.definitions.get(manager) if isinstance(manager, ir.Var) else None
    if isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) and callable(made.fn.value):
        return made.fn.value
    if isinstance(made, ir.Load):
        fact = lookup(made, made.owner or frame.fn, made.owner)
        if not fact.is_missing:
            return type(fact.of_class(specializer.guards))
    return None


def _suppress(specializer: Specializer, s: ir.With, kinds: tuple[Any, ...], frame: Frame, builder: Builder) -> bool:
    """``with contextlib.suppress(...)`` is a ``try`` whose handler does nothing."""
    names = tuple(ir.Var("%", -1 - k) for k in range(len(kinds)))
    frame.env.update(zip(names, kinds, strict=True))
    return _try(specializer, s, names, None, (), frame, builder)


def _is_followed(
    specializer: Specializer, manager: ir.Atom, frame: Frame, builder: Builder, span: ir.Span | None
) -> bool:
    """Whether the methods of a manager, an object of the heap, are followed in place: not called when the program runs.
    """
    cell = virtual_heap.cell_of(specializer.context, manager)
    try:
        with speculate(specializer, builder, optional=True) as speculation:
            speculation.discard()
            for name, given in (("__enter__", []), ("__exit__", [ir.Const(None)] * 3)):
                child = speculation.builder
                method = specializer.apply(ir.Const(getattr), [manager, ir.Const(name)], {}, frame, child, span)
                specializer.apply(method, list[ir.Atom](given), {}, frame, child, span)
                if cell in specializer.context.heap.closed or cell in specializer.context.heap.unknown:
                    return False
            return not any(map(_sets_for_all, ir.walk(speculation.builder.block())))
    except DifferentiationError:
        return False
    except Raised:
        return True


def _sets_for_all(s: ir.Statement) -> bool:
    """Whether a statement assigns an attribute of a class or a module, which what is around it may read."""
    return isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn == ir.Const(rt.record_static)


def _called_manager(specializer: Specializer, s: ir.With, manager: ir.Atom, frame: Frame, builder: Builder) -> bool:
    """A manager that something differentiated goes into: its methods are called around the body, so that they are
    differentiated too."""
    enter = specializer.apply(ir.Const(getattr), [manager, ir.Const("__enter__")], {}, frame, builder, s.span)
    entered = specializer.apply(enter, [], {}, frame, builder, s.span)
    if s.target is not None:
        frame.env[s.target] = entered
    if _leaves_traces(specializer, manager, frame, builder, s.span):
        if _attempted(specializer, s, frame, builder):
            return True
        return _left(specializer, manager, frame, builder, s.span)
    state, child = virtual_heap.state_of(specializer.context, manager), builder.child()
    ended = specializer.run_statements(s.body, frame, child)
    kind = object if state is None else state.kind
    if may_swallow(kind) and raising.raised_in(child.statements, specializer.context.value):
        label = f"`__exit__` of `{kind.__name__}` may swallow an exception that the body raises"
        raise error("S2S105", span=s.span, label=label, hint="catch the exception with `try` and `except`",
                    asked_by=frame.called_from)
    builder.take(child)
    if ended:
        return True
    return _left(specializer, manager, frame, builder, s.span)


def _left(specializer: Specializer, manager: ir.Atom, frame: Frame, builder: Builder, span: ir.Span | None) -> bool:
    """The end of a block whose manager is called around it."""
    leave = specializer.apply(ir.Const(getattr), [manager, ir.Const("__exit__")], {}, frame, builder, span)
    specializer.apply(leave, [ir.Const(None)] * 3, {}, frame, builder, span, "%", True)
    return False


def _leaves_traces(
    specializer: Specializer, manager: ir.Atom, frame: Frame, builder: Builder, span: ir.Span | None
) -> bool:
    """Whether the end of a manager changes what is outside of the function: then an exception comes to it, too."""
    try:
        with speculate(specializer, builder, optional=True) as speculation:
            speculation.discard()
            _left(specializer, manager, frame, speculation.builder, span)
            return any(map(writes_outside, ir.walk(speculation.builder.block())))
    except (DifferentiationError, Raised):
        return False


def _attempted(specializer: Specializer, s: ir.With, frame: Frame, builder: Builder) -> bool:
    """The body in a ``try`` whose handler calls ``__exit__`` and raises the exception again."""
    leave, problem, kind = ir.Var("leave", -1), ir.Var("problem", -1), ir.Var("kind", -1)
    calls = (
        ir.Let(leave, ir.Call(ir.Const(getattr), (s.manager, ir.Const("__exit__"))), s.span),
        ir.Let(kind, ir.Call(ir.Const(type), (problem,)), s.span),
        ir.Let(None, ir.Call(leave, (kind, problem, ir.Const(None))), s.span),
        ir.Raise(None, None, s.span),
    )
    return _try(specializer, s, (ir.Const(BaseException),), problem, calls, frame, builder)


def _try(
    specializer: Specializer, s: ir.With, kinds: tuple[ir.Atom, ...], name: ir.Var | None,
    handler: tuple[ir.Statement, ...], frame: Frame, builder: Builder,
) -> bool:
    """The body of a ``with`` as that of a ``try`` with one handler; True where nothing after it is reached."""
    variables = tuple(dict.fromkeys(raising.binders(s.body)))
    results = tuple(ir.Var(v.name, -1 - v.version) for v in variables)
    block = ir.Block(handler, tuple(ir.POSSIBLY_UNASSIGNED for _ in variables))
    made = ir.Handler(kinds, name, block, span=s.span)
    attempt = ir.Try(s.body, (made,), ir.Block((), variables), results, span=s.span)
    if try_statement(specializer, attempt, frame, builder):
        return True
    for variable, result in zip(variables, results, strict=True):
        frame.env[variable] = frame.env[result]
    return False
