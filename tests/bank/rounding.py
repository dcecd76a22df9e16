"""Straight through: rounding and casts to integer are the identity in the reverse sweep. In closed form."""

import math

import numpy as np

from tests.bank.registry import V3, V5, W3, case


@case(1.3, expected=lambda x: (2.0 * math.floor(x),))
def floor(x):
    return np.floor(x) ** 2


@case(V5, expected=lambda v: (2.0 * (np.floor(v) + np.ceil(v)),))
def floor_and_ceil(v):
    return np.sum(np.floor(v) ** 2 + np.ceil(v) ** 2)


@case(V5, expected=lambda v: (np.round(v) + np.rint(v) + np.trunc(v) + np.fix(v) + 4.0 * v,))
def round_and_truncate(v):
    return np.sum((np.round(v) + np.rint(v) + np.trunc(v) + np.fix(v)) * v)


@case(
    V3, 0.4,
    expected=lambda x, s: (
        2.0 * np.floor(x / s + 0.5) * s,
        np.sum(2.0 * np.floor(x / s + 0.5) * s * (np.floor(x / s + 0.5) - x / s)),
    ),
)
def quantise(x, scale):
    q = np.floor(x / scale + 0.5)
    return np.sum((q * scale) ** 2)


@case(2.7, expected=lambda x: (2.0 * x + 1.0,))
def math_floor(x):
    return math.floor(x) * 1.0 + x * x


@case(2.7, expected=lambda x: (math.ceil(x) + x + 2.0,))
def math_ceil_and_trunc(x):
    return math.ceil(x) * x + math.trunc(x) * 2.0


@case(2.7, expected=lambda x: (int(x) + x,))
def int_cast(x):
    return int(x) * x


@case(V5, expected=lambda v: (v.astype(int) + v,))
def astype_int(v):
    return np.sum(v.astype(int) * v)


@case(V3, expected=lambda v: (np.array([0.0, 2.0 * int(v[1]), 1.0]),))
def int_of_element(v):
    return int(v[1]) ** 2 + float(v[2])


@case(2.718, expected=lambda x: (2.0 * round(x, 1),))
def round_to_digits(x):
    return round(x, 1) ** 2


@case(2.7, expected=lambda x: (round(x) + x,))
def round_builtin(x):
    return round(x) * x


@case(V3, expected=lambda v: (2.0 * np.round(v, 1),))
def round_decimals(v):
    return np.sum(np.round(v, 1) ** 2)


@case(7.3, 2.1, expected=lambda x, y: ((x // y) + x / y, -x * x / y**2))
def floor_division(x, y):
    return (x // y) * x


@case(V5, W3[0], expected=lambda v, s: (np.full(5, s), np.sum(v)))
def sign_has_zero_derivative(v, s):
    return np.sum(np.sign(v) * 2.0) + np.sum(v) * s


@case(2.6, expected=lambda x: (2.0 * x,))
def integer_used_as_count(x):
    total = x * x
    for _ in range(int(x)):
        total = total + 1.0
    return total


@case(V5, expected=lambda v: (np.array([0.0, 0.0, 2.0 * v[2], 0.0, 0.0]),))
def integer_used_as_index(v):
    i = int(v[0] * 6.0)
    return v[i] ** 2


@case(np.array([1.0, 1.0, 0.4]), expected=lambda v: (np.array([0.5, 0.5, 0.0]),))
def ties_in_max(v):
    return np.max(v)


@case(1.2, 1.2, expected=lambda x, y: (0.5, 0.5))
def ties_in_maximum(x, y):
    return np.maximum(x, y)


@case(
    np.array([1.0, 2.0]), np.array([1.0, 3.0]),
    expected=lambda a, b: (np.array([0.5, 1.0]), np.array([0.5, 0.0])),
)
def ties_in_minimum(a, b):
    return np.sum(np.minimum(a, b))


@case(0.0, expected=lambda x: (0.0,))
@case(np.array([0.0, -1.0, 2.0]), expected=lambda x: (np.sign(x),))
def abs_at_zero(x):
    return np.sum(np.abs(x))


@case(np.array([-1.0, 4.0]), expected=lambda v: (np.array([0.0, 0.25]),))
def where_never_leaks_nan(v):
    positive = v > 0
    return np.sum(np.where(positive, np.sqrt(np.where(positive, v, 0.0)), 0.0))


@case(np.array([0.0, 4.0]), expected=lambda v: (np.array([0.0, 0.25]),))
def where_never_leaks_inf(v):
    return np.sum(np.where(v > 0, np.sqrt(v), 0.0))


@case(np.array([0.0, 4.0]), expected=lambda v: (np.array([1.0, 1.0 + math.log(4.0)]),))
def where_never_leaks_from_log(v):
    return np.sum(np.where(v > 0, v * np.log(v), v))
