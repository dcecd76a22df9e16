"""The text of a version in, the same out with a check of the arguments that it was made for: one that a branch was
chosen by is the only one that the text is right for, and a call from elsewhere may give another one.

    def f_grad(x, flag=True):                   def f_grad(x, flag=True):
        x_bar = 2 * x                   ->          if not flag:
        return x_bar                                    raise ValueError("f_grad was made for flag=True")
                                                    x_bar = 2 * x
                                                    return x_bar
"""

from __future__ import annotations

import ast
import dis
import types
from typing import Any

from s2s.codegen.heading import is_plain, literal
from s2s.codegen.layout import laid_out
from s2s.codegen.printing import WIDTH
from s2s.core.values import Known
from s2s.dispatch.version import Version

__all__ = ["with_conditions"]


def with_conditions(version: Version, text: str, function: types.FunctionType) -> str:
    """The text with a check at the start of its entry, of those arguments that the function which is differentiated
    reads, and that are numbers or words known to the version."""
    entry = _entry(text, version.compiled.entry)
    if entry is None or entry.decorator_list:
        return text
    names = [a.arg for a in entry.args.args]
    read = _read(function)
    known = {
        name: aval.value for name, aval in zip(names, version.avals, strict=False)
        if name in read and isinstance(aval, Known) and is_plain(aval.value)
    }
    if not known:
        return text
    test = " or ".join(_differs(name, value) for name, value in known.items())
    said = ", ".join(f"{name}={literal(value)}" for name, value in known.items())
    message = ast.Constant(f"{entry.name} was made for {said}")
    raised = ast.Call(ast.Name("ValueError", ast.Load()), [message], [])
    lines = [
        *laid_out(ast.parse(test, mode="eval").body, WIDTH - 4, "if ", ":"),
        *("    " + line for line in laid_out(raised, WIDTH - 8, "raise ")),
    ]
    start = _first_statement(entry)
    rest = text.split("\n")
    return "\n".join([*rest[:start], *("    " + line for line in lines), *rest[start:]])


def _entry(text: str, name: str) -> ast.FunctionDef | None:
    return next((n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == name), None)


def _first_statement(entry: ast.FunctionDef) -> int:
    """How many lines come before the body, the docstring among them."""
    if ast.get_docstring(entry, clean=False) is not None:
        return entry.body[0].end_lineno or 0
    return entry.body[0].lineno - 1


def _differs(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"not {name}" if value else name
    return f"{name} is not None" if value is None else f"{name} != {literal(value)}"


def _read(function: types.FunctionType) -> set[str]:
    """The variables that a function reads, or functions in it."""
    found = set(function.__code__.co_cellvars)
    for step in dis.get_instructions(function):
        if step.opname.startswith("LOAD_FAST"):
            found.update(step.argval if isinstance(step.argval, tuple) else (step.argval,))
    return found
