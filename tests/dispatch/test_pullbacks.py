"""Pullbacks that begin again where the reverse sweep fails."""

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError

X, ALONG = np.array([0.41, 1.23, 0.92, 2.31]), np.array([0.3, -0.7, 1.1, 0.2])
pytestmark = pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")


def linked(x):
    chain = None
    for k in range(3):
        chain = (x[k] ** 2, chain)
    total = 1.0
    while chain is not None:
        total, chain = total * chain[0], chain[1]
    return total


def bend(x):
    """The product of the Hessian of ``linked`` and ``ALONG``, in closed form."""
    gradient = np.array([2.0 * linked(x) / v for v in x[:3]] + [0.0])
    slopes = np.append(2.0 * ALONG[:3] / x[:3], 0.0)
    return gradient * np.sum(slopes) - gradient * np.append(ALONG[:3] / x[:3], 0.0)


def test_a_pullback_that_fails_is_that_of_a_recording(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    with pytest.raises(NoDerivativeError) as refused:  # the reverse sweep of the compiled version
        s2s.vjp(s2s.grad(linked), X)[1](ALONG)
    assert isinstance(refused.value.__cause__, (TypeError, ValueError))
    monkeypatch.setenv("S2S_RECORDED", "1")
    found, pullback = s2s.vjp(s2s.grad(linked), X)
    np.testing.assert_allclose(found, s2s.grad(linked)(X))
    np.testing.assert_allclose(pullback(ALONG)[0], bend(X))
    np.testing.assert_allclose(pullback(2.0 * ALONG)[0], 2.0 * bend(X))
    np.testing.assert_allclose(s2s.vjp(s2s.grad(linked), 2.0 * X)[1](ALONG)[0], bend(2.0 * X))


def test_it_begins_again_where_the_arguments_were():
    def same(x):
        return linked(x)

    x = X.copy()
    _, pullback = s2s.vjp(s2s.grad(same), x)
    x *= 3.0
    np.testing.assert_allclose(pullback(ALONG)[0], bend(X))


def test_what_has_changed_meanwhile_is_refused():
    class Model:
        scale = 1.0

    model = Model()

    def scaled(x):
        return linked(x * model.scale)

    _, pullback = s2s.vjp(s2s.grad(scaled), X)
    model.scale = 2.0
    with pytest.raises(s2s.errors.UnsupportedSyntaxError, match="S2S155"):
        pullback(ALONG)
