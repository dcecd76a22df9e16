"""Containers in variables and attributes that are data: a loop stays a loop, in one version for all lengths."""

import math

import numpy as np
import pytest

import s2s

X = np.linspace(0.3, 1.4, 40)

GRAPH = {k: [(k + 1) % 12, (k + 5) % 12] for k in range(12)}
EDGES = [(k, (7 * k + 1) % 20) for k in range(20)]
WEIGHTS = [0.1 * k for k in range(20)]
TABLE = tuple(WEIGHTS)
NAMES = {f"k{k}": 0.2 * k for k in range(20)}


def over_a_graph(x):
    total = 0.0
    for k, others in GRAPH.items():
        for j in others:
            total += (x[k] - x[j]) ** 2 * (j + 1)
    return total


def over_edges(x):
    total = 0.0
    for a, b in EDGES:
        total += (x[a] - x[b]) ** 2 * math.sin(x[a])
    return total


def over_weights(x):
    total = x[0]
    for k in range(len(WEIGHTS)):
        total = total * 0.9 + WEIGHTS[k] * x[k] ** 2
    return total + WEIGHTS[-1] * x[1] + sum(WEIGHTS) * x[2] + np.dot(np.array(WEIGHTS[2:5]), x[:3] ** 2)


def over_a_tuple(x):
    return sum(w * v * v for w, v in zip(TABLE, x)) + max(TABLE) * x[0]


def over_names(x):
    total = 0.0
    for k, (name, value) in enumerate(NAMES.items()):
        total += value * x[k] ** 2 if name.endswith("3") else x[k]
    return total + NAMES["k7"] * x[0] + NAMES.get("none", 2.0) * x[1] ** 2


class Network:
    steps = [0.5, 0.25] * 10

    def __init__(self, n):
        self.near = {k: [(k + 1) % n, (k * 3) % n][: 1 + k % 2] for k in range(n)}
        self.scales = [1.0 + 0.1 * k for k in range(n)]

    def energy(self, x):
        total = 0.0
        for k, others in self.near.items():
            for j in others:
                total += self.scales[k] * (x[k] - x[j]) ** 2
        for step in self.steps:
            total = total + step * math.sin(x[0] * step)
        return total


def over_an_object(x, network):
    return network.energy(x)


def over_a_local_object(x):
    return Network(17).energy(x) * x[3]


MODEL = Network(18)


def over_an_object_of_the_module(x):
    return MODEL.energy(x)


def over_views(x):
    total = 0.0
    for k, ((a, b), w) in enumerate(zip(reversed(EDGES), WEIGHTS)):
        total += k * w * x[a] ** 2 * x[b]
    for k, (j, w) in enumerate(enumerate(reversed(WEIGHTS))):
        total += w * x[k] * math.sin(x[j])
    for (k, w), _ in zip(NAMES.items(), range(30)):
        total += w * x[0] ** 2
    return total


FUNCTIONS = [
    over_a_graph, over_edges, over_weights, over_a_tuple, over_names, over_a_local_object, over_an_object_of_the_module,
    over_views,
]


def differences(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2.0 * h) for e in np.eye(x.size)])


