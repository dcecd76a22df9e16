"""Functions of libraries that a program replaces before rules are registered have no rules; those that it registers
itself by then are kept."""

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


REGISTERED = """
import s2s
from s2s.rules.table import partials


def mine(v):
    return v * v * v


partials(mine, lambda y, v: 7.0)


def f(x):
    return mine(x)


print(s2s.grad(f)(1.7), s2s.jvp(f, (1.7,), (1.0,))[1])
"""


def run(program, folder):
    """The numbers that a program prints, in a process of its own."""
    (folder / "program.py").write_text(program)
    environment = {**os.environ, "S2S_CACHE": "0", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [*map(float, done.stdout.split())]


@pytest.mark.parametrize("name", ["np.tanh", "np.linalg.norm", "scipy.special.gamma", "scipy.linalg.expm"])
def test_replaced(name, tmp_path):
    assert run(PROGRAM.format(name=name), tmp_path) == pytest.approx([3 * 1.7**2] * 2)


def test_registered_before_all_others(tmp_path):
    assert run(REGISTERED, tmp_path) == [7.0, 7.0]
