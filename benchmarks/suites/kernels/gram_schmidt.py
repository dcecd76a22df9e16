"""Columns made orthonormal in place, by the modified Gram-Schmidt process."""

import numpy as np

from benchmarks.case import Case, wave


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


def arguments(n):
    return wave(n + 2, n) + np.eye(n + 2, n), wave(n, n, phase=1.0)


def in_jax():
    import jax.numpy as jnp

    def loss(a, w):
        q, r = jnp.linalg.qr(a)
        signs = jnp.sign(jnp.diagonal(r))
        return jnp.sum((q * signs)[: len(w)] * w) + jnp.sum(w * r * signs[:, None])

    return loss


def by_hand(a, w):
    """In matrices (Walter and Lehmann 2010), from the factors that Householder's reflections give."""
    q, r = np.linalg.qr(a)
    signs = np.sign(np.diagonal(r))
    q, r = q * signs, r * signs[:, np.newaxis]
    q_bar = np.zeros_like(q)
    q_bar[: len(w)] = w
    inner = r @ np.triu(w).T - q_bar.T @ q
    inner = np.tril(inner) + np.tril(inner, -1).T
    return (np.linalg.solve(r, (q_bar + q @ inner).T).T,)


CASE = Case("gram_schmidt", gram_schmidt_loss, (0,), arguments, small=(4,), large=(100,), jax=in_jax,
            hand_numpy=by_hand, rewritten=True)  # fmt: skip
