"""Words of the command line in, text on standard output out.

Exit codes: 0; 1 for an error of s2s or of the user's file, told without a traceback, and for a check that failed; 2 for
wrong usage. Only this folder imports click and rich.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import click

import s2s
from s2s.cache import disk
from s2s.cli import dump as dumping
from s2s.cli import exploring, pages
from s2s.cli.build import Built, build, differences, files_with_progress, is_up_to_date, sources_of, write_built
from s2s.cli.checking import check, show_checked
from s2s.cli.doctor import findings
from s2s.cli.explaining import show_cost, show_explanation, show_page
from s2s.cli.insert import settled
from s2s.cli.loading import CannotLoad, Loaded, annotated_kinds, bound, evaluated, load_all
from s2s.cli.terminal import fail, note, show, show_beside, write
from s2s.core.package import DOCUMENTS
from s2s.directives.decorated import unwrap
from s2s.explanation import Explanation, measure, note_numba
from s2s.explorer.costs import note_shares
from s2s.explorer.stages import StageError, stage_text
from s2s.listing import as_markdown
from s2s.notices import CompileTimeWarning, RecordedWarning, SlowDerivativeWarning, StraightThroughWarning
from s2s.sources import version_of_call
from s2s.versions.kinds import read_kinds
from s2s.versions.target import target_of

_WITH_VALUES = "  = or:       give example values, --arg 'x=np.ones(3)': what is not known is then looked up in a run"

MODES = ("grad", "value_and_grad", "vjp", "jvp", "hvp", "jacobian", "hessian", "primal")

_EXAMPLES = """
Examples:

\b
  s2s dump model.py:loss                            the gradient, as code
  s2s dump model.py:loss --args "w: f8[:], n: 10"   for these kinds of arguments
  s2s dump model.py:loss --wrt w,b -o loss_grad.py  with respect to w and b, to a file
  s2s check model.py:loss --arg 'w=np.ones(3)'      the gradient against differences
  s2s explain model.py:loss                         what is known of each line
  s2s explain S2S103                                what an error or a warning means
  s2s explore model.py:loss                         a page that shows both sides of it
  s2s build model.py                                gradients ahead of time
  s2s functions linalg                              what has a derivative rule

`s2s COMMAND --help` says more of each. Exit codes: 0; 1 where something is refused or a check fails; 2 for wrong usage.

\b
Completion of words in the shell:
  bash   eval "$(_S2S_COMPLETE=bash_source s2s)"      in ~/.bashrc
  zsh    eval "$(_S2S_COMPLETE=zsh_source s2s)"       in ~/.zshrc
  fish   _S2S_COMPLETE=fish_source s2s | source       in ~/.config/fish/completions/s2s.fish
"""

_TARGET = f"""TARGET is path/to/file.py:function, package.module:function, file.py:Class.method (differentiated with
respect to its first argument after self), or file.py for all functions in it that are decorated with
@s2s.differentiable. The file is imported: what it does at its top level is done.

KINDS are float, int, bool and complex; f8, f4, c16 and i8, numbers of NumPy; f8[:], f8[:, 3] and f8[n, m], arrays with
lengths that are open, fixed, or the same where the name is; [f8[:], ...], (int, float) and {{'w': f8[:]}}, containers;
10 and 'same', values.

\b
{DOCUMENTS}/command_line.md#kinds-of-arguments"""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, epilog=_EXAMPLES)
@click.version_option(s2s.__version__, prog_name="s2s")
def main() -> None:
    """s2s writes the derivative of a Python function as Python source."""


