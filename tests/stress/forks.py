"""Forks at any moment of compilations in other threads: the child must compile, and must collect garbage.

    python -m tests.stress.forks [--forks 60] [--threads 4]

Threads compile gradients of functions made anew all the time, while the main thread forks: from the first compilation
on, which imports the compiler.
Each child takes a gradient that nobody has compiled, compares it with the closed form, and makes a cycle that the
collector must find; one that does not end within 30 seconds hangs. Ends with an error where a child fails or hangs.
"""

from __future__ import annotations

import argparse
import gc
import linecache
import os
import sys
import threading
import time
import weakref

import numpy as np

import s2s


def make(number: int):
    """A function that nothing was compiled for: the sum of ``x ** (2 + number)``."""
    text = f"def power(x):\n    y = x * x\n    for _ in range({number}):\n        y = y * x\n    return np.sum(y)\n"
    file = f"<stress {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"np": np, "__name__": __name__}
    exec(compile(text, file, "exec"), scope)
    return scope["power"]


def check(number: int) -> None:
    """Compile the gradient of a new function, and compare it."""
    x = np.linspace(0.5, 1.5, 3)
    assert np.allclose(s2s.grad(make(number))(x), (2 + number) * x ** (1 + number))


def child(number: int) -> int:
    """What a forked process does; its exit code."""
    class Cycle:
        pass

    try:
        check(number)
        if not gc.isenabled():
            return 2
        cycle = Cycle()
        cycle.itself, seen = cycle, weakref.ref(cycle)
        del cycle
        kept = [[] for _ in range(200_000)]  # enough new objects for the collector to run
        return 0 if seen() is None and kept else 3
    except BaseException:
        return 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--forks", type=int, default=60)
    parser.add_argument("--threads", type=int, default=4)
    options = parser.parse_args()
    stop, failed = threading.Event(), list[str]()

    def compile_all(first: int) -> None:
        for number in range(first, first + 10_000, options.threads):
            if stop.is_set():
                return
            check(number % 40)

    threads = [threading.Thread(target=compile_all, args=(k,), daemon=True) for k in range(options.threads)]
    for thread in threads:
        thread.start()
    for number in range(options.forks):
        time.sleep(0.01)
        pid = os.fork()
        if pid == 0:
            os._exit(child(number % 30))
        status = wait(pid)
        if status:
            failed.append(f"fork {number}: {status}")
            print(failed[-1])
    stop.set()
    print(f"{options.forks} forks while {options.threads} threads compiled: {len(failed)} children failed or hung")
    return 1 if failed else 0


def wait(pid: int) -> str:
    """What became of a child that did not end well within 30 seconds; empty where it did."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return {0: "", 2: "the collector is off", 3: "the collector does not run"}.get(code, f"ended with {code}")
        time.sleep(0.005)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return "hung"


if __name__ == "__main__":
    sys.exit(main())
