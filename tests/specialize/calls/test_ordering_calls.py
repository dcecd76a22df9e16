"""``max`` and ``min`` with a ``default``, which is differentiated where there is no item."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

X = np.array([0.7, 1.3, 2.1, 0.4])


def of_generators(x, least):
    first = max((v * v for v in x if v > least), default=x[3] ** 3)
    second = min((x[0] * v for v in x if v > 5.0), default=x[1] ** 2)
    return first * second


def of_lists(x, least):
    first = max([v for v in x if v > least], default=0.0, key=lambda v: -v)
    return first**3 + max([x[0], x[1]], default=3.0) ** 2 * min([], default=x[2])


def of_none(x, least):
    best = max((v for v in x if v > least), default=None)
    return x[0] ** 2 if best is None else best**3


@pytest.mark.parametrize("least", [0.5, 7.0])
@pytest.mark.parametrize("program", [of_generators, of_lists, of_none], ids=lambda f: f.__name__)
def test_defaults(program, least):
    expected = differences(lambda x: program(x, least), X)
    np.testing.assert_allclose(s2s.grad(program)(X, least), expected, rtol=1e-6)
    found = s2s.jvp(program, (X, least), (np.cos(X), 0.0))[1]
    np.testing.assert_allclose(found, expected @ np.cos(X), rtol=1e-6)


def test_equal_items_share_their_derivative():
    def f(x):
        return max([x[0], x[1], x[2]], default=0.0)

    np.testing.assert_allclose(s2s.grad(f)(np.array([2.0, 1.0, 2.0])), [0.5, 0.0, 0.5])
