"""Activity: which variables of a specialised function carry a derivative to the result.

A variable is active when it depends on a differentiated input (``varied``, known from specialisation) and the result
depends on it (``useful``, found here, backwards). Only active variables get adjoints.
"""

from __future__ import annotations

from collections.abc import Callable

from s2s import ir


def find_useful(body: ir.Block, seeds: set[ir.Var], is_varied: Callable[[ir.Atom], bool]) -> set[ir.Var]:
    """The varied variables of a block that its ``seeds`` depend on."""
    useful = {v for v in seeds if is_varied(v)}

    def mark(atom: ir.Atom) -> None:
        if isinstance(atom, ir.Var) and is_varied(atom):
            useful.add(atom)

    def run(block: ir.Block) -> None:
        for statement in reversed(block.statements):
            step(statement)

    def step(statement: ir.Statement) -> None:
        match statement:
            case ir.Let(target, value) if target in useful:
                for atom in ir.atoms_of(value):
                    mark(atom)
            case ir.If(_, then, orelse, results):
                for k, result in enumerate(results):
                    if result in useful:
                        mark(then.yields[k])
                        mark(orelse.yields[k])
                run(then)
                run(orelse)
            case ir.For(body=body, carried=carried) | ir.While(body=body, carried=carried):
                loop(body, carried)
            case _:
                pass

    def loop(body: ir.Block, carried: tuple[ir.Carried, ...]) -> None:
        while True:
            before = len(useful)
            for c, following in zip(carried, body.yields, strict=True):
                if c.result in useful or c.param in useful:
                    mark(c.result)
                    mark(c.param)
                    mark(following)
                    mark(c.init)
            run(body)
            if len(useful) == before:
                return

    run(body)
    return useful
