"""A derivative with NaN goes in; out comes the same call's by a recording, whose zeros are strong.

    w = (x + x.T) * mask                          # zeros on the diagonal
    np.sum(np.sqrt(w) @ w)                        # whose slopes, inf, meet the zeros of the mask in the reverse sweep
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.core.codes import own_codes
from s2s.core.critical import section
from s2s.core.values import Known, Scalar
from s2s.dispatch.recorded import is_recordable, is_recorded
from s2s.dispatch.version import Version
from s2s.versions.paths import imported

if TYPE_CHECKING:
    from s2s.dispatch.dispatcher import Dispatcher

__all__ = ["without_nan"]

_STEEP = ("sqrt(", "cbrt(", "log(", "log2(", "log10(", "power(", "arc", "acos(", "asin(", "hypot(", "norm(")
"""What has a slope that is inf where its value is finite, as generated code calls it."""

_CHOOSES = re.compile(
    r"\b(where|select|choose|piecewise|nan_to_num|minimum|maximum|clip|isfinite|isnan|isinf|exp)\(| [<>=!]=? "
)
"""What can make a finite value of one that is infinite, as generated code writes it: a choice, a test for a mask,
``exp(-1.0 / x)``."""

_DIVIDES = re.compile(r" /=? (?![\d.]+\b)")
"""A quotient whose divisor is no literal."""

_PLACES = {
    "grad": 0, "elementwise_grad": 0, "jacfwd": 0, "jacrev": 0,
    "value_and_grad": 1, "value_and_jacfwd": 1, "value_and_jacrev": 1, "jvp": 1,
}
MOST_IN_VAIN = 2
"""A version for which so many recordings had NaN as well is asked no more."""


def _is_looked_at(version: Version) -> bool:
    """Whether a derivative's results are looked at: those by arrays, of programs in which a slope can be inf."""
    request = version.request
    backend = dict(request.options).get("backend", "numpy")
    if request.mode not in _PLACES or not is_recordable(request) or backend != "numpy":
        return False
    has_arrays = not all(isinstance(aval, (Scalar, Known)) for aval in version.avals)
    if not has_arrays or is_recorded(version.compiled):
        return False
    text = version.compiled.text
    if any(call in text for call in _STEEP) or ("**" in text and _has_steep_power(text)):
        return True
    return _DIVIDES.search(text) is not None and _CHOOSES.search(text) is not None


def _has_steep_power(text: str) -> bool:
    """Whether there is a power whose exponent is no integer, 0 or more: others have a slope everywhere."""
    nodes = ast.walk(ast.parse(text))
    exponents = [n.right for n in nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow)]
    return any(not isinstance(e, ast.Constant) or not isinstance(e.value, int) for e in exponents)


def without_nan(dispatcher: Dispatcher, version: Version) -> Callable[..., Any]:
    """A version's function, whose derivative is that of a recording where it is NaN and that of the recording
    is not."""
    if not _is_looked_at(version):
        return version.run
    mode, has_aux = version.request.mode, version.request.has_aux
    place = _PLACES[mode] if has_aux or _PLACES[mode] else None
    is_second = place == 1 and dispatcher.target.derived is not None  # the value is a derivative, which may be NaN too
    run, in_vain = version.run, 0

    def checked(*values: Any) -> Any:
        nonlocal in_vain
        result = run(*values)
        part = result if place is None else result[place]
        if part.__class__ is np.ndarray and part.dtype.kind == "f":
            size = np.vdot(part, part)
            if size == size:
                return result
        elif not has_nan(part):
            return result
        if in_vain == MOST_IN_VAIN or has_nan(values) or (place == 1 and not is_second and has_nan(result[0])):
            return result
        again = _recorded(dispatcher, version, values)
        if again is None or has_nan(again if place is None else again[place]):
            in_vain += 1
            return result
        if place is None or is_second:
            return again
        return (*result[:place], again[place], *result[place + 1 :])

    return checked


def has_nan(value: Any) -> bool:
    """Whether there is a NaN in a number, an array, or a container of such."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc" and bool(np.isnan(value).any())
    if isinstance(value, (float, complex, np.inexact)):
        return bool(value != value)
    if isinstance(value, dict):
        return any(map(has_nan, value.values()))
    return isinstance(value, (list, tuple)) and any(map(has_nan, value))


def _recorded(dispatcher: Dispatcher, version: Version, values: tuple[Any, ...]) -> Any:
    """What a recording of a call gives, which nothing notices; None where it is refused, or draws random numbers: those
    of the call are gone."""
    from s2s.dispatch.failures import recording_of

    problem = FloatingPointError("a slope that is inf times zero is NaN")
    primal = dispatcher.target
    while primal.derived is not None:
        primal = primal.derived.target
    try:
        count, is_pushed = len(version.avals), version.request.mode == "jvp"
        with section, own_codes():
            again = recording_of(dispatcher, version, problem, values[:count])

        def call(*given: Any) -> Any:
            return again.call(*given[:count])(*given[count:]) if is_pushed else again.call(*given)

        return imported("s2s.recorded.entry:repeated")(primal.function, values, call)
    except Exception:  # what was computed stays
        return None
