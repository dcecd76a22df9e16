"""Values in, abstract values out; and back: the tests in Python that a value still has its
abstract value.

The kinds are those of ``core.values``. What decides speed is ``guard_source``: its conditions are
compiled into the dispatcher and run at every call.
"""

from __future__ import annotations

import collections
import enum
import functools
import sys
import types
from _thread import _local as ThreadLocal
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.core.array_classes import is_array_class, named
from s2s.core.const import Const
from s2s.core.inspection import (
    MISSING,
    cached_names,
    changeable_bases,
    class_attribute,
    has_own_operators,
    is_foreign,
    is_plain_name,
    is_sealed,
    is_written,
    look_up,
    module_of,
    mro_of,
    name_of,
    namespace,
    own_dict,
    own_value,
)
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    ArrayLike,
    DictOf,
    Dim,
    Example,
    Instance,
    IterableOf,
    Known,
    ListOf,
    Mapping,
    Object,
    Same,
    Scalar,
    Sequence,
    Unknown,
    is_record_class,
)
from s2s.versions.carriers import carries_arrays
from s2s.versions.fingerprints import Unstorable, fingerprint
from s2s.versions.like_items import FEW, KEY_TYPES, MANY, NUMBERS, Sizes, alike, test_of
from s2s.versions.paths import import_path

__all__ = [
    "Names",
    "array_places",
    "conditions_of_class",
    "describe",
    "guard_source",
    "has_float",
    "is_concrete",
    "is_of_library",
    "is_stream",
    "own_attributes",
    "key",
    "plain_name",
    "stable_key",
    "with_length",
    "with_sizes",
    "streams",
]

LARGEST = 1024
"""A container with more items than this that are not alike is UNKNOWN."""

COMPUTED = (np.ndarray, np.generic, float, int, complex, list, tuple)
_VALUE_TYPES = (bool, str, bytes, type(None), type(Ellipsis))
_CONCRETE = frozenset(np.dtype(character).type for character in "?bBhHiIlLqQefdgFDG")
_IDENTITY_TYPES = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    type,
    np.ufunc,
    np.dtype,
    type(np.sum),
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    enum.Enum,
)


# --- values -------------------------------------------------------------------------------------------------


def describe(
    value: Any, name: str, attributes: bool = False, lengths: Sizes | None = None
) -> AbstractValue:
    """The abstract value of an argument; its lengths are named after it: ``X.0``, ``params[0][1].0``, ``model.w.0``.
    With ``attributes`` objects are described with their attributes, as where these are differentiated. ``lengths`` says
    which lists are data; without it only those of MANY items are."""
    return _Describer(attributes, lengths).describe(value, name)


