"""Functions, nested ones too: parameters, defaults, decorators, the scope of the body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import libcst as cst

from s2s.core import ir
from s2s.core.ir import Call, Let, Var
from s2s.frontend.lowering.bindings import Bindings, enter, own, walrus_names
from s2s.frontend.lowering.context import NONE, Context, Scope, block_of
from s2s.frontend.lowering.refusals import refuse_async

__all__ = ["LAMBDA", "FunctionNode", "lower_definition", "make_function", "nested_def"]

FunctionNode: TypeAlias = cst.FunctionDef | cst.Lambda

LAMBDA = "lambda_"  # the name of an ir.Function made from a lambda: an identifier, because it may be printed


def lower_definition(c: Context, node: FunctionNode, name: str) -> ir.Function:
    """A ``def`` or ``lambda`` and its body; its defaults and decorators belong to the function around it."""
    params = _params(c, node.params)
    scope = _make_scope(c, node, params)
    with c.inside(scope) as statements:
        if isinstance(node, cst.Lambda):
            enter(c, node.body)
            c.put(ir.Return(c.atom(node.body), c.span(node.body)))
        else:
            _function_body(c, node)
    doc = (node.get_docstring() or "") if isinstance(node, cst.FunctionDef) else ""
    return ir.Function(
        name, params, block_of(statements), tuple(scope.captures), str(doc), c.span(node), scope.yields)


def _function_body(c: Context, node: cst.FunctionDef) -> None:
    if node.asynchronous is not None:
        refuse_async(c, node)
    c.suite(node.body)
    if not c.out or not isinstance(c.out[-1], ir.Return | ir.Raise):
        c.put(ir.Return(NONE, c.span(node, node.name)))


def _params(c: Context, node: cst.Parameters) -> tuple[ir.Param, ...]:
    kinds: list[tuple[str, Sequence[Any]]] = [
        ("POSITIONAL_ONLY", node.posonly_params),
        ("POSITIONAL_OR_KEYWORD", node.params),
        ("VAR_POSITIONAL", [node.star_arg]),
        ("KEYWORD_ONLY", node.kwonly_params),
        ("VAR_KEYWORD", [node.star_kwarg]),
    ]
    return tuple(_param(c, p, kind) for kind, params in kinds for p in params if isinstance(p, cst.Param))


def _param(c: Context, node: cst.Param, kind: str) -> ir.Param:
    annotation = c.code(node.annotation.annotation) if node.annotation else ""
    return ir.Param(Var(c.name(node.name)), kind, node.default is not None, annotation)


def _make_scope(c: Context, node: FunctionNode, params: tuple[ir.Param, ...]) -> Scope:
    found = Bindings(c)
    if isinstance(node, cst.FunctionDef):
        found.suite(node.body)
    if c.has_walrus:
        found.locals.update(walrus_names(c, node.body))
    names = (found.locals | {p.var.name for p in params}) - found.globals - found.nonlocals
    first = params[0].var if params and params[0].kind.startswith("POSITIONAL") else None
    is_function = isinstance(node, cst.FunctionDef)
    return Scope(c.scope, names, found.globals, found.nonlocals, c.free, first, is_function=is_function)


def make_function(c: Context, node: FunctionNode, name: str) -> ir.MakeFunction:
    """A nested function: its defaults are evaluated here, its captures are the variables of this function."""
    defaults = _defaults(c, node.params)
    function = lower_definition(c, node, name)
    return ir.MakeFunction(function, function.captures, defaults)


def _defaults(c: Context, node: cst.Parameters) -> tuple[tuple[str, ir.Atom], ...]:
    params = [p for p in (*node.posonly_params, *node.params, *node.kwonly_params) if p.default is not None]
    return tuple((c.name(p.name), c.atom(p.default)) for p in params if p.default is not None)


def nested_def(c: Context, node: cst.FunctionDef) -> None:
    if node.asynchronous is not None:
        refuse_async(c, node)
    target = own(c, node.name)
    decorators = [(d, c.atom(d.decorator)) for d in node.decorators]
    value: ir.Value = make_function(c, node, c.name(node.name))
    for decorator, fn in reversed(decorators):
        value = Call(fn, (c.bind(value, decorator),))
    c.put(Let(target, value, c.span(node, node.name)))
