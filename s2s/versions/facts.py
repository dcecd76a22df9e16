"""Facts of the world: what the compiler reads outside the function compiled, each with the guard of a version that
relies on it.

The compiler looks at globals, closures, attributes, classes, modules. What it folds into code must be the same when the
code runs. So the functions here that read do not give a value but a ``Fact``, and a fact is opened only by naming the
``Guards`` into which it writes what must stay as it is: a fold without a guard is an error of types.

    fact = facts.variable(fn, "global", "helper", owner)        # reads, relies on nothing yet
    if fact.is_(is_constant_kind):                              # which way to open it
        return ir.Const(fact.folded(self.guards))               # this very object
    value, found = fact.described(self.guards, data)            # an object of this kind, read when the program runs

``FOLDS`` names every way of reading; the tests change for each what it has read, and a way without such a test fails.
Guards are ``versions.Guard``: ``dispatch`` compiles them into the test of a version, ``cache`` compares them in another
process.
"""

from __future__ import annotations

import abc
import builtins
import contextlib
import functools
import importlib
import inspect
import sys
import types
from collections.abc import Callable, Container, Hashable, Iterable, Iterator
from typing import Any, Generic, TypeVar

import numpy as np

from s2s.arrays import in_numpy
from s2s.core import inspection
from s2s.core.const import Const
from s2s.core.inspection import (
    MISSING,
    class_attribute,
    is_foreign,
    is_subclass,
    is_written,
    module_of,
    mro_of,
    namespace,
    own_dict,
    own_value,
)
from s2s.core.values import UNKNOWN, AbstractValue, Known, Unknown
from s2s.versions.array_kinds import of_program
from s2s.versions.guards import (
    AliasGuard,
    AttributeGuard,
    BasesGuard,
    CallGuard,
    ClassGuard,
    Guard,
    KindGuard,
    NamesGuard,
    ObjectGuard,
    ShadowGuard,
)
from s2s.versions.imports import cannot_import, forget_failure, is_installed_with_python, is_not_loaded
from s2s.versions.live_data import describe_data
from s2s.versions.paths import builtins_of, import_path, is_among, loaded
from s2s.versions.signature import describe, with_sizes

__all__ = [
    "FOLDS", "MISSING", "STABLE_MODULES", "Fact", "Guards", "Reading", "Site", "absent", "alias", "among", "argument",
    "attribute", "builtin", "code", "default", "given", "has", "implementation", "is_of_python", "is_replaceable",
    "is_stable", "item", "keywords", "known", "member", "member_value", "module", "module_if_loaded", "names", "own",
    "presence", "registered", "shadow", "signature", "site_of", "static", "subclass", "variable",
]

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

STABLE_MODULES = ("numpy", "math", "scipy", "builtins", "operator", "functools", "itertools", "s2s")
"""Modules whose attributes nobody replaces."""

Site = tuple[str, tuple[Any, ...], Any]
"""Where something is found, as guards have it: a root, a path and an owner."""

RULED: Site = ("rule", (), None)
"""Where the functions of rules are found: in all versions on disk."""

FOLDS: dict[str, str] = {}
"""The ways in which the world is read: the name of the function, and what it reads."""

_OF_PYTHON = sys.stdlib_module_names - {"__main__"}

_DEFAULTS = (("__defaults__",), ("__kwdefaults__",))
_DEFINITIONS = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, np.ufunc)


