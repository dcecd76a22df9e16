"""Central differences: their directions, and which derivatives agree with them."""

import math

import numpy as np
import pytest

from s2s.errors import NoDerivativeError
from s2s.recorded.differences import agree, drawn_direction


@pytest.mark.parametrize("leaf", [
    2.0, np.float64(-3.0), 1.0 - 2.0j, np.array([2.0, -4.0, 0.0]), np.array([[1.0 + 1.0j], [3.0 - 4.0j], [0.0j]]),
])  # fmt: skip
def test_directions_are_in_proportion_to_the_argument(leaf):
    draws = np.random.default_rng(5)
    direction = drawn_direction(draws, leaf)
    size = np.abs(direction) / np.maximum(np.abs(leaf), 0.01)
    assert np.shape(direction) == np.shape(leaf) and np.all((size >= 0.5 - 1e-12) & (size <= 1.0 + 1e-12))
    assert isinstance(direction, np.ndarray) is isinstance(leaf, np.ndarray)
    if not np.iscomplexobj(leaf):
        assert not np.iscomplexobj(direction)
        return
    assert np.all(size < 1.0) and np.all(np.imag(direction) != 0.0) and np.all(np.real(direction) != 0.0)
    assert not np.array_equal(direction, drawn_direction(draws, leaf))


AT, SLOPE = 0.7, math.cos(0.7)
OTHER, NO_NUMBERS, NO_LIMIT = "a recording gives", "differences are no numbers", "differences have no limit"


def check(f, at, bar, problem, found=None, **options):
    """Hold a derivative of a function of one number against differences; a problem is what the refusal says."""
    value = float(f(np.float64(at)))

    def moved(directions, step):
        return float(f(np.float64(at) + step * directions[0]))

    with np.errstate(all="ignore"):
        if problem is None:
            return agree("f", moved, [at], [bar], (value, abs(value)) if found is None else found, **options)
        with pytest.raises(NoDerivativeError, match=problem):
            agree("f", moved, [at], [bar], (value, abs(value)) if found is None else found, **options)


@pytest.mark.parametrize("f, at, bar, problem", [
    (np.sin, AT, SLOPE, None), (np.sin, AT, SLOPE * 1.0005, None), (np.sin, AT, SLOPE * 0.9995, None),
    (np.sin, AT, SLOPE * 1.01, OTHER), (np.sin, AT, SLOPE * 0.99, OTHER), (np.sin, AT, 0.0, OTHER),
    (np.sin, AT, None, OTHER), (lambda t: 0.0 * t, AT, None, None), (np.sin, AT, -SLOPE, OTHER),
    # A slope that is hardly one is none.
    (lambda t: 5e-13 * t, 1.0, 0.0, None), (lambda t: 5e-12 * t, 1.0, 0.0, OTHER),
    (lambda t: -5e-13 * t, 1.0, 0.0, None), (lambda t: -5e-12 * t, 1.0, 0.0, OTHER),
    # At a kink each slope between those of the sides is right.
    *((np.abs, 0.0, bar, None) for bar in (-1.0, -0.3, 0.0, 0.8, 1.0)), (np.abs, 0.0, 1.1, OTHER),
    (np.abs, 0.0, -1.1, OTHER), (np.abs, 0.0, 1.0005, None), (np.abs, 0.0, -1.0005, None),
    (lambda t: np.maximum(t, 3.0 * t), 0.0, 2.0, None),
    (lambda t: np.maximum(t, 3.0 * t), 0.0, 0.9, OTHER), (lambda t: np.maximum(t, 3.0 * t), 0.0, 3.1, OTHER),
    # Where there are no finite numbers nothing is known.
    (lambda t: t * np.nan, 1.0, 3.0, None), (np.sin, AT, math.nan, None), (np.sqrt, 0.0, 3.0, None),
    (np.sin, AT, math.inf, None),
])
def test_which_derivatives_agree_with_differences(f, at, bar, problem):
    check(f, at, bar, problem)


def without(t):
    return 0.0 if t == 0.0 else 1.0 / t


