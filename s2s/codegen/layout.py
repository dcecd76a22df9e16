"""A statement that is too long for a line in, lines out that are broken at operators and commas, in brackets.

    total = (                                   made = np.concatenate(
        first_of_several_long_names                 [first, second],
        + second_of_several_long_names              axis=0,
    )                                           )

As ``ruff format`` does it, and without it; ``printing`` asks where what astor has torn reads worse.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

__all__ = ["laid_out"]

_SIGNS: dict[type[ast.AST], tuple[str, int]] = {
    ast.Or: ("or", 1), ast.And: ("and", 2), ast.BitOr: ("|", 5), ast.BitXor: ("^", 6), ast.BitAnd: ("&", 7),
    ast.LShift: ("<<", 8), ast.RShift: (">>", 8), ast.Add: ("+", 9), ast.Sub: ("-", 9), ast.Mult: ("*", 10),
    ast.Div: ("/", 10), ast.FloorDiv: ("//", 10), ast.Mod: ("%", 10), ast.MatMult: ("@", 10),
}
"""How operators are written, and how tightly they bind."""

_Print = Callable[[ast.expr], str]


def laid_out(node: ast.stmt, width: int, text_of: _Print) -> str | None:
    """The lines of an assignment, a call or a ``return``; None for other statements. ``text_of`` prints an expression
    on one line."""
    value = node.value if isinstance(node, (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)) else None
    whole = ast.unparse(node)
    if value is None or not whole.endswith(last := ast.unparse(value)):
        return None
    return "\n".join(_Layout(text_of).lines(value, width, whole.removesuffix(last), ""))


class _Layout:
    def __init__(self, text_of: _Print) -> None:
        self.text_of = text_of

    def lines(self, node: ast.expr, width: int, first: str, last: str, is_operand: bool = False) -> list[str]:
        """``first``, an expression and ``last``. An operand of an operator that binds tighter stands in parentheses."""
        text = self.text_of(node)
        whole = f"{first}({text}){last}" if is_operand else f"{first}{text}{last}"
        if len(whole) <= width:
            return [whole]
        match node:
            case ast.Call(func, args, keywords):
                items = [("", a) for a in args] + [(f"{k.arg}=" if k.arg else "**", k.value) for k in keywords]
                return self.block(f"{first}{self.text_of(func)}(", items, f"){last}", width) if items else [whole]
            case ast.List(items):
                return self.block(f"{first}[", [("", a) for a in items], f"]{last}", width)
            case ast.Tuple(items) if len(items) > 1:
                return self.block(f"{first}(", [("", a) for a in items], f"){last}", width)
            case ast.UnaryOp(ast.USub(), ast.Call() as inner):
                return self.lines(inner, width, f"{first}-", last)
        parts = self.operands(node)
        if len(parts) < 2:
            return [whole]
        inside = [line for sign, part, is_loose in parts for line in self.lines(part, width - 4, sign, "", is_loose)]
        return [f"{first}(", *(f"    {line}" for line in inside), f"){last}"]

    def block(self, opening: str, items: list[tuple[str, ast.expr]], closing: str, width: int) -> list[str]:
        """Items in brackets: on one line where they fit, else each on its own."""
        line = ", ".join(f"{name}{self.text_of(item)}" for name, item in items)
        if len(line) + 4 <= width:
            return [opening, f"    {line}", closing]
        inside = [part for name, item in items for part in self.item(item, width - 4, name)]
        return [opening, *(f"    {part}" for part in inside), closing]

    def item(self, node: ast.expr, width: int, name: str) -> list[str]:
        """An item in brackets, with its comma; operands need none of their own there."""
        found = self.lines(node, width, name, ",")
        is_chain = not name and len(found) > 1 and found[0] == "(" and self.operands(node)
        return [*(line.removeprefix("    ") for line in found[1:-2]), f"{found[-2][4:]},"] if is_chain else found

    def operands(self, node: ast.expr) -> list[tuple[str, ast.expr, bool]]:
        """The operands of a chain of operators that bind alike, each with its sign, and whether it needs parentheses;
        none of another expression."""
        if isinstance(node, ast.BoolOp):
            sign, level = _SIGNS[type(node.op)]
            return [(f"{sign} " if k else "", v, _binds(v) <= level) for k, v in enumerate(node.values)]
        if not isinstance(node, ast.BinOp) or type(node.op) not in _SIGNS:
            return []
        sign, level = _SIGNS[type(node.op)]
        chained = _binds(node.left) == level
        before = self.operands(node.left) if chained else [("", node.left, _binds(node.left) < level)]
        return [*before, (f"{sign} ", node.right, _binds(node.right) <= level)]


def _binds(node: ast.expr) -> int:
    """How tightly the operator of an expression binds: more than any for what has none."""
    match node:
        case ast.BoolOp(op) | ast.BinOp(op=op):
            return _SIGNS.get(type(op), ("", 99))[1]
        case ast.Compare():
            return 4
        case ast.UnaryOp(ast.Not()):
            return 3
        case ast.IfExp() | ast.Lambda() | ast.NamedExpr():
            return 0
    return 99
