"""Objects by which C code and packages compute, of classes with ``__float__``, ``__array__``, descriptors, ``super()``,
and what Numba has compiled; in recordings, in both modes, against central differences.
"""

import functools
import math
import operator

import numpy as np
import pytest

import s2s

pytestmark = pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")

X = np.array([0.4, 0.7, 1.3])


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")


class Amount:
    """A number with a unit, as NumPy's functions ask it what they are for it."""

    def __init__(self, magnitude):
        self.magnitude = magnitude

    def __float__(self):
        return float(self.magnitude)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return Amount(getattr(ufunc, method)(*(getattr(i, "magnitude", i) for i in inputs), **kwargs))


class Table:
    """What NumPy takes for an array, and multiplies as a matrix."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype=dtype)

    def __mul__(self, other):
        return Table(self.array @ np.asarray(other))

    def __rmul__(self, other):
        return Table(other * self.array)


class Entry:
    def __init__(self, index):
        self.index = index

    def __get__(self, obj, kind):
        return obj[self.index]

    def __set__(self, obj, value):
        obj[self.index] = value


class Point(np.ndarray):
    x, y = Entry(0), Entry(1)


class Upper(dict):
    """A dict whose methods read it by themselves, as those of a parser of settings do."""

    def __getitem__(self, key):
        return list(self.values())[0] if key == "first" else dict.__getitem__(self, key)

    def values(self):
        return [self[key] for key in self.keys() if key != "first"]


class Scaled(functools.partial):
    def __call__(self, x):
        return 2.0 * super().__call__(x)


def run(text, **scope):
    """What a text computes, which the compiler does not read."""
    scope = {"np": np, "math": math, "operator": operator, **scope}
    exec(text, scope)
    return scope["r"]


def of_float(x):
    return run("r = math.exp(a) * math.hypot(a, b)", a=Amount(x[0]), b=Amount(x[1] * x[2]))


def of_array(x):
    t = Table(np.array([[x[0], x[1]], [0.3, x[2]]]))
    text = "r = np.linalg.det(t) + np.sum(np.exp(t)) + (2.0 * t * [1.0, 3.0]).array[1] + (np.float64(3.0) * t)[0, 1]"
    return run(text, t=t)


def of_descriptors(x):
    p = np.array(x[:2] * x[2]).view(Point)
    return run("p.y = p.x * p.y\nr = p.x + p.y ** 2", p=p)


def of_dicts(x):
    return run("d = Upper()\nd['a'] = x[0]\nd['b'] = x[1] * x[2]\nr = d['first'] * d['b']", x=x, Upper=Upper)


def of_super(x):
    return run("r = m(x[0]) * x[1]", m=Scaled(np.sin), x=x)


def of_getters(x):
    text = "r = operator.attrgetter('magnitude')(a) * operator.itemgetter(0, 2)(x)[1] + operator.itemgetter(1)(x)"
    return run(text, a=Amount(x[0] * x[1]), x=x)


def of_rounding(x):
    return run("r = np.sum(np.round(np.sin(x), 15)) + round(x[0] * x[1], 12) + np.round(x[2], 1)", x=x)


@pytest.mark.parametrize(
    "f", [of_float, of_array, of_descriptors, of_dicts, of_super, of_getters], ids=lambda f: f.__name__)
def test_derivatives(f):
    check(f)


def check(f):
    wanted = np.array([(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)])
    np.testing.assert_allclose(s2s.grad(f)(X), wanted, rtol=1e-7, atol=1e-8)
    for v, slope in zip(np.eye(3), wanted):
        assert abs(s2s.jvp(f, (X,), (v,))[1] - slope) <= 1e-7 * max(1.0, abs(slope))


def test_rounding_of_noise_is_no_step():
    # to one decimal it is a step, of derivative zero
    wanted = np.cos(X) + [X[1], X[0], 0.0]
    np.testing.assert_allclose(s2s.grad(of_rounding)(X), wanted, rtol=1e-12)


def test_objects_that_numpy_asks():
    found = s2s.grad(lambda x: run("r = np.exp(a).magnitude", a=Amount(x[0])))(X)
    np.testing.assert_allclose(found, [np.exp(X[0]), 0, 0])


@pytest.mark.slow
def test_what_numba_compiles():
    numba = pytest.importorskip("numba")

    @numba.vectorize
    def bent(a, b):
        return a * a * b if a > 0.5 else a + b

    @numba.guvectorize(["void(f8[:], f8[:], f8[:])"], "(n),(n)->(n)")
    def turned(a, b, out):
        out[0], out[1], out[2] = a[1] * b[0], a[2] * b[1], a[0] * a[0]

    @numba.njit
    def inner(a):
        return a * 3.0

    @numba.njit
    def outer(a, b):
        return a * inner(2.0) + inner(b)

    def of_numba(x):
        made = run("out = np.empty(3)\nt(x, x * x, out)\nr = np.sum(b(x, 2.0) * out) + b(0.2, 0.3) * o(x[0], x[1])",
                   t=turned, b=bent, o=outer, x=x)
        return made

    check(of_numba)


class Labelled(Amount):
    """What NumPy's functions other than ufuncs take for an array."""

    def __array__(self, dtype=None, copy=None):
        return np.array(self.magnitude, dtype=dtype)


@pytest.mark.parametrize("call", [
    lambda m: np.linalg.cholesky(m).sum(), lambda m: np.linalg.inv(m)[0, 1], lambda m: np.nanmax(m),
    lambda m: np.dot(m, m)[0, 1], lambda m: np.where(m.magnitude > 1.0, np.square(m).magnitude, 2.0).sum(),
    lambda m: np.linalg.norm(m), lambda m: np.concatenate([m, m])[3, 0] ** 2, lambda m: (np.asarray(m) ** 2).sum(),
], ids=["cholesky", "inv", "nanmax", "dot", "where", "norm", "concatenate", "asarray"])
def test_functions_of_numpys_read_objects_as_arrays(call):
    check(lambda x: call(Labelled(np.array([[3.0 * x[0], x[1]], [x[1], 2.0 * x[2]]]))))


class Outputs(tuple):
    """A tuple whose length and items are those of attributes, which it has not when it is made."""

    def __new__(cls, names, items):
        return tuple.__new__(cls, items)

    def __init__(self, names, items):
        self.known = dict(zip(names, items))

    def __getattr__(self, name):
        return self.known[name]

    def __len__(self):
        return len(self.known)

    def __getitem__(self, name):
        return self.known[name]


class Model(dict):
    """A dict that is called, and read item by item."""

    def __call__(self, x):
        return Outputs(self, [f(x) for _, f in zip(self, self.values())])


def test_containers_that_are_called_and_read_in_ways_of_their_own():
    model = Model(a=lambda x: x[0] * x[1], b=lambda x: np.sin(x[2]))
    check(lambda x: model(x).a ** 2 + model(x)["b"] * len(list(zip(model, x))))
