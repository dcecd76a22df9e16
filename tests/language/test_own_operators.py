"""Numbers, sequences and arrays of classes with operators or reductions of their own, wherever a function finds them:
the derivative is that of the program, or refused. Against central differences, in both modes."""

import copy

import numpy as np
import pytest

import s2s

pytestmark = [
    pytest.mark.filterwarnings("ignore::s2s.RecordedWarning"),
    pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning"),
]

X = np.array([0.9, 1.4, 0.6])
W = np.arange(3.0)


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")


class Scaled(float):
    def __mul__(self, other):
        return 100.0 * float(other)

    def __rmul__(self, other):
        return 7.0 * float(other)


class Integer(int):
    def __rmul__(self, other):
        return 7.0 * other


class Double(np.float64):
    def __mul__(self, other):
        return 100.0 * other


class Pair(tuple):
    def __mul__(self, other):
        return sum(item * other**2 for item in self)


class Summed(np.ndarray):
    def sum(self, *args, **options):
        return 2.0 * np.asarray(self).sum()

    def mean(self, *args, **options):
        return 3.0 * np.asarray(self).mean()


class Holder:
    def __init__(self, value):
        self.value = value


MASKED = np.ma.masked_array([0.7, 1.2, 0.8], [False, True, False])
MATRIX = np.asmatrix([[0.5, 1.1, 0.7], [1.3, 0.6, 0.9], [0.8, 1.2, 1.4]])
SUMMED = np.array([0.7, 1.2, 0.8]).view(Summed)

WAYS = {
    "argument": lambda body, value: (body, (value,)),
    "variable": lambda body, value: (lambda x: body(x, value), ()),
    "attribute": lambda body, value: (lambda x, holder: body(x, holder.value), (Holder(value),)),
    "list": lambda body, value: (lambda x, items: body(x, items[1]), ([0.0, value],)),
    "long list": lambda body, value: (lambda x, items: body(x, items[1]), ([value] * 1100,)),
    "result of a call": lambda body, value: (lambda x: body(x, copy.copy(value)), ()),
}
PASSIVE = {
    "np.multiply of a masked array": (lambda x, v: np.mean(np.multiply(x, v)), MASKED),
    "np.hypot of a masked array": (lambda x, v: np.sum(np.hypot(v, x)), MASKED),
    "product with a matrix": (lambda x, v: np.sum(W * np.multiply(v, x)), MATRIX),
    "np.add of a matrix": (lambda x, v: np.sum(np.add(v, x) * np.add(v, x)), MATRIX),
    "sum of a subclass": (lambda x, v: np.sum(np.maximum(v, x)), SUMMED),
    "mean of a subclass": (lambda x, v: np.mean(np.full_like(v, x[0])), SUMMED),
    "subclass of float": (lambda x, v: v * x[0] * x[1] + x[0] * v, Scaled(3.0)),
    "subclass of int": (lambda x, v: x[0] * v * x[1], Integer(3)),
    "subclass of np.float64": (lambda x, v: v * x[0] * x[1], Double(3.0)),
    "subclass of tuple": (lambda x, v: v * x[0], Pair((1.0, 2.0))),
}


def differences(f, x, *rest):
    """The gradient by central differences; a masked array keeps its mask."""
    found = np.zeros(np.shape(x))
    for i in np.ndindex(found.shape):
        ends = []
        for h in (1e-6, -1e-6):
            moved = x.copy()
            np.asarray(moved)[i] += h
            ends.append(f(moved, *rest))
        found[i] = (ends[0] - ends[1]) / 2e-6
    return found


def assert_right_or_refused(f, x, *rest):
    expected = differences(f, x, *rest)
    for derivative in (s2s.grad, s2s.jacfwd):
        try:
            found = derivative(f)(x, *rest)
        except s2s.errors.DifferentiationError:
            continue
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("case", PASSIVE)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_not_differentiated(way, case):
    body, value = PASSIVE[case]
    f, rest = WAYS[way](body, value)
    assert_right_or_refused(f, X, *rest)


@pytest.mark.parametrize("f", [
    lambda x: np.mean(x), lambda x: np.var(x), lambda x: np.prod(x), lambda x: np.sum(np.cumsum(x) * W),
    lambda x: np.sum(np.sort(x) * W),
], ids=["mean", "var", "prod", "cumsum", "sort"])
@pytest.mark.parametrize("x", [MASKED, SUMMED], ids=["masked", "subclass"])
def test_reductions_of_an_argument(f, x):
    assert_right_or_refused(f, x)


@pytest.mark.parametrize("f", [
    lambda m: np.sum(W * np.sin(m)), lambda m: np.sum(np.linalg.inv(m) * MATRIX.A), lambda m: np.sum(np.multiply(m, m)),
], ids=["sin", "inv", "multiply"])
def test_a_matrix(f):
    assert_right_or_refused(f, MATRIX)


def test_the_gradient_of_a_mean_of_a_masked_array_is_zero_where_it_is_masked():
    np.testing.assert_allclose(s2s.grad(lambda x: x.mean())(MASKED), [0.5, 0.0, 0.5])


def test_a_number_of_a_list_keeps_its_class():
    found = s2s.grad(lambda items: items[0] * items[0])([Scaled(1.5)])
    assert found[0] == 100.0


def test_a_cotangent_that_is_a_matrix_multiplies_element_by_element():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    _, pullback = s2s.vjp(lambda x: x * x, x)
    np.testing.assert_array_equal(pullback(np.asmatrix(x))[0], 2.0 * x * x)


@pytest.mark.parametrize("derive", [
    lambda masked: s2s.vjp(lambda x: x * x, X)[1](masked), lambda masked: s2s.jvp(lambda x: x * x, (X,), (masked,)),
], ids=["vjp", "jvp"])
def test_masked_directions_of_plain_values_are_refused(derive):
    with pytest.raises(s2s.errors.ArgumentError, match="is a MaskedArray"):
        derive(MASKED)
