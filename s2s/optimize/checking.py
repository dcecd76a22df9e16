"""Whether a function obeys the rules of the IR: asked of what is emitted always, of each pass where tests ask."""

from __future__ import annotations

import os
from collections.abc import Collection

from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.check import check
from s2s.core.lines import lines_of
from s2s.errors import error
from s2s.optimize.memory_versions import check as check_versions

__all__ = ["are_checked", "checked", "refused", "sound"]


def are_checked() -> bool:
    """Whether the environment asks for a check after each pass, as the tests do."""
    return os.environ.get("S2S_CHECK_IR", "") not in ("", "0")


def checked(function: ir.Function, context: Context | None = None) -> ir.Function:
    """The function, its IR verified where the environment asks for it, as the tests do; the versions of memory that it
    reads too where it has them."""
    if not are_checked():
        return function
    check(function)
    return function if context is None else check_versions(function, context)


def sound(
    function: ir.Function, context: Context | None = None, delayed: dict[int, Collection[ir.Var]] | None = None
) -> ir.Function:
    """The function, its IR verified always: code that reads a variable or an array too early or too late could give a
    wrong number. ``delayed`` are the variables that the emitter has folded into what reads them, by function."""
    try:
        if delayed is None:
            check(function)
        return function if context is None else check_versions(function, context, delayed or {})
    except ir.BrokenIR as problem:
        raise refused(problem, function) from None


def refused(problem: ir.BrokenIR, function: ir.Function) -> Exception:
    """What is raised for code that breaks a rule of the IR: what it is where the tests ask for that, else a refusal."""
    if are_checked():
        return problem
    line = next((line.strip() for line in lines_of(str(problem)) if "<--" in line), str(problem))
    return error("S2S901", span=function.span, problem=f"its generated code is broken, {line}")
