"""What a part gives, and how parts are added: always in the same tree, so that sums are the same to the last bit.

    partial(task, 3, X3, y3)     the derivative of part 3, times its rows for a mean
    combine(p0, p1, ...)         the sum of up to FAN_IN neighbours, from left to right
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.array_classes import is_array_class
from s2s.distributed.parts import as_array, laid_out, rows_of
from s2s.errors import error
from s2s.shipping.shipped import Shipped

__all__ = [
    "FAN_IN", "Partial", "Place", "Shape", "Task", "combine", "divided", "each", "head", "in_place", "item_at",
    "partial", "rows_from_start", "shape_of",
    "tree", "with_items",
]

FAN_IN = 8
"""So many neighbours are added by one task."""

Shape = tuple[tuple[tuple[int, ...], Any], ...]
"""The shape and dtype of each block of a part."""


MOST_NUMBERS = 100_000
"""So many numbers of a part are looked at by the process that began the call."""

MOST_LOOKED_AT = 10_000_000
"""In larger parts the rows with the largest numbers are not looked for."""

Place = tuple[int, ...]
"""Where an argument is among the values of all parameters: the place of its parameter, or that of ``*args`` and its
place there."""


@dataclass(frozen=True)
class Task:
    """What all parts have in common, sent once for each call: the versions, the values of all parameters, and which of
    these the blocks of a part take the place of."""

    kernels: tuple[Shipped, ...]
    values: tuple[Any, ...]
    names: tuple[str, ...]
    places: tuple[Place, ...]
    is_mean: bool

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, values=in_place(state["values"]))  # where arrays come to lie is chance


@dataclass(frozen=True)
class Partial:
    """The sum over some parts: of the number of rows and the derivative. ``lacking`` are shapes for which there was no
    version, in whose place nothing was computed."""

    rows: int
    value: Any
    lacking: frozenset[Shape] = frozenset()


def item_at(values: tuple[Any, ...], place: Place) -> Any:
    """The argument at a place. Raises ArgumentError where there is none."""
    for k in place:
        if k >= len(values):
            raise error("S2S703", name="over", kind="a position that the call has nothing at")
        values = values[k]
    return values


def with_items(values: tuple[Any, ...], places: tuple[Place, ...], items: Any) -> tuple[Any, ...]:
    """The values with others in places."""
    found = list(values)
    for (k, *inner), item in zip(places, items, strict=True):
        if inner:
            found[k] = (*found[k][: inner[0]], item, *found[k][inner[0] + 1 :])
        else:
            found[k] = item
    return tuple(found)


def in_place(values: Any) -> Any:
    """The values, with arrays as ``laid_out`` gives them; what is one object stays one."""
    known: dict[int, Any] = {}

    def change(value: Any) -> Any:
        if type(value) is np.ndarray:
            return known.setdefault(id(value), laid_out(value))
        if rt.has_parts(value) and hasattr(value, "__dict__"):
            held = vars(value).items()
            moved = {key: change(item) for key, item in held if type(item) is np.ndarray and change(item) is not item}
            if moved:
                value = known.setdefault(id(value), copy.copy(value))
                vars(value).update(moved)
        return value

    return _each_leaf(values, change)


# --- where the data is ----------------------------------------------------------------------------------------------


def head(count: int, *blocks: Any) -> tuple[Any, ...]:
    """A few rows of the blocks of a part, and the shape of each: from all over it, as rows side by side may be alike,
    the first and the last one among them, and those with the largest numbers."""
    arrays = [as_array(block) for block in blocks]
    places = _telling(count, arrays)
    few = [np.array(a[places]) if isinstance(a, np.ndarray) else a[: len(places)] for a in arrays]
    return tuple(few), shape_of(arrays)


def rows_from_start(count: int, *blocks: Any) -> tuple[Any, ...]:
    """The first rows of the blocks of a part: fewer where they are wide."""
    arrays = [as_array(block) for block in blocks]
    width = sum([a.size for a in arrays]) // max(len(arrays[0]), 1)
    count = min(count, MOST_NUMBERS // max(width, 1))
    return tuple([np.array(a[:count]) if isinstance(a, np.ndarray) else a[:count] for a in arrays])


def _telling(count: int, arrays: list[Any]) -> Any:
    """Places of rows, in order."""
    length = min(map(len, arrays))
    spread = np.unique(np.linspace(0, length - 1, count).astype(int)) if length else np.zeros(0, int)
    plain = [a for a in arrays if isinstance(a, np.ndarray) and a.dtype.kind in "fiuc" and a.size <= MOST_LOOKED_AT]
    if length <= count or not plain:
        return spread
    sizes = [np.abs(a[:length]).reshape(length, -1).max(axis=1, initial=0.0) for a in plain]
    largest = {int(np.argmax(np.nan_to_num(size, nan=-1.0, posinf=-1.0))) for size in sizes[: count // 2]}
    return np.union1d(np.linspace(0, length - 1, count - len(largest)).astype(int), list(largest))


def shape_of(arrays: Iterable[Any]) -> Shape:
    return tuple([(a.shape, a.dtype) if isinstance(a, np.ndarray) else (a.shape, type(a)) for a in arrays])


def partial(task: Task, place: int, *blocks: Any) -> Partial:
    """The derivative for one part; nothing for one without rows."""
    done, rows, shape = _run(task, place, blocks)
    if shape is not None:
        return Partial(0, None, frozenset((shape,)))
    if rows == 0:
        return Partial(0, None)
    return Partial(rows, _scaled(done, rows) if task.is_mean else done)


def each(task: Task, place: int, *blocks: Any) -> Partial:
    """What the function gives for one part."""
    done, rows, shape = _run(task, place, blocks)
    return Partial(rows, done, frozenset() if shape is None else frozenset((shape,)))


def _run(task: Task, place: int, blocks: tuple[Any, ...]) -> tuple[Any, int, Shape | None]:
    arrays = [as_array(block) for block in blocks]
    rows = rows_of(arrays, task.names, place)
    if rows == 0:
        return None, 0, None
    values = with_items(task.values, task.places, arrays)
    _check_devices(values, place)
    for kernel in task.kernels:
        if kernel.fits(values):
            try:
                return kernel.run(values), rows, None
            except Exception as problem:
                shown = ", ".join(f"`{name}` of shape {a.shape}" for name, a in zip(task.names, arrays))
                problem.add_note(f"in part {place} of the data: {shown}")
                raise
    _check_classes(values, task.names, place, arrays)
    return None, rows, shape_of(arrays)


def _check_classes(values: tuple[Any, ...], names: tuple[str, ...], place: int, arrays: list[Any]) -> None:
    kinds = {type(v) for v in _leaves(values) if is_array_class(type(v))} | {type(a) for a in arrays}
    if len(kinds) > 1:
        shown = " and ".join(sorted(f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in kinds))
        raise error("S2S705", place=place, what="modules", kinds=shown)


def _check_devices(values: tuple[Any, ...], place: int) -> None:
    """Raise where arrays of another module are on several devices: what mixes them may copy, or be wrong."""
    others = [v for v in _leaves(values) if not isinstance(v, np.ndarray) and is_array_class(type(v))]
    devices = dict.fromkeys(str(getattr(v, "device", None)) for v in others)
    if len(devices) > 1:
        raise error("S2S705", place=place, what="devices", kinds=" and ".join(devices))


def _leaves(value: Any) -> Iterator[Any]:
    """What is in containers."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, dict):
        yield from _leaves([*value.values()])
    else:
        yield value


