"""The name of a module of SciPy in, the module out; and what is refused of all functions here."""

from __future__ import annotations

import importlib
from typing import Any

from s2s.directives.differentiable import option_error
from s2s.errors import error, not_a_function

__all__ = ["as_tuple", "check", "load"]


def load(module: str, name: str) -> Any:
    """A module of SciPy. Raises ArgumentError where SciPy is not installed."""
    try:
        return importlib.import_module(f"scipy.{module}")
    except ModuleNotFoundError as problem:
        if (problem.name or "").split(".")[0] != "scipy":
            raise
        raise error("S2S538", name=f"s2s.scipy.{name}", package="SciPy", extra="scipy") from None


def check(f: Any, name: str, options: dict[str, Any], supplied: tuple[str, ...]) -> None:
    """Refuse what is no function, and derivatives of one's own."""
    if not callable(f):
        raise not_a_function(f)
    for option in supplied:
        if option in options:
            raise option_error(
                f"`s2s.scipy.{name}` was given `{option}`, which it supplies",
                f"leave it out, or call SciPy's `{name}` with yours",
            )


def as_tuple(args: Any) -> tuple[Any, ...]:
    """Further arguments, of which a single one may stand alone."""
    return args if isinstance(args, tuple) else (args,)
