"""A function in, out comes the version of it that ``s2s build`` has written into the module beside its source.

For environments that have the module, as under version control, and not the cache folder. At the end of the module is
a record for each version: what a file of the cache says of one, and a digest of its code.

    # What the versions above rely on: s2s takes them where that holds, and compiles anew where it does not.
    # >4f1c9a27b0de:eJyNVE1v2zAM/Su...
    # |...

What runs is the code of the module as it stands there, in the variables of the user's function: however it is
formatted, and with whatever comments. Where it is other code than was written it is left alone, which a warning says.
A record holds for the versions of s2s (the content of its files), Python and NumPy that wrote it.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import os
import re
import types
from collections.abc import Iterator
from typing import Any

from s2s.cache import disk, folders
from s2s.core.hashes import new_hash
from s2s.core.lines import lines_of
from s2s.core.package import ROOT, __version__
from s2s.core.values import AbstractValue
from s2s.notices import Notice, log, tell
from s2s.versions.fingerprints import Unstorable
from s2s.versions.request import Compiled, Request

__all__ = ["HEAD", "SUFFIX", "left_alone", "load", "record", "records_in", "with_records"]

SUFFIX = "_adjoints"
HEAD = "# What the versions above rely on: s2s takes them where that holds, and compiles anew where it does not.\n"
WIDTH = 96
_RECORD = re.compile(r"^# >([0-9a-f]{12}):(\S*)\n((?:# \|\S*\n)*)", re.MULTILINE)


# --- writing --------------------------------------------------------------------------------------------------------


def record(
    function: types.FunctionType, arguments: dict[str, AbstractValue], request: Request, compiled: Compiled
) -> str:
    """The record of a version; empty where another process could not tell what it relies on."""
    import base64
    import zlib

    if compiled.objects or (compiled.loops is not None and compiled.loops.objects):
        return ""
    try:
        key = _key(function, arguments, request)
        data = disk.data_of(function, key, compiled)
        data["versions"] = _good_for()
    except Unstorable:
        return ""
    file = disk.user_function(function).__code__.co_filename
    tree = ast.parse(compiled.text)
    defs = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    first = min(node.lineno for node in defs)
    data |= {
        "dependencies": [d for k, d in enumerate(data["dependencies"]) if d not in data["dependencies"][:k]],
        "places": {},  # the lines of the module are its own
        "notices": [(kind, said, "" if place == file else place, *r) for kind, said, place, *r in data["notices"]],
        "head": "".join(lines_of(compiled.text, keepends=True)[: first - 1]),
        "defs": [node.name for node in defs], "code": _digest(defs), "sum": "",
    }
    data["sum"] = _sum(data)
    packed = base64.b64encode(zlib.compress(repr(data).encode(), 9)).decode()
    return f"{_short(key)}:{packed}"


def with_records(text: str, records: list[str]) -> str:
    """The text of a module with records below it."""
    lines = []
    for one in records:
        pieces = [one[k : k + WIDTH] for k in range(0, len(one), WIDTH)]
        lines += [f"# >{pieces[0]}\n", *(f"# |{piece}\n" for piece in pieces[1:])]
    return f"{text.rstrip()}\n\n\n{HEAD}{''.join(lines)}" if lines else text


def records_in(text: str) -> list[str]:
    """The records of a module."""
    return [f"{found[1]}:{_joined(found)}" for found in _RECORD.finditer(text)]


def _joined(found: re.Match[str]) -> str:
    return found[2] + found[3].replace("# |", "").replace("\n", "")


def _digest(defs: list[ast.FunctionDef]) -> str:
    """What tells functions from others, however they are formatted; what their docstrings say is no matter."""
    said = new_hash()
    for node in defs:
        bare = ast.FunctionDef(**{**vars(node), "body": node.body[ast.get_docstring(node) is not None :]})
        said.update(ast.dump(bare).encode())
    return said.hexdigest()[:32]


def _sum(data: dict[str, Any]) -> str:
    return new_hash(repr(data).encode()).hexdigest()[:32]


# --- what it is for -------------------------------------------------------------------------------------------------


def _key(function: types.FunctionType, arguments: dict[str, AbstractValue], request: Request) -> str:
    """The key of a version without the folder of its source. Raises Unstorable."""
    file = os.path.abspath(disk.user_function(function).__code__.co_filename)
    return disk.full_key(function, arguments, request).replace(file, os.path.basename(file), 1)


def _short(key: str) -> str:
    return new_hash(key.encode()).hexdigest()[:12]


def _good_for() -> dict[str, str]:
    """The versions that a record is good for. Raises Unstorable."""
    return {**disk.good_for(), "s2s": f"{__version__} {_content()}"}


@functools.cache
def _content() -> str:
    """A hash of the files of s2s: the same wherever they are installed."""
    state = new_hash()
    for entry in disk.source_files(ROOT):
        with open(entry.path, "rb") as stream:
            state.update(f"{entry.name}\n".encode() + stream.read())
    return state.hexdigest()[:16]


# --- reading --------------------------------------------------------------------------------------------------------


_is_left_alone = False


@contextlib.contextmanager
def left_alone() -> Iterator[None]:
    """While the modules are written anew."""
    global _is_left_alone
    before, _is_left_alone = _is_left_alone, True
    try:
        yield
    finally:
        _is_left_alone = before


def load(
    function: types.FunctionType, arguments: dict[str, AbstractValue], request: Request
) -> Compiled | None:
    """The version for these arguments in the module beside the source, if it is there and still good."""
    code = disk.user_function(function).__code__
    if _is_left_alone or not disk.is_on() or not code.co_filename.endswith(".py"):
        return None
    folder, name = os.path.split(os.path.abspath(code.co_filename))
    name = f"{name.removesuffix('.py')}{SUFFIX}.py"
    if not os.path.isfile(os.path.join(folder, name)):
        return None
    content = folders.read(folder, name, notes_use=False)
    try:
        text = (content or b"").decode().replace("\r\n", "\n")
        key = _key(function, arguments, request)
        found = next((r for r in _RECORD.finditer(text) if r[1] == _short(key)), None)
        if found is None:
            return None
        data = _unpacked(_joined(found))
        if data["sum"] != _sum({**data, "sum": ""}) or data["key"] != key or data["versions"] != _good_for():
            log("%s: the version of %s was built elsewhere", name, code.co_qualname)
            return None
        data["notices"] = [(kind, said, place or code.co_filename, *r) for kind, said, place, *r in data["notices"]]
        own = _own_text(text, data)
        if own is not None:
            return disk.compiled_from(data, own, function, arguments)
        if disk.compiled_from(data, "", function, arguments) is not None:  # else it is out of date as well
            tell([Notice(
                "EditedAdjointWarning", f"`{data['entry']}` in {name} was edited after it was built, and is not taken: "
                "`s2s build` writes it anew", code.co_filename, code.co_firstlineno, function.__module__ or "")])
    except disk.UNREADABLE:
        pass
    return None


def _unpacked(packed: str) -> dict[str, Any]:
    """What a record says. Raises ValueError where it is damaged."""
    import base64
    import zlib

    try:
        found = ast.literal_eval(zlib.decompress(base64.b64decode(packed)).decode())
    except zlib.error as problem:
        raise ValueError(str(problem)) from None
    if not isinstance(found, dict):
        raise ValueError("no record")
    return found


def _own_text(text: str, data: dict[str, Any]) -> str | None:
    """The functions of a version as the module has them; None where these are others."""
    lines = lines_of(text)
    there = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    defs = [there[name] for name in data["defs"] if name in there]
    if len(defs) != len(data["defs"]) or _digest(defs) != data["code"]:
        return None
    parts = ["\n".join(lines[min([n.lineno, *(d.lineno for d in n.decorator_list)]) - 1 : n.end_lineno]) for n in defs]
    return str(data["head"]) + "\n\n\n".join(parts) + "\n"
