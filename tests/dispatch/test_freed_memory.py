"""Memory of freed arrays: a gradient of large arrays asks the system for pages at its first calls, not at each."""

import os
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
import s2s

def f(x):
    return np.sum(np.exp(np.sin(x) * x) + np.cos(x) / (1.0 + x * x))

x = np.linspace(0.0, 1.0, 400_000)
gradient = s2s.grad(s2s.differentiable(f, backend="numpy"))
expected = np.exp(np.sin(x) * x) * (np.cos(x) * x + np.sin(x)) - np.sin(x) / (1.0 + x * x) \\
    - 2.0 * x * np.cos(x) / (1.0 + x * x)**2
for _ in range(5):
    np.testing.assert_allclose(gradient(x), expected, rtol=1e-9, atol=1e-12)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    gradient(x)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 20)
"""
IS_GNU = sys.platform.startswith("linux") and platform.libc_ver()[0] == "glibc"

PAGES = 400_000 * 8 // (os.sysconf("SC_PAGESIZE") if IS_GNU else 4096)


def pages_by_call(tmp_path, **settings):
    """The pages that the system clears for one call of a gradient whose arrays have ``PAGES`` each."""
    (tmp_path / "program.py").write_text(PROGRAM)
    ours = {name: text for name, text in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    found = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=ours | {"S2S_CACHE": "0", "S2S_PASSES": "-blocks"} | settings,
        capture_output=True, text=True)
    assert not found.returncode, found.stderr
    return float(found.stdout)


@pytest.mark.slow
@pytest.mark.skipif(not IS_GNU, reason="the C library is not GNU's")
def test_pages_are_kept(tmp_path):
    assert pages_by_call(tmp_path) < PAGES / 20


@pytest.mark.slow
@pytest.mark.skipif(not IS_GNU, reason="the C library is not GNU's")
@pytest.mark.parametrize("settings", [{"S2S_KEPT_MEMORY": "0"}, {"MALLOC_TRIM_THRESHOLD_": "131072"}])
def test_the_library_is_left_alone(tmp_path, settings):
    assert pages_by_call(tmp_path, **settings) > PAGES
