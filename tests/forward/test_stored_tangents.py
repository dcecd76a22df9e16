"""Tangents of arrays that are changed in place: they lie in memory, and alias, as the arrays do."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

X = np.array([0.4, -1.3, 0.8])
V = np.array([1.0, 0.5, -2.0])
WEIGHTS = np.arange(6.0) + 0.5
IN_COLUMNS = np.asfortranarray(np.arange(6.0).reshape(2, 3) + 1.0)


def flat_after_a_store(a):
    """What a reshape gives before a store: a view, which the store changes, where the array is in C order."""
    flat = a.reshape(-1)
    a[0, 1] = 5.0
    return np.sum(flat**2 * WEIGHTS)


def of_new_columns(x):
    a = np.empty((2, 3), order="F")
    a[:] = x
    return flat_after_a_store(a)


def of_new_rows(x):
    a = np.empty((2, 3))
    a[:] = x
    return flat_after_a_store(a)


def of_converted_columns(x):
    return flat_after_a_store(np.array(x * np.ones((2, 3)), order="F"))


def of_copied_columns(x):
    return flat_after_a_store((IN_COLUMNS * x).copy(order="K"))


def of_a_sum_in_columns(x):
    """The tangent of the sum is in rows, the sum is not."""
    return flat_after_a_store((IN_COLUMNS + x * np.ones((2, 3))).copy(order="K"))


def of_rows_of_columns(x):
    return flat_after_a_store((IN_COLUMNS * x).copy())


def of_zeros_like_columns(x):
    a = np.zeros_like(IN_COLUMNS)
    a += x
    return flat_after_a_store(a)


def of_a_sum_with_a_number(x):
    """The sum has the tangent of the array, which changes with the array."""
    y = x * 1.5
    z = y + 1.0
    y[0] = x[1] * x[2]
    return np.sum(z * y)


def of_views(x):
    y = np.zeros(4)
    still, moving = y[:2], y[1:]
    y[1] = x[0] * x[1]
    moving[1] = x[2] ** 2
    return np.sum(still) * moving[1] + np.sum(y**2)


def of_a_number_read_before(x):
    y = x * 2.0
    first = y[0]
    y[0] = x[1]
    return first * y[0] + np.sum(y)


def of_a_factor(x):
    q, r = np.linalg.qr(np.outer(x, x) + np.diag([1.0, 2.0, 3.0]))
    r[0, 0] = x[0]
    q *= x
    return np.sum(q @ r * np.arange(9.0).reshape(3, 3))


def by_operators(x):
    y = x * 1.0
    y **= 2
    y[1:] /= x[:2]
    y[0] *= 3.0
    y -= x[2] - 9.0
    y[[0, 2]] **= x[0]
    return np.sum(y * x)


def of_a_list(x):
    y = np.zeros((2, 3))
    y[0] = [x[0], 2.0, x[1] * x[2]]
    y[1] = [1.0, 2.0, 3.0]
    return np.sum(y * x)


def of_arrays_in_containers(x):
    y = np.zeros(3)
    parts, mapping = [y, x * 1.0], {"y": y}
    y[0] = x[0] * x[1]
    parts[0][1] = x[2]
    return np.sum(parts[0] * parts[1]) + mapping["y"][0] ** 2


def of_arrays_in_containers_known_later(x):
    y = np.zeros(3)
    parts = [y, x * 1.0]
    for k in range(2):
        y[k] = x[k] * x[k + 1]
    first, second = parts
    return np.sum(first * second) + np.sum(parts[len(x) - 3] ** 2)


def of_pairs_known_later(x):
    """A pair is unpacked of a list whose items are asked for by an index that is known later."""
    y = np.zeros(3)
    pairs = [(x * 1.5, y), (np.sin(x), x * 2.0)]
    y[:] = x * x
    (first, second), other = pairs
    return np.sum(first * second * other[1] * other[0]) + np.sum(pairs[len(x) - 3][1] ** 2)


@pytest.mark.parametrize(
    "f",
    [
        *(of_new_columns, of_new_rows, of_converted_columns, of_copied_columns, of_a_sum_in_columns),
        *(of_rows_of_columns, of_zeros_like_columns, of_a_sum_with_a_number, of_views, of_a_number_read_before),
        *(of_a_factor, by_operators, of_a_list, of_arrays_in_containers, of_arrays_in_containers_known_later),
        of_pairs_known_later,
    ],
    ids=lambda f: f.__name__,
)
def test_tangent(f):
    wanted = differences(lambda t: f(X + t * V), 0.0)
    np.testing.assert_allclose(s2s.jvp(f, (X,), (V,))[1], wanted, rtol=1e-8)


@pytest.mark.parametrize(
    "f, copies",
    [(of_new_columns, 1), (of_new_rows, 0), (of_copied_columns, 1), (of_rows_of_columns, 0), (of_views, 0),
     (of_a_sum_with_a_number, 1), (of_a_number_read_before, 0)],
    ids=lambda given: getattr(given, "__name__", ""),
)  # fmt: skip
def test_tangents_are_copied_only_where_memory_would_differ(f, copies):
    text = s2s.source(f, X, mode="jvp")
    assert text.count("copy_in_memory(") + text.count("np.copy(") == copies, text


def test_what_was_copied_once_lies_as_it_should():
    """The tangent of a copy that lies in memory as another array is such a copy itself, and is not copied again."""
    text = s2s.source(lambda x: s2s.jvp(of_converted_columns, (x,), (x,))[1], X, mode="jvp")
    assert text.count("copy_in_memory(") == 3, text


def of_a_half_of_the_length(x):
    rows = np.reshape(x + 0.0, (2, len(x) // 2))
    for _ in range(2):
        merged = np.empty(rows.shape)
        merged[0] = rows[1] * 2.0
        merged[1] = rows[0] * rows[1]
        rows = merged
        rows[0, 0] = rows[0, 1] * rows[1, 1]
    return np.sum(rows)


def of_an_order_that_is_chosen(x):
    a, total = np.outer(x, x) * 1.0, 0.0
    for order in ("C", "F"):
        flat = a.reshape(-1, order=order)
        flat[1] = x[0] * x[1]
        a *= x[1]
        total = total + np.sum(flat * flat * np.arange(flat.size))
    return total


@pytest.mark.filterwarnings("error::s2s.RecordedWarning")
@pytest.mark.parametrize("f", [of_a_half_of_the_length, of_an_order_that_is_chosen], ids=lambda f: f.__name__)
def test_a_tangent_goes_into_a_join_as_the_array_that_stores_change(f):
    """Not in the shape of the array, by a view that cannot be written, where this is not known to be its own."""
    x = np.array([0.4, -1.3, 0.8, 1.1])
    np.testing.assert_allclose(s2s.jacfwd(f)(x), differences(f, x), rtol=1e-6, atol=1e-7)
    assert "_dot = np.broadcast_to(" not in s2s.source(f, x, mode="jvp")
