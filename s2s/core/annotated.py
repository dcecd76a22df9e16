"""A function goes in, its signature or its annotations come out, whatever names the annotations hold.

From Python 3.14 on annotations are evaluated when they are asked for: ``inspect.signature`` and ``__annotations__``
raise NameError where one holds a name that is imported for type checkers only. Here such a one stands as it is written.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["annotations_of", "signature_of"]

if sys.version_info >= (3, 14):
    import annotationlib

    def signature_of(f: Callable[..., Any]) -> inspect.Signature:
        """What ``inspect.signature`` returns."""
        return inspect.signature(f, annotation_format=annotationlib.Format.FORWARDREF)

    def annotations_of(f: Callable[..., Any]) -> dict[str, Any]:
        """The annotations by name, a text where they cannot be evaluated."""
        found = annotationlib.get_annotations(f, format=annotationlib.Format.FORWARDREF)
        texts = annotationlib.get_annotations(f, format=annotationlib.Format.STRING)
        return {
            name: texts[name] if isinstance(kind, annotationlib.ForwardRef) else kind for name, kind in found.items()
        }

else:
    signature_of = inspect.signature

    def annotations_of(f: Callable[..., Any]) -> dict[str, Any]:
        """The annotations by name, a text where they cannot be evaluated."""
        return f.__annotations__
