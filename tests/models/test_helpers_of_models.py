"""Functions within models that stand for no function of a library alone, and what models refuse, in plain Python."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, interpolate, ndimage, signal, sparse, special, stats
from scipy import optimize as scipy_optimize
from scipy.sparse import linalg
from scipy.spatial.transform import Rotation

from s2s.errors import NoDerivativeError
from s2s.models import (
    array_api,
    draws,
    iterating,
    numba,
    ode,
    optimize,
    ordering,
    polynomials,
    rotations,
    sparse_matrices,
    sparse_spectra,
    statistics,
)
from s2s.models import stats as distributions
from s2s.models.ndimage import spline_weights
from tests.models.test_slopes_of_models import matrix
from tests.models.test_values_of_models import assert_same, model_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

ROWS = np.array([[0.3, 1.2, -0.4], [0.9, 0.1, 0.7], [2e-3, -1e-3, 3e-3]])
RATES = np.array([[0.4, -0.3, 0.8], [0.1, 0.9, -0.6], [0.7, 0.2, -0.5]])

# --- weights of splines ---------------------------------------------------------------------------------------------


AT_POINTS = [[1], [1, 0], [1, 6, 1], [1, 4, 1, 0], [1, 76, 230, 76, 1], [1, 26, 66, 26, 1, 0]]
SUMS = [1, 1, 8, 6, 384, 120]


@pytest.mark.parametrize("order", range(6))
def test_weights_of_splines(order: int) -> None:
    """At a point they are fractions, which are met to the last digits; between points they are those of SciPy."""
    first = (order - 1) // 2 if order % 2 else order // 2
    np.testing.assert_allclose(
        found := spline_weights(np.array(float(first)), order), np.array(AT_POINTS[order]) / SUMS[order], rtol=1e-15)
    assert found.shape == (order + 1,)
    away = np.linspace(first - 0.5, first + 0.5, 12).reshape(3, 4) if order % 2 == 0 else np.linspace(
        first, first + 1.0, 12).reshape(3, 4)
    element = interpolate.BSpline.basis_element(np.arange(order + 2.0) - (order + 1) / 2, extrapolate=False)
    wanted = np.stack([np.nan_to_num(element(away - k)) for k in range(order + 1)]) if order else np.ones((1, 3, 4))
    np.testing.assert_allclose(spline_weights(away, order), wanted, rtol=1e-12, atol=1e-15)


# --- rotations: vectors r(t), the rotation exp(r), and its angular rate in its own axes -----------------------------


def moving(k: int, t: float) -> Any:
    """A rotation vector that moves, with its row of ``RATES`` as its first derivative."""
    return ROWS[k] + RATES[k] * t


def rate(r: Callable[[float], Any], t: float = 0.0, h: float = 1e-4) -> Any:
    """The angular rate of exp(r(t)), by differences."""
    return (Rotation.from_rotvec(r(t - h)).inv() * Rotation.from_rotvec(r(t + h))).as_rotvec() / (2.0 * h)


def test_rates_of_rotation_vectors() -> None:
    found = rotations.apply(rotations.to_angular_rates(ROWS), RATES)
    np.testing.assert_allclose(found, [rate(lambda t: moving(k, t)) for k in range(3)], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(rotations.apply(rotations.to_vector_rates(ROWS), found), RATES, rtol=1e-12)
    np.testing.assert_allclose(rotations.apply(rotations.skew(ROWS), RATES), np.cross(ROWS, RATES), rtol=1e-12)


def test_accelerations_of_rotation_vectors() -> None:
    """Where the second derivative of the rotation vector is zero the quadratic part is all of the acceleration."""
    wanted = [matrix(lambda t: rate(lambda s: moving(k, s), t), 0.0, 1e-3) for k in range(3)]
    np.testing.assert_allclose(rotations.quadratic_part(ROWS, RATES), wanted, rtol=1e-4, atol=1e-6)


def test_quaternions() -> None:
    q = Rotation.from_rotvec(ROWS).as_quat()
    np.testing.assert_allclose(rotations.vectors_of(q), ROWS, rtol=1e-12)
    np.testing.assert_allclose(rotations.vectors_of(-q), ROWS, rtol=1e-12)
    np.testing.assert_allclose(
        rotations.vectors_of(Rotation.from_rotvec(1e-5 * ROWS).as_quat()), 1e-5 * ROWS, rtol=1e-9
    )
    np.testing.assert_allclose(rotations.quaternions_of(ROWS), q, rtol=1e-12)
    np.testing.assert_allclose(
        rotations.quaternions_of(1e-4 * ROWS), Rotation.from_rotvec(1e-4 * ROWS).as_quat(), rtol=1e-12
    )


# --- what iterates and orders -----------------------------------------------------------------------------------------


def test_what_iterates() -> None:
    items = [3.0, 1.0, 2.0]
    assert iterating.listed(zip(items, "abc")) == list(zip(items, "abc"))
    assert iterating.repeated(2.0, 3) == [2.0] * 3
    assert list(iterating.counted(iter(items), 4)) == list(enumerate(items, 4))
    assert list(iterating.counted(items)) == list(enumerate(items))
    for before, after in itertools.product([["abc"], ["ab", "wxyz"]], repeat=2):
        wanted = list(zip(*before, items, *after))
        assert list(iterating.beside(iter(items), before, after)) == wanted
    left = iter(items)
    assert list(iterating.beside(left, ["a"], [])) == [("a", 3.0)] and list(left) == [1.0, 2.0]
    assert list(iterating.beside(iter(items), [""], [])) == []
    given = iter([3.0, 1.0, 0.0, 5.0])
    assert list(iterating.until(lambda: next(given), 0.0)) == [3.0, 1.0]
    assert list(iterating.chain_all([items, "ab"])) == [*items, "a", "b"]


def test_what_orders() -> None:
    items = [2.0, -3.0, 1.0, -3.0, 2.5]
    assert [ordering.pick(items, k) for k in (0, 4, -1, -5)] == [2.0, 2.5, 2.5, 2.0]
    with pytest.raises(IndexError):
        ordering.pick(items, 5)
    for key in (None, abs, operator.neg):
        assert ordering.greatest(items, key=key) == max(items, key=key)
        assert ordering.greatest(*items, key=key) == max(*items, key=key)
        assert ordering.least(items, key=key) == min(items, key=key)
        assert ordering.least(*items, key=key) == min(*items, key=key)
        assert ordering.greatest([], key=key, default=4.0) == ordering.least([], key=key, default=4.0) == 4.0
        assert ordering.greatest(items, key=key, default=9.0) == max(items, key=key)
        assert ordering.least(items, key=key, default=9.0) == min(items, key=key)


# --- functions of Numba -----------------------------------------------------------------------------------------------


def weighed(x: Any, w: Any, out: Any) -> None:
    out[0] = w * np.sum(x)


def boxed_weight(x: Any, w: Any, out: Any) -> None:
    out[:] = w[0] * x + 1.0


def test_functions_of_numba() -> None:
    x, y = np.arange(6.0).reshape(2, 3), np.array([0.5, 2.0, -1.0])
    assert numba.by_elements(pow, float, 2.0, 3.0) == 8.0
    assert_same(numba.by_elements(lambda a, b: a * b + 1.0, float, x, y), x * y + 1.0)
    assert numba.alone(weighed, (), float, y, 2.0) == 3.0
    assert_same(numba.alone(boxed_weight, ((0, 0),), float, y, [2.0]), 2.0 * y + 1.0)
    assert_same(numba.generalized(weighed, (1, 0), (), (), float, x, 2.0), 2.0 * np.sum(x, axis=1))
    assert_same(numba.generalized(weighed, (1, 0), (), (), float, y, x), x * np.sum(y))
    assert_same(numba.generalized(boxed_weight, (1, 0), ((0, 0),), (1,), float, x, y[:2]), x * y[:2, None] + 1.0)
    assert (numba.list_((1.0, 2.0)), numba.dict_([("a", 1)], b=2)) == ([1.0, 2.0], {"a": 1, "b": 2})
    assert (numba.empty_list(list, float), numba.empty_dict(dict, int, float)) == ([], {})


# --- parts of other models --------------------------------------------------------------------------------------------


def test_where_a_condition_holds() -> None:
    """Each function sees only what it is chosen for."""
    x, y = np.array([4.0, -1.0, 9.0]), np.array([1.0, 2.0, 3.0])

    def root(x: Any, y: Any) -> Any:
        assert np.all(x > 0.0)
        return np.sqrt(x) * y

    wanted = np.array([2.0, 7.0, 9.0])
    assert_same(array_api.apply_where(x > 0.0, (x, y), root, fill_value=7.0), wanted)
    assert_same(array_api.apply_where(x > 0.0, (x, 1.0), root, lambda x, y: x - 3.0), np.array([2.0, -4.0, 3.0]))
    assert_same(array_api.apply_where(x > 0.0, x, lambda x: root(x, 1.0), fill_value=7.0), np.array([2.0, 7.0, 3.0]))
    assert_same(array_api.lazywhere(x > 0.0, (x, y), root, 7.0), wanted)
    assert_same(array_api.lazywhere(x > 0.0, (x, y), root, f2=lambda x, y: 7.0 + 0.0 * x), wanted)
    assert_same(array_api.apply_where(x[:0] > 0.0, x[:0], np.sqrt, fill_value=1.0), x[:0])


def test_logarithms_of_distribution_functions() -> None:
    class OfNothing:
        def _cdf(self, x: Any) -> Any:
            return special.ndtr(x)

        def _sf(self, x: Any) -> Any:
            return special.ndtr(-x)

    x = np.array([-8.0, -0.5, 0.0, 0.7, 8.5])
    assert_same(distributions.log_of_cdf(OfNothing(), x), special.log_ndtr(x))
    assert_same(distributions.log_of_sf(OfNothing(), x), special.log_ndtr(-x))


def test_the_axis_of_tests() -> None:
    a, b = ROWS, RATES

    def inner(x: Any, y: Any = None, axis: Any = -1, factor: Any = 1.0) -> Any:
        return factor * np.sum(x, axis=axis) - (0.0 if y is None else np.sum(y, axis=axis))

    names = ("x", "y", "axis", "factor")
    two, whole = [(names, ("x", "y"), False), (names, ("x", "y"), True)]
    assert_same(statistics.along_axis(inner, *two, a[0], b[0], factor=2.0), 2.0 * a[0].sum() - b[0].sum())
    assert_same(statistics.along_axis(inner, *two, a, y=b), a.sum(0) - b.sum(0))
    assert_same(statistics.along_axis(inner, *two, a, b, axis=1), a.sum(1) - b.sum(1))
    assert_same(statistics.along_axis(inner, *two, a, b, axis=None, nan_policy="propagate"), a.sum() - b.sum())
    assert_same(statistics.along_axis(inner, *whole, a, b), a.sum() - b.sum())
    assert_same(statistics.along_axis(inner, names, None, False, a[0], b[0], keepdims=False), a[0].sum() - b[0].sum())
    assert_same(statistics.along_axis(inner, *two, a, b, nan_policy="omit"), a.sum(0) - b.sum(0))
    missed = np.where(a == a[0, 0], np.nan, a)
    for given, more in ((a, {"keepdims": True}), (missed, {"nan_policy": "omit"})):
        with pytest.raises(NoDerivativeError):
            statistics.along_axis(inner, *two, given, b, **more)
    with pytest.raises(ValueError, match="nan"):
        statistics.along_axis(inner, *two, missed, b, nan_policy="raise")


def test_where_a_solution_ends() -> None:
    """An event that ends a solution happens at its last time; one that does not end it, before."""

    def hits(t: Any, y: Any) -> Any:
        return y[0] - 0.5

    def passes(t: Any, y: Any) -> Any:
        return y[0] - 0.8

    hits.terminal = True  # type: ignore[attr-defined]
    solve = lambda *events: integrate.solve_ivp(lambda t, y: -y, (0.0, 3.0), [1.0], dense_output=True, events=events)
    ended, not_ended = solve(passes, hits), solve(passes)
    assert [ode.is_end(ended, k).tolist() for k in (0, 1)] == [[0.0], [1.0]]
    assert ode.is_end(not_ended, 0).tolist() == [0.0]
    assert [ode.has_ended(one) for one in (ended, not_ended)] == [True, False]
    assert ode.ends(ended, np.arange(3.0)).tolist() == [False, False, True]


def test_coefficients_of_methods() -> None:
    """The polynomial within a step begins with the first slope, and ends with the step and the last slope."""
    a, _, powers = ode.of_order_eight()
    n = len(integrate.DOP853.B)
    assert_same(np.sum(powers, axis=1), np.append(integrate.DOP853.B, np.zeros(4)))
    assert_same(powers[:, 0], np.eye(n + 4)[0], atol=1e-9)
    assert_same(powers @ np.arange(1.0, 8.0), np.eye(n + 4)[n], atol=1e-9)
    assert_same(a[n], np.append(integrate.DOP853.B, np.zeros(4)))
    for method in (integrate.RK23, integrate.RK45):
        a, at, powers = ode.explicit(method)
        assert_same(np.sum(powers, axis=1)[:-1], method.B, atol=1e-9)
        assert_same(np.sum(a, axis=1), at, atol=1e-9)
    a, at, powers = ode.collocation()
    for degree in range(3):  # integrals of powers
        assert_same(a @ at**degree, at ** (degree + 1) / (degree + 1))
    assert_same(np.sum(powers, axis=1), a[-1])


def test_steps_that_stability_holds_back() -> None:
    def stiff(t: Any, y: Any) -> Any:
        return -1e4 * (y - np.cos(t))

    assert ode.steps_instead(stiff, (0.0, 1.0), np.ones(1), {"rtol": 1e-3}, 30)[0] == "Radau"
    method, parts = ode.steps_instead(lambda t, y: -y, (1.0, 3.0), np.ones(1), {"rtol": 1e-6, "max_step": 0.5}, 30)
    assert method == "DOP853" and parts[0] == 0.0 and parts[-1] == 1.0 and np.max(np.diff(parts)) <= 0.25 + 1e-12


def test_a_covariance_that_is_none() -> None:
    """What SciPy and NumPy say of it."""
    bad = np.array([[1.0, 2.0], [2.0, 1.0]])
    for model in (draws.multivariate_normal, draws.multivariate_normal_of_state):
        for check, caught in (
            ("raise", pytest.raises(ValueError)),
            ("warn", pytest.warns(RuntimeWarning, match="semidef")),
        ):
            with caught:
                model(np.random.default_rng(0), [0.0, 0.0], bad, check_valid=check)
        model(np.random.default_rng(0), [0.0, 0.0], bad, check_valid="ignore")


def test_systems_that_are_diagonal() -> None:
    b = np.array([0.3, -2.0])
    assert_same(optimize.by_elements(lambda v: np.array([2.0, 0.5]) * v, b), b / np.array([2.0, 0.5]))
    with pytest.raises(NoDerivativeError):
        optimize.by_elements(lambda v: np.array([[2.0, 0.7], [0.0, 0.5]]) @ v, b)


def test_equal_eigenvalues_are_found_once_each() -> None:
    assert sorted(sparse_spectra.places_among([2.0, 2.0], [1.0, 2.0, 2.0])) == [1, 2]
    assert sparse_spectra.places_among([3.1, 0.9], [1.0, 2.0, 3.0]).tolist() == [2, 0]


# --- autograd ---------------------------------------------------------------------------------------------------------


def by_differences(name: str) -> Any:
    """Public functions of s2s for functions of one array, with differences for their derivatives."""

    def grad(f: Any, argnums: int = 0, has_aux: bool = False) -> Any:
        def slope(*args: Any) -> Any:
            only = (lambda *given: f(*given)[0]) if has_aux else f
            made = matrix(lambda x: only(*args[:argnums], x, *args[argnums + 1 :]), args[argnums])
            return (made, f(*args)[1]) if has_aux else made

        return slope

    return {
        "grad": grad,
        "jacobian": grad,
        "value_and_grad": lambda f, argnums=0: lambda *args: (f(*args), grad(f, argnums)(*args)),
        "vjp": lambda f, x: (f(x), lambda g: (np.tensordot(g, matrix(f, x), np.ndim(g)),)),
        "jvp": lambda f, xs, vs: (f(*xs), np.tensordot(matrix(f, *xs), vs[0], np.ndim(vs[0]))),
    }[name]


def test_operators_of_autograd(monkeypatch: pytest.MonkeyPatch) -> None:
    autograd, anp = pytest.importorskip("autograd"), pytest.importorskip("autograd.numpy")
    from s2s.models import autograd as models

    monkeypatch.setattr(models, "function", by_differences)
    a, x = np.array([0.4, 1.3]), np.array([0.7, -0.2])

    def number(a: Any, x: Any) -> Any:
        return anp.sum(anp.sin(a) * x**3) + a[0] * x[1]

    def vector(a: Any, x: Any) -> Any:
        return anp.stack([anp.sin(a[0]) * x[1], x[0] ** 2 * a[1]])

    def each(a: Any, x: Any) -> Any:
        return anp.cos(a) * x**2

    for k in (0, 1):
        for name, f, ask in (
            ("grad", number, lambda made: made),
            ("value_and_grad", number, lambda made: list(made)),
            ("jacobian", vector, lambda made: made),
            ("hessian", number, lambda made: made),
            ("elementwise_grad", each, lambda made: made),
            ("make_vjp", vector, lambda made: [made[0](np.array([0.3, 2.0])), made[1]]),
            ("make_jvp", vector, lambda made: list(made(np.array([0.3, 2.0])))),
            ("grad_and_aux", lambda a, x: (number(a, x), x[0]), lambda made: list(made)),
        ):
            found = models.OPERATORS[name](f, k)(a, x)
            assert_same(ask(found), ask(getattr(autograd, name)(f, k)(a, x)), rtol=1e-5, atol=1e-6)
    assert models.elementwise_grad(number)(a, x).shape == (2,)
    assert models.checkpoint(number) is number


def test_rules_of_users_of_autograd() -> None:
    from s2s.models import autograd as models

    x, y, g = 0.7, 1.3, 2.0
    makers = (lambda out, x, y: lambda g: g * y * out, None)
    assert models.pulled(makers, 3.0, g, x, y) == (g * y * 3.0, None)
    assert models.pulled(makers[:1], 3.0, g, x, y) == (g * y * 3.0, None)
    by_number = lambda places, out, args, named: lambda g: [g * args[k] * out * named["w"] for k in places]
    assert models.pulled_by_number(by_number, 3.0, g, x, y, w=0.5) == (g * x * 1.5, g * y * 1.5)
    tangents = (lambda dot, out, x, y: dot * y, lambda dot, out, x, y: dot * x * out)
    assert models.pushed(tangents, 3.0, (0.2, 0.4), x, y) == pytest.approx(0.2 * y + 0.4 * x * 3.0)
    assert models.pushed(tangents, 3.0, (None, 0.4), x, y) == pytest.approx(0.4 * x * 3.0)
    assert models.pushed((None, tangents[1]), 3.0, (0.2, 0.4), x, y) == pytest.approx(0.4 * x * 3.0)
    whole = lambda places, dots, out, args, named: sum(d * args[k] for k, d in zip(places, dots)) * out
    assert models.pushed_by_number(whole, 3.0, (None, 0.4), x, y) == pytest.approx(0.4 * y * 3.0)


def test_containers_of_autograd() -> None:
    misc = pytest.importorskip("autograd.misc.flatten")
    from s2s.models import autograd as models

    for value in (
        {"b": [1.0, np.eye(2)], "a": (np.arange(3.0), 4.0)},
        [],
        {},
        (2.0, [np.ones((2, 1))]),
        np.eye(2),
        3.0,
    ):
        vector, back = models.flatten(value)
        wanted, of_autograd = misc.flatten(value)
        assert_same(vector, wanted)
        assert_same(flat_of(back(2.0 * vector + 1.0)), flat_of(of_autograd(2.0 * wanted + 1.0)))
        assert type(back(vector)) in (type(value), np.ndarray) and models.size_of(value) == np.size(wanted)
    assert models.tuple_([1, 2]) == (1, 2) and models.tuple_() == () and models.list_((1, 2)) == [1, 2]
    assert models.dict_([("a", 1)], b=2) == {"a": 1, "b": 2}


def flat_of(value: Any) -> Any:
    """The parts of a structure by their keys, in order."""
    if isinstance(value, dict):
        return [[key, flat_of(value[key])] for key in sorted(value)]
    return [flat_of(item) for item in value] if isinstance(value, (list, tuple)) else np.asarray(value)


# --- what is refused, and what is an error as in the library ----------------------------------------------------------

X, Y = np.arange(6.0), np.sin(np.arange(6.0))
ERRORS: list[Callable[[], Any]] = [
    lambda: model_of(interpolate.interp1d)(X, Y)(7.0),
    lambda: model_of(interpolate.interp1d)(X, Y)(-0.1),
    lambda: model_of(interpolate.interp1d)(X, Y, bounds_error=True)(-0.1),
    lambda: model_of(interpolate.interpn)((X,), Y, [[5.5]]),
    lambda: rotations.slerp(X[:3], Rotation.from_rotvec(ROWS))(2.5),
    lambda: rotations.slerp(X[:3], Rotation.from_rotvec(ROWS))(-0.5),
    lambda: model_of(np.fromiter)([1.0], float, 2),
]
MISSED = np.where(X == X[1], np.nan, X)
REFUSED: list[Callable[[], Any]] = [
    lambda: model_of(interpolate.interp1d)(X, Y, "of no kind"),
    lambda: model_of(interpolate.splrep)(X, Y, full_output=1),
    lambda: model_of(interpolate.splrep)(X, Y, task=1),
    lambda: model_of(interpolate.splrep)(X, Y, per=1, w=X + 1.0),
    lambda: model_of(interpolate.splrep)(X, Y, per=1, k=2),
    lambda: model_of(interpolate.splrep)(X, Y, per=1, s=0.1),
    lambda: model_of(interpolate.splrep)(X, Y, per=1, t=[2.5]),
    lambda: model_of(interpolate.splrep)(X, Y, s=0, xb=-1.0),
    lambda: model_of(interpolate.splrep)(X, Y, s=0, xe=9.0),
    lambda: model_of(interpolate.splprep)([X, Y], task=1),
    lambda: model_of(interpolate.splprep)([X, Y], full_output=1),
    lambda: model_of(interpolate.splprep)([X, Y], per=1),
    lambda: model_of(interpolate.splprep)([X, Y], per=1, s=0, k=2),
    lambda: model_of(interpolate.splprep)([X, Y], per=1, s=0, w=X + 1.0),
    lambda: model_of(interpolate.splev)(X, (X, np.ones((2, 6)), 3)),
    lambda: model_of(interpolate.UnivariateSpline)(X, Y, ext=2)(X),
    lambda: model_of(interpolate.UnivariateSpline)(X, Y, ext="raise")(X),
    lambda: model_of(interpolate.CubicSpline)(X[:3], Y[:3]),
    lambda: model_of(interpolate.CubicSpline)(X, Y, extrapolate="periodic").integrate(0.0, 1.0),
    lambda: model_of(interpolate.BSpline)(X, Y[:2], 3, False).integrate(0.0, 1.0),
    lambda: model_of(interpolate.make_interp_spline)(X, Y, bc_type="natural"),
    lambda: model_of(interpolate.make_interp_spline)(X, Y, 2, bc_type="periodic"),
    lambda: model_of(interpolate.interpn)((X,), Y, [[0.5]], "cubic"),
    lambda: model_of(interpolate.griddata)(X, Y, X),
    lambda: model_of(interpolate.griddata)(X[:, None], Y, X),
    lambda: model_of(interpolate.griddata)(np.eye(6)[:, :3], Y, X[:3], "cubic"),
    lambda: model_of(interpolate.BarycentricInterpolator)(X),
    lambda: model_of(interpolate.barycentric_interpolate)(X, Y, X, der=1),
    lambda: model_of(integrate.quad)(np.sin, 0.0, 1.0, full_output=1),
    lambda: model_of(integrate.quad)(np.sin, 0.0, 1.0, complex_func=True),
    lambda: model_of(integrate.quad)(np.sin, 0.0, np.inf, weight="sin", wvar=1.0),
    lambda: model_of(integrate.quad)(np.sin, -np.inf, 0.0, weight="cos", wvar=1.0),
    lambda: model_of(integrate.quad)(np.sin, 0.0, 1.0, weight="alg", wvar=(0, 0)),
    lambda: model_of(integrate.nquad)(np.sin, [(0, 1)], full_output=True),
    lambda: model_of(scipy_optimize.minimize)(np.sum, X, constraints={}),
    lambda: model_of(scipy_optimize.minimize)(np.sum, X, constraints=[{}]),
    lambda: model_of(scipy_optimize.fmin)(np.sum, X, full_output=True),
    lambda: model_of(scipy_optimize.fminbound)(np.sum, 0.0, 1.0, full_output=True),
    lambda: model_of(scipy_optimize.brent)(np.sum, full_output=True),
    lambda: model_of(scipy_optimize.newton)(np.sin, 1j),
    lambda: model_of(scipy_optimize.root)(np.sin, [1j]),
    lambda: optimize.loss_of(X, "of no kind", 1.0),
    lambda: model_of(scipy_optimize.linprog)(X, integrality=1),
    lambda: model_of(scipy_optimize.linprog)([-1.0, 0.0]),
    lambda: model_of(scipy_optimize.linprog)([1.0, 0.0], bounds=(0.0, 1.0)),
    lambda: model_of(scipy_optimize.linprog)([1.0, 1.0], A_ub=[[-1.0, -1.0]], b_ub=[-1.0]),
    lambda: model_of(integrate.solve_bvp)(np.sin, np.sin, X, Y[None] + 0j),
    lambda: model_of(integrate.solve_bvp)(np.sin, np.sin, X, Y[None], S=np.eye(1)),
    lambda: model_of(integrate.nquad)(np.sin, [(0, 1)], opts={}),
    lambda: model_of(integrate.quad_vec)(np.sin, 0.0, 1.0, full_output=True),
    lambda: model_of(integrate.solve_ivp)(np.sin, (0, 1), X, vectorized=True),
    lambda: model_of(integrate.solve_ivp)(np.sin, (0, 1), X, "Euler"),
    lambda: model_of(integrate.odeint)(np.sin, X, X, full_output=1),
    lambda: model_of(ndimage.map_coordinates)(X, [[0.5]], mode="reflect"),
    *[
        lambda name=name: model_of(getattr(ndimage, name))(np.eye(3), 1.0, output=np.eye(3))
        for name in ("map_coordinates", "shift", "zoom", "affine_transform", "rotate")
    ],
    lambda: model_of(ndimage.zoom)(np.eye(3), 2.0, grid_mode=True),
    lambda: model_of(ndimage.rotate)(np.ones((2, 2, 2)), 1.0),
    lambda: model_of(ndimage.rotate)(np.eye(3), 1.0, (0, 2)),
    lambda: model_of(ndimage.sobel)(np.eye(3), axes=(0,)),
    lambda: model_of(ndimage.maximum_filter)(np.eye(3), 3, output=np.eye(3)),
    lambda: model_of(ndimage.maximum_filter)(np.eye(3), 3, axes=(0,)),
    lambda: model_of(ndimage.maximum_filter)(np.eye(3), 3, mode=["wrap", "nearest"]),
    lambda: model_of(ndimage.grey_erosion)(np.eye(3), 3, structure=np.eye(3)),
    lambda: model_of(signal.place_poles)(np.eye(2), np.eye(2), [-1.0, -2.0]),
    lambda: model_of(signal.normalize)(np.eye(2), [1.0, 2.0]),
    lambda: model_of(signal.normalize)([1.0], np.eye(2)),
    lambda: model_of(signal.normalize)([0.0, 1.0], [1.0, 2.0]),
    lambda: model_of(signal.normalize)([1.0], [0.0, 2.0]),
    lambda: model_of(signal.resample)(X, 3, t=X),
    lambda: model_of(signal.resample)(X, 3, window="hann"),
    lambda: model_of(signal.resample)(X, 3, domain="freq"),
    lambda: model_of(signal.resample)(1j * X, 3),
    lambda: model_of(signal.upfirdn)(X, X, mode="wrap"),
    lambda: model_of(signal.upfirdn)(X, X, cval=1.0),
    lambda: model_of(signal.resample_poly)(X, 2, 1, padtype="mean"),
    lambda: model_of(signal.resample_poly)(X, 2, 1, cval=1.0),
    lambda: model_of(signal.resample_poly)(X, 2, 1, window=X),
    lambda: model_of(signal.decimate)(X, 2, ftype="fir"),
    lambda: model_of(signal.welch)(X, nperseg=4, detrend=np.sin),
    lambda: model_of(signal.csd)(X, X[:5]),
    lambda: model_of(signal.welch)(X, average="median"),
    lambda: model_of(signal.istft)(np.eye(3), time_axis=0),
    lambda: model_of(signal.istft)(np.eye(3), freq_axis=0),
    lambda: model_of(signal.freqz)(X, plot=print),
    lambda: model_of(signal.freqz)(np.eye(2), worN=3),
    *[
        lambda f=f, given=given: model_of(f)(*given, nan_policy="omit")
        for given, some in (
            (
                (MISSED,),
                (
                    stats.gmean,
                    stats.hmean,
                    stats.moment,
                    stats.skew,
                    stats.kurtosis,
                    stats.sem,
                    stats.variation,
                    stats.zscore,
                    stats.entropy,
                    stats.tvar,
                    stats.tstd,
                    stats.tsem,
                    stats.iqr,
                    stats.gstd,
                    stats.chisquare,
                    stats.power_divergence,
                ),
            ),
            ((MISSED, 2.0), (stats.pmean, stats.ttest_1samp)),
            ((X, MISSED), (stats.entropy, stats.chisquare, stats.ttest_1samp)),
            ((X, MISSED), (stats.zmap, stats.ttest_rel, stats.ttest_ind, stats.linregress, stats.pointbiserialr)),
        )
        for f in some
    ],
    lambda: model_of(stats.moment)(X, [1, 2]),
    lambda: model_of(stats.pearsonr)(X, Y, alternative="less"),
    lambda: model_of(stats.pearsonr)(X, Y, method=1),
    lambda: model_of(stats.ttest_ind)(X, Y, trim=0.1),
    lambda: model_of(stats.ttest_ind)(X, Y, method=1),
    lambda: model_of(stats.linregress)(np.eye(2), np.eye(2)),
    lambda: model_of(stats.linregress)(X, Y, keepdims=True),
    lambda: model_of(stats.multivariate_normal.pdf)(X[:2], [0.0, 0.0], np.ones((2, 2)), True),
    lambda: polynomials.poly1d([0.0, 1.0, 2.0]),
    lambda: model_of(sparse.csr_array)((X, X)),
    lambda: model_of(sparse.coo_array)((X, X, X)),
    lambda: model_of(sparse.bsr_array)(np.eye(2)),
    lambda: model_of(sparse.bsr_array)((X, X)),
    lambda: model_of(sparse.dia_array)(np.eye(2)),
    lambda: model_of(sparse.dia_array)((X, [0])),
    lambda: model_of(sparse.dia_matrix)(np.eye(2), (2, 2)),
    lambda: model_of(sparse.bmat)([[None, sparse.eye_array(2)]]),
    lambda: model_of(linalg.spsolve)(sparse.eye_array(2), sparse.eye_array(2)),
    lambda: model_of(linalg.spsolve_triangular)(sparse.eye_array(2), X[:2], unit_diagonal=True),
    lambda: model_of(linalg.norm)(sparse.eye_array(2), 1),
    lambda: model_of(linalg.norm)(sparse.eye_array(2), axis=0),
    lambda: model_of(linalg.eigsh)(np.eye(5), 2, mode="cayley"),
    lambda: model_of(linalg.eigsh)(np.eye(5), Minv=np.eye(5)),
    lambda: model_of(linalg.eigsh)(np.eye(5), OPinv=np.eye(5)),
    lambda: model_of(linalg.eigs)(np.eye(5), M=np.eye(5)),
    lambda: model_of(linalg.eigs)(np.eye(5), Minv=np.eye(5)),
    lambda: model_of(linalg.eigs)(np.eye(5), OPinv=np.eye(5)),
    lambda: model_of(linalg.svds)(np.eye(5), return_singular_vectors="u"),
    lambda: model_of(linalg.svds)("no matrix"),
    lambda: model_of(linalg.eigsh)(np.broadcast_to(1.0, (3001, 1))),
    *[
        lambda ask=ask: ask(MATRIX)
        for ask in (
            lambda K: K.tocoo()[0],
            lambda K: K[0],
            lambda K: K[:, 1],
            lambda K: K[[0, 1], [1, 2]],
            lambda K: K / K,
            lambda K: K[np.eye(2, dtype=int)],
        )
    ],
    *[
        lambda ask=ask: ask(OF_CLASS_MATRIX)
        for ask in (lambda K: K.todense(), lambda K: K.sum(0), lambda K: K.mean(1), lambda K: K + np.eye(3))
    ],
]
MATRIX = sparse_matrices.csr_array((X[:3] + 1.0, ([0, 1, 2], [1, 2, 0])))
OF_CLASS_MATRIX = sparse_matrices.csr_matrix((X[:3] + 1.0, ([0, 1, 2], [1, 2, 0])))


@pytest.mark.parametrize("call", ERRORS)
def test_errors_as_in_the_library(call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError):
        call()


@pytest.mark.parametrize("call", REFUSED)
def test_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(NoDerivativeError):
        call()
