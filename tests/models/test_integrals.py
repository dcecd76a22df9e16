"""Integrals of functions: values are SciPy's, derivatives those of the integrals, by closed forms and differences."""

import numpy as np
import pytest
from scipy import integrate, special

import s2s
from tests.helpers import differences

ROOT = np.sqrt(np.pi)


# Functions of p, a place, and the derivative there.
CLOSED = {
    "a decay that is over soon": (lambda p: integrate.quad(lambda t: np.exp(-p * t), 0, 100)[0], 100.0, -1e-4),
    "a long range": (lambda p: integrate.quad(lambda u: np.exp(-p * u * u), 0, 2000, limit=2000)[0], 1.0, -0.25 * ROOT),
    "a pole at an end": (
        lambda p: integrate.quad(lambda u: np.exp(p * u) / np.sqrt(u), 0, 1)[0], 0.5,
        2.0 / 3.0 * special.hyp1f1(1.5, 2.5, 0.5)),
    "a power that is a pole": (lambda p: integrate.quad(lambda u: u ** (p - 1.0), 0, 1)[0], 0.5, -4.0),
    "all numbers": (
        lambda p: integrate.quad(lambda x: np.exp(-p * x * x), -np.inf, np.inf)[0], 0.7, -ROOT / 2 / 0.7**1.5),
    "all numbers, downwards": (
        lambda p: integrate.quad(lambda x: np.exp(-p * x * x), np.inf, -np.inf)[0], 0.7, ROOT / 2 / 0.7**1.5),
    "from an end that moves": (
        lambda p: integrate.quad(lambda x: np.exp(-p * x), p, np.inf)[0], 0.7,
        -np.exp(-0.49) * (2.0 + 1.0 / 0.49)),
    "down to an end that moves": (
        lambda p: integrate.quad(lambda x: np.exp(x), p, -np.inf)[0], 0.3, -np.exp(0.3)),
    "up to an end that moves": (lambda p: integrate.quad(lambda x: np.exp(p * x), -np.inf, 0.0)[0], 0.5, -4.0),
    "downwards": (lambda p: integrate.quad(lambda x: p * x, 2.0, p)[0], 0.7, 1.5 * 0.49 - 2.0),
    "no range, of which an end moves": (lambda p: integrate.quad(lambda x: 3.0 + x, p, 0.7)[0], 0.7, -3.7),
    "arguments": (lambda p: integrate.quad(lambda x, a, b: a * x + b, 0, 2, args=(p, p * p))[0], 0.7, 2.0 + 4.0 * 0.7),
    "an integral of integrals": (
        lambda p: integrate.quad(lambda x: integrate.quad(lambda y: p * x * y, 0, x)[0], 0, 2)[0], 0.7, 2.0),
    "a triangle": (
        lambda p: integrate.dblquad(lambda y, x: p * x * y, 0.0, p, 0.0, lambda x: x)[0], 0.7, 0.625 * 0.7**4),
    "a solid": (
        lambda p: integrate.tplquad(lambda z, y, x: p * x * y * z, 0, 1, 0, 1, 0, lambda x, y: p)[0], 0.7,
        0.375 * 0.49),
    "ranges": (lambda p: integrate.nquad(lambda x, y, k: p * x * y * k, [lambda y, k: (0.0, y), (0.0, 2.0)], (3.0,))[0],
               0.7, 6.0),
}  # fmt: skip


@pytest.mark.parametrize("f, p, slope", [
    pytest.param(*case, id=name, marks=[pytest.mark.slow] if name in ("a solid", "ranges") else [])
    for name, case in CLOSED.items()
])
def test_closed_forms(f, p, slope):
    value, gradient = s2s.value_and_grad(f)(p)
    assert value == f(p)
    assert gradient == pytest.approx(slope, rel=1e-6)
    assert s2s.jvp(f, (p,), (2.0,))[1] == pytest.approx(2.0 * slope, rel=1e-6)


def of_decays(p):
    return integrate.quad_vec(lambda u: np.exp(-p * u), 0.0, 1e4)[0]


def up_to_its_own_end(p):
    return integrate.quad_vec(lambda u: np.sin(p * u), 0.0, p[1], points=[0.3])[0]


@pytest.mark.parametrize("f", [of_decays, up_to_its_own_end])
def test_integrals_of_vectors(f):
    p, weights = np.array([1.0, 2.0]), np.array([0.5, -2.0])
    out, pullback = s2s.vjp(f, p)
    np.testing.assert_array_equal(out, f(p))
    expected = differences(lambda q: weights @ f(q), p)
    np.testing.assert_allclose(pullback(weights)[0], expected, rtol=1e-6)
    np.testing.assert_allclose(s2s.jvp(f, (p,), (weights,))[1] @ weights, expected @ weights, rtol=1e-6)


def test_second_order():
    def f(p):
        return integrate.quad(lambda x: np.exp(-p * x), 0.0, np.inf)[0]

    assert s2s.grad(s2s.grad(f))(0.5) == pytest.approx(16.0, rel=1e-8)
    assert s2s.jvp(s2s.grad(f), (0.5,), (1.0,))[1] == pytest.approx(16.0, rel=1e-8)


@pytest.mark.slow
def test_four_variables():
    def f(p):
        return integrate.nquad(lambda a, b, c, d: p * p * a * b * c * d, [[0.0, 1.0]] * 4)[0]

    assert s2s.grad(f)(0.7) == pytest.approx(1.4 / 16.0, rel=1e-9)


def test_an_integral_that_does_not_exist_is_refused():
    with pytest.raises(s2s.errors.DifferentiationError, match="its error stays large"), pytest.warns(
        integrate.IntegrationWarning
    ), np.errstate(divide="ignore"):
        s2s.grad(lambda p: integrate.quad(lambda x: p / (x - 0.3), 0.0, 1.0)[0])(1.0)


def teeth(p):
    return integrate.quad(lambda u: p * u if u % 0.01 > 0.003 else 0.0, 0.0, 1.0)[0]


def folds(p):
    return integrate.quad(lambda u: np.abs(np.sin(150.0 * u)) * p, 0.0, 1.0, limit=2)[0]


@pytest.mark.parametrize("f", [teeth, folds])
def test_an_integral_whose_error_is_a_part_of_its_value_is_refused(f):
    """SciPy gives such a value with a warning; a derivative has nothing beside it."""
    with pytest.warns(integrate.IntegrationWarning):
        assert f(0.7) > 0.2
    with pytest.raises(s2s.errors.DifferentiationError, match="its error stays large"), pytest.warns(
        integrate.IntegrationWarning
    ):
        s2s.grad(f)(0.7)
