"""What tools that look at programs make of files with generated code: coverage leaves them out, profilers show them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MODEL = """\
import numpy as np

def loss(w, n):
    h = w
    for _ in range(n):
        h = np.tanh(h)
    return np.sum(h * h)
"""

RUN = """\
import numpy as np, s2s
from model import loss
s2s.grad(loss)(np.ones(3), 4)
"""

PROFILE = """\
import inspect
import numpy as np, s2s
from line_profiler import LineProfiler
from model import loss

gradient = s2s.grad(loss)
gradient(np.ones(3), 4)                        # compiles
profiler = LineProfiler(inspect.unwrap(gradient))
profiler.runcall(gradient, np.ones(3), 4)
profiler.print_stats()
"""


def run(folder, *command):
    environment = {**os.environ, "S2S_CACHE": "1", "PYTHONPATH": str(ROOT), "COVERAGE_FILE": str(folder / ".coverage")}
    environment.pop("S2S_CACHE_DIR", None)
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_coverage_leaves_generated_code_out(folder):
    pytest.importorskip("coverage")
    (folder / "program.py").write_text(RUN, encoding="utf-8")
    for _ in range(2):  # compiled, and read from disk
        run(folder, "-m", "coverage", "run", "--source=.", "program.py")
        rows = run(folder, "-m", "coverage", "report").splitlines()
        (generated,) = [row.split() for row in rows if "__s2scache__" in row]
        assert generated[1:3] == ["0", "0"]
        assert any(row.split()[:3] == ["program.py", "3", "0"] for row in rows)


def test_a_line_profiler_shows_generated_code(folder):
    pytest.importorskip("line_profiler")
    (folder / "program.py").write_text(PROFILE, encoding="utf-8")
    rows = run(folder, "program.py").splitlines()
    line = next(row for row in rows if "h = np.tanh(h)" in row and "#" not in row)
    assert line.split()[1] == "4"  # hits
