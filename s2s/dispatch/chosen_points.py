"""A second derivative at a point where a first one is chosen goes in; out comes the limit of those beside it, or NaN.

    d = np.linalg.norm(x - y)                     # at x == y the slope of the norm is chosen: 0
    np.exp(-d * d)                                # is smooth there: its Hessian, -2 I, is that of the points beside

The code of a second derivative counts the points that it meets where a rule chooses a slope, by
``optimize/coinciding.py``. Where it meets more of them than beside the point, the derivative is computed on both sides
of the point, along two directions. It is what these come to, where they agree, and where differences of the first
derivative agree with them. So it is where a second derivative is NaN, as that of ``np.sqrt(np.sum(x * x)) ** 2`` at 0.

First derivatives through equal eigenvalues or singular values are found in the same way. Those of
``v @ diag(f(w)) @ v.T`` exist whatever eigenvectors ``v`` are given, and cannot be computed from their cotangents.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from s2s import runtime as rt
from s2s.core.codes import own_codes
from s2s.core.critical import section
from s2s.dispatch.nans import PLACES, has_nan, is_steep
from s2s.dispatch.version import Version
from s2s.versions.paths import imported

if TYPE_CHECKING:
    from s2s.dispatch.dispatcher import Dispatcher
    from s2s.versions.target import Target

__all__ = ["beside_chosen_points"]

_COUNTING = "coincides", "ties", "sign"
_PLACES = {**PLACES, "vector_jvp": 1}
_SPECTRAL = re.compile(r"(?<!def )\b(?!rt\.)(?:\w+\.)*(?:eigh|eigvalsh|eig|eigvals|svd|svdvals|polar)(?=\()")
_ALONG = "jvp", "vector_jvp"
_FINER = 64.0
"""How much smaller the second step is: what does not vanish with it is no rounding and no curvature."""

_Values: TypeAlias = tuple[Any, ...]


def beside_chosen_points(
    dispatcher: Dispatcher, version: Version, otherwise: Callable[..., Any]
) -> Callable[..., Any]:
    """What runs a version, and gives the limit of a second derivative where first ones are chosen; ``otherwise`` is
    called where it is NaN and has no limit."""
    mode = version.request.mode
    is_second = dispatcher.target.derived is not None
    may_meet = version.calls_runtime(*_COUNTING) or spectral(version) or (is_second and is_steep(version))
    backend = dict(version.request.options).get("backend", "numpy")
    if not may_meet or backend != "numpy" or (mode not in _PLACES and mode != "vjp"):
        return otherwise
    points = _Points(dispatcher, version, otherwise)
    return points.pulled if mode == "vjp" else points.called


def spectral(version: Version) -> str:
    """The function of eigenvalues or singular values that a version calls, as its text has it; empty where it calls
    none."""
    found = _SPECTRAL.search(version.compiled.text)
    return found[0] if found is not None else ""


class _Points:
    """The points at which a version is called. ``always`` is how many chosen slopes it meets beside a point, by the
    shapes of the arguments: ``norm(x[i] - x[i])`` is constant, so that its slope is right as it is chosen."""

    def __init__(self, dispatcher: Dispatcher, version: Version, otherwise: Callable[..., Any]) -> None:
        self.dispatcher, self.version, self.run, self.otherwise = dispatcher, version, version.run, otherwise
        request = version.request
        self.mode, self.wrt, self.has_aux = request.mode, request.wrt, request.has_aux
        self.count = len(version.avals)
        self.always: dict[Any, int] = {}
        self.spectral = spectral(version)
        self.is_first = dispatcher.target.derived is None and not version.calls_runtime(*_COUNTING)

    @property
    def order(self) -> int:
        """How many times a function is differentiated."""
        target, order = self.dispatcher.target, 1 if self.is_first else 2
        while target.derived is not None and target.derived.target.derived is not None:
            target, order = target.derived.target, order + 1
        return order

    # -- calls

    def called(self, *values: Any) -> Any:
        with rt.counted() as met:
            result = self.run(*values)
        place = _PLACES[self.mode] if self.has_aux or _PLACES[self.mode] else None
        part = _part(result, place)
        is_unknown = has_nan(part)
        if not is_unknown and met.number <= self.always.get(self.shapes(values), 0):
            return result
        found = self._limit(values, part, met.number, lambda given: _part(self.run(*given), place))
        if is_unknown and has_nan(found):
            with rt.counted():
                return self.otherwise(*values)
        return found if place is None else (*result[:place], found, *result[place + 1 :])

    def pulled(self, *values: Any) -> Any:
        kept = rt.kept(values)
        with rt.counted() as met:
            out, pullback, *aux = self.run(*values)

        def pull(bar: Any) -> Any:
            with rt.counted() as met_again:
                result = pullback(bar)
            number = met.number + met_again.number
            if not has_nan(result) and number <= self.always.get(self.shapes(kept), 0):
                return result
            return self._limit(kept, result, number, lambda given: self.run(*given)[1](bar), bar)

        return (out, pull, *aux)

    def shapes(self, values: _Values) -> Any:
        return tuple(map(np.shape, rt.floats(values[: self.count])))

    # -- limits

    def _limit(
        self, values: _Values, part: Any, number: int, derivative: Callable[[_Values], Any], bar: Any = None
    ) -> Any:
        primal = self.dispatcher.target.innermost

        def find(*_: Any) -> Any:
            return _Limit(self, values, part, number, derivative, bar).found()

        try:
            found = imported("s2s.recorded.entry:repeated")(primal.function, values[: self.count], find)
        except Exception:  # of the program, beside the point
            found = None
        leaves, is_known_beside = rt.floats(part), found is not None
        if found is None:
            found = [np.full_like(leaf, np.nan) for leaf in leaves]
        if any(np.isnan(new).any() for new in found):
            self._warn(primal, leaves, number, is_known_beside)
            if self.is_first:  # along the vectors that LAPACK has chosen
                found = [np.where(np.isnan(new), leaf, new) for new, leaf in zip(found, leaves)]
        if all(new is leaf for new, leaf in zip(found, leaves)):
            return part
        each = iter(zip(found, leaves))
        return rt.map_floats(lambda _: _like(*next(each)), part, lambda leaf: leaf)

    def _warn(self, primal: Target, leaves: list[Any], number: int, is_known_beside: bool) -> None:
        if self.spectral and (number or is_known_beside):
            own = [name for name in primal.function.__code__.co_names if _SPECTRAL.match(f"{name}(")]
            name = own[0] if own and not self.spectral.endswith(f".{own[0]}") else self.spectral
            text = (
                f"{name} has equal eigenvalues or singular values, and the derivative of `{primal.name}` "
                "depends on which vectors belong to which: it does not exist"
            )
        elif any(np.isnan(leaf).any() for leaf in leaves):
            return
        else:
            text = (
                f"the second derivative of `{primal.name}` is NaN: the point is one where a first derivative is "
                "chosen, such as that of a norm or an absolute value at 0 or of a maximum at a tie, and the second "
                "derivatives beside it have no limit that agrees with differences of the first"
            )
        code = primal.function.__code__
        warnings.warn_explicit(text, RuntimeWarning, code.co_filename, code.co_firstlineno)

    def first_derivative(self, values: _Values) -> Any:
        """What is differentiated, at these arguments: a first derivative, or a function that takes some itself."""
        target, given = self.dispatcher.target, values[: self.count]
        inner: Dispatcher | None = target.derived
        if inner is None:
            found = imported("s2s.recorded.entry:invoked")(
                target.function, dict(zip(target.parameters, given, strict=True)))
        else:
            with section, own_codes():
                version = inner.version_for(given)
            found = version.call(*given)
        return found[0] if self.has_aux else found


class _Limit:
    """The derivative on both sides of one point."""

    def __init__(
        self, points: _Points, values: _Values, part: Any, number: int, derivative: Callable[[_Values], Any], bar: Any
    ) -> None:
        self.points, self.values, self.number, self.derivative, self.bar = points, values, number, derivative, bar
        self.at_point = rt.floats(part)
        arguments = rt.floats([self._argument(path) for path in points.wrt])
        size = max((_largest(a) for a in arguments), default=0.0) or 1.0
        self.precision = max(
            (float(np.finfo(np.asarray(a).dtype).eps) for a in (*arguments, *self.at_point)), default=2.0**-52)
        self.step = self.precision ** (1.0 / (3.0 + points.order) if points.spectral else 0.375)
        """As a part of the arguments. Limits have errors of its fourth power, differences of its square, and
        derivatives of eigenvectors divide rounding by the gaps."""
        self.close = min(1e3 * self.step, 1e-2)
        self.arguments = arguments
        self.sizes = [_largest(a) or size for a in arguments]

    def found(self) -> list[Any] | None:
        """The leaves of the derivative, NaN where it has no limit."""
        draws = np.random.default_rng(7)
        directions = [self._drawn(draws), self._drawn(draws)]
        with np.errstate(all="ignore"):
            with rt.counted() as met:
                beside = self._derivative(directions[0], self.step)
            if met.number >= self.number and not any(np.isnan(leaf).any() for leaf in self.at_point):
                self.points.always[self.points.shapes(self.values)] = met.number
                return self.at_point
            if any(np.isnan(leaf).any() for leaf in beside):
                return None
            steps = self.step, 0.5 * self.step, self.step / _FINER
            sides = [[self._derivative(u, side) for u in directions for side in (step, -step)] for step in steps]
            far, half, near = (list(zip(*at, strict=True)) for at in sides)
            floor = self._rounding(directions[0])
            made = [self._chosen(*of_leaf, floor) for of_leaf in zip(self.at_point, far, half, near, strict=True)]
            if self.points.mode not in _ALONG:
                return self._compare(directions[1], self._compare(directions[0], made))
            tangents = self._tangents()
            compared = self._compare(tangents, made)
            if any(np.isnan(leaf).any() for leaf in compared) and any(map(_is_symmetric, self.arguments)):
                return self._compare([_symmetric(t, a) for t, a in zip(tangents, self.arguments)], made)
        return compared

    def _rounding(self, direction: list[Any]) -> float:
        """How large a derivative may be that is but rounding."""
        sizes = [_largest(leaf) for leaf in rt.floats(self.points.first_derivative(self._moved(direction, self.step)))]
        order = self.points.order if self.points.spectral else 1
        found = self.precision * max(sizes, default=0.0) / (self.step**order * min(self.sizes))
        self.rounding_near = found * _FINER**order
        return found

    def _chosen(self, own: Any, far: Any, half: Any, near: Any, floor: float) -> Any:
        """A leaf of the derivative from those beside the point: ``own``, as computed at the point, where they come to
        it."""
        middle, middle_near = (4.0 * _middle(half) - _middle(far)) / 3.0, _middle(near)
        spread, spread_near = _spread(far), _spread(near)
        whole = _largest(middle)
        noise = 1e6 * self.precision * whole + floor
        off, off_near = np.abs(own - middle), np.abs(own - middle_near)
        is_right = (off <= self.step * spread + noise) | (off_near <= 0.5 * off)
        size = np.abs(middle) + 1e-3 * whole
        agree = (spread <= self.close * size + floor) | (
            is_right & (spread_near <= 0.5 * spread + noise)) | (
            (spread <= 0.3 * whole) & (spread_near <= 0.1 * spread + noise + self.rounding_near))
        if np.all(agree & is_right):
            return own
        return np.where(agree, np.where(is_right, own, middle), np.nan)

    def _compare(self, direction: list[Any], found: list[Any]) -> list[Any]:
        """The derivative, NaN where differences of the first derivative do not come to it."""
        made = list(found)
        if any(map(np.iscomplexobj, (*made, *self.arguments))):
            return made
        far, noise_far = self._differences(direction, self.step)
        near, noise = self._differences(direction, self.step / _FINER)
        per_result = len(made) // len(far)
        for k in range(len(far)):
            places = range(k * per_result, (k + 1) * per_result)
            if self.points.mode in _ALONG:
                total = made[k] @ _weights(made[k]) if self.points.mode == "vector_jvp" else made[k]
                size = np.abs(total)
            else:
                along = [self._along(made[p], u) for p, u in zip(places, direction, strict=True)]
                total, size = (sum(part[i] for part in along) for i in (0, 1))
            off, off_near = np.abs(far[k] - total), np.abs(near[k] - total)
            size = size + 1e-3 * _largest(size)
            is_close = off <= self.close * size + 100.0 * noise_far[k]
            wrong = ~(is_close | (off_near <= 0.5 * off + 100.0 * noise[k]))
            if np.any(wrong):
                for p in places:
                    made[p] = np.where(_beside(wrong, made[p]), np.nan, made[p])
        return made

    def _differences(self, direction: list[Any], step: float) -> tuple[list[Any], list[Any]]:
        """The slopes of the results of the first derivative along a direction, and the size of rounding in them; NaN
        where a result is NaN at the point itself."""
        first = self.points.first_derivative
        after, before = (rt.floats(first(self._moved(direction, side))) for side in (step, -step))
        own = rt.floats(first(self._moved(direction, 0.0)))
        slopes = [np.where(np.isnan(y), np.nan, a - b) / (2.0 * step) for y, a, b in zip(own, after, before)]
        noise = [self.precision * _largest(a, b) / step for a, b in zip(after, before)]
        if self.points.mode == "vjp":
            bars = rt.floats(self.bar)
            slopes = [sum(np.sum(bar * s) for bar, s in zip(bars, slopes, strict=True))]
            noise = [sum(np.sum(np.abs(bar)) * n for bar, n in zip(bars, noise))]
        return slopes, noise

    def _along(self, jacobian: Any, direction: Any) -> tuple[Any, Any]:
        """The derivative along a direction, and the sum of the sizes of its terms."""
        u = np.asarray(direction)
        if self.points.mode == "elementwise_grad":
            return jacobian * u, np.abs(jacobian * u)
        return np.tensordot(jacobian, u, u.ndim), np.tensordot(np.abs(jacobian), np.abs(u), u.ndim)

    # -- places

    def _argument(self, path: tuple[Any, ...]) -> Any:
        value = self.values[self.points.dispatcher.target.parameters.index(path[0])]
        for step in path[1:]:
            value = value[step]
        return value

    def _drawn(self, draws: np.random.Generator) -> list[Any]:
        """A direction, in the sizes of the arguments: no two steps are equal, and none is near zero. A symmetric matrix
        stays one, as functions of these read one triangle."""
        made = [
            size * draws.choice([-1.0, 1.0], np.shape(a)) * draws.uniform(0.5, 1.0, np.shape(a))
            for a, size in zip(self.arguments, self.sizes)
        ]
        return [_symmetric(u, a) for u, a in zip(made, self.arguments)]

    def _tangents(self) -> list[Any]:
        """The direction that tangents are given for; the step is that of the largest one."""
        tangents = rt.floats(list(self.values[self.points.count :]))
        if self.points.mode == "vector_jvp":
            tangents = [t @ _weights(t) for t in tangents]
        parts = [np.max(np.abs(t), initial=0.0) / size for t, size in zip(tangents, self.sizes, strict=True)]
        self.step /= max(map(float, parts), default=0.0) or 1.0
        return tangents

    def _derivative(self, direction: list[Any], step: float) -> list[Any]:
        return rt.floats(self.derivative(self._moved(direction, step)))

    def _moved(self, direction: list[Any], step: float) -> _Values:
        """The arguments at a step along a direction."""
        steps, parameters = iter(direction), self.points.dispatcher.target.parameters
        moved = list(self.values)

        def leaf(value: Any) -> Any:
            return _like(value + step * next(steps), value)

        for name, *inner in self.points.wrt:
            place = parameters.index(name)
            moved[place] = _with(moved[place], inner, lambda value: rt.map_floats(leaf, value, lambda other: other))
        return tuple(moved)


def _with(value: Any, path: list[Any], change: Callable[[Any], Any]) -> Any:
    """A structure with what is at a path changed."""
    if not path:
        return change(value)
    if isinstance(value, dict):
        return {**value, path[0]: _with(value[path[0]], path[1:], change)}
    items = list(value)
    items[path[0]] = _with(items[path[0]], path[1:], change)
    return rt.rebuild(value, items)


def _middle(leaves: Any) -> Any:
    return sum(leaves) / len(leaves)


def _is_symmetric(a: Any) -> bool:
    return np.ndim(a) >= 2 and a.shape[-1] == a.shape[-2] and np.array_equal(a, np.conj(np.swapaxes(a, -1, -2)))


def _symmetric(direction: Any, a: Any) -> Any:
    """The symmetric part of a direction in which a symmetric matrix moves; any other direction as it is."""
    return 0.5 * (direction + np.conj(np.swapaxes(direction, -1, -2))) if _is_symmetric(a) else direction


def _weights(along_many: Any) -> Any:
    """One direction, in place of the many that are side by side in the last dimension."""
    return np.random.default_rng(11).uniform(0.5, 1.0, np.shape(along_many)[-1])


def _largest(*leaves: Any) -> float:
    return sum(float(np.max(np.abs(leaf), initial=0.0)) for leaf in leaves)


def _spread(leaves: Any) -> Any:
    """How far the numbers at one place are from each other."""
    return np.max([np.abs(leaf - leaves[0]) for leaf in leaves], axis=0)


def _like(new: Any, leaf: Any) -> Any:
    """A number or an array of the type of another one."""
    if new is leaf or isinstance(leaf, np.ndarray):
        return np.asarray(new, leaf.dtype) if new is not leaf else leaf
    return type(leaf)(np.asarray(new)[()])


def _beside(mask: Any, like: Any) -> Any:
    """A mask of results, for all elements of the arguments beside each."""
    return np.reshape(mask, np.shape(mask) + (1,) * (np.ndim(like) - np.ndim(mask)))


def _part(result: Any, place: int | None) -> Any:
    return result if place is None else result[place]
