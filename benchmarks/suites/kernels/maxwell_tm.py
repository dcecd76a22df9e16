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


CASE = Case("maxwell_tm", maxwell_tm_loss, (0, 1), arguments, small=(6, 5), large=(200, 100))
