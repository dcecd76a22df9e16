"""What an attempt at a compilation takes for granted, and the exception of whoever finds that it is not so.

    assumed = Assumptions()
    try:
        attempt(assumed)                            # raises Refuted(in_place={span})
    except Refuted as problem:
        attempt(assumed.weaker_after(problem))      # x += v changes the array there
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from s2s.core.limits import TooLong
from s2s.core.record import record, replace
from s2s.core.settings import validating
from s2s.errors import DifferentiationError

__all__ = ["Assumptions", "Refuted"]

_NOTHING: Mapping[Any, Any] = types.MappingProxyType({})


class Refuted(Exception):
    """Assumptions do not hold: ``learned`` is what to add to the fields of ``Assumptions``. No attempt at anything else
    goes on after this, but for calls that can be left to the run of the program."""

    def __init__(self, **learned: Any) -> None:
        super().__init__(f"not so: {', '.join(learned)}")
        self.learned = learned


@record
class Assumptions:
    """What an attempt takes for granted; each field says where that is not so."""

    arrays: Mapping[type, str] = _NOTHING
    """All arrays are NumPy's, but for these classes, by the argument or variable that is one."""
    passive: bool = False
    """What the primal calls has a derivative; otherwise nothing is differentiated, which the primal alone allows."""
    structures: bool = False
    """Containers in variables and attributes may be data."""
    data: Mapping[int, Any] = _NOTHING
    """Such containers are structures, but for these, by ``id``: a loop would be written out for their items."""
    unrolled: bool = False
    """Loops of few iterations stay loops: what happens to objects can be followed through them."""
    in_place: frozenset[Any] = frozenset()
    """``x += v`` is ``x = x + v``, but at these source locations: others who refer to the array see it change."""
    equal: Mapping[str, int] = _NOTHING
    """Lengths of arguments may be any, but for these."""
    least: Mapping[str, int] = _NOTHING
    """Lengths of arguments may be small, but for these, which are no smaller."""
    changing_masks: bool = False
    """Two reads by one mask give as many items, as nothing stores into it."""
    unfolded: frozenset[Any] = frozenset()
    """Numbers in objects, containers (by ``id``) and variables are taken by value, but not in these, which change."""
    modelled: frozenset[Any] = frozenset()
    """Models stand for functions that something differentiated goes into, and for these: it is stored in the result."""
    followed: frozenset[int] = frozenset()
    """Containers of objects that one function only writes to are logs, but for these, by ``id``: another reads them."""
    shares_stacks: bool = False
    """Nothing differentiated is stored into an array after it was pushed to a stack."""
    checks: bool = False
    """What was found when the function began stays so while it runs: it need not be checked."""

    def joined(self, **learned: Any) -> Assumptions:
        """The weaker assumptions that what was learned leaves."""
        return replace(self, **{name: getattr(self, name) | found for name, found in learned.items()})

    def check(self, **learned: Any) -> None:
        """Raise Refuted where what was learned is not known already."""
        if self.joined(**learned) != self:
            raise Refuted(**learned)

    def weaker_after(self, problem: Exception, may_be_passive: bool) -> Assumptions | None:
        """What the next attempt takes for granted after one that has ended so; None where none can do better.

        After a refusal it begins with nothing learned, but for what is given up. A mistake of the compiler counts as a
        refusal, unless mistakes are looked for."""
        if isinstance(problem, Refuted):
            weaker = self.joined(**problem.learned)
            if weaker != self:
                return weaker
        if isinstance(problem, TooLong):  # the others are no shorter
            return None
        if may_be_passive and not self.passive and isinstance(problem, DifferentiationError):
            return Assumptions(self.arrays, True, self.structures, self.data)
        if self.data and (hasattr(problem, "diagnostic") or not validating()):
            return Assumptions(self.arrays, structures=True)
        return None
