"""Sparse Jacobians and Hessians: patterns, colours, and entries against dense ones."""

import doctest

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import rosen_hess

import s2s
import s2s.sparse
from s2s.errors import ArgumentError

N = 30
X = np.linspace(0.2, 1.7, N)


def tridiagonal(x):
    y = np.zeros_like(x)
    y[1:-1] = x[:-2] * x[2:] - 2.0 * np.sin(x[1:-1])
    y[0] = x[0] - x[1]
    y[-1] = x[-1] ** 2 * x[-2]
    return y


def tridiagonal_loop(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] ** 2
        if i > 0:
            y[i] -= x[i - 1] * x[i]
        if i < len(x) - 1:
            y[i] += np.exp(x[i + 1])
    return y


def five_point(u):
    """A non-linear diffusion on a grid."""
    out = np.zeros_like(u)
    out[1:-1, 1:-1] = (
        u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
    ) * u[1:-1, 1:-1] ** 2
    return out


def bundle(cameras, points, seen):
    """The residuals of a bundle adjustment: a camera has a position and a focal length."""
    residuals = np.zeros((len(seen), 2))
    for k, (camera, point) in enumerate(seen):
        moved = points[point] - cameras[camera, :3]
        residuals[k] = cameras[camera, 3] * moved[:2] / (3.0 + moved[2])
    return residuals


def dense(f, *args):
    """The Jacobian as a matrix."""
    made = s2s.jacfwd(f, argnums=tuple(range(sum(isinstance(a, np.ndarray) and a.dtype.kind == "f" for a in args))))
    blocks = made(*args)
    rows = np.size(f(*args))
    return np.concatenate([np.reshape(b, (rows, -1)) for b in blocks], axis=1)


@pytest.mark.parametrize("f", [tridiagonal, tridiagonal_loop])
def test_tridiagonal(f):
    pattern = s2s.jacobian_sparsity(f)(X).toarray()
    np.testing.assert_array_equal(pattern, np.abs(np.subtract.outer(range(N), range(N))) <= 1)
    for mode in ("fwd", "rev", "auto"):
        jacobian = s2s.sparse_jacobian(f, mode=mode)
        np.testing.assert_allclose(jacobian(X).toarray(), s2s.jacfwd(f)(X), atol=1e-13)
        assert jacobian.colors == jacobian.directions == 3


def test_five_point_stencil():
    u = np.random.default_rng(0).normal(size=(7, 9))
    jacobian = s2s.sparse_jacobian(five_point)
    found = jacobian(u)
    np.testing.assert_allclose(found.toarray(), dense(five_point, u), atol=1e-13)
    assert found.nnz == 5 * 5 * 7
    assert jacobian.directions == jacobian.colors <= 8 < u.size


@pytest.mark.slow
def test_bundle_adjustment():
    rng = np.random.default_rng(1)
    cameras, points = rng.normal(size=(4, 4)), rng.normal(size=(12, 3))
    seen = tuple((k % 4, k % 12) for k in range(24)) + tuple(((k + 1) % 4, k % 12) for k in range(12))
    jacobian = s2s.sparse_jacobian(bundle, argnums=(0, 1))
    found = jacobian(cameras, points, seen)
    np.testing.assert_allclose(found.toarray(), dense(bundle, cameras, points, seen), atol=1e-13)
    assert found.shape == (2 * len(seen), cameras.size + points.size)
    assert jacobian.colors < (cameras.size + points.size) // 2
    assert jacobian.colors >= 4  # a camera's parameters have a residual in common


LOCAL = {
    "cross": (lambda x: np.cross(x.reshape(4, 3), x.reshape(4, 3)[::-1]), 5),
    "cross by axis": (lambda x: np.linalg.cross(x.reshape(3, 4), np.ones((3, 4)), axis=0), 2),
    "outer": (lambda x: np.linalg.outer(x, np.ones(2)), 1),
    "kron": (lambda x: np.kron(np.arange(2.0), x), 1),
    "tensordot": (lambda x: np.linalg.tensordot(x.reshape(6, 2), np.ones((2, 3)), axes=1), 2),
    "einsum": (lambda x: np.einsum("ij,ij->i", x.reshape(4, 3), x.reshape(4, 3)), 3),
    "convolve": (lambda x: np.convolve(x, np.ones(3), "same"), 3),
    "correlate": (lambda x: np.correlate(x, np.ones(3)), 3),
    "trace": (lambda x: np.linalg.trace(x.reshape(3, 2, 2)), 2),
}


