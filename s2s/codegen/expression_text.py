"""An expression in, its text on one line out, with the blanks, quotes and parentheses that ``ruff format`` leaves.

    x ** 2 + a[n+1:]      ->      x**2 + a[n + 1 :]

``layout`` breaks what is too long for a line; it asks here how tightly operators bind.
"""

from __future__ import annotations

import ast
import re

__all__ = ["ATOM", "POWER", "SIGNS", "TEST", "UNARY", "binds", "clauses", "text_of", "tuple_text"]

TEST, OR, AND, NOT, COMPARISON, BIT_OR, UNARY, POWER, ATOM = 1, 2, 3, 4, 5, 6, 12, 13, 14
SIGNS: dict[type[ast.AST], tuple[str, int]] = {
    ast.Or: ("or", OR), ast.And: ("and", AND), ast.BitOr: ("|", BIT_OR), ast.BitXor: ("^", 7), ast.BitAnd: ("&", 8),
    ast.LShift: ("<<", 9), ast.RShift: (">>", 9), ast.Add: ("+", 10), ast.Sub: ("-", 10), ast.Mult: ("*", 11),
    ast.Div: ("/", 11), ast.FloorDiv: ("//", 11), ast.Mod: ("%", 11), ast.MatMult: ("@", 11), ast.Pow: ("**", POWER),
    ast.Eq: ("==", COMPARISON), ast.NotEq: ("!=", COMPARISON), ast.Lt: ("<", COMPARISON), ast.LtE: ("<=", COMPARISON),
    ast.Gt: (">", COMPARISON), ast.GtE: (">=", COMPARISON), ast.Is: ("is", COMPARISON),
    ast.IsNot: ("is not", COMPARISON), ast.In: ("in", COMPARISON), ast.NotIn: ("not in", COMPARISON),
    ast.Not: ("not ", NOT), ast.USub: ("-", UNARY), ast.UAdd: ("+", UNARY), ast.Invert: ("~", UNARY),
}
"""How operators are written, and how tightly they bind."""


def binds(node: ast.expr) -> int:
    """How tightly the operator of an expression binds: more than any for what has none."""
    match node:
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.UnaryOp(op=op):
            return SIGNS[type(op)][1]
        case ast.Constant(value) if isinstance(value, (int, float, complex)) and repr(value).startswith("-"):
            return UNARY
        case ast.Compare():
            return COMPARISON
        case ast.IfExp() | ast.Lambda():
            return TEST
    return ATOM


def text_of(node: ast.expr, least: int = TEST) -> str:
    """The text of an expression, in parentheses where its operator binds less than ``least``."""
    text = _text(node)
    return f"({text})" if binds(node) < least else text


def _text(node: ast.expr) -> str:
    match node:
        case ast.Name(name):
            return name
        case ast.Constant(value):
            return _constant(node)
        case ast.Attribute(value, name):
            text = text_of(value, ATOM)
            is_number = isinstance(value, ast.Constant) and isinstance(value.value, (int, float, complex))
            return f"({text}).{name}" if is_number and not text.startswith("(") else f"{text}.{name}"
        case ast.Call(fn, args, keywords):
            named = [f"{k.arg}={text_of(k.value)}" if k.arg else f"**{text_of(k.value)}" for k in keywords]
            return f"{text_of(fn, ATOM)}({', '.join([*map(text_of, args), *named])})"
        case ast.Subscript(value, key):
            return f"{text_of(value, ATOM)}[{_items(key) if isinstance(key, ast.Tuple) and key.elts else text_of(key)}]"
        case ast.Slice():
            return _slice(node)
        case ast.BinOp(left, ast.Pow(), right):
            return _power(left, right)
        case ast.BinOp(left, op, right):
            sign, level = SIGNS[type(op)]
            return f"{text_of(left, level)} {sign} {text_of(right, level + 1)}"
        case ast.UnaryOp(op, operand):
            sign, level = SIGNS[type(op)]
            is_power = isinstance(operand, ast.BinOp) and isinstance(operand.op, ast.Pow)
            return f"{sign}({_text(operand)})" if is_power and level == UNARY else f"{sign}{text_of(operand, level)}"
        case ast.BoolOp(op, values):
            sign, level = SIGNS[type(op)]
            return f" {sign} ".join(text_of(value, level + 1) for value in values)
        case ast.Compare(left, ops, others):
            pairs = zip(ops, others, strict=True)
            return text_of(left, BIT_OR) + "".join(f" {SIGNS[type(op)][0]} {text_of(b, BIT_OR)}" for op, b in pairs)
        case ast.IfExp(test, then, other):
            return f"{text_of(then, OR)} if {text_of(test, OR)} else {text_of(other)}"
        case ast.Tuple():
            return f"({_items(node)})"
        case ast.List(items):
            return f"[{', '.join(map(text_of, items))}]"
        case ast.Set(items) if items:
            return f"{{{', '.join(map(text_of, items))}}}"
        case ast.Dict(keys, values):
            names = ("**" if key is None else f"{text_of(key)}: " for key in keys)
            levels = (BIT_OR if key is None else TEST for key in keys)
            return f"{{{', '.join(map(str.__add__, names, map(text_of, values, levels)))}}}"
        case ast.Starred(value):
            return f"*{text_of(value, BIT_OR)}"
        case ast.Lambda(arguments, body):
            taken = _quoted(ast.unparse(arguments))
            return f"lambda {taken}: {text_of(body)}" if taken else f"lambda: {text_of(body)}"
        case ast.ListComp() | ast.SetComp() | ast.DictComp():
            ends = "[]" if isinstance(node, ast.ListComp) else "{}"
            return f"{ends[0]}{' '.join(n + text_of(part, least) for n, part, least in clauses(node))}{ends[1]}"
    return _quoted(ast.unparse(node))


