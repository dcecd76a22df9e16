"""Second order: every rule's body is a function like any other. What it gives is differentiated by the compiler, with
respect to the arguments and to the cotangent of the result, and compared with central differences of the body.

The bodies of a rule, one for each argument and each sample, are statements of one function.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import scipy.ndimage

import s2s
from s2s.errors import NoDerivativeError
from s2s.rules.samples import Draw
from s2s.rules.table import Rule
from tests.rules.cases import CHECKED, IN_PLACE, Case, aspect, draws, pair, random_like, rules_of, step
from tests.rules.programs import Program, build, to_compile, whole


class Seconds:
    """The cotangents of arguments of calls as a program: a function of all leaves and of the results' cotangents, which
    gives one cotangent for each call.
    """

    def __init__(self, wanted: Sequence[tuple[Case, str]], folder: Any) -> None:
        self.wanted = wanted
        self.program = Program([case for case, _ in wanted])
        self.constants: dict[str, Any] = {}
        statements = [self.statement(k, case, name) for k, (case, name) in enumerate(wanted)]
        bars = [f"y_bar{k}" for k, _ in enumerate(wanted)]
        self.text = self.program.text(" ".join(f"z{k}," for k, _ in enumerate(wanted)), statements, bars)
        self.f = build(self.text, {**self.program.constants, **self.constants}, folder)
        self.arguments = [*self.program.leaves(), *(whole(case.y, case.y_bar) for case, _ in wanted)]

    def differentiate(self) -> None:
        """Compile the pullback and run it."""
        given = self.f(*self.arguments)
        self.out, self.pullback = s2s.vjp(self.f, *self.arguments)
        self.pullback(given)

    def check(self) -> None:
        """Compare the pullback of each body with differences of it along a random direction."""
        rng, h = np.random.default_rng(11), 1e-4
        cotangents = tuple(random_like(one, rng) for one in self.out)
        directions = [random_like(x, rng) for x in self.arguments]
        ones = [one for case, _ in self.wanted for item in case.template.values() for one in draws(item)]
        for i, one in enumerate(ones):
            if one.positive:
                directions[i] = directions[i] + np.conj(np.swapaxes(directions[i], -1, -2))

        def at(t: float) -> Any:
            given = self.f(*[step(x, d, t) for x, d in zip(self.arguments, directions)])
            return np.array(list(map(pair, cotangents, given)))

        expected = (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h)
        found = self.split(self.pullback(cotangents))
        for (case, name), gradients, along, slope in zip(
            self.wanted, found, self.split(directions), expected, strict=True
        ):
            with aspect(f"second order, by {name}", case.rule, case.sample):
                total = sum(pair(g, d) for g, d in zip(gradients, along, strict=True) if g is not None)
                assert total == pytest.approx(slope, rel=1e-5, abs=1e-6), self.text

    def split(self, values: Sequence[Any]) -> list[list[Any]]:
        """What there is for each argument, by the calls; that of the result's cotangent comes last."""
        count = len(self.program.parameters)
        parts = zip(self.program.split(values[:count]), values[count:], strict=True)
        return [[*some, last] for (_, some), last in parts]

    def statement(self, k: int, case: Case, name: str) -> str:
        """The cotangent of an argument of the k-th call, as source."""
        rule, y, y_bar = case.rule, f"y{k}", f"y_bar{k}"
        spelled = self.spelled(k, case)
        if rule.partials:
            self.constants[f"body{k}"] = rule.partials[list(case.template).index(name)]
            inputs = [spelled[n] for n in list(case.template)[: len(rule.partials)]]
            slopes = f"body{k}({', '.join([y, *inputs])})"
            value = f"{y_bar} * {slopes}"
            if rule.kind == "several":
                value = " + ".join(f"{y_bar}[{i}] * {slopes}[{i}]" for i in range(len(case.y)))
        else:
            body = self.constants[f"body{k}"] = rule.cotangents[name]
            own = {"y": y, **spelled, "y_bar": y_bar}
            value = f"body{k}({', '.join(own[n] for n in inspect.signature(body).parameters)})"
        return f"z{k} = {value}"

    def spelled(self, k: int, case: Case) -> dict[str, str]:
        """Each parameter of the rule as source; what is no argument of the sample by its default."""
        names = iter(self.program.of_case[k])

        def spell(item: Any) -> str:
            if isinstance(item, Draw):
                return next(names)
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


APART = (scipy.ndimage.correlate, scipy.ndimage.convolve)
"""Rules whose bodies look into a table of their module after a store, of which the compiler does not know that it
leaves the table as it is: each body is a program."""

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
    """The rules that are public and have samples; of those with the same bodies, as aliases have, the first one."""
    found, seen = [], set()
    for case in rules_of(*CHECKED):
        rule = case.values[0]
        if is_public(rule) and rule.samples:
            key = rule.kind, *map(key_of, (*rule.partials, *rule.cotangents.values()))
            is_alias = key in seen and rule.kind != "linear"
            seen.add(key)
            found.append(pytest.param(rule, id=rule.name, marks=pytest.mark.slow if is_alias else ()))
    return found


@pytest.mark.grid(0.15)
@pytest.mark.parametrize("rule", in_turn())
def test_second_order(rule: Rule, tmp_path: Any) -> None:
    cases = [Case(rule, sample) for sample in chosen(rule)]
    wanted = [(case, name) for case in cases for name in case.active]
    if rule.fn in APART:
        assert all([is_compiled_alone(*one, tmp_path) for one in wanted])
        return
    try:
        second = Seconds(wanted, tmp_path)
        second.differentiate()
    except Exception as problem:
        found = [one for one in wanted if is_compiled_alone(*one, tmp_path)]
        if len(found) == len(wanted):
            raise AssertionError(f"{rule.name}: each body compiles alone, and not all of them together") from problem
    else:
        second.check()


def is_compiled_alone(case: Case, name: str, folder: Any) -> bool:
    """Check the body for one argument alone; False where it is refused since SciPy has no function for its slope."""
    with aspect(f"second order alone, by {name}", case.rule, case.sample):
        second = Seconds([(case, name)], folder)
        try:
            second.differentiate()
        except NoDerivativeError as problem:
            assert case.rule.name.startswith("scipy.") and "SciPy has no" in str(problem)
            return False
    second.check()
    return True
