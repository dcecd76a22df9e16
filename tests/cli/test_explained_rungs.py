"""What ``s2s explain`` and the explorer page say of what is recorded, observed or looked up when it runs: the line, the
reason, its share of a call, and what to write."""

import importlib
import itertools
import re
import textwrap
import types

import numpy as np
import pytest
from click.testing import CliRunner

import s2s
from s2s.cli.main import main
from s2s.explanation import explain
from s2s.explorer import costs
from s2s.explorer.data import describe
from s2s.sources import version_of_call

PROGRAM = """
    import numpy as np

    TABLE = [np.sin, np.cos, np.tanh]


    class Registry:
        def __getattribute__(self, name):
            return {"xp": np, "by": 2.0}[name]


    REGISTRY = Registry()


    def items(x):
        return eval("(v * v for v in x)", {"x": x})


    def recorded(x):
        y = x * 2.0
        for _ in range(4):
            y = y + 1.0
        return sum(items(y))


    def observed(x):
        xp = REGISTRY.xp
        return xp.linalg.eigh(xp.outer(x, x)).eigenvalues.sum() * REGISTRY.by


    def picked(x, k):
        y = TABLE[k](x)
        return np.sum(y * y)


    def power(x, n):
        return x if n == 0 else x * power(x, n - 1)


    def recursive(x, n):
        return power(x, n)


    def of_entries(x, table):
        total = 0.0
        for key in np.array([0.5, 1.5]):
            total += np.sum((x - table[key]).ravel() ** 2)
        return total
"""

X = np.array([0.5, 2.0])


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("S2S_CACHE", "0")
    monkeypatch.setenv("S2S_RECORDED", "1")
    name = f"program_of_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(PROGRAM))
    return importlib.import_module(name)


def facts(found, *kinds):
    """The text of each line of which something of these kinds is said, and what is."""
    lines = (*found.lines, *found.helpers)
    return [(line.text.strip(), fact.text) for line in lines for fact in line.facts if fact.kind in kinds]


def test_the_line_because_of_which_calls_are_recorded(program):
    found = explain(program.recorded, (X,))
    (line, text), = facts(found, "recorded")
    assert line == 'return eval("(v * v for v in x)", {"x": x})' and found.is_recorded
    assert text.startswith("each call is, as ") and "[S2S" in text and "; instead: " in text
    assert "asked by recorded (program_of_" in text
    static, observed, last = found.rungs
    number = next(n for n, shown in enumerate(textwrap.dedent(PROGRAM).split("\n"), 1) if shown.strip() == line)
    for rung, name in ((static, "static"), (observed, "observed")):
        assert rung.startswith(f"{name}: refused after ") and f".py:{number}; asked by recorded (" in rung
    assert last == "recorded: each call"


@pytest.mark.parametrize("before", [(), (X,)], ids=["first", "after_a_call"])
def test_what_a_run_has_shown(program, before):
    for x in before:
        s2s.grad(program.observed)(x)
    found = explain(program.observed, (X,))
    by_line = dict(facts(found, "observed"))
    checked = "as it was in a run of the function; each call checks it; instead: pass it as an argument"
    assert by_line["xp = REGISTRY.xp"] == f"`REGISTRY.xp` is numpy, {checked}"
    assert f"`REGISTRY.by` is a float, {checked}" in by_line.values()
    assert found.rungs[0].startswith("static: refused after ") and found.rungs[1].startswith("observed: compiled in ")
    assert not found.is_recorded and "rt.expect(" in found.compiled.text


