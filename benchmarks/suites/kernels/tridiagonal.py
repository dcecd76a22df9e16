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


CASE = Case("tridiagonal", tridiagonal_loss, (0, 1, 2, 3), arguments, small=(7,), large=(20000,), jax=in_jax)
