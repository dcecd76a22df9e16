"""Tangents of variables that some path leaves without a value: where paths join, no zero is made by reading them."""

import numpy as np
import pytest

import s2s

X = np.array([0.3, 0.5, -0.2])
V = np.array([1.0, 2.0, -1.0])


def branches(x, n):
    if n > 0:
        t = np.ones(3)
    if n % 2:
        t = x * 2
    s = 0.0
    if n > 0 or n % 2:
        s = np.sum(t * x)
    return s + x[0]


def stored_into(x, n):
    if n > 0:
        t = np.ones(3)
        t[1] = x[0]
    if n % 2:
        t = x * 2
        t[0] += x[1]
    if n > 1:
        t[2] = x[2] ** 2
    s = 0.0
    if n > 0 or n % 2:
        s = np.sum(t * x)
    return s + x[0]


def assigned_by_a_loop(x, n):
    for _i in range(n):
        t = np.arange(3.0)
    if n % 2:
        t = x * 2
    s = 0.0
    if n:
        s = np.sum(t * x)
    return s + x[0]


def carried_by_a_loop(x, n):
    if n > 0:
        t = np.ones(3)
    s = 0.0
    for i in range(n + 1):
        if i > 0:
            s = s + np.sum(t * x)
        t = x * i if i % 2 else np.ones(3)
    return s + x[0]


def left_by_a_while(x, n):
    i = 0
    while i < n:
        i += 1
        if i == 2:
            continue
        t = np.full(3, 1.0 * i)
        if i > 2:
            break
    else:
        t = x * 3
    if n == 5:
        t = t * x
    return np.sum(t * x)


def interrupted(x, n):
    try:
        t = np.ones(3)[n : n + 2] / [1, 2][n]
    except IndexError:
        pass
    if n % 2:
        t = x * 2
    s = 0.0
    if n < 2:
        s = np.sum(t**2)
    return s + x[0]


def returned_from_finally(x, n):
    try:
        t = x[n % 2]
        if n % 3:
            pass
    finally:
        if n > 0:
            return x[-1] + t * t  # noqa: B012
    return t


def in_a_list(x, n):
    if n > 0:
        t = [1.0, np.ones(3)]
    if n % 2:
        t = [2.0, x * 2]
    s = 0.0
    if n > 0 or n % 2:
        s = np.sum(t[1] * x) * t[0]
    return s + x[0]


def in_a_dict(x, n):
    for k in range(n):
        if k == 1:
            t = {"a": np.ones(3), "b": 2.0}
        if k == 2:
            t = {"a": x * 2, "b": x[0]}
    s = x[1]
    if n > 1:
        s = s + np.sum(t["a"] * x) * t["b"]
    return s


def captured(x, n):
    def inner():
        return t * x

    if n > 0:
        t = np.ones(3)
    if n > 1:
        t = x
    return np.sum(inner()) if n else x[0]


PROGRAMS = [
    branches, stored_into, assigned_by_a_loop, carried_by_a_loop, left_by_a_while, interrupted, returned_from_finally,
    in_a_list, in_a_dict, captured,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_what_a_path_leaves_without_a_value_is_not_read(program, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    for n in range(5):
        step = 1e-6
        rows = np.eye(3)
        want = np.array([(program(X + step * e, n) - program(X - step * e, n)) / (2 * step) for e in rows])
        assert np.allclose(s2s.jvp(program, (X, n), (V, None))[1], want @ V, rtol=1e-7, atol=1e-8)
        assert np.allclose(s2s.jacfwd(program)(X, n), want, rtol=1e-7, atol=1e-8)
        assert np.allclose(s2s.grad(program)(X, n), want, rtol=1e-7, atol=1e-8)


def test_the_error_of_the_program_is_raised():
    def program(x, n):
        if n > 0:
            t = np.ones(3)
        if n % 2:
            t = x * 2
        return np.sum(t * x)

    for derivative in (lambda: s2s.jvp(program, (X, 0), (V, None)), lambda: s2s.jacfwd(program)(X, 0)):
        with pytest.raises(UnboundLocalError, match="'t'"):
            derivative()
