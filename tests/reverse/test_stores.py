"""Cotangents of arrays that are changed in place, whose stores the reverse sweep undoes."""

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError
from tests.helpers import check

X = np.array([0.462, -0.907, 1.369])


def half_of_a_buffer_twice(x):
    x = x.copy()
    x[:] = x * x
    return 0.5 * np.dot(x, x)


def of_a_branch(x):
    x = x.copy()
    x[:] = np.sin(x)
    if x[0] > 0.0:
        return 0.5 * np.dot(x, x)
    return np.sum(x)


def of_a_loop(x):
    x = x.copy()
    for _ in range(2):
        x[1:] = x[1:] * x[:-1]
    return 0.5 * np.dot(x, x)


def of_columns(x):
    z = np.zeros((len(x), 3))
    for i in range(3):
        z[i:, i] = x[i:] * 2.0
    return np.sum(z * z)


@pytest.mark.parametrize("f", [half_of_a_buffer_twice, of_a_branch, of_a_loop, of_columns])
def test_the_cotangent_that_is_a_buffer_itself(f):
    check(f, (X,))


def test_a_value_as_long_as_its_place_keeps_nothing_for_its_shape():
    """The cotangent of the value is the part of the adjoint: nothing was repeated to fill the place."""
    text = s2s.source(of_columns, X, mode="grad")
    assert "outline" not in text and "unbroadcast" not in text, text


def quotients_in_place(x):
    y = x * x
    y[1:] //= x[:2]
    return np.sum(y * x)


def product_in_place(x):
    a = np.outer(x, x)
    a[1:] @= np.outer(X, X)
    return np.sum(a)


@pytest.mark.parametrize("f", [quotients_in_place, product_in_place])
def test_an_operator_in_place_without_partial_derivatives_is_refused(f):
    """A quotient is rounded, a product is of whole arrays: neither has partial derivatives to multiply by."""
    for derivative in (lambda: s2s.grad(f)(X), lambda: s2s.jvp(f, (X,), (X,))):
        with pytest.raises(NoDerivativeError, match=r"in-place operator has no derivative rule \[S2S119\]"):
            derivative()


FUNCTIONS = [np.sin, lambda a: a * 1.0]


def stored_into_after_a_call(x, k):
    a = x * 2.0
    t = FUNCTIONS[k](a)
    a[0] = t[1] * 3.0
    return np.sum(a * t)


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("k", [0, 1])
def test_a_store_into_what_a_function_of_the_run_was_given(k, monkeypatch):
    """The function may have kept it."""
    x = np.array([0.3, 0.7, 1.1])
    steps = 1e-6 * np.eye(3)
    expected = [(stored_into_after_a_call(x + e, k) - stored_into_after_a_call(x - e, k)) / 2e-6 for e in steps]
    try:
        np.testing.assert_allclose(s2s.grad(stored_into_after_a_call)(x, k), expected, rtol=1e-6)  # as it was observed
    except NoDerivativeError as refused:
        assert refused.diagnostic.code == "S2S206"
    monkeypatch.setenv("S2S_RECORDED", "1")
    np.testing.assert_allclose(s2s.grad(stored_into_after_a_call)(x, k), expected, rtol=1e-6)
    assert s2s.jvp(stored_into_after_a_call, (x, k), (np.ones(3), None))[1] == pytest.approx(np.sum(expected))
