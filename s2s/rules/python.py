"""Rules of Python itself: the operators, the builtins that compute, and the ``math`` module.

``math`` works on Python floats, so its rules do too.
"""

from __future__ import annotations

import builtins
import cmath
import collections
import functools
import math
import operator
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core import operators, ops
from s2s.core.functions import Computes, Result
from s2s.rules.functions import describe
from s2s.rules.numpy.elementwise import power_base, power_exponent
from s2s.rules.samples import args, arr, num
from s2s.rules.table import alias, jvp, linear, model, partials, refuse, straight_through, vjp, zero

POSITIVE = (0.2, 3.0)
INSIDE = (-0.9, 0.9)
COMPLEX = (args(arr(low=0.5, complex=True)), args(arr(low=0.1, high=0.7, complex=True)))
BINARY = "a, b, /"
INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 long ulong longlong ulonglong intc uintc intp uintp"

# --- operators ----------------------------------------------------------------------------------------------

alias(np.add, operator.add, params=BINARY)
alias(np.subtract, operator.sub, params=BINARY)
alias(np.multiply, operator.mul, params=BINARY)
partials(
    operator.truediv, lambda y, a, b: rt.quotient_again(1.0, a, b), lambda y, a, b: -y / b, params=BINARY,
    domain=((-2.0, 2.0), POSITIVE),
)
alias(np.power, operator.pow, params=BINARY)
alias(np.negative, operator.neg, params="a, /")
alias(np.positive, operator.pos, params="a, /")
alias(np.remainder, operator.mod, params=BINARY)

straight_through(
    operator.floordiv, params=BINARY, domain=((-2.0, 2.0), POSITIVE), derivatives=(
        lambda y, a, b: rt.quotient_again(1.0, a, b), lambda y, a, b: rt.quotient_again(-(a / b), a, b),
    ),
)
# In place the first argument keeps its shape.
IN_PLACE = [args(arr(2, 3, low=0.5), arr(3, low=0.5)), args(num(0.5), num(0.5))]
alias(operator.add, operator.iadd, samples=IN_PLACE)
alias(operator.sub, operator.isub, samples=IN_PLACE)
alias(operator.mul, operator.imul, samples=IN_PLACE)
alias(operator.truediv, operator.itruediv, samples=IN_PLACE)
alias(operator.pow, operator.ipow, samples=IN_PLACE)
alias(operator.mod, operator.imod, samples=[args(num(2.1, 3.9), num(1.1, 1.9))])
alias(operator.floordiv, operator.ifloordiv, samples=[])

# --- builtins -----------------------------------------------------------------------------------------------


alias(np.absolute, builtins.abs, operator.abs, params="x, /")
partials(
    builtins.pow, power_base, power_exponent, params="base, exp, mod=None", domain=(POSITIVE, (-2.0, 2.0)),
)
linear(
    builtins.float, x=lambda y_bar, x: rt.unbroadcast(y_bar, x), params="x=0.0, /",
    samples=[args(num()), args(arr())],
)
straight_through(builtins.int, params="x=0, /")
straight_through(builtins.round, params="number, ndigits=None")


def largest_bar(y_bar: Any, y: Any, values: Any) -> Any:
    """In equal parts to the values that equal the result; one argument is a sequence of them."""
    if len(values) == 1:
        return (rt.share(y_bar, y, values[0]),)
    if len(values) == 2:
        return (
            share_of_first(y_bar, values[0], values[1], y), share_of_first(y_bar, values[1], values[0], y),
        )
    if len(values) == 3:
        a, b, c = values
        return (
            share_of_one(y_bar, a, b, c, y), share_of_one(y_bar, b, a, c, y), share_of_one(y_bar, c, a, b, y),
        )
    if len(values) == 4:
        a, b, c, d = values
        return (
            _share_of_four(y_bar, a, b, c, d, y), _share_of_four(y_bar, b, a, c, d, y),
            _share_of_four(y_bar, c, a, b, d, y), _share_of_four(y_bar, d, a, b, c, y),
        )
    return rt.share(y_bar, y, values)


def share_of_one(y_bar: Any, a: Any, b: Any, c: Any, y: Any) -> Any:
    """All where ``a`` alone is the result, an equal part in a tie."""
    return y_bar * ((y == a) / (1.0 + (a == b) + (a == c)))


