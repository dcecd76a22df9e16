"""The Schur form and what is made of it: with real eigenvalues, with pairs, and what has no derivative."""

import numpy as np
import pytest
from scipy import linalg

import s2s
from s2s.errors import NoDerivativeError

pytestmark = pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")

WEIGHTS = np.arange(16.0).reshape(4, 4)
REAL = np.diag([1.0, 2.0, 3.0, 4.0]) + 0.3 * np.sin(WEIGHTS)
PAIRS = np.array([[0.3, 2.0, 0.1, 0.4], [-1.5, 0.2, 0.5, 0.3], [0.2, 0.1, 1.0, 0.7], [0.1, 0.3, -0.9, 1.4]])


def of_form(a):
    t, z = linalg.schur(a)
    return np.sum(t * WEIGHTS) + np.sum(z**3 * WEIGHTS)


def of_block(a):
    """What stays when LAPACK turns the vectors of a pair by quarters."""
    t, z = linalg.schur(a)
    space = z[:, :2] @ z[:, :2].T
    return np.sum(space**2 * WEIGHTS) + np.exp(t[0, 0]) + t[0, 0] * t[1, 1] - 3.0 * t[0, 1] * t[1, 0]


def of_sorted(a):
    t, z, count = linalg.schur(a, sort="lhp")
    return np.trace(t[:count, :count]) ** 3 + np.sum((z[:, :count] @ z[:, :count].T) ** 2 * WEIGHTS)


def of_function(a):
    return np.sum(linalg.funm(a, np.exp).real * WEIGHTS)


def of_sign(a):
    return np.sum(linalg.signm(a - 2.3 * np.eye(4)) * WEIGHTS)


def of_space(a):
    q = linalg.null_space(a[:2])
    return np.sum((q @ q.T) ** 2 * WEIGHTS)


@pytest.fixture(autouse=True)
def _recorded(monkeypatch):
    """What is used by default: calls that the compiler refuses are recorded."""
    monkeypatch.setenv("S2S_RECORDED", "1")


def slope(f, x, v, h=1e-4):
    """Central differences of fourth order along a direction."""
    return (8.0 * (f(x + h * v) - f(x - h * v)) - (f(x + 2.0 * h * v) - f(x - 2.0 * h * v))) / (12.0 * h)


CASES = [
    (of_form, REAL), (of_block, PAIRS), (of_sorted, PAIRS - 0.7 * np.eye(4)), (of_function, REAL), (of_sign, REAL),
    (of_space, REAL),
]


@pytest.mark.parametrize("f, x", CASES)
def test_gradient_and_tangent(f, x):
    expected = np.array([slope(f, x, v) for v in np.eye(16).reshape(16, 4, 4)]).reshape(4, 4)
    np.testing.assert_allclose(s2s.grad(f)(x), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    if f is not of_space:
        v = np.cos(WEIGHTS)
        np.testing.assert_allclose(s2s.jvp(f, (x,), (v,))[1], np.sum(expected * v), rtol=1e-6)


@pytest.mark.parametrize("f, x", CASES[:2])
def test_second_derivative(f, x):
    v = np.cos(WEIGHTS)
    np.testing.assert_allclose(s2s.jvp(s2s.grad(f), (x,), (v,))[1], slope(s2s.grad(f), x, v), rtol=1e-5, atol=1e-5)


def test_of_stacks_of_columns_toeplitz_makes_a_stack():
    weights = np.arange(18.0).reshape(2, 3, 3)

    def f(c, r):
        return np.sum(weights * linalg.toeplitz(c, r) ** 2)

    if linalg.toeplitz(np.ones((2, 3))).ndim != 3:
        pytest.skip("this version makes one matrix of it")
    c, r = np.sin(np.arange(6.0)).reshape(2, 3), np.cos(np.arange(6.0)).reshape(2, 3)
    for k, found in enumerate(s2s.grad(f, argnums=(0, 1))(c, r)):
        for v in np.eye(6).reshape(6, 2, 3):
            expected = slope(lambda x: f(*((x, r) if k == 0 else (c, x))), (c, r)[k], v)
            assert np.sum(found * v) == pytest.approx(expected, rel=1e-8, abs=1e-8)


def of_basis(a):
    return np.sum(linalg.null_space(a[:2]) * WEIGHTS[:, :2])


def of_phases(a):
    return np.sum(linalg.schur(a, output="complex")[1].real)


@pytest.mark.parametrize("f, reason", [(of_basis, "may turn freely"), (of_phases, "phases are free")])
def test_what_may_turn_is_refused(f, reason):
    with pytest.raises(NoDerivativeError, match=reason):
        s2s.grad(f)(REAL)
