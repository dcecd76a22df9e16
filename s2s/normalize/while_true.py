"""Loops whose test changes something: the test becomes a statement of the body.

    while bump(a) > 0.1:             while True:
        k += 1              ->           if not bump(a) > 0.1: break
                                         k += 1

The test of a ``While`` only computes: the reverse sweep does not run through it. Whether a test changes an array, a
container or an object shows when the functions that it calls have been followed.
"""

from __future__ import annotations

from s2s.analysis.memory import changed_by
from s2s.core import ir, ops


def changes_something(block: ir.Block) -> bool:
    """Whether statements change an array or a container that the program has when it runs."""
    return any(changed_by(s) is not None or _is_of_stack(s) for s in ir.walk(block))


def _is_of_stack(s: ir.Statement) -> bool:
    return isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn in _OF_STACKS


_OF_STACKS = tuple(map(ir.Const, ops.STACKS))


def with_test_inside(loop: ir.While) -> ir.While:
    """The loop in SSA form with its test in the body. ``left`` says what it said: whether a ``break`` ended it."""
    (test,) = loop.test.yields
    params = [c.param for c in loop.carried]
    results = [_after(p) for p in params]
    leave, broken, before = (ir.Var(f"%{name}", -1 - loop_number(test)) for name in ("leave", "broken", "before"))
    stops = ir.Const(False) if loop.leave is None else loop.leave
    then = ir.Block(loop.body.statements, (*loop.body.yields, stops, stops))
    orelse = ir.Block((), (*params, ir.Const(True), ir.Const(False)))
    branch = ir.If(test, then, orelse, (*results, leave, broken), loop.span)
    carried, yields = loop.carried, tuple(results)
    if loop.left is not None:
        carried = (*carried, ir.Carried(before, ir.Const(False), loop.left))
        yields = (*yields, broken)
    return ir.replace(
        loop, test=ir.Block((), (ir.Const(True),)), body=ir.Block((*loop.test.statements, branch), yields),
        carried=carried, leave=leave, left=None,
    )


def loop_number(test: ir.Atom) -> int:
    """A number that no other loop of the function has, by the variable that its test gives."""
    return test.version if isinstance(test, ir.Var) else 0


def _after(param: ir.Var) -> ir.Var:
    """A variable of that name which the function does not have: its versions count from 0."""
    return ir.Var(param.name, -1 - param.version)