def _share_of_four(y_bar: Any, a: Any, b: Any, c: Any, d: Any, y: Any) -> Any:
    """The same for four values."""
    return y_bar * ((y == a) / (1.0 + (a == b) + (a == c) + (a == d)))


def share_of_first(y_bar: Any, a: Any, b: Any, y: Any) -> Any:
    """All where ``a`` alone is the result, half in a tie: the factor is 1, 0.5 or 0."""
    return y_bar * ((y == a) - 0.5 * (a == b))


SHARES = (share_of_first, share_of_one, _share_of_four)
"""What a choice among numbers passes on: linear in the cotangent, their first argument, and zero for all but one."""

EXTREMES = [
    args(num(), num()), args(num(), num(), num()), args(num(), num(), num(), num()), args([num(), num(), num()]),
    args((num(),)), args(arr(4)),
]
vjp(builtins.max, values=largest_bar, params="*values, key=None, default=None", samples=EXTREMES)
vjp(builtins.min, values=largest_bar, params="*values, key=None, default=None", samples=EXTREMES)


def largest_dot(values_dot: Any, y: Any, values: Any) -> Any:
    shares = largest_bar(1.0, y, values)
    if len(values) == 1:
        shares, values_dot = shares[0], values_dot[0]
    return sum([share * dot for share, dot in zip(shares, values_dot)])


jvp(builtins.max, values=largest_dot)
jvp(builtins.min, values=largest_dot)


@model(builtins.sum, samples=[args([num(), num()]), args((arr(3), arr(3)), num()), args(arr(4)), args([])])
def _sum(iterable: Any, /, start: Any = 0) -> Any:
    total = start
    for item in iterable:
        total = total + item
    return total


@model(
    functools.reduce, samples=[args(operator.mul, [num(), num(), num()]), args(operator.mul, [num()], num())],
)
def _reduce(function: Any, iterable: Any, /, *initial: Any) -> Any:
    items = list(iterable)
    if len(initial) == 0:
        total = items[0]
        rest = items[1:]
    else:
        total = initial[0]
        rest = items
    for item in rest:
        total = function(total, item)
    return total


@model(builtins.map, samples=[args(math.sin, [num(), num()])])
def _map(function: Any, /, *iterables: Any) -> Any:
    return [function(*items) for items in zip(*iterables)]


@model(builtins.filter)
def _filter(function: Any, iterable: Any, /) -> Any:
    if function is None:
        return [item for item in iterable if item]
    return [item for item in iterable if function(item)]


SEQUENCES = [args([num(), num()]), args((num(), num())), args(arr(3))]
linear(
    builtins.list, iterable=lambda y_bar, iterable: rt.sequence_bar(y_bar, iterable), params="iterable=(), /",
    samples=SEQUENCES,
)
linear(
    builtins.tuple, iterable=lambda y_bar, iterable: rt.sequence_bar(y_bar, iterable),
    params="iterable=(), /",
    samples=SEQUENCES,
)


@model(builtins.divmod, samples=[args(num(2.1, 3.9), num(1.1, 1.9)), args(arr(3, low=2.1, high=3.9), num(1.1, 1.9))])
def _divmod(a: Any, b: Any, /) -> Any:
    return a // b, a % b


# --- types of numbers ---------------------------------------------------------------------------------------

NUMBER = "x=0.0, /"
linear(
    np.float64, x=lambda y_bar, x: rt.unbroadcast(y_bar, x), params=NUMBER,
    samples=[args(num()), args(arr(3)), args(arr())],
)
linear(
    np.complex128, x=lambda y_bar, x: rt.unbroadcast(y_bar, x), params=NUMBER,
    samples=[args(arr(complex=True)), args(arr(3))],
)
# What rounds is not tested by differences.
alias(np.float64, *{np.float16, np.float32, np.longdouble} - {np.float64}, samples=[args(arr(0))])
alias(np.complex128, *{np.complex64, np.clongdouble} - {np.complex128}, samples=[args(arr(0))])
linear(
    builtins.complex, joint=True, params="real=0, imag=0",
    real=lambda y_bar, real: rt.cast(y_bar, real), imag=lambda y_bar, imag: rt.cast(1.0j * y_bar, imag),
    samples=[args(num()), args(num(), num()), args(real=num(), imag=num()), args(arr(complex=True))],
)
straight_through(*{getattr(np, name) for name in INTEGERS.split()}, params="x=0, /")

