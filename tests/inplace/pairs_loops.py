"""Loops over buffers: recurrences, stencils in time, triangles, loops without a trip, scalars carried beside stores."""

import numpy as np

from tests.inplace.pairs import M33, M45, T234, V3, V4, V5, V6, W5, mutating, pure

SPD = M33 @ M33.T + 2.0 * np.eye(3)


@mutating(V6)
def recurrence(u):
    u = u.copy()
    for i in range(1, 6):
        u[i] = np.sin(u[i]) * u[i - 1]
    return u


@pure
def recurrence_pure(u):
    return np.cumprod(np.concatenate([u[:1], np.sin(u[1:])]))


@mutating(V6)
def recurrence_backwards(u):
    u = u.copy()
    for i in range(4, -1, -1):
        u[i] = u[i] + 0.5 * u[i + 1] ** 2
    return u


@pure
def recurrence_backwards_pure(u):
    for i in range(4, -1, -1):
        u = np.where(np.arange(6) == i, u + 0.5 * u[i + 1] ** 2, u)
    return u


@mutating(np.array([0.4, 1.3]), 8)
@mutating(np.array([0.4, 1.3]), 2)
def sequence_filled(x, n):
    a = np.zeros(n)
    a[:2] = x
    for k in range(2, n):
        a[k] = 0.7 * a[k - 1] * a[k - 2] + x[k % 2]
    return a


@pure
def sequence_filled_pure(x, n):
    a = np.concatenate([x, np.zeros(n - 2)])
    for k in range(2, n):
        a = np.where(np.arange(n) == k, 0.7 * a[k - 1] * a[k - 2] + x[k % 2], a)
    return a


@mutating(V6, 3)
@mutating(V6, 1)
@mutating(V6, 0)
def linear_stencil_in_time(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


@pure
def linear_stencil_in_time_pure(u, steps):
    for _ in range(steps):
        u = np.concatenate([u[:1], u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]), u[-1:]])
    return u


@mutating(V6, 0.3, 4)
@mutating(V6, 0.3, 0)
def nonlinear_stencil_in_time(u, c, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] - c * u[1:-1] * (u[1:-1] - u[:-2])
        u[0] = np.tanh(u[-1])
    return u


@pure
def nonlinear_stencil_in_time_pure(u, c, steps):
    for _ in range(steps):
        inner = u[1:-1] - c * u[1:-1] * (u[1:-1] - u[:-2])
        u = np.concatenate([np.tanh(u[-1:]), inner, u[-1:]])
    return u


@mutating(M45, 2)
def element_loop_in_two_dimensions(m, sweeps):
    a = m.copy()
    for _ in range(sweeps):
        for i in range(1, 3):
            for j in range(1, 4):
                a[i, j] = 0.25 * (a[i - 1, j] + a[i, j - 1] + a[i, j + 1] * a[i + 1, j])
    return a


@pure
def element_loop_in_two_dimensions_pure(m, sweeps):
    for _ in range(sweeps):
        for i in range(1, 3):
            for j in range(1, 4):
                here = np.outer(np.arange(4) == i, np.arange(5) == j)
                m = np.where(here, 0.25 * (m[i - 1, j] + m[i, j - 1] + m[i, j + 1] * m[i + 1, j]), m)
    return m


@mutating(T234)
def element_loop_in_three_dimensions(t):
    total = np.zeros((2, 3))
    for i in range(2):
        for j in range(3):
            for k in range(4):
                total[i, j] += t[i, j, k] * t[1 - i, j, k - 1]
            total[i, j] = np.sin(total[i, j])
    return total


@pure
def element_loop_in_three_dimensions_pure(t):
    return np.sin(np.sum(t * np.roll(t[::-1], 1, axis=2), axis=2))


@mutating(M33, M45[:3])
def matrix_product_by_elements(a, b):
    c = np.zeros((3, 5))
    for i in range(3):
        for j in range(5):
            for k in range(3):
                c[i, j] += a[i, k] * b[k, j]
    return c


@pure
def matrix_product_by_elements_pure(a, b):
    return a @ b


@mutating(SPD)
def triangular_loop(a):
    low = np.zeros((3, 3))
    for i in range(3):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= low[i, k] * low[j, k]
            low[i, j] = np.sqrt(s) if i == j else s / low[j, j]
    return low


@pure
def triangular_loop_pure(a):
    l00 = np.sqrt(a[0, 0])
    l10 = a[1, 0] / l00
    l11 = np.sqrt(a[1, 1] - l10**2)
    l20 = a[2, 0] / l00
    l21 = (a[2, 1] - l20 * l10) / l11
    l22 = np.sqrt(a[2, 2] - l20**2 - l21**2)
    zero = 0.0 * l00
    return np.stack([np.stack([l00, zero, zero]), np.stack([l10, l11, zero]), np.stack([l20, l21, l22])])