@pytest.mark.parametrize("f, at, bar, problem", [
    (np.sin, AT, SLOPE, None), (np.sin, AT, SLOPE * 1.0005, None), (np.sin, AT, 1.01 * SLOPE, OTHER),
    (np.sqrt, 0.0, 0.0, NO_LIMIT), (np.sqrt, 0.0, 1.0, NO_LIMIT), (np.cbrt, 0.0, 0.0, NO_LIMIT),
    # A function that is defined on one side has the slope of that.
    (lambda t: np.sqrt(t) ** 2, 0.0, 1.0, None), (lambda t: np.sqrt(t) ** 2, 0.0, 0.0, OTHER),
    (lambda t: np.sqrt(t) ** 2, 0.0, 1.1, OTHER), (lambda t: np.sqrt(-t) ** 2, 0.0, -1.0, None),
    (lambda t: np.sqrt(-t) ** 2, 0.0, 0.0, OTHER), (lambda t: np.sqrt(t) ** 3, 0.0, 0.0, None),
    (lambda t: np.sqrt(t) ** 3, 0.0, 1.0, OTHER), (np.abs, 0.0, 0.4, None), (np.abs, 0.0, 1.2, OTHER),
    # A value in place of one without bound says nothing, a value at one side of a step nothing of that side.
    (without, 0.0, 0.0, None), (without, 0.0, 5.0, None),
    (lambda t: np.where(t > 0.0, 1.0, 0.0), 0.0, 0.0, None), (lambda t: np.where(t > 0.0, 1.0, 0.0), 0.0, 1.0, OTHER),
    (lambda t: np.where(t > 0.0, 1.0, 2.0 * t), 0.0, 2.0, None),
    (lambda t: np.where(t > 0.0, 1.0, 2.0 * t), 0.0, 1.0, OTHER),
    (np.sin, AT, math.nan, NO_NUMBERS), (lambda t: np.where(t == 0.0, 1.0, np.nan), 0.0, 0.0, NO_NUMBERS),
])
def test_which_derivatives_in_doubt_agree_with_differences(f, at, bar, problem):
    check(f, at, bar, problem, doubtful=[1.0])


def test_what_may_be_right_instead_limits_how_far_a_derivative_is_off():
    near = 1.0004 * SLOPE
    check(np.sin, AT, near, None, doubtful=[1.0])
    check(np.sin, AT, near, OTHER, doubtful=[1.0], others=[SLOPE])
    check(np.sin, AT, near, None, doubtful=[1.0], others=[3.0 * SLOPE])
    check(np.sin, AT, SLOPE, None, doubtful=[1.0], others=[near])
    check(np.sin, AT, near, OTHER, doubtful=[1.0], relative=1e-5)
    check(np.sin, AT, near, OTHER, relative=1e-5)
    check(np.sin, AT, 1.005 * SLOPE, None, relative=1e-2)


def test_only_what_is_in_doubt_moves():
    leaves, bars = [np.array([2.0, 3.0]), 5.0], [np.array([3.0, 7.0]), None]  # 7.0 should be 2.0, and None 6.0
    moved = []

    def weighted(directions, step):
        moved.append(directions)
        (x, y), z = np.array(leaves[0]) + step * directions[0], leaves[1] + step * directions[1]
        return float(x * y + 6.0 * z)

    agree("f", weighted, leaves, bars, (36.0, 36.0), [np.array([1.0, 0.0]), 0.0])
    assert moved and all(d[0][0] > 0.0 == d[0][1] == d[1] for d in moved)
    for doubtful in ([np.array([0.0, 1.0]), 0.0], [np.array([1.0, 0.0]), 1.0], None):
        with pytest.raises(NoDerivativeError, match=OTHER):
            agree("f", weighted, leaves, bars, (36.0, 36.0), doubtful)


def test_a_function_that_cannot_run_again_is_not_checked():
    check(np.sin, AT, 0.0, "gives another result", found=(math.sin(AT) + 1e-3, 1.0))

    def failing(directions, step):
        raise ValueError("once only")

    with pytest.raises(NoDerivativeError, match="cannot be held against differences"):
        agree("f", failing, [AT], [SLOPE], (1.0, 1.0))
