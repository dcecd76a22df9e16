"""What is logged of the rungs that are tried for a derivative, and the version that is shown of one."""

import logging
import re

import numpy as np
import pytest

import s2s
from tests.dispatch.test_observing import Registry

X = np.array([0.4, 1.3])


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")


def observed(registry):
    def f(x):
        return np.sum(registry.xp.linalg.eigh(np.outer(x, x)).eigenvalues) * registry.by

    return f


def rungs(caplog, name):
    """What is logged of the rungs of a derivative, without the times."""
    said = (record.getMessage() for record in caplog.records)
    return [re.sub(r"[\d.]+ s\b", "T", one).removeprefix(f"{name}: ") for one in said if one.startswith(f"{name}: ")]


def test_each_rung_is_logged_with_its_reason(caplog):
    caplog.set_level(logging.DEBUG, logger="s2s.compile")
    registry = Registry(xp=np, by=3.0)

    def f(x):
        return np.sum(registry.xp.linalg.eigh(np.outer(x, x)).eigenvalues) * registry.by

    line, gradient, decorated = f.__code__.co_firstlineno + 1, s2s.grad(f), s2s.differentiable(f)
    np.testing.assert_allclose(gradient(X), 6.0 * X)
    s2s.vjp(decorated, X)
    np.testing.assert_allclose(s2s.grad(decorated)(X), 6.0 * X)
    for text in (gradient.source, decorated.adjoint_source):  # they are those of the version that runs
        assert "rt.expect(" in text and "derivative_of_call" not in text
    reason = "the attribute `eigenvalues` of an object of unknown class carries a derivative"
    reason += f" [S2S208] (test_rungs.py:{line})"
    assert rungs(caplog, "f_grad") == [f"static: refused after T: {reason}", "observed: compiled in T"]


def test_what_compiles_at_once_has_the_line_of_the_compiler_alone(caplog):
    caplog.set_level(logging.DEBUG, logger="s2s.compile")

    def f(x):
        return np.sum(np.sin(x))

    gradient = s2s.grad(f)
    gradient(X)
    assert rungs(caplog, "f_grad") == [] and sum("grad of f " in one.getMessage() for one in caplog.records) == 1
    (rung,) = gradient.dispatcher.last.rungs
    assert (rung.name, rung.refusal) == ("static", "") and rung.seconds > 0.0


def test_a_version_that_is_recorded_after_all_says_what_it_was():
    registry = Registry(xp=np, by=3.0)
    gradient = s2s.grad(observed(registry))
    gradient(X)
    dispatcher = gradient.dispatcher
    version = dispatcher.last
    version.record(dispatcher.target.function, version.request, ValueError("of a rule"), is_told=False)
    assert [(rung.name, rung.refusal) for rung in version.rungs][-1] == ("observed", "of a rule")


@pytest.mark.parametrize("shown", [
    lambda f: (f.adjoint_source, s2s.grad(f).source), lambda f: (s2s.source(f, X, mode="grad"),),
], ids=["of_the_function", "of_a_call"])
def test_the_version_that_runs_is_shown(shown):
    f = s2s.differentiable(observed(Registry(xp=np, by=3.0)))
    np.testing.assert_allclose(s2s.grad(f)(X), 6.0 * X)
    for text in shown(f):
        assert "rt.expect(" in text and "derivative_of_call" not in text
