"""Heat in a rod, by explicit steps in place."""

import numpy as np

from benchmarks.case import Case, wave


def heat_1d(u, r, steps):
    """Explicit steps on a rod with fixed ends, in place."""
    for _ in range(steps):
        u[1:-1] += r * (u[2:] - 2.0 * u[1:-1] + u[:-2])


def heat_1d_loss(u, r, steps):
    u = u.copy()
    heat_1d(u, r, steps)
    return np.sum(u * u)


def arguments(n, t):
    return wave(n), 0.2, t


def in_jax():
    import jax
    import jax.numpy as jnp

    def loss(u, r, steps):
        def step(_, u):
            return u.at[1:-1].add(r * (u[2:] - 2.0 * u[1:-1] + u[:-2]))

        return jnp.sum(jax.lax.fori_loop(0, steps, step, u) ** 2)

    return loss


def in_torch():
    import torch

    def loss(u, r, steps):
        for _ in range(steps):
            inner = u[1:-1] + r * (u[2:] - 2.0 * u[1:-1] + u[:-2])
            u = torch.cat((u[:1], inner, u[-1:]))
        return torch.sum(u * u)

    return loss


def in_autograd():
    import autograd.numpy as anp

    def loss(u, r, steps):
        for _ in range(steps):
            inner = u[1:-1] + r * (u[2:] - 2.0 * u[1:-1] + u[:-2])
            u = anp.concatenate((u[:1], inner, u[-1:]))
        return anp.sum(u * u)

    return loss


def by_hand(u, r, steps):
    """Linear in ``u``: nothing is kept."""
    u = u.copy()
    heat_1d(u, r, steps)
    u_bar = 2.0 * u
    for _ in range(steps):
        inner_bar = r * u_bar[1:-1]
        u_bar[2:] += inner_bar
        u_bar[1:-1] -= 2.0 * inner_bar
        u_bar[:-2] += inner_bar
    return (u_bar,)


def by_hand_in_loops(u, r, steps):
    """The same from one array into another, in gather form: what reaches an element comes from its neighbours."""
    n = len(u)
    u, other = u.copy(), u.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            other[i] = u[i] + r * (u[i + 1] - 2.0 * u[i] + u[i - 1])
        u, other = other, u
    u_bar, other = 2.0 * u, np.zeros(n)
    for _ in range(steps):
        for i in range(1, n - 1):
            left = u_bar[i - 1] if i > 1 else 0.0
            right = u_bar[i + 1] if i < n - 2 else 0.0
            other[i] = u_bar[i] + r * (left - 2.0 * u_bar[i] + right)
        other[0] = u_bar[0] + r * u_bar[1]
        other[n - 1] = u_bar[n - 1] + r * u_bar[n - 2]
        u_bar, other = other, u_bar
    return (u_bar,)


CASE = Case(
    "heat_1d", heat_1d_loss, (0,), arguments, small=(9, 5), large=(20_000, 500), limit=4.0, jax=in_jax, torch=in_torch,
    autograd=in_autograd, hand_numpy=by_hand, hand_numba=by_hand_in_loops,
)  # fmt: skip
