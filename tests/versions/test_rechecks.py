"""Guards by themselves: whether they hold, what a call may change of them, and what tells their objects apart."""

import enum
import functools
import itertools
import math

import numpy as np
import pytest

import s2s
from s2s.core.const import Const
from s2s.core.values import Dim, Scalar
from s2s.versions.argument_guards import SumGuard
from s2s.versions.fingerprints import Unstorable, fingerprint
from s2s.versions.guards import (
    AliasGuard,
    AttributeGuard,
    CallGuard,
    ClassGuard,
    KindGuard,
    NamesGuard,
    ObjectGuard,
    ShadowGuard,
)
from s2s.versions.paths import is_among, loaded
from s2s.versions.rechecks import recheck


def square(x):
    return x * x


class Part:
    def run(self, x):
        return x


STEP, MODE, PART = square, "square", Part()


@pytest.mark.parametrize("root, path, value, kind, definition", [
    ("global", ("square",), square, "first", square), ("global", ("STEP",), square, "first", None),
    ("free", ("square",), square, "first", square), ("global", ("MODE",), "square", "option", None),
    ("global", ("PART", "run"), Part.run, "first", None), ("global", ("PART",), PART, "first", None),
])
def test_only_a_function_by_its_own_name_is_a_definition(root, path, value, kind, definition):
    """Which stays as it is where it is one of a library."""
    found = recheck(ObjectGuard(root, path, value))
    assert found.kind == kind
    assert found.definition is definition
    assert found.name == ".".join(path)


class Choice(enum.Enum):
    ONE = 1


CHOICE, PAIR = Choice.ONE, (1.0, 2.0)


@pytest.mark.parametrize("root, path, value", [
    ("global", ("np",), np), ("global", ("PART", "np"), np), ("module", ("math", "sin"), math.sin),
    ("value", (Const(Part), "size"), property(len)), ("value", (Const(Part), "kept"), functools.cached_property(len)),
    ("module", ("tests", "ONE"), Choice.ONE), ("value", (Const(Choice.ONE), "other"), PART),
    ("global", ("__class__",), Part), ("global", ("PART", "__code__"), square.__code__), ("argument", ("x",), PART),
    ("value", (Const(PART),), PART), ("argument", ("x", "__class__"), Part), ("global", ("PAIR", "__class__"), tuple),
    ("global", ("Part",), Part), ("global", ("func", "func"), square),
])
def test_what_no_call_changes_is_not_asked_again(root, path, value):
    assert recheck(ObjectGuard(root, path, value)) is None


@pytest.mark.parametrize("root, path, value, expected", [
    ("global", ("PART", "__class__"), Part, ("first", ("PART",), None, "PART")),
    ("argument", ("x", "part", "__class__"), Part, ("first", ("x", "part"), None, "x.part")),
    ("global", ("CHOICE",), CHOICE, ("first", ("CHOICE",), CHOICE, "CHOICE")),
    ("global", ("func",), PART, ("first", ("func",), PART, "func")),
    ("module", ("numpy", "sin"), math.cos, ("first", ("numpy", "sin"), math.cos, "sin")),
    ("global", ("PAIR", (1,)), 2, ("option", ("PAIR", (1,)), 2, "PAIR[1]")),
    ("value", (Const(square), "k"), (1, "a"), ("option", (Const(square), "k"), (1, "a"), "square.k")),
    ("global", ("PAIR",), PAIR, ("first", ("PAIR",), PAIR, "PAIR")),
])
def test_what_a_call_may_change_is_asked_again(root, path, value, expected):
    kind, site, again, name = expected
    found = recheck(ObjectGuard(root, path, value))
    assert (found.kind, found.sites, found.name) == (kind, ((root, site, None),), name)
    assert found.found is again
    assert recheck(ObjectGuard(root, path, value, late=True)) is None


HERE, PLACE = ("global", ("PART",), None), ("module", ("numpy", "kept", ("a",)), None)
OTHERS = [
    (AliasGuard(HERE, PLACE, True), "alias", (HERE, PLACE), True, "PART is kept['a']"),
    (AliasGuard(PLACE, HERE, False), "alias", (PLACE, HERE), False, "kept['a'] is PART"),
    (CallGuard(is_among, (3, "numpy", "kept"), True), "among", (("module", ("numpy", "kept"), None),), (3, True),
     "kept"),
    (CallGuard(loaded, ("torch",), None), "loaded", (), ("torch", None), "sys.modules['torch']"),
    (AttributeGuard(*HERE[:2], "k", False), "attribute", (HERE,), ("k", False), "PART.k"),
    (ShadowGuard(*HERE[:2], "run"), "shadow", (HERE,), "run", "PART.run"),
    (NamesGuard("global", ("PART", "__dict__"), ["a", "b"]), "names", (("global", ("PART", "__dict__"), None),),
     ("a", "b"), "PART"),
    (KindGuard("global", "PART", Scalar(float), rest=("k",)), "kind", (("global", ("PART", "k"), None),), None,
     "PART.k"),
    (KindGuard("module", "numpy", Scalar(float)), "kind", (("module", ("numpy",), None),), None, "numpy"),
]


@pytest.mark.parametrize("guard, kind, sites, found, name", OTHERS, ids=[type(guard).__name__ for guard, *_ in OTHERS])
def test_each_kind_of_guard_is_asked_again_by_what_it_says(guard, kind, sites, found, name):
    again = recheck(guard)
    assert (again.kind, again.sites, again.found, again.name) == (kind, sites, found, name)
    assert again.subject == (sites, name) and again.definition is None


@pytest.mark.parametrize("guard", [
    CallGuard(len, ((),), 0), AttributeGuard("global", (), "k", False), KindGuard("argument", "x", Scalar(float)),
    ClassGuard(Part, "run", True), AttributeGuard(*HERE[:2], "k", True, None, True),
    *(ObjectGuard("global", ("PART", "k", "__class__"), kind) for kind in (list, dict, tuple, set, frozenset)),
    *(ObjectGuard("global", ("f", step), square) for step in ("__func__", "__self__", "func", "pyfunc")),
], ids=range(14))
def test_what_only_a_test_replaces_is_not_asked_again(guard):
    assert recheck(guard) is None


@pytest.mark.parametrize("test", [">= 0", "!= 1"])
def test_a_sum_of_lengths_is_that_of_the_arguments(test):
    """As it is written into a dispatcher, and where arguments are given by name."""
    guard = SumGuard((("x.0", 2), ("y.1", -1)), -3, test)
    for n, m in itertools.product(range(5), range(5)):
        arguments = {"x": np.ones((n, 7)), "y": np.ones((9, m))}
        expected = 2 * n - m >= 3 if test == ">= 0" else 2 * n - m != 4
        assert guard.holds(square, arguments) is expected
        written = guard.expression(lambda dim: {Dim("x.0"): f"{n}", Dim("y.1"): f"{m}"}[dim])
        assert eval(written) is expected
    assert guard.holds(square, None)
    assert not guard.holds(square, {"x": np.ones(3)})


def test_a_rule_that_leads_back_to_its_function_has_no_fingerprint():
    def cube(x):
        return x**3

    def pullback(y_bar, y, x, function=None):
        return 3.0 * x * x * y_bar

    before = fingerprint(cube)
    s2s.defvjp(cube, pullback)
    assert fingerprint(cube) != before
    pullback.__defaults__ = (cube,)
    with pytest.raises(Unstorable, match="too deep"):
        fingerprint(cube)