@pytest.mark.parametrize(("name", "args", "line", "text"), [
    ("picked", (X, 1), "y = TABLE[k](x)",
     "the derivative of `TABLE[k](x)` is looked up at each call; instead: pass the function as an argument, or call "
     "each that it may be in a branch of its own"),
    ("of_entries", (X, {0.5: X, 1.5: X}), "total += np.sum((x - table[key]).ravel() ** 2)",
     "the derivative of the method `ravel` is looked up at each call; instead: annotate the object with its class, or "
     "call a function"),
    ("recursive", (0.5, 3), "return x if n == 0 else x * power(x, n - 1)",
     "the derivative of `power` is looked up at each call; instead: write a recursion as a loop"),
])
def test_what_is_looked_up_when_it_runs(program, name, args, line, text, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")  # where it is not observed
    found = explain(getattr(program, name), args)
    assert (line, text) in facts(found, "run time") and found.rungs == ()
    compared = [shown for _, shown in facts(found, "run time") if "shapes are compared" in shown]
    assert compared and all(one.endswith("or annotate it") for one in compared)


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves when it is looked at: each line of the program takes one second."""
    monkeypatch.setattr(costs, "time", types.SimpleNamespace(perf_counter=itertools.count().__next__))


def test_shares_of_lines_that_are_recorded(program, clock):
    found = explain(program.recorded, (X,))
    costs.note_shares(found, *version_of_call(program.recorded, (X,), {}, "grad", 0))
    shares = {line.text.strip(): line.share for line in (*found.lines, *found.helpers)}
    assert shares["y = y + 1.0"] == pytest.approx(4.0 * shares["y = x * 2.0"]) and shares["y = x * 2.0"] > 0.0
    assert shares["return sum(items(y))"] > shares['return eval("(v * v for v in x)", {"x": x})'] > 0.0
    assert sum(line.share for line in found.lines) < 1.0


def test_shares_of_lines_of_generated_code(program, monkeypatch):
    """Both sweeps of a line count for it."""
    version, values = version_of_call(program.picked, (X, 1), {}, "grad", 0)
    found = explain(program.picked, (X, 1))
    text = version.compiled.text.split("\n")
    forward, = (n for n, line in enumerate(text, 1) if "rt.call(" in line)
    back, = (n for n, line in enumerate(text, 1) if "_pullback(y_bar)" in line)
    file = version.raw.__code__.co_filename
    measured = costs.Times(1.0, 4.0, {(file, forward): 2.0, (file, back): 1.0, (file, 1): 1.0})
    monkeypatch.setattr(costs, "time_lines", lambda *_: measured)
    costs.note_shares(found, version, values)
    shares = {line.text.strip(): line.share for line in found.lines}
    assert shares["y = TABLE[k](x)"] == pytest.approx(0.75) and shares["return np.sum(y * y)"] == 0.0


def test_the_command_prints_what_is_known_of_recorded_calls(program, monkeypatch):
    monkeypatch.setattr("s2s.cli.main.measure", lambda *_: s2s.explanation.Cost(1e-6, 1e-3, 10, 1000))
    monkeypatch.setattr("s2s.cli.main._numba", lambda *_: "")

    def shared(found, *_):
        for line in found.lines:
            line.share = {"y = y + 1.0": 0.2, "y = x * 2.0": 0.001}.get(line.text.strip(), 0.0)

    monkeypatch.setattr("s2s.cli.main.note_shares", shared)
    result = CliRunner().invoke(
        main, ["explain", f"{program.__file__}:recorded", "--arg", "x=np.array([0.5, 2.0])", "--measure"])
    assert result.exit_code == 0, result.output
    assert "grad of recorded(x: f8[:]): each call is recorded\n  static: refused after " in result.output
    assert "  recorded: each call\n\n" in result.output and result.output.count("^ time: ") == 1
    assert re.search(r"y = y \+ 1\.0\n +\^ time: 20 % of a call\n", result.output)
    assert "^ recorded: each call is, as " in result.output
    assert "\nthe other 80 % of a call: sweeps over what was recorded, and what checks it" in result.output


def test_the_page_shows_recorded_calls_with_their_lines(program, clock):
    found = describe(program.recorded, (X,), {}, modes=("grad",), backends=("numpy",))
    (shown,) = found["variants"]
    assert shown["refused"] is None and shown["rungs"][-1] == "recorded: each call" and not shown["no_cost"]
    (key, known), = ((key, one) for key, one in shown["facts"].items() if one["facts"])
    assert known["facts"][0][0] == "recorded"
    unit = found["functions"][0]
    texts = program.recorded.__code__.co_firstlineno
    at = {number - texts: f"{unit['number']}:{number}" for number, _ in unit["lines"]}
    cost = shown["cost"]
    assert cost["back"][at[3]] == pytest.approx(4.0 * cost["back"][at[1]])
    assert 0.0 < cost["back"][at[1]] and cost["back"][at[3]] < cost["timed"]
    assert key in {f"{u['number']}:{n}" for u in found["functions"] for n, _ in u["lines"]}
