"""Rules of ``scipy.signal``: convolutions, filters, trends."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from s2s import runtime as rt
from s2s.core.functions import Result
from s2s.models import filters, poles, ranks
from s2s.models import signal as models
from s2s.rules.functions import describe
from s2s.rules.samples import args, arr
from s2s.rules.table import jvp, linear, model, refuse, requires, vjp, zero

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


def along_axes_bar(g: Any, x: Any, other: Any, mode: str, axes: Any, is_second: bool) -> Any:
    """The cotangent of one factor of a convolution along some axes; along the others they are broadcast."""
    if axes is None:
        return convolve_bar(g, x, other, mode, is_second, True)
    chosen = [axis % np.ndim(g) for axis in np.atleast_1d(axes)]
    first, second = (np.shape(other), np.shape(x)) if is_second else (np.shape(x), np.shape(other))
    ranges = [
        (*start_and_length(first[k], second[k], mode), first[k] + second[k] - 1) if k in chosen else (0, n, n)
        for k, n in enumerate(np.shape(g))
    ]
    made = np.zeros([wide for _, _, wide in ranges], dtype=g.dtype)
    made[tuple([slice(start, start + length) for start, length, _ in ranges])] = g
    return rt.cast(rt.unbroadcast(signal.fftconvolve(made, np.flip(other, tuple(chosen)), "valid", axes), x), x)


def fft_1_bar(y_bar: Any, in1: Any, in2: Any, mode: Any, axes: Any) -> Any:
    return along_axes_bar(y_bar, in1, in2, mode, axes, False)


def fft_2_bar(y_bar: Any, in1: Any, in2: Any, mode: Any, axes: Any) -> Any:
    return along_axes_bar(y_bar, in2, in1, mode, axes, True)


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
ALONG = [
    args(arr(3, 5), arr(3, 2), axes=1), args(arr(3, 5), arr(1, 3), "same", axes=[1]),
    args(arr(5, 2), arr(2, 1), axes=0),
]
linear(
    signal.fftconvolve, in1=fft_1_bar, in2=fft_2_bar, params="in1, in2, mode='full', axes=None",
    samples=[*FACTORS, *ALONG],
)
linear(
    signal.oaconvolve, in1=fft_1_bar, in2=fft_2_bar, params="in1, in2, mode='full', axes=None",
    samples=[*FACTORS, *ALONG],
)
model(signal.correlate, samples=FACTORS)(models.correlate)
PLANES = [
    args(arr(4, 5), arr(2, 3)), args(arr(4, 5), arr(2, 2), "same"), args(arr(4, 5), arr(3, 2), "valid"),
    args(arr(4, 5), arr(3, 2), "same", "symm"), args(arr(3, 4), arr(3, 3), boundary="wrap"),
    args(arr(3, 4), arr(2, 3), "same", "fill", 0.7),
]
model(signal.convolve2d, samples=[*PLANES, args(arr(2, 2), arr(4, 3), "valid")])(models.convolve2d)
model(signal.correlate2d, samples=PLANES)(models.correlate2d)

# --- filters: a * y = b * x. With w the filter 1 / a run backwards on y_bar, x_bar = b * w backwards ------------------


def backwards(b: Any, a: Any, g: Any, axis: Any) -> Any:
    return np.flip(models.filtered(b, a, np.flip(g, axis), axis), axis)


def sums_of_lags(w: Any, x: Any, like: Any, axis: Any) -> Any:
    """The sums of w[n] x[n - k] for each k that a vector of coefficients has."""
    w, x = np.moveaxis(w, axis, -1), np.moveaxis(x, axis, -1)
    n = np.shape(w)[-1]
    sums = [np.sum(w[..., k:] * x[..., : n - k]) if k < n else 0.0 for k in range(np.size(like))]
    return rt.cast(np.reshape(np.array(sums), np.shape(like)), like)


DENOMINATOR = np.array([1.0, -0.4, 0.2])
vjp(
    models.filtered, x=lambda y_bar, b, a, x, axis: rt.cast(backwards(b, a, y_bar, axis), x),
    b=lambda y_bar, b, a, x, axis: sums_of_lags(backwards([1.0], a, y_bar, axis), x, b, axis),
    a=lambda y_bar, y, a, axis: -sums_of_lags(backwards([1.0], a, y_bar, axis), y, a, axis),
    params="b, a, x, axis",
    samples=[
        args(arr(3), DENOMINATOR, arr(6), -1), args(arr(2), arr(2, low=0.9, high=1.4), arr(2, 5), -1),
        args(arr(2), DENOMINATOR, arr(5, 2), 0), args(arr(4), [1.0], arr(3), -1),
    ],
)
jvp(
    models.filtered, b=lambda b_dot, a, x, axis: models.filtered(b_dot, a, x, axis),
    a=lambda a_dot, y, a, axis: -models.filtered([1.0], a, models.filtered(a_dot, [1.0], y, axis), axis),
    x=lambda x_dot, b, a, axis: models.filtered(b, a, x_dot, axis),
)
zero(models.edge_of, models.fits_at_ends, models.folding, models.polyphase, models.lowpass, models.weights_of,
     models.frequencies, models.norms, models.impulse, models.check_lengths, models.check_sections)
linear(
    models.overlapped, params="parts, step",
    parts=lambda y_bar, parts, step: models.cut_apart(y_bar, step, np.shape(parts)[-2], np.shape(parts)[-1]),
    samples=[args(arr(3, 4), 2), args(arr(2, 3, 4), 3)],
)
FILTERED = [
    args(arr(3), DENOMINATOR, arr(6)), args(arr(2), arr(2, low=0.9, high=1.4), arr(2, 5)),
    args(arr(2), DENOMINATOR, arr(5, 2), 0), args(arr(3), DENOMINATOR, arr(6), zi=arr(2)),
    args(arr(3), DENOMINATOR, arr(2, 6), zi=arr(2, 2)), args(arr(4), [1.0], arr(5, 2), 0, zi=arr(3, 2)),
]
model(signal.lfilter, samples=FILTERED)(models.lfilter)
model(signal.lfilter_zi, samples=[args(arr(3), DENOMINATOR), args(arr(2), DENOMINATOR)])(models.lfilter_zi)
SECTIONS = np.array([[1.0, 0.4, 0.1, 1.0, -0.3, 0.2], [0.5, 0.2, 0.0, 1.0, 0.1, 0.0]])
model(signal.sosfilt, samples=[args(SECTIONS, arr(6)), args(SECTIONS, arr(3, 6), zi=arr(2, 3, 2))])(models.sosfilt)
model(signal.sosfilt_zi)(models.sosfilt_zi)
LONG = arr(24)
THERE_AND_BACK = [
    args(arr(3), DENOMINATOR, LONG), args(arr(3), DENOMINATOR, arr(2, 24), padtype="even", padlen=4),
    args(arr(3), DENOMINATOR, arr(24, 2), 0, padtype="constant"), args(arr(3), DENOMINATOR, arr(5), padtype=None),
]
model(signal.place_poles)(poles.place_poles)
model(signal.filtfilt, samples=THERE_AND_BACK)(models.filtfilt)
model(signal.sosfiltfilt, samples=[args(SECTIONS, LONG), args(SECTIONS, arr(24, 2), 0, "even", 5)])(models.sosfiltfilt)
model(signal.deconvolve, samples=[args(arr(6), arr(3, low=1.0))])(models.deconvolve)
model(
    signal.savgol_filter,
    samples=[
        args(arr(8), 5, 2), args(arr(3, 8), 5, 3, deriv=1, delta=0.5), args(arr(8, 2), 3, 1, axis=0, mode="nearest"),
        args(arr(9), 7, 4, 2),
    ],
)(models.savgol_filter)


@requires(signal.savgol_filter)
def real_samples(x: Any) -> None:
    if np.iscomplexobj(x):
        rt.no_derivative("scipy.signal.savgol_filter", "it discards imaginary parts; call it for each part")


model(
    signal.resample, samples=[args(arr(8), 12), args(arr(8), 5), args(arr(8), 6), args(arr(2, 7), 9, axis=1)],
)(models.resample)
model(signal.upfirdn, samples=[args(arr(4), arr(6)), args(arr(4), arr(2, 6), 3, 2), args(arr(3), arr(6, 2), 2, 1, 0)])(
    models.upfirdn
)
model(
    signal.resample_poly,
    samples=[args(arr(8), 3, 2), args(arr(2, 9), 2, 4, axis=1), args(arr(8), 2, 3, window="hann")],
)(models.resample_poly)
model(signal.decimate, samples=[args(arr(40), 2), args(arr(2, 40), 3, zero_phase=False)])(models.decimate)
SERIES = arr(32)
SPECTRA = [
    args(SERIES, nperseg=8), args(arr(2, 30), 2.0, "hamming", 9, 3), args(SERIES, nperseg=8, nfft=12),
    args(arr(32, 2), nperseg=8, axis=0, scaling="spectrum", detrend="linear"),
    args(arr(32, complex=True), nperseg=8, detrend=False),
]
model(signal.welch, samples=SPECTRA)(models.welch)
TWO_SERIES = [args(SERIES, SERIES, nperseg=8), args(arr(2, 30), arr(2, 30), 2.0, "hamming", 9)]
model(signal.csd, samples=TWO_SERIES)(models.csd)
model(signal.coherence, samples=[args(SERIES, SERIES, nperseg=8)])(models.coherence)
model(signal.periodogram, samples=[args(arr(9)), args(arr(8), 2.0, "hann", scaling="spectrum")])(models.periodogram)
model(
    signal.stft,
    samples=[
        args(SERIES, nperseg=8), args(arr(2, 30), 2.0, "hamming", 9, 3), args(SERIES, nperseg=8, boundary=None),
        args(arr(33), nperseg=8, padded=False, scaling="psd"), args(arr(32, complex=True), nperseg=8),
    ],
)(models.stft)
PICTURES = [args(arr(5, 9, complex=True)), args(arr(2, 5, 9, complex=True), 2.0, nperseg=8, noverlap=6)]
model(signal.istft, samples=PICTURES)(models.istft)
# A trend is taken away by a projection, which is its own transpose.
linear(
    signal.detrend, data=lambda y_bar, data, axis, type, bp: rt.cast(signal.detrend(y_bar, axis, type, bp), data),
    params="data, axis=-1, type='linear', bp=0, overwrite_data=False", harmless="overwrite_data",
    samples=[args(arr(6)), args(arr(3, 5), type="constant"), args(arr(6, 2), 0, "linear", 3)],
)
model(signal.hilbert, samples=[args(arr(6)), args(arr(5)), args(arr(4, 3), axis=0), args(arr(5), 8)])(models.hilbert)

model(signal.medfilt, samples=[args(arr(7)), args(arr(4, 5), (3, 1))])(ranks.medfilt)
model(signal.medfilt2d, samples=[args(arr(4, 5)), args(arr(4, 5), (1, 3))])(ranks.medfilt2d)
model(signal.order_filter, samples=[args(arr(4, 5), np.ones((3, 3)), 2)])(ranks.order_filter)
zero(models.grid_of)
AT = np.array([0.1, 0.7, 1.9])
model(
    signal.freqz,
    samples=[
        args(arr(3), arr(2, low=2.0, high=3.0), 5), args(arr(3), 1.5, AT), args(arr(4), worN=4, whole=True, fs=2.0),
        args(arr(2), worN=5, include_nyquist=True),
    ],
)(models.freqz)
for _name in ("freqz_sos", "sosfreqz"):
    if hasattr(signal, _name):
        model(getattr(signal, _name))(models.freqz_sos)
HINT = "it has no rule; write it with scipy.signal.convolve, lfilter or numpy.fft"
for _name in (
    "wiener", "sepfir2d", "spline_filter", "cspline1d", "cspline2d",
    "qspline1d", "qspline2d",
    "symiirorder1", "symiirorder2", "lombscargle", "czt", "zoom_fft", "spectrogram",
    "ShortTimeFFT", "CZT", "ZoomFFT", "hilbert2",
):
    if hasattr(signal, _name):
        refuse(getattr(signal, _name), HINT)
COUNTS = "it finds places, which do not change smoothly; index with what it gives"
for _name in (
    "find_peaks", "find_peaks_cwt", "argrelextrema", "argrelmax", "argrelmin",
):
    refuse(getattr(signal, _name), COUNTS)
model(signal.normalize)(filters.normalize)
model(signal.lp2hp)(filters.highpass)
model(signal.bilinear)(filters.bilinear)
zero(filters.check_leading, filters.substituted)
DESIGN = "filters are designed outside of it; write the formula of the coefficients"
DESIGNERS = """bessel butter buttord cheb1ord cheb2ord cheby1 cheby2 ellip ellipord iirdesign iirfilter firwin
        firwin_2d remez gammatone kaiserord iircomb tf2sos zpk2sos zpk2ss ss2tf ss2zpk sos2zpk
        residue residuez invres invresz unique_roots besselap buttap
        cheb1ap cheb2ap ellipap abcd_normalize band_stop_obj"""
for _name in DESIGNERS.split():
    if hasattr(signal, _name):
        refuse(getattr(signal, _name), DESIGN)
SYSTEMS = "systems are objects that check themselves; use lfilter, solve_ivp or scipy.linalg.expm"
OF_SYSTEMS = """lsim dlsim impulse dimpulse step dstep bode dbode freqresp dfreqresp lti dlti StateSpace
        TransferFunction ZerosPolesGain"""
for _name in OF_SYSTEMS.split():
    if hasattr(signal, _name):
        refuse(getattr(signal, _name), SYSTEMS)
for _name in ("cspline1d_eval", "qspline1d_eval"):
    refuse(getattr(signal, _name), "it has no rule; use scipy.interpolate.CubicSpline or BSpline")
for _name in ("peak_prominences", "peak_widths"):
    refuse(getattr(signal, _name), COUNTS)

# --- what else is known ---------------------------------------------------------------------------------------------

describe(signal.convolve, signal.fftconvolve, signal.oaconvolve, signal.detrend, result=Result.NEW)
