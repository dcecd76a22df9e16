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


def steep(x):
    # a function that others find when they run
    r = x - np.floor(x)
    return np.sum(np.tanh(3.0 * x) ** 2) + np.sum(r)


def flat(x):
    return 0.1 * np.sum(x * x)


TABLE = {"steep": steep, "flat": flat}


def chosen(x, names):
    total = 0.0
    for name in names:
        total += TABLE[name](x)
    return total


def tree(x: float, depth: int):
    if depth == 0:
        return np.sin(x)
    left = tree(0.5 * x, depth - 1)
    right = tree(x * x, depth - 1)
    return left + right


square = lambda y: y * y  # noqa: E731


def composed(x, functions):
    y = x
    for k in range(len(functions)):
        y = functions[k](y)
    return np.sum(y)


def plan(controls, start, goal, horizon, substeps):
    """A model predictive control, whose state is changed in place."""
    state = np.zeros((horizon + 1, 4))
    state[0] = start
    effort = rough = late = 0.0
    last = np.zeros(2)
    for k in range(horizon):
        u = controls[k].copy()
        u[0] = np.clip(u[0], -0.6, 0.6)
        now = state[k].copy()
        for _ in range(substeps):
            slope = moved(now, u)
            middle = moved(now + 0.05 * slope, u)
            now += 0.1 * middle
            if now[3] < 0.0:
                late += now[3] ** 2
                now[3] *= 0.5
        state[k + 1] = now
        effort += np.sum(u * u)
        d = u - last
        rough += np.sum(d * d)
        last = u
    track = 0.0
    for k in range(1, horizon + 1):
        e = state[k, :2] - goal
        track += (1.0 + k / horizon) * (e @ e)
    return track + 0.1 * effort + 0.2 * rough + late


def moved(s, u):
    return np.array([s[3] * np.cos(s[2]), s[3] * np.sin(s[2]), s[3] * np.tan(u[0]) / 2.5, u[1] - 0.1 * s[3] * s[3]])


def halved(x):
    return 0.5 * x


STEPS = {"halved": halved, "damped": np.tanh}


def stepped(x, names):
    for name in names:
        x = x + 0.1 * STEPS[name](x)
    return np.sum(x * x)


def scaled(factor):
    def by_factor(x):
        return np.sum(factor * x * x)

    return by_factor


def summed(x, functions):
    total = 0.0
    for k in range(len(functions)):
        total = total + np.sum(functions[k](x))
    return total
