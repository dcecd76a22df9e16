"""A version of a derivative in, what the page shows of it out: a part. ``s2s.explorer.data`` says what it has."""

from __future__ import annotations

import linecache
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from s2s.builder.stages import Stages
from s2s.core import linecaches
from s2s.core.lines import lines_of
from s2s.dispatch.recorded import is_recorded
from s2s.dispatch.version import Version
from s2s.explanation import Explanation, explain_version
from s2s.explorer.costs import Kept, kept_by, kept_names
from s2s.explorer.highlight import as_string, generated_line, highlighted
from s2s.explorer.stages import NAIVE, Text, Texts, stages_about
from s2s.explorer.units import Place, Unit, Units
from s2s.versions.target import Target

__all__ = ["Parts", "blank", "marks"]

_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")


def blank(name: str) -> dict[str, Any]:
    """A part of which nothing is known yet."""
    return {"name": name, "unit": None, "arguments": "", "guards": [], "rungs": [], "auto": "", "stages": [],
            "kept": [], "total": None, "cost": None, "no_cost": ""}


class Parts:
    """Makes parts. ``table`` has the lines that were met, each once, ``seen`` the passes of compilations, by what they
    have given."""

    def __init__(self) -> None:
        self.table: dict[str, int] = {}
        self.units = Units()
        self.seen: list[tuple[Any, Stages]] = []
        self._texts = Texts()
        self._about = stages_about()

    def index(self, line: str) -> int:
        """The place of a line in the table."""
        return self.table.setdefault(line, len(self.table))

    def explain(
        self, part: dict[str, Any], found: Version, target: Target | None, backend: str
    ) -> tuple[Explanation | None, Text]:
        """Put into a part what is known of a version, and what each pass made of it; gives the text that runs. Of one
        without a target, such as the derivative of a derivative, that is all there is."""
        compiled, explained, other = found.compiled, None, "" if backend == "numpy" else backend
        stages = next((stages for one, stages in self.seen if one.text == compiled.text), None)
        if target is not None and target.derived is None:
            explained = explain_version(target, found, other, stages)
            compiled = explained.compiled.loops or explained.compiled if other else explained.compiled
            part["arguments"] = ", ".join(f"{name}: {kind}" for name, kind in explained.arguments.items())
            part["guards"], part["auto"], part["rungs"] = explained.guards, explained.auto, list(explained.rungs)
            part["stages"] = list(self._stages(explained, target, found))
        final = Text(compiled.text, compiled.places)
        part["stages"].append(self._stage("final", "as it runs", "python", final))
        return explained, final

    # --- stages ---

    def _stages(self, explained: Explanation, target: Target, found: Version) -> Iterator[dict[str, Any]]:
        """What each pass made of the function, as Python and as IR; what reads as before is left out."""
        is_primal, last, runs = True, {"python": "", "ir": ""}, Counter[str]()
        for stage in explained.stages.passed:
            is_primal = is_primal and stage.name != NAIVE
            runs[stage.name] += 1
            name = "naive" if stage.name == NAIVE else stage.name
            name += f" ({runs[stage.name]})" if runs[stage.name] > 1 else ""
            python, ir = self._texts.of(stage.after, target, found.request, is_primal)
            for form, text in (("python", python), ("ir", ir)):
                if text.text != last[form]:
                    last[form] = text.text
                    about = "before any simplification" if stage.name == NAIVE else self._about.get(stage.name, "")
                    yield self._stage(name, about, form, text) | {"of": "primal" if is_primal else "derivative"}

    def _stage(self, name: str, about: str, form: str, text: Text) -> dict[str, Any]:
        """The lines of a text, each with where it comes from."""
        places: dict[int, list[str]] = {}
        for place, number in _by_line(text.places):
            for key in filter(None, map(self.units.key, _traced(place))):
                if key not in places.setdefault(number, []):
                    places[number].append(key)
        lines = lines_of(text.text)
        heads = {number for number, line in enumerate(lines, 1) if line.startswith("def ")}
        head, strings = _head(lines) if form == "python" else (heads, set[int]())
        shown = []
        for number, line in enumerate(lines, 1):
            bare = line.strip()
            marked = as_string(line) if number in strings else generated_line(line)
            other = "head" if number in head else "bookkeeping" if bare else "blank"
            other = "comment" if bare.startswith("#") else other
            shown.append([self.index(marked), places.get(number) or other])
        return {"name": name, "about": about, "form": form, "of": "derivative", "lines": shown}

    # --- facts ---

    def add_facts(self, facts: dict[str, dict[str, Any]], explained: Explanation) -> None:
        """Put what is known of each line beside what is, by its key."""
        for line in (*explained.lines, *explained.helpers):
            key = self.units.key((line.file, line.number))
            if key and (line.is_active or line.facts):
                at = facts.setdefault(key, {"active": False, "facts": [], "names": []})
                at["active"] = at["active"] or line.is_active
                at["facts"] += [fact for f in line.facts if (fact := [f.kind, f.text]) not in at["facts"]]
                at["names"] = sorted({*at["names"], *line.names})

    def add_calls(self, facts: dict[str, dict[str, Any]]) -> None:
        """Mark the lines that call a function through which a derivative flows: of a call that is written out, nothing
        else is known."""
        through = {int(key.partition(":")[0]) for key, known in facts.items() if known["active"]}
        called = [unit for unit in self.units.all if unit.number in through]
        for unit in self.units.all:
            for line, _ in unit.called(called):
                facts.setdefault(f"{unit.number}:{line}", {"active": True, "facts": [], "names": []})

    # --- what is kept ---

    def keep(
        self, part: dict[str, Any], found: Version, final: Text, values: tuple[Any, ...] | None, backend: str
    ) -> None:
        """Put into a part what is kept, with its bytes where there are values to run it with, and why there is not more
        to know. What running it raises comes out."""
        names = kept_names(final.text, found.compiled.entry)
        kept, lines = [Kept(name) for name in names], part["stages"][-1]["lines"]
        if backend == "numba":
            part["no_cost"] = "Numba makes machine code of it, whose lines cannot be timed"
        elif values is None:
            part["no_cost"] = "no example values: nothing was run"
        elif found.compiled.text != final.text:
            part["no_cost"] = "its calls are recorded"
        elif not is_recorded(found.compiled):
            try:
                kept, part["total"] = kept_by(found, final.text, names, values)
            except Exception as problem:  # the user's function, with the user's values
                part["no_cost"] = f"running it failed: {type(problem).__name__}: {problem}"
        named = _Named(final.text)
        part["kept"] = [self._kept(one, named, lines) for one in kept]

    def _kept(self, kept: Kept, named: _Named, lines: list[Any]) -> dict[str, Any]:
        """A variable that the forward sweep keeps, the lines with it, and those that its values come from."""
        right = [k for k in named.at(kept.name) if lines[k - 1][1] != "comment"]
        left: list[str] = []
        for k in named.made_at(kept.name):
            keys = lines[k - 1][1]
            left += [key for key in keys if key not in left] if isinstance(keys, list) else []
        if not left:
            left = [key for k in right for key in lines[k - 1][1]
                    if k <= named.title and isinstance(lines[k - 1][1], list)]
        left = [key for key in left if not self.units.is_loop(key)] or left
        return {"name": kept.name, "bytes": kept.bytes, "what": kept.what, "right": right,
                "left": list(dict.fromkeys(left))}

    # --- functions ---

    def function(self, unit: Unit, depth: int) -> dict[str, Any]:
        """A function of the tree of calls."""
        marked = highlighted("".join(linecache.getlines(unit.file)[unit.first - 1 : unit.last]))
        lines = [[n, self.index(line)] for n, line in enumerate(marked, unit.first)]
        return {"number": unit.number, "name": unit.name, "where": unit.where, "depth": depth, "lines": lines,
                "calls": self.units.calls_of(unit)}


