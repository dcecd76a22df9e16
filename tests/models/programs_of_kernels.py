"""As tests/models/value_programs.py: of the compiled functions behind the splines and radial functions of SciPy.

SciPy moves them from version to version: those that there are not in this one are left out.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from scipy import interpolate

from tests.models.value_programs import AT, MANY, WIDE, Program, W, X, each

RNG = np.random.default_rng(9)


def kernel(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(f"scipy.interpolate.{module}"), name, None)
    except ImportError:
        return None


DEGREES = [{"k": k, "t": np.r_[[0.0] * (k + 1), 1.1, 2.0, 2.7, [3.6] * (k + 1)]} for k in range(1, 5)]


def basis(do: Any, k: int, t: Any) -> Any:
    way = kernel("_dierckx", "evaluate_all_bspl")
    return [do(way)(t, k, x, k + j, nu) for j, x in ((0, 0.7), (1, 1.5), (3, 3.2)) for nu in range(k + 1)]


def values(do: Any, k: int, t: Any) -> Any:
    c = MANY[: len(t) - k - 1]
    return [
        do(kernel("_dierckx", "evaluate_spline"))(t, c, k, WIDE, nu, more)
        for nu in range(k + 2)
        for more in (True, False)
    ]


def places(do: Any, k: int, t: Any, offset: int = 0) -> Any:
    """The values of all B-splines, in bands with further rows before them."""
    ab = np.zeros((len(t) - k - 1, 3 * k + 1))
    rows = interpolate.BSpline(t, np.eye(len(t) - k - 1), k)  # places at which the matrix is one of equations
    x = np.array([np.mean(t[j + 1 : j + k + 1]) for j in range(len(t) - k - 1 - offset)])
    assert np.all(rows(x)[np.arange(len(x)), np.arange(len(x))] > 0.0)
    do(kernel("_dierckx", "_coloc"))(x, t, k, ab, offset)
    return ab


def equations(do: Any, k: int, t: Any) -> Any:
    n = len(t) - k - 1
    ab, right = np.zeros((n, k + 1)), np.zeros((n, 2))
    do(kernel("_dierckx", "_norm_eq_lsq"))(X, t, k, MANY, W, ab, right)
    return [ab, right]


def factors(do: Any, k: int, t: Any) -> Any:
    found = do(kernel("_bsplines", "_lsq_solve_qr"))(X, MANY, t, k, W)
    return [found[0], *found[2:]]


def in_two(do: Any, nu: Any, more: bool) -> Any:
    t = np.array([DEGREES[2]["t"], np.append(DEGREES[1]["t"], [np.nan, np.nan])])
    strides = np.array(PAIRS_OF_PLANE.strides) // 8
    index = np.ascontiguousarray(np.array(np.unravel_index(np.arange(12), (4, 3))).T)
    points = np.stack([WIDE, np.array([0.3, 1.1, 2.2, 3.4, 0.5])], axis=1)
    return do(kernel("_dierckx", "evaluate_ndbspline"))(
        points, t, np.array([11, 9]), np.array([3, 2]), np.array(nu), more, np.ravel(PAIRS_OF_PLANE), 2, strides, index
    )


PAIRS_OF_PLANE = RNG.normal(size=(7, 6, 2))
SURFACE = interpolate.RectBivariateSpline(X, X[:7], RNG.normal(size=(9, 7)), kx=3, ky=2)
TX, TY, CXY = SURFACE.tck
OFF = np.array([-0.4, 0.3, 1.7, 3.9])


def radial(do: Any, name: str, powers: Any) -> Any:
    y, d = MANY[:6], MANY[:6, ::-1] ** 2
    left, right, shift, scale = do(kernel("_rbfinterp_pythran", "_build_system"))(
        y, d, np.linspace(0.0, 0.2, 6), name, 1.3, powers
    )
    rows = do(kernel("_rbfinterp_pythran", "_build_evaluation_coefficients"))(
        np.r_[MANY[5:], 0.1 + y], y, name, 1.3, powers, shift, scale
    )
    return [left, right, shift, scale, rows, do(kernel("_rbfinterp_pythran", "_polynomial_matrix"))(y, powers)]


def bernstein(do: Any, nu: int, more: bool) -> Any:
    out = np.zeros((5, 2))
    do(kernel("_ppoly", "evaluate_bernstein"))(
        np.ascontiguousarray(PAIRS_OF_PLANE[:4, :5]), X[:6], np.append(AT, 9.0) - 0.2, nu, more, out
    )
    return out


def surfaces(do: Any) -> Any:
    grid, pairs = OFF[:3], OFF[1:]
    of = (TX, TY, CXY, 3, 2)
    return [
        do(kernel("_dfitpack", "bispev"))(*of, grid, pairs),
        do(kernel("_dfitpack", "bispeu"))(*of, grid, pairs),
        *[
            do(kernel("_dfitpack", way))(*of, nux, nuy, grid, pairs)
            for way in ("parder", "pardeu")
            for nux, nuy in ((0, 0), (1, 0), (0, 1), (2, 1))
        ],
    ]


def fitted(do: Any, **options: Any) -> Any:
    z = PAIRS_OF_PLANE[:6, :, 0]
    nx, tx, ny, ty, c, *_ = do(kernel("_dfitpack", "regrid_smth"))(X[:6], X[1:7], np.ravel(z), **options)
    return [nx, tx[:nx], ny, ty[:ny], c]


ORDERS = [{"nu": nu, "more": more} for nu in range(5) for more in (True, False)]
NAMES = (
    "linear",
    "thin_plate_spline",
    "cubic",
    "quintic",
    "multiquadric",
    "inverse_multiquadric",
    "inverse_quadratic",
    "gaussian",
)
POWERS = (np.array([[0, 0], [1, 0], [0, 1], [2, 1]]), np.zeros((0, 2), int))
ALL: dict[tuple[str, str], list[Program]] = {
    ("_dierckx", "evaluate_all_bspl"): each(basis, *DEGREES),
    ("_dierckx", "evaluate_spline"): each(values, *DEGREES),
    ("_dierckx", "_coloc"): [*each(places, *DEGREES), *each(places, *[{**one, "offset": 1} for one in DEGREES])],
    ("_dierckx", "_norm_eq_lsq"): each(equations, *DEGREES),
    ("_bsplines", "_lsq_solve_qr"): each(factors, *DEGREES),
    ("_dierckx", "evaluate_ndbspline"): each(
        in_two, *[{"nu": nu, "more": more} for nu in ([0, 0], [1, 0], [2, 2], [0, 1]) for more in (True, False)]
    ),
    ("_ppoly", "evaluate_bernstein"): each(bernstein, *ORDERS),
    ("_rbfinterp_pythran", "_build_system"): each(
        radial, *[{"name": name, "powers": powers} for name in NAMES for powers in POWERS]
    ),
    ("_dfitpack", "parder"): [surfaces],
    ("_dfitpack", "regrid_smth"): each(
        fitted, {}, {"kx": 2, "ky": 1}, {"kx": 4, "ky": 5, "s": 0.0}, {"xb": X[0], "ye": X[6]}
    ),
}
PROGRAMS = {"kernels": [f for (module, name), some in ALL.items() if kernel(module, name) for f in some]}
