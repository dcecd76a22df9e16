"""Second order: every rule's body is a function like any other. What it gives is differentiated by the compiler, with
respect to the arguments and to the cotangent of the result, and compared with central differences of the body.
"""

from __future__ import annotations

import importlib.util
import inspect
from typing import Any

import numpy as np
import pytest
from test_compiled import IN_PLACE, Program, to_compile, whole
from test_rules import CHECKED, Case, draws, pair, random_like, rules_of, step

import s2s
from s2s.rules.samples import Draw
from s2s.rules.table import Rule


class Second:
    """The cotangent of one argument of a call as a program: a function of all leaves and of the result's cotangent."""

    def __init__(self, case: Case, name: str, folder: Any) -> None:
        rule = case.rule
        program = Program(rule, case.sample)
        self.leaves = [x for n, item in case.template.items() for x, _ in zip(case.leaves[n], draws(item), strict=True)]
        call = program.text.rpartition("return ")[2].strip()
        head = program.text.partition("\n\n\n")[0]
        parameters = [*program.parameters, "y_bar"]
        spelled = self.spelled(case, program)
        if rule.partials:
            index = list(case.template).index(name)
            self.body = rule.partials[index]
            inputs = [spelled[n] for n in list(case.template)[: len(rule.partials)]]
            value = f"y_bar * body({', '.join(['y', *inputs])})"
            if rule.kind == "several":
                slopes = f"body({', '.join(['y', *inputs])})"
                value = " + ".join(f"y_bar[{k}] * {slopes}[{k}]" for k in range(len(case.y)))
        else:
            self.body = rule.cotangents[name]
            names = inspect.signature(self.body).parameters
            own = {"y": "y", **spelled, "y_bar": "y_bar"}
            value = f"body({', '.join(own[n] for n in names)})"
        text = f"{head}\n\n\ndef f({', '.join(parameters)}):\n    y = {call}\n    return {value}\n"
        file = folder / "second.py"
        file.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("second", file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        vars(module).update(program.constants, body=self.body)
        vars(module).update(self.constants)
        self.text, self.f = text, module.f
        self.arguments = [*self.leaves, whole(case.y, case.y_bar)]

    def spelled(self, case: Case, program: Program) -> dict[str, str]:
        """Each parameter of the rule as source; what is no argument of the sample by its default."""
        counter = iter(program.parameters)
        self.constants: dict[str, Any] = {}

        def spell(item: Any) -> str:
            if isinstance(item, Draw):
                return next(counter)
            if isinstance(item, list):
                return "[" + ", ".join(map(spell, item)) + "]"
            if type(item) is tuple:
                return "(" + "".join(f"{spell(i)}, " for i in item) + ")"
            if isinstance(item, dict):
                return "{" + ", ".join(f"{k!r}: {spell(v)}" for k, v in item.items()) + "}"
            if item is None or type(item) in (bool, int, str):
                return repr(item)
            if isinstance(item, slice) or item is Ellipsis:
                return repr(item) if item is not Ellipsis else "..."
            key = f"k{len(self.constants)}"
            self.constants[key] = item
            return key

        return {name: spell(item) for name, item in case.template.items()}


def chosen(rule: Rule) -> list[Any]:
    """The first sample and the last one where those have other code; the last one of elementwise and linear rules."""
    samples = [s for s in rule.samples if not any(isinstance(one, dict) for one in s.args)]
    differ = rule.kind == "vjp" and to_compile(rule) == rule.samples and len(samples) > 1
    return [samples[0], samples[-1]] if differ else samples[-1:]


WITHOUT = {np.einsum}
"""Rules whose bodies store into arrays of a kind that is known only when they run."""


def is_public(rule: Rule) -> bool:
    """Those of NumPy, of SciPy and of Python."""
    return rule.fn not in IN_PLACE and rule.fn not in WITHOUT and not rule.name.startswith("s2s.")


def key_of(body: Any) -> Any:
    """What a body is: its code with what it captured."""
    code = getattr(body, "__code__", None)
    return body if code is None else (code, tuple(id(cell.cell_contents) for cell in body.__closure__ or ()))


def in_turn() -> list[Any]:
    """The rules that are public; of those with the same bodies, as aliases have, the first one."""
    found, seen = [], set()
    for case in rules_of(*CHECKED):
        rule = case.values[0]
        if is_public(rule):
            key = rule.kind, *map(key_of, (*rule.partials, *rule.cotangents.values()))
            is_alias = key in seen and rule.kind != "linear"
            seen.add(key)
            found.append(pytest.param(rule, id=rule.name, marks=pytest.mark.every if is_alias else ()))
    return found


@pytest.mark.parametrize("rule", in_turn())
def test_second_order(rule: Rule, tmp_path: Any) -> None:
    for sample in chosen(rule):
        case = Case(rule, sample)
        for name in case.active:
            second = Second(case, name, tmp_path)
            rng = np.random.default_rng(11)
            wanted = second.f(*second.arguments)
            try:
                out, pullback = s2s.vjp(second.f, *second.arguments)
                pullback(wanted)
            except s2s.errors.NoDerivativeError as problem:
                assert rule.name.startswith("scipy.") and "SciPy has no" in str(problem)
                continue
            cotangent = random_like(out, rng)
            directions = [random_like(x, rng) for x in second.arguments]
            for i, one in enumerate(one for item in case.template.values() for one in draws(item)):
                if one.positive:
                    directions[i] = directions[i] + np.conj(np.swapaxes(directions[i], -1, -2))

            def at(t: float) -> Any:
                return pair(cotangent, second.f(*[step(x, d, t) for x, d in zip(second.arguments, directions)]))

            h = 1e-4
            expected = (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h)
            found = pullback(cotangent)
            total = sum(pair(g, d) for g, d in zip(found, directions, strict=True) if g is not None)
            assert total == pytest.approx(expected, rel=1e-5, abs=1e-6), second.text
