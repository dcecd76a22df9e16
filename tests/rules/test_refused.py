"""Every function that is listed as refused is refused, by its name and with its reason, in both modes: no zeros."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError
from s2s.rules import table
from s2s.rules.table import RULES, Rule
from tests.rules.cases import aspect, by_module
from tests.rules.programs import MODULES, build, path_of

table.extend()

IN_PLACE = (
    np.ndarray.fill, np.ndarray.partition, np.ndarray.put, np.ndarray.sort, np.copyto, np.fill_diagonal, np.place,
    np.put, np.put_along_axis, np.putmask,
)
"""They change arrays, which is differentiated as stores: tests/inplace."""


def refused() -> list[Rule]:
    """The rules of functions that are refused and can be called by their path."""
    found = [rule for rule in RULES.values() if rule.kind == "refuse" and rule.fn not in IN_PLACE]
    return [rule for rule in found if path_of(rule.fn) is not None]


def program(path: str, folder: Any) -> Any:
    """A function that calls the refused one with its argument, from a file of its own."""
    owner = path.rpartition(".")[0]
    names = {m.__name__ for m in MODULES} | ({owner} if owner in sys.modules else set())
    imports = "\n".join(f"import {name}" for name in sorted(names))
    return build(f"{imports}\n\n\ndef f(x):\n    return {path}(x)\n", {}, folder)


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("rules", by_module(refused()))
def test_what_is_listed_as_refused_is_refused(rules: list[Rule], tmp_path: Any) -> None:
    for rule in rules:
        with aspect("refused", rule):
            check_refused(rule, tmp_path)


def check_refused(rule: Rule, folder: Any) -> None:
    f, x = program(str(path_of(rule.fn)), folder), np.array([0.5, 1.5, 2.5])
    for derivative in (lambda: s2s.vjp(f, x), lambda: s2s.jvp(f, (x,), (np.ones(3),))):
        with pytest.raises(NoDerivativeError) as info:
            derivative()
        found = info.value.diagnostic
        reason, _, advice = rule.reason.partition("; ")
        assert found.code == "S2S202"
        assert f"`{rule.fn.__name__}` has no derivative: {reason}" in found.summary
        assert not advice or found.hint == advice


def test_most_of_them_are_called() -> None:
    count = sum(rule.kind == "refuse" for rule in RULES.values())
    assert len(refused()) > 0.9 * count
