"""Time and memory of the contenders of one case: a case in, a row of figures out.

The contenders take turns in one process, so that what else happens on the machine concerns all of them, and what is
compared are ratios within a turn; the median over the turns counts.
"""

from __future__ import annotations

import ctypes
import time
import tracemalloc
import warnings
from pathlib import Path
from statistics import median
from typing import Any

import s2s
from benchmarks.case import Case
from benchmarks.contenders import HANDS, OWN, PEERS, Run, described, difference, make, missing, takes_part, warm

TURNS = 9
CONTENDERS = ("primal", *OWN, *PEERS, *HANDS)
OUTSIDE = ("s2s numba", "hand numba", "torch", "torch compiled")
AGREES = 1e-6
"""How far, relatively, a peer's gradient may be from that of s2s: sums are added in other orders."""


def measure(case: Case, seconds: float, contenders: tuple[str, ...] = CONTENDERS) -> dict[str, Any]:
    """The figures of a case: those of each contender, and what went wrong as text."""
    args = case.arguments(*case.large)
    row: dict[str, Any] = {"case": case.name, "contenders": {}, "limit": case.limit, "rewritten": case.rewritten}
    runs: dict[str, Run] = {}
    reference = None
    for contender in contenders:
        if not takes_part(case, contender):
            continue
        entry = row["contenders"].setdefault(contender, {})
        if library := missing(contender):
            entry["missing"] = library
            continue
        try:
            run, result = prepare(contender, case, args, entry)
        except Exception as error:
            entry["error"] = described(error)
            continue
        if contender != "primal":
            reference = result if reference is None else reference
            gap = difference(result, reference)
            if gap > AGREES:
                entry["error"] = f"differs from s2s by {gap:.1e}"
        runs[contender] = run
    for contender, figures in timed(runs, seconds).items():
        row["contenders"][contender].update(figures)
    for contender, run in runs.items():
        entry = row["contenders"][contender]
        outside = contender in OUTSIDE or entry.get("backend", "").startswith("numba")
        entry["megabytes"] = peak(run, outside) / 1e6
    return row


def prepare(contender: str, case: Case, args: tuple[Any, ...], entry: dict[str, Any]) -> tuple[Run, Any]:
    """What runs, and what its first call gives; ``entry`` takes the seconds until then, and what Numba leaves."""
    warm(contender)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        start = time.perf_counter()
        run = make(contender, case, args)
        result = run()
        entry["first"] = time.perf_counter() - start
        if settle := getattr(run, "settle", None):
            entry["backend"] = settle()
    notes = [str(w.message) for w in given if issubclass(w.category, s2s.NumbaFallbackWarning)]
    if notes:
        entry["notes"] = notes
    return run, result


def timed(runs: dict[str, Run], seconds: float) -> dict[str, dict[str, float]]:
    """The median time of a call, and of its ratio to the primal in the same turn; each gets about ``seconds``."""
    counts = {}
    for name, run in runs.items():
        start = time.perf_counter()
        run()
        counts[name] = max(1, int(seconds / TURNS / max(time.perf_counter() - start, 1e-7)))
    turns: dict[str, list[float]] = {name: [] for name in runs}
    until = time.perf_counter() + 3.0 * seconds * len(runs)
    while len(turns["primal"]) < 3 or (len(turns["primal"]) < TURNS and time.perf_counter() < until):
        for name, run in runs.items():
            start = time.perf_counter()
            for _ in range(counts[name]):
                run()
            turns[name].append((time.perf_counter() - start) / counts[name])
    return {
        name: {
            "seconds": median(found),
            "ratio": median(t / p for t, p in zip(found, turns["primal"])),
            "ratios": {other: median(o / t for o, t in zip(turns[other], found)) for other in runs if name in OWN},
        }
        for name, found in turns.items()
    }  # fmt: skip


# --- memory -----------------------------------------------------------------------------------------------------------


def peak(run: Run, outside: bool) -> float:
    """The bytes that a call holds at its peak beyond its arguments.

    NumPy's arrays as tracemalloc counts them; for JAX what the compiler says that it needs; what other libraries
    allocate by themselves, ``outside``, shows only in the resident memory of the process; small amounts do not.
    """
    analysis = getattr(run, "analysis", None)
    if analysis is not None:
        return float(analysis.temp_size_in_bytes + analysis.output_size_in_bytes)
    if outside:
        return resident_peak(run)
    tracemalloc.start()
    try:
        run()
        return float(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


def resident_peak(run: Run) -> float:
    """By how much a call raises the resident memory of this process (Linux only, else NaN)."""
    clear, status = Path("/proc/self/clear_refs"), Path("/proc/self/status")
    try:
        ctypes.CDLL(None).malloc_trim(0)
        clear.write_text("5")
    except (OSError, AttributeError):
        return float("nan")
    before = kilobytes(status, "VmRSS")
    run()
    return 1024.0 * max(0, kilobytes(status, "VmHWM") - before)


def kilobytes(status: Path, field: str) -> int:
    for line in status.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise ValueError(field)
