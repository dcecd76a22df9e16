"""Cotangents back over the steps of a recording, or tangents forward.

What is computed here is computed with the tools that watched code has: another recording, around this one, sees it.
"""

from __future__ import annotations

import cmath
import functools
import math
import operator
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.derivatives import derivative
from s2s.dynamic_calls import _by_position
from s2s.recorded import memory, operations
from s2s.recorded.memory import Place
from s2s.recorded.recorder import (
    Arithmetic,
    Leaf,
    Plain,
    Read,
    Recorder,
    Ref,
    Step,
    Store,
    has_own_class,
    number_type,
    pack,
    unpack,
)
from s2s.recorded.values_read import names_by_position, parameters_of_body
from s2s.rules import table
from s2s.tangents import jvp

__all__ = ["Backward", "Forward"]

binary, unary, call = operations.binary, operations.unary, operations.call


class _Sweep:
    """What each slot and each piece of memory has by now."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.numbers: dict[int, Any] = {}
        self.shadows: dict[int, Any] = {}
        self.whole: dict[int, tuple[Place, Any]] = {}
        """Cotangents of whole arrays, which nothing changes, until a part of one is asked for."""

    def view(self, place: Place) -> Any:
        """The shadow of an array, made where there is none."""
        if place.owner not in self.shadows:
            self.shadows[place.owner] = shadow = memory.new_shadow(self.recorder.memories[place.owner])
            if place.owner in self.whole:
                every, bar = self.whole.pop(place.owner)
                memory.view_at(shadow, every)[...] = bar
        return memory.view_at(self.shadows[place.owner], place)

    def has(self, ref: Ref) -> bool:
        """Whether anything has come to a value."""
        if isinstance(ref, Place):
            return ref.owner in self.shadows or ref.owner in self.whole
        return ref in self.numbers

    def value(self, ref: Ref) -> Any:
        """What has come to a value, None for nothing."""
        if isinstance(ref, Place):
            if not self.has(ref):
                return None
            if ref.owner in self.whole and ref.is_whole:
                return np.array(self.whole_of(ref))
            found = call(np.array, self.view(ref))
            return _conjugate(found) if self.is_reverse else found
        return self.numbers.get(ref) if ref is not None else None  # type: ignore[arg-type]

    def whole_of(self, place: Place) -> Any:
        """The cotangent of a whole array, as nothing changes it."""
        return self.whole[place.owner][1].reshape(place.shape)

    is_reverse = True


def _conjugate(bar: Any) -> Any:
    """The conjugate of a complex cotangent. Memory has conjugates, so that the real and the imaginary part of an array
    are views of its shadow as they are of the array."""
    return bar if isinstance(bar, float) or not np.iscomplexobj(bar) else call(np.conj, bar)


class Backward(_Sweep):
    """Reverse mode: ``add`` what is asked for, ``run``, and read ``value`` at the inputs. ``has_left_out`` says whether
    there was a product that is inf or NaN, which is zero where one of its factors is, as the recorder allows it. It is
    set for any such product: another sweep over the same steps may have the zero there."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder)
        self.has_left_out = False
        self._at = 0

    def times(self, bar: Any, slope: Any, op: Any = operator.mul) -> Any:
        """A cotangent times the slope of a number, or divided by a number; zero where one of them is, if zeros are
        strong, or where the cotangent that is divided is."""
        made = binary(op, bar, slope)
        if not self.recorder.has_strong_zeros or cmath.isfinite(made):
            return made
        return self.leave_out(made, 0.0 if bar == 0 or (slope == 0 and op is operator.mul) else made)

    def leave_out(self, made: Any, kept: Any) -> Any:
        """Note where products that are inf or NaN are taken for zero: what is ``kept`` of those that were ``made``."""
        self.has_left_out = True
        if not operations.ACTIVE:
            places = (np.isfinite(one).tobytes() for one in (made, kept))
            self.recorder.left_out.append(hash((self._at, *places)))
        return kept

    def add(self, ref: Ref, bar: Any) -> None:
        """Add to the cotangent of a value."""
        if bar is None or ref is None:
            return
        if isinstance(ref, Place):
            if not (ref.is_whole and self._add_whole(ref, bar)):
                self._add_to_memory(ref, bar)
        elif ref in self.numbers:
            self.numbers[ref] = binary(operator.add, self.numbers[ref], bar)
        else:
            self.numbers[ref] = bar

    def _add_whole(self, place: Place, bar: Any) -> bool:
        """Add to the cotangent of an array of real numbers, if nobody has asked for a part of it."""
        if operations.ACTIVE or place.owner in self.shadows or place.dtype.kind != "f":
            return False
        if type(bar) is not np.ndarray or bar.dtype != place.dtype or bar.shape != place.shape:
            return False
        self.whole[place.owner] = place, self.whole_of(place) + bar if place.owner in self.whole else bar
        return True

    def _add_to_memory(self, place: Place, bar: Any) -> None:
        if np.iscomplexobj(bar):
            bar = _conjugate(bar) if place.dtype.kind == "c" else call(np.real, bar)
        view = self.view(place)
        if place.overlaps:
            where = memory.positions(self.shadows[place.owner], place)
            size = place.dtype.itemsize
            count = self.shadows[place.owner].size // size
            flat = np.ndarray((count,), place.dtype, self.shadows[place.owner])
            call(np.add.at, flat, where, call(np.broadcast_to, bar, where.shape))
        else:
            operations.inplace(operator.iadd, view, bar)

    def run(self) -> None:
        """Sweep all steps, the last one first."""
        for at in range(len(self.recorder.steps) - 1, -1, -1):
            self._at, step = at, self.recorder.steps[at]
            _PULL[type(step)](self, step)


