"""Groups of statements in the order of a function's text, with the titles of its sweeps: a group may have statements
of both, and stands where the reverse sweep begins then.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from s2s.core import ir
from s2s.optimize.loops.groups import Group, Item, Single

__all__ = ["Titles", "in_order", "statements_of"]


def in_order(
    items: list[Item], statements: tuple[ir.Statement, ...], loops: Container[int], titles: Titles
) -> list[Item]:
    """The items with each statement where it was, but for those that a loop needs, or that need what it gives. A loop
    of both sweeps stands where the reverse sweep begins, others where their last statement was."""
    place = {id(s): k for k, s in enumerate(statements)}
    made: list[Item] = []
    behind = {id(one): [before for before in items[:k] if before.effects.stops(one.effects)]
              for k, one in enumerate(items)}  # fmt: skip
    done: set[int] = set()

    def key(item: Item) -> int:
        own = statements_of(item)
        if id(item) in loops and titles.are_mixed(own):
            own = [s for s in own if titles.of(s) == "reverse"][:1]
        return place[id(own[-1])]

    def put(item: Item) -> None:
        if id(item) not in done:
            done.add(id(item))
            for before in sorted(behind[id(item)], key=key):
                put(before)
            made.append(item)

    for item in sorted(items, key=key):
        put(item)
    titles.are_late = any(id(item) in loops and titles.are_mixed(statements_of(item)) for item in items)
    return made


class Titles:
    """The titles of the sweeps in a block, where statements of both may be done in one loop: it has them inside then.
    ``are_late`` says that there is such a loop, which is still to come."""

    def __init__(self, block: ir.Block) -> None:
        self.by_section: dict[str, ir.Statement] = {}
        self.reverse: set[int] = set()
        self.are_late = False
        self.last = ""
        section = ""
        for s in block.statements:
            if isinstance(s, ir.Note) and s.section in ("forward", "reverse"):
                section = s.section
                self.by_section[section] = s
            elif section == "reverse":
                self.reverse.add(id(s))

    def has(self, s: ir.Statement) -> bool:
        """Whether a statement is one of them."""
        return any(s is title for title in self.by_section.values())

    def of(self, s: ir.Statement) -> str:
        """The sweep that a statement belongs to."""
        return "reverse" if id(s) in self.reverse else "forward"

    def are_mixed(self, statements: Iterable[ir.Statement]) -> bool:
        """Whether statements belong to both."""
        return len({self.of(s) for s in statements}) > 1

    def put(self, made: list[ir.Statement], s: ir.Statement) -> None:
        """Add the title of the sweep that a statement belongs to, where that before it belongs to the other one. There
        is no way back."""
        section = self.of(s)
        if self.last in (section, "reverse") or (section == "reverse" and self.are_late):
            return
        if section in self.by_section:
            made.append(self.by_section[section])
        self.last = section

    def inside(self) -> Titles:
        """The same titles once more, for a function that has statements of both sweeps in it."""
        made = Titles(ir.Block(()))
        made.by_section, made.reverse = self.by_section, self.reverse
        return made

    def begin_both(self, made: list[ir.Statement]) -> None:
        """Begin the reverse sweep by what has statements of both in it."""
        self.are_late = False
        if self.last != "reverse":
            made.append(ir.Note("both sweeps", "reverse"))
        self.last = "reverse"


def statements_of(item: Item) -> list[ir.Statement]:
    """The statements of an item."""
    if isinstance(item, Single):
        return [item.statement]
    if isinstance(item, Group):
        return [step.statement for step in item.steps]
    return [one.step.statement for one in item.additions]
