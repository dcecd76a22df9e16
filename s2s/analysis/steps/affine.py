"""Affine forms: what a number or an array of a specialised function is, as a sum of products of things that are not
taken apart. Results of steps (``floor``, ``round``, a conversion to integers) are such things, and so it shows where
one is subtracted from what it rounds.

    i = np.floor((x - lo) / dx)         a step; what it rounds is   x/dx - lo/dx
    w = x - (lo + dx * i)               x - lo - dx*i

What arithmetic makes of forms is in ``algebra``, what arrays and containers hold in ``contents``. An array that some
statement changes is another atom after each store.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import Any, assert_never

import numpy as np

from s2s.analysis.abstract.folding import is_pure
from s2s.analysis.abstract.lattice import dtype_of, is_number, type_of
from s2s.analysis.functions import facts
from s2s.analysis.memory import Memory, is_basic
from s2s.analysis.steps.algebra import OPAQUE, Algebra, Form, added, key_of, puts_side_by_side, scaled
from s2s.analysis.steps.contents import FILLED, WHOLE, Contents
from s2s.core import ir, ops
from s2s.core.functions import Computes
from s2s.core.values import AbstractValue, Array, ListOf, Unknown
from s2s.directives import surrogates
from s2s.directives.policies import Chosen
from s2s.rules import table

__all__ = ["Forms", "factor_in_sum", "is_open"]

_FACTORS = {Computes.SUM: 1.0, Computes.DIFFERENCE: -1.0}
"""The sign of the second one in a sum of two."""
_REMAINDERS = {Computes.FLOORED: "floor", Computes.TRUNCATED: "trunc"}
"""The steps by which remainders are left."""
_OF_NUMBERS = (Computes.SUM, Computes.DIFFERENCE, Computes.PRODUCT, Computes.QUOTIENT)
_LISTS = (ir.Const(list), ir.Const(tuple))
_FAMILIES = {"quotient": "floor", "toward zero": "trunc", "halves": "round", "decimals": "round"}
"""Names for steps that give the same number."""
_HANDING_ON = ("builtins", "itertools")
"""Modules of functions that give items of what they are given, or objects that hold them."""
_PURE = ("partials", "several", "linear", "vjp", "straight_through", "zero")


def is_open(value: ir.Value) -> bool:
    """Whether a value is a step whose derivative is not decided yet."""
    match value:
        case ir.Call(ir.Const(value=Chosen() as chosen)):
            return getattr(chosen.how, "name", "") == "open"
    return False


def factor_in_sum(fn: Any) -> float | None:
    """The sign of the second operand of what gives a sum of two; None for any other function."""
    return _FACTORS.get(facts(fn).computes)  # type: ignore[arg-type]


class Forms(Algebra):
    """The forms of the variables of a function, made statement by statement in the order of the text."""

    def __init__(
        self, value_of: Callable[[ir.Atom], AbstractValue], is_varied: Callable[[ir.Atom], bool], memory: Memory | None
    ) -> None:
        super().__init__(value_of)
        self.is_varied_atom = is_varied
        self.memory = memory
        self.contents = Contents(self)
        self.forms: dict[ir.Var, Form] = {}
        self.definitions: dict[ir.Var, ir.Call] = {}
        self.defined_at: dict[ir.Var, int] = {}
        self.sides: dict[int, list[Form]] = {}
        """What a value that is one of several may be, by its number: those that have steps."""
        self.items: dict[int | None, tuple[Any, ...]] = {}
        """For values that are one of several, as a list holds them at an index: which list and which index."""
        self.left_by: dict[ir.Var, frozenset[int]] = {}
        """The steps that stand still in what ``%`` gives."""
        self.epochs: dict[ir.Var, int] = {}
        """How often an array has changed, by the variable that stands for its memory."""
        self.conversions: set[ir.Var] = set()
        """The results of steps that round integers: what they are given."""
        self.arithmetic: set[ir.Var] = set()
        """Variables of no known type that are numbers or arrays, because arithmetic has made them."""

    # --- forms of variables

    def of(self, atom: ir.Atom) -> Form:
        """The form of a variable as it is here, or of a constant."""
        if isinstance(atom, ir.Const):
            return self.constant(atom.value)
        found = self.forms.get(atom)
        if self.memory is None or not self.memory.is_buffer(atom) or self.defined_at.get(atom) == self.epoch(atom):
            return self._variable(atom, 0) if found is None else found
        stored = self.contents.stored_at(atom, WHOLE)
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

    def define(self, target: ir.Var, value: ir.Value) -> Form:
        """The form of a variable that a statement defines."""
        if isinstance(value, ir.Call):
            self.definitions[target] = value = self._by_function(value)
            if self._is_arithmetic(value):
                self.arithmetic.add(target)
        self.defined_at[target] = self.epoch(target)
        made = self.forms[target] = self._value(target, value)
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

    # --- branches and loops

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
        return key_of(self.of(atom))

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

    def begin(self, param: ir.Var, init: ir.Atom) -> None:
        """Note what an iteration of a loop begins with: in the first one what there was before the loop."""
        before = self.of(init)
        if self.is_varied(before) and self.memory_of(param) is None:
            self.forms[param] = made = self.made_of([before, self._variable(param, 0)], param)
            self._note_number(min(made)[0][0], param)

    def memory_of(self, var: ir.Var) -> ir.Atom | None:
        """What stands for the memory of an array that changes; None for anything else."""
        return self.memory.find(var) if self.memory is not None and self.memory.is_buffer(var) else None

    def read_by(self, item: ir.Var, iterable: ir.Atom) -> None:
        """Note the variable of a loop over what has steps in it."""
        form = self.contained(iterable)
        if self.steps_in(form):
            self.forms[item] = self.called(operator.getitem, [form, self._variable(item, 0)])

    # --- values

    def _value(self, target: ir.Var, value: ir.Value) -> Form:
        match value:
            case ir.Var() | ir.Const():
                return self.of(value)
            case ir.Load(name, scope, owner):
                return self.alone(self.number("global", (name, scope, id(owner))))
            case ir.Call(ir.Const(value=fn), args, kwargs) if not any(isinstance(a, ir.Star) for a in args):
                if fn is slice and self.contents.is_all(target):
                    return self.all
                if is_open(value):
                    return self._step(target, fn.func, args)  # type: ignore[arg-type]
                made = None if isinstance(fn, Chosen) else self._call(target, fn, args, kwargs)  # type: ignore[arg-type]
                return self._opaque(target, value) if made is None else made
            case ir.Call():
                return self._opaque(target, value)
            case ir.MakeFunction():
                return self._variable(target, 0)
            case _:
                assert_never(value)

    def _opaque(self, target: ir.Var, value: ir.Call) -> Form:
        """The form of a call of which nothing is known but what it is given."""
        given = [self.contained(a) for a in ir.atoms_of(value)]
        fn = value.fn.value if isinstance(value.fn, ir.Const) else None
        hands_on = any(fn is known for known in ops.DISPLAYS) or getattr(fn, "__module__", None) in _HANDING_ON
        if not any(map(self.steps_in, given)) and not (hands_on and any(map(self.is_varied, given))):
            return self._variable(target, 0)
        return self.made_of(given, target)

    def _step(self, target: ir.Var, fn: Any, args: tuple[ir.Atom, ...]) -> Form:
        rounded = self.contents.of_all(args[0]) or self.contents.of_each(args[0]) or self.of(args[0])
        step = surrogates.step_of(fn)
        if step == "quotient":
            rounded = self.times(rounded, self.inverse(self.of(args[1])))
        more = tuple(key_of(self.of(a)) for a in args[1:]) if step == "decimals" else ()
        steps = self._integers_of(args[0], rounded) if not more else frozenset()
        if steps:
            self.conversions.add(target)
            if len(steps) == 1:
                self.variables[min(steps)].add(target)
            return rounded
        number, made = self.whole(_FAMILIES.get(step, fn.__name__), rounded, more)
        self.variables[number].add(target)
        self._note_number(number, target)
        return made

    def _integers_of(self, given: ir.Atom, form: Form) -> frozenset[int]:
        """The steps that gave the integers that are rounded: they stay what they are. None where something else is
        rounded."""
        if not self._holds_integers(given):
            return frozenset()
        todo, found = [form], set[int]()
        while todo:
            part = todo.pop()
            if not self.is_varied(part):
                continue
            number = self.only(part)
            parts = () if number is None else (*self.sides.get(number, ()), *self.displayed(number))
            if number in self.variables and number in self.integral:
                found.add(number)
            elif not parts:
                return frozenset()
            todo += parts
        return frozenset(found)

    def _holds_integers(self, atom: ir.Atom) -> bool:
        """Whether something is an integer, or holds integers at any depth."""
        held = self.contents.held(atom)
        return all(map(self._holds_integers, held)) if held else (
            self._gives_integers(atom) or _counts(self.value_of(atom))
        )

    def note_number(self, form: Form) -> None:
        """Note that what a form stands for is a number."""
        number = self.only(form)
        if number is not None:
            self.scalars.add(number)

    def _note_number(self, number: int, target: ir.Var) -> None:
        value = self.value_of(target)
        if is_number(value):
            self.scalars.add(number)
        elif isinstance(value, Unknown):
            self.vague.add(number)

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
        computes = facts(fn).computes
        made = None if kwargs else self._computed(target, fn, computes, args)
        if made is not None:
            return made
        if computes is Computes.LIST and len(args) == 1 and self._is_in_order(args[0]):
            if args[0] in self.contents.kept:
                self.contents.kept[target] = self.contents.kept[args[0]]  # type: ignore[index]
            return self.of(args[0])
        if fn is ops.unpack and self.contents.holds_items_of(self.definitions[target]):
            return self.of(args[0])
        if fn in FILLED:
            held = [self.of(args[0]), self.of(args[-1])]
            is_told = any(map(self.steps_in, held)) or not any(map(self.is_varied, held))
            return self._joined(target, held) if is_told else self.made_of(held, target)
        if fn is operator.getitem:
            beside = self.contents.beside(args[0], args[1])
            if beside is not None:
                return beside
            items = self.contents.items_of(args[0], args[1])
            if items:
                return self._joined(target, items, 0, ("item", *map(self.key, args)), items)
            is_part = bool(self.contents.kept) and not self.contents.is_all(args[1])
            stored = self.contents.stored_at(args[0], args[1]) if is_part else []
            if stored and not any(map(self.steps_in, stored)):
                return self.made_of(stored, args)
            if stored:
                epoch = self.epoch(args[0])
                keys = ("item", *map(self.key, args), epoch)
                made = self._joined(target, stored, epoch, keys, stored)
                self.items[self.only(made)] = keys
                return made
            return self._read(args[0], args[1])
        is_row = fn is np.stack and len(args) == 1 and not kwargs
        if args and (computes is Computes.SAME or is_row) and not self._gives_integers(target):
            made = self._same(args[0])
            if made is not None:
                return made
        rule = table.find(fn)
        still = is_pure(fn) and not kwargs and all(
            isinstance(a, ir.Const) or (self.is_numeric(a) and not self.is_varied_atom(a)) for a in args)
        if fn not in (getattr, *ops.DISPLAYS) and not still and (
            rule is None or rule.kind not in _PURE or facts(fn).acts
        ):
            return None
        of = self.contained if computes in (Computes.PLACED, Computes.TURNED) else self.of
        return self.called(fn, [of(a) for a in args], tuple((key, self.of(atom)) for key, atom in kwargs))

    def _computed(
        self, target: ir.Var, fn: Any, computes: Computes | None, args: tuple[ir.Atom, ...]
    ) -> Form | None:
        """The form of what arithmetic makes of numbers and arrays; None where it is another function."""
        of = self.contained if any(map(self.is_numeric, args)) else self.of  # of an array and a list
        forms = [of(a) for a in args] if computes is not None else []
        match computes, forms:
            case (Computes.SUM | Computes.DIFFERENCE), [a, b]:
                return added(a, b, _FACTORS[computes])
            case Computes.PRODUCT, [a, b]:
                return self.times(a, b)
            case Computes.QUOTIENT, [a, b]:
                return self.times(a, self.inverse(b))
            case (Computes.FLOORED | Computes.TRUNCATED), [a, b] if any(map(self.is_varied_atom, args)):
                return self._remainder(target, _REMAINDERS[computes], a, b)
            case Computes.SQUARE, [a] if len(a) == 1:
                return self.times(a, a)
            case Computes.POWER, [a, b] if len(a) == 1 and b == {(): 2.0}:
                return self.times(a, a)
            case Computes.COMPLEX, [a, b]:
                return added(a, self.times(b, self.constant(1j)))
            case Computes.NEGATIVE, [a]:
                return scaled(a, -1.0)
            case Computes.SIGN, [a]:
                return self._sign(a)
            case Computes.ABSOLUTE, [a]:
                return self.multiplied_out(self._sign(self._of_the_sign(a)), a)
            case Computes.CHOICE, _:
                sides = forms[1:] if fn is np.where else forms
                if any(map(self.steps_in, sides)):
                    return self._joined(target, sides, 0, (id(fn), *map(key_of, forms)))
        return None

    def _sign(self, form: Form) -> Form:
        """The sign of a number; that of a step is one of two numbers."""
        form = scaled(form, 1.0 / abs(form[min(form)])) if form else form
        number = self.number("sign", "", (form,), False, key_of(form))
        self.sides[number] = [self.constant(1), self.constant(-1)]
        return self.alone(number)

    def _of_the_sign(self, form: Form) -> Form:
        """What has the sign of a form where this is not zero: what a step rounds, for the step."""
        (product, coefficient), *more = form.items() or (((), 0.0),)
        step = product[0][0] if not more and len(product) == 1 and product[0][1] == 1 else None
        return scaled(self.rounded[step], coefficient) if step in self.integral and step in self.rounded else form

    def _same(self, given: ir.Atom) -> Form | None:
        """The form of the numbers in something, given as they are; None where no form is known of these."""
        if self.is_numeric(given):
            return self.of(given)
        whole = self.contents.of_all(given)
        if whole is None and self.contents.stored_at(given, WHOLE):  # of a list
            return self.contained(given)
        return self.contents.of_each(given) if whole is None else whole

    def contained(self, given: ir.Atom) -> Form:
        """The form of the numbers in an argument: in a list that a loop fills, one of those that it was filled with."""
        stored = [] if self.is_numeric(given) else self.contents.stored_at(given, WHOLE)
        if stored and not any(map(self.steps_in, stored)):
            return self.made_of(stored, given)
        return self._joined(given, stored, 0, ("all", self.key(given))) if stored else self.of(given)  # type: ignore[arg-type]

    def made_of(self, forms: list[Form], by: Any) -> Form:
        """The form of something of which nothing is known but what it is made of."""
        return self.alone(self.number("call", OPAQUE, (OPAQUE, *forms), True, (by, *map(key_of, forms))))

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
        computes = facts(fn).computes
        if computes in _OF_NUMBERS:
            return any(self.is_numeric(a) and not _counts(self.value_of(a)) for a in value.args)  # type: ignore[arg-type]
        if fn is operator.getitem:
            made = self.definitions.get(value.args[0])  # type: ignore[arg-type]
            is_listed = made is not None and made.fn in _LISTS and len(made.args) == 1
            return self.is_numeric(made.args[0] if made is not None and is_listed else value.args[0])
        if puts_side_by_side(fn) or is_open(value):
            return True
        if computes is Computes.LIST:
            return False
        rule = table.find(fn)
        owner = getattr(fn, "__objclass__", None) or getattr(fn, "__module__", None)
        return rule is not None and rule.kind in _PURE and (isinstance(fn, np.ufunc) or owner in ("numpy", np.ndarray))

    def _is_in_order(self, atom: ir.Atom) -> bool:
        """Whether something gives its items in the order of their places: an array, or a list."""
        made = self.definitions.get(atom)  # type: ignore[arg-type]
        is_list = made is not None and made.fn == ir.Const(np.ndarray.tolist)
        return is_list or atom in self.arithmetic or isinstance(self.value_of(atom), (Array, ListOf))

    def _gives_integers(self, atom: ir.Atom) -> bool:
        dtype = dtype_of(self.value_of(atom))
        return dtype is not None and dtype.kind in "iub"

    def _read(self, array: ir.Atom, key: ir.Atom) -> Form:
        """What an array, or a list, has at an index."""
        return self.of(array) if self.contents.is_all(key) else self.item(self.of(array), self.of(key))


def _counts(value: AbstractValue) -> bool:
    """Whether it is an integer: a list times this may be a list."""
    kind = type_of(value)
    return kind is not None and issubclass(kind, (int, np.integer))


def _is_numeric(value: AbstractValue) -> bool:
    return is_number(value) or isinstance(value, Array)
