"""Affine forms: what a number or an array of a specialised function is, as a sum of products of things that are not
taken apart. Results of steps (``floor``, ``round``, a conversion to integers) are such things, and so it shows where
one is subtracted from what it rounds.

    i = np.floor((x - lo) / dx)         a step; what it rounds is   x/dx - lo/dx
    w = x - (lo + dx * i)               x - lo - dx*i

A form is a dict: a product of atoms (pairs of a number that stands for the atom and its power, in order) to its factor.
Two atoms that are computed alike from the same things are one; an array that some statement changes is another one
after each store.
"""

from __future__ import annotations

import builtins
import itertools
import math
import operator
import types
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.folding import is_pure
from s2s.analysis.abstract.lattice import dtype_of, is_number, type_of
from s2s.analysis.memory import Memory, is_basic
from s2s.core import ir, ops
from s2s.core.record import record
from s2s.core.values import AbstractValue, Array, Known, ListOf, Sequence
from s2s.directives.policies import Chosen
from s2s.rules import surrogates, table

__all__ = [
    "FILLED", "MATRIX_PRODUCTS", "PIECEWISE_AFFINE", "PRODUCTS", "QUOTIENTS", "SUMS", "Atom", "Form", "Forms",
    "Product", "added", "is_open", "scaled",
]

Product: TypeAlias = tuple[tuple[int, int], ...]
Form: TypeAlias = dict[Product, float]
Path: TypeAlias = tuple[ir.Atom, ...]
"""The indices of an element, from the outermost to the innermost; that of all elements is left out at the end."""

SUMS: dict[Any, float] = {
    operator.add: 1.0, operator.iadd: 1.0, np.add: 1.0, operator.sub: -1.0, operator.isub: -1.0, np.subtract: -1.0,
}
"""Sums of two, and the sign of the second one."""

PRODUCTS = (operator.mul, operator.imul, np.multiply)
QUOTIENTS = (operator.truediv, operator.itruediv, np.divide)
_NEGATIVES = (operator.neg, np.negative)
_SAME = (
    float, np.float64, np.float32, operator.pos, np.positive, np.asarray, np.asanyarray, np.array, np.copy,
    np.ascontiguousarray, np.ndarray.copy, np.ndarray.astype, np.ndarray.item, np.ndarray.tolist,
    np.asarray_chkfinite,
)
"""Functions that give the number, or the numbers, that they get."""
_JOINS = (
    np.where, np.clip, np.ndarray.clip, np.minimum, np.maximum, np.fmin, np.fmax, builtins.min, builtins.max,
)
"""Functions that give one of what they get, element by element."""
FILLED = (ops.append, ops.put, rt.set_item)
"""Functions that give a container with one more element, the last argument, or with another one in its place."""
_APPEND = ir.Const(ops.append)
_FILLED = tuple(map(ir.Const, FILLED))
_DISPLAYS = (ir.Const(ops.make_list), ir.Const(ops.make_tuple))
_PLUS = (ir.Const(operator.add), ir.Const(operator.iadd))
_SIDE_BY_SIDE = (np.array, np.asarray, np.stack)
_CONTENTS = tuple(map(ir.Const, (np.array, np.asarray, list, tuple, ops.unpack)))
"""Functions that hold what they are given, element by element."""
_FLAT = (np.ravel, np.ndarray.ravel, np.ndarray.flatten, np.reshape, np.ndarray.reshape)
"""Functions that keep items in the order of their indices."""
_SIZES = (abs, operator.abs, np.absolute, math.fabs, np.fabs)
MATRIX_PRODUCTS = (operator.matmul, np.matmul, np.dot, np.ndarray.dot)
PIECEWISE_AFFINE = (*SUMS, *_NEGATIVES, *_SAME, *_JOINS)
"""Functions that are affine, or give one of what they get."""
_FAMILIES = {"quotient": "floor", "toward zero": "trunc", "halves": "round", "decimals": "round"}
"""Names for steps that give the same number."""
REMAINDERS = {
    operator.mod: "floor", operator.imod: "floor", np.remainder: "floor", np.fmod: "trunc", math.fmod: "trunc",
}
"""Functions that give what is left by a step, and the step."""
_SHIFTED = ("floor", "ceil", "round")
"""Steps that give ``n`` more where what they round is ``n`` more, for any integer."""
_PURE = ("partials", "several", "linear", "vjp", "straight_through", "zero")
_LARGEST = 24
"""The number of products above which a form is not multiplied out."""
WHOLE = ir.Const(Ellipsis)
_NONE = ir.Const(None)
_ALL = ((_NONE, ir.Const(0)), (_NONE,), (_NONE, ir.Const(1)))
"""The first, last and step of slices of all elements."""
_NEGLIGIBLE = 1e-6
"""How much of a sum may be left where it counts as cancelled: constants are written with some digits only."""


@record
class Atom:
    """Something that is not taken apart: a variable, a step, or a call of ``fn`` with the forms ``parts``.
    ``is_varied`` says whether it depends on what is differentiated, ``steps`` which steps are in it, at any depth."""

    kind: str
    what: Any
    parts: tuple[Any, ...]
    is_varied: bool
    steps: frozenset[int]


def is_open(value: ir.Value) -> bool:
    """Whether a value is a step whose derivative is not decided yet."""
    match value:
        case ir.Call(ir.Const(value=Chosen() as chosen)):
            return getattr(chosen.how, "name", "") == "open"
        case _:
            return False


# --- sums of products -----------------------------------------------------------------------------------------------


def added(a: Form, b: Form, factor: float = 1.0) -> Form:
    """The sum ``a + factor * b``."""
    made = dict(a)
    for product, coefficient in b.items():
        before, more = made.get(product, 0.0), factor * coefficient
        made[product] = before + more
        if abs(made[product]) <= _NEGLIGIBLE * (abs(before) + abs(more)):
            del made[product]
    return made


def scaled(a: Form, factor: float) -> Form:
    """A form times a number."""
    return {product: factor * coefficient for product, coefficient in a.items()}


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) <= 1e-9 * max(1.0, abs(number))


