"""How the text of a function is written for Numba."""

import ast
import builtins
import types

import numpy as np
import pytest

pytest.importorskip("numba")

from s2s.backends.numba.adaptation import adapt, write_out_containers
from s2s.backends.numba.paths import DYNAMIC, Outside, Unsupported
from s2s.core.values import Array, Dim

X = np.arange(3.0)


def function(text):
    """Parse a function."""
    return ast.parse(text).body[0]


def written(text, samples, **options):
    """Give the text and the parameters that a function has for Numba."""
    found = {"np": np, "len": len, "abs": abs}.__getitem__
    outside = Outside(found, samples, {}, lambda name, value: True, lambda value, call: abs if call is None else None,
                      **options)
    adapted = adapt(function(text), outside)
    return ast.unparse(adapted.node), set(adapted.parameters)


@pytest.mark.parametrize("body, lines", [
    (["t = [x * 2.0]", "return {'a': t}"], 1), (["t = {'b': x}", "u = [t]", "return {'a': u, 'k': k}"], 1),
    (["y = x * 2.0", "t = (y, k)", "return [t]"], 2), (["t = [x]", "return (t, t)"], 2), (["t = [x]", "return t"], 1),
    (["t = [x]", "t = [t]", "return [t]"], 3), (["return [x]"], 1), (["y = x * 2.0", "return [y]"], 2),
])
def test_variables_that_stand_for_containers_in_the_result_are_written_out(body, lines):
    """Those that are assigned once and read once."""
    node = function("def f(x, k):\n    " + "\n    ".join(body))
    outside = Outside({}.__getitem__, {"x": X, "k": 1.0}, {}, lambda name, value: True, lambda value, call: None)
    write_out_containers(node, outside)
    assert len(node.body) == lines
    known = {}
    exec(ast.unparse(ast.fix_missing_locations(node)), known)
    original = {}
    exec(ast.unparse(function("def f(x, k):\n    " + "\n    ".join(body))), original)
    assert known["f"](2.0, 3.0) == original["f"](2.0, 3.0)


def test_paths_to_containers_are_written_out():
    given = {"layers": [{"W": X, "b": 2.0}], "rate": 0.5}
    node = function("def f(p):\n    layers = p['layers']\n    first = layers[0]\n    rate = p['rate']\n"
                    "    return first['W'] * rate")
    outside = Outside({}.__getitem__, {"p": given}, {}, lambda name, value: True, lambda value, call: None)
    write_out_containers(node, outside)
    assert ast.unparse(node).splitlines()[1:] == ["    rate = p['rate']", "    return p['layers'][0]['W'] * rate"]


def one(x):
    return x


SETTING = types.SimpleNamespace(scale=one)


@pytest.mark.parametrize("call, trusted, relied", [
    ("one(x)", False, ["one"]), ("one(x)", True, []), ("setting.scale(x)", False, ["setting.scale"]),
    ("abs(x)", False, []), ("len(x)", False, []), ("np.sin(x)", False, []), ("np.linalg.inv(x)", False, []),
    ("sin(x)", False, ["sin"]), ("sum(x)", False, ["sum"]),
])
def test_names_of_functions_that_may_be_others_at_the_next_call_are_noted(call, trusted, relied):
    """Unless they are builtins, of a module that nobody changes, or the guards see to them."""
    names = {"np": np, "len": len, "abs": abs, "one": one, "setting": SETTING, "sin": np.sin, "sum": one}
    outside = Outside(names.__getitem__, {"x": X}, {}, lambda name, value: trusted, lambda value, call: value)
    facts = adapt(function(f"def f(x):\n    return {call}"), outside).facts
    assert [ast.unparse(fact.expression) for fact in facts] == relied
    assert all(fact.value is (np.sin if relied == ["sin"] else one) for fact in facts)


def test_parameters_that_are_assigned_stay_parameters():
    text = "def f(x, k):\n    k = k + 1.0\n    return x[0] * k"
    assert "k" in written(text, {"x": X, "k": 2.0})[1]
    with pytest.raises(Unsupported, match="`k` is a dict, and assigned"):
        written(text, {"x": X, "k": {}})


