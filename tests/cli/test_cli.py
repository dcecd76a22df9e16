"""The command line, as a user runs it."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import s2s
from s2s.cli.main import main

MODEL = """
import numpy as np


def loss(w, x, n=2):
    return w * x


class Model:
    @staticmethod
    def score(x):
        return x * x
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("S2S_CACHE", "0")
    (tmp_path / "model_for_cli.py").write_text(MODEL)
    return "model_for_cli.py"


def run(*words):
    return CliRunner().invoke(main, words)


def test_dump_prints_the_module(model):
    result = run("dump", f"{model}:loss", "--wrt", "w,x")
    assert result.exit_code == 0, result.output
    assert "def loss_grad(w, x, n):" in result.output
    assert "\x1b" not in result.output
    compile(result.output, "dumped", "exec")


def test_example_values_and_modes(model):
    result = run("dump", f"{model}:loss", "--wrt", "x", "--mode", "value_and_grad", "--arg", "w=2.0",
                 "--arg", "x=np.float64(1)")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "def loss_value_and_grad(w, x, n):" in result.output


def test_a_dotted_module_and_a_dotted_name(model):
    result = run("dump", "model_for_cli:Model.score")
    assert result.exit_code == 0, result.output
    assert "def score_grad(x):" in result.output


def test_output_to_a_file(model, tmp_path):
    result = run("dump", f"{model}:loss", "--output", "out.py")
    assert (result.exit_code, result.output) == (0, "")
    assert "def loss_grad" in (tmp_path / "out.py").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing.py:f"], "nothing.py: there is no such file\n"),
        (["m.py"], "m.py: write path/to/file.py:function or package.module:function\n"),
        (["model_for_cli.py:los"],
         "model_for_cli.py:los: model_for_cli.py has no `los`; it has loss, Model\n"),
        (["model_for_cli.py:loss", "--arg", "w"], "--arg w: write name=expression\n"),
        (["model_for_cli.py:loss", "--arg", "w=1/0"],
         "--arg w=1/0: ZeroDivisionError: division by zero\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_loaded(model, words, message):
    result = run("dump", *words)
    assert (result.exit_code, result.stderr) == (1, message)


def test_errors_of_the_file_name_the_line(model, tmp_path):
    (tmp_path / "broken_for_cli.py").write_text("x = 1\ny = x / 0\n")
    result = run("dump", "broken_for_cli.py:f")
    assert result.exit_code == 1
    assert result.stderr == f"{tmp_path / 'broken_for_cli.py'}:2: ZeroDivisionError: division by zero\n"


def test_errors_of_s2s_come_without_a_traceback(model):
    result = run("dump", f"{model}:loss", "--wrt", "q")
    assert result.exit_code == 1
    assert result.stderr.startswith("`loss` has no argument `q` [S2S502]\n")
    assert "choose among w (0), x (1), n (2)" in result.stderr


def test_usage(model):
    assert run("dump").exit_code == 2
    assert run("dump", f"{model}:loss", "--mode", "jacobian").exit_code == 2
    assert run("--version").output == f"s2s, version {s2s.__version__}\n"


def test_cache(model, tmp_path, monkeypatch):
    monkeypatch.delenv("S2S_CACHE")
    monkeypatch.delenv("S2S_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert run("dump", f"{model}:loss").exit_code == 0
    listed = run("cache").output
    assert "model_for_cli.loss.grad_w" in listed and listed.endswith("1 file\n")
    assert run("cache", "--clear").output == "1 file deleted\n"
    assert run("cache").output == "0 files\n"


def test_functions_lists_what_has_rules():
    result = run("functions", "--filter", "numpy.linalg.i")
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == ["numpy.linalg.inv"] and lines[-1] == "1 function"
    assert "reverse, forward" in lines[0] and "by a" in lines[0]


def test_functions_as_tables_of_a_document():
    result = run("functions", "--filter", "numpy.linalg.inv", "--markdown")
    assert "## numpy.linalg\n" in result.output
    assert "| `inv` | reverse, forward | pair | by a |" in result.output


OBSERVED = """
import numpy as np


class Registry:
    def __getattribute__(self, name):
        return {"xp": np, "k": 2.0}[name]


registry = Registry()


def loss(x, n=2):
    return registry.k * registry.xp.sum(registry.xp.linalg.eigh(np.outer(x, x)).eigenvalues ** n)
"""


@pytest.mark.parametrize("mode", ["grad", "vjp"])
def test_what_is_not_known_is_observed_with_example_values(model, tmp_path, monkeypatch, mode):
    monkeypatch.delenv("S2S_RECORDED", raising=False)
    name = f"observed_by_{mode}"
    (tmp_path / f"{name}.py").write_text(OBSERVED.replace("loss", name))
    result = run("dump", f"{name}.py:{name}", "--mode", mode)
    assert result.exit_code == 1
    assert "[S2S208]" in result.stderr
    assert result.stderr.endswith(
        "  = or:       give example values, --arg 'x=np.ones(3)': what is not known is then looked up in a run\n")
    result = run("dump", f"{name}.py:{name}", "--mode", mode, "--arg", "x=np.ones(3)")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("# Made for values and paths as in a run of the function: where one is otherwise, ")
    assert "rt.expect_kind(t0, float)" in result.output and "rt.expect(registry.xp, np)" in result.output
