"""SciPy's solvers with Jacobians of s2s: against SciPy with differences, closed forms, and by the calls saved."""

import dataclasses

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError

optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")

T = np.linspace(0.0, 2.0, 30)
Y = 2.0 * np.exp(-3.0 * T) + 0.5 + 0.01 * np.sin(40.0 * T)


@dataclasses.dataclass
class Decay:
    rates: np.ndarray
    offset: float
    power: float = dataclasses.field(default=1.0, metadata={"static": True})


@pytest.fixture
def calls():
    """Counts what SciPy calls."""
    counts = {"f": 0}

    def counted(f):
        def function(*args, **kwargs):
            counts["f"] += 1
            return f(*args, **kwargs)

        return function

    counts["of"] = counted
    return counts


# --- least_squares ----------------------------------------------------------------------------------------------------


def residuals(p, t, y):
    return p[0] * np.exp(-p[1] * t) + p[2] - y


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_least_squares(method, calls):
    found = s2s.scipy.least_squares(residuals, [1.0, 1.0, 0.0], args=(T, Y), method=method)
    plain = optimize.least_squares(calls["of"](residuals), [1.0, 1.0, 0.0], args=(T, Y), method=method)
    np.testing.assert_allclose(found.x, plain.x, rtol=1e-5)
    np.testing.assert_allclose(found.jac, plain.jac, rtol=1e-4, atol=1e-6)
    assert found.njev >= 3 and found.nfev + 3 * found.njev <= calls["f"] + 3  # three calls for each Jacobian


def structured(p, y, scale=1.0):
    model = p.rates[0] * np.exp(-p.rates[1] * T**p.power) + p.offset
    return {"misfit": (model - y)[:, None] * scale, "prior": [0.0 * p.offset, (p.rates - 2.0) * 0.0]}


@pytest.mark.parametrize("method", ["trf", "lm"])
def test_least_squares_of_structures(method):
    """Residuals in a structure, of parameters in another."""
    plain = optimize.least_squares(residuals, [1.0, 1.0, 0.0], args=(T, Y))
    found = s2s.scipy.least_squares(
        structured, Decay(np.ones(2), 0.0), args=(Y,), kwargs={"scale": 0.5}, method=method
    )
    assert isinstance(found.x, Decay) and found.x.power == 1.0 and type(found.x.offset) is float
    np.testing.assert_allclose([*found.x.rates, found.x.offset], plain.x, rtol=1e-5)
    assert found.jac.shape == (len(T) + 3, 3)


@pytest.mark.parametrize(("x0", "bounds"), [
    ([1.0, 1.0, 0.0], (0.0, 2.5)),
    ([1.0, 1.0, 0.1], ([0.0, 0.0, 0.0], [np.inf, 2.5, 1.0])),
    ([1.0, 1.0, 0.1], optimize.Bounds([0.0, 0.0, 0.0], [np.inf, 2.5, 1.0])),
    (Decay(np.ones(2), 0.1), {"rates": [(0.0, None), (0.0, 2.5)], "offset": (0.0, 1.0)}),
])
def test_bounds_of_least_squares(x0, bounds):
    f = (lambda p, y: structured(p, y)["misfit"]) if isinstance(x0, Decay) else (lambda p, y: residuals(p, T, y))
    found = s2s.scipy.least_squares(f, x0, bounds, args=(Y,)).x
    found = [*found.rates, found.offset] if isinstance(found, Decay) else found
    assert found[1] == pytest.approx(2.5, rel=1e-5)
    plain = optimize.least_squares(residuals, [1.0, 1.0, 0.1], args=(T, Y), bounds=([0.0] * 3, [np.inf, 2.5, np.inf]))
    np.testing.assert_allclose(found, plain.x, rtol=1e-4)


# --- root -------------------------------------------------------------------------------------------------------------


def circle(x, radius):
    return [x[0] ** 2 + x[1] ** 2 - radius**2, x[0] - x[1]]


