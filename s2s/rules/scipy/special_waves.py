"""Rules of the functions of ``scipy.special`` that solve wave equations in elliptic and spheroidal coordinates, and of
elliptic integrals.

A function that comes with its derivative has that of the derivative by its differential equation. Integrals are
differentiated by Carlson's forms (DLMF 19.18, 19.25): the quotients by m of the textbooks lose all digits near 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from s2s import runtime as rt
from s2s.rules.samples import args, num
from s2s.rules.scipy.special import CLOSED_FORM, INSIDE, POSITIVE, UNIT, nearest
from s2s.rules.table import partials, refuse, several

# --- complete and incomplete integrals --------------------------------------------------------------------------------

partials(special.ellipk, lambda y, m: special.elliprd(0.0, 1.0, 1.0 - m) / 6.0, domain=INSIDE)
partials(special.ellipkm1, lambda y, p: -special.elliprd(0.0, 1.0, p) / 6.0, domain=UNIT)
partials(special.ellipe, lambda y, m: -special.elliprd(0.0, 1.0 - m, 1.0) / 6.0, domain=INSIDE)


def first_kind_by_m(phi: Any, m: Any) -> Any:
    """sin(phi)^3 RD(cos^2, 1, 1 - m sin^2) / 6, and what the whole half periods give."""
    turns = nearest(phi / math.pi)
    s = np.sin(phi - math.pi * turns)
    rest = s * s * s * special.elliprd(1.0 - s * s, 1.0, 1.0 - m * s * s) / 6.0
    whole = special.elliprd(0.0, 1.0, np.where(turns == 0.0, 1.0, 1.0 - m)) / 3.0
    return rest + turns * whole


def second_kind_by_m(phi: Any, m: Any) -> Any:
    """-sin(phi)^3 RD(cos^2, 1 - m sin^2, 1) / 6, and what the whole half periods give."""
    turns = nearest(phi / math.pi)
    s = np.sin(phi - math.pi * turns)
    rest = s * s * s * special.elliprd(1.0 - s * s, 1.0 - m * s * s, 1.0) / 6.0
    whole = special.elliprd(0.0, np.where(turns == 0.0, 1.0, 1.0 - m), 1.0) / 3.0
    return -rest - turns * whole


partials(
    special.ellipkinc, lambda y, phi, m: 1.0 / np.sqrt(1.0 - m * np.sin(phi) ** 2),
    lambda y, phi, m: first_kind_by_m(phi, m), domain=((-4.0, 5.0), INSIDE),
)
partials(
    special.ellipeinc, lambda y, phi, m: np.sqrt(1.0 - m * np.sin(phi) ** 2),
    lambda y, phi, m: second_kind_by_m(phi, m), domain=((-4.0, 5.0), INSIDE),
)


def jacobi_by_m(y: Any, u: Any, m: Any) -> Any:
    """With F(phi, m) = u, phi changes by -F_m / F_phi (DLMF 22.16)."""
    sn, cn, dn, phi = y
    turn = -dn * first_kind_by_m(phi, m)
    return cn * turn, -sn * turn, -(0.5 * sn * sn + m * sn * cn * turn) / dn, turn


several(
    special.ellipj, lambda y, u, m: (y[1] * y[2], -y[0] * y[2], -m * y[0] * y[1], y[2]), jacobi_by_m,
    domain=((-2.0, 3.0), UNIT),
)


def agm_by_first(y: Any, a: Any, b: Any) -> Any:
    """y = pi / (2 RF(0, a^2, b^2)); a^3 RD(0, b^2, a^2) depends on b / a alone, whose square is a usual number."""
    return (2.0 / (3.0 * math.pi)) * np.square(y / a) * special.elliprd(0.0, np.square(rt.quotient(b, a)), 1.0)


partials(
    special.agm, lambda y, a, b: agm_by_first(y, a, b), lambda y, a, b: agm_by_first(y, b, a), domain=POSITIVE,
)
for _fn in (special.ellip_harm, special.ellip_harm_2, special.ellip_normal):
    refuse(_fn, "SciPy has no derivative of an ellipsoidal harmonic")

# --- Carlson's symmetric integrals (DLMF 19.18) -----------------------------------------------------------------------

_TURNS = np.exp(2j * np.pi * np.arange(24) / 24)
"""Points on the unit circle: the mean of f(z + r t) / (r t) over them is the derivative of f at z, to r^24."""


def rd_by_first(x: Any, y: Any, z: Any) -> Any:
    """(RD(x, y, z) - RD(y, z, x)) / (2 (z - x)); near x = z, where that cancels, by Cauchy's integral."""
    near = np.abs(x - z) < 0.05 * np.abs(z)
    apart = np.where(near, 1.0, z - x)
    far = 0.5 * (special.elliprd(x, y, z) - special.elliprd(y, z, np.where(x == 0.0, 1.0, x))) / apart
    if not np.any(near):
        return np.where(x == 0.0, -np.inf, far)
    steps = 0.25 * np.expand_dims(np.where(near, x, 1.0), -1) * _TURNS
    around = special.elliprd(np.expand_dims(x, -1) + steps, np.expand_dims(y, -1), np.expand_dims(z, -1))
    close = np.mean(around / steps, axis=-1)
    return np.where(near, close if np.iscomplexobj(x + y + z) else np.real(close), np.where(x == 0.0, -np.inf, far))


