"""What one element of an array may be, wherever it lies: what functions that move elements, or repeat them, have moved.
So a step meets what it rounds where the two came to one place by different ways, or within one function.

    w = np.floor(np.concatenate([x, y]))
    np.hstack([x - u, y]) - w                 x - u and y, less floor(x) and floor(y): remainders
    np.diff([np.trunc(t), t])                 t - trunc(t): a remainder

What stands at which place is not known: a sum may have each pair of elements, and where that is a remainder for one of
them it is one. A step without a derivative is right everywhere, one that passes straight through is not.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from s2s.analysis.functions import facts
from s2s.analysis.steps.algebra import OPAQUE, Atom, Form, Product, added
from s2s.core.functions import Computes
from s2s.rules import table

if TYPE_CHECKING:
    from s2s.analysis.steps.affine import Forms

__all__ = ["Elements", "is_mixing", "is_total"]

_MOVING = (
    Computes.PLACED, Computes.TURNED, Computes.FLAT, Computes.SAME, Computes.LIST, Computes.CHOICE, Computes.PIECES,
)
"""What functions compute that give elements of what they are given, or what is affine in one of these."""
_ONES = (np.ones, np.ones_like)
_MOST = 24
"""How many elements of one thing are told apart."""


def is_total(fn: Any) -> bool:
    """Whether a function adds up elements of one array, with weights that are not negative."""
    return facts(fn).computes is Computes.TOTAL


def is_mixing(fn: Any) -> bool:
    """Whether a function may subtract elements of what it is given from each other: any of which nothing else is
    known, but those that look at one element at a time."""
    known = facts(fn)
    if known.computes is not None:
        return known.computes in (Computes.DIFFERENCES, Computes.MATRIX_PRODUCT)
    rule = table.find(fn)
    return rule is not None and rule.kind in ("linear", "vjp") and not known.elementwise and not known.fills


_T = TypeVar("_T")


class Elements:
    """The elements of the forms of a function, as they come in one sum."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self.placed: set[int] = set()
        """What moves or repeats elements, other than displays and parts of arrays: of those the places show."""
        self.turned: set[int] = set()
        """What gives all elements of an array, each at another place."""
        self.known: dict[int, list[Form]] = {}
        """The elements of atoms, by number."""
        self.is_cut = False
        """Whether there were more elements than are told apart."""

    @property
    def have_moved(self) -> bool:
        """Whether an element may be where it was not: nothing but ``x`` turned over is ``x`` at no place."""
        return bool(self.placed) or len(self.turned) > 1

    def each(self, form: Form) -> Iterator[Form]:
        """What an element of a sum may be: one of each of its products."""
        parts = [self.of_product(product, c) for product, c in form.items()]
        for chosen in self._first(itertools.product(*parts)):
            made: Form = {}
            for part in chosen:
                made = added(made, part)
            yield made

    def products(self, parts: list[Form], form: Form) -> list[Form]:
        """The products of some things and of what an element of a sum may be."""
        pairs = itertools.product(parts, self.each(form))
        return self._different(self.forms.times(a, b) for a, b in self._first(pairs))

    def is_display(self, form: Form) -> bool:
        """Whether a form is that of values side by side."""
        number = self.forms.only(form)
        return number is not None and bool(self.forms.displayed(number))

    def of_product(self, product: Product, coefficient: float = 1.0) -> list[Form]:
        """What an element of a product may be."""
        made: list[Form] = [{(): coefficient}]
        for number, power in product:
            found = self.of_atom(number)
            if len(found) == 1 and found[0] == self.forms.alone(number):
                made = [self.forms.times(m, {((number, power),): 1.0}) for m in made]
            else:
                made = [self._raised(m, f, power) for m, f in self._first(itertools.product(made, found))]
        return self._different(made)

    def _raised(self, form: Form, factor: Form, power: int) -> Form:
        for _ in range(abs(power)):
            form = self.forms.times(form, factor if power > 0 else self.forms.inverse(factor))
        return form

    def of_atom(self, number: int) -> list[Form]:
        """What an element of something may be."""
        if number not in self.known:
            self.known[number] = [self.forms.alone(number)]  # until it is found out
            self.known[number] = self._of_atom(number)
        return self.known[number]

    def _of_atom(self, number: int) -> list[Form]:
        atom, items = self.forms.atoms[number], self.forms.displayed(number)
        if items:
            return self._different(each for item in items for each in self.each(item))
        if atom.kind == "one of":
            sides = self.forms.sides.get(number, [])
            return self._different([self.forms.alone(number), *(each for side in sides for each in self.each(side))])
        if atom.kind != "call" or atom.what == "sum":
            return [self.forms.alone(number)]
        fn, *_ = atom.parts
        if fn is operator.getitem:
            return self._read(number, *atom.parts[1:])
        if facts(fn).computes is Computes.PAIRS and len(atom.parts) == 3:
            self.placed.add(number)
            first, second = (list(self.each(part)) for part in atom.parts[1:])
            return [self.forms.times(a, b) for a, b in self._first(itertools.product(first, second))]
        moved = self._moved(fn, atom)
        if not moved:
            return [self.forms.alone(number)]
        is_turned = facts(fn).computes is Computes.TURNED or fn is getattr
        (self.turned if is_turned else self.placed).add(number)
        return self._different(each for form in moved for each in self.each(form))

    def _read(self, number: int, base: Form, index: Form) -> list[Form]:
        """What a part of an array has. Parts of one array are told apart by their indices, but not where a part is
        taken of another part, or of what is side by side, or where an axis is put in."""
        found = self._different(self.each(base))
        steps = self.forms.steps_in(base)
        is_part_of_part = any(self._reads(self.forms.rounded.get(k, {})) for k in steps)
        is_vague = any(k in self.forms.vague for k in steps)
        only = self.forms.only(base)
        is_moved = found != [base] and (only is None or self.forms.atoms[only].kind != "one of")
        if is_moved or is_part_of_part or is_vague or self.forms.constant(None) in self.forms.entries(index):
            self.placed.add(number)
        return found

    def _reads(self, form: Form) -> bool:
        atoms = self.forms.atoms
        return any(atoms[a].kind == "call" and atoms[a].parts[0] is operator.getitem for p in form for a, _ in p)

    def _moved(self, fn: Any, atom: Atom) -> list[Form]:
        """What of the arguments of a call the elements of its result are; nothing where they are something else."""
        given = [part[1] if isinstance(part, tuple) else part for part in atom.parts[1:]]
        if fn in _ONES:
            return [self.forms.constant(1)]
        is_attribute = fn is getattr and given[1:] == [self.forms.constant("T")]
        moving = [form for form in given if self.forms.is_varied(form) or self.forms.steps_in(form)]
        if fn is OPAQUE or facts(fn).computes in _MOVING or is_attribute:
            return moving
        # a sum of what has been moved is one of its elements, where the others are zero
        return moving if is_total(fn) and any(map(self._is_moved, moving)) else []

    def _is_moved(self, form: Form) -> bool:
        return self.forms.only(form) is not None and self.have_several(form)

    def have_several(self, form: Form) -> bool:
        """Whether things side by side, or moved, are in a form as they are."""
        numbers = {number for product in form for number, _ in product if self.forms.atoms[number].kind == "call"}
        return any(self.of_atom(number) != [self.forms.alone(number)] for number in numbers)

    def _different(self, forms: Iterable[Form]) -> list[Form]:
        """Forms, each once."""
        found: list[Form] = []
        for form in self._first(forms):
            if form not in found:
                found.append(form)
        return found

    def _first(self, items: Iterable[_T]) -> Iterator[_T]:
        for count, item in enumerate(items):
            if count == _MOST:
                self.is_cut = True
                return
            yield item
