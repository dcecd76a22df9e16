"""When calls are recorded: where the compiler refuses, when it compiles or when what it made runs."""

import warnings

import numpy as np
import pytest

import s2s
from s2s.codegen.link import link
from s2s.dispatch import recorded as recorded_versions
from s2s.errors import error
from s2s.versions.request import Request

X = np.array([0.3, 0.7, 1.2])


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.delenv("S2S_RECORDED")


def by_text(x, text):
    return eval(text) * x[1]


def test_a_refused_function_is_recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    with pytest.raises(s2s.errors.DifferentiationError):
        s2s.grad(by_text)(X, "x[0] * 6.0")
    monkeypatch.setenv("S2S_RECORDED", "1")
    gradient = s2s.grad(by_text)
    np.testing.assert_allclose(gradient(X, "x[0] * 6.0"), [6.0 * X[1], 6.0 * X[0], 0.0])
    assert "recorded while it runs" in gradient.source and "S2S" in gradient.source


def test_a_recorded_function_is_told_once():
    def f(x, text):
        return eval(text) * x[2]

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        s2s.grad(f)(X, "x[0]")
        s2s.grad(f)(X, "x[1]")
        s2s.hessian(f)(X, "x[1]")
    (warning,) = told
    assert warning.category is s2s.RecordedWarning and warning.filename == __file__
    assert "`f` is recorded at each call, as the compiler refuses it: `eval`" in str(warning.message)


def test_what_compiles_is_not_recorded():
    gradient = s2s.grad(lambda x: np.sum(np.sin(x)))
    np.testing.assert_allclose(gradient(X), np.cos(X))
    assert "derivative_of_call" not in gradient.source


def test_a_function_that_is_too_long_is_recorded():
    def long(x):
        total = 0.0
        for k in range(7000):
            total = total + STEPS[k](x[k % 3])
        return total

    short = [lambda t: t, lambda t: 2.0 * t]
    STEPS = [short[k % 2] for k in range(7000)]
    value, gradient = s2s.value_and_grad(long)(X)
    weights = np.array([sum(1.0 + k % 2 for k in range(7000) if k % 3 == i) for i in range(3)])
    assert np.isclose(value, weights @ X)
    np.testing.assert_allclose(gradient, weights)


def test_an_argument_error_is_raised():
    with pytest.raises(s2s.errors.ArgumentError):
        s2s.grad(lambda x: x * 2.0)("text")
    with pytest.raises(s2s.errors.NonScalarOutputError):
        s2s.grad(lambda x: x * 2.0)(X)


def test_a_chosen_derivative_is_not_lost():
    @s2s.differentiable(nonsmooth="straight_through")
    def f(x):
        return by_text(x, "x[0]") * np.floor(x[2])

    with pytest.raises(s2s.errors.DifferentiationError):
        s2s.grad(f)(X)


@pytest.mark.parametrize("wrt, tangents, given", [
    ((("x",),), "x_dot", "(x_dot,)"),
    ((("x",), ("rest", 0)), "x_dot, rest_0_dot", "(x_dot, rest_0_dot)"),
    ((("named", "step size"), ("named", "b-1")), "named_step_size_dot, named_b_1_dot",
     "(named_step_size_dot, named_b_1_dot)"),
])
def test_tangents_of_a_recorded_version_are_named_by_paths(wrt, tangents, given):
    """Also of arguments whose names are no names of Python: ``f(x, **{"step size": 0.1})``."""
    def f(x, *rest, **named):
        return x

    for mode in ("jvp", "grad"):
        made = recorded_versions.recorded(f, Request(mode, wrt), error("S2S101", construct="this"))
        heading = made.text.splitlines()[0]
        is_jvp = mode == "jvp"
        assert heading == f"def f_{mode}(x, rest, named{', ' + tangents if is_jvp else ''}):"
        ending = f"(x, rest, named), request, refusal{', ' + given if is_jvp else ''})"
        assert made.text.splitlines()[-1].endswith(ending)
        assert recorded_versions.is_recorded(made) and callable(link(made, f))
