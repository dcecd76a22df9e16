"""Loops that read and store: the order of both decides what has to be given back in the reverse sweep."""

import numpy as np

from tests.inplace.pairs import M33, M45, T234, V6, program


@program(V6)
def forward_shift(x):
    a = x.copy()
    for i in range(1, 6):
        a[i] = a[i - 1] ** 2 * 0.5 + a[i] ** 2
    return a


@program(V6)
def backward_read(x):
    a = x.copy()
    for i in range(0, 5):
        a[i] = a[i + 1] ** 2 * a[i]
    return a


@program(V6)
def down_read_up(x):
    a = x.copy()
    for i in range(4, -1, -1):
        a[i] = a[i + 1] ** 2 * a[i]
    return a


@program(V6)
def down_read_down(x):
    a = x.copy()
    for i in range(5, 0, -1):
        a[i] = a[i - 1] ** 2 * a[i]
    return a


@program(V6)
def triangular_dot(x):
    a = x.copy()
    for i in range(6):
        a[i] = a[i] - np.sum(a[:i] ** 2) * 0.3
    return a


@program(V6)
def triangular_dot_tail(x):
    a = x.copy()
    for i in range(6):
        a[i] = a[i] - np.sum(a[i + 1:] ** 2) * 0.3
    return a


@program(V6)
def store_slice_read_head(x):
    a = x.copy()
    for i in range(1, 5):
        a[i:] = a[i:] * a[:i].sum() - a[i - 1] ** 2
    return a


@program(V6)
def store_head_read_tail(x):
    a = x.copy()
    for i in range(1, 5):
        a[:i] = a[:i] * a[i:].sum() ** 2
    return a


@program(M45)
def two_axis_a(m):
    a = m.copy()
    for i in range(1, 4):
        for j in range(4):
            a[i, j] = a[i - 1, j + 1] ** 2 + a[i, j + 1] * a[i, j]
    return a


@program(M45)
def two_axis_b(m):
    a = m.copy()
    for j in range(1, 5):
        for i in range(3):
            a[i, j] = a[i + 1, j - 1] ** 2 + a[i + 1, j] * a[i, j] - a[i, j - 1] ** 3
    return a


@program(M33)
def transposed_axes(m):
    a = m.copy()
    for i in range(3):
        for j in range(3):
            a[i, j] = a[j, i] ** 2 + 0.5 * a[i, j]
    return a


@program(M33)
def lower_by_rows(m):
    a = m.copy()
    for i in range(3):
        for j in range(i):
            a[i, j] = a[i, j] * a[j, i] - a[i, :j] @ a[:j, j]
        a[i, i] += a[i, :i] @ a[:i, i]
    return a


@program(V6)
def negative_indices_wrap(x):
    a = x.copy()
    for i in range(5):
        a[i] = a[i - 1] ** 2 + a[i]
    return a


@program(V6)
def negative_const(x):
    a = x.copy()
    for i in range(5):
        a[i] = a[-1] ** 2 + a[i] * a[-2]
        a[-1] = a[i] * 0.5
    return a


@program(V6)
def step_two(x):
    a = x.copy()
    for i in range(0, 4, 2):
        a[i] = a[i + 2] ** 2 + a[i + 1]
        a[i + 1] = a[i] ** 2
    return a


@program(V6, 2)
def offset_arg(x, d):
    a = x.copy()
    for i in range(d, 6):
        a[i] = a[i - d] ** 2 + a[i] ** 2
    return a


@program(V6, -2)
def offset_arg_negative(x, d):
    a = x.copy()
    for i in range(0, 4):
        a[i] = a[i - d] ** 2 + a[i] ** 2
    return a


@program(V6)
def alias_store(x):
    a = x.copy()
    b = a
    for i in range(1, 6):
        b[i] = a[i - 1] ** 2 + a[i] ** 2
        a[0] = b[i] * 0.5
    return a


@program(V6)
def view_shifted(x):
    a = x.copy()
    b = a[1:]
    for i in range(1, 5):
        b[i] = a[i] ** 2 + a[i - 1] * b[i]
    return a


@program(V6)
def view_shifted2(x):
    a = x.copy()
    b = a[1:]
    for i in range(1, 5):
        a[i] = b[i] ** 2 + b[i - 1] * a[i - 1]
    return a


@program(V6)
def reversed_view(x):
    a = x.copy()
    b = a[::-1]
    for i in range(1, 5):
        b[i] = a[i] ** 2 + b[i] * a[i - 1]
    return a


