"""Statements: takes code with names, gives the lines of a function's text with its comments."""

from __future__ import annotations

import ast
import builtins
import itertools
import linecache
import operator
import os
import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, assert_never

from s2s.codegen.code import (
    Assert,
    Assign,
    Break,
    Change,
    Code,
    Comment,
    Copies,
    For,
    If,
    Pattern,
    Raise,
    Return,
    Statement,
    Tree,
    Try,
    While,
    With,
    ends,
    tree_atoms,
    uses,
    walk,
)
from s2s.codegen.expressions import BINARY, Expressions
from s2s.codegen.flatten import flatten
from s2s.codegen.folding import LAMBDAS
from s2s.codegen.leaves import leaves
from s2s.codegen.naming import acts, name_variables, numbered
from s2s.codegen.printing import PROSE, WIDTH, print_comment, print_expression, print_header, print_statement
from s2s.codegen.spelling import Speller, load
from s2s.core import operators, ops
from s2s.core.dataflow import along, reachable
from s2s.core.inspection import is_plain_name
from s2s.core.ir import UNDEFINED, Atom, Call, Const, Function, MakeFunction, Param, Span, Star, Store, Var
from s2s.core.lines import lines_of

__all__ = ["Line", "heading", "print_function"]


class Line(str):
    """A line of generated code, and the places in the user's source that it comes from: that of its statement, and
    those of expressions that are folded into it."""

    __slots__ = ("folded", "span")

    span: Span
    folded: tuple[Span, ...]

    @classmethod
    def of(cls, text: str, span: Span, folded: tuple[Span, ...] = ()) -> Line:
        made = cls(text)
        made.span, made.folded = span, folded
        return made


def print_function(
    function: Function,
    name: str,
    code: Code,
    speller: Speller,
    captured: dict[Var, str],
    defaults: dict[str, str],
    depth: int = 0,
) -> list[str]:
    """The lines of a ``def``; ``defaults`` has the text of the defaults of parameters."""
    writer = _writer(function, code, speller, captured)
    prefix = "    " * depth
    lines = heading(f"{prefix}def {name}(", _parameters(function.params, defaults), prefix)
    writer.depth = depth + 1
    writer.placeholders = writer.find_placeholders()
    lines += _docstring(function.doc, prefix + "    ")
    writer.body(code.body)
    if not writer.lines and not function.doc:
        writer.put("pass")
    return lines + writer.lines


def _writer(function: Function, code: Code, speller: Speller, captured: dict[Var, str]) -> _Writer:
    names = name_variables(code, speller.names, captured)
    expressions = Expressions(speller, code, names, _lambda, _unused_name(code, names, speller.names))
    return _Writer(function, code, expressions)


def _unused_name(code: Code, names: dict[Var, str], reserved: Iterable[str]) -> str:
    """The name of what nothing reads: ``_``, unless something reads it."""
    holders = {var for var, name in names.items() if name == "_"}
    read = {*code.params, *code.captures}
    if holders:
        for statement in walk(code.body):
            for atom in (statement.test,) if isinstance(statement, While) else uses(statement):
                read |= set(leaves(code, atom))
    if not holders & read and "_" not in reserved:
        return "_"
    known = {*names.values(), *reserved}
    return next(name for name in map("_{}".format, itertools.count(1)) if name not in known)


def _lambda(value: MakeFunction, outer: Expressions) -> ast.expr:
    """A nested function of one expression."""
    code = outer.code.inner[id(value)]
    writer = _writer(value.function, code, outer.speller, _captured(value, code, outer))
    result = code.body[0]
    assert isinstance(result, Return)
    defaults = {name: print_expression(outer.atom(atom)) for name, atom in value.defaults}
    parameters = ", ".join(_parameters(value.function.params, defaults))
    arguments = ast.parse(f"lambda {parameters}: 0", mode="eval").body
    assert isinstance(arguments, ast.Lambda)
    made = ast.Lambda(arguments.args, writer.expressions.atom(result.value))
    bound = _bound(value, outer)
    if not bound:
        return made
    given = ast.parse(f"lambda {', '.join(bound)}: 0", mode="eval").body
    assert isinstance(given, ast.Lambda)
    return ast.Call(ast.Lambda(given.args, made), [ast.Name(name, ast.Load()) for name in bound], [])


