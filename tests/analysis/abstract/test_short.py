"""Lengths of results hold for short arrays too: those that examples of usual lengths do not show."""

import linecache

import numpy as np
import pytest

import s2s

PROGRAMS = [
    "len(x[-3:]) * np.sum(x)", "x[-3:].shape[0] * np.sum(x)", "np.sum(np.mean(np.outer(x, x)[-3:], axis=0))",
    "sum(v * v for v in x[-3:])", "len(x[::2][-2:]) * np.sum(x)", "np.mean(x[-3:] ** 2)",
    "np.sum(x[-4:-2]) * len(x[-4:-2])",
    "len(x[3:]) * np.sum(x)", "x[2:-2].size * np.sum(x)", "len(x[len(x) - 3:]) * np.sum(x)", "len(x[:3]) * np.sum(x)",
    "np.concatenate([x, x[:1]])[-3:].size * np.sum(x)", "np.cumsum(x)[-3:].size * np.sum(x)",
    "x[1:][-3:].size * np.sum(x)",
    "np.convolve(x, np.ones(4), 'same').sum()", "np.mean(np.convolve(x, np.ones(3), 'same'))",
    "np.convolve(x, np.ones(3), 'valid').size * np.sum(x)", "np.sum(np.convolve(x[:-1], np.ones(3), 'same'))",
    "np.correlate(x, np.ones(4), 'same').sum()", "np.array_split(x, 2)[1].size * np.sum(x)",
    "np.sum(np.array_split(np.outer(x, x), 2, axis=1)[1] * x[:len(x) // 2])", "np.diff(x, n=3).size * np.sum(x)",
    "np.polyadd(x, np.ones(3)).size * np.sum(x)", "np.resize(x, 3).size * np.sum(x)", "min(len(x), 3) * np.sum(x)",
]


def differences(f, x):
    return np.array([(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(x.size)])


@pytest.mark.grid(0.5)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("text", PROGRAMS)
def test_derivatives_of_short_arrays(text):
    """From long arrays to short ones, as guards are tested, for every length that the program takes."""
    name, source = f"<{text}>", f"def f(x):\n    return {text}\n"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope = {"np": np}
    exec(compile(source, name, "exec"), scope)
    f, taken = scope["f"], 0
    for length in (6, 4, 3, 2, 1):
        x = np.linspace(0.3, 1.1, length)
        try:
            wanted = differences(f, x)
        except ValueError:  # as NumPy refuses lengths
            continue
        taken += 1
        for derivative in (s2s.grad, s2s.jacfwd):
            np.testing.assert_allclose(derivative(f)(x), wanted, rtol=1e-6, atol=1e-8)
        assert s2s.value_and_grad(f)(x)[0] == pytest.approx(f(x), nan_ok=True)
    assert taken > 1
