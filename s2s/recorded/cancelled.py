"""Cotangents that are NaN because infinite ones cancel, computed by tangents, in which nothing is infinite.

    y = (x - np.min(x)) ** 0.3          # at the least x the slope is inf, and comes back to it twice: inf - inf

There the tangent of ``x - np.min(x)`` is zero, whatever x does, and zeros are strong: so is that of its power.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.recorded import operations
from s2s.recorded.memory import Place
from s2s.recorded.recorder import Recorder
from s2s.recorded.sweeps import Backward, Forward

__all__ = ["MOST_TANGENTS", "fill", "filled", "in_doubt", "strongly_pushed"]

MOST_TANGENTS = 100
"""For so many numbers at most the derivative is computed by a tangent each."""


def in_doubt(bars: list[Any]) -> int:
    """How many numbers of real cotangents are NaN; more than ``MOST_TANGENTS`` where none is to be computed."""
    found = [bar for bar in bars if bar is not None]
    if operations.ACTIVE or any(np.result_type(bar).kind != "f" for bar in found):
        return MOST_TANGENTS + 1
    return sum(int(np.sum(np.isnan(bar))) for bar in found)


def filled(
    recorder: Recorder, refs: list[Any], bars: list[Any], results: list[tuple[Any, Any]]
) -> list[Any]:
    """Cotangents, with the derivative along each number in place of those that are NaN: the tangents of the
    ``results``, which stand there with their cotangents, times these."""
    made = []
    for ref, bar in zip(refs, bars):
        if bar is None or not np.isnan(bar).any():
            made.append(bar)
            continue
        whole = np.array(bar)
        for index in zip(*np.nonzero(np.isnan(np.atleast_1d(whole)))):
            along = np.zeros(np.shape(np.atleast_1d(whole)), whole.dtype)
            along[index] = 1.0
            place = index if whole.ndim else ()
            whole[place] = _along(recorder, ref, along.reshape(whole.shape), results)
        made.append(whole if isinstance(bar, np.ndarray) else type(bar)(whole[()]))
    return made


def fill(sweep: Backward, refs: list[Any], results: list[tuple[Any, Any]]) -> None:
    """Put what tangents say in place of cotangents that are NaN."""
    bars = [None if ref is None else sweep.value(ref) for ref in refs]
    if not 0 < in_doubt(bars) <= MOST_TANGENTS:
        return
    for ref, bar, whole in zip(refs, bars, filled(sweep.recorder, refs, bars, results)):
        if bar is None or whole is bar:
            continue
        if isinstance(ref, Place):
            sweep.view(ref)[...] = whole
        else:
            sweep.numbers[ref] = whole


def strongly_pushed(recorder: Recorder, leaf: Any, moving: list[tuple[Any, Any]]) -> Any:
    """The tangent of a part of a result, if zeros are strong."""
    sweep = Forward(recorder, has_strong_zeros=True)
    for ref, dot in moving:
        sweep.set(ref, dot)
    sweep.run()
    return sweep.value(recorder.ref(leaf))


def _along(recorder: Recorder, ref: Any, tangent: Any, results: list[tuple[Any, Any]]) -> float:
    sweep = Forward(recorder, has_strong_zeros=True)
    sweep.set(ref, tangent if tangent.ndim else tangent.dtype.type(tangent))
    sweep.run()
    total = 0.0
    for result, bar in results:
        dot = None if result is None or bar is None else sweep.value(result)
        if dot is not None:
            total += float(np.sum(np.multiply(bar, dot)))
    return total
