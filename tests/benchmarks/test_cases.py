"""Each case of the benchmark at its small size: s2s against central differences, peers and hand-written adjoints
against s2s. A peer that is not installed is skipped by name."""

import json
import subprocess
import sys

import numpy as np
import pytest

import s2s
from benchmarks import report
from benchmarks.__main__ import measure_alone
from benchmarks.contenders import HANDS, PEERS, difference, make, missing, takes_part, warm
from benchmarks.suites import find, load, suite_of
from tests.helpers import copy_tree

CASES = load("all")
OTHERS = [(case, other) for case in CASES for other in (*PEERS, *HANDS) if takes_part(case, other)]


@pytest.fixture(scope="module", autouse=True)
def defaults_of_others():
    """Set back the precision that ``warm`` sets for JAX and Torch."""
    yield
    if "jax" in sys.modules:
        sys.modules["jax"].config.update("jax_enable_x64", False)
    if "torch" in sys.modules:
        sys.modules["torch"].set_default_dtype(sys.modules["torch"].float32)


def slope(case, args, direction, h=1e-5):
    """The derivative of the loss along a direction, by central differences of fourth order."""
    def at(step):
        moved = list(copy_tree(args))
        for place, d in zip(case.argnums, direction):
            moved[place] = moved[place] + step * d
        return case.primal(*moved)

    return (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)


@pytest.mark.grid(0.1)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_derivatives_agree_with_differences(case):
    """In both modes."""
    args = case.arguments(*case.small)
    rng = np.random.default_rng(5)
    direction = [rng.normal(size=np.shape(args[place])) for place in case.argnums]
    gradient = s2s.grad(case.primal, argnums=case.argnums)(*args)
    found = sum(float(np.sum(g * d)) for g, d in zip(gradient, direction, strict=True))
    tangents = [None] * len(args)
    for place, d in zip(case.argnums, direction):
        tangents[place] = d
    _, forward = s2s.jvp(case.primal, args, tuple(tangents))
    np.testing.assert_allclose(forward, found, rtol=1e-9, atol=1e-10)
    if case.differences:
        np.testing.assert_allclose(found, slope(case, args, direction), rtol=1e-6, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("case", "other"), OTHERS, ids=lambda value: getattr(value, "name", value))
def test_others_agree_with_s2s(case, other):
    if other == "torch compiled":
        pytest.skip("compiling is slow; the same function is tested without")
    if library := missing(other):
        pytest.skip(f"{library} is not installed")
    args = case.arguments(*case.small)
    warm(other)
    wanted = s2s.grad(case.primal, argnums=case.argnums)(*args)
    assert difference(make(other, case, args)(), wanted) < 1e-9


def test_auto_is_settled_before_it_is_timed(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setenv("S2S_BACKEND", "auto")
    monkeypatch.setenv("S2S_NUMBA_AFTER", "0")
    case = find("newton_sqrt")
    args = case.arguments(*case.large)
    run = make("s2s auto", case, args)
    assert run.settle().partition(": ")[2]
    assert difference(run(), case.hand_numpy(*args)) < 1e-12


def test_case_that_takes_too_long_is_measured_without_compilers(monkeypatch):
    asked = []

    def run(command, timeout, **_):
        asked.append(command[5:])
        if "s2s numba" in command:
            raise subprocess.TimeoutExpired(command, timeout)
        row = {"case": command[3], "contenders": {"primal": {"seconds": 1.0}}, "limit": 1.0}
        return subprocess.CompletedProcess(command, 0, json.dumps(row) + "\n", "")

    monkeypatch.setattr(subprocess, "run", run)
    row = measure_alone(find("jacobi"), 0.1, ["primal", "s2s numba", "torch compiled"], 9.0)
    assert asked == [["primal", "s2s numba", "torch compiled"], ["primal"]]
    assert row["contenders"] == {"primal": {"seconds": 1.0}, "s2s numba": {"error": "not done after 9 s"}}


def test_names_are_unique():
    assert len({case.name for case in CASES}) == len(CASES)
    assert find("jacobi").name == "jacobi"
    assert [suite_of(name) for name in ("rosenbrock", "jacobi", "lstm")] == ["micro", "kernels", "ml"]


def made_row(case, seconds, ratio):
    """A row of figures: what each contender takes, ``ratio`` times what s2s takes on NumPy."""
    times = {"primal": seconds / 2.0, "s2s numpy": seconds, "jax": ratio * seconds, "hand numpy": seconds / ratio}
    contenders = {
        name: {"seconds": t, "ratio": 2.0 * t / seconds, "first": 1.0, "megabytes": 8.0 * t / seconds,
               "ratios": {other: o / t for other, o in times.items()}}
        for name, t in times.items()
    }  # fmt: skip
    return {"case": case, "suite": "kernels", "limit": 9.0, "contenders": contenders}


def test_targets_are_geometric_means_of_a_suite():
    rows = [made_row("one", 1.0, 0.5), made_row("two", 3.0, 8.0), {**made_row("three", 1.0, 64.0), "suite": "micro"}]
    found = {target.label: target.measured(rows) for target in report.TARGETS}
    assert found["JAX / s2s, kernels"] == {"one": 0.5, "two": 8.0}
    assert found["gradient / primal, kernels, NumPy"] == {"one": 2.0, "two": 2.0}
    assert found["s2s / by hand, kernels, NumPy, as written"] == {"one": 0.5, "two": 8.0}
    assert found["s2s / by hand, kernels, NumPy, rewritten"] == {}
    assert found["JAX / s2s, small functions, NumPy"] == {"three": 64.0}
    assert found["memory of s2s / by hand, NumPy"] == {"one": 0.5, "two": 8.0, "three": 64.0}
    cells = [list(column.cells) for column in report.targets(rows).columns]
    (jax,) = [row for row in zip(*cells) if row[0] == "JAX / s2s, kernels"]
    assert jax == ("JAX / s2s, kernels", "2.00", ">= 2", "2", "0.50", "one")
