"""Rules of ``scipy.special``: derivatives as expressions in the result, the inputs and other special functions.

Formulas are those of the NIST Digital Library of Mathematical Functions (DLMF), by the section that stands beside them.
Where a derivative by an order is no special function of SciPy, it is refused; those by the shapes of the incomplete
functions are in ``incomplete``. Bessel functions, distributions, polynomials and waves have modules of their own. The
textbook form is left where it loses digits: ``log_ndtr`` far out, elliptic integrals near 0, Box-Cox near 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from s2s import runtime as rt
from s2s.rules.samples import args, arr, num
from s2s.rules.scipy import hypergeometric, incomplete
from s2s.rules.table import model, partials, refuse, several, straight_through, vjp, zero

POSITIVE = (0.3, 3.0)
INSIDE = (-0.9, 0.9)
UNIT = (0.1, 0.9)
ABOVE_ONE = (1.2, 4.0)
CLOSED_FORM = "the derivative by it is no function that SciPy has; keep that argument constant"


def quotient(y: Any, x: Any, at_zero: complex) -> Any:
    """y / x, and its limit at 0."""
    return np.where(x == 0.0, at_zero, y / np.where(x == 0.0, 1.0, x))


# --- gamma function and its kin (DLMF 5.2, 5.12, 5.15) --------------------------------------------------------------

partials(special.gammaln, lambda y, x: special.psi(x), domain=POSITIVE)
partials(special.loggamma, lambda y, x: special.psi(x), domain=POSITIVE)
partials(special.gamma, lambda y, x: y * special.psi(x), domain=POSITIVE)


def rgamma_partial(y: Any, x: Any) -> Any:
    """-psi(x) / Gamma(x); at the poles of Gamma, x = 0, -1, -2, ..., its limit (-1)^x (-x)!."""
    if np.iscomplexobj(x):
        return -y * special.psi(x)
    pole = y == 0.0
    at_pole = np.cos(math.pi * x) * special.gamma(np.where(pole, 1.0 - x, 1.0))
    return np.where(pole & (x <= 0.0), at_pole, -y * special.psi(np.where(pole, 1.0, x)))


partials(special.rgamma, rgamma_partial)
partials(special.psi, lambda y, x: incomplete.trigamma(x), domain=POSITIVE)
partials(
    special.polygamma, None, lambda y, n, x: special.polygamma(n + 1, x), params="n, x", domain=(2, POSITIVE),
)
def zeta_partial(y: Any, x: Any, q: Any) -> Any:
    return incomplete.zeta_by_s(x, 1.0 if q is None else q)


partials(
    special.zeta, zeta_partial, lambda y, x, q: -x * special.zeta(x + 1.0, q), params="x, q=None, out=None",
    samples=(
        args(num(1.5, 4.0)), args(arr(5, low=1.5, high=4.0), arr(5, low=0.3)), args(2.5, arr(2, 3, low=0.3)),
        args(arr(3, 1, low=1.5, high=4.0), arr(4, low=0.3)), args(arr(3, low=-3.0, high=0.5)), args(arr(0, 3, low=1.5)),
    ),
)
partials(special.zetac, lambda y, x: incomplete.zeta_by_s(x, 1.0), domain=(1.5, 4.0))


def multigammaln_partial(y: Any, a: Any, d: Any) -> Any:
    """The sum of psi(a - j / 2) over j < d."""
    return np.sum(special.psi(np.expand_dims(a, -1) - 0.5 * np.arange(d)), axis=-1)


partials(
    special.multigammaln, multigammaln_partial, None, params="a, d",
    samples=(args(num(3.0, 5.0), 3), args(arr(4, low=2.0, high=5.0), 2), args(arr(2, 2, low=1.0, high=5.0), 1)),
)


def psi_ahead(x: Any, step: Any) -> Any:
    """psi(x + step) - psi(x). The difference has no digits where x is large: there by the series of each (DLMF 5.11.2),
    subtracted term by term."""
    large = np.minimum(x, x + step) > 1e3
    far = np.where(large, x, 1.0)
    by = np.where(large, step / far, 0.0)
    end = 1.0 + by
    terms = np.log1p(by) + 0.5 * by / end / far + by * (2.0 + by) / (12.0 * end * end) / far / far
    return np.where(large, terms, special.psi(x + step) - special.psi(x))


partials(
    special.beta, lambda y, a, b: -y * psi_ahead(a, b), lambda y, a, b: -y * psi_ahead(b, a), domain=POSITIVE,
)
partials(special.betaln, lambda y, a, b: -psi_ahead(a, b), lambda y, a, b: -psi_ahead(b, a), domain=POSITIVE)


def poch_partial(y: Any, z: Any, m: Any) -> Any:
    """y (psi(z + m) - psi(z)); where Gamma(z) has a pole y is zero or, with one of Gamma(z + m), a polynomial in z
    (DLMF 5.5.3)."""
    pole = (z <= 0.0) & (z == nearest(z))
    both = pole & (z + m <= 0.0) & (m == nearest(m))
    from_pole = special.gamma(np.where(pole & ~both, z + m, 1.0)) * special.gamma(1.0 - np.where(pole, z, 0.0))
    from_pole = np.where(nearest(0.5 * z) == 0.5 * z, 1.0, -1.0) * from_pole
    reflected = psi_ahead(np.where(both, 1.0 - z - m, 1.0), np.where(both, m, 1.0))
    return np.where(pole, np.where(both, -y * reflected, from_pole), y * psi_ahead(np.where(pole, 1.0, z), m))


partials(
    special.poch, poch_partial, lambda y, z, m: y * special.psi(z + m), domain=POSITIVE,
)
partials(
    special.binom, lambda y, n, k: y * psi_ahead(n - k + 1.0, k),
    lambda y, n, k: y * (special.psi(n - k + 1.0) - special.psi(k + 1.0)), domain=((3.0, 5.0), POSITIVE),
)
partials(
    special.factorial, lambda y, n: y * special.psi(n + 1.0), params="n, exact=False, extend='zero'", domain=POSITIVE,
)
refuse(special.factorial2, "it is a function of whole numbers; write it with gamma")
refuse(special.factorialk, "it is a function of whole numbers; write it with gamma")


IS_CUT_OFF = special.comb(0.5, 2.0, repetition=True) == 0
"""Whether the combinations with repetition of fewer than one are zero, as SciPy has them before 1.17."""


@model(
    special.comb,
    samples=[args(num(3.0, 5.0), num(0.3, 2.0)), args(arr(4, low=3.0, high=5.0), 2), args(5, arr(2, 3, low=0.3)),
             args(arr(3, low=2.0, high=4.0), arr(3, low=0.3), repetition=True), args(arr(3, low=1.2, high=1.8), 2)],
)
def _comb(N: Any, k: Any, *, exact: Any = False, repetition: Any = False) -> Any:
    if exact:
        return rt.no_derivative("scipy.special.comb", "exact=True is for whole numbers; leave it out")
    if repetition and IS_CUT_OFF:
        return special.comb(N + k - 1, k)
    if repetition:
        return np.where((k == 0) & (N >= 0), 1.0, special.binom(N + k - 1, k))[()]
    return np.where((k <= N) & (N >= 0) & (k >= 0), special.binom(N, k), 0.0)[()]


@model(
    special.perm,
    samples=[args(num(3.0, 5.0), num(0.3, 2.0)), args(arr(4, low=3.0, high=5.0), 2), args(arr(3, low=1.2, high=1.8), 2)]
)
def _perm(N: Any, k: Any, exact: Any = False) -> Any:
    if exact:
        return rt.no_derivative("scipy.special.perm", "exact=True is for whole numbers; leave it out")
    return np.where((k <= N) & (N >= 0) & (k >= 0), special.poch(N - k + 1, k), 0.0)[()]


def gamma_density(a: Any, x: Any) -> Any:
    """The density of the gamma distribution, e^-x x^(a-1) / Gamma(a) (DLMF 8.8.13)."""
    return np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a))


partials(
    special.gammainc, lambda y, a, x: incomplete.gammainc_by_a(a, x), lambda y, a, x: gamma_density(a, x),
    domain=POSITIVE,
)
partials(
    special.gammaincc, lambda y, a, x: -incomplete.gammainc_by_a(a, x), lambda y, a, x: -gamma_density(a, x),
    domain=POSITIVE,
)


def moved(change: Any, slope: Any) -> Any:
    """How an equation F(y, a) = p moves y by ``a``, of which F changes by this; not at all at an end of a distribution
    that stays, where the slope may be zero too."""
    return -change / np.where(change == 0.0, 1.0, slope)


# An inverse y by the last argument: F(a, y) = p.
partials(
    special.gammaincinv, lambda y, a, p: moved(incomplete.gammainc_by_a(a, y), gamma_density(a, y)),
    lambda y, a, p: 1.0 / gamma_density(a, y), domain=(POSITIVE, UNIT),
)
partials(
    special.gammainccinv, lambda y, a, p: moved(incomplete.gammainc_by_a(a, y), gamma_density(a, y)),
    lambda y, a, p: -1.0 / gamma_density(a, y), domain=(POSITIVE, UNIT),
)


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """The density of the beta distribution, x^(a-1) (1-x)^(b-1) / B(a, b) (DLMF 8.17.1)."""
    return np.exp(special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b))


partials(
    special.betainc, lambda y, a, b, x: incomplete.betainc_by_a(a, b, x),
    lambda y, a, b, x: incomplete.betainc_by_b(a, b, x), lambda y, a, b, x: beta_density(a, b, x),
    domain=(POSITIVE, POSITIVE, UNIT),
)
partials(
    special.betaincinv, lambda y, a, b, p: moved(incomplete.betainc_by_a(a, b, y), beta_density(a, b, y)),
    lambda y, a, b, p: moved(incomplete.betainc_by_b(a, b, y), beta_density(a, b, y)),
    lambda y, a, b, p: 1.0 / beta_density(a, b, y), domain=(POSITIVE, POSITIVE, UNIT),
)
if hasattr(special, "betaincc"):  # SciPy 1.11
    partials(
        special.betaincc, lambda y, a, b, x: -incomplete.betainc_by_a(a, b, x),
        lambda y, a, b, x: -incomplete.betainc_by_b(a, b, x), lambda y, a, b, x: -beta_density(a, b, x),
        domain=(POSITIVE, POSITIVE, UNIT),
    )
    partials(
        special.betainccinv, lambda y, a, b, p: moved(incomplete.betainc_by_a(a, b, y), beta_density(a, b, y)),
        lambda y, a, b, p: moved(incomplete.betainc_by_b(a, b, y), beta_density(a, b, y)),
        lambda y, a, b, p: -1.0 / beta_density(a, b, y), domain=(POSITIVE, POSITIVE, UNIT),
    )
zero(special.gammasgn, special.bernoulli, special.euler, special.stirling2)


def whole_part(k: Any) -> Any:
    """What a count is rounded down to: piecewise constant, also where a rounding by the user is straight through."""
    return np.floor(k)


def nearest(x: Any) -> Any:
    return np.round(x)


def cut_off(k: Any) -> Any:
    """What a count is to compiled functions of whole numbers."""
    return np.trunc(k)


zero(whole_part, nearest, cut_off)

# --- error functions and the normal distribution (DLMF 7.2, 7.10) ---------------------------------------------------

partials(special.erf, lambda y, x: (2.0 / math.sqrt(math.pi)) * np.exp(-x * x))
partials(special.erfc, lambda y, x: (-2.0 / math.sqrt(math.pi)) * np.exp(-x * x))


def asymptotic(x: Any, sign: float) -> Any:
    """1 - sqrt(pi) x erfcx(x) for sign -1, and 2 x dawsn(x) - 1 for sign 1, where x is large: differences that have no
    digits there. The terms of DLMF 7.12.1 and 7.8, from the last to the first."""
    half = 0.5 / x / x
    step = sign * half
    return half * (1.0 + 3.0 * step * (1.0 + 5.0 * step * (1.0 + 7.0 * step * (1.0 + 9.0 * step))))


def erfcx_slope(y: Any, x: Any) -> Any:
    """2 x y - 2 / sqrt(pi)."""
    far = x > 50.0
    change = np.where(far, asymptotic(np.where(far, x, 1.0), -1.0), 1.0 - math.sqrt(math.pi) * x * y)
    return (-2.0 / math.sqrt(math.pi)) * change


def dawsn_slope(y: Any, x: Any) -> Any:
    """1 - 2 x y."""
    far = np.abs(x) > 50.0
    return np.where(far, -asymptotic(np.where(far, x, 1.0), 1.0), 1.0 - 2.0 * x * y)


def wofz_slope(y: Any, z: Any) -> Any:
    """2 i / sqrt(pi) - 2 z y."""
    far = (np.abs(z) > 50.0) & (np.imag(z) >= 0.0)
    change = np.where(far, -asymptotic(np.where(far, z, 1.0), 1.0), 1.0 + 1.0j * math.sqrt(math.pi) * z * y)
    return (2.0j / math.sqrt(math.pi)) * change


partials(special.erfcx, erfcx_slope)
partials(special.erfi, lambda y, x: (2.0 / math.sqrt(math.pi)) * np.exp(x * x))
partials(special.dawsn, dawsn_slope)
partials(special.wofz, wofz_slope)
partials(special.erfinv, lambda y, x: (0.5 * math.sqrt(math.pi)) * np.exp(y * y), domain=INSIDE)
partials(special.erfcinv, lambda y, x: (-0.5 * math.sqrt(math.pi)) * np.exp(y * y), domain=UNIT)
partials(special.ndtr, lambda y, x: (1.0 / math.sqrt(2.0 * math.pi)) * np.exp(-0.5 * x * x))
partials(special.ndtri, lambda y, p: math.sqrt(2.0 * math.pi) * np.exp(0.5 * y * y), domain=UNIT)
# The density over the distribution, both scaled by exp(x^2 / 2): no difference of large logarithms.
# erfcx overflows on the right; on the left the exponent would be a difference of large numbers.
partials(special.log_ndtr, lambda y, x: np.where(
    np.real(x) > 1.0, math.sqrt(0.5 / math.pi) * np.exp(-0.5 * x * x - y),
    math.sqrt(2.0 / math.pi) / special.erfcx(-math.sqrt(0.5) * x),
))
partials(
    special.ndtri_exp, lambda y, p: math.sqrt(0.5 * math.pi) * special.erfcx(-math.sqrt(0.5) * y), domain=(-3.0, -0.2),
)
partials(
    special.owens_t,
    lambda y, h, a: (-0.5 / math.sqrt(2.0 * math.pi)) * np.exp(-0.5 * h * h) * special.erf(math.sqrt(0.5) * a * h),
    lambda y, h, a: np.exp(-0.5 * h * h * (1.0 + a * a)) / (2.0 * math.pi * (1.0 + a * a)),
)
several(special.fresnel, lambda y, z: (np.sin(0.5 * math.pi * z * z), np.cos(0.5 * math.pi * z * z)))


def voigt_slope(x: Any, sigma: Any, gamma: Any) -> tuple[Any, Any]:
    """z and the slope of Faddeeva's function at z = (x + i gamma) / (sqrt(2) sigma), over sqrt(2 pi) sigma^2."""
    z = (x + 1j * gamma) / (math.sqrt(2.0) * sigma)
    return z, wofz_slope(special.wofz(z), z) / (2.0 * math.sqrt(math.pi) * sigma) / sigma