@mutating(SPD, V3)
def elimination(a, b):
    a, x = a.copy(), b.copy()
    for k in range(3):
        for i in range(k + 1, 3):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            x[i] -= factor * x[k]
    for i in range(2, -1, -1):
        x[i] = (x[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


@pure
def elimination_pure(a, b):
    return np.linalg.solve(a, b)


@mutating(V5)
def scalars_beside_stores(x):
    y = np.zeros(5)
    total, last = 0.0, x[4]
    for i in range(5):
        y[i] = last * x[i]
        total += y[i] ** 2
        last = np.sin(y[i]) + total
    return y * total


@pure
def scalars_beside_stores_pure(x):
    y = x
    total, last = 0.0, x[4]
    for i in range(5):
        new = last * x[i]
        y = np.where(np.arange(5) == i, new, y)
        total = total + new**2
        last = np.sin(new) + total
    return y * total


@mutating(V5)
def scalar_read_from_a_buffer_and_stored_back(x):
    y = x.copy()
    carry = y[0]
    for i in range(1, 5):
        carry, y[i] = y[i] * 2.0, carry
        y[i] += carry**2
    return y * carry


@pure
def scalar_read_from_a_buffer_and_stored_back_pure(x):
    shifted = x[:-1] * np.array([1.0, 2.0, 2.0, 2.0]) + 4.0 * x[1:] ** 2
    return np.concatenate([x[:1], shifted]) * 2.0 * x[4]


@mutating(V4)
def elements_swapped(x):
    y = x.copy()
    for i in range(3):
        y[i], y[i + 1] = y[i + 1] * 2.0, y[i]
    return y * np.arange(1.0, 5.0)


@pure
def elements_swapped_pure(x):
    return np.concatenate([2.0 * x[1:], x[:1]]) * np.arange(1.0, 5.0)


@mutating(V6)
def insertion_sort(x):
    y = x.copy()
    for i in range(1, 6):
        key = y[i]
        j = i - 1
        while j >= 0 and y[j] > key:
            y[j + 1] = y[j]
            j -= 1
        y[j + 1] = key
    return y**2 * np.arange(6.0)


@pure
def insertion_sort_pure(x):
    return x[np.argsort(x)] ** 2 * np.arange(6.0)


@mutating(V5, W5)
def buffer_made_in_each_trip(x, w):
    total = np.zeros(5)
    for k in range(3):
        t = np.zeros(5)
        t[k:] = x[k:] * w[: 5 - k]
        t[k] *= t[-1]
        total += t**2
    return total


@pure
def buffer_made_in_each_trip_pure(x, w):
    total = np.zeros(5)
    for k in range(3):
        t = np.concatenate([np.zeros(k), x[k:] * w[: 5 - k]])
        t = np.where(np.arange(5) == k, t[k] * t[4], t)
        total = total + t**2
    return total


@mutating(V5, 3)
def work_array_used_again_in_each_trip(x, n):
    work = np.empty(5)
    total = 0.0
    for k in range(n):
        work[:] = x**2
        work[k] = total
        total = np.sum(np.sin(work))
    return total


@pure
def work_array_used_again_in_each_trip_pure(x, n):
    total = 0.0
    for k in range(n):
        total = np.sum(np.sin(np.where(np.arange(5) == k, total, x**2)))
    return total


@mutating(M45)
def stores_to_rows_from_rows(m):
    a = m.copy()
    for i in range(1, 4):
        a[i] = a[i - 1] * a[i] + a[i].mean()
        a[i - 1, :2] = 0.0
    return a


@pure
def stores_to_rows_from_rows_pure(m):
    second = m[0] * m[1] + np.mean(m[1])
    third = second * m[2] + np.mean(m[2])
    last = third * m[3] + np.mean(m[3])
    rest = np.array([0.0, 0.0, 1.0, 1.0, 1.0])
    return np.stack([m[0] * rest, second * rest, third * rest, last])


@mutating(V3, 3)
@mutating(V3, 0)
def history_of_a_simulation(x, steps):
    path = np.zeros((steps + 1, 3))
    path[0] = x
    for t in range(steps):
        path[t + 1] = path[t] + 0.1 * np.cross(path[t], np.array([1.0, 0.5, -0.2])) * path[t, 0]
    return np.sum(path**2)


@pure
def history_of_a_simulation_pure(x, steps):
    total = np.sum(x**2)
    for _ in range(steps):
        x = x + 0.1 * np.cross(x, np.array([1.0, 0.5, -0.2])) * x[0]
        total = total + np.sum(x**2)
    return total


@mutating(V4, 3)
def runge_kutta(y, steps):
    k = np.zeros((4, 4))
    y = y.copy()
    h = 0.1
    for _ in range(steps):
        k[0] = y * y[::-1]
        for s in range(1, 4):
            stage = y + h * (0.5 if s < 3 else 1.0) * k[s - 1]
            k[s] = stage * stage[::-1]
        y += h / 6.0 * (k[0] + 2.0 * k[1] + 2.0 * k[2] + k[3])
    return y


@pure
def runge_kutta_pure(y, steps):
    h = 0.1
    for _ in range(steps):
        a = y * y[::-1]
        b = (y + 0.5 * h * a) * (y + 0.5 * h * a)[::-1]
        c = (y + 0.5 * h * b) * (y + 0.5 * h * b)[::-1]
        d = (y + h * c) * (y + h * c)[::-1]
        y = y + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    return y


@mutating(V5)
def read_by_later_trips_only(x):
    a = np.zeros(5)
    b = np.zeros(5)
    for i in range(5):
        a[i] = x[i] ** 2
        if i > 1:
            b[i] = a[i - 2] * a[i - 1]
            a[i - 2] = b[i]
    return a + b


@pure
def read_by_later_trips_only_pure(x):
    a = x**2
    b = np.concatenate([np.zeros(2), a[:3] * a[1:4]])
    return np.concatenate([b[2:], a[3:]]) + b


@mutating(V5, (3, 1, 2, 1))
def places_from_a_tuple(x, places):
    y = x.copy()
    for k in places:
        y[k] = y[k - 1] * y[k]
    return y


@pure
def places_from_a_tuple_pure(x, places):
    d = x[2] * x[3]
    b = x[0] * x[1]
    c = b * x[2]
    return np.stack([x[0], x[0] * b, c, d, x[4]])
