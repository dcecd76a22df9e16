"""Loops over elements: what a backend that compiles is given, run by Python, against differences; and what is a loop
and what is not."""

import operator
import re

import numpy as np
import pytest

import s2s
from s2s.core import ir
from s2s.optimize.loops.accesses import Extent
from s2s.optimize.loops.gathers import Addition, _skipped, margins_of
from tests.fuzz.check import loops_by_python
from tests.helpers import differences


def looped(f, *args, ends=True):
    """The text with loops of the gradient by all floats among the arguments, once it and the tangent are right."""
    places = [k for k, a in enumerate(args) if np.asarray(a).dtype.kind == "f"]
    with loops_by_python() as ran, np.errstate(all="ignore"):
        made, wanted = s2s.differentiable(f, backend="numba"), differences(lambda tree: f(*tree), args)
        gradient = s2s.value_and_grad(made, argnums=tuple(places))
        value, found = gradient(*args)
        np.testing.assert_allclose(value, f(*args), rtol=1e-12)
        for place, got in zip(places, found):
            np.testing.assert_allclose(got, wanted[place], rtol=1e-7, atol=1e-8)
        tangents = [np.cos(1.0 + a) if k in places else None for k, a in enumerate(args)]
        along = sum(np.sum(tangents[k] * wanted[k]) for k in places)
        np.testing.assert_allclose(s2s.jvp(made, args, tuple(tangents))[1], along, rtol=1e-7, atol=1e-8)
        assert set(ran) == {ends}
    return gradient.dispatcher.last.compiled.loops.text


def diffusion(u, k, steps):
    u = u.copy()
    flux = np.zeros_like(u)
    for _ in range(steps):
        flux[:-1] = k[1:] * (u[1:] - u[:-1])
        u[1:] -= flux[:-1]
        u[:-1] += flux[:-1]
    return np.sum(u**2)


def test_neighbours_are_gathered(rng):
    text = looped(diffusion, rng.random((5, 3)), rng.random((5, 3)) / 5, 3)
    assert "np.zeros" in text and " - " in text
    assert not [line for line in text.splitlines() if "= u_bar[" in line and ":" in line.partition("#")[0]]


def differences_inside(u):
    d = u[2:-1] - u[1:-2]
    return np.sum(d * d)


def differences_at_the_end(u):
    d = u[3:] - u[2:-1]
    return np.sum(d * d)


def differences_of_two(u):
    d, e = u[2:-1] - u[1:-2], u[3:-2] * u[1:-4]
    return np.sum(d * d) + np.sum(e**2)


@pytest.mark.parametrize("f, margins", [
    (differences_inside, {2}), (differences_at_the_end, {2}), (differences_of_two, {2, 3}),
], ids=["inside", "end", "two"])
def test_margins_are_as_wide_as_what_is_gathered_reaches(f, margins):
    """What none of the additions reaches at either end of an array is no part of the loop that gathers them."""
    text = looped(f, np.cos(np.arange(9.0)))
    assert {int(n) for n in re.findall(r"np\.zeros\(\w+ \+ (\d)\)", text)} == margins, text


def test_margins_of_additions():
    def of(value, *skipped):
        return Addition(None, value, (), skipped)

    a, b = ir.Var("a", 0), ir.Var("b", 0)
    inside = [of(a, (2, 1), (0, 0)), of(a, (1, 2), (0, 0)), of(b, (1, 1), (3, 0))]
    assert margins_of([inside]) == {a: ((1, 1), (0, 0)), b: ((0, 0), (3, 0))}
    assert margins_of([inside, [of(b, (0, 2), (0, 0)), of(b, (2, 0), (0, 5))]]) == {
        a: ((1, 1), (0, 0)), b: ((2, 2), (3, 5)),
    }
    assert margins_of([]) == {}


def smoothed(u):
    u = u.copy()
    u[1:-1] = (u[:-2] + u[2:]) / 2  # what is read is not what is stored
    u[1:] += u[:-1]
    v = u[::-1]
    return np.sum(v[:-1] * u[1:]) + np.sum(u[-3:] * v[:3])


def test_a_store_reads_what_was_there_before(rng):
    looped(smoothed, rng.random(6))


def swapped(a, b, n):
    a, b = a.copy(), b.copy()
    for _ in range(n):
        b[1:] = a[:-1] * 2.0
        a[:-1] += b[1:] * a[1:]
        a, b = b, a
    return np.sum(a * b)


def test_two_names_of_one_array(rng):
    looped(swapped, rng.random(5), rng.random(5), 3)


def growing(x):
    items = [x]
    for _ in range(5):
        items.append(items[-1] * x)
    return sum(items) + items[2] * len(items)


def test_a_list_is_copied_where_its_items_are_those():
    """Nothing moves past what takes an item from it."""
    looped(growing, 1.5)


