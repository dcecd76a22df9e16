"""First derivatives by the rules against those of JAX and autograd, wherever these have the function."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from s2s.core.record import replace
from s2s.rules import table
from s2s.rules.samples import Draw, Sample, args
from s2s.rules.table import RULES, Rule
from tests.rules.cases import Case, aspect, draws, fill, tree
from tests.rules.programs import path_of

table.extend()

TOGETHER = 8
"""How many rules are compared in one test."""

SAMPLES_WITH_JAX = 2
"""JAX compiles anew for every shape: the first sample of a function and its last one are enough."""

HERMITIAN = "it is not symmetrised there: only one triangle of the matrix is read"
REAL = "its formula is for real matrices"
IGNORED = "the keyword is given to the function, not to its derivative"
OTHER: dict[str, dict[str, tuple[Callable[[Sample], bool], str]]] = {
    "jax": {
        "numpy.partition": (lambda sample: True, "the elements come in another order"),
        "scipy.linalg.solve": (lambda sample: "assume_a" in sample.kwargs, HERMITIAN),
        "scipy.linalg.cholesky": (lambda sample: True, HERMITIAN),
        "scipy.special.spence": (lambda sample: True, "NaN at some places"),
    },
    "autograd": {
        "numpy.linalg.norm": (lambda sample: np.inf in sample.args, "NaN for this order"),
        "numpy.var": (lambda sample: bool({"correction", "mean"} & sample.kwargs.keys()), IGNORED),
        "numpy.std": (lambda sample: bool({"correction", "mean"} & sample.kwargs.keys()), IGNORED),
        "numpy.tile": (lambda sample: sample.args[1] == 2, "tiles of a matrix are taken in another order"),
        "numpy.fft.irfft": (lambda sample: "norm" in sample.kwargs, IGNORED),
        "numpy.fft.irfft2": (lambda sample: "norm" in sample.kwargs, IGNORED),
        "numpy.fft.irfftn": (lambda sample: "norm" in sample.kwargs, IGNORED),
        "scipy.linalg.solve_triangular": (lambda s: "unit_diagonal" in s.kwargs or is_complex(s), REAL),
        "scipy.linalg.sqrtm": (lambda sample: is_complex(sample), REAL),
        "numpy.linalg.cholesky": (lambda sample: is_complex(sample), REAL),
        "numpy.linalg.pinv": (lambda sample: is_complex(sample), REAL),
    },
}
"""Functions with another derivative there, for which samples, and why. (What is right is in the other tests.)"""


NOT_COMPARED = frozenset(
    """numpy.take numpy.compress numpy.extract numpy.choose numpy.linalg.eig numpy.roots numpy.trim_zeros numpy.arange
    numpy.partition numpy.unique numpy.bincount numpy.polydiv numpy.sign
    scipy.linalg.cholesky scipy.linalg.schur scipy.linalg.sqrtm scipy.linalg.solve_sylvester
    scipy.special.zeta scipy.special.betainc scipy.special.spence scipy.special.sph_harm_y""".split()  # noqa: SIM905
)
"""Functions of JAX without a derivative (``sign`` of complex numbers is flat there), or whose arguments here (lists,
masks) it does not take."""


def is_complex(sample: Sample) -> bool:
    return any(one.complex for one in draws([*sample.args, *sample.kwargs.values()]))


def is_other(library: str, path: str, sample: Sample) -> bool:
    found = OTHER[library].get(path)
    return found is not None and found[0](sample)


def paths(rule: Rule) -> list[str]:
    """Where the function of a rule is in NumPy or SciPy."""
    path = path_of(rule.fn)
    known = path is not None and path.startswith(("numpy.", "scipy.special.", "scipy.linalg.", "scipy.fft."))
    return [path] if known and path is not None and not isinstance(getattr(rule.fn, "__self__", None), np.ufunc) else []


def counterpart(path: str, names: dict[str, str]) -> Any:
    """The function of the same name in another library, None where it has none."""
    module, _, name = path.rpartition(".")
    package, _, rest = module.partition(".")
    where = ".".join(filter(None, (names[package], rest)))
    try:
        return getattr(importlib.import_module(where), name, None)
    except ImportError:
        return None


class PeerCase(Case):
    """A sample and its values, for a call of another library's function."""

    def call_with(self, fn: Any, leaves: list[Any]) -> Any:
        rest = iter(leaves)
        given = {n: fill(item, rest if n in self.active else iter(self.leaves[n])) for n, item in self.template.items()}
        positional: list[Any] = []
        names = list(given)
        for i, _ in enumerate(self.sample.args):
            if self.rule.params.parameters[names[min(i, len(names) - 1)]].kind.name == "VAR_POSITIONAL":
                positional.extend(given[names[i]])
                break
            positional.append(given[names[i]])
        return fn(*positional, **{name: given[name] for name in self.sample.kwargs})

    def active_leaves(self) -> list[Any]:
        return [x for name in self.template for x in (self.leaves[name] if name in self.active else [])]

    def active_directions(self) -> list[Any]:
        return [d for name in self.active for d in self.turned(name)]

    def own_cotangents(self) -> list[Any]:
        found = self.cotangents()
        return [g for name in self.template for g in found.get(name, [])]


