"""NumPy's functions and methods that write: ufunc.at, out=, copyto, put, fill, sort and their like."""

import numpy as np

from tests.inplace.pairs import M33, V3, V4, V5, W3, W5, mutating, pure

# --- ufunc.at: every repeat counts ----------------------------------------------------------------------------------


@mutating(V5, np.array([1, 3, 1, 1]), V4)
def add_at(x, k, v):
    y = x**2
    np.add.at(y, k, v * x[0])
    return y * x


@pure
def add_at_pure(x, k, v):
    w = v * x[0]
    y = x**2
    return np.stack([y[0], y[1] + w[0] + w[2] + w[3], y[2], y[3] + w[1], y[4]]) * x


@mutating(V5, np.array([1, 3, 1]), W3)
def subtract_at(x, k, v):
    y = x**2
    np.subtract.at(y, k, v**2)
    return y * x


@pure
def subtract_at_pure(x, k, v):
    y, w = x**2, v**2
    return np.stack([y[0], y[1] - w[0] - w[2], y[2], y[3] - w[1], y[4]]) * x


@mutating(V5, np.array([1, 3, 1, 1]), V4)
def multiply_at(x, k, v):
    y = x**2
    np.multiply.at(y, k, v)
    return y * x


@pure
def multiply_at_pure(x, k, v):
    y = x**2
    return np.stack([y[0], y[1] * v[0] * v[2] * v[3], y[2], y[3] * v[1], y[4]]) * x


@mutating(M33, V3)
def add_at_pairs(m, v):
    a = m.copy()
    np.add.at(a, (np.array([0, 2, 0]), np.array([1, 1, 1])), v**2)
    np.add.at(a, (slice(None), [2, 2]), v[0])
    return a * m


@pure
def add_at_pairs_pure(m, v):
    w = v**2
    e = np.eye(3)
    a = m + (w[0] + w[2]) * np.outer(e[0], e[1]) + w[1] * np.outer(e[2], e[1])
    return (a + 2.0 * v[0] * np.outer(np.ones(3), e[2])) * m


@mutating(V5, np.array([0, 4, 4, 2, 0]))
def histogram_with_weights(x, bins):
    h = np.zeros(5)
    np.add.at(h, bins, x**2)
    return np.log1p(h)


@pure
def histogram_with_weights_pure(x, bins):
    return np.log1p((bins == np.arange(5)[:, None]).astype(float) @ x**2)


# --- out= -----------------------------------------------------------------------------------------------------------


@mutating(V3, W3)
def out_of_ufunc(x, w):
    y = np.empty(3)
    np.multiply(x, w, out=y)
    z = np.sin(y, out=np.zeros(3))
    np.add(z, y, z)
    return z


@pure
def out_of_ufunc_pure(x, w):
    return np.sin(x * w) + x * w


@mutating(V5)
def out_is_an_input(x):
    y = x.copy()
    np.multiply(y, y, out=y)
    np.exp(-y, out=y)
    np.negative(y, y)
    return y * x


@pure
def out_is_an_input_pure(x):
    return -np.exp(-(x**2)) * x


@mutating(V5)
def out_is_a_view(x):
    y = x.copy()
    np.add(y[:-1], y[1:], out=y[1:])
    np.sin(y[::2], out=y[::2])
    return y


@pure
def out_is_a_view_pure(x):
    y = np.concatenate([x[:1], x[:-1] + x[1:]])
    s = np.sin(y)
    return np.stack([s[0], y[1], s[2], y[3], s[4]])


@mutating(V5)
def out_and_result_are_one_array(x):
    y = np.zeros(5)
    z = np.square(x, out=y)
    z[0] = 2.0
    y[1] *= x[0]
    return z * x


@pure
def out_and_result_are_one_array_pure(x):
    y = x**2
    return np.concatenate([np.array([2.0]), y[1:2] * x[0], y[2:]]) * x


@mutating(M33, V3)
def out_of_product(m, v):
    r = np.zeros(3)
    np.dot(m, v, out=r)
    a = np.empty((3, 3))
    np.matmul(m, m, out=a)
    return a * r


@pure
def out_of_product_pure(m, v):
    return (m @ m) * (m @ v)


@mutating(M33)
def out_of_reduction(m):
    r = np.zeros(3)
    np.sum(m**2, axis=0, out=r)
    s = np.ones(3)
    m.mean(axis=1, out=s)
    r *= s
    return r


@pure
def out_of_reduction_pure(m):
    return np.sum(m**2, axis=0) * np.mean(m, axis=1)


@mutating(V5)
def out_of_clip(x):
    y = x * 1.5
    np.clip(y, -1.0, 1.2, out=y)
    np.maximum(y, -0.5, out=y)
    return y * x


@pure
def out_of_clip_pure(x):
    return np.clip(x * 1.5, -0.5, 1.2) * x


@mutating(V5)
def out_in_a_loop(x):
    y, t = x.copy(), np.empty(5)
    for _ in range(4):
        np.sin(y, out=t)
        t *= 0.5
        np.add(y, t, out=y)
    return y


@pure
def out_in_a_loop_pure(x):
    y = x
    for _ in range(4):
        y = y + 0.5 * np.sin(y)
    return y


# --- copyto, put, place and their like ------------------------------------------------------------------------------


