"""A function in, the same with its operations on the elements of arrays as loops out.

    t = np.sin(a[1:] - a[:-1])              for i in rt.places(a.shape[0] - 1):
    u[1:] += c * t                  ->          u[i + 1] += c * np.sin(a[i + 1] - a[i])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import assert_never

from s2s.analysis.memory import Memory
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.optimize.loops.buffers import Buffers
from s2s.optimize.loops.fits import fit_slices
from s2s.optimize.loops.gathers import margins_of
from s2s.optimize.loops.groups import Gather, Group, Groups, Single
from s2s.optimize.loops.scopes import Scope, Scopes
from s2s.optimize.loops.steps import Step, Steps
from s2s.optimize.loops.writing import write, write_gather
from s2s.optimize.rewriting import count_uses

__all__ = ["as_loops"]


def as_loops(function: ir.Function, context: Context) -> ir.Function:
    """The function with loops over elements in the place of operations on arrays."""
    return _Expander(fit_slices(function, context), context).run()


class _Expander:
    def __init__(self, function: ir.Function, context: Context) -> None:
        self.function = function
        self.context = context
        self.groups = Groups(function, Steps(function, context), Memory(function, context.value))
        self.uses = count_uses(function.body)
        self.scopes = Scopes(context, self.groups.lengths)

    def run(self) -> ir.Function:
        parameters = [p.var for p in self.function.params]
        return ir.replace(self.function, body=self._block(self.function.body, False, parameters))

    def _block(self, block: ir.Block, is_repeated: bool, parameters: Iterable[ir.Var]) -> ir.Block:
        self.scopes.open.append(Scope(is_repeated))
        for var in parameters:
            self.scopes.define(var)
        made = self._statements(block)
        self.scopes.open.pop()
        return ir.Block(tuple(made), block.yields)

    def _statements(self, block: ir.Block) -> list[ir.Statement]:
        made: list[ir.Statement] = []
        items = self.groups.block(block.statements)
        gathers = [item.additions for item in items if isinstance(item, Gather)]
        inside = Counter(a for item in items for step in _steps_of(item) for a in ir.reads_of(step.statement))
        buffers = Buffers(self.context, self.uses, inside, margins_of(gathers), self.scopes)
        for item in items:
            match item:
                case Group(steps):
                    written = write(steps, buffers)
                case Gather(additions):
                    written = write_gather(additions, buffers)
                case Single(s):
                    one = self._inside(s)
                    written = [*self.scopes.take(), one]
                case _:
                    assert_never(item)
            made += written
            for s in written:
                for var in ir.defs_of(s):
                    self.scopes.define(var)
        return made

    def _inside(self, s: ir.Statement) -> ir.Statement:
        match s:
            case ir.Let(_, ir.MakeFunction(function) as value):
                return ir.replace(s, value=ir.replace(value, function=as_loops(function, self.context)))
        inner = ir.blocks_of(s)
        is_loop = isinstance(s, (ir.For, ir.While))
        return ir.with_blocks(s, [self._block(b, is_loop, ir.inner_defs_of(s)) for b in inner]) if inner else s


def _steps_of(item: Gather | Group | Single) -> list[Step]:
    match item:
        case Group(steps):
            return steps
        case Gather(additions):
            return [one.step for one in additions]
        case Single():
            return []
