"""Electromagnetic waves in two dimensions, by Yee's scheme."""

import numpy as np

from benchmarks.case import Case, wave


def maxwell_tm(ez, hx, hy, eps, courant, steps):
    """Yee's scheme in two dimensions, transverse magnetic, with a source in the middle and conducting walls."""
    mid_x, mid_y = ez.shape[0] // 2, ez.shape[1] // 2
    for t in range(steps):
        hx[:, :-1] -= courant * (ez[:, 1:] - ez[:, :-1])
        hy[:-1, :] += courant * (ez[1:, :] - ez[:-1, :])
        curl = hy[1:-1, 1:-1] - hy[:-2, 1:-1] - hx[1:-1, 1:-1] + hx[1:-1, :-2]
        ez[1:-1, 1:-1] += courant / eps[1:-1, 1:-1] * curl
        ez[mid_x, mid_y] += np.sin(0.3 * t)


def maxwell_tm_loss(ez, eps, courant, steps):
    ez = ez.copy()
    hx, hy = np.zeros_like(ez), np.zeros_like(ez)
    maxwell_tm(ez, hx, hy, eps, courant, steps)
    return np.sum(eps * ez * ez) + np.sum(hx * hx + hy * hy)


def arguments(n, t):
    return 0.1 * wave(n, n), 2.0 + wave(n, n, phase=1.0), 0.4, t


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(ez, eps, courant, steps):
        mid_x, mid_y = ez.shape[0] // 2, ez.shape[1] // 2

        def step(t, state):
            ez, hx, hy = state
            hx = hx.at[:, :-1].add(-courant * (ez[:, 1:] - ez[:, :-1]))
            hy = hy.at[:-1].add(courant * (ez[1:] - ez[:-1]))
            curl = hy[1:-1, 1:-1] - hy[:-2, 1:-1] - hx[1:-1, 1:-1] + hx[1:-1, :-2]
            ez = ez.at[1:-1, 1:-1].add(courant / eps[1:-1, 1:-1] * curl)
            return ez.at[mid_x, mid_y].add(jnp.sin(0.3 * t)), hx, hy

        ez, hx, hy = lax.fori_loop(0, steps, step, (ez, jnp.zeros_like(ez), jnp.zeros_like(ez)))
        return jnp.sum(eps * ez * ez) + jnp.sum(hx * hx + hy * hy)

    return loss


def by_hand(ez, eps, courant, steps):
    """The curls are kept; what the permittivity gets from each is divided once."""
    mid_x, mid_y = ez.shape[0] // 2, ez.shape[1] // 2
    ez, hx, hy = ez.copy(), np.zeros_like(ez), np.zeros_like(ez)
    curls = np.empty((steps, ez.shape[0] - 2, ez.shape[1] - 2))
    rate = courant / eps[1:-1, 1:-1]
    for t in range(steps):
        hx[:, :-1] -= courant * (ez[:, 1:] - ez[:, :-1])
        hy[:-1, :] += courant * (ez[1:, :] - ez[:-1, :])
        np.subtract(hy[1:-1, 1:-1], hy[:-2, 1:-1], out=curls[t])
        curls[t] -= hx[1:-1, 1:-1]
        curls[t] += hx[1:-1, :-2]
        ez[1:-1, 1:-1] += rate * curls[t]
        ez[mid_x, mid_y] += np.sin(0.3 * t)
    ez_bar, eps_bar, hx_bar, hy_bar = 2.0 * eps * ez, ez * ez, 2.0 * hx, 2.0 * hy
    total = np.zeros_like(rate)
    for t in range(steps - 1, -1, -1):
        total += ez_bar[1:-1, 1:-1] * curls[t]
        curl_bar = rate * ez_bar[1:-1, 1:-1]
        hy_bar[1:-1, 1:-1] += curl_bar
        hy_bar[:-2, 1:-1] -= curl_bar
        hx_bar[1:-1, 1:-1] -= curl_bar
        hx_bar[1:-1, :-2] += curl_bar
        along = courant * hy_bar[:-1]
        ez_bar[1:] += along
        ez_bar[:-1] -= along
        along = courant * hx_bar[:, :-1]
        ez_bar[:, 1:] -= along
        ez_bar[:, :-1] += along
    eps_bar[1:-1, 1:-1] -= total * rate / eps[1:-1, 1:-1]
    return ez_bar, eps_bar


CASE = Case("maxwell_tm", maxwell_tm_loss, (0, 1), arguments, small=(6, 5), large=(200, 100), jax=in_jax,
            hand_numpy=by_hand)  # fmt: skip
