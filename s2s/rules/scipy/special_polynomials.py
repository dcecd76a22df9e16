"""Rules of the polynomials of ``scipy.special``, by the argument (DLMF 18.9): Legendre's functions and spherical
harmonics with them. For degrees that are no whole numbers the same formulas hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from s2s import runtime as rt
from s2s.rules.samples import args, arr, num
from s2s.rules.scipy.special import CLOSED_FORM, INSIDE, POSITIVE, UNIT
from s2s.rules.table import jvp, partials, refuse, vjp, zero

DEGREE = "the degree of a polynomial", CLOSED_FORM


def below(n: Any) -> Any:
    """The degree of a derivative; that of a constant is the constant zero, and SciPy has none below at every place."""
    return n - (n != 0)


zero(below)
partials(
    special.eval_legendre, lambda y, n, x: rt.no_derivative(*DEGREE),
    lambda y, n, x: (n != 0) * special.eval_gegenbauer(below(n), 1.5, x), domain=(3, INSIDE),
)
partials(
    special.eval_chebyt, lambda y, n, x: rt.no_derivative(*DEGREE),
    lambda y, n, x: n * special.eval_chebyu(below(n), x), domain=(3, INSIDE),
)
partials(
    special.eval_chebyu, lambda y, n, x: rt.no_derivative(*DEGREE),
    lambda y, n, x: 2.0 * (n != 0) * special.eval_gegenbauer(below(n), 2.0, x), domain=(3, INSIDE),
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
    lambda y, n, x: -special.eval_genlaguerre(n - 1, 1.0, x), domain=(3, POSITIVE),
)
partials(
    special.eval_genlaguerre, lambda y, n, a, x: rt.no_derivative(*DEGREE),
    lambda y, n, a, x: rt.no_derivative("the second argument of scipy.special.eval_genlaguerre", CLOSED_FORM),
    lambda y, n, a, x: -special.eval_genlaguerre(n - 1, a + 1.0, x),
    domain=(3, 0.7, POSITIVE),
)
partials(
    special.eval_gegenbauer, lambda y, n, a, x: rt.no_derivative(*DEGREE),
    lambda y, n, a, x: rt.no_derivative("the second argument of scipy.special.eval_gegenbauer", CLOSED_FORM),
    lambda y, n, a, x: 2.0 * a * (n != 0) * special.eval_gegenbauer(below(n), a + 1.0, x),
    domain=(3, 0.7, INSIDE),
)
partials(
    special.eval_jacobi, lambda y, n, a, b, x: rt.no_derivative(*DEGREE),
    lambda y, n, a, b, x: rt.no_derivative("the second argument of scipy.special.eval_jacobi", CLOSED_FORM),
    lambda y, n, a, b, x: rt.no_derivative("the third argument of scipy.special.eval_jacobi", CLOSED_FORM),
    lambda y, n, a, b, x: 0.5 * (n != 0) * (n + a + b + 1.0) * special.eval_jacobi(
        below(n), a + 1.0, b + 1.0, x
    ),
    domain=(3, 0.7, 1.2, INSIDE),
)
# C_n(x) = 2 T_n(x / 2) and S_n(x) = U_n(x / 2); those that are shifted are at 2 x - 1.
partials(
    special.eval_chebyc, lambda y, n, x: rt.no_derivative(*DEGREE),
    lambda y, n, x: n * special.eval_chebys(below(n), x), domain=(3, INSIDE),
)
partials(
    special.eval_chebys, lambda y, n, x: rt.no_derivative(*DEGREE),
    lambda y, n, x: (n != 0) * special.eval_gegenbauer(below(n), 2.0, 0.5 * x), domain=(3, INSIDE),
)
partials(
    special.eval_sh_legendre, lambda y, n, x: rt.no_derivative(*DEGREE),
    lambda y, n, x: 2.0 * (n != 0) * special.eval_gegenbauer(below(n), 1.5, 2.0 * x - 1.0), domain=(3, UNIT),
)
partials(
    special.eval_sh_chebyt, lambda y, n, x: rt.no_derivative(*DEGREE),
    lambda y, n, x: 2.0 * n * special.eval_chebyu(below(n), 2.0 * x - 1.0), domain=(3, UNIT),
)
partials(
    special.eval_sh_chebyu, lambda y, n, x: rt.no_derivative(*DEGREE),
    lambda y, n, x: 4.0 * (n != 0) * special.eval_gegenbauer(below(n), 2.0, 2.0 * x - 1.0), domain=(3, UNIT),
)
# P_n of shapes (p - q, q - 1) over the binomial of 2 n + p - 1 and n: with 1 as its first coefficient.
partials(
    special.eval_sh_jacobi, lambda y, n, p, q, x: rt.no_derivative(*DEGREE),
    lambda y, n, p, q, x: rt.no_derivative("the second argument of scipy.special.eval_sh_jacobi", CLOSED_FORM),
    lambda y, n, p, q, x: rt.no_derivative("the third argument of scipy.special.eval_sh_jacobi", CLOSED_FORM),
    lambda y, n, p, q, x: n * special.eval_sh_jacobi(below(n), p + 2.0, q + 1.0, x), domain=(3, 2.5, 1.2, UNIT),
)
partials(
    special.assoc_laguerre, lambda y, x, n, k: -special.eval_genlaguerre(n - 1, k + 1.0, x),
    lambda y, x, n, k: rt.no_derivative(*DEGREE),
    lambda y, x, n, k: rt.no_derivative("the third argument of scipy.special.assoc_laguerre", CLOSED_FORM),
    params="x, n, k=0.0", samples=(args(arr(4), 3), args(num(), 2, 0.5), args(arr(2, 3), 3, k=1.5)),
)

# --- Legendre functions (DLMF 14.10.5) and spherical harmonics --------------------------------------------------------



def lpmv_partial(y: Any, m: Any, v: Any, x: Any) -> Any:
    """((v + m) P_(v-1) - v x P_v) / (1 - x^2); that of Legendre's polynomial where m is 0, which is finite at 1 too."""
    plain = 1.0 * (v != 0) * special.eval_gegenbauer(below(v), 1.5, x)
    end = (m == 0) & (x * x == 1.0)
    slope = ((v + m) * special.lpmv(m, v - 1.0, x) - v * x * y) / np.where(end, 1.0, 1.0 - x * x)
    return np.where(m == 0, plain, slope)


