"""Which tests run which lines of s2s, and what each takes: found by running each test once.

What a test only compiles counts too: the body of a rule that is written into generated code is not run at its place,
nor is what Numba makes machine code of.

A record outlives changes: a test whose file has changed is run again, and the lines of a changed module are those that
stood there before, wherever they stand.
"""

from __future__ import annotations

import collections
import difflib
import gzip
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

TOOL = 3
LIMIT = 20.0
"""Processor seconds for a test; those that take longer are left out."""


def nested(code: CodeType) -> Iterator[CodeType]:
    """A code object and those in it."""
    yield code
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield from nested(item)


def lines_of(code: CodeType) -> Iterator[int]:
    """The lines of a code object and of what is nested in it."""
    return (line for one in nested(code) for _, _, line in one.co_lines() if line)


def compilers() -> dict[CodeType, str]:
    """The functions that compile another, each with the argument that holds it."""
    import s2s.cache.lowered

    found = {s2s.cache.lowered.load.__code__: "fn"}
    numba = sys.modules.get("numba.core.bytecode")
    if numba is not None:
        found[numba.FunctionIdentity.from_function.__func__.__code__] = "pyfunc"
    return found


class Watch:
    """Collects the lines that run in the files below a folder.

    ``ahead`` names the code objects to watch; else all that run are looked at. Between ``start`` and ``stop`` each line
    counts once.
    """

    def __init__(self, folder: str) -> None:
        self.folder, self.root = folder, os.path.dirname(os.path.dirname(folder))
        self.lines = collections.defaultdict[str, set[int]](set)
        self.compilers: dict[CodeType, str] = {}
        self.named: list[CodeType] = []

    def ahead(self, codes: Iterable[CodeType]) -> None:
        """Watch these code objects alone: others run as fast as ever."""
        monitoring = sys.monitoring
        self.compilers = compilers()
        self.named = list({id(one): one for code in codes for one in nested(code)}.values())
        self._claim()
        for code in self.named:
            monitoring.set_local_events(TOOL, code, monitoring.events.LINE)
        for code in self.compilers:
            monitoring.set_local_events(TOOL, code, monitoring.events.LINE | monitoring.events.PY_START)

    def end(self) -> None:
        """Watch nothing any more."""
        for code in [*self.named, *self.compilers]:
            sys.monitoring.set_local_events(TOOL, code, 0)
        sys.monitoring.free_tool_id(TOOL)

    def _claim(self) -> None:
        monitoring = sys.monitoring
        if monitoring.get_tool(TOOL) is None:
            monitoring.use_tool_id(TOOL, "s2s.mutation")
        monitoring.register_callback(TOOL, monitoring.events.LINE, self.line)
        monitoring.register_callback(TOOL, monitoring.events.PY_START, self.begun)

    def start(self) -> None:
        self.lines.clear()
        self._claim()
        if not self.named:
            sys.monitoring.set_events(TOOL, sys.monitoring.events.LINE)
        sys.monitoring.restart_events()

    def stop(self) -> dict[str, set[int]]:
        sys.monitoring.set_events(TOOL, 0)
        return {os.path.relpath(file, self.root): set(found) for file, found in list(self.lines.items())}

    def line(self, code: CodeType, number: int) -> Any:
        if code.co_filename.startswith(self.folder) and code.co_flags & 2:  # not the body of a module or a class
            self.lines[code.co_filename].add(number)
        return sys.monitoring.DISABLE

    def begun(self, code: CodeType, offset: int) -> Any:
        held = self.compilers.get(code)
        if held is None:
            return sys.monitoring.DISABLE
        compiled = getattr(sys._getframe(1).f_locals[held], "__code__", None)
        if compiled is not None and compiled.co_filename.startswith(self.folder):
            self.lines[compiled.co_filename].update(lines_of(compiled))
        return None


