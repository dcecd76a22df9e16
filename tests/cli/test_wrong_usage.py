"""What a user may do wrong at the command line is told in words, without a traceback, and ends with the right code."""

import errno
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from s2s.cli.main import main

MODEL = """
import numpy as np
import s2s


@s2s.differentiable
def miss(velocity: "f8[:]", drag: float):
    return np.sum((drag * velocity + np.array([0.0, 9.81])) ** 2)


def fails(x):
    raise ValueError("of the user")
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("ball.py").write_text(MODEL)
    Path("plain.py").write_text("def f(x):\n    return x\n")
    Path("ball.txt").write_text("")

    def run(*words):
        result = CliRunner().invoke(main, words)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output.replace(f"{tmp_path}/", "")

    return run


def test_what_the_function_raises_is_told_with_the_arguments(run):
    assert run("check", "ball.py:fails", "--arg", "x=1.0") == (
        1, "ball.py:12: ValueError: of the user\n  = called as: fails(x: 1.0)\n")
    calls = ("check", "ball.py"), ("explain", "ball.py:miss", "--measure"), ("explore", "ball.py:miss", "--measure")
    for words in calls:
        code, output = run(*words)
        assert code == 1 and not Path("miss.html").exists()
        assert re.search(
            r"^ball\.py:8: ValueError: operands could not be broadcast .*\n"
            r"  = called as: miss\(velocity: f8\[4\], drag: [\d.]+\)\n\Z", output, re.M), output
    assert run("check", "ball.py", "--args", "velocity: f8[2]")[0] == 0


def test_arguments_that_there_are_not(run):
    for command in ("dump", "check"):
        assert run(command, "plain.py:f", "--arg", "q=3.0") == (
            1, "plain.py:f: it has no argument `q`; it has x\n")
    assert run("check", "math:hypot", "--arg", "x=3.0")[0] == 1
    assert run("check", "plain.py:f", "--arg", "x=)")[1] == "--arg x=): SyntaxError: unmatched ')' (<--arg>, line 1)\n"


def test_arguments_by_position_only_can_be_given(run):
    Path("placed.py").write_text("def f(x, /, y):\n    return x * x * y\n")
    code, output = run("check", "placed.py:f", "--arg", "x=3.0", "--arg", "y=2.0")
    assert code == 0 and output.startswith("passed") and "value   18.\n" in output


def test_files_and_modules_that_there_are_not(run):
    told = "neither a Python file, whose name ends with .py, nor a module\n"
    assert run("dump", "ball.txt:miss") == (1, f"ball.txt: {told}")
    assert run("dump", ".:miss") == (1, f".: {told}")
    for name in ("nofile.py", "no.module.there", "-"):
        assert run("build", "--", name) == (1, f"{name}: there is no such file, folder or package\n")


def test_a_build_of_nothing_says_so(run):
    told = "nothing to build: no function is decorated with @s2s.differentiable\n"
    assert run("build", "plain.py") == run("build", "--check", "plain.py") == (0, told)
    assert run("build", "ball.py") == (0, "ball_adjoints.py: 2 written\n")
    assert run("build", "--check", ".") == (0, "all is up to date\n")


def test_a_folder_that_cannot_be_written_to(run, monkeypatch):
    def refused(path, *args, **kwargs):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "write_text", refused)
    assert run("build", "ball.py") == (1, "ball_adjoints.py: Permission denied\n")
    assert run("dump", "ball.py", "-o", "out.py") == (1, "out.py: Permission denied\n")
    monkeypatch.setattr(Path, "write_bytes", refused)
    assert run("insert", "ball.py") == (1, "ball.py: Permission denied\n")


def commands(group, path=()):
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


def test_help_needs_no_file_that_is_not_installed():
    """The documents are named by their address: a wheel has none of them."""
    for path, command in commands(main):
        text = command.get_help(click.Context(command, info_name="s2s"))
        assert not re.search(r"(?<!main/)docs/", re.sub(r"\s", "", text)), f"{path}: {text}"
