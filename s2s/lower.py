"""A ``Source`` goes in, an ``ir.Function`` in named form comes out; unsupported syntax is refused here.

The only module that reads libcst (``places`` finds the places for it). The ``match`` in ``_statement``,
``_small_statement`` and ``_value`` is the list of supported Python. Operations come out in Python's order of
evaluation, each operand is evaluated once, and every statement carries the place of the user's statement or
expression that it stands for.

    def f(x):                    def f(x):
        return np.sin(x) * x         %1 = global np
                                     %2 = getattr(%1, 'sin')
                                     %3 = %2(x)
                                     %4 = mul(%3, x)
                                     return %4

Two choices to know. A generator expression is lowered as a list comprehension: what consumes it (``sum``,
``max``, ``np.fromiter``, ``join``) sees the same items, and the derivative needs them all at once; only the
order of side effects differs. Elsewhere ``iter`` of that list gives each item once. ``a[i] += v`` reads
``a[i]`` after ``v`` was computed where Python reads it before: it matters only where computing ``v`` changes
``a[i]`` itself.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
import operator
import re
import types
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

import libcst as cst

from . import ir, ops
from .errors import error
from .ir import Call, Const, Let, Star, Var
from .patterns import Patterns, captured_names, is_irrefutable
from .places import places_of
from .sources import Source, mangle, private_class

__all__ = ["lower"]

_FunctionNode: TypeAlias = cst.FunctionDef | cst.Lambda
_Comprehension: TypeAlias = cst.ListComp | cst.SetComp | cst.DictComp | cst.GeneratorExp
_Display: TypeAlias = cst.Tuple | cst.List | cst.Set

NONE = Const(None)
TEMPORARY = "%"
LAMBDA = "lambda_"  # the name of an ir.Function made from a lambda: an identifier, because it may be printed


def lower(source: Source) -> ir.Function:
    """The function in named form. Raises UnsupportedSyntaxError where it uses what is not supported."""
    # A lambda over many lines needs the brackets that it had in the file.
    text = f"({source.text}\n)" if source.is_lambda else source.text
    try:
        module = cst.parse_module(text)
    except cst.ParserSyntaxError as problem:
        raise _cannot_parse(source, problem) from None
    context = _Context(source, module, text, private_class(source.fn.__code__))
    return _function(context, _only_function(module), LAMBDA if source.is_lambda else source.name)


def _only_function(module: cst.Module) -> _FunctionNode:
    match module.body[0]:
        case cst.FunctionDef() as node:
            return node
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Lambda() as node)]):
            return node
        case other:
            raise error("S2S901", problem=f"the source is a {type(other).__name__}, not a function")


def _cannot_parse(source: Source, problem: cst.ParserSyntaxError) -> Exception:
    line = source.first_line + max(0, min(problem.raw_line, len(source.removed)) - 1)
    span = ir.Span(source.file, line, 0, line, 1, source.qualname)
    hint = "write it with syntax that libcst knows, or update libcst"
    return error("S2S116", span=span, label=problem.message, hint=hint)


# --- the state of one lowering ------------------------------------------------------------------------------


@dataclass
class _Scope:
    """The names of one function. ``frames`` are the targets of the comprehensions around the current place,
    innermost last; ``captures`` fills up with what is read from the function around it; ``first`` is the first
    positional parameter, which ``super()`` reads."""

    parent: _Scope | None
    locals: set[str]
    globals: set[str]
    nonlocals: set[str]
    free: frozenset[str]
    first: Var | None = None
    frames: list[dict[str, Var]] = field(default_factory=list)
    captures: dict[Var, None] = field(default_factory=dict)

    def resolve(self, name: str) -> Var | ir.Load:
        """What a read of ``name`` means here."""
        for frame in reversed(self.frames):
            if name in frame:
                return frame[name]
        if name in self.globals:
            return ir.Load(name, "global")
        if name in self.locals:
            return Var(name)
        if self.parent is None:
            return ir.Load(name, "free" if name in self.free else "global")
        found = self.parent.resolve(name)
        if isinstance(found, Var):
            self.captures[found] = None
        return found


class _Context:
    """What the functions below share: the source, the places, the current scope and the current block."""

    def __init__(self, source: Source, module: cst.Module, text: str, owner: str) -> None:
        self.source = source
        self.module = module
        self.places = places_of(module)
        self.line_starts = [0, *(match.end() for match in re.finditer(r"\r\n?|\n", text))]
        self.owner = owner
        self.free = frozenset(source.fn.__code__.co_freevars)
        self.has_walrus = ":=" in source.text
        self.walrus: frozenset[str] = frozenset()  # what the current statement assigns inside an expression
        self.scope: _Scope | None = None
        self.out: list[ir.Statement] = []
        self.temporaries = 0
        self.comprehensions = 0

    def name(self, node: cst.Name) -> str:
        """The name as Python stores it."""
        return mangle(node.value, self.owner)

    def resolve(self, name: str) -> Var | ir.Load:
        assert self.scope is not None
        return self.scope.resolve(name)

    def code(self, node: cst.CSTNode) -> str:
        """The user's text of a node."""
        return self.module.code_for_node(node)

    def span(self, node: cst.CSTNode, end: cst.CSTNode | None = None) -> ir.Span:
        """The place in the user's file of a node, or from its start to the end of ``end`` and its brackets."""
        start, stop = self.places[node][0], self.places[end or node][1]
        if end is not None:
            stop += sum(len(self.code(bracket)) for bracket in getattr(end, "rpar", ()))
        return ir.Span(self.source.file, *self._place(start), *self._place(stop), self.source.qualname)

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.line_starts, offset)
        column = offset - self.line_starts[line - 1]
        index = min(line, len(self.source.removed)) - 1
        bracket = self.source.is_lambda and index == 0  # the one that lower() put before a lambda
        return self.source.first_line + index, column + self.source.removed[index] - bracket

    def temporary(self) -> Var:
        self.temporaries += 1
        return Var(TEMPORARY, self.temporaries)

    def put(self, statement: ir.Statement) -> None:
        self.out.append(statement)

    def let(self, target: Var | None, value: ir.Value, node: cst.CSTNode) -> None:
        self.put(Let(target, value, self.span(node)))

    def bind(self, value: ir.Value, node: cst.CSTNode) -> Var:
        """A new temporary that holds ``value``."""
        target = self.temporary()
        self.let(target, value, node)
        return target

    def call(self, node: cst.CSTNode, fn: Callable[..., Any], *args: ir.Atom | Star) -> Var:
        """A new temporary that holds ``fn(*args)``."""
        return self.bind(Call(Const(fn), args), node)

    @contextlib.contextmanager
    def block(self) -> Iterator[list[ir.Statement]]:
        """Collect the statements that are put inside the ``with`` in a list of their own."""
        outer, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = outer

    @contextlib.contextmanager
    def inside(self, scope: _Scope) -> Iterator[list[ir.Statement]]:
        """Collect the statements of a nested function, whose names are those of ``scope``."""
        outer, walrus, self.scope = self.scope, self.walrus, scope
        try:
            with self.block() as statements:
                yield statements
        finally:
            self.scope, self.walrus = outer, walrus