def voigt_by_place(x: Any, sigma: Any, gamma: Any) -> Any:
    """By x: the real part of that slope; the Lorentzian's where sigma is 0."""
    narrow = sigma == 0.0
    r = x * x + gamma * gamma
    lorentz = -2.0 * x * gamma / (math.pi * np.where(r == 0.0, 1.0, r * r))
    return np.where(narrow, lorentz, np.real(voigt_slope(x, np.where(narrow, 1.0, sigma), gamma)[1]))


def voigt_by_gamma(x: Any, sigma: Any, gamma: Any) -> Any:
    narrow = sigma == 0.0
    r = x * x + gamma * gamma
    lorentz = (x * x - gamma * gamma) / (math.pi * np.where(r == 0.0, 1.0, r * r))
    return np.where(narrow, lorentz, -np.imag(voigt_slope(x, np.where(narrow, 1.0, sigma), gamma)[1]))


def voigt_by_sigma(y: Any, x: Any, sigma: Any, gamma: Any) -> Any:
    """0 where sigma is 0: the profile is even in it."""
    narrow = sigma == 0.0
    width = np.where(narrow, 1.0, sigma)
    z, slope = voigt_slope(x, width, gamma)
    return np.where(narrow, 0.0, -y / width - math.sqrt(2.0) * np.real(z * slope))


