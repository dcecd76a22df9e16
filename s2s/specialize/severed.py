"""Severed derivatives: a specialised primal goes in; refused is one whose result is read back from what was written.

A number that is written into text, bytes, a file or the environment, and read from there again, carries no
derivative: what it gives would be a silent zero. So it is followed what a differentiated value was written into, and
what is made of that: by calls, into containers, through the objects and paths that a call writes to. Lengths,
comparisons and other integers and bools end the way: they have the derivative zero. Integers that are read of digits do
not: the number may be put together from them again.

    text = str(x[0])                 x is written down
    buffer.write(text)               so is it in the buffer
    y = float(buffer.getvalue())     and read back here
    return y * x[1]                  refused
"""

from __future__ import annotations

import operator
import os
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, assert_never

from s2s.analysis.abstract.lattice import dtype_of
from s2s.analysis.functions import facts
from s2s.builder.builder import Context, fills_text, is_text_dtype, makes_text
from s2s.core import ir, ops
from s2s.core.dataflow import saturate
from s2s.core.inspection import is_hashable, look_up
from s2s.core.package import ROOT
from s2s.core.values import AbstractValue, Known, Mapping, Scalar, Sequence
from s2s.directives.surrogates import CONVERSIONS
from s2s.errors import error
from s2s.rules import table
from s2s.specialize.frames import name_of

__all__ = ["check_not_severed", "writes_down"]

_BY_KEY = (operator.getitem, operator.setitem, ops.put)

_DISPLAYS = (ir.Const(ops.make_tuple), ir.Const(ops.make_list))

_OF_DIGITS = ("index", "find", "rindex", "rfind", "count", "from_bytes")

_READS_WORLD = {os.getenv: "environ", os.putenv: "environ"}


def writes_down(context: Context, fn: Any, args: tuple[Any, ...]) -> bool:
    """Whether a call writes what it is given down as text or bytes."""
    if fn is slice:  # its parts may be read
        return any(context.is_varied(a) and _may_be_number(context.value(a)) for a in args)
    return facts(fn).writes_down or makes_text(fn) or fills_text(context, fn, args)


def check_not_severed(primal: ir.Function, context: Context, has_aux: bool = False) -> None:
    """Raise NoDerivativeError where the result, without its auxiliary part, is computed from what a differentiated
    value was written into."""
    for s in ir.walk(primal.body):
        _check_dtype(s, context)
        _check_address(s, context)
    if not any(_may_begin(s, context) for s in ir.walk(primal.body)):
        return
    found = _Written(primal, context)
    result = primal.body.yields[0]
    for part in found.parts(result, first_only=has_aux):
        place = found.places.get(part)
        if place is not None:
            span, name = place
            raise error("S2S180", span=span, name=name, label="its derivative is lost here")


def _check_dtype(s: ir.Statement, context: Context) -> None:
    """Raise NoDerivativeError where an array of text, or of records, is made of differentiated values."""
    if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call) or s.value.fn not in _CONVERSIONS:
        return
    asked = dict(s.value.kwargs).get("dtype", s.value.args[1] if len(s.value.args) > 1 else None)
    if s.target is None or not context.is_varied(s.target) or not isinstance(asked, (ir.Var, ir.Const)):
        return
    known = context.value(asked)
    of_records = isinstance(known, Sequence) or (isinstance(known, Known) and isinstance(known.value, list))
    if of_records or is_text_dtype(context, asked):
        assert isinstance(s.value.fn, ir.Const)
        raise error("S2S180", span=s.span, name=name_of(s.value.fn.value), label="its derivative is lost here")


def _check_address(s: ir.Statement, context: Context) -> None:
    """Raise NoDerivativeError where a program asks where a differentiated array lies: what is done to its memory, or
    copied from it, is not seen."""
    if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn == ir.Const(getattr):
        array, name = s.value.args[:2]
        if name in _ADDRESSES and isinstance(array, ir.Var) and context.is_varied(array):
            raise error("S2S208", span=s.span, name=name.value)  # type: ignore[union-attr]


_ADDRESSES = tuple(map(ir.Const, ("ctypes", "__array_interface__", "__array_struct__")))

_CONVERSIONS = frozenset(map(ir.Const, CONVERSIONS))


def _may_begin(s: ir.Statement, context: Context) -> bool:
    """Whether a statement may write a differentiated value down."""
    if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call) or (s.target and context.is_varied(s.target)):
        return False
    if not any(map(context.is_varied, ir.atoms_of(s.value))):
        return False
    fn = s.value.fn.value if isinstance(s.value.fn, ir.Const) else None
    return s.target is None or writes_down(context, fn, s.value.args)


