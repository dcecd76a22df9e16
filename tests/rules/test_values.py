"""First and second derivatives at the places where a naive formula fails, in both modes, against the exact values.

Each row is a function, the place, the gradient there, and the diagonal of its second derivatives (None where there is
no second derivative, or a row further down has it). Floats are given to the functions as floats, lists as arrays.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import s2s

INF, NAN, PI = math.inf, math.nan, math.pi
ONE = np.array([1.0, -INF, INF, 0.0])


def power(a: Any, b: Any) -> Any:
    return np.sum(a**b)


def power_of_float(a: Any, b: Any) -> Any:
    return a**b


def slope_of_power(b: Any) -> Any:
    return np.sum(s2s.grad(power)(np.array([2.0, 2.0]), b))


def norm_of_rows(x: Any) -> Any:
    return np.sum(np.linalg.norm(x, axis=1))


def exponentials(x: Any) -> Any:
    return np.sum(np.exp(np.linalg.eigvalsh(x)))


def of_eigh(x: Any) -> Any:
    w, _ = np.linalg.eigh(x)
    return np.sum(w**3)


def of_last_vector(x: Any) -> Any:
    return np.linalg.eigh(x)[1][0, -1] ** 2


def of_svd(x: Any) -> Any:
    return np.sum(np.linalg.svd(x)[1] ** 2)


def of_complex_abs(x: Any) -> Any:
    return np.abs(x * (1.0 + 1.0j))


ROWS: list[tuple[str, Callable[[Any], Any], Any, Any, Any]] = [
    # roots and powers
    ("sqrt at 0", lambda x: np.sqrt(x), 0.0, INF, -INF),
    ("sqrt of an array with 0", lambda x: np.sum(np.sqrt(x)), [0.0, 4.0], [INF, 0.25], [-INF, -1 / 32]),
    ("cbrt at 0", lambda x: np.cbrt(x), 0.0, INF, None),
    ("x**0", lambda x: x**0, 0.0, 0.0, 0.0),
    ("x**0.0 of negative x", lambda x: x**0.0, -2.0, 0.0, 0.0),
    ("x**0 of an array", lambda x: np.sum(x**0), [0.0, -1.0, 2.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    ("x**1.0 at 0", lambda x: x**1.0, 0.0, 1.0, 0.0),
    ("x**2 of negative x", lambda x: x**2, -3.0, -6.0, 2.0),
    ("x**2.0 of negative x", lambda x: x**2.0, -3.0, -6.0, 2.0),
    ("power(x, 2.0)", lambda x: np.sum(np.power(x, 2.0)), [0.0, -2.0], [0.0, -4.0], [2.0, 2.0]),
    ("x**3 at 0", lambda x: x**3, 0.0, 0.0, 0.0),
    ("x**1.5 at 0", lambda x: np.sum(x**1.5), [0.0], [0.0], [INF]),
    ("powers at 0", lambda x: np.sum(x ** np.arange(4.0)), [0.0] * 4, [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0]),
    ("0**x", lambda x: 0.0**x, 2.0, 0.0, 0.0),
    ("0**0 by the exponent", lambda x: 0.0**x, 0.0, 0.0, 0.0),
    ("0**x of an array", lambda x: np.sum(0.0**x), [0.0, 1.0, 2.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    ("float_power", lambda x: np.float_power(x, 3), -2.0, 12.0, -12.0),
    ("x**0.0 by both", lambda x: x[0] ** x[1], [2.0, 0.0], [0.0, math.log(2.0)], [0.0, math.log(2.0) ** 2]),
    ("x**b by x, at b = 0, of arrays", slope_of_power, [0.0, 1.0], [0.5, 1.0 + math.log(2.0)], None),
    # Python's numbers: where only the derivative is infinite, nothing raises
    ("math.sqrt at 0", lambda x: math.sqrt(x), 0.0, INF, -INF),
    ("math.cbrt at 0", lambda x: math.cbrt(x), 0.0, INF, None),
    ("x**0.5 of a float at 0", lambda x: x**0.5, 0.0, INF, -INF),
    ("x**1.5 of a float at 0", lambda x: x**1.5, 0.0, 0.0, INF),
    ("math.pow(x, 0.5) at 0", lambda x: math.pow(x, 0.5), 0.0, INF, -INF),
    ("x**p of floats at 0", lambda x: power_of_float(x, 0.25), 0.0, INF, -INF),
    ("x**p of floats at 0, p > 1", lambda x: power_of_float(x, 2.5), 0.0, 0.0, 0.0),
    ("a power at the end of the range", lambda x: x**-1.5, 1e-150, -INF, INF),
    ("math.acos at 1", lambda x: math.acos(x), 1.0, -INF, None),
    ("math.asin at -1", lambda x: math.asin(x), -1.0, INF, None),
    ("math.acosh at 1", lambda x: math.acosh(x), 1.0, INF, None),
    ("math.atan2 at the origin", lambda x: math.atan2(x, 0.0), 0.0, NAN, NAN),
    ("math.fabs at 0", lambda x: math.fabs(x), 0.0, 0.0, NAN),
    ("math.dist of one point", lambda x: math.dist([x, 1.0], [0.0, 1.0]), 0.0, 0.0, None),
    ("math.ldexp beyond the range", lambda x: math.ldexp(x, 1030), 1e-3, INF, 0.0),
    ("an element by a float that is 0", lambda x: x * (np.float64(1.0) / 0.0), 1.0, INF, 0.0),
    ("np.float64 by a float that is 0", lambda x: np.float64(1.0) / x, 0.0, -INF, INF),
    # norms at 0
    *[
        (f"norm {order} at 0", lambda x, order=order: np.linalg.norm(x, order), [0.0, 0.0], [0.0, 0.0], None)
        for order in (None, 1, 2, 3, INF, -INF)
    ],
    *[
        (f"norm {order} of a zero matrix", lambda x, order=order: np.linalg.norm(x, order), [[0.0, 0.0], [0.0, 0.0]],
         [[0.0, 0.0], [0.0, 0.0]], None)
        for order in ("fro", "nuc", 1, INF)
    ],
    ("norm of rows, one zero", norm_of_rows, [[0.0, 0.0], [3.0, 4.0]], [[0.0, 0.0], [0.6, 0.8]], None),
    ("norm 3 with a zero", lambda x: np.linalg.norm(x, 3), [0.0, 2.0], [0.0, 1.0], [0.0, 0.0]),
    ("norm 1 with a zero", lambda x: np.linalg.norm(x, 1), [0.0, -2.0], [0.0, -1.0], [NAN, 0.0]),
    ("norm 2 of equal singular values", lambda x: np.linalg.norm(x, 2), [[1.0, 0.0], [0.0, 1.0]],
     [[0.5, 0.0], [0.0, 0.5]], None),
    ("norm nuc of low rank", lambda x: np.linalg.norm(x, "nuc"), [[1.0, 1.0], [1.0, 1.0]], [[0.5, 0.5], [0.5, 0.5]],
     None),
    # sums of exponentials
    ("logaddexp of -inf and a number", lambda x: np.logaddexp(x, 1.0), -INF, 0.0, 0.0),
    ("logaddexp of inf and a number", lambda x: np.logaddexp(x, 1.0), INF, 1.0, 0.0),
    ("logaddexp of -inf twice", lambda x: np.logaddexp(x, -INF), -INF, 0.5, 0.0),
    ("logaddexp with infinities", lambda x: np.sum(np.logaddexp(x, ONE)), [1.0, 2.0, 3.0, 0.0], [0.5, 1.0, 0.0, 0.5],
     [0.25, 0.0, 0.0, 0.25]),
    ("logaddexp2 with infinities", lambda x: np.sum(np.logaddexp2(x, ONE)), [1.0, 2.0, 3.0, 0.0], [0.5, 1.0, 0.0, 0.5],
     [0.25 * math.log(2), 0.0, 0.0, 0.25 * math.log(2)]),
    ("logaddexp far apart", lambda x: np.logaddexp(x, 1000.0), 0.0, 0.0, 0.0),
    ("logaddexp.reduce of -inf", lambda x: np.logaddexp.reduce(x), [-INF, -INF], [0.5, 0.5], [0.0, 0.0]),
    ("logaddexp.reduce with inf", lambda x: np.logaddexp.reduce(x), [INF, 1.0], [1.0, 0.0], [0.0, 0.0]),
    ("logaddexp.reduce at 1000", lambda x: np.logaddexp.reduce(x), [1000.0, 1000.0], [0.5, 0.5], [0.25, 0.25]),
    ("logsumexp at 1000", lambda x: scipy.special.logsumexp(x), [1000.0, 1000.0, -1000.0], [0.5, 0.5, 0.0],
     [0.25, 0.25, 0.0]),
    ("logsumexp at -1000", lambda x: scipy.special.logsumexp(x), [-1000.0, -1000.0], [0.5, 0.5], [0.25, 0.25]),
    ("softmax at 1000", lambda x: scipy.special.softmax(x)[0], [1000.0, 1000.0], [0.25, -0.25], [0.0, 0.0]),
    ("log_softmax at 1000", lambda x: scipy.special.log_softmax(x)[0], [1000.0, -1000.0], [0.0, 0.0], [0.0, 0.0]),
    ("expit far out", lambda x: np.sum(scipy.special.expit(x)), [-1000.0, 0.0, 1000.0], [0.0, 0.25, 0.0],
     [0.0, 0.0, 0.0]),
    # products with zeros
    ("prod with a zero", lambda x: np.prod(x), [0.0, 2.0, 3.0], [6.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    ("prod with two zeros", lambda x: np.prod(x), [0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    ("prod of zeros", lambda x: np.prod(x), [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    ("multiply.reduce", lambda x: np.multiply.reduce(x), [2.0, 0.0, 3.0], [0.0, 6.0, 0.0], [0.0, 0.0, 0.0]),
    ("multiply.accumulate", lambda x: np.sum(np.multiply.accumulate(x)), [2.0, 0.0, 3.0], [1.0, 8.0, 0.0],
     [0.0, 0.0, 0.0]),
    ("cumprod with two zeros", lambda x: np.sum(np.cumprod(x)), [2.0, 0.0, 3.0, 0.0, 4.0],
     [1.0, 8.0, 0.0, 0.0, 0.0], [0.0] * 5),
    ("nanprod", lambda x: np.nanprod(x), [0.0, NAN, 3.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    ("nancumprod", lambda x: np.sum(np.nancumprod(x)), [2.0, 0.0, NAN, 3.0], [1.0, 10.0, 0.0, 0.0], [0.0] * 4),
    ("math.prod", lambda x: math.prod([x[0], x[1], x[2]]), [0.0, 2.0, 3.0], [6.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    ("det of a singular matrix", lambda x: np.linalg.det(x), [[1.0, 2.0], [2.0, 4.0]], [[4.0, -2.0], [-2.0, 1.0]],
     [[0.0, 0.0], [0.0, 0.0]]),
    # spreads
    ("var of equal values", lambda x: np.var(x), [1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [4 / 9] * 3),
    ("std of equal values", lambda x: np.std(x), [1.0, 1.0, 1.0], [0.0, 0.0, 0.0], None),
    ("nanstd of equal values", lambda x: np.nanstd(x), [1.0, NAN, 1.0], [0.0, 0.0, 0.0], None),
    ("var of near-constants", lambda x: np.var(x), [1e8, 1e8 + 1, 1e8 + 2], [-2 / 3, 0.0, 2 / 3], [4 / 9] * 3),
    ("std of near-constants", lambda x: np.std(x), [1e8, 1e8 + 1, 1e8 + 2], [-(1 / 6) ** 0.5, 0.0, (1 / 6) ** 0.5],
     None),
    # guarded singularities: nothing of the side not taken
    ("guarded log", lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)), [-1.0, 0.0, 2.0], [0.0, 0.0, 0.5],
     [0.0, 0.0, -0.25]),
    ("guarded log of a float", lambda x: np.where(x > 0, x * np.log(x), 0.0), 0.0, 0.0, 0.0),
    ("guarded sqrt", lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)), [-1.0, 0.0, 4.0], [0.0, 0.0, 0.25],
     [0.0, 0.0, -1 / 32]),
    ("guarded quotient", lambda x: np.sum(np.where(x != 0, (x * x) / x, 1.0)), [0.0, 2.0], [0.0, 1.0], [0.0, 0.0]),
    ("guarded power", lambda x: np.sum(np.where(x > 0, x**-1.0, x)), [0.0, 2.0], [1.0, -0.25], [0.0, 0.25]),
    ("guarded arccos", lambda x: np.sum(np.where(np.abs(x) < 1, np.arccos(x), 0.0)), [1.0, 2.0, 0.0],
     [0.0, 0.0, -1.0], [0.0, 0.0, 0.0]),
    ("guarded exp", lambda x: np.sum(np.where(x < 10, np.exp(x), x)), [0.0, 1000.0], [1.0, 1.0], [1.0, 0.0]),
    ("guarded divide", lambda x: np.where(x > 0, np.divide(1.0, x), 0.0), 0.0, 0.0, 0.0),
    # near 0, far out
    ("log at 0", lambda x: np.log(x), 0.0, INF, -INF),
    ("log2 of an array with 0", lambda x: np.sum(np.log2(x)), [0.0, 1.0], [INF, 1 / math.log(2)],
     [-INF, -1 / math.log(2)]),
    ("log1p near 0", lambda x: np.log1p(x), 1e-20, 1.0, -1.0),
    ("log1p at -1", lambda x: np.log1p(x), -1.0, INF, -INF),
    ("expm1 near 0", lambda x: np.expm1(x), 1e-20, 1.0, 1.0),
    ("expm1 far below", lambda x: np.expm1(x), -50.0, math.exp(-50.0), math.exp(-50.0)),
    ("math.expm1 far below", lambda x: math.expm1(x), -50.0, math.exp(-50.0), math.exp(-50.0)),
    ("sinc at 0", lambda x: np.sinc(x), 0.0, 0.0, -PI * PI / 3),
    ("sinc of an array", lambda x: np.sum(np.sinc(x)), [0.0, 1e-9, 1.0], [0.0, -PI * PI / 3e9, -1.0],
     [-PI * PI / 3, -PI * PI / 3, 2.0]),
    ("exp at -inf", lambda x: np.exp(x), -INF, 0.0, 0.0),
    ("tanh at inf", lambda x: np.tanh(x), INF, 0.0, 0.0),
    ("tanh far out", lambda x: np.tanh(x), -400.0, 0.0, 0.0),
    ("arctan far out", lambda x: np.arctan(x), 1e200, 0.0, 0.0),
    ("arctan2 at the axes", lambda x: np.sum(np.arctan2(x, np.array([1.0, -1.0, 0.0, 0.0]))), [0.0, 0.0, 1.0, -1.0],
     [1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]),
    ("arctan2 by the other axis", lambda x: np.sum(np.arctan2(np.array([0.0, 2.0, -2.0]), x)), [1.0, 0.0, 0.0],
     [0.0, -0.5, 0.5], [0.0, 0.0, 0.0]),
    ("arctan2 at the origin", lambda x: np.arctan2(x, 0.0), 0.0, NAN, NAN),
    ("math.atan2 at an axis", lambda x: math.atan2(x, -2.0), 0.0, -0.5, 0.0),
    ("arcsin at 1", lambda x: np.arcsin(x), 1.0, INF, None),
    ("arctanh at 1", lambda x: np.arctanh(x), 1.0, INF, None),
    ("hypot at 0", lambda x: np.hypot(x, 0.0), 0.0, 0.0, None),
    ("math.hypot at 0", lambda x: math.hypot(x, 0.0), 0.0, 0.0, None),
    ("hypot of large numbers", lambda x: np.hypot(x, 3e200), 4e200, 0.8, None),
    ("abs at 0", lambda x: np.abs(x), 0.0, 0.0, NAN),
    ("abs of complex at 0", of_complex_abs, 0.0, 0.0, None),
    ("abs of complex", of_complex_abs, -2.0, -math.sqrt(2.0), 0.0),
    # ties
    ("max with ties", lambda x: np.max(x), [1.0, 1.0, 0.0], [0.5, 0.5, 0.0], [NAN, NAN, 0.0]),
    ("min with ties", lambda x: np.min(x), [0.0, 0.0, 1.0], [0.5, 0.5, 0.0], [NAN, NAN, 0.0]),
    ("nanmax with ties", lambda x: np.nanmax(x), [1.0, NAN, 1.0], [0.5, 0.0, 0.5], None),
    ("max of rows with ties", lambda x: np.sum(np.max(x, axis=1)), [[1.0, 1.0], [2.0, 3.0]], [[0.5, 0.5], [0.0, 1.0]],
     [[NAN, NAN], [0.0, 0.0]]),
    ("maximum with a tie", lambda x: np.maximum(x, 1.0), 1.0, 0.5, NAN),
    ("minimum with a tie", lambda x: np.sum(np.minimum(x, [1.0, 2.0])), [1.0, 3.0], [0.5, 0.0], [NAN, 0.0]),
    ("clip at its bounds", lambda x: np.sum(np.clip(x, 0.0, 1.0)), [0.0, 0.5, 1.0], [0.5, 1.0, 0.5], [0.0] * 3),
    # equal eigenvalues and singular values, used symmetrically
    ("eigvalsh of the unit matrix", exponentials, [[1.0, 0.0], [0.0, 1.0]], [[math.e, 0.0], [0.0, math.e]], None),
    ("eigh of the unit matrix", of_eigh, [[2.0, 0.0], [0.0, 2.0]], [[12.0, 0.0], [0.0, 12.0]], None),
    ("the vector of a single eigenvalue", of_last_vector, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0]],
     [[0.0] * 3] * 3, None),
    ("svd of the unit matrix", of_svd, [[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.0], [0.0, 2.0]], None),
]


def diagonal(f: Callable[[Any], Any], x: Any) -> Any:
    """The second derivatives by each element twice: the gradient's derivative, by forward mode over reverse mode."""
    gradient = s2s.grad(f)
    if isinstance(x, float):
        return s2s.grad(gradient)(x), s2s.jvp(gradient, (x,), (1.0,))[1]
    reverse, forward = np.zeros_like(x), np.zeros_like(x)
    for i in np.ndindex(x.shape):
        unit = np.zeros_like(x)
        unit[i] = 1.0
        reverse[i] = s2s.grad(element_of_gradient)(x, gradient, i)[i]
        forward[i] = s2s.jvp(element_of_gradient, (x, gradient, i), (unit, None, None))[1]
    return reverse, forward


