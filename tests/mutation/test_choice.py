"""Which mutants are drawn, which tests run for them, and what is kept from one run to the next."""

import json
import signal
import sys

import pytest

from tests.mutation.__main__ import chosen, note, report, rows_of
from tests.mutation.operators import Mutant, mutants
from tests.mutation.record import Record, Watch, lines_in, mask_of, moved
from tests.mutation.rooms import ROOMS, belongs, distance_of, drawn, entry_of, equivalents, identity, paths_of
from tests.mutation.session import Child, run_all
from tests.related import of_room

TEXT = """\
def inside(x, low):
    if x < low:
        return x + 1
    if x is None:
        return low[0]
    return x - low
"""


def mutant(file="s2s/forward/sweep.py", function="call", line=10):
    return Mutant(file, (line, 4), (line, 8), "pass", "drop statement", (line, line), function)


# --- records ------------------------------------------------------------------------------------------------------


def test_lines_are_bits():
    assert mask_of([1, 9, 64]) == 1 << 1 | 1 << 9 | 1 << 64
    assert list(lines_in(mask_of([64, 3, 3]))) == [3, 64]
    assert mask_of([]) == 0


def test_the_tests_of_a_line_are_those_that_ran_it():
    record = Record()
    record.add("slow", 2.0, {"module.py": mask_of([8, 10])})
    record.add("quick", 1.0, {"module.py": mask_of([10])})
    record.add("other", 0.5, {"other.py": mask_of([10])})
    assert record.tests("module.py", (9, 12)) == {"slow": 2, "quick": 1}
    assert record.tests("module.py", (8, 8)) == {"slow": 2}
    assert record.tests("module.py", (9, 9)) == {}
    record.leave_out("slow", "fails")
    assert record.tests("module.py", (8, 10)) == {"quick": 1}
    assert record.breadth == {"slow": 2, "quick": 1, "other": 1}


def test_lines_are_found_where_they_stand_by_now():
    move = moved("a\nb\nc\nd\n", "new\na\nb\nother\nd\nlast\n")
    assert list(lines_in(move(mask_of([1])))) == [2]
    assert list(lines_in(move(mask_of([2, 3])))) == [3, 4]  # in the place of c
    assert list(lines_in(move(mask_of([4])))) == [5, 6]  # what comes after d is run by who runs d
    assert moved("a", "a")(6) == 6


def test_a_record_is_that_of_files_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "module.py").write_text("one\ntwo\n")
    (tmp_path / "test_same.py").write_text("same")
    (tmp_path / "test_other.py").write_text("before")
    record = Record()
    record.add("test_same.py::a", 1.0, {"module.py": mask_of([2])})
    record.add("test_other.py::b", 2.0, {"module.py": mask_of([2])})
    record.leave_out("test_same.py::c", "fails")
    record.save("record")
    assert Record.load("record") == record
    (tmp_path / "test_other.py").write_text("after")
    (tmp_path / "module.py").write_text("zero\none\ntwo\n")
    again = Record.load("record")
    assert again.tests("module.py", (3, 3)) == {"test_same.py::a": 1}
    assert again.tests("module.py", (1, 2)) == {}
    assert again.seconds == {"test_same.py::a": 1.0, "test_same.py::c": float("inf")}
    assert again.broken == {"test_same.py::c": "fails"}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring")
@pytest.mark.parametrize("ahead", [False, True])
def test_lines_that_run_are_watched(tmp_path, ahead):
    path = tmp_path / "package" / "module.py"
    held = {}
    exec(compile(TEXT, str(path), "exec"), held)
    watch = Watch(str(path.parent) + "/")
    if ahead:
        watch.ahead([held["inside"].__code__])
    for args, lines in (((1, 2), {2, 3}), ((3, 2), {2, 4, 6}), ((1, 2), {2, 3})):
        watch.start()
        held["inside"](*args)
        assert watch.stop() == {"package/module.py": lines}
    watch.end()


# --- draws --------------------------------------------------------------------------------------------------------


def test_each_line_is_drawn_before_any_is_drawn_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "module.py").write_text(TEXT)
    every = mutants("module.py", TEXT, False)
    order = list(drawn(every, 0))
    assert sorted(one.key for one in order) == sorted(one.key for one in every)
    lines = [one.start[0] for one in order]
    assert len(set(lines[: len(set(lines))])) == len(set(lines))
    assert order != list(drawn(every, 1))
    assert len({one.group for one in order[:3]}) == 3


def test_a_draw_outlives_changes_of_other_lines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "module.py").write_text(TEXT)
    before = [identity(one) for one in drawn(mutants("module.py", TEXT, False), 3)]
    text = f"import os\n\n{TEXT}"
    (tmp_path / "module.py").write_text(text)
    assert [identity(one) for one in drawn(mutants("module.py", text, False), 3)] == before


