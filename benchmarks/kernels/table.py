"""The kernels with their arguments: small ones for the tests, larger ones to measure time and memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.kernels import algebra, stencils


@dataclass(frozen=True)
class Kernel:
    """A loss with what is differentiated; ``arguments`` makes the arguments for a size and a number of steps.

    ``limit`` is how many times the primal's time the gradient may take; linear stencils have one."""

    name: str
    loss: Callable[..., float]
    argnums: tuple[int, ...]
    arguments: Callable[[int, int], tuple[Any, ...]]
    small: tuple[int, int]
    large: tuple[int, int]
    limit: float = float("inf")


def wave(*shape: int, phase: float = 0.0) -> np.ndarray:
    """Values of some variety, between -1 and 1."""
    return np.sin(1.7 * np.arange(np.prod(shape)).reshape(shape) ** 1.1 + phase)


def square(n: int, phase: float = 0.0) -> np.ndarray:
    """A matrix with a dominant diagonal."""
    return 0.5 * wave(n, n, phase=phase) + n * np.eye(n)


def positive(n: int) -> np.ndarray:
    """A symmetric positive definite matrix."""
    a = wave(n, n)
    return a @ a.T / n + np.eye(n)


KERNELS = [
    Kernel(
        "jacobi", stencils.jacobi_loss, (0, 1),
        lambda n, t: (wave(n, n), wave(n, n, phase=1.0), 0.5, t), (6, 4), (256, 100), 4.0,
    ),
    Kernel("heat_1d", stencils.heat_1d_loss, (0,), lambda n, t: (wave(n), 0.2, t), (9, 5), (20_000, 500), 4.0),
    Kernel(
        "heat_2d", stencils.heat_2d_loss, (0, 1),
        lambda n, t: (wave(n, n), 1.0 + 0.5 * wave(n, n, phase=2.0), 0.1, t), (5, 3), (200, 100),
    ),
    Kernel("heat_3d", stencils.heat_3d_loss, (0,), lambda n, t: (wave(n, n, n), 0.1, t), (4, 2), (48, 20), 4.0),
    Kernel(
        "gauss_seidel", stencils.gauss_seidel_loss, (0, 1),
        lambda n, t: (wave(n, n), wave(n, n, phase=1.0), 0.5, 1.2, t), (5, 3), (40, 10), 4.0,
    ),
    Kernel("adi", stencils.adi_loss, (0, 1), lambda n, t: (wave(n, n), 0.3, t), (6, 3), (120, 10)),
    Kernel(
        "maxwell_tm", stencils.maxwell_tm_loss, (0, 1),
        lambda n, t: (0.1 * wave(n, n), 2.0 + wave(n, n, phase=1.0), 0.4, t), (6, 5), (200, 100),
    ),
    Kernel(
        "shallow_water", stencils.shallow_water_loss, (0, 1, 2),
        lambda n, t: (
            2.0 + 0.1 * wave(n, n), 0.1 * wave(n, n, phase=1.0), 0.1 * wave(n, n, phase=2.0), 9.8, 0.05, t,
        ),
        (6, 4), (200, 50),
    ),
    Kernel(
        "cavity", stencils.cavity_loss, (0, 1, 2),
        lambda n, t: (0.1 * wave(n, n), 0.1 * wave(n, n, phase=1.0), 0.1, 2.0 / (n - 1), 0.2 / n**2, t, 5),
        (6, 3), (64, 20),
    ),
    Kernel("cholesky", algebra.cholesky_loss, (0,), lambda n, t: (positive(n), wave(n, n)), (4, 0), (40, 0)),
    Kernel("lu", algebra.lu_loss, (0,), lambda n, t: (square(n), wave(n, n)), (4, 0), (120, 0)),
    Kernel(
        "gram_schmidt", algebra.gram_schmidt_loss, (0,),
        lambda n, t: (wave(n + 2, n) + np.eye(n + 2, n), wave(n, n, phase=1.0)), (4, 0), (100, 0),
    ),
    Kernel("durbin", algebra.durbin_loss, (0,), lambda n, t: (0.9 * wave(n) / n, wave(n)), (6, 0), (150, 0)),
    Kernel(
        "tridiagonal", algebra.tridiagonal_loss, (0, 1, 2, 3),
        lambda n, t: (wave(n), 4.0 + wave(n, phase=1.0), wave(n, phase=2.0), wave(n, phase=3.0)), (7, 0), (20_000, 0),
    ),
    Kernel(
        "nbody", algebra.nbody_loss, (0, 1, 2),
        lambda n, t: (2.0 * wave(n, 3), 0.3 * wave(n, 3, phase=1.0), 1.0 + 0.5 * wave(n), 0.05, t), (4, 3), (24, 20),
    ),
]  # fmt: skip
