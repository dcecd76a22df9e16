"""NumPy functions of the everyday core."""

import numpy as np
from numpy.linalg import norm, solve

from tests.bank.registry import M23, M32, M33, P3, P5, P23, T234, V3, V5, W3, case


@case(0.7)
@case(V5)
def exponentials(x):
    return np.sum(np.exp(x) + np.expm1(x) + np.exp2(x))


@case(0.7)
@case(P5)
def logarithms(x):
    return np.sum(np.log(x) + np.log1p(x) * np.log2(x) + np.log10(x))


@case(0.7)
@case(V5)
def trigonometry(x):
    return np.sum(np.sin(x) * np.cos(x) + np.tan(0.5 * x))


@case(0.35)
@case(V5 * 0.4)
def inverse_trigonometry(x):
    return np.sum(np.arcsin(x) * np.arccos(x) + np.arctan(x))


@case(0.35)
@case(V5 * 0.4)
def hyperbolic(x):
    return np.sum(np.sinh(x) * np.cosh(x) + np.tanh(x) + np.arcsinh(x) + np.arctanh(x) + np.arccosh(3.0 + x))


@case(0.7)
@case(P5)
def roots(x):
    return np.sum(np.sqrt(x) + np.cbrt(x) + np.reciprocal(x) + np.square(x))


@case(0.7)
@case(V5)
def absolute_values(x):
    return np.sum(np.abs(x) * x + np.absolute(x) + np.fabs(x) + abs(x) + np.negative(x) + np.positive(x))


@case(V5)
def signs(v):
    return np.sum(np.sign(v) * v * v + np.heaviside(v, 0.5) * v)


@case(0.7, 1.9)
@case(V3, P3)
def functions_of_two(x, y):
    return np.sum(np.arctan2(x, y) + np.hypot(x, y) * np.logaddexp(x, y) + np.copysign(y, x))


@case(0.7, 1.9)
@case(V3, P3)
def arithmetic_functions(x, y):
    z = np.add(x, y) * np.subtract(x, y) + np.multiply(x, y) / np.divide(y, 2.0)
    return np.sum(z + np.power(y, x) + np.true_divide(x, y) + np.float_power(y, 2.0))


@case(7.3, 2.1)
@case(np.array([7.3, -3.1]), np.array([2.1, 1.7]))
def remainders(x, y):
    return np.sum(np.mod(x, y) * x + np.remainder(x, y) + np.fmod(x, y))


@case(0.7, 1.9)
@case(V3, W3)
@case(M23, V3)
def extremes(x, y):
    return np.sum(np.maximum(x, y) * x + np.minimum(x, y) ** 2 + np.fmax(x, y) + np.fmin(x, y))


@case(40.0)
@case(V5)
def angles(x):
    return np.sum(np.sin(np.deg2rad(x)) + np.radians(x) ** 2 + np.rad2deg(x) * 0.01 + np.degrees(x) * 0.01)


@case(V5)
def softplus_and_sigmoid(v):
    return np.sum(np.logaddexp(0.0, v) + 1.0 / (1.0 + np.exp(-v)) + np.logaddexp2(v, 1.0))


@case(M23)
def sums(m):
    return np.sum(m) ** 2 + np.sum(np.sum(m, axis=0) ** 3) + np.sum(np.sum(m, 1, keepdims=True) * m)


@case(M23)
def means(m):
    rows = np.mean(m, axis=-1)
    return np.mean(m) ** 2 + np.sum(rows**2) + np.sum(np.mean(m, axis=(0, 1), keepdims=True) * m)


@case(P23)
def products(m):
    return np.prod(m) + np.sum(np.prod(m, axis=0) ** 2) + np.sum(np.prod(m, axis=1, keepdims=True) * m)


@case(np.array([0.0, 1.3, 2.1]))
@case(np.array([0.0, 0.0, 2.1]))
def product_with_zeros(v):
    return np.prod(v) * 3.0 + np.sum(v)


@case(M23)
def variances(m):
    rows = np.var(m, axis=1, ddof=1)
    return np.var(m) + np.std(m) * np.sum(rows) + np.sum(np.std(m, axis=0, keepdims=True) * m)