partials(
    special.voigt_profile, lambda y, x, sigma, gamma: voigt_by_place(x, sigma, gamma), voigt_by_sigma,
    lambda y, x, sigma, gamma: voigt_by_gamma(x, sigma, gamma), domain=((-2.0, 2.0), POSITIVE, POSITIVE),
)

# --- logistic functions, logarithms, entropies ----------------------------------------------------------------------

partials(special.expit, lambda y, x: y * (1.0 - y))
partials(special.logit, lambda y, p: 1.0 / (p * (1.0 - p)), domain=UNIT)
partials(special.log_expit, lambda y, x: special.expit(-x))
if hasattr(special, "softplus"):  # SciPy 1.16
    partials(special.softplus, lambda y, x: special.expit(x), params="x, **kwargs")


# The share x1 / x2 is taken as 0 where x1 is 0: there the function is 0 for every x2.
partials(
    special.xlogy, lambda y, x1, x2: np.log(x2), lambda y, x1, x2: x1 / np.where(x1 == 0.0, 1.0, x2), domain=POSITIVE,
)
partials(
    special.xlog1py, lambda y, x1, x2: np.log1p(x2), lambda y, x1, x2: x1 / np.where(x1 == 0.0, 1.0, 1.0 + x2),
    domain=POSITIVE,
)
partials(special.entr, lambda y, x: -1.0 - np.log(x), domain=POSITIVE)
partials(
    special.rel_entr, lambda y, x1, x2: 1.0 + np.log(x1 / x2), lambda y, x1, x2: -x1 / np.where(x1 == 0.0, 1.0, x2),
    domain=POSITIVE,
)
partials(
    special.kl_div, lambda y, x1, x2: np.log(x1 / x2), lambda y, x1, x2: 1.0 - x1 / np.where(x1 == 0.0, 1.0, x2),
    domain=POSITIVE,
)
partials(special.log1p, lambda y, x: 1.0 / (1.0 + x), domain=(-0.7, 3.0))
partials(special.expm1, lambda y, x: y + 1.0)
partials(special.exp2, lambda y, x: math.log(2.0) * y)
partials(special.exp10, lambda y, x: math.log(10.0) * y)
# (e^x (x - 1) + 1) / x^2, as a hypergeometric function that is exact at 0 too (DLMF 13.4.1).
partials(special.exprel, lambda y, x: 0.5 * special.hyp1f1(2.0, 3.0, x))
partials(special.cosm1, lambda y, x: -np.sin(x))
partials(special.cbrt, lambda y, x: 1.0 / (3.0 * y * y), domain=POSITIVE)
partials(
    special.powm1, lambda y, x1, x2: x2 * np.power(x1, x2 - 1.0), lambda y, x1, x2: (y + 1.0) * np.log(x1),
    domain=(POSITIVE, (-2.0, 2.0)),
)
partials(special.sindg, lambda y, x: (math.pi / 180.0) * special.cosdg(x))
partials(special.cosdg, lambda y, x: (-math.pi / 180.0) * special.sindg(x))
partials(special.tandg, lambda y, x: (math.pi / 180.0) * (1.0 + y * y))
partials(special.cotdg, lambda y, x: (-math.pi / 180.0) * (1.0 + y * y), domain=(20.0, 70.0))
partials(
    special.radian, lambda y, d, m, s: math.pi / 180.0, lambda y, d, m, s: math.pi / 10800.0,
    lambda y, d, m, s: math.pi / 648000.0,
)


