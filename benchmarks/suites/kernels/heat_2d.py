"""Heat in a plate of varying conductivity, by fluxes."""

import numpy as np

from benchmarks.case import Case, wave


def heat_2d(u, k, dt, steps):
    """Explicit steps on a plate whose conductivity ``k`` differs from place to place; the rim is insulated."""
    flux_x, flux_y = np.zeros_like(u), np.zeros_like(u)
    for _ in range(steps):
        flux_x[:-1] = 0.5 * (k[1:] + k[:-1]) * (u[1:] - u[:-1])
        flux_y[:, :-1] = 0.5 * (k[:, 1:] + k[:, :-1]) * (u[:, 1:] - u[:, :-1])
        u += dt * (flux_x + flux_y)
        u[1:] -= dt * flux_x[:-1]
        u[:, 1:] -= dt * flux_y[:, :-1]


def heat_2d_loss(u, k, dt, steps):
    u = u.copy()
    heat_2d(u, k, dt, steps)
    return np.sum(u * u)


def arguments(n, t):
    return wave(n, n), 1.0 + 0.5 * wave(n, n, phase=2.0), 0.1, t


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(u, k, dt, steps):
        def step(_, u):
            flux_x = 0.5 * (k[1:] + k[:-1]) * (u[1:] - u[:-1])
            flux_y = 0.5 * (k[:, 1:] + k[:, :-1]) * (u[:, 1:] - u[:, :-1])
            u = u.at[:-1].add(dt * flux_x).at[1:].add(-dt * flux_x)
            return u.at[:, :-1].add(dt * flux_y).at[:, 1:].add(-dt * flux_y)

        return jnp.sum(lax.fori_loop(0, steps, step, u) ** 2)

    return loss


CASE = Case("heat_2d", heat_2d_loss, (0, 1), arguments, small=(5, 3), large=(200, 100), jax=in_jax)