class _Describer:
    """One walk over an argument, counting what it has seen."""

    def __init__(self, attributes: bool = False, lengths: Sizes | None = None) -> None:
        self.attributes = attributes
        self.lengths = lengths
        self.count = 0
        self.open: set[int] = set()

    def is_data(self, value: list[Any], name: str) -> bool:
        if self.lengths is not None:
            return self.lengths.is_data(name, value)
        return len(value) > MANY and not any(type(item) in (tuple, list, dict, bool, str) for item in value)

    def describe(self, value: Any, name: str) -> AbstractValue:
        self.count += 1
        kind = type(value)
        if self.count > LARGEST or is_sealed(value):
            return UNKNOWN
        if kind in NUMBERS:
            return Scalar(kind)
        if is_array_class(kind):
            return _describe_array(value, name)
        if kind in _VALUE_TYPES:
            return Known(Const(value))
        if issubclass(kind, np.generic) and kind.__module__ == "numpy":
            return Scalar(kind) if value.dtype.kind in "biufc" else UNKNOWN
        if kind in (tuple, list, dict) or is_record_class(kind):
            return self.container(value, name)
        if issubclass(kind, COMPUTED) and has_own_operators(kind):
            return ArrayLike(kind)
        if self.attributes and carries_arrays(value):
            return ArrayLike(kind)
        if issubclass(kind, _IDENTITY_TYPES) or _is_decorated(value) or _is_choice(value):
            return Known(Const(value))
        if self.attributes and may_have_gradient(value):
            return self.instance(value, name)
        return Object(kind, Example(value)) if has_attributes(value) else UNKNOWN

    def instance(self, value: Any, name: str) -> AbstractValue:
        """An object with its attributes. One inside another that can hold no float is an Object, as is one of Python's
        own library."""
        if id(value) in self.open or len(self.open) > 16:
            return UNKNOWN
        kind = type(value)
        if is_of_library(kind):
            return Object(kind, Example(value))
        self.open.add(id(value))
        try:
            found = own_attributes(value)
            if not all(map(is_plain_name, found)):
                return Object(type(value), Example(value))
            items = [self.describe(item, f"{name}.{key}") for key, item in found.items()]
            for k, item in enumerate(found.values()):
                if isinstance(items[k], Unknown) and not isinstance(item, _MAY_HOLD_FLOATS):
                    items[k] = Object(type(item), Example(item))
            if len(self.open) > 1 and not any(isinstance(i, Unknown) or has_float(i) for i in items):
                return Object(kind, Example(value))
            return Instance(kind, tuple(found), tuple(items))
        finally:
            self.open.discard(id(value))

    def container(self, value: Any, name: str) -> AbstractValue:
        if id(value) in self.open or len(self.open) > 16:  # it contains itself, or nearly
            return UNKNOWN
        self.open.add(id(value))
        try:
            passive = None if self.attributes or self.lengths is None else self.passive(value, name)
            if passive is not None:
                return passive
            if type(value) is dict:
                return self.mapping(value, name)
            if type(value) is list and self.is_data(value, name):
                item = alike(value, f"{name}[0]", f"?{name}[]")
                if item is not None:
                    return ListOf(item)
            if len(value) > LARGEST:
                return UNKNOWN
            return Sequence(type(value), tuple(self.describe(v, f"{name}[{i}]") for i, v in enumerate(value)))
        finally:
            self.open.discard(id(value))

    def passive(self, value: Any, name: str) -> AbstractValue | None:
        """A dict or tuple of like items that is not differentiated, as data. One that holds arrays is none: whether
        they share memory with what the function changes is asked for each by its place."""
        assert self.lengths is not None
        is_dict = type(value) is dict and all(type(k) in KEY_TYPES for k in value)
        if not (is_dict or type(value) is tuple) or not self.lengths.is_data(name, value):
            return None
        item = alike([*value.values()] if is_dict else [*value], None, "?")
        key = alike([*value], None, "?") if is_dict else UNKNOWN
        if item is None or key is None or array_places(item, name):
            return None
        return DictOf(key, item) if is_dict else IterableOf(tuple, item)

    def mapping(self, value: dict[Any, Any], name: str) -> AbstractValue:
        if len(value) > LARGEST or not all(type(k) in KEY_TYPES for k in value):
            return UNKNOWN
        return Mapping(tuple(value), tuple(self.describe(v, f"{name}[{k!r}]") for k, v in value.items()))


_OPAQUE_MODULES = ("s2s", "numpy", "builtins", "functools", "weakref", "threading")
_OPAQUE = (
    type, types.ModuleType, np.ndarray, np.generic, tuple, list, dict, set, str, int, float, complex, BaseException,
)


def streams() -> tuple[type, ...]:
    """The classes of NumPy's streams of random numbers; none before NumPy has imported them, as it does on use."""
    found = sys.modules.get("numpy.random")
    return () if found is None else (found.Generator, found.RandomState)


def is_stream(kind: type) -> bool:
    """Whether a class is one of these; classes are not compared by their own code."""
    return any(kind is one for one in streams())


