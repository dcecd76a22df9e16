"""``S2S_VALIDATE=1`` for users: what it says, what it leaves as it was, and what it passes over."""

import dataclasses
import logging
import random
import re
import subprocess
import sys
import time

import numpy as np
import pytest

import s2s
from s2s import pipeline
from s2s.core import ir
from s2s.errors import InternalError
from s2s.optimize import passes
from s2s.validation import validate
from tests.fuzz.check import load
from tests.validation.checked import checked
from tests.validation.test_broken import breaking, rewritten, with_operands_swapped

V3 = np.array([0.7, 1.3, 0.4])


@pytest.fixture(autouse=True)
def on(monkeypatch):
    monkeypatch.setenv("S2S_VALIDATE", "1")


def half_and_less(x):
    return np.sum(x / 2.0) - x[0]


def test_the_error_names_the_pass_and_shows_what_it_changed(monkeypatch):
    breaking(monkeypatch, passes.ITEMS, "run", with_operands_swapped)
    f = load("def f(x):\n    return x - 3.0 * x * x\n")
    with pytest.raises(InternalError) as caught:
        s2s.value_and_grad(f)(2.0)
    file = f.__code__.co_filename
    without_numbers = re.sub(r"%[\w.]*|_bar[.\d]*", "%", str(caught.value))
    assert without_numbers == f"""\
the pass `items` changed what `f` computes [S2S910]
 --> {file}:1:1 in `f`
  |
1 | def f(x):
  | ^^^^^^^^^ the result at [0]: -10.0 became 10.0
  = report:   these lines; without S2S_VALIDATE the result is used as it is
  = arguments: x=2.0
  = the change:
    --- before
    +++ after
    @@ -3,5 +3,5 @@
         % = _operator.mul(3.0, x)
         % = _operator.mul(%, x)
    -    % = _operator.sub(x, %)
    +    % = _operator.sub(%, x)
         # reverse sweep
         % = _operator.mul(-3.0, x)"""


