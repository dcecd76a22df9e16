"""Loops in loops: what the fixpoints of inner loops begin with where the loop around them is specialised again."""

import linecache

import numpy as np
import pytest

import s2s
from s2s.specialize import loops
from tests.helpers import differences

X = np.array([0.4, -1.3, 0.8])


def nest(kind, depth):
    """A function with as many loops in one another, each of which has a sum, a list or an array of its own."""
    begin = {"sum": "0.0", "list": "[]", "array": "np.zeros(3)"}[kind]
    leaf = {
        "sum": "s{0} = s{0} + x[i0] * np.sin(x[i{1}])", "list": "s{0}.append(x[i0] * np.sin(x[i{1}]))",
        "array": "s{0}[i0] += x[i0] * np.sin(x[i{1}])",
    }[kind]
    fold = {
        "sum": "s{0} = s{0} + np.sin(s{1})", "list": "s{0}.append(np.sin(np.sum(np.array(s{1}))))",
        "array": "s{0}[i{0}] += np.sin(np.sum(s{1}))",
    }[kind]
    lines = ["def f(x, n):"]
    for k in range(depth):
        lines += ["    " * (k + 1) + f"s{k} = {begin}", "    " * (k + 1) + f"for i{k} in range(n):"]
    lines.append("    " * (depth + 1) + leaf.format(depth - 1, depth - 1))
    lines += ["    " * (k + 1) + fold.format(k - 1, k) for k in range(depth - 1, 0, -1)]
    lines.append("    return np.sum(np.array(s0))")
    text, file = "\n".join(lines), f"<nest of {kind} {depth}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    space = {"np": np}
    exec(compile(text, file, "exec"), space)
    return space["f"]


@pytest.mark.parametrize("kind", ["sum", "list", "array"])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_derivatives_of_nests(kind, depth):
    f = nest(kind, depth)
    wanted = [differences(lambda t, k=k: float(f(X + t * np.eye(3)[k], 2)), 0.0) for k in range(3)]
    np.testing.assert_allclose(s2s.grad(f)(X, 2), wanted, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(s2s.jacfwd(f)(X, 2), wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", ["sum", "list", "array"])
def test_runs_are_quadratic_in_the_depth(kind, monkeypatch):
    runs, stable = [], loops._stable
    monkeypatch.setattr(loops, "_stable", lambda *given: (runs.append(1), stable(*given))[1])
    s2s.source(nest(kind, 8), X, 2, mode="jvp")
    assert len(runs) <= 8 * 9 / 2 + 8


def test_a_loop_is_another_one_where_its_start_is_another():
    def f(x, n):
        total = 0
        for i in range(n):
            inner = total
            for j in range(i + 1):
                inner = inner * x[j] + 1 if j else inner + x[0]
            total = inner if i % 2 else total + inner * 2
        return total

    wanted = [differences(lambda t, k=k: float(f(X + t * np.eye(3)[k], 3)), 0.0) for k in range(3)]
    np.testing.assert_allclose(s2s.grad(f)(X, 3), wanted, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(s2s.jacfwd(f)(X, 3), wanted, rtol=1e-6, atol=1e-8)


def test_lists_and_lengths_that_grow_in_nests():
    def f(x, n):
        rows = []
        for i in range(n):
            row = x[:1]
            for j in range(i):
                row = np.concatenate((row, x[j:] * row[0]))
                for _ in range(j):
                    row = row[1:] if len(row) > 4 else np.append(row, x[0])
            rows.append(np.sum(row * row))
        return np.sum(np.array(rows))

    wanted = [differences(lambda t, k=k: float(f(X + t * np.eye(3)[k], 3)), 0.0) for k in range(3)]
    np.testing.assert_allclose(s2s.grad(f)(X, 3), wanted, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(s2s.jacfwd(f)(X, 3), wanted, rtol=1e-6, atol=1e-8)
