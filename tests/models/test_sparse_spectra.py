"""Some eigenvalues, singular values and exponentials of sparse matrices, against differences."""

import numpy as np
import pytest
from scipy import linalg as dense
from scipy import sparse
from scipy.sparse import linalg

import s2s
from s2s.errors import NoDerivativeError
from tests.helpers import check_of_array

RNG = np.random.default_rng(0)
D = np.array([1.0, 2.5, 4.0, 5.2, 7.0, 8.1])
B = RNG.normal(size=(4, 4))
W = np.arange(1.0, 7.0)


def banded(d):
    return sparse.diags_array([np.ones(5), d, np.ones(5)], offsets=[-1, 0, 1]).tocsr()


def largest(d):
    w, v = linalg.eigsh(banded(d), k=2, tol=1e-13, v0=W)
    return np.sum(w**2) + np.sum(v[0] * v[1] * W[:2])


def nearest(b):
    m = b @ b.T + np.diag([1.0, 3.0, 5.0, 7.0])
    w, v = linalg.eigsh(m, k=2, sigma=2.0, v0=W[:4])
    return np.sum(w * W[:2]) + np.sum(v[0] ** 2 * W[:2]) + linalg.eigsh(
        m, k=1, M=np.diag(W[:4]) + 0.1 * (b + b.T), which="SA", return_eigenvectors=False, v0=W[:4])[0] ** 2


def unsymmetric(b):
    w, v = linalg.eigs(b + np.diag(4.0 * W[:4]), k=2, v0=W[:4])
    return np.sum(np.abs(w) ** 2) + np.sum(np.abs(v[:, 0]) ** 2 * W[:4]) + np.sum(np.real(w))


def singular(d):
    u, s, vh = linalg.svds(banded(d), k=2, tol=1e-13, v0=W)
    return np.sum(s * W[:2]) + np.sum(u[0] * vh[:, 1] * W[:2]) + np.sum(
        linalg.svds(banded(d), k=1, return_singular_vectors=False, v0=W) ** 2)


FIXED = banded(-D / 8.0)


def exponential(d):
    moved = linalg.expm_multiply(banded(-d / 8.0), W)
    steps = linalg.expm_multiply(banded(-d / 8.0), W, start=0.1, stop=0.7, num=3)
    return np.sum(moved**2) + np.sum(steps[1] * d) + np.sum(linalg.expm_multiply(FIXED, d * W) ** 2)


CASES = {
    "eigsh": (largest, D), "eigsh, sigma": (nearest, B), "eigs": (unsymmetric, B), "svds": (singular, D),
    "expm_multiply": (exponential, D),
}


@pytest.mark.slow
@pytest.mark.grid(0.4)
@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    f, x = CASES[name]
    check_of_array(f, x, gradient=(1e-7, 1e-7), forward=(1e-8, 1e-9), second=(1e-5, 1e-6), value=1e-9)


def test_refused():
    with pytest.raises(NoDerivativeError, match="which it makes dense"):
        s2s.grad(lambda d: linalg.eigsh(sparse.diags_array(d).tocsr(), k=1)[0][0])(np.arange(1.0, 3102.0))
    with pytest.raises(NoDerivativeError, match="not for operators"):
        s2s.grad(lambda b: linalg.eigsh(linalg.aslinearoperator(b), k=1)[0][0])(B)


@pytest.mark.parametrize("times", [(1.0, 1.0, 3), (2.0, 1.0, 3), (30.0, 30.1, 2)])
def test_exponentials_that_scipy_does_not_give_are_refused(times):
    b = B[:2, :2]
    assert not np.allclose(linalg.expm_multiply(b, W[:2], *times)[0], dense.expm(times[0] * b) @ W[:2])
    for mode in (s2s.grad, s2s.jacfwd):
        with pytest.raises(NoDerivativeError, match="is not the exponential times the vector"):
            mode(lambda b: np.sum(linalg.expm_multiply(b, W[:2], *times)))(b)
