"""What a version relies on besides the kinds of its arguments: one class for each kind of guard.

A guard says whether it holds now (``holds``), what a generated dispatch asks at each call (``conditions``), and how a
file says it (``dump``, ``load``). ``facts`` makes them while the compiler reads the world; those about the lengths and
the memory of arguments are in ``argument_guards``.
"""

from __future__ import annotations

import types
from collections.abc import Hashable
from typing import Any

from s2s.core.const import Const
from s2s.core.inspection import (
    MISSING,
    changeable_bases,
    class_attribute,
    class_name,
    is_plain_name,
    module_of,
    mro_of,
    namespace,
)
from s2s.core.record import record
from s2s.core.values import AbstractValue, DictOf, IterableOf, has_keys
from s2s.versions import stored
from s2s.versions.expressions import Expressions
from s2s.versions.fingerprints import Unstorable
from s2s.versions.like_items import are_items_of
from s2s.versions.live_data import describe_data
from s2s.versions.paths import builtins_of, imported, own_names_of, resolve
from s2s.versions.signature import conditions_of_class, describe, guard_source, key, stable_key, with_sizes

__all__ = [
    "AliasGuard", "Arguments", "AttributeGuard", "BasesGuard", "CallGuard", "ClassGuard", "Guard", "KindGuard",
    "NamesGuard", "ObjectGuard", "PlaceGuard", "ShadowGuard",
]

Arguments = dict[str, Any]
"""The values of a function's parameters in a call."""


class Guard:
    """What a version relies on. ``owner`` is the function whose globals and closure it looks at; None for the function
    that was compiled, which the methods are given.

    A ``late`` guard is about what nobody replaces in a program, only in a test: it is asked where a version is looked
    for, in memory and on disk, and at each call where the generated code reads it, too.
    """

    __slots__ = ()

    stored_as = ""
    """The name of its kind in a file."""

    owner: Any = None
    late: Any = False

    is_stored = True
    """Whether a file has to say it: no dependency of the version says the same."""

    @property
    def subject(self) -> Hashable:
        """What it is about, apart from what it says of it."""
        return self

    @property
    def asks_arguments(self) -> bool:
        """Whether it is about the arguments of a call."""
        return False

    @property
    def says_absent(self) -> bool:
        """Whether it says that something is not there, which an import may bring while the version is made."""
        return False

    def holds(self, function: types.FunctionType, arguments: Arguments | None) -> bool:
        """Whether it holds now; one about arguments does where there are none."""
        if arguments is None and self.asks_arguments:
            return True
        try:
            return self._holds(self.owner or function, arguments)
        except (LookupError, AttributeError):
            return False

    def conditions(
        self, function: types.FunctionType, expressions: Expressions, read: frozenset[str] = frozenset()
    ) -> list[str]:
        """The conditions, in Python, that hold while it does; none for a late one, unless it is about a function of a
        module whose name is among the attributes that are ``read``."""
        return [] if self.late and not self._is_about(read) else self._conditions(self.owner or function, expressions)

    def _is_about(self, read: frozenset[str]) -> bool:
        return False

    def dump(self) -> dict[str, Any]:
        """What a file says of it, a literal. Raises Unstorable where another process would not find what it is about.
        """
        owner = None if self.owner is None else stored.path_of_owner(self.owner)
        return {"kind": self.stored_as, "owner": owner, **self._dump()}

    @classmethod
    def load(cls, item: dict[str, Any], owner: types.FunctionType | None, function: types.FunctionType) -> Guard:
        """The guard of which a file says ``item``, about live objects. Raises ValueError where it does not hold."""
        raise NotImplementedError

    def _holds(self, owner: types.FunctionType, arguments: Arguments | None) -> bool:
        raise NotImplementedError

    def _conditions(self, owner: types.FunctionType, expressions: Expressions) -> list[str]:
        raise NotImplementedError

    def _dump(self) -> dict[str, Any]:
        raise NotImplementedError


def _require(holds: bool, what: Any) -> None:
    """Raise ValueError where a guard does not hold."""
    if not holds:
        raise ValueError(f"{what} is not as it was")