@program(V6)
def while_counter(x):
    a = x.copy()
    i = 1
    while i < 6:
        a[i] = a[i - 1] ** 2 + a[i] ** 2
        i += 1
        if a[i - 1] > 2.0:
            a[0] = a[i - 1] * 0.1
    return a


@program(V6, 3)
def time_loop_around(x, T):
    a = x.copy()
    for t in range(T):
        for i in range(1, 6):
            a[i] = np.sin(a[i - 1]) * a[i]
    return a


@program(V6, 3)
def fresh_each_trip(x, T):
    total = 0.0
    for t in range(T):
        a = x * (t + 1.0)
        for i in range(1, 6):
            a[i] = np.sin(a[i - 1]) * a[i]
        total += np.sum(a ** 2)
    return total


@program(V6)
def index_changes_in_body(x):
    a = x.copy()
    for i in range(4):
        j = i
        i = i + 1
        a[i] = a[j] ** 2 + a[i] ** 2
    return a


@program(V6)
def nested_same_range(x):
    a = x.copy()
    for i in range(6):
        for j in range(i):
            a[i] -= a[j] ** 2 * a[i]
    return a


@program(V6)
def nested_reverse(x):
    a = x.copy()
    for i in range(5):
        for j in range(i + 1, 6):
            a[i] -= a[j] ** 2 * a[i] * 0.2
            a[j] += a[i]
    return a


@program(V6)
def break_early(x):
    a = x.copy()
    for i in range(1, 6):
        a[i] = a[i - 1] ** 2 + a[i] ** 2
        if a[i] > 1.5:
            break
        a[i - 1] *= a[i]
    return a


@program(V6)
def enumerate_items(x):
    a = x.copy()
    out = np.zeros(6)
    for i, v in enumerate(a):
        a[(i + 1) % 6] += v ** 2 * 0.3
        out[i] = v * a[i]
    return a + out


@program(V6)
def iter_changed_array(x):
    a = x.copy()
    t = 1.0
    for v in a:
        t = t * v + 0.1
        a[-1] = t
        a[:2] *= 0.5
    return t * a


@program(M45)
def row_dep(m):
    a = m.copy()
    for i in range(1, 4):
        a[i] = a[i - 1] ** 2 + a[i] ** 2
        a[i, 1:] *= a[i, :-1]
    return a


@program(M45)
def col_dep(m):
    a = m.copy()
    for j in range(1, 5):
        a[:, j] = a[:, j - 1] ** 2 + a[:, j] ** 2
        a[1:, j] *= a[:-1, j]
    return a


@program(M45)
def ellipsis_dep(m):
    a = m.copy()
    for j in range(1, 5):
        a[..., j] = a[..., j - 1] ** 2 + a[..., j] ** 2
    return a


@program(T234)
def none_dep(t):
    a = t.copy()
    for j in range(1, 4):
        a[:, :, j] = (a[:, None, :, j - 1] ** 2)[:, 0] + a[:, :, j]
    return a


@program(V6)
def read_after_store_scalar(x):
    a = x.copy()
    s = 0.0
    for i in range(6):
        v = a[i]
        a[i] = np.sin(v) + s
        s += v * a[i]
    return a * s


@program(V6)
def store_two_places(x):
    a = x.copy()
    for i in range(1, 5):
        a[i - 1], a[i + 1] = (a[i] ** 2, a[i - 1] * a[i + 1])
    return a


@program(V6)
def sliding_window(x):
    a = x.copy()
    for i in range(4):
        w = a[i:i + 3]
        a[i] = np.sum(w ** 2) * 0.3
        w[2] *= w[0]
    return a


@program(V6, 3)
def ring_buffer(x, n):
    buf = np.zeros(3)
    out = 0.0
    for i in range(6):
        buf[i % 3] = x[i] * buf[(i + 1) % 3] + x[i]
        out += buf.sum() ** 2
    return out


@program(V6)
def invariant_slot(x):
    a = x.copy()
    for i in range(1, 6):
        a[0] = a[0] * a[i]
        a[i] = a[0] ** 2
    return a


@program(V6)
def accumulators(x):
    m = np.zeros(2)
    for i in range(6):
        m[0] += x[i] * m[1]
        m[1] = 0.9 * m[1] + x[i] ** 2
    return m[0] * m[1]


@program(V6)
def adam_like(x):
    p = x.copy()
    m = np.zeros(6)
    v = np.zeros(6)
    for t in range(1, 4):
        g = 2.0 * p + np.cos(p)
        m *= 0.9
        m += 0.1 * g
        v *= 0.99
        v += 0.01 * g * g
        p -= 0.1 * m / (1 - 0.9 ** t) / (np.sqrt(v / (1 - 0.99 ** t)) + 0.001)
    return p
