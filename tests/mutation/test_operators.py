"""The changes that mutants make: small ones, at their place, that take effect in functions that are there already."""

import importlib.util
import sys

import pytest

from tests.mutation.operators import mutants, parts_of
from tests.mutation.record import Record, chosen
from tests.mutation.session import apply, live_functions

TEXT = '''\
"""A module."""

LIMITS = (1, 2)


def inside(x: int, low: int = 0) -> int | None:
    """What it does."""
    if x < low and not x == 7:
        return None
    total = 0
    total += x
    for k in reversed((x,
                       low)):
        if k in (3, 4):
            continue
        total = max(total, k, key=abs)
    assert total is not None
    match x:
        case 5:
            return total - x
    return total


double = lambda x: (
    x * 2.0
)
'''


def kinds(line):
    return sorted(one.kind for one in mutants("module.py", TEXT, True) if one.start[0] == line)


def test_each_line_has_its_changes():
    assert kinds(3) == ["drop member 0", "drop member 1", "one more", "one more"]
    assert kinds(6) == ["one more"]
    assert kinds(7) == kinds(17) == []
    assert kinds(8) == ["False", "LtE", "True", "drop operand 0", "drop operand 1", "one more"]
    assert kinds(10) == ["drop statement", "one more"]
    assert kinds(11) == kinds(15) == ["drop statement"]
    assert kinds(12) == ["first argument"]
    assert kinds(14) == ["False", "True", "drop member 0", "drop member 1", "one more", "one more"]
    assert kinds(16) == ["drop key", "drop statement"]
    assert kinds(19) == ["drop arm"]
    assert kinds(20) == ["Add", "left only", "return None"]
    assert kinds(21) == ["return None"]
    assert kinds(25) == ["left only", "negate", "one more", "right only"]


def test_a_mutant_is_a_module_of_as_many_lines():
    found = mutants("module.py", TEXT, True)
    assert len({one.key for one in found}) == len(found)
    for one in found:
        changed = one.applied(TEXT.encode())
        compile(changed, "module.py", "exec")
        assert changed.count(b"\n") == TEXT.count("\n")
        assert changed != TEXT.encode()
        assert len(set(parts_of(TEXT, one))) == 2 or one.start[0] != one.stop[0]


@pytest.fixture
def module(tmp_path):
    (tmp_path / "module.py").write_text(TEXT)
    spec = importlib.util.spec_from_file_location("module_with_mutants", tmp_path / "module.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    yield made
    sys.modules.pop("module_with_mutants", None)


@pytest.mark.parametrize(
    ("line", "kind", "x", "expected"), [(8, "False", -1, -1), (11, "drop statement", 2, 2), (20, "Add", 5, 10)]
)
def test_functions_that_are_there_change(module, tmp_path, line, kind, x, expected):
    assert [module.inside(-1), module.inside(2), module.inside(5), module.double(3.0)] == [None, 2, 0, 6.0]
    live = live_functions(str(tmp_path))
    one = next(one for one in mutants("module.py", TEXT, True) if (one.start[0], one.kind) == (line, kind))
    assert apply(one, str(tmp_path), live) == 1
    assert module.inside(x) == expected
    assert module.double(3.0) == 6.0


def test_a_lambda_changes(module, tmp_path):
    one = next(one for one in mutants("module.py", TEXT, True) if one.kind == "negate")
    assert apply(one, str(tmp_path), live_functions(str(tmp_path))) == 1
    assert module.double(3.0) == -6.0


def test_the_tests_of_a_line_are_those_that_ran_it():
    record = Record()
    record.add("slow", 2.0, {"module.py": [8, 10]})
    record.add("quick", 1.0, {"module.py": [10]})
    record.add("other", 0.5, {"other.py": [10]})
    assert record.tests("module.py", (9, 12)) == ["quick", "slow"]
    assert record.tests("module.py", (8, 8)) == ["slow"]
    assert record.tests("module.py", (9, 9)) == []
    assert chosen(["a", "b", "c", "d"], ["c", "z"], 2, seed=0)[:2] == ["c", "a"]