class Guards:
    """The guards of a version in the making. Only facts write to it."""

    __slots__ = ("_held", "_sites", "folds", "told")

    def __init__(self) -> None:
        self._held: dict[Hashable, Guard] = {}
        self._sites: dict[int, Site] = {}
        self.folds: set[str] = set()
        self.told: Callable[[Guard], None] | None = None
        """What is told of each guard that is written, also where there is an equal one."""

    def __iter__(self) -> Iterator[Guard]:
        return iter(self._held.values())

    def __len__(self) -> int:
        return len(self._held)

    def copy(self) -> Guards:
        """The same guards: to come back to them where what follows cannot be used."""
        made = Guards()
        made._held, made._sites, made.folds = dict(self._held), dict(self._sites), set(self.folds)
        made.told = self.told
        return made

    @contextlib.contextmanager
    def untold(self) -> Iterator[None]:
        """While nobody is told of guards that are written."""
        told, self.told = self.told, None
        try:
            yield
        finally:
            self.told = told

    @contextlib.contextmanager
    def apart(self) -> Iterator[Guards]:
        """Collects all that the block relies on, also what was relied on before it, and holds that after it."""
        before, self._held = self._held, {}
        made = Guards()
        try:
            yield made
        finally:
            made.update(self)
            self._held = before | self._held

    def update(self, other: Guards) -> None:
        """Take in the guards of another one."""
        self._held |= other._held
        self._sites |= other._sites
        self.folds |= other.folds
        if self.told is not None:
            for guard in other:
                self.told(guard)

    def since(self, before: Guards) -> Guards:
        """The guards that another one does not have."""
        made = self.copy()
        made._held = {key: guard for key, guard in self._held.items() if key not in before._held}
        return made

    def are_definitions(self) -> bool:
        """Whether only functions with their defaults, classes and modules are relied on, and what those of NumPy and
        Python have."""
        return all(
            (isinstance(guard, ObjectGuard) and issubclass(type(guard.value), (*_DEFINITIONS, types.CodeType)))
            or (isinstance(guard, ObjectGuard) and guard.path[-1:] in _DEFAULTS)
            or (isinstance(guard, AttributeGuard) and guard.root == "module" and guard.path[0] in STABLE_MODULES)
            for guard in self
        )

    def site(self, value: Any) -> Site | None:
        """Where a function or class has been found that was folded."""
        return self._sites.get(id(value))

    def reached(self, value: Any, holder: Any, *steps: Any) -> None:
        """Note that a function is found as a part of something else that was folded."""
        site = self._sites.get(id(holder)) or site_of(holder)[1]
        if site is not None:
            self._sites.setdefault(id(value), (site[0], (*site[1], *steps), site[2]))

    def ruled(self, fn: types.FunctionType) -> None:
        """Note that a function is a rule of the user: every version on disk depends on all rules."""
        self._sites.setdefault(id(fn), RULED)

    def _note_guard(self, fold: str, guards: Iterable[Guard]) -> None:
        self.folds.add(fold)
        guards = [*guards]
        for guard in [*guards]:
            cls: Any = guard.cls if isinstance(guard, ClassGuard) else getattr(guard, "value", None)
            if issubclass(type(cls), type) and is_foreign(cls):
                guards.append(BasesGuard.of(cls))
        for guard in guards:
            self._held[guard.subject] = guard
            if self.told is not None:
                self.told(guard)
            if isinstance(guard, ObjectGuard) and callable(guard.value) and guard.root not in ("value", "argument"):
                self._sites.setdefault(id(guard.value), (guard.root, guard.path, guard.owner))


class Fact(Generic[T]):
    """What one way of reading has found."""

    __slots__ = ("_fold", "_guards", "_value")

    def __init__(self, fold: str, value: T, *guards: Guard) -> None:
        self._fold = fold
        self._value = value
        self._guards = guards

    def folded(self, guards: Guards) -> T:
        """What was found, for code that holds as long as this very object, or this answer, is found there."""
        guards._note_guard(self._fold, self._guards)
        return in_numpy(self._value)  # type: ignore[no-any-return]


