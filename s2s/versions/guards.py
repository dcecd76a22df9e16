"""What the front end asks of the compiler (``Request``) and what it gets back (``Compiled``): plain data,
light imports.

A *version* of a function is its code for one request and one abstract value per argument. It is valid while
its guards hold; a version on disk is as good as new while its dependencies have the same fingerprints.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import importlib
import sys
import types
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from s2s.core.inspection import class_attribute, class_name, is_sealed, look_up, own_dict
from s2s.core.record import record
from s2s.core.values import AbstractValue, Dim

try:
    from _blake2 import blake2b as new_hash  # hashlib also loads OpenSSL, which takes a millisecond
except ImportError:
    from hashlib import blake2b as new_hash

__all__ = [
    "AliasGuard",
    "AttributeGuard",
    "CallGuard",
    "ClassGuard",
    "Compiled",
    "Dependency",
    "EqualGuard",
    "Guard",
    "KindGuard",
    "NamesGuard",
    "ObjectGuard",
    "Path",
    "Request",
    "SeparateGuard",
    "ShadowGuard",
    "SizeGuard",
    "Unstorable",
    "Variables",
    "fingerprint",
    "is_among",
    "builtins_of",
    "import_path",
    "imported",
    "loaded",
    "new_hash",
    "own_names_of",
    "package_version",
    "resolve",
    "stable_mark",
]

Path: TypeAlias = tuple[Any, ...]
"""Where a differentiated value is: a parameter's name, then indices or keys: ``("W",)``, ``("args", 1)``."""


@record
class Request:
    """What is asked for: ``mode`` is grad, value_and_grad, vjp or primal.

    ``single`` asks for a bare gradient instead of a tuple; ``options`` are the policies, sorted by name. In
    mode vjp the compiled entry returns ``(out, pullback)``, ``(out, pullback, aux)`` with ``has_aux``, and
    ``pullback(out_bar)`` returns a tuple with one cotangent for each path of ``wrt``.
    """

    mode: str
    wrt: tuple[Path, ...]
    single: bool = False
    has_aux: bool = False
    options: tuple[tuple[str, Any], ...] = ()


@record
class ObjectGuard:
    """The path gives this very object. ``root`` is ``global`` (module globals, then builtins) or ``free``
    (a closure cell) of ``owner``, which is ``None`` for the function compiled, ``module`` (the path begins with its
    name) or ``argument``. The path goes on with attributes, and with tuples of one index or key. The root ``value`` has
    the object itself there, as a ``Const``; ``found`` is then the root, path and owner by which another process finds
    it, None where there is none.

    A ``late`` guard is about what nobody replaces in a program, only in a test: it is asked where a version is looked
    for, in memory and on disk, and not at each call.
    """

    root: str
    path: tuple[Any, ...]
    value: Any
    owner: Any = None
    late: bool = False
    found: tuple[str, tuple[Any, ...], Any] | None = None


@record
class AttributeGuard:
    """The object at a path has an attribute ``name``, or has none. The other fields are those of an ``ObjectGuard``."""

    root: str
    path: tuple[Any, ...]
    name: str
    is_there: bool
    owner: Any = None
    late: bool = False
    found: tuple[str, tuple[Any, ...], Any] | None = None


@record
class ShadowGuard:
    """The object at a path has no attribute ``name`` of its own, which would hide the one of its class."""

    root: str
    path: tuple[Any, ...]
    name: str
    owner: Any = None
    found: tuple[str, tuple[Any, ...], Any] | None = None


@record
class NamesGuard:
    """The dict at a path, ``__dict__`` of an object or ``keywords`` of a partial, has these keys in this order."""

    root: str
    path: tuple[Any, ...]
    names: tuple[str, ...]
    owner: Any = None
    found: tuple[str, tuple[Any, ...], Any] | None = None


@record
class ClassGuard:
    """A class or its bases have something under a name, or nothing. It is asked as late guards are."""

    cls: type
    name: str
    is_there: bool
    owner: Any = None
    root: str = "value"
    late: bool = True


@record
class KindGuard:
    """A number, array or container that is read live still has this abstract value. ``rest`` leads from the variable
    to it, as in the path of an ``ObjectGuard``, which ``found`` is from as well."""

    root: str
    name: Any
    aval: AbstractValue
    owner: Any = None
    rest: tuple[Any, ...] = ()
    found: tuple[str, tuple[Any, ...], Any] | None = None


