"""How the reverse sweep gets the primal values that it reads: one decision for each, with its reason as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, TypeAlias

from s2s.core import ir

__all__ = ["Decision", "How", "Plan", "Reason"]

How: TypeAlias = Literal["in scope", "keep", "recompute", "undo", "hoist", "checkpoint", "replay"]
"""Where a residual comes from: it stands where the forward sweep left it; it is kept for each iteration; each iteration
of the reverse sweep computes it; the store that overwrote it is undone; it is computed once before the loop of the
reverse sweep; it is a part of the state that a checkpoint keeps; the block that computes it is replayed."""


class Reason(Enum):
    """Why a residual comes from where it does; ``{other}`` and ``{line}`` are filled in by ``Decision``."""

    RUNS_ONCE = "its block runs once, and nothing overwrites it"
    SYNTAX = "an index is written where it is used"
    SAME_VALUE = "{other} holds the same value"
    NEXT_ITERATION = "the next iteration begins with it as {other}, which is kept"
    STORED = "line {line} has put it into an array, which holds it"
    FEW_OPERATIONS = "few cheap operations give it"
    STILL_THERE = "nothing overwrites it in its array before it is read again"
    INDUCTION = "it grows by the same amount in each iteration"
    FROM_BUFFERS = "few operations give it from arrays whose stores are undone"
    INVARIANT = "it is the same in every iteration"
    LAST_ITERATION = "it is the same in every iteration, and the last one leaves it"
    CHANGES = "the next iteration overwrites it"
    SHAPE_ONLY = "the next iteration overwrites it; only its shape and dtype are read"
    OVERWRITTEN = "line {line} overwrites what it holds"
    STATE = "a replay of its loop starts from it"
    REPLAYED = "its block is replayed"


@dataclass(frozen=True)
class Decision:
    """How the reverse sweep gets a primal value, and why. ``other`` is a variable that the reason names, ``span`` where
    the statement stands that it names."""

    value: ir.Var
    how: How
    reason: Reason
    other: ir.Var | None = None
    span: ir.Span | None = None

    def __str__(self) -> str:
        line = "?" if self.span is None else self.span.line
        return f"{self.how}: " + self.reason.value.format(other=self.other, line=line)


@dataclass
class Plan:
    """The decisions for one function, by the value that each is about."""

    decisions: dict[ir.Var, Decision] = field(default_factory=dict)

    def add(
        self, value: ir.Var, how: How, reason: Reason, other: ir.Var | None = None, span: ir.Span | None = None
    ) -> None:
        """Decide; a sweep that is written again decides again."""
        self.decisions[value] = Decision(value, how, reason, other, span)
