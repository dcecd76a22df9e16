"""``with`` and ``try``."""

from __future__ import annotations

import contextlib
import operator
import types
from collections.abc import Iterator, Sequence
from typing import Any

import libcst as cst

from s2s.core import ir
from s2s.core.ir import Const, Star
from s2s.frontend.lowering.assignments import assign_to
from s2s.frontend.lowering.bindings import Bindings, enter, own
from s2s.frontend.lowering.calls import lower_call
from s2s.frontend.lowering.context import Context, block_of
from s2s.frontend.lowering.refusals import refuse, refuse_async

__all__ = ["lower_try", "lower_with"]


# --- with ---------------------------------------------------------------------------------------------------


def lower_with(c: Context, node: cst.With, items: Sequence[cst.WithItem]) -> None:
    """``with a as x, b as y:`` is one ``with`` inside another."""
    if node.asynchronous is not None:
        refuse_async(c, node, node.items[-1])
    first, *rest = items
    enter(c, first.item)
    call = first.item if isinstance(first.item, cst.Call) else None
    plain = call is not None and first.asname is None and not any(arg.star for arg in call.args)
    if call is not None and plain and _means(c, call.func) is contextlib.suppress:
        _suppress(c, node, call, rest)
    else:
        _entered(c, node, first, c.atom(first.item), rest)


def _means(c: Context, node: cst.BaseExpression) -> Any:
    """The object that a global name, or an attribute of one, stands for while the function is lowered."""
    match node:
        case cst.Name() if isinstance(c.resolve(c.name(node)), ir.Load):
            return c.source.meaning(c.name(node))
        case cst.Attribute(value=value, attr=attr):
            owner = _means(c, value)
            return getattr(owner, c.name(attr), None) if isinstance(owner, types.ModuleType) else None
        case _:
            return None


def _suppress(c: Context, node: cst.With, call: cst.Call, rest: Sequence[cst.WithItem]) -> None:
    """``with contextlib.suppress(...)`` is a ``try`` whose handler does nothing, if the name still means that when the
    function is compiled."""
    made = lower_call(c, call)
    kinds = tuple(kind for kind in made.args if not isinstance(kind, Star))
    same = c.call(call.func, operator.is_, made.fn, Const(contextlib.suppress))
    with c.block() as guarded:
        body = _managed(c, node, rest)
        c.put(ir.Try(body, (ir.Handler(kinds, None, ir.Block(()), span=c.span(call)),), span=c.span(call)))
    with c.block() as other:
        c.put(ir.With(c.bind(made, call), None, _managed(c, node, rest), span=c.span(call)))
    c.put(ir.If(same, block_of(guarded), block_of(other), (), c.span(call)))


def _managed(c: Context, node: cst.With, rest: Sequence[cst.WithItem]) -> ir.Block:
    """The body of a ``with``: another one where there are more managers."""
    with c.block() as statements:
        if rest:
            lower_with(c, node, rest)
        else:
            c.suite(node.body)
    return block_of(statements)


def _entered(
    c: Context, node: cst.With, first: cst.WithItem, manager: ir.Atom, rest: Sequence[cst.WithItem]
) -> None:
    target = None if first.asname is None else first.asname.name
    variable = None
    if target is not None:
        variable = own(c, target) if isinstance(target, cst.Name) else c.temporary()
    with c.block() as statements:
        if variable is not None and target is not None and not isinstance(target, cst.Name):
            assign_to(c, target, variable, target)
        statements += _managed(c, node, rest).statements
    c.put(ir.With(manager, variable, block_of(statements), span=c.span(first)))


# --- try ----------------------------------------------------------------------------------------------------


def lower_try(c: Context, node: cst.Try) -> None:
    """``try``; the kinds of exceptions are evaluated before it."""
    kinds = [_kinds(c, node, handler) for handler in node.handlers]
    body = c.nested(node.body)
    handlers = tuple(_handler(c, handler, kind) for handler, kind in zip(node.handlers, kinds, strict=True))
    orelse = ir.Block(()) if node.orelse is None else c.nested(node.orelse.body)
    final = ir.Block(()) if node.finalbody is None else c.nested(node.finalbody.body)
    c.put(ir.Try(body, handlers, orelse, final=final, span=c.keyword_span(node, "try")))


def _kinds(c: Context, node: cst.Try, handler: cst.ExceptHandler) -> tuple[ir.Atom, ...]:
    """The classes of exceptions that a handler names: one for each item of a display."""
    kind = handler.type
    if kind is None:
        return ()
    found = Bindings(c)
    found.suite(node.body)
    if not found.locals.isdisjoint(map(c.name, _names_in(kind))):
        hint = "assign what the `except` names before the `try`"
        refuse(c, "S2S104", kind, "is assigned in the block that the exception interrupts", hint)
    enter(c, kind)
    if isinstance(kind, cst.Tuple) and not any(isinstance(e, cst.StarredElement) for e in kind.elements):
        return tuple(c.atom(element.value) for element in kind.elements)
    return (_class(c, kind),)


def _class(c: Context, node: cst.BaseExpression) -> ir.Atom:
    """A class of exceptions. Python looks it up when there is an exception: a name that a module lacks, as one that an
    older version had, stands for no class, and raises nothing as long as nothing is raised."""
    if not isinstance(node, cst.Attribute):
        return c.atom(node)
    return c.call(node, getattr, _class(c, node.value), ir.Const(node.attr.value), ir.Const(()))


def _names_in(node: cst.CSTNode) -> Iterator[cst.Name]:
    if isinstance(node, cst.Name):
        yield node
    for child in node.children:
        yield from _names_in(child)


def _handler(c: Context, node: cst.ExceptHandler, kinds: tuple[ir.Atom, ...]) -> ir.Handler:
    name = None if node.name is None else own(c, node.name.name)
    with c.block() as statements:
        c.suite(node.body)
        if name is not None:  # Python forgets the exception at the end
            c.let(name, ir.UNDEFINED, node)
    return ir.Handler(kinds, name, block_of(statements), span=c.keyword_span(node, "except"))
