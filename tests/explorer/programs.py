"""Functions that the tests of the explorer page show."""

import numpy as np

CALLS = []


def rate(y, k):
    """How fast it grows: </script> is no end of a script."""
    if y > 1.0:
        return k * (1.0 - y)
    return k * y


def layer(h, W):
    # the next state
    return np.tanh(W @ h)


def loss(W, x, steps):
    h = x
    for _ in range(steps):
        h = layer(h, W)
    r = h - np.floor(h)
    growth = rate(h[0], 2.0)
    return np.sum(h * h) + growth + np.sum(r)


def chain(W, x, steps):
    h = x
    for _ in range(steps):
        h = np.tanh(W @ h)
    return np.sum(h * h)


def running(x):
    y = np.sin(x)
    z = np.cumsum(y * x)
    return z * y


def noted(x: float):
    CALLS.append(x)
    return x * x


def costly(A, x):
    y = x[0] + 1.0
    B = A @ A @ A
    return y * np.sum(B)


def cells(x):
    return np.sum(np.floor(x) * x)


def picked(x, k):
    return np.sum(x[k] ** 2)


def guarded(x):
    try:
        y = 1.0 / x
    except ZeroDivisionError:
        y = x
    return y * y


def folded(x):
    a = 3.0 * x
    b = a * a
    return np.sum(b)
