"""Links within the site lead to files and to places in them, or the build fails; those to other sites are left."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The places of a page, and where its links and pictures lead."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.places = {""}
        self.targets: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (name == "name" and tag == "a"):
                self.places.add(value or "")
            elif (name, tag) in (("href", "a"), ("src", "img")):
                self.targets.add(value or "")


def broken(folder: Path) -> list[str]:
    """The links of all pages below a folder that lead nowhere."""
    pages = {file.resolve(): Page(file) for file in folder.rglob("*.html") if "_static" not in file.parts}
    found = []
    for file, page in pages.items():
        for target in sorted(page.targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc or target == "#":
                continue
            path = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            place = unquote(parts.fragment)
            if not path.exists() or (path in pages and place not in pages[path].places):
                found.append(f"{file.relative_to(folder.resolve())}: {target}")
    return found


def check(app: Any, problem: Exception | None) -> None:
    if problem is None and app.builder.name == "html" and (lost := broken(Path(app.outdir))):
        raise RuntimeError("links that lead nowhere:\n" + "\n".join(lost))


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