def has_attributes(value: Any) -> bool:
    """Whether it is an object of a class written in Python, whose attributes can be read one by one, or holds what
    belongs to a thread, or is a stream of random numbers, whose methods have models."""
    kind = type(value)
    return kind is ThreadLocal or is_stream(kind) or (
        is_written(kind)
        and not is_array_class(kind)
        and not is_sealed(value)
        and not issubclass(kind, _OPAQUE)
        and class_attribute(kind, "__getattribute__") is object.__dict__["__getattribute__"]
        and not _is_compiled_function(kind)
        and module_of(kind).split(".")[0] not in _OPAQUE_MODULES
        and class_attribute(kind, "__s2s_primal__") is MISSING
        and class_attribute(kind, "_member_map_") is MISSING  # the members of an enumeration are constants
    )


_LIBRARY = sys.stdlib_module_names - {"__main__"}


def is_of_library(kind: type) -> bool:
    """Whether a class is one of Python's own library, of which no attribute is differentiated; SimpleNamespace is."""
    return module_of(kind).split(".")[0] in _LIBRARY and kind is not types.SimpleNamespace


_MAY_HOLD_FLOATS = (list, tuple, dict, np.ndarray, np.generic, collections.deque)


def may_have_gradient(value: Any) -> bool:
    """Whether a gradient can be given as an object of the same class: its objects are made as ``object`` makes them, or
    it is a SimpleNamespace."""
    kind = type(value)
    if kind is types.SimpleNamespace:
        return True
    return has_attributes(value) and all(base is object or is_written(base) for base in mro_of(kind))


def own_attributes(value: Any) -> dict[str, Any]:
    """The attributes that an object itself has, those in slots among them, as reading them gives; not what it remembers
    of them."""
    found = {}
    kind = type(value)
    for name in [*own_dict(value), *slots_of(kind)]:
        descriptor = class_attribute(kind, name, None)
        if issubclass(type(descriptor), functools.cached_property):
            continue
        is_slot = type(descriptor) is types.MemberDescriptorType
        if is_slot or class_attribute(type(descriptor), "__set__") is MISSING:
            own = own_value(value, name)
            if own is not MISSING:
                found[name] = own
    return found


def slots_of(kind: type) -> list[str]:
    """The names of the slots of a class and its bases, as objects have them."""
    return [
        name for base in mro_of(kind) for name, found in namespace(base).items()
        if isinstance(found, types.MemberDescriptorType) and not name.startswith("__")
    ]


def _is_compiled_function(kind: type) -> bool:
    """Whether what it makes is called by compiled code."""
    return any(type(namespace(base).get("__call__")) is types.WrapperDescriptorType for base in mro_of(kind))


def _is_decorated(value: Any) -> bool:
    """Whether it is a function decorated with ``s2s.differentiable``, which is as good as the function."""
    return issubclass(type(value), functools.partial) and type(
        look_up(value, "__wrapped__", None)) is types.FunctionType


def _is_choice(value: Any) -> bool:
    """Whether it is a choice about derivatives: a block, or a function with another derivative."""
    choices = sys.modules.get("s2s.directives.policies")
    return choices is not None and issubclass(type(value), (*choices.BLOCKS, choices.Chosen))


def _describe_array(value: np.ndarray[Any, Any], name: str) -> AbstractValue:
    if value.dtype.kind not in "biufc":
        return UNKNOWN
    shape = tuple(Dim("", 1) if size == 1 else Dim(f"{name}.{axis}") for axis, size in enumerate(value.shape))
    return Array(value.dtype, shape, type(value))


def with_length(aval: AbstractValue, symbol: str, length: int) -> AbstractValue:
    """The abstract value with a length known that was a symbol."""
    match aval:
        case Array(dtype, tuple() as shape, kind):
            return Array(dtype, tuple(Dim("", length) if d == Dim(symbol) else d for d in shape), kind)
        case Sequence(kind, items):
            return Sequence(kind, tuple(with_length(item, symbol, length) for item in items))
        case Mapping(keys, items):
            return Mapping(keys, tuple(with_length(item, symbol, length) for item in items))
        case Instance(kind, keys, items):
            return Instance(kind, keys, tuple(with_length(item, symbol, length) for item in items))
        case ListOf(item):
            return ListOf(with_length(item, symbol, length))
        case _:
            return aval


