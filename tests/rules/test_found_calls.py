"""Calls that were wrong, refused without a reason or ended in a foreign error, as the generator of calls found them."""

import math
import statistics
import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.ndimage
from scipy import stats

import s2s
from s2s.errors import NoDerivativeError
from tests.helpers import check

RNG = np.random.default_rng(4)
X, V = RNG.uniform(0.5, 1.5, (2, 3)), RNG.uniform(0.5, 1.5, 7)
Z = np.array([1.0 + 1.0j, 2.0 + 0.3j, 3.0 - 0.2j])


class Plain(np.ndarray):
    """A subclass that changes nothing."""


# --- what a library makes of its arguments --------------------------------------------------------------------------


@pytest.mark.parametrize("f", [math.lgamma, math.gamma, math.erf])
def test_an_array_of_rank_0_stays_as_it_is(f):
    x = np.array(2.7)
    first = s2s.grad(lambda x: f(x) ** 2)
    assert s2s.grad(first)(x) == pytest.approx(s2s.grad(first)(2.7), rel=1e-12)
    assert x == 2.7


@pytest.mark.parametrize("f", [
    lambda z: math.dist(z, [0.0, 1.0, 0.0]), lambda z: math.dist([z[0], z[1]], [0.0, 0.5]), lambda z: math.log(z[0]),
    lambda z: math.hypot(*z), statistics.geometric_mean,
])  # fmt: skip
def test_functions_of_floats_take_the_real_parts_of_complex_numbers(f):
    d = np.array([1.0, 0.3j, 0.2 + 0.5j])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = (f(Z + 1e-6 * d) - f(Z - 1e-6 * d)) / 2e-6
        assert np.real(np.sum(s2s.grad(f)(Z) * d)) == pytest.approx(expected, rel=1e-8)
        assert s2s.jvp(f, (Z,), (d,))[1] == pytest.approx(expected, rel=1e-8)


def conditions_of_rows(x):
    return np.sum(x[0] * np.piecewise(x, [np.array([True, False])], [np.exp, np.sin]))


def test_conditions_of_piecewise_are_of_the_first_axes():
    check(conditions_of_rows, (X,))
    check(lambda x: np.sum(np.piecewise(x, [np.array([True, False])], [np.exp, np.sin])), (RNG.uniform(size=(2, 2)),))


@pytest.mark.parametrize("f", [
    lambda a: np.matmul(a, a, dtype=int, casting="unsafe"), lambda a: np.clip(a, 0, 1, dtype=int, casting="unsafe"),
    lambda a: np.einsum("ij,ij->i", a, a, dtype=int, casting="unsafe"),
])  # fmt: skip
def test_conversions_to_integers_are_refused_in_both_modes(f):
    a = RNG.uniform(size=(3, 3))
    for call in (lambda: s2s.grad(lambda a: np.sum(f(a) * 1.0))(a), lambda: s2s.jvp(f, (a,), (a,))):
        with pytest.raises(NoDerivativeError, match="converts differentiated numbers to integers"):
            call()


def test_values_keep_their_dtype():
    x = X.astype(np.float32)
    out, tangent = s2s.jvp(lambda x: scipy.ndimage.shift(x, 0.3, order=1), (x,), (x,))
    assert out.dtype == tangent.dtype == np.float32
    np.testing.assert_array_equal(out, scipy.ndimage.shift(x, 0.3, order=1))


def summed_by_its_method(x):
    return np.sum(x.sum(axis=0) ** 2)


def test_methods_of_subclasses_under_a_policy():
    found = s2s.grad(s2s.differentiable(summed_by_its_method, nonsmooth="zero"))(X.view(Plain))
    np.testing.assert_allclose(found, 2.0 * np.broadcast_to(X.sum(axis=0), X.shape))


@pytest.mark.parametrize("f", [
    lambda v: np.append(v, True), lambda v: np.insert(v, 1, True), lambda v: np.diff(v, prepend=True),
    lambda v: np.concatenate([v, np.array([True, False])]), lambda v: np.select([v > 1.0], [v], True),
    lambda v: np.block([v, np.array([True])]), lambda v: np.stack([v, v > 1.0]),
])  # fmt: skip
def test_booleans_beside_numbers_stand_still(f):
    x, d = np.array([0.6, 1.2, 1.4]), np.array([1.0, -2.0, 0.5])
    expected = (f(x + 1e-6 * d) - f(x - 1e-6 * d)) / 2e-6
    np.testing.assert_allclose(s2s.jvp(f, (x,), (d,))[1], expected, atol=1e-8)
    np.testing.assert_allclose(s2s.jacrev(f)(x) @ d, expected, atol=1e-8)


def test_tangents_of_eigenvectors_keep_their_dtype():
    a = RNG.uniform(size=(3, 3)).astype(np.float32)
    out, tangent = s2s.jvp(np.linalg.eig, (a,), (a,))
    assert [part.dtype for part in tangent] == [part.dtype for part in out]


