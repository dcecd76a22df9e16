"""The result of an operation in place must fit into the array: where it does not, derivatives raise as NumPy does."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

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


def by_the_rest(x):
    z = np.outer(x, np.array([2.0]))
    z *= x[2:]
    return np.sum(z)


def by_a_selection(x):
    z = np.outer(x, np.array([2.0]))
    z -= x[x > 0.6]
    return np.sum(z * z)


def caught(x):
    z = np.outer(x, np.array([2.0]))
    try:
        z *= x[2:]
    except ValueError:
        z = z * 3.0
    return np.sum(z)


@pytest.mark.parametrize("program", [by_the_rest, by_a_selection, caught], ids=lambda f: f.__name__)
def test_whether_it_fits_may_depend_on_the_lengths_of_the_call(program):
    """In any order of calls: what a version was made for says nothing of the lengths of the next one."""
    fitting, too_large = np.array([0.3, 0.5, 0.7]), np.array([0.3, 0.5, 0.7, 0.9])
    for order in ((fitting, too_large, fitting), (too_large, fitting)):
        gradient, along = s2s.grad(program), s2s.jacfwd(program)
        for x in order:
            if x is too_large and program is not caught:
                for derivative in (program, gradient, along):
                    with pytest.raises(ValueError, match="non-broadcastable output operand"):
                        derivative(x)
            else:
                want = differences(program, x)
                np.testing.assert_allclose(gradient(x), want, rtol=1e-6, atol=1e-8)
                np.testing.assert_allclose(along(x), want, rtol=1e-6, atol=1e-8)