def rd_by_third(value: Any, x: Any, y: Any, z: Any) -> Any:
    """The function is homogeneous, of degree -3 / 2."""
    first = np.where(x == 0.0, 0.0, x * rd_by_first(np.where(x == 0.0, z, x), y, z))
    second = np.where(y == 0.0, 0.0, y * rd_by_first(np.where(y == 0.0, z, y), x, z))
    return -(1.5 * value + first + second) / z


partials(
    special.elliprf, lambda v, x, y, z: -special.elliprd(y, z, x) / 6.0,
    lambda v, x, y, z: -special.elliprd(z, x, y) / 6.0, lambda v, x, y, z: -special.elliprd(x, y, z) / 6.0,
    domain=POSITIVE,
)


def rc_by_first(v: Any, x: Any, y: Any) -> Any:
    """Of a principal value, y < 0, by (t + x) - (t + y) = x - y under the integral."""
    is_principal = y < 0.0
    z = np.where(is_principal, 1.0, y)
    principal = (1.0 / np.sqrt(np.where(is_principal, x, 1.0)) - v) / (2.0 * np.where(is_principal, x - y, 1.0))
    return np.where(is_principal, principal, -special.elliprd(z, z, x) / 6.0)


def rc_by_second(v: Any, x: Any, y: Any) -> Any:
    """Of a principal value by its degree, -1/2."""
    is_principal = y < 0.0
    z = np.where(is_principal, 1.0, y)
    by_x = (np.sqrt(x) - x * v) / (2.0 * np.where(is_principal, x - y, 1.0))
    principal = -(0.5 * v + by_x) / np.where(is_principal, y, 1.0)
    return np.where(is_principal, principal, -special.elliprd(x, z, z) / 3.0)


partials(special.elliprc, rc_by_first, rc_by_second, domain=POSITIVE)
partials(
    special.elliprd, lambda v, x, y, z: rd_by_first(x, y, z), lambda v, x, y, z: rd_by_first(y, x, z), rd_by_third,
    domain=POSITIVE,
)
partials(
    special.elliprg, lambda v, x, y, z: 0.25 * (special.elliprf(x, y, z) - x * special.elliprd(y, z, x) / 3.0),
    lambda v, x, y, z: 0.25 * (special.elliprf(x, y, z) - y * special.elliprd(z, x, y) / 3.0),
    lambda v, x, y, z: 0.25 * (special.elliprf(x, y, z) - z * special.elliprd(x, y, z) / 3.0), domain=POSITIVE,
)


