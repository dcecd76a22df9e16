"""``Case`` and the decorator that registers one, and the inputs that most cases share."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """A function with inputs.

    ``argnums`` are the arguments to differentiate; ``None`` stands for all that hold a float. ``expected``
    gives the gradients where central differences do not apply (straight-through rounding): a function of the
    arguments that returns one gradient per argnum.
    """

    name: str
    f: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    argnums: int | str | tuple[int | str, ...] | None
    expected: Callable[..., tuple[Any, ...]] | None
    rtol: float
    note: str


CASES: list[Case] = []
_named: Counter[str] = Counter()
"""How many cases a function has."""


def case(*args, argnums=None, kwargs=None, expected=None, rtol=1e-6, note=""):
    """Register the decorated function with these arguments and return it unchanged. Stacks."""

    def register(f):
        module = f.__module__.rpartition(".")[2]
        base = f"{module}.{f.__name__}"
        _named[base] += 1
        name = f"{base}:{_named[base]}" if _named[base] > 1 else base
        CASES.append(Case(name, f, args, kwargs or {}, argnums, expected, rtol, note))
        return f

    return register


# Inputs: no zeros, no ties, no integers, nothing near a point where an ordinary function has a kink.
V3 = np.array([0.7, -1.2, 1.9])
W3 = np.array([1.1, 0.4, -0.8])
P3 = np.array([0.6, 1.7, 2.3])
V5 = np.array([0.35, -0.62, 1.41, -1.83, 0.94])
P5 = np.array([0.9, 1.6, 0.45, 2.2, 1.25])
M23 = np.array([[0.3, -1.1, 0.8], [1.7, 0.6, -0.45]])
M32 = np.array([[0.55, -0.9], [1.35, 0.25], [-0.7, 1.15]])
M33 = np.array([[1.6, 0.2, -0.3], [0.4, 2.1, 0.5], [-0.6, 0.1, 1.9]])
P23 = np.array([[0.4, 1.3, 0.8], [2.1, 0.65, 1.55]])
T234 = np.linspace(-1.37, 1.73, 24).reshape(2, 3, 4) ** 3 + 0.21
