"""Memory: which variables may be one piece of memory, which of it changes, and how.

Arrays that a statement changes in place are *buffers*. Everything that may share memory with a buffer is in its
*class*; the class is as large as it must be to be sure. What is known exactly is kept beside it: that a variable is a
view of another one, made by an operation that gives the same view of the buffer's adjoint.

    u = np.zeros(n)         new
    inner = u[1:-1]         a view of u
    v = inner * 2.0         new: arithmetic makes arrays of its own
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from typing import Any, assert_never

import numpy as np

from s2s.analysis import functions
from s2s.core import ir, ops
from s2s.core.closures import Closure
from s2s.core.functions import Result
from s2s.core.values import (
    AbstractValue,
    Array,
    Instance,
    Known,
    ListOf,
    Mapping,
    Object,
    Range,
    Ref,
    Same,
    Scalar,
    Sequence,
    Unknown,
)
from s2s.rules import table


def changed_by(s: ir.Statement) -> ir.Atom | None:
    """The array or container that a statement changes in place; None where it changes none."""
    match s:
        case ir.Store(_, target):
            return target
        case ir.Let(_, ir.Call(ir.Const(value=fn), args)) if args and functions.changes_memory(fn):
            return args[0].atom if isinstance(args[0], ir.Star) else args[0]
        case (
            ir.Let() | ir.If() | ir.For() | ir.While() | ir.With() | ir.Try() | ir.Assert() | ir.Raise() |
            ir.Return() | ir.Break() | ir.Continue() | ir.Note()
        ):
            return None
        case _:
            assert_never(s)


def can_share(value: AbstractValue) -> bool:
    """Whether a value of this kind can refer to an array."""
    kind_of_value = type(value)  # most are one of these two
    if kind_of_value is Array or kind_of_value is Scalar:
        return kind_of_value is Array
    match value:
        case Known():
            return isinstance(value.value, (np.ndarray, list, dict))
        case Scalar() | Range() | Instance():  # the parts of an instance are read once, before anything else
            return False
        case Sequence(kind, items):
            return kind is not slice and any(map(can_share, items))
        case Mapping(_, items):
            return any(map(can_share, items))
        case ListOf(item):
            return can_share(item)
        case Array() | Closure():
            return True
        case Ref() | Object() | Same() | Unknown():
            return True
        case _:
            assert_never(value)


def shared_with(value: ir.Value, target: AbstractValue, value_of: Any) -> list[ir.Var]:
    """The variables whose memory the result of an operation may share."""
    if not can_share(target):
        return []
    match value:
        case ir.Var():
            return [value]
        case ir.MakeFunction():
            return [a for a in ir.atoms_of(value) if isinstance(a, ir.Var)]
        case ir.Call(ir.Const() as fn, args, kwargs):
            if functions.gives_new(fn.value, kwargs, len(args)) or table.is_by_user(fn.value):
                return []  # of rules of users it is tested when the program runs, where it matters
            if fn.value is operator.getitem:
                if is_copied(value_of(args[0]), value_of(args[1])):
                    return []
                return [args[0]] if isinstance(args[0], ir.Var) and can_share(value_of(args[0])) else []
            if fn.value is getattr and args[1] in (ir.Const("shape"), ir.Const("dtype")):
                return []
            places = functions.facts(fn.value).of
            if places is not None and max(places) < len(args) and not any(isinstance(a, ir.Star) for a in args):
                given = [args[k] for k in places]
                return [a for a in given if isinstance(a, ir.Var) and can_share(value_of(a))]
        case ir.Call():
            pass
        case ir.Const() | ir.Load():
            return []
        case _:
            assert_never(value)
    looked_at = _looked_at(value)
    return [a for a in ir.atoms_of(value) if isinstance(a, ir.Var) and a not in looked_at and can_share(value_of(a))]


def shared_from(s: ir.Statement, value_of: Any) -> Iterator[tuple[ir.Var, list[ir.Var]]]:
    """The variables that may share the memory of others from a statement on, with these; none of them where it makes
    memory of its own. What joins of paths share is ``ir.joins_of``."""
    if isinstance(s, ir.Let) and s.target is not None:  # most are: a match takes longer
        known = value_of(s.target)
        yield s.target, shared_with(s.value, known, value_of) if can_share(known) else []
        return
    into, given = changed_by(s), ir.reads_of(s)
    match s:
        case ir.Let(None, ir.Call(ir.Const(value=fn), args)) if fn is ops.push:
            into = args[0]  # type: ignore[assignment]
        case ir.Let(None, ir.Call(ir.Const(value=fn))) if into is not None and functions.facts(fn).holds:
            pass
        case ir.Store(value=value) if not isinstance(value_of(into), Array):
            given = (value,)
        case (
            ir.Let() | ir.Store() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue() | ir.Note()
            | ir.If() | ir.For() | ir.While() | ir.With() | ir.Try() | ir.Assert()
        ):
            return
        case _:
            assert_never(s)
    others = [a for a in given if isinstance(a, ir.Var) and a != into]
    if isinstance(into, ir.Var) and others:
        yield into, others


def _looked_at(value: ir.Call) -> set[ir.Atom]:
    """The arguments that give the result of a call its shape, dtype or structure only, by the rule of the function."""
    rule = table.find(value.fn.value) if isinstance(value.fn, ir.Const) else None
    if rule is None or not rule.harmless:
        return set()
    given = {*zip(rule.params.parameters, value.args, strict=False), *value.kwargs}
    others = {a for name, a in given if name not in rule.harmless}
    return {a for name, a in given if name in rule.harmless and not isinstance(a, ir.Star)} - others


def _parts_of(index: AbstractValue) -> tuple[AbstractValue, ...]:
    """What an index says of each axis, of a tuple that is known too."""
    if isinstance(index, Sequence) and index.type is tuple:
        return index.items
    if isinstance(index, Known) and type(index.value) is tuple:
        return tuple(Known(ir.Const(part)) for part in index.value)
    return (index,)


def is_copied(source: AbstractValue, index: AbstractValue) -> bool:
    """Whether reading an array at an index gives a copy: an array or a list among the indices."""
    if not isinstance(source, Array):
        return False
    items = _parts_of(index)
    return any(
        isinstance(i, (Array, ListOf)) or (isinstance(i, Sequence) and i.type is list)
        or (isinstance(i, Known) and isinstance(i.value, (list, np.ndarray))) for i in items)


def is_basic(index: AbstractValue) -> bool:
    """Whether an index is made of integers, slices, ``None`` and ``...`` only: what it reads is a view."""
    items = _parts_of(index)
    return all(
        (isinstance(i, Scalar) and issubclass(i.type, (int, np.integer)) and not issubclass(i.type, bool))
        or (isinstance(i, Known) and (i.value is None or i.value is Ellipsis or _is_plain_index(i.value)))
        or (isinstance(i, Sequence) and i.type is slice)
        for i in items
    )


def may_repeat(index: AbstractValue) -> bool:
    """Whether an index may name an element twice: an array or list of integers, or something unknown."""
    items = _parts_of(index)
    return not all(
        isinstance(i, (Known, Scalar))
        or (isinstance(i, Sequence) and i.type is slice)
        or (isinstance(i, Array) and i.dtype == bool)
        for i in items
    )


def _is_plain_index(value: Any) -> bool:
    return isinstance(value, (int, slice)) and not isinstance(value, bool)


class Memory:
    """What a function in SSA form does with memory."""

    def __init__(self, function: ir.Function, value_of: Any, opaque: bool = True) -> None:
        """``opaque`` says whether calls that may change an array count as changing it."""
        self.opaque = opaque
        self.value_of = value_of
        self.made: dict[ir.Var, ir.Value] = {}
        self.new: set[ir.Var] = set()
        self.links: dict[ir.Var, ir.Var] = {}
        self.stored: list[ir.Var] = []
        self.joined: dict[ir.Var, tuple[ir.Statement, int]] = {}
        self.params = {p.var for p in function.params}
        self._block(function.body)
        self.changed = {self.find(var) for var in self.stored}

    # --- classes

    @functools.cached_property
    def members(self) -> dict[ir.Var, list[ir.Var]]:
        """The variables of each class."""
        found: dict[ir.Var, list[ir.Var]] = {}
        for var in [*self.links]:
            found.setdefault(self.find(var), []).append(var)
        return found

    @functools.cached_property
    def buffers(self) -> set[ir.Var]:
        """The variables that may share memory which some statement changes."""
        return {var for var in [*self.links] if self.find(var) in self.changed} if self.changed else set()

    def find(self, var: ir.Var) -> ir.Var:
        """The variable that stands for the class of ``var``."""
        links = self.links
        above = links.setdefault(var, var)
        while above is not var:
            links[var] = above = links[above]  # the way is half as long from here on
            var, above = above, links[above]
        return var

    def is_buffer(self, atom: ir.Atom) -> bool:
        """Whether an atom may share memory that some statement changes."""
        return isinstance(atom, ir.Var) and atom in self.buffers

    def same(self, var: ir.Var) -> list[ir.Var]:
        """The variables that may share memory with a buffer; only ``var`` itself where nothing changes it."""
        root = self.find(var)
        return self.members[root] if root in self.changed else [var]

    def shared(self, s: ir.Statement) -> Iterator[tuple[ir.Var, list[ir.Var]]]:
        """What shares memory from a statement on, see ``shared_from``."""
        return shared_from(s, self.value_of)

    def _join(self, a: ir.Atom, b: ir.Atom) -> None:
        if isinstance(a, ir.Var) and isinstance(b, ir.Var) and can_share(self.value_of(a)):
            if can_share(self.value_of(b)):
                self.links[self.find(a)] = self.find(b)

    def _block(self, block: ir.Block) -> None:
        for s in block.statements:
            for var, others in self.shared(s):
                self.find(var)
                for other in others:
                    self._join(var, other)
                if not others:
                    self.new.add(var)
            if isinstance(s, ir.Let) and s.target is not None:  # most are
                self.made[s.target] = s.value
                continue
            changed = changed_by(s)
            if isinstance(changed, ir.Var) and (self.opaque or not isinstance(s, ir.Store) or s.kind != "opaque"):
                self.stored.append(changed)
                self.find(changed)
            for k, (variables, given) in enumerate(ir.joins_of(s)):
                for var in variables:
                    self.joined[var] = (s, k)
                    self.find(var)
                    for atom in (*given, variables[0]):
                        self._join(var, atom)
            for inner in ir.blocks_of(s):
                self._block(inner)

    # --- views

    def base_of(self, var: ir.Var) -> ir.Var | None:
        """The variable that ``var`` is certainly a view of, made by an operation that can be repeated on another array
        of the same layout; None where it is none, or where that is not sure."""
        value = self.made.get(var)
        if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const) or not value.args:
            return None
        if not isinstance(self.value_of(var), Array):
            return None
        parts = self.parts_of(value)
        source = value.args[0] if parts is None else parts.args[0]
        if not isinstance(source, ir.Var) or not isinstance(self.value_of(source), Array):
            return None
        if parts is not None:
            return source
        return source if self._is_view(value.fn.value, value, source) else None

    def parts_of(self, value: ir.Call) -> ir.Call | None:
        """The call that has split an array into views, where a value is one of these."""
        index = self.value_of(value.args[1]) if value.fn == ir.Const(operator.getitem) else None
        if not isinstance(index, Known) or type(index.value) is not int:
            return None
        made = self.made.get(value.args[0])  # type: ignore[arg-type]
        if isinstance(made, ir.Call) and made.fn == ir.Const(ops.unpack):
            made = self.made.get(made.args[0])  # type: ignore[arg-type]
        is_split = isinstance(made, ir.Call) and functions.result_of(made) is Result.PARTS
        return made if is_split else None  # type: ignore[return-value]

    def _is_view(self, fn: Any, value: ir.Call, source: ir.Var) -> bool:
        if fn is operator.getitem:
            return is_basic(self.value_of(value.args[1]))
        if fn is getattr:
            real = self.value_of(source).dtype.kind == "f" and value.args[1] == ir.Const("real")
            return real or value.args[1] in (ir.Const("T"), ir.Const("mT"))
        result = functions.facts(fn).result
        if result is Result.LAYOUT:
            return self.is_contiguous(source) and not value.kwargs
        return result is Result.VIEW

    def is_contiguous(self, var: ir.Var) -> bool:
        """Whether an array is certainly in C order without gaps."""
        value = self.made.get(var)
        if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const):
            return False
        if functions.result_of(value) is Result.LAYOUT:
            source = value.args[0]
            return isinstance(source, ir.Var) and not value.kwargs and self.is_contiguous(source)
        return 0 < len(value.args) <= functions.facts(value.fn.value).c_order and "order" not in dict(value.kwargs)

    def is_new(self, var: ir.Var) -> bool:
        """Whether a variable is certainly memory of its own when it is made."""
        return var in self.new


__all__ = ["Memory", "can_share", "changed_by", "is_basic", "is_copied", "shared_from", "shared_with"]

