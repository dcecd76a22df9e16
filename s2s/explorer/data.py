"""A function and kinds or examples of its arguments in, what the explorer page shows out: as lists, dicts, strings and
numbers.

    {"name", "where",
     "lines": [HTML of a line, each once],
     "functions": [{"name", "where", "depth", "lines": [[number, index in lines], ...], "calls": {key: function}}],
     "variants": [{"mode", "backend", "refused", "arguments", "guards", "facts", "stages", "kept", "total", "cost"}]}

A key, such as ``"0:12"``, is a line of one of the functions, by its number in its file. A line of a stage is an index
in ``lines``, and the keys that it comes from or what it is in place of that: ``comment``, ``blank``, ``head``,
``bookkeeping``.
"""

from __future__ import annotations

import ast
import linecache
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from s2s.core import linecaches
from s2s.core.package import ROOT
from s2s.directives.decorated import unwrap
from s2s.directives.differentiable import on_backend
from s2s.dispatch.version import Version
from s2s.errors import DifferentiationError
from s2s.explanation import Explanation, explain_version
from s2s.explorer.costs import Kept, kept_by, kept_names, run_version, time_lines
from s2s.explorer.highlight import as_string, highlighted, highlighted_line
from s2s.explorer.stages import NAIVE, Text, ir_of, python_of, stages_about
from s2s.sources import SECOND, version, version_of_call
from s2s.versions.kinds import Kind
from s2s.versions.target import Target, target_of

__all__ = ["BACKENDS", "MODES", "describe"]

MODES = ("grad", "value_and_grad", "vjp", "jvp", "hvp", "jacobian", "hessian", "primal")
BACKENDS = ("numpy", "numba")

Place = tuple[str, int]


def describe(
    f: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None, argnums: Any = 0,
    kinds: dict[str, Kind] | None = None, modes: Iterable[str] = MODES, backends: Iterable[str] = BACKENDS,
) -> dict[str, Any]:
    """What the page shows. With arguments, the function and its derivatives are run with copies of them, and their
    lines are timed. What is refused in a mode is said there."""
    return _Description(f, args, kwargs or {}, argnums, kinds or {}).all(tuple(modes), tuple(backends))


@dataclass
class _Unit:
    """A function of the user's, or of a library."""

    file: str
    first: int
    last: int
    name: str
    number: int
    lines: dict[str, list[int]] = field(default_factory=dict)
    """The lines that call a name."""