@record
class AliasGuard:
    """Two paths lead to one object, or to two: ``first`` and ``second`` are a root, a path and an owner."""

    first: tuple[str, tuple[Any, ...], Any]
    second: tuple[str, tuple[Any, ...], Any]
    same: bool
    owner: Any = None
    root: str = ""


@record
class CallGuard:
    """A function that keeps its results (``functools.lru_cache``), or only looks something up, gives this very object
    for these arguments."""

    fn: Any
    args: tuple[Any, ...]
    value: Any
    owner: Any = None
    root: str = ""


@record
class SizeGuard:
    """The length that a symbol of an argument stands for (``X.0``, ``params[0][1].0``) is not ``value``.

    ``root`` is ``argument``, or ``global`` or ``free`` where the symbol belongs to a variable of a KindGuard.
    """

    symbol: str
    value: int
    root: str = "argument"
    owner: Any = None


@record
class EqualGuard:
    """Two lengths of arguments are equal: ``X.1`` and ``w.0``, ``x.0 - 1`` and ``y.0``; one may be constant.

    The compiler relies on it where it left out the operation that would raise NumPy's own error. Where it
    does not hold, a version with these lengths as constants is compiled, which has the operation.
    """

    first: Dim
    second: Dim
    owner: Any = None


@record
class SeparateGuard:
    """Two arrays of arguments share no memory: ``u`` and ``params[0]``. The function changes the first in place."""

    first: str
    second: str
    owner: Any = None


Guard: TypeAlias = (
    ObjectGuard | AttributeGuard | ShadowGuard | NamesGuard | ClassGuard | KindGuard | AliasGuard | CallGuard
    | SizeGuard | EqualGuard | SeparateGuard
)


@record
class Dependency:
    """Something folded into the code, and what it looked like then.

    ``root`` is ``global`` or ``free`` of the function compiled, ``argument`` (a function given as an
    argument: the path begins with the parameter), or ``import`` (the path is a module's name, then
    attributes). ``of`` makes one.
    """

    root: str
    path: tuple[str, ...]
    fingerprint: str

    @classmethod
    def of(cls, root: str, path: tuple[str, ...], value: Any) -> Dependency:
        """The dependency on ``value`` found at ``path``; one that never holds again where ``value`` has no
        fingerprint."""
        try:
            return cls(root, path, fingerprint(value))
        except Unstorable:
            return cls(root, path, "")


