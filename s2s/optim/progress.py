"""How far a run is, as a bar on a terminal: ``Adam ━━━━━━━━━━━━━━━ 120/400 loss 0.0132 0:00:04 0:00:09``; as a line
below the cell of a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["shown"]


@contextmanager
def shown(is_wanted: bool, name: str, steps: int) -> Iterator[Callable[[int, float], None]]:
    """The function that is told the number of steps taken and the loss. Nothing is shown where standard error is
    neither a terminal nor the output of a notebook's cell."""
    if is_wanted and type(sys.stderr).__module__.startswith("ipykernel"):
        with _line(name, steps) as show:
            yield show
        return
    if not is_wanted or sys.stderr is None or not sys.stderr.isatty():
        yield lambda step, value: None
        return
    from rich import progress as rich
    from rich.console import Console

    columns = (
        "{task.description}", rich.BarColumn(), rich.MofNCompleteColumn(), "loss {task.fields[loss]}",
        rich.TimeElapsedColumn(), rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=steps, loss="-")
        yield lambda step, value: bar.update(task, completed=step, loss=f"{value:.6g}")


@contextmanager
def _line(name: str, steps: int) -> Iterator[Callable[[int, float], None]]:
    """One line below a cell, written over as often as can be read."""
    start = written = time.monotonic()
    text = last = ""

    def show(step: int, value: float) -> None:
        nonlocal written, text, last
        now = time.monotonic()
        text = f"{name} {step}/{steps} loss {value:.6g} {now - start:.0f} s"
        if now - written > _PAUSE:
            print(f"\r{text:<{len(last)}}", end="", file=sys.stderr, flush=True)
            written, last = now, text

    try:
        yield show
    finally:
        print(f"\r{text:<{len(last)}}", file=sys.stderr, flush=True)


_PAUSE = 0.2
