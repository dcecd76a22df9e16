"""Rules of ``scipy.fft``: those of ``numpy.fft`` under the names of SciPy, and the cosine and sine transforms.

The matrices of the cosine and sine transforms are symmetric (types 1 and 4) or each other's transposes (2 and 3) but
for factors of the first and the last element, which the definitions in SciPy's reference give.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft

from s2s import runtime as rt
from s2s.core.functions import Computes, Result
from s2s.rules.functions import describe
from s2s.rules.numpy.fft import MANY, ONE, TWO, irfftn_bar, planes, resize, rfftn_bar, swapped
from s2s.rules.samples import args, arr, num
from s2s.rules.table import alias, linear, refuse, vjp, zero

OPTIONS = ", overwrite_x=False, workers=None, *, plan=None"
LINE, PLANE, SPACE = (signature.replace(", out=None", OPTIONS) for signature in (ONE, TWO, MANY))

for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    alias(getattr(np.fft, _name), getattr(scipy.fft, _name), params=LINE)
for _name in ("fft2", "ifft2", "rfft2", "irfft2"):
    alias(getattr(np.fft, _name), getattr(scipy.fft, _name), params=PLANE)
for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    alias(getattr(np.fft, _name), getattr(scipy.fft, _name), params=SPACE)
alias(np.fft.fftshift, scipy.fft.fftshift)
alias(np.fft.ifftshift, scipy.fft.ifftshift)
zero(scipy.fft.next_fast_len, scipy.fft.prev_fast_len)
for _frequencies in (scipy.fft.fftfreq, scipy.fft.rfftfreq):
    vjp(
        _frequencies, d=lambda y_bar, y, d: -np.sum(y_bar * y) / d, params="n, d=1.0, *, xp=None, device=None",
        samples=[args(5, num(0.5, 2.0)), args(6, d=num(0.5, 2.0))],
    )


def hfftn_bar(y_bar: Any, a: Any, s: Any, axes: Any, norm: Any) -> Any:
    """``hfftn(a, norm)`` is ``irfftn(conj(a))`` with the other norm."""
    return np.conj(irfftn_bar(y_bar, a, s, axes, swapped(norm)))


def ihfftn_bar(y_bar: Any, a: Any, s: Any, axes: Any, norm: Any) -> Any:
    """``ihfftn(a, norm)`` is ``conj(rfftn(a))`` with the other norm."""
    return rfftn_bar(np.conj(y_bar), a, s, axes, swapped(norm))


linear(scipy.fft.hfft2, a=hfftn_bar, params=PLANE, samples=[*planes(), *planes(complex=True)])
linear(scipy.fft.hfftn, a=hfftn_bar, params=SPACE, samples=[*planes(), *planes(complex=True)])
linear(scipy.fft.ihfft2, a=ihfftn_bar, params=PLANE, samples=planes())
linear(scipy.fft.ihfftn, a=ihfftn_bar, params=SPACE, samples=planes())

# --- cosine and sine transforms -------------------------------------------------------------------------------------

TRANSPOSED = {1: 1, 2: 3, 3: 2, 4: 4}


def cosine_bar(g: Any, a: Any, kind: int, axis: int, norm: Any, orthogonalize: Any) -> Any:
    """The cotangent of ``a`` from that of ``scipy.fft.dct(a, kind)``, at the length of the result."""
    if norm == "ortho" and orthogonalize is not False:
        return scipy.fft.idct(g, kind, axis=axis, norm=norm)  # an orthogonal matrix
    if norm == "ortho" or orthogonalize:
        return rt.no_derivative("scipy.fft.dct", "orthogonalize is known together with norm='ortho' only")
    doubled = {1: [0, -1], 2: [0]}.get(kind, [])
    halved = {1: [0, -1], 3: [0]}.get(kind, [])
    made = scipy.fft.dct(_scaled(g, axis, doubled, 2.0), TRANSPOSED[kind], axis=axis, norm=norm)
    return _scaled(made, axis, halved, 0.5)


def sine_bar(g: Any, a: Any, kind: int, axis: int, norm: Any, orthogonalize: Any) -> Any:
    """The cotangent of ``a`` from that of ``scipy.fft.dst(a, kind)``, at the length of the result."""
    if norm == "ortho" and orthogonalize is not False:
        return scipy.fft.idst(g, kind, axis=axis, norm=norm)
    if norm == "ortho" or orthogonalize:
        return rt.no_derivative("scipy.fft.dst", "orthogonalize is known together with norm='ortho' only")
    doubled, halved = [-1] if kind == 2 else [], [-1] if kind == 3 else []
    made = scipy.fft.dst(_scaled(g, axis, doubled, 2.0), TRANSPOSED[kind], axis=axis, norm=norm)
    return _scaled(made, axis, halved, 0.5)


def _scaled(g: Any, axis: int, places: list[int], factor: float) -> Any:
    """``g`` with the elements at some places along an axis multiplied."""
    if not places:
        return g
    return g * _factors(np.shape(g), axis, places, factor).astype(g.real.dtype)


def _factors(shape: Any, axis: int, places: list[int], factor: float) -> Any:
    line = np.ones(shape[axis])
    line[places] = factor
    return np.reshape(line, [-1 if k == axis % len(shape) else 1 for k in range(len(shape))])


zero(_factors)


def dct_bar(y_bar: Any, x: Any, type: Any, n: Any, axis: Any, norm: Any, orthogonalize: Any) -> Any:
    x_bar = cosine_bar(y_bar, x, type, axis, norm, orthogonalize)
    return x_bar if n is None else resize(x_bar, np.shape(x))


def idct_bar(y_bar: Any, x: Any, type: Any, n: Any, axis: Any, norm: Any, orthogonalize: Any) -> Any:
    """The inverse of a type is the type of its transpose, with the other norm."""
    x_bar = cosine_bar(y_bar, x, TRANSPOSED[type], axis, swapped(norm), orthogonalize)
    return x_bar if n is None else resize(x_bar, np.shape(x))


def dst_bar(y_bar: Any, x: Any, type: Any, n: Any, axis: Any, norm: Any, orthogonalize: Any) -> Any:
    x_bar = sine_bar(y_bar, x, type, axis, norm, orthogonalize)
    return x_bar if n is None else resize(x_bar, np.shape(x))


def idst_bar(y_bar: Any, x: Any, type: Any, n: Any, axis: Any, norm: Any, orthogonalize: Any) -> Any:
    x_bar = sine_bar(y_bar, x, TRANSPOSED[type], axis, swapped(norm), orthogonalize)
    return x_bar if n is None else resize(x_bar, np.shape(x))


WAVES = "x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None"
WAVE_SAMPLES = [
    args(arr(5)), args(arr(4), 1), args(arr(3, 4), 3), args(arr(3, 4), 4, axis=0), args(arr(5), norm="ortho"),
    args(arr(5), 1, norm="ortho"), args(arr(5), 3, norm="forward"), args(arr(2, 5), 2, 7), args(arr(2, 5), type=3, n=3),
    args(arr(4, complex=True)), args(arr(5), 3, norm="ortho", orthogonalize=True),
]
linear(scipy.fft.dct, x=dct_bar, params=WAVES, samples=WAVE_SAMPLES)
linear(scipy.fft.idct, x=idct_bar, params=WAVES, samples=WAVE_SAMPLES)
linear(scipy.fft.dst, x=dst_bar, params=WAVES, samples=WAVE_SAMPLES)
linear(scipy.fft.idst, x=idst_bar, params=WAVES, samples=WAVE_SAMPLES)


def waves_bar(bar_of_line: Any, g: Any, x: Any, kind: int, s: Any, axes: Any, norm: Any, orthogonalize: Any) -> Any:
    """The cotangent of ``x`` from that of its transform along several axes: one axis after the other."""
    some = axes if axes is not None else range(-np.ndim(x) if s is None else -np.size(s), 0)
    for axis in np.atleast_1d(some).tolist():
        g = bar_of_line(g, x, kind, axis, norm, orthogonalize)
    return resize(g, np.shape(x))


def dctn_bar(y_bar: Any, x: Any, type: Any, s: Any, axes: Any, norm: Any, orthogonalize: Any) -> Any:
    return waves_bar(cosine_bar, y_bar, x, type, s, axes, norm, orthogonalize)


def idctn_bar(y_bar: Any, x: Any, type: Any, s: Any, axes: Any, norm: Any, orthogonalize: Any) -> Any:
    return waves_bar(cosine_bar, y_bar, x, TRANSPOSED[type], s, axes, swapped(norm), orthogonalize)


def dstn_bar(y_bar: Any, x: Any, type: Any, s: Any, axes: Any, norm: Any, orthogonalize: Any) -> Any:
    return waves_bar(sine_bar, y_bar, x, type, s, axes, norm, orthogonalize)


def idstn_bar(y_bar: Any, x: Any, type: Any, s: Any, axes: Any, norm: Any, orthogonalize: Any) -> Any:
    return waves_bar(sine_bar, y_bar, x, TRANSPOSED[type], s, axes, swapped(norm), orthogonalize)


WAVES_OF_PLANES = "x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None"
PLANE_SAMPLES = [
    args(arr(3, 4)), args(arr(3, 4), 3, norm="ortho"), args(arr(2, 3, 4), axes=(0, 2)), args(arr(3, 4), axes=0),
    args(arr(3, 4), 1, norm="forward"), args(arr(3, 4), s=(2, 6)), args(arr(3, 4), 4, (5,), axes=(1,)),
]
linear(scipy.fft.dctn, x=dctn_bar, params=WAVES_OF_PLANES, samples=PLANE_SAMPLES)
linear(scipy.fft.idctn, x=idctn_bar, params=WAVES_OF_PLANES, samples=PLANE_SAMPLES)
linear(scipy.fft.dstn, x=dstn_bar, params=WAVES_OF_PLANES, samples=PLANE_SAMPLES)
linear(scipy.fft.idstn, x=idstn_bar, params=WAVES_OF_PLANES, samples=PLANE_SAMPLES)

refuse(scipy.fft.fhtoffset, "it rounds; keep the offset constant")
for _fn in (scipy.fft.fht, scipy.fft.ifht):
    refuse(_fn, "it has no rule; it is linear: give a rule of your own for the settings that you use")

# --- what else is known ---------------------------------------------------------------------------------------------

describe(
    *(getattr(scipy.fft, name) for name in scipy.fft.__all__ if "fft" in name or "ct" in name or "st" in name),
    result=Result.NEW,
)
describe(scipy.fft.fftshift, scipy.fft.ifftshift, computes=Computes.TURNED)