class Reading(Fact[Any]):
    """An object that was found at a place, from which its parts are read on."""

    __slots__ = ("_late", "_site", "_start", "is_made_anew")

    def __init__(
        self, fold: str, value: Any, site: Site, late: bool = False, start: Site | None = None, fixed: bool = False
    ) -> None:
        """``start`` is where another process finds the object that a path with the root ``value`` begins with. What is
        ``fixed`` belongs to code of which the versions on disk know the version, or to what never changes: it needs no
        guard. What ``is_made_anew`` by each read cannot be known again, and so not be folded."""
        self.is_made_anew = False
        self._fold = fold
        self._value = value
        self._site = site
        self._late = late
        self._start = start
        self._guards = () if fixed else (self._object_guard(),)

    def _object_guard(self) -> Guard:
        root, path, owner = self._site
        if self._value is MISSING:
            return AttributeGuard(root, path[:-1], path[-1], False, owner, self._late, self._start)
        return ObjectGuard(root, path, self._value, owner, self._late, self._start)

    def is_(self, test: Callable[[Any], Any]) -> bool:
        """Whether the object passes a test: by that the way is chosen in which the fact is opened, whose guard holds
        for no object that would not pass."""
        return bool(test(self._value))

    @property
    def site(self) -> Site:
        """Where the object was found."""
        return self._site

    @property
    def is_missing(self) -> bool:
        """Whether there is nothing."""
        return self._value is MISSING

    def described(self, guards: Guards, containers: Container[int]) -> tuple[AbstractValue, Any]:
        """What is known of an object of this kind, and the object, as an example: it is read when the program runs.
        Where nothing is known there is no guard. ``containers`` are those that are data, by ``id``."""
        root, path, owner = self._site
        data = describe_data(self._value) if id(self._value) in containers else None
        value = data or with_sizes(describe(self._value, "?"), self._value)
        if data is None and isinstance(value, (Known, Unknown)):
            return UNKNOWN, self._value
        known = of_program(value, str(path[-1] if path else root))
        if not self._late:
            guards._note_guard(self._fold, (KindGuard(root, path[0], value, owner, path[1:], self._start),))
        return known, self._value

    def of_class(self, guards: Guards) -> Any:
        """The object, for code that reads its attributes one by one, under guards of theirs: here is only its class."""
        root, path, owner = self._site
        kind = ObjectGuard(root, (*path, "__class__"), type(self._value), owner, False, self._start)
        guards._note_guard(self._fold, (kind,))
        return self._value


def _fold(read: F) -> F:
    """Note a way of reading in ``FOLDS``."""
    FOLDS[read.__name__] = (read.__doc__ or "").partition("\n\n")[0]
    return read


# --- variables ------------------------------------------------------------------------------------------------------


@_fold
def variable(fn: types.FunctionType, scope: str, name: str, owner: types.FunctionType | None) -> Reading:
    """A variable of the module of a function, a builtin that no such variable hides, or a variable of its closure."""
    site: Site = (scope, (name,), owner)
    if scope == "free":
        cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
        try:
            return Reading("variable", cells[name].cell_contents, site)
        except (KeyError, ValueError):
            return Reading("variable", MISSING, site)
    found, fixed = fn.__globals__.get(name, MISSING), _is_of_module_of_s2s(fn)
    if found is MISSING:
        found, fixed = builtins_of(fn).get(name, MISSING), is_of_python(fn)
    return Reading("variable", found, site, fixed=fixed)


def _is_of_module_of_s2s(fn: types.FunctionType) -> bool:
    """Whether the variables that a function reads are those of a module of s2s, which are never rebound. Functions that
    s2s makes of one text have the same code, and each its own variables: which one it is has to be asked."""
    module = fn.__module__ or ""
    return module.startswith("s2s.") and vars(sys.modules.get(module, types)) is fn.__globals__


@_fold
def builtin(name: str) -> Fact[Any]:
    """A builtin that the generated code calls by its name, which no variable of the user's module hides."""
    found = getattr(builtins, name)
    return Fact("builtin", found, ObjectGuard("global", (name,), found))


# --- attributes -----------------------------------------------------------------------------------------------------


