"""Whether the statements of a loop may be done one after the other, each in all iterations.

    for i in range(n - 1):
        t = x[i + 1] * y[i]         reads what later iterations change: first all reads, then all stores
        x[i] = t

What one statement reads or changes another one may change in the same iteration, or in one that comes in the same
order.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.analysis.abstract.lattice import is_number
from s2s.core import ir
from s2s.core.values import Array
from s2s.optimize.iterations import Refused
from s2s.optimize.loops.accesses import Access

if TYPE_CHECKING:
    from s2s.optimize.lanes import Lanes

__all__ = ["check_order"]

_SUMS = (operator.add, operator.sub)


def check_order(lanes: Lanes) -> None:
    """Refuse where an iteration may read or write what another one writes, but for reads of what later ones write,
    before that is written, and of what earlier ones have written, afterwards."""
    stores, reads = list[tuple[int, ir.Store, Access]](), list[tuple[int, ir.Atom, Access]]()
    for k, s in enumerate(lanes.loop.body.statements):
        if isinstance(s, ir.Store):
            stores.append((k, s, _stored_at(lanes, s)))
            reads += _read_in(lanes, k, (s.value,))
        elif isinstance(s, ir.Let) and isinstance(s.value, ir.Call):
            args = s.value.args
            if s.value.fn == ir.Const(operator.getitem) and lanes.memory_of(args[0]) in lanes.stored:  # type: ignore[arg-type]
                known = lanes.context.value(s.target)  # type: ignore[arg-type]
                shape = known.shape if isinstance(known, Array) else ()
                if shape is None:
                    raise Refused
                reads.append((k, args[0], lanes.iterations.access(args[0], args[1], shape)))  # type: ignore[arg-type]
            elif s.value.fn != ir.Const(getattr):
                reads += _read_in(lanes, k, ir.atoms_of(s.value))
    for n, (k, s, at) in enumerate(stores):
        for later, other, access in stores[n:]:
            both_add = {s.op, other.op} <= {*_SUMS} and not lanes.exact
            if _meet(lanes, s, other.target) and not both_add and not _may_follow(lanes, at, access, later > k):
                raise Refused
        for place, atom, access in reads:
            first, second = (access, at) if place <= k else (at, access)
            if _meet(lanes, s, atom) and not _may_follow(lanes, first, second, True):
                raise Refused


def _meet(lanes: Lanes, s: ir.Store, other: ir.Atom) -> bool:
    return lanes.memory_of(other) == lanes.memory_of(s.target)


def _may_follow(lanes: Lanes, first: Access, second: Access, in_order: bool) -> bool:
    """Whether one access may be done in all iterations before another one, ``in_order`` as in each of them."""
    return lanes.iterations.are_separate(first, second) or (in_order and lanes.iterations.keep_order(first, second))


def _read_in(lanes: Lanes, place: int, atoms: Any) -> list[tuple[int, Any, Access]]:
    """The arrays among operands that some iteration stores into."""
    arrays = [a for a in atoms if isinstance(a, ir.Var) and lanes.memory_of(a) in lanes.stored]
    return [(place, a, lanes.iterations.access(a, None, ())) for a in arrays if not is_number(lanes.context.value(a))]


def _stored_at(lanes: Lanes, s: ir.Store) -> Access:
    known = lanes.context.value(s.target)
    if not isinstance(known, Array) or known.dtype != np.dtype(np.float64) or known.shape is None:
        raise Refused
    region = lanes.context.evaluator.call(operator.getitem, (known, lanes.context.value(s.key)))
    shape = region.shape if isinstance(region, Array) else ()
    if shape is None:
        raise Refused
    return lanes.iterations.access(s.target, s.key, shape)