def _dump_site(root: str, path: tuple[Any, ...], owner: types.FunctionType | None) -> dict[str, Any]:
    """A place for a file. Raises Unstorable where another process would find nothing there."""
    if root in ("argument", "value") or not all(map(stored.is_step, path)):
        raise Unstorable("an object that is found when the program runs")
    owned = None if owner is None else stored.path_of_owner(owner)
    return {"root": root, "path": [*map(stored.store_step, path)], "owner": owned}


# --- at a place: a root, a path and an owner ------------------------------------------------------------------------


class PlaceGuard(Guard):
    """A guard about what a path leads to. ``root`` is ``global`` (module globals, then builtins) or ``free`` (a closure
    cell) of ``owner``, ``module`` (the path begins with its name) or ``argument``. The path goes on with attributes,
    and with tuples of one index or key. The root ``value`` has the object itself there, as a ``Const``; ``found`` is
    then the root, path and owner by which another process finds it, None where there is none."""

    __slots__ = ()

    root: str
    path: Any
    found: Any

    @property
    def subject(self) -> Hashable:
        return type(self), self.root, self.path, self.owner

    @property
    def asks_arguments(self) -> bool:
        return self.root == "argument"

    def _live(self, owner: types.FunctionType, arguments: Arguments | None) -> Any:
        return resolve(owner, self.root, self.path, arguments)

    def _source(self, owner: types.FunctionType, expressions: Expressions) -> str:
        return expressions.path(self.root, self.path, owner)

    def dump(self) -> dict[str, Any]:
        root, path, owner = self.root, self.path, self.owner
        if root == "value" and self.found is not None:
            root, start, owner = self.found
            path = (*start, *path[1:])
        return {"kind": self.stored_as, **_dump_site(root, path, owner), **self._dump()}

    @classmethod
    def load(cls, item: dict[str, Any], owner: types.FunctionType | None, function: types.FunctionType) -> Guard:
        path = tuple(map(stored.load_step, item["path"]))
        return cls._load(item, path, resolve(owner or function, item["root"], path), owner)

    @classmethod
    def _load(cls, item: dict[str, Any], path: tuple[Any, ...], live: Any, owner: types.FunctionType | None) -> Guard:
        """The guard about a live object, which was found at the place."""
        raise NotImplementedError


_BY_EQUALITY = (str, bytes, int)


@record
class ObjectGuard(PlaceGuard):
    """The path gives this very object, or an equal text or integer: these are made anew where a mode is set again."""

    stored_as = "object"

    root: str
    path: tuple[Any, ...]
    value: Any
    owner: Any = None
    late: bool = False
    found: tuple[str, tuple[Any, ...], Any] | None = None

    @property
    def is_stored(self) -> bool:  # type: ignore[override]
        """A dependency says the same of what is asked late, and of the code of a rule of the user."""
        return not (self.late or (self.found is not None and self.found[0] == "rule"))

    def _is_about(self, read: frozenset[str]) -> bool:
        return self.root == "module" and len(self.path) == 2 and self.path[1] in read

    def takes_builtin(self, owner: types.FunctionType) -> bool:
        """Whether it is about a builtin that no variable of the module hides."""
        name = self.path[0] if self.root == "global" and len(self.path) == 1 else None
        if name is None or name in owner.__globals__:
            return False
        return builtins_of(owner).get(name, MISSING) is self.value

    def _holds(self, owner: types.FunctionType, arguments: Arguments | None) -> bool:
        found = self._live(owner, arguments)
        return found is self.value or (type(found) in _BY_EQUALITY and type(found) is type(self.value) and (
            found == self.value))

    def _conditions(self, owner: types.FunctionType, expressions: Expressions) -> list[str]:
        source, names = self._source(owner, expressions), expressions.names
        same = f"{source} is {names.add(self.value)}"
        if type(self.value) not in _BY_EQUALITY:
            return [same]
        is_alike = f"{names.add(type)}({source}) is {names.add(type(self.value))}"
        return [f"({same} or ({is_alike} and {source} == {names.add(self.value)}))"]

    def _source(self, owner: types.FunctionType, expressions: Expressions) -> str:
        """The way there, shorter where attributes are always there, as a class may have lost some of its own."""
        root, path, names = self.root, self.path, expressions.names
        if root == "value" and path[1:] in (("__code__",), ("__defaults__",)):  # functions have these always
            return f"{names.add(path[0].value)}.{path[1]}"
        if root in ("argument", "value") or any(type(step) is tuple for step in path):
            return expressions.path(root, path, owner)
        if len(path) == 2 and is_plain_name(path[1]) and isinstance(resolve(owner, root, path[:1]), types.ModuleType):
            return f"{expressions.variable(root, path[0], owner)}.{path[1]}"
        return expressions.path(root, path, owner)

    def _dump(self) -> dict[str, Any]:
        return {"mark": stored.mark_of_object(self.value)}

    @classmethod
    def _load(cls, item: dict[str, Any], path: tuple[Any, ...], live: Any, owner: types.FunctionType | None) -> Guard:
        _require(stored.mark_of_object(live) == item["mark"], path)
        return ObjectGuard(item["root"], path, live, owner)