def _pull_arithmetic(sweep: Backward, s: Arithmetic) -> None:
    bar = sweep.numbers.pop(s.slot, None)  # type: ignore[arg-type]
    if bar is None:
        return
    op, a, b = s.op, s.a, s.b
    if op is operator.pos:
        one, other = bar if operations.ACTIVE or has_own_class(a) else rt.cast(bar, a), None
    elif op is operator.add:
        one, other = bar, bar
    elif op is operator.sub:
        one, other = bar, None if s.other is None else unary(operator.neg, bar)
    elif op is operator.neg:
        one, other = unary(operator.neg, bar), None
    elif op is operator.mul:
        one = None if s.one is None else sweep.times(bar, b)
        other = None if s.other is None else sweep.times(bar, a)
    elif op is operator.truediv:
        one = sweep.times(bar, b, operator.truediv)
        other = None if s.other is None else unary(operator.neg, sweep.times(one, s.out))
    else:
        one = other = None
        if s.one is not None:
            less = binary(operator.pow, a, binary(operator.sub, b, 1))
            one = sweep.times(binary(operator.mul, bar, b), less)
        if s.other is not None:
            logarithm = call(math.log, a) if a > 0 else 0.0
            other = sweep.times(sweep.times(bar, s.out), logarithm)
    if s.one is not None:
        sweep.add(s.one, one)
    if s.other is not None:
        sweep.add(s.other, other)


def _pull_read(sweep: Backward, s: Read) -> None:
    bar = sweep.value(s.ref)
    if bar is None:
        return
    sweep.numbers.pop(s.ref, None)  # type: ignore[arg-type]
    view, bar = sweep.view(s.place), _conjugate(bar)
    if s.place.overlaps:
        where = memory.positions(sweep.shadows[s.place.owner], s.place)[s.index]
        count = sweep.shadows[s.place.owner].size // s.place.dtype.itemsize
        call(np.add.at, np.ndarray((count,), s.place.dtype, sweep.shadows[s.place.owner]), where, bar)
    elif isinstance(s.out, np.ndarray):
        call(np.add.at, view, s.index, bar)
    elif not operations.ACTIVE:
        view[s.index] += bar
    else:
        before = operations.get_item(view, s.index)
        operations.set_item(binary(operator.add, before, bar), view, s.index)


