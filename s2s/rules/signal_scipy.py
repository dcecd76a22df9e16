"""Rules of ``scipy.signal``: convolutions, filters, trends."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from s2s import runtime as rt
from s2s.models import signal as models
from s2s.rules.table import args, arr, jvp, linear, model, refuse, vjp

# --- convolutions -----------------------------------------------------------------------------------------------------


def start_and_length(first: int, second: int, mode: str) -> tuple[int, int]:
    """Where in the whole convolution the part begins that a mode gives, and how long it is."""
    if mode == "full":
        return 0, first + second - 1
    if mode == "same":
        return (second - 1) // 2, first
    return min(first, second) - 1, abs(first - second) + 1


def whole_cotangent(g: Any, first: Any, second: Any, mode: str) -> Any:
    """The cotangent of the whole convolution of arrays of two shapes, from that of the part that a mode gives."""
    places = [start_and_length(n, m, mode) for n, m in zip(first, second)]
    made = np.zeros([n + m - 1 for n, m in zip(first, second)], dtype=g.dtype)
    made[tuple([slice(start, start + length) for start, length in places])] = g
    return made


def convolve_bar(g: Any, x: Any, other: Any, mode: str, is_second: bool, by_fft: bool) -> Any:
    """The cotangent of one factor of a convolution: that of the whole, correlated with the other factor."""
    shapes = (np.shape(other), np.shape(x)) if is_second else (np.shape(x), np.shape(other))
    if np.ndim(x) == 0:
        return rt.cast(g * other, x)
    g = whole_cotangent(g, *shapes, mode)
    if by_fft:
        return rt.cast(signal.fftconvolve(g, np.flip(other), mode="valid"), x)
    return rt.cast(signal.convolve(g, np.flip(other), mode="valid"), x)


def no_axes(axes: Any) -> None:
    if axes is not None:
        rt.no_derivative("a convolution along chosen axes", "it has no rule; convolve one row at a time")


def _fft_1(y_bar: Any, in1: Any, in2: Any, mode: Any, axes: Any) -> Any:
    no_axes(axes)
    return convolve_bar(y_bar, in1, in2, mode, False, True)


def _fft_2(y_bar: Any, in1: Any, in2: Any, mode: Any, axes: Any) -> Any:
    no_axes(axes)
    return convolve_bar(y_bar, in2, in1, mode, True, True)


FACTORS = [
    args(arr(5), arr(3)), args(arr(5), arr(3), "same"), args(arr(5), arr(3), mode="valid"),
    args(arr(3), arr(5), "valid"),
    args(arr(4, 5), arr(2, 3)), args(arr(4, 5), arr(2, 2), "same"), args(arr(4), arr(4, low=0.5)),
    args(arr(5, complex=True), arr(2, complex=True)), args(arr(4, 5), arr(3, 3), "valid"),
]
linear(
    signal.convolve, in1=lambda y_bar, in1, in2, mode: convolve_bar(y_bar, in1, in2, mode, False, False),
    in2=lambda y_bar, in1, in2, mode: convolve_bar(y_bar, in2, in1, mode, True, False),
    params="in1, in2, mode='full', method='auto'", harmless="method",
    samples=[*FACTORS, args(arr(5), arr(3), method="fft")],
)
linear(
    signal.fftconvolve, in1=_fft_1, in2=_fft_2, params="in1, in2, mode='full', axes=None", samples=FACTORS,
)
linear(signal.oaconvolve, in1=_fft_1, in2=_fft_2, params="in1, in2, mode='full', axes=None", samples=FACTORS)
model(signal.correlate, samples=FACTORS)(models.correlate)
PLANES = [
    args(arr(4, 5), arr(2, 3)), args(arr(4, 5), arr(2, 2), "same"), args(arr(4, 5), arr(3, 2), "valid"),
    args(arr(4, 5), arr(3, 2), "same", "symm"), args(arr(3, 4), arr(3, 3), boundary="wrap"),
    args(arr(3, 4), arr(2, 3), "same", "fill", 0.7),
]
model(signal.convolve2d, samples=[*PLANES, args(arr(2, 2), arr(4, 3), "valid")])(models.convolve2d)
model(signal.correlate2d, samples=PLANES)(models.correlate2d)

# --- filters: a * y = b * x. With w the filter 1 / a run backwards on y_bar, x_bar = b * w backwards ------------------


def no_state(zi: Any) -> None:
    if zi is not None:
        rt.no_derivative("scipy.signal.lfilter", "with an initial state it has no rule; leave zi out")


def backwards(b: Any, a: Any, g: Any, axis: Any) -> Any:
    return np.flip(signal.lfilter(b, a, np.flip(g, axis), axis), axis)


def sums_of_lags(w: Any, x: Any, like: Any, axis: Any) -> Any:
    """The sums of w[n] x[n - k] for each k that a vector of coefficients has."""
    w, x = np.moveaxis(w, axis, -1), np.moveaxis(x, axis, -1)
    n = np.shape(w)[-1]
    sums = [np.sum(w[..., k:] * x[..., : n - k]) if k < n else 0.0 for k in range(np.size(like))]
    return rt.cast(np.reshape(np.array(sums), np.shape(like)), like)


def _lfilter_x(y_bar: Any, b: Any, a: Any, x: Any, axis: Any, zi: Any) -> Any:
    no_state(zi)
    return rt.cast(backwards(b, a, y_bar, axis), x)


def _lfilter_b(y_bar: Any, b: Any, a: Any, x: Any, axis: Any, zi: Any) -> Any:
    no_state(zi)
    return sums_of_lags(backwards([1.0], a, y_bar, axis), x, b, axis)


def _lfilter_a(y_bar: Any, y: Any, b: Any, a: Any, x: Any, axis: Any, zi: Any) -> Any:
    no_state(zi)
    return -sums_of_lags(backwards([1.0], a, y_bar, axis), y, a, axis)


def _lfilter_zi(zi: Any) -> Any:
    return no_state(zi)


DENOMINATOR = np.array([1.0, -0.4, 0.2])
vjp(
    signal.lfilter, b=_lfilter_b, a=_lfilter_a, x=_lfilter_x, zi=_lfilter_zi,
    params="b, a, x, axis=-1, zi=None",
    samples=[
        args(arr(3), DENOMINATOR, arr(6)), args(arr(2), arr(2, low=0.9, high=1.4), arr(2, 5)),
        args(arr(2), DENOMINATOR, arr(5, 2), 0), args(arr(4), [1.0], arr(3)),
    ],
)


def _lfilter_a_dot(a_dot: Any, y: Any, b: Any, a: Any, x: Any, axis: Any) -> Any:
    return -signal.lfilter([1.0], a, signal.lfilter(a_dot, [1.0], y, axis), axis)


jvp(
    signal.lfilter, b=lambda b_dot, a, x, axis: signal.lfilter(b_dot, a, x, axis), a=_lfilter_a_dot,
    x=lambda x_dot, b, a, axis: signal.lfilter(b, a, x_dot, axis), zi=_lfilter_zi,
)
SECTIONS = np.array([[1.0, 0.4, 0.1, 1.0, -0.3, 0.2], [0.5, 0.2, 0.0, 1.0, 0.1, 0.0]])
model(signal.sosfilt, samples=[args(SECTIONS, arr(6))])(models.sosfilt)
# A trend is taken away by a projection, which is its own transpose.
linear(
    signal.detrend, data=lambda y_bar, data, axis, type, bp: rt.cast(signal.detrend(y_bar, axis, type, bp), data),
    params="data, axis=-1, type='linear', bp=0, overwrite_data=False", harmless="overwrite_data",
    samples=[args(arr(6)), args(arr(3, 5), type="constant"), args(arr(6, 2), 0, "linear", 3)],
)
model(signal.hilbert, samples=[args(arr(6)), args(arr(5)), args(arr(4, 3), axis=0), args(arr(5), 8)])(models.hilbert)

HINT = "it has no rule; write it with scipy.signal.convolve, lfilter or numpy.fft"
for _name in (
    "filtfilt", "sosfiltfilt", "savgol_filter", "decimate", "upfirdn", "resample_poly", "medfilt", "medfilt2d",
    "wiener", "order_filter", "sepfir2d", "spline_filter", "cspline1d", "cspline2d", "qspline1d", "qspline2d",
    "symiirorder1", "symiirorder2", "deconvolve", "lombscargle", "czt", "zoom_fft", "stft", "istft", "spectrogram",
    "welch", "periodogram", "csd", "coherence",
):
    if hasattr(signal, _name):
        refuse(getattr(signal, _name), HINT)
COUNTS = "it finds places, which do not change smoothly; index with what it gives"
for _name in (
    "find_peaks", "find_peaks_cwt", "argrelextrema", "argrelmax", "argrelmin",
):
    refuse(getattr(signal, _name), COUNTS)