@record
class AttributeGuard(PlaceGuard):
    """The object at a path has an attribute ``name``, or has none."""

    stored_as = "attribute"

    root: str
    path: tuple[Any, ...]
    name: str
    is_there: bool
    owner: Any = None
    late: bool = False
    found: tuple[str, tuple[Any, ...], Any] | None = None

    @property
    def subject(self) -> Hashable:
        return AttributeGuard, self.root, self.path, self.name, self.owner

    @property
    def says_absent(self) -> bool:
        return not self.is_there

    def _holds(self, owner: types.FunctionType, arguments: Arguments | None) -> bool:
        return hasattr(self._live(owner, arguments), self.name) is self.is_there

    def _conditions(self, owner: types.FunctionType, expressions: Expressions) -> list[str]:
        source = f"{expressions.names.add(hasattr)}({self._source(owner, expressions)}, {self.name!r})"
        return [source if self.is_there else f"not {source}"]

    def _dump(self) -> dict[str, Any]:
        return {"name": self.name, "there": self.is_there}

    @classmethod
    def _load(cls, item: dict[str, Any], path: tuple[Any, ...], live: Any, owner: types.FunctionType | None) -> Guard:
        _require(hasattr(live, item["name"]) is item["there"], item["name"])
        return AttributeGuard(item["root"], path, item["name"], item["there"], owner)


@record
class ShadowGuard(PlaceGuard):
    """The object at a path has no attribute ``name`` of its own, which would hide the one of its class."""

    stored_as = "shadow"

    root: str
    path: tuple[Any, ...]
    name: str
    owner: Any = None
    found: tuple[str, tuple[Any, ...], Any] | None = None

    @property
    def subject(self) -> Hashable:
        return ShadowGuard, self.root, self.path, self.name, self.owner

    def _holds(self, owner: types.FunctionType, arguments: Arguments | None) -> bool:
        return self.name not in own_names_of(self._live(owner, arguments))

    def _conditions(self, owner: types.FunctionType, expressions: Expressions) -> list[str]:
        return [f"{self.name!r} not in {self._source(owner, expressions)}.__dict__"]

    def _dump(self) -> dict[str, Any]:
        return {"name": self.name}

    @classmethod
    def _load(cls, item: dict[str, Any], path: tuple[Any, ...], live: Any, owner: types.FunctionType | None) -> Guard:
        _require(item["name"] not in own_names_of(live), item["name"])
        return ShadowGuard(item["root"], path, item["name"], owner)


