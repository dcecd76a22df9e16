"""Versions of memory: every read of a buffer carries the state that it reads, and a check says where it sees another.

    a = x.copy()                            a = x.copy()
    r = a / 2.0       reads a at 0          a[0] = 3.0        makes 1
    a[0] = 3.0        makes 1       ->      r = a / 2.0       reads a at 0    <-- but version 1 is current
    s = np.sum(a)     reads a at 1          s = np.sum(a)     reads a at 1

``with_versions`` writes them into a function as it is before the simplifications, ``check`` compares what each read
finds after one. Stores are numbered in the order of the text; a read has the number of the last one before it. Two
statements that both run do so in the order of the text, or in that of the iterations of the loops around both: so each
read finds what it found where it stands on the same side of every store that may alias, in the same loops. Stores that
are dropped, and memory that is seen to be apart when others are gone, need no care.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from s2s.analysis.abstract import lattice
from s2s.analysis.functions import reads_content
from s2s.analysis.memory import Memory
from s2s.builder.builder import Context
from s2s.core import ir, ops, values
from s2s.core.show import show
from s2s.optimize.rewriting import without_result

__all__ = ["check", "reading", "with_versions"]

ValueOf = Callable[[ir.Atom], values.AbstractValue]
"""What is known of an atom."""

Key = ir.Var | tuple[str, ir.Var]
"""A class of memory by the variable that stands for it, or the items of one list of the runtime."""

_ITEMS = frozenset(map(ir.Const, (list.append, list.pop, ops.push, ops.pull)))
_CHANGING = frozenset((list.append, list.pop, ops.push, ops.pull, np.add.at, np.subtract.at))
_KINDS_OF_CHANGING = frozenset(map(type, _CHANGING))
"""The types of those, whose objects compare without running code of the program."""

_HANDS_ON = frozenset((*_ITEMS, *map(ir.Const, (*ops.DISPLAYS, ops.unpack, list, tuple))))
_GETITEM = ir.Const(operator.getitem)


def with_versions(function: ir.Function, context: Context) -> ir.Function:
    """The function with the versions that its statements read and make, in functions made inside it too."""
    return _with_versions(function, context, context.value)


def _with_versions(function: ir.Function, context: Context, value_of: ValueOf) -> ir.Function:
    if not any(_changed(s) is not None or _makes_function(s) for s in ir.walk(function.body)):
        return function
    value_of = _known_by_all_names(function, context, value_of)
    memory, first_names = Memory(without_result(function), value_of), _first_names(function)
    numbers, loops = itertools.count(1), itertools.count(1)
    last = 0

    def block(b: ir.Block, around: tuple[int, ...]) -> ir.Block:
        calls = _calls(b)
        changing = set(calls.values())
        made = [s if _is_remark(s) else statement(s, around, k in changing) for k, s in enumerate(b.statements)]
        for k, call in calls.items():
            made[k] = ir.replace(made[k], makes=None if call is None else made[call].makes)  # type: ignore[union-attr]
        return ir.Block(tuple(made), b.yields)

    def statement(s: ir.Statement, around: tuple[int, ...], changes: bool) -> ir.Statement:
        nonlocal last
        match s:
            case ir.Let() | ir.Store():
                read_here = dict.fromkeys([a for a in ir.reads_of(s) if isinstance(a, ir.Var)])
                found = [a for a in read_here if memory.is_buffer(a) or memory.is_buffer(first_names.get(a, a))]
                before = ir.Version(last, around) if found else None
                read = tuple((a, before) for a in found)
                makes = None
                if changes or _changed(s) is not None:
                    last = next(numbers)
                    makes = ir.Version(last, around)
                if isinstance(s, ir.Let) and isinstance(s.value, ir.MakeFunction):
                    inner = _with_versions(s.value.function, context, value_of)
                    s = ir.replace(s, value=ir.replace(s.value, function=inner))
                same = read == s.reads and makes == s.makes
                return s if same else ir.replace(s, reads=read, makes=makes)
            case ir.For() | ir.While():
                inside = (*around, next(loops))
                return ir.with_blocks(s, [block(b, inside) for b in ir.blocks_of(s)])
            case ir.If() | ir.With() | ir.Try() | ir.Assert():
                return ir.with_blocks(s, [block(b, around) for b in ir.blocks_of(s)])
            case ir.Note() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue():
                return s

    return ir.replace(function, body=block(function.body, ()))


def _first_names(function: ir.Function) -> dict[ir.Atom, ir.Atom]:
    """For what a loop carries, the name that it has before all loops that carry it: a simplification reads it by that
    one where no iteration changes it, also a list of numbers, which shares no memory as an array does."""
    found: dict[ir.Atom, ir.Atom] = {}
    for s in ir.walk(function.body):
        for c in s.carried if isinstance(s, (ir.For, ir.While)) else ():
            found[c.param] = found[c.result] = found.get(c.init, c.init)
    return found


def _known_by_all_names(function: ir.Function, context: Context, value_of: ValueOf) -> ValueOf:
    """What is known of each atom, by the name that it has before the loops that carry it too: less may be known by that
    one, and a simplification reads it by that one where no iteration changes it."""
    known: dict[ir.Atom, values.AbstractValue] = {}

    def value(atom: ir.Atom) -> values.AbstractValue:
        return known[atom] if atom in known else value_of(atom)

    for s in ir.walk(function.body):
        for c in s.carried if isinstance(s, (ir.For, ir.While)) else ():
            for var in (c.param, c.result):
                known[var] = lattice.join(value_of(var), value(c.init), context.evaluator.facts)
    return value


def reading(s: ir.Statement, var: ir.Var, version: ir.Version) -> ir.Statement:
    """A statement which reads a buffer in the place of a copy that was made of that version."""
    if isinstance(s, (ir.Let, ir.Store)) and var in ir.reads_of(s):
        return ir.replace(s, reads=(*s.reads, (var, version)))
    return s


def _changed(s: ir.Statement) -> ir.Var | None:
    """What a statement changes in place: an array, or a list of the runtime."""
    if isinstance(s, ir.Let):
        value = s.value
        if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const) or not value.args:
            return None
        fn, target = value.fn.value, value.args[0]
        is_changing = type(fn) in _KINDS_OF_CHANGING and fn in _CHANGING
        return target if is_changing and isinstance(target, ir.Var) else None
    return s.target if isinstance(s, ir.Store) and isinstance(s.target, ir.Var) else None


def _is_remark(s: ir.Statement) -> bool:
    """Whether a statement only says that the call after it may change an array."""
    return isinstance(s, ir.Store) and s.kind == "opaque"


def _calls(block: ir.Block) -> dict[int, int | None]:
    """Where the remarks of a block stand, and the calls that they are about: the next one that is given the array."""
    found: dict[int, int | None] = {}
    waiting: dict[int, ir.Atom] = {}
    for k, s in enumerate(block.statements):
        if isinstance(s, ir.Store) and _is_remark(s):
            found[k], waiting[k] = None, s.target
        elif isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and waiting:
            given = set(ir.atoms_of(s.value))
            for of in [of for of, target in waiting.items() if target in given]:
                found[of] = k
                del waiting[of]
    return found


def _makes_function(s: ir.Statement) -> bool:
    return isinstance(s, ir.Let) and isinstance(s.value, ir.MakeFunction)


# --- checking -------------------------------------------------------------------------------------------------------


def check(
    function: ir.Function, context: Context, delayed: Mapping[int, Collection[ir.Var]] | None = None
) -> ir.Function:
    """Give the function back if every read finds the version that it carries; raise ``BrokenIR`` if not. ``delayed``
    are variables whose operation is done where they are read, expressions that are folded into others: of each function
    by its ``id``."""
    changing, inner = [], []
    for s in ir.walk(function.body):
        if _changed(s) is not None:
            changing.append(s)
        elif _makes_function(s):
            inner.append(s.value.function)  # type: ignore[union-attr]
    if changing:
        problems = _Checker(function, context, (delayed or {}).get(id(function), ()), changing).run()
        if problems:
            raise ir.BrokenIR(f"broken order of memory in {function.name}\n{show(function, problems)}")
    for nested in inner:
        check(nested, context, delayed)
    return function


class _Checker:
    """One walk in the order of the text."""

    def __init__(
        self, function: ir.Function, context: Context, delayed: Collection[ir.Var], changing: list[ir.Statement]
    ) -> None:
        """``changing`` are the statements that change something."""
        self.function = function
        self.context = context
        self.changing = changing
        self.changed = {id(s): _changed(s) for s in changing}
        self.memory = Memory(without_result(function), context.value)
        self.buffers = self.memory.buffers
        self.delayed = delayed
        self.waiting: dict[ir.Var, ir.Let] = {}
        self.problems: dict[int, str] = {}
        self.current: dict[Key, int] = {}
        """The version of each class that is current."""
        self.newest: dict[Key, int] = {}
        """The newest version of each class that was read."""
        self.remarks: dict[int, list[ir.Var]] = {}
        """What calls may change, as remarks say, by the version that they make."""
        self.around: list[int] = []
        """The loops around the present place, by ``id``."""
        self.labels: dict[int, int] = {}
        """The numbers that loops with stores in them have in versions."""
        self.loops: dict[Key, set[int]] = {}
        """The numbers of the loops that change a class."""

    def run(self) -> dict[int, str]:
        for s in self.changing:
            if isinstance(s, ir.Store) and _is_remark(s) and s.makes is not None and isinstance(s.target, ir.Var):
                self.remarks.setdefault(s.makes.number, []).append(s.target)
        self._find_loops(self.function.body, ())
        self._block(self.function.body)
        return self.problems

    def _find_loops(self, block: ir.Block, around: tuple[int, ...]) -> None:
        for s in block.statements:
            if isinstance(s, (ir.Let, ir.Store)):
                targets = () if s.makes is None else self._targets(s)
                for target in targets:
                    self.loops.setdefault(self._key(s, target), set()).update(s.makes.loops)  # type: ignore[union-attr]
                if targets:
                    self._label(s, around, targets[0])
                continue
            inside = (*around, id(s)) if isinstance(s, (ir.For, ir.While)) else around
            for inner in ir.blocks_of(s):
                self._find_loops(inner, inside)

    def _label(self, s: ir.Let | ir.Store, around: tuple[int, ...], target: ir.Var) -> None:
        """Note by which numbers versions name the loops around a statement that makes one."""
        loops = () if s.makes is None else s.makes.loops
        if len(loops) == len(around):
            self.labels.update(zip(around, loops, strict=True))
        else:
            self._report(s, f"changes {target} in other loops than it did")

    def _targets(self, s: ir.Let | ir.Store) -> Sequence[ir.Var]:
        """What a statement changes; a remark nothing: its call does, wherever it stands."""
        target = None if _is_remark(s) else self.changed.get(id(s))
        said = self.remarks.get(s.makes.number, ()) if isinstance(s, ir.Let) and s.makes is not None else ()
        return said if target is None else (target, *said)

    def _key(self, s: ir.Statement, target: ir.Var) -> Key:
        is_list = isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn in _ITEMS
        return ("items", target) if is_list else self.memory.find(target)

    def _report(self, s: ir.Statement, text: str) -> None:
        self.problems.setdefault(id(s), text)

    # --- the walk

    def _block(self, block: ir.Block) -> None:
        for s in block.statements:
            if isinstance(s, ir.Let):
                if s.target is not None and s.target in self.delayed:
                    self.waiting[s.target] = s
                else:
                    self._step(s)
            elif isinstance(s, ir.Store):
                if not _is_remark(s):
                    self._step(s)
            else:
                self._compound(s)
        self._operands(block.yields)

    def _step(self, s: ir.Let | ir.Store) -> None:
        if self.waiting:
            self._operands(ir.reads_of(s))
        self._reads(s)
        if s.makes is not None or id(s) in self.changed:
            self._makes(s)

    def _compound(self, s: ir.Statement) -> None:
        self._operands(ir.reads_of(s))
        if isinstance(s, (ir.For, ir.While)):
            self.around.append(id(s))
        for inner in ir.blocks_of(s):
            self._block(inner)
        if isinstance(s, (ir.For, ir.While)):
            self._operands(() if s.leave is None else (s.leave,))
            self.around.pop()

    def _operands(self, atoms: Any) -> None:
        """Do the operations that were put off until one of these is read."""
        for atom in atoms if self.waiting else ():
            let = self.waiting.get(atom)
            if let is not None:
                self._operands(ir.atoms_of(let.value))
                self._reads(let)
                if id(let) not in self.changed:  # lists have an order of their own
                    self._makes(let)

    def _reads(self, s: ir.Let | ir.Store) -> None:
        for var in self._contents(s):
            key = self.memory.find(var)
            if key not in self.loops:  # nothing that is left changes it
                continue
            versions = [v for a, v in s.reads if a is var]
            if not versions:
                self._report(s, f"reads {var} without a version of memory")
            for version in versions:
                self._read(s, var, key, version)

    def _read(self, s: ir.Statement, var: ir.Var, key: Key, version: ir.Version) -> None:
        current = self.current.get(key, 0)
        if current > version.number:
            self._report(s, f"reads {var} at memory version {version.number}, but version {current} is current")
        self.newest[key] = max(self.newest.get(key, 0), version.number)
        changing = self.loops[key]
        found = {self.labels.get(loop) for loop in self.around}
        if changing and changing & found != changing.intersection(version.loops):
            self._report(s, f"reads {var} at memory version {version.number} in other loops than it did")

    def _makes(self, s: ir.Let | ir.Store) -> None:
        targets = self._targets(s)
        if targets and s.makes is None:
            self._report(s, f"changes {targets[0]} without a version of memory")
        elif s.makes is not None:
            number = s.makes.number
            for key, target in {self._key(s, target): target for target in targets}.items():
                if number <= self.current.get(key, 0):
                    self._report(s, f"makes memory version {number} of {target} after version {self.current[key]}")
                if number <= self.newest.get(key, -1):
                    read = self.newest[key]
                    self._report(s, f"makes memory version {number} of {target} after version {read} was read")
                self.current[key] = number

    # --- what is read

    def _contents(self, s: ir.Let | ir.Store) -> Sequence[ir.Var]:
        """The buffers of which a statement reads what they hold, and not only where or how large they are."""
        if isinstance(s, ir.Store):
            read = [s.key, s.value, *((s.target,) if s.op is not None else ())]
            return self._buffers_of(read) if s.kind != "opaque" else ()
        value = s.value
        found = self._buffers_of(ir.atoms_of(value))
        if not found or not isinstance(value, ir.Call):
            return ()
        if s.target is not None and self.memory.base_of(s.target) is not None:
            return ()
        fn = value.fn.value if isinstance(value.fn, ir.Const) else None
        if value.fn in _HANDS_ON or (value.fn == _GETITEM and self._is_container(value.args[0])):
            return ()
        if fn is None or value.kwargs:
            return found
        return [a for a in dict.fromkeys(found) if reads_content(fn, value.args, a)]

    def _buffers_of(self, atoms: Iterable[ir.Atom]) -> list[ir.Var]:
        buffers = self.buffers
        return [a for a in atoms if isinstance(a, ir.Var) and a in buffers]

    def _is_container(self, atom: Any) -> bool:
        return isinstance(self.context.value(atom), (values.Sequence, values.Mapping, values.ListOf))
