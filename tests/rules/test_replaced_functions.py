"""Functions of libraries that a program replaces before rules are registered have no rules."""

import os
import subprocess
import sys

import pytest

from tests.helpers import ROOT

PROGRAM = """
import numpy as np
import scipy.linalg
import scipy.special


def mine(v):
    return v * v * v


{name} = mine

import s2s


def f(x):
    return {name}(x)


print(s2s.grad(f)(1.7), s2s.jvp(f, (1.7,), (1.0,))[1])
"""


@pytest.mark.parametrize("name", ["np.tanh", "np.linalg.norm", "scipy.special.gamma", "scipy.linalg.expm"])
def test_replaced(name, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM.format(name=name))
    environment = {**os.environ, "S2S_CACHE": "0", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [*map(float, done.stdout.split())] == pytest.approx([3 * 1.7**2] * 2)
