"""Rules of NumPy's elementwise functions: partial derivatives as expressions in the result and the inputs.
 The formulas are those of any table of derivatives (Abramowitz and Stegun, chapters 3 and 4); the comments
give what is chosen where there is no derivative. Constants are Python floats, so that float32 stays float32.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.functions import Computes, Result, Varies
from s2s.rules.functions import describe
from s2s.rules.samples import args, arr, num
from s2s.rules.table import (
    alias,
    attribute,
    flat_for_reals,
    jvp,
    linear,
    model,
    partials,
    refuse,
    straight_through,
    vjp,
)

POSITIVE = (0.2, 3.0)
INSIDE = (-0.9, 0.9)

# --- one input, smooth --------------------------------------------------------------------------------------


def arcsin_partial(y: Any, x: Any) -> Any:
    """1 / sqrt(1 - x^2), as (1 - x) (1 + x): exact near 1. Of each factor for complex numbers, which may be large."""
    if np.iscomplexobj(x):
        return 1.0 / (np.sqrt(1.0 - x) * np.sqrt(1.0 + x))
    return 1.0 / np.sqrt((1.0 - x) * (1.0 + x))


def arctan_partial(y: Any, x: Any) -> Any:
    """1 / (1 + x^2). The square of a complex number that overflows is no number, and not infinite as that of a real."""
    if np.iscomplexobj(x):
        return 1.0 / (1.0 - 1.0j * x) / (1.0 + 1.0j * x)
    return 1.0 / (1.0 + x * x)


def arctanh_partial(y: Any, x: Any) -> Any:
    if np.iscomplexobj(x):
        return 1.0 / (1.0 - x) / (1.0 + x)
    return rt.quotient(1.0, (1.0 - x) * (1.0 + x))


def arcsinh_partial(y: Any, x: Any) -> Any:
    """1 / sqrt(1 + x^2), without the square, which overflows where the root does not."""
    if np.iscomplexobj(x):
        return 1.0 / (np.sqrt(1.0 - 1.0j * x) * np.sqrt(1.0 + 1.0j * x))
    return 1.0 / np.hypot(1.0, x)


partials(np.sin, lambda y, x: np.cos(x))
partials(np.cos, lambda y, x: -np.sin(x))
partials(np.tan, lambda y, x: 1.0 + y * y, domain=(-1.2, 1.2))
partials(np.arcsin, arcsin_partial, domain=INSIDE)
partials(np.arccos, lambda y, x: -arcsin_partial(y, x), domain=INSIDE)
partials(np.arctan, arctan_partial)
partials(np.sinh, lambda y, x: np.cosh(x))
partials(np.cosh, lambda y, x: np.sinh(x))
partials(np.tanh, lambda y, x: 1.0 - y * y)
partials(np.arcsinh, arcsinh_partial)
# Two roots, not one of x * x - 1: right on the whole complex plane, and exact near 1.
partials(np.arccosh, lambda y, x: 1.0 / (np.sqrt(x - 1.0) * np.sqrt(x + 1.0)), domain=(1.2, 4.0))
partials(np.arctanh, arctanh_partial, domain=INSIDE)
partials(np.exp, lambda y, x: y)
partials(np.exp2, lambda y, x: math.log(2.0) * y)
partials(np.expm1, lambda y, x: np.exp(x))  # y + 1 has no digits left where y is near -1
# ``rt.quotient`` is ``/``, but for Python's numbers: 1.0 / 0.0 is inf, where Python raises.
partials(np.log, lambda y, x: rt.quotient(1.0, x), domain=POSITIVE)
partials(np.log2, lambda y, x: rt.quotient(1.0, math.log(2.0) * x), domain=POSITIVE)
partials(np.log10, lambda y, x: rt.quotient(1.0, math.log(10.0) * x), domain=POSITIVE)
partials(np.log1p, lambda y, x: rt.quotient(1.0, 1.0 + x), domain=(-0.7, 3.0))
# At 0 the derivative of a root is inf, as in JAX.
partials(np.sqrt, lambda y, x: 0.5 / y, domain=POSITIVE)
partials(np.cbrt, lambda y, x: 1.0 / (3.0 * y * y), domain=POSITIVE)
partials(np.square, lambda y, x: 2.0 * x)
partials(np.reciprocal, lambda y, x: -y * y, domain=POSITIVE)
partials(np.negative, lambda y, x: -1.0)
partials(np.positive, lambda y, x: 1.0)
partials(np.deg2rad, lambda y, x: math.pi / 180.0)
partials(np.rad2deg, lambda y, x: 180.0 / math.pi)
alias(np.deg2rad, np.radians)
alias(np.rad2deg, np.degrees)


def sinc_slope(x: Any) -> Any:
    """The derivative of ``np.sinc``, cos(pi x) / x - sin(pi x) / (pi x^2); by its series near 0, where these cancel."""
    near = np.abs(x) < 0.3
    square = (math.pi * np.where(near, x, 0.0)) ** 2
    series = np.zeros_like(square)
    for k in range(9, 0, -1):  # (-1)^k (pi x)^(2k) / (2k + 1)!
        series = 2 * k * (-1.0) ** k / math.factorial(2 * k + 1) + square * series
    away = np.where(near, 1.0, x)
    return np.where(near, math.pi**2 * x * series, (np.cos(math.pi * away) - np.sinc(away)) / away)


# From the equation of spherical Bessel functions: x s'' + 2 s' + pi^2 x s = 0.
partials(np.sinc, lambda y, x: sinc_slope(x), samples=(args(arr(5)), args(arr(2, 3)), args(arr()), args(num())))
partials(
    sinc_slope,
    lambda y, x: np.where(x == 0.0, -math.pi**2 / 3.0, -2.0 * y / np.where(x == 0.0, 1.0, x) - math.pi**2 * np.sinc(x)),
    params="x", samples=(args(arr(5)), args(arr(2, 3)), args(arr(3, low=-0.2, high=0.2))),
)


def bessel_quotient(x: Any) -> Any:
    """I1(x) / I0(x), by its continued fraction x / (2 + x^2 / (4 + ...)) from a far term back (DLMF 10.33.1). Where
    I0 is infinite few of its terms do."""
    quotient = np.zeros_like(x)
    for k in range(40 + int(np.max(np.fmin(np.abs(x), 800.0), initial=0.0)), 0, -1):
        quotient = x / (2.0 * k + x * quotient)
    return quotient


partials(np.i0, lambda y, x: y * bessel_quotient(x), params="x", samples=(args(arr(5)), args(arr(2, 3)), args(arr())))

# --- one input, with corners --------------------------------------------------------------------------------


def absolute_partial(y: Any, x: Any) -> Any:
    """The sign: 0 at 0. For complex numbers conj(x) / |x|, JAX's convention, 0 at 0 too."""
    if np.iscomplexobj(x):
        return np.conj(x) / np.where(y == 0.0, 1.0, y)
    return np.sign(x)


