"""A page for each error code, made of ``docs/errors.md``, of the catalogue of ``s2s.errors``, and of what the examples
raise while the documents are built.

On the site ``errors.md`` is the list of these pages, and links to its sections lead to them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from s2s.cli.pages import GROUP, of_codes, prelude
from s2s.errors import CATALOGUE

EXAMPLE = re.compile(r"```python\n(.*?)```\n", re.S)
SUMMARY = re.compile(r"\A\s*\*\*(.*?)\*\* \(`(\w+)`\)\n", re.S)


RUN = """
import pathlib, runpy, sys
from s2s.errors import DifferentiationError
for file in sorted(pathlib.Path(".").glob("*.py")):
    try:
        runpy.run_path(str(file.absolute()))
    except DifferentiationError as problem:
        assert problem.diagnostic.code == file.stem, (file.stem, problem)
        file.with_suffix(".txt").write_text(str(problem), encoding="utf-8")
    else:
        sys.exit(f"the example of {file.stem} raises nothing")
"""


def messages(examples: dict[str, str]) -> dict[str, str]:
    """What each example raises, by its code: all of them run in one process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for code, example in examples.items():
            (folder / f"{code}.py").write_text(example, encoding="utf-8")
        settings = {**os.environ, "S2S_RECORDED": "0", "S2S_CACHE": "off", "S2S_BACKEND": "numpy"}
        # out of what the examples print and warn of, nothing is shown
        done = subprocess.run(
            [sys.executable, "-c", RUN], cwd=folder, env=settings, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"the examples of errors.md: {done.stderr}")
        found = {}
        for code in examples:
            text = (folder / f"{code}.txt").read_text(encoding="utf-8")
            found[code] = re.sub(rf"[^\s(\"']*{re.escape(folder.name)}/", "", text)
        return found


def page(code: str, body: str, title: str, message: str) -> str:
    """The page of one code."""
    summary = SUMMARY.match(body)
    assert summary, code
    kind, expected = summary[2], CATALOGUE[code][0].__name__
    assert kind == expected, f"errors.md has {kind} for {code}, which raises {expected}"
    said = EXAMPLE.sub(lambda block: f"```python\n{block[1]}```\n\n{shown(message)}", body[summary.end() :], count=1)
    return (
        f"---\norphan: true\n---\n\n# {code}\n\n**{summary[1]}**\n\n{said.strip()}\n\n"
        f"Raised as {{py:exc}}`s2s.errors.{kind}`. One of [the errors](../errors.md) of the group *{title}*.\n"
    )


def shown(message: str) -> str:
    return f"This raises\n\n```text\n{message.rstrip()}\n```\n" if message else ""


def write(app: Any) -> None:
    """Write the pages that have changed, and remove those that are no more."""
    source = Path(app.srcdir)
    text = (source / "errors.md").read_text(encoding="utf-8")
    grouped = of_codes(text)
    bodies = {code: body for part in grouped.values() for code, body in part.items()}
    assert set(bodies) == set(CATALOGUE), set(bodies) ^ set(CATALOGUE)
    start = prelude(text)
    raised = messages({code: start + found[1] for code, body in bodies.items() if (found := EXAMPLE.search(body))})
    folder = source / "errors"
    folder.mkdir(exist_ok=True)
    made = {}
    for title, part in grouped.items():
        for code, body in part.items():
            made[f"{code}.md"] = page(code, body.replace("](", "](../"), title, raised.get(code, ""))
    for file in folder.iterdir():
        if file.name not in made:
            file.unlink()
    for name, content in made.items():
        file = folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != content:
            file.write_text(content, encoding="utf-8")


def replace(app: Any, docname: str, content: list[str]) -> None:
    """``errors.md`` as the list of the pages; in all others, links to its sections as links to the pages."""
    if docname == "errors":
        content[0] = listed(content[0])
    else:
        up = "../" * docname.count("/")
        content[0] = re.sub(
            r"\((?:\.\./)?errors\.md#(s2s\d{3})\)", lambda link: f"({up}errors/{link[1].upper()}.md)", content[0]
        )


def listed(text: str) -> str:
    """The beginning of the page, and a table for each group."""
    lines = [GROUP.split(text)[0].partition("The examples begin with")[0].strip(), ""]
    for title, part in of_codes(text).items():
        lines += [f"## {title}", "", "| | |", "|---|---|"]
        for code, body in part.items():
            summary = SUMMARY.match(body)
            assert summary
            lines.append(f"| [{code}](errors/{code}.md) | {summary[1].replace('|', chr(92) + '|')} |")
        lines.append("")
    lines += ["The examples of these pages begin with", "", "```python", prelude(text).strip(), "```", ""]
    return "\n".join(lines)


def leave_out_source(app: Any, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """No links to the source of the pages, which is in no repository."""
    if re.fullmatch(r"errors/S2S\d{3}", pagename):
        context.pop("page_source_suffix", None)


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write)
    app.connect("source-read", replace)
    app.connect("html-page-context", leave_out_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
