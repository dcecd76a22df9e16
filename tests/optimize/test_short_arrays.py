"""Short arrays of known length as numbers: against differences, and which stay arrays."""

import numpy as np
import pytest

from tests.optimize.test_element_loops import looped


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def arrays_in(text):
    """The lines that make short arrays."""
    lines = [line.partition("#")[0] for line in text.splitlines()]
    return [line for line in lines if any(maker in line for maker in ("np.empty(3)", "np.empty(2)", "np.cross"))]


def turned(x, w, flag):
    total = 0.0
    for i in range(len(x)):
        r = np.cross(x[i, :3] - x[0, :3], w)
        if r[0] > flag:
            r = r * 2.0
        else:
            r = np.cross(w, r) / (r[1] + 3.0)
        flat = r[:2] / (4.0 + r[2])
        total += np.sum(flat * x[i, 1:3]) + np.dot(r, w) ** 2
    return total


@pytest.mark.parametrize("flag", [-1.0, 0.0, 9.0])
def test_vectors_in_a_loop_are_numbers(rng, flag):
    assert arrays_in(looped(turned, rng.random((4, 5)), rng.random(3), flag)) == []


def stored(x, w):
    kept, total = [], 0.0
    for i in range(len(x)):
        r = np.cross(x[i], w)
        kept.append(r)
        s = r
        r[1] += 1.0  # the list and the other name see it
        total += s[1] * r[0] * np.sum(kept[-1] ** 2)
        r = np.cross(r, w)
        r[0] = r[1] * 2.0
        total += np.sum(r * s)
    return total + np.sum(kept[0] * kept[-1])


def views(x, w):
    total = 0.0
    for i in range(len(x)):
        r = np.cross(x[i], w)
        v = r[1:]
        r[2] *= x[i, 0]
        v[0] = 0.5 * r[0]
        total += np.sum(r**2) + v[1] * r[::-1][0] + r[-1] + r[i % 3]
    return total


def carried(x, w):
    u = np.zeros(3)
    for i in range(len(x)):
        r = np.cross(x[i], w) + u
        u = r if i % 2 else r / 2.0
        u = u + 0.0
        r[0] = 1.0
        if i == 2:
            break
    return np.sum(u * r)


def filled_before(x, w):
    b, total = np.empty(3), 0.0
    b[0] = b[1] = b[2] = 0.3
    for i in range(len(x)):
        total += np.sum(b * w)
        if x[i, 0] > 0.5:
            b[0], b[1], b[2] = x[i, 2], x[i, 1] * b[2], b[0]
    return total + b[1]


def empty(x, w):
    return np.sum(np.cross(x[:0], w)) + np.sum(x[:, :2] / x[:, 1:3]) / (1.0 + np.sum(x[0] / w))


@pytest.mark.parametrize("f", [stored, views, carried, filled_before, empty], ids=lambda f: f.__name__)
def test_what_others_refer_to(rng, f):
    looped(f, 0.2 + rng.random((4, 3)), 0.1 + rng.random(3))


def shorter(x, w):
    return np.sum((x[:3] - w) ** 2) + np.sum(np.cross(w, w + 1.0) * x[1:4])


@pytest.mark.parametrize("n", [4, 3, 2])
def test_slices_that_are_shorter_than_their_bounds_run_as_arrays(rng, n):
    x, w = rng.random(n), rng.random(3)
    if n < 4:
        with pytest.raises(ValueError, match="broadcast"):
            looped(shorter, x, w)
    else:
        looped(shorter, x, w)


def counted(x):
    """As many of two are the greatest as share its derivative."""
    both = np.array([x[:1]]).T * np.array([2.0, 2.0])
    return np.sum(both.max(axis=1)) + np.sum(both > 0.1) * x[1]


def test_truth_values_are_counted():
    looped(counted, np.array([0.8, 0.3]))
