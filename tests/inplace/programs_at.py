"""``ufunc.at`` for every kind of ufunc and index, with values that repeat, broadcast, overlap."""

import numpy as np

from tests.inplace.pairs import M33, V3, program

X3 = np.array([0.7, 1.3, 0.4])
W3 = np.array([1.0, 2.0, 3.0])
MASK = np.array([True, False, True])


@program(X3)
def masks(x):
    y = x * 1.5 + 0.2
    np.multiply.at(y, MASK, 2.0 * x[1])
    np.maximum.at(y, MASK, x[:2])
    np.divide.at(y, x > 0.5, x[0])
    np.add.at(y, MASK, x[1:])
    np.logaddexp.at(y, MASK, x[1])
    return np.sum(y * y * W3)


@program(X3)
def slices(x):
    y = x * 1.5 + 0.2
    np.divide.at(y, slice(0, 2), x[1:] + 1.0)
    np.minimum.at(y, slice(None, None, -2), 0.9 * x[:2])
    np.subtract.at(y, Ellipsis, x[::-1])
    np.power.at(y, (None, slice(0, 1)), 2.0)
    return np.sum(y * y * W3)


@program(X3)
def repeated_places(x):
    y = x * 1.5 + 0.2
    np.multiply.at(y, [0, 0, 2], x)
    np.maximum.at(y, np.array([2, 2, -1, 0]), np.concatenate([x, x[:1]]) * 1.1)
    np.divide.at(y, np.array([[0, 1], [1, 1]]), np.outer(x[:2], x[1:]) + 1.0)
    np.hypot.at(y, (np.array([0, 0]),), x[1:])
    np.arctan2.at(y, [1, 1], x[1])
    np.multiply.at(y, [], 2.0)
    return np.sum(y * y * W3)


@program(X3)
def numbers(x):
    y = x * 1.5 + 0.2
    np.multiply.at(y, 1, x[0])
    np.fmax.at(y, -1, x[0])
    np.power.at(y, (0,), x[1])
    return np.sum(y * y * W3)


@program(X3)
def functions_of_one_argument(x):
    y = x * 1.5 + 0.2
    np.negative.at(y, MASK)
    np.sin.at(y, [0, 0, 2])
    np.exp.at(y, slice(0, 2))
    return np.sum(y * y * W3)


@program(M33)
def matrices(m):
    a = m * 1.0
    np.multiply.at(a, (np.array([0, 0, 2]), np.array([1, 1, 2])), m[0])
    np.multiply.at(a, [0, 0, 1], m)
    np.logaddexp.at(a, (slice(None), [0, 0]), m[:, :1])
    np.maximum.at(a, a > 1.0, 1.5)
    np.add.at(a, (Ellipsis, 1), m[0])
    np.divide.at(a, (1, np.array([0, 0])), 1.5)
    return np.sum(a * a * np.arange(1.0, 10.0).reshape(3, 3))


@program(M33, V3)
def views(m, v):
    a = m * 1.0
    np.multiply.at(a[1], [0, 0, 1], v)
    np.multiply.at(a.T, ([0, 0, 1], [2, 2, 2]), v)
    return np.sum(a * m)


@program(X3)
def values_overlap(x):
    y = x * 1.0
    np.multiply.at(y, [0, 0, 1], y[::-1])
    np.multiply.at(y, slice(0, 2), y[1:])
    np.maximum.at(y, [1, 1], y[1:] * 1.2)
    return np.sum(y * x)


@program(X3, 4)
def in_a_loop(x, n):
    y = x * 1.0
    for k in range(n):
        np.multiply.at(y, [k % 3, 0], x[0] * y[1])
    return np.sum(y * x)


@program(X3)
def index_from_a_list(x):
    y = x * 1.0
    for k in [slice(0, 2), np.array([0, 0]), MASK]:
        np.multiply.at(y, k, x[0] + 1.0)
    return np.sum(y * x)


@program(X3)
def without_a_derivative(x):
    y, k = np.ones(3), np.zeros(3, dtype=int)
    np.maximum.at(y, [0, 0, 1], np.array([1.0, 3.0, 2.0]))
    np.multiply.at(y, MASK, 2.0)
    np.add.at(k, [0, 0, 1], 1)
    np.bitwise_or.at(k, [2, 2], 1)
    return np.sum(y * x * x[k])


@program(V3)
def a_slice_takes_a_sum_of_what_it_holds(x):
    y = x.copy()
    np.add.at(y, slice(None, None), y + y)
    return np.prod(y)


@program(V3, slice(0, 2))
def a_slice_of_an_argument_takes_what_it_holds_twice(x, k):
    y = x.copy()
    np.subtract.at(y, k, y[k] + y[k] * y[k])
    return np.prod(y)
