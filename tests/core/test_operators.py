"""The record of operators, against Python itself: symbol, precedence, methods and the ufunc that each means."""

import ast
import itertools

import numpy as np
import pytest

from s2s.core.operators import BINARY, COMPARISONS, IN_PLACE, OPERATORS, PLAIN, SIGNS, UNARY, plain_of


class Recorder:
    """An object whose every method of an operator gives its own name."""


for _one in OPERATORS.values():
    for _name in filter(None, (_one.method, _one.reflected, _one.in_place_method)):
        setattr(Recorder, _name, lambda self, *_, name=_name: name)


def _run(source, **names):
    exec(source, names)
    return names["a"]


def test_all_operators_of_python_are_there():
    known = [(ast.operator, BINARY), (ast.unaryop, UNARY), (ast.cmpop, COMPARISONS)]
    assert all(len(kind.__subclasses__()) == len(table) for kind, table in known)


@pytest.mark.parametrize("fn", BINARY)
def test_binary(fn):
    one = BINARY[fn]
    assert _run(f"a = a {one.symbol} b", a=Recorder(), b=1) == one.method
    assert _run(f"a = b {one.symbol} a", a=Recorder(), b=1j) == one.reflected
    assert _run(f"a {one.symbol}= b", a=Recorder(), b=1) == one.in_place_method
    assert fn(Recorder(), 1) == one.method
    assert one.in_place(Recorder(), 1) == one.in_place_method
    assert PLAIN[one.in_place] is plain_of(one.in_place) is fn
    assert IN_PLACE[fn] is one.in_place
    a, b = np.array([[5, 6], [7, 9]]), np.array([[2, 3], [1, 2]])
    assert np.array_equal(one.ufunc(a, b), fn(a, b))
    assert fn not in SIGNS or fn(7, 2) == 7 + SIGNS[fn] * 2


@pytest.mark.parametrize("fn", UNARY)
def test_unary(fn):
    one = UNARY[fn]
    assert not one.method or _run(f"a = {one.symbol} a", a=Recorder()) == fn(Recorder()) == one.method
    assert _run(f"a = {one.symbol} a", a=3) == fn(3)
    assert one.ufunc is None or one.ufunc(3) == fn(3)


@pytest.mark.parametrize("fn", COMPARISONS)
def test_comparison(fn):
    one = COMPARISONS[fn]
    a, b = [1, 2, 3], [2, 2, [1, 2, 3]]
    assert _run(f"a = a {one.symbol} b", a=a, b=b) is fn(a, b)
    if one.method:
        assert _run(f"a = a {one.symbol} b", a=Recorder(), b=1) == one.method
        assert _run(f"a = b {one.symbol} a", a=Recorder(), b=1) == one.reflected
        assert [one.ufunc(x, 2) for x in a] == [fn(x, 2) for x in a]


def test_which_binds_more_strongly():
    for one, other in itertools.permutations([*BINARY.values(), *COMPARISONS.values()], 2):
        if one.binding != other.binding:
            loosest = min((one, other), key=lambda each: each.binding)
            assert _kind(f"a {one.symbol} b {other.symbol} c") is _kind(f"a {loosest.symbol} b")


def test_whether_a_sign_binds_more_strongly():
    for one, other in itertools.product(UNARY.values(), [*BINARY.values(), *COMPARISONS.values()]):
        top = ast.parse(f"{one.symbol} a {other.symbol} b", mode="eval").body
        assert isinstance(top, ast.UnaryOp) is (one.binding < other.binding)


def _kind(source):
    top = ast.parse(source, mode="eval").body
    return type(top.ops[0] if isinstance(top, ast.Compare) else top.op)