partials(special.lpmv, None, lambda y, m, v, x: rt.no_derivative(*DEGREE), lpmv_partial, domain=(1, 3, INSIDE))
TABLE = "it gives a table of all degrees, which has no rule; use {}, one degree at a time"
refuse(special.lqn, TABLE.format("eval_legendre"))
refuse(special.lqmn, TABLE.format("lpmv"))
for _name, _instead in {"lpn": "eval_legendre", "lpmn": "lpmv", "clpmn": "assoc_legendre_p"}.items():
    if hasattr(special, _name):  # an older SciPy
        refuse(getattr(special, _name), TABLE.format(_instead))
if hasattr(special, "sph_harm"):
    refuse(special.sph_harm, "a newer function took its place, with the angles exchanged; use sph_harm_y")


def check_order(diff_n: Any) -> None:
    """Raise NoDerivativeError for functions that give their second derivatives too: SciPy has no third ones."""
    if diff_n > 1:
        rt.no_derivative("the second derivative of this function", "SciPy has no third ones")


# The first axis of a result is the order of the derivative, up to ``diff_n``.


def legendre_bar(y_bar: Any, n: Any, z: Any, diff_n: Any) -> Any:
    check_order(diff_n)
    return rt.unbroadcast(y_bar * special.legendre_p(n, z, diff_n=diff_n + 1)[1:], z)


def legendre_all_bar(y_bar: Any, n: Any, z: Any, diff_n: Any) -> Any:
    check_order(diff_n)
    return rt.unbroadcast(y_bar * special.legendre_p_all(n, z, diff_n=diff_n + 1)[1:], z)


