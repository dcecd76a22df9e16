"""Loops that several threads share: the names that they leave behind."""

import ast

import pytest

pytest.importorskip("numba")

from s2s.backends.numba import sharing


def function(text):
    """Parse a function."""
    return ast.parse(text).body[0]


def test_names_that_are_read_after_a_loop():
    node = function(
        "def f(x, q, c, z):\n"
        "    if c:\n"
        "        t = q\n"
        "        for i in x:\n"
        "            z = z + i\n"
        "        t = t + 1.0\n"
        "    z = t * x\n"
        "    return z + t"
    )
    inner = node.body[0].body[1]
    assert sharing._read_after(node, inner) == {"t", "x"}
    assert sharing._read_after(node, function("for i in x: pass")) >= {"q", "c"}
    outer = function("def f(x, q):\n    while q:\n        for i in x:\n            y = i\n        q = y\n    return y")
    assert sharing._read_after(outer, outer.body[0].body[0]) == {"q", "x", "y"}
