"""Directions for central differences."""

import numpy as np
import pytest

from s2s.recorded.differences import drawn_direction


@pytest.mark.parametrize("leaf", [
    2.0, np.float64(-3.0), 1.0 - 2.0j, np.array([2.0, -4.0, 0.0]), np.array([[1.0 + 1.0j], [3.0 - 4.0j], [0.0j]]),
])  # fmt: skip
def test_directions_are_in_proportion_to_the_argument(leaf):
    draws = np.random.default_rng(5)
    direction = drawn_direction(draws, leaf)
    size = np.abs(direction) / np.maximum(np.abs(leaf), 0.01)
    assert np.shape(direction) == np.shape(leaf) and np.all((size >= 0.5 - 1e-12) & (size <= 1.0 + 1e-12))
    assert isinstance(direction, np.ndarray) is isinstance(leaf, np.ndarray)
    if not np.iscomplexobj(leaf):
        assert not np.iscomplexobj(direction)
        return
    assert np.all(size < 1.0) and np.all(np.imag(direction) != 0.0) and np.all(np.real(direction) != 0.0)
    assert not np.array_equal(direction, drawn_direction(draws, leaf))
