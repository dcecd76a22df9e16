"""A program that is run by `python program.py`, with its own classes and functions, on processes of Dask."""

import os
import subprocess
import sys

import pytest

from tests.helpers import ROOT

pytestmark = pytest.mark.slow

PROGRAM = '''
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from dask.distributed import Client

import s2s

SCALE = 2.0
TABLE = np.linspace(0.0, 1.0, 20_001)        # too large to be written as source


@dataclass
class Params:
    w: np.ndarray
    b: float
    name: str = "model"


class Model:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def predict(self, X):
        return act(X @ self.w) + self.b


class Pair(NamedTuple):
    w: np.ndarray
    b: float


class Link:
    def __init__(self, rate):
        self.rate = rate

    def __call__(self, z):
        return np.tanh(z) * self.rate


LINK = Link(1.5)


def act(z):
    return LINK(z) * SCALE


def of_params(p, X, y):
    return np.sum((act(X @ p.w) + p.b * TABLE[700] - y) ** 2)


def of_model(model, X, y):
    return np.sum((model.predict(X) - y) ** 2)


def plain(found):
    return [found.w, found.b] if hasattr(found, "w") else found


def main():
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(60, 3)), rng.normal(size=60), rng.normal(size=3)
    parts = np.split(X, [10, 30]), np.split(y, [10, 30])
    quiet = dict(dashboard_address=None, silence_logs=50)
    with Client(n_workers=2, threads_per_worker=1, processes=True, **quiet) as client:
        for f, kind in [(of_params, Params), (of_model, Model), (of_params, Pair)]:
            methods = dict(vars(kind))
            for _ in range(2):                # what comes back leaves the class as it is
                value, found = s2s.distributed.value_and_grad(f, over="X, y", client=client)(kind(w, 0.3), *parts)
                assert type(found) is kind and all(vars(kind)[name] is v for name, v in methods.items())
                wanted = s2s.value_and_grad(f)(kind(w, 0.3), X, y)
                np.testing.assert_allclose(value, wanted[0], rtol=1e-12)
                for one, other in zip(plain(found), plain(wanted[1]), strict=True):
                    np.testing.assert_allclose(one, other, rtol=1e-10)
            step = np.array([0.0, 1e-6, 0.0])
            slope = (f(kind(w + step, 0.3), X, y) - f(kind(w - step, 0.3), X, y)) / 2e-6
            np.testing.assert_allclose(found.w[1], slope, rtol=1e-5)
        by_row = s2s.distributed.map(lambda p, X: act(X @ p.w), over="X", client=client)
        np.testing.assert_allclose(np.concatenate(list(by_row(Model(w, 0.3), parts[0]))), act(X @ w), rtol=1e-12)
        kernel = s2s.distributed.shipped(s2s.grad(of_params), Params(w, 0.3), X, y)
        there = client.submit(lambda *args: plain(kernel(*args)), Params(w, 0.3), X, y).result()
        np.testing.assert_allclose(there[0], s2s.grad(of_params)(Params(w, 0.3), X, y).w, rtol=1e-12)
    print("done")


if __name__ == "__main__":
    main()
'''


def test_classes_and_functions_of_a_program_go_to_processes(tmp_path):
    pytest.importorskip("distributed")
    (tmp_path / "program.py").write_text(PROGRAM)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "S2S_CACHE": "off"}
    ran = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0 and ran.stdout.strip().endswith("done"), ran.stdout + ran.stderr[-3000:]
