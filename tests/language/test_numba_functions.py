"""Functions that Numba compiled are differentiated from their Python source, whatever wrapper made them."""

import functools
import math

import numpy as np
import pytest

numba = pytest.importorskip("numba")

import numba.experimental  # noqa: E402
from numba.typed import Dict, List  # noqa: E402

import s2s  # noqa: E402
from s2s.errors import NoDerivativeError  # noqa: E402
from tests.helpers import differences  # noqa: E402

X = np.array([0.5, 2.0, 1.3])


@numba.njit
def inner(a):
    return math.sin(a) * a


@numba.njit(fastmath=True)
def outer(x):
    total = numba.float64(0.0)
    made = np.empty(x.shape[0], numba.float64)
    for i in range(x.shape[0]):
        made[i] = inner(x[i]) ** 2
        total += made[i]
    return total


@numba.njit(parallel=True)
def in_parallel(x):
    total = 0.0
    for i in numba.prange(len(x)):
        total += x[i] ** 3
    return total


@numba.njit
def with_containers(x):
    squares, first = List(), Dict.empty(numba.int64, numba.float64)
    for v in x:
        squares.append(v * v)
    first[1] = squares[0] * x[1]
    return first[1] + squares[2]


@numba.njit
def given(f, x):
    return f(x[0]) * x[1]


@functools.lru_cache
@numba.njit
def cached(a):
    return a**2 + math.sin(a)


@numba.cfunc("float64(float64)")
def callback(a):
    return math.sin(a) * a


@numba.vectorize
def damped(a, b):
    if a > b:
        return a * math.exp(-b)
    return a * b


@numba.vectorize(["float64(float64,float64)"])
def declared(a, b):
    return a * math.exp(-b)


@numba.guvectorize(["void(float64[:],float64,float64[:])"], "(n),()->(n)")
def scaled(x, a, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * a + x[i] ** 2


@numba.guvectorize(["void(float64[:],float64[:],float64[:])"], "(n),(n)->()")
def product(x, y, out):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    out[0] = total


@numba.guvectorize(["void(float64[:],float64[:],float64[:])"], "(n),()->(n)")
def boxed(x, a, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * a[0]


@numba.guvectorize(["void(float64[:],float64[:],float64[:])"], "(n)->(),()")
def two_results(x, low, high):
    low[0], high[0] = x.min(), x.max()


PROGRAMS = [
    outer, in_parallel, with_containers, lambda x: outer(x**2) * 2.0, lambda x: given(inner, x),
    lambda x: cached(x[0]) * x[1], lambda x: callback(x[0]) * x[2], lambda x: np.sum(damped(x, x[::-1]) ** 2),
    lambda x: damped(x[0], 2.0) * damped(x[1], x[0]), lambda x: np.sum(damped(x[:, None], x) * x),
    lambda x: np.sum(declared(x, x * x)), lambda x: np.sum(scaled(x, 3.0) ** 2),
    lambda x: np.sum(scaled(x * np.ones((2, 3)), x[0]) ** 2),
    lambda x: product(x, np.sin(x)) * x[0], lambda x: np.sum(boxed(x, x[0]) * x),
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_compiled_functions(f):
    gradient = differences(f, X)
    np.testing.assert_allclose(s2s.grad(f)(X), gradient, rtol=1e-6, atol=1e-8)
    value, tangent = s2s.jvp(f, (X,), (X,))
    np.testing.assert_allclose(value, f(X))
    np.testing.assert_allclose(tangent, gradient @ X, rtol=1e-6)
    h = 1e-5
    second = (s2s.grad(f)(X + h * X) - s2s.grad(f)(X - h * X)) / (2.0 * h)
    np.testing.assert_allclose(s2s.hvp(f, (X,), (X,)), second, rtol=1e-5, atol=1e-7)


def test_rows_that_are_broadcast():
    for f in (lambda x: np.sum(product(x * np.ones((2, 3)), x) * x[:2]), lambda x: np.sum(scaled(x, x) ** 2),
              lambda x: np.sum(boxed(x * np.ones((2, 3)), x[:2]) ** 2)):
        np.testing.assert_allclose(s2s.grad(f)(X), differences(f, X), rtol=1e-6)
        np.testing.assert_allclose(s2s.jacfwd(f)(X), differences(f, X), rtol=1e-6)


def test_a_vectorized_function_by_itself():
    assert s2s.grad(damped)(2.0, 0.5) == pytest.approx(math.exp(-0.5))
    assert s2s.grad(callback)(0.7) == pytest.approx(math.sin(0.7) + 0.7 * math.cos(0.7))


def test_what_is_refused():
    for f in (lambda x: np.sum(two_results(x)[0]), lambda x: np.sum(scaled(x, 2.0, np.zeros(3)))):
        with pytest.raises(NoDerivativeError, match="one result, which it returns"):
            s2s.grad(f)(X)
    with pytest.raises(NoDerivativeError, match="does not support the argument `out`"):
        s2s.grad(lambda x: np.sum(declared(x, x, out=np.zeros(3))))(X)


@numba.stencil
def smoothed(a):
    return 0.25 * (a[-1] + 2.0 * a[0] + a[1])


@numba.experimental.jitclass([("stiffness", numba.float64)])
class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def energy(self, x):
        return self.stiffness * np.sum(x * x)


SPRING = Spring(2.0)
OUT_OF_REACH = {
    "a stencil": (lambda x: np.sum(smoothed(x) ** 2), (), "the stencil smoothed has neither .*write it with slices"),
    "a stencil alone": (smoothed, (), "the stencil smoothed has neither .*write it with slices"),
    "a method": (lambda x: SPRING.energy(x), (), "Spring.energy, of Numba's @jitclass has .*leave out @jitclass"),
    "a bound method": (SPRING.energy, (), "Spring.energy, of Numba's @jitclass has .*leave out @jitclass"),
    "of an argument": (lambda x, s: s.energy(x), (SPRING,), "Spring.energy, of Numba's @jitclass has .*@jitclass"),
    "a class": (lambda x: Spring(x[0]).energy(x), (), "Spring, a class of Numba's @jitclass has .*leave out @jitclass"),
}


@pytest.mark.parametrize("name", OUT_OF_REACH)
@pytest.mark.parametrize("recorded", ["0", "1"])
def test_stencils_and_jitclasses_are_refused_with_what_to_write(name, recorded, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", recorded)
    f, more, said = OUT_OF_REACH[name]
    with pytest.raises(NoDerivativeError, match=f"(?s){said}"):
        s2s.grad(f)(X, *more)


@pytest.mark.parametrize("recorded", ["0", "1"])
def test_stencils_and_jitclasses_are_called_where_nothing_differentiated_goes_in(recorded, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", recorded)

    def f(x, w):
        return np.sum(x * smoothed(w)) * SPRING.energy(w)

    w = np.array([1.0, 2.0, 4.0])
    np.testing.assert_allclose(s2s.grad(f)(X, w), np.array([0.0, 2.25, 0.0]) * 42.0, rtol=1e-12)
