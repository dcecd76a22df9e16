"""A version in, a function out that pickles by its source: it runs where s2s is installed, without the user's files and
without a cache.

    kernel = ship(dispatcher, version, values)      the text of a module, and what the arguments must be
    pickle.loads(pickle.dumps(kernel))(*values)     in any process: the module is made there, once
"""

from __future__ import annotations

import ast
import pickle
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.backends import runnable
from s2s.core.bounded import Recent
from s2s.core.const import Const
from s2s.core.hashes import new_hash
from s2s.core.linecaches import register
from s2s.core.record import replace
from s2s.core.values import Known, Same
from s2s.dispatch.dispatcher import Dispatcher
from s2s.dispatch.recorded import is_recorded
from s2s.dispatch.version import Version
from s2s.errors import error
from s2s.shipping.callers import is_between_arguments
from s2s.shipping.gate import module_of
from s2s.shipping.standalone import CannotShip, gathered
from s2s.versions.array_kinds import on_devices, other_kind
from s2s.versions.expressions import Expressions
from s2s.versions.guards import AliasGuard, ObjectGuard
from s2s.versions.request import Compiled
from s2s.versions.signature import Names, array_places, guard_source

__all__ = ["Shipped", "ship"]

MOST = 64
"""So many modules are kept in a process that runs them."""

_modules: Recent[str, types.ModuleType] = Recent(MOST)
_compiled: Recent[str, Callable[..., Any]] = Recent(MOST)


@dataclass(frozen=True)
class Shipped:
    """One version as source. It is called with the values of all parameters of the function, by position.

    ``body`` is the part of ``text`` that is the derivative, ``loops`` the same pair for a backend that compiles it,
    ``conditions`` is Python that holds for the arguments that it is for, about ``objects``; ``data`` is what the text
    reads and cannot be written as source; ``digest`` tells one from another.
    """

    entry: str
    text: str
    body: str
    parameters: tuple[str, ...]
    conditions: tuple[str, ...]
    objects: dict[str, Any]
    loops: tuple[str, str] | None
    data: tuple[Any, ...]
    request: Any
    avals: tuple[Any, ...]
    result: Any
    digest: str

    def __repr__(self) -> str:
        return f"<s2s {self.entry}, shipped>"

    def fits(self, values: tuple[Any, ...]) -> bool:
        """Whether it is for these arguments."""
        if len(values) < len(self.parameters):  # after them come tangents
            return False
        test = " and ".join(self.conditions) or "True"
        try:
            return bool(eval(test, {**self.objects}, dict(zip(self.parameters, values, strict=False))))
        except (AttributeError, IndexError, KeyError, TypeError):  # they are of another structure
            return False

    def __call__(self, *values: Any) -> Any:
        if not self.fits(values):
            raise error("S2S711", name=self.entry)
        return self.run(values)

    def run(self, values: tuple[Any, ...]) -> Any:
        """The derivative, for arguments of which it is known that they fit."""
        if dict(self.request.options).get("backend") != "numba":
            return self.run_as_python(*values)
        if self.digest not in _compiled:
            _compiled[self.digest] = self._by_numba(values)
        return _compiled[self.digest](*values)

    def run_as_python(self, *values: Any) -> Any:
        """The derivative, by Python."""
        return getattr(self._module(self.text), self.entry)(*values)

    def _module(self, text: str) -> types.ModuleType:
        name = f"s2s_shipped_{new_hash((text + self.digest).encode()).hexdigest()[:16]}"
        if name not in _modules:
            file = f"<s2s {self.entry} {name[-16:]}>"
            code = compile(text, file, "exec", dont_inherit=True)
            register(file, text, code)
            # as long as the module has the code, tracebacks show its lines
            module = module_of(code, name, __s2s_code__=code, __s2s_data__=self.data)
            _modules[name] = module
        return _modules[name]

    def _by_numba(self, values: tuple[Any, ...]) -> Callable[..., Any]:
        """The derivative, compiled in this process; what its text reads of its module cannot change."""
        compiled = self._linked(self.text, self.body)
        if self.loops is not None:
            compiled = replace(compiled, loops=self._linked(*self.loops))
        module = self._module(self.text)
        raw = getattr(module, self.entry)
        own = values[: len(self.avals)]
        return runnable(compiled, raw, raw, self.request, self.avals, own)

    def _linked(self, text: str, body: str) -> Compiled:
        scope = vars(self._module(text))
        tree = ast.parse(body)
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - defined
        objects = {name: scope[name] for name in read if name in scope}
        return Compiled(body, self.entry, {}, objects, result=self.result)


