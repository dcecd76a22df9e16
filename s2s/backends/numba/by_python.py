"""Calls of functions that Numba lacks, or has for other arguments: compiled code makes them in Python.

What it costs is the call and handing over a few arrays, where the whole function would run in Python otherwise. Numba
asks for the type of the result before anything runs. It is found by calling the function, which is one of NumPy, SciPy
or the runtime and has no effect but its result, with small examples of the types of its arguments.

    t = np.einsum("ij,j->i", a, v)      by a helper of ``a`` and ``v``; the constants are part of it
"""

from __future__ import annotations

import functools
import inspect
import itertools
import types as python_types
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.registry import cpu_target
from numba.extending import overload
from numba.np.numpy_support import as_dtype, from_dtype

from s2s.analysis import functions
from s2s.backends.numba.grids import grid_points
from s2s.backends.numba.handed import UNKNOWN, constant_of, through_python
from s2s.backends.numba.paths import DYNAMIC, is_of_rules
from s2s.core.annotated import signature_of
from s2s.core.functions import Result
from s2s.core.inspection import public_module

__all__ = [
    "by_python", "by_python_for", "chosen_by_types", "converter", "is_foreign", "lacks", "lacks_method", "type_of",
]

_PACKAGES = ("numpy", "scipy", "math")
_NOT = ("call", "pulled", "apply", "again", "recorded")
_SIZES = (2, 3, 1)
_ALSO = (0, -1)
"""Numbers that an integer among the arguments may have besides lengths: as an axis it is less than the rank."""
_MOST_TRIED = 240
_MOST_ELEMENTS = 4096


def is_foreign(value: Any) -> bool:
    """Whether a function may be called by Python: it depends on its arguments only, and does nothing else."""
    module = public_module(value) or ""
    if isinstance(value, python_types.MethodDescriptorType) and value.__objclass__ is np.ndarray:
        value, module = getattr(np, value.__name__, None), "numpy"
    if isinstance(value, python_types.FunctionType) and is_of_rules(value):
        return not value.__name__.startswith(("check", *_NOT))
    if value is grid_points:
        return True
    if isinstance(getattr(value, "__self__", None), np.ufunc):
        return value.__name__ in ("reduce", "accumulate", "outer")
    if isinstance(value, np.ufunc) and not module:
        module = "scipy.special"
    if not isinstance(module, str) or module.partition(".")[0] not in _PACKAGES or "random" in module:
        return False
    if isinstance(value, type):
        return False
    known = functions.facts(value)
    return not known.acts and not known.changes  # a function among its arguments has no type that is handed over


@functools.cache
def _typing() -> Any:
    cpu_target.target_context.refresh()
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context


def lacks(value: Any, count: int, keywords: Sequence[str]) -> bool:
    """Whether Numba has no such function, or none with so many arguments by position and these by name."""
    if value is np.average and len(keywords) + count > 1:  # Numba gives None for an axis
        return True
    if isinstance(value, (np.ufunc, type)) and public_module(value).startswith("numpy"):
        return False
    known = _typing()._lookup_global(value)
    if known is None:
        return True
    signatures = []
    for template in known.templates:
        own = getattr(template, "_overload_func", None)
        if own is None:
            return False
        signatures.append(signature_of(own))
    given = dict.fromkeys(keywords)
    return not any(_binds(signature, [None] * count, given) for signature in signatures)


@functools.cache
def lacks_method(name: str) -> bool:
    """Whether arrays have a method that those of Numba do not have."""
    known = getattr(np.ndarray, name, None)
    return callable(known) and _typing().resolve_getattr(types.Array(types.float64, 2, "C"), name) is None


def _binds(signature: inspect.Signature, args: list[Any], keywords: dict[str, Any]) -> bool:
    try:
        signature.bind(*args, **keywords)
    except TypeError:
        return False
    return True


