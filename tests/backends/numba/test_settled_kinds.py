"""The text of a function for the kinds of its arguments: tests of ranks and of arrays are decided, others stay."""

import ast
import inspect
import textwrap

import pytest

pytest.importorskip("numba")

from s2s.backends.numba.kinds import _Settled  # noqa: E402


def by_rank(np, a, b):
    if np.ndim(a) == 0:
        return b if isinstance(a, np.ndarray) else 1.0
    if np.ndim(a) > 1 or not isinstance(b, np.ndarray):
        return 2.0
    return np.ndim(b) == np.ndim(a)


def settled(a, b):
    """The expressions that the function returns for kinds: ranks of arrays, -1 for numbers, None for others."""
    node = ast.parse(textwrap.dedent(inspect.getsource(by_rank))).body[0]
    made = _Settled({"a": a, "b": b}).function(node)
    return [ast.unparse(s.value) for s in ast.walk(made) if isinstance(s, ast.Return)], ast.unparse(made).count("if ")


@pytest.mark.parametrize(
    "a, b, wanted, tests",
    [
        (-1, -1, ["1.0"], 0), (0, -1, ["b"], 0), (1, -1, ["2.0"], 0), (1, 0, ["np.ndim(b) == np.ndim(a)"], 0),
        (1, 1, ["np.ndim(b) == np.ndim(a)"], 0), (2, 1, ["2.0"], 0),
        (1, None, ["np.ndim(b) == np.ndim(a)", "2.0"], 1),
    ],
)  # fmt: skip
def test_settled(a, b, wanted, tests):
    assert settled(a, b) == (wanted, tests)


def test_a_parameter_that_is_assigned_is_not_decided():
    node = ast.parse("def f(a):\n    a = g(a)\n    return 1.0 if np.ndim(a) == 0 else 2.0").body[0]
    assert ast.unparse(_Settled({"a": 0}).function(node)).endswith("return 1.0 if np.ndim(a) == 0 else 2.0")
