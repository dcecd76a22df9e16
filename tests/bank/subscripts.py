"""Reading by subscript: ints, slices, None, ..., integer arrays with repeats, masks, and mixtures."""

import numpy as np

from tests.bank.registry import M23, M33, T234, V3, V5, case


@case(V5)
def integers(v):
    return v[0] * v[-1] + v[2] ** 2 * v[2]


@case(M23)
def pair_of_integers(m):
    return m[0, 1] * m[-1, -2] + m[1, 2]


@case(M23)
def twice(m):
    return m[0][1] * m[1][2]


@case(M23)
def row_and_column(m):
    return np.sum(m[1] ** 2) + np.sum(m[:, 0] * m[:, 2])


@case(V5)
def slices(v):
    return np.sum(v[1:] * v[:-1]) + np.sum(v[1:4] ** 2) + np.sum(v[-2:]) + np.sum(v[:] ** 3)


@case(V5)
def stepped(v):
    return np.sum(v[::2] ** 2) + v[1::3] @ v[:2]


@case(V5)
def negative_step(v):
    return np.sum(v[::-1] * v) + np.sum(v[3:0:-1] * v[-3:]) + np.sum(v[::-2] ** 2)


@case(V5)
def empty_slice(v):
    return np.sum(v[3:1] * 2.0) + np.sum(v * v) + np.sum(v[10:])


@case(V5, 1, 4)
def slice_from_arguments(v, a, b):
    return np.sum(v[a:b] ** 2) * np.sum(v[:a])


@case(T234)
def slices_of_three(t):
    return np.sum(t[0, 1:, ::2] * t[1, :2, 1::2])


@case(T234)
def ellipsis(t):
    return np.sum(t[..., 0] * t[..., 3]) + np.sum(t[0, ...] ** 2) + np.sum(t[..., 1:, 2])


@case(V3)
def new_axis(v):
    return np.sum(v[:, None] * v[None, :] ** 2) + np.sum(v[np.newaxis] * 3.0)


@case(M23)
def new_axis_mixed(m):
    return np.sum(m[:, None, 1:] * m[None, :, :2]) + np.sum(m[..., None] ** 2)


@case(V5)
def index_array(v):
    return np.sum(v[np.array([3, 0, 1])] ** 2)


@case(V5)
def index_array_with_repeats(v):
    return np.sum(v[np.array([1, 1, 4, 1, 0])] * np.array([1.0, 2.0, 3.0, 4.0, 5.0]) * v)


@case(V5)
def index_list(v):
    return np.prod(v[[0, 2, -1]])


@case(V5, np.array([0, 2, 2, 4]))
def index_from_argument(v, index):
    return np.sum(np.sin(v[index]))


@case(M23)
def index_array_two_dimensional(m):
    return np.sum(m[np.array([[0, 1], [1, 1]])] ** 2)


@case(M33)
def two_index_arrays(m):
    return np.sum(m[np.array([0, 1, 0]), np.array([2, 2, 2])] ** 2)


@case(M33, np.array([2, 0, 1]))
def picked_per_row(m, labels):
    return -np.mean(m[np.arange(len(labels)), labels] ** 2)


@case(M33)
def index_array_and_slice(m):
    return np.sum(m[np.array([0, 0, 2]), 1:] ** 2) + np.sum(m[:, [1, 1]] ** 3)


@case(T234)
def index_array_and_integer(t):
    return np.sum(t[1, np.array([0, 2, 0]), 1:3] ** 2) + np.sum(t[np.array([0, 1]), 1, :])


@case(T234)
def index_arrays_apart(t):
    return np.sum(t[np.array([0, 1, 1]), :, np.array([3, 0, 0])] ** 2)


@case(V5)
def mask(v):
    return np.sum(v[v > 0] ** 2)


@case(M23)
def mask_of_matrix(m):
    return np.sum(m[m > 0.5] ** 2) + np.sum(m[np.array([True, False])] ** 3)


@case(M23, np.array([True, False, True]))
def mask_and_slice(m, keep):
    return np.sum(m[:, keep] ** 2) + np.sum(m[1, keep])


@case(V5, np.array([True, False, True, False, False]))
def mask_from_argument(v, keep):
    return np.sum(v[keep] * 2.0) * np.sum(v[~keep] ** 2)


@case(V5)
def mask_that_is_empty(v):
    return np.sum(v[v > 100.0] ** 2) + np.sum(v)


@case(M23)
def subscript_of_expression(m):
    return (m * m)[0, 1] + np.sin(m).T[2, 0] * (m + 1.0)[1:][0, 2]


@case(V5)
def view_of_view(v):
    return np.sum(v[1:][::2] ** 2) + v[::-1][1:3][0]


@case(V5)
def overlapping_slices(v):
    return np.sum((v[2:] - 2.0 * v[1:-1] + v[:-2]) ** 2)


@case(V3)
def read_many_times(v):
    a = v[0]
    return a * v[0] + v[0] * v[0] + a


@case(V5)
def loop_with_computed_index(v):
    total = 0.0
    for i in range(5):
        total += v[(2 * i) % 5] * v[-i - 1] ** 2
    return total


@case(V5)
def loop_with_index_from_data(v):
    i = 0
    total = 0.0
    for _ in range(6):
        total += v[i] ** 2
        i = i + 1 if v[i] > 0 else i - 1
    return total


@case(M33)
def diagonal_by_indices(m):
    i = np.arange(3)
    return np.prod(m[i, i]) + np.sum(m[np.triu_indices(3)])


@case(V5)
def index_by_numpy_integer(v):
    k = np.argmax(v)
    return v[k] ** 2 + v[np.int64(1)]


@case(np.array(1.3))
def zero_dimensional(x):
    return x[()] ** 2 + x[None][0]


@case(T234, (1, 0), slice(1, 3))
def index_objects(t, pair, part):
    return np.sum(t[pair] ** 2) + np.sum(t[:, :, part] ** 3)


@case(M23)
def sorted_by_argsort(m):
    order = np.argsort(m[0])
    return np.sum(m[0][order] * np.array([1.0, 2.0, 3.0])) + np.sum(m[:, order] ** 2)


@case(M23)
def elements_in_their_order(m):
    total = 1.0
    for value in m.T.flat:
        total = total * value + 1.0
    return total + m.flat[4] * np.sum(m.flat[1:3]) + sum(m.flat) * max([v**2 for v in m.flat])


@case(V3)
def store_through_a_mask_of_the_same_array(x):
    m = np.stack([x, x * 2.0])
    m[:, m[0] > 0.5] = m[:, m[0] > 0.5] ** 2
    a, b = m
    a += b
    return np.sum(m**2)


@case(V3, M23)
def new_dimensions_beside_parts(v, m):
    a = v[None, 1:2] * 2.0
    b = v[1:, None] + m[None, 0, 0]
    c = m[:, None, ::2] * v[None, None, :2]
    return np.sum(a) * v[0] + np.sum(b * b) + np.sum(c) + np.sum(m[None, ..., 1] * 3.0)


@case(M33)
def rows_of_a_list_kept_while_they_change(m):
    a, total = m.copy(), 0.0
    for k in range(3):
        w = a[[k, 0], :2]
        a[k] = a[k] * a[k]
        total = total + np.sum(w * w * w)
    return total + np.sum(a * a)
