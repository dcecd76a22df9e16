"""Room on the stack: work that may recurse deeply goes in, its result comes out.

A program may be as deep as its writer likes: five thousand terms, a function that calls itself a thousand times. Its
compiler, and the code of its derivative, recurse more deeply than it does, so what runs short of stack goes on in a
thread of its own with a large one. The thread that asked for it waits, and lends it the section of the compiler.
"""

from __future__ import annotations

import contextvars
import sys
from _thread import _local, allocate_lock, get_ident
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from s2s.core.critical import section

if TYPE_CHECKING:
    import threading

__all__ = ["continued", "deeper", "is_continued", "is_short"]

_Result = TypeVar("_Result")

_SIZES = tuple(mebibytes << 20 for mebibytes in (512, 256, 128, 64, 32, 16))
"""Stacks to ask for, the largest first: a system may grant less. What is not used takes no memory."""

_BYTES_PER_FRAME = 4096
"""What one frame of Python takes of the stack at most, where C code stands between two frames."""

_ROOM = 600
"""So many frames a small compilation takes."""

_HIGH = 20_000
"""A limit of recursion from which on it says nothing of the stack that there is."""

_STEP = 16
"""After so many levels of a recursion of the program it is asked how much of the stack is left."""

_LEVELS = 1024
"""So many levels of a recursion of the program lie on one stack where the limit of recursion says nothing."""

_continued: set[int] = set()
"""The threads that go on with the work of others."""

_starting = allocate_lock()
"""Around the start of a thread: the size of stacks is one setting for all that are started."""


class _Recursion(_local):
    """How many calls that are decided when the program runs lie in each other, in the running thread."""

    levels = 0


_recursion = _Recursion()


def is_short(unknown: bool = True) -> bool:
    """Whether little is left of the stack; ``unknown`` where that cannot be told: a program that has set a high limit
    of recursion may overflow it."""
    limit = sys.getrecursionlimit()
    if limit > _HIGH:
        return unknown
    try:
        sys._getframe(max(0, min(limit - _ROOM, limit // 2)))  # calls from C count as well, and have no frames
    except ValueError:
        return False
    return True


def is_continued() -> bool:
    """Whether the running thread goes on with the work of another."""
    return get_ident() in _continued


def deeper(work: Callable[..., _Result], *args: Any) -> _Result:
    """``work(*args)``, which stands for one level of a recursion of the program: as deep as the program itself can go,
    on another stack where that is more than this one holds."""
    levels = _recursion.levels = _recursion.levels + 1
    try:
        if levels % _STEP or not is_short(unknown=levels % _LEVELS == 0):
            return work(*args)
        if levels > sys.getrecursionlimit():
            raise RecursionError("maximum recursion depth exceeded")

        def level() -> _Result:
            _recursion.levels = levels
            return work(*args)

        return continued(level)
    finally:
        _recursion.levels = levels - 1


def continued(work: Callable[[], _Result], limit: int | None = None) -> _Result:
    """What ``work`` gives, or raises, on a large stack of its own: in another thread, with this one's context variables
    and NumPy's error state. ``limit`` frames may lie on it (those of ``sys.getrecursionlimit``, where it is None).

    An interrupt of the thread that waits interrupts the work.
    """
    run = contextvars.copy_context().run
    errors, outcome = np.geterr(), _Outcome()
    is_held, before = section.lock.is_held(), sys.getrecursionlimit()
    wanted = max(before, limit or 0) * _BYTES_PER_FRAME

    def body(size: int) -> None:
        me = get_ident()
        _continued.add(me)
        if is_held:
            section.lock.lend(me)
        sys.setrecursionlimit(before if limit is None else max(before, min(limit, size // _BYTES_PER_FRAME)))
        try:
            with np.errstate(**errors):
                outcome.value = run(work)
        except BaseException as problem:  # raised where the result is waited for
            outcome.problem = problem
        finally:
            section.lock.take_back(me)
            _continued.discard(me)

    try:
        interrupt = _wait(_start(body, wanted))
    finally:
        sys.setrecursionlimit(before)
    problem = outcome.problem or interrupt
    if problem is not None:
        raise problem
    return outcome.value  # type: ignore[no-any-return]


class _Outcome:
    value: Any = None
    problem: BaseException | None = None


def _start(body: Callable[[int], None], wanted: int) -> threading.Thread:
    """The thread that runs ``body``, which is told the size of its stack: that wanted, or what the system grants."""
    import threading

    with _starting:
        before = threading.stack_size()
        try:
            for size in [size for size in _SIZES if size < 2 * wanted] or _SIZES[-1:]:
                thread = threading.Thread(target=body, args=(size,), name="s2s", daemon=True)
                try:
                    threading.stack_size(size)
                    thread.start()
                except (ValueError, RuntimeError):  # the system does not grant so much
                    continue
                return thread
        finally:
            threading.stack_size(before)
    raise RecursionError("maximum recursion depth exceeded, and the system grants no larger stack")


def _wait(thread: threading.Thread) -> BaseException | None:
    """Wait for a thread to come to its end; what has interrupted the wait, and then the thread."""
    interrupt = None
    while True:
        try:
            thread.join()
            return interrupt
        except BaseException as problem:
            interrupt = problem
            _interrupt(thread, type(problem))


def _interrupt(thread: threading.Thread, kind: type[BaseException]) -> None:
    import ctypes

    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(kind))
