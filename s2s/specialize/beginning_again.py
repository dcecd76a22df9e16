"""Whether a function may begin again, where a check fails of what was observed.

    print(x)                                    k = registry.k
    k = registry.k                              rt.expect_kind(k, float)
    rt.expect_kind(k, float)                    print(x)                        # once, whatever k is

What is seen outside of the function would be done twice: no check may come after it.
"""

from __future__ import annotations

import collections
import random
import warnings
from typing import Any

import numpy as np

from s2s.analysis.abstract.draws import is_of_stream
from s2s.analysis.effects import WRITES_OUTSIDE
from s2s.analysis.functions import facts
from s2s.core import ir, ops
from s2s.core.inspection import public_module
from s2s.errors import error
from s2s.specialize.expected import CHECKS, NOTED
from s2s.versions.observed import observed

__all__ = ["acts_outside", "check_order"]


def check_order(body: ir.Block) -> None:
    """Raise where a check may fail after something was done that is seen outside of the function."""
    seen = observed()
    if seen is not None:
        _Order(body, seen.acts).check(body, [])


def acts_outside(body: ir.Block) -> bool:
    """Whether a function does something that is seen outside of it, or may in a call of which nobody takes the result:
    one that runs once more would do it twice."""
    order = _Order(body, False)
    return any(order.is_seen_outside(s) or _is_for_effect(s) for s in ir.walk(body))


def _is_for_effect(s: ir.Statement) -> bool:
    if not isinstance(s, ir.Let) or s.target is not None or not isinstance(s.value, ir.Call):
        return False
    fn = s.value.fn
    return isinstance(fn, ir.Const) and facts(fn.value).acts and not public_module(fn.value).startswith("s2s.")


class _Order:
    """What a function does in the order in which it does it. One that ``acts`` has done something outside, in calls
    perhaps of which nothing is known."""

    def __init__(self, body: ir.Block, acts: bool) -> None:
        self.acts = acts
        self.made: dict[Any, ir.Value] = {}
        self.sources: dict[Any, list[ir.Atom]] = {}
        """For the variables that branches and loops give, what they may be."""
        for s in ir.walk(body):
            match s:
                case ir.Let(ir.Var() as target, value):
                    self.made[target] = value
                case ir.If(_, then, orelse, results):
                    for result, first, second in zip(results, then.yields, orelse.yields, strict=True):
                        self.sources[result] = [first, second]
                case ir.For() | ir.While():
                    for carried, given in zip(s.carried, s.body.yields):
                        self.sources[carried.param] = self.sources[carried.result] = [carried.init, given]

    def check(self, block: ir.Block, done: list[ir.Span | None]) -> None:
        """Check a block, before which ``done`` was done; what it does is added."""
        for s in block.statements:
            for _ in range(2 if isinstance(s, (ir.For, ir.While)) else 1):  # the next iteration checks after this one
                for inner in ir.blocks_of(s):
                    self.check(inner, done)
            if done and isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn in CHECKS:
                raise error("S2S145", span=s.span, label="this is not checked before the function does something")
            if self.is_seen_outside(s):
                done.append(s.span)

    def is_seen_outside(self, s: ir.Statement) -> bool:
        """Whether a statement, the blocks in it left out, does something that is seen outside of the function."""
        if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn not in NOTED:
            fn = s.value.fn
            return self._acts(fn.value) if isinstance(fn, ir.Const) else self._may_act(fn, s.target is None)
        if not isinstance(s, ir.Store):
            return False
        if s.kind == "opaque":  # a call that may change an array
            return self.acts
        value = self.made.get(s.target)
        while isinstance(value, ir.Call) and value.fn in NOTED:  # a part of another object
            value = self.made.get(value.args[0])
        return isinstance(value, ir.Load)

    def _acts(self, fn: Any) -> bool:
        """Whether a known function stores, tells or draws something, or may in a function that acts."""
        draws = is_of_stream(fn) or public_module(fn) == "random" or (
            isinstance(getattr(fn, "__self__", None), random.Random))
        return fn in _TELLS or draws or (self.acts and facts(fn).acts)

    def _may_act(self, fn: ir.Atom, is_for_effect: bool) -> bool:
        """Whether one that is known at run time may do so."""
        method = self.made.get(fn)
        if not isinstance(method, ir.Call) or method.fn != _GETATTR:
            return self.acts or is_for_effect
        owner, name = method.args[:2]
        if self._is_own(owner, set()):
            return False
        return self.acts or is_for_effect or (isinstance(name, ir.Const) and name.value in _DRAWS)

    def _is_own(self, atom: Any, seen: set[Any]) -> bool:
        """Whether it is certainly a container that each call makes anew."""
        if atom in seen:
            return True
        seen.add(atom)
        value, sources = self.made.get(atom), self.sources.get(atom)
        if sources is not None:
            return all(self._is_own(source, seen) for source in sources)
        if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const):
            return False
        if value.fn.value in (ops.append, ops.add_to_set, ops.put):
            return self._is_own(value.args[0], seen)
        return value.fn.value in _CONTAINERS


_GETATTR = ir.Const(getattr)
_TELLS = (*(known.value for known in WRITES_OUTSIDE), print, warnings.warn, warnings.warn_explicit)
_CONTAINERS = (list, dict, set, collections.deque, collections.Counter, ops.make_list, ops.make_dict, ops.make_set)
_DRAWS = frozenset(
    name for kind in (random.Random, np.random.Generator, np.random.RandomState) for name in vars(kind)
    if not name.startswith("_"))
