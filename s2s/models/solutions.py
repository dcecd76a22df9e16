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

from s2s.core.annotated import signature_of
from s2s.core.public import role

__all__ = ["arity", "attached", "for_value", "solved", "underived"]


@role("attached")
def attached(residual: Any, found: Any, linear_solve: Any = None) -> Any:
    """``found``, differentiated as the solution of ``residual(x) == 0`` by all that the residual reads."""
    return found


@role("solved")
def solved(residual: Any, linear_solve: Any, found: Any, /, *args: Any) -> Any:
    """``found``, differentiated as the solution of ``residual(x, *args) == 0``. An array is copied: what is made of it
    may be changed."""
    return found.copy() if isinstance(found, np.ndarray) else found


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
