"""What watched code calls in place of its operations: each does what it stands for, and every recording that an operand
depends on notes it.

What is called is one of these:
  - Python code, which is watched itself and needs nothing else;
  - what hands objects on, as containers and iterators do: the objects that come out are those that went in;
  - what computes: a function with a derivative, which is one step of the recording.
A number that comes out of anything else, where something went in that depends on what is differentiated, is refused.
"""

from __future__ import annotations

import builtins
import collections
import functools
import inspect
import itertools
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2s.analysis.functions import facts
from s2s.api import jvp, vjp
from s2s.core import stack
from s2s.core.functions import Result
from s2s.core.inspection import is_hashable, is_written, name_of
from s2s.core.linecaches import define
from s2s.core.operators import OPERATORS
from s2s.core.public import PublicDerivative
from s2s.directives.decorated import Differentiable, unwrap
from s2s.directives.policies import stop_gradient
from s2s.directives.user_rules import gives_gradient
from s2s.errors import error
from s2s.recorded import stale
from s2s.recorded.install import Installer
from s2s.recorded.kinds import (
    CONTAINERS,
    FUNCTIONS,
    ITERATORS,
    KNOWN,
    REAL,
    flat,
    is_numeric,
    is_opaque,
    is_ours,
    is_python,
    is_read_item_by_item,
    method_called,
    names_of,
    overrides,
    plain_array,
    python_of,
)
from s2s.recorded.memory import owner_of
from s2s.recorded.recorder import is_a, is_number, kind_of
from s2s.recorded.state import (
    ACTIVE,
    before_change,
    check_read,
    checked,
    depends,
    gives_argument,
    handed_on,
    has_new,
    hides,
    taint,
    written,
)
from s2s.recorded.watch import watched_text
from s2s.rules import table
from s2s.rules.functions import description_of

__all__ = ["ACTIVE", "INSTALLER", "TOOLS", "primitive_of"]


_ARITHMETIC = frozenset({operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg})
_FUNCTIONAL = {getattr(operator, f"i{name}"): getattr(operator, name) for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift")} | {
    operator.ior: operator.or_, operator.ixor: operator.xor, operator.iand: operator.and_}
_PASSIVE = frozenset(
    map(
        id,
        (
            isinstance,
            issubclass,
            len,
            type,
            hasattr,
            callable,
            id,
            print,
            range,
            hash,
            bool,
            bytes,
            ord,
            chr,
            object,
            slice,
            property,
            staticmethod,
            classmethod,
            delattr,
            open,
            np.shape,
            np.ndim,
            np.size,
            np.result_type,
            np.can_cast,
            np.dtype,
            np.errstate,
            np.isscalar,
            np.iscomplexobj,
            np.isrealobj,
            np.shares_memory,
            np.may_share_memory,
        ),
    )
)
_OF_ATTRIBUTES = frozenset({"__getattribute__", "__setattr__", "__delattr__", "__init_subclass__", "__set_name__"})
"""Methods of ``object`` that compute nothing."""

_TRANSPARENT = frozenset({"s2s.recorded.entry"})
"""Modules whose functions compute with these operations."""

_PRIMITIVES: dict[int, Any] = {}
"""Python functions that are one step: those that sweeps make."""


# --- operators ------------------------------------------------------------------------------------------------------


def binary(op: Any, a: Any, b: Any) -> Any:
    """``op(a, b)``."""
    if not ACTIVE:
        return op(a, b)
    if type(a) in REAL and type(b) in REAL and op in _ARITHMETIC:
        out = op(a, b)
        if type(out) is not complex and not (op is operator.pow and a <= 0):
            for recorder in ACTIVE:
                recorder.arithmetic(op, a, b, out)
            return out
        return _noted(op, (a, b), {}, out)
    names = names_of(op)
    if is_numeric(a, *names) and is_numeric(b, *names):
        return _compute(op, (a, b), {})
    for one, other in ((a, b), (b, a)):
        if type(one) in (list, tuple) and is_a(other, np.ndarray) and is_numeric(other, *names) and depends(a, b):
            array = call(np.asarray, one)
            return _compute(op, (array, b) if one is a else (a, array), {})
    INSTALLER.see(a)
    INSTALLER.see(b)
    if is_a(a, (str, bytes)):
        written(b)
    out = op(a, b)
    if not (is_ours(a, op) or is_ours(b, op)) and (depends(a, b) or hides((a, b), {})):
        return handed_on(op, (a, b), {}, out)
    return out


def unary(op: Any, a: Any) -> Any:
    """``op(a)``."""
    if not ACTIVE:
        return op(a)
    if type(a) in REAL and op is operator.neg:
        out = op(a)
        for recorder in ACTIVE:
            recorder.arithmetic(op, a, None, out)
        return out
    if is_numeric(a, *names_of(op)):
        return _compute(op, (a,), {})
    INSTALLER.see(a)
    return op(a) if is_ours(a, op) or not depends(a) else handed_on(op, (a,), {}, op(a))


