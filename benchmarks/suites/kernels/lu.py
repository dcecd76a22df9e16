"""Triangular factors without pivots, row by row in place."""

import numpy as np

from benchmarks.case import Case, square, wave


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


def arguments(n):
    return square(n), wave(n, n)


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(a, w):
        places = jnp.arange(a.shape[0])

        def eliminate(k, a):
            factors = jnp.where(places > k, a[:, k] / a[k, k], 0.0)
            rest = a - factors[:, None] * jnp.where(places > k, a[k], 0.0)
            return rest.at[:, k].set(jnp.where(places > k, factors, a[:, k]))

        return jnp.sum(w * lax.fori_loop(0, a.shape[0] - 1, eliminate, a))

    return loss


def by_hand(a, w):
    """The factors are all that has to be kept; their adjoint becomes that of the matrix."""
    a, bar, n = a.copy(), w.copy(), len(a)
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    for k in range(n - 2, -1, -1):
        factors, row, rest = a[k + 1 :, k], a[k, k + 1 :], bar[k + 1 :, k + 1 :]
        bar[k, k + 1 :] -= factors @ rest
        bar[k + 1 :, k] = (bar[k + 1 :, k] - rest @ row) / a[k, k]
        bar[k, k] -= bar[k + 1 :, k] @ factors
    return (bar,)


def by_hand_in_loops(a, w):
    a, bar, n = a.copy(), w.copy(), len(a)
    for k in range(n - 1):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    for k in range(n - 2, -1, -1):
        for i in range(k + 1, n):
            factor_bar = bar[i, k]
            for j in range(k + 1, n):
                factor_bar -= bar[i, j] * a[k, j]
                bar[k, j] -= bar[i, j] * a[i, k]
            bar[i, k] = factor_bar / a[k, k]
            bar[k, k] -= bar[i, k] * a[i, k]
    return (bar,)


CASE = Case("lu", lu_loss, (0,), arguments, small=(4,), large=(120,), jax=in_jax, hand_numpy=by_hand,
            hand_numba=by_hand_in_loops)  # fmt: skip
