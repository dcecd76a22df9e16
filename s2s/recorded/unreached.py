"""Calls of functions that nothing differentiated leads to: they run as they are, unwatched.

    def loss(x):
        check_settings(SETTINGS)      # asks twenty functions, each of which costs as much as a step if it is watched
        return np.sum(scaled(x) ** 2)

Whether one of the arguments of a call, what a closure holds, or a global variable that was assigned, depends on what is
differentiated is asked at each call. What a function finds elsewhere is not: there the recordings say it that are held
against differences, in which everything is watched. A function in whose calls these have met nothing that is
differentiated, and no change of an array that a step holds, is not watched in those that are not checked. What it could
find later was stored by watched code, which notes in the shape of the recording whether that depends on what is
differentiated: the shape is another one then, and the recording is checked.
"""

from __future__ import annotations

import inspect
import types
from typing import Any, NamedTuple

from s2s.recorded.install import code_of
from s2s.recorded.recorder import Recorder
from s2s.recorded.state import ACTIVE
from s2s.recorded.tools import INSTALLER

__all__ = ["Call", "Unreached", "is_unreached", "noted_call"]

_LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Call(NamedTuple):
    """A watched call of a function: its code, the part of the trace that was made within, and whether something
    differentiated was met there."""

    code: types.CodeType
    start: int
    stop: int
    is_reached: bool


MOST_MISSES = 8
"""So many recordings in a row with functions that were not watched may have a shape that no other has."""


class Unreached:
    """The functions, by the identity of their ``codes``, in which nothing differentiated was met in the recordings of
    one function that were checked. With ``is_over`` everything is watched from here on."""

    def __init__(self) -> None:
        self.codes: dict[int, types.CodeType] = {}
        self._reached: dict[int, types.CodeType] = {}
        self._misses = 0
        self.is_over = False

    def settle(self, recorder: Recorder) -> dict[int, types.CodeType]:
        """The functions in which nothing was met in a recording of watched calls either; what they have left in its
        trace is no part of its shape."""
        calls: list[Call] = recorder.calls or []
        self._reached |= {id(call.code): call.code for call in calls if call.is_reached}
        found = {id(call.code): call.code for call in calls} | self.codes
        found = {key: code for key, code in found.items() if key not in self._reached}
        self.codes = {key: code for key, code in self.codes.items() if key in found}
        outermost: list[Call] = []
        for call in sorted(calls, key=lambda call: (call.start, -call.stop)):
            if id(call.code) in found and (not outermost or call.start >= outermost[-1].stop):
                outermost.append(call)
        for call in reversed(outermost):
            del recorder.trace[call.start : call.stop]
        return found

    def count(self, is_known: bool) -> None:
        """Count a recording, the shape of which ``is_known``: where it is another one again and again as functions are
        not watched, they are watched."""
        self._misses = 0 if is_known else self._misses + bool(self.codes)
        if self._misses > MOST_MISSES:
            self.end()

    def end(self) -> bool:
        """Watch everything from here on; whether something was not watched before."""
        was_used, self.is_over, self.codes = bool(self.codes), True, {}
        return was_used


def is_unreached(function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether no argument of a call, and nothing that its function holds, leads to what is differentiated."""
    recorder = ACTIVE[0]
    if len(ACTIVE) > 1 or recorder.written:  # where a number is read from a text is seen in watched code
        return False
    given = (*args, *kwargs.values(), *(scope.get(name) for (_, name), scope in INSTALLER.stored.items()))
    if any(hasattr(type(value), "__next__") for value in given):  # what it computes later depends on more than is seen
        return False
    return not recorder.depends(given) and not recorder.hides(function, *given)


def noted_call(
    fn: Any, function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any], given: tuple[Any, ...]
) -> Any:
    """A watched call of ``fn`` with the arguments ``given``, those of ``function`` are ``args``; it is noted whether
    something differentiated was met in it."""
    recorder, code = ACTIVE[0], code_of(function)
    assert recorder.calls is not None
    recorder.met += bool(code.co_flags & _LATER)  # what it computes is computed later, and watched then
    if code.co_flags & _LATER or not is_unreached(function, args, kwargs):
        return fn(*given, **kwargs)
    start, before = len(recorder.trace), (len(recorder.steps), recorder.met, len(recorder.tainted))
    out = fn(*given, **kwargs)
    is_reached = before != (len(recorder.steps), recorder.met, len(recorder.tainted)) or bool(recorder.written)
    is_reached = is_reached or recorder.depends(out) or recorder.hides(out) or hasattr(type(out), "__next__")
    recorder.calls.append(Call(code, start, len(recorder.trace), is_reached))
    return out
