"""Functions that change their first argument, as the stores that they come down to: ``np.copyto(a, v)`` is
``a[...] = v``, ``np.put(a, k, v)`` is ``a.flat[k] = v``; and calls that are told where their result goes.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from s2s.analysis.abstract.lattice import dtype_of, is_number
from s2s.analysis.functions import facts
from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.values import Array, Known, ListOf, Sequence
from s2s.specialize.inplace import WHOLE, check_room, in_turn, keep_apart, store_flat, store_item
from s2s.specialize.site import NOT_HANDLED, At, CallSite, Handler

__all__ = ["CHANGING", "with_out", "without_out"]


def _given(site: CallSite, names: str) -> dict[str, ir.Atom]:
    """The arguments of a call by the names of the parameters; one that is no parameter raises the user's error."""
    expected = names.split()
    if len(site.args) > len(expected) or not site.kwargs.keys() <= set(expected[len(site.args) :]):
        raise site.raised(TypeError(f"{site.fn.__name__}() does not take these arguments"))
    return {**dict(zip(expected, site.args, strict=False)), **site.kwargs}


def _constant(site: CallSite, atom: ir.Atom | None, default: Any) -> Any:
    """The value of an option. Raises where it is known only when the program runs."""
    if atom is None:
        return default
    known = site.value(atom)
    if not isinstance(known, Known):
        reason = "an option of it is known only at run time; give a constant"
        raise site.refusal("S2S202", name=site.fn.__name__, reason=reason)
    return known.value


def _as_array(site: CallSite, value: ir.Atom) -> ir.Atom:
    """Values that are stored one by one, as an array; a number as it is."""
    return site.apply(np.array, value) if isinstance(site.value(value), (Sequence, ListOf)) else value


# --- functions that store -------------------------------------------------------------------------------------------


def _copyto(site: CallSite) -> ir.Atom | None:
    given = _given(site, "dst src casting where")
    value, where = given["src"], given.get("where", ir.Const(True))
    if where != ir.Const(True):
        value = site.apply(np.where, where, value, given["dst"])
    store_item(site, given["dst"], WHOLE, value)
    return ir.Const(None)


def _fill(site: CallSite) -> ir.Atom | None:
    given = _given(site, "a value")
    store_item(site, given["a"], WHOLE, given["value"])
    return ir.Const(None)


def _sort(site: CallSite) -> ir.Atom | None:
    ordered = site.apply_atom(ir.Const(np.sort), list(site.args), dict(site.kwargs))
    store_item(site, site.args[0], WHOLE, ordered)
    return ir.Const(None)


def _partition(site: CallSite) -> ir.Atom | None:
    parted = site.apply_atom(ir.Const(np.partition), list(site.args), dict(site.kwargs))
    store_item(site, site.args[0], WHOLE, parted)
    return ir.Const(None)


def _put(site: CallSite) -> ir.Atom | None:
    """``np.put(a, indices, v)`` stores at places of the flattened array."""
    names = "a indices values mode" if site.fn is np.ndarray.put else "a ind v mode"
    given = _given(site, names)
    array, places, value = (given[name] for name in names.split()[:3])
    mode = _constant(site, given.get("mode"), "raise")
    if mode != "raise":
        places = site.apply(_WITHIN[mode], places, site.compute(np.size, array))
    store_flat(site, array, places, _as_array(site, value), None)
    return ir.Const(None)


def _wrapped(places: Any, size: Any) -> Any:
    return np.mod(places, size)


def _clipped(places: Any, size: Any) -> Any:
    return np.clip(places, 0, size - 1)


_WITHIN = {"wrap": _wrapped, "clip": _clipped}
"""What the modes of ``np.put`` make of places beyond the array."""


def _nan_to_num(site: CallSite) -> ir.Atom | None:
    """``np.nan_to_num(a, copy=False)`` stores where it puts numbers, and gives the array."""
    given = _given(site, "x copy nan posinf neginf")
    if _constant(site, given.pop("copy", None), True):
        return NOT_HANDLED
    array = given.pop("x")
    store_item(site, array, WHOLE, site.apply(np.nan_to_num, array, **given))
    return array


def _set_flags(site: CallSite) -> ir.Atom | None:
    """``a.setflags(write=False)``: no store follows, or NumPy raises."""
    given = _given(site, "a write align uic")
    if _constant(site, given.get("write"), False):
        raise site.refusal("S2S202", name="ndarray.setflags", reason="it makes an array writeable; write to a copy")
    return ir.Const(None)


def _along_axis(site: CallSite) -> ir.Atom | None:
    """``np.put_along_axis(a, indices, v, axis)``: what ``np.take_along_axis`` reads is stored into."""
    args = site.args
    given = {**dict(zip(("arr", "indices", "values", "axis"), args, strict=False)), **site.kwargs}
    axis, known = site.value(given.get("axis", ir.Const(-1))), site.value(args[0])
    if not isinstance(axis, Known) or not isinstance(known, Array) or known.shape is None or len(given) < 3:
        return None
    if axis.value is None:
        store_flat(site, args[0], given["indices"], given["values"], None)
        return ir.Const(None)
    rank = len(known.shape)
    parts = [
        given["indices"] if k == axis.value % rank else
        site.apply(_line, args[0], ir.Const(k))
        for k in range(rank)
    ]
    key = site.compute(ops.make_tuple, *parts)
    store_item(site, args[0], key, given["values"])
    return ir.Const(None)


def _line(a: Any, axis: int) -> Any:
    """The indices along an axis, in a shape that broadcasts with those along the others."""
    return np.reshape(np.arange(np.shape(a)[axis]), (-1,) + (1,) * (np.ndim(a) - axis - 1))


