"""Derivatives of random draws by shapes: where the distribution function stays what it is."""

from __future__ import annotations

from typing import Any

from s2s.models import draws
from s2s.rules.table import partials, refuse, zero


def gamma_by_shape(y: Any, a: Any) -> Any:
    """Where F(y; a) of the gamma distribution stays what it is: dy/da."""
    from s2s.rules.scipy import incomplete, special

    return -incomplete.gammainc_by_a(a, y) / special.gamma_density(a, y)


def beta_by_first(y: Any, a: Any, b: Any) -> Any:
    from s2s.rules.scipy import incomplete, special

    return -incomplete.betainc_by_a(a, b, y) / special.beta_density(a, b, y)


def beta_by_second(y: Any, a: Any, b: Any) -> Any:
    from s2s.rules.scipy import incomplete, special

    return -incomplete.betainc_by_b(a, b, y) / special.beta_density(a, b, y)


def student_by_freedom(y: Any, df: Any) -> Any:
    from s2s.rules.scipy import special_distributions

    return -special_distributions.student_by_df(df, y) / special_distributions.student_density(df, y)


zero(draws.held)
refuse(draws.probabilities, "which item is chosen jumps with a probability; weigh what depends on each of the items")
partials(draws.gamma_draw, None, lambda out, y, shape: gamma_by_shape(out, shape), samples=())
partials(
    draws.beta_draw, None, lambda out, y, a, b: beta_by_first(out, a, b),
    lambda out, y, a, b: beta_by_second(out, a, b), samples=(),
)
partials(draws.student_draw, None, lambda out, y, df: student_by_freedom(out, df), samples=())