def inplace(op: Any, a: Any, b: Any) -> Any:
    """``op(a, b)``, an operator that may change ``a``."""
    if not ACTIVE:
        return op(a, b)
    names = names_of(op)
    if is_a(a, np.ndarray) and is_numeric(a, *names) and (is_numeric(b, *names) or is_a(b, (list, tuple))):
        if not depends(a) and not depends(b):
            before_change(a)
            return op(a, b)
        made = _compute(_FUNCTIONAL[op], (a, b), {})
        set_item(made, a, ...)
        return a
    if is_numeric(a, *names):
        return binary(_FUNCTIONAL[op], a, b)
    if is_a(a, list) and is_a(b, np.ndarray):  # an array, as NumPy's operator comes first
        return binary(_FUNCTIONAL[op], a, b)
    INSTALLER.see(a)
    INSTALLER.see(b)
    return op(a, b)


def compare(sign: str, a: Any, b: Any) -> Any:
    """``a == b``, ``a != b``, ``a in b`` and ``a not in b``."""
    if ACTIVE:
        INSTALLER.see(a)
        INSTALLER.see(b)
    return stale.compare(sign, a, b, depends)


# --- items and attributes -------------------------------------------------------------------------------------------


def get_item(container: Any, index: Any) -> Any:
    """``container[index]``."""
    if not ACTIVE:
        return container[index]
    if is_a(container, np.ndarray):
        INSTALLER.see(container)
        out = container[index]
        return _noted_item(container, index, out) if is_numeric(container, "__getitem__") else out
    if is_a(container, np.inexact) and depends(container):
        return get_item(call(np.asarray, container), index)
    if type(container) not in CONTAINERS:
        if is_a(container, np.flatiter):
            return get_item(call_method(container.base, "reshape", -1), index)
        INSTALLER.see(container)
    if is_a(container, dict) and stale.is_remembered(container, index, depends):
        raise KeyError(index)
    out = container[index]
    return handed_on(operator.getitem, (container,), {}, out) if is_opaque(container) and depends(container) else out


def _noted_item(container: Any, index: Any, out: Any) -> Any:
    """An item of an array, which is a step where it is no view."""
    if is_a(out, np.void) and depends(container):
        raise error("S2S101", construct="an item of an array of records")
    if kind_of(container) in "fcV" and (
        is_number(out) or (is_a(out, np.ndarray) and owner_of(out) is not owner_of(container))
    ):
        for recorder in ACTIVE:
            recorder.read(plain_array(container), index, out)
    return out


def set_item(value: Any, container: Any, index: Any) -> None:
    """``container[index] = value``."""
    if ACTIVE and is_a(container, np.ndarray):
        if not is_numeric(container, "__setitem__"):
            INSTALLER.see(container)
            container[index] = value
            return
        if kind_of(container) == "O":
            value = _as_objects(value) if is_a(value, np.ndarray) and depends(value) else value
        elif is_a(value, tuple) and container.dtype.names and depends(value):
            for name, part in zip(container.dtype.names, value, strict=True):
                set_item(part, plain_array(container)[name], index)
            return
        elif is_a(value, (list, tuple)) and depends(value):
            value = call(np.array, value)
        before_change(container)
        container[index] = value
        for recorder in ACTIVE:
            recorder.store(container, index, value)
        return
    if ACTIVE and is_a(container, np.flatiter):
        flat = container.base.reshape(-1)
        if owner_of(flat) is not owner_of(container.base):
            raise error("S2S101", construct="a store through `flat` of an array that is not contiguous")
        set_item(value, flat, index)
        return
    if ACTIVE and is_a(container, list) and is_a(index, slice):
        value = list(iterate(value))
    if ACTIVE and type(container) not in CONTAINERS:
        INSTALLER.see(container)
    if ACTIVE and is_a(container, dict) and stale.is_remembered(container, index, depends):
        del container[index]  # else the key of an earlier call would stay
    container[index] = value


def get_attribute(value: Any, name: str) -> Any:
    """``value.name``."""
    if ACTIVE:
        if is_number(value) and name in ("real", "imag"):
            return call(getattr(np, name), value) if depends(value) else getattr(value, name)
        if name == "T" and is_a(value, np.generic):
            return value
        if name == "ctypes" and is_a(value, np.ndarray) and depends(value):
            raise error("S2S101", construct="a pointer to an array")
        kind = type(value)
        if kind not in REAL and kind is not np.ndarray and kind is not types.ModuleType:
            INSTALLER.see(value)
            found = getattr(value, name)
            if is_opaque(value) and depends(value) and has_new((value,), {}, found):
                raise error("S2S208", name=name)
            if type(found) is types.FunctionType or type(found) is types.MethodType:
                INSTALLER.see(found)
            return found
    return getattr(value, name)


def set_attribute(value: Any, target: Any, name: str) -> None:
    """``target.name = value``."""
    if ACTIVE:
        if is_a(target, np.ndarray) and name in ("real", "imag", "flat"):
            part = call_method(target, "reshape", -1) if name == "flat" else getattr(target, name)
            set_item(value, part, ...)
            return
        INSTALLER.see(target)
    setattr(target, name, value)


