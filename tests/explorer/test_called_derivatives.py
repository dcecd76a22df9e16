"""Derivatives that are found when a derivative runs are on its page: checked against what the programs do."""

import numpy as np
import pytest

import s2s
from s2s.explorer.data import describe
from s2s.versions.kinds import read_kinds
from tests.explorer import programs
from tests.explorer.test_description import bare, key, variant


@pytest.fixture(autouse=True)
def as_users_have_it(monkeypatch):
    monkeypatch.setenv("S2S_CACHE", "off")


X = np.array([0.3, 1.2, 2.7])
STEEP, FLAT, HALVED = map(np.str_, ("steep", "flat", "halved"))  # the compiler knows Python's own texts by value
NAMES = [STEEP, FLAT, STEEP]


def text_of(found, part, stage=-1):
    return [(bare(found, index), from_) for index, from_ in part["stages"][stage]["lines"]]


@pytest.fixture(scope="module")
def found():
    return describe(programs.chosen, (X, NAMES), modes=("grad", "jvp", "primal"), backends=("numpy", "numba"))


def test_they_are_shown_with_how_often_they_are_called(found):
    for mode, suffix in (("grad", "vjp"), ("jvp", "jvp")):
        called = variant(found, mode)["called"]
        assert [(part["name"], part["count"]) for part in called] == [(f"steep_{suffix}", 2), (f"flat_{suffix}", 1)]
        steep = next(f for f in found["functions"] if f["name"] == "steep")
        assert called[0]["unit"] == steep["number"] and called[0]["arguments"] == "x: f8[:]"
    assert variant(found, "primal")["called"] == []


def test_their_lines_come_from_those_of_the_functions(found):
    line = key(found, "return np.sum(np.tanh(3.0 * x) ** 2) + np.sum(r)")
    part = variant(found, "grad")["called"][0]
    from_it = [text.strip() for text, from_ in text_of(found, part) if line in from_]
    assert "t0 = np.tanh(3.0 * x)" in from_it and any("x_bar = " in text for text in from_it)
    known = {f"{f['number']}:{n}" for f in found["functions"] for n, _ in f["lines"]}
    assert all(set(from_) <= known for _, from_ in text_of(found, part) if isinstance(from_, list))


def test_the_line_that_calls_them_is_that_of_the_call(found):
    chosen, steep, flat = found["functions"]
    assert [f["name"] for f in found["functions"]] == ["chosen", "steep", "flat"]
    assert chosen["calls"] == {key(found, "total += TABLE[name](x)"): [steep["number"], flat["number"]]}
    assert [f["depth"] for f in found["functions"]] == [0, 1, 1]


def test_they_have_the_same_marks(found):
    shown = variant(found, "grad")
    at = shown["facts"][key(found, "r = x - np.floor(x)")]
    assert at["active"] and at["names"] == ["r", "x"]
    assert ["policy", "a remainder: np.floor contributes no derivative"] in at["facts"]
    assert shown["facts"][key(found, "return 0.1 * np.sum(x * x)")]["active"]
    steep, flat = shown["called"]
    assert [(k["name"], k["bytes"]) for k in steep["kept"]] == [("t0", X.nbytes)]
    assert steep["kept"][0]["left"] == [key(found, "return np.sum(np.tanh(3.0 * x) ** 2) + np.sum(r)")]
    assert flat["kept"] == [] and flat["total"] == 0
    names = [stage["name"] for stage in steep["stages"] if stage["form"] == "python"]
    assert names[0] == "specialize" and "naive" in names and names[-1] == "final"


def test_their_lines_are_timed(found):
    shown = variant(found, "grad")
    line = key(found, "return np.sum(np.tanh(3.0 * x) ** 2) + np.sum(r)")
    steep = shown["called"][0]
    texts = [text for text, _ in text_of(found, steep)]
    timed = {texts[number - 1].strip() for number, seconds in steep["cost"]["right"].items() if seconds > 0.0}
    assert "t0 = np.tanh(3.0 * x)" in timed
    assert shown["cost"]["left"][line] > 0.0 and shown["cost"]["back"][line] > 0.0


def test_for_numba_too_without_times(found):
    steep, _ = variant(found, "grad", "numba")["called"]
    assert steep["cost"] is None and [s["name"] for s in steep["stages"]][-1] == "final"


