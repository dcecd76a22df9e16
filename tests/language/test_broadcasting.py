"""Broadcasting: every pair of shapes, for operators and functions of two, in float64 and float32."""

import numpy as np
import pytest

import s2s
from tests.helpers import assert_gradient, assert_same, check_tangent, numerical, random_cotangent

SHAPES = {
    "float": None,
    "float64": "scalar",
    "0-d": (),
    "1": (1,),
    "3": (3,),
    "1x1": (1, 1),
    "1x3": (1, 3),
    "3x1": (3, 1),
    "2x3": (2, 3),
    "2x1x3": (2, 1, 3),
    "0": (0,),
    "2x0": (2, 0),
    "2x1x1": (2, 1, 1),
}


def add(x, y):
    return x + y


def subtract(x, y):
    return x - y


def multiply(x, y):
    return x * y


def divide(x, y):
    return x / y


def power(x, y):
    return x**y


def maximum(x, y):
    return np.maximum(x, y)


def minimum(x, y):
    return np.minimum(x, y)


def where(x, y):
    return np.where(np.less(x, y), x * y, y)


def arctan2(x, y):
    return np.arctan2(x, y)


def hypot(x, y):
    return np.hypot(x, y)


def logaddexp(x, y):
    return np.logaddexp(x, y)


def multiply_function(x, y):
    return np.multiply(x, y)


def mixed(x, y):
    z = x * y
    return z * x + y / (1.0 + z * z) - (x - y) * y


OPERATIONS = (
    add, subtract, multiply, divide, power, maximum, minimum, where, arctan2, hypot, logaddexp,
    multiply_function, mixed,
)


def make(kind, offset, dtype=np.float64):
    """An argument of a kind: numbers 0.13 apart; other offsets make other numbers, so that nothing ties."""
    shape = SHAPES[kind]
    if shape is None:
        return 0.5 + offset
    if shape == "scalar":
        return dtype(0.5 + offset)
    return np.asarray((0.5 + offset + 0.13 * np.arange(np.prod(shape, dtype=int))).reshape(shape), dtype)


def fits(first, second):
    try:
        np.broadcast(make(first, 0.0), make(second, 0.0))
    except ValueError:
        return False
    return True


PAIRS = [(first, second) for first in SHAPES for second in SHAPES if fits(first, second)]
FEW = ("float", "0-d", "3", "3x1", "2x3", "0")
"""A kind of each way to broadcast: every pair of all kinds is for operations that treat their operands differently."""
CASES = [
    pytest.param(f, first, second, id=f"{f.__name__}-{first}-{second}")
    for f in OPERATIONS for first, second in PAIRS
    if f in (multiply, where, mixed) or (first in FEW and second in FEW)
]


def check_pullback(f, args, rtol):
    value = f(*args)
    cotangent = random_cotangent(value)
    out, pullback = s2s.vjp(f, *args)
    assert_same(out, value)
    expected = numerical(f, args, {}, (0, 1), cotangent)
    for gradient, arg, numbers in zip(pullback(cotangent), args, expected, strict=True):
        assert_gradient(gradient, arg, numbers, rtol)
    return expected, cotangent, value


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("f, first, second", CASES)
def test_pair(f, first, second):
    args = make(first, 0.0), make(second, 0.06)
    pulled, cotangent, value = check_pullback(f, args, 1e-6)
    if f is mixed:
        check_tangent(f, args, dict(enumerate(pulled)), cotangent, value, 1e-6, 1.0)


@pytest.mark.parametrize("first, second", [pair for pair in PAIRS if {*pair} <= {*FEW}])
def test_pair_of_float32(first, second):
    check_pullback(mixed, (make(first, 0.0, np.float32), make(second, 0.06, np.float32)), 2e-4)


@pytest.mark.parametrize("first, second", [("2x3", "3"), ("3", "0-d"), ("1", "2x1x3"), ("0", "1"), ("3", "3")])
@pytest.mark.parametrize("f", (multiply, divide), ids=lambda f: f.__name__)
def test_operators_of_float32(f, first, second):
    check_pullback(f, (make(first, 0.0, np.float32), make(second, 0.06, np.float32)), 2e-4)


