"""A version goes in; out comes a function that does the same, and raises where the result has a NaN or an infinity,
with the line where the first one arises.

    h = np.log(x)                 h = np.log(x)
    y = h * w            ->       seen(0, h)
                                  y = h * w
                                  seen(1, y)
"""

from __future__ import annotations

import ast
import linecache
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2s.codegen.link import link
from s2s.core import ir
from s2s.core.linecaches import place_of, source_of
from s2s.core.lines import lines_of
from s2s.core.record import record, replace
from s2s.directives.policy import AMBIENT, held_again
from s2s.dispatch.recorded import is_recorded
from s2s.dispatch.version import Version
from s2s.errors import error
from s2s.versions.request import Compiled

__all__ = ["raising"]

_SEEN = "_s2s_seen"
"""What looks at a value, as the instrumented text calls it."""

_NUMBERS = (float, complex, int, np.number, np.ndarray)

_MOST_SHOWN = 6
"""An array with more elements is not shown whole."""

_MOST_PLACES = 3
"""More places in an array are counted."""


def raising(
    version: Version, function: types.FunctionType, name: str, plainly: Callable[..., Any]
) -> Callable[..., Any]:
    """What runs a version and raises NonFiniteError where its result is not finite, nor that of what is called
    ``plainly``; ``name`` is that of the function."""
    compiled, is_pulled = version.compiled, version.request.mode == "vjp"
    statements: list[_Statement] = []
    watched = None if is_recorded(compiled) else _Instrumented(compiled, statements)

    def run(*values: Any) -> Any:
        watch = _Watch(compiled, statements, name)
        if watched is None:
            return watch.finished(lambda: version.raw(*values))

        def again() -> Any:
            return plainly(*values) if plainly is not version.raw else None

        objects = {**compiled.objects, _SEEN: watch.seen}
        raw = link(replace(compiled, objects=objects), function, change=watched.visit)
        found = watch.finished(lambda: raw(*values), again)
        if not is_pulled:
            return found
        out, pullback, *aux = found
        return (out, lambda bar: watch.finished(lambda: pullback(bar)), *aux)

    return run


# --- statements -------------------------------------------------------------------------------------------------------


@record
class _Statement:
    """What makes a value: where it stands, its text, the names that get the value, and those that it reads, with the
    items that it reads of them. One that is ``whole`` gives its names another value; others change a part of what they
    have."""

    line: int
    last: int
    text: str
    names: tuple[str, ...]
    reads: tuple[str, ...]
    whole: bool
    items: tuple[_Item, ...]


@record
class _Item:
    """An item that a statement reads, ``x[i, 0]``: its text, the name of what has it, names and numbers of its key."""

    text: str
    base: str
    key: tuple[str | int, ...]

    def of(self, known: dict[str, Any]) -> Any:
        """The number that it was; None where that is not known."""
        base: Any = known.get(self.base)
        key: Any = tuple(known.get(k) if isinstance(k, str) else k for k in self.key)
        if not isinstance(base, (np.ndarray, list, tuple)) or not all(isinstance(k, (int, np.integer)) for k in key):
            return None
        try:
            found = base[key if isinstance(base, np.ndarray) else key[0]]
        except IndexError:
            return None
        return found if isinstance(found, (float, complex, int, np.number)) else None


