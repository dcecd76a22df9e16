"""Systems of Cholesky factors, by substitution: gradients of both orders beside central differences."""

import numpy as np
import pytest

import s2s
from s2s import runtime as rt
from s2s.runtime._linalg import LARGE


def lower_systems(k, y):
    factor = np.linalg.cholesky(k @ k.T + 6.0 * np.eye(len(y)))
    half = np.linalg.solve(factor, y)
    return np.sum(np.linalg.solve(factor.T, half) ** 3) + np.sum(np.log(np.diag(factor)))


def upper_systems(k, y):
    factor = np.linalg.cholesky(k @ k.T + 6.0 * np.eye(len(y)), upper=True)
    half = np.linalg.solve(np.transpose(factor), np.stack([y, 2.0 * y], axis=1))
    return np.sum(np.linalg.solve(factor, half) ** 3) + np.sum(np.linalg.solve(np.swapaxes(factor, -1, -2), y) ** 2)


def stored_into(k, y):
    """A factor that changes is none."""
    factor = np.linalg.cholesky(k @ k.T + 6.0 * np.eye(len(y)))
    factor[0, -1] = 0.5 * y[0]
    return np.sum(np.linalg.solve(factor, y) ** 2)


@pytest.mark.parametrize("f", [lower_systems, upper_systems, stored_into])
def test_systems_of_factors(f):
    for size in (3, LARGE + 5):
        check_derivatives(f, size)


def check_derivatives(f, size):
    rng = np.random.default_rng(size)
    k, y = rng.standard_normal((size, size)) / np.sqrt(size), rng.standard_normal(size)
    along, h = rng.standard_normal((size, size)), 1e-6
    slope = (f(k + h * along, y) - f(k - h * along, y)) / (2.0 * h)
    gradient = s2s.grad(f)
    np.testing.assert_allclose(np.sum(gradient(k, y) * along), slope, rtol=1e-6)
    np.testing.assert_allclose(s2s.jvp(f, (k, y), (along, np.zeros(size)))[1], slope, rtol=1e-6)
    turned = (gradient(k + h * along, y) - gradient(k - h * along, y)) / (2.0 * h)
    found = s2s.hvp(f, (k, y), (along, np.zeros(size)))
    np.testing.assert_allclose(found, turned, rtol=1e-5, atol=1e-7 * np.max(np.abs(turned)))
    assert ("solve_triangular" in gradient.source) == (f is not stored_into)


@pytest.mark.slow
@pytest.mark.grid(0.25)
@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize(("lower", "transposed"), [(True, False), (True, True), (False, False), (False, True)])
def test_substitution_in_compiled_code(kind, lower, transposed):
    """Beside the runtime's, for vectors and matrices of every layout."""
    numba = pytest.importorskip("numba")
    from s2s.backends.numba.triangular import solve_triangular

    solve = numba.njit(lambda a, b: solve_triangular(a, b, lower, transposed))
    rng = np.random.default_rng(3)
    for size in (3, LARGE + 5):
        a = 0.3 * rng.standard_normal((size, size)) / size + np.eye(size) * (1j if kind is complex else 1.0)
        a = np.tril(a) if lower else np.triu(a)
        b = rng.standard_normal((size, 2))
        for right in (b, b[:, 0], np.asfortranarray(b), b[::-1]):
            np.testing.assert_allclose(solve(a, right), rt.solve_triangular(a, right, lower, transposed), rtol=1e-9)
        real = a.real + np.eye(size)
        np.testing.assert_allclose(solve(real, b), rt.solve_triangular(real, b, lower, transposed), rtol=1e-9)
    with pytest.raises(np.linalg.LinAlgError):
        solve(np.zeros_like(a), b[:, 0])


@pytest.mark.parametrize("size", [3, LARGE + 5])
@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize(("lower", "transposed"), [(True, False), (True, True), (False, False), (False, True)])
def test_substitution(size, kind, lower, transposed):
    rng = np.random.default_rng(7)
    a = 0.3 * rng.standard_normal((size, size)) / size + np.eye(size) * (1j if kind is complex else 1.0)
    a = np.tril(a) if lower else np.triu(a)
    matrix = a.T if transposed else a
    for b in (rng.standard_normal(size), rng.standard_normal((size, 2))):
        np.testing.assert_allclose(matrix @ rt.solve_triangular(a, b, lower, transposed), b, rtol=1e-10, atol=1e-12)


def test_singular_factors_raise():
    for size in (3, LARGE + 5):
        with pytest.raises(np.linalg.LinAlgError):
            rt.solve_triangular(np.zeros((size, size)), np.ones(size), True, False)
