"""Stores through integer arrays, with repeats, through masks, and through tuples of these and of slices."""

import numpy as np

from tests.inplace.pairs import M23, M33, T234, V3, V4, V5, W3, W5, mutating, pure

# --- integer arrays -------------------------------------------------------------------------------------------------


@mutating(V5, W3)
def at_integers(x, w):
    y = x.copy()
    y[np.array([4, 0, 2])] = w**2
    return y * x


@pure
def at_integers_pure(x, w):
    v = w**2
    return np.stack([v[1], x[1], v[2], x[3], v[0]]) * x


@mutating(V5, np.array([1, 3, 1, 1]), V4)
def at_repeats_the_last_one_is_kept(x, k, v):
    y = x.copy()
    y[k] = v**2
    return y * np.arange(1.0, 6.0)


@pure
def at_repeats_the_last_one_is_kept_pure(x, k, v):
    return np.stack([x[0], v[3] ** 2, x[2], v[1] ** 2, x[4]]) * np.arange(1.0, 6.0)


@mutating(V5, np.array([1, 3, 1, 1]), V4)
def at_repeats_addition_is_buffered(x, k, v):
    y = x**2
    y[k] += v
    return y * x


@pure
def at_repeats_addition_is_buffered_pure(x, k, v):
    y = x**2
    return np.stack([y[0], y[1] + v[3], y[2], y[3] + v[1], y[4]]) * x


@mutating(V5, np.array([2, 0, 2]), W3)
def at_repeats_product_is_buffered(x, k, v):
    y = x**2
    y[k] *= v
    return y * x


@pure
def at_repeats_product_is_buffered_pure(x, k, v):
    y = x**2
    return np.stack([y[0] * v[1], y[1], y[2] * v[2], y[3], y[4]]) * x


@mutating(V5, np.array([2, 0, 2]), W3)
def at_repeats_quotient_is_buffered(x, k, v):
    y = x**2
    y[k] /= 1.0 + v**2
    return y


@pure
def at_repeats_quotient_is_buffered_pure(x, k, v):
    y, d = x**2, 1.0 + v**2
    return np.stack([y[0] / d[1], y[1], y[2] / d[2], y[3], y[4]])


@mutating(V5)
def at_repeats_of_negative_indices(x):
    y = x.copy()
    y[[-1, 4, 0]] = x[:3] * x[2:]
    return y**2


@pure
def at_repeats_of_negative_indices_pure(x):
    p = x[:3] * x[2:]
    return np.concatenate([p[2:], x[1:4], p[1:2]]) ** 2


@mutating(V5, 0.8)
def at_integers_a_scalar(x, s):
    y = x.copy()
    y[[1, 1, 3]] = s * x[1]
    y[[0, 0]] += s
    return np.sum(y**2)


@pure
def at_integers_a_scalar_pure(x, s):
    return (x[0] + s) ** 2 + 2.0 * (s * x[1]) ** 2 + x[2] ** 2 + x[4] ** 2


@mutating(V5)
def at_permutation_of_itself(x):
    y = x**2
    y[[3, 0, 4, 1, 2]] = y * np.arange(5.0)
    return y


@pure
def at_permutation_of_itself_pure(x):
    return (x**2 * np.arange(5.0))[[1, 3, 4, 0, 2]]


@mutating(M33, V3)
def at_rows_of_matrix(m, v):
    a = m.copy()
    a[[2, 0]] = v
    a[[1, 1]] += a[[0, 2]] * 2.0
    return a * m


@pure
def at_rows_of_matrix_pure(m, v):
    return np.stack([v, m[1] + 2.0 * v, v]) * m


@mutating(M33, V3)
def at_pairs_of_integers(m, v):
    a = m.copy()
    a[np.array([0, 1, 0]), np.array([2, 1, 2])] = v**2
    i = np.arange(3)
    a[i, i] *= v
    return a


@pure
def at_pairs_of_integers_pure(m, v):
    first = np.stack([m[0, 0] * v[0], m[0, 1], v[2] ** 2])
    second = np.stack([m[1, 0], v[1] ** 3, m[1, 2]])
    return np.stack([first, second, np.stack([m[2, 0], m[2, 1], m[2, 2] * v[2]])])


@mutating(V4)
def at_integers_of_two_dimensions(x):
    y = np.zeros(6)
    y[np.array([[0, 2], [5, 2]])] = x.reshape(2, 2) ** 2
    return y * np.arange(1.0, 7.0)


@pure
def at_integers_of_two_dimensions_pure(x):
    return x[0] ** 2 * np.eye(6)[0] + 3.0 * x[3] ** 2 * np.eye(6)[2] + 6.0 * x[2] ** 2 * np.eye(6)[5]


@mutating(V5)
def at_integers_found_in_data(x):
    order = np.argsort(x)
    y = np.zeros(5)
    y[order] = np.cumsum(x[order] ** 2)
    return y * x


@pure
def at_integers_found_in_data_pure(x):
    order = np.argsort(x)
    return np.cumsum(x[order] ** 2)[np.argsort(order)] * x


@mutating(V5, W5)
def at_integers_in_a_loop(x, w):
    y = x.copy()
    for k in range(3):
        index = np.array([k, k + 2, k])
        y[index] = y[index] * w[k : k + 3] + 0.1
    return np.sum(y * w)


@pure
def at_integers_in_a_loop_pure(x, w):
    y = x
    for k in range(3):
        first, last = y[k] * w[k + 2] + 0.1, y[k + 2] * w[k + 1] + 0.1
        y = np.where(np.arange(5) == k, first, np.where(np.arange(5) == k + 2, last, y))
    return np.sum(y * w)


