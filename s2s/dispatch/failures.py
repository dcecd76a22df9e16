"""A call that generated code has failed in goes in; out comes its result by a recording, if the primal does not fail.

    rows = table[:, 0]                            # IndexError in the reverse sweep: the call is recorded
    raise ValueError("no data")                   # of the program: it comes out as it is
    y = np.linalg.solve(a, b)                     # in the forward sweep: the primal is asked, unnoticed
"""

from __future__ import annotations

import copy
import traceback
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from s2s.core.codes import own_codes
from s2s.core.critical import section
from s2s.core.lines import lines_of
from s2s.dispatch.version import Version, renamed_for
from s2s.errors import DifferentiationError, error
from s2s.versions.paths import imported
from s2s.versions.request import Compiled

if TYPE_CHECKING:
    from s2s.dispatch.dispatcher import Dispatcher

__all__ = ["check_primal", "instead_of", "recording_of"]

_OF_MISTAKES = (TypeError, ValueError, LookupError, AttributeError, NameError, AssertionError, ArithmeticError)
_TRUSTED = ("s2s.", "numpy.", "scipy.")
"""Functions of these packages raise what they are given wrong."""


def instead_of(
    dispatcher: Dispatcher, version: Version, problem: Exception, values: tuple[Any, ...], then: Callable[[Any], Any]
) -> tuple[Any] | None:
    """The result, by a recording, of a call in which a version has raised what is no refusal; ``then`` is what the
    caller does with it. None where the exception is the program's own. A version stays where the recording is refused.

    Raises what the primal raises, where that is another exception, and the refusal of the recording. Where the primal
    gives a value and the recording fails too, the derivative is refused: no exception of a rule comes out.
    """
    if not _is_suspect(problem, version.compiled, version.raw.__code__):
        return None
    primal = dispatcher.target.innermost
    own = _raised_by_primal(primal.function, values, problem)
    if own is problem:
        return None
    if own is not None:
        raise own
    with section, own_codes():
        again = recording_of(dispatcher, version, problem, values)
    try:
        result = then(again.call(*values))
    except DifferentiationError as refusal:
        raise refusal from problem
    except Exception:  # a rule that both follow has failed
        _refuse(dispatcher, problem)
    with section, own_codes():
        dispatcher.record(version, problem, values)
    return (result,)


def check_primal(dispatcher: Dispatcher, version: Version, problem: Exception, values: tuple[Any, ...]) -> None:
    """Raise what the primal raises where a version that cannot be recorded has raised what is no refusal, and refuse
    the derivative where the primal gives a value. The exception of the program itself comes out as it is."""
    if not _is_suspect(problem, version.compiled, version.raw.__code__):
        return
    own = _raised_by_primal(dispatcher.target.innermost.function, values, problem)
    if own is None:
        _refuse(dispatcher, problem)
    if own is not problem:
        raise own


def _refuse(dispatcher: Dispatcher, problem: Exception) -> NoReturn:
    """Raise NoDerivativeError for what a rule has raised, which comes out as it is where it is said of the numbers, as
    of a singular matrix."""
    if isinstance(problem, (ArithmeticError, np.linalg.LinAlgError)):
        raise problem
    reason = f"{type(problem).__name__}, '{problem}', where the function itself gives a value"
    raise error("S2S212", name=dispatcher.target.name, reason=reason) from problem


def recording_of(dispatcher: Dispatcher, version: Version, problem: Exception, values: tuple[Any, ...]) -> Version:
    """A version that records each call, beside one that stays."""
    function = dispatcher.target.function
    inner: Dispatcher | None = dispatcher.target.derived
    if inner is not None:
        function = recording_of(inner, inner.version_for(values), problem, values).raw
    made = copy.copy(version)
    made.record(function, renamed_for(version.request, dispatcher.target, function), problem, is_told=False)
    return dispatcher.finished(made)


def _is_suspect(problem: Exception, compiled: Compiled, code: types.CodeType) -> bool:
    """Whether an exception that came out of generated code may be a mistake of that code. It is none where a ``raise``
    of the program, or a function of it, has raised it: the program is not run again to know that."""
    kind = type(problem)
    if not issubclass(kind, _OF_MISTAKES) or issubclass(kind, FloatingPointError):
        return False
    if kind.__module__.partition(".")[0] not in ("builtins", "numpy"):
        return False
    frames = list(traceback.walk_tb(problem.__traceback__))
    places = [k for k, (frame, _) in enumerate(frames) if frame.f_code.co_filename == code.co_filename]
    if not places:
        return False
    line = lines_of(compiled.text)[frames[places[-1]][1] - 1].split()
    if line[:1] in (["raise"], ["assert"]):
        return False
    return all(
        frame.f_code.co_filename.startswith("<s2s ") or str(frame.f_globals.get("__name__")).startswith(_TRUSTED)
        for frame, _ in frames[places[-1] + 1 :]
    )


def _raised_by_primal(function: types.FunctionType, values: tuple[Any, ...], problem: Exception) -> Exception | None:
    """What the primal raises for these arguments, which is the ``problem`` itself where it is such a one; None where it
    raises nothing. It runs unnoticed."""
    found: Exception | None = imported("s2s.recorded.entry:raised_by")(function, values, problem)
    return found
