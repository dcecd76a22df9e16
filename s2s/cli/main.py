"""Words of the command line in, text on standard output out.

Exit codes: 0, 1 for an error of s2s or of the user's file (told without a traceback), 2 for wrong usage.
Only this folder imports click and rich.
"""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from typing import Any

import click

import s2s
from s2s.cache import disk
from s2s.cli.loading import CannotLoad, examples, load
from s2s.listing import as_markdown

_WITH_VALUES = "  = or:       give example values, --arg 'x=np.ones(3)': what is not known is then looked up in a run"

MODES = ("grad", "value_and_grad", "vjp", "primal")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(s2s.__version__, prog_name="s2s")
def main() -> None:
    """s2s writes the derivative of a Python function as Python source."""


@main.command()
@click.argument("function")
@click.option(
    "--wrt", default="", help="Arguments to differentiate by name or number, W,b; the first by default."
)
@click.option("--mode", type=click.Choice(MODES), default="grad", show_default=True, help="What to print.")
@click.option(
    "--arg",
    "args",
    multiple=True,
    metavar="NAME=EXPR",
    help="An example value, 'x=np.ones(3)': print the version for its kind. May be repeated.",
)
@click.option("--output", "-o", type=click.Path(dir_okay=False, writable=True), help="Write to a file.")
@click.option("--no-color", is_flag=True, help="Plain text on a terminal too.")
def dump(
    function: str, wrt: str, mode: str, args: tuple[str, ...], output: str | None, no_color: bool
) -> None:
    """Print the code that s2s generates for FUNCTION, given as path/to/file.py:name or
    package.module:name."""
    try:
        found = load(function)
        values = examples(args, found)
    except CannotLoad as problem:
        _fail(str(problem))
    try:
        given = inspect.signature(found).bind(**values) if values else None
        args_, kwargs = ((), {}) if given is None else (given.args, given.kwargs)
        text = s2s.source(found, *args_, mode=mode, argnums=_argnums(wrt), **kwargs)
    except s2s.errors.DifferentiationError as problem:
        may_run = not values and problem.diagnostic.code.startswith(("S2S1", "S2S2"))
        _fail(f"{problem}\n{_WITH_VALUES}" if may_run and os.environ.get("S2S_RECORDED") != "0" else str(problem))
    except TypeError as problem:  # example values that the function does not take
        _fail(f"{function}: {problem}")
    if output is not None:
        Path(output).write_text(text, encoding="utf-8")
        return
    _show(text, no_color)


def _argnums(wrt: str) -> Any:
    """``W`` as a single argument, ``W,b`` as a tuple, nothing as the first argument."""
    parts = [part.strip() for part in wrt.split(",") if part.strip()]
    argnums = [int(part) if part.lstrip("-").isdigit() else part for part in parts]
    if not argnums:
        return 0
    return argnums[0] if len(argnums) == 1 and "," not in wrt else tuple(argnums)


def _show(text: str, no_color: bool) -> None:
    """Highlighted on a terminal, as it is where piped."""
    if no_color or not sys.stdout.isatty():
        click.echo(text, nl=not text.endswith("\n"))
        return
    from rich.console import Console
    from rich.syntax import Syntax

    Console().print(Syntax(text.rstrip("\n"), "python", background_color="default", word_wrap=False))


def _fail(message: str) -> Any:
    click.echo(message, err=True)
    raise SystemExit(1)


@main.command("cache")
@click.argument("folder", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option("--clear", is_flag=True, help="Delete the files.")
def cache_command(folder: Path | None, clear: bool) -> None:
    """List the generated code on disk: in the user's cache folder, and below FOLDER (the working directory by
    default)."""
    folders = [Path(disk.user_folder()), folder or Path.cwd()]
    if clear:
        count = sum(map(disk.clear, folders))
        click.echo(f"{count} {'file' if count == 1 else 'files'} deleted")
        return
    files = [file for place in folders for file in disk.entries(place)]
    for file in files:
        click.echo(f"{file.stat().st_size:8d}  {file}")
    click.echo(f"{len(files)} {'file' if len(files) == 1 else 'files'}")


@main.command("functions")
@click.option("--filter", "text", default="", metavar="TEXT", help="Only those with TEXT in name, kind or notes.")
@click.option("--markdown", is_flag=True, help="Tables of a document, as docs/functions.md has them.")
def functions_command(text: str, markdown: bool) -> None:
    """List the functions that s2s has derivative rules for."""
    rows = s2s.functions(text)
    if markdown:
        click.echo(as_markdown(rows), nl=False)
        return
    width = max((len(row.name) for row in rows), default=0)
    for row in rows:
        click.echo(f"{row.name:<{width}}  {', '.join(row.modes):<16}  {row.kind:<16}  {row.notes}".rstrip())
    click.echo(f"{len(rows)} {'function' if len(rows) == 1 else 'functions'}")


if __name__ == "__main__":
    main()
