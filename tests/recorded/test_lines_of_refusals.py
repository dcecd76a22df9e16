"""A recording that is refused names the line of the program, and what went out of sight there."""

import fractions
import inspect
import json
import operator

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")


def read_back(x):
    class Refused:
        pass
    text = repr(x)
    return float(text) * x


def read_by_a_library(x):
    class Refused:
        pass
    text = json.dumps([x * 2.0])
    return json.loads(text)[0]


def converted(x):
    class Refused:
        pass
    return fractions.Fraction(x) * 2


def without_rule(x):
    from scipy.special import ellip_harm

    class Refused:
        pass
    return ellip_harm(3.0, 2.0, 2, 1, x)


def rounded(x):
    class Refused:
        pass
    count = int(x * 1e9)
    return count / 1e9


def refusals(f):
    """What both modes refuse."""
    for work in (lambda: s2s.grad(f)(0.3), lambda: s2s.jvp(f, (0.3,), (1.0,))):
        with pytest.raises(DifferentiationError) as info:
            work()
        yield info.value


@pytest.mark.parametrize(("f", "line", "inside"), [
    (read_back, "return float(text) * x", ""),
    (read_by_a_library, "return json.loads(text)[0]", "in `raw_decode` (decoder.py:"),
    (converted, "return fractions.Fraction(x) * 2", "in `__new__` (fractions.py:"),
    (without_rule, "return ellip_harm(3.0, 2.0, 2, 1, x)", ""),
])
def test_the_line_of_the_program_is_shown(f, line, inside):
    texts, first = inspect.getsourcelines(f)
    for problem in refusals(f):
        span = problem.diagnostic.span
        assert span.file == __file__ and texts[span.line - first].strip() == line
        assert (span.function, span.column, span.end_column) == (f.__name__, 4, 4 + len(line))
        assert problem.diagnostic.label.startswith(inside) and bool(problem.diagnostic.label) == bool(inside)


def test_what_is_lost_is_named_and_no_derivative_is_denied():
    texts, first = inspect.getsourcelines(rounded)
    for problem in refusals(rounded):
        assert problem.diagnostic.code == "S2S214" and "has no derivative" not in str(problem)
        assert "along one direction a recording gives 0, differences " in str(problem)
        assert texts[problem.diagnostic.span.line - first].strip() == "count = int(x * 1e9)"
        assert problem.diagnostic.label == "what is computed of its result may be what is lost: `int`"


class Scale:
    def __rmul__(self, other):
        return 2.0 * other


def of_an_object(x):
    return np.sum(np.array([x, x]) * Scale())


def of_objects(x):
    class Refused:
        pass
    return np.sum(operator.mul(np.array([x, x]), Scale()))


def by_texts(x):
    class Refused:
        pass
    texts = [str(2.0 * x)]
    return np.sum(np.array(texts).astype(float))


@pytest.mark.parametrize(("f", "summary", "line"), [
    (of_an_object, "`mul` of a Scale has neither", "return np.sum(np.array([x, x]) * Scale())"),
    (of_objects, "the derivative of `mul` is lost where its calls are recorded: it makes an array of Python objects",
     "return np.sum(operator.mul(np.array([x, x]), Scale()))"),
    (by_texts, "the derivative of `by_texts` is lost where its calls are recorded: along ", "texts = [str(2.0 * x)]"),
])
def test_functions_that_have_derivatives_are_not_said_to_have_none(f, summary, line):
    texts, first = inspect.getsourcelines(f)
    for problem in refusals(f):
        assert problem.diagnostic.summary.startswith(summary)
        assert texts[problem.diagnostic.span.line - first].strip() == line


def test_the_advice_of_the_compiler_stays_where_a_line_is_shown():
    assert all(one.diagnostic.hint == "define `Refused` at the level of the module" for one in refusals(rounded))


def test_what_agrees_with_differences_is_not_suspected():
    def f(x):
        class Scale:
            by = 2.0
        return Scale.by * x ** int(2.0 * np.ceil(x))

    with pytest.warns(s2s.RecordedWarning):
        np.testing.assert_allclose(s2s.grad(f)(0.3), 4.0 * 0.3)
