"""Calls of functions known at run time only that keep what they are given, where their caller reads it again."""

import warnings

import numpy as np
import pytest

import s2s

X = np.array([0.4, 1.3])
ASK = {}
BY_KEY, HISTORY, BUFFER, LAST = {}, [], np.zeros(2), None


class Keeper:
    x = None


KEEPER = Keeper()


def by_item(x):
    BY_KEY["x"] = x
    return 1.0


def by_method(x):
    HISTORY.append(x)
    return 1.0


def by_global(x):
    global LAST
    LAST = x
    return 1.0


def by_class(x):
    Keeper.x = x
    return 1.0


def by_attribute(x):
    KEEPER.x = x
    return 1.0


def by_function(x):
    by_item.x = x
    return 1.0


def by_array(x):
    BUFFER[:] = x
    return 1.0


def made():
    kept = None

    def by_cell(x):
        nonlocal kept
        kept = x
        return 1.0

    return by_cell, lambda: kept


BY_CELL, READ_CELL = made()


@pytest.mark.parametrize("mode", ["0", "1"])
@pytest.mark.parametrize("keep, read", [
    (by_item, lambda: BY_KEY["x"]), (by_method, lambda: HISTORY[-1]), (by_global, lambda: LAST),
    (by_class, lambda: Keeper.x), (by_attribute, lambda: KEEPER.x), (by_function, lambda: by_item.x),
    (by_array, lambda: BUFFER), (BY_CELL, READ_CELL),
])  # fmt: skip
def test_what_is_kept_carries_its_derivative_or_is_refused(keep, read, mode, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", mode)
    monkeypatch.setitem(ASK, "keep", keep)

    def f(x):
        ASK["keep"](x)
        return np.sum(read() * x)

    def gradients():
        return s2s.grad(f)(X), s2s.jvp(f, (X,), (np.ones(2),))[1]

    f(X)  # what is kept is there, and holds equal numbers
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.RecordedWarning)
        try:
            gradient, tangent = gradients()
        except s2s.errors.DifferentiationError:
            assert mode == "0"
            return
    np.testing.assert_allclose(gradient, 2.0 * X)
    np.testing.assert_allclose(tangent, 2.0 * np.sum(X))
