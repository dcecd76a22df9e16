"""Compiled versions on disk: one readable ``.py`` per function and signature, in ``__s2scache__`` beside
the source.

The file is the generated text, then one comment line, a literal, with what the text needs and what it was
made from. It is used when the function, everything folded in with it, and the versions of s2s, Python and
NumPy are what they were: ``load`` compares fingerprints with the live objects. Reading imports neither libcst
nor astor, and little else: what comes in for it has most of the time that it takes.

Where the folder beside the source cannot be written, the user's cache folder takes its place. A folder or a
file that another user could write to is never read (``folders``). ``S2S_CACHE=0`` turns the cache off;
``S2S_CACHE_DIR`` names the folder, ``S2S_CACHE_SIZE`` how large one may become.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import os
import re
import sys
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.cache import folders
from s2s.core.hashes import new_hash
from s2s.core.package import ROOT, __version__
from s2s.core.values import AbstractValue
from s2s.directives.policy import Choice, Override, Policy
from s2s.notices import Notice
from s2s.versions.argument_guards import EqualGuard, LargeGuard, SeparateGuard, SizeGuard, SumGuard
from s2s.versions.fingerprints import Unstorable, fingerprint, stable_mark
from s2s.versions.guards import (
    AliasGuard,
    AttributeGuard,
    BasesGuard,
    CallGuard,
    ClassGuard,
    Guard,
    KindGuard,
    NamesGuard,
    ObjectGuard,
    ShadowGuard,
)
from s2s.versions.paths import package_version, resolve
from s2s.versions.request import Compiled, Dependency, Request
from s2s.versions.signature import stable_key
from s2s.versions.stored import is_literal, load_owner, load_step, path_to, store_step

if TYPE_CHECKING:
    from pathlib import Path  # imported late: it brings urllib and more

__all__ = [
    "PYTHON", "UNREADABLE", "clear", "compiled_from", "data_of", "entries", "folders_of", "full_key", "good_for",
    "is_on", "load", "source_files", "store", "user_folder", "user_function",
]

FOLDER = "__s2scache__"
FORMAT = 5
MARK = "# s2s cache: "


# --- where --------------------------------------------------------------------------------------------------


def is_on() -> bool:
    """Whether the cache is in use: ``S2S_CACHE`` is not 0, off, no or false."""
    return os.environ.get("S2S_CACHE", "1").lower() not in ("0", "off", "no", "false")


def user_folder() -> str:
    """The folder for functions whose own folder cannot be written: ``$XDG_CACHE_HOME/s2s`` or
    ``~/.cache/s2s``."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.cache"), "s2s")


def folders_of(function: types.FunctionType) -> list[str]:
    """The folders to look in for a function, the best first; none where its source is not a file."""
    file = user_function(function).__code__.co_filename
    if not is_on() or not os.path.isfile(file):
        return []
    override = os.environ.get("S2S_CACHE_DIR")
    if override:
        return [override]
    beside = os.path.dirname(os.path.abspath(file))
    if os.path.basename(beside) != FOLDER:
        beside = os.path.join(beside, FOLDER)
    return [beside, user_folder()]


def user_function(function: types.FunctionType) -> types.FunctionType:
    """The function itself; for one that s2s has made of another, the other one."""
    found = getattr(function, "__s2s_made_of__", function)
    assert isinstance(found, types.FunctionType)
    return found


# --- keys ---------------------------------------------------------------------------------------------------


PYTHON = ".".join(map(str, sys.version_info[:3])) + ("" if __debug__ else " -O")  # which leaves assertions out


@functools.cache
def versions() -> dict[str, str]:
    """The versions that a file is good for; that of s2s includes the state of its own files."""
    state = new_hash()
    for entry in source_files(ROOT):
        found = entry.stat()
        state.update(f"{entry.name} {found.st_size} {found.st_mtime_ns}\n".encode())
    return {
        "s2s": f"{__version__} {state.hexdigest()[:12]}",
        "python": PYTHON,
        "numpy": np.__version__,
        "format": str(FORMAT),
    }


def good_for() -> dict[str, str]:
    """The versions that a file is good for, and the rules that the user has registered. Raises Unstorable where these
    are not told apart from others."""
    table = sys.modules.get("s2s.rules.table")
    foreign = table.FOREIGN if table is not None else []
    return {**versions(), "rules": fingerprint(tuple(foreign)) if foreign else ""}


def source_files(folder: str) -> Iterator[os.DirEntry[str]]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name.endswith(".py"):
            yield entry
        elif entry.is_dir() and entry.name not in (FOLDER, "__pycache__"):
            yield from source_files(entry.path)


def full_key(function: types.FunctionType, arguments: dict[str, AbstractValue], request: Request) -> str:
    """What a file is for, as text. Raises Unstorable where an argument is an object without import path."""
    signature = ", ".join(f"{name}: {stable_key(aval)}" for name, aval in arguments.items())
    options = tuple(
        (name, _marks(value) if name in ("choices", "nonsmooth") else value) for name, value in request.options
    )
    asked = (request.mode, request.wrt, request.single, request.has_aux, options)
    if not is_literal(asked):
        raise Unstorable("an option")
    return f"{_identity(function)}({signature}) {asked!r}"


