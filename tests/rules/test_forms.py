"""Calls of NumPy as people write them, differentiated as users' functions: see ``forms``."""

from __future__ import annotations

import ast
import importlib.util
from typing import Any

import numpy as np
import pytest
from forms import CONSTANTS, NOT_IN_EVERY_NUMPY, POSITIVE, STATEMENTS, VARIABLES
from test_rules import pair, random_like, step, tree

import s2s

MISSING = [name for name in NOT_IN_EVERY_NUMPY if not hasattr(np, name)]
LINES = [
    line for line in STATEMENTS.splitlines() if line.strip() and not any(f"np.{name}(" in line for name in MISSING)
]


def build(expression: str, folder: Any) -> tuple[Any, list[str]]:
    """The function that returns an expression of the variables, from a file of its own; and their names."""
    found = {node.id for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Name)}
    names = sorted(found & VARIABLES.keys())
    file = folder / "program.py"
    head = "import math\nimport operator\n\nimport numpy as np\n\n\n"
    file.write_text(f"{head}def f({', '.join(names)}):\n    return {expression}\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("program", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module).update(CONSTANTS)
    return module.f, names


@pytest.mark.parametrize("expression", LINES)
def test_gradient(expression: str, tmp_path: Any) -> None:
    f, names = build(expression, tmp_path)
    values = [VARIABLES[name] for name in names]
    rng = np.random.default_rng(5)
    wanted, (out, pullback) = f(*values), s2s.vjp(f, *values)
    for a, b in zip(tree(out), tree(wanted), strict=True):
        assert type(a) is type(b) and np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)
    cotangent = random_like(wanted, rng)
    directions = [random_like(value, rng) for value in values]
    directions = [d + d.T if name in POSITIVE else d for name, d in zip(names, directions, strict=True)]

    def at(t: float) -> float:
        return pair(cotangent, f(*[step(x, d, t) for x, d in zip(values, directions, strict=True)]))

    h = 1e-4
    expected = (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h)
    found = pullback(cotangent)
    for x_bar, x in zip(found, values, strict=True):
        assert np.shape(x_bar) == np.shape(x)
        assert np.asarray(x_bar).dtype == np.asarray(x).dtype
    total = sum(pair(x_bar, d) for x_bar, d in zip(found, directions, strict=True))
    assert total == pytest.approx(expected, rel=1e-6, abs=1e-7)
