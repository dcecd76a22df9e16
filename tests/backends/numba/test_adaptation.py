"""How the text of a function is written for Numba."""

import ast

import numpy as np
import pytest

pytest.importorskip("numba")

from s2s.backends.numba.adaptation import adapt
from s2s.backends.numba.paths import Outside, Unsupported
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
