"""Calls that compiled code fails in: recorded where the primal does not fail, else the program's own exception."""

import functools
import time
import traceback
import warnings

import numpy as np
import pytest

import s2s
from s2s import derivatives, pipeline
from s2s.codegen.link import link
from s2s.core.record import replace
from s2s.core.values import ListOf
from s2s.dispatch import failures
from s2s.errors import error
from s2s.validation import validate
from s2s.versions.request import Compiled

X = np.array([0.3, 0.7, 1.2])
M = np.array([[2.0, 0.5, 0.1], [0.3, 1.5, 0.2], [0.1, 0.4, 1.0]])
SEEN: list[str] = []


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.delenv("S2S_RECORDED")
    SEEN.clear()


def a_product():
    """A function that has no version yet."""
    def product(x):
        return np.sum((M @ np.sin(x) * x[0]) ** 2)

    return product


def difference(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2.0 * h) for e in np.eye(x.size)])


def spoil(derivative, line):
    """Put a line into the one version that a derivative has, as its first."""
    dispatcher = derivative.dispatcher
    (version,) = dispatcher.versions
    lines = version.compiled.text.splitlines(True)
    place = next(k for k, text in enumerate(lines) if f"def {version.compiled.entry}(" in text) + 1
    text = "".join([*lines[:place], f"    {line}\n", *lines[place:]])
    version.compiled = replace(version.compiled, text=text)
    version.raw = version.run = version.call = link(version.compiled, dispatcher.target.function)
    dispatcher._tested.clear()
    dispatcher._install(dispatcher.finished(version), (X,))


