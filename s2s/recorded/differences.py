"""What a recording gives, held against differences of the function.

A number that compiled code computes out of sight would be taken for a constant. So the function runs again, twice or
five times, to both sides along one direction, and a recording that does not agree with the differences is refused.
"""

from __future__ import annotations

import contextlib
import contextvars
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np

from s2s.errors import error
from s2s.recorded.given import known_to_others
from s2s.recorded.recorder import is_number, pack, unpack
from s2s.recorded.surroundings import Surroundings
from s2s.recorded.turns import Muted
from s2s.versions.carriers import parts_of, put_together

__all__ = ["Replay", "agree", "drawn_direction"]

STEP = {4: 1e-3, 8: 1e-6, 16: 1e-6}
"""The step, relative to a number, by the bytes of its real part."""

FINER = 64.0
"""How much smaller the step is by which slopes without bound are found: those of ``x * log(x)`` grow by a third."""

RELATIVE = 1e-3
"""How far a recording may be from a difference, relative to the larger one, beside what two differences differ by."""


class Replay:
    """A function that can run again as from here: with its arguments, and what it can reach, as they are now.
    ``seconds`` is what the fastest of its runs has taken."""

    def __init__(self, run: Callable[[dict[str, Any]], Any], given: dict[str, Any], function: Any) -> None:
        self.run = run
        self.left = known_to_others(given)
        self.given = {name: value if name in self.left else _copied(value) for name, value in given.items()}
        self.surroundings = Surroundings((function, *given.values()))
        self.context = contextvars.copy_context()
        self.has_printed = False
        self.seconds = float("inf")

    @contextlib.contextmanager
    def unnoticed(self) -> Iterator[None]:
        """As a context: what runs leaves no trace in what the function can reach, and is not printed."""
        after = self.surroundings.now()
        try:
            with _Nowhere(open(os.devnull, "wb")) as nowhere, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                muted: Any = Muted(sys.stdout, nowhere)
                with contextlib.redirect_stdout(muted):
                    yield
                muted.is_over = True
                self.has_printed |= nowhere.is_written
        finally:
            self.surroundings.put(after)

    def at(self, changed: dict[str, Any]) -> Any:
        """The result with other values for some arguments."""
        self.surroundings.put_before()
        return self._run(changed)

    def again(self, changed: dict[str, Any]) -> Any:
        """The result from where another run has ended."""
        return self._run(changed)

    def changes_again(self) -> bool:
        """Whether the function, which has run, changes what it can reach when it runs once more from there: a cache
        that it has filled is filled."""
        after = self.surroundings.now()
        if self.surroundings.is_as(self.surroundings.before):
            return False
        self._run({})
        return not self.surroundings.is_as(after)

    def _run(self, changed: dict[str, Any]) -> Any:
        warnings.simplefilter("ignore")
        left = self.left - changed.keys()
        given = {n: value if n in left else _copied(value) for n, value in {**self.given, **changed}.items()}
        context, start = self.context.copy(), perf_counter()
        try:
            return context.run(self.run, given)  # what it sets in context variables ends with it
        finally:
            self.seconds = min(self.seconds, perf_counter() - start)


class _Nowhere(io.TextIOWrapper):
    """A stream that shows nothing, and knows whether something was written."""

    is_written = False

    def write(self, text: str) -> int:
        self.is_written = True
        return len(text)


def _copied(value: Any) -> Any:
    parts = parts_of(value)
    if parts:
        return put_together(value, {name: part.copy() for name, part in parts.items()})
    leaves: list[Any] = []
    structure = pack(value, leaves)
    made = [_copied_array(leaf) if isinstance(leaf, np.ndarray) else leaf for leaf in leaves]
    return made[0] if len(leaves) == 1 and leaves[0] is value else unpack(structure, made)


def _copied_array(array: Any) -> Any:
    """An array that lies in memory as another does, and is read-only where that is."""
    made = array.copy(order="K")
    made.flags.writeable = array.flags.writeable
    return made


