"""A function in SSA form -> the same function that tells an observer of each operation with a derivative rule.

    y = np.floor(x)       ->      y = rt.observed(np.floor, "model.py:12", x)
    if y > 0.0:                   if rt.observed_test("model.py:13", y > 0.0):

``s2s.check_grads`` finds with it where a derivative is one by choice, and where one is wrong.
"""

from __future__ import annotations

from s2s import runtime as rt
from s2s.builder.builder import Builder, Context
from s2s.core import ir
from s2s.core.inspection import is_hashable
from s2s.directives.policies import Chosen, stop_gradient
from s2s.reverse.structural import is_structural
from s2s.rules import table

_KINDS = ("partials", "several", "straight_through", "linear", "vjp")


def observe(function: ir.Function, context: Context) -> ir.Function:
    """The function, observed."""
    return ir.replace(function, body=_block(function.body, context))


def _block(block: ir.Block, context: Context) -> ir.Block:
    builder = Builder(context)
    for s in block.statements:
        inner = ir.blocks_of(s)
        if inner:
            s = ir.with_blocks(s, [_block(b, context) for b in inner])
        if isinstance(s, ir.If) and s.span is not None:
            test = builder.let(ir.Call(ir.Const(rt.observed_test), (_place(s.span), s.test)), context.value(s.test))
            s = ir.replace(s, test=test)
        builder.add(_observed(s, context) if isinstance(s, ir.Let) else s)
    return builder.block(*block.yields)


def _observed(s: ir.Let, context: Context) -> ir.Let:
    value = s.value
    if s.span is None or s.target is None or not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const):
        return s
    fn = value.fn.value
    by_choice = isinstance(fn, Chosen) or fn is stop_gradient
    varied = context.is_varied(s.target) or (by_choice and any(map(context.is_varied, ir.atoms_of(value))))
    if not varied or any(isinstance(a, ir.Star) for a in value.args):
        return s
    rule = table.find(fn) if is_hashable(fn) and not is_structural(fn) else None
    if rule is None or (rule.kind not in _KINDS and not by_choice):
        return s
    why = getattr(fn.how, "why", "") if isinstance(fn, Chosen) else ""
    told = (ir.Const(rt.observed_step), ir.Const(why)) if why else (ir.Const(rt.observed),)
    args = (value.fn, *told[1:], _place(s.span), *value.args)
    return ir.replace(s, value=ir.Call(told[0], args, value.kwargs))


def _place(span: ir.Span) -> ir.Const:
    return ir.Const(f"{span.file.rsplit('/', 1)[-1]}:{span.line}")


__all__ = ["observe"]
