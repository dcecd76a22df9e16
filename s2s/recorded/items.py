"""Items and attributes as watched code reads and sets them; those of arrays that carry derivatives are noted."""

from __future__ import annotations

import operator
import types
from array import array as TypedArray
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2s.errors import error
from s2s.recorded import stale, typed
from s2s.recorded.chosen import check_store
from s2s.recorded.kinds import (
    CONTAINERS,
    REAL,
    is_opaque,
    is_plain,
    plain_array,
)
from s2s.recorded.memory import owner_of
from s2s.recorded.recorder import NAMES_OF_MEMORY, is_a, is_number, kind_of
from s2s.recorded.records import fields, item_of, items_of_name, picked, store_in_name, store_rows
from s2s.recorded.state import (
    ACTIVE,
    before_change,
    depends,
    handed_on,
    has_new,
    is_kept,
    kept,
)
from s2s.recorded.tools import INSTALLER, call, call_method


def get_item(container: Any, index: Any) -> Any:
    """``container[index]``."""
    if not ACTIVE:
        return container[index]
    if type(container) is np.ndarray and container.dtype.kind == "f":
        out = container[index]
        if type(out) is not np.ndarray or owner_of(out) is not owner_of(container):
            for recorder in ACTIVE:
                recorder.read(container, index, out)
        return out
    if is_a(container, np.ndarray):
        INSTALLER.see(container)
        out = container[index]
        return noted_item(container, index, out) if is_plain(container, "__getitem__") else out
    if is_a(container, np.inexact) and depends(container):
        return get_item(call(np.asarray, container), index)
    if type(container) not in CONTAINERS:
        if is_a(container, np.flatiter):
            return get_item(call_method(container.base, "reshape", -1), index)
        if type(container) in NAMES_OF_MEMORY and depends(container):
            return item_of(container, index)
        if is_a(container, TypedArray) and depends(container):
            return typed.item_of(container, index)
        INSTALLER.see(container)
    if is_a(container, dict) and stale.is_remembered(container, index, depends):
        raise KeyError(index)
    out = container[index]
    return handed_on(operator.getitem, (container,), {}, out) if is_opaque(container) and depends(container) else out


def noted_item(container: Any, index: Any, out: Any) -> Any:
    """An item of an array, which is a step where it is no view."""
    if kind_of(container) == "V" and is_a(out, np.ndarray) and owner_of(out) is not owner_of(container):
        return picked(container, index, out) if depends(container) else out
    if kind_of(container) in "fcV" and (
        is_number(out) or (is_a(out, np.ndarray) and owner_of(out) is not owner_of(container))
    ):
        for recorder in ACTIVE:
            recorder.read(plain_array(container), index, out)
    return out


def set_item(value: Any, container: Any, index: Any) -> None:
    """``container[index] = value``."""
    if ACTIVE and type(container) is np.ndarray and type(value) in (float, np.float64) and container.dtype.kind == "f":
        before_change(container)
        container[index] = value
        for recorder in ACTIVE:
            recorder.store(container, index, value)
        return
    if ACTIVE and is_a(container, np.ndarray):
        if not is_plain(container, "__setitem__"):
            INSTALLER.see(container)
            container[index] = value
            return
        if kind_of(container) == "O":
            kept(value)
            is_one = _is_one_item(container, index)
            value = as_objects(value) if is_a(value, np.ndarray) and not is_one and depends(value) else value
        elif kind_of(container) == "V" and depends(value):
            store_rows(value, container, index)
            return
        elif is_a(value, (list, tuple)) and depends(value):
            value = call(np.array, value)
        check_store(container, value)
        before_change(container)
        container[index] = value
        for recorder in ACTIVE:
            recorder.store(container, index, value)
        return
    if ACTIVE and is_a(container, np.flatiter):
        flat = container.base.reshape(-1)
        if owner_of(flat) is not owner_of(container.base):
            raise error("S2S101", construct="a store through `flat` of an array that is not contiguous")
        set_item(value, flat, index)
        return
    if ACTIVE and is_a(container, list) and is_a(index, slice):
        value = list(iterate(value))
    if ACTIVE and type(container) not in CONTAINERS:
        if type(container) in NAMES_OF_MEMORY and (depends(container) or depends(value)):
            store_in_name(value, container, index)
            return
        if is_a(container, TypedArray) and (depends(container) or depends(value)):
            typed.store(value, container, index)
            return
        INSTALLER.see(container)
    if ACTIVE:
        kept(value, index)
        if is_a(container, dict) and stale.is_remembered(container, index, depends):
            del container[index]  # else the key of an earlier call would stay
    container[index] = value