@record
class Compiled:
    """One version as text, with what the text needs to run.

    ``entry`` is the def to call: its parameters are the function's, in order, all passed by position
    (``*args`` as a tuple, ``**kwargs`` as a dict). ``imports`` maps a local name to ``module`` or
    ``module:attribute``; ``objects`` to an object that has no import path; ``globals`` and ``free`` are
    read live. ``result`` says what NumPy types the result has: ``float32`` for a NumPy scalar, ``array float32`` for an
    array, a tuple of these for a container, None for what is not known or of another kind. ``met`` are the functions,
    as text, for which a choice has another rule and that the code has met; ``made`` maps a local name to the expression
    that makes it.
    """

    text: str
    entry: str
    imports: dict[str, str]
    objects: dict[str, Any]
    globals: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    guards: tuple[Guard, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    result: Any = None
    met: tuple[str, ...] = ()
    made: Mapping[str, str] = MappingProxyType({})


# --- finding objects ----------------------------------------------------------------------------------------


_MISSING = object()


class Variables:
    """The variables of a function's module, or of its closure, as attributes: what an empty path leads to."""

    def __init__(self, function: types.FunctionType, root: str) -> None:
        self.__function, self.__root = function, root  # no names that a program has

    def __getattr__(self, name: str) -> Any:
        try:
            return resolve(self.__function, self.__root, (name,))
        except LookupError:
            raise AttributeError(name) from None


def resolve(
    function: types.FunctionType, root: str, path: tuple[Any, ...], arguments: dict[str, Any] | None = None
) -> Any:
    """The object at a path from a function's globals (then builtins), its closure, an import, or the arguments of a
    call.

    Raises LookupError where there is none.
    """
    if not path:
        return Variables(function, root)
    first, *rest = path
    if root in ("import", "module"):
        module = sys.modules.get(first)
        value: Any = importlib.import_module(first) if module is None else module
    elif root == "free":
        value = _cell(function, first)
    elif root == "argument":
        value = (arguments or {})[first]
    elif root == "value":
        value = first.value
    else:
        value = function.__globals__.get(first, _MISSING)
        if value is _MISSING:
            value = builtins_of(function).get(first, _MISSING)
        if value is _MISSING:
            raise LookupError(first)
    for attribute in rest:
        if type(attribute) is tuple:
            try:
                value = value[attribute[0]]
            except (TypeError, LookupError):
                raise LookupError(str(path)) from None
            continue
        value = getattr(value, attribute, _MISSING)
        if value is _MISSING:
            raise LookupError(str(path))
    return value


def builtins_of(function: types.FunctionType) -> dict[str, Any]:
    """The builtins that a function reads names from after its globals."""
    builtins: dict[str, Any] = getattr(function, "__builtins__")  # noqa: B009 (unknown to the stubs)
    return builtins


def _cell(function: types.FunctionType, name: str) -> Any:
    names = function.__code__.co_freevars
    if name not in names:
        raise LookupError(name)
    try:
        return (function.__closure__ or ())[names.index(name)].cell_contents
    except ValueError:
        raise LookupError(name) from None


def own_names_of(value: Any) -> list[str]:
    """The names in the dict of an object, without reading through its class."""
    return [*own_dict(value)]


def package_version(name: str) -> str:
    """What a package says its version is; empty where it says nothing. Raises ImportError. A ``__getattr__`` of the
    module is not run: what was installed says it then."""
    held = vars(importlib.import_module(name))
    if "__version__" not in held and "__getattr__" in held:
        from importlib import metadata

        with contextlib.suppress(metadata.PackageNotFoundError):
            return metadata.version(name)
    version = held.get("__version__", "")
    return version if isinstance(version, str) else ""


def imported(path: str) -> Any:
    """The object at ``module`` or ``module:attribute.attribute``. Raises ImportError, AttributeError."""
    module, _, attributes = path.partition(":")
    value: Any = importlib.import_module(module)
    for attribute in filter(None, attributes.split(".")):
        value = getattr(value, attribute)
    return value


def loaded(name: str) -> types.ModuleType | None:
    """The module that has been imported under a name; None where none has."""
    return sys.modules.get(name)


def is_among(item: Any, module: str, name: str) -> bool:
    """Whether a container of a module has an item."""
    return item in getattr(sys.modules[module], name)


def import_path(value: Any) -> str | None:
    """``module`` or ``module:qualified.name`` under which an import finds this very object, else None."""
    if isinstance(value, types.ModuleType):
        return value.__name__ if sys.modules.get(value.__name__) is value else None
    name = look_up(value, "__qualname__", None) or look_up(value, "__name__", None)
    if issubclass(type(value), enum.Enum):
        name = f"{type(value).__qualname__}.{value.name}"
    if not isinstance(name, str):
        return None
    candidates = [look_up(value, "__module__", None), "builtins", "numpy"]
    for module_name in candidates:
        found: Any = sys.modules.get(module_name) if isinstance(module_name, str) else None
        for part in name.split("."):
            is_old = isinstance(found, types.ModuleType) and part not in vars(found)  # np.object warns
            found = _MISSING if is_old else look_up(found, part, _MISSING)
        if found is value:
            return f"{module_name}:{name}"
    return None


# --- fingerprints -------------------------------------------------------------------------------------------


def stable_mark(value: Any) -> str:
    """What tells an object of a library of known version from what may stand in its place."""
    return repr(value) if type(value) in _LITERALS else import_path(value) or f"a {type(value).__name__}"


class Unstorable(Exception):
    """A value has no fingerprint that another process could compare."""


def fingerprint(value: Any) -> str:
    """A hash of what a value is, the same in every process: of a function its code, line numbers and
    defaults, of a class its functions, of an array its content, of a literal its repr, of other objects
    their import path.

    Raises Unstorable for anything else.
    """
    digest = new_hash()
    for part in _parts(value, 0):
        digest.update(part)
        digest.update(b"\0")
    return digest.hexdigest()[:32]


_LITERALS = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis))


