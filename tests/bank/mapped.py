"""Functions applied to every element or line: ``np.vectorize`` and ``np.apply_along_axis``."""

import numpy as np

from tests.bank.registry import M23, V3, case


@np.vectorize
def soft(v, limit):
    if v > limit:
        return v - limit
    return 0.5 * v * v


@case(V3, 0.4)
def vectorised(v, limit):
    return np.sum(soft(v, limit) ** 2)


@case(M23)
def vectorised_lambda(m):
    each = np.vectorize(lambda x: x * x if x > 0.5 else np.sin(x))
    return np.sum(each(m) * m)


@case(M23)
def along_an_axis(m):
    return np.sum(np.apply_along_axis(lambda row: row * row[0], 1, m) ** 2)
