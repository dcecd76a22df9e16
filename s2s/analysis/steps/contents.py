"""What arrays and containers hold: values with steps, stored in them or side by side, and the places."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import is_number, rank
from s2s.analysis.functions import facts
from s2s.analysis.memory import is_basic
from s2s.analysis.steps.algebra import Form, key_of, puts_side_by_side
from s2s.core import ir, ops
from s2s.core.functions import Computes
from s2s.core.values import AbstractValue, Known, ListOf, Sequence
from s2s.directives.policies import Chosen

if TYPE_CHECKING:
    from s2s.analysis.steps.affine import Forms

__all__ = ["FILLED", "WHOLE", "Contents"]

Path: TypeAlias = tuple[ir.Atom, ...]
"""The indices of an element, from the outermost to the innermost; that of all elements is left out at the end."""

FILLED = (ops.append, ops.put, rt.set_item)
"""Functions that give a container with one more element, the last argument, or with another one in its place."""
_APPEND = ir.Const(ops.append)
_FILLED = tuple(map(ir.Const, FILLED))
_DICT = ir.Const(ops.make_dict)
_DISPLAYS = (ir.Const(ops.make_list), ir.Const(ops.make_tuple))
_PLUS = (ir.Const(operator.add), ir.Const(operator.iadd))
WHOLE = ir.Const(Ellipsis)
_STEPS = (round, np.round, np.around, np.fix)
_NONE = ir.Const(None)
_ALL = ((_NONE, ir.Const(0)), (_NONE,), (_NONE, ir.Const(1)))
"""The first, last and step of slices of all elements."""


class Contents:
    """What the arrays and containers of a function hold, of which ``forms`` are the forms."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self.kept: dict[ir.Var, list[tuple[Path, Form]]] = {}
        """What has steps and was stored into an array, with the indices, and what loops fill containers with."""
        self.dicts: set[ir.Atom] = set()
        """Dicts that loops fill."""

    def keep(self, target: ir.Atom, key: ir.Atom, value: ir.Atom) -> None:
        """Note a value with steps in it that is stored into an array."""
        form = self.forms.of(value)
        if self.forms.memory is None or not self.forms.memory.is_buffer(target) or not self.forms.steps_in(form):
            return
        made = self.forms.definitions.get(target)  # type: ignore[arg-type]
        if self.is_all(key) and made is not None and made.fn == ir.Const(operator.getitem):
            if is_basic(self.forms.value_of(made.args[1])):  # type: ignore[arg-type]
                target, key = made.args  # type: ignore[assignment]
        self.kept.setdefault(target, []).append((self._path(key), form))  # type: ignore[arg-type]

    def filled_by(self, loop: ir.For | ir.While, carried: ir.Carried, following: ir.Atom) -> None:
        """Note a list or a dict that a loop fills with values with steps in them: one at a key in each iteration, or
        one more at the end of what was empty."""
        made = self.forms.definitions.get(following)  # type: ignore[arg-type]
        if made is None or made.fn not in _FILLED or made.args[0] != carried.param:
            return
        before = self.forms.definitions.get(carried.init)  # type: ignore[arg-type]
        if carried.init in self.dicts or (before is not None and before.fn == ir.Const(ops.make_dict)):
            self.dicts.add(carried.result)
        form, key = self.forms.of(made.args[-1]), made.args[1]  # type: ignore[arg-type]
        if len(made.args) == 2:
            is_empty = before is not None and before.fn == ir.Const(ops.make_list) and not before.args
            key = self._counter(loop) if is_empty else None  # type: ignore[assignment]
        if key is not None and (self.forms.steps_in(form) or self.forms.is_varied(form)):
            parts = self.kept.get(made.args[-1], [((), form)])  # type: ignore[arg-type]
            kept = self.kept.get(carried.init, [])  # type: ignore[arg-type]
            self.kept[carried.result] = [*kept, *(((key, *path), part) for path, part in parts)]  # type: ignore[list-item]

    def _counter(self, loop: ir.For | ir.While) -> ir.Var | None:
        """The variable that counts the iterations of a loop from zero; None where it has none."""
        if isinstance(loop, ir.For):
            over = self.forms.definitions.get(loop.iterable)  # type: ignore[arg-type]
            return loop.item if over is not None and over.fn == ir.Const(range) and len(over.args) == 1 else None
        for c, following in zip(loop.carried, loop.body.yields, strict=True):
            made = self.forms.definitions.get(following)  # type: ignore[arg-type]
            if c.init == ir.Const(0) and made is not None and made.args == (c.param, ir.Const(1)):
                if made.fn in _PLUS:
                    return c.param
        return None

    def is_all(self, key: ir.Atom) -> bool:
        """Whether an index is that of all elements."""
        known = self.forms.value_of(key)
        made = self.forms.definitions.get(key)  # type: ignore[arg-type]
        if made is not None and made.fn == ir.Const(slice):
            return len(made.args) == 3 and all(a in some for a, some in zip(made.args, _ALL, strict=True))
        if not isinstance(known, Known):
            return False
        return known.value is Ellipsis or (type(known.value) is slice and known.value == slice(None))

    def _path(self, key: ir.Atom) -> Path:
        """The indices that an index is made of."""
        made = self.forms.definitions.get(key)  # type: ignore[arg-type]
        if made is not None and made.fn == ir.Const(ops.make_tuple) and WHOLE not in made.args:
            return self._shortened(made.args)  # type: ignore[arg-type]
        if isinstance(key, ir.Const) and type(key.value) is tuple and Ellipsis not in key.value:
            return self._shortened(tuple(map(ir.Const, key.value)))
        return self._shortened((key,))

    def _shortened(self, path: Path) -> Path:
        while path and self.is_all(path[-1]):
            path = path[:-1]
        return path

    def _place(self, array: ir.Atom, path: Path) -> tuple[ir.Atom, Path]:
        """Where a part of an array or of a container is: in what it is a part of, up to what is stored into."""
        while array not in self.kept:
            made = self.forms.definitions.get(array)  # type: ignore[arg-type]
            if made is None or not made.args:
                break
            if made.fn == ir.Const(operator.getitem):
                outer = list(self._path(made.args[1]))  # type: ignore[arg-type]
                if not all(self.is_all(a) or is_number(self.forms.value_of(a)) for a in outer):
                    break
                inner = list(path)
                path = (*(inner.pop(0) if inner and self.is_all(a) else a for a in outer), *inner)
            elif not self.holds_items_of(made):
                break
            array = made.args[0]  # type: ignore[assignment]
        return array, path

    def holds_items_of(self, made: ir.Call) -> bool:
        """Whether a call gives the items of its first argument, each at its place: not of a dict, nor ``a, *b = c``."""
        if not isinstance(made.fn, ir.Const) or made.args[0] in self.dicts or not all(
            isinstance(a, ir.Const) for a in made.args[1:]
        ):
            return False
        if made.fn.value is ops.unpack:
            return made.args[2] == _NONE
        return facts(made.fn.value).computes in (Computes.SAME, Computes.LIST)

    def stored_at(self, array: ir.Atom, key: ir.Atom) -> list[Form]:
        """What may have been stored at a place of an array, of values with steps."""
        array, path = self._place(array, self._path(key))
        found = []
        for at, form in self.kept.get(array, ()):  # type: ignore[arg-type]
            moved = self._moved(form, at, path)
            if moved is not None:
                found.append(moved)
        return found


    # --- other indices

    def _moved(self, form: Form, at: Path, to: Path) -> Form | None:
        """A form that was stored at some indices, as it is read at others; None where that is another element."""
        over: list[Form] = []
        rest: list[Form] = []
        for k, index in enumerate(at):
            other = to[k] if k < len(to) and not self.is_all(to[k]) else None
            here, there = self.forms.of(index), None if other is None else self.forms.of(other)
            if self.is_all(index):
                over += [self.forms.all] if there is None else []
                rest.append(self.forms.all if there is None else there)
            elif here != there:
                if not all(_is_place(self.forms.value_of(place)) for place in (index, other) if place is not None):
                    return None
                if isinstance(index, ir.Const) and isinstance(other, ir.Const):
                    return None
                if there is None:
                    over.append(here)
                else:
                    form = self._reindexed(form, (here,), there)
        rest += map(self.forms.of, to[len(at) :])
        form = self.forms.at(form, rest)
        return self._reindexed(form, tuple(over), None) if any(here != self.forms.all for here in over) else form

    def _reindexed(self, form: Form, here: tuple[Form, ...], there: Form | None) -> Form:
        """A form with another index in place of one; with none it is that of all elements, along all the indices."""
        known: dict[int, Form] = {}

        def move(part: Form) -> Form:
            if part in here:
                return part if there is None else there
            return self.forms.rewritten(part, factor_of)

        def factor_of(number: int) -> Form:
            if number not in known:
                known[number] = self._factor_at(number, here, there, move)
            return known[number]

        return move(form)

    def _factor_at(
        self, number: int, here: tuple[Form, ...], there: Form | None, move: Callable[[Form], Form]
    ) -> Form:
        """An atom at another index; ``move`` gives a form there."""
        forms = self.forms
        atom, alone = forms.atoms[number], forms.alone(number)
        if alone in here and there is not None:
            return there
        if atom.kind == "step" and number in forms.rounded:
            again, factor = forms.whole(atom.what, move(forms.rounded[number]), forms.decimals.get(number, ()))
            forms.variables[again] |= forms.variables[number]
            if there is not None and number in forms.scalars:
                forms.scalars.add(again)
            return factor
        if number in forms.sides:
            return self._side_at(number, here, there, move)
        if atom.kind != "call" or not all(isinstance(p, dict) for p in atom.parts[1:]):
            return alone
        fn, *parts = atom.parts
        if fn is operator.getitem:
            base, index = parts
            return forms.item(move(base), self._over(forms.entries(index), here) if there is None else move(index))
        return alone if isinstance(atom.what, str) else forms.called(fn, [move(p) for p in parts])

    def _over(self, entries: list[Form], along: tuple[Form, ...]) -> Form:
        """An index of all elements along some indices, each of them an axis of the result in its turn, in place of one
        element: ``i, k`` along ``i, j`` is ``:, k``, and ``i`` is ``:, None``. The same index where the turn is another
        one."""
        axes = [e for e in entries if e == self.forms.all or e in along]
        if not any(e in along and e != self.forms.all for e in entries):
            return self.forms.index(entries)
        first = along.index(axes[0]) if axes[0] in along else len(along)
        if list(along[first:]) == axes:
            return self.forms.index([self.forms.all if e in along else e for e in entries])
        if axes == entries and [a for a in along[first:] if a in axes] == axes:
            none = self.forms.of(_NONE)
            return self.forms.index([self.forms.all if a in axes else none for a in along[first:]])
        return self.forms.index(entries)

    def _side_at(
        self, number: int, here: tuple[Form, ...], there: Form | None, move: Callable[[Form], Form]
    ) -> Form:
        """What may be one of several, at another index."""
        sides = [move(side) for side in self.forms.sides[number]]
        if sides == self.forms.sides[number]:
            return self.forms.alone(number)
        _, array, index, *when = self.forms.items.get(number, ("item", number, None))
        keys: tuple[Any, ...] = (number, *map(key_of, here), None if there is None else key_of(there))
        if there is None and len(here) == 1 and index == key_of(here[0]):
            keys = ("all items", array, *when)  # whichever of them it was
        again = self.forms.number("one of", "", (), self.forms.atoms[number].is_varied, keys)
        self.forms.sides[again] = sides
        if there is not None and number in self.forms.scalars:
            self.forms.scalars.add(again)
        return self.forms.alone(again)


    # --- side by side

    def held(self, holder: ir.Atom) -> tuple[ir.Atom, ...] | None:
        """The values that a display holds, or an array made of one, or a part of it; None where it is something else,
        or may have changed."""
        made, more = self.forms.definitions.get(holder), list[ir.Atom]()  # type: ignore[arg-type]
        if made is None or made.kwargs or (self.forms.memory is not None and self.forms.memory.is_buffer(holder)):
            return None
        while made is not None and made.fn == _APPEND:
            more.append(made.args[1])  # type: ignore[arg-type]
            made = self.forms.definitions.get(made.args[0])  # type: ignore[arg-type]
        if made is not None and made.fn in _DISPLAYS and not any(isinstance(a, ir.Star) for a in made.args):
            return (*made.args, *reversed(more))  # type: ignore[arg-type]
        if made is None or more or made.fn in _DISPLAYS:
            return None
        fn = made.fn.value if isinstance(made.fn, ir.Const) else None
        if puts_side_by_side(fn) and len(made.args) == 1:
            return self.held(made.args[0])  # type: ignore[arg-type]
        bounds = self.forms.definitions.get(made.args[1]) if fn is operator.getitem else None  # type: ignore[arg-type]
        if bounds is None or bounds.fn != ir.Const(slice) or not all(isinstance(a, ir.Const) for a in bounds.args):
            return None
        held = self.held(made.args[0])  # type: ignore[arg-type]
        return None if held is None else held[slice(*(a.value for a in bounds.args))]  # type: ignore[union-attr]

    def of_all(self, holder: ir.Atom) -> Form | None:
        """The form of all elements together, where each is the same of its own place: ``[floor(x[0]), floor(x[1])]`` is
        ``floor(x)``. None where they differ, or have no steps in them."""
        forms = [self.forms.of(a) for a in self.held(holder) or ()]
        if not any(map(self.forms.steps_in, forms)):
            return None
        first, *others = (
            self._reindexed(form, ({(): float(k)} if k else {},), None) for k, form in enumerate(forms)
        )
        return first if all(form == first for form in others) else None

    def of_each(self, holder: ir.Atom) -> Form | None:
        """The form of all elements together, where they are known one by one, and some have steps in them."""
        forms = [self.of_each(a) or self.forms.of(a) for a in self.held(holder) or ()]
        return self.forms.called(ops.make_list, forms) if any(map(self.forms.steps_in, forms)) else None

    def items_of(self, holder: ir.Atom, key: ir.Atom) -> list[Form]:
        """What a list, a tuple or a dict with some known items may have at a key; nothing where no item has steps."""
        made = self.forms.definitions.get(holder)  # type: ignore[arg-type]
        if made is None or made.fn not in (*_DISPLAYS, _DICT) or not is_number(self.forms.value_of(key)):
            return []
        keys, items = (made.args[::2], made.args[1::2]) if made.fn == _DICT else ((), made.args)
        if any(isinstance(a, ir.Star) for a in made.args):
            return []
        if key in keys:
            items = (items[keys.index(key)],)
        forms = [self.forms.of(a) for a in items]  # type: ignore[arg-type]
        return forms if any(map(self.forms.steps_in, forms)) else []

    def beside(self, holder: ir.Atom, index: ir.Atom) -> Form | None:
        """What stands at a known place of what holds some values side by side, along any axis."""
        made = self.forms.definitions.get(index)  # type: ignore[arg-type]
        entries: list[Any] = list(made.args) if made is not None and made.fn == ir.Const(ops.make_tuple) else [index]
        held, axis = self.held(holder), 0
        if held is None:
            held, axis = self._along(holder, entries)
        if not held or len(entries) <= axis:
            return None
        before, place, after = entries[:axis], entries[axis], entries[axis + 1 :]
        if not all(self.is_all(a) or is_number(self.forms.value_of(a)) for a in before):
            return None
        if not isinstance(place, ir.Const) or type(place.value) is not int:
            return None
        if not -len(held) <= place.value < len(held):
            return None
        rest = [self.forms.all if self.is_all(a) else self.forms.of(a) for a in (*before, *after)]
        return self.forms.at(self.forms.of(held[place.value]), rest)

    def _along(self, holder: ir.Atom, entries: list[Any]) -> tuple[tuple[ir.Atom, ...] | None, int]:
        """The values that stand side by side in an array along another axis than the first, and the axis."""
        made, memory = self.forms.definitions.get(holder), self.forms.memory  # type: ignore[arg-type]
        if made is None or len(made.args) != 1 or (memory is not None and memory.is_buffer(holder)):
            return None, 0
        axis = dict(made.kwargs).get("axis")
        is_stack = made.fn == ir.Const(np.stack) and len(made.kwargs) == 1 and isinstance(axis, ir.Const)
        held = self.held(made.args[0]) if is_stack or made.fn == ir.Const(np.column_stack) else None  # type: ignore[arg-type]
        if held is None:
            return None, 0
        are_vectors = all(map(self._is_vector, held))
        at = axis.value if isinstance(axis, ir.Const) else 1
        if are_vectors and at in (1, -1):
            return held, 1
        is_last = len(entries) == 2 and entries[0] == WHOLE
        if is_stack and at == -1 and is_last:
            return held, 1
        return (held, at) if is_stack and type(at) is int and at >= 0 and WHOLE not in entries else (None, 0)

    def _is_vector(self, atom: ir.Atom) -> bool:
        return self._rank(atom) == 1

    def _rank(self, atom: ir.Atom) -> int | None:
        """The number of axes, also of what is an array of integers unless it is empty, and of what is computed from
        such elementwise."""
        value, made = self.forms.value_of(atom), self.forms.definitions.get(atom)  # type: ignore[arg-type]
        if isinstance(value, ListOf):
            return 1 if is_number(value.item) else None
        known = rank(value)
        if known is not None or made is None or not isinstance(made.fn, ir.Const) or made.kwargs:
            return known
        fn = made.fn.value.func if isinstance(made.fn.value, Chosen) else made.fn.value
        if not puts_side_by_side(fn) and not facts(fn).elementwise and fn not in _STEPS:
            return None
        ranks = [None if isinstance(a, ir.Star) else self._rank(a) for a in made.args]
        return None if None in ranks else max(ranks, default=None)  # type: ignore[type-var]


def _is_place(index: AbstractValue) -> bool:
    """Whether an index is that of one element, or of one row."""
    return is_number(index) or (
        isinstance(index, Sequence) and index.type is tuple and bool(index.items) and all(map(is_number, index.items))
    )
