"""A compiled text in, a callable out: its functions run in the user function's own globals and closure.

Imported names and objects become closure cells, so nothing is written into the user's module; names that
the primal reads from its closure are the primal's own cells. The text is registered in ``linecache`` under
the code's file name, so that tracebacks, ``pdb`` and ``inspect.getsource`` show it.

A text that is stored has its bytecode beside it, as Python keeps that of a module: compiling it again would take
most of the time of a cache hit.
"""

from __future__ import annotations

import ast
import marshal
import os
import sys
import types
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from s2s.cache import folders
from s2s.core.hashes import new_hash
from s2s.core.linecaches import register, shows_another
from s2s.versions.paths import imported
from s2s.versions.request import Compiled

__all__ = ["file_name", "link"]


def link(
    compiled: Compiled, function: types.FunctionType, name: str | None = None, file: str | None = None,
    change: Callable[[ast.Module], ast.Module] | None = None,
) -> types.FunctionType:
    """The entry of a compiled text as a function beside ``function``; ``name`` is its ``__name__`` where
    given.

    ``file`` is where the cache keeps the text, None for a made-up file name. ``change`` is what becomes of the tree of
    a text that has none, whose lines stay. Raises ImportError where a name of
    the text cannot be imported, and LookupError where the primal has no such closure variable.
    """
    if file and shows_another(file, compiled.text):
        file = None
    outside = sorted({*compiled.imports, *compiled.objects, *compiled.made, *compiled.free})
    if file:
        codes = _stored_codes(compiled.text, outside, file)
    else:
        codes = _function_codes(compiled.text, outside, file_name(compiled), change)
    for code in codes.values():
        register(file or file_name(compiled), compiled.text, code, compiled.places)
    cells = {name: types.CellType(imported(path)) for name, path in compiled.imports.items()}
    cells |= {name: types.CellType(value) for name, value in compiled.objects.items()}
    cells |= {name: _user_cell(function, name) for name in compiled.free}
    if compiled.made:
        known = {**function.__globals__, **{name: cell.cell_contents for name, cell in cells.items()}}
        cells |= {name: types.CellType(eval(value, known)) for name, value in compiled.made.items()}
    cells |= {name: types.CellType() for name in codes}
    for def_name, code in codes.items():
        cells[def_name].cell_contents = _make_function(def_name, code, function, cells)
    entry: types.FunctionType = cells[unicodedata.normalize("NFKC", compiled.entry)].cell_contents  # as Python reads it
    entry.__doc__ = entry.__code__.co_consts[0] if isinstance(entry.__code__.co_consts[0], str) else None
    if name is not None:
        entry.__name__ = entry.__qualname__ = name
    return entry


def file_name(compiled: Compiled) -> str:
    """A made-up file name for a text, the same for the same text: ``<s2s loss_grad 3f2a91c0>``."""
    return f"<s2s {compiled.entry} {new_hash(compiled.text.encode()).hexdigest()[:8]}>"


def _user_cell(function: types.FunctionType, name: str) -> types.CellType:
    names = function.__code__.co_freevars
    if name not in names:
        raise LookupError(f"{function.__qualname__} has no closure variable {name}")
    return (function.__closure__ or ())[names.index(name)]


def _stored_codes(text: str, outside: list[str], file: str) -> dict[str, types.CodeType]:
    """``_function_codes`` as kept in a file beside the stored text; where there is none, it is written.

    The file begins with hashes of what the code was made from and of the code itself: ``marshal`` trusts what it reads,
    so damaged bytecode would run.
    """
    made_from = _digest(repr((text, outside, file, sys.implementation.cache_tag, sys.flags.optimize)).encode())
    kept = folders.read(os.path.dirname(file), f"{os.path.basename(file)}c")
    if kept is not None and kept.startswith(made_from):
        content = kept[2 * len(made_from) :]
        if kept == made_from + _digest(content) + content:
            return {code.co_name: code for code in marshal.loads(content)}
    codes = _function_codes(text, outside, file)
    if not sys.dont_write_bytecode:
        content = marshal.dumps(list(codes.values()))
        folders.write(f"{file}c", made_from + _digest(content) + content)
    return codes


def _digest(content: bytes) -> bytes:
    return new_hash(content, digest_size=32).digest()


def _function_codes(
    text: str, outside: list[str], file: str, change: Callable[[ast.Module], ast.Module] | None = None
) -> dict[str, types.CodeType]:
    """The code of each def of a text, compiled as if inside a function that owns the names of ``outside``.

    Those names and the other defs compile to closure variables; line numbers stay those of the text.
    """
    tree = ast.parse(text, file)
    defs = [node for node in (tree if change is None else change(tree)).body if isinstance(node, ast.FunctionDef)]
    wanted = {node.name for node in defs}
    place: dict[str, Any] = {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 0}
    own = [ast.arg(name, **place) for name in outside if name not in wanted]
    arguments = ast.arguments(posonlyargs=[], args=own, kwonlyargs=[], kw_defaults=[], defaults=[])
    body = list[ast.stmt](defs)
    outer = ast.FunctionDef(name="outer", args=arguments, body=body, decorator_list=[], **place)
    if "type_params" in ast.FunctionDef._fields:  # Python 3.12 and later
        setattr(outer, "type_params", [])  # noqa: B010 (unknown to the stubs of 3.11)
    module = ast.Module(body=[outer], type_ignores=[])
    outer_code = next(_codes(compile(module, file, "exec", dont_inherit=True).co_consts))
    return {
        code.co_name: code.replace(co_qualname=code.co_name)
        for code in _codes(outer_code.co_consts)
        if code.co_name in wanted
    }


def _codes(constants: Iterable[Any]) -> Iterator[types.CodeType]:
    return (constant for constant in constants if isinstance(constant, types.CodeType))


def _make_function(
    name: str, code: types.CodeType, function: types.FunctionType, cells: dict[str, types.CellType]
) -> types.FunctionType:
    closure = tuple(cells[free] for free in code.co_freevars)
    made = types.FunctionType(code, function.__globals__, name, None, closure)
    made.__module__ = function.__module__
    made.__dict__["__s2s_linked__"] = code
    return made
