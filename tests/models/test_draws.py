"""Draws with differentiated parameters: path-wise derivatives, held against differences with the same stream."""

import random

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError

pytestmark = pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
X = np.array([0.4, 1.3, 0.9])


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    """Second derivatives are recorded where the class of a generator is known only when the program runs."""
    monkeypatch.setenv("S2S_RECORDED", "1")


DRAWS = {
    "uniform": lambda r, x: r.uniform(x[0], x[1] + 2.0, 3),
    "normal": lambda r, x: r.normal(x[0], x[1], size=3),
    "normal of arrays": lambda r, x: r.normal(loc=x, scale=x**2),
    "one normal": lambda r, x: r.normal(x[0], scale=x[1]) * r.normal(x[2]),
    "rows": lambda r, x: r.normal(x, 0.5, (2, 3)),
    "lognormal": lambda r, x: r.lognormal(x[0], 0.3 * x[1], 3),
    "exponential": lambda r, x: r.exponential(x, 3),
    "rayleigh": lambda r, x: r.rayleigh(x[0]),
    "laplace": lambda r, x: r.laplace(x[0], x[1], 3),
    "logistic": lambda r, x: r.logistic(x[0], x[1], 3),
    "gumbel": lambda r, x: r.gumbel(x[0], x[1]),
    "weibull": lambda r, x: r.weibull(x + 1.0),
    "pareto": lambda r, x: r.pareto(x + 2.0),
    "power": lambda r, x: r.power(x[1], 3),
    "triangular": lambda r, x: r.triangular(x[0], x[1] + 0.2, x[2] + 3.0, 5),
}
MAKERS = {"Generator": np.random.default_rng, "RandomState": np.random.RandomState}


def central(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)])


def check(f, x=X):
    gradient = s2s.grad(f)(x)
    np.testing.assert_allclose(gradient, central(f, x), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (0.5 + x,))[1], gradient @ (0.5 + x), rtol=1e-9)
    np.testing.assert_allclose(s2s.hessian(f)(x), central(s2s.grad(f), x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_has_the_derivative_of_the_same_draw(name, maker):
    make, draw = MAKERS[maker], DRAWS[name]
    check(lambda x: np.sum(draw(make(3), x) ** 2))


def test_the_functions_of_the_module_draw_from_its_own_stream():
    def f(x):
        np.random.seed(2)
        return np.sum(np.random.normal(x[0], x[1], 3) ** 2) + np.random.uniform(x[0], x[2]) * np.random.gamma(2.0, x[1])

    check(f)


def test_each_draw_is_made_once_and_the_stream_goes_on_as_without_a_derivative():
    def f(x, rng):
        return np.sum(rng.normal(x, 2.0) ** 2) + rng.uniform(x[0], 3.0)

    plain, differentiated = np.random.default_rng(5), np.random.default_rng(5)
    value = f(X, plain)
    found, gradient = s2s.value_and_grad(f)(X, differentiated)
    assert found == pytest.approx(value, rel=1e-15)
    assert plain.random() == differentiated.random()
    np.testing.assert_allclose(gradient, central(lambda x: f(x, np.random.default_rng(5)), X), rtol=1e-6)


def test_draws_of_the_standard_library():
    def f(x):
        rng = random.Random(2)
        drawn = rng.normalvariate(x[0], x[1]) ** 2 + rng.uniform(x[0], x[2]) * rng.expovariate(x[1])
        return drawn + rng.triangular(x[0], x[1] + 1.0, x[2]) + rng.lognormvariate(x[0], x[1])

    check(f)


def test_a_parameter_without_a_path_is_refused():
    """The number that is drawn from a gamma distribution is no function of its shape and another draw."""
    with pytest.raises(DifferentiationError):
        s2s.grad(lambda x: np.random.default_rng(3).gamma(x))(1.5)
