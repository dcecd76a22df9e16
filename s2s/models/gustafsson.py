"""``scipy.signal.filtfilt`` by the method of Gustafsson: there and back, from the states at both ends with which
filtering back and there gives nearly the same (F. Gustafsson, "Determining the initial states in forward-backward
filtering", 1996).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

__all__ = ["filtered"]


def responses(b: Any, a: Any, order: Any, m: Any) -> Any:
    """What comes of each part of a state, there, and then back as well, the last first."""
    impulse = np.concatenate([np.ones(1), np.zeros(m - 1)])
    first = signal.lfilter(np.ones(1), a / a[0], impulse)
    there = np.stack([np.concatenate([np.zeros(k), first[: m - k]]) for k in range(order)], axis=1)
    return there, signal.lfilter(b, a, there[::-1], axis=0)


def side_by_side(first: Any, last: Any, overlap: Any) -> Any:
    """The parts of two states as one matrix: of the same places, or of places at both ends."""
    if overlap:
        return np.concatenate([first, last], axis=1)
    none = np.zeros(np.shape(first))
    return np.concatenate([np.concatenate([first, none], axis=1), np.concatenate([none, last], axis=1)], axis=0)


def filtered(b: Any, a: Any, x: Any, irlen: Any) -> Any:
    """The signals in the rows of an array, filtered; ``irlen`` says how far the states at the ends are felt."""
    order, n = max(np.size(a), np.size(b)) - 1, np.shape(x)[1]
    if order == 0:
        return (b[0] / a[0]) ** 2 * x
    overlap = irlen is None or n <= 2 * irlen
    m = n if overlap else irlen
    there, back = responses(b, a, order, m)
    forth = signal.lfilter(b, a, signal.lfilter(b, a, x)[:, ::-1])[:, ::-1]
    other = signal.lfilter(b, a, signal.lfilter(b, a, x[:, ::-1])[:, ::-1])
    wrong = other - forth
    if not overlap:
        wrong = np.concatenate([wrong[:, :m], wrong[:, n - m :]], axis=1)
    states = np.linalg.lstsq(side_by_side(back[::-1] - there, there[::-1] - back, overlap), wrong.T)[0]
    more = (side_by_side(back[::-1], there[::-1], overlap) @ states).T
    if overlap:
        return forth + more
    return np.concatenate([forth[:, :m] + more[:, :m], forth[:, m : n - m], forth[:, n - m :] + more[:, m:]], axis=1)
