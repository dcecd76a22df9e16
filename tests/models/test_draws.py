"""Draws with differentiated parameters: path-wise derivatives, held against differences with the same stream."""

import random

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError
from s2s.models import draws

stats = pytest.importorskip("scipy.stats")

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
TAKEN = {
    "multivariate normal": lambda r, x: r.multivariate_normal(x[:2], covariance(x), (2, 3)),
    "permutation": lambda r, x: r.permutation(x**2) * x + r.permutation(list(x)),
    "permutation of rows": lambda r, x: r.permutation(np.outer(x, x + 1.0)) * x,
    "choice": lambda r, x: r.choice(x) * r.choice(x**2, (2, 3)) * x + r.choice(x, 3, p=[0.2, 0.5, 0.3]),
    "choice without repeats": lambda r, x: r.choice(list(x), 3, replace=False) * x,
    "shuffle": lambda r, x: shuffled(r, x * x) * x,
    "shuffle of rows": lambda r, x: shuffled(r, np.outer(x, x + 1.0).T) * x,
    "shuffle of a list": lambda r, x: np.array(shuffled(r, list(x))) * x,
}
OF_GENERATORS = {
    "by Cholesky's factor": lambda r, x: r.multivariate_normal(x[:2], covariance(x), 3, method="cholesky"),
    "by eigenvalues": lambda r, x: r.multivariate_normal(x[:2], covariance(x), method="eigh"),
    "permutation of columns": lambda r, x: r.permutation(np.outer(x, x + 1.0), axis=1) * x,
    "permuted": lambda r, x: r.permuted(np.outer(x, x + 1.0), axis=1) * x + r.permuted(x),
    "choice of columns": lambda r, x: r.choice(np.outer(x, x + 1.0), 3, axis=1, replace=False, shuffle=False) * x,
    "shuffle of columns": lambda r, x: shuffled(r, np.outer(x, x + 1.0), axis=1) * x,
}


def covariance(x):
    return np.array([[2.0 + x[0], 0.5 * x[1]], [0.5 * x[1], 1.0 + x[2]]])


def shuffled(r, items, **options):
    r.shuffle(items, **options)
    return items


MAKERS = {"Generator": np.random.default_rng, "RandomState": np.random.RandomState}


def central(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)])


def check(f, x=X):
    gradient = s2s.grad(f)(x)
    np.testing.assert_allclose(gradient, central(f, x), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (0.5 + x,))[1], gradient @ (0.5 + x), rtol=1e-9)
    np.testing.assert_allclose(s2s.hessian(f)(x), central(s2s.grad(f), x), rtol=1e-5, atol=1e-6)


@pytest.mark.grid(0.25)
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("name", [*DRAWS, *TAKEN])
def test_a_draw_has_the_derivative_of_the_same_draw(name, maker):
    make, draw = MAKERS[maker], (DRAWS | TAKEN)[name]
    check(lambda x: np.sum(draw(make(3), x) ** 2))


@pytest.mark.parametrize("maker", MAKERS)
def test_models_draw_the_numbers_of_numpy(maker):
    x, y = np.array([0.4, 1.3, 0.9]), np.array([1.5, 2.0, 3.0])
    of_one = ("exponential", "rayleigh", "weibull", "pareto", "power", "standard_gamma", "chisquare", "standard_t")
    of_two = ("uniform", "normal", "lognormal", "laplace", "logistic", "gumbel", "gamma", "beta")
    cases = [(n, (x,)) for n in of_one] + [(n, (x, y)) for n in of_two] + [("triangular", (x, y, y + 2.0))]
    for name, given in cases:
        numbers = [a[1] for a in given]
        for parameters, size in ((given, None), (given, (2, 3)), (numbers, None), (numbers, 4)):
            found = getattr(draws, name)(MAKERS[maker](7), *parameters, size=size)
            wanted = getattr(MAKERS[maker](7), name)(*parameters, size=size)
            np.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=name)
            assert np.shape(found) == np.shape(wanted)


@pytest.mark.parametrize("name", OF_GENERATORS)
def test_draws_that_generators_alone_have(name):
    check(lambda x: np.sum(OF_GENERATORS[name](np.random.default_rng(3), x) ** 2))


SHAPES = {
    "gamma": lambda r, x: r.gamma(x, 2.0, (2, 3)),
    "standard gamma": lambda r, x: r.standard_gamma(x[1]),
    "chi-squared": lambda r, x: r.chisquare(x, (2, 3)),
    "beta": lambda r, x: r.beta(x, x[::-1] ** 2),
    "Student's": lambda r, x: r.standard_t(x + 1.0, (2, 3)),
}