def _block(statements: Sequence[ir.Statement]) -> ir.Block:
    return ir.Block(tuple(statements))


# --- functions ----------------------------------------------------------------------------------------------


def _function(c: _Context, node: _FunctionNode, name: str) -> ir.Function:
    """A ``def`` or ``lambda`` and its body; its defaults and decorators belong to the function around it."""
    params = _params(c, node.params)
    scope = _make_scope(c, node, params)
    with c.inside(scope) as statements:
        if isinstance(node, cst.Lambda):
            _enter(c, node.body)
            c.put(ir.Return(_atom(c, node.body), c.span(node.body)))
        else:
            _function_body(c, node)
    doc = (node.get_docstring() or "") if isinstance(node, cst.FunctionDef) else ""
    return ir.Function(name, params, _block(statements), tuple(scope.captures), str(doc), c.span(node))


def _function_body(c: _Context, node: cst.FunctionDef) -> None:
    if node.asynchronous is not None:
        _refuse_async(c, node)
    _suite(c, node.body)
    if not c.out or not isinstance(c.out[-1], ir.Return | ir.Raise):
        c.put(ir.Return(NONE, c.span(node, node.name)))


def _params(c: _Context, node: cst.Parameters) -> tuple[ir.Param, ...]:
    kinds: list[tuple[str, Sequence[Any]]] = [
        ("POSITIONAL_ONLY", node.posonly_params),
        ("POSITIONAL_OR_KEYWORD", node.params),
        ("VAR_POSITIONAL", [node.star_arg]),
        ("KEYWORD_ONLY", node.kwonly_params),
        ("VAR_KEYWORD", [node.star_kwarg]),
    ]
    return tuple(_param(c, p, kind) for kind, params in kinds for p in params if isinstance(p, cst.Param))


def _param(c: _Context, node: cst.Param, kind: str) -> ir.Param:
    annotation = c.code(node.annotation.annotation) if node.annotation else ""
    return ir.Param(Var(c.name(node.name)), kind, node.default is not None, annotation)


def _make_scope(c: _Context, node: _FunctionNode, params: tuple[ir.Param, ...]) -> _Scope:
    found = _Bindings(c)
    if isinstance(node, cst.FunctionDef):
        found.suite(node.body)
    if c.has_walrus:
        found.locals.update(_walrus_names(c, node.body))
    names = (found.locals | {p.var.name for p in params}) - found.globals - found.nonlocals
    first = params[0].var if params and params[0].kind.startswith("POSITIONAL") else None
    return _Scope(c.scope, names, found.globals, found.nonlocals, c.free, first)


def _make_function(c: _Context, node: _FunctionNode, name: str) -> ir.MakeFunction:
    """A nested function: its defaults are evaluated here, its captures are the variables of this function."""
    defaults = _defaults(c, node.params)
    function = _function(c, node, name)
    return ir.MakeFunction(function, function.captures, defaults)


def _defaults(c: _Context, node: cst.Parameters) -> tuple[tuple[str, ir.Atom], ...]:
    params = [p for p in (*node.posonly_params, *node.params, *node.kwonly_params) if p.default is not None]
    return tuple((c.name(p.name), _atom(c, p.default)) for p in params if p.default is not None)


def _nested_def(c: _Context, node: cst.FunctionDef) -> None:
    if node.asynchronous is not None:
        _refuse_async(c, node)
    target = _own(c, node.name)
    decorators = [(d, _atom(c, d.decorator)) for d in node.decorators]
    value: ir.Value = _make_function(c, node, c.name(node.name))
    for decorator, fn in reversed(decorators):
        value = Call(fn, (c.bind(value, decorator),))
    c.put(Let(target, value, c.span(node, node.name)))


# --- which names a function assigns -------------------------------------------------------------------------


class _Bindings:
    """Collects the names that the statements of one function assign, functions inside it left out."""

    def __init__(self, c: _Context) -> None:
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
                self.locals.update(_target_names(self.c, target))
                self.nested(node)
            case cst.If() | cst.While() | cst.Else():
                self.nested(node)
            case cst.With(items=items, body=body):
                for item in items:
                    if item.asname is not None:
                        self.locals.update(_target_names(self.c, item.asname.name))
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
                self.locals.update(_target_names(self.c, handler.name.name))
            self.suite(handler.body)
        for part in (node.orelse, node.finalbody):
            if part is not None:
                self.suite(part.body)

    def small(self, node: cst.CSTNode) -> None:
        match node:
            case cst.Assign(targets=targets):
                for target in targets:
                    self.locals.update(_target_names(self.c, target.target))
            case cst.AnnAssign(target=target) | cst.AugAssign(target=target):
                self.locals.update(_target_names(self.c, target))
            case cst.Import(names=names) | cst.ImportFrom(names=[*names]):
                self.locals.update(_import_name(self.c, alias) for alias in names)
            case cst.Del(target=target):
                self.locals.update(_target_names(self.c, target))
            case cst.Global(names=names):
                self.globals.update(self.c.name(item.name) for item in names)
            case cst.Nonlocal(names=names):
                self.nonlocals.update(self.c.name(item.name) for item in names)
            case _:
                pass


def _target_names(c: _Context, target: cst.CSTNode) -> Iterator[str]:
    """The variables that an assignment to ``target`` binds."""
    match target:
        case cst.Name():
            yield c.name(target)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _target_names(c, element.value)
        case _:
            pass


def _import_name(c: _Context, alias: cst.ImportAlias) -> str:
    """The variable that one name of an import statement binds."""
    if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
        return c.name(alias.asname.name)
    return mangle(_dotted(alias.name).split(".")[0], c.owner)


def _walrus_names(c: _Context, node: cst.CSTNode) -> Iterator[str]:
    """The names that ``:=`` assigns in a node, functions inside it left out."""
    match node:
        case cst.NamedExpr(target=cst.Name() as target):
            yield c.name(target)
        case cst.FunctionDef(params=params) | cst.Lambda(params=params):
            yield from _walrus_names(c, params)  # the defaults are evaluated outside the function
            return
    for child in node.children:
        yield from _walrus_names(c, child)


def _enter(c: _Context, *nodes: cst.CSTNode) -> None:
    """Note which names the statement about to be lowered assigns by ``:=``: reads of them need a copy,
    because an operand that was read before must not see the new value (``x + (x := 2)``)."""
    if c.has_walrus:
        c.walrus = frozenset(name for node in nodes for name in _walrus_names(c, node))


# --- statements ---------------------------------------------------------------------------------------------


def _suite(c: _Context, node: cst.BaseSuite) -> None:
    for statement in node.body:
        if isinstance(statement, cst.BaseSmallStatement):
            _small_statement(c, statement)
        else:
            _statement(c, statement)


