"""Python's operators, each said once: its symbol, how strongly it binds, its methods, the ufunc that it means.

    OPERATORS[operator.sub].symbol              "-"
    OPERATORS[operator.sub].ufunc               np.subtract
    plain_of(operator.isub)                     operator.sub
"""

from __future__ import annotations

import operator
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from s2s.core import ops
from s2s.core.record import record

__all__ = [
    "ATOM", "BINARY", "COMPARISONS", "CONDITIONAL", "IN_PLACE", "OPERATORS", "Operator", "PLAIN", "SIGNS", "UNARY",
    "plain_of",
]


@record
class Operator:
    """What is known of an operator.

    ``binding`` is larger for those that bind more strongly. ``method`` is what an object has for it, and ``reflected``
    what its right operand has; ``in_place`` is the function of the augmented assignment, ``in_place_method`` what an
    object has for that. ``ufunc`` is what it means for arrays, None where it means an identity or a truth. ``is_cheap``
    says that it costs one unit on numbers.
    """

    fn: Any
    symbol: str
    binding: int
    method: str = ""
    reflected: str = ""
    ufunc: Any = None
    in_place: Any = None
    in_place_method: str = ""
    is_cheap: bool = True


CONDITIONAL, _NOT, _COMPARISON, _OR, _XOR, _AND, _SHIFT, _SUM, _PRODUCT, _SIGN, _POWER, ATOM = range(12)
"""How strongly operators bind; before them a conditional expression, ``and`` and ``or``, after them what needs no
parentheses."""


def _binary(name: str, symbol: str, binding: int, ufunc: np.ufunc, is_cheap: bool = True) -> Operator:
    plain, method = getattr(operator, f"__{name}__"), f"__i{name}__"
    in_place = getattr(operator, method)
    return Operator(plain, symbol, binding, f"__{name}__", f"__r{name}__", ufunc, in_place, method, is_cheap)


def _comparison(name: str, symbol: str, reflected: str, ufunc: np.ufunc) -> Operator:
    return Operator(getattr(operator, name), symbol, _COMPARISON, f"__{name}__", f"__{reflected}__", ufunc)


def _by_function(*operators: Operator) -> dict[Any, Operator]:
    return {one.fn: one for one in operators}


BINARY = _by_function(
    _binary("add", "+", _SUM, np.add),
    _binary("sub", "-", _SUM, np.subtract),
    _binary("mul", "*", _PRODUCT, np.multiply),
    _binary("truediv", "/", _PRODUCT, np.divide),
    _binary("floordiv", "//", _PRODUCT, np.floor_divide),
    _binary("mod", "%", _PRODUCT, np.remainder),
    _binary("matmul", "@", _PRODUCT, np.matmul, is_cheap=False),
    _binary("pow", "**", _POWER, np.power),
    _binary("and", "&", _AND, np.bitwise_and),
    _binary("or", "|", _OR, np.bitwise_or),
    _binary("xor", "^", _XOR, np.bitwise_xor),
    _binary("lshift", "<<", _SHIFT, np.left_shift),
    _binary("rshift", ">>", _SHIFT, np.right_shift),
)
"""Those of two operands that give a value, which all have an augmented assignment."""

UNARY = _by_function(
    Operator(operator.neg, "-", _SIGN, "__neg__", ufunc=np.negative),
    Operator(operator.pos, "+", _SIGN, "__pos__", ufunc=np.positive),
    Operator(operator.invert, "~", _SIGN, "__invert__", ufunc=np.invert),
    Operator(operator.not_, "not", _NOT),
)

COMPARISONS = _by_function(
    _comparison("lt", "<", "gt", np.less),
    _comparison("le", "<=", "ge", np.less_equal),
    _comparison("gt", ">", "lt", np.greater),
    _comparison("ge", ">=", "le", np.greater_equal),
    _comparison("eq", "==", "eq", np.equal),
    _comparison("ne", "!=", "ne", np.not_equal),
    Operator(operator.is_, "is", _COMPARISON),
    Operator(operator.is_not, "is not", _COMPARISON),
    Operator(ops.contains, "in", _COMPARISON, is_cheap=False),
    Operator(ops.not_in, "not in", _COMPARISON, is_cheap=False),
)

OPERATORS: dict[Any, Operator] = {**BINARY, **UNARY, **COMPARISONS}
"""All of them, by the function that means them in the IR."""

PLAIN: dict[Any, Any] = {one.in_place: one.fn for one in BINARY.values()}
"""In-place operators, and the plain ones that give the same value."""

IN_PLACE: dict[Any, Any] = {plain: change for change, plain in PLAIN.items()}
"""The other way round."""

SIGNS: dict[Any, int] = {operator.add: 1, operator.sub: -1}
"""Operators that give a sum, and the sign of the second operand in it."""


def plain_of(fn: Any) -> Any:
    """The operator that gives the same as an in-place operator, and changes nothing; None for any other function."""
    return PLAIN.get(fn) if type(fn) is BuiltinFunctionType else None
