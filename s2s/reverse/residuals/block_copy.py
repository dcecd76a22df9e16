"""A block of the primal once more, under other names: what stands in front of its reverse where it is replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from s2s.analysis.effects import WRITES_OUTSIDE
from s2s.builder.builder import Builder
from s2s.core import ir
from s2s.reverse.residuals.sweep import Sweep
from s2s.specialize.checkpoints import is_asked

if TYPE_CHECKING:
    from s2s.reverse.sweeps import Reverser

__all__ = ["BlockCopy"]


class BlockCopy:
    """Writes a block once more, under other names. ``outer`` is the sweep that reads what comes from outside the block;
    ``calls`` gives again what was asked for."""

    def __init__(
        self, reverser: Reverser, outer: Sweep, mapping: dict[ir.Atom, ir.Atom], names: dict[ir.Var, ir.Var],
        calls: ir.Atom | None,
    ) -> None:
        self.reverser = reverser
        self.context = reverser.context
        self.outer = outer
        self.mapping = mapping
        self.names = names
        self.calls = calls

    def atom(self, a: ir.Atom) -> ir.Atom:
        if not isinstance(a, ir.Var):
            return a
        if a not in self.mapping:
            self.mapping[a] = self.reverser.planner.use(self.outer, a)
        return self.mapping[a]

    def define(self, var: ir.Var, definition: ir.Value | None = None) -> ir.Var:
        """What a variable of the block is called in the copy."""
        context = self.context
        made = self.names.get(var)
        if made is None:
            made = context.define(var.name, context.value(var), var in context.varied, definition)
            if var in context.names:
                context.names[made] = context.names[var]
        elif definition is not None:
            context.definitions[made] = definition
        if var in context.unbound:
            context.unbound[made] = context.unbound[var]
        for kind in (context.runtime_objects, context.keeping):
            if var in kind:
                kind.add(made)
        self.mapping[var] = made
        return made

    def maybe(self, var: ir.Var | None) -> ir.Var | None:
        return None if var is None else self.define(var)

    def block(self, b: ir.Block) -> ir.Block:
        statements = tuple(made for s in b.statements for made in self.statement(s))
        return ir.Block(statements, tuple(map(self.atom, b.yields)))

    def carry(self, carried: tuple[ir.Carried, ...]) -> list[tuple[ir.Var, ir.Atom]]:
        inits = [self.atom(c.init) for c in carried]
        return [(self.define(c.param), init) for c, init in zip(carried, inits, strict=True)]

    def statement(self, s: ir.Statement) -> list[ir.Statement]:
        match s:
            case ir.Note() | ir.Assert():  # it held when the forward sweep came here
                return []
            case ir.Let(None, ir.Call(fn)) if fn == ir.Const(print) or fn in WRITES_OUTSIDE:
                return []
            case ir.Let(target, ir.Call()) if self.calls is not None and is_asked(
                self.context, s, self.calls in self.context.keeping
            ):
                return self._replay_call(s, target)
            case ir.Let(target, value):
                value = ir.map_atoms(value, self.atom)
                return [ir.Let(None if target is None else self.define(target, value), value, s.span)]
            case ir.Store(kind, target, key, value, op):
                return [] if kind == "opaque" else [
                    ir.Store(kind, self.atom(target), self.atom(key), self.atom(value), op, s.span)]
            case ir.If(test, then, orelse, results):
                test, then, orelse = self.atom(test), self.block(then), self.block(orelse)
                return [ir.If(test, then, orelse, tuple(map(self.define, results)), s.span)]
            case ir.For(item, iterable, body, carried, leave, left):
                iterable, rows = self.atom(iterable), self.carry(carried)
                item, body = self.define(item), self.block(body)
                leave = None if leave is None else self.atom(leave)
                after = tuple(ir.Carried(p, i, self.define(c.result)) for (p, i), c in zip(rows, carried, strict=True))
                return [ir.For(item, iterable, body, after, leave, self.maybe(left), span=s.span)]
            case ir.While(test, body, carried, leave, left):
                rows = self.carry(carried)
                test, body = self.block(test), self.block(body)
                leave = None if leave is None else self.atom(leave)
                after = tuple(ir.Carried(p, i, self.define(c.result)) for (p, i), c in zip(rows, carried, strict=True))
                return [ir.While(test, body, after, leave, self.maybe(left), span=s.span)]
            case ir.With(manager, target, body, ended):
                manager, target = self.atom(manager), self.maybe(target)
                return [ir.With(manager, target, self.block(body), self.maybe(ended), s.span)]
            case ir.Try(body, handlers, orelse, results, caught):
                body, orelse = self.block(body), self.block(orelse)
                handlers = tuple(map(self.handler, handlers))
                results = tuple(map(self.define, results))
                after = None if caught is None else self.mapping[caught]  # type: ignore[assignment]
                return [ir.Try(body, handlers, orelse, results, after, span=s.span)]  # type: ignore[arg-type]
            case ir.Raise(exception, cause):
                return [ir.Raise(exception and self.atom(exception), cause and self.atom(cause), s.span)]
            case ir.Return() | ir.Break() | ir.Continue():
                raise AssertionError("not in SSA form")
            case _:
                assert_never(s)

    def handler(self, h: ir.Handler) -> ir.Handler:
        kinds, name = tuple(map(self.atom, h.kinds)), self.maybe(h.name)
        return ir.replace(h, kinds=kinds, name=name, body=self.block(h.body))

    def _replay_call(self, s: ir.Let, target: ir.Var | None) -> list[ir.Statement]:
        assert isinstance(s.value, ir.Call) and self.calls is not None
        builder = Builder(self.context)
        again = builder.call(getattr, self.calls, ir.Const("again"), span=s.span)
        made = ir.map_atoms(s.value, self.atom)
        assert isinstance(made, ir.Call)
        call = ir.Call(again, (made.fn, *made.args), made.kwargs)
        builder.add(ir.Let(None if target is None else self.define(target), call, s.span))
        return builder.statements
