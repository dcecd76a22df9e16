"""Derivatives that a recorded function asks for, by each of the public functions."""

import linecache

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import s2s

X = np.array([0.43, 1.19, 0.87])


def doubled(x):
    return eval("x * 2.0")


def along(x):
    out, out_dot = s2s.jvp(lambda v: np.sin(v) * x, (doubled(x),), (x,))
    return np.sum(out * out_dot)


def pulled(x):
    out, pullback = s2s.vjp(lambda v: np.sin(v) * x, doubled(x))
    return np.sum(out * pullback(x)[0])


def curved(x):
    return np.sum(s2s.hvp(lambda v: np.sum(np.sin(v) * x), (doubled(x),), (x,)) ** 2)


def curved_back(x):
    return np.sum(s2s.vhp(lambda v: np.sum(np.sin(v) * x), (doubled(x),), (x,)) ** 2)


def linear(x):
    out, model = s2s.linearize(lambda v: np.sin(v) * x, doubled(x))
    return np.sum(model(x) * out)


def of_records(x):
    table = np.zeros(3, dtype=[("p", float), ("q", float)])
    table["p"] = x
    table["q"] = x**2
    return np.sum(table["p"] * table["q"])


def along_records(x):
    out, out_dot = s2s.jvp(of_records, (x,), (x * x,))
    return out * out_dot


def pulled_by_an_array(x):
    total, pullback = s2s.vjp(np.sum, doubled(x))
    return np.sum(pullback(np.asarray(total))[0] * x)


def named_arguments(x):
    return np.sum(doubled(x) * np.array(object=x) ** 2) * np.sum(a=x)


def jacobians(x):
    return np.sum(s2s.jacfwd(lambda v: np.sin(v) * x)(doubled(x)) * s2s.jacrev(lambda v: v**2 * x)(x))


@pytest.mark.slow
@pytest.mark.grid(0.3)
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize(
    "f",
    [
        along, pulled, curved, curved_back, linear, along_records, pulled_by_an_array, named_arguments,
        jacobians,
    ],
    ids=lambda f: f.__name__,
)
def test_nested(f, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    h = 1e-5
    slope = [(f(X + step) - f(X - step)) / (2.0 * h) for step in h * np.eye(3)]
    gradient = s2s.grad(f)
    np.testing.assert_allclose(gradient(X), slope, rtol=1e-7)
    np.testing.assert_allclose(s2s.jvp(f, (X,), (np.ones(3),))[1], np.sum(slope), rtol=1e-7)
    bend = [(gradient(X + step) - gradient(X - step)) / (2.0 * h) for step in h * np.eye(3)]
    np.testing.assert_allclose(s2s.jacfwd(gradient)(X), bend, rtol=1e-6, atol=1e-7)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_one_after_the_other(monkeypatch):
    """The operations of a recording are functions of one text: none is taken for that of the function before."""
    for f in (pulled, pulled_by_an_array, along, linear, pulled):
        test_nested(f, monkeypatch)


def test_functions_of_one_text_have_their_own_variables(monkeypatch):
    text = "def made(x):\n    return fn(x) * x\n"
    monkeypatch.setitem(linecache.cache, "<made>", (len(text), None, text.splitlines(True), "<made>"))
    code = compile(text, "<made>", "exec")
    slopes = {np.sin: np.cos, np.exp: np.exp, np.tanh: lambda x: 1.0 - np.tanh(x) ** 2}
    scopes = [{"fn": fn, "__name__": "s2s.recorded.steps"} for fn in slopes]
    for scope in scopes:
        exec(code, scope)
    for fn, made in ((scope["fn"], scope["made"]) for scope in scopes):
        for found in (s2s.vjp(made, X)[1](np.ones(3))[0], s2s.jvp(made, (X,), (np.ones(3),))[1]):
            np.testing.assert_allclose(found, slopes[fn](X) * X + fn(X), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_a_version_that_refuses_when_it_runs_is_recorded_within_a_recording(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")

    def along_a_sparse_matrix(x):
        return s2s.jvp(lambda v: (csr_matrix(np.outer(v, v)) @ v).sum(), (x,), (x * x,))[1]

    # of (v @ v) * sum(v), along x * x: 2 sum(x**3) sum(x) + sum(x**2) ** 2
    total, squares, cubes = np.sum(X), np.sum(X**2), np.sum(X**3)
    slope = 6.0 * X**2 * total + 2.0 * cubes + 4.0 * squares * X
    np.testing.assert_allclose(s2s.grad(along_a_sparse_matrix)(X), slope, rtol=1e-7)


def of_an_array_of_objects(x):
    a = np.array([x[0], x[1] * x[0], 2.0], dtype=object)
    return np.sum(a.astype(float) ** 3)


def of_a_copy_as_objects(x):
    a = x.astype(object)
    return np.sum((a * a).astype(float) ** 3)


@pytest.mark.parametrize(
    ("f", "expected"), [(of_an_array_of_objects, [54.0, 36.0]), (of_a_copy_as_objects, [30.0, 0.0])])
def test_a_method_that_would_be_its_own_derivative_is_refused(f, expected, monkeypatch):
    """The cotangents of ``astype`` of objects are those of the same call, without end: compiled code refuses it, by a
    refusal and not by a RecursionError, and then the call is recorded."""
    def slope(x):
        return s2s.grad(f)(x)[0]

    point = np.array([1.0, 2.0])
    monkeypatch.setenv("S2S_RECORDED", "0")
    with pytest.raises(s2s.errors.NoDerivativeError, match="differentiated more often"):
        s2s.grad(slope)(point)
    monkeypatch.setenv("S2S_RECORDED", "1")
    np.testing.assert_allclose(s2s.grad(slope)(point), expected)
