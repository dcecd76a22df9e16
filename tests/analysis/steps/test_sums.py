"""Remainders in long sums, of values side by side and behind functions that are affine in pieces: the true derivative,
by central differences."""

import math

import numpy as np
import pytest

import s2s
from s2s.analysis.steps.algebra import _is_whole

A, B, C = 0.77, 1.9, 0.6
STEP = 1e-6


def sines(v, w):
    return (
        math.sin(v) + math.sin(2 * v) + math.sin(3 * v) + math.sin(4 * v) + math.sin(5 * v) + math.sin(6 * v)
        + math.sin(7 * v) + math.sin(8 * v) + math.sin(9 * v) + math.sin(w) + math.sin(2 * w) + math.sin(3 * w)
        + math.sin(4 * w) + math.sin(5 * w) + math.sin(6 * w) + math.sin(7 * w) + math.sin(8 * w) + math.sin(9 * w)
        + math.cos(v) + math.cos(2 * v) + math.cos(3 * v) + math.cos(4 * v) + math.cos(w) + math.cos(2 * w)
        + math.cos(3 * w) + math.cos(4 * w)
    )  # fmt: skip


def less_its_floor(a, b, c):
    x = sines(a, b)
    return x - math.floor(x)


def less_the_floor_of_the_same_sum(a, b, c):
    return (sines(a, b) + c) * 2.0 - 2.0 * np.floor(c + sines(a, b))


def in_units(a, b, c):
    x = sines(a, b) + c
    q, r = divmod(x, 3.6)
    p, r = divmod(r, 0.6)
    return q * 3.6 + p * 0.6 + r


def between(at, y):
    i = int(at)
    s = y[i] * (1.0 - (at - i)) + y[i + 1] * (at - i)
    q, r = divmod(s, 3.6)
    p, r = divmod(r, 0.6)
    return q * 3.6 + p * 0.6 + r


def between_twice(a, b, c):
    first = between(0.5 + 0.45 * np.sin(a), np.array([a, 0.56]) * a)
    t = 1.37 * np.mod(c, 1.2) + first
    return between(0.5 + 0.45 * np.sin(t), np.array([t, 0.56]) * t)


def product_of_sums(a, b, c):
    x = (a + b + c) * (a * a + b * b + c) * (a * b + b * c + c) * (a + 3.0 * b + c * c)
    return x / 2.0 - np.floor(x / 2.0)


def halves_of_sums(a, b, c):
    s = a * b
    for k in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0):
        s = s * math.sin(k * a) + s * math.cos(k * b)
    return s - math.floor(s)


def displays(a, b, c):
    v = np.array([a, b]) - np.array([np.floor(a), np.floor(b)])
    return np.sum(v * v)


def comprehension(a, b, c):
    v = np.array([a, b]) - np.array([math.floor(u) for u in [a, b]])
    return v[0] * v[1]


def floor_of_a_display(a, b, c):
    v = np.array([a, b]) - np.floor([a, b])
    return np.sum(v * v)


def filled(a, b, c):
    w = np.zeros(2)
    w[0] = np.floor(a)
    w[1] = np.floor(b)
    v = np.array([a, b]) - w
    return np.sum(v * v)


def scaled_displays(a, b, c):
    z = np.stack([a * b, b])
    v = z - 0.7 * np.floor(np.array([a * b / 0.7, b / 0.7]))
    return np.sum(v * v)


def item_of_a_product(a, b, c):
    t = np.array([a, b]) * np.array([c, 1.0])
    return a * c - np.round(t)[0]


def rows_of_an_outer_product(a, b, c):
    pairs = np.array([(u, math.floor(u)) for u in np.array([a, b])])
    m = np.outer(pairs[:, 0] - pairs[:, 1], [1.0, 1.7])
    w = m - np.array([[np.round(u) for u in row] for row in m])
    return w[0, 1] * w[1, 0]


def rows_that_are_written_out(a, b, c):
    m = np.outer([a, b], [1.0, 1.7])
    rows = [[math.floor(m[i, j]) for j in range(2)] for i in range(2)]
    v = (m - np.array(rows))[:, 1]
    t = np.array([c, v[0]])
    w = t.copy()
    for k in range(2):
        w[k] = float(int(t[k]))
    return np.sum(v * v) + np.sum(t - w)


def absolute_value_of_a_step(a, b, c):
    return a - abs(int(a / 0.7)) * 0.7


def part_of_an_absolute_value(a, b, c):
    x = -3.0 * a
    return abs(x) - abs(int(x))


def less_a_step_with_its_sign(a, b, c):
    x = -3.0 * a
    return x - 0.5 * abs(np.trunc(2.0 * x)) * np.sign(x)


def put_together_of_absolute_values(a, b, c):
    q, r = divmod(a, 0.7)
    return abs(q) * 0.7 + np.abs(r)


