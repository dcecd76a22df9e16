"""s2s itself: its version, and where its files lie."""

from __future__ import annotations

import os

__all__ = ["DISTRIBUTION", "DOCUMENTS", "ROOT", "__version__", "install", "page_of"]

__version__ = "0.1.0"

DISTRIBUTION = "s2s-grad"
"""What the package index calls it: the name `s2s` there belongs to others."""

DOCUMENTS = "https://github.com/s2s-grad/s2s/blob/main/docs"
"""Where the documents are read; their text is in the wheel as well, for ``s2s explain``."""

ROOT = os.path.dirname(os.path.dirname(__file__))
"""The folder of the package."""


def install(extra: str) -> str:
    """The command that installs an extra."""
    return f'pip install "{DISTRIBUTION}[{extra}]"'


def page_of(name: str) -> str:
    """Where an error code, or the category of a warning, is explained."""
    return f"{DOCUMENTS}/{'errors' if name.startswith('S2S') else 'warnings'}.md#{name.lower()}"
