"""``s2s.map`` written out: one loop over the samples, with the code of the function in it.

    losses = s2s.map(loss, (None, 0))(w, x)      ->      n = x.shape[0]
                                                         losses = np.empty(n)
                                                         for k in range(n):
                                                             losses[k] = ...     the code of loss for x[k]

Each array of the result is made before the loop where the shape that one sample gives is known there; else it is put
together from a list.
"""

from __future__ import annotations

import dataclasses
import operator
from typing import Any

import numpy as np

from s2s.analysis.abstract.numbers import possible_types
from s2s.builder.builder import Builder
from s2s.core import ir, ops
from s2s.core.values import AbstractValue, Array, Dim, Known, Scalar, Sequence
from s2s.directives import samples
from s2s.errors import error
from s2s.specialize.calls.derivative_arguments import parameters
from s2s.specialize.calls.derivative_parts import parts, together
from s2s.specialize.frames import of_the_user
from s2s.specialize.heap import making
from s2s.specialize.inplace import store_item
from s2s.specialize.loops import counted_loop
from s2s.specialize.site import At, CallSite, Handler
from s2s.specialize.speculation import speculate
from s2s.versions.target import own_signature

__all__ = ["HANDLERS"]


def _each(site: CallSite) -> ir.Atom:
    """``samples.each(f, args, kwargs, in_axes, out_axes)``."""
    bound = own_signature(site.fn).bind(*site.args, **site.kwargs).arguments
    f, given, named, in_axes, out_axes = bound.values()
    arguments = _arguments(site, f, given)
    keywords = parts(site, named)
    assert arguments is not None and keywords is not None
    every = _constant(site, in_axes)
    if isinstance(every, tuple) and len(every) != len(arguments):
        raise _refuse(site, f"arguments: {len(arguments)}, axes: {len(every)}")
    axes = [_axes_of(site, every, k) for k in range(len(arguments))]
    return _Loop(site, f, arguments, dict(keywords[1]), axes, _constant(site, out_axes)).build()


def _arguments(at: At, f: ir.Atom, given: ir.Atom) -> list[ir.Atom] | None:
    """The arguments by position, each under the name of its parameter where it has none."""
    known = at.value(given)
    if not isinstance(known, Sequence) or at.context.is_virtual(given):
        return at.items(given)
    names = [p.name for p in parameters(at.specializer, f) or () if p.positional]
    names += ["x"] * (len(known.items) - len(names))
    read = at.builder.call
    return [read(operator.getitem, given, ir.Const(k), name=names[k], span=at.span) for k in range(len(known.items))]


def _refuse(at: At, why: str) -> Exception:
    return error("S2S519", span=of_the_user(at.span), asked_by=at.frame.called_from, problem=why)


def _constant(at: At, atom: ir.Atom) -> Any:
    """Axes: numbers and None in tuples, lists and dicts."""
    if isinstance(atom, ir.Const):
        return atom.value
    found = parts(at, atom)
    if found is None:
        raise _refuse(at, "the axes are not known before the program runs")
    kind, entries = found
    items = {key: _constant(at, item) for key, item in entries.items()}
    return items if kind is dict else tuple(items.values())


def _axes_of(at: At, axes: Any, key: Any) -> Any:
    try:
        return samples.axes_of(axes, key)
    except LookupError:
        raise _refuse(at, f"the axes {axes!r} have no entry {key!r}") from None


