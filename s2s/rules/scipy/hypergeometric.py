"""The hypergeometric functions differentiated by their parameters, for which SciPy has no function: their series can
be differentiated term by term (DLMF 16.2.1).

A negative variable is turned into a positive one first, by Kummer's transformation (DLMF 13.2.39) or Pfaff's (15.8.1):
then terms of one sign are summed as soon as all parameters and their differences are positive.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt

__all__ = ["hyp0f1_by_v", "hyp1f1_by_a", "hyp1f1_by_b", "hyp2f1_by_a", "hyp2f1_by_c"]

FEWEST, MOST = 8, 20_000
"""So many terms are summed at least, and at most: near z = 1 the series of 2F1 needs many."""
SMALL = 1e-17
"""A term that is so small beside the sum ends the sum."""


def differentiated(a: Any, other: Any, b: Any, z: Any, by_upper: bool) -> Any:
    """The derivative by a, or by b, of the sum over k of (a)_k (other)_k / (b)_k z^k / k!. An upper parameter that is
    None is left out."""
    term = np.ones_like(b + z + (0.0 if a is None else a) + (0.0 if other is None else other))
    slope, total = np.zeros_like(term), np.zeros_like(term)
    for k in range(MOST):
        rest = z / ((b + k) * (k + 1)) * (1.0 if other is None else other + k)
        ratio = rest if a is None else rest * (a + k)
        slope = slope * ratio + term * (rest if by_upper else -ratio / (b + k))
        term = term * ratio
        total = total + slope
        if k > FEWEST and not np.any(np.abs(slope) > SMALL * np.abs(total)):
            return total
    return rt.no_derivative(
        "a hypergeometric function of scipy.special by a parameter", "its series does not converge fast enough there")


def hyp0f1_by_v(v: Any, z: Any) -> Any:
    """The derivative of ``hyp0f1(v, z)`` by v."""
    return differentiated(None, None, v, z, False)


def turned_1f1(a: Any, b: Any, x: Any) -> tuple[Any, Any, Any]:
    """Where x is negative; the first parameter and the variable of Kummer's transformation there."""
    is_left = np.real(x) < 0.0
    return is_left, np.where(is_left, b - a, a), np.where(is_left, -x, x)


def hyp1f1_by_a(a: Any, b: Any, x: Any) -> Any:
    """The derivative of ``hyp1f1(a, b, x)`` by a."""
    is_left, top, u = turned_1f1(a, b, x)
    return np.where(is_left, -1.0, 1.0) * np.exp(np.where(is_left, x, 0.0)) * differentiated(top, None, b, u, True)


def hyp1f1_by_b(a: Any, b: Any, x: Any) -> Any:
    """The derivative of ``hyp1f1(a, b, x)`` by b."""
    is_left, top, u = turned_1f1(a, b, x)
    by_top = np.where(is_left, differentiated(top, None, b, u, True), 0.0)
    return np.exp(np.where(is_left, x, 0.0)) * (by_top + differentiated(top, None, b, u, False))


def turned_2f1(b: Any, c: Any, z: Any) -> tuple[Any, Any, Any, Any]:
    """Where z is negative; 1 - z, the second parameter and the variable of Pfaff's transformation there."""
    is_left = np.real(z) < 0.0
    rest = np.where(is_left, 1.0 - z, 1.0)
    return is_left, rest, np.where(is_left, c - b, b), np.where(is_left, -z, z) / rest


def hyp2f1_by_a(y: Any, a: Any, b: Any, c: Any, z: Any) -> Any:
    """The derivative of y = ``hyp2f1(a, b, c, z)`` by a."""
    _, rest, other, w = turned_2f1(b, c, z)
    return rest ** -a * differentiated(a, other, c, w, True) - np.log(rest) * y


def hyp2f1_by_c(a: Any, b: Any, c: Any, z: Any) -> Any:
    """The derivative of ``hyp2f1(a, b, c, z)`` by c."""
    is_left, rest, other, w = turned_2f1(b, c, z)
    by_other = np.where(is_left, differentiated(other, a, c, w, True), 0.0)
    return rest ** -a * (by_other + differentiated(a, other, c, w, False))
