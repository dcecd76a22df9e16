"""Burgers' equation in one dimension for a batch of starts, by upwind fluxes."""

import numpy as np

from benchmarks.case import Case, wave


def burgers(u, courant, steps):
    """Explicit steps of ``u`` (batch, places), in place; the flux at a face is that of the side it comes from."""
    batch, n = u.shape
    flux = np.empty((batch, n + 1))
    for _ in range(steps):
        speed = 0.5 * (u[:, 1:] + u[:, :-1])
        flux[:, 1:-1] = np.where(speed > 0.0, 0.5 * u[:, :-1] ** 2, 0.5 * u[:, 1:] ** 2)
        flux[:, 0] = 0.5 * u[:, 0] ** 2
        flux[:, -1] = 0.5 * u[:, -1] ** 2
        u -= courant * (flux[:, 1:] - flux[:, :-1])


def burgers_loss(u, courant, steps):
    u = u.copy()
    burgers(u, courant, steps)
    return np.sum(u**4)


def arguments(batch, n, steps):
    return 1.5 * np.sin(np.linspace(0.0, 8.0, n) + 2.0 * wave(batch, 1)) + 0.3, 0.3, steps


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(u, courant, steps):
        def step(_, u):
            half = 0.5 * u**2
            inner = jnp.where(u[:, 1:] + u[:, :-1] > 0.0, half[:, :-1], half[:, 1:])
            flux = jnp.concatenate((half[:, :1], inner, half[:, -1:]), axis=1)
            return u - courant * (flux[:, 1:] - flux[:, :-1])

        return jnp.sum(lax.fori_loop(0, steps, step, u) ** 4)

    return loss


def in_torch():
    import torch

    def loss(u, courant, steps):
        for _ in range(steps):
            half = 0.5 * u**2
            inner = torch.where(u[:, 1:] + u[:, :-1] > 0.0, half[:, :-1], half[:, 1:])
            flux = torch.cat((half[:, :1], inner, half[:, -1:]), dim=1)
            u = u - courant * (flux[:, 1:] - flux[:, :-1])
        return torch.sum(u**4)

    return loss


def in_autograd():
    import autograd.numpy as anp

    def loss(u, courant, steps):
        for _ in range(steps):
            half = 0.5 * u**2
            inner = anp.where(u[:, 1:] + u[:, :-1] > 0.0, half[:, :-1], half[:, 1:])
            flux = anp.concatenate((half[:, :1], inner, half[:, -1:]), axis=1)
            u = u - courant * (flux[:, 1:] - flux[:, :-1])
        return anp.sum(u**4)

    return loss


def by_hand(u, courant, steps):
    """The states are kept; where the wind blows from is found again."""
    states = np.empty((steps + 1, *u.shape))
    states[0] = u
    flux = np.empty((u.shape[0], u.shape[1] + 1))
    for t in range(steps):
        u = states[t]
        half = 0.5 * u * u
        flux[:, 1:-1] = np.where(u[:, 1:] + u[:, :-1] > 0.0, half[:, :-1], half[:, 1:])
        flux[:, 0], flux[:, -1] = half[:, 0], half[:, -1]
        np.subtract(u, courant * (flux[:, 1:] - flux[:, :-1]), out=states[t + 1])
    bar = 4.0 * states[steps] ** 3
    for t in range(steps - 1, -1, -1):
        u = states[t]
        flux_bar = courant * (bar[:, 1:] - bar[:, :-1])
        left = u[:, 1:] + u[:, :-1] > 0.0
        half_bar = np.zeros_like(bar)
        half_bar[:, :-1] = np.where(left, flux_bar, 0.0)
        half_bar[:, 1:] += np.where(left, 0.0, flux_bar)
        half_bar[:, 0] += courant * bar[:, 0]
        half_bar[:, -1] -= courant * bar[:, -1]
        bar += half_bar * u
    return (bar,)


def by_hand_in_loops(u, courant, steps):
    """Line by line, so that a line stays in the cache; an element gets what its two faces give."""
    batch, n = u.shape
    u_bar, states = np.empty_like(u), np.empty((steps + 1, n))
    new = np.empty(n)
    for line in range(batch):
        states[0] = u[line]
        for t in range(steps):
            now, later = states[t], states[t + 1]
            before = 0.5 * now[0] * now[0]
            for i in range(n):
                other = now[i + 1] if i < n - 1 and now[i] + now[i + 1] <= 0.0 else now[i]
                flux = 0.5 * other * other
                later[i] = now[i] - courant * (flux - before)
                before = flux
        bar = u_bar[line]
        for i in range(n):
            bar[i] = 4.0 * states[steps, i] ** 3
        for t in range(steps - 1, -1, -1):
            now = states[t]
            for i in range(n):
                total = 0.0
                if i == 0 or now[i] + now[i - 1] <= 0.0:
                    total += bar[i] - bar[i - 1] if i > 0 else bar[i]
                if i == n - 1 or now[i + 1] + now[i] > 0.0:
                    total += bar[i + 1] - bar[i] if i < n - 1 else -bar[i]
                new[i] = bar[i] + courant * total * now[i]
            bar[:] = new
    return (u_bar,)


CASE = Case("burgers_batch", burgers_loss, (0,), arguments, small=(2, 6, 4), large=(20, 1000, 100), jax=in_jax,
            torch=in_torch, autograd=in_autograd, hand_numpy=by_hand, hand_numba=by_hand_in_loops)  # fmt: skip
