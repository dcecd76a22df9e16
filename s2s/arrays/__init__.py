"""Arrays of other modules than NumPy: what stands for NumPy, and for the run-time helpers, in code for such arrays.

    np = on(cupy)                          NumPy's names, each with what CuPy has
    rt = on(cupy, "s2s.runtime")           the helpers, which call these in the place of NumPy

``docs/design/arrays.md`` says why.
"""

from __future__ import annotations

from s2s.arrays.counterparts import in_numpy, made_by, on

__all__ = ["in_numpy", "made_by", "on"]

on.__module__ = __name__
