"""The cases, by suite: each module of ``micro``, ``kernels`` and ``ml`` has a ``CASE``, or several as ``CASES``."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from benchmarks.case import Case

SUITES = ("micro", "kernels", "ml")


def load(suite: str) -> list[Case]:
    """The cases of a suite, or of all of them, by name."""
    if suite == "all":
        return [case for one in SUITES for case in load(one)]
    found: list[Case] = []
    for module in pkgutil.iter_modules([str(Path(__file__).parent / suite)]):
        content = importlib.import_module(f"{__name__}.{suite}.{module.name}")
        found += getattr(content, "CASES", None) or [content.CASE]
    return sorted(found, key=lambda case: case.name)


def suite_of(name: str) -> str:
    """The suite of the case of that name."""
    (suite,) = [suite for suite in SUITES if any(case.name == name for case in load(suite))]
    return suite


def find(name: str) -> Case:
    """The case of that name."""
    (case,) = [case for case in load("all") if case.name == name]
    return case
