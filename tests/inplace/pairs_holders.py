"""Arrays held in lists, tuples, dicts, attributes and closures, and changed through them."""

import numpy as np

from tests.inplace.pairs import M33, V3, V4, V5, W3, mutating, pure


@mutating(V3, W3)
def in_a_tuple(x, w):
    a = x.copy()
    pair = (a, w.copy())
    pair[0][0] = w[1]
    pair[1][:] = a * pair[1]
    return np.sum(a * pair[1])


@pure
def in_a_tuple_pure(x, w):
    a = np.concatenate([w[1:2], x[1:]])
    return np.sum(a * a * w)


@mutating(V3, W3)
def unpacked_from_a_tuple(x, w):
    state = (x.copy(), w.copy())
    u, v = state
    u += v
    v[0] = u[0] ** 2
    return np.sum(state[0] * state[1])


@pure
def unpacked_from_a_tuple_pure(x, w):
    u = x + w
    return np.sum(u * np.concatenate([u[:1] ** 2, w[1:]]))


@mutating(V3)
def list_of_rows_in_a_loop(x):
    rows = [x * 1.0, x**2, np.ones(3)]
    for k in range(1, 3):
        rows[k][:] = rows[k] * rows[k - 1]
        rows[k - 1][0] = 0.5
    return rows[0] + rows[1] * rows[2]


@pure
def list_of_rows_in_a_loop_pure(x):
    first = np.concatenate([np.array([0.5]), x[1:]])
    second = x**3
    return first + np.concatenate([np.array([0.5]), second[1:]]) * second


@mutating(V4)
def loop_over_a_list_of_arrays(x):
    a, b = x[:2].copy(), x[2:] * 2.0
    for part in [a, b]:
        part *= part[0]
        part[1] += 1.0
    return np.sum(a * b)


@pure
def loop_over_a_list_of_arrays_pure(x):
    a, b = x[:2] * x[0], 4.0 * x[2:] * x[2]
    return np.sum((a + np.array([0.0, 1.0])) * (b + np.array([0.0, 1.0])))


@mutating(V5, 0.8)
def changed_by_a_closure(x, s):
    u = x.copy()

    def relax(k):
        u[k] = s * u[k - 1] + u[k] ** 2

    for k in range(1, 4):
        relax(k)
    return u


@pure
def changed_by_a_closure_pure(x, s):
    b = s * x[0] + x[1] ** 2
    c = s * b + x[2] ** 2
    d = s * c + x[3] ** 2
    return np.stack([x[0], b, c, d, x[4]])


@mutating((V3, W3), {"m": M33})
def containers_as_arguments(pair, options):
    pair[0][1:] *= pair[1][0]
    options["m"][0] = pair[0]
    return options["m"] @ pair[1]


@pure
def containers_as_arguments_pure(pair, options):
    first = np.concatenate([pair[0][:1], pair[0][1:] * pair[1][0]])
    return np.stack([first, options["m"][1], options["m"][2]]) @ pair[1]


@mutating(V3)
def returned_in_a_tuple(x):
    y = x.copy()
    z = y
    y[0] = x[1] * x[2]
    w = y.copy()
    z *= 2.0
    return y, w


@pure
def returned_in_a_tuple_pure(x):
    w = np.concatenate([x[1:2] * x[2:], x[1:]])
    return w * 2.0, w


@mutating(V3)
def result_changed_after_it_was_read(x):
    y = x**2
    total = y.sum()
    y[1] = total * x[0]
    mean = y.mean()
    y[:] = 0.0
    return total * mean


@pure
def result_changed_after_it_was_read_pure(x):
    total = np.sum(x**2)
    return total * (x[0] ** 2 + total * x[0] + x[2] ** 2) / 3.0
