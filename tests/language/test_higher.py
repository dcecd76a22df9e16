"""Derivatives of derivatives: the generated code is differentiated like any other function."""

import functools
import math

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError
from s2s.runtime import directions
from s2s.specialize.inlining import Inliner
from tests.bank import CASES
from tests.bank.mutable import swapped_and_bound_to_one
from tests.bank.second import MODES, can_be_checked, check_second
from tests.helpers import differences

X = np.array([0.4, -1.3, 0.8, 1.7])
V = np.array([1.0, 0.5, -2.0, 0.3])


def rosenbrock(x):
    total = 0.0
    for i in range(len(x) - 1):
        total = total + 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def stored(x):
    u = np.zeros(4)
    for i in range(4):
        u[i] = x[i] ** 2
        u[i] *= np.sin(x[i - 1])
    return np.sum(u**2)


def branched(x):
    total = 1.0
    for value in x:
        total = total * value if value > 0.0 else total + np.exp(value)
    return total


def vectorised(x):
    h = np.tanh(np.outer(x, x) @ x)
    return np.log(np.sum(np.exp(h))) + np.mean(h**3)


FUNCTIONS = [rosenbrock, stored, branched, vectorised]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_forward_over_reverse(f):
    gradient = s2s.grad(f)
    out, product = s2s.jvp(gradient, (X,), (V,))
    np.testing.assert_array_equal(out, gradient(X))
    wanted = [differences(lambda t, k=k: float(gradient(X + t * V)[k]), 0.0) for k in range(4)]
    np.testing.assert_allclose(product, wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", [rosenbrock, branched])
def test_reverse_over_reverse(f):
    gradient = s2s.grad(f)
    out, pullback = s2s.vjp(gradient, X)
    np.testing.assert_allclose(pullback(V)[0], s2s.jvp(gradient, (X,), (V,))[1], rtol=1e-12)


def test_derivatives_of_a_number_to_the_fourth():
    def f(x):
        return x**5 * np.sin(x)

    x, s, c = 0.7, np.sin(0.7), np.cos(0.7)
    second = 20 * x**3 * s + 10 * x**4 * c - x**5 * s
    third = 60 * x**2 * s + 60 * x**3 * c - 15 * x**4 * s - x**5 * c
    fourth = 120 * x * s + 240 * x**2 * c - 120 * x**3 * s - 20 * x**4 * c + x**5 * s
    derivative = s2s.grad(f)
    for wanted in (second, third, fourth):
        derivative = s2s.grad(derivative)
        assert derivative(x) == pytest.approx(wanted, rel=1e-12)


def test_a_loop_that_only_keeps_what_does_not_change_is_reversed():
    x, v = np.array([0.7, 1.3, 0.4]), np.array([1.0, -2.0, 0.5])  # the function is 4 (x + 1) @ x
    np.testing.assert_allclose(s2s.vhp(swapped_and_bound_to_one, (x,), (v,)), 8.0 * v, rtol=1e-12)
    np.testing.assert_allclose(s2s.jacrev(s2s.grad(swapped_and_bound_to_one))(x), 8.0 * np.eye(3), rtol=1e-12)


def counted_in_one_branch(x):
    if x > 0.5:
        y, total = 0.0, x
        while y < 3.0:
            y = y + np.sin(x) * x
            total = total * y * x
    else:
        total = x**3
    return total


@pytest.mark.parametrize("x", [0.3, 0.7])
def test_trips_that_only_one_path_counts(x):
    wanted = differences(lambda t: s2s.grad(counted_in_one_branch)(t), x)
    assert s2s.grad(s2s.grad(counted_in_one_branch))(x) == pytest.approx(wanted, rel=1e-6)


REFUSALS = (
    "S2S104", "S2S112", "S2S132", "S2S134", "S2S138", "S2S144", "S2S201", "S2S206", "S2S210", "S2S503", "S2S507",
    "S2S510",
)
CHECKED = [case for case in CASES if can_be_checked(case)]


@pytest.mark.grid(1 / 60)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CHECKED, ids=lambda case: case.name)
def test_some_of_the_bank_to_second_order(case, mode):
    """Right or refused. ``python -m tests.bank.second`` runs all of it."""
    try:
        check_second(case, mode)
    except DifferentiationError as problem:
        assert problem.diagnostic.code in REFUSALS


# --- lists of unknown length ----------------------------------------------------------------------------------------


def comprehension(x):
    squares = [v * v for v in x]
    return squares[0] * squares[1] + squares[-1] * np.sum(x)


