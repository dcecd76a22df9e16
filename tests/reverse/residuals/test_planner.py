"""What the reverse sweep keeps of loops, and what it does not: the same value twice, what does not change, and what is
a function of the number of the iteration. Gradients against central differences, what is kept by the generated source.
"""

import ast
import math

import numpy as np
import pytest

import s2s
from s2s.core import ir
from s2s.reverse.residuals.decisions import Decision, Plan, Reason

X, W = np.array([0.3, 0.7, 1.1]), np.array([0.9, 0.4, 0.6])


# --- branches outside loops ------------------------------------------------------------------------------------------


def chain(x, w):
    r = x[0] * w[1]
    if r < 0.0:
        y = x[0]
    elif r < 1.0:
        y = np.sin(r)
    elif w[0] < 1.0 and r < 2.0:
        y = np.exp(w[1]) * x[0]
    elif np.sum(x) * r < 8.0:
        y = np.cos(w[2]) * r
    else:
        r = r * r
        y = r if r >= 10.0 else r * w[0]
    return y * y


@pytest.mark.parametrize("x, w", [(-0.5, 0.3), (0.5, 0.3), (1.5, 0.3), (1.5, 1.3), (2.8, 0.3), (2.8, 1.3), (9.0, 1.3)])
def test_each_arm_of_a_chain(x, w):
    x, w = np.array([x, 0.9]), np.array([w, 1.0, 0.7])
    eye = [np.eye(2) * 1e-6, np.eye(3) * 1e-6]
    wanted = [
        np.array([(chain(x + d, w) - chain(x - d, w)) / 2e-6 for d in eye[0]]),
        np.array([(chain(x, w + d) - chain(x, w - d)) / 2e-6 for d in eye[1]]),
    ]
    for of in (s2s.grad, s2s.jacfwd):
        for found, expected in zip(of(chain, argnums=(0, 1))(x, w), wanted, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def arms(x):
    if x < 0.0:
        y = x
    elif x < 1.0:
        y = x * x
    elif x < 2.0:
        y = 3.0 * x * x
    else:
        y = 2.0 * x
    return y * y


def test_a_chain_compares_numbers_again():
    """No result of a branch stands for the test of an arm, of which each branch around it would have one."""
    source = s2s.source(arms, 1.5)
    assert source.count("elif x < 1.0:") == source.count("elif x < 2.0:") == 2
    assert s2s.grad(arms)(1.5) == s2s.jacfwd(arms)(1.5) == 36.0 * 1.5**3


# --- the same value twice -------------------------------------------------------------------------------------------


def runge_kutta(y, rate, n):
    def f(t, y):
        return -rate * y + np.sin(t) * y * y

    t = 0.1
    for _ in range(n):
        k1 = f(t, y)
        k2 = f(t + 0.05, y + 0.05 * k1)
        k3 = f(t + 0.05, y + 0.05 * k2)
        k4 = f(t + 0.1, y + 0.1 * k3)
        y = y + (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 60.0
        t = t + 0.1
    return np.sum(y)


def hidden_state(h, w, n):
    for _ in range(n):
        h = np.tanh(np.outer(w, w) @ h)
    return np.sum(h * h)


def hidden_state_in_loop(h, w, n):
    for k in range(n):
        for _ in range(k):
            h = np.tanh(np.outer(w, w) @ h)
        h = h * w
    return np.sum(h * h)


def until_it_is_small(h, w, n):
    count = 0
    while np.sum(h) > 0.2:
        h = np.tanh(w * h)
        count += 1
        if count > n:
            break
    return np.sum(h * h)


def three_back(a, w, n):
    b, c = a * w, w
    for _ in range(n):
        a, b, c = b, c, np.sin(a) + b * c * 0.3
    return np.sum(a * b * c)


def swapped(a, w, n):
    b = np.sin(a)
    total = 0.0
    for k in range(n):
        total = total + np.sum(np.sin(a) * b * w) * k
        a, b = b, a
    return total


def after_a_branch(x, w, n):
    s = x
    for k in range(n):
        y = s * w + k
        if k % 2:
            z = np.exp(-y)
        else:
            z = np.tanh(y)
        s = s * z
    return np.sum(s)


def read_as_shape_and_as_value(x, w, n):
    s = x
    for _ in range(n):
        y = np.exp(s * w)
        s = np.sin(y) + np.zeros_like(s)
    return np.sum(s)


# --- the same in every iteration ------------------------------------------------------------------------------------


def in_a_branch(x, w, n):
    s = x
    for k in range(n):
        if k % 2:
            m = np.exp(w)
            s = s * m
    return np.sum(s)


def in_nested_branches(x, w, n):
    s = x
    for k in range(n):
        if k > 0:
            s = np.sin(s)
            if k % 2:
                m = np.exp(w)
                s = s * m
            else:
                s = s - w
    return np.sum(s)


def of_the_inner_loop(x, w, n):
    s = x
    for _ in range(n):
        u = w * np.sin(s)
        for _ in range(n):
            s = s * (u @ w)
    return np.sum(s)


def of_an_inner_loop_that_may_not_run(x, w, n):
    s = x
    for k in range(n):
        for _ in range(k % 2):
            m = math.sqrt(float(w[0]) * k)
            s = np.sin(s * m)
    return np.sum(s)


def array_of_the_inner_loop(x, w, n):
    s = x
    for k in range(n):
        a = np.outer(w, w) * k
        for _ in range(k % 3):
            s = np.sin(s * (a @ w))
    return np.sum(s)


def stretched(w):
    y = w
    for _ in range(3):
        y = np.sin(y)
    return y


def by_a_loop(x, w, n):
    s = x
    for _ in range(n):
        s = s * stretched(w)
    return np.sum(s)


def by_a_branch(x, w, n):
    s = x
    for _ in range(n):
        m = np.sin(w) if np.sum(w) > 0.0 else np.cos(w)
        s = s * m
    return np.sum(s)


def by_a_while(x, w, n):
    s = x
    for _ in range(n):
        m = w
        while np.sum(m) > 0.5:
            m = m * np.cos(m)
        s = s * m
    return np.sum(s)


# --- functions of the number of the iteration -----------------------------------------------------------------------


def counted(x, w, n):
    s, k = x, 1
    for _ in range(n):
        s = 0.5 * s * np.sin(0.1 * s * k) + w
        k = k + 2
    return np.sum(s)


def counted_down(x, w, n):
    s, k = x, 7
    for _ in range(n, 0, -1):
        s = 0.5 * s * np.sin(0.1 * s * k) + w
        k -= 3
    return np.sum(s)


def counted_from_elsewhere(x, w, n):
    s, k = x, n
    for _ in range(2, 2 * n, 3):
        s = 0.5 * s * np.sin(0.1 * s * k) + w
        k = n + k
    return np.sum(s)


def counted_in_while(x, w, n):
    s, k = x, 0
    while k < 2 * n:
        s = 0.5 * s * np.sin(0.1 * s * (2 * k + 1)) + w
        k += 2
    return np.sum(s)


def counted_past_an_exit(x, w, n):
    s, k = x, 0
    while True:
        k += 1
        if k % 2 == 0:
            continue
        s = 0.5 * s * np.sin(0.1 * s * k) + w
        if k > n:
            break
    return np.sum(s)


def counted_through_inner_loops(x, w, n):
    s, k = x, 0
    for _ in range(n):
        for _ in range(3):
            k = k + 1
            s = 0.5 * s * np.sin(0.1 * s * k) + w
        k = k - 1
    return np.sum(s)


def counted_in_a_triangle(x, w, n):
    s, k = x, 0
    for i in range(n):
        for _ in range(i):
            k = k + 1
            s = 0.5 * s * np.sin(0.1 * s * k) + w
    return np.sum(s)


def counted_on_some_paths(x, w, n):
    s, k = x, 1
    for i in range(n):
        s = 0.5 * s * np.sin(0.1 * s * k) + w
        if i % 2:
            k = k + 1
    return np.sum(s)


def counted_in_floats(x, w, n):
    s, t = x, 0.1
    for _ in range(n):
        s = 0.5 * s * np.sin(s * t) + w
        t = t + 0.1
    return np.sum(s)


# --- loops whose reverse is written more than once ------------------------------------------------------------------


def interrupted(x, w, n):
    a, b, c = x, x, w
    for _ in range(n):
        for i in range(n):
            if i % 2:
                try:
                    d = np.sin(a * i)
                    _ = 1 // (i - 2)
                    b = b + d * d * a
                except ZeroDivisionError:
                    c = c + np.sin(b) * b
    return np.sum(a + b + c)


def interrupted_in_nested_loops(x, w, n):
    s = 0.0
    for i in range(n):
        for _ in range(2):
            try:
                if i % 2:
                    d = np.sin(x * i)
                    _ = 1 // (i - 3)
                    s = s + np.sum(d * d * w)
            except ZeroDivisionError:
                s = s + np.sum(np.sin(x))
    return s


KEPT = {
    runge_kutta: 7, hidden_state: 1, hidden_state_in_loop: 2, until_it_is_small: 1, three_back: 1, swapped: 1,
    after_a_branch: 2, read_as_shape_and_as_value: 2,
    in_a_branch: 1, in_nested_branches: 2, of_the_inner_loop: 4, of_an_inner_loop_that_may_not_run: 3,
    array_of_the_inner_loop: 4, by_a_loop: 2, by_a_branch: 1, by_a_while: 3,
    counted: 3, counted_down: 3, counted_from_elsewhere: 3, counted_in_while: 3, counted_past_an_exit: 3,
    counted_through_inner_loops: 3, counted_in_a_triangle: 4, counted_on_some_paths: 4, counted_in_floats: 4,
    interrupted: 6, interrupted_in_nested_loops: 3,
}
"""How many lists and arrays are filled."""


def kept(f, *args):
    """The lists and arrays of a pullback that loops fill, with what they are filled with."""
    found, read = {}, set()
    for node in ast.walk(ast.parse(s2s.source(f, *args, mode="vjp"))):
        match node:
            case ast.Call(ast.Attribute(ast.Name(name), "append"), [value]):
                found.setdefault(name, []).append(ast.unparse(value))
            case ast.Assign([ast.Subscript(ast.Name(name))], value) if name.startswith("saved"):
                found.setdefault(name, []).append(ast.unparse(value))
            case ast.Call(ast.Name("list"), [ast.Name(name)]) | ast.Subscript(ast.Name(name), _, ast.Load()):
                read.add(name)
    assert set(found) <= read, "a list is filled and not read"
    return found


@pytest.mark.parametrize("f", KEPT, ids=lambda f: f.__name__)
def test_values_are_kept_once_and_only_where_they_change(f):
    assert len(kept(f, X, W, 4)) == KEPT[f]


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("f", KEPT, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_gradients(f, n):
    def along(eps):
        return f(X + eps * W, W - 0.5 * eps * X, n)

    expected = (along(1e-6) - along(-1e-6)) / 2e-6
    x_bar, w_bar = s2s.grad(f, (0, 1))(X, W, n)
    assert np.sum(x_bar * W) - 0.5 * np.sum(w_bar * X) == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert s2s.jvp(f, (X, W, n), (W, -0.5 * X, None))[1] == pytest.approx(expected, rel=1e-6, abs=1e-8)
    _, pullback = s2s.vjp(f, X, W, n)
    for _ in range(2):  # a pullback may be called twice
        again = pullback(1.0)
        assert np.allclose(again[0], x_bar, rtol=1e-13) and np.allclose(again[1], w_bar, rtol=1e-13)


@pytest.mark.slow
def test_compiled_code_has_the_same_gradients():
    pytest.importorskip("numba")
    for f in (hidden_state, of_the_inner_loop, array_of_the_inner_loop, in_a_branch, counted_in_while, swapped):
        compiled = s2s.grad(s2s.differentiable(f, backend="numba"), (0, 1))
        for n in (0, 3):
            assert np.allclose(compiled(X, W, n), s2s.grad(f, (0, 1))(X, W, n), rtol=1e-12)


def test_a_decision_says_why():
    plan = Plan()
    plan.add(ir.Var("y", 1), "keep", Reason.CHANGES)
    plan.add(ir.Var("y", 1), "undo", Reason.OVERWRITTEN, span=ir.Span("f.py", 15, 0, 15, 1))
    (decision,) = plan.decisions.values()
    assert str(decision) == "undo: line 15 overwrites what it holds"
    assert decision == Decision(ir.Var("y", 1), "undo", Reason.OVERWRITTEN, None, ir.Span("f.py", 15, 0, 15, 1))
