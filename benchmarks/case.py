"""A case: a primal as a scientist writes it, its arguments, and the same thing for each peer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Function = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """A loss with what is differentiated; ``arguments`` makes the arguments from the numbers of a size.

    ``jax``, ``torch`` and ``autograd`` make the loss as an expert writes it for that library: they take no arguments
    and import the library themselves. Integers among the arguments are static for JAX, other numbers are traced.
    ``hand_numpy`` and ``hand_numba`` take the arguments of the primal and return a tuple with the gradient by each of
    ``argnums``; the latter is compiled before it is called. So does ``by_statement``: the statements of the primal as
    they stand, then the plain adjoint of each in NumPy, everything kept, nothing made better. ``limit`` is how many
    times the primal's time the gradient may take on NumPy. ``rewritten`` is whether ``hand_numpy`` computes in another
    way than the primal: in whole arrays what that has in loops, or by a routine of a library. ``differences`` is False
    where they say nothing, as at a step that is passed straight through.
    """

    name: str
    primal: Function
    argnums: tuple[int, ...]
    arguments: Callable[..., tuple[Any, ...]]
    small: tuple[int, ...]
    large: tuple[int, ...]
    limit: float = float("inf")
    jax: Callable[[], Function] | None = None
    torch: Callable[[], Function] | None = None
    autograd: Callable[[], Function] | None = None
    hand_numpy: Function | None = None
    hand_numba: Function | None = None
    by_statement: Function | None = None
    rewritten: bool = False
    differences: bool = True


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
