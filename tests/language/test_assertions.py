"""``assert``: checked where the user wrote it, with the user's message, and passive.

PYTEST_DONT_REWRITE: the programs raise here what they raise elsewhere.
"""

import contextlib
import inspect
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError
from tests.helpers import ROOT, check


def described(x):
    raise RuntimeError(f"describing {x} costs too much")


def first_small(xs):
    for x in xs:
        if x < 1.0:
            return x
    return None


def with_message(x):
    assert x < 2.0, f"x is {x}"
    return np.sin(x) * x


def without_message(x):
    assert x < 2.0
    return x * x


def of_a_tuple(x):
    assert x < 2.0, (x, "is large")
    return x * x * x


def of_a_parameter(x):
    assert np.all(np.isfinite(x)) and x < 2.0, "x"
    return np.exp(x)


def in_a_loop(x):
    y = x
    for i in range(3):
        assert y < 4.0, (i, y)
        y = y * x
    return y


def in_a_while(x):
    n, y = 0, x
    while y < 3.0:
        assert n < 4, n
        y, n = y * x, n + 1
    return y * y


def in_a_branch(x):
    if x > 1.0:
        assert x < 2.0, "large"
        return x * x
    return x


def after_a_return(x):
    for i in range(4):
        if i > x:
            return x * i
        assert x < 3.0, i
    return x


def costly_message(x):
    assert x < 2.0, described(x)
    return x * np.cos(x)


def message_of_many_statements(x):
    assert x < 2.0, first_small([x, x - 1.0, x - 2.0])
    return x * np.cos(x)


def naming_the_message(x):
    assert x < 2.0, (m := f"{x} is large") + m
    return x * x


def with_its_own_function(x):
    def small(y):
        assert y < 2.0, "y"
        return y * x

    return small(x) + x


def by_a_manager(x):
    with np.errstate(all="ignore"):
        assert x < 2.0, "in with"
        y = np.sqrt(x)
    return y


def checkpointed(x):
    y = x
    for i in s2s.checkpointed(range(6), snapshots=2):
        assert y < 4.0, i
        y = np.sin(y) + x
    return y


@s2s.checkpoint
def step(x):
    assert x < 2.0, "step"
    return np.sin(x) * x


def with_a_checkpoint(x):
    return step(x) * x


FUNCTIONS = [
    with_message, without_message, of_a_tuple, of_a_parameter, in_a_loop, in_a_while, in_a_branch, after_a_return,
    costly_message, message_of_many_statements, naming_the_message, with_its_own_function, by_a_manager, checkpointed,
    with_a_checkpoint,
]
SMALL, LARGE = 1.3, 9.0



def derivatives(f):
    yield "reverse", s2s.grad(f)
    yield "forward", lambda x: s2s.jvp(f, (x,), (1.0,))[1]
    yield "pullback", lambda x: s2s.vjp(f, x)[1](1.0)


def raised_by(f, *args):
    with pytest.raises((AssertionError, RuntimeError, ValueError)) as caught:
        f(*args)
    return type(caught.value), caught.value.args


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_an_assertion_that_holds_changes_nothing(f):
    check(f, (SMALL,))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_an_assertion_that_fails_raises_what_the_function_raises(f):
    large = 0.0 if f is in_a_while else LARGE
    for mode, derivative in derivatives(f):
        assert raised_by(derivative, large) == raised_by(f, large), mode


@pytest.mark.parametrize("f", FUNCTIONS[:7], ids=lambda f: f.__name__)
def test_the_text_has_the_assertions_that_the_user_wrote(f):
    written = [line.strip() for line in inspect.getsource(f).splitlines() if line.strip().startswith("assert")]
    for text in (s2s.source(f, SMALL), s2s.source(f, SMALL, mode="jvp")):
        assert [line.strip() for line in text.splitlines() if line.strip().startswith("assert")] == written


def test_a_message_that_is_no_expression_is_made_in_a_branch():
    text = s2s.source(message_of_many_statements, SMALL)
    assert "if not x < 2.0:" in text and "raise AssertionError(" in text


def test_the_reverse_sweep_does_not_check_again():
    assert s2s.source(checkpointed, SMALL).count("assert y < 4.0") == 1


def caught(x):
    try:
        assert x < 2.0, "large"
        y = x * x
    except AssertionError as problem:
        y = x * len(problem.args[0])
    return y


def caught_around_a_call(x):
    try:
        y = with_message(x)
    except (ValueError, AssertionError):
        y = -x
    return y


def suppressed(x):
    y = x * 3.0
    with contextlib.suppress(AssertionError):
        assert x < 2.0
        y = x * x
    return y * x


def caught_where_the_message_is_named(x):
    m = 1.0
    try:
        assert x < 2.0, (m := x * 2.0)
    except AssertionError:
        return x * x
    return x * m


def failing_in_a_handler(x):
    try:
        y = [x][int(x > 2.0)]
    except IndexError:
        assert x < 20.0, "larger"
        y = x * x
    return y * x


def finally_done(x):
    y = x
    try:
        assert x < 20.0
        y = y * x
    finally:
        y = y * x
    return y


CATCHING = [
    caught, caught_around_a_call, suppressed, caught_where_the_message_is_named, failing_in_a_handler, finally_done,
]


@pytest.mark.parametrize("f", CATCHING, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [1.3, 9.0])
def test_a_handler_catches_the_exception_of_an_assertion(f, x):
    check(f, (x,))