def diric_partial(y: Any, x: Any, n: Any) -> Any:
    """The mean of cos(k x) over k = -(n - 1) / 2, ..., (n - 1) / 2, differentiated."""
    k = np.arange(np.max(n, initial=1)) - 0.5 * (np.expand_dims(n, -1) - 1.0)
    terms = np.where(k <= 0.5 * (np.expand_dims(n, -1) - 1.0), -k * np.sin(k * np.expand_dims(x, -1)), 0.0)
    return np.sum(terms, axis=-1) / n


partials(
    special.diric, diric_partial, None, params="x, n",
    samples=(args(arr(5), 3), args(num(), 4), args(arr(2, 3), 7), args(arr(3, 1), np.array([2, 5]))),
)
straight_through(special.round)


def boxcox_by_lambda(y: Any, log: Any, scale: Any) -> Any:
    """The derivative of (e^(scale log) - 1) / scale by the scale; its series near 0, where the quotient cancels."""
    t = scale * log
    near = np.abs(t) < 1e-2
    series = 0.5 + t * (1.0 / 3.0 + t * (0.125 + t * (1.0 / 30.0 + t * (1.0 / 144.0 + t / 840.0))))
    far = (np.exp(t) * log - y) / np.where(near, 1.0, scale)
    return np.where(near, log * log * series, far)


