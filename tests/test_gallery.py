"""The examples of the gallery: what each of them has, and that it runs by itself and draws its picture.

All of them run where the pages are made, and what they assert ends that build with an error.
"""

import ast
import os
import re
import subprocess
import sys

import pytest

from tests.helpers import ROOT

GALLERY = ROOT / "examples" / "gallery"
NAMES = sorted(file.stem for file in GALLERY.glob("*.py"))

RUN = """
import runpy, sys
import matplotlib.pyplot as plt
plt.show = lambda: plt.savefig(sys.argv[1], dpi=50)
runpy.run_path(sys.argv[2], run_name="__main__")
"""


def test_there_are_twelve():
    assert len(NAMES) >= 12


@pytest.mark.parametrize("name", NAMES)
def test_form(name):
    """A title and two sentences, cells, a short program, numbers that are held against others, and one picture."""
    text = (GALLERY / f"{name}.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    title, rule, _, *about = ast.get_docstring(tree).splitlines()
    assert re.fullmatch("=+", rule) and len(rule) == len(title)
    assert 2 <= len(re.findall(r"[.?](?:\s|$)", " ".join(about))) <= 3
    assert text.count("\n# %%\n") >= 3
    nodes = list(ast.walk(tree))
    assert any(isinstance(node, ast.Assert) for node in nodes)
    assert sum(ast.unparse(node) == "plt.show()" for node in nodes if isinstance(node, ast.Call)) == 1
    assert 40 <= len(text.splitlines()) <= 120


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_example(name, tmp_path):
    for module in ("fluids", "matplotlib", "networkx", "scipy", "sklearn"):
        pytest.importorskip(module, reason="the examples need what `pip install s2s-grad[examples]` brings")
    picture = tmp_path / "picture.png"
    command = [sys.executable, "-c", RUN, str(picture), str(GALLERY / f"{name}.py")]
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", timeout=150
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"\d\.\d", done.stdout), "it prints no figure"
    assert picture.stat().st_size > 5_000
