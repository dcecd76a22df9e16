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


@case(V3)
def a_function_mapped_over_pairs_of_a_zip(x):
    return sum(map(lambda pair: pair[0] * pair[1], zip(x, x[::-1])))


@case(V3)
def pairs_of_a_zip_in_a_tuple(x):
    both = (zip(x, x[1:]), 2.0)
    return sum([a * b for a, b in both[0]]) * both[1]
