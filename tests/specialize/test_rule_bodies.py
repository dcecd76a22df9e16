"""Bodies of rules are specialised once for each kind of arguments, for all compilations: what is written for a function
must not depend on what was compiled before it."""

import types

import numpy as np
import pytest

import s2s
from s2s import derivatives
from s2s.rules import table
from s2s.specialize import rule_bodies
from tests.bank import CASES

CHOSEN = [case for case in CASES if isinstance(case.f, types.FunctionType)][::24]


def anew(f):
    """The function as one that was not compiled yet."""
    made = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    made.__kwdefaults__ = f.__kwdefaults__
    return made


def text(case):
    return s2s.source(anew(case.f), *case.args, mode="vjp", **case.kwargs)


@pytest.fixture(scope="module")
def after_all():
    """What is written for each function when the others were compiled before it."""
    found = {}
    for case in [*CHOSEN, *CHOSEN[::-1]]:
        found[case.name] = text(case)
    return found


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.name)
def test_what_was_compiled_before_changes_nothing(case, after_all):
    rule_bodies._SHARED.clear()
    assert text(case) == after_all[case.name]


def of_no_spacings(x):
    return np.gradient(x)[0] * np.gradient(3.0 * x)[1] + np.gradient(np.sin(x))[2]


def test_a_body_is_specialised_once_for_calls_of_one_kind(monkeypatch):
    """Where a call has no further arguments, these are a constant like others."""
    made, template = [], rule_bodies.RuleBodies._template
    monkeypatch.setattr(
        rule_bodies.RuleBodies, "_template",
        lambda self, body, *rest: made.append(body.__name__) or template(self, body, *rest))
    rule_bodies._SHARED.clear()
    f, x, h = of_no_spacings, np.array([1.0, 2.5, 3.0, 7.0]), 1e-6
    found = s2s.jacfwd(anew(f))(x)
    assert made.count("gradient_f_dot") == 1
    np.testing.assert_allclose(found, [(f(x + d) - f(x - d)) / (2.0 * h) for d in h * np.eye(4)], rtol=1e-7, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("outer", [s2s.jacfwd, s2s.grad])
def test_a_rule_that_is_given_later_holds_in_the_bodies_that_call_its_function(outer, monkeypatch):
    monkeypatch.setattr(table, "_of_users", dict(table._of_users))
    monkeypatch.setattr(table, "FOREIGN", list(table.FOREIGN))

    def slope(x):
        return s2s.grad(lambda v: np.sin(v) * 2.0)(x)

    x = np.float64(0.7)
    assert outer(slope)(x) == pytest.approx(-2.0 * np.sin(0.7))
    s2s.partials(np.cos)(lambda y, x: -10.0 * np.sin(x))
    assert not rule_bodies._SHARED
    assert outer(anew(slope))(x) == pytest.approx(-20.0 * np.sin(0.7))
    monkeypatch.undo()
    derivatives.forget()
