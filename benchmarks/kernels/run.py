"""Time and memory of the gradients of the kernels, on arguments of some size.

    python benchmarks/kernels/run.py [names]

Prints for each kernel the time of the primal and of ``value_and_grad``, their ratio, and the peak of the memory that
each holds beyond its arguments, as tracemalloc sees it. Primal and gradient alternate, the best time of each counts.
Ends with an error where a gradient takes longer than its kernel's limit.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import s2s
from benchmarks.kernels.table import KERNELS, Kernel

SECONDS = 2.0


def seconds(functions: list[Callable[..., Any]], args: tuple[Any, ...]) -> list[float]:
    """The best time of one call of each function; they take turns for about ``SECONDS``."""
    best = [float("inf")] * len(functions)
    until = time.perf_counter() + SECONDS
    while time.perf_counter() < until or best[-1] == float("inf"):
        for k, function in enumerate(functions):
            start = time.perf_counter()
            function(*args)
            best[k] = min(best[k], time.perf_counter() - start)
    return best


def peak(function: Callable[..., Any], args: tuple[Any, ...]) -> int:
    """The bytes that a call holds at its peak."""
    tracemalloc.start()
    try:
        function(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def measure(kernel: Kernel) -> bool:
    """Print one line of the table; False where the gradient is refused or slower than its limit."""
    args = kernel.arguments(*kernel.large)
    gradient = s2s.value_and_grad(kernel.loss, argnums=kernel.argnums)
    try:
        gradient(*args)
    except s2s.errors.DifferentiationError as error:
        print(f"{kernel.name:14} {str(error).splitlines()[0]}")
        return False
    primal_time, gradient_time = seconds([kernel.loss, gradient], args)
    primal_peak, gradient_peak = peak(kernel.loss, args), peak(gradient, args)
    ratio = gradient_time / primal_time
    print(
        f"{kernel.name:14}{1e3 * primal_time:11.2f}{1e3 * gradient_time:11.2f}{ratio:8.2f}"
        f"{primal_peak / 1e6:11.2f}{gradient_peak / 1e6:11.2f}{'' if ratio <= kernel.limit else '  too slow'}",
        flush=True,
    )
    return ratio <= kernel.limit


def main() -> int:
    chosen = [kernel for kernel in KERNELS if not sys.argv[1:] or kernel.name in sys.argv[1:]]
    print(f"{'kernel':14}{'primal ms':>11}{'grad ms':>11}{'ratio':>8}{'primal MB':>11}{'grad MB':>11}")
    failed = [kernel for kernel in chosen if not measure(kernel)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
