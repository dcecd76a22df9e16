"""Integrals of derivatives: an integrand, whose values are numbers or arrays, and the pieces into which SciPy has
divided the range of an integral go in; the integral comes out, to the tolerance that SciPy was given.

Each item is integrated by the rule of Gauss and Kronrod on these pieces. Where its own error is too large, ``quad``
integrates the item, which refines and extrapolates as it does for values; what was evaluated once is read again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.public import function, role
from s2s.core.record import record, replace

__all__ = [
    "Pieces", "integral", "integral_on", "integrated", "look", "looked", "looked_at", "nodes_of", "of_derivative",
    "seen_by_rule", "steep_places",
]

_HALF = np.array([
    0.995657163025808080735527280689003, 0.973906528517171720077964012084452, 0.930157491355708226001207180059508,
    0.865063366688984510732096688423493, 0.780817726586416897063717578345042, 0.679409568299024406234327365114874,
    0.562757134668604683339000099272694, 0.433395394129247190799265943165784, 0.294392862701460198131126603103866,
    0.148874338981631210884826001129720])
_OF_KRONROD = np.array([
    0.011694638867371874278064396062192, 0.032558162307964727478818972459390, 0.054755896574351996031381300244580,
    0.075039674810919952767043140916190, 0.093125454583697605535065465083366, 0.109387158802297641899210590325805,
    0.123491976262065851077958109585166, 0.134709217311473325928054001771707, 0.142775938577060080797094273138717,
    0.147739104901338491374841515972068])
PLACES = 0.5 + 0.5 * np.concatenate([-_HALF, [0.0], _HALF[::-1]])
"""Of a rule of 21 places on [0, 1]; those with odd numbers are the 10 of Gauss's rule. The numbers are QUADPACK's."""

_ALL_PLACES = PLACES.tolist()
WEIGHTS = 0.5 * np.concatenate([_OF_KRONROD, [0.149445554002916905664936468389821], _OF_KRONROD[::-1]])
OF_GAUSS = np.zeros(21)
OF_GAUSS[1:11:2] = OF_GAUSS[19:9:-2] = 0.5 * np.array([
    0.066671344308688137593568809893332, 0.149451349150580593145863396957658, 0.219086362515982043995534934228163,
    0.269266719309996355091226921569469, 0.295524224714752870173815619188769])

GROWTH = 16.0
"""How many times as far from a slope as one piece the next one ends."""

MOST_PIECES = 500
FEW, MANY_ROUNDS = 6, 60
"""How often pieces are halved before SciPy takes over, and where it cannot."""

EXACT = 1e-11
"""How close the two rules are to each other where QUADPACK's error is one of rounding."""

LARGE = 1e-6
"""A relative error above which there is no integral."""

STEEP, JUMP, HALVINGS, STEP = 1.5, 1e-5, 50, 1e-7
"""What counts as a jump: how much steeper it is than what is on both sides, how large beside the values of the
function, how often the distance is halved, and by which part of themselves arguments are moved to see it move."""

_IS_MOVED = ContextVar("s2s moved arguments", default=False)
"""Whether arguments of an integrand are moved: what SciPy has found for an integral in it is that of the others."""

JUMPS = "the integrand jumps at a place that moves with what is differentiated; split the range there"
OF_EQUATION = (
    "its equation, or its derivative where this is a second one, jumps at a place that moves with it; end it there "
    "by a terminal event, and begin anew")
MANY = "its error stays large; split it where it is not smooth, or use simpson of values on a grid"