def _is_text(made: ir.Value | None) -> bool:
    """Whether a value is text itself and no number that was read back: such a result has an error of its own."""
    fn = made.fn.value if isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) else None
    return fn is not None and (facts(fn).writes_down or makes_text(fn))


class _Written:
    """What differentiated values were written into, directly or by way of something else: ``places`` has the place of
    the writing, and its name, for each."""

    def __init__(self, primal: ir.Function, context: Context) -> None:
        self.context = context
        self.made: dict[Any, ir.Value] = {
            s.target: s.value for s in ir.walk(primal.body) if isinstance(s, ir.Let) and s.target is not None
        }
        self.places: dict[Hashable, tuple[ir.Span | None, str]] = {}
        self.managers: list[ir.Atom] = []
        saturate(self.places, lambda: self._block(primal.body))

    def parts(self, atom: ir.Atom, first_only: bool) -> Iterator[Hashable]:
        """The parts of a result that may be differentiated."""
        made = self.made.get(atom)
        if isinstance(made, ir.Call) and made.fn in _DISPLAYS:
            for part in made.args[:1] if first_only else made.args:
                if isinstance(part, (ir.Var, ir.Const)):
                    yield from self.parts(part, False)
        elif _may_be_number(self.context.value(atom)) and not _is_text(made):
            yield self._key(atom)

    # --- the walk

    def _block(self, block: ir.Block) -> None:
        for statement in block.statements:
            self._statement(statement)

    def _statement(self, s: ir.Statement) -> None:
        match s:
            case ir.Let(target, ir.Call() as call):
                self._call(target, call, s.span)
            case ir.Let(ir.Var() as target, ir.Var() as source):
                self._pass(target, (source,))
            case ir.Store(_, target, _, value):
                self._pass(target, (value,))
            case ir.With(manager, target, body):
                if target is not None:
                    self._pass(target, (manager,))
                self.managers.append(manager)
                self._block(body)
                self.managers.pop()
                if target is not None:
                    self._pass(manager, (target,))
                    self._reach_back(manager)
            case ir.For(item=item, iterable=iterable, body=body, carried=carried):
                self._pass(item, (iterable,))
                self._block(body)
                self._loop(carried, body)
            case ir.While(test=test, body=body, carried=carried):
                self._block(test)
                self._block(body)
                self._loop(carried, body)
            case ir.Assert(problem=problem):
                self._block(problem)
            case ir.If(results=results) | ir.Try(results=results):
                for block in ir.blocks_of(s):
                    self._block(block)
                for k, result in enumerate(results):
                    self._pass(result, [side.yields[k] for side in ir.sides_of(s)])
            case ir.Let() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue() | ir.Note():
                pass
            case _:
                assert_never(s)

    def _loop(self, carried: tuple[ir.Carried, ...], body: ir.Block) -> None:
        for c, following in zip(carried, body.yields, strict=True):
            self._pass(c.param, (c.init, following))
            self._pass(c.result, (c.init, following))

    def _call(self, target: ir.Var | None, call: ir.Call, span: ir.Span | None) -> None:
        fn = call.fn.value if isinstance(call.fn, ir.Const) else None
        atoms = [a.atom if isinstance(a, ir.Star) else a for a in (*call.args, *(a for _, a in call.kwargs))]
        known = fn if is_hashable(fn) else None
        if known in _BY_KEY:  # a key chooses
            atoms = [a for k, a in enumerate(atoms) if k != 1]
        elif fn is ops.make_dict:
            atoms = atoms[1::2]
        reads_digits = self._reads_digits(fn, call)
        adds_digits = target is not None and self._adds_digits(target, atoms)
        if _has_no_derivative(fn) and not (reads_digits or adds_digits):
            return
        place = next((self.places[k] for k in map(self._key, (*atoms, call.fn)) if k in self.places), None)
        if known in _READS_WORLD:
            place = place or self.places.get(("attr", os, _READS_WORLD[known]))
        is_varied = target is not None and self.context.is_varied(target)
        if place is None and not is_varied and any(map(self.context.is_varied, atoms)):
            if target is None or writes_down(self.context, fn, call.args):
                place = span, name_of(fn) if fn is not None else self._method(call.fn)
        if place is None:
            return
        if span is not None and (place[0] is None or _is_own(place[0])):  # a model of a built-in wrote it
            place = span, place[1]
        if target is not None and (
            reads_digits or adds_digits or _may_be_number_or_text(self.context.value(target))
        ):
            self.places.setdefault(target, place)
        if not is_varied and (not writes_down(self.context, fn, call.args) or _to_file(fn)):
            self._write(call, fn, place)

    def _reads_digits(self, fn: Any, call: ir.Call) -> bool:
        """Whether a call gives an integer for the digits of a text, or for the place of one."""
        if fn is None:
            return self._method(call.fn) in _OF_DIGITS
        return fn in (int, ord, hash) or look_up(fn, "__name__", "") in _OF_DIGITS

    def _adds_digits(self, target: ir.Var, atoms: list[Any]) -> bool:
        """Whether an integer is computed from integers that were read of digits."""
        value = self.context.value
        return _is_integer(value(target)) and any(_is_integer(value(a)) and self._key(a) in self.places for a in atoms)

    def _write(self, call: ir.Call, fn: Any, place: tuple[ir.Span | None, str]) -> None:
        """A call that is given something written may write it to its receiver, to a file or a path."""
        written: list[Any] = [a for key, a in call.kwargs if key == "file"]
        made = self.made.get(call.fn)
        if isinstance(made, ir.Call) and made.fn == ir.Const(getattr):
            written.append(made.args[0])
        elif not _to_file(fn) and table.find(fn) is None and call.args:
            written += call.args[:1] if 0 in facts(fn).changes or self._is_text(call.args[0]) else ()
        elif _to_file(fn):
            written += call.args[1:2]
        if fn is not None and look_up(fn, "__name__", "") in ("__setitem__", "update", "setdefault"):
            written += call.args[:1]
        if fn is print and not call.kwargs:
            written += self.managers
        for atom in written:
            if isinstance(atom, (ir.Var, ir.Const)) and not self.context.is_varied(atom):
                self.places.setdefault(self._key(atom), place)
                self._reach_back(atom)

    def _reach_back(self, atom: ir.Atom) -> None:
        """What was written to an object is at the path, or in the object, that it was made of."""
        place, made = self.places.get(self._key(atom)), self.made.get(atom)
        if place is not None and isinstance(made, ir.Call) and made.args and made.fn != ir.Const(getattr):
            first = made.args[0]
            if isinstance(first, (ir.Var, ir.Const)) and not self.context.is_varied(first):
                self.places.setdefault(self._key(first), place)

    def _pass(self, target: ir.Atom, sources: Iterable[ir.Atom]) -> None:
        for source in sources:
            key = self._key(source)
            if key in self.places:
                self.places.setdefault(self._key(target), self.places[key])

    # --- atoms

    def _key(self, atom: ir.Atom) -> Hashable:
        """What stands for an atom: attributes of modules and equal texts are one."""
        if isinstance(atom, ir.Const):
            return ("text", atom.value) if isinstance(atom.value, (str, bytes)) else ("object", id(atom.value))
        made = self.made.get(atom)
        if isinstance(made, ir.Call) and made.fn == ir.Const(getattr) and isinstance(made.args[0], ir.Const):
            owner, name = made.args[0].value, made.args[1]
            if isinstance(name, ir.Const) and is_hashable(owner):
                return ("attr", owner, name.value)
        return atom

    def _is_text(self, atom: Any) -> bool:
        return isinstance(atom, ir.Const) and isinstance(atom.value, (str, bytes))

    def _method(self, callee: ir.Atom) -> str:
        made = self.made.get(callee)
        if isinstance(made, ir.Call) and made.fn == ir.Const(getattr) and isinstance(made.args[1], ir.Const):
            return str(made.args[1].value)
        return "a call"


