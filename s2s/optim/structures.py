"""Structures of parameters: what is trained in them by place, and structures like them from what belongs to each place.

Parameters are the floats and arrays of floats in dicts, lists, tuples, named tuples and objects, as ``s2s.grad`` takes
them. A place is how a parameter is written, ``params['layers'][0].w``. All else is constant: integers, strings, None,
functions, and fields of dataclasses that are marked ``field(metadata={"static": True})``.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from s2s import runtime as rt
from s2s.core.array_classes import is_array_class, module_of_arrays
from s2s.core.inspection import with_article
from s2s.errors import error
from s2s.versions.signature import is_of_library, may_have_gradient, own_attributes

__all__ = ["Part", "as_array", "beside", "in_words", "parameters", "parts_of", "plain", "replaced", "spread"]

ROOT = "params"
_COMPLEX = (complex, np.complexfloating)


class Part(NamedTuple):
    """An item of a container, or an attribute of an object: its key, how it is written, and what it is."""

    key: Any
    text: str
    value: Any


def parts_of(value: Any) -> list[Part] | None:
    """The parts of a container or an object; None for anything else."""
    if isinstance(value, dict):
        return [Part(key, f"[{key!r}]", item) for key, item in value.items()]
    if isinstance(value, (tuple, list)):
        names = [f".{name}" for name in getattr(value, "_fields", ())] or [f"[{k}]" for k in range(len(value))]
        return [Part(k, name, item) for k, (name, item) in enumerate(zip(names, value, strict=True))]
    if may_have_gradient(value) and not is_of_library(type(value)):
        static = _static(value)
        return [Part(name, f".{name}", item) for name, item in own_attributes(value).items() if name not in static]
    return None


def _static(value: Any) -> set[str]:
    """The fields of a dataclass that are marked as options."""
    found = getattr(type(value), "__dataclass_fields__", {})
    return {name for name, field in found.items() if field.metadata.get("static")}


def _is_parameter(value: Any, place: str) -> bool:
    """Whether a value is trained. Raises ArgumentError for numbers that are, and cannot be."""
    is_array = is_array_class(type(value))
    if isinstance(value, _COMPLEX) or ((is_array or isinstance(value, np.ndarray)) and value.dtype.kind == "c"):
        raise error("S2S602", place=place, kind="complex", hint="train its real and its imaginary part")
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and type(value) is not np.ndarray:
            raise error("S2S602", place=place, kind=with_article(type(value).__name__), hint="give a plain array")
    if is_array or isinstance(value, np.ndarray):
        return bool(value.dtype.kind == "f")
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
    parts = parts_of(value)
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
    parts = parts_of(params)
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
    found = {part.key: part.value for part in parts_of(other) or ()}
    for name in _static(params):  # a dict in place of an object may have its options
        found.pop(name, None)
    if parts_of(other) is None or found.keys() != {part.key for part in parts}:
        raise error("S2S601", what=what, place=place, got=in_words(other), expected=in_words(params))
    return found


def spread(params: Any, mask: Any) -> dict[str, Any]:
    """For each place whether its parameter is frozen: a bool, or an array of them for its elements. The mask may also
    be a name or a path of what is frozen, or a collection of these. Raises ArgumentError where it does not fit."""
    names = _names(mask)
    if names is not None:
        return _by_names(params, names)
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


# --- by name --------------------------------------------------------------------------------------------------------

_STEP = re.compile(r"""\['([^']*)'\] | \["([^"]*)"\] | \[(-?\d+)\] | (?:^|\.)([^.\[\]'"]+)""", re.VERBOSE)


def _names(mask: Any) -> list[str] | None:
    """The names in a mask that is made of names; None for any other."""
    if isinstance(mask, str):
        return [mask]
    is_set = isinstance(mask, (set, frozenset))
    if not (is_set or (isinstance(mask, (list, tuple)) and mask)):
        return None
    return list(mask) if all(isinstance(name, str) for name in mask) else None


