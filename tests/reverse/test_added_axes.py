"""Cotangents of items: of indices that add axes, and of lists that are changed at places known only when it runs."""

import json

import numpy as np
import pytest

import s2s
from tests.helpers import differences

X = np.array([0.4, -1.3, 0.8])


def added_axes(x, n):
    rows, columns = x[None, :] ** 3, x[:, None]
    both = x[..., None] * x[None]
    return np.sum(rows * columns) + np.sum(both[1:] * n) + np.sum(x[None, n:, None]) + np.sum(x[None, []])


def added_axes_and_parts(x, n):
    """An index that adds an axis and leaves items out: what is left out gets zero."""
    parts = x[None, 1:] * x[None, :n] + np.sum(x[None, ::-1] * x[:, None])
    return np.sum(parts) + np.sum(x[1:, None] * x[None, ::2]) + np.sum(x[None, 0] * x[n, None])


def item_at_a_place_of_the_argument(x, n):
    items = [x[0], x[1], x[2]]
    items[n % 3] = x[0] * x[1]
    return items[0] * items[1] * items[2] + items[0] * 3.0


def item_at_a_place_known_later(x, n):
    items = [x[0], x[1], x[2]]
    k = len(json.loads("[1]"))
    before = items[1] * 2.0
    items[k] = x[0] * x[1]
    first = items[0] * before
    items[k : k + 1] = [x[2] * 2.0, x[1]]
    return items[0] * items[1] * items[2] + first


def items_assigned_by_a_loop(x, n):
    items, total = [x[0], x[1], x[2]], 0.0
    for i in range(n + 1):
        total = total + items[i] * items[0]
        items[i] = x[0] * x[i]
    return items[0] * items[1] * items[2] + total


def items_put_between(x, n):
    items = [x[0], x[1], x[2]]
    old = items[0]
    items[n:n] = [x[2]] * n
    items.append(old)
    return sum(items[k] * k for k in range(len(items)))


def appended_after_a_loop(x, n):
    items = [x[0], x[1]]
    for _ in range(n % 2 + 1):
        items.append(x[2])
    items.append(x[0] * x[1])
    return items[0] * items[-1] + items[1] * items[2]


@pytest.mark.parametrize(
    "f",
    [
        *(added_axes, added_axes_and_parts, item_at_a_place_of_the_argument, item_at_a_place_known_later),
        *(items_assigned_by_a_loop, items_put_between, appended_after_a_loop),
    ],
    ids=lambda f: f.__name__,
)
def test_gradient(f):
    np.testing.assert_allclose(s2s.grad(f)(X, 2), differences(lambda x: f(x, 2), X), rtol=1e-8, atol=1e-10)


def test_an_axis_that_is_added_is_taken_away_again():
    text = s2s.source(lambda x: np.sum(x[None, :] ** 3), X, mode="grad")
    assert "x_bar = (3 * x[None, :] ** 2)[0, :]" in text, text
