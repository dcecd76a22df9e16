"""Jacobians and Hessians by objects: of the same class, with the parts of the Jacobian as attributes."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import s2s

X = np.array([0.3, 0.5])
W = np.array([1.0, 2.0])
B = 0.7


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.delenv("S2S_RECORDED")


@dataclass
class Model:
    w: np.ndarray
    b: float
    name: str = "model"
    steps: int = 3


@dataclass(frozen=True)
class Frozen:
    w: np.ndarray
    b: float


class Slots:
    __slots__ = ("b", "w")

    def __init__(self, w, b):
        self.w, self.b = w, b


class Plain:
    def __init__(self, w, b):
        self.w, self.b = w, b


class Pair(NamedTuple):
    w: np.ndarray
    b: float


@dataclass
class Inner:
    w: np.ndarray


@dataclass
class Outer:
    inner: Inner
    b: float
    options: dict = field(default_factory=dict)

    @property
    def w(self):
        return self.inner.w


def nested(w, b):
    return Outer(Inner(w), b, {"kind": "tanh"})


def namespace(w, b):
    return SimpleNamespace(w=w, b=b, steps=3, name="model")


def predicted(model, x):
    return np.tanh(model.w * x) + model.b * model.w**2


def loss(model, x):
    return np.sum(predicted(model, x) ** 2)


def of_numbers(f):
    """The function of the three numbers that a model has."""
    return lambda z: f(Pair(z[:2], z[2]), X)


def differences(f, z, h=1e-6):
    return np.stack([(f(z + h * e) - f(z - h * e)) / (2.0 * h) for e in np.eye(z.size)], axis=-1)


Z = np.array([*W, B])
MAKERS = [Model, Frozen, Slots, Plain, Pair, nested, namespace]


def parts(model):
    return (model.inner.w if isinstance(model, Outer) else model.w), model.b


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("transform", [s2s.jacfwd, s2s.jacrev])
def test_jacobians(make, transform):
    expected = differences(of_numbers(predicted), Z)
    found = transform(predicted)(make(W, B), X)
    assert type(found) is type(make(W, B))
    by_w, by_b = parts(found)
    np.testing.assert_allclose(by_w, expected[:, :2], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(by_b, expected[:, 2], rtol=1e-8)
    assert getattr(found, "name", None) is None and getattr(found, "steps", None) is None
    by_model, by_x = transform(predicted, argnums=(0, 1))(make(W, B), X)
    np.testing.assert_array_equal(parts(by_model)[0], by_w)
    np.testing.assert_allclose(by_x, differences(lambda x: predicted(Pair(W, B), x), X), rtol=1e-8, atol=1e-9)
    of_parts = transform(lambda model, x: {"a": (predicted(model, x), model.b * x[0])})(make(W, B), X)
    np.testing.assert_allclose(parts(of_parts["a"][0])[0], by_w, rtol=1e-14)
    np.testing.assert_allclose(parts(of_parts["a"][1])[1], X[0])


@pytest.mark.grid(0.5)
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    "transform",
    [s2s.hessian, lambda f: s2s.jacfwd(s2s.grad(f)), lambda f: s2s.jacrev(s2s.grad(f)),
     lambda f: s2s.jacrev(s2s.jacfwd(f)), lambda f: s2s.jacfwd(s2s.jacfwd(f))],
    ids=["hessian", "jacfwd grad", "jacrev grad", "jacrev jacfwd", "jacfwd jacfwd"],
)
def test_second_order(make, transform):
    gradient = s2s.grad(of_numbers(loss))
    expected = differences(gradient, Z)
    found = transform(loss)(make(W, B), X)
    by_w, by_b = parts(found)
    np.testing.assert_allclose(parts(by_w)[0], expected[:2, :2], rtol=1e-7)
    np.testing.assert_allclose(parts(by_w)[1], expected[:2, 2], rtol=1e-7)
    np.testing.assert_allclose(parts(by_b)[0], expected[2, :2], rtol=1e-7)
    np.testing.assert_allclose(parts(by_b)[1], expected[2, 2], rtol=1e-7)


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_results_that_are_objects():
    def made(model, x):
        return Model(model.w * x, model.b**2)

    found = s2s.jacfwd(made)(Model(W, B), X)
    np.testing.assert_allclose(found.w.w, np.diag(X))
    np.testing.assert_allclose(found.b.b, 2.0 * B)
    np.testing.assert_allclose(found.w.b, np.zeros(2))
    out, pullback = s2s.vjp(made, Model(W, B), X)
    model_bar, x_bar = pullback(Model(np.ones(2), 1.0))
    np.testing.assert_allclose(model_bar.w, X)
    np.testing.assert_allclose(model_bar.b, 2.0 * B)
    np.testing.assert_allclose(x_bar, W)


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_namespaces_in_what_is_recorded():
    """As arguments, in containers, as results, and as what tangents and cotangents are given in."""
    def recorded(model, x):
        class Made:
            def __call__(self):
                return loss(model, x)

        return Made()()

    expected = differences(of_numbers(loss), Z)
    model = namespace(W, B)
    by_w, by_b = parts(s2s.grad(recorded)(model, X))
    np.testing.assert_allclose([*by_w, by_b], expected, rtol=1e-7)
    inner = s2s.grad(lambda p: recorded(p["models"][0], X))({"models": [model]})["models"][0]
    np.testing.assert_allclose([*inner.w, inner.b], expected, rtol=1e-7)
    along = namespace(np.array([1.0, -2.0]), 0.5)
    _, tangent = s2s.jvp(recorded, (model, X), (along, None))
    np.testing.assert_allclose(tangent, expected @ [1.0, -2.0, 0.5], rtol=1e-7)

    def made(x):
        return SimpleNamespace(w=x * x, b=np.sum(x), n=3)

    np.testing.assert_allclose(s2s.jacfwd(made)(X).w, np.diag(2.0 * X))
    _, pullback = s2s.vjp(made, X)
    np.testing.assert_allclose(pullback(namespace(np.ones(2), 3.0))[0], 2.0 * X + 3.0)


class Network:
    """A model that is called, as a function is."""

    def __init__(self, weights, rate):
        self.weights, self.rate = weights, rate

    def __call__(self, x):
        return np.tanh(x @ self.weights) * self.rate


def test_objects_that_can_be_called_have_parts():
    x = np.cos(np.arange(12.0)).reshape(4, 3)
    w, step = np.array([0.3, -0.5, 0.8]), 1e-5

    def out(net):
        return net(x)

    def loss(net):
        return np.sum(out(net) ** 2)

    for transform in (s2s.jacfwd, s2s.jacrev):
        found = transform(out)(Network(w, 0.7))
        differences = [(out(Network(w + e, 0.7)) - out(Network(w - e, 0.7))) / (2 * step) for e in step * np.eye(3)]
        assert type(found) is Network
        np.testing.assert_allclose(found.weights, np.transpose(differences), rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.rate, np.tanh(x @ w), rtol=1e-12)
    product = s2s.hvp(loss)(Network(w, 0.7), Network(np.cos(w), 0.2))
    ends = [s2s.grad(loss)(Network(w + s * step * np.cos(w), 0.7 + s * step * 0.2)) for s in (1, -1)]
    np.testing.assert_allclose(product.weights, (ends[0].weights - ends[1].weights) / (2 * step), rtol=1e-6)
    np.testing.assert_allclose(product.rate, (ends[0].rate - ends[1].rate) / (2 * step), rtol=1e-6)