def _is_one_item(array: np.ndarray[Any, Any], index: Any) -> bool:
    """Whether an index is the place of one item."""
    places = index if is_a(index, tuple) else (index,)
    return len(places) == array.ndim and all(is_a(k, (int, np.integer)) for k in places)


def get_attribute(value: Any, name: str) -> Any:
    """``value.name``."""
    if ACTIVE:
        if is_number(value) and name in ("real", "imag"):
            return call(getattr(np, name), value) if depends(value) else getattr(value, name)
        if name == "T" and is_a(value, np.generic):
            return value
        if name == "ctypes" and is_a(value, np.ndarray) and depends(value):
            raise error("S2S101", construct="a pointer to an array")
        kind = type(value)
        if kind not in REAL and kind is not np.ndarray and kind is not types.ModuleType:
            if is_a(value, np.void) and name in fields(value) and depends(value):
                return item_of(value, name)
            INSTALLER.see(value)
            found = getattr(value, name)
            if is_opaque(value) and depends(value) and not is_kept(value, found):
                raise error("S2S208", name=name)
            if type(found) is types.FunctionType or type(found) is types.MethodType:
                INSTALLER.see(found)
            return found
    return getattr(value, name)


def set_attribute(value: Any, target: Any, name: str) -> None:
    """``target.name = value``."""
    if ACTIVE:
        if is_a(target, np.ndarray) and name in ("real", "imag", "flat"):
            part = call_method(target, "reshape", -1) if name == "flat" else getattr(target, name)
            set_item(value, part, ...)
            return
        if is_a(target, np.void) and name in fields(target):
            set_item(value, target, name)
            return
        INSTALLER.see(target)
        kept(value)
    setattr(target, name, value)


def iterate(value: Any) -> Any:
    """What a loop over ``value`` runs over: the items of an array are read one by one."""
    if ACTIVE:
        if is_a(value, np.flatiter):
            value = call_method(value.base, "reshape", -1)
        if is_a(value, np.ndarray) and value.ndim == 1 and is_plain(value, "__iter__") and depends(value):
            return items_of(value)
        if type(value) not in CONTAINERS:
            INSTALLER.see(value)
            if type(value) in NAMES_OF_MEMORY and depends(value):
                return items_of_name(value)
            if is_a(value, TypedArray) and depends(value):
                return typed.items_of_typed(value)
            if is_a(value, np.broadcast) and depends(*(part.base for part in value.iters)):
                return items_of_broadcast(value)
        if is_opaque(value) and depends(value):
            return checked_items(value)
    return value


def checked_items(value: Any) -> Iterator[Any]:
    """The items of a value, which must be known where the value may have made them of what is differentiated."""
    is_hidden = is_opaque(value) and depends(value)
    for item in value:
        if is_hidden and has_new((), {}, item):
            raise error("S2S201", name=type(value).__name__)
        yield item


def items_of(array: np.ndarray[Any, Any]) -> Iterator[Any]:
    array = np.ndarray.view(array, np.ndarray)
    for k in range(len(array)):
        yield get_item(array, k)


def items_of_broadcast(value: np.broadcast) -> Iterator[Any]:
    """The tuples that ``np.broadcast(...)`` has left."""
    arrays = [call(np.broadcast_to, part.base, value.shape) for part in value.iters]
    while value.index < value.size:
        index = np.unravel_index(value.index, value.shape)
        next(value)
        yield tuple(get_item(array, index) for array in arrays)


class Backwards:
    """What ``reversed`` reads of an array: its items, when they are asked for."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = np.ndarray.view(array, np.ndarray)

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, k: int) -> Any:
        return get_item(self.array, k)


def iterate_parts(value: Any, pattern: Any) -> Any:
    """What a comprehension with several targets runs over; ``pattern`` says which parts of an item are taken apart."""
    return value if not ACTIVE else (_taken_apart(item, pattern) for item in value)


def _taken_apart(value: Any, pattern: Any) -> Any:
    if pattern is None:
        return value
    items = tuple(iterate(value))
    if len(items) == len(pattern):
        return tuple(map(_taken_apart, items, pattern))
    return items  # with a starred target; a wrong number raises where it is assigned


def see(value: Any) -> Any:
    """A value, of which the code that it runs is watched from here on."""
    if ACTIVE:
        INSTALLER.see(value)
    return value


def as_objects(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array of the numbers of another, each an object."""
    made = np.empty(array.shape, object)
    for index in np.ndindex(array.shape):
        made[index] = get_item(array, index)
    return made
