"""Programs of solvers, for tests/models/test_slopes_of_models.py: functions of ``do`` and of three parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate, interpolate, optimize, signal
from scipy.sparse import linalg
from scipy.spatial.transform import Rotation, RotationSpline

from tests.models.value_programs import CLOUD, IN_CLOUD, WIDE, X, Y, by, each

P = np.array([0.7, 1.3, 0.4])

# --- differential equations -------------------------------------------------------------------------------------------


def swing(t: Any, y: Any, a: Any, b: Any) -> Any:
    return [y[1], -a * np.sin(y[0]) - b * y[1]]


def swing_by_state(t: Any, y: Any, a: Any, b: Any) -> Any:
    return [[0.0, 1.0], [-a * np.cos(y[0]), -b]]


CLOSE = {"rtol": 1e-9, "atol": 1e-10}


def initial(do: Any, p: Any, **options: Any) -> Any:
    """The values at the end, and of the solution as a function of time."""
    made = do(integrate.solve_ivp)(
        swing, (0.2 * p[2], 1.0 + p[2]), [p[0], 0.3], args=(p[1], 0.2), dense_output=True, **{**CLOSE, **options}
    )
    return [
        made.y[:, -1],
        made.t[-1],
        made.sol(0.9),
        made.sol(np.array([0.5, 1.1])),
        made["status"],
        made.t_events is None,
        made.success,
    ]


def at_times(do: Any, p: Any, **options: Any) -> Any:
    made = do(integrate.solve_ivp)(
        swing, (0.0, 1.5), [p[0], p[2]], t_eval=[0.0, 0.4, 1.5], args=(p[1], 0.2), **{**CLOSE, **options}
    )
    return [made.y, made.t]


def backwards(do: Any, p: Any, **options: Any) -> Any:
    return do(integrate.solve_ivp)(lambda t, y: -p[1] * y * t, (1.5, 0.1), p[:1], **{**CLOSE, **options}).y[:, -1]


def crossing(t: Any, y: Any, *more: Any) -> Any:
    return y[0] - 0.35


def turning(t: Any, y: Any, *more: Any) -> Any:
    return y[1]


crossing.terminal = True  # type: ignore[attr-defined]


def with_events(do: Any, p: Any, events: Any, **options: Any) -> Any:
    made = do(integrate.solve_ivp)(
        swing,
        (0.0, 2.0 + p[2]),
        [p[0], 0.4],
        events=events,
        args=(3.0 * p[1], 0.2),
        dense_output=True,
        **{**CLOSE, **options},
    )
    return [made.y[:, -1], made.t[-1], *made.t_events, *made.y_events, made.sol(0.3), made.status]


def odes(do: Any, p: Any, **options: Any) -> Any:
    way = do(integrate.odeint)
    f = (lambda t, y, a: [y[1], -a * y[0]]) if options.get("tfirst") else (lambda y, t, a: [y[1], -a * y[0]])
    return way(f, [p[0], 0.3], p[2] * np.array([0.0, 0.7, 2.0]), args=(p[1],), **options)


def turning_in_the_plane(do: Any, p: Any) -> Any:
    """A complex state."""
    y = do(integrate.solve_ivp)(lambda t, y: (1j - p[0]) * y, (0.0, p[1]), [p[2] + 0.4j], **CLOSE).y[:, -1]
    return [y.real, y.imag]


def stiff(do: Any, p: Any) -> Any:
    """An explicit method is held back by stability."""
    return do(integrate.solve_ivp)(
        lambda t, y: [-1000.0 * p[0] * (y[0] - np.cos(t)), p[1] * y[0] - y[1]],
        (0.0, 1.0),
        [p[2], 0.3],
        method="BDF",
        rtol=1e-6,
        atol=1e-8,
    ).y[:, -1]


def one_ode(do: Any, p: Any) -> Any:
    return do(integrate.odeint)(lambda y, t, a: -a * y, p[0], [0.0, 0.7], (p[1],))


def boundary(do: Any, p: Any) -> Any:
    made = do(integrate.solve_bvp)(
        lambda x, y: np.array([y[1], -p[0] * np.sin(y[0])]),
        lambda a, b: np.array([a[0] - p[1], b[0] - p[2]]),
        np.linspace(0.0, 1.0, 7),
        np.ones((2, 7)),
        tol=1e-8,
    )
    return [made.sol(np.array([0.0, 0.3, 0.77, -0.1, 1.2])), made.y[:, 0], made.yp[:, -1], made.p is None, made.status]


def eigenvalue(do: Any, p: Any) -> Any:
    made = do(integrate.solve_bvp)(
        lambda x, y, k: np.array([y[1], -(k[0] ** 2) * p[1] * y[0]]),
        lambda a, b, k: np.array([a[0], b[0], a[1] - p[0]]),
        np.linspace(0.0, 1.0, 7),
        np.array([np.sin(np.pi * np.linspace(0, 1, 7)), np.ones(7)]),
        p=[3.0],
        tol=1e-8,
    )
    return [made.p, made.sol(0.4)]


EQUATIONS = [
    *each(
        initial,
        *by("method", "RK45", "RK23", "DOP853", "Radau", "LSODA", "BDF", integrate.RK45)[2:],
        {"method": "RK45", "rtol": 1e-8},
        {"method": "RK23", "rtol": 1e-6, "atol": 1e-7},
    ),
    *each(at_times, {}, {"method": "Radau", "jac": swing_by_state}, {"method": "LSODA"}),
    *each(backwards, {}, {"method": "DOP853"}),
    *each(with_events, *by("events", crossing, [turning, crossing], [turning])),
    *each(odes, {"rtol": 1e-10, "atol": 1e-11}, {"tfirst": True, "rtol": 1e-10, "atol": 1e-11, "hmax": 0.3}),
    one_ode,
    turning_in_the_plane,
    stiff,
    boundary,
    eigenvalue,
]

# --- roots and minima -------------------------------------------------------------------------------------------------


def cubic(x: Any, a: Any, b: Any) -> Any:
    return x**3 + a * x - b


def system(x: Any, a: Any, b: Any) -> Any:
    return np.array([x[0] ** 2 + a * x[1] - b, np.exp(0.3 * x[0]) - x[1] * b])


def roots(do: Any, p: Any, name: str, *where: Any, **options: Any) -> Any:
    x, report = do(getattr(optimize, name))(cubic, *where, args=(p[0], p[1]), full_output=True, **options)
    return [x, report.root, report.converged, do(getattr(optimize, name))(cubic, *where, args=(p[0], p[1]), **options)]


def many_roots(do: Any, p: Any) -> Any:
    start = np.array([0.5, 1.0, 2.0])
    whole = do(optimize.newton)(cubic, start, args=(p[0], p), full_output=True)
    return [whole[0], whole[1], do(optimize.newton)(cubic, start, args=(p, p[1]))]


def scalar_root(do: Any, p: Any, **options: Any) -> Any:
    made = do(optimize.root_scalar)(cubic, (p[0], p[1]), **options)
    return [made.root, made.converged]


def root_with_slope(do: Any, p: Any) -> Any:
    return do(optimize.root_scalar)(
        lambda x, a: (cubic(x, a, p[1]), 3.0 * x**2 + a), p[0], x0=0.5, fprime=True, xtol=1e-12
    ).root


def fixed_points(do: Any, p: Any) -> Any:
    way = do(optimize.fixed_point)
    return [
        way(lambda x, a: a * np.cos(x), 0.5, (p[0],), xtol=1e-12),
        way(lambda x, a: a * np.cos(x), np.array([0.5, 0.6]), (0.3 * p[:2],), xtol=1e-12),
    ]


def systems(do: Any, p: Any, method: str) -> Any:
    made = do(optimize.root)(system, [0.5, 0.5], (p[0], p[1]), method=method, tol=1e-12)
    return [made.x, made["x"], made.get("x"), made.get("missing", 3.0), made.success]


def system_with_slope(do: Any, p: Any) -> Any:
    return do(optimize.root)(
        lambda x: (system(x, p[0], p[1]), np.array([[2.0 * x[0], p[0]], [0.3 * np.exp(0.3 * x[0]), -p[1]]])),
        [0.5, 0.5],
        jac=True,
        tol=1e-12,
    ).x


def solved(do: Any, p: Any) -> Any:
    whole = do(optimize.fsolve)(system, [0.5, 0.5], (p[0], p[1]), full_output=True, xtol=1e-12)
    return [whole[0], whole[2], do(optimize.fsolve)(lambda x: x**2 - p[0], 1.0, xtol=1e-12)]


def by_krylov(do: Any, p: Any, name: str) -> Any:
    way = do(getattr(optimize, name))
    return [
        way(lambda x: x - 0.2 * np.cos(x[::-1]) * p[:2], np.array([0.1, 0.2]), f_tol=1e-10),
        way(lambda x: x - 0.2 * np.cos(x) * p[0], 0.1, f_tol=1e-10),
    ]


def bowl(x: Any, a: Any, b: Any) -> Any:
    return (x[0] - a) ** 2 + 0.3 * (x[1] - b * x[0]) ** 2 + 0.1 * x[0] ** 4


def bowl_slope(x: Any, a: Any, b: Any) -> Any:
    d = 0.6 * (x[1] - b * x[0])
    return np.array([2.0 * (x[0] - a) - b * d + 0.4 * x[0] ** 3, d])


def minima(do: Any, p: Any, **options: Any) -> Any:
    made = do(optimize.minimize)(bowl, [0.1, 0.2], (p[0], p[1]), jac=bowl_slope, tol=1e-12, **options)
    return [made.x, made.fun, made.success]


def minimum_with_slope(do: Any, p: Any) -> Any:
    return do(optimize.minimize)(
        lambda x: (bowl(x, p[0], p[1]), bowl_slope(x, p[0], p[1])), [0.1, 0.2], jac=True, tol=1e-12
    ).x


def on_bounds(do: Any, p: Any, bounds: Any) -> Any:
    return do(optimize.minimize)(
        bowl,
        [0.1, 0.2],
        (p[0], p[1]),
        method="L-BFGS-B",
        jac=bowl_slope,
        bounds=bounds(p),
        options={"ftol": 1e-15, "gtol": 1e-10},
    ).x


def bounds_of_one(p: Any) -> Any:
    return [(None, 0.3 * p[2]), (0.1, None)]


def bounds_by_array(p: Any) -> Any:
    return np.stack([np.array([0.8 * p[0], -3.0]), np.array([4.0, 5.0 * p[1]])], axis=1)


def bounds_by_object(p: Any) -> Any:
    return optimize.Bounds([0.9 * p[1], -1.0], 3.0)


def of_one(x: Any, a: Any) -> Any:
    return (x - a) ** 2 + 0.1 * x**4


def scalar_minima(do: Any, p: Any, **options: Any) -> Any:
    made = do(optimize.minimize_scalar)(of_one, args=p[0], **options)
    return [made.x, made.fun]


def at_ends(do: Any, p: Any) -> Any:
    far = {"options": {"xatol": 1e-11}}
    return [
        do(optimize.minimize_scalar)(of_one, args=(p[0],), bounds=bounds, method="bounded", **far).x
        for bounds in ((p[1], 3.0), (-3.0, 0.4 * p[2]), (-2.0, 3.0))
    ]


def line_minima(do: Any, p: Any) -> Any:
    return [
        do(optimize.brent)(of_one, (p[0],), tol=1e-11),
        do(optimize.golden)(of_one, (p[0],), tol=1e-11),
        do(optimize.fminbound)(of_one, -2.0, 3.0, (p[0],), xtol=1e-11),
        do(optimize.fminbound)(of_one, 1.1 * p[1], 3.0, (p[0],), xtol=1e-11),
    ]


# --- least squares and linear programs --------------------------------------------------------------------------------

AT, SEEN = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.5]), np.array([1.1, 0.9, 0.5, 0.6, 0.2, 0.3])
SPREAD = np.array([0.5, 1.0, 0.7, 2.0, 1.0, 0.4])


def decay(t: Any, a: Any, b: Any) -> Any:
    return a * np.exp(-b * t)


def residuals(x: Any, seen: Any) -> Any:
    return decay(AT, x[0], x[1]) - seen


TIGHT = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}


def squares(do: Any, p: Any, start: Any = (1.0, 0.5), **options: Any) -> Any:
    seen = SEEN * np.array([p[0], 1.0, p[1], 1.0, 1.0, p[2]])
    made = do(optimize.least_squares)(residuals, start, args=(seen,), **{**TIGHT, **options})
    return [made.x, made.cost, made.fun]


def squares_by_name(do: Any, p: Any) -> Any:
    return do(optimize.least_squares)(
        residuals, [1.0, 0.5], kwargs={"seen": SEEN * p[0]}, bounds=([0.0, 0.3 * p[1]], np.inf), **TIGHT
    ).x


def curves(do: Any, p: Any, **options: Any) -> Any:
    seen = SEEN * np.array([p[0], 1.0, p[1], 1.0, 1.0, p[2]])
    return [*do(optimize.curve_fit)(decay, AT, seen, **{"xtol": 1e-14, "ftol": 1e-14, **options})]


def curves_by_spread(do: Any, p: Any, is_matrix: bool) -> Any:
    sigma = SPREAD * p[0]
    return [
        *do(optimize.curve_fit)(
            decay,
            AT,
            SEEN * p[1],
            [1.0, 0.5],
            xtol=1e-14,
            ftol=1e-14,
            absolute_sigma=True,
            sigma=np.diag(sigma**2) + 0.02 if is_matrix else sigma,
        )
    ]


def linear_squares(do: Any, p: Any) -> Any:
    A = np.stack([AT, AT**2 - p[0], 1.0 - p[1] * AT], axis=1)
    made = do(optimize.lsq_linear)(A, SEEN * p[2], tol=1e-14)
    bound = do(optimize.lsq_linear)(A, SEEN * p[2], ([-np.inf, 0.05 * p[2], -np.inf], [np.inf, 1.0, np.inf]), tol=1e-14)
    return [made.x, made.cost, made.fun, bound.x, *do(optimize.nnls)(A, SEEN * p[2])]


def programs(do: Any, p: Any, bounds: Any) -> Any:
    made = do(optimize.linprog)(
        -p,
        A_ub=[[1.0, p[1], 0.3], [0.4, 0.2, 2.0 * p[0]]],
        b_ub=[4.0, 3.0 * p[2]],
        A_eq=[[1.0, -0.5, 0.2 * p[2]]],
        b_eq=p[:1],
        bounds=bounds,
    )
    return [
        made.x,
        made.fun,
        made.slack,
        made.con,
        made.status,
        made.eqlin.marginals,
        made.ineqlin.marginals,
        made.ineqlin.residual,
        made.lower.marginals,
        made.upper.marginals,
        made.lower.residual,
        made.upper.residual,
    ]


def unbounded_below(do: Any, p: Any) -> Any:
    made = do(optimize.linprog)(p[:2], A_ub=[[-1.0, -2.6 - p[2]], [-1.0, 0.4]], b_ub=[-p[1], 0.3], bounds=(None, None))
    return [made.x, made.fun]


OPTIMA = [
    *each(
        lambda do, p, name: roots(do, p, name, 0.0, 2.0, xtol=1e-12),
        *by("name", "brentq", "brenth", "bisect", "ridder", "toms748"),
    ),
    lambda do, p: roots(do, p, "newton", 0.7, tol=1e-13),
    many_roots,
    root_with_slope,
    fixed_points,
    *each(scalar_root, {"bracket": (0.0, 2.0), "xtol": 1e-13}, {"x0": 0.5, "x1": 0.7, "xtol": 1e-13}),
    *each(systems, *by("method", "hybr", "lm", "krylov")),
    system_with_slope,
    solved,
    *each(by_krylov, *by("name", "broyden1", "newton_krylov")),
    *each(minima, *by("method", "BFGS", "L-BFGS-B")),
    minimum_with_slope,
    *each(on_bounds, *by("bounds", bounds_of_one, bounds_by_array, bounds_by_object)),
    lambda do, p: do(optimize.fmin)(bowl, [0.1, 0.2], (p[0], p[1]), 1e-10, 1e-14, disp=False),
    *each(scalar_minima, {"tol": 1e-11}, {"bracket": (-1.0, 0.0, 2.0), "tol": 1e-11}),
    at_ends,
    line_minima,
    *each(
        squares,
        *by("loss", "linear", "soft_l1", "huber", "cauchy", "arctan"),
        {"loss": "huber", "f_scale": 0.1},
        {"loss": "soft_l1", "f_scale": 0.2},
        {"bounds": ([0.0, 0.1], [0.6, 2.0]), "start": (0.3, 0.5)},
        {"bounds": optimize.Bounds([0.0, 0.8], [5.0, 2.0]), "start": (1.0, 1.0)},
    ),
    squares_by_name,
    *each(curves, {}, {"p0": [1.0, 0.5], "absolute_sigma": True}, {"sigma": SPREAD}),
    *each(curves_by_spread, *by("is_matrix", False, True)),
    linear_squares,
    *each(programs, *by("bounds", (0, None), (0.1, 2.0), [(0.0, None), (0.2, 1.0), (None, 0.4)], [(0.0, 3.0)])),
    unbounded_below,
]

# --- splines, rotations, surfaces, spectra ----------------------------------------------------------------------------

MIXED = np.array([[0.3, 1.2, -0.4], [0.9, 0.1, 0.7], [0.2, -0.8, 0.5], [-1.1, 0.5, 0.6]])


def turned(do: Any, p: Any) -> Any:
    made = do(RotationSpline)(np.array([0.0, 0.4, 1.1, 1.5]), Rotation.from_rotvec(MIXED * p))
    return [made(0.7).as_matrix(), made(np.array([0.2, 1.3]), 1), made(0.9, 2)]


def surface(do: Any, p: Any) -> Any:
    return do(interpolate.CloughTocher2DInterpolator)(
        CLOUD * (1.0 + 0.02 * p[:2]), np.sin(p[2] * np.arange(7.0)), tol=1e-12
    )(IN_CLOUD[:3])


def smoothed(do: Any, p: Any) -> Any:
    """With the knots of the data: the sum that is left over has the tolerance of FITPACK."""
    made = do(interpolate.LSQUnivariateSpline)(X, Y * np.linspace(p[0], p[1], 9), [1.1, 2.1 * p[2] / P[2]])
    return [made(np.clip(WIDE, 0.0, 3.6)), made.get_residual()]


def with_jumps(do: Any, p: Any, **options: Any) -> Any:
    """FITPACK is content with a thousandth of s: coefficients of B-splines of a fit that is smoothed."""
    y = Y * np.linspace(p[0], p[1], 9)
    return do(interpolate.splrep)(X * p[2], y, **options)[1]


def smoothed_curve(do: Any, p: Any) -> Any:
    (t, c, _), u = do(interpolate.splprep)([X + p[0] * Y, p[1] * Y], s=0.4 * p[2])
    return [t, *c, u]


def periodic(do: Any, p: Any) -> Any:
    angle = np.linspace(0.0, 2.0 * np.pi, 9)
    curve = [np.cos(angle) * p[0], np.sin(angle) * p[1] + 0.1 * np.cos(2.0 * angle)]
    tck, u = do(interpolate.splprep)(curve, s=0, per=1)
    return [u, *interpolate.splev([0.1, 0.7], tck)]


def poles(do: Any, p: Any) -> Any:
    made = do(signal.place_poles)(
        np.array([[0.2, 1.0, 0.0], [-0.4, 0.3, 0.9], [0.1, -0.2, 0.5]]), np.array([[0.0], [0.3], [1.0]]), -p
    )
    return [made.gain_matrix, made.requested_poles]


def spectra(do: Any, p: Any) -> Any:
    a = np.diag([2.0, 3.0, 1.0, 0.5]) + 0.1 * np.outer(np.r_[p, 1.0], np.r_[p, 1.0])
    w, v = do(linalg.eigsh)(a, 2, v0=np.ones(4))
    return [w, np.abs(v), do(linalg.svds)(a[:, :3], 2, v0=np.ones(3))[1]]


OTHERS = [turned, surface, smoothed, poles, spectra, periodic]
NEARLY = [*each(with_jumps, {"s": 0.1}, {"s": 0.2, "w": np.linspace(0.5, 2.0, 9)}), smoothed_curve]
"""Whose solutions SciPy finds to three digits."""

PROGRAMS: dict[str, list[Callable[..., Any]]] = {
    "equations": EQUATIONS,
    "optima": OPTIMA,
    "others": OTHERS,
    "nearly": NEARLY,
}
