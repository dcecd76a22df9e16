"""Kinds of expressions: what is named is what Python and NumPy give, the rest is left open."""

import ast

import numpy as np
import pytest

from s2s import runtime as rt
from s2s.backends.numba.number_kinds import UNKNOWN, Kinds, join, kind_of_value

VALUES = {
    "n": 3, "k": 1, "s": 0.5, "b": True, "x": np.arange(3.0) + 1.0, "m": np.eye(3) + 1.0, "j": np.array([2, 0, 1]),
}
TUPLES = {"t": "(s, n, b)", "u": "(s,)", "w": "(x, n)"}
NAMES = {"np": np, "rt": rt, "len": len, "range": range, "float": float, "bool": bool, "abs": abs, "reversed": reversed,
         "list": list}


def static(e):
    return eval(ast.unparse(e), NAMES) if ast.unparse(e).split(".")[0] in NAMES else None


def kind_of(text):
    env = {name: kind_of_value(value) for name, value in VALUES.items()}
    kinds = Kinds([], {}, static)
    env |= {name: kinds.kind(ast.parse(made, mode="eval").body, env) for name, made in TUPLES.items()}
    return kinds.kind(ast.parse(text, mode="eval").body, env)


@pytest.mark.parametrize("text", [
    "len(x)", "len(m) - 1", "rt.bound(-1, n)", "rt.place(k, n)", "x.shape[0]", "n * k", "n // k", "-n", "j[k]",
    "s * n", "s / n", "x[k]", "m[n - 1, k]", "m[k]", "m[1:, 0]", "m[1:]", "m @ x", "m @ m", "x @ x", "m.T",
    "float(n)", "bool(s)", "s < n", "not b", "s ** 2", "np.sin(s)", "np.sum(m)", "np.linalg.inv(m)",
    "np.linalg.solve(m, x)", "np.zeros(n)", "np.empty((n, k))", "np.ones(n, dtype=bool)", "np.copy(x)", "x.copy()",
    "np.zeros_like(m)", "np.stack((x, x))", "t[0]", "t[1]", "t[2]", "w[1]", "u[0]", "t[0] * t[1]", "x[t[1] - 2]",
    "np.concatenate((x, x))", "[1.0, s].pop()",
])
def test_kinds_are_those_of_the_values(text):
    found = kind_of(text)
    value = eval(text, NAMES | VALUES | {name: eval(made, dict(VALUES)) for name, made in TUPLES.items()})
    assert found == kind_of_value(value.item() if isinstance(value, np.generic) else value)


@pytest.mark.parametrize("text", ["range(n)", "range(1, n)", "range(n, 0, -1)", "reversed(range(n))",
                                  "reversed(reversed(range(n)))"])
def test_ranges(text):
    assert kind_of(text) == "range"


@pytest.mark.parametrize("text", [
    "x * s", "x[j]", "n / k", "other(x)", "x.sum()", "np.sum(m, axis=0)", "reversed(x)", "reversed([n, k])", "float(x)",
    "bool(x)", "x.copy('F')", "x.pop()", "list(range(n))", "np.zeros(s)", "np.zeros(n, int, order='F')",
    "np.full_like(x, n, int)", "np.zeros_like(x, dtype=int)", "np.stack(x)", "np.concatenate((j, j))", "np.copy(j)",
    "np.linalg.inv(other(m))", "np.linalg.solve(m)", "np.ones(n, dtype=complex)",
    "w[0]", "t[k]", "t[-1]", "t[3]", "t[0, 0]", "t[True]", "s[0]", "m[True]", "m[k, 0.5]", "t[1:]",
])
def test_what_is_not_known_is_left_open(text):
    assert kind_of(text) == UNKNOWN


PAIR = ("tuple", ("int", ("list", "float")))


@pytest.mark.parametrize(("a", "b", "expected"), [
    ("float", "float", "float"), ("float", None, "float"), (None, None, None), ("float", "int", UNKNOWN),
    (UNKNOWN, "int", UNKNOWN), (("list", None), ("list", "float"), ("list", "float")),
    (("list", "int"), ("list", "float"), ("list", UNKNOWN)), (("list", "int"), "int", UNKNOWN),
    (("list", ("list", None)), ("list", ("list", "bool")), ("list", ("list", "bool"))),
    (PAIR, ("tuple", ("int", ("list", None))), PAIR), (PAIR, ("tuple", ("int",)), UNKNOWN),
    (PAIR, ("tuple", ("float", ("list", "float"))), ("tuple", (UNKNOWN, ("list", "float")))),
    (("array", "float", 1), ("array", "float", 2), UNKNOWN), (("list", "float"), ("tuple", ("float",)), UNKNOWN),
])
def test_kinds_of_what_is_one_or_the_other(a, b, expected):
    assert join(a, b) == join(b, a) == expected


@pytest.mark.parametrize(("body", "expected"), [
    ("l = []\nif b: l.append(s)\nz = l.pop()", "float"), ("l = [s]\nfor i in range(n): l = []\nz = l.pop()", "float"),
    ("l = [s] if b else [n]\nz = l.pop()", UNKNOWN), ("if b: l = [s]\nelse: l = [n]\nz = l.pop()", UNKNOWN),
    ("if b: l = (s, n)\nelse: l = (s, s)\nz = l[0]", "float"),
    ("if b: l = (s, n)\nelse: l = (s, s)\nz = l[1]", UNKNOWN),
])
def test_kinds_after_branches_and_loops(body, expected):
    statements = ast.parse(f"{body}\npass").body
    kinds = Kinds(statements, {name: kind_of_value(value) for name, value in VALUES.items()}, static)
    assert kinds.known(statements[-1]).get("z", UNKNOWN) == expected
