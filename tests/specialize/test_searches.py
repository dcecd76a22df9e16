"""Loops that find a point by comparisons: they have the derivative of the equation that they compare, or are refused.
Expected derivatives are central differences of the search itself."""

import math
import warnings

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError, NoDerivativeError

X = np.array([0.7, 1.3, 2.1])
P = np.array([2.0, 3.0, 5.0])


def differences(f, x, h=1e-5):
    x = np.asarray(x, float)
    steps = h * np.eye(x.size).reshape(x.size, *x.shape)
    return np.reshape([(f(x + e) - f(x - e)) / (2 * h) for e in steps], x.shape)


# --- points that are found ------------------------------------------------------------------------------------------


def bisected(a):
    lo, hi = 0.0, 4.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if mid * mid > a:
            hi = mid
        else:
            lo = mid
    return 0.5 * (lo + hi)


def bisected_while(a):
    lo, hi = 0.0, a + 1.0
    while hi - lo > 1e-13:
        mid = 0.5 * (lo + hi)
        if mid * mid > a:
            hi = mid
        else:
            lo = mid
    return lo


def bisected_by_sign(a):
    lo, hi = 0.0, 4.0
    at_lo = lo**2 - a
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        at_mid = mid**2 - a
        if at_mid == 0:
            break
        if at_lo * at_mid < 0:
            hi = mid
        else:
            lo, at_lo = mid, at_mid
    return (lo + hi) / 2


def bisect(f, lo, hi):
    at_lo = f(lo)
    while abs(hi - lo) > 1e-13:
        mid = (lo + hi) / 2
        at_mid = f(mid)
        if at_lo * at_mid <= 0:
            hi = mid
        else:
            lo = mid
            at_lo = at_mid
    return (lo + hi) / 2


def bisected_by_helper(a):
    return a * bisect(lambda x: x**3 - a, 0.0, 5.0)


def golden(a):
    g, lo, hi = 0.6180339887498949, 0.0, 4.0
    f = lambda x: (x - a) ** 2
    c, d = hi - g * (hi - lo), lo + g * (hi - lo)
    at_c, at_d = f(c), f(d)
    for _ in range(60):
        if at_c < at_d:
            hi, d, at_d = d, c, at_c
            c = hi - g * (hi - lo)
            at_c = f(c)
        else:
            lo, c, at_c = c, d, at_d
            d = lo + g * (hi - lo)
            at_d = f(d)
    return 0.5 * (lo + hi)


def ternary(a):
    lo, hi = 0.0, 4.0
    for _ in range(60):
        left, right = lo + (hi - lo) / 3, hi - (hi - lo) / 3
        if (left - a) ** 2 < (right - a) ** 2:
            hi = right
        else:
            lo = left
    return lo


def by_digits(a):
    y, step = 0.0, 2.0
    for _ in range(60):
        step *= 0.5
        if (y + step) ** 2 <= a:
            y += step
    return y


def bisected_many(a):
    lo, hi = np.zeros_like(a), 4.0 * np.ones_like(a)
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        above = mid * mid > a
        hi = np.where(above, mid, hi)
        lo = np.where(above, lo, mid)
    return np.sum(lo)


def bisected_by_masks(a):
    lo, hi = np.zeros(3), np.full(3, 4.0)
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        above = mid * mid > a
        hi[above] = mid[above]
        lo[~above] = mid[~above]
    return np.sum(lo)


def bisected_by_copies(a):
    lo, hi = np.zeros(3), np.full(3, 4.0)
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        above = mid * mid > a
        np.copyto(hi, mid, where=above)
        np.copyto(lo, mid, where=~above)
    return np.sum(lo)


def bisected_item_by_item(a):
    lo, hi = np.zeros(3), np.full(3, 4.0)
    for i in range(3):
        for _ in range(60):
            mid = 0.5 * (lo[i] + hi[i])
            if mid * mid > a[i]:
                hi[i] = mid
            else:
                lo[i] = mid
    return np.sum(lo)


