"""A version in, a module out that imports NumPy, and what else the user's code imports, and nothing of s2s or of the
user: helpers of generated code, and the variables and functions of the user's module, are written in it.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import types
from collections.abc import Iterable
from typing import Any, NamedTuple

from s2s.core.lines import lines_of
from s2s.dispatch.version import Version
from s2s.shipping.gate import passed, passed_definition
from s2s.shipping.gather import CannotShip, Gathering, Symbol
from s2s.shipping.uses import bound_anywhere
from s2s.versions.paths import imported

__all__ = ["CannotShip", "Gathered", "closure_of", "gathered", "split", "standalone"]


def standalone(version: Version, text: str | None = None) -> str:
    """The module of a version, with ``text`` for its text. Raises CannotShip where it asks the compiler when it runs,
    or reads what cannot be written as source."""
    return gathered(version, text).text


class Gathered(NamedTuple):
    """A module, and of its text that of the derivative itself."""

    text: str
    body: str


def gathered(version: Version, text: str | None = None, data: list[Any] | None = None) -> Gathered:
    """``standalone``, with the part of it that is the derivative; with ``data``, a list, for a place where s2s is
    installed, of which the module then imports what it reads; what cannot be written as source is put into the list,
    which the module reads as ``__s2s_data__``. Raises CannotShip."""
    head, body = split(version.compiled.text if text is None else text)
    gathering = Gathering(data)
    root = Symbol("", body)
    tree = ast.parse(body)
    values = closure_of(version.raw)
    loops = version.compiled.loops
    if loops is not None and text is not None:  # the one that Numba compiles, which may read more
        values = {**{name: imported(path) for name, path in loops.imports.items()}, **loops.objects, **values}
    own = {name for node in tree.body for name in _names(node)}

    def look_up(name: str) -> Any:
        if name in own:
            return None
        if name in values:
            return gathering.value(values[name], name)
        return gathering.of_function(version.raw, name)

    for node in tree.body:
        gathering.rewrite_part(root, node, look_up, {**version.raw.__globals__, **values})
    root.local = bound_anywhere(tree)
    gathering.finish()
    _choose_names(gathering.symbols, root)
    made_from = version.compiled if text is None or loops is None else loops
    written = passed(_written(head, gathering.symbols, root), made_from.text, made_from.entry, is_whole=False)
    return Gathered(written, _edited(root) + "\n")


def split(text: str) -> tuple[list[str], str]:
    """The comments on top of a generated module, and what follows its imports."""
    tree, lines = ast.parse(text), lines_of(text)
    last = 0
    for node in tree.body:
        if not isinstance(node, (ast.Import, ast.ImportFrom, ast.Assign)):  # what is made has its value in a cell
            break
        last = node.end_lineno or 0
    first = next((k for k, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return lines[:first], "\n".join(lines[max(last, first) :]).strip("\n") + "\n"


def closure_of(function: types.FunctionType) -> dict[str, Any]:
    """The values that a generated function, and those beside it, have for names that no module holds."""
    found: dict[str, Any] = {}
    waiting = [function]
    seen = set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        for name, cell in zip(one.__code__.co_freevars, one.__closure__ or (), strict=True):
            try:
                value = cell.cell_contents
            except ValueError:  # not bound yet
                continue
            if isinstance(value, types.FunctionType) and "__s2s_linked__" in value.__dict__:
                waiting.append(value)
                if value.__code__.co_filename == function.__code__.co_filename:
                    continue
            found[name] = value
    return found


def _names(node: ast.stmt) -> Iterable[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return (node.name,)
    if isinstance(node, ast.Assign):
        return (t.id for t in node.targets if isinstance(t, ast.Name))
    return ()


# --- names --------------------------------------------------------------------------------------------------


def _choose_names(symbols: list[Symbol], root: Symbol) -> None:
    """Give each symbol a name that no other has, and nothing that reads it hides."""
    hidden: dict[int, set[str]] = {id(s): set() for s in symbols}
    for reader in (root, *symbols):
        for _, _, found in reader.edits:
            own = {reader.name} if found is reader else set()  # a function that calls itself
            hidden.setdefault(id(found), set()).update(reader.local - own)
    taken = {name for node in ast.parse(root.text).body for name in _names(node)} | set(keyword.kwlist)
    for symbol in symbols:
        wanted = symbol.name.lstrip("_") if symbol.is_private and symbol.name.startswith("_") else symbol.name
        name, count = wanted, 0
        while name in taken or name in hidden[id(symbol)] or (name in vars(builtins) and not symbol.line):
            count += 1
            name = f"{wanted}_{count}"
        taken.add(name)
        symbol.name = name


def _edited(symbol: Symbol) -> str:
    """The source of a symbol with the names that were chosen."""
    content = symbol.text.encode()
    for start, end, found in sorted(symbol.edits, key=lambda edit: edit[:2], reverse=True):
        new = found.name if isinstance(found, Symbol) else found
        content = content[:start] + new.encode() + content[end:]
    return content.decode().strip("\n")


def _written(head: list[str], symbols: list[Symbol], root: Symbol) -> str:
    """The module: comments, imports, definitions, the derivative."""
    imports = sorted(
        {_import_line(s) for s in symbols if s.line}, key=lambda line: (line.startswith("from "), line))
    parts = [passed_definition(_edited(s), s.text) for s in symbols if s.text]
    if any(_has_annotations(part) for part in parts):
        imports = ["from __future__ import annotations", *([""] if imports else []), *imports]
    small = [p for p in parts if not p.startswith(("def ", "class ", "@"))]
    large = [p for p in parts if p.startswith(("def ", "class ", "@"))]
    blocks = ["\n".join([*head, *([""] if head and imports else []), *imports])] if head or imports else []
    if not any(_comes_late(symbols, p) for p in small):
        blocks += ["\n".join(small)] if small else []
        blocks += large
    else:
        blocks += parts
    return "\n\n\n".join([*blocks, _edited(root)]) + "\n"


def _comes_late(symbols: list[Symbol], text: str) -> bool:
    """Whether a statement reads a function or class that is defined here, and must come after it."""
    symbol = next(s for s in symbols if s.text and _edited(s) == text)
    return any(need.text.startswith(("def ", "class ", "@")) for need in symbol.needs)


def _import_line(symbol: Symbol) -> str:
    if "{}" not in symbol.line:
        return symbol.line
    last = symbol.line.removesuffix("{}").rpartition(" ")[2]
    return symbol.line.replace("{}", "" if last == symbol.name else f" as {symbol.name}")


def _has_annotations(text: str) -> bool:
    nodes = list(ast.walk(ast.parse(text)))
    return any(isinstance(n, ast.arg) and n.annotation for n in nodes) or any(
        isinstance(n, ast.AnnAssign) or (isinstance(n, ast.FunctionDef) and n.returns) for n in nodes)
