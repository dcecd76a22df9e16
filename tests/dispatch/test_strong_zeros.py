"""Versions with strong zeros: what they give is right or NaN, is checked when it has to be, and shows as code."""

import dataclasses
import math
import threading
import types

import numpy as np
import pytest

import s2s
from s2s import runtime as rt
from s2s.recorded import strong_zeros

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

X = np.linspace(0.1, 1.0, 9)
MASK = 1.0 - np.eye(3)
ROWS = np.array([[1.0], [0.0], [1.0]])
XS, YS = np.meshgrid(np.arange(4.0) - 2.0, np.arange(6.0) - 3.0)


def differences(f, x, h=1e-6):
    moved = [h * e.reshape(np.shape(x)) for e in np.eye(np.size(x))]
    return np.reshape([(f(x + e) - f(x - e)) / (2.0 * h) for e in moved], np.shape(x))


# --- where the zero is right ------------------------------------------------------------------------------------------


def distances_in_space(x):
    p = x.reshape(3, 3)
    d = p[:, None, :] - p[None, :, :]
    r = np.sqrt(np.sum(d**2, axis=2))
    r[r > 0] = 1 / r[r > 0]
    return np.sum(r)


def distances_on_a_line(x):
    r = np.sqrt((x[:, None] - x) ** 2)
    r[r > 0] = 1 / r[r > 0]
    return np.sum(r)


def root_of_a_grid(x):
    return np.sqrt(XS**2 + x[0] * YS**2)[0, 0]


def nested_choices(x):
    s = np.sqrt(x - 0.5)
    return np.sum(np.where(x > 0.5, s, np.where(x < 0.2, x, 2 * x)) + np.where(x > 0.6, s * x, 0.0))


def logarithms_of_masked_zeros(x):
    w = x.reshape(3, 3) * MASK
    logs = np.log(w)
    logs[w == 0] = 0.0
    return np.sum(w * logs)


def directions_of_rows(x):
    w = x.reshape(3, 3) * ROWS
    n = np.linalg.norm(w, axis=1)
    u = (w.T / n).T
    u[n == 0] = 0.0
    return np.sum(u * np.arange(9.0).reshape(3, 3))


def products_with_rows_that_are_not_read(x):
    w = x.reshape(3, 3) * ROWS
    u = w / np.linalg.norm(w, axis=1)[:, None] @ np.outer(x[:3], x[3:6])
    u[np.isnan(u)] = 0.0
    return np.sum(u**2)


def powers_of_zero(x):
    p = np.abs(x[:, None] - x) ** -1.5
    p[np.isinf(p)] = 0.0
    return np.sum(p)


def angles_at_the_origin(x):
    w = x * np.array([0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0])
    return np.sum(np.arctan2(w, w[::-1])[[1, 3]]) + x[0] ** 2


def angles_of_equal_vectors(x):
    u = x.reshape(3, 3) / np.linalg.norm(x.reshape(3, 3), axis=1)[:, None]
    return np.sum(np.arccos(np.minimum(u @ u.T, 1.0) * MASK + np.eye(3)) * MASK)


def quotients_that_are_chosen(x):
    t = np.vstack([1 / (x - x[0]), x])
    return np.sum(np.where(np.isinf(t), 0.0, t) * x)


def exponents_beyond_the_range(x):
    v = np.array([0.1, 1.0, 1e3])
    return np.sum(v**3 / (np.exp(v / x[8]) - 1))


def roots_of_numbers(x):
    total = 0.0
    for k in range(4):
        total += math.sqrt(x[k] * k) * k
    return total


def distances_of_numbers(x):
    total, points = 0.0, [x[0], 2 * x[0], x[0] * x[1]]
    for a in points:
        for b in points:
            r = math.sqrt((a - b) ** 2)
            total += 1 / r if r > 0 else 0.0
    return total


def powers_of_numbers(x):
    total = 0.0
    for k in range(3):
        total += (k * x[0]) ** 0.5 * k + (k * x[1]) ** 1.5
    return total


