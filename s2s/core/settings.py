"""Environment variables that decide what code is generated: a version compiled under one setting is for that only."""

from __future__ import annotations

import os

__all__ = ["passes_setting"]


def passes_setting() -> str:
    """``S2S_PASSES``, the same text for settings that mean the same: the names in order, between commas."""
    text = os.environ.get("S2S_PASSES", "")
    return ",".join(sorted({name for part in text.split(",") if (name := part.strip())})) if text else ""
