"""What one version relies on and gives: its guards, what another process compares, the types of its result."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2s.analysis.abstract.numbers import is_exact
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.values import AbstractValue, Array, Dim, Mapping, Scalar, Sequence
from s2s.specialize.specializer import Specializer
from s2s.versions.argument_guards import EqualGuard, SeparateGuard, SizeGuard, SumGuard
from s2s.versions.fingerprints import stable_mark
from s2s.versions.guards import ObjectGuard
from s2s.versions.paths import package_version
from s2s.versions.request import Dependency
from s2s.versions.signature import array_places

__all__ = ["dependencies", "guards", "import_path", "separate", "types_of"]


def types_of(value: AbstractValue) -> Any:
    """The NumPy types of a result, as ``Compiled.result`` has them."""
    match value:
        case Sequence(kind, items) if kind is not slice:
            return tuple(map(types_of, items))
        case Mapping(_, items):
            return tuple(map(types_of, items))
        case Scalar(kind) if is_exact(kind) and issubclass(kind, np.number):
            return kind.__name__
        case Array(dtype):
            return f"array {dtype.name}"
        case _:
            return None


def guards(specializer: Specializer, context: Context, function: ir.Function) -> Iterator[Any]:
    """What must hold of the objects and lengths that the version was made for."""
    yield from specializer.guards
    seen = set[frozenset[Dim]]()
    for one, other in (*_equal_lengths(context, function), *sorted(context.evaluator.facts.alike, key=str)):
        if frozenset((one, other)) not in seen:
            seen.add(frozenset((one, other)))
            yield EqualGuard(one, other)
    for terms, constant, test in sorted(context.evaluator.facts.bounded):
        yield SumGuard(terms, constant, test)
    for symbol, value in sorted(context.evaluator.facts.assumed):
        yield SizeGuard(symbol, value)
    for symbol, value in sorted(context.evaluator.facts.equal.items()):
        yield EqualGuard(Dim(symbol), Dim("", value))
    yield from sorted(context.relied_sizes, key=str)


def separate(changed: list[str], arguments: dict[str, AbstractValue]) -> Iterator[SeparateGuard]:
    """The arrays that an argument that is changed must not share memory with: all others."""
    places = {name: array_places(value, name) for name, value in arguments.items()}
    seen = set()
    every = [place for found in places.values() for place in found]
    for name in changed:
        for first in (p for p in every if p == name or p.startswith((f"{name}[", f"{name}."))):
            for second in every:
                if first != second and (second, first) not in seen:
                    seen.add((first, second))
                    yield SeparateGuard(first, second)


def _equal_lengths(context: Context, function: ir.Function) -> Iterator[tuple[Dim, Dim]]:
    """The equalities of lengths that NumPy would have checked in an operation that was dropped as dead."""
    left = {v for s in ir.walk(function.body) for v in ir.defs_of(s)}
    checked = {pair for var, pairs in context.forced.items() if var in left for pair in pairs}
    for var, pairs in context.forced.items():
        for pair in pairs:
            if var in left or pair in checked or pair[::-1] in checked or not all(map(_is_argument_length, pair)):
                continue
            checked.add(pair)
            yield pair


def _is_argument_length(dim: Dim) -> bool:
    return dim.is_constant or dim.symbol[0] not in "?*"


def dependencies(
    specializer: Specializer, fn: types.FunctionType, imports: dict[str, str]
) -> Iterator[Dependency]:
    """What another process compares with what it finds: the objects that were folded in, and the versions of the
    packages whose code was."""
    seen: set[Any] = set()
    for guard in specializer.guards:
        if not isinstance(guard, ObjectGuard):
            continue
        root, path, owner = guard.root, guard.path, guard.owner
        if guard.found is not None and guard.found[0] == "rule":
            continue  # all versions on disk depend on the rules
        if root == "value" and guard.found is not None:
            root, path, owner = guard.found[0], (*guard.found[1], *path[1:]), guard.found[2]
        if path[-1] in ("__code__", "__defaults__") and (root, path[:-1], owner) in seen:
            continue  # the function's own fingerprint has them
        seen.add((root, path, owner))
        if guard.late and root == "module":
            yield Dependency("stable", path, stable_mark(guard.value))
        elif not guard.late:
            yield _dependency(root, path, owner, guard.value)
    yield from _packages(specializer, fn, imports)


def _dependency(root: str, path: tuple[Any, ...], owner: types.FunctionType | None, value: Any) -> Dependency:
    if root == "module":
        return Dependency.of("import", path, value)
    if owner is None:
        return Dependency.of(root, path, value)
    # of an inlined function, found through its module where that has it
    module = sys.modules.get(owner.__module__)
    if root == "global" and module is not None and vars(module) is owner.__globals__:
        return Dependency.of("import", (owner.__module__, *path), value)
    return Dependency(root, path, "")


def _packages(specializer: Specializer, fn: types.FunctionType, imports: dict[str, str]) -> Iterator[Dependency]:
    """The versions of the other packages whose functions are inlined or called; those of NumPy and Python are asked of
    every file."""
    inlined = (inner.__module__ or "" for inner in specializer.inliner.dependencies)
    found = {name.partition(".")[0] for name in (*inlined, *imports.values())}
    own = (fn.__module__ or "").partition(".")[0]
    for name in sorted(found - {"", own, "numpy", "s2s", "__main__", *sys.stdlib_module_names}):
        if name in sys.modules:
            yield Dependency("version", (name,), package_version(name))


def import_path(path: str) -> str:
    """Where an import of the generated code is found: a module, or a module and a name in it."""
    if path in sys.modules:
        return path
    module, _, name = path.rpartition(".")
    return f"{module}:{name}"