def has_float(aval: AbstractValue) -> bool:
    """Whether there is, or may be, a float or complex number in it: something to differentiate."""
    match aval:
        case Scalar(kind):
            return issubclass(kind, (float, complex, np.inexact))
        case Array(dtype):
            return dtype.kind in "fc"
        case Sequence(_, items) | Mapping(_, items):
            return any(map(has_float, items))
        case Instance(_, _, items):
            return any(has_float(item) for item in items if not isinstance(item, Unknown))
        case ListOf(item) | DictOf(_, item) | IterableOf(_, item):
            return has_float(item)
        case Known() | Object():
            return False
        case _:
            return True


def array_places(aval: AbstractValue, place: str) -> list[str]:
    """Expressions for the arrays in an argument, ``params[0]``, where ``place`` is one for the argument; ``params[:]``
    for those in a list of any length."""
    match aval:
        case Array():
            return [place]
        case ListOf(item):
            return [f"{place}[:]"] if array_places(item, place) else []
        case Sequence(_, items):
            return [p for k, item in enumerate(items) for p in array_places(item, f"{place}[{k}]")]
        case Mapping(keys, items):
            pairs = zip(keys, items, strict=True)
            return [p for k, item in pairs for p in array_places(item, f"{place}[{k!r}]")]
        case Instance(_, keys, items):
            return [p for k, i in zip(keys, items, strict=True) for p in array_places(i, f"{place}.{k}")]
        case _:
            return []


def with_sizes(value: AbstractValue, found: Any) -> AbstractValue:
    """What is known of a variable of a module or closure: arrays with their lengths, which a guard tests."""
    match value:
        case Array(dtype, _, kind):
            return Array(dtype, tuple(Dim("", n) for n in found.shape), kind)
        case Sequence(kind, items):
            return Sequence(kind, tuple(with_sizes(v, f) for v, f in zip(items, found, strict=True)))
        case Mapping(keys, items):
            return Mapping(keys, tuple(with_sizes(v, found[k]) for k, v in zip(keys, items, strict=True)))
        case ListOf():
            return UNKNOWN
        case _:
            return value


def is_concrete(scalar: type) -> bool:
    """Whether a NumPy scalar type is the type of some dtype (``np.floating`` is not)."""
    return scalar in _CONCRETE


# --- keys ---------------------------------------------------------------------------------------------------


def key(aval: AbstractValue) -> str:
    """A short text for people: ``float``, ``f8[:,1]``, ``(f8[:], int)``, ``mode='same'`` as ``'same'``."""
    return _key(aval, plain_name)


def stable_key(aval: AbstractValue) -> str:
    """A text that two processes have in common exactly where the abstract values are the same.

    Raises Unstorable where it holds an object without an import path.
    """
    return _key(aval, _stable_object)


def _key(aval: AbstractValue, show: Callable[[Any], str]) -> str:
    match aval:
        case Known(const):
            return repr(const.value) if type(const.value) in _VALUE_TYPES else show(const.value)
        case Scalar(kind):
            return kind.__name__
        case Array(dtype, shape, kind) if kind is not np.ndarray:
            return f"{named(kind)} {_key(Array(dtype, shape), show)}"
        case Array(dtype, None):
            return f"{_dtype_name(dtype)}[...]"
        case Array(dtype, shape):
            lengths = ",".join(
                str(d.offset) if d.is_constant else "?" if d.symbol.startswith("?") else ":" for d in shape or ())
            return f"{_dtype_name(dtype)}[{lengths}]"
        case Sequence(kind, items):
            left, right = ("[", "]") if kind is list else ("(" if kind is tuple else f"{show(kind)}(", ")")
            return f"{left}{', '.join(_key(i, show) for i in items)}{',' if len(items) == 1 else ''}{right}"
        case Mapping(keys, items):
            pairs = zip(keys, items, strict=True)
            return "{" + ", ".join(f"{k!r}: {_key(i, show)}" for k, i in pairs) + "}"
        case ListOf(item):
            return f"[{_key(item, show)}, ...]"
        case DictOf(known, item):
            return f"{{{_key(known, show)}: {_key(item, show)}, ...}}"
        case IterableOf(kind, item):
            return f"{'' if kind is tuple else kind and kind.__name__}({_key(item, show)}, ...)"
        case Object(kind):
            return show(kind)
        case Instance(kind, keys, items):
            pairs = zip(keys, items, strict=True)
            return f"{show(kind)}({', '.join(f'{k}={_key(i, show)}' for k, i in pairs)})"
        case ArrayLike(kind):
            return show(kind)
        case Unknown():
            return "?"
        case Same(name):
            return f"is {name}"
        case _:
            return show(aval)


