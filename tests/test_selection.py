"""Which tests a run takes, in which order: by the marks, the options and the seed."""

import re

import pytest

from tests import related
from tests.helpers import ROOT

pytest_plugins = ["pytester"]

PROGRAM = """
import pytest

def test_quick():
    pass

@pytest.mark.slow
def test_slow():
    pass

@pytest.mark.grid(0.3)
@pytest.mark.parametrize("k", range(10))
def test_points(k):
    pass
"""

PARTS = """
import pytest

@pytest.mark.parametrize("k", range(100))
def test_parts(k, in_sample):
    print("looks" if in_sample(0.25, "part") else "leaves out")
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Run tests of two files with options, and return the names of those that ran and what they printed."""
    names = ", ".join(["in_sample", "pytest_addoption", "pytest_collection_modifyitems", "pytest_configure",
                       "pytest_generate_tests", "pytest_ignore_collect"])
    pytester.makeconftest(f"from tests.selection import {names}, pytest_report_header\n")
    pytester.makepyfile(test_one=PROGRAM, test_two=PROGRAM)
    pytester.syspathinsert(ROOT)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def of_options(*options):
        text = pytester.runpytest_inprocess("-v", "-rP", "-p", "no:cacheprovider", *options).stdout.str()
        assert " failed" not in text and " error" not in text
        return re.findall(r"^(\S+::\S+) PASSED", text, re.M), text

    return of_options


def named(names, part):
    return [name for name in names if part in name]


def test_a_run_takes_what_is_not_slow_and_a_sample_of_each_grid(run):
    names, _ = run("--seed", "1")
    assert len(named(names, "test_quick")) == 2 and not named(names, "test_slow")
    assert len(named(names, "test_one.py::test_points")) == len(named(names, "test_two.py::test_points")) == 3


def test_the_seed_decides_sample_and_order(run):
    first, text = run("--seed", "5")
    assert "--seed 5" in text
    assert run("--seed", "5")[0] == first
    other = run("--seed", "6")[0]
    assert other != first and set(named(other, "test_points")) != set(named(first, "test_points"))


def test_the_tests_of_a_file_stay_together(run):
    files = [name.partition("::")[0] for name in run("--seed", "3")[0]]
    assert sum(one != other for one, other in zip(files, files[1:])) == 1
    points = named(run("--seed", "3", "--every")[0], "test_one.py::test_points")
    assert len(points) == 10 and points != sorted(points)


def test_what_is_left_out_is_the_rest(run):
    taken, rest = set(run("--seed", "2")[0]), set(run("--seed", "2", "--rest")[0])
    assert not taken & rest
    assert taken | rest == set(run("--slow", "--every")[0])
    assert {name for name in rest if "test_points" not in name} == {f"test_{n}.py::test_slow" for n in ("one", "two")}


def test_three_thirds_are_all_slow_tests(run):
    def thirds(*options):
        return [set(run("--seed", "2", "--third", str(k), *options)[0]) for k in range(3)]

    slow = {"test_one.py::test_slow", "test_two.py::test_slow"}
    parts = thirds()
    assert sum(map(len, parts)) == len(slow) and set.union(*parts) == slow
    whole = thirds("--whole", "tests/none,test_one.py")
    assert set.union(*whole) == slow and set.intersection(*whole) == {"test_one.py::test_slow"}


def test_a_test_that_is_named_is_taken(run):
    assert run("--seed", "2", "test_one.py::test_slow")[0] == ["test_one.py::test_slow"]
    assert len(run("--seed", "2", "test_one.py::test_points")[0]) == 10


def test_a_file_of_slow_tests_is_not_imported(run, pytester):
    pytester.makepyfile(test_three="import pytest\nimport no_such\npytestmark = [\n    pytest.mark.slow]\n")
    assert run("--seed", "2")[0]
    with pytest.raises(AssertionError):
        run("--seed", "2", "--slow")


def test_a_test_looks_at_its_share(run, pytester):
    pytester.makepyfile(test_parts=PARTS)
    looked = [run("--seed", "4", *options, "test_parts.py")[1].count("\nlooks\n") for options in ((), ("--every",))]
    assert 5 < looked[0] < 50 and looked[1] == 100


def test_the_tests_that_are_related_to_a_file():
    of_sweeps = related.related(["s2s/reverse/operations.py"])
    assert {"tests/reverse", "tests/language", "tests/inplace", "tests/bank"} <= set(of_sweeps)
    assert not {"tests/distributed", "tests/optim"} & set(of_sweeps)
    assert related.related(["s2s/errors.py", "tests/optim/test_options.py"]) == ["tests/optim", "tests/test_errors.py"]
    assert related.related(["docs/arrays.md"]) == ["tests/site", "tests/test_docs.py"]


def test_what_spans_rooms_and_the_rooms_are_there():
    for path, rooms in related.SPANNING.items():
        assert (ROOT / path).exists(), path
        assert [room for room in rooms if not (ROOT / "s2s" / room).exists()] == [], path
