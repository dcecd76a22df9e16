"""``np.mgrid`` and ``np.ogrid`` between integers: their shapes are known, so the adjoint asks for none."""

import numpy as np
import pytest

import s2s
from tests.helpers import check

X = np.array([[0.3, 0.7, 1.2, -0.4], [0.5, -1.1, 0.9, 0.2], [1.4, 0.6, -0.8, 0.1]])


def of_a_shape(x):
    rows, columns = np.mgrid[: x.shape[0], : x.shape[1]]
    return np.sum((rows - 0.5 * columns) * x**2)


def whole(x):
    grid = np.mgrid[0:3, 1 : x.shape[1] + 1]
    return np.sum(np.sin(grid * x)) * grid.shape[0]


def opened(x):
    n, m = x.shape
    grid = np.ogrid[:n, 0:m]
    return np.sum(np.cos(grid[0] * x) * grid[1])


def of_steps(x):
    even = np.mgrid[0 : x.shape[1] : 2]
    back = np.mgrid[x.shape[1] - 1 : -1 : -1]
    return np.sum(x[:, even] ** 3) + np.sum(back * x**2)


def of_no_points(x):
    first = x.shape[0] - 3
    return np.sum(np.mgrid[:first, :4]) + np.sum(np.mgrid[2:2] * x[0, :0]) + np.sum(x**2)


def of_a_place(x):
    k = int(np.argmax(x[:, 0]))
    return np.sum(np.mgrid[: k + 1, :4][0] * x[: k + 1] ** 2)


def of_floats(x):
    return np.sum(np.mgrid[0.0:3.0, 0.5:4.0][1] * x**2)


@pytest.mark.parametrize(
    "f", [of_a_shape, whole, opened, of_steps, of_no_points, of_a_place, of_floats], ids=lambda f: f.__name__)
def test_grids(f):
    check(f, (X,))


@pytest.mark.parametrize("f", [of_a_shape, opened])
def test_no_shape_is_asked_for(f):
    text = s2s.source(f, X)
    assert "unbroadcast" not in text and "np.shape" not in text
