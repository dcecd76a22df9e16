"""``[x] * n``, where ``n`` is an integer of NumPy or becomes known when the program runs."""

import numpy as np
import pytest

from tests.helpers import check

MASK = np.array([1.0, 3.0, 2.0])


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")


def of_argument(x, n):
    return sum([x] * n) * x


def stored_into(x, n):
    v = [0.0] * n
    for i in range(n):
        v[i] = x**i
    return sum(v) * v[1]


@pytest.mark.parametrize("f", [of_argument, stored_into])
@pytest.mark.parametrize("n", [np.int64(3), np.int32(3), np.uint8(3), 3])
def test_counts_may_be_integers_of_numpy(f, n):
    check(f, (1.3, n), argnums=(0,))


def counted(x, m):
    return sum([x] * np.sum(m > 1.5)) * x


def counted_as_int(x, m):
    return sum([x] * int(np.sum(m > 1.5))) * x


def from_the_left(x, m):
    return sum(np.sum(m > 1.5) * [x]) * x


def of_a_length(x, m):
    n = np.int64(len(m))
    v = [x] * n
    return v[n - 1] ** 2 + sum(v)


def of_an_index(x, m):
    v = [x] * (m.argmax() + 2)
    return v[2] ** 2 + sum(v)


def changed(x, m):
    n = int(np.sum(m > 1.5))
    v = [x] * n
    v[0] = x * x
    v[n - 1] = v[0] * v[1]
    return sum(v) * x


def of_one_array(x, m):
    """Each item is the same array, which changes."""
    a = np.array([x, 2 * x])
    v = [a] * int(np.sum(m > 1.5))
    a[0] = 5 * x * x
    return v[1][0] * x + v[0][1]


def none_at_all(x, m):
    v = [x] * (int(np.sum(m > 1.5)) - 5)
    return len(v) + x * x


@pytest.mark.parametrize(
    "f", [counted, counted_as_int, from_the_left, of_a_length, of_an_index, changed, of_one_array, none_at_all])
def test_counts_may_become_known_when_the_program_runs(f):
    check(f, (1.3, MASK), argnums=(0,))


@pytest.mark.parametrize("f", [counted, counted_as_int, changed])
def test_other_counts_share_the_version(f):
    """What is compiled for one count holds for others."""
    check(f, (1.3, MASK), argnums=(0,))
    check(f, (0.7, np.array([2.0, 3.0, 2.0, 5.0, 0.0])), argnums=(0,))
