"""The text of a module goes in, its mutants come out: each is the module with one small change.

A mutant keeps the number of lines, so that every place in the rest of the module stays where it was. What only changes
how generated code looks (names, spans) or what a message says is left alone, as are assertions, which have nothing to
say while s2s is right, and the samples of rules.

A condition becomes True and False, ``and`` and ``or`` lose each operand and turn into each other, a comparison turns
into its opposite or takes its boundary in, two arguments change places, a number grows by one and, where it is an
index, shrinks by one, the body of a rule changes its sign and its factor.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

NOT_MEANING = frozenset({"samples", "domain", "span", "name", "hint", "label", "names", "reason", "strict"})
"""Keywords that say how something looks or is tested, not what it means."""

KEPT_FUNCTIONS = frozenset({"__repr__", "__str__"})
CONVERSIONS = frozenset({"sorted", "reversed", "list", "tuple", "set", "frozenset", "dict"})
BOOLEANS = frozenset({"any", "all", "isinstance", "issubclass", "callable", "hasattr", "bool"})
BOUNDARIES: dict[type, type] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
OPPOSITES: dict[type, type] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult)
UNORDERED = frozenset(
    "max min maximum minimum fmax fmin add multiply hypot logaddexp logaddexp2 isclose allclose array_equal logical_and"
    " logical_or isinstance issubclass hasattr getattr setattr cast TypeVar".split()
)
"""Calls of which two arguments are not swapped: they mean the same in both orders, or nothing in the other."""

GROUPS = {
    "True": "conditions", "False": "conditions", "drop operand": "conditions", "and": "conditions", "or": "conditions",
    "drop arm": "conditions", "any/all": "conditions", "swap": "arguments", "first argument": "arguments",
    "drop statement": "statements", "return None": "statements", "one less": "indices", "one further": "indices",
    "one more": "constants", "flip": "constants", "drop member": "constants", "drop entry": "constants",
    "negate": "rules", "twice": "rules", "drop transpose": "rules", "left only": "operators",
    "right only": "operators", "Add": "operators", "Sub": "operators", "Mult": "operators", "Div": "operators",
    "drop sign": "operators", **{op: "comparisons" for op in "Lt LtE Gt GtE Eq NotEq In NotIn Is IsNot".split()},
}
"""What kinds of changes belong together; those that are not named leave out a keyword argument."""


@dataclass(frozen=True)
class Mutant:
    """A module with the text from ``start`` to ``stop`` (line and byte in it) replaced by ``new``.

    ``lines`` are those of the statement around it, which a test must run to notice. ``function`` is the function that
    it is in; a mutant outside of all functions is ``fresh``: it needs a process that imports the module anew.
    ``subject`` is what a row at the level of the module is about.
    """

    file: str
    start: tuple[int, int]
    stop: tuple[int, int]
    new: str
    kind: str
    lines: tuple[int, int]
    function: str
    subject: str = ""

    @property
    def fresh(self) -> bool:
        return not self.function

    @property
    def key(self) -> str:
        return f"{self.file}:{self.start[0]}:{self.start[1]}:{self.kind}"

    @property
    def group(self) -> str:
        return GROUPS.get(self.kind.rstrip(" 0123456789"), "arguments")

    def applied(self, text: bytes) -> bytes:
        """The text of the module with this change."""
        lines = text.splitlines(keepends=True)
        (first, begin), (last, end) = self.start, self.stop
        joined = lines[first - 1][:begin] + self.new.encode() + lines[last - 1][end:]
        return b"".join([*lines[: first - 1], joined, *lines[last:]])


@dataclass
class Place:
    """Where in a module a node stands."""

    function: str = ""
    lines: tuple[int, int] = (1, 1)
    subject: str = ""
    optional: bool = False
    bound: frozenset[str] = frozenset()
    index: bool = False

    def at(self, node: Any, stop: Any = None) -> Place:
        return Place(self.function, (node.lineno, (stop or node).end_lineno), self.subject, self.optional, self.bound)

    def within_index(self) -> Place:
        return replace(self, index=True)


def mutants(file: str, text: str, is_rules: bool) -> list[Mutant]:
    """All mutants of a module, in the order of their places."""
    walk = Walk(file, is_rules)
    for statement in ast.parse(text).body:
        walk.statement(statement, Place())
    seen: dict[str, Mutant] = {}
    for found in walk.found:
        number = 0
        while (key := f"{found.key}{number or ''}") in seen:
            number += 1
        seen[key] = found if not number else Mutant(**{**vars(found), "kind": f"{found.kind}{number}"})
    return sorted(seen.values(), key=lambda one: (one.start, one.kind))


@dataclass
class Walk:
    """Goes through a module and notes what can be changed."""

    file: str
    is_rules: bool
    found: list[Mutant] = field(default_factory=list)

    # --- notes ---------------------------------------------------------------------------------------------------

    def note(self, node: Any, new: str, kind: str, place: Place) -> None:
        """A mutant with other text in the place of a node, of as many lines."""
        start, stop = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
        self.found.append(Mutant(self.file, start, stop, new, kind, place.lines, place.function, place.subject))

    def replace(self, node: ast.expr, new: ast.expr, kind: str, place: Place) -> None:
        rows = (node.end_lineno or node.lineno) - node.lineno
        self.note(node, "(" + ast.unparse(ast.fix_missing_locations(new)) + "\n" * rows + ")", kind, place)

    def drop(self, node: ast.stmt, place: Place, new: str = "pass") -> None:
        self.note(node, new + "\n" * ((node.end_lineno or node.lineno) - node.lineno), "drop statement", place)

    # --- statements ----------------------------------------------------------------------------------------------

    def statements(self, body: list[ast.stmt], place: Place) -> None:
        for node in body:
            self.statement(node, place)

    def statement(self, node: ast.stmt, place: Place) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.function(node, place)
            case ast.ClassDef():
                for item in node.body:
                    inner = Place(f"{place.function}{node.name}." if place.function else "", place.lines)
                    if isinstance(item, ast.FunctionDef):
                        self.function(item, Place(f"{place.function}{node.name}.", place.lines))
                    elif isinstance(item, ast.Assign):
                        self.statement(item, inner)
            case ast.If() | ast.While():
                if ast.unparse(node.test) == "TYPE_CHECKING":
                    return
                here = place.at(node, node.test)
                self.condition(node.test, here, only_false=isinstance(node, ast.While))
                self.statements(node.body + node.orelse, place)
            case ast.For() | ast.AsyncFor():
                self.expression(node.iter, place.at(node, node.iter))
                self.statements(node.body + node.orelse, place)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self.expression(item.context_expr, place.at(node, item.context_expr))
                self.statements(node.body, place)
            case ast.Try() | ast.TryStar():
                bodies = [node.body, *(one.body for one in node.handlers), node.orelse, node.finalbody]
                for body in bodies:
                    self.statements(body, place)
            case ast.Match():
                self.expression(node.subject, place.at(node, node.subject))
                for arm in node.cases:
                    self.arm(arm, place)
            case ast.Return():
                self.returned(node, place.at(node))
            case ast.Raise() | ast.Continue() | ast.Break() | ast.Delete():
                self.drop(node, place.at(node))
            case ast.AugAssign():
                self.drop(node, place.at(node))
                self.expression(node.value, place.at(node))
            case ast.Assign() | ast.AnnAssign():
                self.assigned(node, place.at(node))
            case ast.Expr(value=ast.Constant()):
                return
            case ast.Expr():
                inner = place.at(node)
                if place.function:
                    self.drop(node, inner)
                elif isinstance(node.value, ast.Call) and node.value.args:
                    inner.subject = ast.unparse(node.value.args[0]).rpartition(".")[2]
                self.expression(node.value, inner)
            case ast.Assert() | ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal():
                return
            case _:
                raise NotImplementedError(type(node).__name__)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, place: Place) -> None:
        if node.name in KEPT_FUNCTIONS:
            return
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.expression(default, Place(place.function.rpartition(".")[0], (node.lineno, node.end_lineno or 1)))
        for decorator in node.decorator_list:
            self.expression(decorator, Place(subject=node.name))
        optional = node.returns is not None and "None" in ast.unparse(node.returns).split(" | ")
        names = [one.arg for one in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
        names += [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
        often = frozenset(name for name in names if names.count(name) > 1)
        inner = Place(f"{place.function}{node.name}", place.lines, "", optional, often)
        self.statements(node.body, inner)

    def arm(self, arm: ast.match_case, place: Place) -> None:
        pattern: Any = arm.pattern
        here = place.at(pattern, arm.guard)
        if arm.guard is not None:
            self.condition(arm.guard, here)
        elif not (isinstance(pattern, ast.MatchAs) and pattern.pattern is None):
            end = (pattern.end_lineno, pattern.end_col_offset)
            lines = (arm.body[0].lineno, arm.body[0].end_lineno or arm.body[0].lineno)
            self.found.append(Mutant(self.file, end, end, " if False", "drop arm", lines, place.function))
        self.statements(arm.body, place)

    def returned(self, node: ast.Return, place: Place) -> None:
        if node.value is None:
            self.drop(node, place)
        elif is_boolean(node.value):
            self.condition(node.value, place)
        else:
            if place.optional and not isinstance(node.value, ast.Constant):
                self.replace(node.value, ast.Constant(None), "return None", place)
            if self.is_rules and is_arithmetic(node.value):
                self.factors(node.value, place)
            self.expression(node.value, place)

    def assigned(self, node: ast.Assign | ast.AnnAssign, place: Place) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets) or node.value is None:
            return
        one = targets[0]
        again = not isinstance(one, ast.Name) or one.id in place.bound
        if place.function and again and not isinstance(one, (ast.Tuple, ast.List)):
            self.drop(node, place)
        self.expression(node.value, place)

    # --- expressions ---------------------------------------------------------------------------------------------

    def condition(self, node: ast.expr, place: Place, only_false: bool = False) -> None:
        """An expression of which only the truth counts."""
        for value in (False,) if only_false else (True, False):
            if not (isinstance(node, ast.Constant) and node.value is value):
                self.replace(node, ast.Constant(value), str(value), place)
        self.operand(node, place)

    def operand(self, node: ast.expr, place: Place) -> None:
        """What is under a condition that has been changed as a whole."""
        match node:
            case ast.BoolOp():
                self.boolean(node, place)
            case ast.UnaryOp(op=ast.Not()):
                self.operand(node.operand, place)
            case ast.Compare():
                self.comparison(node, place)
            case ast.Constant():
                return
            case _:
                self.expression(node, place)

    def boolean(self, node: ast.BoolOp, place: Place) -> None:
        for i in range(len(node.values)):
            rest = node.values[:i] + node.values[i + 1 :]
            new = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
            self.replace(node, new, f"drop operand {i}", place)
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self.replace(node, ast.BoolOp(other, node.values), type(other).__name__.lower(), place)
        for value in node.values:
            self.operand(value, place)

    def comparison(self, node: ast.Compare, place: Place) -> None:
        for i, op in enumerate(node.ops):
            other = BOUNDARIES.get(type(op)) or OPPOSITES.get(type(op))
            if other is not None:
                changed = [*node.ops[:i], other(), *node.ops[i + 1 :]]
                self.replace(node, ast.Compare(node.left, changed, node.comparators), other.__name__, place)
            of = node.comparators[i]
            if isinstance(op, (ast.In, ast.NotIn)) and isinstance(of, (ast.Tuple, ast.List, ast.Set)):
                self.members(of, place)
        self.expression(node.left, place)
        for value in node.comparators:
            self.expression(value, place)

    def members(self, node: Any, place: Place) -> None:
        for i in range(len(node.elts) if len(node.elts) > 1 else 0):
            fewer = type(node)(elts=node.elts[:i] + node.elts[i + 1 :])
            self.replace(node, fewer, f"drop member {i}", place)

    def expression(self, node: ast.expr, place: Place) -> None:
        match node:
            case ast.Lambda():
                self.lambda_(node, place)
            case ast.IfExp():
                self.condition(node.test, place)
                self.expression(node.body, place)
                self.expression(node.orelse, place)
            case ast.BoolOp():
                self.boolean(node, place)
            case ast.Compare():
                self.comparison(node, place)
            case ast.UnaryOp():
                if isinstance(node.op, (ast.Not, ast.USub)) and not isinstance(node.operand, ast.Constant):
                    self.replace(node, node.operand, "drop sign", place)
                self.expression(node.operand, place)
            case ast.BinOp():
                self.arithmetic(node, place)
            case ast.Constant():
                self.constant(node, place)
            case ast.Call():
                self.call(node, place)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                for loop in node.generators:
                    self.expression(loop.iter, place)
                    for test in loop.ifs:
                        self.condition(test, place)
                for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
                    self.expression(part, place)
            case ast.Tuple() | ast.List() | ast.Set():
                if not place.function and not place.subject:
                    self.members(node, place)
                for item in node.elts:
                    self.expression(item, place)
            case ast.Dict():
                self.display(node, place)
            case ast.JoinedStr() | ast.Name():
                return
            case ast.Attribute(attr="T") if self.is_rules:
                self.replace(node, node.value, "drop transpose", place)
                self.expression(node.value, place)
            case ast.Attribute() | ast.Starred() | ast.NamedExpr() | ast.Yield() | ast.YieldFrom() | ast.Await():
                if node.value is not None:
                    self.expression(node.value, place)
            case ast.Subscript():
                self.expression(node.value, place)
                self.expression(node.slice, place.within_index())
            case ast.Slice():
                for bound in (node.lower, node.upper, node.step):
                    if bound is not None:
                        self.expression(bound, place)
            case _:
                raise NotImplementedError(type(node).__name__)

    def lambda_(self, node: ast.Lambda, place: Place) -> None:
        inner = place.at(node.body)
        inner.lines = (node.lineno, node.end_lineno or node.lineno)
        inner.function = f"{place.function}.<lambda>" if place.function else f"<lambda>:{node.lineno}"
        if self.is_rules and not isinstance(node.body, (ast.Call, ast.Constant, ast.Tuple, ast.List, ast.Dict)):
            self.factors(node.body, inner)
        elif self.is_rules and isinstance(node.body, ast.Call) and isinstance(node.body.func, ast.Attribute):
            self.replace(node.body, ast.BinOp(ast.Constant(2), ast.Mult(), node.body), "twice", inner)
        self.expression(node.body, inner)

    def factors(self, node: ast.expr, place: Place) -> None:
        """The sign and the factor of what a rule gives."""
        self.replace(node, ast.UnaryOp(ast.USub(), node), "negate", place)
        self.replace(node, ast.BinOp(ast.Constant(2), ast.Mult(), node), "twice", place)

    def arithmetic(self, node: ast.BinOp, place: Place) -> None:
        if isinstance(node.op, (ast.Add, ast.Mult, ast.BitOr, ast.BitAnd)):
            self.replace(node, node.right, "right only", place)
        self.replace(node, node.left, "left only", place)
        if isinstance(node.op, ast.Sub) or (self.is_rules and isinstance(node.op, ast.Add)):
            other: ast.operator = ast.Add() if isinstance(node.op, ast.Sub) else ast.Sub()
            self.replace(node, ast.BinOp(node.left, other, node.right), type(other).__name__, place)
        if self.is_rules and isinstance(node.op, (ast.Mult, ast.Div)):
            other = ast.Div() if isinstance(node.op, ast.Mult) else ast.Mult()
            self.replace(node, ast.BinOp(node.left, other, node.right), type(other).__name__, place)
        self.expression(node.left, place)
        self.expression(node.right, place)

    def constant(self, node: ast.Constant, place: Place) -> None:
        if isinstance(node.value, bool):
            self.replace(node, ast.Constant(not node.value), "flip", place)
        elif isinstance(node.value, int) and place.index:
            self.replace(node, ast.Constant(node.value + 1), "one further", place)
            self.replace(node, ast.Constant(node.value - 1), "one less", place)
        elif isinstance(node.value, (int, float)):
            self.replace(node, ast.Constant(node.value + 1), "one more", place)

    def call(self, node: ast.Call, place: Place) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in ("any", "all"):
            other = ast.Name("all" if name == "any" else "any")
            self.replace(node, ast.Call(other, node.args, node.keywords), "any/all", place)
        of_numpy = self.is_rules and place.function and isinstance(node.func, ast.Attribute)
        if (of_numpy or name in CONVERSIONS) and node.args:
            if not isinstance(node.args[0], (ast.Constant, ast.Starred, ast.GeneratorExp)):
                self.replace(node, node.args[0], "first argument", place)
        for i, keyword in enumerate(node.keywords):
            if keyword.arg in NOT_MEANING:
                continue
            if keyword.arg is not None:
                rest = node.keywords[:i] + node.keywords[i + 1 :]
                self.replace(node, ast.Call(node.func, node.args, rest), f"drop {keyword.arg}=", place)
            self.expression(keyword.value, place)
        if name == "error" or (isinstance(node.func, ast.Attribute) and node.func.attr == "no_derivative"):
            return
        self.swapped(node, place)
        if not isinstance(node.func, ast.Subscript):  # list[int](): what stands there is for readers
            self.expression(node.func, place)
        if not place.function and place.subject and isinstance(node.func, ast.Name):
            for item in node.args:
                if isinstance(item, (ast.Lambda, ast.Constant)):
                    self.expression(item, place)
            return
        for item in node.args:
            self.expression(item, place)

    def swapped(self, node: ast.Call, place: Place) -> None:
        """Two arguments side by side in each other's place."""
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in UNORDERED or any(isinstance(item, ast.Starred) for item in node.args):
            return
        for i, (one, other) in enumerate(zip(node.args, node.args[1:])):
            if ast.dump(one) != ast.dump(other):
                arguments = [*node.args[:i], other, one, *node.args[i + 2 :]]
                self.replace(node, ast.Call(node.func, arguments, node.keywords), f"swap {i}", place)

    def display(self, node: ast.Dict, place: Place) -> None:
        for i, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            if not place.function and len(node.keys) > 1:
                fewer = ast.Dict(node.keys[:i] + node.keys[i + 1 :], node.values[:i] + node.values[i + 1 :])
                where: Any = key or value
                rows = (node.lineno, node.end_lineno or node.lineno)
                self.replace(node, fewer, f"drop entry {i}", Place(place.function, rows, ast.unparse(where)))
            self.expression(value, place)


def is_boolean(node: ast.expr) -> bool:
    """Whether an expression is True or False as its form shows."""
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BoolOp():
            return all(is_boolean(value) for value in node.values)
        case ast.Call(func=ast.Name(id=name)):
            return name in BOOLEANS
    return False


def is_arithmetic(node: ast.expr) -> bool:
    """Whether an expression is a sum, a product, or the like as its form shows."""
    if isinstance(node, ast.BinOp):
        texts = (ast.JoinedStr, ast.Tuple, ast.List)
        sides = (node.left, node.right)
        named = [side for side in sides if isinstance(side, texts) or isinstance(getattr(side, "value", None), str)]
        return isinstance(node.op, ARITHMETIC) and not named
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


@functools.lru_cache(16)
def rows_of(text: str) -> list[bytes]:
    return text.encode().splitlines()


def parts_of(text: str, mutant: Mutant) -> Iterator[str]:
    """The line of a mutant before and after."""
    rows, (first, begin), (last, end) = rows_of(text), mutant.start, mutant.stop
    yield rows[first - 1].decode().strip()
    changed = rows[first - 1][:begin] + mutant.new.encode() + rows[last - 1][end:]
    yield changed.splitlines()[0].decode().strip()
