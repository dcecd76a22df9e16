"""What ``scipy.integrate`` computes: SciPy's integrals of functions, differentiated by integrals of the derivatives,
and of values.

SciPy runs first, and says how it has divided the range, in proportion to which the pieces are taken for constant. The
values are SciPy's; the derivatives are integrated on the same pieces to a tolerance of their own, see ``quadrature``.
Integrals over several variables are integrals of integrals, as they are in SciPy.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import integrate

from s2s import runtime as rt
from s2s.models.quadrature import Pieces, integrated
from s2s.models.solutions import for_value

__all__ = ["cumulative_trapezoid", "nquad", "quad", "quad_vec", "simpson", "tplquad"]

PLAIN = "it has a rule without full_output and complex_func"
ALONE = "it has a rule without opts and full_output"
PLAINLY = "it has a rule without full_output"
OF_WEIGHTS = "of the weights it has rules for 'cos', 'sin' and 'cauchy', between finite ends"


# --- what SciPy finds: constants --------------------------------------------------------------------------------------


def way_of(a: Any, b: Any) -> str:
    """How an integral over a range is one over [0, 1], see ``quadrature.Pieces``."""
    if np.isinf(a) and np.isinf(b):
        return "both"
    return "up" if max(a, b) == np.inf else "down" if min(a, b) == -np.inf else ""


def places_in(points: Any, a: Any, b: Any) -> tuple[float, ...]:
    """Points inside of a finite range, in parts of it."""
    parts = [] if points is None or a == b else [(float(x) - a) / (b - a) for x in points]
    return tuple(sorted({x for x in parts if 0.0 < x < 1.0}))


def found_by_quad(func: Any, a: Any, b: Any, args: Any, base: Any, span: Any, options: Any) -> Any:
    """The integral that SciPy finds, its error, and its pieces, in parts of the range."""
    seen: list[tuple[float, Any]] = []
    value, error, info, *problem = integrate.quad(noting(func, seen), a, b, args, 1, **options)
    if problem:
        warnings.warn(str(problem[0]), integrate.IntegrationWarning, stacklevel=2)
    way, points = way_of(a, b), places_in(options["points"], a, b)
    ends = (0.0, *points, 1.0)
    if "last" in info:
        lows, values = (info[name][: info["last"]] for name in ("alist", "rlist"))
        between = sorted(lows.tolist())[1:]
        if abs(abs(sum(values)) - abs(value)) <= error + 1e-12 * abs(value):  # else it has extrapolated
            points = tuple(between) if way else places_in(between, a, b)
        ends = (0.0, *(between if way else places_in(between, a, b)), 1.0)
    limit = max(options["limit"], 2 * len(ends) + 50)
    tolerance = options["epsrel"] or TOLERANCE
    return value, error, Pieces(
        way, ends, points, tolerance, limit, integrate.quad, value, seen, base, span)


def found_by_quad_vec(f: Any, a: Any, b: Any, args: Any, base: Any, span: Any, options: Any) -> Any:
    """As ``found_by_quad``, for a function with values of any shape."""
    seen: list[tuple[float, Any]] = []
    value, error, info = integrate.quad_vec(noting(f, seen), a, b, full_output=True, args=args, **options)
    way = way_of(a, b)
    ends = np.unique(np.abs(info.intervals))
    points = tuple(ends[1:-1].tolist()) if way else places_in(ends, a, b)
    limit = 2 * len(points) + 100
    tolerance = options["epsrel"] or TOLERANCE
    return value, error, Pieces(
        way, (0.0, *points, 1.0), points, tolerance, limit, integrate.quad, value, seen, base, span)


def noting(f: Any, seen: list[tuple[float, Any]]) -> Any:
    """A function that keeps where it is asked, and what it gives."""

    def noted(x: Any, *args: Any) -> Any:
        y = f(x, *args)
        seen.append((x, y))
        return y

    return noted


TOLERANCE = 1.49e-8


def difference(value: Any, total: Any) -> Any:
    """A constant."""
    return value - total


def filled(like: Any, values: Any) -> Any:
    """An array of a known kind, with the values of one of which the compiler knows nothing."""
    made = np.zeros_like(like)
    made[...] = values
    return np.copy(made)


# --- integrals of functions -------------------------------------------------------------------------------------------


def base_and_span(a: Any, b: Any) -> Any:
    """What places are told from, in parts of what, and a factor of the integral: of an infinite range parts are of
    length one."""
    low, high = a if np.isfinite(a) else 0.0, b if np.isfinite(b) else 0.0
    is_finite = float(np.isfinite(a) and np.isfinite(b))
    sign = (1.0 - is_finite) * (1.0 if a < b else -1.0)
    span = is_finite * (high - low)
    return low + float(np.isinf(a)) * high, span + abs(sign), span + sign


def quad(
    func: Any, a: Any, b: Any, args: Any = (), full_output: Any = 0, epsabs: Any = 1.49e-8, epsrel: Any = 1.49e-8,
    limit: Any = 50, points: Any = None, weight: Any = None, wvar: Any = None, wopts: Any = None, maxp1: Any = 50,
    limlst: Any = 50, complex_func: Any = False,
) -> Any:
    if full_output or complex_func:
        return rt.no_derivative("scipy.integrate.quad", PLAIN)
    if not isinstance(args, tuple):
        args = (args,)
    if weight is not None:
        more = {"limit": limit, "wopts": wopts, "maxp1": maxp1, "limlst": limlst}
        return weighted_quad(func, a, b, args, weight, wvar, epsabs, epsrel, more)
    options = {"epsabs": epsabs, "epsrel": epsrel, "limit": limit, "points": points}
    base, span, factor = map(float, base_and_span(a, b))
    value, error, pieces = for_value(found_by_quad, func, a, b, args, base, span, options)
    return integrated(lambda u: factor * float(func(base + span * u, *args)), pieces, float(value)), float(error)


def weighted_quad(
    func: Any, a: Any, b: Any, args: Any, weight: Any, wvar: Any, epsabs: Any, epsrel: Any, more: Any
) -> Any:
    """SciPy's integral of a function with a weight, differentiated as that of their product."""
    if weight not in ("cos", "sin", "cauchy") or np.isinf(a) or np.isinf(b):
        return rt.no_derivative("scipy.integrate.quad", OF_WEIGHTS)
    value, error = for_value(integrate.quad, func, a, b, args, 0, epsabs, epsrel, weight=weight, wvar=wvar, **more)
    total = product_quad(func, a, b, args, weight, wvar, epsabs, epsrel)
    return total + float(difference(value, total)), float(error)


