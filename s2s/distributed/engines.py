"""What runs the tasks of the parts: a cluster of Dask, or this process.

Dask decides where a task runs, sends what it needs, and runs it again where its worker has died. What is here waits for
the result, and stops waiting where none can come.
"""

from __future__ import annotations

import collections
import functools
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from typing import Any

from s2s.core.package import install
from s2s.directives.differentiable import option_error
from s2s.distributed.partials import Task, combine, tree
from s2s.distributed.parts import is_lazy
from s2s.errors import error

__all__ = ["OnCluster", "OnlyHere", "engine_for"]

PATIENCE = 30.0
"""So many seconds without a worker, or without a scheduler, are waited for one."""

POLL = 0.5

ATTEMPTS = 3
"""So many times a call is made where workers die that alone have what was sent to them."""


def engine_for(client: Any, timeout: float | None) -> OnCluster | OnlyHere:
    """The engine for a client of Dask; for None that of the client that is there in this process, or this process.
    Raises ArgumentError for a client that is closed, and for anything else."""
    if client is None:
        current = getattr(sys.modules.get("distributed"), "default_client", None)
        try:
            client = None if current is None else current()
        except ValueError:
            client = None
        if client is None:
            return OnlyHere()
    if not all(hasattr(client, name) for name in ("scatter", "compute", "scheduler_info", "status")):
        raise option_error(f"`client` is a {type(client).__name__}", "give a `dask.distributed.Client`, or None")
    if getattr(client, "asynchronous", False):
        raise option_error("`client` is asynchronous", "give one that is not: `Client(...)`")
    if client.status != "running":
        raise error("S2S706", problem=f"it is {client.status}")
    return OnCluster(client, timeout)


class OnlyHere:
    """This process, one part after the other: one part and a few sums are in memory at a time."""

    def first(self, ask: Callable[..., Any], parts: list[tuple[Any, ...]]) -> Any:
        """What ``ask`` says of the first part of which it says something."""
        return next((found for part in parts if (found := ask(*_here(part)))), None)

    def sum(self, task: Task, run: Callable[..., Any], parts: list[tuple[Any, ...]]) -> Any:
        """The root of the tree."""
        return tree((run(task, k, *_here(part)) for k, part in enumerate(parts)), combine)

    def each(
        self, task: Callable[[], Task], run: Callable[..., Any], parts: list[tuple[Any, ...]]
    ) -> Iterator[Any]:
        """What each part gives, in order; ``task`` is asked anew for each."""
        return (run(task(), k, *_here(part)) for k, part in enumerate(parts))


