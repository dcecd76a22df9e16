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


CASE = Case("heat_3d", heat_3d_loss, (0,), arguments, small=(4, 2), large=(48, 20), limit=4.0)
