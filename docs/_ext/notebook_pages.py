"""Notebooks as pages: a notebook goes in, cells and outputs as MyST come out. Nothing is run."""

import json
import re

from myst_parser.parsers.sphinx_ import MystParser

__all__ = ["NotebookParser", "as_myst", "setup"]


def as_myst(text):
    """The text of a page for that of a notebook."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += [shown for output in cell["outputs"] if (shown := _output(output))]
    return "\n\n".join(parts) + "\n"


def _output(output):
    if output["output_type"] == "stream":
        return _literal("".join(output["text"]))
    if output["output_type"] == "error":
        return _literal(re.sub(r"\x1b\[[\d;]*m", "", "\n".join(output["traceback"])))
    data = {kind: "".join(lines) for kind, lines in output["data"].items()}
    if "text/html" in data:  # no blank line, which would end it
        return "```{raw} html\n" + data["text/html"] + "\n```"
    return _literal(data.get("text/plain", ""))


def _literal(text):
    return f"```text\n{text.rstrip()}\n```" if text.strip() else ""


class NotebookParser(MystParser):
    """Parses notebooks."""

    supported = ("notebook",)

    def parse(self, inputstring, document):
        super().parse(as_myst(inputstring), document)


def setup(app):
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True}
