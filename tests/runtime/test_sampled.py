"""Bins and pieces that values are in."""

import numpy as np
import pytest

from s2s import runtime as rt


@pytest.mark.parametrize("count", [1, 7, 50])
def test_values_are_in_the_bins_of_a_histogram(count, rng):
    """Each value alone, counted by NumPy; at the edges and beside them too."""
    edges = np.histogram_bin_edges([-1.3, 2.9], count)
    beside = [np.nextafter(edges, side) for side in (-np.inf, np.inf)]
    values = np.concatenate([edges, *beside, rng.uniform(-2.0, 4.0, 40), [np.nan, np.inf, -np.inf, 0.0]])
    for is_even, among in ((True, edges), (False, edges), (False, np.sort(rng.uniform(-1.0, 2.0, count + 1)))):
        found = rt.bin_of(values, among, is_even)
        for value, place in zip(values, found, strict=True):
            counts = np.histogram([value] if np.isfinite(value) else [], among)[0]
            assert (place == -1 and not counts.any()) or counts[place] == 1


def test_bins_of_lists_and_integers():
    assert rt.bin_of([[0, 3], [4, 9]], np.array([0.0, 2.0, 4.0]), True).tolist() == [[0, 1], [1, -1]]