def agree(
    name: str, weighted: Callable[[list[Any], float], float], leaves: list[Any], bars: list[Any],
    found: tuple[float, float], doubtful: list[Any] | None = None, relative: float = RELATIVE,
    others: list[Any] | None = None,
) -> None:
    """Compare cotangents with differences. ``weighted(directions, step)`` is the result, summed with the weights
    that the cotangents were made with, at the numbers and arrays ``leaves`` moved by ``step`` along ``directions``.
    At a kink the slope on either side, and any between, is right; where a difference is no finite number nothing is
    known, which is enough. ``found`` is what was recorded: the sum of the result, and that of its absolute values.
    Only what ``doubtful`` has ones for moves where it is given, and the differences must be finite numbers.
    ``relative`` is how far both may be apart, relative to the larger one, beside what two differences differ by; half
    of what ``others``, cotangents that may be right in the place of these, are away is too far.

    Raises NoDerivativeError where they do not agree.
    """
    draws = np.random.default_rng(7)
    directions, slope, size = [], 0.0, 0.0
    is_strict = doubtful is not None
    for leaf, bar, part in zip(leaves, bars, doubtful if is_strict else [None] * len(leaves)):  # type: ignore[arg-type]
        direction = drawn_direction(draws, leaf)
        if part is not None:  # to one side: what is doubtful is often at the end of where the function is defined
            direction = np.abs(direction) * part
        directions.append(direction)
        terms = np.real(np.asarray(bar) * direction) if bar is not None else np.zeros(1)
        slope, size = slope + float(np.sum(terms)), size + float(np.sum(np.abs(terms)))
    limit = np.inf
    if others is not None:
        limit = 0.5 * abs(sum(float(np.sum(other * along)) for other, along in zip(others, directions)) - slope)
    step = max((STEP.get(np.real(leaf).dtype.itemsize, 1e-6) for leaf in map(np.asarray, leaves)), default=1e-6)
    try:
        above, below = weighted(directions, step), weighted(directions, -step)
        wide = (above - below) / (2.0 * step)
        is_near = abs(wide - slope) <= min(relative * max(size, abs(wide)), limit)
        if is_near and not is_strict:
            return
        half = 0.5 * step
        near_above, near_below = weighted(directions, half), weighted(directions, -half)
        middle = weighted(directions, 0.0)
        fine_above, fine_below = (
            [weighted(directions, side / FINER) for side in (step, -step)] if is_strict else [middle, middle])
    except Exception as problem:
        raise error("S2S214", name=name, reason="its recording cannot be held against differences") from problem
    if abs(middle - found[0]) > RELATIVE * step * found[1]:
        raise error("S2S214", name=name, reason="it gives another result when it runs again, and cannot be checked")
    if is_strict:
        precision = max(float(np.finfo(np.real(leaf).dtype).eps) for leaf in map(np.asarray, leaves))
        finer = [(fine_above - middle, above - middle), (middle - fine_below, middle - below)]
        growths = [_growth(*moved, 64.0 * FINER * precision * found[1]) for moved in finer]
        if "slope" in growths or np.isnan(middle):
            raise error("S2S202", name=name, reason="its derivative is zero times inf, and differences have no limit")
        if is_near and np.isfinite(wide):
            return
        if all(growth in ("value", "") for growth in growths) and "value" in growths:
            return
        noise = 4.0 * np.finfo(float).eps * found[1] / half
        moved = [(near_above - middle, above - middle), (middle - near_below, middle - below)]
        pairs = [(near / half, wide / step) for near, wide in moved]
        _agree_on_a_side(name, slope, relative * size, limit, noise, pairs)
        return
    near = (near_above - near_below) / (2.0 * half)
    allowed = relative * max(size, abs(near)) + 4.0 * abs(wide - near) + 1e-12
    sides = sorted([(near_above - middle) / half, (middle - near_below) / half])
    if not sides[0] - allowed <= slope <= sides[1] + allowed and np.isfinite(near) and np.isfinite(slope):
        raise error(
            "S2S214", name=name, reason=f"along one direction a recording gives {slope:.6g}, differences {near:.6g}"
        )


def _growth(near: float, wide: float, noise: float) -> str:
    """What grows without bound on a side, by how far a function is from its value a small step and a large one away:
    its ``"slope"`` where it comes near the value, as a root does, and its ``"value"`` where that is of another branch
    than those beside, as 0 is in place of ``1 / d``. A step between two values says nothing of a slope at its end:
    ``"neither"``, as where nothing grows. Empty where the function has no values."""
    if not np.isfinite(near) or not np.isfinite(wide):
        return ""
    near, wide = abs(near), abs(wide)
    if FINER * near <= 1.15 * wide + noise:
        return "neither"
    return "value" if near > 1.1 * wide else "slope" if near < 0.9 * wide else "neither"


def _agree_on_a_side(
    name: str, slope: float, allowed: float, limit: float, noise: float, sides: list[tuple[float, float]]
) -> None:
    """Compare a slope with differences to the sides where the function is defined and does not jump: pairs for a
    smaller and a larger step, of which those of a jump grow as the step shrinks. ``noise`` is what rounding makes."""
    found = [(near, wide) for near, wide in sides if abs(near) <= 1.1 * abs(wide) + noise + 1e-9 and np.isfinite(wide)]
    if not found or not np.isfinite(slope):
        raise error("S2S202", name=name, reason="its derivative is zero times inf, and differences are no numbers")
    allowed = min(limit, allowed + 4.0 * max(abs(wide - near) for near, wide in found) + noise + 1e-12)
    least, greatest = min(near for near, _ in found), max(near for near, _ in found)
    if not least - allowed <= slope <= greatest + allowed:
        reason = f"along one direction a recording gives {slope:.6g}, differences {found[0][0]:.6g}"
        raise error("S2S214", name=name, reason=reason)


def drawn_direction(draws: Any, leaf: Any) -> Any:
    """A direction in which an argument moves, in proportion to its size."""
    made = draws.uniform(0.5, 1.0, np.shape(leaf)) * draws.choice([-1.0, 1.0], np.shape(leaf))
    if np.iscomplexobj(leaf):
        made = made * np.exp(1j * draws.uniform(0.0, 6.28, np.shape(leaf)))
    scale = np.maximum(np.abs(leaf), 1e-2)
    return np.asarray(made * scale)[()] if is_number(leaf) else made * scale
