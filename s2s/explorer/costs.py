"""A version and the values of its parameters in, what its lines take and what its forward sweep keeps out, measured.

The lines of the function and of its derivative are timed by a trace function while they run, as ``line_profiler`` does
it: what a line calls counts for the line. The timer costs time at each line as well: loops of many short lines look
dearer than they are.
"""

from __future__ import annotations

import ast
import copy
import functools
import os
import statistics
import sys
import time
import traceback
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np

from s2s.core.lines import lines_of
from s2s.dispatch.recorded import is_recorded
from s2s.dispatch.version import Version
from s2s.errors import error
from s2s.explanation import Explanation
from s2s.versions.target import target_of

__all__ = ["Kept", "Times", "checked_call", "kept_by", "kept_names", "note_shares", "run_version", "time_lines"]

BUDGET = 0.15
"""Runs are repeated for so many seconds, and for so many times."""
RUNS = 20


@dataclass
class Times:
    """Seconds: of a call without the timer, and with it (``timed``), the median of some runs; and so of each line, by
    file and number."""

    seconds: float
    timed: float
    lines: dict[tuple[str, int], float] = field(default_factory=dict)


@dataclass(frozen=True)
class Kept:
    """What a variable holds between the sweeps: bytes of memory that is not that of an argument, and of what."""

    name: str
    bytes: int | None = None
    what: str = ""


# --- times --------------------------------------------------------------------------------------------------


def time_lines(call: Callable[[Any], Any], values: Any, files: Iterable[str]) -> Times:
    """What a call with these values takes, and the lines of these files in it; each call is given copies."""
    seconds = _once(call, copy.deepcopy(values))
    if seconds < BUDGET:
        seconds = min(_once(call, copy.deepcopy(values)) for _ in range(3))
    runs: list[dict[tuple[str, int], float]] = []
    timed: list[float] = []
    start, known = time.perf_counter(), frozenset(files)
    while not runs or (len(runs) < RUNS and time.perf_counter() - start < BUDGET):
        timer = _Timer(known)
        timed.append(_once(functools.partial(timer.run, call), copy.deepcopy(values)))
        runs.append(timer.spent)
    places = dict.fromkeys(place for run in runs for place in run)
    lines = {place: statistics.median(run.get(place, 0.0) for run in runs) for place in places}
    return Times(seconds, statistics.median(timed), lines)


def note_shares(e: Explanation, version: Version, values: tuple[Any, ...]) -> None:
    """Note at the lines of a function their shares in the time of a call of its derivative, where that takes a version
    with these values: of one that records each call, the shares of the lines when they run and are recorded."""
    lines = {(line.file, line.number): line for line in (*e.lines, *e.helpers)}
    if is_recorded(version.compiled):
        times = time_lines(run_version(version, values), values, {file for file, _ in lines})
        spent = times.lines
    else:
        times = time_lines(run_version(version, values), values, [version.raw.__code__.co_filename])
        spent = _by_source(version, times)
    for place, line in lines.items():
        line.share = spent.get(place, 0.0) / times.timed


def _by_source(version: Version, times: Times) -> dict[tuple[str, int], float]:
    """The seconds of the lines of a version, by the lines of the program that they come from."""
    sources: dict[int, list[tuple[str, int]]] = {}
    for file, pairs in version.compiled.places.items():
        for number, line in pairs:
            sources.setdefault(number, []).append((file, line))
    spent: dict[tuple[str, int], float] = {}
    for (_, number), seconds in times.lines.items():
        for place in sources.get(number, ()):
            spent[place] = spent.get(place, 0.0) + seconds / len(sources[number])
    return spent


def _once(call: Callable[[Any], Any], values: Any) -> float:
    start = time.perf_counter()
    call(values)
    return time.perf_counter() - start