@pytest.mark.parametrize("name", LOCAL)
def test_products_depend_on_what_they_are_made_of(name):
    """Not each element of the result on each of the arguments. How many a row has was counted by hand."""
    f, most = LOCAL[name]
    x = np.random.default_rng(0).normal(size=12)
    jacobian = s2s.sparse_jacobian(f)
    found = jacobian(x)
    np.testing.assert_allclose(found.toarray(), np.reshape(s2s.jacfwd(f)(x), (-1, 12)), atol=1e-12)
    assert np.max(np.diff(found.indptr)) <= most


def arrow(x):
    """A row and a column that are full: bad for either mode."""
    return np.concatenate([[np.sum(x**2)], x[1:] * x[0]])


def test_forward_and_reverse_colours():
    one = s2s.sparse_jacobian(lambda x: np.concatenate([[np.sum(x**2)], 2.0 * x[1:]]))
    np.testing.assert_allclose(one(X).toarray()[0], 2.0 * X)
    assert one.mode == "rev" and one.colors == 2
    other = s2s.sparse_jacobian(lambda x: x**2 * x[0])
    np.testing.assert_allclose(other(X).toarray(), s2s.jacfwd(lambda x: x**2 * x[0])(X))
    assert other.mode == "fwd" and other.colors == 2
    both = s2s.sparse_jacobian(arrow)
    np.testing.assert_allclose(both(X).toarray(), s2s.jacfwd(arrow)(X))


def test_hessians():
    def rosenbrock(x):
        total = 0.0
        for i in range(len(x) - 1):
            total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
        return total

    hessian = s2s.sparse_hessian(rosenbrock)
    found = hessian(X)
    np.testing.assert_allclose(found.toarray(), rosen_hess(X), rtol=1e-12)
    assert hessian.colors == 3 and found.nnz == 3 * N - 2


def branched(x):
    return x * x[1] if x[0] > 0.0 else x * x[2]


def test_another_branch_has_another_pattern():
    jacobian = s2s.sparse_jacobian(branched)
    for sign in (1.0, -1.0, 1.0):
        x = X[:4] * [sign, 1.0, 1.0, 1.0]
        np.testing.assert_allclose(jacobian(x).toarray(), s2s.jacfwd(branched)(x))


def test_a_given_pattern():
    full = np.eye(N) + np.eye(N, k=1) + np.eye(N, k=-1)
    jacobian = s2s.sparse_jacobian(tridiagonal, sparsity=scipy.sparse.csr_array(full))
    np.testing.assert_allclose(jacobian(X).toarray(), s2s.jacfwd(tridiagonal)(X), atol=1e-13)
    with pytest.raises(ValueError, match="given sparsity"):
        s2s.sparse_jacobian(tridiagonal, sparsity=np.eye(N))(X)
    with pytest.raises(ArgumentError, match="mode"):
        s2s.sparse_jacobian(tridiagonal, mode="both")


D = np.eye(N) - np.eye(N, k=-1)


def joined(x):
    left, right = np.split(x, 2)
    both = np.stack([left * right, np.roll(right, 1)]).T
    return np.concatenate([both.ravel()[::2], np.where(left > 0.5, left, right), np.cumsum(left[:2])])


def mixed(x):
    return np.concatenate([np.linalg.solve(np.eye(3) + 1.0, x[:3]), x[3:] ** 2])


def few(x):
    return np.array([x[0], x[1] * x[2], 3.0])


@pytest.mark.parametrize("f", [lambda x: D @ x**2, joined, mixed, few, np.sort])
def test_patterns_have_every_entry(f):
    pattern = s2s.jacobian_sparsity(f)(X).toarray()
    full = np.reshape(s2s.jacfwd(f)(X), (-1, N))
    assert pattern.shape == full.shape
    assert not np.any((full != 0.0) & ~pattern)
    np.testing.assert_allclose(s2s.sparse_jacobian(f)(X).toarray(), full, atol=1e-12)


def test_matrices_with_zeros_give_sparse_patterns():
    assert s2s.jacobian_sparsity(lambda x: D @ x)(X).nnz == 2 * N - 1


def test_containers_and_numbers():
    def f(p, s):
        return {"a": p["w"] * s, "b": [p["c"] ** 2]}

    jacobian = s2s.sparse_jacobian(f, argnums=(0, 1))
    found = jacobian({"w": X[:3], "c": 2.0}, 3.0).toarray()
    wanted = np.zeros((4, 5))
    wanted[:3, :3], wanted[:3, 4], wanted[3, 3] = 3.0 * np.eye(3), X[:3], 4.0
    np.testing.assert_allclose(found, wanted)


def test_documents():
    results = doctest.testmod(s2s.sparse)
    assert results.attempted > 5 and not results.failed
