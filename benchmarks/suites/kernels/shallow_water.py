"""Shallow water between walls, by explicit steps."""

import numpy as np

from benchmarks.case import Case, wave


def shallow_water(h, u, v, gravity, dt, steps):
    """Explicit steps of height and velocities between walls, with a little smoothing."""
    for _ in range(steps):
        dh_x, dh_y = h[2:, 1:-1] - h[:-2, 1:-1], h[1:-1, 2:] - h[1:-1, :-2]
        du_x, du_y = u[2:, 1:-1] - u[:-2, 1:-1], u[1:-1, 2:] - u[1:-1, :-2]
        dv_x, dv_y = v[2:, 1:-1] - v[:-2, 1:-1], v[1:-1, 2:] - v[1:-1, :-2]
        hi, ui, vi = h[1:-1, 1:-1], u[1:-1, 1:-1], v[1:-1, 1:-1]
        rate_h = ui * dh_x + vi * dh_y + hi * (du_x + dv_y)
        rate_u = ui * du_x + vi * du_y + gravity * dh_x
        rate_v = ui * dv_x + vi * dv_y + gravity * dh_y
        hi -= 0.5 * dt * rate_h
        ui -= 0.5 * dt * rate_u
        vi -= 0.5 * dt * rate_v
        hi += 0.02 * (h[2:, 1:-1] + h[:-2, 1:-1] + h[1:-1, 2:] + h[1:-1, :-2] - 4.0 * hi)
        h[0], h[-1], h[:, 0], h[:, -1] = h[1], h[-2], h[:, 1], h[:, -2]
        u[0], u[-1] = 0.0, 0.0
        v[:, 0], v[:, -1] = 0.0, 0.0


def shallow_water_loss(h, u, v, gravity, dt, steps):
    h, u, v = h.copy(), u.copy(), v.copy()
    shallow_water(h, u, v, gravity, dt, steps)
    return 0.5 * np.sum(h * (u * u + v * v)) + 0.5 * gravity * np.sum(h * h)


def arguments(n, t):
    return 2.0 + 0.1 * wave(n, n), 0.1 * wave(n, n, phase=1.0), 0.1 * wave(n, n, phase=2.0), 9.8, 0.05, t


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(h, u, v, gravity, dt, steps):
        def along(a):
            return a[2:, 1:-1] - a[:-2, 1:-1]

        def across(a):
            return a[1:-1, 2:] - a[1:-1, :-2]

        def step(_, state):
            h, u, v = state
            hi, ui, vi = h[1:-1, 1:-1], u[1:-1, 1:-1], v[1:-1, 1:-1]
            rate_h = ui * along(h) + vi * across(h) + hi * (along(u) + across(v))
            rate_u = ui * along(u) + vi * across(u) + gravity * along(h)
            rate_v = ui * along(v) + vi * across(v) + gravity * across(h)
            hi = hi - 0.5 * dt * rate_h
            u = u.at[1:-1, 1:-1].add(-0.5 * dt * rate_u).at[0].set(0.0).at[-1].set(0.0)
            v = v.at[1:-1, 1:-1].add(-0.5 * dt * rate_v).at[:, 0].set(0.0).at[:, -1].set(0.0)
            h = h.at[1:-1, 1:-1].set(hi)
            hi = hi + 0.02 * (h[2:, 1:-1] + h[:-2, 1:-1] + h[1:-1, 2:] + h[1:-1, :-2] - 4.0 * hi)
            h = h.at[1:-1, 1:-1].set(hi)
            h = h.at[0].set(h[1]).at[-1].set(h[-2])
            return h.at[:, 0].set(h[:, 1]).at[:, -1].set(h[:, -2]), u, v

        h, u, v = lax.fori_loop(0, steps, step, (h, u, v))
        return 0.5 * jnp.sum(h * (u * u + v * v)) + 0.5 * gravity * jnp.sum(h * h)

    return loss


CASE = Case("shallow_water", shallow_water_loss, (0, 1, 2), arguments, small=(6, 4), large=(200, 30), jax=in_jax)
