"""What may pass what: takes an operation, says whether it reads or changes the world around it.

What is not known counts as having an effect, which costs a name, never a mistake.
"""

from __future__ import annotations

import enum
from typing import assert_never

from s2s import runtime as rt
from s2s.analysis.functions import does_nothing_else, facts
from s2s.core.ir import Call, Const, Let, Load, MakeFunction, Star, Statement, Value, Var

__all__ = [
    "ACTS", "CHECKS_OF_EXPECTED", "CHECKS_OF_KINDS", "CHECKS_OF_RELIED", "PURE", "READS", "WRITES_OUTSIDE", "Effect",
    "effect_of", "writes_outside",
]

WRITES_OUTSIDE = tuple(map(Const, (
    rt.record, rt.record_item, rt.record_attribute, rt.record_variable, rt.record_content, rt.record_static,
    rt.remove_item)))
"""What does outside of the function what the program does there: once, in the forward sweep."""

CHECKS_OF_RELIED = (
    rt.check_option, rt.check_attribute, rt.check_unshadowed, rt.check_names, rt.check_alias, rt.check_kind)
"""What checks that a version may still rely on what it was made for (``specialize.relied``)."""

CHECKS_OF_EXPECTED = tuple(map(Const, (rt.expect, rt.expect_kind, rt.expect_array, rt.expect_items)))
"""What checks that a value is what it was when the function was observed (``specialize.expected``)."""

CHECKS_OF_KINDS = (*CHECKS_OF_EXPECTED, Const(rt.check_operand))
"""What checks of which kind a value is: once is enough."""


class Effect(enum.IntEnum):
    """``PURE`` depends on names only, ``READS`` may look at what a store changes, ``ACTS`` may change it."""

    PURE = 0
    READS = 1
    ACTS = 2


PURE, READS, ACTS = Effect


def writes_outside(s: Statement) -> bool:
    """Whether a statement, the blocks in it left out, does something outside of the function."""
    return isinstance(s, Let) and isinstance(s.value, Call) and s.value.fn in WRITES_OUTSIDE


def effect_of(value: Value) -> Effect:
    """The effect of evaluating one operation on atoms."""
    if isinstance(value, Call):
        if not isinstance(value.fn, Const):
            return ACTS
        fn, kwargs = value.fn.value, value.kwargs
        if not does_nothing_else(fn, kwargs) or any(key == "out" or key is None for key, _ in kwargs):
            return ACTS
        return READS if facts(fn).looks or Star in map(type, value.args) else PURE
    match value:
        case Var() | Const() | MakeFunction():
            return PURE
        case Load():
            return READS
        case _ as never:
            assert_never(never)