# ``math`` raises where its functions have no value. Where only the derivative is infinite ``rt.quotient`` gives that.

# --- math: one input ----------------------------------------------------------------------------------------

partials(math.sin, lambda y, x: math.cos(x))
partials(math.cos, lambda y, x: -math.sin(x))
partials(math.tan, lambda y, x: 1.0 + y * y, domain=(-1.2, 1.2))
partials(math.asin, lambda y, x: rt.quotient(1.0, math.sqrt((1.0 - x) * (1.0 + x))), domain=INSIDE)
partials(math.acos, lambda y, x: rt.quotient(-1.0, math.sqrt((1.0 - x) * (1.0 + x))), domain=INSIDE)
partials(math.atan, lambda y, x: 1.0 / (1.0 + x * x))
partials(math.sinh, lambda y, x: math.cosh(x))
partials(math.cosh, lambda y, x: math.sinh(x))
partials(math.tanh, lambda y, x: 1.0 - y * y)
partials(math.asinh, lambda y, x: 1.0 / math.hypot(1.0, x))
partials(math.acosh, lambda y, x: rt.quotient(1.0, math.sqrt(x - 1.0) * math.sqrt(x + 1.0)), domain=(1.2, 4.0))
partials(math.atanh, lambda y, x: 1.0 / ((1.0 - x) * (1.0 + x)), domain=INSIDE)
partials(math.exp, lambda y, x: y)
partials(math.exp2, lambda y, x: math.log(2.0) * y)
partials(math.expm1, lambda y, x: math.exp(x))
partials(math.log2, lambda y, x: 1.0 / (math.log(2.0) * x), domain=POSITIVE)
partials(math.log10, lambda y, x: 1.0 / (math.log(10.0) * x), domain=POSITIVE)
partials(math.log1p, lambda y, x: 1.0 / (1.0 + x), domain=(-0.7, 3.0))
partials(math.sqrt, lambda y, x: rt.quotient(0.5, y), domain=POSITIVE)
partials(math.cbrt, lambda y, x: rt.quotient(1.0, 3.0 * y * y), domain=POSITIVE)
partials(math.fabs, lambda y, x: np.sign(x))
partials(math.radians, lambda y, x: math.pi / 180.0)
partials(math.degrees, lambda y, x: 180.0 / math.pi)
# Abramowitz and Stegun 7.1.1: the derivative of erf.
partials(math.erf, lambda y, x: 2.0 / math.sqrt(math.pi) * math.exp(-x * x))
partials(math.erfc, lambda y, x: -2.0 / math.sqrt(math.pi) * math.exp(-x * x))
partials(math.gamma, lambda y, x: y * rt.digamma(x), domain=POSITIVE)
partials(math.lgamma, lambda y, x: rt.digamma(x), domain=POSITIVE)
straight_through(math.floor, math.ceil, math.trunc)


def log_partial(y: Any, x: Any, base: Any) -> Any:
    if base is None:
        return 1.0 / x
    return 1.0 / x / math.log(base)


partials(
    math.log, log_partial, lambda y, x, base: -y / (base * math.log(base)), params="x, base=None, /",
    samples=(args(num(*POSITIVE)), args(num(*POSITIVE), num(1.5, 3.0)), args(num(*POSITIVE), 2.0)),
)

# --- math: several inputs -----------------------------------------------------------------------------------