def plain_name(value: Any) -> str:
    """A name for an object, for people."""
    return name_of(value)


def _stable_object(value: Any) -> str:
    path = import_path(value)
    if path is None and not isinstance(value, np.dtype):
        raise Unstorable(plain_name(value))
    return (
        f"{path}#{fingerprint(value)[:16]}"
        if path and not isinstance(value, types.ModuleType)
        else path or repr(value)
    )


def _dtype_name(dtype: np.dtype[Any]) -> str:
    return dtype.str[1:] if dtype.isnative else dtype.str


# --- guards -------------------------------------------------------------------------------------------------


class Names:
    """Objects that guard conditions refer to, by the names that stand for them in the text."""

    def __init__(self, prefix: str = "_s2s_") -> None:
        self.prefix = prefix
        self.objects: dict[str, Any] = {}
        self._known: dict[int, str] = {}
        self._bound = 0

    def variable(self) -> str:
        """A name for what is read once and asked for several things."""
        self._bound += 1
        return f"{self.prefix}v{self._bound}"

    def add(self, value: Any, hint: str = "o") -> str:
        """A name for an object, the same one for the same object."""
        if id(value) not in self._known:
            name = f"{self.prefix}{hint}{len(self.objects)}"
            self.objects[name] = value
            self._known[id(value)] = name
        return self._known[id(value)]


def guard_source(expr: str, aval: AbstractValue, names: Names, value: Any = None) -> list[str]:
    """Conditions, in Python, that hold exactly while the value of ``expr`` has this abstract value,
    cheapest first.

    For UNKNOWN they test the type of the example ``value``.
    """
    if expr.isidentifier() or not isinstance(aval, (Array, Sequence, Mapping, Instance)):
        return _guard(expr, aval, names, value)
    held = names.variable()
    first, *others = _guard(held, aval, names, value)
    return [first.replace(held, f"({held} := {expr})", 1), *others]


def _guard(expr: str, aval: AbstractValue, names: Names, value: Any) -> list[str]:
    """The conditions of ``guard_source`` for a value that is asked for several things."""
    match aval:
        case Known(const):
            return _guard_known(expr, const.value, names)
        case Scalar(kind):
            return [f"{expr}.__class__ is {names.add(kind, 't')}"]
        case Array():
            return _guard_array(expr, aval, names)
        case Sequence(kind, items):
            tests = [
                f"{expr}.__class__ is {names.add(kind, 't')}",
                f"{names.add(len)}({expr}) == {len(items)}",
            ]
            for i, item in enumerate(items):
                tests += guard_source(f"{expr}[{i}]", item, names, _item(value, i))
            return tests
        case Mapping(keys, items):
            tests = [
                f"{expr}.__class__ is {names.add(dict, 't')}",
                f"[*{expr}] == {[*keys]!r}",
                f"[*{names.add(map)}({names.add(type)}, {expr})] == {names.add([*map(type, keys)], 'k')}",
            ]
            for k, item in zip(keys, items, strict=True):
                tests += guard_source(f"{expr}[{k!r}]", item, names, _item(value, k))
            return tests
        case ListOf(item):
            return _guard_items(expr, expr, list, item, names)
        case IterableOf(kind, item) if kind is not None:
            return _guard_items(expr, expr, kind, item, names)
        case DictOf(known, item):
            values = _guard_items(expr, f"{expr}.values()", dict, item, names)
            return [*values, _guard_items(expr, expr, dict, known, names)[-1]]
        case Object(kind) | ArrayLike(kind):
            return [f"{expr}.__class__ is {names.add(kind, 't')}"]
        case Instance(kind, keys, items):
            tests = [f"{expr}.__class__ is {names.add(kind, 't')}"]
            slots = [k for k in slots_of(kind) if k in keys]
            if len(slots) < len(keys) or kind.__dictoffset__:
                own = frozenset(k for k in keys if k not in slots)
                remembered = cached_names(kind)
                less = f" - {names.add(remembered, 'k')}" if remembered else ""
                tests.append(f"{expr}.__dict__.keys(){less} == {names.add(own, 'k')}")
            tests += [f"{names.add(hasattr)}({expr}, {k!r})" for k in slots]
            for k, item in zip(keys, items, strict=True):
                tests += guard_source(f"{expr}.{k}", item, names, getattr(value, k, None))
            return tests
        case _:
            return _guard_unknown(expr, value, names)


