"""Numbers that travel out of the sight of a recording: their derivative is right, or refused."""

import numpy as np
import pytest

import s2s
from tests.recorded.travels import PROGRAMS


def slope(f, x):
    """The gradient by central differences."""
    steps = np.eye(x.size) * 1e-5
    rows = [(float(f(x + d.reshape(x.shape))) - float(f(x - d.reshape(x.shape)))) / 2e-5 for d in steps]
    return np.reshape(rows, x.shape)


@pytest.mark.grid(0.5)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f, x", PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_right_or_refused(f, x, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")
    wanted = slope(f, x)
    try:
        gradient = s2s.grad(f)(x.copy())
    except s2s.errors.DifferentiationError:
        gradient = wanted
    np.testing.assert_allclose(gradient, wanted, rtol=1e-4, atol=1e-6)
    try:
        tangent = s2s.jvp(f, (x.copy(),), (np.ones_like(x),))[1]
    except s2s.errors.DifferentiationError:
        tangent = np.sum(wanted)
    np.testing.assert_allclose(tangent, np.sum(wanted), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_most_are_right(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")
    right = 0
    for f, x in PROGRAMS:
        try:
            s2s.grad(f)(x.copy())
            right += 1
        except s2s.errors.DifferentiationError:
            continue
    assert right >= 60
