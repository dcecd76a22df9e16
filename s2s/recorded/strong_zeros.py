"""A derivative whose strong zeros have decided goes in; out comes the same, where differences of the function agree.

    np.sum(np.sqrt(x * mask))         0 * inf where the mask has a zero, and nothing else: the zero is right
    np.sum(np.sqrt(x) ** 2)           0 * inf at a zero of x, where the slope is 1: it is not
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.errors import DifferentiationError
from s2s.recorded import operations
from s2s.recorded.cancelled import MOST_TANGENTS
from s2s.recorded.differences import Replay, agree, drawn_direction
from s2s.recorded.entry import (
    Input,
    along,
    at_path,
    has_parts,
    moved_inputs,
    weighted_result,
    weighted_sum,
)
from s2s.recorded.given import arguments_of
from s2s.recorded.recorder import Recorder, pack
from s2s.recorded.turns import TURNS
from s2s.versions.request import Request
from s2s.versions.signature import own_attributes

__all__ = ["checked"]

_Call = Callable[..., Any]

_ANYWHERE, _AT_JUMPS = 1e-5, 1e-8
"""How far a derivative may be from a difference, relative to it, along all that is in doubt, and where it jumps."""


def checked(
    function: types.FunctionType, values: tuple[Any, ...], request: Request, primal: _Call, weak: _Call, strong: _Call
) -> Any:
    """Give the derivative of a call by a version with strong zeros, and how many numbers these decide where; None where
    those that are NaN in the version without do not agree with differences of the ``primal``, or none can be taken.
    Where some do not agree they stay NaN, and None comes with the derivative.
    Nothing notices that ``function``, the innermost one, runs again. ``values`` are its arguments, and then the
    tangents of ``jvp``."""
    if operations.ACTIVE:
        return None
    given = arguments_of(function, values)
    replay = Replay(lambda given: primal(*given.values()), given, function)
    with TURNS.taken(function.__name__.strip("<>")), replay.unnoticed():
        if replay.surroundings.is_used_up():
            return None
        return _Check(replay, given, request, values[len(given) :]).result(weak, strong)


class _Check:
    """The check of one call. A derivative is a list for each part of the result, with an array for each part of what is
    differentiated, whose axes come last; in forward mode that is the one number by which all moves along the tangents.
    """

    def __init__(self, replay: Replay, given: dict[str, Any], request: Request, tangents: tuple[Any, ...]) -> None:
        self.replay, self.request, self.tangents = replay, request, tangents
        recorder = Recorder()
        values = [at_path(given, path) for path in request.wrt]
        self.inputs = [Input(recorder, value, value) for value in values]
        for one in self.inputs:
            one.keep()
        self.leaves = [
            leaf for one in self.inputs for leaf, ref in zip(one.originals, one.refs) if ref is not None]
        self.eps = max(np.finfo(np.asarray(leaf).dtype).eps for leaf in self.leaves)
        self.along: list[Any] | None = self._parts(tangents, False) if request.mode == "jvp" else None
        before = replay.surroundings.draws()
        out = replay.at({})
        self.draws = replay.surroundings.draws() != before
        self.every: list[Any] = []
        self.structure = pack(out[0] if request.has_aux else out, self.every, has_parts)
        self.outs = [leaf for leaf in self.every if _is_real(leaf)]

    def result(self, weak: _Call, strong: _Call) -> Any:
        """What ``strong`` gives, and how many numbers its zeros decide where if all are sure; None where none is."""
        if self.draws or not all(map(_is_real, self.leaves)) or any(map(np.iscomplexobj, self.every)):
            return None
        with rt.Decisions() as decisions:
            result = self._run(strong, {})
        rows, others = self._rows(result), self._rows(self._run(weak, {}))
        doubts = [[np.isnan(other) for other in row] for row in others]
        if any(np.isnan(one).any() for row in rows for one in row):
            return None
        if not any(doubt.any() for row in doubts for doubt in row):
            return result, decisions.counts
        draws = np.random.default_rng(3)
        chosen = [
            draws.uniform(0.5, 1.5, np.shape(out)) * self._of_result(out, doubt)
            for out, doubt in zip(self.outs, doubts)]
        found = weighted_sum(self.outs, chosen), weighted_sum(map(np.abs, self.outs), chosen)
        self.moving = moving = [self._of_input(k, doubts) for k in range(len(rows[0]))]
        if not all(np.isfinite(leaf).all() for leaf in self.leaves):
            return None  # there is nothing beside an infinite number
        each = iter(chosen)
        weights = [next(each) if _is_real(leaf) else None for leaf in self.every]
        run, given, leaves = self.replay.at, self.replay.given, self.leaves
        weighted = weighted_result(run, given, self.request, self.inputs, weights)
        if self.along is not None:
            leaves, tangents, whole = [1.0], self.along, weighted

            def weighted(directions: list[Any], step: float) -> float:
                return whole([tangent * directions[0] for tangent in tangents], step)

        far, near = self._beside(strong, moving, leaves)
        jumps = self._jumps(rows, doubts, far, near)
        bars, others = self._contracted(chosen, rows), self._contracted(chosen, near)
        if len(jumps) > MOST_TANGENTS:
            return None

        def agrees(part: list[Any], relative: float, others: list[Any] | None = None) -> bool:
            try:
                agree(self.request.mode, weighted, leaves, bars, found, part, relative, others)
            except DifferentiationError:
                return False
            return True

        wrong = []
        for k, place in jumps:
            part = [np.zeros(np.shape(one)) for one in moving]
            part[k][place] = 1.0
            if not agrees(part, _AT_JUMPS, others):
                wrong.append((k, place))
                moving[k] = moving[k] - part[k]
        if not any(part.any() for part in moving) or not agrees(moving, _ANYWHERE):
            return None
        if not all(_put_nan(rows, doubts, *place) for place in wrong):
            return None
        return result, None if wrong else decisions.counts

    def _run(self, derivative: _Call, changed: dict[str, Any]) -> Any:
        primal, self.replay.run = self.replay.run, lambda given: derivative(*given.values(), *self.tangents)
        try:
            return self.replay.at(changed)
        finally:
            self.replay.run = primal

    def _beside(self, strong: _Call, moving: list[Any], leaves: list[Any]) -> list[list[list[Any]]]:
        """The derivative a step away and a part of a step away, on the side where it has numbers."""
        draws = np.random.default_rng(5)
        ways = [np.abs(drawn_direction(draws, leaf)) * part for leaf, part in zip(leaves, moving)]
        if self.along is not None:
            ways = [tangent * ways[0] for tangent in self.along]
        found: list[list[list[Any]]] = []
        for step in (1e-2 * self.eps**0.5, -1e-2 * self.eps**0.5):
            found = [
                self._rows(self._run(strong, moved_inputs(self.replay.given, self.request, self.inputs, ways, moved)))
                for moved in (step, step / 16.0)]
            if all(np.isfinite(one).all() for rows in found for row in rows for one in row):
                break
        return found

    def _jumps(
        self, rows: list[list[Any]], doubts: list[list[Any]], far: list[list[Any]], near: list[list[Any]]
    ) -> list[tuple[int, Any]]:
        """Where the derivative jumps by a number that moves: it has another value beside, as that of ``sqrt(x) ** 2``
        at 0 has, or grows without bound. Where there is none, no zero is wrong that is seen from one side."""
        found = set()
        for row, doubt, further, others in zip(rows, doubts, far, near):
            for k, (one, is_doubtful, away, other) in enumerate(zip(row, doubt, further, others)):
                size = np.maximum(np.abs(one), np.abs(other))
                allowed = self.eps**0.5 * size + 1e3 * self.eps * np.max(size, initial=0.0)
                off, off_further = np.abs(one - other), np.abs(one - away)
                is_near = (off <= allowed + 4.0 * np.abs(away - other)) & (off <= allowed + 1.1 * off_further)
                is_other = ~is_near & is_doubtful
                of_input = np.ndim(one) - np.ndim(self.moving[k])
                found |= {(k, tuple(place[of_input:])) for place in np.argwhere(is_other)}
        return sorted(found)

    def _rows(self, result: Any) -> list[list[Any]]:
        """A derivative, part by part."""
        mode = self.request.mode
        if mode == "jvp" or mode.startswith("value_and"):
            result = result[1]
        elif self.request.has_aux:
            result = result[0]
        if "jac" not in mode and mode != "jvp":
            return [self._parts((result,) if self.request.single else result)]
        rows: list[Any] = []
        along(self.structure, result, rows, len(self.every))
        rows = [row for row, leaf in zip(rows, self.every) if _is_real(leaf)]
        if mode == "jvp":
            return [[np.asarray(row)] for row in rows]
        return [self._parts((row,) if self.request.single else row) for row in rows]

    def _parts(self, values: Any, is_array: bool = True) -> list[Any]:
        """What stands in values like those that are differentiated where these have numbers."""
        found: list[Any] = []
        for one, value in zip(self.inputs, values):
            parts: list[Any] = []
            is_object = isinstance(one.structure, dict) and not isinstance(value, dict)
            along(one.structure, own_attributes(value) if is_object else value, parts, len(one.leaves))
            found += [part for part, ref in zip(parts, one.refs) if ref is not None]
        return [np.asarray(part) for part in found] if is_array else found

    def _of_result(self, out: Any, doubt: list[Any]) -> Any:
        """1 in a part of the result of whose derivative something is in doubt."""
        if self.request.mode == "elementwise_grad":
            return 1.0 * doubt[0] if len(doubt) == 1 else np.ones(np.shape(out))
        found = [np.any(one, axis=tuple(range(np.ndim(out), np.ndim(one)))) for one in doubt]
        return 1.0 * np.logical_or.reduce(found)

    def _of_input(self, k: int, doubts: list[list[Any]]) -> Any:
        """1 in a part of what is differentiated where a derivative by it is in doubt."""
        if self.request.mode == "elementwise_grad":
            return 1.0 * doubts[0][k]
        return 1.0 * np.logical_or.reduce([
            np.any(doubt[k], axis=tuple(range(np.ndim(out)))) for out, doubt in zip(self.outs, doubts)])

    def _contracted(self, weights: list[Any], rows: list[list[Any]]) -> list[Any]:
        """A derivative of the result summed with weights."""
        if self.request.mode == "elementwise_grad":
            return [weights[0] * one for one in rows[0]]
        return [
            sum(np.tensordot(weight, one, np.ndim(weight)) for weight, one in zip(weights, parts))
            for parts in zip(*rows)]


def _put_nan(rows: list[list[Any]], doubts: list[list[Any]], k: int, place: Any) -> bool:
    """Leave what is in doubt of the derivatives by one number NaN; False where they stand in no array."""
    for row, doubt in zip(rows, doubts):
        one, at = row[k], (..., *place)
        if not place or not one.flags.writeable:
            return False
        one[at] = np.where(doubt[k][at], np.nan, one[at])
    return True


def _is_real(leaf: Any) -> bool:
    return isinstance(leaf, (float, np.floating)) or (isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f")
