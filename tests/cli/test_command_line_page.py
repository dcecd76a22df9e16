"""The page of the command line: what it shows is what the commands print.

``pytest tests/cli/test_command_line_page.py --rewrite`` writes it anew.
"""

import re
import shlex

import pytest
from click.testing import CliRunner

from s2s.cli.main import main
from tests.helpers import ROOT

PAGE = ROOT / "docs" / "command_line.md"
BLOCK = re.compile(r"```console\n(.*?)```\n", re.DOTALL)
FILE = re.compile(r"```python\n(# (\w+\.py)\n.*?)```", re.DOTALL)


def printed(block, folder):
    """The commands of a block, each with what it prints."""
    lines = []
    for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        program, *words = shlex.split(command)
        assert program == "s2s"
        output = CliRunner().invoke(main, words).output.replace(f"{folder}/", "")
        lines.append(f"$ {command}\n{output}")
    return "\n".join(lines)


@pytest.mark.slow
def test_the_page_shows_what_commands_print(tmp_path, monkeypatch, rewrite):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("S2S_CACHE", "off")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("S2S_CACHE_DIR", raising=False)
    text = PAGE.read_text()
    for content, name in FILE.findall(text):
        (tmp_path / name).write_text(content)
    found = BLOCK.sub(lambda block: f"```console\n{printed(block[1], tmp_path)}```\n", text)
    if rewrite:
        PAGE.write_text(found)
    assert found == PAGE.read_text()
