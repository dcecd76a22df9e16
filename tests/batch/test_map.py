"""``s2s.map``: a function of one sample for many, its derivatives, and derivatives by sample."""

from __future__ import annotations

import pickle
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest

import s2s
from s2s import NumbaFallbackWarning, errors
from tests.helpers import jax_in_doubles

RNG = np.random.default_rng(5)
X, Y, W = RNG.normal(size=(6, 3)), RNG.normal(size=6), RNG.normal(size=3)


def loss(w: Any, x: Any, y: Any, scale: float = 1.0) -> Any:
    return scale * (np.tanh(np.dot(w, x)) - y) ** 2


def by_hand(w: Any, x: Any, y: Any) -> Any:
    """The gradient of ``loss`` with respect to ``w``."""
    t = np.tanh(np.dot(w, x))
    return 2 * (t - y) * (1 - t * t) * x


class Pair(NamedTuple):
    first: Any
    second: Any


def several(p: Any, x: Any) -> Any:
    return {"sum": p["a"] * np.sum(x), "parts": [x * p["b"], Pair(x[::-1] * 2.0, p["a"])]}


def positives(x: Any) -> Any:
    """A result of a length that is not known before the loop: it is the same in each sample."""
    out = []
    for v in x:
        if v > -100.0:
            out.append(v * v)
    return np.array(out)


def collatz(x: Any) -> Any:
    y = x
    while y < 10.0:
        y = y * x
    return y if x > 2.0 else y * y


def differences(f: Any, x: Any, eps: float = 1e-6) -> Any:
    """The Jacobian of a function by central differences, of the shape of the result and then of ``x``."""
    columns = []
    for index in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[index] = eps
        columns.append((np.asarray(f(x + step)) - np.asarray(f(x - step))) / (2 * eps))
    return np.moveaxis(np.array(columns).reshape(x.shape + np.shape(columns[0])), range(x.ndim), range(-x.ndim, 0))


def test_values_are_those_of_a_loop() -> None:
    mapped = s2s.map(loss, in_axes=(None, 0, 0))
    np.testing.assert_allclose(mapped(W, X, Y), [loss(W, x, y) for x, y in zip(X, Y, strict=True)], rtol=1e-13)
    np.testing.assert_allclose(mapped(W, X, Y, scale=3.0), 3.0 * mapped(W, X, Y), rtol=1e-13)


def test_gradients_by_sample() -> None:
    expected = [by_hand(W, x, y) for x, y in zip(X, Y, strict=True)]
    gradients = s2s.map(s2s.grad(loss), in_axes=(None, 0, 0))
    np.testing.assert_allclose(gradients(W, X, Y), expected, rtol=1e-12)
    assert gradients.source.count("for k in") == 1
    assert "np.empty" in gradients.source
    values, (w_bars, y_bars) = s2s.map(s2s.value_and_grad(loss, argnums=(0, 2)), (None, 0, 0))(W, X, Y)
    np.testing.assert_allclose(w_bars, expected, rtol=1e-12)
    np.testing.assert_allclose(y_bars, [-2 * (np.tanh(W @ x) - y) for x, y in zip(X, Y, strict=True)], rtol=1e-12)
    np.testing.assert_allclose(values, [loss(W, x, y) for x, y in zip(X, Y, strict=True)], rtol=1e-13)


@pytest.mark.parametrize("transform", [s2s.hessian, s2s.jacfwd, s2s.jacrev, s2s.elementwise_grad])
def test_other_derivatives_by_sample(transform: Any) -> None:
    mapped = s2s.map(transform(loss), in_axes=(None, 0, 0))
    each = transform(loss)
    np.testing.assert_allclose(mapped(W, X, Y), [each(W, x, y) for x, y in zip(X, Y, strict=True)], rtol=1e-11)


@pytest.mark.parametrize("jacobian", [s2s.jacfwd, s2s.jacrev, s2s.jacobian])
def test_a_mapped_function_is_differentiated_like_any_other(jacobian: Any) -> None:
    mapped = s2s.map(loss, (None, 0, 0))
    expected = np.array([by_hand(W, x, y) for x, y in zip(X, Y, strict=True)])
    np.testing.assert_allclose(jacobian(mapped)(W, X, Y), expected, rtol=1e-11)
    total = s2s.grad(lambda w: np.sum(mapped(w, X, Y)))
    np.testing.assert_allclose(total(W), expected.sum(axis=0), rtol=1e-11)
    second = s2s.hessian(lambda w: np.sum(mapped(w, X, Y)))
    np.testing.assert_allclose(second(W), differences(total, W), rtol=1e-6, atol=1e-7)