@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives(f):
    expected = differences(f, X)
    np.testing.assert_allclose(s2s.grad(f)(X), expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(s2s.jvp(f, (X,), (np.cos(X),))[1], expected @ np.cos(X), rtol=1e-7)
    hessian = differences(lambda x: s2s.grad(f)(x) @ np.cos(X), X)
    np.testing.assert_allclose(s2s.jacfwd(s2s.grad(f))(X) @ np.cos(X), hessian, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", [over_a_graph, over_edges, over_a_tuple])
def test_loops_are_not_written_out(f):
    gradient = s2s.grad(f)
    gradient(X)
    assert len(gradient.source.splitlines()) < 40


def test_loops_over_views_stay_loops():
    lines = s2s.source(over_views, X, mode="grad").splitlines()
    assert sum(line.lstrip().startswith("for ") for line in lines) == 6, lines  # three, in both sweeps


def test_what_is_only_read_whole_is_a_structure():
    gradient = s2s.grad(lambda x: np.sum(np.array(WEIGHTS) * x[:20]))
    np.testing.assert_array_equal(gradient(X)[:20], WEIGHTS)
    assert len(gradient.source.splitlines()) < 15


def test_one_version_for_objects_with_other_data():
    gradient = s2s.grad(over_an_object)
    for n in (18, 19, 25, 33):
        network = Network(n)
        found = gradient(X, network)
        np.testing.assert_allclose(found, differences(lambda x: over_an_object(x, network), X), rtol=1e-7, atol=1e-8)
    assert len(gradient.dispatcher.versions) == 1
    network.scales = [1 + k for k in range(33)]  # integers
    network.near = {k: [float((k + 1) % 33)] for k in range(33)}
    with pytest.raises(IndexError):
        gradient(X, network)
    network.near = {k: ((k + 1) % 33,) for k in range(33)}
    found = gradient(X, network)
    np.testing.assert_allclose(found, differences(lambda x: over_an_object(x, network), X), rtol=1e-7, atol=1e-8)


def test_data_that_changes_between_calls(monkeypatch):
    gradient = s2s.grad(over_edges)
    gradient(X)
    monkeypatch.setattr(__import__("sys").modules[__name__], "EDGES", [(k, k + 1) for k in range(30)])
    np.testing.assert_allclose(gradient(X), differences(over_edges, X), rtol=1e-7, atol=1e-8)
    EDGES[4] = (4, 20)
    EDGES.append((1, 9))
    np.testing.assert_allclose(gradient(X), differences(over_edges, X), rtol=1e-7, atol=1e-8)
    assert len(gradient.dispatcher.versions) == 1
    EDGES[4] = (4, 20, 2)
    with pytest.raises(ValueError):
        gradient(X)
    EDGES[:] = [[1, 2], [3, 4]]
    np.testing.assert_allclose(gradient(X), differences(over_edges, X), rtol=1e-7, atol=1e-8)


def made_by(build):
    """A function that changes containers of 20 floats on its way."""
    held = [0.1 * k for k in range(20)]
    named = {k: 0.1 * k for k in range(20)}
    return build(held, named), held, named


def appended(held, named):
    def f(x):
        held.append(x[0])
        return held[-1] ** 2 + x[1] * held[3]

    return f


def stored(held, named):
    def f(x):
        held[2] = x[0] * x[1]
        return held[2] ** 2 + sum(held) * x[1]

    return f


def stored_in_a_dict(held, named):
    def f(x):
        named[2] = x[0] * x[1]
        return named[2] ** 2 + sum(named.values()) * x[1]

    return f


def stored_by_a_helper(held, named):
    def put(k, value):
        held[k] = value

    def f(x):
        for k in range(3):
            put(k, x[k] ** 2)
        return sum(held[k] * x[k + 1] for k in range(20))

    return f


def stored_under_another_name(held, named):
    def f(x):
        other = held
        for k in range(5):
            other[k] = x[k] ** 2
        return sum(h * h for h in held)

    return f


def stored_through_a_container(held, named):
    both = [held, named]

    def f(x):
        both[0][3] = x[0] ** 3
        return held[3] * x[1] + sum(held)

    return f


@pytest.mark.parametrize("mode", ["0", "1"])
@pytest.mark.parametrize(
    "build",
    [appended, stored, stored_in_a_dict, stored_by_a_helper, stored_under_another_name, stored_through_a_container],
)
def test_what_is_changed_is_no_data(build, mode, monkeypatch):
    """Right, or refused where nothing is recorded."""
    monkeypatch.setenv("S2S_RECORDED", mode)
    f = made_by(build)[0]
    expected = differences(made_by(build)[0], X)
    try:
        found = s2s.grad(f)(X)
    except s2s.errors.DifferentiationError:
        assert mode == "0"
        return
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
