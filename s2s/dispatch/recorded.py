"""A function that the compiler refuses in, a version that records each call out.

    def loss_grad(x, model):
        # Each call is recorded: [S2S132] the contents of `model` are not known here (loss.py:7)
        return derivative_of_call(loss, (x, model), request, refusal)

``docs/design/recorded.md`` says when, and why.
"""

from __future__ import annotations

import inspect
import os
import re
import types
import weakref
from typing import Any

from s2s import notices
from s2s.core.linecaches import file_to_show
from s2s.core.lines import one_line
from s2s.core.record import replace
from s2s.core.tracebacks import tell_line
from s2s.dispatch.rungs import said_of
from s2s.errors import HINTS, NOWHERE
from s2s.versions.request import Compiled, Request
from s2s.versions.target import parameters_of

__all__ = [
    "advised", "has_code", "has_place", "is_always", "is_recordable", "is_recorded", "may_be_repeated", "may_record",
    "recorded", "tell",
]

_MODES = frozenset(
    {
        "grad",
        "value_and_grad",
        "vjp",
        "jvp",
        "elementwise_grad",
        "jacfwd",
        "jacrev",
        "value_and_jacfwd",
        "value_and_jacrev",
    }
)
_CODES = re.compile(r"S2S(1|2|30)\d+")
_MODULE = "s2s.recorded.entry"
_LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_told = weakref.WeakSet[types.FunctionType]()
"""The functions that a warning has told of: the ``warnings`` module forgets, when its filters change for a while."""


def may_record(problem: Exception, request: Request, function: types.FunctionType) -> bool:
    """Whether calls of a function for which the compiler has raised may be recorded instead. Those of a generator or a
    coroutine give an object that has computed nothing."""
    if function.__code__.co_flags & _LATER:
        return False
    return is_recordable(request) and (getattr(problem, "diagnostic", None) is None or has_code(problem))


def has_code(problem: Any) -> bool:
    """Whether a refusal is about syntax, objects, missing rules or missing source; none is where the compiler made a
    mistake, the program raises, or there is no derivative."""
    diagnostic = getattr(problem, "diagnostic", None)
    return diagnostic is not None and diagnostic.code != NOWHERE and _CODES.match(diagnostic.code) is not None


def advised(problem: Any, refusal: Any) -> Any:
    """The refusal of a recording, with what the compiler says to do where the recording has no advice of its own."""
    given = problem.diagnostic
    is_plain = given.code in ("S2S201", "S2S202", "S2S214") and given.hint == HINTS[given.code]
    has_none = is_plain and not has_place(problem)
    if not (has_none and has_code(refusal) and refusal.diagnostic.hint):
        return problem
    made = type(problem)(replace(given, hint=refusal.diagnostic.hint))
    return made.with_traceback(problem.__traceback__)


def has_place(refusal: Any) -> bool:
    """Whether a refusal shows a line of the program."""
    return refusal.diagnostic.span is not None or len(refusal.__notes__) > 1


def is_always(request: Request) -> bool:
    """Whether calls are recorded without asking the compiler, as ``S2S_RECORDED=always`` says: for tests."""
    return os.environ.get("S2S_RECORDED") == "always" and is_recordable(request)


def is_recordable(request: Request) -> bool:
    """Whether what is asked for is something that a recording gives."""
    return os.environ.get("S2S_RECORDED", "1") != "0" and request.mode in _MODES and _is_real(request)


def _is_real(request: Request) -> bool:
    return bool(request.wrt) and not dict(request.options).get("holomorphic")


def may_be_repeated(request: Request) -> bool:
    """Whether what is asked for is the derivative that differences have."""
    options = dict(request.options)
    return _is_real(request) and not (options.get("choices") or options.get("nonsmooth"))


def is_recorded(compiled: Compiled) -> bool:
    """Whether a version records each call."""
    return any(path.startswith(_MODULE) for path in compiled.imports.values())


def recorded(function: types.FunctionType, request: Request, problem: Any, is_told: bool = True) -> Compiled:
    """The version that records each call; ``problem`` says why there is no other."""
    name = function.__name__.strip("<>")
    own = [p.name for p in parameters_of(function)]
    tangents = [f"{'_'.join(map(str, path))}_dot" for path in request.wrt] if request.mode == "jvp" else []
    tangents = [re.sub(r"\W", "_", dot) for dot in tangents]
    code = function.__code__
    entry = f"{name}_{request.mode}"
    values = "".join(f"{n}, " for n in own)
    moved = "".join(f"{n}, " for n in tangents)
    given = f"({values.rstrip() if len(own) == 1 else values.rstrip(', ')})"
    extra = f", ({moved.rstrip() if len(tangents) == 1 else moved.rstrip(', ')})" if tangents else ""
    place = f"{file_to_show(code.co_filename)}:{code.co_firstlineno}"
    why, said = _reason(problem)
    text = (
        f"def {entry}({', '.join([*own, *tangents])}):\n"
        f'    """The derivative of {name} ({place}). Generated by s2s; do not edit."""\n'
        f"    # Each call is recorded while it runs, as {why}:\n"
        f"    # {one_line(said)}\n"
        f"    return derivative_of_call(primal, {given}, request, refusal{extra})\n"
    )
    tell_line(problem)
    if is_told:  # a version must not keep what they refer to
        problem.__traceback__ = problem.__context__ = problem.__cause__ = None
    objects = {"primal": function, "request": request, "refusal": problem}
    return Compiled(text, entry, {"derivative_of_call": f"{_MODULE}:derivative_of_call"}, objects)


def tell(function: types.FunctionType, request: Request, problem: Any) -> None:
    """Warn, once, that the calls of a function are recorded, and why."""
    if is_always(request) or "__s2s_linked__" in vars(function) or function in _told:
        return
    _told.add(function)
    why, said = _reason(problem)
    name, code = function.__name__.strip("<>"), function.__code__
    warning = f"`{name}` is recorded at each call, as {why}: {said}"
    notices.tell([notices.Notice("RecordedWarning", warning, code.co_filename, code.co_firstlineno, name)])


def _reason(problem: Any) -> tuple[str, str]:
    """Why a function is recorded, and what was said of it."""
    if hasattr(problem, "diagnostic"):
        return "the compiler refuses it", said_of(problem)
    return "compiled code fails", f"{type(problem).__name__}: {said_of(problem)}"
