"""Functions written for the ranks of their arguments give in compiled code what NumPy gives."""

import numba
import numpy as np
import pytest

from s2s import runtime as rt
from s2s.backends.numba import ranks
from tests.backends.numba import interpreted

RNG = np.random.default_rng(0)
MATRICES = [
    RNG.normal(size=(3, 5)), RNG.normal(size=(5, 3)), RNG.normal(size=(0, 3)), RNG.normal(size=(4, 4)) + 1j,
    np.arange(12).reshape(3, 4).T, RNG.normal(size=(8, 4))[::-2],
]  # fmt: skip


def result(function, *args):
    try:
        return function(*args)
    except ValueError:
        return None


@pytest.mark.grid(0.2)
@pytest.mark.parametrize("shapes", [
    ((3, 4), (3, 4), (3, 4)), ((3, 4), (), (4,)), ((), (3, 1), (1, 4)), ((4,), (3, 4), ()), ((0,), (1,), ()),
])  # fmt: skip
def test_where(shapes):
    compiled = numba.njit(lambda c, x, y: ranks.where(c, x, y))
    for change in (lambda a: a, lambda a: a[..., ::-1] if a.ndim else a, lambda a: a[:1] if a.ndim else a):
        given = [change(RNG.normal(size=shape)) for shape in shapes]
        given[0] = given[0] > 0.0
        given = [a if a.ndim else a.item() for a in given]
        assert np.array_equal(compiled(*given), np.where(*given))


@pytest.mark.parametrize("first, second, is_written", [
    ("f", "f", True), ("d", "d", True), ("F", "F", True), ("D", "D", True),
    ("d", "D", False), ("f", "d", False), ("l", "l", False), ("?", "?", False),
])
def test_systems_as_python(first, second, is_written, monkeypatch):
    """LAPACK is called at once for matrices and right sides of one type that it knows; Numba's own has the others."""
    calls, gesv = [], interpreted.LIBRARIES["numba_xgesv"]
    monkeypatch.setattr(interpreted, "_plain", {})
    monkeypatch.setitem(interpreted.LIBRARIES, "numba_xgesv", lambda *args: calls.append(args[0]) or gesv(*args))
    solve, rng = interpreted.plain(ranks.solve), np.random.default_rng(3)
    for n in (3, 1):
        a = np.eye(n) * 3 + rng.normal(size=(n, n)) if first in "fdFD" else np.tri(n)
        a, b = a.astype(first), rng.normal(size=(n, 2)).astype(second)
        for matrix in (a, a.T, a[::-1]):
            for right in (b, b[:, 0], b.T.copy().T, b[:, ::-1]):
                before, count = (matrix.copy(), right.copy()), len(calls)
                found, expected = solve(matrix, right), np.linalg.solve(matrix, right)
                np.testing.assert_allclose(found, expected, rtol=1e-5 if first in "fF" else 1e-12)
                assert found.dtype == expected.dtype
                np.testing.assert_array_equal(matrix, before[0])
                np.testing.assert_array_equal(right, before[1])
                assert len(calls) - count == is_written
    assert set(calls) <= {ord({"f": "s", "d": "d", "F": "c", "D": "z"}.get(first, "-"))}
    assert solve(a[:0, :0], b[:0]).shape == (0, 2)
    if is_written:
        with pytest.raises(ValueError):
            solve(np.ones((2, 3), first), np.ones(2, second))
        with pytest.raises(ValueError):
            solve(np.eye(2, dtype=first), np.ones((3, 1), second))
        monkeypatch.setitem(interpreted.LIBRARIES, "numba_xgesv", lambda *args: 2)
        monkeypatch.setattr(interpreted, "_plain", {})
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            interpreted.plain(ranks.solve)(np.eye(2, dtype=first), np.ones(2, second))
    stack = np.stack([np.eye(2, dtype=first)] * 2)
    count = len(calls)
    np.testing.assert_array_equal(solve(stack, np.ones((2, 2, 1), second)), np.ones((2, 2, 1)))
    assert len(calls) == count


@pytest.mark.slow
def test_where_of_other_types():
    compiled = numba.njit(lambda c, x, y: ranks.where(c, x, y))
    mask = np.array([True, False, True])
    for x, y in ((np.arange(3), 0.5), (np.float32([1, 2, 3]), np.arange(3.0)), (1j, np.arange(3)), (np.array(2.0), 1)):
        found, expected = compiled(mask, x, y), np.where(mask, x, y)
        assert np.array_equal(found, expected)
    for lengths in ((3, 2), (2, 3), (2, 2)):
        assert result(compiled, mask, *map(np.ones, lengths)) is None


@pytest.mark.slow
def test_triangles_and_transposes():
    compiled = numba.njit(lambda m, k: (ranks.tril(m, k), ranks.triu(m, k), ranks.transposed(m), ranks.adjoint(m)))
    for m in MATRICES:
        for k in range(-6, 7):
            expected = np.tril(m, k), np.triu(m, k), m.T, m.conj().T
            for found, wanted in zip(compiled(m, k), expected, strict=True):
                assert found.dtype == wanted.dtype
                assert np.array_equal(found, wanted)


@pytest.mark.slow
def test_diagonals():
    compiled = numba.njit(lambda g, x, offset, first, second: ranks.diagonal_bar(g, x, offset, first, second))
    for m in MATRICES[:3]:
        for offset in range(-3, 4):
            for axes in ((0, 1), (1, 0), (-2, -1), (-1, -2)):
                g = RNG.normal(size=np.diagonal(m, offset, *axes).shape)
                assert np.array_equal(compiled(g, m, offset, *axes), rt.diagonal_bar(g, m, offset, *axes))
                for length in (1, len(g) + 1):  # one number is that of all places
                    args = np.ones(length), m, offset, *axes
                    found, expected = result(compiled, *args), result(rt.diagonal_bar, *args)
                    assert (found is None) == (expected is None) == (length > 1)
                    assert found is None or np.array_equal(found, expected)
    stack, g = RNG.normal(size=(3, 4, 2)), RNG.normal(size=(2, 3))
    assert np.array_equal(compiled(g, stack, 0, 0, 1), rt.diagonal_bar(g, stack, 0, 0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [np.float64, np.complex128])
def test_systems(kind):
    compiled = numba.njit(lambda a, b: ranks.solve(a, b))
    for n in (3, 0, 5):
        a, b = RNG.normal(size=(n, n)).astype(kind), RNG.normal(size=(n, 2)).astype(kind)
        for matrix in (a, a.T, np.concatenate((a, a))[::2][:n]):
            if n and abs(np.linalg.det(matrix)) < 1e-9:
                continue
            before = matrix.copy(), b.copy()
            for right in (b, b[:, 0], b.T.copy().T, b[:, ::-1]):
                assert np.allclose(compiled(matrix, right), np.linalg.solve(matrix, right), rtol=1e-9)
            assert np.array_equal(matrix, before[0])
            assert np.array_equal(b, before[1])
    with pytest.raises(np.linalg.LinAlgError):
        compiled(np.zeros((2, 2), kind), np.ones(2, kind))
    for wrong in ((np.ones((2, 3), kind), np.ones(2, kind)), (np.eye(2).astype(kind), np.ones((3, 1), kind))):
        assert result(compiled, *wrong) is None
    assert np.isnan(compiled(np.array([[np.nan, 1], [0, 1]], kind), np.ones(2, kind))).any()
