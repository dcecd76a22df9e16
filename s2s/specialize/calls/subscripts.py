"""Subscripts whose key carries a derivative, of what is no container that merely picks.

``items[k]`` of a list, a dict or an array chooses one of its parts, so that a key has the derivative zero. What NumPy
calls with brackets computes with what stands in them, and so may any class with a method of its own for subscripts.
"""

from __future__ import annotations

import operator
import types
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import dtype_of, rank, type_of
from s2s.core import ir, ops
from s2s.core.values import Array, Known, Scalar, Sequence, Unknown
from s2s.rules.numpy.joining import as_columns, as_vector, spaced
from s2s.specialize.frames import BRACKETED, in_rule
from s2s.specialize.site import NOT_HANDLED, At, CallSite, Handler
from s2s.versions import facts

__all__ = ["HANDLERS", "bound_of_slice", "check_key"]

_JOINER, _GRID, _INDEX = BRACKETED

_NONE = ir.Const(None)
_READS = (ir.Const(getattr), ir.Const(operator.getitem))


def _item(site: CallSite) -> ir.Atom | None:
    """``container[key]``"""
    if in_rule(site.frame) or len(site.args) != 2:
        return NOT_HANDLED
    container, key = site.args
    known = site.value(container)
    if not isinstance(known, Known):
        check_key(site, container, key)
    elif isinstance(known.value, BRACKETED) and _carries(site, key):
        return _bracketed(site, known.value, key)
    elif isinstance(known.value, type) and _carries(site, key):
        return _of_class(site, known.value, key)
    return NOT_HANDLED


def _tested(site: CallSite) -> ir.Atom | None:
    """``key in container``"""
    if not in_rule(site.frame) and len(site.args) == 2:
        check_key(site, site.args[1], site.args[0])
    return NOT_HANDLED


def check_key(at: At, container: ir.Atom, key: ir.Atom) -> None:
    """Where it is not known what a container is whose key carries a derivative: look when the program runs."""
    if isinstance(at.value(container), Unknown) and not at.context.is_virtual(container) and _carries(at, key):
        given = (container, key) if _is_from_outside(at, container) else (container,)
        at.builder.call(rt.check_picks, *given, span=at.span, effect=True)


def _is_from_outside(at: At, container: ir.Atom) -> bool:
    """Whether a container is an argument, or was read of a variable or an object outside of the function."""
    made = at.context.definitions.get(container) if isinstance(container, ir.Var) else None
    if isinstance(made, ir.Call):
        return made.fn in _READS and bool(made.args) and _is_from_outside(at, made.args[0])  # type: ignore[arg-type]
    return not at.context.is_varied(container) and (made is None or isinstance(made, ir.Load))


def _carries(at: At, key: ir.Atom) -> bool:
    """Whether a key depends on a differentiated number: an integer of it is a place."""
    value = at.value(key)
    if isinstance(value, Scalar) and issubclass(value.type, (int, np.integer, np.bool_)):
        return False
    dtype = dtype_of(value) if isinstance(value, Array) else None
    if dtype is not None and dtype.kind in "iub":
        return False
    bounds = at.context.definition(key, slice)
    if bounds is not None:
        return any(_carries(at, a) for a in bounds)
    if type_of(value) is slice and not isinstance(value, Known):  # of several, one that the run chooses
        return not isinstance(value, Sequence) or any(map(_may_be_number, value.items))
    parts = (at.items(key) or []) if type_of(value) is tuple else []
    return any(_carries(at, part) for part in parts) or at.context.is_varied(key)


def _may_be_number(value: Any) -> bool:
    return not isinstance(value, Known) and not (isinstance(value, Scalar) and value.type in (int, bool))


# --- classes --------------------------------------------------------------------------------------------------------


def _of_class(site: CallSite, cls: type, key: ir.Atom) -> ir.Atom | None:
    """``cls[key]`` by a function of Python that the class, or its metaclass, has for it."""
    for owner, name in ((type(cls), "__getitem__"), (cls, "__class_getitem__")):
        found: Any = facts.member(owner, name).folded(site.guards)
        found = found.__func__ if isinstance(found, (classmethod, staticmethod)) else found
        if isinstance(found, types.FunctionType):
            return site.result_of(found, [ir.Const(cls), key])
    return NOT_HANDLED


# --- what NumPy calls with brackets ---------------------------------------------------------------------------------


def _bracketed(site: CallSite, owner: Any, key: ir.Atom) -> ir.Atom:
    is_tuple = type_of(site.value(key)) is tuple
    if isinstance(owner, _INDEX):
        return key if is_tuple or not owner.maketuple else site.result_of(ops.make_tuple, [key])
    parts = (site.items(key) if is_tuple else [key]) or []
    if isinstance(owner, _GRID):
        return _grid(site, owner, parts, is_tuple)
    return _join(site, owner, parts)


