"""Jacobi sweeps for the Poisson equation."""

import numpy as np

from benchmarks.case import Case, wave


def jacobi(u, f, h, sweeps):
    """Sweeps for the Poisson equation on a square; the values on the boundary stay."""
    new = u.copy()
    for _ in range(sweeps):
        new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - h * h * f[1:-1, 1:-1])
        u, new = new, u
    return u


def jacobi_loss(u, f, h, sweeps):
    u = jacobi(u.copy(), f, h, sweeps)
    return np.sum(u * u)


def arguments(n, t):
    return wave(n, n), wave(n, n, phase=1.0), 0.5, t


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(u, f, h, sweeps):
        def sweep(_, u):
            new = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - h * h * f[1:-1, 1:-1])
            return u.at[1:-1, 1:-1].set(new)

        return jnp.sum(lax.fori_loop(0, sweeps, sweep, u) ** 2)

    return loss


CASE = Case("jacobi", jacobi_loss, (0, 1), arguments, small=(6, 4), large=(256, 100), limit=4.0, jax=in_jax)
