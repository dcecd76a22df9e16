"""Views: rows bound to names, views of views, transposes, reshapes, two names for one array, swapped buffers."""

import numpy as np

from tests.inplace.pairs import M23, M33, M45, T234, V3, V4, V5, V6, W5, mutating, pure


@mutating(M33)
def row_in_a_name(m):
    a = m.copy()
    row = a[1]
    row[:] = a[0] * row
    row *= 2.0
    return a


@pure
def row_in_a_name_pure(m):
    return np.stack([m[0], 2.0 * m[0] * m[1], m[2]])


@mutating(V5)
def read_through_the_view(x):
    y = x.copy()
    inner = y[1:4]
    y[2] = x[0] ** 2
    inner[0] = inner[1] * x[4]
    return np.sum(inner**2) + y[1] * y[2]


@pure
def read_through_the_view_pure(x):
    b = x[0] ** 2
    a = b * x[4]
    return a**2 + b**2 + x[3] ** 2 + a * b


@mutating(V6)
def view_of_a_view(x):
    y = x.copy()
    odd = y[1::2]
    last = odd[1:]
    back = last[::-1]
    back[0] = y[0] * 3.0
    last += 1.0
    odd *= y[:3]
    return y


@pure
def view_of_a_view_pure(x):
    odd = np.stack([x[1], x[3] + 1.0, 3.0 * x[0] + 1.0])
    return np.stack([x[0], odd[0] * x[0], x[2], odd[1] * x[1], x[4], odd[2] * x[2]])


@mutating(M23)
def transposed(m):
    a = m.copy()
    t = a.T
    t[0] = a[0, :2] * 2.0
    t[2, 1] *= a[1, 0]
    return a


@pure
def transposed_pure(m):
    first = 2.0 * m[0, :2]
    return np.stack([np.concatenate([first[:1], m[0, 1:]]), np.stack([first[1], m[1, 1], m[1, 2] * first[1]])])


@mutating(T234)
def axes_swapped(t):
    a = t.copy()
    b = a.swapaxes(0, 2)
    b[0] = b[1] * 2.0
    c = np.transpose(a, (1, 0, 2))
    c[1] += c[0]
    d = np.moveaxis(a, -1, 0)
    d[3] *= d[2]
    return a


@pure
def axes_swapped_pure(t):
    a = np.concatenate([2.0 * t[:, :, 1:2], t[:, :, 1:]], axis=2)
    a = np.stack([a[:, 0], a[:, 1] + a[:, 0], a[:, 2]], axis=1)
    return np.concatenate([a[:, :, :3], a[:, :, 3:] * a[:, :, 2:3]], axis=2)


@mutating(V6)
def reshaped(x):
    y = x * 1.0
    a = y.reshape(2, 3)
    a[1] = a[0] * a[1]
    b = a.ravel()
    b[0] = 7.0 * b[5]
    return np.sum(y**2)


@pure
def reshaped_pure(x):
    p = x[:3] * x[3:]
    return (7.0 * p[2]) ** 2 + np.sum(x[1:3] ** 2) + np.sum(p**2)


@mutating(M23)
def ravel_of_a_transpose_is_a_copy(m):
    a = m.copy()
    flat = a.T.ravel()
    flat[0] = 100.0 * m[1, 1]
    a[0, 0] *= 2.0
    return np.sum(a**2) + flat[0] * flat[1]


@pure
def ravel_of_a_transpose_is_a_copy_pure(m):
    return np.sum(m**2) + 3.0 * m[0, 0] ** 2 + 100.0 * m[1, 1] * m[1, 0]


@mutating(M33)
def diagonal_read_later(m):
    a = m.copy()
    d = a.diagonal()
    a[1, 1] = m[0, 2] * m[2, 0]
    return np.sum(d**2) + np.trace(a)


@pure
def diagonal_read_later_pure(m):
    p = m[0, 2] * m[2, 0]
    return m[0, 0] ** 2 + p**2 + m[2, 2] ** 2 + m[0, 0] + p + m[2, 2]


