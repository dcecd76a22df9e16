"""The Cholesky factor, element by element in place."""

import numpy as np

from benchmarks.case import Case, positive, wave


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


def arguments(n):
    return positive(n), wave(n, n)


def in_jax():
    import jax.numpy as jnp

    def loss(a, w):
        return jnp.sum(w * jnp.linalg.cholesky(jnp.tril(a) + jnp.tril(a, -1).T, symmetrize_input=False))

    return loss


def by_hand(a, w):
    """In matrices (Murray 2016)."""
    lower = np.linalg.cholesky(np.tril(a) + np.tril(a, -1).T)
    product = np.tril(lower.T @ np.tril(w))
    product[np.diag_indices(len(a))] *= 0.5
    inverse = np.linalg.inv(lower)
    bar = inverse.T @ product @ inverse
    bar = bar + bar.T
    bar[np.diag_indices(len(a))] *= 0.5
    return (np.tril(bar),)


def by_hand_in_loops(a, w):
    """The factor is all that has to be kept; its adjoint becomes that of the matrix."""
    n = len(a)
    f, bar = np.tril(a), np.tril(w)
    for i in range(n):
        for j in range(i):
            total = f[i, j]
            for k in range(j):
                total -= f[i, k] * f[j, k]
            f[i, j] = total / f[j, j]
        total = f[i, i]
        for k in range(i):
            total -= f[i, k] * f[i, k]
        f[i, i] = np.sqrt(total)
    for i in range(n - 1, -1, -1):
        bar[i, i] *= 0.5 / f[i, i]
        for k in range(i):
            bar[i, k] -= 2.0 * bar[i, i] * f[i, k]
        for j in range(i - 1, -1, -1):
            bar[i, j] /= f[j, j]
            bar[j, j] -= bar[i, j] * f[i, j]
            for k in range(j):
                bar[i, k] -= bar[i, j] * f[j, k]
                bar[j, k] -= bar[i, j] * f[i, k]
    return (bar,)


CASE = Case("cholesky", cholesky_loss, (0,), arguments, small=(4,), large=(40,), jax=in_jax, hand_numpy=by_hand,
            rewritten=True, hand_numba=by_hand_in_loops)  # fmt: skip
