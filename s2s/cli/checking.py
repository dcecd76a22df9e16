"""``s2s check``: a function and its arguments in, the comparison of its derivative with differences out, as a table."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from s2s import runtime as rt
from s2s.cli.loading import Loaded
from s2s.core.annotated import signature_of
from s2s.testing import Report, check_grads

__all__ = ["Checked", "check", "show_checked"]

MODES = {"fwd": "forward", "rev": "reverse"}


@dataclass
class Checked:
    """What came out for one argument: a report, or the message of what is wrong."""

    argument: str
    report: Report | None
    problem: str = ""


def check(
    loaded: Loaded, args: tuple[Any, ...], kwargs: dict[str, Any], wrt: Any, order: int, rtol: float | None
) -> list[Checked]:
    """The checks, one for each argument that is differentiated: those of ``wrt``, or all that hold floats. Raises what
    the compiler raises."""
    names = list(signature_of(loaded.function).parameters)
    wanted = None if wrt is None else {names[k] if isinstance(k, int) else k for k in
                                       (wrt if isinstance(wrt, tuple) else (wrt,))}
    found = []
    for k, value in enumerate(args):
        name = names[min(k, len(names) - 1)]
        is_object = loaded.is_method and k == 0
        if is_object or (name not in wanted if wanted is not None else not rt.floats(value)):
            continue
        one = _by_one(loaded.function, args, kwargs, k)
        try:
            found.append(Checked(name, check_grads(one, (value,), order, rtol=rtol)))
        except AssertionError as problem:
            found.append(Checked(name, None, str(problem)))
    return found


def _by_one(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], k: int) -> Callable[..., Any]:
    """The function of one argument; the others stand still."""
    names = list(signature_of(f).parameters)
    one = functools.partial(f, *args[:k], **dict(zip(names[k + 1 :], args[k + 1 :], strict=False)), **kwargs)
    one.__dict__["__name__"] = getattr(f, "__name__", "the function")
    return one


def show_checked(name: str, value: Any, found: list[Checked]) -> bool:
    """Print the checks, the verdict first; whether all agree."""
    wrong = [one.argument for one in found if one.report is None]
    if wrong:
        click.echo(f"FAILED: the derivative of {name} is not what differences give, by {', '.join(wrong)}")
    elif not found:
        click.echo(f"FAILED: {name} has no argument that holds floats")
    else:
        click.echo(f"passed: the derivative of {name} is what differences give")
    click.echo(f"value   {np.array2string(np.asarray(value), precision=10, threshold=8)}")
    rows: list[tuple[str, ...]] = [("argument", "order", "mode", "derivative", "by differences", "error")]
    for one in found:
        for c in one.report.comparisons if one.report is not None else ():
            by_values = f"{_shown(c.expected)}{' *' if c.explained else ''}"
            rows.append((one.argument, str(c.order), MODES[c.mode], _shown(c.found), by_values, f"{c.error:.0e}"))
    if len(rows) > 1:
        _print_table(rows)
    for one in found:
        if one.report is None:
            click.echo(f"\nby {one.argument}: {one.problem}")
    _show_choices(found)
    return bool(found) and not wrong


def _show_choices(found: list[Checked]) -> None:
    reports = [one.report for one in found if one.report is not None]
    choices = list(dict.fromkeys(str(choice) for report in reports for choice in report.choices))
    if choices:
        click.echo("\npassed on the way, with a derivative by choice:")
        for choice in choices:
            click.echo(f"  {choice}")
    plain = [c for report in reports for c in report.comparisons if c.explained]
    if plain:
        click.echo("* differences of the function as these choices have it; differences of the values alone give "
                   + ", ".join(_shown(c.plain) for c in plain))


def _shown(number: Any) -> str:
    return f"{number.real:.8g}" if getattr(number, "imag", 0.0) == 0.0 else f"{number:.8g}"


def _print_table(rows: list[tuple[str, ...]]) -> None:
    """The rows, the first one their titles; as plain text in columns, also on a terminal that is wide enough."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(w) if k < 3 else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths, strict=True))]
        click.echo("  ".join(cells).rstrip())
