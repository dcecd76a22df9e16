"""Calls that are decided when the program runs: of bound methods, of Python and of C code."""

import random

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import splu

import s2s

X = np.array([0.4, 0.9, 0.2])


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")


class Cubes:
    def __init__(self, scale):
        self.scale = scale

    def loss(self, x):
        return self.scale * np.sum(x**3) * x[0]


class Waves(Cubes):
    def loss(self, x):
        return np.sum(np.sin(self.scale * x)) ** 2


MODELS = [Cubes(2.0), Waves(3.0)]
LOSSES = {"cubes": MODELS[0].loss, "waves": MODELS[1].loss}
MATRIX = sparse.csc_matrix(np.array([[3.0, 1.0, 0.0], [1.0, 4.0, 0.5], [0.0, 0.0, 5.0]]))
FACTORS = splu(MATRIX)


def chosen_method(x):
    loss = getattr(MODELS[int(x[0] > 0.0)], "loss")  # noqa: B009 (it is found when it runs)
    return np.sum(s2s.jvp(s2s.grad(loss), (x,), (np.ones(3),))[1] ** 2)


def chosen_key(x):
    return np.sum(s2s.jvp(s2s.grad(LOSSES[sorted(LOSSES)[int(x[0] > 1.0)]]), (x,), (x,))[1])


def largest(x):
    return np.sum(s2s.grad(max(LOSSES.values(), key=lambda loss: loss(x)))(x) ** 2)


def factors_of_a_global(x):
    return np.sum(FACTORS.solve(x**2) ** 2) + np.sum(FACTORS.solve(x, "T") ** 3)


def factors_of_what_is_made(x):
    matrix = sparse.lil_matrix((3, 3))
    for k in range(3):
        matrix[k, k] = k + 1.0
    return np.sum(splu(matrix.tocsc()).solve(x**2) ** 2)


def factors_of_an_argument(x, matrix=MATRIX):
    return np.sum(splu(matrix).solve(x**2) ** 2)


def central(f, x, h=1e-6):
    return np.stack([(f(x + h * e) - f(x - h * e)) / (2.0 * h) for e in np.eye(x.size)], -1)


@pytest.mark.parametrize(
    "f", [chosen_method, chosen_key, largest, factors_of_a_global, factors_of_what_is_made, factors_of_an_argument],
    ids=lambda f: f.__name__,
)
def test_in_both_modes_and_to_second_order(f):
    gradient = s2s.grad(f)(X)
    np.testing.assert_allclose(gradient, central(f, X), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), gradient, rtol=1e-9)
    if f.__name__.startswith("factors"):
        second = s2s.jvp(s2s.grad(f), (X,), (1.0 + X,))[1]
        np.testing.assert_allclose(second, central(s2s.grad(f), X) @ (1.0 + X), rtol=1e-5, atol=1e-6)


def test_a_bound_method_of_an_array_keeps_its_own_derivative():
    def products(x):
        methods = {"dot": x.dot, "sum": x.sum}
        return methods[sorted(methods)[int(x[0] < 0.0)]](x)

    try:
        gradient = s2s.grad(products)(X)
    except s2s.errors.DifferentiationError:
        return
    np.testing.assert_allclose(gradient, 2.0 * X)


def converted(function, value):
    return function(value)


def by_classes(x):
    kinds = [float, tuple, np.asarray, list]
    first = converted(kinds[int(x[0])], x[1])
    second = converted(kinds[int(x[2]) + 1], [x[2], x[1]])
    third = converted(kinds[int(x[0]) + 3], second)
    return first * second[0] * third[1] ** 2 * x[0]


