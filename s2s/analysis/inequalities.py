"""Linear inequalities over the integers: whether some can hold at once.

    1 <= i,  1 <= i',  i' = i - 1,  i' >= i + 1         impossible
    1 <= i,  1 <= i',  i' = i + 1,  i' >= i + 1         possible

A variable is taken out of equations by substitution, of inequalities by adding up each pair that bounds it from below
and from above (Fourier and Motzkin). What has no solution in the rationals has none in the integers; the constant of
an inequality is rounded where the other numbers have a common divisor. Where there are too many inequalities, they are
taken for possible.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import gcd

__all__ = ["Linear", "are_impossible"]

MOST = 120
"""The number of inequalities from which on no more are made."""


class Linear:
    """``constant + sum of a number times each symbol``, all integers."""

    __slots__ = ("constant", "terms")

    def __init__(self, constant: int = 0, terms: dict[Hashable, int] | None = None) -> None:
        self.constant = constant
        self.terms = terms or {}

    def plus(self, other: Linear, times: int = 1) -> Linear:
        """The sum of this one and ``times`` another one."""
        terms = dict(self.terms)
        for symbol, factor in other.terms.items():
            terms[symbol] = terms.get(symbol, 0) + times * factor
        return Linear(self.constant + times * other.constant, {s: f for s, f in terms.items() if f})

    def shifted(self, by: int) -> Linear:
        """The sum of this one and a number."""
        return Linear(self.constant + by, self.terms)

    def scaled(self, by: int) -> Linear:
        """A multiple."""
        return Linear(self.constant * by, {s: f * by for s, f in self.terms.items()} if by else {})


def are_impossible(zero: Iterable[Linear], positive: Iterable[Linear]) -> bool:
    """Whether no integers make all of ``zero`` 0 and all of ``positive`` 0 or more."""
    inequalities = [*positive]
    equations = [*zero]
    while equations:
        one = equations.pop()
        divisor = gcd(*one.terms.values()) if one.terms else 0
        if one.constant and (not divisor or one.constant % divisor):
            return True
        if not one.terms:
            continue
        one = Linear(one.constant // divisor, {s: f // divisor for s, f in one.terms.items()})
        unit = next((s for s, f in one.terms.items() if abs(f) == 1), None)
        if unit is None:
            inequalities += [one, one.scaled(-1)]
            continue
        equations = [_without(e, unit, one) for e in equations]
        inequalities = [_without(e, unit, one) for e in inequalities]
    return _are_impossible(inequalities)


def _without(form: Linear, symbol: Hashable, zero: Linear) -> Linear:
    """A form in which an equation has replaced a symbol, which stands there once."""
    factor = form.terms.get(symbol)
    return form if not factor else form.plus(zero, -factor * zero.terms[symbol])


def _are_impossible(inequalities: list[Linear]) -> bool:
    while True:
        bounds = _tightest(inequalities)
        if bounds is None:
            return True
        if not bounds or len(bounds) > MOST:
            return False
        inequalities = _eliminated([Linear(constant, dict(terms)) for terms, constant in bounds.items()])


def _tightest(inequalities: list[Linear]) -> dict[frozenset[tuple[Hashable, int]], int] | None:
    """The inequalities that say most, by their terms; None where one of them cannot hold."""
    found: dict[frozenset[tuple[Hashable, int]], int] = {}
    for form in inequalities:
        if not form.terms:
            if form.constant < 0:
                return None
            continue
        divisor = gcd(*form.terms.values())
        key = frozenset((s, f // divisor) for s, f in form.terms.items())
        found[key] = min(found.get(key, form.constant // divisor), form.constant // divisor)
    return found


def _eliminated(inequalities: list[Linear]) -> list[Linear]:
    """The inequalities without the symbol that takes the fewest new ones."""
    counts: dict[Hashable, list[int]] = {}
    for form in inequalities:
        for symbol, factor in form.terms.items():
            counts.setdefault(symbol, [0, 0])[factor > 0] += 1
    symbol = min(counts, key=lambda s: counts[s][0] * counts[s][1])
    made = [form for form in inequalities if symbol not in form.terms]
    above = [form for form in inequalities if form.terms.get(symbol, 0) < 0]
    for low in (form for form in inequalities if form.terms.get(symbol, 0) > 0):
        made += [low.scaled(-high.terms[symbol]).plus(high, low.terms[symbol]) for high in above]
    return made
