"""Calls of NumPy as people write them, differentiated as users' functions: see ``forms``."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

import s2s
from tests.rules import forms
from tests.rules.cases import own, pair, random_like, step, tree
from tests.rules.programs import load

MISSING = [name for name in forms.NOT_IN_EVERY_NUMPY if not hasattr(np, name)]
TOGETHER = 10
"""How many lines are compiled in one function."""


def groups() -> list[Any]:
    """The lines by the constant that they are in, so many in each group."""
    found = []
    for topic in ("ELEMENTWISE", "REDUCTIONS", "SHAPES", "INDEXING", "PRODUCTS", "LINALG", "FFT"):
        lines = [line for line in getattr(forms, topic).splitlines() if line.strip()]
        lines = [line for line in lines if not any(f"np.{name}(" in line for name in MISSING)]
        parts = [lines[i : i + TOGETHER] for i in range(0, len(lines), TOGETHER)]
        found += [pytest.param(part, id=f"{topic.lower()}-{k}") for k, part in enumerate(parts)]
    return found


def names_in(expression: str) -> list[str]:
    found = {node.id for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Name)}
    return sorted(found & forms.VARIABLES.keys())


def build(expressions: list[str], folder: Any) -> tuple[Any, list[Any]]:
    """The function that returns expressions, each of variables of its own, from a file of its own; and a function for
    each expression."""
    text, calls, parameters = "import math\nimport operator\n\nimport numpy as np\n", [], []
    for k, expression in enumerate(expressions):
        names = names_in(expression)
        own = [f"{name}_{k}" for name in names]
        text += f"\n\ndef line{k}({', '.join(names)}):\n    return {expression}\n"
        calls.append(f"line{k}({', '.join(own)})")
        parameters += own
    text += f"\n\ndef f({', '.join(parameters)}):\n    return {', '.join(calls)},\n"
    module = load(text, forms.CONSTANTS, folder)
    return module.f, [vars(module)[f"line{k}"] for k, _ in enumerate(expressions)]


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("expressions", groups())
def test_gradients(expressions: list[str], tmp_path: Any) -> None:
    try:
        check(expressions, tmp_path)
    except Exception as problem:
        for expression in expressions:
            try:
                check([expression], tmp_path)
            except Exception as alone:
                raise AssertionError(f"{expression}\n{alone}") from alone
        raise AssertionError(f"each passes alone, and not all of {expressions}") from problem


def check(expressions: list[str], folder: Any) -> None:
    """Compare the values with those of each line, the gradients with differences."""
    f, lines = build(expressions, folder)
    names = [names_in(expression) for expression in expressions]
    values = [[own(forms.VARIABLES[name], forms.VARIABLES[name]) for name in some] for some in names]
    wanted = [line(*some) for line, some in zip(lines, values, strict=True)]
    out, pullback = s2s.vjp(f, *(value for some in values for value in some))
    rng = np.random.default_rng(5)
    cotangents = tuple(random_like(one, rng) for one in wanted)
    found = iter(pullback(cotangents))
    for k, expression in enumerate(expressions):
        gradients = [next(found) for _ in names[k]]
        check_line(lines[k], values[k], names[k], out[k], wanted[k], cotangents[k], gradients, rng, expression)


def check_line(
    line: Any, values: Any, names: Any, out: Any, wanted: Any, cotangent: Any, found: Any, rng: Any, expression: str,
) -> None:
    for a, b in zip(tree(out), tree(wanted), strict=True):
        assert type(a) is type(b) and np.shape(a) == np.shape(b), expression
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13, err_msg=expression)
    directions = [random_like(value, rng) for value in values]
    directions = [d + d.T if name in forms.POSITIVE else d for name, d in zip(names, directions, strict=True)]

    def at(t: float) -> float:
        return pair(cotangent, line(*[step(x, d, t) for x, d in zip(values, directions, strict=True)]))

    h = 1e-4
    expected = (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h)
    for x_bar, x in zip(found, values, strict=True):
        assert np.shape(x_bar) == np.shape(x), expression
        assert np.asarray(x_bar).dtype == np.asarray(x).dtype, expression
    total = sum(pair(x_bar, d) for x_bar, d in zip(found, directions, strict=True))
    assert total == pytest.approx(expected, rel=1e-6, abs=1e-7), expression