class _Description:
    def __init__(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Any, kinds: dict[str, Kind]):
        self.f, self.args, self.kwargs, self.argnums, self.kinds = f, args, kwargs, argnums, kinds
        self.table: dict[str, int] = {}
        self.units: list[_Unit] = []
        self.trees: dict[str, list[ast.FunctionDef]] = {}
        self.primal: tuple[float, dict[Place, float]] | str | None = None
        self.versions: dict[str, tuple[Version, tuple[Any, ...] | None]] = {}
        self.about = stages_about()

    @property
    def has_values(self) -> bool:
        return bool(self.args or self.kwargs)

    def all(self, modes: tuple[str, ...], backends: tuple[str, ...]) -> dict[str, Any]:
        target = target_of(self.f)
        if target is not None:
            code = unwrap(target.function).__code__
            self.unit_of(code.co_filename, code.co_firstlineno)
        made = (self.variant(mode, backend) for backend in backends for mode in modes)
        variants = [variant for variant in made if variant is not None]
        order = self.order()
        return {
            "name": getattr(self.f, "__name__", "f"),
            "where": self.where(self.units[0]) if self.units else "",
            "functions": [self.function(unit, depth) for unit, depth in order],
            "order": [unit.number for unit, _ in order],
            "variants": variants,
            "lines": list(self.table),
        }

    # --- one derivative ---

    def variant(self, mode: str, backend: str) -> dict[str, Any] | None:
        """What there is to show of a mode; None of a second derivative on another backend than NumPy."""
        made: dict[str, Any] = {
            "mode": mode, "backend": backend, "refused": None, "arguments": "", "guards": [], "auto": "", "facts": {},
            "stages": [], "kept": [], "total": None, "cost": None, "no_cost": ""}
        is_other, target = backend != "numpy", target_of(self.f)
        try:
            found, values = self.version(mode)
            compiled = found.compiled
            if mode not in SECOND and target is not None:
                explained = explain_version(target, found, backend if is_other else "")
                compiled = explained.compiled.loops or explained.compiled if is_other else explained.compiled
                made["arguments"] = ", ".join(f"{name}: {kind}" for name, kind in explained.arguments.items())
                made["guards"], made["auto"] = explained.guards, explained.auto
                made["facts"] = self.facts(explained)
                made["stages"] = list(self.stages(explained, target, found, is_other))
            elif is_other:
                return None
        except DifferentiationError as problem:
            return {**made, "refused": str(problem)}
        final = Text(compiled.text, compiled.places)
        made["stages"].append(self.stage("final", "as it runs", "python", final))
        self.measure(made, found, final, values, backend)
        return made

    def version(self, mode: str) -> tuple[Version, tuple[Any, ...] | None]:
        """The version on NumPy, and the values of its parameters where there are some."""
        if mode not in self.versions:
            f, wanted = on_backend(self.f, "numpy"), self.argnums
            if mode == "vjp" and not isinstance(wanted, tuple):
                wanted = (wanted,)
            if self.has_values:
                self.versions[mode] = version_of_call(f, self.args, self.kwargs, mode, wanted)
            else:
                self.versions[mode] = version(f, (), {}, mode, wanted, self.kinds), None
        return self.versions[mode]

    def facts(self, explained: Explanation) -> dict[str, Any]:
        """What is known of each line, by its key."""
        found = {}
        for line in (*explained.lines, *explained.helpers):
            key = self.key((line.file, line.number))
            if key and (line.is_active or line.facts):
                found[key] = {
                    "active": line.is_active, "facts": [[fact.kind, fact.text] for fact in line.facts],
                    "names": sorted(line.names)}
        through = {int(key.partition(":")[0]) for key, known in found.items() if known["active"]}
        for unit, called in ((a, b) for a in self.units for b in self.units if a is not b and b.number in through):
            for number in unit.lines.get(called.name, ()):  # of a call that is written out, nothing else is known
                found.setdefault(f"{unit.number}:{number}", {"active": True, "facts": [], "names": []})
        return found

    def stages(
        self, explained: Explanation, target: Target, found: Version, is_brief: bool
    ) -> Iterator[dict[str, Any]]:
        """What each pass made of the function, as Python and as IR; what reads as before is left out. In brief, the
        first and the last one."""
        is_primal, last, runs = True, {"python": "", "ir": ""}, Counter[str]()
        for stage in explained.stages.passed:
            is_primal = is_primal and stage.name != NAIVE
            runs[stage.name] += 1
            name = "naive" if stage.name == NAIVE else stage.name
            name += f" ({runs[stage.name]})" if runs[stage.name] > 1 else ""
            if is_brief and name != "naive" and stage is not explained.stages.passed[-1]:
                continue
            python = python_of(stage.after, target, found.request, is_primal)
            for form, text in (("python", python), ("ir", ir_of(stage.after))):
                if text.text != last[form]:
                    last[form] = text.text
                    about = "before any simplification" if stage.name == NAIVE else self.about.get(stage.name, "")
                    yield self.stage(name, about, form, text) | {"of": "primal" if is_primal else "derivative"}

    def stage(self, name: str, about: str, form: str, text: Text) -> dict[str, Any]:
        """The lines of a text, each with where it comes from."""
        places: dict[int, list[str]] = {}
        for place, number in _by_line(text.places):
            for key in filter(None, map(self.key, _traced(place))):
                if key not in places.setdefault(number, []):
                    places[number].append(key)
        lines = text.text.split("\n")[:-1]
        head, strings = _head(text.text) if form == "python" else ({1}, set[int]())
        shown = []
        for number, line in enumerate(lines, 1):
            bare = line.strip()
            marked = as_string(line) if number in strings else highlighted_line(line)
            other = "head" if number in head else "bookkeeping" if bare else "blank"
            other = "comment" if bare.startswith("#") else other
            shown.append([self.index(marked), places.get(number) or other])
        return {"name": name, "about": about, "form": form, "of": "derivative", "lines": shown}

    def measure(
        self, made: dict[str, Any], found: Version, final: Text, values: tuple[Any, ...] | None, backend: str
    ) -> None:
        """Note what is kept, with its bytes, and what lines take, where there are values to run it with."""
        kept, total = [Kept(name) for name in kept_names(final.text, found.compiled.entry)], None
        if values is None:
            made["no_cost"] = "no example values: nothing was run"
        elif backend == "numba":
            made["no_cost"] = "Numba makes machine code of it, whose lines cannot be timed"
        elif found.compiled.text != final.text or "derivative_of_call(" in final.text:
            made["no_cost"] = "its calls are recorded"
        else:
            try:
                kept, total = kept_by(found, final.text, values)
                made["cost"] = self.cost(found, values, made["stages"][-1]["lines"])
            except Exception as problem:  # the user's function, with the user's values
                made["no_cost"] = f"running it failed: {type(problem).__name__}: {problem}"
        made["total"] = total
        made["kept"] = [self.kept(part, final.text, made["stages"][-1]["lines"]) for part in kept]

    def cost(self, found: Version, values: tuple[Any, ...], lines: list[Any]) -> dict[str, Any]:
        """Seconds of the function and of the derivative, by line."""
        file = found.raw.__code__.co_filename
        times = time_lines(run_version(found, values), values, [file])
        if self.primal is None:
            files = {unit.file for unit in self.units}
            own = time_lines(lambda given: self.f(*given[0], **given[1]), (self.args, self.kwargs), files)
            self.primal = own.seconds, own.lines
        assert not isinstance(self.primal, str)
        right = {number: spent for (_, number), spent in times.lines.items()}
        back: dict[str, float] = {}
        for number, spent in right.items():
            keys = lines[number - 1][1] if number <= len(lines) else ""
            for key in keys if isinstance(keys, list) else ():
                back[key] = back.get(key, 0.0) + spent / len(keys)
        seconds, of_lines = self.primal
        left = {key: spent for place, spent in of_lines.items() if (key := self.key(place))}
        return {"value": seconds, "derivative": times.seconds, "left": left, "right": right, "back": back}

    def kept(self, kept: Kept, text: str, lines: list[Any]) -> dict[str, Any]:
        """A variable that the forward sweep keeps, the lines with it, and those that its values come from."""
        texts = text.splitlines()
        title = next((k for k, line in enumerate(texts) if line.strip() == "# reverse sweep"), len(texts))
        word = re.compile(rf"(?<![\w.]){re.escape(kept.name)}(?!\w)")
        named = [k for k, line in enumerate(texts, 1) if word.search(line.partition("  # ")[0])]
        right = [k for k in named if lines[k - 1][1] != "comment"]
        put = re.compile(rf"^\s*{re.escape(kept.name)}(?:\.append\((\w+)\)|\[.*\] = (\w+))$")
        names = {name for line in texts[:title] for m in [put.match(line)] if m for name in m.groups() if name}
        made = re.compile(rf"^\s*(?:{'|'.join(map(re.escape, names or {kept.name}))})(?:\[.*\])? [-+*/@]?= ")
        left: list[str] = []
        for k, line in enumerate(texts[:title]):
            keys = lines[k][1]
            if made.match(line) and isinstance(keys, list):
                left += [key for key in keys if key not in left]
        if not left:
            left = [key for k in right for key in lines[k - 1][1] if k <= title and isinstance(lines[k - 1][1], list)]
        left = [key for key in left if not self.is_loop(key)] or left
        return {"name": kept.name, "bytes": kept.bytes, "what": kept.what, "right": right,
                "left": list(dict.fromkeys(left))}

    def is_loop(self, key: str) -> bool:
        """Whether a line is the beginning of a loop, which stands for what is before the first iteration."""
        unit, number = map(int, key.split(":"))
        return linecache.getline(self.units[unit].file, number).lstrip().startswith(("for ", "while "))

    # --- functions ---

    def index(self, line: str) -> int:
        return self.table.setdefault(line, len(self.table))

    def key(self, place: Place) -> str:
        """A line of a function, as the page names it; empty where there is no function there."""
        unit = self.unit_of(*place)
        return "" if unit is None else f"{unit.number}:{place[1]}"

    def unit_of(self, file: str, line: int) -> _Unit | None:
        """The function in which a line is, one that is not inside another one."""
        for unit in self.units:
            if unit.file == file and unit.first <= line <= unit.last:
                return unit
        if file not in self.trees:
            self.trees[file] = list(_functions("".join(linecache.getlines(file))))
        for node in self.trees[file]:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first <= line <= (node.end_lineno or line):
                unit = _Unit(file, first, node.end_lineno or line, node.name, len(self.units))
                calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
                for call in sorted(calls, key=lambda call: call.lineno):
                    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
                    unit.lines.setdefault(name, []).append(call.lineno)
                self.units.append(unit)
                return unit
        return None

    def order(self) -> list[tuple[_Unit, int]]:
        """The functions in the order of calls, each once, with its depth in the tree of calls."""
        found: dict[int, int] = {}

        def visit(unit: _Unit, depth: int) -> None:
            if unit.number in found:
                return
            found[unit.number] = depth
            for name in unit.lines:
                for other in self.units:
                    if other.name == name:
                        visit(other, depth + 1)

        for unit in self.units:
            visit(unit, 0 if unit.number == 0 else 1)
        return [(self.units[number], depth) for number, depth in found.items()]

    def function(self, unit: _Unit, depth: int) -> dict[str, Any]:
        marked = highlighted("".join(linecache.getlines(unit.file)[unit.first - 1 : unit.last]))
        lines = [[n, self.index(line)] for n, line in enumerate(marked, unit.first)]
        calls = {
            f"{unit.number}:{line}": other.number
            for other in self.units if other is not unit for line in unit.lines.get(other.name, ())}
        return {"number": unit.number, "name": unit.name, "where": self.where(unit), "depth": depth, "lines": lines,
                "calls": calls}

    def where(self, unit: _Unit) -> str:
        inside = unit.file.startswith(ROOT + os.sep)
        return f"{'s2s, ' if inside else ''}{os.path.basename(unit.file)}:{unit.first}"


