"""Derivatives of a run in a direction, independent of the compiler: by central differences of sixth order.

Two steps must agree, else there is a kink nearby or too little precision, and nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.core import ir
from s2s.directives.policies import Chosen
from s2s.rules import table
from s2s.validation.copies import NotCopied, arrays_in, copied

__all__ = ["Direction", "differences", "inner", "is_by_choice", "tangent_like"]

STENCIL = ((1, 45.0 / 60.0), (2, -9.0 / 60.0), (3, 1.0 / 60.0))
STEPS = (2e-3, 5e-4)

Leaf = tuple[Any, ...]


class Direction:
    """A direction in which what is differentiated moves: for each float of it, by path, a number or an array."""

    def __init__(self, values: dict[str, Any], wrt: tuple[tuple[Any, ...], ...]) -> None:
        self.values = values
        self.wrt = wrt
        self.by_leaf: dict[Leaf, Any] = {}
        self.is_fit = True
        arrays: dict[int, Any] = {}
        rng = np.random.default_rng(5)
        for path in wrt:
            for leaf, value in leaves(_at(values, path), path):
                if not _is_double(value):
                    self.is_fit = False
                drawn = arrays.get(id(value)) if isinstance(value, np.ndarray) else None
                if drawn is None:
                    drawn = rng.uniform(0.5, 1.5, np.shape(value)) * rng.choice([-1.0, 1.0], np.shape(value))
                    if isinstance(value, np.ndarray):
                        arrays[id(value)] = drawn
                self.by_leaf[leaf] = drawn
        if self._overlaps(arrays):
            self.is_fit = False
        self.has_objects = any(arrays.keys() & self._held_by_objects(path) for path in wrt)
        """Whether an object holds an array that moves: the object has no tangent here."""

    def _overlaps(self, moved: dict[int, Any]) -> bool:
        every = list(arrays_in(tuple(self.values.values())))
        mine = [a for a in every if id(a) in moved]
        by_name = {name: list(arrays_in(value)) for name, value in self.values.items()}
        still = {id(a) for name, found in by_name.items() if (name,) not in {p[:1] for p in self.wrt} for a in found}
        if any(id(a) in still or _repeats(a) for a in mine):
            return True
        return any(a is not b and np.may_share_memory(a, b) for a in mine for b in every)

    def _held_by_objects(self, path: tuple[Any, ...]) -> set[int]:
        """The arrays in what is differentiated that are no parts of it which move, by their ``id``."""
        value = _at(self.values, path)
        return {id(a) for a in arrays_in(value)} - {id(part) for _, part in leaves(value, path)}

    def moved(self, amount: float) -> tuple[Any, ...]:
        """The values, copied, moved by ``amount`` along the direction."""
        values = dict(zip(self.values, copied(tuple(self.values.values())), strict=True))
        done: set[int] = set()
        for leaf, drawn in self.by_leaf.items():
            value = _at(values, leaf)
            if isinstance(value, np.ndarray):
                if id(value) not in done:
                    done.add(id(value))
                    writeable = value.flags.writeable
                    value.flags.writeable = True
                    value += amount * drawn
                    value.flags.writeable = writeable
            else:
                _put(values, leaf, type(value)(value + amount * float(drawn)))
        return tuple(values.values())

    def tangents(self) -> tuple[Any, ...]:
        """The direction as one tangent for each path that is differentiated."""
        return tuple(tangent_like(_at(self.values, path), path, self.by_leaf) for path in self.wrt)


def _repeats(array: np.ndarray[Any, Any]) -> bool:
    """Whether elements of an array lie in one place."""
    return any(stride == 0 and size > 1 for stride, size in zip(array.strides, array.shape, strict=True))


def leaves(value: Any, path: Leaf) -> list[tuple[Leaf, Any]]:
    """The floats and arrays of floats in a value, by path."""
    if isinstance(value, (np.ndarray, np.generic, float, complex)):
        return [(path, value)] if np.result_type(value).kind in "fc" else []
    if isinstance(value, (tuple, list)):
        return [leaf for k, item in enumerate(value) for leaf in leaves(item, (*path, k))]
    if isinstance(value, dict):
        return [leaf for k, item in value.items() for leaf in leaves(item, (*path, k))]
    return []


def _is_double(value: Any) -> bool:
    return bool(np.result_type(value) == np.float64) and bool(np.all(np.isfinite(value)))


def _at(value: Any, path: Leaf) -> Any:
    for step in path:
        value = value[step]
    return value


def _put(values: Any, path: Leaf, new: Any) -> None:
    """Replace what a path leads to; tuples on the way are made anew."""
    if len(path) > 1:
        inner = values[path[0]]
        if isinstance(inner, tuple):
            items = list(inner)
            _put(items, path[1:], new)
            new = type(inner)(*items) if hasattr(inner, "_fields") else tuple(items)
        else:
            return _put(inner, path[1:], new)
    values[path[0]] = new


def tangent_like(value: Any, path: Leaf, drawn: dict[Leaf, Any]) -> Any:
    """A tangent in the structure of a value; zeros for what is no float."""
    if isinstance(value, (tuple, list)):
        items = [tangent_like(item, (*path, k), drawn) for k, item in enumerate(value)]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {k: tangent_like(item, (*path, k), drawn) for k, item in value.items()}
    if path not in drawn:
        return value * 0 if isinstance(value, (int, np.integer, np.ndarray)) and type(value) is not bool else value
    if isinstance(value, np.ndarray):
        made = np.empty_like(value)
        made[...] = drawn[path]
        return made
    return type(value)(drawn[path])


def cotangent_like(value: Any, seed: int = 3) -> Any:
    """A cotangent like a result; zeros for integers, None for what is no number."""
    rng = np.random.default_rng(seed)

    def one(item: Any) -> Any:
        if isinstance(item, (tuple, list)):
            items = [one(part) for part in item]
            return type(item)(*items) if hasattr(item, "_fields") else type(item)(items)
        if isinstance(item, dict):
            return {key: one(part) for key, part in item.items()}
        if isinstance(item, (np.ndarray, np.generic, float, complex)) and np.result_type(item).kind in "fc":
            drawn = rng.normal(size=np.shape(item))
            if isinstance(item, np.ndarray):
                made = np.empty_like(item)
                made[...] = drawn
                return made
            return type(item)(drawn)
        return item * 0 if isinstance(item, (int, np.integer, np.ndarray)) and type(item) is not bool else None

    return one(value)


def inner(cotangent: Any, value: Any) -> float:
    """The inner product over the floats of two values of one structure."""
    if isinstance(value, (tuple, list)):
        return sum((inner(c, v) for c, v in zip(cotangent, value, strict=True)), 0.0)
    if isinstance(value, dict):
        return sum((inner(cotangent[k], v) for k, v in value.items()), 0.0)
    is_float = isinstance(value, (np.ndarray, np.generic, float)) and np.result_type(value).kind == "f"
    if not is_float or cotangent is None:
        return 0.0
    return float(np.sum(np.asarray(cotangent, np.float64) * np.asarray(value, np.float64)))


def flat(value: Any) -> np.ndarray[Any, Any]:
    """The floats of a value in one vector."""
    found = [np.ravel(np.asarray(v, np.float64)) for _, v in leaves(value, ()) if np.result_type(v).kind == "f"]
    return np.concatenate(found) if found else np.zeros(0)


def flat_like(tangent: Any, value: Any) -> np.ndarray[Any, Any]:
    """The parts of a tangent that belong to the floats of a value, in one vector."""
    paths = [path for path, item in leaves(value, ()) if np.result_type(item).kind == "f"]
    found = [np.ravel(np.asarray(_at(tangent, path), np.float64)) for path in paths]
    return np.concatenate(found) if found else np.zeros(0)


def many(value: Any) -> Any:
    """Two tangents or cotangents side by side, the second twice the first."""
    return _mapped(lambda leaf: np.stack([leaf, 2 * leaf], -1), value)


def first_of_many(value: Any) -> Any:
    """The first of tangents or cotangents side by side."""
    return _mapped(lambda leaf: leaf[..., 0], value)


def _mapped(change: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        items = [_mapped(change, item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: _mapped(change, item) for key, item in value.items()}
    return change(np.asarray(value)) if isinstance(value, (np.ndarray, np.generic, float, complex, int)) else value


def contracted(parts: Any, tangents: tuple[Any, ...], value: Any) -> np.ndarray[Any, Any] | None:
    """The product of a Jacobian, one part for each of the tangents, with these; None for one of containers."""
    if not all(isinstance(x, (np.ndarray, np.generic, float)) for x in (value, *parts, *tangents)):
        return None
    total: Any = np.zeros(np.shape(value))
    for part, tangent in zip(parts, tangents, strict=True):
        total = total + np.tensordot(part, tangent, np.ndim(tangent))
    return np.ravel(total) if np.shape(total) == np.shape(value) else None


def differences(
    run: Callable[[tuple[Any, ...]], Any], direction: Direction, step: Callable[[], None]
) -> np.ndarray[Any, Any] | None:
    """The derivative of the floats that ``run`` gives along a direction; None where that is not certain."""
    if not direction.is_fit or direction.has_objects or not direction.by_leaf:
        return None
    found = []
    try:
        for h in STEPS:
            total: Any = 0.0
            for multiple, weight in STENCIL:
                step()
                up, down = (flat(run(direction.moved(sign * multiple * h))) for sign in (1.0, -1.0))
                if up.shape != down.shape:
                    return None
                total = total + weight * (up - down) / h
            found.append(total)
    except NotCopied:
        return None
    except Exception:  # not defined nearby
        return None
    coarse, fine = found
    if coarse.shape != fine.shape or not np.all(np.isfinite(coarse)) or not np.all(np.isfinite(fine)):
        return None
    scale = max(1.0, float(np.max(np.abs(fine), initial=0.0)))
    return fine if np.all(np.abs(coarse - fine) <= 1e-7 * scale) else None


def is_by_choice(primal: ir.Function) -> bool:
    """Whether the derivative of a function is, or may be, another than that of its value: it rounds, is given rules of
    users or policies, or calls what is not known here."""
    for s in ir.walk(primal.body):
        if isinstance(s, ir.Let) and isinstance(s.value, ir.MakeFunction) and is_by_choice(s.value.function):
            return True
        if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and _is_choice(s.value.fn):
            return True
    return False


def _is_choice(fn: ir.Atom) -> bool:
    if not isinstance(fn, ir.Const) or isinstance(fn.value, Chosen):
        return True
    rule = table.find(fn.value)
    if rule is not None:
        return rule.by_user or rule.kind in ("straight_through", "custom") or rule.fn in _CASTS
    module = str(getattr(fn.value, "__module__", None) or "")
    return module.split(".")[0] not in _PLAIN_MODULES and not isinstance(fn.value, type)


_CASTS = (np.ndarray.astype, np.asarray, np.array)
_PLAIN_MODULES = ("builtins", "operator", "_operator", "math", "numpy", "s2s", "None", "")