def _item(container: Any, index: Any) -> Any:
    return None if container is None else container[index]


def _guard_known(expr: str, value: Any, names: Names) -> list[str]:
    if type(value) in (bool, type(None), type(Ellipsis)):
        return [f"{expr} is {'...' if value is Ellipsis else repr(value)}"]
    if type(value) in (str, bytes, int):
        return [f"{expr}.__class__ is {names.add(type(value), 't')}", f"{expr} == {value!r}"]
    return [f"{expr} is {names.add(value)}"]


def _guard_array(expr: str, array: Array, names: Names) -> list[str]:
    dtype, shape = array.dtype, array.shape
    # An unpickled array may have a dtype that is equal, not identical: == is only reached on a mismatch.
    known = names.add(dtype, "d")
    tests = [
        f"{expr}.__class__ is {names.add(array.kind, 't')}",
        f"({expr}.dtype is {known} or {expr}.dtype == {known})",
    ]
    if shape is None:
        return tests
    tests.append(f"{expr}.ndim == {len(shape)}")
    fixed = [axis for axis, dim in enumerate(shape) if dim.is_constant]
    other = [axis for axis, dim in enumerate(shape) if not dim.is_constant and not dim.symbol.startswith("?")]
    if shape and len(other) == len(shape):
        return [*tests, f"{expr}.size != 1" if len(shape) == 1 else f"1 not in {expr}.shape"]
    tests += [f"{expr}.shape[{axis}] == {shape[axis].offset}" for axis in fixed]
    return [*tests, *(f"{expr}.shape[{axis}] != 1" for axis in other)]


def _guard_items(expr: str, items: str, kind: type, item: AbstractValue, names: Names) -> list[str]:
    """The conditions that ``expr`` is a container of this type, and each of its ``items`` is like one."""
    tests = [f"{expr}.__class__ is {names.add(kind, 't')}", f"{names.add(len)}({expr}) > {FEW}"]
    if isinstance(item, Scalar):
        return [*tests, f"{{*{names.add(map)}({names.add(type)}, {items})}} == {names.add({item.type}, 'k')}"]
    return [*tests, f"{names.add(test_of(item), 'f')}({items})"]


def conditions_of_class(cls: type, names: Names) -> list[str]:
    """Conditions that a class has the bases that it has, and none has gained or lost a name."""
    tests = [f"{names.add(cls, 't')}.__mro__ is {names.add(cls.__mro__)}"]
    count = names.add(len)
    return tests + [f"{count}({names.add(c, 't')}.__dict__) == {len(namespace(c))}" for c in changeable_bases(cls)]


def _guard_unknown(expr: str, value: Any, names: Names) -> list[str]:
    tests = [f"{expr}.__class__ is {names.add(type(value), 't')}"]
    if issubclass(type(value), COMPUTED) and is_foreign(type(value)):  # it may gain operators
        tests += conditions_of_class(type(value), names)
    if type(value) is np.ndarray:
        tests.append(f"{expr}.dtype == {names.add(value.dtype, 'd')}")
    return tests