def site_of(value: Any, guards: Guards | None = None) -> tuple[Site, Site | None]:
    """Where an object is found that is known: modules and classes that an import finds by their names; others are known
    themselves, and where they were found, or an import finds them, is for other processes."""
    path = import_path(value)
    found: Site | None = None
    if path is not None:
        module_name, _, qualified = path.partition(":")
        found = ("module", (module_name, *filter(None, qualified.split("."))), None)
        if isinstance(value, (types.ModuleType, type)):
            return found, None
    if found is None and guards is not None:
        found = guards.site(value)
    return ("value", (Const(value),), None), found


def is_stable(owner: Any) -> bool:
    """Whether nobody replaces what a module or a class has, or what the object of a class has: it belongs to NumPy, to
    SciPy, or to Python's own library where that is about numbers and functions."""
    if isinstance(owner, types.ModuleType):
        name: str | None = owner.__name__
    elif isinstance(owner, (type, types.FunctionType, functools._lru_cache_wrapper)):
        name = owner.__module__
    elif isinstance(owner, (functools.partial, np.vectorize)):
        return False
    else:
        name = type(owner).__module__
    return (name or "").split(".")[0] in STABLE_MODULES


@_fold
def attribute(owner: Any, name: str, guards: Guards) -> Reading:
    """What an attribute of a module, a class, a function, a member of an enumeration or another known object gives."""
    found = MISSING if inspection.read_runs(owner, name) else getattr(owner, name, MISSING)
    site, start = site_of(owner, guards)
    root, path, of = site
    path = (*path, name)
    if isinstance(found, types.MethodType) and found.__self__ is owner:  # made anew by each read
        return _OfMethod("attribute", found, (root, (*path, "__func__"), of), is_stable(owner), start)
    taken = isinstance(found, (types.FunctionType, types.BuiltinFunctionType, type))
    late = is_stable(owner) or (taken and isinstance(owner, types.ModuleType) and owner.__name__ in _OF_PYTHON)
    late = late and (is_stable(found) or is_of_python(found))  # else it was replaced, and may be put back
    is_anew = found is not MISSING and getattr(owner, name, MISSING) is not found
    made = Reading("attribute", found, (root, path, of), late, start, is_anew and late)
    made.is_made_anew = is_anew and not late
    return made


class _OfMethod(Reading):
    """A bound method of a known object, which is known by its function."""

    __slots__ = ()

    def _object_guard(self) -> Guard:
        root, path, owner = self._site
        return ObjectGuard(root, path, self._value.__func__, owner, self._late, self._start)


@_fold
def absent(site: Site, value: Any, name: str) -> Fact[None]:
    """That a live object and its class have no attribute of this name, but for what ``__getattr__`` makes up."""
    root, path, owner = site
    if class_attribute(type(value), "__getattr__", MISSING) is not MISSING:
        has_own = class_attribute(type(value), "__dict__", MISSING) is not MISSING
        guards = (ShadowGuard(root, path, name, owner),) if has_own else ()
        return Fact("absent", None, *guards)
    return Fact("absent", None, AttributeGuard(root, path, name, False, owner))


@_fold
def presence(site: Site, value: Any, name: str) -> Fact[bool]:
    """Whether a live object has an attribute."""
    root, path, owner = site
    found = hasattr(value, name)
    return Fact("presence", found, AttributeGuard(root, path, name, found, owner))


@_fold
def shadow(site: Site, name: str) -> Fact[None]:
    """That a live object has no attribute of its own where that of its class is taken."""
    root, path, owner = site
    return Fact("shadow", None, ShadowGuard(root, path, name, owner))


@_fold
def names(site: Site, value: Any) -> Fact[list[str]]:
    """The names of the attributes that a live object itself has, in their order."""
    root, path, owner = site
    found = [*own_dict(value)]
    if class_attribute(type(value), "__dict__", MISSING) is MISSING:
        return Fact("names", found)
    return Fact("names", found, NamesGuard(root, (*path, "__dict__"), tuple(found), owner))


