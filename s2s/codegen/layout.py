"""An expression that is too long for a line in, lines out that are broken at operators and commas, in brackets.

    total = (                                   made = np.concatenate(
        first_of_several_long_names                 [first, second], axis=0
        + second_of_several_long_names          )
    )

As ``ruff format`` does it, and without it: brackets that end the text are opened where one operator stands before
them, else the whole is put in parentheses, a line for each operand of what binds least.
"""

from __future__ import annotations

import ast

from s2s.codegen.expression_text import ATOM, SIGNS, TEST, UNARY, binds, clauses, text_of, tuple_text

__all__ = ["laid_out"]


def laid_out(node: ast.expr, width: int, first: str = "", last: str = "", is_bare: bool = False) -> list[str]:
    """``first``, an expression and ``last``, on lines within ``width`` where that is possible. A tuple that is bare has
    no parentheses where it is on one line."""
    whole = f"{first}{tuple_text(node) if is_bare else text_of(node)}{last}"
    if len(whole) <= width:
        return [whole]
    opened = _opened(node, width, first, last)
    if opened is not None:
        return opened
    if isinstance(node, ast.Tuple) and node.elts:
        return _block(f"{first}(", [("", item) for item in node.elts], f"){last}", width)
    inner = _inside(node, width - 4)
    is_worth = len(inner) > 1 or max(len(first) + 1, len(inner[0]) + 4) <= width
    return [f"{first}(", *_indented(inner), f"){last}"] if is_worth else [whole]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _opened(node: ast.expr, width: int, first: str, last: str) -> list[str] | None:
    """The lines with the brackets opened that the expression ends with, or begins with; None where it is better put in
    parentheses."""
    operators = _operators(node)
    if len(operators) > 1:
        return None
    found = _last_opened(node, _last_leaf(node), width, first, last, alone=not operators)
    leaf = _first_leaf(node)
    if found is None and leaf is not node and _needs_parentheses(node, leaf):
        end = _in_parentheses(node, leaf)
        return _expanded(leaf, width, first, f"{text_of(node).removeprefix(end)}{last}", end)
    return found


def _last_opened(
    node: ast.expr, leaf: ast.expr, width: int, first: str, last: str, alone: bool
) -> list[str] | None:
    """The lines with the last brackets opened for which there is room; of what a leaf is read of only where it stands
    alone."""
    text, after = text_of(node), ""
    part: ast.expr | None = leaf
    while part is not None:
        if _has_brackets(part, alone):
            end = _in_parentheses(node, part)
            lines = _expanded(part, width, first + text.removesuffix(end + after), after + last, end)
            if lines is not None:
                return lines
        inner = _receiver(part) if alone else None
        after, part = "" if inner is None else text_of(part).removeprefix(text_of(inner, ATOM)) + after, inner
    return None


def _expanded(node: ast.expr, width: int, first: str, last: str, text: str) -> list[str] | None:
    """The lines of an expression whose brackets are opened, or the parentheses that its text has; None where what
    stands before or after them is too long."""
    if text.startswith("(") and text[1:-1] == text_of(node):
        lines = [f"{first}(", *_indented(_inside(node, width - 4)), f"){last}"]
    else:
        lines = _brackets(node, width, first, last)
    return lines if len(lines[0]) <= width and len(lines[-1]) <= width else None


def _brackets(node: ast.expr, width: int, first: str, last: str) -> list[str]:
    """The lines of a call, an index or a display: what is in the brackets on one line where it fits, each item on its
    own else, and always in a list, a dictionary or a tuple."""
    match node:
        case ast.Call(fn, args, keywords):
            items = [("", a) for a in args] + [(f"{k.arg}=" if k.arg else "**", k.value) for k in keywords]
            return _block(f"{first}{text_of(fn, ATOM)}(", items, f"){last}", width, on_one_line=True)
        case ast.Subscript(value, key):
            items = [("", k) for k in key.elts] if isinstance(key, ast.Tuple) and key.elts else [("", key)]
            return _block(f"{first}{text_of(value, ATOM)}[", items, f"]{last}", width, on_one_line=True)
        case ast.List(items) | ast.Set(items):
            ends = "[]" if isinstance(node, ast.List) else "{}"
            return _block(first + ends[0], [("", item) for item in items], ends[1] + last, width)
        case ast.Dict(keys, values):
            names = ["**" if key is None else f"{text_of(key)}: " for key in keys]
            return _block(f"{first}{{", list(zip(names, values, strict=True)), f"}}{last}", width)
        case ast.Tuple(items):
            return _block(f"{first}(", [("", item) for item in items], f"){last}", width)
        case ast.ListComp() | ast.SetComp() | ast.DictComp():
            text = text_of(node)
            parts = [_operand(part, least, width - 4, start, "") for start, part, least in clauses(node)]
            return [first + text[0], *_indented([line for part in parts for line in part]), text[-1] + last]
    return [f"{first}{text_of(node)}{last}"]


def _block(
    opening: str, items: list[tuple[str, ast.expr]], closing: str, width: int, on_one_line: bool = False
) -> list[str]:
    line = ", ".join(f"{name}{text_of(item)}" for name, item in items)
    if on_one_line and len(line) + 4 <= width:
        return [opening, f"    {line}", closing]
    is_single = on_one_line and len(items) == 1 and not isinstance(items[0][1], ast.Starred)
    parts = [_inside(item, width - 4, name, "" if is_single else ",") for name, item in items]
    if is_single and items[0][0]:
        parts = [_inside(items[0][1], width - 4, items[0][0], ",")]
    return [opening, *_indented([line for part in parts for line in part]), closing]