def bisected_in_rows(a):
    ends = np.array([[0.0, 4.0], [0.0, 4.0]])
    for k in range(2):
        row = ends[k]
        for _ in range(60):
            mid = 0.5 * (row[0] + row[1])
            row[int(mid * mid > a[k])] = mid
    return np.sum(ends[:, 0])


def bisected_until_done(a):
    lo, hi, left, x = np.zeros(3), np.full(3, 4.0), np.zeros(3), np.full(3, 2.0)
    going = np.ones(3, bool)
    while going.any():
        left[going] = (x * x - a)[going]
        np.copyto(hi, x, where=(left > 0) & going)
        np.copyto(lo, x, where=(left <= 0) & going)
        np.copyto(x, 0.5 * (lo + hi), where=going)
        going = hi - lo > 1e-6
    return np.sum(x)


def on_a_curve(x):
    """The height of a Bezier curve at x."""
    lo, hi = 0.0, 1.0
    while hi - lo > 1e-13:
        t = (lo + hi) / 2
        if 0.6 * t * (1 - t) ** 2 + 2.1 * t * t * (1 - t) + t**3 < x:
            lo = t
        else:
            hi = t
    return 0.3 * lo * (1 - lo) ** 2 + lo**3


def kepler(p):
    """The eccentric anomaly for a mean anomaly and an eccentricity."""
    mean, eccentricity = p[0], p[1]
    lo, hi = 0.0, 7.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if mid - eccentricity * np.sin(mid) > mean:
            hi = mid
        else:
            lo = mid
    return lo


