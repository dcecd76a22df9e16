"""Arguments of public functions in, an ArgumentError out that names the one that is of the wrong kind.

    @checked
    def check_grads(f, args, order=2): ...      check_grads(f, x, order=0)      `order` is 0; give an int of at least 1

What a parameter of a name takes is said once, for all functions that have it.
"""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from s2s.core.tracebacks import at_the_call
from s2s.errors import error, not_a_function

__all__ = ["check_argument", "checked"]

F = TypeVar("F", bound=Callable[..., Any])


def _is_flag(value: Any) -> bool:
    return type(value) in (bool, getattr(sys.modules.get("numpy"), "bool_", bool))  # NumPy is imported on use


def _is_int(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not _is_flag(value)


def _is_pattern(value: Any) -> bool:
    import numpy as np

    return value is None or len(getattr(value, "shape", None) or np.shape(value)) == 2


def _is_tolerance(value: Any) -> bool:
    return value is None or (isinstance(value, numbers.Real) and not _is_flag(value) and 0 <= float(value) < math.inf)


_FLAG = (_is_flag, "give True or False")
_TOLERANCE = (_is_tolerance, "give a number of at least 0, or None for the default")
_NAMES = (lambda value: isinstance(value, (str, tuple, list, set, frozenset)), "give a name, or a tuple of names")

_TAKEN: dict[str, tuple[Callable[[Any], bool], str]] = {
    "f": (callable, ""),
    "has_aux": _FLAG, "holomorphic": _FLAG, "numeric": _FLAG, "fastmath": _FLAG, "parallel": _FLAG,
    "rtol": _TOLERANCE, "atol": _TOLERANCE,
    "eps": (lambda value: value is None or (_is_tolerance(value) and value > 0),
            "give a step greater than 0, or None for the default"),
    "order": (lambda value: _is_int(value) and value >= 1, "give an int of at least 1"),
    "seed": (lambda value: _is_int(value) and value >= 0, "give an int of at least 0"),
    "snapshots": (_is_int, "give an int, how many states may be kept"),
    "modes": _NAMES,
    "kinds": (lambda value: isinstance(value, str), 'give a string, "x: f8[:, 3], n: int"'),
    "filter": (lambda value: isinstance(value, str), "give a string, a part of the names that are wanted"),
    "kwargs": (lambda value: value is None or isinstance(value, dict), "give a dict from names to values"),
    "sparsity": (_is_pattern, "give a matrix that is not zero where an entry may be, or None"),
    "result": (lambda value: value is None or callable(value), "give a function of arrays, or None"),
}
"""What the parameters of public functions take, by name: a test, and what to give."""


def check_argument(name: str, value: Any) -> None:
    """Raise ArgumentError where a value is none that a parameter of this name takes."""
    takes, hint = _TAKEN[name]
    if name == "f" and not takes(value):
        raise not_a_function(value)
    if not takes(value):
        raise error("S2S511", problem=f"`{name}` is {value!r}", hint=hint)


def checked(f: F) -> F:
    """A decorator of a public function: its arguments are checked, and exceptions appear where it was called."""
    parameters = inspect.signature(f).parameters.values()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    places = tuple(
        (k if p.kind in positional else math.inf, p.name) for k, p in enumerate(parameters)
        if p.name in _TAKEN and p.kind not in variable)
    return at_the_call(f, functools.partial(_check, places))


def _check(places: tuple[tuple[float, str], ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    for place, name in places:
        if place < len(args):
            check_argument(name, args[int(place)])
        elif name in kwargs:
            check_argument(name, kwargs[name])
