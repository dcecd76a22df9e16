"""What a program remembers of earlier calls: a number of this call that is equal to one of them is another number.

    if x in self.known: return self.known[x]            a recording looks for ``x`` and finds nothing, and computes it
    if x == self.last_x: return self.last               a recording is refused: it could not tell this from a limit case
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.recorded.recorder import is_a, is_number
from s2s.runtime._remembered import are_same_arrays, remembered

__all__ = ["EQUALITIES", "check_equality", "compare", "is_remembered"]

_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}


def compare(sign: str, a: Any, b: Any, depends: Callable[[Any], bool]) -> Any:
    """``a == b`` and its like. Raises UnsupportedSyntaxError where a number that depends on what is differentiated is
    equal to one that was remembered."""
    found = _OPERATIONS[sign](a, b)
    if sign in ("in", "not in"):
        if is_a(b, (dict, set, frozenset)) and is_remembered(b, a, depends):
            return sign == "not in"
        return found
    if _is_same(a, b) and depends(a) != depends(b):
        raise remembered()
    return found


EQUALITIES = frozenset({np.array_equal, np.array_equiv, np.allclose, math.isclose})
"""Functions that answer whether numbers are equal."""


def check_equality(args: tuple[Any, ...], found: Any, depends: Callable[[Any], bool]) -> None:
    """The same refusal for a call of one of ``EQUALITIES``."""
    if found and len(args) > 1 and _is_same(*args[:2]) and depends(args[0]) != depends(args[1]):
        raise remembered()


def _is_same(a: Any, b: Any) -> bool:
    """Whether two values are equal floats, or arrays and tuples of these, that are equal by no accident."""
    if is_a(a, np.ndarray) and is_a(b, np.ndarray):
        return are_same_arrays(a, b)
    if is_a(a, tuple) and is_a(b, tuple):
        return (
            len(a) == len(b) and any(map(_is_same, a, b)) and all(x is y or bool(np.all(x == y)) for x, y in zip(a, b))
        )
    return is_number(a) and is_number(b) and bool(a == b) and a not in (0.0, 1.0, -1.0) and abs(a) < math.inf


_WITHOUT_DERIVATIVE = frozenset({str, int, bool, type(None)})


def is_remembered(container: Any, key: Any, depends: Callable[[Any], bool]) -> bool:
    """Whether a key that depends on what is differentiated is equal to one that does not."""
    if type(key) in _WITHOUT_DERIVATIVE or not depends(key) or is_a(key, np.ndarray) or key not in container:
        return False
    return not depends(next((known for known in container if known is key or known == key), None))
