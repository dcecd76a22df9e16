"""Splines and radial functions whose compiled functions have models: by values, by places, by where they are asked."""

import inspect

import numpy as np
import pytest
from scipy import interpolate

import s2s
from s2s.errors import NoDerivativeError
from s2s.models import spline_kernels as models

pytestmark = pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")

X = np.cumsum([0.1, 0.3, 0.5, 0.4, 0.6, 0.3, 0.7, 0.4])
Y = np.sin(1.3 * np.arange(8.0)) + 0.2
AT = np.array([0.5, 1.5])
KNOTS = np.r_[[X[0]] * 4, 1.5, [X[-1]] * 4]
ROWS, COLUMNS = np.arange(5.0), np.arange(6.0)


def radial_values(p):
    return np.sum(interpolate.RBFInterpolator(X[:, None], p)(AT[:, None]) ** 2)


def radial_places(p):
    made = interpolate.RBFInterpolator(p[:, None], Y, kernel="cubic", smoothing=0.1)
    return np.sum(made(AT[:, None]) ** 2)


def radial_asked(p):
    kernels = ("gaussian", "multiquadric", "inverse_multiquadric", "inverse_quadratic")
    return sum(
        np.sum(interpolate.RBFInterpolator(X[:, None], Y, kernel=k, epsilon=1.2)(p[:2, None] + 1.0)) for k in kernels)


def bernstein(p):
    made = interpolate.BPoly(p.reshape(4, 2), np.array([0.0, 1.0, 2.0]))
    return np.sum(made(AT) ** 2) + np.sum(made(AT, nu=2))


def fitted(p):
    return np.sum(interpolate.make_lsq_spline(X, p, KNOTS)(AT) ** 2)


def fitted_by_normal_equations(p):
    return np.sum(interpolate.make_lsq_spline(X, p, KNOTS, w=np.arange(1.0, 9.0), method="norm-eq")(AT) ** 2)


def smoothed(p):
    return np.sum(interpolate.make_smoothing_spline(X, p, lam=0.1)(AT, nu=1) ** 2)


def natural(p):
    return np.sum(interpolate.make_interp_spline(X, p, bc_type="natural")(AT) ** 2)


def places_of_natural(p):
    return np.sum(interpolate.make_interp_spline(p, Y, bc_type="natural")(AT, nu=1) ** 2)


def surface_values(p):
    return np.sum(interpolate.RectBivariateSpline(ROWS, COLUMNS, np.outer(p[:5], p[2:8]))(AT, AT + 0.3) ** 2)


def surface_asked(p):
    made = interpolate.RectBivariateSpline(ROWS, COLUMNS, np.outer(p[:5], p[2:8]), kx=2, ky=1)
    return np.sum(made.ev(p[:2] + 1.0, p[2:4] + 1.2, dx=1) ** 2)


def cubic_grid(p):
    made = interpolate.RegularGridInterpolator((ROWS, COLUMNS), np.outer(p[:5], p[2:8]), method="cubic")
    return np.sum(made(np.array([[0.5, 0.7], [1.3, 3.2]])) ** 2)


def cubic_grid_asked(p):
    made = interpolate.RegularGridInterpolator((ROWS, COLUMNS), np.outer(Y[:5], Y[2:8]), method="cubic")
    return np.sum(made(p[:2] + 1.0) ** 2)


PROGRAMS = (
    radial_values, radial_places, radial_asked, bernstein, fitted, fitted_by_normal_equations, smoothed, natural,
    places_of_natural, surface_values, surface_asked, cubic_grid, cubic_grid_asked,
)


def start(f):
    return X.copy() if "places" in f.__name__ else Y.copy()


@pytest.fixture(autouse=True)
def _recorded(monkeypatch):
    """What is used by default: calls that the compiler refuses are recorded."""
    monkeypatch.setenv("S2S_RECORDED", "1")


def slope(f, x, v, h=1e-4):
    """Central differences of fourth order along a direction."""
    return (8.0 * (f(x + h * v) - f(x - h * v)) - (f(x + 2.0 * h * v) - f(x - 2.0 * h * v))) / (12.0 * h)


@pytest.mark.slow
@pytest.mark.grid(0.2)
@pytest.mark.parametrize("f", PROGRAMS)
def test_gradient_and_tangent(f):
    x = start(f)
    expected = np.array([slope(f, x, v) for v in np.eye(8)])
    close = 1e-3 if f is cubic_grid else 1e-5  # what finds the coefficients of the grid iterates until 1e-5
    np.testing.assert_allclose(s2s.grad(f)(x), expected, rtol=close, atol=close * np.abs(expected).max())
    v = np.linspace(0.5, -1.0, 8)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (v,))[1], expected @ v, rtol=close, atol=close)


@pytest.mark.slow
@pytest.mark.grid(0.25)
@pytest.mark.parametrize("f", [bernstein, fitted, smoothed, natural])
def test_second_derivative(f):
    x, v = start(f), np.linspace(0.5, -1.0, 8)
    expected = slope(s2s.grad(f), x, v)
    found = s2s.jvp(s2s.grad(f), (x,), (v,))[1]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def test_factors_of_a_fit_have_no_derivative():
    if "periodic" not in inspect.signature(interpolate._bsplines._lsq_solve_qr).parameters:
        pytest.skip("another SciPy has other results")

    def f(y):
        return np.sum(interpolate._bsplines._lsq_solve_qr(X, y[:, None], KNOTS, 3, np.ones(8))[1])

    with pytest.raises((ValueError, NoDerivativeError), match="has no derivative"):
        s2s.grad(f)(Y)


@pytest.mark.slow
def test_second_derivatives_of_radial_functions_by_places():
    """What is asked of them passes through a view with the dtype that it has."""
    rng = np.random.default_rng(0)
    points, values, at = rng.uniform(size=(9, 2)), rng.normal(size=9), rng.uniform(size=(3, 2))

    def f(at):
        return np.sum(interpolate.RBFInterpolator(points, values)(at) ** 2)

    v, h = rng.normal(size=(3, 2)), 1e-5
    expected = (s2s.grad(f)(at + h * v) - s2s.grad(f)(at - h * v)) / (2.0 * h)
    np.testing.assert_allclose(s2s.hvp(f, (at,), (v,)), expected, rtol=1e-6)


@pytest.mark.parametrize("count", [5, 1])
def test_equations_of_radial_functions_as_scipy_has_them(count):
    kernels = pytest.importorskip("scipy.interpolate._rbfinterp_pythran")
    y = np.array([[0.1, 2.0], [0.5, 2.0], [1.1, 2.0], [0.8, 2.0], [0.3, 2.0]])[:count]  # of no extent along one axis
    d, powers = np.sin(y), np.array([[0, 0], [1, 0], [0, 1]])
    given = (y, d, np.linspace(0.0, 0.2, count), "cubic", 1.2, powers)
    for found, wanted in zip(models.build_system(*given), kernels._build_system(*given), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)