@mutating(V5)
def two_names(x):
    a = x.copy()
    b = a
    b[0] = x[1] ** 2
    a[1] = b[0] * b[2]
    return np.sum(a * x) + np.sum(b)


@pure
def two_names_pure(x):
    first = x[1] ** 2
    y = np.concatenate([np.stack([first, first * x[2]]), x[2:]])
    return np.sum(y * x) + np.sum(y)


@mutating(V5)
def augmented_under_two_names(x):
    a = x * 2.0
    b = a
    a *= x
    b += 1.0
    a = a * 3.0
    b[0] = 0.0
    return np.sum(a * b)


@pure
def augmented_under_two_names_pure(x):
    y = 2.0 * x**2 + 1.0
    return np.sum(3.0 * y[1:] ** 2)


@mutating(V5)
def rebound_name_leaves_the_other(x):
    a = x.copy()
    b = a
    a = a + 1.0
    a[0] = b[1] ** 2
    b[0] = a[2]
    return np.sum(a * b)


@pure
def rebound_name_leaves_the_other_pure(x):
    a = np.concatenate([x[1:2] ** 2, x[1:] + 1.0])
    return np.sum(a * np.concatenate([x[2:3] + 1.0, x[1:]]))


@mutating(V5, 5)
@mutating(V5, 4)
@mutating(V5, 0)
def swapped_buffers(x, steps):
    u, v = x.copy(), np.zeros(5)
    for _ in range(steps):
        v[1:-1] = 0.5 * (u[2:] + u[:-2]) * u[1:-1]
        v[0] = u[0]
        u, v = v, u
    return u


@pure
def swapped_buffers_pure(x, steps):
    u, v = x, np.zeros(5)
    for _ in range(steps):
        new = np.concatenate([u[:1], 0.5 * (u[2:] + u[:-2]) * u[1:-1], v[-1:]])
        u, v = new, u
    return u


@mutating(V5, 4)
def rotated_buffers(x, steps):
    a, b, c = x.copy(), x**2, np.zeros(5)
    for _ in range(steps):
        c[1:-1] = 2.0 * b[1:-1] - a[1:-1] + 0.2 * (b[2:] - 2.0 * b[1:-1] + b[:-2])
        a, b, c = b, c, a
    return np.sum(a * b) + np.sum(c)


@pure
def rotated_buffers_pure(x, steps):
    a, b, c = x, x**2, np.zeros(5)
    for _ in range(steps):
        inner = 2.0 * b[1:-1] - a[1:-1] + 0.2 * (b[2:] - 2.0 * b[1:-1] + b[:-2])
        a, b, c = b, np.concatenate([c[:1], inner, c[-1:]]), a
    return np.sum(a * b) + np.sum(c)


@mutating(M45)
def views_made_in_a_loop(m):
    a = m.copy()
    for i in range(1, 4):
        above, row = a[i - 1], a[i]
        row += 0.5 * above
        row[1:] *= row[:-1]
    return a


@pure
def views_made_in_a_loop_pure(m):
    rows = m
    for i in range(1, 4):
        row = m[i] + 0.5 * rows[i - 1]
        rows = np.where(np.eye(4)[i][:, None] > 0.0, np.concatenate([row[:1], row[1:] * row[:-1]]), rows)
    return rows


@mutating(M45)
def loop_over_rows(m):
    a = m.copy()
    for k, row in enumerate(a):
        row *= k + 1.0
        row[0] = row[1] * row[2]
    return a


@pure
def loop_over_rows_pure(m):
    rows = m * np.arange(1.0, 5.0)[:, None]
    return np.concatenate([(rows[:, 1] * rows[:, 2])[:, None], rows[:, 1:]], axis=1)


@mutating(M33, V3)
def view_over_a_loop(m, v):
    a = m.copy()
    last = a[-1]
    for k in range(2):
        last += a[k] * v
        a[k] = last
    return a


