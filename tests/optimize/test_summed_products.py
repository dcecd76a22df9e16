"""Sums of products of matrices along an outer axis: the sum comes first. Beside central differences."""

import numpy as np
import pytest

import s2s
from s2s.core import ir
from tests.helpers import differences
from tests.optimize.test_passes import before_and_after

RNG = np.random.default_rng(83)
B, C, W = RNG.standard_normal(3), RNG.standard_normal((4, 1)), RNG.standard_normal((3, 3))
X = RNG.standard_normal((4, 3))


def of_rows(b, c, w):
    return np.sum(((X - b) @ w) ** 3) + np.sum(c)


def of_columns(b, c, w):
    return np.sum((W @ (w + c[:3])) ** 3) * np.sum(b)


def kept_axes(b, c, w):
    return np.sum(np.sin((X + b[None, :] * 2.0) @ w) @ w.T) + np.sum(np.cos(X.T @ (X + c)) @ w)


def used_twice(b, c, w):
    """The product itself is wanted too."""
    h = (X * np.sum(c) - b) @ w
    return np.sum(h**2)


def in_steps(b, c, w):
    total = 0.0
    for k in range(3):
        total += np.sum(((X - b * k) @ w) ** 2) + np.sum(c[k])
    return total


def that_change(b, c, w):
    """Factors that are kept in lists, and ones that are stored into."""
    total = 0.0
    m = np.sin(w)
    for k in range(3):
        f = np.tanh(m * (k + 1.0))
        total += np.sum(((X - b) @ f) ** 3) + np.sum(c[k])
        m[k] = m[k] * 0.5
    return total


PROGRAMS = [that_change, of_rows, of_columns, kept_axes, used_twice, in_steps]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f):
    at = (B, C, W)
    gradient = s2s.grad(f, argnums=(0, 1, 2))(*at)
    tangent, wanted = s2s.jvp(f, at, tuple(map(np.cos, at)))[1], 0.0
    for k, x in enumerate(at):
        def of_one(x, k=k):
            return f(*(x if i == k else a for i, a in enumerate(at)))

        expected = differences(of_one, x)
        np.testing.assert_allclose(gradient[k], expected, rtol=1e-6, atol=1e-7)
        wanted += np.sum(expected * np.cos(x))
    np.testing.assert_allclose(tangent, wanted, rtol=1e-6, atol=1e-7)


def test_the_sum_comes_first():
    text = s2s.source(of_rows, B, C, W)
    assert "np.sum(" in text and ", axis=0) @ w.T" in text
    assert ", axis=0) @ " not in s2s.source(used_twice, B, C, W, argnums=(0, 1))


def test_the_product_of_a_sum_is_a_call_as_others_are(monkeypatch):
    before, after = before_and_after("summed-products", of_rows, (B, C, W), "grad", monkeypatch)
    calls = [s.value for s in ir.walk(after.body) if isinstance(s, ir.Let) and isinstance(s.value, ir.Call)]
    assert before != after and {type(call.args) for call in calls} == {tuple}