def _by_names(params: Any, names: Iterable[str]) -> dict[str, bool]:
    """For each place whether it is frozen: one of ``names`` is that of a key, field or attribute on the way to it, or a
    path from the top to it or to what it is part of (``layers[0].w``, ``layers.0.w``, ``params['layers'][0].w``).

    Raises ArgumentError for a name that no parameter has."""
    ways = dict(_ways(params, ROOT, ()))
    frozen = dict.fromkeys(ways, False)
    for name in names:
        printed = (f"{name}.", f"{name}[") if name != ROOT else ()
        matching = [place for place in ways if f"{place}.".startswith(printed)]
        matching = matching or [place for place, way in ways.items() if _is_on(name, way)]
        if not matching:
            raise error("S2S608", name=name, hint=f"name one of these or a part of it: {_some(list(ways))}")
        frozen.update(dict.fromkeys(matching, True))
    return frozen


def _some(places: list[str]) -> str:
    shown = ", ".join(f"`{place}`" for place in places[:5])
    return f"{shown} and {len(places) - 5} more" if len(places) > 5 else shown


def _ways(value: Any, place: str, way: tuple[Part, ...]) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """The place of each parameter, with the parts that lead there."""
    parts = parts_of(value)
    if parts is None:
        if _is_parameter(value, place):
            yield place, way
        return
    for part in parts:
        yield from _ways(part.value, place + part.text, (*way, part))


def _is_on(name: str, way: tuple[Part, ...]) -> bool:
    """Whether a name or path is that of a parameter, or of what it is part of."""
    steps = [next(group for group in match.groups() if group is not None) for match in _STEP.finditer(name)]
    from_top = name.startswith((ROOT + "[", ROOT + "."))
    if not steps or "".join(match.group() for match in _STEP.finditer(name)) != name:
        return False
    if len(steps) == 1 and not from_top and any(_is_called(part, name) for part in way):
        return True
    for path in [steps[1:]] * from_top + [steps]:
        if len(path) <= len(way) and all(_is_called(part, step) for part, step in zip(way, path)):
            return True
    return False


def _is_called(part: Part, step: str) -> bool:
    return step in (str(part.key), part.text.removeprefix("."))


# --- into a structure -----------------------------------------------------------------------------------------------


def plain(params: Any, found: dict[str, Any]) -> Any:
    """What belongs to each place, in dicts, lists and tuples like those of the parameters: a dict for an object, a
    tuple for a named tuple, None for what is constant."""
    return _plain(params, found, ROOT)


def _plain(value: Any, found: dict[str, Any], place: str) -> Any:
    parts = parts_of(value)
    if parts is None:
        return found.get(place)
    made = {key: _plain(item, found, place + text) for key, text, item in parts}
    if all(item is None for item in made.values()):
        return None
    if isinstance(value, (tuple, list)):
        return (list if isinstance(value, list) else tuple)(made.values())
    return made


def replaced(params: Any, found: dict[str, Any], root: str = ROOT) -> Any:
    """The structure with other parameters; constants and objects without parameters are those of ``params``. The places
    of ``found`` begin with ``root``."""
    return _replaced(params, found, root)


def _replaced(value: Any, found: dict[str, Any], place: str) -> Any:
    if place in found:
        return found[place]
    if not any(other.startswith((place + ".", place + "[")) for other in found):
        return value
    made = {key: _replaced(item, found, place + text) for key, text, item in parts_of(value) or ()}
    if isinstance(value, (tuple, list)):
        items = list(made.values())
        return value._make(items) if hasattr(value, "_make") else type(value)(items)
    if isinstance(value, dict):
        other = copy.copy(value)
        other.update(made)
        return other
    return rt.gradient_object(value, **{**getattr(value, "__dict__", {}), **own_attributes(value), **made})


def as_array(value: Any, like: Any = None) -> Any:
    """An array as it is, of whatever module, and anything else as one of NumPy's; of the module of ``like`` where there
    is one."""
    module = module_of_arrays(type(like))
    if module is not None and module is not np and type(value) is np.ndarray and value.ndim:
        return module.asarray(value)
    return value if is_array_class(type(value)) else np.asarray(value)


def in_words(value: Any) -> str:
    """A value in words, for messages."""
    if isinstance(value, (bool, int)):
        return repr(value)
    if isinstance(value, np.ndarray) or is_array_class(type(value)):
        return f"an array of {value.dtype} of shape {value.shape}"
    if isinstance(value, dict):
        return f"a dict with the keys {', '.join(map(repr, value))}" if value else "an empty dict"
    if isinstance(value, (tuple, list)):
        return f"{with_article(type(value).__name__)} of {len(value)}"
    return "None" if value is None else with_article(type(value).__name__)
