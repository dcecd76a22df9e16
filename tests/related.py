"""Which tests are related to which part of s2s: ``python -m tests.related FILE ...`` prints those of changed files.

The folders of the tests mirror those of s2s, so a path tells most of it. ``SPANNING`` has what it does not tell: the
tests that look at more than one room, with the rooms that they look at.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

COMPILER = (
    "analysis", "builder", "codegen", "core", "directives", "forward", "frontend", "normalize", "optimize", "reverse",
    "rules", "specialize", "pipeline.py",
)
"""What decides what is generated."""

SPANNING = {
    "tests/bank": COMPILER,
    "tests/fuzz": COMPILER,
    "tests/inplace": ("analysis", "builder", "forward", "optimize", "reverse", "specialize"),
    "tests/language": COMPILER,
    "tests/purity": ("specialize", "analysis", "frontend", "cache", "versions"),
    "tests/site": ("core", "explanation.py", "listing.py"),
    "tests/stress": ("cache", "dispatch", "versions"),
    "tests/dispatch": ("versions", "derivatives.py", "pipeline.py"),
    "tests/recorded": ("dispatch",),
    "tests/validation": ("builder", "reverse", "forward", "optimize"),
    "tests/models": ("rules",),
    "tests/rules": ("models", "runtime"),
    "tests/batch": ("forward", "transforms.py"),
    "tests/test_transforms.py": ("batch", "forward", "reverse"),
    "tests/test_api.py": ("api.py", "derivatives.py", "dispatch"),
    "tests/test_gallery.py": ("optim", "scipy"),
    "tests/test_docs.py": ("codegen",),
    "tests/test_examples.py": ("api.py", "codegen"),
}
"""Tests of several rooms: a file or folder of tests, with what it looks at beside the room of its own name."""


def related(files: Iterable[str]) -> list[str]:
    """Return the files and folders of tests that are related to changed files, paths of the checkout."""
    found = set()
    for file in files:
        first, *rest = Path(file).parts
        if first == "tests" and rest:
            found.add(file if file.endswith(".py") and rest[0].startswith("test_") else f"tests/{rest[0]}")
        elif first == "s2s" and rest:
            found |= of_room(rest[0])
        elif first == "docs":
            found |= {"tests/site", "tests/test_docs.py"}
        elif first in ("examples", "benchmarks"):
            found |= {f"tests/{first}", "tests/test_examples.py", "tests/test_gallery.py"}
    return sorted(path for path in found if (ROOT / path).exists())


def of_room(room: str) -> set[str]:
    """Return the tests of a folder or module of s2s: those of its name, and those that span it."""
    name = room.removesuffix(".py")
    return {f"tests/{name}", f"tests/test_{name}.py", *(path for path, rooms in SPANNING.items() if room in rooms)}


if __name__ == "__main__":
    print(",".join(related(sys.argv[1:])))
