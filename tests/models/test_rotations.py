"""Rotations of SciPy, whose compiled functions SciPy has once more in Python."""

import numpy as np
import pytest

import s2s

transform = pytest.importorskip("scipy.spatial.transform")
pytest.importorskip("scipy.spatial.transform._rotation_xp")
pytestmark = pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
Rotation = transform.Rotation
P = np.array([0.3, 0.5, 0.2])
NINE = np.arange(9.0).reshape(3, 3)


def matrix(p):
    return np.sum(Rotation.from_rotvec(p).as_matrix() * NINE)


def applied(p):
    return np.sum(Rotation.from_rotvec(p).apply(np.array([1.0, 2.0, 3.0])) * np.arange(3))


def applied_to(p):
    return np.sum(Rotation.from_rotvec(np.array([0.1, 0.2, 0.3])).apply(p) * np.arange(3))


def from_euler(p):
    return np.sum(Rotation.from_euler("xyz", p).as_quat() * np.arange(4))


def as_euler(p):
    return np.sum(Rotation.from_rotvec(p).as_euler("zyx") * np.arange(3))


def product(p):
    return np.sum((Rotation.from_rotvec(p) * Rotation.from_rotvec(p[::-1])).inv().as_matrix() * NINE)


def power(p):
    return np.sum((Rotation.from_rotvec(p) ** 0.3).as_rotvec() * np.arange(3))


def magnitude(p):
    return Rotation.from_rotvec(p).magnitude()


def at_rest(p):
    return matrix(p - P)


PROGRAMS = (matrix, applied, applied_to, from_euler, as_euler, product, power, magnitude, at_rest)


@pytest.fixture(autouse=True)
def _recorded(monkeypatch):
    """What is used by default: calls that the compiler refuses are recorded."""
    monkeypatch.setenv("S2S_RECORDED", "1")


def slope(f, x, v, h=1e-4):
    """Central differences of fourth order along a direction."""
    return (8.0 * (f(x + h * v) - f(x - h * v)) - (f(x + 2.0 * h * v) - f(x - 2.0 * h * v))) / (12.0 * h)


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("f", [
    pytest.param(f, marks=pytest.mark.slow if f in (product, from_euler, as_euler) else ()) for f in PROGRAMS])
def test_gradient_and_tangent(f):
    expected = np.array([slope(f, P, v) for v in np.eye(3)])
    np.testing.assert_allclose(s2s.grad(f)(P), expected, rtol=1e-7, atol=1e-7)
    v = np.array([0.4, -1.0, 0.7])
    np.testing.assert_allclose(s2s.jvp(f, (P,), (v,))[1], expected @ v, rtol=1e-7, atol=1e-7)


@pytest.mark.slow
@pytest.mark.grid(0.2)
@pytest.mark.parametrize("f", PROGRAMS[:-1])
def test_second_derivative(f):
    v = np.array([0.4, -1.0, 0.7])
    found = s2s.jacfwd(s2s.grad(f))(P)
    np.testing.assert_allclose(found @ v, slope(s2s.grad(f), P, v), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found, found.T, rtol=1e-6, atol=1e-6)