@pytest.mark.parametrize("f", [failing_in_a_handler, finally_done], ids=lambda f: f.__name__)
def test_an_assertion_beside_a_handler_is_not_caught(f):
    for mode, derivative in derivatives(f):
        assert raised_by(derivative, 30.0) == raised_by(f, 30.0), mode


def test_an_attribute_that_an_assertion_guards_is_not_taken_for_missing():
    class Guarded:
        def __init__(self, x):
            self.x = x

        def __getattr__(self, name):
            assert self.x < 2.0, "large"
            raise AttributeError(name)

    def f(x):
        return getattr(Guarded(x), "scale", 3.0) * x

    for mode, derivative in derivatives(f):
        with pytest.raises(UnsupportedSyntaxError, match="depends on the run"):
            derivative(1.3)


@pytest.mark.parametrize("known", [True, False])
def test_an_assertion_that_is_known(known):
    def f(x):
        assert known, "known"
        return x * x

    if known:
        assert "assert known" not in s2s.source(f, SMALL)
        check(f, (SMALL,))
    for mode, derivative in derivatives(f):
        if not known:
            assert raised_by(derivative, SMALL) == (AssertionError, ("known",)), mode


def test_the_truth_of_an_array_is_refused_as_numpy_does():
    def f(x):
        assert x < 2.0
        return np.sum(x * x)

    for mode, derivative in (("reverse", s2s.grad(f)), ("forward", s2s.jacfwd(f))):
        assert raised_by(derivative, np.ones(3)) == raised_by(f, np.ones(3)), mode


def of_a_vector(x):
    assert x.ndim == 1 and np.sum(x) < 9.0, f"{np.sum(x)}"
    y = x * x
    for k in range(2):
        assert y[0] < 9.0, (k, y[0])
        y = np.sin(y) * x
    return y


@pytest.mark.parametrize("transform", [s2s.jacfwd, s2s.jacrev, s2s.jacobian], ids=lambda t: t.__name__)
def test_with_many_directions(transform):
    x, h = np.array([0.4, 1.1, 0.7]), 1e-6
    columns = [(of_a_vector(x + h * e) - of_a_vector(x - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(transform(of_a_vector)(x), np.transpose(columns), rtol=1e-7, atol=1e-9)
    for large in (np.full(3, 3.5), np.array([-3.5, 0.1, 0.2])):
        assert raised_by(transform(of_a_vector), large) == raised_by(of_a_vector, large)


def test_of_a_batch():
    mapped = s2s.map(with_message)
    xs = np.array([0.1, 0.5, 1.5])
    np.testing.assert_allclose(s2s.grad(lambda xs: np.sum(mapped(xs)))(xs), np.cos(xs) * xs + np.sin(xs), rtol=1e-12)
    assert raised_by(s2s.grad(lambda xs: np.sum(mapped(xs))), xs + 1.0)[0] is AssertionError


@pytest.mark.parametrize("f", [with_message, in_a_loop, message_of_many_statements], ids=lambda f: f.__name__)
def test_second_derivatives(f):
    h, first = 1e-5, s2s.grad(f)
    expected = (first(SMALL + h) - first(SMALL - h)) / (2 * h)
    for outer in (s2s.grad, s2s.jacfwd):
        for inner in (s2s.grad, s2s.jacfwd):
            assert outer(inner(f))(SMALL) == pytest.approx(expected, rel=1e-7)
            assert raised_by(outer(inner(f)), LARGE) == raised_by(f, LARGE)


@pytest.mark.parametrize("f", [with_message, in_a_loop, in_a_branch, in_a_while], ids=lambda f: f.__name__)
def test_compiled_by_numba(f):
    pytest.importorskip("numba")
    compiled = s2s.differentiable(f, backend="numba")
    large = 0.0 if f is in_a_while else LARGE
    assert s2s.grad(compiled)(SMALL) == pytest.approx(s2s.grad(f)(SMALL), rel=1e-12)
    assert raised_by(s2s.grad(compiled), large) == raised_by(f, large)


OPTIMIZED = """
    import s2s

    def f(x):
        assert x < 2.0, "large"
        assert (y := x * x) > 100.0 or x == 0.0
        return x * x * x

    def g(x):
        try:
            assert x > 2.0
        except AssertionError:
            return x
        return x * x

    for h, x in ((f, 1.5), (f, 3.0), (g, 1.5), (g, 3.0)):
        answers = []
        for derivative in (h, s2s.grad(h), lambda x: s2s.jvp(h, (x,), (1.0,))[1]):
            try:
                answers.append(derivative(x))
            except AssertionError:
                answers.append("AssertionError")
        print(*answers)
"""


@pytest.mark.slow
@pytest.mark.parametrize("flags, expected", [
    ((), ["AssertionError"] * 6 + ["1.5", "1.0", "1.0", "9.0", "6.0", "6.0"]),
    (("-O",), ["3.375", "6.75", "6.75", "27.0", "27.0", "27.0", "2.25", "3.0", "3.0", "9.0", "6.0", "6.0"]),
])
def test_python_without_assertions_has_none_in_the_derivative(flags, expected, tmp_path):
    """With what either of them has left on disk for the other."""
    (tmp_path / "program.py").write_text(textwrap.dedent(OPTIMIZED))
    environment = {**os.environ, "S2S_CACHE": "1", "S2S_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    for given in ((), ("-O",), flags):
        command = [sys.executable, *given, "program.py"]
        found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.split() == expected