@pure
def view_over_a_loop_pure(m, v):
    first = m[2] + m[0] * v
    second = first + m[1] * v
    return np.stack([first, second, second])


@mutating(V5, W5)
def overlapping_stencil(u, w):
    u = u * 1.0
    u[1:-1] = u[2:] + u[:-2]
    u[1:] += w[1:] * u[:-1]
    u[:-1] -= u[1:] ** 2
    return u


@pure
def overlapping_stencil_pure(u, w):
    u = np.concatenate([u[:1], u[2:] + u[:-2], u[-1:]])
    u = np.concatenate([u[:1], u[1:] + w[1:] * u[:-1]])
    return np.concatenate([u[:-1] - u[1:] ** 2, u[-1:]])


@mutating(V6)
def reversed_onto_itself(x):
    y = x.copy()
    y[:] = y[::-1] * y
    y[1:] = y[:-1]
    return y * np.arange(6.0)


@pure
def reversed_onto_itself_pure(x):
    y = x[::-1] * x
    return np.concatenate([y[:1], y[:-1]]) * np.arange(6.0)


@mutating(M33)
def transpose_onto_itself(m):
    a = m.copy()
    a += a.T
    a[:] = a.T @ a
    return a


@pure
def transpose_onto_itself_pure(m):
    s = m + m.T
    return s @ s


@mutating(V4)
def rows_unpacked(x):
    a = np.outer(x[:2], x)
    top, bottom = a
    top[0] = bottom[1]
    bottom *= top
    return a


@pure
def rows_unpacked_pure(x):
    a = np.outer(x[:2], x)
    top = np.concatenate([a[1, 1:2], a[0, 1:]])
    return np.stack([top, a[1] * top])


@mutating(V5)
def copies_are_not_views(x):
    a = x.copy()
    b = a[[0, 1, 2]]
    c = a + 0.0
    d = np.array(a)
    a[:3] = 5.0
    b[0] *= 3.0
    return np.sum(a**2) + np.sum(b * c[:3]) + np.sum(d**3)


@pure
def copies_are_not_views_pure(x):
    return 75.0 + np.sum(x[3:] ** 2) + np.sum(x[:3] ** 2) + 2.0 * x[0] ** 2 + np.sum(x**3)


@mutating(V5)
def asarray_is_the_same_array(x):
    a = x * 1.0
    b = np.asarray(a)
    c = np.atleast_1d(b)
    b[0] = x[1] * x[2]
    c[1] *= 2.0
    return np.sum(a**2 * x)


@pure
def asarray_is_the_same_array_pure(x):
    return (x[1] * x[2]) ** 2 * x[0] + 4.0 * x[1] ** 3 + np.sum(x[2:] ** 3)


@mutating(M23)
def extra_axes(m):
    a = m.copy()
    b = a[:, None, :]
    b[1, 0] = m[0] * 2.0
    c = np.expand_dims(a, 0)
    c[0, 0, 0] *= 3.0
    d = np.squeeze(c)
    d[0, 1] = d[0, 0] * d[1, 2]
    return a


@pure
def extra_axes_pure(m):
    first = 3.0 * m[0, 0]
    return np.stack([np.stack([first, first * 2.0 * m[0, 2], m[0, 2]]), 2.0 * m[0]])


@mutating(V5)
def flipped(x):
    y = x.copy()
    z = np.flip(y)
    z[0] = x[0] * x[1]
    z[1:3] += y[:2]
    return y


@pure
def flipped_pure(x):
    return np.stack([x[0], x[1], x[2] + x[1], x[3] + x[0], x[0] * x[1]])


@mutating(V5)
def element_is_no_view(x):
    y = x.copy()
    first = y[0]
    y[0] = x[1] ** 2
    first *= 3.0
    return first * y[0] + y[2]


@pure
def element_is_no_view_pure(x):
    return 3.0 * x[0] * x[1] ** 2 + x[2]


