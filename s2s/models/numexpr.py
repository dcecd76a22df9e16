"""Expressions of numexpr as functions of Python: a text, or a program that was compiled from one, goes in, and a
function over NumPy that computes the same comes out.

    numexpr.evaluate("where(a > 0.5, a % b, 0.0)")      ->      def evaluated(a, b):
                                                                    return np.where(a > np.float64(0.5), ...)
"""

from __future__ import annotations

import ast
import functools
import sys
import types
from typing import Any

import numpy as np

from s2s.core.linecaches import define

__all__ = ["function_of_program", "function_of_text", "is_evaluate", "is_program", "names_in"]

_SAME = (
    "sqrt", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh",
    "fmod", "arctan2", "hypot", "nextafter", "copysign", "maximum", "minimum", "log", "log1p", "log10", "log2", "exp",
    "expm1", "ceil", "floor", "trunc", "sign", "where", "real", "imag", "isnan", "isfinite", "isinf", "signbit", "sum",
    "prod", "min", "max", "conj", "ones_like", "copy",
)
_CALLS = {name: f"np.{name}" for name in _SAME} | {
    "abs": "np.abs", "absolute": "np.abs", "conjugate": "np.conj", "round": "np.rint", "complex": "numexpr.complex_of",
}
"""What the functions of numexpr are called here."""

_SIGNS = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "floordiv": "{} // {}", "pow": "{} ** {}",
    "mod": "numexpr.remainder({}, {})", "neg": "-{}", "gt": "{} > {}", "ge": "{} >= {}", "eq": "{} == {}",
    "ne": "{} != {}", "and": "{} & {}", "or": "{} | {}", "xor": "{} ^ {}", "invert": "~{}", "lshift": "{} << {}",
    "rshift": "{} >> {}", "cast": "{} + 0", "copy": "{} + 0", "ones": "np.ones_like({})",
}
"""What the operations of programs are here, where they have no name of NumPy."""


def remainder(a: Any, b: Any) -> Any:
    """``a % b``, as C has it for floats and Python for integers."""
    if np.asarray(a).dtype.kind == "f" or np.asarray(b).dtype.kind == "f":
        return np.fmod(a, b)
    return a % b


def complex_of(a: Any, b: Any) -> Any:
    return a + 1j * b


def is_evaluate(fn: Any) -> bool:
    """Whether it is ``numexpr.evaluate``, which reads the variables of the function that calls it."""
    return type(fn) is types.FunctionType and fn.__module__ == "numexpr.necompiler" and fn.__name__ == "evaluate"


def is_program(fn: Any) -> bool:
    """Whether it is what ``numexpr.NumExpr`` gives."""
    return type(fn).__name__ == "NumExpr" and type(fn).__module__.partition(".")[0] == "numexpr"


# --- texts ------------------------------------------------------------------------------------------------------------


def names_in(text: str) -> tuple[str, ...] | None:
    """The variables of an expression, None where it is none."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return None
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}
    return tuple(sorted(names - {"True", "False"}))


class _Translation(ast.NodeTransformer):
    """An expression with the names of NumPy in the place of those of numexpr."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name) or node.func.id not in _CALLS:
            raise ValueError(ast.unparse(node.func))
        node.func = _named(_CALLS[node.func.id])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mod):
            return ast.Call(_named("numexpr.remainder"), [node.left, node.right], [])
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if type(node.value) is float:  # a double, whatever it is multiplied with
            return ast.Call(_named("np.float64"), [node], [])
        return node


def _named(name: str) -> ast.expr:
    return ast.parse(name, mode="eval").body


@functools.lru_cache(maxsize=256)
def function_of_text(text: str) -> types.FunctionType | None:
    """A function of the variables of an expression, in the order of ``names_in``; None where it has a function that is
    not known here."""
    names = names_in(text)
    if names is None:
        return None
    try:
        tree = _Translation().visit(ast.parse(text.strip(), mode="eval"))
    except ValueError:
        return None
    return _defined(names, [], ast.unparse(ast.fix_missing_locations(tree)))


def _defined(names: tuple[str, ...], lines: list[str], result: str) -> types.FunctionType:
    given = [f"    {name} = np.asarray({name})" for name in names]
    text = "\n".join([f"def evaluated({', '.join(names)}):", *given, *lines, f"    return np.asarray({result})"])
    scope = {"np": np, "numexpr": sys.modules[__name__], "__name__": __name__}
    return define("evaluated", text + "\n", scope)


# --- programs ---------------------------------------------------------------------------------------------------------


_CASTS = {"d": "{} * np.float64(1.0)", "f": "{} * np.float32(1.0)", "c": "{} + 0j"}
"""Casts, by the kind of number that they make; all others are exact."""


@functools.lru_cache(maxsize=256)
def function_of_program(program: Any) -> types.FunctionType | None:
    """A function that does what a compiled expression does; None where it has an operation that is not known here."""
    lines = []
    for operation, target, *operands in sys.modules["numexpr"].disassemble(program):
        word, _, kinds = operation.decode().partition("_")
        if word == "noop":
            continue
        given = [_place(p) for p, kind in zip(operands, kinds[1:]) if kind != "n"]
        number = next((p for p, kind in zip(operands, kinds[1:]) if kind == "n"), None)
        text = _operation(word, kinds, given, number)
        if text is None:
            return None
        lines.append(f"    {_place(target)} = {text}")
    return _defined(tuple(program.input_names), lines, "r0")


def _operation(word: str, kinds: str, given: list[str], number: int | None) -> str | None:
    """One operation; its ``number`` says which function it calls, or along which axis it reduces."""
    if word in ("sum", "prod", "min", "max"):
        return f"np.{word}({given[0]}, axis={number})"
    if word == "cast":
        return _CASTS.get(kinds[0], "{} + 0").format(*given)
    if word == "func":
        codes = sys.modules["numexpr"].interpreter.funccodes
        called = f"_{kinds.rstrip('n')}"
        word = next(name.decode() for name, code in codes.items() if code == number and name.decode().endswith(called))
        word = word.removesuffix(called)
    if word in _SIGNS:
        return _SIGNS[word].format(*given)
    return f"{_CALLS[word]}({', '.join(given)})" if word in _CALLS else None


def _place(place: Any) -> str:
    """A register of a program: the result, a variable, a constant or a temporary."""
    name, _, inside = place.decode().removesuffix("]").partition("[")
    if not inside:
        return str(name)
    return inside if name.startswith("r") else f"np.asarray({inside})[()]"
