"""Stores through what is a view of an array in one order of its axes, and a copy in another, are left to NumPy."""

import linecache

import numpy as np
import pytest

import s2s
from s2s.sources import version_of_call

pytest.importorskip("numba")

C = np.arange(6.0).reshape(2, 3) / 7.0 + 0.3
LAYOUTS = [C, np.asfortranarray(C), C.T, C[:, ::-1]]

STORED = {
    "into the view": "b = m.reshape(-1)\n    b[0] = v",
    "into the array": "m = m * 1.0\n    b = np.ravel(m)\n    m[0, 1] = v * b[2]",
    "through a view of it": "b = m.reshape(-1)\n    c = b[1:]\n    c[0] += v",
    "in place": "a_bar = m * 1.0\n    b = a_bar.reshape(-1)\n    b *= v\n    m = a_bar",
    "by out": "b = m.reshape(-1)\n    np.multiply(b, v, out=b)",
    "by a method": "b = np.ascontiguousarray(m)\n    b.fill(v)",
    "of what is turned": "m = m.T * 1.0\n    b = m.reshape(-1)\n    b[1] = v",
    "in a branch": "b = m.reshape(-1) if v > 0 else m\n    b[0] = v",
    "in a loop": "b = m[0] * 0.0\n    for k in range(3):\n        b = m.reshape(-1)\n        b[k] = v * b[k + 1]",
    "by name": "b = np.ravel(a=m)\n    b[0] = v",
    "by name with an order": "b = np.asarray(order='C', a=m)\n    b[0] = v",
    "by another name": "b = np.array(object=m, order='F', copy=None)\n    b[0, 1] = v",
}
OTHERS = {
    "nothing": "b = m.reshape(-1)",
    "something else": "b = m.reshape(-1)\n    c = np.zeros(3)\n    c[0] = v\n    b = b[:3] * c",
    "what is computed from it": "b = m.reshape(-1) * 2.0\n    b[0] = v",
    "what is new": "a = np.zeros((2, 3))\n    b = a.reshape(-1)\n    b[1] = v\n    b = b * a.reshape(-1)",
    "before it": "a = m * 1.0\n    a[0, 0] = v\n    b = a.reshape(-1)",
    "no view": "m[0, 1] = v\n    b = m * 1.0",
    "a view in any order": "b = np.transpose(a=m)\n    b[0, 1] = v",
    "an array without an order": "b = np.asarray(a=m)\n    b[0] = v",
    "of one axis": "c = m[0] * v\n    b = np.ravel(a=c)\n    b[0] = v\n    b = b * c",
    "nothing to begin with": "b = m * np.float64()\n    b[0] = v",
    "a list": "c = []\n    for k in range(2):\n        c.append(m * v)\n    b = c[1]\n    b[0, 1] = v",
}
ASKED = {
    "of what is made": ("b = m * np.isfortran(m * v)", True), "by name": ("b = m * np.isfortran(a=m * v)", True),
    "of an attribute": ("c = m * v\n    b = m * c.flags.f_contiguous", True),
    "of an argument": ("b = m * np.isfortran(m)", False), "of one by name": ("b = m * np.isfortran(a=m)", False),
    "another attribute": ("c = m * v\n    b = m * c.ndim", False),
}


def made(body):
    text, name = f"def f(m, v):\n    {body}\n    return np.sum(m**2) + np.sum(b**3)\n", f"<layout: {body}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {"np": np, "__name__": __name__}
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


def is_by_layout(f):
    version, _ = version_of_call(f, (C, 0.7), {}, "jvp", (0, 1))
    return version.compiled.is_by_layout


@pytest.mark.parametrize("how", STORED)
def test_stores_that_depend_on_the_order_are_known(how):
    assert is_by_layout(made(STORED[how]))


@pytest.mark.parametrize("how", OTHERS)
def test_others_are_not(how):
    assert not is_by_layout(made(OTHERS[how]))


@pytest.mark.parametrize("how", ASKED)
def test_what_asks_how_an_array_that_is_made_lies_in_memory_is_known(how):
    body, expected = ASKED[how]
    assert is_by_layout(made(body)) is expected


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("how", [*STORED, "what is computed from it", "before it", "a view in any order"])
def test_numba_has_the_numbers_of_numpy_in_each_order(how):
    f = made((STORED | OTHERS)[how])
    compiled = s2s.differentiable(f, backend="numba")
    for m in LAYOUTS:
        along = (np.cos(m), 0.3)
        np.testing.assert_allclose(s2s.jvp(compiled, (m, 0.7), along), s2s.jvp(f, (m, 0.7), along), rtol=1e-12)
        found, wanted = (s2s.grad(one, argnums=(0, 1))(m, 0.7) for one in (compiled, f))
        for one, other in zip(found, wanted):
            np.testing.assert_allclose(one, other, rtol=1e-12)
