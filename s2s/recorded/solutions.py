"""Calls of library functions that call back: in place of their code, which loops in compiled code or iterates until it
is content, the model that the compiler knows them by is watched, where the functions that they call hold what is
differentiated.

A solution of an equation is the value found, which moves as a step of Newton's method does:

    x = found - (J^-1 F(found) - the same as a constant)          J is dF/dx, a constant

As often as derivatives are taken, for each order.
"""

from __future__ import annotations

import operator
import types
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.public import PublicDerivative
from s2s.models import quadrature, solutions
from s2s.recorded.noted import still
from s2s.recorded.recorder import is_a, is_number
from s2s.recorded.state import ACTIVE, as_constants
from s2s.recorded.tools import INSTALLER, binary, call
from s2s.transforms import jacfwd, jvp

__all__ = ["ROLES", "is_of_model", "model_of"]


def is_of_model(function: types.FunctionType, rule: Any) -> bool:
    """Whether a function is a part of a model whose result is a constant, whatever its arguments depend on."""
    return rule is not None and rule.kind == "zero" and (function.__module__ or "").startswith("s2s.models.")


def model_of(rule: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The model to watch in place of a library function that is given functions; None where there is none."""
    if rule is None or rule.kind != "model" or type(rule.body) is not types.FunctionType or rule.body is rule.fn:
        return None
    given = (*(args[1:] if args and _is_receiver(args[0], rule.fn) else args), *kwargs.values())
    return rule.body if any(callable(arg) and not is_a(arg, (type, PublicDerivative)) for arg in given) else None


def _is_receiver(value: Any, fn: Any) -> bool:
    """Whether a function is a method of the class of a value."""
    return any(found is fn for base in type(value).__mro__ for found in vars(base).values())


def _attached(residual: Any, found: Any, linear_solve: Any = None) -> Any:
    """``models.solutions.attached`` in a recording."""
    INSTALLER.see(residual)
    matrix = np.reshape(as_constants(jacfwd(residual), found), (np.size(found), -1))
    x = still(found)
    for _ in ACTIVE[:]:
        step = call(np.linalg.solve, matrix, call(np.reshape, call(residual, x), -1))
        step = call(np.reshape, binary(operator.sub, step, still(step)), np.shape(found))
        x = binary(operator.sub, x, call(float, step) if is_number(found) else step)
    return x


def _integrated(integrand: Any, pieces: Any, like: Any) -> Any:
    """``models.quadrature.integrated`` in a recording: a sum over the places at which the value is read."""
    INSTALLER.see(integrand)
    steep = as_constants(_steep_unless_it_jumps, integrand, pieces, len(ACTIVE), "this integral", quadrature.JUMPS)
    total: Any = 0.0 * like
    for u, w in zip(*as_constants(quadrature.nodes_of, integrand, pieces.divided(steep))):
        total = binary(operator.add, total, binary(operator.mul, w, call(integrand, u)))
    return binary(operator.add, like, binary(operator.sub, total, still(total)))


def _looked_at(f: Any, pieces: Any, zero: Any) -> Any:
    """``models.quadrature.looked_at`` in a recording."""
    INSTALLER.see(f)
    as_constants(_steep_unless_it_jumps, f, pieces, len(ACTIVE), "this solution", quadrature.OF_EQUATION)
    return zero


def _steep_unless_it_jumps(f: Any, pieces: Any, order: int, name: str, reason: str) -> Any:
    """Where a function of a place is steep. Refused where it, or one of its derivatives below an order, jumps: whether
    what is differentiated moves the place is not known, and a derivative that jumps there does so by the place too."""
    found = []
    rate, seen = f, pieces.seen
    for k in range(order):
        if k > 0:
            rate = _slope(rate)
            seen = quadrature.seen_by_rule(rate, pieces)
        found.append(quadrature.steep_places(rate, seen, pieces.base, pieces.span))
        if any(jump for _, _, jump in found[-1]):
            rt.not_differentiable(name, reason)
    return found[0]


def _slope(f: Any) -> Any:
    return lambda u: jvp(f, (u,), (1.0,))[1]


ROLES: dict[int, Any] = {
    id(solutions.attached): _attached, id(quadrature.integrated): _integrated, id(quadrature.looked_at): _looked_at,
    id(solutions.for_value): as_constants, id(solutions.arity): solutions.arity,
}
"""What recordings do in place of functions that only the compiler knows the meaning of."""
