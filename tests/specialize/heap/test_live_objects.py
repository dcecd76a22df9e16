"""What is read of objects that the program finds: taken by value, or read at each call."""

import types

import numpy as np
import pytest
from scipy import interpolate

import s2s

SPLINE = interpolate.CubicSpline(np.arange(4.0), np.eye(4), axis=1)
OWN = types.SimpleNamespace(axis=1)
X = np.array([0.3, 0.7])


def of_library(x):
    return np.sum(x**2) * (SPLINE.axis + 2.0)


def of_program(x):
    return np.sum(x**2) * (OWN.axis + 2.0)


@pytest.mark.parametrize("f, is_read", [(of_library, False), (of_program, True)])
def test_numbers_of_library_objects_are_taken_by_value(f, is_read):
    code = [line for line in s2s.source(f, X).splitlines() if "#" not in line]
    assert any(".axis" in line for line in code) == is_read
    np.testing.assert_allclose(s2s.grad(f)(X), 6.0 * X)
