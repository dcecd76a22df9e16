"""Maxima on which no result depends carry no derivative; all others do."""

import numpy as np
import pytest

import s2s

X = np.array([[0.3, -1.2, 2.0], [1.5, 0.4, -0.7]])
V = np.array([[1.0, 0.5], [-0.3, 2.0], [0.7, -1.1]])


def softmax(x):
    raised = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return np.sum((raised / np.sum(raised, axis=-1, keepdims=True) @ V) ** 2)


def log_sum(x):
    most = x.max(axis=1)
    return np.sum((most + np.log(np.sum(np.exp(x - most[:, None]), axis=1))) ** 2)


def of_all(x):
    most = np.max(x)
    return np.log(np.mean(np.exp(2.0 * (x - most)))) / 2.0 + most


def without_infinite(x):
    most = np.max(x, axis=0)
    most = np.where(np.isfinite(most), most, 0.0)
    return np.sum((np.log(np.exp(x - most).sum(axis=0)) + most) ** 2)


def masked(x):
    x = np.where(np.tri(2, 3, dtype=bool), x, -np.inf)
    raised = np.where(np.tri(2, 3, dtype=bool), np.exp(x - np.max(x, axis=1, keepdims=True)), 0.0)
    return np.sum((raised @ V / raised.sum(axis=1)[:, np.newaxis]) ** 2)


def in_iterations(x):
    total = 0.0
    for row in range(2):
        low = np.min(x[row])
        total += (low - np.log(np.sum(np.exp(low - x[row])))) ** 2
    return total


def of_mixtures(x):
    """With stacks in the reverse sweep, which a second derivative goes through."""
    terms = np.empty((2, 3))
    for i in range(2):
        for j in range(3):
            scaled = np.exp(0.1 * x[j % 2]) * (x[i] - V[:, 0])
            terms[i, j] = x[i, j] - 0.5 * np.sum(scaled**2)
    most = np.max(terms, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(terms - most), axis=1, keepdims=True)) + most)


def of_copies(x):
    most = np.max(x, axis=1).copy()
    raised = np.exp(x - np.copy(most)[:, None])
    return np.sum((raised / np.sum(raised, axis=1, keepdims=True) @ V) ** 2)


CANCELLED = [of_mixtures, softmax, of_copies, log_sum, of_all, without_infinite, masked, in_iterations]


def only_shifted(x):
    return np.sum(np.exp(x - np.max(x, axis=1, keepdims=True)))


def along_the_other_axis(x):
    raised = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum((raised / np.sum(raised, axis=0)) ** 2)


def of_all_rows(x):
    most = np.max(x, axis=1, keepdims=True)
    return np.sum(most) + np.log(np.sum(np.exp(x - most)))


def of_another_axis(x):
    square = x[:, :2]
    most = np.max(square, axis=1)
    raised = np.exp(square - most)  # along the columns, while the sum is one for each row
    return np.sum((raised / np.sum(raised, axis=1)) ** 2)


def twice(x):
    most = np.max(x, axis=1, keepdims=True)
    return np.sum((np.exp(2.0 * (x - most)) / np.sum(np.exp(x - most), axis=1, keepdims=True)) ** 2)


def read_elsewhere(x):
    most = np.max(x)
    return most + np.log(np.sum(np.exp(x - most))) + most * x[0, 0]


def cut_off(x):
    raised = np.exp(np.maximum(x - np.max(x, axis=1, keepdims=True), -1.0))
    return np.sum((raised / np.sum(raised, axis=1, keepdims=True)) ** 2)


def changed_in_place(x):
    most = np.max(x, axis=1)
    most[0] = 2.0 * most[0]
    return np.sum(most + np.log(np.sum(np.exp(x - most[:, None]), axis=1)) + 3.0 * most)


def carried(x):
    most, total = np.max(x), 0.0
    for row in range(2):
        total, most = total + np.sum(np.exp(x[row] - most)), 0.5 * most
    return total


NOT_CANCELLED = [
    only_shifted, along_the_other_axis, of_all_rows, of_another_axis, twice, read_elsewhere, cut_off, changed_in_place,
    carried,
]


def differences(f, x, step=1e-6):
    made = np.empty_like(x)
    for at in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[at] += step
        down[at] -= step
        made[at] = (f(up) - f(down)) / (2.0 * step)
    return made


@pytest.mark.parametrize("f", [*CANCELLED, *NOT_CANCELLED])
def test_gradients_are_right_whether_it_cancels_or_not(f, monkeypatch):
    expected = differences(f, X)
    np.testing.assert_allclose(s2s.grad(f)(X), expected, rtol=1e-6, atol=1e-8)
    direction = np.cos(np.arange(6.0)).reshape(2, 3)
    tangent = s2s.jvp(f, (X,), (direction,))[1]
    np.testing.assert_allclose(tangent, np.sum(expected * direction), rtol=1e-6, atol=1e-8)
    found = s2s.grad(f)(X)
    monkeypatch.setenv("S2S_PASSES", "-shifts")
    np.testing.assert_allclose(s2s.grad(f)(X), found, atol=1e-13)


@pytest.mark.parametrize("f", CANCELLED)
def test_what_cancels_carries_no_derivative(f):
    gradient = s2s.grad(f)
    gradient(X)
    assert "chosen" not in gradient.source
    again = differences(lambda x: np.sum(gradient(x) * np.cos(x)), X)
    second = s2s.grad(lambda x: np.sum(gradient(x) * np.cos(x)))(X)
    np.testing.assert_allclose(second, again, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", NOT_CANCELLED)
def test_what_does_not_cancel_has_one(f):
    gradient = s2s.grad(f)
    gradient(X)
    assert "chosen" in gradient.source
