"""Heat in a box, from one array into the other and back."""

import numpy as np

from benchmarks.case import Case, wave


def heat_3d(a, b, r, steps):
    """Pairs of explicit steps in a box, from one array into the other and back."""
    inner = (slice(1, -1), slice(1, -1), slice(1, -1))
    for _ in range(steps):
        b[inner] = a[inner] + r * (
            (a[2:, 1:-1, 1:-1] - 2.0 * a[inner] + a[:-2, 1:-1, 1:-1])
            + (a[1:-1, 2:, 1:-1] - 2.0 * a[inner] + a[1:-1, :-2, 1:-1])
            + (a[1:-1, 1:-1, 2:] - 2.0 * a[inner] + a[1:-1, 1:-1, :-2])
        )
        a[inner] = b[inner] + r * (
            (b[2:, 1:-1, 1:-1] - 2.0 * b[inner] + b[:-2, 1:-1, 1:-1])
            + (b[1:-1, 2:, 1:-1] - 2.0 * b[inner] + b[1:-1, :-2, 1:-1])
            + (b[1:-1, 1:-1, 2:] - 2.0 * b[inner] + b[1:-1, 1:-1, :-2])
        )


def heat_3d_loss(a, r, steps):
    a = a.copy()
    heat_3d(a, a.copy(), r, steps)
    return np.sum(a * a)


def arguments(n, t):
    return wave(n, n, n), 0.1, t


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(a, r, steps):
        def half(_, a):
            inner = a[1:-1, 1:-1, 1:-1]
            around = (a[2:, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1] + a[1:-1, 2:, 1:-1] + a[1:-1, :-2, 1:-1]
                      + a[1:-1, 1:-1, 2:] + a[1:-1, 1:-1, :-2])  # fmt: skip
            return a.at[1:-1, 1:-1, 1:-1].add(r * (around - 6.0 * inner))

        return jnp.sum(lax.fori_loop(0, 2 * steps, half, a) ** 2)

    return loss


def by_hand(a, r, steps):
    """Linear: nothing is kept. A half step back adds what the inside gives to its neighbours."""
    a = a.copy()
    heat_3d(a, a.copy(), r, steps)
    bar = 2.0 * a
    for _ in range(2 * steps):
        inner = r * bar[1:-1, 1:-1, 1:-1]
        bar[1:-1, 1:-1, 1:-1] -= 6.0 * inner
        bar[2:, 1:-1, 1:-1] += inner
        bar[:-2, 1:-1, 1:-1] += inner
        bar[1:-1, 2:, 1:-1] += inner
        bar[1:-1, :-2, 1:-1] += inner
        bar[1:-1, 1:-1, 2:] += inner
        bar[1:-1, 1:-1, :-2] += inner
    return (bar,)


def by_hand_in_loops(a, r, steps):
    """In gather form; ``now`` and ``later`` are the adjoint inside, and zero on the rim."""
    n, m, k = a.shape
    a, b = a.copy(), a.copy()
    for _ in range(2 * steps):
        for x in range(1, n - 1):
            for y in range(1, m - 1):
                for z in range(1, k - 1):
                    b[x, y, z] = a[x, y, z] + r * (
                        a[x + 1, y, z] + a[x - 1, y, z] + a[x, y + 1, z] + a[x, y - 1, z]
                        + a[x, y, z + 1] + a[x, y, z - 1] - 6.0 * a[x, y, z])
        a, b = b, a
    bar, now, later = 2.0 * a, np.zeros_like(a), np.zeros_like(a)
    now[1 : n - 1, 1 : m - 1, 1 : k - 1] = bar[1 : n - 1, 1 : m - 1, 1 : k - 1]
    for _ in range(2 * steps):
        for x in range(1, n - 1):
            for y in range(1, m - 1):
                bar[x, y, 0] += r * now[x, y, 1]
                bar[x, y, k - 1] += r * now[x, y, k - 2]
                for z in range(1, k - 1):
                    later[x, y, z] = now[x, y, z] + r * (
                        now[x + 1, y, z] + now[x - 1, y, z] + now[x, y + 1, z] + now[x, y - 1, z]
                        + now[x, y, z + 1] + now[x, y, z - 1] - 6.0 * now[x, y, z])
        for z in range(1, k - 1):
            for x in range(1, n - 1):
                bar[x, 0, z] += r * now[x, 1, z]
                bar[x, m - 1, z] += r * now[x, m - 2, z]
            for y in range(1, m - 1):
                bar[0, y, z] += r * now[1, y, z]
                bar[n - 1, y, z] += r * now[n - 2, y, z]
        now, later = later, now
    bar[1 : n - 1, 1 : m - 1, 1 : k - 1] = now[1 : n - 1, 1 : m - 1, 1 : k - 1]
    return (bar,)


CASE = Case("heat_3d", heat_3d_loss, (0,), arguments, small=(4, 2), large=(48, 20), limit=4.0, jax=in_jax,
            hand_numpy=by_hand, hand_numba=by_hand_in_loops)  # fmt: skip
