"""Calls of functions with a rule, with other options, shapes and kinds of arguments: right, or refused."""

import pytest

from s2s.listing import functions
from s2s.rules import table
from s2s.rules.samples import args, arr
from tests.fuzz import library
from tests.fuzz.library.calls import VALUES, Change
from tests.fuzz.library.subjects import bases, by_name, subjects
from tests.rules.test_table import scratch  # noqa: F401

CALLS = 6  # for each point; ``python -m tests.fuzz --kind library`` makes any number
SEEDS = range(0, 60 * CALLS, CALLS)


@pytest.mark.grid(0.1)
@pytest.mark.parametrize("first", SEEDS)
def test_calls(first):
    bad = []
    for seed in range(97 * first, 97 * (first + CALLS), 97):
        call, found = library.of_seed(seed, ("reverse", "forward", "second", "jacrev", "jacfwd"))
        if found.failed:
            bad.append(f"--- {seed}: {call}: {found.verdict} ({found.group})\n{found.text[:600]}")
    assert not bad, "\n".join(bad) + "\nmake it minimal: python -m tests.fuzz --kind library --program SEED"


def test_calls_are_reproducible():
    name = "numpy.average"
    assert str(library.drawn(5, (name,))) == str(library.drawn(5, (name,)))
    assert len({str(library.drawn(seed, (name,))) for seed in range(12)}) > 6


def test_most_functions_that_have_a_derivative_are_called():
    listed = {row.name for row in functions() if row.modes}
    called = {rule.name.removeprefix("_").replace("builtins.", "") for rule in subjects()}
    assert len(listed & called) > 0.6 * len(listed)


@pytest.mark.parametrize("what, name", [(what, name) for what, ways in VALUES.items() for name in ways])
def test_each_kind_of_argument_is_right_or_refused(what, name):
    rule = by_name()["numpy.matmul"]
    call = library.Call(rule, bases(rule)[3], (Change(what, name),))
    assert library.outcome(call, ("reverse", "forward")).verdict in ("right", "refused", "skipped")


@pytest.mark.usefixtures("scratch")
def test_a_wrong_rule_is_found():
    def square(x):
        return x * x

    table.model(square)(lambda x: x * x + 1e-3 * x)
    call = library.Call(table.find(square), args(arr(3)))
    assert library.outcome(call, ("reverse",)).group == "reverse: gradient"