def test_what_pullbacks_have_kept_counts(found):
    kept = {k["name"]: k for k in variant(found, "grad")["kept"]}
    of_steep = [k for k in kept.values() if "pullback" in k["what"]]
    assert len(of_steep) == 3 and all(k["bytes"] >= X.nbytes for k in of_steep)


def test_a_function_that_calls_itself():
    found = describe(programs.tree, (0.3, 3), modes=("grad", "vjp"), backends=("numpy",))
    (part,) = variant(found, "grad")["called"]
    assert part["name"] == "tree_vjp" and part["count"] == 2 + 4 + 8
    assert [f["name"] for f in found["functions"]] == ["tree"]
    assert variant(found, "vjp")["called"] == []  # the same text
    assert "left_pullback" in {k["name"] for k in part["kept"]}


def test_a_function_that_calls_itself_is_known_without_a_run():
    kinds = read_kinds("x: float, depth: int")
    found = describe(programs.tree, kinds=kinds, modes=("grad", "jvp"), backends=("numpy",))
    (part,) = variant(found, "grad")["called"]
    assert (part["name"], part["arguments"], part["cost"]) == ("tree_vjp", "x: float, depth: int", None)
    assert all(k["bytes"] is None for k in part["kept"])


def test_lambdas_and_functions_of_numpy():
    made = describe(programs.composed, (X, [np.sin, programs.square]), modes=("grad",), backends=("numpy",))
    (part,) = variant(made, "grad")["called"]  # the rule of np.sin is no function of anybody's
    unit = next(f for f in made["functions"] if f["number"] == part["unit"])
    assert unit["name"] == "lambda" and "square" in bare(made, unit["lines"][0][1])


def test_closures_that_share_a_text_are_one():
    functions = [programs.scaled(1.0), programs.scaled(2.0), np.tanh]
    made = describe(programs.summed, (X, functions), modes=("grad",), backends=("numpy",))
    (part,) = variant(made, "grad")["called"]
    assert (part["name"], part["count"]) == ("by_factor_vjp", 2)
    assert next(f for f in made["functions"] if f["number"] == part["unit"])["name"] == "scaled"


def test_functions_that_are_called_in_blocks_with_choices():
    with s2s.nonsmooth("straight_through"):
        made = describe(programs.chosen, (X, [STEEP]), modes=("grad",), backends=("numpy",))
    (part,) = variant(made, "grad")["called"]
    assert part["name"] == "steep_vjp" and part["cost"]["right"]
    at = variant(made, "grad")["facts"][key(made, "r = x - np.floor(x)")]
    assert any("straight through" in text for kind, text in at["facts"] if kind == "policy")


def test_the_derivative_stays_what_it_was():
    before = s2s.grad(programs.chosen)(X, NAMES)
    describe(programs.chosen, (X, NAMES), modes=("grad",), backends=("numpy",))
    expected = 6.0 * np.tanh(3.0 * X) * (1.0 - np.tanh(3.0 * X) ** 2) * 2.0 + 2.0 + 0.2 * X
    np.testing.assert_allclose(before, expected)
    np.testing.assert_allclose(s2s.grad(programs.chosen)(X, NAMES), expected)


def test_a_version_that_is_made_for_what_was_seen_has_its_stages():
    made = describe(programs.stepped, (X, [HALVED]), modes=("grad", "jvp"), backends=("numpy",))
    for mode, name in (("grad", "halved_vjp"), ("jvp", "halved_jvp")):
        shown = variant(made, mode)
        assert shown["refused"] is None and [part["name"] for part in shown["called"]] == [name]
        assert "naive" in [stage["name"] for stage in shown["stages"]] and shown["cost"]["derivative"] > 0.0


def test_one_that_was_made_before_is_shown():
    s2s.grad(programs.stepped)(X, [HALVED, HALVED])
    for _ in range(2):
        made = describe(programs.stepped, (X, [HALVED, HALVED]), modes=("grad",), backends=("numpy",))
    shown = variant(made, "grad")
    assert shown["refused"] is None and shown["stages"][-1]["name"] == "final"
    assert shown["cost"]["derivative"] > 0.0 and [part["count"] for part in shown["called"]] == [2]
