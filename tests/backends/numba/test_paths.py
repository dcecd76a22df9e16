"""Paths from names, as ``model.layers[0]["w"]``: what they lead to in a call, and what is known of it at every call."""

import ast
import collections
import math
import types

import numpy as np
import pytest

pytest.importorskip("numba")

from s2s.backends.numba.paths import Outside, aval_at, follow, path_of, sample_of
from s2s.core.values import UNKNOWN, Array, Dim, Mapping, Sequence

Pair = collections.namedtuple("Pair", "a b")
NUMBER, VECTOR = Array(np.dtype(float), ()), Array(np.dtype(float), (Dim("x.0", 0),))
PAIR, LIST = Sequence(Pair, (NUMBER, VECTOR)), Sequence(list, (VECTOR, NUMBER))


def steps_of(text):
    return path_of(ast.parse(text, mode="eval").body)[1]


@pytest.mark.parametrize("path, known, expected", [
    ("p", PAIR, PAIR), ("p.a", PAIR, NUMBER), ("p.b", PAIR, VECTOR), ("p[0]", PAIR, NUMBER), ("p[1]", PAIR, VECTOR),
    ("p[-1]", PAIR, VECTOR), ("p[-2]", PAIR, NUMBER), ("p[2]", PAIR, UNKNOWN), ("p[-3]", PAIR, UNKNOWN),
    ("p.count", PAIR, UNKNOWN), ("p['a']", PAIR, UNKNOWN), ("v[0]", LIST, VECTOR), ("v.append", LIST, UNKNOWN),
    ("d['w']", Mapping(("v", "w"), (NUMBER, PAIR)), PAIR), ("d['w'].b", Mapping(("v", "w"), (NUMBER, PAIR)), VECTOR),
    ("d['z']", Mapping(("v", "w"), (NUMBER, PAIR)), UNKNOWN), ("d.w", Mapping(("v", "w"), (NUMBER, PAIR)), UNKNOWN),
    ("d[1]", Mapping((2, 1), (NUMBER, PAIR)), PAIR), ("x.shape", VECTOR, UNKNOWN), ("x[0]", VECTOR, UNKNOWN),
    ("v[1].b", Sequence(tuple, (LIST, PAIR)), VECTOR), ("v[0].b", Sequence(tuple, (LIST, PAIR)), UNKNOWN),
    ("v.b", Sequence(tuple, (NUMBER, VECTOR)), UNKNOWN),
])
def test_what_is_known_at_every_call(path, known, expected):
    assert aval_at(known, steps_of(path)) == expected


class Slotted:
    __slots__ = ("w",)
    rate = 0.5

    def __init__(self, w):
        self.w = w

    @property
    def twice(self):
        return 2.0 * self.w


class Open:
    def __init__(self):
        self.w = [1.0, {"k": 3.0}]


def enclosing(scale):
    return lambda x: x * scale


SAMPLES = {"p": Pair(1.0, 2.0), "s": Slotted(4.0), "o": Open(), "f": enclosing(5.0), "n": types.SimpleNamespace(a=6.0)}


@pytest.mark.parametrize("path, expected", [
    ("p.b", 2.0), ("p[-1]", 2.0), ("s.w", 4.0), ("s.rate", 0.5), ("o.w[1]['k']", 3.0), ("n.a", 6.0),
    ("f.__closure__[0].cell_contents", 5.0), ("f.__globals__", globals()), ("np.linalg.norm", np.linalg.norm),
    ("np.add.nin", 2), ("math.pi", math.pi),
])
def test_what_a_path_leads_to(path, expected):
    found = sample_of(ast.parse(path, mode="eval").body, OUTSIDE)
    assert found is expected or found == expected


@pytest.mark.parametrize("path", [
    "s.twice", "s.missing", "o.missing", "np.missing", "o.__init__", "f.__name__", "x.y", "n[0]", "o.w[5]",
    "o.w[1]['z']", "f(1).w", "p.count",
])
def test_what_is_computed_or_missing_is_not_followed(path):
    with pytest.raises(LookupError):
        sample_of(ast.parse(path, mode="eval").body, OUTSIDE)


OUTSIDE = Outside(
    {"np": np, "math": math}.__getitem__, SAMPLES, {}, lambda name, value: True, lambda value, call: value)


def test_an_array_has_no_items_here():
    with pytest.raises(LookupError):
        follow(np.ones(3), ("item", 0))
