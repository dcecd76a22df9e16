"""The derivative rules of NumPy, ``math``, ``operator`` and the builtins. Importing this fills
``table.RULES``.
"""

from __future__ import annotations

from s2s.rules import elementwise, indexing, linalg, passive, products, python, reductions, shape
from s2s.rules.table import find

__all__ = [
    "elementwise", "find", "indexing", "linalg", "passive", "products", "python", "reductions", "shape",
]
