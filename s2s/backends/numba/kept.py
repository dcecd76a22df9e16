"""Functions that Numba compiles in, what it made of them in an earlier process out: machine code kept on disk.

    model.loss_grad.3f2a91c0d4e5.nbc          beside the generated text, in the folders of ``s2s.cache``

Numba's own cache asks for a file that the function is written in, and compares the time of its last change: a generated
function has no such file, and depends on what it calls. So the key of a file here is all that machine code is made of:
the adapted text, what its names mean, the types of the arguments, and the versions of s2s, Python, NumPy, Numba and
LLVM, the processor, and Numba's settings. What a name means must have a mark that other processes can compare; where
something has none, nothing is kept. The files are read as those of the generated text are: where nobody else can have
written them, and whole.
"""

from __future__ import annotations

import ast
import itertools
import os
import pickle
import types
from collections.abc import Iterator, Mapping
from typing import Any

import llvmlite
import numba
from numba.core import bytecode, serialize

from s2s.backends.numba.nests import Nest
from s2s.cache import disk, folders
from s2s.core.hashes import new_hash
from s2s.versions.fingerprints import Unstorable, fingerprint
from s2s.versions.paths import import_path

__all__ = ["Kept", "Marks", "digest_of", "keep", "mark_of_called", "mark_of_replaced"]

_CODE, _REFUSAL = b"s2s machine code 1\n", b"s2s refusal of Numba 1\n"

_KNOWN = frozenset(["builtins", "cmath", "math", "numba", "numpy", "operator", "s2s"])
"""What these packages have is the same where their versions are, which are in the key."""

Marks = dict[int, str]
"""What stands for objects that a text names, by ``id``: a helper is known by what it replaces, and in which call. ""
stands for one that another process cannot compare."""


def digest_of(
    node: ast.FunctionDef, known: Mapping[str, Any], marks: Marks, options: Mapping[str, Any]
) -> str | None:
    """A hash of a function for Numba, of Numba's options and of what its names mean, the same in every process; None:
    there is none."""
    parts = [ast.unparse(node), repr(sorted(options.items()))]
    try:
        for name, value in sorted(known.items()):
            mark = marks.get(id(value))
            if mark == "":
                return None
            parts.append(f"{name}: {_mark(value) if mark is None else mark}")
    except Unstorable:
        return None
    return new_hash("\0".join(parts).encode()).hexdigest()[:32]


def mark_of_replaced(value: Any, call: str) -> str:
    """What another process knows a helper by: what it stands for, and the text of the call in which it does, with the
    axes and subscripts that the helper is made for; "" where there is nothing that it can compare."""
    try:
        named = f"{value.text}{value.results}" if isinstance(value, Nest) else value
        replaced = named if isinstance(named, str) else _mark(value)
    except Unstorable:
        return ""
    return f"for {replaced} in {call}"


def mark_of_called(
    node: ast.FunctionDef, known: Mapping[str, Any], marks: Marks, defaults: Any, options: Mapping[str, Any]
) -> str:
    """What another process knows a function by that compiled code calls; "" where there is nothing."""
    digest = digest_of(node, known, marks, options)
    try:
        return f"called {digest} {fingerprint(defaults)}" if digest is not None else ""
    except Unstorable:
        return ""


def _mark(value: Any) -> str:
    """What another process can compare. Raises Unstorable for what was made by a function, or compiled by the user."""
    is_made = isinstance(value, types.FunctionType) and value.__closure__
    if is_made or isinstance(value, numba.core.dispatcher.Dispatcher):
        raise Unstorable(f"{value!r}")
    if isinstance(value, types.MethodDescriptorType):
        return f"method {value.__objclass__.__module__}.{value.__qualname__}"
    path = import_path(value)
    return path if path is not None and path.partition(":")[0].partition(".")[0] in _KNOWN else fingerprint(value)


def keep(dispatcher: Any, digest: str | None, function: types.FunctionType, name: str) -> Kept | None:
    """Let a function that Numba is to compile look on disk first; ``function`` is the primal, whose folders are taken,
    ``name`` that of the generated function. None where nothing is kept."""
    places = disk.folders_of(function) if digest is not None else []
    if not places or not _have_own_names():
        return None
    stem = os.path.splitext(os.path.basename(function.__code__.co_filename))[0]
    readable = "".join(c if c.isalnum() or c in "._" else "_" for c in f"{stem}.{name}")
    dispatcher._cache = kept = Kept(places, readable[:120], f"{digest} {_machine(dispatcher.targetctx.codegen())}")
    return kept


