"""Root finders and minimisers of SciPy: derivatives of the solutions that they find, against differences of solutions
found anew and against closed forms."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import optimize

import s2s
from s2s.errors import NoDerivativeError

P = np.array([1.3, 0.7])
WEIGHTS = np.array([1.0, 0.6])


def cubic(x, a, b):
    return x**3 + a * x - b


def slope_of_cubic(x, a, b):
    return 3.0 * x**2 + a


def system(x, a, b):
    return np.array([x[0] ** 3 + a * x[0] - b + 0.1 * x[1], x[1] ** 3 + x[1] - a * b])


def bowl(x, p):
    return np.sum((x - p) ** 4) / 4 + np.sum(p * x**2) + x[0] * x[1] * p[0]


def slope_of_bowl(x, p):
    return (x - p) ** 3 + 2.0 * p * x + p[0] * x[::-1]


def bend_of_bowl(x, p):
    return np.diag(3.0 * (x - p) ** 2 + 2.0 * p) + p[0] * np.array([[0.0, 1.0], [1.0, 0.0]])


TIGHT = {"xtol": 1e-14}
EXACT = {"xtol": 1e-15, "gtol": 1e-15, "ftol": 1e-15}


def wrong_by(x, p):
    return np.array([x[0] - p[0], x[1] * x[0] - p[1], x[1] - 0.3])


def slope_of_wrong(x, p):
    return np.array([[1.0, 0.0], [x[1], x[0]], [0.0, 1.0]])


# --- one variable -----------------------------------------------------------------------------------------------------

ROOTS = {
    "brentq": lambda p: optimize.brentq(cubic, -3.0, 3.0, (p[0], p[1]), **TIGHT),
    "brentq, all": lambda p: optimize.brentq(cubic, -3.0, 3.0, (p[0], p[1]), **TIGHT, full_output=True)[1].root,
    "brenth": lambda p: optimize.brenth(lambda x: cubic(x, p[0], p[1]), -3.0, 3.0, xtol=1e-14),
    "ridder": lambda p: optimize.ridder(lambda x: cubic(x, p[0], p[1]), -3.0, 3.0, xtol=1e-14),
    "bisect": lambda p: optimize.bisect(lambda x: cubic(x, p[0], p[1]), -3.0, 3.0, xtol=1e-14),
    "toms748": lambda p: optimize.toms748(lambda x: cubic(x, p[0], p[1]), -3.0, 3.0, xtol=1e-14),
    "secant": lambda p: optimize.newton(cubic, 1.0, args=(p[0], p[1]), tol=1e-14),
    "newton": lambda p: optimize.newton(cubic, p[0], slope_of_cubic, (p[0], p[1]), tol=1e-14),
    "halley": lambda p: optimize.newton(
        lambda x: cubic(x, p[0], p[1]), 1.0, lambda x: 3.0 * x**2 + p[0], fprime2=lambda x: 6.0 * x, tol=1e-14),
    "root_scalar": lambda p: optimize.root_scalar(
        cubic, args=(p[0], p[1]), bracket=(-3.0, 3.0), method="brentq", xtol=1e-14).root,
    "root_scalar with slopes": lambda p: optimize.root_scalar(
        lambda x: (cubic(x, p[0], p[1]), 3.0 * x * x + p[0]), x0=1.0, fprime=True, method="newton", xtol=1e-14).root,
    "fixed_point": lambda p: optimize.fixed_point(lambda x: (p[1] - x**3) / p[0], 0.4, xtol=1e-14),
    "fsolve": lambda p: optimize.fsolve(cubic, 1.0, (p[0], p[1]), xtol=1e-14)[0],
    "root": lambda p: optimize.root(cubic, 1.0, (p[0], p[1]), tol=1e-14).x[0],
}


def derivatives_of_root(p):
    """The gradient and the Hessian of the root of the cubic, by hand."""
    x = optimize.brentq(cubic, -3.0, 3.0, tuple(p), xtol=1e-15)
    slope = 3.0 * x * x + p[0]
    first = np.array([-x, 1.0]) / slope
    mixed = np.array([1.0, 0.0])  # of the slope by the parameters
    second = -(6.0 * x * np.outer(first, first) + np.outer(first, mixed) + np.outer(mixed, first)) / slope
    return first, second


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("name", ROOTS)
def test_roots_of_one_variable(name):
    f, (first, second) = ROOTS[name], derivatives_of_root(P)
    np.testing.assert_allclose(s2s.grad(f)(P), first, rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(f)(P), first, rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(s2s.grad(f))(P), second, rtol=1e-6)
    v = np.array([0.3, -1.0])
    np.testing.assert_allclose(s2s.hvp(f, (P,), (v,)), second @ v, rtol=1e-6)


def test_third_derivative():
    root = lambda a: optimize.brentq(lambda x: x**3 - a, 0.0, 4.0, xtol=1e-15)  # noqa: E731
    third = s2s.grad(s2s.grad(s2s.grad(root)))(2.0)
    assert third == pytest.approx(10 / 27 * 2.0 ** (-8 / 3))


def test_many_roots_at_once():
    f = lambda p: np.sum(optimize.newton(lambda x: cubic(x, p[0], p), np.ones(2), tol=1e-14) ** 2)  # noqa: E731
    each = lambda p: sum(optimize.newton(cubic, 1.0, args=(p[0], b), tol=1e-14) ** 2 for b in p)  # noqa: E731
    np.testing.assert_allclose(s2s.grad(f)(P), s2s.grad(each)(P), rtol=1e-9)
    np.testing.assert_allclose(s2s.jacfwd(f)(P), s2s.grad(each)(P), rtol=1e-9)
    np.testing.assert_allclose(s2s.hvp(f, (P,), (P,)), s2s.hvp(each, (P,), (P,)), rtol=1e-8)
    mixing = lambda p: np.sum(optimize.newton(lambda x: x**3 - p * x[::-1], np.array([1.1, 0.9])))  # noqa: E731
    with pytest.raises(NoDerivativeError, match="each item of the function may depend on its own unknown only"):
        s2s.grad(mixing)(np.array([1.0, 1.0]))


# --- systems ----------------------------------------------------------------------------------------------------------

SYSTEMS = {
    "fsolve": lambda p: np.sum(optimize.fsolve(system, [1.0, 1.0], (p[0], p[1]), xtol=1e-14) ** 2),
    "fsolve, all": lambda p: np.sum(
        optimize.fsolve(system, [1.0, 1.0], (p[0], p[1]), full_output=True, xtol=1e-14)[0] ** 2),
    "root": lambda p: np.sum(optimize.root(system, np.ones(2), (p[0], p[1]), tol=1e-14).x ** 2),
    "root, lm": lambda p: np.sum(optimize.root(system, np.ones(2), (p[0], p[1]), "lm", tol=1e-14)["x"] ** 2),
    "root, krylov": lambda p: np.sum(
        optimize.root(system, np.ones(2), (p[0], p[1]), method="krylov", tol=1e-12).x ** 2),
    "broyden1": lambda p: np.sum(
        optimize.broyden1(lambda x: system(x, p[0], p[1]), np.array([0.5, 0.5]), f_tol=1e-12) ** 2),
    "fixed_point": lambda p: np.sum(optimize.fixed_point(
        lambda x, b: np.stack([(b - 0.1 * x[1] - x[0] ** 3) / p[0], p[0] * b - x[1] ** 3 + 0.0 * x[1]]),
        np.array([0.4, 0.5]), args=(p[1],), xtol=1e-13) ** 2),
}


def test_fsolve_says_all_that_scipy_says():
    def f(p, full_output):
        found = optimize.fsolve(system, [1.0, 1.0], (p[0], p[1]), full_output=full_output, xtol=1e-14)
        if not full_output:
            return np.sum(found**2)
        x, said, ended, message = found
        return np.sum(x**2) * ended + said["nfev"] + np.sum(said["fvec"]) + len(message)

    _, said, ended, message = optimize.fsolve(system, [1.0, 1.0], tuple(P), full_output=True, xtol=1e-14)
    assert len({ended, said["nfev"], len(message)}) == 3
    value, gradient = s2s.value_and_grad(f)(P, True)
    plain, slope = s2s.value_and_grad(f)(P, False)
    assert value == pytest.approx(f(P, True), rel=1e-14)
    assert value == pytest.approx(plain * ended + said["nfev"] + len(message), rel=1e-12)
    np.testing.assert_allclose(gradient, ended * slope, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.grid(0.3)
@pytest.mark.parametrize("name", SYSTEMS)
def test_roots_of_systems(name):
    f, exact = SYSTEMS[name], s2s.implicit(
        lambda p: optimize.fsolve(system, [1.0, 1.0], tuple(p), xtol=1e-15), lambda x, p: system(x, p[0], p[1]))
    plain = lambda p: np.sum(exact(p) ** 2)  # noqa: E731
    np.testing.assert_allclose(s2s.grad(f)(P), s2s.grad(plain)(P), rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(f)(P), s2s.grad(plain)(P), rtol=1e-7)
    np.testing.assert_allclose(s2s.hvp(f, (P,), (P,)), s2s.hvp(plain, (P,), (P,)), rtol=1e-6)
    h = 1e-4
    differences = [(f(P + h * e) - f(P - h * e)) / (2.0 * h) for e in np.eye(2)]
    np.testing.assert_allclose(s2s.grad(f)(P), differences, rtol=1e-5)


# --- minima -----------------------------------------------------------------------------------------------------------

NEWTON = {"jac": slope_of_bowl, "hess": bend_of_bowl, "method": "trust-exact", "options": {"gtol": 1e-14}}

MINIMA = {
    "point": lambda p: WEIGHTS @ optimize.minimize(bowl, np.ones(2), (p,), **NEWTON).x,
    "value": lambda p: optimize.minimize(bowl, np.ones(2), (p,), **NEWTON).fun,
    "item": lambda p: optimize.minimize(bowl, np.ones(2), (p,), **NEWTON)["x"][1],
    "value and slope": lambda p: WEIGHTS @ optimize.minimize(
        lambda x: (bowl(x, p), slope_of_bowl(x, p)), np.ones(2), jac=True, tol=1e-14).x,
    "bounds": lambda p: WEIGHTS @ optimize.minimize(
        lambda x: bowl(x, p), np.ones(2), jac=lambda x: slope_of_bowl(x, p), bounds=[(0.9, 2.0), (None, None)],
        tol=1e-15).x,
    "least_squares": lambda p: WEIGHTS @ optimize.least_squares(
        wrong_by, np.ones(2), slope_of_wrong, args=(p,), **EXACT).x,
    "least_squares, soft": lambda p: WEIGHTS @ optimize.least_squares(
        wrong_by, np.ones(2), slope_of_wrong, args=(p,), loss="soft_l1", **EXACT).x,
    "least_squares, bounds": lambda p: WEIGHTS @ optimize.least_squares(
        wrong_by, np.full(2, 0.5), slope_of_wrong, ([-1.0, -1.0], [1.0, 5.0]), args=(p,), **EXACT).x,
    "least_squares, cost": lambda p: optimize.least_squares(
        wrong_by, np.ones(2), slope_of_wrong, args=(p,), **EXACT).cost,
    "minimize_scalar": lambda p: optimize.minimize_scalar(lambda x: (x - p[0]) ** 2 * p[1] + x * p[0], tol=1e-12).x,
    "minimize_scalar, value": lambda p: optimize.minimize_scalar(lambda x: (x - p[0]) ** 2 * p[1] + x * p[0]).fun,
    "minimize_scalar, inside": lambda p: optimize.minimize_scalar(
        lambda x: (x - p[0]) ** 2 * p[1] + x * p[0], bounds=(-2.0, 2.0)).x,
    "fminbound": lambda p: optimize.fminbound(lambda x: (x - p[0]) ** 2 * p[1] + x * p[0], -2.0, 2.0),
    "brent": lambda p: optimize.brent(lambda x: (x - p[0]) ** 2 * p[1] + x * p[0]),
    "fmin": lambda p: WEIGHTS @ optimize.fmin(bowl, np.ones(2), (p,), disp=0, xtol=1e-11, ftol=1e-15),
    "nnls": lambda p: np.array([1.0, 2.0, 3.0]) @ optimize.nnls(matrix_of(p), vector_of(p))[0],
    "nnls, distance": lambda p: optimize.nnls(matrix_of(p), vector_of(p))[1],
    "lsq_linear": lambda p: np.array([1.0, 2.0, 3.0]) @ optimize.lsq_linear(
        matrix_of(p), vector_of(p), (-0.2, 0.5), tol=1e-13).x,
}


def matrix_of(p):
    return np.array([[1.0, 2.0, p[0]], [p[1], 1.0, 3.0], [1.0, 2.0, 2.0], [0.0, 1.0, 1.0]])


def vector_of(p):
    return np.array([1.0, 2.0 * p[0], -1.0, p[1]])


@pytest.mark.grid(0.15)
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.slow if name.startswith(("bounds", "least_squares")) else ())
    for name in MINIMA])
def test_minima(name):
    f, h = MINIMA[name], 1e-3
    differences = np.array([
        (8.0 * (f(P + h * e) - f(P - h * e)) - f(P + 2 * h * e) + f(P - 2 * h * e)) / (12.0 * h) for e in np.eye(2)])
    rough = {"rtol": 2e-4, "atol": 1e-8}  # what SciPy finds without slopes has half the digits
    np.testing.assert_allclose(s2s.grad(f)(P), differences, **rough)
    np.testing.assert_allclose(s2s.jacfwd(f)(P), s2s.grad(f)(P), rtol=1e-9, atol=1e-12)
    v = np.array([0.3, -1.0])
    second = (s2s.grad(f)(P + h * v) - s2s.grad(f)(P - h * v)) / (2.0 * h)
    for found in (s2s.hvp(f, (P,), (v,)), s2s.jvp(s2s.grad(f), (P,), (v,))[1]):
        np.testing.assert_allclose(found, second, **rough)


def test_what_stands_on_a_bound_does_not_move():
    x = lambda p: optimize.minimize(lambda x: np.sum((x - p) ** 2), np.ones(2), bounds=[(0.0, 1.0)] * 2).x  # noqa: E731
    np.testing.assert_allclose(s2s.jacfwd(x)(np.array([0.5, 3.0])), [[1.0, 0.0], [0.0, 0.0]], atol=1e-6)
    np.testing.assert_allclose(s2s.jacrev(x)(np.array([0.5, -3.0])), [[1.0, 0.0], [0.0, 0.0]], atol=1e-6)
    end = lambda a: optimize.minimize_scalar(lambda x: a * x, bounds=(1.0, 2.0)).x * a  # noqa: E731
    assert s2s.grad(end)(3.0) == pytest.approx(1.0, abs=1e-4) and s2s.grad(end)(-3.0) == pytest.approx(2.0, abs=1e-4)


def held(p, bounds):
    return WEIGHTS @ optimize.minimize(lambda x: np.sum((x - 3.0 * p) ** 2), np.full(2, 0.1), bounds=bounds).x


MOVED_BOUNDS = {
    "pairs": lambda p: held(p, [(None, p[1]), (0.0, p[0] * p[1])]),
    "array": lambda p: held(p, np.stack([0.0 * p, p**2], axis=1)),
    "Bounds": lambda p: held(p, optimize.Bounds(np.zeros(2), p * p[0])),
    "below": lambda p: held(-p, [(-p[1], None), (-p[0] * p[1], 5.0)]),
    "least_squares": lambda p: WEIGHTS @ optimize.least_squares(
        wrong_by, np.full(2, 0.1), slope_of_wrong, ([-1.0, -1.0], [5.0, 0.2 * p[1]]), args=(p,), **EXACT).x,
    "lsq_linear": lambda p: np.array([1.0, 2.0, 3.0]) @ optimize.lsq_linear(
        matrix_of(p), vector_of(p), (-0.2 * p[0], 0.5 * p[1]), tol=1e-13).x,
    "minimize_scalar": lambda p: optimize.minimize_scalar(
        lambda x: p[1] * x, bounds=(p[0], 9.0), method="bounded", options={"xatol": 1e-11}).x,
    "fminbound": lambda p: optimize.fminbound(lambda x: -x * p[1], -1.0, p[0] * p[1], xtol=1e-11),
}


@pytest.mark.grid(0.25)
@pytest.mark.parametrize("name", MOVED_BOUNDS)
def test_what_stands_on_a_bound_moves_with_it(name):
    f, h = MOVED_BOUNDS[name], 1e-4
    differences = np.array([(f(P + h * e) - f(P - h * e)) / (2.0 * h) for e in np.eye(2)])
    assert np.max(np.abs(differences)) > 0.1
    rough = {"rtol": 2e-4, "atol": 1e-6}
    np.testing.assert_allclose(s2s.grad(f)(P), differences, **rough)
    np.testing.assert_allclose(s2s.jacfwd(f)(P), differences, **rough)
    by_row = np.array([(s2s.grad(f)(P + h * e) - s2s.grad(f)(P - h * e)) / (2.0 * h) for e in np.eye(2)])
    np.testing.assert_allclose(s2s.hessian(f)(P), by_row, **rough)


def decay(t, size, rate):
    return size * np.exp(-rate * t)


def by_size_and_rate(t, size, rate):
    return np.stack([np.exp(-rate * t), -t * size * np.exp(-rate * t)], axis=1)


@pytest.mark.slow
@pytest.mark.grid(0.25)
@pytest.mark.parametrize("start", [[1.0, 1.0], None])
@pytest.mark.parametrize("sigma", [None, np.linspace(0.5, 1.0, 6)])
def test_fitted_curves(sigma, start):
    t, noise = np.linspace(0.0, 1.0, 6), np.array([0.1, -0.2, 0.05, 0.1, -0.1, 0.0])

    def fit(p):
        return optimize.curve_fit(
            decay, t, decay(t, 2.0 + p[0], p[1]) + noise * p[0], start, sigma, jac=by_size_and_rate, xtol=1e-15,
            ftol=1e-15)

    for f in (lambda p: WEIGHTS @ fit(p)[0], lambda p: np.sum(fit(p)[1] * np.array([[1.0, 2.0], [2.0, 5.0]]))):
        h = 1e-4
        differences = [(f(P + h * e) - f(P - h * e)) / (2.0 * h) for e in np.eye(2)]
        np.testing.assert_allclose(s2s.grad(f)(P), differences, rtol=1e-4)
        np.testing.assert_allclose(s2s.jacfwd(f)(P), s2s.grad(f)(P))
    np.testing.assert_allclose(s2s.value_and_grad(lambda p: np.sum(fit(p)[1]))(P)[0], np.sum(fit(P)[1]), rtol=1e-8)


# --- how the parameters get there -------------------------------------------------------------------------------------


class Model:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def residual(self, x):
        return cubic(x, self.a, self.b)

    def solve(self):
        return optimize.brentq(self.residual, -3.0, 3.0, xtol=1e-14)


def by_method(p):
    model = Model(p[0], p[1])
    return optimize.brentq(model.residual, -3.0, 3.0, xtol=1e-14)


def inside_a_method(p):
    return Model(p[0], p[1]).solve()


def by_partial(p):
    return optimize.brentq(functools.partial(cubic, a=p[0], b=p[1]), -3.0, 3.0, xtol=1e-14)


def by_nested_function(p):
    held = {"a": p[0], "rest": [p[1]]}

    def residual(x):
        return cubic(x, held["a"], held["rest"][0])

    return optimize.brentq(residual, -3.0, 3.0, xtol=1e-14)


def by_attributes(p):
    given = SimpleNamespace(a=p[0], b=p[1])
    return optimize.brentq(lambda x: cubic(x, given.a, given.b), -3.0, 3.0, xtol=1e-14)


def by_default(p):
    return optimize.brentq(lambda x, a=p[0], b=p[1]: cubic(x, a, b), -3.0, 3.0, xtol=1e-14)


def by_one_argument(p):
    return optimize.brentq(lambda x, p: cubic(x, p[0], p[1]), -3.0, 3.0, args=p if isinstance(p, tuple) else (p,))


def of_a_solution(p):
    inner = lambda y: optimize.brentq(lambda x: x**3 + p[0] * x - y, -3.0, 3.0, xtol=1e-14)  # noqa: E731
    return optimize.brentq(lambda y: y - p[1] + 0.0 * inner(y), -3.0, 3.0, xtol=1e-14) * 0.0 + inner(p[1])


WAYS = [
    by_method, inside_a_method, by_partial, by_nested_function, by_attributes, by_default, by_one_argument,
    of_a_solution,
]


@pytest.mark.parametrize("f", WAYS)
def test_every_way_in(f):
    first, second = derivatives_of_root(P)
    np.testing.assert_allclose(s2s.grad(f)(P), first, rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(f)(P), first, rtol=1e-7)
    np.testing.assert_allclose(s2s.hvp(f, (P,), (P,)), second @ P, rtol=1e-6)


def test_in_a_loop():
    def f(p):
        total = 0.0
        for k in range(3):
            found = optimize.root_scalar(lambda x: cubic(x, p[0] + k, p[1]), bracket=(-3.0, 3.0), xtol=1e-14)
            if not found.converged:
                raise ValueError("no root")
            total += found.root * (k + 1)
        return total

    wanted = sum((k + 1) * derivatives_of_root(P + np.array([k, 0.0]))[0] for k in range(3))
    np.testing.assert_allclose(s2s.grad(f)(P), wanted, rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(f)(P), wanted, rtol=1e-7)


CONTAINERS = {
    "a dict": lambda a, b: {"top": a, "half": b},
    "a list": lambda a, b: [a, b],
    "a tuple": lambda a, b: (a, b),
    "a dict in a list": lambda a, b: [{"top": a}, [b]],
}


@pytest.mark.parametrize("made", CONTAINERS.values(), ids=CONTAINERS)
def test_by_the_items_of_a_container_that_the_equation_captures(made):
    """The solver is a call that is not read: what is known of the container is checked again after it."""

    def parts(p):
        top, half = p.values() if isinstance(p, dict) else p
        return (top, half) if isinstance(p, (dict, tuple)) or not isinstance(top, dict) else (top["top"], half[0])

    def harvest(p, flow):
        def left_over(s):
            top, half = parts(p)
            return top * s / (half + s) - flow

        return flow * 0.5 * (10.0 - optimize.brentq(left_over, 1e-9, 1e3))

    flow, top, half = 0.3, 0.5, 0.2  # the root is half * flow / (top - flow)
    slopes = 0.5 * flow * half * flow / (top - flow) ** 2, -0.5 * flow * flow / (top - flow)
    for _ in range(2):
        gradient = s2s.grad(harvest)(made(top, half), flow)
        np.testing.assert_allclose(parts(gradient), slopes, rtol=1e-6)
    tangent = s2s.jvp(lambda p: harvest(p, flow), (made(top, half),), (made(1.0, 2.0),))[1]
    np.testing.assert_allclose(tangent, slopes[0] + 2.0 * slopes[1], rtol=1e-6)


def test_by_the_attributes_of_an_object():
    found = s2s.grad(lambda model: model.solve())(Model(1.3, 0.7))
    np.testing.assert_allclose([found.a, found.b], derivatives_of_root(P)[0], rtol=1e-7)


def test_solutions_that_are_changed():
    def f(p):
        x = optimize.root(system, np.ones(2), (p[0], p[1]), tol=1e-14).x
        x[0] *= 2.0
        return np.sum(x**2)

    def plain(p):
        x = optimize.root(system, np.ones(2), (p[0], p[1]), tol=1e-14).x
        return 4.0 * x[0] ** 2 + x[1] ** 2

    np.testing.assert_allclose(s2s.grad(f)(P), s2s.grad(plain)(P))
    np.testing.assert_allclose(s2s.jacfwd(f)(P), s2s.grad(plain)(P))


# --- what is said -----------------------------------------------------------------------------------------------------


def test_a_nearly_singular_system():
    flat = lambda a: np.sum(optimize.root(lambda x: np.array([x[0] - a, 1e-17 * x[1]]), np.ones(2)).x)  # noqa: E731
    with pytest.warns(RuntimeWarning, match="singular, or nearly so"):
        s2s.grad(flat)(1.0)


def test_constraints_are_refused():
    def f(a):
        inside = {"type": "eq", "fun": lambda x: np.sum(x) - a}
        return optimize.minimize(lambda x: np.sum(x**2), np.ones(2), constraints=[inside]).fun

    with pytest.raises(NoDerivativeError, match="without constraints"):
        s2s.grad(f)(1.0)


def test_the_solver_is_not_differentiated():
    text = s2s.source(by_nested_function, P)
    assert "optimize.brentq" in text and "while" not in text and "saved" not in text
