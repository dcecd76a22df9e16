"""A derivative with NaN goes in; out comes the same call's by a version with strong zeros, or by a recording.

    w = (x + x.T) * mask                          # zeros on the diagonal
    np.sum(np.sqrt(w) @ w)                        # whose slopes, inf, meet the zeros of the mask in the reverse sweep

The version is compiled where a derivative is NaN. It serves later calls with the same arguments at once, and is checked
against differences where its zeros decide something for the first time, and at growing intervals.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s import runtime as rt
from s2s.core.codes import own_codes
from s2s.core.critical import section
from s2s.dispatch.recorded import is_recordable, is_recorded, may_be_repeated
from s2s.dispatch.version import Version
from s2s.versions.paths import imported
from s2s.versions.request import STRONG_ZEROS

if TYPE_CHECKING:
    from s2s.dispatch.dispatcher import Dispatcher

__all__ = ["PLACES", "has_nan", "is_steep", "without_nan"]

_STEEP = re.compile(
    r"(sqrt|cbrt|log(2|10|1p)?|power|arc\w+|acos|asin|hypot|divide|reciprocal|gamma)\(|\b(special\w*|linalg)\.\w+\(|"
    r" /=? (?![\d.]+\b)"  # a quotient whose divisor is no literal
)
"""What can have a slope that is inf where the value is finite or left out, as generated code calls it."""

PLACES = {
    "grad": 0, "elementwise_grad": 0, "jacfwd": 0, "jacrev": 0,
    "value_and_grad": 1, "value_and_jacfwd": 1, "value_and_jacrev": 1, "jvp": 1,
}
MOST_PLACES = 64
"""The calls of so many sets of places at which strong zeros decide are counted; those of others are checked."""

MOST_IN_VAIN = 2
"""A version for which so many recordings had NaN as well is asked no more, nor one with strong zeros that were wrong so
often."""


def _is_looked_at(version: Version) -> bool:
    """Whether a derivative's results are looked at: those of programs in which a slope can be inf."""
    request = version.request
    backend = dict(request.options).get("backend", "numpy")
    if request.mode not in PLACES or not may_be_repeated(request) or backend != "numpy":
        return False
    return not is_recorded(version.compiled) and STRONG_ZEROS not in request.options and is_steep(version)


def is_steep(version: Version) -> bool:
    """Whether there may be a slope that is inf where the value is finite, and not what the derivative depends on."""
    text = version.compiled.text
    return _STEEP.search(text) is not None or ("**" in text and _has_steep_power(text))


def _has_steep_power(text: str) -> bool:
    """Whether there is a power whose exponent is no integer, 0 or more: others have a slope everywhere."""
    nodes = ast.walk(ast.parse(text))
    exponents = [n.right for n in nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow)]
    return any(not isinstance(e, ast.Constant) or not isinstance(e.value, int) for e in exponents)


def without_nan(dispatcher: Dispatcher, version: Version) -> Callable[..., Any]:
    """A version's function, whose derivative is that of a version with strong zeros, or of a recording, where it is NaN
    and that of the other one is not."""
    if not _is_looked_at(version):
        return version.run
    run, checked = version.run, _Checked(dispatcher, version)
    place, by_strong, again = checked.place, checked.by_strong, checked.again

    def call(*values: Any) -> Any:
        if version.strong is not None:
            return by_strong(version.strong, values)
        result = run(*values)
        part = result if place is None else result[place]
        for one in part if part.__class__ is tuple else (part,):
            kind = one.__class__
            if kind is float or kind is np.float64:
                if one != one:
                    break
            elif kind is np.ndarray and one.dtype.kind == "f":
                size = np.vdot(one, one)
                if size != size:
                    break
            elif has_nan(one, True):
                break
        else:
            return result
        return again(values, result)

    return call


class _Served:
    """How many calls a version with strong zeros has answered, and how many numbers these have decided ``most``."""

    def __init__(self) -> None:
        self.calls, self.most = 0, Counter[Any]()

    def is_due(self, counts: Counter[Any]) -> bool:
        """Whether the next call is to be checked: after one, two, four ... or where zeros decide more than ever."""
        return self.calls & (self.calls - 1) == 0 or not counts <= self.most