def compare(case: PeerCase, theirs: Any) -> None:
    ours = case.own_cotangents()
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        size = max(1.0, float(np.max(np.abs(b), initial=0.0)))
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8 * size, err_msg=str(case.sample))


def chosen(rule: Rule) -> tuple[Sample, ...]:
    samples = rule.samples
    if rule.kind == "partials":  # one formula for all shapes: a sample of real numbers, and one of complex ones
        return tuple({is_complex(sample): sample for sample in reversed(samples)}.values())
    return samples if len(samples) <= SAMPLES_WITH_JAX else (*samples[: SAMPLES_WITH_JAX - 1], samples[-1])


# --- JAX ------------------------------------------------------------------------------------------------------------


@functools.cache
def jax() -> Any:
    found = importlib.import_module("jax")
    found.config.update("jax_enable_x64", True)
    found.config.update("jax_platforms", "cpu")
    return found


NOT_TAKEN = (TypeError, ValueError, NotImplementedError, AttributeError)
"""What JAX raises where its function does not take these arguments or has no derivative."""


def by_jax(cases: list[PeerCase], fn: Any, with_tangents: list[bool]) -> list[Any]:
    """For each case the cotangents by JAX, compiled together, and the tangent for the first of those for which it is
    asked; None where its function does not take the arguments or has no derivative."""

    def derivatives(given: list[Any]) -> list[Any]:
        found: list[Any] = []
        for one in zip(cases, with_tangents, given, strict=True):
            found.append(None if one[1] and has_tangent(found) else attempt(*one))
        return found

    def attempt(case: PeerCase, with_tangent: bool, given: Any) -> Any:
        def call(*leaves: Any) -> Any:
            return case.call_with(fn, list(leaves))

        leaves, bars, turned = given
        try:
            out, pull = jax().vjp(call, *leaves)
            flat, structure = jax().tree_util.tree_flatten(out)
            if [np.shape(g) for g in bars] != [y.shape for y in flat]:
                return None  # another result
            cotangents = pull(structure.unflatten([g.astype(y.dtype) for g, y in zip(bars, flat, strict=True)]))
        except (*NOT_TAKEN, jax().errors.JAXTypeError):
            return None
        return list(cotangents), jax().tree_util.tree_leaves(jax().jvp(call, leaves, turned)[1]) if with_tangent else []

    given = [(case.active_leaves(), [np.asarray(g) for g in tree(case.y_bar)], case.active_directions())
             for case in cases]
    try:
        return list(jax().jit(derivatives)(given))
    except (*NOT_TAKEN, jax().errors.JAXTypeError):  # when it is compiled
        if len(cases) == 1:
            return [None]
        found = []
        for k, case in enumerate(cases):
            skip = with_tangents[k] and has_tangent(found)
            found += [None] if skip else by_jax([case], fn, with_tangents[k : k + 1])
        return found


def has_tangent(found: list[Any]) -> bool:
    return any(one is not None and one[1] for one in found)


def compared_rules() -> list[tuple[Rule, str]]:
    """The rules whose functions are looked for in the other libraries, with their paths."""
    rules = [rule for rule in RULES.values() if rule.samples and rule.kind in ("partials", "linear", "vjp")]
    return [(rule, path) for rule in rules for path in paths(rule)]


def in_groups() -> list[Any]:
    """Some of these rules at a time."""
    rules = compared_rules()
    groups = [rules[i : i + TOGETHER] for i in range(0, len(rules), TOGETHER)]
    return [pytest.param(group, id=f"{group[0][1]} to {group[-1][1]}") for group in groups]


JAX = {"numpy": "jax.numpy", "scipy": "jax.scipy"}
AUTOGRAD = {"numpy": "autograd.numpy", "scipy": "autograd.scipy"}