class _Instrumented(ast.NodeTransformer):
    """Adds calls of ``_SEEN`` with the values of statements to a module, whose ``statements`` it lists."""

    def __init__(self, compiled: Compiled, statements: list[_Statement]) -> None:
        self.statements = statements
        self.lines = lines_of(compiled.text)

    def visit(self, node: Any) -> Any:
        if isinstance(node, ast.Module):
            self.statements.clear()
        return super().visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        arguments = node.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        names = [a.arg for a in (*every, arguments.vararg, arguments.kwarg) if a is not None]
        self.generic_visit(node)
        is_documented = ast.get_docstring(node) is not None
        looks = [self._look(node, [ast.Name(name, ast.Load())], ()) for name in names]
        node.body[int(is_documented) : int(is_documented)] = looks
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        if isinstance(node.value, ast.Call) and "empty" in ast.unparse(node.value.func):  # it holds anything
            return node
        return [node, self._look(node, [target for t in node.targets for target in _targets(t)], _reads(node.value))]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        return node if node.value is None else [node, self._look(node, [node.target], _reads(node.value))]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        reads = (*_reads(node.value), *_reads(node.target))
        return [node, self._look(node, [node.target], reads)]

    def visit_Expr(self, node: ast.Expr) -> Any:
        """A call that may put a value into a list: ``saved_h.append(h)``."""
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and len(call.args) == 1:
            base = call.func.value
            if isinstance(base, ast.Name) and isinstance(call.args[0], ast.Name):
                return [node, self._look(node, [call.args[0]], (call.args[0].id,), base.id)]
        return node

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        node.body.insert(0, self._look(node, list(_targets(node.target)), _reads(node.iter)))
        return node

    def visit_Return(self, node: ast.Return) -> Any:
        if node.value is None or isinstance(node.value, (ast.Name, ast.Constant)):
            return node
        call = self._look(node, [node.value], _reads(node.value)).value
        return ast.copy_location(ast.Return(ast.copy_location(call, node)), node)

    def _look(self, node: Any, values: list[ast.expr], reads: tuple[str, ...], name: str = "") -> ast.Expr:
        """The call that looks at values; ``name`` is that of a container which gets them."""
        names = (name,) if name else tuple(base for value in values for base in _bases(value))
        last = node.lineno if isinstance(node, (ast.For, ast.FunctionDef)) else node.end_lineno
        text = " ".join(line.strip() for line in self.lines[node.lineno - 1 : last])
        whole = not name and all(isinstance(value, ast.Name) for value in values)
        items = () if isinstance(node, (ast.For, ast.FunctionDef)) else tuple(_items(node))
        self.statements.append(_Statement(node.lineno, last, text, names, reads, whole, items))
        given = [ast.Constant(len(self.statements) - 1), *map(_loaded, values)]
        made = ast.Expr(ast.Call(ast.Name(_SEEN, ast.Load()), given, []))
        for inner in ast.walk(made):
            ast.copy_location(inner, node)
        return made


