"""The refusals of syntax that is not supported, each with the place and what to write in its stead."""

from __future__ import annotations

from typing import Any, NoReturn

import libcst as cst

from s2s.errors import error
from s2s.frontend.lowering.context import Context

__all__ = ["refuse", "refuse_async", "refuse_expression", "refuse_statement"]


def refuse(
    c: Context, code: str, node: cst.CSTNode, label: str, hint: str = "", *, end: cst.CSTNode | None = None,
    **fields: Any,
) -> NoReturn:
    raise error(code, span=c.span(node, end), label=label, hint=hint, **fields)


def refuse_statement(c: Context, node: cst.CSTNode) -> NoReturn:
    match node:
        case cst.TryStar():
            hint = "catch the group with `except`, and look at its exceptions"
            span = c.keyword_span(node, "try")
            raise error("S2S104", span=span, label="many handlers may run for one exception", hint=hint)
        case cst.ClassDef(name=name):
            hint = f"define `{name.value}` at the level of the module"
            refuse(c, "S2S107", node, "makes a new class in every call", hint, end=name)
        case _:
            refuse(c, "S2S101", node, "is not supported", construct=f"`{c.code(node).split()[0]}`")


def refuse_async(c: Context, node: cst.CSTNode, end: cst.CSTNode | None = None) -> NoReturn:
    if isinstance(node, cst.FunctionDef):
        end = node.name
    hint = "move what waits out of the function, and differentiate a function that computes only"
    refuse(c, "S2S102", node, "gives its result later; a derivative needs it now", hint, end=end)


def refuse_expression(c: Context, node: cst.CSTNode) -> NoReturn:
    match node:
        case cst.Yield(value=value):
            label = "yields many values; a derivative needs one result"
            name = f"`{value.value}`" if isinstance(value, cst.Name) else "value"
            refuse(c, "S2S103", node, label, f"append each {name} to a list and `return` the list")
        case cst.Await():
            refuse_async(c, node)
        case _:
            kind = type(node).__name__
            refuse(c, "S2S101", node, "is not supported", construct=f"this expression ({kind})")
