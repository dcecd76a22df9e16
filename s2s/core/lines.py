"""A text of Python in, its lines out, as Python itself counts them.

A line ends at a line feed, a carriage return, or both in this order. ``str.splitlines`` also ends lines at a form feed,
a vertical tab, U+001C to U+001E, U+0085, U+2028 and U+2029, which to Python are part of a comment or a string: what
follows one of them in a comment would become code. No other module of s2s calls it, or what is built on it.
"""

from __future__ import annotations

import io

__all__ = ["indented", "lines_of", "one_line"]


def lines_of(text: str, keepends: bool = False) -> list[str]:
    """Split a text of Python into its lines, each with a line feed at its end where ``keepends``."""
    lines = io.StringIO(text, newline=None).readlines()
    return lines if keepends else [line.removesuffix("\n") for line in lines]


def one_line(text: str) -> str:
    """Write a text, as a comment or a message shows it, so that it is one line to every reader."""
    return " ".join(text.splitlines())


def indented(text: str) -> str:
    """Indent the lines of a text by four blanks, empty ones apart."""
    return "".join(f"    {line}" if line.strip() else line for line in lines_of(text, keepends=True))