def _pull_store(sweep: Backward, s: Store) -> None:
    if not sweep.has(s.place):
        return
    view = sweep.view(s.place)
    bar = operations.get_item(view, s.index)
    if isinstance(bar, np.ndarray):
        bar = call(np.array, bar)
    operations.set_item(0.0, view, s.index)
    if s.ref is None:
        return
    if isinstance(bar, np.ndarray):
        last = _written_last(s.place, s.index)
        if last is not None:
            bar = binary(operator.mul, bar, last)
        bar = _summed(bar, s.shape)
    bar = _conjugate(bar)
    if np.iscomplexobj(bar) and not np.iscomplexobj(s.value):
        bar = call(np.real, bar)
    sweep.add(s.ref, bar)


def _written_last(place: Place, index: Any) -> np.ndarray[Any, Any] | None:
    """For a store at places that may come twice, where the value is the one that stays; None where all are."""
    parts = index if isinstance(index, tuple) else (index,)
    if not any(isinstance(p, list) or (isinstance(p, np.ndarray) and p.dtype.kind != "b") for p in parts):
        return None
    numbers = np.arange(math.prod(place.shape)).reshape(place.shape)[index]
    order = np.empty(math.prod(place.shape), int)
    order[numbers.ravel()] = np.arange(numbers.size)
    return (order[numbers] == np.arange(numbers.size).reshape(numbers.shape)).astype(float)


def _summed(bar: Any, shape: tuple[int, ...]) -> Any:
    """A cotangent of a value that was broadcast."""
    if bar.shape == shape:
        return bar
    extra = bar.ndim - len(shape)
    if extra > 0:
        bar = call(np.sum, bar, axis=tuple(range(extra)))
    axes = tuple(k for k, n in enumerate(shape) if n == 1 and np.shape(bar)[k] != 1)
    if axes:
        bar = call(np.sum, bar, axis=axes, keepdims=True)
    return bar if np.shape(bar) == shape else call(np.reshape, bar, shape)


def _pull_plain(sweep: Backward, s: Plain) -> None:
    """Sweep back over a function by the bodies of its rule, which run here where no recording around this one is to see
    how they compute."""
    ref = s.out_refs[0]
    if operations.ACTIVE or (isinstance(ref, Place) and not (ref.is_whole and ref.owner in sweep.whole)):
        _pull_step(sweep, s)
        return
    bar = sweep.whole_of(ref) if isinstance(ref, Place) else sweep.numbers.get(ref)  # type: ignore[arg-type]
    if bar is None:
        return
    found = _by_rule(s, bar)
    if found is None:
        _pull_step(sweep, s)
        return
    if isinstance(ref, Place):
        del sweep.whole[ref.owner]
    else:
        del sweep.numbers[ref]  # type: ignore[arg-type]
    for structure, one in found:
        sweep.add(s.refs[structure.number], _without_slopes(sweep, s, [bar], structure, one))


def _by_rule(s: Plain, bar: Any) -> list[tuple[Leaf, Any]] | None:
    """The arguments that are differentiated, each with its cotangent; None where the rule has no body for one, or what
    that gives is not as the argument is."""
    rule = table.find(s.fn)
    if rule is None or rule.by_user or rule.given or rule.takes_none or rule.requires is not None:
        return None
    if rule.kind == "partials":
        return _by_partials(s, bar, rule.partials)
    names = names_by_position(s.fn, len(s.args))
    if names is None:
        return None
    parts = {**dict(zip(names, s.args)), **s.kwargs}
    values = {"y": s.leaves[-1], **_defaults_of(s.fn), **{n: unpack(part, s.leaves) for n, part in parts.items()}}
    values["y_bar"] = bar
    found = []
    for name, part in parts.items():
        if not _has_ref(s, part):
            continue
        body = rule.cotangents.get(name)
        if body is None or table.is_refusal(body) or type(part) is not Leaf:
            return None
        one, leaf = body(*[values[key] for key in parameters_of_body(body)]), s.leaves[part.number]
        if np.shape(one) != np.shape(leaf) or np.iscomplexobj(one):
            return None
        found.append((part, _like(one, leaf)))
    return found


