"""Generated code in ``linecache``: so that tracebacks, ``pdb`` and ``inspect.getsource`` show it."""

from __future__ import annotations

import collections
import itertools
import linecache
import types
import weakref
from _thread import RLock  # threading is not imported by NumPy
from typing import Any

from s2s.core.hashes import new_hash

__all__ = ["define", "register", "shows_another"]


def define(name: str, text: str, scope: dict[str, Any]) -> types.FunctionType:
    """The function ``name`` of a text that is run in ``scope``. Its made-up file is its own; where the text
    names nothing but modules, that of all such functions, so that what is compiled for them is found again."""
    is_whole = all(isinstance(value, types.ModuleType) for key, value in scope.items() if key != "__name__")
    own = new_hash(text.encode()).hexdigest()[:16] if is_whole else next(_numbers)
    file = f"<s2s {name} {own}>"
    exec(compile(text, file, "exec", dont_inherit=True), scope)
    function: types.FunctionType = scope[name]
    register(file, text, function.__code__)
    return function


_numbers = itertools.count()


def register(file: str, text: str, code: types.CodeType) -> None:
    """Let ``linecache`` show ``text`` for ``file`` as long as a code object lives that was compiled from it; without
    a time stamp, so that it is never thrown out as stale. What nothing lives of is taken out here, and not where it is
    collected: that may be in the middle of a loop of ``linecache`` over its files."""
    with _lock:
        while _unused:
            unused = _unused.popleft()
            if unused not in _shown:
                linecache.cache.pop(unused, None)
        shown = _shown.get(file)
        if shown is None:
            shown = _shown[file] = _Shown()
            weakref.finalize(shown, _unused.append, file).atexit = False
        weakref.finalize(code, id, shown).atexit = False  # whatever is called: it holds ``shown`` until then
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def shows_another(file: str, text: str) -> bool:
    """Whether code lives that was compiled from another text of a file: two lambdas in one line are stored in one."""
    return file in _shown and "".join(linecache.cache.get(file, (0, None, [text]))[2]) != text  # type: ignore[misc]


class _Shown:
    """Lives as long as any code object of a text."""


_shown: weakref.WeakValueDictionary[str, _Shown] = weakref.WeakValueDictionary()
_unused: collections.deque[str] = collections.deque()
_lock = RLock()
