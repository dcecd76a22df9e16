"""A function goes in, its ``Source`` comes out: the text of just this ``def`` or ``lambda``, and its place.

The text is found by the code object (file name, first line, positions of the instructions) and never through
``__wrapped__``: where a decorator put a wrapper around a function, the wrapper is what runs. Lines come from
``linecache``, so notebooks, doctests and generated code registered there are seen.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import dataclasses
import functools
import inspect
import linecache
import opcode
import operator
import sys
import types
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from itertools import pairwise
from typing import Any

from s2s.core.lines import lines_of as python_lines
from s2s.errors import DifferentiationError, error
from s2s.frontend.typed import NO_TEXT, shown_as, texts

__all__ = [
    "FUTURE_FLAGS", "Source", "as_stored", "codes_in", "find", "mangle", "meaning_of", "private_class", "surrounded",
]

_FEATURES = (getattr(__future__, name) for name in __future__.all_feature_names)
FUTURE_FLAGS = functools.reduce(operator.or_, (feature.compiler_flag for feature in _FEATURES))
FILLERS = frozenset({"CACHE", "NOP", "PRECALL", "PUSH_NULL"})
JUMPS = frozenset({*opcode.hasjrel, *opcode.hasjabs})
METHOD_FLAG = sys.version_info >= (3, 12)  # the lowest bit of LOAD_ATTR says that a method is called

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The source of one function.

    ``text`` starts at the ``def`` (decorators are left out) or at the ``lambda`` and is dedented; line k of
    it is line ``first_line + k`` of ``file``, and ``removed[k]`` characters were taken from the start of that
    line (none inside a string over many lines), so that every place in the text has its place in the file.
    ``assumed`` are the names whose meaning has decided how the text was read, each with its object.
    """

    fn: types.FunctionType
    name: str
    qualname: str
    file: str
    first_line: int
    text: str
    removed: tuple[int, ...]
    is_lambda: bool
    assumed: dict[str, Any] = field(default_factory=dict)

    def meaning(self, name: str) -> Any:
        """The object that a global name or a builtin stands for now, None where there is none; the form of the function
        holds as long as it does."""
        self.assumed[name] = meaning_of(self.fn, name)
        return self.assumed[name]

    @property
    def column(self) -> int:
        """How many characters stand before the function on its first line."""
        return self.removed[0]

    @property
    def globals(self) -> dict[str, Any]:
        """The module globals that the function reads, live."""
        return self.fn.__globals__

    @property
    def closure(self) -> Mapping[str, types.CellType]:
        """The cells of the enclosing functions' variables that the function reads, by name."""
        return dict(zip(self.fn.__code__.co_freevars, self.fn.__closure__ or (), strict=True))


def meaning_of(fn: types.FunctionType, name: str) -> Any:
    """The object that a global name or a builtin stands for in a function; None where there is none."""
    return fn.__globals__.get(name, getattr(builtins, name, None))


def find(fn: types.FunctionType) -> Source:
    """The source of a Python function. Raises SourceUnavailableError where it is gone or changed."""
    if not isinstance(fn, types.FunctionType):
        name = getattr(fn, "__qualname__", None) or type(fn).__name__
        raise error("S2S301", name=name, hint="write it in Python, with functions of NumPy or math")
    lines = _lines_of_file(fn)
    if lines:
        return _found_in(fn, lines)
    found, lines = _from_nowhere(fn)
    return dataclasses.replace(found, file=shown_as(found.file, lines))


def _found_in(fn: types.FunctionType, lines: list[str]) -> Source:
    is_lambda = fn.__code__.co_name == "<lambda>"
    return _find_lambda(fn, lines) if is_lambda else _find_def(fn, lines)


def lines_of(fn: types.FunctionType) -> list[str]:
    """The lines of the function's file; of what ``exec`` ran, where ``linecache`` was told."""
    return _lines_of_file(fn) or _from_nowhere(fn)[1]