def sph_legendre_bar(y_bar: Any, n: Any, m: Any, theta: Any, diff_n: Any) -> Any:
    check_order(diff_n)
    return rt.unbroadcast(y_bar * special.sph_legendre_p(n, m, theta, diff_n=diff_n + 1)[1:], theta)


def sph_legendre_all_bar(y_bar: Any, n: Any, m: Any, theta: Any, diff_n: Any) -> Any:
    check_order(diff_n)
    return rt.unbroadcast(y_bar * special.sph_legendre_p_all(n, m, theta, diff_n=diff_n + 1)[1:], theta)


def assoc_legendre_bar(y_bar: Any, n: Any, m: Any, z: Any, branch_cut: Any, norm: Any, diff_n: Any) -> Any:
    check_order(diff_n)
    table = special.assoc_legendre_p(n, m, z, branch_cut=branch_cut, norm=norm, diff_n=diff_n + 1)
    return rt.unbroadcast(y_bar * table[1:], z)


def assoc_legendre_all_bar(y_bar: Any, n: Any, m: Any, z: Any, branch_cut: Any, norm: Any, diff_n: Any) -> Any:
    check_order(diff_n)
    table = special.assoc_legendre_p_all(n, m, z, branch_cut=branch_cut, norm=norm, diff_n=diff_n + 1)
    return rt.unbroadcast(y_bar * table[1:], z)


def harmonic_part(y_bar: Any, n: Any, m: Any, theta: Any, phi: Any, diff_n: Any, k: Any) -> Any:
    """What the value and the gradient of a spherical harmonic give to the k-th angle."""
    check_order(diff_n)
    tables = special.sph_harm_y(n, m, theta, phi, diff_n=diff_n + 1)
    if diff_n == 0:
        return np.real(y_bar * tables[1][..., k])
    value_bar, gradient_bar = rt.whole(y_bar, tables[:2])
    return np.real(value_bar * tables[1][..., k] + np.sum(gradient_bar * tables[2][..., k], axis=-1))


def harmonic_theta(y_bar: Any, n: Any, m: Any, theta: Any, phi: Any, diff_n: Any) -> Any:
    return rt.unbroadcast(harmonic_part(y_bar, n, m, theta, phi, diff_n, 0), theta)


def harmonic_phi(y_bar: Any, n: Any, m: Any, theta: Any, phi: Any, diff_n: Any) -> Any:
    return rt.unbroadcast(harmonic_part(y_bar, n, m, theta, phi, diff_n, 1), phi)


