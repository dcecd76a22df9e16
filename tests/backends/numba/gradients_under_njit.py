"""A gradient that Numba compiles when this is imported, and functions under ``njit`` that call it."""

import numba
import numpy as np

import s2s


@numba.njit
def power_sum(x, n):
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** n
    return total


power_sum_grad = s2s.njit_grad(power_sum, "float64(float64[:], int64)")


@numba.njit
def descend(x, steps):
    for _ in range(steps):
        x = x - 0.1 * power_sum_grad(x, 2)
    return x


@numba.njit(parallel=True)
def many(xs):
    out = np.empty_like(xs)
    for k in numba.prange(len(xs)):
        out[k] = power_sum_grad(xs[k], 3)
    return out
