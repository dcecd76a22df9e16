"""Numbers that the reverse sweep reads again from the array that holds them, instead of keeping them.

    for i in range(1, n):                           for i in reversed(range(1, n)):
        t = a[i - 1]                    ->              t = a[i - 1]
        a[i] = np.sin(t)                                t_bar = a_bar[i] * np.cos(t)

A number is read again where the reverse of the block begins that has read it. It is there if no store changes its place
after it was read (``analysis.overwriting``), or if those that do are undone by then: all that run after the block has
come to its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s.analysis.memory import changed_by
from s2s.core import ir
from s2s.core.values import ListOf, Mapping, Sequence

if TYPE_CHECKING:
    from s2s.reverse.sweeps import Reverser

__all__ = ["is_still_there"]


def is_still_there(reverser: Reverser, read: ir.Let) -> bool:
    """Whether the reverse of a block finds at its start what a statement of the block has read from an array."""
    assert isinstance(read.value, ir.Call)
    array, key = read.value.args
    if not isinstance(array, ir.Var) or id(read) not in reverser.placement.begins or isinstance(key, ir.Star):
        return False
    if not _is_in_scope(reverser, array):
        return False
    root = reverser.memory.find(array)
    home = reverser.placement.places[id(read)]
    for s in reverser.changes:
        changed = changed_by(s)
        if not isinstance(changed, ir.Var) or reverser.memory.find(changed) != root:
            continue
        if not isinstance(s, ir.Store):
            if isinstance(reverser.context.value(changed), (ListOf, Sequence, Mapping)):
                continue  # which arrays a container holds says nothing of what these hold
            return False
        within = None
        place = reverser.placement.places[id(s)]
        if id(s) in reverser.undone_stores and place.scope() is home.scope():
            if not place.inside(home):
                continue
            within = home
        if reverser.order.may_change(s, array, id(read), key, within):
            return False
    return True


def _is_in_scope(reverser: Reverser, array: ir.Var) -> bool:
    """Whether the reverse sweep has an array as a whole: it, or what it is a view of, is made once, outside loops."""
    base: ir.Var | None = array
    while base is not None:
        array, base = base, reverser.memory.base_of(base)
    return reverser.home_of(array).residual_loop() is None
