"""Results as a page of the documents: the rows of runs in, Markdown out. Wins and losses alike."""

from __future__ import annotations

from typing import Any

from benchmarks.report import (
    MEANS,
    TARGETS,
    Row,
    by_statement,
    fell_back,
    figure,
    numba_compile,
    number,
    sort_key,
    to_hand,
    versus,
)
from benchmarks.suites import SUITES

HEAD = """# Speed

Times of gradients on both backends beside JAX, with each case rewritten for it and compiled, and beside adjoints
written by hand, as well as one can or statement by statement. `python -m benchmarks run --json results.json` measures
them, and `python -m benchmarks page results.json` writes this page. All contenders of a case run in turns in one
process, in double precision; a figure is a median.

{environment}

{notes}"""
NAMES = {"micro": "Small functions", "kernels": "Array kernels", "ml": "Models"}
NOTES = """Times in ms; what Numba takes to compile in s. JAX / s2s is above 1 where s2s is faster, on the better of its
two backends; s2s / by hand is below 1 there. `*`: in part or whole by Python. `+`: by hand in another way than the
function is written, such as a product of matrices in place of loops. By statement: the function as it stands and
then the plain adjoint of each statement, in NumPy.
"""


def page(results: list[dict[str, Any]]) -> str:
    """The page of some runs, the last of which counts where they have the same case."""
    rows = {row["case"]: row for result in results for row in result["rows"]}
    versions = results[-1]["environment"]["versions"]
    shown = ", ".join(f"{name} {version}" for name, version in versions.items() if version != "missing")
    environment = f"Python {results[-1]['environment']['python']}, {shown}."
    parts = [HEAD.format(notes=NOTES, environment=environment), *means([*rows.values()])]
    for suite in SUITES:
        of_suite = [row for row in rows.values() if row.get("suite") == suite]
        parts += cases(NAMES.get(suite, suite), sorted(of_suite, key=sort_key)) if of_suite else []
    return "\n".join(parts)


def means(rows: list[Row]) -> list[str]:
    """The means over the cases beside what is aimed at."""
    lines = [line for target in TARGETS if (line := target.in_words(rows)) is not None]
    return ["## In the mean", "", MEANING, "", *table(MEANS, lines), ""]


MEANING = """What was measured is the geometric mean over the cases (of seconds, the plain one), beside what s2s
aims at. At the end stands the case that is furthest from that, with its figure."""


def cases(title: str, rows: list[Row]) -> list[str]:
    """The cases of a suite, the worst one first."""
    headings = [
        "case", "primal", "NumPy", "Numba", "JAX", "JAX / s2s", "s2s / by hand, NumPy", "s2s / by hand, Numba",
        "compiles",
    ]  # fmt: skip
    plain = any(by_statement(row) for row in rows)
    headings += ["by statement / s2s, NumPy"] if plain else []
    lines = [
        [
            row["case"], in_ms(row, "primal"), in_ms(row, "s2s numpy"),
            in_ms(row, "s2s numba") + ("*" if fell_back(row) else ""), in_ms(row, "jax"),
            number(versus(row, "jax")),
            number(to_hand(row, "hand numpy", "s2s numpy")) + ("+" if row.get("rewritten", False) else ""),
            number(to_hand(row, "hand numba", "s2s numba")), number(numba_compile(row), digits=1),
            *([number(by_statement(row))] if plain else []),
        ] for row in rows
    ]  # fmt: skip
    ratios = [ratio for row in rows if (ratio := versus(row, "jax"))]
    faster = sum(ratio > 1.0 for ratio in ratios)
    said = f"Faster than JAX in {faster} of {len(ratios)} cases, the least favourable first:"
    return [f"## {title}", "", said, "", *table(headings, lines), ""]


def in_ms(row: Row, contender: str) -> str:
    seconds = figure(row, contender)
    return "-" if seconds is None else f"{1e3 * seconds:.3g}"


def table(headings: list[str], rows: list[list[str]]) -> list[str]:
    marks = [":--", *("--:" for _ in headings[1:])]
    return [f"| {' | '.join(row)} |" for row in (headings, marks, *rows)]
