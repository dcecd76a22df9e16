"""Bodies of rules are specialised once for each kind of arguments, for all compilations: what is written for a function
must not depend on what was compiled before it."""

import types

import pytest

import s2s
from s2s.specialize import rule_bodies
from tests.bank import CASES

CHOSEN = [case for case in CASES if isinstance(case.f, types.FunctionType)][::12]


def anew(f):
    """The function as one that was not compiled yet."""
    made = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    made.__kwdefaults__ = f.__kwdefaults__
    return made


def text(case):
    return s2s.source(anew(case.f), *case.args, mode="vjp", **case.kwargs)


@pytest.fixture(scope="module")
def after_all():
    """What is written for each function when the others were compiled before it."""
    found = {}
    for case in [*CHOSEN, *CHOSEN[::-1]]:
        found[case.name] = text(case)
    return found


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.name)
def test_what_was_compiled_before_changes_nothing(case, after_all):
    rule_bodies._SHARED.clear()
    assert text(case) == after_all[case.name]
