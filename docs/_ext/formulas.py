"""Formulas in LaTeX go in, MathML comes out, which browsers show by themselves: a page needs no script and no network.

A formula that is not understood ends the build.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes


def inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(as_mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math">{as_mathml(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def as_mathml(formula: str, display: str) -> str:
    from latex2mathml.converter import convert

    made = convert(formula, display=display)
    if "\\" in made:  # a command that is not known is left as it is
        raise ValueError(f"a formula that cannot be shown: {formula}")
    return str(made)


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