def normal(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def call(spot, strike, time, rate, vol):
    a = (math.log(spot / strike) + (rate + 0.5 * vol * vol) * time) / (vol * math.sqrt(time))
    return spot * normal(a) - strike * math.exp(-rate * time) * normal(a - vol * math.sqrt(time))


def implied_volatility(x):
    lo, hi = 1e-4, 5.0
    while hi - lo > 1e-13:
        mid = (lo + hi) / 2
        if call(100.0 + x[1], 100.0, 0.5 + 0.1 * x[2], 0.02, mid) > 8.0 + x[0]:
            hi = mid
        else:
            lo = mid
    return 0.5 * (lo + hi)


def root_of_polynomial(c):
    def p(x):
        return ((x + c[2]) * x - c[1]) * x - 5.0 * c[0]

    a, b = 0.0, 10.0
    fa = p(a)
    for _ in range(100):
        m = 0.5 * (a + b)
        fm = p(m)
        if fa * fm <= 0:
            b = m
        else:
            a, fa = m, fm
    return m


def with_break(c):
    a, b = 0.0, 10.0
    for _ in range(200):
        m = 0.5 * (a + b)
        fm = m**3 - c[0] * m - c[1]
        if abs(fm) < 1e-13 or (b - a) < 1e-13:
            break
        if fm > 0:
            b = m
        else:
            a = m
    return m * c[2]


def with_return(c):
    a, b = 0.0, 10.0
    for _ in range(60):
        m = 0.5 * (a + b)
        fm = m**3 - c[0] * m - c[1]
        if abs(fm) < 1e-13:
            return m
        if fm > 0:
            b = m
        else:
            a = m
    return 0.5 * (a + b)


def from_numbers_to_arrays(a):
    lo, hi = 0.0, 4.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        above = mid**2 > a
        hi = np.where(above, mid, hi)
        lo = np.where(above, lo, mid)
    return np.sum(lo * a)


def middle_of_arrays(a):
    lo, hi = np.zeros(3), np.full(3, 4.0)
    for _ in range(60):
        mid = (lo + hi) / 2
        f = mid * np.exp(mid) - a
        lo = np.where(f < 0, mid, lo)
        hi = np.where(f < 0, hi, mid)
    return np.sum(mid**2)


def in_a_list(a):
    bracket = [0.0, 4.0]
    for _ in range(60):
        mid = 0.5 * (bracket[0] + bracket[1])
        if mid * mid > a[0] * a[1]:
            bracket[1] = mid
        else:
            bracket[0] = mid
    return bracket[0]


def decreasing(a):
    """An internal rate of return."""
    lo, hi = 0.0, 50.0
    while hi - lo > 1e-12:
        mid = 0.5 * (lo + hi)
        if sum(a[k] * 10 / (1 + mid) ** (k + 1) for k in range(3)) - 20 > 0:
            lo = mid
        else:
            hi = mid
    return (lo + hi) / 2


def by_equal_signs(a):
    lo, hi = 0.0, 4.0
    at_lo = np.sign(lo**3 - a[0] * a[2])
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if np.sign(mid**3 - a[0] * a[2]) == at_lo:
            lo = mid
        else:
            hi = mid
    return mid


def on_the_same_side(a):
    f = lambda x: x**3 - a[0] * a[2]
    lo, hi = 0.0, 4.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if (f(mid) > 0) == (f(lo) > 0):
            lo = mid
        else:
            hi = mid
    return mid


def by_width(a):
    f = lambda x: np.cos(x) * a[0] - x * a[1]
    x, dx = (0.0, 3.0) if f(0.0) < 0.0 else (3.0, -3.0)
    for _ in range(60):
        dx *= 0.5
        mid = x + dx
        if f(mid) <= 0.0:
            x = mid
        if abs(dx) < 1e-14:
            break
    return x


def in_a_moving_bracket(a):
    lo, hi = 0.0, 3.0 * a[1]
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if mid**2 > a[0]:
            hi = mid
        else:
            lo = mid
    return lo


def one_after_the_other(a):
    r = bisect(lambda x: x**3 + a[0] * x - a[1], 0.0, 5.0)
    return r + bisect(lambda x: x * x - r * a[2], 0.0, 9.0)


class Solver:
    def __init__(self, k):
        self.k, self.lo, self.hi = k, 0.0, 10.0

    def f(self, x):
        return x * np.exp(x) - self.k

    def solve(self):
        for _ in range(70):
            mid = (self.lo + self.hi) / 2
            if self.f(mid) < 0:
                self.lo = mid
            else:
                self.hi = mid
        return self.lo


def in_attributes(a):
    return Solver(a[0] * a[1]).solve()


def one_in_the_other(a):
    def inner(y):
        lo, hi = 0.0, 5.0
        for _ in range(60):
            m = 0.5 * (lo + hi)
            if m**3 + m > y * a[0]:
                hi = m
            else:
                lo = m
        return lo

    lo, hi = 0.0, 5.0
    for _ in range(60):
        m = 0.5 * (lo + hi)
        if inner(m) + m > a[1]:
            hi = m
        else:
            lo = m
    return lo


def implicit_steps(a):
    y, total = a[0], 0.0
    for _ in range(4):
        lo, hi = 0.0, 8.0
        for _ in range(60):
            m = 0.5 * (lo + hi)
            if m + 0.1 * m**3 > y:
                hi = m
            else:
                lo = m
        y = lo + a[1]
        total += y * a[2]
    return total


def each_item(a):
    out = np.zeros(3)
    for i in range(3):
        lo, hi = 0.0, 4.0
        for _ in range(60):
            mid = 0.5 * (lo + hi)
            if mid * mid > a[i]:
                hi = mid
            else:
                lo = mid
        out[i] = lo
    return np.sum(out)


def compared_with_a_sum(a):
    lo, hi = 0.0, 4.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        s = 0.0
        for k in range(3):
            s += a[k] * mid ** (k + 1)
        if s > 6.0:
            hi = mid
        else:
            lo = mid
    return hi


def at_the_point_before(a):
    lo, hi, x = 0.0, 4.0, 1.0
    for _ in range(60):
        if x * x > a[0]:
            hi = x
        else:
            lo = x
        x = 0.5 * (lo + hi)
    return x


def chosen_as_a_tuple(a):
    lo, hi = 0.0, 4.0
    for _ in range(60):
        mid = (lo + hi) / 2
        lo, hi = (lo, mid) if mid**2 > a[0] * a[1] else (mid, hi)
    return lo


def narrowed_by_a_helper(a):
    def narrowed(lo, hi):
        mid = (lo + hi) / 2
        if mid**2 > a[0]:
            return lo, mid
        return mid, hi

    lo, hi = 0.0, 4.0
    for _ in range(60):
        lo, hi = narrowed(lo, hi)
    return hi


def compared_twice(a):
    lo, hi = 0.0, 4.0
    for _ in range(60):
        mid = (lo + hi) / 2
        lo = lo if mid**2 > a[0] else mid
        hi = mid if mid**2 > a[0] else hi
    return lo


FOUND = [
    (bisected, 2.0), (bisected_while, 2.0), (bisected_by_sign, 2.0), (bisected_by_helper, 2.0), (by_digits, 2.0),
    (bisected_many, np.array([1.0, 2.0])), (on_a_curve, 0.4), (kepler, np.array([1.0, 0.3])),
    (implied_volatility, np.array([0.3, 0.2, 0.5])),
    *((f, X) for f in (
        root_of_polynomial, with_break, with_return, from_numbers_to_arrays, middle_of_arrays, in_a_list, decreasing,
        by_equal_signs, on_the_same_side, by_width, in_a_moving_bracket, one_after_the_other, in_attributes,
        implicit_steps, each_item, compared_with_a_sum, at_the_point_before,
        chosen_as_a_tuple, narrowed_by_a_helper, compared_twice)),
    pytest.param(one_in_the_other, X, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("f, x", FOUND)
def test_the_derivative_is_that_of_the_point(f, x, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    expected = differences(f, x)
    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.SearchWarning)
        np.testing.assert_allclose(s2s.grad(f)(x), expected, rtol=1e-5, atol=1e-8)
        direction = np.ones_like(x) if np.ndim(x) else 1.0
        value, tangent = s2s.jvp(f, (x,), (direction,))
    assert value == f(x)
    np.testing.assert_allclose(tangent, np.sum(expected * direction), rtol=1e-5)


@pytest.mark.parametrize("f, x", [(kepler, np.array([1.0, 0.3])), (middle_of_arrays, X), (in_a_list, X)])
def test_second_derivatives_of_points(f, x):
    expected = [differences(lambda y, i=i: s2s.grad(f)(y)[i], x) for i in range(len(x))]
    np.testing.assert_allclose(s2s.hessian(f)(x), expected, rtol=1e-5, atol=1e-7)


def root_beside(a, b):
    lo, hi = 0.0, 7.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if mid * mid > b:
            hi = mid
        else:
            lo = mid
    return lo * a * a


def test_by_what_was_constant_in_the_first_derivative():
    mixed = s2s.grad(s2s.grad(root_beside, 0), 1)
    assert mixed(1.5, 0.3) == pytest.approx(1.5 / math.sqrt(0.3), rel=1e-9)


def test_a_point_whose_derivative_nobody_reads():
    def f(a):
        lo, hi = 0.0, 0.5
        for _ in range(60):
            mid = 0.5 * (lo + hi)
            if mid * mid > a:
                hi = mid
            else:
                lo = mid
        return a**2 * int(lo > 0.2)

    assert s2s.grad(f)(0.7) == pytest.approx(1.4)


# --- what is refused ------------------------------------------------------------------------------------------------


def with_a_value_made_inside(c):
    a, b, total = 0.0, 10.0, 0.0
    for _ in range(60):
        m = 0.5 * (a + b)
        total += m
        if m**3 - c > 0:
            b = m
        else:
            a = m
    return total


def with_two_equations(a):
    lo, hi = 0.0, 4.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if mid * mid > a and mid > 0.1 * a:
            hi = mid
        else:
            lo = mid
    return lo


def with_an_equation_that_moves(a):
    lo, hi = 0.0, 4.0
    for k in range(60):
        mid = 0.5 * (lo + hi)
        if mid * mid > a + 1.0 / (k + 1):
            hi = mid
        else:
            lo = mid
    return lo


def with_a_changing_array(a):
    work, lo, hi = np.zeros(2), 0.0, 4.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        work[0] = mid * mid
        if work[0] > a:
            hi = mid
        else:
            lo = mid
    return lo


def in_a_tuple(a):
    bracket = 0.0, 4.0
    for _ in range(60):
        mid = sum(bracket) / 2
        bracket = (bracket[0], mid) if mid * mid > a else (mid, bracket[1])
    return bracket[1]


def with_a_method_of_no_rule(a):
    lo, hi = 0.0, 4.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if float(str(mid)) > a:
            hi = mid
        else:
            lo = mid
    return lo


def for_an_eigenvalue_by_counting(d):
    lo, hi = 0.0, 10.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        q, below = 1.0, 0
        for k in range(2):
            q = d[k] - mid - 0.25 * k / q
            if q < 0.0:
                below += 1
        if below >= 1:
            hi = mid
        else:
            lo = mid
    return mid * np.sum(d)


def for_a_weighted_median(a):
    w, lo, hi = a**2, 0.0, 10.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if np.sum(np.where(a < mid, w, 0.0)) > 0.5 * np.sum(w):
            hi = mid
        else:
            lo = mid
    return hi * np.sum(a)


def for_a_median(a):
    lo, hi = np.min(a), np.max(a)
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if np.sum(a <= mid) >= 2:
            hi = mid
        else:
            lo = mid
    return hi * np.sum(a)


def for_a_jump(a):
    step = lambda x: 1.0 if x > a else 0.0
    lo, hi = 0.0, 4.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if step(mid) - 0.5 > 0.0:
            hi = mid
        else:
            lo = mid
    return mid * a


def by_iterations_of_a_loop(a):
    lo, hi = 0.0, 4.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        y, count = mid * a, 0
        while y > 1.0:
            y, count = 0.5 * y, count + 1
        if count > 1:
            hi = mid
        else:
            lo = mid
    return mid * a


def by_an_exception(a):
    lo, hi = 0.0, 4.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        try:
            np.linalg.cholesky(a * np.array([[2.0, 1.0], [1.0, 2.0]]) - mid * np.eye(2))
            lo = mid
        except np.linalg.LinAlgError:
            hi = mid
    return lo * a


COUNTED = [
    (for_an_eigenvalue_by_counting, P), (for_a_weighted_median, P), (for_a_median, P), (for_a_jump, 2.0),
    (by_iterations_of_a_loop, 2.0), (by_an_exception, 2.0),
]


@pytest.mark.parametrize("f, x", COUNTED)
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd])
def test_searches_by_counting_and_by_exceptions_are_refused(f, x, derivative):
    with pytest.raises(NoDerivativeError) as caught:
        derivative(f)(x)
    assert caught.value.diagnostic.code == "S2S548"


REFUSED = [
    (golden, 2.0), (ternary, 2.0), (bisected_by_masks, P), (bisected_by_copies, P), (bisected_item_by_item, P),
    (bisected_in_rows, P), (bisected_until_done, P), (with_a_value_made_inside, 2.0), (with_two_equations, 2.0),
    (with_an_equation_that_moves, 2.0), (with_a_changing_array, 2.0), (in_a_tuple, 2.0),
    (with_a_method_of_no_rule, 2.0),
]


@pytest.mark.parametrize("f, x", REFUSED)
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd])
def test_searches_of_no_known_equation_are_refused(f, x, derivative):
    with pytest.raises(NoDerivativeError) as caught:
        derivative(f)(x)
    problem = caught.value.diagnostic
    assert problem.code == "S2S548" and problem.span.file == __file__
    assert f.__code__.co_firstlineno < problem.span.line < f.__code__.co_firstlineno + 9
    assert str(caught.value).startswith(
        f"`{f.__name__}` finds a point by comparisons that are not known to solve an equation [S2S548]")
    assert f"write `s2s.implicit({f.__name__}, residual)` in its place" in str(caught.value)
    assert 's2s.nonsmooth(search="zero")' in str(caught.value)


