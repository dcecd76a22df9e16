"""Compiled functions that libraries call: gufuncs of NumPy, transforms, LAPACK, BLAS, special functions of numbers."""

import itertools

import numpy as np
import pytest
from numpy.linalg import _umath_linalg as gufuncs
from scipy import fftpack, linalg
from scipy.linalg import blas, lapack
from scipy.special import cython_special

import s2s
from s2s.errors import DifferentiationError, NoDerivativeError
from s2s.rules.scipy import fft_compiled
from tests.helpers import differences

X = np.array([0.3, 0.7, 1.2, 0.9, 1.6, 0.45])
A = np.array([[4.0, 1.0, 0.5], [0.3, 3.0, 0.2], [0.1, 0.4, 5.0]])
B = np.arange(1.0, 10.0).reshape(3, 3)


def matrix(x):
    return np.reshape(np.concatenate([x, x[:3] ** 2]), (3, 3)) * 0.5 + A


def symmetric(x):
    return matrix(x) + matrix(x).T


def solved_by_gufuncs(x):
    first = gufuncs.solve(matrix(x), B, signature="dd->d")
    return np.sum(first**2) + np.sum(gufuncs.solve1(matrix(x), x[:3]) ** 2) + np.sum(gufuncs.inv(matrix(x)) ** 2 * B)


def determinants(x):
    sign, logarithm = gufuncs.slogdet(matrix(x))
    return gufuncs.det(matrix(x)) * 0.01 + sign * logarithm**2


def eigenvalues(x):
    w, v = gufuncs.eigh_lo(symmetric(x))
    u, _ = gufuncs.eigh_up(symmetric(x))
    rest = gufuncs.eigvalsh_lo(symmetric(x))[0] * gufuncs.eigvalsh_up(symmetric(x))[2]
    return np.sum(w**3) + np.sum(v[0] ** 2 * x[:3]) + np.sum(u**2) + rest + np.sum(gufuncs.eigvals(matrix(x)).real ** 3)


def factors(x):
    u, s, _ = gufuncs.svd_s(matrix(x))
    lower, upper = gufuncs.cholesky_lo(symmetric(x)), gufuncs.cholesky_up(symmetric(x))
    return np.sum(s**3) + np.sum(u[:, 0] ** 2 * x[:3]) + np.sum(lower**3) + np.sum(upper**2 * B)


def transforms(x):
    spectrum = np.abs(fftpack.fft(x)) ** 2 * np.arange(6.0)
    back = fftpack.ifft(fftpack.fft(x**2)).real
    return np.sum(spectrum) + np.sum(back**3) + np.sum(fftpack.dct(x, norm="ortho") ** 2 * np.arange(6.0))


def sines(x):
    return np.sum(fftpack.idst(x) ** 2 * np.arange(6.0)) + np.sum(fftpack.dct(x, 3) ** 3)


def packed(x):
    odd, rows = fftpack.rfft(x[:5]), fftpack.rfft(np.reshape(x, (2, 3)) ** 2, axis=0)
    back = fftpack.irfft(x) * x
    return np.sum(odd**2 * np.arange(5.0)) + np.sum(rows**3) + np.sum(back**2) + np.sum(fftpack.irfft(x[:5]) ** 3)


def solved_by_lapack(x):
    factor, info = lapack.dpotrf(symmetric(x), lower=1)
    if info != 0:
        return 0.0 * x[0]
    solution, _ = lapack.dpotrs(factor, B, lower=1)
    half, _ = lapack.dtrtrs(factor, x[:3], lower=1)
    inverse, _ = lapack.dpotri(factor, lower=1)
    upper, _ = lapack.dpotrf(symmetric(x))
    _, _, general, _ = lapack.dgesv(matrix(x), B)
    return np.sum(solution**2) + np.sum(half**2) + np.sum(np.tril(inverse) * B) + np.sum(upper**3) + np.sum(general**2)


