"""The solver of the analyses against plain definitions."""

import itertools
import random

import pytest

from s2s.core import ir
from s2s.core.dataflow import along, reachable, saturate


@pytest.mark.parametrize("seed", range(20))
def test_what_can_be_reached_is_the_closure_of_the_edges(seed):
    chosen = random.Random(seed)
    edges = [(chosen.randrange(12), chosen.randrange(12)) for _ in range(chosen.randrange(20))]
    start = {chosen.randrange(12) for _ in range(2)}
    powers = [start]
    for _ in range(12):
        powers.append({b for a, b in edges if a in powers[-1]})
    assert reachable(start, along(edges)) == set().union(*powers)


def test_each_thing_is_asked_once():
    asked = []

    def following(n):
        asked.append(n)
        return (n // 2, n // 3, 7)

    assert reachable([7, 7, 12], following) == {0, 1, 2, 3, 4, 6, 7, 12}
    assert sorted(asked) == [0, 1, 2, 3, 4, 6, 7, 12]


def test_saturating_goes_on_while_something_is_added():
    found, steps = {1}, itertools.count()

    def step():
        next(steps)
        found.update(n + 1 for n in tuple(found) if n < 5)

    saturate(found, step)
    assert found == {1, 2, 3, 4, 5} and next(steps) == 5


def test_what_statements_join():
    a, b, c, p, r = (ir.Var(name) for name in "abcpr")
    one = ir.Const(1)
    branch = ir.If(a, ir.Block((), (b, one)), ir.Block((), (c, c)), (p, r))
    assert list(ir.joins_of(branch)) == [((p,), (b, c)), ((r,), (one, c))]
    handlers = (ir.Handler((), None, ir.Block((), (c,))), ir.Handler((), None, ir.Block((), (one,))))
    assert list(ir.joins_of(ir.Try(ir.Block(()), handlers, ir.Block((), (b,)), (r,)))) == [((r,), (b, c, one))]
    for loop in (
        ir.For(a, b, ir.Block((), (c,)), (ir.Carried(p, one, r),)),
        ir.While(ir.Block((), (a,)), ir.Block((), (c,)), (ir.Carried(p, one, r),)),
    ):
        assert list(ir.joins_of(loop)) == [((p, r), (one, c))]
    assert not list(ir.joins_of(ir.Let(a, b)))