@pytest.mark.parametrize("first, second", [("2x3", "3"), ("3", "0-d"), ("1", "2x1x3"), ("0", "1")])
def test_float32_with_float64(first, second):
    check_pullback(mixed, (make(first, 0.0, np.float32), make(second, 0.06)), 2e-4)
    check_pullback(mixed, (make(first, 0.0), make(second, 0.06, np.float32)), 2e-4)


@pytest.mark.parametrize("kind", SHAPES)
def test_argument_with_itself(kind):
    x = make(kind, 0.0)
    value, pullback = s2s.vjp(lambda x: mixed(x, x), x)
    cotangent = random_cotangent(value)
    expected = numerical(lambda x: mixed(x, x), (x,), {}, (0,), cotangent)
    assert_gradient(pullback(cotangent)[0], x, expected[0], 1e-6)


@pytest.mark.parametrize("kind", SHAPES)
def test_three_way_where(kind):
    def f(c, x, y):
        return np.where(c, x * 2.0, y * y)

    condition = np.array([[True], [False]])
    for args in ((make(kind, 0.0), make("2x3", 0.06)), (make("3", 0.0), make(kind, 0.06))):
        if not fits(kind, "2x3"):
            continue
        value, pullback = s2s.vjp(f, condition, *args)
        cotangent = random_cotangent(value)
        expected = numerical(f, (condition, *args), {}, (1, 2), cotangent)
        for gradient, arg, numbers in zip(pullback(cotangent)[1:], args, expected, strict=True):
            assert_gradient(gradient, arg, numbers, 1e-6)


@pytest.mark.parametrize("first, second", [("3", "2x0"), ("2x0", "3x1"), ("0", "3")])
def test_shapes_that_do_not_fit_raise_as_in_the_primal(first, second):
    assert not fits(first, second)
    with pytest.raises(ValueError, match="broadcast"):
        s2s.vjp(multiply, make(first, 0.0), make(second, 0.06))


def test_a_length_that_only_must_not_be_less_than_another_is_not_taken_for_equal():
    from scipy import signal  # refuses factors of which neither is the larger one in every dimension

    def f(x, h, z):
        return np.sum(signal.convolve(x, h, mode="valid") * z) ** 2

    rng = np.random.default_rng(4)
    args = rng.normal(size=(7, 3)), rng.normal(size=(4, 1)), rng.normal(size=(4, 3))
    gradients = s2s.grad(f, argnums=(0, 1, 2))(*args)
    for g, x, wanted in zip(gradients, args, numerical(f, args, {}, (0, 1, 2), 1.0)):
        assert_gradient(g, x, wanted, 1e-6, 1.0)


@pytest.mark.parametrize(
    "f, shapes",
    [
        (lambda a, b: np.sum(np.linalg.solve(a, b) ** 2), ((2, 3, 3), (2, 3, 4))),
        (lambda a, b: np.sum(np.einsum("ijk,ijk->i", a, b) ** 2), ((2, 3, 4), (2, 3, 4))),
        (lambda a, b: np.average(a, weights=b), ((2, 3, 4), (2, 3, 4))),
        (lambda a, b: np.sum(np.tensordot(a, b, 2) ** 2), ((2, 3, 4), (3, 4, 2))),
    ],
)
def test_lengths_of_stacks_that_must_agree_are_found(f, shapes):
    rng = np.random.default_rng(6)
    args = tuple(rng.uniform(0.5, 1.5, size=shape) for shape in shapes)
    args[0][...] += 3.0 * np.eye(*shapes[0][-2:])
    text = s2s.source(f, *args, argnums=(0, 1))
    assert "rt.unbroadcast" not in text and "rt.check_scalar" not in text
    for mode in (s2s.grad(f, argnums=(0, 1))(*args), s2s.vjp(f, *args)[1](1.0)):
        for g, x, wanted in zip(mode, args, numerical(f, args, {}, (0, 1), 1.0)):
            assert_gradient(g, x, wanted, 1e-6, 1.0)