@_fold
def member(cls: type, name: str) -> Fact[Any]:
    """What a class or its bases have under a name, unbound: a function, a descriptor, a value, or nothing."""
    found = class_attribute(cls, name, MISSING)
    if not is_replaceable(cls):
        return Fact("member", found)
    owner = next((base for base in mro_of(cls) if name in namespace(base)), None)
    if found is MISSING or not is_replaceable(owner):
        return Fact("member", found, ClassGuard(cls, name, found is not MISSING))
    (root, path, of), _ = site_of(cls)
    if isinstance(found, staticmethod):
        return Fact("member", found, ObjectGuard(root, (*path, name), found.__func__, of))
    if isinstance(found, classmethod):
        return Fact("member", found, ObjectGuard(root, (*path, name, "__func__"), found.__func__, of))
    if isinstance(found, (types.FunctionType, property, functools.cached_property)) or carries_own(found):
        return Fact("member", found, ObjectGuard(root, (*path, name), found, of))
    if class_attribute(type(found), "__get__", MISSING) is not MISSING:
        (root, path, of), _ = site_of(owner)
        return Fact("member", found, ObjectGuard(root, (*path, "__dict__", (name,)), found, of))
    return Fact("member", found, ClassGuard(cls, name, True))  # a value: it is read under a guard of its own


@_fold
def static(cls: type, name: str) -> Fact[Any]:
    """What a class or its bases have under a name, a value among it."""
    found = class_attribute(cls, name, MISSING)
    owner = next((base for base in mro_of(cls) if name in namespace(base)), None)
    if found is MISSING or not is_replaceable(owner):
        return Fact("static", found, ClassGuard(cls, name, found is not MISSING))
    (root, path, of), start = site_of(owner)
    return Fact("static", found, ObjectGuard(root, (*path, "__dict__", (name,)), found, of, False, start))


@_fold
def member_value(cls: type, name: str, found: Any) -> Reading:
    """A value that a class has under a name, no function and no descriptor."""
    site, start = site_of(cls)
    return Reading("member_value", found, _step(site, name), start=start)


@_fold
def own(owner: Any, name: str, site: Site) -> Reading:
    """An attribute that a live object itself has, or a value of its class that it sees under the name."""
    held = own_value(owner, name)
    return Reading("own", getattr(owner, name) if held is MISSING else held, _step(site, name))


@_fold
def item(container: Any, key: Any, site: Site) -> Reading:
    """An item of a list, tuple or dict that was there before."""
    return Reading("item", container[key], _step(site, (key,)))


@_fold
def given(value: Any, site: Site) -> Reading:
    """An object that was there before: an argument or a part of one, the receiver of a method that something holds."""
    return Reading("given", value, site)


@_fold
def known(value: Any) -> Reading:
    """An object that something else was seen to hold: the receiver of a method, a default."""
    site, start = site_of(value)
    if site[0] == "module":
        site = ("value", (Const(value),), None)
    return Reading("known", value, site, start=start)


def _step(site: Site, name: Any) -> Site:
    root, path, owner = site
    return root, (*path, name), owner


def carries_own(found: Any) -> bool:
    """Whether what a class has under a name is a function that ``s2s.differentiable`` has decorated."""
    return class_attribute(type(found), "__s2s_primal__", MISSING) is not MISSING


def is_replaceable(owner: Any) -> bool:
    """Whether somebody may give a module or a class another attribute: it does not belong to Python's own library or to
    NumPy."""
    if isinstance(owner, types.ModuleType):
        name = owner.__name__
    elif isinstance(owner, type) and is_written(owner):
        name = module_of(owner)
    else:
        return False
    return name == "__main__" or (name or "").split(".")[0] not in (*STABLE_MODULES, *sys.stdlib_module_names)


