"""Elements, slices, broadcasting, augmented operators, stores into arrays just made."""

import numpy as np

from tests.inplace.pairs import M23, M33, T234, V3, V4, V5, V6, W3, W5, mutating, pure

# --- elements -------------------------------------------------------------------------------------------------------


@mutating(V3)
def element(x):
    y = x.copy()
    y[0] = x[1] * x[2]
    return np.sum(y**2)


@pure
def element_pure(x):
    return np.sum(np.array([x[1] * x[2], x[1], x[2]]) ** 2)


@mutating(V5)
def element_negative(x):
    y = x.copy()
    y[-1] = np.sin(y[-2])
    y[-5] = y[-1] * y[1]
    return np.sum(y**3)


@pure
def element_negative_pure(x):
    last = np.sin(x[3])
    return np.sum(np.array([last * x[1], x[1], x[2], x[3], last]) ** 3)


@mutating(V5, 3)
def element_at_argument(x, k):
    y = x * 2.0
    y[k] = x[k - 1] ** 2
    return y


@pure
def element_at_argument_pure(x, k):
    return np.where(np.arange(5) == k, x[k - 1] ** 2, x * 2.0)


@mutating(M33)
def element_of_matrix(m):
    a = m.copy()
    a[1, 2] = a[0, 0] * a[2, 2]
    a[-1, 0] = np.exp(a[1, 2])
    return a


@pure
def element_of_matrix_pure(m):
    first = m[0, 0] * m[2, 2]
    return np.stack(
        [m[0], np.stack([m[1, 0], m[1, 1], first]), np.stack([np.exp(first), m[2, 1], m[2, 2]])]
    )  # fmt: skip


@mutating(M33)
def element_twice_subscripted(m):
    a = m.copy()
    a[1][2] = a[0][1] * 3.0
    return np.sum(a**2)


@pure
def element_twice_subscripted_pure(m):
    return np.sum(m**2) - m[1, 2] ** 2 + 9.0 * m[0, 1] ** 2


@mutating(V3, 1.3)
def element_overwritten_twice(x, s):
    y = np.zeros(3)
    y[1] = x[0] * s
    first = y[1] ** 2
    y[1] = np.sin(s)
    return first * y[1] + np.sum(y * x)


@pure
def element_overwritten_twice_pure(x, s):
    return (x[0] * s) ** 2 * np.sin(s) + np.sin(s) * x[1]


@mutating(V3)
def element_read_between(x):
    y = x.copy()
    a = y[0] ** 2
    y[0] = a * y[1]
    b = y[0] ** 2
    y[0] = a + b
    return y[0] ** 2 + a * b


@pure
def element_read_between_pure(x):
    a = x[0] ** 2
    b = (a * x[1]) ** 2
    return (a + b) ** 2 + a * b


@mutating(V3)
def element_killed_by_constant(x):
    y = x**2
    y[1] = 5.0
    return np.sum(y * x)


@pure
def element_killed_by_constant_pure(x):
    return x[0] ** 3 + 5.0 * x[1] + x[2] ** 3


@mutating(V3)
def all_killed_by_constant(x):
    y = x**2
    total = np.sum(y)
    y[...] = 1.0
    return total + np.sum(y)


@pure
def all_killed_by_constant_pure(x):
    return np.sum(x**2) + 3.0


@mutating(np.array(1.4))
def zero_dimensional(x):
    y = np.zeros(())
    y[()] = x**2
    y[...] += np.sin(x)
    return y * 3.0


@pure
def zero_dimensional_pure(x):
    return (x**2 + np.sin(x)) * 3.0


# --- slices ---------------------------------------------------------------------------------------------------------


@mutating(V5, W3)
def slice_of_array(x, w):
    y = x.copy()
    y[1:4] = w * y[:3]
    return y


@pure
def slice_of_array_pure(x, w):
    return np.concatenate([x[:1], w * x[:3], x[4:]])


@mutating(V6)
def slice_with_step(x):
    y = x.copy()
    y[::2] = y[1::2] ** 2
    return y * np.arange(6.0)


