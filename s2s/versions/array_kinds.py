"""Of which class the arrays of a version are: abstract values in, the same with NumPy's arrays out.

A version is for arrays of one class. The compiler takes them for NumPy's; what stands outside of the text, the guards
and the keys of versions, has their class.
"""

from __future__ import annotations

import collections.abc
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from s2s.core.array_classes import compiled_for, module_of_arrays, named
from s2s.core.values import AbstractValue, Array, DictOf, Instance, IterableOf, ListOf, Mapping, Sequence
from s2s.errors import error
from s2s.versions.assumptions import Refuted

__all__ = [
    "arrays_in", "as_numpy", "check_devices", "kind_of_arrays", "of_program", "on_devices", "other_kind",
]


def as_numpy(aval: AbstractValue) -> AbstractValue:
    """The value with NumPy's arrays in the place of others."""
    match aval:
        case Array(dtype, shape):
            return Array(dtype, shape)
        case Sequence(kind, items):
            return Sequence(kind, tuple(map(as_numpy, items)))
        case Mapping(keys, items):
            return Mapping(keys, tuple(map(as_numpy, items)))
        case Instance(kind, keys, items):
            return Instance(kind, keys, tuple(map(as_numpy, items)))
        case ListOf(item):
            return ListOf(as_numpy(item))
        case IterableOf(kind, item):
            return IterableOf(kind, as_numpy(item))
        case DictOf(known, item):
            return DictOf(known, as_numpy(item))
        case _:
            return aval


def arrays_in(avals: Iterable[tuple[str, AbstractValue]]) -> dict[type, str]:
    """The classes of the arrays among arguments, each with the first argument that is, or holds, one."""
    found: dict[type, str] = {}
    for argument, aval in avals:
        for kind in _kinds(aval):
            found.setdefault(kind, argument)
    return found


def kind_of_arrays(found: collections.abc.Mapping[type, str], name: str) -> type:
    """The class of all arrays of a function, NumPy's where there are none; ``found`` are those that there are, by what
    they are called. Raises ArgumentError where there are several."""
    if len(found) > 1:
        (first, one), (second, other) = [*found.items()][:2]
        problem = f"`{one}` is a {named(first)}, `{other}` a {named(second)}"
        raise error("S2S535", name=name, problem=problem, hint=_hint([*found]))
    return next(iter(found), np.ndarray)


def _hint(kinds: list[type]) -> str:
    other = next(kind for kind in kinds if kind is not np.ndarray)
    module = module_of_arrays(other)
    assert module is not None
    return f"pass all arrays as those of one module, `{module.__name__}.asarray(...)`"


def check_devices(
    parameters: tuple[str, ...], avals: Iterable[AbstractValue], values: Iterable[Any], name: str
) -> None:
    """Raise ArgumentError where arrays of a module are on different devices."""
    first: tuple[str, Any] | None = None
    for argument, aval, value in zip(parameters, avals, values, strict=True):
        for array in _others_in(aval, value):
            device = getattr(array, "device", None)
            if first is None:
                first = argument, device
            elif device != first[1]:
                problem = f"`{first[0]}` is on {first[1]}, `{argument}` on {device}"
                raise error("S2S535", name=name, problem=problem, hint="copy one of them to the device of the other")


def on_devices(places: list[str]) -> list[str]:
    """Conditions, in Python, that arrays at some places are on one device."""
    single = [place for place in places if not place.endswith("[:]")]
    of_lists = [place.removesuffix("[:]") for place in places if place.endswith("[:]")]
    found = [f"{single[0]}.device == {place}.device" for place in single[1:]]
    if single:
        return found + [f"all([item.device == {single[0]}.device for item in {place}])" for place in of_lists]
    return [f"len({{item.device for one in ({', '.join(of_lists)},) for item in one}}) < 2"] if of_lists else []


def _others_in(aval: AbstractValue, value: Any) -> Iterator[Any]:
    match aval:
        case Array(_, _, kind) if kind is not np.ndarray:
            yield value
        case Sequence(_, items):
            for item, part in zip(items, value, strict=True):
                yield from _others_in(item, part)
        case ListOf(item):
            for part in value:
                yield from _others_in(item, part)
        case Mapping(keys, items):
            for key, item in zip(keys, items, strict=True):
                yield from _others_in(item, value[key])
        case Instance(_, keys, items):
            for key, item in zip(keys, items, strict=True):
                yield from _others_in(item, getattr(value, key))
        case _:
            return


def of_program(aval: AbstractValue, name: str) -> AbstractValue:
    """What is known of a value that the program reads from outside, for the compiler. Raises where its arrays are of
    another class than those of the version; Refuted where there may be none of these."""
    kinds = set(_kinds(aval))
    if not kinds:
        return aval
    wanted = compiled_for()
    other = next((kind for kind in kinds if kind is not wanted), None)
    if other is None:
        return as_numpy(aval)
    if wanted is np.ndarray:
        raise Refuted(arrays={other: name})
    problem = f"`{name}` is a {named(other)}, the arguments are of the class {named(wanted)}"
    raise error("S2S535", name=name, problem=problem, hint=_hint([other, wanted]))


def other_kind(aval: AbstractValue) -> bool:
    """Whether a value is, or holds, an array that is none of NumPy's."""
    return any(kind is not np.ndarray for kind in _kinds(aval))


def _kinds(aval: AbstractValue) -> Iterator[type]:
    match aval:
        case Array(_, _, kind):
            yield kind
        case Sequence(_, items) | Mapping(_, items) | Instance(_, _, items):
            for item in items:
                yield from _kinds(item)
        case ListOf(item) | IterableOf(_, item) | DictOf(_, item):
            yield from _kinds(item)
        case _:
            return
