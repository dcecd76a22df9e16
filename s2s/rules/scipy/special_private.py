"""Rules of the functions of ``scipy.special`` that are not public, which the densities of ``scipy.stats`` call.

Which there are depends on the version of SciPy: a row for one that is not there is left out. Parameters of location and
scale, which ``scipy.stats`` leaves at 0 and 1, come with some of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special
from scipy.special import _ufuncs

from s2s import runtime as rt
from s2s.rules.samples import args, arr, num
from s2s.rules.scipy import incomplete
from s2s.rules.scipy.special import CLOSED_FORM, POSITIVE, UNIT, beta_density
from s2s.rules.scipy.special_distributions import (
    kolmogorov_slope,
    shifted_chi2_by_nc,
    shifted_chi2_density,
    shifted_fisher_by_nc,
    shifted_fisher_density,
)
from s2s.rules.table import Function, partials, refuse, zero


def private(name: str, *derivatives: Function | None, **options: Any) -> None:
    """Register a function by its name, where SciPy has it."""
    fn = getattr(_ufuncs, name, None)
    if fn is not None and fn.nin == len(derivatives):
        partials(fn, *derivatives, **options)


# --- beta -------------------------------------------------------------------------------------------------------------


def beta_density_slope(x: Any, a: Any, b: Any) -> Any:
    """(a - 1) x^(a-2) (1-x)^(b-1) - (b - 1) x^(a-1) (1-x)^(b-2), over B(a, b); right at 0 and 1 too."""
    scale = special.betaln(a, b)
    up = np.exp(special.xlogy(a - 2.0, x) + special.xlog1py(b - 1.0, -x) - scale)
    down = np.exp(special.xlogy(a - 1.0, x) + special.xlog1py(b - 2.0, -x) - scale)
    return np.where(a == 1.0, 0.0, (a - 1.0) * up) - np.where(b == 1.0, 0.0, (b - 1.0) * down)


private(
    "_beta_pdf", lambda y, x, a, b: beta_density_slope(x, a, b),
    lambda y, x, a, b: special.xlogy(y, x) - y * (special.psi(a) - special.psi(a + b)),
    lambda y, x, a, b: special.xlog1py(y, -x) - y * (special.psi(b) - special.psi(a + b)),
    domain=(UNIT, POSITIVE, POSITIVE),
)
private(
    "_beta_ppf", lambda y, p, a, b: 1.0 / beta_density(a, b, y),
    lambda y, p, a, b: -incomplete.betainc_by_a(a, b, y) / beta_density(a, b, y),
    lambda y, p, a, b: -incomplete.betainc_by_b(a, b, y) / beta_density(a, b, y), domain=(UNIT, POSITIVE, POSITIVE),
)

# --- binomial and negative binomial -----------------------------------------------------------------------------------


def trials(y: Any, k: Any, n: Any, p: Any) -> Any:
    return rt.no_derivative("the number of trials", "it is a whole number")


def binomial_by_p(k: Any, n: Any, p: Any) -> Any:
    """The binomial times k p^(k-1) (1-p)^(n-k) - (n-k) p^k (1-p)^(n-k-1)."""
    log = -special.betaln(1.0 + n - k, 1.0 + k) - np.log(n + 1.0)
    up = np.exp(log + special.xlogy(np.maximum(k - 1.0, 0.0), p) + special.xlog1py(n - k, -p))
    down = np.exp(log + special.xlogy(k, p) + special.xlog1py(np.maximum(n - k - 1.0, 0.0), -p))
    return k * up - (n - k) * down


def negative_by_p(y: Any, k: Any, n: Any, p: Any) -> Any:
    log = special.gammaln(k + n) - special.gammaln(n) - special.gammaln(k + 1.0) + n * np.log(p)
    return n * y / p - k * np.exp(log + special.xlog1py(np.maximum(k - 1.0, 0.0), -p))


COUNTS = (
    args(2.0, 5.0, num(0.1, 0.9)), args(np.arange(5.0), 5.0, num(0.1, 0.9)), args(2.0, 5.0, arr(3, low=0.2, high=0.8)),
)
private(
    "_binom_pmf", lambda y, k, n, p: y * (special.psi(n - k + 1.0) - special.psi(k + 1.0) + special.logit(p)), trials,
    lambda y, k, n, p: binomial_by_p(k, n, p), samples=COUNTS,
)
private("_binom_cdf", None, trials, lambda y, k, n, p: -beta_density(k + 1.0, n - k, p), samples=COUNTS[::2])
private("_binom_sf", None, trials, lambda y, k, n, p: beta_density(k + 1.0, n - k, p), samples=COUNTS[::2])
private(
    "_nbinom_pmf", lambda y, k, n, p: y * (special.psi(k + n) - special.psi(k + 1.0) + np.log1p(-p)),
    lambda y, k, n, p: y * (special.psi(k + n) - special.psi(n) + np.log(p)), negative_by_p,
    samples=(*COUNTS, args(2.0, num(2.0, 5.0), 0.3)),
)
private(
    "_nbinom_cdf", None, lambda y, k, n, p: incomplete.betainc_by_a(n, k + 1.0, p),
    lambda y, k, n, p: beta_density(n, k + 1.0, p), samples=(*COUNTS, args(2.0, num(2.0, 5.0), 0.3)),
)
private(
    "_nbinom_sf", None, lambda y, k, n, p: -incomplete.betainc_by_a(n, k + 1.0, p),
    lambda y, k, n, p: -beta_density(n, k + 1.0, p), samples=(*COUNTS, args(2.0, num(2.0, 5.0), 0.3)),
)

# --- Cauchy, the cosine distribution, the inverse Gaussian ------------------------------------------------------------

LOC = (-1.0, 1.0)
private(
    "_cauchy_ppf", lambda y, p, loc, scale: math.pi * (scale + (y - loc) ** 2 / scale), lambda y, p, loc, scale: 1.0,
    lambda y, p, loc, scale: (y - loc) / scale, domain=(UNIT, LOC, POSITIVE),
)
private(
    "_cauchy_isf", lambda y, p, loc, scale: -math.pi * (scale + (y - loc) ** 2 / scale), lambda y, p, loc, scale: 1.0,
    lambda y, p, loc, scale: (y - loc) / scale, domain=(UNIT, LOC, POSITIVE),
)
private("_cosine_cdf", lambda y, x: np.where(np.abs(x) < math.pi, (1.0 + np.cos(x)) / (2.0 * math.pi), 0.0))
private("_cosine_invcdf", lambda y, p: 2.0 * math.pi / (1.0 + np.cos(y)), domain=UNIT)


def inverse_gauss_density(x: Any, mu: Any, scale: Any) -> Any:
    away = (x - mu) / mu
    return np.sqrt(scale / (2.0 * math.pi * x**3)) * np.exp(-0.5 * scale * away * away / x)


def inverse_gauss_by_mean(x: Any, mu: Any, scale: Any) -> Any:
    """-2 s / mu^2 e^(2 s / mu) Phi(-sqrt(s / x) (x / mu + 1))."""
    far = special.log_ndtr(-np.sqrt(scale / x) * (x / mu + 1.0))
    return -2.0 * scale / (mu * mu) * np.exp(2.0 * scale / mu + far)


# By the scale: the distribution function does not change when x, mu and it grow by one factor.
private(
    "_invgauss_ppf", lambda y, p, mu, scale: 1.0 / inverse_gauss_density(y, mu, scale),
    lambda y, p, mu, scale: -inverse_gauss_by_mean(y, mu, scale) / inverse_gauss_density(y, mu, scale),
    lambda y, p, mu, scale: (
        y + mu * inverse_gauss_by_mean(y, mu, scale) / inverse_gauss_density(y, mu, scale)) / scale,
    domain=(UNIT, POSITIVE, POSITIVE),
)
private(
    "_invgauss_isf", lambda y, p, mu, scale: -1.0 / inverse_gauss_density(y, mu, scale),
    lambda y, p, mu, scale: -inverse_gauss_by_mean(y, mu, scale) / inverse_gauss_density(y, mu, scale),
    lambda y, p, mu, scale: (
        y + mu * inverse_gauss_by_mean(y, mu, scale) / inverse_gauss_density(y, mu, scale)) / scale,
    domain=(UNIT, POSITIVE, POSITIVE),
)

# --- chi-squared that is not central, skewed normal, Landau's, Kolmogorov's -------------------------------------------


def degrees(y: Any, x: Any, k: Any, l: Any) -> Any:
    return rt.no_derivative("the degrees of freedom", CLOSED_FORM)


private(
    "_ncx2_pdf",
    lambda y, x, k, l: y * ((0.5 * k - 1.0) / x - 0.5) + 0.5 * l * shifted_chi2_density(k + 2.0, l, x) / x, degrees,
    lambda y, x, k, l: 0.5 * (shifted_chi2_density(k + 2.0, l, x) - y), domain=(POSITIVE, 2.5, POSITIVE),
)
private(
    "_ncx2_sf", lambda y, x, k, l: -shifted_chi2_density(k, l, x), degrees,
    lambda y, x, k, l: -shifted_chi2_by_nc(1.0 - y, k, l, x), domain=(POSITIVE, 2.5, POSITIVE),
)

private(
    "_ncx2_isf", lambda y, p, k, l: -1.0 / shifted_chi2_density(k, l, y), degrees,
    lambda y, p, k, l: -shifted_chi2_by_nc(1.0 - p, k, l, y) / shifted_chi2_density(k, l, y),
    domain=(UNIT, 2.5, POSITIVE),
)

# --- Fisher's distribution that is not central: a mixture by Poisson's weights, in which nc moves m by 2 --------------


def fisher_degrees_partial(y: Any, x: Any, m: Any, n: Any, nc: Any) -> Any:
    return rt.no_derivative("the degrees of freedom", CLOSED_FORM)


def next_fisher(m: Any, n: Any, nc: Any, x: Any) -> Any:
    """The density with two degrees of freedom more, at the same quotient of squares."""
    return m / (m + 2.0) * shifted_fisher_density(m + 2.0, n, nc, x * m / (m + 2.0))


def fisher_slope_partial(y: Any, x: Any, m: Any, n: Any, nc: Any) -> Any:
    u, more = m * x / (m * x + n), 0.5 * nc * next_fisher(m, n, nc, x)
    return ((0.5 * m - 1.0) * y + more - u * (0.5 * (m + n) * y + more)) / x


NOT_CENTRAL = (POSITIVE, 2.5, 3.5, POSITIVE)
private(
    "_ncf_pdf", fisher_slope_partial, fisher_degrees_partial, fisher_degrees_partial,
    lambda y, x, m, n, nc: 0.5 * (next_fisher(m, n, nc, x) - y), domain=NOT_CENTRAL,
)
private(
    "_ncf_sf", lambda y, x, m, n, nc: -shifted_fisher_density(m, n, nc, x), fisher_degrees_partial,
    fisher_degrees_partial,
    lambda y, x, m, n, nc: -shifted_fisher_by_nc(1.0 - y, m, n, nc, x), domain=NOT_CENTRAL,
)
private(
    "_ncf_isf", lambda y, p, m, n, nc: -1.0 / shifted_fisher_density(m, n, nc, y), fisher_degrees_partial,
    fisher_degrees_partial,
    lambda y, p, m, n, nc: -shifted_fisher_by_nc(1.0 - p, m, n, nc, y) / shifted_fisher_density(m, n, nc, y),
    domain=(UNIT, 2.5, 3.5, POSITIVE),
)

# --- Student's distribution that is not central: with s^2 chi-squared by its degrees k, and phi the normal density, the
# --- density is E[s phi(x s - nc)]; with more factors s it is that of more degrees of freedom -------------------------

student: Any = getattr(_ufuncs, "_nct_pdf", None)


def student_moment(power: Any, x: Any, k: Any, nc: Any) -> Any:
    """E[s^power phi(x s - nc)] for a power of 1 and more."""
    m = k + power - 1.0
    scale = np.exp(special.gammaln(0.5 * m) - special.gammaln(0.5 * k) + 0.5 * (power - 1.0) * np.log(2.0 / k))
    return scale * np.sqrt(m / k) * student(x * np.sqrt(m / k), m, nc)


def student_by_nc(y: Any, x: Any, k: Any, nc: Any) -> Any:
    """The derivative of the distribution function: -E[phi(x s - nc)], where ``y`` is the density."""
    return nc * x / k * y - student_moment(2.0, x, k, nc) * (1.0 + x * x / k)


if student is not None:
    private(
        "_nct_pdf",
        lambda y, x, k, nc: nc * student_moment(2.0, x, k, nc) - x * student_moment(3.0, x, k, nc), degrees,
        lambda y, x, k, nc: x * student_moment(2.0, x, k, nc) - nc * y, domain=((-2.0, 2.0), 2.5, (-1.0, 1.0)),
    )
    private(
        "_nct_sf", lambda y, x, k, nc: -student(x, k, nc), degrees,
        lambda y, x, k, nc: -student_by_nc(student(x, k, nc), x, k, nc), domain=((-2.0, 2.0), 2.5, (-1.0, 1.0)),
    )
    private(
        "_nct_isf", lambda y, p, k, nc: -1.0 / student(y, k, nc), degrees,
        lambda y, p, k, nc: -student_by_nc(student(y, k, nc), y, k, nc) / student(y, k, nc),
        domain=(UNIT, 2.5, (-1.0, 1.0)),
    )
    partials(
        special.nctdtr, lambda y, k, nc, x: degrees(y, x, k, nc),
        lambda y, k, nc, x: student_by_nc(student(x, k, nc), x, k, nc), lambda y, k, nc, x: student(x, k, nc),
        domain=(2.5, (-1.0, 1.0), (-2.0, 2.0)),
    )
    partials(
        special.nctdtrit, lambda y, k, nc, p: degrees(y, p, k, nc),
        lambda y, k, nc, p: -student_by_nc(student(y, k, nc), y, k, nc) / student(y, k, nc),
        lambda y, k, nc, p: 1.0 / student(y, k, nc), domain=(2.5, (-1.0, 1.0), UNIT),
    )
else:
    for _fn in (special.nctdtr, special.nctdtrit):
        refuse(_fn, CLOSED_FORM)


def skewed_density(x: Any, loc: Any, scale: Any, shape: Any) -> Any:
    z = (x - loc) / scale
    return math.sqrt(2.0 / math.pi) * np.exp(-0.5 * z * z) * special.ndtr(shape * z) / scale


def skewed_by_shape(y: Any, x: Any, loc: Any, scale: Any, shape: Any) -> Any:
    z = (x - loc) / scale
    return -np.exp(-0.5 * z * z * (1.0 + shape * shape)) / (math.pi * (1.0 + shape * shape))


private(
    "_skewnorm_cdf", lambda y, x, loc, scale, shape: skewed_density(x, loc, scale, shape),
    lambda y, x, loc, scale, shape: -skewed_density(x, loc, scale, shape),
    lambda y, x, loc, scale, shape: (loc - x) / scale * skewed_density(x, loc, scale, shape), skewed_by_shape,
    domain=((-2.0, 2.0), LOC, POSITIVE, (-2.0, 2.0)),
)
private(
    "_landau_cdf", lambda y, x, loc, scale: _ufuncs._landau_pdf(x, loc, scale),
    lambda y, x, loc, scale: -_ufuncs._landau_pdf(x, loc, scale),
    lambda y, x, loc, scale: ((loc - x) / scale - 2.0 / math.pi) * _ufuncs._landau_pdf(x, loc, scale),
    domain=((-2.0, 2.0), LOC, POSITIVE),
)
private(
    "_landau_sf", lambda y, x, loc, scale: -_ufuncs._landau_pdf(x, loc, scale),
    lambda y, x, loc, scale: _ufuncs._landau_pdf(x, loc, scale),
    lambda y, x, loc, scale: ((x - loc) / scale + 2.0 / math.pi) * _ufuncs._landau_pdf(x, loc, scale),
    domain=((-2.0, 2.0), LOC, POSITIVE),
)
private("_kolmogc", lambda y, x: -kolmogorov_slope(x), domain=(0.3, 2.0))
private("_kolmogci", lambda y, p: -1.0 / kolmogorov_slope(y), domain=UNIT)
private("_log1mexp", lambda y, x: -1.0 / np.expm1(-x), domain=(-2.0, -0.2))

for _name in (
    "_landau_pdf", "_kolmogp", "_smirnovp", "_smirnovc", "_smirnovci", "_hypergeom_pmf", "_hypergeom_cdf",
    "_hypergeom_sf", "_gen_harmonic",
    "_normalized_gen_harmonic",
):
    if hasattr(_ufuncs, _name):
        refuse(getattr(_ufuncs, _name), "SciPy has no function for its derivative")

# --- derivatives of spherical Bessel functions, by those of their neighbours (DLMF 10.51): finite at 0 too ------------


def before(n: Any) -> Any:
    """The order below; what there is none of, has no weight."""
    return np.maximum(n - 1, 0)


zero(before)
partials(
    _ufuncs._spherical_jn_d, None, lambda y, n, z: (
        n * _ufuncs._spherical_jn_d(before(n), z) - (n + 1) * _ufuncs._spherical_jn_d(n + 1, z)) / (2 * n + 1),
    domain=(2, POSITIVE),
)
partials(
    _ufuncs._spherical_yn_d, None, lambda y, n, z: (
        n * _ufuncs._spherical_yn_d(before(n), z) - (n + 1) * _ufuncs._spherical_yn_d(n + 1, z)) / (2 * n + 1),
    domain=(2, POSITIVE),
)
partials(
    _ufuncs._spherical_in_d, None, lambda y, n, z: (
        n * _ufuncs._spherical_in_d(before(n), z) + (n + 1) * _ufuncs._spherical_in_d(n + 1, z)) / (2 * n + 1),
    domain=(2, POSITIVE),
)
partials(
    _ufuncs._spherical_kn_d, None, lambda y, n, z: -(
        n * _ufuncs._spherical_kn_d(before(n), z) + (n + 1) * _ufuncs._spherical_kn_d(n + 1, z)) / (2 * n + 1),
    domain=(2, POSITIVE),
)
