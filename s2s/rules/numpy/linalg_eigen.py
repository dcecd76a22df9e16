"""Rules of the eigenvalues of general matrices in ``numpy.linalg``."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.rules.numpy.linalg import _h
from s2s.rules.samples import args, arr
from s2s.rules.table import jvp, takes_none, vjp


def check_real(y: Any, a: Any, name: str) -> None:
    """Raise NoDerivativeError where the result for a real matrix is complex: what follows is compiled for real numbers.
    """
    if np.iscomplexobj(y) and not np.iscomplexobj(a):
        rt.no_derivative(name, "its result for this real matrix is complex; give a complex one, `a + 0j`")


def eigvals_bar(g: Any, y: Any, a: Any) -> Any:
    """The cotangent of a general matrix from that of its eigenvalues: dw = diag(inv(V) dA V)."""
    w, v = np.linalg.eig(a)
    nearest = np.argmin(np.abs(w[..., None, :] - y[..., :, None]), axis=-1)  # the order may differ
    vt = np.swapaxes(np.take_along_axis(v, nearest[..., None, :], -1), -1, -2)
    return rt.cast(np.linalg.solve(vt, g[..., :, None] * vt), a)


def eig_bar(g: Any, y: Any, a: Any) -> Any:
    """The cotangent of a general matrix from those of eigenvalues and eigenvectors, which have norm 1 and a real
    largest component, as LAPACK scales them (C. Boeddeker et al., "On the computation of complex-valued gradients",
    2017).
    """
    w, v = y
    w_bar, v_bar = rt.whole(g, y)
    w_bar = np.zeros_like(w) if w_bar is None else np.conj(w_bar)
    v_bar = np.zeros_like(v) if v_bar is None else np.conj(v_bar)
    along = _h(v) @ v_bar * np.eye(w.shape[-1])
    u_bar = v_bar - v @ np.real(along)
    if np.iscomplexobj(v):
        largest = np.argmax(np.abs(v), axis=-2, keepdims=True)
        turn = -1.0j * np.sum(np.imag(along), axis=-2, keepdims=True) / np.real(np.take_along_axis(v, largest, -2))
        u_bar = u_bar + rt.take_along_axis_bar(turn, u_bar, largest, -2)
    gaps = np.conj(w[..., None, :] - w[..., :, None])
    size = np.max(np.abs(w), axis=-1, initial=0.0)[..., None, None]
    rt.note_equal(np.sort(w))
    inner = rt.gap_quotient(_h(v) @ u_bar, gaps, size, rt.either_used(v_bar))
    inner = inner + w_bar[..., None, :] * np.eye(w.shape[-1])
    return rt.cast(np.conj(np.linalg.solve(_h(v), inner @ _h(v))), a)


def eigvals_dot(y: Any, a: Any, a_dot: Any) -> Any:
    """The tangent of the eigenvalues of a general matrix."""
    w, v = np.linalg.eig(a)
    nearest = np.argmin(np.abs(w[..., None, :] - y[..., :, None]), axis=-1)  # the order may differ
    v = np.take_along_axis(v, nearest[..., None, :], -1)
    return np.diagonal(np.linalg.solve(v, a_dot @ v), axis1=-2, axis2=-1)


def eig_dot(y: Any, a: Any, a_dot: Any) -> tuple[Any, Any]:
    """The tangents of the eigenvalues and eigenvectors of a general matrix, scaled as in ``eig_bar``."""
    w, v = y
    inner = np.linalg.solve(v, a_dot @ v)
    size = np.max(np.abs(w), axis=-1, initial=0.0)[..., None, None]
    v_dot = v @ rt.gap_quotient(inner, w[..., None, :] - w[..., :, None], size)
    v_dot = v_dot - v * np.real(np.sum(np.conj(v) * v_dot, axis=-2, keepdims=True))  # the norms stay 1
    if np.iscomplexobj(v):
        largest = np.argmax(np.abs(v), axis=-2, keepdims=True)
        turn = np.imag(np.take_along_axis(v_dot, largest, -2)) / np.real(np.take_along_axis(v, largest, -2))
        v_dot = v_dot - 1.0j * turn * v
    return np.diagonal(inner, axis1=-2, axis2=-1), v_dot


GENERAL = [
    args(arr(3, 3, complex=True)), args(arr(2, 3, 3, complex=True)), args(arr(4, 4, complex=True)), args(arr(1, 1)),
]
vjp(np.linalg.eig, a=lambda y_bar, y, a: eig_bar(y_bar, y, a), params="a", samples=GENERAL)
vjp(np.linalg.eigvals, a=lambda y_bar, y, a: eigvals_bar(y_bar, y, a), params="a", samples=GENERAL)
jvp(np.linalg.eig, a=lambda a_dot, y, a: eig_dot(y, a, a_dot))
jvp(np.linalg.eigvals, a=lambda a_dot, y, a: eigvals_dot(y, a, a_dot))

takes_none(np.linalg.eigh, np.linalg.svd, np.linalg.qr, np.linalg.lstsq, np.linalg.eig)
