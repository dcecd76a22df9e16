"""At the edges of their domains functions of Python's numbers raise, and NumPy's give an infinite result. A derivative
raises nothing where the function itself has a value: it is infinite there, or no number.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from test_compiled import MODULES, path_of

import s2s
from s2s.rules.table import RULES, Rule

PLACES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 5e-324, 1e-200, -1e-200, 1e-155, 1e200, math.inf, math.nan]
PLACES_OF_TWO = [0.0, 1.0, -1.0, 0.5, -2.5, 1e-200, 1e200]
PACKAGES = ("math.", "cmath.", "operator.", "builtins.", "numpy.")


def arity(rule: Rule) -> int:
    """How many numbers a function needs."""
    needed = [p for p in rule.params.parameters.values() if p.default is p.empty]
    return max(1, min(len(needed), len(rule.partials)))


def rules() -> Iterator[Any]:
    for rule in RULES.values():
        path = path_of(rule.fn) if rule.kind in ("partials", "straight_through") else None
        if path is not None and path.startswith(PACKAGES) and "ndarray" not in path and arity(rule) <= 2:
            yield pytest.param(path, arity(rule), id=path)


def program(path: str, count: int, folder: Any) -> Callable[..., Any]:
    """The function of floats in a file of its own, its real part where it is complex."""
    parameters = ", ".join(["a", "b"][:count])
    real = ".real" if path.startswith("cmath.") else ""
    imports = "\n".join(f"import {m.__name__}" for m in MODULES)
    file = folder / "program.py"
    file.write_text(f"{imports}\n\n\ndef f({parameters}):\n    return {path}({parameters}){real}\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("program", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f  # type: ignore[no-any-return]


@pytest.mark.parametrize("path, count", list(rules()))
def test_a_derivative_raises_nothing_where_the_function_has_a_value(path: str, count: int, tmp_path: Any) -> None:
    f = program(path, count, tmp_path)
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
