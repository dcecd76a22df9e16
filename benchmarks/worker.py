"""Measures one case and prints its row as JSON: what ``python -m benchmarks run`` starts for each case."""

from __future__ import annotations

import json
import os
import sys


def one_core() -> None:
    """Hold this process, its libraries included, to one core: before any of them is imported."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def main() -> None:
    one_core()
    name, seconds, *contenders = sys.argv[1:]
    os.environ.setdefault("S2S_CACHE", "0")
    os.environ["S2S_NUMBA_AFTER"] = "0"  # ``auto`` as it runs in the end
    from benchmarks.measuring import CONTENDERS, measure
    from benchmarks.suites import find

    row = measure(find(name), float(seconds), tuple(contenders) or CONTENDERS)
    print(json.dumps(row))


if __name__ == "__main__":
    main()
