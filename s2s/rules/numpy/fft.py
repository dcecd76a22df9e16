"""Rules of ``numpy.fft``. All transforms are linear, and the matrix of the discrete Fourier transform is symmetric.

So the transpose of ``fft`` is ``fft`` itself. The transforms of real signals leave out half of the spectrum: their
transposes weigh the bins that stand for two. What ``n`` or ``s`` cut off gets zeros; what they added is cut off.
Complex cotangents follow JAX's convention (nothing is conjugated); that of a real argument is real.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from s2s.core.functions import Computes, Result
from s2s.rules.functions import describe
from s2s.rules.samples import Sample, args, arr, num
from s2s.rules.table import linear, vjp

# --- lengths and weights --------------------------------------------------------------------------------------------


def resize(g: Any, shape: tuple[int, ...]) -> Any:
    """``g`` cut off or filled up with zeros at the end of each axis, to a shape."""
    if np.shape(g) == shape:
        return g
    g = g[tuple(slice(n) for n in shape)]
    missing = [(0, want - have) for want, have in zip(shape, np.shape(g), strict=True)]
    return np.pad(g, missing) if any(m != (0, 0) for m in missing) else g


def swapped(norm: Any) -> Any:
    """The norm that scales the inverse transform as ``norm`` scales the transform."""
    return {"forward": "backward", "ortho": "ortho"}.get(norm or "backward", "forward")


def bins_of_half_spectrum(n: int, rank: int, axis: int) -> Any:
    """How many bins of a spectrum of ``n`` each bin of its half stands for: 1 at frequency 0 and at n/2, 2 between; in
    a shape that broadcasts against arrays of a rank.
    """
    counts = np.full(n // 2 + 1, 2.0)
    counts[0] = 1.0
    if n % 2 == 0:
        counts[-1] = 1.0
    return np.reshape(counts, [-1 if i == axis % rank else 1 for i in range(rank)])


def rfft_bar(g: Any, n: int, axis: int, norm: Any) -> Any:
    """The cotangent of a real signal of length ``n`` from that of its half spectrum: an inverse transform."""
    half = np.conj(g) / bins_of_half_spectrum(n, np.ndim(g), axis).astype(g.real.dtype)
    return np.fft.irfft(half, n, axis, swapped(norm))


def irfft_bar(g: Any, axis: int, norm: Any) -> Any:
    """The cotangent of a half spectrum from that of its real signal: a transform."""
    whole = np.conj(np.fft.rfft(g, axis=axis, norm=swapped(norm)))
    return whole * bins_of_half_spectrum(np.shape(g)[axis], np.ndim(g), axis).astype(g.dtype)


def transformed_axes(a: Any, s: Any, axes: Any) -> tuple[int, ...]:
    """The axes that an n-dimensional transform takes: all, or the last ones that ``s`` has lengths for. SciPy takes
    numbers for tuples of one.
    """
    if axes is not None:
        return tuple(np.ravel(axes).tolist())
    return tuple(range(np.ndim(a) - (np.ndim(a) if s is None else np.size(s)), np.ndim(a)))


def last_length(a: Any, s: Any, axes: Iterable[int]) -> int:
    """The length of the last transformed axis of a real signal."""
    own: int = np.shape(a)[tuple(axes)[-1]]
    last: int = own if s is None else np.ravel(s)[-1]
    return own if last == -1 else last


# --- complex signals ------------------------------------------------------------------------------------------------


def fft_bar(y_bar: Any, a: Any, n: Any, axis: Any, norm: Any) -> Any:
    a_bar = np.fft.fft(y_bar, axis=axis, norm=norm)
    if n is not None:
        a_bar = resize(a_bar, np.shape(a))
    return a_bar if np.iscomplexobj(a) else np.real(a_bar)


def ifft_bar(y_bar: Any, a: Any, n: Any, axis: Any, norm: Any) -> Any:
    a_bar = np.fft.ifft(y_bar, axis=axis, norm=norm)
    if n is not None:
        a_bar = resize(a_bar, np.shape(a))
    return a_bar if np.iscomplexobj(a) else np.real(a_bar)


def fftn_bar(y_bar: Any, a: Any, s: Any, axes: Any, norm: Any) -> Any:
    if s is None and not isinstance(axes, int):
        a_bar = np.fft.fftn(y_bar, axes=axes, norm=norm)
    else:
        a_bar = resize(np.fft.fftn(y_bar, axes=transformed_axes(a, s, axes), norm=norm), np.shape(a))
    return a_bar if np.iscomplexobj(a) else np.real(a_bar)


def ifftn_bar(y_bar: Any, a: Any, s: Any, axes: Any, norm: Any) -> Any:
    if s is None and not isinstance(axes, int):
        a_bar = np.fft.ifftn(y_bar, axes=axes, norm=norm)
    else:
        a_bar = resize(np.fft.ifftn(y_bar, axes=transformed_axes(a, s, axes), norm=norm), np.shape(a))
    return a_bar if np.iscomplexobj(a) else np.real(a_bar)


ONE = "a, n=None, axis=-1, norm=None, out=None"
TWO = "a, s=None, axes=(-2, -1), norm=None, out=None"
MANY = "a, s=None, axes=None, norm=None, out=None"


def lines(**kind: Any) -> list[Sample]:
    """Calls of a transform along one axis, with each length and norm."""
    return [
        args(arr(5, **kind)), args(arr(6, **kind)), args(arr(3, 4, **kind)), args(arr(3, 4, **kind), axis=0),
        args(arr(5, **kind), 8), args(arr(5, **kind), 3), args(arr(6, **kind), norm="ortho"),
        args(arr(2, 5, **kind), n=4, norm="forward"), args(arr(3, 2, 4, **kind), 5, 0, "backward"),
    ]


def planes(**kind: Any) -> list[Sample]:
    """Calls of a transform along two or more axes."""
    return [
        args(arr(3, 4, **kind)), args(arr(2, 3, 5, **kind)), args(arr(3, 4, **kind), norm="ortho"),
        args(arr(2, 3, 4, **kind), axes=(0, 2)), args(arr(3, 4, 2, **kind), axes=(1, 0), norm="forward"),
        args(arr(3, 4, **kind), (4, 3), axes=(0, 1)), args(arr(3, 4, **kind), s=(2, 6), axes=(-2, -1)),
        args(arr(3, 4, 2, **kind), (4, 3), axes=(0, 1)),
    ]


linear(np.fft.fft, a=fft_bar, params=ONE, samples=[*lines(), *lines(complex=True)])
linear(np.fft.ifft, a=ifft_bar, params=ONE, samples=[*lines(), *lines(complex=True)])
linear(np.fft.fft2, a=fftn_bar, params=TWO, samples=[*planes(), *planes(complex=True)])
linear(np.fft.ifft2, a=ifftn_bar, params=TWO, samples=[*planes(), *planes(complex=True)])
linear(np.fft.fftn, a=fftn_bar, params=MANY, samples=[*planes(), *planes(complex=True)])
linear(np.fft.ifftn, a=ifftn_bar, params=MANY, samples=[*planes(), *planes(complex=True)])

# --- real signals ---------------------------------------------------------------------------------------------------


def rfft_adjoint(y_bar: Any, a: Any, n: Any, axis: Any, norm: Any) -> Any:
    if n is None:
        return rfft_bar(y_bar, np.shape(a)[axis], axis, norm)
    return resize(rfft_bar(y_bar, n, axis, norm), np.shape(a))


def irfft_adjoint(y_bar: Any, a: Any, n: Any, axis: Any, norm: Any) -> Any:
    a_bar = irfft_bar(y_bar, axis, norm)
    if n is not None:
        a_bar = resize(a_bar, np.shape(a))
    return a_bar if np.iscomplexobj(a) else np.real(a_bar)


def hfft_bar(y_bar: Any, a: Any, n: Any, axis: Any, norm: Any) -> Any:
    """``hfft(a, norm)`` is ``irfft(conj(a))`` with the other norm."""
    a_bar = np.conj(irfft_bar(y_bar, axis, swapped(norm)))
    if n is not None:
        a_bar = resize(a_bar, np.shape(a))
    return a_bar if np.iscomplexobj(a) else np.real(a_bar)


def ihfft_bar(y_bar: Any, a: Any, n: Any, axis: Any, norm: Any) -> Any:
    """``ihfft(a, norm)`` is ``conj(rfft(a))`` with the other norm."""
    if n is None:
        return rfft_bar(np.conj(y_bar), np.shape(a)[axis], axis, swapped(norm))
    return resize(rfft_bar(np.conj(y_bar), n, axis, swapped(norm)), np.shape(a))


def rfftn_bar(y_bar: Any, a: Any, s: Any, axes: Any, norm: Any) -> Any:
    """The last axis is transformed first, as a real signal, then the others."""
    if s is None and axes is not None and not isinstance(axes, int):
        g = np.fft.fftn(y_bar, axes=axes[:-1], norm=norm)
        return rfft_bar(g, np.shape(a)[axes[-1]], axes[-1], norm)
    along = transformed_axes(a, s, axes)
    g = np.fft.fftn(y_bar, axes=along[:-1], norm=norm)
    return resize(rfft_bar(g, last_length(a, s, along), along[-1], norm), np.shape(a))


def irfftn_bar(y_bar: Any, a: Any, s: Any, axes: Any, norm: Any) -> Any:
    if s is None and axes is not None and not isinstance(axes, int):
        a_bar = np.fft.ifftn(irfft_bar(y_bar, axes[-1], norm), axes=axes[:-1], norm=norm)
    else:
        along = transformed_axes(a, s, axes)
        a_bar = resize(np.fft.ifftn(irfft_bar(y_bar, along[-1], norm), axes=along[:-1], norm=norm), np.shape(a))
    return a_bar if np.iscomplexobj(a) else np.real(a_bar)


linear(np.fft.rfft, a=rfft_adjoint, params=ONE, samples=lines())
linear(np.fft.irfft, a=irfft_adjoint, params=ONE, samples=[*lines(), *lines(complex=True)])
linear(np.fft.ihfft, a=ihfft_bar, params=ONE, samples=lines())
linear(np.fft.rfft2, a=rfftn_bar, params=TWO, samples=planes())
linear(np.fft.irfft2, a=irfftn_bar, params=TWO, samples=[*planes(), *planes(complex=True)])
linear(np.fft.rfftn, a=rfftn_bar, params=MANY, samples=planes())
linear(np.fft.irfftn, a=irfftn_bar, params=MANY, samples=[*planes(), *planes(complex=True)])
# The conjugate of its argument is taken: linear over the real numbers.
linear(np.fft.hfft, a=hfft_bar, params=ONE, samples=[*lines(), *lines(complex=True)])

# --- order and frequencies ------------------------------------------------------------------------------------------

SHIFTS = [
    args(arr(5)), args(arr(3, 4)), args(arr(3, 4), axes=1), args(arr(2, 3, 4), (0, 2)), args(arr(4, complex=True)),
]
linear(np.fft.fftshift, x=lambda y_bar, axes: np.fft.ifftshift(y_bar, axes), params="x, axes=None", samples=SHIFTS)
linear(np.fft.ifftshift, x=lambda y_bar, axes: np.fft.fftshift(y_bar, axes), params="x, axes=None", samples=SHIFTS)
for _frequencies in (np.fft.fftfreq, np.fft.rfftfreq):
    vjp(
        _frequencies, d=lambda y_bar, y, d: -np.sum(y_bar * y) / d, params="n, d=1.0, device=None",
        samples=[args(5, num(0.5, 2.0)), args(6, d=num(0.5, 2.0))],
    )

# --- what else is known ---------------------------------------------------------------------------------------------

describe(*(getattr(np.fft, name) for name in np.fft.__all__), result=Result.NEW)
describe(np.fft.fftshift, np.fft.ifftshift, computes=Computes.TURNED)