def _marks(held: tuple[Choice, ...]) -> tuple[Any, ...]:
    """Choices as literals. Raises Unstorable where one names an object that is not found by an import."""
    return tuple(tuple((_mark(key), _mark_of_decision(how)) for key, how in choice.by_key) for choice in held)


def _mark(value: Any) -> str:
    return value if isinstance(value, str) else path_to(value)


def _mark_of_decision(how: Policy | Override) -> tuple[Any, ...]:
    if isinstance(how, Policy):
        return how.name, how.sharpness
    return _mark(how.rule), how.name, "" if isinstance(how.rule, str) else fingerprint(how.rule)


def _identity(function: types.FunctionType) -> str:
    """A name for the function in its file; lambdas and nested functions need the line too."""
    user = user_function(function)
    code = user.__code__
    line = f":{code.co_firstlineno}" if "<" in code.co_qualname else ""
    made = "" if user is function else f" {function.__qualname__} {getattr(function, '__s2s_made_by__', '')}"
    return f"{os.path.abspath(code.co_filename)}:{code.co_qualname}{line}{made}"


def _file_name(function: types.FunctionType, request: Request, full: str) -> str:
    """``model.loss.grad_W_b.3f2a91c0d4e5.py``"""
    user = user_function(function)
    stem = os.path.splitext(os.path.basename(user.__code__.co_filename))[0]
    name = user.__code__.co_qualname if user is function else function.__qualname__
    wrt = "_".join("_".join(map(str, path)) for path in request.wrt)
    readable = re.sub(r"[^\w.]+", "_", f"{stem}.{name}.{request.mode}_{wrt}")
    tag = f"{full} {PYTHON} {np.__version__}"
    return f"{readable[:120]}.{new_hash(tag.encode()).hexdigest()[:12]}.py"


# --- reading ------------------------------------------------------------------------------------------------


def load(
    function: types.FunctionType, arguments: dict[str, AbstractValue], request: Request
) -> tuple[Compiled, str] | None:
    """The version stored for these arguments, and its file, if it is there and still good."""
    places = folders_of(function)
    if not places:
        return None
    try:
        full = full_key(function, arguments, request)
    except Unstorable:
        return None
    for folder in places:
        name = _file_name(function, request, full)
        content = folders.read(folder, name)
        found = None if content is None else _read(content, full, function, arguments)
        if found is not None:
            return found, os.path.join(folder, name)
    return None


def _read(
    content: bytes, full: str, function: types.FunctionType, arguments: dict[str, AbstractValue]
) -> Compiled | None:
    """The version in a file; None where the file is damaged or out of date, whatever is in it."""
    try:
        text, _, tail = content.decode().rpartition(MARK)
        text = text.replace(f"{_NOT_COVERED}\n", "\n")
        data = ast.literal_eval(tail)  # json would have to be imported
        if data["sum"] != _sum(text, {**data, "sum": ""}):
            return None
        if data["versions"] != good_for() or data["key"] != full:
            return None
        return compiled_from(data, text, function, arguments)
    except UNREADABLE:
        return None


UNREADABLE = OSError, ValueError, SyntaxError, LookupError, TypeError, AttributeError, ImportError, Unstorable
"""What a file raises that is damaged, or was made for other objects."""


def compiled_from(
    data: dict[str, Any], text: str, function: types.FunctionType, arguments: dict[str, AbstractValue]
) -> Compiled | None:
    """The version of a text with what it needs, None where something has changed that it was made of; raises one of
    ``UNREADABLE`` where a guard does not hold."""
    if not all(_is_unchanged(item, function, arguments) for item in data["dependencies"]):
        return None
    guards = tuple(_load_guard(item, function) for item in data["guards"])
    return Compiled(
        text,
        data["entry"],
        data["imports"],
        {},
        tuple(data["globals"]),
        tuple(data["free"]),
        guards,
        tuple(Dependency(root, tuple(path), mark) for root, path, mark in data["dependencies"]),
        data["result"],
        tuple(data["met"]),
        data["made"],
        loops=_loops(data["loops"]),
        places=data["places"],
        notices=tuple(Notice(*items) for items in data["notices"]),
        is_by_layout=data["is_by_layout"],
        changed=tuple(data["changed"]),
        missing_kinds=data["missing_kinds"],
    )


def _loops(data: dict[str, Any] | None) -> Compiled | None:
    """The version with loops over elements."""
    if data is None:
        return None
    lists = (tuple(data["globals"]), tuple(data["free"]))
    return Compiled(
        data["text"], data["entry"], data["imports"], {}, *lists, result=data["result"], made=data["made"],
        is_by_layout=data["is_by_layout"], changed=tuple(data["changed"]))


def _is_unchanged(item: list[Any], function: types.FunctionType, arguments: dict[str, AbstractValue]) -> bool:
    root, path, mark = item[0], [*map(load_step, item[1])], str(item[2])
    if root == "self":
        return fingerprint(function.__code__) == mark
    if root == "version":
        return package_version(path[0]) == mark
    if root == "stable":
        return stable_mark(resolve(function, "import", tuple(path))) == mark
    if root != "argument":
        return fingerprint(resolve(function, root, tuple(path))) == mark
    value = getattr(arguments[path[0]], "value", None)
    for attribute in path[1:]:
        value = getattr(value, attribute)
    return fingerprint(value) == mark


