"""The slopes of a function that is a polynomial of degree four or less, from its values.

Such a function is one along every line, and differences of four values give its slope exactly, to rounding:

    f'(0)  =  (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h

Along a line its fifth differences are zero. Where they are so small that rounding explains them, along lines through
where the slopes are asked and elsewhere, what a function that is no polynomial could add to a slope is as small.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

__all__ = ["slopes_of_polynomial"]

_Array: TypeAlias = np.ndarray[Any, Any]

TOLERANCE = 1e-11
"""How large a fifth difference may be, relative to the sum of the absolute values of its terms."""

_FIFTH = np.array([-1.0, 5.0, -10.0, 10.0, -5.0, 1.0])
_SLOPE = np.array([0.0, 1.0, -8.0, 0.0, 8.0, -1.0, 0.0]) / 12.0
_PLACES = np.arange(-3.0, 4.0)


def slopes_of_polynomial(at: Callable[[_Array], _Array | None], x: _Array, value: _Array) -> _Array | None:
    """The derivatives of all outputs of a function by all inputs, which has given ``value`` for ``x``; None where it is
    no such polynomial, or gives None. Inputs that are no finite numbers stay as they are, and so must such outputs."""
    is_moving, is_finite = np.isfinite(x), np.isfinite(value)
    if not is_moving.any() or not is_finite.any():
        return None
    scale = float(np.max(np.abs(x[is_moving]))) or 1.0
    steps = np.where(is_moving, 2.0 ** np.round(np.log2(np.where(is_moving & (x != 0.0), np.abs(x), scale))), 0.0)

    def along(start: _Array, direction: _Array) -> _Array | None:
        """The finite outputs at seven places of a line, if they are those of a polynomial."""
        rows = []
        for place in _PLACES:
            found = at(np.where(is_moving, start + place * direction, x))
            if found is None or not np.array_equal(found[~is_finite], value[~is_finite], equal_nan=True):
                return None
            rows.append(found[is_finite])
        values = np.stack(rows)
        for part in (values[:-1], values[1:]):
            if not np.all(np.abs(_FIFTH @ part) <= TOLERANCE * (np.abs(_FIFTH) @ np.abs(part))):
                return None
        return values

    draws = np.random.default_rng(15)
    directions = steps * draws.standard_normal((3, x.size))
    lines = [line for direction in directions if (line := along(x, direction)) is not None]
    if len(lines) < len(directions):
        return None
    if any(along(scale * draws.standard_normal(x.size), direction) is None for direction in directions):
        return None
    slopes = np.zeros((value.size, x.size))
    for i in np.flatnonzero(is_moving):
        line = along(x, steps * (np.arange(x.size) == i))
        if line is None:
            return None
        slopes[is_finite, i] = _SLOPE @ line / steps[i]
    for line, direction in zip(lines, directions):
        allowed = TOLERANCE * (np.abs(_SLOPE) @ np.abs(line) + np.abs(slopes[is_finite]) @ np.abs(direction))
        if not np.all(np.abs(_SLOPE @ line - slopes[is_finite] @ direction) <= allowed):
            return None
    return slopes
