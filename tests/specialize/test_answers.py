"""Calls that are not followed: functions of a library that are asked when the program runs, managers whose end is seen
from outside, attributes and copies that are settled when the program is compiled, and partial functions of objects."""

import copy
import functools
import inspect
import json
import linecache
import sys
import types

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError
from tests.helpers import check, differences

X = np.array([0.4, -1.3, 0.8])

LIBRARY = """
HISTORY = []
def is_long(items):
    HISTORY.append(items)
    return eval("len(items)") > 1
"""


@pytest.fixture
def library(monkeypatch):
    made = types.ModuleType("s2s_test_answers")
    linecache.cache["<answers>"] = (len(LIBRARY), None, LIBRARY.splitlines(True), "<answers>")
    exec(compile(LIBRARY, "<answers>", "exec"), made.__dict__)
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


# --- functions of a library


def test_a_function_that_cannot_be_followed_is_asked_for_its_answer(library):
    def f(x):
        items = [x[0], x[1]]
        y = x[0] * 2.0 if library.is_long(items) else x[1]
        return y * items[0] * items[1]

    np.testing.assert_allclose(s2s.grad(f)(X), differences(f, X), rtol=1e-8)
    assert library.HISTORY[0] == [X[0], X[1]]


@pytest.mark.parametrize("differentiate", [s2s.grad, s2s.jacfwd])
def test_what_such_a_function_was_given_is_not_changed_afterwards(library, differentiate):
    """The function may keep the list, and sees the change."""

    def f(x):
        items = [x[0], x[1]]
        y = x[0] * 2.0 if library.is_long(items) else x[1]
        items.append(x[2])
        return y * sum(items)

    with pytest.raises(DifferentiationError, match="S2S131"):
        differentiate(f)(X)


# --- managers

COUNTS = {"left": 0}


class Doubling:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.x = self.x * 2.0
        COUNTS["left"] += 1


def inside_a_manager(x):
    scale = Doubling(x[0])
    with scale as entered:
        y = entered.x * x[1]
    return y * scale.x


def test_the_end_of_a_manager_is_differentiated_and_seen_from_outside():
    COUNTS["left"] = 0
    np.testing.assert_allclose(s2s.grad(inside_a_manager)(X), [4.0 * X[0] * X[1], 2.0 * X[0] ** 2, 0.0], rtol=1e-14)
    assert COUNTS["left"] == 1
    assert s2s.jvp(inside_a_manager, (X,), (np.ones(3),))[1] == pytest.approx(4.0 * X[0] * X[1] + 2.0 * X[0] ** 2)
    assert COUNTS["left"] == 2


# --- attributes and copies


def static_attributes(x):
    found = inspect.getattr_static(x, "shape", None) is not None and inspect.getattr_static(x, "size") is not None
    missing = inspect.getattr_static(x, "no_such_attribute", 2.0)
    try:
        inspect.getattr_static(x, "no_such_attribute")
    except AttributeError:
        missing = missing * x[1]
    return missing * (x[0] if found else x[2]) * getattr(x, "no_such_attribute", 3.0)


def copies(x):
    numbers, items = (1.0, x[0], 3), [x[0], x[1]]
    once, deep, other, number = copy.copy(numbers), copy.deepcopy(numbers), copy.copy(items), copy.copy(x[1])
    other[0] = x[2]
    return once[1] * deep[1] * items[0] * other[0] * number


def deep_copies_of_what_holds_lists(x):
    held = ([x[0], 1.0], x[1])
    other = copy.deepcopy(held)
    other[0][0] = x[2] * x[1]
    return held[0][0] * other[0][0] * other[1]


@pytest.mark.parametrize("f", [static_attributes, copies, deep_copies_of_what_holds_lists], ids=lambda f: f.__name__)
def test_what_is_settled_when_the_program_is_compiled(f):
    check(f, (X,))


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_a_copy_of_an_array_is_no_alias(monkeypatch):
    def f(x):
        y = x * 1.0
        once, deep = copy.copy(y), copy.deepcopy(y)
        y[0] = x[1] * x[2]
        return np.sum(y * once * deep)

    monkeypatch.delenv("S2S_RECORDED")
    np.testing.assert_allclose(s2s.grad(f)(X), differences(f, X), rtol=1e-8)


# --- partial functions


class Scaled:
    def __init__(self, by):
        self.by = by

    def __call__(self, *given):
        return sum(given) * self.by[0]


def partial_of_an_object(x):
    by_object = functools.partial(Scaled(x), 2.0)
    of_a_number, of_an_array = functools.partial(np.multiply, 2.0), functools.partial(np.multiply, x)
    return by_object(3.0) * by_object(4.0) + np.sum(of_a_number(x)) + np.sum(of_an_array(x))


def partial_of_an_object_that_changes(x):
    scaled = Scaled(x)
    later = functools.partial(scaled, 2.0)
    scaled.by = x * x
    return later(3.0) * later(4.0)


@pytest.mark.parametrize("f", [partial_of_an_object, partial_of_an_object_that_changes], ids=lambda f: f.__name__)
def test_partial_functions(f):
    check(f, (X,))


CALLS = {"of_two": lambda f: np.sum(f(2.0))}


@pytest.mark.parametrize(
    "f",
    [
        lambda x, name: CALLS[json.loads(name)](lambda t: t * x[0]) + np.sum(x),
        lambda x, name: CALLS[json.loads(name)](np.vectorize(lambda t: t * x[0])) + np.sum(x),
        lambda x, name: CALLS[json.loads(name)](functools.partial(lambda s, t: t * s * x[0], 3.0)) + np.sum(x),
        lambda x, name: CALLS[json.loads(name)]([np.vectorize(lambda t: t * x[0])][0]) + np.sum(x),
    ],
    ids=["lambda", "vectorize", "partial", "vectorize in a list"],
)
@pytest.mark.parametrize("differentiate", [s2s.grad, s2s.jacfwd], ids=["grad", "jacfwd"])
def test_what_a_function_has_captured_is_not_handed_over(f, differentiate):
    """The call that is decided when the program runs does not see what such a function reads."""
    with pytest.raises(DifferentiationError, match="S2S143"):
        differentiate(f)(X, '"of_two"')


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.vectorize(Scaled(x))(np.ones(2))),
        lambda x: functools.partial(Scaled(x), *json.loads("[1.0, 2.0]"))(3.0),
    ],
    ids=["vectorize", "arguments of an unknown number"],
)
def test_objects_that_are_used_as_a_whole_are_refused(f):
    with pytest.raises(DifferentiationError, match="S2S138"):
        s2s.grad(f)(X)
