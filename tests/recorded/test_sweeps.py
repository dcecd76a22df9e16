"""The sweeps over the operations of a recording."""

import math
import operator

import numpy as np
import pytest

import s2s
from s2s.recorded.recorder import Arithmetic, Recorder
from s2s.recorded.sweeps import Backward, Forward

A, B = 1.7, 2.3
OPERATIONS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg, operator.pos]


def tangent(op, a, b, dots, is_strong):
    """Push tangents of two numbers through one operation."""
    recorder = Recorder()
    out = op(a) if b is None else op(a, b)
    recorder.steps.append(Arithmetic(op, a, b, 0, 1, out, 2))
    sweep = Forward(recorder, has_strong_zeros=is_strong)
    for slot, dot in enumerate(dots):
        sweep.set(slot, dot) if dot is not None else None
    sweep.run()
    return sweep.value(2)


@pytest.mark.parametrize("is_strong", [False, True])
@pytest.mark.parametrize("op", OPERATIONS)
def test_tangents_of_operators(op, is_strong):
    is_unary = op in (operator.neg, operator.pos)
    step = 1e-6
    for dots in [(1.5, None), (-0.5, 0.0)] + ([] if is_unary else [(None, 0.7), (0.0, 0.7), (1.5, -0.4)]):
        one, other = (step * (dot or 0.0) for dot in dots)
        given = [(A + one,), (A - one,)] if is_unary else [(A + one, B + other), (A - one, B - other)]
        wanted = (op(*given[0]) - op(*given[1])) / (2.0 * step)
        found = tangent(op, A, None if is_unary else B, dots if not is_unary else (dots[0], None), is_strong)
        assert np.isclose(found, wanted, rtol=1e-7)
    assert tangent(op, A, None if is_unary else B, (None, None), is_strong) is None
    assert tangent(op, A, None if is_unary else B, (0.0, None), is_strong) == 0.0


def test_tangents_that_are_zero_do_not_meet_slopes_that_are_inf():
    assert tangent(operator.mul, A, math.inf, (0.0, None), True) == 0.0
    assert tangent(operator.mul, A, math.inf, (0.0, 2.0), True) == 2.0 * A
    assert math.isnan(tangent(operator.mul, A, math.inf, (0.0, None), False))
    assert math.isnan(tangent(operator.mul, A, math.inf, (0.0, 2.0), False))


def cotangents(op, a, b, bar, is_strong, refs=(0, 1)):
    """Pull a cotangent back through one operation to both of its operands."""
    recorder = Recorder()
    recorder.has_strong_zeros = is_strong
    out = op(a) if b is None else op(a, b)
    recorder.steps.append(Arithmetic(op, a, b, *refs, out, 2))
    sweep = Backward(recorder)
    if bar is not None:
        sweep.add(2, bar)
    sweep.run()
    assert sweep.value(2) is None
    return sweep.value(0), sweep.value(1)


