"""The figures of ``docs/scaling.md``: ``python -m benchmarks.scaling --page docs/scaling.md``.

Measured on a cluster of Dask of two processes on the loopback interface: efficiency, the overhead of a call for
gradients of many sizes, and from these what 1,000 workers would do.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import s2s

ROWS, COLUMNS = 40_000, 200
SIZES = (128, 1_280, 12_800, 128_000, 1_280_000, 12_800_000)  # numbers of a gradient: 1 KB to 100 MB
WORKERS = (2, 10, 100, 1_000)
FAN_IN = 8


def loss(w: Any, X: Any, y: Any) -> Any:
    h = X @ w
    for _ in range(200):
        h = np.tanh(np.sin(h) * np.exp(-h * h) + 0.1)
    return np.sum((h - y) ** 2)


def large(w: Any, x: Any) -> Any:
    return np.sum(w) * np.sum(x)


def idle(k: int) -> None:
    """Work that needs a core and nothing else."""
    for _ in range(5_000_000):
        k += 1


def seconds(call: Callable[..., Any], *args: Any, count: int = 5) -> float:
    """The median time of calls, without the first."""
    call(*args)
    found = []
    for _ in range(count):
        start = time.perf_counter()
        call(*args)
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def measured() -> dict[str, Any]:
    """All figures of the page."""
    from dask.distributed import Client, LocalCluster

    rng = np.random.default_rng(0)
    w = rng.normal(size=COLUMNS) / COLUMNS
    found: dict[str, Any] = {"strong": {}, "weak": {}, "sizes": {}, "idle": {}}
    for workers in (1, 2):
        with LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster, Client(cluster, set_as_default=False) as client:
            found["idle"][workers] = seconds(
                lambda c, n: c.gather([c.submit(idle, k, pure=False) for k in range(n)]), client, workers)
            for kind, rows in (("strong", ROWS), ("weak", ROWS // 2 * workers)):
                count = 8 if kind == "strong" else 4 * workers
                Xs = client.scatter(np.split(rng.normal(size=(rows, COLUMNS)), count), hash=False)
                ys = client.scatter(np.split(rng.normal(size=rows), count), hash=False)
                gradient = s2s.distributed.grad(loss, over="X, y", client=client)
                found[kind][workers] = seconds(gradient, w, Xs, ys)
            if workers == 2:
                one = s2s.distributed.grad(large, over="x", client=client)
                parts = client.scatter([np.ones(2), np.ones(2)], hash=False)
                for size in SIZES:
                    found["sizes"][size] = seconds(one, np.ones(size), parts, count=3)
    X, y = rng.normal(size=(ROWS, COLUMNS)), rng.normal(size=ROWS)
    here = s2s.distributed.grad(loss, over="X, y")
    found["here"] = seconds(here, w, np.split(X, 8), np.split(y, 8))
    return found


def fitted(sizes: dict[int, float]) -> tuple[float, float]:
    """Latency in seconds and bandwidth in bytes a second: of the smallest gradient, and of the largest beyond it."""
    small, large_one = min(sizes), max(sizes)
    latency = sizes[small]
    return latency, 8 * (large_one - small) * 1.0 / max(sizes[large_one] - latency, 1e-9)


def projected(workers: int, size: int, latency: float, bandwidth: float, compute: float) -> float:
    """Seconds of a call: the work of one part, and the way to it and back through a tree."""
    levels = int(np.ceil(np.log(workers) / np.log(FAN_IN)))
    return compute + levels * (latency + FAN_IN * 8 * size / bandwidth)


TEXT = """# Scaling

What [data in parts](distributed.md) costs, as `python -m benchmarks.scaling --page docs/scaling.md` has measured and
written it. All processes are on one machine, and talk over the loopback interface.

{cores} cores, with a load average of {load:.1f} while this was measured. Python {python}, NumPy {numpy}, distributed
{distributed}. Medians of 3 to 5 calls, the first left out.

## Two workers

A loss of {rows:,} rows of {columns} numbers, kept on the workers, in 8 parts (strong), and of {half:,} rows for each
worker, in 4 parts each (weak). The efficiency is the time of one worker by that of two, and by two once more
where both have the same data.
The first row is a plain loop of Python on each worker, with no data and no s2s: what the machine gives two processes.
Where it has no second core to give, nothing else can gain either.

| | one worker | two workers | efficiency |
|---|--:|--:|--:|
{workers}

In this process, without a cluster, the strong case takes {here:.0f} ms.

## A call

Two parts with next to nothing to compute, and a gradient of so many numbers: parameters go to two workers, gradients
come back as one.

| gradient | time of a call |
|--:|--:|
{sizes}

## 1,000 workers

Not measured: computed from the figures above. With the latency of a call, *L*, of the smallest gradient, and the bytes
a second of the largest beyond that, *B*, a call with *P* workers, a gradient of *G* bytes and *C* seconds of work for
each part takes

    T = C + ceil(log8 P) * (L + 8 * G / B)

as sums are made of eight neighbours at a time, in a tree, at each node of which eight gradients arrive. Here
L = {latency:.1f} ms and B = {bandwidth:.0f} MB/s. Both are those of two processes of one machine, with what Python and
Dask do there; B has the way there and back of two parts in it, so that the formula has too much rather than too little.
A network has other figures, and what a scheduler takes for the tasks of many workers is not in it. The efficiency,
C / T, for C = 1 s:

| workers | G = 1 KB | G = 1 MB | G = 100 MB |
|--:|--:|--:|--:|
{projected}

Parts that take long are what keeps it high.
"""


def page(found: dict[str, Any]) -> str:
    """The text of the page."""
    latency, bandwidth = fitted(found["sizes"])
    rows = []
    for name, kind, expected in (("plain loop", "idle", 1), ("strong", "strong", 2), ("weak", "weak", 1)):
        one, two = found[kind][1], found[kind][2]
        rows.append(f"| {name} | {1e3 * one:.0f} ms | {1e3 * two:.0f} ms | {one / two / expected:.0%} |")
    shares = []
    for workers in WORKERS:
        shown = [f"{1.0 / projected(workers, n, latency, bandwidth, 1.0):.0%}" for n in (128, 128_000, 12_800_000)]
        shares.append(f"| {workers:,} | {' | '.join(shown)} |")
    return TEXT.format(
        cores=os.cpu_count(), load=os.getloadavg()[0], python=platform.python_version(), numpy=np.__version__,
        distributed=version("distributed"), rows=ROWS, columns=COLUMNS, half=ROWS // 2, workers="\n".join(rows),
        here=1e3 * found["here"], latency=1e3 * latency, bandwidth=bandwidth / 1e6, projected="\n".join(shares),
        sizes="\n".join(f"| {_bytes(8 * n)} | {1e3 * took:.1f} ms |" for n, took in found["sizes"].items()))


def _bytes(count: int) -> str:
    for unit, size in (("MB", 1_000_000), ("KB", 1_000)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, help="the page to write; without it, it is printed")
    given = parser.parse_args()
    text = page(measured())
    if given.page is None:
        print(text, end="")
    else:
        given.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
