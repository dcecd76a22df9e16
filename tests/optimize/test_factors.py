"""A matrix is factorised once for all that is made of it: gradients and tangents beside central differences, what
LAPACK gives beside NumPy, and errors that stay where they were."""

import numpy as np
import pytest

import s2s
from s2s import runtime as rt
from s2s.runtime import _factors, _linalg
from tests.helpers import differences

RNG = np.random.default_rng(41)
A = RNG.standard_normal((4, 4)) + 4.0 * np.eye(4)
B = RNG.standard_normal((4, 3))


def log_density(k, b):
    away = b[:, 0]
    return -0.5 * away @ np.linalg.solve(k, away) - 0.5 * np.linalg.slogdet(k)[1]


def right_sides_at_different_places(k, b):
    x = np.linalg.solve(k, b[:, 0])
    y = np.linalg.solve(k, np.sin(b))
    return np.sum(np.linalg.solve(k, x[:, None] * y) ** 2) + np.sum(np.linalg.solve(np.transpose(k).T.T, y) ** 3)


def of_a_product(x, b):
    k = x.T @ x + np.eye(4)
    return np.sum(np.linalg.inv(k) ** 2) * np.log(np.linalg.det(k)) + np.sum(np.linalg.solve(k, b) ** 2)


def steps(k, b):
    """The same matrix in each step."""
    x = np.cos(b[:, 1])
    for _ in range(3):
        x = np.linalg.solve(k, np.sin(x))
    return np.sum(x * x)


def other_matrices(k, b):
    """Another matrix in each step, with several uses of it."""
    total = 0.0
    for i in range(3):
        m = k + 0.1 * i * k.T
        total += b[:, i] @ np.linalg.solve(m, b[:, i]) + np.log(np.linalg.det(m))
    return total


def on_one_path(k, b):
    total = 0.0
    if k[0, 0] > 0.0:
        total += np.sum(np.linalg.solve(k, b[:, 0]) ** 2)
    else:
        total += np.sum(np.linalg.inv(k))
    return total * np.linalg.slogdet(k * 2.0)[1]


def twice_on_a_path(k, b):
    total = 0.0
    if k[0, 0] > 0.0:
        total = np.sum(np.linalg.solve(k, b) ** 2) * np.linalg.slogdet(k)[1]
    return total


def on_a_path_and_before_it(k, b):
    total = np.linalg.slogdet(k)[1]
    if k[0, 0] > 0.0:
        total = total + np.sum(np.linalg.solve(k, b[:, 0]) ** 2)
    return total


def that_changes(k, b):
    m = k.copy()
    x = np.linalg.solve(m, b[:, 0])
    m[0] *= 1.5
    return np.sum(x * np.linalg.solve(m, b[:, 1])) + np.linalg.slogdet(m)[1]


def with_something_outside(k, b):
    """Of a kind that shows when the program runs."""
    x = np.linalg.solve(k, OUTSIDE[0])
    return np.sum(np.linalg.solve(k, OUTSIDE[1]) ** 2 * b) * np.sum(x * x)


OUTSIDE = [np.ones(4), np.ones((4, 3)) * np.arange(3.0)]

PROGRAMS = [
    log_density, right_sides_at_different_places, of_a_product, steps, other_matrices, on_one_path, that_changes,
    with_something_outside, twice_on_a_path, on_a_path_and_before_it,
]


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("lapack", [True, False])
def test_derivatives(f, lapack, monkeypatch):
    """With LAPACK's routines, and as it is where SciPy is missing."""
    if lapack:
        pytest.importorskip("scipy")
    else:
        monkeypatch.setattr(_factors, "_routines", lambda char: None)
    for argument, x in enumerate((A, B)):
        def of_one(x, argument=argument):
            return f(*((x, B) if argument == 0 else (A, x)))

        expected = differences(of_one, x)
        value, gradient = s2s.value_and_grad(f, argnums=argument)(A, B)
        np.testing.assert_allclose(value, f(A, B), rtol=1e-13)
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)
        along = np.cos(x)
        tangents = (along, None) if argument == 0 else (None, along)
        _, tangent = s2s.jvp(f, (A, B), tangents)
        np.testing.assert_allclose(tangent, np.sum(expected * along), rtol=1e-6, atol=1e-7)
    along = np.cos(A)
    second = differences(lambda k: float(np.sum(s2s.grad(f)(k, B) * along)), A)
    np.testing.assert_allclose(s2s.hvp(f, (A, B), (along, np.zeros_like(B))), second, rtol=1e-5, atol=1e-6)
    nested = s2s.grad(lambda k, b: np.sum(s2s.grad(f)(k, b) * along))
    np.testing.assert_allclose(nested(A, B), second, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("f", "count"), [
    (log_density, 1), (right_sides_at_different_places, 1), (of_a_product, 1), (steps, 1), (other_matrices, 2),
    (twice_on_a_path, 2), (on_a_path_and_before_it, 1),
])  # fmt: skip
def test_one_factorisation(f, count):
    """Of all that a matrix goes to; one in each sweep where every iteration has another one."""
    text = "".join(line for line in s2s.source(f, A, B).splitlines(True) if "# L" not in line)
    assert text.count("rt.factors(") == count
    assert not any(name in text for name in ("linalg.solve(", "linalg.inv(", "linalg.det(", "cofactor("))


