"""What must raise raises in every nesting, whether the derivative reads the value or not."""

import math

import numpy as np
import pytest

import s2s

X, ALONG = np.array([0.41, 1.23, 0.92, 2.31]), np.array([0.3, -0.7, 1.1, 0.2])
ZERO, FAR, NAMED = 0.0, 7, {"a": 1.0}

NESTINGS = {
    "grad": lambda f: s2s.grad(f)(X),
    "vjp": lambda f: s2s.vjp(f, X)[1](1.0),
    "jvp": lambda f: s2s.jvp(f, (X,), (ALONG,)),
    "jacfwd": lambda f: s2s.jacfwd(f)(X),
    "jacrev": lambda f: s2s.jacrev(f)(X),
    "hvp": lambda f: s2s.hvp(f, (X,), (ALONG,)),
    "hessian": lambda f: s2s.hessian(f)(X),
    "jacfwd(jacfwd)": lambda f: s2s.jacfwd(s2s.jacfwd(f))(X),
    "jacrev(jacfwd)": lambda f: s2s.jacrev(s2s.jacfwd(f))(X),
    "grad(grad)": lambda f: s2s.grad(lambda x: np.sum(s2s.grad(f)(x) * ALONG))(X),
    "grad(jvp)": lambda f: s2s.grad(lambda x: s2s.jvp(f, (x,), (ALONG,))[1])(X),
}


def quotient(x):
    return x[0] ** 2 + 1.0 / ZERO


def remainder(x):
    return x[0] * (3 % int(ZERO))


def place(x):
    return x[0] * x[FAR]


def place_in_a_list(x):
    return x[0] * [1, 2][int(x[3])]


def key(x):
    return NAMED["b"] * x[0]


def integer_of_a_text(x):
    return int("x") * x[0]


def float_of_a_text(x):
    return float("abc") + x[0]


def shift(x):
    return x[0] * (1 << -int(x[3]))


def domain(x):
    return x[0] * x[1] + math.log(-1.0 * (x[0] > 0))


def assertion(x):
    assert np.all(x > 1.0), f"bad {x}"
    return x[0] ** 2


def condition(x):
    y = x[0] ** 2 * x[1]
    if y > 0:
        raise RuntimeError(f"y is {y}")
    return x[0]


def unpacked(x):
    a, b, c = x
    return a * b * c


def unpacked_list(x):
    values = [x[0], x[1], x[2], x[3]]
    total = sum(values)
    if total > 0:
        a, b, c = values
        total = total + a * b * c
    return total


def indefinite(x):
    return np.sum(np.linalg.cholesky(-np.eye(2) * x[0]))


def callee(x):
    def check(v):
        if v > 0:
            raise KeyError("v")

    check(x[0])
    return x[0] ** 2


PROGRAMS = [
    quotient, remainder, place, place_in_a_list, key, integer_of_a_text, float_of_a_text, shift, domain, assertion,
    condition, unpacked, unpacked_list, indefinite, callee,
]


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("recorded", ["0", "1"])
def test_raised(f, recorded, monkeypatch):
    if f is key:
        recorded = "1"  # the compiler refuses what it does not find in a dict outside
    monkeypatch.setenv("S2S_RECORDED", recorded)
    with pytest.raises(Exception) as own:  # noqa: PT011 (its type is what is compared)
        f(X)
    for name, derivative in NESTINGS.items():
        with pytest.raises(own.type) as caught:
            derivative(f)
        assert caught.type is own.type, name
        first = str(own.value).split("\n")[0]  # pytest adds lines to what an assertion says
        assert str(caught.value).split("\n")[0] == first, name
