"""Derivatives of integrals that have another shape than the integral: integrated to a tolerance of their own, at few
places."""

import cmath
import math

import numpy as np
import pytest
from scipy import integrate, special

import s2s
from s2s.models import quadrature
from tests.helpers import differences

# Functions of p, a place, and the derivative there.
OF_THEIR_OWN = {
    "a peak where the value is zero": (
        lambda p: integrate.quad(lambda x: p * np.exp(-1000.0 * (x - 0.3) ** 2), 0.0, 1.0)[0], 0.0,
        np.sqrt(np.pi / 1000.0) * 0.5 * (special.erf(0.7 * np.sqrt(1000.0)) + special.erf(0.3 * np.sqrt(1000.0)))),
    "a wave that the value lacks": (
        lambda p: integrate.quad(lambda x: np.exp(x) + p * np.cos(200.0 * x), 0.0, 1.0)[0], 0.0, np.sin(200.0) / 200.0),
    "a wave in vectors": (
        lambda p: integrate.quad_vec(lambda x: np.exp(x) + p * np.cos(200.0 * x), 0.0, 1.0)[0], 0.0,
        np.sin(200.0) / 200.0),
    "a bend that becomes a jump": (
        lambda p: integrate.quad(lambda x: np.maximum(x - p, 0.0), 0.0, 1.0)[0], 0.3, -0.7),
    "a slope that is steep": (
        lambda p: integrate.quad(lambda x: np.sqrt((x - 0.3) ** 2 + p * p), 0.0, 1.0)[0], 1e-4,
        1e-4 * (np.arcsinh(7000.0) + np.arcsinh(3000.0))),
    "a wave in what decays": (
        lambda p: integrate.quad(lambda x: np.exp(-x) * (1.0 + p * np.sin(40.0 * x)), 0.0, np.inf)[0], 0.0,
        40.0 / 1601.0),
    "zero by symmetry": (lambda p: integrate.quad(lambda x: np.exp(-((x - p) ** 2)), -2.0, 2.0)[0], 0.0, 0.0),
    "a pole at both ends": (
        lambda p: integrate.quad(lambda x: (x - x * x) ** (p - 1.0), 0.0, 1.0)[0], 0.6,
        2.0 * special.beta(0.6, 0.6) * (special.digamma(0.6) - special.digamma(1.2))),
    "a pole within": (
        lambda p: integrate.quad(lambda x: abs(x - 0.4) ** (p - 1.0), 0.0, 1.0, points=[0.4])[0], 0.5,
        sum(d**0.5 * (np.log(d) / 0.5 - 4.0) for d in (0.4, 0.6))),
    "an integral that does not depend on the outer variable": (
        lambda p: integrate.quad(lambda x: x * integrate.quad(lambda y: math.exp(-p * x * y), 0, np.inf)[0], 0.5, p)[0],
        0.7, 0.2 * -1.0 / 0.49 + 1.0 / 0.7),
    "a vector without an end": (
        lambda p: integrate.quad_vec(lambda x: np.exp(-p * x), 0.0, np.inf)[0], 0.5, -4.0),
    "a vector without ends": (
        lambda p: integrate.quad_vec(lambda x: np.exp(-p * x * x), np.inf, -np.inf)[0], 0.7,
        0.5 * np.sqrt(np.pi) / 0.7**1.5),
}  # fmt: skip


SLOW = ("an integral that does not depend on the outer variable",)


@pytest.mark.parametrize("f, p, slope", [
    pytest.param(*case, id=name, marks=[pytest.mark.slow] if name in SLOW else [])
    for name, case in OF_THEIR_OWN.items()
])
def test_closed_form(f, p, slope):
    value, gradient = s2s.value_and_grad(f)(p)
    assert value == f(p)
    assert gradient == pytest.approx(slope, rel=3e-8, abs=1e-12)
    assert s2s.jvp(f, (p,), (2.0,))[1] == pytest.approx(2.0 * slope, rel=3e-8, abs=1e-12)


