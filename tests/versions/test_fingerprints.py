"""Fingerprints: equal for what says the same, others for what differs, none for what is nested too deep."""

import enum
import functools

import numpy as np
import pytest

from s2s.versions.fingerprints import Unstorable, fingerprint


class Mode(enum.Enum):
    ONE = 1
    TWO = 2


def plain(x):
    return x


def nested(wrap, times):
    value = 1.0
    for _ in range(times):
        value = wrap(value)
    return value


def with_method(default):
    def method(self, k=default):
        return k

    class Holder:
        read = method

    Holder.__qualname__ = "HOLDER"
    return Holder


def cached_property(held):
    """A cached property that holds anything in the place of its function."""
    made = functools.cached_property(plain)
    made.func = held
    return made


WRAPS = {
    "tuple": (lambda v: (v,), 8), "list": (lambda v: [v], 8), "frozenset": (lambda v: frozenset([v]), 8),
    "set": (lambda v: {v}, 1), "dict": (lambda v: {"a": v}, 4), "slice": (lambda v: slice(v, None), 4),
    "property": (property, 4), "cached property": (cached_property, 8),
    "partial": (lambda v: functools.partial(plain, v), 2),
}  # fmt: skip
"""How deep each may be nested: what has its parts in a tuple counts twice, a partial also has a dict."""


@pytest.mark.parametrize("name", WRAPS)
def test_what_is_nested_too_deep_has_no_fingerprint(name):
    wrap, most = WRAPS[name]
    assert len({fingerprint(nested(wrap, times)) for times in range(most + 1)}) == most + 1
    if name != "set":
        with pytest.raises(Unstorable, match="nested too deep"):
            fingerprint(nested(wrap, most + 1))


def test_methods_of_a_class_count_as_their_parts(monkeypatch):
    """A method is one level below its class, its defaults are two, what these hold is three."""
    def of(times):
        monkeypatch.setitem(globals(), "HOLDER", with_method(nested(lambda v: (v,), times)))
        return fingerprint(globals()["HOLDER"])

    assert len({of(times) for times in range(6)}) == 6
    assert of(5) == of(5)
    with pytest.raises(Unstorable, match="nested too deep"):
        of(6)


def other(x, k=(1, 2)):
    return x * k[0]


DIFFERENT = [
    1, 1.0, True, 1j, "1", b"1", None, ..., np.float64(1), np.float32(1), np.dtype("f4"), (1,), [1], {1},
    frozenset({1}), (1, 2), (2, 1), ((1,), 2), (1, (2,)), {1: 2}, {2: 1}, {1: 2, 2: 1}, {2: 1, 1: 2}, slice(1),
    slice(1, 2), slice(1, 2, 3), np.ones(2), np.ones(2, "f4"), np.ones((2, 1)), np.ones(2) * 2, Mode.ONE, Mode.TWO,
    Mode, plain, other, functools.partial(other, 1), functools.partial(other, 2), functools.partial(other, x=1),
    functools.partial(other, k=1), property(plain), functools.cached_property(plain), functools.lru_cache(plain),
    np.sin, np.cos, float, np, plain.__code__,
]  # fmt: skip


def test_constants_of_code_are_one_level_below_it():
    """The code of a lambda in a lambda is one level below, a tuple in that one further."""
    def of(times):
        return eval("lambda: " * times + "(1, 2)").__code__

    assert len({fingerprint(of(times)) for times in range(1, 8)}) == 7
    with pytest.raises(Unstorable, match="nested too deep"):
        fingerprint(of(9))


def test_what_differs_has_another_fingerprint():
    found = [fingerprint(value) for value in DIFFERENT]
    assert len(set(found)) == len(found)
    assert [fingerprint(value) for value in DIFFERENT] == found
    assert fingerprint({"b", "a", "c"}) == fingerprint({"c", "b", "a"}) != fingerprint({"a", "b"})


@pytest.mark.parametrize("value", [object(), np.array([None]), (1, object()), {"a": iter(())}], ids=range(4))
def test_what_no_other_process_finds_has_none(value):
    with pytest.raises(Unstorable):
        fingerprint(value)