def ship(dispatcher: Dispatcher, version: Version, values: tuple[Any, ...]) -> Shipped:
    """A version of a dispatcher as source; ``values`` are arguments that it is for. What the code reads of the program
    goes along as it is now. Raises ArgumentError where that cannot be written as source."""
    name, compiled, data = dispatcher.name, version.compiled, list[Any]()
    if is_recorded(compiled):
        raise _recorded_error(name, compiled.objects.get("refusal"))
    is_numba = dict(version.request.options).get("backend") == "numba"
    try:
        text, body = gathered(version, None, data)
        loops = None
        if is_numba and compiled.loops is not None:
            loops = tuple(gathered(version, compiled.loops.text, data))
        conditions, objects = _conditions(dispatcher, version, values)
    except CannotShip as problem:
        raise error("S2S710", name=name, reason=str(problem)) from None
    try:
        content = pickle.dumps((text, body, conditions, [*map(_shown, objects.items())], data))
    except (pickle.PicklingError, AttributeError, TypeError) as problem:
        raise error("S2S710", name=name, reason=f"what it reads does not pickle: {problem}") from None
    digest = str(new_hash(content).hexdigest()[:16])
    return Shipped(compiled.entry, text, body, dispatcher.target.parameters, conditions, objects, loops,  # type: ignore
                   tuple(data), version.request, version.avals, compiled.result, digest)


def _recorded_error(name: str, refusal: Any) -> Exception:
    """That there is no source, at the line that the compiler refuses, with what it says to write there."""
    known = getattr(refusal, "diagnostic", None)
    if known is None:
        return error("S2S710", name=name, reason=f"it is recorded at each call, as compiled code fails: {refusal}")
    said = " ".join(str(refusal).partition("\n")[0].split())
    reason = f"it is recorded at each call, as the compiler refuses it: {said}"
    return error("S2S710", name=name, reason=reason, span=known.span, hint=known.hint)


def _shown(item: tuple[str, Any]) -> tuple[str, str]:
    """A name that conditions have, and what it stands for: the same conditions may be about other dtypes."""
    name, found = item
    is_plain = found is None or isinstance(found, (np.dtype, type, bool, int, float, complex, str))
    return name, repr(found) if is_plain else repr(type(found))


def _conditions(
    dispatcher: Dispatcher, version: Version, values: tuple[Any, ...]
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """What must hold of arguments, and the objects that this is about. Raises CannotShip where no other process can ask
    it."""
    names, found = Names("_s2s_"), list[str]()
    for name, aval, value in zip(dispatcher.target.parameters, version.avals, values, strict=False):
        found += [f"{name} is {aval.name}"] if isinstance(aval, Same) else guard_source(name, aval, names, value)
    found += on_devices([
        place for name, aval in zip(dispatcher.target.parameters, version.avals, strict=False) if other_kind(aval)
        for place in array_places(aval, name)
    ])
    expressions = Expressions(names, lambda name: name, {}, ())
    for guard, owner in version.guards:
        if isinstance(guard, ObjectGuard) and guard.root == "argument":  # in another process literals are other objects
            found += guard_source(expressions.path(guard.root, guard.path, owner), Known(Const(guard.value)), names)
        elif guard.asks_arguments and (not isinstance(guard, AliasGuard) or is_between_arguments(guard)):
            found += guard.conditions(owner, expressions)
    return tuple(dict.fromkeys(found)), names.objects
