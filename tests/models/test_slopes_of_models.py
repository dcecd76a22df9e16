"""Models of solvers, run in plain Python as the compiler differentiates them: values and slopes are the library's.

What counts as a constant stays what it was in the first run, which keeps it; a solution that is attached to a residual
moves by a step of Newton's method; gradients within a model are differences. So central differences of a model are the
derivative that the compiler gives for it, and nothing is compiled.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from s2s.core.public import function
from s2s.models import solutions
from s2s.rules import table
from s2s.rules.table import find
from tests.models.programs_of_solutions import NEARLY, PROGRAMS, P
from tests.models.test_values_of_models import assert_same, model_of, named, of_library

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning", "ignore::DeprecationWarning")

STEP = 1e-3
table.extend()  # what its rules name is imported


def matrix(f: Callable[[Any], Any], x: Any, h: float = 1e-4) -> Any:
    """The derivative of a function of one array or number, whose axes come last, by central differences."""
    if np.ndim(x) == 0:
        return (f(x + h) - f(x - h)) / (2.0 * h)
    slopes = [(f(x + e) - f(x - e)) / (2.0 * h) for e in h * np.eye(np.size(x)).reshape(-1, *np.shape(x))]
    return np.reshape(np.stack(slopes, axis=-1), (*np.shape(slopes[0]), *np.shape(x)))


def differences(name: str) -> Any:
    return lambda f, **options: lambda x: matrix(f, np.asarray(x) * 1.0 if np.ndim(x) else float(x))


def moved(residual: Any, found: Any, linear_solve: Any = None) -> Any:
    """What was found after one step of Newton's method, which is none where the residual is zero."""
    wrong, n = residual(found), np.size(found)
    by_unknown = np.reshape(matrix(residual, found), (n, n))
    if linear_solve is not None:
        found_by_it = linear_solve(lambda v: by_unknown @ v, np.asarray(wrong))
        np.testing.assert_allclose(found_by_it, np.linalg.solve(by_unknown, np.ravel(wrong)), rtol=1e-5, atol=1e-9)
    return found - (np.reshape(np.linalg.solve(by_unknown, np.ravel(wrong)), np.shape(found)) if n else 0.0)


class Constants:
    """What functions have given in the first run, which they give again in each later one."""

    def __init__(self) -> None:
        self.kept: list[Any] = []
        self.place = 0

    def start(self) -> None:
        self.place = 0

    def of(self, fn: Any) -> Any:
        def constant(*args: Any, **kwargs: Any) -> Any:
            place, self.place = self.place, self.place + 1
            if place == len(self.kept):
                self.kept.append(None)  # what it calls itself comes after it
                self.kept[place] = fn(*args, **kwargs), self.place
            found, self.place = self.kept[place]
            return found

        return constant


def is_constant(value: Any) -> bool:
    """Whether it is a function of the models whose derivative is zero."""
    if type(value) is not FunctionType or not value.__module__.startswith("s2s.models."):
        return False
    rule = find(value)
    return value is solutions.for_value or (rule is not None and rule.kind == "zero")


NAMES = [
    (module, word, value)
    for name, module in sorted(sys.modules.items())
    if name.startswith("s2s.models.")
    for word, value in vars(module).items()
]
CONSTANT = [one for one in NAMES if is_constant(one[2])]
REPLACED = [(*one[:2], moved) for one in NAMES if one[2] is solutions.attached]
REPLACED += [(*one[:2], differences) for one in NAMES if one[2] is function]


@pytest.fixture
def constants(monkeypatch: pytest.MonkeyPatch) -> Constants:
    kept = Constants()
    for module, word, value in [*[(*one[:2], kept.of(one[2])) for one in CONSTANT], *REPLACED]:
        monkeypatch.setattr(module, word, value)
    return kept


def flat(value: Any) -> Any:
    """All numbers of a result in one vector."""
    if isinstance(value, (list, tuple)):
        return np.concatenate([flat(item) for item in value]) if value else np.zeros(0)
    return np.ravel(np.asarray(value, dtype=float))


@pytest.mark.parametrize("program", named(PROGRAMS))
def test_value_and_slope(program: Any, constants: Constants) -> None:
    direction = np.array([0.8, -0.5, 0.6])
    found = program(model_of, P)
    assert_same(found, program(of_library, P), rtol=1e-5, atol=1e-6)

    def slope(run: Callable[[Any], Any]) -> Any:
        return (flat(run(P + STEP * direction)) - flat(run(P - STEP * direction))) / (2.0 * STEP)

    def of_model(p: Any) -> Any:
        constants.start()
        return program(model_of, p)

    close = 0.02 if program in NEARLY else 1e-4
    wanted = slope(lambda p: program(of_library, p))
    np.testing.assert_allclose(slope(of_model), wanted, rtol=close, atol=close * np.nanmax(np.abs(wanted), initial=1.0))
