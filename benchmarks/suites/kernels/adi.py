"""Diffusion in two dimensions by alternating directions."""

import numpy as np

from benchmarks.case import Case, wave


def adi(u, r, steps):
    """Diffusion with alternating directions: each half step solves tridiagonal systems, all lines at once."""
    n = u.shape[0]
    half = np.zeros_like(u)
    p, q = np.zeros_like(u), np.zeros_like(u)
    for _ in range(steps):
        p[0], q[0] = 0.0, 0.0
        for i in range(1, n - 1):
            right = r * u[i, :-2] + (1.0 - 2.0 * r) * u[i, 1:-1] + r * u[i, 2:]
            below = 1.0 + 2.0 * r - r * p[i - 1, 1:-1]
            p[i, 1:-1] = r / below
            q[i, 1:-1] = (right + r * q[i - 1, 1:-1]) / below
        for i in range(n - 2, 0, -1):
            half[i, 1:-1] = p[i, 1:-1] * half[i + 1, 1:-1] + q[i, 1:-1]
        p[:, 0], q[:, 0] = 0.0, 0.0
        for j in range(1, n - 1):
            right = r * half[:-2, j] + (1.0 - 2.0 * r) * half[1:-1, j] + r * half[2:, j]
            below = 1.0 + 2.0 * r - r * p[1:-1, j - 1]
            p[1:-1, j] = r / below
            q[1:-1, j] = (right + r * q[1:-1, j - 1]) / below
        u[:, -1] = 0.0
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]


def adi_loss(u, r, steps):
    u = u.copy()
    adi(u, r, steps)
    return np.sum(u * u)


def arguments(n, t):
    return wave(n, n), 0.3, t


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def solved(r, right):
        """Of the systems along the first axis, one for each column of the second."""
        def down(before, right):
            p, q = before
            below = 1.0 + 2.0 * r - r * p
            state = r / below, (right + r * q) / below
            return state, state

        def up(after, pair):
            x = pair[0] * after + pair[1]
            return x, x

        zeros = jnp.zeros(right.shape[1])
        _, pairs = lax.scan(down, (zeros, zeros), right)
        return lax.scan(up, zeros, pairs, reverse=True)[1]

    def loss(u, r, steps):
        def step(_, u):
            half = solved(r, r * u[1:-1, :-2] + (1.0 - 2.0 * r) * u[1:-1, 1:-1] + r * u[1:-1, 2:])
            half = jnp.pad(half, 1)
            right = r * half[:-2, 1:-1] + (1.0 - 2.0 * r) * half[1:-1, 1:-1] + r * half[2:, 1:-1]
            return u.at[:, -1].set(0.0).at[1:-1, 1:-1].set(solved(r, right.T).T)

        return jnp.sum(lax.fori_loop(0, steps, step, u) ** 2)

    return loss


CASE = Case("adi", adi_loss, (0, 1), arguments, small=(6, 3), large=(120, 10), jax=in_jax)
