"""Singular values that an option leaves out: pseudoinverses, least squares and null spaces of less than full rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import s2s
from s2s.errors import NoDerivativeError
from tests.rules.test_linalg import by_differences

RNG = np.random.default_rng(7)
SIZES = np.array([2.0, 1.3, 0.35, 0.2])
W, B = RNG.normal(size=(6, 6)), RNG.normal(size=(6, 2))


def with_values(m: int, n: int, is_complex: bool = False) -> Any:
    """A matrix with the first of the ``SIZES`` as its singular values."""
    drawn = RNG.normal(size=(m, n)) + (1j * RNG.normal(size=(m, n)) if is_complex else 0.0)
    u, _, vh = np.linalg.svd(drawn, full_matrices=False)
    return (u * SIZES[: min(m, n)]) @ vh


def weighed(x: Any) -> Any:
    """A number that reads each element, real and imaginary part by other weights."""
    w = np.reshape(np.ravel(W)[: x.size], x.shape)
    return np.sum(w * np.real(x)) + np.sum(w[::-1] * np.imag(x)) + np.sum(np.sin(np.real(x)))


def fitted(t: Any, full: bool) -> Any:
    """A polynomial whose coefficients are not all determined: the powers of values near one another."""
    made = np.polyfit(t, np.sin(3.0 * t), 3, rcond=0.1, full=full)
    return weighed(made[0] if full else made)


def projected(a: Any) -> Any:
    basis = scipy.linalg.null_space(a, rcond=0.3)
    return weighed(basis @ basis.T)


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "pinv": (lambda a: weighed(np.linalg.pinv(a, rcond=0.3)), with_values(4, 3)),
    "pinv of a wide matrix": (lambda a: weighed(np.linalg.pinv(a, rtol=0.3)), with_values(3, 5)),
    "pinv of a square matrix": (lambda a: weighed(np.linalg.pinv(a, 0.3)), with_values(4, 4)),
    "pinv of a complex matrix": (lambda a: weighed(np.linalg.pinv(a, 0.3)), with_values(4, 3, True)),
    "pinv of ranks that differ": (
        lambda a: weighed(np.linalg.pinv(a, 0.3)), np.stack([with_values(4, 3), np.eye(4, 3) + 0.1 * W[:4, :3]])),
    "pinv of a symmetric matrix": (
        lambda a: weighed(np.linalg.pinv(a @ a.T, rcond=0.1, hermitian=True)), with_values(4, 4)),
    "pinv of SciPy": (lambda a: weighed(scipy.linalg.pinv(a, atol=0.5)), with_values(4, 3)),
    "pinv with its rank": (lambda a: weighed(scipy.linalg.pinv(a, rtol=0.3, return_rank=True)[0]), with_values(3, 4)),
    "pinvh": (lambda a: weighed(scipy.linalg.pinvh(a @ a.T, rtol=0.1)), with_values(4, 4)),
    "lstsq": (lambda a: weighed(np.linalg.lstsq(a, B[:4, 0] * a[0, 0], rcond=0.3)[0]), with_values(4, 3)),
    "lstsq of several": (lambda a: weighed(np.linalg.lstsq(a, B[:3], rcond=0.3)[0]), with_values(3, 4)),
    "lstsq of a complex matrix": (lambda a: weighed(np.linalg.lstsq(a, B[:4], rcond=0.3)[0]), with_values(4, 4, True)),
    "lstsq and the values": (lambda a: weighed(np.linalg.lstsq(a, B[:4], rcond=0.3)[3]), with_values(4, 4)),
    "lstsq of SciPy": (lambda a: weighed(scipy.linalg.lstsq(a, B[:4], cond=0.3)[0]), with_values(4, 3)),
    "lstsq of another driver": (
        lambda a: weighed(scipy.linalg.lstsq(a, B[:4], cond=0.3, lapack_driver="gelss")[0]), with_values(4, 3)),
    "lstsq by the right side": (
        lambda b: weighed(np.linalg.lstsq(FIXED, b, rcond=0.3)[0]), B[:4]),
    "null_space": (projected, with_values(4, 3)),
    "null_space of a wide matrix": (projected, with_values(3, 4)),
    "one vector": (lambda a: weighed(scipy.linalg.null_space(a, rcond=0.3) ** 2), with_values(4, 3)),
    "polyfit": (lambda t: fitted(t, False), np.array([1.0, 1.1, 1.25, 1.3, 1.5])),
    "polyfit with everything": (lambda t: fitted(t, True), np.array([1.0, 1.1, 1.25, 1.3, 1.5])),
}
FIXED = with_values(4, 3)


@pytest.mark.parametrize("f, a", FUNCTIONS.values(), ids=FUNCTIONS)
def test_derivatives(f: Callable[[Any], Any], a: Any) -> None:
    d = RNG.normal(size=a.shape) + (1j * RNG.normal(size=a.shape) if np.iscomplexobj(a) else 0.0)
    expected = by_differences(f, a, d)
    gradient = s2s.grad(f)(a)
    np.testing.assert_allclose(np.sum(np.real(gradient * d)), expected, rtol=1e-7)
    if f is projected and a.shape == (3, 4):  # two vectors may turn
        with pytest.raises(NoDerivativeError, match="use the projector"):
            s2s.jvp(f, (a,), (d,))
    else:
        np.testing.assert_allclose(s2s.jvp(f, (a,), (d,))[1], expected, rtol=1e-7)


@pytest.mark.parametrize("name", ["pinv", "pinv of a wide matrix", "pinv of a symmetric matrix", "lstsq of SciPy"])
def test_second_derivatives(name: str) -> None:
    f, a = FUNCTIONS[name]
    d, e = RNG.normal(size=(2, *a.shape))
    expected = by_differences(lambda x: np.sum(s2s.grad(f)(x) * e), a, d)
    np.testing.assert_allclose(np.sum(s2s.hvp(f, (a,), (d,)) * e), expected, rtol=1e-6)


@pytest.mark.parametrize("f", [
    lambda a: np.sum(np.linalg.pinv(a)), lambda a: np.sum(np.linalg.lstsq(a, B[:4], rcond=None)[0])])
def test_matrices_of_less_than_full_rank_that_keep_it(f: Any) -> None:
    left, right, d, e = (RNG.normal(size=(4, 2)) for _ in range(4))
    along = d @ right.T + left @ e.T
    expected = by_differences(lambda t: f((left + t * d) @ (right + t * e).T), 0.0, 1.0)
    np.testing.assert_allclose(np.sum(s2s.grad(f)(left @ right.T) * along), expected, rtol=1e-6)
    np.testing.assert_allclose(s2s.jvp(f, (left @ right.T,), (along,))[1], expected, rtol=1e-6)


def test_a_driver_that_leaves_out_something_else_is_refused_in_both_modes() -> None:
    a = with_values(4, 3)

    def f(a: Any) -> Any:
        return np.sum(scipy.linalg.lstsq(a, B[:4], cond=0.3, lapack_driver="gelsy")[0])

    for derivative in (lambda: s2s.grad(f)(a), lambda: s2s.jvp(f, (a,), (a,))):
        with pytest.raises(NoDerivativeError, match="use 'gelsd'"):
            derivative()
