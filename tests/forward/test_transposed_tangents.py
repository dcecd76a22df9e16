"""Tangents by rules that have a cotangent only: the transpose of its body, written out or at run time."""

import json

import numpy as np
import pytest

import s2s
from s2s.rules import table
from tests.helpers import differences
from tests.rules.test_table import scratch  # noqa: F401

X = np.array([[0.9, -1.3, 0.8], [2.1, 0.4, -0.6]])
V = np.array([[1.0, 0.5, -2.0], [0.3, -0.7, 1.1]])


def sort(x):
    return np.sort(x)


def largest(x):
    return np.max(x, axis=1)


def spread(x):
    return np.var(x, axis=0)


@pytest.mark.parametrize(
    "f",
    [
        lambda a, t: t * np.sum(np.unwrap(a[0] * 3.0, discont=t * 6.0) ** 2),
        lambda a, t: np.sum(np.real_if_close(a * t, tol=t * 100.0) ** 2),
    ],
    ids=["unwrap", "real_if_close"],
)
def test_an_option_that_moves_and_chooses_the_function_has_no_tangent(f):
    expected = [differences(lambda a: f(a, 0.5), X), differences(lambda t: f(X, t), 0.5)]
    for one, wanted in zip(s2s.grad(f, argnums=(0, 1))(X, 0.5), expected, strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-6, atol=1e-8)
    tangent = s2s.jvp(f, (X, 0.5), (V, 1.0))[1]
    np.testing.assert_allclose(tangent, np.sum(expected[0] * V) + expected[1], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("rule", [sort, largest, spread], ids=lambda f: f.__name__)
def test_the_transpose_is_written_out_where_the_result_is_known(rule):
    def known(x, by):
        return rule(x * 2.0)

    def unknown(x, by):
        return rule(x * json.loads(by))

    weights = np.cos(np.arange(6.0).reshape(2, 3))
    for f, written in ((known, True), (unknown, False)):
        y, tangent = s2s.jvp(f, (X, "2.0"), (V, None))
        picked = np.resize(weights, np.shape(y))
        assert np.sum(picked * tangent) == pytest.approx(
            float(differences(lambda t: np.sum(picked * rule(2.0 * (X + t * V))), 0.0)), rel=1e-8)
        text = s2s.source(f, X, "2.0", mode="jvp")
        assert ("transposed.tangent(" not in text) == written, text


def power(g, x, n):
    return g if n == 0 else power(g, x, n - 1) * x


def quarter(x):
    return 0.25 * x**4


def quarter_bar(y_bar, x):
    return power(y_bar, x, 3)


@pytest.mark.usefixtures("scratch")
def test_a_function_that_calls_itself_in_the_body_of_a_rule_has_a_second_derivative():
    """Its pullback in the tangent is made anew from its arguments, with respect to which that is differentiated."""
    table.vjp(quarter)(quarter_bar)

    def slope(x):
        return s2s.jvp(quarter, (x,), (1.5,))[1]

    assert s2s.grad(slope)(0.7) == pytest.approx(4.5 * 0.7**2, rel=1e-12)
