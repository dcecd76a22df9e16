"""Remainders: where a step is subtracted from the value that it was made of. A specialised function goes in, and for
each such sum the steps in it come out.

    w = x - np.floor(x)                                   x in the step is x in the sum: w is x % 1
    d - L * np.round(d / L)                               scaled, and scaled back
    x - (lo + dx * int((x - lo) / dx))                    in any affine spelling

If such a step were differentiated as what it rounds, it would cancel the derivative of the value itself.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import assert_never

from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.alike import written
from s2s.analysis.memory import Memory
from s2s.analysis.steps.affine import Forms, factor_in_sum
from s2s.analysis.steps.algebra import Form, Product, added, is_matrix_product, scaled
from s2s.analysis.steps.contents import WHOLE
from s2s.analysis.steps.elements import Elements, is_mixing, is_total
from s2s.core import ir
from s2s.core.dataflow import reachable
from s2s.core.record import record
from s2s.core.values import AbstractValue, Array, Sequence

__all__ = ["Remainder", "Remainders", "find_remainders"]

_DEEPEST = 4
"""How many steps of steps (``int(np.floor(x))``) are followed."""
_SUMS = 150
"""How many sums of elements of a function are looked at."""
_MOST = 16
"""How many combinations of sides of branches are looked at."""


@record
class Remainder:
    """A statement whose sum is a remainder, and the numbers of the steps that are subtracted in it."""

    statement: ir.Statement
    steps: frozenset[int]


@record
class Remainders:
    """The remainders of a function, in the order of the text, the numbers of the steps that are added to remainders
    which were made with them (``h*60 + t % 60`` where ``h`` is ``t // 60``), and the forms of its variables."""

    found: list[Remainder]
    met: frozenset[int]
    forms: Forms


def find_remainders(
    function: ir.Function, value_of: Callable[[ir.Atom], AbstractValue], is_varied: Callable[[ir.Atom], bool],
    memory: Memory | None,
) -> Remainders:
    """The remainders of a function. ``memory`` is that of a function which changes arrays."""
    finder = _Finder(function, Forms(value_of, is_varied, memory))
    return Remainders(list(finder.found.values()), frozenset(finder.met), finder.forms)


class _Finder:
    """One walk over the function, in the order in which it runs."""

    def __init__(self, function: ir.Function, forms: Forms) -> None:
        self.forms = forms
        self.found: dict[int, Remainder] = {}
        self.met: set[int] = set()
        self.made_at: dict[ir.Var, int] = {}
        self.left = _SUMS
        """How many sums of elements are looked at from here on; then each is taken for a remainder."""
        self.uses: dict[ir.Atom, int] = {}
        self.count(function.body)
        self.block(function.body)

    def count(self, block: ir.Block) -> None:
        for s in ir.walk(block):
            for atom in ir.reads_of(s):
                self.uses[atom] = self.uses.get(atom, 0) + 1
            for inner in ir.blocks_of(s):
                for atom in inner.yields:
                    self.uses[atom] = self.uses.get(atom, 0) + 1

    # --- statements

    def block(self, block: ir.Block) -> None:
        for s in block.statements:
            self.statement(s)

    def statement(self, s: ir.Statement) -> None:
        match s:
            case ir.Let(ir.Var() as target, value):
                form = self.forms.define(target, value)
                if target in self.forms.left_by:
                    self.found[id(s)] = Remainder(s, self.forms.left_by[target])
                fn = value.fn.value if isinstance(value, ir.Call) and isinstance(value.fn, ir.Const) else None
                if factor_in_sum(fn) is not None:
                    self.forms.forms[target] = self.sum(s, form, target)
                elif is_total(fn) or is_mixing(fn):
                    self.within(s, target, is_mixing(fn))
            case ir.Store():
                self.store(s)
                form = self.forms.of(s.value)
                self.forms.stored(s.target)
                if s.op is None and s.kind == "item" and self.forms.contents.is_all(s.key):
                    self.forms.fill(s.target, form)
            case ir.If(results=results) | ir.Try(results=results):
                for inner in ir.blocks_of(s):
                    self.block(inner)
                    for store in ir.walk(inner):
                        if isinstance(store, ir.Store):
                            self.forms.stored(store.target)
                for k, result in enumerate(results):
                    self.forms.one_of(result, [side.yields[k] for side in ir.sides_of(s)], getattr(s, "test", None))
            case ir.For(carried=carried, body=body) | ir.While(carried=carried, body=body):
                changed = [inner for inner in ir.walk(ir.Block((s,))) if isinstance(inner, ir.Store)]
                for store in changed:
                    if not self.is_element_of_iteration(s, store, changed):
                        self.forms.stored(store.target)
                if isinstance(s, ir.For):
                    self.forms.read_by(s.item, s.iterable)
                for c in carried:
                    self.forms.begin(c.param, c.init)
                for inner in ir.blocks_of(s):
                    self.block(inner)
                for store in changed:
                    self.forms.stored(store.target)
                text = written(s, self.forms.value_of, self.forms.key)
                for k, (c, following) in enumerate(zip(carried, body.yields, strict=True)):
                    self.forms.contents.filled_by(s, c, following)
                    self.forms.result_of(c.result, [c.init, following], None if text is None else (text, k))
            case ir.Let() | ir.With() | ir.Assert() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue() | ir.Note():
                for inner in ir.blocks_of(s):
                    self.block(inner)
            case _:
                assert_never(s)

    def is_element_of_iteration(self, loop: ir.For | ir.While, store: ir.Store, stores: list[ir.Store]) -> bool:
        """Whether iteration k of a loop changes element k of an array, and nothing else does in this loop: before, each
        iteration finds the element as it was before the loop."""
        memory = self.forms.memory
        if memory is None or not isinstance(loop, ir.For) or not isinstance(store.target, ir.Var):
            return False
        alike = [other for other in stores if isinstance(other.target, ir.Var)
                 and memory.find(other.target) == memory.find(store.target)]
        return all(other.kind == "item" and other.key == loop.item for other in alike)

    def store(self, s: ir.Store) -> None:
        """``target[key] -= value``: the sum of what is there and the value."""
        if s.kind == "item" and self.is_element(s.target, s.key):
            self.forms.note_number(self.forms.of(s.value))
        if s.op is None and s.kind in ("item", "whole"):
            self.forms.contents.keep(s.target, s.key if s.kind == "item" else WHOLE, s.value)
        sign = factor_in_sum(s.op) if s.op is not None else None
        if sign is None or s.kind not in ("item", "whole", "at"):
            return
        there = self.forms.of(s.target)
        if s.kind == "item" and not self.forms.contents.is_all(s.key):
            there = self.forms.item(there, self.forms.of(s.key))
        if s.kind == "at":  # places of which one may come twice
            there = self.forms.made_of([there], s.key)
        self.sum(s, added(there, self.forms.of(s.value), sign))

    def is_element(self, target: ir.Atom, key: ir.Atom) -> bool:
        """Whether a key names one element of an array: what is stored there is a number, whatever is known of it."""
        known, index = self.forms.value_of(target), self.forms.value_of(key)
        if not isinstance(known, Array) or known.shape is None:
            return False
        parts = index.items if isinstance(index, Sequence) and index.type is tuple else (index,)
        return len(parts) == len(known.shape) and all(map(is_number, parts))

    # --- sums

    def sum(self, s: ir.Statement, form: Form, target: ir.Var | None = None) -> Form:
        """Look at a sum; its form, in which the steps of a remainder stand still from here on."""
        form = self.stopped(form)
        steps = self.subtracted(form)
        if not steps:
            return self.given_back(form)
        self.found[id(s)] = Remainder(s, frozenset(steps))
        if target is not None:
            self.made_at[target] = id(s)
        return self.forms.put_in(form, {k: self.cell(k) for k in steps})

    def stopped(self, form: Form) -> Form:
        """A sum in which a step stands still as a whole, where a remainder that was made with it is added."""
        weights = self.weights(form)
        still = weights | {self.forms.atoms[a].what for p in form for a, _ in p if self.forms.atoms[a].kind == "cell"}
        again = still & self.forms.steps_in(form)
        self.met |= {k for k in again if k in weights or any(self.adds_up(side, k) for side in self.sides(form))}
        return self.forms.put_in(form, {k: self.cell(k) for k in again}) if again else form

    def weights(self, form: Form) -> set[int]:
        """The steps that stand still beside what moves, in a product: ``x*x - 2*x*q`` is not what is left of
        ``(x - q)**2`` where ``q*q`` moves. Linear functions are looked into."""
        found: set[int] = set()
        for product in form:
            if any(self.forms.atoms[a].is_varied and self.forms.atoms[a].kind != "sign" for a, _ in product):
                found |= {self.forms.atoms[a].what for a, _ in product if self.forms.atoms[a].kind == "cell"}
            for parts in self.forms.linear_in(product):
                found = found.union(*map(self.weights, parts))
                if any(map(self.forms.is_varied, parts)):
                    found = found.union(*(self.standing(part) for part in parts if not self.forms.is_varied(part)))
        return found

    def standing(self, form: Form) -> set[int]:
        """The steps that stand still in a form, and in what linear functions of it are given."""
        atoms = self.forms.atoms
        found = {atoms[a].what for product in form for a, _ in product if atoms[a].kind == "cell"}
        return found.union(*(self.standing(part) for p in form for parts in self.forms.linear_in(p) for part in parts))

    def adds_up(self, form: Form, step: int) -> bool:
        """Whether a sum has one product with a step that moves, and with the same step standing still."""
        given = {step: self.cell(step)}
        return any(
            step in self.forms.steps_of(p) and any(q in form for q in self.forms.put_in({p: 1.0}, given)) for p in form
        )

    def cell(self, step: int) -> Form:
        """A step that does not move."""
        forms = self.forms
        return forms.alone(forms.number("cell", step))

    def given_back(self, form: Form) -> Form:
        """A sum. Where ``x + (np.round(x) - x)`` is the step itself again, its parts are no remainders, and the step
        moves as it does by itself. ``x % 2 + (np.round(x) - x)`` is a difference of remainders."""
        atoms = self.forms.atoms
        cells = [p for p in form if any(atoms[a].kind == "cell" for a, _ in p)]
        if not cells or any(self.forms.varies(p) for p in form):
            return form
        inside = {target: {a for p in cells for a in self.cells_in(p, target)} for target in self.made_at}
        still = {a for p in cells for a, _ in p if atoms[a].kind == "cell"}
        if not still <= set[int]().union(*inside.values()):
            return form
        moving: dict[int, Form] = {}
        for target, steps in inside.items():
            if self.uses.get(target) == 1 and steps:
                self.found.pop(self.made_at.pop(target), None)
                moving |= {a: self.forms.alone(atoms[a].what) for a in steps}
        others = {a for target in self.made_at for p in self.forms.forms[target] for a, _ in p}
        moving = {a: step for a, step in moving.items() if a not in others}
        if moving:
            for var, known in self.forms.forms.items():
                if any(a in moving for p in known for a, _ in p):
                    self.forms.forms[var] = self.forms.with_atoms(known, moving)
        return self.forms.with_atoms(form, moving) if moving else form

    def cells_in(self, product: Product, target: ir.Var) -> set[int]:
        """The steps in a product that stand still, and came by a remainder."""
        steps = {a for p in self.forms.forms[target] for a, _ in p if self.forms.atoms[a].kind == "cell"}
        return {a for a, _ in product if a in steps}

    def subtracted(self, form: Form) -> set[int]:
        """The steps that are subtracted, in a sum, from what they were made of."""
        if len(form) < 2 or not self.forms.steps_in(form):
            return set()
        found = self.subtracted_from_all(form)
        for place in range(self.length(form)):
            found |= self.subtracted(self.forms.item(form, {(): float(place)} if place else {}))
        return found | self.subtracted_somewhere(form)

    def subtracted_somewhere(self, form: Form) -> set[int]:
        """The steps that are subtracted from what they were made of, where elements were moved to other places."""
        elements = Elements(self.forms)
        parts = [elements.of_product(product, c) for product, c in form.items()]
        pairs = ((a, b) for one, other in itertools.combinations(parts, 2) for a in one for b in other)
        found = self.among(pairs, elements)
        if elements.is_cut or not self.left:
            return self.every_step(form) if elements.have_moved else set()
        return found if elements.have_moved else set()

    def within(self, s: ir.Statement, target: ir.Var, is_mixing: bool) -> None:
        """Look at a call that adds up elements of what it is given, or subtracts them from each other."""
        args = [self.forms.contained(a) for a in self.forms.definitions[target].args if not isinstance(a, ir.Star)]
        elements = Elements(self.forms)
        if not any(map(self.forms.steps_in, args)) or not any(map(elements.have_several, args)):
            return
        parts: list[Form] = [{(): 1.0}]
        for form in args:
            if self.forms.is_varied(form) or elements.is_display(form):
                parts = elements.products(parts, form)
        signs = (1.0, -1.0) if is_mixing else (1.0,)
        pairs = ((a, scaled(b, sign)) for a, b in itertools.combinations(parts, 2) for sign in signs)
        steps = self.among(pairs, elements)
        if elements.is_cut or not self.left:
            steps = set[int]().union(*map(self.every_step, args))
        if steps:
            self.found[id(s)] = Remainder(s, frozenset(steps))

    def every_step(self, form: Form) -> set[int]:
        """The steps in a form, and in what its parts may be."""
        steps_in, sides = self.forms.steps_in, self.forms.sides
        found = reachable(steps_in(form), lambda k: [n for side in sides.get(k, ()) for n in steps_in(side)])
        return {k for k in found if k in self.forms.rounded}

    def among(self, pairs: Iterable[tuple[Form, Form]], elements: Elements) -> set[int]:
        """The steps that are subtracted in some sums of two elements, and not within one of the two."""
        found: set[int] = set()
        for a, b in pairs:
            steps = (self.forms.steps_in(a) | self.forms.steps_in(b)) - found
            if not self.left:
                break
            if steps:
                self.left -= 1
                together = self.subtracted_from_all(added(a, b), elements)
                for form in (a, b) if together else ():
                    together -= self.subtracted_from_all(form, elements)
                found |= together
        return found

    def length(self, form: Form) -> int:
        """How many items the displays in a sum have, each of which is a sum of its own."""
        return max((len(self.forms.displayed(a)) for product in form for a, _ in product), default=0)

    def subtracted_from_all(self, form: Form, elements: Elements | None = None) -> set[int]:
        """The steps that are subtracted from numbers, or from all items of arrays; with ``elements``, from one of them
        wherever it lies."""
        found: set[int] = set()
        for whole in self.sides(form):
            steps = [k for k in self.forms.steps_in(whole) if k in self.forms.rounded]
            for k in steps:
                found |= self.chain(whole, {k}, elements)
            if not found and len(steps) > 1:
                found |= self.chain(whole, set(steps), elements)
        return found

    def sides(self, form: Form) -> Iterator[Form]:
        """The forms that a sum has, depending on which side a branch in it took: at first that in which none shows,
        then those in which one does, and so on."""
        following: deque[tuple[Form, dict[int, Form], frozenset[int]]] = deque([(form, {}, frozenset())])
        for _ in range(_MOST):
            if not following:
                return
            before, given, shown = following.popleft()
            found = self.forms.with_atoms(before, given) if given else before
            yield found
            split = self.forms.steps_in(found) | self.forms.signs_of_steps(found)
            for k in sorted(split - shown, reverse=True):  # the last is the likeliest
                following += [(found, {k: side}, shown | {k}) for side in self.forms.sides.get(k, ())]

    def chain(self, whole: Form, steps: set[int], elements: Elements | None = None) -> set[int]:
        """The steps, where what they round, or what that rounds, cancels a part of the rest of the sum."""
        forms = self.forms
        part = {p: c for p, c in whole.items() if not forms.steps_of(p).isdisjoint(steps)}
        rest = {p: c for p, c in whole.items() if p not in part}
        if not rest:
            return set()
        inner, given = part, steps
        for _ in range(_DEEPEST):
            before, inner = inner, forms.put_in(inner, {k: forms.rounded[k] for k in given})
            moved = elements.each(inner) if elements is not None else ()
            if any(self.cancels(rest, part, form) for form in (inner, *moved)):
                return steps
            if len(steps) == 1 and self.is_scaled_back(rest, part, inner):
                return steps
            given = {k for k in forms.steps_in(inner) if k in forms.rounded}
            if not given or inner == before:
                break
        return set()

    def cancels(self, rest: Form, part: Form, inner: Form) -> bool:
        """Whether what is rounded (``inner``: ``part`` without rounding) cancels a value in the rest of a sum.

        Where all of it that moves is cancelled, it is a remainder. Where something is left, ``x - p*floor((x - c)/p)``
        is the x nearest to c, but ``lo + p*round((x - lo)/p)`` is x on a grid that begins at ``lo``: a value that is
        rounded, and its origin. The sign of what is cancelled tells the two apart.
        """
        forms = self.forms
        gone = [p for p, c in inner.items() if p in rest and self.opposes(p, rest[p], c)]
        left = [p for p in inner if p not in gone and forms.varies(p)]
        if not gone or not left:
            return bool(gone)
        sign = next(iter(part.values()))
        for p in gone:
            if not p or not forms.varies(p) or inner[p] * sign < 0.0:
                continue
            if sign * rest[p] < 0.0 and (all(inner[q] * sign < 0.0 for q in left) or sign < 0.0):
                return True
        return False

    def opposes(self, product: Product, there: float, rounded: float) -> bool:
        """Whether a part of a sum cancels what is rounded, or has the other sign: ``a + a - np.floor(a)`` is ``a`` and
        a remainder, as ``a - np.floor(a) + a`` is."""
        return product not in added({product: rounded}, {product: there}) or (
            self.forms.varies(product) and there * rounded < 0.0
        )

    def is_scaled_back(self, rest: Form, part: Form, inner: Form) -> bool:
        """Whether a value is scaled by one factor, rounded, scaled by another, and subtracted from the value: ``d -
        L * np.round(d * per_L)``. What the product of the factors is does not show, only that it is no number."""
        forms = self.forms
        (product, sign), *more = part.items()
        is_step_alone = len(product) == 1 and forms.atoms[product[0][0]].kind == "step"
        if more or len(inner) != 1 or (is_step_alone and abs(sign) == 1.0):
            return False
        ((whole, coefficient),) = inner.items()
        for value, c in rest.items():
            if not value or not forms.varies(value) or c * coefficient > 0.0 or whole == value:
                continue
            if self.is_multiple(product, value):  # of the value by a step: ``a / (1 + np.floor(a)) - a``
                continue
            if self.is_multiple(whole, value) and not self.is_bare(product, value):
                return True
            if self.is_mapped_back(product, whole, value):
                return True
        return False

    def is_mapped_back(self, product: Product, whole: Product, value: Product) -> bool:
        """The same for linear functions: ``p[1:] - np.cumsum(np.round(np.diff(p)))``."""
        forms = self.forms
        root = forms.root(whole)
        is_outside = any(forms.atoms[a].kind == "call" and forms.atoms[a].steps for a, _ in product)
        return is_outside and root is not None and root == forms.root(value) and not self.is_bare(product, ((root, 1),))

    def is_multiple(self, whole: Product, value: Product) -> bool:
        """Whether a product is a value times factors, or a linear function of the value that matrices make."""
        powers = dict(whole)
        if all(powers.get(a) == k for a, k in value):
            return True
        return any(self.is_image(a, value) for a, k in whole if k == 1)

    def is_image(self, number: int, value: Product) -> bool:
        atom = self.forms.atoms[number]
        if atom.kind != "call" or len(atom.parts) != 3 or not is_matrix_product(atom.parts[0]):
            return False
        return any(
            len(part) == 1 and (value in part or any(self.is_image(a, value) for p in part for a, _ in p))
            for part in atom.parts[1:]
        )

    def is_bare(self, product: Product, value: Product) -> bool:
        """Whether one of the two factors is missing: the value is rounded as it is."""
        forms = self.forms
        step = next((a for a, _ in product if forms.atoms[a].kind == "step"), None)
        steps = [step] if step is not None else sorted(k for k in forms.steps_of(product) if k in forms.rounded)
        return bool(steps) and value in forms.rounded[steps[0]]
