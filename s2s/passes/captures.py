"""Captures: refuse functions that are kept while a variable that they read changes.

Python binds captured variables late: ``[lambda: k for k in range(3)]`` are three functions that all see the last ``k``.
The compiler inlines calls of nested functions with the captures as they are where the function was made, which is the
same only while none of them changes.
"""

from __future__ import annotations

from s2s import ir, ops
from s2s.errors import error

_KEEPS = tuple(
    map(
        ir.Const,
        (ops.append, ops.make_list, ops.make_tuple, ops.make_dict, ops.make_set, ops.put, ops.add_to_set),
    )
)


def check_captures(function: ir.Function) -> ir.Function:
    """The function, if no nested function in it is kept while a variable that it reads changes."""
    statements = list(ir.walk(function.body))
    kept = _kept(function, statements)
    for place, statement in enumerate(statements):
        match statement:
            case ir.Let(target, ir.MakeFunction(inner) as made, span):
                check_captures(inner)
                if target in kept:
                    _check(made, span, _later(function.body, statements, place))
            case _:
                pass
    return function


def _kept(function: ir.Function, statements: list[ir.Statement]) -> set[ir.Atom]:
    """The atoms that containers, joins of paths or the result keep."""
    kept: set[ir.Atom] = set(function.body.yields)
    for s in statements:
        for block in ir.blocks_of(s):
            kept.update(block.yields)
        if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn in _KEEPS:
            kept.update(ir.atoms_of(s.value))
        if isinstance(s, ir.Store):
            kept.add(s.value)
    return kept


def _later(body: ir.Block, statements: list[ir.Statement], place: int) -> set[str]:
    """The names that are assigned after a statement, or in a loop around it."""
    later = {v.name for s in statements[place:] for v in ir.defs_of(s)}
    for s in statements:
        if isinstance(s, (ir.For, ir.While)) and any(t is statements[place] for t in ir.walk(s.body)):
            later |= {v.name for t in ir.walk(s.body) for v in ir.defs_of(t)} | {c.param.name for c in s.carried}
            later |= {s.item.name} if isinstance(s, ir.For) else set()
    return later


def _check(made: ir.MakeFunction, span: ir.Span | None, later: set[str]) -> None:
    for capture, atom in zip(made.function.captures, made.captures, strict=True):
        if atom != ir.UNDEFINED and capture.name in later and not capture.is_temporary:
            raise error(
                "S2S205", span=span, name=capture.name,
                hint="bind the value as a default, `lambda x, k=k: ...`, or call the function before that",
            )
