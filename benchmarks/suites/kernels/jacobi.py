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


def by_hand(u, f, h, sweeps):
    """Linear: nothing is kept."""
    bar = 2.0 * jacobi(u.copy(), f, h, sweeps)
    f_bar = np.zeros_like(f)
    for _ in range(sweeps):
        inner = 0.25 * bar[1:-1, 1:-1]
        f_bar[1:-1, 1:-1] -= inner
        bar[1:-1, 1:-1] = 0.0
        bar[:-2, 1:-1] += inner
        bar[2:, 1:-1] += inner
        bar[1:-1, :-2] += inner
        bar[1:-1, 2:] += inner
    f_bar *= h * h
    return bar, f_bar


def by_hand_in_loops(u, f, h, sweeps):
    """In gather form; ``now`` and ``later`` are a quarter of the adjoint inside, and zero on the rim."""
    rows, columns = u.shape
    u, new = u.copy(), u.copy()
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                new[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - h * h * f[i, j])
        u, new = new, u
    bar, f_bar, now, later = 2.0 * u, np.zeros_like(f), np.zeros_like(u), np.zeros_like(u)
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            now[i, j] = 0.25 * bar[i, j]
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            bar[i, 0] += now[i, 1]
            bar[i, columns - 1] += now[i, columns - 2]
            for j in range(1, columns - 1):
                f_bar[i, j] -= h * h * now[i, j]
                later[i, j] = 0.25 * (now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1])
        for j in range(1, columns - 1):
            bar[0, j] += now[1, j]
            bar[rows - 1, j] += now[rows - 2, j]
        now, later = later, now
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            bar[i, j] = 4.0 * now[i, j]
    return bar, f_bar


CASE = Case("jacobi", jacobi_loss, (0, 1), arguments, small=(6, 4), large=(256, 100), limit=4.0, jax=in_jax,
            hand_numpy=by_hand, hand_numba=by_hand_in_loops)  # fmt: skip