def rj_by_first(x: Any, y: Any, z: Any, p: Any) -> Any:
    """(RJ - RD(y, z, x)) / (2 (p - x)); near x = p by Cauchy's integral."""
    near = np.abs(x - p) < 0.05 * np.abs(p)
    apart = np.where(near, 1.0, p - x)
    far = 0.5 * (special.elliprj(x, y, z, p) - special.elliprd(y, z, np.where(x == 0.0, 1.0, x))) / apart
    if not np.any(near):
        return np.where(x == 0.0, -np.inf, far)
    steps = 0.25 * np.expand_dims(np.where(near, x, 1.0), -1) * _TURNS
    others = np.expand_dims(y, -1), np.expand_dims(z, -1), np.expand_dims(p, -1)
    close = np.mean(special.elliprj(np.expand_dims(x, -1) + steps, *others) / steps, axis=-1)
    close = close if np.iscomplexobj(x + y + z + p) else np.real(close)
    return np.where(near, close, np.where(x == 0.0, -np.inf, far))


def rj_by_last(value: Any, x: Any, y: Any, z: Any, p: Any) -> Any:
    """The function is homogeneous, of degree -3 / 2."""
    first = np.where(x == 0.0, 0.0, x * rj_by_first(np.where(x == 0.0, p, x), y, z, p))
    second = np.where(y == 0.0, 0.0, y * rj_by_first(np.where(y == 0.0, p, y), x, z, p))
    third = np.where(z == 0.0, 0.0, z * rj_by_first(np.where(z == 0.0, p, z), x, y, p))
    return -(1.5 * value + first + second + third) / p


partials(
    special.elliprj, lambda v, x, y, z, p: rj_by_first(x, y, z, p), lambda v, x, y, z, p: rj_by_first(y, x, z, p),
    lambda v, x, y, z, p: rj_by_first(z, x, y, p), rj_by_last, domain=POSITIVE,
)

# --- Mathieu functions: y'' = (2 q cos 2x - a) y, x in degrees; the modified ones y'' = (a - 2 q cosh 2x) y -----------


def by_q(y: Any, m: Any, q: Any, x: Any) -> Any:
    return rt.no_derivative("the parameter of a Mathieu function", CLOSED_FORM)


DEGREE = math.pi / 180.0
several(
    special.mathieu_cem, None, by_q,
    lambda y, m, q, x: (
        DEGREE * y[1], DEGREE * (2.0 * q * np.cos(2.0 * DEGREE * x) - special.mathieu_a(m, q)) * y[0]),
    samples=(args(2, 1.3, num(-40.0, 40.0)), args(1, 0.8, num(-40.0, 40.0))),
)
several(
    special.mathieu_sem, None, by_q,
    lambda y, m, q, x: (
        DEGREE * y[1], DEGREE * (2.0 * q * np.cos(2.0 * DEGREE * x) - special.mathieu_b(m, q)) * y[0]),
    samples=(args(2, 1.3, num(-40.0, 40.0)), args(1, 0.8, num(-40.0, 40.0))),
)
several(
    special.mathieu_modcem1, None, by_q,
    lambda y, m, q, x: (y[1], (special.mathieu_a(m, q) - 2.0 * q * np.cosh(2.0 * x)) * y[0]),
    samples=(args(2, 1.3, num(0.2, 0.8)), args(1, 0.8, num(0.2, 0.8))),
)
several(
    special.mathieu_modcem2, None, by_q,
    lambda y, m, q, x: (y[1], (special.mathieu_a(m, q) - 2.0 * q * np.cosh(2.0 * x)) * y[0]),
    samples=(args(2, 1.3, num(0.2, 0.8)), args(1, 0.8, num(0.2, 0.8))),
)
several(
    special.mathieu_modsem1, None, by_q,
    lambda y, m, q, x: (y[1], (special.mathieu_b(m, q) - 2.0 * q * np.cosh(2.0 * x)) * y[0]),
    samples=(args(2, 1.3, num(0.2, 0.8)), args(1, 0.8, num(0.2, 0.8))),
)
several(
    special.mathieu_modsem2, None, by_q,
    lambda y, m, q, x: (y[1], (special.mathieu_b(m, q) - 2.0 * q * np.cosh(2.0 * x)) * y[0]),
    samples=(args(2, 1.3, num(0.2, 0.8)), args(1, 0.8, num(0.2, 0.8))),
)
for _fn in (special.mathieu_a, special.mathieu_b, special.mathieu_even_coef, special.mathieu_odd_coef):
    refuse(_fn, "by the parameter of Mathieu's equation it has no rule; keep that constant")

