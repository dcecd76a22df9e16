"""Memory against recomputation: the gradient of a long loop over a large state, in few snapshots. Prints what it took.

    python benchmarks/checkpointing.py [--steps N] [--snapshots S] [--megabytes M]

The loop is a non-linear stencil. What is measured is the peak of what NumPy and Python allocate, in states, and the
number of steps that the reverse sweep advances again; what is expected of them is printed beside, and it is an error
where they are not that.
"""

import argparse
import sys
import time
import tracemalloc

import numpy as np

import s2s
from s2s import runtime as rt
from s2s.runtime import advances

LIMIT = 18
"""So many states may there be beside the snapshots: those of one step and of its reverse."""


def burgers(u, steps, snapshots):
    """Viscous Burgers' equation on a grid with fixed ends, by explicit Euler steps."""
    for _ in s2s.checkpointed(range(steps), snapshots=snapshots):
        v = u.copy()
        v[1:-1] = u[1:-1] + 0.2 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) - 0.05 * u[1:-1] * (u[2:] - u[:-2])
        u = v
    return np.sum(u**2)


def counted(steps, seen):
    """``Snapshots.steps``, adding what it gives to ``seen``."""

    def method(self, step):
        found = steps(self, step)
        seen.append(len(found))
        return found

    return method


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--snapshots", type=int, default=20)
    parser.add_argument("--megabytes", type=float, default=1.0)
    given = parser.parse_args()
    u = 0.5 + 0.1 * np.sin(np.linspace(0.0, 7.0, int(given.megabytes * 2**20) // 8))
    gradient, seen = s2s.grad(burgers), []
    gradient(u[:50], 3, 2)
    start = time.perf_counter()
    burgers(u, given.steps, given.snapshots)
    primal = time.perf_counter() - start
    original, rt.Snapshots.steps = rt.Snapshots.steps, counted(rt.Snapshots.steps, seen)
    tracemalloc.start()
    start = time.perf_counter()
    gradient(u, given.steps, given.snapshots)
    elapsed = time.perf_counter() - start
    peak = tracemalloc.get_traced_memory()[1] / u.nbytes
    tracemalloc.stop()
    rt.Snapshots.steps = original
    expected = advances(given.steps + 1, given.snapshots) - given.steps
    most = given.snapshots + LIMIT
    print(f"{given.steps} steps, state of {u.nbytes / 2**20:g} MB, {given.snapshots} snapshots")
    print(f"peak memory       {peak:8.1f} states    (at most {most})")
    print(f"advanced again    {sum(seen):8d} steps     (theory {expected})")
    print(f"time              {elapsed:8.1f} s         ({elapsed / primal:.1f} primal runs)")
    return int(peak > most or sum(seen) != expected)


if __name__ == "__main__":
    sys.exit(main())
