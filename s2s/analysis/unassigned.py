"""Variables that have no value on some path: a zero for one of them cannot be made by reading it.

    if c:
        t = np.ones(3)
    if d:                      find_unassigned: the first t, and the one after the second `if`
        t = 2.0 * x            going_into of the last t: the first t
    ...
"""

from __future__ import annotations

from collections.abc import Callable

from s2s.core import ir
from s2s.core.dataflow import along, reachable


def find_unassigned(body: ir.Block) -> set[ir.Atom]:
    """The variables that have no value on some path, and ``UNDEFINED``."""
    edges: list[tuple[ir.Atom, ir.Atom]] = []
    for s in ir.walk(body):
        if isinstance(s, ir.If) and s.replayed:
            edges += zip(s.then.yields, s.results, strict=True)
        elif isinstance(s, (ir.For, ir.While)):
            edges += [(c.init, target) for c in s.carried for target in (c.param, c.result)]
        else:
            edges += [(source, target) for (target,), sources in ir.joins_of(s) for source in sources]
    return reachable({ir.UNDEFINED}, along(edges))


def going_into(body: ir.Block, is_target: Callable[[ir.Var], bool]) -> set[ir.Atom]:
    """The variables that have no value on some path, of which one that ``is_target`` may hold what they hold."""
    unassigned = find_unassigned(body)
    edges: list[tuple[ir.Atom, ir.Atom]] = []
    for s in ir.walk(body):
        edges += [(v, a) for targets, sources in ir.joins_of(s) for v in targets for a in sources if a in unassigned]
    targets: set[ir.Atom] = {v for v, _ in edges if isinstance(v, ir.Var) and is_target(v)}
    return reachable(targets, along(edges)) & unassigned - {ir.UNDEFINED}


__all__ = ["find_unassigned", "going_into"]
