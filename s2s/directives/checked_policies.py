"""Policies as the user gives them, by function or by the name of a function; checked, as a choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from s2s.directives import surrogates
from s2s.directives.policy import POLICIES, SHARPNESS, Choice, Policy
from s2s.errors import error

__all__ = ["policies"]


def policies(given: Mapping[Any, Any], sharpness: float | None = None) -> Choice:
    """Policies by function name or function, ``""`` for all. Raises ArgumentError."""
    if sharpness is not None and not (isinstance(sharpness, (int, float, np.number)) and 0 < sharpness < np.inf):
        raise error("S2S511", problem=f"the sharpness is {sharpness!r}", hint="give a positive number")
    made = []
    for key, policy in given.items():
        policy = policy.replace("-", "_") if isinstance(policy, str) else policy
        if policy not in POLICIES:
            hint = f"choose among {', '.join(POLICIES)}"
            raise error("S2S511", problem=f"there is no policy {policy!r}", hint=hint)
        if key != "":
            surrogates.check_policy(key, policy)
        made.append((key, Policy(policy, (sharpness or SHARPNESS[policy]) if policy in SHARPNESS else None)))
    return Choice(tuple(made))
