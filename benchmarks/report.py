"""Results as tables: the rows of a run in, text out. Wins and losses alike."""

from __future__ import annotations

import math
import textwrap
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.contenders import HANDS, OWN, PEERS

Row = dict[str, Any]


def figure(row: Row, contender: str, key: str = "seconds") -> float | None:
    """A figure of a contender; None where it did not take part, or its gradient was wrong."""
    entry = row["contenders"].get(contender, {})
    return None if "error" in entry else entry.get(key)


def own(row: Row) -> str | None:
    """The backend on which s2s is faster."""
    there = [backend for backend in OWN if figure(row, backend)]
    return min(there, key=lambda backend: figure(row, backend) or math.inf, default=None)


def best_peer(row: Row) -> str | None:
    """The fastest peer."""
    there = [peer for peer in PEERS if figure(row, peer)]
    return min(there, key=lambda peer: figure(row, peer) or math.inf, default=None)


def versus(row: Row, other: str | None, backend: str | None = None) -> float | None:
    """How many times as long as s2s another one takes: above 1, s2s is faster. Without a backend, its better one."""
    backend = backend or own(row)
    if backend is None or other is None or figure(row, other) is None or figure(row, backend) is None:
        return None
    ratio: float | None = row["contenders"][backend]["ratios"].get(other)
    return ratio


def fell_back(row: Row) -> list[str]:
    """Why Numba did not compile a case, where it did not."""
    return list(row["contenders"].get("s2s numba", {}).get("notes", []))


def numba_compile(row: Row) -> float | None:
    """Seconds that the Numba backend adds to the first gradient."""
    numba, plain = (figure(row, backend, "first") for backend in ("s2s numba", "s2s numpy"))
    return None if numba is None or plain is None else max(0.0, numba - plain)


def failures(rows: list[Row]) -> list[str]:
    """The cases without a gradient of s2s, and those beyond their limit on NumPy."""
    found = []
    for row in rows:
        ratio = figure(row, "s2s numpy", "ratio")
        if ratio is None or ratio > row["limit"]:
            found.append(row["case"])
    return found


def mean(ratios: list[float | None]) -> str:
    """The geometric mean of those that there are, and how many."""
    there = [ratio for ratio in ratios if ratio]
    if not there:
        return "-"
    return f"{math.exp(sum(map(math.log, there)) / len(there)):.2f} ({len(there)} cases)"


def number(value: float | None, scale: float = 1.0, digits: int = 2) -> str:
    return "-" if value is None or value != value else f"{scale * value:.{digits}f}"


def milliseconds(row: Row, contender: str) -> str:
    return number(figure(row, contender), 1e3, 3)


# --- tables -----------------------------------------------------------------------------------------------------------


def table(title: str, first: str, headings: list[str]) -> Table:
    made = Table(title=title, title_justify="left", box=None, pad_edge=False)
    made.add_column(first, no_wrap=True)
    for heading in headings:
        made.add_column(heading, justify="right", no_wrap=True)
    return made


def sort_key(row: Row) -> float:
    return versus(row, "jax") or versus(row, best_peer(row)) or math.inf


def times(rows: list[Row]) -> Table:
    """Times, and ratios of others to s2s."""
    made = table("Time of a gradient in ms; x/s2s is above 1 where s2s is faster", "case", [
        "primal", "s2s NumPy", "/primal", "s2s Numba", "/primal", "JAX", "torch", "compiled", "autograd",
        "best peer/s2s", "JAX/s2s", "hand NumPy", "s2s/hand", "hand Numba", "s2s/hand",
    ])  # fmt: skip
    for row in sorted(rows, key=sort_key):
        by_hand = []
        for hand, backend in zip(HANDS, OWN):
            ratio = versus(row, hand, backend)
            by_hand += [milliseconds(row, hand), number(ratio and 1.0 / ratio)]
        own_figures = []
        for backend in OWN:
            mark = "*" if backend == "s2s numba" and fell_back(row) else ""
            own_figures += [milliseconds(row, backend) + mark, number(figure(row, backend, "ratio"))]
        made.add_row(
            row["case"], milliseconds(row, "primal"), *own_figures, *(milliseconds(row, peer) for peer in PEERS[:1]),
            *(milliseconds(row, peer) for peer in PEERS[1:]), number(versus(row, best_peer(row))),
            number(versus(row, "jax")), *by_hand,
        )  # fmt: skip
    return made


def costs(rows: list[Row]) -> Table:
    """Seconds to the first gradient, and memory."""
    shown = [*OWN, "jax", "torch", "torch compiled", "hand numpy", "hand numba"]
    headings = ["s2s NumPy", "s2s Numba", "(compile)", *shown[2:]]
    made = table("Seconds to the first gradient | peak memory of a gradient in MB", "case", [
        *headings, *(f"{name} MB" for name in ("primal", *shown)),
    ])  # fmt: skip
    for row in rows:
        first = [number(figure(row, name, "first")) for name in shown]
        first.insert(2, number(numba_compile(row)))
        memory = [number(figure(row, name, "megabytes"), digits=1) for name in ("primal", *shown)]
        made.add_row(row["case"], *first, *memory)
    return made


def summary(rows: list[Row]) -> list[str]:
    """Geometric means; of s2s the better backend of each case, where no backend is named."""
    def hand(name: str, backend: str) -> list[float | None]:
        return [ratio and 1.0 / ratio for ratio in (versus(row, name, backend) for row in rows)]

    lines = [f"{name}/s2s: {mean([versus(row, name) for row in rows])}" for name in PEERS]
    lines += [f"jax/{backend}: {mean([versus(row, 'jax', backend) for row in rows])}" for backend in OWN]
    lines += [f"{backend}/primal: {mean([figure(row, backend, 'ratio') for row in rows])}" for backend in OWN]
    lines += [f"{backend}/{name}: {mean(hand(name, backend))}" for name, backend in zip(HANDS, OWN)]
    against = [ratio for row in rows if (ratio := versus(row, best_peer(row)))]
    lines.append(f"faster than the best peer in {sum(r > 1.0 for r in against)} of {len(against)} cases")
    return lines


def remarks(rows: list[Row]) -> list[str]:
    """What went wrong, and why Numba did not compile."""
    lines = []
    for row in rows:
        if "error" in row:
            lines.append(f"{row['case']}: {row['error']}")
        for contender, entry in row["contenders"].items():
            if "error" in entry:
                lines.append(f"{row['case']}, {contender}: {entry['error']}")
            lines += [f"{row['case']}, {contender}: {note}" for note in entry.get("notes", [])]
    slow = failures(rows)
    return lines + ([f"no gradient, or beyond its limit: {', '.join(slow)}"] if slow else [])


def print_report(results: dict[str, Any]) -> None:
    """Print everything, as wide as it is."""
    console = Console(width=220, highlight=False, soft_wrap=True)
    rows = results["rows"]
    if rows:
        console.print(times(rows))
        console.print("* runs as Python: see below\n")
        console.print(costs(rows))
    for line in ["", *summary(rows), "", *remarks(rows)]:
        console.print(textwrap.shorten(line, 400), markup=False)
    versions = results["environment"]["versions"]
    console.print("\n" + ", ".join(f"{package} {version}" for package, version in versions.items()), markup=False)
    if results["environment"]["missing"]:
        absent = ", ".join(results["environment"]["missing"])
        console.print(f"Not installed, and so not measured: {absent}. pip install 's2s[bench]' has them.", markup=False)
