"""Numbers and arrays that are of integers in some calls and of floats in others: what the program asks of their type is
answered when it runs, and where only an integer will do they are integers."""

import numpy as np
import pytest

import s2s
from tests.helpers import check

X = 1.7
V = np.arange(8.0) / 3.0 + 0.2


# --- powers of integers: floats where the exponent is negative -------------------------------------------------------


def asked_by_isinstance(x, n):
    p = 2**n
    return x * p if isinstance(p, int) else x * x * p


def asked_by_type(x, n):
    p = 2**n
    return x * p if type(p) is int else x * x * p


def asked_by_attribute(x, n):
    p = 3**n
    return x * p if hasattr(p, "is_integer") and not isinstance(p, int) else x * x * p


def asked_of_a_product(x, n):
    p = 1
    for _ in range(2):
        p *= 2**n
    return x * p if isinstance(p, int) else x * x * p


def asked_by_a_pattern(x, n):
    match 2**n:
        case int():
            return x
        case float():
            return x * x


def asked_of_an_array(x, n):
    p = np.array([2**n, 3**n])
    return np.sum(x * p if p.dtype.kind == "i" else x * x * p)


def asked_of_its_items(x, n):
    p = np.array([2**n, 3**n]) + 1
    return np.sum(x * p if isinstance(p[0], np.integer) else x * x * p)


def asked_of_a_matrix_like_it(x, n):
    p = np.full((2, 2), 2**n)
    like = np.ones_like(p)
    return np.sum(x * p * like if np.issubdtype(like.dtype, np.integer) else x * x * p)


def asked_by_result_type(x, n):
    total = 0
    for _ in range(n):
        total += 1.5
    p = np.array([total, total])
    return np.sum(x * (p + 1) if np.result_type(p, np.int8).kind == "i" else x * x * p)


def truncated(x, n):
    return x * int(3**n) + x * x * (3**n // 2) + x * round(3**n * 1.3)


OF_TYPES = [
    asked_by_isinstance, asked_by_type, asked_by_attribute, asked_of_a_product, asked_by_a_pattern, asked_of_an_array,
    asked_of_its_items, asked_of_a_matrix_like_it, asked_by_result_type, truncated,
]  # fmt: skip


@pytest.mark.parametrize("n", [-2, 0, 3])
@pytest.mark.parametrize("f", OF_TYPES, ids=lambda f: f.__name__)
def test_what_is_asked_of_a_type_is_answered_when_the_program_runs(f, n):
    check(f, (X, n), (0,))


# --- the same as indices and lengths ----------------------------------------------------------------------------------


def length_of_an_array(v, n):
    y = np.zeros(2**n)
    y[1] = v[0]
    return np.sum(y * y)


def ends_of_slices(v, n):
    return np.sum(v[: 2**n] ** 2 * np.arange(2**n)) * v[2**n - 1] + np.sum(v.reshape(2**n, -1)[0])


def butterflies(v, n):
    a = v.copy()
    for k in range(n):
        h = 2**k
        for i in range(0, len(a), 2 * h):
            for j in range(i, i + h):
                p, q = a[j], a[j + h]
                a[j] = p + q
                a[j + h] = (p - q) * p
    return np.sum(a * a)


def halved(v, n):
    a, m = v, 2**n
    while m > 1:
        a = a[: m // 2] * a[m // 2 : m]
        m //= 2
    return np.sum(a)


@pytest.mark.parametrize("f", [length_of_an_array, ends_of_slices, butterflies, halved], ids=lambda f: f.__name__)
def test_powers_of_integers_as_indices_and_lengths(f):
    check(f, (V, 3), (0,))


@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd])
def test_a_float_is_no_length(derivative):
    with pytest.raises(TypeError):
        derivative(length_of_an_array)(V, -1)
