"""Every public function of ``scipy.special`` has a rule, or is refused with a reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special
from test_choices import partial

from s2s.rules import table

NAMES = [name for name in special.__all__ if callable(getattr(special, name))]


def test_every_function_has_a_rule_or_a_reason() -> None:
    for name in NAMES:
        rule = table.find(getattr(special, name))
        assert rule is not None, f"{name}: add a row to s2s/rules/scipy/special*.py, or refuse it with a reason"
        assert rule.kind != "refuse" or len(rule.reason) > 20, name


def test_few_are_refused() -> None:
    rules = [table.find(getattr(special, name)) for name in NAMES]
    refused = [rule for rule in rules if rule is not None and rule.kind == "refuse"]
    assert len(refused) < 60


def test_an_argument_of_a_ufunc_is_refused_by_name_or_has_a_derivative() -> None:
    """Nothing is left out silently: None stands only for arguments that are whole numbers."""
    looked_at = 0
    for name in NAMES:
        fn: Any = getattr(special, name)
        rule = table.find(fn)
        assert rule is not None, name
        if isinstance(fn, np.ufunc) and rule.kind in ("partials", "several"):
            assert len(rule.partials) == fn.nin, name
            left = [k for k, p in enumerate(rule.partials) if p is None]
            assert all(_counts(rule, k) for k in left), name
            looked_at += 1
    assert looked_at > 150


def _counts(rule: table.Rule, k: int) -> bool:
    """Whether the samples of a rule give only whole numbers for an argument."""
    return all(isinstance(sample.args[k], (int, np.integer)) for sample in rule.samples)


# --- incomplete gamma and beta functions by their shapes --------------------------------------------------------------


@pytest.mark.parametrize("x", [1e-6, 0.2, 1.0, 1.7, 4.0, 30.0])
def test_the_exponential_distribution_by_its_shape(x: float) -> None:
    """The integral of e^-t log t from 0 to x, less psi(1) = -euler times that of e^-t (DLMF 6.2)."""
    integral = -np.exp(-x) * np.log(x) - special.exp1(x) - np.euler_gamma
    expected = integral - np.euler_gamma * np.expm1(-x)
    assert partial(special.gammainc, 0, 1.0, x) == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("b", [0.3, 2.5, 40.0])
@pytest.mark.parametrize("x", [1e-4, 0.3, 0.9])
def test_beta_by_a_shape_at_one(b: float, x: float) -> None:
    """I_x(1, b) = 1 - (1 - x)^b."""
    expected = -np.log1p(-x) * (1.0 - x) ** b
    assert partial(special.betainc, 1, 1.0, b, x) == pytest.approx(expected, rel=1e-9)
    assert partial(special.betainc, 0, b, 1.0, 1.0 - x) == pytest.approx(-expected, rel=1e-9)


def test_shapes_where_the_function_has_ended() -> None:
    assert partial(special.gammainc, 0, 2.0, 0.0) == 0.0
    assert partial(special.gammainc, 0, 2.0, np.inf) == 0.0
    assert partial(special.betainc, 0, 2.0, 3.0, 0.0) == 0.0
    assert partial(special.betainc, 1, 2.0, 3.0, 1.0) == 0.0


def test_zeta_by_its_first_argument() -> None:
    assert partial(special.zeta, 0, 2.0, None) == pytest.approx(-0.93754825431584375370, rel=1e-13)
    assert partial(special.zeta, 0, 0.0, None) == pytest.approx(-0.5 * np.log(2.0 * np.pi), rel=1e-12)


# --- degrees, turns, ends ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0.5, -0.5, 2.5])
@pytest.mark.parametrize("fn", [special.eval_legendre, special.eval_chebyt, special.eval_laguerre])
def test_polynomials_of_degrees_that_are_not_whole(fn: Any, n: float) -> None:
    h = 1e-5
    expected = (fn(n, 0.3 + h) - fn(n, 0.3 - h)) / (2.0 * h)
    assert partial(fn, 1, n, 0.3) == pytest.approx(expected, rel=1e-7)


def test_elliptic_integrals_over_whole_turns() -> None:
    """F(pi, m) = 2 K(m), E(pi, m) = 2 E(m)."""
    assert partial(special.ellipkinc, 1, np.pi, 0.3) == pytest.approx(2.0 * partial(special.ellipk, 0, 0.3), rel=1e-12)
    assert partial(special.ellipeinc, 1, np.pi, 0.3) == pytest.approx(2.0 * partial(special.ellipe, 0, 0.3), rel=1e-12)
    assert partial(special.ellipkinc, 1, 0.0, 0.3) == 0.0


def test_carlson_where_arguments_meet() -> None:
    """RD(x, x, x) = x^(-3/2), and its three slopes weigh 1 : 1 : 3 there (DLMF 19.20.18)."""
    for k, share in enumerate((0.2, 0.2, 0.6)):
        assert partial(special.elliprd, k, 2.0, 2.0, 2.0) == pytest.approx(-1.5 * share * 2.0**-2.5, rel=1e-12)


def test_a_result_that_nobody_reads_does_no_harm() -> None:
    """Bi and its slope overflow far out; Ai does not."""
    import s2s

    def f(x):
        return special.airy(x)[0] + special.airy(x)[1]

    x = 120.0
    ai, slope, bi, _ = special.airy(x)
    assert not np.isfinite(bi)
    assert s2s.grad(f)(x) == slope + x * ai
