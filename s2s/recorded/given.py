"""The arguments of a call that is recorded: copies of the caller's containers, and what the function knows of them by
other names."""

from __future__ import annotations

import collections
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from s2s.core.reachable import held_by, reachable, reached_parts
from s2s.errors import error
from s2s.recorded import operations
from s2s.recorded.memory import owner_of
from s2s.recorded.recorder import Recorder, pack, unpack
from s2s.versions.carriers import parts_of, put_together
from s2s.versions.signature import has_attributes, own_attributes
from s2s.versions.target import parameters_of

__all__ = ["Shared", "arguments_of", "known_to_others", "note_shared"]

MOST_OBJECTS = 20_000
"""So many objects are looked at for what an argument reaches."""


def arguments_of(function: types.FunctionType, values: tuple[Any, ...]) -> dict[str, Any]:
    """The arguments, containers of the caller's as copies. What a parameter is by default is the function's own: it may
    know it by another name. What another argument may change, such as a method of it, is given as it is."""
    parameters = parameters_of(function)
    is_copied = any(type(value) in (list, dict) or parts_of(value) for value in values)
    left = known_to_others({p.name: value for p, value in zip(parameters, values)}) if is_copied else set()
    return {
        p.name: value if p.default is value or p.name in left else _copied(value)
        for p, value in zip(parameters, values)}


def known_to_others(given: dict[str, Any]) -> set[str]:
    """The names of the arguments that are or hold a list, dict or array which something else among the arguments
    reaches: a method, a closure, an object."""
    return reached_parts(given, (list, dict, np.ndarray), MOST_OBJECTS)


class Shared:
    """The lists, dicts and differentiated arrays and objects among the arguments that the function, or another argument
    such as a method, knows by other names, too: it is given copies of them, so that a change of one would not be seen
    in the other."""

    def __init__(
        self, function: types.FunctionType, values: tuple[Any, ...], given: dict[str, Any], varied: set[Any],
        is_first: bool = True,
    ) -> None:
        """``varied`` are the names of the parameters with something that is differentiated. What else leads to them is
        found at once for a run that ``is_first`` of its kind, else where one of them has changed."""
        named = [(p.name, value) for p, value in zip(parameters_of(function), values) if p.name in varied]
        self.arrays = [(name, value, value.copy()) for name, value in named if type(value) is np.ndarray]
        pairs = [(p.name, value, given[p.name]) for p, value in zip(parameters_of(function), values)]
        pairs = [pair for pair in pairs if pair[1] is not pair[2] and _is_changeable(pair[1])]
        self.function, self.values, self.is_first = function, values, is_first
        self.pairs = self._known_by_others(pairs) if is_first else pairs
        self.held = [self._items(value) for pair in self.pairs for value in pair[1:]]

    def _known_by_others(self, pairs: list[tuple[str, Any, Any]]) -> list[tuple[str, Any, Any]]:
        """Those of which something inside is reached from more than one of the function and its arguments."""
        roots = [tuple(held_by(self.function)), *self.values] if pairs else []
        known = collections.Counter(id(found) for root in roots for found in reachable((root,)))
        return [pair for pair in pairs if any(known[id(inner)] > 1 for inner in _containers_in(pair[1]))]

    @staticmethod
    def _items(value: Any) -> list[list[int]]:
        items = map(_inside, _containers_in(value))
        return [[id(item) for item in inner if not _is_container(item)] for inner in items]

    def check_unchanged(self) -> None:
        """Raise SharedMemoryError where one of them has changed, ArgumentError where it is an array."""
        for name, value, held in self.arrays:
            if not np.array_equal(value, held) and not _is_equal_with_nan(value, held):
                problem = f"`{name}` is changed in place, by another name"
                raise error("S2S511", problem=problem, hint="pass a copy of it")
        now = [self._items(value) for pair in self.pairs for value in pair[1:]]
        for k, (before, after) in enumerate(zip(self.held, now, strict=True)):
            is_other = before != after and (self.is_first or k % 2 == 0)  # the caller's own, or one that is known
            if is_other or (before != after and self._known_by_others([self.pairs[k // 2]])):
                raise error("S2S124", name=self.pairs[k // 2][0])


def _is_equal_with_nan(value: Any, held: Any) -> bool:
    return value.dtype.kind in "fc" and np.array_equal(value, held, equal_nan=True)


def note_shared(recorder: Recorder, function: str, given: list[tuple[str, Any, Any]]) -> None:
    """Let changes of arguments be refused that share memory with others in the caller's call and not in the recording:
    ``given`` has the name of the parameter of each, what the caller gave and what the function is given for it."""
    arrays = [one for one in given if isinstance(one[1], np.ndarray) and one[1].size]
    copies = {id(owner_of(copied)) for _, value, copied in arrays if copied is not value}
    groups: list[list[tuple[str, int]]] = []
    last = 0
    bounds = [(*np.lib.array_utils.byte_bounds(value), k) for k, (_, value, _) in enumerate(arrays)] if copies else []
    for start, stop, k in sorted(bounds):
        if start >= last:
            groups.append([])
        name, _, copied = arrays[k]
        groups[-1].append((name, id(owner_of(copied))))
        last = max(last, stop)
    for group in groups:
        owners = {owner for _, owner in group}
        if len(group) > 1 and not copies.isdisjoint(owners):
            recorder.apart |= dict.fromkeys(owners, (function, group[0][0], group[1][0]))


def _is_container(value: Any) -> bool:
    return type(value) in (list, dict)


def _is_changeable(value: Any) -> bool:
    return _is_container(value) or has_attributes(value) or type(value) is types.SimpleNamespace


def _inside(value: Any) -> Iterable[Any]:
    """The items of a list or dict, or the attributes of an object."""
    if isinstance(value, list):
        return value
    return (value if isinstance(value, dict) else own_attributes(value)).values()


def _containers_in(value: Any) -> list[Any]:
    """A list, dict or object, and the lists and dicts in it."""
    found, todo = list[Any](), [value]
    while todo:
        one = todo.pop()
        found.append(one)
        todo += filter(_is_container, _inside(one))
    return found


def _copied(value: Any) -> Any:
    """A container of the caller's as a new one, so that what changes it changes a copy."""
    parts = parts_of(value)
    if parts:
        return put_together(value, {name: operations.call_method(part, "copy") for name, part in parts.items()})
    leaves: list[Any] = []
    return unpack(pack(value, leaves), leaves) if type(value) in (list, dict) else value
