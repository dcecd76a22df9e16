"""Gauss-Seidel sweeps with over-relaxation, element by element."""

import numpy as np

from benchmarks.case import Case, wave


def gauss_seidel(u, f, h, omega, sweeps):
    """Sweeps with over-relaxation, element by element: new values are used as soon as they are there."""
    rows, columns = u.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                u[i, j] += omega * (0.25 * (around - h * h * f[i, j]) - u[i, j])


def gauss_seidel_loss(u, f, h, omega, sweeps):
    u = u.copy()
    gauss_seidel(u, f, h, omega, sweeps)
    return np.sum(u * u)


def arguments(n, t):
    return wave(n, n), wave(n, n, phase=1.0), 0.5, 1.2, t


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(u, f, h, omega, sweeps):
        def row(above, given):
            old, below, source = given
            around = above[1:-1] + below[1:-1] + old[2:] - h * h * source[1:-1]
            base = omega * 0.25 * around + (1.0 - omega) * old[1:-1]

            def place(left, start):
                new = start + 0.25 * omega * left
                return new, new

            _, inner = lax.scan(place, old[0], base)
            new = old.at[1:-1].set(inner)
            return new, new

        def sweep(_, u):
            _, inner = lax.scan(row, u[0], (u[1:-1], u[2:], f[1:-1]))
            return u.at[1:-1].set(inner)

        return jnp.sum(lax.fori_loop(0, sweeps, sweep, u) ** 2)

    return loss


def by_hand(u, f, h, omega, sweeps):
    """Linear: nothing is kept. In NumPy as for Numba: each element needs the one before it."""
    rows, columns = u.shape
    u = u.copy()
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                u[i, j] += omega * (0.25 * (around - h * h * f[i, j]) - u[i, j])
    u_bar, f_bar = 2.0 * u, np.zeros_like(f)
    for _ in range(sweeps):
        for i in range(rows - 2, 0, -1):
            for j in range(columns - 2, 0, -1):
                quarter = 0.25 * omega * u_bar[i, j]
                u_bar[i, j] *= 1.0 - omega
                f_bar[i, j] -= h * h * quarter
                u_bar[i - 1, j] += quarter
                u_bar[i + 1, j] += quarter
                u_bar[i, j - 1] += quarter
                u_bar[i, j + 1] += quarter
    return u_bar, f_bar


CASE = Case("gauss_seidel", gauss_seidel_loss, (0, 1), arguments, small=(5, 3), large=(40, 10), limit=4.0, jax=in_jax,
            hand_numpy=by_hand, hand_numba=by_hand)  # fmt: skip