def orthogonal(a):
    """Columns ``j`` and ``k`` of one array: two columns, as the ranges say."""
    a, total = a.copy(), 0.0
    for k in range(a.shape[1]):
        a[:, k] /= np.sqrt(np.sum(a[:, k] * a[:, k]))
        for j in range(k + 1, a.shape[1]):
            projection = np.sum(a[:, k] * a[:, j])
            a[:, j] -= projection * a[:, k]
            total += projection
    return total + np.sum(a[0])


def shrinking(a):
    """Columns ``j`` and ``k``, the same one in the first iterations."""
    a, total = a.copy(), 0.0
    for k in range(a.shape[1]):
        for j in range(k, a.shape[1]):
            projection = np.sum(a[:, k] * a[:, j])
            a[:, j] -= 0.1 * projection * a[:, k]
            total += projection
    return total + np.sum(a[0])


def before_and_behind(a):
    """Rows that a loop back has passed; rows from the end, which may be the same ones."""
    a = a.copy()
    for k in range(a.shape[0] - 1, 0, -1):
        for j in range(k):
            a[j] += 0.3 * a[k]
            a[k] = a[k] * np.cos(a[j])
        for i in range(2):
            a[i - 2] += 0.1 * a[k]
            a[k] = np.sin(a[i - 2]) + 0.5 * a[k]
    return np.sum(a * a)


@pytest.mark.parametrize("f, loops", [(orthogonal, 2), (shrinking, 5)])
def test_two_places_of_one_array(rng, f, loops):
    back = looped(f, rng.random((4, 3)) + np.eye(4, 3)).split("# reverse sweep")[1]
    assert back.count("\n            for i in rt.places(") == loops
    looped(before_and_behind, rng.random((4, 3)))


def places(x, k):
    y = x.copy()
    y[:, -1] = y[:, -2] * 2.0
    y[0] = y[-1]
    y[k] += x[-k] * x[k - 1]
    return np.sum(y[:, k] * x[k]) + y[-1] @ x[0] + np.sum(y.T[1:] - x[:, :-1].T)


@pytest.mark.parametrize("k", [0, 1, -2])
def test_places_that_count_from_the_end(rng, k):
    looped(places, rng.random((4, 4)), k)


def stretched(x, w, c):
    y = x * w[:, None] + c[None, :, None] * x.mean(axis=1, keepdims=True)
    return np.sum(np.sum(y, axis=(0, 2)) * c) + np.sum(np.sum(np.tanh(y), axis=-1) ** 2) + np.sum(np.outer(c, w[:, 0]))


def test_stretched_arrays_and_sums(rng):
    looped(stretched, rng.random((2, 3, 4)), rng.random((2, 4)), rng.random(3))


def chosen(x, y):
    big = (x > 0.5) & ~(y > x)
    z = np.where(big, np.sqrt(x), y / x)
    z[1:] *= np.maximum(x[:-1], y[1:])
    return np.sum(np.where(np.isnan(z), 0.0, z)) / len(x)


def test_truth_values(rng):
    looped(chosen, rng.random(7), rng.random(7))


def around(x, k, row):
    y = x.copy()
    for _ in range(2):
        y = 0.3 * (np.roll(y, 1, axis=0) + np.roll(y, -k, 1) * y - np.roll(y, shift=k, axis=-1))
    before = np.roll(y, 2, axis=0)
    y[1:] *= np.roll(y, k, axis=0)[1:]  # what is read is not what is stored
    y += before * np.roll(y.T, -1, axis=0).T + np.roll(y[0], row)
    return np.sum(np.roll(y[:, 1:], 1, axis=1) * y[:, :-1]) + np.sum(np.roll(y, 5) * np.roll(x, (1, k), axis=(0, 1)))


@pytest.mark.parametrize(("shape", "k"), [((3, 4), 1), ((1, 5), -7), ((4, 1), 6), ((3, 0), 1), ((2, 2), 0)])
def test_axes_that_are_gone_around(rng, shape, k):
    assert "rt.around(" in looped(around, rng.random(shape), k, 3, ends=0 not in shape)


def parts(x, lower, upper):
    y = x[lower:upper] * x[:upper - lower]
    return np.sum(y * x[-(upper - lower):]) + np.sum(x[upper:] ** 2)


@pytest.mark.parametrize(("lower", "upper"), [(0, 3), (2, 4), (1, 9), (-4, -1)])
def test_bounds_that_are_known_when_it_runs(rng, lower, upper):
    x = rng.random(6)
    size = len(x[lower:upper])
    if size != upper - lower:
        return_of = pytest.raises(ValueError, match="broadcast")
        with return_of, loops_by_python():
            s2s.grad(s2s.differentiable(parts, backend="numba"))(x, lower, upper)
    else:
        looped(parts, x, lower, upper)


