"""Compiled code raises at one place, which frees what is there then."""

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python as runtime
from numba.core.runtime import rtsys

import s2s
from s2s.backends.numba.exits import Pipeline


@pytest.fixture
def freed():
    """What is left of the memory that a function took in some calls: how many pieces were taken, how many are left."""
    was_enabled = runtime.memsys_stats_enabled()

    def count(call):
        runtime.memsys_enable_stats()
        before = rtsys.get_allocation_stats()
        for _ in range(3):
            call()
        after = rtsys.get_allocation_stats()
        taken = after.mi_alloc - before.mi_alloc
        return taken, taken - (after.mi_free - before.mi_free)

    yield count
    if not was_enabled:
        runtime.memsys_disable_stats()


def many(x, n, where):
    kept = []
    a = x + 1.0
    if n == where:
        raise RuntimeError()
    for k in range(n):
        b = a * k
        kept.append(b)
        if k == where:
            raise RuntimeError()
    c = np.zeros(3)
    if where < 0:
        raise RuntimeError()
    d = (c, a)
    if where > 100:
        raise ValueError("above")
    return d[0].sum() + kept[-1].sum()


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("where", [4, 0, 2, -1, 101, 50])
def test_what_is_there_is_freed_once(freed, where):
    made = numba.njit(pipeline_class=Pipeline)(many)
    raised = {50: None, 101: ValueError}.get(where, RuntimeError)
    x = np.ones(5)

    def call():
        if raised is None:
            assert made(x, 4, where) == many(x, 4, where)
            return
        with pytest.raises(raised):
            made(x, 4, where)

    call()
    taken, left = freed(call)
    assert taken > 0
    assert left == 0


def test_one_block_raises():
    compiled = numba.njit(pipeline_class=Pipeline)(many)
    compiled.compile((numba.float64[::1], numba.int64, numba.int64))
    plain = numba.njit(many)
    plain.compile((numba.float64[::1], numba.int64, numba.int64))
    assert len(next(iter(compiled.inspect_llvm().values()))) < len(next(iter(plain.inspect_llvm().values())))


@pytest.mark.slow
def test_lengths_that_differ_leave_nothing_behind(freed):
    def loss(x, y, w):
        a = w @ x
        b = np.sin(a)
        for _ in range(3):
            b = w @ np.sin(b)
        return np.sum(b * y * a)

    gradient = s2s.grad(s2s.differentiable(loss, backend="numba"), argnums=(0, 1, 2))
    x, w = np.linspace(0.0, 1.0, 6), np.eye(6) + 0.1
    found = gradient(x, x, w)
    expected = s2s.grad(loss, argnums=(0, 1, 2))(x, x, w)
    assert all(np.allclose(a, b, rtol=1e-12) for a, b in zip(found, expected, strict=True))

    def call():
        with pytest.raises(ValueError, match="broadcast"):
            gradient(x, np.ones(5), w)

    taken, left = freed(call)
    assert taken > 0
    assert left == 0