def _join(site: CallSite, joiner: Any, parts: list[ir.Atom]) -> ir.Atom:
    """``np.r_[x, 0.0, y]`` and ``np.c_[x, y]``, as ``np.concatenate``."""
    if not parts or joiner not in (np.r_, np.c_) or any(type_of(site.value(p)) is str for p in parts):
        reason = "its directives and matrices have no rule; join with np.concatenate or np.stack"
        raise site.refusal("S2S202", name=f"np.{type(joiner).__name__}", reason=reason)
    made = [_joined_part(site, joiner, part) for part in parts]
    every = site.compute(ops.make_tuple, *made)
    axis: dict[Any, ir.Atom] = {"axis": ir.Const(-1)} if joiner is np.c_ else {}
    return site.result_of(np.concatenate, [every], axis)


def _joined_part(site: CallSite, joiner: Any, part: ir.Atom) -> ir.Atom:
    """What is joined for one item: a number as an array, a slice as its range, for ``np.c_`` a vector as a column."""
    if type_of(site.value(part)) is slice and not _carries(site, part):
        points = Array(np.dtype(float), (site.context.evaluator.facts.fresh_dim(),))
        whole = site.compute(getattr, ir.Const(np), ir.Const("r_"))
        part = site.builder.let(ir.Call(ir.Const(operator.getitem), (whole, part)), points, span=site.span)
    elif type_of(site.value(part)) is slice:
        part = _points(site, np.linspace, part)
    dimensions = rank(site.value(part))
    if dimensions is None:
        fn = as_columns if joiner is np.c_ else as_vector
        return site.apply(fn, part)
    if joiner is np.c_ and dimensions < 2:
        shape = site.compute(ops.make_tuple, ir.Const(-1), ir.Const(1))
        return site.compute(np.reshape, part, shape)
    return site.compute(np.atleast_1d, part) if dimensions == 0 else part


def _grid(site: CallSite, grid: Any, parts: list[ir.Atom], is_tuple: bool) -> ir.Atom:
    """``np.mgrid[a:b:10j, c:d:0.1]`` and ``np.ogrid[...]``, from the points along each axis."""
    points = [_points(site, spaced, part) for part in parts]
    if not is_tuple:
        return points[0]
    made = []
    for k, p in enumerate(points):
        shape: list[ir.Atom] = [ir.Const(-1 if k == j else 1) for j in range(len(points))]
        made.append(site.apply(np.reshape, p, site.compute(ops.make_tuple, *shape)) if len(points) > 1 else p)
    if grid.sparse:
        return site.result_of(ops.make_tuple, made)
    shape = [site.apply(np.size, p) for p in points]
    whole = [site.apply(np.broadcast_to, p, site.compute(ops.make_tuple, *shape)) for p in made]
    return site.result_of(np.stack, [site.compute(ops.make_tuple, *whole)])


def _points(site: CallSite, between: Any, part: ir.Atom) -> ir.Atom:
    """The points of ``start:stop:step``, and with a complex step so many of them by ``between``."""
    known = site.value(part)
    bounds = site.context.definition(part, slice)
    if bounds is None and isinstance(known, Known) and isinstance(known.value, slice):
        bounds = tuple(map(ir.Const, (known.value.start, known.value.stop, known.value.step)))
    if bounds is None:
        reason = "its bounds are not known where it is written; use np.linspace or np.arange"
        raise site.refusal("S2S202", name="a slice that a branch has chosen", reason=reason)
    start, stop, step = (_NONE, *bounds, _NONE) if len(bounds) == 1 else (*bounds, _NONE)[:3]
    start = ir.Const(0.0) if start == _NONE else start
    kind = type_of(site.value(start))
    if isinstance(start, ir.Const) and type(start.value) is int:
        start = ir.Const(float(start.value))
    elif kind is None or issubclass(kind, (int, np.integer)):
        start = site.apply(operator.add, start, ir.Const(0.0))
    if step == _NONE:
        return site.apply(np.arange, start, stop)
    known = site.value(step)
    kind = known.type if isinstance(known, Scalar) else type_of(known)
    if kind is None:
        reason = "whether its step is complex is not known before the program runs; use np.linspace or np.arange"
        raise site.refusal("S2S202", name="a range in brackets", reason=reason)
    if isinstance(step, ir.Const) and isinstance(step.value, complex):
        return site.apply(between, start, stop, ir.Const(int(abs(step.value))))
    if issubclass(kind, (complex, np.complexfloating)):
        return site.apply(between, start, stop, site.apply(int, site.apply(abs, step)))
    return site.apply(np.arange, start, stop, step)


def bound_of_slice(at: At, receiver: ir.Atom, name: Any) -> ir.Atom | None:
    """``s.start`` and its kin of a slice that is made in the program."""
    bounds = at.context.definition(receiver, slice)
    if bounds is None or name not in _BOUNDS:
        return NOT_HANDLED
    start, stop, step = (_NONE, *bounds, _NONE) if len(bounds) == 1 else (*bounds, _NONE)[:3]
    return (start, stop, step)[_BOUNDS.index(name)]


_BOUNDS = ("start", "stop", "step")

HANDLERS: dict[Any, Handler] = {
    operator.getitem: _item, **dict.fromkeys((ops.contains, ops.not_in), _tested),
}
"""What is looked at before a subscript is left to its rule."""
