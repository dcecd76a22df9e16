"""What is a view, what is a copy, and in which order stores and effects happen."""

import numpy as np

from tests.inplace.pairs import M23, M33, M45, V3, V5, V6, program


@program(np.asfortranarray(M23), V3)
def f_order_reshape(m, v):
    a = m * 1.0
    b = a.reshape(-1)
    b[0] = v[0]
    return np.sum(a ** 2) + b[0] * b[1]


@program(M23, V3)
def c_order_reshape(m, v):
    a = m * 1.0
    b = a.reshape(-1)
    b[0] = v[0]
    return np.sum(a ** 2) + b[0] * b[1]


@program(np.asfortranarray(M23), V3)
def f_order_reshape_t(m, v):
    a = m * 1.0
    b = a.T.reshape(-1)
    b[0] = v[0] * b[3]
    b *= 2.0
    return a * np.arange(6.0).reshape(2, 3)


@program(M23, V3)
def copy_of_transpose_ravel(m, v):
    a = np.copy(m.T)
    b = a.T.ravel()
    b[0] = v[0] * b[3]
    return a * np.arange(6.0).reshape(3, 2)


@program(M45.T, V3)
def strided_argument(m, v):
    a = np.array(m)
    b = np.ravel(a)
    b[1] *= v[0]
    return np.sum(a * a) + b[1]


@program(np.arange(12.0)[::2] * 0.3 + 0.1)
def strided_vector(x):
    y = x
    y = y.reshape(2, 3)
    z = y * 1.0
    w = z.ravel()
    w[0] = w[1] * w[2]
    return z


@program(M23.T)
def argument_reshaped_then_changed(m):
    b = m.reshape(-1)
    b[0] = b[1] * b[2]
    return np.sum(m ** 2) + b[0]


@program(M23)
def argument_reshaped_then_changed_c(m):
    b = m.reshape(-1)
    b[0] = b[1] * b[2]
    return np.sum(m ** 2) + b[0]


@program(V5)
def store_into_copy(x):
    y = x.copy()
    y[[0, 1]][0] = x[2]
    y[y > 0][0] = 7.0
    y[1:3][0] = x[3]
    return y ** 2


@program(M33)
def rows_swapped_by_views(m):
    a = m.copy()
    a[0], a[1] = (a[1], a[0])
    return a * m


@program(M33)
def rows_swapped_by_copies(m):
    a = m.copy()
    a[0], a[1] = (a[1].copy(), a[0].copy())
    a[[1, 2]] = a[[2, 1]]
    return a * m


@program(V5)
def chained_stores(x):
    y = x.copy()
    z = x ** 2
    y[0] = z[1] = x[2] * x[3]
    y[1:3] = z[3:] = z[0]
    return y * z


@program(V5)
def comprehension_with_effects(x):
    y = x.copy()

    def bump(k):
        y[k] *= y[k - 1]
        return y[k] + 1.0
    vals = [bump(k) for k in range(4)]
    return np.sum(np.array(vals)) + np.sum(y ** 2)


@program(V5, True)
@program(V5, False)
def effects_in_conditional_expression(x, c):
    y = x.copy()

    def bump(k):
        y[k] *= y[k - 1]
        return y[k] + 1.0
    s = bump(1) if c else 2.0
    t = c and bump(2)
    u = y[0] > 0 or bump(3) > 0
    return s * (t or 1.0) + np.sum(y ** 2)


@program(V5)
def evaluation_order(x):
    y = x.copy()

    def bump():
        y[0] = y[0] * 2.0 + y[1]
        return y[0]
    return y[0] + bump() * y[0] + np.sum(y + bump() * y)


@program(M33)
def einsum_view(m):
    a = m.copy()
    d = np.einsum('ii->i', a)
    d[0] = m[0, 1]
    return a ** 2


@program(M33)
def diag_read_later(m):
    a = m.copy()
    d = np.diag(a)
    a[0, 0] = m[0, 1] ** 2
    a[1] *= 2.0
    return d ** 2 + a[0]


@program(V3)
def real_is_view(x):
    y = x.copy()
    r = y.real
    r[0] = x[1] ** 2
    s = np.real(y)
    s[1] *= 3.0
    return y ** 2


