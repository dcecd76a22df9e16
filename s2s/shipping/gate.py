"""A text that leaves the process in, the same out: what is in it has the syntax tree of what it was made from. What may
differ is what is done for readers and callers: names that other modules have, checks in front of what a caller calls,
its defaults, documentation, layout.

    def f_grad(x):                         def f_grad(x, flag=True):
        return m.helper(x)         ~           if flag is not True:
                                                   raise ValueError("f_grad was made for flag=True")
                                               return helper(x)
"""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import types
import warnings
from collections.abc import Callable, Iterable
from itertools import dropwhile
from typing import Any

import numpy as np

from s2s.errors import error
from s2s.shipping.uses import bound_anywhere
from s2s.validation.copies import NotCopied, copied
from s2s.validation.outcomes import Outcome, difference

__all__ = ["meaning", "module_of", "passed", "passed_definition", "run_beside", "statements"]

CLOSE = 1e-12
"""So much two runs of the same code may differ, which sums in other orders on several cores."""


def passed(text: str, made_from: str, entry: str, is_whole: bool = True) -> str:
    """Give a text of which each function is that of ``made_from``, ``entry`` as callers see it; where ``is_whole``, the
    names are the same, and nothing else is in it but imports. Raises InternalError for another one."""
    own, there = statements(made_from), statements(text)
    names = {node.name for node in own if isinstance(node, ast.FunctionDef)}
    if not is_whole:
        own = [node for node in own if isinstance(node, ast.FunctionDef)]
        there = [node for node in there if isinstance(node, ast.FunctionDef) and node.name in names]
    renamed = None if is_whole else dict[str, str]()
    if len(own) != len(there) or not all(
            _Pair(one, other, renamed, is_entry=getattr(one, "name", "") == entry).is_same()
            for one, other in zip(own, there, strict=True)):
        raise error("S2S901", problem=f"the text of `{entry}` is not the code that was compiled")
    return text


def passed_definition(text: str, made_from: str) -> str:
    """Give the text of a definition that is ``made_from``, with other names, and without what asks s2s for something:
    decorators and imports; annotations are not evaluated. Raises InternalError for another one."""
    own, there = ast.parse(made_from).body, ast.parse(text).body
    renamed = dict[str, str]()
    if len(own) != len(there) or not all(
            _Pair(one, other, renamed, is_definition=True).is_same() for one, other in zip(own, there, strict=True)):
        raise error("S2S901", problem=f"the text is not that of the code: {text[:80]}")
    return text


def module_of(code: types.CodeType, name: str, **scope: Any) -> types.ModuleType:
    """Run code as a module with some variables, which is known by its name meanwhile: data classes look for theirs."""
    module = types.ModuleType(name)
    vars(module).update(scope)
    sys.modules[name] = module
    try:
        exec(code, vars(module))
    finally:
        sys.modules.pop(name, None)
    return module


def run_beside(made: Callable[..., Any], compiled: types.FunctionType, values: tuple[Any, ...], name: str) -> None:
    """Call what a text defines and the code that was compiled, each with copies of the same arguments, random numbers
    as they are. Raises InternalError where the results differ, and not of themselves. Arguments that cannot be copied
    say nothing, nor does a call that raises."""
    try:
        given = [copied(values) for _ in range(3)]
    except NotCopied:
        return
    from s2s.validation.validate import generators_of, restore_generators  # imports the compiler

    generators, found = generators_of(compiled), list[Outcome]()
    calls: list[Callable[..., Any]] = [compiled, made, compiled]
    for call, own in zip(calls, given, strict=True):
        restore_generators(generators)
        with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            try:
                found.append(Outcome(call(*own), None, own))
            except Exception as problem:
                found.append(Outcome(None, problem, own))
        if found[0].raised is not None or (len(found) == 2 and not difference(found[0], found[1], CLOSE)):
            break
    restore_generators(generators)
    if len(found) == 3 and not difference(found[0], found[2], CLOSE):
        how = difference(found[0], found[1], CLOSE)
        raise error("S2S901", problem=f"the text of `{name}` computes something else: {how}")