def _bound(value: MakeFunction, outer: Expressions) -> list[str]:
    """The names of the variables that a nested function gets where it is made."""
    return sorted({outer.names[var] for var in outer.code.bound.get(id(value), ())})


def _captured(value: MakeFunction, code: Code, outer: Expressions) -> dict[Var, str]:
    """The enclosing function's names of the variables that a nested function reads."""
    names = {}
    for var, atom in zip(value.function.captures, value.captures, strict=True):
        if var in code.captures:
            assert isinstance(atom, Var)
            names[var] = outer.names[atom]
    return names


def heading(start: str, parameters: list[str], prefix: str) -> list[str]:
    """The line of a ``def``; where that is too long, a line for each parameter."""
    line = start + ", ".join(parameters) + "):"
    if len(line) <= WIDTH:
        return [line]
    return [start, *(f"{prefix}    {parameter}," for parameter in parameters), f"{prefix}):"]


def _parameters(params: tuple[Param, ...], defaults: dict[str, str]) -> list[str]:
    """The texts between the parentheses of a ``def``."""
    parts: list[str] = []
    starred = False
    for place, param in enumerate(params):
        if param.kind == "KEYWORD_ONLY" and not starred:
            parts.append("*")
            starred = True
        star = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(param.kind, "")
        starred = starred or star == "*"
        default = defaults.get(param.var.name) if param.has_default else None
        parts.append(star + param.var.name + ("" if default is None else f"={default}"))
        follows = params[place + 1].kind if place + 1 < len(params) else ""
        if param.kind == "POSITIONAL_ONLY" and follows != "POSITIONAL_ONLY":
            parts.append("/")
    return parts


def _docstring(doc: str, prefix: str) -> list[str]:
    if not doc:
        return []
    text = doc.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    text = text[:-1] + '\\"' if text.endswith('"') else text
    lines = lines_of(text)
    if len(lines) == 1 and len(prefix) + len(text) + 6 <= PROSE:
        return [f'{prefix}"""{text}"""']
    if len(lines) == 1:
        lines = [line for sentence in _SENTENCES.split(text) for line in _wrapped(sentence, prefix)]
    return [f'{prefix}"""{lines[0]}', *(f"{prefix}{line}".rstrip() for line in lines[1:]), f'{prefix}"""']


_SENTENCES = re.compile(r"(?<=\.) (?=[A-Z])")


def _wrapped(sentence: str, prefix: str) -> list[str]:
    width = PROSE - len(prefix) - 3
    return textwrap.wrap(sentence, width, break_long_words=False, break_on_hyphens=False)