def mask_of(lines: Iterable[int]) -> int:
    """A number with a bit for each line."""
    lines = list(lines)
    bits = bytearray(max(lines, default=0) // 8 + 1)
    for line in lines:
        bits[line >> 3] |= 1 << (line & 7)
    return int.from_bytes(bits, "little")


def lines_in(mask: int) -> Iterator[int]:
    while mask:
        last = mask & -mask
        yield last.bit_length() - 1
        mask ^= last


@dataclass
class Record:
    """What each test takes and runs.

    ``seconds`` are those of the processor, ``breadth`` is how many lines a test runs in all, and ``runs`` has the sets
    of lines that tests run in each file, each with the tests. ``broken`` are tests that fail, or are skipped, as things
    are.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    breadth: dict[str, int] = field(default_factory=dict)
    runs: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)

    def add(self, test: str, seconds: float, masks: dict[str, int]) -> None:
        self.seconds[test] = seconds
        self.breadth[test] = sum(mask.bit_count() for mask in masks.values())
        for file, mask in masks.items():
            self.runs.setdefault(file, {}).setdefault(mask, []).append(test)

    def leave_out(self, test: str, reason: str) -> None:
        self.seconds[test] = float("inf")
        self.broken[test] = reason

    def tests(self, file: str, lines: tuple[int, int]) -> dict[str, int]:
        """The tests that run one of these lines, each with how many of the file it runs."""
        wanted = mask_of(range(lines[0], lines[1] + 1))
        found = self.runs.get(file, {}).items()
        reached = ((test, mask) for mask, tests in found if mask & wanted for test in tests)
        return {test: mask.bit_count() for test, mask in reached if test not in self.broken}

    def cost(self, test: str, near: int) -> float:
        """What a test costs for its chance to find something in a file of which it runs ``near`` lines: little if it is
        quick and these are many of its lines."""
        return (self.seconds[test] + 0.01) * (self.breadth[test] + 100) / (near + 1)

    # --- files -------------------------------------------------------------------------------------------------------

    def save(self, file: str) -> None:
        """Write the record, with the text of what it is about."""
        names = list(self.seconds)
        number = {name: i for i, name in enumerate(names)}
        runs = {
            name: [[hex(mask), [number[test] for test in tests]] for mask, tests in found.items()]
            for name, found in self.runs.items()
        }
        rows = [[name, self.seconds[name], self.breadth.get(name, 0)] for name in names]
        stored = {"tests": rows, "runs": runs, "broken": self.broken, "texts": {name: text_of(name) for name in runs}}
        stored["files"] = {name: digest(name) for name in dict.fromkeys(map(file_of, names))}
        with gzip.open(f"{file}.part", "wt", compresslevel=1) as stream:
            json.dump(stored, stream)
        os.replace(f"{file}.part", file)

    @classmethod
    def load(cls, file: str) -> Record:
        """Read a record, without the tests whose file has changed since, and with lines where they are by now."""
        with gzip.open(file, "rt") as stream:
            stored = json.load(stream)
        same = {name for name, known in stored["files"].items() if digest(name) == known}
        names = [row[0] for row in stored["tests"]]
        keep = [file_of(name) in same for name in names]
        record = cls()
        for name, seconds, breadth in (row for row, kept in zip(stored["tests"], keep) if kept):
            record.seconds[name] = seconds
            if seconds != float("inf"):
                record.breadth[name] = breadth
        record.broken = {name: why for name, why in stored["broken"].items() if file_of(name) in same}
        for name, found in stored["runs"].items():
            move = moved(stored["texts"][name], text_of(name))
            runs = record.runs.setdefault(name, {})
            for mask, tests in found:
                kept = [names[i] for i in tests if keep[i]]
                if kept:
                    runs.setdefault(move(int(mask, 16)), []).extend(kept)
        return record


def file_of(test: str) -> str:
    return test.partition("::")[0]


def text_of(file: str) -> str:
    if not os.path.exists(file):
        return ""
    with open(file) as stream:
        return stream.read()


def digest(file: str) -> str:
    return hashlib.blake2b(text_of(file).encode(), digest_size=8).hexdigest()


def moved(before: str, after: str) -> Callable[[int], int]:
    """Where the lines of a text are in another. A line that is not in the first counts as those beside it."""
    if before == after:
        return lambda mask: mask
    places: dict[int, list[int]] = collections.defaultdict(list)
    old, new = before.splitlines(), after.splitlines()
    for kind, a, a_end, b, b_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            for i in range(a_end - a):
                places[a + i + 1].append(b + i + 1)
        else:
            beside = range(a, a_end) if kind == "replace" else (a - 1,)
            for i in beside:
                places[i + 1].extend(range(b + 1, b_end + 1))
    return lambda mask: mask_of(place for line in lines_in(mask) for place in places[line])