def _load_guard(item: dict[str, Any], function: types.FunctionType) -> Guard:
    """A guard about the live objects. Raises ValueError where it does not hold for them."""
    owner = None if item["owner"] is None else load_owner(item["owner"])
    return _GUARDS[item["kind"]].load(item, owner, function)


_GUARDS: dict[str, type[Guard]] = {
    kind.stored_as: kind
    for kind in (
        ObjectGuard, AttributeGuard, ShadowGuard, NamesGuard, KindGuard, ClassGuard, BasesGuard, CallGuard, SizeGuard,
        EqualGuard, SumGuard, LargeGuard, SeparateGuard, AliasGuard,
    )
}
"""The guards that a file may hold."""


# --- writing ------------------------------------------------------------------------------------------------


def store(
    function: types.FunctionType, arguments: dict[str, AbstractValue], request: Request, compiled: Compiled
) -> str | None:
    """Write a version; give its file, or None where it cannot be stored (the cache is off, no folder can be
    written, or it holds objects without import path)."""
    places = folders_of(function)
    if not places or compiled.objects or (compiled.loops is not None and compiled.loops.objects):
        return None
    try:
        full = full_key(function, arguments, request)
        data = data_of(function, full, compiled)
    except Unstorable:
        return None
    shown = re.sub(r"^(?:def|from|import) .*", rf"\g<0>{_NOT_COVERED}", _text(compiled), flags=re.MULTILINE)
    text = f"{shown}{MARK}{data!r}\n"
    for folder in places:
        if folders.make(folder):
            file = os.path.join(folder, _file_name(function, request, full))
            if folders.write(file, text.encode()):
                return file
    return None


_NOT_COVERED = "  # pragma: no cover"
"""What a file says of its functions, for tools that measure which lines of a program its tests reach."""


def _text(compiled: Compiled) -> str:
    return compiled.text if compiled.text.endswith("\n") else f"{compiled.text}\n"


def _sum(text: str, data: dict[str, Any]) -> str:
    """A hash of all that is in a file, its own place left empty."""
    return new_hash(f"{text}{data!r}".encode(), digest_size=32).hexdigest()


def data_of(function: types.FunctionType, full: str, compiled: Compiled) -> dict[str, Any]:
    """What the comment line says. Raises Unstorable."""
    dependencies = [["self", [], fingerprint(function.__code__)]]
    for dependency in compiled.dependencies:
        if not dependency.fingerprint and dependency.root != "version":
            raise Unstorable(".".join(map(str, dependency.path)))
        dependencies.append([dependency.root, [*map(store_step, dependency.path)], dependency.fingerprint])
    data = {
        "key": full,
        "versions": good_for(),
        **_names(compiled),
        "dependencies": dependencies,
        "guards": [guard.dump() for guard in compiled.guards if guard.is_stored],
        "result": compiled.result,
        "met": list(compiled.met),
        "places": dict(compiled.places),
        "notices": [notice.key for notice in compiled.notices],
        "missing_kinds": compiled.missing_kinds,
        "loops": None if (loops := compiled.loops) is None else {
            "text": loops.text, "result": loops.result, **_names(loops),
        },
        "sum": "",
    }
    return {**data, "sum": _sum(_text(compiled), data)}


def _names(compiled: Compiled) -> dict[str, Any]:
    """What the names of a text mean."""
    return {
        "entry": compiled.entry,
        "imports": compiled.imports,
        "globals": list(compiled.globals),
        "free": list(compiled.free),
        "made": dict(compiled.made),
        "is_by_layout": compiled.is_by_layout,
        "changed": list(compiled.changed),
    }


# --- the command line's view --------------------------------------------------------------------------------


def entries(folder: Path) -> Iterator[Path]:
    """The files that s2s wrote, in a cache folder or in the cache folders below it."""
    if not folder.is_dir():
        return
    for place in _places_in(folder):
        for file in sorted(place.glob("*.py")):
            with contextlib.suppress(OSError, UnicodeDecodeError):
                if file.is_file() and MARK in file.read_text(encoding="utf-8"):
                    yield file


def _places_in(folder: Path) -> list[Path]:
    is_cache = folder.name == FOLDER or str(folder) == user_folder()
    return [folder] if is_cache else sorted(folder.rglob(FOLDER))


def clear(folder: Path) -> int:
    """Delete the files that s2s wrote there; give their number, without those that were made of others."""
    count = 0
    for file in list(entries(folder)):
        with contextlib.suppress(OSError):
            file.unlink()
            count += 1
            file.with_suffix(".pyc").unlink(missing_ok=True)
    for place in _places_in(folder) if folder.is_dir() else ():
        for file in place.glob("*.nbc"):
            with contextlib.suppress(OSError):
                if folders.OURS.search(file.name):
                    file.unlink()
    return count
