"""Viscous flow in a box whose lid moves, by projection."""

import numpy as np

from benchmarks.case import Case, wave


def pressure(p, b, dx, sweeps):
    """Relax the pressure against the source ``b``; no gradient at three walls, zero at the lid."""
    for _ in range(sweeps):
        old = p.copy()
        around = old[1:-1, 2:] + old[1:-1, :-2] + old[2:, 1:-1] + old[:-2, 1:-1]
        p[1:-1, 1:-1] = 0.25 * (around - dx * dx * b[1:-1, 1:-1])
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0.0


def cavity(u, v, p, nu, dx, dt, steps, sweeps):
    """Viscous flow in a box whose lid moves, by projection steps."""
    b = np.zeros_like(u)
    for _ in range(steps):
        un, vn = u.copy(), v.copy()
        ux = (un[1:-1, 2:] - un[1:-1, :-2]) / (2.0 * dx)
        vy = (vn[2:, 1:-1] - vn[:-2, 1:-1]) / (2.0 * dx)
        uy = (un[2:, 1:-1] - un[:-2, 1:-1]) / (2.0 * dx)
        vx = (vn[1:-1, 2:] - vn[1:-1, :-2]) / (2.0 * dx)
        b[1:-1, 1:-1] = (ux + vy) / dt - ux**2 - 2.0 * uy * vx - vy**2
        pressure(p, b, dx, sweeps)
        ui, vi = un[1:-1, 1:-1], vn[1:-1, 1:-1]
        u[1:-1, 1:-1] = (
            ui - dt / dx * (ui * (ui - un[1:-1, :-2]) + vi * (ui - un[:-2, 1:-1]))
            - 0.5 * dt / dx * (p[1:-1, 2:] - p[1:-1, :-2])
            + nu * dt / dx**2 * (un[1:-1, 2:] + un[1:-1, :-2] + un[2:, 1:-1] + un[:-2, 1:-1] - 4.0 * ui)
        )  # fmt: skip
        v[1:-1, 1:-1] = (
            vi - dt / dx * (ui * (vi - vn[1:-1, :-2]) + vi * (vi - vn[:-2, 1:-1]))
            - 0.5 * dt / dx * (p[2:, 1:-1] - p[:-2, 1:-1])
            + nu * dt / dx**2 * (vn[1:-1, 2:] + vn[1:-1, :-2] + vn[2:, 1:-1] + vn[:-2, 1:-1] - 4.0 * vi)
        )  # fmt: skip
        u[0, :], u[:, 0], u[:, -1] = 0.0, 0.0, 0.0
        v[0, :], v[-1, :], v[:, 0], v[:, -1] = 0.0, 0.0, 0.0, 0.0
        u[-1, :] = 1.0


def cavity_loss(u, v, nu, dx, dt, steps, sweeps):
    u, v = u.copy(), v.copy()
    p = np.zeros_like(u)
    cavity(u, v, p, nu, dx, dt, steps, sweeps)
    return np.sum(u * u + v * v) + np.sum(p * p)


def arguments(n, t):
    return 0.1 * wave(n, n), 0.1 * wave(n, n, phase=1.0), 0.1, 2.0 / (n - 1), 0.2 / n ** 2, t, 5


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def x_slope(a):
        return a[1:-1, 2:] - a[1:-1, :-2]

    def y_slope(a):
        return a[2:, 1:-1] - a[:-2, 1:-1]

    def around(a):
        return a[1:-1, 2:] + a[1:-1, :-2] + a[2:, 1:-1] + a[:-2, 1:-1]

    def loss(u, v, nu, dx, dt, steps, sweeps):
        def step(_, state):
            u, v, p = state
            ux, vy = x_slope(u) / (2.0 * dx), y_slope(v) / (2.0 * dx)
            uy, vx = y_slope(u) / (2.0 * dx), x_slope(v) / (2.0 * dx)
            b = (ux + vy) / dt - ux**2 - 2.0 * uy * vx - vy**2

            def relax(_, p):
                p = p.at[1:-1, 1:-1].set(0.25 * (around(p) - dx * dx * b))
                p = p.at[:, -1].set(p[:, -2])
                p = p.at[0].set(p[1])
                return p.at[:, 0].set(p[:, 1]).at[-1].set(0.0)

            p = lax.fori_loop(0, sweeps, relax, p)
            ui, vi = u[1:-1, 1:-1], v[1:-1, 1:-1]

            def moved(a, slope):
                inner = a[1:-1, 1:-1]
                carried = ui * (inner - a[1:-1, :-2]) + vi * (inner - a[:-2, 1:-1])
                spread = around(a) - 4.0 * inner
                return inner - dt / dx * carried - 0.5 * dt / dx * slope + nu * dt / dx**2 * spread

            new_u, new_v = jnp.pad(moved(u, x_slope(p)), 1), jnp.pad(moved(v, y_slope(p)), 1)
            return new_u.at[-1].set(1.0), new_v, p

        u, v, p = lax.fori_loop(0, steps, step, (u, v, jnp.zeros_like(u)))
        return jnp.sum(u * u + v * v) + jnp.sum(p * p)

    return loss


CASE = Case("cavity", cavity_loss, (0, 1, 2), arguments, small=(6, 3), large=(64, 20), jax=in_jax)