def put_together_of_a_remainder_of_a_remainder(a, b, c):
    q, r = divmod(a, 0.7)
    return q * 0.7 + r % 0.7


def put_together_in_degrees(a, b, c):
    q, r = divmod(a, 0.7)
    return np.degrees(np.radians(q)) * 0.7 + r


def put_together_of_a_product(a, b, c):
    q, r = divmod(a, 0.7)
    return np.prod([q, 0.7]) + r


def put_together_of_extremes(a, b, c):
    q, r = divmod(a, 0.7)
    return np.max([q]) * 0.7 + np.median([r])


def put_together_of_numbers(a, b, c):
    q, r = divmod(a, 0.7)
    return np.nan_to_num(q) * 0.7 + np.interp(r, [0.0, 1.0], [0.0, 1.0])


def items_at_a_place_that_is_a_step(a, b, c):
    s = np.array([a, b])[math.floor(c) + 1]
    whole = np.array([math.floor(2.0 * a), math.floor(s)])
    return np.sum((np.array([2.0 * a, s]) - whole) ** 2) + (np.array([2.0 * a, s]) - whole)[1]


def columns_of_a_remainder_by_a_list(a, b, c):
    t = np.array([a, b, c, a]) * c
    wholes = []
    for v in t:
        wholes.append(round(v))
    u = 1.37 * (t - np.array([wholes[k] for k in range(4)]))
    beside = np.column_stack([np.round(u), u])
    part = beside[:, 1] - beside[:, 0]
    return part[0] + part[1] - 1.7 * np.round(part[1] / 1.7)


TRUE = [
    items_at_a_place_that_is_a_step, columns_of_a_remainder_by_a_list,
    less_its_floor, less_the_floor_of_the_same_sum, in_units, between_twice, product_of_sums, halves_of_sums, displays,
    comprehension, floor_of_a_display, filled, scaled_displays, item_of_a_product, rows_of_an_outer_product,
    rows_that_are_written_out,
    absolute_value_of_a_step, part_of_an_absolute_value, less_a_step_with_its_sign, put_together_of_absolute_values,
    put_together_of_a_remainder_of_a_remainder, put_together_in_degrees, put_together_of_a_product,
    put_together_of_extremes, put_together_of_numbers,
]


def differences(f):
    args = np.array([A, B, C])
    return np.array([(f(*(args + d)) - f(*(args - d))) / (2.0 * STEP) for d in STEP * np.eye(3)])


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", TRUE, ids=lambda f: f.__name__)
def test_remainders_have_their_true_derivative(f):
    expected = differences(f)
    assert np.any(np.abs(expected) > 1e-3)
    np.testing.assert_allclose(s2s.grad(f, argnums=(0, 1, 2))(A, B, C), expected, rtol=1e-6, atol=1e-7)
    tangent = s2s.jvp(f, (A, B, C), (1.0, -2.0, 0.5))[1]
    assert tangent == pytest.approx(expected @ [1.0, -2.0, 0.5], rel=1e-6, abs=1e-7)


def less_a_step_of_a_product(a, b, c):
    x = np.cos(a) - b * c * 2.0
    return abs(x) - 0.25 * np.abs(np.trunc(4.0 * x))


def less_half_of_twice_a_step(a, b, c):
    x = -3.0 * a
    return np.sqrt(b) + abs(x) - abs(2.0 * np.trunc(x)) / 2.0


def less_steps_of_an_array(a, b, c):
    x = np.array([-3.0 * a, b * c, -b])
    return np.sum((np.abs(x) - np.abs(np.trunc(x))) * [1.0, 2.0, 4.0])


@pytest.mark.parametrize(
    "f", [part_of_an_absolute_value, less_a_step_of_a_product, less_half_of_twice_a_step, less_steps_of_an_array],
    ids=lambda f: f.__name__)
def test_a_step_has_the_sign_of_what_it_rounds(f):
    """Its absolute value is taken from that of what it rounds: a remainder, with the slope of the latter."""
    expected = differences(f)
    np.testing.assert_allclose(s2s.grad(f, argnums=(0, 1, 2))(A, B, C), expected, rtol=1e-6, atol=1e-7)
    assert np.any(np.abs(expected) > 1e-3)


def test_a_value_over_a_step_is_no_remainder():
    """What the value is multiplied by has a step: this is not taken from the value."""
    f = lambda a: a / (1.0 + np.floor(a)) - 0.5 * a
    slope = 1.0 / 3.0 - 2.3 / 9.0 - 0.5
    assert s2s.grad(f)(2.3) == pytest.approx(slope)
    assert s2s.jvp(f, (2.3,), (2.0,))[1] == pytest.approx(2.0 * slope)


