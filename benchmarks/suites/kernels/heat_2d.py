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


def by_hand(u, k, dt, steps):
    """The states are kept; what the conductivity between two places gets is added up before it is shared by both."""
    states = np.empty((steps + 1, *u.shape))
    states[0] = u
    between_x, between_y = 0.5 * dt * (k[1:] + k[:-1]), 0.5 * dt * (k[:, 1:] + k[:, :-1])
    for t in range(steps):
        u, new = states[t], states[t + 1]
        flux_x, flux_y = between_x * (u[1:] - u[:-1]), between_y * (u[:, 1:] - u[:, :-1])
        new[:] = u
        new[:-1] += flux_x
        new[1:] -= flux_x
        new[:, :-1] += flux_y
        new[:, 1:] -= flux_y
    bar = 2.0 * states[steps]
    between_x_bar, between_y_bar = np.zeros_like(between_x), np.zeros_like(between_y)
    for t in range(steps - 1, -1, -1):
        u = states[t]
        flux_x_bar, flux_y_bar = bar[:-1] - bar[1:], bar[:, :-1] - bar[:, 1:]
        between_x_bar += flux_x_bar * (u[1:] - u[:-1])
        between_y_bar += flux_y_bar * (u[:, 1:] - u[:, :-1])
        flux_x_bar *= between_x
        flux_y_bar *= between_y
        bar[1:] += flux_x_bar
        bar[:-1] -= flux_x_bar
        bar[:, 1:] += flux_y_bar
        bar[:, :-1] -= flux_y_bar
    k_bar = np.zeros_like(k)
    k_bar[1:] += between_x_bar
    k_bar[:-1] += between_x_bar
    k_bar[:, 1:] += between_y_bar
    k_bar[:, :-1] += between_y_bar
    k_bar *= 0.5 * dt
    return bar, k_bar


def by_hand_in_loops(u, k, dt, steps):
    """In gather form: each place looks at the four faces around it."""
    rows, columns = u.shape
    states = np.empty((steps + 1, rows, columns))
    states[0] = u
    for t in range(steps):
        u, new = states[t], states[t + 1]
        for i in range(rows):
            for j in range(columns):
                total = 0.0
                if i > 0:
                    total += (k[i, j] + k[i - 1, j]) * (u[i - 1, j] - u[i, j])
                if i < rows - 1:
                    total += (k[i, j] + k[i + 1, j]) * (u[i + 1, j] - u[i, j])
                if j > 0:
                    total += (k[i, j] + k[i, j - 1]) * (u[i, j - 1] - u[i, j])
                if j < columns - 1:
                    total += (k[i, j] + k[i, j + 1]) * (u[i, j + 1] - u[i, j])
                new[i, j] = u[i, j] + 0.5 * dt * total
    bar, k_bar, new = 2.0 * states[steps], np.zeros_like(k), np.empty((rows, columns))
    for t in range(steps - 1, -1, -1):
        u = states[t]
        for i in range(rows):
            for j in range(columns):
                total = 0.0
                of_k = 0.0
                if i > 0:
                    away = bar[i - 1, j] - bar[i, j]
                    total += (k[i, j] + k[i - 1, j]) * away
                    of_k += away * (u[i, j] - u[i - 1, j])
                if i < rows - 1:
                    away = bar[i + 1, j] - bar[i, j]
                    total += (k[i, j] + k[i + 1, j]) * away
                    of_k += away * (u[i, j] - u[i + 1, j])
                if j > 0:
                    away = bar[i, j - 1] - bar[i, j]
                    total += (k[i, j] + k[i, j - 1]) * away
                    of_k += away * (u[i, j] - u[i, j - 1])
                if j < columns - 1:
                    away = bar[i, j + 1] - bar[i, j]
                    total += (k[i, j] + k[i, j + 1]) * away
                    of_k += away * (u[i, j] - u[i, j + 1])
                new[i, j] = bar[i, j] + 0.5 * dt * total
                k_bar[i, j] += 0.5 * dt * of_k
        bar, new = new, bar
    return bar, k_bar


CASE = Case("heat_2d", heat_2d_loss, (0, 1), arguments, small=(5, 3), large=(200, 100), jax=in_jax,
            hand_numpy=by_hand, hand_numba=by_hand_in_loops)  # fmt: skip
