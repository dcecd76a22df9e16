"""Each case of the benchmark at its small size: s2s against central differences, peers and hand-written adjoints
against s2s. A peer that is not installed is skipped by name."""

import numpy as np
import pytest

import s2s
from benchmarks.contenders import HANDS, PEERS, difference, make, missing, takes_part, warm
from benchmarks.suites import find, load
from tests.helpers import copy_tree

CASES = load("all")
OTHERS = [(case, other) for case in CASES for other in (*PEERS, *HANDS) if takes_part(case, other)]


def slope(case, args, direction, h=1e-5):
    """The derivative of the loss along a direction, by central differences of fourth order."""
    def at(step):
        moved = list(copy_tree(args))
        for place, d in zip(case.argnums, direction):
            moved[place] = moved[place] + step * d
        return case.primal(*moved)

    return (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_gradient_agrees_with_differences(case):
    args = case.arguments(*case.small)
    rng = np.random.default_rng(5)
    direction = [rng.normal(size=np.shape(args[place])) for place in case.argnums]
    gradient = s2s.grad(case.primal, argnums=case.argnums)(*args)
    found = sum(float(np.sum(g * d)) for g, d in zip(gradient, direction, strict=True))
    if case.differences:
        np.testing.assert_allclose(found, slope(case, args, direction), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("case", "other"), OTHERS, ids=lambda value: getattr(value, "name", value))
def test_others_agree_with_s2s(case, other):
    if other == "torch compiled":
        pytest.skip("compiling is slow; the same function is tested without")
    if library := missing(other):
        pytest.skip(f"{library} is not installed")
    args = case.arguments(*case.small)
    warm(other)
    wanted = s2s.grad(case.primal, argnums=case.argnums)(*args)
    assert difference(make(other, case, args)(), wanted) < 1e-9


def test_names_are_unique():
    assert len({case.name for case in CASES}) == len(CASES)
    assert find("jacobi").name == "jacobi"
