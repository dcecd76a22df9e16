"""What speaks against compiling a function for those who have not asked for it."""

import ast
import textwrap

import pytest

from s2s.backends.numba.differences import difference

STORES = "it changes an array that lives outside"


@pytest.mark.parametrize(
    "body, told",
    [
        ("y = np.zeros(3)\ny[0] = outside[0]\ny += outside", None),
        ("y = outside + x\ny[0] = 1.0", None),
        ("y = outside\nz = y[1:]\nz[0] = 1.0", STORES),
        ("outside[0] += 1.0", STORES),
        ("for row in outside:\n    row[0] = 1.0", STORES),
        ("x[0], (outside[0], y) = pair", STORES),
        ("[x[0], outside[0]] = pair", STORES),
        ("[outside, x[0]] = pair", None),
        ("(outside, x[0]) = pair", None),
        ("y = np.ravel(outside)\ny += 1.0", STORES),
        ("np.add.at(outside, 0, 1.0)", STORES),
        ("outside.fill(0.0)", STORES),
        ("y = np.add(x, x, out=outside)", STORES),
        ("y, z = x, outside\nx[0] = 1.0", None),
        ("print(x)", "it prints"),
        ("y = x.astype(np.int32)", "it computes with int32, which has fewer than 64 bits or no sign"),
        ("y = np.zeros(3, dtype='uint8')", "it computes with uint8, which has fewer than 64 bits or no sign"),
        ("half = 0.5\ny = half * x", None),
        ("y = half(x)", "it computes with half, which has fewer than 64 bits or no sign"),
        ("y = np.zeros(3, dtype=np.int64)\nprint_ = 1", None),
    ],
)
def test_difference(body, told):
    (node,) = ast.parse("def f(x, outside, pair):\n" + textwrap.indent(body, "    ")).body
    assert difference(node, {"outside"}) == told
    if told == STORES:
        assert difference(node, set()) is None
