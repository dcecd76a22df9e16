"""Functions in which tests of ranks and kinds are settled: they give what they give where the tests are left in; and
what a refusal says."""

import ast
import inspect
import itertools
import textwrap

import numpy as np
import pytest

pytest.importorskip("numba")
from s2s.backends.numba.compiler import Refused, at_line  # noqa: E402
from s2s.backends.numba.kinds import _Settled  # noqa: E402
from s2s.versions.request import Compiled  # noqa: E402

VALUES = {None: "text", -1: 2.0, 0: np.array(3.0), 1: np.ones(2), 2: np.ones((2, 2)), 3: np.ones((2, 1, 2))}
"""A value of each kind: -1 is that of a number, and nothing is known of a text."""


def by_ranks(a, b):
    if np.ndim(a) == 1 and np.ndim(b) != 1:
        return "vector and other"
    if not (np.ndim(a) < 2 or 0 >= np.ndim(b)):
        return "matrix and array"
    elif np.ndim(a) <= np.ndim(b):
        if 2 > np.ndim(b):
            pass
        else:
            return "of two axes or more"
    kept = "at least one axis" if np.ndim(b) >= 1 else "none"
    if np.ndim(a) > 0:
        return kept, "array"
    return kept


def by_classes(a, b):
    kind = ("array" if isinstance(a, np.ndarray) else "number") + ("!" if not isinstance(b, np.ndarray) else "?")
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        kind += " with an array"
    if isinstance(a, np.ndarray) and np.ndim(a) == 0:
        return kind, "of no axes"
    if True:
        return kind


def of_what_is_assigned(a, b):
    if np.ndim(a) == 2:
        a = np.ones(3)
    a = np.ones((2, np.size(b)))
    return ("matrix", np.ndim(b) if np.ndim(b) == 0 else 7) if np.ndim(a) == 2 else "other"


def beside_another_test(a, b):
    if np.size(b) == 2 and np.ndim(a) < 1:
        return "few and number"
    if np.ndim(a) < 1 or np.size(b) == 4:
        return "number or four"
    return "array" if np.size(b) > 1 else "array and one"


@pytest.mark.parametrize("function", [by_ranks, by_classes, of_what_is_assigned, beside_another_test])
def test_a_settled_function_gives_what_the_function_gives(function):
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    for kinds in itertools.product(VALUES, VALUES):
        made = ast.unparse(_Settled(dict(zip("ab", kinds))).function(node))
        scope = {"np": np}
        exec(made, scope)
        args = [VALUES[kind] for kind in kinds]
        assert scope[node.name](*args) == function(*args), (kinds, made)
        if function in (by_ranks, by_classes) and None not in kinds:
            assert "ndim" not in made
            assert "isinstance" not in made
            assert made.count("return") == 1


def test_a_refusal_names_the_line_of_the_text():
    text = Compiled("first = 1\n    second = 2\nlast = 3", "f", {}, {})
    shown = [at_line(text, Refused("no", line)) for line in range(5)]
    assert shown == ["no", "no, at `first = 1`", "no, at `second = 2`", "no, at `last = 3`", "no"]
