"""Parts of arguments by their paths, and objects whose attributes are differentiated."""

import collections
import types

import numpy as np
import pytest

import s2s
from s2s.recorded.entry import _with, at_path

Pair = collections.namedtuple("Pair", "one other")


@pytest.mark.parametrize("path, wanted", [
    ((), "new"),
    (("b",), {"a": [1.0, (2.0, Pair(3.0, 4.0))], "b": "new"}),
    (("a", 0), {"a": ["new", (2.0, Pair(3.0, 4.0))], "b": 5.0}),
    (("a", 1, 0), {"a": [1.0, ("new", Pair(3.0, 4.0))], "b": 5.0}),
    (("a", 1, 1, 0), {"a": [1.0, (2.0, Pair("new", 4.0))], "b": 5.0}),
])  # fmt: skip
def test_another_part_at_a_path(path, wanted):
    value = {"a": [1.0, (2.0, Pair(3.0, 4.0))], "b": 5.0}
    changed = _with(value, path, "new")
    assert changed == wanted and value["a"][1] == (2.0, Pair(3.0, 4.0))
    if path:
        assert at_path(changed, path) == "new"
    if len(path) == 4:
        assert type(changed["a"][1][1]) is Pair


# --- objects whose attributes are differentiated ----------------------------------------------------------------------


class Body:
    def __init__(self, **attributes):
        vars(self).update(attributes)


class Slotted:
    __slots__ = ("rate", "inner", "name", "none")

    def __init__(self, **attributes):
        for name, value in attributes.items():
            setattr(self, name, value)


def energy(body):
    return body.rate * np.sum(body.inner["place"] ** 2) + 3.0 * np.sum(body.inner["rows"][1])


def moments(body):
    return np.array([energy(body), body.rate**2])


def attributes_of(one):
    """The attributes of an object that are not None."""
    names = one.__slots__ if isinstance(one, Slotted) else vars(one)
    return {name: getattr(one, name) for name in names if getattr(one, name, None) is not None}


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("kind", [Body, Slotted, types.SimpleNamespace])
def test_attributes_are_differentiated(kind, monkeypatch):
    def check(found, rate, place, row):
        """The derivatives by the rate, the place, and the rows, of which the first one has none."""
        assert type(found) is kind
        held = attributes_of(found)
        assert set(held) == {"rate", "inner"} and set(held["inner"]) == {"place", "rows"}
        assert type(held["inner"]["rows"]) is list
        np.testing.assert_allclose(held["rate"], rate, rtol=1e-12)
        np.testing.assert_allclose(held["inner"]["place"], place, rtol=1e-12)
        np.testing.assert_allclose(held["inner"]["rows"][0], np.zeros_like(row), rtol=1e-12)
        np.testing.assert_allclose(held["inner"]["rows"][1], row, rtol=1e-12)

    place = np.array([1.0, 3.0])
    body = kind(rate=2.0, inner={"place": place, "rows": [np.ones(2), np.full(2, 5.0)]}, name="body", none=None)
    for mode in ("always", "0"):  # what is recorded is like what is compiled
        monkeypatch.setenv("S2S_RECORDED", mode)
        check(s2s.grad(energy)(body), 10.0, 4.0 * place, np.full(2, 3.0))
        check(s2s.value_and_grad(energy)(body)[1], 10.0, 4.0 * place, np.full(2, 3.0))
        value, pullback = s2s.vjp(moments, body)
        check(pullback(np.array([2.0, 0.5]))[0], 22.0, 8.0 * place, np.full(2, 6.0))
        blocks = [10.0, 4.0], [4.0 * place, 0.0 * place], [[3.0, 3.0], [0.0, 0.0]]
        check(s2s.jacrev(moments)(body), *blocks)
        check(s2s.jacfwd(moments)(body), *blocks)
        tangent = s2s.grad(energy)(body)
        np.testing.assert_allclose(s2s.jvp(moments, (body,), (tangent,))[1], [100.0 + 160.0 + 18.0, 40.0], rtol=1e-12)
        np.testing.assert_allclose(value, [50.0, 4.0], rtol=1e-12)
