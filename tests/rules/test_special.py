"""Special functions where textbook formulas fail: at zeros, far out, with infinities; and how their rules come in."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import special
from test_choices import cotangent, partial

import s2s
from s2s.errors import NoDerivativeError

INF = math.inf

# --- Voigt's profile ------------------------------------------------------------------------------------------------


def test_voigt_profile_without_a_width_is_that_of_lorentz() -> None:
    """gamma / (pi (x^2 + gamma^2)), and even in the width."""
    x, gamma = np.array([-1.3, 0.0, 0.4, 2.0]), np.array([0.7, 1.1, 0.5, 2.5])
    square = (x * x + gamma * gamma) ** 2
    by_place = partial(special.voigt_profile, 0, x, 0.0, gamma)
    np.testing.assert_allclose(by_place, -2.0 * gamma * x / (math.pi * square), rtol=1e-13)
    np.testing.assert_array_equal(partial(special.voigt_profile, 1, x, 0.0, gamma), np.zeros(4))
    by_gamma = partial(special.voigt_profile, 2, x, 0.0, gamma)
    np.testing.assert_allclose(by_gamma, (x * x - gamma * gamma) / (math.pi * square), rtol=1e-13)


# --- sums of exponentials -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 1000.0, -1000.0])
def test_logsumexp_far_out(shift: float) -> None:
    a = np.array([0.0, math.log(3.0), -INF]) + shift
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(cotangent(special.logsumexp, "a", 1.0, a), [0.25, 0.75, 0.0], rtol=1e-12)


@pytest.mark.parametrize(
    "a, expected",
    [
        ([-INF, -INF], [0.5, 0.5]), ([INF, 1.0], [1.0, 0.0]), ([INF, INF, -INF], [0.5, 0.5, 0.0]),
        ([-INF, 2.0], [0.0, 1.0]),
    ],
)
def test_logsumexp_of_infinities(a: Any, expected: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(cotangent(special.logsumexp, "a", 1.0, np.array(a)), expected)


def test_logsumexp_of_rows_some_of_which_are_infinite() -> None:
    a = np.array([[-INF, -INF], [0.0, math.log(3.0)]])
    found = cotangent(special.logsumexp, "a", np.array([2.0, 4.0]), a, axis=1)
    np.testing.assert_allclose(found, [[1.0, 1.0], [1.0, 3.0]])


def test_a_term_with_weight_zero_has_no_part_in_logsumexp() -> None:
    found = cotangent(special.logsumexp, "a", 1.0, np.array([5000.0, 0.0]), b=np.array([0.0, 2.0]))
    np.testing.assert_allclose(found, [0.0, 1.0])


@pytest.mark.parametrize("fn", [special.softmax, special.log_softmax])
def test_softmax_far_out(fn: Any) -> None:
    found = cotangent(fn, "x", np.array([1.0, 0.0, 0.0]), np.array([1000.0, 1000.0, -1000.0]))
    expected = [0.25, -0.25, 0.0] if fn is special.softmax else [0.5, -0.5, 0.0]
    np.testing.assert_allclose(found, expected, atol=1e-300)


# --- single points, against limits and closed forms -----------------------------------------------------------------


@pytest.mark.parametrize(
    "fn, which, inputs, expected",
    [
        (special.xlogy, 1, (0.0, 0.0), 0.0), (special.xlog1py, 1, (0.0, -1.0), 0.0),
        (special.rel_entr, 1, (0.0, 0.0), 0.0),
        (special.kl_div, 1, (0.0, 0.0), 1.0), (special.j1, 0, (0.0,), 0.5), (special.i1, 0, (0.0,), 0.5),
        (special.exprel, 0, (0.0,), 0.5), (special.exprel, 0, (1e-9,), 0.5 + 1e-9 / 3.0),
        (special.spence, 0, (1.0,), -1.0),
        (special.lambertw, 0, (0.0,), 1.0), (special.rgamma, 0, (0.0,), 1.0), (special.rgamma, 0, (-1.0,), -1.0),
        (special.rgamma, 0, (-3.0,), -6.0), (special.expn, 1, (0, 2.0), -math.exp(-2.0) * 0.75),
        # Power series at 0: K(m) = pi/2 (1 + m/4 + 9 m^2/64), E(m) = pi/2 (1 - m/4 - 3 m^2/64).
        (special.ellipk, 0, (0.0,), math.pi / 8), (special.ellipe, 0, (0.0,), -math.pi / 8),
        (special.ellipk, 0, (1e-9,), math.pi / 2 * (0.25 + 9e-9 / 32)),
        (special.ellipe, 0, (1e-9,), -math.pi / 2 * (0.25 + 3e-9 / 32)),
        # (x^l - 1) / l = log x + l log^2 x / 2 + ...
        (special.boxcox, 1, (3.0, 0.0), math.log(3.0) ** 2 / 2),
        (special.boxcox, 1, (3.0, 1e-10), math.log(3.0) ** 2 / 2 + 1e-10 * math.log(3.0) ** 3 / 3),
        (special.boxcox1p, 1, (2.0, 0.0), math.log(3.0) ** 2 / 2),
        (special.eval_legendre, 1, (0, 0.3), 0.0), (special.eval_chebyu, 1, (0, 0.3), 0.0),
    ],
)
def test_points(fn: Any, which: int, inputs: Any, expected: float) -> None:
    assert np.real(partial(fn, which, *inputs)) == pytest.approx(expected, rel=1e-14, abs=1e-300)


def test_the_series_of_boxcox_meets_its_quotient() -> None:
    for sign in (1.0, -1.0):
        below, above = (partial(special.boxcox, 1, math.e, sign * t) for t in (0.01 - 1e-9, 0.01 + 1e-9))
        assert below == pytest.approx(above, rel=1e-8)


@pytest.mark.parametrize("x", [-1e5, -300.0, -37.0])
def test_log_ndtr_far_out(x: float) -> None:
    """The inverse Mills ratio t + 1/t - 2/t^3 + 10/t^5 with t = -x (DLMF 7.12.1)."""
    t = -x
    assert partial(special.log_ndtr, 0, x) == pytest.approx(t + 1 / t - 2 / t**3 + 10 / t**5, rel=1e-9)
    assert partial(special.log_ndtr, 0, 40.0) == 0.0


def terms_far_out(z: Any, sign: float) -> Any:
    """The sum of sign^n (2n - 1)!! / (2 z^2)^n from n = 1 on (DLMF 7.12.1)."""
    factors = [math.prod(range(1, 2 * n, 2)) for n in range(1, 12)]
    return sum(factor * (sign / (2.0 * z * z)) ** n for n, factor in reversed([*enumerate(factors, 1)]))


@pytest.mark.parametrize("x", [49.9, 50.1, 73.0, 1e3, 1e8])
def test_scaled_error_functions_far_out(x: float) -> None:
    """Their slopes are small differences of large numbers, which below 50 still have eleven digits."""
    rel, scale = (1e-10 if x < 50.0 else 2e-14), 2.0 / math.sqrt(math.pi)
    assert partial(special.erfcx, 0, x) == pytest.approx(scale * terms_far_out(x, -1.0), rel=rel)
    for sign in (1.0, -1.0):
        assert partial(special.dawsn, 0, sign * x) == pytest.approx(-terms_far_out(x, 1.0), rel=rel)
    for direction in (1.0, -1.0, 0.6 + 0.8j, -0.8 + 0.6j, 1.0j):
        z = x * direction
        assert partial(special.wofz, 0, z) == pytest.approx(-1j * scale * terms_far_out(z, 1.0), rel=rel)


def test_the_slope_of_faddeevas_function_in_the_lower_half_plane() -> None:
    """There w(z) = 2 exp(-z^2) - w(-z), so that its slope is -4 z exp(-z^2) + w'(-z)."""
    z = np.array([52.0 - 51.9j, -60.0 - 59.95j, 0.5 - 0.3j])
    wanted = -4.0 * z * np.exp(-z * z) + partial(special.wofz, 0, -z)
    np.testing.assert_allclose(partial(special.wofz, 0, z), wanted, rtol=1e-11)


