"""Names of the user's variables for temporaries that they were given: ``left, right = np.split(y, 2)``.

What a helper returns, or a container holds, is made before the user's name for it is known.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from s2s.builder.builder import Context
from s2s.core import ir


def name_temporaries(function: ir.Function, context: Context) -> ir.Function:
    """The function with the names of ``context.names`` for its temporaries, in the functions made inside it too."""
    mapping: dict[ir.Atom, ir.Atom] = {}
    for s in ir.walk(function.body):
        if isinstance(s, ir.Let) and s.target is not None and s.target in context.names:
            named = mapping[s.target] = context.define(context.names[s.target], context.value(s.target))
            for facts in vars(context).values():  # whatever is known of the temporary, is known of its name
                if isinstance(facts, set) and s.target in facts:
                    facts.add(named)
    return _renamed(function, mapping) if mapping else function


def _renamed(function: ir.Function, mapping: dict[ir.Atom, ir.Atom]) -> ir.Function:
    def atom(a: ir.Atom) -> ir.Atom:
        return mapping.get(a, a) if isinstance(a, ir.Var) else a

    def block(b: ir.Block) -> ir.Block:
        return ir.Block(tuple(map(statement, b.statements)), tuple(map(atom, b.yields)))

    def statement(s: ir.Statement) -> ir.Statement:
        s = ir.rebuild(s, atom, block)
        if not isinstance(s, ir.Let):
            return s
        value = s.value
        if isinstance(value, ir.MakeFunction) and not mapping.keys().isdisjoint(value.function.captures):
            value = ir.replace(value, function=_renamed(value.function, mapping))
        target = s.target if s.target is None else mapping.get(s.target, s.target)
        return s if target is s.target and value is s.value else ir.replace(s, target=target, value=value)

    captures = tuple(mapping.get(c, c) for c in function.captures)
    return ir.replace(function, body=block(function.body), captures=captures)


def share_names(function: ir.Function, context: Context, numbers: Iterator[int] | None = None) -> ir.Function:
    """The function with temporaries that may share a name with others, ``%~``, in the blocks between the notes around
    what runs again, so that the next such block lets go of them; without the notes."""
    mapping: dict[ir.Atom, ir.Atom] = {}
    numbers = itertools.count() if numbers is None else numbers

    def block(b: ir.Block, inside: bool = False) -> ir.Block:
        made, depth = [], int(inside)
        for s in b.statements:
            section = s.section if isinstance(s, ir.Note) else ""
            if section in (ir.BEGIN_REPLAY, ir.END_REPLAY):
                depth += 1 if section == ir.BEGIN_REPLAY else -1
                continue
            if isinstance(s, ir.Let) and isinstance(s.value, ir.MakeFunction):
                s = ir.replace(s, value=ir.replace(s.value, function=share_names(s.value.function, context, numbers)))
            if isinstance(s, ir.Let) and depth and s.target is not None and s.target.is_temporary:
                shared = mapping[s.target] = ir.Var(f"%~{s.target.name[1:]}", next(numbers))
                context.values[shared] = context.value(s.target)
            made.append(ir.with_blocks(s, [block(inner, bool(depth)) for inner in ir.blocks_of(s)]))
        return ir.Block(tuple(made), b.yields)

    made = ir.replace(function, body=block(function.body))
    return _renamed(made, mapping) if mapping else made


__all__ = ["name_temporaries", "share_names"]
