"""s2s itself: its version, and where its files lie."""

from __future__ import annotations

import os

__all__ = ["ROOT", "__version__"]

__version__ = "0.1.0"

ROOT = os.path.dirname(os.path.dirname(__file__))
"""The folder of the package."""