@pytest.mark.parametrize("m", [0, 1, 2])
def test_legendre_functions(m: int) -> None:
    """P_v^m = (-1)^m (1 - x^2)^(m / 2) times a derivative of Legendre's polynomial (DLMF 14.6.1)."""
    x = np.array([-0.95, -0.2, 0.0, 0.6, *([-1.0, 1.0] if m == 0 else [])])
    for v in range(6):
        inner = np.polynomial.Legendre.basis(v).deriv(m) if v >= m else np.polynomial.Legendre([0.0])
        root = (1.0 - x * x) ** (0.5 * m)
        bend = -m * x * (1.0 - x * x) ** (0.5 * m - 1.0) * inner(x) if m else 0.0
        found = partial(special.lpmv, 2, m, v, x)
        np.testing.assert_allclose(found, (-1.0) ** m * (root * inner.deriv()(x) + bend), rtol=1e-12, atol=1e-12)


def test_legendre_functions_of_a_degree_between() -> None:
    x, h = np.array([-0.7, 0.1, 0.8]), 1e-3
    for m, v in [(0, 0.5), (0, 2.3), (1, 1.7), (2, 2.5)]:
        near, far = ((special.lpmv(m, v, x + k * h) - special.lpmv(m, v, x - k * h)) / (2.0 * k * h) for k in (1, 2))
        np.testing.assert_allclose(partial(special.lpmv, 2, m, v, x), (4.0 * near - far) / 3.0, rtol=1e-8)


