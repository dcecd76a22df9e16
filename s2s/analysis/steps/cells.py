"""Cell numbers: steps whose results choose items, count, or give a shape. A specialised function goes in, and the
variables of such steps come out.

    i = int(t)                       an index of y: the number of a cell
    return y[i] + (t - i) * d[i]
    n = int(x); np.zeros(n)          a shape
    for k in range(int(x)): ...      a count

What goes where a function has no derivative and wants an integer is one; and all that it was computed from, as far back
as to the step that made an integer of it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, assert_never

from s2s.analysis.abstract.lattice import dtype_of, is_number, type_of
from s2s.analysis.functions import facts, reads_content
from s2s.analysis.steps.affine import is_open
from s2s.core import ir, ops
from s2s.core.functions import Computes
from s2s.core.values import AbstractValue, Array, Range, Scalar, Sequence
from s2s.directives.policies import Chosen
from s2s.rules import table

__all__ = ["find_cells"]

_WITHOUT_DERIVATIVES = ("linear", "vjp")
_KEEPS_INTEGERS = (
    Computes.SUM, Computes.DIFFERENCE, Computes.PRODUCT, Computes.NEGATIVE, Computes.ABSOLUTE, Computes.SAME,
    Computes.CHOICE, Computes.FLOORED, Computes.TRUNCATED,
)
"""What functions compute that is an integer of integers."""


def find_cells(function: ir.Function, value_of: Callable[[ir.Atom], AbstractValue]) -> set[ir.Var]:
    """The variables of the undecided steps that serve as an index, a count, a shape or a key."""
    return _Finder(function, value_of).found


class _Finder:
    def __init__(self, function: ir.Function, value_of: Callable[[ir.Atom], AbstractValue]) -> None:
        self.value_of = value_of
        self.sources: dict[ir.Var, list[ir.Atom]] = {}
        """What a variable is made of; that of an array also what is stored into it."""
        self.functions: dict[ir.Var, Any] = {}
        """The function whose call made a variable."""
        self.steps: dict[ir.Var, ir.Atom] = {}
        self.found: set[ir.Var] = set()
        self.seen: set[ir.Var] = set()
        for s in ir.walk(function.body):
            self.note(s)
        for s in ir.walk(function.body):
            for atom in self.places(s):
                self.mark(atom)

    def note(self, s: ir.Statement) -> None:
        """Note where the variables that a statement defines come from."""
        match s:
            case ir.Let(ir.Var() as target, value):
                self.sources[target] = [a for a in ir.atoms_of(value) if isinstance(a, ir.Var) and self.is_in(value, a)]
                if isinstance(value, ir.Call) and isinstance(value.fn, ir.Const):
                    self.functions[target] = value.fn.value
                if is_open(value):
                    assert isinstance(value, ir.Call)
                    self.steps[target] = value.args[0]  # type: ignore[assignment]
            case ir.Store(target=ir.Var() as target, value=value):
                self.sources.setdefault(target, []).append(value)
            case ir.If() | ir.Try() | ir.For() | ir.While():
                for targets, sources in ir.joins_of(s):
                    found: list[ir.Atom] = list(sources)  # one list: a store to one of the variables is one to all
                    self.sources |= dict.fromkeys(targets, found)
                if isinstance(s, ir.For):
                    self.sources[s.item] = [s.iterable]
            case (
                ir.Let() | ir.Store() | ir.With() | ir.Assert() | ir.Raise() | ir.Return() | ir.Break() |
                ir.Continue() | ir.Note()
            ):
                pass
            case _:
                assert_never(s)

    def is_in(self, value: ir.Value, atom: ir.Var) -> bool:
        """Whether a number may be part of what is computed of it: not of a length, nor where floats are compared."""
        if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const) or is_open(value):
            return True
        fn = value.fn.value.func if isinstance(value.fn.value, Chosen) else value.fn.value
        if not reads_content(fn, value.args, atom):
            return False
        rule = table.find(fn)
        dtype = dtype_of(self.value_of(atom))
        return rule is None or rule.kind != "zero" or dtype is None or dtype.kind not in "fc"

    # --- where cell numbers are wanted

    def places(self, s: ir.Statement) -> Iterator[ir.Atom]:
        """The atoms of a statement that are indices, counts, shapes or keys."""
        match s:
            case ir.Store("item" | "at", _, key):
                yield key
            case ir.Let(_, ir.Call(ir.Const(value=fn), args, kwargs)):
                yield from self.places_of_call(fn.func if isinstance(fn, Chosen) else fn, args, kwargs, s.target)
            case ir.While(test=test):
                for inner in ir.walk(test):
                    match inner:
                        case ir.Let(_, ir.Call(ir.Const(value=fn), args)) if facts(fn).computes is Computes.COMPARISON:
                            yield from (a for a in args if isinstance(a, ir.Var) and self.is_integer(a))
            case (
                ir.Let() | ir.Store() | ir.If() | ir.For() | ir.With() | ir.Try() | ir.Assert() | ir.Raise() |
                ir.Return() | ir.Break() | ir.Continue() | ir.Note()
            ):
                pass
            case _:
                assert_never(s)

    def places_of_call(
        self, fn: Any, args: tuple[Any, ...], kwargs: tuple[Any, ...], target: ir.Var | None
    ) -> Iterator[ir.Atom]:
        given = [*args, *(a for _, a in kwargs)]
        if fn is operator.getitem:
            yield args[1]
        elif fn is range:
            yield from args
        elif fn in (operator.mul, operator.imul) and any(isinstance(self.value_of(a), Sequence) for a in args):
            yield from args  # [0.0] * n
        elif not any(isinstance(a, ir.Var) and not isinstance(a, ir.Star) and self.may_count(a) for a in given):
            return
        else:
            yield from self.without_derivative(fn, args, kwargs, target)

    def without_derivative(
        self, fn: Any, args: tuple[Any, ...], kwargs: tuple[Any, ...], target: ir.Var | None
    ) -> Iterator[ir.Atom]:
        """The integers that a function takes without a derivative: counts, shapes and indices."""
        rule = table.find(fn)
        if rule is None or any(isinstance(a, ir.Star) for a in args):
            return
        if rule.kind == "zero":
            numbers = all(not isinstance(self.value_of(a), Array) for a in args)
            makes = isinstance(self.value_of(target), (Array, Range)) if target is not None else False
            yield from args if numbers and makes else ()
        elif rule.kind in _WITHOUT_DERIVATIVES:
            bound = table.bind(rule, args, dict(kwargs))
            for name, atom in bound.items():
                if isinstance(atom, ir.Var) and self.may_count(atom) and name not in rule.cotangents:
                    yield atom

    # --- back to the steps

    def mark(self, atom: ir.Atom) -> None:
        """A variable is a cell number, and so are the steps that it was computed from."""
        todo = [atom]
        while todo:
            var = todo.pop()
            if not isinstance(var, ir.Var) or var in self.seen:
                continue
            if var in self.steps:
                self.seen.add(var)
                self.found.add(var)
                if self.is_integral(self.steps[var]):
                    todo.append(self.steps[var])
            elif self.may_count(var) or self.is_integral(var):
                self.seen.add(var)
                todo += self.sources.get(var, ())

    def may_count(self, var: ir.Var) -> bool:
        """Whether a variable may be or hold an integer: no float, and no bool."""
        value = self.value_of(var)
        dtype = dtype_of(value)
        if dtype is not None:
            return dtype.kind in "iu"
        return not is_number(value) or self.is_integer(var)

    def is_integer(self, var: ir.Var) -> bool:
        value = self.value_of(var)
        dtype, kind = dtype_of(value), type_of(value)
        if dtype is not None:
            return dtype.kind in "iu"
        return kind is int or (isinstance(value, Scalar) and value.type is int)

    def is_integral(self, atom: ir.Atom, depth: int = 8) -> bool:
        """Whether a float is certainly the result of a step, moved by integers or held between bounds."""
        if isinstance(atom, ir.Const):
            return type(atom.value) is int or (type(atom.value) is float and atom.value.is_integer())
        if atom in self.steps or self.is_integer(atom):
            return True
        if depth == 0 or not self.sources.get(atom):
            return False
        fn = self.functions.get(atom)
        keeps = fn is ops.make_tuple or facts(fn).computes in _KEEPS_INTEGERS
        return keeps and all(self.is_integral(a, depth - 1) for a in self.sources[atom])
