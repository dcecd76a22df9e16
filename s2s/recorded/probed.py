"""Calls of compiled functions that nobody knows, and that are affine in what is differentiated, polynomials of it, or
constant near it.

    movement   each number of the result is one of the arguments, or the same whatever they are
    affine     the result is an affine function of each argument, the others held
    polynomial the result is a polynomial of degree four or less of all arguments together (``s2s/recorded/slopes.py``)
    constant   the result is the same, to the last bit, wherever the arguments are a little different, as ranks are

What a function does is asked of itself, by calling it with copies of its arguments that hold other numbers. What it
gave for the arguments as they are must be what was found: so a function that chooses by the numbers is either known
where it is differentiated, or not known at all.
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.core.inspection import is_hashable
from s2s.directives.user_rules import gives_gradient
from s2s.recorded.items import set_item
from s2s.recorded.kinds import is_opaque, plain_array
from s2s.recorded.memory import owner_of
from s2s.recorded.noted import PRIMITIVES, primitive_of
from s2s.recorded.recorder import is_a, kind_of, pack, unpack
from s2s.recorded.slopes import slopes_of_polynomial
from s2s.recorded.state import ACTIVE, as_constants, depends, hides
from s2s.recorded.tools import call, call_method
from s2s.rules import table
from s2s.rules.functions import description_of

__all__ = ["Probe", "is_unknown"]

CALLS = 600
"""How often a function is called at most to find the slopes of an affine one."""

NUMBERS = 2_000_000
"""How many slopes are kept at most for a call."""

TOLERANCE = 1e-11
"""How far an affine function may be from its slopes, relative to the sum of the absolute values of their products."""

_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.ndarray, np.generic, np.dtype, type, slice)

_DRAWING = (np.random.BitGenerator, np.random.SeedSequence)


def is_unknown(fn: Any) -> bool:
    """Whether a function is compiled code of which nothing is known."""
    if is_a(fn, (type, types.FunctionType)) or not is_hashable(fn) or id(fn) in PRIMITIVES or gives_gradient(fn):
        return False
    if getattr(fn, "__self__", None) is not None and not is_a(fn.__self__, types.ModuleType):
        return False
    return table.find(fn) is None and not description_of(fn) and not is_a(fn, types.MethodDescriptorType)


class Probe:
    """A call with the arguments as they are before it, to be asked after it has given ``out``."""

    def __init__(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.fn = fn
        self.leaves: list[Any] = []
        self.structure = pack((args, kwargs), self.leaves)
        self.before = [plain_array(leaf).copy(order="K") if is_a(leaf, np.ndarray) else leaf for leaf in self.leaves]
        moves = [is_a(leaf, (np.ndarray, float, np.floating)) and depends(leaf) for leaf in self.leaves]
        self.moving = [k for k, is_moved in enumerate(moves) if is_moved]
        for k in self.moving:
            self.before[k] = np.asarray(self.before[k])
        others = [leaf for leaf, is_moved in zip(self.leaves, moves) if not (is_moved or is_a(leaf, np.ndarray))]
        self.filled: list[int] = []
        self.views: set[int] = set()  # which results are views of arguments, and known where these are
        self.can_ask = bool(self.moving) and all(_is_real(self.before[k]) for k in self.moving)
        self.can_ask = self.can_ask and all(map(_is_still, others))
        self.can_ask = self.can_ask and not depends(others) and not hides(tuple(others), {})
        self.can_ask = self.can_ask and not any(kind_of(a) in "OcV" for a in self.leaves if is_a(a, np.ndarray))

    def fills(self) -> bool:
        """Whether the call has filled an array with the very numbers that were there before, as memory that is taken
        again may hold them, or scaling by one leaves them: with other arguments it fills it with others."""
        targets = [k for k, a in enumerate(self.leaves) if is_a(a, np.ndarray) and _is_real(a)]
        if not (self.can_ask and any(self.leaves[k].size and self.leaves[k].flags.writeable for k in targets)):
            return False
        draws, after = np.random.default_rng(14), dict[int, Any]()
        moved = [draws.standard_normal(self.before[k].shape).astype(self.before[k].dtype) for k in self.moving]
        with contextlib.suppress(Exception), np.errstate(all="ignore"):
            self._at(moved, lambda k: True, after)
        given = {**dict(enumerate(self.before)), **dict(zip(self.moving, moved))}
        self.filled = [k for k in targets if k in after and not _same(given[k], after[k])]
        return bool(self.filled)

    def answer(self, out: Any) -> tuple[bool, Any]:
        """Whether the call is known now, and its result, of which all recordings know. What it has changed in its
        arguments is noted, too."""
        if not self.can_ask:
            return False, None
        arrays = [k for k, leaf in enumerate(self.leaves) if is_a(leaf, np.ndarray)]
        results: list[Any] = []
        made = pack(out, results)
        given = {id(owner_of(self.leaves[k])) for k in arrays}
        self.views = {n for n, one in enumerate(results) if is_a(one, np.ndarray) and id(owner_of(one)) in given}
        own = [n for n in range(len(results)) if n not in self.views]
        whole = _Outputs([results[n] for n in own], [self.leaves[k] for k in arrays])
        if not whole.is_plain or any(np.may_share_memory(results[n], self.leaves[k]) for n in own for k in arrays):
            return False, None
        try:
            with np.errstate(all="ignore"):
                found = self._movement(whole) or self._affine(whole) or self._polynomial(whole)
                is_constant = found is None and self._is_constant([results[n] for n in own])
        except Exception:  # a function may refuse other numbers in any way
            return False, None
        if found is None and not is_constant:
            return False, None
        changed = [k for k in arrays if k in self.filled or not _same(self.before[k], plain_array(self.leaves[k]))]
        after = {k: plain_array(self.leaves[k]).copy() for k in changed}
        for k in changed:  # what is differentiated, as it was before the call
            plain_array(self.leaves[k])[...] = self.before[k]
        if found is None:
            for k in changed:
                set_item(after[k], plain_array(self.leaves[k]), ...)
            return True, out
        moving = [call(np.array, plain_array(self.leaves[k])) for k in self.moving]
        parts = whole.split(call(found[0], *moving, *found[1]))
        for part, k in zip(parts[len(own):], arrays):
            if k in changed:
                set_item(part if _is_real(self.leaves[k]) else after[k], plain_array(self.leaves[k]), ...)
        for n, part in zip(own, parts):
            if whole.carries(results[n]):
                results[n] = part if is_a(results[n], np.ndarray) else call_method(part, "item")
        return True, unpack(made, results)

    def _at(
        self, values: list[np.ndarray[Any, Any]], is_seen: Callable[[int], bool] = lambda k: True,
        after: dict[int, Any] | None = None,
    ) -> tuple[np.ndarray[Any, Any], list[Any]]:
        """What the function gives for other numbers, as one array, and leaves in the arrays that are seen; and what it
        gives that are no such numbers."""
        leaves = [leaf.copy(order="K") if is_a(leaf, np.ndarray) else leaf for leaf in self.before]
        for k, value in zip(self.moving, values):
            leaves[k][...] = value.reshape(leaves[k].shape)
            if not is_a(self.leaves[k], np.ndarray):
                leaves[k] = type(self.leaves[k])(leaves[k])
        args, kwargs = unpack(self.structure, leaves)
        out = as_constants(self.fn, *args, **kwargs)
        if after is not None:
            after.update(enumerate(leaves))
        results: list[Any] = []
        pack(out, results)
        results = [one for n, one in enumerate(results) if n not in self.views]
        whole = _Outputs(results, [leaf for k, leaf in enumerate(leaves) if is_a(leaf, np.ndarray) and is_seen(k)])
        return whole.numbers, whole.others

    def _movement(self, whole: _Outputs) -> tuple[Any, list[Any]] | None:
        """The call as a choice among the numbers of its arguments, if it is one: whatever they are, or by their order.
        """
        flat = np.concatenate([self.before[k].ravel() for k in self.moving])
        draws = np.random.default_rng(11)
        labels = [draws.standard_normal(flat.size).astype(flat.dtype) for _ in range(2)]
        if not flat.size or any(np.unique(one).size < flat.size for one in labels):
            return None
        found = self._chosen(whole, flat, labels)
        if found is None and np.unique(flat).size == flat.size:
            ranks = np.argsort(np.argsort(flat))
            found = self._chosen(whole, flat, [np.sort(one)[ranks] for one in labels])
        return found

    def _chosen(
        self, whole: _Outputs, flat: np.ndarray[Any, Any], labels: list[np.ndarray[Any, Any]]
    ) -> tuple[Any, list[Any]] | None:
        """The call as a choice among the numbers ``flat``, if it is one for two sets of labels of these."""
        first, second = (self._at(self._parts(one)) for one in labels)
        if not (_is_like(first[1], whole.others) and _is_like(second[1], whole.others)):
            return None
        order = np.argsort(labels[0])
        place = order[np.minimum(np.searchsorted(labels[0], first[0], sorter=order), flat.size - 1)]
        is_moved = labels[0][place] == first[0]
        for values, found in ((labels[1], second[0]), (flat, whole.numbers)):
            if not _same(np.where(is_moved, values[place], first[0]), found):
                return None
        return _written(_MOVED, len(self.moving)), [place, is_moved, whole.numbers]

    def _is_constant(self, results: list[Any]) -> bool:
        """Whether the result, and what is left in the arrays that are not differentiated, is the same near the
        arguments, and these are left as they are."""
        if not all(_same(self.before[k], np.asarray(plain_array(self.leaves[k]))) for k in self.moving):
            return False
        arrays = [a for k, a in enumerate(self.leaves) if is_a(a, np.ndarray) and k not in self.moving]
        whole, draws = _Outputs(results, arrays), np.random.default_rng(13)
        for size in (1e-4, 1e-6, 1e-6):
            scales = [1.0 + size * draws.uniform(-1.0, 1.0, self.before[k].shape) for k in self.moving]
            moved = [scale * self.before[k] for scale, k in zip(scales, self.moving)]
            numbers, others = self._at(moved, lambda k: k not in self.moving)
            if not (_is_like(others, whole.others) and _same(numbers, whole.numbers)):
                return False
        return True

    def _affine(self, whole: _Outputs) -> tuple[Any, list[Any]] | None:
        """The call by its slopes, if it is affine in each array that is differentiated; with several of these, for a
        derivative of first order only."""
        sizes = [self.before[k].size for k in self.moving]
        dtypes = {self.before[k].dtype for k in self.moving}
        if sum(sizes) > CALLS or sum(sizes) * whole.numbers.size > NUMBERS or dtypes != {np.dtype(float)}:
            return None
        if (len(sizes) > 1 and len(ACTIVE) > 1) or not np.isfinite(whole.numbers).any():
            return None
        slopes = [self._slopes(n, whole) for n in range(len(self.moving))]
        if any(one is None for one in slopes):
            return None
        pairs = [part for one, k in zip(slopes, self.moving) for part in (one, self.before[k].ravel())]
        return _written(_AFFINE, len(self.moving)), [*pairs, whole.numbers]

    def _polynomial(self, whole: _Outputs) -> tuple[Any, list[Any]] | None:
        """The call by its slopes where the arguments are, if it is a polynomial of low degree: for a derivative of
        first order only, as the slopes elsewhere are others."""
        flat = np.concatenate([self.before[k].ravel() for k in self.moving])
        is_float = {self.before[k].dtype for k in self.moving} == {np.dtype(float)}
        if len(ACTIVE) > 1 or not is_float or flat.size > CALLS or flat.size * whole.numbers.size > NUMBERS:
            return None

        def at(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
            found, others = self._at(self._parts(value))
            return found if _is_like(others, whole.others) else None

        slopes = slopes_of_polynomial(at, flat, whole.numbers)
        if slopes is None:
            return None
        parts = zip(np.split(slopes, np.cumsum([self.before[k].size for k in self.moving])[:-1], axis=1), self.moving)
        pairs = [part for one, k in parts for part in (one, self.before[k].ravel())]
        return _written(_AFFINE, len(self.moving)), [*pairs, whole.numbers]

    def _slopes(self, n: int, whole: _Outputs) -> np.ndarray[Any, Any] | None:
        """The derivatives of all outputs by one array, in which the call is affine; None if it is not. An output that
        is no finite number, as at the start of a moving window, must be the same whatever the array is."""
        is_finite = np.isfinite(whole.numbers)
        x = self.before[self.moving[n]].ravel()
        scale = float(2.0 ** np.round(np.log2(np.max(np.abs(x), initial=0.0) or 1.0)))

        def at(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
            found, others = self._at([value if m == n else self.before[k] for m, k in enumerate(self.moving)])
            if not _is_like(others, whole.others):
                return None
            if not _same(found[~is_finite], whole.numbers[~is_finite]):
                return None
            return np.where(is_finite, found, 0.0)

        base = at(np.zeros_like(x))
        if base is None:
            return None
        slopes = np.empty((whole.numbers.size, x.size))
        for i in range(x.size):
            found = at(scale * (np.arange(x.size) == i))
            if found is None:
                return None
            slopes[:, i] = (found - base) / scale
        draws = np.random.default_rng(12)
        for value in (x, *(scale * draws.standard_normal((2, x.size)))):
            found = np.where(is_finite, whole.numbers, 0.0) if value is x else at(value)
            allowed = TOLERANCE * (np.abs(slopes) @ np.abs(value) + np.abs(base))
            if found is None or not np.all(np.abs(base + slopes @ value - found) <= allowed):
                return None
        return slopes

    def _parts(self, flat: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
        ends = np.cumsum([self.before[k].size for k in self.moving])
        return np.split(flat, ends[:-1])


def _is_still(leaf: Any) -> bool:
    """Whether a call with a value leaves it as it is: one without parts, or of a class that is compiled itself."""
    if is_a(leaf, _PLAIN):
        return True
    return is_opaque(leaf) and not callable(leaf) and not hasattr(leaf, "__next__") and not is_a(leaf, _DRAWING)


class _Outputs:
    """What a call gives: real numbers and arrays of them, in its result and then in its arguments; and the rest."""

    def __init__(self, results: list[Any], arrays: list[Any]) -> None:
        self.leaves = [*results, *map(plain_array, arrays)]
        self.is_plain = all(is_a(leaf, _PLAIN) for leaf in results)
        self.is_plain = self.is_plain and not any(
            is_a(leaf, np.ndarray) and (type(leaf) is not np.ndarray or kind_of(leaf) in "OcV") for leaf in self.leaves)
        self.is_plain = self.is_plain and not any(is_a(leaf, (complex, np.complexfloating)) for leaf in results)
        numbers = [np.ravel(leaf).astype(float) for leaf in self.leaves if self.carries(leaf)]
        self.numbers = np.concatenate(numbers) if numbers else np.zeros(0)
        self.others = [np.shape(leaf) if self.carries(leaf) else leaf for leaf in self.leaves]

    @staticmethod
    def carries(leaf: Any) -> bool:
        return is_a(leaf, (float, np.floating)) or (is_a(leaf, np.ndarray) and kind_of(leaf) == "f")

    def split(self, flat: Any) -> list[Any]:
        """The leaves, those with numbers made of one array."""
        made, start = [], 0
        for leaf in self.leaves:
            if not self.carries(leaf):
                made.append(leaf)
                continue
            part = call(np.array, flat[start : start + np.size(leaf)], dtype=np.result_type(leaf))
            made.append(call(np.reshape, part, np.shape(leaf)))
            start += np.size(leaf)
        return made


def _is_real(leaf: Any) -> bool:
    return kind_of(leaf) == "f"


def _same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    return a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))


def _is_like(one: list[Any], other: list[Any]) -> bool:
    """Whether what two calls give beside real numbers is the same, and so are the shapes of these."""
    return len(one) == len(other) and all(
        type(a) is type(b) and (_same(a, b) if is_a(a, np.ndarray) else bool(a == b)) for a, b in zip(one, other)
    )


@functools.lru_cache(64)
def _written(text: str, count: int) -> Any:
    """A function of so many arrays that are differentiated, one step of a recording."""

    def listed(one: str) -> str:
        return ", ".join(one.format(k=k) for k in range(count))

    terms = " + ".join(f"a{k} @ np.where(np.isfinite(b{k}), x{k}.ravel() - b{k}, 0.0)" for k in range(count))
    parts = {"xs": listed("x{k}"), "flat": listed("x{k}.ravel()"), "slopes": listed("a{k}, b{k}"), "terms": terms}
    return primitive_of(text.format_map(parts), "probed", {})


_MOVED = """def probed({xs}, place, is_moved, out):
    return np.where(is_moved, np.concatenate(({flat},))[place], out)
"""
_AFFINE = """def probed({xs}, {slopes}, out):
    return out + ({terms})
"""
