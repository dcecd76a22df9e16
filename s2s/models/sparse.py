"""Products with sparse matrices that are constant."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt

__all__ = ["product", "product_from_left"]


def product(matrix: Any, x: Any) -> Any:
    """A @ x."""
    return matrix @ x


def product_from_left(matrix: Any, x: Any) -> Any:
    """x @ A."""
    return x @ matrix


def times(self: Any, other: Any) -> Any:
    if isinstance(other, (list, tuple)):
        other = np.asarray(other)
    if not isinstance(other, np.ndarray):
        return rt.no_derivative("a sparse matrix times this", "it has a rule for products with arrays")
    return product(self, other)


def times_from_left(self: Any, other: Any) -> Any:
    if isinstance(other, (list, tuple)):
        other = np.asarray(other)
    if not isinstance(other, np.ndarray):
        return rt.no_derivative("this times a sparse matrix", "it has a rule for products with arrays")
    return product_from_left(self, other)


def dot(self: Any, other: Any) -> Any:
    return times(self, other)