def test_factors_of_the_steps_are_made_before_them():
    text = s2s.source(steps, A, B)
    assert text.index("rt.factors(") < text.index("for ")


def test_a_matrix_that_changes_has_no_factors():
    assert "rt.factors(m)" not in s2s.source(that_changes, A, B)


def test_a_matrix_on_one_path_is_factorised_there():
    assert "rt.factors(k)" not in s2s.source(on_one_path, A, B)


@pytest.mark.parametrize("kind", ["f", "d", "F", "D"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("size", [1, 2, 5, 70])
def test_what_factors_give(kind, order, size):
    """As NumPy does, with new arrays in C order."""
    a = RNG.standard_normal((size, size)) + 1j * RNG.standard_normal((size, size)) if kind in "FD" else (
        RNG.standard_normal((size, size)))
    a = np.asarray(a + size ** 0.5 * np.eye(size), dtype=kind, order=order)
    found, near = rt.factors(a), {"rtol": 1e-3 if kind in "fF" else 1e-10, "atol": 1e-4 if kind in "fF" else 1e-11}
    for b in (RNG.standard_normal(size), RNG.standard_normal((size, 3)), RNG.standard_normal((3, size)).T):
        right = b.astype(kind)
        for transposed in (False, True):
            x = rt.solve_with(found, a, right, transposed=transposed)
            wanted = np.linalg.solve(a.T if transposed else a, right)
            assert x.dtype == wanted.dtype and x.flags.c_contiguous
            np.testing.assert_allclose(x, wanted, **near)
    np.testing.assert_allclose(rt.inv_of(found, a), np.linalg.inv(a), **near)
    assert not np.shares_memory(rt.inv_of(found, a), rt.inv_of(found, a)) and rt.inv_of(found, a).flags.c_contiguous
    if size < 70:
        np.testing.assert_allclose(rt.det_of(found, a), np.linalg.det(a), rtol=1e-3 if kind in "fF" else 1e-10)
    sign, logarithm = np.linalg.slogdet(a)
    ours = rt.slogdet_of(found, a)
    assert type(ours) is type(np.linalg.slogdet(a)) and ours.sign.dtype == sign.dtype
    assert ours.logabsdet.dtype == logarithm.dtype
    np.testing.assert_allclose(ours.sign, sign, **near)
    np.testing.assert_allclose(ours.logabsdet, logarithm, **near)
    np.testing.assert_allclose(
        rt.cofactor_of(found, a, 2.0), 2.0 * np.linalg.inv(a).T, **near)


def test_determinants_whose_partial_products_overflow():
    a = np.diag([1e200, 1e200, 1e-200, 1e-300])
    np.testing.assert_allclose(rt.det_of(rt.factors(a), a), 1e-100, rtol=1e-10)


def test_singular_matrices():
    """Systems and inverses raise NumPy's error, determinants are 0, whose derivative there may not be."""
    a = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 1.0, 3.0]])
    found = rt.factors(a)
    for call in (lambda: rt.solve_with(found, a, np.ones(3)), lambda: rt.inv_of(found, a)):
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            call()
    assert rt.det_of(found, a) == 0.0 and rt.slogdet_of(found, a) == np.linalg.slogdet(a)

    def volumes(k):
        return np.linalg.det(k) + 2.0 * np.linalg.det(k) * k[0, 0]

    np.testing.assert_allclose(s2s.grad(volumes)(a), differences(volumes, a), rtol=1e-6, atol=1e-8)