partials(
    special.boxcox, lambda y, x, lmbda: np.power(x, lmbda - 1.0),
    lambda y, x, lmbda: boxcox_by_lambda(y, np.log(x), lmbda), domain=(POSITIVE, (-2.0, 2.0)),
)
partials(
    special.boxcox1p, lambda y, x, lmbda: np.exp(special.xlog1py(lmbda - 1.0, x)),
    lambda y, x, lmbda: boxcox_by_lambda(y, np.log1p(x), lmbda), domain=((-0.7, 2.0), (-2.0, 2.0)),
)
# The inverse y of boxcox at lmbda: its derivatives are those of the inverse function.
partials(
    special.inv_boxcox, lambda y, x, lmbda: np.power(y, 1.0 - lmbda),
    lambda y, x, lmbda: -np.power(y, 1.0 - lmbda) * boxcox_by_lambda(x, np.log(y), lmbda),
    domain=((0.1, 2.0), (0.2, 1.5)),
)
partials(
    special.inv_boxcox1p, lambda y, x, lmbda: np.exp(special.xlog1py(1.0 - lmbda, y)),
    lambda y, x, lmbda: -np.exp(special.xlog1py(1.0 - lmbda, y)) * boxcox_by_lambda(x, np.log1p(y), lmbda),
    domain=((0.1, 2.0), (0.2, 1.5)),
)
# |r| <= delta: r^2 / 2, outside delta (|r| - delta / 2).
partials(
    special.huber, lambda y, delta, r: np.maximum(np.abs(r) - delta, 0.0),
    lambda y, delta, r: np.clip(r, -delta, delta),
    domain=(POSITIVE, (-2.0, 2.0)),
)
partials(
    special.pseudo_huber,
    lambda y, delta, r: 2.0 * y / delta - r * r / (delta * np.hypot(1.0, r / delta)),
    lambda y, delta, r: r / np.hypot(1.0, r / delta),
    domain=(POSITIVE, (-2.0, 2.0)),
)