def _targets(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for item in target.elts:
            yield from _targets(item)
    elif isinstance(target, ast.Starred):
        yield from _targets(target.value)
    else:
        yield target


def _loaded(value: ast.expr) -> ast.expr:
    """An expression that reads what a target, an element or a name, has."""
    return ast.parse(ast.unparse(value), mode="eval").body


def _reads(value: ast.expr) -> tuple[str, ...]:
    names = (node.id for node in ast.walk(value) if isinstance(node, ast.Name))
    return tuple(dict.fromkeys(names))


def _items(statement: ast.stmt) -> Iterator[_Item]:
    """The items that a statement reads of what has a name, where their places are names and whole numbers."""
    value = getattr(statement, "value", None)
    for node in ast.walk(value) if value is not None else ():
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            names = [k.id if isinstance(k, ast.Name) else getattr(k, "value", None) for k in keys]
            key = tuple(name for name in names if isinstance(name, (str, int)))
            if len(key) == len(keys):
                yield _Item(ast.unparse(node), node.value.id, key)


def _bases(value: ast.expr) -> tuple[str, ...]:
    while isinstance(value, (ast.Subscript, ast.Attribute)):
        value = value.value
    return (value.id,) if isinstance(value, ast.Name) else ()


# --- one call ---------------------------------------------------------------------------------------------------------


class _Watch:
    """What one call of a derivative has come past. ``told`` says where the first value arose that is not finite."""

    def __init__(self, compiled: Compiled, statements: list[_Statement], name: str) -> None:
        self.compiled = compiled
        self.statements = statements
        self.name = name
        self.told: Exception | None = None
        self.not_finite: set[str] = set()

    def seen(self, k: int, *values: Any) -> Any:
        """Look at the values that a statement has made; gives the last."""
        statement = self.statements[k]
        if all(map(_is_finite, values)):
            if statement.whole:
                self.not_finite.difference_update(statement.names)
            return values[-1]
        if self.told is None:
            frame = sys._getframe(1)
            known = {**frame.f_globals, **frame.f_locals}
            if self._arises(statement, known):
                self.told = self._tell(statement, values, known)
        self.not_finite.update(statement.names)
        return values[-1]

    def _arises(self, statement: _Statement, known: dict[str, Any]) -> bool:
        """Whether a statement has made what is not finite of finite values."""
        outside = (name for name in statement.reads if name not in statement.names and not _is_finite(known.get(name)))
        self.not_finite.update(outside)
        return bool(statement.reads) and self.not_finite.isdisjoint(statement.reads)

    def finished(self, run: Callable[[], Any], again: Callable[[], Any] = lambda: None) -> Any:
        """What a sweep gives, or what another way gives that comes ``again`` to a value. Raises NonFiniteError where
        that is not finite."""
        held = tuple(choice for choice in AMBIENT.get() if not choice.debugging)
        with held_again(held):  # a derivative that is called on the way may be infinite there
            return self._finished(run, again)

    def _finished(self, run: Callable[[], Any], again: Callable[[], Any]) -> Any:
        try:
            found = run()
        except Exception as problem:
            if self.told is None or hasattr(problem, "diagnostic"):
                raise
            raise self.told from problem
        if _is_finite(found):
            return found
        other = again()
        if other is None or not _is_finite(other):
            raise self.told or self._told_of_arguments(found)
        return other

    def _told_of_arguments(self, found: Any) -> Exception:
        given = sorted(self.not_finite.intersection(self.compiled.text.partition(":")[0].split("(", 1)[-1]))
        where = f"is given in {', '.join(given)} to the derivative" if given else "is in the derivative"
        hint = "pass finite numbers" if given else ""
        return error("S2S547", what=_word(found), where=where, name=self.name, hint=hint)

    def _tell(self, statement: _Statement, values: tuple[Any, ...], known: dict[str, Any]) -> Exception:
        items = {item.text: (item, value) for item in statement.items if (value := item.of(known)) is not None}
        bases = {item.base for item, _ in items.values()}
        read = {name: known.get(name) for name in statement.reads if name not in bases}
        read.update((text, value) for text, (_, value) in items.items())
        label = f"by `{statement.text}`"
        shown = ", ".join(f"{name} = {_shown(value)}" for name, value in read.items() if isinstance(value, _NUMBERS))
        label += f", where {shown}" if shown else ""
        where = f"arises in {_sweep(self.compiled.text, statement.line)}"
        return error("S2S547", span=self._span(statement), label=label, what=_word(values), where=where, name=self.name)

    def _span(self, statement: _Statement) -> ir.Span | None:
        """The line of the user that a statement comes from."""
        own = (place_of(self.compiled.places, line) for line in range(statement.line, statement.last + 1))
        place = next(filter(None, own), None)
        while place is not None and (inner := source_of(place[0])) is not None:  # of the derivative of a derivative
            outer, place = place, inner.place_of(place[1])
            place = place or outer
            if place == outer:
                break
        if place is None:
            return None
        text = linecache.getline(*place).rstrip()
        file, line = place
        return ir.Span(file, line, len(text) - len(text.lstrip()), line, len(text))


def _sweep(text: str, line: int) -> str:
    before = [part.strip() for part in lines_of(text)[:line]]
    if "# reverse sweep" in before:
        return "the reverse sweep"
    return "the forward sweep" if "# forward sweep" in text or "# reverse sweep" in text else "the derivative"


def _shown(value: Any) -> str:
    """A value as text; of a large array where it is not finite, or is zero."""
    if not isinstance(value, np.ndarray) or value.size <= _MOST_SHOWN:
        return repr(value.item() if isinstance(value, np.generic) else value)
    kinds = {"0": value == 0}
    if value.dtype.kind in "fc":
        kinds = {"NaN": np.isnan(value), "infinite": np.isinf(value), **kinds}
    told = [f"{word} {_where(mask)}" for word, mask in kinds.items() if mask.any()]
    return ", ".join((f"array of shape {value.shape}", *told))


def _where(mask: np.ndarray) -> str:
    """The places where a mask holds: ``at [3], [7] and 5 more``."""
    if mask.all():
        return "everywhere"
    places = np.argwhere(mask)
    listed = [f"[{', '.join(map(str, place))}]" for place in places[:_MOST_PLACES]]
    if len(places) > len(listed):
        return f"at {', '.join(listed)} and {len(places) - len(listed)} more"
    return "at " + " and ".join(filter(None, (", ".join(listed[:-1]), listed[-1])))


def _word(value: Any) -> str:
    return "NaN" if any(np.isnan(leaf).any() for leaf in _leaves(value)) else "an infinity"


def _is_finite(value: Any) -> bool:
    kind = value.__class__
    if kind is np.ndarray:
        return value.dtype.kind not in "fc" or bool(np.isfinite(value).all())
    if kind is int or value is None or kind is str:
        return True
    return all(bool(np.isfinite(leaf).all()) for leaf in _leaves(value))


def _leaves(value: Any) -> Iterator[Any]:
    """The numbers and arrays in a value that may not be finite."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "fc":
            yield value
    elif isinstance(value, (float, complex, np.inexact)):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