def products_of_blas(x):
    m = matrix(x)
    made = blas.dgemm(2.0, m, m.T, beta=0.5, c=m, trans_a=1)
    other = blas.dtrsm(1.5, np.tril(m), B, lower=1) + blas.dtrsm(1.0, np.triu(m), B, side=1)
    return np.sum(made**2 * B) + blas.ddot(x, x**2) + blas.dnrm2(x) + np.sum(blas.dgemv(1.0, m, x[:3]) ** 2 * other[0])


def chosen_by_type(x):
    (gesv,) = linalg.get_lapack_funcs(("gesv",), (matrix(x), B))
    return np.sum(gesv(matrix(x), B)[2] ** 2)


def numbers(x):
    return cython_special.gamma(x[0]) + cython_special.erf(x[1]) * cython_special.j0(x[2]) + cython_special.ndtr(x[3])


PROGRAMS = [
    solved_by_gufuncs, determinants, eigenvalues, factors, transforms, sines, packed, solved_by_lapack,
    products_of_blas, chosen_by_type, numbers,
]


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("f", PROGRAMS)
def test_first_order(f):
    wanted = differences(f, X)
    value, gradient = s2s.value_and_grad(f)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(s2s.jvp(f, (X,), (np.cos(X),))[1], wanted @ np.cos(X), rtol=1e-6)


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("f", [f for f in PROGRAMS if f is not chosen_by_type])
def test_second_order(f):
    gradient, v = s2s.grad(f), np.cos(np.arange(6.0))
    wanted = differences(lambda t: float(np.sum(v * gradient(X + t * v))), 0.0)
    np.testing.assert_allclose(np.sum(v * s2s.jvp(gradient, (X,), (v,))[1]), wanted, rtol=1e-6)


def results_in_arguments(x):
    """What BLAS and LAPACK leave in arrays that may be overwritten, as updates of rank one are written."""
    a = np.array(A, order="F")
    blas.dger(x[3], x[:3], x[1:4], a=a, overwrite_a=1)
    c = np.array(B, order="F")
    blas.dgemm(0.3, a, a, beta=x[0], c=c, overwrite_c=1)
    right, row_wise = x[:3] * 1.0, B * 1.0
    lapack.dtrtrs(a, right, overwrite_b=1)
    blas.dgemv(1.0, a, x[:3], y=right, beta=0.5, overwrite_y=1)
    blas.dgemm(x[5], a, a, c=row_wise, overwrite_c=1)  # in C order it is copied, and stays
    return np.sum(a**2) + np.sum(c**2 * B) + np.sum(right**3) + np.sum(row_wise * a)