@case(M23)
def max_min(m):
    columns = np.max(m, axis=0)
    return np.max(m) * np.min(m) + np.sum(columns**2) + np.sum(np.amin(m, axis=1, keepdims=True) * m)


@case(T234)
def max_of_axes(t):
    return np.sum(np.max(t, axis=(0, 2)) ** 2) + np.sum(np.min(t, axis=-1) * 2.0)


@case(V5)
def cumulative(v):
    return np.sum(np.cumsum(v) ** 2) + np.sum(np.cumprod(v) * v)


@case(M23)
def cumulative_of_axis(m):
    return np.sum(np.cumsum(m, axis=0) ** 2) + np.sum(np.cumsum(m, axis=1) * m) + np.sum(np.cumsum(m) ** 2)


@case(V3, W3)
def dot_of_vectors(v, w):
    return np.dot(v, w) ** 2 + np.vdot(v, w) + np.inner(v, w)


@case(M23, M32)
@case(M23, V3)
@case(V3, M32)
@case(2.0, V3)
def dot(a, b):
    return np.sum(np.dot(a, b) ** 2)


@case(M23, M32)
@case(M33, V3)
@case(V3, M33)
@case(T234, np.arange(1.0, 9.0).reshape(4, 2) / 5.0)
def matmul(a, b):
    return np.sum(np.matmul(a, b) ** 2)


@case(V3, np.array([0.4, 1.7]))
def outer(v, w):
    return np.sum(np.outer(v, w) ** 2) + np.sum(np.outer(v * v, v))


@case(T234, M32)
def tensordot(t, m):
    a = np.tensordot(t, m, axes=([1], [0]))
    b = np.tensordot(t, m, axes=[(0, 1), (1, 0)])
    return np.sum(a**2) + np.sum(b**2)


@case(M33, M33.T.copy())
def tensordot_by_count(a, b):
    outer_product = np.tensordot(a, b, axes=0)
    return np.sum(np.tensordot(a, b, axes=1) ** 2) + np.tensordot(a, b) + np.sum(outer_product**2)


@case(M23, M32, V3)
def einsum(a, b, v):
    x = np.einsum("ij,jk->ik", a, b)
    y = np.einsum("ij,j->i", a, v)
    z = np.einsum("ij,ji,j->", a, b, v)
    return np.sum(x**2) + np.sum(y**2) + z


@case(M33)
def einsum_of_one(m):
    return np.einsum("ii", m) * np.einsum("ij->", m) + np.sum(np.einsum("ij->ji", m) @ m)


@case(T234)
def einsum_with_ellipsis(t):
    return np.sum(np.einsum("...i,...i->...", t, t) ** 2)


@case(M23)
def reshapes(m):
    return np.sum(np.reshape(m, (3, 2)) @ m) + np.sum(np.ravel(m)[1:] ** 2) + np.reshape(m, -1)[0]


@case(T234)
def transposes(t):
    a = np.transpose(t, (1, 2, 0))
    b = np.moveaxis(t, 0, -1)[0] * np.swapaxes(t, 0, 2).T[0, 0, 0]
    return np.sum(a[0] ** 2) + np.transpose(t)[3, 0, 1] ** 2 + np.sum(b)


@case(V3, W3)
def concatenates(v, w):
    c = np.concatenate([v, w * 2.0, v])
    return np.sum(c**2 * np.arange(9.0))


@case(M23, P23)
def concatenates_on_axes(a, b):
    x = np.concatenate((a, b), axis=1)
    y = np.concatenate((a, b), axis=0)
    return np.sum(x**2 * np.arange(6.0)) + np.sum(y.T @ y)


@case(V3, W3)
def stacks(v, w):
    s = np.stack([v, w, v * w])
    t = np.stack((v, w), axis=1)
    u = np.sum(np.vstack([v, w]) @ t) + np.sum(np.column_stack([v, w]) * t)
    return np.sum(s @ t) + u + np.sum(np.hstack([v, w]) ** 2)


