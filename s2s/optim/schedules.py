"""Learning rates that change with the step: each is called with the number of steps taken so far, 0 at the first.

Any function of a step is a schedule; these are some that pickle and print.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from s2s.directives.differentiable import option_error

__all__ = ["Constant", "CosineDecay", "ExponentialDecay", "PiecewiseConstant", "Rate", "WarmUp", "rate_at"]

Rate = float | Callable[[int], float]


def rate_at(rate: Rate, step: int) -> float:
    """A rate at a step. Raises ArgumentError where that is no finite number, or is negative."""
    found = float(rate(step) if callable(rate) else rate)
    if not (math.isfinite(found) and found >= 0.0):
        raise option_error(f"the learning rate at step {step} is {found}", "give a number that is not negative")
    return found


def _check(holds: bool, problem: str, hint: str) -> None:
    if not holds:
        raise option_error(problem, hint)


@dataclass(frozen=True)
class Constant:
    """The same rate at all steps.

    >>> from s2s.optim import schedules
    >>> schedules.Constant(0.1)(7)
    0.1
    """

    rate: float

    def __call__(self, step: int) -> float:
        return self.rate


@dataclass(frozen=True)
class ExponentialDecay:
    """``initial * factor ** (step / steps)``: times ``factor`` every ``steps`` steps, with ``staircase`` all at once.

    >>> from s2s.optim import schedules
    >>> decay = schedules.ExponentialDecay(0.1, steps=10, factor=0.5)
    >>> [decay(0), decay(10), decay(20)]
    [0.1, 0.05, 0.025]
    """

    initial: float
    steps: float
    factor: float
    staircase: bool = False

    def __post_init__(self) -> None:
        _check(self.steps > 0, f"`steps` of a schedule is {self.steps}", "give a positive number")

    def __call__(self, step: int) -> float:
        periods = step / self.steps
        return self.initial * self.factor ** (math.floor(periods) if self.staircase else periods)


@dataclass(frozen=True)
class CosineDecay:
    """From ``initial`` along half a period of a cosine to ``last`` at step ``steps``, and ``last`` from there on
    (Loshchilov and Hutter, SGDR, 2017).

    >>> from s2s.optim import schedules
    >>> decay = schedules.CosineDecay(0.1, steps=100)
    >>> [round(decay(step), 3) for step in (0, 50, 100, 200)]
    [0.1, 0.05, 0.0, 0.0]
    """

    initial: float
    steps: float
    last: float = 0.0

    def __post_init__(self) -> None:
        _check(self.steps > 0, f"`steps` of a schedule is {self.steps}", "give a positive number")

    def __call__(self, step: int) -> float:
        part = 0.5 * (1.0 + math.cos(math.pi * min(step / self.steps, 1.0)))
        return self.last + (self.initial - self.last) * part


@dataclass(frozen=True)
class PiecewiseConstant:
    """``rates[0]`` before step ``boundaries[0]``, ``rates[1]`` from there to before ``boundaries[1]``, and so on.

    >>> from s2s.optim import schedules
    >>> steps = schedules.PiecewiseConstant([100, 200], [0.1, 0.01, 0.001])
    >>> [steps(99), steps(100), steps(1000)]
    [0.1, 0.01, 0.001]
    """

    boundaries: Sequence[int]
    rates: Sequence[float]

    def __post_init__(self) -> None:
        _check(
            len(self.rates) == len(self.boundaries) + 1,
            f"a schedule has {len(self.boundaries)} boundaries and {len(self.rates)} rates",
            "give one rate more than boundaries",
        )
        _check(
            list(self.boundaries) == sorted(self.boundaries), "the boundaries of a schedule do not ascend", "sort them"
        )

    def __call__(self, step: int) -> float:
        return self.rates[bisect.bisect_right(self.boundaries, step)]


@dataclass(frozen=True)
class WarmUp:
    """From ``initial`` in a straight line to where ``then``, a rate or a schedule, begins, which it reaches at step
    ``steps``; from there on ``then``, whose steps are counted from there.

    >>> from s2s.optim import schedules
    >>> rate = schedules.WarmUp(10, then=schedules.CosineDecay(0.1, steps=90))
    >>> [round(rate(step), 3) for step in (0, 5, 10, 55, 100)]
    [0.0, 0.05, 0.1, 0.05, 0.0]
    """

    steps: int
    then: Rate
    initial: float = 0.0

    def __post_init__(self) -> None:
        _check(self.steps >= 0, f"`steps` of a schedule is {self.steps}", "give the number of steps to warm up")

    def __call__(self, step: int) -> float:
        if step >= self.steps:
            return rate_at(self.then, step - self.steps)
        return self.initial + (rate_at(self.then, 0) - self.initial) * step / self.steps
