"""Derivatives through decompositions of matrices with equal eigenvalues or singular values."""

import numpy as np
import pytest
import scipy.linalg

import s2s

WEIGHTS = np.array([[1.0, 0.2, 0.3], [0.2, 0.5, -0.1], [0.3, -0.1, 2.0]])
TURN = np.linalg.qr(np.array([[1.0, 0.2, 0.3], [0.7, 0.5, -0.1], [0.3, 0.4, 2.0]]))[0]
TWO_EQUAL = TURN @ np.diag([2.0, 2.0, 5.0]) @ TURN.T
TWO_EQUAL = 0.5 * (TWO_EQUAL + TWO_EQUAL.T)
ALL_EQUAL = 4.0 * np.eye(3)
STEP = np.array([[0.3, -0.2, 0.5], [0.1, 0.4, 0.9], [-0.6, 0.2, 0.7]])


def function_of_matrix(a):
    w, v = np.linalg.eigh(a)
    return np.sum((v @ np.diag(np.log(w)) @ v.T) * WEIGHTS)


def function_of_eigenvalues(a):
    return np.sum(np.linalg.eigvalsh(a) ** 1.5)


def trace_by_vectors(a):
    w, v = np.linalg.eigh(a)
    return np.trace(v @ np.diag(w**1.5) @ v.T)


def projection(a):
    v = np.linalg.eigh(a)[1]
    return np.sum((v[:, :2] @ v[:, :2].T) * WEIGHTS)


def by_scipy(a):
    w, v = scipy.linalg.eigh(a)
    return np.sum((v * np.exp(0.1 * w)) @ v.T * WEIGHTS)


def log_strain(f):
    w, v = np.linalg.eigh(f.T @ f)
    strain = (v * (0.5 * np.log(w))) @ v.T
    return np.sum(strain * strain) + strain[0, 1]


def put_together_again(a):
    u, s, vh = np.linalg.svd(a)
    return np.sum((u @ np.diag(s) @ vh) * STEP)


def squares_of_singular_values(a):
    u, s, vh = np.linalg.svd(a)
    return np.sum((u @ np.diag(s**2) @ vh) * STEP)


def rotation(a):
    u, _, vh = np.linalg.svd(a)
    return np.sum((u @ vh) * STEP)


def polar(a):
    return np.sum(scipy.linalg.polar(a)[0] * STEP)


def nuclear_norm(a):
    return np.linalg.norm(a, "nuc") + np.sum(np.linalg.svd(a, compute_uv=False) ** 2)


def general(a):
    w, v = np.linalg.eig(a)
    return np.sum((v @ np.diag(w**2) @ np.linalg.inv(v)).real * STEP)


SYMMETRIC = [function_of_matrix, function_of_eigenvalues, trace_by_vectors, by_scipy]
ANY = [log_strain, put_together_again, squares_of_singular_values, rotation, polar, nuclear_norm]
CASES = [
    *[(f, a, True) for f in SYMMETRIC for a in (TWO_EQUAL, ALL_EQUAL)], (projection, TWO_EQUAL, True),
    *[(f, a, False) for f in ANY for a in (TWO_EQUAL, ALL_EQUAL)], (general, TWO_EQUAL, False),
]
NAMES = [f"{f.__name__}-{'all' if a is ALL_EQUAL else 'two'}" for f, a, _ in CASES]
MODES = {
    "grad": lambda f, a: s2s.grad(f)(a),
    "jacfwd": lambda f, a: s2s.jacfwd(f)(a),
    "vjp": lambda f, a: s2s.vjp(f, a)[1](1.0)[0],
    "jvp": lambda f, a: s2s.jvp(f, (a,), (STEP,))[1],
}


def _along(f, a, direction):
    """The derivative along a direction, by differences extrapolated to fourth order."""
    def quotient(h):
        return (f(a + h * direction) - f(a - h * direction)) / (2.0 * h)

    return (4.0 * quotient(1e-3) - quotient(2e-3)) / 3.0


def _differences(f, a, is_symmetric):
    """The gradient by differences; of a function that reads one triangle that along symmetric changes."""
    made = np.zeros_like(a)
    for i in range(3):
        for j in range(3):
            unit = np.zeros_like(a)
            unit[i, j] = 1.0
            made[i, j] = _along(f, a, 0.5 * (unit + unit.T) if is_symmetric else unit)
    return made


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f, a, is_symmetric", CASES, ids=NAMES)
def test_functions_that_take_equal_ones_alike(f, a, is_symmetric, mode, recwarn):
    found, expected = MODES[mode](f, a.copy()), _differences(f, a, is_symmetric)
    expected = np.sum(expected * STEP) if mode == "jvp" else expected
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    assert not [w for w in recwarn if issubclass(w.category, RuntimeWarning)]