def _by_partials(s: Plain, bar: Any, partials: tuple[Any, ...]) -> list[tuple[Leaf, Any]] | None:
    """The same for an elementwise function."""
    *values, out = s.leaves
    found = []
    for part, leaf, ref, partial in zip(s.args, values, s.refs, partials):
        if ref is not None and partial is None:
            return None
        if ref is not None:
            slope = partial(out, *values)
            found.append((part, _like(bar if type(slope) is float and slope == 1.0 else bar * slope, leaf)))
    return found


@functools.lru_cache(1024)
def _defaults_of(fn: Any) -> dict[str, Any]:
    """What the parameters of a function are that a call leaves out."""
    known = table.find(fn).params.parameters  # type: ignore[union-attr]
    return {name: () if p.kind is p.VAR_POSITIONAL else p.default for name, p in known.items()}


def _like(bar: Any, leaf: Any) -> Any:
    """The cotangent of an operand that was broadcast, as a number or an array as it is."""
    if type(leaf) is not np.ndarray:
        return type(leaf)(bar if np.ndim(bar) == 0 else np.sum(bar))
    made = np.asarray(bar)
    return _summed(made, leaf.shape).astype(leaf.dtype, copy=False)


def _pull_step(sweep: Backward, s: Step) -> None:
    if not any(ref is not None and sweep.has(ref) for ref in s.out_refs):
        return
    bars = [
        zeros_of(leaf) if ref is None or not sweep.has(ref) else _once(sweep, ref)
        for leaf, ref in zip(s.outs, s.out_refs)
    ]
    for ref in s.out_refs:
        if ref is not None and not isinstance(ref, Place):
            sweep.numbers.pop(ref, None)
    for structure, bar in pulled(s, unpack(s.result, bars)):
        _add_all(sweep, s, structure, _without_slopes(sweep, s, bars, structure, bar))


def zeros_of(leaf: Any) -> Any:
    """The zero cotangent of a value; of a number of a class of its own it is a number of Python."""
    return number_type(leaf)(0.0) if has_own_class(leaf) else rt.zeros_of(leaf)


def _once(sweep: Backward, ref: Ref) -> Any:
    """The cotangent of a result. Of elements that are one in memory, the first has that of all of them."""
    bar = sweep.value(ref)
    if not isinstance(ref, Place) or not ref.overlaps:
        return bar
    where = memory.positions(sweep.shadows[ref.owner], ref)
    is_first = np.zeros(where.size, bool)
    is_first[np.unique(where, return_index=True)[1]] = True
    return call(np.where, is_first.reshape(where.shape), bar, 0.0)


def _without_slopes(sweep: Backward, s: Step, bars: list[Any], structure: Any, bar: Any) -> Any:
    """The cotangent of an argument of an elementwise function, zero where that of the result is, or where the slope is:
    what is inf or NaN there does not reach it, as where a mask leaves out what was computed from negative numbers."""
    if not isinstance(bar, np.ndarray) or bar.dtype.kind not in "fc" or np.isfinite(bar).all():
        return bar
    if not sweep.recorder.has_strong_zeros:
        return bar
    if s.fn in _PRODUCTS and not operations.ACTIVE:
        return sweep.leave_out(bar, _of_product(s, bars, structure, bar))
    rule = table.find(s.fn)
    if rule is None or rule.kind != "partials" or len(bars) != 1 or np.shape(bars[0]) != bar.shape:
        return bar
    is_zero = binary(operator.eq, bars[0], 0.0)
    if not np.isfinite(bars[0]).all():
        ones = call(np.ones_like, bars[0])
        slope = next(one for part, one in pulled(s, unpack(s.result, [ones])) if part is structure)
        is_zero = binary(operator.or_, is_zero, binary(operator.eq, slope, 0.0))
    return sweep.leave_out(bar, call(np.where, is_zero, 0.0, bar))


_PRODUCTS = frozenset({
    operator.matmul, np.matmul, np.dot, np.inner, np.outer, np.tensordot, np.einsum, np.vdot, np.kron, np.ndarray.dot})
