"""Formulas of the site are MathML, which browsers show without a script; one that is not understood ends the build."""

import importlib
import re
import sys
from xml.etree import ElementTree

import pytest

from tests.helpers import ROOT

pytest.importorskip("latex2mathml")
DOLLARS = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", re.S)


@pytest.fixture
def formulas(monkeypatch):
    pytest.importorskip("docutils")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    yield importlib.import_module("formulas")
    sys.modules.pop("formulas", None)


def test_a_formula_becomes_elements_of_mathml(formulas):
    made = ElementTree.fromstring(formulas.as_mathml(r"\beta(s, r) = \binom{s + r}{s}", "inline"))
    assert made.tag.endswith("math") and made.get("display") == "inline"
    assert [e.text for e in made.iter() if e.tag.endswith("}mi")] == ["\u03b2", "s", "r", "s", "r", "s"]
    assert any(e.tag.endswith("}mfrac") and e.get("linethickness") == "0" for e in made.iter())


def test_the_formulas_of_the_documents_are_understood(formulas):
    text = re.sub(r"```.*?```|`[^`]*`", "", (ROOT / "docs" / "memory.md").read_text(encoding="utf-8"), flags=re.S)
    found = [block or inline for block, inline in DOLLARS.findall(text)]
    assert len(found) > 5 and all(formulas.as_mathml(formula, "block").startswith("<math") for formula in found)


def test_a_command_that_is_not_known_ends_the_build(formulas):
    with pytest.raises(ValueError, match="foo"):
        formulas.as_mathml(r"\foo{x}", "inline")
