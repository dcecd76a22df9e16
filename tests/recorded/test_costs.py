"""Recorded calls that take long beside their function are told of, with the line that is the reason; by a clock that
the tests move."""

import collections
import logging
import warnings
import weakref

import numpy as np
import pytest

import s2s
from s2s import notices
from s2s.recorded import costs, differences, entry, trust

X = np.array([0.5, 2.0])


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    monkeypatch.setattr(notices, "_told", set())
    monkeypatch.setattr(costs, "_spent", weakref.WeakKeyDictionary())
    monkeypatch.setattr(trust, "_KNOWN", collections.OrderedDict())


@pytest.fixture
def clocks(monkeypatch):
    """What a recorded call takes, and the function in it, in seconds."""

    def moved(module, seconds):
        now = [0.0]

        def clock():
            now[0] += seconds
            return now[0]

        monkeypatch.setattr(module, "perf_counter", clock)

    def set_to(call, primal):
        moved(entry, call)
        moved(differences, primal)

    return set_to


def refused():
    """A function that nobody has called, and the line that the compiler refuses in it."""

    def f(x):
        y = x * 2.0

        class Scale:
            by = 3.0
        return np.sum(y * y) * Scale.by

    return f, f.__code__.co_firstlineno + 3


def slow(work):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    return [one for one in caught if one.category is s2s.SlowDerivativeWarning]


@pytest.mark.parametrize("work", [
    lambda f: s2s.grad(f)(X), lambda f: s2s.jvp(f, (X,), (X,)), lambda f: s2s.vjp(f, X)[1](1.0),
], ids=["grad", "jvp", "vjp"])
def test_the_line_that_is_the_reason_is_told_after_a_second(clocks, work):
    clocks(call=0.4, primal=0.004)
    f, line = refused()
    for _ in range(3):  # the first one compiles
        assert slow(lambda: work(f)) == []
    (warning,) = slow(lambda: work(f))
    assert (warning.filename, warning.lineno) == (__file__, line)
    text = str(warning.message)
    assert " of `f` has taken 1.2 s, 100 times as long as `f` itself" in text
    assert "because of this line: a class inside a function cannot be differentiated [S2S107]" in text
    assert f" (test_costs.py:{line}); instead: define `Scale` at the level of the module" in text
    assert text.endswith("docs/warnings.md#slowderivativewarning")


@pytest.mark.parametrize("call, primal", [(0.4, 0.01), (1e-3, 1e-6)], ids=["not_by_much", "not_long"])
def test_what_is_not_slow_is_not_told_of(clocks, call, primal):
    clocks(call, primal)
    f, _ = refused()
    assert slow(lambda: [s2s.grad(f)(X) for _ in range(5)]) == []


def test_it_is_told_once(clocks):
    clocks(call=2.0, primal=1e-3)
    f, _ = refused()
    assert len(slow(lambda: [s2s.grad(f)(X) for _ in range(4)])) == 1


def test_the_function_runs_no_more_often_for_it(clocks):
    runs = [0]

    def f(x):
        class Scale:
            by = 3.0
        runs[0] += 1
        return np.sum(x * x) * Scale.by

    s2s.grad(f)(X)
    runs[0] = 0
    quick = [s2s.grad(f)(X), runs[0]]
    clocks(call=2.0, primal=1e-3)
    runs[0] = 0
    assert len(slow(lambda: s2s.grad(f)(X))) == 1 and runs[0] == quick[1]
    np.testing.assert_allclose(quick[0], 6.0 * X)


def test_the_log_has_what_the_first_call_takes(clocks, caplog):
    caplog.set_level(logging.DEBUG, logger="s2s.compile")
    clocks(call=0.4, primal=0.004)

    def f(x):
        class Scale:
            by = 3.0
        return np.sum(x * x) * Scale.by

    line = f.__code__.co_firstlineno + 1
    for _ in range(2):
        s2s.grad(f)(X)
    said = [record.getMessage() for record in caplog.records if record.getMessage().startswith("f_grad: ")]
    reason = f"a class inside a function cannot be differentiated [S2S107] (test_costs.py:{line})"
    assert said[0].startswith("f_grad: static: refused after ") and said[0].endswith(f" s: {reason}")
    assert said[1].startswith("f_grad: observed: refused after ") and said[1].endswith(f" s: {reason}")
    assert "f_grad: recorded: the first call takes 0.4 s, the function 0.004 s" in said
    assert sum("recorded:" in one for one in said) == 1
