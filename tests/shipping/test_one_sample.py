"""Dumped derivatives of losses for data with one row, and for arrays of one element beside longer ones."""

import importlib.util
import itertools

import numpy as np
import pytest
from click.testing import CliRunner

from s2s.cli.main import main

SOURCE = '''
import numpy as np


def decay(params, t, y):
    amp, rate = params
    return np.sum((amp * np.exp(-rate * t) - y) ** 2)


def linear(w, X, y):
    return np.sum((X @ w - y) ** 2)


def weighted(a, b, c):
    return np.sum(a * b * np.sin(c))


def added(a, b, c):
    return np.sum(a * b) + np.sum((a + c) ** 2)


def outer(a, b, c):
    return np.sum(np.outer(a, b) * c)


def mixed(a, b, c):
    return np.sum((a - b) ** 2) * np.sum(a * c) + np.mean(b * c)
'''
CASES = {
    "decay": (("f8[2]", "f8[:]", "f8[:]"), {(2, 1, 1), (2, 3, 3)}),
    "linear": (("f8[:]", "f8[:,:]", "f8[:]"), {(2, 1, 2, 1), (3, 2, 3, 2)}),
    "weighted": (("f8[:]",) * 3, {(3, 3, 3)}), "added": (("f8[:]",) * 3, {(3, 3, 3)}),
    "mixed": (("f8[:]",) * 3, {(3, 3, 3)}), "outer": (("f8[:]", "f8[:]", "f8[:,:]"), {(2, 3, 2, 3)}),
}
"""The kinds of arguments, and lengths for which the text must be right."""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    made = tmp_path_factory.mktemp("samples") / "samples_of_one.py"
    made.write_text(SOURCE, encoding="utf-8")
    return made


def loaded(file):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def by_complex_steps(f, x, *rest):
    rows = np.eye(x.size).reshape(x.size, *x.shape)
    return np.array([f(x + 1e-30j * row, *rest).imag / 1e-30 for row in rows]).reshape(x.shape)


@pytest.mark.parametrize("name", CASES)
def test_lengths_of_one_are_right_or_raise(file, name):
    """One sample is right, where all lengths that go together are 1; of other lengths the primal says."""
    f, (kinds, wanted), out = getattr(loaded(file), name), CASES[name], file.with_name(f"{name}_made.py")
    names = f.__code__.co_varnames[:3]
    said = ", ".join(f"{n}: {kind}" for n, kind in zip(names, kinds, strict=True))
    result = CliRunner().invoke(main, ["dump", f"{file}:{name}", "--args", said, "--standalone", "-o", str(out)])
    assert result.exit_code == 0, result.output
    made, rng, right = getattr(loaded(out), f"{name}_grad"), np.random.default_rng(0), set()
    counts = [(2,) if "2" in kind else (1, 2, 3) for kind in kinds for _ in range(1 + kind.count(","))]
    for lengths in itertools.product(*counts):
        left, given = [*lengths], []
        for kind in kinds:
            given.append(rng.uniform(0.5, 1.5, tuple(left.pop(0) for _ in range(1 + kind.count(",")))))
        try:
            expected = by_complex_steps(f, *given)
        except ValueError:  # the primal's own, of lengths that do not go together
            continue
        try:
            found = made(*given)
        except ValueError:
            continue
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
        right.add(lengths)
    assert wanted <= right