def numbers_without_a_part(x):
    t, none = 0.0 * x[0], x * np.zeros(9)
    return np.sum(np.arctan2(none, none) * x) + math.sqrt(t) * 0.0 + x[1] ** 2


RIGHT = [
    distances_in_space, distances_on_a_line, root_of_a_grid, nested_choices, logarithms_of_masked_zeros,
    directions_of_rows, products_with_rows_that_are_not_read, powers_of_zero, angles_at_the_origin,
    angles_of_equal_vectors, quotients_that_are_chosen, exponents_beyond_the_range, roots_of_numbers,
    distances_of_numbers, powers_of_numbers, numbers_without_a_part,
]


@pytest.mark.parametrize("f", RIGHT)
def test_gradients_where_a_slope_meets_a_zero(f):
    """Without recordings, which the environment of the tests switches off."""
    want, gradient = differences(f, X), s2s.grad(f)
    for _ in range(3):
        np.testing.assert_allclose(gradient(X), want, rtol=1e-6, atol=1e-7)
    assert "rt.strong_" in gradient.source
    value, found = s2s.value_and_grad(f)(X)
    np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-7)
    assert value == f(X)


@pytest.mark.parametrize("f", RIGHT)
def test_tangents_where_a_slope_meets_a_zero(f):
    want, along = differences(f, X), np.linspace(1.0, -1.0, 9)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), want, rtol=1e-6, atol=1e-7)
    value, found = s2s.jvp(f, (X,), (along,))
    np.testing.assert_allclose(found, want @ along, rtol=1e-6, atol=1e-7)
    assert value == f(X)


def test_a_number_that_is_differentiated():
    def f(x):
        r = math.hypot(0.0 * x, 0.0)
        return (1.0 / r if r > 0 else x) + math.sqrt(x - x) * 0.0 + x**2

    for derivative in (s2s.grad(f), s2s.jacfwd(f)):
        assert [derivative(x) for x in (1.5, 2.5, 1.5)] == [4.0, 6.0, 4.0]


@dataclasses.dataclass
class Weights:
    w: np.ndarray
    b: float


def test_structures():
    w, want = X.reshape(3, 3), np.where(MASK > 0, 2.0 / np.sqrt(X.reshape(3, 3)), 0.0)
    total = np.sum(np.sqrt(w * MASK)) * 2.0
    found = s2s.grad(lambda p: 2.0 * np.sum(np.sqrt(p["w"] * MASK) * p["b"]))({"w": w, "b": 2.0})
    np.testing.assert_allclose(found["w"], want, rtol=1e-14)
    np.testing.assert_allclose(found["b"], total, rtol=1e-14)
    found = s2s.grad(lambda p: 2.0 * np.sum(np.sqrt(p.w * MASK) * p.b))(Weights(w, 2.0))
    np.testing.assert_allclose(found.w, want, rtol=1e-14)
    np.testing.assert_allclose(found.b, total, rtol=1e-14)
    found = s2s.grad(lambda w, b, k=1.0: 2.0 * np.sum(np.sqrt(w * MASK) * b), argnums=(0, 1))(w, 2.0, k=3.0)
    np.testing.assert_allclose(found[0], want, rtol=1e-14)
    (value, rest), found = s2s.value_and_grad(lambda w: (4.0 * np.sum(np.sqrt(w * MASK)), "rest"), has_aux=True)(w)
    np.testing.assert_allclose(found, want, rtol=1e-14)
    assert rest == "rest" and value == 2.0 * total
    found, rest = s2s.grad(lambda w: (4.0 * np.sum(np.sqrt(w * MASK)), "rest"), has_aux=True)(w)
    np.testing.assert_allclose(found, want, rtol=1e-14)
    assert rest == "rest"


class Slotted:
    __slots__ = ("w", "b")

    def __init__(self, w, b):
        self.w, self.b = w, b


