"""How long a function may become is counted in work, so that it is the same each time; then calls are recorded."""

import bisect
import warnings
import weakref

import numpy as np
import pytest

import s2s
from s2s.core import limits
from s2s.dispatch import lookup
from s2s.errors import UnsupportedSyntaxError
from tests.helpers import check


def leaf(x):
    return x * np.sin(x) if x > 0.3 else x + 1.0


def twice(x):
    return leaf(x) * leaf(x + 0.5)


def four(x):
    return twice(x) - twice(0.5 * x)


def eight(x):
    return four(x) + four(1.0 - x)


def sixteen(x):
    return eight(x) * eight(x - 0.25)


def wide(x):
    return sixteen(x) - sixteen(2.0 * x)


def nest(x, n):
    a = b = c = 0.0
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c = a * np.sin(b + k) + x
                b = c * c - a * j
                a = b + x * i
                a = a * 0.1 + c * 0.2 - b * 0.3
                b = np.tanh(a) + np.cos(c) * x
    return a + b * c


@pytest.fixture
def narrow(monkeypatch):
    monkeypatch.setattr(limits, "MOST_STATEMENTS", 100)
    monkeypatch.setattr(limits, "WITHOUT_OTHER_WAY", 1)


def slope(f, x, step=1e-6):
    return (f(x + step) - f(x - step)) / (2 * step)


def test_calls_of_a_function_that_becomes_too_long_are_recorded(narrow, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    with pytest.warns(s2s.RecordedWarning, match="a function of this length cannot be differentiated"):
        found = s2s.grad(lambda x: wide(x))(0.67)
    np.testing.assert_allclose(found, slope(wide, 0.67), rtol=1e-7)


def test_where_nothing_else_is_possible_the_limits_are_wider(narrow, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    texts = set()
    for _ in range(2):
        with pytest.raises(UnsupportedSyntaxError, match="statements when all calls are written out") as refused:
            s2s.grad(lambda x: wide(x))(0.67)
        assert refused.value.diagnostic.code == "S2S101"
        texts.add(refused.value.diagnostic.label)
    assert len(texts) == 1
    monkeypatch.setattr(limits, "WITHOUT_OTHER_WAY", 10)
    np.testing.assert_allclose(s2s.grad(lambda x: wide(x))(0.67), slope(wide, 0.67), rtol=1e-7)


def test_a_source_is_bounded_as_well(narrow):
    with pytest.raises(UnsupportedSyntaxError, match="S2S101"):
        s2s.source(wide, 0.67)


def test_steps_are_counted_too(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    monkeypatch.setattr(limits, "MOST_STEPS", 20)
    with pytest.raises(UnsupportedSyntaxError, match="more statements are read than a compilation may read"):
        s2s.grad(lambda x: wide(x))(0.67)


def test_statements_of_other_packages_count_more(monkeypatch):
    """A function of which nearly all is in another package is refused at half of what it takes as one's own."""
    monkeypatch.setenv("S2S_RECORDED", "0")
    monkeypatch.setenv("S2S_CACHE", "0")
    monkeypatch.setattr(limits, "WITHOUT_OTHER_WAY", 1)

    def takes(steps):
        monkeypatch.setattr(limits, "MOST_STEPS", steps)
        monkeypatch.setattr(lookup, "_shared", weakref.WeakKeyDictionary())
        try:
            s2s.grad(lambda x: leaf(x))(0.67)
        except UnsupportedSyntaxError:
            return False
        return True

    own = bisect.bisect_left(range(100), True, key=takes)
    monkeypatch.setattr(leaf, "__module__", "another.package")
    of_others = bisect.bisect_left(range(200), True, key=takes)
    assert 1 < own < 100 and 1.3 * own < of_others <= limits.OF_LIBRARIES * own


def test_attempts_have_one_budget():
    """Those within another compilation have their own."""
    with limits.attempts():
        for left in (limits.MOST_STEPS - 1, limits.MOST_STEPS - 2):
            with limits.limited_length(True):
                limits.charge_step(0, True)
                assert limits._budgets[-1].steps == left
                with limits.limited_length(True):
                    assert limits._budgets[-1].steps == limits.MOST_STEPS
    with limits.limited_length(True):
        assert limits._budgets[-1].steps == limits.MOST_STEPS


def test_what_is_tried_and_discarded_is_not_counted(narrow, monkeypatch):
    """The body of a loop is specialised until nothing new is found, in a nest many times; 26 statements stay."""
    monkeypatch.setenv("S2S_RECORDED", "0")
    monkeypatch.setattr(limits, "MOST_STATEMENTS", 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.RecordedWarning)
        check(nest, (0.3, 3), argnums=(0,))


def test_indices_are_counted_with_what_reads_them(narrow, monkeypatch):
    """A function has as many statements as the program's operations come to."""
    monkeypatch.setattr(limits, "MOST_STATEMENTS", 64)

    def with_indices(x):
        a = x[0, 0] * x[0, 1] + x[0, 2] * x[1, 0]
        b = x[1, 1] * x[1, 2] - x[2, 0] * x[2, 1]
        for i in range(3):
            a = a + x[i, 0] * x[i, 1] + x[0, i] * x[1, i]
            b = b - x[i, 2] * x[i, 1] + np.sum(x[i:, i]) * np.sum(x[:i, i])
        return a * b + x[2, 2] * np.sum(x[:, 0]) * np.sum(x[0, :]) + np.sum(x[1:, 1:]) * np.sum(x[:2, :2])

    x = np.cos(np.arange(9.0)).reshape(3, 3)
    check(with_indices, (x,))
