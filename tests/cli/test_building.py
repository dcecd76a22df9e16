"""``s2s build`` and ``s2s insert``, as a user runs them."""

import gc
import importlib
import itertools
import linecache
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from s2s.cli import insert
from s2s.cli.main import main
from tests.helpers import ROOT

ORBIT = '''"""A file."""
import s2s


G = 9.81   # untouched   spacing


@s2s.differentiable
def drop(h: float, n: int):
    # fall
    for _ in range(n):
        h = h - G * h * 0.01
    return h*h   # odd formatting


class Body:
    @s2s.differentiable
    def energy(self, x: "f8[:]"):
        return (x * x).sum()

    z = 1

@s2s.differentiable
def other(x: "f8[:]"):
    return (x ** 3).sum()


@s2s.differentiable
def unsaid(x):
    return x * x
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("S2S_CACHE", "1")
    monkeypatch.delenv("S2S_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    (tmp_path / "orbit_to_build.py").write_text(ORBIT)
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("orbit_to_build", "orbit_to_build_adjoints", "physics_to_build"):
            del sys.modules[name]


def run(*words):
    for name in [name for name in sys.modules if name.startswith(("orbit_to_build", "physics_to_build"))]:
        del sys.modules[name]
    return CliRunner().invoke(main, words)


def imported(name):
    sys.modules.pop(name, None)
    sys.path.insert(0, ".")
    importlib.invalidate_caches()
    return importlib.import_module(name)


def test_build_writes_adjoints_beside_the_source_once(folder):
    result = run("build", "orbit_to_build.py")
    assert result.exit_code == 0, result.output
    assert result.stdout == "orbit_to_build_adjoints.py: 6 written\n"
    assert "orbit_to_build.py:unsaid: left out" in result.stderr and 'def unsaid(x: "f8[:]"):' in result.stderr
    made = imported("orbit_to_build_adjoints")
    assert made.drop_grad(2.0, 3) == pytest.approx(2 * 2.0 * (1 - 0.0981) ** 6)
    value, gradient = made.other_value_and_grad(np.array([1.0, 2.0]))
    assert value == 9.0 and gradient.tolist() == [3.0, 12.0]
    assert made.energy_grad(None, np.ones(2)).tolist() == [2.0, 2.0] and not hasattr(made, "unsaid_grad")
    assert run("build", "orbit_to_build.py").stdout == "all is up to date\n"


def test_first_calls_find_what_was_built(folder):
    assert run("build", "orbit_to_build.py").exit_code == 0
    assert output_of_first_call(folder)[:2] == (pytest.approx(4.0 * (1 - 0.0981) ** 6), False)


PROGRAM = "import sys, s2s, orbit_to_build as o; print(s2s.grad(o.drop)(2.0, 3), 'libcst' in sys.modules)"


def output_of_first_call(folder, program=PROGRAM):
    """What a fresh process prints: the gradient, and whether it was compiled; and its warnings. It leaves no bytecode:
    a source that is written anew within a second, as long as it was, would be taken for the one before."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    value, compiles = done.stdout.split()
    return float(value), compiles == "True", done.stderr


def first_call(folder, program=PROGRAM):
    """The same without the cache folder."""
    shutil.rmtree(folder / "__s2scache__", ignore_errors=True)
    shutil.rmtree(folder / "home", ignore_errors=True)
    return output_of_first_call(folder, program)


@pytest.mark.slow
def test_first_calls_take_the_module_where_there_is_no_cache_folder(folder):
    assert run("build", "orbit_to_build.py").exit_code == 0
    right = pytest.approx(4.0 * (1 - 0.0981) ** 6)
    assert first_call(folder) == (right, False, "")
    assert not (folder / "__s2scache__").exists()
    moved = folder / "elsewhere"
    moved.mkdir()
    for name in ("orbit_to_build.py", "orbit_to_build_adjoints.py"):
        shutil.copy(folder / name, moved)
    assert first_call(moved) == (right, False, "")
    file = folder / "orbit_to_build_adjoints.py"
    text = file.read_text()
    file.write_text(text.replace("h_bar = 2.0 * h", "h_bar = (\n        2.0  # twice\n        * h\n    )"))
    assert "# twice" in file.read_text() and first_call(folder) == (right, False, "")
    reads = PROGRAM.replace("print", "o.G = 2.0 * o.G; print")  # variables are read as they are then
    assert first_call(folder, reads) == (pytest.approx(4.0 * (1 - 0.1962) ** 6), False, "")


@pytest.mark.slow
def test_modules_that_are_edited_or_out_of_date_are_not_taken(folder):
    assert run("build", "orbit_to_build.py").exit_code == 0
    right = pytest.approx(4.0 * (1 - 0.0981) ** 6)
    file, source = folder / "orbit_to_build_adjoints.py", folder / "orbit_to_build.py"
    text = file.read_text()
    file.write_text(text.replace("h_bar = 2.0 * h", "h_bar = 2.5 * h"))
    value, compiles, told = first_call(folder)
    assert value == right and compiles and told.count("EditedAdjointWarning") == 1
    assert "`drop_grad` in orbit_to_build_adjoints.py was edited" in told
    damaged = re.sub(r"# >(\w+):...", r"# >\1:AAA", text)
    file.write_text(damaged)
    assert first_call(folder) == (right, True, "")
    file.write_text(text)
    source.write_text(ORBIT.replace("0.01", "0.02"))
    assert first_call(folder) == (pytest.approx(4.0 * (1 - 0.1962) ** 6), True, "")
    source.write_text(ORBIT)
    of_int = PROGRAM.replace("print", "o.G = 9; print")  # of another kind
    assert first_call(folder, of_int) == (pytest.approx(4.0 * (1 - 0.09) ** 6), True, "")
    newer = PROGRAM.replace("print", "import s2s.cache.committed as c; c.__version__ = '9'; print")
    assert first_call(folder, newer) == (right, True, "")
    assert first_call(folder) == (right, False, "")


def test_check_tells_what_is_out_of_date_and_writes_nothing(folder):
    file = folder / "orbit_to_build_adjoints.py"
    result = run("build", "--check", "orbit_to_build.py")
    assert (result.exit_code, result.stdout) == (1, "orbit_to_build_adjoints.py: out of date\n") and not file.exists()
    run("build", "orbit_to_build.py")
    assert run("build", "--check", "orbit_to_build.py").exit_code == 0
    text = file.read_text()
    file.write_text(text.replace("x**2", "(x**2)").replace("x ** 2", "(x ** 2)"))  # formatted in another way
    assert run("build", "--check", "orbit_to_build.py").exit_code == 0
    file.write_text(text.replace("2.0 * x", "2.5 * x"))
    result = run("build", "--check", "orbit_to_build.py")
    assert result.exit_code == 1 and result.stdout == "orbit_to_build_adjoints.py: out of date\n"
    told = [line for line in result.stderr.splitlines() if line[:1] in "-+"][2:]
    assert told and all(("2.5 * x" if line[0] == "-" else "2.0 * x") in line for line in told)
    file.write_text(text.replace("# s2s build: ", "# s2s build: 0"))  # made from other text: only the comments tell
    assert "--- there" not in run("build", "--check", "orbit_to_build.py").stderr
    run("build", "orbit_to_build.py")
    (folder / "orbit_to_build.py").write_text(ORBIT.replace("0.01", "0.02"))
    assert run("build", "--check", "orbit_to_build.py").exit_code == 1
    assert run("build", "orbit_to_build.py").stdout == "orbit_to_build_adjoints.py: 6 written\n"
    assert imported("orbit_to_build_adjoints").drop_grad(2.0, 1) == pytest.approx(4.0 * (1 - 0.1962) ** 2)


def test_packages_are_built_by_folder_and_by_name(folder):
    package = folder / "physics_to_build"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "constants.py").write_text("K = 3.0\n")
    (package / "springs.py").write_text(
        "import s2s\nfrom .constants import K\n\n\n@s2s.differentiable\ndef energy(x: float):\n    return K * x * x\n")
    result = run("build", "physics_to_build")
    assert result.exit_code == 0 and result.stdout == "physics_to_build/springs_adjoints.py: 2 written\n", result.output
    assert imported("physics_to_build.springs_adjoints").energy_grad(2.0) == 12.0
    assert run("build", "physics_to_build/springs.py").stdout == "all is up to date\n"
    assert run("build", "nothing_of_that_name").exit_code == 1


@pytest.mark.slow
def test_insert_writes_below_each_function_and_leaves_the_rest_as_it_is(folder):
    file = folder / "orbit_to_build.py"
    before = file.read_text()
    assert run("insert", "--check", "orbit_to_build.py").exit_code == 1 and file.read_text() == before
    assert run("insert", "orbit_to_build.py").stdout == "orbit_to_build.py: written\n"
    after = file.read_text()
    lines = iter(after.splitlines())
    assert all(line in lines for line in before.splitlines())  # in their order
    made = imported("orbit_to_build")
    assert made.drop_grad(2.0, 3) == pytest.approx(4.0 * (1 - 0.0981) ** 6)
    assert made.Body().energy_grad(np.ones(2)).tolist() == [2.0, 2.0] and made.Body.z == 1
    assert made.other_grad(np.array([1.0, 2.0])).tolist() == [3.0, 12.0]
    number = 1 + after.splitlines().index("def other(x: \"f8[:]\"):")
    assert f"(orbit_to_build.py:{number})" in made.other_grad.__doc__
    assert run("insert", "orbit_to_build.py").stdout == "orbit_to_build.py: up to date\n"
    assert run("insert", "--check", "orbit_to_build.py").exit_code == 0 and file.read_text() == after
    assert not hasattr(made, "unsaid_grad")  # nothing says what it is given
    assert [path.name for path in folder.glob("*.py")] == ["orbit_to_build.py"]


def test_insert_replaces_what_it_made_and_nothing_else(folder):
    file = folder / "orbit_to_build.py"
    file.write_text("import numpy as np\nimport s2s\n\n\n@s2s.differentiable\ndef f(x: float):\n    return np.sin(x)\n")
    run("insert", "orbit_to_build.py")
    file.write_text(file.read_text().replace("return np.sin(x)", "return np.sin(2.0 * x)"))
    run("insert", "orbit_to_build.py")
    made = imported("orbit_to_build")
    assert made.f_grad(0.3) == pytest.approx(2.0 * np.cos(0.6)) and file.read_text().count("def f_grad") == 1
    file.write_text("import s2s\n\n\n@s2s.differentiable\ndef f(x: float):\n    return x\n"
                    "\n\ndef f_grad(x):\n    return 7.0\n")  # fmt: skip
    result = run("insert", "orbit_to_build.py")
    assert result.exit_code == 1 and "`f_grad` in the file that was not generated by s2s" in result.stderr
    assert "return 7.0" in file.read_text()


def test_insert_adds_the_imports_that_are_missing(folder):
    file = folder / "orbit_to_build.py"
    file.write_text("from numpy import tanh\nimport s2s\n\n\n@s2s.differentiable\ndef f(x: \"f8[:]\"):\n"
                    "    y = x\n    for _ in range(3):\n        y = tanh(y) * x\n    return y.sum()\n")  # fmt: skip
    assert run("insert", "orbit_to_build.py").exit_code == 0
    made, x = imported("orbit_to_build"), np.array([0.3, 0.8])
    steps = [(made.f.func(x + h) - made.f.func(x - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    assert made.f_grad(x) == pytest.approx(np.array(steps), rel=1e-6)


HELPED = '''import s2s


