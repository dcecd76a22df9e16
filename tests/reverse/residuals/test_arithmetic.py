"""Arithmetic on arrays that the reverse sweep recomputes from what is kept. Gradients against central differences on
both backends; what is kept by the generated source.
"""

import re

import numpy as np
import pytest

import s2s
from s2s.core import ir
from s2s.reverse.residuals.arithmetic import put_before_readers

X = np.array([0.35, 0.7, 1.1, 0.5, 0.8])


def logistic(x, n):
    for _ in range(n):
        x = x + 0.3 * (1.0 - x) * np.tanh(x)
    return np.sum(x * x)


def of_one_array(x, n):
    s = x[0]
    for i in range(n):
        old = np.sin(x * (i + s))
        left, right = old[1:] - old[:-1], old[1:] + old[:-1]
        middle = old[1:-1]
        s = s + 0.1 * np.sum(left**3 * right**2) + np.sum(middle * middle)
    return s


def in_a_branch(x, n):
    s = x[0]
    for i in range(n):
        y = np.cos(x * s)
        if i % 2:
            z = 1.0 - y
            y = z * z * y
        else:
            w = 2.0 * y
            y = w * w
        s = 0.5 * np.tanh(s + 0.1 * np.sum(y * y))
    return s


def of_rows(x, n):
    a = np.outer(x, x)
    s = x[0]
    for i in range(n):
        for j in range(i):
            row = np.sin(a[i] * s)
            far = 1.0 - row
            s = s * 0.5 + far @ (far * row)
    return s


def divided(x, n):
    for _ in range(n):
        e = np.exp(-x)
        gate = 1.0 / (1.0 + e)
        x = x + 0.1 * gate * x
    return np.sum(x)


def of_what_changes(x, n):
    y, s = x.copy(), 0.0
    for _ in range(n):
        far = 1.0 - y
        s = s + np.sum(far * far * y)
        y[1:] *= far[:-1]
        y += 0.1
    return s


def of_carried(x, n):
    a, b = x, np.cos(x)
    for _ in range(n):
        a, b = b * (2.0 - a), a * (2.0 - b)
        a, b = 0.3 * np.tanh(a), 0.5 * b
    return np.sum(a * b)


def of_all_that_changes(x, n):
    """Two differences are kept, or what the first store overwrites: the second one need not be undone then."""
    u = 0.5 * x
    for _ in range(n):
        left, right = u - u[::-1], u + u[::-1]
        u[...] = left * right
        u[0] = 0.5
    return np.sum(u * u)


KEPT = {logistic: 2, of_one_array: 3, in_a_branch: 4, of_rows: 5, divided: 3, of_what_changes: 3, of_carried: 3,
        of_all_that_changes: 1}


@pytest.mark.parametrize("f", KEPT, ids=lambda f: f.__name__)
def test_what_is_kept(f):
    source = s2s.source(f, X, 4)
    assert len(re.findall(r"saved\w*(\.append\(|\[.*\] = )", source)) == KEPT[f]


def test_of_several_differences_the_array_is_kept_that_they_are_made_of():
    source = s2s.source(of_one_array, X, 4)
    assert "saved_old.append(old)" in source and "old[1:] - old[:-1]" in source.split("# reverse sweep")[1]


def test_short_arrays_are_kept():
    def turned(x, n):
        for _ in range(n):
            far = 1.0 - x
            x = np.array([far[0] * x[1], np.sin(x[0]) * far[1]]) + 0.1 * far * far
        return np.sum(x)

    def steps(n, a, b):
        return turned(np.array([a, b]), n)

    assert "far = saved_far.pop()" in s2s.source(steps, 3, 0.3, 0.4, argnums=(1, 2))


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", KEPT, ids=lambda f: f.__name__)
def test_gradients(f):
    for n in (4, 1, 0):
        along = np.cos(np.arange(len(X)))
        expected = np.array([(f(X + e, n) - f(X - e, n)) / 2e-6 for e in 1e-6 * np.eye(len(X))])
        found = s2s.grad(f)(X, n)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(s2s.jacfwd(f)(X, n), found, rtol=1e-12, atol=1e-13)
        second = (s2s.grad(f)(X + 1e-6 * along, n) - s2s.grad(f)(X - 1e-6 * along, n)) / 2e-6
        np.testing.assert_allclose(s2s.hvp(f, (X, n), (along, None)), second, rtol=1e-5, atol=1e-7)
        twice = s2s.grad(lambda x, f=f, n=n: np.sum(s2s.grad(f)(x, n) * along))
        np.testing.assert_allclose(twice(X), second, rtol=1e-5, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("f", [of_one_array, in_a_branch, of_rows, of_what_changes], ids=lambda f: f.__name__)
def test_compiled_code_has_the_same_gradients(f):
    pytest.importorskip("numba")
    compiled = s2s.grad(s2s.differentiable(f, backend="numba"))
    np.testing.assert_allclose(compiled(X, 4), s2s.grad(f)(X, 4), rtol=1e-12)


A, B, C, D, T = map(ir.Var, "abcdt")


def reads(target, *atoms, line=None):
    span = None if line is None else ir.Span("f.py", line, 0, line, 1)
    return ir.Let(target, ir.Call(ir.Const(np.sin), atoms), span)


OF_A, OF_B, OF_C = (reads(ir.Var(f"of_{v}"), v) for v in (A, B, C))
IN_A_BRANCH = ir.If(T, ir.Block((OF_A,), ()), ir.Block((), ()), ())


@pytest.mark.parametrize("before, after", [
    ([reads(A, T), reads(B, T), reads(C, T), OF_C, OF_B, OF_A],
     [reads(C, T), OF_C, reads(B, T), OF_B, reads(A, T), OF_A]),
    ([reads(A, T), reads(B, A), reads(D, T), OF_B, OF_A], [reads(D, T), reads(A, T), reads(B, A), OF_B, OF_A]),
    ([reads(A, T), OF_B, IN_A_BRANCH], [OF_B, reads(A, T), IN_A_BRANCH]),
    ([reads(A, T), OF_B, OF_A, OF_A], [OF_B, reads(A, T), OF_A, OF_A]),
    ([reads(D, T), OF_B, reads(A, D)], [reads(D, T), OF_B, reads(A, D)]),  # only what is recomputed is moved
    ([reads(A, T), OF_B], [reads(A, T), OF_B]),
    ([reads(None, T), reads(A, T), OF_A], [reads(None, T), reads(A, T), OF_A]),
    ([], []), ([OF_A], [OF_A]),
], ids=["three", "of another", "in a branch", "read twice", "others", "unread", "without a result", "none", "one"])
def test_what_is_recomputed_is_put_before_what_reads_it_first(before, after):
    assert put_before_readers(list(before), {A, B, C}) == after


def test_what_is_moved_belongs_to_the_line_that_reads_it():
    first, other, reader = reads(A, T, line=1), reads(D, T, line=2), reads(C, A, line=3)
    assert put_before_readers([first, other, reader], {A}) == [other, reads(A, T, line=3), reader]