@pytest.mark.parametrize("fn, parameters, at", [
    (special.eval_legendre, (), (-1.0, 0.4, 1.0)), (special.eval_chebyt, (), (-1.0, 0.4, 1.0)),
    (special.eval_chebyu, (), (-1.0, 0.4, 1.0)), (special.eval_chebyc, (), (-2.0, 0.4, 2.0)),
    (special.eval_chebys, (), (-2.0, 0.4, 2.0)), (special.eval_hermite, (), (-1.0, 0.0, 2.0)),
    (special.eval_hermitenorm, (), (-1.0, 0.0, 2.0)), (special.eval_laguerre, (), (0.0, 0.4, 2.0)),
    (special.eval_genlaguerre, (0.7,), (0.0, 0.4, 2.0)), (special.eval_gegenbauer, (0.7,), (-1.0, 0.4, 1.0)),
    (special.eval_jacobi, (0.7, 1.2), (-1.0, 0.4, 1.0)), (special.eval_sh_legendre, (), (0.0, 0.4, 1.0)),
    (special.eval_sh_chebyt, (), (0.0, 0.4, 1.0)), (special.eval_sh_chebyu, (), (0.0, 0.4, 1.0)),
    (special.eval_sh_jacobi, (2.5, 1.2), (0.0, 0.4, 1.0)),
])
def test_polynomials_of_the_first_degrees(fn: Any, parameters: Any, at: Any) -> None:
    """Constants, lines and parabolas, of which differences are exact, at the ends too, where some formulas fail."""
    x = np.array(at)
    for n in range(3):
        wanted = (fn(n, *parameters, x + 0.25) - fn(n, *parameters, x - 0.25)) / 0.5
        found = partial(fn, 1 + len(parameters), n, *parameters, x)
        np.testing.assert_allclose(found + 0.0 * x, wanted, rtol=1e-12, atol=1e-13)


# --- through the compiler -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [-30.0, -2.0, 0.999, 1.001, 5.0, 40.0, 300.0])
def test_second_derivatives_of_log_ndtr(x: float) -> None:
    """With s the ratio of density and distribution: s' = -s (x + s)."""
    slope = np.exp(-0.5 * x * x - special.log_ndtr(x)) / np.sqrt(2.0 * np.pi)
    second = s2s.grad(s2s.grad(special.log_ndtr))(x)
    np.testing.assert_allclose(second, -slope * (x + slope), rtol=1e-9, atol=1e-300)
    value = s2s.hvp(lambda v: np.sum(special.log_ndtr(v)), (np.array([x]),), (np.ones(1),))
    np.testing.assert_allclose(value, [second], rtol=1e-12)


def test_the_order_of_a_bessel_function_is_refused_not_left_out() -> None:
    def f(x):
        return special.jv(x, 2.0)

    with pytest.raises(NoDerivativeError, match="the order of scipy.special.jv"):
        s2s.grad(f)(0.5)


def test_python_functions_of_scipy_are_not_entered() -> None:
    def f(x):
        return special.logsumexp(x) + special.softmax(x)[0]

    x = np.array([0.3, -1.2, 0.8])
    text = s2s.source(f, x)
    assert "array_namespace" not in text
    p = np.exp(x) / np.sum(np.exp(x))
    np.testing.assert_allclose(s2s.grad(f)(x), p + p[0] * (np.array([1.0, 0.0, 0.0]) - p), rtol=1e-12)


