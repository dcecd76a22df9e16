"""A version in, its text as a module out that imports what it reads of the user's module."""

from __future__ import annotations

import ast

from s2s.core.lines import lines_of
from s2s.dispatch.version import Version
from s2s.shipping.callers import option_names
from s2s.shipping.standalone import split

__all__ = ["plain"]


def plain(version: Version, text: str | None = None) -> str:
    """The text of a version with the variables and functions that it reads of the user's module imported at the top; a
    comment says what no module has by a name."""
    compiled = version.compiled
    text = compiled.text if text is None else text
    asked = option_names(version).keys() & {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    names, module = sorted({*compiled.globals, *asked}), version.raw.__globals__.get("__name__", "__main__")
    loose = sorted({*compiled.objects, *compiled.free})
    if not names and not loose:
        return text
    head, _ = split(text)
    lines = lines_of(text)[len(head) :]
    while lines and not lines[0]:
        lines.pop(0)
    last = max((k + 1 for k, line in enumerate(lines) if line.startswith(("import ", "from "))), default=0)
    if loose:
        named = ", ".join(f"`{name}`" for name in loose)
        head.append(f"# {named}: as in a call of the function, not a name of its module; to be given here")
    own = [f"from {module} import {', '.join(names)}"] if names else []
    rest = lines[last:]
    while rest and not rest[0]:
        rest.pop(0)
    is_made = bool(rest) and not rest[0].startswith(("def ", "@"))
    imports = [*lines[:last], *own]
    space = [""] if head and imports else []
    return "\n".join([*head, *space, *imports, "", *([] if is_made else [""]), *rest]) + "\n"
