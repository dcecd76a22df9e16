"""The one gate for reading again: whether the operands of an operation that was done earlier may be read in its place.

    a = x.copy()
    r = a / 2.0
    a[0] = 3.0
    s = r * x           the adjoint of x may read r, which holds a / 2.0 as it was: (g * a) / 2.0 would read the new a

Derivatives are written better where a sign, a quotient or a choice goes out of a product: the operands of the operation
that made a factor are then read again. An operand that is never changed holds what it held. A buffer does where the
state of its memory (``analysis.memory_states``) is the one that the operation found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from s2s.analysis.memory import Memory, changed_by, shared_with
from s2s.analysis.memory_states import States
from s2s.core import ir
from s2s.core.show import show

if TYPE_CHECKING:
    from s2s.builder.builder import Context

__all__ = ["Reading", "may_change", "may_read_again"]


class Reading:
    """What a pass knows of memory while it writes a derivative: at which statement of the primal it is."""

    def __init__(
        self, function: ir.Function, memory: Memory, is_there: Callable[[ir.Var], bool] = lambda var: True
    ) -> None:
        """``is_there`` says whether an array that held the same at an operation and at the present statement holds it
        where the derivative of the present statement is written."""
        self.states = States(function, memory)
        self.is_there = is_there
        self.function = function
        self.now = 0
        self.promised: list[tuple[ir.Var, ir.Var, int]] = []
        """What was read again: an operand of the operation that made a variable, in the derivative of a statement."""
        self.contents: list[tuple[ir.Var, int, ir.Atom | None]] = []
        """The buffers of which derivatives read what they hold, each with the statement whose derivative that is, and
        the index where only what is there is read."""
        self.written_at: dict[ir.Var, int] = {}
        """The statements in whose derivatives new variables were made."""

    def renamed(self, old: ir.Var, new: ir.Var) -> None:
        """A variable was given another name after it was made."""
        if old in self.written_at:
            self.written_at[new] = self.written_at[old]
        else:
            self.written_at.pop(new, None)

    def same(self, result: ir.Var, operand: ir.Var) -> bool:
        """Whether an operand of the operation that made ``result`` holds what it held for that operation."""
        if self.written_at.get(result) == self.now:
            return True  # nothing is stored before all that the derivative of one statement reads was read
        if result in self.written_at or not self.is_unchanged(result, operand) or not self.is_there(operand):
            return False
        self.promised.append((result, operand, self.now))
        self.contents.append((operand, self.now, None))
        return True

    def is_unchanged(self, result: ir.Var, operand: ir.Var) -> bool:
        """Whether the present statement of the primal finds in a buffer what the operation of ``result`` found."""
        states = self.states
        found = states.of(operand, states.at_birth.get(result))
        return operand in states.memory.links and found is not None and (
            found == states.of(operand, states.before.get(self.now)))

    def check(self) -> None:
        """Raise ``BrokenIR`` where an operand was read again that holds something else by then: found by the order of
        the text, as the versions of memory are (``optimize.memory_versions``)."""
        if self.promised:
            places = _Places(self.function, self.states.memory)
            problems = {at: text for promise in self.promised for at, text in places.problems(*promise)}
            if problems:
                raise ir.BrokenIR(f"broken order of memory in {self.function.name}\n{show(self.function, problems)}")


@dataclass
class _Place:
    """Where a statement stands: how many stores are before it, in which loops, on which sides of which branches."""

    number: int
    loops: frozenset[int]
    sides: frozenset[tuple[int, int]]


class _Places:
    """Where the statements of a function stand, and its stores among them."""

    def __init__(self, function: ir.Function, memory: Memory) -> None:
        self.memory = memory
        self.of: dict[int, _Place] = {}
        self.born: dict[ir.Var, _Place] = {}
        self.stores: dict[ir.Var, list[_Place]] = {}
        self.number = 0
        self._block(function.body, frozenset(), frozenset())

    def _block(self, block: ir.Block, loops: frozenset[int], sides: frozenset[tuple[int, int]]) -> None:
        for s in block.statements:
            place = self.of[id(s)] = _Place(self.number, loops, sides)
            self.born.update(dict.fromkeys(ir.defs_of(s), place))
            inside = loops | {id(s)} if isinstance(s, (ir.For, ir.While)) else loops
            for k, inner in enumerate(ir.blocks_of(s)):
                self._block(inner, inside, sides | {(id(s), k)} if isinstance(s, ir.If) else sides)
            changed = changed_by(s)
            if isinstance(changed, ir.Var):
                self.number += 1
                made = _Place(self.number, loops, sides)
                self.stores.setdefault(self.memory.find(changed), []).append(made)

    def problems(self, result: ir.Var, operand: ir.Var, at: int) -> Iterator[tuple[int, str]]:
        """Where an operand is read at a statement as it was for the operation that made ``result``, but has changed."""
        then, here = self.born[result], self.of[at]
        stores = self.stores.get(self.memory.find(operand), [])
        between = [
            s.number for s in stores if then.number < s.number <= here.number and not _is_other_side(s, here)
        ]
        loops = frozenset[int]().union(*(s.loops for s in stores))
        if between:
            yield at, f"reads {operand} at memory version {then.number}, but version {between[-1]} is current"
        elif loops & then.loops != loops & here.loops:
            yield at, f"reads {operand} at memory version {then.number} in other loops than it did"


def _is_other_side(one: _Place, other: _Place) -> bool:
    """Whether two statements stand on different sides of a branch."""
    return any(branch == b and side != k for branch, side in one.sides for b, k in other.sides)


def may_read_again(context: Context, result: ir.Var, value: ir.Value) -> bool:
    """Whether every operand of the operation that made ``result`` can be read where code is written at present and
    gives what it gave to that operation."""
    if not context.changed:
        return True
    changing = [a for a in ir.atoms_of(value) if isinstance(a, ir.Var) and may_change(context, a)]
    reading = context.reading
    return not changing or (reading is not None and all(reading.same(result, a) for a in changing))


def may_change(context: Context, atom: ir.Atom) -> bool:
    """Whether an atom may refer to an array that some statement changes, or be a view of one."""
    todo, seen = [atom], set[ir.Atom]()
    while todo and context.changed:
        atom = todo.pop()
        if not isinstance(atom, ir.Var) or atom in seen:
            continue
        if atom in context.changed:
            return True
        seen.add(atom)
        made = context.definitions.get(atom)
        if made is not None:
            todo += shared_with(made, context.value(atom), context.value)
    return False
