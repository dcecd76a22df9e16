"""Source in, the places in it that read names of its module out: what a scope binds itself is none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Use", "bound_anywhere", "bound_names", "uses_of"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Use:
    """A name of the module that is read, with the attributes read of it: ``np.linalg.inv`` is ``("np", "linalg",
    "inv")``. ``nodes`` are the nodes for each length of the path."""

    path: tuple[str, ...]
    nodes: tuple[ast.expr, ...]


def uses_of(tree: ast.AST, bound: frozenset[str] = frozenset()) -> Iterator[Use]:
    """The names that a piece of code reads and neither binds nor has in ``bound``. Annotations are not read."""
    match tree:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from _of_head(tree, bound)
            yield from _of_body(tree, bound)
        case ast.Lambda(arguments, body):
            for default in (*arguments.defaults, *(d for d in arguments.kw_defaults if d)):
                yield from uses_of(default, bound)
            yield from uses_of(body, bound | _parameters(arguments))
        case ast.ClassDef():
            for base in (*tree.decorator_list, *tree.bases, *(k.value for k in tree.keywords)):
                yield from uses_of(base, bound)
            own = bound | bound_names(tree.body)
            for statement in tree.body:
                if isinstance(statement, _FUNCTIONS):  # names of a class body are not seen in its methods
                    yield from _of_head(statement, own)
                    yield from _of_body(statement, bound)
                else:
                    yield from uses_of(statement, own)
                    if isinstance(statement, ast.AnnAssign):  # dataclasses look at annotations
                        yield from uses_of(statement.annotation, own)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            first, inner = tree.generators[0].iter, bound | {
                n.id for g in tree.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
            yield from uses_of(first, bound)  # it is read outside of the comprehension
            for child in ast.iter_child_nodes(tree):
                for part in ast.iter_child_nodes(child) if isinstance(child, ast.comprehension) else (child,):
                    if part is not first:
                        yield from uses_of(part, inner)
        case ast.AnnAssign(target, _, value):
            yield from uses_of(target, bound)
            if value is not None:
                yield from uses_of(value, bound)
        case ast.Attribute() | ast.Name():
            yield from _of_path(tree, bound)
        case _:
            for child in ast.iter_child_nodes(tree):
                yield from uses_of(child, bound)


def _of_head(node: ast.FunctionDef | ast.AsyncFunctionDef, bound: frozenset[str]) -> Iterator[Use]:
    """What decorators and defaults read."""
    for inner in (*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)):
        yield from uses_of(inner, bound)


def _of_body(node: ast.FunctionDef | ast.AsyncFunctionDef, bound: frozenset[str]) -> Iterator[Use]:
    inner = (bound | _parameters(node.args) | bound_names(node.body)) - _declared(node.body)
    for statement in node.body:
        yield from uses_of(statement, inner)


def _of_path(node: ast.expr, bound: frozenset[str]) -> Iterator[Use]:
    names: list[str] = []
    nodes: list[ast.expr] = []
    inner = node
    while isinstance(inner, ast.Attribute):
        names.insert(0, inner.attr)
        nodes.insert(0, inner)
        inner = inner.value
    if not isinstance(inner, ast.Name):
        yield from uses_of(inner, bound)
    elif isinstance(inner.ctx, ast.Load) and inner.id not in bound:
        yield Use((inner.id, *names), (inner, *nodes))


def _parameters(arguments: ast.arguments) -> frozenset[str]:
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    return frozenset(a.arg for a in every if a is not None)


def _declared(body: list[ast.stmt]) -> frozenset[str]:
    """The names that are said to be those of the module."""
    return frozenset(n for s in body for node in _own(s) if isinstance(node, ast.Global) for n in node.names)


def bound_names(body: list[ast.stmt]) -> frozenset[str]:
    """The names that a block binds, those of blocks in it among them, not those of functions in it."""
    found: set[str] = set()
    for statement in body:
        for node in _own(statement):
            match node:
                case ast.Name(name, ast.Store() | ast.Del()):
                    found.add(name)
                case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                    found |= {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
                case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                    found.add(name)
                case ast.Import(names) | ast.ImportFrom(_, names):
                    found |= {(a.asname or a.name).partition(".")[0] for a in names}
                case (ast.ExceptHandler(_, str(name)) | ast.MatchAs(_, str(name)) | ast.MatchStar(str(name))
                      | ast.MatchMapping(rest=str(name))):
                    found.add(name)
    return frozenset(found)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """A node and those in it, but for those in functions, classes and comprehensions in it."""
    yield node
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Lambda, *_COMPREHENSIONS)):
        return
    for child in ast.iter_child_nodes(node):
        yield from _own(child)


def bound_anywhere(node: ast.AST) -> frozenset[str]:
    """All names that a piece of code binds somewhere in it, at any depth, but for its own."""
    found = {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    found |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    for inner in ast.walk(node):
        found |= bound_names([inner]) if isinstance(inner, ast.stmt) and inner is not node else frozenset()
    return frozenset(found)
