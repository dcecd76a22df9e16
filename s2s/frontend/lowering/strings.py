"""Adjacent strings and f-strings."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from s2s.core import ir, ops
from s2s.core.ir import Call, Const
from s2s.frontend.lowering.context import Context
from s2s.frontend.lowering.refusals import refuse_expression

__all__ = ["lower_string"]


def lower_string(c: Context, node: cst.ConcatenatedString | cst.FormattedString) -> ir.Value:
    """Adjacent strings and f-strings."""
    if isinstance(node, cst.ConcatenatedString) and node.evaluated_value is not None:
        return Const(node.evaluated_value)
    return _joined(_string_parts(c, node))


def _joined(parts: Sequence[ir.Atom]) -> ir.Value:
    if all(isinstance(part, Const) for part in parts):
        return Const("".join(part.value for part in parts if isinstance(part, Const)))
    return Call(Const(ops.format_string), tuple(parts))


def _string_parts(c: Context, node: cst.CSTNode) -> list[ir.Atom]:
    match node:
        case cst.ConcatenatedString(left=left, right=right):
            return [*_string_parts(c, left), *_string_parts(c, right)]
        case cst.FormattedString(parts=parts):
            return [atom for part in parts for atom in _part(c, part, node)]
        case cst.SimpleString():
            return [Const(node.evaluated_value)]
        case _:
            refuse_expression(c, node)


def _part(c: Context, part: cst.BaseFormattedStringContent, string: cst.FormattedString) -> list[ir.Atom]:
    match part:
        case cst.FormattedStringText(value=text):
            return [Const(_literal_text(text, string))]
        case cst.FormattedStringExpression():
            return _replacement(c, part, string)
        case _:
            refuse_expression(c, part)


def _literal_text(text: str, string: cst.FormattedString) -> str:
    """What the literal part of an f-string means, its escapes resolved."""
    if "\\" in text and "r" not in string.prefix:
        # The blank keeps a quote at the end of the text apart from the closing quotes.
        text = ast.literal_eval(f"{string.quote}{text} {string.quote}")[:-1]
    return text.replace("{{", "{").replace("}}", "}")


def _replacement(
    c: Context, part: cst.FormattedStringExpression, string: cst.FormattedString
) -> list[ir.Atom]:
    """``{value!conversion:spec}``, after its own text where it is written ``{value=}``."""
    value = c.atom(part.expression)
    spec_parts = [atom for item in part.format_spec or () for atom in _part(c, item, string)]
    conversion = part.conversion or ""
    label: list[ir.Atom] = []
    if part.equal is not None:
        text = c.code(part.expression) + c.code(part.equal)
        label = [Const(c.code(part.whitespace_before_expression) + text)]
        conversion = conversion or ("" if part.format_spec else "r")
    spec = c.as_atom(_joined(spec_parts), part.expression)
    return [*label, c.call(part.expression, ops.format_value, value, Const(conversion), spec)]