@record
class NamesGuard(PlaceGuard):
    """The dict at a path, ``__dict__`` of an object or ``keywords`` of a partial, has these keys in this order."""

    stored_as = "names"

    root: str
    path: tuple[Any, ...]
    names: tuple[str, ...]
    owner: Any = None
    found: tuple[str, tuple[Any, ...], Any] | None = None

    def _holds(self, owner: types.FunctionType, arguments: Arguments | None) -> bool:
        return has_keys(self._live(owner, arguments), self.names)

    def _conditions(self, owner: types.FunctionType, expressions: Expressions) -> list[str]:
        return [f"[*{self._source(owner, expressions)}] == {[*self.names]!r}"]

    def _dump(self) -> dict[str, Any]:
        return {"names": [*self.names]}

    @classmethod
    def _load(cls, item: dict[str, Any], path: tuple[Any, ...], live: Any, owner: types.FunctionType | None) -> Guard:
        _require([*live] == item["names"], path)
        return NamesGuard(item["root"], path, tuple(item["names"]), owner)


@record
class KindGuard(PlaceGuard):
    """A number, array or container that is read live still has this abstract value. ``rest`` leads from the variable
    to it."""

    stored_as = "kind"

    root: str
    name: Any
    aval: AbstractValue
    owner: Any = None
    rest: tuple[Any, ...] = ()
    found: tuple[str, tuple[Any, ...], Any] | None = None

    @property
    def path(self) -> tuple[Any, ...]:  # type: ignore[override]
        """The whole way to it."""
        return (self.name, *self.rest)

    def _holds(self, owner: types.FunctionType, arguments: Arguments | None) -> bool:
        live = self._live(owner, arguments)
        if isinstance(self.aval, (DictOf, IterableOf)):
            return are_items_of(self.aval, live)
        kind = describe(live, "")
        return key(self.aval) in (key(kind), key(with_sizes(kind, live)))

    def _conditions(self, owner: types.FunctionType, expressions: Expressions) -> list[str]:
        live = None
        if self.root not in ("argument", "value") and not self.rest:
            try:
                live = resolve(owner, self.root, (self.name,))
            except LookupError:
                live = None
        return guard_source(self._source(owner, expressions), self.aval, expressions.names, live)

    def _dump(self) -> dict[str, Any]:
        return {"mark": stable_key(self.aval)}

    @classmethod
    def _load(cls, item: dict[str, Any], path: tuple[Any, ...], live: Any, owner: types.FunctionType | None) -> Guard:
        aval = describe(live, str(path[0]))
        if stable_key(aval) != item["mark"]:
            aval = with_sizes(aval, live)
        if stable_key(aval) != item["mark"]:
            aval = describe_data(live) or aval
        _require(stable_key(aval) == item["mark"], path[0])
        return KindGuard(item["root"], path[0], aval, owner, path[1:])


# --- classes, calls and aliases -------------------------------------------------------------------------------------


@record
class ClassGuard(Guard):
    """A class or its bases have something under a name, or nothing. It is asked as late guards are."""

    stored_as = "class"
    late = True

    cls: type
    name: str
    is_there: bool

    @property
    def subject(self) -> Hashable:
        return ClassGuard, self.cls, self.name

    def _holds(self, owner: types.FunctionType, arguments: Arguments | None) -> bool:
        return (class_attribute(self.cls, self.name, MISSING) is not MISSING) is self.is_there

    def _dump(self) -> dict[str, Any]:
        return {"cls": stored.path_to(self.cls), "name": self.name, "there": self.is_there}

    @classmethod
    def load(cls, item: dict[str, Any], owner: types.FunctionType | None, function: types.FunctionType) -> Guard:
        guard = ClassGuard(imported(item["cls"]), item["name"], item["there"])
        _require(guard.holds(function, None), f"{item['cls']}.{item['name']}")
        return guard


