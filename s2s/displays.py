"""What notebooks show of functions and their derivatives: objects in, HTML out."""

from __future__ import annotations

import html
import inspect
import linecache
import textwrap
from typing import Any

from s2s.core.highlighting import box, highlighted_html
from s2s.core.lines import lines_of
from s2s.derivatives import Derivative, store_of
from s2s.directives.decorated import Differentiable
from s2s.dispatch.version import Version
from s2s.versions.signature import key

__all__ = ["annotated_html", "html_of"]

_MUTED = "color:#808080"


def html_of(shown: Derivative | Differentiable[..., Any]) -> str:
    """A derivative with the code of its versions; of a decorated function, the source and all derivatives."""
    if isinstance(shown, Derivative):
        return _derivative(shown)
    made = store_of(shown).derivatives.values()
    parts = [f"<b>{_escaped(shown.__name__)}</b> {_place(shown.func)}", _details("source", _source_of(shown.func))]
    parts += [_derivative(one) for one in made if one.dispatcher.versions]
    if len(parts) == 2:
        parts.append(f'<div style="{_MUTED}">nothing compiled yet</div>')
    return "\n".join(parts)


def _derivative(made: Derivative) -> str:
    versions: list[Version] = made.dispatcher.versions
    last = made.dispatcher.last
    head = f"<div><b>{_escaped(made.__name__)}</b> {_place(made.made_from[1])}</div>"
    if not versions:
        return f'{head}<div style="{_MUTED}">nothing compiled yet</div>'
    shown = [
        _details(f"({', '.join(map(key, one.avals))}), {one.backend}", highlighted_html(one.compiled.text), one is last)
        for one in versions
    ]
    return "\n".join([head, *shown])


def _details(title: str, code: str, is_open: bool = False) -> str:
    opened = " open" if is_open else ""
    return f"<details{opened}><summary><code>{_escaped(title)}</code></summary>{box(code)}</details>" if code else ""


def _escaped(text: str) -> str:
    return html.escape(text, quote=False)


def _place(f: Any) -> str:
    code = getattr(inspect.unwrap(f) if callable(f) else f, "__code__", None)
    if code is None:
        return ""
    name = code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f'<span style="{_MUTED}">{_escaped(name)}:{code.co_firstlineno}</span>'


def _source_of(f: Any) -> str:
    try:
        return highlighted_html(textwrap.dedent(inspect.getsource(f)))
    except (OSError, TypeError):
        return ""


# --- line by line -----------------------------------------------------------------------------------------------------


def annotated_html(version: Version, file: str, first: int, last: int) -> str:
    """The lines of a function, each of which opens to the lines of the derivative that come from it."""
    pairs = version.compiled.places.get(file, ())
    generated = lines_of(version.compiled.text)
    rows = []
    for number in range(first, last + 1):
        text = highlighted_html(linecache.getline(file, number).rstrip("\n")) or " "
        own = [generated[line - 1] for line, of in pairs if of == number]
        shown = f'<span style="{_MUTED}">{number:>4}</span> {text}'
        if own:
            inner = highlighted_html(textwrap.dedent("\n".join(own)))
            inner = f'<div style="margin-left:3.5em;border-left:3px solid #b246c8;padding-left:0.6em">{inner}</div>'
            rows.append(
                f'<details><summary style="cursor:pointer;list-style-position:outside">{shown}</summary>{inner}'
                "</details>")
        else:
            rows.append(f"<div>{shown}</div>")
    style = "font-family:monospace;white-space:pre;line-height:1.4;overflow-x:auto;padding-left:1.2em"
    return f'<div style="{style}">{"".join(rows)}</div>'
