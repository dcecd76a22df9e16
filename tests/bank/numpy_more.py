"""NumPy functions beyond the everyday core."""

import numpy as np

from tests.bank.registry import M23, M32, M33, P3, P5, V3, V5, W3, case

SPD = M33 @ M33.T + np.eye(3)


@case(V5)
def sinc_function(v):
    return np.sum(np.sinc(v) * v)


@case(M23)
def average(m):
    return np.average(m) + np.sum(np.average(m, axis=1, weights=np.array([1.0, 2.0, 3.0])) ** 2)


@case(V5)
def differences(v):
    return np.sum(np.diff(v) ** 2) + np.sum(np.diff(v, n=2) * 3.0)


@case(V3, W3)
def kron_and_cross(v, w):
    return np.sum(np.cross(v, w) ** 2) + np.sum(np.kron(v, w) ** 2)


@case(M23)
def flips_and_rolls(m):
    return np.sum(np.flip(m) * m) + np.sum(np.flip(m, axis=1) ** 3) + np.sum(np.roll(m, 1, axis=1) * m)


@case(V3)
def tiles_and_repeats(v):
    return np.sum(np.tile(v, 2) ** 2 * np.arange(6.0)) + np.sum(np.repeat(v, 3) ** 2 * np.arange(9.0))


@case(M33)
def triangles(m):
    return np.sum(np.tril(m) ** 2) + np.sum(np.triu(m, 1) ** 3) + np.trace(m) ** 2 + np.sum(np.diag(m) ** 2)


@case(V3)
def diagonal_matrix(v):
    return np.sum((np.diag(v) @ np.ones((3, 3))) ** 2)


@case(SPD)
def log_determinant(a):
    sign, value = np.linalg.slogdet(a)
    return value * sign


@case(SPD)
def cholesky(a):
    return np.sum(np.linalg.cholesky(0.5 * (a + a.T)) ** 3)


@case(V5)
def sorts(v):
    return np.sum(np.sort(v) * np.arange(5.0)) + np.median(v) ** 2


@case(M23)
def nan_functions(m):
    return np.nansum(m * m) + np.nan_to_num(m)[0, 1] ** 2


@case(P3)
def reductions_with_where(p):
    return p.sum(where=np.array([True, False, True])) ** 2


@case(M23, M32)
def lengths_of_four_axes(a, b):
    c = np.einsum("ij,kl->ijkl", a, b)
    return np.sum(c * np.arange(1.0, 1.0 + c.shape[-1])) / c.shape[-1] + np.sum(np.ones(c.shape[-1]) * b[0])


@case(V3, M32[:2, :1])
def sums_of_broadcast_arrays(v, column):
    a, b = np.broadcast_arrays(v, column)
    return np.sum(a) * v[0] + 3.0 * np.sum(b)


@case(P5[:4])
def sums_of_split_parts(p):
    left, right = np.split(p * p, 2)
    return np.sum(left) - 3.0 * np.sum(right)