@pytest.mark.parametrize("is_strong", [False, True])
@pytest.mark.parametrize("op", OPERATIONS)
def test_cotangents_of_operators(op, is_strong):
    step, count = 1e-6, 1 if op in (operator.neg, operator.pos) else 2
    given = (A, B)[:count]
    for place in range(count):
        up, down = ([x + sign * step * (k == place) for k, x in enumerate(given)] for sign in (1, -1))
        slope = (op(*up) - op(*down)) / (2.0 * step)
        for refs in ((0, 1), (0, None), (None, 1)):
            refs = refs if count == 2 else (refs[0], None)
            found = cotangents(op, A, B if count == 2 else None, -0.6, is_strong, refs)[place]
            assert found is None if refs[place] is None else np.isclose(found, -0.6 * slope, rtol=1e-7)
    assert cotangents(op, A, B if count == 2 else None, None, is_strong) == (None, None)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("op, a, b", [
    (operator.mul, A, math.inf), (operator.mul, math.inf, B), (operator.truediv, 1e300, 1e-300),
    (operator.truediv, A, 0.0), (operator.pow, 10.0, 400.0), (operator.pow, 0.0, -1.5),
])
def test_cotangents_that_are_zero_do_not_meet_slopes_that_are_inf(op, a, b):
    a, b = np.float64(a), np.float64(b)
    assert cotangents(op, a, b, 0.0, True) == (0.0, 0.0)
    assert np.isnan(cotangents(op, a, b, 0.0, False)).any()
    assert not np.isfinite(cotangents(op, a, b, 2.0, True)).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("large", [
    lambda y: np.float64(10.0) ** y, lambda y: y ** np.float64(1000.0),
    lambda y: np.float64(1e300) / (y * np.float64(1e-150)), lambda y: y / np.float64(0.0),
])
def test_what_is_not_chosen_has_no_part_in_second_derivatives(large, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")

    def f(x):
        y = x[0]
        return np.where(y < 0.0, large(y), 2.0 * y * y)

    np.testing.assert_array_equal(s2s.grad(f)(np.array([400.0])), [1600.0])
    np.testing.assert_array_equal(s2s.hessian(f)(np.array([400.0])), [[4.0]])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f, slope, curvature", [
    (lambda x: np.where(x > 0.0, np.sqrt(x), x * x), 0.25, -1.0 / 32.0),
    (lambda x: np.where(x > 0.0, np.log(x) * np.sqrt(x), x * x), (1.0 + np.log(2.0)) / 2.0, -np.log(4.0) / 32.0),
    (lambda x: np.where(x > 0.0, np.arctan2(np.sqrt(x), np.ones(2)), x * x), 0.05, -0.01625),
])
def test_a_mask_leaves_out_functions_of_negative_numbers(f, slope, curvature, monkeypatch):
    """What is NaN there reaches neither the gradient nor the second derivatives."""
    monkeypatch.setenv("S2S_RECORDED", "always")
    x = np.array([-1.0, 4.0])
    np.testing.assert_allclose(s2s.grad(lambda x: np.sum(f(x)))(x), [-2.0, slope], rtol=1e-14)
    np.testing.assert_allclose(s2s.hessian(lambda x: np.sum(f(x)))(x), np.diag([2.0, curvature]), rtol=1e-13)


@pytest.mark.parametrize("f, slope, curvature", [
    (lambda x: math.modf(3.0 * x)[0] ** 2 + math.modf(3.0 * x)[1] * x, 6.0 * 0.9 + 3.0, 18.0),
    (lambda x: np.modf(3.0 * x)[0] ** 2 + np.modf(3.0 * x)[1] * x, 6.0 * 0.9 + 3.0, 18.0),
    (lambda x: divmod(x, 0.4)[0] * x + divmod(x, 0.4)[1] ** 2, 3.0 + 2.0 * 0.1, 2.0),
    (lambda x: np.divmod(x, 0.4)[0] * x + np.divmod(x, 0.4)[1] ** 2, 3.0 + 2.0 * 0.1, 2.0),
])  # fmt: skip
def test_whole_parts_and_quotients_have_the_derivative_zero(f, slope, curvature, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")
    assert np.isclose(s2s.grad(f)(1.3), slope) and np.isclose(s2s.jvp(f, (1.3,), (2.0,))[1], 2.0 * slope)
    assert np.isclose(s2s.hessian(f)(1.3), curvature)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("count, is_filled", [(1, True), (99, True), (100, False)])
def test_cotangents_that_cancel_are_those_of_tangents_up_to_a_number_of_them(count, is_filled, monkeypatch):
    """The least number has inf - inf at each cotangent, and all others at one that is inf."""
    monkeypatch.setenv("S2S_RECORDED", "always")

    def f(x):
        return 3.0 * np.sum(x[3:]) - np.sum(x[3:]) + np.sum((x[:3] - np.min(x[:3])) ** 0.3)

    _, pullback = s2s.vjp(f, np.append([0.3, 0.5, 1.0], np.ones(count)))
    second, third = 0.3 * 0.2**-0.7, 0.3 * 0.7**-0.7
    np.testing.assert_allclose(pullback(1.0)[0], [-second - third, second, third, *np.full(count, 2.0)], rtol=1e-12)
    ends = (-np.inf, np.inf) if is_filled else (np.nan, np.nan)
    np.testing.assert_array_equal(pullback(np.inf)[0], [ends[0], np.inf, np.inf, *np.full(count, ends[1])])
