"""Copies of arrays to which nothing else refers: a function goes in, the same without them comes out.

    g_bar = x * y_bar                   g_bar = x * y_bar
    g_bar_1 = np.copy(g_bar)    ->      g_bar[0] += 1.0
    g_bar_1[0] += 1.0
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from s2s.analysis.abstract.lattice import shape_of
from s2s.analysis.functions import facts, makes_new
from s2s.analysis.memory import Memory
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.optimize.rewriting import count_uses, follow, map_blocks, substitute_all, without_result

__all__ = ["drop_copies"]

_COPY = ir.Const(np.copy)
_COPIES = (_COPY, ir.Const(np.ndarray.copy))


def drop_copies(function: ir.Function, context: Context, used_up: bool = False) -> ir.Function:
    """The function without ``np.copy`` of an array that was made for it: a fresh result that nothing else reads, or
    with ``used_up`` nothing after the copy, which makes it one that changes. Both are made equally often: a copy in a
    loop of what was made before it is a new one in each iteration. What may be of rank 0 is copied: arithmetic makes
    numbers of it, which cannot be changed in place. With ``used_up`` copies go, too, where neither they nor their array
    change."""
    made = {s.target: s.value for s in ir.walk(function.body) if isinstance(s, ir.Let) and s.target is not None}
    if not any(isinstance(v, ir.Call) and v.fn in _COPIES for v in made.values()):
        return function
    uses, loops = count_uses(function.body), _innermost_loops(function.body)
    mapping: dict[ir.Atom, ir.Atom] = {}
    dropped: set[ir.Var] = set()
    last = _LastReaders(function, context) if used_up else None
    for target, value in made.items():
        if not isinstance(value, ir.Call) or value.fn not in _COPIES or len(value.args) > 1 or value.kwargs:
            continue  # one in another order of memory is no copy of what there is
        source = value.args[0]
        if last is not None and isinstance(source, ir.Var) and last.is_needless(target, source):
            mapping[target] = source
            dropped.add(target)
            continue
        if value.fn != _COPY:
            continue
        if not isinstance(source, ir.Var) or not makes_new(made.get(source)) or not shape_of(context.value(source)):
            continue
        if loops[source] != loops[target]:
            continue
        if uses[source] == 1:
            mapping[target] = source
        elif last is not None and source not in mapping and last.reads(target, source):
            context.definitions[target] = context.definitions.get(source) or made[source]
            mapping[source] = target
        else:
            continue
        dropped.add(target)
    if not mapping:
        return function

    def statement(s: ir.Statement) -> ir.Statement:
        if isinstance(s, ir.Let) and s.target is not None and s.target in mapping:
            return ir.replace(s, target=follow(s.target, mapping))
        return map_blocks(s, block)

    def block(b: ir.Block) -> ir.Block:
        kept = [s for s in b.statements if not (isinstance(s, ir.Let) and s.target in dropped)]
        return ir.Block(tuple(map(statement, kept)), b.yields)

    resolved = {target: follow(target, mapping) for target in mapping}
    return substitute_all(ir.replace(function, body=block(function.body)), resolved)


class _LastReaders:
    """Copies that are the last to read an array."""

    def __init__(self, function: ir.Function, context: Context) -> None:
        self.function = function
        self.context = context

    @functools.cached_property
    def memory(self) -> Memory:
        """What may be a view of what."""
        return Memory(without_result(self.function), self.context.value)

    @functools.cached_property
    def readers(self) -> dict[ir.Atom, list[ir.Statement | None]]:
        """The statements that read variables; None where a block yields them."""
        found: dict[ir.Atom, list[ir.Statement | None]] = {}
        for block in _blocks(self.function.body):
            for a in block.yields:
                found.setdefault(a, []).append(None)
            for s in block.statements:
                for a in ir.reads_of(s):
                    found.setdefault(a, []).append(s)
        return found

    @functools.cached_property
    def acts(self) -> bool:
        """Whether a call may change arrays that it is not given."""
        calls = [s.value for s in ir.walk(self.function.body) if isinstance(s, ir.Let) and isinstance(s.value, ir.Call)]
        return any(not isinstance(c.fn, ir.Const) or facts(c.fn.value).acts for c in calls)

    def is_needless(self, copy: ir.Var, source: ir.Var) -> bool:
        """Whether nothing changes an array or its copy, and what reads the copy makes new arrays of it there and
        then."""
        known = self.context.value(source)
        if not shape_of(known) or known != self.context.value(copy) or source in self.context.uncertain:
            return False
        if self.acts or self.memory.is_buffer(source) or self.memory.is_buffer(copy):
            return False
        return all(
            isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn not in _COPIES and makes_new(s.value)
            for s in self.readers.get(copy, [None]))

    def reads(self, copy: ir.Var, source: ir.Var) -> bool:
        """Whether an array has no views, and all that reads it stands before a copy of it in the block of both."""
        if self.memory.members.get(self.memory.find(source)) != [source] or source in self.function.body.yields:
            return False
        block = next(b for b in _blocks(self.function.body) if any(_defines(s, copy) for s in b.statements))
        places = [k for k, s in enumerate(block.statements) if _defines(s, copy)]
        before = block.statements[: places[0]]
        if not any(_defines(s, source) for s in before):
            return False
        rest = ir.Block(block.statements[places[0] + 1 :], block.yields)
        return not count_uses(rest)[source]


def _blocks(block: ir.Block) -> Iterator[ir.Block]:
    yield block
    for s in block.statements:
        for inner in ir.blocks_of(s):
            yield from _blocks(inner)


def _defines(s: ir.Statement, var: ir.Var) -> bool:
    return isinstance(s, ir.Let) and s.target == var


def _innermost_loops(block: ir.Block, loop: int = 0) -> dict[ir.Var, int]:
    """For each variable that a ``Let`` defines, a number that tells the innermost loop around it from others."""
    found: dict[ir.Var, int] = {}
    for s in block.statements:
        if isinstance(s, ir.Let) and s.target is not None:
            found[s.target] = loop
        for inner in ir.blocks_of(s):
            found |= _innermost_loops(inner, id(s) if isinstance(s, (ir.For, ir.While)) else loop)
    return found
