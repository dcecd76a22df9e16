"""Generated code in ``linecache``: so that tracebacks, ``pdb`` and ``inspect.getsource`` show it."""

from __future__ import annotations

import collections
import itertools
import linecache
import sys
import types
import weakref
from _thread import RLock  # threading is not imported by NumPy
from collections.abc import Mapping
from typing import Any

from s2s.core.hashes import new_hash
from s2s.core.lines import lines_of, one_line

__all__ = ["cell_of", "define", "file_to_show", "place_of", "register", "shows_another", "source_of"]


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


def register(
    file: str, text: str, code: types.CodeType, places: Mapping[str, tuple[tuple[int, int], ...]] | None = None
) -> None:
    """Let ``linecache`` show ``text`` for ``file`` as long as a code object lives that was compiled from it; without
    a time stamp, so that it is never thrown out as stale. What nothing lives of is taken out here, and not where it is
    collected: that may be in the middle of a loop of ``linecache`` over its files. ``places`` says where its lines come
    from, as in ``Compiled``."""
    with _lock:
        while _unused:
            unused = _unused.popleft()
            if unused not in _shown:
                linecache.cache.pop(unused, None)
        shown = _shown.get(file)
        if shown is None:
            shown = _shown[file] = Shown({} if places is None else places)
            weakref.finalize(shown, _unused.append, file).atexit = False
        weakref.finalize(code, id, shown).atexit = False  # whatever is called: it holds ``shown`` until then
        linecache.cache[file] = (len(text), None, lines_of(text, keepends=True), file)


def shows_another(file: str, text: str) -> bool:
    """Whether code lives that was compiled from another text of a file: two lambdas in one line are stored in one."""
    lines = lines_of(text, keepends=True)
    return file in _shown and linecache.cache.get(file, (0, None, lines))[2] != lines  # type: ignore[misc]


def source_of(file: str) -> Shown | None:
    """What is known of the lines of a file of generated code; None where it is none, or none that lives."""
    return _shown.get(file)


def place_of(places: Mapping[str, tuple[tuple[int, int], ...]], number: int) -> tuple[str, int] | None:
    """The file and the line that a line of generated code comes from, of those that ``Compiled`` has."""
    return next(((file, line) for file, pairs in places.items() for own, line in pairs if own == number), None)


def cell_of(path: str) -> str:
    """What IPython calls a cell whose code has this file name, ``Cell In[3]``; nothing for any other file."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    named = getattr(getattr(shell, "compile", None), "format_code_name", lambda path: None)(path)
    return " ".join(named) if isinstance(named, tuple) else ""


def file_to_show(path: str) -> str:
    """The name of a file, without its folder; of a cell of a notebook, whose file is a number, ``cell``."""
    return "cell" if cell_of(path) else one_line(path.rsplit("/", 1)[-1])


class Shown:
    """Lives as long as any code object of a text."""

    def __init__(self, places: Mapping[str, tuple[tuple[int, int], ...]]) -> None:
        self._places = places
        self._by_line: dict[int, list[tuple[str, int]]] | None = None

    def places_of(self, number: int) -> list[tuple[str, int]]:
        """The user's lines that a line comes from: file and number."""
        if self._by_line is None:
            made: dict[int, list[tuple[str, int]]] = {}
            for file, pairs in self._places.items():
                for own, line in pairs:
                    made.setdefault(own, []).append((file, line))
            self._by_line = made
        return self._by_line.get(number, [])

    def comes_from(self, number: int) -> str:
        """The user's line that a line comes from, as text; empty where that is not known."""
        place = self.place_of(number)
        if place is None or place[0].startswith("<s2s "):  # the one line around a function without source
            return ""
        text = linecache.getline(*place).strip()
        cell = cell_of(place[0])
        where = f"  {cell}, line" if cell else f'  File "{place[0]}", line'
        return f"which comes from\n{where} {place[1]}" + (f"\n    {text}" if text else "")

    def place_of(self, number: int) -> tuple[str, int] | None:
        """The file and the line that a line comes from; None where that is not known."""
        return place_of(self._places, number)


_shown: weakref.WeakValueDictionary[str, Shown] = weakref.WeakValueDictionary()
_unused: collections.deque[str] = collections.deque()
_lock = RLock()
