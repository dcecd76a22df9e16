"""Paths that cannot be followed, and are refused only when they are taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s import runtime as rt
from s2s.builder.builder import Builder
from s2s.core import ir
from s2s.core.values import UNKNOWN
from s2s.errors import ABOUT_OBJECTS, DifferentiationError
from s2s.specialize.frames import Frame

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer


def may_refuse_later(specializer: Specializer, frame: Frame, problem: DifferentiationError) -> bool:
    """Whether a path that cannot be followed may be refused when it is taken: in code of another package than that
    of the function compiled, which has many paths that no user meets. Not where a handler would see the refusal,
    nor where a call can be left as it is instead."""
    if problem.diagnostic.code == "S2S901" or not may_refuse_some(specializer, frame):
        return False
    return not may_unroll(specializer, problem)


def may_unroll(specializer: Specializer, problem: DifferentiationError) -> bool:
    """Whether what is refused might be followed where loops of few iterations are unrolled."""
    is_unrolled = specializer.context.assumed.unrolled
    return specializer.has_short_loops and not is_unrolled and problem.diagnostic.code in ABOUT_OBJECTS


def may_refuse_some(specializer: Specializer, frame: Frame) -> bool:
    """Whether there are refusals that may come when a path of this function is taken."""
    return not (specializer.catching or specializer.followed or specializer.is_own(frame.fn))


def refusal(problem: DifferentiationError, builder: Builder) -> Builder:
    """The block that refuses a path."""
    child, place = builder.child(), problem.diagnostic.span
    where = "" if place is None else f"{'/'.join(place.file.split('/')[-2:])}:{place.line}"
    given = (ir.Const(problem.diagnostic.summary), ir.Const(where))
    made = child.let(ir.Call(ir.Const(rt.path_error), given), UNKNOWN)
    child.add(ir.Raise(made, None, place))
    return child


__all__ = ["may_refuse_later", "may_refuse_some", "may_unroll", "refusal"]
