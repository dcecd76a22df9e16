"""Rules of the distribution functions of ``scipy.special``, and of their inverses.

By the place a distribution function has the density; by the shapes of the gamma and beta distributions see
``incomplete``. For an inverse, F(y, a) = p gives dy = (dp - F_a da) / F_y.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from s2s import runtime as rt
from s2s.rules.scipy.incomplete import betainc_by_a, betainc_by_b, gammainc_by_a
from s2s.rules.scipy.special import (
    POSITIVE,
    UNIT,
    beta_density,
    boxcox_by_lambda,
    cut_off,
    gamma_density,
    moved,
    whole_part,
)
from s2s.rules.table import partials, refuse


def slope_at(y: Any, slope: Any) -> Any:
    """The slope of an equation F(y) = p at what SciPy's search has found; infinite, so that nothing moves y, where no
    y solves it and the search has ended at an end of its interval."""
    return np.where((y > 1e-30) & (y < 1e100) & (y != 1e10), slope, np.inf)  # 1e10 is the end for stdtridf


# --- Student's: 1/2 + sign(t) (1 - I_u(df / 2, 1 / 2)) / 2 with u = df / (df + t^2) -----------------------------------


def student_density(df: Any, t: Any) -> Any:
    """The density of Student's distribution: (1 + t^2 / df)^(-(df + 1) / 2) / (sqrt(df) B(df / 2, 1 / 2))."""
    scale = np.sqrt(df) * special.beta(0.5 * df, 0.5)
    return np.power(np.hypot(1.0, t / np.sqrt(df)), -df - 1.0) / scale


def student_by_df(df: Any, t: Any) -> Any:
    u = df / (df + t * t)
    inner = np.where(t == 0.0, 0.5, u)  # the median stays
    change = 0.5 * betainc_by_a(0.5 * df, 0.5, inner) + beta_density(0.5 * df, 0.5, inner) * (1.0 - u) / (df + t * t)
    return -0.5 * np.sign(t) * change


partials(
    special.stdtr, lambda y, df, t: student_by_df(df, t), lambda y, df, t: student_density(df, t),
    domain=(POSITIVE, (-2.0, 2.0)),
)
partials(
    special.stdtrit, lambda y, df, p: moved(student_by_df(df, y), student_density(df, y)),
    lambda y, df, p: 1.0 / student_density(df, y), domain=(POSITIVE, UNIT),
)
partials(
    special.stdtridf, lambda y, p, t: 1.0 / slope_at(y, student_by_df(y, t)),
    lambda y, p, t: -student_density(y, t) / slope_at(y, student_by_df(y, t)), domain=((0.8, 0.85), (1.1, 1.3)),
)

# --- chi-squared: the gamma distribution of shape v / 2 at x / 2 ------------------------------------------------------

partials(
    special.chdtr, lambda y, v, x: 0.5 * gammainc_by_a(0.5 * v, 0.5 * x),
    lambda y, v, x: 0.5 * gamma_density(0.5 * v, 0.5 * x), domain=POSITIVE,
)
partials(
    special.chdtrc, lambda y, v, x: -0.5 * gammainc_by_a(0.5 * v, 0.5 * x),
    lambda y, v, x: -0.5 * gamma_density(0.5 * v, 0.5 * x), domain=POSITIVE,
)
partials(
    special.chdtri, lambda y, v, p: moved(gammainc_by_a(0.5 * v, 0.5 * y), gamma_density(0.5 * v, 0.5 * y)),
    lambda y, v, p: -2.0 / gamma_density(0.5 * v, 0.5 * y), domain=(POSITIVE, UNIT),
)
partials(
    special.chdtriv, lambda y, p, x: 2.0 / slope_at(y, gammainc_by_a(0.5 * y, 0.5 * x)),
    lambda y, p, x: -gamma_density(0.5 * y, 0.5 * x) / slope_at(y, gammainc_by_a(0.5 * y, 0.5 * x)),
    domain=(UNIT, POSITIVE),
)

# --- gamma with the rate a and the shape b: gammainc(b, a x) ----------------------------------------------------------

