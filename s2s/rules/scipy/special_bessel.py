"""Rules of the Bessel functions of ``scipy.special`` and of their kin: Airy, Kelvin and Struve functions, their
integrals, and the functions of the parabolic cylinder.

Where a function comes with its derivative, that of the derivative follows from the differential equation. By the order
nothing of this is a function that SciPy has.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from s2s import runtime as rt
from s2s.rules.samples import args, arr, num
from s2s.rules.scipy.special import CLOSED_FORM, POSITIVE, cut_off, quotient
from s2s.rules.table import jvp, partials, refuse, several, vjp, zero


def by_order(y: Any, v: Any, z: Any) -> Any:
    return rt.no_derivative("the order of a Bessel function", CLOSED_FORM)


# --- Bessel functions (DLMF 10.6, 10.29) ----------------------------------------------------------------------------


partials(special.j0, lambda y, x: -special.j1(x))
partials(special.j1, lambda y, x: special.j0(x) - quotient(y, x, 0.5))
partials(special.y0, lambda y, x: -special.y1(x), domain=POSITIVE)
partials(special.y1, lambda y, x: special.y0(x) - y / x, domain=POSITIVE)
partials(special.i0, lambda y, x: special.i1(x))
partials(special.i1, lambda y, x: special.i0(x) - quotient(y, x, 0.5))


def below_one(x: Any) -> Any:
    """1 - I1(x) / I0(x) for large positive x, and 1 - K1(-x) / K0(-x) for large negative x: by the quotient of DLMF
    10.40.1, or 10.40.2. In the difference itself the digits cancel."""
    t = 1.0 / x
    return 0.5 * t * (1.0 + 0.25 * t * (1.0 + t * (1.0 + t * (1.5625 + t * (3.25 + t * 8.3828125)))))


def i0e_slope(y: Any, x: Any) -> Any:
    """I1 e^-|x| - sign(x) y."""
    far = np.abs(x) > 100.0
    series = below_one(np.where(far, np.abs(x), 1.0))
    return np.where(far, -np.sign(x) * y * series, special.i1e(x) - np.sign(x) * y)


def i1e_slope(y: Any, x: Any) -> Any:
    """(I0 - I1 / x) e^-|x| - sign(x) y; even in x."""
    far = np.abs(x) > 100.0
    size = np.where(far, np.abs(x), 1.0)
    series = below_one(size)
    near = special.i0e(x) - quotient(y, x, 0.5) - np.sign(x) * y
    return np.where(far, special.i0e(x) * (series - (1.0 - series) / size), near)


def k0e_slope(y: Any, x: Any) -> Any:
    """(K0 - K1) e^x."""
    far = x > 100.0
    return np.where(far, y * below_one(np.where(far, -x, 1.0)), y - special.k1e(x))


def k1e_slope(y: Any, x: Any) -> Any:
    """(K1 - K0 - K1 / x) e^x."""
    far = x > 100.0
    series = below_one(np.where(far, -x, 1.0))
    near = y - special.k0e(x) - y / x
    return np.where(far, -special.k0e(x) * (series + (1.0 - series) / np.where(far, x, 1.0)), near)


partials(special.i0e, i0e_slope)
partials(special.i1e, i1e_slope)
partials(special.k0, lambda y, x: -special.k1(x), domain=POSITIVE)
partials(special.k1, lambda y, x: -special.k0(x) - y / x, domain=POSITIVE)
partials(special.k0e, k0e_slope, domain=POSITIVE)
partials(special.k1e, k1e_slope, domain=POSITIVE)
partials(
    special.jv, lambda y, v, z: rt.no_derivative("the order of scipy.special.jv", CLOSED_FORM),
    lambda y, v, z: 0.5 * (special.jv(v - 1, z) - special.jv(v + 1, z)), domain=(1.7, POSITIVE),
)
partials(
    special.yv, lambda y, v, z: rt.no_derivative("the order of scipy.special.yv", CLOSED_FORM),
    lambda y, v, z: 0.5 * (special.yv(v - 1, z) - special.yv(v + 1, z)), domain=(1.7, POSITIVE),
)
partials(
    special.yn, None, lambda y, n, x: 0.5 * (special.yn(cut_off(n) - 1, x) - special.yn(cut_off(n) + 1, x)),
    domain=(0, POSITIVE),
)
partials(
    special.iv, lambda y, v, z: rt.no_derivative("the order of scipy.special.iv", CLOSED_FORM),
    lambda y, v, z: 0.5 * (special.iv(v - 1, z) + special.iv(v + 1, z)), domain=(1.7, POSITIVE),
)
partials(
    special.kv, lambda y, v, z: rt.no_derivative("the order of scipy.special.kv", CLOSED_FORM),
    lambda y, v, z: -0.5 * (special.kv(v - 1, z) + special.kv(v + 1, z)), domain=(1.7, POSITIVE),
)
partials(
    special.kn, None, lambda y, n, x: -0.5 * (special.kn(cut_off(n) - 1, x) + special.kn(cut_off(n) + 1, x)),
    domain=(0, POSITIVE),
)
partials(
    special.hankel1, lambda y, v, z: rt.no_derivative("the order of scipy.special.hankel1", CLOSED_FORM),
    lambda y, v, z: 0.5 * (special.hankel1(v - 1, z) - special.hankel1(v + 1, z)), domain=(1.7, POSITIVE),
)
partials(
    special.hankel2, lambda y, v, z: rt.no_derivative("the order of scipy.special.hankel2", CLOSED_FORM),
    lambda y, v, z: 0.5 * (special.hankel2(v - 1, z) - special.hankel2(v + 1, z)), domain=(1.7, POSITIVE),
)


def ive_partial(y: Any, v: Any, z: Any) -> Any:
    """iv scaled by exp(-|Re z|), whose slope is no complex derivative: for real arguments only."""
    if np.iscomplexobj(z):
        return rt.no_derivative("scipy.special.ive", "it is scaled by exp(-|Re z|), which is not analytic; use iv")
    return 0.5 * (special.ive(v - 1, z) + special.ive(v + 1, z)) - np.sign(z) * y


partials(
    special.ive, lambda y, v, z: rt.no_derivative("the order of scipy.special.ive", CLOSED_FORM), ive_partial,
    domain=(1.7, POSITIVE),
)
partials(
    special.kve, lambda y, v, z: rt.no_derivative("the order of scipy.special.kve", CLOSED_FORM),
    lambda y, v, z: y - 0.5 * (special.kve(v - 1, z) + special.kve(v + 1, z)), domain=(1.7, POSITIVE),
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
    lambda y, v, x: special.struve(v - 1, x) - v * y / x, domain=(1.7, POSITIVE),
)
partials(
    special.modstruve, lambda y, v, x: rt.no_derivative("the order of scipy.special.modstruve", CLOSED_FORM),
    lambda y, v, x: special.modstruve(v - 1, x) - v * y / x, domain=(1.7, POSITIVE),
)


def of_real(slope: Any, z: Any, name: str) -> Any:
    """The slope of a function that is scaled by exp(-|Im z|) or the like, which is not analytic: for real arguments."""
    if np.iscomplexobj(z):
        return rt.no_derivative(name, "its scale is not analytic; use the function that is not scaled")
    return slope


partials(
    special.jve, by_order,
    lambda y, v, z: of_real(0.5 * (special.jve(v - 1, z) - special.jve(v + 1, z)), z, "scipy.special.jve"),
    domain=(1.7, POSITIVE),
)
partials(
    special.yve, by_order,
    lambda y, v, z: of_real(0.5 * (special.yve(v - 1, z) - special.yve(v + 1, z)), z, "scipy.special.yve"),
    domain=(1.7, POSITIVE),
)
partials(
    special.hankel1e, by_order,
    lambda y, v, z: 0.5 * (special.hankel1e(v - 1, z) - special.hankel1e(v + 1, z)) - 1j * y, domain=(1.7, POSITIVE),
)
partials(
    special.hankel2e, by_order,
    lambda y, v, z: 0.5 * (special.hankel2e(v - 1, z) - special.hankel2e(v + 1, z)) + 1j * y, domain=(1.7, POSITIVE),
)


# --- the n-th derivatives of Bessel functions -------------------------------------------------------------------------



def by_order_of_derivative(y: Any, v: Any, z: Any, n: Any) -> Any:
    return rt.no_derivative("the order of a Bessel function", CLOSED_FORM)


ORDERS = (args(1.5, arr(4, low=0.3), 2), args(2, num(0.3)), args(0.5, arr(2, 3, low=0.3), n=0))
partials(
    special.jvp, by_order_of_derivative, lambda y, v, z, n: special.jvp(v, z, n + 1), None, params="v, z, n=1",
    samples=ORDERS,
)
partials(
    special.yvp, by_order_of_derivative, lambda y, v, z, n: special.yvp(v, z, n + 1), None, params="v, z, n=1",
    samples=ORDERS,
)
partials(
    special.ivp, by_order_of_derivative, lambda y, v, z, n: special.ivp(v, z, n + 1), None, params="v, z, n=1",
    samples=ORDERS,
)
partials(
    special.kvp, by_order_of_derivative, lambda y, v, z, n: special.kvp(v, z, n + 1), None, params="v, z, n=1",
    samples=ORDERS,
)
partials(
    special.h1vp, by_order_of_derivative, lambda y, v, z, n: special.h1vp(v, z, n + 1), None, params="v, z, n=1",
    samples=ORDERS,
)
partials(
    special.h2vp, by_order_of_derivative, lambda y, v, z, n: special.h2vp(v, z, n + 1), None, params="v, z, n=1",
    samples=ORDERS,
)


# --- Riccati's forms: S'' = (n (n + 1) / x^2 - 1) S for all orders up to n (DLMF 10.51) -------------------------------


def riccati_bar(y_bar: Any, y: Any, x: Any) -> Any:
    value_bar, slope_bar = rt.whole(y_bar, y)
    return float(np.sum(value_bar * y[1]) + np.sum(slope_bar * riccati_second(y, x)))


def riccati_second(y: Any, x: Any) -> Any:
    n = np.arange(len(y[0]))
    return (n * (n + 1) / (x * x) - 1.0) * y[0]


RICCATI = [args(3, num(0.5, 2.0)), args(1, num(0.5, 2.0))]
vjp(special.riccati_jn, x=riccati_bar, params="n, x", samples=RICCATI)
vjp(special.riccati_yn, x=riccati_bar, params="n, x", samples=RICCATI)
jvp(special.riccati_jn)(lambda y, x, x_dot: (y[1] * x_dot, riccati_second(y, x) * x_dot))
jvp(special.riccati_yn)(lambda y, x, x_dot: (y[1] * x_dot, riccati_second(y, x) * x_dot))

# --- Airy functions: Ai'' = z Ai, Bi'' = z Bi (DLMF 9.2.1) ------------------------------------------------------------

WITH_COMPLEX = (args(arr(5)), args(num()), args(arr(2, 3)), args(arr(3, complex=True)))
several(special.airy, lambda y, z: (y[1], z * y[0], y[3], z * y[2]), samples=WITH_COMPLEX)


def airye_partial(y: Any, z: Any) -> Any:
    """Ai and Ai' are scaled by exp(2/3 z^(3/2)), Bi and Bi' by exp(-2/3 z^(3/2)) where z is positive."""
    if np.iscomplexobj(z):
        return rt.no_derivative("scipy.special.airye", "its scale is not analytic; use airy")
    root = np.sqrt(np.maximum(z, 0.0))
    return y[1] + root * y[0], z * y[0] + root * y[1], y[3] - root * y[2], z * y[2] - root * y[3]


several(special.airye, airye_partial, domain=(0.2, 2.0))


def itairy_partial(y: Any, x: Any) -> Any:
    """Integrals from 0 to x of Ai(t), Bi(t), Ai(-t), Bi(-t)."""
    above, below = special.airy(x), special.airy(-x)
    return above[0], above[2], below[0], below[2]


several(special.itairy, itairy_partial, domain=(0.1, 0.6))  # farther out SciPy's integrals have 7 digits

# --- Kelvin functions: with f = ber + i bei, f'' = i f - f' / x; ker and kei too (DLMF 10.61) -------------------------

partials(special.ber, lambda y, x: special.berp(x))
partials(special.bei, lambda y, x: special.beip(x))
partials(special.ker, lambda y, x: special.kerp(x), domain=POSITIVE)
partials(special.kei, lambda y, x: special.keip(x), domain=POSITIVE)
partials(special.berp, lambda y, x: -special.bei(x) - quotient(y, x, 0.0))
partials(special.beip, lambda y, x: special.ber(x) - quotient(y, x, 0.5))
partials(special.kerp, lambda y, x: -special.kei(x) - y / x, domain=POSITIVE)
partials(special.keip, lambda y, x: special.ker(x) - y / x, domain=POSITIVE)
several(
    special.kelvin,
    lambda y, x: (y[2], y[3], 1j * y[0] - quotient(y[2], x, 0.5j), 1j * y[1] - quotient(y[3], x, np.nan)),
    domain=POSITIVE,
)

# --- integrals of Bessel and Struve functions (DLMF 10.22, 10.43, 11.7) -----------------------------------------------

several(special.itj0y0, lambda y, x: (special.j0(x), special.y0(x)), domain=POSITIVE)
several(special.iti0k0, lambda y, x: (special.i0(x), special.k0(x)), domain=POSITIVE)


def near_one(y: Any, x: Any, sign: float) -> Any:
    """(y - 1) / x for I0, sign 1, and (1 - y) / x for J0, sign -1: by their series near 0 (DLMF 10.2.2, 10.25.2)."""
    near = np.abs(x) < 0.1
    square = sign * 0.25 * np.where(near, x, 0.0) ** 2
    series = 0.25 * x * (1.0 + square / 4.0 * (1.0 + square / 9.0 * (1.0 + square / 16.0 * (1.0 + square / 25.0))))
    return np.where(near, series, sign * (y - 1.0) / np.where(near, 1.0, x))


def it2j0y0_partial(y: Any, x: Any) -> Any:
    """The integrals of (1 - J0(t)) / t from 0 to x and of Y0(t) / t from x to infinity."""
    return near_one(special.j0(x), x, -1.0), -special.y0(x) / x


def it2i0k0_partial(y: Any, x: Any) -> Any:
    """The integrals of (I0(t) - 1) / t from 0 to x and of K0(t) / t from x to infinity."""
    return near_one(special.i0(x), x, 1.0), -special.k0(x) / x


several(special.it2j0y0, it2j0y0_partial, domain=POSITIVE)
several(special.it2i0k0, it2i0k0_partial, domain=POSITIVE)
partials(special.itstruve0, lambda y, x: special.struve(0.0, x), domain=POSITIVE)
partials(special.itmodstruve0, lambda y, x: special.modstruve(0.0, x), domain=POSITIVE)
partials(special.it2struve0, lambda y, x: -special.struve(0.0, x) / x, domain=POSITIVE)
# The integral over x from 0 to 1 of x^l J_v(2 a x).
partials(
    special.besselpoly,
    lambda y, a, lmb, nu: special.besselpoly(a, lmb + 1.0, nu - 1.0) - special.besselpoly(a, lmb + 1.0, nu + 1.0),
    lambda y, a, lmb, nu: rt.no_derivative("the power of scipy.special.besselpoly", CLOSED_FORM),
    lambda y, a, lmb, nu: rt.no_derivative("the order of scipy.special.besselpoly", CLOSED_FORM),
    domain=(POSITIVE, 1.0, 2.0),
)


def modfresnelp_partial(y: Any, x: Any) -> Any:
    """F(x), the integral of exp(i t^2) from x to infinity, and K(x) = exp(-i (x^2 + pi / 4)) F(x) / sqrt(pi)."""
    return -np.exp(1j * x * x), -2j * x * y[1] - np.exp(-0.25j * math.pi) / math.sqrt(math.pi)


def modfresnelm_partial(y: Any, x: Any) -> Any:
    """The conjugates of these."""
    return -np.exp(-1j * x * x), 2j * x * y[1] - np.exp(0.25j * math.pi) / math.sqrt(math.pi)


several(special.modfresnelp, modfresnelp_partial, samples=(args(num(0.3, 2.0)), args(num(0.3, 1.0))))
several(special.modfresnelm, modfresnelm_partial, samples=(args(num(0.3, 2.0)), args(num(0.3, 1.0))))

# --- Wright's function: the sum of x^k / (k! Gamma(a k + b)) (DLMF 10.46) ---------------------------------------------

partials(
    special.wright_bessel,
    lambda y, a, b, x: rt.no_derivative("the first argument of scipy.special.wright_bessel", CLOSED_FORM),
    lambda y, a, b, x: rt.no_derivative("the second argument of scipy.special.wright_bessel", CLOSED_FORM),
    lambda y, a, b, x: special.wright_bessel(a, a + b, x), domain=(0.7, 1.3, POSITIVE),
)
if hasattr(special, "log_wright_bessel"):  # SciPy 1.14
    partials(
        special.log_wright_bessel,
        lambda y, a, b, x: rt.no_derivative("the first argument of scipy.special.log_wright_bessel", CLOSED_FORM),
        lambda y, a, b, x: rt.no_derivative("the second argument of scipy.special.log_wright_bessel", CLOSED_FORM),
        lambda y, a, b, x: np.exp(special.log_wright_bessel(a, a + b, x) - y), domain=(0.7, 1.3, POSITIVE),
    )

# --- functions of the parabolic cylinder (DLMF 12.2) ------------------------------------------------------------------

several(
    special.pbdv, by_order, lambda y, v, x: (y[1], (0.25 * x * x - v - 0.5) * y[0]), domain=(1.3, (-2.0, 2.0)),
)
several(
    special.pbvv, by_order, lambda y, v, x: (y[1], (0.25 * x * x - v - 0.5) * y[0]), domain=(1.3, (-2.0, 2.0)),
)
several(
    special.pbwa, by_order, lambda y, a, x: (y[1], (a - 0.25 * x * x) * y[0]), domain=(1.3, (-2.0, 2.0)),
)

# --- zeros, and tables of all orders ----------------------------------------------------------------------------------

zero(
    special.ai_zeros, special.bi_zeros, special.bei_zeros, special.beip_zeros, special.ber_zeros, special.berp_zeros,
    special.kei_zeros, special.keip_zeros, special.ker_zeros, special.kerp_zeros, special.kelvin_zeros,
    special.jn_zeros, special.jnp_zeros, special.yn_zeros, special.ynp_zeros, special.jnjnp_zeros, special.jnyn_zeros,
    special.y0_zeros, special.y1_zeros, special.y1p_zeros, special.erf_zeros, special.fresnel_zeros,
    special.fresnelc_zeros, special.fresnels_zeros,
)
refuse(special.lmbda, "it gives a table of all orders, which has no rule; use jv, one order at a time")
for _fn in (special.pbdv_seq, special.pbvv_seq, special.pbdn_seq):
    refuse(_fn, "it gives a table of all orders, which has no rule; use pbdv or pbvv, one order at a time")
