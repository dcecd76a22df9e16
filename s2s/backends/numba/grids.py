"""``np.mgrid[a:b, c:d]`` and ``np.ogrid[...]`` as calls."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

__all__ = ["bounds_of", "grid_points"]


def grid_points(name: str, is_unpacked: bool, *bounds: Any) -> Any:
    """The points of the grid ``name`` between these bounds, three for each axis; a tuple where it is unpacked."""
    index = tuple([slice(*bounds[k : k + 3]) for k in range(0, len(bounds), 3)])
    points = getattr(np, name)[index if len(index) > 1 else index[0]]
    return tuple(points) if is_unpacked else points


def bounds_of(index: ast.expr) -> list[ast.expr] | None:
    """The bounds of the slices in brackets, three for each; None for other indices."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    bounds: list[ast.expr] = []
    for part in parts:
        if not isinstance(part, ast.Slice):
            return None
        bounds += [bound or ast.Constant(None) for bound in (part.lower, part.upper, part.step)]
    return bounds
