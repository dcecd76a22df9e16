"""What passes rewrite programs with: atoms replaced, blocks replaced, uses counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from s2s.core import ir, ops

__all__ = [
    "count_uses", "follow", "free_variables", "map_blocks", "substitute", "substitute_all", "without_result",
]


def substitute(statement: ir.Statement, mapping: dict[ir.Atom, ir.Atom]) -> ir.Statement:
    """A statement with atoms replaced, in the blocks inside it too."""
    if not mapping:
        return statement

    def atom(a: ir.Atom) -> ir.Atom:
        return mapping.get(a, a) if isinstance(a, ir.Var) else a

    def block(b: ir.Block) -> ir.Block:
        return ir.Block(tuple(substitute(s, mapping) for s in b.statements), tuple(map(atom, b.yields)))

    return ir.rebuild(statement, atom, block)


def substitute_all(function: ir.Function, mapping: dict[ir.Atom, ir.Atom]) -> ir.Function:
    """The function with atoms replaced in all of its body."""
    statements = tuple(substitute(s, mapping) for s in function.body.statements)
    return ir.replace(
        function, body=ir.Block(statements, tuple(mapping.get(a, a) for a in function.body.yields))
    )


def map_blocks(s: ir.Statement, change: Callable[[ir.Block], ir.Block]) -> ir.Statement:
    """A statement with the blocks directly inside it changed."""
    inner = ir.blocks_of(s)
    return ir.with_blocks(s, map(change, inner)) if inner else s


def count_uses(block: ir.Block) -> Counter[ir.Atom]:
    """How often each variable is read in a block and in the blocks inside it."""
    read: list[ir.Atom] = [*block.yields]
    for s in ir.walk(block):
        read += ir.reads_of(s)
        if isinstance(s, ir.Let):
            continue
        if isinstance(s, (ir.For, ir.While)) and s.leave is not None:
            read.append(s.leave)
        for inner in ir.blocks_of(s):
            read += inner.yields
    return Counter([atom for atom in read if isinstance(atom, ir.Var)])


def without_result(function: ir.Function) -> ir.Function:
    """The function without the displays of its result: what these put together shares no memory before."""
    statements, yields = list(function.body.statements), [*function.body.yields]
    while statements and isinstance(last := statements[-1], ir.Let):
        if last.target is None or yields.count(last.target) != 1:
            break
        if not isinstance(last.value, ir.Call) or last.value.fn not in _DISPLAYS:
            break
        yields = [a for a in yields if a != last.target] + [*ir.atoms_of(last.value)]
        statements.pop()
    return ir.replace(function, body=ir.Block(tuple(statements), ()))


_DISPLAYS = tuple(map(ir.Const, ops.DISPLAYS))


def free_variables(function: ir.Function) -> Iterator[ir.Var]:
    """The variables that a function reads and does not define, in order of reading."""
    defined = {p.var for p in function.params}
    found: dict[ir.Var, None] = {}

    def read(atoms: Iterable[ir.Atom]) -> None:
        for atom in atoms:
            if isinstance(atom, ir.Var) and atom not in defined:
                found[atom] = None

    def run(block: ir.Block) -> None:
        for s in block.statements:
            read(ir.reads_of(s))
            defined.update(ir.inner_defs_of(s))
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
