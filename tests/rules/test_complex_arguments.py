"""Complex arguments of functions whose rules were derived for real ones: right in both modes, or refused in both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal

import s2s
from s2s.errors import NoDerivativeError
from tests.rules.test_linalg import by_differences

RNG = np.random.default_rng(5)
DIAGONAL, C = np.array([4.0, 5.0, 6.0]), np.array([0.3 - 1.0j, 0.2j, 1.1])
UNDEFINED = "does not solve the equation"


def drawn(*shape: int) -> Any:
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


M, REAL = drawn(3, 3), RNG.normal(size=(3, 4))


def weighed(x: Any) -> Any:
    w = np.reshape(np.cos(np.arange(x.size)), x.shape)
    return np.sum(w * np.real(x) - np.sin(w + 1.0) * np.imag(x) + np.real(x) * np.imag(x))


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "bands above": (lambda u: weighed(scipy.linalg.solveh_banded(np.stack([u, DIAGONAL]), C)), 0.3 * drawn(3)),
    "bands below": (
        lambda u: weighed(scipy.linalg.solveh_banded(np.stack([DIAGONAL, u]), C, lower=True)), 0.3 * drawn(3)),
    "diagonal of the bands": (lambda u: weighed(scipy.linalg.solveh_banded(np.stack([0.1 * C, DIAGONAL + u]), C)), C),
    "right side of the bands": (lambda b: weighed(scipy.linalg.solveh_banded(np.stack([C, DIAGONAL]), b)), drawn(3)),
    "lyapunov": (lambda a: weighed(scipy.linalg.solve_continuous_lyapunov(a, M)), drawn(3, 3)),
    "right side of lyapunov": (lambda q: weighed(scipy.linalg.solve_continuous_lyapunov(M, q)), drawn(3, 3)),
    "discrete lyapunov": (lambda a: weighed(scipy.linalg.solve_discrete_lyapunov(0.3 * a, M)), drawn(3, 3)),
    "right side of discrete lyapunov": (
        lambda q: weighed(scipy.linalg.solve_discrete_lyapunov(0.3 * M, q)), RNG.normal(size=(3, 3))),
    "rq": (lambda a: weighed(np.abs(scipy.linalg.rq(a)[0])), drawn(3, 3)),
    "lower triangular": (lambda a: weighed(scipy.linalg.solve(a, C, assume_a="lower triangular")), drawn(3, 3)),
    "tridiagonal": (lambda a: weighed(scipy.linalg.solve(a, C, assume_a="tridiagonal")), drawn(3, 3)),
    "smaller image": (lambda a: weighed(scipy.signal.correlate2d(a, REAL, "valid")), drawn(2, 3)),
    "larger image": (lambda a: weighed(scipy.signal.correlate2d(M[:2], a, "valid")), RNG.normal(size=(3, 4))),
    "image of one size": (lambda a: weighed(scipy.signal.correlate2d(REAL, a, "valid")), drawn(3, 4)),
    "weights of an image": (lambda w: weighed(scipy.ndimage.correlate(M, w)), drawn(2, 2)),
    "weights of a real image": (lambda w: weighed(scipy.ndimage.convolve1d(REAL, w, mode="constant")), drawn(3)),
    "image and real weights": (lambda a: weighed(scipy.ndimage.correlate(a, REAL, mode="wrap")), drawn(3, 4)),
    "image and weights": (lambda a: weighed(scipy.ndimage.convolve(a, M, mode="nearest")), drawn(3, 4)),
    "outside of an image": (
        lambda c: weighed(scipy.ndimage.correlate(M, M, mode="constant", cval=c[0])), np.array([0.4])),
    "sum of real parts": (lambda x: np.sum(x**2, dtype=float), drawn(3)),
    "product of complex numbers": (lambda x: weighed(np.cumprod(x, dtype=complex)), drawn(3)),
    "triangle of a symmetric matrix": (
        lambda a: weighed(scipy.linalg.eigvalsh(a + np.conj(a.T))), drawn(3, 3)),
}


@pytest.mark.parametrize("f, a", FUNCTIONS.values(), ids=FUNCTIONS)
def test_derivatives(f: Callable[[Any], Any], a: Any) -> None:
    d = drawn(*a.shape) if np.iscomplexobj(a) else RNG.normal(size=a.shape)
    expected = by_differences(f, a, d)
    np.testing.assert_allclose(np.sum(np.real(s2s.grad(f)(a) * d)), expected, rtol=1e-7)
    np.testing.assert_allclose(s2s.jvp(f, (a,), (d,))[1], expected, rtol=1e-7)


REFUSED: dict[str, tuple[Callable[[Any], Any], Any, str]] = {
    "sylvester": (lambda b: weighed(scipy.linalg.solve_sylvester(REAL[:, :3], b, M)), drawn(3, 3), UNDEFINED),
    "lyapunov": (
        lambda q: weighed(scipy.linalg.solve_continuous_lyapunov(REAL[:, :3], q)), drawn(3, 3), UNDEFINED),
    "ldl": (lambda a: weighed(scipy.linalg.ldl(a)[0]), M + np.conj(M.T), "real matrices"),
    "schur": (lambda a: weighed(scipy.linalg.schur(a)[0]), M, "phases are free"),
    "null_space": (lambda a: weighed(scipy.linalg.null_space(a)), M[:2], "projector"),
    "riccati": (
        lambda q: weighed(scipy.linalg.solve_continuous_are(M, np.eye(3), q, np.eye(3))), np.eye(3) + 0j,
        "real matrices"),
    "two matrices": (
        lambda a: weighed(scipy.linalg.eigvalsh(a, np.eye(3))), M + np.conj(M.T), "real ones"),
    "samples": (lambda x: weighed(scipy.signal.savgol_filter(x, 3, 1)), drawn(5), "discards"),
    "places": (lambda x: weighed(scipy.interpolate.interpn((np.arange(4.0),), C.real, x)), drawn(2, 1), "discard"),
    "spline": (
        lambda c: weighed(scipy.interpolate.splev(0.5, (np.array([0.0, 0.0, 1.0, 1.0]), c, 1))), drawn(2), "discards"),
    "variance": (lambda x: weighed(scipy.ndimage.variance(x)), drawn(5), "discard"),
    "product of real parts": (lambda x: np.prod(x, dtype=float), drawn(3), "discards"),
    "products of real parts": (
        lambda x: np.sum(np.multiply(x, x, dtype=float, casting="unsafe")), drawn(3), "discards"),
    "scan of real parts": (lambda x: np.sum(np.cumprod(x, dtype=float)), drawn(3), "discards"),
    "spread": (lambda x: np.real(np.var(x, dtype=complex)), drawn(3), "dtype="),
    "bands of eigenvectors": (lambda a: weighed(scipy.linalg.eig_banded(a)[1]), drawn(2, 3), "real matrices"),
}


@pytest.mark.parametrize("f, a, reason", REFUSED.values(), ids=REFUSED)
def test_what_one_mode_refuses_the_other_refuses(f: Callable[[Any], Any], a: Any, reason: str) -> None:
    for derivative in (lambda: s2s.grad(f)(a), lambda: s2s.jvp(f, (a,), (a,))):
        with pytest.raises(NoDerivativeError, match=reason):
            derivative()
