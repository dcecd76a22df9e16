"""Comprehensions: loops that add to a list, set or dict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import libcst as cst

from s2s.core import ir, ops
from s2s.core.ir import Call, Const, Let, Var
from s2s.frontend.lowering.assignments import loop
from s2s.frontend.lowering.bindings import target_names
from s2s.frontend.lowering.context import GENERATED, Context, block_of
from s2s.frontend.lowering.refusals import refuse_async

__all__ = ["consumed", "lower_comprehension"]

_Comprehension: TypeAlias = cst.ListComp | cst.SetComp | cst.DictComp | cst.GeneratorExp

COMPREHENSIONS: dict[type[_Comprehension], Callable[..., Any]] = {
    cst.ListComp: ops.make_list, cst.GeneratorExp: ops.make_list, cst.SetComp: ops.make_set,
    cst.DictComp: ops.make_dict,
}


def consumed(c: Context, node: cst.BaseExpression) -> ir.Atom:
    """An argument or a loop's iterable: a generator expression is a list there."""
    return lower_comprehension(c, node) if isinstance(node, cst.GeneratorExp) else c.atom(node)


def lower_comprehension(c: Context, node: _Comprehension) -> Var:
    """A loop that adds to a list, set or dict. Its targets are its own variables, told apart by version."""
    result = c.temporary(GENERATED) if isinstance(node, cst.GeneratorExp) else c.temporary()
    c.let(result, Call(Const(COMPREHENSIONS[type(node)]), ()), node)
    c.comprehensions += 1
    _clause(c, node, node.for_in, result, c.comprehensions)
    return result


def _clause(c: Context, node: _Comprehension, clause: cst.CompFor, result: Var, number: int) -> None:
    """One ``for target in iterable if ...`` and what is inside it."""
    if clause.asynchronous is not None:
        refuse_async(c, clause)
    assert c.scope is not None
    iterable = consumed(c, clause.iter)
    c.scope.frames.append({name: Var(name, number) for name in target_names(c, clause.target)})
    item, body = loop(c, clause.target, lambda: _filtered(c, node, clause, clause.ifs, result, number))
    c.scope.frames.pop()
    c.put(ir.For(item, iterable, body, span=c.span(clause.target, clause.iter)))


def _filtered(
    c: Context, node: _Comprehension, clause: cst.CompFor, conditions: Sequence[cst.CompIf], result: Var,
    number: int,
) -> None:
    if conditions:
        test = c.atom(conditions[0].test)
        with c.block() as statements:
            _filtered(c, node, clause, conditions[1:], result, number)
        c.put(ir.If(test, block_of(statements), ir.Block(()), (), c.span(conditions[0].test)))
    elif clause.inner_for_in is not None:
        _clause(c, node, clause.inner_for_in, result, number)
    else:
        _add(c, node, result)


def _add(c: Context, node: _Comprehension, result: Var) -> None:
    match node:
        case cst.DictComp(key=key, value=value):
            entry = (c.atom(key), c.atom(value))
            c.put(Let(result, Call(Const(ops.put), (result, *entry)), c.span(key, value)))
        case cst.SetComp(elt=elt):
            c.let(result, Call(Const(ops.add_to_set), (result, c.atom(elt))), elt)
        case cst.ListComp(elt=elt) | cst.GeneratorExp(elt=elt):
            c.let(result, Call(Const(ops.append), (result, c.atom(elt))), elt)
