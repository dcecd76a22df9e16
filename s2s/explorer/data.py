"""A function and kinds or examples of its arguments in, what the explorer page shows out: as lists, dicts, strings and
numbers.

    {"name", "where",
     "lines": [HTML of a line, each once],
     "functions": [{"name", "where", "depth", "lines": [[number, index in lines], ...], "calls": {key: [function]}}],
     "variants": [{"mode", "backend", "refused", "left_out", "facts", "called": [part], and what a part has}]}

A part is a derivative, that of the function or one that it calls when it runs: ``{"name", "unit", "arguments",
"guards", "rungs", "auto", "stages", "kept", "total", "cost", "no_cost"}``. A key, such as ``"0:12"``, is a line of one
of the functions, by its number in its file. A line of a stage is an index in ``lines``, and the keys that it comes from
or what it is in place of that: ``comment``, ``blank``, ``head``, ``bookkeeping``.
"""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from s2s.builder.stages import watched
from s2s.directives.decorated import unwrap
from s2s.directives.differentiable import on_backend, option_error
from s2s.dispatch.recorded import is_recorded
from s2s.dispatch.version import Version
from s2s.errors import ArgumentError, DifferentiationError
from s2s.explanation import Explanation
from s2s.explorer.called import Called, called_by, known_calls
from s2s.explorer.costs import checked_call, run_version, time_lines
from s2s.explorer.parts import Parts, blank, marks
from s2s.explorer.stages import Text
from s2s.explorer.units import Place, Unit
from s2s.sources import SECOND, version, version_of_call
from s2s.versions.kinds import Kind
from s2s.versions.target import Target, target_of

__all__ = ["BACKENDS", "MODES", "WITHIN", "describe", "modes_of"]

MODES = ("grad", "value_and_grad", "vjp", "jvp", "hvp", "jacobian", "hessian", "primal")
BACKENDS = ("numpy", "numba")

WITHIN = 6.0
"""What is not asked for by name is on a page where all of that takes about so many seconds, beside what comes first."""

_NEXT = ("jvp", "vjp", "hvp", "primal", "value_and_grad", "jacobian", "hessian", "grad")
"""In this order modes are made, after the first."""

_LONG = {"primal": (0.3, 0.3), "jvp": (0.6, 0.6), "hvp": (0.6, 2.0), "hessian": (1.6, 8.0), "jacobian": (1.0, 3.0)}
"""How many times as long as the gradient these are expected to take: to be compiled and written, and to be run."""


def modes_of(asked: str | Iterable[str]) -> tuple[str, ...]:
    """The modes that are asked for by name: of ``all``, all. Raises ArgumentError for one that there is not."""
    found = (asked,) if isinstance(asked, str) else tuple(asked)
    wrong = [mode for mode in found if mode not in (*MODES, "all")]
    if wrong:
        raise option_error(f"there is no mode {wrong[0]!r}", f"choose among {', '.join(MODES)}, all")
    return tuple(dict.fromkeys([*(m for m in found if m != "all"), *(m for m in MODES if "all" in found)]))


def describe(
    f: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None, argnums: Any = 0,
    kinds: dict[str, Kind] | None = None, modes: Iterable[str] = MODES, backends: Iterable[str] = BACKENDS,
    within: float = float("inf"),
) -> dict[str, Any]:
    """What the page shows. With arguments, the function and its derivatives are run with copies of them, and their
    lines are timed. What is refused in a mode is said there; so is what is left out, as all would take longer than
    ``within`` seconds, beside the first derivative.

    Raises ArgumentError where the arguments do not fit the function, or cannot be differentiated.
    """
    # what is made stays, as it is for the page: the collector would look through it for nothing
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _Description(f, args, kwargs or {}, argnums, kinds or {}).all(tuple(modes), tuple(backends), within)
    finally:
        if collecting:
            gc.enable()


@dataclass(frozen=True)
class _Made:
    """The version of a mode on NumPy, the values of its parameters where there are some, and what it calls when it
    runs."""

    version: Version
    values: tuple[Any, ...] | None
    called: list[Called]


