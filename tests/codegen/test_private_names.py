"""What generated code calls has a public name: of rules, of the runtime, and in the text of the bank."""

import re
import types

import pytest

import s2s
from s2s.rules import table
from s2s.runtime import floats
from s2s.sources import version
from tests.bank import CASES

PRIVATE = re.compile(r"^(?! *#).*?\b(\w+\._[a-z]\w*)|^ *(?:from|import) .*[ .](_[a-z]\w*)", re.MULTILINE)


def bodies_of(rule):
    """The functions of a rule that code may call by name; models are always written out."""
    return [*rule.partials, *rule.cotangents.values(), *rule.tangents.values(), rule.tangent]


def test_bodies_of_rules_have_public_names():
    table.extend(*(name for name in table.EXTENSIONS if name not in table.WRAPPERS))
    found = {f.__name__: f.__module__ for rule in [*table.RULES.values()] for f in bodies_of(rule)
             if isinstance(f, types.FunctionType) and f.__module__.startswith("s2s.")}  # fmt: skip
    assert len(found) > 200 and not {f"{module}.{name}" for name, module in found.items() if name.startswith("_")}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["grad", "jvp"])
@pytest.mark.filterwarnings("ignore")
def test_general_forms_of_the_bank(mode, monkeypatch):
    """Where no kinds are known, bodies of rules are called by name."""
    monkeypatch.setenv("S2S_RECORDED", "0")
    count, found = 0, set()
    for case in CASES[::4]:
        argnums = case.argnums or tuple(k for k, a in enumerate(case.args) if floats(a))
        try:
            text = version(case.f, (), {}, mode, argnums).compiled.text
        except s2s.errors.DifferentiationError:
            continue
        count += 1
        found |= {a or b for a, b in PRIVATE.findall(text)}
    assert count > 150 and not found
