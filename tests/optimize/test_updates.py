"""Additions at places of arrays of Dask: a new array each. Beside NumPy and central differences."""

import numpy as np
import pytest

import s2s
from s2s import pipeline
from tests.arrays.test_graphs_stored import computed, graph
from tests.helpers import differences

X = np.random.default_rng(97).normal(size=12)


def added(x):
    y = x * 2.0
    np.add.at(y, [0, 1, 0], x[:3] ** 2)
    np.subtract.at(y, [2, 2], x[3:5] ** 2)
    y[4] = y[0] * y[2]
    y[5:7] *= x[:2]
    return np.sum(y**2)


@pytest.mark.slow
def test_additions_at_places():
    text, x = s2s.source(added, graph(X)), graph(X)
    assert text.count("y = rt.increased(y, ") == 2 and text.count("y = rt.updated(y, ") == 2
    bar, tangent = s2s.grad(added)(x), s2s.jvp(added, (x,), (graph(np.cos(X)),))
    expected = differences(added, X)
    np.testing.assert_allclose(computed(bar), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose([*map(computed, tangent)], [added(X), expected @ np.cos(X)], rtol=1e-6)


def added_in_place(x):
    y = x * 2.0
    np.add.at(y, [0, 1, 0], x[:3] ** 2)
    np.subtract.at(y, [2, 2], x[3:5] ** 2)
    y[5:7] *= x[:2]
    return np.sum(y**2)


def test_additions_at_places_as_new_arrays_of_numpy(monkeypatch):
    """As if NumPy's arrays were graphs: no need of Dask to see what becomes of each store."""
    monkeypatch.setattr(pipeline, "has_memory", lambda kind: False)
    text = s2s.source(added_in_place, X)
    assert text.count("y = rt.increased(y, ") == 2 and text.count("y = rt.updated(y, ") == 1
    expected = differences(added_in_place, X)
    np.testing.assert_allclose(s2s.grad(added_in_place)(X), expected, rtol=1e-6, atol=1e-7)
    tangent = s2s.jvp(added_in_place, (X,), (np.cos(X),))
    np.testing.assert_allclose(tangent, [added_in_place(X), expected @ np.cos(X)], rtol=1e-6)