# --- spheroidal functions: (1 - x^2) S'' = 2 x S' - (l - c^2 x^2 - m^2 / (1 - x^2)) S (DLMF 30.2) ---------------------

CONSTANT = "its derivative is no function that SciPy has; keep the size and the characteristic value constant"


def by_size(y: Any, m: Any, n: Any, c: Any, x: Any) -> Any:
    return rt.no_derivative("the size of a spheroidal function", CONSTANT)


def by_value(y: Any, m: Any, n: Any, c: Any, cv: Any, x: Any) -> Any:
    return rt.no_derivative("the size and the characteristic value of a spheroidal function", CONSTANT)


def prolate(y: Any, m: Any, c: Any, value: Any, x: Any) -> Any:
    rest = 1.0 - x * x
    return y[1], (2.0 * x * y[1] - (value - c * c * x * x - m * m / rest) * y[0]) / rest


def oblate(y: Any, m: Any, c: Any, value: Any, x: Any) -> Any:
    rest = 1.0 - x * x
    return y[1], (2.0 * x * y[1] - (value + c * c * x * x - m * m / rest) * y[0]) / rest


def oblate_radial(y: Any, m: Any, c: Any, value: Any, x: Any) -> Any:
    rest = 1.0 + x * x
    return y[1], ((value - c * c * x * x - m * m / rest) * y[0] - 2.0 * x * y[1]) / rest


# Samples are numbers: with arrays of float32 SciPy does not come to an end.
ALONG = (args(1, 2, 1.4, num(-0.9, 0.9)), args(0, 1, 0.7, num(-0.9, 0.9)))
OUTSIDE = (args(1, 2, 1.4, num(1.2, 3.0)), args(0, 1, 0.7, num(1.2, 3.0)))
several(
    special.pro_ang1, None, None, by_size,
    lambda y, m, n, c, x: prolate(y, m, c, special.pro_cv(m, n, c), x), samples=ALONG,
)
several(
    special.pro_rad1, None, None, by_size,
    lambda y, m, n, c, x: prolate(y, m, c, special.pro_cv(m, n, c), x), samples=OUTSIDE,
)
several(
    special.obl_ang1, None, None, by_size,
    lambda y, m, n, c, x: oblate(y, m, c, special.obl_cv(m, n, c), x), samples=ALONG,
)
several(
    special.obl_rad1, None, None, by_size,
    lambda y, m, n, c, x: oblate_radial(y, m, c, special.obl_cv(m, n, c), x), samples=(args(1, 2, 1.4, num(0.3, 3.0)),),
)
PROLATE = float(special.pro_cv(1, 2, 1.4))
OBLATE = float(special.obl_cv(1, 2, 1.4))
several(
    special.pro_ang1_cv, None, None, by_value, by_value, lambda y, m, n, c, cv, x: prolate(y, m, c, cv, x),
    samples=(args(1, 2, 1.4, PROLATE, num(-0.9, 0.9)),),
)
several(
    special.pro_rad1_cv, None, None, by_value, by_value, lambda y, m, n, c, cv, x: prolate(y, m, c, cv, x),
    samples=(args(1, 2, 1.4, PROLATE, num(1.2, 3.0)),),
)
several(
    special.obl_ang1_cv, None, None, by_value, by_value, lambda y, m, n, c, cv, x: oblate(y, m, c, cv, x),
    samples=(args(1, 2, 1.4, OBLATE, num(-0.9, 0.9)),),
)
several(
    special.obl_rad1_cv, None, None, by_value, by_value, lambda y, m, n, c, cv, x: oblate_radial(y, m, c, cv, x),
    samples=(args(1, 2, 1.4, OBLATE, num(0.3, 3.0)),),
)
for _fn in (special.pro_rad2, special.pro_rad2_cv, special.obl_rad2, special.obl_rad2_cv):
    refuse(_fn, "SciPy's values of the second kind do not solve the equation closely enough for a derivative")
for _fn in (special.pro_cv, special.pro_cv_seq, special.obl_cv, special.obl_cv_seq):
    refuse(_fn, "by the size it has no rule; keep that constant")
