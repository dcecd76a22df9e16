"""The text of a function goes in, its libcst tree comes out, in pieces where expressions are deep.

libcst's parser takes time that grows with the square of the depth of an expression: a sum of two thousand terms is two
thousand levels deep. So a deep expression is cut: ``a + b + ... + y + z`` becomes ``part_0_       + z``, where the name
stands for a piece that is parsed on its own and is cut in the same way: without the blanks, so that the pieces of a sum
are as long as its terms together. In the module itself the blanks let every offset stay what it is in the text.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from s2s.frontend.lowering.places import places_of

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


@dataclass
class _Piece:
    """An expression that is parsed on its own: the name that stands for it, its place, and the pieces inside it."""

    name: str
    start: int
    end: int
    inside: list[_Piece]


def parse(text: str) -> Tree:
    """The tree of a text. Raises libcst's ParserSyntaxError."""
    pieces = list(_pieces(text))
    within = {id(inner) for piece in pieces for inner in piece.inside}
    outermost = [piece for piece in pieces if id(piece) not in within]
    module = cst.parse_module(_shortened(text, 0, len(text), outermost, is_padded=True)[0])
    tree = Tree(module, places_of(module), {})
    for piece in pieces:
        short, offset = _shortened(text, piece.start, piece.end, piece.inside)
        inner = cst.parse_module(f"({short})\n")
        match inner.body[0]:
            case cst.SimpleStatementLine(body=[cst.Expr(value=value)]):
                tree.pieces[piece.name] = value
        for node, (a, b) in places_of(inner).items():
            tree.places[node] = offset(a - 1), offset(b - 1)  # after the bracket
    if pieces:
        ends = {piece.name: (piece.start, piece.end) for piece in pieces}
        tree.places |= {
            node: ends[node.value] for node in tree.places if isinstance(node, cst.Name) and node.value in ends
        }
    return tree


def _shortened(
    text: str, start: int, end: int, pieces: list[_Piece], is_padded: bool = False
) -> tuple[str, Callable[[int], int]]:
    """A part of a text with names for the pieces in it, followed by blanks where all offsets are to stay; and the
    offset in the whole text of one in the part."""
    parts, here, there, at, length = [], [0], [start], start, 0
    for piece in sorted(pieces, key=lambda piece: piece.start):
        name = piece.name.ljust(piece.end - piece.start) if is_padded else piece.name
        parts += [text[at : piece.start], name]
        length += piece.start - at + len(name)
        at = piece.end
        here.append(length)
        there.append(at)

    def offset(place: int) -> int:
        mark = max(bisect_right(here, place) - 1, 0)
        return there[mark] + place - here[mark]

    return "".join([*parts, text[at:end]]), offset


def line_starts(text: str) -> list[int]:
    """The offset of each line."""
    return [0, *(match.end() for match in re.finditer(r"\r\n?|\n", text))]


def _pieces(text: str) -> Iterator[_Piece]:
    """What is parsed on its own, from the innermost to the outermost."""
    if len(text) < LONG or ":=" in text or "part_" in text:
        return
    try:
        module = ast.parse(text)
    except SyntaxError:  # told by libcst
        return
    offset = _offsets(text)
    height: dict[ast.AST, int] = {}
    inside: dict[ast.AST, list[_Piece]] = {}
    for number, node in enumerate(_innermost_first(module)):
        if isinstance(node, (ast.stmt, ast.JoinedStr)):
            continue
        children = list(ast.iter_child_nodes(node))
        height[node] = 1 + max((height.get(child, 0) for child in children), default=0)
        found = [piece for child in children for piece in inside.pop(child, ())]
        if height[node] >= LEVELS and isinstance(node, _CUT) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            assert node.end_lineno is not None and node.end_col_offset is not None
            height[node] = 0
            start, end = offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)
            piece = _Piece(f"part_{number}_", start, end, found)
            found = [piece]
            yield piece
        if found:
            inside[node] = found


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