def test_off_nothing_of_it_is_imported():
    code = """
import os, sys
os.environ.pop("S2S_VALIDATE", None)
import numpy as np, s2s, math
s2s.grad(math.sin)(1.0)
def f(x): return x * x
sys.exit(any(name.startswith("s2s.validation") for name in sys.modules))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_version_is_not_taken_from_before(monkeypatch):
    """What was compiled without validation is not looked at again; a new derivative is."""
    monkeypatch.delenv("S2S_VALIDATE")
    s2s.grad(half_and_less)(V3)
    monkeypatch.setenv("S2S_VALIDATE", "1")
    breaking(monkeypatch, passes.SUBEXPRESSIONS, "run", with_operands_swapped)
    with pytest.raises(InternalError, match="the pass `common-subexpressions`"):
        s2s.value_and_grad(half_and_less)(V3)


# --- nothing is left behind -------------------------------------------------------------------------------------------


def test_generators_and_arguments_are_as_they_were():
    generator = np.random.default_rng(5)

    def f(x, rng):
        noise = np.random.normal() + random.random() + rng.normal()
        x[0] = x[1]
        return np.sum(x * x) * 0.5 + noise * 0.0

    state = np.random.get_state()[1].copy(), random.getstate(), generator.bit_generator.state
    given = V3.copy()
    reports = checked(f, (given, generator), "grad", 0)
    assert not reports[0].remarks and "emit" in reports[0].checked
    assert np.array_equal(state[0], np.random.get_state()[1]) and state[1] == random.getstate()
    assert state[2] == generator.bit_generator.state
    assert np.array_equal(given, V3)


def test_what_a_function_prints_and_warns_is_kept_back(capsys, recwarn):
    def f(x):
        print("at", x)
        return np.sum(np.log(x - x)) * 0.0 + x[0]

    checked(f, (V3,), "grad", 0)
    assert capsys.readouterr().out == "" and not recwarn.list


def test_print_is_compared(monkeypatch):
    def f(x):
        print("at", x)
        return x * x

    original = pipeline.emit
    monkeypatch.setattr(pipeline, "emit", lambda *args, **kwargs: changed(original(*args, **kwargs)))
    with pytest.raises(InternalError, match="the pass `emit`"):
        checked(f, (2.0,), "grad", 0)


def changed(emitted):
    return dataclasses.replace(emitted, text=re.sub(r"print\(.*\)", "pass", emitted.text))


# --- what is passed over ----------------------------------------------------------------------------------------------


def remarks_of(f, *args):
    reports = checked(f, args, "grad", 0)
    return reports[0].remarks


def test_a_function_that_gives_something_else_each_time(caplog):
    def f(x):
        return x * x + time.perf_counter()

    with caplog.at_level(logging.INFO, "s2s.validation"):
        found = remarks_of(f, 2.0)
    assert found == ["not validated: it gives something else when it is called again"]
    assert found[0] in caplog.text


def test_arguments_that_cannot_be_copied():
    def f(x, items):
        return x * next(items)

    assert remarks_of(f, 2.0, iter([1.0, 2.0, 3.0, 4.0])) == ["not validated: a list_iterator"]


def test_a_function_that_takes_too_long():
    def f(x, n):
        for _ in range(n):
            x = x * 1.0000001
        return x

    (report,) = checked(f, (2.0, 3_000_000), "grad", 0, seconds=0.2)
    assert report.remarks == ["validated in part: it takes too long"] and report.checked == []


def test_a_function_that_is_too_deep_for_the_interpreter(monkeypatch):
    def overflowing(*_):
        raise RecursionError

    monkeypatch.setattr(validate, "execute", overflowing)
    assert remarks_of(half_and_less, V3) == ["not validated: it is too deep for the interpreter"]


def test_large_arguments_are_shortened():
    def f(x, y, n):
        total = 0.0
        for i in range(n):
            total = total + x[i] * y[i, 1]
        return total

    (report,) = checked(f, (np.linspace(0.1, 1.0, 4000), np.ones((4000, 3)), 4000), "grad", 0)
    assert not report.remarks and "reverse" in report.checked and "emit" in report.checked


def test_large_arguments_that_cannot_be_shortened():
    def f(x):
        return x[3999] * x[0]

    found = remarks_of(f, np.linspace(0.1, 1.0, 5000))
    assert found == ["not validated: it raises IndexError for arguments that are made up"]


def test_a_version_without_arguments_gets_samples(monkeypatch):
    def f(x: float, y: np.ndarray) -> float:
        return x / 2.0 - x * x

    s2s.source(f, mode="grad")
    breaking(monkeypatch, passes.ACCUMULATE, "run", with_operands_swapped)
    with pytest.raises(InternalError, match="the pass `accumulate`"):
        s2s.source(load("def f(x: float) -> float:\n    return x - 3.0 * x * x / 7.0\n"), mode="value_and_grad")


def test_an_exception_of_the_function_is_no_error_of_the_compiler():
    def f(x):
        if x > 1.0:
            raise ValueError(f"{x} is too large")
        return x * x

    (report,) = checked(f, (2.0,), "grad", 0)
    assert "emit" in report.checked and not report.remarks


def test_a_derivative_by_choice():
    """Rounding is differentiated as if it were not there: differences say something else, forward mode does not."""

    def f(x):
        return np.floor(3.0 * x) * x

    (report,) = checked(f, (1.23,), "grad", 0)
    assert "reverse" in report.checked and not report.remarks


def nearly(function):
    """The function with its constant 3.0 off in the last digit."""
    near = ir.Const(3.0 + 4e-15)

    def change(s):
        if isinstance(s, ir.Let) and isinstance(s.value, ir.Call):
            args = tuple(near if a == ir.Const(3.0) else a for a in s.value.args)
            return [ir.replace(s, value=ir.replace(s.value, args=args))]
        return [s]

    return rewritten(change, function)


def test_bits_count_unless_a_pass_says_that_it_reassociates(monkeypatch):
    def f(x):
        return np.sum(x * x) * 3.0 - x[0]

    breaking(monkeypatch, passes.SUBEXPRESSIONS, "run", nearly)
    with pytest.raises(InternalError, match="the pass `common-subexpressions`"):
        checked(f, (V3,), "value_and_grad", 0)
    monkeypatch.setattr(passes.SUBEXPRESSIONS, "reassociates", True)
    (report,) = checked(f, (V3,), "value_and_grad", 0)
    assert "common-subexpressions" in report.checked and "emit" in report.checked


def test_a_pass_that_reassociates_must_be_near(monkeypatch):
    breaking(monkeypatch, passes.SUBEXPRESSIONS, "run", with_operands_swapped)
    monkeypatch.setattr(passes.SUBEXPRESSIONS, "reassociates", True)
    with pytest.raises(InternalError, match="the pass `common-subexpressions`"):
        checked(half_and_less, (V3,), "value_and_grad", 0)
