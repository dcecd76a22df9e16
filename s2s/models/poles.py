"""What ``scipy.signal.place_poles`` computes where that is the only solution: for one input, the formula of Ackermann.

With several inputs many gains place the poles, and SciPy improves one of them for some steps, which are no solution of
equations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from s2s import runtime as rt
from s2s.models.solutions import for_value

__all__ = ["place_poles"]

MANY = "it has a rule for one input: with several ones many gains place the poles"


class Placed:
    """What ``place_poles`` gives."""

    def __init__(self, found: Any, gain: Any, poles: Any) -> None:
        self.found = found
        self.gain_matrix = gain
        self.requested_poles = poles

    @property
    def rtol(self) -> Any:
        return for_value(getattr, self.found, "rtol")

    @property
    def nb_iter(self) -> Any:
        return for_value(getattr, self.found, "nb_iter")


def place_poles(
    A: Any, B: Any, poles: Any, method: Any = "YT", rtol: Any = 1e-3, maxiter: Any = 30
) -> Any:
    a, b, places = np.asarray(A), np.asarray(B), np.asarray(poles)
    n = np.shape(a)[0]
    if np.shape(b)[1] != 1:
        return rt.no_derivative("scipy.signal.place_poles", MANY)
    found = for_value(signal.place_poles, a, b, places, method, rtol, maxiter)
    columns = [b]
    for _ in range(n - 1):
        columns.append(a @ columns[-1])
    product: Any = np.eye(n)
    for k in range(n):
        product = product @ (a - places[k] * np.eye(n))
    last = np.linalg.solve(np.concatenate(columns, axis=1).T, np.eye(n)[:, n - 1])
    gain = (last @ np.real(product))[None, :]
    gain = gain + (for_value(gain_of, found) - for_value(np.copy, gain))
    return Placed(found, gain, places[for_value(order_of, found, places)])


def gain_of(found: Any) -> Any:
    return found.gain_matrix


def order_of(found: Any, poles: Any) -> Any:
    """The order in which SciPy has the poles."""
    return np.argmin(np.abs(found.requested_poles[:, None] - poles), axis=1)
