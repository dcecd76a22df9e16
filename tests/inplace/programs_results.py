"""Arrays that a function gives several of at once, changed in place."""

import numpy as np

from tests.inplace.pairs import M23, M33, V3, program


@program(M33)
def eigenvalue_replaced(m):
    w, v = np.linalg.eigh(m @ m.T)
    w[0] = 2.0 * w[1]
    return np.sum(w) * v[0, 0] ** 2


@program(M33)
def eigenvalues_or_zeros(m):
    w, v = np.linalg.eigh(m @ m.T)
    a = w if m[0, 0] > 0.0 else np.zeros(3)
    a[0] = 2.0 * a[1] * m[0, 0]
    return np.sum(a * w) * v[0, 0] ** 2


@program(M33)
def eigenvalues_by_their_place(m):
    both = np.linalg.eigh(m @ m.T)
    w = both[0]
    w[2] = 2.0 * w[1] * m[0, 0]
    return np.sum(both[0]) * both[1][0, 0] ** 2


@program(M33)
def eigenvalues_of_each_trip(m):
    total = 0.0
    for k in range(3):
        w, _ = np.linalg.eigh(m @ m.T + k * np.eye(3))
        w[k] = w[0] * w[1]
        total += np.sum(w * m[k])
    return total


@program(M33)
def factors_changed(m):
    q, r = np.linalg.qr(m)
    r[0, 0] = r[1, 1] * 3.0
    q *= m[0, 0]
    return np.sum(q @ r * m)


@program(M33)
def singular_values_by_name(m):
    parts = np.linalg.svd(m)
    s = parts.S
    s[1:] *= s[0]
    return np.sum(parts.S**2 * np.arange(3.0)) + np.sum(parts.U * parts.Vh.T) ** 2


@program(V3, np.array([0.4, -1.5]))
def grid_changed(x, y):
    a, b = np.meshgrid(x, y)
    a[0] = b[1] * 2.0
    b *= a
    return np.sum(a * b * x)


@program(M23)
def slopes_changed(m):
    a, b = np.gradient(m)
    a[0] = b[1] ** 2
    b += a
    return np.sum(a * b)


@program(M23)
def fractions_changed(m):
    a, _ = np.modf(m)
    a[0] = m[1] ** 2
    return np.sum(a * m)


@program(M33)
def least_squares_solution_changed(m):
    c, *_ = np.linalg.lstsq(m[:, :2], m[:, 2])
    c[0] = c[1] ** 2
    return np.sum(c * m[0, :2])


@program(M33)
def pseudo_inverse_changed(m):
    a = np.linalg.pinv(m)
    a[0] = a[1] * m[1]
    return np.sum(a**3)
