"""What a program changes outside of itself, set back: so that it runs again as from the same state, and unnoticed.

Containers, attributes, class and global variables, cells of closures, arrays and random generators that the function
can reach are noted by what they hold. What is kept elsewhere, in files or in memory of compiled code, is not.
"""

from __future__ import annotations

import collections
import itertools
import random
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from s2s.core.inspection import is_own_module, is_written, module_of, namespace, own_dict
from s2s.core.reachable import reachable, slots_of

__all__ = ["Surroundings"]

MOST_OBJECTS = 20_000
MOST_BYTES = 1 << 26
"""So much is looked at; what is found after is not noted."""


class _Place(NamedTuple):
    """Something that can change: ``read`` gives what it holds, ``write`` lets it hold that again."""

    read: Callable[[], Any]
    write: Callable[[Any], None]


class Surroundings:
    """What the objects hold that some objects lead to, as it is when this is made."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self.places = [
            _Place(random.getstate, random.setstate), _Place(np.random.get_state, np.random.set_state)  # type: ignore[arg-type]
        ]
        left = MOST_BYTES
        for found in itertools.islice(reachable(roots), MOST_OBJECTS):
            if issubclass(type(found), np.ndarray):
                left -= found.nbytes
                if left < 0:
                    continue
            self.places += _places_of(found)
        self.before = self.now()

    def now(self) -> list[Any]:
        """What everything holds at this time."""
        return [place.read() for place in self.places]

    def put(self, held: list[Any]) -> None:
        """Let everything hold again what it held at a time."""
        for place, then in zip(self.places, held):
            if not _is_same(place.read(), then):
                place.write(then)


def _places_of(found: Any) -> list[_Place]:
    kind = type(found)
    if kind is types.FunctionType:
        return [] if is_own_module(found.__module__) else _of_function(found)
    if issubclass(kind, type):
        if is_own_module(module_of(found)) or not is_written(found):
            return []
        return [_Place(lambda: dict(namespace(found)), lambda held: _put_class(found, held))]
    if issubclass(kind, np.random.Generator):
        bits = found.bit_generator
        return [_Place(lambda: bits.state, lambda state: setattr(bits, "state", state))]
    if issubclass(kind, np.random.RandomState):
        return [_Place(found.get_state, found.set_state)]
    if issubclass(kind, random.Random):
        return [_Place(found.getstate, found.setstate)]
    places = [_Place(lambda: slots_of(found), lambda held: _put_slots(found, held))] if slots_of(found) else []
    own = own_dict(found)
    if isinstance(own, dict) and not isinstance(found, types.ModuleType):
        places.append(_of_container(dict, own))
    if issubclass(kind, np.ndarray):
        if np.ndarray.flags.__get__(found).writeable:  # type: ignore[attr-defined]
            places.append(_of_array(found))
    for base in _CONTAINERS:
        if issubclass(kind, base):
            places.append(_of_container(base, found))
    return places


_CONTAINERS: dict[type, str] = {list: "extend", collections.deque: "extend", dict: "update", set: "update"}
"""Built-in containers, and what fills them; subclasses are read and filled as these."""


def _of_container(base: Any, container: Any) -> _Place:
    def write(held: Any) -> None:
        base.clear(container)
        getattr(base, _CONTAINERS[base])(container, held)

    if base is dict:
        return _Place(lambda: dict(dict.items(container)), write)
    return _Place(lambda: list(base.__iter__(container)), write)


def _of_array(array: Any) -> _Place:
    plain = np.ndarray.view(array, np.ndarray)
    return _Place(lambda: plain.copy(order="K"), lambda held: np.copyto(plain, held))


def _of_function(fn: types.FunctionType) -> list[_Place]:
    """The variables outside of a function that it, or one inside it, may assign; and its attributes."""
    names, codes = set[str](), [fn.__code__]
    while codes:
        code = codes.pop()
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
        names.update(code.co_names)
    own = {name for name in vars(fn) if not name.startswith("__s2s")}
    return [*map(_of_cell, fn.__closure__ or ()), _of_names(fn.__globals__, names), _of_names(vars(fn), own)]


def _of_names(scope: dict[str, Any], names: set[str]) -> _Place:
    def write(held: dict[str, Any]) -> None:
        for name in names - held.keys():
            scope.pop(name, None)
        scope.update(held)

    return _Place(lambda: {name: scope[name] for name in names if name in scope}, write)


def _of_cell(cell: types.CellType) -> _Place:
    def read() -> Any:
        return [cell.cell_contents] if cell != types.CellType() else []

    def write(held: Any) -> None:
        if held:
            cell.cell_contents = held[0]
        else:
            del cell.cell_contents

    return _Place(read, write)


def _put_class(kind: type, held: dict[str, Any]) -> None:
    now = namespace(kind)
    for name in [name for name in now if name not in held]:
        type.__delattr__(kind, name)
    for name, value in held.items():
        if namespace(kind).get(name) is not value:
            type.__setattr__(kind, name, value)


def _put_slots(owner: Any, held: dict[str, Any]) -> None:
    for name in slots_of(owner).keys() - held.keys():
        object.__delattr__(owner, name)
    for name, value in held.items():
        object.__setattr__(owner, name, value)


def _is_same(a: Any, b: Any) -> bool:
    """Whether two records of one place hold the same objects, or arrays the same numbers."""
    if isinstance(a, np.ndarray):
        return a.dtype.kind != "O" and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return len(a) == len(b) and all(
            k is j and v is w for (k, v), (j, w) in zip(a.items(), b.items()))
    if isinstance(a, list):
        return len(a) == len(b) and all(v is w for v, w in zip(a, b))
    return False
