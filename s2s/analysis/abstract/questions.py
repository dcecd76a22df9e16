"""Questions about types and values: what is known of their answers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.analysis.abstract.folding import call_pure
from s2s.analysis.abstract.lattice import is_number, known, shape_of, truth, type_of
from s2s.analysis.abstract.numbers import ANY_FLOAT, ANY_REAL, possible_types
from s2s.core import ops
from s2s.core.closures import Closure
from s2s.core.inspection import classes_in, is_foreign, look_up, members_of_protocol
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    Known,
    ListOf,
    Mapping,
    Range,
    Scalar,
    Sequence,
    Unknown,
)
from s2s.versions.facts import has, subclass

if TYPE_CHECKING:
    from s2s.analysis.abstract.evaluate import Evaluator

__all__ = ["QUESTIONS", "answer"]

def _isinstance(evaluator: Evaluator, value: AbstractValue, kinds: AbstractValue) -> AbstractValue | None:
    kind = type_of(value)
    if isinstance(kinds, Sequence) and all(isinstance(i, Known) for i in kinds.items):
        kinds = known(tuple(i.value for i in kinds.items))  # type: ignore[union-attr]
    if not isinstance(kinds, Known):
        return Scalar(bool)
    if isinstance(value, Scalar):
        answers = {evaluator.fold(subclass(k, kinds.value)) for k in possible_types(value.type)}
        return answer(answers.pop() if len(answers) == 1 else None)
    if kind is None and _names_model(kinds.value):
        return known(False)  # an object of a model is on the heap: its class is known
    if kind is None or any(_asks_object(kind, one) for one in classes_in(kinds.value)):
        return Scalar(bool)
    return answer(evaluator.fold(subclass(kind, kinds.value)))


def _asks_object(kind: type, protocol: Any) -> bool:
    """Whether a protocol asks an object of a class itself: it may have attributes of its own, and no class says whether
    it has data that a protocol asks for."""
    members = members_of_protocol(protocol)
    return bool(members) and (
        kind.__dictoffset__ != 0 or not all(callable(getattr(protocol, name, None)) for name in members or ()))


def answer(found: bool | None) -> AbstractValue:
    """What is known of an answer; None where it is not known."""
    return Scalar(bool) if found is None else known(found)


def _issubclass(evaluator: Evaluator, kind: AbstractValue, kinds: AbstractValue) -> AbstractValue | None:
    if isinstance(kinds, Sequence) and all(isinstance(i, Known) for i in kinds.items):
        kinds = known(tuple(i.value for i in kinds.items))  # type: ignore[union-attr]
    if not isinstance(kind, Known) or not isinstance(kinds, Known) or not issubclass(type(kind.value), type):
        return Scalar(bool)
    try:
        return answer(evaluator.fold(subclass(kind.value, kinds.value)))
    except TypeError:
        return Scalar(bool)


def _names_model(kinds: Any) -> bool:
    """Whether one of the classes stands for a class of a library. What is not known is then none of them."""
    given = kinds if isinstance(kinds, tuple) else (kinds,)
    return any(str(look_up(kind, "__module__", "")).startswith("s2s.models.") for kind in given)


def _type(evaluator: Evaluator, value: AbstractValue, *made_of: AbstractValue) -> AbstractValue | None:
    if made_of:  # a name, bases and what the class holds: a class that is made when the program runs, and refused
        return UNKNOWN
    kind = type_of(value)
    return UNKNOWN if kind is None else known(kind)


def _is(evaluator: Evaluator, a: AbstractValue, b: AbstractValue) -> AbstractValue | None:
    if isinstance(a, Known) and isinstance(b, Known):
        return known(a.value is b.value)
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Known) and one.value is None and not isinstance(other, Unknown):
            return known(False)
    return Scalar(bool)


def _is_not(evaluator: Evaluator, a: AbstractValue, b: AbstractValue) -> AbstractValue | None:
    found = _is(evaluator, a, b)
    return known(not found.value) if isinstance(found, Known) else found


def _not(evaluator: Evaluator, a: AbstractValue) -> AbstractValue | None:
    found = truth(a)
    return Scalar(bool) if found is None else known(not found)


def _is_complex(evaluator: Evaluator, value: AbstractValue) -> AbstractValue | None:
    kind = type_of(value)
    if isinstance(value, Array):
        return known(value.dtype.kind == "c")
    if value in (ANY_FLOAT, ANY_REAL):
        return known(False)
    if isinstance(value, Known):
        return known(np.iscomplexobj(value.value)) if _is_plain(value.value) else None
    return known(issubclass(kind, (complex, np.complexfloating))) if kind is not None else Scalar(bool)


def _is_real(evaluator: Evaluator, value: AbstractValue) -> AbstractValue | None:
    found = _is_complex(evaluator, value)
    return known(not found.value) if isinstance(found, Known) else found


def _is_scalar(evaluator: Evaluator, value: AbstractValue) -> AbstractValue | None:
    if is_number(value):
        return known(True)
    return known(False) if isinstance(value, (Array, Sequence, Mapping, ListOf)) else Scalar(bool)


def _iterable(evaluator: Evaluator, value: AbstractValue) -> AbstractValue | None:
    shape = shape_of(value)
    if shape is not None:
        return known(bool(shape))
    if isinstance(value, Sequence):
        return known(value.type is not slice)
    return known(True) if isinstance(value, (Mapping, ListOf, Range)) else Scalar(bool)


def _hasattr(evaluator: Evaluator, value: AbstractValue, name: AbstractValue) -> AbstractValue | None:
    """Known where every type that the value may have answers alike."""
    if not isinstance(name, Known) or not isinstance(name.value, str):
        return Scalar(bool)
    if isinstance(value, Known):
        answers = {_has_plainly(value.value, name.value)}
    elif isinstance(value, Scalar):
        answers = {hasattr(kind, name.value) for kind in possible_types(value.type)}
    else:
        kind = type_of(value)
        answers = {None if kind is None else evaluator.fold(has(kind, name.value))}
    answer = answers.pop()
    return Scalar(bool) if answers or answer is None else known(answer)


def _has_plainly(value: Any, name: str) -> bool | None:
    """Whether a plain value of Python or NumPy has an attribute, which nobody adds or takes away; None for any other
    object."""
    return hasattr(value, name) if _is_plain(value) else None


def _is_plain(value: Any) -> bool:
    return issubclass(type(value), _PLAIN) and not is_foreign(type(value))


_PLAIN = (int, float, complex, str, bytes, tuple, list, dict, range, type(None), np.generic, np.ndarray, np.dtype)


def _callable(evaluator: Evaluator, value: AbstractValue) -> AbstractValue:
    if isinstance(value, Closure):
        return known(True)
    if isinstance(value, Known):
        return known(callable(value.value))
    return known(False) if isinstance(value, (Scalar, Array, Sequence, Mapping, ListOf, Range)) else Scalar(bool)


def _boolean(evaluator: Evaluator, *args: AbstractValue) -> AbstractValue:
    return Scalar(bool)


def _formatted(evaluator: Evaluator, *args: AbstractValue) -> AbstractValue:
    """A part of an f-string: a known text or integer."""
    if all(isinstance(a, Known) and type(a.value) in (str, int) for a in args):
        try:
            return known(call_pure(ops.format_value, [a.value for a in args if isinstance(a, Known)]))
        except Exception:  # it raises again when the program runs
            return UNKNOWN
    return UNKNOWN


def _text(evaluator: Evaluator, *parts: AbstractValue) -> AbstractValue:
    if all(isinstance(p, Known) and type(p.value) is str for p in parts):
        return known(ops.format_string(*(p.value for p in parts if isinstance(p, Known))))
    return UNKNOWN


QUESTIONS: dict[Any, Callable[..., AbstractValue | None]] = {
    isinstance: _isinstance,
    issubclass: _issubclass,
    type: _type,
    operator.is_: _is,
    operator.is_not: _is_not,
    operator.not_: _not,
    callable: _callable,
    hasattr: _hasattr,
    ops.format_string: _text,
    ops.format_value: _formatted,
    np.iscomplexobj: _is_complex,
    np.isrealobj: _is_real,
    np.isscalar: _is_scalar,
    np.iterable: _iterable,
}
