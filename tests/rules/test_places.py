"""What is said of functions that move elements, or add them up, against what they do with the samples of their rules.

Where a step is subtracted from what it rounds is found by this: what is not said gives a gradient that misses a part.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2s.analysis.functions import facts
from s2s.core.functions import Computes
from s2s.rules.table import RULES, Rule
from tests.rules.cases import aspect, draw, draws, fill

MOVING = (
    Computes.PLACED, Computes.TURNED, Computes.FLAT, Computes.SAME, Computes.LIST, Computes.CHOICE, Computes.PIECES,
)
BY_CHANCE = (operator.imatmul, np.linalg.eigvals, complex)
"""Functions of which the samples that are real give what they were given."""


def flat(value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, (list, tuple)):
        return np.concatenate([np.zeros(0), *map(flat, value)])
    return np.asarray(value, float).ravel()


def tried(rule: Rule) -> Iterator[tuple[Any, list[Any], Any]]:
    """For each sample with real draws: the template, the values drawn, and what the function gives."""
    rng = np.random.default_rng(7)
    for sample in rule.samples:
        template = [list(sample.args), dict(sample.kwargs)]
        wanted = list(draws(template))
        if not any(d.complex or d.positive for d in wanted):
            values = [np.asarray(draw(d, rng)) if d.shape is not None else draw(d, rng) for d in wanted]
            yield template, values, call(rule, template, values)


def call(rule: Rule, template: Any, values: list[Any]) -> np.ndarray[Any, Any]:
    args, kwargs = fill(template, iter(values))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return flat(rule.fn(*args, **kwargs))


def rules() -> list[Rule]:
    found = {}
    for rule in list(RULES.values()):
        module = str(getattr(rule.fn, "__module__", ""))
        if rule.kind in ("linear", "vjp") and rule.samples and not module.startswith("s2s"):
            if not facts(rule.fn).elementwise and not any(rule.fn is fn for fn in BY_CHANCE):
                found[id(rule.fn)] = rule
    return list(found.values())


def test_what_moves_elements_is_said_to():
    for rule in rules():
        with aspect("what moves elements", rule):
            check_moving(rule)


def check_moving(rule):
    said = facts(rule.fn).computes
    all_placed, found = True, 0
    for _, values, given in tried(rule):
        known = np.concatenate([[0.0], *map(flat, values)])
        all_placed &= bool(np.all(np.isin(given, known)))
        found += given.size
        if said is Computes.TURNED:
            np.testing.assert_array_equal(np.sort(given), np.sort(flat(values)))
    if found and all_placed and rule.kind == "linear":
        assert said in MOVING


def test_what_adds_up_has_no_negative_weights():
    adding = [rule for rule in rules() if facts(rule.fn).computes is Computes.TOTAL]
    assert len(adding) > 10
    for rule in adding:
        for template, values, given in tried(rule):
            for k, value in enumerate(values):
                more = [np.add(v, 0.5, out=np.empty(np.shape(v))) if k == i else v for i, v in enumerate(values)]
                assert np.all(call(rule, template, more) >= given), (rule.name, value)