# --- sums of exponentials -------------------------------------------------------------------------------------------


def shares_of_exp(y: Any, a: Any, b: Any) -> Any:
    """b e^a / e^y, the derivative of log(sum(b e^a)) by a; where the sum is infinite or 0 it goes, in equal parts, to
    the terms that make it so."""
    if b is not None:
        a, b = np.where(b == 0.0, -np.inf, a), np.where(b == 0.0, 1.0, b)
    infinite = np.isinf(y)
    same = infinite & (a == y)
    shares = np.exp(np.where(infinite, -np.inf, a) - np.where(infinite, 0.0, y))
    shares = shares if b is None else shares * b
    if np.any(same):
        count = np.sum(same, axis=tuple(i for i, n in enumerate(np.shape(y)) if n == 1) or None, keepdims=True)
        shares = np.where(same, 1.0 / np.maximum(count, 1), shares)
    return shares


def signless(y_bar: Any, y: Any, return_sign: Any) -> tuple[Any, Any]:
    """The cotangent of the sum without its sign, and the logarithm of its size."""
    if not return_sign:
        return y_bar, y
    size, sign = y
    found = rt.whole((y_bar[0],), (size,))[0]
    return (np.zeros_like(size) if found is None else found * sign), size


def logsumexp_bar(y_bar: Any, y: Any, a: Any, axis: Any, b: Any, keepdims: Any, return_sign: Any) -> Any:
    y_bar, y = signless(y_bar, y, return_sign)
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
        y = np.expand_dims(y, axis)
    if b is None:
        return y_bar * shares_of_exp(y, a, None)
    return rt.unbroadcast(y_bar * shares_of_exp(y, a, b), a)


