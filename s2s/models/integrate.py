"""What ``scipy.integrate`` computes: integrals of functions by Gauss's rule on ever more pieces, of values by sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt

__all__ = ["cumulative_trapezoid", "nquad", "quad", "quad_vec", "simpson", "tplquad"]

FINE, COARSE = np.polynomial.legendre.leggauss(21), np.polynomial.legendre.leggauss(10)
NODES = [float(x) for x in FINE[0]] + [float(x) for x in COARSE[0]]
WEIGHTS = [float(w) for w in FINE[1]] + [0.0] * 10
CHECKS = [0.0] * 21 + [float(w) for w in COARSE[1]]
"""The nodes of two rules, their weights in the finer one, and in the coarser one, whose distance is the error."""

PLAIN = "it has a rule without full_output, points, weight and complex_func"
OF_THREE = "it has a rule for up to three variables, without opts and full_output"
FINITE = "it has a rule for finite limits, without full_output and points"
MANY = "its error stays large; split it where it is not smooth, or use simpson of values on a grid"


def on_pieces(func: Any, start: Any, width: Any, args: Any, pieces: Any, end: Any) -> Any:
    """The integral from ``start`` over a finite width, or of a transformed function over [0, 1], and its error. ``end``
    says how the interval goes on: not at all (0), to infinity (1), from minus infinity (-1), or both (2)."""
    total, check = 0.0, 0.0
    for piece in range(pieces):
        for j in range(31):
            s = (piece + 0.5 * (1.0 + NODES[j])) / pieces
            if end == 0:
                value = width * func(start + width * s, *args)
            elif end == 1:
                value = func(start + (1.0 - s) / s, *args) / (s * s)
            elif end == -1:
                value = func(start - (1.0 - s) / s, *args) / (s * s)
            else:
                value = (func((1.0 - s) / s, *args) + func((s - 1.0) / s, *args)) / (s * s)
            total = total + WEIGHTS[j] * value
            check = check + CHECKS[j] * value
    return 0.5 * total / pieces, abs(total - check) * 0.5 / pieces


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
        return weighted_quad(func, a, b, args, weight, wvar, epsabs, epsrel)
    if points is not None:
        return quad_by_pieces(func, a, b, args, points, epsabs, epsrel)
    if np.isinf(a) and np.isinf(b):
        sign = 1.0 if a < b else -1.0
        total, error = refined(func, 0.0, 1.0, args, 2, epsabs, epsrel)
        return sign * total, error
    if np.isinf(b):
        total, error = refined(func, a, 1.0, args, 1 if b > 0.0 else -1, epsabs, epsrel)
        return (total if b > 0.0 else -total), error
    if np.isinf(a):
        total, error = refined(func, b, 1.0, args, 1 if a > 0.0 else -1, epsabs, epsrel)
        return (-total if a > 0.0 else total), error
    return refined(func, a, b - a, args, 0, epsabs, epsrel)


def quad_by_pieces(func: Any, a: Any, b: Any, args: Any, points: Any, epsabs: Any, epsrel: Any) -> Any:
    """An integral from one point to the next, where those between the ends count."""
    ends = np.sort(np.ravel(np.asarray(points)))
    total, error, left = 0.0, 0.0, a
    for k in range(len(ends)):
        if min(a, b) < ends[k] and ends[k] < max(a, b):
            right = ends[k] if a < b else ends[len(ends) - 1 - k]
            part, difference = refined(func, left, right - left, args, 0, epsabs, epsrel)
            total, error, left = total + part, error + difference, right
    part, difference = refined(func, left, b - left, args, 0, epsabs, epsrel)
    return total + part, error + difference


OF_WEIGHTS = "of the weights it has rules for 'cos', 'sin' and 'cauchy', between finite ends"


def weighted_quad(
    func: Any, a: Any, b: Any, args: Any, weight: Any, wvar: Any, epsabs: Any, epsrel: Any
) -> Any:
    """An integral of a function with a weight, as that of their product; that of 'cauchy' with its pole inside without
    the pole, of which the integral is known."""
    if weight not in ("cos", "sin", "cauchy") or np.isinf(a) or np.isinf(b):
        return rt.no_derivative("scipy.integrate.quad", OF_WEIGHTS)
    if weight == "cos":
        return refined(lambda x, *more: func(x, *more) * np.cos(wvar * x), a, b - a, args, 0, epsabs, epsrel)
    if weight == "sin":
        return refined(lambda x, *more: func(x, *more) * np.sin(wvar * x), a, b - a, args, 0, epsabs, epsrel)
    if wvar < min(a, b) or wvar > max(a, b):
        return refined(lambda x, *more: func(x, *more) / (x - wvar), a, b - a, args, 0, epsabs, epsrel)
    at_pole = func(wvar, *args)
    smooth = lambda x, *more: (func(x, *more) - at_pole) / (x - wvar)
    left, first = refined(smooth, a, wvar - a, args, 0, epsabs, epsrel)
    right, second = refined(smooth, wvar, b - wvar, args, 0, epsabs, epsrel)
    return left + right + at_pole * np.log((b - wvar) / (wvar - a)), first + second


def refined(func: Any, start: Any, width: Any, args: Any, end: Any, epsabs: Any, epsrel: Any) -> Any:
    """Ever more pieces, until two rules agree."""
    total, error, pieces = 0.0, np.inf, 1
    while error > max(epsabs, epsrel * abs(total)):
        check_pieces(pieces)
        total, error = on_pieces(func, start, width, args, pieces, end)
        pieces = 2 * pieces
    return total, error


def check_pieces(pieces: Any) -> None:
    if pieces > 1024:
        rt.no_derivative("this integral", MANY)


def limit_at(limit: Any, x: Any) -> Any:
    return limit(x) if callable(limit) else limit


def dblquad(
    func: Any, a: Any, b: Any, gfun: Any, hfun: Any, args: Any = (), epsabs: Any = 1.49e-8, epsrel: Any = 1.49e-8
) -> Any:
    """Both rules of Gauss on ever more pieces of either axis, until they agree."""
    total, error, pieces = 0.0, np.inf, 1
    while error > max(epsabs, epsrel * abs(total)):
        check_pieces(32 * pieces)
        total, check = 0.0, 0.0
        for piece in range(pieces):
            for j in range(31):
                x = a + (b - a) * (piece + 0.5 * (1.0 + NODES[j])) / pieces
                low = limit_at(gfun, x)
                height = limit_at(hfun, x) - low
                line, rough = 0.0, 0.0
                for part in range(pieces):
                    for k in range(31):
                        value = func(low + height * (part + 0.5 * (1.0 + NODES[k])) / pieces, x, *args)
                        line = line + WEIGHTS[k] * value
                        rough = rough + CHECKS[k] * value
                total = total + WEIGHTS[j] * height * line
                check = check + CHECKS[j] * height * rough
        scale = 0.25 * (b - a) / (pieces * pieces)
        total, error = scale * total, abs(scale * (total - check))
        pieces = 2 * pieces
    return total, error


def nquad(func: Any, ranges: Any, args: Any = None, opts: Any = None, full_output: Any = False) -> Any:
    """Of up to three variables, of which the first varies fastest."""
    given = () if args is None else args if isinstance(args, tuple) else (args,)
    if opts is not None or full_output or len(ranges) > 3:
        return rt.no_derivative("scipy.integrate.nquad", OF_THREE)
    low, high = ranges[-1](*given) if callable(ranges[-1]) else ranges[-1]
    if len(ranges) == 1:
        return quad(func, low, high, given)
    if len(ranges) == 2:
        inner = ranges[0]
        if callable(inner):
            return dblquad(func, low, high, lambda x: inner(x, *given)[0], lambda x: inner(x, *given)[1], given)
        return dblquad(func, low, high, inner[0], inner[1], given)
    first, middle = ranges[0], ranges[1]
    return tplquad(
        func, low, high,
        (lambda x: middle(x, *given)[0]) if callable(middle) else middle[0],
        (lambda x: middle(x, *given)[1]) if callable(middle) else middle[1],
        (lambda x, y: first(y, x, *given)[0]) if callable(first) else first[0],
        (lambda x, y: first(y, x, *given)[1]) if callable(first) else first[1], given,
    )


def tplquad(
    func: Any, a: Any, b: Any, gfun: Any, hfun: Any, qfun: Any, rfun: Any, args: Any = (), epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
) -> Any:
    total, error, pieces = 0.0, np.inf, 1
    while error > max(epsabs, epsrel * abs(total)):
        check_pieces(32 * pieces)
        total, check = solid(func, (a, b, gfun, hfun, qfun, rfun), args, pieces)
        error = abs(total - check)
        pieces = 2 * pieces
    return total, error


def solid(func: Any, limits: Any, args: Any, pieces: Any) -> Any:
    """The integral over x from a to b, y from g(x) to h(x), and z from q(x, y) to r(x, y), by both rules."""
    a, b, gfun, hfun, qfun, rfun = limits
    total, check = 0.0, 0.0
    for i in range(31 * pieces):
        x = a + (b - a) * place_of(i, pieces)
        low = limit_at(gfun, x)
        height = limit_at(hfun, x) - low
        plane, rough_plane = 0.0, 0.0
        for j in range(31 * pieces):
            y = low + height * place_of(j, pieces)
            front = qfun(x, y) if callable(qfun) else qfun
            depth = (rfun(x, y) if callable(rfun) else rfun) - front
            line, rough = 0.0, 0.0
            for k in range(31 * pieces):
                value = func(front + depth * place_of(k, pieces), y, x, *args)
                line = line + WEIGHTS[k % 31] * value
                rough = rough + CHECKS[k % 31] * value
            plane = plane + WEIGHTS[j % 31] * depth * line
            rough_plane = rough_plane + CHECKS[j % 31] * depth * rough
        total = total + WEIGHTS[i % 31] * height * plane
        check = check + CHECKS[i % 31] * height * rough_plane
    scale = 0.125 * (b - a) / pieces**3
    return scale * total, scale * check


def place_of(node: Any, pieces: Any) -> Any:
    """Where the node of a rule on pieces lies between 0 and 1."""
    return (node // 31 + 0.5 * (1.0 + NODES[node % 31])) / pieces


def quad_vec(
    f: Any, a: Any, b: Any, epsabs: Any = 1e-200, epsrel: Any = 1e-8, norm: Any = "2", cache_size: Any = 100e6,
    limit: Any = 10000, workers: Any = 1, points: Any = None, quadrature: Any = None, full_output: Any = False, *,
    args: Any = (),
) -> Any:
    if full_output or points is not None or np.isinf(a) or np.isinf(b):
        return rt.no_derivative("scipy.integrate.quad_vec", FINITE)
    total, difference = vectors_on_pieces(f, a, b - a, args, 1)
    pieces = 2
    while size_of(difference) > max(epsabs, epsrel * size_of(total)):
        check_pieces(pieces)
        total, difference = vectors_on_pieces(f, a, b - a, args, pieces)
        pieces = 2 * pieces
    return total, size_of(difference)


def size_of(values: Any) -> Any:
    return float(np.sqrt(np.sum(np.abs(values) ** 2)))


def vectors_on_pieces(f: Any, start: Any, width: Any, args: Any, pieces: Any) -> Any:
    """The integral of a function with values of any shape, and how far a coarser rule is from it."""
    first = f(start + 0.5 * width, *args)
    total, check = 0.0 * first, 0.0 * first
    for piece in range(pieces):
        for j in range(31):
            value = f(start + width * (piece + 0.5 * (1.0 + NODES[j])) / pieces, *args)
            total = total + (0.5 * width / pieces * WEIGHTS[j]) * value
            check = check + (0.5 * width / pieces * CHECKS[j]) * value
    return total, total - check


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
        return cumulative_trapezoid(np.moveaxis(y, -1, axis), x, dx, axis, initial)
    h = np.broadcast_to(steps_of(x, dx, axis, np.shape(y)), (*np.shape(y)[:-1], count - 1))
    none = np.zeros((*np.shape(y)[:-1], 1))
    ahead = np.concatenate([first_steps(y, h), none], axis=-1)
    back = np.concatenate([none, np.flip(first_steps(np.flip(y, -1), np.flip(h, -1)), -1)], axis=-1)
    places = np.arange(count - 1)
    sums = np.cumsum(np.where((places % 2 == 0) & (places < count - 2), ahead, back), axis=-1)
    if initial is not None:
        sums = np.concatenate([none, sums], axis=-1) + initial
    return np.moveaxis(sums, -1, axis)
