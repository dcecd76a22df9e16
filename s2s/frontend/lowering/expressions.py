"""Expressions: the ``match`` in ``lower_value`` and ``_other_value`` is the list of those that are supported."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import libcst as cst

from s2s.core import ir
from s2s.core.ir import Call, Const, Var
from s2s.core.operators import BINARY, COMPARISONS, UNARY
from s2s.frontend.lowering.bindings import own
from s2s.frontend.lowering.calls import lower_call
from s2s.frontend.lowering.comprehensions import lower_comprehension
from s2s.frontend.lowering.context import NONE, Context, block_of
from s2s.frontend.lowering.displays import lower_dict, lower_display
from s2s.frontend.lowering.functions import LAMBDA, make_function
from s2s.frontend.lowering.refusals import refuse, refuse_expression
from s2s.frontend.lowering.strings import lower_string
from s2s.frontend.lowering.subscripts import lower_key
from s2s.frontend.lowering.yields import lower_yield

__all__ = ["lower_value"]

_BINARY: dict[type[cst.BaseBinaryOp], Any] = {
    type(cst.parse_expression(f"a {one.symbol} b").operator): one.fn for one in BINARY.values()  # type: ignore
}
_UNARY: dict[type[cst.BaseUnaryOp], Any] = {
    type(cst.parse_expression(f"{one.symbol} a").operator): one.fn for one in UNARY.values()  # type: ignore
}
_COMPARISONS: dict[type[cst.BaseCompOp], Any] = {
    type(cst.parse_expression(f"a {one.symbol} b").comparisons[0].operator): one.fn  # type: ignore
    for one in COMPARISONS.values()
}


def lower_value(c: Context, node: cst.BaseExpression) -> ir.Value:
    """The value of an expression; the operands that it needs are put into the current block."""
    match node:
        case cst.Name():
            return _read(c, node)
        case cst.Integer() | cst.Float() | cst.Imaginary():
            return Const(_number(node))
        case cst.BinaryOperation(left=left, operator=op, right=right):
            return Call(Const(_BINARY[type(op)]), (c.atom(left), c.atom(right)))
        case cst.Call():
            return lower_call(c, node)
        case cst.Attribute(value=value, attr=attr):
            return Call(Const(getattr), (c.atom(value), Const(c.name(attr))))
        case cst.Subscript(value=value):
            return Call(Const(operator.getitem), (c.atom(value), lower_key(c, node)))
        case cst.UnaryOperation():
            return _unary(c, node)
        case cst.Comparison():
            return _comparison(c, node)
        case cst.BooleanOperation():
            return _boolean(c, node)
        case cst.IfExp():
            return _conditional(c, node)
        case _:
            return _other_value(c, node)


def _other_value(c: Context, node: cst.BaseExpression) -> ir.Value:
    """The less frequent half of the list of supported expressions."""
    match node:
        case cst.Tuple() | cst.List() | cst.Set():
            return lower_display(c, node)
        case cst.Dict():
            return lower_dict(c, node)
        case cst.SimpleString():
            return Const(node.evaluated_value)
        case cst.ConcatenatedString() | cst.FormattedString():
            return lower_string(c, node)
        case cst.Ellipsis():
            return Const(...)
        case cst.Lambda():
            return make_function(c, node, LAMBDA)
        case cst.ListComp() | cst.SetComp() | cst.DictComp():
            return lower_comprehension(c, node)
        case cst.GeneratorExp():
            refuse(
                c, "S2S103", node, "is kept, and reads its variables when it is consumed", "write a list comprehension"
            )
        case cst.Yield() if not isinstance(node.value, cst.From):
            lower_yield(c, node)  # nothing is ever sent
            return NONE
        case cst.NamedExpr(target=target, value=value):
            variable = own(c, target)
            c.let(variable, c.value(value), node)
            return c.bind(variable, node)
        case _:
            refuse_expression(c, node)


def _read(c: Context, node: cst.Name) -> ir.Value:
    if node.value in c.pieces:
        return c.value(c.pieces[node.value])
    match node.value:
        case "None":
            return NONE
        case "True" | "False":
            return Const(node.value == "True")
        case "__class__" if "__class__" in c.free:
            hint = "write the name of the class"
            refuse(c, "S2S101", node, "is a hidden variable", hint, construct="`__class__`")
    value = c.resolve(c.name(node))
    return c.bind(value, node) if isinstance(value, Var) and c.changes_while_read(value.name) else value


def _number(node: cst.Integer | cst.Float | cst.Imaginary) -> int | float | complex:
    match node:
        case cst.Integer(value=text):
            return int(text, 0)
        case cst.Float(value=text):
            return float(text)
        case cst.Imaginary(value=text):
            return complex(text)


def _unary(c: Context, node: cst.UnaryOperation) -> ir.Value:
    match node.operator, node.expression:
        case cst.Minus(), (cst.Integer() | cst.Float() | cst.Imaginary()) as number:
            return Const(-_number(number))
        case op, operand:
            return Call(Const(_UNARY[type(op)]), (c.atom(operand),))


# --- comparisons and truth ----------------------------------------------------------------------------------


def _comparison(c: Context, node: cst.Comparison) -> ir.Value:
    left = c.atom(node.left)
    first, *rest = node.comparisons
    right = c.atom(first.comparator)
    value = Call(Const(_COMPARISONS[type(first.operator)]), (left, right))
    if not rest:
        return value
    result = c.bind(value, node)
    _compare_on(c, node, result, right, rest)
    return result


def _compare_on(
    c: Context, node: cst.Comparison, result: Var, left: ir.Atom, rest: Sequence[cst.ComparisonTarget]
) -> None:
    """The rest of ``a < b < c``: evaluated only where what came before holds."""
    if not rest:
        return
    with c.block() as statements:
        right = c.atom(rest[0].comparator)
        c.let(result, Call(Const(_COMPARISONS[type(rest[0].operator)]), (left, right)), node)
        _compare_on(c, node, result, right, rest[1:])
    c.put(ir.If(result, block_of(statements), ir.Block(()), (), c.span(node)))


def _boolean(c: Context, node: cst.BooleanOperation) -> Var:
    first, *rest = _operands(node)
    result = c.bind(c.value(first), first)
    _short_circuit(c, node, result, rest)
    return result


def _operands(node: cst.BooleanOperation) -> list[cst.BaseExpression]:
    """The operands of ``a and b and c``, which is ``(a and b) and c``."""
    left = node.left
    if isinstance(left, cst.BooleanOperation) and type(left.operator) is type(node.operator):
        return [*_operands(left), node.right]
    return [left, node.right]


def _short_circuit(
    c: Context, node: cst.BooleanOperation, result: Var, rest: Sequence[cst.BaseExpression]
) -> None:
    if not rest:
        return
    with c.block() as statements:
        c.let(result, c.value(rest[0]), rest[0])
        _short_circuit(c, node, result, rest[1:])
    go_on, stop = block_of(statements), ir.Block(())
    then, orelse = (go_on, stop) if isinstance(node.operator, cst.And) else (stop, go_on)
    c.put(ir.If(result, then, orelse, (), c.span(node).start))


def _conditional(c: Context, node: cst.IfExp) -> Var:
    test = c.atom(node.test)
    result = c.temporary()
    blocks = []
    for branch in (node.body, node.orelse):
        with c.block() as statements:
            c.let(result, c.value(branch), branch)
        blocks.append(block_of(statements))
    c.put(ir.If(test, blocks[0], blocks[1], (), c.span(node)))
    return result
