"""What may pass what, for the emitter's own form: what an operation reads or changes of the world around it."""

from __future__ import annotations

from typing import assert_never

from s2s.analysis import effects
from s2s.analysis.effects import PURE, READS, Effect
from s2s.codegen.code import Comprehension, Conditional, Junction, Tree
from s2s.core.ir import Call, Const, Load, MakeFunction, Var

__all__ = ["effect_of"]


def effect_of(tree: Tree) -> Effect:
    """The effect of evaluating one operation on atoms."""
    if isinstance(tree, Call):  # most are
        return effects.effect_of(tree)
    match tree:
        case Conditional() | Junction():
            return PURE
        case Comprehension():
            return READS
        case Var() | Const() | Load() | MakeFunction():
            return effects.effect_of(tree)
        case _ as never:
            assert_never(never)
