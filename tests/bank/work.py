"""How much work derivatives do, of the bank and of programs that write into arrays: operations, counted in their text.

``work.txt`` has a line for each program, with those of ``vjp`` and of ``jvp``. A pass that does not fire any more
changes no number that a program computes; it changes these.
"""

import ast
import functools
import pathlib

import s2s
from tests.helpers import active_positions

FILE = pathlib.Path(__file__).with_name("work.txt")
MODES = ("vjp", "jvp")
WORK = (
    ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Subscript, ast.IfExp, ast.comprehension, ast.For,
    ast.While, ast.If, ast.Try, ast.With,
)


def work_of(f, args, argnums):
    """The operations in the generated code of a function, in each mode."""
    texts = (s2s.source(f, *args, mode=mode, argnums=argnums) for mode in MODES)
    return tuple(sum(isinstance(node, WORK) for node in ast.walk(ast.parse(text))) for text in texts)


@functools.cache
def known():
    """The operations of each case, as the file has them."""
    rows = (line.rsplit(None, len(MODES)) for line in FILE.read_text().splitlines())
    return {name: tuple(map(int, counts)) for name, *counts in rows}


def check_work(name, f, args, argnums, rewrite):
    """The derivatives of a function have as many operations as the file says; ``rewrite`` lets it say so."""
    found = work_of(f, args, active_positions(args) if argnums is None else argnums)
    if rewrite:
        known()[name] = found
        rows = (f"{name} {' '.join(map(str, counts))}\n" for name, counts in sorted(known().items()))
        FILE.write_text("".join(rows))
    assert found == known()[name], "operations in vjp and jvp; where that is meant, --rewrite notes it"