"""Functions that are sums of products of elements of their arguments."""


def _of_product(s: Step, bars: list[Any], structure: Any, bar: Any) -> Any:
    """The cotangent of an argument of sums of products: what is inf or NaN comes to it from a factor that is not zero
    alone, as where rows of a table that are NaN are computed, and not read."""

    def summed(change: Any, changed: Any) -> Any:
        """The cotangent where the arguments and the cotangent of the result are others."""
        step = Step(s.fn, (), {})
        step.args, step.kwargs, step.refs, step.result = s.args, s.kwargs, s.refs, s.result
        step.leaves = [change(leaf) if _is_inexact(leaf) else leaf for leaf in s.leaves]
        return next(one for part, one in pulled(step, unpack(s.result, list(map(changed, bars)))) if part is structure)

    def odd(x: Any) -> Any:
        return np.where(np.isfinite(x), 0.0, 1.0).astype(np.result_type(x))[()]

    def own(x: Any) -> Any:
        return np.where(x == 0, 0.0, 1.0).astype(np.result_type(x))[()]

    even = summed(lambda x: np.where(np.isfinite(x), x, 0.0)[()], lambda x: np.where(np.isfinite(x), x, 0.0)[()])
    reached = (np.real(summed(odd, own)) > 0.0) | (np.real(summed(own, odd)) > 0.0)
    return np.where(reached, bar, even)


