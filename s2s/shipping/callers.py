"""The text of a version in, the same for those who call it themselves out: it has the parameters of its primal, and
checks the arguments that it was made for: one that a branch was chosen by is the only one that the text is right for.

    def f_grad(x, flag, rest):                  def f_grad(x, flag=True, *rest):
        x_bar = 2 * x                   ->          if not flag:
        return x_bar                                    raise ValueError("f_grad was made for flag=True")
                                                    x_bar = 2 * x
                                                    return x_bar
"""

from __future__ import annotations

import ast
import dis
import inspect
import types
from collections.abc import Iterator
from collections.abc import Sequence as Several
from typing import Any

from s2s.codegen.heading import defaults_for, is_plain, literal
from s2s.codegen.layout import laid_out
from s2s.codegen.printing import WIDTH
from s2s.codegen.statements import heading
from s2s.core.values import AbstractValue, Known, Mapping, Sequence
from s2s.dispatch.version import Version
from s2s.versions.guards import KindGuard, ObjectGuard
from s2s.versions.target import parameters_of

__all__ = ["with_conditions", "with_parameters"]


def with_conditions(version: Version, text: str, function: types.FunctionType) -> str:
    """The text with a check at the start of its entry, of those arguments that the function which is differentiated
    reads, and of their parts: numbers and words known to the version, lengths and keys."""
    entry = _entry(text, version.compiled.entry)
    if entry is None or entry.decorator_list:
        return text
    names, read = [p.name for p in parameters_of(function)], _read(function)
    conditions = [
        condition for name, aval in zip(names, version.avals, strict=False) if name in read
        for condition in _conditions(name, aval)
    ]
    conditions = list(dict.fromkeys([*conditions, *_of_objects(version)]))
    if not conditions:
        return text
    test = " or ".join(differs for differs, _ in conditions)
    said = ", ".join(holds for _, holds in conditions)
    message = ast.Constant(f"{entry.name} was made for {said}")
    raised = ast.Call(ast.Name("ValueError", ast.Load()), [message], [])
    lines = [
        *laid_out(ast.parse(test, mode="eval").body, WIDTH - 4, "if ", ":"),
        *("    " + line for line in laid_out(raised, WIDTH - 8, "raise ")),
    ]
    start = _first_statement(entry)
    rest = text.split("\n")
    return "\n".join([*rest[:start], *("    " + line for line in lines), *rest[start:]])


def with_parameters(version: Version, text: str, function: types.FunctionType) -> str:
    """The text whose entry takes arguments as the function does that is differentiated, with ``*args`` and
    ``**kwargs``; where it takes more than these, tangents, as it is."""
    entry = _entry(text, version.compiled.entry)
    parameters = parameters_of(function)
    names = [p.name for p in parameters]
    if entry is None or entry.decorator_list or [a.arg for a in entry.args.args] != names:
        return text
    defaults = defaults_for(function, dict(zip(names, version.avals, strict=False)))
    lines = text.split("\n")
    head = heading(f"def {entry.name}(", _written(parameters, defaults), "")
    return "\n".join([*lines[: entry.lineno - 1], *head, *lines[_end_of_head(entry, lines) :]])


def _written(parameters: Several[inspect.Parameter], defaults: dict[str, str]) -> list[str]:
    """The texts between the parentheses of a ``def``."""
    positional = [p.name for p in parameters if p.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD]
    needed = max((k for k, name in enumerate(positional) if name not in defaults), default=-1)
    kept = {n: d for n, d in defaults.items() if n not in positional or positional.index(n) > needed}
    plain = [p.replace(default=inspect.Parameter.empty, annotation=inspect.Parameter.empty) for p in parameters]
    made: list[str] = []
    for before, p in zip([None, *plain], plain, strict=False):
        if p.kind == p.KEYWORD_ONLY and (before is None or before.kind < p.VAR_POSITIONAL):
            made.append("*")
        if before is not None and before.kind == p.POSITIONAL_ONLY != p.kind:
            made.append("/")
        made.append(f"{p}={kept[p.name]}" if p.name in kept else str(p))
    return [*made, "/"] if plain and plain[-1].kind == inspect.Parameter.POSITIONAL_ONLY else made


def _end_of_head(entry: ast.FunctionDef, lines: Several[str]) -> int:
    """The number of the line that ends with the colon of a ``def``."""
    inside: list[ast.arg | ast.expr] = [*entry.args.args, *entry.args.defaults]
    last = max((a.end_lineno or 0 for a in inside), default=entry.lineno)
    return next(k for k in range(last, len(lines) + 1) if lines[k - 1].endswith(":"))


def _entry(text: str, name: str) -> ast.FunctionDef | None:
    return next((n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == name), None)


def _first_statement(entry: ast.FunctionDef) -> int:
    """How many lines come before the body, the docstring among them."""
    if ast.get_docstring(entry, clean=False) is not None:
        return entry.body[0].end_lineno or 0
    return entry.body[0].lineno - 1


def _conditions(place: str, aval: AbstractValue) -> Iterator[tuple[str, str]]:
    """What an argument must be, of which parts a branch may have been chosen by: a test for another one, and what it is
    for people. Of containers these are the length, or the keys, and the parts."""
    if isinstance(aval, Known) and is_plain(aval.value):
        yield _differs(place, aval.value), f"{place}={literal(aval.value)}"
    elif isinstance(aval, (Sequence, Mapping)) and not aval.items:
        yield f"len({place}) != 0", f"{place} empty"
    elif isinstance(aval, Sequence):
        yield f"len({place}) != {len(aval.items)}", f"len({place})={len(aval.items)}"
        for k, item in enumerate(aval.items):
            yield from _conditions(f"{place}[{k}]", item)
    elif isinstance(aval, Mapping):
        yield f"list({place}) != {list(aval.keys)!r}", f"list({place})={list(aval.keys)!r}"
        for key, item in zip(aval.keys, aval.items, strict=True):
            yield from _conditions(f"{place}[{key!r}]", item)


def _of_objects(version: Version) -> Iterator[tuple[str, str]]:
    """What the parts of arguments that are objects must be, by the guards of the version."""
    for guard, _ in version.guards:
        if isinstance(guard, ObjectGuard) and guard.root == "argument":
            place = _place(*guard.path)
            if place is not None and is_plain(guard.value):
                yield _differs(place, guard.value), f"{place}={literal(guard.value)}"
        elif isinstance(guard, KindGuard) and guard.root == "argument":
            place = _place(guard.name, *guard.rest)
            if place is not None:
                yield from _conditions(place, guard.aval)


def _place(name: Any, *steps: Any) -> str | None:
    """Where a part of an argument is found, as Python: ``self.layers[0]``; None where that cannot be written."""
    made = name
    for step in steps:
        if isinstance(step, str) and step.isidentifier():
            made += f".{step}"
        elif isinstance(step, tuple) and len(step) == 1 and is_plain(step[0]):
            made += f"[{step[0]!r}]"
        else:
            return None
    return made if isinstance(made, str) else None


def _differs(place: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"not {place}" if value else place
    return f"{place} is not None" if value is None else f"{place} != {literal(value)}"


def _read(function: types.FunctionType) -> set[str]:
    """The variables that a function reads, or functions in it."""
    found = set(function.__code__.co_cellvars)
    for step in dis.get_instructions(function):
        if step.opname.startswith("LOAD_FAST"):
            found.update(step.argval if isinstance(step.argval, tuple) else (step.argval,))
    return found