@pytest.mark.slow
def test_second_derivative_of_its_own_shape():
    def f(p):
        return integrate.quad(lambda x: np.exp(x) + p * p * np.cos(200.0 * x), 0.0, 1.0)[0]

    assert s2s.grad(s2s.grad(f))(0.0) == pytest.approx(2.0 * np.sin(200.0) / 200.0, rel=1e-8)
    assert s2s.jvp(s2s.grad(f), (0.0,), (1.0,))[1] == pytest.approx(2.0 * np.sin(200.0) / 200.0, rel=1e-8)


class Wave:
    def __init__(self, height, rate):
        self.height, self.rate = height, rate

    def __call__(self, x):
        return self.height * math.sin(self.rate * x)


def of_complex_numbers(p):
    z, w = complex(p[0], p[1]), np.array([1.0, 2.0]) * (p[0] + 1j * p[1])
    return integrate.quad(lambda x: cmath.exp(z * x).real + np.sum(np.exp(w * x)).imag, 0.0, 1.0)[0]


def of_complex_values(p):
    return np.sum(np.abs(integrate.quad_vec(lambda x: np.exp(1j * p * x), 0.0, 2.0)[0]) ** 2)


def of_an_object(p):
    return integrate.quad(Wave(p[0], p[1]), 0.0, p[1])[0]


def of_each_other(p):
    y = 1.0
    for _ in range(3):
        y = integrate.quad(lambda x: y * math.exp(-p[0] * x) + p[1], 0.0, 1.0)[0]
    return y


def of_waves(p):
    return integrate.quad(lambda x: math.exp(-p[0] * x), 0.0, 2.0, weight="cos", wvar=p[1])[0]


def beside_a_pole(p):
    return integrate.quad(lambda x: math.exp(-p[0] * x), 0.0, 2.0, weight="cauchy", wvar=p[1])[0]


OF_TWO = (of_complex_numbers, of_complex_values, of_an_object, of_each_other, of_waves, beside_a_pole)


@pytest.mark.parametrize("f", [
    pytest.param(f, marks=[pytest.mark.slow] if f in (of_complex_values, beside_a_pole) else []) for f in OF_TWO
])
def test_differences(f):
    p, dot = np.array([0.4, 0.7]), np.array([1.0, -0.5])
    value, gradient = s2s.value_and_grad(f)(p)
    expected = differences(f, p)
    assert value == f(p)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)
    np.testing.assert_allclose(s2s.jvp(f, (p,), (dot,))[1], expected @ dot, rtol=1e-6)


# --- at few places ----------------------------------------------------------------------------------------------------


def heston(p):
    v0, kappa, theta, sigma, rho, spot = p

    def integrand(u):
        iu = 1j * (u - 0.5j)
        d = np.sqrt((rho * sigma * iu - kappa) ** 2 + sigma**2 * (iu - iu * iu))
        g = (kappa - rho * sigma * iu - d) / (kappa - rho * sigma * iu + d)
        e = np.exp(-d)
        drift = kappa * theta / sigma**2 * (
            (kappa - rho * sigma * iu - d) - 2.0 * np.log((1.0 - g * e) / (1.0 - g)))
        spread = (kappa - rho * sigma * iu - d) / sigma**2 * (1.0 - e) / (1.0 - g * e)
        return np.real(np.exp(drift + spread * v0 + iu * np.log(spot / 100.0))) / (u**2 + 0.25)

    return spot - np.sqrt(100.0 * spot) / np.pi * integrate.quad(integrand, 0.0, np.inf)[0]


def peak(p):
    return integrate.quad(lambda x: np.exp(-0.5 * ((x - p[0]) / p[1]) ** 2), 0.0, 100.0, points=[50.0])[0]


def singular(p):
    return integrate.quad(lambda x: np.exp(p[0] * x) * x ** (p[1] - 1.0), 0.0, 1.0)[0]


