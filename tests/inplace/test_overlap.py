"""Stores that NumPy makes one element after the other: what is stored shares memory with where it goes."""

import numpy as np
import pytest

import s2s
from s2s.errors import SharedMemoryError
from tests.helpers import check

V = np.array([0.3, 0.9, -0.1, 0.5])
M = np.array([[0.3, 0.9, 0.1], [0.5, 1.2, -0.4], [0.7, 0.2, 0.6]])
WEIGHTS = np.arange(1.0, 5.0)


def weighted(a):
    return np.sum(a * a * WEIGHTS[: len(a)])


def flat_of_a_shifted_part(v):
    a = v.copy()
    a.flat[1:] = a[:3]
    return weighted(a)


def flat_of_a_reversed_array(v):
    a = v.copy()
    a.flat = a[::-1]
    return weighted(a)


def flat_reversed(v):
    a = v.copy()
    a.flat[::-1] = a
    return weighted(a)


def diagonal_of_a_view(v):
    a = v.copy()
    np.fill_diagonal(a.reshape(2, 2)[:, ::-1], a[:2])
    return weighted(a)


def concatenated_into_itself(v):
    a = v.copy()
    np.concatenate([a[1:], a[:1]], out=a)
    return weighted(a)


def ranges_into_the_array(v):
    a = v.copy()
    np.ptp(a.reshape(2, 2), 0, out=a[1:3])
    return weighted(a)


@pytest.mark.parametrize(
    "f",
    [
        flat_of_a_shifted_part,
        flat_of_a_reversed_array,
        flat_reversed,
        diagonal_of_a_view,
        concatenated_into_itself,
        ranges_into_the_array,
    ],
)
def test_what_is_read_while_it_is_filled_is_refused(f):
    for derivative in (s2s.grad(f), lambda v: s2s.jvp(f, (v,), (v,))):
        with pytest.raises(SharedMemoryError, match="overlapping memory"):
            derivative(V)


def flat_of_a_copy(v):
    a = v.copy()
    a.flat[1:] = a[:3].copy()
    return weighted(a)


def flat_of_another(v, w):
    a = v.copy()
    a.flat[1:] = w[:3]
    return weighted(a)


def other_part(v):
    a = v.copy()
    a.flat[2:] = a[:2] * 1.0
    a.flat[:1] = a[3]
    return weighted(a)


def diagonal_of_a_longer_value(v):
    a = np.zeros((2, 3))
    np.fill_diagonal(a, v)
    return weighted(a.ravel()[:4]) + a[1, 1]


def diagonal_of_a_shorter_value(m):
    a = m.copy()
    np.fill_diagonal(a, m[0, :2])
    return np.sum(a * a * m)


def concatenated_elsewhere(v):
    a = np.empty(4)
    np.concatenate([v[1:], v[:1]], out=a)
    return weighted(a)


@pytest.mark.parametrize(
    "f, args",
    [
        (flat_of_a_copy, (V,)),
        (flat_of_another, (V, V * 2.0)),
        (other_part, (V,)),
        (diagonal_of_a_longer_value, (V,)),
        (diagonal_of_a_shorter_value, (M,)),
        (concatenated_elsewhere, (V,)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_lies_apart_is_stored(f, args):
    check(f, args)


def test_stores_into_new_memory_are_not_tested():
    assert "disjoint" not in s2s.source(concatenated_elsewhere, V) + s2s.source(diagonal_of_a_longer_value, V)


def fraction_and_whole(v):
    fraction, whole = np.empty(4), np.empty(4)
    np.modf(v * 3.0, fraction, whole)
    return np.sum(fraction * v)


def fraction_into_a_part(v):
    a = v * 1.5
    fraction, whole = np.modf(a[:2] * 1.5, a[2:], None)
    return weighted(a) + np.sum(fraction * v[:2]) + 0.0 * len(whole)


def remainders_by_keyword(v):
    a = np.zeros(4)
    _, left = np.divmod(v, 0.4, out=(None, a))
    a[0] *= 2.0
    return np.sum(left * v)


@pytest.mark.parametrize("f", [fraction_and_whole, fraction_into_a_part, remainders_by_keyword])
def test_several_results_stored_at_once(f):
    check(f, (V,))
