"""``total += v`` where ``total`` begins as a number: a new array each time, unless something else may see it change."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

X = np.array([[1.0, 2.0], [-1.0, -0.5], [0.3, 0.7], [0.8, -0.4]])


def conditional(x):
    s = 0
    for row in x:
        if np.sum(row) > 0:
            s += row
    return np.sum(s * s)


def both(x):
    s = 0
    t = 0
    for row in x:
        if row[0] > 0:
            s += row
        else:
            t += row * 2.0
    return np.sum(s * s * 1.5) + np.sum(t * s)


def nested(x):
    s = 0
    for row in x:
        for k in range(2):
            if row[k] > 0:
                s += row * (k + 1)
        if row[0] < 0:
            s -= row
    return np.sum(s * s)


def scaled(x):
    s = 1
    for row in x:
        if row[0] > 0:
            s *= row
    return np.sum(s * s)


def with_break(x):
    s = 0
    for row in x:
        if row[0] > 0:
            s += row
            if np.sum(s) > 2.0:
                break
    return np.sum(s * s * s)


def with_while(x):
    s = 0
    i = 0
    while i < len(x):
        if x[i][0] > 0:
            s += x[i]
        i += 1
        if i > 2:
            continue
        s += x[0]
    return np.sum(s * s * s)


def alias_kept(x):
    s = 0
    best = 0
    for row in x:
        if row[0] > 0.5:
            best = s
        s += row
    return np.sum(s * best)


def alias_in_list(x):
    s = 0
    kept = []
    for row in x:
        if row[0] > 0:
            s += row
        kept.append(s)
    total = 0.0
    for k in kept:
        total = total + np.sum(k * k)
    return total


def alias_before(x):
    s = 0
    first = 0
    for i, row in enumerate(x):
        if row[0] > -5:
            s += row
        if i == 0:
            first = s
    return np.sum(first * s)


def old_read_after(x):
    s = 0
    out = 0.0
    for row in x:
        old = s
        if row[0] > 0:
            s += row
        out = out + np.sum(old * row)
    return out


def argument_first(x):
    s = 0
    for i, row in enumerate(x):
        if i == 0:
            s = row
        elif row[0] > 0:
            s += row
    return np.sum(s * s) + np.sum(x * x)


def nested_alias(x):
    s = 0
    last = 0
    for row in x:
        for k in range(2):
            if row[k] > 0:
                s += row * (k + 1)
        if row[0] < 0:
            last = s
    return np.sum(s * s) + np.sum(last * row)


def two_names(x):
    s = 0
    t = 0
    for row in x:
        if row[0] > 0:
            s += row
        t = s
        if row[1] > 0:
            t += row
    return np.sum(s * t)


def check(program):
    expected = differences(program, X)
    np.testing.assert_allclose(s2s.grad(program)(X.copy()), expected, rtol=1e-6, atol=1e-8)
    moved = s2s.jvp(program, (X.copy(),), (np.cos(X),))[1]
    np.testing.assert_allclose(moved, np.sum(expected * np.cos(X)), rtol=1e-6)


@pytest.mark.parametrize("program", [
    conditional, both, nested, scaled, with_break, with_while,
], ids=lambda f: f.__name__)
def test_an_accumulator_that_nothing_else_sees(program):
    check(program)


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("program", [
    alias_kept, alias_in_list, alias_before, old_read_after, argument_first, nested_alias, two_names,
], ids=lambda f: f.__name__)
def test_an_accumulator_that_another_name_sees(program, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    check(program)