def _key(form: Form) -> tuple[Any, ...]:
    return tuple(sorted((product, float(f"{coefficient:.12g}")) for product, coefficient in form.items()))


class Forms:
    """The forms of the variables of a function, made statement by statement in the order of the text."""

    def __init__(
        self, value_of: Callable[[ir.Atom], AbstractValue], is_varied: Callable[[ir.Atom], bool], memory: Memory | None
    ) -> None:
        self.value_of = value_of
        self.is_varied_atom = is_varied
        self.atoms: list[Atom] = []
        self.ids: dict[Any, int] = {}
        self.forms: dict[ir.Var, Form] = {}
        self.definitions: dict[ir.Var, ir.Call] = {}
        self.defined_at: dict[ir.Var, int] = {}
        self.rounded: dict[int, Form] = {}
        """What a step rounds, by the number of the step."""
        self.sides: dict[int, list[Form]] = {}
        """What a value that is one of several may be, by its number: those that have steps."""
        self.variables: dict[int, set[ir.Var]] = {}
        """The variables of a step, by the number of the step: one that is written twice has two."""
        self.items: dict[int | None, tuple[Any, ...]] = {}
        """For values that are one of several, as a list holds them at an index: which list and which index."""
        self.scalars: set[int] = set()
        """The steps, and the values that are one of several, that are numbers and no arrays."""
        self.decimals: dict[int, tuple[Any, ...]] = {}
        """What steps that keep decimals are given besides, by the number of the step."""
        self.integral: set[int] = set()
        """The steps that give integers."""
        self.left_by: dict[ir.Var, frozenset[int]] = {}
        """The steps that stand still in what ``%`` gives."""
        self.memory = memory
        self.all = self.alone(self.number("constant", "all"))
        """The index of all elements."""
        self.epochs: dict[ir.Var, int] = {}
        """How often an array has changed, by the variable that stands for its memory."""
        self.arithmetic: set[ir.Var] = set()
        """Variables of no known type that are numbers or arrays, because arithmetic has made them."""
        self.dicts: set[ir.Atom] = set()
        """Dicts that loops fill."""
        self.kept: dict[ir.Var, list[tuple[Path, Form]]] = {}
        """What has steps and was stored into an array or a container, with the indices."""

    # --- atoms

    def number(
        self, kind: str, what: Any, parts: tuple[Any, ...] = (), is_varied: bool = False, keys: tuple[Any, ...] = ()
    ) -> int:
        """The number of an atom: the same for one that is computed alike."""
        key = (kind, what, *keys)
        found = self.ids.get(key)
        if found is None:
            found = self.ids[key] = len(self.atoms)
            steps = frozenset[int]().union(*(self.steps_in(p) for p in parts if isinstance(p, dict)))
            is_varied = is_varied or any(self.is_varied(p) for p in parts if isinstance(p, dict))
            steps |= {found} if kind in ("step", "one of") else set()
            self.atoms.append(Atom(kind, what, parts, is_varied, steps))
        return found

    def alone(self, number: int) -> Form:
        """The form of one atom."""
        return {((number, 1),): 1.0}

    def steps_in(self, form: Form) -> frozenset[int]:
        """The steps, and the values that are one of several, in a form."""
        return frozenset[int]().union(*(self.steps_of(product) for product in form))

    def steps_of(self, product: Product) -> frozenset[int]:
        return frozenset[int]().union(*(self.atoms[a].steps for a, _ in product))

    def is_varied(self, form: Form) -> bool:
        return any(map(self.varies, form))

    def varies(self, product: Product) -> bool:
        """Whether a product depends on what is differentiated."""
        return any(self.atoms[a].is_varied for a, _ in product)

    # --- forms of variables

    def of(self, atom: ir.Atom) -> Form:
        """The form of a variable as it is here, or of a constant."""
        if isinstance(atom, ir.Const):
            return self._constant(atom.value)
        found = self.forms.get(atom)
        if self.memory is None or not self.memory.is_buffer(atom) or self.defined_at.get(atom) == self.epoch(atom):
            return self._variable(atom, 0) if found is None else found
        stored = self._stored_at(atom, WHOLE)
        if stored:
            return self._joined(atom, stored, self.epoch(atom))
        made = self.definitions.get(atom)  # a view holds what its array holds here
        if made is not None and made.fn == ir.Const(operator.getitem) and is_basic(self.value_of(made.args[1])):  # type: ignore[arg-type]
            return self._read(*made.args)  # type: ignore[arg-type]
        if found is not None and self.steps_in(found):
            return self._joined(atom, [found], self.epoch(atom))
        return self._variable(atom, self.epoch(atom))

    def _variable(self, var: ir.Var, epoch: int) -> Form:
        return self.alone(self.number("variable", var, (), self.is_varied_atom(var), (epoch,)))

    def _constant(self, value: Any) -> Form:
        if type(value) in (int, float) and ((type(value) is int and abs(value) < 2**53) or math.isfinite(value)):
            return {(): float(value)} if value else {}
        if type(value) is slice and value == slice(None):
            return self.all
        return self.alone(self.number("constant", ir.Const(value)))

    def define(self, target: ir.Var, value: ir.Value) -> Form:
        """The form of a variable that a statement defines. A long one is that of the variable for what comes after."""
        if isinstance(value, ir.Call):
            self.definitions[target] = value = self._by_function(value)
            if self._is_arithmetic(value):
                self.arithmetic.add(target)
        self.defined_at[target] = self.epoch(target)
        made = self._value(target, value)
        self.forms[target] = made if len(made) <= _LARGEST else self._variable(target, 0)
        return made

    def epoch(self, atom: ir.Atom) -> int:
        """How often the memory of an array has changed so far."""
        if self.memory is None or not self.memory.is_buffer(atom):
            return 0
        return self.epochs.get(self.memory.find(atom), 0)  # type: ignore[arg-type]

    def stored(self, array: ir.Atom) -> None:
        """An array has changed."""
        if self.memory is not None and isinstance(array, ir.Var):
            root = self.memory.find(array)
            self.epochs[root] = self.epochs.get(root, 0) + 1

    def fill(self, array: ir.Atom, form: Form) -> None:
        """An array holds this, until it changes again."""
        if isinstance(array, ir.Var) and self.definitions.get(array) is not None:
            self.forms[array] = form
            self.defined_at[array] = self.epoch(array)

    # --- what arrays hold

    def keep(self, target: ir.Atom, key: ir.Atom, value: ir.Atom) -> None:
        """Note a value with steps in it that is stored into an array."""
        form = self.of(value)
        if self.memory is None or not self.memory.is_buffer(target) or not self.steps_in(form):
            return
        made = self.definitions.get(target)  # type: ignore[arg-type]
        if self.is_all(key) and made is not None and made.fn == ir.Const(operator.getitem):
            if is_basic(self.value_of(made.args[1])):  # type: ignore[arg-type]
                target, key = made.args  # type: ignore[assignment]
        self.kept.setdefault(target, []).append((self._path(key), form))  # type: ignore[arg-type]

    def filled_by(self, loop: ir.For | ir.While, carried: ir.Carried, following: ir.Atom) -> None:
        """Note a list or a dict that a loop fills with values with steps in them: one at a key in each iteration, or
        one more at the end of what was empty."""
        made = self.definitions.get(following)  # type: ignore[arg-type]
        if made is None or made.fn not in _FILLED or made.args[0] != carried.param:
            return
        before = self.definitions.get(carried.init)  # type: ignore[arg-type]
        if carried.init in self.dicts or (before is not None and before.fn == ir.Const(ops.make_dict)):
            self.dicts.add(carried.result)
        form, key = self.of(made.args[-1]), made.args[1]  # type: ignore[arg-type]
        if len(made.args) == 2:
            is_empty = before is not None and before.fn == ir.Const(ops.make_list) and not before.args
            key = self._counter(loop) if is_empty else None  # type: ignore[assignment]
        if key is not None and self.steps_in(form):
            parts = self.kept.get(made.args[-1], [((), form)])  # type: ignore[arg-type]
            kept = self.kept.get(carried.init, [])  # type: ignore[arg-type]
            self.kept[carried.result] = [*kept, *(((key, *path), part) for path, part in parts)]  # type: ignore[list-item]

    def _counter(self, loop: ir.For | ir.While) -> ir.Var | None:
        """The variable that counts the iterations of a loop from zero; None where it has none."""
        if isinstance(loop, ir.For):
            over = self.definitions.get(loop.iterable)  # type: ignore[arg-type]
            return loop.item if over is not None and over.fn == ir.Const(range) and len(over.args) == 1 else None
        for c, following in zip(loop.carried, loop.body.yields, strict=True):
            made = self.definitions.get(following)  # type: ignore[arg-type]
            if c.init == ir.Const(0) and made is not None and made.args == (c.param, ir.Const(1)):
                if made.fn in _PLUS:
                    return c.param
        return None

    def is_all(self, key: ir.Atom) -> bool:
        """Whether an index is that of all elements."""
        known = self.value_of(key)
        made = self.definitions.get(key)  # type: ignore[arg-type]
        if made is not None and made.fn == ir.Const(slice):
            return len(made.args) == 3 and all(a in some for a, some in zip(made.args, _ALL, strict=True))
        if not isinstance(known, Known):
            return False
        return known.value is Ellipsis or (type(known.value) is slice and known.value == slice(None))

    def _path(self, key: ir.Atom) -> Path:
        """The indices that an index is made of."""
        made = self.definitions.get(key)  # type: ignore[arg-type]
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
            made = self.definitions.get(array)  # type: ignore[arg-type]
            if made is None or not made.args:
                break
            if made.fn == ir.Const(operator.getitem):
                outer = list(self._path(made.args[1]))  # type: ignore[arg-type]
                if not all(self.is_all(a) or is_number(self.value_of(a)) for a in outer):
                    break
                inner = list(path)
                path = (*(inner.pop(0) if inner and self.is_all(a) else a for a in outer), *inner)
            elif not self._holds_items_of(made):
                break
            array = made.args[0]  # type: ignore[assignment]
        return array, path

    def _holds_items_of(self, made: ir.Call) -> bool:
        """Whether a call gives the items of its first argument, each at its place: not of a dict, nor ``a, *b = c``."""
        if made.fn not in _CONTENTS or made.args[0] in self.dicts or not all(
            isinstance(a, ir.Const) for a in made.args[1:]
        ):
            return False
        return made.fn != ir.Const(ops.unpack) or made.args[2] == _NONE

    def _stored_at(self, array: ir.Atom, key: ir.Atom) -> list[Form]:
        """What may have been stored at a place of an array, of values with steps."""
        array, path = self._place(array, self._path(key))
        found = []
        for at, form in self.kept.get(array, ()):  # type: ignore[arg-type]
            moved = self._moved(form, at, path)
            if moved is not None:
                found.append(moved)
        return found

    def _moved(self, form: Form, at: Path, to: Path) -> Form | None:
        """A form that was stored at some indices, as it is read at others; None where that is another element."""
        over: list[Form] = []
        rest: list[Form] = []
        for k, index in enumerate(at):
            other = to[k] if k < len(to) and not self.is_all(to[k]) else None
            here, there = self.of(index), None if other is None else self.of(other)
            if self.is_all(index):
                over += [self.all] if there is None else []
                rest.append(self.all if there is None else there)
            elif here != there:
                if not _is_place(self.value_of(index)) or (other is not None and not _is_place(self.value_of(other))):
                    return None
                if isinstance(index, ir.Const) and isinstance(other, ir.Const):
                    return None
                if there is None:
                    over.append(here)
                else:
                    form = self._reindexed(form, (here,), there)
        rest += map(self.of, to[len(at) :])
        form = self._at(form, rest)
        return self._reindexed(form, tuple(over), None) if any(here != self.all for here in over) else form

    def _reindexed(self, form: Form, here: tuple[Form, ...], there: Form | None) -> Form:
        """A form with another index in place of one; with none it is that of all elements, along all the indices."""
        known: dict[int, Form] = {}

        def move(part: Form) -> Form:
            if part in here:
                return part if there is None else there
            return self._rewritten(part, factor_of)

        def factor_of(number: int) -> Form:
            if number not in known:
                known[number] = self._factor_at(number, here, there, move)
            return known[number]

        return move(form)

    def _factor_at(
        self, number: int, here: tuple[Form, ...], there: Form | None, move: Callable[[Form], Form]
    ) -> Form:
        """An atom at another index; ``move`` gives a form there."""
        atom, alone = self.atoms[number], self.alone(number)
        if alone in here and there is not None:
            return there
        if atom.kind == "step" and number in self.rounded:
            again, factor = self.whole(atom.what, move(self.rounded[number]), self.decimals.get(number, ()))
            self.variables[again] |= self.variables[number]
            if there is not None and number in self.scalars:
                self.scalars.add(again)
            return factor
        if number in self.sides:
            return self._side_at(number, here, there, move)
        if atom.kind != "call" or not all(isinstance(p, dict) for p in atom.parts[1:]):
            return alone
        fn, *parts = atom.parts
        if fn is operator.getitem:
            base, index = parts
            return self.item(move(base), self._over(self._entries(index), here) if there is None else move(index))
        return alone if isinstance(atom.what, str) else self.called(fn, [move(p) for p in parts])

    def _over(self, entries: list[Form], along: tuple[Form, ...]) -> Form:
        """An index of all elements along some indices, each of them an axis of the result in its turn, in place of one
        element: ``i, k`` along ``i, j`` is ``:, k``, and ``i`` is ``:, None``. The same index where the turn is another
        one."""
        axes = [e for e in entries if e == self.all or e in along]
        if not any(e in along and e != self.all for e in entries):
            return self._index(entries)
        first = along.index(axes[0]) if axes[0] in along else len(along)
        if list(along[first:]) == axes:
            return self._index([self.all if e in along else e for e in entries])
        if axes == entries and [a for a in along[first:] if a in axes] == axes:
            none = self.of(_NONE)
            return self._index([self.all if a in axes else none for a in along[first:]])
        return self._index(entries)

    def _entries(self, index: Form) -> list[Form]:
        """The indices that an index is made of."""
        number = self._only(index)
        atom = self.atoms[number] if number is not None else None
        is_tuple = atom is not None and atom.kind == "call" and atom.parts[0] is ops.make_tuple
        return list(atom.parts[1:]) if is_tuple else [index]  # type: ignore[union-attr]

    def _index(self, entries: list[Form]) -> Form:
        while entries and entries[-1] == self.all:
            entries = entries[:-1]
        if len(entries) < 2:
            return entries[0] if entries else self.all
        return self.called(ops.make_tuple, entries)

    def _at(self, form: Form, entries: list[Form]) -> Form:
        index = self._index(entries)
        return form if index == self.all else self.item(form, index)

    def _side_at(
        self, number: int, here: tuple[Form, ...], there: Form | None, move: Callable[[Form], Form]
    ) -> Form:
        """What may be one of several, at another index."""
        sides = [move(side) for side in self.sides[number]]
        if sides == self.sides[number]:
            return self.alone(number)
        _, array, index, *when = self.items.get(number, ("item", number, None))
        keys: tuple[Any, ...] = (number, *map(_key, here), None if there is None else _key(there))
        if there is None and len(here) == 1 and index == _key(here[0]):
            keys = ("all items", array, *when)  # whichever of them it was
        again = self.number("one of", "", (), self.atoms[number].is_varied, keys)
        self.sides[again] = sides
        if there is not None and number in self.scalars:
            self.scalars.add(again)
        return self.alone(again)

    def one_of(self, target: ir.Var, sides: list[ir.Atom], test: ir.Atom | None = None) -> None:
        """Note a variable that is one of several, which one by a test."""
        keys = None
        if test is not None and ir.UNDEFINED not in sides:
            keys = ("if", self.key(test), *map(self.key, sides))
        self.result_of(target, sides, keys)

    def result_of(self, target: ir.Var, sides: list[ir.Atom], keys: tuple[Any, ...] | None) -> None:
        """Note a variable that a branch or a loop gives; ``keys`` are equal for one that gives the same."""
        given = [a for a in sides if a != ir.UNDEFINED]
        self.forms[target] = self._joined(target, [self.of(a) for a in given], 0, keys)
        if all(map(self.is_numeric, given)):
            self.arithmetic.add(target)

    def key(self, atom: ir.Atom) -> tuple[Any, ...]:
        """What is equal for what is computed alike."""
        return _key(self.of(atom))

    def _joined(
        self, target: ir.Var, sides: list[Form], epoch: int = 0, keys: tuple[Any, ...] | None = None,
        followed: list[Form] | None = None,
    ) -> Form:
        """The form of what is one of several; ``keys`` say which, where that shows. Those ``followed`` are looked at
        where they stand in sums; without, those with steps."""
        with_steps = followed or [form for form in sides if self.steps_in(form)]
        if not with_steps and keys is None:
            return self._variable(target, epoch)
        kind = "one of" if with_steps else "chosen"
        number = self.number(kind, "", (), self.is_varied_atom(target), keys or (target, epoch))
        self._note_number(number, target)
        if with_steps:
            self.sides[number] = with_steps
        return self.alone(number)

    def _value(self, target: ir.Var, value: ir.Value) -> Form:
        match value:
            case ir.Var() | ir.Const():
                return self.of(value)
            case ir.Load(name, scope, owner):
                return self.alone(self.number("global", (name, scope, id(owner))))
            case ir.Call(ir.Const(value=fn), args, kwargs) if not any(isinstance(a, ir.Star) for a in args):
                if fn is slice and self.is_all(target):
                    return self.all
                if is_open(value):
                    return self._step(target, fn.func, args)  # type: ignore[arg-type]
                made = None if isinstance(fn, Chosen) else self._call(target, fn, args, kwargs)  # type: ignore[arg-type]
                return self._variable(target, 0) if made is None else made
            case _:
                return self._variable(target, 0)

    def _step(self, target: ir.Var, fn: Any, args: tuple[ir.Atom, ...]) -> Form:
        rounded = self._of_all(args[0]) or self.of(args[0])
        step = surrogates.step_of(fn)
        if step == "quotient":
            rounded = self.times(rounded, self.inverse(self.of(args[1])))
        more = tuple(_key(self.of(a)) for a in args[1:]) if step == "decimals" else ()
        one = self._integer_of(args[0], rounded) if not more else None
        if one is not None:
            self.variables[one].add(target)
            return rounded
        number, made = self.whole(_FAMILIES.get(step, fn.__name__), rounded, more)
        self.variables[number].add(target)
        self._note_number(number, target)
        return made

    def _integer_of(self, given: ir.Atom, form: Form) -> int | None:
        """The step that gave the integers that are rounded, where it is one step: they stay what they are."""
        sides = self.sides.get(self._only(form), ())  # type: ignore[arg-type]
        step = self._only(sides[0]) if len(sides) == 1 else None
        if step not in self.variables or step not in self.integral:
            return None
        held = self._held(given) or (given,)
        return step if all(self._gives_integers(a) or _counts(self.value_of(a)) for a in held) else None

    def _note_number(self, number: int, target: ir.Var) -> None:
        if is_number(self.value_of(target)):
            self.scalars.add(number)

    def whole(self, family: str, rounded: Form, more: tuple[Any, ...] = ()) -> tuple[int, Form]:
        """The number of the step that rounds a form, and the form of its result.

        Integers are taken out of what is rounded, and the whole part of a multiple of a whole part is found at once:

            (t - 3600*(t//3600)) // 60          t//60 - 60*(t//3600)
            (t//60) // 60                       t//3600
        """
        if not more and family in _SHIFTED:
            rounded = self._unnested(family, rounded)
        apart = {p: c for p, c in rounded.items() if p and _is_whole(c) and self._is_integral(p)} if not more else {}
        left = {p: c for p, c in rounded.items() if p not in apart}
        if not left and len(apart) == 1:
            (((product, coefficient),),) = (apart.items(),)
            if coefficient == 1.0 and len(product) == 1 and product[0][0] in self.variables:
                return product[0][0], apart  # an integer is rounded
        if not left or family not in _SHIFTED:
            apart, left = {}, rounded
        number = self.number("step", family, (), True, (_key(left), more))
        self.variables.setdefault(number, set())
        self.rounded[number] = left
        if more:
            self.decimals[number] = more
        else:
            self.integral.add(number)
        return number, added(apart, self.alone(number))

    def _unnested(self, family: str, rounded: Form) -> Form:
        """What is rounded, where that is a fraction of an integer which the same function gave, and of others."""
        for product, coefficient in rounded.items():
            if len(product) != 1 or product[0][1] != 1 or family == "round":
                continue
            atom, count = self.atoms[product[0][0]], 1.0 / coefficient
            is_fraction = atom.kind == "step" and atom.what == family and _is_whole(count) and count > 1.5
            if is_fraction and all(
                _is_whole(c * count) and self._is_integral(p) for p, c in rounded.items() if p and p != product
            ) and _is_whole(rounded.get((), 0.0) * count):
                return self.put_in(rounded, {product[0][0]: self.rounded[product[0][0]]})
        return rounded

    def _is_integral(self, product: Product) -> bool:
        """Whether a product is one of integers."""
        return all(k > 0 and self._gives_integer(a) for a, k in product)

    def _gives_integer(self, number: int) -> bool:
        atom = self.atoms[number]
        return (atom.what if atom.kind == "cell" else number) in self.integral

    def _remainder(self, target: ir.Var, family: str, a: Form, b: Form) -> Form:
        """``a % b``: the step in it does not move."""
        quotient = self.times(a, self.inverse(b))
        number, whole = self.whole(family, quotient)
        self._note_number(number, target)
        steps = {k for k in self.steps_in(whole) if k in self.rounded}
        self.left_by[target] = frozenset({number, *steps})
        still = self.put_in(whole, {k: self.alone(self.number("cell", k)) for k in steps})
        return added(a, self.times(b, still), -1.0)

    def _call(self, target: ir.Var, fn: Any, args: tuple[ir.Atom, ...], kwargs: tuple[Any, ...]) -> Form | None:
        """The form of a call; None where nothing is known of it."""
        if len(args) == 2 and not kwargs and fn in SUMS:
            return added(self.of(args[0]), self.of(args[1]), SUMS[fn])
        if len(args) == 2 and not kwargs and fn in PRODUCTS:
            return self.times(self.of(args[0]), self.of(args[1]))
        if len(args) == 2 and not kwargs and fn in QUOTIENTS:
            return self.times(self.of(args[0]), self.inverse(self.of(args[1])))
        if len(args) == 2 and not kwargs and fn in REMAINDERS and any(map(self.is_varied_atom, args)):
            return self._remainder(target, REMAINDERS[fn], self.of(args[0]), self.of(args[1]))
        if fn in _NEGATIVES and len(args) == 1 and not kwargs:
            return scaled(self.of(args[0]), -1.0)
        if fn in (list, tuple) and len(args) == 1 and self._is_in_order(args[0]):
            if args[0] in self.kept:
                self.kept[target] = self.kept[args[0]]  # type: ignore[index]
            return self.of(args[0])
        if fn is ops.unpack and self._holds_items_of(self.definitions[target]):
            return self.of(args[0])
        if fn in FILLED:
            return self._joined(target, [self.of(args[0]), self.of(args[-1])])
        if fn is operator.getitem:
            beside = self._beside(args[0], args[1])
            if beside is not None:
                return beside
            stored = self._stored_at(args[0], args[1]) if self.kept and not self.is_all(args[1]) else []
            if stored:
                epoch = self.epoch(args[0])
                keys = ("item", *map(self.key, args), epoch)
                made = self._joined(target, stored, epoch, keys, stored)
                self.items[self._only(made)] = keys
                return made
            return self._read(args[0], args[1])
        if args and fn in _SAME and not self._gives_integers(target):
            if self.is_numeric(args[0]):
                return self.of(args[0])
            whole, stored = self._of_all(args[0]), self._stored_at(args[0], WHOLE)  # of a list
            if whole is not None:
                return whole
            if stored:
                return self._joined(target, stored, 0, ("all", self.key(args[0])))
        if fn in _JOINS and not kwargs:
            sides = args[1:] if fn is np.where else args
            if any(self.steps_in(self.of(a)) for a in sides):
                keys = (id(fn), *(_key(self.of(a)) for a in args))
                return self._joined(target, [self.of(a) for a in sides], 0, keys)
        if len(args) == 1 and not kwargs and (fn in _SIZES or fn is np.sign):
            sign = self.alone(self.number("sign", "", (self.of(args[0]),), False, _key(self.of(args[0]))))
            return sign if fn is np.sign else self.times(sign, self.of(args[0]))
        rule = table.find(fn)
        still = is_pure(fn) and not kwargs and all(
            isinstance(a, ir.Const) or (self.is_numeric(a) and not self.is_varied_atom(a)) for a in args)
        if fn not in (getattr, ops.make_list, ops.make_tuple) and not still and (
            rule is None or rule.kind not in _PURE or rule.acts
        ):
            return None
        return self.called(fn, [self.of(a) for a in args], kwargs)

    def is_numeric(self, atom: ir.Atom | ir.Star) -> bool:
        """Whether something is a number or an array."""
        return atom in self.arithmetic or _is_numeric(self.value_of(atom))  # type: ignore[arg-type]

    def _by_function(self, value: ir.Call) -> ir.Call:
        """A call of a method of a number or an array of no known type, as one of the function that this is."""
        read = self.definitions.get(value.fn) if isinstance(value.fn, ir.Var) else None
        if read is None or read.fn != ir.Const(getattr) or not self.is_numeric(read.args[0]):
            return value
        fn = getattr(np.ndarray, str(read.args[1].value), None) if isinstance(read.args[1], ir.Const) else None
        if not isinstance(fn, types.MethodDescriptorType) or surrogates.is_piecewise(fn):  # decided: no open step
            return value
        return ir.replace(value, fn=ir.Const(fn), args=(read.args[0], *value.args))

    def _is_arithmetic(self, value: ir.Call) -> bool:
        """Whether a call gives a number or an array, whatever is known of its type: not ``+`` and ``*`` of lists."""
        fn = value.fn.value if isinstance(value.fn, ir.Const) else None
        if fn in SUMS or fn in PRODUCTS or fn in QUOTIENTS:
            return any(self.is_numeric(a) and not _counts(self.value_of(a)) for a in value.args)  # type: ignore[arg-type]
        if fn is operator.getitem:
            return self.is_numeric(value.args[0])
        if fn in _SAME or fn in _SIDE_BY_SIDE or is_open(value):
            return fn is not np.ndarray.tolist
        rule = table.find(fn)
        owner = getattr(fn, "__objclass__", None) or getattr(fn, "__module__", None)
        return rule is not None and rule.kind in _PURE and (isinstance(fn, np.ufunc) or owner in ("numpy", np.ndarray))

    def _is_in_order(self, atom: ir.Atom) -> bool:
        """Whether something gives its items in the order of their places: an array, or a list."""
        made = self.definitions.get(atom)  # type: ignore[arg-type]
        is_list = made is not None and made.fn == ir.Const(np.ndarray.tolist)
        return is_list or atom in self.arithmetic or isinstance(self.value_of(atom), (Array, ListOf))

    def _beside(self, holder: ir.Atom, index: ir.Atom) -> Form | None:
        """What stands at a known place of what holds some values side by side, along any axis."""
        made = self.definitions.get(index)  # type: ignore[arg-type]
        entries: list[Any] = list(made.args) if made is not None and made.fn == ir.Const(ops.make_tuple) else [index]
        held, axis = self._held(holder), 0
        if held is None:
            held, axis = self._along(holder, entries)
        if not held or len(entries) <= axis:
            return None
        before, place, after = entries[:axis], entries[axis], entries[axis + 1 :]
        if not all(self.is_all(a) or is_number(self.value_of(a)) for a in before):
            return None
        if not isinstance(place, ir.Const) or type(place.value) is not int:
            return None
        if not -len(held) <= place.value < len(held):
            return None
        rest = [self.all if self.is_all(a) else self.of(a) for a in (*before, *after)]
        return self._at(self.of(held[place.value]), rest)

    def _along(self, holder: ir.Atom, entries: list[Any]) -> tuple[tuple[ir.Atom, ...] | None, int]:
        """The values that stand side by side in an array along another axis than the first, and the axis."""
        made = self.definitions.get(holder)  # type: ignore[arg-type]
        if made is None or len(made.args) != 1 or (self.memory is not None and self.memory.is_buffer(holder)):
            return None, 0
        axis = dict(made.kwargs).get("axis")
        is_stack = made.fn == ir.Const(np.stack) and len(made.kwargs) == 1 and isinstance(axis, ir.Const)
        held = self._held(made.args[0]) if is_stack or made.fn == ir.Const(np.column_stack) else None  # type: ignore[arg-type]
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
        value = self.value_of(atom)
        return isinstance(value, Array) and value.shape is not None and len(value.shape) == 1

    def _held(self, holder: ir.Atom) -> tuple[ir.Atom, ...] | None:
        """The values that a display holds, or an array made of one, or a part of it; None where it is something else,
        or may have changed."""
        made, more = self.definitions.get(holder), list[ir.Atom]()  # type: ignore[arg-type]
        if made is None or made.kwargs or (self.memory is not None and self.memory.is_buffer(holder)):
            return None
        while made is not None and made.fn == _APPEND:
            more.append(made.args[1])  # type: ignore[arg-type]
            made = self.definitions.get(made.args[0])  # type: ignore[arg-type]
        if made is not None and made.fn in _DISPLAYS and not any(isinstance(a, ir.Star) for a in made.args):
            return (*made.args, *reversed(more))  # type: ignore[arg-type]
        if made is None or more or made.fn in _DISPLAYS:
            return None
        fn = made.fn.value if isinstance(made.fn, ir.Const) else None
        if fn in _SIDE_BY_SIDE and len(made.args) == 1:
            return self._held(made.args[0])  # type: ignore[arg-type]
        bounds = self.definitions.get(made.args[1]) if fn is operator.getitem else None  # type: ignore[arg-type]
        if bounds is None or bounds.fn != ir.Const(slice) or not all(isinstance(a, ir.Const) for a in bounds.args):
            return None
        held = self._held(made.args[0])  # type: ignore[arg-type]
        return None if held is None else held[slice(*(a.value for a in bounds.args))]  # type: ignore[union-attr]

    def _of_all(self, holder: ir.Atom) -> Form | None:
        """The form of all elements together, where each is the same of its own place: ``[floor(x[0]), floor(x[1])]`` is
        ``floor(x)``. None where they differ, or have no steps in them."""
        forms = [self.of(a) for a in self._held(holder) or ()]
        if not any(map(self.steps_in, forms)):
            return None
        first, *others = (
            self._reindexed(form, ({(): float(k)} if k else {},), None) for k, form in enumerate(forms)
        )
        return first if all(form == first for form in others) else None

    def _gives_integers(self, atom: ir.Atom) -> bool:
        dtype = dtype_of(self.value_of(atom))
        return dtype is not None and dtype.kind in "iub"

    def called(self, fn: Any, args: list[Form], kwargs: tuple[Any, ...] = ()) -> Form:
        """The form of a call that is not taken apart."""
        if fn in MATRIX_PRODUCTS and len(args) == 2 and not kwargs:
            undone = self._undone(*args)
            if undone is not None:
                return undone
        rearranged = None if kwargs else self._rearranged(fn, args)
        if rearranged is not None:
            return rearranged
        if fn in _FLAT and not kwargs and (len(args) == 1 or (len(args) == 2 and self._is_scalar(args[1]))):
            fn, args = np.ravel, [self._flat(args[0]), *args[2:]]
        named = tuple((key, self.of(atom)) for key, atom in kwargs)
        keys = (*map(_key, args), *((key, _key(form)) for key, form in named))
        is_varied = any(self.is_varied(form) for _, form in named)
        return self.alone(self.number("call", id(fn), (fn, *args, *named), is_varied, keys))

    def _rearranged(self, fn: Any, args: list[Form]) -> Form | None:
        """What a call gives that leaves an array as it is, or as it was before."""
        if fn is np.broadcast_shapes and len(args) == 1:
            return args[0]
        if len(args) == 2 and (fn is np.broadcast_to or fn in _FLAT):
            whole = self._flat(args[0])
            return whole if args[1] == self.called(np.shape, [whole]) else None
        if self._is_transposed(fn, args):
            number = self._only(args[0])
            atom = self.atoms[number] if number is not None else None
            if atom is not None and atom.kind == "call" and self._is_transposed(atom.parts[0], list(atom.parts[1:])):
                return atom.parts[1]  # type: ignore[no-any-return]
        return None

    def _is_transposed(self, fn: Any, args: list[Any]) -> bool:
        if fn is getattr and len(args) == 2:
            return bool(args[1] == self.of(ir.Const("T")))
        return fn in (np.transpose, np.ndarray.transpose) and len(args) == 1

    def _flat(self, form: Form) -> Form:
        """An array before its items were put in a row."""
        number = self._only(form)
        atom = self.atoms[number] if number is not None else None
        is_flat = atom is not None and atom.kind == "call" and atom.parts[0] is np.ravel and len(atom.parts) == 2
        return atom.parts[1] if is_flat else form  # type: ignore[union-attr, no-any-return]

    def _only(self, form: Form) -> int | None:
        """The number of the atom that a form consists of."""
        ((product, coefficient),) = form.items() if len(form) == 1 else (((), 0.0),)
        return product[0][0] if coefficient == 1.0 and len(product) == 1 and product[0][1] == 1 else None

    def _undone(self, left: Form, right: Form) -> Form | None:
        """``(x @ inv(a)) @ a`` is ``x``."""
        if len(left) != 1:
            return None
        ((product, coefficient),) = left.items()
        atom = self.atoms[product[-1][0]] if len(product) == 1 and product[0][1] == 1 else None
        if atom is None or atom.kind != "call" or atom.parts[0] not in MATRIX_PRODUCTS or len(atom.parts) != 3:
            return None
        inner = atom.parts[2]
        undoes = self._is_inverse(inner, right) or self._is_inverse(right, inner)
        return scaled(atom.parts[1], coefficient) if undoes else None

    def root(self, product: Product) -> int | None:
        """What a product is a linear function of, by calls: the items, sums or differences of an array."""
        varied = [(a, k) for a, k in product if self.atoms[a].is_varied]
        if len(varied) != 1 or varied[0][1] != 1:
            return None
        atom = self.atoms[varied[0][0]]
        if atom.kind != "call":
            return varied[0][0]
        fn, *parts = atom.parts
        rule = table.find(fn)
        forms = [p for p in parts if isinstance(p, dict) and self.is_varied(p)]
        if len(forms) != 1 or len(forms[0]) != 1 or not (fn in MATRIX_PRODUCTS or (rule and rule.kind == "linear")):
            return None
        return self.root(next(iter(forms[0])))

    def _is_inverse(self, inverse: Form, of: Form) -> bool:
        product, *more = inverse
        atom = self.atoms[product[0][0]] if not more and len(product) == 1 else None
        return atom is not None and atom.kind == "call" and atom.parts[0] is np.linalg.inv and atom.parts[1] == of

    def _read(self, array: ir.Atom, key: ir.Atom) -> Form:
        """What an array, or a list, has at an index."""
        return self.of(array) if self.is_all(key) else self.item(self.of(array), self.of(key))

    def item(self, base: Form, index: Form) -> Form:
        """Some items of a sum are the sum of the items; numbers are the same for each of them."""
        index = self._index(self._entries(index))
        if index == self.all:
            return base
        made: Form = {}
        for product, coefficient in base.items():
            numbers = tuple((a, k) for a, k in product if self._is_number(a))
            arrays = tuple((a, k) for a, k in product if not self._is_number(a))
            if not arrays:
                made = added(made, {product: coefficient})
                continue
            read = self._part(arrays, index) or self.called(operator.getitem, self._together(arrays, index))
            made = added(made, self.times(read, {numbers: coefficient}))
        return made

    def _together(self, arrays: Product, index: Form) -> list[Form]:
        """What is read, and the index: ``x[i][j]`` is ``x[i, j]``, and ``x[:, j][i]`` is too."""
        atom, entries = self.atoms[arrays[0][0]], self._entries(index)
        if len(arrays) == 1 and arrays[0][1] == 1 and atom.kind == "call" and atom.parts[0] is operator.getitem:
            outer = self._entries(atom.parts[2])
            if all(e == self.all or self._is_scalar(e) for e in (*outer, *entries)):
                outer = [entries.pop(0) if entries and e == self.all else e for e in outer]
                return [atom.parts[1], self._index([*outer, *entries])]
        return [{arrays: 1.0}, self._index(entries)]

    def _is_scalar(self, form: Form) -> bool:
        """Whether a form is that of a number."""
        return all(self._is_number(a) for product in form for a, _ in product)

    def _part(self, display: Product, index: Form) -> Form | None:
        """What stands at a known place of a display."""
        (number, power), *more = display
        atom, (first, *rest) = self.atoms[number], self._entries(index)
        if more or power != 1 or atom.kind != "call" or atom.parts[0] not in (ops.make_list, ops.make_tuple):
            return None
        place = first.get((), 0.0)
        is_known = first == ({(): place} if place else {}) and 0 <= place < len(atom.parts) - 1
        return self._at(atom.parts[1 + int(place)], rest) if is_known else None

    def _is_number(self, number: int) -> bool:
        atom = self.atoms[number]
        if atom.kind == "variable":
            return is_number(self.value_of(atom.what))
        return (atom.what if atom.kind == "cell" else number) in self.scalars

    # --- products

    def times(self, a: Form, b: Form) -> Form:
        """The product, multiplied out where that is not long."""
        if self.steps_in(a) and not self.steps_in(b):
            b = self._as_factor(b)
        elif self.steps_in(b) and not self.steps_in(a):
            a = self._as_factor(a)
        if len(a) * len(b) > _LARGEST:
            keys = tuple(sorted((_key(a), _key(b))))
            return self.alone(self.number("call", "product", (operator.mul, a, b), False, keys))
        made: Form = {}
        for (left, p), (right, q) in itertools.product(a.items(), b.items()):
            made = added(made, {self._multiplied(left, right): p * q})
        return made

    def _as_factor(self, form: Form) -> Form:
        """A form as one product: a sum of several is an atom, up to a number."""
        if len(form) < 2:
            return form
        first = abs(form[min(form)])
        form = scaled(form, 1.0 / first)
        return scaled(self.alone(self.number("call", "sum", (operator.pos, form), False, (_key(form),))), first)

    def _multiplied(self, left: Product, right: Product) -> Product:
        powers = dict(left)
        for atom, power in right:
            powers[atom] = powers.get(atom, 0) + power
        for atom in powers:
            if self.atoms[atom].kind == "sign":
                powers[atom] %= 2
        return tuple(sorted((atom, power) for atom, power in powers.items() if power))

    def inverse(self, form: Form) -> Form:
        """One over a form."""
        if not form:
            return self.alone(self.number("constant", ir.Const(math.inf)))
        ((product, coefficient),) = self._as_factor(form).items()
        return {tuple((atom, -power) for atom, power in product): 1.0 / coefficient}

    # --- putting in

    def put_in(self, form: Form, given: Mapping[int, Form]) -> Form:
        """A form with other forms in place of some steps."""
        return form if self.steps_in(form).isdisjoint(given) else self.with_atoms(form, given)

    def with_atoms(self, form: Form, given: Mapping[int, Form]) -> Form:
        """A form with other forms in place of some atoms."""
        known = dict(given)

        def put_in(part: Form) -> Form:
            return part if self.steps_in(part).isdisjoint(given) else self._rewritten(part, factor_of)

        def factor_of(number: int) -> Form:
            if number not in known:
                known[number] = self._put_in_atom(number, given, put_in)
            return known[number]

        return self._rewritten(form, factor_of)

    def _put_in_atom(self, number: int, given: Mapping[int, Form], put_in: Callable[[Form], Form]) -> Form:
        atom = self.atoms[number]
        if atom.steps.isdisjoint(given) or atom.kind != "call":
            return self.alone(number)
        fn, *parts = atom.parts
        if not all(isinstance(p, dict) for p in parts) and fn is not operator.getitem:  # keywords
            return self.alone(number)
        forms = [put_in(p) for p in parts if isinstance(p, dict)]
        if fn is operator.getitem:
            return self.item(*forms)
        if atom.what == "sum":
            return self._as_factor(*forms)
        return self.times(*forms) if atom.what == "product" else self.called(fn, forms)

    def _rewritten(self, form: Form, factor_of: Callable[[int], Form]) -> Form:
        """A form with other forms in place of its atoms. These are to be made once each: the same atom stands in many
        forms, and within what these are made of."""
        made: Form = {}
        for product, coefficient in form.items():
            term: Form = {(): coefficient}
            for atom, power in product:
                factor = factor_of(atom)
                for _ in range(abs(power)):
                    term = self.times(term, factor if power > 0 else self.inverse(factor))
            made = added(made, term)
        return made


def _is_place(index: AbstractValue) -> bool:
    """Whether an index is that of one element, or of one row."""
    return is_number(index) or (
        isinstance(index, Sequence) and index.type is tuple and bool(index.items) and all(map(is_number, index.items))
    )


def _counts(value: AbstractValue) -> bool:
    """Whether it is an integer: a list times this may be a list."""
    kind = type_of(value)
    return kind is not None and issubclass(kind, (int, np.integer))


def _is_numeric(value: AbstractValue) -> bool:
    return is_number(value) or isinstance(value, Array)
