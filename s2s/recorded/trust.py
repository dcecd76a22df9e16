"""Which recordings are held against differences: those of another shape than any before, and of each shape every second
call, then every fourth, and so on.

The *shape* of a recording is the graph of its steps without the numbers in it: which functions are called with operands
of which kinds, which operands depend on what is differentiated and on which earlier steps, and which sides of branches
are taken between. Where something begins to go by unseen, an operand that depended on what is differentiated does so no
more, or another function is called: the shape is another one.
"""

from __future__ import annotations

import collections
import functools
import os
import types
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from s2s.core.inspection import is_hashable
from s2s.core.operators import OPERATORS
from s2s.recorded.memory import Place
from s2s.recorded.recorder import Arithmetic, Plain, Read, Recorder, Ref, Step
from s2s.recorded.unreached import Unreached
from s2s.versions.request import Request

__all__ = ["Trust", "is_always_checked", "shape_of", "trust_in"]

LONGEST = 64
"""So many calls of one shape at most are between two that are checked."""

MOST_SHAPES = 256
"""So many shapes of one function are known at most."""

MOST_FUNCTIONS = 1024

Shape: TypeAlias = int
"""The hash of what makes a shape."""


def is_always_checked() -> bool:
    """Whether every recording is held against differences, as ``S2S_RECORDED=always-checked`` says."""
    return os.environ.get("S2S_RECORDED") == "always-checked"


class Trust:
    """What is known of the recordings of one function for one request.

    ``is_repeatable`` says whether a run from where another has ended gives the same result: then what the function can
    reach need not be noted before each run. None where that is not known yet."""

    def __init__(self) -> None:
        self.is_repeatable: bool | None = None
        self.unreached = Unreached()
        self.seconds = 0.0
        """What one run of the function has taken when a recording of it was last checked."""
        self.strong: set[Shape] = set()
        """The shapes, with what sweeps have left out as zero times inf or NaN, for which that was right."""
        self._last: Shape = 0
        self._waits: dict[Shape, int] = {}
        self._left: dict[Shape, int] = {}

    def is_noted_first(self) -> bool:
        """Whether what the function can reach is to be noted before it runs: where it cannot be checked from where it
        ends, and where it is to be checked if it has the shape of the last run."""
        return not self.is_repeatable or self._left.get(self._last, 0) == 0

    def knows(self, shape: Shape) -> bool:
        """Whether a run of this shape has been checked."""
        return shape in self._waits

    def is_due(self, shape: Shape) -> bool:
        """Count a run, and say whether it is to be checked."""
        self._last = shape
        left = self._left.get(shape, 0)
        if left:
            self._left[shape] = left - 1
        return left == 0

    def passed(self, shape: Shape, is_complete: bool = True) -> None:
        """Note that a run has been checked. The next one of its shape is as well where the check was not complete, as
        what the function could reach before the run was not known."""
        if not is_complete:
            return
        if len(self._waits) >= MOST_SHAPES:
            self._waits.clear()
            self._left.clear()
            self.strong.clear()
        self._waits[shape] = wait = min(LONGEST, 2 * self._waits.get(shape, 1))
        self._left[shape] = wait - 1


_KNOWN: collections.OrderedDict[tuple[types.CodeType, str, Request], Trust] = collections.OrderedDict()


def trust_in(function: types.FunctionType, request: Request) -> Trust:
    """What is known of the recordings of a function: of its code, as closures are made anew for each call."""
    key = function.__code__, function.__code__.co_filename, request
    found = _KNOWN.setdefault(key, Trust())
    _KNOWN.move_to_end(key)
    if len(_KNOWN) > MOST_FUNCTIONS:
        _KNOWN.popitem(last=False)
    return found


def shape_of(recorder: Recorder, inputs: Iterable[Ref], outs: list[Any]) -> Shape:
    """The shape of a recording, from ``inputs`` to the numbers and arrays of a result."""
    owners: dict[int, int] = {}

    def named(ref: Ref) -> Any:
        """What a value is, the same in each recording: memory is numbered as it is met."""
        if not isinstance(ref, Place):
            return ref
        return -3 - owners.setdefault(ref.owner, len(owners))  # -1 and -2 have one hash

    parts: list[Any] = [*recorder.trace, *map(named, inputs)]
    for s in recorder.steps:
        kind = type(s)
        if kind is Arithmetic:
            parts.append((s.op, s.one, s.other, type(s.out)))
        elif kind is Plain and not s.kwargs and _is_operator(s.fn):
            parts.append((s.fn, *map(named, s.refs), *map(_kind_of_operand, s.leaves), named(s.out_refs[0])))
        elif kind is Step or kind is Plain:
            leaves = tuple(map(_kind_of_operand if _is_operator(s.fn) else _kind_of_argument, s.leaves))
            refs = tuple(map(named, s.refs)), tuple(map(named, s.out_refs))
            parts.append((_name_of(s.fn), *map(type, s.args), *s.kwargs, leaves, refs))
        else:
            array = named(s.place), _shape(s.place.shape), s.place.dtype.char, type(s.index), named(s.ref)
            parts.append((*array, type(s.out) if kind is Read else len(s.shape)))
    return hash((*parts, *(_kind_of_operand(leaf) for leaf in outs), *(named(recorder.ref(leaf)) for leaf in outs)))


def _name_of(fn: Any) -> Any:
    return (fn if is_hashable(fn) else type(fn)), getattr(fn, "__name__", "")


def _is_operator(fn: Any) -> bool:
    """Whether the integers among the arguments of a function are numbers, and no axes or other options."""
    return type(fn) is np.ufunc or (type(fn) is types.BuiltinFunctionType and fn in OPERATORS)


def _kind_of_argument(leaf: Any) -> Any:
    kind = type(leaf)
    return (kind, leaf) if kind in _OPTIONS else _kind_of_operand(leaf)


_OPTIONS = frozenset({int, bool, str, type(None)})


def _kind_of_operand(leaf: Any) -> Any:
    kind = type(leaf)
    return (kind, leaf.dtype.char, _shape(leaf.shape)) if kind is np.ndarray else kind


@functools.lru_cache(4096)
def _shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The lengths of an array as far as they say what it is: a single number along an axis, none, or several."""
    return tuple([min(n, 2) for n in shape])
