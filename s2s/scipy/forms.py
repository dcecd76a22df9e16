"""Structures of floats and arrays in, vectors for SciPy out; and back. So for their derivatives, and for bounds."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.errors import error
from s2s.optim.structures import ROOT as TOP
from s2s.optim.structures import beside, in_words, parameters, parts_of, replaced

__all__ = ["Form", "flat"]


class Form:
    """How the numbers of a vector stand in a structure like ``x0``.

    ``is_vector`` says that there is nothing to change: ``x0`` is a vector itself. As in SciPy a list or tuple of
    numbers is one. Integers in it are floats; in another structure they are constants. Raises ArgumentError where there
    is no float in ``x0``.
    """

    def __init__(self, x0: Any) -> None:
        self.x0 = np.asarray(x0, float) if _is_array_like(x0) else x0
        self.leaves = parameters(self.x0)
        self.is_vector = isinstance(self.x0, np.ndarray) and self.x0.ndim == 1
        ends = np.cumsum([np.size(leaf) for leaf in self.leaves.values()])
        self.size = int(ends[-1])
        self.parts = {
            place: slice(end - np.size(leaf), end)
            for (place, leaf), end in zip(self.leaves.items(), ends.tolist(), strict=True)
        }

    @property
    def start(self) -> Any:
        """The vector of ``x0``."""
        return np.concatenate([np.ravel(leaf) for leaf in self.leaves.values()]).astype(float)

    def build(self, vector: Any) -> Any:
        """The structure with the numbers of a vector."""
        if self.is_vector:
            return vector
        return replaced(self.x0, {place: self._leaf(place, vector) for place in self.leaves})

    def _leaf(self, place: str, vector: Any) -> Any:
        like, part = self.leaves[place], vector[self.parts[place]]
        if isinstance(like, np.ndarray):
            return part.reshape(like.shape).astype(like.dtype)
        return type(like)(part[0])

    def tangent(self, vector: Any) -> Any:
        """The structure with the numbers of a vector, and None where there are constants."""
        return _tangent(self.x0, {place: self._leaf(place, vector) for place in self.leaves}, TOP)

    def vector(self, gradient: Any) -> Any:
        """The vector of a gradient, which shares no memory with it."""
        if self.is_vector:
            return np.array(gradient, float)
        return self.columns(gradient, 1)[0]

    def columns(self, derivative: Any, rows: int) -> Any:
        """The matrix of a derivative of so many numbers, whose shape stands before that of each array."""
        found = []
        for place, _, part in beside(self.x0, derivative, "the derivative"):
            if part is None:
                raise error("S2S202", name=place, reason="it is in an object whose contents have no derivative")
            found.append(np.reshape(part, (rows, -1)))
        return np.concatenate(found, axis=1, dtype=float)

    def rows(self, jacobian: Any, value: Any) -> Any:
        """The matrix of the Jacobian of a result, which may be a structure of numbers and arrays."""
        if isinstance(value, dict):
            return np.concatenate([self.rows(jacobian[key], item) for key, item in value.items()])
        if isinstance(value, (tuple, list)):
            return np.concatenate([self.rows(part, item) for part, item in zip(jacobian, value, strict=True)])
        return self.columns(jacobian, np.size(value))

    def square(self, hessian: Any) -> Any:
        """The matrix of a Hessian."""
        if self.is_vector:
            return np.array(hessian, float)
        blocks = beside(self.x0, hessian, "the Hessian", (type(None),))
        return np.concatenate([self.columns(block, np.size(leaf)) for _, leaf, block in blocks])

    def bounds(self, given: Any, kind: Any) -> Any:
        """Bounds of the vector, of SciPy's class ``kind``, for bounds in the form of ``x0``: for each array (or all
        below a place) None, a pair of the least and the greatest value, or such an object; for vectors a pair for each
        number. What SciPy takes for a vector stays what it is.

        Raises ArgumentError where they do not fit."""
        if given is None or (self.is_vector and (isinstance(given, kind) or not _is_pair(given))):
            return given
        made = _with_pairs(given, kind)
        found = [
            _ends(leaf, part, place, kind)
            for place, leaf, part in beside(self.x0, made, "bounds", (type(None), kind))
        ]
        return kind(*(np.concatenate([np.ravel(ends[k]) for ends in found]) for k in (0, 1)))


def flat(value: Any) -> Any:
    """The vector of a result, which may be a structure of numbers and arrays."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return np.concatenate([flat(item) for item in value]) if value else np.empty(0)
    return np.ravel(value)


def _is_array_like(value: Any) -> bool:
    """Whether SciPy takes it for an array: numbers in lists and tuples, and arrays of integers."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iu"
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return bool(value) and all(_is_real(item) or _is_array_like(item) for item in value)
    return _is_real(value) and not isinstance(value, (float, np.floating))


def _is_real(value: Any) -> bool:
    return isinstance(value, (numbers.Real, np.integer, np.floating)) and not isinstance(value, bool)


def _tangent(value: Any, found: dict[str, Any], place: str) -> Any:
    parts = parts_of(value)
    if parts is None:
        return found.get(place)
    made = {part.key: _tangent(part.value, found, place + part.text) for part in parts}
    if all(item is None for item in made.values()):
        return None
    if isinstance(value, dict):
        return made
    if isinstance(value, (tuple, list)):
        items = list(made.values())
        return value._make(items) if hasattr(value, "_make") else type(value)(items)
    return rt.gradient_object(value, **made)


# --- bounds -----------------------------------------------------------------------------------------------------------


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, (tuple, list))
        and len(value) == 2
        and not hasattr(value, "_fields")
        and all(item is None or _is_real(item) for item in value)
    )


def _with_pairs(value: Any, kind: Any) -> Any:
    """Bounds with objects of SciPy's class in place of pairs of numbers."""
    if _is_pair(value):
        return _pair(value[0], value[1], kind)
    if isinstance(value, dict):
        return {key: _with_pairs(item, kind) for key, item in value.items()}
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)(_with_pairs(item, kind) for item in value)
    return value


def _pair(least: Any, greatest: Any, kind: Any) -> Any:
    return kind(-np.inf if least is None else least, np.inf if greatest is None else greatest)


def _ends(leaf: Any, given: Any, place: str, kind: Any) -> tuple[Any, Any]:
    """The least and the greatest values of an array."""
    if given is None or _is_pair(given):
        least, greatest = given or (None, None)
        given = _pair(least, greatest, kind)
    shape = np.shape(leaf)
    try:
        if isinstance(given, kind):
            return np.broadcast_to(_one(given.lb), shape), np.broadcast_to(_one(given.ub), shape)
        if len(shape) == 1 and len(given) == shape[0] and all(isinstance(item, kind) for item in given):
            pairs = [(float(_one(item.lb)), float(_one(item.ub))) for item in given]
            return np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
        if isinstance(given, (tuple, list)) and len(given) == 2 and not any(isinstance(g, kind) for g in given):
            least, greatest = (np.asarray(g if g is not None else s * np.inf, float) for g, s in zip(given, (-1, 1)))
            return np.broadcast_to(least, shape), np.broadcast_to(greatest, shape)
    except (TypeError, ValueError):
        pass
    raise error(
        "S2S601", what="bounds", place=place, got=in_words(given), expected="a pair `(least, greatest)`",
        hint="give a pair for all, or a pair for each parameter")


def _one(ends: Any) -> Any:
    """What SciPy has made one-dimensional, as a number where it is one."""
    return ends[0] if np.shape(ends) == (1,) else ends
