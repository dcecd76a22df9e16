"""Loops over elements, as ``rt.places`` begins them, in the syntax tree: each operation becomes a call of what
``elements`` has for it. Nothing here imports Numba."""

from __future__ import annotations

import ast
import copy
from typing import Any

__all__ = ["MOST_AXES", "Elements"]

MOST_AXES = 6
"""For so many axes the length has a function of its own."""


class Elements(ast.NodeTransformer):
    """Rewrites the body of a loop; ``known`` gives the name of one of the functions of ``elements``."""

    def __init__(self, known: Any, is_where: Any, fresh: Any) -> None:
        self.known = known
        self.is_where = is_where
        self.fresh = fresh
        self.memory: dict[str, str] = {}

    def arrays(self) -> list[tuple[str, ast.expr]]:
        """What the loop calls the memory of each array, and the array."""
        return [(memory, ast.Name(array, ast.Load())) for array, memory in self.memory.items()]

    def _memory(self, array: ast.Name) -> ast.Name:
        if array.id not in self.memory:
            self.memory[array.id] = self.fresh(f"{array.id}_memory")
        return ast.copy_location(ast.Name(self.memory[array.id], ast.Load()), array)

    def _call(self, name: str, node: ast.AST, *args: ast.expr) -> ast.Call:
        return ast.copy_location(ast.Call(self.known(name), list(args), []), node)  # type: ignore[type-var]

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if not isinstance(node.value, ast.Name):
            return self.generic_visit(node)
        return self._call("read", node, self._memory(node.value), self.visit(node.slice))

    def visit_Assign(self, node: ast.Assign) -> Any:
        value = self.visit(node.value)
        match node.targets:
            case [ast.Subscript(value=ast.Name() as array, slice=index)]:
                stored = self._call("write", node, self._memory(array), self.visit(index), value)
                return ast.copy_location(ast.Expr(stored), node)
            case [ast.Name(id=total)]:
                match value:
                    case ast.BinOp(left=ast.Name(id=left), op=ast.Add(), right=right) if left == total:
                        value = self._call("added", node, value.left, right)
        node.value = value
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        old = copy.deepcopy(node.target)
        old.ctx = ast.Load()
        whole = ast.copy_location(ast.BinOp(old, node.op, node.value), node)
        return self.visit(ast.copy_location(ast.Assign([node.target], whole), node))

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        match node.op:
            case ast.Div():
                return self._call("quotient", node, node.left, node.right)
            case ast.Pow() if not isinstance(node.right, ast.Constant):
                return self._call("power", node, node.left, node.right)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        return self._call("chosen", node, *node.args) if self.is_where(node.func) else node
