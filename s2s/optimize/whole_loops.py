"""Loops whose iterations are independent: all of them are done at once, in operations on arrays.

    for i in range(k + 1, n):                           a[k + 1 :, k + 1 :] -= a[k + 1 :, k][:, None] * a[k, k + 1 :]
        a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]  ->

    total = 0.0
    for i in range(k):
        total += r[k - i - 1] * y[i]              ->    total = np.sum(r[:k][::-1] * y[:k])

It is a pass over the primal: both sweeps have the operations on arrays. A loop qualifies where no iteration reads or
writes what another one writes, where all places lie inside their arrays, and where what it makes are float64 numbers,
or vectors of them; sums may go through all iterations. The rest stays a loop.
"""

from __future__ import annotations

import operator
from typing import Any

from s2s.analysis.memory import Memory
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.values import Array
from s2s.optimize.iterations import Iterations, Refused, parts_of
from s2s.optimize.lanes import Lanes
from s2s.optimize.loops.accesses import Views
from s2s.optimize.matrix_products import rank
from s2s.optimize.ranges import constant_range
from s2s.optimize.rewriting import count_uses, map_blocks
from s2s.optimize.sequential import tell_loops

__all__ = ["write_whole_loops"]

_FEW = 4
"""The number of iterations up to which a loop stays one."""


def write_whole_loops(
    function: ir.Function, context: Context, exact: bool = False, products: bool = False
) -> ir.Function:
    """The function with operations on arrays for loops whose iterations are independent, the innermost first; its value
    stays the same to the last bit where that is asked for. Where only ``products`` are wanted, loops stay in which no
    product of matrices is found."""
    if any(isinstance(s, ir.Try) for s in ir.walk(function.body)):
        return function  # what was done before an exception would be seen
    if not products:
        made = _written(function, context, exact)[0]
        if context.stages is not None:
            tell_loops(made, context, exact, _FEW)
        return made
    known, facts = _known(context), [set(one) for one in _facts(context)]
    written = _written(function, context, exact)[1]
    chosen = _with_products(function.body, written, context)
    context.values, context.definitions, context.forced = known
    for one, before in zip(_facts(context), facts, strict=True):
        one.intersection_update(before)
    return _written(function, context, exact, chosen)[0] if chosen else function


def _known(context: Context) -> tuple[Any, Any, Any]:
    return dict(context.values), dict(context.definitions), dict(context.forced)


def _facts(context: Context) -> tuple[set[Any], ...]:
    """What guards are made of."""
    facts = context.evaluator.facts
    return facts.assumed, facts.alike, facts.needed, facts.bounded, context.must_keep


def _written(
    function: ir.Function, context: Context, exact: bool, chosen: set[ir.Var] | None = None
) -> tuple[ir.Function, dict[ir.Var, list[ir.Statement]]]:
    """The function without loops that are done at once, of those ``chosen`` by their items, and what is done for
    each."""
    made_here: set[Any] = set()
    written: dict[ir.Var, list[ir.Statement]] = {}
    while any(isinstance(s, ir.For) and _may_be_whole(s) for s in ir.walk(function.body)):
        writer = _Writer(function, context, exact, made_here, chosen)
        made = writer.block(function.body)
        if not writer.written:
            break
        written |= writer.written
        function = ir.replace(function, body=made)
    return function, written


def _with_products(block: ir.Block, written: dict[ir.Var, list[ir.Statement]], context: Context) -> set[ir.Var]:
    """The items of loops that become products of matrices, and of those inside these."""
    chosen: set[ir.Var] = set()
    for s in block.statements:
        if isinstance(s, ir.For) and any(_is_product(w, context) for w in written.get(s.item, ())):
            chosen.update((s.item, *(inner.item for inner in ir.walk(s.body) if isinstance(inner, ir.For))))
            continue
        for inner in ir.blocks_of(s):
            chosen |= _with_products(inner, written, context)
    return chosen


def _is_product(s: ir.Statement, context: Context) -> bool:
    """Whether a statement multiplies two matrices."""
    if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call) or s.value.fn != ir.Const(operator.matmul):
        return False
    return all(rank(context.value(a)) == 2 for a in s.value.args)  # type: ignore[arg-type]


def _may_be_whole(loop: ir.For) -> bool:
    """Whether a loop looks as if its iterations could be done at once."""
    if loop.leave is not None or loop.snapshots is not None or loop.orelse.statements or not loop.body.statements:
        return False
    return all(
        (isinstance(s, ir.Let) and s.target is not None and isinstance(s.value, ir.Call) and _is_plain(s.value))
        or (isinstance(s, ir.Store) and s.kind == "item" and s.was is None and s.op in _STORES)
        for s in loop.body.statements
    )