def _suite_block(c: _Context, node: cst.BaseSuite) -> ir.Block:
    with c.block() as statements:
        _suite(c, node)
    return _block(statements)


def _statement(c: _Context, node: cst.CSTNode) -> None:
    match node:
        case cst.SimpleStatementLine(body=body):
            for small in body:
                _small_statement(c, small)
        case cst.If():
            _if(c, node)
        case cst.For():
            _for(c, node)
        case cst.While():
            _while(c, node)
        case cst.FunctionDef():
            _enter(c, node.params, *node.decorators)
            _nested_def(c, node)
        case cst.With():
            _with(c, node, node.items)
        case cst.Try():
            _try(c, node)
        case cst.Match():
            _match(c, node)
        case _:
            _refuse_statement(c, node)


def _small_statement(c: _Context, node: cst.BaseSmallStatement) -> None:
    _enter(c, node)
    match node:
        case cst.Expr():
            _expression_statement(c, node)
        case cst.Assign():
            _assign(c, node)
        case cst.AnnAssign(target=target, value=value):
            if value is not None:
                _assign_to(c, target, _value(c, value), value)
        case cst.AugAssign():
            _augmented(c, node)
        case cst.Return(value=value):
            c.put(ir.Return(NONE if value is None else _atom(c, value), c.span(node)))
        case cst.Break():
            c.put(ir.Break(c.span(node)))
        case cst.Continue():
            c.put(ir.Continue(c.span(node)))
        case cst.Raise():
            _raise(c, node)
        case cst.Assert():
            _assert(c, node)
        case cst.Import() | cst.ImportFrom():
            _import(c, node)
        case cst.Del(target=target):
            _delete(c, target)
        case cst.Pass() | cst.Global() | cst.Nonlocal():
            pass
        case _:
            _refuse_statement(c, node)


def _expression_statement(c: _Context, node: cst.Expr) -> None:
    value = _value(c, node.value)
    already_done = isinstance(value, Const) or (isinstance(value, Var) and value.is_temporary)
    if not already_done:
        c.let(None, value, node.value)


def _if(c: _Context, node: cst.If) -> None:
    _enter(c, node.test)
    test = _atom(c, node.test)
    then = _suite_block(c, node.body)
    c.put(ir.If(test, then, _orelse(c, node.orelse), (), c.span(node.test)))


def _orelse(c: _Context, node: cst.If | cst.Else | None) -> ir.Block:
    match node:
        case cst.Else():
            return _suite_block(c, node.body)
        case cst.If():
            with c.block() as statements:
                _if(c, node)
            return _block(statements)
        case None:
            return ir.Block(())


def _for(c: _Context, node: cst.For) -> None:
    if node.asynchronous is not None:
        _refuse_async(c, node, node.iter)
    _enter(c, node.iter, node.target)
    iterable = _consumed(c, node.iter)
    item, body = _loop(c, node.target, lambda: _suite(c, node.body))
    orelse = _orelse(c, node.orelse)
    c.put(ir.For(item, iterable, body, orelse=orelse, span=c.span(node, node.iter)))


def _loop(c: _Context, target: cst.BaseExpression, run: Callable[[], None]) -> tuple[Var, ir.Block]:
    """The item variable and the body of a loop; ``run`` lowers what comes after the target is bound."""
    item = _own(c, target) if isinstance(target, cst.Name) else c.temporary()
    with c.block() as statements:
        if not isinstance(target, cst.Name):
            _assign_to(c, target, item, target)
        run()
    return item, _block(statements)


def _while(c: _Context, node: cst.While) -> None:
    """``While`` with the test as a block where that assigns only temporaries; else ``while True``."""
    _enter(c, node.test)
    with c.block() as statements:
        test = _atom(c, node.test)
    if all(map(_only_temporaries, ir.walk(_block(statements)))):
        body = _suite_block(c, node.body)
        orelse = _orelse(c, node.orelse)
        c.put(ir.While(ir.Block(tuple(statements), (test,)), body, orelse=orelse, span=c.span(node.test)))
    else:
        _while_true(c, node, statements, test)


def _only_temporaries(statement: ir.Statement) -> bool:
    match statement:
        case Let(target):
            return target is None or target.is_temporary
        case ir.For() | ir.While() | ir.Store():
            return False
        case _:
            return True


def _while_true(c: _Context, node: cst.While, test_statements: list[ir.Statement], test: ir.Atom) -> None:
    # The ``else`` of the user's loop must stand after this loop: its ``break`` leaves the loop around it.
    ended = None if node.orelse is None else c.bind(Const(False), node.test)
    with c.block() as leave:
        if ended is not None:
            c.let(ended, Const(True), node.test)
        c.put(ir.Break(c.span(node.test)))
    with c.block() as body:
        body.extend(test_statements)
        stop = c.call(node.test, operator.not_, test)
        c.put(ir.If(stop, _block(leave), ir.Block(()), (), c.span(node.test)))
        _suite(c, node.body)
    c.put(ir.While(ir.Block((), (Const(True),)), _block(body), span=c.span(node.test)))
    if ended is not None:
        c.put(ir.If(ended, _orelse(c, node.orelse), ir.Block(()), (), c.span(node.test)))


def _raise(c: _Context, node: cst.Raise) -> None:
    exception = None if node.exc is None else _atom(c, node.exc)
    cause = node.cause.item if isinstance(node.cause, cst.From) else None
    c.put(ir.Raise(exception, None if cause is None else _atom(c, cause), c.span(node)))


def _assert(c: _Context, node: cst.Assert) -> None:
    failed = c.call(node.test, operator.not_, _atom(c, node.test))
    with c.block() as statements:
        message = () if node.msg is None else (_atom(c, node.msg),)
        c.put(ir.Raise(c.call(node, AssertionError, *message), None, c.span(node)))
    c.put(ir.If(failed, _block(statements), ir.Block(()), (), c.span(node)))


def _delete(c: _Context, target: cst.BaseExpression) -> None:
    """``del``: a name loses its value; an item or an attribute is a call for its effect."""
    match target:
        case cst.Name():
            c.let(_own(c, target), ir.UNDEFINED, target)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                _delete(c, element.value)
        case cst.Subscript() | cst.Attribute():
            kind, obj, key = _place(c, target)
            c.let(None, Call(Const(operator.delitem if kind == "item" else delattr), (obj, key)), target)
        case _:
            _refuse(c, "S2S101", target, "is not supported as a target", construct="this `del`")


# --- with and try -------------------------------------------------------------------------------------------


def _with(c: _Context, node: cst.With, items: Sequence[cst.WithItem]) -> None:
    """``with a as x, b as y:`` is one ``with`` inside another."""
    if node.asynchronous is not None:
        _refuse_async(c, node, node.items[-1])
    first, *rest = items
    _enter(c, first.item)
    call = first.item if isinstance(first.item, cst.Call) else None
    plain = call is not None and first.asname is None and not any(arg.star for arg in call.args)
    if call is not None and plain and _means(c, call.func) is contextlib.suppress:
        _suppress(c, node, call, rest)
    else:
        _entered(c, node, first, _atom(c, first.item), rest)


