"""What is told of a derivative that is compiled again and again: which argument changes, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s.core.inspection import with_article
from s2s.core.values import AbstractValue, Array, Known, ListOf, Mapping, Same, Scalar, Sequence
from s2s.notices import Notice, log, tell

if TYPE_CHECKING:
    from s2s.dispatch.dispatcher import Dispatcher

__all__ = ["tell_of_versions"]

_OFTEN = (8, 16, 32, 64)
"""So many versions of one derivative are told of."""


def tell_of_versions(dispatcher: Dispatcher, avals: tuple[AbstractValue, ...]) -> None:
    """Say of a derivative that is compiled for these arguments beside its other versions what is new about them."""
    versions = dispatcher.versions
    if not versions:
        return
    why = _difference(dispatcher.target.parameters, versions[-1].avals, avals)
    log("%s is compiled again, for version %d: %s", dispatcher.name, len(versions) + 1, why)
    code = dispatcher.target.function.__code__
    if len(versions) + 1 in _OFTEN and not code.co_filename.startswith("<s2s "):  # that has no line of the program
        text = f"`{dispatcher.name}` is compiled for the {len(versions) + 1}th time: {why}"
        tell([Notice("RecompilationWarning", text, code.co_filename, code.co_firstlineno, dispatcher.name)])


def _difference(names: tuple[str, ...], before: tuple[AbstractValue, ...], now: tuple[AbstractValue, ...]) -> str:
    """How arguments differ from those of another version."""
    changed = [
        f"`{name}` is {_kind(new)}, it was {_kind(old)}" if _kind(new) != _kind(old) else f"`{name}` is of another kind"
        for name, old, new in zip(names, before, now, strict=True) if old != new
    ]
    return "; ".join(changed) or "how large its arguments are has changed, or something else that its code relies on"


def _kind(aval: AbstractValue) -> str:
    """What is known of an argument, in a few words."""
    match aval:
        case Known(value):
            return f"the value {getattr(value, 'value', value)!r}"[:60]
        case Array():
            lengths = ", ".join(map(str, aval.shape)) if aval.shape is not None else "..."
            return f"an array of {aval.dtype} of shape ({lengths})"
        case Scalar(kind):
            return with_article(kind.__name__)
        case Sequence(kind, items):
            return f"{with_article(kind.__name__)} of {len(items)} items"
        case ListOf():
            return "a list of any length"
        case Same(name):
            return f"the same object as `{name}`"
        case Mapping(keys):
            return f"a dict of {len(keys)} items"
        case _:
            return with_article(type(aval).__name__.lower())