@pytest.mark.parametrize(
    "f, p, rtol",
    [
        pytest.param(heston, [0.04, 1.5, 0.05, 0.4, -0.6, 98.0], 1e-5, marks=pytest.mark.slow),
        (peak, [50.0, 0.05], 1e-4),
        (singular, [0.3, 0.5], 1e-5),
    ],
)
def test_a_derivative_is_read_at_few_places(f, p, rtol, monkeypatch):
    """No more than SciPy reads, apart from a round of refinement."""
    counts = {"value": 0, "derivative": 0}
    scipy_quad, rows, row = integrate.quad, quadrature._rows, quadrature._row

    def counted(*args, **kwargs):
        found = scipy_quad(*args, **{**kwargs, "full_output": 1})
        counts["value"] += found[2]["neval"]
        return found[:2]

    p = np.array(p)
    expected = differences(f, p)
    monkeypatch.setattr(integrate, "quad", counted)
    f(p)
    monkeypatch.setattr(integrate, "quad", scipy_quad)

    def at_all(values):
        if not isinstance(values[0], float):
            counts["derivative"] += isinstance(values[0], tuple) * len(values)
        return rows(values)

    def at_one(value):
        counts["derivative"] += isinstance(value, tuple)
        return row(value)

    monkeypatch.setattr(quadrature, "_rows", at_all)
    monkeypatch.setattr(quadrature, "_row", at_one)
    np.testing.assert_allclose(s2s.grad(f)(p), expected, rtol=rtol, atol=1e-6)
    assert 0 < counts["derivative"] <= 1.5 * counts["value"]


def steps(x, p):
    return 1.0 if x < p else 0.5