@pytest.mark.parametrize("method", ["hybr", "lm", "broyden1", "krylov", "df-sane"])
def test_root(method):
    found = s2s.scipy.root(circle, [1.0, 0.7], 2.0, method=method, tol=1e-10)
    np.testing.assert_allclose(np.abs(found.x), np.sqrt(2.0), rtol=1e-6)
    if method in ("hybr", "lm"):
        plain = optimize.root(circle, [1.0, 0.7], 2.0, method=method, tol=1e-10)
        assert found.njev >= 1 and found.nfev < plain.nfev  # which differences take part in
        np.testing.assert_allclose(plain.x, found.x, rtol=1e-8)


def balance(p, total):
    x, y = p["x"], p["y"]
    return {"sums": x * x + y - total, "last": [y * y - np.sum(x)]}


@pytest.mark.parametrize("method", ["hybr", "lm", "krylov"])
def test_root_of_structures(method):
    seen = []
    more = {"callback": lambda x, r: seen.append(x)} if method == "krylov" else {}
    found = s2s.scipy.root(balance, {"x": np.array([1.0, 2.0]), "y": 1.0, "n": 3}, 3.0, method, tol=1e-9, **more)
    assert found.success and found.x["n"] == 3
    x, y = found.x["x"], found.x["y"]
    np.testing.assert_allclose([*(x * x + y - 3.0), y * y - x.sum()], 0.0, atol=1e-7)
    assert all(set(one) == {"x", "y", "n"} for one in seen) and bool(seen) == (method == "krylov")


# --- curve_fit --------------------------------------------------------------------------------------------------------


def model(t, size, rate, offset):
    return size * np.exp(-rate * t) + offset


@pytest.mark.parametrize("more", [
    {}, {"p0": [1.0, 1.0, 0.0]}, {"p0": np.ones(3), "method": "trf"}, {"p0": (1, 1, 0), "sigma": 0.1 + T},
    {"p0": [1.0, 1.0, 0.0], "bounds": (0.0, [9.0, 2.5, 9.0])}, {"sigma": np.diag(0.1 + T), "absolute_sigma": True},
])
def test_curve_fit(more, calls):
    found, covariance = s2s.scipy.curve_fit(model, T, Y, **more)
    plain, plain_covariance = optimize.curve_fit(model, T, Y, **more)
    np.testing.assert_allclose(found, plain, rtol=1e-5)
    np.testing.assert_allclose(covariance, plain_covariance, rtol=1e-3, atol=1e-12)


def test_curve_fit_calls_the_model_for_values_only():
    *_, info, _, _ = s2s.scipy.curve_fit(model, T, Y, full_output=True)
    *_, differences, _, _ = optimize.curve_fit(model, T, Y, full_output=True)
    assert info["nfev"] < differences["nfev"] / 2
    one, _ = s2s.scipy.curve_fit(lambda t, rate: np.exp(-rate * t), T, np.exp(-2.0 * T), p0=1.0)
    np.testing.assert_allclose(one, [2.0], rtol=1e-6)
    found, _ = s2s.scipy.curve_fit(lambda t, *c: c[0] + c[1] * t + c[2] * t**2, T, 1.0 + T**2, p0=[0.0, 0.0, 0.0])
    np.testing.assert_allclose(found, [1.0, 0.0, 1.0], atol=1e-8)


@pytest.mark.parametrize("bounds", [None, {"rates": (0.0, None), "offset": (0.0, 1.0)}])
def test_curve_fit_of_structures(bounds):
    def of_object(t, p):
        return p.rates[0] * np.exp(-p.rates[1] * t**p.power) + p.offset

    more = {} if bounds is None else {"bounds": bounds}
    found, covariance = s2s.scipy.curve_fit(of_object, T, Y, Decay(np.ones(2), 0.5), **more)
    plain, plain_covariance = optimize.curve_fit(model, T, Y)
    np.testing.assert_allclose([*found.rates, found.offset], plain, rtol=1e-5)
    np.testing.assert_allclose(covariance, plain_covariance, rtol=1e-3)