def summed(x):
    return sum([v * v for v in x]) * np.prod([v + 3.0 for v in x])


def grown(x):
    items = []
    for v in x:
        items.append(v * v)
    items.append(items[0] * items[1])
    return np.sum(np.array(items) ** 2) + items[-1]


def rows(x):
    return np.sum(np.stack([v * x for v in x])[1:] ** 2)


def replaced(x):
    items = [v * v for v in x]
    items[1:] = items[:-1]
    items[:] = [2.0 * v for v in items]
    return items[1] * items[2] + items[0] * x[3]


class Quadratic:
    def __init__(self, scale):
        self.scale = scale

    def loss(self, x):
        return np.sum(self.scale * x**3)


def array_into_a_slice(x):
    items = [v * v for v in x]
    items[1:] = 2 * x[:3]
    items[:2] = x[2] * 3.0, x[0] * x[1]
    return items[0] * items[1] * items[2] + items[3]


def copied_and_read_in_order(x):
    """The list that ``map`` fills is copied, and the copy is read by place."""
    x = x * 1.0
    total = sum([p * x[3] for p in list(map(abs, x))])
    x[0] += total
    return np.sum(x) + x[1] ** 3


LISTS = [copied_and_read_in_order, array_into_a_slice, comprehension, summed, replaced, Quadratic(2.0).loss, grown]