partials(
    math.atan2, lambda y, a, b: rt.quotient(rt.quotient(b, math.hypot(a, b)), math.hypot(a, b)),
    lambda y, a, b: rt.quotient(rt.quotient(-a, math.hypot(a, b)), math.hypot(a, b)),
)
partials(math.pow, power_base, lambda y, a, b: y * rt.log_of_positive(a), domain=(POSITIVE, (-2.0, 2.0)))
partials(math.fmod, lambda y, a, b: 1.0, lambda y, a, b: (y - a) / b, domain=((2.1, 3.9), (1.1, 1.9)))
partials(math.remainder, lambda y, a, b: 1.0, lambda y, a, b: (y - a) / b, domain=((2.1, 2.6), (1.1, 1.3)))
partials(math.copysign, lambda y, a, b: np.sign(a) * math.copysign(1.0, b), None)
partials(math.ldexp, lambda y, x, i: rt.power(2.0, i), None, samples=(args(num(), 3),))
# 0 at the origin: ``y + (y == 0.0)`` is y, or 1 where y is 0.
vjp(
    math.hypot, coordinates=lambda y_bar, y, coordinates: tuple([y_bar * (c / (y + (y == 0.0))) for c in coordinates]),
    params="*coordinates", samples=[args(num(), num()), args(num(), num(), num()), args(num())],
)
vjp(
    math.dist,
    p=lambda y_bar, y, p, q: rt.distance_bar(y_bar, y, p, q),
    q=lambda y_bar, y, p, q: rt.distance_bar(y_bar, y, q, p),
    params="p, q, /",
    samples=[args((num(), num()), (num(), num())), args([num()], [num()]), args(arr(3), arr(3))],
)


jvp(
    math.dist,
    p=lambda p_dot, y, p, q: rt.distance_dot(p_dot, y, p, q),
    q=lambda q_dot, y, p, q: rt.distance_dot(q_dot, y, q, p),
)


@model(math.fsum, samples=[args([num(), num(), num()]), args(arr(3))])
def _fsum(seq: Any, /) -> Any:
    total = 0.0
    for item in seq:
        total = total + item
    return float(total)


@model(math.prod, samples=[args([num(), num(), num()]), args(arr(3), start=num())])
def _prod(iterable: Any, /, *, start: Any = 1) -> Any:
    total = start
    for item in iterable:
        total = total * item
    return total


if hasattr(math, "sumprod"):  # Python 3.12

    @model(math.sumprod, samples=[args([num(), num(), num()], [num(), num(), num()]), args(arr(3), arr(3))])
    def _sumprod(p: Any, q: Any, /) -> Any:
        total = 0.0
        for a, b in zip(p, q, strict=True):
            total = total + a * b
        return total


if hasattr(math, "fma"):  # Python 3.13
    partials(
        math.fma, lambda w, x, y, z: y, lambda w, x, y, z: x, lambda w, x, y, z: 1.0, params="x, y, z, /",
    )


@model(math.modf, samples=[args(num(1.2, 1.8)), args(num(-1.8, -1.2))])
def _modf(x: Any, /) -> Any:
    return math.copysign(0.0, x) if math.isinf(x) else math.fmod(x, 1.0), float(np.trunc(x))


refuse(math.frexp, "it gives a mantissa and an exponent that jumps; write out the scaling that you need")
refuse(math.nextafter, "the next floating-point number is no differentiable function; add a small constant")

# --- cmath: as NumPy's functions of complex numbers ---------------------------------------------------------

