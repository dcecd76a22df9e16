"""Every function that is listed as refused is refused, by its name and with its reason, in both modes: no zeros."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from test_compiled import MODULES, path_of

import s2s
from s2s.errors import NoDerivativeError
from s2s.rules import table
from s2s.rules.table import RULES, Rule

table.extend()

IN_PLACE = (
    np.ndarray.fill, np.ndarray.partition, np.ndarray.put, np.ndarray.sort, np.copyto, np.fill_diagonal, np.place,
    np.put, np.put_along_axis, np.putmask,
)
"""They change arrays, which is differentiated as stores: tests/inplace."""


def refused() -> Iterator[Any]:
    for rule in RULES.values():
        path = path_of(rule.fn) if rule.kind == "refuse" and rule.fn not in IN_PLACE else None
        if path is not None:
            yield pytest.param(rule, path, id=path)


def program(path: str, folder: Any) -> Any:
    """A function that calls the refused one with its argument, from a file of its own."""
    owner = path.rpartition(".")[0]
    names = {m.__name__ for m in MODULES} | ({owner} if owner in sys.modules else set())
    imports = "\n".join(f"import {name}" for name in sorted(names))
    file = folder / "program.py"
    file.write_text(f"{imports}\n\n\ndef f(x):\n    return {path}(x)\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("program", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


@pytest.mark.parametrize("rule, path", list(refused()))
def test_what_is_listed_as_refused_is_refused(rule: Rule, path: str, tmp_path: Any) -> None:
    f, x = program(path, tmp_path), np.array([0.5, 1.5, 2.5])
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
    assert len(list(refused())) > 0.9 * count