# --- masks ----------------------------------------------------------------------------------------------------------


@mutating(V5)
def at_mask(x):
    y = x.copy()
    y[y < 0.0] = 0.1
    y[x > 1.0] *= x[2]
    return y**2


@pure
def at_mask_pure(x):
    y = np.where(x < 0.0, 0.1, x)
    return np.where(x > 1.0, y * x[2], y) ** 2


@mutating(V5, W3)
def at_mask_an_array(x, w):
    y = x**2
    y[x > 0.0] = w
    y[x < 0.0] -= w[:2] * x[:2]
    return y * x


@pure
def at_mask_an_array_pure(x, w):
    y = x**2
    return np.stack([w[0], y[1] - w[0] * x[0], w[1], y[3] - w[1] * x[1], w[2]]) * x


@mutating(V5)
def at_mask_from_itself(x):
    y = x.copy()
    low = y < 0.5
    y[low] = y[low] ** 3 + y[~low].sum()
    return y


@pure
def at_mask_from_itself_pure(x):
    low = x < 0.5
    return np.where(low, x**3 + np.sum(np.where(low, 0.0, x)), x)


@mutating(V5)
def at_mask_that_is_empty(x):
    y = x**2
    y[x > 100.0] = x[x > 100.0] * 3.0
    y[x > 100.0] += 1.0
    return y


@pure
def at_mask_that_is_empty_pure(x):
    return x**2


@mutating(M33, V3)
def at_mask_of_matrix(m, v):
    a = m.copy()
    a[a > 1.0] = v[2] ** 2
    a[np.array([True, False, True])] *= v
    return a


@pure
def at_mask_of_matrix_pure(m, v):
    a = np.where(m > 1.0, v[2] ** 2, m)
    return np.stack([a[0] * v, a[1], a[2] * v])


@mutating(V5)
def at_mask_that_the_store_changes(x):
    y = x.copy()
    keep = y > 0.0
    y[keep] = -y[keep] ** 2
    y[keep] *= 3.0
    return np.sum(y * x)


@pure
def at_mask_that_the_store_changes_pure(x):
    return np.sum(np.where(x > 0.0, -3.0 * x**2, x) * x)


# --- tuples of these ------------------------------------------------------------------------------------------------


@mutating(M33, V3)
def at_slice_and_mask(m, v):
    a = m.copy()
    a[1:, np.array([True, False, True])] = v[:2] * 2.0
    a[a[:, 0] > 1.5, 1] = v[2]
    return a


@pure
def at_slice_and_mask_pure(m, v):
    first = np.stack([m[0, 0], v[2], m[0, 2]])
    return np.stack(
        [first, np.stack([2.0 * v[0], m[1, 1], 2.0 * v[1]]), np.stack([2.0 * v[0], m[2, 1], 2.0 * v[1]])]
    )


@mutating(T234)
def at_integers_and_slices(t):
    a = t.copy()
    a[:, [2, 0], 1:3] = a[:, [0, 1], :2] * 2.0
    a[1, [0, 0, 2], -1] += a[0, :, 0]
    return a


@pure
def at_integers_and_slices_pure(t):
    middle = np.stack([2.0 * t[:, 1, :2], t[:, 1, 1:3], 2.0 * t[:, 0, :2]], axis=1)
    a = np.concatenate([t[:, :, :1], middle, t[:, :, 3:]], axis=2)
    more = np.zeros((2, 3, 4))
    first, last = more.copy(), more.copy()
    first[1, 0, 3], last[1, 2, 3] = 1.0, 1.0
    return a + first * a[0, 1, 0] + last * a[0, 2, 0]


@mutating(T234)
def at_integers_apart(t):
    a = t**2
    a[[0, 1, 0], :, [3, 0, 3]] = t[0, :, :3].T
    return np.sum(a * t)


@pure
def at_integers_apart_pure(t):
    kept = np.ones((2, 3, 4))
    kept[0, :, 3] = kept[1, :, 0] = 0.0
    return np.sum(kept * t**3) + np.sum(t[0, :, 2] * t[0, :, 3]) + np.sum(t[0, :, 1] * t[1, :, 0])


@mutating(M23, V3)
def at_tuple_in_a_name(m, v):
    a = m.copy()
    place = (slice(None), 1)
    other = (1, slice(0, 3, 2))
    a[place] = v[:2]
    a[other] *= v[1:]
    return a


@pure
def at_tuple_in_a_name_pure(m, v):
    return np.stack([np.stack([m[0, 0], v[0], m[0, 2]]), np.stack([m[1, 0] * v[1], v[1], m[1, 2] * v[2]])])


@mutating(M33, V3)
def at_open_mesh(m, v):
    a = m.copy()
    a[np.ix_([0, 2], [1, 2])] = np.outer(v[:2], v[1:])
    return a


@pure
def at_open_mesh_pure(m, v):
    p = np.outer(v[:2], v[1:])
    return np.stack([np.concatenate([m[0, :1], p[0]]), m[1], np.concatenate([m[2, :1], p[1]])])


@mutating(M33)
def at_triangle(m):
    a = m**2
    a[np.tril_indices(3, -1)] = 0.0
    a[np.triu_indices(3, 1)] *= 2.0
    return a @ a


@pure
def at_triangle_pure(m):
    a = m**2 * (2.0 * np.triu(np.ones((3, 3)), 1) + np.eye(3))
    return a @ a
