"""Parameters and states in, a flat dict of arrays out, as ``np.savez`` takes it; and back."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from s2s.directives.differentiable import option_error
from s2s.errors import error
from s2s.optim.structures import in_words, parts_of, replaced

__all__ = ["from_arrays", "to_arrays"]

ALONE = "value"


def to_arrays(value: Any) -> dict[str, Any]:
    """The numbers and arrays in a structure, by where they are, ``"['m']['w']"``.

    >>> import numpy as np, s2s
    >>> s2s.optim.to_arrays({"w": np.ones(2), "layers": [1.5]})
    {"['w']": array([1., 1.]), "['layers'][0]": array(1.5)}
    """
    return {place or ALONE: np.asarray(leaf) for place, leaf in _numbers(value).items()}


def from_arrays(arrays: Mapping[str, Any], like: Any) -> Any:
    """The structure of ``like`` with the numbers that ``to_arrays`` has given: a dict of them, or what ``np.load``
    returns. What is no number, and options, are those of ``like``. Raises ArgumentError where something is missing.

    >>> import numpy as np, s2s
    >>> saved = s2s.optim.to_arrays({"w": np.ones(2), "name": "first"})
    >>> s2s.optim.from_arrays(saved, like={"w": np.zeros(2), "name": "second"})
    {'w': array([1., 1.]), 'name': 'second'}
    """
    wanted = _numbers(like)
    missing = [place or ALONE for place in wanted if (place or ALONE) not in arrays]
    if missing:
        raise error("S2S609", places=", ".join(missing[:3]), count=f"{len(missing)} of {len(wanted)}")
    return replaced(like, {place: _as(leaf, arrays[place or ALONE]) for place, leaf in wanted.items()}, "")


def _numbers(value: Any) -> dict[str, Any]:
    """The numbers and arrays by place. Raises ArgumentError where there are none."""
    found = dict(_leaves(value, ""))
    if not found:
        raise option_error(f"there are no numbers in {in_words(value)}", "give parameters, a state, or a dict of both")
    return found


def _leaves(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    parts = parts_of(value)
    if parts is None:
        is_number = isinstance(value, numbers.Number) and not isinstance(value, bool)
        if is_number or (isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc"):
            yield place, value
        return
    for part in parts:
        yield from _leaves(part.value, place + part.text)


def _as(like: Any, array: Any) -> Any:
    """What was saved, as a number or array like another."""
    return array if isinstance(like, np.ndarray) else type(like)(np.asarray(array)[()])