partials(
    special.gdtr, lambda y, a, b, x: x * gamma_density(b, a * x), lambda y, a, b, x: gammainc_by_a(b, a * x),
    lambda y, a, b, x: a * gamma_density(b, a * x), domain=POSITIVE,
)
partials(
    special.gdtrc, lambda y, a, b, x: -x * gamma_density(b, a * x), lambda y, a, b, x: -gammainc_by_a(b, a * x),
    lambda y, a, b, x: -a * gamma_density(b, a * x), domain=POSITIVE,
)
partials(
    special.gdtria, lambda y, p, b, x: 1.0 / (x * gamma_density(b, y * x)),
    lambda y, p, b, x: moved(gammainc_by_a(b, y * x), x * gamma_density(b, y * x)), lambda y, p, b, x: -y / x,
    domain=(UNIT, POSITIVE, POSITIVE),
)
partials(
    special.gdtrib, lambda y, a, p, x: -x * gamma_density(y, a * x) / slope_at(y, gammainc_by_a(y, a * x)),
    lambda y, a, p, x: 1.0 / slope_at(y, gammainc_by_a(y, a * x)),
    lambda y, a, p, x: -a * gamma_density(y, a * x) / slope_at(y, gammainc_by_a(y, a * x)),
    domain=(POSITIVE, UNIT, POSITIVE),
)
partials(
    special.gdtrix, lambda y, a, b, p: -y / a,
    lambda y, a, b, p: moved(gammainc_by_a(b, a * y), a * gamma_density(b, a * y)),
    lambda y, a, b, p: 1.0 / (a * gamma_density(b, a * y)), domain=(POSITIVE, POSITIVE, UNIT),
)

# --- Poisson with mean m, up to k: gammaincc(floor(k) + 1, m) ---------------------------------------------------------

partials(
    special.pdtr, None, lambda y, k, m: -gamma_density(whole_part(k) + 1.0, m), domain=(2, POSITIVE),
)
partials(
    special.pdtrc, None, lambda y, k, m: gamma_density(whole_part(k) + 1.0, m), domain=(2, POSITIVE),
)
partials(
    special.pdtri, None, lambda y, k, p: -1.0 / gamma_density(cut_off(k) + 1.0, y), domain=(2, UNIT),
)
# The inverse by k is that of gammaincc(k + 1, m) for real k.
partials(
    special.pdtrik, lambda y, p, m: -1.0 / slope_at(y, gammainc_by_a(y + 1.0, m)),
    lambda y, p, m: -gamma_density(y + 1.0, m) / slope_at(y, gammainc_by_a(y + 1.0, m)),
    domain=((0.6, 0.9), (2.0, 4.0)),
)

# --- beta, by its shapes: betainc(a, b, x) = p ------------------------------------------------------------------------

partials(
    special.btdtria, lambda y, p, b, x: 1.0 / betainc_by_a(y, b, x),
    lambda y, p, b, x: -betainc_by_b(y, b, x) / betainc_by_a(y, b, x),
    lambda y, p, b, x: -beta_density(y, b, x) / betainc_by_a(y, b, x), domain=(UNIT, POSITIVE, UNIT),
)
partials(
    special.btdtrib, lambda y, a, p, x: -betainc_by_a(a, y, x) / betainc_by_b(a, y, x),
    lambda y, a, p, x: 1.0 / betainc_by_b(a, y, x),
    lambda y, a, p, x: -beta_density(a, y, x) / betainc_by_b(a, y, x), domain=(POSITIVE, UNIT, UNIT),
)

# --- F with m and n degrees: betainc(m / 2, n / 2, u) with u = m x / (m x + n), u' = u (1 - u) / x --------------------


def fisher_density(m: Any, n: Any, x: Any) -> Any:
    odds = np.where(x == 0.0, 1.0, m * x / n)  # u / (1 - u), which has its digits where u is near 1 too
    at_zero = np.where(m < 2.0, np.inf, np.where(m == 2.0, 1.0, 0.0))
    powers = 0.5 * m * np.log1p(1.0 / odds) + 0.5 * n * np.log1p(odds)
    density = np.exp(-powers - special.betaln(0.5 * m, 0.5 * n)) / np.where(x == 0.0, 1.0, x)
    return np.where(x == 0.0, at_zero, density)


def fisher_by_first(m: Any, n: Any, x: Any) -> Any:
    return 0.5 * betainc_by_a(0.5 * m, 0.5 * n, m * x / (m * x + n)) + fisher_density(m, n, x) * x / m


def fisher_by_second(m: Any, n: Any, x: Any) -> Any:
    return 0.5 * betainc_by_b(0.5 * m, 0.5 * n, m * x / (m * x + n)) - fisher_density(m, n, x) * x / n