@pytest.mark.grid(0.15)
@pytest.mark.parametrize("rules", in_groups())
def test_jax(rules: list[tuple[Rule, str]]) -> None:
    for rule, path in rules:
        compare_with_jax(rule, path)


def compare_with_jax(rule: Rule, path: str) -> None:
    """The cotangents of samples; and those and the tangent of the first call of complex numbers that both take."""
    fn = counterpart(path, JAX)
    if fn is None or path in NOT_COMPARED:
        return
    cases = [PeerCase(rule, sample) for sample in chosen(rule) if not is_other("jax", path, sample)]
    turned = list(complex_cases(rule)) if path.startswith("numpy.") else []
    is_turned = [False] * len(cases) + [True] * len(turned)
    found = by_jax([*cases, *turned], fn, is_turned)
    assert any(found[: len(cases)]), f"{path}: JAX has the function and takes none of these samples"
    for case, theirs, with_tangent in zip([*cases, *turned], found, is_turned, strict=True):
        if theirs is not None:
            with aspect("cotangents against JAX", rule, case.sample):
                compare(case, theirs[0])
            if with_tangent:
                with aspect("tangent against JAX", rule, case.sample):
                    compare_tangents(case, theirs[1])


# --- JAX, of complex numbers: all functions that take them, both modes ----------------------------------------------


def with_complex(argument: Any) -> Any:
    """An argument of a sample, with complex arrays in place of real ones."""
    if isinstance(argument, Draw):
        return argument if argument.shape is None else replace(argument, complex=True)
    if type(argument) in (list, tuple):
        return type(argument)(map(with_complex, argument))
    return argument


def complex_samples(rule: Rule) -> Iterator[Sample]:
    """Samples with complex numbers; made from the others where the rule has none."""
    yield from filter(is_complex, rule.samples)
    for sample in rule.samples:
        made = args(*map(with_complex, sample.args), **{k: with_complex(v) for k, v in sample.kwargs.items()})
        if is_complex(made) and not is_complex(sample):
            yield made


def complex_cases(rule: Rule) -> Iterator[PeerCase]:
    """Those of the complex samples that NumPy takes."""
    for sample in complex_samples(rule):
        with contextlib.suppress(TypeError, ValueError, np.linalg.LinAlgError):  # NumPy's function is for real numbers
            yield PeerCase(rule, sample)


def compare_tangents(case: PeerCase, theirs: list[Any]) -> None:
    ours = [np.asarray(part) for part in tree(case.tangent())]
    for a, b in zip(ours, theirs, strict=True):
        if b.dtype.kind == "V":
            continue  # JAX's tangent of an integer
        size = max(1.0, float(np.max(np.abs(b), initial=0.0)))
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8 * size, err_msg=str(case.sample))


def test_many_functions_of_complex_numbers_are_compared() -> None:
    rules = [
        rule for rule, path in compared_rules()
        if path.startswith("numpy.") and path not in NOT_COMPARED and counterpart(path, JAX) is not None
    ]
    assert sum(any(True for _ in complex_samples(rule)) for rule in rules) >= 150


# --- autograd -------------------------------------------------------------------------------------------------------


def by_autograd(case: PeerCase, fn: Any) -> list[Any] | None:
    from autograd.core import make_vjp

    leaves = case.active_leaves()
    found = []
    for i, x in enumerate(leaves):
        def one(z: Any, i: int = i) -> Any:
            return case.call_with(fn, [*leaves[:i], z, *leaves[i + 1 :]])

        try:
            pull, out = make_vjp(one, x)
            bar = case.y_bar if not isinstance(out, (tuple, list)) else type(out)(case.y_bar)
            found.append(pull(bar))
        except (TypeError, ValueError, NotImplementedError, AttributeError, AssertionError, KeyError, IndexError):
            return None
        if np.shape(found[-1]) != np.shape(x) or not np.any(found[-1]):
            return None  # it may forget to sum what was broadcast; what it does not trace is zero, lists for one
    return found


@pytest.mark.parametrize("rules", in_groups())
def test_autograd(rules: list[tuple[Rule, str]]) -> None:
    for rule, path in rules:
        compare_with_autograd(rule, path)


def compare_with_autograd(rule: Rule, path: str) -> None:
    fn = counterpart(path, AUTOGRAD)
    for sample in rule.samples if fn is not None else ():
        if "where" in sample.kwargs or is_other("autograd", path, sample):
            continue
        case = PeerCase(rule, sample)
        theirs = by_autograd(case, fn)
        if theirs is not None:
            with aspect("cotangents against autograd", rule, sample):
                compare(case, theirs)
