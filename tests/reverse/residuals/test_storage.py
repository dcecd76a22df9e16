"""Where the values of iterations are kept: in arrays by the items of the loops, also of a triangle, and on lists.
Gradients against central differences on both backends, the container by the generated source.
"""

import re

import numpy as np
import pytest

import s2s

X = np.array([0.35, 0.7, 1.1, 0.5, 0.8])


def below_the_diagonal(x, n):
    s = x[0]
    for i in range(n):
        for j in range(i):
            s = np.sin(s * x[j]) + x[i]
    return s


def with_the_diagonal(x, n):
    s = x[0]
    for i in range(n):
        for j in range(i + 1):
            s = np.sin(s * x[j]) + x[i]
    return s


def above_the_diagonal(x, n):
    s = x[0]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            s = np.sin(s * x[j]) + x[i]
    return s


def above_it_backwards(x, n):
    s = x[0]
    for i in range(n):
        for j in range(n - 1, i, -1):
            s = np.sin(s * x[j]) + x[i]
    return s


def from_the_other_corner(x, n):
    s = x[0]
    for i in range(n):
        for j in range(n - i):
            s = np.sin(s * x[j]) + x[i]
    return s


def around_the_diagonal(x, n):
    s = x[0]
    for i in range(n):
        for j in range(i, i + 2):
            s = np.sin(s * x[j % n]) + x[i]
    return s


def of_a_pyramid(x, n):
    s = x[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                s = np.sin(s * x[k]) + x[i] * x[j]
    return s


def below_zero(x, n):
    s = x[0]
    for i in range(n):
        for j in range(i - 2, n):
            s = np.sin(s * x[j % n]) + x[i]
    return s


def past_the_last_row(x, n):
    s = x[0]
    for i in range(n):
        for j in range(2 * i):
            s = np.sin(s * x[j % n]) + x[i]
    return s


def left_early(x, n):
    s = x[0]
    for i in range(n):
        for j in range(i):
            s = np.sin(s * x[j]) + x[i]
            if s > 1.2:
                break
    return s


def of_floats(x, n):
    s = 1.0
    for i in range(n):
        s = s * 0.5 + float(x[i]) * s * s
    return s


def same_in_the_outer_loop(x, n):
    s = x[0]
    for i in range(n):
        for j in range(n):
            weight = np.exp(-x[j])
            if i != j:
                s = s + weight * x[i] * weight
    return s * s


def same_in_the_outer_loop_only(x, n):
    s, scale = x[0], x[0]
    for i in range(n):
        for k in range(n):
            shift = np.sin(x[k] * k)
            for j in range(n):
                scale = np.exp(-x[j] * shift)
                s = s + scale * scale * x[i]
    return s * s * scale


def other_in_the_outer_loop(x, n):
    s = x[0]
    for i in range(n):
        carried = x[0]
        for j in range(i, n):
            carried = np.exp(-x[j] * carried)
            s = s + carried * carried * x[i]
    return s


ARRAYS = {
    below_the_diagonal: 1, with_the_diagonal: 1, above_the_diagonal: 1, above_it_backwards: 1, from_the_other_corner: 1,
    around_the_diagonal: 0, of_a_pyramid: 0, below_zero: 0, past_the_last_row: 0, left_early: 0,
}
"""How many arrays are made to keep things in; where there is none, there are lists."""


@pytest.mark.parametrize("f", ARRAYS, ids=lambda f: f.__name__)
def test_values_are_kept_in_arrays_where_half_of_their_places_are_used(f):
    source = s2s.source(f, X, 5)
    assert len(re.findall(r"saved\w* = np\.empty", source)) == ARRAYS[f]
    assert bool(re.findall(r"saved\w* = \[\]", source)) == (not ARRAYS[f])


def test_floats_of_python_come_back_as_such():
    def steps(x, n):
        for _ in range(n):
            x = 3.7 * x * (1.0 - x)
        return x

    assert "saved.append(" in s2s.source(steps, 0.3, 5) and "float(" not in s2s.source(steps, 0.3, 5)
    compiled = s2s.grad(s2s.differentiable(steps, backend="numba"))
    expected = (steps(0.3 + 1e-7, 5) - steps(0.3 - 1e-7, 5)) / 2e-7
    assert compiled(0.3, 5) == pytest.approx(expected, rel=1e-6)
    assert s2s.grad(steps)(0.3, 5) == pytest.approx(expected, rel=1e-6) and type(s2s.grad(steps)(0.3, 5)) is float


def test_what_is_the_same_in_an_outer_loop_is_kept_for_the_inner_one():
    assert "saved_weight = np.empty(max(n, 0))" in s2s.source(same_in_the_outer_loop, X, 5)
    source = s2s.source(same_in_the_outer_loop_only, X, 5)
    assert "saved_scale = np.empty((max(n, 0), max(n, 0)))" in source and "saved_shift = np.empty(max(n, 0))" in source


SAME = (same_in_the_outer_loop, same_in_the_outer_loop_only, other_in_the_outer_loop)


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("f", [*ARRAYS, *SAME, of_floats], ids=lambda f: f.__name__)
def test_gradients(f):
    for n in (5, 2, 1, 0):
        x, along = X[: max(n, 1)], np.cos(np.arange(max(n, 1)))
        expected = np.array([(f(x + e, n) - f(x - e, n)) / 2e-6 for e in 1e-6 * np.eye(len(x))])
        found = s2s.grad(f)(x, n)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(s2s.jacfwd(f)(x, n), found, rtol=1e-12, atol=1e-13)
        second = (s2s.grad(f)(x + 1e-6 * along, n) - s2s.grad(f)(x - 1e-6 * along, n)) / 2e-6
        np.testing.assert_allclose(s2s.hvp(f, (x, n), (along, None)), second, rtol=1e-5, atol=1e-7)


@pytest.mark.slow
def test_compiled_code_has_the_same_gradients():
    pytest.importorskip("numba")
    for f in (above_the_diagonal, above_it_backwards, of_floats):
        compiled = s2s.grad(s2s.differentiable(f, backend="numba"))
        for n in (5, 0):
            np.testing.assert_allclose(compiled(X, n), s2s.grad(f)(X, n), rtol=1e-12)


def of_a_passive_array(a, x):
    """What depends on ``x`` is differentiated because ``a`` is stored there later: nothing of it reaches ``a``."""
    s = a
    for _ in range(2):
        v = x * 2.0
        v[0] = sum([x[0] * item for item in v])
        s += v[0] * s
    x[0] = a * a
    return np.sum(x * x) + s


def test_a_list_is_not_filled_that_nothing_empties():
    source = s2s.source(of_a_passive_array, 1.5, X)
    assert "saved[i] = v[0]" in source and "append" not in source
    derivative = (of_a_passive_array(1.5 + 1e-6, X.copy()) - of_a_passive_array(1.5 - 1e-6, X.copy())) / 2e-6
    np.testing.assert_allclose(s2s.grad(of_a_passive_array)(1.5, X.copy()), derivative, rtol=1e-6)
    np.testing.assert_allclose(s2s.jvp(of_a_passive_array, (1.5, X.copy()), (1.0, None))[1], derivative, rtol=1e-6)
