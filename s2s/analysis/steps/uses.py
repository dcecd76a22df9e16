"""How the result of a step that a remainder is made with is used elsewhere: whether it may pass straight through there.

    q = np.round(x)
    loss(q) + np.sum((x - q) ** 2)          the first use has nothing to do with the remainder: both may be had
    2.0**q * np.exp2(x - q)                 whole and remainder are put together again: exp2(x), whatever q is

Where a use and the remainder meet in a product, or in a sum before anything but scaling has happened to them, only one
decision for both gives the derivative of the whole.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import TypeAlias, assert_never

import numpy as np

from s2s.analysis.functions import facts, gives_the_same
from s2s.analysis.steps.affine import Forms, factor_in_sum, is_open
from s2s.analysis.steps.contents import FILLED
from s2s.analysis.steps.remainders import Remainder
from s2s.core import ir, ops
from s2s.core.dataflow import reachable
from s2s.core.functions import Computes
from s2s.rules import table

__all__ = ["Uses"]

_WHOLE, _BENT_WHOLE, _PART, _BENT_PART = "whole", "bent whole", "part", "bent part"
_BENT = {_WHOLE: _BENT_WHOLE, _PART: _BENT_PART, _BENT_WHOLE: _BENT_WHOLE, _BENT_PART: _BENT_PART}
_HOLDS_APART = (*FILLED, *ops.DISPLAYS, ops.unpack, operator.getitem, getattr, np.stack, np.concatenate)
_MOVES = (Computes.SAME, Computes.LIST, Computes.FLAT)
"""Functions that put values side by side, or take one of them, and what those compute that move them."""
_PRODUCTS = (Computes.PRODUCT, Computes.QUOTIENT, Computes.MATRIX_PRODUCT)
_AFFINE = (
    Computes.SUM, Computes.DIFFERENCE, Computes.NEGATIVE, Computes.CHOICE,
    Computes.PIECES, Computes.FLOORED, Computes.TRUNCATED,
)
"""What functions compute that are affine in each argument, between kinks; an absolute value is a loss more often."""

Use: TypeAlias = tuple[ir.Statement | None, tuple[ir.Var, ...]]


class Uses:
    """Who reads what, in a specialised function; ``useful`` are the variables through which its derivative goes."""

    def __init__(self, function: ir.Function, forms: Forms, useful: set[ir.Var]) -> None:
        self.forms = forms
        self.useful = useful
        self.body = function.body
        self.readers: dict[ir.Atom, list[tuple[ir.Statement, tuple[ir.Var, ...]]]] = {}
        self.made: dict[ir.Var, ir.Let] = {}
        for s in ir.walk(function.body):
            for atom, targets in _edges(s):
                self.readers.setdefault(atom, []).append((s, targets))
            if isinstance(s, ir.Let) and s.target is not None:
                self.made[s.target] = s
        self.results = {a for a in function.body.yields if isinstance(a, ir.Var)}

    def elsewhere(self, steps: Iterable[ir.Var], at: set[int]) -> tuple[list[Use], set[int]]:
        """The uses of steps through which a derivative would go, other than in the statements ``at`` (by ``id``): each
        with the variables that it gives; no statement where a step is part of the result. And those of the statements
        ``at`` that the steps reach."""
        found: list[Use] = []
        reached: set[int] = set()
        seen, todo = set(steps), list(steps)
        while todo:
            var = todo.pop()
            if var in self.results:
                found.append((None, (var,)))
            for s, targets in self.readers.get(var, ()):
                moving = tuple(t for t in self.same(s, targets) if t in self.useful)
                if id(s) in at:
                    reached.add(id(s))
                    continue
                if not moving:
                    continue
                if self.is_affine(s, var):
                    todo += [t for t in moving if t not in seen]
                    seen.update(moving)
                else:
                    found.append((s, moving))
        return found, reached

    def same(self, s: ir.Statement, targets: tuple[ir.Var, ...]) -> Iterable[ir.Var]:
        """The variables that a statement gives; where it stores, all those that may see it."""
        memory = self.forms.memory
        if not isinstance(s, ir.Store) or memory is None:
            return targets
        return [v for t in targets for v in memory.same(t)]

    def is_affine(self, s: ir.Statement, var: ir.Var) -> bool:
        """Whether what a statement makes of a step is still a form with the step in it."""
        if isinstance(s, ir.Store):
            return s.op is None and s.target in self.forms.contents.kept
        if not isinstance(s, ir.Let):
            return True
        if is_open(s.value):
            return s.target in self.forms.conversions
        s = self.by_function(s)
        form = self.forms.forms.get(s.target, {}) if s.target is not None else {}
        return bool(self.forms.steps_in(form)) and (_scales(s) or _is_absolute(s) or not _bends(s))

    def by_function(self, s: ir.Let) -> ir.Let:
        """A statement, with a call of a method as one of the function that this is."""
        made = self.forms.definitions.get(s.target) if s.target is not None else None
        return s if made is None or made is s.value else ir.replace(s, value=made)

    def chain(self, atom: ir.Atom, step: ir.Var) -> list[ir.Let] | None:
        """The statements that make an operand of a remainder from a step, in order; None where that is no straight
        line of arithmetic."""
        memory = self.forms.memory
        if atom in self.forms.contents.kept:
            return None
        if not isinstance(atom, ir.Var) or not self.comes_from(atom, step):
            return []
        if any(atom in steps for steps in self.forms.variables.values()):
            return []
        made = self.made.get(atom)
        if made is None or not isinstance(made.value, ir.Call) or (memory is not None and memory.is_buffer(atom)):
            return None
        if not isinstance(made.value.fn, ir.Const) or not gives_the_same(made.value.fn.value):
            return None
        lines: list[ir.Let] = []
        for a in ir.atoms_of(made.value):
            before = self.chain(a, step)
            if before is None or (memory is not None and memory.is_buffer(a)):
                return None
            lines += [line for line in before if line not in lines]
        return [*lines, made]

    def comes_from(self, atom: ir.Var, step: ir.Var) -> bool:
        """Whether the form of a variable has a step in it."""
        forms = self.forms
        numbers = forms.steps_in(forms.forms.get(atom, {}))
        found = reachable(numbers, lambda n: [k for side in forms.sides.get(n, ()) for k in forms.steps_in(side)])
        return any(step in forms.variables.get(k, ()) for k in found)

    # --- whether they meet

    def meet(self, steps: Iterable[ir.Var], parts: list[Remainder]) -> bool:
        """Whether steps and the remainders that are made with them come together again."""
        self.labels: dict[ir.Atom, set[str]] = {}
        for step in steps:
            self.label(step, {_WHOLE})
        for part in parts:
            target = part.statement.target if isinstance(part.statement, (ir.Let, ir.Store)) else None
            if isinstance(target, ir.Var):
                self.label(target, {_PART})
        at = {id(part.statement) for part in parts}
        while True:
            before = sum(map(len, self.labels.values()))
            if any(id(s) not in at and self.comes_together(s) for s in ir.walk(self.body)):
                return True
            if sum(map(len, self.labels.values())) == before:
                return False

    def label(self, var: ir.Var, labels: set[str]) -> None:
        memory = self.forms.memory
        for same in memory.same(var) if memory is not None and memory.is_buffer(var) else (var,):
            self.labels.setdefault(same, set()).update(labels)

    def comes_together(self, s: ir.Statement) -> bool:
        """Hand the labels of what a statement reads to what it makes; True where whole and remainder meet in it."""
        found = [self.labels[a] for a, _ in _edges(s) if a in self.labels]
        targets = {t for _, ts in _edges(s) for t in ts if t in self.useful}
        if not found or not targets:
            return False
        if isinstance(s, ir.Store) and s.op is not None and s.target in self.labels:
            found.append(self.labels[s.target])
        s = self.by_function(s) if isinstance(s, ir.Let) else s
        every = set[str]().union(*found)
        bends = _bends(s) and not (len(found) == 1 and _scales(s))
        if not _holds_apart(s) and _meet(found, every, bends):
            return True
        for t in targets:
            self.label(t, {_BENT[label] for label in every} if bends else every)
        return False


def _meet(found: list[set[str]], every: set[str], bends: bool) -> bool:
    if {_WHOLE, _PART} <= every:
        return True
    wholes = [k for k, labels in enumerate(found) if labels & {_WHOLE, _BENT_WHOLE}]
    parts = [k for k, labels in enumerate(found) if labels & {_PART, _BENT_PART}]
    return bends and any(k != j for k in wholes for j in parts)


def _scales(s: ir.Statement) -> bool:
    """Whether a statement is linear in each of the things that it multiplies."""
    match s:
        case ir.Let(_, ir.Call(ir.Const(value=fn))):
            return facts(fn).computes in _PRODUCTS
        case ir.Store(op=op):
            return facts(op).computes in _PRODUCTS
        case (
            ir.Let() | ir.If() | ir.For() | ir.While() | ir.With() | ir.Try() | ir.Assert() | ir.Raise() |
            ir.Return() | ir.Break() | ir.Continue() | ir.Note()
        ):
            return False
        case _:
            assert_never(s)


def _is_absolute(s: ir.Let) -> bool:
    return isinstance(s.value, ir.Call) and isinstance(s.value.fn, ir.Const) and (
        facts(s.value.fn.value).computes is Computes.ABSOLUTE
    )


def _bends(s: ir.Statement) -> bool:
    """Whether a statement is not linear in what it reads, between kinks."""
    if isinstance(s, ir.Store):
        return s.op is not None and factor_in_sum(s.op) is None
    if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call) or not isinstance(s.value.fn, ir.Const):
        return False
    fn = s.value.fn.value
    if is_open(s.value) or facts(fn).computes in _AFFINE or _holds_apart(s):
        return False
    rule = table.find(fn)
    return rule is None or rule.kind != "linear"


def _holds_apart(s: ir.Statement) -> bool:
    match s:
        case ir.Let(_, ir.Call(ir.Const(value=fn))):
            return facts(fn).computes in _MOVES or any(fn is known for known in _HOLDS_APART)
        case ir.Store(op=op):
            return op is None
        case ir.Let():
            return True
        case (
            ir.If() | ir.For() | ir.While() | ir.With() | ir.Try() | ir.Assert() | ir.Raise() | ir.Return() |
            ir.Break() | ir.Continue() | ir.Note()
        ):
            return True
        case _:
            assert_never(s)


def _edges(s: ir.Statement) -> Iterator[tuple[ir.Atom, tuple[ir.Var, ...]]]:
    """What a statement reads, and the variables that it makes of it."""
    match s:
        case ir.Let(target, value):
            for atom in ir.atoms_of(value):
                yield atom, () if target is None else (target,)
        case ir.Store(_, target, _, value):
            yield value, (target,) if isinstance(target, ir.Var) else ()
        case ir.If() | ir.Try() | ir.For() | ir.While():
            for targets, sources in ir.joins_of(s):
                yield from ((source, targets) for source in sources)
            if isinstance(s, ir.For):
                yield s.iterable, (s.item,)
        case ir.With() | ir.Assert() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue() | ir.Note():
            pass
        case _:
            assert_never(s)
