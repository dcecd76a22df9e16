"""Which arguments of a call are differentiated, by the parameters of the function that is called."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.inspection import with_article
from s2s.core.values import Array, Known, Scalar
from s2s.errors import error
from s2s.specialize.calls.bound_methods import function_and_receiver
from s2s.specialize.calls.derivative_parts import Fixed, Node, Tree, leaves_of
from s2s.specialize.calls.derivative_values import asked_of
from s2s.specialize.frames import FramedClosure, name_of
from s2s.specialize.site import At
from s2s.versions.target import target_of

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["Choice", "Parameter", "check_differentiable", "name_in_errors", "parameters"]


@dataclass(frozen=True)
class Parameter:
    """A parameter of the function: its name, whether it may be given by position, and its default."""

    name: str
    positional: bool
    default: ir.Atom | None = None


def parameters(specializer: Specializer, fn: ir.Atom) -> list[Parameter] | None:
    """The parameters that callers of a function see, without ``*args`` and ``**kwargs``; None where not known."""
    value = specializer.context.value(fn)
    made = specializer.context.definitions.get(fn) if isinstance(fn, ir.Var) else None
    asked = asked_of(specializer.context, fn)
    if asked is not None:
        return parameters(specializer, asked.fn)
    if isinstance(value, FramedClosure):
        defaults = dict(value.defaults)
        return [
            Parameter(p.var.name, p.kind.startswith("POSITIONAL"), defaults.get(p.var.name))
            for p in value.function.params if not p.kind.startswith("VAR")
        ]
    if isinstance(value, Known):
        target = target_of(value.value)
        return None if target is None else [
            Parameter(p.name, p.kind in _POSITIONAL, None if p.default is p.empty else ir.Const(p.default))
            for p in target.public if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
    if isinstance(made, ir.Call) and made.fn == ir.Const(functools.partial):
        inner = parameters(specializer, made.args[0])  # type: ignore[arg-type]
        fixed = dict(made.kwargs)
        return inner and [
            dataclasses.replace(p, default=fixed.get(p.name, p.default)) for p in inner[len(made.args) - 1 :]
        ]
    bound = function_and_receiver(specializer, fn)
    if bound is not None and isinstance(bound[0], types.FunctionType):
        inner = parameters(specializer, ir.Const(bound[0]))
        return inner and inner[1:]
    return None


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass
class Choice:
    """Which arguments of a call are differentiated: positions and keywords. Defaults that are, are given."""

    at: At
    fn: ir.Atom
    args: list[ir.Atom]
    kwargs: dict[str, ir.Atom]

    def key(self, argument: Any) -> int | str:
        """The position or keyword of an argument that is asked for by number or name."""
        known = parameters(self.at.specializer, self.fn) or []
        positional = [p for p in known if p.positional]
        if isinstance(argument, str):
            place = next((k for k, p in enumerate(positional) if p.name == argument), len(self.args))
            if place < len(self.args):
                return place
            return self.named(argument, next((p for p in known if p.name == argument), None))
        number = argument.__index__()
        if number < 0:
            number += max(len(positional), len(self.args))
        if 0 <= number < len(self.args):
            return number
        if not 0 <= number < len(positional):
            raise error("S2S501", **self.where, number=argument)
        return self.named(positional[number].name, positional[number])

    def named(self, name: str, parameter: Parameter | None) -> str:
        if name not in self.kwargs:
            if parameter is None or parameter.default is None:
                raise error("S2S502", **self.where, argument=name)
            self.kwargs[name] = parameter.default
        return name

    @property
    def where(self) -> dict[str, Any]:
        """What an error says of the call."""
        at = self.at
        return {"span": at.span, "asked_by": at.frame.called_from, "name": name_in_errors(at.context, self.fn)}


def name_in_errors(context: Context, fn: ir.Atom) -> str:
    value = context.value(fn)
    if isinstance(value, FramedClosure):
        return value.function.name.strip("<>")
    return name_of(value.value).strip("<>") if isinstance(value, Known) else "the function"


def check_differentiable(at: At, fn: ir.Atom, key: int | str, tree: Tree) -> None:
    """Raise ArgumentError where an argument to differentiate holds no float."""
    if any(leaf.wanted for leaf in leaves_of(tree)) or (isinstance(tree, Node) and not tree.items):
        return
    where: dict[str, Any] = {"span": at.span, "asked_by": at.frame.called_from, "name": name_in_errors(at.context, fn)}
    named = [p.name for p in parameters(at.specializer, fn) or () if p.positional]
    argument = named[key] if isinstance(key, int) and key < len(named) else str(key)
    known = at.value(tree.atom) if isinstance(tree, Fixed) else None
    kind = type(known.value) if isinstance(known, Known) else known.type if isinstance(known, Scalar) else None
    if kind is not None and issubclass(kind, (int, np.integer)) and kind is not bool:
        raise error("S2S503", hint="pass a float, `float(...)`", argument=argument, **where)
    if isinstance(known, Array) and known.dtype.kind in "iu":
        raise error("S2S503", hint="pass floats, `x.astype(float)`", argument=argument, **where)
    text = with_article(kind.__name__) if kind is not None else "without floats"
    raise error("S2S504", hint="leave it out of `argnums`", argument=argument, kind=text, **where)