@pytest.mark.slow
def test_neither_importing_nor_using_s2s_imports_scipy(tmp_path: Any) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nimport numpy as np\nimport s2s\n\n\ndef f(x):\n    return np.sum(np.sin(x))\n\n\n"
        "s2s.grad(f)(np.ones(3))\nassert not any(name.split('.')[0] == 'scipy' for name in sys.modules)\n"
    )
    subprocess.run([sys.executable, str(program)], check=True)


@pytest.mark.parametrize("z", [0.7 + 0.4j, -3.3 + 0.2j, -0.5 + 2.0j, 5.0 + 10.0j, 0.1 - 0.1j, -12.7 - 0.5j])
@pytest.mark.parametrize("fn", [special.psi, special.rgamma])
def test_functions_of_gamma_at_complex_numbers(fn: Any, z: complex) -> None:
    h = 1e-3
    expected = (8.0 * (fn(z + h) - fn(z - h)) - (fn(z + 2.0 * h) - fn(z - 2.0 * h))) / (12.0 * h)
    _, pullback = s2s.vjp(lambda z: fn(z), z)
    assert abs(pullback(1.0 + 0.0j)[0] - expected) < 1e-7 * abs(expected)
    assert abs(s2s.jvp(lambda z: fn(z), (z,), (0.6 - 0.8j,))[1] - expected * (0.6 - 0.8j)) < 1e-7 * abs(expected)


# --- parameters of hypergeometric functions -------------------------------------------------------------------------

PARAMETERS = [
    (special.hyp2f1, (0.7, 1.3, 2.1, 0.4), [0.382341215012731, 0.215877480725607, -0.138455885202162]),
    (special.hyp2f1, (5.2, 2.7, 4.5, -8.0), [-0.00111152045981179, -0.00382671327094037, 0.00139754102659048]),
    (special.hyp2f1, (8.0, 0.4, 9.0, 0.99), [1.4397234656155, 8.0780160920878, -1.33737960247831]),
    (special.hyp2f1, (-2.0, 1.5, 0.7, 0.5), [0.0944270937581336, -0.588235294117647, 1.47235364734129]),
    (special.hyp1f1, (3.0, 2.2, -5.0), [0.00101799017040646, 0.00818629494510417]),
    (special.hyp1f1, (1.2, 0.4, 20.0), [43278560396.6272, -72255872908.8396]),
    (special.hyp0f1, (1.3, 2.5), [-3.20965326540613]),
    (special.hyp0f1, (0.6, -2.5), [1.79957051133148]),
]
"""Functions, their arguments, and their derivatives by all but the last, of 15 digits by differences of 30 digits."""


@pytest.mark.parametrize("fn, at, slopes", PARAMETERS)
def test_parameters_of_hypergeometric_functions(fn: Any, at: Any, slopes: Any) -> None:
    found = [partial(fn, which, *at) for which in range(len(slopes))]
    np.testing.assert_allclose(found, slopes, rtol=1e-12)


def test_a_series_that_does_not_converge_is_refused() -> None:
    with pytest.raises(NoDerivativeError, match="does not converge fast enough"):
        s2s.grad(lambda a: special.hyp2f1(a, 0.4, 2.1, 1.0 - 1e-6))(0.3)


# --- inverses that are searched for ---------------------------------------------------------------------------------

WITHOUT_SOLUTION = [
    (special.bdtrik, (0.05, 5.0, 0.3), (0, 1, 2)), (special.nbdtrik, (0.05, 3.0, 0.4), (0, 1, 2)),
    (special.pdtrik, (0.05, 2.0), (0, 1)), (special.fdtridfd, (2.0, 0.7, 1.0), (0, 1, 2)),
    (special.stdtridf, (0.85, 1.0), (0, 1)), (special.chndtrinc, (2.0, 3.0, 0.7), (0, 2)),
    (special.bdtrik, (0.4, 5.0, 1.0), (0, 1)),
]


