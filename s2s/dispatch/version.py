"""One compiled version of a function, as a dispatcher keeps it."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import TYPE_CHECKING, Any

from s2s.codegen.link import link
from s2s.core.values import AbstractValue, Unknown
from s2s.dispatch.recorded import is_recorded, recorded
from s2s.dispatch.rungs import Rung, climb
from s2s.versions.guards import Guard
from s2s.versions.request import Compiled, Request
from s2s.versions.target import Target

if TYPE_CHECKING:
    from s2s.dispatch.tiers import Tier

__all__ = ["Version", "parameter_names", "renamed_for"]

LEAVING = "call", "call_again", "call_method", "call_method_again", "push"
"""The functions of the runtime that find the derivative of what they are given when they are called."""


class Version:
    """One compiled version: ``raw`` is the generated function, ``primal`` what it is the derivative of, ``run`` the
    generated one on its backend, ``call`` what the dispatcher calls, ``tier`` decides on ``run`` where the backend is
    ``auto``, ``guards`` the facts it relies on with the function whose globals and closure they look at. A version of
    ``vjp`` ``has_pulled`` when a reverse sweep of it has come to its end. One that records was ``refused_for`` the code
    of a version of the inner derivative, where the compiler has made nothing of that. ``strong`` is the version with
    strong zeros that serves its calls, where one does, ``rungs`` say what was tried for it."""

    def __init__(
        self,
        compiled: Compiled,
        raw: types.FunctionType,
        request: Request,
        avals: tuple[AbstractValue, ...],
        guards: tuple[tuple[Guard, types.FunctionType], ...],
        primal: types.FunctionType,
    ) -> None:
        self.compiled = compiled
        self.raw = raw
        self.primal = primal
        self.run: Callable[..., Any] = raw
        self.call: Callable[..., Any] = raw
        self.request = request
        self.avals = avals
        self.guards = guards
        self.late = 0
        self.has_pulled = False
        self.tier: Tier | None = None
        self.refused_for: Compiled | None = None
        self.strong: Version | None = None
        self.rungs: tuple[Rung, ...] = ()

    @property
    def shown(self) -> Compiled:
        """The code that its calls run."""
        return self.compiled if self.strong is None else self.strong.compiled

    def is_one_of(self, codes: Iterable[types.CodeType]) -> bool:
        """Whether its generated function, or the one with strong zeros, has one of these codes."""
        own = [one.raw.__code__ for one in (self, self.strong) if one is not None]
        return any(code is mine for code in codes for mine in own)  # equal codes are two

    def record(self, function: types.FunctionType, request: Request, problem: Any, is_told: bool = True) -> None:
        """Record each call of a function from now on; ``request`` names its parameters, ``problem`` says why, which a
        warning tells."""
        if not is_recorded(self.compiled):
            climb(self, "observed" if self.compiled.is_observed else "static", perf_counter(), problem)
        self.compiled, self.tier = recorded(function, request, problem, is_told), None
        self.refused_for = self.strong = None
        self.raw = self.run = self.call = link(self.compiled, function)

    @property
    def backend(self) -> str:
        """What it runs on, and why."""
        if self.tier is not None:
            return self.tier.told
        asked = dict(self.request.options).get("backend", "numpy")
        return f"numpy: {asked} does not compile it" if asked != "numpy" and self.run is self.raw else str(asked)

    @property
    def keeps_states(self) -> bool:
        """Whether its reverse sweep runs again what asks for the states of a loop, or for what calls have given."""
        return self.calls_runtime("Snapshots", "Calls")

    @property
    def keeps_pullbacks(self) -> bool:
        """Whether it keeps pullbacks of dynamic calls: what these hold is hidden from a second
        derivative."""
        return self.calls_runtime("call", "call_method")

    @property
    def leaves_uncounted(self) -> bool:
        """Whether it leaves a call to run time to which it hands over ``*args`` of unknown number."""
        if "*" not in self.compiled.text or not self.calls_runtime(*LEAVING):
            return False
        tree = ast.parse(self.compiled.text)
        return any(
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LEAVING
            and any(map(_spreads, node.args)) for node in ast.walk(tree))

    def calls_runtime(self, *functions: str) -> bool:
        names = [name for name, path in self.compiled.imports.items() if path == "s2s.runtime"]
        return any(f"{name}.{function}(" in self.compiled.text for name in names for function in functions)

    @property
    def is_general(self) -> bool:
        """Whether it takes arguments of which nothing is known: it is tried after the others."""
        return any(isinstance(aval, Unknown) for aval in self.avals)


def parameter_names(function: types.FunctionType) -> tuple[str, ...]:
    """The names of a function's parameters, ``*args`` before the keyword-only ones."""
    return Target(function, ()).parameters


def renamed_for(request: Request, target: Target, function: types.FunctionType) -> Request:
    """The request in the parameter names of the function compiled, which are others in generated code."""
    if function is target.function:
        return request
    names = dict(zip(target.parameters, parameter_names(function), strict=True))
    wrt = tuple((names[path[0]], *path[1:]) for path in request.wrt)
    return Request(request.mode, wrt, request.single, request.has_aux, request.options)


def _spreads(argument: ast.expr) -> bool:
    """``*args``, by itself or in a tuple of arguments."""
    return isinstance(argument, ast.Starred) or (isinstance(argument, ast.Tuple) and any(map(_spreads, argument.elts)))
