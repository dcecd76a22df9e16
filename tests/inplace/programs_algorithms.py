"""Algorithms that change arrays: integration, sorting, dynamic programming, solvers, state in buffers."""

import numpy as np

from tests.inplace.pairs import M33, M45, T234, V3, V5, V6, program


@program(V5, 3)
@program(V5, 0)
def view_rebound_in_loop(x, n):
    y = x.copy()
    w = y[:2]
    for k in range(n):
        w[0] *= w[1]
        w = y[k:k + 2]
    w[1] = 2.0 * w[0]
    return y


@program(V5, 3)
def buffer_grows(x, n):
    y = x[:1].copy()
    for k in range(n):
        y = np.append(y, y[-1] * x[k])
        y[0] = y[-1] + 1.0
    return y


@program(V5, 4)
def last_buffer_kept(x, n):
    keep = x
    for k in range(n):
        y = np.zeros(5)
        y[k] = keep[k] * x[k]
        y[0] += keep[1]
        keep = y
    return keep + y


@program(V5, 4)
def buffer_or_argument(x, n):
    y = x
    for k in range(n):
        if k % 2:
            y = y.copy()
        y[k] = y[k + 1] ** 2
    return y * x


@program(V5)
def prev_and_cur(x):
    prev = x.copy()
    out = np.zeros(5)
    for k in range(4):
        cur = prev * 1.5
        cur[k] += prev[k + 1] ** 2
        prev[0] = 0.1
        out += prev * cur
        prev = cur
    return out


@program(V5)
def element_name_survives(x):
    y = x.copy()
    m = 0.0
    for k in range(5):
        e = y[k]
        y[k] = m
        m = e * 2.0 + y[k - 1]
    return y * m


@program(M45)
def row_survives_loop(m):
    a = m.copy()
    best = a[0]
    for row in a:
        if row[0] > best[0]:
            best = row
        row[1] *= best[2]
    best *= 2.0
    return a


@program(M45)
def row_list_then_change(m):
    a = m.copy()
    rows = [a[i] for i in range(4)]
    rows[0][:] = rows[1] * rows[2]
    a[1] = 0.0
    return rows[0] + rows[1] + rows[3] * a[0]


@program(V5)
def nested_helpers(x):

    def inner(a, k):
        a[k] = np.sin(a[k - 1])
        return a[k]

    def outer(a):
        s = 0.0
        for k in range(1, 4):
            s += inner(a, k) * inner(a[1:], k - 1)
        return s
    y = x.copy()
    return outer(y) * np.sum(y)


@program(V5)
def helper_rebinds_param(x):

    def h(a):
        a[0] = 2.0 * a[1]
        a = a * 3.0
        a[1] = 5.0
        return a
    y = x.copy()
    z = h(y)
    return y * z


@program(V5)
def helper_early_return(x):

    def h(a, k):
        a[k] *= 2.0
        if a[k] > 0:
            return a[k]
        a[k] = a[k] ** 2
        return 0.5
    y = x.copy()
    t = 0.0
    for k in range(5):
        t = t + h(y, k) * y[k - 1]
    return t * y


@program(V5)
def swap_inside_branch(x):
    a, b = (x.copy(), x ** 2)
    for k in range(4):
        if x[k] > 0:
            a, b = (b, a)
        a[k] += b[k + 1] * 0.5
    return a * 2.0 + b


@program(V5)
def alias_then_rebind_loop(x):
    a = x.copy()
    b = a
    for k in range(3):
        b[k] = a[k + 1] * 2.0
        if k == 1:
            b = b.copy()
        a[0] += b[k]
    return a * b


@program(V5)
def while_swap(x):
    a, b = (x.copy(), np.ones(5))
    k = 0
    while k < 5 and np.sum(a) < 50:
        b[:] = a
        b[1:] += a[:-1] ** 2
        a, b = (b, a)
        k += 1
    else:
        b[0] = a[0]
    return a + b


@program(M33)
def solve_in_place(m):
    a = m.copy()
    b = a[0].copy()
    a[0] = np.linalg.solve(a, b)
    a[:] = np.linalg.inv(a + 3.0 * np.eye(3))
    return a


@program(M33)
def matmul_into_self(m):
    a = m.copy()
    for _ in range(3):
        a[:] = 0.3 * a @ a + np.eye(3)
        a[0, 0] = np.trace(a)
    return a


@program(V5)
def stores_after_use_in_saved(x):
    y = x.copy()
    z = np.exp(y) * y
    y[:] = 0.0
    w = np.tanh(z)
    z[1:] = w[:-1]
    w *= 3.0
    return z * w


@program(V5)
def max_in_place(x):
    y = x.copy()
    for k in range(1, 5):
        y[k] = max(y[k], y[k - 1])
    return y * np.arange(5.0)


@program(V5)
def cumulative_where(x):
    y = np.where(x > 0, x, 0.1)
    y[1:] = np.where(y[:-1] > 0.2, y[1:] * y[:-1], y[1:])
    return y


@program(T234)
def three_d_views(t):
    a = t.copy()
    p = a[1]
    q = p[:, 1:]
    r = q.T
    r[0] += a[0, :, 0]
    q[0] = r[:, 1]
    return a


@program(T234)
def reshape_three(t):
    a = t.copy()
    b = a.reshape(6, 4)
    c = b[::2]
    c *= b[1::2]
    d = a.reshape(2, 12).T
    d[0] = d[1] ** 2
    return a


@program(V5)
def float_accumulator_array(x):
    acc = np.zeros(1)
    for v in x:
        acc += v * acc + v ** 2
    return acc[0]