def product_quad(
    func: Any, a: Any, b: Any, args: Any, weight: Any, wvar: Any, epsabs: Any, epsrel: Any
) -> Any:
    """The integral of a function and a weight; that of 'cauchy' with its pole inside by what lies on both sides of the
    pole at the same distance, and the rest."""
    by_product = lambda product, a, b: integrate.quad(product, a, b, args, epsabs=epsabs, epsrel=epsrel)[0]
    if weight in ("cos", "sin"):
        wave = np.cos if weight == "cos" else np.sin
        return by_product(lambda x, *more: func(x, *more) * wave(wvar * x), a, b)
    over_distance = lambda x, *more: func(x, *more) / (x - wvar)
    if wvar < min(a, b) or wvar > max(a, b):
        return by_product(over_distance, a, b)
    near = min(abs(wvar - a), abs(b - wvar)) * (1.0 if a < b else -1.0)
    both = by_product(lambda t, *more: (func(wvar + near * t, *more) - func(wvar - near * t, *more)) / t, 0.0, 1.0)
    return both + by_product(over_distance, a, wvar - near) + by_product(over_distance, wvar + near, b)


def limit_at(limit: Any, *at: Any) -> Any:
    return limit(*at) if callable(limit) else limit


def dblquad(
    func: Any, a: Any, b: Any, gfun: Any, hfun: Any, args: Any = (), epsabs: Any = 1.49e-8, epsrel: Any = 1.49e-8
) -> Any:
    def line(x: Any) -> Any:
        low, high = limit_at(gfun, x), limit_at(hfun, x)
        return integrate.quad(func, low, high, (x, *args), epsabs=epsabs, epsrel=epsrel)[0]

    return integrate.quad(line, a, b, epsabs=epsabs, epsrel=epsrel)


def tplquad(
    func: Any, a: Any, b: Any, gfun: Any, hfun: Any, qfun: Any, rfun: Any, args: Any = (), epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
) -> Any:
    def line(y: Any, x: Any) -> Any:
        low, high = limit_at(qfun, x, y), limit_at(rfun, x, y)
        return integrate.quad(func, low, high, (y, x, *args), epsabs=epsabs, epsrel=epsrel)[0]

    return integrate.dblquad(line, a, b, gfun, hfun, epsabs=epsabs, epsrel=epsrel)


def nquad(func: Any, ranges: Any, args: Any = None, opts: Any = None, full_output: Any = False) -> Any:
    """An integral over several variables, of which the last range is that of the outermost integral."""
    if opts is not None or full_output:
        return rt.no_derivative("scipy.integrate.nquad", ALONE)
    given = () if args is None else args if isinstance(args, tuple) else (args,)
    low, high = ranges[-1](*given) if callable(ranges[-1]) else ranges[-1]
    if len(ranges) == 1:
        return integrate.quad(func, low, high, given)
    return integrate.quad(lambda x, *more: integrate.nquad(func, ranges[:-1], (x, *more))[0], low, high, given)


def quad_vec(
    f: Any, a: Any, b: Any, epsabs: Any = 1e-200, epsrel: Any = 1e-8, norm: Any = "2", cache_size: Any = 100e6,
    limit: Any = 10000, workers: Any = 1, points: Any = None, quadrature: Any = None, full_output: Any = False, *,
    args: Any = (),
) -> Any:
    if full_output:
        return rt.no_derivative("scipy.integrate.quad_vec", PLAINLY)
    options = {"epsabs": epsabs, "epsrel": epsrel, "norm": norm, "limit": limit, "points": points,
               "quadrature": quadrature}
    base, span, factor = map(float, base_and_span(a, b))
    value, error, pieces = for_value(found_by_quad_vec, f, a, b, args, base, span, options)
    found = filled(f(base + 0.5 * span, *args), value)
    return integrated(lambda u: factor * f(base + span * u, *args), pieces, found), float(error)