def _lines_of_file(fn: types.FunctionType) -> list[str]:
    """The lines under the name of its file; none where there are none. Raises SourceUnavailableError where they are of
    something else."""
    code = fn.__code__
    linecache.checkcache(code.co_filename)
    is_frozen = code.co_filename.startswith("<frozen ")  # Python 3.14 has lines for these
    lines = [] if is_frozen else linecache.getlines(code.co_filename, fn.__globals__)
    if not all(line.endswith("\n") for line in lines[:-1]):  # somebody has split them where Python does not
        lines = python_lines("".join(lines), keepends=True)
        linecache.cache[code.co_filename] = sum(map(len, lines)), None, lines, code.co_filename
    # Python 3.13 keeps the lines of `python -c` under the name that `exec` gives to any text.
    made = "lambda" if code.co_name == "<lambda>" else f"def {code.co_name}"
    if lines and code.co_filename == "<string>" and made not in "".join(lines):
        raise _unread(code)
    return lines


def _unread(code: types.CodeType) -> Exception:
    return error(
        "S2S302", name=code.co_qualname,
        label=f"it was compiled from {code.co_filename}, which cannot be read",
        hint=NO_TEXT.get(code.co_filename, ""),
    )


def _from_nowhere(fn: types.FunctionType) -> tuple[Source, list[str]]:
    """The source of a function that no file holds, and the lines as they were typed. Raises SourceUnavailableError
    where they cannot be had."""
    for lines in texts(fn):
        try:
            return _found_in(fn, lines), lines
        except DifferentiationError:
            continue
    raise _unread(fn.__code__)


def _changed(fn: types.FunctionType) -> Exception:
    code = fn.__code__
    if code.co_filename == "<string>":  # the lines are those of `python -c`, which hold the text that `exec` ran
        return _unread(code)
    return error(
        "S2S303", name=code.co_qualname,
        label=f"line {code.co_firstlineno} of {code.co_filename} no longer holds the function that runs",
        hint="import the module again (importlib.reload), or start Python again",
    )


# --- def ----------------------------------------------------------------------------------------------------


def _find_def(fn: types.FunctionType, lines: list[str]) -> Source:
    code = fn.__code__
    node = _parse_block(lines, code.co_firstlineno - 1)  # the line of the first decorator, where there is one
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name != code.co_name:
        raise _changed(fn)
    if not _same_head(node, code):
        raise _changed(fn)
    line, (end_line, end_column) = node.lineno, _stop(node)
    block = lines[line - 1 : end_line]
    block[-1] = _characters(block[-1], end_column)
    text, removed = _dedent(block, _inside_strings(node))
    _check_current(fn, text)
    return Source(fn, code.co_name, code.co_qualname, code.co_filename, line, text, removed, False)


def _parse_block(lines: list[str], start: int) -> ast.stmt | None:
    """The statement that begins at index ``start``, with the line numbers of the file.

    Its end is found by indentation. Where a string or a bracket goes on at a lower indentation, what is cut
    off there does not parse, and the next candidate is tried.
    """
    if start >= len(lines):
        return None
    indent = _indent(lines[start])
    head = "\n" * (start - 1) + "if 1:\n" if indent else "\n" * start
    for stop in _ends(lines, start, indent):
        try:
            tree = ast.parse(head + "".join(lines[start:stop]))
        except (SyntaxError, ValueError):
            continue
        first = tree.body[0] if tree.body else None
        return first.body[0] if indent and isinstance(first, ast.If) else first
    return None


def _ends(lines: list[str], start: int, indent: int) -> Iterator[int]:
    """The line indexes after which the block that starts at ``start`` may end."""
    for index in range(start + 1, len(lines)):
        stripped = lines[index].strip()
        if stripped and not stripped.startswith("#") and _indent(lines[index]) <= indent:
            yield index
    yield len(lines)


