"""Linear algebra through the compiler: factors that pass from one call to the next, general matrices, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import s2s
from s2s import runtime as rt
from s2s.errors import NoDerivativeError

RNG = np.random.default_rng(4)
X, B = RNG.normal(size=(4, 4)), RNG.normal(size=4)
COMPLEX = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))


def by_differences(f: Any, x: Any, d: Any, h: float = 1e-4) -> float:
    """The derivative of ``f`` at ``x`` along ``d``, by central differences of fourth order."""
    return (8 * (f(x + h * d) - f(x - h * d)) - (f(x + 2 * h * d) - f(x - 2 * h * d))) / (12 * h)


def cholesky_upper(x):
    factor = scipy.linalg.cho_factor(x @ x.T + np.eye(4))
    return B @ scipy.linalg.cho_solve(factor, np.sin(x[0])) + np.sum(np.log(np.diag(factor[0])))


def cholesky_lower(x):
    c, low = scipy.linalg.cho_factor(x @ x.T + np.eye(4), lower=True)
    return np.sum(scipy.linalg.cho_solve((c, low), x) ** 2)


def triangular(x):
    factor = np.linalg.cholesky(x @ x.T + np.eye(4))
    half = scipy.linalg.solve_triangular(factor, B, lower=True)
    return np.sum(half**2) + B @ scipy.linalg.solve_triangular(factor.T, np.cos(x[1]))


def lu(x):
    factors = scipy.linalg.lu_factor(x)
    once = scipy.linalg.lu_solve(factors, B)
    return np.sum(scipy.linalg.lu_solve(factors, once * x[0], trans=1) ** 2)


def lu_parts(x):
    p, lower, upper = scipy.linalg.lu(x)
    return np.sum(np.sin(lower)) + np.sum(upper**2) + np.sum(p)


def eigen(x):
    w, v = scipy.linalg.eigh(x + x.T)
    return np.sum(np.sin(w) * v[0] ** 2)


def exponential(x):
    return np.sum(scipy.linalg.expm(0.3 * x) ** 2)


def root(x):
    return np.sum(np.sin(scipy.linalg.sqrtm(x @ x.T + np.eye(4))))


def banded(x):
    return B @ scipy.linalg.solve_banded((1, 1), np.abs(x[:3]) + np.array([[0.1], [5.0], [0.1]]), np.sin(x[3]))


def fit(x):
    solution, squares, rank, s = np.linalg.lstsq(x[:, :2], x[:, 2])
    return np.sum(solution**3) + np.sum(squares) + np.sum(s) + rank


def sum_of_eigenvalues(x):
    return np.sum(np.linalg.eigh(x + x.T)[0])


def sum_of_singular_values(x):
    u, s, vh = np.linalg.svd(x)
    return np.sum(s) + 2.0 * u[0, 0] ** 2


def sum_of_a_factor(x):
    q, r = np.linalg.qr(x)
    return np.sum(r)


@pytest.mark.parametrize("f", [sum_of_eigenvalues, sum_of_singular_values, sum_of_a_factor])
def test_cotangents_that_are_one_number(f: Any) -> None:
    """The cotangent of the argument of np.sum is a number, that of a part of a result too."""
    d = RNG.normal(size=(4, 4))
    assert np.sum(s2s.grad(f)(X) * d) == pytest.approx(by_differences(f, X, d), rel=1e-7)


@pytest.mark.parametrize(
    "f", [cholesky_upper, cholesky_lower, triangular, lu, lu_parts, eigen, exponential, root, banded, fit],
)
def test_programs(f: Any) -> None:
    d = RNG.normal(size=(4, 4))
    found = np.sum(s2s.grad(f)(X) * d)
    assert found == pytest.approx(by_differences(f, X, d), rel=1e-7)


def test_the_factor_is_not_computed_again() -> None:
    def f(a):
        factor = scipy.linalg.lu_factor(a)
        return np.sum(scipy.linalg.lu_solve(factor, B))

    lines = [line for line in s2s.source(f, X).splitlines() if not line.lstrip().startswith("#")]
    assert sum("lu_factor(a)" in line for line in lines) == 1
    assert not any("np.linalg" in line for line in lines)


def test_eigenvalues_of_a_complex_matrix() -> None:
    def f(a):
        w, v = np.linalg.eig(a)
        return np.sum(np.abs(w) ** 2) + np.sum(np.abs(v[0]) ** 4 * np.real(w))

    d = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))
    found = np.real(np.sum(s2s.grad(f)(COMPLEX) * d))
    assert found == pytest.approx(by_differences(f, COMPLEX, d), rel=1e-7)


def test_a_real_matrix_whose_eigenvalues_are_real_or_complex() -> None:
    def f(a):
        w, v = np.linalg.eig(a)
        return np.sum(np.abs(w)) + np.sum(np.real(v) ** 4)

    def g(a):
        return np.sum(np.abs(np.linalg.eigvals(a)))

    def h(a):
        w, v = np.linalg.eig(a)
        return np.sum(np.real(w) ** 3) + np.sum(np.abs(v[0]) ** 2 * np.imag(w) ** 2)

    real = np.diag([1.0, -2.0, 4.0]) + 0.1 * np.arange(9.0).reshape(3, 3)
    turning = np.array([[0.5, 1.0, 0.2], [-1.0, 0.3, 0.1], [0.3, 0.2, 2.0]])
    d = RNG.normal(size=(3, 3))
    for loss, matrix in ((f, real), (g, real), (h, real), (g, turning), (h, turning)):
        found = s2s.grad(loss)(matrix)
        assert found.dtype == float
        assert np.sum(found * d) == pytest.approx(by_differences(loss, matrix, d), rel=1e-6)


def test_the_root_of_a_matrix_with_a_negative_eigenvalue_is_refused() -> None:
    def f(a):
        return np.sum(np.abs(scipy.linalg.sqrtm(a)))

    with pytest.raises(NoDerivativeError, match="complex"):
        s2s.grad(f)(np.diag([1.0, -2.0]))


def test_the_order_of_a_norm_is_refused_not_left_out() -> None:
    def f(p):
        return np.linalg.norm(B, p)

    with pytest.raises(NoDerivativeError, match="order of np.linalg.norm"):
        s2s.grad(f)(2.5)


PARTS = [
    (lambda a: np.linalg.svd(a, full_matrices=False), X[:, :3], (0, 1, 2)), (lambda a: np.linalg.svd(a), X, (0, 1, 2)),
    (lambda a: np.linalg.qr(a), X[:, :3], (0, 1)), (lambda a: np.linalg.eigh(a + a.T), X, (0, 1)),
    (lambda a: np.linalg.eig(a), COMPLEX, (0, 1)), (lambda a: np.linalg.lstsq(a, B), X[:, :3], (0, 1, 3)),
    (lambda a: np.linalg.slogdet(a), X, (1,)),
]


@pytest.mark.parametrize("f, x, part", [(f, x, part) for f, x, parts in PARTS for part in parts])
def test_a_part_of_a_result_alone(f: Any, x: Any, part: int) -> None:
    """Nothing reads the other parts: their cotangents are None in the rule."""
    d = np.cos(np.arange(float(x.size))).reshape(x.shape) * (1.0 + 0.5j if np.iscomplexobj(x) else 1.0)

    def one(a: Any) -> Any:
        return np.sum(np.abs(f(a)[part]) ** 3 * np.arange(1.0, 1.0 + np.size(f(a)[part])).reshape(np.shape(f(a)[part])))

    found = np.sum(s2s.grad(one)(x) * d)
    assert np.real(found) == pytest.approx(by_differences(one, x, d), rel=1e-7, abs=1e-9)


def test_one_solve_serves_both_arguments() -> None:
    def f(a: Any, b: Any) -> Any:
        return np.sum(np.linalg.solve(a, b) ** 2)

    a, b = np.array([[2.0, 0.3], [0.1, 1.5]]), np.array([0.7, -0.4])
    text = s2s.source(f, a, b, argnums=(0, 1))
    code = [line for line in text.splitlines() if not line.strip().startswith("#")]
    assert sum("rt.solve_with(factors" in line for line in code) == 2
    a_bar, b_bar = s2s.grad(f, (0, 1))(a, b)
    y = np.linalg.solve(a, b)
    np.testing.assert_allclose(b_bar, np.linalg.inv(a).T @ (2.0 * y), rtol=1e-13)
    np.testing.assert_allclose(a_bar, -np.outer(b_bar, y), rtol=1e-13)


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("derivative", [s2s.jacfwd, s2s.jacrev])
def test_stacks_of_right_sides(columns, derivative):
    """Directions are more columns of one right side, not of a stack of them."""
    matrix = np.eye(3) * 3.0 + np.ones((3, 3))

    def f(x):
        return np.linalg.solve(matrix * x[0], np.reshape(np.tile(x, 2 * columns), (2, 3, columns)))

    x = np.array([0.7, 0.5, 0.3])
    wanted = np.stack([(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(3)], axis=-1)
    np.testing.assert_allclose(derivative(f)(x), wanted, rtol=1e-6, atol=1e-8)


FIRST = np.outer([1.0, 2.0, 3.0], [1.0, 0.0, 0.0])


@pytest.mark.parametrize(
    "f, a",
    [
        (lambda a: np.sum(np.linalg.svd(a)[0] * FIRST), np.diag([2.0, 1.0, 1.0])),
        (lambda a: np.sum(np.linalg.svd(a)[0] * FIRST + np.linalg.svd(a)[2].T * FIRST**2), np.diag([2.0, 1.0, 1.0])),
        (lambda a: np.sum(np.linalg.eigh(a + a.T)[1] * FIRST[:, ::-1]), np.diag([1.0, 1.0, 2.0])),
    ],
)
def test_second_derivatives_beside_undetermined_vectors(f: Any, a: Any) -> None:
    """They are right, also where a factor of what is unknown is zero at the point."""
    def slopes(a: Any) -> Any:
        return np.sum(s2s.grad(f)(a)[0] ** 2)

    found = s2s.grad(slopes)(a)
    steps = 1e-5 * np.eye(9).reshape(9, 3, 3)
    expected = np.reshape([(slopes(a + step) - slopes(a - step)) / 2e-5 for step in steps], (3, 3))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("size, rank, is_complex", [(1, 0, 0), (3, 3, 0), (3, 2, 0), (3, 2, 1), (4, 2, 0), (4, 1, 0)])
def test_second_derivatives_of_determinants_of_any_rank(size: int, rank: int, is_complex: int) -> None:
    """The determinant is a polynomial: a difference quotient of fourth order is exact up to rounding."""
    rng = np.random.default_rng(size + rank)

    def drawn(*shape: int) -> Any:
        real = rng.normal(size=shape)
        return real + 1j * rng.normal(size=shape) if is_complex else real

    a, v, w = drawn(size, rank) @ drawn(rank, size), drawn(size, size), drawn(size, size)
    f = lambda x: np.real(np.linalg.det(x))
    # the mixed derivative, by the polarisation of second differences of a polynomial of degree up to four
    second = lambda d: (16 * (f(a + d) + f(a - d)) - (f(a + 2 * d) + f(a - 2 * d)) - 30 * f(a)) / 12
    expected = (second(v + w) - second(v - w)) / 4
    np.testing.assert_allclose(np.sum(np.real(s2s.hvp(f, (a,), (v,)) * w)), expected, rtol=1e-9, atol=1e-10)
    inner = lambda x: np.sum(np.real(s2s.grad(f)(x) * v))
    np.testing.assert_allclose(np.sum(np.real(s2s.grad(inner)(a) * w)), expected, rtol=1e-9, atol=1e-10)


def test_a_singular_matrix_that_other_factors_call_regular() -> None:
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_allclose(rt.cofactor(a, 1e-17), [[4.0, -2.0], [-2.0, 1.0]], atol=1e-14)


@pytest.mark.parametrize("subset", [
    {}, {"subset_by_index": [1, 2]}, {"subset_by_index": [0, 0]}, {"subset_by_value": [1.5, 8.0]},
    {"subset_by_value": [0.0, 2.5]}, {"subset_by_value": [3.0, np.inf]},
], ids=str)
@pytest.mark.parametrize("lower", [True, False])
def test_gradients_of_some_eigenvalues(subset: Any, lower: bool) -> None:
    """The gradient of an eigenvalue is the outer product of its vector with itself."""
    a = np.diag([1.0, 2.0, 3.0, 9.0]) + 0.3
    w, v = np.linalg.eigh(a)
    low, high = subset.get("subset_by_value", (-np.inf, np.inf))
    first, last = subset.get("subset_by_index", (0, 3))
    kept = (w > low) & (w <= high) & (np.arange(4) >= first) & (np.arange(4) <= last)
    expected = (v * 3.0 * w**2 * kept) @ v.T
    of_values = lambda a: np.sum(scipy.linalg.eigvalsh(a, lower=lower, **subset) ** 3)
    of_both = lambda a: np.sum(scipy.linalg.eigh(a, lower=lower, **subset)[0] ** 3)
    for f in (of_values, of_both):
        np.testing.assert_allclose(s2s.grad(f)(a), expected, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(s2s.jvp(f, (a,), (a,))[1], np.sum(3.0 * w[kept] ** 3), rtol=1e-9)
