"""Programs of one function of a library each, for tests/models/test_values_of_models.py.

They take ``do``, which gives for a function that function, or its model. These are of interpolators and distances.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import interpolate
from scipy.spatial import distance

Program = Callable[..., Any]


def each(program: Program, *options: dict[str, Any]) -> list[Program]:
    """The program with each of several sets of options."""
    return [partial(program, **one) for one in options]


def by(name: str, *values: Any) -> list[dict[str, Any]]:
    return [{name: value} for value in values]


RNG = np.random.default_rng(3)
X = np.array([0.0, 0.4, 1.0, 1.3, 2.0, 2.2, 2.9, 3.3, 3.6])
Y = np.array([0.3, -0.8, 1.1, 0.4, -0.2, 0.9, 0.1, -0.5, 0.2])
ROUND = np.append(Y[:-1], Y[0])
MANY, PLANE, SOLID = RNG.normal(size=(9, 2)), RNG.normal(size=(6, 7)), RNG.normal(size=(3, 4, 5))
AT = np.array([0.1, 0.4, 1.7, 3.5])
WIDE = np.array([-0.7, 0.1, 1.7, 3.6, 4.1])
W = np.linspace(0.5, 2.0, 9)

# --- splines and other interpolators in one dimension -----------------------------------------------------------------


def asked(made: Any, at: Any = WIDE) -> list[Any]:
    """What an interpolator gives at places of several shapes."""
    return [made(at), made(at[1]), made(at[:4].reshape(2, 2)), made(list(at))]


def sloped(made: Any, at: Any = WIDE, orders: tuple[int, ...] = (1, 2, 3, 4)) -> list[Any]:
    return [*asked(made, at), *[made(at, nu) for nu in orders]]


def of_spline(made: Any, limits: Any = (0.3, 3.1)) -> list[Any]:
    """Values, derivatives and integrals of a piecewise polynomial."""
    parts = [made, made.antiderivative(), made.antiderivative(2)]
    parts += [made.derivative(nu) for nu in (1, 2) if nu <= degree_of(made)]
    return [
        *sloped(made),
        made(AT, extrapolate=False),
        made(WIDE, extrapolate=True),
        *[p(AT) for p in parts],
        made.integrate(*limits),
    ]


def degree_of(made: Any) -> int:
    return int(made.k if hasattr(made, "k") else len(made.c) - 1)


def of_univariate(made: Any) -> list[Any]:
    return [
        made(WIDE),
        made(WIDE, 1),
        made(WIDE, ext=1),
        made(WIDE, ext="zeros"),
        made(WIDE, ext="const"),
        made(WIDE, ext=3),
        made(WIDE, nu=2, ext=0),
        made.integral(0.2, 3.0),
        made.integral(-1.0, 9.0),
        made.derivative()(AT),
        made.derivative(2)(AT),
        made.antiderivative()(AT),
        made.derivatives(0.7),
        made.get_knots(),
        made.get_coeffs(),
        made.get_residual(),
    ]


def curve(do: Any, **options: Any) -> Any:
    (t, c, k), u = do(interpolate.splprep)([X + 0.1 * Y, Y], **options)
    return t, c, k, u


TCK = interpolate.splrep(X, Y)
THROUGH = interpolate.BarycentricInterpolator(X[:5], Y[:5])
POLYNOMIALS = interpolate.PPoly(PLANE[:4, :6], X[:7])

SPLINES: list[Program] = [
    *each(
        lambda do, **o: do(interpolate.splrep)(X, Y, **o),
        *by("k", 1, 2, 3, 4, 5),
        {"w": W, "s": 0},
        {"s": 0.4},
        {"s": 0.9, "w": W},
        {"w": 3.0 * W},
        {"t": [1.1], "w": W, "k": 2},
        {"t": [1.1, 2.1], "xb": -0.3, "xe": 4.0},
        {"s": 0.4, "xb": -0.1, "xe": 3.9},
        {"t": [1.1], "xb": -0.2},
        {"t": [1.1], "xe": 3.7},
    ),
    *each(
        lambda do, k: interpolate.splev(np.clip(WIDE, 0.0, 3.6), do(interpolate.splrep)(X, ROUND, k=k, per=1)),
        *by("k", 1, 3, 5),
    ),
    *each(
        curve,
        {},
        {"s": 0},
        {"s": 0.3},
        {"u": X, "s": 0},
        {"s": 0.2, "w": W, "u": X},
        {"k": 2, "s": 0},
        {"s": 0.3, "ub": -0.1, "ue": 1.2},
    ),
    lambda do: [do(interpolate.splev)(WIDE, TCK, der, ext) for der in range(4) for ext in (0, 1, 3)],
    lambda do: [do(interpolate.splev)(AT.reshape(2, 2), list(TCK)), do(interpolate.splev)(1.2, TCK)],
    lambda do: do(interpolate.splev)(AT, (TCK[0], [TCK[1], 2.0 * TCK[1]], 3), 1),
    lambda do: do(interpolate.splev)(AT, interpolate.BSpline(*TCK)),
    lambda do: [do(interpolate.splder)(TCK, n) for n in (1, 2, 3)],
    lambda do: [do(interpolate.splantider)(TCK, n) for n in (1, 2)],
    lambda do: [do(interpolate.splint)(a, b, TCK) for a, b in ((0.3, 2.9), (-1.0, 2.0), (0.5, 9.0), (2.0, 1.0))],
    *each(
        lambda do, **o: of_univariate(do(interpolate.InterpolatedUnivariateSpline)(X, Y, **o)),
        {},
        {"w": W, "k": 4, "ext": "const"},
        {"ext": 1},
    ),
    *each(
        lambda do, **o: of_univariate(do(interpolate.UnivariateSpline)(X, Y, **o)),
        {"s": 0.4},
        {"w": W},
        {"s": 0, "ext": "zeros"},
        {"s": 0.2, "w": W, "k": 3},
    ),
    *each(
        lambda do, **o: of_univariate(do(interpolate.LSQUnivariateSpline)(X, Y, [1.1, 2.1], **o)),
        {"w": W},
        {"bbox": [-0.5, 4.0], "ext": 3},
    ),
    *each(
        lambda do, **o: of_spline(do(interpolate.CubicSpline)(X, Y, **o)),
        {},
        {"extrapolate": False},
        *by(
            "bc_type",
            "natural",
            "clamped",
            ("natural", "not-a-knot"),
            ((1, 0.3), (2, -0.7)),
            ((2, 0.4), (1, 0.6)),
            ("not-a-knot", (2, 0.5)),
        ),
    ),
    lambda do: sloped(do(interpolate.CubicSpline)(X, ROUND, bc_type="periodic"), orders=(1, 2, 3)),
    lambda do: do(interpolate.CubicSpline)(X, ROUND, bc_type="periodic").antiderivative()(AT),
    lambda do: sloped(do(interpolate.CubicSpline)(X[:4], Y[:4])),
    lambda do: sloped(do(interpolate.CubicSpline)(X, MANY.T, axis=1)),
    lambda do: sloped(do(interpolate.CubicSpline)(X, MANY, extrapolate="periodic")),
    lambda do: of_spline(do(interpolate.CubicHermiteSpline)(X, Y, Y[::-1])),
    lambda do: sloped(do(interpolate.CubicHermiteSpline)(X, MANY.T, MANY.T[::-1], axis=-1, extrapolate=False)),
    lambda do: of_spline(do(interpolate.PchipInterpolator)(X, Y)),
    lambda do: sloped(do(interpolate.PchipInterpolator)(X, np.cumsum(np.abs(Y)), extrapolate=False)),
    lambda do: [
        *sloped(do(interpolate.PchipInterpolator)(X, MANY)),
        do(interpolate.PchipInterpolator)(X[:2], Y[:2])(AT),
    ],
    *each(
        lambda do, y: do(interpolate.PchipInterpolator)(X[:3], y)(AT),
        *by("y", [0.0, 0.1, 3.0], [0.0, 3.0, 3.1], [0.0, 0.2, -3.0], [0.0, -3.0, 0.2], [1.0, 1.0, 0.5]),
    ),
    lambda do: of_spline(do(interpolate.Akima1DInterpolator)(X, Y, extrapolate=True)),
    lambda do: sloped(do(interpolate.Akima1DInterpolator)(X, Y, method="makima")),
    lambda do: sloped(do(interpolate.Akima1DInterpolator)(X, np.maximum(X - 2.0, 0.0))),
    lambda do: sloped(do(interpolate.Akima1DInterpolator)(X, MANY.T, axis=1)),
    lambda do: do(interpolate.Akima1DInterpolator)(X[:2], Y[:2])(AT),
    lambda do: of_spline(do(interpolate.PPoly)(PLANE[:4, :6], X[:7]), (0.3, 2.5)),
    lambda do: sloped(do(interpolate.PPoly)(SOLID[:, :4], X[:5], extrapolate=False)),
    lambda do: do(interpolate.PPoly)(np.moveaxis(SOLID, 2, 0), X[:5], axis=1)(AT),
    lambda do: do(interpolate.PPoly)(PLANE[:4, :6], X[:7], "periodic")(WIDE),
    lambda do: do(interpolate.PPoly.__call__)(POLYNOMIALS, WIDE, 1),
    lambda do: of_spline(do(interpolate.BSpline)(*TCK)),
    lambda do: sloped(do(interpolate.BSpline)(*TCK, extrapolate="periodic"), orders=(1, 2, 3)),
    lambda do: do(interpolate.BSpline)(*TCK, extrapolate=False).tck,
    lambda do: do(interpolate.BSpline)(list(TCK[0]), list(TCK[1]), 3)(AT),
    lambda do: asked(do(interpolate.BSpline)(TCK[0], MANY.T, 3, extrapolate=False, axis=1)),
    *each(lambda do, k: of_spline(do(interpolate.make_interp_spline)(X, Y, k)), *by("k", 0, 1, 2, 3, 4, 5)),
    lambda do: sloped(do(interpolate.make_interp_spline)(X, MANY.T, axis=1)),
    lambda do: sloped(do(interpolate.make_interp_spline)(X, Y, t=TCK[0], bc_type="not-a-knot")),
    *each(
        lambda do, k: sloped(do(interpolate.make_interp_spline)(X, ROUND, k, bc_type="periodic"), orders=(1,)),
        *by("k", 1, 3, 5),
    ),
    *each(
        lambda do, **o: asked(do(interpolate.interp1d)(X, Y, **o), AT),
        *by("kind", "linear", "nearest", "nearest-up", "zero", "slinear", "quadratic", "cubic", "previous", "next"),
        {"assume_sorted": True},
        {"fill_value": 0.7},
        {"kind": "cubic", "bounds_error": True, "fill_value": 0.2},
    ),
    *each(
        lambda do, kind: do(interpolate.interp1d)(X, MANY.T, kind)(np.append(AT, 0.5 * (X[1:] + X[:-1]))),
        *by("kind", "linear", "nearest", "nearest-up", "zero", "quadratic", "previous", "next"),
    ),
    *each(
        lambda do, **o: asked(do(interpolate.interp1d)(X[::-1], Y[::-1], **o)),
        {"bounds_error": False},
        {"bounds_error": False, "fill_value": (-3.0, 4.0)},
        {"fill_value": "extrapolate"},
        {"kind": "cubic", "fill_value": "extrapolate"},
        {"kind": "previous", "fill_value": "extrapolate"},
    ),
    lambda do: do(interpolate.interp1d)(X, MANY, axis=0, bounds_error=False, fill_value=0.3)(WIDE),
    lambda do: do(interpolate.BarycentricInterpolator)(X[:5], Y[:5])(WIDE),
    lambda do: do(interpolate.BarycentricInterpolator)(X, MANY.T, axis=1)(AT.reshape(2, 2)),
    lambda do: do(interpolate.barycentric_interpolate)(X[:5], Y[:5], AT),
    lambda do: np.ravel(do(interpolate.BarycentricInterpolator._evaluate)(THROUGH, AT)),
    *(
        each(lambda do, **o: of_spline(do(interpolate.make_splrep)(X, Y, **o)), {}, {"s": 0.4}, {"s": 0.9, "w": W})
        if hasattr(interpolate, "make_splrep")
        else []
    ),
]

# --- interpolators in several dimensions ------------------------------------------------------------------------------

LINES = (X[:6], np.array([-1.0, 0.2, 0.9, 1.6, 2.0, 2.4, 3.0]))
PAIRS = RNG.normal(size=(6, 7, 2))
INSIDE = np.array([[0.3, 1.1], [1.2, 2.9], [2.2, -1.0], [0.0, 0.2]])
OUTSIDE = np.array([[-0.3, 1.1], [1.2, 3.9], [0.3, 0.5]])
CLOUD = np.array([[0.0, 0.0], [2.0, 0.1], [0.1, 2.0], [2.1, 2.2], [1.1, 0.9], [0.4, 1.2], [1.6, 1.5]])
IN_CLOUD = np.array([[0.5, 0.6], [1.2, 1.0], [1.5, 1.3], [5.0, 0.2]])
LONG = np.array([1.0, 40.0])
Grid, Triangles, Surface = (
    interpolate.RegularGridInterpolator,
    interpolate.LinearNDInterpolator,
    interpolate.CloughTocher2DInterpolator,
)

GRIDS: list[Program] = [
    *each(lambda do, method: do(Grid)(LINES, PLANE, method)(INSIDE), *by("method", "linear", "slinear", "nearest")),
    lambda do: [do(Grid)(LINES, PLANE)(INSIDE[0]), do(Grid)(LINES, PLANE)((0.3, np.array([0.4, 1.1])))],
    lambda do: do(Grid)(LINES, PLANE, method="linear")(INSIDE, method="nearest"),
    lambda do: [do(Grid)((X,), Y)(AT), do(Grid)((X,), Y)(AT[:, None])],
    lambda do: do(Grid)((X[::-1],), Y, bounds_error=False, fill_value=None)(np.append(WIDE, X)[:, None]),
    lambda do: do(Grid)(LINES, PAIRS, bounds_error=False, fill_value=0.4)(OUTSIDE),
    lambda do: do(Grid)(LINES, PLANE, bounds_error=False, fill_value=None)(OUTSIDE),
    lambda do: do(Grid)(LINES, PLANE, "nearest", False)(OUTSIDE),
    *each(lambda do, method: do(Grid.__call__)(Grid(LINES, PLANE), INSIDE, method), *by("method", None, "nearest")),
    lambda do: do(interpolate.interpn)(LINES, PLANE, INSIDE, "nearest"),
    lambda do: do(interpolate.interpn)(LINES, PAIRS, OUTSIDE, bounds_error=False, fill_value=-0.4),
    *each(
        lambda do, method: [
            do(interpolate.griddata)(CLOUD, MANY[:7, 0], IN_CLOUD, method, 0.3),
            do(interpolate.griddata)(CLOUD * LONG, MANY[:7], IN_CLOUD * LONG, method, rescale=True),
            do(interpolate.griddata)(tuple(CLOUD.T), MANY[:7, 0], tuple(IN_CLOUD.T), method),
        ],
        *by("method", "linear", "nearest", "cubic"),
    ),
    lambda do: do(Triangles)(CLOUD, MANY[:7], -1.0)(IN_CLOUD),
    lambda do: do(Triangles)(CLOUD, MANY[:7], rescale=True)(*IN_CLOUD.T),
    lambda do: do(interpolate.NearestNDInterpolator)(CLOUD, MANY[:7])(IN_CLOUD),
    lambda do: do(interpolate.NearestNDInterpolator)(CLOUD * LONG, Y[:7], rescale=True)(IN_CLOUD * LONG),
    lambda do: do(Surface)(CLOUD, MANY[:7])(IN_CLOUD),
    lambda do: do(Surface)(CLOUD, Y[:7], 0.2, tol=1e-9, rescale=True)(*IN_CLOUD.T),
    lambda do: do(Surface.__call__)(Surface(CLOUD, MANY[:7]), IN_CLOUD),
    lambda do: do(Surface.__call__)(Surface(CLOUD, Y[:7], rescale=True), *IN_CLOUD.T),
    lambda do: do(Triangles.__call__)(Triangles(CLOUD, MANY[:7], rescale=True), IN_CLOUD),
]

# --- distances --------------------------------------------------------------------------------------------------------

ROWS = np.array([[0.3, 1.2, -0.4], [0.9, 0.1, 0.7], [0.3, 1.2, -0.4], [-1.1, 0.5, 0.6]])
WEIGHT = np.array([0.5, 2.0, 0.0])
INVERSE = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, 0.2], [0.0, 0.2, 1.5]])


def distances(do: Any, **options: Any) -> Any:
    return do(distance.cdist)(ROWS, ROWS[:2] + 0.1, **options), do(distance.pdist)(ROWS, **options)


def in_place(do: Any) -> Any:
    square, line = np.zeros((4, 4)), np.zeros(6)
    return [
        do(distance.cdist)(ROWS, ROWS, out=square) is square,
        do(distance.pdist)(ROWS, out=line) is line,
        square,
        line,
    ]


NAMES = (
    "euclidean",
    "sqeuclidean",
    "cityblock",
    "chebyshev",
    "minkowski",
    "canberra",
    "braycurtis",
    "cosine",
    "correlation",
)
DISTANCES: list[Program] = [
    *each(distances, *by("metric", *NAMES), *[{"metric": name, "w": WEIGHT} for name in NAMES]),
    *each(
        distances,
        {"metric": "minkowski", "p": 3.0},
        {"metric": "minkowski", "p": np.inf},
        {"metric": "minkowski", "p": 1.5, "w": WEIGHT},
        {"metric": "minkowski", "p": np.inf, "w": WEIGHT},
        {"metric": "seuclidean", "V": 0.5 + WEIGHT},
        {"metric": "mahalanobis", "VI": INVERSE},
    ),
    in_place,
    lambda do: do(distance.squareform)(np.arange(1.0, 7.0)),
    lambda do: do(distance.squareform)(do(distance.squareform)(np.arange(1.0, 11.0))),
    lambda do: do(distance.cdist)([[0.0, 0.0]], [[0.0, 0.0], [3.0, 4.0]], "canberra"),
]

PROGRAMS = {"splines": SPLINES, "grids": GRIDS, "distances": DISTANCES}