@pure
def slice_with_step_pure(x):
    odd = x[1::2]
    return np.stack([odd**2, odd], axis=1).reshape(6) * np.arange(6.0)


@mutating(V5)
def slice_with_negative_step(x):
    y = np.zeros(5)
    y[::-1] = x**2
    y[3:0:-1] = y[1:4] * x[:3]
    return y


@pure
def slice_with_negative_step_pure(x):
    y = x[::-1] ** 2
    inner = y[1:4] * x[:3]
    return np.concatenate([y[:1], inner[::-1], y[4:]])


@mutating(V6)
def slice_with_step_of_minus_two(x):
    y = x.copy()
    y[-1::-2] = x[:3] * x[3:]
    return np.sum(y**2 * np.arange(1.0, 7.0))


@pure
def slice_with_step_of_minus_two_pure(x):
    p = x[:3] * x[3:]
    y = np.array([x[0], p[2], x[2], p[1], x[4], p[0]])
    return np.sum(y**2 * np.arange(1.0, 7.0))


@mutating(V5)
def slice_that_is_empty(x):
    y = x**2
    y[3:1] = x[3:1] * 7.0
    y[5:] = 0.0
    return y


@pure
def slice_that_is_empty_pure(x):
    return x**2


@mutating(V5)
def slice_beyond_the_end(x):
    y = x.copy()
    y[3:100] = y[0] * y[1]
    y[-100:1] *= 2.0
    return np.sum(y**2)


@pure
def slice_beyond_the_end_pure(x):
    p = x[0] * x[1]
    return 4.0 * x[0] ** 2 + x[1] ** 2 + x[2] ** 2 + 2.0 * p**2


@mutating(T234)
def ellipsis(t):
    a = t.copy()
    a[..., 0] = a[..., 1] * a[..., 2]
    a[0, ...] *= 2.0
    return a


@pure
def ellipsis_pure(t):
    a = np.concatenate([(t[..., 1] * t[..., 2])[..., None], t[..., 1:]], axis=2)
    return a * np.array([2.0, 1.0])[:, None, None]


@mutating(M33, V3)
def rows_and_columns(m, v):
    a = m.copy()
    a[1] = v**2
    a[:, 2] = a[:, 0] * v
    return a


@pure
def rows_and_columns_pure(m, v):
    a = np.stack([m[0], v**2, m[2]])
    return np.stack([a[:, 0], a[:, 1], a[:, 0] * v], axis=1)


@mutating(T234)
def slices_of_three(t):
    a = t.copy()
    a[0, 1:, ::2] = a[1, :2, 1::2] * 3.0
    return np.sum(a**2)


@pure
def slices_of_three_pure(t):
    kept = np.ones((2, 3, 4))
    kept[0, 1:, ::2] = 0.0
    return np.sum((t * kept) ** 2) + np.sum((3.0 * t[1, :2, 1::2]) ** 2)


@mutating(V4)
def whole_by_ellipsis(x):
    y = np.empty(4)
    y[...] = x * 3.0
    z = np.empty_like(y)
    z[:] = y**2
    return z


@pure
def whole_by_ellipsis_pure(x):
    return (x * 3.0) ** 2


@mutating(V5)
def new_axis(x):
    y = np.zeros((5, 1))
    y[:, 0] = x**2
    z = np.zeros(5)
    z[None, :] = y.T * x
    z[:, np.newaxis] += y
    return z


@pure
def new_axis_pure(x):
    return x**3 + x**2


# --- broadcasting of the stored value -------------------------------------------------------------------------------


@mutating(V3, 1.7)
def scalar_into_slice(x, s):
    y = x.copy()
    y[1:] = s * x[0]
    return np.sum(y**2)


@pure
def scalar_into_slice_pure(x, s):
    return x[0] ** 2 + 2.0 * (s * x[0]) ** 2


@mutating(V3)
def vector_into_matrix(x):
    a = np.zeros((4, 3))
    a[:] = x**2
    a[1:3] += x
    return a * np.arange(12.0).reshape(4, 3)


@pure
def vector_into_matrix_pure(x):
    inner = np.array([0.0, 1.0, 1.0, 0.0])[:, None]
    return (x**2 + inner * x) * np.arange(12.0).reshape(4, 3)


