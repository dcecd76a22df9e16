"""Where in a function something is specialised: a place, and a call with what it is given."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from s2s.core import ir
from s2s.errors import DifferentiationError, error

if TYPE_CHECKING:
    from s2s.builder.builder import Builder, Context
    from s2s.core.values import AbstractValue
    from s2s.specialize.frames import Frame
    from s2s.specialize.specializer import Specializer
    from s2s.versions.facts import Guards

__all__ = ["NOT_HANDLED", "At", "CallSite", "Handler"]

NOT_HANDLED: Final = None
"""What a handler gives for a call that is not for it: the next one is asked."""


@dataclass(slots=True)
class At:
    """A place in a function that is specialised: the activation, where statements go, the user's line, and a name for
    the result."""

    specializer: Specializer
    frame: Frame
    builder: Builder
    span: ir.Span | None
    name: str = "%"

    @property
    def context(self) -> Context:
        """What is known of variables."""
        return self.specializer.context

    @property
    def guards(self) -> Guards:
        """What the version that is made relies on."""
        return self.specializer.guards

    def value(self, atom: ir.Atom) -> AbstractValue:
        """What is known of an atom."""
        return self.specializer.context.value(atom)

    def items(self, atom: ir.Atom) -> list[ir.Atom] | None:
        """The items of a container of known length; None for anything else."""
        return self.specializer.items.known(atom, self.builder, self.span)

    def entries(self, atom: ir.Atom) -> dict[Any, ir.Atom] | None:
        """The entries of a mapping with known keys, or of a known list of pairs; None for anything else."""
        return self.specializer.items.entries(atom, self.builder, self.span)

    def call(
        self, fn: Any, args: list[Any], kwargs: dict[Any, ir.Atom] | None = None, name: str = "", effect: bool = False
    ) -> CallSite:
        """A call here of a function that is known; its result has the name of the place where no other is given."""
        return CallSite(
            self.specializer, self.frame, self.builder, self.span, name or self.name, callee=ir.Const(fn), args=args,
            kwargs=kwargs or {}, effect=effect, fn=fn)

    def apply(self, fn: Any, *args: Any, **named: ir.Atom) -> ir.Atom:
        """What a call of a function comes to that is needed here."""
        return self.apply_atom(ir.Const(fn), [*args], {**named})

    def apply_atom(self, callee: ir.Atom, args: list[Any], kwargs: dict[Any, ir.Atom]) -> ir.Atom:
        """What a call of something comes to that is needed here."""
        return self.specializer.apply(callee, args, kwargs, self.frame, self.builder, self.span)

    def result_of(self, fn: Any, args: list[Any], kwargs: dict[Any, ir.Atom] | None = None) -> ir.Atom:
        """What a call of a function comes to, whose result is that of the place."""
        return self.result_of_atom(ir.Const(fn), args, kwargs or {})

    def result_of_atom(self, callee: ir.Atom, args: list[Any], kwargs: dict[Any, ir.Atom]) -> ir.Atom:
        """What a call of something comes to, whose result is that of the place."""
        return self.specializer.apply(callee, args, kwargs, self.frame, self.builder, self.span, self.name)

    def inline(self, fn: Callable[..., Any], args: list[Any], kwargs: dict[Any, ir.Atom] | None = None) -> ir.Atom:
        """What the body of a Python function comes to, in this place."""
        assert isinstance(fn, types.FunctionType)
        return self.specializer.inliner.inline(fn, args, kwargs or {}, self.frame, self.builder, self.span)

    def compute(self, fn: Any, *args: ir.Atom) -> ir.Atom:
        """Write a call of a function that is known as it is, for what is needed here."""
        return self.builder.call(fn, *args, span=self.span)

    def write(self, fn: Any, *args: ir.Atom) -> ir.Atom:
        """Write a call of a function that is known as it is; the result has the name of the place."""
        return self.builder.call(fn, *args, name=self.name, span=self.span)

    def raised(self, problem: Exception) -> Exception:
        """What to raise where the program certainly raises an exception."""
        return self.specializer.raised(problem)

    def refusal(self, code: str, **details: Any) -> DifferentiationError:
        """The error that refuses what is done here."""
        return error(code, span=self.span, asked_by=self.frame.called_from, **details)

    def refuse(self, name: str, why: str) -> DifferentiationError:
        """The error for a change that cannot be followed."""
        return self.refusal("S2S134", name=name, label=why)


@dataclass(slots=True)
class CallSite(At):
    """A call in a function that is specialised: what is called, and with which arguments (``*`` and ``**`` that cannot
    be spread out among them). Of a call for its ``effect`` the result is not read. ``fn`` is the function, once it is
    known."""

    callee: ir.Atom = field(kw_only=True)
    args: list[Any] = field(kw_only=True)
    kwargs: dict[Any, ir.Atom] = field(kw_only=True)
    effect: bool = field(default=False, kw_only=True)
    fn: Any = field(default=None, kw_only=True)

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

    def made(self) -> ir.Atom:
        """What the call comes to."""
        return self.specializer.apply(
            self.callee, self.args, self.kwargs, self.frame, self.builder, self.span, self.name, self.effect)

    def keep(self) -> ir.Atom:
        """Write the call as it is, to raise the user's error whether its result is read or not."""
        return self.specializer.keep(self.builder, ir.Call(ir.Const(self.fn), tuple(self.args)), self.span)

    def leave(self, **known: Any) -> ir.Atom:
        """Leave the call to the run of the program; ``known`` is what ``Specializer.leave`` takes besides."""
        return self.specializer.leave(self, **known)


Handler = Callable[[CallSite], "ir.Atom | None"]
"""What a call comes to, or ``NOT_HANDLED``. A handler may also give the site other arguments for those after it."""
