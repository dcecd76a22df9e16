"""The description of a function and its derivatives in, one HTML file out that loads nothing."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from s2s.arguments import checked
from s2s.core.package import __version__
from s2s.errors import error
from s2s.versions.kinds import read_kinds

__all__ = ["Page", "explore", "page_of"]


class Page(str):
    """The text of an explorer page; ``save`` writes it."""

    def save(self, path: str | Path) -> Path:
        """Write the page to a file."""
        path = Path(path)
        path.write_text(self, encoding="utf-8")
        return path


@checked
def explore(
    f: Any, *args: Any, argnums: int | str | tuple[int | str, ...] = 0, kinds: str = "",
    modes: str | tuple[str, ...] = (), **kwargs: Any,
) -> Page:
    """The explorer page of a function: one HTML file with the function at the left and its derivatives at the right, in
    each mode, after each pass of the compiler.

    With example arguments, the derivatives are those for their kinds, and are run with copies of them: the page has
    the time of each line, and the bytes that are kept between the sweeps. Else they are for ``kinds`` and annotations,
    as in ``s2s.source``, and nothing is run. ``modes`` says what is shown: ``"grad"``, ``("jvp", "grad")`` or
    ``"all"``; by default these are all modes that take some seconds, the gradient first. What the compiler refuses in
    a mode is said on the page.

    Raises ArgumentError where Jinja2 is not installed, for what is no kind or mode, and for arguments that do not fit
    the function.

    >>> import numpy as np, s2s
    >>> def loss(x):
    ...     return np.sum(np.tanh(x) ** 2)
    >>> page = s2s.explore(loss, np.ones(3))
    >>> page[:15]
    '<!doctype html>'

    ``page.save("loss.html")`` writes it.
    """
    from s2s.explorer.data import MODES, WITHIN, describe, modes_of

    wanted = modes_of(modes)
    within = float("inf") if wanted else WITHIN
    return page_of(describe(f, args, kwargs, argnums, read_kinds(kinds), wanted or MODES, within=within))


def page_of(description: dict[str, Any]) -> Page:
    """The page that shows a description."""
    try:
        import jinja2
    except ImportError:
        raise error("S2S538", name="s2s.explore", package="Jinja2", extra="explore") from None
    folder = resources.files("s2s.explorer") / "assets"
    style, script, template = (
        (folder / name).read_text(encoding="utf-8") for name in ("page.css", "page.js", "page.html.j2"))
    data = json.dumps(description, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    made = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(template)
    return Page(made.render(
        name=description["name"], where=description["where"], version=__version__, style=style, script=script,
        data=data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")))