def kept(x, n):
    rows = []
    y = x
    for k in range(n):
        y = np.sin(y) * x
        rows.append(y)
        y = y + rows[k // 2]
    return np.sum(rows[0] * rows[-1]) + np.sum(y)


def test_what_is_kept_is_a_new_array_in_each_iteration(rng):
    looped(kept, rng.random((2, 3)), 4)


def test_lengths_that_are_stretched_when_it_runs(rng):
    """Lengths that are taken for equal and are not: the text without loops runs."""

    def f(x, y, n):
        return np.sum(x[:n] * y)

    looped(f, rng.random(4), rng.random(3), 3)
    looped(f, rng.random(4), rng.random(3), 1, ends=False)


def test_float32_and_integers_stay_operations_on_arrays(rng):
    def f(x, k):
        return np.sum(x * x) + np.sum(k * k)

    with loops_by_python() as ran:
        got = s2s.grad(s2s.differentiable(f, backend="numba"))(np.ones(3, np.float32), np.arange(3))
    assert got.dtype == np.float32
    assert not ran


@pytest.mark.parametrize("op", [operator.sub, operator.truediv, operator.pow, np.hypot, np.arctan2, np.minimum])
def test_functions_of_two_elements(rng, op):
    looped(lambda x, y: np.sum(op(x[1:], y[:-1]) * y[1:]), rng.random(5) + 0.1, rng.random(5) + 0.2)


def extremes(x, w):
    y = np.exp(x - np.max(x, axis=-1, keepdims=True))
    y /= np.sum(y, axis=-1, keepdims=True)
    return np.sum(y * w) + np.max(w) * np.min(x[1:]) + np.sum(np.min(x, axis=1)) + np.sum(x > 0.5, dtype=float)


def test_extremes(rng):
    x = rng.random((2, 3))
    text = looped(extremes, x, rng.random((2, 3)))
    code = "".join(line.partition("#")[0] for line in text.splitlines())
    assert "np.maximum(" in code and "np.max(" not in code and "np.min(" not in code
    with loops_by_python() as ran, pytest.raises(ValueError, match="zero-size"):
        s2s.grad(s2s.differentiable(extremes, backend="numba"))(x[:, :0], x[:, :0])
    assert not any(ran)
    x[0, 1] = np.nan
    with loops_by_python() as ran:
        assert np.isnan(s2s.value_and_grad(s2s.differentiable(lambda x: np.max(x[0]) ** 2, backend="numba"))(x)[0])
    assert all(ran)


def nearest_images(x, box):
    """Distances in a periodic box: the remainder has the derivative of what is divided."""
    total = 0.0
    for i in range(len(x)):
        d = x[i] - x[0]
        d = d - box * np.rint(d / box)
        total += np.sum(d * d * (1.0 + i))
    return total


def test_functions_with_a_chosen_derivative_are_done_by_elements(rng):
    text = looped(nearest_images, 3.0 * rng.random((4, 5)), 1.3)
    assert "np.rint(" in text and "rint_zero" not in text


def joins(x):
    u = np.sin(x)
    v = x * np.sum(u)
    v = v * x + np.cos(x) * np.tanh(x)
    w = u * u
    return np.sum(w) + np.sum(v)


def test_a_step_joins_the_loop_that_makes_what_it_reads(rng):
    """The later loop has more, and nothing of what the step reads."""
    text = looped(joins, rng.random(5)).split("# reverse sweep")[0]
    first, second = text.split("for i in rt.places(")[1:]
    assert "w = u_1 * u_1" in first and "w = " not in second


@pytest.mark.parametrize("k, is_done", [(2, True), (np.array([1]), False), ((1,), False)])
def test_arrays_go_around_by_one_number(rng, k, is_done):
    def f(x, k):
        return np.sum(np.roll(x, k) * x)

    assert ("rt.around(" in looped(f, rng.random(4), k)) == is_done


def test_numbers_with_fractions_are_no_places(rng):
    def f(x):
        return np.sum(np.roll(x, 1.5) * x)

    assert "np.roll(x, 1.5)" in looped(f, rng.random(4))


@pytest.mark.parametrize("start, stop, skipped", [
    (None, None, (0, 0)), (1, None, (1, 0)), (None, -1, (0, 1)), (2, -3, (2, 3)), (0, None, (0, 0)), (-1, None, None),
    (None, 2, None), (None, 0, None), (0, 0, None), (None, 1, None),
])
def test_what_a_slice_leaves_out(start, stop, skipped):
    assert _skipped(Extent(None, 0, ir.Const(start), ir.Const(stop))) == skipped


def test_what_a_slice_with_a_variable_leaves_out_is_not_known():
    n = ir.Var("n", 0)
    assert _skipped(Extent(None, 0, n, ir.Const(None))) is None
    assert _skipped(Extent(None, 0, ir.Const(None), n)) is None