@program(V5)
def zero_d_accumulator(x):
    acc = np.array(0.0)
    for v in x:
        acc += v * acc + v ** 2
    return float(acc)


@program(1.3, 0.7)
def scalars_in_state_vector(a, b):
    s = np.empty(3)
    s[0], s[1], s[2] = (a, b, a * b)
    for _ in range(3):
        s[0] += 0.1 * s[1]
        s[1] -= 0.1 * s[0]
        s[2] *= s[0] + s[1]
    return s[2] + s[0]


@program(1.3, V3)
def integrate_ode(a, y0):

    def f(t, y, dy):
        dy[0] = y[1]
        dy[1] = -a * y[0] + t
        dy[2] = y[0] * y[1]
    y = y0.copy()
    dy = np.empty(3)
    t = 0.0
    out = np.zeros((4, 3))
    for k in range(4):
        f(t, y, dy)
        y += 0.1 * dy
        t += 0.1
        out[k] = y
    return out


@program(V6)
def heap_like(x):
    y = x.copy()
    n = 6
    for i in range(n // 2 - 1, -1, -1):
        j = i
        while 2 * j + 1 < n:
            c = 2 * j + 1
            if c + 1 < n and y[c + 1] > y[c]:
                c += 1
            if y[j] >= y[c]:
                break
            y[j], y[c] = (y[c], y[j])
            j = c
    return y * np.arange(1.0, 7.0)


@program(V6)
def bubble(x):
    y = x.copy()
    done = False
    while not done:
        done = True
        for k in range(5):
            if y[k] > y[k + 1]:
                y[[k, k + 1]] = y[[k + 1, k]]
                done = False
    return y ** 2 * np.arange(6.0)


@program(V6)
def fft_like(x):
    y = x.copy()
    h = 1
    y = np.append(y, [0.3, -0.2])
    while h < 8:
        for i in range(0, 8, 2 * h):
            for j in range(i, i + h):
                u, v = (y[j], y[j + h])
                y[j] = u + v
                y[j + h] = (u - v) * (1.0 + 0.1 * u)
        h *= 2
    return y


@program(M45)
def dp_table(m):
    d = np.zeros((5, 6))
    for i in range(1, 5):
        for j in range(1, 6):
            d[i, j] = -np.log(np.exp(-d[i - 1, j]) + np.exp(-d[i, j - 1]) + np.exp(-d[i - 1, j - 1])) + m[i - 1, j - 1]
    return d[4, 5]


@program(M45)
def min_path(m):
    d = m.copy()
    for i in range(1, 4):
        for j in range(5):
            d[i, j] += min(d[i - 1, max(j - 1, 0)], d[i - 1, j], d[i - 1, min(j + 1, 4)])
    return np.min(d[-1])


@program(V5, np.array([2, 0, 4]))
def scatter_gather(x, k):
    y = np.zeros(5)
    for i in k:
        y[i] += x[i] ** 2
        y[k] *= 1.1
    np.add.at(y, k, x[k])
    y[k] = y[k[::-1]] * x[0]
    return y


@program(V5)
def masked_loop(x):
    y = x.copy()
    for t in (0.5, 1.0):
        m = np.abs(y) > t
        y[m] = np.sign(y[m]) * (t + np.log(np.abs(y[m]) / t))
        if m.any():
            y[~m] *= 0.9
    return y


@program(V5)
def nonzero_store(x):
    y = x.copy()
    k = np.nonzero(y > 0)[0]
    y[k] = y[k] ** 2
    j, = np.where(y > 1.0)
    y[j] -= 1.0
    y[np.argmax(y)] = 0.0
    return y


@program(V5)
def store_bool_scalar_key(x):
    y = x.copy()
    y[x[0] > 0] *= 2.0
    y[True] += 1.0
    return y


@program(M33)
def setting_symmetric(m):
    a = np.zeros((3, 3))
    for i in range(3):
        for j in range(i, 3):
            a[i, j] = a[j, i] = m[i, j] * m[j, i]
    return a @ m


@program(V5)
def running_views_of_views(x):
    y = x.copy()
    v = y
    for _ in range(3):
        v = v[1:]
        v[0] *= 2.0
        v += 0.1
    return y


@program(V5)
def kalman_like(z):
    x = np.zeros(2)
    P = np.eye(2)
    A = np.array([[1.0, 0.1], [0.0, 1.0]])
    ll = 0.0
    for k in range(len(z)):
        x[:] = A @ x
        P[...] = A @ P @ A.T + 0.1 * np.eye(2)
        s = P[0, 0] + 0.5
        K = P[:, 0] / s
        r = z[k] - x[0]
        x += K * r
        P -= np.outer(K, P[0])
        ll -= 0.5 * (r * r / s + np.log(s))
    return ll


@program(V5, V3)
def argument_alias_local(x, w):
    y = x
    y[0] = w[1]
    w = y[1:4]
    w[:] = w * x[0]
    return x * 1.0


@program(V5)
def returned_view(x):
    y = x.copy()
    y[1] = y[0] * y[2]
    return y[1:4]


@program(V5)
def returned_two_views(x):
    y = x.copy()
    y[1] = y[0] * y[2]
    return (y[:3], y[2:], y)


@program(V5)
def returned_argument_view(x):
    x[1] = x[0] * x[2]
    return (x[1:], x[0] ** 2)


@program(V5)
def returned_dict(x):
    y = x.copy()
    y[0] *= 3.0
    z = y
    z[1] = y[0] ** 2
    return {'y': y, 'z': [z[:2], z[1]]}