@pytest.mark.parametrize("f, x", [(golden, 2.0), (bisected, 2.0), (bisected_by_masks, P)])
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd])
def test_a_policy_for_the_derivative_of_the_iterations(f, x, derivative):
    with s2s.nonsmooth(search="zero"), pytest.warns(s2s.SearchWarning) as caught:
        assert not np.any(derivative(lambda v: f(v))(x))
    (warning,) = caught
    assert f"`{f.__name__}` finds a point by comparisons" in str(warning.message) and warning.filename == __file__
    assert f.__code__.co_firstlineno < warning.lineno < f.__code__.co_firstlineno + 9


def test_a_policy_in_the_program():
    def f(a):
        with s2s.nonsmooth(search="zero"):
            x = bisected(a)
        return x * bisected(a)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.SearchWarning)
        assert s2s.grad(f)(2.0) == pytest.approx(0.5)


def test_the_policies_for_searches():
    with pytest.raises(ArgumentError, match="the policy 'sigmoid' does not apply to `search`"):
        s2s.nonsmooth(search="sigmoid")


def without_a_root_in_the_bracket(a):
    lo, hi = 0.0, 0.5
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if mid * mid > a:
            hi = mid
        else:
            lo = mid
    return lo


@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd])
def test_a_point_that_solves_no_equation(derivative):
    assert derivative(without_a_root_in_the_bracket)(0.09) == pytest.approx(1.0 / 0.6)
    with pytest.raises(NoDerivativeError, match="the point that this search has found does not solve the equation"):
        derivative(without_a_root_in_the_bracket)(0.7)


