"""How long the vectors of a cross product are: two or three, which decides whether the product is a number or a vector.

    np.cross(a, b)      of two vectors of length 2 a number, of others a vector of length 3

Where no length is known, that of an argument is taken to be 3, as a guard.
"""

from __future__ import annotations

import re

from s2s.analysis.abstract.shapes import Facts
from s2s.core.record import replace
from s2s.core.values import AbstractValue, Array, Dim, Known

__all__ = ["with_vectors"]

_THREE = Dim("", 3)
_SLICE = re.compile(r"\?([^+?*]+\.\d+)\[(\d+):(\d+)\]")


def with_vectors(
    args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue], facts: Facts
) -> tuple[AbstractValue, ...]:
    """The operands of a cross product, with a length of 3 for vectors of which one certainly has it."""
    given = dict(zip(("a", "b", "axisa", "axisb", "axisc", "axis"), args, strict=False)) | kwargs
    axes = [_axis(given, name) for name in ("axisa", "axisb")]
    places = [_place(value, axis) for value, axis in zip(args, axes, strict=False)]
    if len(places) != 2 or None in places:
        return args
    dims = [_dim_at(value, place) for value, place in zip(args, places, strict=False)]
    dims.sort(key=lambda dim: dim.symbol.startswith("?"))
    are_three = [d == _THREE or _is_three(d, facts) for d in dims]
    if all(d.is_constant for d in dims) or not any(are_three):
        return args
    made = [_with_three(value, place) for value, place in zip(args, places, strict=False)]
    return (*made, *args[2:])


def _axis(given: dict[str, AbstractValue], name: str) -> int | None:
    """The axis along which the vectors of an operand lie; None where it is not known."""
    for value in (given.get("axis"), given.get(name)):
        if isinstance(value, Known) and type(value.value) is int:
            return value.value
        if value is not None and not (isinstance(value, Known) and value.value is None):
            return None
    return -1


def _place(value: AbstractValue, axis: int | None) -> int | None:
    rank = len(value.shape) if isinstance(value, Array) and value.shape else 0
    return None if axis is None or not -rank <= axis < rank else axis % rank


def _dim_at(value: AbstractValue, place: int | None) -> Dim:
    assert isinstance(value, Array) and value.shape is not None and place is not None
    return value.shape[place]


def _is_three(dim: Dim, facts: Facts) -> bool:
    """Whether a length is 3, by a guard where it is one of an argument, or that of three items of an argument."""
    found = _SLICE.fullmatch(dim.symbol) if not dim.offset else None
    if found is not None and int(found[3]) - int(found[2]) == 3:
        if facts.is_at_least(Dim(found[1]), int(found[3])):
            facts.least[found[1]] = max(facts.least.get(found[1], 0), int(found[3]))
            return True
        return False
    if not dim.symbol or dim.symbol[0] in "?*":
        return False
    return facts.equal.setdefault(dim.symbol, 3 - dim.offset) == 3 - dim.offset


def _with_three(value: AbstractValue, place: int | None) -> AbstractValue:
    assert isinstance(value, Array) and value.shape is not None
    return replace(value, shape=tuple(_THREE if k == place and d.symbol else d for k, d in enumerate(value.shape)))
