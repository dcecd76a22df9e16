"""What compiled code hands to Python and gets from it: the numbers of NumPy and of central differences.

Nothing falls back: neither when compiling nor in a call.
"""

import math
import warnings

import numpy as np
import pytest

import s2s
from s2s import NumbaFallbackWarning
from tests.helpers import differences

pytest.importorskip("numba")

import numba
from numba import types
from numba.core.errors import TypingError

from s2s.backends.numba import by_python
from s2s.backends.numba.compiler import Wrapped

rng = np.random.default_rng(7)
M, V = rng.normal(size=(3, 5)), rng.normal(size=5)


@pytest.fixture
def no_fallback(monkeypatch):
    def again(self, raised, *values):
        raise AssertionError("runs as Python") from raised

    monkeypatch.setattr(Wrapped, "again", again)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NumbaFallbackWarning)
        yield


def check(f, x):
    value, gradient = s2s.value_and_grad(s2s.differentiable(f, backend="numba"))(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    np.testing.assert_allclose(gradient, s2s.grad(f)(x), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(gradient, differences(f, x), rtol=1e-6, atol=1e-7)


def constants(v):
    """Classes, dtypes and None among the arguments of calls that Python makes; an axis that is a variable there."""
    lower = np.where(np.tri(5, dtype=bool), np.outer(v, v), 0.0)
    falling = np.cumsum(v[np.argsort(V)]) / np.sum(v)
    steps = np.diff(v**2, prepend=0.0)
    repeated = np.repeat(v[:2], 7) @ np.repeat(steps[1:3], 7)
    return np.sum(lower**2) + np.linspace(0.0, 1.0, 5, dtype=float) @ falling**2 + repeated


def transforms(v):
    """The same function of a rule at two lines, where Numba stops."""
    for _ in range(2):
        slope = np.fft.irfft(1j * np.arange(3) * np.fft.rfft(v), 5)
        v = v - 0.1 * np.fft.irfft(np.fft.rfft(v * slope) / 2.0, 5)
    return np.sum(v**3)


def lists(a):
    """Lists that are handed to Python, and those that it gives, which have more items than any example."""
    state, kept = np.zeros((3, 2)), []
    for t in range(4):
        z = np.concatenate([a[:, t : t + 2], state], axis=1)
        left, right = np.split(z, 2, axis=1)
        state = np.tanh(left) * right + 0.5 * state
        kept.append(state)
    return np.sum(np.stack(kept, axis=0) ** 2)


def traces(a):
    """The cotangent of a diagonal has one element."""
    made = np.linalg.solve(3.0 * np.eye(3) + 1j * a[:, :3], np.eye(3) + 0j)
    return np.real(np.trace(made @ made.conj().T))


def edges(a):
    """A rule that would make many calls in Python is one call; methods of ufuncs."""
    padded = np.pad(a, 1, mode="edge")
    chosen = np.select([a[0] < 0, a[1] < 1], [np.exp(a[0]), 1 + a[1]], default=2.0)
    return np.sum(padded[1:4, 2:] * padded[:3, 2:]) + np.sum(chosen * np.logical_or.reduce([a[1] < 0.5, a[2] < 0.0]))


def statements(a):
    """Statements that Python runs: what they give is known only when they run, and they write to arrays."""
    spread = np.vectorize(math.erf)(a[0] / 2.0)
    block = np.block([[a[:2, :2], a[:2, 2:4]], [a[1:, :2], a[1:, 2:4]]])
    return np.sum(spread**2) + np.sum(block @ block) + np.cov(a[1], a[2])[0, 1]


def masked(a):
    """Masks of two dimensions, of arrays that lie in order and of others."""
    low = a < 0.3
    z = a * 2.0
    z[low] = z[low] ** 2 - 1.0
    z[z > 1.5] = 0.25
    turned = (a * a).T
    turned[low.T] += a.T[low.T] * 3.0
    return np.sum(z**3) + np.sum(turned**2)


def mixed_products(v):
    """Matrices of floats with vectors of complex numbers."""
    h = np.outer(v, v) + np.eye(5)
    psi = v + 0.5j
    for _ in range(3):
        psi = psi - 0.1j * (h @ psi)
    return np.vdot(psi, h @ psi).real + np.abs(psi[0]) ** 2


@pytest.mark.slow
@pytest.mark.parametrize(("f", "x"), [
    (constants, V), (transforms, V), (lists, M), (traces, M), (edges, M), (statements, M), (masked, M),
    (mixed_products, V),
])
def test_whole_functions_are_compiled(f, x, no_fallback):
    check(f, x)


@pytest.mark.slow
def test_what_python_raises_reaches_the_caller():
    gradient = s2s.grad(s2s.differentiable(lambda a, n: np.sum(np.split(a, n)[0] ** 2), backend="numba"))
    np.testing.assert_allclose(gradient(np.ones(6), 3), [2.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="equal division"):
        gradient(np.ones(6), 4)


def test_results_of_another_kind_in_another_call(monkeypatch):
    runs, again = [], Wrapped.again
    monkeypatch.setattr(Wrapped, "again", lambda self, raised, *v: runs.append(type(raised)) or again(self, raised, *v))
    gradient = s2s.grad(s2s.differentiable(lambda a, n: np.sum(np.squeeze(a[:n]) ** 2), backend="numba"))
    np.testing.assert_allclose(gradient(V, 3), [*2.0 * V[:3], 0.0, 0.0])
    np.testing.assert_allclose(gradient(V, 2), [*2.0 * V[:2], 0.0, 0.0, 0.0])
    assert not runs
    np.testing.assert_allclose(gradient(V, 1), [2.0 * V[0], 0.0, 0.0, 0.0, 0.0])
    assert runs == [TypeError]


def test_types_by_examples():
    array, calls = types.Array(types.float64, 1, "C"), []

    def call(value):
        calls.append(np.size(value))
        return value * 2.0

    assert by_python._result_type(np.sin, call, (array,), True) == array
    assert calls == [1, 2, 3]
    calls.clear()
    many = by_python._result_type(np.sin, lambda *x: call(x[1]), (types.List(array), array), True)
    assert many == array and len(calls) > 3
    with pytest.raises(TypingError, match="known only when it runs"):
        by_python._result_type(np.sin, lambda value: object(), (array,), True)
    with pytest.raises(TypingError, match="no result"):
        by_python._result_type(np.sin, lambda value: 1 / 0, (array,), True)


@pytest.mark.parametrize("dtype", [types.float64, types.float32, types.complex128, types.int64, types.boolean])
@pytest.mark.parametrize("rank", range(4))
def test_examples_are_numbers_that_most_functions_take(rank, dtype):
    """Vectors of numbers that differ; matrices, and those of stacks, that are symmetric and positive definite."""
    kind = types.Array(dtype, rank, "C")
    for size in range(1, 4):
        made = by_python._example(kind, iter([size]))
        assert made.shape == (size,) * rank and numba.typeof(made).dtype == dtype
        if dtype in (types.int64, types.boolean):
            assert not made.any()
        elif rank == 1:
            assert np.unique(made).size == size and (made.real > 0.0).all()
        elif rank >= 2:
            np.testing.assert_array_equal(made, np.swapaxes(made, -1, -2))
            assert np.isfinite(np.linalg.cholesky(made)).all()
            values = np.linalg.eigvalsh(made)
            assert (values > 0.5).all() and (np.diff(values, axis=-1) > 0.1).all()  # which have derivatives


@pytest.mark.parametrize("function", [np.reshape, np.broadcast_to])
def test_ranks_that_a_shape_tells(function):
    dynamic = by_python.DYNAMIC
    array = types.Array(types.float64, 2, "C")
    for args, keywords, kinds, rank in [
        ((dynamic, (2, 3, 4)), {}, (array,), 3), ((dynamic, 6), {}, (array,), 1), ((dynamic, [6]), {}, (array,), 1),
        ((dynamic,), {"shape": (6, 1)}, (array,), 2),
        ((dynamic, dynamic), {}, (array, types.UniTuple(types.int64, 3)), 3),
        ((dynamic, dynamic), {}, (array, types.int64), 1),
    ]:  # fmt: skip
        assert by_python._known_type(function, args, keywords, kinds) == types.Array(types.float64, rank, "A")
    assert by_python._known_type(function, (dynamic, dynamic), {}, (array, array)) is None
    assert by_python._known_type(function, (2.0, (1, 2)), {}, (types.float64,)) is None
    assert by_python._known_type(np.sum, (dynamic, 2), {}, (array,)) is None


COUNT = 0


def test_what_python_runs_for_its_types_is_done_once(monkeypatch):
    def f(x):
        global COUNT
        COUNT += 1
        return np.sum(x**3) * COUNT

    monkeypatch.setitem(globals(), "COUNT", 0)
    gradient, x = s2s.grad(s2s.differentiable(backend="numba")(f)), np.array([0.7, 1.3])
    for calls in (1, 2, 3):
        np.testing.assert_allclose(gradient(x), 3.0 * calls * x**2)
        assert COUNT == calls
