"""What becomes of the result of a call of code that is not watched: a step, something handed on, or a refusal."""

from __future__ import annotations

import collections
import operator
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2s.api import jvp, vjp
from s2s.core.inspection import is_hashable, name_of
from s2s.core.linecaches import define
from s2s.core.public import PublicDerivative
from s2s.directives.user_rules import gives_gradient
from s2s.errors import error
from s2s.recorded.items import as_objects
from s2s.recorded.kinds import (
    FUNCTIONS,
    ITERATORS,
    KNOWN,
    REAL,
    flat,
    is_opaque,
    plain_array,
)
from s2s.recorded.places import note_unseen
from s2s.recorded.recorder import is_a, is_number, items_in, kind_of, pack, unpack
from s2s.recorded.state import (
    ACTIVE,
    gives_argument,
    has_new,
    no_rule,
    taint,
    written,
)
from s2s.rules import table

PRIMITIVES: dict[int, Any] = {}
"""Python functions that are one step: those that sweeps make."""
ARRAY_MAKERS = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.ndarray.astype)


def noted(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
    """Note a call that has given ``out``."""
    if getattr(fn, "__name__", "") == "as_integer_ratio":
        raise error("S2S180", name="as_integer_ratio")
    if any(is_a(part, (str, bytes)) for part in flat((out,))) and _makes_texts(args, kwargs, out):
        written(*args, *kwargs.values())
    receiver = args[0] if is_a(fn, types.MethodDescriptorType) else getattr(fn, "__self__", None)
    if out is None and is_opaque(receiver):
        written(*args, *kwargs.values())
    if out is None or is_a(out, (bool, int, str, bytes, np.bool_, np.integer)):
        taint(*args, *kwargs.values(), getattr(fn, "__self__", None))
        note_unseen(ACTIVE, fn)
        return out
    if is_a(out, (*ITERATORS, *FUNCTIONS)):
        return out
    if is_a(out, np.ndarray) and kind_of(out) == "O":
        if fn in ARRAY_MAKERS and is_a(args[0], np.ndarray):
            return as_objects(args[0])
        if has_new(args, kwargs, out):
            raise error("S2S214", name=name_of(fn), reason="it makes an array of Python objects")
        return out
    if (fn is max or fn is min) and "key" not in kwargs and _is_tied(out, args):
        out = still(out)  # a number of its own, to which all that are equal contribute
    if type(fn) is types.WrapperDescriptorType and fn.__objclass__ is np.ndarray and hasattr(operator, fn.__name__):
        fn, args = getattr(operator, fn.__name__), (plain_array(args[0]), *args[1:])  # not what a subclass makes of it
    if type(fn) is types.WrapperDescriptorType and fn.__objclass__ in (float, complex):
        fn, args = _operator_of(fn, args)
    rule = table.find(fn) if is_hashable(fn) else None
    if is_opaque(out):
        taint(out)
    if rule is None:
        taint(out, *args, *kwargs.values(), getattr(fn, "__self__", None))
    if rule is not None and rule.kind == "straight_through" and _rounds_noise(fn, args, kwargs):
        fn, args, kwargs, rule = np.positive, (args[0],), {}, table.find(np.positive)
    if fn is operator.floordiv or (rule is not None and rule.kind in ("zero", "straight_through")):
        return still(out) if gives_argument(out, args) else out
    if rule is not None and rule.kind == "refuse":
        if not has_new(args, kwargs, out):
            return out
        raise error("S2S202", name=name_of(fn), reason=rule.reason)
    if not has_new(args, kwargs, out):
        return out
    if rule is None and not (is_a(fn, (*KNOWN, PublicDerivative)) or gives_gradient(fn) or id(fn) in PRIMITIVES):
        raise no_rule(fn, args)
    if type(out) is np.matrix and rule is not None:
        return _of_matrices(fn, args, kwargs, out)
    if rule is None:
        note_unseen(ACTIVE, fn)  # the sweeps may refuse it
    for recorder in ACTIVE:
        if recorder.depends(args) or recorder.depends(kwargs):
            recorder.call(fn, args, kwargs, out)
    return out


def _operator_of(fn: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """A method of numbers as an operator with its operands: ``float.__rsub__(a, b)`` is ``b - a``."""
    name = fn.__name__
    if hasattr(operator, name):
        return abs if name == "__abs__" else getattr(operator, name), args
    if len(args) != 2:
        return fn, args
    return getattr(operator, f"__{name[3:]}", fn), args[::-1]


def _makes_texts(args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> bool:
    """Whether there is a text in a result that is none of those in the arguments."""
    return not set(map(id, _texts_in(out))) <= set(map(id, _texts_in((args, kwargs))))


def _texts_in(value: Any) -> Iterator[Any]:
    """The texts in containers, keys of dicts among them."""
    if is_a(value, (str, bytes)):
        yield value
    elif is_a(value, (dict, type({}.items()))):
        for pair in list(dict.items(value) if is_a(value, dict) else value):
            yield from _texts_in(pair)
    elif is_a(value, (list, tuple, set, frozenset, collections.deque, type({}.values()), type({}.keys()))):
        for item in list(value if is_a(value, type({}.keys())) else items_in(value)):
            yield from _texts_in(item)


def _of_matrices(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
    """Note a call that has given an ``np.matrix``, which has two dimensions whatever arrays would give."""
    leaves: list[Any] = []
    structure = pack((args, kwargs), leaves)
    given, named = unpack(structure, list(map(plain_array, leaves)))
    made = noted(fn, given, named, fn(*given, **named))
    shape = plain_array(out).shape
    return np.asmatrix(made if made.shape == shape else noted(np.reshape, (made, shape), {}, made.reshape(shape)))


def _rounds_noise(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call rounds numbers to more decimals than half of those that they have: it takes away what rounding
    errors are, and is no step."""
    if getattr(fn, "__name__", "") not in ("round", "around"):
        return False
    decimals = kwargs.get("decimals", kwargs.get("ndigits", args[1] if len(args) > 1 else None)) or 0
    dtype = np.result_type(args[0])
    return dtype.kind in "fc" and 10.0 ** -float(decimals) <= float(np.sqrt(np.finfo(dtype).eps))


def _is_tied(out: Any, args: tuple[Any, ...]) -> bool:
    """Whether a number is equal to another one among those that it was chosen from."""
    among = args[0] if len(args) == 1 else args
    return is_number(out) and is_a(among, (list, tuple)) and any(
        other is not out and type(other) in REAL and other == out for other in among)


def still(value: Any) -> Any:
    """A value that depends on nothing."""
    if is_a(value, np.ndarray):
        return value.copy()
    if is_number(value):
        return value * type(value)(1.0)
    return type(value)(map(still, value)) if type(value) in (list, tuple) else value


def primitive_of(text: str, name: str, scope: dict[str, Any]) -> Any:
    """A function with source that is one step of a recording."""
    scope = {"vjp": vjp, "jvp": jvp, "np": np, "__name__": "s2s.recorded.steps", **scope}
    function = define(name, text, scope)
    PRIMITIVES[id(function)] = function
    return function
