"""Functions that the cases call from another module, with globals of their own."""

import numpy as np

SCALE = 1.5


def scaled(x, scale=None):
    return x * (SCALE if scale is None else scale)


def gaussian(x, mean=0.0, *, width=1.0):
    z = (x - mean) / width
    return np.exp(-0.5 * z * z)


def both(x, y):
    return x * y, x - y


def apply_twice(f, x):
    return f(f(x))


def squared_norm(*values):
    total = 0.0
    for v in values:
        total = total + v * v
    return total


def weighted(x, **weights):
    return sum(weights[name] * x ** (i + 1) for i, name in enumerate(weights))


def stretched_by(factor):
    """A function that makes functions, which read what it has captured and what its module has."""

    def make(like):
        def stretched(v):
            return v * factor * SCALE * np.ndim(like)

        return stretched

    return make
