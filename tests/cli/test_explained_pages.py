"""``s2s explain S2S103`` prints the page of an error or a warning, from the text that the site is made of."""

import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from s2s import notices
from s2s.cli import pages
from s2s.cli.main import main
from s2s.core import package
from s2s.errors import CATALOGUE, HINTS
from tests.helpers import ROOT

CATEGORIES = [name for name in notices.__all__ if name.endswith("Warning") and name != "DerivativeWarning"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def run(*words):
    return CliRunner().invoke(main, ["explain", *words])


@pytest.mark.parametrize("name", ["S2S103", "S2S518", *CATEGORIES])
def test_a_page_is_printed(name):
    result = run(name.lower())
    assert result.exit_code == 0
    assert result.output.startswith(f"# {name}\n\n")
    assert result.output.endswith(f"\n\n{package.page_of(name)}\n")
    assert "](../" not in result.output and "](errors.md" not in result.output


def test_the_program_of_a_page_is_whole():
    text = pages.page("S2S101")
    assert f"**{CATALOGUE['S2S101'][1]}**" in text and f"Instead: {HINTS['S2S101']}." in text
    program = text.partition("```python\n")[2].partition("```")[0]
    assert "import s2s\n" in program and "__class__" in program
    compile(program, "program", "exec")


def test_there_is_a_page_for_each_code_and_category():
    assert all(pages.page(name) for name in (*CATALOGUE, *CATEGORIES))


def test_what_is_no_code_is_told_with_what_is_near():
    result = run("ZeroGradWarning")
    assert result.exit_code == 1
    assert result.stderr.startswith(
        "ZeroGradWarning: no error code and no warning of s2s; near to it: ZeroGradientWarning"
    )


def test_a_file_of_such_a_name_is_a_target_where_it_has_a_function():
    assert not pages.is_named("S2S103.py:f") and not pages.is_named("my.warnings:SearchWarning")


def test_the_wheel_has_the_documents_where_they_are_looked_for():
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for name in ("errors.md", "warnings.md"):
        assert included[f"docs/{name}"] == f"s2s/pages/{name}"


def test_what_is_in_the_package_is_taken(tmp_path, monkeypatch):
    Path(tmp_path, "pages").mkdir()
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8").replace("many values, one at a time", "few values")
    Path(tmp_path, "pages", "errors.md").write_text(text, encoding="utf-8")
    Path(tmp_path, "pages", "warnings.md").write_text("# Warnings\n", encoding="utf-8")
    monkeypatch.setattr(pages, "ROOT", str(tmp_path))
    assert "few values" in pages.page("S2S103")


def test_pages_are_below_the_documents_of_the_project():
    assert package.DOCUMENTS == PROJECT["project"]["urls"]["Documentation"].replace("/tree/", "/blob/")
