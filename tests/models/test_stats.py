"""Densities and distribution functions of ``scipy.stats`` through the compiler, by the place and by every parameter."""

from __future__ import annotations

import importlib.util
import math
from typing import Any

import numpy as np
import pytest
import scipy
from scipy import stats

import s2s
from s2s.errors import DifferentiationError, NoDerivativeError
from s2s.models import stats as models

IS_OLD = tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 17)
OF_COMPILED_CODE = ("ncx2.cdf", "ncx2.logcdf", "ncx2.logsf", "ncx2.ppf", "nct.ppf")
"""Methods that an older SciPy has in compiled code without a rule: they are refused."""

METHODS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
CONTINUOUS: dict[str, tuple[float, ...]] = {
    "norm": (), "expon": (), "laplace": (), "cauchy": (), "logistic": (), "uniform": (), "gumbel_r": (), "rayleigh": (),
    "halfnorm": (), "t": (3.5,), "gamma": (2.2,), "chi2": (3.3,), "invgamma": (2.7,), "lognorm": (0.8,),
    "weibull_min": (1.7,), "pareto": (2.5,), "beta": (2.1, 3.2), "f": (3.1, 4.3), "betaprime": (2.3, 3.4),
    "ncx2": (3.0, 1.1), "nct": (4.5, 0.7), "ncf": (4.0, 7.0, 1.2),
}
DENSITIES: dict[str, tuple[float, ...]] = {
    "alpha": (3.6,), "arcsine": (), "argus": (1.0,), "bradford": (0.3,), "burr": (10.5, 4.3), "burr12": (10.0, 4.0),
    "chi": (78.0,), "crystalball": (2.0, 3.0), "dgamma": (1.1,), "dweibull": (2.1,), "erlang": (10.0,),
    "exponnorm": (1.5,), "exponpow": (2.7,), "exponweib": (2.9, 1.95), "fatiguelife": (29.0,), "fisk": (3.1,),
    "foldcauchy": (4.7,), "foldnorm": (1.95,), "gengamma": (4.4, 3.1), "genlogistic": (0.4,), "gennorm": (1.3,),
    "gompertz": (0.95,), "halfcauchy": (), "halflogistic": (), "hypsecant": (), "invgauss": (0.15,),
    "invweibull": (10.6,), "johnsonsb": (4.3, 3.2), "johnsonsu": (2.55, 2.25), "kappa3": (1.0,), "levy": (),
    "loggamma": (0.4,), "loglaplace": (3.3,), "lomax": (1.9,), "maxwell": (), "mielke": (10.4, 4.6), "moyal": (),
    "nakagami": (5.0,), "norminvgauss": (1.25, 0.5), "powerlaw": (1.7,), "powernorm": (4.4,),
    "recipinvgauss": (0.6,), "rice": (0.8,), "semicircular": (), "skewcauchy": (0.5,), "skewnorm": (4.0,),
    "truncexpon": (4.7,), "truncnorm": (0.1, 2.0), "tukeylambda": (3.1,), "vonmises": (4.0,), "wald": (),
    "weibull_max": (2.9,), "wrapcauchy": (0.03,),
}
ARGUMENTS = {"ncx2": (0, 1, 2, 4), "nct": (0, 1, 2, 4), "ncf": (0, 1, 2, 5)}
"""Those by which there is a derivative, where it is not all of them: by the degrees of freedom there is none."""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A module with a function for each distribution and method: the weighted sum over two places."""
    lines = ["import numpy as np", "from scipy import stats", "", "W = np.array([0.3, 1.7])", ""]
    for name, shapes in (CONTINUOUS | DENSITIES).items():
        given = "".join(f", p{k}" for k in range(len(shapes)))
        for method in METHODS:
            call = f"stats.{name}.{method}(x{given}, loc=loc, scale=scale)"
            lines += ["", f"def {name}_{method}(x, loc, scale{given}):", f"    return np.sum(W * {call})", ""]
    file = tmp_path_factory.mktemp("stats") / "programs_of_stats.py"
    file.write_text("\n".join(lines), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("programs_of_stats", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def differences(f: Any, arguments: list[Any], h: float = 1e-4) -> list[Any]:
    """Central differences of fourth order by each argument."""
    found = []
    for k, a in enumerate(arguments):

        def at(change: Any, k: int = k, a: Any = a) -> Any:
            return f(*arguments[:k], a + change, *arguments[k + 1 :])

        steps = np.eye(len(a)) if np.ndim(a) else [1.0]
        slopes = [(8 * (at(h * e) - at(-h * e)) - (at(2 * h * e) - at(-2 * h * e))) / (12 * h) for e in steps]
        found.append(np.array(slopes) if np.ndim(a) else slopes[0])
    return found


def check(f: Any, arguments: list[Any], argnums: tuple[int, ...] | None = None) -> None:
    argnums = tuple(range(len(arguments))) if argnums is None else argnums
    value, gradient = s2s.value_and_grad(f, argnums=argnums)(*arguments)
    np.testing.assert_allclose(value, f(*arguments), rtol=1e-12)
    expected = differences(f, arguments)
    for k, g in zip(argnums, gradient, strict=True):
        np.testing.assert_allclose(g, expected[k], rtol=2e-6, atol=1e-7 * (1.0 + np.max(np.abs(expected[k]))))


@pytest.mark.grid(0.15)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_all_methods(name: str, programs: Any) -> None:
    shapes = CONTINUOUS[name]
    middle = getattr(stats, name).ppf(np.array([0.35, 0.6]), *shapes)
    for method in METHODS:
        f = getattr(programs, f"{name}_{method}")
        x = np.array([0.35, 0.6]) if method in ("ppf", "isf") else 0.2 + 1.3 * middle
        if f"{name}.{method}" in (OF_COMPILED_CODE if IS_OLD else ()):
            with pytest.raises(NoDerivativeError):
                s2s.grad(f)(x, 0.2, 1.3, *shapes)
            continue
        check(f, [x, 0.2, 1.3, *shapes], ARGUMENTS.get(name))


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("name", DENSITIES)
def test_densities(name: str, programs: Any) -> None:
    shapes = DENSITIES[name]
    x = 0.2 + 1.3 * getattr(stats, name).ppf(np.array([0.35, 0.6]), *shapes)
    check(getattr(programs, f"{name}_logpdf"), [x, 0.2, 1.3, *shapes], ARGUMENTS.get(name))


# --- discrete distributions -------------------------------------------------------------------------------------------


def poisson(mu):
    k = np.array([0, 2, 5])
    return np.sum(stats.poisson.logpmf(k, mu)) + stats.poisson.pmf(1, mu) + np.sum(stats.poisson.cdf(k, mu))


def binomial(p):
    k = np.array([0, 2, 5])
    return np.sum(stats.binom.logpmf(k, 5, p)) + stats.binom.pmf(1, 4, p) + np.sum(stats.binom.sf(k, 5, p))


def negative_binomial(p):
    k = np.array([0, 2, 5])
    return np.sum(stats.nbinom.logpmf(k, 3.5 + p, p)) + np.sum(stats.nbinom.logcdf(k, 3.5, p))


def others(p):
    return stats.geom.logpmf(3, p) + stats.bernoulli.logpmf(1, p) + stats.logser.pmf(2, p) + stats.geom.logsf(2, p)


@pytest.mark.parametrize("f", [poisson, binomial, negative_binomial, others])
def test_discrete(f: Any) -> None:
    check(f, [0.4])


# --- vectors ----------------------------------------------------------------------------------------------------------

POINTS = np.array([[0.3, 0.5], [1.0, -0.2], [0.1, 0.8]])


def normal_of_vectors(m, s):
    cov = np.array([[2.0, 0.3], [0.3, 1.0]]) * s
    mean = np.array([m, 0.2])
    one = stats.multivariate_normal.pdf(POINTS[0], mean, cov) + stats.multivariate_normal.logpdf(m, 0.3, s)
    return one + np.sum(stats.multivariate_normal.logpdf(POINTS, mean, cov)) + np.sum(
        stats.multivariate_normal(mean, [1.0, 2.0]).logpdf(POINTS))


def test_normal_densities_of_all_shapes_are_those_of_scipy() -> None:
    rows, x = POINTS, POINTS[:, 0]
    for given in (
        (x, 0.3, 1.2), (0.3, 0.1, 1.2), (x[:1], None, 1), (x[:2], None, np.eye(2)), (x[:, None], None, 2.0),
        (list(x), 0.3, [[1.3]]), (rows, x[:2], [1.0, 2.0]), (rows.reshape(3, 1, 2), x[:2], 0.7), (rows[:1], x[:2], 0.7),
    ):
        found, wanted = models.normal_logpdf(None, *given), stats.multivariate_normal.logpdf(*given)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        assert np.shape(found) == np.shape(wanted)
        np.testing.assert_allclose(models.normal_pdf(None, *given), np.exp(wanted), rtol=1e-12)


@pytest.mark.parametrize("at", [np.array(0.4), np.array([0.4, 0.7, 0.9]), np.arange(6.0).reshape(2, 3)])
def test_methods_are_given_arrays_of_rank_1_and_of_one_length(at: Any) -> None:
    def method(*given: Any) -> Any:
        assert [np.shape(a) for a in given] == [(at.size,)] * 3
        return given[0] * given[1] + given[2]

    last = np.arange(3.0) if at.ndim else 1.5
    np.testing.assert_array_equal(models.evaluated(method, at, (2.0, last)), 2.0 * at + last)


def dirichlet(a, b):
    return stats.dirichlet.logpdf(np.array([0.2, 0.3, 0.5]), np.array([1.5, 2.0 + b, 3.0]) * a)


def normal_that_may_be_singular(m, s):
    one = stats.multivariate_normal.logpdf(POINTS[0], np.array([m, 0.2]), np.eye(2) * s, allow_singular=True)
    return one + stats.multivariate_normal(np.array([m, 0.2]), np.eye(2) * s, allow_singular=True).pdf(POINTS[1])


@pytest.mark.parametrize("f", [normal_of_vectors, normal_that_may_be_singular, dirichlet])
def test_vectors(f: Any) -> None:
    check(f, [0.4, 1.3])


def test_what_is_watched_calls_the_methods_of_numbers() -> None:
    s2s.check_grads(lambda a: stats.dirichlet.logpdf(np.array([0.2, 0.3, 0.5]), a), (np.array([1.5, 2.0, 3.0]),))


def of_values(a, b):
    x = np.abs(POINTS) * a + 0.2 * b
    scores = np.sum(stats.zscore(POINTS * a + POINTS**2, axis=None) ** 3) + np.sum(stats.zmap(POINTS * a, x) ** 2)
    means = np.sum(stats.gmean(x)) + stats.hmean(x, axis=None) + np.sum(stats.pmean(x, 1.5)) + np.sum(stats.sem(x))
    shape = np.sum(stats.skew(x**2, bias=False)) + np.sum(stats.kurtosis(x)) + np.sum(stats.variation(x))
    r, probability = stats.pearsonr(x[:, 0], x[:, 1] ** 2)
    return scores + means + shape + np.sum(stats.moment(x, 3)) + np.sum(stats.entropy(x, POINTS**2)) + r + probability


def test_functions_of_values() -> None:
    check(of_values, [0.4, 1.3])


def by_student(a, b):
    x, y = POINTS[:, 0] * a + 0.1, POINTS[:, 1] * b + a * b
    one, rows = stats.ttest_1samp(x, b), stats.ttest_1samp(POINTS * a, 0.1 * b, axis=1, alternative="less")
    two, other = stats.ttest_ind(x, y), stats.ttest_ind(x, y, equal_var=False, alternative="greater")
    t, probability = stats.ttest_rel(x, y)
    return one.statistic + one[1] * one.df + np.sum(rows.pvalue) + two[0] + two.pvalue + other.statistic + (
        other.pvalue) + t + probability


def lines_and_spreads(a, b):
    x, y = POINTS[:, 0] * a + 0.1, POINTS[:, 1] * b + a * b
    found, (slope, *_) = stats.linregress(x, y), stats.linregress(y, x)
    spreads = stats.tmean(x, (0.0, 0.3)) + stats.tvar(x, (0.0, 0.45)) + stats.tstd(x, (0.0, None)) + stats.tsem(x)
    other = stats.iqr(POINTS * a) + stats.gstd(np.abs(x)) + stats.trim_mean(y, 0.1) + stats.tmax(y) + stats.kstat(x, 3)
    return found.slope + found.intercept * found.stderr + found.intercept_stderr + found.rvalue + found[3] + slope + (
        spreads) + other


def by_spreads(a, b):
    x, y = np.sin(np.arange(1.0, 9.0) * a) + 1.5, np.cos(np.arange(2.0, 12.0) * b) + 1.6
    both = np.concatenate([x, y])
    return stats.f_oneway(x, y)[0] + stats.bartlett(x, y)[1] + stats.levene(x, y)[0] + stats.skewtest(both)[0] + (
        stats.kurtosistest(np.tile(both, 2) ** 2)[0]) + stats.chisquare(x, y[:8] * np.sum(x) / np.sum(y[:8]))[0] + (
        stats.power_divergence(x, lambda_="cressie-read").pvalue) + stats.power_divergence(x, lambda_=0.0)[0]


def circles_and_powers(a, b):
    x = np.sin(np.arange(1.0, 9.0) * a) + 1.5
    turns = stats.circmean(x * b) + stats.circvar(x * b) + stats.circstd(x)
    return turns + stats.boxcox_llf(b, x) + stats.yeojohnson_llf(b, x) + np.sum(stats.boxcox(x, b)) + (
        np.sum(stats.circmean(POINTS * a, axis=1))) + stats.differential_entropy(x) + stats.median_abs_deviation(x)


@pytest.mark.slow
@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", [by_student, lines_and_spreads, by_spreads, circles_and_powers])
def test_tests_and_fits(f: Any) -> None:
    if IS_OLD and f in (by_spreads, circles_and_powers):
        with pytest.raises(DifferentiationError):
            s2s.grad(f)(0.4, 1.3)
        return
    check(f, [0.4, 1.3])


def test_ranks_are_refused_by_name() -> None:
    def f(x):
        return stats.spearmanr(x, x**2)[0]

    with pytest.raises(NoDerivativeError, match="ranks"):
        s2s.grad(f)(np.array([0.3, 1.2, 0.5]))


def kernels(a, b):
    values = POINTS[:, 0] * a + 0.2
    width = stats.gaussian_kde(values, 0.4 * b)
    plane = stats.gaussian_kde(POINTS.T * a, weights=np.exp(values))
    return np.sum(width(np.array([0.1, b]))) + width.integrate_box_1d(-1.0, b) + np.sum(
        stats.gaussian_kde(values, "silverman").logpdf([0.3, b])) + plane.pdf(np.array([0.2 * b, 0.3]))[0]


@pytest.mark.slow
def test_densities_of_kernels() -> None:
    check(kernels, [0.4, 1.3])


# --- forms of the call ------------------------------------------------------------------------------------------------

PRIOR = stats.beta(2.0, 3.0)


class Model:
    def __init__(self, prior):
        self.prior = prior

    def loss(self, m):
        return self.prior.logpdf(m) + np.sum(stats.norm(m, 2.0).logpdf(POINTS))


MODEL = Model(stats.halfnorm(scale=2.0))


class Hyperexponential(stats.rv_continuous):
    def _pdf(self, x, c):
        return 0.5 * c * np.exp(-c * x) + c * np.exp(-2.0 * c * x)


hyperexponential = Hyperexponential(a=0.0, name="hyperexponential")


def frozen(m):
    return stats.norm(loc=m, scale=2.0).logpdf(0.3) + stats.norm(m).cdf(0.1) + stats.norm(1.0, 2.0).logpdf(m)


def frozen_before(m):
    return PRIOR.logpdf(m) + PRIOR.ppf(m) + MODEL.loss(m)


def moments(m):
    return stats.gamma(2.0, scale=m).var() + stats.gamma(a=m).mean() + stats.expon.median(scale=m) + stats.norm.entropy(
        0.0, m) + stats.t.std(3.0 + m)


def of_a_subclass(m):
    return hyperexponential.logpdf(m, 2.0) + hyperexponential.pdf(0.3, m) + hyperexponential.cdf(m, 1.5)


def shapes_of_arrays(m):
    grid = np.sum(stats.norm.logpdf(POINTS, m, np.array([1.0, 2.0])))
    return grid + np.sum(stats.gamma.logpdf(POINTS**2, np.array([1.0 + m, 2.0]))) + np.sum(
        stats.norm.logpdf([m, 0.3], scale=1.5)) + stats.t.logpdf(0.3, np.array([2.0, m]))[1]


def by_argument(dist, m):
    return dist.logpdf(m) + dist.sf(m)


def given(m):
    return by_argument(stats.cauchy, m) + by_argument(stats.laplace, m)


@pytest.mark.parametrize(
    "f", [frozen, frozen_before, moments, of_a_subclass, shapes_of_arrays, given], ids=lambda f: f.__name__
)
def test_forms_of_the_call(f: Any) -> None:
    check(f, [0.4])


def test_shapes_of_results() -> None:
    def f(x):
        return stats.gamma.logpdf(x, 2.0)

    for x in (0.4, np.array([0.4, 1.0]), np.abs(POINTS)):
        out, pullback = s2s.vjp(f, x)
        assert type(out) is type(f(x)) and np.shape(out) == np.shape(x)
        (x_bar,) = pullback(np.ones(np.shape(x)) if np.ndim(x) else 1.0)
        np.testing.assert_allclose(x_bar, 1.0 / x - 1.0)


# --- the ends of the support, and what is outside ---------------------------------------------------------------------


def expon_pdf(x, scale):
    return np.sum(stats.expon.pdf(x, scale=scale))


def expon_cdf(x, scale):
    return np.sum(stats.expon.cdf(x, scale=scale))


def uniform_logpdf(x, scale):
    return np.sum(stats.uniform.logpdf(x, 0.0, scale))


def test_outside_and_at_the_ends() -> None:
    """The formula of the inside counts at a closed end; outside the density is 0, and so are its slopes."""
    x = np.array([-1.0, 0.0, 0.5])
    dx, ds = s2s.grad(expon_pdf, argnums=(0, 1))(x, 2.0)
    inside = np.exp(-x[1:] / 2.0)
    np.testing.assert_allclose(dx, [0.0, *(-inside / 4.0)])
    np.testing.assert_allclose(ds, np.sum(-inside / 4.0 + x[1:] * inside / 8.0))
    dx, _ = s2s.grad(expon_cdf, argnums=(0, 1))(np.array([-1.0, 0.5]), 2.0)
    np.testing.assert_allclose(dx, [0.0, np.exp(-0.25) / 2.0])
    dx, ds = s2s.grad(uniform_logpdf, argnums=(0, 1))(np.array([0.0, 1.0, 2.0]), 2.0)
    np.testing.assert_allclose(dx, 0.0)
    np.testing.assert_allclose(ds, -1.5)


def test_quantiles_at_the_ends() -> None:
    def f(q, loc, scale):
        return np.sum(stats.uniform.ppf(q, loc, scale))

    _, loc_bar, scale_bar = s2s.grad(f, argnums=(0, 1, 2))(np.array([0.0, 0.25, 1.0]), 1.0, 2.0)
    assert (loc_bar, scale_bar) == (3.0, 1.25)


def test_beta_at_the_ends_of_its_support() -> None:
    def f(x):
        return np.sum(stats.beta.pdf(x, 2.0, 1.0))

    np.testing.assert_allclose(s2s.grad(f)(np.array([0.0, 0.5, 1.0])), 2.0)


def test_the_value_outside_of_the_parameters_is_not_a_number() -> None:
    def f(scale):
        return stats.norm.logpdf(0.3, 0.0, scale)

    value, _ = s2s.value_and_grad(f)(-1.0)
    assert math.isnan(value)


def test_far_out_nothing_infinite_gets_into_the_gradient() -> None:
    def f(x):
        return np.sum(stats.lognorm.pdf(x, 0.5)) + np.sum(stats.gamma.logpdf(np.abs(x), 2.0))

    found = s2s.grad(f)(np.array([-3.0, 0.5]))
    assert np.all(np.isfinite(found))


def test_what_scipy_integrates_is_refused_by_its_shapes() -> None:
    def f(c):
        return hyperexponential.cdf(0.5, c)

    with pytest.raises(NoDerivativeError, match="numerical integration"):
        s2s.grad(f)(1.5)


def test_methods_are_differentiated_without_a_function_around_them() -> None:
    x, shape = np.array([0.4, 1.1, 2.3]), 2.5
    for distribution, more in ((stats.norm, ()), (stats.gamma, (shape,))):
        out, pullback = s2s.vjp(distribution.pdf, x, *more)
        np.testing.assert_allclose(out, distribution.pdf(x, *more))
        slope = (distribution.pdf(x + 1e-6, *more) - distribution.pdf(x - 1e-6, *more)) / 2e-6
        np.testing.assert_allclose(pullback(np.ones(3))[0], slope, rtol=1e-6)
        np.testing.assert_allclose(s2s.jvp(distribution.pdf, (x, *more), (np.ones(3), *(None for _ in more)))[1], slope,
                                   rtol=1e-6)
    np.testing.assert_allclose(s2s.vjp(stats.norm.logpdf, x, 0.2, 2.0)[1](np.ones(3))[1], np.sum(x - 0.2) / 4.0)


def t_of_vectors(p):
    return stats.multivariate_t.logpdf(p[:2], np.zeros(2), np.eye(2) * p[2], df=4)


def normal_of_matrices(p):
    return stats.matrix_normal.logpdf(np.outer(p[:2], p), rowcov=np.eye(2) * p[2], colcov=np.eye(3) * p[0])


@pytest.mark.slow
@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", [t_of_vectors, normal_of_matrices])
def test_covariances_with_equal_eigenvalues(f):
    x, h = np.array([0.3, 0.7, 1.2]), 1e-5
    steps = h * np.eye(3)
    gradient = s2s.grad(f)
    np.testing.assert_allclose(gradient(x), [(f(x + e) - f(x - e)) / (2.0 * h) for e in steps], rtol=1e-7)
    assert s2s.jvp(f, (x,), (np.ones(3),))[1] == pytest.approx(np.sum(gradient(x)))
    curvature = [(gradient(x + e) - gradient(x - e)) / (2.0 * h) for e in steps]
    np.testing.assert_allclose(s2s.jacfwd(gradient)(x), curvature, rtol=1e-6, atol=1e-8)
