"""A function in, the answer out which of its operations may need an integer of more than 64 bits.

Python's integers grow, Numba's wrap around. Operations on integers that are known to be small (positions in arrays,
iterations of loops, constants) are left alone, and so are those on floats and arrays; the others are replaced by
helpers that raise. What is asked is whether a variable *may* be an integer: the helpers look at the types again.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["Integers"]

_SMALL = 2**31
_HELPERS: dict[type[ast.operator], str] = {ast.Mult: "multiply", ast.Add: "add", ast.Sub: "subtract",
                                           ast.LShift: "shift"}
_CLOSED = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr,
           ast.BitXor)
_COUNTS = ("len", "range")


class Integers:
    """What is known of the integers of a function; ``sample`` gives the value of a path from outside or LookupError."""

    def __init__(self, node: ast.FunctionDef, sample: Callable[[ast.expr], Any]) -> None:
        self.sample = sample
        self.assigned: dict[str, list[ast.expr | None]] = {}
        self.parameters = {a.arg for a in node.args.args}
        for name, value in _assignments(node):
            self.assigned.setdefault(name, []).append(value)
        self.ints = {name for name in self.parameters if self._is_sampled_int(ast.Name(name, ast.Load()))}
        for name in self.parameters & self.assigned.keys():
            self.assigned[name].append(None)
        self.small: set[str] = set()
        self._grow(self.ints, lambda name, values: any(v is not None and self.may_be_int(v) for v in values))
        self._grow(self.small, lambda name, values: all(v is not None and self._is_step(name, v) for v in values))

    def _grow(self, found: set[str], holds: Callable[[str, list[ast.expr | None]], bool]) -> None:
        while True:
            more = {name for name, values in self.assigned.items() if name not in found and holds(name, values)}
            if not more:
                return
            found |= more

    def helper_for(self, node: ast.BinOp) -> str | None:
        """The helper that does an operation of the function safely; None where the operation itself is safe."""
        kind = type(node.op)
        if kind is ast.Pow:
            whole = isinstance(node.right, ast.Constant) and type(node.right.value) is int and node.right.value >= 0
            return None if whole and not self.may_be_int(node.left) else "power"
        if kind not in _HELPERS or not (self.may_be_int(node.left) and self.may_be_int(node.right)):
            return None
        small = self.is_small(node.left), self.is_small(node.right)
        return None if all(small) or (kind in (ast.Add, ast.Sub) and any(small)) else _HELPERS[kind]

    def may_be_int(self, e: ast.expr) -> bool:
        """Whether an expression may be a Python integer."""
        match e:
            case ast.Constant(value=value):
                return type(value) is int
            case ast.Name(id=name) if name in self.assigned:
                return name in self.ints
            case ast.Attribute(attr="size" | "ndim") | ast.Subscript(value=ast.Attribute(attr="shape")):
                return True
            case ast.Name() | ast.Attribute() | ast.Subscript():
                return self._is_sampled_int(e)
            case ast.BinOp(left=left, op=op, right=right):
                return isinstance(op, _CLOSED) and self.may_be_int(left) and self.may_be_int(right)
            case ast.UnaryOp(operand=operand):
                return self.may_be_int(operand)
            case ast.IfExp(body=body, orelse=orelse):
                return self.may_be_int(body) or self.may_be_int(orelse)
            case ast.Call(func=ast.Name(id="len" | "int" | "round")):
                return True
            case ast.Call(func=ast.Name(id="max" | "min" | "abs" | "sum" | "pow"), args=arguments):
                return any(map(self.may_be_int, arguments))
            case _:
                return False

    def _is_sampled_int(self, e: ast.expr) -> bool:
        try:
            return type(self.sample(e)) is int
        except (LookupError, TypeError, ValueError):
            return False

    def is_small(self, e: ast.expr) -> bool:
        """Whether an integer is small enough for products of two such ones."""
        match e:
            case ast.Constant(value=int() as value):
                return abs(value) < _SMALL
            case ast.Name(id=name):
                return name in self.small
            case ast.Attribute(attr="size" | "ndim") | ast.Subscript(value=ast.Attribute(attr="shape")):
                return True
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.FloorDiv() | ast.Mod(), right=right):
                return self.is_small(left) and self.is_small(right)
            case ast.UnaryOp(operand=operand):
                return self.is_small(operand)
            case ast.Call(func=ast.Name(id=name)) if name in _COUNTS:
                return True
            case ast.Call(func=ast.Name(id="max" | "min"), args=arguments):
                return all(map(self.is_small, arguments))
            case _:
                return False

    def _is_step(self, name: str, e: ast.expr) -> bool:
        """Whether a variable stays small by this assignment: a small value, or itself and one more."""
        match e:
            case ast.BinOp(left=ast.Name(id=left), op=ast.Add() | ast.Sub(), right=ast.Constant() as right):
                return (left == name or left in self.small) and self.is_small(right)
            case _:
                return self.is_small(e)


def _assignments(node: ast.FunctionDef) -> Iterator[tuple[str, ast.expr | None]]:
    """The variables of a function with what is assigned to them; None where that is no expression."""
    for n in ast.walk(node):
        match n:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _pairs(target, value)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                yield name, ast.BinOp(ast.Name(name, ast.Load()), op, value)
            case ast.For(target=target, iter=iterable) | ast.comprehension(target=target, iter=iterable):
                yield from _items(target, iterable)
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                yield name, value


def _pairs(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None]]:
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case (ast.Tuple(elts=targets) | ast.List(elts=targets)), (ast.Tuple(elts=values) | ast.List(elts=values)):
            if len(targets) == len(values):
                for t, v in zip(targets, values):
                    yield from _pairs(t, v)
        case (ast.Tuple(elts=targets) | ast.List(elts=targets)), _:
            # `n, m = x.shape`
            items = ast.Subscript(value, ast.Constant(0), ast.Load()) if isinstance(value, ast.Attribute) else None
            for t in targets:
                yield from _pairs(t, items)


def _items(target: ast.expr, iterable: ast.expr) -> Iterator[tuple[str, ast.expr | None]]:
    """The variables of a loop: an item of a range is as good as a length."""
    length = ast.Call(ast.Name("len", ast.Load()), [], [])
    match iterable:
        case ast.Call(func=ast.Name(id="range")):
            yield from _pairs(target, length)
        case ast.Call(func=ast.Name(id="reversed" | "sorted" | "list"), args=[inner]):
            yield from _items(target, inner)
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]):
            if isinstance(target, ast.Tuple) and len(target.elts) == 2:
                yield from _pairs(target.elts[0], length)
                yield from _items(target.elts[1], inner)
        case ast.Call(func=ast.Name(id="zip"), args=inner):
            if isinstance(target, ast.Tuple) and len(target.elts) == len(inner):
                for t, i in zip(target.elts, inner):
                    yield from _items(t, i)
        case _:
            yield from _pairs(target, None)
