"""Stores through what is a view of an array in one order of its axes, and a copy in another."""

import ast

import numpy as np
import pytest

import s2s

pytest.importorskip("numba")
from s2s.backends.numba.layouts import check_views  # noqa: E402
from s2s.backends.numba.paths import Unsupported  # noqa: E402

C = np.arange(6.0).reshape(2, 3)
F = np.asfortranarray(C)

STORED = {
    "into the view": "b = m.reshape(-1)\n    b[0] = 1.0",
    "into the array": "b = np.ravel(m)\n    m[0, 1] = 1.0\n    return b",
    "through a view of it": "b = m.reshape(-1)\n    c = b[1:]\n    c[0] += 1.0",
    "in place": "b = m.reshape(-1)\n    b *= 2.0",
    "by out": "b = m.reshape(-1)\n    np.multiply(b, 2.0, out=b)",
    "by a method": "b = np.ascontiguousarray(m)\n    b.fill(1.0)",
    "by a function": "b = np.require(m)\n    np.copyto(b, 1.0)",
}
NOT_STORED = {
    "nothing": "b = m.reshape(-1)\n    return b * 2.0",
    "something else": "b = m.reshape(-1)\n    c = np.zeros(3)\n    c[0] = 1.0\n    return b",
    "what is computed from it": "b = m.reshape(-1)\n    c = b * 2.0\n    c[0] = 1.0\n    return b",
    "no view": "m[0, 1] = 1.0",
}


def check(body, m):
    return check_views(ast.parse(f"def f(m):\n    {body}").body[0], {"m": m})


@pytest.mark.parametrize("how", STORED)
def test_stores_that_depend_on_the_order_are_left_to_numpy(how):
    assert check(STORED[how], C)
    for m in (F, C.T, C[:, ::-1], [1.0, F], (C, {"a": F})):
        with pytest.raises(Unsupported, match="order of the axes in memory"):
            check(STORED[how], m)
    with pytest.raises(Unsupported):
        check(STORED[how].replace("b = m", "b = m.T").replace("(m)", "(m.T)"), C)


@pytest.mark.parametrize("how", NOT_STORED)
def test_others_are_not(how):
    for m in (C, F, C[:, ::-1]):
        assert not check(NOT_STORED[how], m)


@pytest.mark.slow
def test_what_is_compiled_for_one_order_is_not_for_another():
    def f(m, v):
        a = m * 1.0
        b = a.reshape(-1)
        b[0] = v[0]
        return np.sum(a**2) + b[0] * b[1]

    v, along = np.array([0.7, -1.2, 1.9]), (np.ones((2, 3)), np.ones(3))
    compiled = s2s.differentiable(f, backend="numba")
    for m in (C, F, C, C[:, ::-1], F):
        np.testing.assert_allclose(s2s.jvp(compiled, (m, v), along), s2s.jvp(f, (m, v), along), rtol=1e-12)
        for one, other in zip(s2s.grad(compiled, argnums=(0, 1))(m, v), s2s.grad(f, argnums=(0, 1))(m, v)):
            np.testing.assert_allclose(one, other, rtol=1e-12)
