"""A tridiagonal system by Thomas's algorithm."""

import numpy as np

from benchmarks.case import Case, wave


def tridiagonal(a, b, c, d):
    """Thomas's algorithm. Diagonals ``a``, ``b``, ``c`` lowest first; ``b`` is used up, ``d`` becomes the solution."""
    n = len(d)
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    d[n - 1] /= b[n - 1]
    for i in range(n - 2, -1, -1):
        d[i] = (d[i] - c[i] * d[i + 1]) / b[i]


def tridiagonal_loss(a, b, c, d):
    b, d = b.copy(), d.copy()
    tridiagonal(a, b, c, d)
    return np.sum(d * d)


def arguments(n):
    return wave(n), 4.0 + wave(n, phase=1.0), wave(n, phase=2.0), wave(n, phase=3.0)


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def loss(a, b, c, d):
        def down(before, row):
            upper, right = before
            a, b, c, d = row
            pivot = b - a * upper
            return (c / pivot, (d - a * right) / pivot), (c / pivot, (d - a * right) / pivot)

        _, (upper, right) = lax.scan(down, (0.0, 0.0), (a.at[0].set(0.0), b, c.at[-1].set(0.0), d))

        def up(below, row):
            x = row[1] - row[0] * below
            return x, x

        _, x = lax.scan(up, 0.0, (upper, right), reverse=True)
        return jnp.sum(x * x)

    return loss


def by_hand(a, b, c, d):
    """By the transposed system, with the same pivots (an implicit derivative); so for NumPy and for Numba."""
    n = len(d)
    factors, pivots, x = np.zeros(n), b.copy(), d.copy()
    for i in range(1, n):
        factors[i] = a[i] / pivots[i - 1]
        pivots[i] -= factors[i] * c[i - 1]
        x[i] -= factors[i] * x[i - 1]
    x[n - 1] /= pivots[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = (x[i] - c[i] * x[i + 1]) / pivots[i]
    d_bar = 2.0 * x
    d_bar[0] /= pivots[0]
    for i in range(1, n):
        d_bar[i] = (d_bar[i] - c[i - 1] * d_bar[i - 1]) / pivots[i]
    for i in range(n - 2, -1, -1):
        d_bar[i] -= factors[i + 1] * d_bar[i + 1]
    a_bar, c_bar = np.zeros(n), np.zeros(n)
    a_bar[1:] = -d_bar[1:] * x[:-1]
    c_bar[:-1] = -d_bar[:-1] * x[1:]
    return a_bar, -d_bar * x, c_bar, d_bar


CASE = Case("tridiagonal", tridiagonal_loss, (0, 1, 2, 3), arguments, small=(7,), large=(20000,), jax=in_jax,
            hand_numpy=by_hand, hand_numba=by_hand)  # fmt: skip
