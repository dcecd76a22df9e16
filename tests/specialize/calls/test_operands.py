"""Operands whose classes have operators of their own: np.matrix, masked arrays, sparse matrices of unknown kind."""

import numpy as np
import pytest
import scipy.sparse

import s2s
from s2s.errors import NoDerivativeError

pytestmark = [
    pytest.mark.filterwarnings("ignore::s2s.RecordedWarning"),
    pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning"),
]

A = np.arange(9.0).reshape(3, 3) + np.eye(3)
MATRIX = scipy.sparse.csr_matrix(A).todense()
MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
SPARSE = scipy.sparse.csr_matrix(A)
KEPT = {"matrix": MATRIX, "sparse": SPARSE, "weights": np.array([0.5, 2.0, 1.0])}


def of_matrix(x):
    return np.sum(np.asarray(MATRIX * np.outer(x, x)) ** 2)


def of_matrix_with_vector(x):
    trend = np.squeeze(np.asarray(x - (np.eye(3) - MATRIX) @ x))
    return (trend * trend).sum() + trend[0]


def of_power(x):
    return np.sum(np.asarray(np.dot(MATRIX**2, x)) ** 2)


def of_masked(x):
    return (MASKED * x).sum() ** 2


def of_dense(x):
    return np.sum(np.asarray(SPARSE.todense() * np.outer(x, x)) ** 2)


def of_unknown_sparse(x):
    return np.sum((x * (SPARSE + 2.0 * SPARSE)) ** 2)


def of_unknown_matrix(x):
    return np.sum(np.asarray(np.outer(x, x) * KEPT.copy().pop("matrix")) ** 2)


def of_argument(x, m):
    return np.sum(np.asarray(np.outer(x, x) * m) ** 2)


FUNCTIONS = [
    of_matrix, of_matrix_with_vector, of_power, of_masked, of_dense, of_unknown_sparse, of_unknown_matrix,
]


def differences(fn, x):
    return np.array([(fn(x + 1e-5 * e) - fn(x - 1e-5 * e)) / 2e-5 for e in np.eye(len(x))])


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_the_derivative_is_that_of_what_the_class_computes(fn, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    x = np.array([0.3, -0.7, 1.1])
    expected = differences(fn, x)
    np.testing.assert_allclose(s2s.grad(fn)(x), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(s2s.jacfwd(fn)(x), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("m", [A, MATRIX, np.ma.array(A, mask=A > 6.0)], ids=lambda m: type(m).__name__)
def test_an_argument_has_the_operators_of_its_class(m, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    x = np.array([0.3, -0.7, 1.1])
    expected = differences(lambda x: of_argument(x, m), x)
    gradient = s2s.grad(of_argument)
    np.testing.assert_allclose(gradient(x, m), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(gradient(x, A), differences(lambda x: of_argument(x, A), x), rtol=1e-6, atol=1e-6)


def test_what_is_compiled_refuses_such_an_operand(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    x = np.array([0.3, -0.7, 1.1])

    def known(x):
        return np.sum(np.asarray(MATRIX * np.outer(x, x)))

    def unknown(x):
        return np.sum(x * (SPARSE + 2.0 * SPARSE))

    def given(x, m):
        return np.sum(m @ x)

    masked = (np.ma.array(A),)
    for fn, args, name in ((known, (), "matrix"), (unknown, (), "csr_matrix"), (given, masked, "MaskedArray")):
        with pytest.raises(NoDerivativeError, match=f"the class `{name}` has operators"):
            s2s.grad(fn)(x, *args)


def test_arrays_of_unknown_kind_and_of_plain_subclasses_are_compiled(monkeypatch, tmp_path):
    monkeypatch.setenv("S2S_RECORDED", "0")
    mapped = np.memmap(tmp_path / "numbers", dtype=float, mode="w+", shape=3)
    mapped[:] = [1.0, 2.0, 3.0]

    def fn(x):
        return np.sum((mapped * x) ** 2 + KEPT.copy().pop("weights") * x)

    x = np.array([0.3, -0.7, 1.1])
    np.testing.assert_allclose(s2s.grad(fn)(x), differences(fn, x), rtol=1e-6)


class Squared:
    """A number that functions of NumPy take for its square."""

    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.value, dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        given = [i.value**2 if isinstance(i, Squared) else i for i in inputs]
        return getattr(ufunc, method)(*given, **kwargs)


FOUND = Squared(3.0)


def times_one_from_outside(x):
    return np.multiply(x, FOUND)


def times_one_in_a_list(x):
    return np.multiply(x, [FOUND][0]) + x * x


def times_its_own(x):
    return np.multiply(x, Squared(x + 1.0))


@pytest.mark.parametrize("program", [
    times_one_from_outside, times_one_in_a_list, times_its_own,
], ids=lambda f: f.__name__)
def test_objects_that_numpy_asks_what_its_functions_are(program, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    expected = (program(0.4 + 1e-6) - program(0.4 - 1e-6)) / 2e-6
    assert s2s.grad(program)(0.4) == pytest.approx(expected, rel=1e-6)
    assert s2s.jvp(program, (0.4,), (1.0,))[1] == pytest.approx(expected, rel=1e-6)