def _machine(codegen: Any) -> str:
    """What machine code is good for, but for the function."""
    settings = sorted(item for item in os.environ.items() if item[0].startswith("NUMBA_"))
    settings = [item for item in settings if not item[0].startswith("NUMBA_CACHE")]
    versions = (disk.versions(), numba.__version__, llvmlite.__version__)
    return repr((versions, codegen.magic_tuple(), settings))


_counted: list[Any] = []


def _have_own_names() -> bool:
    """See to it that what this process compiles has names that no other process gives: LLVM takes functions of one name
    for the same function, and Numba tells functions of one qualified name apart by a number that begins at one."""
    identity: Any = getattr(bytecode, "FunctionIdentity", None)
    if not isinstance(getattr(identity, "_unique_ids", None), itertools.count):
        return False
    if identity._unique_ids not in _counted:
        _counted[:] = [itertools.count(int.from_bytes(os.urandom(7), "big") + 1_000_000)]
        identity._unique_ids = _counted[0]
    return True


class Kept:
    """A cache of the machine code of one function, as Numba's dispatchers ask for one. What is compiled is written by
    ``write`` only, when it is known to be right."""

    cache_path = None

    def __init__(self, places: list[str], stem: str, key: str) -> None:
        self._places = places
        self._stem = stem
        self._key = key
        self._made: list[tuple[Any, Any]] = []

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """What was compiled for a signature; None where nothing is there, or something else."""
        for body in self._found(_CODE, signature):
            try:
                target_context.refresh()
                return numba.core.compiler.CompileResult._rebuild(target_context, *pickle.loads(body))
            except Exception:  # a module that is gone: compiled anew
                continue
        return None

    def refusal(self, signature: Any) -> tuple[str, int] | None:
        """Why Numba has refused a signature, and at which line; None where it is not known to."""
        for body in self._found(_REFUSAL, signature):
            reason, _, line = body.decode().rpartition(" ")
            return reason, int(line)
        return None

    def refuse(self, signature: Any, reason: str, line: int) -> None:
        """Keep why Numba has refused a signature."""
        self._put(_REFUSAL, signature, f"{reason} {line}".encode())

    def _found(self, head: bytes, signature: Any) -> Iterator[bytes]:
        """What is kept for a signature, in each folder."""
        name, key = self._file(signature)
        head += key
        for place in self._places:
            content = folders.read(place, name)
            if content is not None and content.startswith(head):
                body = content[len(head) + 64 :]
                if content[len(head) : len(head) + 64] == _sum(body):
                    yield body

    def _put(self, head: bytes, signature: Any, body: bytes) -> bool:
        name, key = self._file(signature)
        content = head + key + _sum(body) + body
        return any(folders.make(place) and folders.write(os.path.join(place, name), content) for place in self._places)

    def save_overload(self, signature: Any, result: Any) -> None:
        """Note what was compiled."""
        self._made.append((signature, result))

    def write(self) -> bool:
        """Keep what was compiled since the last time. Whether another process will find all of it."""
        made, self._made = self._made, []
        written = []
        for signature, result in made:
            if result.lifted or result.library.has_dynamic_globals:  # it holds addresses
                continue
            try:
                body = serialize.dumps(result._reduce())
            except Exception:  # something in it cannot be written
                continue
            written.append(self._put(_CODE, signature, body))
        return len(written) == len(made) and all(written)

    def _file(self, signature: Any) -> tuple[str, bytes]:
        """The file for a signature, and the key in it."""
        key = new_hash(f"{self._key} {signature}".encode(), digest_size=32).hexdigest()
        return f"{self._stem}.{key[:12]}.nbc", key.encode()

    def enable(self) -> None:
        """Numba asks for it."""

    def disable(self) -> None:
        """Numba asks for it."""

    def flush(self) -> None:
        """Numba asks for it."""


def _sum(body: bytes) -> bytes:
    return new_hash(body, digest_size=32).hexdigest().encode()