@_fold
def has(kind: type, name: str) -> Fact[bool]:
    """Whether the objects of a class have an attribute by their class."""
    found = class_attribute(kind, name, MISSING) is not MISSING
    return Fact("has", found, *((ClassGuard(kind, name, found),) if is_replaceable(kind) else ()))


@_fold
def subclass(kind: type, kinds: Any) -> Fact[bool | None]:
    """Whether a class counts as one of others, also by what is registered with an abstract class; None where code of
    the program decides."""
    found = is_subclass(kind, kinds)
    if found is None:
        return Fact("subclass", None)
    given = kinds if isinstance(kinds, tuple) else (kinds,)
    bound = inspection.mro_of(kind)  # of these no registration tells, nor does a protocol with data say how it is met
    asked = [
        k for k in given
        if isinstance(k, abc.ABCMeta) and not any(k is base for base in bound)
        and not (is_of_python(k) and is_of_python(kind))]
    bases = [BasesGuard.of(kind)] if is_foreign(kind) else []
    return Fact("subclass", found, *bases, *(CallGuard(issubclass, (kind, k), issubclass(kind, k)) for k in asked))


def is_of_python(value: Any) -> bool:
    """Whether a class or a function belongs to Python's own library, to NumPy or SciPy, or to s2s."""
    package = (inspection.look_up(value, "__module__", None) or "").split(".")[0]
    return package != "__main__" and package in (*STABLE_MODULES, *sys.stdlib_module_names)


# --- functions ------------------------------------------------------------------------------------------------------


@_fold
def code(fn: types.FunctionType, guards: Guards) -> Fact[types.CodeType]:
    """The code of a function, which stays the same object when its code is replaced."""
    return Fact("code", fn.__code__, *_contents(fn, ("__code__",), fn.__code__, guards))


@_fold
def default(fn: types.FunctionType, name: str, guards: Guards) -> Reading:
    """The default of a parameter for which a call gives nothing."""
    steps: tuple[Any, ...]
    given, fixed = fn.__kwdefaults__ or {}, is_stable(fn) or "__s2s_linked__" in fn.__dict__
    if name in given:
        value, steps = given[name], ("__kwdefaults__", (name,))
    else:
        values, count = fn.__defaults__ or (), fn.__code__.co_argcount
        place = fn.__code__.co_varnames[:count].index(name) - count + len(values)
        value, steps = values[place], ("__defaults__", (place,))
        if not fixed:
            guards._note_guard("default", _contents(fn, ("__defaults__",), values, guards))
            fixed = not _may_be_followed(value)
    guards.reached(value, fn, *steps)
    start = guards.site(fn) or site_of(fn)[1]
    return Reading("default", value, ("value", (Const(fn), *steps), None), start=start, fixed=fixed)


def _may_be_followed(value: Any) -> bool:
    """Whether parts of an object may be read on, which are found by where the object is."""
    return issubclass(type(value), (list, dict, set, tuple)) or is_written(type(value))


def _contents(fn: types.FunctionType, steps: tuple[Any, ...], value: Any, guards: Guards) -> tuple[Guard, ...]:
    if is_stable(fn) or "__s2s_linked__" in fn.__dict__:  # generated code: nobody replaces it
        return ()
    found = guards.site(fn) or site_of(fn)[1]
    return (ObjectGuard("value", (Const(fn), *steps), value, None, False, found),)


@_fold
def signature(fn: types.FunctionType, guards: Guards) -> Fact[inspect.Signature]:
    """The parameters of a function and their defaults, as ``inspect`` tells them."""
    parts: list[Iterable[Guard]] = [default(fn, name, guards)._guards for name in fn.__kwdefaults__ or ()]
    parts += [_contents(fn, (name,), getattr(fn, name), guards) for name in ("__code__", "__defaults__")]
    if fn.__kwdefaults__:
        start, path = guards.site(fn) or site_of(fn)[1], (Const(fn), "__kwdefaults__")
        parts.append([NamesGuard("value", path, tuple(fn.__kwdefaults__), None, start)])
    elif fn.__code__.co_kwonlyargcount:
        parts.append(_contents(fn, ("__kwdefaults__",), fn.__kwdefaults__, guards))
    return Fact("signature", inspect.signature(fn), *(guard for part in parts for guard in part))


