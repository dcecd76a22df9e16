"""The Hessenberg form and LDL' factors of matrices that are not definite, against differences."""

import numpy as np
import pytest
from scipy import linalg

import s2s
from s2s.errors import NoDerivativeError

A = np.random.default_rng(0).normal(size=(4, 4))
BLOCKS = np.array([[0.0, 2.0, 0.3, -0.1], [0.0, 0.01, 0.2, 0.4], [0.0, 0.0, -3.0, 0.1], [0.0, 0.0, 0.0, 0.02]])
W = np.arange(1.0, 17.0).reshape(4, 4)


def form(a):
    return np.sum(linalg.hessenberg(a) ** 2 * W)


def form_and_turns(a):
    h, q = linalg.hessenberg(a, calc_q=True)
    return np.sum(h * W) + np.sum(q * W.T)


def factors(a):
    factor, d, order = linalg.ldl(a + a.T)
    return np.sum(d * W) + np.sum(factor[order] * W)


def factors_above(a):
    factor, d, _ = linalg.ldl(a + a.T, lower=False)
    return np.sum(d**2 * W) + np.sum(factor * W)


def differences(f, x, h=1e-3):
    made = np.zeros(np.shape(x))
    for i in np.ndindex(*np.shape(x)):
        e = np.zeros(np.shape(x))
        e[i] = h
        made[i] = (8.0 * (f(x + e) - f(x - e)) - (f(x + 2.0 * e) - f(x - 2.0 * e))) / (12.0 * h)
    return made


@pytest.mark.parametrize(
    "f, x",
    [(form, A), (form_and_turns, A), (factors, A), (factors_above, A), (factors, BLOCKS), (factors_above, BLOCKS)],
    ids=["form", "turns", "factors", "factors above", "blocks", "blocks above"],
)
def test_derivatives(f, x):
    gradient = s2s.grad(f)(x)
    np.testing.assert_allclose(gradient, differences(f, x), rtol=1e-6, atol=1e-6 * np.max(np.abs(gradient)))
    np.testing.assert_allclose(s2s.jacfwd(f)(x), gradient, rtol=1e-9, atol=1e-9 * np.max(np.abs(gradient)))
    v = np.cos(W)
    second = (s2s.grad(f)(x + 1e-5 * v) - s2s.grad(f)(x - 1e-5 * v)) / 2e-5
    np.testing.assert_allclose(s2s.hvp(f, (x,), (v,)), second, rtol=1e-5, atol=1e-6 * np.max(np.abs(second)))


def test_the_samples_have_a_block_of_two():
    assert np.count_nonzero(np.diag(linalg.ldl(BLOCKS + BLOCKS.T)[1], -1)) == 1


@pytest.mark.parametrize("f", [lambda a: linalg.hessenberg(a), lambda a: linalg.ldl(a)[1]], ids=["form", "factors"])
def test_complex_matrices_are_refused(f):
    with pytest.raises(NoDerivativeError, match="of a complex matrix it has no rule"):
        s2s.grad(lambda x: np.real(f((x + x.T) * (1.0 + 0.0j))[0, 0]))(A)
