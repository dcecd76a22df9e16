"""The forward sweep: the primal, with the statements that keep what the reverse sweep reads."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, TypeVar, assert_never

from s2s.core import ir
from s2s.core.values import UNKNOWN, Scalar
from s2s.specialize.checkpoints import FirstRun, plain

if TYPE_CHECKING:
    from s2s.reverse.residuals.planner import Planner

L = TypeVar("L", bound=ir.Loop)

__all__ = ["ForwardSweep"]


class ForwardSweep:
    """Writes blocks of the primal with what a planner has decided to keep of them."""

    def __init__(self, planner: Planner) -> None:
        self.planner = planner
        self.context = planner.context
        self.saves = planner.storage.saves
        self.depth = 0

    def block(self, block: ir.Block) -> ir.Block:
        """A block with all that its reverse reads of it."""
        planner = self.planner
        made: list[ir.Statement] = []
        for let in planner.at_start.get(id(block), []):
            made += [let, *self.saves.get(let.target, [])]  # type: ignore[arg-type]
        for statement in block.statements:
            self._insert_creations(made, statement)
            if isinstance(statement, ir.If) and statement.replayed:
                made += self._run_once(statement)
                continue
            rewritten = self._statement(statement)
            if isinstance(rewritten, ir.Try) and self.depth:
                rewritten = self._with_lengths(rewritten, made)
            made.append(rewritten)
            for var in ir.defs_of(statement):
                made += self.saves.get(var, [])
            for c, _ in planner.leaving.get(id(statement), []):
                made += self.saves.get(c.result, [])
            if id(statement) in planner.counters:
                made += self.saves.get(planner.counters[id(statement)][2], [])
            if id(statement) in planner.first_runs:
                made += (save for var in planner.first_runs[id(statement)].kept for save in self.saves.get(var, []))
        return ir.Block(tuple(made), block.yields)

    def _run_once(self, statement: ir.If) -> list[ir.Statement]:
        """The statements of a block that the reverse sweep replays, as the primal has them."""
        first = self.planner.first_runs.get(id(statement), FirstRun())
        inner = plain(self.context, ir.Block((statement,)), first.calls).statements
        results = set(statement.results)
        defined = {var for s in ir.walk(ir.Block(inner)) for var in ir.defs_of(s)}
        self.context.passing |= defined - results
        saves = [save for var in (*first.kept, *statement.results) for save in self.saves.get(var, [])]
        return [ir.Note("", ir.BEGIN_REPLAY), *inner, ir.Note("", ir.END_REPLAY), *saves]

    def _run_first(self, loop: L) -> L:
        """A loop whose iterations the reverse sweep replays."""
        first = self.planner.first_runs.get(id(loop), FirstRun())
        body = plain(self.context, loop.body, first.calls)
        counted = self._count(loop, ir.replace(loop, body=body, snapshots=None))
        body = ir.Block((*first.start, *counted.body.statements), counted.body.yields)
        return ir.replace(counted, body=body)

    def _insert_creations(self, made: list[ir.Statement], statement: ir.Statement) -> None:
        """Containers stand before the loop, and before the range that it runs over where that was just made."""
        at = len(made)
        if made and isinstance(statement, ir.For) and isinstance(made[-1], ir.Let) and (
            made[-1].target == statement.iterable
        ):
            at -= 1
        first = self.planner.first_runs.get(id(statement))
        creations = self.planner.storage.creations.get(id(statement), [])
        made[at:at] = [*creations, *(() if first is None else first.before)]

    def _statement(self, statement: ir.Statement) -> ir.Statement:
        match statement:
            case ir.If(_, then, orelse, results):
                blocks = [self.block(then), self.block(orelse)]
                more = self._exported(statement, blocks, range(2))
                return ir.replace(statement, then=blocks[0], orelse=blocks[1], results=(*results, *more))
            case ir.With(body=body):
                return ir.replace(statement, body=self.block(body))
            case ir.Try(body, handlers, orelse, results):
                names = [() if h.name is None else (h.name,) for h in handlers]
                after = [self._body(h.body, name) for h, name in zip(handlers, names, strict=True)]
                blocks = [self.block(body), self.block(orelse), *after]
                more = self._exported(statement, blocks, range(1, len(blocks)))
                return ir.replace(ir.with_blocks(statement, blocks), results=(*results, *more))
            case (ir.For() | ir.While()) as loop if loop.snapshots is not None:
                return self._run_first(loop)
            case ir.For(item, body=body, carried=carried) as loop:
                body = self._iteration(body, (item, *(c.param for c in carried)))
                return self._count(statement, self._leave_last(statement, ir.replace(loop, body=body)))
            case ir.While(body=body, carried=carried) as loop:
                body = self._iteration(body, tuple(c.param for c in carried))
                return self._count(statement, self._leave_last(statement, ir.replace(loop, body=body)))
            case (
                ir.Let() | ir.Store() | ir.Assert() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue() |
                ir.Note()
            ):
                return statement
            case _:
                assert_never(statement)

    def _with_lengths(self, statement: ir.Try, before: list[ir.Statement]) -> ir.Try:
        """A ``try`` in a loop whose handlers take back what the interrupted body has kept for its reverse."""
        kept = {
            s.value.args[0]: None for s in ir.walk(statement.body)
            if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn == ir.Const(list.append)
            and s.value.args[0] in self.planner.storage.lists
        }
        counts = {items: self.context.define("%", Scalar(int)) for items in kept}
        before += [ir.Let(n, ir.Call(ir.Const(len), (items,)), statement.span) for items, n in counts.items()]
        handlers = []
        for handler in statement.handlers:
            back: list[ir.Statement] = []
            for items, count in counts.items():
                rest = self.context.define("%", UNKNOWN)
                bounds = (count, ir.Const(None), ir.Const(None))
                back.append(ir.Let(rest, ir.Call(ir.Const(slice), bounds), handler.span))
                back.append(ir.Let(None, ir.Call(ir.Const(operator.delitem), (items, rest)), handler.span))
            body = ir.Block((*back, *handler.body.statements), handler.body.yields)
            handlers.append(ir.replace(handler, body=body))
        return ir.replace(statement, handlers=tuple(handlers))

    def _exported(self, statement: ir.Statement, blocks: list[ir.Block], sides: range) -> list[ir.Var]:
        """The results by which variables of the blocks of a statement are seen after it; the blocks yield them."""
        results = []
        for side, inner, outer, otherwise in self.planner.exports.get(id(statement), []):
            results.append(outer)
            for k in sides:
                gives = inner if k == side else otherwise
                blocks[k] = ir.Block(blocks[k].statements, (*blocks[k].yields, gives))
        return results

    def _iteration(self, block: ir.Block, params: tuple[ir.Var, ...]) -> ir.Block:
        self.depth += 1
        made = self._body(block, params)
        self.depth -= 1
        return made

    def _body(self, block: ir.Block, params: tuple[ir.Var, ...]) -> ir.Block:
        inner = self.block(block)
        first = [save for var in params for save in self.saves.get(var, [])]
        return ir.Block((*first, *inner.statements), inner.yields)

    def _leave_last(self, original: ir.Statement, loop: L) -> L:
        rows = self.planner.leaving.get(id(original), [])
        body = ir.Block(loop.body.statements, (*loop.body.yields, *(given for _, given in rows)))
        return ir.replace(loop, body=body, carried=(*loop.carried, *(c for c, _ in rows)))

    def _count(self, original: ir.Statement, loop: L) -> L:
        """A loop that counts its iterations, where the reverse sweep asks for their number."""
        counter = self.planner.counters.get(id(original))
        if counter is None:
            return loop
        param, following, result = counter
        one_more = ir.Let(following, ir.Call(ir.Const(operator.add), (param, ir.Const(1))), loop.span)
        body = ir.Block((one_more, *loop.body.statements), (*loop.body.yields, following))
        carried = (*loop.carried, ir.Carried(param, ir.Const(0), result))
        return ir.replace(loop, body=body, carried=carried)
