"""The recordings that last, and what all of them are asked: whether a value depends on what is differentiated."""

from __future__ import annotations

import io
import math
import re
from typing import Any

import numpy as np

from s2s.core.inspection import is_hashable, name_of, with_article
from s2s.errors import error
from s2s.recorded.kinds import is_opaque
from s2s.recorded.memory import owner_of
from s2s.recorded.recorder import Recorder, digits_of, is_a, is_number, items_of, kind_of, pack
from s2s.rules import table
from s2s.versions.paths import what_to_give

__all__ = [
    "ACTIVE", "as_constants", "before_change", "check_read", "checked", "depends", "gives_argument", "handed_on",
    "has_new", "hides", "is_kept", "keep_given", "kept", "no_rule", "taint", "written",
]

ACTIVE: list[Recorder] = []
"""The recordings that last, outermost first. Threads that the program starts are recorded too."""


def written(*values: Any) -> Any:
    """A value that becomes a part of a text, the first of these. What is read back from texts then is refused: nobody
    knows what it is."""
    if ACTIVE and (depends(*values) or hides(values, {})):
        for recorder in ACTIVE:
            recorder.write(values)
    return values[0] if values else None


def check_read(fn: Any, *values: Any) -> None:
    """Raise NoDerivativeError where a number is read from a text, after one was written that carries a derivative."""
    known = [recorder.written for recorder in ACTIVE if recorder.written]
    is_any = getattr(fn, "__name__", "") == "fromhex"
    if any(_may_hold(value, {*digits, ""} if is_any else digits) for value in values for digits in known):
        raise error("S2S180", name=name_of(fn))


_NUMBER = re.compile(r"(?<![A-Za-z_0-9])\.?[0-9][0-9_]*(?:\.[0-9]+)?")


def _may_hold(value: Any, known: set[str]) -> bool:
    """Whether a number that was written can be read from a value: a text with its digits, or some of them, that are no
    part of a name, or bytes, or what keeps things in a way of its own. A number that was rounded is another one, which
    does not change where the number does."""
    if is_a(value, str):
        found = list(map(digits_of, _NUMBER.findall(value)))
        return bool(found) and ("" in known or any(_is_part(one, other) for one in found for other in known))
    return is_a(value, (bytes, bytearray, memoryview, io.IOBase)) or is_opaque(value)


def _is_part(one: str, other: str) -> bool:
    """Whether digits are those of a number, or so many of them that they change where it does."""
    return one == other or (min(len(one), len(other)) > 3 and (one in other or other in one))


def hides(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an argument is an object, or a function, that holds what depends on what is differentiated."""
    return any(recorder.hides(*args, *kwargs.values()) for recorder in ACTIVE)


def as_constants(fn: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The result of a call that is not recorded."""
    recorders = ACTIVE[:]
    ACTIVE.clear()
    try:
        return fn(*args, **kwargs)
    finally:
        ACTIVE[:] = recorders


def depends(*values: Any) -> bool:
    return any(recorder.depends(value) for recorder in ACTIVE for value in values)


def kept(*values: Any) -> None:
    """Note, in the shape of the recording, whether values that something keeps depend on what is differentiated: what
    reads them later may not be watched."""
    recorder = ACTIVE[0]
    recorder.trace.append(recorder.depends(values) or recorder.hides(*values))


def before_change(array: np.ndarray[Any, Any]) -> None:
    for recorder in ACTIVE:
        recorder.changes(array, ACTIVE)


def taint(*values: Any) -> None:
    """Note objects that may keep what depends on what is differentiated: numbers that come out of them are refused."""
    leaves: list[Any] = []
    pack(values, leaves)
    for leaf in list(leaves):
        if is_a(leaf, np.ndarray) and kind_of(leaf) == "O":
            leaves += items_of(leaf)
    for value in leaves:
        if is_opaque(value):
            for recorder in ACTIVE:
                recorder.tainted[id(value)] = value


def keep_given(value: Any, *given: Any) -> None:
    """Note what an object of compiled code was given, which it may give again."""
    for recorder in ACTIVE:
        recorder.given.setdefault(id(value), [value]).extend(given)


def is_kept(value: Any, found: Any) -> bool:
    """Whether what an object of compiled code has holds no number but those that the object was given."""
    known = ACTIVE[0].given.get(id(value), [value])
    return not has_new((value, *(part for one in known[1:] for part in ACTIVE[0].parts_of(one, 6))), {}, found)


def gives_argument(out: Any, args: tuple[Any, ...]) -> bool:
    return any(out is arg for arg in args) or depends(out)


def no_rule(fn: Any, args: tuple[Any, ...]) -> Exception:
    """The NoDerivativeError of a function of which nothing is known; of one for numbers that is given an object,
    nothing is known of the object."""
    is_known = any(fn is kind for kind in (float, int, complex)) or (is_hashable(fn) and table.find(fn) is not None)
    given = next((arg for arg in args if not is_number(arg) and not is_a(arg, np.ndarray)), None)
    if is_known and given is not None:
        return error("S2S201", name=f"`{name_of(fn)}` of {with_article(type(given).__name__)}")
    return error("S2S201", name=name_of(fn), hint=what_to_give(fn))


def handed_on(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
    """The result of a call of what is not Python code with objects that hold what depends on what is differentiated: it
    must hand on what these hold. What it may have kept is noted."""
    given = (*args, getattr(fn, "__self__", None))
    held = [
        part for recorder in ACTIVE[:1] for value in (*given, *kwargs.values()) for part in recorder.parts_of(value)
    ]
    if has_new((*given, held), kwargs, out) and not is_a(out, (bool, int, str)):
        raise no_rule(fn, args)
    taint(out, *given, *kwargs.values())
    return out


def checked(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
    """The result of code that is not watched, which must hand on what it is given."""
    if depends(args, kwargs) and has_new(args, kwargs, out):
        raise no_rule(fn, args)
    return out


_CONSTANTS = frozenset(id(getattr(module, name)) for module in (math, np) for name in ("nan", "inf", "pi", "e"))
"""Numbers that are objects of modules: nothing computes these very ones."""


def has_new(args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> bool:
    """Whether a result holds a number or an array that was not there before."""
    given: list[Any] = []
    pack((args, tuple(kwargs.values())), given)
    ids = set(map(id, given))
    for leaf in given:
        if is_a(leaf, np.ndarray) and kind_of(leaf) == "O":
            ids |= set(map(id, items_of(leaf)))
    owners = {id(owner_of(a)) for a in given if is_a(a, np.ndarray)}
    outs = list(ACTIVE[0].parts_of(out, 6)) if ACTIVE else []
    for leaf in list(outs):
        if is_a(leaf, np.ndarray) and kind_of(leaf) == "O":
            outs += items_of(leaf)
    for leaf in outs:
        if is_number(leaf) and id(leaf) not in ids and id(leaf) not in _CONSTANTS and not depends(leaf):
            return True
        if is_a(leaf, np.ndarray) and kind_of(leaf) in "fcV" and id(owner_of(leaf)) not in owners and (
            not depends(leaf)
        ):
            return True
    return False
