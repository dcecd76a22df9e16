"""A session of pytest collects the tests once and runs some of them, each time in a forked process with one mutant.

A mutant inside a function takes effect in a process where s2s is imported already: the functions get the code that the
changed module would have given them, and ``linecache`` the changed text.

Tests are limited in the time of the processor that they take, so that verdicts are the same on a busy machine. ``WALL``
ends what waits for something that never comes.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import gc
import importlib
import json
import linecache
import os
import pkgutil
import resource
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import chain
from types import CodeType, FunctionType
from typing import Any

import pytest

from tests.mutation.operators import Mutant
from tests.mutation.record import LIMIT, Record, Watch, mask_of

MEMORY = 8 << 30
WALL = 600.0
"""Seconds without a word of a process, which no test is near on any machine."""

OPTIONAL = ("s2s.cli", "s2s.__main__", "s2s.distributed", "s2s.notebook")


def import_all() -> None:
    """Import the modules of s2s that run without a choice of the user's."""
    import s2s

    for module in pkgutil.walk_packages(s2s.__path__, "s2s."):
        if not module.name.startswith(OPTIONAL):
            try:
                importlib.import_module(module.name)
            except ImportError as error:
                print(f"{module.name} is not watched: {error}")
    importlib.import_module("libcst")
    importlib.import_module("s2s.rules.table").extend()


def live_functions(folder: str) -> dict[tuple[str, CodeType], list[FunctionType]]:
    """The functions of s2s in this process, by their file and code."""
    found: dict[tuple[str, CodeType], list[FunctionType]] = {}
    for item in gc.get_objects():
        if type(item) is FunctionType and item.__code__.co_filename.startswith(folder):
            found.setdefault((item.__code__.co_filename, item.__code__), []).append(item)
    return found


