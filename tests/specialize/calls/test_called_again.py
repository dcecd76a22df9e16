"""Functions that a solver calls and that change what they have captured: work arrays, counters, logs, attributes."""

import warnings

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, curve_fit, fsolve, least_squares, minimize, root

import s2s
from s2s.errors import DifferentiationError, SharedMemoryError
from tests.helpers import differences

X = np.array([1.2, 0.7])


def both(f, x=X):
    """The gradient, in both modes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gradient = s2s.grad(f)(x)
        along = np.array([s2s.jvp(f, (x,), (e,))[1] for e in np.eye(len(x))])
    np.testing.assert_allclose(along, gradient, rtol=1e-9)
    return gradient


# --- the solution of p0^2 = x0, p1^3 = x1 p0: p0 = sqrt(x0), p1 = (x1 p0)^(1/3) -------------------------------------


def into_items(x):
    F = np.empty(2)

    def residual(p):
        F[0] = p[0] ** 2 - x[0]
        F[1] = p[1] ** 3 - x[1] * p[0]
        return F

    return fsolve(residual, np.ones(2), xtol=1e-13)


def into_views(x):
    work = np.zeros(4)

    def residual(p):
        inner = work[1:3]
        inner[...] = p
        inner[0] **= 2
        np.power(work[2], 3, out=work[3:])
        return np.array([work[1] - x[0], work[3] - x[1] * p[0]])

    return root(residual, np.ones(2), tol=1e-13).x


def with_counts_and_logs(x):
    calls, seen, last = [0], [], {"p": None, "n": 0}
    total = 0

    def residual(p):
        nonlocal total
        total += 1
        calls[0] += 1
        seen.append(p.copy())
        last["p"] = p
        last["n"] += 2
        return np.array([p[0] ** 2 - x[0], p[1] ** 3 - x[1] * p[0]])

    return fsolve(residual, np.ones(2), xtol=1e-13)


class Model:
    def __init__(self, x):
        self.x = x
        self.calls = 0
        self.work = np.zeros(2)
        self.log = []

    def residual(self, p):
        self.calls += 1
        self.p = p
        self.log.append(float(p[0]))
        self.work[:] = p
        return self.inner()

    def inner(self):
        return np.array([self.work[0] ** 2 - self.x[0], self.p[1] ** 3 - self.x[1] * self.work[0]])


def of_a_method(x):
    return fsolve(Model(x).residual, np.ones(2), xtol=1e-13)


def twice_with_one_array(x):
    F = np.empty(2)

    def residual(p, power):
        F[0] = p[0] ** 2 - x[0]
        F[1] = p[1] ** power - x[1] * p[0]
        return F

    u = fsolve(residual, np.ones(2), args=(2,), xtol=1e-13)
    return fsolve(residual, u, args=(3,), xtol=1e-13)


def in_a_loop(x):
    model, n = Model(x), [0]

    def residual(p):
        n[0] += 1
        return model.residual(p)

    u, k = np.ones(2), 0
    while k < x.size + 1:
        u = fsolve(residual, u, xtol=1e-13)
        k += 1
    return u


def of_a_nested_solver(x):
    F, n = np.empty(1), [0]

    def second(t):
        work, calls = np.zeros(1), [0]

        def first(t):
            calls[0] += 1
            work[0] = t**2 - x[0]
            return work[0]

        n[0] += 1
        F[0] = t**3 - x[1] * brentq(first, 0.1, 5.0, xtol=1e-14)
        return F[0]

    return np.array([x[0] ** 0.5, brentq(second, 0.1, 5.0, xtol=1e-14)])


@pytest.mark.parametrize("solve", [
    into_items, into_views, with_counts_and_logs, of_a_method, twice_with_one_array, in_a_loop, of_a_nested_solver,
], ids=lambda f: f.__name__)
def test_what_a_residual_changes_moves_no_solution(solve):
    p = np.array([X[0] ** 0.5, (X[1] * X[0] ** 0.5) ** (1 / 3)])
    jacobian = np.array([[0.5 / p[0], 0.0], [p[1] / (6.0 * X[0]), p[1] / (3.0 * X[1])]])
    np.testing.assert_allclose(solve(X), p, rtol=1e-10)
    weights = np.array([1.0, -2.0])
    np.testing.assert_allclose(both(lambda x: np.sum(solve(x) * weights)), weights @ jacobian, rtol=1e-8)


# --- what the function finds before the solver begins ---------------------------------------------------------------


def test_an_argument_that_the_residual_has_clipped():
    def solved(x):
        a = x * 1.0

        def residual(p):
            a[a > 1.0] = 1.0
            return p * a - 1.0

        return np.sum(fsolve(residual, np.ones(2), xtol=1e-13))

    np.testing.assert_allclose(both(solved), [0.0, -1.0 / X[1] ** 2], rtol=1e-8)


def test_an_argument_of_which_items_are_replaced():
    def residual(p, k, alpha):
        alpha[alpha == 1] = 0.5
        return (k - p) * alpha + p**3

    def solved(x):
        return np.sum(fsolve(residual, np.zeros(2), args=(0.1 * x, np.array([1.0, 0.4])), xtol=1e-13))

    p = fsolve(residual, np.zeros(2), args=(0.1 * X, np.array([1.0, 0.4])), xtol=1e-13)
    alpha = np.array([0.5, 0.4])
    np.testing.assert_allclose(both(solved), 0.1 * alpha / (alpha - 3.0 * p**2), rtol=1e-7)


def test_a_minimum_of_a_function_with_a_work_array_and_a_counter():
    def solved(x):
        work, n = np.zeros(2), [0]

        def cost(p):
            n[0] += 1
            work[:] = p - x
            return np.sum(work**2) + np.sum(p**2)

        return np.sum(minimize(cost, np.zeros(2)).x * np.array([1.0, 3.0]))

    np.testing.assert_allclose(both(solved), [0.5, 1.5], rtol=1e-8)


def test_an_integrand_with_a_counter():
    def integral(x):
        n = [0]

        def f(t):
            n[0] += 1
            return x[1] * np.exp(-x[0] * t)

        return quad(f, 0.0, 2.0)[0]

    a, b = X
    e = np.exp(-2.0 * a)
    np.testing.assert_allclose(both(integral), [b * (2.0 * e / a - (1.0 - e) / a**2), (1.0 - e) / a], rtol=1e-9)


def test_the_arrays_of_the_caller_stay_as_they_are():
    work = np.full(2, 5.0)

    def solved(x, work):
        def residual(p):
            work[:] = p**2
            return work - x

        return np.sum(fsolve(residual, np.ones(2), xtol=1e-13))

    np.testing.assert_allclose(s2s.grad(solved)(X, work), 0.5 / X**0.5, rtol=1e-8)
    np.testing.assert_array_equal(work, 5.0)


def test_the_parts_of_a_fit_whose_residuals_have_a_work_array():
    t = np.linspace(0.0, 1.0, 6)

    def fit(x, has_array):
        out, n = np.zeros(6), [0]
        y = x[0] * np.exp(-x[1] * t) + 0.01 * np.sin(9.0 * t)

        def residuals(p):
            if not has_array:
                return p[0] * np.exp(-p[1] * t) - y
            n[0] += 1
            np.multiply(p[0], np.exp(-p[1] * t), out=out)
            out[:] -= y
            return out.copy()

        found = least_squares(residuals, np.ones(2), xtol=1e-15, ftol=1e-15, gtol=1e-15)
        return np.sum(found.x) + 100.0 * found.cost + np.sum(found.fun * t) + np.sum(found.jac**2)

    np.testing.assert_allclose(both(lambda x: fit(x, True)), both(lambda x: fit(x, False)), rtol=1e-9)
    expected = differences(lambda x: fit(x, False), X)
    np.testing.assert_allclose(both(lambda x: fit(x, True)), expected, rtol=1e-4)


def test_a_curve_that_is_computed_in_an_array():
    t = np.linspace(0.0, 1.0, 6)

    def fit(x):
        out = np.empty(6)

        def curve(t, a, b):
            out[:] = a * np.exp(-b * t)
            return out.copy()

        return np.sum(curve_fit(curve, t, x[0] * np.exp(-x[1] * t), p0=np.ones(2))[0] * np.array([1.0, 3.0]))

    np.testing.assert_allclose(both(fit), [1.0, 3.0], rtol=1e-5)


def test_a_callback_that_writes_down_what_nobody_reads():
    def solved(x):
        seen, last = [], np.zeros(2)

        def keep(p):
            seen.append(np.sum(p - x))
            last[:] = p

        return np.sum(minimize(lambda p: np.sum((p - x) ** 2) + np.sum(p**2), np.zeros(2), callback=keep).x)

    np.testing.assert_allclose(both(solved), [0.5, 0.5], rtol=1e-8)


# --- what is refused --------------------------------------------------------------------------------------------------


def changes_its_equation(x):
    calls = [0]

    def residual(t):
        calls[0] += 1
        return t**2 - x[0] if calls[0] > 2 else t - x[1]

    return brentq(residual, 0.0, 5.0)


def remembers_the_last_point(x):
    state = {"t": 1.0}

    def residual(t):
        found = t**2 - x[0] * state["t"]
        state["t"] = t
        return found

    return brentq(residual, 0.1, 5.0)


class Holder:
    pass


def has_attributes_later(x):
    holder = Holder()

    def residual(t):
        first = not hasattr(holder, "t")
        holder.t = t
        return t - x[1] if first else t**2 - x[0]

    return brentq(residual, 0.1, 5.0)


def reads_a_list_afterwards(x):
    seen = []

    def residual(t):
        seen.append(t)
        return t**2 - x[0]

    return brentq(residual, 0.1, 5.0) + seen[-1]


def reads_an_array_afterwards(x):
    work = np.zeros(2)

    def residual(p):
        work[:] = p * x
        return work**2 - 1.0

    return np.sum(fsolve(residual, np.ones(2))) + np.sum(work)


def reads_a_view_in_the_next_iteration(x):
    work, total = np.zeros(2), 0.0
    part = work[:1]

    def residual(p):
        work[:] = p * x
        return work**2 - 1.0

    for _ in range(2):
        total = total + part[0]
        total = total + np.sum(fsolve(residual, np.ones(2)))
    return total


def gives_an_array_back(x):
    work = np.zeros(2)

    def residual(p):
        work[:] = p * x
        return work**2 - 1.0

    def both_of_them():
        return fsolve(residual, np.ones(2)), work

    solution, held = both_of_them()
    return np.sum(solution) + held[0]


def another_function_reads_it(x):
    work = np.zeros(2)

    def residual(p):
        work[:] = p * x
        return work**2 - 1.0

    u = fsolve(residual, np.ones(2))
    return np.sum(u) + brentq(lambda t: t - work[0], -5.0, 5.0)


def integrates_with_a_work_array(x):
    work = np.zeros(1)

    def f(t):
        work[0] = x[0] * t
        return work[0]

    return quad(f, 0.0, 1.0)[0]


def callback_appends(x):
    seen = []
    keep = lambda p: seen.append(p.copy())  # noqa: E731
    found = minimize(lambda p: np.sum((p - x) ** 4) + np.sum(p**2), np.zeros(2), callback=keep)
    return np.sum(found.x) + np.sum(seen[-1])


def callback_stores(x):
    last = np.zeros(2)

    def keep(p):
        last[:] = p

    found = minimize(lambda p: np.sum((p - x) ** 4) + np.sum(p**2), np.zeros(2), callback=keep)
    return np.sum(found.x) + np.sum(last)


def callback_is_a_method(x):
    model = Model(x)
    found = minimize(lambda p: np.sum((p - x) ** 4) + np.sum(p**2), np.zeros(2), callback=model.residual)
    return np.sum(found.x) + np.sum(model.p)


def is_called_by_another_solver(x):
    work = np.zeros(1)

    def first(t):
        work[0] = t**2 - x[0]
        return work[0]

    return brentq(lambda t: t**3 - x[1] * brentq(first, 0.1, 5.0), 0.1, 5.0)


@pytest.mark.parametrize("f, code", [
    (is_called_by_another_solver, "S2S144"), (callback_appends, "S2S132"), (callback_stores, "S2S132"),
    (callback_is_a_method, "S2S132"),
    (changes_its_equation, "S2S144"), (remembers_the_last_point, "S2S144"), (has_attributes_later, "S2S144"),
    (reads_a_list_afterwards, "S2S132"), (reads_an_array_afterwards, "S2S132"),
    (reads_a_view_in_the_next_iteration, "S2S132"), (gives_an_array_back, "S2S132"),
    (another_function_reads_it, "S2S132"), (integrates_with_a_work_array, "S2S144"),
], ids=lambda f: getattr(f, "__name__", f))
def test_refused(f, code):
    for take in (s2s.grad(f), lambda x: s2s.jvp(f, (x,), (x,))):
        with pytest.raises(DifferentiationError) as problem:
            take(X)
        assert problem.value.diagnostic.code == code


def test_an_array_that_the_solver_keeps_and_the_function_fills_again():
    t = np.linspace(0.0, 1.0, 6)

    def solved(x):
        out = np.empty(6)

        def residuals(p):
            out[:] = p[0] * np.exp(-p[1] * t) - x[0] * np.exp(-x[1] * t)
            return out

        return np.sum(least_squares(residuals, np.ones(2)).x)

    for take in (s2s.grad(solved), lambda x: s2s.jvp(solved, (x,), (x,))):
        with pytest.raises(DifferentiationError) as problem:
            take(X)
        assert problem.value.diagnostic.code == "S2S213"


def test_an_equation_that_depends_on_what_earlier_calls_left_in_an_array():
    def solved(x):
        state = np.ones(2)

        def residual(p):
            found = p**2 - x * state
            state[:] = 2.0
            return found

        return np.sum(fsolve(residual, np.ones(2)))

    for take in (s2s.grad(solved), lambda x: s2s.jvp(solved, (x,), (x,))):
        with pytest.raises(DifferentiationError) as problem:
            take(X)
        assert problem.value.diagnostic.code == "S2S213"


def test_arrays_that_are_one_when_the_program_runs():
    def solved(x, work, weights):
        def residual(p):
            work[:] = p**2
            return work - x * weights

        return np.sum(fsolve(residual, np.ones(2), xtol=1e-13))

    weights = np.array([1.0, 2.0])
    expected = 0.5 * (weights / X) ** 0.5
    np.testing.assert_allclose(s2s.grad(solved)(X, np.zeros(2), weights), expected, rtol=1e-8)
    both_in_one = np.ones(3)
    with pytest.raises(SharedMemoryError, match="S2S124"):
        s2s.grad(solved)(X, both_in_one[:2], both_in_one[1:])
