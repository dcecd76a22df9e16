"""The reference has an entry for every public name, and no other ones."""

import importlib
import re

import pytest

import s2s
import s2s.errors
import s2s.optim
from tests.helpers import ROOT

PAGES = sorted((ROOT / "docs" / "api").glob("*.md"))
NOT_ENTRIES = {
    "s2s.__version__", "s2s.errors", "s2s.optim", "s2s.optim.schedules",  # a text, and modules
    "s2s.errors.CATALOGUE", "s2s.errors.HINTS", "s2s.errors.error", "s2s.errors.not_a_function",  # of s2s itself
}


def entries():
    """What ``autofunction`` and its like name, in all pages of the reference."""
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    return re.findall(r"^\.\. auto(?:function|class|exception|decorator)?:: ([\w.]+)(?:\(.*)?$", text, re.M)


def test_every_public_name_has_one_entry():
    public = {
        f"{module.__name__}.{name}" for module in (s2s, s2s.errors, s2s.optim) for name in module.__all__
    } - NOT_ENTRIES
    found = entries()
    assert len(found) == len(set(found))
    assert not public - set(found), "add these to a page of docs/api"


@pytest.mark.parametrize("name", entries())
def test_entries_exist_and_say_something(name):
    module, _, attribute = name.rpartition(".")
    assert getattr(importlib.import_module(module), attribute).__doc__


def test_every_page_lists_its_entries():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if ".. autosummary::" in text:
            listed = re.findall(r"^   (s2s[\w.]+)$", text, re.M)
            assert listed == re.findall(r"^\.\. auto(?:function|class):: ([\w.]+)(?:\(.*)?$", text, re.M), page.name
