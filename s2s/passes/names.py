"""Names of the user's variables for temporaries that they were given: ``left, right = np.split(y, 2)``.

What a helper returns, or a container holds, is made before the user's name for it is known.
"""

from __future__ import annotations

from s2s import ir
from s2s.passes.build import Context
from s2s.passes.rewriting import substitute


def name_temporaries(function: ir.Function, context: Context) -> ir.Function:
    """The function with the names of ``context.names`` for its temporaries, in the functions made inside it too."""
    mapping: dict[ir.Atom, ir.Atom] = {}
    for s in ir.walk(function.body):
        if isinstance(s, ir.Let) and s.target is not None and s.target in context.names:
            mapping[s.target] = context.define(context.names[s.target], context.value(s.target))
    return _renamed(function, mapping) if mapping else function


def _renamed(function: ir.Function, mapping: dict[ir.Atom, ir.Atom]) -> ir.Function:
    def block(b: ir.Block) -> ir.Block:
        return ir.Block(tuple(map(statement, b.statements)), tuple(mapping.get(a, a) for a in b.yields))

    def statement(s: ir.Statement) -> ir.Statement:
        s = ir.with_blocks(s, map(block, ir.blocks_of(s))) if ir.blocks_of(s) else s
        s = substitute(s, mapping)
        if not isinstance(s, ir.Let):
            return s
        value = s.value
        if isinstance(value, ir.MakeFunction) and not mapping.keys().isdisjoint(value.function.captures):
            value = ir.replace(value, function=_renamed(value.function, mapping))
        target = s.target if s.target is None else mapping.get(s.target, s.target)
        return ir.replace(s, target=target, value=value)

    captures = tuple(mapping.get(c, c) for c in function.captures)
    return ir.replace(function, body=block(function.body), captures=captures)


__all__ = ["name_temporaries"]
