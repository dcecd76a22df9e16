"""Everything that the compiler reads about a function, changed one by one between two calls: programs and changes.

A program defines ``f``, a function of one float, in a module; the change runs with that module as ``m``. ``fold`` is
the way of reading in ``facts.FOLDS`` without whose guards a version would be stale after the change; it is empty where
the code reads what is changed when it runs, or where guards of several folds see to it.
"""

from __future__ import annotations

import importlib
import linecache
import sys
import textwrap
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HELPERS = """
    MODE = "a"
    K = 2.0
    K2 = 2.0

    def h(x):
        return x * x

    def uses_sum(x):
        return sum([x, x * x])
"""

POINT = 1.7


@dataclass(frozen=True)
class Case:
    """A program and a change; ``before`` runs before the program, ``after`` undoes what outlives it.

    What only a test would change is ``late``: a version in memory is asked about it where one is looked for, not at
    each call. ``by_rule`` says that the derivative is that of a rule, and not that of differences; ``is_same`` that the
    change is one for the generated code, and none for the program.
    """

    fold: str
    program: str
    change: str
    before: str = ""
    after: str = ""
    late: bool = False
    by_rule: bool = False
    is_same: bool = False


def all_cases() -> dict[str, Case]:
    """The cases by name."""
    modules = ("variables", "attributes", "objects", "classes", "calls", "live")
    found: dict[str, Case] = {}
    for name in modules:
        found |= importlib.import_module(f"tests.versions.changes.{name}").CASES
    return found


@contextmanager
def started(name: str, case: Case, folder: Path) -> Iterator[types.ModuleType]:
    """The module of a case, in a process that is as it was afterwards. The module lies in the folder, as do those that
    it imports; ``helpmod`` is one."""
    kept, path = dict(sys.modules), list(sys.path)
    (folder / "helpmod.py").write_text(textwrap.dedent(HELPERS))
    sys.path.append(str(folder))
    importlib.invalidate_caches()
    module = types.ModuleType(f"model_{name}")
    sys.modules[module.__name__] = module
    try:
        execute(case.before, folder / f"{name}_before.py", {"m": module})
        module.__file__ = str(folder / f"model_{name}.py")
        execute(case.program, folder / f"model_{name}.py", module.__dict__)
        yield module
    finally:
        if "is_changed" in module.__dict__:
            execute(case.after, folder / f"{name}_after.py", {"m": module})
        for other in [key for key in sys.modules if key not in kept]:
            if other.startswith(("model_", "helpmod", "s2s_made_up")):
                del sys.modules[other]
        sys.path[:] = path


def change(name: str, case: Case, folder: Path, module: types.ModuleType) -> None:
    """Make the change of a case."""
    module.__dict__["is_changed"] = True
    execute(case.change, folder / f"{name}_change.py", {"m": module, "__name__": "change"})


def execute(text: str, file: Path, names: dict[str, object]) -> None:
    """Run a text as that of a file; one that is there already with this text stays as it is."""
    text = textwrap.dedent(text).lstrip("\n")
    if not file.exists() or file.read_text() != text:
        file.write_text(text)
    linecache.checkcache(str(file))
    exec(compile(text, str(file), "exec"), names)


def slope(module: types.ModuleType) -> float:
    """The derivative of ``f`` by differences."""
    step = 1e-6
    above, below = (float(np.sum(module.f(POINT + sign * step))) for sign in (1, -1))
    return (above - below) / (2 * step)