# --- sums -----------------------------------------------------------------------------------------------------------


def combine(*partials: Partial) -> Partial:
    """The sum of neighbours, from left to right; those without rows are left out."""
    lacking = frozenset[Shape]().union(*(p.lacking for p in partials))
    rows = sum(p.rows for p in partials)
    full = [p.value for p in partials if p.rows]
    if lacking or not full:
        return Partial(0, None, lacking)
    total = full[0]
    for k, value in enumerate(full[1:]):
        total = _added(total, value, k > 0)
    return Partial(rows, total)


def _added(one: Any, other: Any, is_own: bool) -> Any:
    """The sum of two derivatives; ``is_own`` where the first is a sum already, which nobody else holds."""
    if one is None or other is None:
        return copy.deepcopy(other) if one is None else one
    if isinstance(one, dict):
        return {key: _added(item, other[key], is_own) for key, item in one.items()}
    if isinstance(one, (tuple, list)):
        made = [_added(a, b, is_own) for a, b in zip(one, other, strict=True)]
        return type(one)(*made) if hasattr(one, "_fields") else type(one)(made)
    if rt.has_parts(one):
        parts = {key: _added(getattr(one, key), getattr(other, key), is_own) for key in rt.attributes_of(one)}
        return rt.gradient_object(one, **parts)
    if isinstance(one, np.ndarray) and one.ndim:
        return np.add(one, other, out=one) if is_own else one + other
    return one + other


def _scaled(value: Any, factor: Any) -> Any:
    return _each_number(value, lambda x: x * factor)


def divided(value: Any, by: int) -> Any:
    """A derivative divided by a number."""
    return _each_number(value, lambda x: x / by)


def _each_number(value: Any, change: Callable[[Any], Any]) -> Any:
    """A derivative with other numbers."""
    def leaf(item: Any) -> Any:
        return rt.map_parts(lambda part: _each_leaf(part, leaf), item) if rt.has_parts(item) else change(item)

    return _each_leaf(value, leaf)


def _each_leaf(value: Any, change: Callable[[Any], Any]) -> Any:
    if value is None:
        return None
    if type(value) is dict:
        return {key: _each_leaf(item, change) for key, item in value.items()}
    if type(value) in (tuple, list) or hasattr(value, "_fields"):
        made = [_each_leaf(item, change) for item in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    return change(value)


def tree(parts: Iterable[Any], add: Callable[..., Any]) -> Any:
    """The root of the tree over parts that come one by one: neighbours are added as soon as there are FAN_IN of them,
    so that few are held at a time. What is added to what depends on the number of parts only."""
    levels: list[list[Any]] = [[]]

    def put(found: Any, level: int) -> None:
        if level == len(levels):
            levels.append([])
        levels[level].append(found)
        if len(levels[level]) == FAN_IN:
            full, levels[level] = levels[level], []
            put(add(*full), level + 1)

    for part in parts:
        put(part, 0)
    level = 0
    while level < len(levels) - 1:
        left, levels[level] = levels[level], []
        if left:
            put(add(*left) if len(left) > 1 else left[0], level + 1)
        level += 1
    last = levels[-1]
    return add(*last) if len(last) > 1 else last[0]