def _indent(line: str) -> int:
    """How far a line is indented: a form feed begins at the first column again."""
    return len(line) - len(line.lstrip(" \t\f")) - _start_of_blanks(line)


def _start_of_blanks(line: str) -> int:
    """How many characters at the start of a line say nothing of its indentation."""
    return line.rfind("\f", 0, len(line) - len(line.lstrip(" \t\f"))) + 1


def _inside_strings(node: ast.stmt) -> set[int]:
    """The lines, counted from 0 at the ``def``, that begin inside a string: their blanks are its content."""
    first = node.lineno
    return {
        line - first
        for item in ast.walk(node)
        if isinstance(item, ast.Constant | ast.JoinedStr) and item.end_lineno != item.lineno
        for line in range(item.lineno + 1, (item.end_lineno or item.lineno) + 1)
    }


def _dedent(block: list[str], inside_strings: set[int]) -> tuple[str, tuple[int, ...]]:
    """The lines without the first line's indentation, and how much each of them lost."""
    indent = _indent(block[0])
    removed = tuple(
        0 if index in inside_strings else _start_of_blanks(line) + min(indent, _indent(line))
        for index, line in enumerate(block)
    )
    text = "".join(line[count:] for line, count in zip(block, removed, strict=True))
    return (text if text.endswith("\n") else text + "\n"), removed


# --- lambda -------------------------------------------------------------------------------------------------


def _find_lambda(fn: types.FunctionType, lines: list[str]) -> Source:
    code = fn.__code__
    if code.co_firstlineno > len(lines):
        raise _changed(fn)
    for first, stop in _regions(lines, code.co_firstlineno - 1):
        nodes = [node for node in _lambdas(lines, first, stop) if _same_head(node, code)]
        node = _choose(nodes, code, lines)
        if node is not None:
            return _lambda_source(fn, lines, node)
    raise _changed(fn)


def _regions(lines: list[str], index: int) -> Iterator[tuple[int, int]]:
    """Ranges of lines that may hold the statement around a line: its own at top level, then the file."""
    first, stop = index, index + 1
    while first > 0 and not _begins_statement(lines[first]):
        first -= 1
    while stop < len(lines) and not _begins_statement(lines[stop]):
        stop += 1
    yield first, stop
    yield 0, len(lines)


def _begins_statement(line: str) -> bool:
    return bool(line.strip()) and (line[0].isidentifier() or line[0] == "@") and not line.startswith(
        ("else", "elif", "except", "finally")
    )


def _lambdas(lines: list[str], first: int, stop: int) -> list[ast.Lambda]:
    """The lambdas in a range of lines, with the line numbers of the file; none where it does not parse."""
    try:
        tree = ast.parse("\n" * first + "".join(lines[first:stop]))
    except (SyntaxError, ValueError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]


def _choose(nodes: list[ast.Lambda], code: types.CodeType, lines: list[str]) -> ast.Lambda | None:
    """The lambda whose body holds all instructions of the code object; the innermost of several.

    Where the instructions have no positions (Python runs with -X no_debug_ranges; the body is a constant, of which
    Python 3.12 keeps none), the lambdas that compile to the same code are left, and any of them will do.
    """
    inside = [node for node in nodes if node.lineno == code.co_firstlineno]
    places = _places(code)
    if places:
        inside = [node for node in inside if all(_holds(node.body, place) for place in places)]
        return min(inside, key=_size, default=None)
    if len(inside) > 1:
        inside = [node for node in inside if _is_source(_lambda_text(lines, node), code)]
    if len({ast.dump(node) for node in inside}) > 1:
        raise error("S2S304", hint="write the lambdas on lines of their own")
    return inside[0] if inside else None


def _is_source(text: str, code: types.CodeType) -> bool:
    compiled = _compile_like(code, text)
    return compiled is not None and _same_code(compiled, code)