@s2s.differentiable
def first(x: float):
    return helper(x) * x


@s2s.differentiable
def second(x: float):
    return helper(x) + x


def helper(x):
    y = x * x
    for _ in range(3):
        y = y * x + 1.0
    return y
'''


def test_insert_names_the_lines_of_helpers_that_it_moves_and_leaves_no_trace(folder):
    """A version of the text before, which memory keeps until it is collected, names lines of that text."""
    file = folder / "orbit_to_build.py"
    file.write_text(HELPED)
    gc.disable()
    try:
        assert run("insert", "orbit_to_build.py").exit_code == 0
    finally:
        gc.enable()
    after = file.read_text()
    lines = after.splitlines()
    named = re.findall(r"# L(\d+): (.*?)(?:,|$)", after, re.MULTILINE)
    assert len(named) > 3
    for number, said in named:
        assert lines[int(number) - 1].strip() == said.strip()
    assert "orbit_to_build" not in sys.modules and str(file.resolve()) not in linecache.cache
    assert run("insert", "--check", "orbit_to_build.py").exit_code == 0


def test_insert_writes_nothing_where_the_text_does_not_settle(folder, monkeypatch):
    file = folder / "orbit_to_build.py"
    counter = itertools.count()
    whole = insert.adjoint_of

    def changing(loaded, mode, file):
        found = whole(loaded, mode, file)
        return found if isinstance(found, str) else (found[0], f"{found[1]}\n    # {next(counter)}", found[2])

    monkeypatch.setattr(insert, "adjoint_of", changing)
    result = run("insert", "orbit_to_build.py")
    assert result.exit_code == 1 and "still changes after 4 rounds" in result.stderr, result.output
    assert file.read_text() == ORBIT


def test_insert_writes_nothing_where_ruff_does_not_run(folder, monkeypatch):
    file = folder / "orbit_to_build.py"
    (folder / "ruff.toml").write_text("line-length = 'long'\n")
    if not (shutil.which("ruff") or (Path(sys.executable).parent / "ruff").exists()):
        pytest.skip("ruff is not installed")
    result = run("insert", "orbit_to_build.py")
    assert result.exit_code == 1 and "ruff format does not run" in result.stderr, result.output
    assert file.read_text() == ORBIT
    result = run("build", "orbit_to_build.py")  # its file is compared without its format
    assert result.exit_code == 0 and "is not formatted: ruff format does not run" in result.stderr
    (folder / "ruff.toml").unlink()
    assert run("build", "--check", "orbit_to_build.py").exit_code == 0


def test_insert_keeps_the_ends_of_lines_and_takes_modules_of_packages(folder):
    package = folder / "physics_to_build"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "constants.py").write_text("K = 3.0\n")
    file = package / "springs.py"
    text = ("import s2s\nfrom .constants import K\n\n\n@s2s.differentiable\n"
            "def energy(x: float):\n    return K * x * x\n")  # fmt: skip
    file.write_bytes(text.replace("\n", "\r\n").encode())
    result = run("insert", "physics_to_build/springs.py")
    assert result.exit_code == 0, result.output
    after = file.read_bytes()
    assert after.count(b"\n") == after.count(b"\r\n") and after.startswith(text.replace("\n", "\r\n").encode())
    assert imported("physics_to_build.springs").energy_grad(2.0) == 12.0
    assert run("insert", "--check", "physics_to_build/springs.py").exit_code == 0