@pytest.mark.parametrize("mode", MODES)
def test_general_matrix_with_equal_eigenvalues_only(mode):
    """Beside it there are matrices without as many eigenvectors, which differences would meet."""
    expected = ALL_EQUAL.T @ STEP + STEP @ ALL_EQUAL.T
    expected = np.sum(expected * STEP) if mode == "jvp" else expected
    np.testing.assert_allclose(MODES[mode](general, ALL_EQUAL.copy()), expected, rtol=1e-6, atol=1e-7)


def cubes_by_values(a):
    return np.sum(np.linalg.eigvalsh(a) ** 3)


def cubes_by_vectors(a):
    w, v = np.linalg.eigh(a)
    return np.trace((v * w**3) @ v.T)


def cubes(a):
    a = 0.5 * (a + a.T)
    return np.trace(a @ a @ a)


def again(a):
    u, s, vh = np.linalg.svd(a)
    made = u @ np.diag(s) @ vh
    return np.sum(made * made * STEP)


def squares(a):
    return np.sum(a * a * STEP)


SECOND = {
    "hessian": lambda f, a: s2s.hessian(f)(a),
    "reverse_over_reverse": lambda f, a: s2s.jacrev(s2s.grad(f))(a),
    "forward_over_forward": lambda f, a: s2s.jacfwd(s2s.jacfwd(f))(a),
}


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("a", [TWO_EQUAL, ALL_EQUAL], ids=["two", "all"])
@pytest.mark.parametrize(
    "f, same, mode",
    [
        *[(f, cubes, mode) for f in (cubes_by_values, cubes_by_vectors) for mode in SECOND],
        (again, squares, "hessian"), (again, squares, "reverse_over_reverse"),
    ],
)
def test_second_derivatives(f, same, a, mode):
    """Against those of the same function without a decomposition."""
    np.testing.assert_allclose(SECOND[mode](f, a), s2s.hessian(same)(a), rtol=1e-6, atol=1e-6)


def one_eigenvalue(a):
    return np.linalg.eigvalsh(a)[0]


def one_singular_value(a):
    return np.linalg.svd(a, compute_uv=False)[-1]


def one_eigenvector(a):
    """Of all components, as LAPACK may choose a vector with a single one that is zero: there the square has slope 0."""
    return np.dot(np.array([1.0, 2.0, 3.0]), np.linalg.eigh(a)[1][:, 0]) ** 2


def one_vector_of_any_matrix(a):
    w, v = np.linalg.eig(a)
    return np.dot(np.array([1.0, 2.0, 3.0]), v[:, np.argmin(w.real)].real) ** 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "f, name",
    [
        (one_eigenvalue, "eigvalsh"), (one_singular_value, "svd"), (one_eigenvector, "eigh"),
        (one_vector_of_any_matrix, "eig"),
    ])
def test_one_of_equal_ones_has_no_derivative(f, name, mode):
    with pytest.warns(RuntimeWarning, match=rf"\b{name} has equal eigenvalues or singular values"):
        found = MODES[mode](f, TWO_EQUAL.copy())
    assert np.isnan(found).any() == (name in ("eigh", "eig"))


def one_vector_of_a_null_space(a):
    return np.linalg.svd(a[:, :2], full_matrices=False)[0][0, 1]


@pytest.mark.parametrize("mode", MODES)
def test_a_vector_of_a_null_space_has_no_derivative(mode):
    """No two singular values are equal: that of the vector is zero, and beside there are derivatives, without limit."""
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning, match=r"\bsvd has equal .* singular values"):
        found = MODES[mode](one_vector_of_a_null_space, np.diag([2.0, 0.0, 0.0]))
    assert np.isnan(found).any()


@pytest.mark.parametrize("mode", MODES)
def test_nothing_is_said_of_eigenvalues_where_the_function_is_not_defined(mode, recwarn):
    def f(a):
        return np.sqrt(np.linalg.eigvalsh(a)[0] - 2.0)

    with np.errstate(all="ignore"):
        assert np.isnan(MODES[mode](f, np.diag([1.0, 3.0, 4.0]))).all()
    assert not recwarn.list


def of_a_product_of_matrices(p):
    """Its eigenvalues are pairs that are equal for every parameter."""
    w, v = np.linalg.eigh(np.kron(np.array([[2.0 + p, 0.3 * p], [0.3 * p, 2.0 - p]]), np.eye(2)))
    return np.sum(v @ np.diag(np.exp(w)) @ v.T * np.arange(16.0).reshape(4, 4))


def of_a_diagonal(p):
    w, v = scipy.linalg.eigh(np.diag(np.array([p, p, 2.0 * p])))
    return np.sum((v * w**2) @ v.T * np.arange(9.0).reshape(3, 3))


@pytest.mark.parametrize("f", [of_a_product_of_matrices, of_a_diagonal])
def test_what_stays_equal_has_a_tangent(f):
    expected = (f(0.7 + 1e-5) - f(0.7 - 1e-5)) / 2e-5
    assert s2s.jvp(f, (0.7,), (1.0,))[1] == pytest.approx(expected, rel=1e-7)
