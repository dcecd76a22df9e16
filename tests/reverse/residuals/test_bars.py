"""Which variables are cotangents of something now: several keys may have one, and a key gets another."""

from s2s.core import ir
from s2s.reverse.residuals.sweep import Bars

X, Y, ONE, OTHER = map(ir.Var, ("x", "y", "one", "other"))


def test_a_cotangent_is_held_as_long_as_a_key_has_it():
    bars = Bars()
    assert not bars.holds(ONE)
    bars[X, ()] = bars[Y, ()] = ONE
    bars[X, ()] = OTHER
    assert bars.holds(ONE) and bars.holds(OTHER)
    bars[Y, ()] = OTHER
    assert not bars.holds(ONE) and bars.holds(OTHER)
    bars[X, ()] = ONE
    assert bars == {(X, ()): ONE, (Y, ()): OTHER} and bars.holds(ONE) and bars.holds(OTHER)


def test_a_key_that_gets_its_own_cotangent_again_holds_it_once():
    bars = Bars()
    bars[X, ()] = ONE
    bars[X, ()] = ONE
    assert bars.holds(ONE)
    bars[X, ()] = OTHER
    assert not bars.holds(ONE)