@pytest.mark.grid(0.5)
@pytest.mark.parametrize(("f", "product"), [
    *[(f, s2s.hvp) for f in [*LISTS, rows]], *[(f, s2s.vhp) for f in LISTS]
], ids=lambda f: f.__name__)
def test_lists_of_unknown_length(f, product):
    gradient = s2s.grad(f)
    wanted = [differences(lambda t, k=k: float(gradient(X + t * V)[k]), 0.0) for k in range(4)]
    np.testing.assert_allclose(product(f, (X,), (V,)), wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("product", [s2s.hvp, s2s.vhp])
@pytest.mark.parametrize("f", LISTS[2:6], ids=lambda f: f.__name__)
def test_lists_of_unknown_length_to_third_order(f, product):
    def inside(x):
        return np.sum(product(f, (x,), (V,)) * V)

    np.testing.assert_allclose(s2s.grad(inside)(X) @ V, differences(lambda t: inside(X + t * V), 0.0), rtol=1e-5)


def a_slice_with_fewer_items(x):
    items = [v * v for v in x]
    items[1:] = [items[0] * x[2]]
    return np.sum(np.stack(items) ** 2) * len(items)


def slices_with_more_items(x):
    items = [v * x[0] for v in x]
    for k in range(2):
        items[k:k] = [items[1], x[k]]
        items[::3] = x[: len(items[::3])]
    total = 0.0
    for k, item in enumerate(items):
        total = total + (k + 1) * item**2 * x[1]
    return total


@pytest.mark.parametrize("f", [a_slice_with_fewer_items, slices_with_more_items])
def test_a_slice_of_a_list_that_gets_another_number_of_items(f):
    np.testing.assert_allclose(s2s.grad(f)(X) @ V, differences(lambda t: f(X + t * V), 0.0), rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(f)(X) @ V, differences(lambda t: f(X + t * V), 0.0), rtol=1e-7)
    wanted = differences(lambda t: s2s.grad(f)(X + t * V) @ V, 0.0)
    np.testing.assert_allclose(s2s.hvp(f, (X,), (V,)) @ V, wanted, rtol=1e-6)
    np.testing.assert_allclose(s2s.vhp(f, (X,), (V,)) @ V, wanted, rtol=1e-6)


def weighted_cross(a, b, c):
    out = np.cross(a, b)
    return np.sum(c * out)


def test_the_cotangent_of_a_variable_called_out_is_not_that_of_the_result():
    a, b, c = np.array([0.3, -0.4, 0.5]), np.array([1.0, 0.2, -0.7]), np.array([0.6, 0.1, 2.0])
    weights = np.array([1.0, 2.0, -1.0]), np.array([0.5, -1.5, 0.25])
    _, pullback = s2s.vjp(s2s.grad(weighted_cross, argnums=(0, 1)), a, b, c)
    # the gradient is (b x c, c x a)
    a_bar, b_bar, c_bar = pullback(weights)
    np.testing.assert_allclose(a_bar, np.cross(weights[1], c))
    np.testing.assert_allclose(b_bar, np.cross(c, weights[0]))
    np.testing.assert_allclose(c_bar, np.cross(weights[0], b) + np.cross(a, weights[1]))


def weighted_powers(weights, x):
    return np.sum(weights * x**3)


def test_a_derivative_with_an_array_bound_to_it():
    slopes = functools.partial(s2s.grad(weighted_powers, argnums=1), np.array([1.0, -2.0]))

    def product(x):
        return np.sum(slopes(x) * np.array([3.0, 1.0]))

    x = np.array([0.5, 1.5])
    np.testing.assert_allclose(s2s.grad(product)(x), [9.0, -18.0])
    squares = s2s.grad(lambda x: np.sum(s2s.grad(product)(x) ** 2))
    np.testing.assert_allclose(squares(x), [2.0 * 9.0 * 18.0, 2.0 * 18.0 * 12.0])


def slopes(values, places):
    return np.sum(np.gradient(values, places, edge_order=2) ** 3)


def test_slopes_by_the_places_of_the_points():
    values, places = np.array([0.5, -1.0, 2.0, 0.3, 1.1]), np.array([0.0, 0.7, 1.1, 2.0, 2.9])
    s2s.check_grads(slopes, (values, places), order=2)


def recursive(x, n):
    return x if n == 0 else np.sin(x) * recursive(x, n - 1)


def by_functions(x, functions):
    y = x
    for f in functions:
        y = f(y)
    return y * y


class Cubed:
    def of(self, v):
        return v**3


def by_method(x, objects):
    return objects[0].of(x) * x


FUNCTIONS = [np.sin, lambda v: v * v, np.exp]


@pytest.mark.parametrize(
    ("f", "argument", "closed"),
    [
        (recursive, 3, lambda x: x * np.sin(x) ** 3),
        (by_functions, FUNCTIONS, lambda x: np.exp(np.sin(x) ** 2) ** 2),
        (by_method, [Cubed()], lambda x: x**4),
    ],
)
def test_second_derivatives_through_calls_that_are_decided_when_the_program_runs(f, argument, closed):
    x, h = 0.7, 1e-3
    values = [closed(x + k * h) for k in (-2, -1, 0, 1, 2)]
    expected = np.dot([-1.0, 16.0, -30.0, 16.0, -1.0], values) / (12.0 * h * h)
    gradient = s2s.grad(f)
    assert s2s.grad(gradient)(x, argument) == pytest.approx(expected, rel=1e-8)
    assert s2s.jvp(gradient, (x, argument), (1.0, None))[1] == pytest.approx(expected, rel=1e-8)
    assert s2s.hvp(f, (x, argument), (1.0, None)) == pytest.approx(expected, rel=1e-8)
    by_forward = s2s.grad(lambda x: s2s.jvp(f, (x, argument), (1.0, None))[1])
    assert by_forward(x) == pytest.approx(expected, rel=1e-8)


def test_second_derivatives_of_many_functions_that_are_decided_when_the_program_runs():
    def called(x, functions):
        return functions[0](x) * x

    for k in range(1, 13):  # of each degree another function
        power = [lambda v, k=k: v**k]
        assert s2s.grad(s2s.grad(called))(0.7, power) == pytest.approx((k + 1) * k * 0.7 ** (k - 1), rel=1e-12)
        _, by_forward = s2s.jvp(lambda x: s2s.jvp(called, (x, power), (1.0, None))[1], (0.7,), (1.0,))
        assert by_forward == pytest.approx((k + 1) * k * 0.7 ** (k - 1), rel=1e-12)


def either(x):
    try:
        return np.sqrt(np.sum(x * x)) * math.log(x[0])
    except ValueError:
        return np.sqrt(np.sum(x * x))


@pytest.mark.parametrize("first", [1.5, -1.5])
def test_what_only_some_paths_assign_is_asked_once(first):
    x, v = np.array([first, 2.0]), np.array([1.0, 0.5])
    gradient, h = s2s.grad(either), 1e-5
    expected = (gradient(x + h * v) - gradient(x - h * v)) / (2.0 * h)
    np.testing.assert_allclose(s2s.hessian(either)(x) @ v, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(s2s.hvp(either, (x,), (v,)), expected, rtol=1e-7, atol=1e-9)


def test_a_pullback_of_something_linear_is_made_again():
    def linear(x, functions):
        return functions[0](x) * 3.0

    square = [lambda v: v * v]
    assert s2s.jvp(s2s.grad(linear), (1.5, square), (1.0, None)) == (9.0, 6.0)
    assert s2s.grad(s2s.grad(linear))(1.5, square) == 6.0


def norm_of_order(x):
    return np.linalg.norm(x, ord=3)


def norms_of_rows(x):
    return np.linalg.norm(np.outer(x, x), axis=1, ord=3)


@pytest.mark.parametrize("f", [norm_of_order, norms_of_rows])
@pytest.mark.parametrize("outer", [s2s.jacfwd, s2s.jacrev])
@pytest.mark.parametrize("inner", [s2s.jacfwd, s2s.jacrev])
def test_nested_jacobians_of_rules_called_for_each_direction(outer, inner, f):
    x = X[:3]
    cubes = np.sum(np.abs(x) ** 3) ** (1 / 3)
    slope = x * np.abs(x) / cubes**2
    bend = 2 * (np.diag(np.abs(x)) / cubes**2 - np.outer(slope, slope) / cubes)
    if f is norms_of_rows:  # |x_i| times the norm of x
        side = np.eye(3) * np.sign(x)
        bend = (
            np.abs(x)[:, None, None] * bend
            + side[:, :, None] * slope[None, None, :]
            + side[:, None, :] * slope[None, :, None]
        )
    np.testing.assert_allclose(outer(inner(f))(x), bend, rtol=1e-10, atol=1e-12)


def test_recursion_over_a_list_of_unknown_items_is_followed_once(monkeypatch):
    followed, inline = [], Inliner.inline

    def noted(self, fn, *rest):
        followed.append(fn)
        return inline(self, fn, *rest)

    monkeypatch.setattr(Inliner, "inline", noted)

    def least_sum_of_rows(x):
        return np.linalg.norm(np.outer(x, x), ord=-np.inf)

    x = np.array([0.4, -1.3, 0.8])  # the sum of the row of 0.4 is 0.4 * (0.4 + 1.3 + 0.8)
    wanted = np.array([[2.0, -1.0, 1.0], [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(s2s.jacfwd(s2s.jacfwd(least_sum_of_rows))(x), wanted, rtol=1e-12)
    assert followed.count(directions.joined) < 20


def epidemic(p, start):
    """The right-hand side fills an array, which is kept from before it is filled."""

    def rate(y, p):
        S, E, I, R = y  # noqa: E741
        N = S + E + I + R
        d = np.zeros_like(y)
        d[0] = -p["beta"] * S * I / N
        d[1] = p["beta"] * S * I / N - p["sigma"] * E
        d[2] = p["sigma"] * E - p["gamma"] * I
        d[3] = p["gamma"] * I
        return d

    p = dict(zip(("beta", "sigma", "gamma"), p))
    ys = np.zeros((7, 4))
    ys[0] = start
    for t in range(6):
        ys[t + 1] = ys[t] + 0.5 * rate(ys[t], p)
    return np.sum(ys[:, 2] ** 2)


def test_arrays_that_are_filled_after_they_are_kept(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    p, start, v = np.array([0.5, 0.2, 0.1]), np.array([0.9, 0.05, 0.05, 0.0]), np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(s2s.grad(epidemic)(p, start), differences(lambda p: epidemic(p, start), p), rtol=1e-6)
    bent = np.array([differences(lambda p, k=k: s2s.grad(epidemic)(p, start)[k], p) for k in range(3)])
    np.testing.assert_allclose(s2s.hessian(epidemic)(p, start), bent, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(s2s.hvp(epidemic, (p, start), (v, None)), bent @ v, rtol=1e-5, atol=1e-9)


PLACE = 1


def test_what_is_differentiated_may_be_said_by_an_integer_outside():
    """It is taken by value, so that the derivative is written out; another value is another version."""

    def of(k):
        def along(x, y):
            return np.sum(s2s.grad(lambda x, y: np.sum(x**2 * y**3), argnums=k)(x, y))

        return along

    def of_global(x, y):
        return np.sum(s2s.grad(lambda x, y: np.sum(x**2 * y**3), argnums=PLACE)(x, y))

    x, y = X[:2], X[2:]
    np.testing.assert_allclose(s2s.grad(of(0))(x, y), 2 * y**3)
    np.testing.assert_allclose(s2s.grad(of(1))(x, y), 6 * x * y**2)
    gradient = s2s.grad(of_global)
    np.testing.assert_allclose(gradient(x, y), 6 * x * y**2)
    assert "rt." not in s2s.source(of(1), x, y)
    try:
        globals()["PLACE"] = 0
        np.testing.assert_allclose(gradient(x, y), 2 * y**3)
    finally:
        globals()["PLACE"] = 1
