"""Second derivatives where a first one is chosen: at a norm of zero, an absolute value of zero, a tie."""

import math
import types
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import s2s
from s2s.dispatch.chosen_points import _is_symmetric, _Limit, _Points

EYE = np.eye(2)
ORIGIN, TIE = np.zeros(2), np.ones(2)


def _root(x):
    return np.sqrt(x[0] ** 2 + x[1] ** 2) ** 2


def _gaussian(x):
    d = np.linalg.norm(x / 0.5)
    return np.exp(-d * d)


SMOOTH = {
    "norm": (lambda x: np.linalg.norm(x) ** 2, ORIGIN, 2.0 * EYE),
    "norm_product": (lambda x: np.linalg.norm(x) * np.linalg.norm(x), ORIGIN, 2.0 * EYE),
    "norm_cubed": (lambda x: np.linalg.norm(x) ** 3, ORIGIN, 0.0 * EYE),
    "gaussian": (_gaussian, ORIGIN, -8.0 * EYE),
    "frobenius": (lambda x: np.linalg.norm(x[None], "fro") ** 2, ORIGIN, 2.0 * EYE),
    "root": (_root, ORIGIN, 2.0 * EYE),
    "hypot": (lambda x: np.hypot(x[0], x[1]) ** 2, ORIGIN, 2.0 * EYE),
    "math_hypot": (lambda x: math.hypot(x[0], x[1]) ** 2, ORIGIN, 2.0 * EYE),
    "dist": (lambda x: math.dist(x, [0.0, 0.0]) ** 2, ORIGIN, 2.0 * EYE),
    "complex": (lambda x: np.abs(x[0] + 1j * x[1]) ** 2, ORIGIN, 2.0 * EYE),
    "abs": (lambda x: np.sum(np.abs(x) ** 2), ORIGIN, 2.0 * EYE),
    "abs_of_one": (lambda x: abs(x[0]) ** 2 + np.cosh(abs(x[1])), ORIGIN, np.diag([2.0, 1.0])),
    "std": (lambda x: np.std(x) ** 2 + np.mean(x) ** 2, ORIGIN, EYE),
    "cdist": (lambda x: cdist(x[None], np.zeros((1, 2)))[0, 0] ** 2, ORIGIN, 2.0 * EYE),
    "maximum": (lambda x: np.maximum(x[0], x[1]) ** 2 + np.minimum(x[0], x[1]) ** 2, TIE, 2.0 * EYE),
    "product": (lambda x: np.max(x) * np.min(x), TIE, np.array([[0.0, 1.0], [1.0, 0.0]])),
    "clip": (lambda x: np.sum(np.clip(x, 1.0, None) ** 2 + np.clip(x, None, 1.0) ** 2), TIE, 2.0 * EYE),
}
KINKS = {
    "norm": (lambda x: np.linalg.norm(x), ORIGIN),
    "abs": (lambda x: np.sum(np.abs(x)), ORIGIN),
    "square_with_sign": (lambda x: np.sum(x * np.abs(x)), ORIGIN),
    "half_parabola": (lambda x: np.sum(np.maximum(x, 0.0) ** 2), ORIGIN),
    "largest": (lambda x: np.max(x), TIE),
}
MODES = {
    "hessian": lambda f, x: s2s.hessian(f)(x),
    "reverse_over_reverse": lambda f, x: s2s.jacrev(s2s.grad(f))(x),
    "forward_over_reverse": lambda f, x: s2s.jacfwd(s2s.grad(f))(x),
    "reverse_over_forward": lambda f, x: s2s.jacrev(s2s.jacfwd(f))(x),
    "forward_over_forward": lambda f, x: s2s.jacfwd(s2s.jacfwd(f))(x),
    "products": lambda f, x: np.stack([s2s.hvp(f)(x, v) for v in np.eye(len(x))]),
    "products_in_reverse": lambda f, x: np.stack([s2s.vhp(f, (x,), (v,)) for v in np.eye(len(x))]),
}


def _second(mode, f, x):
    with np.errstate(all="ignore"):
        return MODES[mode](f, x.copy())


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SMOOTH)
def test_second_derivatives_of_smooth_functions_are_the_limit(name, mode):
    f, x, expected = SMOOTH[name]
    np.testing.assert_allclose(_second(mode, f, x), expected, atol=1e-8)


