"""Bottleneck's compiled functions, which are differentiated as the same ones in Python."""

import bottleneck as bn
import numpy as np
import pytest

import s2s

ROWS = np.random.default_rng(0).normal(size=(4, 6))
MISSING = np.zeros((4, 6), bool)
MISSING[1, 2] = MISSING[3, 0] = True


def with_gaps(x):
    return np.where(MISSING, np.nan, x)


def replaced(x):
    y = x * 1.0
    bn.replace(y, y[0, 0], 2.0)
    return np.sum(y**2)


FUNCTIONS = {
    **{
        name: lambda x, fn=getattr(bn, name): np.sum(fn(with_gaps(x), axis=1) ** 2)
        for name in ("nansum", "nanmean", "nanstd", "nanvar", "nanmin", "nanmax", "nanmedian")
    },
    **{
        name: lambda x, fn=getattr(bn, name): bn.nansum(fn(x, 3, min_count=3, axis=0) ** 2)
        for name in ("move_sum", "move_mean", "move_std", "move_var", "move_min", "move_max", "move_median")
    },
    "nanmean of all": lambda x: bn.nanmean(with_gaps(x)) ** 2,
    "nanstd with ddof": lambda x: np.sum(bn.nanstd(with_gaps(x), axis=0, ddof=1)),
    "median": lambda x: np.sum(bn.median(x, axis=0) ** 2),
    "ss": lambda x: np.sum(bn.ss(x, axis=1) * x[:, 0]),
    "push": lambda x: bn.nansum(bn.push(with_gaps(x)) ** 2),
    "tests": lambda x: np.sum(x**2) if bn.anynan(with_gaps(x)) and not bn.allnan(x) else 0.0,
    "replace": replaced,
}


def differences(f, x, h=1e-6):
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = h
        found[place] = (f(x + step) - f(x - step)) / (2.0 * h)
    return found


@pytest.mark.grid(0.5)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", ["0", "1", "always"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name, mode, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", mode)
    f = FUNCTIONS[name]
    expected = differences(f, ROWS)
    np.testing.assert_allclose(s2s.grad(f)(ROWS), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(s2s.jvp(f, (ROWS,), (np.cos(ROWS),))[1], np.sum(expected * np.cos(ROWS)), rtol=1e-6)
