"""Results as tables: the rows of a run in, text out. Wins and losses alike."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.contenders import COUNTERPARTS, OWN, PEERS
from s2s.core.package import install

Row = dict[str, Any]


def figure(row: Row, contender: str, key: str = "seconds") -> float | None:
    """A figure of a contender; None where it did not take part, or its gradient was wrong."""
    entry = row["contenders"].get(contender, {})
    return None if "error" in entry else entry.get(key)


def own(row: Row) -> str | None:
    """The backend that s2s chooses by itself, where that took part, else the faster one."""
    if figure(row, "s2s auto"):
        return "s2s auto"
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


def to_hand(row: Row, hand: str, backend: str) -> float | None:
    """How many times as long as the adjoint by hand s2s takes."""
    ratio = versus(row, hand, backend)
    return ratio and 1.0 / ratio


def numpy_to_hand(row: Row, rewritten: bool) -> float | None:
    """The same in NumPy, of adjoints of the code as written or of those that compute it in another way."""
    return to_hand(row, "hand numpy", "s2s numpy") if row.get("rewritten", False) == rewritten else None


def by_statement(row: Row) -> float | None:
    """How many times as long as s2s on NumPy the plain adjoint of each statement takes."""
    return versus(row, "by statement", "s2s numpy")


def memory_to_hand(row: Row) -> float | None:
    """How many times the memory of the adjoint by hand in NumPy that of s2s takes; small amounts say nothing."""
    ours, hand = figure(row, "s2s numpy", "megabytes"), figure(row, "hand numpy", "megabytes")
    return ours / hand if ours and hand and hand > 0.1 else None


def fell_back(row: Row) -> list[str]:
    """Why Numba did not compile a case, where it did not."""
    return list(row["contenders"].get("s2s numba", {}).get("notes", []))


def compiled(row: Row, contender: str) -> bool:
    """Whether a backend that chooses has chosen Numba."""
    return str(row["contenders"].get(contender, {}).get("backend", "")).startswith("numba")


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
    return f"{geometric_mean(there):.2f} ({len(there)} cases)"


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


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
        "primal", *(heading for backend in OWN for heading in (backend, "/primal")), "JAX", "torch", "compiled",
        "autograd", "best peer/s2s", "JAX/s2s", "hand NumPy", "s2s/hand", "hand Numba", "s2s/hand",
        "by statement", "/s2s",
    ])  # fmt: skip
    for row in sorted(rows, key=sort_key):
        by_hand = []
        for hand, backend in COUNTERPARTS.items():
            by_hand += [milliseconds(row, hand), number(to_hand(row, hand, backend))]
        own_figures = []
        for backend in OWN:
            mark = "*" if backend == "s2s numba" and fell_back(row) else "+" if compiled(row, backend) else ""
            own_figures += [milliseconds(row, backend) + mark, number(figure(row, backend, "ratio"))]
        made.add_row(
            row["case"], milliseconds(row, "primal"), *own_figures, *(milliseconds(row, peer) for peer in PEERS),
            number(versus(row, best_peer(row))), number(versus(row, "jax")), *by_hand,
            milliseconds(row, "by statement"), number(by_statement(row)),
        )  # fmt: skip
    return made


def costs(rows: list[Row]) -> Table:
    """Seconds to the first gradient, and memory; a backend that chooses starts as NumPy does."""
    backends = list(COUNTERPARTS.values())
    shown = [*backends, "jax", "torch", "torch compiled", "hand numpy", "hand numba"]
    headings = [*backends, "(compile)", *shown[len(backends) :]]
    made = table("Seconds to the first gradient | peak memory of a gradient in MB", "case", [
        *headings, *(f"{name} MB" for name in ("primal", *shown)),
    ])  # fmt: skip
    for row in rows:
        first = [number(figure(row, name, "first")) for name in shown]
        first.insert(len(backends), number(numba_compile(row)))
        memory = [number(figure(row, name, "megabytes"), digits=1) for name in ("primal", *shown)]
        made.add_row(row["case"], *first, *memory)
    return made


@dataclass(frozen=True)
class Target:
    """A figure of a suite's rows, and what it should be in the mean: at least that where ``least``, else at most."""

    label: str
    suite: str
    of_row: Callable[[Row], float | None]
    goal: float | None
    least: bool = False
    geometric: bool = True

    def measured(self, rows: list[Row]) -> dict[str, float]:
        """The figure of each case of the suite that has one."""
        found = {row["case"]: self.of_row(row) for row in rows if self.suite in ("all", row.get("suite"))}
        return {case: value for case, value in found.items() if value}

    def in_words(self, rows: list[Row]) -> list[str] | None:
        """The label, the mean, the goal, the number of cases, the figure that is furthest from the goal, and its case;
        None without a case."""
        found = self.measured(rows)
        if not found:
            return None
        values = list(found.values())
        mean = geometric_mean(values) if self.geometric else sum(values) / len(values)
        case, furthest = (min if self.least else max)(found.items(), key=lambda item: item[1])
        goal = "-" if self.goal is None else f"{'>=' if self.least else '<='} {self.goal:g}"
        return [self.label, f"{mean:.2f}", goal, str(len(values)), f"{furthest:.2f}", case]


