"""Additions at places of arrays of Dask: a new array each. Beside NumPy and central differences."""

from contextlib import nullcontext

import numpy as np
import pytest

import s2s
from s2s import pipeline
from s2s.errors import UnsupportedSyntaxError
from tests.arrays.test_graphs_stored import computed, graph
from tests.helpers import differences
from tests.optimize.test_passes import load

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


PROGRAMS = {
    """
    y = np.zeros(6)
    y[0] = x[0]
    for k in range(1, 6):
        y[k] = y[k - 1] * x[k] + 1.0
    """: 2,
    """
    y, z = x.copy(), np.ones(12)
    for k in range(1, 6):
        if x[k] > 0.0:
            y[k] *= z[k - 1]
        z[k] += np.sin(y[k])
        for j in range(k):
            z[j] -= y[j] * x[k]
    y[:] *= z
    """: 4,
    """
    y, k = x * 2.0, 0
    y[0] = np.sin(x[2])
    while k < 5 and y[k] < 3.0:
        y[k + 1] = y[k] * x[k] + 0.5
        k += 1
    """: 2,
    """
    y = x * 2.0
    for k in range(5):
        y[k + 1] += y[k] * x[k]
        if y[k] > 0.7:
            break
    y[...] = y * x
    """: 2,
    """
    y = x * 2.0
    if y[0] > 0.1:
        y[1:3] = x[3:5] * y[1:3]
    else:
        y[2] = 0.0
        y[3] *= y[2]
    y[4] = y[2] * x[0]
    """: 4,
    """
    y = x * 2.0
    with np.errstate(all="ignore"):
        y[1] = y[0] * x[1]
        y[2:] /= x[2]
    y[0] *= y[1]
    """: 3,
    """
    y, z = x * 2.0, x * 3.0
    for k in range(4):
        y, z = z, y
        y[k] = x[k] * z[k]
    y = y * z
    """: 1,
    """
    y, v = x * 2.0, x * 3.0
    u = np.sum(v[1:])
    v[[0, 1, 0]] = x[:3]
    v[x > 0.0] = u
    y = y * v
    """: 2,
}
"""What becomes of an array, and how many of its stores make a new one."""


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("body", PROGRAMS)
def test_stores_in_loops_branches_and_blocks_as_new_arrays_of_numpy(monkeypatch, body, sign):
    f, x = load(f"def f(x):{body}return np.sum(y**2)\n"), sign * X
    expected = differences(f, x)
    monkeypatch.setattr(pipeline, "has_memory", lambda kind: False)
    assert s2s.source(f, x).partition("# reverse sweep")[0].count("rt.updated(") == PROGRAMS[body]
    value, bar = s2s.value_and_grad(f)(x)
    np.testing.assert_allclose(bar, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (np.cos(x),)), [f(x), expected @ np.cos(x)], rtol=1e-6)
    np.testing.assert_allclose(value, f(x), rtol=1e-13)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("v = y[1:]\n    y[2] = 3.0\n    y = y[0] * v", "another name for its memory"),
        ("v = y[1:]\n    u = np.sum(v)\n    y[2] = u", None),
        ("v = y\n    y[2] = 3.0\n    y = v * x", None),
        ("v = y[3]\n    y[3] = 3.0\n    y = y * v", None),
        ("v = y[1:]\n    for k in range(3):\n        y[0] += np.sum(v)\n        y[k] = x[k]", "another name"),
        ("y[1:][0] = x[0]", "another name"),
        ("try:\n        y[2] = x[0]\n    except ValueError:\n        pass", "that is in a `try`"),
        ("try:\n        z = x[0]\n    except ValueError:\n        z = 1.0\n    y[2] = z", None),
        ("y = np.zeros(12, dtype=int)\n    y[0] = x[0]\n    y = y * x", None),
    ],
)  # fmt: skip
def test_what_would_show_under_another_name_is_refused(monkeypatch, body, says):
    monkeypatch.setattr(pipeline, "has_memory", lambda kind: False)
    f = load(f"def f(x):\n    y = x * 2.0\n    {body}\n    return np.sum(y**2)\n")
    with nullcontext() if says is None else pytest.raises(UnsupportedSyntaxError, match=f"{says}.*S2S146"):
        s2s.source(f, X)


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
