"""Calls of compiled functions without a rule, which are asked what they do with other numbers."""

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError

ppoly = pytest.importorskip("scipy.interpolate._ppoly")
filters = pytest.importorskip("scipy.signal._sosfilt")
sparse = pytest.importorskip("scipy.sparse._sparsetools")
blas = pytest.importorskip("scipy.linalg.blas")
stats = pytest.importorskip("scipy.stats")

X = np.array([0.3, 0.7, 1.2, -0.4, 0.9, 2.1])


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Nothing is compiled here, but the derivatives of single functions."""
    monkeypatch.setenv("S2S_RECORDED", "always")


def affine(x):
    """A piecewise polynomial, affine in its coefficients, into an array that the function fills."""
    out = np.empty((4, 1))
    ppoly.evaluate(np.sin(x).reshape(3, 2, 1), np.array([0.0, 1.0, 2.0]), np.array([0.2, 0.9, 1.1, 1.8]), 0, True, out)
    return np.sum(out**2 * np.arange(1.0, 5.0)[:, None])


def filtered(x):
    """A filter that works in place: what it was given is changed, and the state of the filter as well."""
    signal, state = (x * x).reshape(1, -1), np.zeros((1, 1, 2))
    before = np.exp(signal)
    filters._sosfilt(np.array([[0.2, 0.3, 0.1, 1.0, -0.4, 0.2]]), signal, state)
    return np.sum(signal**2) + np.sum(state**3) + np.sum(before)


def moved(x):
    """Two sparse matrices side by side: their entries, and their integers, are copied to where they belong."""
    counts, places = np.array([0, 2, 3], np.int32), np.array([0, 1, 1], np.int32)
    ends, columns, entries = np.empty(3, np.int32), np.empty(6, np.int32), np.empty(6)
    sparse.csr_hstack(2, 2, np.array([2, 2], np.int32), np.tile(counts, 2), np.tile(places, 2), np.exp(x),
                      ends, columns, entries)
    return np.sum(entries**2 * np.arange(1.0, 7.0)) + ends[-1] * columns[-1] * x[0]


CASES = [affine, filtered, moved]


def slopes(f, x=X):
    step = 1e-5
    return np.array([(f(x + step * e) - f(x - step * e)) / (2.0 * step) for e in np.eye(x.size)])


@pytest.mark.parametrize("f", CASES)
def test_both_modes(f):
    wanted = slopes(f)
    np.testing.assert_allclose(s2s.grad(f)(X), wanted, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), wanted, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("f", CASES)
def test_second_order(f):
    wanted = slopes(s2s.grad(f))
    np.testing.assert_allclose(s2s.jacrev(s2s.grad(f))(X), wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(s2s.grad(f))(X), wanted, rtol=1e-6, atol=1e-7)


def test_several_arrays():
    numba = pytest.importorskip("numba")

    @numba.guvectorize(["void(f8[:], f8[:], f8[:])"], "(n),(n)->(n)", nopython=True)
    def product(a, b, out):
        out[0] = a[0] * b[0] - a[1] * b[1]
        out[1] = a[0] * b[1] + a[1] * b[0]

    compiled = product.ufunc

    def f(x):
        z = compiled(x.reshape(3, 2), np.sin(x).reshape(3, 2))
        return np.sum(z**2 * np.arange(1.0, 7.0).reshape(3, 2))

    np.testing.assert_allclose(s2s.grad(f)(X), slopes(f), rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), slopes(f), rtol=1e-7)
    with pytest.raises(NoDerivativeError):  # its slopes by one depend on the other
        s2s.hessian(f)(X)


def test_a_function_that_is_not_affine_is_refused():
    def f(x):
        out = np.empty((6, 1))
        ppoly.evaluate(np.arange(6.0).reshape(3, 2, 1), np.array([-1.0, 1.0, 3.0]), 1.0 * x, 0, True, out)
        return np.sum(out)

    with pytest.raises(NoDerivativeError, match="S2S201"):
        s2s.grad(f)(X)


@pytest.mark.slow
def test_a_function_that_chooses_by_the_order_of_the_numbers():
    numba = pytest.importorskip("numba")

    @numba.guvectorize(["void(f8[:], f8[:])"], "(n)->(n)", nopython=True)
    def ordered(a, out):
        out[:] = np.sort(a)

    compiled = ordered.ufunc

    test_both_modes(lambda x: np.sum(compiled(np.sin(x)) * np.arange(6.0)))


def unseen(function):
    """A function as one of compiled code: nothing in it is watched."""
    return staticmethod(function)


@unseen
def least(values, k):
    values.sort()  # its argument, as such functions do
    return values[k]


@unseen
def ranks(values):
    return np.argsort(np.argsort(values)) + 1.0


@unseen
def moving_mean(values, width):
    sums = np.convolve(values, np.ones(width) / width)[: values.size]
    sums[: width - 1] = np.nan
    return sums


@unseen
def copied(values, *, out):
    out[...] = 2.0 * values


@unseen
def levels(values):
    return np.floor(2.0 * values)


def by_order(x):
    """The least numbers, found in a copy that is put in order on the way: which they are depends on the order alone."""
    return least(np.sin(x), 1) * least(x * x, 4)


def by_ranks(x):
    return np.sum(ranks(np.exp(x)) * x**2)


def by_levels(x):
    """Numbers that are the same near the arguments, and others further away."""
    return np.sum(levels(np.sin(x)) * x**2)


def with_a_start(x):
    means = moving_mean(x * x, 3)
    return np.sum(np.where(np.isnan(means), x, means**2))


def into_what_is_there(x):
    """An array that holds what it is filled with, as memory that is taken again may."""
    out = 2.0 * X
    copied(x, out=out)
    return np.sum(out**2)


@pytest.mark.parametrize("f", [by_order, by_ranks, by_levels, with_a_start, into_what_is_there])
def test_what_is_found_near_the_arguments(f):
    test_both_modes(f)


@unseen
def bent(values):
    return np.exp(values)


def test_what_bends_is_refused():
    with pytest.raises(NoDerivativeError, match="S2S201"):
        s2s.grad(lambda x: np.sum(bent(x)))(X)


def of_degree_three(x):
    """A piece of a cubic polynomial at places, which the function reads, into an array that it fills."""
    out = np.empty((3, 1))
    cubic = np.array([0.7, -1.1, 0.4, 2.0]).reshape(4, 1, 1)
    ppoly.evaluate(cubic, np.array([0.0, 1.0]), np.sin(x[:3]), 0, True, out)
    return np.sum(out**2 * x[3:, None])


def test_polynomials():
    wanted = slopes(of_degree_three)
    np.testing.assert_allclose(s2s.grad(of_degree_three)(X), wanted, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(s2s.jacfwd(of_degree_three)(X), wanted, rtol=1e-7, atol=1e-8)
    with pytest.raises(NoDerivativeError):
        s2s.hessian(of_degree_three)(X)


def of_two_pieces(x):
    out = np.empty((3, 1))
    cubic = np.array([0.7, -1.1, 0.4, 2.0, 0.3, 0.1]).reshape(3, 2, 1)
    ppoly.evaluate(cubic, np.array([0.0, 0.8, 1.0]), np.sin(x[:3]), 0, True, out)
    return np.sum(out**2)


def test_piecewise_polynomials_are_refused():
    with pytest.raises(NoDerivativeError):
        s2s.grad(of_two_pieces)(X)


def scaled(x):
    """A number and an array; the array is changed and given back, and scaled by one."""
    values = x * x
    same = blas.dscal(x[2] / 1.2, values)
    return np.sum(same**2 * np.arange(1.0, 7.0)) + blas.daxpy(np.sin(x), np.exp(values), a=x[1])[3] ** 2


def test_numbers_and_arrays_that_are_given_back():
    test_both_modes(scaled)


def test_results_with_more_than_their_items():
    def f(x):
        line = stats.linregress(X**2, x)
        return line.slope * line.intercept + line.stderr + line.intercept_stderr

    test_both_modes(f)
