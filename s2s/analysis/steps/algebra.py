"""Sums of products of things that are not taken apart: what a number or an array is, and what arithmetic makes of it.

A form is a dict: a product of atoms (pairs of a number that stands for the atom and its power, in order) to its factor.
Two atoms that are computed alike from the same things are one.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.functions import facts
from s2s.core import ir, ops
from s2s.core.functions import Computes
from s2s.core.record import record
from s2s.core.values import AbstractValue
from s2s.rules import table

__all__ = [
    "OPAQUE", "Algebra", "Atom", "Form", "Product", "added", "is_matrix_product", "key_of", "puts_side_by_side",
    "scaled",
]

Product: TypeAlias = tuple[tuple[int, int], ...]
Form: TypeAlias = dict[Product, float]

_SHIFTED = ("floor", "ceil", "round")
"""Steps that give ``n`` more where what they round is ``n`` more, for any integer."""
OPAQUE = "opaque"
"""In place of the function of a call of which nothing is known but what it is given."""
_LARGEST = 24
"""The number of products above which a product of sums is not multiplied out."""
_LONGEST = 256
"""The same for a sum times one thing."""
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


def key_of(form: Form) -> tuple[Any, ...]:
    """What is equal for equal forms."""
    return tuple(sorted((product, float(f"{coefficient:.12g}")) for product, coefficient in form.items()))


def is_matrix_product(fn: Any) -> bool:
    return facts(fn).computes is Computes.MATRIX_PRODUCT


def puts_side_by_side(fn: Any) -> bool:
    """Whether a function puts the items of a display into an array."""
    return fn is np.stack or facts(fn).computes is Computes.SAME


class Algebra:
    """The atoms of a function, and the arithmetic of forms."""

    def __init__(self, value_of: Callable[[ir.Atom], AbstractValue]) -> None:
        self.value_of = value_of
        self.atoms: list[Atom] = []
        self.ids: dict[Any, int] = {}
        self.rounded: dict[int, Form] = {}
        """What a step rounds, by the number of the step."""
        self.variables: dict[int, set[ir.Var]] = {}
        """The variables of a step, by the number of the step: one that is written twice has two."""
        self.scalars: set[int] = set()
        """The steps, and the values that are one of several, that are numbers and no arrays."""
        self.vague: set[int] = set()
        """The same of which it is not known whether they are numbers or arrays."""
        self.decimals: dict[int, tuple[Any, ...]] = {}
        """What steps that keep decimals are given besides, by the number of the step."""
        self.integral: set[int] = set()
        """The steps that give integers."""
        self.all = self.alone(self.number("constant", "all"))
        """The index of all elements."""

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
            divides = kind in ("step", "one of") or (kind == "sign" and any(map(self.is_of_steps, parts)))
            steps |= {found} if divides else set()
            self.atoms.append(Atom(kind, what, parts, is_varied, steps))
        return found

    def alone(self, number: int) -> Form:
        """The form of one atom."""
        return {((number, 1),): 1.0}

    def constant(self, value: Any) -> Form:
        if type(value) in (int, float) and ((type(value) is int and abs(value) < 2**53) or math.isfinite(value)):
            return {(): float(value)} if value else {}
        if type(value) is slice and value == slice(None):
            return self.all
        return self.alone(self.number("constant", ir.Const(value)))

    def steps_in(self, form: Form) -> frozenset[int]:
        """The steps, and the values that are one of several, in a form."""
        return frozenset[int]().union(*(self.steps_of(product) for product in form))

    def is_of_steps(self, form: Form) -> bool:
        """Whether there are steps in a form, moving or standing still."""
        return any(self.atoms[a].steps or self.atoms[a].kind == "cell" for product in form for a, _ in product)

    def signs_of_steps(self, form: Form) -> frozenset[int]:
        """The signs by which steps in a form are multiplied."""
        return frozenset(
            a for product in form if self.steps_of(product) for a, _ in product if self.atoms[a].kind == "sign"
        )

    def steps_of(self, product: Product) -> frozenset[int]:
        return frozenset[int]().union(*(self.atoms[a].steps for a, _ in product))

    def is_varied(self, form: Form) -> bool:
        return any(map(self.varies, form))

    def varies(self, product: Product) -> bool:
        """Whether a product depends on what is differentiated."""
        return any(self.atoms[a].is_varied for a, _ in product)


    # --- calls

    def called(self, fn: Any, args: list[Form], named: tuple[tuple[str, Form], ...] = ()) -> Form:
        """The form of a call that is not taken apart."""
        if is_matrix_product(fn) and len(args) == 2 and not named:
            undone = self._undone(*args)
            if undone is not None:
                return undone
        rearranged = None if named else self._rearranged(fn, args)
        if rearranged is not None:
            return rearranged
        is_row = len(args) == 1 or (len(args) == 2 and self.is_scalar(args[1]))
        if facts(fn).computes is Computes.FLAT and is_row and not named:
            fn, args = np.ravel, [self._flat(args[0]), *args[2:]]
        keys = (*map(key_of, args), *((key, key_of(form)) for key, form in named))
        is_varied = any(self.is_varied(form) for _, form in named)
        return self.alone(self.number("call", id(fn), (fn, *args, *named), is_varied, keys))

    def _rearranged(self, fn: Any, args: list[Form]) -> Form | None:
        """What a call gives that leaves an array as it is, or as it was before."""
        if fn is np.broadcast_shapes and len(args) == 1:
            return args[0]
        if len(args) == 2 and (fn is np.broadcast_to or facts(fn).computes is Computes.FLAT):
            whole = self._flat(args[0])
            return whole if args[1] == self.called(np.shape, [whole]) else None
        if self._is_transposed(fn, args):
            number = self.only(args[0])
            atom = self.atoms[number] if number is not None else None
            if atom is not None and atom.kind == "call" and self._is_transposed(atom.parts[0], list(atom.parts[1:])):
                return atom.parts[1]  # type: ignore[no-any-return]
        return None

    def _is_transposed(self, fn: Any, args: list[Any]) -> bool:
        if fn is getattr and len(args) == 2:
            return bool(args[1] == self.constant("T"))
        return fn in (np.transpose, np.ndarray.transpose) and len(args) == 1

    def _flat(self, form: Form) -> Form:
        """An array before its items were put in a row."""
        number = self.only(form)
        atom = self.atoms[number] if number is not None else None
        if atom is not None and atom.kind == "call" and atom.parts[0] is np.ravel and len(atom.parts) == 2:
            form = atom.parts[1]
        return form

    def only(self, form: Form) -> int | None:
        """The number of the atom that a form consists of."""
        ((product, coefficient),) = form.items() if len(form) == 1 else (((), 0.0),)
        return product[0][0] if coefficient == 1.0 and len(product) == 1 and product[0][1] == 1 else None

    def _undone(self, left: Form, right: Form) -> Form | None:
        """``(x @ inv(a)) @ a`` is ``x``."""
        if len(left) != 1:
            return None
        ((product, coefficient),) = left.items()
        atom = self.atoms[product[-1][0]] if len(product) == 1 and product[0][1] == 1 else None
        if atom is None or atom.kind != "call" or not is_matrix_product(atom.parts[0]) or len(atom.parts) != 3:
            return None
        inner = atom.parts[2]
        undoes = self._is_inverse(inner, right) or self._is_inverse(right, inner)
        return scaled(atom.parts[1], coefficient) if undoes else None

    def _is_inverse(self, inverse: Form, of: Form) -> bool:
        product, *more = inverse
        atom = self.atoms[product[0][0]] if not more and len(product) == 1 else None
        return atom is not None and atom.kind == "call" and atom.parts[0] is np.linalg.inv and atom.parts[1] == of

    def linear_in(self, product: Product) -> Iterator[list[Form]]:
        """What the calls in a product are linear in, each: the forms that they are given."""
        for number, _ in product:
            atom = self.atoms[number]
            if atom.kind == "call" and self._is_linear(atom.parts[0]):
                yield [part for part in atom.parts[1:] if isinstance(part, dict)]

    def _is_linear(self, fn: Any) -> bool:
        rule = table.find(fn)
        return is_matrix_product(fn) or fn is getattr or (rule is not None and rule.kind == "linear")

    def root(self, product: Product) -> int | None:
        """What a product is a linear function of, by calls: the items, sums or differences of an array."""
        varied = [(a, k) for a, k in product if self.atoms[a].is_varied]
        if len(varied) != 1 or varied[0][1] != 1:
            return None
        atom = self.atoms[varied[0][0]]
        if atom.kind != "call":
            return varied[0][0]
        fn, *parts = atom.parts
        forms = [p for p in parts if isinstance(p, dict) and self.is_varied(p)]
        if len(forms) != 1 or len(forms[0]) != 1 or not self._is_linear(fn):
            return None
        return self.root(next(iter(forms[0])))


    # --- items

    def item(self, base: Form, index: Form) -> Form:
        """Some items of a sum are the sum of the items; numbers are the same for each of them."""
        index = self.index(self.entries(index))
        if index == self.all:
            return base
        made: Form = {}
        for product, coefficient in base.items():
            numbers = tuple((a, k) for a, k in product if self._is_number(a))
            arrays = tuple((a, k) for a, k in product if not self._is_number(a))
            if not arrays:
                made = added(made, {product: coefficient})
                continue
            read = self._part(arrays, index)
            if read is None:
                read = self.called(operator.getitem, self._together(arrays, index))
            made = added(made, self.times(read, {numbers: coefficient}))
        return made

    def _together(self, arrays: Product, index: Form) -> list[Form]:
        """What is read, and the index: ``x[i][j]`` is ``x[i, j]``, and ``x[:, j][i]`` is too."""
        atom, entries = self.atoms[arrays[0][0]], self.entries(index)
        if len(arrays) == 1 and arrays[0][1] == 1 and atom.kind == "call" and atom.parts[0] is operator.getitem:
            outer = self.entries(atom.parts[2])
            if all(e == self.all or self.is_scalar(e) for e in (*outer, *entries)):
                outer = [entries.pop(0) if entries and e == self.all else e for e in outer]
                return [atom.parts[1], self.index([*outer, *entries])]
        return [{arrays: 1.0}, self.index(entries)]

    def _part(self, display: Product, index: Form) -> Form | None:
        """What stands at a known place of a display, or of a product of displays of numbers."""
        held = [self.displayed(a) for a, _ in display]
        first, *rest = self.entries(index)
        place = first.get((), 0.0)
        if first != ({(): place} if place else {}) or not all(0 <= place < len(items) for items in held):
            return None
        if len(held) == 1 and display[0][1] == 1:
            return self.at(held[0][int(place)], rest)
        if rest or len(set(map(len, held))) > 1 or not all(self.is_scalar(item) for items in held for item in items):
            return None
        return self._product((items[int(place)], power) for items, (_, power) in zip(held, display, strict=True))

    def displayed(self, number: int) -> tuple[Form, ...]:
        """What stands in a display, or in an array made of one; nothing where an atom is something else."""
        atom = self.atoms[number]
        if atom.kind != "call":
            return ()
        if len(atom.parts) == 2 and puts_side_by_side(atom.parts[0]):
            only = self.only(atom.parts[1])
            return () if only is None else self.displayed(only)
        return atom.parts[1:] if atom.parts[0] in (ops.make_list, ops.make_tuple) else ()

    def entries(self, index: Form) -> list[Form]:
        """The indices that an index is made of."""
        number = self.only(index)
        atom = self.atoms[number] if number is not None else None
        is_tuple = atom is not None and atom.kind == "call" and atom.parts[0] is ops.make_tuple
        return list(atom.parts[1:]) if is_tuple else [index]  # type: ignore[union-attr]

    def index(self, entries: list[Form]) -> Form:
        while entries and entries[-1] == self.all:
            entries = entries[:-1]
        if len(entries) < 2:
            return entries[0] if entries else self.all
        return self.called(ops.make_tuple, entries)

    def at(self, form: Form, entries: list[Form]) -> Form:
        index = self.index(entries)
        return form if index == self.all else self.item(form, index)

    def is_scalar(self, form: Form) -> bool:
        """Whether a form is that of a number."""
        return all(self._is_number(a) for product in form for a, _ in product)

    def _is_number(self, number: int) -> bool:
        atom = self.atoms[number]
        if atom.kind == "variable":
            return is_number(self.value_of(atom.what))
        return (atom.what if atom.kind == "cell" else number) in self.scalars


    # --- products

    def times(self, a: Form, b: Form) -> Form:
        """The product, multiplied out where that is not long."""
        if self.steps_in(a) and not self.steps_in(b):
            b = self.as_factor(b)
        elif self.steps_in(b) and not self.steps_in(a):
            a = self.as_factor(a)
        if len(a) * len(b) > (_LARGEST if min(len(a), len(b)) > 1 else _LONGEST):
            a, b = self.as_factor(a), self.as_factor(b)
        made: Form = {}
        for (left, p), (right, q) in itertools.product(a.items(), b.items()):
            made = added(made, {self._multiplied(left, right): p * q})
        return made

    def multiplied_out(self, factor: Form, form: Form) -> Form:
        """The product with a factor, in which a form stays the sum that it is."""
        made: Form = {}
        for product, coefficient in form.items():
            made = added(made, self.times(factor, {product: coefficient}))
        return made

    def as_factor(self, form: Form) -> Form:
        """A form as one product: a sum of several is an atom, up to a number."""
        if len(form) < 2:
            return form
        first = abs(form[min(form)])
        form = scaled(form, 1.0 / first)
        return scaled(self.alone(self.number("call", "sum", (operator.pos, form), False, (key_of(form),))), first)

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
        ((product, coefficient),) = self.as_factor(form).items()
        return {tuple((atom, -power) for atom, power in product): 1.0 / coefficient}


    # --- putting in

    def put_in(self, form: Form, given: Mapping[int, Form]) -> Form:
        """A form with other forms in place of some steps."""
        return form if self.steps_in(form).isdisjoint(given) else self.with_atoms(form, given)

    def with_atoms(self, form: Form, given: Mapping[int, Form]) -> Form:
        """A form with other forms in place of some atoms."""
        known = dict(given)

        def put_in(part: Form) -> Form:
            return part if self.steps_in(part).isdisjoint(given) else self.rewritten(part, factor_of)

        def factor_of(number: int) -> Form:
            if number not in known:
                known[number] = self._put_in_atom(number, given, put_in)
            return known[number]

        return self.rewritten(form, factor_of)

    def _put_in_atom(self, number: int, given: Mapping[int, Form], put_in: Callable[[Form], Form]) -> Form:
        atom = self.atoms[number]
        if atom.steps.isdisjoint(given) or atom.kind != "call":
            return self.alone(number)
        fn, *parts = atom.parts
        if fn is OPAQUE or (not all(isinstance(p, dict) for p in parts) and fn is not operator.getitem):  # keywords
            return self.alone(number)
        forms = [put_in(p) for p in parts if isinstance(p, dict)]
        if fn is operator.getitem:
            return self.item(*forms)
        return self.as_factor(*forms) if atom.what == "sum" else self.called(fn, forms)

    def rewritten(self, form: Form, factor_of: Callable[[int], Form]) -> Form:
        """A form with other forms in place of its atoms. These are to be made once each: the same atom stands in many
        forms, and within what these are made of."""
        made: Form = {}
        for product, coefficient in form.items():
            made = added(made, self._product((factor_of(atom), power) for atom, power in product), coefficient)
        return made

    def _product(self, powers: Iterable[tuple[Form, int]]) -> Form:
        made: Form = {(): 1.0}
        for form, power in powers:
            for _ in range(abs(power)):
                made = self.times(made, form if power > 0 else self.inverse(form))
        return made


    # --- steps

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
        number = self.number("step", family, (), True, (key_of(left), more))
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
        return all(k > 0 and self.gives_integer(a) for a, k in product)

    def gives_integer(self, number: int) -> bool:
        atom = self.atoms[number]
        return (atom.what if atom.kind == "cell" else number) in self.integral