@record
class BasesGuard(Guard):
    """A class has these bases in this order, and these special methods under the names of each. At a call it is asked
    how many names each base has: where that has changed, a version is looked for, and all its guards are asked."""

    stored_as = "bases"

    cls: type
    bases: tuple[type, ...]
    special: tuple[frozenset[str], ...]

    @staticmethod
    def of(cls: type) -> BasesGuard:
        """The guard of a class as it is."""
        bases = mro_of(cls)
        return BasesGuard(cls, bases, tuple(map(_special_names, changeable_bases(cls))))

    @property
    def subject(self) -> Hashable:
        return BasesGuard, self.cls

    def _holds(self, owner: types.FunctionType, arguments: Arguments | None) -> bool:
        return BasesGuard.of(self.cls) == self

    def _conditions(self, owner: types.FunctionType, expressions: Expressions) -> list[str]:
        return conditions_of_class(self.cls, expressions.names)

    def _dump(self) -> dict[str, Any]:
        return {"cls": stored.path_to(self.cls), "bases": self._mark()}

    def _mark(self) -> list[Any]:
        return [[(module_of(base), class_name(base)) for base in self.bases], [*map(sorted, self.special)]]

    @classmethod
    def load(cls, item: dict[str, Any], owner: types.FunctionType | None, function: types.FunctionType) -> Guard:
        guard = BasesGuard.of(imported(item["cls"]))
        _require(guard._mark() == item["bases"], f"what {item['cls']} derives from")
        return guard


def _special_names(cls: type) -> frozenset[str]:
    """The names of the special methods of a class; what Python and ``copy`` note in it is none."""
    found = namespace(cls).items()
    return frozenset(name for name, value in found if name.startswith("__") and type(value) not in _NOTES)


_NOTES = (str, tuple, list, dict)


@record
class CallGuard(Guard):
    """A function that keeps its results (``functools.lru_cache``), or only looks something up, gives this very object
    for these arguments."""

    stored_as = "call"

    fn: Any
    args: tuple[Any, ...]
    value: Any

    @property
    def subject(self) -> Hashable:
        return CallGuard, self.fn, tuple(map(Const, self.args))

    def _holds(self, owner: types.FunctionType, arguments: Arguments | None) -> bool:
        return self.fn(*self.args) is self.value

    def _conditions(self, owner: types.FunctionType, expressions: Expressions) -> list[str]:
        add = expressions.names.add
        return [f"{add(self.fn)}({', '.join(map(add, self.args))}) is {add(self.value)}"]

    def _dump(self) -> dict[str, Any]:
        args, mark = [*map(stored.store_object, self.args)], stored.store_object(self.value)
        return {"fn": stored.path_to(self.fn), "args": args, "mark": mark}

    @classmethod
    def load(cls, item: dict[str, Any], owner: types.FunctionType | None, function: types.FunctionType) -> Guard:
        fn, args = imported(item["fn"]), tuple(map(stored.load_object, item["args"]))
        found = fn(*args)
        _require(stored.store_object(found) == item["mark"], f"what {item['fn']} gives")
        return CallGuard(fn, args, found)


@record
class AliasGuard(Guard):
    """Two paths lead to one object, or to two: ``first`` and ``second`` are a root, a path and an owner."""

    stored_as = "alias"

    first: tuple[str, tuple[Any, ...], Any]
    second: tuple[str, tuple[Any, ...], Any]
    same: bool

    @property
    def subject(self) -> Hashable:
        return AliasGuard, self.first, self.second

    @property
    def asks_arguments(self) -> bool:
        return "argument" in (self.first[0], self.second[0])

    def _holds(self, owner: types.FunctionType, arguments: Arguments | None) -> bool:
        one, other = [resolve(who or owner, root, path, arguments) for root, path, who in (self.first, self.second)]
        return (one is other) is self.same

    def _conditions(self, owner: types.FunctionType, expressions: Expressions) -> list[str]:
        one, other = [expressions.path(root, path, who or owner) for root, path, who in (self.first, self.second)]
        return [f"{one} {'is' if self.same else 'is not'} {other}"]

    def _dump(self) -> dict[str, Any]:
        return {"sites": [_dump_site(*self.first), _dump_site(*self.second)], "same": self.same}

    @classmethod
    def load(cls, item: dict[str, Any], owner: types.FunctionType | None, function: types.FunctionType) -> Guard:
        first, second = [
            (
                site["root"], tuple(map(stored.load_step, site["path"])),
                None if site["owner"] is None else stored.load_owner(site["owner"]),
            )
            for site in item["sites"]
        ]
        guard = AliasGuard(first, second, item["same"])
        _require(guard.holds(function, None), f"which object {first[1]} and {second[1]} lead to")
        return guard
