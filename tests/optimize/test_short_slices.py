"""Cotangents of short slices in loops over elements: as long as the bounds say, which is tested when the text runs."""

import numpy as np
import pytest

import s2s
from tests.fuzz.check import loops_by_python
from tests.helpers import differences
from tests.optimize.test_element_loops import looped
from tests.optimize.test_passes import load

X = np.linspace(0.1, 0.7, 7)


def of_part(part, w="[1.0, 2.0, 3.0]"):
    """A sum over a part of an array that meets a short array of known length."""
    return load(f"def f(x, k):\n    u = np.sin({part}) * np.array({w})\n    return np.sum(u * u)\n")


@pytest.mark.parametrize(
    ("part", "w"),
    [
        ("x[3:6]", "[1.0, 2.0, 3.0]"), ("x[:3]", "[1.0, 2.0, 3.0]"), ("x[0:3]", "[1.0, 2.0, 3.0]"),
        ("x[1:4:1]", "[1.0, 2.0, 3.0]"), ("x[slice(2, 5)]", "[1.0, 2.0, 3.0]"), ("x[5:7]", "[1.0, 2.0]"),
        ("x[3:6][1:3]", "[1.0, 2.0]"), ("x[::2][2:4]", "[1.0, 2.0]"),
    ],
)  # fmt: skip
def test_a_slice_as_long_as_its_bounds_say_takes_the_cotangent_as_it_is(part, w):
    text = looped(of_part(part, w), X, 1)
    assert f"rt.check_lengths({w.count(',') + 1}, " in text and "rt.unbroadcast(" not in text


@pytest.mark.parametrize("part", ["x[k:k + 3]", "x[k:4]", "x[1:k + 3]", "x[0:6:2]", "x[1:7:k + 1]"])
def test_a_slice_with_another_step_or_with_bounds_of_the_call_is_asked_for_its_length(part):
    assert "rt.unbroadcast(" in looped(of_part(part), X, 1)


@pytest.mark.parametrize("part", ["x[1:2]", "x[6:9]"])
def test_a_slice_of_one_number_is_stretched_by_the_text_of_numpy(part):
    looped(of_part(part), X, 1, ends=False)


def test_where_the_array_cuts_the_slice_off_the_text_of_numpy_runs():
    f = of_part("x[3:6]")
    with loops_by_python() as ran:
        gradient = s2s.grad(s2s.differentiable(f, backend="numba"))
        for n in (7, 4, 6):
            wanted = differences(lambda v: f(v, 1), X[:n])
            np.testing.assert_allclose(gradient(X[:n], 1), wanted, rtol=1e-7, atol=1e-8)
        with pytest.raises(ValueError, match="broadcast"):
            gradient(X[:5], 1)
    assert ran == [True, False, True, False]
