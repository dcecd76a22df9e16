"""Containers that are changed while a loop runs over them: followed where no later trip sees it, else refused."""

import collections

import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError
from tests.helpers import check

X = np.array([0.7, 1.3, 0.4])


# --- seen by a later trip --------------------------------------------------------------------------------------------


def appended(x):
    values, s = [x[0], x[1]], 0.0
    for v in values:
        s = s + v * v
        if len(values) < 4:
            values.append(v * 2.0)
    return s


def shortened(x):
    values, s = [x[0], x[1], x[2]], 0.0
    for i, v in enumerate(values):
        s = s + v * v
        if i == 0:
            values.pop()
    return s


def stored_ahead(x):
    values, s = [x[0], x[1], x[2]], 0.0
    for i, v in enumerate(values):
        if i < 2:
            values[i + 1] = v * x[0]
        s = s + v * v
    return s


def stored_at_the_end(x):
    values, s = list(x), 0.0
    for v in values:
        s = s + v
        values[-1] = v * v
    return s


def cleared(x):
    values, s = [x[0], x[1]], 0.0
    for v in values:
        s = s + v
        values.clear()
    return s


def by_a_nested_function(x):
    values, s = [x[0], x[1]], 0.0

    def grow():
        if len(values) < 4:
            values.append(x[2])

    for v in values:
        grow()
        s = s + v
    return s


def in_a_comprehension(x):
    values = [x[0], x[1]]
    return sum([v * values.pop() for v in values])


def behind_an_iterator(x):
    values, s = [v for v in x], 0.0
    it = iter(values)
    for v in it:
        s = s + v
        if len(values) < 5:
            values.append(v * v)
    return s


def an_item_of_a_dict(x):
    values, s = {"a": x[0], "b": x[1]}, 0.0
    for _, v in values.items():
        s = s + v
        values["b"] = x[2]
    return s


def a_key_of_a_dict(x):
    values, s = {"a": x[0], "b": x[1]}, 0.0
    for k in values:
        s = s + values[k]
        values["c"] = x[2]
    return s


def a_deque(x):
    values, s = collections.deque([x[0], x[1]]), 0.0
    for v in values:
        values.append(v)
        s = s + v
    return s


def stored_ahead_in_a_long_list(x):
    values, s = [v * 1.0 for v in np.tile(x, 40)], 0.0
    for i, v in enumerate(values):
        s = s + v
        if i + 1 < len(values):
            values[i + 1] = v * v
    return s


SEEN = [
    appended, shortened, stored_ahead, stored_at_the_end, cleared, by_a_nested_function, in_a_comprehension,
    behind_an_iterator, an_item_of_a_dict, a_key_of_a_dict, a_deque, stored_ahead_in_a_long_list,
]


@pytest.mark.parametrize("f", SEEN, ids=lambda f: f.__name__)
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd], ids=["reverse", "forward"])
def test_refused(f, derivative):
    with pytest.raises(UnsupportedSyntaxError) as info:
        derivative(f)(X)
    assert info.value.diagnostic.code == "S2S181"
    assert info.value.diagnostic.span.file == __file__


def test_the_message():
    with pytest.raises(UnsupportedSyntaxError) as info:
        s2s.grad(cleared)(X)
    line = cleared.__code__.co_firstlineno
    _, place, _, *shown, hint = str(info.value).splitlines()
    assert str(info.value).startswith("`values` is changed while a loop runs over it [S2S181]\n")
    assert place.endswith(f":{line + 4}:9 in `cleared`")
    assert shown[-1].lstrip(" |") == "^^^^^^^^^^^^^^" and hint.endswith("loop over a copy of it: `list(values)`")


# --- not seen --------------------------------------------------------------------------------------------------------


def stored_where_it_is(x):
    values = [x[0], x[1]]
    for i, v in enumerate(values):
        values[i] = v * v
    return sum(values)


def stored_where_it_is_in_a_long_list(x):
    values = [v * 1.0 for v in np.tile(x, 40)]
    for i, (v, w) in enumerate(zip(values, values[1:])):
        values[i] = v * w
    return sum(values)


def stored_behind(x):
    values = [x[0], x[1], x[2]]
    for i, v in enumerate(reversed(values)):
        values[2 - i] = v * v
    return sum(values)


def values_of_keys(x):
    values = {"a": x[0], "b": x[1]}
    for k in values:
        values[k] = values[k] * 2.0
    return values["a"] * values["b"]


def before_the_loop_ends(x):
    values = [x[0], x[1]]
    for v in values:
        if v > 1.0:
            values.append(v * 2.0)
            break
    return sum(values)


def beside_a_shorter_one(x):
    values, s = [x[0], x[1]], 0.0
    for v, w in zip(values, values[1:]):
        values.append(v)
        s = s + v * w
    return s + sum(values)


def of_a_copy(x):
    values = [x[0], x[1], x[2]]
    for v in list(values):
        values.append(v * v)
    return sum(values)


def another_by_the_same_name(x):
    values, s = [x[0], x[1]], 0.0
    for v in values:
        values = [x[2]]
        s = s + v
    return s + values[0]


def what_it_holds(x):
    rows = [[x[0]], [x[1], x[2]]]
    for row in rows:
        for i, v in enumerate(row):
            row[i] = v * 2.0
        row.append(x[0])
    return sum(sum(row) for row in rows)


NOT_SEEN = [
    stored_where_it_is, stored_where_it_is_in_a_long_list, stored_behind, values_of_keys, before_the_loop_ends,
    beside_a_shorter_one, of_a_copy, another_by_the_same_name, what_it_holds,
]


@pytest.mark.parametrize("f", NOT_SEEN, ids=lambda f: f.__name__)
def test_gradient(f):
    check(f, (X,))