@mutating(M23, V3)
def column_into_matrix(m, w):
    a = m.copy()
    a[:, :] = np.sum(m * w, axis=1, keepdims=True)
    a *= w
    return a


@pure
def column_into_matrix_pure(m, w):
    return np.sum(m * w, axis=1, keepdims=True) * w


@mutating(V3)
def length_one_into_slice(x):
    y = x**2
    y[1:] = x[:1] * 2.0
    y[:2] *= x[2:]
    return y


@pure
def length_one_into_slice_pure(x):
    return np.stack([x[0] ** 2 * x[2], 2.0 * x[0] * x[2], 2.0 * x[0]])


@mutating(V3)
def leading_ones_are_dropped(x):
    y = np.zeros(3)
    y[:] = (x**2)[None, :]
    return np.sum(y * x)


@pure
def leading_ones_are_dropped_pure(x):
    return np.sum(x**3)


# --- augmented operators --------------------------------------------------------------------------------------------


@mutating(V5, W5)
def augmented_add(x, w):
    y = x**2
    y[1:4] += w[1:4] * x[:3]
    y[0] += w[4]
    return y * w


@pure
def augmented_add_pure(x, w):
    return (x**2 + np.concatenate([w[4:], w[1:4] * x[:3], np.zeros(1)])) * w


@mutating(V5, W5)
def augmented_subtract(x, w):
    y = x**2
    y[::2] -= w[::2] * y[::2]
    y[3] -= y[0]
    return y


@pure
def augmented_subtract_pure(x, w):
    even = x[::2] ** 2 * (1.0 - w[::2])
    return np.stack([even[0], x[1] ** 2, even[1], x[3] ** 2 - even[0], even[2]])


@mutating(V5, W5)
def augmented_multiply(x, w):
    y = x**2
    y[1:] *= w[1:]
    y[:2] *= y[3]
    return y


@pure
def augmented_multiply_pure(x, w):
    y = x**2
    z = np.concatenate([y[:1], y[1:] * w[1:]])
    return np.concatenate([z[:2] * z[3], z[2:]])


@mutating(V5, W5)
def augmented_divide(x, w):
    y = np.sin(x)
    y[1:3] /= w[1:3] ** 2 + 1.0
    y /= y[0] + 2.0
    return y


@pure
def augmented_divide_pure(x, w):
    y = np.sin(x)
    y = np.concatenate([y[:1], y[1:3] / (w[1:3] ** 2 + 1.0), y[3:]])
    return y / (y[0] + 2.0)


@mutating(np.array([0.6, 1.7, 2.3]), np.array([1.3, 0.7, 2.1]))
def augmented_power(p, q):
    y = p * 1.5
    y[1:] **= q[1:]
    y[0] **= 2
    y **= 0.5
    return y


@pure
def augmented_power_pure(p, q):
    y = p * 1.5
    return np.stack([y[0], y[1] ** (q[1] / 2.0), y[2] ** (q[2] / 2.0)])


@mutating(np.array([3.3, 4.7, 6.2]), np.array([1.3, 0.9, 1.6]))
def augmented_modulo(p, q):
    y = p * 1.0
    y[1:] %= q[1:]
    return y * p


@pure
def augmented_modulo_pure(p, q):
    return np.concatenate([p[:1], p[1:] % q[1:]]) * p


@mutating(M33, W3)
def augmented_matrix_product(m, v):
    a = m * 1.0
    a @= m
    w = v.copy()
    w[:] = a @ w
    return a * w


@pure
def augmented_matrix_product_pure(m, v):
    a = m @ m
    return a * (a @ v)


@mutating(V5)
def augmented_by_itself(x):
    y = x.copy()
    y *= y
    y += y
    y[1:] -= y[:-1]
    return y


@pure
def augmented_by_itself_pure(x):
    y = 2.0 * x**2
    return np.concatenate([y[:1], y[1:] - y[:-1]])


@mutating(M23, V3)
def augmented_broadcasts(m, v):
    a = m**2
    a += v
    a[1] *= v[0]
    a -= a[:, :1]
    return a


