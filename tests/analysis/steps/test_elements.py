"""Steps that meet what they round where elements were moved, repeated, or are mixed within one function: the true
derivative, by central differences, in both modes."""

import itertools
import math

import numpy as np
import pytest

import s2s

A, B = -1.433, 0.821
STEP = 1e-6


def filled(a, b):
    t = a * 3.7
    w = np.full(2, np.trunc(t))
    return np.sum((np.array([t, t]) - w) ** 2)


def filled_with_rows(a, b):
    t = np.array([a, b])
    w = np.full((3, 2), np.trunc(t))
    return np.sum((np.array([t, t, t]) - w) ** 2)


def times_ones(a, b):
    w = np.ones(2) * np.trunc(a)
    return np.sum((np.array([a, a * 2]) - w) ** 2)


def tiled(a, b):
    w = np.tile(np.trunc(a), 2)
    return np.sum((np.array([a, a * 2]) - w) ** 2)


def in_a_dict(a, b):
    t = a * 3.7
    w = {}
    w[0] = np.trunc(t)
    w[1] = 0.5
    return np.sum((np.array([t, a]) - np.array([w[k] for k in range(2)])) ** 2)


def filled_like(a, b):
    w = np.full_like(np.zeros(2), np.trunc(a))
    return np.sum((np.array([a, b]) - w) ** 2)


def joined_lists(a, b):
    w = np.concatenate([[np.trunc(a)], [0.5]])
    return np.sum((np.concatenate([[a], [b]]) - w) ** 2)


def joined_with_a_number(a, b):
    w = np.concatenate([np.trunc(np.array([a, b])), [0.5]])
    return np.sum((np.array([a, b, 1.0]) - w) ** 2)


def on_a_diagonal(a, b):
    w = np.diag([np.trunc(a), 0.5])
    return np.sum((np.diag([a, b]) - w) ** 2)


def outer_products(a, b):
    w = np.outer([np.trunc(a), 0.5], [1.0, 2.0])
    return np.sum((np.outer([a, b], [1.0, 2.0]) - w) ** 2)


def stacked_numbers(a, b):
    w = np.vstack([np.trunc(a), 0.5])
    return np.sum((np.vstack([a, b]) - w) ** 2)


def summed(a, b):
    return np.sum([a, -np.trunc(a)]) ** 2


def differences(a, b):
    return np.sum(np.diff([np.trunc(a), a]) ** 2)


def dotted(a, b):
    return np.dot([1.0, -1.0], [a, np.trunc(a)]) ** 2


def contracted(a, b):
    return np.einsum("i,i->", np.array([a, np.trunc(a)]), np.array([1.0, -1.0])) ** 2


def each_with_each(a, b):
    return np.sum((np.array([a, b])[:, None] - np.array([np.trunc(a), 0.0])[None, :]) ** 2)


def summed_up_to(a, b):
    return np.cumsum([a, -np.trunc(a)])[1] ** 2


def spread(a, b):
    return np.ptp([a, np.trunc(a)]) ** 2


def traced(a, b):
    return np.trace(np.array([[a, 0.0], [0.0, -np.trunc(a)]])) ** 2


def tiled_and_joined(a, b):
    x = np.array([a, b])
    w = np.floor(x)
    return np.sum((np.tile(x, 2) - np.concatenate([w, w])) ** 2)


def turned_by_two_functions(a, b):
    x = np.array([a, b])
    w = np.floor(x)
    return np.sum((x[::-1] - np.flip(w)) ** 2)


def turned_there_and_back(a, b):
    x = np.array([a, b])
    w = np.floor(x[::-1])
    return np.sum((x - w[::-1]) ** 2)


def reshaped_and_read(a, b):
    x = np.array([a, b])
    w = np.floor(x.reshape(1, 2))
    return np.sum((x - w[0]) ** 2)


def a_column_turned_over(a, b):
    x = np.array([a, b])
    w = np.floor(x[:, None])
    return np.sum((x - w.T) ** 2)


def repeated_and_read(a, b):
    x = np.array([a, b])
    w = np.floor(np.repeat(x, 2))
    return np.sum((x - w[::2]) ** 2)


def padded_and_read(a, b):
    x = np.array([a, b])
    w = np.floor(np.pad(x, 1))
    return np.sum((x - w[1:-1]) ** 2)


def along_an_axis(a, b):
    x = np.array([a, b])
    w = np.apply_along_axis(np.floor, 0, x)
    return np.sum((x - w) ** 2)


def rows_of_a_comprehension(a, b):
    x = np.array([[a, b], [b, a]])
    w = np.vstack([np.floor(r) for r in x])
    return np.sum((x - w) ** 2)


def columns(a, b):
    x = np.array([[a, b], [b, a]])
    w = np.column_stack([np.floor(x[:, 0]), np.floor(x[:, 1])])
    return np.sum((x - w) ** 2)


def sorted_both_ways(a, b):
    x = np.array([a, b])
    i = np.argsort(x)
    w = np.floor(np.sort(x))
    return np.sum((x[i] - w) ** 2)


