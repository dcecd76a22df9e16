"""Rotations between rotations, ``Slerp`` and ``RotationSpline``: by rotations, their times, and when they are asked."""

import numpy as np
import pytest

import s2s
from tests.helpers import check_of_array

transform = pytest.importorskip("scipy.spatial.transform")
Rotation, Slerp, RotationSpline = transform.Rotation, transform.Slerp, transform.RotationSpline

TIMES = np.array([0.0, 0.7, 2.0, 3.0, 4.1])
VECTORS = np.random.default_rng(0).normal(size=(5, 3)) * 0.7
STILL = VECTORS[[0, 0, 2, 2, 4]] + np.array([[0.0], [0.0], [0.0], [1e-7], [0.0]])
AT = np.array([0.0, 0.3, 1.4, 3.2, 4.1])
NINE = np.arange(9.0).reshape(3, 3)
TURNS = Slerp(TIMES, Rotation.from_rotvec(VECTORS))
TURNING = RotationSpline(TIMES, Rotation.from_rotvec(STILL))


def turned(v):
    return np.sum(Slerp(TIMES, Rotation.from_rotvec(v))(AT).as_matrix() * NINE)


def turning(v):
    spline = RotationSpline(TIMES, Rotation.from_rotvec(v))
    return np.sum(spline(AT).as_matrix() * NINE) + np.sum(spline(0.3, 1) ** 2) + np.sum(spline(AT, 2) * NINE[1])


def when(t):
    made = Slerp(t[:3], Rotation.from_rotvec(VECTORS[:3]))(t[3:]).as_rotvec()
    return np.sum(made * NINE[1]) + np.sum(TURNS(t[3]).as_matrix() * NINE)


def when_turning(t):
    made = RotationSpline(t[:3], Rotation.from_rotvec(VECTORS[:3]))
    return np.sum(made(t[3:]).as_rotvec() * NINE[1]) + np.sum(made(t[4], 1)) + np.sum(TURNING(t[3]).as_matrix() * NINE)


WHEN = np.array([0.1, 0.8, 2.1, 0.5, 1.7])
CASES = {
    "slerp": (turned, VECTORS), "slerp, still": (turned, STILL), "spline": (turning, VECTORS),
    "spline, still": (turning, STILL), "spline of two": (
        lambda v: np.sum(RotationSpline(TIMES[:2], Rotation.from_rotvec(v))(0.3).as_matrix() * NINE), VECTORS[:2]),
    "slerp, times": (when, WHEN), "spline, times": (when_turning, WHEN),
}


@pytest.mark.slow
@pytest.mark.grid(0.2)
@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    f, x = CASES[name]
    check_of_array(f, x, gradient=(1e-7, 1e-8), forward=(1e-10, 1e-12), value=1e-13, step=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("f, x", [(turned, STILL), (lambda t: np.sum(TURNING(t).as_matrix() * NINE), AT[1:3])])
def test_second_derivatives(monkeypatch, f, x):
    monkeypatch.setenv("S2S_RECORDED", "1")
    v = np.cos(np.arange(x.size, dtype=float)).reshape(x.shape)
    expected = (s2s.grad(f)(x + 1e-4 * v) - s2s.grad(f)(x - 1e-4 * v)) / 2e-4
    np.testing.assert_allclose(s2s.hvp(f, (x,), (v,)), expected, rtol=1e-6, atol=1e-7)


def test_times_outside():
    with pytest.raises(ValueError, match="Interpolation times must be within the range"):
        s2s.grad(lambda t: np.sum(Slerp(TIMES, Rotation.from_rotvec(VECTORS))(t).as_quat()))(5.0)