class _Description:
    def __init__(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Any, kinds: dict[str, Kind]):
        self.f, self.args, self.kwargs, self.argnums, self.kinds = f, args, kwargs, argnums, kinds
        self.target = target_of(f)
        self.parts = Parts()
        self.primal: tuple[float, dict[Place, float]] | None = None
        self.versions: dict[str, _Made] = {}
        self.problems: dict[str, DifferentiationError] = {}
        self.is_run = True
        self.running = 0.0

    @contextlib.contextmanager
    def timed(self) -> Iterator[None]:
        """As a context: what derivatives are run for, whose seconds are added up."""
        start = time.process_time()
        try:
            yield
        finally:
            self.running += time.process_time() - start

    @property
    def has_values(self) -> bool:
        return bool(self.args or self.kwargs)

    def all(self, modes: tuple[str, ...], backends: tuple[str, ...], within: float) -> dict[str, Any]:
        units = self.parts.units
        if self.target is not None:
            self.unit_of(self.target)
        if self.has_values:
            checked_call(self.f, self.args, self.kwargs)
        variants = self.variants(modes, backends, within)
        order = units.in_order()
        return {
            "name": getattr(self.f, "__name__", "f"),
            "where": units.all[0].where if units.all else "",
            "functions": [self.parts.function(unit, depth) for unit, depth in order],
            "order": [unit.number for unit, _ in order],
            "variants": variants,
            "lines": list(self.parts.table),
        }

    def variants(self, modes: tuple[str, ...], backends: tuple[str, ...], within: float) -> list[dict[str, Any]]:
        """What there is to show, made in the order of its weight: the first mode for each backend, then the others.
        What would take too long to run is not run, what would take too long to compile is left out. The process's own
        seconds count: the same on a machine that does other things too."""
        rest = tuple(sorted(modes[1:], key=_NEXT.index))
        order = [(mode, backend) for group in (modes[:1], rest) for backend in backends for mode in group]
        found: dict[tuple[str, str], dict[str, Any] | None] = {}
        compiled, run, spent = 0.0, 0.0, 0.0
        for mode, backend in order:
            times, more = _LONG.get(mode, (1.0, 1.0))
            expected = spent + compiled * times
            if mode != modes[0] and expected > within:
                found[mode, backend] = self.left_out(mode, backend)
                continue
            self.is_run = mode == modes[0] or expected + run * more <= within
            self.running, start = 0.0, time.process_time()
            with watched() as self.parts.seen:
                found[mode, backend] = made = self.variant(mode, backend)
            seconds = time.process_time() - start
            if compiled:
                spent += seconds
            elif made is not None and made["refused"] is None:
                compiled, run = seconds - self.running, self.running
        self.check_arguments(modes)
        every = (found[mode, backend] for backend in backends for mode in modes)
        return [variant for variant in every if variant is not None]

    def check_arguments(self, modes: Iterable[str]) -> None:
        """Raise what is wrong with the arguments, where that is the same in all modes that differentiate."""
        problems = [self.problems.get(mode) for mode in modes if mode != "primal"] or [self.problems.get("primal")]
        first = problems[0]
        if isinstance(first, ArgumentError) and all(str(problem) == str(first) for problem in problems):
            raise first

    # --- one derivative ---

    def blank(self, mode: str, backend: str) -> dict[str, Any]:
        made: dict[str, Any] = {"mode": mode, "backend": backend, "refused": None, "left_out": ""}
        return made | {"facts": {}, "called": []} | blank(mode)

    def left_out(self, mode: str, backend: str) -> dict[str, Any] | None:
        """What stands for a variant that would take too long."""
        if backend != "numpy" and mode in SECOND:
            return None
        said = (
            f"Left out: to show all would have taken long. `s2s explore TARGET --mode {mode}`, or "
            f"s2s.explore(f, ..., modes=\"{mode}\"), shows it.")
        return self.blank(mode, backend) | {"left_out": said}

    def variant(self, mode: str, backend: str) -> dict[str, Any] | None:
        """What there is to show of a mode; None of a second derivative on another backend than NumPy."""
        made = self.blank(mode, backend)
        if backend != "numpy" and mode in SECOND:
            return None
        try:
            found = self.version(mode)
            target = None if mode in SECOND else self.target
            explained, final = self.parts.explain(made, found.version, target, backend)
            made["name"] = found.version.compiled.entry
        except DifferentiationError as problem:
            if backend == "numpy":
                self.problems[mode] = problem
            return self.blank(mode, backend) | {"refused": str(problem)}
        with self.timed():
            self.parts.keep(made, found.version, final, found.values, backend)
        if self.has_values and found.values is None and backend == "numpy":
            made["no_cost"] = f"not run, as that takes long: `--mode {mode}` or modes=\"{mode}\" runs it"
        if explained is not None:
            self.parts.add_facts(made["facts"], explained)
        for one in self.called(found, explained):
            part = self.called_part(made, one, final, backend)
            if part is not None:
                made["called"].append(part)
        self.parts.add_calls(made["facts"])
        if not made["no_cost"]:
            with self.timed():
                self.cost(made, found)
        return made

    def version(self, mode: str) -> _Made:
        """The version on NumPy, and what a call of it calls."""
        if mode not in self.versions:
            f, wanted = on_backend(self.f, "numpy"), self.argnums
            if mode == "vjp" and not isinstance(wanted, tuple):
                wanted = (wanted,)
            if self.has_values:
                found, values = version_of_call(f, self.args, self.kwargs, mode, wanted)
                with self.timed():
                    called = _called_by(found, values) if self.is_run else []
                self.versions[mode] = _Made(found, values if self.is_run else None, called)
            else:
                self.versions[mode] = _Made(version(f, (), {}, mode, wanted, self.kinds), None, [])
        return self.versions[mode]

    # --- what it calls ---

    def called(self, found: _Made, explained: Explanation | None) -> list[Called]:
        """The derivatives that are called when one runs; where none is run, those that the compiler knows of."""
        if found.values is not None or explained is None or self.target is None:
            return found.called
        return known_calls(explained.stages.passed[-1].after, self.target, found.version)

    def called_part(self, made: dict[str, Any], one: Called, main: Text, backend: str) -> dict[str, Any] | None:
        """The part of a derivative that another one calls; None where the text is the same."""
        unit, part = self.unit_of(one.target), blank(one.version.compiled.entry)
        try:
            explained, final = self.parts.explain(part, one.version, one.target, backend)
        except DifferentiationError:  # its calls are recorded
            explained, final = self.parts.explain(part, one.version, None, backend)
        if unit is not None:
            self.parts.units.note_call(one.places, unit)
        if explained is not None:
            self.parts.add_facts(made["facts"], explained)
        if final.text == main.text:
            return None
        self.parts.keep(part, one.version, final, one.values, backend)
        part["unit"], part["count"] = None if unit is None else unit.number, one.count
        part["file"] = one.version.raw.__code__.co_filename
        return part

    def unit_of(self, target: Target) -> Unit | None:
        code = unwrap(target.function).__code__
        return self.parts.units.at(code.co_filename, code.co_firstlineno)

    # --- what it takes ---

    def cost(self, made: dict[str, Any], found: _Made) -> None:
        """Put into a variant the seconds of the function and of the derivative, by line, and into its parts theirs."""
        assert found.values is not None
        own = found.version.raw.__code__.co_filename
        files = [own, *(part["file"] for part in made["called"])]
        sources = {unit.file for unit in self.parts.units.all}
        try:
            run = sources if is_recorded(found.version.compiled) else set[str]()
            times = time_lines(run_version(found.version, found.values), found.values, {*files, *run})
            if self.primal is None:
                spent = time_lines(lambda given: self.f(*given[0], **given[1]), (self.args, self.kwargs), sources)
                self.primal = spent.seconds, spent.lines
        except Exception as problem:  # the user's function, with the user's values
            made["no_cost"] = f"running it failed: {type(problem).__name__}: {problem}"
            return
        back = {key: spent for place, spent in times.lines.items() if place[0] in run
                and (key := self.parts.units.key(place))}
        for part, file in zip((made, *made["called"]), files, strict=True):
            right = {number: seconds for (at, number), seconds in times.lines.items() if at == file}
            part["cost"] = {"right": right}
            for key, seconds in marks(part["stages"][-1]["lines"], right).items():
                back[key] = back.get(key, 0.0) + seconds
        seconds, of_lines = self.primal
        left = {key: spent for place, spent in of_lines.items() if (key := self.parts.units.key(place))}
        of_calls = {"value": seconds, "derivative": times.seconds, "timed": times.timed}
        made["cost"] |= {**of_calls, "left": left, "back": back}


def _called_by(found: Version, values: tuple[Any, ...]) -> list[Called]:
    try:
        return called_by(run_version(found, values), values, found.raw.__code__)
    except Exception:  # of the user's function: it is told where the lines are timed
        return []