def _is_plain(call: ir.Call) -> bool:
    return isinstance(call.fn, ir.Const) and not any(isinstance(a, ir.Star) for a in call.args)


_STORES = (None, operator.add, operator.sub, operator.mul, operator.truediv)


class _Writer:
    """Writes the loops of one function. ``met`` are places that were read or written before, with the lengths of their
    axes: these lie inside; ``made`` the variables of loops that are none any more. ``written`` is what loops became."""

    def __init__(
        self, function: ir.Function, context: Context, exact: bool, made: set[Any], chosen: set[ir.Var] | None
    ) -> None:
        self.context = context
        self.exact = exact
        self.made = made
        self.chosen = chosen
        self.views = Views(function, context.value)
        self.memory = Memory(function, context.value)
        self.met: set[Any] = set()
        self.written: dict[ir.Var, list[ir.Statement]] = {}

    def block(self, block: ir.Block) -> ir.Block:
        made: list[ir.Statement] = []
        before = set(self.met)
        for s in block.statements:
            whole = self._whole(s) if isinstance(s, ir.For) and _may_be_whole(s) else None
            made += [map_blocks(s, self.block)] if whole is None else whole
            self._meet(s)
        self.met = before
        return ir.Block(tuple(made), block.yields)

    def _whole(self, loop: ir.For) -> list[ir.Statement] | None:
        bounds = self.context.definition(loop.iterable, range)
        known = constant_range(self.context, loop.iterable)
        if self.chosen is not None and loop.item not in self.chosen:
            return None
        if bounds is None or (known is not None and len(known) <= _FEW) or self._is_kept(loop):
            return None
        start, stop, step = (ir.Const(0), *bounds, ir.Const(1)) if len(bounds) == 1 else (*bounds, ir.Const(1))[:3]
        if step not in (ir.Const(1), ir.Const(-1)):
            return None
        loop = self._without_unread(loop)
        iterations = Iterations(loop, start, stop, self.context, self.views, step == ir.Const(-1))
        if step == ir.Const(-1):
            one, call = ir.Const(1), iterations.builder.call
            iterations.low, iterations.high = call(operator.add, stop, one), call(operator.add, start, one)
        taken = _facts(self.context)
        before, forced = [set(one) for one in taken], dict(self.context.forced)
        try:
            statements = Lanes(iterations, self.memory, self.met, self.exact).write()
        except Refused:  # nothing is relied on for what is not written
            for facts, content in zip(taken, before, strict=True):
                facts.intersection_update(content)
            self.context.forced = forced
            return None
        self.written[loop.item] = statements
        self.made.update(d for s in statements for d in ir.defs_of(s) if d not in iterations.inside)
        return statements

    def _without_unread(self, loop: ir.For) -> ir.For:
        """A loop without what nothing reads: of the loops in it which are none any more, and what ``x[k] += v`` would
        read of a list."""
        uses = count_uses(loop.body)
        stored = {(s.target, s.key) for s in loop.body.statements if isinstance(s, ir.Store)}
        kept = tuple(
            s for s in loop.body.statements
            if not self._is_unread(s, stored) or any(uses[target] for target in ir.defs_of(s))
        )
        if len(kept) == len(loop.body.statements):
            return loop
        return self._without_unread(ir.replace(loop, body=ir.replace(loop.body, statements=kept)))

    def _is_unread(self, s: ir.Statement, stored: set[Any]) -> bool:
        if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call):
            return False
        if s.value.fn == ir.Const(operator.getitem) and s.value.args in stored:
            return True
        return s.target in self.made or any(s.value.fn == ir.Const(fn) for fn in (range, slice, ops.make_tuple))

    def _is_kept(self, loop: ir.For) -> bool:
        defined = ir.inner_defs_of(loop)
        kept = self.context.must_keep | self.context.effects | self.context.uncertain
        return not kept.isdisjoint([*defined, *(d for s in loop.body.statements for d in ir.defs_of(s))])

    def _meet(self, s: ir.Statement) -> None:
        """Note the single places of an access."""
        if isinstance(s, ir.Store) and s.kind == "item":
            source, key = s.target, s.key
        elif isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn == ir.Const(operator.getitem):
            source, key = s.value.args  # type: ignore[assignment]
        else:
            return
        known = self.context.value(source)
        if isinstance(known, Array) and known.shape:
            try:
                parts = parts_of(key, self.context)
            except Refused:
                return
            self.met.update((d, self.context.written(p)) for p, d in zip(parts, known.shape, strict=False))
