"""What an index names: whether it may name an element twice, by how it was made."""

from __future__ import annotations

import numpy as np

from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.memory import may_repeat
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.values import Array

__all__ = ["names_twice"]


def names_twice(context: Context, index: ir.Atom) -> bool:
    """Whether an index may name an element twice. ``x[np.arange(n), labels]`` does not: it has one element of each row.
    Other arrays beside the ``arange`` have one dimension at most, so that they are not combined with all of it."""
    if not may_repeat(context.value(index)):
        return False
    parts = context.definition(index, ops.make_tuple) or (index,)
    if not any(_counts(context, part) for part in parts):
        return True
    for part in parts:
        known = context.value(part)
        if isinstance(known, Array):
            if known.dtype.kind not in "iu" or known.shape is None or len(known.shape) > 1:
                return True
        elif may_repeat(known) and not is_number(known):
            return True
    return False


def _counts(context: Context, part: ir.Atom) -> bool:
    """Whether it is ``np.arange(n)``, which nothing changes: numbers from zero, each once."""
    made = context.definition(part, np.arange) if part not in context.changed else None
    return made is not None and len(made) == 1 and is_number(context.value(made[0]))