def statements(text: str) -> list[ast.stmt]:
    """Parse a text and give its statements, imports apart. Raises SyntaxError."""
    return [node for node in ast.parse(text).body if not isinstance(node, (ast.Import, ast.ImportFrom))]


def meaning(nodes: str | Iterable[ast.stmt]) -> str:
    """Write what a text, or statements, say, however they are laid out, with the blanks in their documentation. Raises
    SyntaxError."""
    tree = ast.parse(nodes) if isinstance(nodes, str) else ast.Module(list(nodes), [])
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            said = ast.get_docstring(node) or ""
            node.body[0] = ast.Expr(ast.Constant(" ".join(said.split())))
    return ast.dump(tree)


class _Pair:
    """Compares a statement with one that was made from it. ``renamed`` says what stands for names that are not bound in
    them; None where they are the same."""

    def __init__(
        self, one: ast.stmt, other: ast.stmt, renamed: dict[str, str] | None, is_entry: bool = False,
        is_definition: bool = False,
    ) -> None:
        self.one, self.other, self.renamed = one, other, renamed
        self.is_entry, self.is_definition = is_entry, is_definition
        has_names = isinstance(one, (ast.FunctionDef, ast.ClassDef))
        self.bound, self.bound_there = (bound_anywhere(n) if has_names else frozenset[str]() for n in (one, other))
        if is_definition:
            self.bound = frozenset()

    def is_same(self) -> bool:
        """Whether they say the same."""
        one, other = self.one, self.other
        if isinstance(one, ast.FunctionDef) and isinstance(other, ast.FunctionDef) and self.is_entry:
            names = [sorted(n.arg for n in ast.walk(f.args) if isinstance(n, ast.arg)) for f in (one, other)]
            bodies = [_without_checks(f) for f in (one, other)]
            return names[0] == names[1] and self._same(*bodies) and self._same(one.decorator_list, other.decorator_list)
        if self.is_definition and type(one) is type(other) and isinstance(one, (ast.FunctionDef, ast.ClassDef)):
            self.renamed[one.name] = one.name = other.name  # type: ignore
            if len(other.decorator_list) < len(one.decorator_list):  # type: ignore[attr-defined]
                one.decorator_list = other.decorator_list  # type: ignore[attr-defined]
        return self._same(one, other)

    def _same(self, one: Any, other: Any) -> bool:
        if isinstance(one, list):
            return isinstance(other, list) and len(one) == len(other) and all(map(self._same, one, other))
        if not isinstance(one, ast.AST):
            return repr(one) == repr(other)
        path, path_there = (_path(one), _path(other)) if self.renamed is not None else ("", "")
        if path and path_there and (path != path_there or _root(path) not in self.bound_there):
            is_free = _root(path) not in self.bound and _root(path_there) not in self.bound_there
            return is_free and self.renamed.setdefault(path, path_there) == path_there  # type: ignore[union-attr]
        if isinstance(one, ast.ImportFrom) and isinstance(other, ast.Pass):
            return self.is_definition
        fields = [name for name in one._fields if not (self.is_definition and name in ("annotation", "returns"))]
        return type(one) is type(other) and all(
            self._same(getattr(one, name, None), getattr(other, name, None)) for name in fields)


def _path(node: Any) -> str:
    """A name with the attributes read of it, or the variable in the closure of a function; empty for others."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
        if names[0] == "cell_contents":
            return ast.unparse(node)
    return ".".join([node.id, *names]) if isinstance(node, ast.Name) else ""


def _root(path: str) -> str:
    return path.partition(".")[0]


def _without_checks(function: ast.FunctionDef) -> list[ast.stmt]:
    """The statements of a function without its documentation, and without the checks of what it was made for."""
    start = f"{function.name} was made for "
    body = function.body[ast.get_docstring(function) is not None :]
    return [*dropwhile(lambda node: _is_check(node, start), body)]


def _is_check(node: ast.stmt, start: str) -> bool:
    match node:
        case ast.If(_, [ast.Raise(ast.Call(ast.Name("ValueError"), [ast.Constant(str(said))], []), None)], []):
            return said.startswith(start)
    return False
