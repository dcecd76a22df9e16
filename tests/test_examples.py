"""The examples run as a user runs them, in a process of their own, and do what they promise."""

import ast
import re
import subprocess
import sys

import pytest

from tests.helpers import ROOT

S2S = "import sys; sys.argv[0] = 's2s'; from s2s.cli.main import main; main()"


def run(*command):
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_digits_prints_the_gradient_and_reaches_the_accuracy():
    pytest.importorskip("sklearn", reason="the example needs scikit-learn")
    pytest.importorskip("scipy", reason="the example needs SciPy")
    out = run("examples/digits.py")
    assert "def objective_value_and_grad(" in out
    assert "theta_bar" in out
    accuracy = re.search(r"held-back digits: ([\d.]+)", out)
    assert float(accuracy[1]) >= 0.95


QUESTIONS = sorted(file.stem for file in (ROOT / "examples" / "questions").glob("*.py") if file.stem != "page")


@pytest.mark.slow
@pytest.mark.grid(0.2)
@pytest.mark.parametrize("name", QUESTIONS)
def test_questions(name, tmp_path):
    """They assert their numbers themselves. The picture that one of them draws goes to a folder of the test."""
    pytest.importorskip("sklearn", reason="some of them need scikit-learn")
    pytest.importorskip("scipy", reason="some of them need SciPy")
    more = [str(tmp_path / "picture.png")] if name == "hessian_norm" else []
    out = run(f"examples/questions/{name}.py", *more)
    assert out
    accuracy = re.search(r"held-back digits: ([\d.]+)", out)
    if name in ("convolutional_network", "batch_normalization"):
        assert float(accuracy[1]) >= 0.97


@pytest.mark.slow
def test_softmax_runs():
    assert "gradient with respect to W" in run("examples/softmax.py")


@pytest.mark.slow
def test_newton_has_the_derivative_of_the_square_root():
    out = run("examples/newton.py")
    computed, expected = (
        float(re.search(rf"^{label} +([\d.]+)$", out, re.MULTILINE)[1])
        for label in ("its derivative", r"1 / \(2 \* square root\)")
    )
    assert computed == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_dump_prints_the_gradient_of_the_readme():
    out = run("-c", S2S, "dump", "examples/softmax.py:loss", "--wrt", "W,b")
    names = [node.name for node in ast.parse(out).body if isinstance(node, ast.FunctionDef)]
    assert "loss_grad" in names
    assert "W_bar" in out and "b_bar" in out