@program(V3)
def astype_nocopy(x):
    y = x.copy()
    z = y.astype(float, copy=False)
    z[0] = x[1] ** 2
    w = y.astype(float)
    w[1] = 9.0
    return y ** 2 + w


@program(V3)
def asarray_family(x):
    y = x.copy()
    for g in (np.asarray, np.asanyarray, np.ascontiguousarray, np.atleast_1d):
        z = g(y)
        z[0] *= 1.5
        z[1] += z[0]
    return y ** 2


@program(V3)
def array_copy_none(x):
    y = x.copy()
    z = np.array(y, copy=None)
    z[0] = x[1] ** 2
    w = np.array(y)
    w[1] = 0.0
    return y ** 2 + w


@program(V6)
def array_split(x):
    y = x.copy()
    parts = np.array_split(y, 3)
    parts[1][0] = x[0] ** 2
    return y ** 2


@program(V5)
def ufunc_where(x):
    y = x.copy()
    np.multiply(y, 3.0, out=y, where=x > 0)
    np.add(y, x[0], where=np.array([True, False, True, False, True]), out=y)
    return y ** 2


@program(V5)
def dynamic_slices(x):
    y = x.copy()
    for i in range(3):
        sl = slice(i, i + 2)
        y[sl] += y[sl] * y[i + 2]
        y[i:i + 2] *= 0.5
    return y


@program(V5)
def zip_rows(x):
    a = np.outer(x, x[:2])
    b = np.zeros((5, 2))
    for r, s in zip(a, b):
        s[:] = r * r[0]
        r[0] = 0.3
    return a + b


@program(V3)
def walrus_store(x):
    (y := x.copy())[0] = x[1]
    if (z := y)[0] < 0:
        z[2] *= 2.0
    return y


@program(V3)
def lambda_effect(x):
    y = x.copy()
    g = lambda s: np.copyto(y, y * s)
    g(x[0])
    g(2.0)
    return y


@program(V3)
def tuple_target(x):
    y = np.zeros(3)
    z = x.copy()
    y[0], (z[1], y[2]) = (x[1] ** 2, (x[0], x[0] * x[1]))
    return y * z


@program(V3)
def loop_target(x):
    y = x.copy()
    t = 0.0
    for y[0] in (x[1], x[2] ** 2):
        t += y[0] * y[1]
    return y * t


@program(V3)
def star_target(x):
    y = np.zeros(2)
    y[0], *rest, y[1] = x
    return np.sum(y ** 2) + rest[0]


@program(V3)
def int_array_full(x):
    y = np.full(3, 1)
    y[1] = 5
    return np.sum(y * x)


@program(V3)
def bool_array(x):
    y = np.zeros(3, dtype=bool)
    y[0] = x[0] > 0
    y[1:] |= x[1:] > 0
    return np.sum(np.where(y, x ** 2, x))


@program(V5)
def passive_indices_changed(x):
    k = np.arange(5)
    k[0] = 3
    k[1:3] += 1
    return np.sum(x[k] ** 2 * np.arange(5.0))


@program(V5)
def passive_counter_buffer(x):
    counts = np.zeros(3, dtype=int)
    y = np.zeros(3)
    for v in x:
        b = 0 if v < 0 else 1 if v < 1 else 2
        counts[b] += 1
        y[b] += v * counts[b]
    return y / np.maximum(counts, 1)


@program(V5)
def swap_in_tuple_state(x):
    s = (x.copy(), np.zeros(5))
    for i in range(3):
        s[1][1:] = s[0][:-1] * x[i]
        s = (s[1], s[0])
    return s[0] + 2.0 * s[1]


@program(V5)
def list_swap(x):
    bufs = [x.copy(), np.zeros(5)]
    for i in range(4):
        bufs[(i + 1) % 2][1:] = bufs[i % 2][:-1] * x[i]
    return bufs[0] + 2.0 * bufs[1]


@program(V5)
def shuffle_by_roll(x):
    y = x.copy()
    y[:] = np.roll(y, 1)
    y[1:], y[:-1] = (y[:-1] * 2.0, y[1:] * 3.0)
    return y


@program(V5)
def view_returned_after_a_store_into_its_base(x):
    y = x.copy()
    v = y[1:4]
    y[1] = x[0] ** 2
    return v


@program(M33)
def base_returned_after_a_store_into_its_view(m):
    a = m * 1.0
    b = a.T[0]
    b *= 2.0
    return a