def in_a_grid(a, b):
    x = np.array([a, b])
    w = np.meshgrid(np.floor(x), [1.0, 2.0])[0]
    return np.sum((x - w) ** 2)


def in_blocks(a, b):
    x = np.array([a, b])
    w = np.block([[np.floor(x)], [np.ceil(x)]])
    return np.sum((x - w) ** 2)


def without_nan(a, b):
    x = np.array([a, b])
    return np.sum((x - np.nan_to_num(np.floor(x))) ** 2)


def axes_swapped(a, b):
    x = np.array([a, b])
    return np.sum((x - np.swapaxes(np.floor(x)[None], 0, 1)[:, 0]) ** 2)


def part_of_a_part(a, b):
    x = np.array([a, b, a * b, 1.5 * a])
    w = np.floor(x[1:])
    return np.sum((x[1:-1] - w[:-1]) ** 2)


def quotients_tiled(a, b):
    x = np.array([a, b])
    w = x // 1
    return np.sum((np.concatenate([x, x]) - np.tile(w, 2)) ** 2)


def slopes(a, b):
    x = np.array([a, np.floor(a)])
    return np.gradient(x)[0] ** 2


def deviation(a, b):
    x = np.array([a, np.floor(a)])
    return np.std(x) ** 2


def divided_and_joined(a, b):
    x = np.array([a, b])
    q, r = np.divmod(np.tile(x, 2), 1.0)
    return np.sum((np.concatenate([x, x]) - q) ** 2)


def zipped(a, b):
    x = np.array([a, b])
    return sum((v - w) ** 2 for v, w in itertools.zip_longest(x, np.floor(x)))


def expanded_square(a, b):
    x = np.array([a, b])
    w = np.floor(x)
    return np.sum(x**2 - 2 * x * w + w**2)


def sums_of_an_expanded_square(a, b):
    x = np.array([a, b])
    w = np.floor(x)
    return np.sum(x * x) - 2 * np.sum(x * w) + np.sum(w * w)


def products_of_an_expanded_square(a, b):
    x = np.array([a, b])
    w = np.floor(x)
    return x.dot(x) - 2 * x.dot(w) + w.dot(w)


def contractions_of_an_expanded_square(a, b):
    x = np.array([[a, b], [b, 2 * a]])
    q = np.round(x)
    return np.einsum("ij,ij->", x, x) - 2 * np.einsum("ij,ij->", x, q) + np.einsum("ij,ij->", q, q)


def complex_number(a, b):
    w = math.floor(a)
    z = complex(a, b) - w
    return abs(z) ** 2


def selected(a, b):
    x = np.array([a, b])
    return np.sum((x - np.select([x > 0], [np.floor(x)], np.ceil(x))) ** 2)


def chosen(a, b):
    x = np.array([a, b])
    return np.sum((x - np.choose((x > 0).astype(int), [np.floor(x), np.ceil(x)])) ** 2)


def summed_without_nan(a, b):
    return np.nansum([a, -np.trunc(a)]) ** 2 + np.nancumsum([b, -np.trunc(b)])[1] ** 2


def averaged(a, b):
    return np.average([a, -np.trunc(a)]) ** 2 + np.nanmean([b, -np.trunc(b)]) ** 2


def deviation_without_nan(a, b):
    return np.nanstd([a, np.trunc(a)]) ** 2 + np.nanvar([b, np.trunc(b)])


def integrated(a, b):
    return np.trapezoid([a, -np.trunc(a)]) ** 2 + np.vdot([1.0, -1.0], [b, np.trunc(b)]) ** 2


def added_at_places(a, b):
    x = np.array([a, b])
    y, z = x.copy(), x.copy()
    np.add.at(y, np.array([0, 1]), -np.floor(x))
    np.subtract.at(z, np.array([1, 0]), np.floor(x[::-1]))
    return np.sum(y * y) + np.sum(z**3)


PROGRAMS = [f for f in list(globals().values()) if getattr(f, "__module__", None) == __name__]


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_remainder_is_found_wherever_its_parts_lie(f):
    expected = [(f(A + STEP, B) - f(A - STEP, B)) / (2 * STEP), (f(A, B + STEP) - f(A, B - STEP)) / (2 * STEP)]
    np.testing.assert_allclose(s2s.grad(f, argnums=(0, 1))(A, B), expected, rtol=1e-6, atol=1e-7)
    tangent = s2s.jvp(f, (A, B), (1.0, -2.0))[1]
    np.testing.assert_allclose(tangent, expected[0] - 2.0 * expected[1], rtol=1e-6, atol=1e-7)


def turned_over(x):
    return np.flip(x) - np.floor(x)


def another_row(x):
    return np.stack([x, x])[0] + np.roll(np.round(x), 1)


@pytest.mark.parametrize(("f", "slope"), [
    (turned_over, [[-1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, -1.0]]),
    (another_row, [[1.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]),
], ids=lambda f: getattr(f, "__name__", ""))  # fmt: skip
def test_what_is_no_remainder_passes_straight_through(f, slope):
    x = np.array([0.7, -1.3, 2.4])
    np.testing.assert_allclose(s2s.jacobian(f)(x), slope)
