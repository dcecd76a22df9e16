"""Which operations of a function may need an integer of more than 64 bits."""

import ast

import pytest

pytest.importorskip("numba")

from s2s.backends.numba.integers import Integers, _assignments


def function(text):
    """Parse a function."""
    return ast.parse(text).body[0]


@pytest.mark.parametrize("expression, is_int", [
    ("max(1, 2.0)", True), ("min(a, n)", True), ("abs(a)", False), ("sum(a)", False), ("pow(n, 2)", True),
    ("max(1.0, a)", False), ("len(a)", True), ("n + 1", True), ("n + a", False), ("n / 2", False), ("-n", True),
    ("n if a else a", True), ("a if n else a", False), ("a.size", True), ("a.shape[0]", True), ("True", False),
])  # fmt: skip
def test_what_may_be_an_integer(expression, is_int):
    node = function("def f(a, n):\n    return a")
    samples = {"a": 1.5, "n": 3}
    integers = Integers(node, lambda e: samples[e.id])
    assert integers.may_be_int(ast.parse(expression, mode="eval").body) is is_int


@pytest.mark.parametrize("loop, wanted", [
    ("i in range(n)", {"i": "len()"}), ("v in a", {"v": None}), ("(v, w) in a", {"v": None, "w": None}),
    ("i, v in enumerate(a)", {"i": "len()", "v": None}), ("i, v in zip(range(n), a)", {"i": "len()", "v": None}),
    ("i in reversed(range(n))", {"i": "len()"}),
])  # fmt: skip
def test_variables_of_loops(loop, wanted):
    found = dict(_assignments(function(f"def f(a, n):\n    for {loop}:\n        pass")))
    assert {name: e and ast.unparse(e) for name, e in found.items()} == wanted
    assert Integers(function(f"def f(a):\n    for {loop}:\n        pass"), lambda e: 3).ints == {
        "a", *(name for name, e in wanted.items() if e)}