@pytest.mark.parametrize("kind", [Slotted, types.SimpleNamespace])
def test_objects(kind):
    def f(p):
        return 2.0 * np.sum(np.sqrt(p.w * MASK) * p.b)

    w, want = X.reshape(3, 3), np.where(MASK > 0, 2.0 / np.sqrt(X.reshape(3, 3)), 0.0)
    given, total = kind(w=w, b=2.0), np.sum(np.sqrt(w * MASK)) * 2.0
    for derivative in (s2s.grad(f), s2s.jacrev(f), lambda p: s2s.value_and_grad(f)(p)[1]):
        found = derivative(given)
        np.testing.assert_allclose(found.w, want, rtol=1e-14)
        np.testing.assert_allclose(found.b, total, rtol=1e-14)
    along = kind(w=np.ones((3, 3)), b=0.5)
    np.testing.assert_allclose(s2s.jvp(f, (given,), (along,))[1], np.sum(want) + 0.5 * total, rtol=1e-14)


@pytest.mark.parametrize("jacobian", [s2s.jacrev, s2s.jacfwd])
def test_jacobians_of_structures(jacobian):
    found = jacobian(lambda w: {"n": 3, "a": np.sqrt(w * MASK), "b": (np.sum(np.sqrt(w * MASK)), 1.0)})(
        X.reshape(3, 3))
    slopes = np.where(MASK > 0, 0.5 / np.sqrt(X.reshape(3, 3)), 0.0)
    np.testing.assert_allclose(found["a"].reshape(9, 9), np.diag(slopes.ravel()), rtol=1e-14)
    np.testing.assert_allclose(found["b"][0], slopes, rtol=1e-14)


def test_elements():
    found = s2s.elementwise_grad(lambda x: np.sqrt(np.abs(x - 0.5)) * np.array([1.0, 0.0, 1.0]))(
        np.array([0.1, 0.5, 0.9]))
    np.testing.assert_allclose(found, [-0.5 / np.sqrt(0.4), 0.0, 0.5 / np.sqrt(0.4)], rtol=1e-14)


def test_single_precision():
    def f(x):
        return np.sum(np.sqrt(x.reshape(3, 3) * np.float32(MASK)))

    found = s2s.grad(f)(np.float32(X))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.where(MASK.ravel() > 0, 0.5 / np.sqrt(X), 0.0), rtol=1e-6)


# --- second derivatives -----------------------------------------------------------------------------------------------


def masked(x):
    w = x.reshape(3, 3) * MASK
    return np.sum(np.sqrt(w) * w @ np.ones(3))


