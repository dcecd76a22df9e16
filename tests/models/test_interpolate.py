"""Interpolators of SciPy through the compiler: by the values, by the places of the values, by where they are asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import interpolate

import s2s
from s2s.errors import NoDerivativeError
from s2s.models import splines
from tests.helpers import check_of_array, differences

GRID = np.linspace(0.0, 1.0, 8) ** 1.3
V = np.array([0.3, 1.2, -0.5, 0.8, 0.1, 2.0, 0.4, 0.9])
IMAGE = np.outer(V, V[:5]) + 0.1 * np.arange(5)
KNOTS = np.array([0.0, 0.0, 0.0, 0.0, 0.3, 0.6, 1.0, 1.0, 1.0, 1.0])
POINTS = np.random.default_rng(0).uniform(size=(20, 2))
SPLINE = interpolate.make_interp_spline(GRID, V)
TCK = interpolate.splrep(GRID, V)
FITTED = interpolate.UnivariateSpline(GRID, V, s=0.1)
SURFACE = interpolate.RectBivariateSpline(GRID, GRID[:5], IMAGE)
TABLE = interpolate.RegularGridInterpolator((GRID, GRID[:5]), IMAGE)
MONOTONE = interpolate.PchipInterpolator(GRID, np.cumsum(np.abs(V)))


def cubic(t):
    x, y = GRID + 0.1 * t * GRID**2, V * t
    at = np.array([0.1, t])
    natural = interpolate.CubicSpline(x, y, bc_type="natural")
    sloped = interpolate.CubicSpline(x, y, bc_type=((1, 0.3), (2, -0.5)))
    by_rows = interpolate.CubicSpline(GRID[:5], IMAGE * t, axis=1)
    return np.sum(natural(at)) + np.sum(sloped(at) ** 2) + np.sum(by_rows(at) ** 2) + natural(t, 1)


def periodic(t):
    made = interpolate.CubicSpline(GRID, np.append(V[:7], V[0]) * t, bc_type="periodic")
    return np.sum(made(np.array([0.1, 1.0 + t])) ** 2)


def parts(t):
    made = interpolate.CubicSpline(GRID, V * t)
    return made.integrate(0.1, t) + made.derivative()(t) + made.antiderivative(2)(t)


def monotone(t):
    x, y, at = GRID + 0.1 * t * GRID**2, V * t, np.array([0.1, t])
    return np.sum(interpolate.PchipInterpolator(x, y)(at)) + MONOTONE(t) + np.sum(
        interpolate.pchip_interpolate(x, y, at) ** 2)


def akima(t):
    x, y, at = GRID + 0.1 * t * GRID**2, V * t, np.array([0.1, t])
    return np.sum(interpolate.Akima1DInterpolator(x, y)(at)) + np.sum(
        interpolate.Akima1DInterpolator(x, y, method="makima")(at) ** 2)


def hermite(t):
    return np.sum(interpolate.CubicHermiteSpline(GRID * (1.0 + t), V * t, V**2)(np.array([0.1, t])) ** 2)


def b_splines(t):
    made = interpolate.make_interp_spline(GRID + 0.1 * t * GRID**2, V * t)
    given = interpolate.BSpline(KNOTS + 0.1 * t * KNOTS**2, V[:6] * t, 3)
    quadratic = interpolate.make_interp_spline(GRID, IMAGE * t, k=2)
    at = np.array([0.1, t])
    return np.sum(made(at)) + np.sum(given(at)) + given(t, 1) + np.sum(quadratic(at) ** 2) + SPLINE(
        t) * made.integrate(0.1, t) + made.derivative()(t)


def fitpack(t):
    tck = interpolate.splrep(GRID, V * t)
    return interpolate.splev(t, tck) * interpolate.splev(t, TCK, der=1) + interpolate.splint(0.1, t, tck) + np.sum(
        interpolate.splev(np.array([-0.2, t, 1.4]), TCK, ext=3))


def univariate(t):
    made = interpolate.InterpolatedUnivariateSpline(GRID, V * t)
    return made(t) + FITTED(t) * made.integral(0.1, t) + interpolate.UnivariateSpline(GRID, V * t, s=0)(0.3)


def surfaces(t):
    return SURFACE.ev(t, 0.5 * t) ** 2 + np.sum(SURFACE(np.array([0.1, t]), np.array([0.05, 0.5 * t])) ** 2)


def one_dimension(t):
    at = np.array([0.1, t])
    outside = interpolate.interp1d(GRID, V * t, bounds_error=False, fill_value=(t, 2.0))(np.array([-1.0, 0.3, 2.0]))
    cubic_one = interpolate.interp1d(GRID, V * t, kind="cubic")
    return np.sum(interpolate.interp1d(GRID[::-1] * (1.0 + t), V * t)(at)) + np.sum(cubic_one(at)) + np.sum(
        outside**2) + np.sum(interpolate.interp1d(GRID, V * t, kind="nearest")(at)) + np.sum(
        interpolate.interp1d(GRID, IMAGE * t, axis=0, fill_value="extrapolate")(np.array([-0.1, t])) ** 2)


def through_points(t):
    at = np.array([0.1, t, GRID[2]])
    made = interpolate.BarycentricInterpolator(GRID * (1.0 + t), V * t)
    return np.sum(made(at)) + np.sum(interpolate.barycentric_interpolate(GRID, V * t, at) ** 2) + np.sum(
        interpolate.krogh_interpolate(GRID, V * t, at[:2]))


def grids(t):
    at = np.array([[t, 0.3 * t], [0.1, t * t]])
    made = interpolate.RegularGridInterpolator((GRID * (1.0 + 0.1 * t), GRID[:5]), IMAGE * t)
    beyond = interpolate.RegularGridInterpolator((GRID,), V * t, bounds_error=False, fill_value=None)
    return np.sum(made(at) ** 2) + np.sum(TABLE(at) ** 2) + np.sum(
        interpolate.interpn((GRID, GRID[:5]), IMAGE * t, at, "nearest")) + np.sum(beyond(np.array([[1.2], [t]])))


ROUGH = interpolate.CloughTocher2DInterpolator(POINTS, np.sin(5.0 * POINTS[:, 0]) + POINTS[:, 1] ** 2)
FLAT = interpolate.LinearNDInterpolator(POINTS, POINTS[:, 0] * POINTS[:, 1], rescale=True)


def pieces_of_cubics(t):
    values = np.sin(POINTS[:, :1] * t * np.array([9.0, 4.0]))
    at = np.array([[[0.4, 0.5], [t, 0.6]], [[0.5, t], [0.3, 0.4]]])
    moved = POINTS + 0.1 * t * POINTS**2
    made = interpolate.CloughTocher2DInterpolator(moved, values, tol=1e-13, maxiter=10000)
    at_pairs = (np.array([0.4, t]), np.array([0.5, 0.6]))
    wide = np.array([1.0, 9.0])
    scaled = interpolate.griddata(moved * wide, values[:, 0], 0.5 * at * wide, "cubic", rescale=True)
    return np.sum(made(at) ** 2) + np.sum(scaled**2) + np.sum(ROUGH(at) ** 2) + np.sum(FLAT(*at_pairs)) + np.sum(
        interpolate.griddata(POINTS, values, at_pairs, "cubic") ** 2)


def scattered(t):
    values, at = np.sin(POINTS[:, 0] * t), np.array([[0.4, 0.5], [t, 0.6]])
    made = interpolate.LinearNDInterpolator(POINTS * (1.0 + 0.1 * t), values)
    return np.sum(interpolate.griddata(POINTS, values, at) ** 2) + np.sum(made(at)) + np.sum(
        interpolate.griddata(POINTS, values, at, method="nearest"))


@pytest.mark.slow
@pytest.mark.grid(0.2)
@pytest.mark.parametrize(
    "f",
    [cubic, periodic, parts, monotone, akima, hermite, b_splines, fitpack, univariate, surfaces, one_dimension,
     through_points, grids, scattered, pieces_of_cubics],
    ids=lambda f: f.__name__,
)
def test_programs(f: Any) -> None:
    x, h = 0.4, 1e-4
    expected = (8.0 * (f(x + h) - f(x - h)) - (f(x + 2.0 * h) - f(x - 2.0 * h))) / (12.0 * h)
    value, gradient = s2s.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-9)
    assert gradient == pytest.approx(expected, rel=1e-6)
    assert s2s.jvp(f, (x,), (1.0,))[1] == pytest.approx(gradient, rel=1e-9)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("degree", [0, 1, 2])
def test_derivatives_of_b_splines_are_those_of_scipy(degree: int, axis: int) -> None:
    """Of every order up to one more than the degree, outside of the knots too, along any axis."""
    coefficients = np.moveaxis(IMAGE[:5, :2] + 0.3, 0, axis)
    made = interpolate.BSpline(np.arange(6.0 + degree), coefficients, degree, axis=axis)
    at = np.array([2.2, 3.7, 9.0])
    for nu in range(degree + 2):
        for x in (at, at[0], list(at), at.reshape(3, 1)):
            for extrapolate in (None, True, False):
                np.testing.assert_allclose(
                    splines.spline_call(made, x, nu, extrapolate), made(x, nu, extrapolate), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_surfaces_by_places_to_second_order() -> None:
    def f(at):
        return np.sum(ROUGH(at) ** 2)

    at = np.array([[0.4, 0.5], [0.37, 0.61]])
    v, h = np.array([[0.3, -1.0], [0.7, 0.2]]), 1e-5
    expected = (s2s.grad(f)(at + h * v) - s2s.grad(f)(at - h * v)) / (2.0 * h)
    np.testing.assert_allclose(s2s.hvp(f, (at,), (v,)), expected, rtol=1e-7)


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("degrees", [(3, 1), (1, 1), (1, 2)])
@pytest.mark.parametrize("form", ["one place", "pairs", "grid"])
def test_the_highest_slopes_of_a_surface(degrees: tuple[int, int], form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """FITPACK has no derivative whose order is the degree of a surface: of one that is linear it has none. Jacobians
    and second derivatives are recorded."""
    surface = interpolate.RectBivariateSpline(GRID, GRID[:5], IMAGE, kx=degrees[0], ky=degrees[1])

    def f(at):
        match form:
            case "one place":
                return surface.ev(at[0], 0.3 * at[1]) ** 2
            case "pairs":
                return np.sum(surface(at, 0.3 * at[::-1], grid=False) ** 3)
        return np.sum(surface(at, 0.3 * at) ** 2)

    x = np.array([0.13, 0.37, 0.71, 0.93])
    np.testing.assert_allclose(s2s.grad(f)(x), differences(f, x, 1e-5), rtol=1e-6, atol=1e-8)
    monkeypatch.delenv("S2S_RECORDED")
    check_of_array(f, x, (1e-6, 1e-8), (1e-12, 1e-13), (5e-5, 1e-6), step=1e-5)


def radial(t):
    return np.sum(interpolate.RBFInterpolator(POINTS, POINTS[:, 0] * t)(POINTS[:2]))


def by_a_method(t):
    return np.sum(interpolate.interpn((GRID, GRID[:5]), IMAGE * t, np.array([[0.2, 0.3]]), "cubic"))


@pytest.mark.parametrize(
    "f, reason", [(radial, "it has no rule"), (by_a_method, "this method on a grid")]
)
def test_refused_by_name(f: Any, reason: str) -> None:
    with pytest.raises(NoDerivativeError, match=reason):
        s2s.grad(f)(0.4)


def test_what_is_asked_outside_is_an_error_as_in_scipy() -> None:
    def f(t):
        return interpolate.interp1d(GRID, V)(t)

    with pytest.raises(ValueError):
        s2s.grad(f)(1.5)