def _means(c: _Context, node: cst.BaseExpression) -> Any:
    """The object that a global name, or an attribute of one, stands for while the function is lowered."""
    match node:
        case cst.Name() if isinstance(c.resolve(c.name(node)), ir.Load):
            return c.source.globals.get(c.name(node))
        case cst.Attribute(value=value, attr=attr):
            owner = _means(c, value)
            return getattr(owner, attr.value, None) if isinstance(owner, types.ModuleType) else None
        case _:
            return None


def _suppress(c: _Context, node: cst.With, call: cst.Call, rest: Sequence[cst.WithItem]) -> None:
    """``with contextlib.suppress(...)`` is a ``try`` whose handler does nothing, if the name still means that when the
    function is compiled."""
    made = _call(c, call)
    kinds = tuple(kind for kind in made.args if not isinstance(kind, Star))
    same = c.call(call.func, operator.is_, made.fn, Const(contextlib.suppress))
    with c.block() as guarded:
        body = _managed(c, node, rest)
        c.put(ir.Try(body, (ir.Handler(kinds, None, ir.Block(()), span=c.span(call)),), span=c.span(call)))
    with c.block() as other:
        c.put(ir.With(c.bind(made, call), None, _managed(c, node, rest), span=c.span(call)))
    c.put(ir.If(same, _block(guarded), _block(other), (), c.span(call)))


def _managed(c: _Context, node: cst.With, rest: Sequence[cst.WithItem]) -> ir.Block:
    """The body of a ``with``: another one where there are more managers."""
    with c.block() as statements:
        if rest:
            _with(c, node, rest)
        else:
            _suite(c, node.body)
    return _block(statements)


def _entered(
    c: _Context, node: cst.With, first: cst.WithItem, manager: ir.Atom, rest: Sequence[cst.WithItem]
) -> None:
    target = None if first.asname is None else first.asname.name
    variable = None
    if target is not None:
        variable = _own(c, target) if isinstance(target, cst.Name) else c.temporary()
    with c.block() as statements:
        if variable is not None and target is not None and not isinstance(target, cst.Name):
            _assign_to(c, target, variable, target)
        statements += _managed(c, node, rest).statements
    c.put(ir.With(manager, variable, _block(statements), span=c.span(first)))


def _try(c: _Context, node: cst.Try) -> None:
    """``try``; the kinds of exceptions are evaluated before it."""
    kinds = [_kinds(c, node, handler) for handler in node.handlers]
    body = _suite_block(c, node.body)
    handlers = tuple(_handler(c, handler, kind) for handler, kind in zip(node.handlers, kinds, strict=True))
    orelse = _orelse(c, node.orelse)
    final = ir.Block(()) if node.finalbody is None else _suite_block(c, node.finalbody.body)
    c.put(ir.Try(body, handlers, orelse, final=final, span=_try_span(c, node)))


def _kinds(c: _Context, node: cst.Try, handler: cst.ExceptHandler) -> tuple[ir.Atom, ...]:
    """The classes of exceptions that a handler names: one for each item of a display."""
    kind = handler.type
    if kind is None:
        return ()
    found = _Bindings(c)
    found.suite(node.body)
    if not found.locals.isdisjoint(map(c.name, _names_in(kind))):
        hint = "assign what the `except` names before the `try`"
        _refuse(c, "S2S104", kind, "is assigned in the block that the exception interrupts", hint)
    _enter(c, kind)
    if isinstance(kind, cst.Tuple) and not any(isinstance(e, cst.StarredElement) for e in kind.elements):
        return tuple(_atom(c, element.value) for element in kind.elements)
    return (_atom(c, kind),)


def _names_in(node: cst.CSTNode) -> Iterator[cst.Name]:
    if isinstance(node, cst.Name):
        yield node
    for child in node.children:
        yield from _names_in(child)


def _handler(c: _Context, node: cst.ExceptHandler, kinds: tuple[ir.Atom, ...]) -> ir.Handler:
    name = None if node.name is None else _own(c, node.name.name)
    with c.block() as statements:
        _suite(c, node.body)
        if name is not None:  # Python forgets the exception at the end
            c.let(name, ir.UNDEFINED, node)
    return ir.Handler(kinds, name, _block(statements), span=_keyword_span(c, node, "except"))


def _keyword_span(c: _Context, node: cst.CSTNode, keyword: str) -> ir.Span:
    """The place of the first word of a compound statement."""
    start = c.span(node)
    return ir.replace(start, end_line=start.line, end_column=start.column + len(keyword))


def _try_span(c: _Context, node: cst.Try | cst.TryStar) -> ir.Span:
    return _keyword_span(c, node, "try")


# --- match --------------------------------------------------------------------------------------------------


def _match(c: _Context, node: cst.Match) -> None:
    """``match``: the subject is evaluated once; each case is an ``if``, the cases after it are its other side."""
    _enter(c, node.subject)
    subject = _atom(c, node.subject)
    if isinstance(subject, Var) and not subject.is_temporary:
        subject = c.bind(subject, node.subject)  # a capture may have its name
    _cases(c, node.cases, subject)


def _cases(c: _Context, cases: Sequence[cst.MatchCase], subject: ir.Atom) -> None:
    if not cases:
        return
    first, *rest = cases
    patterns = Patterns(c, lambda node: _atom(c, node), lambda name: _own(c, name))
    if first.guard is not None:
        _guarded_case(c, first, rest, patterns, subject)
        return
    if is_irrefutable(first.pattern):
        _case_body(c, first, patterns, subject)
        return
    test = patterns.test(first.pattern, subject)
    with c.block() as then:
        _case_body(c, first, patterns, subject)
    with c.block() as orelse:
        _cases(c, rest, subject)
    c.put(ir.If(test, _block(then), _block(orelse), (), c.span(first.pattern)))


def _guarded_case(
    c: _Context, case: cst.MatchCase, rest: Sequence[cst.MatchCase], patterns: Patterns, subject: ir.Atom
) -> None:
    """A case with a guard. The guard sees the captures; where it fails, the cases after this one are tried."""
    assert case.guard is not None
    matched = c.bind(Const(False), case.pattern)
    test = patterns.test(case.pattern, subject)
    with c.block() as then:
        patterns.bind(case.pattern, subject)
        _enter(c, case.guard)
        guard = _atom(c, case.guard)
        with c.block() as body:
            c.let(matched, Const(True), case.guard)
            _suite(c, case.body)
        c.put(ir.If(guard, _block(body), ir.Block(()), (), c.span(case.guard)))
    c.put(ir.If(test, _block(then), ir.Block(()), (), c.span(case.pattern)))
    with c.block() as others:
        _cases(c, rest, subject)
    if others:
        c.put(ir.If(matched, ir.Block(()), _block(others), (), c.span(case.pattern)))