def changed_codes(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The outermost code objects that differ between two forms of a module, which nest in the same way."""
    before = [item for item in old.co_consts if isinstance(item, CodeType)]
    after = [item for item in new.co_consts if isinstance(item, CodeType)]
    for a, b in zip(before, after):
        if a != b:
            yield a, b
            yield from changed_codes(a, b)


def compiled(text: bytes, path: str) -> CodeType:
    return compile(text, path, "exec", dont_inherit=True)


@functools.cache
def as_it_is(path: str) -> tuple[bytes, CodeType]:
    """A module's text and code."""
    with open(path, "rb") as stream:
        text = stream.read()
    return text, compiled(text, path)


def apply(mutant: Mutant, root: str, live: dict[tuple[str, CodeType], list[FunctionType]]) -> int:
    """Give the functions of this process the code of a mutant. Returns how many there are."""
    path, count = os.path.join(root, mutant.file), 0
    text, code = as_it_is(path)
    changed = mutant.applied(text)
    for old, new in changed_codes(code, compiled(changed, path)):
        for fn in live.get((path, old), []):
            fn.__code__ = new
            count += 1
    lines = changed.decode().splitlines(keepends=True)
    linecache.cache[path] = (len(changed), None, lines, path)
    return count


def run_item(item: pytest.Item) -> str:
    """How a test ended: an empty string where it passed, else what failed."""
    from _pytest.runner import runtestprotocol

    for report in runtestprotocol(item, log=False, nextitem=None):
        if report.failed:
            return str(report.longrepr).strip().splitlines()[-1][:200] if report.longrepr else report.when or "failed"
        if report.skipped:
            return "skipped"
    return ""


class Child:
    """A forked process that does some work and tells about it in lines of JSON."""

    def __init__(self, work: Callable[[Callable[[Any], None]], None], job: Any, limit: float) -> None:
        self.job, self.until, self.said = job, time.monotonic() + WALL, b""
        self.seconds = 0.0
        read, write = os.pipe()
        sys.stdout.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads of libraries: they are not used here
            self.pid = os.fork()
        if self.pid == 0:
            os.close(read)
            os.setsid()  # what it starts ends with it
            faulthandler.disable()
            try:
                nothing = os.open(os.devnull, os.O_RDWR)
                for stream in (0, 1, 2):
                    os.dup2(nothing, stream)
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
                resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 5))  # of each process
                signal.signal(signal.SIGPROF, signal.SIG_DFL)
                work(lambda told: write_all(write, json.dumps(told).encode() + b"\n") and None)
            except BaseException as error:
                write_all(write, json.dumps({"error": repr(error)[:300]}).encode() + b"\n")
            finally:
                os._exit(0)
        os.close(write)
        self.pipe = read

    def read(self) -> bool:
        """Take in what has come; False where nothing more will."""
        got = os.read(self.pipe, 1 << 20)
        self.said += got
        self.until = time.monotonic() + WALL
        return bool(got)

    def end(self, kill: bool = False) -> str:
        """Wait for the process, and end those that it left. Returns the signal that ended it, if one did."""
        if kill:
            os.kill(self.pid, signal.SIGKILL)
        os.close(self.pipe)
        _, status, usage = os.wait4(self.pid, 0)
        self.seconds = usage.ru_utime + usage.ru_stime
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else ""

    @property
    def is_over(self) -> bool:
        """Whether the process has ended, though what it left may hold the pipe still."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def told(self) -> list[Any]:
        return [json.loads(line) for line in self.said.splitlines()]


def write_all(pipe: int, content: bytes) -> int:
    while content:
        content = content[os.write(pipe, content) :]
    return 0


def run_all(children: Iterator[Child], jobs: int) -> Iterator[tuple[Child, str]]:
    """Run children side by side; each comes out with how it ended: an empty string, a signal, ``nothing happens``."""
    running: dict[int, Child] = {}
    while True:
        while len(running) < jobs:
            child = next(children, None)
            if child is None:
                break
            running[child.pipe] = child
        if not running:
            return
        for pipe in select.select(list(running), [], [], 0.5)[0]:
            if not running[pipe].read():
                child = running.pop(pipe)
                yield child, child.end()
        for pipe, child in list(running.items()):
            if select.select([pipe], [], [], 0)[0]:
                continue
            if child.is_over:
                del running[pipe]
                yield child, child.end()
            elif time.monotonic() > child.until:
                del running[pipe]
                child.end(kill=True)
                yield child, "nothing happens"


def spent() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


class Session:
    """The plugin of pytest: ``body`` is what runs in place of the tests."""

    def __init__(self, body: Callable[[Session], None]) -> None:
        self.body = body
        self.items: dict[str, pytest.Item] = {}
        self.live: dict[tuple[str, CodeType], list[FunctionType]] = {}
        self.imported: dict[str, int] = {}
        self.root = os.getcwd()
        self.folder = os.path.join(self.root, "s2s") + os.sep
        self.watch = Watch(self.folder)
        self.watch.start()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise SystemExit("the tests cannot be collected")
        self.items = {item.nodeid: item for item in session.items}
        import_all()
        self.imported = {file: mask_of(found) for file, found in self.watch.stop().items()}
        gc.unfreeze()  # the collector does not tell of objects that are frozen
        self.live = live_functions(self.folder)
        capture = session.config.pluginmanager.getplugin("capturemanager")
        gc.collect()
        gc.freeze()
        with capture.global_and_fixture_disabled():
            self.body(self)
        return True

    def watched(self) -> Watch:
        """A watch of the functions of s2s, for the children to come; it is to be ended after them."""
        watch = Watch(self.folder)
        codes = chain.from_iterable((code, *(fn.__code__ for fn in fns)) for (_, code), fns in self.live.items())
        watch.ahead(codes)
        return watch

    # --- what children do ----------------------------------------------------------------------------------------

    def recording(self, tests: list[str], watch: Watch) -> Child:
        """Runs tests one after another and tells the lines of each. What the process has lowered for one of them it
        does not lower again."""

        def work(tell: Callable[[Any], None]) -> None:
            for test in tests:
                before = spent()
                signal.setitimer(signal.ITIMER_PROF, LIMIT)
                watch.start()
                failed = run_item(self.items[test])
                masks = {file: hex(mask_of(found)) for file, found in watch.stop().items()}
                signal.setitimer(signal.ITIMER_PROF, 0.0)
                tell({"failed": failed, "seconds": spent() - before, "lines": masks})

        return Child(work, tests, LIMIT * len(tests))

    def testing(self, mutant: Mutant | None, tests: list[str], record: Record, seconds: float) -> Child:
        """Runs tests on a mutant until one fails or its processor time is used up; each has many times what it took.
        Without a mutant the tests run on s2s as it is."""

        def work(tell: Callable[[Any], None]) -> None:
            sys.dont_write_bytecode = True  # what a mutant compiles is not kept
            if mutant is not None and apply(mutant, self.root, self.live) == 0:
                return tell({"error": "no function has this code"})
            for test in tests:
                if spent() > seconds:
                    return None
                tell({"test": test})
                signal.setitimer(signal.ITIMER_PROF, 10.0 + 10.0 * record.seconds.get(test, 1.0))
                failed = run_item(self.items[test])
                signal.setitimer(signal.ITIMER_PROF, 0.0)
                if failed and failed != "skipped":
                    return tell({"failed": failed})
            return None

        if mutant is not None:
            as_it_is(os.path.join(self.root, mutant.file))
        return Child(work, mutant, seconds + 10.0 + 10.0 * LIMIT)

    def can_change(self, mutant: Mutant) -> bool:
        """Whether functions of this process have the code that a mutant changes."""
        path = os.path.join(self.root, mutant.file)
        text, code = as_it_is(path)
        return any((path, old) in self.live for old, _ in changed_codes(code, compiled(mutant.applied(text), path)))
