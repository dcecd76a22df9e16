"""The name of a public function whose module needs an extra that is not installed in, one out that says so when it is
called: so that ``from s2s import *``, ``help(s2s)`` and completion work in every installation."""

from __future__ import annotations

from typing import Any, NoReturn

from s2s.core.tracebacks import at_the_call
from s2s.errors import DifferentiationError, error

__all__ = ["without"]

EXTRAS = {"networkx": ("NetworkX", "sparse"), "scipy": ("SciPy", "sparse")}
"""By the module that is imported: what it is called, and the extra that brings it."""


def without(name: str, problem: Exception) -> Any:
    """What stands for ``s2s.NAME``, whose module raises a problem when it is imported. Raises the problem where nothing
    that is not installed is the reason."""
    missing = (getattr(problem, "name", None) or "").partition(".")[0]
    if isinstance(problem, ModuleNotFoundError) and missing in EXTRAS:
        package, extra = EXTRAS[missing]
        problem = error("S2S538", name=f"s2s.{name}", package=package, extra=extra)
    elif not isinstance(problem, DifferentiationError):
        raise problem

    @at_the_call
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise problem.with_traceback(None)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = str(problem)
    return function
