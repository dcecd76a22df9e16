"""Transfer functions of SciPy after a change of the variable."""

import numpy as np
import pytest
from scipy import signal

import s2s
from s2s.errors import DifferentiationError
from tests.helpers import differences, has_newer_scipy

X = np.array([0.3, 0.7, 1.2, 0.9, 1.6, 0.45])


def size(made):
    b, a = made
    return np.sum(b**2) + np.sum(a**2 * np.arange(len(a)))


def lowpass(x):
    return size(signal.lp2lp(x[:2], x[2:5], x[5]))


def highpass(x):
    return size(signal.lp2hp(x[:2], x[2:5], x[5])) + size(signal.lp2hp(x[:3], x[3:5]))


def bandpass(x):
    return size(signal.lp2bp(x[:2], x[2:5], 1.3, x[5]))


def bandstop(x):
    return size(signal.lp2bs(x[:2], x[2:5], x[5], 0.4))


def bilinear(x):
    return size(signal.bilinear(x[:2], x[2:5], fs=1.7 + x[5])) + size(signal.bilinear(x[:3], x[3:5]))


def normalized(x):
    return size(signal.normalize(x[:3], x[3:]))


def zeros_and_poles(x):
    z, p, k = signal.tf2zpk(x[:2], x[2:5])
    return np.sum(np.abs(z) ** 2) + np.sum(np.abs(p) ** 2) + k


def state_space(x):
    a, b, c, d = signal.tf2ss(x[:2], x[2:5])
    return np.sum(a**2) + np.sum(c**3) + np.sum(b) + np.sum(d)


TRANSFORMS = [lowpass, highpass, bandpass, bandstop, bilinear, normalized]


@pytest.mark.parametrize("f", [*TRANSFORMS, zeros_and_poles, state_space])
def test_first_order(f):
    wanted = differences(f, X)
    value, gradient = s2s.value_and_grad(f)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(s2s.jvp(f, (X,), (np.cos(X),))[1], wanted @ np.cos(X), rtol=1e-6)


@pytest.mark.grid(0.3)
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("f", TRANSFORMS)
def test_second_order(f, monkeypatch):
    if f in (bandpass, bandstop) and has_newer_scipy():  # its arrays are of kinds that only a run shows
        monkeypatch.setenv("S2S_RECORDED", "1")
    gradient, v = s2s.grad(f), np.cos(np.arange(6.0))
    wanted = differences(lambda t: float(np.sum(v * gradient(X + t * v))), 0.0)
    np.testing.assert_allclose(np.sum(v * s2s.jvp(gradient, (X,), (v,))[1]), wanted, rtol=1e-6)
    np.testing.assert_allclose(s2s.vjp(gradient, X)[1](v)[0] @ v, wanted, rtol=1e-6)


def test_leading_zeros_are_refused():
    with pytest.raises(DifferentiationError, match="normalize"):
        s2s.grad(lambda x: size(signal.normalize(np.array([0.0, 1.0]), x)))(X)
    with pytest.raises(DifferentiationError, match="normalize"):
        s2s.grad(lambda x: size(signal.normalize(x, np.array([1.0, 2.0]))))(np.array([0.0, 1.0]))
