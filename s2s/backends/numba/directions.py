"""Functions of ``runtime.directions`` in compiled code: many tangents or cotangents side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numba.np.numpy_support import as_dtype

from s2s.backends.numba.overloads import unbroadcast as unbroadcast_one

__all__ = ["unbroadcast"]


def unbroadcast(g: Any, x: Any) -> Any:
    """``directions.unbroadcast``"""
    raise NotImplementedError


@overload(unbroadcast)
def _unbroadcast(g, x):
    if not isinstance(g, types.Array) or g.ndim == 0:
        return None
    if isinstance(x, types.Array) and isinstance(x.dtype, (types.Float, types.Complex)):
        kind = as_dtype(x.dtype)
        return lambda g, x: unbroadcast_one(g, np.empty(x.shape + (g.shape[-1],), kind))
    if isinstance(x, (types.Float, types.Complex)):
        of_number = as_dtype(x)
        return lambda g, x: unbroadcast_one(g, np.empty(g.shape[-1], of_number))
    return None
