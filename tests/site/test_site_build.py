"""What the documents are built with: a page for each error code, and the check of links."""

import importlib
import re
import sys

import pytest

from s2s.errors import CATALOGUE
from tests.helpers import ROOT

TEXT = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")


@pytest.fixture
def load(monkeypatch):
    """A module of docs/_ext."""
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    yield importlib.import_module
    sys.modules.pop("error_pages", None)
    sys.modules.pop("check_links", None)


def test_every_code_has_a_page_with_its_summary_and_class(load):
    error_pages = load("error_pages")
    bodies = {code: body for part in error_pages.of_codes(TEXT).values() for code, body in part.items()}
    assert list(bodies) == list(CATALOGUE)
    for code, body in bodies.items():
        page = error_pages.page(code, body, "a group", "")
        kind, summary = CATALOGUE[code]
        assert f"# {code}\n" in page and summary in page and f"`s2s.errors.{kind.__name__}`" in page


@pytest.mark.slow
def test_a_page_shows_what_its_example_raises(load):
    error_pages = load("error_pages")
    body = error_pages.of_codes(TEXT)["Syntax, stores and containers"]["S2S103"]
    example = error_pages.prelude(TEXT) + error_pages.EXAMPLE.search(body)[1]
    message = error_pages.messages({"S2S103": example})["S2S103"]
    assert message.startswith("a generator cannot be differentiated [S2S103]\n  --> S2S103.py:")
    assert f"```text\n{message.rstrip()}\n```" in error_pages.page("S2S103", body, "a group", message)
    with pytest.raises(RuntimeError, match="S2S103 raises nothing"):
        error_pages.messages({"S2S103": "x = 1\n"})
    with pytest.raises(AssertionError, match="ArgumentError"):
        error_pages.page("S2S103", body.replace("UnsupportedSyntaxError", "ArgumentError"), "a group", "")


def test_the_list_of_the_site_leads_to_the_pages(load):
    error_pages = load("error_pages")
    assert re.findall(r"\(errors/(S2S\d{3})\.md\)", error_pages.listed(TEXT)) == list(CATALOGUE)
    content = ["a [refusal](errors.md#s2s101), and [another](../errors.md#s2s102)"]
    error_pages.replace(None, "design/loops", content)
    assert content == ["a [refusal](../errors/S2S101.md), and [another](../errors/S2S102.md)"]


def test_links_that_lead_nowhere_are_found(load, tmp_path):
    check_links = load("check_links")
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.html").write_text('<h1 id="top">a</h1> <a href="sub/b.html#x">b</a> <a href="#top">t</a>')
    (tmp_path / "sub" / "b.html").write_text('<p id="x"></p> <a href="../a.html">a</a> <a href="https://a.b/c#d">c</a>')
    assert check_links.broken(tmp_path) == []
    (tmp_path / "sub" / "b.html").write_text('<p id="y"></p> <a href="a.html">a</a> <img src="p.png">')
    assert check_links.broken(tmp_path) == [
        "a.html: sub/b.html#x", "sub/b.html: a.html", "sub/b.html: p.png",
    ]
