"""Numbers of classes that derive from float and complex, in both modes and to second order, against closed forms."""

import enum
import math

import numpy as np
import pytest

import s2s

pytestmark = pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")


class Named(float):
    def __new__(cls, value, name="", beside=None):
        self = float.__new__(cls, value)
        self.name, self.beside = name, beside
        return self


class Plain(float):
    pass


class Radius(float):
    def __new__(cls, value):
        if not value > 0.0:
            raise ValueError(f"radius {value}")
        return float.__new__(cls, value)


class Degrees(float):
    def __add__(self, other):
        return Degrees(super().__add__(other))

    def __rmul__(self, other):
        return Degrees(float.__rmul__(self, other))

    @property
    def radians(self):
        return math.radians(self)


class Phasor(complex):
    pass


class Level(enum.IntEnum):
    LOW = 2
    HIGH = 3


class Tripled(int):
    def __mul__(self, other):
        return other * int(self) * 3.0

    __rmul__ = __mul__


class Record(tuple):
    def __new__(cls, *items):
        return tuple.__new__(cls, items)


class Partials(list):
    def __float__(self):
        return math.fsum(self)


def named(x):
    kept = {"a": Named(x, "a", beside=x * x)}
    return math.sin(kept["a"]) * Named(2.0 * x) + abs(-kept["a"]) + kept["a"].beside


def plain(x):
    largest = max(Plain(x), Plain(0.5 * x), key=float)
    return Plain(x) ** 2 + 3.0 * largest + float(Plain(x)) + np.exp(Plain(x)) + np.array([Plain(x), 1.0]).sum()


def radii(x):
    return math.hypot(Radius(3.0), Radius(x)) + Radius(x * x)


def degrees(x):
    return (Degrees(x) + 3.0 * Degrees(x)).radians + sum([Degrees(x * x), Degrees(2.0 * x)])


def phasor(x):
    return (Phasor(x) * Phasor(2j * x)).imag + complex(x, x * x).imag


def items(x):
    pair = Record(x, x * x) + (2.0 * x,)
    return float(Partials(pair)) * pair[1] + x.__mul__(x)


X = 0.7
def members(x):
    y = eval("x * Level.LOW") ** Level.HIGH
    y *= Level.HIGH
    return y / Level.LOW + x * Tripled(4) + Tripled(4) * x


SLOPES = {
    named: (2.0 * math.sin(X) + 2.0 * X * math.cos(X) + 1.0 + 2.0 * X, 4.0 * math.cos(X) - 2.0 * X * math.sin(X) + 2.0),
    plain: (2.0 * X + 3.0 + 1.0 + math.exp(X) + 1.0, 2.0 + math.exp(X)),
    radii: (X / math.hypot(3.0, X) + 2.0 * X, 9.0 / math.hypot(3.0, X) ** 3 + 2.0),
    degrees: (4.0 * math.pi / 180.0 + 2.0 * X + 2.0, 2.0),
    phasor: (6.0 * X, 6.0),
    members: (36.0 * X**2 + 4.0 + 12.0, 72.0 * X),
    items: (9.0 * X**2 + 4.0 * X**3 + 2.0 * X, 18.0 * X + 12.0 * X**2 + 2.0),
}
"""Of each function at X, its first and its second derivative."""


@pytest.mark.parametrize("f", SLOPES, ids=lambda f: f.__name__)
def test_derivatives(f):
    first, second = SLOPES[f]
    assert s2s.grad(f)(X) == pytest.approx(first)
    assert s2s.jvp(f, (X,), (1.0,))[1] == pytest.approx(first)
    assert s2s.grad(s2s.grad(f))(X) == pytest.approx(second)


def test_rows_that_are_nan_and_not_read_leave_the_derivative_of_a_product():
    table = np.array([[1.0, 2.0], [np.nan, 3.0], [4.0, np.inf]])
    x = np.array([0.7, 1.3])

    def read(x):
        return (np.dot(table, np.sqrt(x)) + np.einsum("ij,j->i", table, x**1.5) + table @ x)[0]

    def spoilt(x):
        return (table @ np.sqrt(x))[1]

    with np.errstate(invalid="ignore"):
        assert s2s.grad(read)(x) == pytest.approx(table[0] * (0.5 * x**-0.5 + 1.5 * x**0.5 + 1.0))
        found = s2s.grad(spoilt)(x)
    assert np.isnan(found[0])
