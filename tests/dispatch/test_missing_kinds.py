"""Functions that are compiled though kinds of their values are missing, and compiled anew once a run has shown them."""

import io
import logging
import warnings
import weakref

import numpy as np
import pytest

import s2s
from s2s.dispatch import lookup, observing
from tests.dispatch.test_observing import Registry, central

X = np.array([0.4, 1.3])


@pytest.fixture(autouse=True)
def default(monkeypatch):
    """Each test as the first that calls its functions: what was observed is known by their code."""
    monkeypatch.delenv("S2S_RECORDED")
    monkeypatch.setattr(observing, "_noted", weakref.WeakKeyDictionary())
    monkeypatch.setattr(lookup, "_shared", weakref.WeakKeyDictionary())


@pytest.fixture
def runs(monkeypatch):
    """How often functions were observed."""
    found, observe = [], observing.imported("s2s.recorded.observing:observe_call")

    def counted(*args):
        found.append(args)
        return observe(*args)

    monkeypatch.setattr("s2s.recorded.observing.observe_call", counted)
    return found


def spring(registry):
    """A function of which one value is of unknown kind, on which all others depend."""

    def f(x):
        k = registry.k
        a = np.sin(x[0] * k) * x[1]
        b = np.cos(x[1] * k) * x[0]
        return np.sum(a * b + a / (2.0 + b) + k * a)

    return f


def derivatives(f):
    """The gradient in each mode, each from versions of its own."""
    gradient, forward = s2s.grad(f), s2s.jacfwd(f)
    return lambda x: (gradient(x), s2s.vjp(f, x)[1](1.0)[0], forward(x))


def check(f, found, x=X):
    for gradient in found:
        np.testing.assert_allclose(gradient, central(f, x), rtol=1e-6, atol=1e-8)


def test_what_is_known_after_a_run_is_compiled(runs, monkeypatch):
    f = spring(Registry(k=1.5))
    gradient = s2s.grad(f)
    with monkeypatch.context() as alone:
        alone.setenv("S2S_RECORDED", "0")
        assert s2s.source(f, X).count("rt.unbroadcast(") >= observing.MISSING
    assert not runs
    check(f, [gradient(X), gradient(X), gradient(X)])
    text = s2s.source(f, X)
    assert len(runs) == 1 and "rt.expect_kind(k, float)" in text and "rt.unbroadcast(" not in text


def test_a_long_function_is_not_compiled_once_more(runs, monkeypatch):
    monkeypatch.setattr("s2s.pipeline.LONG", 5)
    f = spring(Registry(k=1.5))
    check(f, derivatives(f)(X))
    assert not runs


def test_a_check_stands_once():
    f = spring(Registry(k=1.5))
    gradient = s2s.grad(f)
    check(f, [gradient(X), gradient(X)])
    assert s2s.source(f, X).count("rt.expect_kind(") == 1


@pytest.mark.parametrize("kinds", [
    [1.5, np.array([1.0, 2.0]), 2, np.float64(0.7), np.ones((2, 1)), 1.5],
    [np.array([0.5]), 1.5, np.array([1.0, 2.0]), np.float64(3.0)],
])
def test_other_kinds_get_the_version_that_fits_all(kinds):
    registry = Registry(k=None)
    f = spring(registry)
    of = derivatives(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.RecordedWarning)
        for turn in range(4):
            for k in kinds:
                registry.entries["k"] = k
                check(f, of(X + 0.1 * turn), X + 0.1 * turn)


def test_versions_that_miss_go_once_nothing_more_is_observed(runs):
    registry = Registry(k=1.5)
    f = spring(registry)
    gradient = s2s.grad(f)
    kinds = 1.5, np.array([1.0, 2.0]), np.ones((2, 1)), np.ones((1, 1, 2)), np.array(2.0)
    for turn in range(12):
        registry.entries["k"] = kinds[turn % 5]
        check(f, [gradient(X), gradient(X)])
    assert len(runs) == observing.MOST
    assert "rt.expect" not in s2s.source(f, X)


def test_a_side_that_gives_nothing_is_left_out():
    def share(x, cr):
        if cr < 1.0:
            return np.exp(-x) * cr
        elif cr == 1.0:
            return x / (1.0 + x)

    def f(x):
        part = share(x[0], x[1])
        return part * x[0] + part * part * x[1] + x[0] / (1.0 + part) + np.sin(part) * np.cos(part * x[1])

    gradient = s2s.grad(f)
    x = np.array([1.3, 0.4])
    for at in (x, x, 0.5 * x, x):
        check(f, [gradient(at)], at)
    assert "rt.unbroadcast(" not in s2s.source(f, x)
    one = np.array([0.5, 1.0])
    np.testing.assert_allclose(gradient(one)[0], central(lambda x: f(np.append(x, 1.0)), one[:1])[0], rtol=1e-6)
    with pytest.raises(TypeError):
        gradient(np.array([0.5, 2.0]))
    check(f, [gradient(x)], x)


EFFECTS = {
    "appends": lambda log, text: log["list"].append(text),
    "stores": lambda log, text: log.update(last=text),
    "prints": lambda log, text: print(text),
    "writes to a file": lambda log, text: log["file"].write(text),
    "logs": lambda log, text: LOGGER.warning(text),
}
LOGGER = logging.getLogger(__name__)


@pytest.mark.parametrize("act", EFFECTS.values(), ids=EFFECTS)
@pytest.mark.parametrize("is_first", [True, False])
def test_what_the_function_does_outside_it_does_once_a_call(act, is_first, capsys, caplog):
    log, registry = {"list": [], "file": io.StringIO()}, Registry(k=1.5)
    inner, texts = spring(registry), iter(range(100))

    def f(x):
        if is_first:
            act(log, f"<{next(texts)}>")
        y = inner(x)
        if not is_first:
            act(log, f"<{next(texts)}>")
        return y

    gradient = s2s.grad(f)
    for k in (1.5, 1.5, 2.5, 3, 2.5):
        registry.entries["k"] = k
        np.testing.assert_allclose(gradient(X), central(inner, X), rtol=1e-6)
    assert next(texts) == 5
    done = "".join(log["list"]) + log["file"].getvalue() + log.get("last", "") + capsys.readouterr().out
    assert (done + "".join(caplog.messages)).count("<") == (1 if "last" in log else 5)


def test_second_derivatives():
    registry = Registry(k=1.5)
    f = spring(registry)
    hessian = s2s.hessian(f)
    for k in (1.5, 1.5, 1.5, np.array([1.0, 2.0]), 1.5):
        registry.entries["k"] = k
        np.testing.assert_allclose(hessian(X), central(s2s.grad(f), X), rtol=1e-5, atol=1e-7)


def test_nothing_is_observed_where_no_recordings_are_wanted(runs, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    f = spring(Registry(k=1.5))
    gradient = s2s.grad(f)
    check(f, [gradient(X), gradient(X), gradient(X)])
    assert not runs


def test_a_tuple_of_a_list_of_like_items_keeps_one_list_of_cotangents():
    def f(x):
        total = 0.0
        for i in range(2):
            squares = tuple(v**2 for v in x * (1.0 + i))
            both = tuple(x) + squares
            total = total + squares[1] * both[0]
        return total

    check(f, derivatives(f)(X))
