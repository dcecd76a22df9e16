"""Calls that are decided at run time, are recorded, and change what they are given: the caller is recorded instead."""

import json

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError, UnsupportedSyntaxError
from s2s.recorded.arguments import Arguments
from s2s.recorded.recorder import Recorder

X = np.array([0.5, 1.5, 2.5])


def tripled(value):
    return eval("lambda v: 3.0 * v")(value)  # known when it runs, so that the call is recorded


def sets_an_item(held):
    held[0] = tripled(held[0])
    return held[1]


def appends(held):
    held.append(tripled(held[0]))
    return held[1]


def leaves_it(held):
    return tripled(held[1])


FUNCTIONS = {f.__name__: f for f in (sets_an_item, appends, leaves_it)}
AGAIN = {name: s2s.checkpoint(f) for name, f in FUNCTIONS.items()}
HOLDERS = {"list": lambda x: [x[0], x[1]], "dict": lambda x: {0: x[0], 1: x[1]}, "array": lambda x: 2.0 * x}


def chosen(functions, name):
    return functions[json.loads(name)]


def once(x, name, holder):
    held = holder(x)
    return chosen(FUNCTIONS, name)(held) * held[0] * len(held)


def again(x, name, holder):
    held = holder(x)
    return chosen(AGAIN, name)(held) * held[0] * len(held)


def differences(f, *args):
    h = 1e-6
    return [(f(X + h * e, *args) - f(X - h * e, *args)) / (2.0 * h) for e in np.eye(3)]


CASES = [(f, name, holder) for f in (once, again) for name in FUNCTIONS for holder in HOLDERS
         if (name, holder) not in (("appends", "dict"), ("appends", "array"))]


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("f, name, holder", CASES, ids=lambda given: getattr(given, "__name__", given))
def test_the_gradient_is_that_after_the_change(f, name, holder, monkeypatch):
    monkeypatch.delenv("S2S_RECORDED", raising=False)
    args = json.dumps(name), HOLDERS[holder]
    try:
        found = s2s.grad(f)(X, *args)
    except DifferentiationError:
        # what is run again begins with what it has changed
        assert f is again and name == "sets_an_item" and holder != "array"
        return
    np.testing.assert_allclose(found, differences(f, *args), rtol=1e-7)


def _nothing(given):
    pass


def _item_set(given):
    given["a"][0] = 7.0


def _item_of_a_dict_set(given):
    given["b"]["c"] = 2.5


def _key_added(given):
    given["b"]["d"] = 2.5


def _appended(given):
    given["a"].append(1.5)


def _in_other_order(given):
    given["a"].reverse()


def _same_item_twice(given):
    given["a"][1] = given["a"][0]


def _array_written(given):
    given["x"][1] = 3.0


def _array_written_as_it_was(given):
    given["x"][1] = 1.0


def _array_replaced(given):
    given["x"] = given["x"].copy()


def _list_made_a_tuple(given):
    given["a"] = tuple(given["a"])


@pytest.mark.parametrize("change, name", [
    (_nothing, None), (_item_set, "a"), (_item_of_a_dict_set, "b"), (_key_added, "b"), (_appended, "a"),
    (_in_other_order, "a"), (_same_item_twice, "a"), (_array_written, "x"), (_array_written_as_it_was, None),
    (_array_replaced, "x"), (_list_made_a_tuple, "a"),
], ids=lambda given: getattr(given, "__name__", given))
def test_what_has_changed_is_told(change, name):
    given = {"a": [0.5, 1.5, "text"], "b": {"c": 3.5}, "x": np.array([np.nan, 1.0])}
    arguments = Arguments(given)
    change(given)
    if name is None:
        arguments.check_unchanged(Recorder())
        return
    with pytest.raises(UnsupportedSyntaxError, match=f"`{name}` is changed in place") as caught:
        arguments.check_unchanged(Recorder())
    assert caught.value.diagnostic.code == "S2S122"
