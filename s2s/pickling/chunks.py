"""A Python function in, the statement of its file that it is part of out; and from there back to its code.

    chunk, place = chunk_of(loss)        the text of a statement at the top of the file, and which code in it is meant
    code_in(chunk, place)                that code, with the lines of the file, in any process
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import operator
import os
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from s2s.core.bounded import Recent
from s2s.core.hashes import new_hash
from s2s.core.linecaches import register
from s2s.errors import DifferentiationError, error
from s2s.frontend import sources

__all__ = [
    "Chunk", "Place", "chunk_of", "chunk_of_class", "code_at", "code_in", "compiled", "has_source", "has_text",
    "text_of_class",
]

Place = tuple[str, int, int]
"""The qualified name of a code object, its first line, and which of several of that name in that line it is."""

MOST = 256


@dataclass(frozen=True)
class Chunk:
    """A statement at the top of a file: the name of the file, the lines before it, the flags of ``from __future__``."""

    file: str
    line: int
    text: str
    flags: int

    @property
    def shown_file(self) -> str:
        """Under which name it is compiled where the file is not: none that a file could have."""
        digest = new_hash(f"{self.line} {self.flags} {self.text}".encode()).hexdigest()[:8]
        return f"<{os.path.basename(self.file).strip('<>')}, sent {digest}>"


def chunk_of(fn: types.FunctionType) -> tuple[Chunk, Place]:
    """The statement that a function is part of, and where in it. Raises SourceUnavailableError where the source is gone
    or no longer that of the function."""
    code = fn.__code__
    key = code.co_filename, id(code)
    if key not in _chunks:
        sources.find(fn)
        chunk = _statement(sources.lines_of(fn), code)
        found = None if chunk is None else _place_in(chunk, code)
        if chunk is None or found is None:
            raise error("S2S302", name=code.co_qualname, label=f"it is not found in {code.co_filename}", hint="")
        _chunks[key] = code, chunk, found
    return _chunks[key][1:]


_chunks: Recent[Any, tuple[types.CodeType, Chunk, Place]] = Recent(MOST)
"""With the code object, so that its id stays its own."""


def has_source(fn: types.FunctionType) -> bool:
    """Whether the source of a function is here."""
    try:
        chunk_of(fn)
    except (DifferentiationError, OSError):
        return False
    return True


def has_text(fn: types.FunctionType, chunk: Chunk, unless_known: bool) -> bool:
    """Whether a function comes of a text; of one without source, what is said of it."""
    try:
        return chunk_of(fn)[0].text == chunk.text
    except (DifferentiationError, OSError):
        return unless_known


def _statement(lines: list[str], code: types.CodeType) -> Chunk | None:
    """The statement at the top of a text that the first line of a code object is in."""
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return None
    return _around(lines, tree, code.co_filename, code.co_firstlineno, code.co_flags & sources.FUTURE_FLAGS)


def _around(lines: list[str], tree: ast.Module, file: str, line: int, flags: int) -> Chunk | None:
    for node in tree.body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        if first <= line <= (node.end_lineno or first):
            # whole lines: the columns of its code stay those of the file
            return Chunk(file, first, "".join(lines[first - 1 : node.end_lineno]), flags)
    return None


def _place_in(chunk: Chunk, code: types.CodeType) -> Place | None:
    """Where in a statement a code object is. Import hooks that rewrite functions (pytest's asserts) leave names and
    lines; lambdas of one line are told apart by the columns of their code."""
    same = _alike(_compiled(chunk), code.co_qualname, code.co_firstlineno)
    if len(same) > 1:
        exact = [k for k, one in enumerate(same) if _extent(one) == _extent(code)]
        return (code.co_qualname, code.co_firstlineno, exact[0]) if exact else None
    return (code.co_qualname, code.co_firstlineno, 0) if same else None


def _extent(code: types.CodeType) -> tuple[Any, Any]:
    """The first and the last place of the instructions of code; how many there are depends on what is around it."""
    places = [place for place in code.co_positions() if None not in place]
    starts, ends = [(line, column) for line, _, column, _ in places], [(line, column) for _, line, _, column in places]
    return min(starts, default=None), max(ends, default=None)


def _alike(module: types.CodeType, qualname: str, line: int) -> list[types.CodeType]:
    return [one for one in sources.codes_in(module) if (one.co_qualname, one.co_firstlineno) == (qualname, line)]


def compiled(chunk: Chunk) -> types.CodeType:
    """The code of a statement, in the lines of its file; ``linecache`` shows it for as long as any of it lives."""
    module = _compiled(chunk)
    for code in sources.codes_in(module):
        register(chunk.shown_file, _with_lines(chunk), code)
    return module


def _compiled(chunk: Chunk) -> types.CodeType:
    return compile(_with_lines(chunk), chunk.shown_file, "exec", chunk.flags, dont_inherit=True)


def _with_lines(chunk: Chunk) -> str:
    return "\n" * (chunk.line - 1) + chunk.text


def code_in(chunk: Chunk, place: Place) -> types.CodeType:
    """The code object at a place of a statement."""
    key = chunk, place
    if key not in _codes:
        qualname, line, number = place
        _codes[key] = _alike(compiled(chunk), qualname, line)[number]
    return _codes[key]


def code_at(chunk: Chunk, qualname: str, line: int) -> types.CodeType | None:
    """The code of that name and line in a statement, where it is one."""
    found = _alike(_compiled(chunk), qualname, line)
    return code_in(chunk, (qualname, line, 0)) if len(found) == 1 else None


_codes: Recent[Any, types.CodeType] = Recent(MOST)


# --- classes --------------------------------------------------------------------------------------------------------


def chunk_of_class(kind: type) -> Chunk | None:
    """The statement at the top of its file that makes a class; None where it is not found, or is in a function."""
    if "." in kind.__qualname__:
        return None
    for fn in vars(kind).values():
        found = _of_method(kind, getattr(fn, "__func__", fn))
        if found is not None:
            return found
    return _of_lines(kind, lambda: inspect.getsourcelines(kind))


def _of_method(kind: type, fn: Any) -> Chunk | None:
    """The class statement around one of its methods."""
    if not isinstance(fn, types.FunctionType) or not fn.__qualname__.startswith(f"{kind.__qualname__}."):
        return None
    try:
        chunk, _ = chunk_of(fn)
    except (DifferentiationError, OSError):
        return None
    return chunk if _makes(chunk, kind) else None


def _of_lines(kind: type, get: Callable[[], tuple[list[str], int]]) -> Chunk | None:
    """The class statement as ``inspect`` finds it."""
    try:
        lines, first = get()
        module = vars(sys.modules[kind.__module__])
        features = [f for name, f in vars(__future__).items() if name in module and module[name] is f]
        flags = functools.reduce(operator.or_, [f.compiler_flag for f in features if hasattr(f, "compiler_flag")], 0)
        chunk = Chunk(inspect.getsourcefile(kind) or "<?>", first, "".join(lines), flags)
        return chunk if _makes(chunk, kind) else None
    except (OSError, TypeError, SyntaxError, ValueError, KeyError):
        return None


def _makes(chunk: Chunk, kind: type) -> bool:
    """Whether a statement makes a class of that name."""
    node = ast.parse(chunk.text).body[0]
    return isinstance(node, ast.ClassDef) and node.name == kind.__name__


def text_of_class(kind: type) -> str:
    """The text of the statement that makes a class, empty where it is not found."""
    found = chunk_of_class(kind)
    return "" if found is None else found.text