def test_items_that_are_no_equations_of_their_own():
    def f(a):
        lo, hi = np.zeros(3), np.full(3, 4.0)
        for _ in range(60):
            mid = 0.5 * (lo + hi)
            above = mid + 1e-9 * np.cumsum(mid) + 0.1 * mid[::-1] > a
            hi = np.where(above, mid, hi)
            lo = np.where(above, lo, mid)
        return np.sum(lo)

    with pytest.raises(NoDerivativeError):
        s2s.grad(f)(P)


def test_what_the_refusal_says_to_do():
    root = s2s.implicit(golden, lambda x, a: x - a)
    assert s2s.grad(root)(2.0) == pytest.approx(1.0)


# --- loops that are no searches -------------------------------------------------------------------------------------


def newton(a):
    x = 1.0
    while abs(x * x - a) > 1e-9:
        x = x - (x * x - a) / (2 * x)
    return x


def guarded_newton(a):
    lo, hi, x = 0.0, 4.0, 1.0
    for _ in range(30):
        f = x * x - a
        if f > 0:
            hi = x
        else:
            lo = x
        new = x - f / (2 * x)
        x = new if lo < new < hi else 0.5 * (lo + hi)
    return x


def secant(a):
    x, y = 1.0, 2.0
    for _ in range(6):
        f, g = x * x - a, y * y - a
        if abs(g - f) < 1e-14:
            break
        x, y = y, y - g * (y - x) / (g - f)
    return y