@dataclass(slots=True)
class _Writer:
    function: Function
    code: Code
    expressions: Expressions
    depth: int = 0
    lines: list[str] = field(default_factory=list)
    placeholders: frozenset[Var] = frozenset()
    """Variables that get ``None`` where they have no value, because a copy reads them there."""
    returns: bool = True
    """Whether some path returns something."""
    reverse: bool = False
    """Whether statements are put under the source lines that they belong to."""
    source: tuple[str, int] | None = None
    """The file and line that the last comment names."""
    titled: int = 0
    """How many lines there were after the last title of a sweep."""

    # --- lines ---

    def put(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def comment(self, text: str) -> None:
        self.lines.append(print_comment(text, self.depth))

    def header(self, start: str, test: ast.expr) -> None:
        """The line, or the lines, that begin an ``if`` or a loop."""
        self.lines.extend(print_header(start, test, self.depth))

    def title(self, text: str, section: str) -> None:
        """The title of a sweep; that of a sweep with nothing in it goes."""
        self.drop_title()
        self.reverse = section == "reverse"
        self.comment(text)
        self.titled = len(self.lines)

    def drop_title(self) -> None:
        """Take back a title that nothing has followed."""
        if self.lines and self.titled == len(self.lines):
            self.lines.pop()

    def node(self, node: ast.stmt) -> None:
        self.lines.extend(print_statement(node, self.depth))

    def text(self, atom: Atom) -> str:
        return print_expression(self.expressions.atom(atom))

    def cite(self, span: Span | None) -> None:
        """In a reverse sweep, name the user's line before the first of its statements."""
        if not self.reverse or span is None or self.source == (span.file, span.line):
            return
        self.source = (span.file, span.line)
        own = self.function.span
        other = own is not None and span.file != own.file
        place = f"{os.path.basename(span.file)}:{span.line}" if other else f"L{span.line}"
        line = linecache.getline(span.file, span.line).strip()
        self.comment(f"{place}: {line}" if line else place)

    def place(self, start: int, spans: list[Span], is_compound: bool) -> None:
        """Say of the lines from ``start`` on, of which it is not said yet, where they come from; of comments nothing is
        said. Of a compound statement, what is folded into it is in its first line."""
        if not spans:
            return
        span, *folded = spans
        for k in range(start, len(self.lines)):
            line = self.lines[k]
            if not isinstance(line, Line) and not line.lstrip().startswith("#"):
                self.lines[k] = Line.of(line, span, () if is_compound and k > start else tuple(folded))

    def spans_of(self, statement: Statement) -> list[Span]:
        """Where a statement comes from, and what is folded into it: each line of source once."""
        own = self.span_of(statement)
        found = {} if own is None else {(own.file, own.line): own}
        waiting = list(uses(statement))
        while waiting:
            atom = waiting.pop(0)
            if isinstance(atom, Var) and atom in self.code.folded:
                span = self.code.spans.get(atom)
                if span is not None:
                    found.setdefault((span.file, span.line), span)
                waiting += tree_atoms(self.code.folded[atom])
        return list(found.values())

    def span_of(self, statement: Statement) -> Span | None:
        match statement:
            case Return(Var() as value):
                return self.code.spans.get(value)
            case Break() | Return() | Comment():
                return None
            case (
                Assign() | Copies() | Change() | If() | For() | While() | With() | Try() | Assert() | Raise()
            ):
                return statement.span
            case _:
                assert_never(statement)

    # --- blocks ---

    def body(self, body: list[Statement]) -> None:
        """A function's body; its last ``return None`` goes without saying where no path returns anything
        else."""
        gives = [s for s in walk(body) if isinstance(s, Return)]
        if body and isinstance(body[-1], Return) and all(s.value == Const(None) for s in gives):
            body = body[:-1]
        self.returns = any(s.value != Const(None) for s in gives)
        self.statements(flatten(body, self.depth, self.prints, self.flag))

    def statements(self, block: Iterable[Statement]) -> None:
        """The lines of a block, with a blank line before and after each ``def``."""
        start, after_def = len(self.lines), False
        for statement in block:
            here = len(self.lines)
            is_def = self.is_def(statement)
            if is_def:
                self.drop_title()
                here = len(self.lines)
            self.statement(statement)
            self.place(here, self.spans_of(statement), isinstance(statement, (If, For, While, With, Try)))
            if len(self.lines) == here:
                continue
            if (is_def or after_def) and (here > start or (here == 0 and self.function.doc)):
                self.lines.insert(here, "")
            after_def = is_def

    def indented(self, block: list[Statement]) -> None:
        """A block one level deeper; ``pass`` where it prints nothing."""
        self.depth += 1
        before = len(self.lines)
        self.source = None
        self.statements(block)
        self.source = None
        if all(line.lstrip().startswith("#") for line in self.lines[before:]):
            self.put("pass")
        self.depth -= 1

    def statement(self, statement: Statement) -> None:
        match statement:
            case Assign(target, value, span):
                if not self.is_silent(statement):
                    self.cite(span)
                    self.assign(statement, target, value)
            case Copies(pairs):
                self.copies(pairs)
            case Change(store):
                self.cite(store.span)
                self.change(store)
            case If():
                self.branch(statement, "if")
            case For(item, iterable, body):
                self.header(f"for {self.item(statement, item)} in", self.expressions.atom(iterable))
                self.indented(body)
            case While():
                self.while_(statement)
            case With():
                self.with_(statement)
            case Try():
                self.try_(statement)
            case Break():
                self.put("break")
            case Return(value):
                bare = value == Const(None) and not self.returns
                self.node(ast.Return(None if bare else self.expressions.atom(value)))
            case Assert(test, body, span):
                self.cite(span)
                message = self.message(body)
                if message is None:
                    self.header("if", ast.UnaryOp(ast.Not(), self.expressions.atom(test)))
                    self.indented(body)
                else:
                    self.node(ast.Assert(self.expressions.atom(test), *map(self.expressions.atom, message)))
            case Raise(exception, cause, span):
                self.cite(span)
                parts = [None if a is None else self.expressions.atom(a) for a in (exception, cause)]
                self.node(ast.Raise(*parts))
            case Comment(text, section):
                self.source = None
                if section:
                    self.title(text, section)
                else:
                    self.comment(text)
            case _ as never:
                assert_never(never)

    def message(self, body: list[Statement]) -> Sequence[Atom] | None:
        """The message of an assertion, none or one; None where its exception is made by more than one call."""
        match body:
            case [Raise(Var() as problem, None)]:
                made = self.code.folded.get(problem)
                if isinstance(made, Call) and made.fn == Const(AssertionError) and not made.kwargs:
                    message = tree_atoms(made)[1:]
                    return message if len(message) < 2 and Star not in map(type, made.args) else None
            case _:
                pass
        return None

    def prints(self, block: list[Statement]) -> bool:
        """Whether a block has anything to print."""
        return any(not self.is_silent(s) for s in block)

    def flag(self) -> Var:
        """A variable of its own name, for ``flatten``."""
        names = self.expressions.names
        taken = {*names.values(), *self.expressions.speller.names, *vars(builtins)}
        flag = Var("%reached", sum(var.name == "%reached" for var in names))
        names[flag] = next(name for name in numbered("reached") if name not in taken)
        return flag

    def is_def(self, statement: Statement) -> bool:
        """Whether a statement prints as a ``def``."""
        if not isinstance(statement, Assign) or not isinstance(statement.target, Var):
            return False
        return isinstance(statement.value, MakeFunction) and not self.is_lambda(statement.value)

    def is_lambda(self, value: MakeFunction) -> bool:
        body = self.code.inner[id(value)].body
        return value.function.name in LAMBDAS and len(body) == 1 and isinstance(body[0], Return)

    def is_silent(self, statement: Statement) -> bool:
        match statement:
            case Assign(Var() as target, Var() as value):
                return self.is_name(value, self.name(target))
            case Copies(pairs):
                return all(self.is_silent_copy(target, source) for target, source in pairs)
            case (
                Assign() | Change() | If() | For() | While() | With() | Try() | Break() | Return() | Assert() |
                Raise() | Comment()
            ):
                return False
            case _:
                assert_never(statement)

    def is_silent_copy(self, target: Var, source: Atom) -> bool:
        if source == UNDEFINED:
            return target not in self.placeholders
        return self.is_name(source, self.name(target))

    def find_placeholders(self) -> frozenset[Var]:
        """The variables without a value that a printed copy may read: what flows to them must be
        something."""
        pairs = [p for s in walk(self.code.body) if isinstance(s, Copies) for p in s.pairs]
        missing = reachable({t for t, s in pairs if s == UNDEFINED}, along((s, t) for t, s in pairs))
        read = {s for t, s in pairs if s in missing and not self.is_name(s, self.name(t))}
        return frozenset(v for v in reachable(read, along(pairs)) if isinstance(v, Var) and v in missing)

    def is_name(self, atom: Atom, name: str) -> bool:
        """Whether an atom prints as that very name."""
        return isinstance(atom, Var) and atom not in self.code.folded and self.expressions.names[atom] == name

    def branch(self, branch: If, word: str) -> None:
        then, orelse = branch.then, [s for s in branch.orelse if not self.is_silent(s)]
        if not self.prints(then) and not self.prints(orelse):
            if acts(self.code, branch.test):
                self.node(ast.Expr(self.expressions.atom(branch.test)))
            return
        if not self.prints(then):
            self.header(word, ast.UnaryOp(ast.Not(), self.expressions.atom(branch.test)))
            self.indented(orelse)
            return
        self.header(word, self.expressions.atom(branch.test))
        self.indented(then)
        if not self.prints(orelse):
            return
        if ends(then) and word == "if":
            self.statements(orelse)
        elif len(orelse) == 1 and isinstance(orelse[0], If) and self.prints(orelse[0].then):
            start = len(self.lines)
            self.branch(orelse[0], "elif")
            self.place(start, self.spans_of(orelse[0]), is_compound=True)
        else:
            self.put("else:")
            self.indented(orelse)

    def item(self, loop: For, item: Any) -> str:
        """The target of a ``for``: ``_`` where nothing reads it."""
        if isinstance(item, Var) and item.is_temporary and not self.is_read_in(loop.body, item):
            return self.expressions.unused
        text = print_expression(self.expressions.target(item))
        return (
            text[1:-1] if isinstance(item, Pattern) and len(item.items) > 1 and text.startswith("(") else text
        )

    def is_read_in(self, block: list[Statement], var: Var) -> bool:
        for statement in walk(block):
            read = (statement.test,) if isinstance(statement, While) else uses(statement)
            if any(var in leaves(self.code, atom) for atom in read):
                return True
        return False

    def while_(self, loop: While) -> None:
        if not self.prints(loop.head):
            self.header("while", self.expressions.atom(loop.test))
            self.indented(loop.body)
            return
        self.put("while True:")
        stop = If(loop.test, [], [Break()])
        self.indented([*loop.head, stop, *loop.body])

    def with_(self, statement: With) -> None:
        end = ":" if statement.target is None else f" as {self.name(statement.target)}:"
        manager = self.expressions.atom(statement.manager)
        self.lines.extend(print_header("with", manager, self.depth, end))
        self.indented(statement.body)

    def try_(self, statement: Try) -> None:
        """A ``try``. What comes after a body that came to its end stands after the statement where no handler
        does."""
        self.put("try:")
        self.indented(statement.body)
        for handler in statement.handlers:
            end = ":" if handler.name is None else f" as {self.name(handler.name)}:"
            kinds = [self.expressions.atom(kind) for kind in handler.kinds]
            if not kinds:
                self.put("except" + end)
            else:
                shown = kinds[0] if len(kinds) == 1 else ast.Tuple(kinds, ast.Load())
                self.lines.extend(print_header("except", shown, self.depth, end))
            self.indented(handler.body)
        if all(ends(handler.body) for handler in statement.handlers):
            self.statements(statement.orelse)
        elif self.prints(statement.orelse):
            self.put("else:")
            self.indented(statement.orelse)

    # --- assignments ---

    def assign(self, statement: Assign, target: Any, value: Tree) -> None:
        if isinstance(value, MakeFunction) and isinstance(target, Var):
            self.make_function(target, value)
        elif target is None:
            self.node(self.effect(value))
        elif (
            isinstance(value, Call)
            and isinstance(value.fn, Const)
            and self.in_place(target, value, value.fn.value)
        ):
            pass
        else:
            self.node(ast.Assign([self.expressions.target(target)], self.expressions.tree(value)))

    def effect(self, value: Tree) -> ast.stmt:
        """A call for its effect, as the statement that it means."""
        match value:
            case Call(Const(value=operator.setitem), (owner, key, item), ()):
                place = ast.Subscript(self.argument(owner), self.key(key), ast.Store())
                return ast.Assign([place], self.argument(item))
            case Call(Const(value=operator.delitem), (owner, key), ()):
                return ast.Delete([ast.Subscript(self.argument(owner), self.key(key), ast.Del())])
        return ast.Expr(self.expressions.tree(value))

    def argument(self, argument: Atom | Star) -> ast.expr:
        return self.expressions.argument(argument)

    def key(self, key: Atom | Star) -> ast.expr:
        return self.expressions.argument(key) if isinstance(key, Star) else self.expressions.key(key)

    def in_place(self, target: Var, value: Call, fn: Any) -> bool:
        """``x += c``, ``items.append(x)``: assignments that change what they read. False where it is none."""
        inplace = operators.plain_of(fn)
        if inplace is not None and len(value.args) == 2 and not value.kwargs:
            self.augment(target, value, BINARY[inplace])
            return True
        if id(value) not in self.code.grown or not self.is_name(_atom(value.args[0]), self.name(target)):
            return False
        arguments = [self.argument(a) for a in value.args[1:]]
        if fn is ops.put:
            place = ast.Subscript(load(self.name(target)), arguments[0], ast.Store())
            self.node(ast.Assign([place], arguments[1]))
        else:
            method = ast.Attribute(load(self.name(target)), "append" if fn is ops.append else "add", ast.Load())
            self.node(ast.Expr(ast.Call(method, arguments, [])))
        return True

    def name(self, var: Var) -> str:
        return self.expressions.names[var]

    def augment(self, target: Var, value: Call, op: type[ast.operator]) -> None:
        first, second = map(_atom, value.args)
        name = ast.Name(self.name(target), ast.Store())
        if isinstance(first, Const) or first in self.code.folded:
            sum_of = ast.BinOp(self.expressions.atom(first), op(), self.expressions.atom(second))
            self.node(ast.Assign([name], sum_of))
            return
        if not self.is_name(first, self.name(target)):
            self.node(ast.Assign([name], self.expressions.atom(first)))
        self.node(ast.AugAssign(name, op(), self.expressions.atom(second)))

    def make_function(self, target: Var, value: MakeFunction) -> None:
        code = self.code.inner[id(value)]
        if self.is_lambda(value):
            self.node(ast.Assign([self.expressions.target(target)], self.expressions.tree(value)))
            return
        defaults = {name: self.text(atom) for name, atom in value.defaults}
        captured, bound = _captured(value, code, self.expressions), _bound(value, self.expressions)
        speller, name = self.expressions.speller, self.name(target)
        if not bound:
            self.lines.extend(print_function(value.function, name, code, speller, captured, defaults, self.depth))
            return
        taken = {*self.expressions.names.values(), *speller.names, *captured.values()}
        inner = next(made for made in (f"{name}{'_' * k}" for k in itertools.count(1)) if made not in taken)
        self.put(f"def {name}({', '.join(bound)}):")
        self.lines.extend(print_function(value.function, inner, code, speller, captured, defaults, self.depth + 1))
        self.put(f"    return {inner}")
        self.put(f"{name} = {name}({', '.join(bound)})")

    def change(self, store: Store) -> None:
        target, value = self.expressions.atom(store.target), self.expressions.atom(store.value)
        place: ast.Name | ast.Subscript | ast.Attribute
        match store.kind:
            case "item":
                place = ast.Subscript(target, self.expressions.key(store.key), ast.Store())
            case "attr":
                assert isinstance(store.key, Const)
                if not is_plain_name(store.key.value):
                    setter = self.expressions.atom(Const(setattr))
                    self.node(ast.Expr(ast.Call(setter, [target, ast.Constant(store.key.value), value], [])))
                    return
                place = ast.Attribute(target, store.key.value, ast.Store())
            case "global":
                place = ast.Subscript(ast.Call(load("globals"), [], []), self.expressions.key(store.key), ast.Store())
            case "whole":
                assert isinstance(target, (ast.Name, ast.Attribute))
                place = target
            case _:
                raise AssertionError(f"a store of kind {store.kind} has no spelling")
        if store.op is None:
            self.node(ast.Assign([place], value))
        else:
            op = BINARY[operators.PLAIN.get(store.op, store.op)]
            self.node(ast.AugAssign(place, op(), value))

    def copies(self, pairs: list[tuple[Var, Atom]]) -> None:
        """Copies that happen at once, as assignments one after the other; a cycle as one tuple assignment."""
        left = [(t, Const(None) if s == UNDEFINED else s) for t, s in pairs if not self.is_silent_copy(t, s)]
        written = [self.name(target) for target, _ in left]
        read = [{self.name(v) for v in leaves(self.code, source)} for _, source in left]
        readers = Counter(name for names in read for name in names)
        by_target: defaultdict[str, list[int]] = defaultdict(list)
        for k, name in enumerate(written):
            by_target[name].append(k)

        def is_ready(k: int) -> bool:  # no other copy still reads what this one overwrites
            return readers[written[k]] == (written[k] in read[k])

        ready, done = [k for k in range(len(left)) if is_ready(k)], set()
        while ready:  # the first in order comes first
            k = heappop(ready)
            if k in done:
                continue
            done.add(k)
            target, source = left[k]
            self.node(ast.Assign([self.expressions.target(target)], self.expressions.atom(source)))
            readers.subtract(read[k])
            for name in read[k]:
                for other in by_target[name]:
                    if other not in done and is_ready(other):
                        heappush(ready, other)
        if len(done) < len(left):
            cycle = [pair for k, pair in enumerate(left) if k not in done]
            targets = ast.Tuple([self.expressions.target(t) for t, _ in cycle], ast.Store())
            self.node(ast.Assign([targets], ast.Tuple([self.expressions.atom(s) for _, s in cycle], ast.Load())))


def _atom(argument: Atom | Star) -> Atom:
    return argument.atom if isinstance(argument, Star) else argument
