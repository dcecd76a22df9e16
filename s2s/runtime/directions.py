"""Many tangents, or cotangents, at once: their last dimension has one entry for each direction.

What generated code calls where it has a tangent with directions (``batch.vector``).
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core import public


def lift(x: Any, count: int) -> Any:
    """A value of its own for each direction, the same in all; in containers for each item."""
    if isinstance(x, dict):
        return {key: lift(item, count) for key, item in x.items()}
    if isinstance(x, (tuple, list)):
        return rt.rebuild(x, [lift(item, count) for item in x])
    if x is None:
        return None
    return np.repeat(np.asarray(x)[..., None], count, axis=-1)


def beside(x: Any) -> Any:
    """A number or an array, so that it is broadcast along the directions."""
    return np.asarray(x)[..., None]


def unbroadcast(g: Any, x: Any) -> Any:
    """As ``runtime.unbroadcast``, with directions in the last dimension of ``g``; the cotangent of None is None."""
    if g is None:
        return None
    shape = (*np.shape(x), np.shape(g)[-1])
    summed = g if np.shape(g) == shape else rt.sum_to(g, shape)
    kind = np.result_type(x)
    return np.asarray(summed if kind.kind == "c" else np.real(summed), kind if kind.kind in "fc" else None)


def ravel(x: Any) -> Any:
    """As ``np.ravel``, a view of the same arrays: of those that are contiguous."""
    return np.reshape(np.ascontiguousarray(x), (-1, np.shape(x)[-1]))


def copy_in_memory(x: Any, like: Any) -> Any:
    """As ``runtime.copy_in_memory``, with the directions of each element side by side."""
    like = np.asarray(like)
    if 0 in like.strides or not np.size(x):
        return np.copy(x)
    total = np.shape(x)[-1]
    strides = [s * total for s in like.strides]
    ends = [(n - 1) * s for n, s in zip(like.shape, strides, strict=True)]
    memory = np.empty(sum(map(abs, ends)) + total * like.itemsize, np.uint8)
    first = -sum(min(0, end) for end in ends)
    made: np.ndarray[Any, Any] = np.ndarray(np.shape(x), like.dtype, memory, first, (*strides, like.itemsize))
    made[...] = x
    return made


def index(key: Any) -> Any:
    """An index that leaves the directions alone."""
    parts = key if isinstance(key, tuple) else (key,)
    return (*parts, slice(None)) if any(part is Ellipsis for part in parts) else key


def one(x: Any, k: int) -> Any:
    """What a tangent, or a container of tangents, is for one direction; zero for one that there is not."""
    if isinstance(x, dict):
        return {key: one(item, k) for key, item in x.items()}
    if isinstance(x, (tuple, list)):
        return rt.rebuild(x, [one(item, k) for item in x])
    if x is None:
        return None
    return x[..., k] if k < x.shape[-1] else np.zeros(x.shape[:-1], x.dtype)


def joined(parts: Sequence[Any], total: int) -> Any:
    """The tangents for all directions, from those for each; where there are none, from zeros in the place of one."""
    first = parts[0]
    if isinstance(first, dict):
        return {key: joined([part[key] for part in parts], total) for key in first}
    if isinstance(first, (tuple, list)):
        return rt.rebuild(first, [joined([part[k] for part in parts], total) for k in range(len(first))])
    return None if first is None else np.stack(parts, axis=-1)[..., :total]


def each(fn: Any, places: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
    """A function, called once for each direction: the arguments at ``places``, positions and names, have directions,
    and so has the result."""
    total = count([args[p] if isinstance(p, int) else kwargs[p] for p in places])
    return joined(
        [
            fn(
                *(one(a, d) if k in places else a for k, a in enumerate(args)),
                **{k: one(a, d) if k in places else a for k, a in kwargs.items()},
            )
            for d in range(max(total, 1))
        ],
        total,
    )


def push(
    fn: Any, name: str | None, values: tuple[Any, ...], dots: tuple[Any, ...], keys: tuple[str, ...], count: int
) -> Any:
    """As ``runtime.push``, with tangents for many directions."""
    return public.compiler().jvp_of_call(fn, name, values, dots, keys, count)


def each_direction(push: Any, *dots: Any) -> Any:
    """``push(*dots)``, a result and its tangent, called once for each direction: the result of the last call, and the
    tangents for all directions."""
    total = count(dots)
    found = [push(*(one(dot, d) for dot in dots)) for d in range(max(total, 1))]
    return found[-1][0], joined([dot for _, dot, *_ in found], total), *found[-1][2:]


def each_cotangent(pullback: Any, out_bar: Any) -> Any:
    """The cotangents that a pullback gives for each direction of ``out_bar``, side by side."""
    total = count(out_bar)
    return joined([pullback(one(out_bar, d)) for d in range(max(total, 1))], total)


def each_direction_of_objects(push: Any, *dots: Any) -> Any:
    """As ``each_direction``, with objects in the tangents or the result."""
    found = [push(*(_one_of_objects(dot, d) for dot in dots)) for d in range(count(dots))]
    return found[-1][0], _joined_objects([dot for _, dot, *_ in found]), *found[-1][2:]


def once_for_all(push: Callable[..., Any], *dots: Any) -> Callable[..., Any]:
    """``push``, for a call for each direction: what it does outside is done once, and each call sees what the first one
    has seen."""
    left = itertools.count(count(dots) - 1, -1)

    def pushed(*dots: Any) -> Any:
        with rt.unnoticed() if next(left) > 0 else contextlib.nullcontext():
            return push(*dots)

    return pushed


def each_cotangent_of_objects(pullback: Any, out_bar: Any) -> Any:
    """As ``each_cotangent``, with objects in the cotangents."""
    return _joined_objects([pullback(_one_of_objects(out_bar, d)) for d in range(count(out_bar))])


def _one_of_objects(x: Any, k: int) -> Any:
    return rt.map_floats(lambda part: part[..., k], x, lambda part: None)


def _joined_objects(parts: Sequence[Any]) -> Any:
    leaves = iter(list(zip(*map(rt.floats, parts))))
    return rt.map_floats(lambda part: np.stack(next(leaves), axis=-1), parts[0])


def basis(*values: Any, holomorphic: bool = False) -> tuple[Any, ...]:
    """A tangent for each value, with a direction for each element of all of them: 1 there, 0 elsewhere.

    Raises ArgumentError for complex numbers, unless ``holomorphic``.
    """
    leaves = [leaf for value in values for leaf in rt.floats(value)]
    if not holomorphic and any(np.iscomplexobj(leaf) for leaf in leaves):
        from s2s.errors import error

        raise error("S2S516", what="what is differentiated", mode="forward")
    stops = np.cumsum([0, *map(np.size, leaves)])
    places = iter(zip(stops, leaves, strict=False))

    def unit(leaf: Any) -> Any:
        start, _ = next(places)
        made = np.zeros((np.size(leaf), int(stops[-1])), np.result_type(leaf))
        np.fill_diagonal(made[:, start:], 1.0)
        return made.reshape((*np.shape(leaf), int(stops[-1])))

    def still(leaf: Any) -> Any:
        return np.zeros((*np.shape(leaf), int(stops[-1]))) if isinstance(leaf, (int, np.integer, np.ndarray)) else None

    return tuple(rt.map_floats(unit, value, still) for value in values)


def columns(dot: Any, values: tuple[Any, ...], single: bool) -> Any:
    """The Jacobian of a result from its tangents for a ``basis`` of some values."""
    if isinstance(dot, dict):
        return {key: columns(item, values, single) for key, item in dot.items()}
    if isinstance(dot, (tuple, list)):
        return rt.rebuild(dot, [columns(item, values, single) for item in dot])
    if not isinstance(dot, np.ndarray):
        return None
    leaves = rt.floats(values)
    stops = np.cumsum([0, *map(np.size, leaves)])
    blocks = iter(
        [
            dot[..., stops[k] : stops[k + 1]].reshape((*dot.shape[:-1], *np.shape(leaf)))[()]
            for k, leaf in enumerate(leaves)
        ]
    )
    made = tuple([rt.map_floats(lambda leaf: next(blocks), value) for value in values])
    return made[0] if single else made


def rows(bars: tuple[Any, ...], out: Any, single: bool) -> Any:
    """The Jacobian of ``out`` from the cotangents of some values for a ``basis`` of ``out``."""
    leaves = rt.floats(out)
    stops = np.cumsum([0, *map(np.size, leaves)])
    parts = iter([_of_rows(bars, stops[k], stops[k + 1], leaf, single) for k, leaf in enumerate(leaves)])
    return rt.map_floats(lambda leaf: next(parts), out)


def _of_rows(bars: tuple[Any, ...], start: int, stop: int, leaf: Any, single: bool) -> Any:
    """The part of a Jacobian for one part of the result."""

    def part(bar: Any) -> Any:
        turned = np.moveaxis(bar[..., start:stop], -1, 0)
        return turned.reshape((*np.shape(leaf), *np.shape(bar)[:-1]))[()]

    made = tuple([rt.map_floats(part, bar) for bar in bars])
    return made[0] if single else made


def columns_bar(g: Any, dot: Any, values: tuple[Any, ...], single: bool) -> Any:
    """The cotangent of ``dot`` from that of ``columns``."""
    if isinstance(dot, dict):
        return {key: columns_bar(_part(g, key), item, values, single) for key, item in dot.items()}
    if isinstance(dot, (tuple, list)):
        return rt.rebuild(dot, [columns_bar(_part(g, k), item, values, single) for k, item in enumerate(dot)])
    if not isinstance(dot, np.ndarray):
        return None
    made, start = np.zeros_like(dot), 0
    for leaf, block in _beside(values, (g,) if single else g):
        stop = start + np.size(leaf)
        if block is not None:
            made[..., start:stop] = _like_in_kind(np.reshape(block, (*dot.shape[:-1], np.size(leaf))), dot)
        start = stop
    return made


def rows_bar(g: Any, bars: tuple[Any, ...], out: Any, single: bool) -> tuple[Any, ...]:
    """The cotangents of ``bars`` from that of ``rows``."""
    made = [np.zeros_like(bar) for bar in rt.floats(bars)]
    start = 0
    for leaf, part in _beside(out, g):
        stop = start + np.size(leaf)
        for whole, (bar, block) in zip(made, _beside(bars, (part,) if single else part), strict=True):
            if block is not None:
                turned = np.reshape(block, (np.size(leaf), *np.shape(bar)[:-1]))
                whole[..., start:stop] = _like_in_kind(np.moveaxis(turned, 0, -1), bar)
        start = stop
    rest = iter(made)
    return tuple([rt.map_floats(lambda bar: next(rest), bar) for bar in bars])


def _beside(value: Any, other: Any) -> list[tuple[Any, Any]]:
    """The floats of a value, in the order of ``runtime.floats``, each with what ``other`` has in its place, None where
    that is nothing."""
    if isinstance(value, dict):
        return [pair for key, item in value.items() for pair in _beside(item, _part(other, key))]
    if isinstance(value, (tuple, list)):
        return [pair for k, item in enumerate(value) for pair in _beside(item, _part(other, k))]
    if rt.has_parts(value):
        names = rt.attributes_of(value)
        return [pair for name in names for pair in _beside(getattr(value, name), getattr(other, name, None))]
    return [(leaf, other) for leaf in rt.floats(value)]


def _part(g: Any, key: Any) -> Any:
    return None if g is None else g[key]


def _like_in_kind(block: Any, like: Any) -> Any:
    """Numbers for an array, whose real part is meant where that is real."""
    return block if np.iscomplexobj(like) else np.real(block)


def count(x: Any) -> int:
    """The number of directions of a tangent, or of a container of tangents; one of a container that holds none, so that
    what is computed for each direction is computed."""
    leaves = rt.floats(x)
    return int(np.shape(leaves[0])[-1]) if leaves else 1


def tangents_like(dot: Any, x: Any, count: int) -> Any:
    """Tangents for many directions in the shape and dtype of ``x``, of whatever structure that is."""
    if isinstance(x, (tuple, list)) and isinstance(dot, (tuple, list)):
        return rt.rebuild(dot, [tangents_like(part_dot, part, count) for part_dot, part in zip(dot, x)])
    if not isinstance(x, (np.ndarray, np.generic, float, complex)):
        return dot
    kind = np.result_type(x) if isinstance(x, (np.ndarray, np.inexact, float, complex)) else np.result_type(dot)
    dot = dot if kind.kind == "c" else np.real(dot)
    return np.broadcast_to(np.asarray(dot, kind), (*np.shape(x), count))