@_fold
def keywords(fn: functools.partial[Any] | functools.partialmethod[Any], guards: Guards) -> Fact[tuple[str, ...]]:
    """The names of the keyword arguments of a partial function, a dict that may be changed in place; with ``func`` and
    ``args``, which ``__setstate__`` and assignments may replace."""
    found, start = tuple(fn.keywords), site_of(fn, guards)[1]
    func, args = (("value", (Const(fn), name), getattr(fn, name), None, False, start) for name in ("func", "args"))
    named = NamesGuard("value", (Const(fn), "keywords"), found, None, start)
    return Fact("keywords", found, named, ObjectGuard(*func), ObjectGuard(*args))


@_fold
def argument(
    fn: functools.partial[Any] | functools.partialmethod[Any], key: int | str, guards: Guards
) -> Reading:
    """An argument that a partial function has, by its position or its keyword."""
    start = site_of(fn, guards)[1]
    if isinstance(key, int):
        return Reading("argument", fn.args[key], ("value", (Const(fn), "args", (key,)), None), False, start, fixed=True)
    return Reading("argument", fn.keywords[key], ("value", (Const(fn), "keywords", (key,)), None), start=start)


# --- answers --------------------------------------------------------------------------------------------------------


@_fold
def implementation(dispatch: Callable[[type], T], kind: type) -> Fact[T]:
    """The function that a generic one has for a class."""
    found = dispatch(kind)
    guards = () if is_stable(found) else (CallGuard(dispatch, (kind,), found),)
    return Fact("implementation", found, *guards)


@_fold
def among(item: Any, module_name: str, name: str) -> Fact[bool]:
    """Whether a container of a module has an item."""
    found = is_among(item, module_name, name)
    return Fact("among", found, CallGuard(is_among, (item, module_name, name), found))


@_fold
def registered(name: str, rule: Any) -> Fact[Any]:
    """The rule of the user that a name of ``gradient_override`` stands for."""
    return Fact("registered", rule, ObjectGuard("module", ("s2s.directives.policies", "REGISTERED", name), rule))


@_fold
def alias(first: Site, second: Site, same: bool) -> Fact[None]:
    """Whether two places hold one object."""
    return Fact("alias", None, AliasGuard(first, second, same))


# --- modules --------------------------------------------------------------------------------------------------------


@_fold
def module_if_loaded(name: str) -> Fact[types.ModuleType | None]:
    """The module that has been imported under a name; None where none has."""
    found = loaded(name)
    return Fact("module_if_loaded", found, CallGuard(loaded, (name,), found))


@_fold
def module(name: str) -> Fact[types.ModuleType | ImportError | None]:
    """The module that an import gives, or the exception that it raises. None for one of the program, or of another
    package, that is not there yet: importing it would run its code, which the program may never do."""
    if sys.modules.get(name) is None:
        forget_failure(name)  # a version that is made looks at the folders
        if cannot_import(name):
            problem = ModuleNotFoundError(f"No module named {name!r}", name=name)
            return Fact("module", problem, CallGuard(cannot_import, (name,), True))
        if not is_installed_with_python(name):
            return Fact("module", None, CallGuard(is_not_loaded, (name,), True))
    try:
        found = importlib.import_module(name)
    except ImportError as raised:
        return Fact("module", raised, CallGuard(loaded, (name,), None))
    if name.split(".")[0] in STABLE_MODULES:
        return Fact("module", found)
    return Fact("module", found, CallGuard(loaded, (name,), found))
