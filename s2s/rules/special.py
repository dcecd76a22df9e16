"""Rules of ``scipy.special``: derivatives as expressions in the result, the inputs and other special functions.

Formulas are those of the NIST Digital Library of Mathematical Functions (DLMF), by the section that stands beside them.
Where a derivative by an order or a shape parameter is no special function of SciPy, it is refused. The textbook form is
left where it loses digits: ``log_ndtr`` far out, elliptic integrals near 0, Box-Cox near 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from s2s import runtime as rt
from s2s.rules.table import args, arr, jvp, num, partials, straight_through, vjp, zero

POSITIVE = (0.3, 3.0)
INSIDE = (-0.9, 0.9)
UNIT = (0.1, 0.9)
ABOVE_ONE = (1.2, 4.0)
CLOSED_FORM = "it is no function that SciPy has; keep that argument constant"

# --- gamma function and its kin (DLMF 5.2, 5.12, 5.15) --------------------------------------------------------------

partials(special.gammaln, lambda y, x: special.psi(x), domain=POSITIVE)
partials(special.loggamma, lambda y, x: special.psi(x), domain=POSITIVE)
partials(special.gamma, lambda y, x: y * special.psi(x), domain=POSITIVE)


def _rgamma(y: Any, x: Any) -> Any:
    """-psi(x) / Gamma(x); at the poles of Gamma, x = 0, -1, -2, ..., its limit (-1)^x (-x)!."""
    pole = y == 0.0
    at_pole = np.cos(math.pi * x) * special.gamma(np.where(pole, 1.0 - x, 1.0))
    return np.where(pole & (x <= 0.0), at_pole, -y * special.psi(np.where(pole, 1.0, x)))


partials(special.rgamma, _rgamma)
partials(special.psi, lambda y, x: special.zeta(2.0, x), domain=POSITIVE)
partials(
    special.polygamma, None, lambda y, n, x: special.polygamma(n + 1, x), params="n, x", domain=(2, POSITIVE),
)
partials(
    special.zeta,
    lambda y, x, q: rt.no_derivative("the first argument of scipy.special.zeta", CLOSED_FORM),
    lambda y, x, q: -x * special.zeta(x + 1.0, q),
    params="x, q=None, out=None", domain=(2.5, POSITIVE),
)


def _multigammaln(y: Any, a: Any, d: Any) -> Any:
    """The sum of psi(a - j / 2) over j < d."""
    return np.sum(special.psi(np.expand_dims(a, -1) - 0.5 * np.arange(d)), axis=-1)


partials(
    special.multigammaln, _multigammaln, None, params="a, d",
    samples=(args(num(3.0, 5.0), 3), args(arr(4, low=2.0, high=5.0), 2), args(arr(2, 2, low=1.0, high=5.0), 1)),
)
partials(
    special.beta, lambda y, a, b: y * (special.psi(a) - special.psi(a + b)),
    lambda y, a, b: y * (special.psi(b) - special.psi(a + b)), domain=POSITIVE,
)
partials(
    special.betaln, lambda y, a, b: special.psi(a) - special.psi(a + b),
    lambda y, a, b: special.psi(b) - special.psi(a + b), domain=POSITIVE,
)
partials(
    special.poch, lambda y, z, m: y * (special.psi(z + m) - special.psi(z)),
    lambda y, z, m: y * special.psi(z + m), domain=POSITIVE,
)
partials(
    special.binom, lambda y, n, k: y * (special.psi(n + 1.0) - special.psi(n - k + 1.0)),
    lambda y, n, k: y * (special.psi(n - k + 1.0) - special.psi(k + 1.0)), domain=((3.0, 5.0), POSITIVE),
)
partials(
    special.factorial, lambda y, n: y * special.psi(n + 1.0), params="n, exact=False, extend='zero'", domain=POSITIVE,
)


def gamma_density(a: Any, x: Any) -> Any:
    """The density of the gamma distribution, e^-x x^(a-1) / Gamma(a) (DLMF 8.8.13)."""
    return np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a))


partials(
    special.gammainc,
    lambda y, a, x: rt.no_derivative("the first argument of scipy.special.gammainc", CLOSED_FORM),
    lambda y, a, x: gamma_density(a, x), domain=(1.7, POSITIVE),
)
partials(
    special.gammaincc,
    lambda y, a, x: rt.no_derivative("the first argument of scipy.special.gammaincc", CLOSED_FORM),
    lambda y, a, x: -gamma_density(a, x), domain=(1.7, POSITIVE),
)
partials(
    special.gammaincinv,
    lambda y, a, p: rt.no_derivative("the first argument of scipy.special.gammaincinv", CLOSED_FORM),
    lambda y, a, p: 1.0 / gamma_density(a, y), domain=(1.7, UNIT),
)
partials(
    special.gammainccinv,
    lambda y, a, p: rt.no_derivative("the first argument of scipy.special.gammainccinv", CLOSED_FORM),
    lambda y, a, p: -1.0 / gamma_density(a, y), domain=(1.7, UNIT),
)


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """The density of the beta distribution, x^(a-1) (1-x)^(b-1) / B(a, b) (DLMF 8.17.1)."""
    return np.exp(special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b))


partials(
    special.betainc,
    lambda y, a, b, x: rt.no_derivative("the first argument of scipy.special.betainc", CLOSED_FORM),
    lambda y, a, b, x: rt.no_derivative("the second argument of scipy.special.betainc", CLOSED_FORM),
    lambda y, a, b, x: beta_density(a, b, x), domain=(1.7, 2.3, UNIT),
)
partials(
    special.betaincinv,
    lambda y, a, b, p: rt.no_derivative("the first argument of scipy.special.betaincinv", CLOSED_FORM),
    lambda y, a, b, p: rt.no_derivative("the second argument of scipy.special.betaincinv", CLOSED_FORM),
    lambda y, a, b, p: 1.0 / beta_density(a, b, y), domain=(1.7, 2.3, UNIT),
)
if hasattr(special, "betaincc"):  # SciPy 1.11
    partials(
        special.betaincc,
        lambda y, a, b, x: rt.no_derivative("the first argument of scipy.special.betaincc", CLOSED_FORM),
        lambda y, a, b, x: rt.no_derivative("the second argument of scipy.special.betaincc", CLOSED_FORM),
        lambda y, a, b, x: -beta_density(a, b, x), domain=(1.7, 2.3, UNIT),
    )
zero(special.gammasgn)

# --- error functions and the normal distribution (DLMF 7.2, 7.10) ---------------------------------------------------

partials(special.erf, lambda y, x: (2.0 / math.sqrt(math.pi)) * np.exp(-x * x))
partials(special.erfc, lambda y, x: (-2.0 / math.sqrt(math.pi)) * np.exp(-x * x))
partials(special.erfcx, lambda y, x: 2.0 * x * y - 2.0 / math.sqrt(math.pi))
partials(special.erfi, lambda y, x: (2.0 / math.sqrt(math.pi)) * np.exp(x * x))
partials(special.dawsn, lambda y, x: 1.0 - 2.0 * x * y)
partials(special.wofz, lambda y, z: (2.0j / math.sqrt(math.pi)) - 2.0 * z * y)
partials(special.erfinv, lambda y, x: (0.5 * math.sqrt(math.pi)) * np.exp(y * y), domain=INSIDE)
partials(special.erfcinv, lambda y, x: (-0.5 * math.sqrt(math.pi)) * np.exp(y * y), domain=UNIT)
partials(special.ndtr, lambda y, x: (1.0 / math.sqrt(2.0 * math.pi)) * np.exp(-0.5 * x * x))
partials(special.ndtri, lambda y, p: math.sqrt(2.0 * math.pi) * np.exp(0.5 * y * y), domain=UNIT)
# The density over the distribution, both scaled by exp(x^2 / 2): no difference of large logarithms.
partials(special.log_ndtr, lambda y, x: math.sqrt(2.0 / math.pi) / special.erfcx(-math.sqrt(0.5) * x))
partials(
    special.ndtri_exp, lambda y, p: math.sqrt(0.5 * math.pi) * special.erfcx(-math.sqrt(0.5) * y), domain=(-3.0, -0.2),
)
partials(
    special.owens_t,
    lambda y, h, a: (-0.5 / math.sqrt(2.0 * math.pi)) * np.exp(-0.5 * h * h) * special.erf(math.sqrt(0.5) * a * h),
    lambda y, h, a: np.exp(-0.5 * h * h * (1.0 + a * a)) / (2.0 * math.pi * (1.0 + a * a)),
)
vjp(
    special.fresnel, z=lambda y_bar, z: y_bar[0] * np.sin(0.5 * math.pi * z * z)
    + y_bar[1] * np.cos(0.5 * math.pi * z * z),
    params="z, /", samples=[args(arr(5)), args(num()), args(arr(2, 3))],
)
jvp(special.fresnel)(
    lambda z, z_dot: (z_dot * np.sin(0.5 * math.pi * z * z), z_dot * np.cos(0.5 * math.pi * z * z))
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
    special.boxcox1p, lambda y, x, lmbda: np.power(1.0 + x, lmbda - 1.0),
    lambda y, x, lmbda: boxcox_by_lambda(y, np.log1p(x), lmbda), domain=((-0.7, 2.0), (-2.0, 2.0)),
)
# The inverse y of boxcox at lmbda: its derivatives are those of the inverse function.
partials(
    special.inv_boxcox, lambda y, x, lmbda: np.power(y, 1.0 - lmbda),
    lambda y, x, lmbda: -np.power(y, 1.0 - lmbda) * boxcox_by_lambda(x, np.log(y), lmbda),
    domain=((0.1, 2.0), (0.2, 1.5)),
)
partials(
    special.inv_boxcox1p, lambda y, x, lmbda: np.power(1.0 + y, 1.0 - lmbda),
    lambda y, x, lmbda: -np.power(1.0 + y, 1.0 - lmbda) * boxcox_by_lambda(x, np.log1p(y), lmbda),
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


def _logsumexp(y_bar: Any, y: Any, a: Any, axis: Any, b: Any, keepdims: Any) -> Any:
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
        y = np.expand_dims(y, axis)
    if b is None:
        return y_bar * shares_of_exp(y, a, None)
    return rt.unbroadcast(y_bar * shares_of_exp(y, a, b), a)


def _logsumexp_b(y_bar: Any, y: Any, a: Any, axis: Any, b: Any, keepdims: Any) -> Any:
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
        y = np.expand_dims(y, axis)
    return rt.unbroadcast(y_bar * np.exp(a - y), b)


REDUCED = [
    args(arr(5)), args(arr(3, 4)), args(arr(3, 4), axis=0), args(arr(3, 4), axis=-1), args(arr(2, 3, 4), axis=(0, 2)),
    args(arr()),
]
vjp(
    special.logsumexp, a=_logsumexp, b=_logsumexp_b, params="a, axis=None, b=None, keepdims=False, return_sign=False",
    samples=[
        *REDUCED, args(arr(3, 4), axis=1, keepdims=True), args(arr(3, 4), keepdims=True),
        args(arr(4), b=arr(4, low=0.5)), args(arr(3, 4), axis=1, b=arr(4, low=0.5)),
        args(arr(3, 4), 0, arr(3, 1, low=0.5), True), args(np.ones(3), b=arr(3, low=0.5)),
        args(arr(3), b=np.array([1.0, 0.0, 2.0])),
    ],
)


@jvp(special.logsumexp)
def _logsumexp_dot(y: Any, a: Any, a_dot: Any, axis: Any, b: Any, b_dot: Any, keepdims: Any) -> Any:
    whole = y if axis is None or keepdims else np.expand_dims(y, axis)
    change = shares_of_exp(whole, a, b) * a_dot
    if b is not None:
        change = change + np.exp(a - whole) * b_dot
    return np.sum(change, axis=axis, keepdims=keepdims)


def _softmax(y_bar: Any, y: Any, axis: Any) -> Any:
    return y * (y_bar - np.sum(y_bar * y, axis=axis, keepdims=True))


def _log_softmax(y_bar: Any, y: Any, axis: Any) -> Any:
    return y_bar - np.exp(y) * np.sum(y_bar, axis=axis, keepdims=True)


vjp(special.softmax, x=_softmax, params="x, axis=None", samples=REDUCED)
vjp(special.log_softmax, x=_log_softmax, params="x, axis=None", samples=REDUCED)
jvp(special.softmax)(lambda y, x_dot, axis: y * (x_dot - np.sum(y * x_dot, axis=axis, keepdims=True)))
jvp(special.log_softmax)(lambda y, x_dot, axis: x_dot - np.sum(np.exp(y) * x_dot, axis=axis, keepdims=True))

# --- Bessel functions (DLMF 10.6, 10.29) ----------------------------------------------------------------------------


def quotient(y: Any, x: Any, at_zero: float) -> Any:
    """y / x, and its limit at 0."""
    return np.where(x == 0.0, at_zero, y / np.where(x == 0.0, 1.0, x))


partials(special.j0, lambda y, x: -special.j1(x))
partials(special.j1, lambda y, x: special.j0(x) - quotient(y, x, 0.5))
partials(special.y0, lambda y, x: -special.y1(x), domain=POSITIVE)
partials(special.y1, lambda y, x: special.y0(x) - y / x, domain=POSITIVE)
partials(special.i0, lambda y, x: special.i1(x))
partials(special.i1, lambda y, x: special.i0(x) - quotient(y, x, 0.5))
partials(special.i0e, lambda y, x: special.i1e(x) - np.sign(x) * y)
partials(special.i1e, lambda y, x: special.i0e(x) - quotient(y, x, 0.5) - np.sign(x) * y)
partials(special.k0, lambda y, x: -special.k1(x), domain=POSITIVE)
partials(special.k1, lambda y, x: -special.k0(x) - y / x, domain=POSITIVE)
partials(special.k0e, lambda y, x: y - special.k1e(x), domain=POSITIVE)
partials(special.k1e, lambda y, x: y - special.k0e(x) - y / x, domain=POSITIVE)
partials(
    special.jv, lambda y, v, z: rt.no_derivative("the order of scipy.special.jv", CLOSED_FORM),
    lambda y, v, z: 0.5 * (special.jv(v - 1, z) - special.jv(v + 1, z)), domain=(1.5, POSITIVE),
)
partials(
    special.yv, lambda y, v, z: rt.no_derivative("the order of scipy.special.yv", CLOSED_FORM),
    lambda y, v, z: 0.5 * (special.yv(v - 1, z) - special.yv(v + 1, z)), domain=(1.5, POSITIVE),
)
partials(
    special.yn, None, lambda y, n, x: 0.5 * (special.yn(n - 1, x) - special.yn(n + 1, x)), domain=(0, POSITIVE),
)
partials(
    special.iv, lambda y, v, z: rt.no_derivative("the order of scipy.special.iv", CLOSED_FORM),
    lambda y, v, z: 0.5 * (special.iv(v - 1, z) + special.iv(v + 1, z)), domain=(1.5, POSITIVE),
)
partials(
    special.kv, lambda y, v, z: rt.no_derivative("the order of scipy.special.kv", CLOSED_FORM),
    lambda y, v, z: -0.5 * (special.kv(v - 1, z) + special.kv(v + 1, z)), domain=(1.5, POSITIVE),
)
partials(
    special.kn, None, lambda y, n, x: -0.5 * (special.kn(n - 1, x) + special.kn(n + 1, x)), domain=(0, POSITIVE),
)
partials(
    special.hankel1, lambda y, v, z: rt.no_derivative("the order of scipy.special.hankel1", CLOSED_FORM),
    lambda y, v, z: 0.5 * (special.hankel1(v - 1, z) - special.hankel1(v + 1, z)), domain=(1.5, POSITIVE),
)
partials(
    special.hankel2, lambda y, v, z: rt.no_derivative("the order of scipy.special.hankel2", CLOSED_FORM),
    lambda y, v, z: 0.5 * (special.hankel2(v - 1, z) - special.hankel2(v + 1, z)), domain=(1.5, POSITIVE),
)


def _ive(y: Any, v: Any, z: Any) -> Any:
    """iv scaled by exp(-|Re z|), whose slope is no complex derivative: for real arguments only."""
    if np.iscomplexobj(z):
        return rt.no_derivative("scipy.special.ive", "it is scaled by exp(-|Re z|), which is not analytic; use iv")
    return 0.5 * (special.ive(v - 1, z) + special.ive(v + 1, z)) - np.sign(z) * y


partials(
    special.ive, lambda y, v, z: rt.no_derivative("the order of scipy.special.ive", CLOSED_FORM), _ive,
    domain=(1.5, POSITIVE),
)
partials(
    special.kve, lambda y, v, z: rt.no_derivative("the order of scipy.special.kve", CLOSED_FORM),
    lambda y, v, z: y - 0.5 * (special.kve(v - 1, z) + special.kve(v + 1, z)), domain=(1.5, POSITIVE),
)
partials(
    special.spherical_jn, None, lambda y, n, z: special.spherical_jn(n, z, True), params="n, z, derivative=False",
    domain=(2, POSITIVE),
)
partials(
    special.spherical_yn, None, lambda y, n, z: special.spherical_yn(n, z, True), params="n, z, derivative=False",
    domain=(2, POSITIVE),
)
partials(
    special.spherical_in, None, lambda y, n, z: special.spherical_in(n, z, True), params="n, z, derivative=False",
    domain=(2, POSITIVE),
)
partials(
    special.spherical_kn, None, lambda y, n, z: special.spherical_kn(n, z, True), params="n, z, derivative=False",
    domain=(2, POSITIVE),
)
# DLMF 11.4.29, 11.4.30.
partials(
    special.struve, lambda y, v, x: rt.no_derivative("the order of scipy.special.struve", CLOSED_FORM),
    lambda y, v, x: special.struve(v - 1, x) - v * y / x, domain=(1.5, POSITIVE),
)
partials(
    special.modstruve, lambda y, v, x: rt.no_derivative("the order of scipy.special.modstruve", CLOSED_FORM),
    lambda y, v, x: special.modstruve(v - 1, x) - v * y / x, domain=(1.5, POSITIVE),
)
# Ai'' = z Ai, Bi'' = z Bi (DLMF 9.2.1); the result is (Ai, Ai', Bi, Bi').
vjp(
    special.airy, z=lambda y_bar, y, z: y_bar[0] * y[1] + y_bar[1] * z * y[0] + y_bar[2] * y[3] + y_bar[3] * z * y[2],
    params="z, /", samples=[args(arr(5)), args(num()), args(arr(2, 3)), args(arr(3, complex=True))],
)
jvp(special.airy)(lambda y, z, z_dot: (y[1] * z_dot, z * y[0] * z_dot, y[3] * z_dot, z * y[2] * z_dot))

# --- integrals of exponentials, sines and logarithms (DLMF 6.2, 8.19, 25.12) ----------------------------------------

partials(special.exp1, lambda y, x: -np.exp(-x) / x, domain=POSITIVE)
partials(special.expi, lambda y, x: np.exp(x) / x, domain=POSITIVE)


def _expn(y: Any, n: Any, x: Any) -> Any:
    """-E_(n-1)(x); E_0(x) = e^-x / x."""
    return -np.where(n == 0, y * (1.0 + 1.0 / x), special.expn(np.maximum(n - 1, 0), x))


partials(special.expn, None, _expn, domain=(2, POSITIVE))


def _spence(y: Any, z: Any) -> Any:
    """log(z) / (1 - z), -1 at 1."""
    return np.where(z == 1.0, -1.0, np.log(z) / np.where(z == 1.0, 1.0, 1.0 - z))


partials(special.spence, _spence, domain=POSITIVE)


def _sici(y_bar: Any, x: Any) -> Any:
    return y_bar[0] * np.sinc(x / math.pi) + y_bar[1] * np.cos(x) / x


def _shichi(y_bar: Any, x: Any) -> Any:
    return y_bar[0] * quotient(np.sinh(x), x, 1.0) + y_bar[1] * np.cosh(x) / x


TWO_RESULTS = [args(arr(5, low=0.3)), args(num(0.3)), args(arr(2, 3, low=0.3))]
vjp(special.sici, x=_sici, params="x, /", samples=TWO_RESULTS)
vjp(special.shichi, x=_shichi, params="x, /", samples=TWO_RESULTS)
jvp(special.sici)(lambda x, x_dot: (x_dot * np.sinc(x / math.pi), x_dot * np.cos(x) / x))
jvp(special.shichi)(lambda x, x_dot: (x_dot * quotient(np.sinh(x), x, 1.0), x_dot * np.cosh(x) / x))

# --- hypergeometric functions and those defined by equations (DLMF 4.13, 13.3, 15.5) --------------------------------

partials(
    special.hyp2f1,
    lambda y, a, b, c, z: rt.no_derivative("the first argument of scipy.special.hyp2f1", CLOSED_FORM),
    lambda y, a, b, c, z: rt.no_derivative("the second argument of scipy.special.hyp2f1", CLOSED_FORM),
    lambda y, a, b, c, z: rt.no_derivative("the third argument of scipy.special.hyp2f1", CLOSED_FORM),
    lambda y, a, b, c, z: a * b / c * special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z), domain=(0.7, 1.3, 2.1, INSIDE),
)
partials(
    special.hyp1f1,
    lambda y, a, b, x: rt.no_derivative("the first argument of scipy.special.hyp1f1", CLOSED_FORM),
    lambda y, a, b, x: rt.no_derivative("the second argument of scipy.special.hyp1f1", CLOSED_FORM),
    lambda y, a, b, x: a / b * special.hyp1f1(a + 1.0, b + 1.0, x), domain=(0.7, 1.3, (-2.0, 2.0)),
)
partials(
    special.hyp0f1, lambda y, v, z: rt.no_derivative("the first argument of scipy.special.hyp0f1", CLOSED_FORM),
    lambda y, v, z: special.hyp0f1(v + 1.0, z) / v, domain=(1.3, (-2.0, 2.0)),
)
partials(
    special.hyperu,
    lambda y, a, b, x: rt.no_derivative("the first argument of scipy.special.hyperu", CLOSED_FORM),
    lambda y, a, b, x: rt.no_derivative("the second argument of scipy.special.hyperu", CLOSED_FORM),
    lambda y, a, b, x: -a * special.hyperu(a + 1.0, b + 1.0, x), domain=(0.7, 1.3, POSITIVE),
)
# From w e^w = z; e^-w in place of w / z, which is not defined at 0. The result is complex for real arguments too.
partials(
    special.lambertw, lambda y, z: np.exp(-y) / (1.0 + y), params="z, k=0, tol=1e-8", harmless="k tol",
    samples=(
        args(arr(4, low=0.2)), args(num(0.2)), args(arr(2, 3, low=-0.3)), args(arr(3, complex=True), 1),
        args(arr(3, low=-0.3, high=-0.1), k=-1), args(arr()),
    ),
)
partials(special.wrightomega, lambda y, z: y / (1.0 + y))

# --- elliptic integrals, by Carlson's forms (DLMF 19.4, 19.25): the quotients by m lose all digits near 0 -----------

partials(special.ellipk, lambda y, m: special.elliprd(0.0, 1.0, 1.0 - m) / 6.0, domain=INSIDE)
partials(special.ellipkm1, lambda y, p: -special.elliprd(0.0, 1.0, p) / 6.0, domain=UNIT)
partials(special.ellipe, lambda y, m: -special.elliprd(0.0, 1.0 - m, 1.0) / 6.0, domain=INSIDE)
partials(
    special.ellipkinc, lambda y, phi, m: 1.0 / np.sqrt(1.0 - m * np.sin(phi) ** 2),
    lambda y, phi, m: rt.no_derivative("the parameter of scipy.special.ellipkinc", CLOSED_FORM),
    domain=((-2.0, 2.0), 0.4),
)
partials(
    special.ellipeinc, lambda y, phi, m: np.sqrt(1.0 - m * np.sin(phi) ** 2),
    lambda y, phi, m: rt.no_derivative("the parameter of scipy.special.ellipeinc", CLOSED_FORM),
    domain=((-2.0, 2.0), 0.4),
)

# --- orthogonal polynomials (DLMF 18.9): by the argument; the degree is a whole number ------------------------------

DEGREE = "the degree of a polynomial", "it is a whole number"
partials(
    special.eval_legendre, lambda y, n, x: rt.no_derivative(*DEGREE),
    lambda y, n, x: (n > 0) * special.eval_gegenbauer(np.maximum(n - 1, 0), 1.5, x), domain=(3, INSIDE),
)
partials(
    special.eval_chebyt, lambda y, n, x: rt.no_derivative(*DEGREE),
    lambda y, n, x: n * special.eval_chebyu(np.maximum(n - 1, 0), x), domain=(3, INSIDE),
)
partials(
    special.eval_chebyu, lambda y, n, x: rt.no_derivative(*DEGREE),
    lambda y, n, x: 2.0 * (n > 0) * special.eval_gegenbauer(np.maximum(n - 1, 0), 2.0, x), domain=(3, INSIDE),
)
partials(
    special.eval_hermite, None, lambda y, n, x: 2.0 * n * special.eval_hermite(np.maximum(n - 1, 0), x),
    domain=(3, (-2.0, 2.0)),
)
partials(
    special.eval_hermitenorm, None, lambda y, n, x: 1.0 * n * special.eval_hermitenorm(np.maximum(n - 1, 0), x),
    domain=(3, (-2.0, 2.0)),
)
partials(
    special.eval_laguerre, lambda y, n, x: rt.no_derivative(*DEGREE),
    lambda y, n, x: -1.0 * (n > 0) * special.eval_genlaguerre(np.maximum(n - 1, 0), 1.0, x), domain=(3, POSITIVE),
)
partials(
    special.eval_genlaguerre, lambda y, n, a, x: rt.no_derivative(*DEGREE),
    lambda y, n, a, x: rt.no_derivative("the second argument of scipy.special.eval_genlaguerre", CLOSED_FORM),
    lambda y, n, a, x: -1.0 * (n > 0) * special.eval_genlaguerre(np.maximum(n - 1, 0), a + 1.0, x),
    domain=(3, 0.7, POSITIVE),
)
partials(
    special.eval_gegenbauer, lambda y, n, a, x: rt.no_derivative(*DEGREE),
    lambda y, n, a, x: rt.no_derivative("the second argument of scipy.special.eval_gegenbauer", CLOSED_FORM),
    lambda y, n, a, x: 2.0 * a * (n > 0) * special.eval_gegenbauer(np.maximum(n - 1, 0), a + 1.0, x),
    domain=(3, 0.7, INSIDE),
)
partials(
    special.eval_jacobi, lambda y, n, a, b, x: rt.no_derivative(*DEGREE),
    lambda y, n, a, b, x: rt.no_derivative("the second argument of scipy.special.eval_jacobi", CLOSED_FORM),
    lambda y, n, a, b, x: rt.no_derivative("the third argument of scipy.special.eval_jacobi", CLOSED_FORM),
    lambda y, n, a, b, x: 0.5 * (n > 0) * (n + a + b + 1.0) * special.eval_jacobi(
        np.maximum(n - 1, 0), a + 1.0, b + 1.0, x
    ),
    domain=(3, 0.7, 1.2, INSIDE),
)

# --- distributions: by the place, through the density ---------------------------------------------------------------


def student_density(df: Any, t: Any) -> Any:
    """The density of Student's distribution: (1 + t^2 / df)^(-(df + 1) / 2) / (sqrt(df) B(df / 2, 1 / 2))."""
    scale = np.sqrt(df) * special.beta(0.5 * df, 0.5)
    return np.power(1.0 + t * t / df, -0.5 * (df + 1.0)) / scale