def element_of_gradient(x: Any, gradient: Any, i: Any) -> Any:
    return gradient(x)[i]


def tangents(f: Callable[[Any], Any], x: Any) -> Any:
    """The gradient by forward mode: along one element at a time."""
    if isinstance(x, float):
        return s2s.jvp(f, (x,), (1.0,))[1]
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        unit = np.zeros_like(x)
        unit[i] = 1.0
        found[i] = s2s.jvp(f, (x,), (unit,))[1]
    return found


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("row", [pytest.param(row[1:], id=row[0]) for row in ROWS])
def test_exact_values(row: Any) -> None:
    f, place, gradient, second = row
    x = np.array(place) if isinstance(place, list) else place
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        np.testing.assert_allclose(s2s.grad(f)(x), gradient, rtol=1e-12, atol=1e-12)
        # a tangent of zero times an infinite slope is no number: only finite gradients are put together from these
        if np.all(np.isfinite(gradient)):
            np.testing.assert_allclose(tangents(f, x), gradient, rtol=1e-12, atol=1e-12)
        if second is not None and np.all(np.isfinite(gradient)):
            reverse, forward = diagonal(f, x)
            np.testing.assert_allclose(reverse, second, rtol=1e-8, atol=1e-10)
            np.testing.assert_allclose(forward, second, rtol=1e-8, atol=1e-10)
        elif second is not None and isinstance(x, float):
            np.testing.assert_equal(s2s.grad(s2s.grad(f))(x), second)
