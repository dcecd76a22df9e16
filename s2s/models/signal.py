"""What functions of ``scipy.signal`` compute, in terms of others that have rules."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from s2s import runtime as rt

__all__ = ["convolve2d", "correlate", "correlate2d", "hilbert", "sosfilt"]

def correlate(in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> Any:
    return signal.convolve(in1, np.flip(np.conj(in2)), mode, method)


def convolve2d(in1: Any, in2: Any, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0) -> Any:
    return convolved(in1, in2, mode, boundary, fillvalue, 1)


def convolved(in1: Any, in2: Any, mode: Any, boundary: Any, fillvalue: Any, less: Any) -> Any:
    """The convolution of in1 and what the boundary continues it by, cut to the mode; the middle of n places is
    (n - less) // 2."""
    rows, columns = np.shape(in1)
    down, right = np.shape(in2)
    if mode == "valid" and (rows < down or columns < right):
        return convolved(in2, in1, mode, boundary, fillvalue, less)
    if mode == "valid":
        return signal.convolve(in1, in2, "valid")
    widths = ((down - 1, down - 1), (right - 1, right - 1))
    if boundary == "fill":
        wide = np.pad(in1, widths, mode="constant", constant_values=fillvalue)
    elif boundary == "wrap":
        wide = np.pad(in1, widths, mode="wrap")
    else:
        wide = np.pad(in1, widths, mode="symmetric")
    whole = signal.convolve(wide, in2, "valid")
    if mode == "full":
        return whole
    top, left = (down - less) // 2, (right - less) // 2
    return whole[top : top + rows, left : left + columns]


def correlate2d(in1: Any, in2: Any, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0) -> Any:
    return convolved(in1, np.flip(np.conj(in2)), mode, boundary, fillvalue, 0)


def sosfilt(sos: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    """The sections one after the other."""
    if zi is not None:
        return rt.no_derivative("scipy.signal.sosfilt", "with an initial state it has no rule; leave zi out")
    for section in range(np.shape(sos)[0]):
        x = signal.lfilter(sos[section, :3], sos[section, 3:], x, axis)
    return x


def hilbert(x: Any, N: Any = None, axis: Any = -1) -> Any:
    """The spectrum without its negative half, and the positive half twice."""
    count = np.shape(x)[axis] if N is None else N
    weights = one_sided(count)
    spectrum = np.moveaxis(np.fft.fft(x, count, axis=axis), axis, -1)
    return np.moveaxis(np.fft.ifft(spectrum * weights, axis=-1), -1, axis)


def one_sided(count: Any) -> Any:
    """1 at the frequency 0 and at the highest, 2 between, 0 for the negative ones."""
    k = np.arange(count)
    middle = (k == 0) | (2 * k == count)
    return np.where(middle, 1.0, np.where(2 * k < count, 2.0, 0.0))
