"""What is told where generated code runs on another backend than the one asked for."""

from __future__ import annotations

__all__ = ["NumbaFallbackWarning"]


class NumbaFallbackWarning(UserWarning):
    """Numba cannot compile the generated code of a version, which runs as Python with NumPy instead.

    The text says which line Numba stops at, and why. Results are the same; only speed is not.
    """
