"""Gauss-Seidel sweeps with over-relaxation, element by element."""

import numpy as np

from benchmarks.case import Case, wave


def gauss_seidel(u, f, h, omega, sweeps):
    """Sweeps with over-relaxation, element by element: new values are used as soon as they are there."""
    rows, columns = u.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                u[i, j] += omega * (0.25 * (around - h * h * f[i, j]) - u[i, j])


def gauss_seidel_loss(u, f, h, omega, sweeps):
    u = u.copy()
    gauss_seidel(u, f, h, omega, sweeps)
    return np.sum(u * u)


def arguments(n, t):
    return wave(n, n), wave(n, n, phase=1.0), 0.5, 1.2, t


CASE = Case("gauss_seidel", gauss_seidel_loss, (0, 1), arguments, small=(5, 3), large=(40, 10), limit=4.0)
