"""Histograms in compiled code, against NumPy: the same bin for every value, on edges too."""

import numpy as np
import pytest

import s2s

numba = pytest.importorskip("numba")
from s2s import runtime as rt  # noqa: E402
from s2s.backends.numba import histograms  # noqa: E402
from s2s.backends.numba.histograms import bin_of, histogram  # noqa: E402

RNG = np.random.default_rng(3)
VALUES = [
    RNG.normal(size=300), np.arange(100) * 0.1, np.round(RNG.normal(size=300), 1), np.array([3.0]), np.array([]),
    RNG.integers(0, 20, 100), RNG.normal(size=(20, 3)).T,
]
BINS = [1, 3, 10, 30, np.array([-2.0, -1.0, -0.5, 0.3, 0.3, 5.0])]


@numba.njit
def counted(a, bins):
    return histogram(a, bins)


@numba.njit
def weighed(a, bins, weights):
    return histogram(a, bins, weights=weights)


@numba.njit
def between(a, bins, low, high):
    return histogram(a, bins=bins, range=(low, high))


@numba.njit
def looked_up(x, edges, is_even):
    return bin_of(x, edges, is_even)


@pytest.mark.slow
@pytest.mark.grid(0.2)
@pytest.mark.parametrize("bins", BINS, ids=str)
def test_as_numpy(bins):
    for a in VALUES:
        weights = RNG.normal(size=a.shape)
        pairs = [(counted(a, bins), np.histogram(a, bins)),
                 (weighed(a, bins, weights), np.histogram(a, bins, weights=weights))]
        if isinstance(bins, int):
            pairs.append((between(a, bins, -1.0, 1.3), np.histogram(a, bins, range=(-1.0, 1.3))))
        for (found, edges), (expected, wanted) in pairs:
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
            np.testing.assert_array_equal(edges, wanted)
            assert found.dtype == expected.dtype
        is_even = isinstance(bins, int)
        np.testing.assert_array_equal(looked_up(a, wanted, is_even), rt.bin_of(a, wanted, is_even))


@pytest.mark.parametrize("bins", BINS, ids=str)
def test_as_numpy_where_python_runs_it(bins, monkeypatch):
    """What Numba compiles, chosen for the types, as it stands in Python."""
    for name in ("_even", "_uneven", "_even_edges"):
        monkeypatch.setattr(histograms, name, getattr(histograms, name).py_func)
    for a in VALUES:
        kinds = numba.typeof(a), numba.typeof(bins)
        weights = RNG.normal(size=a.shape)
        counts, sums = histograms._histogram(*kinds), histograms._histogram(*kinds, weights=numba.typeof(weights))
        pairs = [(counts(a, bins), np.histogram(a, bins)),
                 (sums(a, bins, weights=weights), np.histogram(a, bins, weights=weights))]
        if isinstance(bins, int):
            within = histograms._histogram(*kinds, range=numba.typeof((-1.0, 1.3)))
            pairs.append((within(a, bins, range=(-1.0, 1.3)), np.histogram(a, bins, range=(-1.0, 1.3))))
        for (found, edges), (expected, wanted) in pairs:
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
            np.testing.assert_array_equal(edges, wanted)
            assert found.dtype == expected.dtype
        is_even = isinstance(bins, int)
        places = histograms._bin_of(kinds[0], numba.typeof(wanted), numba.typeof(is_even))
        np.testing.assert_array_equal(places(a, wanted, is_even), rt.bin_of(a, wanted, is_even))
        outside = np.array([wanted[0] - 1e-9, wanted[0], wanted[-1], wanted[-1] + 1e-9])
        np.testing.assert_array_equal(places(outside, wanted, is_even), rt.bin_of(outside, wanted, is_even))
        with pytest.raises(ValueError):
            sums(a, bins, weights=np.ones(a.size + 1))


@pytest.mark.slow
@pytest.mark.parametrize("values, bins", [([np.nan, 1.0], 3), ([1.0, 2.0], 0), ([1.0], np.array([2.0, 1.0]))])
def test_what_numpy_refuses_raises(values, bins):
    with pytest.raises(ValueError):
        np.histogram(np.array(values), bins)
    with pytest.raises(ValueError):
        counted(np.array(values), bins)


@pytest.mark.slow
def test_gradient_of_means_by_bins():
    x, y = RNG.normal(size=50), RNG.normal(size=50)

    def means(y, x):
        totals = np.histogram(x, 5, weights=y * y)[0]
        return np.sum(totals / (1 + np.histogram(x, 5)[0]) * np.arange(5))

    gradient = s2s.grad(s2s.differentiable(means, backend="numba"))
    found = gradient(y, x)
    assert gradient.backend == "numba"
    counts, edges = np.histogram(x, 5)
    places = np.minimum(np.searchsorted(edges, x, side="right") - 1, 4)
    np.testing.assert_allclose(found, 2 * y * places / (1 + counts[places]), rtol=1e-12)
    tangent = s2s.jvp(s2s.differentiable(means, backend="numba"), (y, x), (np.ones(50), None))[1]
    np.testing.assert_allclose(tangent, np.sum(found), rtol=1e-12)
