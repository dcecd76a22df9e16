"""Which containers are found behind what a loop runs over: a few views deep, and no deeper."""

import types

from s2s.core import ir
from s2s.specialize.heap.live_data import _behind

FOUND = [1.0, 2.0]


def views(count):
    """A context in which a variable is so many views of a container that was read, and of a constant."""
    places = [ir.Var("view", k) for k in range(count + 1)]
    made = {b: ir.Call(ir.Const(zip), (a, ir.Const(0), a)) for a, b in zip(places, places[1:])}
    return types.SimpleNamespace(live={places[0]: FOUND}, definitions=made), places[-1]


def test_views_of_a_container():
    for count in range(6):
        assert _behind(*views(count), 6) == [FOUND] * 2**count
    for count in (6, 7):
        assert _behind(*views(count), 6) == []
    assert _behind(views(1)[0], ir.Const(0), 6) == []
