"""What Numba lacks, or has for other arguments, in compiled code: the numbers of NumPy and of central differences."""

import math
import warnings

import numpy as np
import pytest

import s2s
from s2s import NumbaFallbackWarning
from tests.helpers import differences

numba = pytest.importorskip("numba")

rng = np.random.default_rng(5)
STACK, OTHER = rng.normal(size=(3, 2, 4)), rng.normal(size=(3, 4, 2))
M, V = rng.normal(size=(4, 5)), rng.normal(size=5)


@pytest.fixture(autouse=True)
def no_fallback():
    with warnings.catch_warnings():
        warnings.simplefilter("error", NumbaFallbackWarning)
        yield


def check(f, x, rtol=1e-6):
    """Value and gradient on Numba against the NumPy backend and central differences."""
    value, gradient = s2s.value_and_grad(s2s.differentiable(f, backend="numba"))(x)
    expected_value, expected = s2s.value_and_grad(f)(x)
    np.testing.assert_allclose(value, expected_value, rtol=1e-12)
    assert np.shape(gradient) == np.shape(expected) and np.asarray(gradient).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(gradient, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(gradient, differences(f, x), rtol=rtol, atol=1e-7)


def products_of_stacks(a):
    t = a @ OTHER
    return np.sum(t**2) + np.sum(np.matmul(a, OTHER[0])) + np.sum((M[:2, :2] @ a) ** 2) + np.sum(a @ V[:4])


def moments(a):
    centred = (a - np.mean(a, axis=0, keepdims=True)) / np.std(a, axis=0, keepdims=True)
    return np.sum(centred**3) + np.sum(a.std(axis=1)) + np.sum(np.var(a, axis=1, ddof=1) ** 2)


def running(a):
    return np.sum(np.cumsum(a, axis=1) ** 2) + np.sum(np.linalg.norm(a, axis=1)) + np.sum(np.prod(a, axis=0))


def weighed_histogram(w):
    counts, edges = np.histogram(V, bins=4, range=(-2.0, 2.0), weights=w)
    return np.sum(counts**2)


def shapes(a):
    column = np.squeeze(a[:, :1], axis=1)
    strided = np.reshape(a[:, ::3], (2, 4))
    made = np.empty([2, 4])
    for i in range(2):
        made[i] = strided[i] * column
    return np.sum(made**2) + np.sum(np.arange(20.0) * a.reshape(-1, order="F") ** 2)


def squeezed(a):
    return np.sum(np.squeeze(a) ** 2) * np.sum(a.squeeze())


def grids(v):
    x, y = np.mgrid[0:3, 0:4]
    g = np.ogrid[0.0:1.0:5j, 0:2]
    return np.sum(np.sin(v[0] * x + v[1] * y)) + np.sum(v[2] * g[0] * g[1])


def joined(v):
    return np.sum(np.stack([v, v * 2.0], axis=1) ** 2) + np.sum(np.pad(v, 1) ** 3) + np.sum(np.tile(v, 2) ** 2)


def contracted(a):
    t = np.einsum("ij,kj->ik", a, a)
    return np.sum(t**2) + np.sum(np.tensordot(a, a, axes=([1], [1])) ** 2) + np.sum(np.abs(np.fft.fft(a[0])) ** 2)


def axes_and_places(a):
    turned = np.transpose(a, (2, 0, 1))
    return np.sum(turned[0] ** 2) + np.sum(a[..., 0] * a[..., 1]) + np.sum(a[:, np.array([0, 1, 1])] ** 2)


def masks(a):
    b = a * 2.0
    b[b < 0.0] *= 0.1
    mask = a > 0.5
    b[mask] = b[mask] ** 2
    b[a < -1.0] = 3.0
    rows = np.stack((a, b), axis=2)
    return np.sum(b[b > 0.0] ** 3) + np.sum(a[mask]) + np.sum(rows[mask] ** 2)


def stopped(v):
    return np.sum(v * s2s.stop_gradient(v) ** 2)


@s2s.custom_gradient
def clipped_slope(x):
    y = x * np.abs(x)

    def gradient(y_bar):
        return y_bar * np.minimum(2.0 * np.abs(x), 100.0)

    return y, gradient


def custom(v):
    return clipped_slope(v[0]) * np.sum(clipped_slope(v * 2.0))


def parallel_loop(v):
    total = 0.0
    for i in numba.prange(len(v)):
        total += math.sin(v[i]) ** 2
    return total


PROGRAMS = [
    (products_of_stacks, STACK), (moments, M), (running, M), (weighed_histogram, V**2), (shapes, M),
    (squeezed, M[:, :1].copy()), (grids, V), (joined, V), (contracted, M), (axes_and_places, STACK), (custom, V),
    (parallel_loop, V), (masks, M),
]


@pytest.mark.slow
@pytest.mark.grid(0.1)
@pytest.mark.parametrize(("f", "x"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_constructs(f, x):
    check(f, x)


def test_what_is_stopped_gets_no_derivative():
    np.testing.assert_allclose(s2s.grad(s2s.differentiable(stopped, backend="numba"))(V), V**2)


@pytest.mark.slow
def test_errors_of_calls_that_python_makes():
    gradient = s2s.grad(s2s.differentiable(lambda a, b: np.sum(np.einsum("ij,jk->ik", a, b)), backend="numba"))
    np.testing.assert_allclose(gradient(M, M.T), np.broadcast_to(np.sum(M, axis=0), M.shape))
    with pytest.raises(ValueError, match="einsum|broadcast"):
        gradient(M, M)
    stacks = s2s.grad(s2s.differentiable(lambda a, b: np.sum(a @ b), backend="numba"))
    assert stacks(STACK, OTHER).shape == STACK.shape
    with pytest.raises(ValueError, match="matmul"):
        stacks(STACK, STACK)


@pytest.mark.slow
def test_gradients_for_compiled_code_have_them_too():
    gradient = s2s.njit_grad(contracted)

    @numba.njit
    def doubled(a):
        return 2.0 * gradient(a)

    np.testing.assert_allclose(doubled(M), 2.0 * differences(contracted, M), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(s2s.njit_grad(parallel_loop)(V), np.sin(2.0 * V), rtol=1e-12)


@pytest.mark.slow
def test_a_view_that_python_gives_is_one():
    def f(a):
        b = np.zeros((2, 3))
        rows = np.moveaxis(b, 0, 1)
        rows[...] = a * 2.0
        return np.sum(b[0] ** 2) + np.sum(b[1] * 3.0)

    check(f, rng.normal(size=(3, 2)))