if hasattr(special, "legendre_p"):  # SciPy 1.15
    PLACES = [args(3, arr(4, low=-0.9, high=0.9)), args(2, num(-0.9, 0.9)), args(3, arr(2, 3, high=0.9), diff_n=1)]
    PAIRS = [args(3, 1, arr(4, low=0.2, high=0.9)), args(2, 1, num(0.1, 0.9)), args(3, 2, arr(2, 3, low=0.2), diff_n=1)]
    ANGLES = [args(3, 1, arr(4, low=0.3), arr(4)), args(2, -1, num(0.3), num()), args(3, 2, arr(3, 1, low=0.3), arr(2))]
    LEGENDRE = "n, m, z, *, branch_cut=2, norm=False, diff_n=0"
    vjp(special.legendre_p, z=legendre_bar, params="n, z, *, diff_n=0", samples=PLACES)
    vjp(special.legendre_p_all, z=legendre_all_bar, params="n, z, *, diff_n=0", samples=PLACES)
    vjp(special.sph_legendre_p, theta=sph_legendre_bar, params="n, m, theta, *, diff_n=0", samples=PAIRS)
    vjp(special.sph_legendre_p_all, theta=sph_legendre_all_bar, params="n, m, theta, *, diff_n=0", samples=PAIRS)
    vjp(
        special.assoc_legendre_p, z=assoc_legendre_bar, params=LEGENDRE,
        samples=[*PAIRS[:2], args(3, 1, arr(2, low=0.2, high=0.9), norm=True)],
    )
    vjp(special.assoc_legendre_p_all, z=assoc_legendre_all_bar, params=LEGENDRE, samples=PAIRS[:2])
    vjp(
        special.sph_harm_y, theta=harmonic_theta, phi=harmonic_phi, params="n, m, theta, phi, *, diff_n=0",
        samples=[*ANGLES, args(3, 1, arr(4, low=0.3), arr(4), diff_n=1)],
    )
    refuse(special.sph_harm_y_all, TABLE.format("sph_harm_y"))
    jvp(special.legendre_p)(
        lambda n, z, z_dot, diff_n: z_dot * special.legendre_p(n, z, diff_n=diff_n + 1)[1:]
    )
    jvp(special.legendre_p_all)(
        lambda n, z, z_dot, diff_n: z_dot * special.legendre_p_all(n, z, diff_n=diff_n + 1)[1:]
    )
    jvp(special.sph_legendre_p)(
        lambda n, m, theta, theta_dot, diff_n: theta_dot * special.sph_legendre_p(n, m, theta, diff_n=diff_n + 1)[1:]
    )
    jvp(special.sph_legendre_p_all)(
        lambda n, m, theta, theta_dot, diff_n:
        theta_dot * special.sph_legendre_p_all(n, m, theta, diff_n=diff_n + 1)[1:]
    )

    @jvp(special.assoc_legendre_p)
    def assoc_legendre_dot(n: Any, m: Any, z: Any, z_dot: Any, branch_cut: Any, norm: Any, diff_n: Any) -> Any:
        table = special.assoc_legendre_p(n, m, z, branch_cut=branch_cut, norm=norm, diff_n=diff_n + 1)
        return z_dot * table[1:]

    @jvp(special.assoc_legendre_p_all)
    def assoc_legendre_all_dot(n: Any, m: Any, z: Any, z_dot: Any, branch_cut: Any, norm: Any, diff_n: Any) -> Any:
        table = special.assoc_legendre_p_all(n, m, z, branch_cut=branch_cut, norm=norm, diff_n=diff_n + 1)
        return z_dot * table[1:]

    @jvp(special.sph_harm_y)
    def harmonic_dot(n: Any, m: Any, theta: Any, theta_dot: Any, phi: Any, phi_dot: Any, diff_n: Any) -> Any:
        tables = special.sph_harm_y(n, m, theta, phi, diff_n=diff_n + 1)
        value = theta_dot * tables[1][..., 0] + phi_dot * tables[1][..., 1]
        if diff_n == 0:
            return value
        by_theta, by_phi = np.expand_dims(theta_dot, -1), np.expand_dims(phi_dot, -1)
        return value, by_theta * tables[2][..., 0] + by_phi * tables[2][..., 1]


# --- the roots and weights of quadrature, and polynomials as objects --------------------------------------------------

zero(
    special.roots_legendre, special.roots_chebyt, special.roots_chebyu, special.roots_chebyc, special.roots_chebys,
    special.roots_laguerre, special.roots_hermite, special.roots_hermitenorm, special.roots_sh_legendre,
    special.roots_sh_chebyt, special.roots_sh_chebyu,
)
for _fn in (special.roots_jacobi, special.roots_genlaguerre, special.roots_gegenbauer, special.roots_sh_jacobi):
    refuse(_fn, "by its shapes it has no rule; keep them constant")
for _fn in (
    special.legendre, special.chebyt, special.chebyu, special.chebyc, special.chebys, special.jacobi, special.laguerre,
    special.genlaguerre, special.hermite, special.hermitenorm, special.gegenbauer, special.sh_legendre,
    special.sh_chebyt, special.sh_chebyu, special.sh_jacobi,
):
    refuse(_fn, f"it makes an object; use eval_{_fn.__name__}")
