"""Text in, the same on standard output out: highlighted on a terminal, as it is where piped; no line is cut off."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from s2s.core.highlighting import highlighted
from s2s.shipping.gate import meaning

__all__ = [
    "CannotFormat", "fail", "formatted", "formatted_or_told", "note", "show", "show_beside", "table", "write",
]


def show(text: str, no_color: bool = False) -> None:
    """Print Python source."""
    if no_color or not sys.stdout.isatty():
        click.echo(text, nl=not text.endswith("\n"))
        return
    _console().print(highlighted(text.rstrip("\n")), soft_wrap=True)


def _console() -> Any:
    from rich.console import Console

    return Console(highlight=False)


def show_beside(left: str, right: str, titles: tuple[str, str], no_color: bool = False) -> None:
    """Print two sources side by side. On a terminal long lines go on in the next one, in their column."""
    if no_color or not sys.stdout.isatty():
        first, second = left.rstrip("\n").split("\n"), right.rstrip("\n").split("\n")
        width = max(map(len, first))
        first += [""] * (len(second) - len(first))
        second += [""] * (len(first) - len(second))
        click.echo("\n".join(f"{a:<{width}} | {b}".rstrip() for a, b in zip(first, second, strict=True)))
        return
    made = table(*titles)
    cells = [highlighted(text.rstrip("\n")) for text in (left, right)]
    for cell in cells:
        cell.no_wrap, cell.overflow = False, "fold"
    made.add_row(*cells)
    _console().print(made)


def table(*titles: str, **options: Any) -> Any:
    """An empty table, whose cells are never cut off."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE, padding=(0, 1), **options)
    for title in titles:
        made.add_column(title, overflow="fold")
    return made


def write(output: Path, text: str, is_source: bool = True) -> None:
    """Write a file: one of Python source formatted as ruff formats files there, where it is installed. Ends the program
    where the file cannot be written."""
    try:
        output.write_text(formatted_or_told(text, output) if is_source else text, encoding="utf-8")
    except OSError as problem:
        fail(f"{output}: {problem.strerror or problem}")


class CannotFormat(Exception):
    """Ruff is installed, and did not run; the message says why."""


def formatted(text: str, file: Path) -> str:
    """Source as ``ruff format`` would leave it in this file; as it is where ruff is not installed. Raises CannotFormat
    where it is, and does not run."""
    beside = Path(sys.executable).parent / "ruff"
    ruff = str(beside) if beside.exists() else shutil.which("ruff")
    if ruff is None:
        return text
    words = [ruff, "format", "--stdin-filename", str(file.absolute()), "-"]
    try:
        done = _done(words, text.encode())
    except (OSError, subprocess.SubprocessError) as problem:
        raise CannotFormat(f"ruff format does not run: {problem}") from problem
    if done.returncode != 0:
        raise CannotFormat(f"ruff format does not run: {done.stderr.decode(errors='replace').strip()}")
    made = done.stdout.decode()
    if meaning(made) != meaning(text):
        raise CannotFormat("ruff format gives a text that says something else")
    return made


def _done(words: list[str], text: bytes) -> subprocess.CompletedProcess[bytes]:
    """What a program gives, which may be slow to start once."""
    try:
        return subprocess.run(words, input=text, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return subprocess.run(words, input=text, capture_output=True, timeout=60)


def formatted_or_told(text: str, file: Path) -> str:
    """Source as ``formatted`` gives it; as it is where ruff does not run, which is told."""
    try:
        return formatted(text, file)
    except CannotFormat as problem:
        note(f"{file} is not formatted: {problem}")
        return text


def note(message: str) -> None:
    """Tell something beside the output."""
    click.echo(message, err=True)


def fail(problem: str | Exception) -> Any:
    """Tell what went wrong, with the notes of an exception, and end with the exit code 1."""
    text = f"{problem.filename}: {problem.strerror}" if isinstance(problem, OSError) and problem.filename else problem
    click.echo("\n".join([str(text), *getattr(problem, "__notes__", ())]), err=True)
    raise SystemExit(1)
