"""A body of a rule goes in, its SSA form comes out of what earlier processes kept: lowering without libcst.

The first compile of a process would lower the bodies of the rules that it needs, a millisecond or more for
each, and find the same every time. So they are kept as Python keeps bytecode, in one file for each
installation and Python, ``rules/__pycache__/lowered.<tag>.ir``: good for one state of the sources,
replaced in one step, never written where Python writes no bytecode, and passed over where it cannot be read
or written, or is not what was written: it begins with a hash of the rest. Only functions of ``s2s.rules``,
``s2s.runtime`` and the like go in, never a user's. What is in it is IR as nested tuples (``encoding``): reading it
imports what it names, and runs nothing.
"""

from __future__ import annotations

import functools
import importlib.util
import marshal
import os
import sys
import types

from s2s.cache import disk, folders
from s2s.cache.encoding import NotEncodable, decode, encode
from s2s.core import ir
from s2s.core.hashes import new_hash
from s2s.core.package import ROOT

__all__ = ["flush", "keep", "load"]

KEPT = tuple(os.path.join(ROOT, *path) for path in (("rules", ""), ("models", ""), ("runtime", "")))
"""How the names of the files begin whose functions are kept."""

try:
    VERSIONS = disk.versions()
except OSError:  # s2s does not lie in a folder
    VERSIONS = {}
"""What the file is good for, asked while s2s is imported: a source that is edited later is not what runs."""

_new: dict[bytes, bytes] = {}


def load(fn: types.FunctionType) -> ir.Function | None:
    """The SSA form of a function as ``keep`` was given it, None where there is none."""
    key = _key(fn.__code__)
    if key is None or key not in _stored():
        return None
    try:
        found = decode(marshal.loads(_stored()[key]))
    except Exception:  # an entry of another version of s2s raises nearly anything
        return None
    return found if isinstance(found, ir.Function) else None


def keep(fn: types.FunctionType, function: ir.Function) -> None:
    """Take in the SSA form of a function, for ``flush`` to write. One with a constant that does not come back
    as it was, such as a module, is left out."""
    key = _key(fn.__code__)
    if key is None or sys.dont_write_bytecode or not VERSIONS:
        return
    try:
        _new[key] = marshal.dumps(encode(function))
    except NotEncodable:
        return


def flush() -> None:
    """Write what is new, together with what is in the file by now: at the end of each compile."""
    global _new
    if not _new:
        return
    new, _new = _new, {}
    try:
        file = _file()
        content = marshal.dumps({**_read(), **new})
        os.makedirs(os.path.dirname(file), exist_ok=True)
        folders.write(file, _digest(content) + content)
    except (OSError, NotImplementedError):  # the folder cannot be made; Python keeps no compiled files
        return


def _file() -> str:
    """The file beside the rules' bytecode, also where that is elsewhere (``sys.pycache_prefix``)."""
    compiled = importlib.util.cache_from_source(os.path.join(ROOT, "rules", "lowered.py"))
    return f"{os.path.splitext(compiled)[0]}.ir"


@functools.cache
def _stored() -> dict[bytes, bytes]:
    """The file's entries, each marshalled by itself, so that only those asked for are made into objects."""
    return _read()


def _read() -> dict[bytes, bytes]:
    try:
        with open(_file(), "rb") as stream:
            digest, content = stream.read(DIGEST), stream.read()
        return dict(marshal.loads(content)) if digest == _digest(content) else {}
    except (OSError, NotImplementedError):
        return {}


DIGEST = 32


def _digest(content: bytes) -> bytes:
    """A hash of the entries and of what they are good for."""
    content += repr(sorted(VERSIONS.items())).encode()
    return new_hash(content, digest_size=DIGEST).digest()


def _key(code: types.CodeType) -> bytes | None:
    """Everything in a code object, its file and places too; None for one that is not kept."""
    if not code.co_filename.startswith(KEPT):
        return None
    try:
        return marshal.dumps(code, 2)  # the last format that does not depend on which parts are shared
    except ValueError:  # a constant of a kind that this format does not know
        return None