def _is_inexact(leaf: Any) -> bool:
    return isinstance(leaf, (float, complex, np.inexact)) or (isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc")


def _add_all(sweep: Backward, s: Step, structure: Any, bar: Any) -> None:
    if bar is None or bar is rt.CAPTURED or bar is rt.INTEGER or bar is rt.OF_TEXT:
        return
    if type(structure) is Leaf:
        sweep.add(s.refs[structure.number], bar)
    elif isinstance(structure, dict):
        for key, part in structure.items():
            _add_all(sweep, s, part, bar[key])
    else:
        for part, one in zip(structure, bar):
            _add_all(sweep, s, part, one)


def _moving(s: Step) -> tuple[tuple[Any, ...], dict[str, Any], tuple[Any, ...], tuple[int, ...]]:
    """The arguments of a step by position and by name, their structures, and which of them are differentiated."""
    leaves = [call(number_type(leaf), leaf) if has_own_class(leaf) else leaf for leaf in s.leaves]
    args = tuple(unpack(arg, leaves) for arg in s.args)
    kwargs = {key: unpack(arg, leaves) for key, arg in s.kwargs.items()}
    structures = list(s.args)
    if any(_has_ref(s, arg) for arg in s.kwargs.values()):
        args, places = _by_position(s.fn, args, kwargs)
        structures += [None] * (len(args) - len(structures))
        for name, place in places.items():
            structures[place] = s.kwargs.get(name)
        kwargs = {key: value for key, value in kwargs.items() if key not in places}
    argnums = tuple(k for k, arg in enumerate(structures) if arg is not None and _has_ref(s, arg))
    return args, kwargs, tuple(structures), argnums


def _has_ref(s: Step, structure: Any) -> bool:
    if type(structure) is Leaf:
        return s.refs[structure.number] is not None
    parts = structure.values() if isinstance(structure, dict) else structure
    return any(_has_ref(s, part) for part in parts)


def pulled(s: Step, bar: Any) -> list[tuple[Any, Any]]:
    """The structures of the arguments of a step that are differentiated, each with its cotangent."""
    args, kwargs, structures, argnums = _moving(s)
    if operations.ACTIVE:
        found = call(_pull_of(s.fn, argnums, len(args), tuple(kwargs)), bar, *args, **kwargs)
    else:
        _, pullback = derivative("vjp", s.fn, argnums, False, "zeros", len(args), "")(*args, **kwargs)
        found = pullback(bar)
        found = tuple(found[k] for k in argnums)
    return [(structures[k], one) for k, one in zip(argnums, found)]


@functools.lru_cache(256)
def _pull_of(fn: Any, argnums: tuple[int, ...], count: int, names: tuple[str, ...]) -> Any:
    """The function of a cotangent and arguments that gives the cotangents of some of them, to be differentiated."""
    own = [f"x{k}" for k in range(count)]
    moving = [f"x{k}" for k in argnums]
    named = ", ".join([*own, *(f"{n}={n}" for n in names)])
    lines = [
        f"def pull(bar, {', '.join([*own, *names])}):",
        f"    out, back = vjp(lambda {', '.join(moving)}: fn({named}), {', '.join(moving)})",
        "    return back(bar)",
    ]
    return operations.primitive_of("\n".join(lines) + "\n", "pull", {"fn": fn})


class Forward(_Sweep):
    """Forward mode: ``set`` what the inputs have, ``run``, and read ``value`` at the results. If zeros are strong, the
    tangent of a number that does not move adds nothing, even where the slope by it is inf or NaN."""

    is_reverse = False

    def __init__(self, recorder: Recorder, has_strong_zeros: bool = False) -> None:
        super().__init__(recorder)
        self.has_strong_zeros = has_strong_zeros

    def set(self, ref: Ref, dot: Any) -> None:
        """Say what the tangent of a value is."""
        if ref is None:
            return
        if isinstance(ref, Place):
            operations.set_item(dot, self.view(ref), ...)
        else:
            self.numbers[ref] = dot

    def run(self) -> None:
        """Sweep all steps, the first one first."""
        for step in self.recorder.steps:
            _PUSH[type(step)](self, step)


def _push_arithmetic(sweep: Forward, s: Arithmetic) -> None:
    one, other = sweep.value(s.one), sweep.value(s.other)
    if one is None and other is None:
        return
    op, a, b = s.op, s.a, s.b
    if sweep.has_strong_zeros:
        one, other = (None if dot is not None and dot == 0 else dot for dot in (one, other))
        if one is None and other is None:
            sweep.numbers[s.slot] = 0.0  # type: ignore[index]
            return
    mul = functools.partial(binary, operator.mul)
    if op is operator.pos:
        terms = [number_type(s.out)(one) if not operations.ACTIVE else one, None]
    elif op in (operator.add, operator.sub):
        terms = [one, None if other is None else other if op is operator.add else unary(operator.neg, other)]
    elif op is operator.neg:
        terms = [unary(operator.neg, one), None]
    elif op is operator.mul:
        terms = [None if one is None else mul(one, b), None if other is None else mul(a, other)]
    elif op is operator.truediv:
        terms = [
            None if one is None else binary(operator.truediv, one, b),
            None if other is None else unary(operator.neg, binary(operator.truediv, mul(s.out, other), b)),
        ]
    else:
        terms = [None, None]
        if one is not None:
            terms[0] = mul(mul(one, b), binary(operator.pow, a, binary(operator.sub, b, 1)))
        if other is not None:
            terms[1] = mul(mul(other, s.out), call(math.log, a) if a > 0 else 0.0)
    there = [term for term in terms if term is not None]
    sweep.numbers[s.slot] = there[0] if len(there) == 1 else binary(operator.add, *there)  # type: ignore[index]


def _push_read(sweep: Forward, s: Read) -> None:
    if sweep.has(s.place):
        sweep.set(s.ref, operations.get_item(sweep.view(s.place), s.index))


def _push_store(sweep: Forward, s: Store) -> None:
    dot = sweep.value(s.ref)
    if dot is not None or sweep.has(s.place):
        operations.set_item(0.0 if dot is None else dot, sweep.view(s.place), s.index)


def _push_step(sweep: Forward, s: Step) -> None:
    dots = [None if ref is None else sweep.value(ref) for ref in s.refs]
    if not any(dot is not None for dot in dots):
        return
    filled = [zeros_of(leaf) if dot is None and _carries(leaf) else dot for leaf, dot in zip(s.leaves, dots)]
    args, kwargs, structures, argnums = _moving(s)
    tangents = tuple(unpack(structures[k], filled) if k in argnums else None for k in range(len(args)))
    if operations.ACTIVE:
        given = tuple(tangents[k] for k in argnums)
        out_dot = call(_push_of(s.fn, argnums, len(args), tuple(kwargs)), given, *args, **kwargs)
    elif sweep.has_strong_zeros and (rule := table.find(s.fn)) is not None and rule.kind == "partials":
        out_dot = _moved_by_each(s, args, kwargs, tangents, argnums)
    else:
        out_dot = jvp(s.fn, args, tangents, False, kwargs, "")[1]
    found: list[Any] = []
    pack(out_dot, found)
    for ref, dot in zip(s.out_refs, found):
        sweep.set(ref, dot)


def _moved_by_each(s: Step, args: Any, kwargs: Any, tangents: Any, argnums: tuple[int, ...]) -> Any:
    """The tangent of an elementwise function, the sum of those by each argument, zero where that one does not move."""
    total: Any = 0.0
    for k in argnums:
        along = tuple(dot if i == k else None for i, dot in enumerate(tangents))
        part = jvp(s.fn, args, along, False, kwargs, "")[1]
        total = total + np.where(np.equal(tangents[k], 0.0), 0.0, part)
    return total


def _carries(leaf: Any) -> bool:
    return isinstance(leaf, (float, complex, np.inexact)) or (isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc")


@functools.lru_cache(256)
def _push_of(fn: Any, argnums: tuple[int, ...], count: int, names: tuple[str, ...]) -> Any:
    """The function of tangents and arguments that gives the tangent of the result, to be differentiated."""
    own = [f"x{k}" for k in range(count)]
    moving = ", ".join(f"x{k}" for k in argnums)
    named = ", ".join([*own, *(f"{n}={n}" for n in names)])
    lines = [
        f"def push(dots, {', '.join([*own, *names])}):",
        f"    return jvp(lambda {moving}: fn({named}), ({moving},), dots)[1]",
    ]
    return operations.primitive_of("\n".join(lines) + "\n", "push", {"fn": fn})


_PULL: dict[type, Any] = {
    Arithmetic: _pull_arithmetic, Read: _pull_read, Store: _pull_store, Step: _pull_step, Plain: _pull_plain}
_PUSH: dict[type, Any] = {
    Arithmetic: _push_arithmetic, Read: _push_read, Store: _push_store, Step: _push_step, Plain: _push_step}


# --- tangents that are NaN ------------------------------------------------------------------------------------------

MOST_ROWS = 1000
"""For so many numbers at most a tangent is computed by the cotangents of each."""


def is_in_doubt(leaf: Any, dot: Any, moving: list[tuple[Any, Any]]) -> bool:
    """Whether the tangent of a part of a result is NaN where the part, which is real, is not: the zeros of the reverse
    sweep are strong, those of the forward sweep are not."""
    if operations.ACTIVE or np.result_type(leaf).kind != "f" or np.size(leaf) > MOST_ROWS:
        return False
    return not any(np.iscomplexobj(dot) for _, dot in moving) and bool(np.any(np.isnan(dot) & ~np.isnan(leaf)))


def swept_back(recorder: Recorder, leaf: Any, moving: list[tuple[Any, Any]]) -> Any:
    """The tangent of a part of a result, by the cotangents of each of its numbers: ``moving`` has what is
    differentiated and its tangents, of which zeros count nothing."""
    made = np.zeros(np.shape(leaf), np.result_type(leaf))
    for index in np.ndindex(made.shape):
        bar = np.zeros_like(made)
        bar[index] = 1.0
        sweep = Backward(recorder)
        sweep.add(recorder.ref(leaf), bar if isinstance(leaf, np.ndarray) else number_type(leaf)(1.0))
        sweep.run()
        for ref, dot in moving:
            slope = None if ref is None else sweep.value(ref)
            if slope is not None:
                moves = np.not_equal(dot, 0.0)
                made[index] += np.sum(np.multiply(slope, dot, where=moves, out=np.zeros(np.shape(dot))))
    return made if isinstance(leaf, np.ndarray) else number_type(leaf)(made[()])
