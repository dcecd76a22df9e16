"""The workflow of the guide about continuous integration is YAML, and its commands of s2s pass in a fresh checkout."""

import os
import re
import subprocess
import sys

import pytest

from tests.helpers import ROOT
from tests.site.running import blocks

GUIDE = ROOT / "docs" / "guides" / "continuous_integration.md"


@pytest.mark.slow
def test_the_steps_of_the_workflow_pass(tmp_path):
    yaml = pytest.importorskip("yaml")
    found = blocks(GUIDE.read_text(encoding="utf-8"))
    (job,) = yaml.safe_load(next(block.code for block in found if block.language == "yaml"))["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    own = [command for command in commands if command.startswith("s2s ")]
    assert len(own) == 2 and [c.split()[0] for c in commands] == ["pip", "s2s", "s2s", "python"]
    (tmp_path / "src").mkdir()
    model = next(block.code for block in found if block.code.startswith("# orbit.py"))
    (tmp_path / "src" / "orbit.py").write_text(model, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for command in ("s2s build src/", *own):
        command = re.sub(r"^s2s", f"'{sys.executable}' -m s2s", command)
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