@pure
def augmented_broadcasts_pure(m, v):
    a = m**2 + v
    a = np.stack([a[0], a[1] * v[0]])
    return a - a[:, :1]


# --- arrays just made -----------------------------------------------------------------------------------------------


@mutating(V3)
def into_zeros(x):
    y = np.zeros(5)
    y[1:4] = x**2
    return y * np.arange(5.0)


@pure
def into_zeros_pure(x):
    return np.concatenate([np.zeros(1), x**2, np.zeros(1)]) * np.arange(5.0)


@mutating(V3)
def into_empty(x):
    y = np.empty((2, 3))
    y[0] = x
    y[1] = x * x[0]
    return y**2


@pure
def into_empty_pure(x):
    return np.stack([x, x * x[0]]) ** 2


@mutating(V3, 0.7)
def into_full(x, s):
    y = np.full(4, s)
    y[:3] *= x
    return y**2


@pure
def into_full_pure(x, s):
    return np.concatenate([s * x, np.stack([s])]) ** 2


@mutating(V3)
def into_ones_like(x):
    y = np.ones_like(x)
    y[1] = x[0]
    z = np.zeros_like(y)
    z[1:] = y[:2] * x[1:]
    return np.sum(z**2)


@pure
def into_ones_like_pure(x):
    return x[1] ** 2 + (x[0] * x[2]) ** 2


@mutating(V3)
def into_array_of_list(x):
    y = np.array([x[0] * 2.0, 1.0, x[2]])
    y[1] = y[0] * y[2]
    return y


@pure
def into_array_of_list_pure(x):
    return np.stack([x[0] * 2.0, 2.0 * x[0] * x[2], x[2]])


@mutating(V3)
def into_result_of_operation(x):
    y = np.sin(x)
    y[0] = y[1] * y[2]
    return y * np.cos(x)


@pure
def into_result_of_operation_pure(x):
    s = np.sin(x)
    return np.concatenate([s[1:2] * s[2:], s[1:]]) * np.cos(x)


@mutating(V3)
def operation_whose_result_was_changed(x):
    y = np.exp(x)
    y[1] = 0.5
    z = np.tanh(y)
    z *= 2.0
    return np.sum(z)


@pure
def operation_whose_result_was_changed_pure(x):
    return 2.0 * (np.tanh(np.exp(x[0])) + np.tanh(0.5) + np.tanh(np.exp(x[2])))


@mutating(V3.astype(np.float32), rtol=1e-4)
def single_precision(x):
    y = np.zeros(3, dtype=np.float32)
    y[1:] = x[:-1] ** 2
    y[0] = x[2] * x[1]
    y *= x
    return y


@pure
def single_precision_pure(x):
    return np.stack([x[2] * x[1], x[0] ** 2, x[1] ** 2]) * x


@mutating(V3, rtol=1e-4)
def double_into_single_precision(x):
    y = np.zeros(3, dtype=np.float32)
    y[:] = x**2
    return np.sum(y.astype(np.float64) * x)


@pure
def double_into_single_precision_pure(x):
    return np.sum(x**3)


@mutating(V3.astype(np.float32), 1.3, rtol=1e-4)
def single_into_double_precision(x, s):
    y = np.zeros(3)
    y[:] = x * x
    y *= s
    return np.sum(y**2)


@pure
def single_into_double_precision_pure(x, s):
    return np.sum(((x * x).astype(np.float64) * s) ** 2)


@mutating(V3)
def one_of_two_equal_arrays(x):
    a = x * 2.0
    b = x * 2.0
    a[0] = x[1]
    return a * b


@pure
def one_of_two_equal_arrays_pure(x):
    return np.concatenate([x[1:2], 2.0 * x[1:]]) * (2.0 * x)


@mutating(V3)
def computed_again_after_a_change(x):
    y = np.sin(x)
    y[0] = y[1]
    z = np.sin(x)
    z[1:] *= x[:2]
    return y * z * np.sin(x)


@pure
def computed_again_after_a_change_pure(x):
    s = np.sin(x)
    return np.concatenate([s[1:2], s[1:]]) * np.concatenate([s[:1], s[1:] * x[:2]]) * s