def _case_body(c: _Context, case: cst.MatchCase, patterns: Patterns, subject: ir.Atom) -> None:
    patterns.bind(case.pattern, subject)
    _suite(c, case.body)


# --- imports ------------------------------------------------------------------------------------------------


def _import(c: _Context, node: cst.Import | cst.ImportFrom) -> None:
    match node:
        case cst.Import(names=names):
            for alias in names:
                _import_module(c, alias, node)
        case cst.ImportFrom(names=[*names]):
            module = c.bind(_module(_absolute(c, node)), node)
            for alias in names:
                read = Call(Const(getattr), (module, Const(_dotted(alias.name))))
                c.let(_own_name(c, _import_name(c, alias), alias), read, alias)
        case _:
            _refuse(c, "S2S111", node, "binds names that cannot be known", "import the names that are used")


def _import_module(c: _Context, alias: cst.ImportAlias, node: cst.Import) -> None:
    name = _dotted(alias.name)
    target = _own_name(c, _import_name(c, alias), alias)
    if alias.asname is None and "." in name:  # ``import a.b`` loads a.b and binds a
        c.let(None, _module(name), node)
        name = name.split(".")[0]
    c.let(target, _module(name), node)


def _module(name: str) -> Call:
    return Call(Const(importlib.import_module), (Const(name),))


def _absolute(c: _Context, node: cst.ImportFrom) -> str:
    """The full name of the module of a ``from ... import``, relative ones resolved."""
    name = "" if node.module is None else _dotted(node.module)
    package = c.source.globals.get("__package__") or c.source.globals.get("__name__", "").rpartition(".")[0]
    return importlib.util.resolve_name("." * len(node.relative) + name, package)


def _dotted(node: cst.CSTNode) -> str:
    match node:
        case cst.Attribute(value=value, attr=attr):
            return f"{_dotted(value)}.{attr.value}"
        case cst.Name(value=name):
            return name
        case _:
            raise error("S2S901", problem=f"a {type(node).__name__} inside a dotted name")


# --- assignments --------------------------------------------------------------------------------------------


def _assign(c: _Context, node: cst.Assign) -> None:
    targets = [target.target for target in node.targets]
    if len(targets) == 1:
        _assign_one(c, targets[0], node.value)
        return
    value = _atom(c, node.value)
    if isinstance(value, Var) and not value.is_temporary:
        value = c.bind(value, node.value)  # the first targets may assign it: ``a = x, y = a``
    for target in targets:
        _assign_to(c, target, value, node.value)


