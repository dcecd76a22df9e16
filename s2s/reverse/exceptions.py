"""``with`` and ``try`` in reverse.

    with np.errstate(all="ignore"):             with np.errstate(all="ignore"):
        y = np.log(x)                               x_bar = y_bar / x

    try:                                        if caught:
        y = f(x)                  ->                g's reverse
    except ValueError:                          else:
        y = g(x)                                    f's reverse

The reverse of a block does not enter the user's manager again, except one that sets how floating-point errors and
warnings are treated: then no warning is new. A ``try`` is a branch whose test is known when it is over.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from s2s.analysis.abstract.parts import Path, part
from s2s.analysis.managers import REPEATED, SETTINGS
from s2s.analysis.raising import ends
from s2s.core import ir, ops
from s2s.core.values import UNKNOWN, Scalar
from s2s.reverse.control import at_join, outlives, reverse_side, seeds_of
from s2s.reverse.residuals.sweep import Sweep

if TYPE_CHECKING:
    from s2s.reverse.sweeps import Reverser

_SETTINGS = tuple(map(ir.Const, SETTINGS))
_REPEATED = tuple(map(ir.Const, REPEATED))


def managed(reverser: Reverser, s: ir.With, sweep: Sweep) -> None:
    """The reverse of a ``with``: of its body, under the same settings."""
    statements = sweep.builder.statements
    start = len(statements)
    reverser.block(s.body, sweep)
    made = reverser.context.definitions.get(s.manager) if isinstance(s.manager, ir.Var) else None
    if len(statements) == start or not isinstance(made, ir.Call) or made.fn not in _SETTINGS or _raises(made):
        return
    inside = statements[start:]
    del statements[start:]
    call = ir.map_atoms(made, lambda a: reverser.use(sweep, a))
    again = reverser.context.define("%", UNKNOWN, False, call)
    sweep.builder.add(ir.Let(again, call, s.span))
    sweep.builder.add(ir.With(again, None, ir.Block((*_settings(reverser, s, sweep), *inside)), span=s.span))


def _raises(call: ir.Value) -> bool:
    """Whether a setting makes errors or warnings exceptions: the reverse sweep raises what the primal raises."""
    return not {ir.Const("raise"), ir.Const("error")}.isdisjoint(ir.atoms_of(call))


def _settings(reverser: Reverser, s: ir.With, sweep: Sweep) -> list[ir.Statement]:
    """The calls in a body that change a setting until its end."""
    return [
        ir.Let(None, ir.map_atoms(inner.value, lambda a: reverser.use(sweep, a)), inner.span)
        for inner in s.body.statements
        if isinstance(inner, ir.Let) and isinstance(inner.value, ir.Call) and inner.value.fn in _REPEATED
        and not _raises(inner.value)
    ]


def attempt(reverser: Reverser, s: ir.Try, sweep: Sweep, refused: list[ir.Atom]) -> None:
    """The reverse of a ``try``: of the block that came to its end. What follows it in the same block raises where one
    of ``refused`` is true."""
    whole = ir.Block((*s.body.statements, *s.orelse.statements), s.orelse.yields)
    blocks = [(0, whole), *((k, h.body) for k, h in enumerate(s.handlers, 1))]
    never = {number for test in refused for number in _numbers(reverser, s, test)}
    going = [(number, block) for number, block in blocks if number not in never and not ends(block.statements)]
    seeds = seeds_of(reverser, s, sweep)
    sides = [(number, reverse_side(reverser, s, number + 1, block, seeds, sweep)) for number, block in going]
    if len(sides) == 1:
        _splice(reverser, s, sides[0][1], sweep)
    elif sides:
        _choose(reverser, s, sides, sweep)


def _numbers(reverser: Reverser, s: ir.Try, test: ir.Atom) -> tuple[int, ...]:
    """The blocks of a ``try`` of which a test says whether one of them ended; none where it says something else."""
    if test == s.caught:
        return tuple(range(1, len(s.handlers) + 1))
    inverse = reverser.context.definition(test, operator.not_)
    if inverse is not None and inverse[0] == s.caught:
        return (0,)
    among = reverser.context.definition(test, ops.contains)
    return among[1].value if among is not None and among[0] == s.caught else ()  # type: ignore[union-attr]


def _splice(reverser: Reverser, s: ir.Try, side: Sweep, sweep: Sweep) -> None:
    """The reverse of the one block that can come to its end."""
    for key, bar in side.bars.items():
        if outlives(reverser, key, sweep, s):
            sweep.bars[key] = bar
            sweep.buffers.discard(key)
            if key in side.buffers:
                sweep.buffers.add(key)
    sweep.builder.statements += reverser.planner.finish(side)


def _choose(reverser: Reverser, s: ir.Try, sides: list[tuple[int, Sweep]], sweep: Sweep) -> None:
    """The reverse of the block that ran, by the number that the forward sweep has kept."""
    assert s.caught is not None
    caught = reverser.use(sweep, s.caught)
    if reverser.context.value(s.caught) == Scalar(bool):
        sides = sides[::-1]
        tests: list[ir.Atom] = [caught]
    else:
        tests = [sweep.builder.call(operator.eq, caught, ir.Const(n), span=s.span) for n, _ in sides[:-1]]
    keys: list[Any] = []
    rows: list[tuple[ir.Atom, ...]] = []
    for key in dict.fromkeys(key for _, side in sides for key in side.bars):
        if outlives(reverser, key, sweep, s):
            row = tuple(at_join(reverser, side, key, sweep) for _, side in sides)
            if all(bar == row[0] for bar in row):
                sweep.bars[key] = row[0]
            else:
                keys.append(key)
                rows.append(row)
    blocks = [
        ir.Block(tuple(reverser.planner.finish(side)), tuple(row[k] for row in rows))
        for k, (_, side) in enumerate(sides)
    ]
    last = blocks.pop()
    while blocks:
        results = tuple(_joined(reverser, key) for key in keys)
        branch = ir.If(tests.pop(), blocks.pop(), last, results, s.span)
        last = ir.Block((branch,), results)
    sweep.builder.add(branch)
    for key, result in zip(keys, results, strict=True):
        sweep.bars[key] = result
        sweep.buffers.discard(key)


def _joined(reverser: Reverser, key: tuple[ir.Var, Path]) -> ir.Var:
    return reverser.context.define(reverser.name(key[0]), part(reverser.context.value(key[0]), key[1]))


__all__ = ["attempt", "managed"]
