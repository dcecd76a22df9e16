"""Diffusion in two dimensions by alternating directions."""

import numpy as np

from benchmarks.case import Case, wave


def adi(u, r, steps):
    """Diffusion with alternating directions: each half step solves tridiagonal systems, all lines at once."""
    n = u.shape[0]
    half = np.zeros_like(u)
    p, q = np.zeros_like(u), np.zeros_like(u)
    for _ in range(steps):
        p[0], q[0] = 0.0, 0.0
        for i in range(1, n - 1):
            right = r * u[i, :-2] + (1.0 - 2.0 * r) * u[i, 1:-1] + r * u[i, 2:]
            below = 1.0 + 2.0 * r - r * p[i - 1, 1:-1]
            p[i, 1:-1] = r / below
            q[i, 1:-1] = (right + r * q[i - 1, 1:-1]) / below
        for i in range(n - 2, 0, -1):
            half[i, 1:-1] = p[i, 1:-1] * half[i + 1, 1:-1] + q[i, 1:-1]
        p[:, 0], q[:, 0] = 0.0, 0.0
        for j in range(1, n - 1):
            right = r * half[:-2, j] + (1.0 - 2.0 * r) * half[1:-1, j] + r * half[2:, j]
            below = 1.0 + 2.0 * r - r * p[1:-1, j - 1]
            p[1:-1, j] = r / below
            q[1:-1, j] = (right + r * q[1:-1, j - 1]) / below
        u[:, -1] = 0.0
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]


def adi_loss(u, r, steps):
    u = u.copy()
    adi(u, r, steps)
    return np.sum(u * u)


def arguments(n, t):
    return wave(n, n), 0.3, t


CASE = Case("adi", adi_loss, (0, 1), arguments, small=(6, 3), large=(120, 10))