def _fill_diagonal(site: CallSite) -> ir.Atom | None:
    given = _given(site, "a val wrap")
    array, value = given["a"], _as_array(site, given["val"])
    known, wrap = site.value(array), bool(_constant(site, given.get("wrap"), False))
    assert isinstance(known, Array)
    if known.shape is None or len(known.shape) != 2 or wrap:
        places = site.apply(_diagonal_places, site.compute(np.shape, array), ir.Const(wrap))
        store_flat(site, array, places, value, None)
        return ir.Const(None)
    lengths = [
        site.compute(operator.getitem, site.compute(np.shape, array), ir.Const(k))
        for k in (0, 1)
    ]
    count = lengths[0] if lengths[0] == lengths[1] else site.compute(min, *lengths)
    line = site.compute(np.arange, count)
    key = site.compute(ops.make_tuple, line, line)
    if not is_number(site.value(value)):
        keep_apart(site, array, value)
        value = site.apply(in_turn, value, line)
    store_item(site, array, key, value)
    return ir.Const(None)


def _diagonal_places(shape: Any, wrap: bool) -> Any:
    """The places of the diagonal in the flattened array, as ``np.fill_diagonal`` has them."""
    size, columns = math.prod(shape), shape[-1]
    end = min(columns * columns, size) if len(shape) == 2 and not wrap else size
    return np.arange(0, end, 1 + sum(math.prod(shape[k:]) for k in range(1, len(shape))))


def _masked(site: CallSite) -> ir.Atom | None:
    """``np.putmask(a, mask, v)``: each place takes the value that stands where it is."""
    given = _given(site, "a mask values")
    value = site.apply(_where_they_stand, _as_array(site, given["values"]), given["mask"])
    store_item(site, given["a"], _mask(site.context, given["mask"], site.builder, site.span), value)
    return ir.Const(None)


def _mask(context: Context, mask: ir.Atom, builder: Builder, span: ir.Span | None) -> ir.Atom:
    """A mask as an index: numbers are taken for their truth, not for places."""
    if dtype_of(context.value(mask)) == np.dtype(bool):
        return mask
    return builder.call(np.asarray, mask, ir.Const(bool), span=span)


def _where_they_stand(values: Any, mask: Any) -> Any:
    return np.ravel(values)[np.flatnonzero(mask) % np.size(values)]


def _placed(site: CallSite) -> ir.Atom | None:
    """``np.place(a, mask, v)``: the values one after the other."""
    given = _given(site, "arr mask vals")
    places = site.compute(np.flatnonzero, given["mask"])
    value = site.apply(in_turn, _as_array(site, given["vals"]), places)
    store_item(site, given["arr"], _mask(site.context, given["mask"], site.builder, site.span), value)
    return ir.Const(None)


def _set_item(site: CallSite) -> ir.Atom | None:
    args = site.args
    store_item(site, args[0], args[1], args[2])
    return ir.Const(None)


CHANGING: dict[Any, Handler] = {
    np.copyto: _copyto,
    np.ndarray.fill: _fill,
    np.ndarray.sort: _sort,
    np.ndarray.partition: _partition,
    np.nan_to_num: _nan_to_num,
    np.ndarray.setflags: _set_flags,
    np.put: _put,
    np.ndarray.put: _put,
    np.fill_diagonal: _fill_diagonal,
    np.putmask: _masked,
    np.put_along_axis: _along_axis,
    np.place: _placed,
    operator.setitem: _set_item,
    np.ndarray.__setitem__: _set_item,
}
"""Functions that change their first argument, by what they store."""


def with_out(at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom | None:
    """A call with ``out=``: the result is stored there, and is that array."""
    out = kwargs["out"]
    rest = {k: v for k, v in kwargs.items() if k != "out"}
    if isinstance(fn, np.ufunc):
        inner = at.items(out) if isinstance(at.value(out), Sequence) else None
        if inner is not None and len(inner) == fn.nout > 1:
            return _with_several(at, fn, args, rest, inner)
        out = inner[0] if inner is not None and len(inner) == 1 else out
    if not isinstance(at.value(out), Array):
        return None
    where = rest.pop("where", None) if isinstance(fn, np.ufunc) else None
    result = at.result_of(fn, args, rest)
    if facts(fn).reads_on:
        keep_apart(at, out, args[0])
    _store_result(at, out, result, where)
    return out


def _store_result(at: At, out: ir.Atom, result: ir.Atom, where: ir.Atom | None) -> None:
    if where is not None and where != ir.Const(True):
        result = at.apply(np.where, where, result, out)
    check_room(at, out, result)
    store_item(at, out, WHOLE, result)


def _with_several(
    at: At, fn: np.ufunc, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], outs: list[ir.Atom]
) -> ir.Atom:
    """A call with several results, each of which is stored where one is given: ``np.modf(x, fraction, whole)``."""
    where = kwargs.pop("where", None)
    made = at.result_of(fn, args, kwargs)
    results = [at.compute(operator.getitem, made, ir.Const(k)) for k in range(len(outs))]
    for k, out in enumerate(outs):
        if out != ir.Const(None):
            _store_result(at, out, results[k], where)
            results[k] = out
    return at.write(ops.make_tuple, *results)


def without_out(at: At, fn: np.ufunc, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom | None:
    """A call of a ufunc with ``where=``, without ``out``: what it leaves out holds anything, here zeros."""
    rest = {k: v for k, v in kwargs.items() if k not in ("where", "out")}
    where, result = kwargs["where"], at.apply_atom(ir.Const(fn), args, rest)
    known = at.value(result)
    if not isinstance(known, Array) and not is_number(known):
        return NOT_HANDLED
    dtype = dtype_of(known)
    left_out = ir.Const(dtype.type(0) if dtype is not None else 0.0)
    return at.result_of(np.where, [where, result, left_out])
