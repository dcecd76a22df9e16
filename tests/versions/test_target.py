"""The function that is compiled for a callable, what its parameters are, and which have none."""

import functools
import inspect
from pathlib import Path

import numpy as np
import pytest

import s2s
from s2s.derivatives import derivative
from s2s.errors import ArgumentError
from s2s.versions.target import _choices, parameter_span, target_of


def f(x, k=2.0, *rest, scale=1.0, **more):
    return x * k * scale


class Model:
    def __call__(self, x, k=3.0):
        return x * k

    def method(self, x):
        return x

    static = staticmethod(f)

    @classmethod
    def of_class(cls, x):
        return x


MODEL = Model()
CASES = {
    "function": (f, f, "x k rest scale more", {}),
    "method": (MODEL.method, Model.method, "x", {"self": MODEL}),
    "function of a method": (Model.method, Model.method, "self x", {}),
    "class method": (Model.of_class, Model.of_class.__func__, "x", {"cls": Model}),
    "static method": (Model.__dict__["static"], f, "x k rest scale more", {}),
    "callable object": (MODEL, Model.__call__, "x k", {"self": MODEL}),
    "partial": (functools.partial(f, 1.0), f, "k rest scale more", {"x": 1.0}),
    "partial of a method": (functools.partial(MODEL.method), Model.method, "x", {"self": MODEL}),
    "decorated": (s2s.differentiable(f), f, "x k rest scale more", {}),
    "primal": (derivative("primal", f, None, False, "zeros"), f, "x k rest scale more", {}),
    "primal of an object": (derivative("primal", MODEL, None, False, "zeros"), Model.__call__, "x k", {"self": MODEL}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_callable_is_a_function_with_some_parameters(name):
    given, function, public, fixed = CASES[name]
    target = target_of(given)
    assert target.function is function
    assert [p.name for p in target.public] == public.split()
    assert target.fixed == fixed
    assert target.derived is None


@pytest.mark.parametrize("name", ["function", "method", "callable object", "partial"])
def test_a_derivative_is_that_of_the_same_function(name):
    given, function, public, fixed = CASES[name]
    grad = s2s.grad(given)
    target = target_of(grad)
    assert (target.function, target.fixed, target.derived) == (function, fixed, grad.dispatcher)
    assert [p.name for p in target.public] == public.split()


@pytest.mark.parametrize("function, choices", [
    (f, "choose among x (0), k (1), scale"),
    (lambda x, *rest: x, "choose among x (0)"),
    (lambda **more: 1.0, "`lambda` takes no arguments by name"),
    (lambda *rest: 1.0, "`lambda` takes no arguments by name"),
])
def test_parameters_that_can_be_named_are_offered(function, choices):
    assert _choices(target_of(function)) == choices


@pytest.mark.parametrize("argnums, code", [("z", "S2S502"), (1, "S2S501"), (-2, "S2S501")])
def test_a_parameter_that_is_not_there_is_refused_with_a_choice(argnums, code):
    with pytest.raises(ArgumentError, match="choose among x \\(0\\), scale\n") as refusal:
        s2s.grad(lambda x, *, scale=1.0: x * scale, argnums=argnums)(1.0)
    assert refusal.value.diagnostic.code == code


def squared(
    x, factor=1.0,
):
    return factor * x * x


class Squared:
    def __call__(self, x): return x * x  # on the line of the head


@pytest.mark.parametrize("function, name, shown", [
    (squared, None, "squared"), (squared, "factor", "factor"), (squared, "no_parameter" + "_at_all", None),
    (lambda factor, x: factor * x, None, "lambda"), (lambda factor, x: factor * x, "x", "x"),
    (Squared.__call__, None, "__call__"), (Squared.__call__, "x", "x"),
    (eval("lambda x: x"), None, None), (eval("lambda x: x"), "x", None),
])
def test_a_parameter_has_a_place_in_the_head(function, name, shown):
    """The name of the function, or the word ``lambda``, without a parameter."""
    span = parameter_span(function, name)
    if shown is None:
        assert span is None
        return
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert lines[span.line - 1][span.column : span.end_column] == shown
    assert span.line == span.end_line >= function.__code__.co_firstlineno


def test_parameters_are_those_of_the_signature():
    target = target_of(f)
    assert target.public == tuple(inspect.signature(f).parameters.values())
    assert target.positional == ("x", "k") and target.parameters == ("x", "k", "rest", "scale", "more")
    assert target.variable(inspect.Parameter.VAR_POSITIONAL) == "rest"
    assert target.variable(inspect.Parameter.VAR_KEYWORD) == "more"
    assert target_of(MODEL).variable(inspect.Parameter.VAR_KEYWORD) is None


@pytest.mark.parametrize(
    "given", [np.sin, np.sum, len, functools.partial(np.sum, axis=0), np.vectorize(f), s2s.grad(np.sin)], ids=range(6))
def test_what_has_no_code_of_its_own_has_no_target(given):
    assert target_of(given) is None


@pytest.mark.parametrize("given", [Model, float, 1.0, None, "f"])
def test_classes_and_what_is_not_called_are_refused(given):
    with pytest.raises(ArgumentError, match="S2S507"):
        target_of(given)
