"""Derivatives as values: what ``s2s.grad(f)`` is before it is called."""

from __future__ import annotations

import types
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from s2s.builder import virtual_heap
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.annotated import signature_of
from s2s.core.public import PublicDerivative, Transformed, role_of
from s2s.core.values import Known
from s2s.specialize.frames import FramedClosure, pinned
from s2s.specialize.site import At, CallSite
from s2s.versions.request import Request
from s2s.versions.target import one_of_modes

__all__ = ["MAKERS", "NOT_KNOWN", "Asked", "asked_of", "check_late", "literal", "make"]

MAKERS: dict[str, str] = {
    "grad": "grad", "value_and_grad": "value_and_grad", "jacfwd": "jacfwd", "jacrev": "jacrev", "jacobian": "jacfwd",
    "value_and_jacobian": "value_and_jacfwd", "elementwise_grad": "elementwise_grad",
}
"""Public functions that make a derivative of a function, by their roles, and the mode of it. Which Jacobian needs fewer
directions is not known before the program runs: it is the one by forward mode."""


@dataclass(frozen=True)
class Asked:
    """A derivative that is to be taken: of which function, with respect to what. ``argnums`` is None for every
    positional argument that has a derivative."""

    mode: str
    fn: ir.Atom
    argnums: Any = 0
    has_aux: bool = False
    unconnected: str = "zeros"
    holomorphic: bool = False
    changes: str = ""

    @property
    def is_gradient(self) -> bool:
        """Whether there is one cotangent for each part of an argument, to be put together as the argument is."""
        return self.mode in ("grad", "value_and_grad")

    @property
    def single(self) -> bool:
        """Whether one argument is asked for, and not a tuple of them."""
        return not isinstance(self.argnums, (tuple, list))

    def request(self, wrt: tuple[tuple[Any, ...], ...], options: tuple[tuple[str, Any], ...]) -> Request:
        """The request for parameters of these names."""
        options = (*options, ("unconnected", self.unconnected), ("changes", self.changes), ("inner", True))
        options += (("holomorphic", True),) if self.holomorphic else ()
        single = self.single and not self.is_gradient and self.argnums is not None
        return Request(self.mode, wrt, single, self.has_aux, options)


def make(site: CallSite) -> ir.Atom | None:
    """``s2s.grad(f, ...)``: a variable that is known by its definition, dead once its calls are written out; None where
    its options are not known."""
    given = _bound(site.fn, site.args, site.kwargs)
    options = {name: literal(site, atom) for name, atom in given.items() if name in _OPTIONS}
    if any(option is NOT_KNOWN for option in options.values()):
        return None
    check_late(site, [given["f"]])
    set_ = tuple((name, ir.Const(v)) for name, v in options.items() if v != _OPTIONS[name])
    call = ir.Call(ir.Const(site.fn), (given["f"],), set_)
    varied = site.context.is_varied(given["f"])
    if not site.context.is_virtual(given["f"]):
        var = site.context.define(site.name, virtual_heap.UNKNOWN, varied, call)
        site.builder.add(ir.Let(var, call, site.span))
        return var
    var = site.context.define(site.name, virtual_heap.UNKNOWN, varied, call)
    site.context.virtual_closures[var] = lambda builder: builder.let(
        ir.map_atoms(call, builder.frozen), virtual_heap.UNKNOWN, site.name, site.span, varied)
    return var


def _bound(fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> dict[str, ir.Atom]:
    """The arguments of a call by parameter, defaults among them."""
    bound = signature_of(fn).bind(*args, **kwargs)
    bound.apply_defaults()
    return {k: a if isinstance(a, (ir.Var, ir.Const)) else ir.Const(a) for k, a in bound.arguments.items()}


NOT_KNOWN = object()

_OPTIONS: dict[str, Any] = {"argnums": 0, "has_aux": False, "unconnected": "zeros", "holomorphic": False}
"""The options of the functions that make derivatives."""


def literal(at: At, atom: ir.Atom) -> Any:
    """What an option is: a constant, an integer of a module or closure, or a tuple or list of such."""
    atom = pinned(at.specializer, atom)
    if isinstance(atom, ir.Const):
        return atom.value
    items = at.items(atom)
    items = None if items is None else [pinned(at.specializer, item) for item in items]
    if items is None or not all(isinstance(item, ir.Const) for item in items):
        return NOT_KNOWN
    return tuple(item.value for item in items if isinstance(item, ir.Const))


def check_late(at: At, functions: Iterable[ir.Atom]) -> None:
    """Refuse to keep a function that reads a variable which is assigned before it is called."""
    for value in map(at.context.value, functions):
        if isinstance(value, FramedClosure) and value.late:
            raise at.refusal("S2S205", name=value.late[0])


def asked_of(context: Context, callee: ir.Atom) -> Asked | None:
    """What a derivative asks for, where that is known: one that the program made, or one that was there before."""
    known = context.value(callee)
    if isinstance(known, Known):
        derivative = known.value
        if isinstance(derivative, (types.FunctionType, Transformed)):
            derivative = one_of_modes(derivative)
        if not isinstance(derivative, PublicDerivative):
            return None
        mode, f, argnums, has_aux, unconnected, _, changes, holomorphic = derivative.made_from
        if mode not in MAKERS.values() and mode not in ("value_and_jacrev",):
            return None
        return Asked(mode, ir.Const(f), argnums, has_aux, unconnected, holomorphic, changes)
    made = context.definitions.get(callee) if isinstance(callee, ir.Var) else None
    if not isinstance(made, ir.Call) or not isinstance(made.fn, ir.Const):
        return None
    mode = MAKERS.get(role_of(made.fn.value) or "")
    if mode is None:
        return None
    given = {name: option.value for name, option in made.kwargs if isinstance(option, ir.Const)}
    return Asked(mode, made.args[0], **given)  # type: ignore[arg-type, union-attr]
