"""Rules of the helpers of SciPy for the array standard."""

from __future__ import annotations

import importlib

from s2s.models import array_api as models
from s2s.rules.table import model, zero


def _helper(name: str, *modules: str) -> object | None:
    """A function of SciPy that each version has in another one of its modules, or not at all."""
    for module in modules:
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
    return None


_apply_where = _helper("apply_where", "scipy._lib.array_api_extra", "scipy._external.array_api_extra")
if callable(_apply_where):
    model(_apply_where)(models.apply_where)
_lazywhere = _helper("_lazywhere", "scipy._lib._util")
if callable(_lazywhere):
    model(_lazywhere)(models.lazywhere)
zero(models.some_chosen)