# --- solve_ivp --------------------------------------------------------------------------------------------------------


def robertson(t, y):
    return [-0.04 * y[0] + 1e4 * y[1] * y[2], 0.04 * y[0] - 1e4 * y[1] * y[2] - 3e7 * y[1] ** 2, 3e7 * y[1] ** 2]


def oscillator(t, y, stiffness):
    return np.array([y[1], stiffness * (1.0 - y[0] ** 2) * y[1] - y[0]])


@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA"])
@pytest.mark.parametrize(("fun", "end", "y0", "more"), [
    (robertson, 40.0, [1, 0, 0], {}), (oscillator, 100.0, [2.0, 0.0], {"args": (1e2,)}),
], ids=["robertson", "oscillator"])
def test_solve_ivp(fun, end, y0, more, method):
    found = s2s.scipy.solve_ivp(fun, (0.0, end), y0, method, rtol=1e-6, atol=1e-9, **more)
    plain = integrate.solve_ivp(fun, (0.0, end), y0, method, rtol=1e-6, atol=1e-9, **more)
    np.testing.assert_allclose(found.y[:, -1], plain.y[:, -1], rtol=1e-3)
    assert found.success and found.njev > 0
    if method == "LSODA":  # the others do not count differences
        assert found.nfev < plain.nfev


def test_the_derivative_of_solve_ivp_is_used(calls):
    """Differences call the function once for each number of the state."""
    def counted_calls(solve):
        calls["f"] = 0
        f = calls["of"](oscillator)
        f = s2s.differentiable(f)
        found = solve(f, (0.0, 100.0), [2.0, 0.0], "Radau", args=(1e2,))
        return calls["f"], found

    by_differences, plain = counted_calls(integrate.solve_ivp)
    assert by_differences >= plain.nfev + 2 * plain.njev
    hand = lambda t, y, s: np.array([[0.0, 1.0], [-2.0 * s * y[0] * y[1] - 1.0, s * (1.0 - y[0] ** 2)]])
    found = s2s.scipy.solve_ivp(oscillator, (0.0, 100.0), [2.0, 0.0], "Radau", args=(1e2,))
    by_hand = integrate.solve_ivp(oscillator, (0.0, 100.0), [2.0, 0.0], "Radau", args=(1e2,), jac=hand)
    assert (found.nfev, found.njev, found.nlu) == (by_hand.nfev, by_hand.njev, by_hand.nlu)
    np.testing.assert_allclose(found.y, by_hand.y, rtol=1e-9)


@pytest.mark.parametrize("method", ["RK45", "DOP853", integrate.RK23, integrate.BDF])
def test_methods_without_jacobians_and_classes(method):
    found = s2s.scipy.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0, 2.0], method, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.y[:, -1], np.exp(-1.0) * np.array([1.0, 2.0]), rtol=1e-4)
    assert (found.njev > 0) == (method is integrate.BDF)


def test_a_complex_state_and_one_number():
    found = s2s.scipy.solve_ivp(lambda t, y: 1j * y**2, (0.0, 1.0), [0.5 + 0.5j], "BDF", rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.y[0, -1], 1.0 / (1.0 / (0.5 + 0.5j) - 1j), rtol=1e-6)
    found = s2s.scipy.solve_ivp(lambda t, y: -50.0 * y[0], (0.0, 1.0), [1.0], "Radau", events=lambda t, y: y[0] - 0.5)
    np.testing.assert_allclose(found.t_events[0], np.log(2.0) / 50.0, rtol=1e-2)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["least_squares", "root", "curve_fit", "solve_ivp"])
def test_derivatives_of_ones_own_are_refused(name):
    function = getattr(s2s.scipy, name)
    with pytest.raises(ArgumentError, match=f"`s2s.scipy.{name}` was given `jac`, which it supplies"):
        function(lambda *args: args[0], [1.0], [1.0], jac=lambda *args: 1.0)
    with pytest.raises(ArgumentError, match="is not a function that can be differentiated"):
        function([1.0], [1.0], [1.0])