# --- stacks of matrices ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [
    pytest.param(scipy.linalg.sinm, marks=pytest.mark.slow), scipy.linalg.polar,
    pytest.param(lambda a: scipy.linalg.solve_discrete_are(a, a, a @ a.mT, a @ a.mT), marks=pytest.mark.slow),
])  # fmt: skip
def test_stacks_of_matrices_are_right_or_refused(f):
    a = RNG.uniform(size=(2, 3, 3)) + np.eye(3)
    try:
        check(lambda a: np.sum(np.square(f(a)[0])), (a,))
    except NoDerivativeError as error:
        assert "S2S2" in str(error)  # noqa: PT017
    except s2s.errors.UnsupportedSyntaxError:
        pass


def test_the_system_of_a_triangular_matrix_is_known():
    a = np.triu(RNG.uniform(size=(3, 3)))
    with pytest.raises(NoDerivativeError, match="trans= is one of"):
        s2s.grad(lambda a: np.sum(scipy.linalg.solve_triangular(a, V[:3], -1, True)))(a)


# --- what is refused for no reason ----------------------------------------------------------------------------------


def padded(v):
    sides = np.pad(v, (1, 2), constant_values=(v[0], v[1]))
    around = np.pad(np.outer(v, v), ((1, 2), (0, 3)), constant_values=((v[0], 0.5), (v[1], v[2])))
    return np.sum(np.sin(sides)) + np.sum(np.arange(4.0) @ around[:4])


def chained(v):
    return np.linalg.multi_dot([v, np.outer(v, v), v])


@pytest.mark.parametrize("f, x", [
    (lambda x: np.sum(np.linalg.vecdot(np.stack([x.T, x.T**2], -1), x.T, axis=0) ** 2), X),
    (lambda s: np.sum(np.repeat(s, [2], axis=0) ** 2), 1.5),
    (lambda s: np.sum(np.convolve(s, 2.0) ** 2), 1.5), (lambda s: np.sum(np.convolve(s, np.arange(3.0)) ** 2), 1.5),
    (lambda s: np.asfortranarray(s)[0] ** 2, 1.5), (lambda s: np.ascontiguousarray(s)[0] ** 2, 1.5),
    (padded, V), (lambda x: np.sum(np.einsum("ij,ij->i", x, x, dtype=float) ** 2), X), (chained, V[:3]),
    *[(lambda v, policy=policy: stats.skew(v, nan_policy=policy), V) for policy in ("raise", "omit")],
])  # fmt: skip
def test_corners_of_domains(f, x):
    check(f, (x,), argnums=0)
    if isinstance(x, np.ndarray):
        d = np.cos(np.arange(x.size)).reshape(x.shape)
        change = (s2s.grad(f)(x + 1e-5 * d) - s2s.grad(f)(x - 1e-5 * d)) / 2e-5
        np.testing.assert_allclose(s2s.hvp(f, (x,), (d,)), change, rtol=1e-5, atol=1e-6)


def test_nan_is_refused_as_the_function_does():
    v = V.copy()
    v[2] = np.nan
    with pytest.raises(ValueError, match="contains nan"):
        s2s.grad(lambda v: stats.skew(v, nan_policy="raise"))(v)
    with pytest.raises(NoDerivativeError, match="where values are left out"):
        s2s.grad(lambda v: stats.skew(v, nan_policy="omit"))(v)


@pytest.mark.parametrize("jacobian", [s2s.jacfwd, s2s.jacrev])
@pytest.mark.parametrize("f", [lambda x: np.kron(x, V), lambda x: np.stack([x, x]), lambda x: np.asarray_chkfinite(x)])
def test_jacobians_of_nothing_have_their_shape(f, jacobian):
    x = np.ones((2, 0))
    assert jacobian(f)(x).shape == (*np.shape(f(x)), 2, 0)


@pytest.mark.parametrize("mean", [stats.gmean, stats.hmean, lambda v, **options: stats.pmean(v, 2.5, **options)])
def test_means_compute_with_the_dtype_that_is_asked_for(mean):
    value, found = s2s.value_and_grad(lambda v: mean(v, dtype=np.float32))(V)
    assert np.asarray(value).dtype == np.float32
    np.testing.assert_allclose(found, s2s.grad(lambda v: mean(v))(V), rtol=1e-5)
    with pytest.raises(NoDerivativeError, match="integer dtype"):
        s2s.grad(lambda v: mean(v, dtype=int) * 1.0)(V)


@pytest.mark.parametrize("convert", [np.ndarray.astype, np.asarray, np.array])
def test_a_conversion_that_is_chosen_straight_through(convert):
    whole = s2s.nonsmooth("straight_through")(convert)
    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.RecordedWarning)
        found = s2s.grad(lambda x: np.sum((x - whole(x, int)) ** 2))(V)
    np.testing.assert_array_equal(found, np.zeros(V.shape))