def _here(part: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([block.compute(scheduler="synchronous") if _is_task(block) else block for block in part])


def _is_task(block: Any) -> bool:
    if is_lazy(block) and not hasattr(block, "compute"):
        raise error("S2S706", problem="there is none, and a part is a future of one")
    return is_lazy(block)


class OnCluster:
    """The workers of a client."""

    def __init__(self, client: Any, timeout: float | None) -> None:
        self.client, self.timeout = client, timeout
        self._start()

    def _start(self) -> None:
        """Let the time begin that the next result may take."""
        self.until = None if self.timeout is None else time.monotonic() + self.timeout

    def first(self, ask: Callable[..., Any], parts: list[tuple[Any, ...]]) -> Any:
        """What ``ask`` says of the first part of which it says something."""
        with self.client.as_current():
            for part in parts:
                found = self._result(self._delayed(ask, "sample")(*self._sent(part)))
                if found:
                    return found
        return None

    def sum(self, task: Task, run: Callable[..., Any], parts: list[tuple[Any, ...]]) -> Any:
        """The root of the tree, of which the nodes are on the workers. Where what was sent there has died with a worker
        it is sent again."""
        with self.client.as_current():
            for left in reversed(range(ATTEMPTS)):
                try:
                    return self._result(tree(self._tasks(task, run, parts), self._delayed(combine, "sum")))
                except CancelledError:
                    if not left:
                        raise
        raise AssertionError

    def each(
        self, task: Callable[[], Task], run: Callable[..., Any], parts: list[tuple[Any, ...]]
    ) -> Iterator[Any]:
        """What each part gives, in order. Two for each thread of the workers are on their way at a time: of the others
        neither the scheduler nor a worker knows, and what nobody asks for is not computed. ``task`` is asked anew for
        each. Where what was sent has died with a worker it is sent again."""
        waiting: collections.deque[Any] = collections.deque()
        sent, common, coming = None, None, iter(enumerate(parts))

        def submit(k: int) -> Any:
            nonlocal sent, common
            self._check()
            if sent is not task():
                sent = task()
                common = self._broadcast(sent)
            node = self._delayed(run, run.__name__)(common, k, *self._sent(parts[k]))
            return self.client.compute(node, optimize_graph=False)

        def result(k: int, future: Any) -> Any:
            nonlocal sent
            self._start()  # the time between two results is that of who asks for them
            for _ in range(ATTEMPTS - 1):
                try:
                    return self._wait(future)
                except CancelledError:
                    sent = None
                    with self.client.as_current():
                        future = submit(k)
            return self._wait(future)

        try:
            while True:
                with self.client.as_current():
                    for k, _ in itertools.islice(coming, max(0, 2 * self._count_of_threads() - len(waiting))):
                        waiting.append((k, submit(k)))
                if not waiting:
                    return
                yield result(*waiting.popleft())
        finally:
            for _, future in waiting:
                future.release()

    def _tasks(self, task: Task, run: Callable[..., Any], parts: list[tuple[Any, ...]]) -> Iterator[Any]:
        common, node = self._broadcast(task), self._delayed(run, run.__name__)
        for k, part in enumerate(parts):
            yield node(common, k, *self._sent(part))

    def _delayed(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        try:
            import dask
        except ImportError as missing:
            raise error("S2S707", problem=missing, hint=f"install it: `{install('dask')}`") from None
        made = dask.delayed(function, pure=False, traverse=False)
        return lambda *args: made(*args, dask_key_name=f"s2s-{name}-{_number()}")

    def _sent(self, part: tuple[Any, ...]) -> list[Any]:
        """The blocks of a part, those that are arrays here sent to a worker."""
        arrays = [k for k, block in enumerate(part) if hasattr(block, "__array__") and not is_lazy(block)]
        found = list(part)
        for k in arrays:
            found[k] = self._asked(functools.partial(
                self.client.scatter, part[k], hash=False, timeout=self._patience))
        return found

    def _broadcast(self, task: Task) -> Any:
        """What all tasks have in common, on each worker."""
        self._check()
        return self._asked(
            lambda: self.client.scatter([task], broadcast=True, hash=False, timeout=self._patience)[0])

    @property
    def _patience(self) -> float:
        left = PATIENCE if self.until is None else self.until - time.monotonic()
        return max(0.1, min(PATIENCE, left))

    def _asked(self, ask: Callable[[], Any]) -> Any:
        """What the scheduler answers. Raises ArgumentError where it does not."""
        for left in reversed(range(ATTEMPTS)):
            try:
                return ask()
            except (TimeoutError, OSError, KeyError, ValueError) as problem:
                # KeyError, ValueError: the scheduler counts on a worker that has gone meanwhile
                if not left or not isinstance(problem, (KeyError, ValueError)):
                    said = str(problem) or type(problem).__name__
                    raise error("S2S706", problem=f"no worker has answered: {said}") from None
        raise AssertionError

    def _result(self, node: Any) -> Any:
        self._check()
        return self._wait(self.client.compute(node, optimize_graph=False))

    def _wait(self, future: Any) -> Any:
        """The result of a future. Raises what its task has raised, and ArgumentError where it does not come."""
        from distributed import wait

        missing = None
        while True:
            try:
                with self.client.as_current():
                    wait(future, timeout=POLL)
            except TimeoutError:
                pass
            except Exception as problem:  # cancelled, as the scheduler has gone
                if self.client.status == "running":
                    raise
                raise error("S2S706", problem=f"it is {self.client.status}: {problem}") from None
            if future.done():
                return future.result(timeout=self._patience)
            now = time.monotonic()
            if self.until is not None and now > self.until:
                future.cancel()
                raise error("S2S708", timeout=self.timeout)
            if self.client.status == "closed":
                raise error("S2S706", problem="it was closed while the result was waited for")
            if self.client.status == "running" and self._count_of_workers():
                missing = None
            elif missing is None:
                missing = now
            elif now - missing > PATIENCE:
                raise error("S2S706", problem=f"it has had no workers for {PATIENCE:.0f} seconds")

    def _check(self) -> None:
        if self.client.status != "running":
            raise error("S2S706", problem=f"it is {self.client.status}")

    def _count_of_workers(self) -> int:
        return len(self._workers())

    def _count_of_threads(self) -> int:
        """At least 1, where there is no worker for a while."""
        return max(1, sum(worker.get("nthreads", 1) for worker in self._workers().values()))

    def _workers(self) -> dict[str, Any]:
        found: dict[str, Any] = self.client.scheduler_info(n_workers=-1)["workers"]
        return found


_last = 0


def _number() -> str:
    """What tells the tasks of this process from each other, and from those of others."""
    global _last
    _last += 1
    return f"{_token}-{_last}"


def _new_token() -> str:
    import uuid

    return uuid.uuid4().hex[:12]


_token = _new_token()