class _Loop:
    """The loop of a function over samples, and what is put together of its results."""

    def __init__(
        self, at: At, f: ir.Atom, args: list[ir.Atom], kwargs: dict[Any, ir.Atom],
        in_axes: list[Any], out_axes: Any,
    ) -> None:
        self.context = at.context
        self.at = at
        self.f, self.args, self.kwargs = f, args, kwargs
        self.in_axes, self.out_axes = in_axes, out_axes
        self.lists: dict[tuple[Any, ...], ir.Atom] = {}

    def build(self) -> ir.Atom:
        count, outside = self.count(), self.at
        with speculate(self.at.specializer, outside.builder) as speculation:
            self.at = dataclasses.replace(outside, builder=speculation.builder)
            result, room = self.loop(count)
            missing = [path for path, made in room.items() if made is None]
            if missing:
                speculation.discard()
        self.at = outside
        if missing:  # once more, with lists for what is not known before the loop
            self.lists = {path: making.new_list(self.at, ()) for path in missing}
            result, room = self.loop(count)
        return self.result(result, room, ())

    # --- the samples

    def count(self) -> ir.Atom:
        """The number of samples; they are compared where the arguments are not known to have as many."""
        lengths: list[ir.Atom] = []
        for arg, axes in zip(self.args, self.in_axes, strict=True):
            self._lengths(arg, axes, lengths)
        if not lengths:
            raise _refuse(self.at, "no argument has samples")
        first = lengths[0]
        for length in lengths:
            if self._dim(length) != self._dim(first):
                self.at.builder.add(ir.Let(None, ir.Call(ir.Const(samples.check_count), (first, length)), self.at.span))
        return first

    def _dim(self, length: ir.Atom) -> Any:
        known = self.context.value(length)
        return known.dim if isinstance(known, Scalar) and known.dim is not None else length

    def _lengths(self, x: ir.Atom, axes: Any, found: list[ir.Atom]) -> None:
        if axes is None:
            return
        inside = parts(self.at, x)
        if inside is not None:
            for key, item in inside[1].items():
                self._lengths(item, _axes_of(self.at, axes, key), found)
            return
        shape = self.at.compute(getattr, x, ir.Const("shape"))
        known = self.context.value(x)
        if not isinstance(known, Array) or known.shape is None:
            raise _refuse(self.at, "an argument with samples is no array of a known rank")
        if not isinstance(axes, int) or not -len(known.shape) <= axes < len(known.shape):
            raise _refuse(self.at, f"an array of rank {len(known.shape)} has no axis {axes!r}")
        place = ir.Const(axes % len(known.shape))
        found.append(self.at.compute(operator.getitem, shape, place))

    def sample(self, x: ir.Atom, axes: Any, k: ir.Atom, at: At) -> ir.Atom:
        """Sample ``k`` of an argument."""
        if axes is None:
            return x
        inside = parts(at, x)
        if inside is not None:
            kind, entries = inside
            items = [self.sample(item, _axes_of(at, axes, key), k, at) for key, item in entries.items()]
            return together(at, kind, tuple(entries), items)
        known = self.context.value(x)
        assert isinstance(known, Array) and known.shape is not None
        return at.compute(operator.getitem, x, _place(at.builder, axes % len(known.shape), k))

    # --- the loop

    def loop(self, count: ir.Atom) -> tuple[Any, dict[tuple[Any, ...], ir.Var | None]]:
        """The loop itself; the structure of the results with what each part is for one sample, and for each part the
        array that the loop fills, None where it has none."""
        at, rest = self.at, {}

        def iteration(k: ir.Var, child: Builder) -> dict[tuple[Any, ...], ir.Atom]:
            inside = At(at.specializer, at.frame, child, at.span)
            given = [self.sample(x, axes, k, inside) for x, axes in zip(self.args, self.in_axes, strict=True)]
            out = dataclasses.replace(inside, name="out").result_of_atom(self.f, given, dict(self.kwargs))
            leaves: dict[tuple[Any, ...], ir.Atom] = {}
            rest["tree"] = self._tree(out, inside, (), leaves)
            for path, items in self.lists.items():
                inside.call(list.append, [items, leaves[path]], effect=True).made()
            return leaves

        def fill(k: ir.Var, child: Builder, leaves: dict[tuple[Any, ...], ir.Atom]) -> None:
            for path, leaf in leaves.items():
                made = room[path] = None if path in self.lists else self.room(leaf, count, self._axis(path))
                if made is not None:
                    key = _place(child, self._axis_in(made, path), k)
                    store_item(At(self.at.specializer, at.frame, child, at.span), made, key, leaf)

        room: dict[tuple[Any, ...], ir.Var | None] = {}
        counted_loop(self.at.specializer, count, at.frame, at.builder, at.span, iteration, fill)
        return rest["tree"], room

    def _tree(self, out: ir.Atom, at: At, path: tuple[Any, ...], leaves: dict[tuple[Any, ...], ir.Atom]) -> Any:
        inside = parts(at, out)
        if inside is None:
            leaves[path] = at.builder.frozen(out)
            return None
        kind, entries = inside
        return kind, {key: self._tree(item, at, (*path, key), leaves) for key, item in entries.items()}

    def _axis(self, path: tuple[Any, ...]) -> int:
        axes = self.out_axes
        for key in path:
            axes = _axes_of(self.at, axes, key)
        if isinstance(axes, bool) or not isinstance(axes, int):
            raise _refuse(self.at, f"`out_axes` has {axes!r} where the result has an array")
        return axes

    def _axis_in(self, made: ir.Var, path: tuple[Any, ...]) -> int:
        known = self.context.value(made)
        assert isinstance(known, Array) and known.shape is not None
        return self._axis(path) % len(known.shape)

    # --- the results

    def room(self, leaf: ir.Atom, count: ir.Atom, axis: int) -> ir.Var | None:
        """The array for the results that are like ``leaf``, made before the loop; None where its shape is not known
        there."""
        known = self.context.value(leaf)
        found = _kind_of(known)
        if found is None:
            return None
        dtype, shape = found
        lengths = [self._length(dim) for dim in shape]
        if None in lengths:
            return None
        rank = len(shape) + 1
        if not -rank <= axis < rank:
            raise _refuse(self.at, f"an array of rank {rank} has no axis {axis}")
        sizes = [length for length in lengths if length is not None]
        sizes.insert(axis % rank, count)
        builder = self.at.builder
        size = sizes[0] if rank == 1 else builder.call(ops.make_tuple, *sizes, span=self.at.span)
        options = () if dtype == np.float64 else (("dtype", ir.Const(dtype.type)),)
        made = builder.call(np.empty, size, name=self._name(leaf), span=self.at.span, kwargs=options)
        assert isinstance(made, ir.Var)
        return made

    def _name(self, leaf: ir.Atom) -> str:
        """The name for all results like this one."""
        name = self.context.name_of(leaf).lstrip("%") if isinstance(leaf, ir.Var) else ""
        return f"{name}s" if name and not name.endswith("s") else "results"

    def _length(self, dim: Dim) -> ir.Atom | None:
        """A length as it is read before the loop; None where nothing there has it."""
        if dim.is_constant:
            return ir.Const(dim.offset)
        builder = self.at.builder
        made = [s.target for s in builder.statements if isinstance(s, ir.Let) and s.target is not None]
        for var in (*self.args, *made):
            known = self.context.value(var)
            if isinstance(known, Array) and known.shape is not None and dim in known.shape:
                shape = builder.call(getattr, var, ir.Const("shape"), span=self.at.span)
                return builder.call(operator.getitem, shape, ir.Const(known.shape.index(dim)), span=self.at.span)
        return None

    def result(self, tree: Any, room: dict[tuple[Any, ...], ir.Var | None], path: tuple[Any, ...]) -> ir.Atom:
        """The results of all samples in the structure of one."""
        if tree is not None:
            kind, entries = tree
            items = [self.result(inner, room, (*path, key)) for key, inner in entries.items()]
            return together(self.at, kind, tuple(entries), items)
        made = room[path]
        if made is not None:
            return made
        axis: dict[Any, ir.Atom] = {} if self._axis(path) == 0 else {"axis": ir.Const(self._axis(path))}
        args = [self.lists[path]]
        return self.at.apply_atom(ir.Const(np.stack), args, axis)


def _kind_of(known: AbstractValue) -> tuple[np.dtype[Any], tuple[Dim, ...]] | None:
    """The dtype and shape of a number or an array."""
    match known:
        case Array(dtype, shape) if shape is not None:
            return dtype, shape
        case Scalar(kind):
            dtypes = {np.dtype(one) for one in possible_types(kind)}
            return (dtypes.pop(), ()) if len(dtypes) == 1 else None
        case Known() if isinstance(known.value, (bool, int, float, complex, np.number, np.bool_)):
            return np.asarray(known.value).dtype, ()
        case _:
            return None


def _place(builder: Builder, axis: int, k: ir.Atom) -> ir.Atom:
    """The index of sample ``k`` along an axis."""
    whole = ir.Const(slice(None))
    return k if axis == 0 else builder.call(ops.make_tuple, *[whole] * axis, k)


HANDLERS: dict[Any, Handler] = {samples.each: _each}
"""What stands for a call of the loop over samples."""