@record
class Pieces:
    """A range [0, 1] of ``s`` and the ends of its pieces, ``points`` where an integrand may not be smooth, a relative
    tolerance, and the most pieces.

    ``way`` says which ``u`` stands for s: '' s itself, 'up' (1 - s) / s, 'down' -(1 - s) / s, and 'both' these two
    together. ``quad`` is SciPy's, and ``value`` what it has found, if anything. ``seen`` are the places at which it has
    asked for the function, ``base`` + u * ``span``, with what that gave, which is the integrand but for a factor.
    ``along`` are the tangents of the derivatives of a function of which only the jumps are looked at.
    """

    way: str
    ends: tuple[float, ...]
    points: tuple[float, ...]
    tolerance: float
    limit: int
    quad: Callable[..., Any]
    value: Any
    seen: list[tuple[float, Any]]
    base: float
    span: float
    along: tuple[tuple[Any, ...], ...] = ()

    def rows(self, f: Callable[[float], Any], places: list[float]) -> Any:
        """The integrand at places ``s``: a row of real numbers for each."""
        if not self.way:
            return _rows([f(s) for s in places])
        at = np.array(places)
        us = ((1.0 - at) / at).tolist()
        sides = [[f(u) for u in us]] if self.way != "down" else []
        if self.way != "up":
            sides.append([f(-u) for u in us])
        return sum(map(_rows, sides)) / at[:, None] ** 2

    def divided(self, steep: list[tuple[float, float, float]]) -> Pieces:
        """With ends where a function jumps and, the farther apart the farther they are, around a slope: nothing of it
        is hidden in a long piece that begins there."""
        places = []
        for low, high, jump in steep:
            places += [low, high]
            away = high - low if not jump else np.inf
            while away < 1.0:
                places += [low - away, high + away]
                away *= GROWTH
        more = (1.0 / (1.0 + np.abs(places)) if self.way else np.array(places)).tolist()
        ends = tuple(sorted({*self.ends, *(s for s in more if 0.0 < s < 1.0)}))
        points = ends[1:-1] if self.points == self.ends[1:-1] else self.points
        return replace(self, ends=ends, points=points, limit=max(self.limit, 2 * len(ends) + 50))

    def row(self, f: Callable[[float], Any], s: float) -> list[float]:
        """The integrand at one place."""
        if not self.way:
            return _row(f(s))
        u = (1.0 - s) / s
        values = [_row(f(x)) for x in ((u, -u) if self.way == "both" else (u,) if self.way == "up" else (-u,))]
        return [sum(parts) / s**2 for parts in zip(*values)]


def _row(value: Any) -> list[float]:
    if isinstance(value, float):
        return [value]
    if isinstance(value, tuple):
        return [x for part in value for x in _row(part)]
    value = np.asarray(value).ravel()
    return [*value.real.tolist(), *value.imag.tolist()] if value.dtype.kind == "c" else value.tolist()  # type: ignore[no-any-return]


def _rows(values: list[Any]) -> Any:
    """Numbers or arrays, or tuples of such, as a row of real numbers each."""
    if isinstance(values[0], tuple):
        return np.concatenate([_rows(list(part)) for part in zip(*values)], axis=1)
    made = np.array(values).reshape(len(values), -1)
    return np.concatenate([made.real, made.imag], axis=1) if np.iscomplexobj(made) else made


