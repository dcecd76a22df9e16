"""Files that the commands write are left as they are by ``ruff format`` at the line length of their project, and are
taken for the same after they were formatted with other settings."""

import itertools
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from s2s.cli import terminal
from s2s.cli.main import main

pytestmark = pytest.mark.slow

SOURCE = '''import numpy as np
import s2s


@s2s.differentiable
def energy(positions: "f8[:]"):
    closeness = np.exp(-((positions[1:] - positions[:-1]) ** 2)) * positions[1:] + positions[:-1] ** 2
    return np.einsum("i,i->", closeness, positions[1:] ** 3) / (1.0 + np.sum(closeness**2)) + np.sum(np.sqrt(positions))


class Chain:
    @s2s.differentiable
    def tension(self, positions: "f8[:]"):
        return np.sum(np.exp(-((positions[1:] - positions[:-1]) ** 2)) * positions[1:] ** 3) + np.sum(positions**0.5)
'''

SETTINGS = {
    "default": "",
    "wide": "line-length = 120\n",
    "narrow": "line-length = 60\n",
    "own taste": 'line-length = 79\n[format]\nquote-style = "single"\nindent-style = "tab"\n'
                 "skip-magic-trailing-comma = true\n",
}


@pytest.fixture(params=SETTINGS)
def folder(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("S2S_CACHE", "1")
    monkeypatch.delenv("S2S_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    (tmp_path / "ruff.toml").write_text(SETTINGS[request.param])
    source = tmp_path / "formatted_model.py"
    source.write_text(SOURCE)
    ruff("format", str(source))
    yield tmp_path
    sys.modules.pop("formatted_model", None)


def ruff(*words):
    beside = Path(sys.executable).parent / "ruff"
    found = str(beside) if beside.exists() else shutil.which("ruff") or pytest.skip("needs ruff")
    return subprocess.run([found, *words], capture_output=True, text=True)


def run(*words):
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    return result.output


def is_formatted(file):
    found = ruff("format", "--diff", file)
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize("mode", ["grad", "vjp"])
def test_files_of_dump_and_build_are_formatted(folder, mode):
    run("dump", "formatted_model.py:energy", "--mode", mode, "-o", "dumped.py")
    run("dump", "formatted_model.py:energy", "--mode", mode, "--standalone", "-o", "standalone.py")
    run("build", "formatted_model.py", "--mode", mode)
    for file in ("dumped.py", "standalone.py", "formatted_model_adjoints.py"):
        is_formatted(file)


def test_what_is_inserted_is_formatted(folder):
    run("insert", "formatted_model.py")
    text = (folder / "formatted_model.py").read_text()
    assert len(re.findall(r"Generated\s+by\s+s2s", text)) == 2
    is_formatted("formatted_model.py")
    run("insert", "formatted_model.py")
    assert (folder / "formatted_model.py").read_text() == text


@pytest.mark.grid(1 / len(SETTINGS))
@pytest.mark.parametrize(("folder", "other"), list(itertools.product(SETTINGS, repeat=2)), indirect=["folder"])
def test_a_module_that_was_formatted_in_another_way_is_up_to_date(folder, other, monkeypatch):
    monkeypatch.setattr(terminal, "formatted", lambda text, file: text)  # written where there is no ruff
    run("build", "formatted_model.py")
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    run("build", "--check", "formatted_model.py")
    (folder / "ruff.toml").write_text(SETTINGS[other])
    before = (folder / "formatted_model_adjoints.py").read_text()
    ruff("format", "formatted_model_adjoints.py")
    assert other in ("default", "wide") or (folder / "formatted_model_adjoints.py").read_text() != before
    run("build", "--check", "formatted_model.py")
    file = folder / "formatted_model_adjoints.py"
    file.write_text(file.read_text().replace("Gradient of energy", "Gradient\n    of  energy", 1))
    run("build", "--check", "formatted_model.py")  # a docstring that was wrapped
    file.write_text(file.read_text().replace("np.exp", "np.sin", 1))
    assert CliRunner().invoke(main, ["build", "--check", "formatted_model.py"]).exit_code == 1