@pytest.mark.slow
def test_built_in_classes_that_are_chosen_when_the_program_runs(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    h = 1e-5
    slope = [(by_classes(X + step) - by_classes(X - step)) / (2.0 * h) for step in h * np.eye(3)]
    np.testing.assert_allclose(s2s.grad(by_classes)(X), slope, rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(by_classes)(X), slope, rtol=1e-7)
    gradient = s2s.grad(by_classes)
    bend = [(gradient(X + step) - gradient(X - step)) / (2.0 * h) for step in h * np.eye(3)]
    for second in (s2s.hessian(by_classes), s2s.jacfwd(s2s.jacfwd(by_classes))):
        np.testing.assert_allclose(second(X), bend, rtol=1e-6, atol=1e-7)


def of_draws(x):
    stream = random.Random(2)
    return stream.normalvariate(x[0], x[1]) ** 2 * stream.uniform(x[0], x[2])


def of_a_shuffle(x):
    stream, items = random.Random(2), [x[0], x[1], x[0] * x[2]]
    stream.shuffle(items)
    return items[0] * items[1] ** 2


SECOND = {
    "forward over reverse": lambda f, v: s2s.jvp(s2s.grad(f), (X,), (v,))[1],
    "reverse over reverse": lambda f, v: s2s.grad(lambda x: np.sum(s2s.grad(f)(x) * v))(X),
    "reverse over forward": lambda f, v: s2s.grad(lambda x: s2s.jvp(f, (x,), (v,))[1])(X),
}


@pytest.mark.grid(0.4)
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("nesting", SECOND)
@pytest.mark.parametrize("f", [of_draws, of_a_shuffle], ids=lambda f: f.__name__)
def test_a_call_that_is_made_again_is_the_same_call(f, nesting, monkeypatch):
    second, v, h = SECOND[nesting], np.array([0.3, -0.7, 1.1]), 1e-4

    def slopes(x):
        return np.array([(f(x + e) - f(x - e)) / (2.0 * h) for e in h * np.eye(3)])

    bend = (slopes(X + h * v) - slopes(X - h * v)) / (2.0 * h)
    if f is of_draws and nesting == "reverse over forward":  # the call and its tangent are one call
        np.testing.assert_allclose(second(f, v), bend, rtol=1e-6, atol=1e-6)
    else:
        with pytest.raises(s2s.errors.UnsupportedSyntaxError) as caught:
            second(f, v)
        assert caught.value.diagnostic.code in ("S2S155", "S2S122")
    monkeypatch.setenv("S2S_RECORDED", "1")
    np.testing.assert_allclose(second(f, v), bend, rtol=1e-6, atol=1e-6)


def of_an_iterator(x):
    items = iter(x)
    a, b, c = items
    return a * b**2 + c


def test_a_function_without_source_is_not_its_own_derivative(monkeypatch):
    with pytest.raises(s2s.errors.NoDerivativeError, match="`iter` has neither"):
        s2s.grad(of_an_iterator)(X)
    monkeypatch.setenv("S2S_RECORDED", "1")
    with pytest.warns(s2s.RecordedWarning):
        np.testing.assert_allclose(s2s.grad(of_an_iterator)(X), [X[1] ** 2, 2 * X[0] * X[1], 1.0])


SCALED = [np.sin, lambda v: v * v]


@s2s.checkpoint
def by_choice_once_more(x, k):
    return SCALED[k](x)


def checkpointed_and_not(x, k):
    y = by_choice_once_more(x * 2.0, k)
    return np.sum(SCALED[k](y) ** 2)


def only_behind_a_loop(x, k):
    for _ in s2s.checkpointed(range(2), 1):
        x = x + SCALED[k](x)
    return np.sum(SCALED[k](x))


@pytest.mark.parametrize("f", [checkpointed_and_not, only_behind_a_loop], ids=lambda f: f.__name__)
def test_what_is_not_replayed_is_called_once(f):
    """A call in a block that is replayed is made again, one after the block is not."""
    gradient = s2s.grad(f)(X, 0)
    np.testing.assert_allclose(gradient, central(lambda x: f(x, 0), X), rtol=1e-6)
    source = s2s.source(f, X, 0)
    assert source.count("rt.call(") == 1 and source.count("rt.call_again(") == 1
