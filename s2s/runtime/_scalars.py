"""Functions of numbers that Python lacks, or for which it raises where NumPy does not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2s.runtime._cotangents import rebuild


def quotient(a: Any, b: Any) -> Any:
    """``a / b`` as NumPy divides: infinite, or no number, where ``b`` is 0. Python's numbers raise there, which a
    derivative must not do where the primal did not."""
    try:
        return a / b
    except ZeroDivisionError:
        return np.divide(a, b).item()


def quotient_again(c: Any, a: Any, b: Any) -> Any:
    """``c / b`` where ``a / b`` has been computed: as ``quotient``. The compiler knows that ``b`` is not 0 where ``a``
    and ``b`` are Python's numbers, and writes ``c / b``."""
    return quotient(c, b)


def power(a: Any, b: Any) -> Any:
    """``a ** b`` as NumPy's numbers have it: infinite where Python's raise, at 0 and beyond the largest number."""
    try:
        return a**b
    except (ZeroDivisionError, OverflowError):
        return np.float_power(a, b).item()


def log_of_positive(a: float) -> float:
    """``log(a)``, and 0 where ``a`` is not positive: the factor of a power's derivative by its exponent."""
    return math.log(a) if a > 0 else 0.0


def digamma(x: float) -> float:
    """The logarithmic derivative of the gamma function. Raises ValueError at its poles 0, -1, -2, ...

    Reflection for negative arguments, recurrence up to 10, then the asymptotic series (Abramowitz and Stegun
    6.3.7, 6.3.5, 6.3.18); the first term left out is below 1e-16 there.
    """
    if x <= 0.0:
        if x == math.floor(x):
            raise ValueError("math domain error")
        # The distance to the pole is taken before the multiplication by pi: tan(pi x) loses digits for large x.
        return digamma(1.0 - x) - math.pi / math.tan(math.pi * (x - round(x)))
    total = 0.0
    while x < 10.0:
        total -= 1.0 / x
        x = x + 1.0  # an array of rank 0 stays as it is
    t = 1.0 / (x * x)
    series = 1 / 132 - t * (691 / 32760 - t / 12)
    series = t * (1 / 12 - t * (1 / 120 - t * (1 / 252 - t * (1 / 240 - t * series))))
    return total + math.log(x) - 0.5 / x - series


def trigamma(x: float) -> float:
    """The derivative of ``digamma``, by the same ways (Abramowitz and Stegun 6.4.7, 6.4.6, 6.4.12)."""
    if x <= 0.0:
        turn = math.pi / math.sin(math.pi * (x - round(x)))
        return turn * turn - trigamma(1.0 - x)  # a power would raise where this is infinite
    total = 0.0
    while x < 10.0:
        total += 1.0 / x / x  # x * x may be 0 where x is not
        x = x + 1.0  # an array of rank 0 stays as it is
    t = 1.0 / (x * x)
    series = 5 / 66 - t * (691 / 2730 - t * 7 / 6)
    series = 1 / 6 - t * (1 / 30 - t * (1 / 42 - t * (1 / 30 - t * series)))
    return total + 1.0 / x + t * (0.5 + series / x)


# --- distances ------------------------------------------------------------------------------------------------------


def distance_bar(g: Any, y: float, p: Any, q: Any) -> Any:
    """The cotangent of ``p`` from that of ``math.dist(p, q)``; 0 where the points are one."""
    size = y + (y == 0.0)
    parts = [g * ((a - b).real / size) for a, b in zip(p, q, strict=True)]
    return np.array(parts) if isinstance(p, np.ndarray) else rebuild(p, parts)


def distance_dot(p_dot: Any, y: float, p: Any, q: Any) -> float:
    """The tangent of ``math.dist(p, q)`` from that of ``p``; 0 where the points are one."""
    size = y + (y == 0.0)
    return sum([(a - b).real / size * dot.real for a, b, dot in zip(p, q, p_dot, strict=True)])
