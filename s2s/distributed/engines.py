"""What runs the tasks of the parts: a cluster of Dask, or this process.

Dask decides where a task runs, sends what it needs, and runs it again where its worker has died. What is here waits for
the result, and stops waiting where none can come.
"""

from __future__ import annotations

import collections
import contextvars
import functools
import itertools
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from s2s.core.inspection import with_article
from s2s.core.package import install
from s2s.directives.differentiable import option_error
from s2s.distributed.partials import Task, combine, tree
from s2s.distributed.parts import is_lazy
from s2s.errors import error

__all__ = ["OnCluster", "OnlyHere", "engine_for"]

PATIENCE = 30.0
"""So many seconds without a worker, or without a scheduler, are waited for one."""

ANSWER = 5.0
"""So many seconds a scheduler has to tell which workers there are."""

POLL = 0.5

ATTEMPTS = 8
"""So many times a task is made where workers die that alone have what was sent to them."""

COPYING = 10.0
"""So many seconds are waited for copies of what all tasks share on all workers. What has none then fetches it."""


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
        got = with_article(type(client).__name__)
        raise option_error(f"`client` is {got}", "give a `dask.distributed.Client`, or None")
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
        asked = self._delayed(ask, "sample")

        def node(part: tuple[Any, ...]) -> Any:
            return asked(*self._sent(part))

        for part in parts:
            found = self._again(functools.partial(node, part), [part])
            if found:
                return found
        return None

    def sum(self, task: Task, run: Callable[..., Any], parts: list[tuple[Any, ...]]) -> Any:
        """The root of the tree, of which the nodes are on the workers."""
        return self._again(lambda: tree(self._tasks(task, run, parts), self._delayed(combine, "sum")), parts)

    def _again(self, make: Callable[[], Any], parts: list[tuple[Any, ...]]) -> Any:
        """The result of a task. Where what was sent for it has died with a worker the task is made, and all of it
        sent, again."""
        with self.client.as_current():
            for left in reversed(range(ATTEMPTS)):
                try:
                    return self._result(make())
                except CancelledError as problem:
                    _check_given(parts, problem, left)
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
                except CancelledError as problem:
                    _check_given(parts[k : k + 1], problem, ATTEMPTS)
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
        if any(future.client is not self.client for future in _futures([part])):
            raise error("S2S706", problem="a part is a future of another client", hint="pass that one: `client=`")
        arrays = [k for k, block in enumerate(part) if hasattr(block, "__array__") and not is_lazy(block)]
        found = list(part)
        for k in arrays:
            found[k] = self._asked(functools.partial(
                self.client.scatter, part[k], hash=False, timeout=self._patience))
        return found

    def _broadcast(self, task: Task) -> Any:
        """What all tasks have in common, on each worker. A scheduler goes on for ever where it is to copy to a worker
        that has gone: the copies are waited for while all that were there are there, and for no more than a while.
        Raises ArgumentError where what is to be sent does not pickle."""
        self._check()
        try:
            sent = self._asked(lambda: self.client.scatter([task], hash=False, timeout=self._patience)[0])
        except (TypeError, AttributeError, pickle.PicklingError) as problem:
            name = task.kernels[0].entry
            raise error("S2S710", name=name, reason=f"an argument does not pickle: {problem}") from None
        present, done = set(self._workers()), _Answer(lambda: self.client.replicate([sent]))
        until = time.monotonic() + min(COPYING, self._patience)
        while not done.wait(POLL) and time.monotonic() < until and present <= set(self._workers()):
            pass
        return sent

    @property
    def _patience(self) -> float:
        left = PATIENCE if self.until is None else self.until - time.monotonic()
        return max(0.1, min(PATIENCE, left))

    def _asked(self, ask: Callable[[], Any]) -> Any:
        """What the scheduler answers. Raises ArgumentError where it does not."""
        for left in reversed(range(ATTEMPTS)):
            try:
                return self._bounded(ask)
            except (TimeoutError, OSError, KeyError, ValueError) as problem:
                # KeyError, ValueError, CommClosedError: the scheduler counts on a worker that has gone meanwhile
                if not left or isinstance(problem, TimeoutError) or self.client.status != "running":
                    said = str(problem) or type(problem).__name__
                    raise error("S2S706", problem=f"no worker has answered: {said}") from None
        raise AssertionError

    def _bounded(self, ask: Callable[[], Any], most: float = PATIENCE) -> Any:
        """What a call of the client gives. Raises TimeoutError where it waits for a scheduler that does not answer."""
        found = _Answer(ask)
        if not found.wait(min(most, self._patience) + POLL):
            raise TimeoutError("the scheduler does not answer")
        return found.result()

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
                try:
                    with _classes_as_they_are():
                        return future.result(timeout=self._patience)
                except TimeoutError:  # its worker has gone with it, or it is on its way
                    if future.status == "error":
                        raise
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
                raise error("S2S706", problem=f"for {PATIENCE:.0f} seconds it has told of no workers")

    def _check(self) -> None:
        if self.client.status != "running":
            raise error("S2S706", problem=f"it is {self.client.status}")

    def _count_of_workers(self) -> int:
        return len(self._workers())

    def _count_of_threads(self) -> int:
        """At least 1, where there is no worker for a while."""
        return max(1, sum(worker.get("nthreads", 1) for worker in self._workers().values()))

    def _workers(self) -> dict[str, Any]:
        """The workers; none where the scheduler does not answer."""
        try:
            found: dict[str, Any] = self._bounded(lambda: self.client.scheduler_info(n_workers=-1), ANSWER)["workers"]
        except (TimeoutError, OSError):
            return {}
        return found