def logsumexp_b(y_bar: Any, y: Any, a: Any, axis: Any, b: Any, keepdims: Any, return_sign: Any) -> Any:
    y_bar, y = signless(y_bar, y, return_sign)
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
        y = np.expand_dims(y, axis)
    return rt.unbroadcast(y_bar * np.exp(a - y), b)


REDUCED = [
    args(arr(5)), args(arr(3, 4)), args(arr(3, 4), axis=0), args(arr(3, 4), axis=-1), args(arr(2, 3, 4), axis=(0, 2)),
    args(arr()),
]
vjp(
    special.logsumexp, a=logsumexp_bar, b=logsumexp_b, params="a, axis=None, b=None, keepdims=False, return_sign=False",
    samples=[
        *REDUCED, args(arr(3, 4), axis=1, keepdims=True), args(arr(3, 4), keepdims=True),
        args(arr(4), b=arr(4, low=0.5)), args(arr(3, 4), axis=1, b=arr(4, low=0.5)),
        args(arr(3, 4), 0, arr(3, 1, low=0.5), True), args(np.ones(3), b=arr(3, low=0.5)),
        args(arr(3), b=np.array([1.0, 0.0, 2.0])),
        args(arr(3, 4), 0, np.array([[1.0], [-2.0], [0.5]]), return_sign=True),
    ],
)


def softmax_bar(y_bar: Any, y: Any, axis: Any) -> Any:
    return y * (y_bar - np.sum(y_bar * y, axis=axis, keepdims=True))


def log_softmax_bar(y_bar: Any, y: Any, axis: Any) -> Any:
    return y_bar - np.exp(y) * np.sum(y_bar, axis=axis, keepdims=True)


vjp(special.softmax, x=softmax_bar, params="x, axis=None", samples=REDUCED)
vjp(special.log_softmax, x=log_softmax_bar, params="x, axis=None", samples=REDUCED)

