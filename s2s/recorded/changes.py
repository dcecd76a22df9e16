"""Calls that change an array in place: which they are, and what is noted of them."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

import numpy as np

from s2s.analysis.functions import facts
from s2s.core.inspection import is_hashable, name_of
from s2s.core.public import PublicDerivative
from s2s.errors import error
from s2s.recorded.items import set_item
from s2s.recorded.kinds import (
    plain_array,
)
from s2s.recorded.noted import PRIMITIVES, noted, primitive_of
from s2s.recorded.probed import Probe, is_unknown
from s2s.recorded.recorder import is_a, kind_of
from s2s.recorded.state import as_constants, has_new
from s2s.recorded.tools import call
from s2s.rules import table
from s2s.rules.functions import description_of
from s2s.versions.paths import what_to_give


def run(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], bound: Any) -> Any:
    """A call that is one step. Python code may be watched: where a rule says what the derivative is, what it calls is
    no step of its own; a model may refuse what its code does not."""
    rule = table.find(fn) if type(fn) is types.FunctionType and id(fn) not in PRIMITIVES else None
    if rule is None or rule.kind == "model":
        return fn(*args, **kwargs) if bound is None else bound(*args[1:], **kwargs)
    return as_constants(fn, *args, **kwargs)


def changed_by(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[np.ndarray[Any, Any]]:
    """The arrays among the arguments that a call changes."""
    if (
        is_a(fn, type)
        or (is_a(fn, np.ufunc) and not is_unknown(fn))
        or id(fn) in PRIMITIVES
        or not is_hashable(fn)
        or not any(is_a(a, np.ndarray) for a in (*args, *kwargs.values()))
    ):
        return []
    known = facts(fn)
    if -1 in known.changes or not (known.changes or table.find(fn) or description_of(fn)):
        rule = table.find(fn)
        return (
            []
            if rule is not None or PublicDerivative in type(fn).__mro__
            else [a for a in (*args, *kwargs.values()) if is_a(a, np.ndarray)]
        )
    if known.changes and len(args) <= max(known.changes):
        raise error("S2S203", name=name_of(fn), keyword=next(iter(kwargs), "out"))
    return [args[k] for k in known.changes if k < len(args) and is_a(args[k], np.ndarray)]


@functools.lru_cache(1024)
def place_of_out(fn: Any) -> int | None:
    """The place of ``out`` among the positional arguments of a function with a rule."""
    rule = table.find(fn)
    if rule is None or is_a(fn, np.ufunc):
        return None
    named = rule.params.parameters
    if "out" not in named or named["out"].default is not None:  # what generated code calls may read it
        return None
    kinds = {name: parameter.kind for name, parameter in named.items()}
    is_by_place = inspect.Parameter.VAR_POSITIONAL not in kinds.values()
    is_by_place = is_by_place and kinds.get("out") is inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [*kinds].index("out") if is_by_place else None


def change(
    fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], changed: list[np.ndarray[Any, Any]], bound: Any
) -> Any:
    """A call that changes an array in place: the result of the same on a copy is stored into it."""
    places = facts(fn).changes
    if not places or -1 in places or (table.find(fn) is None and places != (0,)):
        copies = [plain_array(array).copy() for array in changed]
        probe = Probe(fn, args, kwargs) if is_unknown(fn) else None
        out = run(fn, args, kwargs, bound)
        has_changed = not all(map(_same, copies, changed)) or (probe is not None and probe.fills())
        if probe is not None and (has_changed or has_new(args, kwargs, out)):
            is_known, made = probe.answer(out)
            if is_known:
                return made
        if has_changed:
            raise error("S2S201", name=name_of(fn), hint=what_to_give(fn))
        return noted(fn, args, kwargs, out)
    arrays = [plain_array(args[k]) for k in places]
    given = [arrays[places.index(k)] if k in places else arg for k, arg in enumerate(args)]
    made = call(_changed_of(fn, len(args), tuple(kwargs), places), *given, **kwargs)
    for array, part in zip(arrays, made):
        set_item(part, array, ...)
    return made[-1]


def _same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Whether the elements are the same: a method may have set the shape."""
    return bool(np.array_equal(a.reshape(-1), plain_array(b).reshape(-1), equal_nan=kind_of(a) in "fc"))


@functools.lru_cache(256)
def _changed_of(fn: Any, count: int, names: tuple[str, ...], places: tuple[int, ...]) -> Any:
    """The function that gives what arrays, the arguments at these places, are after a call that changes them, and what
    the call gives."""
    own = [f"x{k}" for k in range(count)]
    inner = [f"made{k}" if k in places else f"x{k}" for k in range(count)]
    given = [*inner, *(f"{n}={n}" for n in names)]
    text = f"def changed({', '.join([*own, *names])}):\n"
    text += "".join(f"    made{k} = x{k}.copy()\n" for k in places)
    is_method = is_a(fn, types.MethodDescriptorType)
    call = f"made0.{fn.__name__}({', '.join(given[1:])})" if is_method else f"fn({', '.join(given)})"
    text += f"    out = {call}\n    return {', '.join(f'made{k}' for k in places)}, out\n"
    rule = table.find(fn)
    if not is_method and rule is not None and rule.kind == "model" and not rule.given:
        fn = rule.body  # numbers stand where the model puts them
    return primitive_of(text, "changed", {"fn": fn})
