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
from s2s.core.operators import ATOM, CONDITIONAL, OPERATORS, PLAIN, UNARY, Operator

__all__ = ["depth_of", "key_width", "width_of"]

_PRINTED: dict[Any, Operator] = {
    **OPERATORS, **{fn: OPERATORS[plain] for fn, plain in PLAIN.items()}, operator.contains: OPERATORS[ops.contains],
}
"""What calls of functions print as."""


def width_of(code: Code, tree: Tree) -> int:
    """About how many columns an expression takes."""
    if isinstance(tree, Var):
        folded = code.folded.get(tree)
        if folded is None:
            return len(tree.name) + tree.is_temporary
        size = code.sizes.get(tree)
        return width_of(code, folded) if size is None else size[0]
    if isinstance(tree, Const):
        return _constant(tree.value)
    if isinstance(tree, Call):
        args = [a.atom if isinstance(a, Star) else a for a in tree.args]
        words = sum([len(key or "") + 3 + width_of(code, a) for key, a in tree.kwargs]) if tree.kwargs else 0
        return _call(code, tree.fn, args) + words
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
        folded = code.folded.get(tree)
        if folded is None:
            return 0
        size = code.sizes.get(tree)
        return depth_of(code, folded) if size is None else size[1]
    folded_in = [a for a in tree_atoms(tree) if isinstance(a, Var) and a in code.folded]
    return 1 + max([depth_of(code, a) for a in folded_in]) if folded_in else 1


def _call(code: Code, fn: Atom, args: list[Atom]) -> int:
    known = fn.value if isinstance(fn, Const) and is_hashable(fn.value) else None
    printed = _PRINTED.get(known)
    if printed is not None and len(args) == 1 + (known not in UNARY):
        blanks = 2 if len(args) == 2 else printed.symbol.isalpha()
        return len(printed.symbol) + blanks + sum([_operand(code, a, printed.binding) for a in args])
    if known is ops.format_value:
        return 2 + sum(width_of(code, a) if k == 0 else _text(a) + 1 for k, a in enumerate(args))
    if known is ops.format_string:
        return 3 + sum(_text(a) if isinstance(a, Const) else width_of(code, a) for a in args)
    if known is operator.getitem and len(args) == 2:
        return width_of(code, args[0]) + 2 + key_width(code, args[1])
    if known is getattr and len(args) == 2:
        return width_of(code, args[0]) + width_of(code, args[1]) - 1
    listed = sum([width_of(code, a) + 2 for a in args])
    if known in ops.DISPLAYS:
        return max(2, listed)
    return width_of(code, fn) + max(2, listed)


def _text(atom: Atom) -> int:
    """The length of a literal part of a string."""
    return len(atom.value) if isinstance(atom, Const) and isinstance(atom.value, str) else 9


def _operand(code: Code, atom: Atom, binding: int) -> int:
    """An operand with the parentheses that it needs."""
    tree = code.folded.get(atom) if isinstance(atom, Var) else None
    if tree is None:
        return width_of(code, atom)
    inner = ATOM
    if isinstance(tree, Call) and isinstance(tree.fn, Const) and is_hashable(tree.fn.value):
        printed = _PRINTED.get(tree.fn.value)
        inner = ATOM if printed is None else printed.binding
    elif isinstance(tree, (Conditional, Junction)):
        inner = CONDITIONAL
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
