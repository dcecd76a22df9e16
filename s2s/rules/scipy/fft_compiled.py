"""Rules of the compiled transforms behind ``scipy.fft`` and ``scipy.fftpack``."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import scipy.fft

from s2s import runtime as rt
from s2s.rules.table import model

NORMS = ("backward", "ortho", "forward")
INTO = "it has a rule without `out`; leave overwrite_x out"


def scale_of(inorm: Any, shape: Any, axes: Any) -> Any:
    """What the sum is multiplied with: by which norm, and along which axes of the longer side."""
    if inorm == 0:
        return 1.0
    count = math.prod([shape[k] for k in axes])
    return 1.0 / math.sqrt(count) if inorm == 1 else 1.0 / count


def c2c(a: Any, axes: Any = None, forward: Any = True, inorm: Any = 0, out: Any = None, nthreads: Any = 1) -> Any:
    if out is not None:
        return rt.no_derivative("scipy.fft._pocketfft.c2c", INTO)
    along = tuple(range(np.ndim(a))) if axes is None else tuple(axes)
    made = np.fft.fftn(a, axes=along) if forward else np.fft.ifftn(a, axes=along, norm="forward")
    return made * scale_of(inorm, np.shape(a), along)


def r2c(a: Any, axes: Any = None, forward: Any = True, inorm: Any = 0, out: Any = None, nthreads: Any = 1) -> Any:
    if out is not None:
        return rt.no_derivative("scipy.fft._pocketfft.r2c", INTO)
    along = tuple(range(np.ndim(a))) if axes is None else tuple(axes)
    made = np.fft.rfftn(a, axes=along) * scale_of(inorm, np.shape(a), along)
    return made if forward else np.conj(made)


def c2r(
    a: Any, axes: Any = None, lastsize: Any = 0, forward: Any = True, inorm: Any = 0, out: Any = None,
    nthreads: Any = 1,
) -> Any:
    if out is not None:
        return rt.no_derivative("scipy.fft._pocketfft.c2r", INTO)
    along = tuple(range(np.ndim(a))) if axes is None else tuple(axes)
    last = 2 * np.shape(a)[along[-1]] - 1 if lastsize == 0 else lastsize
    lengths = [*[np.shape(a)[k] for k in along[:-1]], last]
    made = np.fft.irfftn(np.conj(a) if forward else a, lengths, axes=along, norm="forward")
    count = math.prod(lengths)
    return made * (1.0 if inorm == 0 else 1.0 / math.sqrt(count) if inorm == 1 else 1.0 / count)


def dct(
    a: Any, type: Any, axes: Any = None, inorm: Any = 0, out: Any = None, nthreads: Any = 1, ortho: Any = None
) -> Any:
    if out is not None:
        return rt.no_derivative("scipy.fft._pocketfft.dct", INTO)
    return scipy.fft.dctn(a, type, axes=axes, norm=NORMS[inorm], orthogonalize=ortho)


def dst(
    a: Any, type: Any, axes: Any = None, inorm: Any = 0, out: Any = None, nthreads: Any = 1, ortho: Any = None
) -> Any:
    if out is not None:
        return rt.no_derivative("scipy.fft._pocketfft.dst", INTO)
    return scipy.fft.dstn(a, type, axes=axes, norm=NORMS[inorm], orthogonalize=ortho)


def r2r_fftpack(
    a: Any, axes: Any, real2hermitian: Any, forward: Any, inorm: Any = 0, out: Any = None, nthreads: Any = 1
) -> Any:
    """Of real numbers along one axis, to and from FFTPACK's order: the real and imaginary parts one after another,
    without those that are zero."""
    if out is not None:
        return rt.no_derivative("scipy.fft._pocketfft.r2r_fftpack", INTO)
    if axes is None or len(axes) != 1 or bool(real2hermitian) != bool(forward):
        return rt.no_derivative("scipy.fft._pocketfft.r2r_fftpack", "it has a rule for rfft and irfft of one axis")
    a = np.moveaxis(a, axes[0], -1)
    count = np.shape(a)[-1]
    if forward:
        half = np.fft.rfft(a)
        parts = np.reshape(np.stack((np.real(half), np.imag(half)), axis=-1), (*np.shape(a)[:-1], -1))
        made = np.concatenate((parts[..., :1], parts[..., 2 : count + 1]), axis=-1)
    else:
        zero = np.zeros_like(a[..., :1])
        last = a[..., :0] if count % 2 else zero
        parts = np.concatenate((a[..., :1], zero, a[..., 1:], last), axis=-1)
        pairs = np.reshape(parts, (*np.shape(a)[:-1], -1, 2))
        made = np.fft.irfft(pairs[..., 0] + 1j * pairs[..., 1], count, norm="forward")
    return np.moveaxis(made * scale_of(inorm, (count,), (0,)), -1, axes[0])


def _compiled() -> Any:
    """The module of the compiled transforms; None where another SciPy has it elsewhere."""
    for name in ("_pocketfft.pypocketfft", "_duccfft.pyduccfft"):
        try:
            return importlib.import_module(f"scipy.fft.{name}")
        except ImportError:
            continue
    return None


_module = _compiled()
for _body in (c2c, r2c, c2r, dct, dst, r2r_fftpack):
    if hasattr(_module, _body.__name__):
        model(getattr(_module, _body.__name__))(_body)
