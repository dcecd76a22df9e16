"""Derivatives that are taken inside of a differentiated function: what their arguments and tangents may be."""

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError


def loss(n, x):
    return n * x**2


NO_STR = "`n` of `loss` is a str and has no derivative [S2S504]"
REFUSED = {
    "an integer": (lambda x, n: s2s.grad(loss)(n, x), "`n` of `loss` is an integer [S2S503]"),
    "one of two": (lambda x, n: s2s.grad(loss, argnums=(1, 0))(3, x)[1], "`n` of `loss` is an integer [S2S503]"),
    "by name": (lambda x, n: s2s.grad(loss, argnums="n")(x=x, n=3), "`n` of `loss` is an integer [S2S503]"),
    "integers": (lambda x, n: s2s.grad(loss)(np.arange(3), x), "`n` of `loss` is an integer [S2S503]"),
    "a str": (lambda x, n: s2s.value_and_grad(loss)("a", x)[0], NO_STR),
    "a bool": (lambda x, n: s2s.grad(loss)(True, x), "`n` of `loss` is a bool and has no derivative [S2S504]"),
    "a tangent": (lambda x, n: s2s.jvp(loss, (n, x), (1, 1.0))[1], "`n` of `loss` is an integer [S2S503]"),
    "an unknown tangent": (lambda x, n: s2s.jvp(loss, (n, x), (x, x))[1], "`n` of `loss` is an integer [S2S503]"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_float_is_refused_by_its_name(name):
    f, message = REFUSED[name]
    with pytest.raises(ArgumentError) as caught:
        s2s.grad(f)(1.3, 3)
    assert str(caught.value).splitlines()[0] == f"the argument {message}"


def still_by_zero(x, n):
    of_dict = s2s.jvp(lambda p: p["n"] * p["x"] ** 2, ({"n": n, "x": x},), ({"n": 0, "x": 1.0},))[1]
    return s2s.jvp(loss, (n, x), (0, 1.0))[1] + of_dict


def still_by_none(x, n):
    of_dict = s2s.jvp(lambda p: p["n"] * p["x"] ** 2, ({"n": n, "x": x},), ({"n": None, "x": 1.0},))[1]
    return s2s.jvp(loss, (n, x), (None, 1.0))[1] + of_dict


@pytest.mark.parametrize("f", [still_by_zero, still_by_none])
def test_an_integer_that_does_not_move_has_the_tangent_zero_or_none(f):
    assert s2s.grad(f)(1.3, 4) == pytest.approx(16.0)
    assert s2s.jvp(lambda x: f(x, 4), (1.3,), (0.5,))[1] == pytest.approx(8.0)
