"""``s2s explore``, as a user runs it."""

import json

import pytest
from click.testing import CliRunner

from s2s.cli.main import main
from s2s.explorer.data import MODES

MODEL = '''
import numpy as np

import s2s

CALLS = []


@s2s.differentiable
def loss(w: "f8[n, n]", x: "f8[n]"):
    CALLS.append(None)
    return np.sum(np.tanh(w @ x))


@s2s.differentiable
def other(x: float):
    return x * x


class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def energy(self, r):
        return self.stiffness * np.sum(r * r)
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model_to_explore.py").write_text(MODEL)
    return tmp_path


def run(*words):
    return CliRunner().invoke(main, ["explore", *words])


def shown(file):
    return json.loads(file.read_text(encoding="utf-8").partition('id="data">')[2].partition("</script>")[0])


def test_it_writes_a_file_named_after_the_function(folder):
    result = run("model_to_explore.py:loss")
    assert (result.exit_code, result.output) == (0, "loss.html\n")
    data = shown(folder / "loss.html")
    assert data["variants"][0]["arguments"] == "w: f8[:,:], x: f8[:]"
    assert all(v["cost"] is None for v in data["variants"])  # nothing was run
    assert sorted(file.name for file in folder.iterdir()) == ["loss.html", "model_to_explore.py"]


def test_it_is_run_with_values_or_where_that_is_asked_for(folder):
    assert run("model_to_explore.py:loss", "--measure", "-o", "page.html").exit_code == 0
    data = shown(folder / "page.html")
    assert data["variants"][0]["cost"]["value"] > 0.0
    result = run("model_to_explore.py:Spring.energy", "--arg", "self=Spring(2.0)", "--arg", "r=np.ones(3)")
    assert (result.exit_code, result.output) == (0, "Spring.energy.html\n")
    data = shown(folder / "Spring.energy.html")
    assert data["variants"][0]["cost"]["left"] and "with respect to r" in str(data["lines"])


def test_the_arguments_and_the_backend_are_those_that_are_asked_for(folder):
    assert run("model_to_explore.py:loss", "--wrt", "x", "--backend", "numba", "-o", "page.html").exit_code == 0
    data = shown(folder / "page.html")
    assert data["variants"][0]["backend"] == "numba" and "Gradient of loss with respect to x" in str(data["lines"])


def test_the_modes_are_those_that_are_asked_for(folder):
    assert run("model_to_explore.py:loss", "--mode", "jvp", "--mode", "grad", "-o", "page.html").exit_code == 0
    variants = shown(folder / "page.html")["variants"]
    assert [(v["mode"], v["backend"]) for v in variants] == [
        ("jvp", "numpy"), ("grad", "numpy"), ("jvp", "numba"), ("grad", "numba")]
    assert run("model_to_explore.py:other", "--mode", "all", "-o", "page.html").exit_code == 0
    assert {v["mode"] for v in shown(folder / "page.html")["variants"]} == set(MODES)
    assert run("model_to_explore.py:loss", "--mode", "gradient").exit_code == 2


def test_arguments_that_do_not_fit_are_told_in_a_line(folder):
    for words, said in (
        (("--args", "y: f8[3]"), "`loss` has no argument `y` [S2S502]"),
        (("--wrt", "y"), "`loss` has no argument `y` [S2S502]"),
        (("--arg", "w=np.eye(3)", "--arg", "x=np.ones(4)"), "ValueError: matmul: "),
        (("--arg", "w=np.eye(3)", "--arg", "y=1.0"), "model_to_explore.py:loss: it has no argument `y`; it has w, x"),
        (("--arg", "w=np.eye(3, dtype=int)", "--arg", "x=np.ones(3)"), "the argument `w` of `loss` is an integer"),
    ):
        result = run("model_to_explore.py:loss", *words, "-o", "page.html")
        assert result.exit_code == 1 and said in result.output.partition("\n")[0], result.output
        assert not (folder / "page.html").exists()


def test_what_goes_wrong_is_one_message(folder):
    result = run("model_to_explore.py")
    assert result.exit_code == 1
    assert result.output == (
        "model_to_explore.py: name one of model_to_explore.py:loss, model_to_explore.py:other\n")
    result = run("model_to_explore.py:other", "-o", "missing/page.html")
    assert (result.exit_code, result.output) == (1, "missing/page.html: No such file or directory\n")
