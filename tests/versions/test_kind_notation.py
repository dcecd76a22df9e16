"""The notation of kinds of arguments: texts in, what is known and examples out, as in the repr of a derivative."""

from typing import Annotated

import numpy as np
import pytest

import s2s
from s2s.core.values import UNKNOWN, Array
from s2s.errors import ArgumentError
from s2s.versions.kinds import annotated, read_kind, read_kinds
from s2s.versions.signature import describe, key

TEXTS = {
    "float": 1.0, "int": 2, "bool": True, "complex": 1j, "float32": np.float32(1), "float64": np.float64(1),
    "f8[:]": np.ones(3), "f8[:,1]": np.ones((3, 1)), "f8[]": np.ones(()), "f4[:,:,:]": np.ones((2, 3, 4), np.float32),
    "i8[:]": np.arange(3), "b1[:]": np.ones(3, bool), "(f8[:], int)": (np.ones(2), 3), "(float,)": (1.0,),
    "[float, f8[:]]": [1.0, np.ones(3)], "{'w': f8[:,:], 'b': float}": {"w": np.ones((2, 2)), "b": 1.0},
    "'same'": "same", "None": None,
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_a_kind_is_that_of_a_value(text):
    kind = read_kind(text)
    if text != "bool":  # a bool that is given is an option
        assert key(describe(TEXTS[text], "x")) == text
        assert kind.abstract("x") == describe(TEXTS[text], "x")
    example = kind.example(np.random.default_rng(0), {})
    assert key(describe(example, "x")) == ("True" if text == "bool" else text)


@pytest.mark.parametrize("text", ["f8[100, 3]", "f8[:, :]", "f8[m, n]"])
def test_lengths_decide_only_where_they_are_one(text):
    assert read_kind(text).abstract("x") == describe(np.ones((7, 5)), "x") or text == "f8[m, n]"
    assert key(read_kind(text).abstract("x")) == "f8[:,:]"


def test_named_lengths_are_the_same():
    symbols = {}
    kinds = read_kinds("w: f8[n, m], x: f8[m], m: 6")
    w, x, _ = (kind.abstract(name, symbols) for name, kind in kinds.items())
    assert w.shape[1] == x.shape[0] != w.shape[0]
    lengths = {"m": kinds["m"].number}
    w, x, m = (kind.example(np.random.default_rng(0), lengths) for kind in kinds.values())
    assert w.shape[1] == len(x) == m == 6


def test_values_are_those_that_are_written():
    kinds = read_kinds("a: -0.5, b: 3, c: [f8[:], ...]")
    a, b, c = (kind.example(np.random.default_rng(0), {}) for kind in kinds.values())
    assert (a, b) == (-0.5, 3) and len(c) > 1 and c[0].ndim == 1
    assert key(kinds["a"].abstract("a")) == "float" and key(kinds["c"].abstract("c")) == "[f8[?], ...]"


@pytest.mark.parametrize("text", ["x: f9[3]", "x: f8[3", "x", "3: float", "x: y", "x: f8[-1]", "x: U3[:]", "x: g()"])
def test_what_is_no_kind_is_refused(text):
    with pytest.raises(ArgumentError) as caught:
        read_kinds(text)
    assert "is no kind of argument [S2S511]" in str(caught.value) and "f8[100, 3]" in str(caught.value)


@pytest.mark.parametrize("text", [
    "f9[3]", "f8[3", "y", "f8[-1]", "U3[:]", "g()", "", "1 +", "[f8, ...", "f8[1:2]", "...", "f8[True]", "{x: 1}",
    "-'a'", "-True", "-None", "-f8", "+1.0",
])
def test_a_text_that_is_no_kind_is_refused(text):
    with pytest.raises(ArgumentError, match="is no kind of argument") as caught:
        read_kind(text)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8", "i8", "u1", "bool"])
def test_examples_are_near_one(dtype):
    """Away from 0 in each part, and not the same twice; of integers and booleans there are several values."""
    x = read_kind(f"{dtype}[40, 5]").example(np.random.default_rng(0), {})
    assert x.shape == (40, 5) and x.dtype == dtype
    if x.dtype.kind in "fc":
        for part in (x.real, x.imag)[: 1 + (x.dtype.kind == "c")]:
            assert 0.5 <= part.min() < 0.6 and 1.4 < part.max() <= 1.5
    else:
        assert {*x.ravel().tolist()} == ({False, True} if dtype == "bool" else {0, 1, 2})


@pytest.mark.parametrize("kind", [float, complex, np.float32, np.complex64])
def test_examples_of_numbers_are_near_one_in_each_part(kind):
    draws = np.random.default_rng(0)
    numbers = [read_kind(kind.__name__).example(draws, {}) for _ in range(100)]
    assert {type(x) for x in numbers} == {kind}
    for part in ("real", "imag")[: 1 + issubclass(kind, (complex, np.complexfloating))]:
        parts = [getattr(x, part) for x in numbers]
        assert 0.5 <= min(parts) < 0.6 and 1.4 < max(parts) <= 1.5


@pytest.mark.parametrize("text", ["int", "int32", "u1", "bool"])
def test_examples_of_other_numbers_are_always_the_same(text):
    draws = np.random.default_rng(0)
    assert {read_kind(text).example(draws, {}) for _ in range(5)} == {True if text == "bool" else 3}


def test_any_number_of_dimensions():
    """Dots are that alone: beside a length they are none."""
    for text in ("f8[...]", "f8[...,]"):
        assert read_kind(text).abstract("x") == Array(np.dtype(float), None)
        assert read_kind(text).example(np.random.default_rng(0), {}).ndim == 1
    for text in ("f8[..., 3]", "f8[3, ...]", "f8[..., ...]"):
        with pytest.raises(ArgumentError, match="is no kind of argument"):
            read_kind(text)


@pytest.mark.parametrize(
    "annotation", ["f8[:, 3]", Annotated[np.ndarray, "f8[:, 3]"], Annotated[np.ndarray, "in metres", "f8[:, 3]"]])
def test_annotations_have_the_same_notation(annotation):
    assert annotated(annotation, "x") == describe(np.ones((2, 3)), "x")


def test_other_texts_say_nothing():
    assert annotated("SomeClass") is UNKNOWN and key(annotated(Annotated[float, "in metres"])) == "float"


def test_the_source_for_kinds_is_that_for_examples():
    def f(w, x, n):
        for _ in range(n):
            x = np.tanh(w @ x)
        return np.sum(x)

    text = s2s.source(f, np.ones((3, 3)), np.ones(3), 5)
    assert s2s.source(f, kinds="w: f8[3, 3], x: f8[3], n: 5") == text
    assert s2s.source(f, kinds="w: f8[k, k], x: f8[k]") == text  # range(n) says what n is

    def g(w: "f8[:, :]", x: "f8[:]", n: int = 5):  # noqa: F722, F821
        for _ in range(n):
            x = np.tanh(w @ x)
        return np.sum(x)

    by_annotations = s2s.source(g)
    assert by_annotations == s2s.source(g, np.ones((3, 3)), np.ones(3), 5) and "rt." not in by_annotations
    with pytest.raises(ArgumentError, match="S2S502"):
        s2s.source(f, kinds="q: float")
    with pytest.raises(ArgumentError, match="beside example arguments"):
        s2s.source(f, np.ones((3, 3)), np.ones(3), 5, kinds="n: int")
