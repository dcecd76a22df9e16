"""Questions about syntax trees, and small pieces of them, for the adaptation to Numba and its wrappers."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

from s2s.codegen.expressions import BINARY
from s2s.core.operators import OPERATORS

__all__ = [
    "IN_PLACE", "Substitute", "bound_names", "define", "forward_range", "index_expression", "is_range", "is_text",
    "items_of", "leaves_of", "lists_in", "literals_in", "name_of", "names_in", "returned_display", "store_names",
    "store_to", "stored_names", "write_tuples",
]


IN_PLACE = {node.__name__: OPERATORS[fn].symbol for fn, node in BINARY.items() if OPERATORS[fn].ufunc.signature is None}
"""The symbols of operators that work element by element, by the names of their nodes."""


# --- names ----------------------------------------------------------------------------------------------------------


def names_in(node: ast.AST) -> set[str]:
    """Every name in a tree, and those of parameters."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {
        n.arg for n in ast.walk(node) if isinstance(n, ast.arg)
    }


def bound_names(node: ast.AST) -> set[str]:
    """The names that a function and those nested in it assign."""
    found = {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    found |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return found | {n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef) and n is not node}


def store_names(node: ast.AST) -> Iterator[str]:
    return (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))


def stored_names(node: ast.AST) -> set[str]:
    """The names that a function assigns, and the parameters of functions in it."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)} | {
        a.arg
        for inner in ast.walk(node)
        if isinstance(inner, (ast.FunctionDef, ast.Lambda)) and inner is not node
        for a in inner.args.args
    }


# --- displays and literals ------------------------------------------------------------------------------------------


def is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def is_range(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "range"


def literals_in(node: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """The variables that are assigned a number or a tuple of numbers."""
    for n in ast.walk(node):
        match n:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() | ast.UnaryOp() | ast.Tuple() as value):
                parts = (ast.Constant, ast.UnaryOp, ast.USub, ast.Tuple, ast.Load)
                if all(isinstance(part, parts) for part in ast.walk(value)):
                    yield name, value


def lists_in(node: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """The variables that are assigned lists of constants, or tuples of these, which nothing but calls are given."""
    given = {
        id(a) for n in ast.walk(node) if isinstance(n, ast.Call)
        for a in (*n.args, *(k.value for k in n.keywords)) if isinstance(a, ast.Name)
    }
    loads = (n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    kept = {n.id for n in loads if id(n) not in given}
    for n in ast.walk(node):
        match n:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List() | ast.Tuple() as value) if name not in kept:
                parts = (ast.Constant, ast.UnaryOp, ast.USub, ast.Tuple, ast.List, ast.Load)
                if all(isinstance(part, parts) for part in ast.walk(value)):
                    yield name, value


def write_tuples(node: ast.FunctionDef, once: set[str], takes: Callable[[ast.expr], bool]) -> None:
    """Write lists as tuples, in place, where they are assigned to variables that are assigned ``once`` and nothing is
    done with these but reading an item and passing them to functions that take tuples: Numba has arrays of several
    kinds in tuples only."""
    made = {
        n.targets[0].id: n for n in ast.walk(node)
        if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name) and isinstance(n.value, ast.List)
        and n.targets[0].id in once and n.value.elts
    }
    fine = set()
    for n in ast.walk(node):
        match n:
            case ast.Call(func=func, args=args) if takes(func):
                fine |= {id(a) for a in args}
            case ast.Subscript(value=ast.Name() as value, slice=ast.Constant(value=int())):
                fine.add(id(value))
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List(elts=items)) if name in made:
                fine |= {id(item.value) for item in items if isinstance(item, ast.Starred)}
    loads = [n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in made]
    kept = {n.id for n in loads if id(n) not in fine}
    while True:
        more = {name for name in made.keys() - kept if not _spreads_tuples(made[name].value, made.keys() - kept)}
        if not more:
            break
        kept |= more
    for name in made.keys() - kept:
        elts = made[name].value.elts  # type: ignore[attr-defined]
        items = [i for e in elts for i in (e.value.elts if _is_spread_display(e) else [e])]
        made[name].value = ast.copy_location(ast.Tuple(items, ast.Load()), made[name].value)


def _is_spread_display(item: ast.expr) -> bool:
    return isinstance(item, ast.Starred) and isinstance(item.value, (ast.List, ast.Tuple))


def _spreads_tuples(display: ast.expr, tuples: set[str]) -> bool:
    """Whether what is spread in a display is a display, or one of these variables."""
    items = [item for item in ast.walk(display) if isinstance(item, ast.Starred)]
    return all(_is_spread_display(i) or (isinstance(i.value, ast.Name) and i.value.id in tuples) for i in items)


def returned_display(node: ast.FunctionDef) -> ast.expr | None:
    """The display that a function returns; None where it returns in more than one place, or no display."""
    returns = [n for n in _own_statements(node) if isinstance(n, ast.Return)]
    if len(returns) != 1 or not isinstance(returns[0].value, (ast.Tuple, ast.List, ast.Dict)):
        return None
    return copy.deepcopy(returns[0].value)


def _own_statements(node: ast.FunctionDef) -> Iterator[ast.stmt]:
    """The statements of a function without those of functions in it."""
    todo = list(node.body)
    while todo:
        statement = todo.pop()
        yield statement
        if not isinstance(statement, ast.FunctionDef):
            todo += [n for n in ast.iter_child_nodes(statement) if isinstance(n, ast.stmt)]


def items_of(expr: ast.expr) -> list[ast.expr] | None:
    """The items of a display; None for what is no display."""
    match expr:
        case ast.Tuple(elts=items) | ast.List(elts=items) if not any(isinstance(i, ast.Starred) for i in items):
            return items
        case ast.Dict(keys=keys, values=values) if all(isinstance(k, ast.Constant) for k in keys):
            return values
        case _:
            return None


def leaves_of(expr: ast.expr) -> list[ast.expr]:
    """The expressions in nested displays, without ``None``."""
    items = items_of(expr)
    if items is None:
        return [] if isinstance(expr, ast.Constant) and expr.value is None else [expr]
    return [leaf for item in items for leaf in leaves_of(item)]


# --- pieces ---------------------------------------------------------------------------------------------------------


class Substitute(ast.NodeTransformer):
    """Puts expressions in the place of names."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self.values:
            return copy.deepcopy(self.values[node.id])
        return node


