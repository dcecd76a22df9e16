"""A ``Source`` goes in, an ``ir.Function`` in named form comes out; unsupported syntax is refused here.

Only this module and ``s2s.frontend.lowering``, where its parts are, read libcst. The ``match`` statements of
``lowering.statements`` and ``lowering.expressions`` are the list of supported Python. Operations come out in Python's
order of evaluation, each operand is evaluated once, and every statement carries the place of the user's statement or
expression that it stands for.

    def f(x):                    def f(x):
        return np.sin(x) * x         %1 = global np
                                     %2 = getattr(%1, 'sin')
                                     %3 = %2(x)
                                     %4 = mul(%3, x)
                                     return %4

Two choices to know. A generator expression is lowered as a list comprehension: what consumes it (``sum``,
``max``, ``np.fromiter``, ``join``) sees the same items, and the derivative needs them all at once; only the
order of side effects differs. Elsewhere ``iter`` of that list gives each item once. ``a[i] += v`` reads
``a[i]`` after ``v`` was computed where Python reads it before: it matters only where computing ``v`` changes
``a[i]`` itself.
"""

from __future__ import annotations

import libcst as cst

from s2s.core import ir
from s2s.errors import error
from s2s.frontend.lowering.context import Context
from s2s.frontend.lowering.expressions import lower_value
from s2s.frontend.lowering.functions import LAMBDA, FunctionNode, lower_definition
from s2s.frontend.lowering.pieces import parse
from s2s.frontend.lowering.statements import lower_suite
from s2s.frontend.sources import Source

__all__ = ["lower"]


def lower(source: Source) -> ir.Function:
    """The function in named form. Raises UnsupportedSyntaxError where it uses what is not supported."""
    # A lambda over many lines needs the brackets that it had in the file.
    text = f"({source.text}\n)" if source.is_lambda else source.text
    try:
        tree = parse(text)
    except cst.ParserSyntaxError as problem:
        raise _cannot_parse(source, problem) from None
    context = Context(source, tree, text, lower_value, lower_suite)
    return lower_definition(context, _only_function(tree.module), LAMBDA if source.is_lambda else source.name)


def _only_function(module: cst.Module) -> FunctionNode:
    match module.body[0]:
        case cst.FunctionDef() as node:
            return node
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Lambda() as node)]):
            return node
        case other:
            raise error("S2S901", problem=f"the source is a {type(other).__name__}, not a function")


def _cannot_parse(source: Source, problem: cst.ParserSyntaxError) -> Exception:
    line = source.first_line + max(0, min(problem.raw_line, len(source.removed)) - 1)
    span = ir.Span(source.file, line, 0, line, 1, source.qualname)
    hint = "write it with syntax that libcst knows, or update libcst"
    return error("S2S116", span=span, label=problem.message, hint=hint)