def by_python(function: Any, args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """What compiled code calls instead of ``function(*args, **keywords)``, with those arguments that are DYNAMIC."""
    key = function, _text_of(args), _text_of(keywords.items())
    found = _helpers.get(key)
    if found is None:
        found = _helpers[key] = _helper(function, tuple(args), dict(keywords))
    return found


_helpers: dict[tuple[Any, ...], Any] = {}


def _text_of(parts: Any) -> str:
    return repr(tuple(parts))


def _helper(function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    names = [f"a{k}" for k in range(sum(part is DYNAMIC for part in (*args, *keywords.values())))]

    def choose(kinds: tuple[Any, ...]) -> Any:
        return by_python_for(function, args, keywords, dict(zip(names, kinds, strict=True)))

    return chosen_by_types(function, names, choose)


def chosen_by_types(function: Any, names: list[str], choose: Any, **options: Any) -> Any:
    """What compiled code calls as a function with these parameters: ``choose`` gives the function for the types of the
    arguments."""

    def helper(*given: Any) -> Any:
        raise NotImplementedError

    scope: dict[str, Any] = {"choose": choose}
    exec(f"def chosen({', '.join(names)}):\n    return choose(({''.join(f'{n}, ' for n in names)}))", scope)
    helper.__name__ = getattr(function, "__name__", "helper")
    overload(helper, **options)(scope["chosen"])
    return helper


def by_python_for(function: Any, args: Sequence[Any], keywords: dict[str, Any], types_of: dict[str, Any]) -> Any:
    """What lets Python call a function, with parameters of these types for the arguments that are DYNAMIC. Raises
    TypingError."""
    kinds = tuple(types_of.values())

    def call(*given: Any) -> Any:
        left = iter(given)
        positional = [next(left) if part is DYNAMIC else part for part in args]
        named = {name: next(left) if part is DYNAMIC else part for name, part in keywords.items()}
        return function(*positional, **named)

    result = _known_type(function, tuple(args), keywords, kinds)
    if result is None:
        is_new = functions.facts(function).result is Result.NEW
        lengths = _lengths_in((*args, *keywords.values(), *map(constant_of, kinds)))
        result = _result_type(function, call, kinds, is_new, lengths)
    return through_python(function, args, keywords, types_of, result, converter(result))


# --- the type of a result -------------------------------------------------------------------------------------------


def _lengths_in(parts: Any) -> tuple[int, ...]:
    """Integers among constants that may be lengths."""
    if isinstance(parts, (tuple, list)):
        return tuple(dict.fromkeys(n for part in parts for n in _lengths_in(part)))
    return (parts,) if type(parts) is int and max(_SIZES) < parts <= _MOST_ELEMENTS else ()


def _result_type(
    function: Any, call: Any, kinds: tuple[Any, ...], is_new: bool, more: tuple[int, ...] = ()
) -> Any:
    """The type of what a function gives for arguments of these types, by examples, arrays with ``more`` lengths too."""
    name = getattr(function, "__name__", "a function")
    found: list[Any] = []
    slots = [slot for kind in kinds for slot in _slots(kind, more)]
    tried = itertools.product(*slots)
    most = 9 if any(isinstance(kind, types.List) for kind in kinds) else 3
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for sizes in ((1,) * len(slots), *itertools.islice(tried, _MOST_TRIED)):
            left = iter(sizes)
            examples = [_example(kind, left) for kind in kinds]
            try:
                value = call(*examples)
            except Exception:  # these lengths do not fit
                continue
            kind = type_of(value, is_new)
            if kind is not None and found and found[0] != kind:
                kind = found[0] = _list_type(found[0], kind)
            if kind is None:
                raise numba.TypingError(f"the kind of the result of `{name}` is known only when it runs")
            found.append(kind)
            if len(found) == most:
                break
    if not found:
        raise numba.TypingError(f"`{name}` has no result for such arguments")
    return found[0]


def _known_type(function: Any, args: tuple[Any, ...], keywords: dict[str, Any], kinds: tuple[Any, ...]) -> Any:
    """The type of what ``np.reshape`` and ``np.broadcast_to`` give, which the new shape tells, and of cross products,
    of vectors of length 3; None for others."""
    if function in (np.cross, np.linalg.cross) and all(isinstance(k, types.Array) for k in kinds[:2]) and kinds[1:]:
        dtype = np.promote_types(*[as_dtype(k.dtype) for k in kinds[:2]])
        return types.Array(from_dtype(dtype), max(k.ndim for k in kinds[:2]), "A")
    if function not in (np.reshape, np.broadcast_to) or not kinds or not isinstance(kinds[0], types.Array):
        return None
    shape = args[1] if len(args) > 1 else keywords.get("shape", keywords.get("newshape"))
    if shape is DYNAMIC and len(kinds) == 2:
        shape = kinds[1]
    if isinstance(shape, (int, types.Integer)):
        rank = 1
    elif isinstance(shape, (tuple, list, types.BaseTuple)):
        rank = len(shape)
    else:
        return None
    return types.Array(kinds[0].dtype, rank, "A")


def _slots(kind: Any, more: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The lengths that an example may have, those of arrays ``more`` too, and the numbers that one of an integer may
    be; 0 for None."""
    match kind:
        case _ if constant_of(kind) is not UNKNOWN:
            return []
        case types.Array():
            return [_SIZES + tuple(n for n in more if n**kind.ndim <= _MOST_ELEMENTS)]
        case types.Integer():
            return [_SIZES + _ALSO]
        case types.Optional():
            return [(1, 0), *_slots(kind.type, more)]
        case types.List():
            return [(2, 3), *_slots(kind.dtype, more)]
        case types.BaseTuple():
            return [slot for item in _items(kind) for slot in _slots(item, more)]
    return []


def _items(kind: Any) -> Any:
    """The types of the items of a tuple."""
    return kind.types


def _example(given: Any, sizes: Iterator[int]) -> Any:
    """A value of a type, with the next lengths."""
    kind = given
    known = constant_of(given)
    if known is not UNKNOWN:
        return known
    match given:
        case types.Array():
            return _example_array(as_dtype(kind.dtype), kind.ndim, next(sizes))
        case types.Boolean():
            return True
        case types.Integer():
            return next(sizes)
        case types.Float():
            return 0.5
        case types.Complex():
            return 0.5 + 0.25j
        case types.BaseTuple():
            return tuple([_example(item, sizes) for item in _items(kind)])
        case types.Optional():
            is_there, value = next(sizes), _example(kind.type, sizes)
            return value if is_there else None
        case types.SliceType():
            return slice(None)
        case types.List():
            count = next(sizes)
            return [_example(kind.dtype, sizes)] * count
        case _:
            raise numba.TypingError(f"a value of the type {kind} is not handed to Python")


def _example_array(dtype: Any, rank: int, size: int) -> Any:
    """An array with numbers that most functions take: its matrices are symmetric and positive definite."""
    if dtype.kind in "iub":
        return np.zeros((size,) * rank, dtype)
    made = np.full((size,) * rank, 0.125)
    if rank >= 2:
        made += np.eye(size) * (1.0 + np.arange(size))
    elif rank == 1:
        made += np.arange(size) * 0.25
    return made.astype(dtype)


def type_of(value: Any, is_new: bool) -> Any:
    """The Numba type of a result; None where there is none."""
    if isinstance(value, np.ndarray):
        if type(value) is not np.ndarray or value.dtype.char not in "?bBhHiIlLqQfdFD":
            return None
        return types.Array(from_dtype(value.dtype), value.ndim, "C" if is_new else "A")
    if value is None:
        return types.none
    if isinstance(value, (tuple, list)):
        items = [type_of(item, is_new) for item in value]
        return None if None in items else types.Tuple(items)
    if isinstance(value, (bool, int, float, complex, np.generic)):
        kind = numba.typeof(value)
        return kind if isinstance(kind, (types.Number, types.Boolean)) else None
    return None


def _list_type(first: Any, second: Any) -> Any:
    """The type of lists of which two examples are of the types of these tuples; None where there is none."""
    kinds = [first.dtype] if isinstance(first, types.List) else []
    for kind in (first, second):
        kinds += _items(kind) if isinstance(kind, types.BaseTuple) else []
    is_one = len(set(kinds)) == 1 and isinstance(second, types.BaseTuple)
    return types.List(kinds[0]) if is_one and isinstance(first, (types.List, types.BaseTuple)) else None


def converter(kind: Any, may_copy: bool = True) -> Any:
    """The function that gives what a call gave as the value of a type that was found for it. It raises TypeError where
    it is another one, and unless it ``may_copy`` where the layout is another: the Python function runs then."""
    if isinstance(kind, types.Array):
        dtype = as_dtype(kind.dtype)
        rank, any_layout = kind.ndim, kind.layout != "C"

        def array(value: Any) -> Any:
            if type(value) is not np.ndarray or value.dtype != dtype or value.ndim != rank:
                raise TypeError("another kind of result")
            flags = value.flags
            if not (may_copy or any_layout or flags.c_contiguous):
                raise TypeError("another layout of a result")
            return value if flags.writeable and (any_layout or flags.c_contiguous) else value.copy()

        return array
    if isinstance(kind, types.BaseTuple):
        parts = [converter(item, may_copy) for item in _items(kind)]
        return lambda value: tuple([part(item) for part, item in zip(parts, value, strict=True)])
    if isinstance(kind, types.List):
        one = converter(kind.dtype, may_copy)
        return lambda value: [one(item) for item in value]

    def number(value: Any) -> Any:
        if numba.typeof(value) != kind:
            raise TypeError("another kind of result")
        return value

    return number