def iterate(value: Any) -> Any:
    """What a loop over ``value`` runs over: the items of an array are read one by one."""
    if ACTIVE:
        if is_a(value, np.flatiter):
            value = call_method(value.base, "reshape", -1)
        if is_a(value, np.ndarray) and value.ndim == 1 and is_numeric(value, "__iter__") and depends(value):
            return _items(value)
        if type(value) not in CONTAINERS:
            INSTALLER.see(value)
        if is_opaque(value) and depends(value):
            return _checked_items(value)
    return value


def _checked_items(value: Any) -> Iterator[Any]:
    """The items of a value, which must be known where the value may have made them of what is differentiated."""
    is_hidden = is_opaque(value) and depends(value)
    for item in value:
        if is_hidden and has_new((), {}, item):
            raise error("S2S201", name=type(value).__name__)
        yield item


def _items(array: np.ndarray[Any, Any]) -> Iterator[Any]:
    array = np.ndarray.view(array, np.ndarray)
    for k in range(len(array)):
        yield get_item(array, k)


class _Backwards:
    """What ``reversed`` reads of an array: its items, when they are asked for."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = np.ndarray.view(array, np.ndarray)

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, k: int) -> Any:
        return get_item(self.array, k)


def iterate_parts(value: Any, pattern: Any) -> Any:
    """What a comprehension with several targets runs over; ``pattern`` says which parts of an item are taken apart."""
    return value if not ACTIVE else (_taken_apart(item, pattern) for item in value)


def _taken_apart(value: Any, pattern: Any) -> Any:
    if pattern is None:
        return value
    items = tuple(iterate(value))
    if len(items) == len(pattern):
        return tuple(map(_taken_apart, items, pattern))
    return items  # with a starred target; a wrong number raises where it is assigned


def see(value: Any) -> Any:
    """A value, of which the code that it runs is watched from here on."""
    if ACTIVE:
        INSTALLER.see(value)
    return value


# --- calls ----------------------------------------------------------------------------------------------------------


def call_method(receiver: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """``receiver.name(*args, **kwargs)``."""
    if not ACTIVE:
        return getattr(receiver, name)(*args, **kwargs)
    return _call(get_attribute(receiver, name), args, kwargs)


def call(fn: Any, /, *args: Any, **kwargs: Any) -> Any:
    """``fn(*args, **kwargs)``."""
    if not ACTIVE:
        return fn(*args, **kwargs)
    return _call(fn, args, kwargs)


def evaluate(fn: Any, outer: dict[str, Any], local: Any, text: Any, *scopes: Any, **named: Any) -> Any:
    """``eval(text, ...)`` or ``exec(text, ...)``, called where there are these globals and locals."""
    if fn is not eval and fn is not exec:
        return call(fn, text, *scopes, **named)
    given = [scope for scope in scopes if scope is not None] + list(named.values())
    given = given or [outer, local]
    if not ACTIVE:
        return fn(text, *given)
    check_read(fn, text)
    if is_a(text, str):
        text = watched_text(text, "<string>", fn.__name__, TOOLS)
    elif hides(tuple(given), {}) or any(map(depends, given)):
        raise error("S2S201", name=f"the code that `{fn.__name__}` runs")
    return fn(text, *given)


def _call(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if id(fn) in _PASSIVE:
        return fn(*args, **kwargs)
    kind = type(fn)
    if fn is next and is_a(args[0], np.flatiter):
        place, _ = args[0].index, next(*args)
        return get_item(args[0].base, np.unravel_index(place, args[0].base.shape)) if place < args[0].base.size else _
    if fn is getattr and is_a(args[1], str):
        try:
            return get_attribute(*args[:2])
        except AttributeError:
            if len(args) == 2:
                raise
            return args[2]
    if fn is setattr and len(args) == 3:
        return set_attribute(args[2], args[0], args[1])
    if kind is types.MethodWrapperType and fn.__name__ == "__call__":
        return _call(fn.__self__, args, kwargs)
    if kind in (types.WrapperDescriptorType, types.MethodWrapperType) and fn.__name__ in _OF_ATTRIBUTES:
        return fn(*args, **kwargs)
    if kind is types.FunctionType:
        return _call_python(fn, fn, args, kwargs)
    if kind is types.MethodType:
        if type(fn.__func__) is types.FunctionType:
            return _call_python(fn, fn.__func__, (fn.__self__, *args), kwargs)
        return _call(fn.__func__, (fn.__self__, *args), kwargs)
    if kind is functools.partial:
        return _call(fn.func, (*fn.args, *args), {**fn.keywords, **kwargs})
    if kind is functools._lru_cache_wrapper:
        return _call(fn.__wrapped__, args, kwargs) if depends(args, kwargs) else fn(*args, **kwargs)
    if is_a(fn, Differentiable):
        return _call(unwrap(fn), args, kwargs)
    if isinstance(fn, type):
        return _make(fn, args, kwargs)
    if is_a(fn, PublicDerivative):
        return _call_derivative(fn, args, kwargs)
    if kind is operator.methodcaller:
        name, given, named = method_called(fn)
        return call_method(args[0], name, *given, **named)
    if is_a(fn, np.ufunc) and depends(args, kwargs) and not kwargs and (function := python_of(fn)) is not None:
        return _of_each(function, args, fn.nout)
    if is_a(fn, np.ufunc) or gives_gradient(fn):
        return _compute(fn, args, kwargs)
    if kind in (types.BuiltinFunctionType, types.MethodWrapperType):
        receiver = fn.__self__
        if is_a(receiver, dict) and fn.__name__ in ("get", "setdefault", "pop") and args and (
            stale.is_remembered(receiver, args[0], depends)
        ):
            return _without(receiver, fn.__name__, *args)
        if is_a(receiver, (np.ndarray, np.generic)):
            return _call_array_method(receiver, fn, args, kwargs)
        if is_number(receiver):
            return _compute(getattr(type(receiver), fn.__name__), (receiver, *args), kwargs, fn)
        return _compute(fn, args, kwargs)
    if kind is types.MethodDescriptorType and args and is_a(args[0], (np.ndarray, np.generic)):
        return _call_array_method(args[0], fn.__get__(args[0]), args[1:], kwargs)
    if kind is type(np.sum) and table.find(fn) is None and not _overridden(args):
        return _call_python(fn._implementation, fn._implementation, args, kwargs)
    own = getattr(kind, "__call__", None)  # noqa: B004 (it is looked at)
    if type(own) is types.FunctionType:
        return _call_python(fn, own, (fn, *args), kwargs)
    source = getattr(fn, "py_func", None)
    if type(source) is types.FunctionType and kind is not type(np.sum) and depends(args, kwargs):
        return _call(source, args, kwargs)  # compiled from Python code
    return _compute(fn, args, kwargs)


def _without(known: dict[Any, Any], name: str, key: Any, default: Any = None) -> Any:
    """A method of a dict where the entry under a key is of an earlier call."""
    if name == "setdefault":
        del known[key]
        known[key] = default
    return default


def _call_python(fn: Any, function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of Python code: one step where it has a rule of its own, else watched."""
    if fn is stop_gradient:
        return _still(fn(*args, **kwargs))
    if fn is stack.deeper:
        return call(*args, **kwargs)
    rule = table.find(function) if id(function) not in _PRIMITIVES else None
    if id(function) in _PRIMITIVES or (rule is not None and _can_compute(function, rule, args, kwargs)):
        return _compute(function, args, kwargs)
    if (function.__module__ or "") in _TRANSPARENT:
        return fn(*args[1:] if fn is not function else args, **kwargs)
    INSTALLER.see(fn)
    if not INSTALLER.knows(function) and depends(args, kwargs):
        given = args[1:] if fn is not function else args
        return checked(fn, given, kwargs, fn(*given, **kwargs))
    given = args[1:] if fn is not function else args
    return fn(*given, **kwargs)


