"""How a pair is declared: a function that writes into arrays, and the same function without a store.

    @mutating(V3)
    def doubled_first(x):
        y = x.copy()
        y[0] *= 2.0
        return np.sum(y**2)

    @pure
    def doubled_first_pure(x):
        return np.sum(x**2 * np.array([4.0, 1.0, 1.0]))

``mutating`` takes sample arguments; ``pure`` belongs to the mutating form above it and has its name with ``_pure``.
Both forms compute the same value of the same arguments, and every float argument is differentiated.

Where a pure form would say less than the function itself, ``program`` declares a function that is compared with its own
central differences.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Pair:
    """A mutating and a pure form with arguments; ``rtol`` is for the comparison of gradients."""

    name: str
    mutating: Callable[..., Any]
    pure: Callable[..., Any]
    args: tuple[Any, ...]
    rtol: float


PAIRS: list[Pair] = []
_waiting: list[tuple[Callable[..., Any], tuple[Any, ...], float]] = []


def mutating(*args, rtol=1e-6):
    """Declare the decorated function as the mutating form; stacks, for several samples."""

    def register(f):
        _waiting.append((f, args, rtol))
        return f

    return register


def pure(g):
    """Declare the decorated function as the pure form of the mutating one above it."""
    assert _waiting, f"{g.__name__} has no mutating form"
    for k, (f, args, rtol) in enumerate(_waiting):
        assert g.__name__ == f.__name__ + "_pure", f"{g.__name__} stands after {f.__name__}"
        name = f"{f.__module__.rpartition('.')[2].removeprefix('pairs_')}.{f.__name__}" + (f":{k + 1}" if k else "")
        PAIRS.append(Pair(name, f, g, args, rtol))
    _waiting.clear()
    return g


@dataclass(frozen=True)
class Program:
    """A function that writes into arrays, with arguments."""

    name: str
    f: Callable[..., Any]
    args: tuple[Any, ...]


PROGRAMS: list[Program] = []


def program(*args):
    """Declare the decorated function with arguments; stacks."""

    def register(f):
        base = f"{f.__module__.rpartition('.')[2].removeprefix('programs_')}.{f.__name__}"
        same = sum(known.name.partition(":")[0] == base for known in PROGRAMS)
        PROGRAMS.append(Program(f"{base}:{same + 1}" if same else base, f, args))
        return f

    return register


V3 = np.array([0.7, -1.2, 1.9])
V4 = np.array([0.4, -1.1, 0.65, 1.5])
V5 = np.array([0.35, -0.62, 1.41, -1.83, 0.94])
V6 = np.array([0.8, -0.55, 1.25, -1.4, 0.3, 1.7])
W3 = np.array([1.1, 0.4, -0.8])
W5 = np.array([0.9, 1.6, -0.45, 0.7, -1.25])
M23 = np.array([[0.3, -1.1, 0.8], [1.7, 0.6, -0.45]])
M33 = np.array([[1.6, 0.2, -0.3], [0.4, 2.1, 0.5], [-0.6, 0.1, 1.9]])
M45 = np.sin(np.arange(20.0).reshape(4, 5) * 1.7 + 0.4) + 0.1 * np.arange(5.0)
T234 = np.linspace(-1.37, 1.73, 24).reshape(2, 3, 4) ** 3 + 0.21
