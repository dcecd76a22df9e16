"""Iterators that never end, beside what does: no more of them is taken than is asked for."""

import itertools
import resource

import numpy as np
import pytest

from tests.helpers import check

X = np.array([0.7, 1.3, 0.4])


@pytest.fixture(autouse=True)
def little_memory():
    """Where all items were taken, the test ends before the memory of the machine does."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def repeated(x):
    total = 0.0
    for v, n in zip(x, itertools.repeat(3)):
        total = total + n * v * v
    return total


def counted(x):
    total = 0.0
    for v, w, n in zip(x, x[1:], itertools.count(1)):
        total = total + n * v * w
    return total


def turned(x):
    return sum(v * v * sign for v, sign in zip(x, itertools.cycle((1.0, -1.0))))


def numbered(x):
    total = 0.0
    for v, (k, n) in zip(x, enumerate(itertools.repeat(2.0))):
        total = total + v * v * k * n
    return total


def mapped(x):
    return sum(map(lambda v, n: v * v * n, x, itertools.repeat(3.0)))


def endless_first(x):
    total = 0.0
    for n, v in zip(itertools.count(), x):
        total = total + n * v * v
    return total


def squares(x):
    for v in x:
        if v > 0.5:
            yield v * v


def beside_a_generator(x):
    total = 0.0
    for v, w, n in zip(x, itertools.islice(x, 1, None), itertools.cycle([1.0, 2.0])):
        total = total + v * w * n
    return total


def after_endless(x):
    total = 0.0
    for n, w, (k, s) in zip(itertools.cycle([1.0, 2.0]), squares(x), enumerate(itertools.repeat(3.0))):
        total = total + w * n * np.sin(k + s)
    return total


def among_others(x):
    total = 0.0
    for u, w, n, v in zip(itertools.cycle(x), squares(x), itertools.count(1.0), [4.0, 2.0, 5.0]):
        total = total + u * w * n * v
    return total


@pytest.mark.parametrize("f", [
    repeated, counted, turned, numbered, mapped, endless_first, beside_a_generator, after_endless, among_others])
def test_endless_iterators(f):
    check(f, (X,))
