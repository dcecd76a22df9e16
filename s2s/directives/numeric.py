"""Derivatives by central differences, on request: for a function that has neither a rule nor source, and for it alone.

    surface = s2s.differentiable(library.surface, numeric=True)

Generated code says where it takes them: it calls ``numeric.cotangents_by_differences`` or
``numeric.tangent_by_differences``.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2s.core.inspection import with_article
from s2s.core.public import Remade
from s2s.directives.user_rules import ANYTHING
from s2s.errors import error
from s2s.rules.table import Rule, refuse

__all__ = ["Numeric", "cotangents_by_differences", "tangent_by_differences"]


class Numeric(functools.partial[Any], Remade):
    """A function whose derivatives are central differences. Called, it is the function."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __s2s_made__(self) -> Any:
        return numeric, (self.func,)

    def __repr__(self) -> str:
        return f"<s2s.differentiable {getattr(self, '__qualname__', self.func)}, by differences>"

    @functools.cached_property
    def __s2s_rule__(self) -> Rule:
        return Rule(
            self, "custom", ANYTHING, by_user=True,
            pullback=functools.partial(cotangents_by_differences, self.func),
            pushforward=functools.partial(tangent_by_differences, self.func),
        )


def numeric(f: Any) -> Numeric:
    """The function ``f``, with derivatives by central differences."""
    made: Any = Numeric(f)
    if getattr(f, "__name__", None) is not None:  # other callables have no name to take
        functools.update_wrapper(made, f)
    return made  # type: ignore[no-any-return]


STEP = np.cbrt(np.finfo(float).eps)
"""The step relative to a number: errors of truncation and of rounding are of one size."""


def cotangents_by_differences(f: Any, out: Any, out_bar: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """The cotangents of the arguments of ``f(*args, **kwargs)``: two calls of ``f`` for each number in them; None for
    arguments that hold no floats."""
    return tuple(_cotangent(f, out_bar, k, args, kwargs) for k in range(len(args)))


def _cotangent(f: Any, out_bar: Any, k: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x = np.asarray(args[k]) if isinstance(args[k], (float, np.floating, np.ndarray)) else None
    if x is None or x.dtype.kind != "f":
        _check_real(args[k])
        return None
    bars = np.zeros(x.shape, x.dtype)
    for place in np.ndindex(x.shape):
        unit = np.zeros(x.shape, x.dtype)
        unit[place] = 1.0
        bars[place] = _product(out_bar, *_around(f, args, {k: unit}, kwargs))
    return bars if isinstance(args[k], np.ndarray) else float(bars)


def tangent_by_differences(f: Any, out: Any, tangents: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The tangent of ``f(*args, **kwargs)``: two calls of ``f``."""
    directions = {k: dot for k, dot in enumerate(tangents) if dot is not None}
    for k in directions:
        _check_real(args[k])
    size = max([float(np.max(np.abs(dot), initial=0.0)) for dot in directions.values()], default=0.0)
    if size == 0.0:
        size = 1.0
    units = {k: np.asarray(dot) / size for k, dot in directions.items()}
    return _scaled(*_around(f, args, units, kwargs), size)


def _check_real(x: Any) -> None:
    """Refuse what differences are not taken by: no zero takes the place of a derivative."""
    inexact = np.asarray(x).dtype.kind == "c" if isinstance(x, (complex, np.ndarray, np.complexfloating)) else False
    if inexact or (isinstance(x, (tuple, list, dict)) and any(_floats(x))):
        kind = "complex" if inexact else with_article(type(x).__name__)
        raise error("S2S202", name="a function with numeric=True", reason=(
            f"differences are taken by floats and arrays of floats, and an argument is {kind}"))


def _floats(x: Any) -> Iterator[bool]:
    for item in x.values() if isinstance(x, dict) else x:
        if isinstance(item, (tuple, list, dict)):
            yield from _floats(item)
        else:
            yield isinstance(item, (float, np.floating)) or (isinstance(item, np.ndarray) and item.dtype.kind in "fc")


def _around(f: Any, args: tuple[Any, ...], units: dict[int, Any], kwargs: dict[str, Any]) -> tuple[Any, Any, float]:
    """The results on both sides in some direction, and how far these are from each other."""
    size = max(float(np.max(np.abs(args[k]) * (np.asarray(u) != 0.0), initial=0.0)) for k, u in units.items())
    h = float(STEP) * max(1.0, size)
    sides = []
    for sign in (1.0, -1.0):
        moved = list(args)
        for k, unit in units.items():
            there = np.asarray(args[k]) + sign * h * unit
            moved[k] = there if isinstance(args[k], np.ndarray) else type(args[k])(there)
        sides.append(f(*moved, **kwargs))
    return sides[0], sides[1], 2.0 * h


def _product(out_bar: Any, above: Any, below: Any, width: float) -> Any:
    """The product of a cotangent and a difference."""
    if out_bar is None:
        return 0.0
    if isinstance(above, (tuple, list)):
        return sum(_product(bar, a, b, width) for bar, a, b in zip(out_bar, above, below, strict=True))
    if isinstance(above, dict):
        return sum(_product(out_bar[key], above[key], below[key], width) for key in above)
    return np.sum(np.asarray(out_bar) * (np.asarray(above) - np.asarray(below))) / width


def _scaled(above: Any, below: Any, width: float, size: float) -> Any:
    if isinstance(above, (tuple, list)):
        return type(above)([_scaled(a, b, width, size) for a, b in zip(above, below, strict=True)])
    if isinstance(above, dict):
        return {key: _scaled(above[key], below[key], width, size) for key in above}
    return (above - below) * (size / width)


for _differences in (cotangents_by_differences, tangent_by_differences):
    refuse(_differences, "differences of differences have no correct digits; say what the derivative is, by s2s.defvjp")