partials(
    special.stdtr, lambda y, df, t: rt.no_derivative("the degrees of freedom of scipy.special.stdtr", CLOSED_FORM),
    lambda y, df, t: student_density(df, t), domain=(3.5, (-2.0, 2.0)),
)
partials(
    special.stdtrit, lambda y, df, p: rt.no_derivative("the degrees of freedom of scipy.special.stdtrit", CLOSED_FORM),
    lambda y, df, p: 1.0 / student_density(df, y), domain=(3.5, UNIT),
)
partials(
    special.chdtr, lambda y, v, x: rt.no_derivative("the degrees of freedom of scipy.special.chdtr", CLOSED_FORM),
    lambda y, v, x: 0.5 * gamma_density(0.5 * v, 0.5 * x), domain=(3.5, POSITIVE),
)
partials(
    special.chdtrc, lambda y, v, x: rt.no_derivative("the degrees of freedom of scipy.special.chdtrc", CLOSED_FORM),
    lambda y, v, x: -0.5 * gamma_density(0.5 * v, 0.5 * x), domain=(3.5, POSITIVE),
)
# The gamma distribution with the rate a and the shape b: gammainc(b, a x).
partials(
    special.gdtr, lambda y, a, b, x: x * gamma_density(b, a * x),
    lambda y, a, b, x: rt.no_derivative("the shape of scipy.special.gdtr", CLOSED_FORM),
    lambda y, a, b, x: a * gamma_density(b, a * x), domain=(POSITIVE, 1.7, POSITIVE),
)
partials(
    special.gdtrc, lambda y, a, b, x: -x * gamma_density(b, a * x),
    lambda y, a, b, x: rt.no_derivative("the shape of scipy.special.gdtrc", CLOSED_FORM),
    lambda y, a, b, x: -a * gamma_density(b, a * x), domain=(POSITIVE, 1.7, POSITIVE),
)
# The Poisson distribution up to k with mean m: gammaincc(floor(k) + 1, m).
partials(
    special.pdtr, None, lambda y, k, m: -gamma_density(np.floor(k) + 1.0, m), domain=(2, POSITIVE),
)
partials(
    special.pdtrc, None, lambda y, k, m: gamma_density(np.floor(k) + 1.0, m), domain=(2, POSITIVE),
)
