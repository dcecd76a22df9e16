"""Parameters in, warnings out: of floats that are trained, and look as if they were options of an object."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2s.core.package import ROOT
from s2s.notices import Notice, tell
from s2s.optim.structures import ROOT as PARAMS
from s2s.optim.structures import parts_of

__all__ = ["tell_of_options"]

_WORDS = {"clip", "decay", "dropout", "eps", "epsilon", "lr", "momentum", "regularization", "tol", "tolerance"}


def tell_of_options(params: Any, masks: dict[str, Any]) -> None:
    """Warn, at the user's line, of fields that look like options and are not frozen."""
    found = [(place, owner, name) for place, owner, name in _options(params, PARAMS) if masks.get(place) is not True]
    if not found:
        return
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(ROOT + os.sep):
        frame = frame.f_back
    for place, owner, name in found:
        text = (
            f"`{place}` is trained, as every float: where it is an option of {owner}, say "
            f"`{name}: float = field(metadata={{\"static\": True}})` or `frozen={name!r}`; where it is a parameter, "
            f"`{{\"static\": False}}`"
        )
        tell([Notice("TrainedOptionWarning", text, frame.f_code.co_filename, frame.f_lineno)])


def _options(value: Any, place: str) -> Iterator[tuple[str, str, str]]:
    """The place, class and name of each float that looks like an option."""
    parts = parts_of(value) or []
    fields = getattr(type(value), "__dataclass_fields__", {})
    has_arrays = any(isinstance(part.value, np.ndarray) and part.value.dtype.kind == "f" for part in parts)
    for part in parts:
        field = fields.get(part.key)
        if field is not None and isinstance(part.value, float) and "static" not in field.metadata:
            has_default = isinstance(field.default, float) and field.default != 0.0
            if (has_arrays and has_default) or _WORDS & {*part.key.split("_")} or "learning_rate" in part.key:
                yield place + part.text, type(value).__name__, part.key
        yield from _options(part.value, place + part.text)
