"""The derivative rules of NumPy, ``math``, ``operator`` and the builtins. ``table`` imports the
modules when a rule is first asked for."""

from __future__ import annotations

from s2s.rules.table import find

__all__ = ["find"]
