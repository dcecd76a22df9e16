"""What generated code says of itself on top."""

import numpy as np

import s2s

ROWS = [(k, np.full(3, k / 40.0)) for k in range(40)]


def test_a_text_that_is_long_because_loops_are_written_out_says_which():
    def f(x):
        total = 0.0
        for k, weights in ROWS:
            total = total + np.sum(x * weights) * k
            total = total * 0.9 + np.sin(total) * x[0] ** k
        return total

    x = np.array([0.4, 0.7, 0.2])
    lines = s2s.source(f, x, mode="grad").splitlines()
    assert len(lines) > 300
    assert lines[0] == f"# {len(lines) - 2} lines, as these loops are written out for items of different kinds:"
    assert lines[1] == f"#   test_heading.py:{f.__code__.co_firstlineno + 2}, for 40 items in all"
    steps = 1e-6 * np.eye(3)
    np.testing.assert_allclose(s2s.grad(f)(x), [(f(x + h) - f(x - h)) / 2e-6 for h in steps], rtol=1e-6)


def test_a_short_text_says_nothing_of_its_loops():
    def f(x):
        total = 0.0
        for k, weights in ROWS[:2]:
            total = total + np.sum(x * weights) * k
        return total

    assert "written out" not in s2s.source(f, np.ones(3), mode="grad")
