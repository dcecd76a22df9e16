"""Which statements of a block are done in one loop: each joins the last loop over the same space that it may join.

A statement moves up to a loop where nothing between them computes what it reads, stores what it reads, or reads what it
stores. In the loop itself memory may be shared where all accesses are to one array at the same place: what an iteration
stores no other one reads.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol, assert_never

from s2s.analysis import functions
from s2s.analysis.memory import Memory, can_share, changed_by
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.values import Array, Dim, ListOf, Sequence
from s2s.optimize.dead import is_pure_call
from s2s.optimize.loops.accesses import Access, Views
from s2s.optimize.loops.distinct import Distinct
from s2s.optimize.loops.gathers import Addition, gathered
from s2s.optimize.loops.lengths import Lengths
from s2s.optimize.loops.steps import Step

__all__ = ["FindsSteps", "Gather", "Group", "Groups", "Item", "Single"]

Key = ir.Var | tuple[str, ir.Var | None]
"""A class of memory by the variable that stands for it, or the items of lists in it; the items of all lists of numbers,
which share no memory with arrays and have no class."""

_OF_LISTS = (list.append, list.pop, ops.push, ops.pull)


@dataclass
class Effects:
    """What a statement or loop defines, uses, and does with memory that changes, by classes; one ``is_fixed`` that
    nothing moves past."""

    defs: set[ir.Atom] = field(default_factory=set)
    uses: set[ir.Atom] = field(default_factory=set)
    reads: set[Key] = field(default_factory=set)
    writes: set[Key] = field(default_factory=set)
    is_fixed: bool = False

    def add(self, other: Effects) -> None:
        """Take in what another one does."""
        for name in ("defs", "uses", "reads", "writes"):
            getattr(self, name).update(getattr(other, name))

    def stops(self, later: Effects) -> bool:
        """Whether a later statement must stay behind this one."""
        return (
            self.is_fixed
            or later.is_fixed
            or not self.defs.isdisjoint(later.uses)
            or not self.writes.isdisjoint(later.reads | later.writes)
            or not self.reads.isdisjoint(later.writes)
        )


@dataclass
class Group:
    """Steps over one space; ``touched`` are the accesses to memory that changes, each with whether they store."""

    steps: list[Step]
    effects: Effects
    touched: list[tuple[ir.Var, Access, bool]]

    def add(self, step: Step, effects: Effects, touched: list[tuple[ir.Var, Access, bool]]) -> None:
        """Do one more step in the loop."""
        self.steps.append(step)
        self.touched += touched
        self.effects.add(effects)


@dataclass
class Single:
    """A statement that stays as it is."""

    statement: ir.Statement
    effects: Effects


@dataclass
class Gather:
    """Additions to regions of one array, done in one loop."""

    additions: list[Addition]
    effects: Effects


Item = Group | Gather | Single


class FindsSteps(Protocol):
    """What says of statements how they are done element by element."""

    context: Context
    views: Views

    def step(self, s: ir.Statement) -> Step | None:
        """The step that a statement is; None where it stays as it is."""


class Groups:
    """The loops of a function's blocks."""

    def __init__(self, function: ir.Function, steps: FindsSteps, memory: Memory) -> None:
        self.memory = memory
        self.views = steps.views
        self.value_of = steps.context.value
        self.lengths = Lengths()
        self.distinct = Distinct(function, self.views.made, self.value_of)
        self.found: dict[int, Step] = {}  # by ``id`` of the statements
        for s in ir.walk(function.body):
            step = steps.step(s)
            if step is not None and not self._overlaps(step):
                self.found[id(s)] = step
                self._note_lengths(step)

    def _note_lengths(self, step: Step) -> None:
        for access in step.accesses:
            for dim, other in zip(access.dims[::-1], step.space[::-1], strict=False):
                self.lengths.take_for_equal(dim, other)

    def _space(self, step: Step) -> tuple[Dim, ...]:
        return tuple(map(self.lengths.of, step.space))

    def block(self, statements: tuple[ir.Statement, ...]) -> list[Item]:
        """The statements of a block, those together that are done in one loop."""
        items: list[Item] = []
        steps = [step for s in statements if (step := self.found.get(id(s))) is not None]
        made: set[ir.Atom | None] = {s.statement.target for s in steps if s.kind == "map"}
        additions = gathered(s for s in steps if s.kind == "store" and self._adds_one_of(s, made))
        for s in statements:
            step = self.found.get(id(s))
            if step is not None and id(s) in additions:
                self._gather(items, additions[id(s)])
            elif step is not None:
                self._place(items, step)
            else:
                one = Single(s, self._effects(s))
                items.insert(self._earliest(items, one) if self._floats(one) else len(items), one)
        return items

    def _place(self, items: list[Item], step: Step) -> None:
        """Put a step into the loop that it shares most with of those that it may join, or into one of its own."""
        effects, touched = self._of_step(step)
        best, most = None, -1
        for item in reversed(items):
            if isinstance(item, Group) and self._joins(item, step, effects, touched):
                shared = len(step.uses & (item.effects.defs | item.effects.uses))
                if shared > most:
                    best, most = item, shared
            if item.effects.stops(effects):
                break
        if best is None:
            items.append(Group([step], effects, touched))
        else:
            best.add(step, effects, touched)

    def _adds_one_of(self, step: Step, made: set[ir.Atom | None]) -> bool:
        """Whether a store adds an array that the block makes and that stays as it is."""
        return all(a.base in made and self._class(a.base) is None for a in step.arrays)

    def _gather(self, items: list[Item], one: Addition) -> None:
        """Put an addition to the last ones to the same array, here or there."""
        effects, _ = self._of_step(one.step)
        at = next(
            (k for k in range(len(items) - 1, -1, -1)
             if isinstance(item := items[k], Gather) and item.additions[0].place == one.place),
            None,
        )  # fmt: skip
        if at is not None:
            found, after = items[at], items[at + 1 :]
            assert isinstance(found, Gather)
            stays = not any(item.effects.stops(effects) for item in after)
            if stays or not any(found.effects.stops(item.effects) for item in after):
                if not stays:
                    items[at:] = [*after, found]
                found.additions.append(one)
                found.effects.add(effects)
                return
        items.append(Gather([one], effects))

    def _joins(self, group: Group, step: Step, effects: Effects, touched: list[tuple[ir.Var, Access, bool]]) -> bool:
        """Whether a step may be done in the loop of others, after them."""
        if self._space(group.steps[0]) != self._space(step) or any("~" in dim.symbol for dim in step.space):
            return False
        elements = {s.statement.target for s in group.steps if s.kind == "map"}
        for used in step.uses & group.effects.defs:
            if used not in elements or not _is_element(step, used):
                return False
        for kind, access, stores in touched:
            for other_kind, other, stored in group.touched:
                is_same = (access.base, access.axes) == (other.base, other.axes)
                if kind is other_kind and (stores or stored) and not (is_same or self._are_apart(access, other)):
                    return False
        return True

    def _of_step(self, step: Step) -> tuple[Effects, list[tuple[ir.Var, Access, bool]]]:
        touched = [(kind, a, False) for a in step.arrays if (kind := self._class(a.base)) is not None]
        effects = Effects(set(ir.defs_of(step.statement)), set(step.uses), {kind for kind, _, _ in touched})
        if step.target is not None:
            kind = self.memory.find(step.target.base)
            touched.append((kind, step.target, True))
            effects.writes.add(kind)
            if step.fn is not None:
                effects.reads.add(kind)
        return effects, touched

    def _overlaps(self, step: Step) -> bool:
        """Whether a store may change elements that it reads afterwards."""
        if step.target is None:
            return False
        kind, place = self.memory.find(step.target.base), (step.target.base, step.target.axes)
        return any(
            self._class(a.base) is kind and (a.base, a.axes) != place and not self._are_apart(a, step.target)
            for a in step.arrays
        )

    def _are_apart(self, one: Access, other: Access) -> bool:
        return one.is_apart_from(other, self.distinct.are)

    def _class(self, var: ir.Var) -> ir.Var | None:
        """The class of memory that an array belongs to; None where nothing changes it."""
        return self.memory.find(var) if self.memory.is_buffer(var) else None

    # --- other statements

    def _effects(self, s: ir.Statement) -> Effects:
        effects = Effects(set(ir.defs_of(s)), {a for a in ir.reads_of(s) if isinstance(a, ir.Var)})
        match s:
            case ir.Let(_, ir.Call(ir.Const(value=fn), args, kwargs) as call):
                given = [a.atom if isinstance(a, ir.Star) else a for a in (*args, *(a for _, a in kwargs))]
                changed = given[0] if fn in ops.STACKS and given else changed_by(s)
                if isinstance(changed, ir.Var) and fn in _OF_LISTS:
                    effects.writes = {self._items(changed)}
                elif changed is not None:
                    effects.writes = {self.memory.find(a) for a in (changed,) if isinstance(a, ir.Var)}
                    effects.reads = self._read(given)
                elif not is_pure_call(call):
                    effects.is_fixed = True
                else:
                    effects.reads = {
                        self._items(a) for a in given if isinstance(a, ir.Var) and self._is_changing_list(a)
                    }
                    if not self.views.is_view(s):
                        effects.reads |= self._read([a for a in given if functions.reads_content(fn, args, a)])
            case ir.Let(_, ir.Var() | ir.Const()):
                pass
            case ir.Store(_, ir.Var() as target):
                effects.writes = {self.memory.find(target)}
                if not isinstance(self.value_of(target), Array):
                    effects.writes.add(self._items(target))
                effects.reads = self._read(effects.uses)
            case (
                ir.Let() | ir.Store() | ir.If() | ir.For() | ir.While() | ir.With() | ir.Try() | ir.Assert() |
                ir.Raise() | ir.Return() | ir.Break() | ir.Continue() | ir.Note()
            ):
                effects.is_fixed = True
            case _:
                assert_never(s)
        return effects

    def _read(self, atoms: Iterable[ir.Atom]) -> set[Key]:
        """The memory behind variables: of lists their items too, which are other memory than the arrays in them."""
        found: set[Key] = set()
        for a in atoms:
            if isinstance(a, ir.Var) and (kind := self._class(a)) is not None:
                found.add(kind)
                if not isinstance(self.value_of(a), Array):
                    found.add(("items", kind))
        return found

    def _items(self, var: ir.Var) -> Key:
        """The items of a list."""
        return "items", self.memory.find(var) if can_share(self.value_of(var)) else None

    def _is_changing_list(self, var: ir.Var) -> bool:
        """Whether a variable is a list whose items some statement may change."""
        known = self.value_of(var)
        if can_share(known):
            return not isinstance(known, Array) and self.memory.is_buffer(var)
        return isinstance(known, ListOf) or (isinstance(known, Sequence) and known.type is list)

    def _floats(self, one: Single) -> bool:
        """Whether a statement may stand as early as what it is computed from."""
        effects = one.effects
        return isinstance(one.statement, ir.Let) and not (effects.is_fixed or effects.reads or effects.writes)

    def _earliest(self, items: list[Item], one: Single) -> int:
        at = len(items)
        while at and not items[at - 1].effects.stops(one.effects):
            at -= 1
        return at


def _is_element(step: Step, used: ir.Atom) -> bool:
    """Whether a step reads an array that its loop makes only at the place that an iteration makes."""
    rank = len(step.space)
    for access in step.arrays:
        if access.base == used:
            if [a.along for a in access.axes] != list(range(rank)) or any(
                (a.start, a.back) != (ir.Const(0), ir.Const(0)) for a in access.axes
            ):
                return False
        elif used in access.atoms:
            return False
    if step.target is not None and used in step.target.atoms:
        return False
    return used not in step.operands