def _places(code: types.CodeType) -> list[tuple[int, int, int, int]]:
    """Where the instructions of a lambda's body stand, in lines and bytes; the prologue has no width."""
    return [
        (line, column, end_line, end_column)
        for line, end_line, column, end_column in code.co_positions()
        if line is not None and end_line is not None and column is not None and end_column is not None
        and (line, column) != (end_line, end_column)
    ]


def _holds(body: ast.expr, place: tuple[int, int, int, int]) -> bool:
    line, column, end_line, end_column = place
    return _start(body) <= (line, column) and (end_line, end_column) <= _stop(body)


def _size(node: ast.Lambda) -> tuple[int, int]:
    (line, column), (end_line, end_column) = _start(node.body), _stop(node.body)
    return end_line - line, end_column - (column if end_line == line else 0)


def _start(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _stop(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _lambda_source(fn: types.FunctionType, lines: list[str], node: ast.Lambda) -> Source:
    code, text = fn.__code__, _lambda_text(lines, node)
    _check_current(fn, text)
    removed = (len(_characters(lines[node.lineno - 1], node.col_offset)),) + (0,) * (_stop(node)[0] - node.lineno)
    return Source(fn, "<lambda>", code.co_qualname, code.co_filename, node.lineno, text, removed, True)


def _lambda_text(lines: list[str], node: ast.Lambda) -> str:
    (line, column), (end_line, end_column) = _start(node), _stop(node)
    block = lines[line - 1 : end_line]
    block[-1] = _characters(block[-1], end_column)  # first the end: cutting the start would move it
    block[0] = block[0][len(_characters(lines[line - 1], column)) :]
    return "".join(block)


# --- is it what runs? ---------------------------------------------------------------------------------------


def _check_current(fn: types.FunctionType, text: str) -> None:
    """Refuse where compiling the text does not give the code that runs: the file was edited after its import.

    The derivative of the edited text would be silently wrong. Import hooks that rewrite functions (pytest's
    asserts, run-time type checks) add to the code, so under another loader than Python's own only what the
    text names is asked for.
    """
    code = fn.__code__
    if fn.__dict__.get("__s2s_linked__") is code:  # its names were bound apart from its text, which linecache keeps
        return
    compiled = _compile_like(code, text)
    if compiled is None or _same_code(compiled, code):
        return
    plain = type(fn.__globals__.get("__loader__")) is SourceFileLoader or code.co_filename == "<string>"
    if plain or not _parts(compiled) <= _parts(code):
        raise _changed(fn)


def _compile_like(code: types.CodeType, text: str) -> types.CodeType | None:
    """The code object that the text gives in the surroundings of ``code``; None where it gives none."""
    try:
        tree = surrounded(code, text, 1)
        module = compile(tree, code.co_filename, "exec", code.co_flags & FUTURE_FLAGS, dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    return next((found for found in codes_in(module) if found.co_name == code.co_name), None)


def surrounded(code: types.CodeType, text: str, first_line: int) -> ast.Module:
    """The tree of a module in which a function's text means what it means to ``code``, with the lines of its file."""
    head, depth = _surroundings(code)
    made = f"({text}\n)" if code.co_name == "<lambda>" else text
    inner = ast.parse(made).body
    for node in inner:
        ast.increment_lineno(node, first_line - 1)
    if not head:
        return ast.Module(inner, [])
    tree = ast.parse(f"{head}{' ' * depth}pass\n")
    around: Any = tree.body[-1]
    while not isinstance(around.body[-1], ast.Pass):
        around = around.body[-1]
    around.body[-1:] = inner
    return tree


def _surroundings(code: types.CodeType) -> tuple[str, int]:
    """The text in which names mean what they mean to ``code``, and the depth that comes after it."""
    owner = private_class(code)
    free = ", ".join(name for name in code.co_freevars if not (owner and name == "__class__"))
    if not owner:
        return (f"def s2s_outer({free}):\n", 1) if free else ("", 0)
    if not free:
        return f"class {owner}:\n", 1
    # The class must not become a variable of the function around it: the code may read a global of that name.
    shared = "" if owner in code.co_freevars else f" global {owner}\n"
    return f"def s2s_outer({free}):\n{shared} class {owner}:\n", 2


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code objects inside one, in order of the text, outer before inner."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from codes_in(constant)


def _same_code(a: types.CodeType, b: types.CodeType) -> bool:
    return (
        (a.co_names, a.co_varnames, a.co_freevars, a.co_cellvars)
        == (b.co_names, b.co_varnames, b.co_freevars, b.co_cellvars)
        and (a.co_code == b.co_code or "super" in a.co_names or _operations(a) == _operations(b))
        and len(a.co_consts) == len(b.co_consts)
        and all(map(_same_constant, a.co_consts, b.co_consts))
    )


def _operations(code: types.CodeType) -> list[tuple[str, int]]:
    """The instructions, without what depends on the module around the function.

    Python calls ``np.sin`` in another way where it sees that ``np`` is imported at the top of the file: the
    attribute is loaded plainly and not as a method. So flags, jump distances and fillers are left out. (Calls
    of ``super`` depend on the module in too many ways; there the names and constants must do.)
    """
    found, high = [], 0
    for number, argument in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        name = opcode.opname[number]
        if name == "EXTENDED_ARG":
            high = (high | argument) << 8
            continue
        if name not in FILLERS:
            found.append(_operation(name, number, high | argument))
        high = 0
    return found


def _operation(name: str, number: int, argument: int) -> tuple[str, int]:
    if number in JUMPS:
        return name, 0
    if name == "LOAD_GLOBAL" or (name == "LOAD_ATTR" and METHOD_FLAG):
        return name, argument >> 1
    return ("LOAD_ATTR" if name == "LOAD_METHOD" else name), argument


def _same_constant(a: object, b: object) -> bool:
    if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
        is_class = not a.co_flags & inspect.CO_NEWLOCALS  # its code holds line numbers; lower refuses it
        return is_class or _same_code(a, b)
    return type(a) is type(b) and (a == b if isinstance(a, frozenset) else repr(a) == repr(b))


def _parts(code: types.CodeType) -> set[str]:
    """The names and constants in a code object and those inside it."""
    parts = {repr(c) for c in code.co_consts if not isinstance(c, types.CodeType | frozenset)}
    parts.update(code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return parts.union(*map(_parts, codes_in(code)))


# --- both ---------------------------------------------------------------------------------------------------


def _characters(line: str, count: int) -> str:
    """The first ``count`` bytes of a line; ``ast`` counts columns in bytes of UTF-8."""
    return line[:count] if line.isascii() else line.encode()[:count].decode()


def _same_head(node: _FunctionNode, code: types.CodeType) -> bool:
    """Whether the parameters in the source are those of the code object."""
    a = node.args
    names = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg)))]
    return tuple(_mangled(name, code) for name in names) == code.co_varnames[: len(names)]


def private_class(code: types.CodeType) -> str:
    """The class whose body holds the function, or empty: its private names (``__x``) begin with it."""
    parts = code.co_qualname.split(".")
    classes = [part for part, after in pairwise(parts) if part.isidentifier() and after != "<locals>"]
    return classes[-1].lstrip("_") if classes else ""


def as_stored(name: str) -> str:
    """A name as Python stores it: of letters that stand for the same one, as the two for a micro, there is one."""
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


def mangle(name: str, owner: str) -> str:
    """A name as Python stores it inside class ``owner``: ``__x`` becomes ``_Owner__x``."""
    name = as_stored(name)
    private = owner and name.startswith("__") and not name.endswith("__") and "." not in name
    return f"_{owner}{name}" if private else name


def _mangled(name: str, code: types.CodeType) -> str:
    return mangle(name, private_class(code))
