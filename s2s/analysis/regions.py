"""Regions: where each variable of a function is defined, as the reverse sweep needs to know it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from s2s.core import ir


@dataclass(eq=False)
class Region:
    """One block of a function. ``loop`` is the loop whose body (or test) it is, None for a branch and the root."""

    parent: Region | None = None
    statement: ir.Statement | None = None
    side: int = 0
    children: dict[tuple[int, int], Region] = field(default_factory=dict)

    @property
    def is_loop(self) -> bool:
        return isinstance(self.statement, (ir.For, ir.While))

    @property
    def is_body(self) -> bool:
        """Whether it is the body of a loop."""
        return isinstance(self.statement, ir.For) or (isinstance(self.statement, ir.While) and self.side == 1)

    def innermost_loop(self) -> Region | None:
        """The innermost loop body that is this region or holds it."""
        region: Region | None = self
        while region is not None and not region.is_loop:
            region = region.parent
        return region

    @property
    def is_replayed(self) -> bool:
        """Whether the reverse sweep replays this block instead of keeping its residuals."""
        match self.statement:
            case ir.For(snapshots=snapshots):
                return snapshots is not None
            case ir.While(snapshots=snapshots):
                return snapshots is not None and self.side == 1
            case ir.If(replayed=replayed):
                return replayed and self.side == 0
            case (
                None | ir.Let() | ir.Store() | ir.With() | ir.Try() | ir.Assert() | ir.Raise() | ir.Return() |
                ir.Break() | ir.Continue() | ir.Note()
            ):
                return False
            case _:
                assert_never(self.statement)

    def scope(self) -> Region:
        """The nearest region, this one or one around it, that the reverse sweep has as a whole: the root, or a block
        that it replays."""
        region = self
        while region.parent is not None and not region.is_replayed:
            region = region.parent
        return region

    def residual_loop(self) -> Region | None:
        """The innermost loop body that is this region or holds it, up to the scope: it has a residual for each
        iteration."""
        region, scope = self, self.scope()
        while region is not scope and not region.is_loop:
            assert region.parent is not None
            region = region.parent
        return None if region is scope else region

    def inside(self, other: Region) -> bool:
        """Whether this region is ``other`` or lies in it."""
        region: Region | None = self
        while region is not None:
            if region is other:
                return True
            region = region.parent
        return False

    def path_from(self, other: Region) -> list[Region]:
        """The regions from just inside ``other`` down to this one."""
        found = []
        region = self
        while region is not other:
            found.append(region)
            assert region.parent is not None
            region = region.parent
        return found[::-1]

    def child(self, statement: ir.Statement, side: int = 0) -> Region:
        """The region of a block of a statement that stands in this one."""
        return self.children[(id(statement), side)]


def _region_of(region: Region, statement: ir.Statement, side: int) -> Region:
    """The region of a block of a statement in ``region``. The body of a ``with`` has none of its own; that of a ``try``
    shares one with the ``else``, which has the yields."""
    if isinstance(statement, ir.With):
        return region
    if isinstance(statement, ir.Try) and side < 2:
        return region.children.get((id(statement), 0)) or Region(region, statement, 1)
    return Region(region, statement, side)


def find_regions(function: ir.Function) -> tuple[Region, dict[ir.Var, Region]]:
    """The root region of a function in SSA form, and the region of each variable."""
    root = Region()
    home: dict[ir.Var, Region] = {}

    def run(block: ir.Block, region: Region) -> None:
        for statement in block.statements:
            for var in ir.defs_of(statement):
                home[var] = region
            for side, inner in enumerate(ir.blocks_of(statement)):
                child = _region_of(region, statement, side)
                region.children[(id(statement), side)] = child
                if isinstance(statement, (ir.For, ir.While)):
                    home.update({c.param: child for c in statement.carried if c.param not in home})
                    if isinstance(statement, ir.While) and side == 1:
                        home.update({c.param: child for c in statement.carried})
                if isinstance(statement, ir.For):
                    home.setdefault(statement.item, child)
                if isinstance(statement, ir.Try) and side > 1:
                    name = statement.handlers[side - 2].name
                    home.update({} if name is None else {name: child})
                run(inner, child)

    for param in function.params:
        home[param.var] = root
    run(function.body, root)
    return root, home