def name_of(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def store_to(name: str) -> ast.expr:
    return ast.Name(name, ast.Store())


def define(name: str, parameters: list[str], body: list[ast.stmt]) -> ast.FunctionDef:
    arguments = ast.arguments([], [ast.arg(p) for p in parameters], None, [], [], None, [])
    made = ast.FunctionDef(name, arguments, body, [])
    if "type_params" in ast.FunctionDef._fields:
        setattr(made, "type_params", [])  # noqa: B010 (unknown to the stubs of 3.11)
    return made


def index_expression(index: ast.expr) -> ast.expr:
    """An index as an expression of its own: ``slice(1, None)`` for ``1:``."""
    match index:
        case ast.Slice(lower=lower, upper=upper, step=step):
            bounds = [part or ast.Constant(None) for part in (lower, upper, *([step] if step else []))]
            return ast.Call(ast.Name("slice", ast.Load()), bounds, [])
        case ast.Tuple(elts=items):
            return ast.Tuple([index_expression(item) for item in items], ast.Load())
        case _:
            return index


def forward_range(iterable: ast.expr) -> ast.expr:
    """``reversed(range(a, b))`` as ``range(b - 1, a - 1, -1)``; ``reversed(x)`` as ``x[::-1]``."""
    match iterable:
        case ast.Call(func=ast.Name(id="reversed"), args=[ast.Call(func=ast.Name(id="range"), args=bounds)]):
            return ast.copy_location(_reversed_range(bounds), iterable)
        case ast.Call(func=ast.Name(id="reversed"), args=[ast.Name() | ast.Attribute() | ast.Subscript() as whole]):
            back = ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1)))
            return ast.copy_location(ast.Subscript(whole, back, ast.Load()), iterable)
        case _:
            return iterable


def _reversed_range(bounds: list[ast.expr]) -> ast.expr:
    start, stop = (ast.Constant(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
    minus_one = ast.UnaryOp(ast.USub(), ast.Constant(1))
    if len(bounds) < 3:
        before = minus_one if len(bounds) == 1 else ast.BinOp(start, ast.Sub(), ast.Constant(1))
        arguments = [ast.BinOp(stop, ast.Sub(), ast.Constant(1)), before, minus_one]
    else:
        step = bounds[2]
        count = ast.Call(ast.Name("len", ast.Load()), [ast.Call(ast.Name("range", ast.Load()), bounds, [])], [])
        last = ast.BinOp(start, ast.Add(), ast.BinOp(ast.BinOp(count, ast.Sub(), ast.Constant(1)), ast.Mult(), step))
        arguments = [last, ast.BinOp(start, ast.Sub(), step), ast.UnaryOp(ast.USub(), step)]
    call = ast.Call(ast.Name("range", ast.Load()), [copy.deepcopy(a) for a in arguments], [])
    return call
