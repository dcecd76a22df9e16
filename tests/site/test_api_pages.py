"""The reference has an entry for every public name, and no other ones."""

import importlib.util
import pydoc
import re

import pytest

import s2s
import s2s.errors
from tests.helpers import ROOT

API = ROOT / "docs" / "api"


def load():
    """The module of docs/_ext that knows the entries."""
    spec = importlib.util.spec_from_file_location("public_names", ROOT / "docs" / "_ext" / "public_names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PUBLIC_NAMES = load()


def test_every_public_name_has_one_entry():
    found = [name for name in PUBLIC_NAMES.entries(API) if name not in ("s2s.optim", "s2s.errors", "s2s.scipy")]
    assert len(found) == len(set(found))
    errors = [name for name in s2s.errors.__all__ if isinstance(getattr(s2s.errors, name), type)]
    assert {f"s2s.errors.{name}" for name in errors} <= set(found)


def test_names_without_an_entry_get_one_on_the_last_page(monkeypatch):
    for name in ("grad", "Derivative", "ZeroGradientWarning", "optim"):
        entry = PUBLIC_NAMES.entry(f"s2s.{name}")
        assert PUBLIC_NAMES.ENTRY.findall(entry) == [f"s2s.{name}"]
    monkeypatch.setattr(s2s, "__all__", [*s2s.__all__, "pi"])
    monkeypatch.setattr(s2s, "pi", lambda: 3, raising=False)
    assert "s2s.pi" in PUBLIC_NAMES.missing(API) and "s2s.grad" not in PUBLIC_NAMES.missing(API)


@pytest.mark.parametrize("name", PUBLIC_NAMES.entries(API))
def test_entries_exist_and_say_something(name):
    assert pydoc.locate(name).__doc__


def test_every_page_lists_its_entries():
    for page in API.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        if ".. autosummary::" in text:
            listed = re.findall(r"^   (s2s[\w.]+)$", text, re.M)
            assert listed == re.findall(r"^\.\. auto(?:function|class):: ([\w.]+)(?:\(.*)?$", text, re.M), page.name
