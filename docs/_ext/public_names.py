"""``api/more.md`` has the public names of s2s for which no other page of the reference has an entry."""

from __future__ import annotations

import functools
import inspect
import re
from pathlib import Path
from typing import Any

import s2s
import s2s.optim
import s2s.scipy

ENTRY = re.compile(r"^\.\. auto(?:function|class|exception|module):: ([\w.]+)(?:\(.*)?$", re.M)
MARK = "<!-- names without an entry -->"
NOTHING = "All public names have an entry on the pages before."
WITHOUT = {
    "s2s.__version__", "s2s.distributed", "s2s.errors", "s2s.interop", "s2s.optim", "s2s.optim.schedules",
    "s2s.scipy",
}
"""A text, and modules that have a page."""


def entries(folder: Path) -> list[str]:
    """What the pages of the reference have entries for."""
    return [name for page in sorted(folder.glob("*.md")) for name in ENTRY.findall(page.read_text(encoding="utf-8"))]


def missing(folder: Path) -> list[str]:
    public = {f"{module.__name__}.{name}" for module in (s2s, s2s.optim, s2s.scipy) for name in module.__all__}
    return sorted(public - WITHOUT - set(entries(folder)))


def entry(name: str) -> str:
    found = functools.reduce(getattr, name.split(".")[1:], s2s)
    if inspect.ismodule(found):
        return f".. automodule:: {name}\n   :members:\n"
    if inspect.isclass(found):
        kind = "exception" if issubclass(found, BaseException) else "class"
        return f".. auto{kind}:: {name}\n   :members:\n"
    return f".. autofunction:: {name}\n"


def fill(app: Any, docname: str, content: list[str]) -> None:
    if docname == "api/more":
        made = "\n".join(f"```{{eval-rst}}\n{entry(name)}```\n" for name in missing(Path(app.srcdir) / "api"))
        content[0] = content[0].replace(MARK, made or NOTHING)


def forget(app: Any, env: Any, docnames: list[str]) -> None:
    """What the page had may be on another one by now, which is read before it."""
    env.get_domain("py").clear_doc("api/more")


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", fill)
    app.connect("env-before-read-docs", forget)
    app.connect("env-get-outdated", lambda app, env, added, changed, removed: ["api/more"])
    return {"parallel_read_safe": True, "parallel_write_safe": True}
