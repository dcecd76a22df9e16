"""Calls of functions with a rule: a seed goes in, a ``Call`` comes out, with changes of its options, shapes, dtypes,
orders of memory and classes of arrays; ``outcome(call, modes)`` compares its derivatives with differences.

Modules in reading order: ``subjects`` (which functions, and calls of each to begin with), ``options`` (values of
options), ``calls`` (changes of a call, and its text), ``check`` (the verdict).
"""

from tests.fuzz.functions.calls import Call, drawn
from tests.fuzz.functions.check import MODES, SHARES, minimal, minimal_of_seed, of_seed, outcome

__all__ = ["MODES", "SHARES", "Call", "drawn", "minimal", "minimal_of_seed", "of_seed", "outcome"]
