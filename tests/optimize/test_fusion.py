"""What is said of loops over parts of large arrays: which lines they have, and in which sweep they break."""

import pytest

from s2s.explanation import explain
from s2s.versions.kinds import read_kinds
from tests.optimize.test_passes import load

TEXT = "def f(x, a):\n    z = np.sin(x) * x + 2.0\n    {}\n    return np.sum(w * w)\n"


def said_of(text):
    found = explain(load(text), kinds=read_kinds("x: f8[n], a: float"))
    said = [(line.number, fact.text) for line in found.lines for fact in line.facts if fact.kind == "fusion"]
    return [(number, text.replace("in large arrays ", "")) for number, text in said]


def one_loop(lines, sweep):
    return f"lines {lines} are one loop over parts of the arrays ({sweep})"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["w = np.exp(z) * z + x"], [(2, one_loop("2, 3 and 4", "both sweeps"))]),
        (["s = np.sum(z)", "w = np.exp(z - s) * z + x"], [
            (2, one_loop("2 and 3", "reverse sweep")), (4, one_loop("4 and 5", "both sweeps")),
            (3, "`np.sum(z)` needs all elements: line 4 is not fused with line 2 (forward sweep)")]),
        (["c = np.cumsum(z)", "w = np.exp(c) * c + x"], [
            (4, one_loop("4 and 5", "both sweeps")),
            (3, "`np.cumsum(z)` is done on whole arrays: line 4 is not fused with line 2 (forward sweep)")]),
        (["v = np.exp(z) * z", "v[0] = a", "w = np.tanh(v) * x"], [
            (2, one_loop("2 and 3", "reverse sweep")), (5, one_loop("5 and 6", "both sweeps")),
            (4, "the change in place is done on the whole array: line 5 is not fused with line 3 (forward sweep)")]),
        (["w = np.exp(z) * z", "for _ in range(3):", "    w = np.exp(-w) * np.tanh(w) * z"], [
            (4, "the loop is done on whole arrays: line 6 is not fused with lines 2 and 3 (forward sweep)")]),
        (["q = np.exp(z * x) * z", "w = q[::-1] * np.tanh(q)"], [
            (2, one_loop("2 and 3", "reverse sweep")), (4, one_loop("4 and 5", "both sweeps")),
            (4, "`q[::-1] * np.tanh(q)` has another shape: line 4 is not fused with line 3 (forward sweep)")]),
        (["w = z * np.dot(z, x) + np.exp(x) * np.tanh(z) * a"], [
            (2, one_loop("2 and 3", "reverse sweep")), (3, one_loop("3 and 4", "both sweeps")),
            (3, "`np.dot(z, x)` needs all elements: line 3 is not fused with line 2 (forward sweep)")]),
        (["w = np.exp(a * x) * np.sin(x) * z[0]"], [
            (3, one_loop("3 and 4", "both sweeps")),
            (3, "`z[0]` has another shape: line 3 is not fused with line 2 (forward sweep)")]),
    ],
    ids=["one loop", "a sum", "a running sum", "a store", "a loop", "a view", "a product", "an item"],
)  # fmt: skip
def test_which_lines_are_one_loop_and_what_breaks_it(lines, expected):
    assert sorted(said_of(TEXT.format("\n    ".join(lines)))) == sorted(expected)
