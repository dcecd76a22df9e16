"""The command line: ``python -m benchmarks run --suite kernels``; ``--help`` lists the other measurements."""

from __future__ import annotations

import json
import platform
import runpy
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks import contenders, page, report
from benchmarks.case import Case
from benchmarks.measuring import CONTENDERS
from benchmarks.suites import SUITES, load, suite_of

ROOT = Path(__file__).resolve().parent.parent
COMPILE_FOR_LONG = ("s2s numba", "s2s auto", "torch compiled")


@click.group()
def main() -> None:
    """Measure s2s."""


@main.command()
@click.option("--suite", type=click.Choice([*SUITES, "all"]), default="all", show_default=True)
@click.option("--only", "names", multiple=True, metavar="CASE", help="A case by name; may be given several times.")
@click.option("--without", multiple=True, type=click.Choice(CONTENDERS[1:]), help="Leave a contender out.")
@click.option("--seconds", default=1.0, show_default=True, help="For each contender of each case.")
@click.option("--timeout", default=600.0, show_default=True, help="Seconds after which a case is given up.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the results to this file.")
@click.option("--plots", type=click.Path(path_type=Path), help="Write plots into this folder.")
def run(
    suite: str, names: tuple[str, ...], without: tuple[str, ...], seconds: float, timeout: float,
    json_path: Path | None, plots: Path | None,
) -> None:
    """Gradients beside the primal, the peers, and adjoints by hand; ends with an error where a limit is exceeded."""
    console = Console(stderr=True)
    known = load(suite)
    if unknown := set(names) - {case.name for case in known}:
        raise click.BadParameter(f"no case of suite {suite!r} is called {', '.join(sorted(unknown))}")
    cases = [case for case in known if not names or case.name in names]
    chosen = [contender for contender in CONTENDERS if contender not in without]
    rows = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=len(cases))
        for case in cases:
            progress.update(task, description=case.name)
            rows.append({"suite": suite_of(case.name), **measure_alone(case, seconds, chosen, timeout)})
            progress.advance(task)
    results = {"environment": environment(), "rows": rows}
    if json_path:
        json_path.write_text(json.dumps(results, indent=1) + "\n")
    sys.exit(show(results, plots))


def measure_alone(case: Case, seconds: float, chosen: list[str], timeout: float) -> dict[str, Any]:
    """The row of a case, from a process of its own: one that crashes costs one row.

    One that takes too long is measured once more without those who compile for long.
    """
    command = [sys.executable, "-m", "benchmarks.worker", case.name, str(seconds), *chosen]
    empty: dict[str, Any] = {"case": case.name, "contenders": {}, "limit": case.limit}
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        late = {"error": f"not done after {timeout:.0f} s"}
        slow = [contender for contender in COMPILE_FOR_LONG if contender in chosen]
        if not slow:
            return {**empty, **late}
        found = measure_alone(case, seconds, [one for one in chosen if one not in slow], timeout)
        found["contenders"] |= {contender: dict(late) for contender in slow if contenders.takes_part(case, contender)}
        return found
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        return {**empty, "error": last[0]}
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return row


def environment() -> dict[str, Any]:
    """Versions of what took part, and which peers were missing."""
    versions = {}
    for package in ("s2s", "numpy", "numba", "jax", "torch", "autograd"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "missing"
    lacking = sorted({library for one in contenders.LIBRARIES if (library := contenders.missing(one))})
    python, machine = platform.python_version(), platform.machine()
    return {"python": python, "machine": machine, "versions": versions, "missing": lacking}


def show(results: dict[str, Any], plots: Path | None) -> int:
    """Print the tables and draw the plots; 1 where s2s fails or a limit is exceeded."""
    report.print_report(results)
    if plots:
        from benchmarks import plots as drawing

        for path in drawing.draw(results, plots):
            click.echo(f"wrote {path}")
    return 1 if report.failures(results["rows"]) else 0


@main.command("report")
@click.argument("json_path", type=click.Path(exists=True, path_type=Path))
@click.option("--plots", type=click.Path(path_type=Path), help="Write plots into this folder.")
def report_again(json_path: Path, plots: Path | None) -> None:
    """Print the tables of results that ``run --json`` wrote."""
    sys.exit(show(json.loads(json_path.read_text()), plots))


@main.command("page")
@click.argument("json_paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("-o", "output", type=click.Path(path_type=Path), default=ROOT / "docs" / "speed.md", show_default=True)
def write_page(json_paths: tuple[Path, ...], output: Path) -> None:
    """Write the page of the documents from results that ``run --json`` wrote."""
    output.write_text(page.page([json.loads(path.read_text()) for path in json_paths]), encoding="utf-8")
    click.echo(f"wrote {output}")


def script(name: str, summary: str) -> None:
    """A command that runs one of the scripts of this folder, with the arguments that follow."""

    @main.command(name.replace("_", "-"), help=summary, add_help_option=False,
                  context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
    @click.pass_context
    def start(context: click.Context) -> None:
        path = Path(__file__).parent / f"{name}.py"
        sys.argv = [str(path), *context.args]
        runpy.run_path(str(path), run_name="__main__")


script("checkpointing", "Memory and time of checkpointed loops.")
script("compile_cost", "What compiling costs, with limits.")
script("dispatch", "What a call of a derivative costs beside its generated code, with limits.")
script("rungs", "What a gradient costs beside its function, by the way in which it is had.")
script("second_order", "Tangents and second derivatives beside gradients, with limits.")

if __name__ == "__main__":
    main()
