"""``check_grads``: what it accepts, what it explains, and what it calls wrong."""

import doctest

import numpy as np
import pytest

import s2s
import s2s.testing
from s2s.errors import ArgumentError
from s2s.rules import table
from tests.rules.test_table import scratch  # noqa: F401

X = np.array([0.4, -1.3, 0.8])


def stored(x, a):
    y = np.zeros(3)
    for i in range(3):
        y[i] = np.sin(x[i]) * a
    return {"y": y, "parts": (np.sum(x**2), [a * a])}


def line_of(text):
    """Where this file has a text, as a report says it."""
    with open(__file__, encoding="utf-8") as file:
        return next(f"test_testing.py:{k}" for k, line in enumerate(file, 1) if text in line)


def test_what_agrees():
    report = s2s.check_grads(stored, (X, 2.0))
    assert [(c.order, c.mode) for c in report.comparisons] == [(1, "fwd"), (1, "rev"), (2, "fwd"), (2, "rev")]
    assert report.worst.error < 1e-7 and not report.choices
    assert "4 comparisons agree" in repr(report)


def test_options():
    report = s2s.check_grads(np.tanh, 0.3, order=1, modes="rev")
    assert [c.mode for c in report.comparisons] == ["rev"]
    report = s2s.check_grads(lambda x, power=2: np.sum(x**power), (X,), kwargs={"power": 3}, modes=["fwd"])
    assert len(report.comparisons) == 2
    assert s2s.check_grads(np.sin, (X.astype(np.float32),)).worst.error < 2e-2
    assert s2s.check_grads(lambda z: np.abs(z) ** 2, (np.array([1.0 + 2.0j]),), order=1).worst.error < 1e-7
    with pytest.raises(ArgumentError, match="forward"):
        s2s.check_grads(np.sin, (X,), modes=("forward",))


def rounded(x):
    y = np.floor(x * 3.0)
    return np.sum(y * x)


def test_straight_through_is_explained():
    report = s2s.check_grads(rounded, (X,), order=1)
    assert all(c.explained for c in report.comparisons)
    (choice,) = report.choices
    assert choice.place == line_of("np.floor(x * 3.0)") and choice.name == "floor"
    assert "straight through" in choice.kind and choice.place in repr(report)


def test_the_policy_is_followed():
    report = s2s.check_grads(s2s.differentiable(rounded, nonsmooth="zero"), (X,), order=1)
    assert "zero, by the policy" in report.choices[0].kind


def cast(x):
    n = int(x[0] * 10.0)
    return x[1] * n


def test_casts_are_explained():
    report = s2s.check_grads(cast, (X,), order=1)
    assert report.choices[0].name == "int" and report.comparisons[0].explained


def tied(x):
    top = np.maximum(x, 0.4)
    return np.sum(top * x) + abs(x[1] + 1.3)


def test_ties_and_kinks_are_named():
    report = s2s.check_grads(tied, (X,), order=1)
    assert {c.place for c in report.choices} == {line_of("np.maximum(x, 0.4)"), line_of("abs(x[1] + 1.3)")}
    assert all("kink" in c.kind for c in report.choices)


def branched(x):
    if x[0] >= 0.4:
        return np.sum(x**2)
    return np.sum(x)


def masked(x):
    return np.sum(np.where(x >= 0.4, x**2, x))


@pytest.mark.parametrize("f, text, name", [(branched, "if x[0] >= 0.4", "if"), (masked, "np.where(x >= 0.4", "where")])
def test_branches_that_change_are_explained(f, text, name):
    report = s2s.check_grads(f, (X,), order=1)
    assert all(c.explained for c in report.comparisons)
    assert (report.choices[0].place, report.choices[0].name) == (line_of(text), name)


def doubled(x):
    return 2.0 * x


def through(x):
    y = np.sin(x)
    z = doubled(y)
    return np.sum(z * np.array([1.0, 30.0, 1.0]))


@pytest.mark.usefixtures("scratch")
def test_a_wrong_rule_is_found():
    table.linear(doubled, x=lambda y_bar: 3.0 * y_bar)
    with pytest.raises(AssertionError) as caught:
        s2s.check_grads(through, (X,), modes=["rev"])
    text = str(caught.value)
    assert "a derivative of through is not what differences give" in text
    assert "worst component: argument 0[1]" in text


@pytest.mark.usefixtures("scratch")
def test_a_wrong_tangent_is_found_with_its_line():
    table.vjp(doubled)(lambda y_bar: 2.0 * y_bar)
    table.jvp(doubled)(lambda x, x_dot: 2.5 * x_dot)
    with pytest.raises(AssertionError, match="it comes from " + line_of("z = doubled(y)").replace(".", r"\.")):
        s2s.check_grads(through, (X,), modes=["fwd"])


def product_of_powers(x, y):
    return x**2 * y**3


@pytest.mark.parametrize("order", [3, 4])
def test_higher_orders(order):
    report = s2s.check_grads(product_of_powers, (0.3, 0.4), order=order)
    assert [c.order for c in report.comparisons] == [k for k in range(1, order + 1) for _ in range(2)]


def test_documents():
    results = doctest.testmod(s2s.testing)
    assert results.attempted and not results.failed


@pytest.mark.parametrize("mode", ["fwd", "rev"])
@pytest.mark.parametrize("f", [lambda x: x * np.nan, lambda x: np.array([x * x, x * np.nan])])
def test_nan_on_both_sides_is_no_agreement(f, mode):
    with pytest.raises(AssertionError, match="nothing is compared"):
        s2s.check_grads(f, (2.0,), order=1, modes=mode)
