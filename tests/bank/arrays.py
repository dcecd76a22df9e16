"""Attributes and methods of arrays."""

import numpy as np

from tests.bank.registry import M23, M33, P23, T234, V3, V5, W3, case


@case(M23)
def transposed(m):
    return np.sum(m.T @ m) + m.T[2, 1] ** 2


@case(M23)
def sizes(m):
    n, k = m.shape
    return np.sum(m * m) * n / k + m.ndim * m[0, 0] + m.size * m[1, 1] + len(m)


@case(T234)
def shape_parts(t):
    return np.sum(t) / t.shape[0] + np.sum(t * t) * t.shape[-1]


@case(M23)
def dtype_tests(m):
    if m.dtype == np.float64:
        return np.sum(m * m)
    return np.sum(m)


@case(M23)
def sum_method(m):
    return m.sum() * m.sum(axis=0)[1] + (m.sum(axis=1) ** 2).sum() + (m.sum(axis=-1, keepdims=True) * m).sum()


@case(T234)
def sum_of_axes(t):
    return (t.sum(axis=(0, 2)) ** 2).sum() + (t.sum((1, -1), keepdims=True) * t).sum()


@case(M23)
def mean_method(m):
    return m.mean() ** 2 + (m.mean(axis=0) ** 2).sum() + (m.mean(1, keepdims=True) * m).sum()


@case(P23)
def prod_method(m):
    return m.prod() + (m.prod(axis=1) ** 2).sum()


@case(M23)
def var_and_std(m):
    return m.var() + m.std() + (m.var(axis=0) ** 2).sum() + (m.std(axis=1, ddof=1)).sum()


@case(M23)
def max_and_min(m):
    return m.max() ** 2 + (m.min(axis=0) ** 2).sum() + (m.max(axis=1, keepdims=True) * m).sum()


@case(M23)
def argmax_method(m):
    return m[0, m[0].argmax()] ** 2 + m[1][m[1].argmin()]


@case(M23)
def reshape_method(m):
    return (m.reshape(3, 2) @ m).sum() + m.reshape(-1)[4] ** 2 + (m.reshape((6,)) ** 2).sum()


@case(M23)
def reshape_by_shape(m):
    return (m.ravel().reshape(m.shape) * m).sum() + m.reshape(m.shape[0], -1)[1, 2]


@case(M23)
def flattened(m):
    return m.ravel()[1] * m.flatten()[5] + (m.ravel() ** 2).sum()


@case(T234)
def transpose_method(t):
    return (t.transpose(2, 0, 1)[0] * t.transpose((2, 0, 1))[1]).sum() + t.transpose().T[0, 1, 2] ** 2


@case(T234)
def swapaxes_method(t):
    return (t.swapaxes(0, 2)[1] ** 2).sum() * t.swapaxes(-1, 0)[0, 0, 0]


@case(M23, V3)
def dot_method(m, v):
    return m.dot(v).dot(m.dot(v)) + v.dot(v)


@case(M23)
def copy_method(m):
    c = m.copy()
    return (c * m).sum()


@case(M23)
def astype_method(m):
    return (m.astype(np.float64) * m).sum() + (m.astype(float) ** 2).sum()


@case(V5)
def clip_method(v):
    return (v.clip(-1.0, 1.0) * v).sum() + (v.clip(min=0.0) ** 2).sum()


@case(V5)
def cumsum_method(v):
    return (v.cumsum() ** 2).sum()


@case(M33)
def trace_and_diagonal(m):
    return m.trace() ** 2 + m.diagonal().prod()


@case(np.ones((1, 3, 1)) * V3[:, None])
def squeeze_method(m):
    return (m.squeeze() ** 2).sum() + (m.squeeze(axis=0)[:, 0] ** 3).sum()


@case(V3)
def item_method(v):
    return v[0].item() * v.item(2) + v.item(1) ** 2


@case(V3)
def tolist_method(v):
    a, b, c = v.tolist()
    return a * b * c


@case(V5)
def take_and_repeat(v):
    return (v.take([0, 0, 3]) ** 2).sum() + (v.repeat(2) ** 3).sum()


@case(M23)
def method_chain(m):
    return (m * 2.0).T.reshape(2, 3).sum(axis=0).max() * (-m).mean()


@case(V3, W3)
def method_of_expression(v, w):
    return (v * w).sum() + (v + w).dot(v) + np.sin(v).mean()


@case(V3)
def operator_methods(v):
    return np.sum(v.__mul__(v)) + np.sum(abs(v)) + np.sum(v.conj() * v.real)


@case(M23)
def any_all_methods(m):
    if (m > 0).any() and not (m > 0).all():
        return (m * m).sum()
    return m.sum()


@case(V5)
def method_result_reused(v):
    s = v.sum()
    w = v / s
    return (w * w).sum() * s


@case(M23)
def len_of_arrays(m):
    return len(m) * m.sum() / len(m[0]) + (m.T / len(m.T)).max()


@case(V3)
def fill_like(v):
    z = np.zeros_like(v) + v
    o = np.ones(v.shape, dtype=v.dtype) * v
    e = np.full(len(v), 2.0) * v
    return (z * o * e).sum()


@case(M23)
@case(M33)
def squeezed_where_a_length_may_be_one(m):
    first = np.squeeze(m[:, :1])
    return np.sum(np.sin(first) + m[:, 1] * np.squeeze(m[:, None], axis=1)[:, 0] + first)


@case(M23)
def covariance_of_rows_that_may_be_one(m):
    return np.sum(np.cov(m[:1])) + np.sum(np.cov(m))


@case(0.7)
@case(np.float64(0.7))
@case(V3)
@case(np.array(0.7))
def index_that_leaves_nothing_out(x):
    y = np.sin(x)
    z = np.asarray(y * x)[()]
    return np.sum(z * y)


@case(V3)
def view_by_an_empty_index(x):
    y = x * 2.0
    whole = y[()]
    whole[0] *= x[1]
    y[()] *= x
    return np.sum(y * whole)
