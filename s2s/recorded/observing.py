"""A call in, what its values were at each place of the program out: it runs once more, unnoticed.

    y = a.b(x)      ->      y = note(note(note(a, "a").b, "a.b")(x), "a.b(x)")

``note`` gives what it is given.
"""

from __future__ import annotations

import ast
import functools
import types
from typing import Any

from s2s.core.lines import lines_of
from s2s.frontend import sources
from s2s.recorded import operations
from s2s.recorded.differences import Replay
from s2s.recorded.entry import invoked
from s2s.recorded.install import Installer
from s2s.recorded.turns import TURNS
from s2s.recorded.watch import OF_FRAME, compiled, tool
from s2s.versions.observed import Observed
from s2s.versions.target import parameters_of

__all__ = ["observe_call"]

_ACTIVE: list[Observed] = []
_SEEN: set[type] = set()
_CACHED: dict[int, Any] = {}
_CALLED = (types.FunctionType, types.MethodType, functools.partial)
_NOTED: dict[tuple[types.CodeType, str], types.CodeType | None] = {}


def observe_call(function: types.FunctionType, values: tuple[Any, ...]) -> Observed | None:
    """What the values of a function are that is called with these arguments; None where it cannot run again unnoticed,
    or raises."""
    is_busy = operations.ACTIVE or _ACTIVE or TURNS.holder is not None
    if is_busy or any(hasattr(type(value), "__next__") for value in values):
        return None
    given = {p.name: value for p, value in zip(parameters_of(function), values)}
    found = Observed()
    replay = Replay(functools.partial(invoked, function), given, function)
    if replay.surroundings.generators:  # they could not be read again
        return None
    with TURNS.taken(function.__name__.strip("<>")), replay.unnoticed():
        _ACTIVE.append(found)
        try:
            _INSTALLER.see(function)
            drawn = replay.surroundings.draws()
            replay.at({})
            found.acts = drawn != replay.surroundings.draws() or _acts_again(replay)
        except Exception:
            return None
        finally:
            _ACTIVE.remove(found)
            _SEEN.clear()
            _CACHED.clear()
            _INSTALLER.restore()
    found.acts |= replay.has_printed
    return found


def _acts_again(replay: Replay) -> bool:
    """Whether a run from where one has left things changes something once more, or does what cannot be told."""
    try:
        return replay.changes_again()
    except Exception:
        return True


def _note(value: Any, place: Any) -> Any:
    """The value, which is noted for its place; what it may call is looked at, too."""
    if _ACTIVE and TURNS.belongs():
        _ACTIVE[-1].note(place, value)
        kind = type(value)  # the object is not asked for its class: it may run code of the program
        if issubclass(kind, _CALLED):
            _INSTALLER.see(value)
        elif issubclass(kind, type) and value not in _SEEN:
            _SEEN.add(value)
            for name in ("__new__", "__init__", "__post_init__"):
                _INSTALLER.see(getattr(value, name, None))
        elif kind is functools._lru_cache_wrapper:
            return _with_own_cache(value)
        if kind is types.MethodType and type(value.__func__) is functools._lru_cache_wrapper:
            return types.MethodType(_with_own_cache(value.__func__), value.__self__)
    return value


def _with_own_cache(function: Any) -> Any:
    """A function that keeps its results, with a cache for this run: what it does at its first call, it has not done."""
    if id(function) not in _CACHED:
        _INSTALLER.see(function.__wrapped__)
        _CACHED[id(function)] = functools.lru_cache(**function.cache_parameters())(function.__wrapped__)
    return _CACHED[id(function)]


def _note_not(is_other: bool, place: Any) -> bool:
    """Whether a branch goes to its other side."""
    if _ACTIVE and TURNS.belongs():
        _ACTIVE[-1].note_side(place, not is_other)
    return is_other


def _noting_code(function: types.FunctionType, tools: dict[str, Any]) -> types.CodeType:
    """Code for a function that does what its own does, and notes values. Raises SourceUnavailableError."""
    code = function.__code__
    source = sources.find(function)
    tree = sources.surrounded(code, source.text, source.first_line)
    _Noting(source).visit(tree)
    return compiled(tree, code, tools)


class _Noting(ast.NodeTransformer):
    """Rewrites one function."""

    def __init__(self, source: sources.Source) -> None:
        self.source = source
        self.lines = lines_of(source.text)

    def _noted(self, node: Any, made: ast.expr, name: str = "note") -> ast.expr:
        start = self._place(node.lineno, node.col_offset)
        end = self._place(node.end_lineno, node.end_col_offset)
        place: Any = (self.source.file, *start, *end)
        return ast.copy_location(ast.Call(tool(name), [made, ast.Constant(place)], []), node)

    def _tested(self, at: ast.expr, test: ast.expr) -> ast.expr:
        """A test, of which is noted how it came out: of ``not x``, so that the truth of an object is asked once."""
        return ast.UnaryOp(ast.Not(), self._noted(at, ast.UnaryOp(ast.Not(), self.visit(test)), "note_not"))

    def visit_If(self, node: ast.If) -> ast.If:
        node.test = self._tested(node.test, node.test)
        node.body, node.orelse = ([self.visit(s) for s in body] for body in (node.body, node.orelse))
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test = self._tested(node, node.test)
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def _place(self, line: int, column: int) -> tuple[int, int]:
        index = line - self.source.first_line
        bracket = self.source.is_lambda and index == 0
        text = (("(" if bracket else "") + self.lines[index]).encode()[:column].decode()
        return line, len(text) + self.source.removed[min(index, len(self.source.removed) - 1)] - bracket

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and node.func.id in OF_FRAME:
            for part in (*node.args, *node.keywords):
                self.generic_visit(part)
            return node
        self.generic_visit(node)
        return self._noted(node, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        return self._noted(node, node) if isinstance(node.ctx, ast.Load) else node

    visit_Subscript: Any = visit_Attribute

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._noted(node, node) if isinstance(node.ctx, ast.Load) else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AugAssign:
        node.value = self.visit(node.value)
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        node.body = [self.visit(s) for s in node.body]
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    visit_ClassDef = visit_FunctionDef

    def visit_Match(self, node: ast.Match) -> ast.Match:
        node.subject = self.visit(node.subject)
        for case in node.cases:
            case.guard = None if case.guard is None else self.visit(case.guard)
            case.body = [self.visit(s) for s in case.body]
        return node


_INSTALLER = Installer({"note": _note, "note_not": _note_not}, _noting_code, _NOTED)
