"""What is read of arrays from outside of the function, where calls that nobody has read may change them.

    w = W                               w = W
    y = w * np.sin(x)                   y = rt.kept(w) * np.sin(x)
    reg.bump()                  ->      reg.bump()                  may do W += 1.0
    return np.sum(y * W * x)            return np.sum(y * W * x)

A derivative reads the factors of a product later than the program does, and computes what is computed twice once. So
each statement that reads what such an array holds is given a copy, where a call of that kind may come after it; items
and attributes are read at this time (``rt.now``). Arrays that are the function's own, and that nobody else was given,
stay as they are; so does everything in a function without such calls.

What is differentiated is not copied, as its copies would have to be followed: an argument that such a call has changed
is found by comparing when the function is over, and refused.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.effects import CHECKS_OF_RELIED, WRITES_OUTSIDE
from s2s.analysis.functions import changes_memory, facts, reads_content
from s2s.analysis.memory import Memory, shared_with
from s2s.core import ir, ops
from s2s.core.values import UNKNOWN, Array, Known
from s2s.models.solutions import check_repeats, undone
from s2s.specialize.frames import STABLE_MODULES
from s2s.specialize.unknown_effects import is_dynamic, may_run_unknown, plain_atoms

if TYPE_CHECKING:
    from s2s.builder.builder import Context

__all__ = ["keep_outside"]

_RECORDS = tuple(map(ir.Const, (rt.record, rt.record_item, rt.record_content, rt.remove_item)))
_COPIES = (ir.Const(np.copy), ir.Const(rt.copy_in_memory))
_NOW = ir.Const(rt.now)
_ASSIGNS = (ir.Const(rt.record_attribute), ir.Const(rt.record_variable))
_READS = (ir.Const(getattr), ir.Const(operator.getitem))
_LEFT = (
    rt.before_calls, rt.give_back, rt.now, rt.read_now, rt.kept, rt.check_unchanged, rt.check_apart, rt.check_separate,
    rt.check_disjoint, rt.check_new, rt.check_own, rt.check_unreached, rt.kind_of, undone, check_repeats,
    *CHECKS_OF_RELIED,
    *(known.value for known in WRITES_OUTSIDE),
)  # fmt: skip
"""Functions that are given the arrays themselves."""


def keep_outside(function: ir.Function, context: Context, is_over: bool = False) -> ir.Function:
    """The function with copies of what it reads of arrays that calls may change which nobody has read. Where its
    reverse sweep runs when it ``is_over``, as that of a pullback, or when blocks of it run again, the next call of it
    may come before, or the same call once more: it is given copies of all that it reads."""
    function, unknown, stores = _with_attributes_in_turn(function, context), set[int](), False
    for s in ir.walk(function.body):
        if may_run_unknown(s, context):
            unknown.add(id(s))
        stores = stores or _may_store_outside(s, context)
    is_over = is_over or any(map(_runs_again, ir.walk(function.body)))
    keeper = _Keeper(function, context, unknown, is_over) if unknown or stores else None
    return function if keeper is None or not keeper.unknown else keeper.run()


def _runs_again(s: ir.Statement) -> bool:
    """Whether the reverse sweep runs statements again."""
    if isinstance(s, (ir.For, ir.While)):
        return s.snapshots is not None
    return isinstance(s, ir.Note) and s.section == ir.BEGIN_REPLAY


def _with_attributes_in_turn(function: ir.Function, context: Context) -> ir.Function:
    """The function that reads the attributes and variables which it assigns where the program reads them, and nowhere
    else."""
    names = {
        s.value.args[1] for s in ir.walk(function.body) if _called(s) in _ASSIGNS}  # type: ignore[union-attr]
    return ir.replace(function, body=_attributes_in_turn(function.body, names, context)) if names else function


def _attributes_in_turn(block: ir.Block, names: set[Any], context: Context) -> ir.Block:
    made: list[ir.Statement] = []
    for s in block.statements:
        s = ir.with_blocks(s, (_attributes_in_turn(b, names, context) for b in ir.blocks_of(s)))
        match s:
            case ir.Let(ir.Var() as target, ir.Call(fn, (of, name)) as call) if fn == _READS[0] and name in names:
                if not context.is_varied(target) and not isinstance(context.value(of), Array):  # type: ignore[arg-type]
                    s = ir.replace(s, value=ir.Call(_NOW, (call.fn, *call.args)))
            case ir.Let(ir.Var() as target, ir.Load(name, "global") as load) if ir.Const(name) in names:
                read = context.define(name, UNKNOWN, False, load)
                made.append(ir.replace(s, target=read))
                s = ir.replace(s, value=ir.Call(ir.Const(rt.read_now), (read,)))
        made.append(s)
    return ir.Block(tuple(made), block.yields)


def _may_store_outside(s: ir.Statement, context: Context) -> bool:
    """Whether a statement writes to a log, or stores into an array that came out of a container or an object."""
    if not isinstance(s, ir.Store):
        return _called(s) in _RECORDS
    made = context.definitions.get(s.target) if isinstance(s.target, ir.Var) else None
    if not isinstance(made, ir.Call) or made.fn not in _READS:
        return isinstance(made, ir.Load)
    return not isinstance(context.value(made.args[0]), Array)  # type: ignore[arg-type]


class _Keeper:
    """One walk in the order of the text. ``unknown`` are the statements that may change arrays from outside, by
    ``id``."""

    def __init__(self, function: ir.Function, context: Context, unknown: set[int], is_over: bool) -> None:
        self.function = function
        self.context = context
        self.memory = Memory(function, context.value, opaque=False)
        self.order: dict[int, int] = {}
        self.loops: dict[int, frozenset[int]] = {}
        self._place(function.body, frozenset())
        self.called = {_called(s) for s in ir.walk(function.body)}
        """The functions that are called, methods of objects among them."""
        self.unknown = unknown
        self.roots = {self.memory.find(var) for var in self._from_outside()}
        self.unknown = unknown | {id(s) for s in ir.walk(function.body) if self._stores_outside(s)}
        self.last = max((self.order[at] for at in self.unknown), default=0)
        self.given = self._given()
        given_back = any(self.memory.find(p.var) in self.given for p in function.params)
        if self.unknown and (given_back or is_over):
            self.last = len(self.order) + 1
        self.running = frozenset[int]().union(*(self.loops[at] for at in self.unknown))
        """The loops that have such a statement in them."""

    def _place(self, block: ir.Block, around: frozenset[int]) -> None:
        for s in block.statements:
            inside = around | {id(s)} if isinstance(s, (ir.For, ir.While)) else around
            self.loops[id(s)] = inside
            self.order[id(s)] = len(self.order)
            for inner in ir.blocks_of(s):
                self._place(inner, inside)
            if isinstance(s, ir.With):  # what it does at its end comes after its body
                self.order[id(s)] = len(self.order) + 1

    # --- what comes from outside

    def _from_outside(self) -> Iterator[ir.Var]:
        """The variables that may refer to what others see."""
        varied = self.context.is_varied
        yield from (p.var for p in self.function.params if not varied(p.var))
        for s in ir.walk(self.function.body):
            if isinstance(s, ir.Let):
                yield from (a for a in self._seen_by_others(s) if isinstance(a, ir.Var) and not varied(a))

    def _seen_by_others(self, s: ir.Let) -> list[ir.Atom | None]:
        """What others see, or may, of the result of a statement and of what it is given."""
        if isinstance(s.value, ir.Load) or _is_attribute(s.value):
            return [s.target]
        is_given = isinstance(s.value, ir.Call) and (id(s) in self.unknown or s.value.fn in _RECORDS)
        return [s.target, *ir.atoms_of(s.value)] if is_given else []

    def is_outside(self, atom: ir.Atom) -> bool:
        """Whether others may see the array, or the object, that an atom is."""
        if isinstance(atom, ir.Const):
            return isinstance(atom.value, np.ndarray)
        return atom in self.memory.links and self.memory.find(atom) in self.roots and not is_number(
            self.context.value(atom))

    def _is_outside_array(self, atom: ir.Atom) -> bool:
        return self.is_outside(atom) and isinstance(self.context.value(atom), Array)

    def _stores_outside(self, s: ir.Statement) -> bool:
        """Whether a statement stores into an array that an object from outside holds, or into a list or dict of which
        the function reads items."""
        if _called(s) in _RECORDS:
            return any(map(self._reads_item, ir.walk(self.function.body)))
        return isinstance(s, ir.Store) and self.is_outside(s.target) and not self.context.is_varied(s.target)

    def _reads_item(self, s: ir.Statement) -> bool:
        """Whether a statement reads an item of a list or dict from outside."""
        if _called(s) != ir.Const(operator.getitem):
            return False
        of: ir.Atom = s.value.args[0]  # type: ignore[union-attr, assignment]
        return self.is_outside(of) and not isinstance(self.context.value(of), Array)

    def may_change(self, s: ir.Statement) -> bool:
        """Whether what a statement reads may be something else later on."""
        return self.order[id(s)] < self.last or not self.running.isdisjoint(self.loops[id(s)])

    # --- the function

    def run(self) -> ir.Function:
        """The function with copies, and with what is done about its arguments."""
        body, before, after = self._block(self.function.body), list[ir.Statement](), list[ir.Statement]()
        only_dynamic = self._only_dynamic()
        for var in (p.var for p in self.function.params):
            known, copied = self.context.value(var), self._is_copied(var)
            if not isinstance(known, Array):
                continue
            held = self.context.define(f"{var.name}_before", known)
            if self.memory.find(var) in self.given and not copied:
                done = ir.Call(ir.Const(rt.give_back), (var, held))
            elif not only_dynamic and (copied or self.context.is_varied(var)):
                done = ir.Call(ir.Const(rt.check_unchanged), (var, held, ir.Const(var.name)))
            else:
                continue
            before.append(ir.Let(held, ir.Call(ir.Const(rt.before_calls), (var,))))
            after.append(ir.Let(None, done))
        return ir.replace(self.function, body=ir.Block((*before, *body.statements, *after), body.yields))

    def _given(self) -> set[ir.Var]:
        """The classes of the arrays that calls were given which may change them."""
        stores = (s for s in ir.walk(self.function.body) if isinstance(s, ir.Store) and s.kind == "opaque")
        return {self.memory.find(s.target) for s in stores if isinstance(s.target, ir.Var)}

    def _only_dynamic(self) -> bool:
        """Whether all that is not known is differentiated when the program runs, which refuses to change arguments."""
        return all(is_dynamic(s, self.context) for s in ir.walk(self.function.body) if id(s) in self.unknown)

    def _is_copied(self, var: ir.Var) -> bool:
        """Whether the function changes a copy of an argument in its place."""
        copies = (s.value for s in self.function.body.statements if _called(s) in _COPIES)  # type: ignore[union-attr]
        return any(value.args[0] == var for value in copies)  # type: ignore[union-attr]

    def _block(self, block: ir.Block) -> ir.Block:
        made: list[ir.Statement] = []
        for s in block.statements:
            inside = ir.with_blocks(s, map(self._block, ir.blocks_of(s)))
            made += self._statement(inside, id(s) in self.unknown) if self.may_change(s) else [inside]
        return ir.Block(tuple(made), block.yields)

    # --- statements

    def _statement(self, s: ir.Statement, is_unknown: bool) -> list[ir.Statement]:
        match s:
            case ir.Let(ir.Var() as target, ir.Load()) if self._is_passive_number(target):
                return self._read_once(s, target)
            case ir.Let(ir.Var() as target, ir.Call() as call) if is_unknown:
                if self.context.is_varied(target):  # its pullback reads what it was given
                    return self._with_copies(s, filter(self._is_outside_array, plain_atoms(call)))
            case ir.Let(target, ir.Call(ir.Const()) as call) if not is_unknown:
                return self._call(s, target, call)
            case ir.Store(kind, ir.Var() as target) if kind != "opaque":
                if isinstance(self.context.value(target), Array):
                    return self._with_copies(s, filter(self.is_outside, (s.value, s.key)))
            case ir.For(item, iterable) if self.is_outside(iterable) and self._is_passive_number(item):
                return [self._with_item(s)]
        return [s]

    def _is_passive_number(self, var: ir.Var) -> bool:
        return is_number(self.context.value(var)) and not self.context.is_varied(var)

    def _read_once(self, s: ir.Let, target: ir.Var) -> list[ir.Statement]:
        """A number from a variable outside."""
        read = self.context.define(target.name, self.context.value(target), False, s.value)
        return [ir.replace(s, target=read), ir.Let(target, ir.Call(ir.Const(rt.kept), (read,)), s.span)]

    def _with_item(self, s: ir.For) -> ir.Statement:
        """A loop over numbers in an array or list."""
        item = self.context.define(s.item.name, self.context.value(s.item))
        first = ir.Let(s.item, ir.Call(ir.Const(rt.kept), (item,)), s.span)
        return ir.replace(s, item=item, body=ir.Block((first, *s.body.statements), s.body.yields))

    def _call(self, s: ir.Let, target: ir.Var | None, call: ir.Call) -> list[ir.Statement]:
        context = self.context
        fn = call.fn.value  # type: ignore[union-attr]
        known = UNKNOWN if target is None else context.value(target)
        if fn in _LEFT or fn in ops.STACKS or changes_memory(fn):
            return [s]
        if call.fn in _READS and self._is_unpacked(call.args[0]):  # type: ignore[arg-type]
            return [s]  # which nobody else has: its items are read when they are used
        if call.fn in _READS and (_is_attribute(call) or self.is_outside(call.args[0])):  # type: ignore[arg-type]
            is_read = target is not None and target not in self.called and not context.is_varied(target)
            if is_read and not self._is_view(target, call):
                return [ir.replace(s, value=ir.Call(_NOW, (call.fn, *call.args)))]
            if fn is getattr:
                return [s]
        shared = () if target is None or is_number(known) else shared_with(call, known, context.value)
        return self._with_copies(s, (
            a for a in dict.fromkeys(plain_atoms(call)) if self.is_outside(a) and a not in shared
            and facts(fn).looks and reads_content(fn, call.args, a)
        ))

    def _is_unpacked(self, var: ir.Atom) -> bool:
        made = self.context.definitions.get(var) if isinstance(var, ir.Var) else None
        return isinstance(made, ir.Call) and made.fn == ir.Const(ops.unpack)

    def _is_view(self, target: ir.Var | None, call: ir.Call) -> bool:
        """Whether a read gives a shape, or a part of the memory of an array that is known."""
        of = self.context.value(call.args[0])  # type: ignore[arg-type]
        if call.fn == ir.Const(getattr) and isinstance(of, (Array, Known)):
            return isinstance(of, Array)
        return isinstance(of, Array) and target is not None and not is_number(self.context.value(target))

    def _with_copies(self, s: ir.Let | ir.Store, read: Iterable[ir.Atom]) -> list[ir.Statement]:
        """A statement that reads copies of arrays."""
        context, made, copies = self.context, list[ir.Statement](), dict[ir.Atom, ir.Atom]()
        for atom in read:
            varied, known = context.is_varied(atom), context.value(atom)
            if varied and not isinstance(known, Array):
                continue
            value = ir.Call(ir.Const(np.copy if varied else rt.kept), (atom,))
            copy = copies[atom] = context.define("%", known, varied, value)
            made.append(ir.Let(copy, value, s.span))
        if not copies:
            return [s]
        if isinstance(s, ir.Store):
            return [*made, ir.replace(s, value=copies.get(s.value, s.value), key=copies.get(s.key, s.key))]
        value = ir.map_atoms(s.value, lambda a: copies.get(a, a))  # type: ignore[assignment]
        if s.target in context.definitions:
            context.definitions[s.target] = value
        return [*made, ir.replace(s, value=value)]


def _called(s: ir.Statement) -> ir.Atom | None:
    """The function that a statement calls."""
    return s.value.fn if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) else None


def _is_attribute(value: ir.Value) -> bool:
    """Whether an attribute of an object that is known is read: no option of NumPy."""
    if not isinstance(value, ir.Call) or value.fn != ir.Const(getattr) or not isinstance(value.args[0], ir.Const):
        return False
    owner = value.args[0].value
    return not (isinstance(owner, types.ModuleType) and owner.__name__.split(".")[0] in STABLE_MODULES)
