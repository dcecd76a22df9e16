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


CASE = Case("cholesky", cholesky_loss, (0,), arguments, small=(4,), large=(40,), jax=in_jax)
