"""What draws of random numbers give: kinds and shapes by example, of a stream that is made for it."""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.analysis.abstract.lattice import join, known
from s2s.core import ir
from s2s.core.inspection import namespace
from s2s.core.values import UNKNOWN, AbstractValue, Array, Known, Scalar, Sequence, Unknown
from s2s.rules.functions import describe
from s2s.versions.signature import is_stream, streams

if TYPE_CHECKING:
    from s2s.analysis.abstract.evaluate import Evaluator

__all__ = ["class_of_made", "is_draw", "is_of_stream", "is_seeded", "result_of_draw"]

_OTHERS = {"bytes", "get_state", "random_integers", "seed", "set_state", "shuffle", "spawn", "tomaxint"}
"""Methods of streams that draw no numbers, warn, or change what they are given."""


@functools.cache
def _methods() -> dict[int, tuple[type, str]]:
    """The class and the name of each method of streams, by its ``id``; for when they have been imported."""
    found: dict[int, tuple[type, str]] = {}
    for kind in streams():
        for name, method in namespace(kind).items():
            if not name.startswith("_") and callable(method):
                found[id(method)] = (kind, name)
    return found


def is_draw(method: Any) -> bool:
    """Whether it is a method of one of the classes that draws numbers, and changes nothing but the stream."""
    found = _methods().get(id(method)) if streams() else None
    return found is not None and found[1] not in _OTHERS


def is_of_stream(fn: Any) -> bool:
    """Whether it is a method of one of the classes, as their attribute or bound to a stream."""
    if not streams():
        return False
    return id(fn) in _methods() or is_stream(type(getattr(fn, "__self__", None)))


def draw_of_another(kind: type, name: str, *args: Any, **kwargs: Any) -> Any:
    """What a method of a class gives, by a stream that is made for it: the same each time."""
    return getattr(kind(np.random.MT19937(0)), name)(*args, **kwargs)


describe(draw_of_another, acts=False, changes=(), calls_back=False, pure=True)


def class_of_made(made: Any) -> type | None:
    """The class of the stream that a call makes of numbers or of nothing; None for another call. One that is made of
    something else may be of a class of its own."""
    if not isinstance(made, ir.Call) or not isinstance(made.fn, ir.Const) or made.kwargs:
        return None
    if not all(isinstance(a, ir.Const) and isinstance(a.value, (int, types.NoneType)) for a in made.args):
        return None
    if not streams():
        return None
    makers = {np.random.default_rng: np.random.Generator, np.random.RandomState: np.random.RandomState}
    return next((kind for maker, kind in makers.items() if made.fn == ir.Const(maker)), None)


def is_seeded(made: Any) -> bool:
    """Whether a call makes a stream that draws the same numbers each time it is made."""
    return class_of_made(made) is not None and made.args[:1] not in ((), (ir.Const(None),))


def result_of_draw(
    evaluator: Evaluator, method: Any, args: list[AbstractValue], kwargs: dict[str, AbstractValue]
) -> AbstractValue:
    """The abstract value of what a method of a stream gives for these arguments, without the stream; UNKNOWN where no
    example says it. Where an argument is an integer that is not known, the lengths that depend on it are
    not known."""
    kind, name = _methods()[id(method)]
    named = known(kind), known(name)
    found = evaluator.probe(draw_of_another, (*named, *args), kwargs)
    if isinstance(found, Unknown):
        found, other = (
            evaluator.probe(
                draw_of_another,
                (*named, *(_with_number(value, number) for value in args)),
                {key: _with_number(value, number) for key, value in kwargs.items()},
            )
            for number in (2, 3)
        )
        found = join(found, other, evaluator.facts)
    if isinstance(found, Array):
        return found
    if isinstance(found, Known) and isinstance(found.value, (bool, int, float, np.generic)):
        return Scalar(type(found.value))  # the number is another each time
    return Scalar(found.type) if isinstance(found, Scalar) else UNKNOWN


def _with_number(value: AbstractValue, number: int) -> AbstractValue:
    """An argument with a number for each integer that is not known."""
    match value:
        case Scalar(kind) if kind is int:
            return known(number)
        case Sequence(kind, items):
            return Sequence(kind, tuple(_with_number(item, number) for item in items))
        case _:
            return value