JUMPS = {
    "a branch": lambda p: integrate.quad(lambda x: 1.0 if x < p else 0.5, 0.0, 1.0)[0],
    "in the middle": lambda p: integrate.quad(lambda x: 1.0 if x < p + 0.2 else 0.5, 0.0, 1.0)[0],
    "a sign": lambda p: integrate.quad(lambda x: np.sign(x - p) * x, 0.0, 1.0)[0],
    "a sign in the middle": lambda p: integrate.quad(lambda x: np.sign(x - p - 0.2) * x, 0.0, 1.0)[0],
    "a choice between slopes": lambda p: integrate.quad(lambda x: np.where(x < p, p * x, p), 0.0, 1.0)[0],
    "without an end": lambda p: integrate.quad(lambda x: np.exp(-x) * steps(x, 7.0 * p), 0.0, np.inf)[0],
    "without ends": lambda p: integrate.quad(lambda x: np.exp(-x * x) * steps(x, p), -np.inf, np.inf)[0],
    "at a point that is given": lambda p: integrate.quad(lambda x: steps(x, p), 0.0, 1.0, points=[p])[0],
    "a fixed place between ends that move": lambda p: integrate.quad(lambda x: p * steps(x, 0.1), 0.0, p)[0],
    "vectors": lambda p: integrate.quad_vec(lambda x: np.array([1.0, x]) * (x < p), 0.0, 1.0)[0][1],
    "vectors in the middle": lambda p: integrate.quad_vec(lambda x: np.array([1.0, p]) * (x < p + 0.2), 0.0, 1.0)[0][1],
    "two, of which one is fixed": lambda p: integrate.quad(lambda x: steps(x, p) * steps(x, 0.7), 0.0, 1.0)[0],
    "inside another": lambda p: integrate.dblquad(lambda y, x: steps(y, p * x), 0.0, 1.0, 0.0, 1.0, epsabs=1e-4)[0],
    "a step by the outer variable inside": lambda p: integrate.dblquad(
        lambda y, x: y if x < p else 0.0, 0.0, 1.0, 0.0, 1.0)[0],
    "a sign by the outer variable inside": lambda p: integrate.nquad(
        lambda y, x: y + np.sign(x - p), [(0.0, 1.0), (0.0, 1.0)])[0],
    "floor": lambda p: integrate.quad(lambda x: np.floor(5.0 * p * x) * x, 0.0, 1.0)[0],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::s2s.ZeroGradientWarning", "ignore::scipy.integrate.IntegrationWarning",
                            "ignore::s2s.StraightThroughWarning", "ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("recorded", ["0", "1", "always"])
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.slow] if name == "inside another" else []) for name in JUMPS])
def test_a_jump_that_moves_is_refused(name, recorded, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", recorded)
    for derivative in (s2s.grad(JUMPS[name]), lambda p: s2s.jvp(JUMPS[name], (p,), (1.0,))):
        with pytest.raises(s2s.errors.NoDerivativeError, match="jumps at a place that moves") as caught:
            derivative(0.3)
        assert caught.value.diagnostic.code == "S2S213"


STAYS = {
    "a fixed place": (lambda p: integrate.quad(lambda x: p * steps(x, 0.3), 0.0, 1.0)[0], 0.65),
    "a range that ends there": (
        lambda p: integrate.quad(lambda x: steps(x, p), 0.0, p)[0] + integrate.quad(lambda x: steps(x, p), p, 1.0)[0],
        0.5),
    "a bend": (lambda p: integrate.quad(lambda x: max(x - p, 0.0), 0.0, 1.0)[0], -0.63),
    "a steep slope": (
        lambda p: integrate.quad(lambda x: math.tanh(1e5 * (x - p)), 0.0, 1.0, points=[p])[0], -2.0),
    "a pole at an end": (lambda p: integrate.quad(lambda x: p / math.sqrt(x), 0.0, 1.0)[0], 2.0),
}  # fmt: skip


@pytest.mark.parametrize("name", STAYS)
def test_what_does_not_jump_or_stays_has_a_derivative(name):
    f, slope = STAYS[name]
    assert s2s.grad(f)(0.37) == pytest.approx(slope, rel=1e-6)
    assert s2s.jvp(f, (0.37,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)


BENDS = {
    "a bend that is known": lambda p: integrate.quad(lambda x: abs(x - p), 0.0, 1.0, points=[p])[0],
    "a bend of a wave": lambda p: integrate.quad(lambda x: abs(math.sin(x + p) - 0.5), 0.0, 1.0)[0],
    "a bend in a row": lambda p: integrate.quad_vec(lambda x: np.maximum(x - p, 0.0) * np.exp(-x), 0.0, np.inf)[0],
    "a payoff": lambda p: integrate.quad(lambda x: max(p * math.exp(x) - 0.2, 0.0) * math.exp(-x * x), -4.0, 4.0)[0],
    "a bend of the outer one": lambda p: integrate.dblquad(lambda y, x: max(x - p, 0.0) * y, 0.0, 1.0, 0.0, 1.0)[0],
}


@pytest.mark.parametrize("name", BENDS)
@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
def test_a_bend_that_moves_has_no_second_derivative_under_the_integral(name):
    first = s2s.grad(BENDS[name])
    for second in (s2s.grad(first), lambda p: s2s.jvp(first, (p,), (1.0,))):
        with pytest.raises(s2s.errors.NoDerivativeError, match="jumps at a place that moves"):
            second(0.3)


SECOND = {
    "a fixed bend": (lambda p: integrate.quad(lambda x: math.exp(p * x) * abs(x - 0.3), 0.0, 1.0)[0], None),
    "a steep slope": (lambda p: integrate.quad(lambda x: math.tanh(40.0 * (x - p)), 0.0, 1.0)[0], 0.0),
    "a range that ends there": (
        lambda p: integrate.quad(lambda x: (x - p) ** 2, p, 1.0)[0] + integrate.quad(lambda x: p - x, 0.0, p)[0], 2.26),
}


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives_where_nothing_jumps(name):
    f, expected = SECOND[name]
    first, h = s2s.grad(f), 1e-4
    if expected is None:
        expected = (first(0.37 + h) - first(0.37 - h)) / (2.0 * h)
    assert s2s.grad(first)(0.37) == pytest.approx(expected, rel=1e-6, abs=1e-7)
    assert s2s.jvp(first, (0.37,), (1.0,))[1] == pytest.approx(expected, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", [
    "a bend that is known", pytest.param("a bend of the outer one", marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_a_bend_has_no_second_derivative_under_the_integral_in_recordings(name, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")
    first = s2s.grad(BENDS[name])
    for second in (s2s.grad(first), lambda p: s2s.jvp(first, (p,), (1.0,))):
        with pytest.raises(s2s.errors.NoDerivativeError, match="jumps at a place that moves"):
            second(0.3)


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_second_derivatives_of_smooth_integrals_in_recordings(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")
    first = s2s.grad(lambda p: integrate.quad(lambda x: np.exp(p * x), 0.0, 1.0)[0])
    expected = integrate.quad(lambda x: x * x * np.exp(0.3 * x), 0.0, 1.0)[0]
    assert s2s.grad(first)(0.3) == pytest.approx(expected, rel=1e-6)
    assert s2s.jvp(first, (0.3,), (1.0,))[1] == pytest.approx(expected, rel=1e-6)
