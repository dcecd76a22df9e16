"""What the rules choose where there is no derivative; factorisations, which see symmetric changes only."""

from __future__ import annotations

import builtins
import inspect
import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft

import s2s
from s2s import runtime as rt
from s2s.errors import NoDerivativeError
from s2s.rules import find
from s2s.rules.table import bind


def partial(fn: Any, i: int, *inputs: Any) -> Any:
    rule = find(fn)
    assert rule is not None
    derivative = rule.partials[i]
    assert derivative is not None
    return derivative(fn(*inputs), *inputs)


def cotangent(fn: Any, name: str, y_bar: Any, *args: Any, **kwargs: Any) -> Any:
    rule = find(fn)
    assert rule is not None
    body = rule.cotangents[name]
    available = {"y": fn(*args, **kwargs), "y_bar": y_bar, **bind(rule, args, kwargs)}
    return body(*[available[n] for n in inspect.signature(body).parameters])


def numeric_gradient(f: Callable[[Any], float], x: Any, h: float = 1e-5) -> Any:
    grad = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[i] = h
        grad[i] = (8 * (f(x + d) - f(x - d)) - (f(x + 2 * d) - f(x - 2 * d))) / (12 * h)
    return grad


# --- ties and corners ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("fn", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_two_equal_inputs_share(fn: Any) -> None:
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(partial(fn, 0, x, x), [0.5, 0.5])
    np.testing.assert_array_equal(partial(fn, 1, x, x), [0.5, 0.5])


@pytest.mark.parametrize("fn, hit", [(np.fmax, 1.0), (np.maximum, 0.0)])
def test_fmax_takes_the_number_beside_a_nan(fn: Any, hit: float) -> None:
    assert partial(fn, 0, np.float64(1.0), np.float64(np.nan)) == hit


@pytest.mark.parametrize("fn", [np.max, np.min, np.amax, np.ndarray.max])
def test_equal_elements_share(fn: Any) -> None:
    np.testing.assert_allclose(cotangent(fn, "a", 3.0, np.array([2.0, 2.0, 2.0])), [1.0, 1.0, 1.0])


@pytest.mark.parametrize("fn", [builtins.max, builtins.min])
@pytest.mark.parametrize("values", [(2.0, 2.0), (2.0, 2.0, 2.0), (np.float64(2.0),) * 3, ([2.0, 2.0],)])
def test_equal_numbers_share(fn: Any, values: Any) -> None:
    parts = cotangent(fn, "values", 1.0, *values)
    flat = parts[0] if isinstance(parts[0], list) else parts
    np.testing.assert_allclose(flat, 1.0 / len(flat))


def test_one_or_two_of_three_numbers_share() -> None:
    for make in (float, np.float64):
        low, high = make(1.0), make(2.0)
        assert cotangent(builtins.max, "values", 3.0, high, low, high) == (1.5, 0.0, 1.5)
        assert cotangent(builtins.min, "values", 3.0, high, low, high) == (0.0, 3.0, 0.0)


