"""Where a cotangent is zero, what it goes on to is skipped: gradients of tables that choices fill, beside central
differences, and second derivatives at cotangents of zero, which miss nothing."""

import importlib.util

import numpy as np
import pytest

import s2s
from tests.helpers import differences

RNG = np.random.default_rng(67)
X, Y = RNG.standard_normal(5), RNG.standard_normal(6)


def warping(x, y):
    cost = np.full((len(x) + 1, len(y) + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            cost[i, j] = (x[i - 1] - y[j - 1]) ** 2 + min(cost[i - 1, j - 1], cost[i - 1, j], cost[i, j - 1])
    return cost[len(x), len(y)]


def nesting(x, y):
    """The same place is chosen for several times, and some of what is kept is taken from a list."""
    n = len(x)
    best = np.zeros((n, n))
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best[i, j] = max(best[i, j - 1], best[i + 1, j])
            if i < j - 1:
                best[i, j] = max(best[i, j], best[i + 1, j - 1] + x[i] * y[j])
            for k in range(i + 1, j):
                best[i, j] = max(best[i, j], best[i, k] + best[k + 1, j] * y[k])
    return best[0, n - 1]


def knapsack(x, y):
    """Values in place of those of the iteration before; what is read after the choice depends on it too."""
    best, total = np.zeros(4), 0.0
    for i in range(len(x)):
        for j in range(3, 0, -1):
            best[j] = max(best[j], best[j - 1] + x[i] * y[i])
            total = total + best[j] * x[i]
    return best[3] + 0.1 * total


def weighted(x, y):
    """A table of which each item has a weight."""
    best = np.zeros(6)
    for i in range(1, 6):
        best[i] = max(best[i - 1] * 0.9, x[i - 1] ** 2)
    return np.sum(best * y)


def ties(x, y):
    best = np.zeros(6)
    best[0] = x[0]
    for i in range(1, 6):
        best[i] = min(best[i - 1] + 0.0, x[0] * 1.0, x[i - 1] ** 2 + 9.0)
    return best[5] * y[0]


PROGRAMS = [warping, nesting, knapsack, weighted, ties]


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("passes", ["", "-zero-cotangents"])
def test_derivatives(f, passes, monkeypatch):
    monkeypatch.setenv("S2S_PASSES", passes)
    x_bar, y_bar = s2s.grad(f, argnums=(0, 1))(X, Y)
    expected = differences(lambda x: f(x, Y), X), differences(lambda y: f(X, y), Y)
    np.testing.assert_allclose(x_bar, expected[0], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(y_bar, expected[1], rtol=1e-6, atol=1e-8)
    _, tangent = s2s.jvp(f, (X, Y), (np.cos(X), np.sin(Y)))
    np.testing.assert_allclose(
        tangent, np.sum(expected[0] * np.cos(X)) + np.sum(expected[1] * np.sin(Y)), rtol=1e-6, atol=1e-8)
    assert ("rt.is_carried(" in s2s.source(f, X, Y)) == (not passes)


def test_a_loop_without_choices_has_no_tests():
    def f(x, y):
        a = np.zeros(6)
        for i in range(1, 6):
            a[i] = np.sin(a[i - 1]) * x[i - 1]
        return a[5]

    assert "is_carried" not in s2s.source(f, X, Y)


def test_cotangents_of_zero_have_tangents():
    """The weights are zero, and so is the gradient; along the weights it changes. Also that of the generated source."""
    zero, along = np.zeros(6), np.arange(1.0, 7.0)
    h = 1e-6
    wanted = (s2s.grad(weighted)(X, h * along) - s2s.grad(weighted)(X, -h * along)) / (2.0 * h)
    assert np.all(s2s.grad(weighted)(X, zero) == 0.0) and np.any(np.abs(wanted) > 1.0)
    found = s2s.hvp(weighted, (X, zero), (np.zeros(5), along))
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    nested = s2s.grad(lambda x, y: np.sum(s2s.grad(weighted)(x, y) * np.cos(x)), "y")(X, zero)
    np.testing.assert_allclose(nested @ along, np.sum(wanted * np.cos(X)), rtol=1e-6)


def test_generated_source_is_differentiated_again(tmp_path):
    text = s2s.source(weighted, X, Y)
    assert "rt.is_carried(" in text
    (tmp_path / "weighted_by_hand.py").write_text(text)
    spec = importlib.util.spec_from_file_location("weighted_by_hand", tmp_path / "weighted_by_hand.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    zero, along = np.zeros(6), np.arange(1.0, 7.0)
    h = 1e-6
    wanted = (s2s.grad(weighted)(X, h * along) - s2s.grad(weighted)(X, -h * along)) / (2.0 * h)
    value, tangent = s2s.jvp(module.weighted_grad, (X, zero), (np.zeros(5), along))
    np.testing.assert_array_equal(value, np.zeros(5))
    np.testing.assert_allclose(tangent, wanted, rtol=1e-6)
    reverse = s2s.grad(lambda y: np.sum(module.weighted_grad(X, y)))(zero)
    np.testing.assert_allclose(reverse @ along, np.sum(wanted), rtol=1e-6)