def test_errors_stay_where_they_are():
    def guarded(k, b):
        try:
            x = np.linalg.solve(k, b)
        except np.linalg.LinAlgError:
            x = 2.0 * b
        return np.sum(x * x)

    singular, b = np.zeros((2, 2)), np.array([1.0, 2.0])
    np.testing.assert_array_equal(s2s.grad(guarded, "b")(singular, b), 8.0 * b)
    regular = np.array([[2.0, 1.0], [0.0, 4.0]])
    np.testing.assert_allclose(
        s2s.grad(guarded)(regular, b), differences(lambda k: guarded(k, b), regular), rtol=1e-6)
    with pytest.raises(np.linalg.LinAlgError, match="must be square"):
        s2s.grad(log_density)(np.ones((4, 3)), B)
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        s2s.grad(log_density)(np.zeros((4, 4)), B)
    with pytest.raises(ValueError, match="mismatch"):
        s2s.grad(log_density)(np.eye(3), B)


@pytest.mark.parametrize("size", [3, 40, _linalg.LARGE_SYMMETRIC - 1, _linalg.LARGE_SYMMETRIC + 7])
def test_the_cotangent_of_a_cholesky_factor(size):
    """By LAPACK's routines for triangular and symmetric matrices, beside inverses."""
    pytest.importorskip("scipy")
    x = RNG.standard_normal((size, size))
    factor, g = np.linalg.cholesky(x @ x.T / size + np.eye(size)), RNG.standard_normal((size, size))
    inverse = np.linalg.inv(factor)
    middle = np.tril(factor.T @ g) - 0.5 * np.diag(np.diag(factor.T @ g))
    wanted = inverse.T @ (0.5 * (middle + middle.T)) @ inverse
    for a, b in ((g, factor), (np.asfortranarray(g), np.asfortranarray(factor)), (g.T.copy().T, factor)):
        before = a.copy(), b.copy()
        found = rt.cholesky_bar(a, b)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12 * np.max(np.abs(wanted)))
        np.testing.assert_array_equal(found, found.T)
        assert np.array_equal(a, before[0]) and np.array_equal(b, before[1])


# --- sparse matrices --------------------------------------------------------------------------------------------------


def implicit_steps(p, u):
    """One matrix for all steps, by its factors."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    n = len(u)
    lu = splu(sparse.diags([-p[0], 1.0 + 2.0 * p[0], -p[1]], [-1, 0, 1], shape=(n, n)).tocsc())
    for _ in range(3):
        u = lu.solve(np.sin(u))
    return np.sum(u * u) + np.sum(lu.solve(u, "T") ** 3)


def sparse_and_transposed(p, u):
    from scipy import sparse
    from scipy.sparse.linalg import spsolve

    n = len(u)
    a = sparse.diags([p[0] * u[1:], 2.0 + p[1] * u], [1, 0], shape=(n, n)).tocsc()
    x = spsolve(a, np.cos(u))
    return np.sum(x * spsolve(a.T.tocsc(), x)) + np.sum(spsolve(a, np.outer(u, p)) ** 2)


P, U = np.array([0.3, 0.2]), np.array([0.5, 0.8, 1.1, 0.4])


@pytest.mark.parametrize("f", [implicit_steps, sparse_and_transposed], ids=lambda f: f.__name__)
def test_derivatives_with_sparse_matrices(f):
    pytest.importorskip("scipy")
    for argument, x in enumerate((P, U)):
        def of_one(x, argument=argument):
            return float(f(*((x, U) if argument == 0 else (P, x))))

        expected = differences(of_one, x)
        value, gradient = s2s.value_and_grad(f, argnums=argument)(P, U)
        np.testing.assert_allclose(value, f(P, U), rtol=1e-12)
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
        along = np.cos(x)
        _, tangent = s2s.jvp(f, (P, U), (along, None) if argument == 0 else (None, along))
        np.testing.assert_allclose(tangent, np.sum(expected * along), rtol=1e-6)
    along = np.array([1.0, -0.5])
    second = differences(lambda p: float(s2s.grad(f)(p, U) @ along), P)
    np.testing.assert_allclose(s2s.grad(lambda p: s2s.grad(f)(p, U) @ along)(P), second, rtol=1e-5)


def test_a_sparse_matrix_is_factorised_once(monkeypatch):
    """Whatever the number of steps, in both sweeps."""
    linalg = pytest.importorskip("scipy.sparse.linalg")
    gradient, made = s2s.grad(implicit_steps), []
    gradient(P, U)
    for name in ("splu", "spsolve"):
        own = getattr(linalg, name)
        counted = lambda *args, own=own, name=name: made.append(name) or own(*args)  # noqa: E731
        monkeypatch.setattr(linalg, name, counted)
    gradient(P, U)
    assert made == ["splu"]


def test_a_singular_sparse_matrix_gives_what_scipy_gives():
    pytest.importorskip("scipy")
    with pytest.warns(Warning, match="singular"):
        assert not np.any(np.isfinite(s2s.grad(sparse_and_transposed)(np.array([1.0, -2.0]), np.ones(4))))