def false_position(a):
    lo, hi = 0.0, 4.0
    for _ in range(40):
        mid = lo - (lo * lo - a) * (hi - lo) / ((hi * hi - a) - (lo * lo - a))
        if mid * mid > a:
            hi = mid
        else:
            lo = mid
    return mid


def running_maximum(x):
    best = x[0]
    for v in x:
        if v > best:
            best = v
    return best


def place_of_maximum(x):
    best, k = x[0], 0
    for i in range(len(x)):
        if x[i] > best:
            best, k = x[i], i
    return x[k] * 2


def clipped(x):
    for _ in range(5):
        x = 1.5 * x
        if x > 2.0:
            x = 2.0
    return x


def clipped_at(a):
    x = 5.0
    for _ in range(5):
        x = x * 1.1
        if x > a:
            x = a
    return x


def damped(a):
    x = 5.0
    for _ in range(5):
        if x > a:
            x = 0.5 * x
    return x


def line_search(x):
    slope, t = 2 * x, 1.0
    while (x - t * slope) ** 2 > x * x - 0.5 * t * slope * slope:
        t *= 0.5
    return (x - t * slope) ** 2


def line_search_with_break(x):
    slope, t = 2 * x, 1.0
    for _ in range(20):
        if (x - t * slope) ** 2 <= x * x - 0.5 * t * slope * slope:
            break
        t *= 0.5
    return (x - t * slope) ** 2