partials(cmath.sin, lambda y, x: cmath.cos(x), params="x, /", samples=COMPLEX)
partials(cmath.cos, lambda y, x: -cmath.sin(x), params="x, /", samples=COMPLEX)
partials(cmath.tan, lambda y, x: 1.0 + y * y, params="x, /", samples=COMPLEX)
# The roots of factors, not of 1 - x * x: no square that overflows.
partials(
    cmath.asin, lambda y, x: rt.quotient(1.0, cmath.sqrt(1.0 - x) * cmath.sqrt(1.0 + x)), params="x, /",
    samples=COMPLEX,
)
partials(
    cmath.acos, lambda y, x: rt.quotient(-1.0, cmath.sqrt(1.0 - x) * cmath.sqrt(1.0 + x)), params="x, /",
    samples=COMPLEX,
)
partials(cmath.atan, lambda y, x: 1.0 / (1.0 - 1.0j * x) / (1.0 + 1.0j * x), params="x, /", samples=COMPLEX)
partials(cmath.sinh, lambda y, x: cmath.cosh(x), params="x, /", samples=COMPLEX)
partials(cmath.cosh, lambda y, x: cmath.sinh(x), params="x, /", samples=COMPLEX)
partials(cmath.tanh, lambda y, x: 1.0 - y * y, params="x, /", samples=COMPLEX)
partials(
    cmath.asinh, lambda y, x: rt.quotient(1.0, cmath.sqrt(1.0 - 1.0j * x) * cmath.sqrt(1.0 + 1.0j * x)), params="x, /",
    samples=COMPLEX,
)
partials(
    cmath.acosh, lambda y, x: rt.quotient(1.0, cmath.sqrt(x - 1.0) * cmath.sqrt(x + 1.0)), params="x, /",
    samples=COMPLEX,
)
partials(cmath.atanh, lambda y, x: 1.0 / (1.0 - x) / (1.0 + x), params="x, /", samples=COMPLEX)
partials(cmath.exp, lambda y, x: y, params="x, /", samples=COMPLEX)
partials(cmath.log10, lambda y, x: 1.0 / (math.log(10.0) * x), params="x, /", samples=COMPLEX)
partials(cmath.sqrt, lambda y, x: rt.quotient(0.5, y), params="x, /", samples=COMPLEX)
partials(
    cmath.log, lambda y, x, base: 1.0 / x if base is None else 1.0 / (x * cmath.log(base)),
    lambda y, x, base: -y / (base * cmath.log(base)), params="x, base=None, /",
    samples=(*COMPLEX, args(arr(low=0.5, complex=True), num(1.5, 3.0))),
)


@model(cmath.phase, samples=COMPLEX)
def _phase(z: Any, /) -> Any:
    return math.atan2(z.imag, z.real)


@model(cmath.polar, samples=COMPLEX)
def _polar(z: Any, /) -> Any:
    return math.hypot(z.real, z.imag), math.atan2(z.imag, z.real)


@model(cmath.rect, samples=[args(num(0.5, 2), num())])
def _rect(r: Any, phi: Any, /) -> Any:
    return complex(r * math.cos(phi), r * math.sin(phi))


zero(cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan)

# --- what else is known ---------------------------------------------------------------------------------------------

describe(builtins.float, builtins.complex, result=Result.NEW)
describe(builtins.list, builtins.tuple, result=Result.SHARED)
describe(
    *{kind for kind in vars(np).values() if isinstance(kind, type) and issubclass(kind, np.generic)},
    result=Result.SHARED,  # of an array of that type they give the array
)
describe(*operators.PLAIN, result=Result.SHARED)
describe(
    builtins.list, builtins.tuple, builtins.set, builtins.frozenset, builtins.dict, builtins.sum, builtins.sorted,
    builtins.min, builtins.max, math.fsum, math.prod, collections.deque, collections.Counter, tuple.__new__,
    consumes=True, takes_all=True,
)
describe(builtins.any, builtins.all, functools.reduce, consumes=True)
describe(
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.neg, operator.pos, operator.invert, operator.and_, operator.or_, operator.xor, operator.lshift,
    operator.rshift, operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow,
    builtins.abs, operator.abs, elementwise=True,
)
describe(builtins.len, builtins.isinstance, builtins.type, operator.is_, operator.is_not, reads=())
describe(operator.call, calls_back=True)
describe(
    builtins.list, builtins.tuple, builtins.dict, builtins.set, builtins.frozenset, builtins.zip, builtins.enumerate,
    builtins.reversed, builtins.slice, builtins.getattr, builtins.setattr, builtins.delattr, calls_back=False,
)
describe(
    builtins.slice, builtins.range, builtins.reversed, builtins.list, builtins.tuple, builtins.enumerate, builtins.zip,
    builtins.getattr, builtins.globals, pure=True,
)
describe(ops.format_string, ops.format_value, ops.contains, ops.not_in, result=Result.NEW)
for _computes, _fns in {
    Computes.ABSOLUTE: (builtins.abs, operator.abs, math.fabs), Computes.TRUNCATED: (math.fmod,),
    Computes.CHOICE: (builtins.min, builtins.max), Computes.LIST: (builtins.list, builtins.tuple),
    Computes.SAME: (builtins.float, np.float64, np.float32, np.complex128), Computes.COMPLEX: (builtins.complex,),
    Computes.PIECES: (math.copysign, math.degrees, math.radians, math.ldexp, math.remainder, rt.quotient),
}.items():
    describe(*_fns, computes=_computes)
