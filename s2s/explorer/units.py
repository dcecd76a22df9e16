"""Lines of source in, the functions that they are in out: with the calls that they make of each other, as the page
shows them."""

from __future__ import annotations

import ast
import linecache
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from s2s.core.package import ROOT

__all__ = ["Place", "Unit", "Units"]

Place = tuple[str, int]


@dataclass
class Unit:
    """A function of the user's, or of a library: of a lambda outside of functions its statement. ``lines`` are those
    that call a name; ``found`` the units that lines have called when they ran."""

    file: str
    first: int
    last: int
    name: str
    number: int
    lines: dict[str, list[int]] = field(default_factory=dict)
    found: dict[int, list[Unit]] = field(default_factory=dict)

    @property
    def where(self) -> str:
        inside = self.file.startswith(ROOT + os.sep)
        return f"{'s2s, ' if inside else ''}{os.path.basename(self.file)}:{self.first}"

    def called(self, others: Iterable[Unit]) -> Iterator[tuple[int, Unit]]:
        """The lines that call other functions, each with what it calls."""
        for other in others:
            lines = [*self.lines.get(other.name, ()), *(k for k, units in self.found.items() if other in units)]
            yield from ((line, other) for line in dict.fromkeys(lines) if other is not self)


class Units:
    """The functions that were met, in the order in which they were."""

    def __init__(self) -> None:
        self.all: list[Unit] = []
        self._places: dict[Place, Unit | None] = {}
        self._trees: dict[str, list[ast.stmt]] = {}

    def at(self, file: str, line: int) -> Unit | None:
        """The function in which a line is, one that is not inside another one."""
        if (file, line) not in self._places:
            self._places[file, line] = self._found(file, line)
        return self._places[file, line]

    def key(self, place: Place) -> str:
        """A line of a function, as the page names it; empty where there is no function there."""
        unit = self.at(*place)
        return "" if unit is None else f"{unit.number}:{place[1]}"

    def _found(self, file: str, line: int) -> Unit | None:
        for unit in self.all:
            if unit.file == file and unit.first <= line <= unit.last:
                return unit
        if file not in self._trees:
            self._trees[file] = list(_functions("".join(linecache.getlines(file))))
        for node in self._trees[file]:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            if first <= line <= (node.end_lineno or line):
                name = node.name if isinstance(node, ast.FunctionDef) else "lambda"
                unit = Unit(file, first, node.end_lineno or line, name, len(self.all))
                calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
                for call in sorted(calls, key=lambda call: call.lineno):
                    named = getattr(call.func, "id", getattr(call.func, "attr", ""))
                    unit.lines.setdefault(named, []).append(call.lineno)
                self.all.append(unit)
                return unit
        return None

    def note_call(self, places: Iterable[Place], callee: Unit) -> None:
        """Note that lines have called a function when they ran."""
        for file, line in sorted(places):
            unit = self.at(file, line)
            if unit is not None and callee not in unit.found.setdefault(line, []):
                unit.found[line].append(callee)

    def in_order(self) -> list[tuple[Unit, int]]:
        """The functions in the order of calls, each once, with its depth in the tree of calls."""
        found: dict[int, int] = {}

        def visit(unit: Unit, depth: int) -> None:
            if unit.number in found:
                return
            found[unit.number] = depth
            for _, other in sorted(unit.called(self.all), key=lambda pair: pair[0]):
                visit(other, depth + 1)

        for unit in self.all:
            visit(unit, 0 if unit.number == 0 else 1)
        return [(self.all[number], depth) for number, depth in found.items()]

    def calls_of(self, unit: Unit) -> dict[str, list[int]]:
        """The functions that the lines of one call, by their keys."""
        found: dict[str, list[int]] = {}
        for line, other in unit.called(self.all):
            found.setdefault(f"{unit.number}:{line}", []).append(other.number)
        return found

    def is_loop(self, key: str) -> bool:
        """Whether a line is the beginning of a loop, which stands for what is before the first iteration."""
        unit, number = map(int, key.split(":"))
        return linecache.getline(self.all[unit].file, number).lstrip().startswith(("for ", "while "))


def _functions(text: str) -> Iterator[ast.stmt]:
    """The functions and methods of a file that are not inside others, and statements with lambdas outside of them."""
    try:
        waiting: list[Any] = [ast.parse(text)]
    except SyntaxError:
        return
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop(0)):
            is_simple = isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr))
            if isinstance(node, ast.FunctionDef) or (isinstance(node, ast.stmt) and is_simple and _has_lambda(node)):
                yield node
            elif not isinstance(node, (ast.expr, ast.AsyncFunctionDef)):
                waiting.append(node)


def _has_lambda(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Lambda) for inner in ast.walk(node))
