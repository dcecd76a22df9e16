"""Which tests run which lines of s2s, and how long each takes: found by running each test once.

What a test only compiles counts too: the body of a rule that is written into generated code is not run at its place.
"""

from __future__ import annotations

import collections
import json
import os
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import s2s.cache.lowered

TOOL = 3
LIMIT = 20.0
"""Seconds for a test; those that take longer are left out."""


def lines_of(code: CodeType) -> Iterator[int]:
    """The lines of a code object and of what is nested in it."""
    yield from (line for _, _, line in code.co_lines() if line)
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield from lines_of(item)


class Watch:
    """Collects the lines that run in the files below a folder, between ``start`` and ``stop``."""

    def __init__(self, folder: str) -> None:
        self.folder, self.root = folder, os.path.dirname(os.path.dirname(folder))
        self.lines = collections.defaultdict[str, set[int]](set)

    def start(self) -> None:
        monitoring = sys.monitoring
        if monitoring.get_tool(TOOL) is None:
            monitoring.use_tool_id(TOOL, "s2s.mutation")
        monitoring.register_callback(TOOL, monitoring.events.LINE, self.line)
        monitoring.register_callback(TOOL, monitoring.events.PY_START, self.begun)
        monitoring.set_events(TOOL, monitoring.events.LINE | monitoring.events.PY_START)
        monitoring.restart_events()

    def stop(self) -> dict[str, set[int]]:
        sys.monitoring.set_events(TOOL, 0)
        return {os.path.relpath(file, self.root): found for file, found in self.lines.items()}

    def line(self, code: CodeType, number: int) -> Any:
        if code.co_filename.startswith(self.folder) and code.co_flags & 2:  # not the body of a module or a class
            self.lines[code.co_filename].add(number)
        return sys.monitoring.DISABLE

    def begun(self, code: CodeType, offset: int) -> Any:
        if code is not s2s.cache.lowered.load.__code__:
            return sys.monitoring.DISABLE
        lowered = sys._getframe(1).f_locals["fn"].__code__
        self.lines[lowered.co_filename].update(lines_of(lowered))
        return None


@dataclass
class Record:
    """``seconds`` that each test takes, and ``runs``: for each file, the sets of lines that tests run in it, each with
    the tests."""

    seconds: dict[str, float] = field(default_factory=dict)
    runs: dict[str, dict[int, list[str]]] = field(default_factory=dict)

    def add(self, test: str, seconds: float, lines: dict[str, list[int]]) -> None:
        self.seconds[test] = seconds
        for file, numbers in lines.items():
            mask = sum(1 << number for number in set(numbers))
            self.runs.setdefault(file, {}).setdefault(mask, []).append(test)

    def tests(self, file: str, lines: tuple[int, int] | None = None) -> list[str]:
        """The tests that run one of these lines, the quickest first."""
        wanted = -1 if lines is None else sum(1 << number for number in range(lines[0], lines[1] + 1))
        found = [test for mask, tests in self.runs.get(file, {}).items() if mask & wanted for test in tests]
        return sorted(found, key=lambda test: (self.seconds[test], test))

    def save(self, file: str) -> None:
        runs = {name: [[hex(mask), tests] for mask, tests in found.items()] for name, found in self.runs.items()}
        with open(file, "w") as stream:
            json.dump({"seconds": self.seconds, "runs": runs}, stream)

    @classmethod
    def load(cls, file: str) -> Record:
        with open(file) as stream:
            stored = json.load(stream)
        runs = {name: {int(mask, 16): tests for mask, tests in found} for name, found in stored["runs"].items()}
        return cls(stored["seconds"], runs)


def chosen(tests: list[str], first: list[str], count: int, seed: int) -> list[str]:
    """At most ``count`` of the tests that run a line: those that found mutants nearby, the quickest, and any others."""
    here = set(tests)
    known = [test for test in first if test in here]
    quick = tests[: count // 2]
    rest = tests[count // 2 :]
    others = random.Random(seed).sample(rest, min(len(rest), count - len(quick)))
    return list(dict.fromkeys([*known, *quick, *others]))