@contextmanager
def _classes_as_they_are() -> Iterator[None]:
    """While objects come back from workers: cloudpickle, which has sent the classes of the program itself with them,
    finds these again, and gives them the methods and attributes that came along, whose source nobody has."""
    sent = getattr(sys.modules.get("cloudpickle.cloudpickle"), "_DYNAMIC_CLASS_TRACKER_BY_CLASS", {})
    before = [(kind, dict(vars(kind))) for kind in [*sent]]
    try:
        yield
    finally:
        for kind, had in before:
            for name, value in had.items():
                if vars(kind).get(name) is not value and name not in ("__dict__", "__weakref__", "_abc_impl"):
                    setattr(kind, name, value)


def _check_given(parts: list[tuple[Any, ...]], problem: BaseException, left: int) -> None:
    """Raise where a task cannot be made again: where what was given has gone, or too much has."""
    if any(future.status in ("cancelled", "lost") for future in _futures(parts)):
        what = "a part that was given as a future has been cancelled, or has gone with its worker"
        hint = "send it anew: `client.scatter(...)`"
    elif not left:
        what = f"workers have died {ATTEMPTS} times with what was sent to them"
        hint = "look at what ends the workers"
    else:
        return
    raise error("S2S706", problem=what, hint=hint) from problem


def _futures(parts: list[tuple[Any, ...]]) -> list[Any]:
    """The blocks that are futures of a client."""
    return [block for part in parts for block in part if type(block).__module__ == "distributed.client"]


class _Answer:
    """What a call gives that runs in a thread, which may never end."""

    def __init__(self, ask: Callable[[], Any]) -> None:
        self._ask = ask
        self._value: Any = None
        self._problem: BaseException | None = None
        self._context, self._event = contextvars.copy_context(), threading.Event()
        threading.Thread(target=self._run, daemon=True, name="s2s-asks-dask").start()

    def _run(self) -> None:
        try:
            self._value = self._context.run(self._ask)
        except BaseException as problem:
            self._problem = problem
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Whether the call has ended within so many seconds."""
        return self._event.wait(seconds)

    def result(self) -> Any:
        """What the call has given. Raises what it has raised."""
        if self._problem is not None:
            raise self._problem
        return self._value


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
