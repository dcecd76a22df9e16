"""Which names a body binds, and the variable that an assignment to a name binds."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from s2s.core.ir import Var
from s2s.errors import error
from s2s.frontend.lowering.context import Context
from s2s.frontend.lowering.refusals import refuse
from s2s.frontend.sources import as_stored, mangle

__all__ = [
    "Bindings", "captured_names", "dotted", "enter", "import_name", "is_global", "own", "own_name", "target_names",
    "walrus_names",
]


class Bindings:
    """Collects the names that the statements of one function assign, functions inside it left out."""

    def __init__(self, c: Context) -> None:
        self.c = c
        self.locals: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()

    def suite(self, node: cst.BaseSuite) -> None:
        for statement in node.body:
            self.statement(statement)

    def statement(self, node: cst.CSTNode) -> None:
        match node:
            case cst.SimpleStatementLine(body=body):
                for small in body:
                    self.small(small)
            case cst.FunctionDef(name=name) | cst.ClassDef(name=name):
                self.locals.add(self.c.name(name))
            case cst.For(target=target):
                self.locals.update(target_names(self.c, target))
                self.nested(node)
            case cst.If() | cst.While() | cst.Else():
                self.nested(node)
            case cst.With(items=items, body=body):
                for item in items:
                    if item.asname is not None:
                        self.locals.update(target_names(self.c, item.asname.name))
                self.suite(body)
            case cst.Try():
                self.attempt(node)
            case cst.Match(cases=cases):
                for match_case in cases:
                    self.locals.update(map(self.c.name, captured_names(match_case.pattern)))
                    self.suite(match_case.body)
            case cst.BaseSmallStatement():  # the body of ``if x: y = 1`` on one line
                self.small(node)
            case _:
                pass  # refused when it is lowered

    def nested(self, node: cst.If | cst.While | cst.For | cst.Else) -> None:
        self.suite(node.body)
        orelse = None if isinstance(node, cst.Else) else node.orelse
        if orelse is not None:
            self.statement(orelse)

    def attempt(self, node: cst.Try) -> None:
        self.suite(node.body)
        for handler in node.handlers:
            if handler.name is not None:
                self.locals.update(target_names(self.c, handler.name.name))
            self.suite(handler.body)
        for part in (node.orelse, node.finalbody):
            if part is not None:
                self.suite(part.body)

    def small(self, node: cst.CSTNode) -> None:
        match node:
            case cst.Assign(targets=targets):
                for target in targets:
                    self.locals.update(target_names(self.c, target.target))
            case cst.AnnAssign(target=target) | cst.AugAssign(target=target):
                self.locals.update(target_names(self.c, target))
            case cst.Import(names=names) | cst.ImportFrom(names=[*names]):
                self.locals.update(import_name(self.c, alias) for alias in names)
            case cst.Del(target=target):
                self.locals.update(target_names(self.c, target))
            case cst.Global(names=names):
                self.globals.update(self.c.name(item.name) for item in names)
            case cst.Nonlocal(names=names):
                self.nonlocals.update(self.c.name(item.name) for item in names)
            case _:
                pass


def target_names(c: Context, target: cst.CSTNode) -> Iterator[str]:
    """The variables that an assignment to ``target`` binds."""
    match target:
        case cst.Name():
            yield c.name(target)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from target_names(c, element.value)
        case _:
            pass


def captured_names(pattern: cst.CSTNode) -> Iterator[cst.Name]:
    """The names that a pattern binds, in order of the text."""
    match pattern:
        case cst.MatchAs(pattern=inner, name=name):
            if inner is not None:
                yield from captured_names(inner)
            if name is not None:
                yield name
        case cst.MatchStar(name=cst.Name() as name):
            yield name
        case cst.MatchMapping(elements=elements, rest=rest):
            for element in elements:
                yield from captured_names(element.pattern)
            if rest is not None:
                yield rest
        case cst.MatchValue() | cst.MatchSingleton():
            pass
        case _:
            for child in pattern.children:
                yield from captured_names(child)


def import_name(c: Context, alias: cst.ImportAlias) -> str:
    """The variable that one name of an import statement binds."""
    if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
        return c.name(alias.asname.name)
    return mangle(dotted(alias.name).split(".")[0], c.owner)


def dotted(node: cst.CSTNode) -> str:
    match node:
        case cst.Attribute(value=value, attr=attr):
            return f"{dotted(value)}.{as_stored(attr.value)}"
        case cst.Name(value=name):
            return as_stored(name)
        case _:
            raise error("S2S901", problem=f"a {type(node).__name__} inside a dotted name")


def own(c: Context, node: cst.CSTNode) -> Var:
    """The variable that an assignment to a name binds."""
    if not isinstance(node, cst.Name):
        refuse(c, "S2S101", node, "is not supported as a target", construct="this assignment")
    return own_name(c, c.name(node), node)


def is_global(c: Context, node: cst.Name) -> bool:
    """Whether an assignment to a name assigns a variable of the module."""
    assert c.scope is not None
    name = c.name(node)
    return name in c.scope.globals and not any(name in frame for frame in c.scope.frames)


def own_name(c: Context, name: str, node: cst.CSTNode) -> Var:
    assert c.scope is not None
    for frame in reversed(c.scope.frames):
        if name in frame:
            return frame[name]
    if name in c.scope.globals:
        hint = f"return the new value and assign `{name}` outside the function"
        refuse(c, "S2S108", node, "changes a variable outside the function", hint, name=name)
    if name in c.scope.nonlocals and not isinstance(c.resolve(name), Var):  # resolving notes that it is captured
        hint = f"return the new value and assign `{name}` in the function that owns it"
        refuse(c, "S2S109", node, "changes a variable of the enclosing function", hint, name=name)
    return Var(name)


# --- names that are assigned inside expressions -------------------------------------------------------------


def walrus_names(c: Context, node: cst.CSTNode) -> Iterator[str]:
    """The names that ``:=`` assigns in a node, functions inside it left out."""
    match node:
        case cst.NamedExpr(target=cst.Name() as target):
            yield c.name(target)
        case cst.FunctionDef(params=params) | cst.Lambda(params=params):
            yield from walrus_names(c, params)  # the defaults are evaluated outside the function
            return
    for child in node.children:
        yield from walrus_names(c, child)


def enter(c: Context, *nodes: cst.CSTNode) -> None:
    """Note which names the statement about to be lowered assigns by ``:=``: reads of them need a copy,
    because an operand that was read before must not see the new value (``x + (x := 2)``)."""
    if c.has_walrus:
        c.walrus = frozenset(name for node in nodes for name in walrus_names(c, node))
