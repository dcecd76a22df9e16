"""How much work the generated code of the bank does: operations, counted in its text.

``work.txt`` has a line for each case, with those of ``vjp`` and of ``jvp``. A pass that does not fire any more changes
no number that a program computes; it changes these.
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


def work_of(case):
    """The operations in the generated code of a case, in each mode."""
    argnums = active_positions(case.args) if case.argnums is None else case.argnums
    texts = (s2s.source(case.f, *case.args, mode=mode, argnums=argnums) for mode in MODES)
    return tuple(sum(isinstance(node, WORK) for node in ast.walk(ast.parse(text))) for text in texts)


@functools.cache
def known():
    """The operations of each case, as the file has them."""
    rows = (line.rsplit(None, len(MODES)) for line in FILE.read_text().splitlines())
    return {name: tuple(map(int, counts)) for name, *counts in rows}


def check_work(case, rewrite):
    """The generated code of a case has as many operations as the file says; ``rewrite`` lets it say so."""
    found = work_of(case)
    if rewrite:
        known()[case.name] = found
        rows = (f"{name} {' '.join(map(str, counts))}\n" for name, counts in sorted(known().items()))
        FILE.write_text("".join(rows))
    assert found == known()[case.name], "operations in vjp and jvp; where less work is meant, --rewrite notes it"