class _Timer:
    """Adds up the time between the beginnings of lines."""

    def __init__(self, files: frozenset[str]) -> None:
        self.files = files
        self.by_file: dict[str, dict[int, float]] = {}

    @property
    def spent(self) -> dict[tuple[str, int], float]:
        """The seconds of each line."""
        return {(file, line): spent for file, lines in self.by_file.items() for line, spent in lines.items()}

    def run(self, call: Callable[[Any], Any], values: Any) -> None:
        before = sys.gettrace()
        sys.settrace(self.called)
        try:
            call(values)
        finally:
            sys.settrace(before)

    def called(self, frame: FrameType, event: str, argument: Any) -> Any:
        file = frame.f_code.co_filename
        if file not in self.files:
            return None
        clock = time.perf_counter  # this is called at each line: what it looks up is at hand
        spent = self.by_file.setdefault(file, {})
        line, since = 0, clock()

        def traced(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal line, since
            now = clock()
            if line:
                spent[line] = spent.get(line, 0.0) + now - since
            line = 0 if event == "return" else frame.f_lineno
            since = clock()
            return traced

        return traced


# --- calls --------------------------------------------------------------------------------------------------


def checked_call(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Call a function with copies of arguments. Raises ArgumentError, which says in a line why, where it raises."""
    try:
        f(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    except Exception as problem:
        target = target_of(f)
        file = "" if target is None else target.function.__code__.co_filename
        lines = [entry.lineno for entry in traceback.extract_tb(problem.__traceback__) if entry.filename == file]
        place = f" ({os.path.basename(file)}:{lines[-1]})" if lines else ""
        name = getattr(f, "__name__", type(f).__name__)
        said = str(problem).partition("\n")[0]
        told = f"`{name}` does not take these arguments: {type(problem).__name__}: {said}{place}"
        raise error("S2S511", problem=told, hint="give arguments for which the function itself runs") from problem


def run_version(version: Version, values: tuple[Any, ...]) -> Callable[[Any], Any]:
    """How the generated function is called with values such as these, and its pullback: with tangents and cotangents of
    ones."""
    raw, mode = version.raw, version.request.mode
    if mode == "jvp":
        names = raw.__code__.co_varnames[: len(values)]
        tangents = [_ones(_at(dict(zip(names, values, strict=True)), path)) for path in version.request.wrt]
        return lambda values: raw(*values, *tangents)
    if mode == "vjp":
        def pull(values: Any) -> Any:
            out, pullback, *_ = raw(*values)
            return pullback(_ones(out))

        return pull
    return lambda values: raw(*values)


def _at(values: dict[str, Any], path: tuple[Any, ...]) -> Any:
    value = values[path[0]]
    for step in path[1:]:
        value = value[step]
    return value


def _ones(value: Any) -> Any:
    """A cotangent of a value: ones where it has floats."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(_ones, value))
    if isinstance(value, dict):
        return {key: _ones(part) for key, part in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return np.ones_like(value) if value.dtype.kind in "fc" else None
    return type(value)(1.0) if isinstance(value, (float, complex)) else None


# --- what is kept -------------------------------------------------------------------------------------------


def kept_names(text: str, entry: str) -> list[str]:
    """The variables that the forward sweep of a text leaves for the reverse sweep, its parameters apart: those that are
    read there before they are assigned."""
    found = _sweeps(text, entry)
    if found is None:
        return []
    parameters, forward, reverse = found
    assigned = {n.id for part in forward for n in ast.walk(part) if isinstance(n, ast.Name) and _is_store(n)}
    read: dict[str, None] = {}
    _read_first(reverse, set(), read)
    return [name for name in read if name in assigned and name not in parameters]


def _sweeps(text: str, entry: str) -> tuple[set[str], list[ast.stmt], list[ast.stmt]] | None:
    """The parameters of the entry, the statements of its forward sweep and those of its reverse sweep; None where there
    is no reverse sweep."""
    title = _title(text)
    made = next((n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == entry), None)
    if made is None or not title or not made.lineno < title <= (made.end_lineno or 0):
        return None
    parameters = {a.arg for a in made.args.args}
    forward = [s for s in made.body if s.lineno < title]
    reverse = [s for s in made.body if s.lineno > title]
    if forward and isinstance(forward[-1], ast.FunctionDef) and (forward[-1].end_lineno or 0) > title:
        return parameters, forward[:-1], forward[-1].body
    return parameters, forward, reverse


def _title(text: str) -> int:
    """The number of the line with the title of the reverse sweep; 0 where there is none."""
    return next((k for k, line in enumerate(lines_of(text), 1) if line.strip() == "# reverse sweep"), 0)


def _is_store(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _read_first(block: list[ast.stmt], assigned: set[str], read: dict[str, None]) -> set[str]:
    """Add what a block reads before it is surely assigned; gives what is assigned after it. Adds to ``assigned``."""
    for s in block:
        match s:
            case ast.If(test, body, orelse):
                _note(test, assigned, read)
                assigned = _read_first(body, set(assigned), read) & _read_first(orelse, set(assigned), read)
            case ast.For(target, iterable, body, orelse):
                _note(iterable, assigned, read)
                inside = assigned | {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
                _read_first(body, inside, read)
                assigned = _read_first(orelse, set(assigned), read)
            case ast.While(test, body, orelse):
                _note(test, assigned, read)
                _read_first(body, set(assigned), read)
                assigned = _read_first(orelse, set(assigned), read)
            case ast.AugAssign(ast.Name(name), _, value):
                _note(value, assigned, read)
                if name not in assigned:
                    read.setdefault(name)
            case _:
                _note(s, assigned, read)
                assigned.update(n.id for n in ast.walk(s) if isinstance(n, ast.Name) and _is_store(n))
    return assigned


def _note(node: ast.AST, assigned: set[str], read: dict[str, None]) -> None:
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id not in assigned:
            read.setdefault(n.id)


def kept_by(
    version: Version, text: str, names: list[str], values: tuple[Any, ...]
) -> tuple[list[Kept], int]:
    """What the forward sweep keeps in these variables in a call with these values, and the bytes of all: memory that
    several hold counts once."""
    if not names:
        return [], 0
    values = copy.deepcopy(values)
    held = _between(version, text, values)
    own = {id(array) for value in values for array in _arrays(value)}
    found, memory = [], dict[int, int]()
    for name in names:
        if name not in held:
            found.append(Kept(name, 0, "nothing on this path"))
            continue
        parts = {id(part): size for part, size in _parts(held[name]) if id(part) not in own}
        memory |= parts
        found.append(Kept(name, sum(parts.values()), _described(held[name], parts)))
    return found, sum(memory.values())


def _between(version: Version, text: str, values: tuple[Any, ...]) -> dict[str, Any]:
    """The variables of the generated function between its sweeps."""
    raw, title = version.raw, _title(text)
    if version.request.mode == "vjp":
        pullback = raw(*values)[1]
        cells = dict(zip(pullback.__code__.co_freevars, pullback.__closure__ or (), strict=True))
        return {name: cell.cell_contents for name, cell in cells.items() if cell != types.CellType()}  # some are empty
    found: dict[str, Any] = {}

    def called(frame: FrameType, event: str, argument: Any) -> Any:
        return traced if frame.f_code is raw.__code__ else None

    def traced(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and frame.f_lineno > title and not found:
            found.update({name: _snapshot(value) for name, value in frame.f_locals.items()})
            frame.f_trace_lines = False
        return traced

    before = sys.gettrace()
    sys.settrace(called)
    try:
        run_version(version, values)(values)
    finally:
        sys.settrace(before)
    return found


_HOLDING = (list, tuple, dict, types.FunctionType)
"""What may hold other values; lists of the rest may be long."""


def _snapshot(value: Any) -> Any:
    """A value whose containers the reverse sweep does not empty."""
    if isinstance(value, (list, tuple)):
        return [_snapshot(part) if isinstance(part, _HOLDING) else part for part in value]
    return {key: _snapshot(part) for key, part in value.items()} if isinstance(value, dict) else value


def _leaves(value: Any, seen: tuple[Any, ...] = ()) -> Iterable[Any]:
    """What is in containers, and in what pullbacks have captured."""
    if isinstance(value, (list, tuple)):
        for part in value:
            if isinstance(part, _HOLDING):
                yield from _leaves(part, seen)
            else:
                yield part
    elif isinstance(value, dict):
        yield from _leaves(list(value.values()), seen)
    elif isinstance(value, types.FunctionType) and value.__closure__ and all(value is not outer for outer in seen):
        for cell in value.__closure__:
            if cell != types.CellType():
                yield from _leaves(cell.cell_contents, (*seen, value))
    else:
        yield value


def _owner(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array whose memory a view shows."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _arrays(value: Any) -> list[np.ndarray[Any, Any]]:
    return [_owner(leaf) for leaf in _leaves(value) if isinstance(leaf, np.ndarray)]


def _parts(value: Any) -> Iterable[tuple[Any, int]]:
    """What a value holds, each with its bytes: memory of arrays, and numbers."""
    for leaf in _leaves(value):
        if isinstance(leaf, np.ndarray):
            yield _owner(leaf), _owner(leaf).nbytes
        elif isinstance(leaf, (int, float, complex, np.generic)) and not isinstance(leaf, bool):
            yield leaf, sys.getsizeof(leaf)


def _described(value: Any, parts: dict[int, int]) -> str:
    if isinstance(value, types.FunctionType):
        return "a pullback, with what it has kept"
    if isinstance(value, list) and any(isinstance(part, types.FunctionType) for part in value):
        return f"{len(value)} pullbacks"
    leaves = list(_leaves(value))
    arrays = [leaf for leaf in leaves if isinstance(leaf, np.ndarray)]
    if not leaves:
        return "nothing"
    if not arrays:
        return "a number" if len(leaves) == 1 else f"{len(leaves)} numbers"
    if not parts:
        return "memory of an argument"
    kinds = {f"{a.dtype.str.lstrip('<>|=')}[{', '.join(map(str, a.shape))}]" for a in arrays}
    kind = kinds.pop() if len(kinds) == 1 else "of several shapes"
    return kind if len(arrays) == 1 and not isinstance(value, list) else (
        f"{len(arrays)} array{'' if len(arrays) == 1 else 's'} {kind}")
