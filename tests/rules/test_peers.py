"""First derivatives by the rules against those of JAX and autograd, wherever these have the function."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from test_compiled import path_of
from test_rules import Case, draws, fill, tree

from s2s.core.record import replace
from s2s.rules import table
from s2s.rules.samples import Draw, Sample, args
from s2s.rules.table import RULES, Rule

table.extend()

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


def by_jax(case: PeerCase, fn: Any) -> list[Any] | None:
    """The cotangents by JAX; None where its function does not take these arguments or has no derivative."""

    @jax().jit
    def cotangents(leaves: list[Any], bars: list[Any]) -> Any:
        out, pull = jax().vjp(lambda *given: case.call_with(fn, list(given)), *leaves)
        flat, structure = jax().tree_util.tree_flatten(out)
        if [np.shape(g) for g in bars] != [y.shape for y in flat]:
            raise TypeError("another result")
        return pull(structure.unflatten([g.astype(y.dtype) for g, y in zip(bars, flat, strict=True)]))

    try:
        return list(cotangents(case.active_leaves(), [np.asarray(g) for g in tree(case.y_bar)]))
    except (TypeError, ValueError, NotImplementedError, AttributeError, jax().errors.JAXTypeError):
        return None


def rules_in(names: dict[str, str]) -> Iterator[Any]:
    for rule in RULES.values():
        if rule.samples and rule.kind in ("partials", "linear", "vjp"):
            for path in paths(rule):
                yield pytest.param(rule, path, id=path)


JAX = {"numpy": "jax.numpy", "scipy": "jax.scipy"}
AUTOGRAD = {"numpy": "autograd.numpy", "scipy": "autograd.scipy"}


@pytest.mark.parametrize("rule, path", rules_in(JAX))
def test_jax(rule: Rule, path: str) -> None:
    fn = counterpart(path, JAX)
    if fn is None or path in NOT_COMPARED:
        return
    compared = 0
    for sample in chosen(rule):
        case = PeerCase(rule, sample)
        theirs = None if is_other("jax", path, sample) else by_jax(case, fn)
        if theirs is not None:
            compared += 1
            compare(case, theirs)
    assert compared, "JAX has the function and takes none of these samples"


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


def tangent_by_jax(case: PeerCase, fn: Any) -> list[Any]:
    directions = [d for name in case.active for d in case.turned(name)]

    @jax().jit
    def tangent(leaves: list[Any], turned: list[Any]) -> Any:
        return jax().jvp(lambda *given: case.call_with(fn, list(given)), leaves, turned)[1]

    return jax().tree_util.tree_leaves(tangent(case.active_leaves(), directions))  # type: ignore[no-any-return]


def first_with_jax(rule: Rule, fn: Any) -> tuple[PeerCase, list[Any]] | None:
    """The first complex sample that both take, and the cotangents by JAX."""
    for sample in complex_samples(rule):
        try:
            case = PeerCase(rule, sample)
        except (TypeError, ValueError, np.linalg.LinAlgError):
            continue  # NumPy's function is for real numbers
        theirs = by_jax(case, fn)
        if theirs is not None:
            return case, theirs
    return None


@pytest.mark.parametrize("rule, path", list(rules_in({"numpy": "jax.numpy"})))
def test_jax_of_complex_numbers(rule: Rule, path: str) -> None:
    fn = counterpart(path, JAX) if path.startswith("numpy.") and path not in NOT_COMPARED else None
    found = None if fn is None else first_with_jax(rule, fn)
    if found is None:
        return
    case, theirs = found
    compare(case, theirs)
    ours = [np.asarray(part) for part in tree(case.tangent())]
    for a, b in zip(ours, tangent_by_jax(case, fn), strict=True):
        if b.dtype.kind == "V":
            continue  # JAX's tangent of an integer
        size = max(1.0, float(np.max(np.abs(b), initial=0.0)))
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8 * size, err_msg=str(case.sample))


def test_many_functions_of_complex_numbers_are_compared() -> None:
    rules = [
        rule for rule, path in (case.values for case in rules_in({"numpy": "jax.numpy"}))
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


@pytest.mark.parametrize("rule, path", rules_in(AUTOGRAD))
def test_autograd(rule: Rule, path: str) -> None:
    fn = counterpart(path, AUTOGRAD)
    for sample in rule.samples if fn is not None else ():
        if "where" in sample.kwargs or is_other("autograd", path, sample):
            continue
        case = PeerCase(rule, sample)
        theirs = by_autograd(case, fn)
        if theirs is not None:
            compare(case, theirs)
