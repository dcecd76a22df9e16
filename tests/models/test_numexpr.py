"""Expressions of numexpr: values against numexpr's, derivatives against complex steps and central differences."""

import sys
import types

import numexpr
import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError
from s2s.models.numexpr import function_of_program, function_of_text, names_in

X = np.array([0.3, 0.9, 1.7])
W = np.array([1.0, -2.0, 0.5])


def of_caller(x):
    a, b = x, 2.0 * x
    return np.sum(numexpr.evaluate("a * sin(b) + where(a > 0.5, W * a**2, b / 3)"))


def sums_alone(x):
    return float(numexpr.evaluate("sum(x * x * W)"))


def of_dict(x):
    return np.sum(numexpr.evaluate("a % 0.7 * exp(-b)", local_dict={"a": 3.0 * x, "b": x**2}))


COMPILED = numexpr.NumExpr("arctan2(a, b) * (a > b) + abs(a - b) % b + complex(a, b).imag + b**2.5 / log1p(a)")


def of_program(x):
    return np.sum(COMPILED(x, x[::-1] + 0.1) * W)


def in_a_loop(x):
    total = 0.0
    for k in range(3):
        y = x * (k + 1.0)
        total = total + numexpr.evaluate("sum(tanh(y) * y)") + COMPILED(y, x + 0.2).sum()
    return total


FUNCTIONS = [of_caller, sums_alone, of_dict, of_program, in_a_loop]


def differences(f, x, h=1e-4):
    steps = h * np.eye(len(x))
    return np.array([
        (8.0 * (f(x + s) - f(x - s)) - (f(x + 2 * s) - f(x - 2 * s))) / (12.0 * h) for s in steps
    ])


@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives(f):
    expected = differences(f, X)
    value, gradient = s2s.value_and_grad(f)(X)
    assert value == pytest.approx(f(X), rel=1e-14)
    np.testing.assert_allclose(gradient, expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(s2s.hessian(f)(X), differences(s2s.grad(f), X), rtol=1e-7, atol=1e-8)


TEXTS = [
    "a * 2.5", "n / 2 + a", "n % 3 + a % b", "-n // 2 * a", "round(a * 1.5) + ceil(b) - trunc(-a)", "conj(a) * 2j",
    "sum(a * b)", "prod(a)", "max(a)", "hypot(a, b) + sign(a - b)", "(a > 0.5) & ~(b > 0.5) | (n == 5)",
    "expm1(a) + sinh(b) * arctanh(a / 3)", "copysign(a, -b) + maximum(a, b)", "1 / 2 * a ** 3 + b ** 0.5",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_values(text, kind):
    a, b, n = X.astype(kind), W.astype(kind) ** 2, np.array([5, -5, 2])
    given = [{"a": a, "b": b, "n": n}[name] for name in names_in(text)]
    expected = numexpr.evaluate(text)
    made = function_of_text(text)(*given)
    close = 1e-14 if kind is np.float64 else 1e-5
    np.testing.assert_allclose(made, expected, rtol=close)
    types_of = [(name, numexpr.necompiler.getType(v)) for name, v in zip(names_in(text), given)]
    program = numexpr.NumExpr(text, types_of)
    np.testing.assert_allclose(function_of_program(program)(*given), program(*given), rtol=close)


class Named:
    pass


def built(x):
    """Writes attributes by computed names, which the compiler leaves to a recording."""
    box = Named()
    for k in range(2):
        setattr(box, "v" + str(k), (k + 1.0) * x)
    y = vars(box)["v1"]
    text = "sum(y * sin(x)" + ")"
    return numexpr.evaluate(text) + np.sum(COMPILED(vars(box)["v0"], y))


def test_recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")
    np.testing.assert_allclose(s2s.grad(built)(X), differences(built, X), rtol=1e-8)
    np.testing.assert_allclose(s2s.jacfwd(built)(X), differences(built, X), rtol=1e-8)


def test_variables_that_a_library_reads_unseen(monkeypatch):
    """A text is evaluated on the variables of the caller: no zero gradient comes of it."""
    module = types.ModuleType("expressions_of_a_library")
    text = "import sys\n\ndef scope():\n    return sys._getframe(2).f_locals\n\ndef evaluate_text(text):\n"
    exec(text + "    return eval(text, {}, dict(scope()))\n", vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    evaluate_text = module.evaluate_text

    def f(x):
        y = 2.0 * x
        return np.sum(evaluate_text("y * y"))

    def g(x):
        y = np.ones(3)
        return np.sum(evaluate_text("y * y")) + np.sum(x)

    monkeypatch.setenv("S2S_RECORDED", "0")
    with pytest.raises(UnsupportedSyntaxError, match="`evaluate_text` reads the function's variables by name"):
        s2s.grad(f)(X)
    with pytest.raises(UnsupportedSyntaxError, match="`evaluate_text` reads the function's variables by name"):
        s2s.grad(g)(X)


class Answers:
    """Has two attributes, and no others, its class neither."""

    def __getattribute__(self, name):
        return {"scale": 3.0, "power": np.power}[name]


ANSWERS = Answers()


def test_objects_are_not_asked_whether_they_are_numexpr():
    def f(x):
        return np.sum(ANSWERS.power(x, 2)) * ANSWERS.scale

    np.testing.assert_allclose(s2s.grad(f)(X), 6.0 * X)