def test_gradients_by_sample_are_differentiated() -> None:
    def size(w: Any) -> Any:
        return np.sum(s2s.map(s2s.grad(loss), (None, 0, 0))(w, X, Y) ** 2)

    np.testing.assert_allclose(s2s.grad(size)(W), differences(size, W), rtol=1e-6, atol=1e-7)
    _, dot = s2s.jvp(size, (W,), (np.ones(3),))
    np.testing.assert_allclose(dot, np.sum(differences(size, W)), rtol=1e-6)


@pytest.mark.parametrize("in_axis", [0, 1, -1, -2])
@pytest.mark.parametrize("out_axis", [0, 1, -1])
def test_axes(in_axis: int, out_axis: int) -> None:
    mapped = s2s.map(lambda x: x * np.sum(x), in_axis, out_axis)
    columns = np.moveaxis(X, in_axis, 0)
    np.testing.assert_allclose(mapped(X), np.stack([x * np.sum(x) for x in columns], out_axis), rtol=1e-13)
    _, pullback = s2s.vjp(mapped, X)
    ones = np.ones_like(mapped(X))
    np.testing.assert_allclose(pullback(ones)[0], differences(lambda x: np.sum(mapped(x)), X), rtol=1e-6)


def test_containers_of_arguments_and_results() -> None:
    p = {"a": RNG.normal(size=6), "b": 2.0}
    for axes in (({"a": 0, "b": None}, 0), [{"a": 0, "b": None}, 0]):
        found = s2s.map(several, axes)(p, X)
        np.testing.assert_allclose(found["sum"], p["a"] * X.sum(axis=1))
        np.testing.assert_allclose(found["parts"][0], 2.0 * X)
        assert isinstance(found["parts"][1], Pair)
        np.testing.assert_allclose(found["parts"][1].first, 2.0 * X[:, ::-1])
        np.testing.assert_allclose(found["parts"][1].second, p["a"])
    turned = s2s.map(several, ({"a": 0, "b": None}, 0), {"sum": 0, "parts": [1, 0]})(p, X)
    np.testing.assert_allclose(turned["parts"][0], 2.0 * X.T)
    gradient = s2s.grad(lambda p: np.sum(s2s.map(several, ({"a": 0, "b": None}, 0))(p, X)["parts"][0] ** 2))(p)
    np.testing.assert_allclose(gradient["b"], 2 * 2.0 * np.sum(X**2))
    np.testing.assert_allclose(gradient["a"], np.zeros(6))


def test_results_of_a_length_that_is_not_known_before() -> None:
    mapped = s2s.map(positives)
    np.testing.assert_allclose(mapped(X), X**2)
    np.testing.assert_allclose(s2s.map(positives, out_axes=1)(X), (X**2).T)
    np.testing.assert_allclose(s2s.grad(lambda x: np.sum(mapped(x)))(X), 2 * X)


def test_loops_and_branches_in_each_sample() -> None:
    xs = np.array([1.5, 2.5, 3.0, 11.0])
    np.testing.assert_allclose(s2s.map(collatz)(xs), [collatz(x) for x in xs], rtol=1e-13)
    expected = [differences(collatz, np.array(x)).item() for x in xs]
    np.testing.assert_allclose(s2s.map(s2s.grad(collatz))(xs), expected, rtol=1e-6)
    np.testing.assert_allclose(s2s.grad(lambda x: np.sum(s2s.map(collatz)(x)))(xs), expected, rtol=1e-6)


def test_a_map_in_a_map() -> None:
    distance = s2s.map(s2s.map(lambda a, b: np.sqrt(np.sum((a - b) ** 2)), (None, 0)), (0, None))
    a, b = RNG.normal(size=(4, 3)), RNG.normal(size=(5, 3))
    expected = np.linalg.norm(a[:, None] - b, axis=-1)
    np.testing.assert_allclose(distance(a, b), expected, rtol=1e-12)
    np.testing.assert_allclose(
        s2s.grad(lambda a: np.sum(distance(a, b)))(a), ((a[:, None] - b) / expected[..., None]).sum(axis=1), rtol=1e-11
    )


