"""Code of another package: paths that cannot be followed, questions that are asked when the program runs."""

import importlib
import sys

import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError

LIBRARY = '''
import functools
import numpy as np


def _each(x):
    async def never():  # what s2s does not read
        pass

    yield x


def is_large(x):
    for v in _each(x):
        return bool(np.sum(v) > 100.0)


def changes(x):
    for v in _each(x):
        v[0] = 5.0
        return True


def fills(kept, x):
    for v in _each(x):
        kept.append(v)
        return True


def total(x):
    for v in _each(x):
        return np.sum(v)


def asks(question, x):
    if question(x):
        return next(iter(_each(x)))
    return np.sum(x**2)


def asks_and_fills(x):
    kept = []
    if fills(kept, x):
        return np.sum(x)
    return np.sum(x**2)


def swallows(x):
    try:
        if x[0] > 0.0:
            for v in _each(x):
                return np.sum(v)
    except Exception:
        pass
    return np.sum(x**2)


@functools.lru_cache
def kind_of(cls, name):
    try:
        return issubclass(cls, getattr(np, name))
    except AttributeError:
        return False


MODE = {"scale": 2.0}


@functools.lru_cache
def scale():
    return "double" if MODE["scale"] == 2.0 else "single"


def checked(x):
    if not kind_of(type(x), "ndarray") or kind_of(type(x), "no such class"):
        raise TypeError("not an array")
    return np.sum(x**2) * (2.0 if scale() == "double" else 1.0)
'''

X = np.array([1.0, 2.0, 3.0])


@pytest.fixture
def library(tmp_path, monkeypatch):
    (tmp_path / "s2s_test_library.py").write_text(LIBRARY, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("s2s_test_library")
    sys.modules.pop("s2s_test_library", None)


def test_a_question_is_asked_and_a_path_refused_when_it_is_taken(library):
    def f(x):
        return library.asks(library.is_large, x)

    gradient = s2s.grad(f)
    assert np.array_equal(gradient(X), 2.0 * X)
    assert "if rt.look(" in gradient.source and "rt.path_error(" in gradient.source
    with pytest.raises(UnsupportedSyntaxError, match=r"\[S2S141\]"):
        gradient(100.0 * X)


def test_a_question_that_changes_its_array_is_not_answered(library):
    x = X.copy()
    with pytest.raises(ValueError, match="read-only"):
        s2s.grad(lambda x: library.asks(library.changes, x * 1.0))(x)
    assert x.flags.writeable and np.array_equal(x, X)


def test_a_question_that_fills_a_list_is_not_answered(library):
    with pytest.raises(UnsupportedSyntaxError, match="changes its arguments"):
        s2s.grad(lambda x: library.asks_and_fills(x))(X)


def test_an_answer_that_could_carry_a_derivative_is_refused(library):
    with pytest.raises(UnsupportedSyntaxError, match="gives a float64"):
        s2s.grad(lambda x: library.asks(library.total, x))(X)


def test_no_handler_sees_a_refusal(library):
    with pytest.raises(UnsupportedSyntaxError, match=r"\[S2S102\]"):
        s2s.grad(lambda x: library.swallows(x))(X)


def test_cached_functions_are_followed_by_their_source_or_asked_when_the_program_runs(library):
    gradient = s2s.grad(lambda x: library.checked(x))
    assert np.array_equal(gradient(X), 4.0 * X)
    assert "kind_of" not in gradient.source and "s2s_test_library.scale()" in gradient.source
    library.MODE["scale"] = 1.0
    library.scale.cache_clear()
    assert np.array_equal(gradient(X), 2.0 * X)