@pytest.mark.parametrize("key, has_masks, is_asked", [("m", True, True), ("m", False, False), ("k", True, False)])
def test_subscripts_by_variables_that_may_be_masks(key, has_masks, is_asked):
    text = f"def f(x, k):\n    m = x > 0.0\n    y = x * 2.0\n    return y[{key}]"
    found, _ = written(text, {"x": X, "k": 1}, by_python=frozenset({0} if has_masks else ()))
    assert ("item_at(y, m)" in found) is is_asked


@pytest.mark.parametrize("body, is_tuple", [
    ("p, q = np.mgrid[0:3, 0:n]", True), ("p, q = np.ogrid[0:3, 1:n:2]", True), ("p = np.mgrid[0:3, 0:n]", False),
    ("p = np.ogrid[0.0:1.0:n]", False), ("p, q = np.ogrid[0:3, 0:n] + x[0]", False), ("(p,) = np.mgrid[-1:n]", True),
])
def test_grids_are_made_by_python(body, is_tuple):
    """One that is unpacked is a tuple, whose items may have shapes of their own."""
    asked = []
    python = lambda function, args, keywords: asked.append((function, args)) or abs  # noqa: E731
    written(f"def f(x, n):\n    {body}\n    return x", {"x": X, "n": 4}, python=python)
    (function, args), = asked
    assert args[1] is is_tuple
    found = function(*[4 if arg is DYNAMIC else arg for arg in args])
    scope = {"np": np, "n": 4}
    grid = next(n for n in ast.walk(ast.parse(body)) if isinstance(n, ast.Subscript) and "grid" in ast.unparse(n))
    expected = eval(ast.unparse(grid), scope)
    assert isinstance(found, tuple) is (is_tuple or isinstance(expected, tuple))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


class OwnError(Exception):
    """An exception that Numba does not know."""


@pytest.mark.parametrize("body, shown, as_it_is", [
    ("raise ValueError('below', 2)", "ValueError('below', 2)", True), ("raise KeyError", "KeyError()", True),
    ("raise ValueError(x[0])", "ValueError('ValueError(x[0])')", True),
    ("raise OwnError('no')", "RuntimeError(\"OwnError('no')\")", True),
    ("raise OwnError", "RuntimeError('OwnError')", True),
    ("e = KeyError('none')\n        raise e", "KeyError('none')", True),
    ("e = IndexError(len(x))\n        raise e from None", "IndexError('IndexError(len(x))')", True),
    ("raise ValueError('below', 2)", "RuntimeError()", False), ("raise OwnError(x)", "RuntimeError()", False),
])
def test_what_is_raised_is_that_of_the_function_where_no_python_steps_in(body, shown, as_it_is):
    known = {"np": np, "len": len, "OwnError": OwnError, **vars(builtins)}
    outside = Outside(known.__getitem__, {"x": X}, {}, lambda name, value: True, lambda value, call: value,
                      is_alone=as_it_is)
    adapted = adapt(function(f"def f(x):\n    if x[0] > 1.0:\n        {body}\n    return x"), outside)
    (raised,) = [n for n in ast.walk(adapted.node) if isinstance(n, ast.Raise)]
    assert ast.unparse(raised) == f"raise {shown}"
    assert "e =" not in ast.unparse(adapted.node)


@pytest.mark.parametrize("body, keywords", [
    ("return x.squeeze()", ["axis=(0, 2)"]), ("return x.squeeze(0)", ["axis=0"]),
    ("x = x * 2.0\n    return x.squeeze()", []), ("return (x + 1.0).squeeze()", []),
])
def test_axes_that_are_squeezed_are_those_of_a_parameter_that_stays(body, keywords):
    """Another array than that of the parameter may have other axes of length 1."""
    asked = []
    shape = (Dim("", 1), Dim("x.1", 0), Dim("", 1))
    outside = Outside({"np": np}.__getitem__, {"x": np.ones((1, 3, 1))}, {"x": Array(np.dtype(float), shape)},
                      lambda name, value: True,
                      lambda value, call: asked.append([*map(ast.unparse, call.keywords)]) or value)
    adapt(function(f"def f(x):\n    {body}"), outside)
    assert asked == [keywords]
