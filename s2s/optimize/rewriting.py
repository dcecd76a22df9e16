"""What passes rewrite programs with: atoms replaced, blocks replaced, uses counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from s2s.core import ir

__all__ = ["count_uses", "follow", "free_variables", "map_blocks", "substitute", "substitute_all"]


def substitute(statement: ir.Statement, mapping: dict[ir.Atom, ir.Atom]) -> ir.Statement:
    """A statement with atoms replaced, in the blocks inside it too."""
    if not mapping:
        return statement

    def atom(a: ir.Atom) -> ir.Atom:
        return mapping.get(a, a)

    def maybe(a: ir.Atom | None) -> ir.Atom | None:
        return None if a is None else atom(a)

    def block(b: ir.Block) -> ir.Block:
        return ir.Block(tuple(substitute(s, mapping) for s in b.statements), tuple(map(atom, b.yields)))

    def carry(carried: tuple[ir.Carried, ...]) -> tuple[ir.Carried, ...]:
        return tuple(ir.Carried(c.param, atom(c.init), c.result) for c in carried)

    def reads(s: ir.Let | ir.Store) -> ir.Reads:
        return tuple((new, version) for a, version in s.reads if isinstance(new := atom(a), ir.Var))

    match statement:
        case ir.Let(target, value, span):
            return ir.Let(target, ir.map_atoms(value, atom), span, reads(statement), statement.makes)
        case ir.Store(kind, target, key, value, op, span):
            was, made = maybe(statement.was), statement.makes
            return ir.Store(kind, atom(target), atom(key), atom(value), op, span, was, reads(statement), made)
        case ir.If(test, then, orelse):
            return ir.replace(statement, test=atom(test), then=block(then), orelse=block(orelse))
        case ir.For():
            return ir.replace(
                statement, iterable=atom(statement.iterable), body=block(statement.body),
                carried=carry(statement.carried), leave=maybe(statement.leave), snapshots=maybe(statement.snapshots),
            )
        case ir.While():
            return ir.replace(
                statement, test=block(statement.test), body=block(statement.body), carried=carry(statement.carried),
                leave=maybe(statement.leave), snapshots=maybe(statement.snapshots),
            )
        case ir.With():
            return ir.replace(statement, manager=atom(statement.manager), body=block(statement.body))
        case ir.Try(body, handlers, orelse):
            return ir.replace(
                statement, body=block(body), orelse=block(orelse),
                handlers=tuple(
                    ir.replace(h, kinds=tuple(map(atom, h.kinds)), body=block(h.body)) for h in handlers
                ),
            )
        case ir.Raise(exception, cause, span):
            return ir.Raise(exception and atom(exception), cause and atom(cause), span)
        case _:
            return statement


def substitute_all(function: ir.Function, mapping: dict[ir.Atom, ir.Atom]) -> ir.Function:
    statements = tuple(substitute(s, mapping) for s in function.body.statements)
    return ir.replace(
        function, body=ir.Block(statements, tuple(mapping.get(a, a) for a in function.body.yields))
    )


def map_blocks(s: ir.Statement, change: Any) -> ir.Statement:
    """A statement with the blocks directly inside it changed."""
    match s:
        case ir.If(then=then, orelse=orelse):
            return ir.replace(s, then=change(then), orelse=change(orelse))
        case ir.For(body=body):
            return ir.replace(s, body=change(body))
        case ir.While(body=body):
            return ir.replace(s, body=change(body))
        case _:
            return ir.with_blocks(s, map(change, ir.blocks_of(s)))


def count_uses(block: ir.Block) -> Counter[ir.Atom]:
    """How often each atom is read in a block and in the blocks inside it."""
    found: Counter[ir.Atom] = Counter()

    def run(block: ir.Block) -> None:
        for atom in block.yields:
            found[atom] += 1
        for s in block.statements:
            for atom in ir.reads_of(s):
                found[atom] += 1
            if isinstance(s, (ir.For, ir.While)) and s.leave is not None:
                found[s.leave] += 1
            for inner in ir.blocks_of(s):
                run(inner)

    run(block)
    return found


def free_variables(function: ir.Function) -> Iterator[ir.Var]:
    """The variables that a function reads and does not define, in order of reading."""
    defined = {p.var for p in function.params}
    found: dict[ir.Var, None] = {}

    def read(atoms: Any) -> None:
        for atom in atoms:
            if isinstance(atom, ir.Var) and atom not in defined:
                found[atom] = None

    def run(block: ir.Block) -> None:
        for s in block.statements:
            read(ir.reads_of(s))
            match s:
                case ir.For(item=item, carried=carried):
                    defined.update((item, *(c.param for c in carried)))
                case ir.While(carried=carried):
                    defined.update(c.param for c in carried)
                case ir.With(target=ir.Var() as target):
                    defined.add(target)
                case ir.Try(handlers=handlers):
                    defined.update(h.name for h in handlers if h.name is not None)
                case _:
                    pass
            for inner in ir.blocks_of(s):
                run(inner)
            if isinstance(s, (ir.For, ir.While)) and s.leave is not None:
                read((s.leave,))
            defined.update(ir.defs_of(s))
        read(block.yields)

    run(function.body)
    return iter(found)


def follow(atom: ir.Atom, mapping: dict[ir.Atom, ir.Atom]) -> ir.Atom:
    """What an atom is replaced by in the end."""
    while atom in mapping:
        atom = mapping[atom]
    return atom
