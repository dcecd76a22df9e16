"""Checkpoints as the passes before the reverse one leave them: functions and loops that the reverse sweep replays.

    # again                                 y.1 = if True: [again]
    h = np.tanh(x)                              h = np.tanh(x)
    y = h * h                   ->              y = h * h
    # end of again                              yield y
    return y                                return y.1

The specialiser puts notes around what a checkpointed function comes to; ``group`` makes a block of that, so that it is
seen which of its variables others read. A loop says it itself, by ``snapshots``.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any

from s2s import runtime as rt
from s2s.analysis.effects import WRITES_OUTSIDE, writes_outside
from s2s.analysis.functions import does_nothing_else, facts
from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.values import UNKNOWN, Array, Known, Range, Scalar, Sequence
from s2s.errors import error
from s2s.optimize.dead import is_pure
from s2s.optimize.rewriting import count_uses, substitute
from s2s.rules import table

__all__ = [
    "FirstRun", "asked", "group", "is_asked", "is_replayed", "name_of_call", "plain", "refuse_asked",
    "repeated", "ungrouped",
]


@dataclass
class FirstRun:
    """What the forward sweep does for a block that is replayed: ``before`` it, at the ``start`` of every iteration, and
    with the calls that may give something else later. ``kept`` are the variables that the reverse sweep reads of it."""

    before: list[ir.Statement] = field(default_factory=list)
    start: list[ir.Statement] = field(default_factory=list)
    calls: ir.Var | None = None
    kept: list[ir.Var] = field(default_factory=list)


# --- checkpointed functions -----------------------------------------------------------------------------------------


def ungrouped(function: ir.Function) -> ir.Function:
    """The function without the notes: for modes in which nothing is replayed."""

    def block(b: ir.Block) -> ir.Block:
        inner = (ir.with_blocks(s, map(block, ir.blocks_of(s))) for s in b.statements if not _section(s))
        return ir.Block(tuple(inner), b.yields)

    return ir.replace(function, body=block(function.body))


def group(function: ir.Function, context: Context) -> ir.Function:
    """The function with the statements between the notes as a block of its own, ``if True`` with results."""
    if not any(map(_section, ir.walk(function.body))):
        return function
    uses, renamed = count_uses(function.body), dict[ir.Atom, ir.Atom]()

    def block(b: ir.Block) -> ir.Block:
        made: list[ir.Statement] = []
        open_: list[tuple[int, ir.Span | None]] = []
        for s in b.statements:
            if _section(s) == ir.BEGIN_REPLAY:
                open_.append((len(made), s.span))  # type: ignore[union-attr]
            elif _section(s) == ir.END_REPLAY:
                at, span = open_.pop()
                made[at:] = [_as_block(made[at:], span)] if len(made) > at else []
            else:
                s = substitute(s, renamed)
                s = ir.with_blocks(s, [block(inner) for inner in ir.blocks_of(s)])
                made.append(_with_leave(s, renamed))
        return ir.Block(tuple(made), tuple(renamed.get(a, a) for a in b.yields))

    def _as_block(statements: list[ir.Statement], span: ir.Span | None) -> ir.Statement:
        inside = count_uses(ir.Block(tuple(statements)))
        results, yields = [], []
        for var in _defined(statements):
            if uses[var] > inside[var]:
                seen = context.define(var.name, context.value(var), var in context.varied)
                if var in context.names:
                    context.names[seen] = context.names[var]
                uses[seen] = uses[var] - inside[var]
                renamed[var] = seen
                results.append(seen)
                yields.append(var)
        then, orelse = ir.Block(tuple(statements), tuple(yields)), ir.Block((), (ir.UNDEFINED,) * len(yields))
        return ir.If(ir.Const(True), then, orelse, tuple(results), span, replayed=True)

    return ir.replace(function, body=block(function.body))


def repeated(function: ir.Function, context: Context) -> ir.Function:
    """The function with its whole body as a block that the reverse sweep replays."""
    result = function.body.yields[0]
    seen = context.define("out", context.value(result), context.is_varied(result))
    block = ir.If(
        ir.Const(True), function.body, ir.Block((), (ir.UNDEFINED,)), (seen,), function.span, replayed=True)
    return ir.replace(function, body=ir.Block((block,), (seen,)))


def _with_leave(s: ir.Statement, renamed: dict[ir.Atom, ir.Atom]) -> ir.Statement:
    """A loop whose ``leave`` is what a block inside its body gives."""
    if isinstance(s, (ir.For, ir.While)) and s.leave is not None:
        return ir.replace(s, leave=renamed.get(s.leave, s.leave))
    return s


def is_replayed(s: ir.Statement) -> bool:
    """Whether the reverse sweep replays what stands in a statement."""
    return (isinstance(s, ir.If) and s.replayed) or (isinstance(s, (ir.For, ir.While)) and s.snapshots is not None)


def _section(s: ir.Statement) -> str:
    return s.section if isinstance(s, ir.Note) and s.section in (ir.BEGIN_REPLAY, ir.END_REPLAY) else ""


def _defined(statements: Any) -> list[ir.Var]:
    """The variables that statements define for what follows them."""
    found: list[ir.Var] = []
    for s in statements:
        found += ir.defs_of(s)
        if isinstance(s, ir.With):
            found += _defined(s.body.statements)
    return found


# --- the forward sweep ----------------------------------------------------------------------------------------------


def plain(context: Context, block: ir.Block, calls: ir.Var | None = None) -> ir.Block:
    """A block as the primal has it, with nothing in it that runs again; ``calls`` keeps what may be different when it
    is called once more."""
    made: list[ir.Statement] = []
    pairs: dict[Any, ir.Call] = {}
    for s in block.statements:
        inner = [plain(context, b, calls) for b in ir.blocks_of(s)]
        match s:
            case ir.If(replayed=True):
                made += inner[0].statements
                made += [ir.Let(r, a, s.span) for r, a in zip(s.results, inner[0].yields, strict=True)]
            case ir.For() | ir.While():
                made.append(ir.replace(ir.with_blocks(s, inner), snapshots=None))
            case ir.Let(target) if target in context.old_contents:
                continue
            case ir.Let(target, ir.Call()) if calls is not None and is_asked(context, s, calls in context.keeping):
                made += _kept(context, s, target, calls)
            case ir.Let(target, ir.Call(ir.Const(value=fn)) as call) if fn in _PAIRED:
                pairs[target] = call
            case ir.Let(target, ir.Call(ir.Const(value=ops.unpack), (pair, *_))) if pair in pairs:
                pairs[target] = pairs[pair]
            case ir.Let(target, ir.Call(ir.Const(value=operator.getitem), (pair, k))) if pair in pairs:
                made += _called(context, target, pairs[pair], s.span) if k == ir.Const(0) else []
            case _:
                made.append(ir.with_blocks(s, inner))
    return ir.Block(tuple(made), block.yields)


_PAIRED = (rt.call, rt.call_again, rt.call_method, rt.call_method_again)


def _called(context: Context, target: ir.Var | None, pair: ir.Call, span: ir.Span | None) -> list[ir.Statement]:
    """A call that is decided at run time, without a pullback."""
    builder = Builder(context)
    fn, args = pair.args[0], pair.args[1:]
    if pair.fn in (ir.Const(rt.call_method), ir.Const(rt.call_method_again)):
        fn, args = builder.call(getattr, *pair.args[:2], span=span), pair.args[2:]  # type: ignore[arg-type]
    builder.add(ir.Let(target, ir.Call(fn, args, pair.kwargs), span))  # type: ignore[arg-type]
    return builder.statements


def _kept(context: Context, s: ir.Let, target: ir.Var | None, calls: ir.Var) -> list[ir.Statement]:
    builder = Builder(context)
    value = builder.let(s.value, UNKNOWN, span=s.span)
    keep = builder.call(getattr, calls, ir.Const("keep"), span=s.span)
    builder.add(ir.Let(target, ir.Call(keep, (value,)), s.span))
    return builder.statements


# --- calls that may give something else when they are called again ----------------------------------------------------

_READS = (ir.Const(operator.getitem), ir.Const(getattr), ir.Const(len))


def is_asked(context: Context, s: ir.Statement, reads: bool = False) -> bool:
    """Whether a statement calls what may give something else when it is called again, or do something else; with
    ``reads`` also whether it reads a container or an object from outside, which such a call may change."""
    if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call) or (s.target and context.is_varied(s.target)):
        return False
    fn = s.value.fn
    if s.value.args and s.value.args[0] in context.runtime_objects:
        return False
    if reads and fn in _READS and s.target not in context.callees:
        held = context.value(s.value.args[0])  # type: ignore[arg-type]
        return not isinstance(held, (Array, Range, Known)) and not (
            isinstance(held, Sequence) and held.type is not list)
    consumes = isinstance(fn, ir.Const) and facts(fn.value).consumes
    if consumes and s.value.args and context.value(s.value.args[0]) == UNKNOWN:  # type: ignore[arg-type]
        return True  # what is left of an iterator
    if isinstance(fn, ir.Const):
        return fn != ir.Const(print) and fn not in WRITES_OUTSIDE and not _gives_the_same(fn.value, s.value.kwargs)
    method = context.definition(fn, getattr)
    return method is None or (method[0] not in context.runtime_objects and not isinstance(
        context.value(method[0]), (Array, Scalar, Sequence, Range)))


def _gives_the_same(fn: Any, kwargs: Any) -> bool:
    by_rule = table.find(fn) is not None
    return fn in _PAIRED or fn in ops.STACKS or does_nothing_else(fn, kwargs) or (is_pure(fn) and not by_rule)


def asked(context: Context, block: ir.Block) -> list[ir.Let]:
    """The statements of a block, and of those inside it, that ask for what may be something else the next time."""
    return [s for s in ir.walk(block) if is_asked(context, s)]  # type: ignore[misc]


def refuse_asked(context: Context, block: ir.Block) -> None:
    """Raise where a block asks for what may be something else the next time."""
    writes = [s for s in ir.walk(block) if isinstance(s, ir.Let) and writes_outside(s)]
    for s in (*asked(context, block), *writes):
        raise error("S2S155", span=s.span, name=name_of_call(context, s))


def name_of_call(context: Context, s: ir.Let) -> str:
    """What the function is called that a statement calls."""
    assert isinstance(s.value, ir.Call)
    fn = s.value.fn
    method = context.definition(fn, getattr)
    if method is not None:
        return str(method[1]).strip("'")
    return getattr(fn.value, "__qualname__", repr(fn.value)) if isinstance(fn, ir.Const) else fn.name.lstrip("%")
