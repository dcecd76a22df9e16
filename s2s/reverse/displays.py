"""Arrays that are made of nested lists of known structure, and arrays that are taken apart: item by item in reverse.

    a = np.array([[c, -s], [s, c]])         c_bar += a_bar[0, 0]; s_bar -= a_bar[0, 1]; ...
    y = np.stack((u, v))                    u_bar += y_bar[0]; v_bar += y_bar[1]
    p, q = x                                x_bar = np.stack((p_bar, q_bar))
    y = np.select([c, d], [u, v], w)        u_bar += np.where(c, y_bar, 0.0); ...

So neither the lists nor the array that is taken apart is kept.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.analysis.abstract.lattice import is_number, shape_of
from s2s.analysis.abstract.parts import leaves
from s2s.builder import cotangents
from s2s.core import ir, ops
from s2s.core.values import AbstractValue, Array, Known, Sequence
from s2s.reverse.residuals.sweep import Sweep

if TYPE_CHECKING:
    from s2s.reverse.sweeps import Reverser

__all__ = ["reverse_display", "reverse_selection", "reverse_unpacking"]

_ARRAYS = frozenset(map(ir.Const, (np.array, np.asarray)))
_STACK = ir.Const(np.stack)
_SELECT = ir.Const(np.select)
_DISPLAYS = frozenset(map(ir.Const, (ops.make_list, ops.make_tuple)))

MOST_ITEMS = 32
"""A display with more items than this is reversed by a function of the runtime, in one line."""


def reverse_display(
    reverser: Reverser, target: ir.Var, value: ir.Call, g: ir.Atom, span: ir.Span | None, sweep: Sweep
) -> bool:
    """Give each item of what an array was made of its part of the cotangent; False where that is not known."""
    axis = _axis(reverser, target, value)
    if axis is None or not isinstance(value.args[0], ir.Var):
        return False
    source = value.args[0]
    found, shape = list(leaves(reverser.context.value(source))), shape_of(reverser.context.value(target))
    if len(found) > MOST_ITEMS or shape is None:
        return False
    if any(_rank(known) is None or len(path) + _rank(known) != len(shape) for path, known in found):  # type: ignore[operator]
        return False
    if shape_of(reverser.context.value(g)) != shape:
        g = cotangents.full(sweep.builder, g, reverser.use(sweep, reverser.like(target)), span)
    for path, known in found:
        item = _item(reverser, source, path)
        if item is not None and not reverser.is_active(item):
            continue
        index: Any = (slice(None),) * axis + path if axis else path
        c = sweep.builder.call(operator.getitem, g, ir.Const(index[0] if len(index) == 1 else index), span=span)
        reverser.contribute(sweep, source, cotangents.fit_dtype(sweep.builder, c, known, span), span, path)
    return True


def _axis(reverser: Reverser, target: ir.Var, value: ir.Call) -> int | None:
    """The axis of an array along which the items lie that it is made of; None where it is made otherwise."""
    context = reverser.context
    known = context.value(value.args[0]) if value.args and not isinstance(value.args[0], ir.Star) else None
    if not isinstance(known, Sequence) or known.type not in (list, tuple) or not known.items:
        return None
    if value.fn in _ARRAYS and len(value.args) == 1 and not value.kwargs:
        return 0
    if value.fn != _STACK or any(key != "axis" for key, _ in value.kwargs) or len(value.args) > 2:
        return None
    given = [*value.args[1:], *(a for _, a in value.kwargs)] or [ir.Const(0)]
    axis, shape = context.value(given[0]), shape_of(context.value(target))  # type: ignore[arg-type]
    if not isinstance(axis, Known) or type(axis.value) is not int or not shape:
        return None
    if any(isinstance(item, Sequence) for item in known.items):
        return None
    return int(axis.value) % len(shape)


def _rank(known: AbstractValue) -> int | None:
    shape = shape_of(known)
    return 0 if is_number(known) else None if shape is None else len(shape)


def _item(reverser: Reverser, atom: ir.Atom, path: tuple[Any, ...]) -> ir.Atom | None:
    """What stands at a place of nested displays, as far as these are known."""
    for key in path:
        made = reverser.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
        if not isinstance(made, ir.Call) or made.fn not in _DISPLAYS or any(isinstance(a, ir.Star) for a in made.args):
            return None
        atom = made.args[key]
    return atom


def reverse_selection(
    reverser: Reverser, target: ir.Var, value: ir.Call, g: ir.Atom, span: ir.Span | None, sweep: Sweep
) -> bool:
    """Give each array of a known list that ``np.select`` chooses from the cotangent where it is chosen, as ``np.where``
    does, so that the choice goes outside of products (``cotangents.multiply``); False where the lists are not known."""
    if value.fn != _SELECT or len(value.args) < 2 or any(isinstance(a, ir.Star) for a in value.args):
        return False
    source = value.args[1]
    tests, choices = (_items(reverser, a) for a in value.args[:2])  # type: ignore[arg-type]
    if tests is None or choices is None or len(tests) != len(choices) or not isinstance(source, ir.Var):
        return False
    rest = value.args[2:] or tuple(a for key, a in value.kwargs if key == "default")
    named: list[tuple[tuple[int, ...], Any]] = [((k,), choice) for k, choice in enumerate(choices)]
    named += [((), a) for a in rest]

    def like(atom: ir.Atom) -> ir.Atom:
        return reverser.use(sweep, reverser.like(atom))

    for test, (path, choice) in zip((*tests, None), named):
        chosen = g
        if test is not None:
            held = reverser.use(sweep, test)
            chosen = cotangents.mask(sweep.builder, held, g, True, span)
            g = cotangents.mask(sweep.builder, held, g, False, span)
        if reverser.is_active(choice):
            c = cotangents.fit(sweep.builder, chosen, choice, target, like, span)
            reverser.contribute(sweep, source if path else choice, c, span, path)
    return True


def _items(reverser: Reverser, atom: ir.Atom) -> tuple[ir.Atom, ...] | None:
    """What stands in a display of few items; None where it is no display."""
    made = reverser.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
    if not isinstance(made, ir.Call) or made.fn not in _DISPLAYS or not 0 < len(made.args) <= MOST_ITEMS:
        return None
    return None if any(isinstance(a, ir.Star) for a in made.args) else made.args  # type: ignore[return-value]


def reverse_unpacking(
    reverser: Reverser, target: ir.Var, source: ir.Atom, span: ir.Span | None, sweep: Sweep
) -> bool:
    """Put the cotangent of an array together from those of all its items, where it has none so far; else False."""
    context, known, items = reverser.context, reverser.context.value(source), reverser.context.value(target)
    if not isinstance(known, Array) or not known.shape or not isinstance(items, Sequence):
        return False
    if reverser.memory.is_buffer(source) or source in reverser.unbound or sweep.holding((source, ())) is not None:  # type: ignore[arg-type]
        return False
    paths = [(k,) for k in range(len(items.items))]
    if not paths or [path for path, _ in leaves(items)] != paths:
        return False
    if any(reverser.read(sweep, target, path) is None for path in paths):
        return False
    g = reverser.bar_of(sweep, target, span, whole=True)
    assert g is not None
    made = sweep.builder.call(np.stack if len(known.shape) > 1 else np.array, g, span=span)
    if not isinstance(context.value(made), Array):
        return False
    reverser.contribute(sweep, source, cotangents.fit_dtype(sweep.builder, made, known, span), span)
    return True
