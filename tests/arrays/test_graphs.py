"""Arrays of Dask, which are graphs: programs stay lazy, in both modes, and what is not refused is right."""

import numpy as np
import pytest

import s2s
from tests.arrays import programs
from tests.helpers import Later

dask, da = Later("dask"), Later("dask.array")

rng = np.random.default_rng(0)
X, y, v, w, W = (rng.normal(size=shape) for shape in ((60, 4), 60, 60, 4, (4, 3)))


def ridge(w, X, y):
    return np.sum((X @ w - y) ** 2) + 0.1 * np.sum(w * w)


def cross_entropy(W, X, y):
    z = X @ W
    m = z.max(axis=1, keepdims=True)
    return np.mean(np.log(np.exp(z - m).sum(axis=1)) + m[:, 0] - z[:, 0] * y)


def huber(x):
    return np.sum(np.where(np.abs(x) < 1, 0.5 * x * x, np.abs(x) - 0.5))


def standardized(x):
    z = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-3)
    return np.sum(np.tanh(z) ** 3) + np.linalg.norm(x)


def differences(x):
    return np.sum(np.diff(x) ** 2) + np.sum(x[1:] * x[:-1])


def contracted(x, W):
    return np.sum(np.einsum("ij,jk->ik", x, W) ** 2) + np.sum(np.tensordot(x, W, axes=1) ** 3)


def joined(x):
    return np.sum(np.concatenate([x * 2, x[:30]]) ** 2) + np.sum(np.stack([x, x**2], axis=1))


def repeated(x):
    z = x
    for i in range(4):
        z = np.sin(z) + 0.1 * i * x
    return np.mean(z * z)


def extremes(x):
    return np.sum(np.minimum(x, 0.5) * np.maximum(x, -0.5)) + x.max() - x.min() + np.sum(np.clip(x, -1, 1) ** 2)


def cumulated(x):
    return np.sum(np.cumsum(x) ** 2) + np.sum(np.cumprod(1 + 0.01 * x)) + np.prod(1 + 0.01 * x)


def normal_equations(x):
    return np.sum(np.linalg.solve(x.T @ x + np.eye(4), x.T @ np.ones(60)))


def factors(x):
    q, r = np.linalg.qr(x)
    return np.sum(r**2) + np.sum(np.linalg.svd(x, full_matrices=False)[1])


def padded(x):
    return np.sum(np.pad(x, 2)[:-1] ** 2) + np.sum(np.roll(x, 3) * x) + np.sum(x[::-1] * x * np.arange(60.0))


def broadcasted(x, w):
    return np.sum((x - w[None, :]) ** 2 * w) + np.sum(np.outer(x[:5, 0], w)) + np.sum(np.broadcast_to(w, (2, 4)))


LAZY = [(ridge, (w, X, y)), (cross_entropy, (W, X, y)), (huber, (v,)), (standardized, (X,)), (differences, (v,)),
        (contracted, (X, W)), (joined, (v,)), (repeated, (v,)), (extremes, (v,)), (cumulated, (v,)),
        (normal_equations, (X,)), (factors, (X,)), (padded, (v,)), (broadcasted, (X, w))]


def graph(array):
    chunks = (20, *array.shape[1:]) if len(array) == 60 else array.shape
    return da.from_array(array.copy(), chunks=chunks)


def refuse(graph, keys, **options):
    raise AssertionError("something was computed")


@pytest.mark.grid(0.5)
@pytest.mark.parametrize(("f", "args"), LAZY, ids=[f.__name__ for f, _ in LAZY])
def test_programs_stay_lazy_in_both_modes(f, args):
    graphs, along = [graph(x) for x in args], [np.cos(x) for x in args]
    with dask.config.set(scheduler=refuse):
        bars = s2s.grad(f, tuple(range(len(args))))(*graphs)
        value, dot = s2s.jvp(f, tuple(graphs), tuple(map(graph, along)))
    with dask.config.set(scheduler="synchronous"):
        bars, dot = [bar.compute() for bar in bars], float(dot)
    step = 1e-6
    ends = [f(*[x + sign * step * d for x, d in zip(args, along)]) for sign in (1, -1)]
    expected = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(dot, expected, rtol=2e-6, atol=1e-7)
    np.testing.assert_allclose(sum(np.sum(b * d) for b, d in zip(bars, along)), dot, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.grid(0.25)
@pytest.mark.parametrize("part", range(4))
def test_samples_of_the_rules_are_right_or_refused(part):
    """Nothing that a rule stores into a view, or has a function write there, is lost without a word."""
    def moved(value):
        return programs.mapped(value, lambda leaf: da.from_array(leaf.copy(), chunks=leaf.shape) if (
            isinstance(leaf, np.ndarray) and leaf.ndim) else leaf)

    def found(value):
        return programs.leaves(programs.mapped(value, lambda x: x.compute() if hasattr(x, "compute") else x))

    right = 0
    with dask.config.set(scheduler="synchronous"):
        for program in [*programs.from_rules(1)][part::4]:
            args = programs.mapped(program.args, lambda x: x.copy() if isinstance(x, np.ndarray) else x)
            cotangent = programs.directions(program.f(*args), 3)
            try:
                wanted = programs.reverse(program, program.args, cotangent)[1]
                bars = found(programs.reverse(program, moved(program.args), moved(cotangent))[1])
            except Exception:  # what Dask, or s2s, refuses
                continue
            for bar, want in zip(bars, programs.leaves(wanted), strict=True):
                if want is not None:
                    np.testing.assert_allclose(bar, want, rtol=1e-7, atol=1e-9, err_msg=program.name)
            right += 1
    assert right > 25
