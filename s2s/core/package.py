"""s2s itself: its version, and where its files lie."""

from __future__ import annotations

import os

__all__ = ["DISTRIBUTION", "ROOT", "__version__", "install"]

__version__ = "0.1.0"

DISTRIBUTION = "s2s-grad"
"""What the package index calls it: the name `s2s` there belongs to others."""

ROOT = os.path.dirname(os.path.dirname(__file__))
"""The folder of the package."""


def install(extra: str) -> str:
    """The command that installs an extra."""
    return f'pip install "{DISTRIBUTION}[{extra}]"'
