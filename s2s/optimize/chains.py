"""Chains of arithmetic on arrays of a module that can compile a function of elements (CuPy's ``fuse``): each becomes
such a function, which reads its operands once and makes no array for what is between.

    t = np.sin(x) * y                       def chain(x, y):
    s = np.sum(t * t)                           t = np.sin(x) * y
    x_bar = 2.0 * t * y * np.cos(x)    ->       return t * t, 2.0 * t * y * np.cos(x)

                                            t0, x_bar = rt.fused(chain, x, y)
                                            s = np.sum(t0)

The functions stand on top of the one that calls them: ``rt.fused`` finds what was compiled by their code.
"""

from __future__ import annotations

import itertools
import operator
import types
from collections import Counter

from s2s import runtime as rt
from s2s.analysis.memory import Memory
from s2s.builder.builder import UNKNOWN, Builder, Context
from s2s.core import ir, ops
from s2s.core.array_classes import compiled_for, module_of_arrays
from s2s.core.values import Array, Sequence
from s2s.optimize.chain_steps import ChainSteps, plain_function
from s2s.optimize.loops.groups import Group, Groups, Single
from s2s.optimize.loops.steps import Step
from s2s.optimize.rewriting import count_uses, map_blocks
from s2s.optimize.sections import Titles, in_order, statements_of

__all__ = ["in_chains"]

LEAST, MOST = 2, 60
"""So many operations a chain has: one is one call as it is, and very long functions take a compiler very long."""


def in_chains(function: ir.Function, context: Context) -> ir.Function:
    """The function with its chains as functions, where the module of its arrays compiles these."""
    module = module_of_arrays(compiled_for())
    if module is None or not callable(getattr(module, "fuse", None)) or not hasattr(module, "ufunc"):
        return function
    return _Chains(function, context, module).run()


class _Groups(Groups):
    def _floats(self, one: Single) -> bool:
        """Values taken from a stack stand as early as they may too: what reads them joins what does not."""
        call = one.statement.value if isinstance(one.statement, ir.Let) else None
        is_pop = isinstance(call, ir.Call) and call.fn in _POPS
        return super()._floats(one) or (is_pop and not one.effects.is_fixed)


_POPS = (ir.Const(list.pop), ir.Const(ops.pull))


class _Chains:
    def __init__(self, function: ir.Function, context: Context, module: types.ModuleType) -> None:
        self.function = function
        self.context = context
        self.module = module
        self.steps = ChainSteps(function, context, module)
        self.groups = _Groups(function, self.steps, Memory(function, context.value))
        self.uses = count_uses(function.body)
        self.made: list[ir.Statement] = []
        """The functions."""

    def run(self) -> ir.Function:
        body = self._block(self.function.body, True)
        if not self.made and body == self.function.body:
            return self.function
        about = [ir.Note("arithmetic on elements: each function is one pass over its arrays")] if self.made else []
        return ir.replace(self.function, body=ir.Block((*about, *self.made, *body.statements), body.yields))

    def _block(self, block: ir.Block, is_whole: bool = False) -> ir.Block:
        titles = Titles(block if is_whole else ir.Block(()))
        statements = tuple(s for s in block.statements if not titles.has(s))
        items = self.groups.block(statements)
        chains = {id(item): chains for item in items if isinstance(item, Group) and (chains := self._chains(item))}
        if not chains:
            return ir.Block(tuple(map(self._inside, block.statements)), block.yields)
        made: list[ir.Statement] = []
        for item in in_order(items, statements, chains, titles):
            if id(item) in chains:
                for one in chains[id(item)]:
                    self.made.append(one.function(titles))
                    made += one.call(titles)
                continue
            for s in statements_of(item):
                titles.put(made, s)
                made.append(self._inside(s))
        return ir.Block(tuple(made), block.yields)

    def _inside(self, s: ir.Statement) -> ir.Statement:
        match s:
            case ir.Let(_, ir.MakeFunction(inner) as value):  # a pullback
                made = _Chains(inner, self.context, self.module).run()
                return s if made is inner else ir.replace(s, value=ir.replace(value, function=made))
        return map_blocks(s, self._block)

    def _chains(self, group: Group) -> list[_Chain]:
        """What writes the chains of a group; nothing where it has too few operations."""
        found: list[_Chain] = []
        uses = Counter(self.uses)
        for steps in _pieces(group.steps):
            chain = _Chain(steps, self.context, uses)
            if len(steps) < LEAST or not chain.kept:
                return []
            found.append(chain)
        return found