def thermostat(goal):
    t = 10.0
    for _ in range(50):
        if t < goal:
            t += 0.1 * (30 - t)
        else:
            t += 0.1 * (10 - t)
    return t * goal


def cell_by_bisection(x):
    grid = np.linspace(0, 4, 9)
    lo, hi = 0, 8
    while hi - lo > 1:
        mid = (lo + hi) // 2
        if grid[mid] > x:
            hi = mid
        else:
            lo = mid
    return (x - grid[lo]) / (grid[hi] - grid[lo])


def adaptive(x):
    t, h = 0.0, 0.1
    while t < 1.0:
        y = x - h * x
        z = x + 0.5 * h * (-x - y)
        if abs(z - y) < 1e-2:
            t, x = t + h, z
        else:
            h = 0.5 * h
    return x


def leaky(w):
    h = np.ones(3)
    for _ in range(4):
        h = np.where(w * h > 0, w * h, 0.1 * h)
    return np.sum(h)


def bouncing(g):
    y, v = 1.0, 0.0
    for _ in range(50):
        v -= 0.05 * g
        y += 0.05 * v
        if y < 0:
            y, v = 0.0, -0.8 * v
    return y


def least_of_many(a):
    best = 1e9
    for k in range(20):
        e = (0.2 * k - a) ** 2
        if e < best:
            best = e
    return best


def running_maxima(x):
    best = np.zeros(3)
    for k in range(4):
        candidate = k * x - x * x
        better = candidate > best
        best[better] = candidate[better]
    return np.sum(best)


def reflected(x):
    place, speed = np.array([0.1, 0.2, 0.3]), np.array([1.0, 0.5, -0.3])
    for _ in range(9):
        place = place + 0.1 * speed * x
        outside = place > x[0]
        speed[outside] = -speed[outside]
        place[outside] = 2.0 * x[0] - place[outside]
    return np.sum(place)


def newton_by_masks(a):
    x, going = np.ones(3), np.ones(3, bool)
    for _ in range(9):
        f = x * x - a
        x[going] = x[going] - f[going] / (2.0 * x[going])
        going = np.abs(f) > 1e-12
    return np.sum(x)


def sorted_by_swaps(x):
    y = x.copy()
    for _ in range(3):
        for j in range(2):
            if y[j] > y[j + 1]:
                y[j], y[j + 1] = y[j + 1], y[j]
    return np.sum(y * np.arange(3.0))


def switched(x):
    warmth, on = np.full(3, 2.0), np.zeros(3)
    for _ in range(9):
        on[warmth < x] = 1.0
        on[warmth > x + 1.0] = 0.0
        warmth = warmth + 0.1 * (on * x - 0.1 * warmth)
    return np.sum(warmth)


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f, x", [
    (newton, 2.0), (guarded_newton, 2.0), (secant, 2.0), (false_position, 2.0), (running_maximum, X),
    (place_of_maximum, X), (clipped, 0.7), (clipped_at, 6.0), (damped, 3.0), (line_search, 1.0),
    (line_search_with_break, 1.0), (thermostat, 20.0), (cell_by_bisection, 2.2), (adaptive, 1.0),
    (leaky, np.array([0.5, -1.0, 2.0])), (bouncing, 9.8), (least_of_many, 1.3), (running_maxima, P), (reflected, P),
    (newton_by_masks, P), (sorted_by_swaps, P), (switched, P),
])
def test_ordinary_loops_are_no_searches(f, x):
    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.SearchWarning)
        s2s.grad(f)(x)
        s2s.jvp(f, (x,), (np.ones_like(x) if np.ndim(x) else 1.0,))
