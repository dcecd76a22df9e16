"""Calls of functions with a source, in place: Python functions, and nested functions as values."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from s2s.builder import virtual_heap
from s2s.builder.builder import Builder
from s2s.builder.virtual_heap import cell_of, state_of
from s2s.core import ir, ops
from s2s.core.values import UNKNOWN
from s2s.errors import DifferentiationError, error
from s2s.specialize.frames import Frame, FramedClosure, asked_also_by, at_call, in_rule, lower_function, place_of
from s2s.specialize.heap import iterators, lazy, making
from s2s.specialize.outcomes import INLINE_DEPTH
from s2s.specialize.site import At
from s2s.versions import facts
from s2s.versions.target import own_signature

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["Inliner"]


class Inliner:
    """Follows calls, and knows which it is in."""

    def __init__(self, specializer: Specializer) -> None:
        self.specializer = specializer
        self.context = specializer.context
        self.dependencies: dict[types.FunctionType, None] = {}
        """The functions whose source was followed, in order."""
        self.active_calls: list[types.FunctionType | ir.Function] = []
        self.receivers: list[tuple[types.FunctionType, Any]] = []
        """What the Python functions among them are called with first."""

    def may_enter(self, fn: types.FunctionType, args: list[ir.Atom]) -> bool:
        """Whether a call may be followed in place: no recursion, but for a method that calls itself of another object.
        """
        if fn not in self.active_calls:
            return True
        cell = cell_of(self.context, args[0]) if args else None
        return cell is not None and cell.origin is None and (fn, cell) not in self.receivers

    def may_try(self, fn: types.FunctionType, args: list[ir.Atom]) -> bool:
        """Whether a call with nothing differentiated in it may be tried out in place: one that calls itself with
        another object or constant, something of another kind, or nothing, may."""
        return fn not in self.active_calls or (fn, self._receiver(args)) not in self.receivers

    def kinds_of(self, args: list[Any]) -> list[Any]:
        """What a call gets: objects, constants, and the kinds of what is neither."""
        return [self._receiver([a]) if isinstance(a, (ir.Var, ir.Const)) else a for a in args]

    def _receiver(self, args: list[ir.Atom]) -> Any:
        """The object or constant that a call gets first, else the kind of what it gets: of a container of which the
        items are not known one by one too, since another such container brings no recursion closer to its end."""
        if not args or isinstance(args[0], ir.Const):
            return args[0] if args else None
        cell, state = cell_of(self.context, args[0]), state_of(self.context, args[0])
        if state is not None and state.whole is not None:
            return self.context.value(state.whole)
        return self.context.value(args[0]) if cell is None else cell

    def inline(
        self, fn: types.FunctionType, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame,
        builder: Builder, span: ir.Span | None,
    ) -> ir.Atom:
        """Specialise a Python function's body in the place of a call of it."""
        asked = (*frame.called_from, place_of(frame, span))
        self.specializer.effort += bool(self.specializer.followed)
        facts.code(fn, self.specializer.guards).folded(self.specializer.guards)
        try:
            function = lower_function(fn)
        except DifferentiationError as problem:
            raise asked_also_by(problem, asked) from None
        try:
            bound = own_signature(fn).bind(*args, **kwargs)
        except TypeError as problem:
            facts.signature(fn, self.specializer.guards).folded(self.specializer.guards)
            raise self.specializer.raised(problem) from None
        owner = frame.owner if fn.__globals__ is frame.fn.__globals__ and not fn.__closure__ else fn
        inner = Frame(fn, owner, called_from=asked, **iterators.uses_of(function))
        if owner is None and fn is not frame.fn:
            inner.owner = None
        self._bind_parameters(function, bound.arguments, self.default_of(fn, builder), inner, builder, span)
        self.dependencies[fn] = None
        if function.is_generator:
            return lazy.make(self.specializer, function, inner, fn, (fn, self._receiver(args)), span)
        self.active_calls.append(fn)
        self.receivers.append((fn, self._receiver(args)))
        try:
            (result,) = self.specializer.run(function.body, inner, builder)
        except DifferentiationError as problem:
            if (fn.__module__ or "").startswith("s2s."):  # a model of a built-in: the place is the user's call
                raise at_call(problem, span, frame.called_from) from None
            raise
        finally:
            self.active_calls.pop()
            self.receivers.pop()
        return result

    def default_of(self, fn: types.FunctionType, builder: Builder) -> Callable[[str], ir.Atom]:
        """What a parameter of a function is where a call gives nothing for it."""
        return lambda name: self.specializer.live_objects.default(builder, fn, name)

    def _bind_parameters(
        self, function: ir.Function, given: dict[str, Any], default: Callable[[str], ir.Atom], inner: Frame,
        builder: Builder, span: ir.Span | None,
    ) -> None:
        for param in function.params:
            name = param.var.name
            at = At(self.specializer, inner, builder, span, name)
            if param.kind == "VAR_POSITIONAL":
                atom = making.new_list(at, given.get(name, ()), tuple)
            elif param.kind == "VAR_KEYWORD" and not in_rule(inner):
                atom = making.new_dict(at, given.get(name, {}))
            elif param.kind == "VAR_KEYWORD":
                entries = given.get(name, {})
                atom = builder.call(
                    ops.make_dict, *(a for k, v in entries.items() for a in (ir.Const(k), v)), span=span
                )
            elif name in given:
                atom = given[name]
            else:
                atom = default(name)
            if param.var in inner.kept or param.var in inner.held:
                atom = iterators.keep(at, param.var, param.var, atom)
            inner.env[param.var] = atom

    def closure(
        self, function: ir.Function, captures: tuple[ir.Atom, ...], defaults: tuple[tuple[str, ir.Atom], ...],
        frame: Frame, builder: Builder, span: ir.Span | None, name: str, late: tuple[str, ...] = (),
    ) -> ir.Atom:
        """A nested function: known by its IR, so that calls of it are inlined."""
        atoms = tuple(self.specializer.atom(a, frame) for a in captures)
        given = tuple((k, self.specializer.atom(a, frame)) for k, a in defaults)
        made = ir.MakeFunction(frame.owned(function), atoms, given)
        value = FramedClosure(function, atoms, given, frame, late)
        varied = any(map(self.context.is_varied, (*atoms, *(a for _, a in given))))
        if any(map(self.context.is_virtual, ir.atoms_of(made))):
            return self.virtual_closure(made, value, name, varied)
        return builder.let(made, value, name, span, varied)

    def virtual_closure(self, made: ir.MakeFunction, value: FramedClosure, name: str, varied: bool) -> ir.Var:
        """A nested function that captured objects on the heap. Where it is kept, these must not change any more."""
        var = self.context.define(name, value, varied)

        def freeze(builder: Builder) -> ir.Atom:
            for atom in ir.atoms_of(made):
                virtual_heap.close(self.context, atom, making.ESCAPED)
            return builder.let(made, UNKNOWN, name, None, varied)

        self.context.virtual_closures[var] = freeze
        return var

    def inline_closure(
        self, closure: FramedClosure, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame,
        builder: Builder, span: ir.Span | None,
    ) -> ir.Atom:
        """Specialise a nested function's body in the place of a call of it."""
        function = closure.function
        if len(self.active_calls) >= INLINE_DEPTH:
            label = f"its calls are written out, and {INLINE_DEPTH} have not come to an end"
            raise error("S2S209", span=span, label=label, asked_by=frame.called_from, name=function.name)
        parameters = [
            inspect.Parameter(
                p.var.name, getattr(inspect.Parameter, p.kind),
                default=None if p.has_default else inspect.Parameter.empty,
            )
            for p in function.params
        ]
        try:
            bound = inspect.Signature(parameters).bind(*args, **kwargs)
        except TypeError as problem:
            raise self.specializer.raised(problem) from None
        asked = (*frame.called_from, place_of(frame, span))
        uses = iterators.uses_of(function)
        inner = Frame(closure.frame.fn, closure.frame.owner, {}, asked, True, **uses)
        inner.closure = closure
        inner.env.update(zip(function.captures, closure.captures, strict=True))
        for var, capture in zip(function.captures, closure.captures, strict=True):
            if capture == ir.UNDEFINED and var.name == function.name:
                inner.env[var] = self.closure_again(closure, builder)
        self._bind_parameters(function, bound.arguments, dict(closure.defaults).__getitem__, inner, builder, span)
        if function.is_generator:
            return lazy.make(self.specializer, function, inner, function, None, span, closure.frame)
        self.active_calls.append(function)
        try:
            (result,) = self.specializer.run(function.body, inner, builder)
        except DifferentiationError as problem:
            if _is_about(problem, closure.frame.fn):
                raise at_call(problem, span, frame.called_from) from None
            raise
        finally:
            self.active_calls.pop()
        return result

    def closure_again(self, closure: FramedClosure, builder: Builder) -> ir.Atom:
        """A nested function as it sees itself."""
        made = ir.MakeFunction(closure.frame.owned(closure.function), closure.captures, closure.defaults)
        varied = any(map(self.context.is_varied, closure.captures))
        if any(map(self.context.is_virtual, ir.atoms_of(made))):
            return self.virtual_closure(made, closure, "%", varied)
        return builder.let(made, closure, "%", None, varied)


def _is_about(problem: DifferentiationError, fn: types.FunctionType) -> bool:
    """Whether an error points nowhere, or into a function of s2s, in place of the user's line that calls it."""
    span = problem.diagnostic.span
    return (fn.__module__ or "").startswith("s2s.") and (span is None or span.file == fn.__code__.co_filename)
