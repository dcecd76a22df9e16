"""What the user asked for goes in, what to compile for the arguments of a call comes out."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from s2s.core.inspection import is_plain_name, with_article
from s2s.core.record import record
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    Instance,
    Known,
    ListOf,
    Mapping,
    Object,
    Scalar,
    Sequence,
    Unknown,
)
from s2s.errors import error
from s2s.versions.carriers import carries_arrays
from s2s.versions.request import Path, Request
from s2s.versions.signature import has_float, key, own_attributes
from s2s.versions.target import Target, find_paths, parameter_span, show_path

__all__ = ["Ask"]


@record
class Ask:
    """What the user asked for, before the arguments are known; ``argnums`` is None for every positional
    argument that has a derivative (the first ``count`` ones). What ``is_auto`` is compiled for NumPy, and by Numba when
    that pays."""

    mode: str
    argnums: tuple[Any, ...] | None = ()
    single: bool = False
    has_aux: bool = False
    options: tuple[tuple[str, Any], ...] = ()
    count: int = 0
    is_auto: bool = False

    def parameters(self, target: Target, values: tuple[Any, ...]) -> set[str]:
        """The parameters with something that may be differentiated."""
        argnums = tuple(range(self.count)) if self.argnums is None else self.argnums
        return {path[0] for path in find_paths(target, argnums, values) or ()}

    def request(self, target: Target, avals: tuple[AbstractValue, ...], values: tuple[Any, ...]) -> Request:
        """The request for these arguments. Raises ArgumentError where one to differentiate has no
        derivative."""
        if self.mode == "primal" and self.argnums is None:
            wrt = tuple((p,) for p, aval in zip(target.parameters, avals, strict=True) if has_float(aval))
        elif self.argnums is None:
            places = find_paths(target, tuple(range(self.count)), values) or ()
            wrt = tuple(path for path in places if has_float(_at(target, avals, path)))
            if not wrt and self.mode != "primal":
                raise error("S2S531", name=target.name)
        else:
            wrt = find_paths(target, self.argnums, values) or ()
            for path in wrt:
                aval = _at(target, avals, path)
                _check_differentiable(target, path, aval)
                if isinstance(aval, Unknown) and values:
                    _check_unknown(target, path, values)
        return Request(self.mode, wrt, self.single, self.has_aux, self.options)


def _at(target: Target, avals: tuple[AbstractValue, ...], path: Path) -> AbstractValue:
    aval = avals[target.parameters.index(path[0])]
    for step in path[1:]:
        match aval:
            case Sequence(_, items):
                aval = items[step]
            case Mapping(keys, items):
                aval = items[keys.index(step)]
            case _:
                return UNKNOWN
    return aval


def _check_differentiable(target: Target, path: Path, aval: AbstractValue) -> None:
    """Raise ArgumentError where an argument to differentiate holds no float."""
    if has_float(aval) or aval in (Sequence(tuple, ()), Sequence(list, ()), Mapping((), ())):
        return
    fields: dict[str, Any] = {"name": target.name, "argument": show_path(path)}
    span = parameter_span(target.function, path[0])
    label = "" if isinstance(aval, Array) else f"got {key(aval)}"
    match aval:
        case Scalar(kind) if kind is int or "int" in kind.__name__:
            raise error("S2S503", span=span, label=label, hint="pass a float, `float(...)`", **fields)
        case Array(dtype) if dtype.kind in "iu":
            raise error(
                "S2S503",
                span=span,
                label=f"got an array of {dtype}",
                hint="pass floats, `x.astype(float)`",
                **fields,
            )
    hint = "leave it out of `argnums`"
    if isinstance(aval, (Object, Instance)) and _is_foreign_array(aval.type):
        hint = "pass an array of NumPy, `np.asarray(...)`; `s2s.interop` has functions for use in JAX and PyTorch"
    elif isinstance(aval, Array) and aval.dtype.kind == "b":
        hint = f"pass floats, `x.astype(float)`, or {hint}"
    elif isinstance(aval, (Sequence, Mapping, ListOf)):
        hint = f"make its numbers floats, or {hint}"
    raise error("S2S504", span=span, label=label, kind=_kind_text(aval), hint=hint, **fields)


def _check_unknown(target: Target, path: Path, values: tuple[Any, ...]) -> None:
    """Raise ArgumentError where an argument to differentiate is an object of which nothing is known: what carries a
    derivative is a number, an array or a container."""
    value = values[target.parameters.index(path[0])]
    for step in path[1:]:
        value = value[step]
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "VUSMm":
        kind = f"an array of {'records' if value.dtype.kind == 'V' else value.dtype}"
        hint = "pass the fields as arguments of their own" if value.dtype.kind == "V" else "leave it out of `argnums`"
        raise error(
            "S2S504", span=parameter_span(target.function, path[0]), name=target.name, argument=show_path(path),
            kind=kind, hint=hint)
    plain = (np.ndarray, np.generic, list, tuple, dict, collections.deque)
    if not isinstance(value, plain) and not carries_arrays(value):
        fields: dict[str, Any] = {"name": target.name, "argument": show_path(path)}
        hint = "write its class in Python, with attributes that are read as they are, or leave it out of `argnums`"
        span = parameter_span(target.function, path[0])
        raise error("S2S504", span=span, kind=with_article(type(value).__name__), hint=hint, **fields)


def _kind_text(aval: AbstractValue) -> str:
    match aval:
        case Known(const):
            value = const.value
            return "None" if value is None else with_article(type(value).__name__)
        case Array(dtype):
            return f"an array of {dtype}"
        case Scalar(kind):
            return with_article(kind.__name__)
        case Sequence(kind):
            return f"{with_article(kind.__name__)} without floats"
        case Mapping():
            return "a dict without floats"
        case Object(kind) | Instance(kind) if _is_foreign_array(kind):
            return f"a {kind.__module__.partition('.')[0]}.{kind.__name__}"
        case Object(kind, example) if (odd := _unnamed(example.value)) is not None:
            return f"{with_article(kind.__name__)} with the attribute {odd!r}, which code cannot name,"
        case Object(kind) | Instance(kind):
            return f"{with_article(kind.__name__)} without floats"
        case _:
            return "a list without floats"


def _unnamed(value: Any) -> str | None:
    """An attribute of an object that has no plain name."""
    return next((name for name in own_attributes(value) if not is_plain_name(name)), None)


def _is_foreign_array(kind: type) -> bool:
    """Whether a class is one of arrays, of a module that does not take part in NumPy's protocols."""
    return hasattr(kind, "__array__") and hasattr(kind, "__dlpack__")
