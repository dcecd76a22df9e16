"""What functions of ``scipy.signal`` compute, in terms of others that have rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import linalg, ndimage, signal

from s2s import runtime as rt
from s2s.models import gustafsson

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
    """The smaller of the two is moved over the other one, and conjugated, in the mode 'valid'."""
    whole = convolved(in1, np.flip(np.conj(in2)), mode, boundary, fillvalue, 0)
    is_swapped = mode == "valid" and (np.shape(in1)[0] < np.shape(in2)[0] or np.shape(in1)[1] < np.shape(in2)[1])
    return np.conj(whole) if is_swapped else whole


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


# --- filters with a state ---------------------------------------------------------------------------------------------


def filtered(b: Any, a: Any, x: Any, axis: Any) -> Any:
    """``lfilter`` that starts at rest."""
    return signal.lfilter(b, a, x, axis)


def lfilter(b: Any, a: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    if zi is None:
        return filtered(b, a, x, axis)
    return with_state(np.asarray(b), np.asarray(a), np.asarray(x), axis, np.asarray(zi))


def with_state(b: Any, a: Any, x: Any, axis: Any, zi: Any) -> Any:
    """What a filter gives that starts in a state, and the state that it ends in. The state adds to the first values as
    if it came in after the numerator; ``b`` and ``a`` are numbers of one length or another."""
    order = max(np.size(a), np.size(b)) - 1
    first = a[0]
    a, b = np.concatenate([a, np.zeros(order + 1 - np.size(a))]), np.concatenate([b, np.zeros(order + 1 - np.size(b))])
    x, zi = np.moveaxis(x, axis, -1), np.moveaxis(zi, axis, -1)
    count = np.shape(x)[-1]
    start = np.concatenate([zi, np.zeros((*np.shape(zi)[:-1], count))], axis=-1)
    y = filtered(b, a, x, -1) + filtered([1.0], a / first, start[..., :count], -1)
    early = np.zeros((*np.shape(x)[:-1], order))
    last_x = np.flip(np.concatenate([early, x], axis=-1)[..., -order:], -1)
    last_y = np.flip(np.concatenate([early, y], axis=-1)[..., -order:], -1)
    end = last_x @ linalg.hankel(b[1:] / first) - last_y @ linalg.hankel(a[1:] / first) + start[..., count:]
    return np.moveaxis(y, -1, axis), np.moveaxis(end, -1, axis)


def sosfilt(sos: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    """The sections one after the other."""
    if zi is not None:
        return sections_with_states(np.asarray(sos), np.asarray(x), axis, np.asarray(zi))
    check_sections(sos)
    for section in range(np.shape(sos)[0]):
        x = filtered(sos[section, :3], sos[section, 3:], x, axis)
    return x


def check_sections(sos: Any) -> None:
    """Raise ValueError where a section is not scaled as SciPy asks for."""
    if np.any(np.asarray(sos)[:, 3] != 1):
        raise ValueError("sos[:, 3] should be all ones")


def sections_with_states(sos: Any, x: Any, axis: Any, zi: Any) -> Any:
    check_sections(sos)
    ends = []
    for section in range(np.shape(sos)[0]):
        x, end = with_state(sos[section, :3], sos[section, 3:], x, axis, zi[section])
        ends.append(end)
    return x, np.stack(ends)


def lfilter_zi(b: Any, a: Any) -> Any:
    """The state in which a filter stays that goes on with the input 1."""
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    size = max(np.size(a), np.size(b))
    first = a[0]
    a = np.concatenate([a, np.zeros(size - np.size(a))]) / first
    b = np.concatenate([b, np.zeros(size - np.size(b))]) / first
    steps = b[1:] - a[1:] * b[0]
    lead = np.sum(steps) / np.sum(a)
    return np.cumsum((steps - a[1:] * lead)[::-1])[::-1]


def sosfilt_zi(sos: Any) -> Any:
    sos, states, scale = np.asarray(sos), [], 1.0
    for section in range(np.shape(sos)[0]):
        states.append(scale * lfilter_zi(sos[section, :3], sos[section, 3:]))
        scale = scale * np.sum(sos[section, :3]) / np.sum(sos[section, 3:])
    return np.stack(states)


def extended(x: Any, padtype: Any, edge: Any) -> Any:
    """x with more values at both ends of its last axis: turned round at its ends, mirrored, or the last value."""
    if padtype not in ("even", "odd", "constant", None):
        raise ValueError("padtype must be 'even', 'odd', 'constant', or None.")
    if np.shape(x)[-1] <= edge:
        raise ValueError("The length of the input vector x must be greater than padlen.")
    if padtype is None or edge <= 0:
        return x
    low, high = x[..., :1], x[..., -1:]
    before, after = np.flip(x[..., 1 : edge + 1], -1), np.flip(x[..., -edge - 1 : -1], -1)
    if padtype == "odd":
        return np.concatenate([2.0 * low - before, x, 2.0 * high - after], axis=-1)
    if padtype == "even":
        return np.concatenate([before, x, after], axis=-1)
    return np.concatenate([low + 0.0 * before, x, high + 0.0 * after], axis=-1)


def filtfilt(
    b: Any, a: Any, x: Any, axis: Any = -1, padtype: Any = "odd", padlen: Any = None, method: Any = "pad",
    irlen: Any = None,
) -> Any:
    """A filter there and back, each time from the state that belongs to the first value."""
    b, a, x = np.atleast_1d(b), np.atleast_1d(a), np.moveaxis(np.asarray(x), axis, -1)
    if method == "gust":
        rows = gustafsson.filtered(b, a, np.reshape(x, (-1, np.shape(x)[-1])), irlen)
        return np.moveaxis(np.reshape(rows, np.shape(x)), -1, axis)
    edge = (3 * max(np.size(a), np.size(b)) if padlen is None else padlen) if padtype is not None else 0
    wide, state = extended(x, padtype, edge), lfilter_zi(b, a)
    there = with_state(b, a, wide, -1, state * wide[..., :1])[0]
    back = np.flip(with_state(b, a, np.flip(there, -1), -1, state * there[..., -1:])[0], -1)
    return np.moveaxis(back[..., max(edge, 0) : max(edge, 0) + np.shape(x)[-1]], -1, axis)


def sosfiltfilt(sos: Any, x: Any, axis: Any = -1, padtype: Any = "odd", padlen: Any = None) -> Any:
    sos, x = np.asarray(sos), np.moveaxis(np.asarray(x), axis, -1)
    edge = (edge_of(sos) if padlen is None else padlen) if padtype is not None else 0
    wide, states = extended(x, padtype, edge), sosfilt_zi(sos)
    shape = (np.shape(sos)[0],) + (1,) * (np.ndim(x) - 1) + (2,)
    states = np.reshape(states, shape)
    there = sections_with_states(sos, wide, -1, states * wide[..., :1])[0]
    back = np.flip(sections_with_states(sos, np.flip(there, -1), -1, states * there[..., -1:])[0], -1)
    return np.moveaxis(back[..., max(edge, 0) : max(edge, 0) + np.shape(x)[-1]], -1, axis)


def edge_of(sos: Any) -> int:
    """How many values SciPy puts before and after, from the order of the filter."""
    return 3 * (2 * len(sos) + 1 - min(int((sos[:, 2] == 0).sum()), int((sos[:, 5] == 0).sum())))


def deconvolve(signal: Any, divisor: Any) -> Any:
    """The quotient of two polynomials, and what is left."""
    num, den = np.atleast_1d(signal), np.atleast_1d(divisor)
    count = np.size(num) - np.size(den) + 1
    if count < 1:
        return [], num
    quotient = filtered(num, den, impulse(count), -1)
    return quotient, num - np.convolve(den, quotient)


def impulse(count: Any) -> Any:
    return np.concatenate([np.ones(1), np.zeros(count - 1)])


# --- smoothing, other rates -------------------------------------------------------------------------------------------


def savgol_filter(
    x: Any, window_length: Any, polyorder: Any, deriv: Any = 0, delta: Any = 1.0, axis: Any = -1, mode: Any = "interp",
    cval: Any = 0.0,
) -> Any:
    """Polynomials fitted to windows: a correlation with constant weights, and fits of their own at the ends."""
    if np.iscomplexobj(x):
        return rt.no_derivative("scipy.signal.savgol_filter", "it discards imaginary parts; take np.real first")
    x = np.moveaxis(np.asarray(x), axis, -1)
    weights = signal.savgol_coeffs(window_length, polyorder, deriv=deriv)
    if mode == "interp":
        half = window_length // 2
        low, high = fits_at_ends(window_length, polyorder, deriv)
        middle = ndimage.convolve1d(x, weights, -1, None, "constant")[..., half : np.shape(x)[-1] - half]
        y = np.concatenate([x[..., :window_length] @ low.T, middle, x[..., -window_length:] @ high.T], axis=-1)
    else:
        y = ndimage.convolve1d(x, weights, -1, None, mode, cval)
    return np.moveaxis(y / delta**deriv, -1, axis)


def fits_at_ends(window: Any, degree: Any, deriv: Any) -> Any:
    """The matrices from the first and the last window to the values of the fitted polynomials at the ends."""
    powers, half = np.arange(degree + 1), window // 2
    fit = np.linalg.pinv(np.arange(window)[:, None] ** powers.astype(float))
    slopes = np.array([np.prod(p - np.arange(deriv)) for p in powers], float)
    at = np.arange(window)[:, None] ** np.maximum(powers - deriv, 0).astype(float) * slopes
    return at[:half] @ fit, at[window - half :] @ fit


def resample(x: Any, num: Any, t: Any = None, axis: Any = 0, window: Any = None, domain: Any = "time") -> Any:
    """Another number of values with the same spectrum."""
    if t is not None or window is not None or domain != "time" or np.iscomplexobj(x):
        return rt.no_derivative("scipy.signal.resample", "it has a rule for real values in time, without t and window")
    x = np.moveaxis(np.asarray(x), axis, -1)
    count = np.shape(x)[-1]
    spectrum = np.fft.rfft(x)[..., : min(num, count) // 2 + 1] * folding(num, count)
    return np.moveaxis(np.fft.irfft(spectrum, num) * (num / count), -1, axis)


def folding(num: Any, count: Any) -> Any:
    """1 but for the highest frequency, which is one or two in the other spectrum."""
    few = min(num, count)
    factors = np.ones(few // 2 + 1)
    if few % 2 == 0 and num != count:
        factors[few // 2] = 2.0 if num < count else 0.5
    return factors


def upfirdn(
    h: Any, x: Any, up: Any = 1, down: Any = 1, axis: Any = -1, mode: Any = "constant", cval: Any = 0
) -> Any:
    """Zeros put in between, a convolution, and every so many values."""
    if mode != "constant" or cval != 0:
        return rt.no_derivative("scipy.signal.upfirdn", "it has a rule for mode='constant'")
    h, x = np.asarray(h), np.moveaxis(np.asarray(x), axis, -1)
    count = np.shape(x)[-1]
    wide = np.concatenate([x[..., None], np.zeros((*np.shape(x), up - 1))], axis=-1)
    wide = np.reshape(wide, (*np.shape(x)[:-1], count * up))[..., : (count - 1) * up + 1]
    whole = signal.convolve(wide, np.reshape(h, (1,) * (np.ndim(x) - 1) + (-1,)))
    return np.moveaxis(whole[..., ::down], -1, axis)


def polyphase(up: Any, down: Any, count: Any, window: Any) -> Any:
    """The filter of ``resample_poly``, with zeros before and after; how many values are left out at the beginning, and
    how many remain."""
    rate = max(up, down)
    half = 10 * rate
    h = signal.firwin(2 * half + 1, 1.0 / rate, window=window) * up
    before, after, remaining = down - half % down, 0, -(-count * up // down)
    left_out = (half + before) // down
    while -(-((count - 1) * up + len(h) + before + after) // down) < remaining + left_out:
        after += 1
    return np.concatenate([np.zeros(before), h, np.zeros(after)]), left_out, remaining


def resample_poly(
    x: Any, up: Any, down: Any, axis: Any = 0, window: Any = ("kaiser", 5.0), padtype: Any = "constant",
    cval: Any = None,
) -> Any:
    if padtype != "constant" or cval is not None or isinstance(window, (list, np.ndarray)):
        return rt.no_derivative("scipy.signal.resample_poly", "it has a rule for padtype='constant' and named windows")
    common = math.gcd(up, down)
    up, down = up // common, down // common
    x = np.asarray(x)
    if up == 1 and down == 1:
        return x
    h, left_out, remaining = polyphase(up, down, np.shape(x)[axis], window)
    y = np.moveaxis(upfirdn(h, x, up, down, axis), axis, -1)
    return np.moveaxis(y[..., left_out : left_out + remaining], -1, axis)


def decimate(
    x: Any, q: Any, n: Any = None, ftype: Any = "iir", axis: Any = -1, zero_phase: Any = True
) -> Any:
    if ftype != "iir":
        return rt.no_derivative("scipy.signal.decimate", "it has a rule for ftype='iir'; use resample_poly")
    sos = lowpass(8 if n is None else n, q)
    x = np.asarray(x)
    y = np.moveaxis(sosfiltfilt(sos, x, axis) if zero_phase else sosfilt(sos, x, axis), axis, -1)
    return np.moveaxis(y[..., ::q], -1, axis)


def lowpass(order: Any, q: Any) -> Any:
    return signal.cheby1(order, 0.05, 0.8 / q, output="sos")


# --- spectra of segments ----------------------------------------------------------------------------------------------


def segments(x: Any, window: Any, step: Any, nfft: Any, detrend: Any, one_sided: Any) -> Any:
    """The spectra of the segments of the last axis: segments by frequencies."""
    size, count = np.shape(window)[0], np.shape(x)[-1]
    places = np.arange((count - size) // step + 1)[:, None] * step + np.arange(size)
    parts = x[..., places]
    if isinstance(detrend, str) and detrend == "constant":
        parts = parts - np.mean(parts, axis=-1, keepdims=True)
    elif isinstance(detrend, str):
        parts = signal.detrend(parts, -1, detrend)
    elif detrend:
        return rt.no_derivative("a spectrum", "with a function for detrend it has no rule")
    weighed = parts * window
    return np.fft.rfft(weighed, nfft) if one_sided else np.fft.fft(weighed, nfft)


def plan(count: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any) -> Any:
    """The window, the step between segments and the length of the transform, as SciPy chooses them."""
    if isinstance(window, (str, tuple)):
        size = min(256 if nperseg is None else nperseg, count)
        window = signal.get_window(window, size)
    window = np.asarray(window)
    size = len(window)
    return window, size - (size // 2 if noverlap is None else noverlap), size if nfft is None else nfft


def weights_of(window: Any, fs: Any, scaling: Any, nfft: Any, one_sided: Any) -> Any:
    """What the squares of spectra are multiplied with; in a one-sided spectrum most frequencies count twice."""
    scale = 1.0 / (fs * np.sum(window * window)) if scaling == "density" else 1.0 / np.sum(window) ** 2
    if not one_sided:
        return np.full(nfft, scale)
    weights = np.full(nfft // 2 + 1, 2.0 * scale)
    weights[0] = scale
    if nfft % 2 == 0:
        weights[-1] = scale
    return weights


def frequencies(nfft: Any, fs: Any, one_sided: Any) -> Any:
    return np.fft.rfftfreq(nfft, 1.0 / fs) if one_sided else np.fft.fftfreq(nfft, 1.0 / fs)


def check_lengths(x: Any, y: Any) -> None:
    if np.shape(x) != np.shape(y):
        rt.no_derivative("scipy.signal.csd", "of arrays of different shapes it has no rule")


def csd(
    x: Any, y: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = None, noverlap: Any = None,
    nfft: Any = None, detrend: Any = "constant", return_onesided: Any = True, scaling: Any = "density", axis: Any = -1,
    average: Any = "mean",
) -> Any:
    if average != "mean":
        return rt.no_derivative("a spectrum by the median", "it has a rule for average='mean'")
    x, y = np.moveaxis(np.asarray(x), axis, -1), np.moveaxis(np.asarray(y), axis, -1)
    check_lengths(x, y)
    if np.size(x) == 0:
        empty = np.zeros(np.shape(np.moveaxis(x, -1, axis)))
        return empty, empty
    one_sided = return_onesided and not np.iscomplexobj(x) and not np.iscomplexobj(y)
    weights, step, length = plan(np.shape(x)[-1], window, nperseg, noverlap, nfft)
    first = segments(x, weights, step, length, detrend, one_sided)
    second = segments(y, weights, step, length, detrend, one_sided)
    power = np.mean(np.conj(first) * second, axis=-2) * weights_of(weights, fs, scaling, length, one_sided)
    return frequencies(length, fs, one_sided), np.moveaxis(power, -1, axis)


def welch(
    x: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = None, noverlap: Any = None, nfft: Any = None,
    detrend: Any = "constant", return_onesided: Any = True, scaling: Any = "density", axis: Any = -1,
    average: Any = "mean",
) -> Any:
    at, power = csd(
        x, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)
    return at, np.real(power)


def periodogram(
    x: Any, fs: Any = 1.0, window: Any = "boxcar", nfft: Any = None, detrend: Any = "constant",
    return_onesided: Any = True, scaling: Any = "density", axis: Any = -1,
) -> Any:
    x = np.moveaxis(np.asarray(x), axis, -1)
    if nfft is not None:
        x = x[..., :nfft]
    x = np.moveaxis(x, -1, axis)
    count = np.shape(x)[axis]
    named = "boxcar" if window is None else window
    return welch(x, fs, named, count, 0, nfft, detrend, return_onesided, scaling, axis)


def coherence(
    x: Any, y: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = None, noverlap: Any = None,
    nfft: Any = None, detrend: Any = "constant", axis: Any = -1,
) -> Any:
    at, first = welch(x, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)
    second = welch(y, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)[1]
    both = csd(x, y, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)[1]
    return at, np.real(both * np.conj(both)) / first / second


def stft(
    x: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = 256, noverlap: Any = None, nfft: Any = None,
    detrend: Any = False, return_onesided: Any = True, boundary: Any = "zeros", padded: Any = True, axis: Any = -1,
    scaling: Any = "spectrum",
) -> Any:
    x = np.asarray(x)
    if np.size(x) == 0:
        empty = np.zeros(np.shape(x))
        return empty, empty, empty
    x = np.moveaxis(x, axis, -1)
    one_sided = return_onesided and not np.iscomplexobj(x)
    weights, step, length = plan(np.shape(x)[-1], window, nperseg, noverlap, nfft)
    size = np.shape(weights)[0]
    around = size // 2 if boundary is not None else 0
    count = np.shape(x)[-1] + 2 * around
    after = (-(count - size) % step) % size if padded else 0
    x = np.concatenate([continued(x, around, boundary), np.zeros((*np.shape(x)[:-1], after))], axis=-1)
    spectra = segments(x, weights, step, length, detrend, one_sided)
    scale = np.sqrt(weights_of(weights, fs, "density" if scaling == "psd" else scaling, 1, False)[0])
    times = (np.arange(np.shape(spectra)[-2]) * step + (0 if boundary is not None else size / 2)) / fs
    placed = np.moveaxis(spectra, -1, axis if axis >= 0 else axis - 1)  # the segments are the last axis
    return frequencies(length, fs, one_sided), times, placed * scale


def continued(x: Any, around: Any, boundary: Any) -> Any:
    """A signal with as many values more at both ends of its last axis."""
    if boundary is None:
        return x
    widths = [*[(0, 0)] * (np.ndim(x) - 1), (around, around)]
    if boundary == "odd":
        return np.pad(x, widths, "reflect", reflect_type="odd")
    if boundary == "even":
        return np.pad(x, widths, "reflect")
    if boundary == "constant":
        return np.pad(x, widths, "edge")
    if boundary == "zeros":
        return np.pad(x, widths)
    raise ValueError("boundary= is one of 'even', 'odd', 'constant', 'zeros' and None")


def istft(
    Zxx: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = None, noverlap: Any = None, nfft: Any = None,
    input_onesided: Any = True, boundary: Any = True, time_axis: Any = -1, freq_axis: Any = -2,
    scaling: Any = "spectrum",
) -> Any:
    if time_axis != -1 or freq_axis != -2:
        return rt.no_derivative("scipy.signal.istft", "it has a rule for the default axes")
    spectra = np.swapaxes(np.asarray(Zxx), -1, -2)
    bins = np.shape(spectra)[-1]
    size = (2 * (bins - 1) if input_onesided else bins) if nperseg is None else int(nperseg)
    length = size if nfft is None else nfft
    weights, step, _ = plan(size, window, size, noverlap, None)
    parts = np.fft.irfft(spectra, length) if input_onesided else np.fft.ifft(spectra, length)
    scale = np.sqrt(weights_of(weights, fs, "density" if scaling == "psd" else scaling, 1, False)[0])
    x = overlapped(parts[..., :size] * weights / scale, step) / norms(weights, step, np.shape(spectra)[-2])
    cut = size // 2 if boundary else 0
    x = x[..., cut : np.shape(x)[-1] - cut]
    return np.arange(np.shape(x)[0]) / fs, x  # as SciPy counts, also for more than one series


def overlapped(parts: Any, step: Any) -> Any:
    """The sum of segments, each a step after the one before."""
    count, size = np.shape(parts)[-2], np.shape(parts)[-1]
    made = np.zeros((*np.shape(parts)[:-2], (count - 1) * step + size), dtype=parts.dtype)
    for k in range(count):
        made[..., k * step : k * step + size] += parts[..., k, :]
    return made


def cut_apart(x: Any, step: Any, count: Any, size: Any) -> Any:
    """The segments of the last axis: the transpose of ``overlapped``."""
    return x[..., np.arange(count)[:, None] * step + np.arange(size)]


def norms(window: Any, step: Any, count: Any) -> Any:
    """The sums of the squares of the windows; 1 where there are none."""
    sums = overlapped(np.tile(window * window, (count, 1)), step)
    return np.where(sums > 1e-10, sums, 1.0)


# --- responses of filters ---------------------------------------------------------------------------------------------


def grid_of(count: Any, whole: Any, include_nyquist: Any) -> Any:
    """Frequencies in radians by their number."""
    return np.linspace(0.0, 2.0 * np.pi if whole else np.pi, count, endpoint=bool(include_nyquist and not whole))


def angles_of(places: Any, whole: Any, fs: Any, include_nyquist: Any) -> Any:
    """Frequencies in radians: as many as are asked for, or those that are given."""
    if places is None or isinstance(places, int):
        return grid_of(512 if places is None else places, whole, include_nyquist)
    return 2.0 * np.pi * np.atleast_1d(places) / fs


def response(b: Any, a: Any, angles: Any) -> Any:
    """The quotient of two polynomials on the unit circle."""
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    if np.ndim(b) != 1 or np.ndim(a) != 1:
        return rt.no_derivative("scipy.signal.freqz", "of several filters at once it has no rule")
    above = np.exp(-1j * angles[:, None] * np.arange(np.shape(b)[0])) @ b
    return above / (np.exp(-1j * angles[:, None] * np.arange(np.shape(a)[0])) @ a)


def freqz(
    b: Any, a: Any = 1, worN: Any = 512, whole: Any = False, plot: Any = None, fs: Any = 2.0 * np.pi,
    include_nyquist: Any = False,
) -> Any:
    if plot is not None:
        return rt.no_derivative("scipy.signal.freqz", "it has a rule without plot=")
    angles = angles_of(worN, whole, fs, include_nyquist)
    return angles * fs / (2.0 * np.pi), response(b, a, angles)


def freqz_sos(sos: Any, worN: Any = 512, whole: Any = False, fs: Any = 2.0 * np.pi) -> Any:
    """The product of the responses of the sections."""
    sos, angles = np.asarray(sos), angles_of(worN, whole, fs, False)
    turns = np.exp(-1j * angles[:, None] * np.arange(3))
    parts = (turns @ sos[:, :3].T) / (turns @ sos[:, 3:].T)
    return angles * fs / (2.0 * np.pi), np.prod(parts, axis=1)