def _can_compute(function: Any, rule: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a Python function with a rule is one step for these arguments; if not, its code is watched: so with one
    that makes objects, of which a step knows no cotangent."""
    return rule.kind != "refuse" and not rule.always and not hides(args, kwargs)


def _call_derivative(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a derivative: the code that was generated for it is watched."""
    dispatcher = fn.dispatcher
    if hasattr(dispatcher, "dispatcher_for"):
        dispatcher = dispatcher.dispatcher_for(args, kwargs)
    version = dispatcher.version_for(dispatcher.collect(*args, **kwargs))
    INSTALLER.see(version.raw)
    out = fn(*args, **kwargs)
    return out if version.run is version.raw else checked(fn, args, kwargs, out)


def _make(kind: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a class."""
    if is_written(kind) and not _reads_items(kind):
        INSTALLER.see(kind)
        _see_all(args, kwargs)
        container = next((base for base in kind.__mro__ if base in CONTAINERS), None)
        if container is not None and not any(type(getattr(kind, n)) is types.FunctionType for n in _MAKERS):
            args, kwargs = _prepared(container, args, kwargs)  # C code reads the items
        made = kind(*args, **kwargs)
        if not is_python(kind) and depends(args, kwargs):
            taint(made)
        return made
    if issubclass(kind, (float, np.floating)) and len(args) == 1 and not kwargs and is_number(args[0]):
        out = kind(args[0])
        if out is not args[0] and not is_a(args[0], (complex, np.complexfloating)):
            for recorder in ACTIVE:
                recorder.arithmetic(operator.pos, args[0], None, out)
        return out
    if issubclass(kind, str):
        written(*args)
        return kind(*args, **kwargs)
    if issubclass(kind, (int, float, complex, np.number)):
        check_read(kind, *args)
    if issubclass(kind, (int, np.integer)):
        return kind(*args, **kwargs)
    if issubclass(kind, (float, np.floating)) and len(args) == 1 and is_a(args[0], np.ndarray) and (
        args[0].size == 1
    ):
        return _make(kind, (call_method(args[0], "item"),), {})
    return _compute(kind, args, kwargs)


_MAKERS = ("__new__", "__init__")


def _call_array_method(receiver: Any, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = fn.__name__
    if name == "__array_ufunc__":
        ufunc, method, *inputs = args
        return _call(ufunc if method == "__call__" else getattr(ufunc, method), tuple(map(plain_array, inputs)), kwargs)
    if name == "__array_function__":
        function, _, given, named = args
        return _call(function._implementation, given, named)
    if name == "__getitem__" and is_a(receiver, np.ndarray):
        return _noted_item(receiver, args[0], fn(*args))
    if name == "__setitem__" and is_a(receiver, np.ndarray):
        return set_item(args[1], plain_array(receiver), args[0])
    if name in ("__deepcopy__", "__copy__"):
        return receiver if is_a(receiver, np.generic) else call_method(receiver, "copy")
    method = getattr(np.ndarray, name, None)
    if method is None:
        return fn(*args, **kwargs)
    return _compute(method, (receiver, *args), kwargs, fn)


def _reads_items(fn: Any) -> bool:
    """Whether a function or a class reads what it is given item by item."""
    return is_hashable(fn) and (fn in _READERS or facts(fn).result is Result.ITERATOR)


def _see_all(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    for arg in (*args, *kwargs.values()):
        if callable(arg):
            INSTALLER.see(arg)


# --- what computes --------------------------------------------------------------------------------------------------


def _still(value: Any) -> Any:
    """A value that depends on nothing."""
    if is_a(value, np.ndarray):
        return value.copy()
    if is_number(value):
        return value * type(value)(1.0)
    return type(value)(map(_still, value)) if type(value) in (list, tuple) else value


def _compute(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], bound: Any = None) -> Any:
    """A call of what is not Python code; ``bound`` is the method of the first argument that ``fn`` is."""
    if is_hashable(fn) and fn in stale.EQUALITIES:
        found = fn(*args, **kwargs)
        stale.check_equality(args, found, depends)
        return found
    args, kwargs = _prepared(fn, args, kwargs)
    if any(name.startswith("overwrite") for name in kwargs):  # what it gives is the same without
        kwargs = {name: False if name.startswith("overwrite") else value for name, value in kwargs.items()}
    if fn is np.fromiter and is_a(args[0], list):
        return call(np.array, args[0], *args[1:2], **{k: v for k, v in kwargs.items() if k == "dtype"})
    if _overridden(args):
        for a in args:
            INSTALLER.see(a)
        run = _noted if is_a(fn, types.MethodDescriptorType) else handed_on
        is_noted = depends(args, kwargs)
        out = _run(fn, args, kwargs, bound)
        return run(fn, args, kwargs, out) if is_noted else out
    out_arg: Any = kwargs.get("out")
    if is_a(fn, np.ufunc) and len(args) > fn.nin:
        out_arg, args = args[fn.nin:], args[: fn.nin]
    elif out_arg is None and is_hashable(fn) and (place := _place_of_out(fn)) is not None and len(args) > place:
        out_arg, args = args[place], (*args[:place], *([] if len(args) == place + 1 else [None]), *args[place + 1:])
    if is_a(out_arg, tuple) and len(out_arg) == 1:
        out_arg = out_arg[0]
    if out_arg is Ellipsis:  # an array, also of no dimensions
        return call(
            np.asarray, _compute(fn, args, {key: value for key, value in kwargs.items() if key != "out"}, bound)
        )
    if any(is_a(a, np.ndarray) and kind_of(a) == "O" for a in args) and depends(args):
        return _of_objects(fn, args, kwargs)
    if out_arg is not None:
        return _into(fn, args, kwargs, out_arg)
    if not is_a(fn, (np.ufunc, PublicDerivative)) and hides((*args, getattr(fn, "__self__", None)), kwargs):
        if _only_hands_on(fn):
            return _run(fn, args, kwargs, bound)
        return handed_on(fn, args, kwargs, _run(fn, args, kwargs, bound))
    if not depends(args, kwargs):
        for array in _changed(fn, args, kwargs):
            before_change(array)
        out = _run(fn, args, kwargs, bound)
        rule = table.find(fn) if is_hashable(fn) else None
        is_constant = rule is not None and rule.kind == "zero"  # of ``np.zeros(3, "f8")`` the text is no number
        if any(recorder.has_written for recorder in ACTIVE) and not is_constant and has_new(args, kwargs, out):
            check_read(fn, getattr(fn, "__self__", None), *args, *kwargs.values())
        is_read = any(hasattr(type(arg), "__next__") for arg in args) and fn is not next and not _reads_items(fn)
        if is_read and has_new(args, kwargs, out):
            raise error("S2S201", name=name_of(fn))  # what it was computed of went by unseen
        return out
    if is_a(getattr(fn, "__self__", None), (np.random.Generator, np.random.RandomState)):
        raise error("S2S201", name=name_of(fn))  # the sweeps call a step again, which would draw again
    changed = _changed(fn, args, kwargs)
    if changed:
        return _change(fn, args, kwargs, changed, bound)
    return _noted(fn, args, kwargs, _run(fn, args, kwargs, bound))


def _overridden(args: tuple[Any, ...]) -> bool:
    """Whether the class of an argument has calls of NumPy's functions of its own."""
    kinds: list[Any] = [type(a) for a in flat(args)]
    return any(
        overrides(kind) if issubclass(kind, np.ndarray) else is_written(kind) and hasattr(kind, "__array_ufunc__")
        for kind in kinds
    )


_ARRAY_MAKERS = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.ndarray.astype)
_OPERATORS = {known.ufunc: plain for plain, known in OPERATORS.items()}


def _of_objects(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call with arrays of Python objects: an elementwise function of each object, or what hands them on."""
    operation = _OPERATORS.get(fn, fn) if is_a(fn, np.ufunc) else fn
    if operation in _OPERATORS.values() and operation is not operator.matmul and not kwargs:
        arrays = np.broadcast_arrays(*(np.asarray(a, object) if not is_a(a, np.ndarray) else a for a in args))
        made = np.empty(arrays[0].shape, object)
        for index in np.ndindex(made.shape):
            operands = [array[index] for array in arrays]
            made[index] = binary(operation, *operands) if len(operands) == 2 else unary(operation, *operands)
        return made if made.shape else made[()]
    if fn in (np.sum, np.ndarray.sum, np.prod, np.ndarray.prod) and not kwargs and len(args) == 1:
        by = operator.add if fn in (np.sum, np.ndarray.sum) else operator.mul
        return functools.reduce(functools.partial(binary, by), args[0].ravel().tolist())
    if fn in (np.dot, np.ndarray.dot, np.vdot, np.inner) and not kwargs and all(np.ndim(a) == 1 for a in args):
        products = map(functools.partial(binary, operator.mul), *map(np.ndarray.tolist, args))
        return functools.reduce(functools.partial(binary, operator.add), products)
    if fn in _ARRAY_MAKERS and not is_a(args[0], list):
        array, dtype = args[0], kwargs.get("dtype", args[1] if len(args) > 1 else None)
        if dtype is None or np.dtype(dtype).kind == "O":
            return array
        return call(np.reshape, call(np.array, array.ravel().tolist(), dtype=dtype), array.shape)
    out = fn(*args, **kwargs)
    if has_new(args, kwargs, out):
        raise error("S2S202", name=name_of(fn), reason="it computes with an array of Python objects")
    return out


def _of_each(function: Any, args: tuple[Any, ...], count: int) -> Any:
    """What a Python function gives of each element of arrays, as arrays of objects: ``count`` of them."""
    objects = [_as_objects(a) if is_a(a, np.ndarray) and kind_of(a) != "O" else np.asarray(a, object) for a in args]
    objects = list(np.broadcast_arrays(*objects))
    made = [np.empty(objects[0].shape, object) for _ in range(count)]
    for index in np.ndindex(objects[0].shape):
        out = call(function, *[array[index] for array in objects])
        for array, part in zip(made, (out,) if count == 1 else out):
            array[index] = part
    found = [array if array.shape else array[()] for array in made]
    return found[0] if count == 1 else tuple(found)


def _as_objects(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array of the numbers of another, each an object."""
    made = np.empty(array.shape, object)
    for index in np.ndindex(array.shape):
        made[index] = get_item(array, index)
    return made


def _run(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], bound: Any) -> Any:
    return fn(*args, **kwargs) if bound is None else bound(*args[1:], **kwargs)


def _prepared(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments, with items for an array that is read item by item, and watched functions."""
    known = facts(fn) if is_hashable(fn) else None
    receiver = getattr(fn, "__self__", None)
    reads = _reads_items(fn) or (
        is_a(receiver, CONTAINERS) and fn.__name__ in ("extend", "extendleft", "update", "fromkeys", "__init__")
    )
    made = []
    for arg in args:
        if is_a(arg, np.flatiter) and fn is not next:
            arg = call_method(arg.base, "reshape", -1)
        if callable(arg):
            INSTALLER.see(arg)
            arg = _watched(arg) if reads else arg
        elif reads and is_a(arg, np.ndarray) and arg.ndim == 1 and is_numeric(arg, "__iter__") and depends(arg):
            lazily = known is not None and known.result is Result.ITERATOR
            if fn is reversed:
                return (_Backwards(arg),), kwargs
            arg = _items(arg) if lazily else list(_items(arg))
        elif _reads_rows(fn) and depends(arg):
            arg = _rows(arg)
        elif is_a(arg, (set, frozenset)) and not reads and table.find(fn) is not None and depends(arg):
            arg = list(arg)
        elif not reads and fn is not next and is_read_item_by_item(arg) and (
            (known is not None and known.takes_all) or fn is np.fromiter
            or (hasattr(type(arg), "__next__") and table.find(fn) is not None and not is_a(receiver, CONTAINERS))
        ):
            arg = list(_checked_items(arg))  # what is computed of the items is one step of these
        made.append(arg)
    if fn is itertools.accumulate and len(args) + ("func" in kwargs) < 2:
        made.append(functools.partial(binary, operator.add))
    for name, arg in kwargs.items():
        if callable(arg):
            INSTALLER.see(arg)
            kwargs = {**kwargs, name: _watched(arg)} if reads and name == "func" else kwargs
    return tuple(made), kwargs


def _reads_rows(fn: Any) -> bool:
    """Whether a function reads the items of the items that it is given."""
    if fn is dict or fn is itertools.starmap or fn is collections.OrderedDict:
        return True
    name, receiver = getattr(fn, "__name__", ""), getattr(fn, "__self__", None)
    return (receiver is itertools.chain and name == "from_iterable") or (is_a(receiver, dict) and name == "update")


def _rows(value: Any) -> Any:
    """What gives the items of a value, arrays among them as tuples of their items; a dict itself."""
    if is_a(value, dict):
        return value
    return (tuple(_items(item)) if is_a(item, np.ndarray) and item.ndim == 1 else item for item in iterate(value))


_READERS = frozenset({
    collections.deque,
    list, tuple, set, frozenset, zip, enumerate, map, filter, sorted, reversed, iter, min, max, functools.reduce, dict,
    itertools.accumulate, itertools.chain, itertools.starmap, itertools.product, itertools.islice,
    list.extend,
})


def _watched(fn: Any) -> Any:
    """A function that C code calls, as one that is seen."""
    is_seen = type(fn) is types.FunctionType or (isinstance(fn, type) and is_written(fn) and is_python(fn)) or (
        type(fn) is types.MethodType and type(fn.__func__) is types.FunctionType)
    return fn if is_seen else lambda *args: call(fn, *args)


def _changed(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[np.ndarray[Any, Any]]:
    """The arrays among the arguments that a call changes."""
    if (
        is_a(fn, (np.ufunc, type))
        or id(fn) in _PRIMITIVES
        or not is_hashable(fn)
        or not any(is_a(a, np.ndarray) for a in (*args, *kwargs.values()))
    ):
        return []
    known = facts(fn)
    if -1 in known.changes or not (known.changes or table.find(fn) or description_of(fn)):
        rule = table.find(fn)
        return (
            []
            if rule is not None or PublicDerivative in type(fn).__mro__
            else [a for a in (*args, *kwargs.values()) if is_a(a, np.ndarray)]
        )
    if known.changes and len(args) <= max(known.changes):
        raise error("S2S203", name=name_of(fn), keyword=next(iter(kwargs), "out"))
    return [args[k] for k in known.changes if k < len(args) and is_a(args[k], np.ndarray)]


@functools.lru_cache(1024)
def _place_of_out(fn: Any) -> int | None:
    """The place of ``out`` among the positional arguments of a function with a rule."""
    rule = table.find(fn)
    if rule is None or is_a(fn, np.ufunc):
        return None
    named = rule.params.parameters
    if "out" not in named or named["out"].default is not None:  # what generated code calls may read it
        return None
    kinds = {name: parameter.kind for name, parameter in named.items()}
    is_by_place = inspect.Parameter.VAR_POSITIONAL not in kinds.values()
    is_by_place = is_by_place and kinds.get("out") is inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [*kinds].index("out") if is_by_place else None


def _into(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], target: Any) -> Any:
    """A call that writes its result into an array."""
    rest = {key: value for key, value in kwargs.items() if key != "out"}
    where = rest.pop("where", True) if is_a(fn, np.ufunc) else True
    targets = target if is_a(target, tuple) else (target,)
    if not depends(args, rest, targets):
        for one in targets:
            if is_a(one, np.ndarray):
                before_change(one)
        return fn(*args, **{**rest, **({} if where is True else {"where": where})}, out=target)
    made = _compute(fn, args, rest)
    for one, part in zip(targets, made if is_a(target, tuple) else (made,)):
        if one is not None:
            set_item(part if where is True else call(np.where, where, part, one), one, ...)
    return target


def _change(
    fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], changed: list[np.ndarray[Any, Any]], bound: Any
) -> Any:
    """A call that changes an array in place: the result of the same on a copy is stored into it."""
    places = facts(fn).changes
    if not places or -1 in places or (table.find(fn) is None and places != (0,)):
        copies = [plain_array(array).copy() for array in changed]
        out = _run(fn, args, kwargs, bound)
        if not all(map(_same, copies, changed)):
            raise error("S2S201", name=name_of(fn))
        return _noted(fn, args, kwargs, out)
    arrays = [plain_array(args[k]) for k in places]
    given = [arrays[places.index(k)] if k in places else arg for k, arg in enumerate(args)]
    made = call(_changed_of(fn, len(args), tuple(kwargs), places), *given, **kwargs)
    for array, part in zip(arrays, made):
        set_item(part, array, ...)
    return made[-1]


def _same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Whether the elements are the same: a method may have set the shape."""
    return bool(np.array_equal(a.reshape(-1), plain_array(b).reshape(-1), equal_nan=kind_of(a) in "fc"))


@functools.lru_cache(256)
def _changed_of(fn: Any, count: int, names: tuple[str, ...], places: tuple[int, ...]) -> Any:
    """The function that gives what arrays, the arguments at these places, are after a call that changes them, and what
    the call gives."""
    own = [f"x{k}" for k in range(count)]
    inner = [f"made{k}" if k in places else f"x{k}" for k in range(count)]
    given = [*inner, *(f"{n}={n}" for n in names)]
    text = f"def changed({', '.join([*own, *names])}):\n"
    text += "".join(f"    made{k} = x{k}.copy()\n" for k in places)
    is_method = is_a(fn, types.MethodDescriptorType)
    call = f"made0.{fn.__name__}({', '.join(given[1:])})" if is_method else f"fn({', '.join(given)})"
    text += f"    out = {call}\n    return {', '.join(f'made{k}' for k in places)}, out\n"
    return primitive_of(text, "changed", {"fn": fn})


_CONTAINERS = (dict, list, tuple, set, frozenset, collections.deque)
_OF_COPIES = frozenset({"__reduce_ex__", "__reduce__", "__getstate__"})


def _only_hands_on(fn: Any) -> bool:
    """Whether a function is a built-in container, or a method of one, or of ``object`` for copies: what these give is
    what they hold, and what they call is watched."""
    if fn in _CONTAINERS:
        return True
    receiver = getattr(fn, "__self__", None)
    owner = getattr(fn, "__objclass__", None) or type(receiver)
    if type(fn) is types.BuiltinFunctionType and fn.__name__ in _OF_COPIES:
        return True
    return type(fn) in (types.BuiltinFunctionType, types.MethodDescriptorType) and issubclass(owner, _CONTAINERS)


def _noted(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
    """Note a call that has given ``out``."""
    if getattr(fn, "__name__", "") == "as_integer_ratio":
        raise error("S2S180", name="as_integer_ratio")
    if any(is_a(part, (str, bytes)) for part in flat((out,))):
        written(*args, *kwargs.values())
    receiver = args[0] if is_a(fn, types.MethodDescriptorType) else getattr(fn, "__self__", None)
    if out is None and is_opaque(receiver):
        written(*args, *kwargs.values())
    if out is None or is_a(out, (bool, int, str, bytes, np.bool_, np.integer)):
        taint(*args, *kwargs.values(), getattr(fn, "__self__", None))
        return out
    if is_a(out, (*ITERATORS, *FUNCTIONS)):
        return out
    if is_a(out, np.ndarray) and kind_of(out) == "O":
        if fn in _ARRAY_MAKERS and is_a(args[0], np.ndarray):
            return _as_objects(args[0])
        if has_new(args, kwargs, out):
            raise error("S2S202", name=name_of(fn), reason="it makes an array of Python objects")
        return out
    if (fn is max or fn is min) and "key" not in kwargs and _is_tied(out, args):
        out = _still(out)  # a number of its own, to which all that are equal contribute
    if type(fn) is types.WrapperDescriptorType and fn.__objclass__ is np.ndarray and hasattr(operator, fn.__name__):
        fn, args = getattr(operator, fn.__name__), (plain_array(args[0]), *args[1:])  # not what a subclass makes of it
    rule = table.find(fn) if is_hashable(fn) else None
    if is_opaque(out):
        taint(out)
    if rule is None:
        taint(out, *args, *kwargs.values(), getattr(fn, "__self__", None))
    if fn is operator.floordiv or (rule is not None and rule.kind in ("zero", "straight_through")):
        return _still(out) if gives_argument(out, args) else out
    if rule is not None and rule.kind == "refuse":
        if not has_new(args, kwargs, out):
            return out
        raise error("S2S202", name=name_of(fn), reason=rule.reason)
    if not has_new(args, kwargs, out):
        return out
    if rule is None and not (is_a(fn, (*KNOWN, PublicDerivative)) or gives_gradient(fn) or id(fn) in _PRIMITIVES):
        raise error("S2S201", name=name_of(fn))
    for recorder in ACTIVE:
        if recorder.depends(args) or recorder.depends(kwargs):
            recorder.call(fn, args, kwargs, out)
    return out


def _is_tied(out: Any, args: tuple[Any, ...]) -> bool:
    """Whether a number is equal to another one among those that it was chosen from."""
    among = args[0] if len(args) == 1 else args
    return is_number(out) and is_a(among, (list, tuple)) and any(
        other is not out and type(other) in REAL and other == out for other in among)


def primitive_of(text: str, name: str, scope: dict[str, Any]) -> Any:
    """A function with source that is one step of a recording."""
    scope = {"vjp": vjp, "jvp": jvp, "np": np, "__name__": "s2s.recorded.steps", **scope}
    function = define(name, text, scope)
    _PRIMITIVES[id(function)] = function
    return function


TOOLS: dict[str, Callable[..., Any]] = {
    "binary": binary,
    "unary": unary,
    "inplace": inplace,
    "get_item": get_item,
    "set_item": set_item,
    "get_attribute": get_attribute,
    "set_attribute": set_attribute,
    "iterate": iterate,
    "iterate_parts": iterate_parts,
    "see": see,
    "written": written,
    "compare": compare,
    "evaluate": evaluate,
    "call": call,
    "call_method": call_method,
    "slice": builtins.slice,
}

INSTALLER = Installer(TOOLS)