# --- of values --------------------------------------------------------------------------------------------------------


def steps_of(x: Any, dx: Any, axis: Any, shape: Any) -> Any:
    """The distances of values, with the axis of the values last."""
    if x is None:
        return dx * np.ones(shape[-1] - 1)
    x = np.asarray(x)
    return np.diff(x) if np.ndim(x) == 1 else np.diff(np.moveaxis(x, axis, -1), axis=-1)


def cumulative_trapezoid(
    y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1, initial: Any = None
) -> Any:
    y = np.moveaxis(np.asarray(y), axis, -1)
    sums = np.cumsum(0.5 * steps_of(x, dx, axis, np.shape(y)) * (y[..., 1:] + y[..., :-1]), axis=-1)
    if initial is not None:
        sums = np.concatenate([np.full((*np.shape(y)[:-1], 1), initial), sums], axis=-1)
    return np.moveaxis(sums, -1, axis)


def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: Any = -1) -> Any:
    """Parabolas through three values each; where their number is even, one of them for the last step."""
    y = np.moveaxis(np.asarray(y), axis, -1)
    count, steps = np.shape(y)[-1], steps_of(x, dx, axis, np.shape(y))
    if count == 2:
        return 0.5 * np.sum(steps * (y[..., 1:] + y[..., :-1]), axis=-1)
    last = count - 1 if count % 2 else count - 2
    if x is None:  # equal steps, which may be of length 0
        first, middle, end = y[..., 0 : last - 1 : 2], y[..., 1:last:2], y[..., 2 : last + 1 : 2]
        total = np.sum(steps[..., 0:last:2] / 3.0 * (first + 4.0 * middle + end), axis=-1)
        if count % 2 == 0:
            total = total + steps[..., -1] / 12.0 * (5.0 * y[..., -1] + 8.0 * y[..., -2] - y[..., -3])
        return total
    h0, h1 = steps[..., 0:last:2], steps[..., 1:last:2]
    both = h0 + h1
    parts = both / 6.0 * (
        y[..., 0 : last - 1 : 2] * (2.0 - h1 / h0) + y[..., 1:last:2] * (both * both / (h0 * h1))
        + y[..., 2 : last + 1 : 2] * (2.0 - h0 / h1))
    total = np.sum(parts, axis=-1)
    if count % 2 == 0:
        h0, h1 = steps[..., -2], steps[..., -1]
        total = total + (
            y[..., -1] * (2.0 * h1 * h1 + 3.0 * h0 * h1) / (6.0 * (h0 + h1))
            + y[..., -2] * (h1 * h1 + 3.0 * h0 * h1) / (6.0 * h0)
            - y[..., -3] * h1 * h1 * h1 / (6.0 * h0 * (h0 + h1)))
    return total


def first_steps(y: Any, h: Any) -> Any:
    """The integrals over the first of every two steps, of the parabola through the three values."""
    share = h[..., :-1] / (h[..., :-1] + h[..., 1:])
    bend = share * h[..., :-1] / h[..., 1:]
    parts = (3.0 - share) * y[..., :-2] + (3.0 + bend + share) * y[..., 1:-1] - bend * y[..., 2:]
    return h[..., :-1] / 6.0 * parts


def cumulative_simpson(y: Any, *, x: Any = None, dx: Any = 1.0, axis: Any = -1, initial: Any = None) -> Any:
    """Each step by a parabola that begins there, or ends there, in turn."""
    if np.ndim(dx) > 0 or np.ndim(initial) > 0:
        return rt.no_derivative("scipy.integrate.cumulative_simpson", "it has a rule for dx and initial as numbers")
    y = np.moveaxis(np.asarray(y), axis, -1)
    count = np.shape(y)[-1]
    if count < 3:
        sums = np.moveaxis(cumulative_trapezoid(np.moveaxis(y, -1, axis), x, dx, axis), axis, -1)
        if initial is not None:  # added to all, where a trapezoid's rule takes it for the first alone
            sums = np.concatenate([np.zeros((*np.shape(y)[:-1], 1)), sums], axis=-1) + initial
        return np.moveaxis(sums, -1, axis)
    h = np.broadcast_to(steps_of(x, dx, axis, np.shape(y)), (*np.shape(y)[:-1], count - 1))
    none = np.zeros((*np.shape(y)[:-1], 1))
    ahead = np.concatenate([first_steps(y, h), none], axis=-1)
    back = np.concatenate([none, np.flip(first_steps(np.flip(y, -1), np.flip(h, -1)), -1)], axis=-1)
    places = np.arange(count - 1)
    sums = np.cumsum(np.where((places % 2 == 0) & (places < count - 2), ahead, back), axis=-1)
    if initial is not None:
        sums = np.concatenate([none, sums], axis=-1) + initial
    return np.moveaxis(sums, -1, axis)