def test_clip_shares_a_tie_with_its_bound() -> None:
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    np.testing.assert_array_equal(partial(np.clip, 0, x, 0.0, 1.0), [0.0, 0.5, 1.0, 0.5, 0.0])
    np.testing.assert_array_equal(partial(np.clip, 1, x, 0.0, 1.0), [1.0, 0.5, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(partial(np.clip, 2, x, 0.0, 1.0), [0.0, 0.0, 0.0, 0.5, 1.0])


@pytest.mark.parametrize(
    "a, low, high, shares",
    [
        (0.5, 0.5, 0.2, (0.0, 0.0, 1.0)), (0.5, 0.9, 0.5, (0.0, 0.0, 1.0)), (0.5, 0.9, 0.9, (0.0, 0.5, 0.5)),
        (0.5, 0.5, 0.5, (0.5, 0.0, 0.5)), (0.5, 0.9, 0.2, (0.0, 0.0, 1.0)), (0.5, 0.5, 0.9, (0.5, 0.5, 0.0)),
    ],
)
def test_the_shares_of_clip_add_up_where_its_bounds_cross(a: float, low: float, high: float, shares: Any) -> None:
    for fn in (np.clip, np.ndarray.clip):
        found = [float(partial(fn, i, np.array(a), low, high)) for i in range(3)]
        assert found == list(shares)


@pytest.mark.parametrize("fn", [np.absolute, np.fabs, abs, operator.abs, math.fabs])
def test_abs_is_flat_at_zero(fn: Any) -> None:
    assert partial(fn, 0, 0.0) == 0.0


def test_abs_of_complex_follows_jax() -> None:
    assert partial(np.absolute, 0, np.array(3 + 4j)) == pytest.approx(0.6 - 0.8j)
    assert partial(np.absolute, 0, np.array(0j)) == 0.0


def test_sqrt_at_zero_is_inf_for_arrays() -> None:
    with np.errstate(divide="ignore"):
        assert partial(np.sqrt, 0, np.array([0.0]))[0] == np.inf


@pytest.mark.parametrize("ord", [None, 1, 2, 3, "fro"])
def test_norm_of_zero_gives_zero(ord: Any) -> None:
    x = np.zeros((2, 2)) if ord == "fro" else np.zeros(3)
    np.testing.assert_array_equal(cotangent(np.linalg.norm, "x", 1.0, x, ord), np.zeros_like(x))


def test_std_of_equal_values_gives_zero() -> None:
    np.testing.assert_array_equal(cotangent(np.std, "a", 1.0, np.ones(3)), np.zeros(3))


def test_heaviside_is_flat_but_for_its_value_at_zero() -> None:
    x = np.array([-1.0, 0.0, 1.0])
    np.testing.assert_array_equal(partial(np.heaviside, 0, x, 0.5) * np.ones(3), [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(partial(np.heaviside, 1, x, 0.5), [0.0, 1.0, 0.0])


def test_interp_by_its_knots() -> None:
    x, xp = np.array([-1.0, 0.3, 1.7, 2.9, 9.0]), np.array([0.0, 1.0, 2.5, 3.0])
    fp = np.array([1.0, 3.0, -1.0, 2.0])
    y_bar = np.array([1.0, 2.0, -3.0, 0.5, 1.0])
    expected = numeric_gradient(lambda v: float(np.sum(y_bar * np.interp(x, v, fp))), xp)
    np.testing.assert_allclose(cotangent(np.interp, "xp", y_bar, x, xp, fp), expected, atol=1e-9)


@pytest.mark.parametrize("period", [None, 4.0])
def test_tangent_of_interp_by_its_knots(period: Any) -> None:
    x, xp = np.array([-0.8, 0.3, 1.7, 2.9, 8.7]), np.array([0.0, 1.0, 2.5, 3.0])
    fp, xp_dot = np.array([1.0, 3.0, -1.0, 2.0]), np.array([0.7, -1.1, 0.4, 1.3])

    def at(t: float) -> Any:
        return np.interp(x, xp + t * xp_dot, fp, period=period)

    found = s2s.jvp(lambda v: np.interp(x, v, fp, period=period), (xp,), (xp_dot,))[1]
    np.testing.assert_allclose(found, (at(1e-6) - at(-1e-6)) / 2e-6, atol=1e-8)


@pytest.mark.parametrize("outside", [{}, {"left": 7.0}, {"right": 7.0}, {"left": 7.0, "right": -2.0}, {"period": 4.0}])
def test_tangent_of_interp_by_its_values(outside: Any) -> None:
    """It is linear in them; outside it is that of the last value, or none where a number stands there."""
    x, xp = np.array([-0.8, 0.3, 1.7, 2.9, 8.7]), np.array([0.0, 1.0, 2.5, 3.0])
    fp, fp_dot = np.array([1.0, 3.0, -1.0, 2.0]), np.array([0.7, -1.1, 0.4, 1.3])
    expected = np.interp(x, xp, fp + fp_dot, **outside) - np.interp(x, xp, fp, **outside)
    found = s2s.jvp(lambda v: np.interp(x, xp, v, **outside), (fp,), (fp_dot,))[1]
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)


def test_hypot_is_flat_at_the_origin() -> None:
    x = np.array([0.0, 3.0])
    np.testing.assert_allclose(partial(np.hypot, 0, x, np.array([0.0, 4.0])), [0.0, 0.6])


@pytest.mark.parametrize(
    "a, b, share",
    [
        (-math.inf, -math.inf, 0.5), (math.inf, math.inf, 0.5), (-math.inf, 1.0, 0.0), (math.inf, 1.0, 1.0),
        (1.0, math.inf, 0.0), (1000.0, 0.0, 1.0), (0.0, 1000.0, 0.0), (2.0, 2.0, 0.5), (0.0, 40.0, math.exp(-40.0)),
    ],
)
@pytest.mark.parametrize("fn, unit", [(np.logaddexp, 1.0), (np.logaddexp2, math.log(2.0))])
def test_logaddexp_far_out(fn: Any, unit: float, a: float, b: float, share: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert partial(fn, 0, np.array(a / unit), np.array(b / unit)) == pytest.approx(share, rel=1e-12, abs=1e-300)


def test_nan_to_num_passes_finite_numbers() -> None:
    x = np.array([1.0, np.nan, np.inf, -np.inf])
    np.testing.assert_array_equal(cotangent_of_partial(np.nan_to_num, 0, x), [1.0, 0.0, 0.0, 0.0])


def cotangent_of_partial(fn: Any, i: int, *args: Any) -> Any:
    """A partial with the defaults of the other arguments."""
    rule = find(fn)
    assert rule is not None and rule.partials[i] is not None
    return rule.partials[i](fn(*args), *bind(rule, args, {}).values())  # type: ignore[misc]


def test_i0_against_its_series() -> None:
    """I1(x) = sum of (x/2)^(2k+1) / (k! (k+1)!) (DLMF 10.25.2)."""
    x = np.array([0.0, 1e-8, 0.5, -3.0, 20.0])
    expected = sum((x / 2) ** (2 * k + 1) / (math.factorial(k) * math.factorial(k + 1)) for k in range(60))
    np.testing.assert_allclose(partial(np.i0, 0, x), expected, rtol=1e-14)


WITH_NAN = np.array([[1.0, np.nan, 3.0, -2.0], [np.nan, 0.5, 2.0, 4.0], [0.7, 1.5, np.nan, np.nan]])
OTHERS = [
    (np.nansum, {}), (np.nanmean, {"axis": 1}), (np.nanvar, {"axis": 1, "ddof": 1}), (np.nanstd, {"axis": 0}),
    (np.nanprod, {"axis": 1}), (np.nanmax, {"axis": 1}), (np.nanmin, {}), (np.nancumsum, {"axis": 1}),
    (np.nancumprod, {"axis": 0}), (np.nanmedian, {"axis": 1}), (np.nanquantile, {"q": 0.3, "axis": 1}),
    (np.nanquantile, {"q": np.array([0.2, 0.9])}), (np.nanpercentile, {"q": 40.0, "axis": 0}),
]


@pytest.mark.parametrize("fn, options", OTHERS)
def test_elements_that_are_nan_have_no_part(fn: Any, options: Any) -> None:
    y_bar = np.random.default_rng(2).normal(size=np.shape(fn(WITH_NAN, **options)))
    there = ~np.isnan(WITH_NAN)

    def loss(v: Any) -> float:
        x = WITH_NAN.copy()
        x[there] = v
        return float(np.sum(y_bar * fn(x, **options)))

    found = cotangent(fn, "a", y_bar, WITH_NAN, **options)
    np.testing.assert_array_equal(found[~there], 0.0)
    np.testing.assert_allclose(found[there], numeric_gradient(loss, WITH_NAN[there]), atol=1e-8)


@pytest.mark.parametrize("fn, options", OTHERS)
def test_tangents_of_elements_that_are_nan_have_no_part(fn: Any, options: Any) -> None:
    there = ~np.isnan(WITH_NAN)
    x_dot = np.random.default_rng(3).normal(size=WITH_NAN.shape)

    def moved(t: float) -> Any:
        return fn(np.where(there, WITH_NAN + t * x_dot, WITH_NAN), **options)

    expected = (moved(1e-5) - moved(-1e-5)) / 2e-5
    found = s2s.jvp(lambda x: fn(x, **options), (WITH_NAN,), (x_dot,))[1]
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_ties_in_order_keep_their_order() -> None:
    x = np.array([2.0, 1.0, 2.0])
    np.testing.assert_array_equal(cotangent(np.sort, "a", np.array([1.0, 2.0, 3.0]), x), [2.0, 1.0, 3.0])
    found = cotangent(np.partition, "a", np.array([1.0, 2.0, 3.0]), x, 1)
    np.testing.assert_array_equal(np.sort(found), [1.0, 2.0, 3.0])


def test_padding_by_repetition_needs_no_matrix() -> None:
    """A million elements: the unit matrix would not fit."""
    y_bar = np.ones(1_000_010)
    found = cotangent(np.pad, "array", y_bar, np.zeros(1_000_000), 5, "edge")
    assert found[0] == found[-1] == 6.0 and np.sum(found) == 1_000_010.0


def by_function(vector: Any, width: Any, axis: int, options: Any) -> None:
    """A mode of padding that writes what it likes."""
    vector[: width[0]] = vector[width[0]]


def test_padding_by_a_function_is_refused() -> None:
    for f in (lambda x: s2s.vjp(padded, x)[1](np.ones(5)), lambda x: s2s.jvp(padded, (x,), (x,))):
        with pytest.raises(NoDerivativeError, match="np.pad"):
            f(np.arange(3.0))


def padded(x: Any) -> Any:
    return np.pad(x, 1, by_function)


# --- powers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [np.power, np.float_power, operator.pow, pow, math.pow])
def test_powers_at_the_edge(power: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert partial(power, 0, 0.0, 0.0) == 0.0
        assert partial(power, 0, 0.0, 1.0) == 1.0
        assert partial(power, 0, 0.0, 2.0) == 0.0
        assert partial(power, 0, -3.0, 2.0) == -6.0
        assert partial(power, 1, 0.0, 2.0) == 0.0
        assert partial(power, 1, -2.0, 2.0) == 0.0


def test_powers_of_arrays_at_the_edge() -> None:
    base, exponent = np.array([0.0, -2.0, 0.0, 3.0], np.float32), np.array([2.0, 3.0, 0.0, 2.0], np.float32)
    by_base, by_exponent = partial(np.power, 0, base, exponent), partial(np.power, 1, base, exponent)
    np.testing.assert_allclose(by_base, [0.0, 12.0, 0.0, 6.0])
    np.testing.assert_allclose(by_exponent, [0.0, 0.0, 0.0, 9 * math.log(3)], rtol=1e-6)
    assert by_base.dtype == by_exponent.dtype == np.float32


# --- where, rounding ----------------------------------------------------------------------------------------


def test_where_keeps_a_nan_on_the_side_not_taken() -> None:
    c, y_bar = np.array([True, False]), np.array([2.0, np.nan])
    np.testing.assert_array_equal(cotangent(np.where, "x", y_bar, c, np.zeros(2), np.zeros(2)), [2.0, 0.0])


ROUNDING = [np.floor, np.ceil, np.rint, np.trunc, np.fix, np.round, math.floor, int, round]
PASSIVE = [np.signbit, np.argmax, operator.lt, len, isinstance, math.isnan, np.zeros, np.shape]


@pytest.mark.parametrize("fn", ROUNDING)
def test_rounding_is_straight_through(fn: Any) -> None:
    rule = find(fn)
    assert rule is not None and rule.kind == "straight_through"
    assert partial(fn, 0, 1.3) == 1.0


def test_floor_division_is_straight_through_as_division() -> None:
    assert partial(operator.floordiv, 0, 7.0, 2.0) == 0.5
    assert partial(operator.floordiv, 1, 7.0, 2.0) == -7.0 / 4.0
    assert partial(np.floor_divide, 1, np.array(7.0), np.array(2.0)) == -7.0 / 4.0


@pytest.mark.parametrize("fn", PASSIVE)
def test_passive_functions_have_derivative_zero(fn: Any) -> None:
    rule = find(fn)
    assert rule is not None and rule.kind == "zero"


# --- products with zeros ------------------------------------------------------------------------------------


@pytest.mark.parametrize("zeros", [[1], [1, 2]])
@pytest.mark.parametrize("fn", [np.prod, np.cumprod])
def test_products_with_zeros(fn: Any, zeros: list[int]) -> None:
    x = np.array([2.0, 3.0, -1.0, 4.0])
    x[zeros] = 0.0
    y_bar = np.ones(np.shape(fn(x)))
    expected = numeric_gradient(lambda v: float(np.sum(fn(v))), x)
    np.testing.assert_allclose(cotangent(fn, "a", y_bar, x), expected, atol=1e-9)


def test_determinant_of_a_singular_matrix() -> None:
    x = np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 0.5])
    x[0, 0] += 1.0
    expected = numeric_gradient(lambda v: float(np.linalg.det(v)), x)
    np.testing.assert_allclose(rt.cofactor(x, np.linalg.det(x)), expected, atol=1e-9)
    np.testing.assert_allclose(rt.cofactor(x, np.zeros(())), expected, atol=1e-9)


# --- factorisations -----------------------------------------------------------------------------------------

SHAPES = [(3, 3), (2, 3, 3)]


def positive(x: Any) -> Any:
    return x @ np.swapaxes(x, -1, -2) + 3.0 * np.eye(x.shape[-1])


def check_of_positive(fn: Any, weights: list[Any], x: Any, **options: Any) -> None:
    """The gradient through ``positive``, whose changes are symmetric, against differences."""

    def loss(v: Any) -> float:
        result = fn(positive(v), **options)
        results = result if isinstance(result, tuple) else (result,)
        return float(sum(np.sum(w * r * r) for w, r in zip(weights, results, strict=True) if w is not None))

    result = fn(positive(x), **options)
    if isinstance(result, tuple):
        y_bar: Any = tuple(None if w is None else 2 * w * r for w, r in zip(weights, result, strict=True))
    else:
        y_bar = 2 * weights[0] * result
    g = cotangent(fn, "a", y_bar, positive(x), **options)
    np.testing.assert_allclose(g, np.swapaxes(g, -1, -2), atol=1e-12)
    np.testing.assert_allclose(2.0 * g @ x, numeric_gradient(loss, x), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky(shape: Any, upper: bool) -> None:
    rng = np.random.default_rng(1)
    check_of_positive(np.linalg.cholesky, [rng.normal(size=shape)], rng.normal(size=shape), upper=upper)


@pytest.mark.parametrize("shape", SHAPES)
def test_cholesky_forward(shape: Any) -> None:
    rng = np.random.default_rng(2)
    a, d = positive(rng.normal(size=shape)), rng.normal(size=shape)
    d = d + np.swapaxes(d, -1, -2)
    change = (np.linalg.cholesky(a + 1e-6 * d) - np.linalg.cholesky(a - 1e-6 * d)) / 2e-6
    np.testing.assert_allclose(rt.cholesky_dot(np.linalg.cholesky(a), d), change, atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("which", [(True, True), (True, False), (False, True)])
def test_eigh(shape: Any, which: tuple[bool, bool]) -> None:
    rng = np.random.default_rng(3)
    weights = [rng.normal(size=s) if use else None for s, use in zip((shape[:-1], shape), which, strict=True)]
    check_of_positive(np.linalg.eigh, weights, rng.normal(size=shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_eigvalsh(shape: Any) -> None:
    rng = np.random.default_rng(4)
    check_of_positive(np.linalg.eigvalsh, [rng.normal(size=shape[:-1])], rng.normal(size=shape))


def orthogonal(n: int) -> Any:
    return np.linalg.qr(np.random.default_rng(9).normal(size=(n, n)))[0]


@pytest.mark.parametrize("turned", [False, True])
def test_eigenvectors_of_equal_eigenvalues_are_not_silently_wrong(turned: bool) -> None:
    """Turned, the eigenvalues are equal but for rounding. The loss is the sum of V exp(w) V^T, a function of the
    matrix.
    """
    q = orthogonal(4) if turned else np.eye(4)
    a = q @ np.diag([1.0, 1.0, 1.0, 2.0]) @ q.T
    w, v = np.linalg.eigh(0.5 * (a + a.T))
    c = np.ones((4, 4))
    found = rt.eigh_bar(np.exp(w) * np.diagonal(v.T @ c @ v), 2.0 * c @ v * np.exp(w), w, v)
    assert np.any(np.isnan(found))
    assert np.all(np.isfinite(rt.eigh_bar(np.exp(w), None, w, v)))


def test_singular_vectors_of_equal_singular_values_are_not_silently_wrong() -> None:
    """The loss is a product with the polar factor U V^T of an orthogonal matrix."""
    x = orthogonal(3)
    u, s, vh = np.linalg.svd(x)
    c = np.random.default_rng(8).normal(size=(3, 3))
    found = cotangent(np.linalg.svd, "a", (c @ vh.T, np.zeros(3), u.T @ c), x)
    assert np.any(np.isnan(found))


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4)])
def test_svd_of_complex_matrices_where_the_phases_cancel(shape: Any) -> None:
    rng = np.random.default_rng(5)
    x, d = (rng.normal(size=shape) + 1j * rng.normal(size=shape) for _ in range(2))
    c = rng.normal(size=shape) + 1j * rng.normal(size=shape)

    def loss(v: Any) -> float:
        u, s, vh = np.linalg.svd(v, full_matrices=False)
        return float(np.real(np.sum(c * ((u * s**3) @ vh)) + np.sum(np.abs(u) ** 2 * s) + np.sum(np.abs(vh) ** 4)))

    u, s, vh = np.linalg.svd(x, full_matrices=False)
    y_bar = (
        c @ (s**3 * vh.T) + 2 * np.conj(u) * s,
        np.real(3 * s**2 * np.diagonal(u.T @ c @ vh.T)) + np.sum(np.abs(u) ** 2, axis=0),
        (u * s**3).T @ c + 4 * np.abs(vh) ** 2 * np.conj(vh),
    )
    found = cotangent(np.linalg.svd, "a", y_bar, x, full_matrices=False)
    expected = (loss(x + 1e-5 * d) - loss(x - 1e-5 * d)) / 2e-5
    assert np.real(np.sum(found * d)) == pytest.approx(expected, rel=1e-6)


def test_eigenvectors_of_hermitian_matrices_where_the_phases_cancel() -> None:
    rng = np.random.default_rng(5)
    x, d, c = (m + np.conj(m.T) for m in rng.normal(size=(3, 4, 4)) + 1j * rng.normal(size=(3, 4, 4)))

    def loss(m: Any) -> float:
        w, v = np.linalg.eigh(m)
        return float(np.real(np.sum(c * ((v * np.sin(w)) @ np.conj(v.T)))) + np.sum(np.abs(v) ** 4))

    w, v = np.linalg.eigh(x)
    y_bar = (
        np.real(np.cos(w) * np.diagonal(np.conj(v.T) @ c.T @ v)),
        (c + np.conj(c.T)) @ np.conj(v) * np.sin(w) + 4 * np.abs(v) ** 2 * np.conj(v),
    )
    found = cotangent(np.linalg.eigh, "a", y_bar, x)
    expected = (loss(x + 1e-5 * d) - loss(x - 1e-5 * d)) / 2e-5
    assert np.real(np.sum(found * d)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4), (2, 4, 3)])
@pytest.mark.parametrize("which", [(1, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_svd(shape: Any, which: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=shape)
    y = np.linalg.svd(x, full_matrices=False)
    weights = [rng.normal(size=part.shape) if use else None for part, use in zip(y, which, strict=True)]

    def loss(v: Any) -> float:
        parts = np.linalg.svd(v, full_matrices=False)
        return float(sum(np.sum(w * p * p) for w, p in zip(weights, parts, strict=True) if w is not None))

    y_bar = tuple(None if w is None else 2 * w * p for w, p in zip(weights, y, strict=True))
    found = cotangent(np.linalg.svd, "a", y_bar, x, full_matrices=False)
    np.testing.assert_allclose(found, numeric_gradient(loss, x), rtol=1e-5, atol=1e-7)


def test_svd_with_extra_vectors_is_refused() -> None:
    x = np.random.default_rng(6).normal(size=(4, 3))
    u = np.linalg.svd(x)[0]
    with pytest.raises(ValueError, match="full_matrices=False"):
        cotangent(np.linalg.svd, "a", (u, None, None), x)




@pytest.mark.parametrize("fn, unit", [(np.logaddexp, 1.0), (np.logaddexp2, math.log(2.0))])
def test_the_slope_of_logaddexp_changes_where_its_inputs_are_equal(fn: Any, unit: float) -> None:
    second = s2s.grad(s2s.grad(fn))
    for a, b in ((0.4, 0.4), (-700.0, -700.0), (0.4, 1.1)):
        p = 1.0 / (1.0 + math.exp(unit * (b - a)))
        assert second(a, b) == pytest.approx(unit * p * (1.0 - p), rel=1e-12)


# --- transforms of waves ------------------------------------------------------------------------------------

WAVES = [getattr(scipy.fft, name) for name in ("dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn")]


@pytest.mark.parametrize("fn", WAVES)
def test_the_transpose_of_a_transform_of_waves(fn: Any) -> None:
    x, weights = np.array([0.3, 0.7, 1.2, -0.4]), np.array([1.0, -2.0, 0.5, 3.0])
    for norm, orthogonalize in [("ortho", None), ("ortho", True), (None, None), (None, False), ("forward", False)]:
        for kind in (1, 2, 3, 4):
            columns = [fn(e, kind, norm=norm, orthogonalize=orthogonalize) for e in np.eye(4)]
            found = cotangent(fn, "x", weights, x, kind, norm=norm, orthogonalize=orthogonalize)
            np.testing.assert_allclose(found, np.array(columns) @ weights, rtol=1e-12)


@pytest.mark.parametrize("fn", WAVES)
def test_transforms_of_waves_are_refused_where_the_transpose_is_not_known(fn: Any) -> None:
    for norm, orthogonalize in [("ortho", False), (None, True), ("backward", True), ("forward", True)]:
        for kind in (1, 2, 3, 4):
            with pytest.raises(NoDerivativeError, match="orthogonalize is known together with norm='ortho' only"):
                cotangent(fn, "x", np.ones(4), np.ones(4), kind, norm=norm, orthogonalize=orthogonalize)
