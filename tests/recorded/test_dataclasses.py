"""What ``dataclasses`` copies of objects, in recorded calls; and what a recording says where it finds no rule."""

import ctypes
import ctypes.util
import dataclasses
import typing

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError

X = np.array([0.3, 0.7, 1.2])


@pytest.fixture(autouse=True)
def always(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")


@dataclasses.dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Pair:
    p: typing.Any
    q: typing.Any = 2.0


def as_dict(x):
    return np.sum(dataclasses.asdict(Pair(p=x, q=[x[0], {"a": x**2}]))["q"][1]["a"] ** 2)


def as_tuple(x):
    return np.sum(dataclasses.astuple(Pair(p=x))[0] ** 4)


def made_inside(x):
    @dataclasses.dataclass
    class Inner:
        p: typing.Any
        q: float = 0.0

    inner = Inner(x)
    inner.q = np.sum(inner.p**4)
    return dataclasses.replace(inner, p=1.0).q


# a recording that makes a class looks at all that the class can reach: in a process of many tests, for many seconds
@pytest.mark.parametrize("f", [as_dict, as_tuple, pytest.param(made_inside, marks=pytest.mark.slow)])
def test_copies_of_dataclasses(f):
    np.testing.assert_allclose(s2s.grad(f)(X), 4.0 * X**3)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), 4.0 * X**3)
    np.testing.assert_allclose(s2s.hessian(f)(X), np.diag(12.0 * X**2))


def test_what_has_no_rule_is_told_how_to_get_one():
    root = ctypes.CDLL(ctypes.util.find_library("m")).cbrt
    root.restype, root.argtypes = ctypes.c_double, [ctypes.c_double]
    with pytest.raises(NoDerivativeError) as caught:
        s2s.grad(lambda x: 2.0 * root(x))(0.5)
    assert "or give it a rule, `s2s.defvjp(f, rule)`, or central differences" in str(caught.value)
    differences = s2s.differentiable(root, numeric=True)
    assert s2s.grad(lambda x: 2.0 * differences(x))(0.5) == pytest.approx(2.0 / 3.0 * 0.5 ** (-2.0 / 3.0), rel=1e-8)
