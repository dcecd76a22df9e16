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

from s2s import runtime as rt
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
@pytest.mark.parametrize("values", [(2.0, 2.0), (2.0, 2.0, 2.0), ([2.0, 2.0],)])
def test_equal_numbers_share(fn: Any, values: Any) -> None:
    parts = cotangent(fn, "values", 1.0, *values)
    flat = parts[0] if isinstance(parts[0], list) else parts
    np.testing.assert_allclose(flat, 1.0 / len(flat))


def test_clip_shares_a_tie_with_its_bound() -> None:
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    np.testing.assert_array_equal(partial(np.clip, 0, x, 0.0, 1.0), [0.0, 0.5, 1.0, 0.5, 0.0])
    np.testing.assert_array_equal(partial(np.clip, 1, x, 0.0, 1.0), [1.0, 0.5, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(partial(np.clip, 2, x, 0.0, 1.0), [0.0, 0.0, 0.0, 0.5, 1.0])


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
PASSIVE = [np.sign, np.argmax, operator.lt, len, isinstance, math.isnan, np.zeros, np.shape]


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


def test_eigenvectors_of_equal_eigenvalues_are_not_silently_wrong() -> None:
    w, v = np.linalg.eigh(np.eye(2))
    with np.errstate(all="ignore"):
        assert not np.all(np.isfinite(rt.eigh_bar(None, np.ones((2, 2)) + v, w, v)))


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


@pytest.mark.parametrize("fn", [np.linalg.eigvalsh, np.linalg.pinv, np.linalg.svdvals])
def test_complex_matrices_are_refused_where_no_rule_is_known(fn: Any) -> None:
    x = np.array([[1.0, 1j], [-1j, 2.0]])
    with pytest.raises(TypeError, match="real matrices"):
        cotangent(fn, next(iter(find(fn).cotangents)), fn(x), x)  # type: ignore[union-attr]