partials(
    special.fdtr, lambda y, dfn, dfd, x: fisher_by_first(dfn, dfd, x),
    lambda y, dfn, dfd, x: fisher_by_second(dfn, dfd, x), lambda y, dfn, dfd, x: fisher_density(dfn, dfd, x),
    domain=POSITIVE,
)
partials(
    special.fdtrc, lambda y, dfn, dfd, x: -fisher_by_first(dfn, dfd, x),
    lambda y, dfn, dfd, x: -fisher_by_second(dfn, dfd, x), lambda y, dfn, dfd, x: -fisher_density(dfn, dfd, x),
    domain=POSITIVE,
)
partials(
    special.fdtri, lambda y, dfn, dfd, p: moved(fisher_by_first(dfn, dfd, y), fisher_density(dfn, dfd, y)),
    lambda y, dfn, dfd, p: moved(fisher_by_second(dfn, dfd, y), fisher_density(dfn, dfd, y)),
    lambda y, dfn, dfd, p: 1.0 / fisher_density(dfn, dfd, y), domain=(POSITIVE, POSITIVE, UNIT),
)
partials(
    special.fdtridfd, lambda y, dfn, p, x: -fisher_by_first(dfn, y, x) / slope_at(y, fisher_by_second(dfn, y, x)),
    lambda y, dfn, p, x: 1.0 / slope_at(y, fisher_by_second(dfn, y, x)),
    lambda y, dfn, p, x: -fisher_density(dfn, y, x) / slope_at(y, fisher_by_second(dfn, y, x)),
    domain=((2.0, 3.0), (0.64, 0.66), (1.1, 1.2)),
)

# --- binomial of n trials, up to k: betainc(n - k, k + 1, 1 - p); negative binomial: betainc(n, k + 1, p) -------------


def binomial_density(k: Any, n: Any, p: Any) -> Any:
    """SciPy rounds both numbers down."""
    return beta_density(whole_part(k) + 1.0, whole_part(n) - whole_part(k), p)


def waiting_density(k: Any, n: Any, p: Any) -> Any:
    """SciPy cuts off both numbers."""
    return beta_density(cut_off(n), cut_off(k) + 1.0, p)


partials(
    special.bdtr, None, None, lambda y, k, n, p: -binomial_density(k, n, p),
    domain=(2, 5, UNIT),
)
partials(
    special.bdtrc, None, None, lambda y, k, n, p: binomial_density(k, n, p),
    domain=(2, 5, UNIT),
)
partials(
    special.bdtri, None, None, lambda y, k, n, p: -1.0 / binomial_density(k, n, y),
    domain=(2, 5, UNIT),
)


def binomial_by_k(k: Any, n: Any, p: Any) -> Any:
    return betainc_by_b(n - k, k + 1.0, 1.0 - p) - betainc_by_a(n - k, k + 1.0, 1.0 - p)


# Inverses by k and n are those of the incomplete beta function of real shapes.
partials(
    special.bdtrik, lambda y, p, n, pr: np.where(pr < 1.0, 1.0 / slope_at(y, binomial_by_k(y, n, pr)), 0.0),
    lambda y, p, n, pr: np.where(
        pr < 1.0, -betainc_by_a(n - y, y + 1.0, 1.0 - pr) / slope_at(y, binomial_by_k(y, n, pr)), 1.0,
    ),
    lambda y, p, n, pr: beta_density(y + 1.0, n - y, pr) / slope_at(y, binomial_by_k(y, n, pr)),
    domain=((0.5, 0.8), (5.0, 7.0), (0.4, 0.6)),
)


def slope_by_trials(y: Any, k: Any, pr: Any) -> Any:
    """Of no more trials than events none is a solution."""
    return slope_at(np.where(y > k, y, 0.0), betainc_by_a(y - k, k + 1.0, 1.0 - pr))


partials(
    special.bdtrin, lambda y, k, p, pr: -binomial_by_k(k, y, pr) / slope_by_trials(y, k, pr),
    lambda y, k, p, pr: 1.0 / slope_by_trials(y, k, pr),
    lambda y, k, p, pr: beta_density(k + 1.0, y - k, pr) / slope_by_trials(y, k, pr),
    domain=((1.0, 2.0), (0.3, 0.7), (0.3, 0.6)),
)
partials(
    special.nbdtr, None, None, lambda y, k, n, p: waiting_density(k, n, p), domain=(2, 5, UNIT),
)
partials(
    special.nbdtrc, None, None, lambda y, k, n, p: -waiting_density(k, n, p), domain=(2, 5, UNIT),
)
partials(
    special.nbdtri, None, None, lambda y, k, n, p: 1.0 / waiting_density(k, n, y), domain=(2, 5, UNIT),
)
partials(
    special.nbdtrik, lambda y, p, n, pr: 1.0 / slope_at(y, betainc_by_b(n, y + 1.0, pr)),
    lambda y, p, n, pr: -betainc_by_a(n, y + 1.0, pr) / slope_at(y, betainc_by_b(n, y + 1.0, pr)),
    lambda y, p, n, pr: -beta_density(n, y + 1.0, pr) / slope_at(y, betainc_by_b(n, y + 1.0, pr)),
    domain=((0.5, 0.8), (3.0, 5.0), (0.3, 0.5)),
)
partials(
    special.nbdtrin, lambda y, k, p, pr: -betainc_by_b(y, k + 1.0, pr) / betainc_by_a(y, k + 1.0, pr),
    lambda y, k, p, pr: 1.0 / betainc_by_a(y, k + 1.0, pr),
    lambda y, k, p, pr: -beta_density(y, k + 1.0, pr) / betainc_by_a(y, k + 1.0, pr),
    domain=((2.0, 3.0), (0.3, 0.7), (0.3, 0.5)),
)

