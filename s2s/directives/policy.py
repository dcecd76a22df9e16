"""What a program decides about a function: a policy at its steps, or another rule."""

from __future__ import annotations

from typing import Any

from s2s.core.record import record

__all__ = ["Override", "Policy"]


@record
class Policy:
    """What stands for the derivative of a piecewise constant function: one of ``POLICIES``, or ``"open"`` while that
    is not decided. ``why`` says what it was decided by, where the program has chosen nothing."""

    name: str
    sharpness: float | None = None
    why: str = ""

    def __str__(self) -> str:
        return f'nonsmooth="{self.name}"' + (f", sharpness={self.sharpness:g}" if self.sharpness else "")


@record
class Override:
    """A rule that stands for that of a function: ``"identity"``, ``"zero"``, or a function
    ``rule(out, out_bar, *args, **kwargs)``; ``name`` is the one that it is registered under."""

    rule: Any
    name: str = ""

    def __str__(self) -> str:
        if isinstance(self.rule, str):
            return f'the rule "{self.rule}"'
        code = getattr(self.rule, "__code__", None)
        shown = f'"{self.name}"' if self.name else getattr(self.rule, "__name__", repr(self.rule))
        where = f" ({code.co_filename.rsplit('/', 1)[-1]}:{code.co_firstlineno})" if code is not None else ""
        return f"the rule {shown}{where}"