MEANS = ["figure", "measured", "goal", "cases", "furthest", "case"]
TARGETS = (
    Target("JAX / s2s, kernels", "kernels", lambda row: versus(row, "jax"), 2.0, least=True),
    Target("gradient / primal, kernels, NumPy", "kernels", lambda row: figure(row, "s2s numpy", "ratio"), 2.0),
    Target("gradient / primal, kernels, Numba", "kernels", lambda row: figure(row, "s2s numba", "ratio"), 1.0),
    Target("s2s / by hand, kernels, Numba", "kernels", lambda row: to_hand(row, "hand numba", "s2s numba"), 1.2),
    Target("s2s / by hand, kernels, NumPy, as written", "kernels", lambda row: numpy_to_hand(row, False), 1.05),
    Target("s2s / by hand, kernels, NumPy, rewritten", "kernels", lambda row: numpy_to_hand(row, True), None),
    Target("s2s / by hand, models, NumPy", "ml", lambda row: to_hand(row, "hand numpy", "s2s numpy"), 1.5),
    Target("by statement / s2s, models, NumPy", "ml", by_statement, 1.3, least=True),
    Target("JAX / s2s, models", "ml", lambda row: versus(row, "jax"), 1.0, least=True),
    Target("JAX / s2s, small functions, Numba", "micro", lambda row: versus(row, "jax", "s2s numba"), 8.0, least=True),
    Target("JAX / s2s, small functions, NumPy", "micro", lambda row: versus(row, "jax", "s2s numpy"), 2.0, least=True),
    Target("memory of s2s / by hand, NumPy", "all", memory_to_hand, 1.2),
    Target("seconds that Numba compiles", "all", lambda row: numba_compile(row), 2.0, geometric=False),
)


def targets(rows: list[Row]) -> Table:
    """What is aimed at, in the mean over the cases, with the case that is furthest from it."""
    made = table("Targets: means (geometric, but for seconds)", "figure", MEANS[1:])
    for line in filter(None, (target.in_words(rows) for target in TARGETS)):
        made.add_row(*line)
    return made


def summary(rows: list[Row]) -> list[str]:
    """The peers; of s2s the backend that ``own`` names, where none is named."""
    lines = [f"{name}/s2s: {mean([versus(row, name) for row in rows])}" for name in PEERS]
    lines += [f"jax/{backend}: {mean([versus(row, 'jax', backend) for row in rows])}" for backend in OWN]
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
    console = Console(width=260, highlight=False, soft_wrap=True)
    rows = results["rows"]
    if rows:
        console.print(times(rows))
        console.print("* runs as Python: see below; + compiled by Numba\n")
        console.print(costs(rows))
        console.print()
        console.print(targets(rows))
    for line in ["", *summary(rows), "", *remarks(rows)]:
        console.print(textwrap.shorten(line, 400), markup=False)
    versions = results["environment"]["versions"]
    console.print("\n" + ", ".join(f"{package} {version}" for package, version in versions.items()), markup=False)
    if results["environment"]["missing"]:
        absent = ", ".join(results["environment"]["missing"])
        has_them = install("bench")
        console.print(f"Not installed, and so not measured: {absent}. {has_them} has them.", markup=False)