def test_tests_stand_in_the_order_of_what_they_may_find():
    record, file = Record(), "s2s/forward/sweep.py"
    for name, seconds, near, others in (
        ("forward/test_a.py::f[1]", 0.1, 50, 50), ("forward/test_a.py::f[2]", 0.12, 50, 50),
        ("forward/test_b.py::g", 0.13, 50, 50), ("language/test_c.py::h", 0.13, 50, 50),
        ("forward/test_b.py::k", 0.13, 5, 950),
    ):
        lines = {file: mask_of([10, *range(20, 19 + near)]), "s2s/api.py": mask_of(range(others))}
        record.add(f"tests/{name}", seconds, lines)
    tests = record.tests(file, (10, 10))
    a1, a2, b, h, k = tests
    assert [*tests.values()] == [50, 50, 50, 50, 5]
    assert chosen(mutant(), tests, record, {}) == [a1, b, a2, h, k]
    assert chosen(mutant(), tests, record, {k: [mutant(line=30)], h: [mutant(line=12)]})[:3] == [h, k, a1]
    assert chosen(mutant(), tests, record, {k: [mutant()], h: [mutant(file="other.py")]})[:3] == [k, h, a1]


def test_rooms_have_tests():
    module = "s2s/reverse/residuals/undo.py"
    files = ("reverse/residuals/test_undo", "reverse/residuals/test_kept", "reverse/test_loops", "language/test_undo")
    distances = [distance_of(f"tests/{file}.py::f", module) for file in files]
    assert distances == sorted(set(distances))
    assert belongs("tests/test_api.py::f", "forward") and not belongs("tests/cli/test_cli.py::f", "forward")
    assert {"tests/shipping", "tests/cli/test_building.py"} <= set(paths_of(["shipping"]))
    assert set(of_room("reverse")) <= set(paths_of(ROOMS))


# --- what was found -----------------------------------------------------------------------------------------------


def test_equivalent_mutants_are_known_by_what_they_change(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "module.py").write_text(TEXT)
    one = next(one for one in mutants("module.py", TEXT, False) if one.kind == "LtE")
    text = f"# what it is\n# and more\n\n{entry_of(identity(one), 'It is the same.')}\n"
    assert equivalents(text) == {identity(one): "It is the same."}
    assert identity(one) == ("module.py", "inside", "LtE", "if x < low:", "if (x <= low):")
    with pytest.raises(ValueError, match="no entry"):
        equivalents(entry_of(identity(one)))


def test_verdicts_are_counted_by_room(tmp_path, monkeypatch, capsys):
    text = "s2s/forward/sweep.py f: IsNot\n- a is b\n+ a is not b\nThey are the same.\n"
    (tmp_path / "equivalent.txt").write_text(text)
    monkeypatch.setattr("tests.mutation.__main__.EQUIVALENT", str(tmp_path / "equivalent.txt"))

    def row(room, verdict, number):
        return {"mutant": (f"s2s/{room}/a.py", "f", "Is", str(number), "c"), "line": 1, "verdict": verdict, "tests": 3}

    same = {**row("forward", "survived", 0), "mutant": tuple(next(iter(equivalents(text))))}
    rows = [row("forward", "survived", 8), row("reverse", "killed", 1)]
    rows += (row("forward", "killed", k) for k in range(8))
    assert report([*rows, same], {"reverse": 5}) == 0
    told = [line.split() for line in capsys.readouterr().out.splitlines() if line]
    assert ["forward", "10", "8", "1", "1", "0", "0", "89%"] in told
    assert ["all", "11", "9", "1", "1", "0", "0", "90%", "5"] in told
    assert report([*rows, same, row("reverse", "not reached", 2)], {}) == 1
    assert "too few found: under 90% in all, reverse" in capsys.readouterr().out


def test_the_last_verdict_counts(tmp_path):
    first, last = ({"mutant": ["a"], "verdict": verdict} for verdict in ("survived", "killed"))
    (tmp_path / "saved").write_text(f"{json.dumps(first)}\n{json.dumps(last)}\n")
    assert rows_of(str(tmp_path / "saved")) == [last]


# --- processes ----------------------------------------------------------------------------------------------------


def endless(tell):
    signal.setitimer(signal.ITIMER_PROF, 0.05)
    tell({"test": "a"})
    while True:
        pass


def test_processes_end_when_their_time_is_used_up():
    works = [endless, lambda tell: tell({"test": "b"}), lambda tell: 1 // 0]
    children = (Child(work, k, 5.0) for k, work in enumerate(works))
    ended = {child.job: (end, child.told()) for child, end in run_all(children, 2)}
    assert ended[0] == ("SIGPROF", [{"test": "a"}])
    assert ended[1] == ("", [{"test": "b"}])
    assert ended[2][0] == "" and "ZeroDivisionError" in ended[2][1][0]["error"]


def test_a_test_that_ends_its_process_is_left_out():
    def work(tell):
        tell({"failed": "", "seconds": 0.5, "lines": {"module.py": hex(mask_of([3]))}})
        tell({"failed": "skipped", "seconds": 0.5, "lines": {}})
        endless(lambda told: None)

    record = Record()
    for child, ended in run_all(iter([Child(work, ["a", "b", "c", "d"], 5.0)]), 1):
        note(record, child, ended)
    assert record.tests("module.py", (3, 3)) == {"a": 1}
    assert record.broken == {"b": "skipped", "c": "SIGPROF"}
    assert "d" not in record.seconds