class _Checked:
    """The calls of one version. ``served`` are those that the version with strong zeros has answered, by the places at
    which its zeros decided."""

    def __init__(self, dispatcher: Dispatcher, version: Version) -> None:
        self.dispatcher, self.version, self.run = dispatcher, version, version.run
        mode, has_aux = version.request.mode, version.request.has_aux
        self.place = PLACES[mode] if has_aux or PLACES[mode] else None
        # the value is a derivative, which may be NaN too
        self.is_second = self.place == 1 and dispatcher.target.derived is not None
        self.served: dict[frozenset[Any], _Served] = {}
        self.wrong = self.in_vain = 0

    def by_strong(self, strong: Version, values: tuple[Any, ...]) -> Any:
        """The derivative with strong zeros, checked where these decide what they have not before, and at growing
        intervals."""
        with rt.Decisions() as decisions:
            result = strong.run(*values)
        if self.is_nan(result):
            return self.again(values, result)
        if not decisions.counts:
            return result
        served = self.served.get(frozenset(decisions.counts))
        if served is None or served.is_due(decisions.counts):
            return self.again(values, result)
        served.calls += 1
        return result

    def is_nan(self, result: Any) -> bool:
        return has_nan(result if self.place is None else result[self.place], True)

    def again(self, values: tuple[Any, ...], result: Any) -> Any:
        """The derivative of a call in the place of a ``result`` that is NaN, or to be checked."""
        place = self.place
        if has_nan(values) or (place == 1 and not self.is_second and has_nan(result[0])):
            return result
        is_strong = self.version.strong is not None
        again = None if self.wrong == MOST_IN_VAIN else self._with_strong_zeros(values)
        if again is None:
            result = self.run(*values) if is_strong else result
            if self.in_vain == MOST_IN_VAIN or not self.is_nan(result):
                return result
            again = _recorded(self.dispatcher, self.version, values)
            if again is None or self.is_nan(again):
                self.in_vain += 1
                return result
        if place is None or self.is_second:
            return again
        return (*result[:place], again[place], *result[place + 1 :])

    def _with_strong_zeros(self, values: tuple[Any, ...]) -> Any:
        """The derivative with strong zeros, where differences agree with it; None elsewhere."""
        try:
            strong, found = self.version.strong or self.dispatcher.with_strong_zeros(self.version, values), None
            if not is_recorded(strong.compiled):
                checked = imported("s2s.recorded.strong_zeros:checked")
                function = self.dispatcher.target.innermost.function
                found = checked(function, values, self.version.request, strong.primal, self.run, strong.run)
        except Exception:  # what was computed stays
            found = None
        if found is None:
            self.served.clear()
            self.wrong += 1
            self.version.strong = None if self.wrong == MOST_IN_VAIN else self.version.strong
            return None
        result, counts = found
        self.version.strong = strong
        if counts is None:  # some numbers stay NaN: the next call is checked again
            self.served.clear()
            return result
        places = frozenset(counts)
        if places in self.served or len(self.served) < MOST_PLACES:
            served = self.served.setdefault(places, _Served())
            served.calls += 1
            served.most |= counts
        return result


def has_nan(value: Any, inside: bool = False) -> bool:
    """Whether there is a NaN in a number, an array, or a container of such; ``inside`` other objects too, as in a
    derivative, which holds no more than numbers."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc" and bool(np.isnan(value).any())
    if isinstance(value, (float, complex, np.inexact)):
        return bool(value != value)
    if isinstance(value, dict):
        return any(has_nan(item, inside) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(has_nan(item, inside) for item in value)
    return inside and any(has_nan(getattr(value, name), True) for name in rt.attributes_of(value))


def _recorded(dispatcher: Dispatcher, version: Version, values: tuple[Any, ...]) -> Any:
    """What a recording of a call gives, which nothing notices; None where it is refused, or draws random numbers: those
    of the call are gone."""
    from s2s.dispatch.failures import recording_of

    if not is_recordable(version.request):
        return None
    problem = FloatingPointError("a slope that is inf times zero is NaN")
    try:
        count, is_pushed = len(version.avals), version.request.mode == "jvp"
        with section, own_codes():
            again = recording_of(dispatcher, version, problem, values[:count])

        def call(*given: Any) -> Any:
            return again.call(*given[:count])(*given[count:]) if is_pushed else again.call(*given)

        return imported("s2s.recorded.entry:repeated")(dispatcher.target.innermost.function, values, call)
    except Exception:  # what was computed stays
        return None
