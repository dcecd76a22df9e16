"""What a fixpoint finds of the variables that a loop carries."""

import types

import pytest

from s2s.builder.builder import Context
from s2s.core.values import UNKNOWN, Scalar
from s2s.specialize.loops import _widened
from s2s.specialize.specializer import Specializer


@pytest.mark.parametrize("source", ["nothing", "first", "second", "param", "before"])
def test_a_carried_variable_depends_on_an_input_by_each_of_its_sources(source):
    """What it is before the loop, what an iteration gives, what it is in one, and what was found before."""
    context = Context()
    atoms = {name: context.define(name, Scalar(float), name == source) for name in ("first", "second", "param")}
    leaf = types.SimpleNamespace(key="k", first=atoms["first"], second=atoms["second"])
    values = {"k": (Scalar(float), source == "before")}
    specializer = Specializer(context)
    found = _widened(specializer, [leaf], [atoms["param"]], values, 0)
    assert found == {"k": (Scalar(float), source != "nothing")}
    if source in ("nothing", "first"):
        assert _widened(specializer, [leaf], [], {}, 0) == found
    assert _widened(specializer, [leaf], [], values, 5)["k"][0] == UNKNOWN
