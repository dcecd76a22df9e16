"""A refusal that a user has registered holds where the call is recorded, too: the code of the function is not read."""

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError
from s2s.rules import table
from s2s.runtime import no_derivative


def decide(x):
    return float(x > 0.5) * x


def scaled(x, by):
    return x * by


def careless(x):
    return decide(x) * x


def by_both(x):
    return scaled(x, x)


def by_first(x):
    return scaled(x, 3.0)


@pytest.fixture(autouse=True)
def rules(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    table.find(np.sin)  # so that what is registered goes to the copy
    table.extend()
    monkeypatch.setattr(table, "_rules", dict(table._rules))
    monkeypatch.setattr(table, "FOREIGN", [])
    table.refuse(decide, "a decision has no useful derivative; use a sigmoid")

    table.vjp(scaled, x=lambda y_bar, by: y_bar * by, by=lambda y_bar, x: no_derivative("scaled", "`by` is a setting"))


@pytest.mark.parametrize("derivative", [s2s.grad, lambda f: lambda x: s2s.jvp(f, (x,), (1.0,))], ids=["grad", "jvp"])
def test_a_refused_function_is_not_recorded(derivative):
    with pytest.raises(NoDerivativeError, match="`decide` has no derivative: a decision has no useful derivative"):
        derivative(careless)(0.7)


@pytest.mark.parametrize("derivative", [s2s.grad, lambda f: lambda x: s2s.jvp(f, (x,), (1.0,))[1]], ids=["grad", "jvp"])
def test_one_argument_may_be_refused(derivative):
    assert derivative(by_first)(0.7) == pytest.approx(3.0)
    with pytest.raises(NoDerivativeError, match="`scaled` has no derivative: `by` is a setting"):
        derivative(by_both)(0.7)