@mutating(V5, W5)
def copyto(x, w):
    y = np.zeros(5)
    np.copyto(y, x * w)
    np.copyto(y[1:3], w[0])
    return y * x


@pure
def copyto_pure(x, w):
    p = x * w
    return np.stack([p[0], w[0], w[0], p[3], p[4]]) * x


@mutating(V5, W5)
def copyto_where(x, w):
    y = x**2
    np.copyto(y, w, where=x > 0.0)
    np.copyto(y, 0.5, where=x < -1.0)
    return y * x


@pure
def copyto_where_pure(x, w):
    return np.where(x < -1.0, 0.5, np.where(x > 0.0, w, x**2)) * x


@mutating(M33, V3)
def put(m, v):
    a = m.copy()
    np.put(a, [0, 5, -1], v**2)
    a.put([1, 1], v[:2])
    return a


@pure
def put_pure(m, v):
    w = v**2
    return np.stack([np.stack([w[0], v[1], m[0, 2]]), np.concatenate([m[1, :2], w[1:2]]), np.append(m[2, :2], w[2])])


@mutating(M33, V3)
def fill_diagonal(m, v):
    a = m.copy()
    np.fill_diagonal(a, v**2)
    b = m @ m
    np.fill_diagonal(b, v[0])
    return a @ b


@pure
def fill_diagonal_pure(m, v):
    off = 1.0 - np.eye(3)
    return (m * off + np.eye(3) * v**2) @ ((m @ m) * off + np.eye(3) * v[0])


@mutating(V5)
def fill(x):
    y = x**2
    s = np.sum(y)
    y.fill(s)
    y[1:3].fill(x[0])
    return y * x


@pure
def fill_pure(x):
    s = np.sum(x**2)
    return np.stack([s, x[0], x[0], s, s]) * x


@mutating(V5)
def sort(x):
    y = x**2
    y.sort()
    return y * np.arange(5.0)


@pure
def sort_pure(x):
    y = x**2
    return y[np.argsort(x**2)] * np.arange(5.0)


@mutating(M33)
def sort_along_axis(m):
    a = m.copy()
    a.sort(axis=0)
    a[1].sort()
    return a * np.arange(9.0).reshape(3, 3)


@pure
def sort_along_axis_pure(m):
    a = np.stack([m[:, k][np.argsort(m[:, k])] for k in range(3)], axis=1)
    return np.stack([a[0], a[1][np.argsort(a[1])], a[2]]) * np.arange(9.0).reshape(3, 3)


@mutating(V5, W5)
def putmask_and_place(x, w):
    y = x**2
    np.putmask(y, x > 0.0, w)
    np.place(y, x < 0.0, w[:2])
    return y * x


@pure
def putmask_and_place_pure(x, w):
    return np.stack([w[0], w[0], w[2], w[1], w[4]]) * x


@mutating(V5, W5)
def masks_of_integers(x, w):
    y = x**2
    np.place(y, 1 - (x > 0.0), w[:2])
    np.putmask(y, 2 * (x > 1.0), w)
    return y * x


@pure
def masks_of_integers_pure(x, w):
    return np.stack([x[0] ** 2, w[0], w[2], w[1], x[4] ** 2]) * x


@mutating(V5)
def add_at_of_the_array_itself(x):
    y = x**2
    before = np.sum(np.sin(y))
    np.add.at(y, [1, 2, 1, 0, 0], y)
    np.subtract.at(y, [3, 3], y[:2])
    return y * before


@pure
def add_at_of_the_array_itself_pure(x):
    y = x**2
    z = y + np.stack([y[3] + y[4], y[0] + y[2], y[1], 0.0 * y[0], 0.0 * y[0]])
    z = z - np.array([0.0, 0.0, 0.0, 1.0, 0.0]) * (z[0] + z[1])
    return z * np.sum(np.sin(y))


@mutating(V5, 0.8)
def add_at_a_constant_after_a_product(x, s):
    y = x.copy()
    table = np.outer(y, y) * s
    np.add.at(y, 1, 2.0)
    np.subtract.at(y, [0, 0], s)
    return table @ y


@pure
def add_at_a_constant_after_a_product_pure(x, s):
    moved = x + np.array([0.0, 2.0, 0.0, 0.0, 0.0]) - np.array([2.0, 0.0, 0.0, 0.0, 0.0]) * s
    return (np.outer(x, x) * s) @ moved


@mutating(M33, V3)
def put_along_axis(m, v):
    a = m.copy()
    np.put_along_axis(a, np.array([[2], [0], [1]]), (v**2)[:, None], axis=1)
    np.put_along_axis(a, np.array([[1]]), v[0], 0)
    return a * m


@pure
def put_along_axis_pure(m, v):
    at = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    a = np.where(at > 0.0, (v**2)[:, None], m)
    return np.where(np.arange(3)[:, None] == 1, v[0], a) * m


@mutating(V5)
def assigned_by_flat_index(x):
    y = x.reshape(1, 5) ** 2
    y.flat[2] = x[0]
    y.flat[3:] = x[1] * x[:2]
    return y


@pure
def assigned_by_flat_index_pure(x):
    return np.concatenate([x[:2] ** 2, x[:1], x[1] * x[:2]])[None]
