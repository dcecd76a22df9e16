"""How single functions take tangents with directions in their last dimension, for ``vector``.

A form is given a call with such tangents among its arguments and writes the call that gives the result for all
directions. It raises NotVector where it has none for these arguments: the function then runs once for each direction.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import shape_of
from s2s.core import ir, ops
from s2s.core.record import record
from s2s.core.values import UNKNOWN, AbstractValue, Array, Dim, Known, ListOf, Mapping, Scalar, Sequence
from s2s.runtime import directions

if TYPE_CHECKING:
    from s2s.batch.vector import Vectorizer

Shape = bool | tuple[Any, ...]
"""Which parts of a value have directions: all of it, or for each item of a container."""

DIRECTIONS = Dim("?directions")


class NotVector(Exception):
    """A tangent goes where many of them cannot be followed at once."""


@record
class Given:
    """A call. ``known`` is what is known of its result without directions."""

    on: Vectorizer
    fn: Any
    args: tuple[ir.Atom, ...]
    kwargs: dict[str, ir.Atom]
    known: AbstractValue

    def call(self, fn: Any, *args: ir.Atom, **kwargs: ir.Atom) -> ir.Atom:
        """Write a call."""
        return self.on.builder.call(fn, *args, kwargs=tuple(kwargs.items()))

    def new(self, atom: ir.Atom) -> ir.Atom:
        """An atom with directions where it has them, in all of its parts."""
        return self.on.whole(atom) if self.moves(atom) else atom

    def moves(self, atom: ir.Atom) -> bool:
        """Whether an atom has directions."""
        return atom in self.on.env

    def value(self, atom: ir.Atom) -> AbstractValue:
        """What is known of an atom without directions."""
        return self.on.context.value(atom)

    def rank(self, atom: ir.Atom) -> int:
        """The rank of a value, directions not counted. Raises NotVector where it is not known."""
        shape = shape_of(self.value(atom))
        if shape is None:
            raise NotVector
        return len(shape)

    def bound(self, *names: str, moving: str) -> dict[str, ir.Atom]:
        """The arguments by these parameter names. Raises NotVector where there are others, and where another than
        ``moving`` has directions."""
        if len(self.args) > len(names):
            raise NotVector
        found = dict(zip(names, self.args, strict=False)) | self.kwargs
        if found.keys() - set(names) or any(self.moves(a) for k, a in found.items() if k != moving):
            raise NotVector
        return found

    def option(self, atom: ir.Atom | None, default: Any = None) -> Any:
        """An option, known, also as a tuple. Raises NotVector."""
        if atom is None:
            return default
        known = self.value(atom)
        if isinstance(known, Known):
            return known.value
        parts = self.on.context.definition(atom, ops.make_tuple)
        if parts is None:
            raise NotVector
        return tuple(map(self.option, parts))

    def shaped(self, fn: Any, source: ir.Atom, parts: tuple[Any, ...]) -> ir.Atom:
        """``fn(source, (*parts, directions))``."""
        shape = self.on.builder.let(ir.Call(ir.Const(ops.make_tuple), (*parts, self.on.count)), UNKNOWN)
        return self.on.builder.let(ir.Call(ir.Const(fn), (self.new(source), shape)), with_dimension(self.known))


def with_dimension(value: AbstractValue) -> AbstractValue:
    """What is known of a tangent that gets directions."""
    if isinstance(value, Array):
        return Array(value.dtype, None if value.shape is None else (*value.shape, DIRECTIONS))
    if isinstance(value, Scalar) and issubclass(value.type, (float, complex, np.inexact)):
        return Array(np.dtype(value.type), (DIRECTIONS,))
    return UNKNOWN


def extended(on: Vectorizer, like: ir.Atom) -> ir.Atom:
    """The shape of an array, and the directions after it."""
    shape = on.builder.call(np.shape, on.context.shape_source(like))
    return on.builder.let(ir.Call(ir.Const(ops.make_tuple), (ir.Star(shape), on.count)), UNKNOWN)


def _behind(axis: Any) -> Any:
    """An axis; counted from the end, with the directions behind it."""
    if isinstance(axis, tuple):
        return tuple(map(_behind, axis))
    index = operator.index(axis)
    return index if index >= 0 else index - 1


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


# --- containers, items, attributes ----------------------------------------------------------------------------------


def _getitem(given: Given) -> Any:
    on, (source, key) = given.on, given.args
    if given.moves(key):
        raise NotVector
    known, shape = given.value(source), on.shape(source)
    if isinstance(shape, tuple):
        if not isinstance(key, ir.Const) or isinstance(key.value, slice):
            raise NotVector
        place = known.keys.index(key.value) if isinstance(known, Mapping) else key.value
        return on.builder.call(operator.getitem, on.new(source), key), shape[place]
    if isinstance(known, (Sequence, Mapping, ListOf)):
        return given.call(operator.getitem, on.new(source), key)
    return given.call(operator.getitem, on.new(source), on.index(key))


def _display(given: Given) -> Any:
    on, is_dict = given.on, given.fn is ops.make_dict
    if not isinstance(given.known, (Sequence, Mapping)):
        parts = [a if is_dict and k % 2 == 0 else on.whole(a) for k, a in enumerate(given.args)]
        return given.call(given.fn, *parts)
    shapes = tuple(map(on.shape, given.args[1::2] if is_dict else given.args))
    made = given.call(given.fn, *map(on.new, given.args))
    return made, True if all(shape is True for shape in shapes) else shapes


def _append(given: Given) -> Any:
    on, (items, item) = given.on, given.args
    known = given.value(items)
    if not isinstance(known, Sequence):
        return given.call(ops.append, on.whole(items), on.whole(item))
    shape = on.shape(items)
    shapes = shape if isinstance(shape, tuple) else (shape,) * len(known.items)
    return given.call(ops.append, on.new(items), on.new(item)), (*shapes, on.shape(item))


def _unpack(given: Given) -> Any:
    if given.on.shape(given.args[0]) is not True:
        raise NotVector
    return given.call(ops.unpack, given.on.new(given.args[0]), *given.args[1:])


def _attribute(given: Given) -> Any:
    source, name = given.args
    if not isinstance(name, ir.Const) or given.on.shape(source) is not True:
        raise NotVector
    match name.value:
        case "T":
            return _transposed(given, source, None)
        case "real" | "imag":
            return given.call(getattr, given.new(source), name)
        case "dtype":
            return given.call(getattr, given.new(source), name), False
        case "shape":
            return _shape(given)
    raise NotVector


def _shape(given: Given) -> Any:
    """The shape of a tangent as the function means it: without directions."""
    shape = given.call(np.shape, given.new(given.args[0]))
    return given.call(operator.getitem, shape, ir.Const(slice(None, -1))), False


def _push(given: Given) -> Any:
    """A dynamic call, once for each direction."""
    on, (fn, name, values, dots, keys) = given.on, given.args
    parts = on.context.definition(dots, ops.make_tuple)
    if parts is None or any(map(given.moves, (fn, name, values, keys))):
        raise NotVector
    whole = given.call(ops.make_tuple, *(p if p == ir.Const(None) else on.whole(p) for p in parts))
    made = ir.Call(ir.Const(directions.push), (fn, name, values, whole, keys, on.count))
    return on.builder.let(made, Sequence(tuple, (UNKNOWN, UNKNOWN))), (False, True)


# --- elements -------------------------------------------------------------------------------------------------------


def _where(given: Given) -> Any:
    if len(given.args) != 3 or given.kwargs:
        raise NotVector
    return given.on.elementwise(np.where, given.args, given.known)


def _same(given: Given) -> Any:
    """A function of one array that the directions do not disturb."""
    source, *rest = given.args
    if any(map(given.moves, (*rest, *given.kwargs.values()))):
        raise NotVector
    return given.call(given.fn, given.new(source), *rest, **given.kwargs)


def _number(given: Given) -> Any:
    """``float(x)``: one for each direction."""
    if len(given.args) != 1 or given.kwargs:
        raise NotVector
    source = given.new(given.args[0])
    if shape_of(given.value(given.args[0])) != ():
        source = given.call(np.reshape, source, given.on.count)
    if issubclass(given.fn, (float, np.float64)):
        return source
    return given.call(np.ndarray.astype, source, ir.Const(np.dtype(given.fn)))


def _item(given: Given) -> Any:
    """``x.item()``, ``x.item(k)``."""
    source, *place = given.args
    if not place:
        return given.call(np.reshape, given.new(source), given.on.count)
    if given.moves(place[0]) or given.rank(source) != 1:
        raise NotVector
    return given.call(operator.getitem, given.new(source), place[0])


def _zeros_like(given: Given) -> Any:
    if len(given.args) != 1 or given.kwargs:
        raise NotVector
    return given.call(np.zeros_like, given.new(given.args[0]))


def _copy_in_memory(given: Given) -> Any:
    bound = given.bound("x", "like", moving="x")
    if "like" not in bound:
        raise NotVector
    return given.call(directions.copy_in_memory, given.new(bound["x"]), bound["like"])


def _full_like(given: Given) -> Any:
    bound = given.bound("a", "fill_value", moving="fill_value")
    spread = given.call(np.broadcast_to, given.new(bound["fill_value"]), extended(given.on, bound["a"]))
    return given.call(np.copy, spread)


def _tangent_like(given: Given) -> Any:
    dot, like = given.args
    return given.call(directions.tangents_like, given.new(dot), like, given.on.count)


def _mirror(given: Given) -> Any:
    """The parts of the cotangent of an array for the nested lists that it was made of."""
    bar, items = given.args
    return _mirrored(given, given.on.whole(bar), given.value(items))


def _mirrored(given: Given, bar: ir.Atom, known: AbstractValue) -> ir.Atom:
    if isinstance(known, (Scalar, Array, Known)):
        return bar
    if not isinstance(known, Sequence):
        raise NotVector
    parts = [
        _mirrored(given, given.call(operator.getitem, bar, ir.Const(k)), item) for k, item in enumerate(known.items)
    ]
    return given.call(ops.make_tuple if known.type is tuple else ops.make_list, *parts)


def _unbroadcast(given: Given) -> Any:
    bar, like = given.args
    if given.moves(like):
        raise NotVector
    return given.call(directions.unbroadcast, given.new(bar), like)


def _add(given: Given) -> Any:
    return given.call(rt.add, *map(given.on.whole, given.args))


# --- shapes ---------------------------------------------------------------------------------------------------------


def _reshape(given: Given) -> Any:
    source, *shape = given.args
    if given.kwargs or any(map(given.moves, shape)):
        raise NotVector
    if given.fn is np.reshape and len(shape) == 2 and given.option(shape.pop()) != "C":
        raise NotVector
    if len(shape) > 1 or isinstance(given.value(shape[0]), Scalar):
        return given.shaped(np.reshape, source, tuple(shape))
    if isinstance(shape[0], ir.Const):
        return given.shaped(np.reshape, source, tuple(map(ir.Const, _tuple(shape[0].value))))
    parts = given.on.context.definition(shape[0], ops.make_tuple)
    return given.shaped(np.reshape, source, parts or (ir.Star(shape[0]),))


def _ravel(given: Given) -> Any:
    given.bound("a", moving="a")
    (source,) = given.args
    if source in given.on.changing:  # what is not contiguous is copied, where a reshape may give a view
        call = ir.Call(ir.Const(directions.ravel), (given.new(source),))
        return given.on.builder.let(call, with_dimension(given.known))
    return given.shaped(np.reshape, source, (ir.Const(-1),))


def _broadcast_to(given: Given) -> Any:
    bound = given.bound("array", "shape", moving="array")
    shape = bound["shape"]
    number = isinstance(given.value(shape), Scalar) or (isinstance(shape, ir.Const) and isinstance(shape.value, int))
    return given.shaped(np.broadcast_to, bound["array"], (shape,) if number else (ir.Star(shape),))


def _transpose(given: Given) -> Any:
    source, *axes = given.args
    if given.kwargs or any(map(given.moves, axes)):
        raise NotVector
    chosen = given.option(axes[0]) if len(axes) == 1 else tuple(map(given.option, axes)) or None
    return _transposed(given, source, chosen)


def _transposed(given: Given, source: ir.Atom, axes: Any) -> ir.Atom:
    rank = given.rank(source)
    order = tuple(range(rank - 1, -1, -1)) if axes is None else tuple(a % rank for a in axes)
    return given.call(np.transpose, given.new(source), ir.Const((*order, rank)))


def _swapaxes(given: Given) -> Any:
    source, *axes = given.args
    if given.kwargs or len(axes) != 2:
        raise NotVector
    return given.call(given.fn, given.new(source), *(ir.Const(_behind(given.option(a))) for a in axes))


def _joined(given: Given) -> Any:
    """``np.concatenate``, ``np.stack``."""
    bound = given.bound("arrays", "axis", moving="arrays")
    axis = given.option(bound.get("axis"), 0)
    if axis is None:
        raise NotVector
    return given.call(given.fn, given.new(bound["arrays"]), axis=ir.Const(_behind(axis)))


def _array(given: Given) -> Any:
    """``np.array`` of nested lists, and of arrays."""
    if any(map(given.moves, given.kwargs.values())) or len(given.args) != 1:
        raise NotVector
    return given.call(given.fn, given.new(given.args[0]), **given.kwargs)


def _along(default: Any, *names: str, positional: tuple[str, ...] = (), is_by_length: bool = False) -> Form:
    """A function that works along one axis, or several, of its first argument; ``positional`` are parameters that it
    has before ``axis``. Where it ``is_by_length``, no axis is not the one that there is."""

    def form(given: Given) -> Any:
        first = names[0]
        bound = given.bound(*names, moving=first)
        axis = given.option(bound.get("axis"), default)
        if axis is None:
            if given.rank(bound[first]) != 1 or is_by_length:
                raise NotVector
            axis = 0
        args = [bound[name] for name in positional if name in bound]
        kwargs = {k: a for k, a in bound.items() if k not in (first, "axis", *positional)}
        return given.call(given.fn, given.new(bound[first]), *args, **kwargs, axis=ir.Const(_behind(axis)))

    return form


def _reduced(given: Given) -> Any:
    """``np.sum``, ``np.mean``."""
    bound = given.bound("a", "axis", "dtype", "out", "keepdims", "initial", "where", moving="a")
    source, axis = bound.pop("a"), given.option(bound.pop("axis", None))
    if "out" in bound or given.on.shape(source) is not True:
        raise NotVector
    moved, known = given.new(source), shape_of(given.value(source))
    if axis is not None:
        axis = _behind(axis)
    elif known is not None:
        axis = 0 if len(known) == 1 else tuple(range(len(known)))
        if not known:
            return moved
    elif given.option(bound.get("keepdims"), False):
        raise NotVector
    else:
        moved, axis = given.call(np.reshape, moved, given.call(ops.make_tuple, ir.Const(-1), given.on.count)), 0
    if "where" in bound:
        bound["where"] = given.on.beside(bound["where"])
    return given.call(given.fn, moved, axis=ir.Const(axis), **bound)


# --- products -------------------------------------------------------------------------------------------------------


def _two(given: Given) -> tuple[ir.Atom, ir.Atom]:
    """The factors of a product, of which one has directions."""
    if len(given.args) != 2 or given.kwargs or all(map(given.moves, given.args)):
        raise NotVector
    return given.args[0], given.args[1]


def _matmul(given: Given) -> Any:
    a, b = _two(given)
    ranks = given.rank(a), given.rank(b)
    if not 1 <= min(ranks) <= max(ranks) <= 2:
        raise NotVector
    if given.moves(b) and ranks[1] == 1:
        return given.call(operator.matmul, a, given.new(b))
    if given.moves(a) and ranks[0] == 1:
        other = b if ranks[1] == 1 else given.call(getattr, b, ir.Const("T"))
        return given.call(operator.matmul, other, given.new(a))
    return _contracted(given, a, b, (ranks[0] - 1,), (0,))


def _tensordot(given: Given) -> Any:
    axes = given.option((dict(zip(("a", "b", "axes"), given.args, strict=False)) | given.kwargs).get("axes"), 2)
    if len(given.args) < 2 or all(map(given.moves, given.args[:2])):
        raise NotVector
    a, b = given.args[:2]
    left, right = given.rank(a), given.rank(b)
    first, second = map(_tuple, axes) if isinstance(axes, tuple) else (range(left - axes, left), range(axes))
    return _contracted(given, a, b, tuple(k % left for k in first), tuple(k % right for k in second))


def _contracted(
    given: Given, a: ir.Atom, b: ir.Atom, first: tuple[int, ...], second: tuple[int, ...]
) -> ir.Atom:
    """``np.tensordot(a, b, (first, second))`` with directions in one of the two."""
    axes: Any = first, second
    if len(first) == 1 and (first[0], second[0]) == (given.rank(a) - 1, 0):
        axes = 1 if given.moves(b) else (first[0], 0)
    made = given.call(np.tensordot, given.new(a), given.new(b), ir.Const(axes))
    left, right = given.rank(a) - len(first), given.rank(b) - len(second)
    if given.moves(b) or not right:
        return made
    if right == 1:
        return given.call(np.swapaxes, made, ir.Const(left), ir.Const(left + 1))
    return given.call(np.moveaxis, made, ir.Const(left), ir.Const(-1))


def _cross(given: Given) -> Any:
    """Of vectors along the last axis, before which the directions do not stand."""
    a, b = given.args[:2]
    if len(given.args) != 2 or given.moves(a) == given.moves(b):
        raise NotVector
    if any(key != "axis" or given.option(value) not in (-1, None) for key, value in given.kwargs.items()):
        raise NotVector
    parts = [given.new(x) if given.moves(x) else given.call(operator.getitem, x, _BESIDE) for x in (a, b)]
    return given.call(np.cross, *parts, axis=ir.Const(-2))


_BESIDE = ir.Const((Ellipsis, None))


def _outer(given: Given) -> Any:
    a, b = _two(given)
    if given.rank(a) != 1 or given.rank(b) != 1:
        raise NotVector
    column = ir.Const((slice(None), None))
    if given.moves(a):
        rows = given.call(operator.getitem, given.new(a), column)
        return given.call(operator.mul, rows, given.call(operator.getitem, b, column))
    rows = given.call(operator.getitem, a, ir.Const((slice(None), None, None)))
    return given.call(operator.mul, rows, given.new(b))


def _einsum(given: Given) -> Any:
    spec, *operands = given.args
    moving = [k for k, a in enumerate(operands) if given.moves(a)]
    text = given.option(spec)
    if given.kwargs or not isinstance(text, str) or len(moving) != 1 or "->" not in text or "." in text:
        raise NotVector
    letter = next(c for c in "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in text)
    inputs, output = text.replace(" ", "").split("->")
    parts = inputs.split(",")
    parts[moving[0]] += letter
    return given.call(np.einsum, ir.Const(f"{','.join(parts)}->{output}{letter}"), *map(given.new, operands))


def _solve(given: Given) -> Any:
    """``solve(a, b)`` with directions in ``b``: they are more right-hand sides."""
    a, b = _two(given)
    if given.moves(a) or given.rank(a) != 2:
        raise NotVector
    if given.rank(b) == 1:
        return given.call(np.linalg.solve, a, given.new(b))
    if given.rank(b) != 2:  # a stack of right sides
        raise NotVector
    length = given.call(len, a)
    flat = given.call(np.reshape, given.new(b), given.call(ops.make_tuple, length, ir.Const(-1)))
    return given.shaped(np.reshape, given.call(np.linalg.solve, a, flat), (length, ir.Const(-1)))


Form = Callable[[Given], Any]
"""Gives the atom that the result becomes, or such an atom and which parts of it have directions."""

FORMS: dict[Any, Form] = {
    operator.getitem: _getitem,
    getattr: _attribute,
    ops.make_tuple: _display,
    ops.make_list: _display,
    ops.make_dict: _display,
    ops.append: _append,
    ops.unpack: _unpack,
    rt.push: _push,
    rt.tangent_like: _tangent_like,
    rt.add: _add,
    rt.mirror: _mirror,
    rt.unbroadcast: _unbroadcast,
    np.shape: _shape,
    np.where: _where,
    np.zeros_like: _zeros_like,
    np.full_like: _full_like,
    rt.copy_in_memory: _copy_in_memory,
    np.array: _array,
    np.asarray: _array,
    np.broadcast_to: _broadcast_to,
    np.moveaxis: _swapaxes,
    np.concatenate: _joined,
    np.stack: _joined,
    operator.matmul: _matmul,
    np.matmul: _matmul,
    np.tensordot: _tensordot,
    np.outer: _outer,
    np.cross: _cross,
    np.einsum: _einsum,
    np.linalg.solve: _solve,
    np.expand_dims: _along(None, "a", "axis"),
    np.diff: _along(-1, "a", "n", "axis"),
    np.flip: _along(None, "m", "axis"),
    np.roll: _along(None, "a", "shift", "axis", positional=("shift",)),
    np.split: _along(0, "a", "indices", "axis", positional=("indices",)),
    np.array_split: _along(0, "a", "indices", "axis", positional=("indices",)),
    **dict.fromkeys((np.squeeze, np.ndarray.squeeze), _along(None, "a", "axis", is_by_length=True)),
    **dict.fromkeys((np.cumsum, np.ndarray.cumsum), _along(None, "a", "axis")),
    **dict.fromkeys((np.repeat, np.ndarray.repeat), _along(None, "a", "repeats", "axis", positional=("repeats",))),
    **dict.fromkeys((np.take, np.ndarray.take), _along(None, "a", "indices", "axis", positional=("indices",))),
    **dict.fromkeys((np.dot, np.ndarray.dot), _matmul),
    **dict.fromkeys((np.sum, np.mean, np.ndarray.sum, np.ndarray.mean), _reduced),
    **dict.fromkeys((np.reshape, np.ndarray.reshape), _reshape),
    **dict.fromkeys((np.ravel, np.ndarray.ravel, np.ndarray.flatten), _ravel),
    **dict.fromkeys((np.transpose, np.ndarray.transpose), _transpose),
    **dict.fromkeys((np.swapaxes, np.ndarray.swapaxes), _swapaxes),
    **dict.fromkeys((np.copy, np.ndarray.copy, np.ndarray.astype, np.real, np.imag, np.flipud), _same),
    **dict.fromkeys((np.ndarray.conj, np.ndarray.conjugate), _same),
    **dict.fromkeys((float, np.float64, np.float32, np.float16), _number),
    np.ndarray.item: _item,
}
