"""The bank: small functions named by language feature, with inputs, that all of s2s is run over.

Each module registers its functions with ``@case(...)``; ``CASES`` has them all. The functions are plain
Python: nothing in the bank knows s2s. ``python -m tests.bank.check`` validates the bank itself: every
function is finite and smooth near its inputs, so that central differences can be trusted.
"""

from tests.bank import (
    arrays,
    assignments,
    branches,
    calls,
    comprehensions,
    containers,
    exits,
    guarded,
    idioms,
    kinds,
    loops,
    mapped,
    math_module,
    mutable,
    numpy_core,
    numpy_more,
    objects,
    operators,
    rounding,
    saved,
    scopes,
    settled,
    subscripts,
    whiles,
)
from tests.bank.registry import CASES, Case, case

MODULES = (
    arrays, assignments, branches, calls, comprehensions, containers, exits, guarded, idioms, kinds, loops, mapped,
    math_module, mutable, numpy_core, numpy_more, objects, operators, rounding, saved, scopes, settled,
    subscripts, whiles,
)

__all__ = ["CASES", "MODULES", "Case", "case"]