def clauses(node: ast.ListComp | ast.SetComp | ast.DictComp) -> list[tuple[str, ast.expr, int]]:
    """What a comprehension makes, and its ``for`` and ``if``: words and an expression each, and how tightly that must
    bind to need no parentheses."""
    is_dict = isinstance(node, ast.DictComp)
    made = [(f"{text_of(node.key)}: ", node.value, TEST) if is_dict else ("", node.elt, TEST)]  # type: ignore[union-attr]
    for one in node.generators:
        made.append((f"{'async ' * one.is_async}for {tuple_text(one.target)} in ", one.iter, OR))
        made += [("if ", test, OR) for test in one.ifs]
    return made


def tuple_text(node: ast.expr) -> str:
    """The text of an expression, of a tuple without its parentheses where it has several items."""
    return _items(node) if isinstance(node, ast.Tuple) and len(node.elts) > 1 else text_of(node)


def _items(node: ast.Tuple) -> str:
    return ", ".join(map(text_of, node.elts)) + ("," if len(node.elts) == 1 else "")


def _constant(node: ast.Constant) -> str:
    value = node.value
    if not isinstance(value, (str, bytes)):
        return ast.unparse(node).replace("e+", "e")
    text, single, double = ast.unparse(node), "'", '"'
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    if not text.lstrip("b").startswith(single) or value.count(double) > value.count(single):
        return text
    start, _, inner = text[:-1].partition(single)
    return f"{start}{double}{inner.replace(chr(92) + single, single).replace(double, chr(92) + double)}{double}"


def _quoted(text: str) -> str:
    """Double quotes where there are none."""
    return text.replace("'", '"') if "'" in text and '"' not in text and "\\" not in text else text


_PLAIN_OPERAND = re.compile(r"-*(?:[\w.]|(?<=\de)-)+\Z")


def _power(left: ast.expr, right: ast.expr) -> str:
    """``x**2``, and ``f(x) ** 2`` where an operand is more than a name or a number."""
    base, exponent = text_of(left, ATOM), text_of(right, POWER)
    bare = exponent.removeprefix("(").removesuffix(")")
    if bare.startswith("-") and _PLAIN_OPERAND.match(bare):
        exponent = bare
    first = exponent.partition("**")[0] if isinstance(right, ast.BinOp) else exponent
    is_plain = _PLAIN_OPERAND.match(base) and _PLAIN_OPERAND.match(first)
    return f"{base}**{exponent}" if is_plain else f"{base} ** {exponent}"


def _slice(node: ast.Slice) -> str:
    """``1:-1``, and ``n + 1 : m`` where a bound is more than a name or a number."""
    bounds = [None if part is None else text_of(part) for part in (node.lower, node.upper, node.step)]
    blank = "" if all(map(_is_plain_bound, (node.lower, node.upper, node.step))) else " "
    lower, upper, step = bounds
    text = f"{lower}{blank}:" if lower else ":"
    text += f"{blank}{upper}" if upper else ""
    if step:
        text += f"{blank if upper else ''}:{blank}{step}"
    return text


def _is_plain_bound(node: ast.expr | None) -> bool:
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        node = node.operand
    return node is None or isinstance(node, (ast.Name, ast.Constant))
