"""Functions that no file holds: typed into the interpreter, on the command line, or on standard input."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """\
import s2s

def f(x):
    y = x * x
    return y * 3.0

class C:
    def m(self, x):
        return x * f(x)

print(s2s.grad(f)(2.0), s2s.grad(lambda x: x * x)(2.0), s2s.grad(C().m)(2.0))
"""

ENVIRONMENT = {**os.environ, "S2S_CACHE": "0", "S2S_RECORDED": "0", "PYTHONPATH": str(ROOT)}


def printed(*command, **options):
    done = subprocess.run([sys.executable, *command], env=ENVIRONMENT, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_on_the_command_line():
    assert printed("-c", PROGRAM) == "12.0 4.0 36.0\n"


def test_on_standard_input(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM, encoding="utf-8")
    with open(file, encoding="utf-8") as program:
        assert printed(stdin=program) == "12.0 4.0 36.0\n"


@pytest.mark.slow
def test_what_cannot_be_had_is_refused_and_says_what_to_do():
    for options, hint in (
        ({"input": PROGRAM}, "put it into a file, `python -i FILE`"),
        ({"args": "import sys; exec(sys.stdin.read())", "input": PROGRAM}, "write it to a file and import that"),
    ):
        command = ["-c", options.pop("args")] if "args" in options else []
        done = subprocess.run(
            [sys.executable, *command], env=ENVIRONMENT, capture_output=True, text=True, **options)
        assert "the source of `f` is not available [S2S302]" in done.stderr and hint in done.stderr


def test_the_remedy_for_exec():
    remedy = (
        "import linecache, sys\n"
        "text, name = sys.stdin.read(), 'model'\n"
        "linecache.cache[name] = len(text), None, text.splitlines(True), name\n"
        "exec(compile(text, name, 'exec'))\n"
    )
    assert printed("-c", remedy, input=PROGRAM) == "12.0 4.0 36.0\n"


def typed_at_the_prompt(lines, tmp_path):
    """What the last of the lines shows that are typed into an interpreter: it ends in ``end``."""
    pytest.importorskip("readline")
    pty = pytest.importorskip("pty")
    terminal, inner = pty.openpty()
    environment = {**ENVIRONMENT, "TERM": "dumb", "HOME": str(tmp_path), "PYTHON_BASIC_REPL": "1", "NO_COLOR": "1"}
    child = subprocess.Popen(
        [sys.executable, "-q"], stdin=inner, stdout=inner, stderr=inner, env=environment, cwd=tmp_path)
    os.close(inner)
    shown = ""
    for line in lines:
        while not shown.rstrip("\r\n").endswith((">>> ", "... ")):
            shown += os.read(terminal, 65536).decode()
        shown = ""
        os.write(terminal, f"{line}\n".encode())
    limit = time.monotonic() + 120
    while "end" not in shown.partition("found 1")[2] and "Error" not in shown and time.monotonic() < limit:
        shown += os.read(terminal, 65536).decode()
    os.write(terminal, b"exit()\n")
    child.wait(120)
    os.close(terminal)
    return shown


def test_at_the_prompt_of_the_interpreter(tmp_path):
    """Lines that readline remembers; Python 3.13 has them in ``linecache``."""
    shown = typed_at_the_prompt([
        "import s2s", "def f(x):", "    return x * 7.0", "", "def f(x):", "    y = x * x", "    return y * 3.0", "",
        "g = [lambda x: x * 2.0, lambda x: x * 5.0][1]",
        "class C:", "    def m(self, x):", "        return x * f(x)", "",
        "print('found', s2s.grad(f)(2.0), s2s.grad(g)(1.0), s2s.grad(C().m)(2.0), 'end')"], tmp_path)
    assert "found 12.0 5.0 36.0 end" in shown, shown


@pytest.mark.slow
def test_comments_and_messages_have_the_lines_that_were_typed(tmp_path):
    """Each statement begins at line 1 of ``<stdin>``: lines of one are not shown for those of another."""
    shown = typed_at_the_prompt([
        "import s2s", "def f(x):", "    return x * 7.0 * x", "", "def g(x):", "    y = f(x)", "    return y * y", "",
        "def h(x):", "    yield x", "", "def text(f):", "    try:",
        "        return s2s.source(f, 2.0)", "    except s2s.errors.DifferentiationError as e:",
        "        return str(e)", "", "print('found', 1, text(f), text(g), text(h), 'end')"], tmp_path)
    for line in (r"# L2: return x \* 7\.0 \* x", r"# L3: return y \* y", r"# <stdin>-\d+:2: return x \* 7\.0 \* x"):
        assert re.search(line, shown), shown
    assert re.search(r"2 \|     yield x\s+\|     \^+", shown), shown