def test_second_derivatives():
    want = np.diag(np.where(MASK.ravel() > 0, 0.75 / np.sqrt(X), 0.0))
    np.testing.assert_allclose(s2s.hessian(masked)(X), want, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(s2s.hvp(masked, (X,), (np.ones(9),)), want @ np.ones(9), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("power, want", [(4, 2.0), (5, 0.0), (6, 0.0)])
def test_second_derivatives_at_the_end_of_a_root(power, want):
    """Of ``x**2``, ``x**2.5`` and ``x**3``: right or NaN."""
    found = s2s.hessian(lambda x: np.sum(np.sqrt(x) ** power))(np.array([0.0, 1.0]))
    assert found[0, 0] == want or np.isnan(found[0, 0])
    np.testing.assert_allclose(found[1], [0.0, power / 2 * (power / 2 - 1)], rtol=1e-12)


# --- where the zero is wrong ------------------------------------------------------------------------------------------


def squares_of_roots(x):
    return np.sum(np.sqrt(x) ** 2)


def small_among_large(x):
    return np.sum(np.sqrt(x) ** 2 * np.array([1e-3, 1e3, 1.0]))


def cubes_of_roots(x):
    return np.sum(np.cbrt(x) ** 3 * np.array([1e-3, 1.0, 1.0]))


def powers_that_make_one(x):
    return np.sum(x**0.5 * x**0.5)


def exponentials_of_logarithms(x):
    return np.sum(np.exp(np.log(x)))


def squares_of_roots_of_numbers(x):
    total = 0.0
    for k in range(3):
        total = total + math.sqrt(x[k]) ** 2 * (k + 1)
    return total


def fourth_powers_of_roots(x):
    return np.sum(np.sqrt(x) ** 4)


def round_an_origin(x):
    return np.sqrt(x[0] ** 2 + 0.0 * x[1]) * np.sin(np.arctan2(x[0], x[0] - x[0])) + np.sum(x[1:])


def jumps_to_one_side(x):
    """At 0 both are the greatest; on one side the angle jumps, on the other the slope is one."""
    v = x * (x != 0)
    return np.sum(np.maximum(x, np.arctan2(v, v)))


WRONG = [
    (squares_of_roots, [1.0, 1.0, 1.0]), (small_among_large, [1e-3, 1e3, 1.0]), (cubes_of_roots, [1e-3, 1.0, 1.0]),
    (powers_that_make_one, [1.0, 1.0, 1.0]), (exponentials_of_logarithms, [1.0, 1.0, 1.0]),
    (squares_of_roots_of_numbers, [1.0, 2.0, 3.0]), (fourth_powers_of_roots, [0.0, 8.0, 2.0]),
    (round_an_origin, [1.0, 1.0, 1.0]), (jumps_to_one_side, [1.0, 1.0, 1.0]),
]


@pytest.mark.parametrize("f, want", WRONG)
def test_a_zero_that_is_wrong_gives_no_wrong_number(f, want):
    x = np.array([0.0, 4.0, 1.0])
    for derivative in (s2s.grad(f), s2s.jacrev(f), s2s.jacfwd(f)):
        for _ in range(4):
            found = derivative(x)
            np.testing.assert_allclose(np.where(np.isnan(found), want, found), want, rtol=1e-9)
    found = s2s.jvp(f, (x,), (np.ones(3),))[1]
    assert np.isnan(found) or np.isclose(found, np.sum(want), rtol=1e-9, atol=0.0)


def test_one_wrong_zero_among_many_that_may_be_any():
    """At a kink any slope between those of the sides is right; the root at the end has the slope one."""
    found = s2s.grad(lambda x: np.sum(np.sqrt(x[:300] ** 2)) + np.sum(np.sqrt(x[300:]) ** 2))(np.zeros(301))
    assert np.isnan(found[300])


@pytest.mark.parametrize("f", [
    lambda x: np.sum(np.sqrt(np.abs(x))), lambda x: np.sum(np.sqrt(np.sqrt(x * x))),
    lambda x: sum(math.sqrt(abs(x[k])) for k in range(3)),
])
def test_slopes_without_bound_to_both_sides_are_no_zero(f):
    for _ in range(3):
        assert np.isnan(s2s.grad(f)(np.zeros(3))).all()
    assert np.isnan(s2s.jvp(f, (np.zeros(3),), (np.ones(3),))[1])


@pytest.mark.parametrize("angle", [np.arctan2, math.atan2])
def test_no_slope_is_known_of_an_angle_at_the_origin(angle):
    def f(x, y):
        return angle(x, y)

    assert np.isnan(s2s.grad(f, argnums=(0, 1))(0.0, 0.0)).all()
    assert np.isnan(s2s.jvp(f, (0.0, 0.0), (1.0, 1.0))[1])
    assert np.isnan(s2s.grad(lambda x: f(x, 0.0))(0.0))
    assert np.isnan(s2s.grad(s2s.grad(lambda x: f(x, 0.0)))(0.0))


def test_a_value_chosen_where_those_beside_have_no_bound_has_the_slope_zero():
    found = s2s.grad(lambda x: np.sum(np.where(x != 0, 1.0 / x, 0.0)))(np.array([0.0, 2.0]))
    np.testing.assert_array_equal(found, [0.0, -0.25])


def test_nothing_is_known_beside_an_infinite_number():
    def f(x):
        return np.sum(np.sqrt(1.0 / x))

    x = np.array([np.inf, 4.0])
    for derivative in (s2s.grad(f), s2s.jacrev(f)):
        for _ in range(3):
            np.testing.assert_array_equal(derivative(x), [np.nan, -0.0625])
    assert np.isnan(s2s.jacfwd(f)(x)[0])
    for along in ([1.0, 0.0], [1.0, 1.0]):
        assert np.isnan(s2s.jvp(f, (x,), (np.array(along),))[1])


def test_a_kink_has_the_slope_zero():
    np.testing.assert_array_equal(s2s.grad(lambda x: np.sum(np.sqrt(x * x)))(np.array([0.0, 4.0])), [0.0, 1.0])


# --- when it is checked -----------------------------------------------------------------------------------------------


@pytest.fixture
def checks(monkeypatch):
    made, result = [], strong_zeros._Check.result
    monkeypatch.setattr(strong_zeros._Check, "result", lambda *given: made.append(1) or result(*given))
    return made


def test_the_version_serves_later_calls_and_is_checked_at_growing_intervals(checks):
    gradient, counts = s2s.grad(lambda x: masked(x)), []
    for k in range(12):
        found = gradient(X + 0.1 * k)
        np.testing.assert_allclose(found, np.where(MASK.ravel() > 0, 1.5 * np.sqrt(X + 0.1 * k), 0.0), rtol=1e-14)
        counts.append(len(checks))
    assert np.flatnonzero(np.diff([0, *counts])).tolist() == [0, 1, 2, 4, 8]


def test_zeros_that_decide_at_another_place_are_checked():
    gradient = s2s.grad(lambda x: np.sum(np.sqrt(x[:3] * np.array([1.0, 0.0, 1.0]))) + np.sum(np.sqrt(x[3:]) ** 2))
    right = np.array([1.0, 1.0, 4.0, 2.0, 3.0])
    for _ in range(4):
        np.testing.assert_allclose(gradient(right), [0.5, 0.0, 0.25, 1.0, 1.0], rtol=1e-14)
    other = np.array([1.0, 1.0, 4.0, 0.0, 3.0])
    for _ in range(4):
        found = gradient(other)
        assert np.isnan(found[3])
        np.testing.assert_allclose(found[[0, 2, 4]], [0.5, 0.25, 1.0], rtol=1e-14)


def test_zeros_that_decide_more_numbers_are_checked():
    """The weight is zero where the root is, in the first calls."""
    gradient = s2s.grad(lambda x, w: np.sum((np.sqrt(x) * w) ** 2))
    x = np.array([1.0, 0.0, 0.0, 4.0])
    for _ in range(3):
        np.testing.assert_allclose(gradient(x, np.array([1.0, 0.0, 0.0, 2.0])), [1.0, 0.0, 0.0, 4.0], rtol=1e-14)
    for _ in range(4):
        found = gradient(np.zeros(4), np.array([1.0, 0.0, 0.0, 2.0]))
        assert np.isnan(found[[0, 3]]).all()


def test_two_that_are_wrong_end_it(checks):
    gradient = s2s.grad(lambda x: np.sum(np.sqrt(x) ** 2))
    for _ in range(5):
        np.testing.assert_array_equal(gradient(np.array([0.0, 1.0])), [np.nan, 1.0])
    assert len(checks) == 2 and "rt.strong_" not in gradient.source


def test_nan_of_the_program_stays(checks):
    gradient = s2s.grad(lambda x: masked(x))
    assert np.isnan(gradient(np.where(X > 0.5, X, np.nan))).any()
    assert checks == []
    value, found = s2s.value_and_grad(lambda x: np.sum(np.sqrt(x) * np.array([0.0, 1.0])))(np.array([-1.0, 4.0]))
    assert np.isnan(value) and np.isnan(found[0]) and checks == []


def test_nothing_notices_the_check():
    calls = []

    def noted(x):
        calls.append(float(x[0]))
        return masked(x)

    gradient = s2s.grad(noted)
    for _ in range(2):
        assert not np.isnan(gradient(X)).any()
    assert calls == [0.1, 0.1]


def test_random_numbers_are_those_of_the_call():
    draws = np.random.default_rng(4)

    def drawn(x):
        return masked(x * draws.normal(size=9) ** 2)

    state = draws.bit_generator.state
    assert np.isnan(s2s.grad(drawn)(X)[0])
    after = draws.bit_generator.state
    draws.bit_generator.state = state
    drawn(X)
    assert draws.bit_generator.state == after


def test_a_path_that_is_refused_after_the_version_has_served():
    def f(x, way):
        if way > 1.0:
            raise ValueError("no such way")
        return masked(x) * way

    gradient = s2s.grad(f)
    for _ in range(3):
        assert not np.isnan(gradient(X, 1.0)).any()
    with pytest.raises(ValueError, match="no such way"):
        gradient(X, 2.0)


# --- the operations ---------------------------------------------------------------------------------------------------


def test_products():
    a, b = np.array([0.0, 2.0, np.inf, 0.0, np.nan]), np.array([np.inf, 3.0, 0.0, np.nan, 1.0])
    np.testing.assert_array_equal(rt.strong_product(a, b), [0.0, 6.0, 0.0, 0.0, np.nan])
    np.testing.assert_array_equal(rt.strong_product(0.0, b), np.zeros(5))
    np.testing.assert_array_equal(rt.strong_product(a[:2, None], b[:2]), [[0.0, 0.0], [np.inf, 6.0]])
    assert rt.strong_product(0.0, math.inf) == 0.0 and type(rt.strong_product(0.0, math.inf)) is float
    found = rt.strong_product(np.float32(0.0), np.float32(np.inf))
    assert found == 0.0 and type(found) is np.float32
    found = rt.strong_product(np.zeros((2, 3), np.float32, order="F"), np.float32(np.inf))
    assert found.dtype == np.float32 and not found.any()
    found = rt.strong_product(np.array([0j, 1j]), np.array([np.inf, 2.0]))
    np.testing.assert_array_equal(found, [0.0, 2j])
    assert math.isnan(rt.strong_product(math.nan, 2.0))
    assert rt.strong_product(np.zeros(0), np.zeros(0)).shape == (0,)


def test_quotients():
    a, b = np.array([0.0, 2.0, np.inf, 0.0, 1.0]), np.array([0.0, 4.0, np.inf, np.nan, 0.0])
    np.testing.assert_array_equal(rt.strong_quotient(a, b), [0.0, 0.5, 0.0, 0.0, np.inf])
    assert rt.strong_quotient(0.0, 0.0) == 0.0 and rt.strong_quotient(1.0, 0.0) == math.inf
    assert rt.strong_quotient(np.array(0.0), np.array(0.0)) == 0.0


def test_products_of_matrices():
    a = np.array([[1.0, 2.0, np.nan], [3.0, np.inf, 1.0]])
    b = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(rt.strong_matmul(a, b), [[3.0, np.nan], [np.inf, 1.0]])
    np.testing.assert_array_equal(rt.strong_matmul(a[0], np.array([1.0, 1.0, 0.0])), 3.0)


def test_places_are_noted_by_thread_and_block():
    def decides():
        return rt.strong_product(0.0, math.inf), rt.strong_quotient(0.0, 0.0)

    with rt.Decisions() as outer:
        with rt.Decisions() as inner:
            decides()
            rt.strong_product(2.0, math.inf)
        assert [*inner.counts.values()] == [1, 1]
        other = threading.Thread(target=lambda: rt.strong_matmul(np.zeros(2), np.array([1.0, np.inf])))
        other.start()
        other.join()
    assert outer.counts == inner.counts