def _functions(text: str) -> Iterator[ast.FunctionDef]:
    """The functions and methods of a file that are not inside others."""
    try:
        waiting: list[ast.AST] = [ast.parse(text)]
    except SyntaxError:
        return
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop(0)):
            if isinstance(node, ast.FunctionDef):
                yield node
            elif not isinstance(node, (ast.expr, ast.AsyncFunctionDef)):
                waiting.append(node)


def _by_line(places: Mapping[str, tuple[tuple[int, int], ...]]) -> Iterator[tuple[Place, int]]:
    for file, pairs in places.items():
        for number, line in pairs:
            yield (file, line), number


def _traced(place: Place) -> list[Place]:
    """The user's lines that a place stands for: one of generated code, of which a derivative was taken again, for those
    that it comes from."""
    shown = linecaches.source_of(place[0])
    if shown is None:
        return [place]
    return [end for inner in shown.places_of(place[1]) for end in _traced(inner)]


def _head(text: str) -> tuple[set[int], set[int]]:
    """The lines of imports, of the beginnings of functions and of their docstrings; and those of docstrings alone."""
    found, strings = set[int](), set[int]()
    tree = ast.parse(text)
    for top in tree.body:
        last = top.body[0].lineno - 1 if isinstance(top, ast.FunctionDef) else top.end_lineno or top.lineno
        found |= set(range(top.lineno, last + 1))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = node.body[0]
            found.add(node.lineno)
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                strings |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines = text.split("\n")
    return {k for k in found | strings if lines[k - 1].strip()}, strings
