"""Rules of the helpers of SciPy for the array standard."""

from __future__ import annotations

from s2s.models import array_api as models
from s2s.rules.table import model, zero

try:
    from scipy._lib import array_api_extra
except ImportError:  # another version of SciPy has it elsewhere, or not at all
    array_api_extra = None

_apply_where = getattr(array_api_extra, "apply_where", None)
if _apply_where is not None:
    model(_apply_where)(models.apply_where)
zero(models.some_chosen)
