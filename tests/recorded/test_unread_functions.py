"""Functions without source, made by ``exec``: what they call is watched, and what they make is initialised."""

import ast
import math

import numpy as np
import pytest

import s2s
from s2s.recorded.written_back import tree_of

pytestmark = pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")


class Dispatched:
    """A function behind an object with ``__call__``, as a registry of backends has it."""

    def __init__(self, function):
        self.function = function
        self.__name__ = function.__name__

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)


def without_source(function):
    """A function that calls another one by a global name, compiled from a text that is nowhere."""
    scope = {"inner": Dispatched(function)}
    exec("def outer(*args, **kwargs):\n    return inner(*args, **kwargs)", scope)
    return scope["outer"]


class Graph:
    @without_source
    def __new__(cls, *args, **kwargs):
        return object.__new__(cls)

    def __init__(self, name="g"):
        self.name, self.edges = name, {}

    @without_source
    def add(self, u, v, weight):
        self.edges.setdefault(u, {})[v] = weight


@without_source
def lengths(graph, start):
    return {v: graph.edges[start][v] ** 2 for v in graph.edges[start]}


def through_objects(x):
    graph = Graph()
    graph.add(0, 1, x[0])
    graph.add(0, 2, x[1] * x[0])
    found = lengths(graph, 0)
    return found[1] * 3.0 + found[2]


def made_with_values(x):
    graph = Graph(name=x[1])
    return graph.name * x[0] ** 2


@pytest.mark.parametrize("fn", [through_objects, made_with_values])
def test_what_a_function_without_source_calls_is_watched(fn):
    x = np.array([0.3, -0.7])
    expected = [(fn(x + 1e-6 * e) - fn(x - 1e-6 * e)) / 2e-6 for e in np.eye(2)]
    np.testing.assert_allclose(s2s.grad(fn)(x), expected, rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(fn)(x), expected, rtol=1e-7)


def test_an_object_that_is_made_when_the_program_runs_is_initialised(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")

    class Made:
        @without_source
        def __new__(cls, *args):
            return object.__new__(cls)

        def __init__(self, w=2.0):
            self.w = w

    def fn(x):
        return Made().w * x[0] ** 2

    np.testing.assert_allclose(s2s.grad(fn)(np.array([0.3, -0.7])), [1.2, 0.0])


PARTIALS = {sign: [eval(f"lambda x, y: {text}") for text in texts] for sign, texts in {
    "+": ("1.", "1."), "*": ("y", "x"), "/": ("1/y", "-x/y**2")}.items()}
COMPILED = compile("c = math.exp(a) * b\nd = c**2 + b", "c = ...", "exec")
EXPRESSION = compile("d * c / (1.0 + b[0])", "d * c", "eval")


class Value:
    """A number with its derivative, by functions that are made of texts."""

    def __init__(self, value, dot):
        self.value, self.dot = value, dot

    def joined(self, sign, operator, other):
        by = [partial(self.value, other.value) for partial in PARTIALS[sign]]
        return Value(operator(self.value, other.value), by[0] * self.dot + by[1] * other.dot)


def of_texts(x):
    a, b = Value(x[0], 1.0), Value(x[1], x[0])
    product = a.joined("*", float.__mul__, b).joined("/", float.__rtruediv__, b).joined("+", float.__add__, a)
    return product.value * product.dot + float.__abs__(-float(x[1]))


def of_code(x):
    scope = {"a": x[0], "b": x[:2] * x[1], "math": math}
    exec(COMPILED, scope)
    return np.sum(eval(EXPRESSION, scope))


@pytest.mark.parametrize("f", [of_texts, of_code])
def test_code_of_texts_that_are_gone(f):
    x = np.array([0.7, 1.3])
    wanted = np.array([(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(2)])
    np.testing.assert_allclose(s2s.grad(f)(x), wanted, rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(f)(x), wanted, rtol=1e-7)


@pytest.mark.parametrize("text", [
    "lambda x, y: -x / y ** 2", "lambda: None", "lambda x, /, y, *, z: f(x, y=z)[0, 1] @ (x < y)",
    "lambda x: not x.a.b(-3.0)[x]", "lambda x: (x, [x, 1])"])
def test_what_is_written_back(text):
    tree = tree_of(eval(text).__code__)
    assert ast.unparse(tree) == ast.unparse(ast.parse(text)).replace("[0, 1]", "[(0, 1)]")


@pytest.mark.parametrize("text", [
    "lambda x: x if x > 0 else 1", "lambda *x: x", "lambda x: f(*x)", "lambda x: [y for y in x]", "lambda x: x and 1"])
def test_what_is_not_written_back(text):
    assert tree_of(eval(text).__code__) is None