def _pieces(steps: list[Step]) -> list[list[Step]]:
    """The operations of a group in order, as many in each part as one function may have, and none alone."""
    count = -(-len(steps) // MOST)
    size = -(-len(steps) // count)
    found = [steps[k : k + size] for k in range(0, len(steps), size)]
    if len(found) > 1 and len(found[-1]) < LEAST:
        found[-2:] = [[*found[-2], *found[-1]]]
    return found


class _Chain:
    """One function, and its call. ``kept`` are its results, ``operands`` what it is given."""

    def __init__(self, steps: list[Step], context: Context, uses: Counter[ir.Atom]) -> None:
        self.steps = steps
        self.context = context
        within = Counter(a for step in steps for a in ir.reads_of(step.statement))
        own = [step.statement.target for step in steps if isinstance(step.statement, ir.Let)]
        self.kept = [var for var in own if var is not None and uses[var] > within[var]]
        self.operands = [a for a in dict.fromkeys(within) if isinstance(a, ir.Var) and a not in own]
        self.name = context.define("chain", UNKNOWN)
        self.span = steps[0].statement.span

    def function(self, titles: Titles) -> ir.Statement:
        """The statement that makes the function."""
        context, inner = self.context, Builder(self.context)
        params = {a: context.define(name, context.value(a)) for a, name in self._parameters().items()}
        renamed: dict[ir.Atom, ir.Atom] = {a: param for a, param in params.items()}  # noqa: C416 (other types)
        own = titles.inside()
        is_mixed = titles.are_mixed(step.statement for step in self.steps)
        for step in self.steps:
            s = step.statement
            assert isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.target is not None
            if is_mixed:
                own.put(inner.statements, s)
            call = ir.map_atoms(s.value, lambda a: renamed.get(a, a))
            assert isinstance(call, ir.Call) and isinstance(call.fn, ir.Const)
            target = renamed[s.target] = context.define(s.target.name, context.value(s.target))
            is_number_first = not isinstance(context.value(call.args[0]), Array)  # type: ignore[arg-type]
            fn = ir.Const(plain_function(call.fn.value, is_number_first))
            inner.add(ir.Let(target, ir.replace(call, fn=fn), s.span))
        results = [renamed[var] for var in self.kept]
        result = results[0] if len(results) == 1 else inner.call(ops.make_tuple, *results)
        made = ir.Function("chain", tuple(map(ir.Param, params.values())), inner.block(result), span=self.span)
        self._note_lengths()
        return ir.Let(self.name, ir.MakeFunction(made, ()))

    def _parameters(self) -> dict[ir.Var, str]:
        """What the parameters are called, each in another way: as the operands, where these have names."""
        names: dict[ir.Var, str] = {}
        taken = {a.name for a in self.operands}
        for a in self.operands:
            name = a.name
            if a.is_temporary or name in names.values():
                base, count = ("a" if a.is_temporary else name), itertools.count()
                name = next(one for k in count if (one := f"{base}{k}") not in taken)
            names[a] = name
            taken.add(name)
        return names

    def _note_lengths(self) -> None:
        """That lengths fit is still asked, by the call."""
        forced = self.context.forced
        pairs = [pair for step in self.steps for var in ir.defs_of(step.statement) for pair in forced.get(var, ())]
        if pairs:
            forced[self.kept[0]] = tuple(dict.fromkeys(pairs))

    def call(self, titles: Titles) -> list[ir.Statement]:
        """The statements that call the function."""
        made, statements = ir.Call(ir.Const(rt.fused), (self.name, *self.operands)), list[ir.Statement]()
        own = [step.statement for step in self.steps]
        if titles.are_mixed(own):
            titles.begin_both(statements)
        else:
            titles.put(statements, own[0])
        if len(self.kept) == 1:
            return [*statements, ir.Let(self.kept[0], made, self.span)]
        known = Sequence(tuple, tuple(map(self.context.value, self.kept)))
        together = self.context.define("%", known, definition=made)
        count = ir.Call(ir.Const(ops.unpack), (together, ir.Const(len(self.kept)), ir.Const(None)))
        parts = self.context.define("%", known, definition=count)
        statements += [ir.Let(together, made, self.span), ir.Let(parts, count, self.span)]
        for k, var in enumerate(self.kept):
            statements.append(ir.Let(var, ir.Call(ir.Const(operator.getitem), (parts, ir.Const(k))), self.span))
        return statements
