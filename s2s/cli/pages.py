"""The documents of errors and warnings in, the page of one of them out, as ``s2s explain S2S103`` prints it.

``docs/errors.md`` and ``docs/warnings.md`` are the one source: the site makes its pages of them, and the wheel has them
in ``s2s/pages``.
"""

from __future__ import annotations

import difflib
import os
import re
import textwrap
from pathlib import Path

from s2s.core.package import DOCUMENTS, ROOT, page_of

__all__ = ["is_named", "near", "of_codes", "page", "prelude"]

GROUP = re.compile(r"^## (.*)\n", re.M)
CODE = re.compile(r"^### (S2S\d{3})\n", re.M)
PRELUDE = re.compile(r"begin with\n\n((?: {4}.*\n|\n)+)")
NAMED = re.compile(r"S2S\d+|\w+Warning", re.I)
LINK = re.compile(r"\]\((?!https?:)([^)]+)\)")


def is_named(word: str) -> bool:
    """Whether a word is, or looks like, an error code or the category of a warning."""
    return NAMED.fullmatch(word) is not None


def page(name: str) -> str | None:
    """The page of a code or a category in Markdown; None for one that is not known."""
    errors = _text("errors.md")
    sections = {code: body for part in of_codes(errors).values() for code, body in part.items()}
    starts = dict.fromkeys(sections, prelude(errors))
    told = GROUP.split(_text("warnings.md"))
    for title, body in zip(told[1::2], told[2::2], strict=True):
        sections[title], starts[title] = body, prelude(told[0])
    found = next((known for known in sections if known.lower() == name.lower()), None)
    if found is None:
        return None
    body = sections[found].strip().replace("```python\n", f"```python\n{starts[found]}", 1)
    body = LINK.sub(lambda link: f"]({DOCUMENTS}/{link[1]})", body)
    return f"# {found}\n\n{body}\n\n{page_of(found)}\n"


def near(name: str) -> list[str]:
    """Names that one may have meant, best first."""
    codes = [code for part in of_codes(_text("errors.md")).values() for code in part]
    known = {known.lower(): known for known in (*codes, *GROUP.findall(_text("warnings.md")))}
    return [known[found] for found in difflib.get_close_matches(name.lower(), known)]


def of_codes(text: str) -> dict[str, dict[str, str]]:
    """What ``errors.md`` says of each code, by the titles of its groups."""
    found: dict[str, dict[str, str]] = {}
    parts = GROUP.split(text)[1:]
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        codes = CODE.split(body)[1:]
        found[title] = dict(zip(codes[::2], codes[1::2], strict=True))
    return found


def prelude(text: str) -> str:
    """The lines that all examples of a document begin with."""
    found = PRELUDE.search(text)
    return textwrap.dedent(found[1]).strip("\n") + "\n\n" if found else ""


def _text(name: str) -> str:
    """A document: in the package, or beside it in a checkout."""
    inside = Path(ROOT, "pages", name)
    return (inside if inside.exists() else Path(os.path.dirname(ROOT), "docs", name)).read_text(encoding="utf-8")
