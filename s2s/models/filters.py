"""What ``scipy.signal`` computes of transfer functions: their coefficients after a change of the variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt

__all__ = ["bilinear", "highpass", "normalize"]

PLAIN = "it has a rule for coefficients of one dimension of which the first is not zero"


def normalize(b: Any, a: Any) -> Any:
    num, den = np.atleast_1d(np.asarray(b)), np.atleast_1d(np.asarray(a))
    if np.ndim(num) != 1 or np.ndim(den) != 1:
        return rt.no_derivative("scipy.signal.normalize", PLAIN)
    check_leading(num, den)
    return num / den[0], den / den[0]


def check_leading(num: Any, den: Any) -> None:
    """Refuse coefficients that SciPy shortens."""
    if den[0] == 0.0 or np.abs(num[0]) <= 1e-14:
        rt.no_derivative("scipy.signal.normalize", PLAIN)


def highpass(b: Any, a: Any, wo: Any = 1.0) -> Any:
    """s becomes wo / s."""
    b, a = np.atleast_1d(np.asarray(b)), np.atleast_1d(np.asarray(a))
    n, d = np.shape(b)[0], np.shape(a)[0]
    powers = wo ** np.arange(max(n, d))
    num = np.concatenate([b[::-1] * powers[:n], np.zeros(max(d - n, 0))])
    den = np.concatenate([a[::-1] * powers[:d], np.zeros(max(n - d, 0))])
    return normalize(num, den)


def bilinear(b: Any, a: Any, fs: Any = 1.0) -> Any:
    """s becomes 2 fs (z - 1) / (z + 1)."""
    b, a = np.atleast_1d(np.asarray(b)), np.atleast_1d(np.asarray(a))
    check_leading(b, a)
    n, d = np.shape(b)[0], np.shape(a)[0]
    num = (b * (2.0 * fs) ** np.arange(n - 1, -1, -1)) @ substituted(n, max(n, d))
    den = (a * (2.0 * fs) ** np.arange(d - 1, -1, -1)) @ substituted(d, max(n, d))
    return normalize(num, den)


def substituted(count: Any, longest: Any) -> Any:
    """For each power from the highest one on the coefficients of (z - 1)^p (z + 1)^(longest - 1 - p)."""
    rows = []
    for power in range(count - 1, -1, -1):
        row = np.ones(1)
        for k in range(longest - 1):
            row = np.convolve(row, [1.0, -1.0 if k < power else 1.0])
        rows.append(row)
    return np.array(rows)