def _inside(node: ast.expr, width: int, first: str = "", last: str = "") -> list[str]:
    """The lines of an expression that stands in brackets, so that it can be broken without any of its own."""
    whole = f"{first}{text_of(node)}{last}"
    if len(whole) <= width:
        return [whole]
    if isinstance(node, ast.IfExp):
        then, test, other = text_of(node.body, TEST + 1), text_of(node.test, TEST + 1), text_of(node.orelse)
        is_chain = isinstance(node.orelse, ast.IfExp)
        others = _inside(node.orelse, width, "else ", last) if is_chain else [f"else {other}{last}"]
        return [f"{first}{then}", f"if {test}", *others]
    parts = _operands(node)
    if len(parts) > 1:
        ends = [""] * (len(parts) - 1) + [last]
        starts = [first, *(f"{sign} " for sign, _, _ in parts[1:])]
        return [
            line for (_, part, least), start, end in zip(parts, starts, ends, strict=True)
            for line in _operand(part, least, width, start, end)]
    return _operand(node, TEST, width, first, last)


def _operand(node: ast.expr, least: int, width: int, first: str, last: str) -> list[str]:
    """The lines of an operand, in parentheses where its operator binds less than ``least``."""
    text = text_of(node, least)
    if len(first) + len(text) + len(last) <= width:
        return [f"{first}{text}{last}"]
    if binds(node) < least:
        return [f"{first}(", *_indented(_inside(node, width - 4)), f"){last}"]
    if isinstance(node, ast.UnaryOp):
        sign, level = SIGNS[type(node.op)]
        return _operand(node.operand, level, width, first + sign, last)
    if len(_operands(node)) > 1:
        return _inside(node, width, first, last)
    return _last_opened(node, node, width, first, last, alone=True) or [f"{first}{text}{last}"]


# --- the parts of expressions ---------------------------------------------------------------------------------------


def _operands(node: ast.expr) -> list[tuple[str, ast.expr, int]]:
    """The operands of a chain of operators that bind alike, each with the operator before it, and how tightly it must
    bind to need no parentheses; none of another expression."""
    match node:
        case ast.BoolOp(op, values):
            sign, level = SIGNS[type(op)]
            return [(sign, value, level + 1) for value in values]
        case ast.Compare(left, ops, others):
            level = binds(node) + 1
            signs = ["", *(SIGNS[type(op)][0] for op in ops)]
            return [(sign, value, level) for sign, value in zip(signs, [left, *others], strict=True)]
        case ast.BinOp(left, ast.Pow(), right):
            return [("", left, ATOM), ("**", right, UNARY)]
        case ast.BinOp(left, op, right):
            sign, level = SIGNS[type(op)]
            before = _operands(left) if binds(left) == level else [("", left, level)]
            return [*before, (sign, right, level + 1)]
    return []


def _operators(node: ast.expr) -> list[str]:
    """The operators that bind least, outside of brackets; a choice counts twice."""
    if isinstance(node, (ast.IfExp, ast.Lambda)):
        return ["if", "else"]
    return [sign for sign, _, _ in _operands(node)[1:]]


def _last_leaf(node: ast.expr) -> ast.expr:
    """What the text of an expression ends with."""
    while True:
        parts = _operands(node)
        if len(parts) > 1:
            if binds(parts[-1][1]) < parts[-1][2]:
                return parts[-1][1]
            node = parts[-1][1]
        elif isinstance(node, ast.UnaryOp):
            is_loose = binds(node.operand) < binds(node) or text_of(node).endswith(f"({text_of(node.operand)})")
            if is_loose:
                return node.operand
            node = node.operand
        else:
            return node


def _first_leaf(node: ast.expr) -> ast.expr:
    """What the text of an expression begins with."""
    while True:
        parts = _operands(node)
        inner = parts[0][1] if len(parts) > 1 else _receiver(node)
        if inner is None:
            return node
        if _needs_parentheses(node, inner):
            return inner
        node = inner


def _receiver(node: ast.expr) -> ast.expr | None:
    """What an attribute is read of, an item taken of, or what is called."""
    match node:
        case ast.Attribute(value) | ast.Subscript(value) | ast.Call(value):
            return value
    return None


def _needs_parentheses(node: ast.expr, part: ast.expr) -> bool:
    """Whether a part that the text of an expression begins or ends with has parentheses there."""
    text, inner = text_of(node), f"({text_of(part)})"
    return binds(part) < ATOM and (text.startswith(inner) or text.endswith(inner))


def _in_parentheses(node: ast.expr, part: ast.expr) -> str:
    text = text_of(part)
    return f"({text})" if part is not node and _needs_parentheses(node, part) else text


def _has_brackets(node: ast.expr, alone: bool) -> bool:
    """Whether an expression has brackets with something in them to break in; those of an index count where nothing
    stands beside it."""
    match node:
        case ast.Call(_, args, keywords):
            return bool(args or keywords)
        case ast.List(items) | ast.Set(items) | ast.Tuple(items):
            return bool(items)
        case ast.Dict(_, values):
            return bool(values)
        case ast.ListComp() | ast.SetComp() | ast.DictComp():
            return True
        case ast.Subscript():
            return alone
    return binds(node) < ATOM
