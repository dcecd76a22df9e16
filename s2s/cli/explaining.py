"""``s2s explain``: what is known of a derivative, or the name of an error or a warning, in, text out."""

from __future__ import annotations

import ast
import os
import sys
import textwrap

import click

from s2s.cli import pages
from s2s.cli.terminal import fail
from s2s.explanation import Cost, Explanation, Line

__all__ = ["show_cost", "show_explanation", "show_page"]

LEAST_SHARE = 0.01
"""The share of a line in the time of a call is shown from here on."""

MOST_OF_DOCSTRING = 5
"""So many lines of a docstring are shown below its first words, or none."""


def show_explanation(e: Explanation) -> None:
    """Print what is known, line by line. ``*`` marks the lines through which the derivative flows."""
    taken = ", ".join(f"{name}: {kind}" for name, kind in e.arguments.items())
    code = "each call is recorded" if e.is_recorded else f"{e.generated_lines} lines of code"
    click.echo(f"{e.mode} of {e.name}({taken}): {code}")
    for rung in e.rungs:
        click.echo(f"  {rung}")
    click.echo()
    _show_lines(e.lines, _docstring(e.lines))
    if e.helpers:
        click.echo("\nlines of functions that are a part of it:")
        _show_lines([line for line in e.helpers if line.is_active or line.facts or (line.share or 0.0) >= LEAST_SHARE])
    if e.guards:
        click.echo("\nthe code relies on this, and is made again where it is otherwise:")
        own = e.lines[0].file if e.lines else ""
        for guard in e.guards:
            click.echo(f"  {guard}{_place(e.guarded.get(guard), own)}")
    shares = [line.share for line in e.lines if line.share is not None]
    if e.is_recorded and shares:
        rest = _percent(max(0.0, 1.0 - sum(shares)))
        click.echo(f"\nthe other {rest} of a call: sweeps over what was recorded, and what checks it by differences")
    click.echo(f"\nbackend auto: {e.auto}")


def _place(line: Line | None, own: str) -> str:
    """Where in the program a guard comes from."""
    if line is None:
        return ""
    return f" (line {line.number})" if line.file == own else f" ({os.path.basename(line.file)}:{line.number})"


def _docstring(lines: list[Line]) -> range:
    """The numbers of the lines of a function's docstring below its first words, where it is long."""
    try:
        made = ast.parse(textwrap.dedent("\n".join(line.text for line in lines))).body[0]
    except (SyntaxError, IndexError):  # a lambda in the middle of an expression
        return range(0)
    if not isinstance(made, ast.FunctionDef) or ast.get_docstring(made) is None:
        return range(0)
    said, first = made.body[0], lines[0].number - 1
    shown = 2 if lines[said.lineno - 1].text.rstrip().endswith(('"""', "'''")) else 1
    found = range(first + said.lineno + shown, first + (said.end_lineno or 0) + 1)
    return found if len(found) > MOST_OF_DOCSTRING else range(0)


def _show_lines(lines: list[Line], left_out: range = range(0)) -> None:
    if not lines:
        return
    width = max(len(str(line.number)) for line in lines)
    for line in lines:
        if line.number in left_out:
            if line.number == left_out.start:
                click.echo(f"  {'':{width}}  ({len(left_out)} more lines of its docstring)")
            continue
        mark = "*" if line.is_active else " "
        click.echo(f"{mark} {line.number:{width}d}  {line.text}".rstrip())
        indent = " " * (width + 4 + len(line.text) - len(line.text.lstrip()))
        if line.share is not None and line.share >= LEAST_SHARE:
            click.echo(f"{indent}^ time: {_percent(line.share)} of a call")
        for fact in line.facts:
            click.echo(f"{indent}^ {fact.kind}: {fact.text}")


def show_cost(cost: Cost) -> None:
    """Print what a call takes."""
    click.echo(
        f"time: {_seconds(cost.seconds)} a call, {cost.times:.1f} times that of the function "
        f"({_seconds(cost.value_seconds)})")
    click.echo(f"memory: {_bytes(cost.bytes)} at most, the function {_bytes(cost.value_bytes)}")


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"


def _seconds(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"


def _bytes(value: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value} bytes"


def show_page(name: str) -> None:
    """Print the page of an error code or the category of a warning: rendered on a terminal, as Markdown where piped.
    Ends the program where there is none."""
    text = pages.page(name)
    if text is None:
        near = pages.near(name)
        fail(f"{name}: no error code and no warning of s2s" + (f"; near to it: {', '.join(near)}" if near else ""))
        return
    if not sys.stdout.isatty():
        click.echo(text, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(width=min(Console().width, 100)).print(Markdown(text, code_theme="ansi_dark"))
