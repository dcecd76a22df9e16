"""Copies of what changes later, left out where they are used up before it changes.

    c = np.copy(u_bar[1:])              v_bar[:-1] += u_bar[1:] * dt
    t = c * dt                  ->
    v_bar[:-1] += t
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from s2s.analysis.memory import Memory, can_share, changed_by, shared_with
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.optimize.dead import is_pure_call
from s2s.optimize.memory_versions import reading
from s2s.optimize.rewriting import count_uses, map_blocks, substitute, without_result

_COPY = ir.Const(np.copy)


def drop_snapshots(function: ir.Function, context: Context) -> ir.Function:
    """The function without copies of arrays that are read for the last time before anything stores into the array."""
    if all(_copied(s)[1] is None for s in ir.walk(function.body)):
        return function
    memory, uses = Memory(without_result(function), context.value), count_uses(function.body)

    def block(b: ir.Block) -> ir.Block:
        statements, at = list(b.statements), 0
        while at < len(statements):
            source, copy = _copied(statements[at])
            following = statements[at + 1 :]
            if source is None or copy is None or not _is_used_up(copy, source, following, memory, uses, context):
                at += 1
            else:
                versions = [v for a, v in statements[at].reads if a == source]  # type: ignore[union-attr]
                statements[at:] = [_reading(s, copy, source, versions) for s in following]
        return ir.Block(tuple(map_blocks(s, block) for s in statements), b.yields)

    return ir.replace(function, body=block(function.body))


def _reading(s: ir.Statement, copy: ir.Var, source: ir.Var, versions: list[ir.Version]) -> ir.Statement:
    """A statement with an array in the place of its copy: it reads the version that was copied."""
    made = substitute(s, {copy: source})
    if copy in ir.reads_of(s):
        for version in versions:
            made = reading(made, source, version)
    return made


def _copied(s: ir.Statement) -> tuple[ir.Var, ir.Var] | tuple[None, None]:
    """The array that a statement copies, and its copy."""
    match s:
        case ir.Let(ir.Var() as target, ir.Call(fn, (ir.Var() as source,), ())) if fn == _COPY:
            return source, target
    return None, None


def _is_used_up(
    copy: ir.Var, source: ir.Var, following: list[ir.Statement], memory: Memory, uses: Counter[ir.Atom],
    context: Context,
) -> bool:
    """Whether all uses of a copy come before its source may change, and none of them keeps it."""
    left = uses[copy]
    for s in following:
        reads = [a for a in ir.reads_of(s) if a == copy]
        left -= len(reads)
        if reads and not _only_reads(s, copy, context):
            return False
        if left == 0:
            return bool(reads)
        if isinstance(s, ir.Let):
            if _may_change(s, source, memory):
                return False
        elif isinstance(s, ir.Store):
            if not isinstance(s.target, ir.Var) or memory.find(s.target) == memory.find(source):
                return False
        elif not isinstance(s, ir.Note):
            return False
    return False


def _only_reads(s: ir.Statement, copy: ir.Var, context: Context) -> bool:
    """Whether a statement makes something new of an array, or stores what it holds."""
    if isinstance(s, ir.Store):
        return s.value == copy and s.target != copy and s.key != copy
    if not isinstance(s, ir.Let) or s.target is None or not isinstance(s.value, ir.Call):
        return False
    known = context.value(s.target)
    return not can_share(known) or copy not in shared_with(s.value, known, context.value)


def _may_change(s: ir.Let, source: ir.Var, memory: Memory) -> bool:
    target = changed_by(s)
    if target is not None:
        return not isinstance(target, ir.Var) or memory.find(target) == memory.find(source)
    return not is_pure_call(s.value)


__all__ = ["drop_snapshots"]
