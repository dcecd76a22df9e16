"""Two substances that react and diffuse on a periodic grid (Gray and Scott 1983)."""

import numpy as np

from benchmarks.case import Case, wave


def laplacian(a):
    """On a periodic grid."""
    return np.roll(a, 1, axis=0) + np.roll(a, -1, axis=0) + np.roll(a, 1, axis=1) + np.roll(a, -1, axis=1) - 4.0 * a


def gray_scott(u, v, feed, kill, steps):
    """Explicit steps of unit length."""
    for _ in range(steps):
        reaction = u * v**2
        u = u + 0.16 * laplacian(u) - reaction + feed * (1.0 - u)
        v = v + 0.08 * laplacian(v) + reaction - (feed + kill) * v
    return u, v


def gray_scott_loss(u, v, feed, kill, steps):
    u, v = gray_scott(u, v, feed, kill, steps)
    return np.sum(u * u) + np.sum(v * v)


def arguments(n, steps):
    return 0.8 + 0.1 * wave(n, n), 0.2 + 0.1 * wave(n, n, phase=1.0), 0.035, 0.06, steps


def gray_scott_in_jax():
    import jax.numpy as jnp
    from jax import lax

    def spread(a):
        return jnp.roll(a, 1, 0) + jnp.roll(a, -1, 0) + jnp.roll(a, 1, 1) + jnp.roll(a, -1, 1) - 4.0 * a

    def loss(u, v, feed, kill, steps):
        def step(_, state):
            u, v = state
            reaction = u * v**2
            return (u + 0.16 * spread(u) - reaction + feed * (1.0 - u),
                    v + 0.08 * spread(v) + reaction - (feed + kill) * v)  # fmt: skip

        u, v = lax.fori_loop(0, steps, step, (u, v))
        return jnp.sum(u * u) + jnp.sum(v * v)

    return loss


def gray_scott_in_autograd():
    import autograd.numpy as anp

    def spread(a):
        return (anp.roll(a, 1, axis=0) + anp.roll(a, -1, axis=0) + anp.roll(a, 1, axis=1) + anp.roll(a, -1, axis=1)
                - 4.0 * a)  # fmt: skip

    def loss(u, v, feed, kill, steps):
        for _ in range(steps):
            reaction = u * v**2
            u, v = (u + 0.16 * spread(u) - reaction + feed * (1.0 - u),
                    v + 0.08 * spread(v) + reaction - (feed + kill) * v)  # fmt: skip
        return anp.sum(u * u) + anp.sum(v * v)

    return loss


def gray_scott_in_torch():
    import torch

    def spread(a):
        return torch.roll(a, 1, 0) + torch.roll(a, -1, 0) + torch.roll(a, 1, 1) + torch.roll(a, -1, 1) - 4.0 * a

    def loss(u, v, feed, kill, steps):
        for _ in range(steps):
            reaction = u * v**2
            u, v = (u + 0.16 * spread(u) - reaction + feed * (1.0 - u),
                    v + 0.08 * spread(v) + reaction - (feed + kill) * v)  # fmt: skip
        return torch.sum(u * u) + torch.sum(v * v)

    return loss


def gray_scott_by_hand(u, v, feed, kill, steps):
    """The Laplacian is its own adjoint."""
    kept = []
    for _ in range(steps):
        kept.append((u, v))
        reaction = u * v**2
        u, v = (u + 0.16 * laplacian(u) - reaction + feed * (1.0 - u),
                v + 0.08 * laplacian(v) + reaction - (feed + kill) * v)  # fmt: skip
    u_bar, v_bar = 2.0 * u, 2.0 * v
    feed_bar = kill_bar = 0.0
    for u, v in reversed(kept):
        against = np.vdot(v_bar, v)
        feed_bar += np.sum(u_bar) - np.vdot(u_bar, u) - against
        kill_bar -= against
        reaction_bar = (v_bar - u_bar) * v
        u_bar = (1.0 - feed) * u_bar + 0.16 * laplacian(u_bar) + reaction_bar * v
        v_bar = (1.0 - feed - kill) * v_bar + 0.08 * laplacian(v_bar) + 2.0 * reaction_bar * u
    return u_bar, v_bar, feed_bar, kill_bar


def gray_scott_by_hand_in_loops(u, v, feed, kill, steps):
    n, m = u.shape
    us, vs = np.empty((steps + 1, n, m)), np.empty((steps + 1, n, m))
    us[0], vs[0] = u, v
    for t in range(steps):
        u, v, new_u, new_v = us[t], vs[t], us[t + 1], vs[t + 1]
        for i in range(n):
            up, down = (i - 1) % n, (i + 1) % n
            for j in range(m):
                left, right = j - 1 if j > 0 else m - 1, j + 1 if j < m - 1 else 0
                spread_u = u[up, j] + u[down, j] + u[i, left] + u[i, right] - 4.0 * u[i, j]
                spread_v = v[up, j] + v[down, j] + v[i, left] + v[i, right] - 4.0 * v[i, j]
                reaction = u[i, j] * v[i, j] * v[i, j]
                new_u[i, j] = u[i, j] + 0.16 * spread_u - reaction + feed * (1.0 - u[i, j])
                new_v[i, j] = v[i, j] + 0.08 * spread_v + reaction - (feed + kill) * v[i, j]
    u_bar, v_bar = 2.0 * us[steps], 2.0 * vs[steps]
    next_u, next_v = np.empty((n, m)), np.empty((n, m))
    feed_bar = kill_bar = 0.0
    for t in range(steps - 1, -1, -1):
        u, v = us[t], vs[t]
        for i in range(n):
            up, down = (i - 1) % n, (i + 1) % n
            for j in range(m):
                left, right = j - 1 if j > 0 else m - 1, j + 1 if j < m - 1 else 0
                spread_u = u_bar[up, j] + u_bar[down, j] + u_bar[i, left] + u_bar[i, right] - 4.0 * u_bar[i, j]
                spread_v = v_bar[up, j] + v_bar[down, j] + v_bar[i, left] + v_bar[i, right] - 4.0 * v_bar[i, j]
                reaction_bar = (v_bar[i, j] - u_bar[i, j]) * v[i, j]
                feed_bar += u_bar[i, j] * (1.0 - u[i, j]) - v_bar[i, j] * v[i, j]
                kill_bar -= v_bar[i, j] * v[i, j]
                next_u[i, j] = (1.0 - feed) * u_bar[i, j] + 0.16 * spread_u + reaction_bar * v[i, j]
                next_v[i, j] = (1.0 - feed - kill) * v_bar[i, j] + 0.08 * spread_v + 2.0 * reaction_bar * u[i, j]
        u_bar, v_bar, next_u, next_v = next_u, next_v, u_bar, v_bar
    return u_bar, v_bar, feed_bar, kill_bar


CASE = Case(
    "gray_scott", gray_scott_loss, (0, 1, 2, 3), arguments, small=(4, 3), large=(100, 60),
    jax=gray_scott_in_jax, torch=gray_scott_in_torch, autograd=gray_scott_in_autograd, hand_numpy=gray_scott_by_hand,
    hand_numba=gray_scott_by_hand_in_loops,
)  # fmt: skip