@pytest.mark.parametrize("fn, args, places", WITHOUT_SOLUTION, ids=lambda one: getattr(one, "__name__", None))
def test_what_no_solution_depends_on_moves_nothing(fn: Any, args: Any, places: Any) -> None:
    """A search without a solution ends at an end of its interval; of a number that is sure, k is n."""
    for place in places:

        def f(x: Any, place: int = place) -> Any:
            return fn(*args[:place], x, *args[place + 1 :])

        expected = (f(args[place] + 1e-4) - f(args[place] - 1e-4)) / 2e-4
        assert s2s.grad(f)(args[place]) == pytest.approx(expected, abs=1e-6)
        assert s2s.jvp(f, (args[place],), (1.0,))[1] == pytest.approx(expected, abs=1e-6)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["bdtr", "bdtrc", "bdtri", "nbdtr", "nbdtrc", "nbdtri"])
def test_counts_are_rounded_down(name: str) -> None:
    def f(p: Any) -> Any:
        return getattr(special, name)(2.6, 5.7, p)

    expected = (f(0.3 + 1e-6) - f(0.3 - 1e-6)) / 2e-6
    assert s2s.grad(f)(0.3) == pytest.approx(expected, rel=1e-7)
    assert s2s.jvp(f, (0.3,), (1.0,))[1] == pytest.approx(expected, rel=1e-7)


def test_large_solutions_move() -> None:
    """The median of a binomial distribution is nearly its mean."""
    assert s2s.grad(lambda n: special.bdtrik(0.5, n, 0.3))(1e11) == pytest.approx(0.3, rel=1e-4)
    assert s2s.jvp(lambda p: special.bdtrik(0.5, 1e11, p), (0.3,), (1.0,))[1] == pytest.approx(1e11, rel=1e-4)


AT_ENDS = [
    (special.elliprc, (1.0, -0.7), (0, 1)), (special.elliprc, (0.3, -2.7), (0, 1)),
    (special.poch, (-2.0, 0.7), (0, 1)), (special.poch, (-2.0, 2.0), (0,)), (special.poch, (-3.0, 1.0), (0,)),
    (special.poch, (-2.0, -1.0), (0,)), (special.poch, (0.0, 3.0), (0, 1)),
    (special.gammaincinv, (2.5, 0.0), (0,)), (special.betaincinv, (2.0, 3.0, 0.0), (0, 1)),
    (special.betaincinv, (2.0, 3.0, 1.0), (0, 1)), (special.chdtri, (3.0, 1.0), (0,)),
    (special.gdtrix, (2.0, 3.0, 0.0), (0, 1)), (special.fdtri, (3.0, 4.0, 0.0), (0, 1)),
    (special.gdtria, (0.0, 2.0, 0.5), (1,)), (special.gdtrib, (2.0, 1.0, 0.5), (0, 2)),
    (special.chdtriv, (1.0, 2.0), (1,)),
    (special.eval_legendre, (0.0, -1.0), (1,)), (special.eval_chebyt, (0.0, -1.0), (1,)),
    (special.eval_chebyu, (0.0, -1.0), (1,)), (special.eval_sh_legendre, (0.0, 0.0), (1,)),
    (special.yn, (-0.5, 0.8), (1,)), (special.kn, (-0.5, 0.8), (1,)), (special.expn, (0.5, 0.8), (1,)),
    (special.pdtri, (-0.5, 0.3), (1,)),
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("fn, at, places", AT_ENDS, ids=lambda one: getattr(one, "__name__", None))
def test_slopes_at_ends_and_poles_are_finite(fn: Any, at: Any, places: Any) -> None:
    for k in places:
        given = lambda x: (*at[:k], x, *at[k + 1 :])
        h = 1e-6 * max(1.0, abs(at[k]))
        expected = (fn(*given(at[k] + h)) - fn(*given(at[k] - h))) / (2.0 * h)
        tangents = tuple(1.0 if j == k else None for j in range(len(at)))
        assert s2s.grad(fn, argnums=k)(*at) == pytest.approx(expected, rel=1e-4, abs=1e-6)
        assert s2s.jvp(fn, at, tangents)[1] == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["nbdtr", "nbdtrc", "nbdtri"])
def test_negative_counts_are_cut_off(name: str) -> None:
    fn = getattr(special, name)
    assert s2s.grad(fn, argnums=2)(-0.5, 3.5, 0.3) == pytest.approx(s2s.grad(fn, argnums=2)(0, 3, 0.3)) != 0.0
    assert s2s.jvp(fn, (-0.5, 3.5, 0.3), (None, None, 1.0))[1] == pytest.approx(s2s.grad(fn, argnums=2)(0, 3, 0.3))
