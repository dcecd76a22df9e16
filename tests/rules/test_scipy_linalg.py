"""``scipy.linalg`` through the compiler, to second order: what its rules give as parts of programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import linalg

import s2s
from s2s.errors import NoDerivativeError

RNG = np.random.default_rng(0)
A = RNG.normal(size=(4, 4))
S = A @ A.T + 4.0 * np.eye(4)
Q = RNG.normal(size=(4, 4))
SYMMETRIC = Q + Q.T
OBLONG = RNG.normal(size=(4, 3))
X = np.array([0.3, 1.0, -0.5, 0.7])
WEIGHTS = RNG.normal(size=4)
THREE = 0.3 * np.random.default_rng(1).normal(size=(3, 2, 2))
BAND = np.array([[0.0, 0.1, 0.2, 0.1], [2.0, 2.0, 3.0, 4.0]])


def stacks(t):
    many = np.stack([S, S + t])
    return np.sum(linalg.solve(many, X * t) ** 2) + np.sum(
        linalg.solve_triangular(many, np.stack([X, X * t])[..., None], lower=True) ** 2)


def triangles(t):
    lower, upper = np.tril(S) * t, np.triu(S) * t
    return np.sum(linalg.solve(lower, X, assume_a="lower triangular") ** 2) + np.sum(
        linalg.solve(upper, X * t, assume_a="upper triangular", transposed=True) ** 2)


def factors(t):
    p, lower, upper = linalg.lu(OBLONG + t * S[:, :3])
    both, wide = linalg.lu((OBLONG + t).T, permute_l=True)
    (r,) = linalg.qr(A + t * S, mode="r")
    left, right = linalg.rq(A + t * S)
    return np.sum(lower**3) + np.sum(upper**3) + np.sum(both**3) + np.sum(wide**3) + np.sum(r**3) + np.sum(
        left**3) + np.sum(right**3)


def eigen_problems(t):
    w, v = linalg.eigh(SYMMETRIC + t * np.diag(X), S + t * np.eye(4))
    low, some = linalg.eigh(S + t * SYMMETRIC, subset_by_index=[0, 1])
    return np.sum(w**3) + np.sum(v**2 * WEIGHTS) + np.sum(low**3) + np.sum(some**2 * WEIGHTS[:, None])


def eigenvalues(t):
    by_value = linalg.eigvalsh(S + t * SYMMETRIC, subset_by_value=[0.0, 7.0])
    others = linalg.eigvalsh_tridiagonal(X * t, X[:3] * t**2), linalg.eigvals_banded(BAND + t)
    general = linalg.eigvals(A + t * S), linalg.eigvals(A + t * S, S + t)
    return np.sum(by_value**3) + sum(np.sum(w**3) for w in others) + sum(np.sum(np.abs(w) ** 3) for w in general)


def general_eigenvectors(t):
    w, v = linalg.eig(A + t * S)
    return np.sum(np.abs(v) ** 4) + np.sum(np.abs(w) ** 3)


def functions_of_matrices(t):
    value, slope = linalg.expm_frechet(0.3 * A * t, S * t)
    return np.sum(value**2) + np.sum(slope**2) + np.sum(linalg.expm(A * t) ** 2) + np.sum(
        linalg.fractional_matrix_power(S * t, 0.3) ** 2)


def polar_factors(t):
    u, p = linalg.polar(A + t * S)
    v, q = linalg.polar(A + t * S, side="left")
    turn, scale = linalg.orthogonal_procrustes(A + t * SYMMETRIC, S)
    return np.sum(u**3) + np.sum(p**3) + np.sum(v**3) + np.sum(q**3) + np.sum(turn**3) + scale


def pseudoinverses(t):
    inverse, rank = linalg.pinv(OBLONG * t, return_rank=True)
    return rank * np.sum(inverse**3) + np.sum(linalg.pinvh(S * t) ** 3) + np.sum(
        linalg.lstsq(OBLONG * t, X * t**2)[0] ** 3)


def structures(t):
    column = np.array([3.0, 1.0, 0.2, 0.1]) * t
    return np.sum(linalg.hankel(X * t, WEIGHTS * t) ** 3) + np.sum(linalg.block_diag(A * t, [1.0, t], t) ** 3) + np.sum(
        linalg.solve_circulant(column, X * t) ** 2) + np.sum(linalg.matmul_toeplitz(column, X * t) ** 2) + np.sum(
        linalg.solveh_banded(BAND * t, X) ** 2) + np.sum(linalg.lu_solve(linalg.lu_factor(A + t * np.eye(4)), X) ** 2)


def primal_takes_stacks() -> bool:
    try:
        return bool(linalg.solve(np.stack([S, S]), X).ndim)
    except ValueError:
        return False


def second_of(f: Any, x: float) -> float:
    h = 1e-3
    slopes = [s2s.grad(f)(x + k * h) for k in (-2, -1, 1, 2)]
    return float((8.0 * (slopes[2] - slopes[1]) - (slopes[3] - slopes[0])) / (12.0 * h))


@pytest.mark.slow
@pytest.mark.grid(0.4)
@pytest.mark.parametrize(
    "f", [stacks, triangles, factors, eigen_problems, eigenvalues, general_eigenvectors, functions_of_matrices,
          polar_factors, pseudoinverses, structures], ids=lambda f: f.__name__,
)
def test_programs(f: Any) -> None:
    x, h = 0.4, 1e-4
    if f is stacks and not primal_takes_stacks():  # an older SciPy
        with pytest.raises(ValueError, match="square matrix"):
            s2s.grad(f)(x)
        return
    expected = (8.0 * (f(x + h) - f(x - h)) - (f(x + 2.0 * h) - f(x - 2.0 * h))) / (12.0 * h)
    value, gradient = s2s.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-10)
    assert gradient == pytest.approx(expected, rel=1e-6)
    assert s2s.jvp(f, (x,), (1.0,))[1] == pytest.approx(expected, rel=1e-6)
    if f not in (stacks, general_eigenvectors):  # lists of new arrays; a result of unknown kind
        assert s2s.grad(s2s.grad(f))(x) == pytest.approx(second_of(f, x), rel=1e-6)


def types_of_eigenproblems(t):
    return np.sum(linalg.eigh(S + t * SYMMETRIC, S, type=2)[1])


def left_eigenvectors(t):
    return np.sum(np.abs(linalg.eig(A * t, left=True)[1]))


@pytest.mark.parametrize("f", [types_of_eigenproblems, left_eigenvectors])
def test_refused_by_name(f: Any) -> None:
    with pytest.raises(NoDerivativeError, match="scipy.linalg"):
        s2s.grad(f)(0.4)


def test_least_squares_by_a_driver_without_singular_values():
    a, b = np.random.default_rng(0).normal(size=(5, 3)), np.arange(5.0)

    def f(a):
        return np.sum(linalg.lstsq(a, b, lapack_driver="gelsy")[0] ** 2)

    plain = lambda a: np.sum((np.linalg.pinv(a) @ b) ** 2)  # noqa: E731
    np.testing.assert_allclose(s2s.grad(f)(a), s2s.grad(plain)(a), rtol=1e-10)
    np.testing.assert_allclose(s2s.jacfwd(f)(a), s2s.grad(plain)(a), rtol=1e-10)
    np.testing.assert_allclose(s2s.hvp(f, (a,), (a,)), s2s.hvp(plain, (a,), (a,)), rtol=1e-9)


def exponentials_of_three_matrices(t):
    value, slope = linalg.expm_frechet(THREE * t, THREE)
    return np.sum(value**3) + np.sum(slope**2)


@pytest.mark.skipif(not primal_takes_stacks(), reason="an older SciPy")
def test_exponentials_of_stacks_and_their_derivatives():
    x, h = 0.4, 1e-4
    f = exponentials_of_three_matrices
    expected = (8.0 * (f(x + h) - f(x - h)) - (f(x + 2.0 * h) - f(x - 2.0 * h))) / (12.0 * h)
    np.testing.assert_allclose(s2s.value_and_grad(f)(x), [f(x), expected], rtol=1e-7)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (1.0,)), [f(x), expected], rtol=1e-7)