@pytest.mark.parametrize("transform", [s2s.grad, s2s.jacrev, s2s.jacfwd])
@pytest.mark.parametrize("line", ["()[0]", "None.shape", "missing", "np.reshape(x, 2)", "1 / 0"])
def test_a_failure_of_compiled_code_is_answered_by_a_recording(transform, line):
    product = a_product()
    gradient = transform(product)
    gradient(X)
    spoil(gradient, line)
    with pytest.warns(s2s.RecordedWarning, match="as compiled code fails: "):
        np.testing.assert_allclose(gradient(X), difference(product, X), rtol=1e-7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(gradient(2.0 * X), difference(product, 2.0 * X), rtol=1e-6)
    assert "as compiled code fails" in gradient.source


def test_second_derivatives_and_tangents():
    product = a_product()
    of_gradient = s2s.jacfwd(s2s.grad(product))
    hessian = np.stack([difference(lambda x, i=i: s2s.grad(product)(x)[i], X) for i in range(3)])
    np.testing.assert_allclose(of_gradient(X), hessian, rtol=1e-6)
    spoil(of_gradient, "()[0]")
    with pytest.warns(s2s.RecordedWarning):
        np.testing.assert_allclose(of_gradient(X), hessian, rtol=1e-6)

    own = a_product()
    s2s.jvp(own, (X,), (X,))
    spoil(derivatives.derivative("jvp", own, (0,), False, "zeros", 1, ""), "()[0]")
    with pytest.warns(s2s.RecordedWarning):
        value, dot = s2s.jvp(own, (X,), (M[0],))
    np.testing.assert_allclose([value, dot], [own(X), difference(own, X) @ M[0]], rtol=1e-7)


def test_a_recording_that_is_refused_says_so_and_leaves_the_version():
    changing = s2s.grad(drawn)
    changing(X)
    spoil(changing, "if x[0] < 0.0: ()[0]")
    with pytest.raises(s2s.errors.NoDerivativeError, match="another result") as caught:
        changing(-X)
    assert isinstance(caught.value.__cause__, IndexError)
    assert traceback.extract_tb(caught.value.__cause__.__traceback__)[-1].line == "if x[0] < 0.0: ()[0]"
    np.testing.assert_allclose(changing(X), np.cos(X))


def drawn(x):
    return np.sum(np.sin(x)) + time.perf_counter()


def raised_in_primal(x):
    SEEN.append("run")
    return x[5]


def singular(x):
    SEEN.append("run")
    return np.sum(np.linalg.solve(np.zeros((3, 3)), x))


def by_hand(x):
    SEEN.append("run")
    if x[0] > 0.0:
        raise ValueError("mine")
    return x[0]


def in_a_helper(x):
    SEEN.append("run")
    return np.sum(x) * helped(x.shape)


def helped(shape):
    return {}[shape]


@pytest.mark.parametrize(
    "f, kind, said", [
        (raised_in_primal, IndexError, "index 5"), (singular, np.linalg.LinAlgError, "Singular"),
        (by_hand, ValueError, "mine"), (in_a_helper, KeyError, "3"),
    ], ids=["index", "singular", "raise", "helper"],
)
def test_what_the_primal_raises_comes_out_and_is_seen_once(f, kind, said, capsys):
    for transform in (s2s.grad, s2s.jacfwd, s2s.value_and_grad):
        SEEN.clear()
        with pytest.raises(kind, match=said) as caught:
            transform(f)(X)
        assert SEEN == ["run"] and caught.value.__cause__ is None
        assert caught.traceback[-1].frame.f_globals.get("__name__") != "s2s.dispatch.failures"


def test_an_exception_of_another_kind_is_the_one_of_the_primal():
    gradient = s2s.grad(only_positive)
    gradient(X)
    spoil(gradient, "if x[0] < 0.0: ()[0]")
    with pytest.raises(ValueError, match="below zero"):
        gradient(-X)


def only_positive(x):
    if x[0] < 0.0:
        raise ValueError("below zero")
    return np.sum(x**2)


def test_where_no_call_is_recorded_the_failure_is_a_refusal(monkeypatch):
    gradient = s2s.grad(a_product())
    gradient(X)
    spoil(gradient, "()[0]")
    monkeypatch.setenv("S2S_RECORDED", "0")
    with pytest.raises(s2s.errors.NoDerivativeError, match="no case for these arguments: IndexError") as caught:
        gradient(X)
    assert isinstance(caught.value.__cause__, IndexError)
    assert caught.value.diagnostic.code == "S2S212"


@pytest.mark.parametrize("problem, is_checked", [
    (KeyError("y"), True), (error("S2S901", problem="no such node"), True), (error("S2S101", construct="this"), False),
])
def test_where_the_compiler_fails_by_mistake_its_stages_are_checked(monkeypatch, problem, is_checked):
    """Under `S2S_VALIDATE`; what the compiler refuses is no mistake."""
    def refuse(*_):
        raise problem

    checked = []
    monkeypatch.setenv("S2S_VALIDATE", "1")
    monkeypatch.setenv("S2S_RECORDED", "0")
    monkeypatch.setattr(pipeline, "compile", refuse)
    monkeypatch.setattr(validate, "check", checked.append)
    with pytest.raises(s2s.errors.DifferentiationError) as info:
        s2s.grad(a_product())(X)
    assert problem in (info.value, info.value.__cause__)
    assert len(checked) == is_checked


@pytest.mark.parametrize("problem", [KeyError("y"), error("S2S101", construct="this")])
@pytest.mark.parametrize("is_validated", [False, True])
def test_lists_are_taken_as_they_are_where_the_compiler_fails_for_any_length(monkeypatch, problem, is_validated):
    """But a mistake of the compiler is told where one is looked for."""
    compile_, tried = pipeline.compile, []

    def compiled(function, arguments, *rest):
        if any(isinstance(aval, ListOf) for aval in arguments.values()):
            tried.append(arguments)
            raise problem
        return compile_(function, arguments, *rest)

    def squares(x):
        total = 0.0
        for item in x:
            total = total + item * item
        return total

    monkeypatch.setenv("S2S_VALIDATE", str(int(is_validated)))
    monkeypatch.setenv("S2S_RECORDED", "0")
    monkeypatch.setattr(pipeline, "compile", compiled)
    monkeypatch.setattr(validate, "check", lambda _: None)
    gradient, longer = s2s.grad(squares), np.arange(1.0, 8.0).tolist()
    assert gradient([1.0, 2.5, 3.0, 0.5, 2.0]) == [2.0, 5.0, 6.0, 1.0, 4.0]
    if is_validated and isinstance(problem, KeyError):
        with pytest.raises(s2s.errors.InternalError):
            gradient(longer)
    else:
        assert gradient(longer) == [2.0 * item for item in longer]
    assert len(tried) == 1


CALLS = """
def entry(k):
    if k == "inner":
        raise ValueError(inner("index"))
    return inner(k)


def inner(k):
    if k == "raise":
        raise ValueError
    assert k != "assert"
    if k == "index":
        return [][0]
    return call()
"""


def called(kind):
    """Make a function in generated code of another file, which raises."""
    scope = {"kind": kind}
    exec(compile("def call():\n    raise kind", "<s2s call>", "exec"), scope)
    return scope["call"]


class OwnError(ValueError):
    """An exception of the program."""


@pytest.mark.parametrize("case, call, is_suspect", [
    ("raise", None, False), ("assert", None, False), ("index", None, True), ("inner", None, True),
    ("of the program", lambda: helped(()), False), ("of NumPy", functools.partial(np.reshape, X, 2), True),
    *(("call", called(kind), True) for kind in (TypeError, ZeroDivisionError, NameError, np.linalg.LinAlgError)),
    *(("call", called(kind), False) for kind in (OSError, RuntimeError, OwnError, FloatingPointError)),
])
def test_an_exception_is_a_suspect_where_no_line_or_function_of_the_program_raises_it(case, call, is_suspect):
    scope = {"call": call}
    exec(compile(CALLS, "made.py", "exec"), scope)
    with pytest.raises(Exception) as caught:  # noqa: PT011
        scope["entry"](case)
    compiled, code = Compiled(CALLS, "entry", {}, {}), scope["entry"].__code__
    assert failures._is_suspect(caught.value, compiled, code) == is_suspect
    assert not failures._is_suspect(type(caught.value)(), compiled, code)
