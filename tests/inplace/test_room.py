"""The result of an operation in place must fit into the array: where it does not, derivatives raise as NumPy does."""

import numpy as np
import pytest

import s2s

LONG, ONE, WIDE, COLUMN = np.array([0.1, 0.2, 0.3]), np.array([0.4]), np.arange(9.0).reshape(3, 3), np.ones((3, 1))
TOO_LARGE = [(LONG, WIDE), (LONG, WIDE[:1]), (ONE, LONG), (COLUMN, LONG)]


def added(x, y):
    z = x * 2.0
    z += y
    return np.sum(z * y)


def multiplied(x, y):
    z = x.copy()
    z *= y
    return np.sum(z)


def in_a_loop(x, y):
    z = x.copy()
    for _i in range(2):
        z -= y
    return np.sum(z * z)


def written_out(x, y):
    z = x.copy()
    np.add(z, y, out=z)
    return np.sum(z)


PROGRAMS = [added, multiplied, in_a_loop, written_out]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("x", "y"), TOO_LARGE, ids=lambda a: str(a.shape))
def test_what_does_not_fit_raises(program, x, y):
    with pytest.raises(ValueError, match="non-broadcastable output operand"):
        program(x, y)
    for derivative in (
        lambda: s2s.value_and_grad(program)(x, y),
        lambda: s2s.grad(program, argnums=1)(x, y),
        lambda: s2s.jvp(program, (x, y), (np.ones_like(x), np.ones_like(y))),
        lambda: s2s.jacfwd(program)(x, y),
    ):
        with pytest.raises(ValueError, match="non-broadcastable output operand"):
            derivative()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("x", "y"), [(WIDE, LONG), (WIDE, COLUMN), (LONG, ONE), (WIDE, 2.0)], ids=str)
def test_what_fits_has_its_derivative(program, x, y):
    value, gradient = s2s.value_and_grad(program)(x, y)
    assert np.allclose(value, program(x, y))
    step = 1e-6
    want = np.empty_like(x)
    for place in np.ndindex(x.shape):
        change = np.zeros_like(x)
        change[place] = step
        want[place] = (program(x + change, y) - program(x - change, y)) / (2 * step)
    assert np.allclose(gradient, want, rtol=1e-6, atol=1e-7)


def test_the_error_can_be_caught():
    def program(x, y):
        z = x.copy()
        try:
            z += y
        except ValueError:
            z = z * 3.0
        return np.sum(z)

    assert np.allclose(s2s.grad(program)(LONG, WIDE), 3.0)
    assert np.allclose(s2s.grad(program)(LONG, LONG), 1.0)
