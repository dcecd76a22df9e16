"""Subscripts whose key is differentiated: followed, or refused; only a container that picks an item makes it zero."""

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError
from tests.helpers import check

X = np.array([0.3, 0.7, 1.2])


# --- what NumPy calls with brackets -----------------------------------------------------------------------------------


def grid_of_points(x):
    return np.sum(np.mgrid[x[0]:x[0] + 1:3j] ** 2)


def grid_of_one_point(x):
    return np.sum(np.mgrid[x[0]:x[1]:1j] ** 2)


def grid_of_steps(x):
    return np.sum(np.mgrid[x[0]:x[0] + 1:0.3] ** 2) + np.sum(np.mgrid[:1.0:x[1]] ** 3)


def grid_of_two(x):
    a, b = np.mgrid[x[0]:x[1]:3j, x[1]:x[2]:2j]
    return np.sum(a**2 * b)


def grid_of_two_kinds(x):
    a, b = np.mgrid[0:3, x[0]:x[1]:3j]
    return np.sum(a * b**2 * x)


def open_grid(x):
    a, b = np.ogrid[x[0]:x[1]:2j, 0:1:3j]
    return np.sum(a**2 * b * x)


def computed_count(x):
    n = len(x)
    return np.sum(np.mgrid[x[0]:x[1]:n * 1j] ** 2 * x)


def from_a_number_of_any_kind(x):
    starts = [1, 0.5, 0]
    return np.sum(np.mgrid[starts[int(x[0])]:3.5] * x[1] ** 2) + np.sum(np.mgrid[starts[int(x[2])]:2.0:3j] * x[0] ** 2)


def joined_range(x):
    return np.sum(np.r_[x[0]:x[2]:3j, x, 2.0] ** 2) + np.sum(np.r_[x[0]:x[0] + 1:0.3] ** 2)


def joined_column(x):
    return np.sum(np.c_[x[0]:x[0] + 1:3j, x * x] ** 2)


def grids_in_a_loop(x):
    total = 0.0
    for k in range(3):
        total += np.sum(np.mgrid[x[k]:x[k] + 1:2j] ** 2) * x[0]
    return total


def bounds_of_an_index(x):
    s, (t,) = np.s_[x[0]:x[1]], np.index_exp[x[1]:]
    return s.start * s.stop * t.start


def bounds_of_a_slice(x):
    s = slice(x[0], 2.0 * x[1])
    return s.start**2 * s.stop


def undifferentiated_grids(x):
    a, b = np.ogrid[0:1:3j, 0:len(x)]
    return np.sum(np.mgrid[0:3, 0:2] * x[0] ** 2) + np.sum(a * b * x**2) + np.sum(x[np.s_[1:]] ** 3)


BRACKETS = [
    grid_of_points, grid_of_one_point, grid_of_steps, grid_of_two, grid_of_two_kinds, open_grid, computed_count,
    from_a_number_of_any_kind,
    joined_range, joined_column, grids_in_a_loop, bounds_of_an_index, bounds_of_a_slice, undifferentiated_grids,
]


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", BRACKETS, ids=lambda f: f.__name__)
def test_bounds_of_ranges_in_brackets_carry_derivatives(f):
    check(f, (X,))
    g = s2s.grad(f)
    for column in (s2s.jacrev(g)(X), s2s.jacfwd(g)(X)):
        assert np.allclose(column, [(g(X + h) - g(X - h)) / 2e-5 for h in 1e-5 * np.eye(3)], rtol=1e-5, atol=1e-7)


def started_by_a_loop(x):
    start = 1
    for k in range(3):
        if x[k] > 0.5:
            start = 0.5
    return np.sum(np.mgrid[start:3.5] * x[1] ** 2) + np.sum(np.r_[start:2.0:3j] * x[0] ** 2)


@pytest.mark.filterwarnings("error::s2s.RecordedWarning")
@pytest.mark.parametrize("f", [from_a_number_of_any_kind, started_by_a_loop], ids=lambda f: f.__name__)
def test_a_range_from_a_number_of_any_kind_is_compiled(f):
    check(f, (X,))


def test_values_are_those_of_numpy():
    assert np.array_equal(s2s.value_and_grad(grid_of_two)(X)[0], grid_of_two(X))


def chosen_slice(x):
    s = slice(x[0], x[1], 3j) if x[2] > 0 else slice(x[0], x[2], 3j)
    return np.sum(np.mgrid[s])


# --- methods of the program -----------------------------------------------------------------------------------------


class Squares(dict):
    def __missing__(self, key):
        return key[0] ** 2


class Doubles(list):
    def __getitem__(self, key):
        return 2.0 * key


class Notes(dict):
    def __setitem__(self, key, value):
        dict.__setitem__(self, "last", key * value)


class Sum:
    def __getitem__(self, key):
        return key.start**2 + key.stop


class Thrice:
    def __class_getitem__(cls, key):
        return 3.0 * key**2


class Meta(type):
    def __getitem__(cls, key):
        return key**3


class Cubes(metaclass=Meta):
    pass


SQUARES, DOUBLES, NOTES, SUM = Squares(), Doubles(), Notes(), Sum()
TABLE = {(1, 2): 3.0, "rows": [1.0, 2.0, 3.0]}


def by_missing(x):
    return SQUARES[tuple(x.tolist())]


def by_subclass_of_list(x):
    return DOUBLES[x[0]] * x[1]


def by_method_that_stores(x):
    NOTES[x[0]] = 2.0
    return NOTES["last"] * x[1]


def by_slice(x):
    return SUM[x[0]:x[1]] * x[2]


def by_class(x):
    return Thrice[x[0]] * Cubes[x[1]]


def by_places(x):
    k = int(x[2])
    return TABLE["rows"][k] * x[0] ** 2 + TABLE[1, k + 1] * x[1] + sum(TABLE["rows"][k:]) * x[2]


@pytest.mark.parametrize("f", [by_slice, by_class, by_places], ids=lambda f: f.__name__)
def test_methods_of_known_objects_are_followed(f):
    check(f, (X,))


@pytest.mark.parametrize(
    "f", [by_missing, by_subclass_of_list, by_method_that_stores, chosen_slice], ids=lambda f: f.__name__)
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd], ids=["reverse", "forward"])
def test_methods_that_may_compute_with_the_key_are_refused(f, derivative):
    with pytest.raises(NoDerivativeError, match="has no derivative"):
        derivative(f)(X)
