"""What stops arithmetic on large arrays from being one loop over their parts (``blocks``): notes for people, at the
lines where a chain of operations on elements breaks.

    z = np.sin(x) * y
    s = np.sum(z)             `np.sum(z)` needs all elements: line 3 is not fused with line 1
    w = np.exp(z - s) * z

A statement is told of that reads what an operation on elements has made, and that leads to another such operation.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from s2s.analysis.functions import facts
from s2s.builder.builder import Context
from s2s.builder.stages import remark, text_at
from s2s.core import ir, ops
from s2s.core.functions import Result
from s2s.core.inspection import name_of
from s2s.core.operators import plain_of
from s2s.core.values import Array
from s2s.optimize.block_steps import is_elementwise
from s2s.optimize.dead import is_pure_call
from s2s.optimize.loops.accesses import ONE
from s2s.optimize.loops.groups import Group, Item, Single
from s2s.optimize.loops.steps import Step

__all__ = ["tell_fusion"]

_LEAST = 3
"""Loops of fewer operations in all are not worth a word."""

_SWEEPS = {False: "forward sweep", True: "reverse sweep"}
_STATEMENTS = {
    ir.If: "`if`", ir.For: "loop", ir.While: "loop", ir.With: "`with`", ir.Try: "`try`", ir.Assert: "`assert`"}


def tell_fusion(
    items: list[Item], context: Context, is_reverse: Callable[[ir.Statement], bool],
    size: Callable[[Group], bool | None], is_worth: Callable[[Group], bool],
) -> None:
    """Note what of a block is one loop, and where the loops break. ``size`` says whether the version is for arrays of a
    loop that are large, None where it is known that they are not, or nothing is."""
    found = _Fusion(items, context, is_reverse, size)
    found.tell_loops([item for item in items if isinstance(item, Group) and is_worth(item)])
    found.tell_breaks()


class _Fusion:
    def __init__(
        self, items: list[Item], context: Context, is_reverse: Callable[[ir.Statement], bool],
        size: Callable[[Group], bool | None],
    ) -> None:
        self.items = items
        self.context = context
        self.is_reverse = is_reverse
        sizes = {id(item): size(item) for item in items if isinstance(item, Group)}
        self.groups = [item for item in items if isinstance(item, Group) and sizes[id(item)] is not None]
        self.where = "" if any(sizes.values()) else "in large arrays "
        self.maps: dict[ir.Atom, tuple[Group, Step]] = {}
        """What operations on elements make."""
        self.told: set[tuple[str, int]] = set()
        """The lines that a break is about."""
        self.others: dict[ir.Atom, ir.Statement] = {}
        """What other statements make, and the arrays that they change."""
        for item in items:
            for s, step in _statements(item):
                for var in ir.defs_of(s):
                    if step is None or step.kind != "map":
                        self.others[var] = s
                    elif isinstance(item, Group) and sizes[id(item)] is not None:
                        self.maps[var] = item, step

    # --- loops

    def tell_loops(self, groups: list[Group]) -> None:
        """Note which lines are done together, where they are several; and which are not, as their arrays have a size
        that no argument has."""
        known, told = {id(group) for group in self.groups}, set[tuple[str, int]]()
        for group in groups:
            lines = _lines(step.statement for step in group.steps)
            if not lines:
                continue
            is_open = any(not dim.is_constant for dim in group.steps[0].space)
            if is_open and id(group) not in known and not told.intersection((one.file, one.line) for one in lines):
                told.update((one.file, one.line) for one in lines)
                said = f"{_said(lines, lines[0].file)} {'is' if len(lines) == 1 else 'are'} not done part by part"
                why = "no argument has the shape of the arrays, which are not known to be large"
                remark(self.context, lines[0], "fusion", f"{said}: {why}")
            if len(lines) < 2 or id(group) not in known:
                continue
            sweeps = {self.is_reverse(step.statement) for step in group.steps}
            sweep = "both sweeps" if len(sweeps) == 2 else _SWEEPS[sweeps.pop()]
            said = f"{self.where}{_said(lines, lines[0].file)} are one loop over parts of the arrays ({sweep})"
            remark(self.context, lines[0], "fusion", said)

    # --- breaks

    def tell_breaks(self) -> None:
        """Note the statements between two loops that need the whole of what the first one makes."""
        told: dict[int, tuple[ir.Statement, list[ir.Statement], list[ir.Statement]]] = {}
        for group in self.groups:
            for step in group.steps:
                if step.kind != "map":
                    continue
                for before, between in (*self._before(step.statement), *self._in_order(step.statement, group)):
                    if before is group or _maps(before) + _maps(group) < _LEAST:
                        continue
                    entry = told.setdefault(id(between), (between, [], []))
                    entry[1].extend(self._made_for(between, before))
                    entry[2].append(step.statement)
        for between, first, second in sorted(told.values(), key=lambda one: self.is_reverse(one[0])):
            self._tell(between, first, second)

    def _before(self, s: ir.Statement) -> Iterator[tuple[Group, ir.Statement]]:
        """The loops before a statement on which it depends by statements that are in none, with the first of those."""
        waiting, seen = [(a, s) for a in ir.reads_of(s) if a in self.others], set[ir.Atom]()
        while waiting:
            atom, reader = waiting.pop()
            if atom in seen:
                continue
            seen.add(atom)
            between = self.others[atom]
            for read in _all_reads(between):
                if read in self.maps:
                    yield self.maps[read][0], reader if _is_display(between) and reader is not s else between
                elif read in self.others:
                    waiting.append((read, between))

    def _in_order(self, s: ir.Statement, group: Group) -> Iterator[tuple[Group, ir.Statement]]:
        """The loops that made what a statement reads, with the first statement behind each that nothing moves past, or
        that changes what it made."""
        for read in ir.reads_of(s):
            before = self.maps[read][0] if read in self.maps else group
            if before is group:
                continue
            start, end = (next(k for k, item in enumerate(self.items) if item is one) for one in (before, group))
            for item in self.items[start + 1 : end]:
                one = item.statement if isinstance(item, Single) else None
                changes = isinstance(one, ir.Store) and one.target == read
                if one is not None and (changes or item.effects.is_fixed) and getattr(one, "span", None) is not None:
                    yield before, one
                    break

    def _made_for(self, between: ir.Statement, group: Group) -> Sequence[ir.Statement]:
        """The operations of a loop whose results a statement reads; else the last one."""
        read = [self.maps[a] for a in _all_reads(between) if a in self.maps]
        return [step.statement for one, step in read if one is group] or [group.steps[-1].statement]

    def _tell(self, s: ir.Statement, first: list[ir.Statement], second: list[ir.Statement]) -> None:
        span = getattr(s, "span", None)
        why = self._why(s)
        if span is None or why is None:
            return
        before, behind = _lines(first), _lines(second)
        if self.is_reverse(s) and (span.file, span.line) in self.told:
            return  # it has a break in the forward sweep, of which this is the mirror image
        self.told.update((line.file, line.line) for line in (span, *before, *behind))
        apart = [line for line in behind if line not in before]
        tail = "what is before and after it is not one loop"
        if apart and before:
            verb = "is" if len(apart) == 1 else "are"
            tail = f"{_said(apart, span.file)} {verb} not fused with {_said(before, span.file)}"
        said = f"{self._name(s, span)} {why}: {self.where}{tail} ({_SWEEPS[self.is_reverse(s)]})"
        remark(self.context, span, "fusion", said)

    def _name(self, s: ir.Statement, span: ir.Span) -> str:
        """What stands between, as it is written."""
        if type(s) in _STATEMENTS:
            return f"the {_STATEMENTS[type(s)]}"
        text = text_at(span)
        if self.is_reverse(s):
            return f"the reverse of `{text}`" if text else "a sum"
        if text is None or isinstance(s, ir.Store):
            return "the change in place" if isinstance(s, ir.Store) else f"`{_function_name(s)}`"
        return f"`{text}`"

    def _why(self, s: ir.Statement) -> str | None:
        """Why a statement is in no loop over parts, or ends one; None where that says nothing."""
        if isinstance(s, ir.Store):
            return "is done on the whole array"
        if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call):
            return "is done on whole arrays" if type(s) in _STATEMENTS else None
        call, known = s.value, self.context.value(s.target) if s.target is not None else None
        fn = call.fn.value if isinstance(call.fn, ir.Const) else None
        if fn is None:
            return "is a call of a function that is not known before it runs"
        if not is_pure_call(call):
            return "may do anything"
        rank = len(known.shape or ()) if isinstance(known, Array) else 0
        most = max((self._rank(a) for a in call.args if not isinstance(a, ir.Star)), default=0)
        if is_elementwise(plain_of(fn) or fn):
            if call.kwargs:
                return f"has the argument `{call.kwargs[0][0]}`"
            return "is of arrays whose lengths are not known to be the same"
        if fn in (operator.matmul, np.matmul, np.dot) and rank:
            return "is a product of matrices"
        if not _is_view(fn) and (rank < most or self._has_kept_axis(s, call)):
            is_whole = isinstance(known, Array) and all(dim == ONE for dim in known.shape or ())
            return "needs all elements" if rank == 0 or is_whole else "needs all elements along an axis"
        if _is_view(fn) or facts(fn).result is Result.VIEW:
            return "has another shape"
        return "is done on whole arrays"

    def _has_kept_axis(self, s: ir.Let, call: ir.Call) -> bool:
        """Whether an axis of an argument has the length 1 in the result."""
        known = self.context.value(s.target) if s.target is not None else None
        given = self.context.value(call.args[0]) if call.args and not isinstance(call.args[0], ir.Star) else None
        if not isinstance(known, Array) or not isinstance(given, Array):
            return False
        pairs = zip(known.shape or (), given.shape or (), strict=False)
        return any(one == ONE and other != ONE for one, other in pairs)

    def _rank(self, atom: ir.Atom) -> int:
        known = self.context.value(atom)
        return len(known.shape or ()) if isinstance(known, Array) else 0


def _is_display(s: ir.Statement) -> bool:
    """Whether a statement only puts a tuple or a list together, for a call."""
    call = s.value if isinstance(s, ir.Let) else None
    fn = call.fn if isinstance(call, ir.Call) else None
    return isinstance(fn, ir.Const) and getattr(fn.value, "__module__", "") == ops.__name__


def _is_view(fn: Any) -> bool:
    return fn is operator.getitem or fn is getattr


def _maps(group: Group) -> int:
    return sum(step.kind == "map" for step in group.steps)


def _all_reads(s: ir.Statement) -> list[ir.Atom]:
    """What a statement reads, and what those in it do."""
    return [a for inner in (s, *(n for b in ir.blocks_of(s) for n in ir.walk(b))) for a in ir.reads_of(inner)]


def _statements(item: Item) -> list[tuple[ir.Statement, Step | None]]:
    if isinstance(item, Single):
        return [(item.statement, None)]
    if isinstance(item, Group):
        return [(step.statement, step) for step in item.steps]
    return [(one.step.statement, None) for one in item.additions]


def _function_name(s: ir.Statement) -> str:
    call = s.value if isinstance(s, ir.Let) else None
    return name_of(call.fn.value) if isinstance(call, ir.Call) and isinstance(call.fn, ir.Const) else "a call"


def _lines(statements: Iterable[ir.Statement]) -> list[ir.Span]:
    """The lines of statements, each once, in order."""
    spans = [s.span for s in statements if getattr(s, "span", None) is not None]
    by_line = {(span.file, span.line): ir.Span(span.file, span.line, 0, span.line, 0) for span in spans if span}
    return [by_line[place] for place in sorted(by_line)]


def _said(lines: list[ir.Span], file: str) -> str:
    """Lines, for people: ``lines 3, 5 and 8``."""
    names = [str(s.line) if s.file == file else f"{os.path.basename(s.file)}:{s.line}" for s in lines]
    if len(names) == 1:
        return f"line {names[0]}"
    return f"lines {', '.join(names[:-1])} and {names[-1]}"
