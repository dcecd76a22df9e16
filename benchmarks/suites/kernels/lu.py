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


CASE = Case("lu", lu_loss, (0,), arguments, small=(4,), large=(120,), jax=in_jax)
