"""Comments of the primal in the forward sweep of generated code."""

import numpy as np
import pytest

import s2s


def fall(v, k, n):
    # how far it has come
    y = np.zeros(2)  # metres
    # step by step,
    # with a fixed step
    for _ in range(n):  # seconds
        f = k * v * v  # the drag
        v = v - 0.1 * f  # noqa: E501
        y = y + 0.1 * v
    text = "# none"
    return np.sum(y * y) + len(text)  # squared


def test_they_stand_where_they_stood():
    text = s2s.source(fall, np.ones(2), 0.5, 3)
    forward = text.partition("# reverse sweep")[0]
    lines = [line.strip() for line in forward.splitlines()]
    assert "y = np.zeros(2)  # metres" in lines
    assert lines[lines.index("# step by step,") + 1] == "# with a fixed step"
    loop = next(k for k, line in enumerate(lines) if line.startswith("for ") and line.endswith("  # seconds"))
    assert lines.index("# with a fixed step") < loop
    assert forward.count("# the drag") == 1 and forward.count("# metres") == 1
    assert "noqa" not in forward and "  # none" not in forward
    assert all(len(line) <= 100 for line in text.splitlines())


def test_the_code_computes_the_same():
    gradient = s2s.grad(fall)(np.array([1.0, 2.0]), 0.5, 3)
    steps = [(fall(np.array([1.0, 2.0]) + h, 0.5, 3) - fall(np.array([1.0, 2.0]) - h, 0.5, 3)) / 2e-6
             for h in 1e-6 * np.eye(2)]
    assert gradient == pytest.approx(np.array(steps), rel=1e-6)


def test_a_function_without_source_lines_has_none():
    scope = {"np": np}
    exec("def f(x):\n    return np.sum(x * x)  # squares", scope)
    assert s2s.source(np.tanh, 0.5).count("#") < 4