def test_what_a_function_captures_is_shared_and_differentiated() -> None:
    def total(c: Any) -> Any:
        return np.sum(s2s.map(lambda x: np.sin(c * x[0]))(X))

    np.testing.assert_allclose(s2s.grad(total)(0.7), np.sum(X[:, 0] * np.cos(0.7 * X[:, 0])), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_dtypes_are_kept(dtype: Any) -> None:
    xs = X.astype(dtype)
    found = s2s.map(lambda x: x * x)(xs)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, xs * xs)
    counts = s2s.map(lambda x: x.size)(xs)
    assert counts.dtype.kind == "i"
    np.testing.assert_array_equal(s2s.map(lambda x: x[0].real > 0)(xs), xs[:, 0].real > 0)


def test_functions_without_source() -> None:
    np.testing.assert_allclose(s2s.map(np.sum)(X), X.sum(axis=1))
    np.testing.assert_allclose(s2s.map(np.linalg.norm)(X), np.linalg.norm(X, axis=1))


def test_functions_without_derivatives() -> None:
    np.testing.assert_array_equal(s2s.map(lambda x: np.nextafter(x, 1.0))(X), np.nextafter(X, 1.0))
    with pytest.raises(errors.NoDerivativeError, match="nextafter"):
        s2s.grad(lambda x: np.sum(s2s.map(lambda v: np.nextafter(v, 1.0))(x)))(X)


def test_no_samples_give_empty_arrays() -> None:
    found = s2s.map(lambda x: (2 * x, x.sum()))(X[:0])
    assert [part.shape for part in found] == [(0, 3), (0,)]


def test_what_each_sample_draws_and_raises() -> None:
    rng, other = np.random.default_rng(3), np.random.default_rng(3)
    np.testing.assert_allclose(s2s.map(lambda x: x[0] * rng.normal())(X), [x[0] * other.normal() for x in X])

    def positive(x: Any) -> Any:
        if x[0] < 0:
            raise ValueError("negative")
        return x

    with pytest.raises(ValueError, match="negative"):
        s2s.map(positive)(X - 10.0)


def test_numba_has_one_compiled_loop() -> None:
    pytest.importorskip("numba")
    gradients = s2s.map(s2s.grad(s2s.differentiable(loss, backend="numba")), (None, 0, 0))
    expected = [by_hand(W, x, y) for x, y in zip(X, Y, strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", NumbaFallbackWarning)
        np.testing.assert_allclose(gradients(W, X, Y), expected, rtol=1e-12)


def test_the_same_map_is_made_once_and_pickles() -> None:
    assert s2s.map(loss, (None, 0, 0)) is s2s.map(loss, [None, 0, 0])
    again = pickle.loads(pickle.dumps(s2s.map(loss, (None, 0, 0))))
    np.testing.assert_allclose(again(W, X, Y), s2s.map(loss, (None, 0, 0))(W, X, Y))


def test_equals_vmap_of_jax() -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def theirs(w: Any, x: Any, y: Any) -> Any:
        return (jnp.tanh(jnp.dot(w, x)) - y) ** 2

    with jax_in_doubles():
        expected = jax.vmap(jax.grad(theirs, (0, 1)), (None, 1, 0), (0, 1))(W, X.T, Y)
    found = s2s.map(s2s.grad(loss, (0, 1)), (None, 1, 0), (0, 1))(W, X.T, Y)
    for ours, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, other, rtol=1e-10)


@pytest.mark.parametrize(
    ("axes", "message"), [((None, 0), "3, axes: 2"), ((None, 2, 0), "no axis 2"), ((None, 0, (0, 0)), "axes")]
)
def test_axes_that_do_not_fit_are_refused(axes: Any, message: str) -> None:
    with pytest.raises(errors.ArgumentError, match=message):
        s2s.map(loss, axes)(W, X, Y)


def test_options_are_checked() -> None:
    with pytest.raises(errors.ArgumentError, match="in_axes"):
        s2s.map(loss, ("x", 0, 0))
    with pytest.raises(errors.ArgumentError, match="in_axes"):
        s2s.map(loss, (None, None, None))
    with pytest.raises(errors.ArgumentError, match="out_axes"):
        s2s.map(loss, (None, 0, 0), None)


def test_different_numbers_of_samples_are_told() -> None:
    with pytest.raises(ValueError, match="6 samples, another one 5"):
        s2s.map(loss, (None, 0, 0))(W, X, Y[:5])
