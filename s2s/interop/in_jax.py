"""A function of NumPy arrays as a function of JAX, with callbacks to the host."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from s2s.interop.shared import name_of, number, paths_of, pullback_of

__all__ = ["wrapped"]


def wrapped(f: Callable[..., Any], result: Callable[..., Any] | None) -> Callable[..., Any]:
    """The function of JAX; ``result`` gives something like the result for something like the arguments."""
    known: dict[Any, Any] = {}

    @functools.wraps(f, updated=())
    def of_jax(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            bound = None if result is None else functools.partial(result, **kwargs)
            return wrapped(functools.partial(f, **kwargs), bound)(*args)
        leaves, structure = jax.tree.flatten(args)
        places = tuple(k for k, leaf in enumerate(leaves) if _is_array(leaf))
        arrays = tuple(jax.numpy.asarray(leaves[k]) for k in places)

        def host(*given: Any) -> Any:
            whole = list(leaves)
            for k, one in zip(places, given):
                whole[k] = number(np.asarray(one))
            return f(*jax.tree.unflatten(structure, whole))

        def like(*given: Any) -> Any:
            whole = list(leaves)
            for k, one in zip(places, given):
                whole[k] = one
            return (result or f)(*jax.tree.unflatten(structure, whole))

        shapes = _shapes(like, arrays, known, (structure, _static(leaves, places)), result is None)
        call = jax.custom_vjp(functools.partial(_callback, host, shapes, tuple(a.ndim for a in arrays)))
        call.defvjp(
            lambda *given: (call(*given), given),
            functools.partial(_pulled, f, paths_of(shapes), leaves, structure, places),
        )
        return call(*arrays)

    of_jax.__name__ = name_of(f)
    return of_jax


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, (jax.Array, np.ndarray, np.generic, float, complex))


def _static(leaves: list[Any], places: tuple[int, ...]) -> Any:
    """What is known while JAX traces, as a key."""
    return tuple(repr(leaf) for k, leaf in enumerate(leaves) if k not in places)


def _shapes(
    like: Callable[..., Any], arrays: tuple[Any, ...], known: dict[Any, Any], key: Any, is_function: bool
) -> Any:
    """The structure, shapes and dtypes of the result, found once for those of the arguments; ``is_function`` where
    ``like`` is the function itself, which sees what ``number`` makes of them."""
    key = (key, tuple((a.shape, a.dtype) for a in arrays))
    if key not in known:
        ones = [np.ones(a.shape, a.dtype) for a in arrays]
        found = like(*[number(one) if is_function else one if one.ndim else one[()] for one in ones])
        small = _small([a.dtype for a in arrays]) if is_function else None

        def shape(x: Any) -> Any:
            dtype = np.asarray(x).dtype
            dtype = small if small is not None and dtype == np.float32 else jax.dtypes.canonicalize_dtype(dtype)
            return jax.ShapeDtypeStruct(np.shape(x), dtype)

        known[key] = jax.tree.map(shape, found)
    return known[key]


def _small(dtypes: list[Any]) -> Any:
    """The dtype of floats that NumPy does not have, where all floats among some dtypes are of such; else None."""
    floats = [dtype for dtype in dtypes if jax.numpy.issubdtype(dtype, np.inexact)]
    common = jax.numpy.result_type(*floats) if floats else np.dtype(float)
    return common if common.kind == "V" else None


def _callback(host: Callable[..., Any], shapes: Any, ranks: tuple[int, ...], *arrays: Any) -> Any:
    def on_host(*given: Any) -> Any:
        given = tuple(np.asarray(one) for one in given)
        extra = [one.shape[: one.ndim - rank] for one, rank in zip(given, ranks)]
        batch = np.broadcast_shapes(*extra)
        if not batch:
            return _fitted(host(*given), shapes)
        whole = [np.broadcast_to(one, (*batch, *one.shape[len(e) :])) for one, e in zip(given, extra)]
        made = [_fitted(host(*[one[k] for one in whole]), shapes) for k in np.ndindex(*batch)]
        return jax.tree.map(lambda *leaves: np.stack(leaves).reshape(*batch, *leaves[0].shape), *made)

    return jax.pure_callback(on_host, shapes, *arrays, vmap_method="expand_dims")


def _fitted(found: Any, shapes: Any) -> Any:
    return jax.tree.map(lambda s, x: np.asarray(x, s.dtype), shapes, found)


def _pulled(
    f: Callable[..., Any], paths: Any, leaves: list[Any], structure: Any, places: tuple[int, ...],
    arrays: tuple[Any, ...], out_bar: Any,
) -> tuple[Any, ...]:
    """The cotangents of the arrays, by a function of JAX that has a VJP itself."""
    whole = list(leaves)
    for k, one in zip(places, arrays):
        whole[k] = one
    args = jax.tree.unflatten(structure, whole)
    moved = tuple(k for k, arg in enumerate(args) if any(_is_float(leaf) for leaf in jax.tree.leaves(arg)))
    if not moved:
        return tuple(None for _ in arrays)
    pull = wrapped(pullback_of(f, moved, paths), functools.partial(_like_arguments, moved))
    bars = dict(zip(moved, pull(out_bar, *args)))
    flat = jax.tree.leaves(
        tuple(_in_full(arg, bars.get(k)) for k, arg in enumerate(args)), is_leaf=lambda x: x is _NONE)
    return tuple(None if flat[k] is _NONE else flat[k] for k in places)


_NONE = object()


def _in_full(arg: Any, bar: Any) -> Any:
    """A cotangent with the leaves of its argument, where there are none those that stand for none."""
    if bar is None:
        return jax.tree.map(lambda _: _NONE, arg)
    if isinstance(arg, dict):
        return {key: _in_full(item, bar[key]) for key, item in arg.items()}
    if isinstance(arg, (tuple, list)):
        made = [_in_full(a, b) for a, b in zip(arg, bar)]
        return type(arg)(*made) if hasattr(arg, "_fields") else type(arg)(made)
    return bar


def _is_float(leaf: Any) -> bool:
    return _is_array(leaf) and bool(jax.numpy.issubdtype(jax.numpy.result_type(leaf), np.inexact))


def _like_arguments(moved: tuple[int, ...], out_bar: Any, *args: Any) -> Any:
    """What has the structure and shapes of cotangents: the arguments, without what has no derivative."""
    return tuple(jax.tree.map(lambda x: x if _is_float(x) else None, args[k]) for k in moved)