@pytest.mark.grid(0.6)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", KINKS)
def test_second_derivatives_at_kinks_are_nan_with_a_warning(name, mode):
    f, x = KINKS[name]
    with pytest.warns(RuntimeWarning, match="is NaN: the point is one where a first derivative is chosen"):
        found = _second(mode, f, x)
    assert np.isnan(np.diag(found)).all()


@pytest.mark.parametrize("scale", [1e-4, 1e4])
@pytest.mark.parametrize("name", ["gaussian", "abs_of_one", "product"])
def test_limits_scale_with_the_function(name, scale):
    f, x, expected = SMOOTH[name]
    np.testing.assert_allclose(_second("hessian", lambda x: scale * f(x), x), scale * expected, atol=1e-8 * scale)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
@pytest.mark.parametrize("name", ["square_with_sign", "half_parabola", "largest"])
def test_kinks_of_any_size_have_no_second_derivative(name, scale):
    """Of ``x * abs(x)`` the slopes on both sides are opposite, so that their mean is the one computed between them."""
    f, x = KINKS[name]
    with pytest.warns(RuntimeWarning, match="is NaN: the point is one where a first derivative is chosen"):
        found = _second("hessian", lambda x: scale * f(x), x)
    assert np.isnan(np.diag(found)).all()


def test_mixed_second_derivatives_of_a_kernel_at_one_point():
    def kernel(x, y, length):
        d = np.linalg.norm(x / length - y / length)
        return np.exp(-d * d)

    a, length = np.array([0.4, -1.0, 2.0]), 0.8
    found = s2s.jacfwd(s2s.grad(kernel), argnums=1)(a, a.copy(), length)
    np.testing.assert_allclose(found, 2.0 / length**2 * np.eye(3), rtol=1e-8, atol=1e-8)


def _energy(x):
    points = x.reshape(3, 2)
    return np.sum(np.exp(-cdist(points, points) ** 2))


def _smooth_energy(x):
    apart = x.reshape(3, 1, 2) - x.reshape(1, 3, 2)
    return np.sum(np.exp(-np.sum(apart * apart, axis=-1)))


@pytest.mark.parametrize("x", [np.array([0.0, 1, 0, 1, 2, 0.5]), np.array([0.1, 1, 0, -1, 2, 0.5])])
def test_distances_of_all_pairs(x):
    """The distance of a point to itself is always zero: its chosen slope is right, and no point beside is asked."""
    hessian = s2s.hessian(_energy)
    for _ in range(2):
        np.testing.assert_allclose(hessian(x), s2s.hessian(_smooth_energy)(x), atol=1e-8)


def test_structures_of_arguments():
    def f(p):
        d = np.linalg.norm(p["a"] - p["b"][0])
        return np.exp(-d * d) * p["b"][1]

    found = s2s.hessian(f)({"a": np.array([1.0, 2.0]), "b": (np.array([1.0, 2.0]), 3.0)})
    np.testing.assert_allclose(found["a"]["a"], -6.0 * EYE, atol=1e-8)
    np.testing.assert_allclose(found["a"]["b"][0], 6.0 * EYE, atol=1e-8)
    np.testing.assert_allclose(found["b"][1]["a"], np.zeros(2), atol=1e-8)
    assert found["b"][1]["b"][1] == 0.0


def test_numbers_and_elements():
    assert s2s.grad(s2s.grad(lambda x: abs(x) ** 2))(0.0) == pytest.approx(2.0)
    each = s2s.elementwise_grad(s2s.elementwise_grad(lambda x: np.abs(x) ** 2))
    np.testing.assert_allclose(each(np.array([0.0, 1.0])), [2.0, 2.0])


def test_derivatives_that_a_program_takes():
    def slope(x):
        return np.sum(s2s.grad(lambda z: np.linalg.norm(z) ** 2)(x) * np.array([1.0, 2.0]))

    np.testing.assert_allclose(s2s.grad(slope)(ORIGIN), [2.0, 4.0], atol=1e-8)