@dataclass
class _Halved:
    """A function of ``u`` on the pieces of a range: for each piece what ``_estimates`` tells, and for the whole the
    integral of each item, its size, and whether its error is too large."""

    f: Callable[[float], Any]
    pieces: Pieces
    known: dict[float, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lows, self.widths = np.array(self.pieces.ends[:-1]), np.diff(self.pieces.ends)
        self.found = self.estimates(self.lows, self.widths)
        self.first, self.rounds = self.found[2].sum(0), 0
        self.judge()

    def estimates(self, lows: Any, widths: Any) -> Any:
        places = (lows[:, None] + widths[:, None] * PLACES).ravel().tolist()
        if places[0] in self.known:
            rows = np.array([self.known[s] for s in places])
        else:
            rows = self.pieces.rows(self.f, places)
            self.known.update(zip(places, rows))
        return _estimates(rows.reshape(len(lows), 21, -1), widths[:, None])

    def judge(self) -> None:
        self.total, self.size, error = self.found[:3].sum(1)
        self.size -= self.found[3].max(0)
        self.small = self.pieces.tolerance * np.maximum(self.size, np.abs(self.total))
        self.large = ~(error <= self.small) & np.isfinite(self.total)
        if self.rounds >= 2:  # what halving does not change is noise, of integrals inside for instance
            is_noise = (error > 0.25 * self.first) & (error <= self.noise)
            self.large &= ~is_noise

    @property
    def noise(self) -> float:
        """An error that is none beside the largest item."""
        return float(self.pieces.tolerance * np.max(self.size, initial=0.0, where=np.isfinite(self.size)))

    def halve(self, rounds: int) -> None:
        """Halve the pieces that have more than their share of an error that is too large, so often at most."""
        while rounds > 0 and self.large.any() and len(self.lows) < MOST_PIECES:
            share = self.small[self.large] / len(self.lows)
            at = (self.found[2][:, self.large] > share).any(1)
            width = np.repeat(0.5 * self.widths[at], 2)
            low = np.repeat(self.lows[at], 2) + width * np.tile([0.0, 1.0], len(width) // 2)
            self.found = np.concatenate([self.found[:, ~at], self.estimates(low, width)], axis=1)
            self.lows, self.widths = np.append(self.lows[~at], low), np.append(self.widths[~at], width)
            rounds, self.rounds = rounds - 1, self.rounds + 1
            self.judge()

    def item(self, k: int, s: float) -> float:
        row = self.known.get(s)
        if row is None:
            row = self.known[s] = self.pieces.row(self.f, s)
        return float(row[k])

    def refined(self, k: int) -> float:
        """The integral of an item by SciPy. Refused where there is none."""
        size, tolerance = self.size[k], self.pieces.tolerance
        with np.errstate(all="ignore"):
            value, error, info, *problem = self.pieces.quad(
                functools.partial(self.item, k), 0.0, 1.0, full_output=1, epsabs=tolerance * size, epsrel=tolerance,
                limit=self.pieces.limit, points=self.pieces.points or None)
        if problem:  # what it has extrapolated to says little
            error = max(error, np.sum(info["elist"][: info["last"]]))
        if not error <= max(LARGE * abs(value), LARGE * size, self.noise):
            rt.not_differentiable("this integral", MANY)
        return float(value)


def integral_on(f: Callable[[float], Any], pieces: Pieces) -> Any:
    """The integral of a function of ``u``: a row of real numbers, of a complex number two."""
    if not pieces.way and len(pieces.ends) == 2:  # the inner integrals of others, mostly
        rows = np.array([_row(f(s)) for s in _ALL_PLACES])
        total = WEIGHTS @ rows
        if (np.abs(total - OF_GAUSS @ rows) <= min(EXACT, pieces.tolerance) * (WEIGHTS @ np.abs(rows))).all():
            return total
        halved = _Halved(f, pieces, dict(zip(_ALL_PLACES, rows.tolist())))
    else:
        halved = _Halved(f, pieces)
    if pieces.ends[1:-1] == pieces.points:
        halved.halve(FEW)
    for k in np.flatnonzero(halved.large).tolist():
        halved.total[k] = halved.refined(k)
    return halved.total


def nodes_of(f: Callable[[float], Any], pieces: Pieces) -> Any:
    """Places ``u`` and weights of a sum that is the integral of a function. Refused where there is none."""
    halved = _Halved(f, pieces)
    halved.halve(MANY_ROUNDS)
    if halved.large.any():
        rt.not_differentiable("this integral", MANY)
    s, w = (halved.lows[:, None] + halved.widths[:, None] * PLACES).ravel(), np.outer(halved.widths, WEIGHTS).ravel()
    if not pieces.way:
        return s.tolist(), w.tolist()
    u, w = (1.0 - s) / s, w / s**2
    if pieces.way == "both":
        return [*u.tolist(), *(-u).tolist()], [*w.tolist(), *w.tolist()]
    return (u if pieces.way == "up" else -u).tolist(), w.tolist()


def _estimates(rows: Any, widths: Any) -> Any:
    """For each piece the integral of each item, that of its size, its error as QUADPACK tells it, and what the place
    counts for at which it is largest: at a pole that says nothing of the whole."""
    whole = widths * np.einsum("j,pjn->pn", WEIGHTS, rows)
    apart = np.abs(whole - widths * np.einsum("j,pjn->pn", OF_GAUSS, rows))
    sizes = WEIGHTS[:, None] * np.abs(rows)
    spread = widths * np.einsum("j,pjn->pn", WEIGHTS, np.abs(rows - (whole / widths)[:, None]))
    with np.errstate(all="ignore"):
        error = np.where(spread > 0.0, spread * np.minimum(1.0, (200.0 * apart / spread) ** 1.5), apart)
    return np.stack([whole, widths * sizes.sum(1), error, widths * sizes.max(1)])


@role("integrated")
def integrated(integrand: Any, pieces: Any, like: Any) -> Any:
    """The integral of ``integrand(u)``, of the kind of ``like``, differentiated by all that the integrand reads."""
    return integral(integrand, pieces, like)


@role("integral")
def integral(integrand: Any, pieces: Any, like: Any, /, *args: Any) -> Any:
    """The integral of ``integrand(u, *args)``: the value that SciPy has found, if there is one."""
    if pieces.value is not None and not _IS_MOVED.get():
        found = pieces.value
    else:
        found = integral_on(lambda u: integrand(u, *args), pieces)
        if np.iscomplexobj(like):
            found = found[: np.size(like)] + 1j * found[np.size(like) :]
    if not isinstance(like, np.ndarray):
        return type(like)(np.reshape(found, ()))
    return np.array(np.reshape(found, like.shape), like.dtype)


def of_derivative(pieces: Pieces, integrand: Any, args: tuple[Any, ...], tangents: tuple[Any, ...]) -> Pieces:
    """The pieces for an integral whose value is not known: that of the derivative along tangents of the arguments; True
    stands for any. Where the integrand is steep others begin. Refused where it jumps at a place that moves along the
    tangents, of which no derivative of the integrand tells."""
    if pieces.value is None:  # the integrand is a derivative, which may jump where that of SciPy has a kink
        pieces = replace(pieces, seen=seen_by_rule(lambda u: integrand(u, *args), pieces))
    steep = steep_places(lambda u: integrand(u, *args), pieces.seen, pieces.base, pieces.span)
    if _has_moving_jump(steep, integrand, args, tangents):
        rt.not_differentiable("this integral", JUMPS)
    return replace(pieces.divided(steep) if steep else pieces, value=None)


def _has_moving_jump(
    steep: list[tuple[float, float, float]], f: Any, args: tuple[Any, ...], tangents: tuple[Any, ...]
) -> bool:
    """Whether a function of a place and arguments jumps at a place that moves along the tangents of the arguments."""
    jumps = [(low, high, jump) for low, high, jump in steep if jump > 0.0]
    if not jumps:
        return False
    draws = np.random.default_rng(1)
    moved = [_moved(x, dot, draws) for x, dot in zip(args, tangents)]
    token = _IS_MOVED.set(True)
    try:
        return any(not _apart(f(low, *moved), f(high, *moved)) > 0.5 * jump for low, high, jump in jumps)
    finally:
        _IS_MOVED.reset(token)


@role("looked_at")
def looked_at(f: Any, pieces: Any, zero: Any) -> Any:
    """The number 0.0, whose derivatives are zero, and refused where ``f(u)`` jumps at a place that moves with what is
    differentiated; those of higher orders where a derivative of it does."""
    return zero


@role("looked")
def looked(f: Any, pieces: Any, zero: Any, /, *args: Any) -> float:
    """``looked_at``, for ``f(u, *args)``."""
    return float(zero)


def look(pieces: Pieces, f: Any, args: tuple[Any, ...], tangents: tuple[Any, ...]) -> Pieces:
    """The pieces for the derivatives along tangents of the arguments of what is ``looked_at``; True stands for any."""
    rate = f
    for dots in pieces.along:
        rate = _rate(rate, dots)
    seen = seen_by_rule(lambda u: rate(u, *args), pieces) if pieces.along else pieces.seen
    steep = steep_places(lambda u: rate(u, *args), seen, pieces.base, pieces.span)
    if _has_moving_jump(steep, rate, args, tangents):
        rt.not_differentiable("this solution", OF_EQUATION)
    return replace(pieces, along=(*pieces.along, tangents))


def _rate(f: Any, tangents: tuple[Any, ...]) -> Any:
    """The derivative of a function of a place and arguments along tangents of the arguments."""

    def rate(u: float, *args: Any) -> Any:
        draws = np.random.default_rng(3)
        dots = [_direction(x, dot, draws) for x, dot in zip(args, tangents)]
        return function("jvp")(f, (u, *args), (None, *dots))[1]

    return rate


def _parts(x: Any, dot: Any) -> Any:
    """The tangents of the items of a container."""
    return dot if isinstance(dot, (tuple, list)) else [dot] * len(x)


def _direction(x: Any, dot: Any, draws: np.random.Generator) -> Any:
    """A tangent of numbers or of an array, the same for all of its rows where it may be any."""
    if isinstance(x, (tuple, list)):
        return type(x)(_direction(part, each, draws) for part, each in zip(x, _parts(x, dot)))
    if dot is True:
        dot = np.broadcast_to(draws.uniform(0.5, 1.5, np.shape(x)[-1:]), np.shape(x))
        return dot.copy() if isinstance(x, np.ndarray) else float(dot)
    return None if dot is False else dot


def seen_by_rule(f: Callable[[float], Any], pieces: Pieces) -> list[tuple[float, Any]]:
    """Where the rule asks for a function, and what that gives, as ``Pieces`` has it of SciPy."""
    seen: list[tuple[float, Any]] = []

    def noted(u: float) -> Any:
        seen.append((pieces.base + u * pieces.span, f(u)))
        return seen[-1][1]

    _Halved(noted, pieces).halve(FEW)
    return seen


def steep_places(
    f: Callable[[float], Any], seen: list[tuple[float, Any]], base: float = 0.0, span: float = 1.0
) -> list[tuple[float, float, float]]:
    """Pairs of places next to each other between which a function is steep, and how far it jumps there, 0.0 where it is
    continuous: SciPy has ``seen`` it change more steeply than on both sides, and halving the distance again and again
    leaves the change as large. Where it was asked for the place of the jump itself, two steep changes stand beside each
    other."""
    if span == 0.0 or len(seen) < 3:
        return []
    places = np.array([place for place, _ in seen])
    order = places.argsort()
    places, values = places[order], _rows([value for _, value in seen])[order]
    slopes = np.zeros(len(places) + 3)
    before, here, after = slopes[1:-3], slopes[2:-2], slopes[3:-1]
    with np.errstate(all="ignore"):
        rises = np.abs(values[1:] - values[:-1]).max(1)
        np.divide(rises, places[1:] - places[:-1], out=here)
        is_steep = here > STEEP * np.minimum(np.maximum(before, slopes[4:]), np.maximum(slopes[:-4], after))
    found = []
    for k in is_steep.nonzero()[0].tolist():
        if JUMP * np.max(np.abs(values), initial=0.0, where=np.isfinite(values)) < rises[k] < np.inf:
            ends = sorted(((places[k : k + 2] - base) / span).tolist())
            try:
                with np.errstate(all="ignore"):
                    found.append(_narrowed(f, *ends))
            except Exception:  # it has no value there, where SciPy has not asked
                continue
    return [place for place in found if place is not None]


def _narrowed(f: Callable[[float], Any], low: float, high: float) -> tuple[float, float, float] | None:
    """Two places between which a function is steep, and how far it jumps; None where it is neither."""
    left, right = f(low), f(high)
    first = size = _apart(left, right)
    for count in range(HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        between = f(middle)
        before, after = _apart(left, between), _apart(between, right)
        low, left, high, right, size = (
            (low, left, middle, between, before) if before > after else (middle, between, high, right, after))
        if not size > 0.4 * first:  # of a sign, which is zero between, a half is left
            return (low, high, 0.0) if count > FEW else None
    return low, high, size


def _apart(left: Any, right: Any) -> float:
    return float(np.max(np.abs(np.subtract(_row(left), _row(right)))))


def _moved(x: Any, dot: Any, draws: np.random.Generator) -> Any:
    """Numbers a little off, along a tangent."""
    if isinstance(x, (tuple, list)):
        return type(x)(_moved(part, each, draws) for part, each in zip(x, _parts(x, dot)))
    if dot is None or dot is False or not np.any(dot):
        return x
    size = np.max(np.abs(x), initial=0.0) or 1.0
    if dot is True:
        dot = draws.uniform(0.5, 1.5, np.shape(x)) * np.where(x == 0.0, 1.0, x / size)
    return x + STEP * size * dot / np.max(np.abs(dot))
