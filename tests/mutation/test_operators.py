"""The changes that mutants make: small ones, at their place, that take effect in functions that are there already."""

import importlib.util
import sys

import pytest

from tests.mutation.operators import mutants, parts_of
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


def parts(x, y, fn):
    if x is None or fn(x, y, y):
        return x[1:-2]
    return max(x, y) / y[0]


make = lambda: list[int | None]()
'''


def kinds(line):
    return sorted(one.kind for one in mutants("module.py", TEXT, True) if one.start[0] == line)


def texts(line, *kinds):
    """A line as it is after each change of some kinds."""
    found = [one for one in mutants("module.py", TEXT, True) if one.start[0] == line and one.kind in kinds]
    return [list(parts_of(TEXT, one))[1] for one in found]


def test_each_line_has_its_changes():
    assert kinds(3) == ["drop member 0", "drop member 1", "one more", "one more"]
    assert kinds(6) == ["one more"]
    assert kinds(7) == kinds(17) == []
    assert kinds(8) == ["False", "LtE", "NotEq", "True", "drop operand 0", "drop operand 1", "one more", "or"]
    assert kinds(10) == ["drop statement", "one more"]
    assert kinds(11) == kinds(15) == ["drop statement"]
    assert kinds(12) == ["first argument"]
    assert kinds(14) == ["False", "NotIn", "True", "drop member 0", "drop member 1", "one more", "one more"]
    assert kinds(16) == ["drop key=", "drop statement"]  # max gives the same for swapped arguments
    assert kinds(19) == ["drop arm"]
    assert kinds(20) == ["Add", "left only", "negate", "return None", "twice"]
    assert kinds(21) == ["return None"]
    assert kinds(35) == []
    assert kinds(25) == ["Div", "left only", "negate", "one more", "right only", "twice"]


def test_each_change_is_what_it_is_called():
    assert texts(30, "and") == ["if (x is None and fn(x, y, y)):"]
    assert texts(30, "IsNot") == ["if (x is not None) or fn(x, y, y):"]
    assert texts(30, "swap 0", "swap 1") == ["if x is None or (fn(y, x, y)):"]
    assert texts(31, "one less", "one further", "one more") == [
        "return x[(2):-2]", "return x[(0):-2]", "return x[1:-(3)]", "return x[1:-(1)]",
    ]
    assert texts(32, "negate", "twice", "Mult") == [
        "return (max(x, y) * y[0])", "return (-(max(x, y) / y[0]))", "return (2 * (max(x, y) / y[0]))",
    ]
    assert texts(32, "one less") == ["return max(x, y) / y[(-1)]"]


def test_changes_have_groups():
    groups = {one.kind: one.group for one in mutants("module.py", TEXT, True)}
    assert {groups[kind] for kind in ("True", "and", "or", "drop operand 1", "drop arm")} == {"conditions"}
    assert {groups[kind] for kind in ("swap 0", "first argument", "drop key=")} == {"arguments"}
    assert {groups[kind] for kind in ("IsNot", "LtE", "NotIn")} == {"comparisons"}
    assert [groups[kind] for kind in ("one less", "one more", "twice")] == ["indices", "constants", "rules"]


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
def module(tmp_path, few_objects):
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
    one = next(one for one in mutants("module.py", TEXT, True) if one.kind == "negate" and one.start[0] == 25)
    assert apply(one, str(tmp_path), live_functions(str(tmp_path))) == 1
    assert module.double(3.0) == -6.0
