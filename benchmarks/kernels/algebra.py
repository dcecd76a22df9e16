"""Factorisations and solvers, element by element or row by row, and the motion of bodies."""

import numpy as np

# --- factorisations ---------------------------------------------------------------------------------------------------


def cholesky(a):
    """The lower factor of a symmetric positive definite matrix, in place; what is above the diagonal stays."""
    n = len(a)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])


def cholesky_loss(a, w):
    a = a.copy()
    cholesky(a)
    return np.sum(w * np.tril(a))


def lu(a):
    """The triangular factors in place, without pivots: the lower one has ones on its diagonal."""
    n = a.shape[0]
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        for i in range(k + 1, n):
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]


def lu_loss(a, w):
    a = a.copy()
    lu(a)
    return np.sum(w * a)


def gram_schmidt(a, r):
    """The columns of ``a`` made orthonormal in place; ``r`` takes the triangular factor."""
    for k in range(a.shape[1]):
        r[k, k] = np.sqrt(np.sum(a[:, k] * a[:, k]))
        a[:, k] /= r[k, k]
        q = a[:, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.sum(q * a[:, j])
            a[:, j] -= r[k, j] * q


def gram_schmidt_loss(a, w):
    a = a.copy()
    r = np.zeros_like(a[: len(w)])
    gram_schmidt(a, r)
    return np.sum(a[: len(w)] * w) + np.sum(w * r)


# --- solvers ----------------------------------------------------------------------------------------------------------


def durbin(r, y):
    """The Yule-Walker equations of the autocorrelations ``r`` by Durbin's recursion; ``y`` takes the solution."""
    z = np.zeros_like(y)
    y[0] = -r[0]
    beta, alpha = 1.0, -r[0]
    for k in range(1, len(r)):
        beta = (1.0 - alpha * alpha) * beta
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        y[:k] = z[:k]
        y[k] = alpha


def durbin_loss(r, w):
    y = np.zeros_like(r)
    durbin(r, y)
    return np.sum(w * y * y)


def tridiagonal(a, b, c, d):
    """Thomas's algorithm. Diagonals ``a``, ``b``, ``c`` lowest first; ``b`` is used up, ``d`` becomes the solution."""
    n = len(d)
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    d[n - 1] /= b[n - 1]
    for i in range(n - 2, -1, -1):
        d[i] = (d[i] - c[i] * d[i + 1]) / b[i]


def tridiagonal_loss(a, b, c, d):
    b, d = b.copy(), d.copy()
    tridiagonal(a, b, c, d)
    return np.sum(d * d)


# --- bodies -----------------------------------------------------------------------------------------------------------


def accelerations(x, mass, out, softening):
    """The pull of every body on every other one."""
    out[:] = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            r = x[j] - x[i]
            s = np.sum(r * r) + softening**2
            pull = r / (s * np.sqrt(s))
            out[i] += mass[j] * pull
            out[j] -= mass[i] * pull


def nbody(x, v, mass, dt, steps):
    """Leapfrog steps, in place."""
    a = np.zeros_like(x)
    accelerations(x, mass, a, 0.05)
    for _ in range(steps):
        v += 0.5 * dt * a
        x += dt * v
        accelerations(x, mass, a, 0.05)
        v += 0.5 * dt * a


def nbody_loss(x, v, mass, dt, steps):
    x, v = x.copy(), v.copy()
    nbody(x, v, mass, dt, steps)
    return np.sum(x * x) + np.sum(mass[:, None] * v * v)
