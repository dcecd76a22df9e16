"""``array.array``: a list of numbers of one type, whose items are new objects each time that they are read.

So for one that holds what depends on what is differentiated, a list of the numbers that were put in is kept beside it.
Where other objects have its memory (``np.frombuffer``, ``memoryview``) its numbers are those of an array there; it
cannot grow then.
"""

from __future__ import annotations

import array
import operator
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2s.errors import error
from s2s.recorded.memory import owner_of
from s2s.recorded.recorder import is_a
from s2s.recorded.state import ACTIVE, depends, handed_on
from s2s.recorded.tools import call, get_item, set_item

__all__ = [
    "OVER_MEMORY", "call_of", "forget", "in_memory", "item_of", "items_of_typed", "joined", "made", "numbers_of",
    "over_memory", "store",
]

_NUMBERS: dict[int, tuple[array.array[Any], list[Any]]] = {}
"""The arrays that hold what depends on what is differentiated, and their numbers, as they are objects."""

_FLOATS = "fd"


def forget() -> None:
    """End what is known, when no recording lasts any more."""
    _NUMBERS.clear()


def made(code: str, *items: Any) -> Any:
    """``array.array(code, items)``."""
    if not items or code not in _FLOATS or is_a(items[0], (str, bytes, bytearray)):
        return array.array(code, *items)
    given = _listed(items[0]) if is_a(items[0], array.array) else call(list, items[0])
    numbers = [_typed(code, item) for item in given]
    out = array.array(code, numbers)
    return _known(out, numbers) if depends(numbers) else out


def _typed(code: str, number: Any) -> Any:
    """A number as an array holds it."""
    return call(float, number if code == "d" else call(np.float32, number))


def _known(out: array.array[Any], numbers: list[Any]) -> array.array[Any]:
    _NUMBERS[id(out)] = out, list(numbers)
    for recorder in ACTIVE:
        recorder.tainted[id(out)] = out
    return out


def _has_views(typed: array.array[Any]) -> bool:
    """Whether other objects have its memory: then it cannot grow."""
    try:
        typed.append(typed[0] if typed else 0)
    except BufferError:
        return True
    typed.pop()
    return False


def in_memory(value: Any) -> Any:
    """An ``array.array`` of which the numbers are those of its memory from here on; any other value as it is."""
    if is_a(value, array.array) and value.typecode in _FLOATS and ACTIVE:
        numbers = numbers_of(value) if id(value) in _NUMBERS else None
        whole = _memory(value)
        if numbers is not None:
            del _NUMBERS[id(value)]
            set_item(call(np.array, numbers, dtype=whole.dtype), whole, ...)
        for recorder in ACTIVE:
            recorder.tainted[id(value)] = value
    return value


def _memory(typed: array.array[Any]) -> np.ndarray[Any, Any]:
    return owner_of(np.asarray(typed))


def numbers_of(typed: array.array[Any]) -> list[Any]:
    """The numbers of an array."""
    if id(typed) not in _NUMBERS:
        return [call(float, number) for number in call(list, _memory(typed))]
    numbers = _NUMBERS[id(typed)][1]
    if array.array(typed.typecode, numbers).tobytes() != typed.tobytes():
        raise _changed()
    return list(numbers)


def _changed() -> Exception:
    return error("S2S101", construct="an `array.array` that is changed by code that is not watched")


def item_of(typed: array.array[Any], index: Any) -> Any:
    """``typed[index]``."""
    if is_a(index, slice):
        return _known(typed[index], numbers_of(typed)[index])
    if id(typed) not in _NUMBERS:
        return call(float, get_item(_memory(typed), index))
    number, numbers = typed[index], _NUMBERS[id(typed)][1]
    if len(numbers) != len(typed) or struct.pack("d", numbers[index]) != struct.pack("d", number):
        raise _changed()
    return numbers[index]


def store(value: Any, typed: array.array[Any], index: Any) -> None:
    """``typed[index] = value``."""
    if typed.typecode not in _FLOATS:
        typed[index] = value
        return
    new = numbers_of(value) if is_a(value, array.array) and depends(value) else (
        value if is_a(index, slice) else _typed(typed.typecode, value))
    if id(typed) not in _NUMBERS and (depends(typed) or _has_views(typed)):
        in_memory(typed)
        set_item(call(np.array, new), _memory(typed), index)
        return
    numbers = _listed(typed)
    typed[index] = value
    numbers[index] = new
    _known(typed, numbers)


def items_of_typed(typed: array.array[Any]) -> Iterator[Any]:
    k = 0
    while k < len(typed):
        yield item_of(typed, k)
        k += 1


_CHANGES = {"append": "append", "extend": "extend", "insert": "insert", "pop": "pop", "reverse": "reverse",
            "fromlist": "extend"}
"""Methods, and those of lists that do the same."""


def call_of(typed: array.array[Any], method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a method of an array that depends on what is differentiated, or is given what does."""
    name = method.__name__
    if name == "tolist":
        return numbers_of(typed)
    if typed.typecode not in _FLOATS or name not in (*_CHANGES, "remove"):
        return handed_on(method, args, kwargs, method(*args, **kwargs))
    if id(typed) not in _NUMBERS and depends(typed):
        raise error("S2S101", construct="a change of an `array.array` whose memory others have")
    numbers = _listed(typed)
    if name == "remove":
        name, args = "pop", (typed.index(*args),)
        method = typed.pop
    if name in ("extend", "fromlist"):
        given = _listed(args[0]) if is_a(args[0], array.array) else call(list, args[0])
        args = ([_typed(typed.typecode, item) for item in given],)
        typed.extend(array.array(typed.typecode, *args))
        out = None
    else:
        if name in ("append", "insert"):
            args = (*args[:-1], _typed(typed.typecode, args[-1]))
        out = method(*args)
    found = getattr(numbers, _CHANGES[name])(*args)
    _known(typed, numbers)
    return out if found is None else found


def joined(op: Any, a: Any, b: Any) -> Any:
    """``a + b``, ``a * n``, and in place."""
    plain = {operator.iadd: operator.add, operator.imul: operator.mul}.get(op, op)
    if plain not in (operator.add, operator.mul):
        return handed_on(op, (a, b), {}, op(a, b))
    before = [_listed(value) if is_a(value, array.array) else value for value in (a, b)]
    out = op(a, b)
    return _known(out, plain(*before))


def _listed(typed: array.array[Any]) -> list[Any]:
    """The numbers of an array, be they known or constants."""
    return numbers_of(typed) if depends(typed) else typed.tolist()


OVER_MEMORY = frozenset({array.array, memoryview, np.broadcast})


def over_memory(kind: type, args: tuple[Any, ...]) -> Any:
    """An object that reads numbers of arrays where they lie, or an ``array.array``."""
    if kind is array.array:
        return made(*args)
    if kind is memoryview:
        return kind(*map(in_memory, args))
    return kind(*(call(np.asarray, a) if depends(a) else a for a in args))