@mutating(M33)
def rows_exchanged_without_copies(m):
    a = m.copy()
    a[0], a[1] = a[1], a[0]
    return a * m


@pure
def rows_exchanged_without_copies_pure(m):
    return np.stack([m[1], m[1], m[2]]) * m


@mutating(V5)
def store_into_a_copy_is_lost(x):
    y = x.copy()
    y[[0, 1]][0] = x[2]
    y[y > 0.0][0] = 7.0
    y[1:3][0] = x[3]
    return y**2


@pure
def store_into_a_copy_is_lost_pure(x):
    return np.stack([x[0], x[3], x[2], x[3], x[4]]) ** 2


@mutating(V5)
def store_through_a_view_of_a_view(x):
    y = x.copy()
    back = y[1:]
    last = back[1:]
    last[0] = 0.5
    return y


@pure
def store_through_a_view_of_a_view_pure(x):
    return np.concatenate([x[:2], np.array([0.5]), x[3:]])


@mutating(T234)
def store_through_a_chain_of_views(t):
    a = t.copy()
    plane = a[1]
    right = plane[:, 1:]
    turned = right.T
    turned[0] += a[0, :, 0]
    right[0] = turned[:, 1]
    return a


@pure
def store_through_a_chain_of_views_pure(t):
    first = np.concatenate([t[1, :, 1:2] + t[0, :, :1], t[1, :, 2:]], axis=1)
    right = np.concatenate([first[1:2], first[1:]])
    return np.stack([t[0], np.concatenate([t[1, :, :1], right], axis=1)])


@mutating(T234)
def rows_of_a_reshaped_array(t):
    a = t.copy()
    b = a.reshape(6, 4)
    even = b[::2]
    even *= b[1::2]
    flat = a.reshape(2, 12).T
    flat[0] = flat[1] ** 2
    return a


@pure
def rows_of_a_reshaped_array_pure(t):
    b = t.reshape(6, 4)
    c = np.stack([b[::2] * b[1::2], b[1::2]], axis=1).reshape(2, 12)
    return np.concatenate([c[:, 1:2] ** 2, c[:, 1:]], axis=1).reshape(2, 3, 4)


@mutating(M33)
def flat_items(m):
    a = m.copy()
    a.flat[4] = a[0, 0] * a[2, 1]
    a.flat[::4] += m[0]
    a.T.flat[[1, 2]] *= m[2, 2]
    return a


@pure
def flat_items_pure(m):
    middle = np.stack([m[1, 0], m[0, 0] * m[2, 1], m[1, 2]])
    a = np.stack([m[0], middle, m[2]]) + np.eye(3) * m[0]
    return np.concatenate([np.concatenate([a[:1, :1], a[1:, :1] * m[2, 2]]), a[:, 1:]], axis=1)


@mutating(V6)
def split_parts_are_views(x):
    y = x**2
    left, right = np.split(y, 2)
    left[0] = right[2] * x[0]
    right += left
    return y


@pure
def split_parts_are_views_pure(x):
    y = x**2
    left = np.concatenate([y[5:] * x[0], y[1:3]])
    return np.concatenate([left, y[3:] + left])


@mutating(V6, 2)
@mutating(V6, 0)
def parts_of_a_matrix_in_a_loop(x, n):
    y = (x**2).reshape(2, 3)
    first, second, third = np.hsplit(y, 3)
    for _ in range(n):
        first[:] = second * third
        third[0] *= first[1]
        for part in np.vsplit(y, 2):
            part -= 0.1 * part[:, :1]
    return y


@pure
def parts_of_a_matrix_in_a_loop_pure(x, n):
    y = (x**2).reshape(2, 3)
    for _ in range(n):
        y = np.concatenate([y[:, 1:2] * y[:, 2:], y[:, 1:]], axis=1)
        last = np.stack([y[0, 2] * y[1, 0], y[1, 2]])[:, None]
        y = np.concatenate([y[:, :2], last], axis=1)
        y = y - 0.1 * y[:, :1]
    return y
