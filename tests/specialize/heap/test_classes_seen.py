"""What code that asks for the class of an object sees where the compiler has another one in its place."""

import numpy as np
import pytest
from scipy import sparse
from scipy.interpolate import CubicSpline, PPoly

import s2s
from s2s.errors import NoDerivativeError

PLACES = ([0, 0, 1, 1], [0, 1, 0, 1])
X = np.array([0.3, 0.7, 0.4, 0.1])


def asked_by_isinstance(x):
    m = sparse.csr_matrix((x, PLACES), shape=(2, 2))
    if isinstance(m, sparse.spmatrix) and not isinstance(m, (sparse.coo_matrix, sparse.sparray, np.ndarray)):
        return (m @ x[:2]).sum()
    return x.sum()


def asked_by_type(x):
    m = sparse.csr_matrix((x, PLACES), shape=(2, 2))
    if type(m) not in {sparse.csr_matrix, sparse.csc_matrix, np.ndarray}:
        raise TypeError(f"the form of {m} is not known")
    return (m @ x[:2]).sum()


def asked_by_class(x):
    m = sparse.csr_array((x, PLACES), shape=(2, 2)).tocsc()
    if m.T.__class__ is sparse.csr_array and type(m) is sparse.csc_array:
        return (m @ x[:2]).sum()
    return x.sum()


@pytest.mark.parametrize("fn", [asked_by_isinstance, asked_by_type, asked_by_class])
def test_a_sparse_matrix_has_the_class_of_its_form(fn):
    expected = [(fn(X + 1e-6 * e) - fn(X - 1e-6 * e)) / 2e-6 for e in np.eye(4)]
    np.testing.assert_allclose(s2s.grad(fn)(X), expected, rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(fn)(X), expected, rtol=1e-7)


def test_an_object_that_does_not_say_what_it_stands_for_is_not_asked():
    def fn(x):
        spline = CubicSpline(np.arange(4.0), x)
        return spline(1.3) if isinstance(spline, PPoly) else x.sum()

    with pytest.raises(NoDerivativeError, match="`isinstance` has no derivative: the class of this object"):
        s2s.grad(fn)(X)
