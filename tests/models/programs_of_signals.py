"""As tests/models/value_programs.py: of signals, images, rotations, integrals, polynomials and sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate, ndimage, signal, sparse
from scipy.sparse import linalg
from scipy.spatial.transform import Rotation, RotationSpline, Slerp

from tests.models.value_programs import Program, by, each

RNG = np.random.default_rng(8)

# --- signals ----------------------------------------------------------------------------------------------------------

LONG, ROWS, OTHER, PLANE = (
    RNG.normal(size=40),
    RNG.normal(size=(2, 40)),
    RNG.normal(size=(2, 40)),
    RNG.normal(size=(5, 6)),
)
TURNING = LONG + 1j * LONG[::-1]
B, A = np.array([0.2, 0.3, 0.1]), np.array([2.0, -0.4, 0.05])
SECTIONS = signal.butter(5, 0.3, output="sos")
CONTROLLED = np.array([[0.2, 1.0, 0.0], [-0.4, 0.3, 0.9], [0.1, -0.2, 0.5]])


def placed(do: Any, poles: Any) -> Any:
    made = do(signal.place_poles)(CONTROLLED, np.array([[0.0], [0.3], [1.0]]), np.array(poles))
    return [made.gain_matrix, made.requested_poles]


SIGNALS: list[Program] = [
    *each(
        lambda do, mode, boundary: [
            do(way)(PLANE, PLANE[:2, :3], mode, boundary, 0.3) for way in (signal.convolve2d, signal.correlate2d)
        ],
        *[
            {"mode": mode, "boundary": boundary}
            for mode in ("full", "same", "valid")
            for boundary in ("fill", "wrap", "symm")
        ],
    ),
    lambda do: do(signal.convolve2d)(PLANE[:2, :3], PLANE, "valid"),
    *each(
        lambda do, mode: [
            do(signal.correlate)(LONG, TURNING[:5], mode),
            do(signal.correlate)(LONG[:4], LONG, mode, "direct"),
        ],
        *by("mode", "full", "same", "valid"),
    ),
    *each(lambda do, **o: do(signal.hilbert)(ROWS, **o), {}, {"N": 31}, {"axis": 0}, {"N": 44}),
    *each(
        lambda do, b, a: [
            do(signal.lfilter)(b, a, ROWS),
            do(signal.lfilter)(b, a, ROWS.T, 0),
            do(signal.lfilter)(b, a, ROWS, zi=ROWS[:, :2]),
            do(signal.lfilter)(b, a, ROWS.T, 0, zi=ROWS[:, :2].T),
        ],
        {"b": B, "a": A},
        {"b": B[:1], "a": A},
        {"b": B, "a": A[:1]},
    ),
    lambda do: [do(signal.lfilter_zi)(b, a) for b, a in ((B, A), (B[:2], A), (B, A[:2]))],
    lambda do: [
        do(signal.sosfilt)(SECTIONS, ROWS),
        do(signal.sosfilt)(SECTIONS, ROWS.T, 0),
        do(signal.sosfilt)(SECTIONS, ROWS, zi=np.ones((3, 2, 2))),
        do(signal.sosfilt_zi)(SECTIONS),
    ],
    *each(
        lambda do, **o: [do(signal.filtfilt)(B, A, ROWS, **o), do(signal.sosfiltfilt)(SECTIONS, ROWS, **o)],
        {},
        {"padlen": 5},
        {"padlen": 0},
        *by("padtype", None, "odd", "even", "constant"),
    ),
    lambda do: [do(signal.filtfilt)(B, A, ROWS.T, 0), do(signal.sosfiltfilt)(SECTIONS, ROWS.T, 0)],
    lambda do: do(signal.sosfiltfilt)(signal.butter(2, [0.2, 0.5], "bandpass", output="sos"), ROWS),
    *each(lambda do, **o: do(signal.filtfilt)(B, A, ROWS, method="gust", **o), {}, {"irlen": 10}, {"irlen": 30}),
    lambda do: [
        do(signal.filtfilt)(B[:1], A[:1], ROWS, method="gust"),
        do(signal.filtfilt)(B[:2], A, ROWS.T, 0, method="gust"),
    ],
    lambda do: [
        do(signal.deconvolve)(LONG, B),
        do(signal.deconvolve)(LONG, LONG[:1]),
        do(signal.deconvolve)(LONG[:2], B),
    ],
    *each(
        lambda do, **o: do(signal.savgol_filter)(ROWS, 7, 3, **o),
        {},
        {"deriv": 1, "delta": 0.3},
        {"deriv": 2},
        {"mode": "constant", "cval": 0.4},
        *by("mode", "mirror", "nearest", "wrap"),
    ),
    lambda do: do(signal.savgol_filter)(ROWS.T, 5, 2, axis=0),
    *each(
        lambda do, num: [
            do(signal.resample)(ROWS.T, num),
            do(signal.resample)(ROWS, num, axis=1),
            do(signal.resample)(LONG[:39], num),
        ],
        *by("num", 20, 21, 40, 41, 60),
    ),
    *each(
        lambda do, **o: [do(signal.upfirdn)(B, ROWS, **o), do(signal.upfirdn)(B, ROWS.T, axis=0, **o)],
        {},
        {"up": 3},
        {"down": 2},
        {"up": 2, "down": 3},
    ),
    *each(
        lambda do, up, down: [
            do(signal.resample_poly)(ROWS.T, up, down),
            do(signal.resample_poly)(ROWS, up, down, 1, window="hann"),
        ],
        {"up": 3, "down": 2},
        {"up": 2, "down": 5},
        {"up": 4, "down": 4},
        {"up": 6, "down": 4},
    ),
    *each(
        lambda do, **o: do(signal.decimate)(ROWS, 2, **o),
        {"n": 3},
        {"n": 4, "zero_phase": False},
        {"zero_phase": False},
    ),
    lambda do: do(signal.decimate)(np.vstack([ROWS.T, ROWS.T]), 3, axis=0),
    *each(
        lambda do, **o: [do(signal.welch)(ROWS, nperseg=16, **o), do(signal.csd)(ROWS, OTHER, nperseg=15, **o)],
        {},
        {"fs": 3.0, "window": "boxcar"},
        {"noverlap": 3},
        {"nfft": 33},
        {"return_onesided": False},
        {"scaling": "spectrum"},
        *by("detrend", "linear", False),
    ),
    lambda do: [
        do(signal.welch)(LONG),
        do(signal.welch)(LONG, window=np.hanning(12)),
        do(signal.welch)(ROWS.T, nperseg=12, axis=0),
        do(signal.csd)(TURNING, TURNING[::-1], nperseg=10, return_onesided=False),
    ],
    *each(
        lambda do, given, **o: do(signal.stft)(given, nperseg=6, **o),
        *[
            {"given": given, **options}
            for given in (list(LONG), [list(LONG), list(LONG**2)], LONG.view(np.matrix), list(range(9)), tuple(TURNING))
            for options in ({}, {"detrend": "linear"}, {"return_onesided": False})
        ],
    ),
    *each(
        lambda do, **o: do(signal.periodogram)(ROWS, **o),
        {},
        {"window": None},
        {"nfft": 50},
        {"detrend": False},
        {"scaling": "spectrum"},
        {"return_onesided": False},
    ),
    lambda do: do(signal.periodogram)(ROWS.T, axis=0),
    lambda do: [do(signal.coherence)(ROWS, OTHER, nperseg=8), do(signal.coherence)(ROWS.T, OTHER.T, nperseg=8, axis=0)],
    *each(
        lambda do, **o: do(signal.stft)(LONG, nperseg=9, **o),
        {},
        {"noverlap": 6, "fs": 2.0},
        {"boundary": None},
        {"padded": False},
        {"scaling": "psd"},
        {"nfft": 16},
        {"return_onesided": False},
        {"detrend": "constant"},
    ),
    *each(
        lambda do, **o: do(signal.istft)(
            signal.stft(LONG, nperseg=10, noverlap=6, **o)[2],
            noverlap=6,
            **{{"return_onesided": "input_onesided"}.get(k, k): v for k, v in o.items()},
        ),
        {},
        {"scaling": "psd"},
        {"return_onesided": False},
    ),
    lambda do: do(signal.istft)(
        signal.stft(LONG, nperseg=10, boundary=None)[2][:, 1:-1], boundary=False, fs=2.0, window="hamming"
    ),
    lambda do: do(signal.istft)(signal.stft(LONG, nperseg=10, nfft=16)[2], nperseg=10, noverlap=5, nfft=16),
    *each(
        lambda do, **o: do(signal.freqz)(B, A, **o),
        {},
        {"worN": 9},
        {"worN": 8, "whole": True},
        {"worN": 9, "include_nyquist": True},
        {"worN": np.array([0.1, 0.7]), "fs": 3.0},
        {"worN": None},
    ),
    lambda do: do(signal.freqz)(B, worN=5),
    *each(
        lambda do, **o: do(getattr(signal, "freqz_sos", None) or signal.sosfreqz)(SECTIONS, **o),
        {"worN": 9},
        {"worN": 8, "whole": True, "fs": 2.0},
        {"worN": [0.1, 0.7]},
    ),
    lambda do: [do(signal.normalize)(B, A), do(signal.normalize)(0.3, A)],
    lambda do: [do(signal.lp2hp)(b, a, wo) for b, a, wo in ((B, A, 1.0), (B[:1], A, 0.7), (B, A[:2], 1.3))],
    lambda do: [do(signal.bilinear)(b, a, fs) for b, a, fs in ((B, A, 1.0), (B[:1], A, 0.7), (B, A[:2], 1.3))],
    *each(placed, {"poles": [-1.0, -0.5, -2.0]}, {"poles": [-1.0 + 0.5j, -1.0 - 0.5j, -2.0]}),
]

# --- images -----------------------------------------------------------------------------------------------------------

FAR = np.array([-20.3, -1.5, -0.7, -0.5, 0.0, 1.2, 1.5, 2.6, 4.0, 4.3, 4.5, 5.5, 6.4, 21.2])
PAIRS = np.array([FAR, FAR[::-1] + 0.3])
LABELS = RNG.integers(0, 4, size=(5, 6))


def stored(do: Any, way: Any, **options: Any) -> Any:
    out = np.zeros(PLANE.shape)
    do(way)(PLANE, output=out, **options)
    return out


IMAGES: list[Program] = [
    *each(
        lambda do, order, mode: [
            do(ndimage.map_coordinates)(image, at, order=order, mode=mode, cval=0.3, prefilter=prefilter)
            for image, at in ((PLANE, PAIRS), (PLANE[:, 2], FAR[None]), (PLANE[:1], PAIRS), (PLANE[:2, 0], FAR[None]))
            for prefilter in (True, False)
        ],
        *[{"order": order, "mode": mode} for order in range(6) for mode in ("constant", "nearest", "mirror")],
    ),
    *each(
        lambda do, **o: [
            do(ndimage.shift)(PLANE, (0.3, -1.6), **o),
            do(ndimage.shift)(PLANE, 0.4, **o),
            do(ndimage.zoom)(PLANE, 1.7, **o),
            do(ndimage.zoom)(PLANE, (0.2, 1.3), **o),
            do(ndimage.rotate)(PLANE, 25.0, **o),
            do(ndimage.rotate)(PLANE, 130.0, reshape=False, **o),
            do(ndimage.affine_transform)(PLANE, TURN, **o),
            do(ndimage.affine_transform)(PLANE, TURN, [0.3, -0.2], (4, 3), **o),
            do(ndimage.affine_transform)(PLANE, [0.8, 1.1], 0.3, **o),
            do(ndimage.affine_transform)(PLANE, np.column_stack([TURN, [0.4, 0.1]]), **o),
        ],
        {},
        {"order": 1},
        {"order": 2, "mode": "nearest"},
        {"order": 5, "mode": "mirror", "prefilter": False},
        {"order": 0, "cval": 0.4, "mode": "constant"},
    ),
    *each(
        lambda do, order, mode: [
            do(ndimage.spline_filter)(PLANE, order, mode=mode),
            do(ndimage.spline_filter1d)(PLANE, order, 0, mode=mode),
            do(ndimage.spline_filter1d)(PLANE[:, :1], order, mode=mode),
        ],
        *[{"order": order, "mode": mode} for order in range(2, 6) for mode in ("mirror", "reflect", "grid-wrap")],
    ),
    lambda do: [
        do(ndimage.spline_filter1d)(PLANE, 1),
        stored(do, ndimage.spline_filter),
        stored(do, ndimage.spline_filter1d, axis=0),
    ],
    *each(
        lambda do, mode: [
            do(ndimage.correlate1d)(PLANE, [0.3, 0.5, -1.0], 0, mode=mode, cval=0.2, origin=1),
            do(ndimage.convolve1d)(PLANE, [0.3, 0.5], mode=mode, cval=0.2, origin=-1),
            do(ndimage.sobel)(PLANE, 0, mode=mode, cval=0.2),
            do(ndimage.prewitt)(PLANE, mode=mode),
            do(ndimage.laplace)(PLANE, mode=mode),
            do(ndimage.uniform_filter)(PLANE, 3, mode=mode, origin=(1, -1)),
            do(ndimage.uniform_filter1d)(PLANE, 4, 0, mode=mode, origin=1),
            do(ndimage.gaussian_laplace)(PLANE, 0.7, mode=mode),
            do(ndimage.gaussian_gradient_magnitude)(PLANE, (0.7, 0.5), mode=mode, truncate=3.0),
        ],
        *by("mode", "reflect", "mirror", "nearest", "wrap", "constant", "grid-wrap", "grid-mirror", "grid-constant"),
    ),
    *each(
        lambda do, **o: do(ndimage.gaussian_filter)(PLANE, (0.7, 0.5), **o),
        {},
        *by("order", 1, 2, 3, 4, (1, 0)),
        {"radius": 2},
        {"radius": (1, 3)},
        {"mode": ("wrap", "mirror")},
        {"truncate": 2.0},
    ),
    lambda do: [
        do(ndimage.gaussian_filter)(PLANE, 0.6, axes=1),
        do(ndimage.gaussian_laplace)(PLANE, 0.6, axes=(1,)),
        do(ndimage.laplace)(PLANE, axes=(-1,)),
        do(ndimage.uniform_filter)(PLANE, 2, axes=(0,)),
    ],
    *each(
        lambda do, size, footprint, origin: [
            do(getattr(ndimage, name))(PLANE, size=size, footprint=footprint, mode=mode, cval=0.3, origin=origin)
            for name in (
                "maximum_filter",
                "minimum_filter",
                "median_filter",
                "grey_erosion",
                "grey_dilation",
                "grey_opening",
                "grey_closing",
                "morphological_gradient",
                "white_tophat",
                "black_tophat",
            )
            for mode in ("reflect", "mirror", "nearest", "wrap", "constant")
        ],
        {"size": 3, "footprint": None, "origin": 0},
        {"size": (2, 3), "footprint": None, "origin": (-1, 1)},
        {"size": None, "footprint": [[1, 0, 1], [0, 1, 1]], "origin": 0},
    ),
    lambda do: [do(ndimage.rank_filter)(PLANE, rank, 3) for rank in (0, 4, -1, -2)],
    lambda do: [do(ndimage.percentile_filter)(PLANE, share, 3) for share in (0, 30, 55.0, 100, -20)],
    lambda do: [
        do(way)(PLANE, size, axis, origin=origin)
        for way in (ndimage.maximum_filter1d, ndimage.minimum_filter1d)
        for size, axis, origin in ((3, -1, 0), (3, 0, 1), (4, 1, -1))
    ],
    lambda do: [
        do(signal.medfilt)(PLANE),
        do(signal.medfilt)(LONG, 5),
        do(signal.medfilt2d)(PLANE),
        do(signal.medfilt2d)(PLANE, (1, 3)),
        do(signal.order_filter)(PLANE, np.ones((3, 3)), 2),
    ],
    *each(
        lambda do, labels, index: [
            do(way)(PLANE, labels, index)
            for way in (ndimage.sum_labels, ndimage.sum, ndimage.mean, ndimage.variance, ndimage.standard_deviation)
        ],
        {"labels": None, "index": None},
        {"labels": LABELS, "index": None},
        {"labels": LABELS, "index": 2},
        {"labels": LABELS, "index": [3, 1]},
        {"labels": LABELS[0], "index": [0, 2]},
    ),
]
TURN = np.array([[0.9, 0.3], [-0.2, 1.1]])

# --- rotations --------------------------------------------------------------------------------------------------------

TIMES = np.array([0.0, 0.4, 1.1, 1.5, 2.2])
FEW = np.array([0.0, 0.4, 0.7, 1.5, 2.1, 2.2])
TURNS = Rotation.from_rotvec(RNG.normal(size=(5, 3)))
NEAR = Rotation.from_rotvec(1e-4 * RNG.normal(size=(5, 3)))


def turned(do: Any, turns: Any, orders: tuple[int, ...] = (0, 1, 2)) -> Any:
    made = do(RotationSpline)(TIMES[: len(turns)], turns)
    at = FEW[FEW <= TIMES[len(turns) - 1]]
    return [
        made.rotations,
        made.times,
        made.interpolator(at),
        *[made(at, order) for order in orders],
        *[made(0.3, order) for order in orders],
    ]


def between(do: Any, turns: Any) -> Any:
    made = do(Slerp)(TIMES, turns)
    return [made.rotations, made.times, made.timedelta, made(FEW), made(0.4), made([0.4])]


ROTATIONS: list[Program] = [
    *each(turned, *by("turns", TURNS, NEAR, TURNS[:2], TURNS[:3])),
    *each(between, *by("turns", TURNS, NEAR)),
    lambda do: do(Slerp.__call__)(Slerp(TIMES, TURNS), FEW),
    *each(
        lambda do, order: [
            do(RotationSpline.__call__)(made, FEW, order)
            for made in (RotationSpline(TIMES, TURNS), RotationSpline(TIMES, NEAR))
        ],
        *by("order", 0, 1, 2),
    ),
]

# --- integrals --------------------------------------------------------------------------------------------------------

GAUSSIAN = lambda x, a=1.0: np.exp(-a * x * x) * (1.0 + 0.3 * x)
SMOOTH = lambda x, a=0.4: np.cos(x) + a * x
RUGGED = lambda x: np.abs(x - 0.3)

INTEGRALS: list[Program] = [
    *each(
        lambda do, a, b: [
            do(integrate.quad)(GAUSSIAN, a, b)[0],
            do(integrate.quad)(GAUSSIAN, a, b, (0.7,))[0],
            do(integrate.quad)(GAUSSIAN, a, b, 0.7)[0],
        ],
        *[
            {"a": a, "b": b}
            for a, b in (
                (0.0, 1.5),
                (1.5, 0.2),
                (0.3, np.inf),
                (np.inf, 0.3),
                (-np.inf, 0.4),
                (0.4, -np.inf),
                (-np.inf, np.inf),
                (np.inf, -np.inf),
            )
        ],
    ),
    lambda do: [
        do(integrate.quad)(RUGGED, a, b, points=points)[0]
        for a, b, points in ((0.0, 1.0, [0.3]), (1.0, -1.0, [0.5, 0.3]), (0.0, 2.0, [0.3, 1.0, 5.0]))
    ],
    lambda do: do(integrate.quad)(lambda x: np.sin(30.0 * x) ** 2, 0.0, 3.0)[0],
    *each(
        lambda do, **o: [do(integrate.quad)(SMOOTH, a, b, **o)[0] for a, b in ((0.2, 1.5), (1.5, 0.2))],
        {"weight": "cos", "wvar": 3.0},
        {"weight": "sin", "wvar": 3.0, "args": (0.6,)},
        {"weight": "cauchy", "wvar": 0.7, "args": (0.6,)},
    ),
    lambda do: [do(integrate.quad)(SMOOTH, 0.2, 1.5, weight="cauchy", wvar=wvar)[0] for wvar in (-0.4, 1.9)],
    lambda do: [
        do(integrate.dblquad)(lambda y, x, a: a * x * np.exp(-x * y), 0.2, 1.5, low, high, (0.6,))[0]
        for low, high in ((0.1, 0.9), (lambda x: x, lambda x: 2.0 * x + 0.1))
    ],
    lambda do: do(integrate.quad)(SMOOTH, 0.2, 1.5, weight="cos", wvar=40.0, maxp1=2, limit=3),
    *each(
        lambda do, **o: [
            do(integrate.quad)(GAUSSIAN, a, b, **o)
            for a, b in ((0, 0), (0, 1), (1e-300, 2e-300), (np.nan, 1.0), (0, 1e3))
        ],
        {},
        {"points": [5.0, -2.0]},
        {"limit": 1},
        {"epsabs": 0},
        {"epsrel": 0},
        {"epsabs": 0.1, "epsrel": 0.1},
    ),
    *each(
        lambda do, **o: [
            do(integrate.quad_vec)(f, a, b, **o)[0]
            for f in (GAUSSIAN, lambda x: GAUSSIAN(x) * np.exp(1j * x * np.arange(2.0)))
            for a, b in ((0.0, 1.5), (1.5, 0.2), (0.3, np.inf), (np.inf, 0.3), (-np.inf, 0.4), (2, 2))
        ],
        {},
        {"norm": "max", "quadrature": "gk15"},
        {"points": [0.3, 7.0], "epsrel": 1e-3},
        {"limit": 1},
    ),
    lambda do: do(integrate.nquad)(SMOOTH, [(0.2, 1.5)])[0],
    lambda do: do(integrate.nquad)(SMOOTH, [lambda a: (0.2, a)], args=(0.7,))[0],
    *each(
        lambda do, ranges: do(integrate.nquad)(lambda x, y, a: np.cos(x * y) + a * x, ranges, args=(0.7,))[0],
        *by("ranges", [(0.1, 0.8), (0.2, 1.1)], [lambda y, a: (0.1 * y, a + y), (0.2, 1.1)]),
    ),
    *each(
        lambda do, ranges: do(integrate.nquad)(lambda x, y, z: x * y + np.cos(z), ranges)[0],
        *by("ranges", [lambda y, z: (0.1 * y, 1.0 + z), lambda z: (0.2, 1.0 + z), (0.3, 0.5)]),
    ),
    lambda do: do(integrate.tplquad)(
        lambda z, y, x: x * y + z * z, 0.2, 1.5, 0.1, lambda x: 1.0 + x, lambda x, y: x * y, 2.0
    )[0],
    *each(
        lambda do, **o: [
            do(integrate.quad_vec)(f, 0.2, 1.5, **o)[0]
            for f in (lambda x, a=1.0: np.array([np.cos(x), a * x]), lambda x, a=1.0: np.sqrt(x) * a)
        ],
        {},
        {"args": (0.3,)},
    ),
    *each(
        lambda do, count: [
            *[
                do(way)(y, **o)
                for way in (integrate.simpson, integrate.cumulative_simpson)
                for y, o in (
                    (PLANE[0, :count], {}),
                    (PLANE[:2, :count], {"dx": 0.3}),
                    (PLANE[:2, :count], {"x": TIMES6[:count]}),
                    (PLANE[:2, :count].T, {"x": TIMES6[:count], "axis": 0}),
                    (PLANE[:2, :count], {"x": np.cumsum(np.abs(PLANE[:2, :count]) + 0.1, axis=1)}),
                )
            ]
        ],
        *by("count", 2, 3, 4, 5, 6),
    ),
    lambda do: [
        do(integrate.cumulative_simpson)(PLANE, initial=0.3),
        do(integrate.cumulative_simpson)(PLANE[:, :2], initial=0.0),
        do(integrate.cumulative_trapezoid)(PLANE, initial=0),
        do(integrate.cumulative_trapezoid)(PLANE, TIMES[:5], axis=0),
        do(integrate.cumulative_trapezoid)(PLANE, dx=0.4),
    ],
]
TIMES6 = np.array([0.0, 0.4, 1.1, 1.5, 2.2, 2.4])

# --- polynomials ------------------------------------------------------------------------------------------------------

P, Q = np.array([2.0, -1.0, 0.5, 3.0]), np.array([0.7, 1.2, -0.4])


def polynomials(do: Any) -> Any:
    p, q, roots = do(np.poly1d)(P), do(np.poly1d)(Q, variable="z"), do(np.poly1d)(Q, True)
    made = [
        p + q,
        p - q,
        p * q,
        p + 2.0,
        2.0 + p,
        2.0 - p,
        p - 2.0,
        3.0 * p,
        p * 3.0,
        p / 2.0,
        -p,
        +p,
        p**3,
        p**0,
        p(q),
        *(p / q),
        p.deriv(),
        p.deriv(2),
        p.integ(),
        p.integ(2, [0.3, 0.4]),
        p + Q,
        list(Q) - p,
        p * Q,
        list(Q) * p,
        list(Q) + p,
        p - Q,
        do(np.poly1d)(p),
        do(np.poly1d)(q, variable="y"),
        roots,
        do(np.poly1d)(2.0),
    ]
    return [
        *[[one.coeffs, one.variable] for one in made[-4:]],
        *[np.asarray(one) for one in made[:-4]],
        p(0.3),
        p(np.array([0.2, 1.0])),
        p.c,
        p.coef,
        p.coefficients,
        p.order,
        p.o,
        len(p),
        list(p),
        [p[k] for k in range(-1, 6)],
        np.sort_complex(p.roots),
        np.sort_complex(q.r),
    ]


POLYNOMIALS: list[Program] = [polynomials, lambda do: do(np.poly1d)(0.0).coeffs]

# --- sparse matrices --------------------------------------------------------------------------------------------------

DATA, AT_ROWS, AT_COLUMNS = (
    np.array([2.0, 0.5, 1.5, 0.3, 1.0, 0.7]),
    np.array([0, 0, 1, 2, 2, 0]),
    np.array([0, 2, 1, 0, 2, 0]),
)
COORDINATES = (DATA, (AT_ROWS, AT_COLUMNS))
DENSE = np.array([[2.7, 0.0, 0.5], [0.0, 1.5, 0.0], [0.3, 0.0, 1.0]])
RIGHT, RIGHTS = np.array([0.3, -1.0, 0.8]), RNG.normal(size=(3, 2))
LOWER = np.array([[2.0, 0.0, 0.0], [0.5, 1.5, 0.0], [0.0, 0.3, 1.0]])
FORMS = ("csr", "csc", "coo")
CLASSES = [f"{form}_{kind}" for form in FORMS for kind in ("array", "matrix")]


def parts(K: Any) -> list[Any]:
    """What a matrix is, and what is asked of it and made of it."""
    is_array = isinstance(K, sparse.sparray) or getattr(K, "array", False)
    found = [
        K,
        K.T,
        K.transpose(),
        K.tocsr(),
        K.tocsc(),
        K.tocoo(),
        K.asformat("csr"),
        K.copy(),
        K.conj(),
        K.toarray(),
        K.shape,
        K.ndim,
        K.sum(),
        K.mean(),
        K.diagonal(),
        K.diagonal(1),
        K.diagonal(-2),
        K.trace(),
        K.trace(1),
        -K,
        K @ RIGHT[: K.shape[1]],
        K.dot(RIGHT[: K.shape[1]]),
        K @ RIGHTS[: K.shape[1]],
        K.dot(2.0),
        K.multiply(0.5),
        K * 2.0,
        2.0 * K,
        K / 4.0,
        K.copy().power(2),
        K @ list(RIGHT[: K.shape[1]]),
    ]
    if is_array:
        found += [K.sum(0), K.sum(-2), K.sum(axis=1), K.mean(0), K.mean(1), K.mean(axis=-2), K.todense()]
        found += [
            K + np.ones(K.shape),
            np.ones(K.shape) + K,
            K - np.ones(K.shape),
            np.ones(K.shape) - K,
            RIGHT[: K.shape[0]] @ K,
            RIGHTS[: K.shape[0]].T @ K,
        ]
    return found


def together(K: Any, M: Any) -> list[Any]:
    """What two matrices are together, of which a model has made the first. SciPy sums its items at one place itself."""
    return [
        K @ M,
        K.T @ M,
        K + M,
        K - M,
        K.dot(M),
        K.copy().multiply(M),
        K.multiply(np.arange(3.0)),
        K.multiply(RIGHTS[:, :1]),
    ]


def selected(K: Any) -> list[Any]:
    whole = [
        K[:2],
        K[::-1],
        K[:, [0, 2]],
        K[[2, 0, 2]],
        K[1:, 1:],
        K[np.ix_([0, 2], [2, 0])],
        K[:, -2:],
        K[0, 2],
        K[-1, -1],
        K[1, 0],
    ]
    return whole if isinstance(K, sparse.sparray) or getattr(K, "array", False) else [*whole, K[1], K[:, 2], K[-1]]


def operators(do: Any, K: Any) -> list[Any]:
    """The methods of constant matrices, each by its function."""
    of = type(K)
    return [
        do(of.transpose)(K),
        do(of.tocsr)(K),
        do(of.tocsc)(K),
        do(of.tocoo)(K),
        do(of.multiply)(K, 2.0),
        do(of.multiply)(K, DENSE),
        do(of.__add__)(K, K),
        do(of.__sub__)(K, 2.0 * K),
        do(of.__truediv__)(K, 2.0),
        do(of.__mul__)(K, 3.0),
        do(of.__rmul__)(K, 3.0),
        do(of.__matmul__)(K, RIGHT),
        do(of.__rmatmul__)(K, RIGHT),
        do(of.dot)(K, RIGHTS),
        do(of.dot)(K, 2.0),
        do(of._matmul_dispatch)(K, RIGHT),
        do(of._rmatmul_dispatch)(K, list(RIGHT)),
    ]


def with_made(do: Any, K: Any) -> list[Any]:
    """The operators of constant matrices with one that a model has made."""
    of, made = type(K), do(sparse.csr_array)(COORDINATES)
    return [
        do(of._matmul_dispatch)(K, made),
        do(of.dot)(K, made),
        do(of.multiply)(K, made),
        do(of.__add__)(K, made),
        do(of.__sub__)(K, 2.0 * made),
        do(of.__matmul__)(K, made),
    ]


def put_together(do: Any) -> list[Any]:
    K, M = do(sparse.csr_array)(COORDINATES), sparse.csc_array(DENSE)
    return [
        do(sparse.hstack)([K, M]),
        do(sparse.vstack)([K, M]),
        do(sparse.vstack)([K, M], "csc"),
        do(sparse.bmat)([[K, M], [M, K]]),
        do(sparse.block_array)([[K], [K]], format="csr"),
        do(sparse.vstack)([do(sparse.csr_matrix)(WIDER), do(sparse.coo_matrix)(WIDER)]),
        do(sparse.block_diag)((K, do(sparse.csr_array)(WIDER), M)),
        do(sparse.block_diag)([M, K, M], format="csr"),
        do(sparse.vstack)([do(sparse.csr_array)(WIDER), M, M[:2]]),
        do(sparse.hstack)([do(sparse.csr_matrix)(WIDER.T), M.T, M]),
        do(sparse.kron)(K, M),
        do(sparse.kron)(M, K, "csr"),
    ]


def by_diagonals(do: Any) -> list[Any]:
    three = [RIGHT[:2], RIGHT, 2.0 * RIGHT[:2]]
    return [
        do(sparse.diags_array)(three, offsets=[-1, 0, 1]),
        do(sparse.diags)(three, [-1, 0, 1], format="csr"),
        do(sparse.diags)(RIGHT),
        do(sparse.diags)(RIGHT, 1),
        do(sparse.diags)([1.0, -2.0], [0, 2], (4, 5)),
        do(sparse.diags_array)(RIGHT, offsets=-1),
        do(sparse.diags)([0.4], -2, (4, 3)),
        do(sparse.spdiags)(np.array([RIGHT, 2.0 * RIGHT]), [0, 1], 3, 3),
        do(sparse.spdiags)(np.array([RIGHT, RIGHT]), np.array([0, -1]), (4, 3), format="csr"),
        do(sparse.dia_array)((np.array([RIGHT, 3.0 * RIGHT]), [0, -1]), shape=(4, 3)),
        do(sparse.dia_matrix)((RIGHT, 1), shape=(3, 4)),
        do(sparse.eye)(3),
        do(sparse.eye)(3, 4, 1, format="csr"),
        do(sparse.eye)(4, 2, -1),
        do(sparse.eye_array)(3, k=-1),
        do(sparse.identity)(3, format="csc"),
        do(sparse.bsr_array)((np.arange(1.0, 13.0).reshape(3, 2, 2), [0, 1, 1], [0, 2, 3]), shape=(4, 4)),
        do(sparse.bsr_matrix)((np.arange(1.0, 9.0).reshape(2, 2, 2), [1, 0], [0, 1, 2])),
    ]


def compressed(do: Any) -> list[Any]:
    items, indices, starts = np.arange(1.0, 6.0), [0, 2, 1, 0, 3], [0, 2, 3, 5]
    made = [
        do(sparse.csr_array)((items, indices, starts)),
        do(sparse.csc_array)((items, indices, starts)),
        do(sparse.csr_matrix)((items, indices, starts), shape=(3, 6)),
        do(sparse.csc_matrix)((items, np.array(indices), np.array(starts)), shape=(5, 3)),
    ]
    return made


WIDER = np.array([[0.0, 2.0, 0.5], [1.5, 0.0, 0.0]])
SOLVERS = ("cg", "bicgstab", "gmres", "minres")


def solved(do: Any, matrix: Any) -> list[Any]:
    K = do(sparse.csc_array)(matrix)
    factors = do(linalg.splu)(K)
    return [
        do(linalg.spsolve)(K, RIGHT),
        do(linalg.spsolve)(K, RIGHTS),
        do(linalg.spsolve)(K, RIGHT[:, None]),
        *[factors.solve(RIGHT, trans) for trans in ("N", "T", "H")],
        factors.solve(RIGHTS),
        factors.shape,
        do(linalg.factorized)(K)(RIGHT),
        do(linalg.norm)(K),
        do(linalg.norm)(K, "fro"),
    ]


def iterated(do: Any, name: str, matrix: Any) -> Any:
    return do(getattr(linalg, name))(matrix, RIGHT, rtol=1e-12)


SPD = np.array(
    [
        [2.0, 0.3, 0.1, 0.0, 0.2],
        [0.3, 1.5, 0.4, 0.1, 0.0],
        [0.1, 0.4, 3.0, 0.2, 0.1],
        [0.0, 0.1, 0.2, 1.1, 0.6],
        [0.2, 0.0, 0.1, 0.6, 2.4],
    ]
)
TALL = np.arange(15.0).reshape(5, 3) % 7 + np.eye(5, 3)
START = np.ones(5)


def spectra(do: Any, **options: Any) -> Any:
    w, v = do(linalg.eigsh)(SPD, 2, v0=START, **options)
    return [w, v * np.sign(v[:1]), do(linalg.eigsh)(SPD, 2, v0=START, return_eigenvectors=False, **options)]


def general_spectra(do: Any, matrix: Any) -> Any:
    w, v = do(linalg.eigs)(matrix, 2, v0=START)
    return [w, np.abs(v), do(linalg.eigs)(matrix, 2, v0=START, return_eigenvectors=False)]


def singular(do: Any, **options: Any) -> Any:
    u, s, vh = do(linalg.svds)(TALL, 2, v0=START[:3], **options)
    return [s, u @ np.diag(s) @ vh, do(linalg.svds)(TALL, 2, v0=START[:3], return_singular_vectors=False, **options)]


def exponentials(do: Any) -> Any:
    way = do(linalg.expm_multiply)
    return [
        way(SPD, START),
        way(sparse.csr_array(SPD), TALL),
        way(SPD, START, 0.2, 1.1, 4),
        way(SPD, START, start=0.2, stop=1.1, num=3, endpoint=False),
        way(SPD, START, 0.2, 1.1, 3, True),
    ]


MADE_OF = (COORDINATES, DENSE, sparse.csc_matrix(DENSE), sparse.coo_array(DENSE[:2]))
SPARSE: list[Program] = [
    *each(
        lambda do, name, of: parts(do(getattr(sparse, name))(of)),
        *[{"name": name, "of": of} for name in CLASSES for of in MADE_OF],
    ),
    *each(
        lambda do, name: together(do(getattr(sparse, name))(COORDINATES), sparse.csr_array(2.0 * DENSE)),
        *by("name", *(name for name in CLASSES if name.endswith("array"))),
    ),
    *each(lambda do, name: selected(do(getattr(sparse, name))(COORDINATES)), *by("name", *CLASSES[:4])),
    lambda do: do(sparse.coo_array)((DATA, (AT_ROWS, AT_COLUMNS)), shape=(4, 5)),
    *each(operators, *by("K", *(getattr(sparse, f"{form}_array")(DENSE) for form in (*FORMS, "bsr")))),
    *each(with_made, *by("K", sparse.csr_array(3.0 * DENSE), sparse.csc_array(3.0 * DENSE))),
    put_together,
    by_diagonals,
    compressed,
    lambda do: [do(sparse.issparse)(K) for K in (SPD, sparse.csr_array(SPD))],
    *each(solved, *by("matrix", COORDINATES, DENSE)),
    lambda do: do(linalg.spsolve_triangular)(sparse.csr_array(LOWER), RIGHT),
    *each(
        iterated,
        *[
            {"name": name, "matrix": matrix}
            for name in SOLVERS
            for matrix in (SPD[:3, :3], sparse.csr_array(SPD[:3, :3]))
        ],
    ),
    *each(spectra, {}, {"which": "SA"}, {"M": np.diag([1.0, 2.0, 1.0, 0.5, 1.0])}, {"sigma": 1.2}),
    *each(general_spectra, *by("matrix", SPD, np.triu(SPD) - np.tril(SPD, -1) * 3.0)),
    *each(singular, {}, {"which": "SM"}),
    exponentials,
]

PROGRAMS = {
    "signals": SIGNALS,
    "images": IMAGES,
    "rotations": ROTATIONS,
    "integrals": INTEGRALS,
    "polynomials": POLYNOMIALS,
    "sparse": SPARSE,
}