def test_results_that_stay_in_arguments(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    test_first_order(results_in_arguments)


def test_a_matrix_without_a_factor_is_told_by_its_info():
    def f(a):
        factor, info = lapack.dpotrf(a, lower=1)
        return np.sum(factor) if info == 0 else np.sum(a**2)

    a = np.array([[1.0, 2.0], [2.0, 1.0]])
    np.testing.assert_allclose(s2s.grad(f)(a), 2.0 * a)


@pytest.mark.filterwarnings("ignore::s2s.ZeroGradientWarning")
@pytest.mark.parametrize("call", [
    lambda x, y: blas.dgemv(1.0, A[:, :2], x, y=y, offx=1), lambda x, y: blas.dgemv(1.0, A[:, :2], x, y=y, incx=2),
    lambda x, y: blas.dgemv(1.0, A[:, :2], x, y=y, offy=1), lambda x, y: blas.dgemv(1.0, A[:, :2], x, y=y, incy=2),
    lambda x, y: blas.dger(1.0, x, y, incx=-1), lambda x, y: blas.dger(1.0, x, y, incy=-1),
], ids=["offx", "incx", "offy", "incy", "dger incx", "dger incy"])
def test_vectors_that_are_not_taken_whole_are_refused(call):
    x, y = np.arange(4.0) + 1.0, np.ones(6)
    call(x, y.copy())  # which SciPy takes
    for argnums in (0, 1):
        with pytest.raises(DifferentiationError, match="it has a rule for vectors that are taken whole"):
            s2s.grad(lambda x, y: np.sum(call(x, y)), argnums)(x, y)


def test_a_keyword_of_a_function_that_tells_no_parameters_is_refused():
    with pytest.raises(DifferentiationError, match="daxpy"):
        s2s.grad(lambda x: np.sum(blas.daxpy(x, x.copy(), a=2.0)))(X)


AXES = [None, (0,), (1,), (-1,), (0, 1), (1, 0), (0, 2)]
NORMS = [0, 1, 2]
WAVES = [((kind, axes, norm), {"ortho": ortho}) for kind, axes, norm, ortho in itertools.product(
    (1, 2, 3, 4), AXES, NORMS, (None, False, True))]
COMPLEX = [((axes, forward, norm), {}) for axes, forward, norm in itertools.product(AXES, (True, False), NORMS)]


def to_real():
    """Options of c2r: the last axis of a spectrum is the shorter half of an even or of an odd length, or any."""
    for axes, forward, norm in itertools.product(AXES, (True, False), NORMS):
        half = (2, 3, 4)[(axes or (2,))[-1]]
        for length in (0, 2 * half - 2, 2 * half - 1):
            yield (axes, length, forward, norm), {}


PACKED = [((axes, way, way, norm), {}) for axes, way, norm in itertools.product(AXES[1:4], (True, False), NORMS)]


@pytest.mark.parametrize("name, is_complex, options", [
    ("c2c", True, COMPLEX), ("c2c", False, COMPLEX), ("r2c", False, COMPLEX), ("c2r", True, [*to_real()]),
    ("dct", False, WAVES), ("dst", False, WAVES), ("r2r_fftpack", False, PACKED),
])
def test_bodies_of_transforms_give_what_these_give(name, is_complex, options):
    a = np.sin(np.arange(24.0) ** 2).reshape(2, 3, 4) + (1.0j * np.cos(np.arange(24.0).reshape(2, 3, 4)) if is_complex
                                                         else 0.0)
    for args, kwargs in options:
        found = getattr(fft_compiled, name)(a, *args, **kwargs)
        wanted = getattr(fft_compiled._module, name)(a, *args, **kwargs)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12, err_msg=f"{name}{args} {kwargs}")


REFUSED = [
    ("r2r_fftpack", (None, True, True), {}, "one axis"), ("r2r_fftpack", ((0, 1), True, True), {}, "one axis"),
    ("r2r_fftpack", ((0,), True, False), {}, "one axis"), ("r2r_fftpack", ((0,), False, True), {}, "one axis"),
    ("dct", (2, (0,), 1), {"ortho": False}, "orthogonalize"), ("dct", (2, (0,), 0), {"ortho": True}, "orthogonalize"),
    ("dst", (2, (0,), 1), {"ortho": False}, "orthogonalize"), ("dst", (2, (0,), 0), {"ortho": True}, "orthogonalize"),
]


@pytest.mark.parametrize("name, args, kwargs, why", REFUSED)
@pytest.mark.filterwarnings("ignore::s2s.ZeroGradientWarning")
def test_options_of_transforms_without_a_rule_are_refused(name, args, kwargs, why):
    transform = getattr(fft_compiled._module, name)
    with pytest.raises(NoDerivativeError, match=why):
        s2s.grad(lambda x: np.sum(transform(np.reshape(x, (2, 3)), *args, **kwargs) ** 2))(X)


@pytest.mark.parametrize("name", ["c2c", "r2c", "c2r", "dct", "dst", "r2r_fftpack"])
def test_a_transform_into_an_array_has_no_body(name):
    given = {"out": np.zeros(4)} | ({"type": 2} if name in ("dct", "dst") else {})
    given |= {"axes": (0,), "real2hermitian": True, "forward": True} if name == "r2r_fftpack" else {}
    with pytest.raises(NoDerivativeError, match=f"{name}.* without `out`"):
        getattr(fft_compiled, name)(np.ones(4), **given)
