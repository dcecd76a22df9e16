"""Blocks for debugging: where a NaN or an infinity arises, and derivatives that keep every variable."""

import io
import sys

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError, NonFiniteError

X = np.array([2.0, 3.0, 1.0, 0.5])


def logarithms(x, n):
    total = 0.0
    for i in range(n):
        y = x[i] * x[i] - 1.0
        least = np.inf
        total += min(least, np.log(y)) * x[i]
    return total


def roots(x):
    y = x - 1.0
    z = np.sqrt(y)
    return np.sum(z * x)


def distance(x):
    return np.sqrt(np.sum(x * x))


def helped(x):
    return 2.0 * roots(x)


def chosen(x):
    y = np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), 0.0)
    least = np.inf
    for i in range(3):
        least = min(least, x[i] * x[i])
    return np.sum(y) * least


def refusal(derivative, *args):
    with np.errstate(all="ignore"), s2s.debug_nans(), pytest.raises(NonFiniteError) as info:
        derivative(*args)
    assert isinstance(info.value, FloatingPointError)
    return info.value


def marked(problem):
    """The line of this file that an error points at."""
    span = problem.diagnostic.span
    assert span.file == __file__
    with open(__file__, encoding="utf-8") as file:
        return file.read().splitlines()[span.line - 1].strip()


@pytest.mark.parametrize("derivative", [s2s.grad, s2s.value_and_grad])
def test_an_infinity_that_arises_in_the_forward_sweep(derivative):
    problem = refusal(derivative(logarithms), X, 4)
    assert str(problem).startswith("an infinity arises in the forward sweep of `logarithms` [S2S547]")
    assert marked(problem) == "total += min(least, np.log(y)) * x[i]"
    assert "np.log(y)`, where y = 0.0" in str(problem)


def test_an_infinity_that_arises_in_the_reverse_sweep():
    problem = refusal(s2s.grad(roots), X)  # where x is 1; where it is less, there is a NaN before
    assert "arises in the forward sweep of `roots`" in str(problem)
    problem = refusal(s2s.grad(roots), np.array([2.0, 1.0]))
    assert str(problem).startswith("an infinity arises in the reverse sweep of `roots`")
    assert marked(problem) == "z = np.sqrt(y)"


def each_logarithm(x, k):
    total = 0.0
    for i in range(x.shape[0]):
        total += np.log(x[i, k])
    return total


@pytest.mark.parametrize("at, told", [
    (range(20), "0 everywhere"),
    ([4], "0 at [4]"),
    ([4, 17], "0 at [4] and [17]"),
    ([2, 4, 6, 8, 10], "0 at [2], [4], [6] and 2 more"),
])
def test_places_in_large_arrays(at, told):
    x = np.ones(20)
    x[list(at)] = 0.0
    message = str(refusal(s2s.grad(lambda x: np.sum(np.sqrt(x))), x))
    assert f"x = array of shape (20,), {told}\n" in message


def test_the_item_that_a_line_reads():
    x = np.ones((30, 2))
    x[7, 1] = 0.0
    assert "i = 7, k = 1, x[i, k] = 0.0" in str(refusal(s2s.value_and_grad(each_logarithm), x, 1))


def test_the_line_of_a_function_that_is_called():
    assert marked(refusal(s2s.grad(helped), np.array([2.0, 1.0]))) == "z = np.sqrt(y)"


def test_other_derivatives():
    x = np.array([2.0, 1.0])
    for problem in (
        refusal(s2s.hessian(roots), x), refusal(s2s.jacrev(roots), x),
        refusal(s2s.grad(s2s.differentiable(roots, backend="numba")), x),
    ):
        assert marked(problem) == "z = np.sqrt(y)"
    assert "`roots`" in str(refusal(s2s.jvp, roots, (x,), (np.ones(2),)))


def test_pullbacks_hold_to_the_block_that_they_were_made_in():
    with s2s.debug_nans():
        _, pullback = s2s.vjp(roots, np.array([2.0, 1.0]))
    with np.errstate(all="ignore"), pytest.raises(NonFiniteError, match="in the reverse sweep of `roots`"):
        pullback(1.0)


def test_what_is_given_is_not_finite():
    assert str(refusal(s2s.grad(roots), np.array([np.nan, 2.0]))).startswith(
        "NaN is given in x to the derivative of `roots`")


def test_results_that_are_finite_are_given(monkeypatch):
    monkeypatch.delenv("S2S_RECORDED", raising=False)
    x = np.array([2.0, 3.0, -1.0])
    expected = s2s.grad(chosen)(x)
    with s2s.debug_nans():
        np.testing.assert_array_equal(s2s.grad(chosen)(x), expected)
        with np.errstate(all="ignore"):  # the derivative of a norm at zero is zero
            np.testing.assert_array_equal(s2s.grad(distance)(np.zeros(2)), np.zeros(2))
    with np.errstate(all="ignore"):
        assert not np.isfinite(s2s.grad(roots)(np.array([2.0, 1.0]))).all()


def test_what_fails_after_a_value_is_not_finite_says_where_that_arose():
    def f(x):
        y = np.log(x)
        return np.linalg.svd(np.outer(y, y), compute_uv=False)[0]

    problem = refusal(s2s.grad(f), np.array([0.0, 1.0]))
    assert marked(problem) == "y = np.log(x)"


# --- every variable -----------------------------------------------------------------------------------------------


def stopped(x, n):
    a = x * 2.0
    unused = a + 1.0
    total = 0.0
    for i in range(n):
        step = np.sin(a[i])
        if i == 1:
            breakpoint()
        total += step * a[i]
    return total + 0.0 * unused[0]


def test_the_debugger_prints_every_variable(monkeypatch):
    typed = "\n".join(["p unused.tolist()", "p round(float(total), 6)", "p i", "c", ""])
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    monkeypatch.setattr(sys, "stdout", out)
    import pdb

    monkeypatch.setattr(sys, "breakpointhook", lambda: pdb.Pdb(stdout=out, nosigint=True).set_trace(sys._getframe(1)))
    with s2s.debug():
        gradient = s2s.grad(stopped)(np.ones(3), 3)
    shown = out.getvalue()
    assert "[3.0, 3.0, 3.0]" in shown and f"{2 * np.sin(2.0):.6f}"[:7] in shown
    np.testing.assert_allclose(gradient, 2 * np.sin(2.0) + 4 * np.cos(2.0))


def test_sources_in_a_block_have_every_variable():
    with s2s.debug():
        text = s2s.source(logarithms, X, 4)
    assert "total = total + " in text
    assert "total = total + " not in s2s.source(logarithms, X, 4)
    numba = s2s.differentiable(roots, backend="numba")
    with s2s.debug(), s2s.debug_nans():
        x = np.array([2.0, 3.0])
        expected = (x - 1.0) ** 0.5 + 0.5 * x / (x - 1.0) ** 0.5
        np.testing.assert_allclose(s2s.grad(numba)(x), expected)


def test_a_block_in_a_function_that_is_differentiated_is_refused():
    def f(x):
        with s2s.debug_nans():
            return x * x

    with pytest.raises(ArgumentError, match="put a block for debugging around the call of the derivative"):
        s2s.grad(f)(2.0)