def test_single_precision():
    found = s2s.hessian(lambda x: np.linalg.norm(x) ** 2)(np.zeros(2, np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, 2.0 * EYE, atol=1e-3)


EQUAL = np.diag([1.0, 1.0, 2.0])
DIRECTION = np.array([[0.0, 4.0, 8.0], [4.0, 8.0, 12.0], [8.0, 12.0, 16.0]])


def _exponential(a):
    w, v = np.linalg.eigh(a)
    return np.sum((v @ np.diag(np.exp(w)) @ v.T) * DIRECTION)


def _exponential_by_terms(a):
    term = total = np.eye(3)
    for k in range(1, 30):
        term = term @ a / k
        total = total + term
    return np.sum(total * DIRECTION)


@pytest.mark.parametrize("size", [1.0, 1e-6])
def test_equal_eigenvalues_of_matrices_of_any_size(size):
    """The points beside are as near as the size of the matrix says, farther for a second derivative than for a first,
    whose rounding is divided by one gap only."""
    found = s2s.grad(lambda a: _exponential(a / size))(size * EQUAL)
    np.testing.assert_allclose(found, s2s.grad(_exponential_by_terms)(EQUAL) / size, rtol=1e-9)
    found = s2s.hvp(lambda a: _exponential(a / size))(size * EQUAL, DIRECTION)
    np.testing.assert_allclose(found, s2s.hvp(_exponential_by_terms)(EQUAL, DIRECTION) / size**2, rtol=1e-8)


@pytest.mark.parametrize("size", [1.0, 1e-3])
def test_what_is_but_rounding_is_no_derivative_without_a_limit(size):
    def trace(a):
        return np.sum(np.linalg.eigvalsh(a))

    def of_unit(a):
        v = np.linalg.eigh(a)[1]
        return np.sum((v @ v.T) * DIRECTION)

    np.testing.assert_allclose(s2s.hvp(trace)(size * EQUAL, DIRECTION), 0.0 * EQUAL, atol=1e-6 / size)
    np.testing.assert_allclose(s2s.grad(of_unit)(size * EQUAL), 0.0 * EQUAL, atol=1e-7 / size)


def test_the_order_is_how_many_times_a_function_is_differentiated():
    def through_values(t):
        return np.sum(np.linalg.eigvalsh(EQUAL + t * DIRECTION) ** 2)

    def through_slope(x):
        return np.sum(s2s.grad(lambda z: np.linalg.norm(z) ** 2)(x))

    first = s2s.grad(through_values)
    second = s2s.grad(first)
    for derivative, at, order in ((first, 1.0, 1), (second, 1.0, 2), (s2s.grad(second), 1.0, 3),
                                  (s2s.grad(through_slope), TIE, 2)):
        derivative(at)
        points = _Points(derivative.dispatcher, derivative.dispatcher.versions[0], derivative)
        assert (points.order, points.is_first) == (order, order == 1)


def test_sparse_hessians():
    found = s2s.sparse_hessian(lambda x: np.sum(np.abs(x) ** 2) + x[0] * x[1])(np.zeros(3))
    np.testing.assert_allclose(found.toarray(), [[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 2.0]], atol=1e-8)


def test_only_what_has_no_limit_is_nan():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = s2s.hessian(lambda x: np.sum(np.abs(x)) + x[1] ** 2)(np.array([0.0, 1.0]))
    assert np.isnan(found[0, 0]) and found[1, 1] == 2.0


def test_random_draws_and_what_is_printed_happen_once(capsys):
    def f(x):
        print("called")
        return np.linalg.norm(x) ** 2

    np.testing.assert_allclose(s2s.hessian(f)(ORIGIN), 2.0 * EYE, atol=1e-8)
    assert capsys.readouterr().out == "called\n"


def test_generated_code_says_where_it_counts():
    hessian = s2s.hessian(lambda x: np.linalg.norm(x) ** 2)
    hessian(TIE)
    assert "rt.coincides(t0, 0.0)" in hessian.source
    with pytest.warns(RuntimeWarning, match="a second derivative is taken where a first one is chosen"):
        hessian.__wrapped__(ORIGIN)


def test_a_test_of_the_program_beside_a_norm_is_no_choice_of_its_slope():
    def by_branch(x, n):
        return np.linalg.norm(x) ** 2 if n == 2 else 0.0

    def by_factor(x, y):
        return np.linalg.norm(x) ** 2 * (y == 1.0)

    def by_function(x, n):
        return np.where(np.equal(n, 2), np.linalg.norm(x) ** 2, 0.0)

    for f, other in ((by_branch, 2), (by_factor, 1.0), (by_function, 2)):
        np.testing.assert_allclose(s2s.hessian(f)(ORIGIN, other), 2.0 * EYE, atol=1e-8)


ALIKE = np.array([[1.0, 2.0, 3.0], [2.0, 5.0, 6.0], [7.0, 8.0, 9.0]])


@pytest.mark.parametrize("a, expected", [
    (ALIKE, False), (ALIKE + ALIKE.T, True), (np.stack([EYE, EYE]), True), (np.stack([EYE, ALIKE[:2, :2].T]), True),
    (np.stack([EYE, ALIKE[1:, 1:]]), False), (np.ones((2, 3)), False), (np.ones(3), False), (1.0, False),
    (np.array([[1.0, 1j], [-1j, 2.0]]), True), (np.array([[1.0, 1j], [1j, 2.0]]), False),
])
def test_which_arguments_are_symmetric_matrices(a, expected):
    assert _is_symmetric(a) is expected


def test_a_matrix_that_is_not_symmetric_moves_in_all_directions():
    """Two of its items are equal, and stay equal along symmetric directions."""
    with pytest.warns(RuntimeWarning, match="is NaN"):
        found = s2s.hvp(lambda a: np.abs(a[0, 1] - a[1, 0]))(ALIKE, np.triu(ALIKE))
    assert np.isnan(found[0, 1]) and np.isnan(found[1, 0])


@pytest.mark.parametrize("own, far, half, near, floor, expected", [
    (2.0, [2.0] * 4, [2.0] * 4, [2.0] * 4, 0.0, 2.0),  # constant beside the point, and at it
    (0.0, [2.0] * 4, [2.0] * 4, [2.0] * 4, 0.0, 2.0),  # what is chosen at the point is not the limit
    (0.0, [2.2] * 4, [2.05] * 4, [2.0] * 4, 0.0, 2.0),  # by steps of two sizes: 4/3 2.05 - 1/3 2.2
    (0.0, [1.0, -1.0, 1.0, -1.0], [1.0, -1.0, 1.0, -1.0], [1.0, -1.0, 1.0, -1.0], 0.0, np.nan),  # of two signs
    (0.0, [1.0, -1.0, 1.0, -1.0], [0.6, -0.6, 0.6, -0.6], [0.2, -0.2, 0.2, -0.2], 0.0, 0.0),  # comes to what is chosen
    (0.0, [1.0, -1.0, 1.0, -1.0], [0.6, -0.6, 0.6, -0.6], [0.6, -0.6, 0.6, -0.6], 0.0, np.nan),
    (0.0, [1.0, -1.0, 1.0, -1.0], [1.0, -1.0, 1.0, -1.0], [0.5, -0.5, 0.5, -0.5], 0.0, 0.0),  # just half as far apart
    (1.0, [1.0, -1.0, 1.0, -1.0], [0.6, -0.6, 0.6, -0.6], [0.2, -0.2, 0.2, -0.2], 0.0, np.nan),
    (0.0, [2.0, 2.2, 2.0, 2.2], [2.0, 2.1, 2.0, 2.1], [2.0, 2.01, 2.0, 2.01], 0.0, (4.0 * 2.05 - 2.1) / 3.0),
    (0.0, [2.0, 2.2, 2.0, 2.2], [2.0, 2.1, 2.0, 2.1], [2.0, 2.05, 2.0, 2.05], 0.0, np.nan),
    (0.0, [2.0, 2.2, 2.0, 2.2], [2.0, 2.1, 2.0, 2.1], [2.0, 2.05, 2.0, 2.05], 0.04, (4.0 * 2.05 - 2.1) / 3.0),
    (0.0, [2.0, 2.9, 2.0, 2.9], [2.0, 2.4, 2.0, 2.4], [2.0, 2.04, 2.0, 2.04], 0.0, np.nan),  # far apart at first
    (0.0, [0.3, -0.2, 0.1, 0.0], [0.1, -0.2, 0.3, 0.1], [0.2, -0.1, 0.2, 0.1], 1.0, 0.0),  # rounding alone
])
def test_what_is_chosen_beside_a_point(own, far, half, near, floor, expected):
    limit = types.SimpleNamespace(precision=2.0**-52, step=1e-6, close=1e-3, rounding_near=0.0)
    found = _Limit._chosen(limit, np.array([own]), *(np.reshape(given, (4, 1)) for given in (far, half, near)), floor)
    np.testing.assert_allclose(found, [expected], rtol=1e-12, atol=1e-12)
