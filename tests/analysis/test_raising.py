"""Which handlers an exception may come to."""

import pytest

from s2s.analysis.raising import ANYTHING, NOTHING, may_catch


@pytest.mark.parametrize("kinds, raised, expected", [
    ((ValueError,), {ValueError}, True), ((ValueError,), {TypeError}, False), ((ValueError,), NOTHING, False),
    ((ArithmeticError,), {ZeroDivisionError}, True), ((ZeroDivisionError,), {ArithmeticError}, False),
    ((ValueError, ZeroDivisionError), {TypeError, ZeroDivisionError}, True), ((), {ValueError}, False),
    ((KeyError,), ANYTHING, True), ((), ANYTHING, True), ((BaseException,), {KeyboardInterrupt}, True),
    ((RuntimeWarning,), {Warning}, True), ((RuntimeWarning,), {ValueError}, False), ((ValueError,), {Warning}, False),
    ((Warning,), {RuntimeWarning}, True), ((Exception,), {Warning}, True),
    (None, {ValueError}, True), (None, ANYTHING, True), (None, NOTHING, False),
])
def test_a_handler_may_be_entered_for_what_it_names(kinds, raised, expected):
    """A warning that is raised may be any; a handler for kinds that are not known may be for all."""
    assert may_catch(kinds, iter(raised)) is expected