def of_arguments(command: Any) -> Any:
    """The options that say what is differentiated, and for which arguments."""
    options = (
        click.option("--wrt", default="", metavar="NAMES",
                     help="Arguments to differentiate by name or number, W,b; the first by default."),
        click.option("--args", "kinds", default="", metavar="KINDS",
                     help='Kinds of arguments, "x: f8[100, 3], n: 10", as below.'),
        click.option("--arg", "args", multiple=True, metavar="NAME=EXPR",
                     help="An example value, 'x=np.ones(3)': EXPR is Python, which is evaluated with np and the names "
                          "of the file. May be repeated."),
        click.option("--nonsmooth", multiple=True, metavar="POLICY",
                     help="What stands for the derivatives of steps: zero, straight_through, error; floor=zero for "
                          "one function. May be repeated."),
        click.option("--backend", type=click.Choice(("numpy", "numba")), default=None,
                     help="What the code is generated for; as decorated by default."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@main.command(epilog=_TARGET)
@click.argument("target")
@of_arguments
@click.option("--mode", type=click.Choice(MODES), default="grad", show_default=True, help="What to print.")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write to a file.")
@click.option("--standalone", is_flag=True,
              help="A module that runs without s2s and without the file: all that it reads is in it.")  # fmt: skip
@click.option("--no-comments", is_flag=True, help="Leave out comments.")
@click.option("--stage", default="final", metavar="NAME",
              help="What the compiler has after a pass: naive (before any), the name of a pass, final; ir or ir:NAME "
                   "for its intermediate form.")  # fmt: skip
@click.option("--side-by-side", is_flag=True, help="The function at the left, what is generated at the right.")
@click.option("--no-color", is_flag=True, help="Plain text on a terminal too.")
def dump(
    target: str, wrt: str, kinds: str, args: tuple[str, ...], nonsmooth: tuple[str, ...], backend: str | None,
    mode: str, output: Path | None, standalone: bool, no_comments: bool, stage: str, side_by_side: bool, no_color: bool,
) -> None:
    """Print the code that s2s generates for TARGET."""
    os.environ["S2S_CACHE"] = "off"  # a dump leaves nothing behind
    asked = dumping.Asked(wrt, mode, backend or "", args, kinds, nonsmooth)
    try:
        found = load_all(target)
        texts = [_text(loaded, asked, stage, standalone) for loaded in found]
        text = texts[0] if len(texts) == 1 else dumping.merged(texts)
    except CannotLoad as problem:
        fail(problem)
    if no_comments and not stage.startswith("ir"):
        text = dumping.without_comments(text)
    if output is not None:
        write(output, text)
    elif side_by_side:
        primals = "\n\n\n".join(_primal(loaded) for loaded in found)
        show_beside(primals, text, (target, mode), no_color)
    else:
        show(text, no_color)


def _text(loaded: Loaded, asked: dumping.Asked, stage: str, is_standalone: bool) -> str:
    """The text for one function. Ends the program where it is refused."""
    try:
        with dumping.policies(asked.nonsmooth):
            version = dumping.version_for(loaded, asked)
        if stage != "final":
            made = target_of(loaded.function)
            assert made is not None
            with dumping.policies(asked.nonsmooth):
                return stage_text(made, version, stage)
        text = dumping.dumped(loaded, asked, version, is_standalone)
    except s2s.errors.DifferentiationError as problem:
        fail(refusal(problem, loaded, asked))
    except StageError as problem:
        fail(problem)
    said = "" if asked.args else dumping.what_to_say(loaded, asked.kinds)
    if said and ("rt." in text or "products." in text):
        note(f"note: the code asks when it runs what its arguments are\n{said}")
    return text


_OF_THE_TEXT = ("S2S102", "S2S103", "S2S107", "S2S116")
"""What is refused by the text of a function alone, whatever its arguments are."""


def refusal(problem: s2s.errors.DifferentiationError, loaded: Loaded, asked: dumping.Asked) -> str:
    """The message of a refusal, with what may be said of the arguments."""
    code = problem.diagnostic.code
    is_of_kinds = not asked.args and code.startswith(("S2S1", "S2S2", "S2S301")) and code not in _OF_THE_TEXT
    said = _of_arguments(loaded, asked) if is_of_kinds else ""
    return "\n".join(part for part in (str(problem), said, *problem.__notes__) if part)


def _of_arguments(loaded: Loaded, asked: dumping.Asked) -> str:
    if loaded.is_method:
        owner = loaded.place.rpartition(":")[2].rpartition(".")[0]
        return f"  = or:       give the object, --arg 'self={owner}(...)'"
    said = dumping.what_to_say(loaded, asked.kinds)
    return said if os.environ.get("S2S_RECORDED") == "0" else f"{said}\n{_WITH_VALUES}".strip("\n")


def _primal(loaded: Loaded) -> str:
    """The source of a function, with the numbers of its lines."""
    try:
        lines, first = inspect.getsourcelines(unwrap(loaded.function))
    except (OSError, TypeError):
        return f"# {loaded.place}: no source"
    return "\n".join(f"{first + k:4d}  {line.rstrip()}" for k, line in enumerate(lines))


def _called(loaded: Loaded, args: tuple[str, ...], kinds: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call: those that are given, and random ones of the kinds that are known. Raises CannotLoad
    where some are missing."""
    values, given = evaluated(args, loaded.module), read_kinds(kinds)
    return bound(loaded, values, {**annotated_kinds(loaded.function), **given})


@main.command("check", epilog=_TARGET)
@click.argument("target")
@of_arguments
@click.option("--order", type=click.IntRange(1, 3), default=1, show_default=True, help="The highest derivative.")
@click.option("--rtol", type=float, help="How far the two may be apart, relative where they are greater than 1.")
def check_command(
    target: str, wrt: str, kinds: str, args: tuple[str, ...], nonsmooth: tuple[str, ...], backend: str | None,
    order: int, rtol: float | None,
) -> None:
    """Compare the derivatives of TARGET with differences, by each argument. The function is called; arguments that only
    have a kind get random numbers between 0.5 and 1.5."""
    os.environ["S2S_CACHE"] = "off"
    warnings.simplefilter("ignore", StraightThroughWarning)  # the table names the places
    warnings.simplefilter("ignore", CompileTimeWarning)  # each mode would tell of it
    is_right = True
    for loaded in loaded_from(target):
        loaded.function = dumping.on_backend(loaded.function, backend or "")
        try:
            given, named = _called(loaded, args, kinds)
            value = loaded.tried(given, named)
            with dumping.policies(nonsmooth):
                wanted = dumping.argnums(wrt) if wrt else None
                found = check(loaded, given, named, wanted, order, rtol)
        except CannotLoad as problem:
            fail(problem)
        except s2s.errors.DifferentiationError as problem:
            fail(problem)
        is_right &= show_checked(loaded.place.rpartition(":")[2], value, found)
    if not is_right:
        raise SystemExit(1)


@main.command("explain", epilog=_TARGET)
@click.argument("target")
@of_arguments
@click.option("--mode", type=click.Choice(("grad", "value_and_grad", "vjp", "jvp")), default="grad", show_default=True,
              help="Of what.")  # fmt: skip
@click.option("--numba", "asks_numba", is_flag=True, help="Let Numba compile it, and say at which lines it stops.")
@click.option("--measure", "is_measured", is_flag=True, help="Call it, for its time (by line) and memory, ask Numba.")
def explain_command(
    target: str, wrt: str, kinds: str, args: tuple[str, ...], nonsmooth: tuple[str, ...], backend: str | None,
    mode: str, asks_numba: bool, is_measured: bool,
) -> None:
    """Say of each line of TARGET whether the derivative flows through it (*), what is kept of it for the reverse sweep
    and why, what is computed again, by which rule it is differentiated, what was chosen, what was folded and by which
    facts, what is left to the run, observed or recorded, and what to write in place of it, what stops operations on
    arrays from being one loop, and what stops Numba.

    Or, of an error code (S2S103) or the category of a warning (SearchWarning), what it means and what to do."""
    if pages.is_named(target):
        show_page(target)
        return
    os.environ["S2S_CACHE"] = "off"
    for told in (StraightThroughWarning, RecordedWarning, SlowDerivativeWarning):  # the lines say so
        warnings.simplefilter("ignore", told)
    for loaded in loaded_from(target):
        asked = dumping.Asked(wrt, mode, backend or "", args, kinds, nonsmooth)
        try:
            with dumping.policies(nonsmooth):
                found = dumping.explained(loaded, asked)
                numba = _numba(found, loaded, asked) if asks_numba or is_measured else ""
                if is_measured:
                    _share(found, loaded, asked)
                show_explanation(found)
                if is_measured:
                    _measure(loaded, asked)
                if numba:
                    click.echo(f"Numba: {numba}")
        except CannotLoad as problem:
            fail(problem)
        except s2s.errors.DifferentiationError as problem:
            fail(refusal(problem, loaded, asked))


def _numba(found: Explanation, loaded: Loaded, asked: dumping.Asked) -> str:
    """What Numba does with the code, which is noted at the lines, too."""
    if importlib.util.find_spec("numba") is None:
        return "is not installed"
    args, kwargs = _called(loaded, asked.args, asked.kinds)
    loaded.tried(args, kwargs)
    function, _, _, mode, wanted, *_ = dumping.asked_for(loaded, asked)
    return note_numba(found, function, args, kwargs, mode, wanted)


def _share(found: Explanation, loaded: Loaded, asked: dumping.Asked) -> None:
    """Note at the lines their shares in the time of a call."""
    args, kwargs = _called(loaded, asked.args, asked.kinds)
    loaded.tried(args, kwargs)
    function, _, _, mode, wanted, *_ = dumping.asked_for(loaded, asked)
    note_shares(found, *version_of_call(dumping.on_backend(function, "numpy"), args, kwargs, mode, wanted))


def _measure(loaded: Loaded, asked: dumping.Asked) -> None:
    """Print what a call of the gradient takes."""
    args, kwargs = _called(loaded, asked.args, asked.kinds)
    loaded.tried(args, kwargs)
    wanted = dumping.argnums(asked.wrt, loaded.first)
    plain = s2s.grad(dumping.on_backend(loaded.function, "numpy"), wanted)
    show_cost(measure(loaded.function, plain, args, kwargs))


def loaded_from(target: str) -> list[Loaded]:
    """The functions that are named. Ends the program where there are none."""
    try:
        return load_all(target)
    except CannotLoad as problem:
        fail(problem)
        raise


@main.command("explore", epilog=_TARGET)
@click.argument("target")
@of_arguments
@click.option("--mode", "modes", multiple=True, type=click.Choice((*MODES, "all")),
              help="What to show, first what is seen first. May be repeated. By default all that takes some seconds.")
@click.option("--measure", "is_measured", is_flag=True,
              help="Run it, with random values of the kinds too, for times and bytes.")  # fmt: skip
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path),
              help="The file to write; NAME.html in the working directory by default.")  # fmt: skip
def explore_command(
    target: str, wrt: str, kinds: str, args: tuple[str, ...], nonsmooth: tuple[str, ...], backend: str | None,
    modes: tuple[str, ...], is_measured: bool, output: Path | None,
) -> None:
    """Write a page that shows TARGET beside its derivatives, line by line: in each mode, after each pass, with what is
    kept and chosen. With example values, --arg, it is run with copies of them: the page has the time of each line."""
    os.environ["S2S_CACHE"] = "off"
    warnings.simplefilter("ignore", StraightThroughWarning)  # the page marks the lines
    warnings.simplefilter("ignore", CompileTimeWarning)  # of many derivatives, each would tell of it
    found = loaded_from(target)
    if len(found) > 1:
        fail(f"{target}: name one of {', '.join(loaded.place for loaded in found)}")
    loaded, asked = found[0], dumping.Asked(wrt, "grad", backend or "", args, kinds, nonsmooth)
    try:
        given = _called(loaded, args, kinds) if args or is_measured else ((), {})
        if args or is_measured:
            loaded.tried(*given)
        with dumping.policies(nonsmooth):
            page = exploring.page(loaded, asked, modes, *given)
    except CannotLoad as problem:
        fail(problem)
    except s2s.errors.DifferentiationError as problem:
        fail(refusal(problem, loaded, asked))
    file = output or Path(f"{loaded.place.rpartition(':')[2]}.html")
    write(file, page, is_source=False)
    click.echo(file)


@main.command("build")
@click.argument("names", nargs=-1, required=True, metavar="PACKAGE_OR_FILES...")
@click.option("--mode", "modes", multiple=True, default=("grad", "value_and_grad"), show_default=True,
              type=click.Choice(MODES), help="What to build. May be repeated.")  # fmt: skip
@click.option("--check", "is_check", is_flag=True, help="Write nothing; end with 1 where a file is out of date.")
def build_command(names: tuple[str, ...], modes: tuple[str, ...], is_check: bool) -> None:
    """Write the derivatives of all decorated functions ahead of time, for the kinds that their annotations name:
    model_adjoints.py beside model.py, and the cache folder beside it. First calls find them in either, as long as
    nothing has changed that they rely on. Only what has changed is compiled. The files are imported."""
    if is_check:
        os.environ["S2S_CACHE"] = "off"
    try:
        files = sources_of(names)
        found = [built for file in files_with_progress(files, sys.stderr.isatty())
                 if (built := build(file, modes)) is not None]
        stale = [built for built in found if _is_stale(built, is_check)]
        for built in stale:
            if not is_check:
                write_built(built)
            click.echo(f"{built.file}: {'out of date' if is_check else f'{built.count} written'}")
            for line in differences(built) if is_check else ():
                note(line)
    except (CannotLoad, OSError) as problem:
        fail(problem)
    if not found:
        click.echo("nothing to build: no function is decorated with @s2s.differentiable")
    elif not stale:
        click.echo("all is up to date")
    elif is_check:
        raise SystemExit(1)


def _is_stale(built: Built, is_check: bool) -> bool:
    for message in built.left_out:
        note(message)
    return not is_up_to_date(built, is_check)


@main.command("insert")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--mode", type=click.Choice(("grad", "value_and_grad")), default="grad", show_default=True,
              help="What to insert.")  # fmt: skip
@click.option("--check", "is_check", is_flag=True, help="Write nothing; end with 1 where the file would change.")
def insert_command(file: Path, mode: str, is_check: bool) -> None:
    """Write the derivative of each decorated function of FILE below it, for the kinds that its annotations name. What
    else is in the file stays as it is; derivatives that are there are replaced. The file is imported."""
    os.environ["S2S_CACHE"] = "off"
    try:
        if not file.is_file():
            raise CannotLoad(f"{file}: there is no such file")
        before = file.read_bytes().decode()  # with the ends of its lines
        text, left_out = settled(file, mode, before)
        if text != before and not is_check:
            file.write_bytes(text.encode())
    except s2s.errors.DifferentiationError as problem:
        fail(problem)
    except (CannotLoad, OSError, UnicodeDecodeError) as problem:
        fail(problem)
    for message in left_out:
        note(message)
    click.echo(f"{file}: {'up to date' if text == before else 'out of date' if is_check else 'written'}")
    if is_check and text != before:
        raise SystemExit(1)


@main.command("doctor")
def doctor_command() -> None:
    """Say what is installed, whether the cache can be written to, Numba works and a first gradient is right."""
    is_well = True
    for is_right, text in findings():
        is_well &= is_right
        click.echo(f"{'ok  ' if is_right else 'WRONG'}  {text}")
    if not is_well:
        raise SystemExit(1)


@main.group("cache")
def cache_group() -> None:
    """The generated code that is kept on disk."""


_FOLDER = click.argument("folder", required=False, type=click.Path(file_okay=False, path_type=Path))


def _folders(folder: Path | None) -> list[Path]:
    """The user's cache folder, and what is below a folder, the working directory by default."""
    return [Path(disk.user_folder()), folder or Path.cwd()]


@cache_group.command("info")
@_FOLDER
def cache_info(folder: Path | None) -> None:
    """List the files in the user's cache folder, and below FOLDER (the working directory by default)."""
    files = [file for place in _folders(folder) for file in disk.entries(place)]
    for file in files:
        click.echo(f"{file.stat().st_size:8d}  {file}")
    size = sum(file.stat().st_size for file in files)
    click.echo(f"{_counted(len(files), 'file')}, {size} bytes")


@cache_group.command("clear")
@_FOLDER
def cache_clear(folder: Path | None) -> None:
    """Delete the files in the user's cache folder, and below FOLDER (the working directory by default)."""
    click.echo(f"{_counted(sum(map(disk.clear, _folders(folder))), 'file')} deleted")


@cache_group.command("dir")
def cache_dir() -> None:
    """Print the user's cache folder, where files go whose sources are in a folder that cannot be written to."""
    click.echo(disk.user_folder())


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


@main.command("functions")
@click.argument("word", default="", metavar="[TEXT]")
@click.option("--filter", "text", default="", metavar="TEXT", help="The same as TEXT.")
@click.option("--markdown", is_flag=True, help="As tables of Markdown.")
def functions_command(word: str, text: str, markdown: bool) -> None:
    """List the functions that s2s has derivative rules for; with TEXT those that have it in name, kind or notes.
    Functions without a rule that are written in Python are differentiated by their source."""
    rows = s2s.functions(word or text)
    if markdown:
        click.echo(as_markdown(rows), nl=False)
        return
    width = max((len(row.name) for row in rows), default=0)
    for row in rows:
        click.echo(f"{row.name:<{width}}  {', '.join(row.modes):<16}  {row.kind:<16}  {row.notes}".rstrip())
    click.echo(_counted(len(rows), "function"))


if __name__ == "__main__":
    main(prog_name="s2s")
