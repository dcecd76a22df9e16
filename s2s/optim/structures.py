"""Structures of parameters: what is trained in them by place, and structures like them from what belongs to each place.

Parameters are the floats and arrays of floats in dicts, lists, tuples, named tuples and objects, as ``s2s.grad`` takes
them. A place is how a parameter is written, ``params['layers'][0].w``. All else (integers, strings, None) is constant.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from s2s import runtime as rt
from s2s.errors import error
from s2s.versions.signature import is_of_library, may_have_gradient, own_attributes

__all__ = ["beside", "in_words", "parameters", "plain", "replaced", "spread"]

ROOT = "params"
_COMPLEX = (complex, np.complexfloating)


class Part(NamedTuple):
    """An item of a container, or an attribute of an object: its key, how it is written, and what it is."""

    key: Any
    text: str
    value: Any


def _parts(value: Any) -> list[Part] | None:
    """The parts of a container or an object; None for anything else."""
    if isinstance(value, dict):
        return [Part(key, f"[{key!r}]", item) for key, item in value.items()]
    if isinstance(value, (tuple, list)):
        names = [f".{name}" for name in getattr(value, "_fields", ())] or [f"[{k}]" for k in range(len(value))]
        return [Part(k, name, item) for k, (name, item) in enumerate(zip(names, value, strict=True))]
    if may_have_gradient(value) and not is_of_library(type(value)):
        return [Part(name, f".{name}", item) for name, item in own_attributes(value).items()]
    return None


def _is_parameter(value: Any, place: str) -> bool:
    """Whether a value is trained. Raises ArgumentError for numbers that are, and cannot be."""
    if isinstance(value, _COMPLEX) or (isinstance(value, np.ndarray) and value.dtype.kind == "c"):
        raise error("S2S602", place=place, kind="complex", hint="train its real and its imaginary part")
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and type(value) is not np.ndarray:
            raise error("S2S602", place=place, kind=f"a {type(value).__name__}", hint="give a plain array")
        return value.dtype.kind == "f"
    return isinstance(value, (float, np.floating))


# --- out of a structure ---------------------------------------------------------------------------------------------


def parameters(params: Any) -> dict[str, Any]:
    """The parameters by place. Raises ArgumentError where there are none, or an object comes by two ways."""
    if not _check_apart(params, ROOT, {}):
        raise error("S2S603", got=in_words(params))
    return {place: leaf for place, leaf, _ in beside(params, params, "they")}


def _check_apart(value: Any, place: str, seen: dict[int, str]) -> bool:
    """Whether there are parameters in a value. An object that has some and comes by two ways is one in the function,
    and would be two after a step."""
    parts = _parts(value)
    if parts is None:
        return _is_parameter(value, place)
    if id(value) in seen:
        raise error("S2S604", place=place, other=seen[id(value)])
    seen[id(value)] = place
    found = [_check_apart(item, place + text, seen) for _, text, item in parts]
    has_some = any(found)
    if not (has_some and may_have_gradient(value)):
        del seen[id(value)]
    return has_some


def beside(
    params: Any, other: Any, what: str, whole: tuple[type, ...] = (type(None),)
) -> Iterator[tuple[str, Any, Any]]:
    """The place of each parameter, the parameter, and what ``other`` has there.

    ``other`` has the containers of ``params``, dicts in place of objects, and anything where there are no parameters.
    What is of a type in ``whole`` stands for all below it. Raises ArgumentError, with ``what`` as the name of
    ``other``, where they do not fit.
    """
    return _beside(params, other, what, whole, ROOT)


def _beside(
    params: Any, other: Any, what: str, whole: tuple[type, ...], place: str
) -> Iterator[tuple[str, Any, Any]]:
    parts = _parts(params)
    if parts is None:
        if _is_parameter(params, place):
            yield place, params, other
        return
    others = None if isinstance(other, whole) else _parts_like(parts, params, other, what, place)
    for key, text, item in parts:
        found = other if others is None else others.get(key)
        yield from _beside(item, found, what, whole, place + text)


def _parts_like(parts: list[Part], params: Any, other: Any, what: str, place: str) -> dict[Any, Any]:
    """The parts of ``other`` by key, which are those of ``params``."""
    found = {part.key: part.value for part in _parts(other) or ()}
    if _parts(other) is None or found.keys() != {part.key for part in parts}:
        raise error("S2S601", what=what, place=place, got=in_words(other), expected=in_words(params))
    return found


def spread(params: Any, mask: Any) -> dict[str, Any]:
    """For each place whether its parameter is frozen: a bool, or an array of them for its elements."""
    whole = (type(None), bool, np.bool_)
    return {place: _mask(leaf, found, place) for place, leaf, found in beside(params, mask, "frozen", whole)}


def _mask(leaf: Any, mask: Any, place: str) -> Any:
    if mask is None:
        return False
    found = np.asarray(mask)
    if found.dtype != bool:
        raise error("S2S601", what="frozen", place=place, got=in_words(mask), expected="a bool, or an array of bools")
    if found.ndim and found.shape != np.shape(leaf):
        raise error("S2S601", what="frozen", place=place, got=in_words(found), expected=in_words(leaf))
    if found.all():
        return bool(found.size)
    return found if found.any() else False


# --- into a structure -----------------------------------------------------------------------------------------------


def plain(params: Any, found: dict[str, Any]) -> Any:
    """What belongs to each place, in dicts, lists and tuples like those of the parameters: a dict for an object, a
    tuple for a named tuple, None for what is constant."""
    return _plain(params, found, ROOT)


def _plain(value: Any, found: dict[str, Any], place: str) -> Any:
    parts = _parts(value)
    if parts is None:
        return found.get(place)
    made = {key: _plain(item, found, place + text) for key, text, item in parts}
    if all(item is None for item in made.values()):
        return None
    if isinstance(value, (tuple, list)):
        return (list if isinstance(value, list) else tuple)(made.values())
    return made


def replaced(params: Any, found: dict[str, Any]) -> Any:
    """The structure with other parameters; constants and objects without parameters are those of ``params``."""
    return _replaced(params, found, ROOT)


def _replaced(value: Any, found: dict[str, Any], place: str) -> Any:
    if place in found:
        return found[place]
    if not any(other.startswith(place) for other in found):
        return value
    made = {key: _replaced(item, found, place + text) for key, text, item in _parts(value) or ()}
    if isinstance(value, (tuple, list)):
        items = list(made.values())
        return value._make(items) if hasattr(value, "_make") else type(value)(items)
    if isinstance(value, dict):
        other = copy.copy(value)
        other.update(made)
        return other
    return rt.gradient_object(value, **{**getattr(value, "__dict__", {}), **made})


def in_words(value: Any) -> str:
    """A value in words, for messages."""
    if isinstance(value, (bool, int)):
        return repr(value)
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    if isinstance(value, dict):
        return f"a dict with the keys {', '.join(map(repr, value))}" if value else "an empty dict"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return "None" if value is None else f"a {type(value).__name__}"
