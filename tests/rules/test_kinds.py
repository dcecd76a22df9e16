"""Dtypes of two kinds in one call, and functions that are constant for reals and not for complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2s
from tests.rules.cases import pair


@pytest.mark.parametrize("first, second", [(np.float32, np.float64), (np.float16, np.float32), (np.float32, np.int64)])
@pytest.mark.parametrize("fn", [np.add, np.multiply, np.arctan2, np.matmul, np.power, np.maximum])
def test_mixed_dtypes_are_promoted_as_numpy_does(fn: Any, first: Any, second: Any) -> None:
    a, b = np.array([[0.5, 1.5], [2.0, 0.25]], first), np.array([[1, 2], [3, 4]], second)
    out, pullback = s2s.vjp(mixed, fn, a, b)
    assert out.dtype == fn(a, b).dtype
    _, a_bar, b_bar = pullback(np.ones_like(out))
    assert a_bar.dtype == a.dtype
    assert b_bar is None or b_bar.dtype == b.dtype


def mixed(fn: Any, a: Any, b: Any) -> Any:
    return fn(a, b)


@pytest.mark.parametrize("fn, at, wanted", [
    (np.sign, 3.0 + 4.0j, None), (np.angle, 3.0 + 4.0j, None), (np.abs, 3.0 + 4.0j, None), (np.round, 1.2 + 2.3j, "1"),
    (np.real_if_close, 1.0 + 2.0j, "1"),
])
def test_what_is_constant_for_reals_and_not_for_complex_numbers(fn: Any, at: Any, wanted: Any) -> None:
    """Along the real and the imaginary axis, against differences or the slope of the policy."""
    for direction in (1.0 + 0.0j, 1.0j):
        expected = direction if wanted else (fn(at + 1e-6 * direction) - fn(at - 1e-6 * direction)) / 2e-6
        found = s2s.jvp(lambda z: fn(z), (np.array([at]),), (np.array([direction]),))[1]
        np.testing.assert_allclose(found, [expected], rtol=1e-8, atol=1e-9)
        _, pullback = s2s.vjp(lambda z: fn(z), np.array([at]))
        cotangent = np.array([0.3 - 0.7j]) if np.iscomplexobj(expected) else np.array([0.3])
        assert pair(pullback(cotangent)[0], [direction]) == pytest.approx(pair(cotangent, [expected]), abs=1e-8)
