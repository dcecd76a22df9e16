"""s2s where the extras are not installed: everything can be imported, and what needs an extra says which."""

import subprocess
import sys

import pytest

from s2s.missing import without
from tests.helpers import ROOT

EXTRAS = ("dask", "distributed", "IPython", "jinja2", "matplotlib", "networkx", "numba", "scipy")

BARE = f"""
import sys

for name in {EXTRAS}:
    sys.modules[name] = None  # import of it raises ModuleNotFoundError

import inspect
import numpy as np
import s2s
from s2s import *

def told(f, *args):
    try:
        f(*args)
    except s2s.errors.ArgumentError as problem:
        return str(problem)

def square(x):
    return x * x

assert {{name for name, _ in inspect.getmembers(s2s)}} >= set(s2s.__all__) - set(s2s._LATER)
assert all(hasattr(s2s, name) for name in s2s.__all__)
assert s2s.grad(square)(3.0) == 6.0
"""


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", f"{BARE}\n{code}"], cwd=ROOT, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


NEEDS = {
    "sparse_jacobian(square)": ("NetworkX", "sparse"), "sparse_hessian(square)": ("NetworkX", "sparse"),
    "jacobian_sparsity(square)": ("NetworkX", "sparse"), "scipy.minimize(square, 1.0)": ("SciPy", "scipy"),
    "explore(square, 2.0)": ("Jinja2", "explore"),
}


@pytest.mark.slow
def test_what_needs_an_extra_says_so_when_it_is_called():
    told = "".join(
        f"`s2s.{call.partition('(')[0]}` needs {package}, which is not installed [S2S538]\n"
        f'  = instead:  install it: `pip install "s2s-grad[{extra}]"`\n'
        for call, (package, extra) in NEEDS.items())
    calls = [*NEEDS, "njit_grad(square)", "grad(s2s.differentiable(square, backend='numba'))(2.0)"]
    found = run("\n".join(f"print(told(lambda: s2s.{call}))" for call in calls))
    assert found.startswith(told)
    without_numba = found.removeprefix(told)
    assert without_numba.count("the Numba backend cannot be used: ") == 2
    assert without_numba.count('pip install "s2s-grad[numba]"') == 2


def test_another_mistake_of_an_import_is_raised():
    problem = ModuleNotFoundError("No module named 's2s.there'", name="s2s.there")
    with pytest.raises(ModuleNotFoundError) as info:
        without("grad", problem)
    assert info.value is problem