class _Named:
    """The lines of a text by the names in them, comments apart. ``title`` is how many there are before the reverse
    sweep."""

    def __init__(self, text: str) -> None:
        self.lines = lines_of(text)
        titles = (k for k, line in enumerate(self.lines) if line.strip() == "# reverse sweep")
        self.title = next(titles, len(self.lines))
        self._at: dict[str, list[int]] = {}
        for k, line in enumerate(self.lines, 1):
            for name in dict.fromkeys(_NAME.findall(line.partition("  # ")[0])):
                self._at.setdefault(name, []).append(k)

    def at(self, name: str) -> list[int]:
        """The numbers of the lines with a name."""
        return self._at.get(name, [])

    def made_at(self, name: str) -> list[int]:
        """The numbers of the lines of the forward sweep that compute what a variable keeps: what is put into it, or the
        variable itself."""
        put = re.compile(rf"^\s*{re.escape(name)}(?:\.append\((\w+)\)|\[.*\] = (\w+))$")
        found = (put.match(self.lines[k - 1]) for k in self._forward(name))
        names = {one for m in found if m for one in m.groups() if one} or {name}
        made = re.compile(rf"^\s*(?:{'|'.join(map(re.escape, names))})(?:\[.*\])? [-+*/@]?= ")
        numbers = sorted({k for one in names for k in self._forward(one)})
        return [k for k in numbers if made.match(self.lines[k - 1])]

    def _forward(self, name: str) -> list[int]:
        return [k for k in self.at(name) if k <= self.title]


def marks(lines: list[Any], right: dict[int, float]) -> dict[str, float]:
    """The seconds of lines of a text, by the keys of the lines that they come from."""
    back: dict[str, float] = {}
    for number, spent in right.items():
        keys = lines[number - 1][1] if number <= len(lines) else ""
        for key in keys if isinstance(keys, list) else ():
            back[key] = back.get(key, 0.0) + spent / len(keys)
    return back


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


def _head(lines: list[str]) -> tuple[set[int], set[int]]:
    """The numbers of lines of a module, comments and blank ones apart, that are above its functions or begin one, with
    those of its docstring; and of those of docstrings alone."""
    found, strings = set[int](), set[int]()
    is_def, is_string = False, False
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        is_first = not is_def and not is_string and number - 1 in found and bare.startswith('"""')
        is_string = is_string or is_first
        is_def = is_def or (not is_string and bare.startswith("def "))
        if is_string:
            strings.add(number)
        if bare and (is_string or is_def or not line[0].isspace()):
            found.add(number)
        is_def = is_def and not bare.endswith(":")
        is_string = is_string and not (bare.endswith('"""') and bare != '"""' * is_first)
    return found, strings
