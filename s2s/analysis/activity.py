"""Activity: which variables of a specialised function carry a derivative to the result.

A variable is active when it depends on a differentiated input (``varied``, known from specialisation) and the result
depends on it (``useful``, found here, backwards). Only active variables get adjoints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import assert_never

from s2s.core import ir, ops
from s2s.core.dataflow import saturate


def find_useful(
    body: ir.Block, seeds: set[ir.Var], is_varied: Callable[[ir.Atom], bool],
    same: Callable[[ir.Var], Iterable[ir.Var]] = lambda var: (var,),
) -> set[ir.Var]:
    """The varied variables of a block that its ``seeds`` depend on; ``same`` gives those that may share memory that
    changes with a variable: a store through one of them is seen by all."""
    useful: set[ir.Var] = set()
    has_stores = any(isinstance(s, ir.Store) for s in ir.walk(body))

    def mark(atom: ir.Atom) -> None:
        if isinstance(atom, ir.Var) and atom not in useful and is_varied(atom):
            useful.update(filter(is_varied, same(atom)))

    def run(block: ir.Block) -> None:
        for statement in reversed(block.statements):
            step(statement)

    def step(statement: ir.Statement) -> None:
        match statement:
            case ir.Let(target, value) if target in useful:
                for atom in ir.atoms_of(value):
                    mark(atom)
            case ir.Let(None, ir.Call(ir.Const(value=fn), (stack, item))) if fn is ops.push and stack in useful:
                mark(item)  # type: ignore[arg-type]
            case ir.Store(_, target, _, value) if target in useful:
                mark(value)
            case ir.If(results=results) | ir.Try(results=results):
                for k, result in enumerate(results):
                    if result in useful:
                        for side in ir.sides_of(statement):
                            mark(side.yields[k])
                for block in reversed(ir.blocks_of(statement)):
                    run(block)
            case ir.With(body=body):
                run(body)
            case ir.For(body=body, carried=carried) | ir.While(body=body, carried=carried):
                loop(body, carried)
            case (
                ir.Let() | ir.Store() | ir.Assert() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue() |
                ir.Note()
            ):
                pass
            case _:
                assert_never(statement)

    def loop(body: ir.Block, carried: tuple[ir.Carried, ...]) -> None:
        def once() -> None:
            for c, following in zip(carried, body.yields, strict=True):
                if c.result in useful or c.param in useful:
                    mark(c.result)
                    mark(c.param)
                    mark(following)
                    mark(c.init)
            run(body)

        saturate(useful, once)

    for seed in seeds:
        mark(seed)
    run(body)
    if has_stores:
        saturate(useful, lambda: run(body))
    return useful