# --- those that are not central: mixtures over the Poisson distribution of mean nc / 2 --------------------------------

NOT_CENTRAL = "its derivative is no function that SciPy has; keep the degrees of freedom constant"


def shifted_chi2_density(df: Any, nc: Any, x: Any) -> Any:
    """x^(df/2-1) e^(-(x+nc)/2) 0F1(df/2, nc x/4) / (2^(df/2) Gamma(df/2)), the last by Bessel's function far out."""
    root = np.sqrt(nc * x)
    far = root > 20.0
    near = special.hyp0f1(0.5 * df, np.where(far, 0.0, 0.25 * nc * x))
    near = 0.5 * gamma_density(0.5 * df, 0.5 * x) * np.exp(-0.5 * nc) * near
    share = np.where(far, x / np.where(far, nc, 1.0), 1.0)
    bessel = special.ive(0.5 * df - 1.0, np.where(far, root, 1.0))
    away = np.sqrt(x) - np.sqrt(nc)
    return np.where(far, 0.5 * np.power(share, 0.25 * df - 0.5) * np.exp(-0.5 * away * away) * bessel, near)


def shifted_chi2_by_nc(y: Any, df: Any, nc: Any, x: Any) -> Any:
    return 0.5 * (special.chndtr(x, df + 2.0, nc) - y)


partials(
    special.chndtr, lambda y, x, df, nc: shifted_chi2_density(df, nc, x),
    lambda y, x, df, nc: rt.no_derivative("the degrees of freedom of scipy.special.chndtr", NOT_CENTRAL),
    lambda y, x, df, nc: shifted_chi2_by_nc(y, df, nc, x), domain=(POSITIVE, 2.5, POSITIVE),
)
partials(
    special.chndtrix, lambda y, p, df, nc: 1.0 / shifted_chi2_density(df, nc, y),
    lambda y, p, df, nc: rt.no_derivative("the degrees of freedom of scipy.special.chndtrix", NOT_CENTRAL),
    lambda y, p, df, nc: moved(shifted_chi2_by_nc(p, df, nc, y), shifted_chi2_density(df, nc, y)),
    domain=(UNIT, 2.5, POSITIVE),
)
partials(
    special.chndtrinc,
    lambda y, x, df, p: -shifted_chi2_density(df, y, x) / slope_at(y, shifted_chi2_by_nc(p, df, y, x)),
    lambda y, x, df, p: rt.no_derivative("the degrees of freedom of scipy.special.chndtrinc", NOT_CENTRAL),
    lambda y, x, df, p: 1.0 / slope_at(y, shifted_chi2_by_nc(p, df, y, x)), domain=((4.0, 5.0), 2.5, (0.4, 0.6)),
)
refuse(special.chndtridf, NOT_CENTRAL)


def shifted_fisher_density(m: Any, n: Any, nc: Any, f: Any) -> Any:
    """The density of F times e^(-nc/2) 1F1((m + n) / 2, m / 2, nc m f / (2 (m f + n)))."""
    u = m * f / (m * f + n)
    return fisher_density(m, n, f) * np.exp(-0.5 * nc) * special.hyp1f1(0.5 * (m + n), 0.5 * m, 0.5 * nc * u)


def shifted_fisher_by_nc(y: Any, m: Any, n: Any, nc: Any, f: Any) -> Any:
    return 0.5 * (special.ncfdtr(m + 2.0, n, nc, f * m / (m + 2.0)) - y)


