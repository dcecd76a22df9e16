"""Solutions of equations as the compiler knows them: what a solver has found, and the residual that it makes zero.

    x = attached(residual, found)           the value found; derivatives are those of residual(x) == 0

Whatever the residual reads that is differentiated moves the solution, whichever way it got there: by a closure, a
method, attributes of an object. The compiler makes arguments of it: a call of ``solved`` is what is left of
``attached`` for the reverse and the forward sweep.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.annotated import signature_of
from s2s.core.public import function, role

__all__ = [
    "arity", "attached", "by_elements", "check_elements", "check_repeats", "for_value", "once_more", "searched",
    "solved", "underived", "undone", "was_called",
]


@role("attached")
def attached(residual: Any, found: Any, linear_solve: Any = None) -> Any:
    """``found``, differentiated as the solution of ``residual(x) == 0`` by all that the residual reads."""
    return found


def by_elements(product: Any, b: Any) -> Any:
    """The solution of a linear system whose matrix is diagonal. Raises where it is not."""
    v = b / product(np.ones_like(b))
    check_elements(product(v), b)
    return v


def check_elements(product: Any, b: Any) -> None:
    if not np.allclose(product, b, rtol=1e-6, atol=1e-9 * np.max(np.abs(b), initial=0.0)):
        rt.no_derivative("the solution of an equation for each item of an array", "each item of the function may "
                         "depend on its own unknown only; use scipy.optimize.root, or s2s.implicit, for a system")


@role("solved")
def solved(residual: Any, linear_solve: Any, found: Any, /, *args: Any) -> Any:
    """``found``, differentiated as the solution of ``residual(x, *args) == 0``. An array is copied: what is made of it
    may be changed."""
    return found.copy() if isinstance(found, np.ndarray) else found


def searched(residual: Any, found: Any, width: Any) -> Any:
    """The point that a search has found, if ``residual`` is zero there; ``width`` is how far the points are from each
    other that it has left."""
    ones = 1.0 if np.ndim(found) == 0 else np.ones_like(found)
    value, slope = function("jvp")(residual, (found,), (ones,))
    return rt.check_solution(found, value, slope, width)


def undone(changed: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
    """``fn(*args, **kwargs)``, and what it has left in arrays that it changes. They are as they were."""
    before = [np.copy(a) for a in changed]
    try:
        found = fn(*args, **kwargs)
        return found, *(np.copy(a) for a in changed)
    finally:
        for array, content in zip(changed, before, strict=True):
            array[...] = content


def check_repeats(residual: Any, x: Any, /, *args: Any) -> None:
    """Raise NoDerivativeError where a residual has another value for what it reads as it is after the calls of the
    solver than for that as it was before, or where ``x`` is far from making it zero, as it is where SciPy has kept an
    array that later calls have overwritten. The arguments of before come first."""
    before, after = args[: len(args) // 2], args[len(args) // 2:]
    value = residual(x, *before)
    slope = residual(x + _NEAR * (1.0 + np.abs(x)), *before) - value
    if not np.allclose(value, residual(x, *after), rtol=1e-7, atol=1e-10, equal_nan=True):
        rt.not_differentiable("a solution", "its equation depends on what earlier calls of the function have left in "
                              "an array that it captures")
    if np.linalg.norm(value) > np.linalg.norm(slope):
        rt.not_differentiable("a solution", "the solver has not come near it; a function that gives an array which it "
                              "fills again in each call has to give a copy of it to some solvers")


_NEAR = 1e-3
"""How near to a solution a solver comes at least, relative to its size."""


@role("once_more")
def once_more(fn: Any, x: Any) -> Any:
    """``fn(x)`` where a solver has called the function: what it changes, nobody sees."""
    return fn(x)


@role("was_called")
def was_called(fn: Any) -> None:
    """Say that a solver has called a function of which only that matters what it has changed."""


@role("for_value")
def for_value(fn: Any, /, *args: Any, **kwargs: Any) -> Any:
    """``fn(*args, **kwargs)``, a constant for all derivatives, whatever its arguments and their functions depend on."""
    return fn(*args, **kwargs)


@role("arity")
def arity(f: Any) -> int:
    """How many positional parameters a function has."""
    kinds = [p.kind for p in signature_of(f).parameters.values()]
    return sum(kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds)


def underived(value: Any, moved: Any) -> Any:
    """``value``, which depends on what is differentiated by ``moved`` in a way that no rule knows: who reads its
    derivative is refused."""
    return value + 0


def underived_bar(y_bar: Any, moved: Any) -> Any:
    """The cotangent of ``moved``, where nothing reads the value. Raises ValueError where something does."""
    if np.any(y_bar):
        raise ValueError("a part of what a compiled function gives has no derivative here")
    return np.zeros_like(moved)