def _assign_one(c: _Context, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
    items = _same_items(target, value)
    if items is None:
        _assign_to(c, target, _value(c, value), value)
        return
    assigned = set(_target_names(c, target))
    atoms = [(part, item, _kept(c, item, assigned)) for part, item in items]
    for part, item, atom in atoms:
        _assign_to(c, part, atom, item)


def _same_items(
    target: cst.BaseExpression, value: cst.BaseExpression
) -> list[tuple[cst.BaseExpression, cst.BaseExpression]] | None:
    """The pairs of ``a, b = c, d``, where both sides are displays of one length without stars."""
    match target, value:
        case (cst.Tuple() | cst.List()), (cst.Tuple() | cst.List()):
            elements = (*target.elements, *value.elements)
            starred = any(isinstance(element, cst.StarredElement) for element in elements)
            if len(target.elements) == len(value.elements) and not starred:
                return [(t.value, v.value) for t, v in zip(target.elements, value.elements, strict=True)]
    return None


def _kept(c: _Context, node: cst.BaseExpression, assigned: set[str]) -> ir.Atom:
    """The atom of an expression, as a temporary where it is a variable that is about to be assigned."""
    atom = _atom(c, node)
    return c.bind(atom, node) if isinstance(atom, Var) and atom.name in assigned else atom


def _assign_to(c: _Context, target: cst.BaseExpression, value: ir.Value, node: cst.CSTNode) -> None:
    """Assign ``value``, which ``node`` computed, to any target."""
    match target:
        case cst.Name():
            c.let(_own(c, target), value, node)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            _unpack(c, elements, _as_atom(c, value, node), target)
        case cst.Subscript() | cst.Attribute():
            atom = _as_atom(c, value, node)
            kind, obj, key = _place(c, target)
            end = node if _follows(c, target, node) else target
            c.put(ir.Store(kind, obj, key, atom, None, c.span(target, end)))
        case _:
            _refuse(c, "S2S101", target, "is not supported as a target", construct="this assignment")


def _follows(c: _Context, target: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether ``node`` ends after ``target``: then they make one span."""
    return c.places[node][1] > c.places[target][1]


def _unpack(c: _Context, elements: Sequence[cst.BaseElement], value: ir.Atom, node: cst.CSTNode) -> None:
    stars = [index for index, element in enumerate(elements) if isinstance(element, cst.StarredElement)]
    before = stars[0] if stars else len(elements)
    after = len(elements) - before - 1 if stars else None
    items = c.call(node, ops.unpack, value, Const(before), Const(after))
    for index, element in enumerate(elements):
        _assign_to(c, element.value, Call(Const(operator.getitem), (items, Const(index))), element.value)


def _place(c: _Context, target: cst.Subscript | cst.Attribute) -> tuple[str, ir.Atom, ir.Atom]:
    """Kind, object and key of a store."""
    obj = _atom(c, target.value)
    if isinstance(target, cst.Attribute):
        return "attr", obj, Const(c.name(target.attr))
    return "item", obj, _index(c, target)


def _own(c: _Context, node: cst.CSTNode) -> Var:
    """The variable that an assignment to a name binds."""
    if not isinstance(node, cst.Name):
        _refuse(c, "S2S101", node, "is not supported as a target", construct="this assignment")
    return _own_name(c, c.name(node), node)


def _own_name(c: _Context, name: str, node: cst.CSTNode) -> Var:
    assert c.scope is not None
    for frame in reversed(c.scope.frames):
        if name in frame:
            return frame[name]
    if name in c.scope.globals:
        hint = f"return the new value and assign `{name}` outside the function"
        _refuse(c, "S2S108", node, "changes a variable outside the function", hint, name=name)
    if name in c.scope.nonlocals:
        hint = f"return the new value and assign `{name}` in the function that owns it"
        _refuse(c, "S2S109", node, "changes a variable of the enclosing function", hint, name=name)
    return Var(name)


def _augmented(c: _Context, node: cst.AugAssign) -> None:
    op, in_place = AUGMENTED[type(node.operator)]
    match node.target:
        case cst.Name():
            target = _own(c, node.target)
            old = c.bind(target, node.target) if target.name in c.walrus else target
            c.let(target, Call(Const(in_place), (old, _atom(c, node.value))), node)
        case cst.Subscript() | cst.Attribute():
            kind, obj, key = _place(c, node.target)
            c.put(ir.Store(kind, obj, key, _atom(c, node.value), op, c.span(node)))
        case _:
            _refuse(c, "S2S101", node.target, "is not supported as a target", construct="this assignment")


# --- expressions --------------------------------------------------------------------------------------------


def _atom(c: _Context, node: cst.BaseExpression) -> ir.Atom:
    """The value of an expression as an atom: a variable, a constant, or a new temporary."""
    return _as_atom(c, _value(c, node), node)


def _as_atom(c: _Context, value: ir.Value, node: cst.CSTNode) -> ir.Atom:
    return value if isinstance(value, Var | Const) else c.bind(value, node)


def _value(c: _Context, node: cst.BaseExpression) -> ir.Value:
    """The value of an expression; the operands that it needs are put into the current block."""
    match node:
        case cst.Name():
            return _read(c, node)
        case cst.Integer() | cst.Float() | cst.Imaginary():
            return Const(_number(node))
        case cst.BinaryOperation(left=left, operator=op, right=right):
            return Call(Const(BINARY[type(op)]), (_atom(c, left), _atom(c, right)))
        case cst.Call():
            return _call(c, node)
        case cst.Attribute(value=value, attr=attr):
            return Call(Const(getattr), (_atom(c, value), Const(c.name(attr))))
        case cst.Subscript(value=value):
            return Call(Const(operator.getitem), (_atom(c, value), _index(c, node)))
        case cst.UnaryOperation():
            return _unary(c, node)
        case cst.Comparison():
            return _comparison(c, node)
        case cst.BooleanOperation():
            return _boolean(c, node)
        case cst.IfExp():
            return _conditional(c, node)
        case _:
            return _other_value(c, node)


def _other_value(c: _Context, node: cst.BaseExpression) -> ir.Value:
    """The less frequent half of the list of supported expressions."""
    match node:
        case cst.Tuple() | cst.List() | cst.Set():
            return Call(Const(DISPLAYS[type(node)]), _items(c, node.elements))
        case cst.Dict():
            return _dict(c, node)
        case cst.SimpleString():
            return Const(node.evaluated_value)
        case cst.ConcatenatedString() | cst.FormattedString():
            return _string(c, node)
        case cst.Ellipsis():
            return Const(...)
        case cst.Lambda():
            return _make_function(c, node, LAMBDA)
        case cst.ListComp() | cst.SetComp() | cst.DictComp():
            return _comprehension(c, node)
        case cst.GeneratorExp():
            _refuse(
                c, "S2S103", node, "is kept, and reads its variables when it is consumed", "write a list comprehension"
            )
        case cst.NamedExpr(target=target, value=value):
            variable = _own(c, target)
            c.let(variable, _value(c, value), node)
            return c.bind(variable, node)
        case _:
            _refuse_expression(c, node)


def _read(c: _Context, node: cst.Name) -> ir.Value:
    match node.value:
        case "None":
            return NONE
        case "True" | "False":
            return Const(node.value == "True")
        case "__class__" if "__class__" in c.free:
            hint = "write the name of the class"
            _refuse(c, "S2S101", node, "is a hidden variable", hint, construct="`__class__`")
    value = c.resolve(c.name(node))
    return c.bind(value, node) if isinstance(value, Var) and value.name in c.walrus else value


def _number(node: cst.Integer | cst.Float | cst.Imaginary) -> int | float | complex:
    match node:
        case cst.Integer(value=text):
            return int(text, 0)
        case cst.Float(value=text):
            return float(text)
        case cst.Imaginary(value=text):
            return complex(text)


def _unary(c: _Context, node: cst.UnaryOperation) -> ir.Value:
    match node.operator, node.expression:
        case cst.Minus(), (cst.Integer() | cst.Float() | cst.Imaginary()) as number:
            return Const(-_number(number))
        case op, operand:
            return Call(Const(UNARY[type(op)]), (_atom(c, operand),))


def _comparison(c: _Context, node: cst.Comparison) -> ir.Value:
    left = _atom(c, node.left)
    first, *rest = node.comparisons
    right = _atom(c, first.comparator)
    value = Call(Const(COMPARISONS[type(first.operator)]), (left, right))
    if not rest:
        return value
    result = c.bind(value, node)
    _compare_on(c, node, result, right, rest)
    return result


def _compare_on(
    c: _Context, node: cst.Comparison, result: Var, left: ir.Atom, rest: Sequence[cst.ComparisonTarget]
) -> None:
    """The rest of ``a < b < c``: evaluated only where what came before holds."""
    if not rest:
        return
    with c.block() as statements:
        right = _atom(c, rest[0].comparator)
        c.let(result, Call(Const(COMPARISONS[type(rest[0].operator)]), (left, right)), node)
        _compare_on(c, node, result, right, rest[1:])
    c.put(ir.If(result, _block(statements), ir.Block(()), (), c.span(node)))


def _boolean(c: _Context, node: cst.BooleanOperation) -> Var:
    first, *rest = _operands(node)
    result = c.bind(_value(c, first), first)
    _short_circuit(c, node, result, rest)
    return result


def _operands(node: cst.BooleanOperation) -> list[cst.BaseExpression]:
    """The operands of ``a and b and c``, which is ``(a and b) and c``."""
    left = node.left
    if isinstance(left, cst.BooleanOperation) and type(left.operator) is type(node.operator):
        return [*_operands(left), node.right]
    return [left, node.right]


def _short_circuit(
    c: _Context, node: cst.BooleanOperation, result: Var, rest: Sequence[cst.BaseExpression]
) -> None:
    if not rest:
        return
    with c.block() as statements:
        c.let(result, _value(c, rest[0]), rest[0])
        _short_circuit(c, node, result, rest[1:])
    go_on, stop = _block(statements), ir.Block(())
    then, orelse = (go_on, stop) if isinstance(node.operator, cst.And) else (stop, go_on)
    c.put(ir.If(result, then, orelse, (), c.span(node)))


def _conditional(c: _Context, node: cst.IfExp) -> Var:
    test = _atom(c, node.test)
    result = c.temporary()
    blocks = []
    for branch in (node.body, node.orelse):
        with c.block() as statements:
            c.let(result, _value(c, branch), branch)
        blocks.append(_block(statements))
    c.put(ir.If(test, blocks[0], blocks[1], (), c.span(node)))
    return result


def _index(c: _Context, node: cst.Subscript) -> ir.Atom:
    """The key of ``a[key]``: one index or slice, else a tuple of them."""
    parts = node.slice
    single = len(parts) == 1 and isinstance(parts[0].comma, cst.MaybeSentinel)
    if single and not _starred(parts[0]):
        return _subscript(c, parts[0])
    items = tuple(Star(_subscript(c, part)) if _starred(part) else _subscript(c, part) for part in parts)
    start, end = parts[0], parts[-1]
    key = c.temporary()
    c.put(Let(key, Call(Const(ops.make_tuple), items), c.span(start.slice, end.slice)))
    return key


def _starred(part: cst.SubscriptElement) -> bool:
    return isinstance(part.slice, cst.Index) and part.slice.star is not None


def _subscript(c: _Context, part: cst.SubscriptElement) -> ir.Atom:
    match part.slice:
        case cst.Index(value=value):
            return _atom(c, value)
        case cst.Slice(lower=lower_bound, upper=upper, step=step) as node:
            bounds = [NONE if bound is None else _atom(c, bound) for bound in (lower_bound, upper, step)]
            return c.call(node, slice, *bounds)
        case other:
            _refuse_expression(c, other)


def _items(c: _Context, elements: Sequence[cst.BaseElement]) -> tuple[ir.Atom | Star, ...]:
    return tuple(
        Star(_atom(c, element.value)) if isinstance(element, cst.StarredElement) else _atom(c, element.value)
        for element in elements
    )


def _dict(c: _Context, node: cst.Dict) -> ir.Value:
    """``make_dict`` of the entries; ``**others`` are merged with the runs between them, from the left."""
    value: ir.Value | None = None
    entries: list[ir.Atom] = []
    for element in node.elements:
        if isinstance(element, cst.DictElement):
            entries += [_atom(c, element.key), _atom(c, element.value)]
        else:
            value = _merged(c, value, entries, node)
            value = Call(Const(ops.merge_dict), (_as_atom(c, value, node), _atom(c, element.value)))
            entries = []
    return _merged(c, value, entries, node)


def _merged(c: _Context, value: ir.Value | None, entries: list[ir.Atom], node: cst.Dict) -> ir.Value:
    display = Call(Const(ops.make_dict), tuple(entries))
    if value is None:
        return display
    if not entries:
        return value
    return Call(Const(ops.merge_dict), (_as_atom(c, value, node), c.bind(display, node)))


# --- calls --------------------------------------------------------------------------------------------------


def _call(c: _Context, node: cst.Call) -> Call:
    if _is_bare_super(c, node):
        return _super(c, node)
    _check_callee(c, node)
    fn = _atom(c, node.func)
    # Python evaluates ``*args`` before the keywords, wherever it stands.
    args = tuple(
        Star(_consumed(c, arg.value)) if arg.star == "*" else _consumed(c, arg.value)
        for arg in node.args
        if arg.keyword is None and arg.star != "**"
    )
    kwargs = tuple(
        (None if arg.keyword is None else arg.keyword.value, _atom(c, arg.value))
        for arg in node.args
        if arg.keyword is not None or arg.star == "**"
    )
    return Call(fn, args, kwargs)


def _consumed(c: _Context, node: cst.BaseExpression) -> ir.Atom:
    """An argument or a loop's iterable: a generator expression is a list there."""
    return _comprehension(c, node) if isinstance(node, cst.GeneratorExp) else _atom(c, node)


def _check_callee(c: _Context, node: cst.Call) -> None:
    """Refuse the built-in functions that see the frame which calls them."""
    if not isinstance(node.func, cst.Name) or isinstance(c.resolve(node.func.value), Var):
        return
    name, count = node.func.value, len(node.args)
    if (name in ("locals", "vars", "dir") and count == 0) or (name in ("eval", "exec") and count == 1):
        _refuse(c, "S2S115", node, "needs the frame that calls it", "name the variables", name=name)
    if name == "next" and count and isinstance(node.args[0].value, cst.GeneratorExp):
        label, hint = "takes one item of many that may never end", "write a `for` loop with `break`"
        _refuse(c, "S2S101", node, label, hint, construct="`next` of a generator expression")


def _is_bare_super(c: _Context, node: cst.Call) -> bool:
    """Whether a call is ``super()`` of the built-in ``super``."""
    if not isinstance(node.func, cst.Name) or node.func.value != "super" or node.args:
        return False
    return c.resolve("super") == ir.Load("super", "global")


def _super(c: _Context, node: cst.Call) -> Call:
    """``super()`` with what it stands for: the class that the method was defined in, and the first parameter."""
    assert c.scope is not None
    if c.scope.first is None or "__class__" not in c.free:
        label, hint = "has no class or no first argument here", "write `super(Class, self)`"
        _refuse(c, "S2S114", node, label, hint)
    owner = c.bind(ir.Load("__class__", "free"), node)
    return Call(_atom(c, node.func), (owner, c.scope.first))


# --- comprehensions -----------------------------------------------------------------------------------------


def _comprehension(c: _Context, node: _Comprehension) -> Var:
    """A loop that adds to a list, set or dict. Its targets are its own variables, told apart by version."""
    result = c.call(node, COMPREHENSIONS[type(node)])
    c.comprehensions += 1
    _clause(c, node, node.for_in, result, c.comprehensions)
    return result


def _clause(c: _Context, node: _Comprehension, clause: cst.CompFor, result: Var, number: int) -> None:
    """One ``for target in iterable if ...`` and what is inside it."""
    if clause.asynchronous is not None:
        _refuse_async(c, clause)
    assert c.scope is not None
    iterable = _consumed(c, clause.iter)
    c.scope.frames.append({name: Var(name, number) for name in _target_names(c, clause.target)})
    item, body = _loop(c, clause.target, lambda: _filtered(c, node, clause, clause.ifs, result, number))
    c.scope.frames.pop()
    c.put(ir.For(item, iterable, body, span=c.span(clause.target, clause.iter)))


def _filtered(
    c: _Context, node: _Comprehension, clause: cst.CompFor, conditions: Sequence[cst.CompIf], result: Var,
    number: int,
) -> None:
    if conditions:
        test = _atom(c, conditions[0].test)
        with c.block() as statements:
            _filtered(c, node, clause, conditions[1:], result, number)
        c.put(ir.If(test, _block(statements), ir.Block(()), (), c.span(conditions[0].test)))
    elif clause.inner_for_in is not None:
        _clause(c, node, clause.inner_for_in, result, number)
    else:
        _add(c, node, result)


def _add(c: _Context, node: _Comprehension, result: Var) -> None:
    match node:
        case cst.DictComp(key=key, value=value):
            entry = (_atom(c, key), _atom(c, value))
            c.put(Let(result, Call(Const(ops.put), (result, *entry)), c.span(key, value)))
        case cst.SetComp(elt=elt):
            c.let(result, Call(Const(ops.add_to_set), (result, _atom(c, elt))), elt)
        case cst.ListComp(elt=elt) | cst.GeneratorExp(elt=elt):
            c.let(result, Call(Const(ops.append), (result, _atom(c, elt))), elt)


# --- strings ------------------------------------------------------------------------------------------------


def _string(c: _Context, node: cst.ConcatenatedString | cst.FormattedString) -> ir.Value:
    """Adjacent strings and f-strings."""
    if isinstance(node, cst.ConcatenatedString) and node.evaluated_value is not None:
        return Const(node.evaluated_value)
    return _joined(_string_parts(c, node))


def _joined(parts: Sequence[ir.Atom]) -> ir.Value:
    if all(isinstance(part, Const) for part in parts):
        return Const("".join(part.value for part in parts if isinstance(part, Const)))
    return Call(Const(ops.format_string), tuple(parts))


def _string_parts(c: _Context, node: cst.CSTNode) -> list[ir.Atom]:
    match node:
        case cst.ConcatenatedString(left=left, right=right):
            return [*_string_parts(c, left), *_string_parts(c, right)]
        case cst.FormattedString(parts=parts):
            return [atom for part in parts for atom in _part(c, part, node)]
        case cst.SimpleString():
            return [Const(node.evaluated_value)]
        case _:
            _refuse_expression(c, node)


def _part(c: _Context, part: cst.BaseFormattedStringContent, string: cst.FormattedString) -> list[ir.Atom]:
    match part:
        case cst.FormattedStringText(value=text):
            return [Const(_literal_text(text, string))]
        case cst.FormattedStringExpression():
            return _replacement(c, part, string)
        case _:
            _refuse_expression(c, part)


def _literal_text(text: str, string: cst.FormattedString) -> str:
    """What the literal part of an f-string means, its escapes resolved."""
    if "\\" in text and "r" not in string.prefix:
        # The blank keeps a quote at the end of the text apart from the closing quotes.
        text = ast.literal_eval(f"{string.quote}{text} {string.quote}")[:-1]
    return text.replace("{{", "{").replace("}}", "}")


def _replacement(
    c: _Context, part: cst.FormattedStringExpression, string: cst.FormattedString
) -> list[ir.Atom]:
    """``{value!conversion:spec}``, after its own text where it is written ``{value=}``."""
    value = _atom(c, part.expression)
    spec_parts = [atom for item in part.format_spec or () for atom in _part(c, item, string)]
    conversion = part.conversion or ""
    label: list[ir.Atom] = []
    if part.equal is not None:
        text = c.code(part.expression) + c.code(part.equal)
        label = [Const(c.code(part.whitespace_before_expression) + text)]
        conversion = conversion or ("" if part.format_spec else "r")
    spec = _as_atom(c, _joined(spec_parts), part.expression)
    return [*label, c.call(part.expression, ops.format_value, value, Const(conversion), spec)]


# --- refusals -----------------------------------------------------------------------------------------------


def _refuse(
    c: _Context, code: str, node: cst.CSTNode, label: str, hint: str = "", *, end: cst.CSTNode | None = None,
    **fields: Any,
) -> NoReturn:
    raise error(code, span=c.span(node, end), label=label, hint=hint, **fields)


def _refuse_statement(c: _Context, node: cst.CSTNode) -> NoReturn:
    match node:
        case cst.TryStar():
            hint = "catch the group with `except`, and look at its exceptions"
            span = _try_span(c, node)
            raise error("S2S104", span=span, label="many handlers may run for one exception", hint=hint)
        case cst.ClassDef(name=name):
            hint = f"define `{name.value}` at the level of the module"
            _refuse(c, "S2S107", node, "makes a new class in every call", hint, end=name)
        case _:
            _refuse(c, "S2S101", node, "is not supported", construct=f"`{c.code(node).split()[0]}`")


def _refuse_async(c: _Context, node: cst.CSTNode, end: cst.CSTNode | None = None) -> NoReturn:
    if isinstance(node, cst.FunctionDef):
        end = node.name
    hint = "move what waits out of the function, and differentiate a function that computes only"
    _refuse(c, "S2S102", node, "gives its result later; a derivative needs it now", hint, end=end)


def _refuse_expression(c: _Context, node: cst.CSTNode) -> NoReturn:
    match node:
        case cst.Yield(value=value):
            label = "yields many values; a derivative needs one result"
            name = f"`{value.value}`" if isinstance(value, cst.Name) else "value"
            _refuse(c, "S2S103", node, label, f"append each {name} to a list and `return` the list")
        case cst.Await():
            _refuse_async(c, node)
        case _:
            kind = type(node).__name__
            _refuse(c, "S2S101", node, "is not supported", construct=f"this expression ({kind})")


# --- tables -------------------------------------------------------------------------------------------------

BINARY: dict[type[cst.BaseBinaryOp], Callable[..., Any]] = {
    cst.Add: operator.add, cst.Subtract: operator.sub, cst.Multiply: operator.mul,
    cst.Divide: operator.truediv, cst.FloorDivide: operator.floordiv, cst.Modulo: operator.mod,
    cst.Power: operator.pow,
    cst.MatrixMultiply: operator.matmul, cst.LeftShift: operator.lshift, cst.RightShift: operator.rshift,
    cst.BitAnd: operator.and_, cst.BitOr: operator.or_, cst.BitXor: operator.xor,
}

UNARY: dict[type[cst.BaseUnaryOp], Callable[..., Any]] = {
    cst.Minus: operator.neg, cst.Plus: operator.pos, cst.BitInvert: operator.invert, cst.Not: operator.not_,
}

COMPARISONS: dict[type[cst.BaseCompOp], Callable[..., Any]] = {
    cst.Equal: operator.eq, cst.NotEqual: operator.ne, cst.LessThan: operator.lt,
    cst.LessThanEqual: operator.le, cst.GreaterThan: operator.gt, cst.GreaterThanEqual: operator.ge,
    cst.Is: operator.is_, cst.IsNot: operator.is_not,
    cst.In: ops.contains, cst.NotIn: ops.not_in,
}

# For each augmented operator the function of a store, and the function of an assignment to a name.
AUGMENTED: dict[type[cst.BaseAugOp], tuple[Callable[..., Any], Callable[..., Any]]] = {
    cst.AddAssign: (operator.add, operator.iadd),
    cst.SubtractAssign: (operator.sub, operator.isub),
    cst.MultiplyAssign: (operator.mul, operator.imul),
    cst.DivideAssign: (operator.truediv, operator.itruediv),
    cst.FloorDivideAssign: (operator.floordiv, operator.ifloordiv),
    cst.ModuloAssign: (operator.mod, operator.imod),
    cst.PowerAssign: (operator.pow, operator.ipow),
    cst.MatrixMultiplyAssign: (operator.matmul, operator.imatmul),
    cst.LeftShiftAssign: (operator.lshift, operator.ilshift),
    cst.RightShiftAssign: (operator.rshift, operator.irshift),
    cst.BitAndAssign: (operator.and_, operator.iand),
    cst.BitOrAssign: (operator.or_, operator.ior),
    cst.BitXorAssign: (operator.xor, operator.ixor),
}

DISPLAYS: dict[type[_Display], Callable[..., Any]] = {
    cst.Tuple: ops.make_tuple, cst.List: ops.make_list, cst.Set: ops.make_set,
}

COMPREHENSIONS: dict[type[_Comprehension], Callable[..., Any]] = {
    cst.ListComp: ops.make_list, cst.GeneratorExp: ops.make_list, cst.SetComp: ops.make_set,
    cst.DictComp: ops.make_dict,
}