def _parts(value: Any, depth: int) -> list[bytes]:
    if depth > 8:
        raise Unstorable("nested too deep")
    kind = type(value)
    if is_sealed(value):
        raise Unstorable(f"{class_name(kind)} object")
    if kind in _LITERALS or isinstance(value, (np.generic, np.dtype)):
        return [kind.__name__.encode(), repr(value).encode()]
    if kind in (tuple, list):
        return [
            kind.__name__.encode(),
            *(p for item in value for p in (b"(", *_parts(item, depth + 1), b")")),
        ]
    if kind is frozenset or kind is set:
        return [kind.__name__.encode(), *sorted(b"\1".join(_parts(item, depth + 1)) for item in value)]
    if kind is dict:
        return [b"dict", *(p for pair in value.items() for p in _parts(pair, depth + 1))]
    if kind is slice:
        return [b"slice", *_parts((value.start, value.stop, value.step), depth + 1)]
    if kind is np.ndarray and not value.dtype.hasobject:
        return [
            b"array",
            repr((value.dtype.str, value.shape)).encode(),
            new_hash(value.tobytes()).digest(),
        ]
    if isinstance(value, types.CodeType):
        return _code_parts(value, depth)
    rule = _rule_of(value)
    return _parts_of_object(value, depth) + ([] if rule is None else [b"rule", *_parts(rule, depth + 1)])


def _rule_of(value: Any) -> tuple[Any, ...] | None:
    """What makes up the derivative rule that a user has given to a callable; None where there is none."""
    table = sys.modules.get("s2s.rules.table")
    rule = None if table is None or not callable(value) else table.rule_of_user(value)
    return None if rule is None else (rule.kind, rule.pullback, rule.pushforward, rule.partials, rule.given)


def _parts_of_object(value: Any, depth: int) -> list[bytes]:
    kind = type(value)
    if isinstance(value, types.FunctionType):
        return [
            b"def",
            *_code_parts(value.__code__, depth),
            *_parts(value.__defaults__, depth + 1),
            *_parts(value.__kwdefaults__, depth + 1),
        ]
    if isinstance(look_up(value, "made_from", None), tuple):  # a derivative
        return [b"derivative", *_parts(value.made_from, depth + 1)]
    parts_of = class_attribute(kind, "__s2s_parts__", None)
    if parts_of is not None:
        return [b"made", *_parts(parts_of(value), depth + 1)]
    if isinstance(value, functools.partial):
        arguments = _parts((value.args, value.keywords), depth + 1) if value.args or value.keywords else []
        return [*arguments, *_parts(value.func, depth + 1)]
    if kind is property:
        return [b"property", *_parts((value.fget, value.fset, value.fdel), depth + 1)]
    if kind is functools.cached_property:
        return [b"cached_property", *_parts(value.func, depth + 1)]
    is_cached = isinstance(value, functools._lru_cache_wrapper)
    if is_cached or isinstance(look_up(value, "__wrapped__", None), types.FunctionType):
        return [b"wrapped", *_parts(value.__wrapped__, depth + 1)]
    return _path_parts(value, depth)


def _code_parts(code: types.CodeType, depth: int) -> list[bytes]:
    shape = (
        code.co_name,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags,
        code.co_firstlineno,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
    )
    constants = [p for c in code.co_consts for p in (b",", *_parts(c, depth + 1))]
    return [repr(shape).encode(), code.co_code, code.co_linetable, code.co_exceptiontable, *constants]


def _path_parts(value: Any, depth: int) -> list[bytes]:
    path = import_path(value)
    if path is None:
        raise Unstorable(f"{type(value).__name__} object")
    parts = [b"import", path.encode()]
    if isinstance(value, enum.Enum):
        own = {k: v for k, v in vars(value).items() if not k.startswith("__")}
        return [*parts, *_parts_if_any(own, depth + 1)]
    if isinstance(value, type) and value.__flags__ & (1 << 9):  # made by a class statement
        parts += [b"bases", *(f"{base.__module__}:{base.__qualname__}".encode() for base in value.__mro__[1:])]
        for name, member in sorted(vars(value).items()):
            member = look_up(member, "fget", None) or look_up(member, "__func__", None) or member
            if isinstance(member, types.FunctionType):
                parts += [name.encode(), *_parts(member, depth + 1)]
            elif not name.startswith(("__", "_abc_")):
                parts.append(name.encode())
    return parts


def _parts_if_any(held: dict[str, Any], depth: int) -> list[bytes]:
    """The parts of those attributes that have a fingerprint; what is used of the others has guards of its own."""
    parts = []
    for name, item in sorted(held.items()):
        parts.append(name.encode())
        try:
            parts += _parts(item, depth)
        except Unstorable:
            continue
    return parts