def test_losses_of_a_step_and_of_its_remainder_are_apart():
    x, y, w = np.array([0.7, -1.3]), np.array([2.5, 0.5]), np.array([0.4, -0.8])

    def loss(x):
        q = np.round(x)
        return np.sum(np.abs(w * q - y)) + np.sum(np.abs(x - q)) + np.linalg.norm(q + y)

    q = np.round(x)
    expected = w * np.sign(w * q - y) + np.sign(x - q) + (q + y) / np.linalg.norm(q + y)
    np.testing.assert_allclose(s2s.grad(loss)(x), expected)
    assert s2s.jvp(loss, (x,), (y,))[1] == pytest.approx(expected @ y)


def less_the_last_of_many_branches(x, others):
    total = 0.0
    for a in (*others,):
        total = total + (np.floor(a) if a > 0.5 else np.ceil(a))
    whole = np.floor(x) if others[0] < 0.0 else np.ceil(x)
    return total + x - whole


@pytest.mark.filterwarnings("ignore::s2s.StraightThroughWarning")
def test_of_many_branches_the_last_are_looked_at_first():
    """Of more combinations than are looked at: the remainder is found in the branch that is subtracted."""
    others = tuple(np.linspace(-2.2, 2.9, 10).tolist())
    f = less_the_last_of_many_branches
    expected = (f(1.3 + STEP, others) - f(1.3 - STEP, others)) / (2.0 * STEP)
    value, (at, _) = s2s.value_and_grad(f, argnums=(0, 1))(1.3, others)
    assert value == f(1.3, others) and at == pytest.approx(expected) == 1.0
    assert s2s.jvp(f, (1.3, others), (1.0, (0.0,) * 10))[1] == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore::s2s.StraightThroughWarning")
@pytest.mark.parametrize("are_columns", [True, False])
def test_of_columns_only_those_steps_are_remainders_that_are_subtracted(are_columns):
    """What is rounded before is a step of its own, that passes straight through: ``d + d`` goes into each sum."""

    def f(v):
        wholes = []
        for k in range(3):
            wholes.append(round(v[k]))
        u = np.array([wholes[k] for k in range(3)]) + v
        beside = np.column_stack([u, np.floor(u)])
        part = beside[:, 0] - beside[:, 1] if are_columns else u - np.floor(u)
        return part[0] ** 2 + part[1] * part[2]

    v, direction = np.array([0.83, 1.72, 2.61]), np.array([1.0, -2.0, 0.5])
    part = v % 1.0
    expected = 2.0 * np.array([2.0 * part[0], part[2], part[1]])
    np.testing.assert_allclose(s2s.grad(f)(v), expected, rtol=1e-12)
    assert s2s.jvp(f, (v,), (direction,))[1] == pytest.approx(expected @ direction)


def of_a_list(given, v):
    """Numbers of a list that a loop fills, in an array of which the length is not known."""
    kept = []
    for k in given:
        kept.append(int(k))
    return np.array([kept[k] for k in range(3)]) * v


def part_by_a_slice(v, given):
    part = of_a_list(given, v)[1:]
    return np.sum((part - np.floor(part.copy())) ** 2)


def part_by_a_list(v, given):
    part = of_a_list(given, v)[[0, 1]]
    return np.sum((part - np.floor(part.ravel())) ** 2)


def part_by_a_comparison(v, given):
    u = of_a_list(given, v)
    part = u[u > 2.0]
    return np.sum((2.0 * part.copy() - np.floor(2.0 * part)) ** 2)


def product_of_a_part(v, given):
    part = (of_a_list(given, v) + 0.0)[1:]
    return (part.dot(np.ones(2)) - np.floor(part.dot(np.ones(2)))) ** 2


@pytest.mark.parametrize("f", [part_by_a_slice, part_by_a_list, part_by_a_comparison, product_of_a_part])
def test_methods_of_parts_of_what_is_an_array_by_how_it_is_made(f):
    v, given, direction = np.array([0.83, 1.72, 2.61]), [1, 2, 3], np.array([1.0, -2.0, 0.5])
    expected = [(f(v + d, given) - f(v - d, given)) / (2.0 * STEP) for d in STEP * np.eye(3)]
    np.testing.assert_allclose(s2s.grad(f)(v, given), expected, rtol=1e-6, atol=1e-7)
    tangent = s2s.jvp(lambda v: f(v, given), (v,), (direction,))[1]
    assert tangent == pytest.approx(expected @ direction, rel=1e-6)


@pytest.mark.parametrize(
    ("number", "is_whole"),
    [
        (0.0, True), (3.0, True), (-2.0, True), (0.5, False), (3.0 + 1e-10, True), (3.0 - 1e-8, False), (1e-5, False),
        (0.1 * 3 * 10, True), (1e9 + 0.25, True), (-1e9 - 0.25, True), (1e6 + 0.25, False), (1e8 + 0.2, False),
    ],
)  # fmt: skip
def test_numbers_that_count_as_whole(number, is_whole):
    """By how large they are: as far as rounding errors of floats leave it open."""
    assert _is_whole(number) == is_whole
