"""Arrays of the program that variables of modules hold: these are given copies, which must not be seen to differ.

    a = x * 2.0
    LAST = a                  rt.record_variable(globals(), "LAST", rt.as_it_is(a))
    a[0] = 5.0                refused: in Python `LAST` changes, too
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from s2s import runtime as rt
from s2s.analysis.memory import Memory, changed_by
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.values import Array
from s2s.errors import error

__all__ = ["check_given_arrays", "copies_in"]

_COPIES = ir.Const(rt.as_it_is)

_Loops = frozenset[int]
"""The loops around a place, by ``id``."""


def copies_in(statements: Iterable[ir.Statement], context: Context) -> Iterator[ir.Var]:
    """The copies of arrays that statements make for what is outside."""
    for s in statements:
        if isinstance(s, ir.Let) and s.target and isinstance(s.value, ir.Call) and s.value.fn == _COPIES:
            if isinstance(context.value(s.value.args[0]), Array):  # type: ignore[arg-type]
                yield s.target


def check_given_arrays(function: ir.Function, copies: set[ir.Var], context: Context) -> None:
    """Raise where an array changes of which a variable has a copy."""
    if not copies:
        return
    placed = [*_placed(function.body, frozenset())]
    given = [
        (k, loops, s.value.args[0]) for k, (s, loops) in enumerate(placed)  # type: ignore[union-attr]
        if isinstance(s, ir.Let) and s.target in copies]
    memory, born = Memory(function, context.value, opaque=False), dict[ir.Var, _Loops]()
    for s, loops in placed:
        for var in ir.defs_of(s):
            root = memory.find(var)
            born[root] = born.get(root, loops) & loops  # an array that the iteration makes is another one in the next
    for k, (s, loops) in enumerate(placed):
        changed = changed_by(s)
        for before, around, array in given if isinstance(changed, ir.Var) else ():
            root = memory.find(array)  # type: ignore[arg-type]
            is_later = k > before or (loops & around) - born.get(root, frozenset())
            if is_later and memory.find(changed) is root:  # type: ignore[arg-type]
                name = context.names.get(changed, changed.name).lstrip("%")  # type: ignore[arg-type, union-attr]
                hint = "change it before, or give a copy of it away"
                raise error("S2S131", span=getattr(s, "span", None), name=name or "an array", hint=hint)


def _placed(block: ir.Block, around: _Loops) -> Iterator[tuple[ir.Statement, _Loops]]:
    """The statements in order, each with the loops around it."""
    for s in block.statements:
        yield s, around
        inside = around | {id(s)} if isinstance(s, (ir.For, ir.While)) else around
        for inner in ir.blocks_of(s):
            yield from _placed(inner, inside)