def _has_no_derivative(fn: Any) -> bool:
    """Whether the result of a function has the derivative zero, and neither is text nor holds its arguments."""
    rule, known = table.find(fn), facts(fn)
    return rule is not None and rule.kind == "zero" and known.looks and not known.writes_down and not known.acts


def _to_file(fn: Any) -> bool:
    """Whether a function writes what it is given to a file."""
    known = facts(fn)
    return known.writes_down and known.acts


def _is_own(span: ir.Span) -> bool:
    """Whether a place is in s2s itself."""
    return span.file.startswith(ROOT + os.sep)


def _is_integer(value: AbstractValue) -> bool:
    """Whether a value is an integer, or several."""
    if isinstance(value, Sequence):
        return bool(value.items) and all(map(_is_integer, value.items))
    return isinstance(value, Scalar) and value.type is int


def _may_be_number(value: AbstractValue) -> bool:
    """Whether a value may be a float, an array of such, or anything."""
    dtype = dtype_of(value)
    return _may_be_number_or_text(value) and not (dtype is not None and dtype.kind in "USMmV")


def _may_be_number_or_text(value: AbstractValue) -> bool:
    """Whether a value may hold what a derivative would go to: no integer, no bool, nothing known."""
    if isinstance(value, (Sequence, Mapping)):
        return True
    if isinstance(value, Known) or (isinstance(value, Scalar) and value.type in (int, bool)):
        return False
    dtype = dtype_of(value)
    return dtype is None or dtype.kind not in "iub"
