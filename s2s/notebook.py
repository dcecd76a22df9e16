"""The extension for IPython and its notebooks.

    %load_ext s2s
    %s2s loss(w, x)             the code of the gradient, for these arguments
    %%s2s                       a cell: its functions are defined, and their gradients beside them
    def loss(w, x): ...         loss_grad(w, x) is its gradient, whose code is shown
"""

from __future__ import annotations

import argparse
import ast
import io
import shlex
from typing import Any

import s2s
from s2s.directives.decorated import Differentiable, unwrap
from s2s.displays import annotated_html
from s2s.sources import SOURCES, version
from s2s.versions.kinds import read_kinds

__all__ = ["load"]


def load(shell: Any) -> None:
    """Register the magics with a shell of IPython."""
    shell.register_magic_function(lambda line: _line(shell, line), "line", "s2s")
    shell.register_magic_function(lambda line, cell: _cell(shell, line, cell), "cell", "s2s")


# --- %s2s -------------------------------------------------------------------------------------------------------------


def _line(shell: Any, line: str) -> Any:
    """The code of a derivative, for a call: ``%s2s [--mode vjp] [--wrt x] loss(w, x)``."""
    options, rest = _parsed(line, is_cell=False)
    try:
        call = ast.parse(" ".join(rest), mode="eval").body
    except SyntaxError:
        call = None
    if call is None:
        raise _usage("write a function, or a call of one: `%s2s loss(w, x)`")
    space = shell.user_ns
    if not isinstance(call, ast.Call):
        f: Any = eval(ast.unparse(call), space)
        return _source(f, (), {}, options)
    f = eval(ast.unparse(call.func), space)
    args, kwargs = eval(f"(lambda *args, **kwargs: (args, kwargs))({', '.join(_arguments(call))})", space)
    return _source(f, args, kwargs, options)


def _arguments(call: ast.Call) -> list[str]:
    named = [f"**{ast.unparse(k.value)}" if k.arg is None else f"{k.arg}={ast.unparse(k.value)}" for k in call.keywords]
    return [*map(ast.unparse, call.args), *named]


def _source(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], options: argparse.Namespace) -> str:
    return s2s.source(f, *args, mode=options.mode, argnums=options.wrt, kinds=options.args, **kwargs)


# --- %%s2s ------------------------------------------------------------------------------------------------------------


def _cell(shell: Any, line: str, cell: str) -> None:
    """Run a cell, differentiate the functions that it defines, and show the code."""
    options, _ = _parsed(line, is_cell=True)
    shell.run_cell(cell, store_history=False).raise_error()
    names = [node.name for node in ast.parse(shell.transform_cell(cell)).body if isinstance(node, ast.FunctionDef)]
    if not names:
        raise _usage("a cell under %%s2s defines functions")
    wanted = options.names or (names if not options.args else names[-1:])
    space = shell.user_ns
    for name in names:
        f = space[name]
        if name in wanted:
            space[f"{name}_grad"] = s2s.grad(f, argnums=options.wrt)
            _show(f, options)


def _show(f: Any, options: argparse.Namespace) -> None:
    """Show the code of a derivative; of one that needs to know more about its arguments, what it needs."""
    from IPython.display import display

    if not options.annotate:
        display(_source(f, (), {}, options))
        return
    function = unwrap(f.func if isinstance(f, Differentiable) else f)
    code = function.__code__
    found = version(f, (), {}, options.mode, options.wrt, read_kinds(options.args))
    last = max(line for _, _, line in code.co_lines() if line is not None)
    display(_Annotated(annotated_html(found, code.co_filename, code.co_firstlineno, last), found.compiled.text))


class _Annotated:
    """A function line by line, with the lines of its derivative; where there is no HTML, the derivative."""

    def __init__(self, shown: str, text: str) -> None:
        self._shown = shown
        self._text = text

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return self._shown


# --- options ----------------------------------------------------------------------------------------------------------


def _parsed(line: str, is_cell: bool) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(prog="%%s2s" if is_cell else "%s2s", add_help=False, exit_on_error=False)
    parser.add_argument("-m", "--mode", default="grad", choices=SOURCES)
    parser.add_argument("-w", "--wrt", default="0", type=_wrt)
    parser.add_argument("--args", default="")
    if is_cell:
        parser.add_argument("-a", "--annotate", action="store_true")
        parser.add_argument("names", nargs="*")
    try:
        # the call after the options keeps its quotes
        split = shlex.split(line) if is_cell else _options_first(line)
        return (parser.parse_args(split), []) if is_cell else parser.parse_known_args(split)
    except (argparse.ArgumentError, ValueError) as problem:
        raise _usage(str(problem)) from None
    except SystemExit:
        raise _usage(parser.format_usage().strip()) from None


def _options_first(line: str) -> list[str]:
    """The options in front of a call, split, and the call as it is."""
    found, rest = [], line.strip()
    while rest.startswith("-"):
        word, _, rest = rest.partition(" ")
        rest = rest.lstrip()
        found.append(word)
        if "=" not in word and rest:
            stream = io.StringIO(rest)
            value = shlex.shlex(stream, posix=True)
            value.whitespace_split = True
            found.append(value.get_token() or "")
            rest = stream.read().lstrip()
    return [*found, rest] if rest else found


def _wrt(text: str) -> Any:
    """The argument, by position or name, or several between commas."""
    parts = [int(part) if part.strip().isdigit() else part.strip() for part in text.split(",")]
    return parts[0] if len(parts) == 1 else tuple(parts)


def _usage(problem: str) -> Exception:
    from IPython.core.error import UsageError

    return UsageError(problem)  # type: ignore[no-any-return]

