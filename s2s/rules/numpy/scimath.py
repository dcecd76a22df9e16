"""Rules of ``numpy.lib.scimath`` (``np.emath``): real results inside of the domain of the real function, complex ones
where an element lies outside of it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.functions import Varies
from s2s.rules.functions import describe
from s2s.rules.samples import args, arr, num
from s2s.rules.table import partials

BOTH = (args(num(0.2, 0.8)), args(num(-1.8, -1.2)), args(arr(3, low=0.2, high=0.8)), args(arr(2, 3, low=-3.0)),
        args(arr(3, complex=True)))
"""Inside, outside, and elements of both kinds."""


def power_exponent_partial(y: Any, x: Any, p: Any) -> Any:
    """y * log(x), 0 where the power is 0."""
    return y * np.emath.log(np.where(x == 0.0, 1.0, x))


def log_base_partial(y: Any, n: Any, x: Any) -> Any:
    return -y / (n * np.emath.log(n))


partials(np.emath.sqrt, lambda y, x: 0.5 / y, params="x", samples=BOTH)
partials(np.emath.log, lambda y, x: rt.quotient(1.0, x), params="x", samples=BOTH)
partials(np.emath.log2, lambda y, x: rt.quotient(1.0, math.log(2.0) * x), params="x", samples=BOTH)
partials(np.emath.log10, lambda y, x: rt.quotient(1.0, math.log(10.0) * x), params="x", samples=BOTH)
partials(
    np.emath.logn, log_base_partial, lambda y, n, x: rt.quotient(1.0, x * np.emath.log(n)), params="n, x",
    samples=(args(2.5, arr(3, low=0.2, high=0.8)), args(num(1.5, 3.0), arr(3, low=-2.0, high=2.0))),
)
partials(
    np.emath.power, lambda y, x, p: p * np.emath.power(x, p - 1), power_exponent_partial, params="x, p",
    samples=(
        args(arr(3, low=0.2, high=0.8), 2.5), args(arr(3, low=-0.8, high=0.8), num(0.5, 1.5)),
        args(num(-0.8, -0.2), arr(2, 3)), args(arr(3), 3),
    ),
)
partials(np.emath.arccos, lambda y, x: -1.0 / np.sin(y), params="x", samples=BOTH)
partials(np.emath.arcsin, lambda y, x: 1.0 / np.cos(y), params="x", samples=BOTH)
partials(np.emath.arctanh, lambda y, x: rt.quotient(1.0, 1.0 - x * x), params="x", samples=BOTH)

describe(*(getattr(np.emath, name) for name in np.emath.__all__), varies=Varies.COMPLEX, elementwise=False)
