"""Linear equations by triangular factors, element by element."""

import numpy as np

from benchmarks.case import Case, square, wave


def ludcmp(a, b):
    """The solution of ``a x = b``; ``a`` becomes its triangular factors."""
    n = len(b)
    x, y = np.zeros_like(b), np.zeros_like(b)
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    for i in range(n):
        y[i] = b[i] - a[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


def ludcmp_loss(a, b):
    x = ludcmp(a.copy(), b)
    return np.sum(x * x)


def arguments(n):
    return square(n), wave(n, phase=1.0)


def in_jax():
    import jax.numpy as jnp

    def loss(a, b):
        return jnp.sum(jnp.linalg.solve(a, b) ** 2)

    return loss


def by_hand(a, b):
    """By the transposed equations (an implicit derivative)."""
    x = np.linalg.solve(a, b)
    b_bar = np.linalg.solve(a.T, 2.0 * x)
    return np.outer(-b_bar, x), b_bar


def by_hand_in_loops(a, b):
    """The same with one pair of factors, from rows of which multiples of the row of the pivot are taken."""
    n = len(b)
    lu, x = a.copy(), b.copy()
    for k in range(n - 1):
        for i in range(k + 1, n):
            lu[i, k] /= lu[k, k]
            for j in range(k + 1, n):
                lu[i, j] -= lu[i, k] * lu[k, j]
    for i in range(n):
        for j in range(i):
            x[i] -= lu[i, j] * x[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= lu[i, j] * x[j]
        x[i] /= lu[i, i]
    b_bar = 2.0 * x
    for i in range(n):
        b_bar[i] /= lu[i, i]
        for j in range(i + 1, n):
            b_bar[j] -= lu[i, j] * b_bar[i]
    for i in range(n - 1, -1, -1):
        for j in range(i):
            b_bar[j] -= lu[i, j] * b_bar[i]
    a_bar = np.empty_like(a)
    for i in range(n):
        for j in range(n):
            a_bar[i, j] = -b_bar[i] * x[j]
    return a_bar, b_bar


CASE = Case("ludcmp", ludcmp_loss, (0, 1), arguments, small=(4,), large=(90,), jax=in_jax, hand_numpy=by_hand,
            rewritten=True, hand_numba=by_hand_in_loops)  # fmt: skip
