"""Compiled code of what gives arrays of a rank that depends on lengths, or on a list that is read while it grows."""

import warnings

import numpy as np
import pytest

import s2s
from s2s import NumbaFallbackWarning
from tests.helpers import differences

pytest.importorskip("numba")

RNG = np.random.default_rng(8)


def turned(cameras, points):
    total = 0.0
    for i in range(len(points)):
        c, p = cameras[i], points[i] - cameras[i, 3:6]
        total += c[6] * np.sum(np.cross(c[:3], p)[:2] ** 2)
    return total


def along_axes(a, b):
    first = np.cross(a, b, axis=0)
    return np.sum(first * np.cross(b, a.T, axisa=0, axisb=-1, axisc=0)) + np.sum(np.linalg.cross(a.T, b[:, 0]) ** 2)


def stretched(a, b):
    return np.sum(np.cross(a[:, None], b) ** 2)


def chain(turns, parents):
    """Products of matrices along the way to each node of a tree."""
    ways = []
    for k in range(len(parents)):
        if parents[k] < 0:
            ways.append(turns[k])
        else:
            ways.append(ways[parents[k]] @ turns[k])
    total = 0.0
    for k in range(len(parents)):
        total += np.sum((ways[k] @ turns[0])[:1] ** 2)
    return total


CASES = {
    "slices of an argument": (turned, (RNG.normal(size=(4, 7)), RNG.normal(size=(4, 3)))),
    "axes": (along_axes, (RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4)))),
    "stretched": (stretched, (RNG.normal(size=(4, 3)), RNG.normal(size=(2, 3)))),
    "a list that is read while it grows": (chain, (RNG.normal(size=(5, 2, 2)), np.array([-1, 0, 0, 2, 1]))),
}


@pytest.mark.slow
@pytest.mark.grid(0.25)
@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize("case", CASES)
def test_what_ranks_depend_on_is_settled(backend, case):
    f, args = CASES[case]
    wanted = differences(lambda x: f(x, *args[1:]), args[0])
    tangent = np.cos(1.0 + args[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error", NumbaFallbackWarning)
        made = s2s.differentiable(f, backend=backend)
        value, gradient = s2s.value_and_grad(made)(*args)
        np.testing.assert_allclose(value, f(*args), rtol=1e-13)
        np.testing.assert_allclose(gradient, wanted, rtol=1e-7, atol=1e-8)
        along = s2s.jvp(made, args, (tangent, *(None for _ in args[1:])))[1]
        np.testing.assert_allclose(along, np.sum(tangent * wanted), rtol=1e-7)


def product(a, b):
    return np.sum(np.cross(a, b) ** 2)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
def test_vectors_of_other_lengths_have_a_version_of_their_own():
    gradient = s2s.grad(product, argnums=(0, 1))
    a, b = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])
    expected = 2 * np.cross(b, np.cross(a, b)), 2 * np.cross(np.cross(a, b), a)
    np.testing.assert_allclose(gradient(a, b), expected, rtol=1e-14)
    with pytest.raises((s2s.errors.NoDerivativeError, ValueError), match="vectors"):  # newer NumPy refuses them itself
        gradient(a, b[:2])
    np.testing.assert_allclose(gradient(a, b), expected, rtol=1e-14)


@pytest.mark.slow
@pytest.mark.filterwarnings("error::s2s.NumbaFallbackWarning")
@pytest.mark.parametrize("rank", [3, 2, 1])
def test_derivatives_of_determinants(rank):
    def loss(x):
        kept = []
        for k in range(3):
            kept.append(x + 0.1 * k * np.ones((3, 3)))
        return np.linalg.det(kept.pop()) + np.linalg.det(kept[0]) ** 2

    r = np.random.default_rng(1)
    x = r.normal(size=(3, rank)) @ r.normal(size=(rank, 3))
    found = s2s.grad(s2s.differentiable(loss, backend="numba"))(x)
    step = 1e-6
    for at in np.ndindex(3, 3):
        moved = np.zeros((3, 3))
        moved[at] = step
        assert np.isclose(found[at], (loss(x + moved) - loss(x - moved)) / (2 * step), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("offset", [-2, -1, 0, 1, 2, 3])
@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (-1, -2)])
def test_cotangents_of_diagonals(offset, axes):
    numba, ranks = pytest.importorskip("numba"), pytest.importorskip("s2s.backends.numba.ranks")
    x = RNG.normal(size=(2, 3))
    vector, matrix = (numba.types.Array(numba.types.float64, rank, "C") for rank in (1, 2))
    g = RNG.normal(size=np.diagonal(x, offset, *axes).size)
    wanted = np.zeros((2, 3))
    for moved in np.ndindex(2, 3):  # the derivative of a sum of elements
        unit = np.zeros((2, 3))
        unit[moved] = 1.0
        wanted[moved] = np.sum(np.diagonal(unit, offset, *axes) * g)
    back = ranks._diagonal_bar(vector, matrix, offset, *axes)
    np.testing.assert_array_equal(back(g, x, offset, *axes), wanted)
    same = back(np.ones(1), x, offset, *axes)
    np.testing.assert_array_equal(same, back(np.ones(g.size), x, offset, *axes))
    with pytest.raises(ValueError):
        back(np.ones(4), x, offset, *axes)
