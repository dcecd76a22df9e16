"""The text of a function goes in, its libcst tree comes out, in pieces where expressions are deep.

libcst's parser takes time that grows with the square of the depth of an expression: a sum of two thousand terms is two
thousand levels deep. So a deep expression is cut: ``a + b + ... + y + z`` becomes ``part_0_       + z``, where the name
stands for a piece that is parsed on its own and is cut in the same way. A piece is as long as its name with the blanks
after it, so that every offset stays what it is in the text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from s2s.lowering.places import places_of

__all__ = ["Tree", "line_starts", "parse"]

LEVELS = 40
"""So many levels of an expression stay together."""

LONG = 2000
"""A shorter text is parsed as it is."""

_CUT = (ast.BinOp, ast.UnaryOp, ast.Call, ast.Attribute, ast.Subscript, ast.IfExp, ast.Compare)


@dataclass
class Tree:
    """A parsed text: the tree, the place of each node as a pair of offsets, and the pieces by the names that stand for
    them."""

    module: cst.Module
    places: dict[cst.CSTNode, tuple[int, int]]
    pieces: dict[str, cst.BaseExpression]


def parse(text: str) -> Tree:
    """The tree of a text. Raises libcst's ParserSyntaxError."""
    left, cuts = list(text), []
    for number, (start, end) in enumerate(_cuts(text)):
        name = f"part_{number}_"
        cuts.append((name, start, end, "".join(left[start:end])))
        left[start:end] = name.ljust(end - start)
    module = cst.parse_module("".join(left) if cuts else text)
    tree = Tree(module, places_of(module), {})
    for name, start, _, piece in cuts:
        inner = cst.parse_module(f"({piece})\n")
        match inner.body[0]:
            case cst.SimpleStatementLine(body=[cst.Expr(value=value)]):
                tree.pieces[name] = value
        shift = start - 1  # the bracket
        tree.places |= {node: (a + shift, b + shift) for node, (a, b) in places_of(inner).items()}
    if cuts:
        ends = {name: (start, end) for name, start, end, _ in cuts}
        tree.places |= {
            node: ends[node.value] for node in tree.places if isinstance(node, cst.Name) and node.value in ends
        }
    return tree


def line_starts(text: str) -> list[int]:
    """The offset of each line."""
    return [0, *(match.end() for match in re.finditer(r"\r\n?|\n", text))]


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    """Where expressions are cut, from the innermost to the outermost."""
    if len(text) < LONG or ":=" in text or "part_" in text:
        return
    try:
        module = ast.parse(text)
    except SyntaxError:  # told by libcst
        return
    offset = _offsets(text)
    height: dict[ast.AST, int] = {}
    for node in _innermost_first(module):
        if isinstance(node, (ast.stmt, ast.JoinedStr)):
            continue
        height[node] = 1 + max((height.get(child, 0) for child in ast.iter_child_nodes(node)), default=0)
        if height[node] >= LEVELS and isinstance(node, _CUT) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            assert node.end_lineno is not None and node.end_col_offset is not None
            height[node] = 0
            yield offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)


def _innermost_first(root: ast.AST) -> list[ast.AST]:
    """The nodes of a tree, each after what is inside it; what is inside an f-string has no places, and is left out."""
    found, left = [], [root]
    while left:
        node = left.pop()
        found.append(node)
        if not isinstance(node, ast.JoinedStr):
            left += ast.iter_child_nodes(node)
    return found[::-1]


def _offsets(text: str) -> Callable[[int, int], int]:
    """The offset of a line and a column as ``ast`` counts it: in bytes."""
    starts, is_ascii = line_starts(text), text.isascii()

    def offset(line: int, column: int) -> int:
        start = starts[line - 1]
        if is_ascii:
            return start + column
        return start + len(text[start : start + column].encode()[:column].decode())

    return offset