partials(
    special.ncfdtr,
    lambda y, dfn, dfd, nc, f: rt.no_derivative("the degrees of freedom of scipy.special.ncfdtr", NOT_CENTRAL),
    lambda y, dfn, dfd, nc, f: rt.no_derivative("the degrees of freedom of scipy.special.ncfdtr", NOT_CENTRAL),
    lambda y, dfn, dfd, nc, f: shifted_fisher_by_nc(y, dfn, dfd, nc, f),
    lambda y, dfn, dfd, nc, f: shifted_fisher_density(dfn, dfd, nc, f), domain=(2.5, 3.5, POSITIVE, POSITIVE),
)
partials(
    special.ncfdtri,
    lambda y, dfn, dfd, nc, p: rt.no_derivative("the degrees of freedom of scipy.special.ncfdtri", NOT_CENTRAL),
    lambda y, dfn, dfd, nc, p: rt.no_derivative("the degrees of freedom of scipy.special.ncfdtri", NOT_CENTRAL),
    lambda y, dfn, dfd, nc, p: moved(shifted_fisher_by_nc(p, dfn, dfd, nc, y), shifted_fisher_density(dfn, dfd, nc, y)),
    lambda y, dfn, dfd, nc, p: 1.0 / shifted_fisher_density(dfn, dfd, nc, y), domain=(2.5, 3.5, POSITIVE, UNIT),
)
for _fn in (special.ncfdtridfd, special.ncfdtridfn, special.ncfdtrinc):
    refuse(_fn, NOT_CENTRAL)
for _fn in (special.nctdtridf, special.nctdtrinc):
    refuse(_fn, NOT_CENTRAL)

# --- the normal distribution by its mean and deviation ----------------------------------------------------------------

partials(
    special.nrdtrimn, lambda y, p, std, x: -math.sqrt(2.0 * math.pi) * std * np.exp(0.5 * ((x - y) / std) ** 2),
    lambda y, p, std, x: (y - x) / std, lambda y, p, std, x: 1.0, domain=(UNIT, POSITIVE, (-2.0, 2.0)),
)
partials(
    special.nrdtrisd, lambda y, mn, p, x: -y / (x - mn),
    lambda y, mn, p, x: -y * y / (x - mn) * math.sqrt(2.0 * math.pi) * np.exp(0.5 * ((x - mn) / y) ** 2),
    lambda y, mn, p, x: y / (x - mn), domain=((-1.0, 1.0), (0.6, 0.9), (1.5, 2.5)),
)

# --- Tukey's lambda distribution: x = (p^l - (1 - p)^l) / l -----------------------------------------------------------


def tukey_slope(p: Any, l: Any) -> Any:
    return np.power(p, l - 1.0) + np.power(1.0 - p, l - 1.0)


def tukey_by_lambda(y: Any, x: Any, l: Any) -> Any:
    """0 where the distribution has ended."""
    inside = (y > 0.0) & (y < 1.0)
    p = np.where(inside, y, 0.5)
    change = boxcox_by_lambda(special.boxcox(p, l), np.log(p), l)
    change = change - boxcox_by_lambda(special.boxcox(1.0 - p, l), np.log1p(-p), l)
    return np.where(inside, -change / tukey_slope(p, l), 0.0)


def tukey_by_place(y: Any, x: Any, l: Any) -> Any:
    inside = (y > 0.0) & (y < 1.0)
    return np.where(inside, 1.0 / tukey_slope(np.where(inside, y, 0.5), l), 0.0)


partials(special.tklmbda, tukey_by_place, tukey_by_lambda, domain=((-1.0, 1.0), (0.2, 0.7)))

# --- Kolmogorov's distribution ----------------------------------------------------------------------------------------


def kolmogorov_slope(x: Any) -> Any:
    """-8 x sum (-1)^(k-1) k^2 exp(-2 k^2 x^2); for small x by the other series of the theta function (DLMF 20.7.32)."""
    near = x < 0.8
    x = np.expand_dims(x, -1)
    k = np.arange(1.0, 7.0)
    far = np.sum(-8.0 * x * np.cos(math.pi * (k - 1.0)) * k * k * np.exp(-2.0 * k * k * x * x), axis=-1)
    some = np.where(x < 0.04, 1.0, x)
    c = (math.pi * (2.0 * k - 1.0) / some) ** 2 / 4.0
    close = np.sum(np.exp(-0.5 * c) * (c - 1.0), axis=-1) * math.sqrt(2.0 * math.pi)
    close = np.where(x[..., 0] < 0.04, 0.0, -close / (some[..., 0] * some[..., 0]))
    return np.where(near, close, far)


partials(special.kolmogorov, lambda y, x: kolmogorov_slope(x), domain=(0.3, 2.0))
partials(special.kolmogi, lambda y, p: 1.0 / kolmogorov_slope(y), domain=UNIT)
FINITE = "of finite samples it has no rule; kolmogorov, of large ones, has"
refuse(special.smirnov, FINITE)
refuse(special.smirnovi, FINITE)
