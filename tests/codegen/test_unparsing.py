"""The text of nodes, against that of ``ast.unparse``."""

from __future__ import annotations

import ast
import random

import pytest

from s2s.codegen import unparsing

_BINARY = (ast.Add, ast.Sub, ast.Mult, ast.MatMult, ast.Div, ast.Mod, ast.FloorDiv, ast.Pow, ast.LShift, ast.RShift,
           ast.BitOr, ast.BitXor, ast.BitAnd)
_UNARY = (ast.Not, ast.USub, ast.UAdd, ast.Invert)
_COMPARE = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
_VALUES = (0, 7, 2.5, 1e300, -0.0, True, None, "a'b", 'a"\n', ...)


def expression(rng: random.Random, depth: int) -> ast.expr:
    """An expression of nodes that are written here, nested in any way."""
    def inner() -> ast.expr:
        return expression(rng, depth - 1)

    match rng.randrange(9) if depth else rng.randrange(2):
        case 0:
            return ast.Name("x", ast.Load())
        case 1:
            return ast.Constant(rng.choice(_VALUES))
        case 2 | 3:
            return ast.BinOp(inner(), rng.choice(_BINARY)(), inner())
        case 4:
            return ast.UnaryOp(rng.choice(_UNARY)(), inner())
        case 5:
            tests = [rng.choice(_COMPARE)() for _ in range(rng.randint(1, 2))]
            return ast.Compare(inner(), tests, [inner() for _ in tests])
        case 6:
            return ast.Attribute(inner(), "T", ast.Load())
        case 7:
            keywords = [ast.keyword(name, inner()) for name in ("axis", None)[: rng.randrange(3)]]
            return ast.Call(inner(), [inner() for _ in range(rng.randrange(3))], keywords)
        case _:
            bounds = [rng.choice((None, inner())) for _ in range(3)]
            parts: list[ast.expr] = [ast.Slice(*bounds), *(inner() for _ in range(rng.randrange(3)))]
            key = parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load())
            return ast.Subscript(inner(), rng.choice((key, inner())), ast.Load())


def statement(rng: random.Random) -> ast.stmt:
    value, name = expression(rng, 3), ast.Name("y", ast.Store())
    made = rng.choice((
        ast.Assign([name], value), ast.AugAssign(name, rng.choice(_BINARY)(), value), ast.Return(value),
        ast.Return(None), ast.Expr(value),
    ))
    made.lineno = 1
    return made


@pytest.mark.parametrize("seed", range(300))
def test_nodes_are_written_as_by_ast(seed: int) -> None:
    rng = random.Random(seed)
    for node in (expression(rng, 4), statement(rng)):
        assert unparsing._text(node) == ast.unparse(node)


@pytest.mark.parametrize("text", [
    "x if a else b", "lambda x: x", "a and b", "(a, b)", "x[a,]", "x[()]", "[a, *b]", "{**a}", "f(*a)", "1j * x",
    "f'{x}'", "a, b = c", "assert a, b", "del a[0]", "1e999 * x",
])
def test_other_nodes_are_written_by_ast(text: str) -> None:
    (node,) = ast.parse(text).body
    with pytest.raises(KeyError):
        unparsing._text(node)
    assert unparsing.unparse(node) == ast.unparse(node)
