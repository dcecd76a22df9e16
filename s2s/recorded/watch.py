"""The source of a function in, code that tells of each operation out.

    y = a.b[i] + f(*x)      ->      y = binary(add, get_item(get_attribute(a, "b"), i), call(f, *iterate(x)))

The flow of control stays as it is: tests carry no derivative, and which side is taken is told of. So do names,
containers and attributes: what they hold is the same object afterwards.
"""

from __future__ import annotations

import ast
import inspect
import operator
import types
import warnings
from collections.abc import Callable
from typing import Any

from s2s.core.codes import replace_constants
from s2s.errors import SourceUnavailableError
from s2s.frontend import sources
from s2s.recorded.written_back import tree_of

__all__ = ["OF_FRAME", "compiled", "tool", "watched_code", "watched_text"]

OF_FRAME = {"super", "locals", "globals", "vars", "dir", "__build_class__"}
"""These look at the frame that they are called from."""

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.MatMult: "matmul", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "or_",
    ast.BitXor: "xor", ast.BitAnd: "and_", ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert",
}

_EQUALITIES: dict[type[ast.AST], str] = {ast.Eq: "==", ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in"}

_MARK = "<s2s watched {}>"


def watched_code(function: types.FunctionType, tools: dict[str, Callable[..., Any]]) -> types.CodeType:
    """Code for a function that does what its own does and tells the ``tools`` of each operation.

    Raises SourceUnavailableError where the source is not at hand.
    """
    code = function.__code__
    try:
        source = sources.find(function)
    except SourceUnavailableError:
        made = tree_of(code)
        if not isinstance(made, ast.Module):
            raise
        tree = made
    else:
        tree = sources.surrounded(code, source.text, source.first_line)
    _Watcher(sources.private_class(code)).visit(tree)
    return compiled(tree, code, tools)


def compiled(tree: ast.Module, code: types.CodeType, tools: dict[str, Callable[..., Any]]) -> types.CodeType:
    """The code that stands for another one, of which ``tree`` is the source, rewritten to call the ``tools``."""
    module = _compiled(
        ast.fix_missing_locations(tree), code.co_filename, "exec", code.co_flags & sources.FUTURE_FLAGS, tools
    )
    found = next(c for c in sources.codes_in(module) if c.co_name == code.co_name)
    flags = found.co_flags | code.co_flags & inspect.CO_ITERABLE_COROUTINE  # what ``types.coroutine`` sets
    return found.replace(co_firstlineno=code.co_firstlineno, co_qualname=code.co_qualname, co_flags=flags)


def _compiled(tree: Any, file: str, kind: str, flags: int, tools: dict[str, Callable[..., Any]]) -> types.CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a string is called
        module = compile(tree, file, kind, flags, dont_inherit=True)
    objects: dict[str, Any] = {_MARK.format(name): tool for name, tool in tools.items()}
    objects |= {_MARK.format(f"builtin {look.__name__}"): look for look in (globals, locals)}
    for name in (*_OPERATORS.values(), *(f"i{name.rstrip('_')}" for name in _OPERATORS.values())):
        if hasattr(operator, name):
            objects[_MARK.format(f"operator {name}")] = getattr(operator, name)
    return replace_constants(module, objects)


def watched_text(
    text: str | types.CodeType, file: str, kind: str, tools: dict[str, Callable[..., Any]]
) -> types.CodeType | None:
    """Code for a text that ``eval`` or ``exec`` is given, as ``watched_code``; ``kind`` is their word for it. For what
    was compiled before, None where it cannot be written back."""
    if isinstance(text, str):
        tree = ast.parse(text.strip() if kind == "eval" else text, file, kind)
    else:
        written = tree_of(text)
        if written is None:
            return None
        tree, kind = written, "eval" if isinstance(written, ast.Expression) else "exec"
    _Watcher("").visit(tree)
    return _compiled(ast.fix_missing_locations(tree), file, kind, 0, tools)


def _last_name(func: ast.expr) -> str:
    """The name that a function is called by, without its module; empty where it has none."""
    return func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""


def _frame() -> list[ast.expr]:
    """Calls that give the globals and locals where they stand, whatever is called by these names there."""
    return [ast.Call(tool(f"builtin {name}"), [], []) for name in ("globals", "locals")]


def tool(name: str) -> ast.expr:
    """What stands for a tool in a tree."""
    return ast.Constant(_MARK.format(name))


class _Watcher(ast.NodeTransformer):
    """Rewrites one function; ``owner`` is the class by which names with two underscores are mangled."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.count = 0

    def _name(self) -> str:
        self.count += 1
        return f"_s2s_{self.count}"

    def _call(self, at: ast.AST, name: str, *args: ast.expr) -> ast.Call:
        return ast.copy_location(ast.Call(tool(name), list(args), []), at)

    def _mangled(self, name: str) -> str:
        return sources.mangle(name, self.owner)

    # -- expressions

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        return self._call(node, "binary", tool(f"operator {_OPERATORS[type(node.op)]}"), left, right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not) or isinstance(node.operand, ast.Constant):
            return ast.copy_location(ast.UnaryOp(node.op, operand), node)
        return self._call(node, "unary", tool(f"operator {_OPERATORS[type(node.op)]}"), operand)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        if (
            len(node.ops) != 1
            or type(node.ops[0]) not in _EQUALITIES
            or any(isinstance(s, ast.Constant) for s in sides)
        ):
            return node
        return self._call(node, "compare", ast.Constant(_EQUALITIES[type(node.ops[0])]), *sides)

    def _decided(self, test: ast.expr) -> ast.expr:
        """A test that tells of its outcome, unless it has always the same."""
        return test if isinstance(test, ast.Constant) else self._call(test, "decided", test)

    def _visit_test(self, node: Any) -> Any:
        self.generic_visit(node)
        node.test = self._decided(node.test)
        return node

    visit_If = visit_While = visit_IfExp = _visit_test

    def visit_Call(self, node: ast.Call) -> ast.expr:
        keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        args = [self.visit(arg) for arg in node.args]
        if isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec"):
            return ast.copy_location(ast.Call(tool("evaluate"), [node.func, *_frame(), *args], keywords), node)
        if isinstance(node.func, ast.Name) and node.func.id in OF_FRAME:
            return ast.copy_location(ast.Call(node.func, args, keywords), node)
        if _last_name(node.func) == "evaluate":  # numexpr's reads the variables of the frame that it is called from
            called = self.visit(node.func)
            return ast.copy_location(ast.Call(tool("call_in_frame"), [called, *_frame(), *args], keywords), node)
        if isinstance(node.func, ast.Attribute):
            receiver = self.visit(node.func.value)
            head = ["call_method", receiver, ast.Constant(self._mangled(node.func.attr))]
        else:
            head = ["call", self.visit(node.func)]
        return ast.copy_location(ast.Call(tool(head[0]), [*head[1:], *args], keywords), node)

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            value = self._call(node, "iterate", value)
        return ast.copy_location(ast.Starred(value, node.ctx), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            return self._call(node, "get_attribute", value, ast.Constant(self._mangled(node.attr)))
        return ast.copy_location(ast.Attribute(value, node.attr, node.ctx), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        value, index = self.visit(node.value), self._index(node.slice)
        if isinstance(node.ctx, ast.Load):
            return self._call(node, "get_item", value, index)
        return ast.copy_location(ast.Subscript(value, index, node.ctx), node)

    def _index(self, index: ast.expr) -> ast.expr:
        if isinstance(index, ast.Slice):
            parts = [ast.Constant(None) if p is None else self.visit(p) for p in (index.lower, index.upper, index.step)]
            return ast.copy_location(ast.Call(tool("slice"), parts, []), index)
        if isinstance(index, ast.Tuple):
            return ast.copy_location(ast.Tuple([self._index(e) for e in index.elts], ast.Load()), index)
        return self.visit(index)  # type: ignore[no-any-return]

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        iterated = node.iter if node.is_async else self._call(node.iter, "iterate", self.visit(node.iter))
        if not _is_simple(node.target):
            iterated = self._call(node.iter, "iterate_parts", iterated, _pattern(node.target))
        tests = [self._decided(self.visit(test)) for test in node.ifs]
        return ast.comprehension(node.target, iterated, tests, node.is_async)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        return ast.copy_location(ast.YieldFrom(self._call(node, "iterate", self.visit(node.value))), node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        node.value = self._call(node.value, "written", self.visit(node.value))
        return node

    # -- statements

    def visit_Assign(self, node: ast.Assign) -> Any:
        value = self.visit(node.value)
        if all(isinstance(target, ast.Name) for target in node.targets):
            return ast.copy_location(ast.Assign(node.targets, value), node)
        if len(node.targets) == 1:
            return self._assign(node.targets[0], value, node)
        name = self._name()
        made: list[ast.stmt] = [ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), node)]
        for target in node.targets:
            made += self._assign(target, ast.Name(name, ast.Load()), node)
        return [*made, _forget([name], node)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return node
        if isinstance(node.target, ast.Name):
            return ast.copy_location(
                ast.AnnAssign(node.target, node.annotation, self.visit(node.value), node.simple), node
            )
        return self._assign(node.target, self.visit(node.value), node)

    def _assign(self, target: ast.expr, value: ast.expr, at: ast.AST) -> list[ast.stmt]:
        """The statements that assign to a target: parts of an array come out of it as numbers that are told of."""
        match target:
            case ast.Subscript(container, index):
                made: ast.stmt = ast.Expr(self._in_order("set_item", value, container, self._index(index), at))
                return [ast.copy_location(made, at)]
            case ast.Attribute(container, name):
                named = ast.Constant(self._mangled(name))
                made = ast.Expr(self._in_order("set_attribute", value, container, named, at))
                return [ast.copy_location(made, at)]
            case ast.Tuple(parts) | ast.List(parts):
                inner = [part.value if isinstance(part, ast.Starred) else part for part in parts]
                value = self._call(at, "iterate", value)
                if all(isinstance(part, ast.Name) for part in inner):
                    return [ast.copy_location(ast.Assign([target], value), at)]
                # all items are taken first, and assigned from the left, as Python does
                names = [self._name() for _ in parts]
                taken = [ast.Name(name, ast.Store()) for name in names]
                stored: list[ast.expr] = [
                    ast.Starred(one, ast.Store()) if isinstance(part, ast.Starred) else one
                    for one, part in zip(taken, parts)
                ]
                statements: list[ast.stmt] = [
                    ast.copy_location(ast.Assign([ast.Tuple(stored, ast.Store())], value), at)
                ]
                for part, name in zip(inner, names):
                    statements += self._assign(part, ast.Name(name, ast.Load()), at)
                return [*statements, _forget(names, at)]
            case _:
                return [ast.copy_location(ast.Assign([target], value), at)]

    def _in_order(self, name: str, value: ast.expr, container: ast.expr, place: ast.expr, at: ast.AST) -> ast.expr:
        """A call of a tool that evaluates the value first, as an assignment does."""
        return self._call(at, name, value, self.visit(container), place)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        word = _OPERATORS[type(node.op)].rstrip("_")
        made: list[ast.stmt] = []

        def kept(value: ast.expr) -> str:
            name = self._name()
            made.append(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), node))
            return name

        def result(before: ast.expr) -> ast.expr:
            return self._call(node, "inplace", tool(f"operator i{word}"), before, self.visit(node.value))

        def load(name: str) -> ast.expr:
            return ast.Name(name, ast.Load())

        match node.target:
            case ast.Name(name):
                return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], result(load(name))), node)
            case ast.Subscript(container, index):
                where, at = kept(self.visit(container)), kept(self._index(index))
                changed = result(self._call(node, "get_item", load(where), load(at)))
                stored = self._call(node, "set_item", changed, load(where), load(at))
            case ast.Attribute(container, name):
                where, named = kept(self.visit(container)), ast.Constant(self._mangled(name))
                changed = result(self._call(node, "get_attribute", load(where), named))
                stored = self._call(node, "set_attribute", changed, load(where), named)
            case _:
                raise TypeError(f"an augmented assignment to {node.target!r}")
        names = [
            one.targets[0].id for one in made if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)
        ]
        return [*made, ast.copy_location(ast.Expr(stored), node), _forget(names, node)]

    def visit_For(self, node: Any) -> Any:
        iterated = self.visit(node.iter)
        if isinstance(node, ast.For):
            iterated = self._call(node.iter, "iterate", iterated)
        target, body = node.target, self._block(node.body)
        if not _is_simple(target):
            name = self._name()
            body = [*self._assign(target, ast.Name(name, ast.Load()), node), *body]
            target = ast.Name(name, ast.Store())
        return ast.copy_location(type(node)(target, iterated, body, self._block(node.orelse)), node)

    visit_AsyncFor = visit_For

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in body:
            found = self.visit(statement)
            made += found if isinstance(found, list) else [found]
        return made

    def visit_With(self, node: Any) -> Any:
        items, first = [], []
        for item in node.items:
            target = item.optional_vars
            if target is not None and not _is_simple(target):
                name = self._name()
                first += self._assign(target, ast.Name(name, ast.Load()), node)
                target = ast.Name(name, ast.Store())
            managed = self._call(item.context_expr, "see", self.visit(item.context_expr))
            items.append(ast.withitem(managed, target))
        if first and len(items) > 1:  # a later manager may read what an earlier one gives
            inner = type(node)(node.items[1:], node.body)
            return self.visit_With(type(node)(node.items[:1], [ast.copy_location(inner, node)]))
        return ast.copy_location(type(node)(items, [*first, *self._block(node.body)]), node)

    visit_AsyncWith = visit_With

    def visit_FunctionDef(self, node: Any) -> Any:
        decorators = [self._call(d, "see", self.visit(d)) for d in node.decorator_list]
        node.decorator_list = decorators
        node.args = self._arguments(node.args)
        node.body = self._block(node.body)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return ast.copy_location(ast.Lambda(self._arguments(node.args), self.visit(node.body)), node)

    def _arguments(self, arguments: ast.arguments) -> ast.arguments:
        arguments.defaults = [self.visit(default) for default in arguments.defaults]
        arguments.kw_defaults = [None if d is None else self.visit(d) for d in arguments.kw_defaults]
        return arguments

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        owner, self.owner = self.owner, node.name
        node.decorator_list = [self._call(d, "see", self.visit(d)) for d in node.decorator_list]
        node.bases = [self.visit(base) for base in node.bases]
        node.keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        node.body = self._block(node.body)
        self.owner = owner
        return node

    def visit_Match(self, node: ast.Match) -> ast.Match:
        node.subject = self.visit(node.subject)
        for case in node.cases:
            case.guard = None if case.guard is None else self._decided(self.visit(case.guard))
            case.body = self._block(case.body)
        return node


def _forget(names: list[str], at: ast.AST) -> ast.stmt:
    """The statement that takes variables away which only watched code has: a class would keep them."""
    return ast.copy_location(ast.Delete([ast.Name(name, ast.Del()) for name in names]), at)


def _pattern(target: ast.expr) -> ast.expr:
    """Which parts of an item are taken apart, as the text of tuples: None for what is one name."""
    if isinstance(target, ast.Starred) or not isinstance(target, (ast.Tuple, ast.List)):
        return ast.Constant(None)
    return ast.Tuple([_pattern(part) for part in target.elts], ast.Load())


def _is_simple(target: ast.expr) -> bool:
    return isinstance(target, ast.Name)
