"""How much a derivative leaves to its run because kinds are missing: what is a number and what an array.

    t3 = ell.semimajor_axis                 nothing is known of it, nor of what is computed with it
    x_bar = rt.unbroadcast(y_bar * t5, t3)  so each cotangent is fitted to its value when the sweep runs
"""

from __future__ import annotations

from collections.abc import Callable

from s2s import runtime as rt
from s2s.core import ir
from s2s.core.inspection import by_identity
from s2s.core.values import AbstractValue, Array, Unknown

__all__ = ["missing_kinds"]

IN_LOOP = 8
"""What is asked in a loop counts so often."""

_CALLS = by_identity(rt.call, rt.call_again, rt.call_method, rt.call_method_again, rt.push)


def missing_kinds(block: ir.Block, kind_of: Callable[[ir.Atom], AbstractValue], weight: int = 1) -> int:
    """How often the statements of a block ask a value, or its cotangent, for a kind that is not known, or have a call
    differentiated that the run decides."""
    found = 0
    for s in block.statements:
        if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and isinstance(s.value.fn, ir.Const):
            found += weight * _asks(s.value, kind_of)
        inner = IN_LOOP if isinstance(s, (ir.For, ir.While)) else weight
        found += sum(missing_kinds(b, kind_of, inner) for b in ir.blocks_of(s))
    return found


def _asks(call: ir.Call, kind_of: Callable[[ir.Atom], AbstractValue]) -> int:
    fn = call.fn.value  # type: ignore[union-attr]
    if id(fn) in _CALLS:
        return IN_LOOP
    if fn is not rt.unbroadcast:
        return 0
    return int(any(_is_missing(kind_of(atom)) for atom in call.args[:2] if not isinstance(atom, ir.Star)))


def _is_missing(value: AbstractValue) -> bool:
    return isinstance(value, Unknown) or (isinstance(value, Array) and value.shape is None)
