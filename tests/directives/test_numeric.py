"""Central differences on request: for one function, in both modes, and nowhere else."""

import ctypes
import ctypes.util
import math
import pickle
import sys
import types

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError, NoDerivativeError

X = np.array([0.5, 2.0, 1.3])


def hidden(text, name="f"):
    """A function whose source nobody can read."""
    scope = {"np": np}
    exec(text, scope)
    return scope[name]


product = s2s.differentiable(hidden("def f(a, b, scale=1.0):\n    return np.sin(a) * b * scale\n"), numeric=True)
pair = s2s.differentiable(hidden("def f(a, n):\n    return np.sum(a ** n), {'twice': 2.0 * a}\n"), numeric=True)


def of_arrays(x):
    return np.sum(product(x**2, x[0], scale=3.0) * x)


def by_hand(x):
    return np.sum(np.sin(x**2) * x[0] * 3.0 * x)


def test_arrays_and_numbers():
    expected = s2s.grad(by_hand)(X)
    np.testing.assert_allclose(s2s.grad(of_arrays)(X), expected, rtol=1e-8)
    np.testing.assert_allclose(s2s.jvp(of_arrays, (X,), (X,))[1], expected @ X, rtol=1e-8)
    np.testing.assert_allclose(s2s.jacfwd(of_arrays)(X), expected, rtol=1e-8)
    assert s2s.grad(product)(0.3, 2.0) == pytest.approx(2.0 * math.cos(0.3), rel=1e-9)
    assert isinstance(s2s.grad(product)(0.3, 2.0), float) and product(0.3, 2.0) == 2.0 * math.sin(0.3)


def test_structures_as_results_and_integers():
    def f(x):
        total, held = pair(x, 3)
        return total + np.sum(held["twice"] * x)

    np.testing.assert_allclose(s2s.grad(f)(X), 3.0 * X**2 + 4.0 * X, rtol=1e-8)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), 3.0 * X**2 + 4.0 * X, rtol=1e-8)


def test_in_loops_and_large_and_small_numbers():
    cube = s2s.differentiable(hidden("def f(a):\n    return a ** 3\n"), numeric=True)

    def f(x):
        total = 0.0
        for k in range(3):
            total += cube(x[k]) * (k + 1)
        return total

    np.testing.assert_allclose(s2s.grad(f)(X), 3.0 * X**2 * np.arange(1, 4), rtol=1e-8)
    assert s2s.grad(cube)(1e6) == pytest.approx(3e12, rel=1e-8)
    narrow = s2s.grad(lambda x: np.sum(cube(x)))(X.astype(np.float32))
    assert narrow.dtype == np.float32


def test_compiled_code_of_other_languages():
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    library.sin.restype, library.sin.argtypes = ctypes.c_double, [ctypes.c_double]
    sine = s2s.differentiable(library.sin, numeric=True)
    assert s2s.grad(lambda x: sine(x) * x)(1.3) == pytest.approx(1.3 * math.cos(1.3) + math.sin(1.3), rel=1e-8)


def test_the_rest_of_the_program_is_exact_and_the_code_says_so():
    text = s2s.source(of_arrays, X)
    assert text.count("cotangents_by_differences") == 1 and "by_differences" not in s2s.source(by_hand, X)
    assert "tangent_by_differences" in s2s.source(of_arrays, X, mode="jvp")


@s2s.differentiable(numeric=True)
def decorated(x):
    return x * x


class Model:
    @s2s.differentiable(numeric=True)
    def energy(self, x):
        return x**3


def test_decorators():
    assert s2s.grad(decorated)(3.0) == pytest.approx(6.0) and decorated.__name__ == "decorated"
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    assert s2s.grad(lambda x: Model().energy(x))(2.0) == pytest.approx(12.0)


def test_second_derivatives_are_refused():
    with pytest.raises(NoDerivativeError, match="differences of differences have no correct digits"):
        s2s.grad(s2s.grad(product))(0.3, 2.0)
    with pytest.raises(NoDerivativeError, match="differences of differences have no correct digits"):
        s2s.hvp(of_arrays, (X,), (X,))


def test_no_zero_for_what_differences_are_not_taken_by():
    whole = s2s.differentiable(hidden("def f(a):\n    return a[0] * a[1]\n"), numeric=True)
    for derivative in (s2s.grad(lambda x: whole([x, 2.0])), lambda x: s2s.jvp(lambda x: whole([x, 2.0]), (x,), (1.0,))):
        with pytest.raises(NoDerivativeError, match="arrays of floats, and an argument is a list"):
            derivative(3.0)
    absolute = s2s.differentiable(hidden("def f(z):\n    return abs(z)\n"), numeric=True)
    with pytest.raises(NoDerivativeError, match="an argument is complex"):
        s2s.grad(lambda x: absolute(x + 1j))(3.0)


def test_options():
    with pytest.raises(ArgumentError, match="`numeric=True` goes with no other option"):
        s2s.differentiable(decorated, numeric=True, backend="numpy")
    with pytest.raises(ArgumentError, match="S2S507"):
        s2s.differentiable(3, numeric=True)
    assert s2s.grad(s2s.differentiable(lambda x: x * x, numeric=False))(3.0) == 6.0


def test_what_an_error_says_can_be_pasted(monkeypatch):
    module = types.ModuleType("made_of_nothing")
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    module.sine = library.sin
    module.sine.restype, module.sine.argtypes = ctypes.c_double, [ctypes.c_double]
    module.sine.__module__, module.sine.__qualname__ = "made_of_nothing", "sine"
    monkeypatch.setitem(sys.modules, "made_of_nothing", module)
    with pytest.raises(NoDerivativeError) as caught:
        s2s.grad(lambda x: module.sine(x) * x)(1.3)
    line, place = str(caught.value).split("or central differences, `")[1].split("`")[0], "made_of_nothing.sine"
    assert line == f"import made_of_nothing; {place} = s2s.differentiable({place}, numeric=True)"
    exec(line, {"s2s": s2s})
    assert s2s.grad(lambda x: module.sine(x) * x)(1.3) == pytest.approx(1.3 * math.cos(1.3) + math.sin(1.3), rel=1e-8)
