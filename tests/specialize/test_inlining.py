"""Calls that are followed in place: how many in calls that are only tried out, and what comes out."""

import numpy as np
import pytest

import s2s
from s2s.builder.builder import Context
from s2s.core.values import Scalar
from s2s.pipeline import derivative_of
from s2s.specialize import outcomes
from s2s.specialize.specializer import Specializer


def one(n):
    return n + 1


def three(n):
    return one(n) + one(n + 1)


def with_passive_calls(x, n):
    return x * three(n) * three(1.0 * n)


def with_active_calls(x, n):
    return three(x) * one(x)


def specialised(fn):
    specializer = Specializer(Context(), sweeps=derivative_of)
    return specializer, specializer.specialize(fn, {"x": Scalar(float), "n": Scalar(int)}, {"x"})


@pytest.mark.parametrize("most, effort", [(1500, 4), (1, 2), (0, 1), (-1, 0)])
def test_calls_that_are_tried_out_are_counted_and_limited(most, effort, monkeypatch):
    monkeypatch.setattr(outcomes, "MOST_EFFORT", most)
    assert specialised(with_passive_calls)[0].effort == effort
    assert specialised(with_active_calls)[0].effort == 0


def test_a_specialised_function_has_its_parameters_in_a_tuple():
    _, made = specialised(with_passive_calls)
    assert isinstance(made.params, tuple) and [p.var.name for p in made.params] == ["x", "n"]
    assert made.captures == ()


def by_default(n=0):
    return by_default() + 1 if n else 2.0


def counting_down(n=3):
    return counting_down(n - 1) + 1.0 if n else 0.5


def without_arguments(n=2):
    return without_arguments(n=n - 1) + 1.0 if n else 0.5


@pytest.mark.parametrize("fn, is_known", [
    (lambda x: x * by_default(3), True), (lambda x: x * counting_down(), True),
    (lambda x: x * without_arguments(), False),
], ids=["by_default", "counting_down", "without_arguments"])
def test_what_a_function_gives_that_calls_itself_otherwise_is_known(fn, is_known):
    """Of one that calls itself with nothing once more, nothing is known: it may not come to an end."""
    gradient = s2s.grad(fn)
    assert gradient(2.0) == fn(1.0)
    assert ("rt.check_operand" not in gradient.source) == is_known


def buffer_of_three(n):
    return np.zeros(2 * n + 1)


def buffer_of_four(n):
    return np.zeros(3 * (2 * n + 1))


def buffer_of_five(n):
    return np.zeros(3 * (2 * n + 1) - 2)


def buffer_beside_what_is_not_needed(n):
    m = n + 7
    m = m * m - 3 * m
    return np.zeros(2 * n + 1)


@pytest.mark.parametrize("buffer, is_written", [
    (buffer_of_three, True), (buffer_of_four, True), (buffer_of_five, False), (buffer_beside_what_is_not_needed, True),
])
def test_a_call_that_makes_an_array_in_a_few_statements_is_written_where_it_stands(buffer, is_written):
    """So it is known that the array is a new one, which the function may change."""
    def f(x, n):
        a = buffer(n)
        return np.sum(a) + x * len(a)

    gradient = s2s.grad(f)
    assert gradient(0.5, 3) == len(buffer(3))
    code = [line for line in gradient.source.splitlines() if "#" not in line]
    assert any("np.zeros(" in line for line in code) == is_written
    assert any(f"{buffer.__name__}(n)" in line for line in code) == (not is_written)