partials(np.absolute, absolute_partial)
partials(np.fabs, lambda y, x: np.sign(x))


def nan_to_num_partial(y: Any, x: Any, copy: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    if copy is False:
        return rt.no_derivative("np.nan_to_num", "copy=False changes its argument in place; leave it out")
    return np.where(np.isfinite(x), 1.0, 0.0)


partials(
    np.nan_to_num, nan_to_num_partial, None,
    lambda y, x, copy, nan, posinf, neginf: np.where(np.isnan(x), 1.0, 0.0),
    lambda y, x, copy, nan, posinf, neginf: np.where(np.isposinf(x), 1.0, 0.0),
    lambda y, x, copy, nan, posinf, neginf: np.where(np.isneginf(x), 1.0, 0.0),
    params="x, copy=True, nan=0.0, posinf=None, neginf=None",
    samples=(
        args(arr(4)), args(num()), args(arr(0, 2)), args(np.array([1.0, np.nan, np.nan]), nan=num()),
        args(np.array([1.0, np.inf, -np.inf]), posinf=num(), neginf=num()),
    ),
)
straight_through(np.floor, np.ceil, np.rint, np.trunc)
straight_through(np.fix, params="x, out=None")
straight_through(np.round, np.around, np.ndarray.round, params="a, decimals=0, out=None")

# --- two inputs ---------------------------------------------------------------------------------------------

partials(np.add, lambda y, a, b: 1.0, lambda y, a, b: 1.0)
partials(np.subtract, lambda y, a, b: 1.0, lambda y, a, b: -1.0)
partials(np.multiply, lambda y, a, b: b, lambda y, a, b: a)
partials(
    np.divide,
    lambda y, a, b: rt.quotient(1.0, b),
    lambda y, a, b: rt.quotient(-y, b),
    domain=((-2.0, 2.0), POSITIVE),
)


def power_base(y: Any, a: Any, b: Any) -> Any:
    """b a^(b-1), and 0 where both are 0: there the exponent is left at 0."""
    return b * rt.power(a, b - ((b != 0) | (a != 0)))


def power_exponent(y: Any, a: Any, b: Any) -> Any:
    """y log(a), and 0 where a is not positive: 0^b is flat, a negative base has no real derivative."""
    if isinstance(a, (int, float)):
        return y * rt.log_of_positive(a)
    if np.iscomplexobj(a):
        return y * np.log(np.where(a == 0.0, 1.0, a))
    return y * np.log(np.where(a > 0.0, a, 1.0))


partials(np.power, power_base, power_exponent, domain=(POSITIVE, (-2.0, 2.0)))
partials(np.float_power, power_base, power_exponent, domain=(POSITIVE, (-2.0, 2.0)))
# a - y is a multiple of b. (A quotient that is rounded would be differentiated as what it rounds.)
partials(np.remainder, lambda y, a, b: 1.0, lambda y, a, b: (y - a) / b, domain=((2.1, 3.9), (1.1, 1.9)))
partials(np.fmod, lambda y, a, b: 1.0, lambda y, a, b: (y - a) / b, domain=((2.1, 3.9), (1.1, 1.9)))
straight_through(
    np.floor_divide, derivatives=(
        lambda y, a, b: rt.quotient(1.0, b), lambda y, a, b: rt.quotient(rt.quotient(-a, b), b),
    ), domain=((-2.0, 2.0), POSITIVE),
)
# 0 at the origin, the middle of the slopes there: ``y + (y == 0.0)`` is y, or 1 where y is 0.
partials(np.hypot, lambda y, a, b: a / (y + (y == 0.0)), lambda y, a, b: b / (y + (y == 0.0)))
partials(
    np.arctan2,
    lambda y, a, b: rt.quotient(rt.quotient(b, np.hypot(a, b)), np.hypot(a, b)),
    lambda y, a, b: rt.quotient(rt.quotient(-a, np.hypot(a, b)), np.hypot(a, b)),
)


def share_of_sum(a: Any, b: Any) -> Any:
    """e^a / (e^a + e^b): half where both are the same infinity, 0 or 1 where one of them is infinite."""
    if (isinstance(a, float) and math.isfinite(a)) or (isinstance(b, float) and math.isfinite(b)):
        return np.exp(-np.logaddexp(0.0, b - a))
    tie = np.isinf(a) & (a == b)
    return np.exp(-np.logaddexp(0.0, np.where(tie, 0.0, b) - np.where(tie, 0.0, a)))


partials(np.logaddexp, lambda y, a, b: share_of_sum(a, b), lambda y, a, b: share_of_sum(b, a))
partials(
    np.logaddexp2, lambda y, a, b: share_of_sum(math.log(2.0) * a, math.log(2.0) * b),
    lambda y, a, b: share_of_sum(math.log(2.0) * b, math.log(2.0) * a),
)
partials(np.copysign, lambda y, a, b: np.sign(a) * np.copysign(1.0, b), None)
partials(np.heaviside, lambda y, a, b: 0.0, lambda y, a, b: np.where(a == 0.0, 1.0, 0.0))
partials(np.ldexp, lambda y, a, b: np.exp2(b), None, samples=(args(arr(3), 2), args(num(), 3)))

# Ties share equally.
partials(
    np.maximum,
    lambda y, a, b: np.where(a > b, 1.0, np.where(a == b, 0.5, 0.0)),
    lambda y, a, b: np.where(b > a, 1.0, np.where(a == b, 0.5, 0.0)),
)
partials(
    np.minimum,
    lambda y, a, b: np.where(a < b, 1.0, np.where(a == b, 0.5, 0.0)),
    lambda y, a, b: np.where(b < a, 1.0, np.where(a == b, 0.5, 0.0)),
)
# fmax and fmin give the other input where one is NaN.
partials(
    np.fmax,
    lambda y, a, b: np.where((a > b) | np.isnan(b), 1.0, np.where(a == b, 0.5, 0.0)),
    lambda y, a, b: np.where((b > a) | np.isnan(a), 1.0, np.where(a == b, 0.5, 0.0)),
)
partials(
    np.fmin,
    lambda y, a, b: np.where((a < b) | np.isnan(b), 1.0, np.where(a == b, 0.5, 0.0)),
    lambda y, a, b: np.where((b < a) | np.isnan(a), 1.0, np.where(a == b, 0.5, 0.0)),
)




@model(
    np.divmod,
    samples=[args(num(2.1, 3.9), num(1.1, 1.9)), args(arr(3, low=2.1, high=3.9), arr(2, 1, low=1.1, high=1.9))],
)
def _divmod(x1: Any, x2: Any) -> Any:
    return np.floor_divide(x1, x2), np.remainder(x1, x2)


@model(np.modf, samples=[args(num(1.2, 1.8)), args(arr(3, low=1.2, high=1.8))])
def _modf(x: Any) -> Any:
    return np.where(np.isinf(x), np.copysign(0.0, x), np.fmod(x, 1.0))[()], np.trunc(x)


refuse(np.frexp, "it gives a mantissa and an exponent that jumps; write out the scaling that you need")
refuse(np.nextafter, "the next floating-point number is no differentiable function; add a small constant")

# --- clip: as minimum(maximum(a, low), high), so a tie with a bound is shared, and the upper bound wins -----


def clip_a(y: Any, a: Any, low: Any, high: Any) -> Any:
    if low is None and high is None:
        return 1.0
    if low is None:
        return np.where(a < high, 1.0, np.where(a == high, 0.5, 0.0))
    if high is None:
        return np.where(a > low, 1.0, np.where(a == low, 0.5, 0.0))
    return np.where((a > low) & (a < high), 1.0, np.where((a == y) & (a >= low), 0.5, 0.0))


def clip_low_partial(y: Any, a: Any, low: Any, high: Any) -> Any:
    if high is None:
        return np.where(low > a, 1.0, np.where(low == a, 0.5, 0.0))
    tie = (low >= a) & (low <= high) & ((low > a) | (low < high))
    return np.where((low > a) & (low < high), 1.0, np.where(tie, 0.5, 0.0))


def clip_high_partial(y: Any, a: Any, low: Any, high: Any) -> Any:
    if low is None:
        return np.where(high < a, 1.0, np.where(high == a, 0.5, 0.0))
    return np.where(high < np.maximum(a, low), 1.0, np.where(high == np.maximum(a, low), 0.5, 0.0))


CLIP_SAMPLES = (
    args(arr(6), -1.0, 1.0), args(arr(6), num(-1, -0.5), num(0.5, 1)),
    args(arr(3, 4), arr(4, low=-1, high=0), 0.7),
    args(arr(6), None, 0.5), args(arr(6), 0.5, None), args(arr(), 0.0, 1.0), args(arr(0, 2), 0.0, 1.0),
)
partials(
    np.clip, clip_a, clip_low_partial, clip_high_partial, samples=CLIP_SAMPLES,
    params="a, a_min=None, a_max=None, out=None, *, min=None, max=None, dtype=None, casting='same_kind'",
    harmless="dtype",
)
alias(np.clip, np.ndarray.clip, params="a, min=None, max=None, out=None")

# --- where, real and complex parts --------------------------------------------------------------------------

# The cotangent is chosen, not multiplied: a NaN or inf on the side not taken does not reach the gradient.
linear(
    np.where,
    params="condition, x=None, y=None, /",
    decides="condition",
    joint=True,
    x=lambda y_bar, condition, x: rt.unbroadcast(np.where(condition, y_bar, 0.0), x),
    y=lambda y_bar, condition, y: rt.unbroadcast(np.where(condition, 0.0, y_bar), y),
    samples=[
        args(np.array([True, False, True]), arr(3), arr(3)), args(np.array([[True], [False]]), arr(3), num()),
        args(np.array([True, False]), arr(3, 1), arr(3, 2)), args(True, arr(2), arr(2)),
        args(np.zeros(0, bool), arr(0), 1.0),
    ],
)

# Where kinds are not known, what reaches the cotangent of a real part may have an imaginary one: it does not count.
linear(
    np.real, val=lambda y_bar, val: (
        (np.real(y_bar) if np.iscomplexobj(y_bar) else y_bar) + 0.0j if np.iscomplexobj(val) else y_bar
    ),
    samples=[args(arr(3)), args(arr(3, complex=True)), args(arr(complex=True))],
)
linear(
    np.imag, val=lambda y_bar, val: (
        -1.0j * (np.real(y_bar) if np.iscomplexobj(y_bar) else y_bar) if np.iscomplexobj(val) else np.zeros_like(val)
    ),
    samples=[args(arr(3, complex=True)), args(arr(complex=True))],
)
linear(
    np.real_if_close, a=lambda y_bar, a: rt.cast(y_bar, a), params="a, tol=100", decides="tol",
    samples=[args(arr(3)), args(arr(3, complex=True))],
)
attribute("real", np.real)
attribute("imag", np.imag)
linear(np.conjugate, x=lambda y_bar: np.conj(y_bar), samples=[args(arr(3)), args(arr(2, 3, complex=True))])
alias(np.conjugate, np.ndarray.conj, np.ndarray.conjugate, params="x")
alias(np.conjugate, float.conjugate, params="x", samples=[args(num())])
alias(np.conjugate, complex.conjugate, params="x", samples=[])  # no sample is a Python complex number
vjp(
    np.angle,
    z=lambda y_bar, z, deg: y_bar * (-180.0j / math.pi if deg else -1.0j) / z,
    samples=[args(arr(3, low=0.5, complex=True)), args(arr(2, low=0.5, complex=True), deg=True)],
)


@jvp(np.angle)
def angle_dot(z: Any, z_dot: Any, deg: Any) -> Any:
    return np.imag(z_dot / z) * (180.0 / math.pi if deg else 1.0)


def sign_bar(y_bar: Any, y: Any, x: Any) -> Any:
    """The sign of a complex number, x / |x|, turns as its angle does; 0 at 0. That of a real one is constant."""
    if not np.iscomplexobj(x):
        return rt.zeros_like(x)
    return 1.0j * np.imag(y_bar * y) * np.conj(y) / (np.abs(x) + (x == 0.0))


def sign_dot(x_dot: Any, y: Any, x: Any) -> Any:
    if not np.iscomplexobj(x):
        return np.zeros_like(y)
    return 1.0j * np.imag(np.conj(y) * x_dot) * y / (np.abs(x) + (x == 0.0))


vjp(np.sign, x=sign_bar, samples=[args(arr(3, complex=True)), args(arr(2, 2, complex=True))])
jvp(np.sign, x=sign_dot)
flat_for_reals(np.angle, np.sign)

# --- what else is known ---------------------------------------------------------------------------------------------

describe(np.where, np.conjugate, float.conjugate, complex.conjugate, result=Result.NEW)
describe(np.real, np.imag, np.real_if_close, np.ndarray.conj, np.ndarray.conjugate, result=Result.SHARED)
describe(np.where, elementwise=True)
describe(np.real_if_close, varies=Varies.KIND)
describe(
    np.real, np.real_if_close, np.conjugate, np.ndarray.conj, np.ndarray.conjugate, float.conjugate,
    complex.conjugate, computes=Computes.PIECES,
)
for _computes, _fns in {
    Computes.SUM: (np.add,), Computes.DIFFERENCE: (np.subtract,), Computes.PRODUCT: (np.multiply,),
    Computes.QUOTIENT: (np.divide,), Computes.NEGATIVE: (np.negative,), Computes.SAME: (np.positive,),
    Computes.ABSOLUTE: (np.absolute, np.fabs), Computes.SIGN: (np.sign,), Computes.FLOORED: (np.remainder,),
    Computes.TRUNCATED: (np.fmod,), Computes.POWER: (np.power, np.float_power), Computes.SQUARE: (np.square,),
    Computes.CHOICE: (np.where, np.clip, np.ndarray.clip, np.minimum, np.maximum, np.fmin, np.fmax),
    Computes.PIECES: (np.copysign, np.degrees, np.radians, np.rad2deg, np.deg2rad, np.ldexp, np.nan_to_num),
    Computes.COMPARISON: (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
}.items():
    describe(*_fns, computes=_computes)
