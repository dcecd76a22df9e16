"""Functions without source, made by ``exec``: what they call is watched, and what they make is initialised."""

import numpy as np
import pytest

import s2s

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
