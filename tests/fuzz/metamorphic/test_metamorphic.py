"""Rewritten functions under fixed seeds: value and derivatives are those of the function, and nothing is refused that
it takes, but for reasons that are known."""

import ast

import pytest

from tests.fuzz.check import modes_of
from tests.fuzz.metamorphic.check import agree, outcome, value_of
from tests.fuzz.metamorphic.check import load as load_rewritten
from tests.fuzz.metamorphic.rewrite import rewritten
from tests.fuzz.metamorphic.subjects import bank, subject
from tests.fuzz.metamorphic.tools import PREAMBLE, REWRITES

PROGRAMS, CHUNK = 60, 20
SHARES = {"reverse": 1.0, "forward": 0.3, "second": 0.03}
REFUSED_AT_MOST = 3  # of a chunk


@pytest.mark.slow
@pytest.mark.grid(0.5)
@pytest.mark.parametrize("source, first", [*(("bank", k) for k in range(0, PROGRAMS, CHUNK)), ("library", 0)])
def test_rewritten_functions(source, first):
    bad, refused = [], []
    for number in range(first, first + CHUNK):
        seed = number * 7  # functions of all files
        found, text, names = outcome(source, seed, number, modes_of(number, SHARES))
        if found.failed:
            text = text.removeprefix(PREAMBLE)
            bad.append(f"--- {seed} {number} {names}: {found.verdict} ({found.group})\n{text}\n{found.text[:1500]}")
        if found.verdict == "refused":
            refused.append((number, names, found.group))
    assert not bad, "\n".join(bad)
    assert len(refused) <= REFUSED_AT_MOST, refused


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("name", REWRITES)
def test_rewrite_keeps_the_value(name):
    """Each rewrite applies somewhere, changes the text, and keeps the value where it applies."""
    applied = 0
    for seed in range(0, 4 * len(bank()), 3):
        made = subject("bank", seed) if seed % 2 else subject("programs", seed)
        text, names = rewritten(made, seed, [name])
        if not names:
            continue
        if len(names) == 1:  # two may undo each other
            assert ast.unparse(ast.parse(text)) != ast.unparse(ast.parse(PREAMBLE + made.text))
        plain, found = value_of(load_rewritten(made, made.text), made), value_of(load_rewritten(made, text), made)
        if plain is None:
            continue
        assert found is not None, text
        assert agree(found[0], plain[0]) and agree(found[1], plain[1]), text
        applied += 1
        if applied == 2:
            return
    assert applied, "nowhere"
