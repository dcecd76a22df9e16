"""A call that is being specialised, and the order in which those are asked that know what it comes to."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from s2s.core import ir
from s2s.core.inspection import is_hashable
from s2s.errors import DifferentiationError, error
from s2s.specialize.heap.making import At

if TYPE_CHECKING:
    from s2s.builder.builder import Builder, Context
    from s2s.core.values import AbstractValue
    from s2s.specialize.frames import Frame
    from s2s.specialize.specializer import Specializer
    from s2s.versions.facts import Guards

__all__ = ["NOT_HANDLED", "CallSite", "Handler", "Registry", "Stage", "always", "for_types", "named", "takes_at"]

NOT_HANDLED: Final = None
"""What a handler gives for a call that is not for it: the next one is asked."""


@dataclass(slots=True)
class CallSite:
    """A call in a function that is specialised: what is called, with which arguments (``*`` and ``**`` that cannot be
    spread out among them), the activation, where statements go, the user's line, and a name for the result. Of a call
    for its ``effect`` the result is not read. ``fn`` is the function, once it is known."""

    specializer: Specializer
    callee: ir.Atom
    args: list[Any]
    kwargs: dict[Any, ir.Atom]
    frame: Frame
    builder: Builder
    span: ir.Span | None
    name: str = "%"
    effect: bool = False
    fn: Any = None

    @property
    def context(self) -> Context:
        """What is known of variables."""
        return self.specializer.context

    @property
    def guards(self) -> Guards:
        """What the version that is made relies on."""
        return self.specializer.guards

    @property
    def at(self) -> At:
        """The place alone."""
        return At(self.frame, self.builder, self.span, self.name)

    @property
    def given(self) -> tuple[Any, ...]:
        """All arguments."""
        return *self.args, *self.kwargs.values()

    @property
    def is_varied(self) -> bool:
        """Whether an argument depends on a differentiated input."""
        is_varied = self.specializer.context.is_varied
        return any(map(is_varied, self.args)) or any(map(is_varied, self.kwargs.values()))

    @property
    def is_spread(self) -> bool:
        """Whether there are ``*`` or ``**`` of unknown length."""
        return None in self.kwargs or ir.Star in map(type, self.args)

    def instead(self, fn: Any, args: list[Any], kwargs: dict[Any, ir.Atom] | None = None) -> ir.Atom:
        """What a call of a function that is known comes to, in the place of this one."""
        return self.instead_of_atom(ir.Const(fn), args, kwargs)

    def instead_of_atom(self, callee: ir.Atom, args: list[Any], kwargs: dict[Any, ir.Atom] | None = None) -> ir.Atom:
        """What a call of something comes to, in the place of this one."""
        return self.specializer.apply(
            callee, args, kwargs or {}, self.frame, self.builder, self.span, self.name, self.effect)

    def apply(self, fn: Any, *args: Any, **named: ir.Atom) -> ir.Atom:
        """What another call comes to, which this one needs."""
        kwargs: dict[Any, ir.Atom] = {**named}
        return self.specializer.apply(ir.Const(fn), [*args], kwargs, self.frame, self.builder, self.span)

    def result_of(self, fn: Any, args: list[Any], kwargs: dict[Any, ir.Atom] | None = None) -> ir.Atom:
        """What another call comes to, whose result is that of this one."""
        return self.specializer.apply(
            ir.Const(fn), args, kwargs or {}, self.frame, self.builder, self.span, self.name)

    def value(self, atom: ir.Atom) -> AbstractValue:
        """What is known of an atom."""
        return self.specializer.context.value(atom)

    def items(self, atom: ir.Atom) -> list[ir.Atom] | None:
        """The items of a container of known length; None for anything else."""
        return self.specializer.static_items(atom, self.builder, self.span)

    def raised(self, problem: Exception) -> Exception:
        """What to raise where the call certainly raises an exception."""
        return self.specializer.raised(problem)

    def keep(self) -> ir.Atom:
        """Write the call as it is, to raise the user's error whether its result is read or not."""
        return self.specializer.keep(self.builder, ir.Call(ir.Const(self.fn), tuple(self.args)), self.span)

    def compute(self, fn: Any, *args: ir.Atom) -> ir.Atom:
        """Write a call of a function that is known as it is, for what this one needs."""
        return self.builder.call(fn, *args, span=self.span)

    def write(self, fn: Any, *args: ir.Atom) -> ir.Atom:
        """Write a call of a function that is known as it is; the result has the name of this one."""
        return self.builder.call(fn, *args, name=self.name, span=self.span)

    def leave(self, **known: Any) -> ir.Atom:
        """Leave the call to the run of the program; ``known`` is what ``Specializer.leave`` takes besides."""
        callee = self.callee if self.fn is None else ir.Const(self.fn)
        return self.specializer.leave(
            callee, list(self.args), dict(self.kwargs), self.builder, self.span, self.name, self.effect, **known)

    def refusal(self, code: str, **details: Any) -> DifferentiationError:
        """The error that refuses the call."""
        return error(code, span=self.span, asked_by=self.frame.called_from, **details)


Handler = Callable[[CallSite], "ir.Atom | None"]
"""What a call comes to, or ``NOT_HANDLED``. A handler may also give the site other arguments for those after it."""


@dataclass(frozen=True)
class Stage:
    """A place in the order: the handlers of single functions, or one for all functions whose types pass a test."""

    by_function: Mapping[Any, Handler] | None = None
    is_for: Callable[[type], bool] | None = None
    handler: Handler | None = None


def named(by_function: Mapping[Any, Handler]) -> Stage:
    """Handlers of single functions."""
    return Stage(by_function)


def for_types(types: type | tuple[type, ...], handler: Handler) -> Stage:
    """A handler of callables of these types."""
    return Stage(is_for=lambda kind: issubclass(kind, types), handler=handler)


def always(handler: Handler) -> Stage:
    """A handler that is asked for every function."""
    return Stage(is_for=lambda kind: True, handler=handler)


def takes_at(form: Callable[..., ir.Atom | None]) -> Handler:
    """The handler of a function that takes the specialiser, the place, the function, and the arguments."""
    return lambda site: form(site.specializer, site.at, site.fn, site.args, site.kwargs)


class Registry:
    """Stages in order. Which handlers a function has is found once for the function where one is named, else for its
    type: a call looks them up in one step."""

    def __init__(self, *stages: Stage) -> None:
        self.stages = stages
        self._named = {fn: self._find(fn) for stage in stages for fn in stage.by_function or ()}
        self._by_type: weakref.WeakKeyDictionary[type, tuple[Handler, ...]] = weakref.WeakKeyDictionary()

    def _find(self, fn: Any, kind: type | None = None) -> tuple[Handler, ...]:
        kind = kind or type(fn)
        found: list[Handler] = []
        for stage in self.stages:
            if stage.handler is not None and stage.is_for is not None and stage.is_for(kind):
                found.append(stage.handler)
            elif stage.by_function is not None and fn is not None and fn in stage.by_function:
                found.append(stage.by_function[fn])
        return tuple(found)

    def handlers(self, fn: Any) -> tuple[Handler, ...]:
        """The handlers of a function, in order."""
        found = self._named.get(fn) if is_hashable(fn) else None
        if found is None:
            found = self._by_type.get(type(fn))
        if found is None:
            found = self._by_type[type(fn)] = self._find(None, type(fn))
        return found

    def ask(self, site: CallSite) -> ir.Atom | None:
        """What the first handler gives that is for the call."""
        for handler in self.handlers(site.fn):
            found = handler(site)
            if found is not NOT_HANDLED:
                return found
        return NOT_HANDLED
