"""Reverse mode: a specialised primal goes in, and the joint function of its forward and reverse sweep comes out.

Every statement of the primal is kept in the forward sweep. Then the reverse sweep runs through them backwards: an
active ``y = f(a, b)`` adds to the cotangents of ``a`` and ``b`` what the rule of ``f`` makes of ``y_bar``; an ``if``
takes the same branch; a loop runs backwards, carrying the cotangents of its carried variables. The residuals, which the
reverse sweep reads of a loop's iterations, are kept on lists or in arrays, or recomputed (``residuals.planner``).

    def f(x):                           def f_grad(x):
        y = np.sin(x)                       y = np.sin(x)
        return y * y            ->          y_bar = 2.0 * y        (before simplification: y + y)
                                            x_bar = y_bar * np.cos(x)
                                            return x_bar

The reverse of each kind of statement has a module: ``operations`` and ``structural``, ``dynamic_calls`` (calls that are
decided at run time), ``stacks``, ``stores``, ``control`` (branches and loops), ``exceptions`` (``with`` and ``try``).
Dead statements are left to the passes after it.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import partial
from typing import Any, assert_never

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import is_number, shape_of
from s2s.analysis.abstract.parts import Path, has_cotangent, is_differentiable, leaves, part
from s2s.analysis.activity import find_useful
from s2s.analysis.adjoint_placement import AdjointPlacement
from s2s.analysis.functions import facts
from s2s.analysis.memory import Memory, changed_by
from s2s.analysis.overwriting import Overwriting
from s2s.analysis.raising import is_check
from s2s.analysis.reading import Reading
from s2s.analysis.regions import Region
from s2s.analysis.unassigned import find_unassigned
from s2s.builder import cotangents
from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.closures import Closure
from s2s.core.values import (
    UNKNOWN,
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
from s2s.optimize.passes import COMPILE_LOOPS
from s2s.optimize.rewriting import count_uses
from s2s.reverse import control, exceptions, stacks, stores, structural
from s2s.reverse.dynamic_calls import DynamicCall, resolve_dynamic_calls
from s2s.reverse.operations import reverse_let
from s2s.reverse.residuals import undo
from s2s.reverse.residuals.decisions import Plan
from s2s.reverse.residuals.planner import Planner
from s2s.reverse.residuals.recompute import worthwhile
from s2s.reverse.residuals.replay import inits_to_restore
from s2s.reverse.residuals.reread import is_still_there
from s2s.reverse.residuals.sweep import Sweep
from s2s.specialize.checkpoints import is_replayed
from s2s.specialize.rule_bodies import RuleBodies
from s2s.specialize.specializer import Specializer

__all__ = ["Reversal", "Reverser"]

_MAY_RAISE = tuple(map(ir.Const, (operator.truediv, operator.floordiv, operator.mod, operator.getitem)))


@dataclass
class Reversal:
    """The outcome: the forward sweep, the reverse sweep, and the cotangents of the differentiated inputs. ``rewinds``
    says that arrays which the caller may see are given back what they held earlier, ``plan`` how the reverse sweep gets
    the primal values that it reads."""

    forward: ir.Block
    reverse: list[ir.Statement]
    bars: dict[tuple[ir.Var, Path], ir.Atom]
    plan: Plan
    to_undo: set[int]
    to_repeat: set[frozenset[int]]
    to_give_back: set[ir.Var]
    rewinds: bool = False


class Reverser:
    """Writes the reverse sweep of one function: the way through its statements, and the cotangents of its variables."""

    def __init__(
        self, context: Context, specializer: Specializer, primal: ir.Function, repeatable: bool,
        options: dict[str, Any], undone: frozenset[int] = frozenset(),
        repeated: frozenset[frozenset[int]] = frozenset(), given_back: frozenset[ir.Var] = frozenset(),
    ) -> None:
        self.given_back = given_back
        self.undone_stores = undone
        self.repeated = repeated
        self.kept_for: dict[frozenset[int], set[ir.Atom]] = {}
        self.context = context
        self.is_inner = bool(options.get("inner"))
        self.is_replayed = options.get("changes") == "repeated"
        self.specializer = specializer
        self.pulls: dict[ir.Var, DynamicCall] = {}
        self.stacks: dict[ir.Var, ir.Var] = {}
        """The cotangents of stacks."""
        self.pulled: dict[ir.Var, ir.Var] = {}
        """For each stack, something that was taken off it."""
        result = primal.body.yields[0]
        seeds = {result} if isinstance(result, ir.Var) else set()
        self.old: dict[int, ir.Var] = {}
        primal = ir.replace(primal, body=undo.with_old_contents(self, primal.body, undone)) if undone else primal
        self.memory = Memory(primal, context.value)
        self.useful = find_useful(primal.body, seeds, context.is_varied, self.memory.same)
        self._keep_dead_code(primal.body)
        body = resolve_dynamic_calls(self, primal.body)
        self.primal = primal
        if body is not primal.body:
            self.primal = ir.replace(primal, body=body)
            self.memory = Memory(self.primal, context.value)
        self.placement = AdjointPlacement(self.primal, self.memory)
        self.order = Overwriting(context, self.memory, self.placement)
        self.changes = [s for s in ir.walk(self.primal.body) if changed_by(s) is not None]
        self.wanted: set[int] = set()
        self.rewinds = False
        self.inputs = frozenset(context.inputs.values())
        self.finder: ir.Var | None = None
        self.unchanged: dict[int, set[tuple[int, Path]]] = {}
        """Of each loop, the carried variables whose cotangent no iteration changed when it was written last."""
        self.gathered: dict[ir.Var, tuple[ir.Atom, ir.Atom | None]] = {}
        """The cotangents of items of containers, which reads at places that only the run knows add to, and the
        places of keys in them."""
        self.masks: dict[ir.Var, ir.Atom | None] = {}
        """Variables of which only the items that a mask chooses have a cotangent; None where others may have one."""
        context.changed |= {v for root in self.memory.changed for v in self.memory.members[root]}
        replayed = [inner for s in ir.walk(body) if is_replayed(s) for b in ir.blocks_of(s) for inner in ir.walk(b)]
        set_back = [changed_by(s) for s in (*replayed, *(s for s in ir.walk(body) if id(s) in self.old))]
        self.set_back = {self.memory.find(array) for array in set_back if isinstance(array, ir.Var)}
        """What shares its memory with arrays whose contents the reverse sweep gives back, or computes again."""
        self.reading = Reading(self.primal, self.memory, self.finds)
        self.unbound = find_unassigned(self.primal.body)
        self.planner = Planner(
            context, self.primal, repeatable, self.memory.is_buffer, partial(is_still_there, self), self.unbound,
            options.get("backend") in COMPILE_LOOPS)
        self.bodies = RuleBodies(context, specializer, self.planner.is_primal)
        self.uses = count_uses(self.primal.body)

    def _keep_dead_code(self, body: ir.Block) -> None:
        """What the user computes and nobody reads stays where it may raise; elsewhere the reverse sweep raises too."""
        for s in ir.walk(body):
            if isinstance(s, ir.Let) and s.target is not None and s.target not in self.useful:
                if not isinstance(s.value, ir.Call):
                    continue
                is_quotient = s.value.fn in _MAY_RAISE and self._is_from_user(s.value)
                if is_quotient or is_check(s.target, s.value, self.context.value):
                    self.context.must_keep.add(s.target)

    def _is_from_user(self, value: ir.Call) -> bool:
        if value.fn == ir.Const(operator.getitem):
            return isinstance(self.context.value(value.args[0]), (Array, Unknown))  # type: ignore[arg-type]
        return not any(isinstance(self.context.value(a), Array) for a in value.args)  # type: ignore[arg-type]

    # --- the whole function

    def reverse(self, seed: ir.Atom, wrt: list[ir.Var]) -> Reversal:
        """Both sweeps, for a cotangent ``seed`` of the result."""
        outer, self.context.reading = self.context.reading, self.reading
        try:
            return self._reverse(seed, wrt)
        finally:
            self.context.reading = outer

    def _reverse(self, seed: ir.Atom, wrt: list[ir.Var]) -> Reversal:
        sweep = Sweep(Builder(self.context), self.planner.root, None)
        result = self.primal.body.yields[0]
        if isinstance(result, ir.Var) and result in self.useful:
            self.contribute(sweep, result, seed, None)
        self.block(self.primal.body, sweep)
        bars = {}
        for var in wrt:
            structural.spread(self, var, None, sweep)
            for path, _ in leaves(self.context.value(var)):
                bar = self.read(sweep, var, path)
                if bar is not None:
                    bars[var, path] = bar
        assert not self.gathered, "cotangents of items that nothing has taken"
        statements = self.planner.finish(sweep)
        forward = self.planner.forward(self.primal.body)
        return Reversal(
            forward, statements, bars, self.planner.plan, undo.stores_to_undo(self), worthwhile(self),
            inits_to_restore(self), self.rewinds,
        )

    def block(self, block: ir.Block, sweep: Sweep) -> None:
        """The reverse of the statements of a block."""
        around = self.reading.now
        refused: list[ir.Atom] = []
        for statement in reversed(block.statements):
            self.reading.now = id(statement)
            match statement:
                case ir.Let(value=ir.Call() as call) if stacks.reverse(self, statement, call, sweep):
                    pass
                case ir.Let(target, value, span) if target is not None and target in self.useful:
                    structural.spread(self, target, span, sweep)
                    reverse_let(self, target, value, span, sweep)
                case ir.If(replayed=True):
                    control.replayed_block(self, statement, sweep)
                case ir.If():
                    control.branch(self, statement, sweep)
                case ir.For() | ir.While():
                    control.loop(self, statement, sweep)
                case ir.Store():
                    stores.store(self, statement, sweep)
                case ir.With():
                    exceptions.managed(self, statement, sweep)
                case ir.Try():
                    exceptions.attempt(self, statement, sweep, refused)
                case ir.Let(None, ir.Call(ir.Const(value=rt.check_sure), (test, _))):
                    refused.append(test)  # type: ignore[arg-type]
                case ir.Let() | ir.Assert() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue() | ir.Note():
                    pass
                case _:
                    assert_never(statement)
        self.reading.now = around

    @property
    def now(self) -> int:
        """The statement whose reverse is written, by its ``id``."""
        return self.reading.now

    # --- cotangents of variables

    def is_active(self, atom: ir.Atom) -> bool:
        """Whether an atom gets a cotangent."""
        return isinstance(atom, ir.Var) and atom in self.useful and has_cotangent(self.context.value(atom))

    def name(self, var: ir.Var) -> str:
        """What the adjoint of a variable is called."""
        return f"{self.context.name_of(var)}_bar"

    def read(self, sweep: Sweep, var: ir.Var, path: Path) -> ir.Atom | None:
        """The cotangent of a part of a variable, as it is now; None where nothing was added to it."""
        stacks.check_none(self.context, var)
        holder = sweep.holding((var, path))
        if holder is not None:
            return holder.bars[var, path]
        return None

    def bar_of(
        self, sweep: Sweep, var: ir.Var, span: ir.Span | None, absent: bool = False, whole: bool = False
    ) -> ir.Atom | None:
        """The cotangent of a whole variable, containers put together from their parts; with ``absent`` None stands for
        a part that nothing was added to, else zeros. With ``whole`` each part has the shape of its primal value, else
        it may be compact."""
        value = self.context.value(var)
        if not isinstance(value, (Sequence, Mapping)):
            return self.read(sweep, var, ())
        parts = {path: self.read(sweep, var, path) for path, _ in leaves(value)}
        if all(p is None for p in parts.values()):
            return None
        if whole:
            parts = {path: self._full(sweep, var, path, bar, span) for path, bar in parts.items()}
        return self.assemble(sweep, var, value, (), parts, span, absent)

    def full_bar_of(self, sweep: Sweep, var: ir.Var, span: ir.Span | None) -> ir.Atom | None:
        """The cotangent of a whole variable for code that is not written for compact ones: it, or each part of it,
        broadcast to the shape that it has."""
        if isinstance(self.context.value(var), (Sequence, Mapping)):
            return self.bar_of(sweep, var, span, whole=True)
        return self._full(sweep, var, (), self.read(sweep, var, ()), span)

    def _full(
        self, sweep: Sweep, var: ir.Var, path: Path, bar: ir.Atom | None, span: ir.Span | None
    ) -> ir.Atom | None:
        shape = shape_of(part(self.context.value(var), path))
        if bar is None or shape is None or shape == shape_of(self.context.value(bar)):
            return bar
        return cotangents.full(sweep.builder, bar, self.part_atom(sweep, var, path, span), span)

    def assemble(
        self, sweep: Sweep, var: ir.Var, value: AbstractValue, path: Path, parts: dict[Path, ir.Atom | None],
        span: ir.Span | None, absent: bool = False,
    ) -> ir.Atom:
        """A container of cotangents with the structure of a value; zeros, or None, where nothing was added."""
        builder = sweep.builder
        match value:
            case Sequence(kind, items):
                made = [
                    self.assemble(sweep, var, item, (*path, k), parts, span, absent) for k, item in enumerate(items)
                ]
                if absent or kind in (tuple, list):
                    return builder.call(ops.make_list if kind is list else ops.make_tuple, *made, span=span)
                known = Sequence(kind, tuple(map(self.context.value, made)))
                return builder.let(ir.Call(ir.Const(kind), tuple(made)), known, span=span)
            case Mapping(keys, items):
                flat: list[ir.Atom] = []
                for key, item in zip(keys, items, strict=True):
                    flat += [ir.Const(key), self.assemble(sweep, var, item, (*path, key), parts, span, absent)]
                return builder.call(ops.make_dict, *flat, span=span)
            case (
                Known() | Scalar() | Array() | ListOf() | Range() | Closure() | Ref() | Object() | Instance() |
                Same() | Unknown()
            ):
                bar = parts.get(path)
                if bar is None and (absent or not is_differentiable(value)):
                    return ir.Const(None)
                return self.zero(sweep, var, path, span) if bar is None else bar
            case _:
                assert_never(value)

    def zero(self, sweep: Sweep, var: ir.Var, path: Path, span: ir.Span | None) -> ir.Atom:
        """A zero cotangent for a part of a variable."""
        value = part(self.context.value(var), path)
        if is_number(value) or var in self.unbound:
            return ir.Const(0.0)
        like = self.part_atom(sweep, var, path, span)
        fn = np.zeros_like if isinstance(value, Array) and value.dtype.kind in "fc" else rt.zeros_of
        return cotangents.made_like(sweep.builder, fn, like, span=span, name=self.name(var))

    def kind_of_bar(self, var: ir.Atom, path: Path) -> AbstractValue:
        """What is known of the cotangent of a part of a variable where paths join: it is the number zero on a path that
        leaves the variable without a value, whatever its shape elsewhere."""
        value = part(self.context.value(var), path)
        return UNKNOWN if var in self.unbound and not is_number(value) else cotangents.at_join(value)

    def part_atom(self, sweep: Sweep, var: ir.Var, path: Path, span: ir.Span | None) -> ir.Atom:
        """The primal value of a part of a variable, for its shape."""
        atom = self.use(sweep, var if path else self.like(var))
        for key in path:
            atom = sweep.builder.call(operator.getitem, atom, ir.Const(key), span=span)
        return atom

    def home_of(self, var: ir.Var) -> Region:
        """The region that defines a variable of the primal."""
        return self.planner.home[var]

    def use(self, sweep: Sweep, atom: ir.Atom) -> ir.Atom:
        """A primal atom as the reverse sweep can read it here."""
        found = self.planner.use(sweep, atom)
        if isinstance(found, ir.Var) and atom in self.context.uncertain:
            self.context.uncertain.add(found)
        return found

    def like(self, atom: ir.Atom) -> ir.Atom:
        """An array of the same shape and dtype, which need not be kept for these: an argument, or what an elementwise
        operation was given."""
        known = self.context.value(atom)
        if not isinstance(known, Array) or not known.shape:
            return atom
        source = self.context.sources.get(known.shape)
        if source is not None and self.context.value(source) == known and source not in self.context.uncertain:
            return source
        while isinstance(atom, ir.Var) and atom.is_temporary and atom in self.planner.lets:
            made = self.planner.lets[atom].value
            if not isinstance(made, ir.Call) or not isinstance(made.fn, ir.Const):
                break
            if not facts(made.fn.value).elementwise:
                break
            given = [a for a in made.args if isinstance(a, ir.Var) and self.context.value(a) == known]
            if not given:
                break
            atom = next((a for a in given if not a.is_temporary), given[0])
        return atom

    def use_content(self, sweep: Sweep, atom: ir.Atom) -> ir.Atom:
        """A primal atom of which the reverse sweep reads here what it holds: a buffer holds it as it did then."""
        self.note_read(atom)
        return self.planner.use(sweep, atom)

    def finds(self, var: ir.Var) -> bool:
        """Whether the reverse of the present statement finds in a buffer what the statement found, without more stores
        being undone for it."""
        return undo.overwritten_later(self, var) <= self.undone_stores

    def note_read(self, atom: ir.Atom, key: ir.Atom | None = None) -> None:
        """Remember that the reverse of the present statement reads what an array holds, at an index where there is
        one."""
        if isinstance(atom, ir.Var) and self.memory.is_buffer(atom):
            self.reading.contents.append((atom, self.now, key))

    def contribute(
        self, sweep: Sweep, var: ir.Atom, g: ir.Atom, span: ir.Span | None, path: Path = ()
    ) -> None:
        """Add a cotangent to that of a variable, or of a part of it."""
        if not isinstance(var, ir.Var) or not self.is_active(var):
            return
        value = part(self.context.value(var), path)
        if isinstance(value, (Sequence, Mapping)):
            self._contribute_parts(sweep, var, value, g, span, path)
        elif has_cotangent(value):
            if stores.changes_later(self, g):
                g = sweep.builder.call(np.copy, g, span=span)
            is_list = isinstance(value, ListOf) and var not in self.unbound  # else it may be the number zero
            if is_list and not isinstance(self.context.value(g), (ListOf, Sequence)):
                g = sweep.builder.let(ir.Call(ir.Const(list), (g,)), value, span=span)
            self.add(sweep, var, path, cotangents.peel(sweep.builder, g, value), span)

    def _contribute_parts(
        self, sweep: Sweep, var: ir.Var, value: Sequence | Mapping, g: ir.Atom, span: ir.Span | None, path: Path
    ) -> None:
        keys = range(len(value.items)) if isinstance(value, Sequence) else value.keys
        for key, item in zip(keys, value.items, strict=True):
            if has_cotangent(item):
                piece = sweep.builder.call(operator.getitem, g, ir.Const(key), span=span)
                if piece != ir.Const(None):
                    self.contribute(sweep, var, piece, span, (*path, key))

    def add(self, sweep: Sweep, var: ir.Var, path: Path, g: ir.Atom, span: ir.Span | None) -> None:
        """Add a cotangent to that of a part that is no container itself."""
        stacks.check_none(self.context, var)
        self.masks[var] = None
        if stores.is_held_elsewhere(self, var):
            stores.add_to(self, sweep, var, g, span)
            return
        key = (var, path)
        value = part(self.context.value(var), path)
        self.prepare(sweep, key, value, span)
        holder = sweep.holding(key)
        if holder is not None and key in holder.buffers:
            if isinstance(value, ListOf):
                self._add_to_list(sweep, holder.bars[key], g, span)
            else:
                self.add_in_place(sweep, holder.bars[key], None, g, span)
            return
        old = None if holder is None else holder.bars[key]
        if old is None:
            sweep.bars[key] = sweep.named(g, self.name(var))
        else:
            total = self._sum(sweep, old, g, value, span, self.name(var))
            if stores.changes_later(self, total):  # half of a buffer, twice
                total = sweep.builder.call(np.copy, total, span=span, name=self.name(var))
            sweep.bars[key] = total

    def is_mask(self, array: ir.Atom, index: ir.Atom) -> bool:
        """Whether an index chooses items of an array by a bool for each."""
        mine, other = self.context.value(array), self.context.value(index)
        both = isinstance(mine, Array) and isinstance(other, Array)
        return both and other.dtype == bool and mine.shape == other.shape  # type: ignore[union-attr]

    def note_mask(self, sweep: Sweep, var: ir.Var, mask: ir.Atom, target: ir.Atom) -> None:
        """Before the first cotangent is added to a variable: it goes to the items that a mask chooses."""
        home = self.planner.home
        is_here = isinstance(target, ir.Var) and home.get(var) is home.get(target)
        is_first = sweep.holding((var, ())) is None and not self.memory.is_buffer(var)
        known = self.masks.get(var, mask) if is_here and (is_first or var in self.masks) else None
        self.masks[var] = mask if known == mask and not self.memory.is_buffer(mask) else None

    def _add_to_list(self, sweep: Sweep, buffer: ir.Atom, g: ir.Atom, span: ir.Span | None) -> None:
        """``buffer[:] = buffer + g``, item by item: ``+=`` would make the list longer."""
        items = sweep.builder.call(slice, *[ir.Const(None)] * 3, span=span)
        sweep.builder.store(buffer, items, sweep.builder.call(rt.add, buffer, g, span=span), None, span)

    def add_in_place(self, sweep: Sweep, buffer: ir.Atom, at: ir.Atom | None, g: ir.Atom, span: ir.Span | None) -> None:
        """``buffer[at] += g``, or ``-=`` where ``g`` has a sign."""
        signed = cotangents.definition(sweep.builder, g, operator.neg)
        op, change = (operator.add, g) if signed is None else (operator.sub, signed[0])
        sweep.builder.store(buffer, at, change, op, span)

    def _sum(
        self, sweep: Sweep, old: ir.Atom, g: ir.Atom, value: AbstractValue, span: ir.Span | None, name: str
    ) -> ir.Atom:
        if isinstance(value, (Unknown, ListOf)):
            return sweep.builder.call(rt.add, old, g, span=span, name=name)
        return cotangents.add(sweep.builder, old, g, span, name)

    def prepare(self, sweep: Sweep, key: tuple[ir.Var, Path], value: AbstractValue, span: ir.Span | None) -> None:
        """Where a loop lies between a variable and this place, its cotangent must exist before the loop: an array as
        a buffer that the iterations add to, a number as a carried variable."""
        outer = sweep.outside_loops(self.planner.home[key[0]])
        if outer is sweep:
            return
        if key[0] not in self.unbound and (self.accumulates_in_place(value) or stores.is_owned(self, key[0])):
            self.make_buffer(outer, key, None)
        else:
            self.carry(sweep, outer, key, span)

    def accumulates_in_place(self, value: AbstractValue) -> bool:
        return (isinstance(value, Array) and bool(value.shape)) or isinstance(value, ListOf)

    def make_buffer(self, sweep: Sweep, key: tuple[ir.Var, Path], span: ir.Span | None) -> ir.Atom:
        """The cotangent of an array as an array of its own that may be changed in place."""
        holder = sweep.holding(key)
        var, path = key
        if holder is not None and key in holder.buffers and (holder is sweep or var not in self.unbound):
            return holder.bars[key]
        if holder is None and var in self.unbound:  # it is read here, so it has a value
            like = self.part_atom(sweep, var, path, span)
            made = sweep.builder.call(rt.zeros_of, like, span=span, name=self.name(var))
        elif holder is None:
            made = self.zero(sweep, var, path, span)
        else:
            made = self._own(sweep, holder.bars[key], var, path, span)
        sweep.bars[key] = made
        sweep.buffers.add(key)
        return made

    def _own(self, sweep: Sweep, bar: ir.Atom, var: ir.Var, path: Path, span: ir.Span | None) -> ir.Atom:
        value = part(self.context.value(var), path)
        if isinstance(value, ListOf):
            return sweep.builder.call(list, bar, span=span, name=self.name(var))
        like = self.part_atom(sweep, var, path, span)
        if isinstance(value, Array) and shape_of(self.context.value(bar)) is None:
            return cotangents.made_like(sweep.builder, np.full_like, like, bar, span=span, name=self.name(var))
        made = cotangents.whole(sweep.builder, bar, like, span, self.name(var))
        return made if made != bar else sweep.builder.call(np.copy, bar, span=span, name=self.name(var))

    def carry(self, sweep: Sweep, outer: Sweep, key: tuple[ir.Var, Path], span: ir.Span | None) -> None:
        """Make every loop between here and ``outer`` carry the cotangent."""
        chain = []
        inner: Sweep | None = sweep
        while inner is not outer:
            assert inner is not None
            if inner.is_loop and key not in inner.accumulators:
                chain.append(inner)
            inner = inner.parent
        for loop in reversed(chain):
            param = self.context.define(self.name(key[0]), self.kind_of_bar(*key))
            loop.accumulators[key] = param
            loop.bars[key] = param
