"""At the edges of their domains functions of Python's numbers raise, and NumPy's give an infinite result. A derivative
raises nothing where the function itself has a value: it is infinite there, or no number.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.rules.table import RULES, Rule
from tests.rules.programs import MODULES, build, path_of

PLACES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 5e-324, 1e-200, -1e-200, 1e-155, 1e200, math.inf, math.nan]
PLACES_OF_TWO = [0.0, 1.0, -1.0, 0.5, -2.5, 1e-200, 1e200]
TOGETHER = 8
"""How many functions are looked at in one test."""
PACKAGES = ("math.", "cmath.", "operator.", "builtins.", "numpy.")


def arity(rule: Rule) -> int:
    """How many numbers a function needs."""
    needed = [p for p in rule.params.parameters.values() if p.default is p.empty]
    return max(1, min(len(needed), len(rule.partials)))


def rules() -> Iterator[tuple[str, int]]:
    for rule in RULES.values():
        path = path_of(rule.fn) if rule.kind in ("partials", "straight_through") else None
        if path is not None and path.startswith(PACKAGES) and "ndarray" not in path and arity(rule) <= 2:
            yield path, arity(rule)


def in_groups() -> list[Any]:
    """Some of the functions at a time."""
    found = list(rules())
    groups = [found[i : i + TOGETHER] for i in range(0, len(found), TOGETHER)]
    return [pytest.param(group, id=f"{group[0][0]} to {group[-1][0]}") for group in groups]


def program(path: str, count: int, folder: Any) -> Callable[..., Any]:
    """The function of floats in a file of its own, its real part where it is complex."""
    parameters = ", ".join(["a", "b"][:count])
    real = ".real" if path.startswith("cmath.") else ""
    imports = "\n".join(f"import {m.__name__}" for m in MODULES)
    return build(f"{imports}\n\n\ndef f({parameters}):\n    return {path}({parameters}){real}\n", {}, folder)


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("functions", in_groups())
def test_a_derivative_raises_nothing_where_the_function_has_a_value(
    functions: list[tuple[str, int]], tmp_path: Any
) -> None:
    for path, count in functions:
        try:
            check_edges(path, count, tmp_path)
        except Exception as problem:
            raise AssertionError(f"{path}\n{type(problem).__name__}: {problem}") from problem


def check_edges(path: str, count: int, folder: Any) -> None:
    f = program(path, count, folder)
    every, ones = tuple(range(count)), (1.0,) * count
    gradients = [s2s.grad(f, argnums=i) for i in every]
    for place in itertools.product(PLACES if count == 1 else PLACES_OF_TWO, repeat=count):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            try:
                y = f(*place)
            except (ValueError, ArithmeticError, TypeError):
                continue  # there, or for floats, it has none
            if not isinstance(y, float):
                continue  # a complex power, an integer
            slopes, (_, tangent) = s2s.grad(f, argnums=every)(*place), s2s.jvp(f, place, ones)
            if not np.isnan(tangent) or np.isnan(sum(slopes)):  # else not settled by differences
                np.testing.assert_allclose(tangent, sum(slopes), rtol=1e-12)
            for gradient in gradients:
                s2s.grad(gradient, argnums=every)(*place)
                s2s.jvp(gradient, place, ones)


@pytest.mark.parametrize("x", [1.3, -2.7, math.inf, -math.inf])
def test_fraction_of_an_infinite_number_is_zero_and_moves_with_nothing(x):
    def f(x):
        fraction = math.modf(x)[0]
        return fraction * fraction + 3.0 * fraction + x

    fraction, moves = math.modf(x)[0], 0.0 if math.isinf(x) else 1.0
    for derivative in (s2s.grad, s2s.jacfwd):
        np.testing.assert_allclose(derivative(f)(x), (2.0 * fraction + 3.0) * moves + 1.0, rtol=1e-12)
    assert s2s.value_and_grad(f)(x)[0] == f(x)