@case(P5)
def splits(v):
    a, b = np.split(v, [2])
    return np.sum(a**2) * np.prod(b)


@case(T234)
def splits_equally(t):
    parts = np.split(t, 2, axis=2)
    return np.sum(parts[0] * parts[1]) + np.sum(np.array_split(t, 2, axis=1)[0] ** 2)


@case(V3)
def expand_and_squeeze(v):
    e = np.expand_dims(v, 1)
    return np.sum((e @ e.T) ** 2) + np.sum(np.squeeze(e) ** 3) + np.sum(np.expand_dims(v, (0, 2)) ** 2)


@case(V3)
def broadcasts(v):
    return np.sum(np.broadcast_to(v, (2, 3)) ** 2 * np.array([[1.0], [3.0]]))


@case(V3, 0.4)
def broadcast_scalar(v, s):
    return np.sum(np.broadcast_to(s, (3,)) * v) + np.sum(np.atleast_2d(v) * s)


@case(V3, W3)
def where_of_two(v, w):
    return np.sum(np.where(v > w, v * w, w**2))


@case(V3, 0.4)
def where_with_scalar(v, s):
    return np.sum(np.where(v > 0, v, s) ** 2) + np.sum(np.where(v > 0, v * s, 0.0))


@case(1.3)
@case(-1.3)
def where_of_scalars(x):
    return np.where(x > 0, x * x, np.exp(x))


@case(np.array([-0.4, 1.3, 2.1]))
def where_guards_a_division(v):
    return np.sum(np.where(v > 0, v / np.where(v > 0, v, 1.0), 0.0) * v)


@case(V5)
def clips(v):
    above = np.clip(v, 0.5, None)
    return np.sum(np.clip(v, -1.0, 1.0) * v) + np.sum(np.clip(v, None, 0.5) ** 2) + np.sum(above)


@case(V5, -1.0, 1.2)
def clips_with_active_limits(v, low, high):
    return np.sum(np.clip(v, low, high) ** 2)


@case(V3)
def passive_constructors(v):
    a = np.linspace(0.0, 1.0, 3) + np.arange(3) * np.ones(3) + np.zeros(3) + np.full(3, 0.5) + np.eye(3)[0]
    return np.sum(a * v) + np.sum(np.ones_like(v) * v * v) + np.sum(np.zeros_like(v) + v)


@case(M33, V3)
def solves(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2)


@case(M33, M32)
def solves_matrix(a, b):
    return np.sum(solve(a, b) ** 2)


@case(M33)
def inverse(a):
    return np.sum(np.linalg.inv(a) ** 2)


@case(M33)
def determinant(a):
    return np.linalg.det(a) ** 2


@case(V3)
@case(M23)
def norms(v):
    return np.linalg.norm(v) ** 3 + norm(v)


@case(M23)
def norm_of_axis(m):
    return np.sum(np.linalg.norm(m, axis=1) ** 2) + np.sum(np.linalg.norm(m, axis=0, keepdims=True) * m)


@case(V3)
def norm_of_order(v):
    return np.linalg.norm(v, 1) + np.linalg.norm(v, ord=3) + np.linalg.norm(v, np.inf)


@case(V3)
def functions_that_only_look(v):
    a = np.asarray(v)
    if np.ndim(a) != 1 or np.shape(a) != (3,) or np.size(a) != 3:
        raise TypeError("three numbers")
    if np.any(np.isnan(a)) or not np.all(np.isfinite(a)):
        raise ValueError("three finite numbers")
    return np.sum(np.atleast_1d(a) * np.array(v)) * np.float64(2.0) + np.count_nonzero(a > 0) * a[0]


@case(M33 * 0.2, V3)
def softmax(m, v):
    z = m @ v
    z = z - np.max(z)
    p = np.exp(z) / np.sum(np.exp(z))
    return -np.sum(p * np.log(p))


case(M23, note="NumPy's own function")(np.sum)
case(1.3, note="a ufunc")(np.sin)
case(V3, W3, note="NumPy's own function of two arrays")(np.dot)
case(V3, W3, note="a ufunc with an array result")(np.hypot)
