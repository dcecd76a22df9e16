"""A function in, the same function out, which raises where it reads a variable that has no value yet.

Compiled code would go on with whatever is in the variable. A variable that is assigned on every path to its reads is
left alone; another one gets a flag that says whether it has been assigned.
"""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["check_bound"]


def check_bound(node: ast.FunctionDef, raised: set[str]) -> None:
    """Add the checks to a function, in place. ``raised`` names the exception."""
    analysis = _Reads()
    parameters = {a.arg for a in node.args.args}
    analysis.run(node.body, parameters, [], [])
    flagged = set().union(*analysis.unsure.values()) if analysis.unsure else set()
    if not flagged:
        return
    writer = _Flags(analysis.unsure, flagged, next(iter(raised)))
    node.body = [_set_flag(name, False, node) for name in sorted(flagged)] + writer.block(node.body)


def _flag(name: str) -> str:
    return f"{name}_is_bound"


def _set_flag(name: str, value: bool, place: Any) -> ast.stmt:
    return ast.copy_location(ast.Assign([ast.Name(_flag(name), ast.Store())], ast.Constant(value)), place)


class _Reads:
    """Finds the statements that read a variable which may have no value there: ``unsure``, by statement."""

    def __init__(self) -> None:
        self.unsure: dict[int, set[str]] = {}
        self.variables: set[str] | None = None

    def run(
        self, statements: list[ast.stmt], bound: set[str], breaks: list[set[str]], tops: list[set[str]]
    ) -> set[str] | None:
        """What is bound after the statements, given what is before; None where their end is not reached."""
        if self.variables is None:
            self.variables = set().union(*map(_assigned, statements)) if statements else set()
        now: set[str] | None = set(bound)
        for statement in statements:
            if now is None:
                return None
            now = self.statement(statement, now, breaks, tops)
        return now

    def statement(
        self, s: ast.stmt, bound: set[str], breaks: list[set[str]], tops: list[set[str]]
    ) -> set[str] | None:
        """The same for one statement."""
        match s:
            case ast.If(test=test, body=body, orelse=orelse):
                self.reads(s, test, bound)
                return _both(self.run(body, bound, breaks, tops), self.run(orelse, bound, breaks, tops))
            case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
                self.reads(s, iterable, bound)
                return self.loop(bound, bound | _assigned(target), body, orelse, False)
            case ast.While(test=test, body=body, orelse=orelse):
                self.reads(s, test, bound)
                endless = isinstance(test, ast.Constant) and bool(test.value)
                return self.loop(bound, bound, body, orelse, endless)
            case ast.Break():
                breaks.append(bound)
                return None
            case ast.Continue():
                return None
            case ast.Return() | ast.Raise():
                self.reads(s, s, bound)
                return None
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                self.reads(s, value, bound)
                self.read_names(s, {name}, bound)
                return bound
            case _:
                self.reads(s, s, bound)
                return bound | _assigned(s)

    def loop(
        self, bound: set[str], inside: set[str], body: list[ast.stmt], orelse: list[ast.stmt], endless: bool
    ) -> set[str] | None:
        """What is bound after a loop: what is before it, and what each way out has in common."""
        breaks: list[set[str]] = []
        self.run(body, inside, breaks, [])
        ways: list[set[str] | None] = list(breaks)
        if not endless:
            ways.append(self.run(orelse, bound, [], []) if orelse else set(bound))
        after: set[str] | None = None
        for way in ways:
            after = _both(after, way)
        return after

    def reads(self, statement: ast.stmt, part: ast.AST, bound: set[str]) -> None:
        """Note the variables that a part of a statement reads."""
        own = _own_variables(part)
        names = {n.id for n in ast.walk(part) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        self.read_names(statement, names - own, bound)

    def read_names(self, statement: ast.stmt, names: set[str], bound: set[str]) -> None:
        """Note these variables."""
        missing = {name for name in names if name in (self.variables or ()) and name not in bound}
        if missing:
            self.unsure.setdefault(id(statement), set()).update(missing)


def _both(a: set[str] | None, b: set[str] | None) -> set[str] | None:
    if a is None:
        return b
    return a if b is None else a & b


def _assigned(node: ast.AST) -> set[str]:
    """The variables that a statement or target assigns; not those of comprehensions and inner functions."""
    inner = _own_variables(node)
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} - inner
    return found | ({node.name} if isinstance(node, ast.FunctionDef) else set())


def _own_variables(node: ast.AST) -> set[str]:
    """The variables of comprehensions, lambdas and functions in a part."""
    found: set[str] = set()
    for n in ast.walk(node):
        if isinstance(n, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            for generator in n.generators:
                found |= {t.id for t in ast.walk(generator.target) if isinstance(t, ast.Name)}
        elif isinstance(n, (ast.Lambda, ast.FunctionDef)):
            found |= {a.arg for a in n.args.args}
        if isinstance(n, ast.FunctionDef):
            found |= {t.id for t in ast.walk(n) if isinstance(t, ast.Name) and isinstance(t.ctx, ast.Store)}
    return found


class _Flags:
    """Writes the flags and their tests."""

    def __init__(self, unsure: dict[int, set[str]], flagged: set[str], raised: str) -> None:
        self.unsure = unsure
        self.flagged = flagged
        self.raised = raised

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The statements with flags set and tested."""
        done: list[ast.stmt] = []
        for statement in statements:
            done += [self.test(name, statement) for name in sorted(self.unsure.get(id(statement), ()))]
            own: set[str] = set()
            for part in ("body", "orelse"):
                inner = getattr(statement, part, None)
                if inner and not isinstance(statement, ast.FunctionDef):
                    setattr(statement, part, self.block(inner))
            if isinstance(statement, ast.For):
                own = _assigned(statement.target) & self.flagged
                statement.body = [_set_flag(name, True, statement) for name in sorted(own)] + statement.body
            done.append(statement)
            if not isinstance(statement, (ast.For, ast.While, ast.If)):
                done += [_set_flag(name, True, statement) for name in sorted(_assigned(statement) & self.flagged)]
        return done

    def test(self, name: str, place: ast.stmt) -> ast.stmt:
        """``if not name_is_bound: raise``"""
        raised = ast.Raise(ast.Call(ast.Name(self.raised, ast.Load()), [], []), None)
        unbound = ast.UnaryOp(ast.Not(), ast.Name(_flag(name), ast.Load()))
        return ast.fix_missing_locations(ast.copy_location(ast.If(unbound, [raised], []), place))