# --- integrals of exponentials, sines and logarithms (DLMF 6.2, 8.19, 25.12) ----------------------------------------

partials(special.exp1, lambda y, x: -np.exp(-x) / x, domain=POSITIVE)
partials(special.expi, lambda y, x: np.exp(x) / x, domain=POSITIVE)


def expn_partial(y: Any, n: Any, x: Any) -> Any:
    """-E_(n-1)(x); E_0(x) = e^-x / x."""
    n = cut_off(n)
    return -np.where(n == 0, y * (1.0 + 1.0 / x), special.expn(np.maximum(n - 1, 0), x))


partials(special.expn, None, expn_partial, domain=(2, POSITIVE))


def spence_partial(y: Any, z: Any) -> Any:
    """log(z) / (1 - z), -1 at 1."""
    return np.where(z == 1.0, -1.0, np.log(z) / np.where(z == 1.0, 1.0, 1.0 - z))


partials(special.spence, spence_partial, domain=POSITIVE)


several(special.sici, lambda y, x: (np.sinc(x / math.pi), np.cos(x) / x), domain=POSITIVE)
several(special.shichi, lambda y, x: (quotient(np.sinh(x), x, 1.0), np.cosh(x) / x), domain=POSITIVE)

# --- hypergeometric functions and those defined by equations (DLMF 4.13, 13.3, 15.5) --------------------------------

partials(
    special.hyp2f1,
    lambda y, a, b, c, z: hypergeometric.hyp2f1_by_a(y, a, b, c, z),
    lambda y, a, b, c, z: hypergeometric.hyp2f1_by_a(y, b, a, c, z),
    lambda y, a, b, c, z: hypergeometric.hyp2f1_by_c(a, b, c, z),
    lambda y, a, b, c, z: a * b / c * special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z),
    domain=((0.4, 2.0), (0.4, 2.0), (1.1, 3.0), INSIDE),
)
partials(
    special.hyp1f1,
    lambda y, a, b, x: hypergeometric.hyp1f1_by_a(a, b, x),
    lambda y, a, b, x: hypergeometric.hyp1f1_by_b(a, b, x),
    lambda y, a, b, x: a / b * special.hyp1f1(a + 1.0, b + 1.0, x), domain=((0.4, 2.0), (1.1, 3.0), (-2.0, 2.0)),
)
partials(
    special.hyp0f1, lambda y, v, z: hypergeometric.hyp0f1_by_v(v, z),
    lambda y, v, z: special.hyp0f1(v + 1.0, z) / v, domain=((0.4, 2.0), (-2.0, 2.0)),
)
partials(
    special.hyperu,
    lambda y, a, b, x: rt.no_derivative("the first argument of scipy.special.hyperu", CLOSED_FORM),
    lambda y, a, b, x: rt.no_derivative("the second argument of scipy.special.hyperu", CLOSED_FORM),
    lambda y, a, b, x: -a * special.hyperu(a + 1.0, b + 1.0, x), domain=(0.7, 1.3, POSITIVE),
)
# From w e^w = z; e^-w in place of w / z, which is not defined at 0. The result is complex for real arguments too.
partials(
    special.lambertw, lambda y, z: np.exp(-y) / (1.0 + y), params="z, k=0, tol=1e-8", harmless="tol", decides="k",
    samples=(
        args(arr(4, low=0.2)), args(num(0.2)), args(arr(2, 3, low=-0.3)), args(arr(3, complex=True), 1),
        args(arr(3, low=-0.3, high=-0.1), k=-1), args(arr()),
    ),
)
partials(special.wrightomega, lambda y, z: y / (1.0 + y))

# --- what has no derivative -------------------------------------------------------------------------------------------

zero(
    special.errstate, special.geterr, special.seterr, special.SpecialFunctionError, special.SpecialFunctionWarning,
)
