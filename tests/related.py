"""Which tests are related to which part of s2s: ``python -m tests.related FILE ...`` prints those of changed files.

The folders of the tests mirror those of s2s, so a path tells most of it. ``SPANNING`` has what it does not tell: the
tests that look at more than one room, with the rooms that they look at.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

TRANSFORMS = ("analysis", "builder", "forward", "optimize", "reverse", "specialize")
"""What makes the derivative of a function, in IR."""

COMPILER = (*TRANSFORMS, "codegen", "core", "directives", "frontend", "normalize", "rules", "pipeline.py")
"""What decides what is generated."""

SPANNING = {
    "tests/backends/test_auto.py": ("dispatch",),
    "tests/bank": COMPILER,
    "tests/batch": (*TRANSFORMS, "rules", "transforms.py"),
    "tests/builder": TRANSFORMS,
    "tests/cache": ("dispatch", "versions"),
    "tests/cli/test_building.py": ("shipping",),
    "tests/codegen": TRANSFORMS,
    "tests/directives": (*TRANSFORMS, "rules"),
    "tests/directives/test_debugging.py": ("dispatch",),
    "tests/dispatch": ("derivatives.py", "pipeline.py", "recorded", "versions"),
    "tests/distributed/test_distributed.py": ("shipping",),
    "tests/forward": TRANSFORMS,
    "tests/fuzz": COMPILER,
    "tests/inplace": TRANSFORMS,
    "tests/language": (*COMPILER, "dispatch", "models", "versions"),
    "tests/models": ("rules",),
    "tests/normalize": TRANSFORMS,
    "tests/optimize": TRANSFORMS,
    "tests/purity": ("analysis", "cache", "frontend", "specialize", "versions"),
    "tests/recorded": ("dispatch",),
    "tests/reverse": TRANSFORMS,
    "tests/rules": ("models", "runtime"),
    "tests/runtime": ("rules",),
    "tests/rules/test_equal_eigenvalues.py": ("dispatch",),
    "tests/scipy": ("models",),
    "tests/site": ("core", "explanation.py", "listing.py"),
    "tests/specialize": TRANSFORMS,
    "tests/specialize/heap/test_live_objects.py": ("versions",),
    "tests/stress": ("cache", "dispatch", "versions"),
    "tests/test_api.py": (*TRANSFORMS, "derivatives.py", "dispatch", "versions"),
    "tests/test_docs.py": ("codegen",),
    "tests/test_errors.py": ("dispatch", "versions"),
    "tests/test_examples.py": ("api.py", "codegen", "shipping"),
    "tests/test_gallery.py": ("optim", "scipy"),
    "tests/test_implicit.py": TRANSFORMS,
    "tests/test_notices.py": ("dispatch",),
    "tests/test_sparse.py": TRANSFORMS,
    "tests/test_transforms.py": (*TRANSFORMS, "batch", "dispatch", "versions"),
    "tests/validation": ("builder", "forward", "optimize", "reverse"),
    "tests/versions": ("dispatch",),
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
            found.update(of_room(rest[0]))
        elif first == "docs":
            found |= {"tests/site", "tests/test_docs.py"}
        elif first in ("examples", "benchmarks"):
            found |= {f"tests/{first}", "tests/test_examples.py", "tests/test_gallery.py"}
    return sorted(path for path in found if (ROOT / path).exists())


@functools.cache
def of_room(room: str) -> list[str]:
    """Return the tests of a folder or module of s2s: those of its name, and those that span it."""
    name = room.removesuffix(".py")
    paths = [f"tests/{name}", f"tests/test_{name}.py", *(path for path, rooms in SPANNING.items() if room in rooms)]
    return [path for path in paths if (ROOT / path).exists()]


if __name__ == "__main__":
    print(",".join(related(sys.argv[1:])))
