"""Functions that Numba compiled, of each kind, and programs of them: importing this compiles some of them."""

import functools
import math

import numba
import numba.experimental
import numpy as np
from numba.typed import Dict, List


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
    "a stencil": (lambda x: np.sum(smoothed(x) ** 2), ()),
    "a stencil alone": (smoothed, ()),
    "a method": (lambda x: SPRING.energy(x), ()),
    "a bound method": (SPRING.energy, ()),
    "of an argument": (lambda x, s: s.energy(x), (SPRING,)),
    "a class": (lambda x: Spring(x[0]).energy(x), ()),
}
"""Functions of an array that are refused, with what else they are called with."""