BY_ALL = [(name, maker) for name in TAKEN | SHAPES for maker in MAKERS] + [(n, "Generator") for n in OF_GENERATORS]


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("mode", ["1", "always"])
@pytest.mark.parametrize(("name", "maker"), BY_ALL)
def test_the_same_numbers_are_drawn_and_the_stream_goes_on(name, maker, mode, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", mode)
    make, draw = MAKERS[maker], (TAKEN | OF_GENERATORS | SHAPES)[name]
    if mode == "always" and name in SHAPES:  # differences of the same stream are not this derivative
        with pytest.raises(DifferentiationError):
            s2s.grad(lambda x: np.sum(draw(make(3), x)))(X)
        return

    def f(x):
        stream = make(5)
        first = draw(stream, x)
        return first, stream.random(3), draw(stream, x)

    for one, other in zip(s2s.jvp(f, (X,), (X,))[0], f(X), strict=True):
        np.testing.assert_array_equal(one, other)
        assert np.asarray(one).dtype == np.asarray(other).dtype


def test_types_of_numbers_that_are_shuffled():
    for kind in (np.float32, complex):
        def f(x, kind=kind):
            y, stream = x.astype(kind), np.random.default_rng(1)
            stream.shuffle(y)
            return np.real(y[0] * y[1] ** 2) + stream.normal() * x[0]

        np.testing.assert_allclose(s2s.grad(f)(X), central(lambda x: f(x, complex), X), rtol=1e-6)


# --- shapes: along the quantiles ------------------------------------------------------------------------------------


def along_quantiles(distribution, parameters, drawn, x):
    """The function of ``x`` that is the draw at ``x``, and what stays on its quantile elsewhere."""
    below = distribution.cdf(drawn, *parameters(x))
    return lambda z: np.sum(distribution.ppf(below, *parameters(z)) ** 2)


QUANTILES = {
    "gamma": (stats.gamma, lambda x: (x, 0.0, 2.0)),
    "standard gamma": (stats.gamma, lambda x: (x[1],)),
    "chi-squared": (stats.chi2, lambda x: (x,)),
    "beta": (stats.beta, lambda x: (x, x[::-1] ** 2)),
    "Student's": (stats.t, lambda x: (x + 1.0,)),
}


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_moves_a_draw_along_its_quantile(name, maker):
    make, draw = MAKERS[maker], SHAPES[name]

    def f(x):
        return np.sum(draw(make(3), x) ** 2)

    moved = along_quantiles(*QUANTILES[name], draw(make(3), X), X)
    gradient = s2s.grad(f)(X)
    np.testing.assert_allclose(gradient, central(moved, X, 1e-5), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(s2s.jvp(f, (X,), (X,))[1], gradient @ X, rtol=1e-9)
    second = [[second_difference(moved, X, a, b) for a in np.eye(3)] for b in np.eye(3)]
    np.testing.assert_allclose(s2s.jacfwd(s2s.grad(f))(X), second, rtol=1e-3, atol=1e-3)


def second_difference(f, x, a, b, h=1e-3):
    return (f(x + h * a + h * b) - f(x + h * a - h * b) - f(x - h * a + h * b) + f(x - h * a - h * b)) / (4.0 * h * h)


@pytest.mark.slow
def test_the_mean_of_draws_has_the_derivative_of_the_mean():
    """Of gamma it is the shape itself, which the path through NumPy's rejections would not give."""
    slope = s2s.grad(lambda a: np.mean(np.random.default_rng(0).gamma(a, 1.0, 200_000)))(0.7)
    assert slope == pytest.approx(1.0, abs=0.01)


REFUSED = {
    "poisson": lambda r, x: r.poisson(x[0]) * x[1],
    "a probability": lambda r, x: r.choice(2, p=x[:2] / (x[0] + x[1])) * x[0],
    "items and probabilities": lambda r, x: r.choice(x, p=x / np.sum(x)),
}


@pytest.mark.parametrize("mode", ["0", "1"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_jumps_is_refused(name, mode, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", mode)
    with pytest.raises(DifferentiationError) as caught:
        s2s.grad(lambda x: np.sum(REFUSED[name](np.random.default_rng(3), x)))(X)
    assert caught.value.diagnostic.code in ("S2S201", "S2S202")
    assert "poisson" in str(caught.value) or "jumps with a probability" in str(caught.value)


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


@pytest.mark.slow
def test_draws_of_the_standard_library():
    def f(x):
        rng = random.Random(2)
        drawn = rng.normalvariate(x[0], x[1]) ** 2 + rng.uniform(x[0], x[2]) * rng.expovariate(x[1])
        return drawn + rng.triangular(x[0], x[1] + 1.0, x[2]) + rng.lognormvariate(x[0], x[1])

    check(f)
