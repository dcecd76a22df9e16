"""Interpolators beyond their ends, and orders that SciPy gives its results: gradients and tangents by differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import interpolate, ndimage, signal, sparse
from scipy.sparse import linalg

import s2s

X = np.array([0.0, 0.4, 1.0, 1.3, 2.0, 2.2])
Y = np.array([0.3, -0.8, 1.1, 0.4, -0.2, 0.9])
WEIGHTS = np.array([1.0, -0.5, 2.0])
FITTED = interpolate.UnivariateSpline(X, Y, s=0, ext=3)


def unfiltered(a):
    return np.sum(WEIGHTS * ndimage.map_coordinates(a, [[6.4, -0.7, 5.3]], order=3, prefilter=False, mode="nearest"))


def places_of_unfiltered(x):
    at = [x[:3] * 2.0 - 1.7]
    return np.sum(WEIGHTS * ndimage.map_coordinates(Y, at, order=2, prefilter=False, mode="nearest"))


def one_row(a):
    return np.sum(WEIGHTS * ndimage.map_coordinates(a[None], [[0.4, 0.0, -3.0], [6.4, -0.7, 5.3]], mode="mirror"))


def slope_beyond_constants(x):
    return np.sum(WEIGHTS * FITTED(2.0 * x[:3] - 0.5, 1)) + np.sum(WEIGHTS * FITTED(2.0 * x[:3] - 0.5))


def slope_by_coefficients(y):
    return np.sum(WEIGHTS * interpolate.splev([-0.3, 0.7, 2.4], interpolate.splrep(X, y), der=1, ext=3))


def polygon(y):
    closed = np.concatenate([y[:-1], y[:1]])
    return np.sum(WEIGHTS * interpolate.make_interp_spline(X, closed, 1, bc_type="periodic")([-0.7, 0.5, 2.9]))


def eigenvalues(y):
    a = np.diag(np.arange(6.0)) + np.outer(y, y)
    found = linalg.eigsh(a, 3, which="SA", v0=np.ones(6), return_eigenvectors=False)
    return np.sum(WEIGHTS * found)


def requested(y):
    made = signal.place_poles(np.diag([0.2, 0.4, 0.9]), np.ones((3, 1)), -np.abs(y[:3]))
    return np.sum(WEIGHTS * made.requested_poles) + np.sum(made.gain_matrix)


def data_of_products(y):
    places = [0, 0, 1, 2, 2, 0], [0, 2, 1, 0, 2, 0]
    K = sparse.coo_array((y, places)).multiply(np.arange(1.0, 10.0).reshape(3, 3))
    M = sparse.csc_array((y, places)).multiply(sparse.csr_array(np.arange(1.0, 10.0).reshape(3, 3)))
    return np.sum(np.arange(5.0) * K.data) + np.sum(np.arange(5.0) * M.data)


PROGRAMS = [
    unfiltered, places_of_unfiltered, one_row, slope_beyond_constants, slope_by_coefficients, polygon, eigenvalues,
    requested, data_of_products,
]


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", PROGRAMS)
def test_gradient_and_tangent(f: Any) -> None:
    x = X + 0.05 if f in (places_of_unfiltered, slope_beyond_constants) else Y
    expected = np.array([(f(x + e) - f(x - e)) / 2e-5 for e in 1e-5 * np.eye(6)])
    value, gradient = s2s.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-9)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (W,))[1], expected @ W, rtol=1e-6, atol=1e-7)


W = np.linspace(0.5, -1.0, 6)
