"""How far a run is, as a bar on a terminal: ``Adam ━━━━━━━━━━━━━━━ 120/400 loss 0.0132 0:00:04 0:00:09``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["shown"]


@contextmanager
def shown(is_wanted: bool, name: str, steps: int) -> Iterator[Callable[[int, float], None]]:
    """The function that is told the number of steps taken and the loss. Nothing is shown where standard error is no
    terminal."""
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
