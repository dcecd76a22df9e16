"""How wide and how deep an expression prints: takes code and a right-hand side, gives columns and levels.

Names are not chosen yet, so these are estimates; printing wraps what comes out too long.
"""

from __future__ import annotations

import operator
from typing import Any, assert_never

from s2s.codegen.code import Code, Comprehension, Conditional, Junction, Tree, tree_atoms
from s2s.codegen.expressions import is_method
from s2s.core import ops
from s2s.core.inspection import is_hashable
from s2s.core.ir import Atom, Call, Const, Load, MakeFunction, Star, Var

__all__ = ["depth_of", "key_width", "width_of"]

_SUM = (2, 3)
_PRODUCT = (3, 3)
_SYMBOLS: dict[Any, tuple[int, int]] = {
    operator.add: _SUM, operator.sub: _SUM, operator.mul: _PRODUCT, operator.truediv: _PRODUCT,
    operator.matmul: _PRODUCT, operator.mod: _PRODUCT, operator.floordiv: (3, 4), operator.pow: (5, 4),
    operator.lt: (1, 3), operator.gt: (1, 3), operator.le: (1, 4), operator.ge: (1, 4), operator.eq: (1, 4),
    operator.ne: (1, 4), operator.is_: (1, 4), operator.is_not: (1, 8), ops.contains: (1, 4), ops.not_in:
    (1, 8), operator.contains: (1, 4), operator.and_: (1, 3), operator.or_: (1, 3), operator.xor: (1, 3),
    operator.lshift: (1, 4), operator.rshift: (1, 4), **dict.fromkeys(ops.PLAIN, (2, 4)),
}  # fmt: skip
"""How strongly an operator binds, and its columns with the blanks around it."""
_UNARY: dict[Any, int] = {operator.neg: 1, operator.pos: 1, operator.invert: 1, operator.not_: 4}
_BRACKETS = {ops.make_tuple: 2, ops.make_list: 2, ops.make_set: 2, ops.make_dict: 2}


def width_of(code: Code, tree: Tree) -> int:
    """About how many columns an expression takes."""
    if isinstance(tree, Var):
        size = code.sizes.get(tree)
        if size is not None:
            return size[0]
        folded = code.folded.get(tree)
        return len(tree.name) + tree.is_temporary if folded is None else width_of(code, folded)
    if isinstance(tree, Const):
        return _constant(tree.value)
    if isinstance(tree, Call):
        words = sum([len(key or "") + 3 + width_of(code, a) for key, a in tree.kwargs])
        return _call(code, tree.fn, [a.atom if isinstance(a, Star) else a for a in tree.args]) + words
    match tree:
        case Load(name):
            return len(name)
        case MakeFunction():
            return 30
        case Conditional():
            return 10 + sum([width_of(code, a) for a in tree_atoms(tree)])
        case Junction():
            return 5 + sum([width_of(code, a) for a in tree_atoms(tree)])
        case Comprehension():
            return 20 + sum([width_of(code, a) for a in tree_atoms(tree)])
        case _ as never:
            assert_never(never)


def depth_of(code: Code, tree: Tree) -> int:
    """How deep operations nest in an expression."""
    if isinstance(tree, Var):
        size = code.sizes.get(tree)
        if size is not None:
            return size[1]
        folded = code.folded.get(tree)
        return 0 if folded is None else depth_of(code, folded)
    return 1 + max([depth_of(code, a) for a in tree_atoms(tree) if isinstance(a, Var)], default=0)


def _call(code: Code, fn: Atom, args: list[Atom]) -> int:
    known = fn.value if isinstance(fn, Const) and is_hashable(fn.value) else None
    symbol = _SYMBOLS.get(known)
    if symbol is not None and len(args) == 2:
        binding, columns = symbol
        return columns + _operand(code, args[0], binding) + _operand(code, args[1], binding)
    if known in _UNARY and len(args) == 1:
        return _UNARY[known] + _operand(code, args[0], 4)
    if known is ops.format_value:
        return 2 + sum(width_of(code, a) if k == 0 else _text(a) + 1 for k, a in enumerate(args))
    if known is ops.format_string:
        return 3 + sum(_text(a) if isinstance(a, Const) else width_of(code, a) for a in args)
    if known is operator.getitem and len(args) == 2:
        return width_of(code, args[0]) + 2 + key_width(code, args[1])
    if known is getattr and len(args) == 2:
        return width_of(code, args[0]) + width_of(code, args[1]) - 1
    listed = sum([width_of(code, a) + 2 for a in args])
    if known in _BRACKETS:
        return _BRACKETS[known] + max(0, listed - 2)
    return width_of(code, fn) + max(2, listed)


def _text(atom: Atom) -> int:
    """The length of a literal part of a string."""
    return len(atom.value) if isinstance(atom, Const) and isinstance(atom.value, str) else 9


def _operand(code: Code, atom: Atom, binding: int) -> int:
    """An operand with the parentheses that it needs."""
    tree = code.folded.get(atom) if isinstance(atom, Var) else None
    inner = 9
    if isinstance(tree, Call) and isinstance(tree.fn, Const) and is_hashable(tree.fn.value):
        inner = _SYMBOLS.get(tree.fn.value, (9, 0))[0]
    elif isinstance(tree, (Conditional, Junction)):
        inner = 0
    return width_of(code, atom) + (2 if inner < binding else 0)


def key_width(code: Code, key: Atom) -> int:
    """About how many columns it takes what stands between the brackets of a subscript."""
    tree = code.folded.get(key) if isinstance(key, Var) else key
    if isinstance(tree, Call) and tree.fn == Const(ops.make_tuple):
        return sum(key_width(code, a.atom if isinstance(a, Star) else a) + 2 for a in tree.args) - 2
    bounds: list[Any] | None = None
    if isinstance(tree, Call) and tree.fn == Const(slice):
        bounds = list(tree_atoms(tree))[1:]
    if isinstance(tree, Const) and isinstance(tree.value, slice):
        bounds = [Const(v) for v in (tree.value.start, tree.value.stop, tree.value.step)]
    if bounds is None:
        return width_of(code, key)
    return sum(0 if b == Const(None) else width_of(code, b) for b in bounds) + 1


def _constant(value: Any) -> int:
    if isinstance(value, (int, float, complex, str, bytes, type(None))):
        return len(repr(value))
    if isinstance(value, tuple):
        return sum(_constant(v) + 2 for v in value) + 1
    name = len(getattr(value, "__name__", "") or type(value).__name__)
    return name + (1 if is_method(value) else 3)
