"""``s2s check``, ``s2s explain`` and ``s2s doctor``, as a user runs them."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

from s2s.cli import doctor
from s2s.cli.main import main
from s2s.explanation import explain
from s2s.versions.kinds import read_kinds

MODEL = """
import numpy as np
import s2s

SCALE = 2.0


def helper(h):
    return np.sum(h * h) * SCALE


def loss(w, x, n: int):
    h = x
    for _ in range(n):
        h = np.tanh(w @ h)
    k = len(x)
    return helper(h) + k


@s2s.custom_gradient
def wrong(x):
    def grad(dy):
        return dy * 3.0 * x
    return x * x, grad


def uses_wrong(x: float, y: float):
    return wrong(x) + y * y


def cells(x: "f8[3]"):
    return np.sum(np.floor(x) * x)


def unknown(f, x):
    return f(x) * x
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("S2S_CACHE", "0")
    (tmp_path / "model_to_check.py").write_text(MODEL)
    return "model_to_check.py"


def run(*words):
    return CliRunner().invoke(main, words)


KINDS = ("--args", "w: f8[m, m], x: f8[m], n: 3")


def test_a_right_gradient_passes_with_a_row_for_each_argument_and_mode(model):
    result = run("check", f"{model}:loss", *KINDS)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == "passed: the derivative of loss is what differences give" and lines[1].startswith("value   ")
    rows = [line.split() for line in lines[3:]]
    assert [row[:3] for row in rows] == [
        ["w", "1", "forward"], ["w", "1", "reverse"], ["x", "1", "forward"], ["x", "1", "reverse"]]
    for *_, found, expected, error in rows:
        assert float(found) == pytest.approx(float(expected), rel=1e-5, abs=1e-9) and float(error) < 1e-6
    assert len(run("check", f"{model}:loss", *KINDS, "--order", "2", "--wrt", "x").output.splitlines()) == 3 + 4


def test_a_wrong_gradient_fails_by_its_argument(model):
    result = run("check", f"{model}:uses_wrong")
    assert result.exit_code == 1
    assert result.output.startswith(
        "FAILED: the derivative of uses_wrong is not what differences give, by x\n")
    assert "by x: a derivative of uses_wrong is not what differences give" in result.output
    assert run("check", f"{model}:uses_wrong", "--wrt", "y").exit_code == 0


def test_choices_are_named_with_what_differences_of_values_say(model):
    result = run("check", f"{model}:cells")
    assert result.exit_code == 0, result.output
    line = 1 + MODEL.splitlines().index("    return np.sum(np.floor(x) * x)")
    assert f"model_to_check.py:{line}: floor: straight through" in result.output
    assert "\n* differences of the function as these choices have it" in result.output
    assert run("check", f"{model}:cells", "--nonsmooth", "zero").exit_code == 0


def test_what_is_missing_is_told_as_an_option(model):
    result = run("check", f"{model}:loss")
    assert result.exit_code == 1
    assert result.stderr == (
        'model_to_check.py:loss: what `w`, `x` will be is not known; say of which kind, as by --args '
        '"w: f8[3], x: f8[3]" for vectors of three floats, or give a value, --arg w=...\n')


def facts_of(module, name, kinds, **options):
    """The facts of lines by their text."""
    found = explain(getattr(module, name), kinds=read_kinds(kinds), **options)
    return found, {line.text.strip(): line for line in (*found.lines, *found.helpers)}


@pytest.fixture
def module(model, tmp_path, monkeypatch):
    import importlib
    import sys

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "model_to_check", raising=False)
    return importlib.import_module("model_to_check")


def test_what_is_explained_is_data(module):
    found, lines = facts_of(module, "loss", "w: f8[m, m], x: f8[m], n: int")
    active = [text for text, line in lines.items() if line.is_active]
    assert active == [
        "for _ in range(n):", "h = np.tanh(w @ h)", "return helper(h) + k", "return np.sum(h * h) * SCALE"]
    kinds = {fact.kind: fact.text for fact in lines["h = np.tanh(w @ h)"].facts}
    assert kinds["rule"] == "numpy.tanh: elementwise"
    assert kinds["kept"] == "`h` is kept for each iteration: the next iteration overwrites it"
    assert "`SCALE` is a float; its value is read at each call" in found.guards
    assert "`helper` is what it was when it was compiled" in found.guards
    assert found.arguments == {"w": "f8[:,:]", "x": "f8[:]", "n": "int"}
    assert "Numba compiles it in another thread" in found.auto


def test_choices_and_what_is_left_to_the_run_stand_at_their_lines(module, monkeypatch):
    _, lines = facts_of(module, "cells", "")
    assert any(fact.kind == "policy" and "floor" in fact.text
               for fact in lines["return np.sum(np.floor(x) * x)"].facts)
    monkeypatch.setenv("S2S_RECORDED", "0")
    _, lines = facts_of(module, "unknown", "x: float", argnums="x")
    assert "run time" in {fact.kind for fact in lines["return f(x) * x"].facts}


@pytest.mark.slow
def test_explain_prints_it_below_the_lines(model):
    result = run("explain", f"{model}:loss", *KINDS, "--measure")
    assert result.exit_code == 0, result.output
    assert "*      h = np.tanh" not in result.output
    below = r"^\* 15 +h = np\.tanh\(w @ h\)\n(?: +\^ time: \d+ % of a call\n)? +\^ rule: numpy\.tanh: elementwise\n"
    assert re.search(below, result.output, re.MULTILINE)
    assert re.search(r"^  16 +k = len\(x\)$", result.output, re.MULTILINE)
    assert re.search(r"^time: [\d.e+]+ \S+ a call, [\d.]+ times that of the function", result.output, re.MULTILINE)
    assert re.search(r"^memory: .* at most, the function ", result.output, re.MULTILINE)
    assert re.search(r"^Numba: compiles it$", result.output, re.MULTILINE) or np is None


def test_doctor(model, monkeypatch, tmp_path):
    monkeypatch.setenv("S2S_CACHE", "1")
    monkeypatch.setenv("S2S_CACHE_DIR", str(tmp_path / "cache"))
    result = run("doctor")
    assert result.exit_code == 0, result.output
    assert "first gradient on numpy: right, after " in result.output and "numpy " in result.output
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("S2S_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setitem(doctor.EXTRAS, "no-such-package", ("explore", "the page"))
    result = run("doctor")
    assert 'no-such-package: not installed (the page: pip install "s2s-grad[explore]")\n' in result.output
    assert result.exit_code == 1 and f"cache: {tmp_path / 'file'} cannot be written to" in result.output
