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
import operator
import types
from array import array as TypedArray
from typing import Any

import numpy as np

from s2s.analysis.functions import facts
from s2s.core import stack
from s2s.core.codes import own_codes
from s2s.core.inspection import is_hashable, is_written, name_of
from s2s.core.operators import OPERATORS
from s2s.core.public import PublicDerivative
from s2s.core.wrappers import machine_code_of_numba, written_in_python
from s2s.directives.decorated import Differentiable, unwrap
from s2s.directives.policies import stop_gradient
from s2s.directives.user_rules import gives_gradient
from s2s.errors import NOWHERE, DifferentiationError, error
from s2s.models import numexpr
from s2s.recorded import chosen, stale, typed
from s2s.recorded.changes import change, changed_by, place_of_out, run
from s2s.recorded.draws import drawn, is_draw
from s2s.recorded.install import code_of
from s2s.recorded.items import (
    get_attribute,
    get_item,
    iterate,
    iterate_parts,
    noted_item,
    see,
    set_attribute,
    set_item,
)
from s2s.recorded.kernels import is_kernel, kernel, of_own_arrays, overridden, public
from s2s.recorded.kinds import (
    CONTAINERS,
    REAL,
    flat,
    is_numeric,
    is_ours,
    is_plain,
    is_python,
    method_called,
    names_of,
    plain_array,
    plain_integer,
    python_of,
)
from s2s.recorded.noted import PRIMITIVES, noted, primitive_of, still
from s2s.recorded.objects import of_each, of_objects, takes_objects
from s2s.recorded.places import note_unseen
from s2s.recorded.prepared import is_read_as_array, is_read_by_functions, prepared, reads_items
from s2s.recorded.probed import is_unknown
from s2s.recorded.recorder import is_a, is_number, number_type
from s2s.recorded.records import call_of_name, fields, filled, is_filled, listed, moved, moves
from s2s.recorded.solutions import ROLES, is_of_model, model_of
from s2s.recorded.state import (
    ACTIVE,
    as_constants,
    before_change,
    check_read,
    checked,
    depends,
    handed_on,
    has_new,
    hides,
    keep_given,
    kept,
    taint,
    written,
)
from s2s.recorded.tools import INSTALLER, TOOLS
from s2s.recorded.typed import OVER_MEMORY, over_memory
from s2s.recorded.unreached import is_unreached, noted_call
from s2s.recorded.values_read import LARGE, positions_unread
from s2s.recorded.watch import watched_text
from s2s.recorded.wrapped import get_parts, has_python, is_of_numba, loops_of
from s2s.rules import table

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
_PLAIN = frozenset({np.ndarray, float, np.float64, int, bool})
"""Types of operands that leave what an operator does to Python or NumPy."""

_OF_ATTRIBUTES = frozenset({"__getattribute__", "__setattr__", "__delattr__", "__init_subclass__", "__set_name__"})
"""Methods of ``object`` that compute nothing."""

_TRANSPARENT = frozenset({"s2s.recorded.entry"})
"""Modules whose functions compute with these operations."""


# --- operators ------------------------------------------------------------------------------------------------------


def binary(op: Any, a: Any, b: Any) -> Any:
    """``op(a, b)``."""
    if not ACTIVE:
        return op(a, b)
    chosen.check(op, (a, b), {})
    if type(a) in REAL and type(b) in REAL and op in _ARITHMETIC:
        out = op(a, b)
        if type(out) is not complex and not (op is operator.pow and a <= 0):
            for recorder in ACTIVE:
                recorder.arithmetic(op, a, b, out)
            return out
        return noted(op, (a, b), {}, out)
    if type(a) in _PLAIN and type(b) in _PLAIN and (out := _elementwise(op, (a, b))) is not NotImplemented:
        return out
    names = names_of(op)
    # a float multiplies by any integer itself, whatever methods that has
    a, b = plain_integer(a, *names), plain_integer(b, *(() if type(a) is float else names))
    if is_numeric(a, *names) and is_numeric(b, *names):
        return _compute(op, (a, b), {})
    for one, other in ((a, b), (b, a)):
        if type(one) in (list, tuple) and is_a(other, np.ndarray) and is_numeric(other, *names) and depends(a, b):
            array = call(np.asarray, one)
            return _compute(op, (array, b) if one is a else (a, array), {})
    if is_a(a, np.generic) and is_a(b, np.ndarray) and op in OPERATORS and not overridden((b,), op):
        return _compute(OPERATORS[op].ufunc, (a, b), {})  # which NumPy's numbers call, whatever class the array has
    if (is_a(a, TypedArray) or is_a(b, TypedArray)) and depends(a, b):
        return typed.joined(op, a, b)
    if type(a) in (list, tuple) and type(b) in (list, tuple, int):
        return op(a, b)  # it holds the very objects that they hold
    INSTALLER.see(a)
    INSTALLER.see(b)
    if is_a(a, (str, bytes)):
        written(b)
    of_numpy = is_a(a, (np.ndarray, np.generic))
    if of_numpy and is_read_as_array(type(b)):
        return binary(op, a, call_method(b, "__array__"))
    out = op(a, b)
    is_seen = (is_ours(a, op) or is_ours(b, op)) and not (of_numpy and is_a(out, (np.ndarray, np.generic)))
    if not is_seen and (depends(a, b) or hides((a, b), {})):
        return handed_on(op, (a, b), {}, out)
    return out


def unary(op: Any, a: Any) -> Any:
    """``op(a)``."""
    if not ACTIVE:
        return op(a)
    chosen.check(op, (a,), {})
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
    chosen.check(op, (a, b), {})
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
    if is_a(a, TypedArray) and depends(a, b):
        return typed.joined(op, a, b)
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


def decided(outcome: Any) -> bool:
    """Whether a test holds, as the branches that are taken are a part of a recording's shape."""
    holds = bool(outcome)
    if ACTIVE:
        ACTIVE[0].trace.append(holds)
    return holds


# --- items and attributes -------------------------------------------------------------------------------------------


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
    watched = watched_text(text, "<string>", fn.__name__, TOOLS) if is_a(text, (str, types.CodeType)) else None
    if watched is None and (hides(tuple(given), {}) or any(map(depends, given))):
        raise error("S2S201", name=f"the code that `{fn.__name__}` runs")
    for scope in given:
        INSTALLER.see(scope)
    return fn(text if watched is None else watched, *given)


def call_in_frame(fn: Any, outer: dict[str, Any], local: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A call of a function that may be ``numexpr.evaluate``, where there are these globals and locals."""
    if not numexpr.is_evaluate(fn):
        return call(fn, *args, **kwargs)
    scopes = [*args[1:3], *(kwargs[name] for name in ("local_dict", "global_dict") if kwargs.get(name) is not None)]
    if not scopes:
        kwargs, scopes = {**kwargs, "local_dict": local, "global_dict": outer}, [local, outer]
    names = numexpr.names_in(args[0] if args else kwargs["ex"])
    values = [next((scope[name] for scope in scopes if name in scope), None) for name in names or ()]
    if not ACTIVE or not depends(values):
        return fn(*args, **kwargs)
    function = numexpr.function_of_text(args[0] if args else kwargs["ex"])
    if function is None or kwargs.get("out") is not None:
        raise error("S2S201", name="numexpr.evaluate")
    return _call(function, tuple(values), {})


def _call(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if id(fn) in _PASSIVE:
        return fn(*args, **kwargs)
    kind = type(fn)
    code = machine_code_of_numba(fn)
    if code is not None:
        if depends(args, kwargs):
            raise error("S2S201", name=code[0], hint=code[1])
        with own_codes():  # Numba compiles it when it is called first
            return fn(*args, **kwargs)
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
        if _is_of_its_class(fn):
            return _call(fn.__self__, args, kwargs)
        if is_a(fn.__self__, functools.partial):
            return _call(fn.__self__.func, (*fn.__self__.args, *args), {**fn.__self__.keywords, **kwargs})
    if kind in (types.WrapperDescriptorType, types.MethodWrapperType) and fn.__name__ in _OF_ATTRIBUTES:
        kept(*args)
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
        if depends(args, kwargs):
            return _call(fn.__wrapped__, args, kwargs)
        kept(*args, *kwargs.values())
        return fn(*args, **kwargs)
    if is_a(fn, Differentiable):
        with chosen.inside(fn):
            return _call(unwrap(fn), args, kwargs)
    if isinstance(fn, type):
        return _make(fn, args, kwargs)
    if is_a(fn, PublicDerivative):
        return _call_derivative(fn, args, kwargs)
    if kind is operator.attrgetter or kind is operator.itemgetter:
        return get_parts(fn, *args)
    if kind is operator.methodcaller:
        name, given, named = method_called(fn)
        return call_method(args[0], name, *given, **named)
    if is_a(fn, np.ufunc) and depends(args, kwargs) and not kwargs and (function := python_of(fn)) is not None:
        return of_each(function, args, fn.nout)
    if is_a(fn, np.ufunc) or gives_gradient(fn):
        return _compute(fn, args, kwargs)
    if is_of_numba(fn) and not (depends(args, kwargs) and has_python(fn)):
        looped = loops_of(fn, args, kwargs)
        if looped is not None:
            return call(looped[0], *looped[1])
        with own_codes():  # Numba compiles the function when it is called first
            return _compute(fn, args, kwargs)
    if issubclass(kind, (types.BuiltinFunctionType, types.MethodWrapperType)):
        same = written_in_python(fn)
        if same is not None:
            return _call(same, args, kwargs)
        receiver = fn.__self__
        if is_a(receiver, dict) and fn.__name__ in ("get", "setdefault", "pop") and args and (
            stale.is_remembered(receiver, args[0], depends)
        ):
            return _without(receiver, fn.__name__, *args)
        if is_a(receiver, (np.ndarray, np.generic)):
            return _call_array_method(receiver, fn, args, kwargs)
        if type(receiver) is memoryview and depends(receiver):
            return call_of_name(receiver, fn, args, kwargs)
        if is_a(receiver, TypedArray) and depends(receiver, args):
            return typed.call_of(receiver, fn, args, kwargs)
        if is_number(receiver):
            return _compute(getattr(number_type(receiver), fn.__name__), (receiver, *args), kwargs, fn)
        if fn.__name__ == "__new__" and (receiver is float or receiver is complex) and not kwargs and args:
            return _number(receiver, *args)
        if fn.__name__ == "__new__" and args and is_a(receiver, type) and receiver in CONTAINERS:
            items, kwargs = prepared(receiver, args[1:], kwargs)  # C code reads them
            return fn(args[0], *items, **kwargs)
        return _compute(fn, args, kwargs)
    if kind is types.MethodDescriptorType and args and is_a(args[0], (np.ndarray, np.generic)):
        return _call_array_method(args[0], fn.__get__(args[0]), args[1:], kwargs)
    if kind is type(np.sum) and _is_followed(fn, args):
        return _call_python(fn._implementation, fn._implementation, args, kwargs)
    if numexpr.is_program(fn) and depends(args) and kwargs.get("out") is None:
        function = numexpr.function_of_program(fn)
        if function is not None:
            return _call(function, args, {})
    own = getattr(kind, "__call__", None)  # noqa: B004 (it is looked at)
    if type(own) is types.FunctionType:
        return _call_python(fn, own, (fn, *args), kwargs)
    if own is not None and not isinstance(own, types.WrapperDescriptorType) and table.find(own) is not None:
        return _compute(own, (fn, *args), kwargs)
    if kind is not type(np.sum) and has_python(fn) and depends(args, kwargs):
        return _call(fn.py_func, args, kwargs)  # compiled from Python code
    return _compute(fn, args, kwargs)


def _is_followed(fn: Any, args: tuple[Any, ...]) -> bool:
    """Whether the Python code of a function of NumPy's says what it does with its arguments, and no rule: it calls
    back, or asks objects for arrays and for methods of the function's name, as ``np.mean`` does a masked array."""
    if all(map(_is_plain_part, args)):
        return table.find(fn) is None
    if type(fn._implementation) is types.FunctionType and any(
        is_a(arg, np.ndarray) and type(getattr(type(arg), fn.__name__, None)) is types.FunctionType for arg in args[:1]
    ):
        return True
    if any(is_a(arg, np.ndarray) or not is_read_by_functions(type(arg)) for arg in flat(args) if overridden((arg,))):
        return False
    calls_back = args and is_a(args[0], (types.FunctionType, types.MethodType, functools.partial))
    if calls_back or table.find(fn) is None:
        return True
    return overridden(args) and type(fn._implementation) is types.FunctionType and hides(args, {})


def _is_of_its_class(slot: Any) -> bool:
    """Whether ``__call__`` of an object is that of its class, and none of a base that the class has replaced."""
    own = getattr(type(slot.__self__), "__call__", None)  # noqa: B004 (it is looked at)
    return own is None or type(own) is not types.FunctionType


def _without(known: dict[Any, Any], name: str, key: Any, default: Any = None) -> Any:
    """A method of a dict where the entry under a key is of an earlier call."""
    if name == "setdefault":
        del known[key]
        known[key] = default
    return default


def _call_python(fn: Any, function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of Python code: one step where it has a rule of its own, else watched."""
    chosen.check(function, args, kwargs)
    recorder, key = ACTIVE[0], id(code_of(function))
    recorder.trace.append(key)
    given = args[1:] if fn is not function else args
    if key in recorder.unreached and is_unreached(function, args, kwargs):
        return as_constants(fn, *given, **kwargs)
    if fn is stop_gradient:
        return still(fn(*args, **kwargs))
    if fn is stack.deeper:
        return call(*args, **kwargs)
    if id(function) in ROLES:
        return ROLES[id(function)](*args, **kwargs)
    rule = table.find(function) if id(function) not in PRIMITIVES else None
    if rule is not None and rule.kind == "refuse" and _is_final(function) and depends(args, kwargs):
        raise error("S2S202", name=name_of(fn), reason=rule.reason)
    if id(function) in PRIMITIVES:
        return _compute(function, args, kwargs)
    if rule is not None and _can_compute(function, rule, args, kwargs):
        try:
            return _compute(function, args, kwargs)
        except DifferentiationError as problem:
            if problem.diagnostic.code != "S2S201" or is_of_model(function, rule):
                raise  # else it gives an object, of which a step knows no cotangent
    if is_of_model(function, rule):
        return as_constants(function, *args, **kwargs)
    model = model_of(rule, args, kwargs)
    if rule is not None and model is not None and hides(args, kwargs):
        try:
            return _call(model, (*rule.given, *args), kwargs)
        except DifferentiationError as problem:
            if problem.diagnostic.code == NOWHERE:
                raise  # else it has no derivative of this call, as its own code may have
    if (function.__module__ or "") in _TRANSPARENT:
        return fn(*given, **kwargs)
    INSTALLER.see(fn)
    if not INSTALLER.knows(function):
        _see_all(given, kwargs)
        if depends(args, kwargs):
            return checked(fn, given, kwargs, fn(*given, **kwargs))
    return fn(*given, **kwargs) if recorder.calls is None else noted_call(fn, function, args, kwargs, given)


def _is_final(function: types.FunctionType) -> bool:
    """Whether a refusal of a function holds for its code as well: of one of this package's own, whose code does not say
    what its derivative is, and of one that a user refuses."""
    return (function.__module__ or "").startswith("s2s.models.") or table.is_from_outside(function)


def _can_compute(function: Any, rule: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a Python function with a rule is one step for these arguments; if not, its code is watched: so with one
    that is differentiated as it is written, one that makes objects, of which a step knows no cotangent, one by whose
    argument the rule knows none, and a function of generated code that is given containers."""
    if rule.kind == "refuse" or rule.always or rule.body is function or hides(args, kwargs):
        return False
    if rule.kind != "zero" and (function.__module__ or "").startswith("s2s.runtime") and any(
        is_a(arg, (tuple, list, dict)) and depends(arg) for arg in args
    ):
        return False  # the rules of what generated code calls are by arrays
    if table.is_from_outside(function):
        return True
    refused = [name for name, body in rule.cotangents.items() if table.is_refusal(body)]
    given = rule.params.bind(*args, **kwargs).arguments if refused else {}
    return not any(depends(given.get(name)) for name in refused)


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
    chosen.check(kind, args, kwargs)
    if kind in OVER_MEMORY and args:
        return over_memory(kind, args)
    if is_written(kind) and not reads_items(kind):
        INSTALLER.see(kind)
        _see_all(args, kwargs)
        container = next((base for base in kind.__mro__ if base in CONTAINERS), None)
        if container is not None and not any(type(getattr(kind, n)) is types.FunctionType for n in _MAKERS):
            args, kwargs = prepared(container, args, kwargs)  # C code reads the items
        made = kind(*args, **kwargs)
        if issubclass(kind, (float, complex)) and kind.__new__ in (float.__new__, complex.__new__) and depends(args):
            _note_same(call(number_type(made), *args), made)
        if not is_python(kind) and depends(args, kwargs):
            taint(made)
            keep_given(made, *args, *kwargs.values())
        return made
    if issubclass(kind, (float, np.floating)) and len(args) == 1 and not kwargs and is_number(args[0]):
        out = kind(args[0])
        if out is not args[0] and not is_a(args[0], (complex, np.complexfloating)) and not depends(out):
            _note_same(args[0], out)
        return out
    if kind is complex and depends(args) and len(args) < 3 and not kwargs:
        made = binary(operator.add, args[0], binary(operator.mul, 1j, args[1] if len(args) > 1 else 0.0))
        if made == complex(*args):
            return made
    if issubclass(kind, str):
        written(*args)
        if depends(args):
            note_unseen(ACTIVE, kind)
        return kind(*args, **kwargs)
    if issubclass(kind, (int, float, complex, np.number)):
        check_read(kind, *args)
    if issubclass(kind, (int, np.integer)):
        if depends(args):
            note_unseen(ACTIVE, kind)
        return kind(*args, **kwargs)
    if issubclass(kind, (float, np.floating)) and len(args) == 1 and is_a(args[0], np.ndarray) and (
        args[0].size == 1
    ):
        if not is_plain(args[0], "__float__"):
            return _make(kind, (call_method(args[0], "__float__"),), {})
        return _make(kind, (call_method(plain_array(args[0]), "item"),), {})
    return _compute(kind, args, kwargs)


def _number(base: type, kind: type, *args: Any) -> Any:
    """``float.__new__(kind, ...)``, or that of ``complex``: a number of a class of its own, made of another one."""
    value = call(base, *args)
    made = base.__new__(kind, value)
    _note_same(value, made)
    return made


def _note_same(value: Any, made: Any) -> None:
    """Note that a number is another one in a new object."""
    for recorder in ACTIVE:
        recorder.arithmetic(operator.pos, value, None, made)


_MAKERS = ("__new__", "__init__")


def _call_array_method(receiver: Any, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = fn.__name__
    if is_a(receiver, np.void) and depends(receiver):
        return call_of_name(receiver, fn, args, kwargs)
    if name == "tolist" and is_a(receiver, np.ndarray) and fields(receiver) and depends(receiver):
        return listed(receiver)
    if name == "view" and is_a(receiver, np.generic) and depends(receiver) and _is_class_of_arrays(args):
        return call_method(call(np.array, receiver), "view", *args)
    if name in _IN_PLACE and is_a(receiver, np.ndarray) and depends(receiver, args):
        inplace(_IN_PLACE[name], plain_array(receiver), plain_array(args[0]))
        return receiver
    if name == "setfield":
        return set_item(args[0], plain_array(receiver).getfield(*args[1:], **kwargs), ...)
    if name == "__array_ufunc__":
        ufunc, method, *inputs = args
        return _call(ufunc if method == "__call__" else getattr(ufunc, method), tuple(map(plain_array, inputs)), kwargs)
    if name == "__array_function__":
        function, _, given, named = args
        return _call(function._implementation, given, named)
    if name == "__getitem__" and is_a(receiver, np.ndarray):
        return noted_item(receiver, args[0], fn(*args))
    if name == "__setitem__" and is_a(receiver, np.ndarray):
        return set_item(args[1], plain_array(receiver), args[0])
    if name in ("__deepcopy__", "__copy__"):
        return receiver if is_a(receiver, np.generic) else call_method(receiver, "copy")
    method = getattr(np.ndarray, name, None)
    if method is None:
        chosen.check(getattr(type(receiver), name), (receiver, *args), kwargs)
        return fn(*args, **kwargs)
    return _compute(method, (receiver, *args), kwargs, fn)


_IN_PLACE = {f"__{op.__name__}__": op for op in _FUNCTIONAL}
"""Operators that change their first operand, by the names of the methods."""


def _is_class_of_arrays(args: tuple[Any, ...]) -> bool:
    return len(args) == 1 and isinstance(args[0], type) and issubclass(args[0], np.ndarray)


def _see_all(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    for arg in (*args, *kwargs.values()):
        if callable(arg):
            INSTALLER.see(arg)


# --- what computes --------------------------------------------------------------------------------------------------


def _compute(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], bound: Any = None) -> Any:
    """A call of what is not Python code; ``bound`` is the method of the first argument that ``fn`` is."""
    chosen.check(fn, args, kwargs)
    ACTIVE[0].trace.append(getattr(fn, "__name__", ""))
    if is_hashable(fn) and fn in stale.EQUALITIES:
        found = fn(*args, **kwargs)
        stale.check_equality(args, found, depends)
        return found
    if not kwargs and (out := _elementwise(fn, args)) is not NotImplemented:
        return out
    if args and (out := _of_plain_arrays(fn, args, kwargs, bound)) is not NotImplemented:
        return out
    args, kwargs = prepared(fn, args, kwargs)
    if any(name.startswith("overwrite") for name in kwargs):
        known = table.find(fn) if is_hashable(fn) else None
        if known is None or not known.stores:  # what it gives is the same without
            kwargs = {name: False if name.startswith("overwrite") else value for name, value in kwargs.items()}
        elif depends(args, kwargs):
            return call(known.body, *args, **kwargs)
        else:
            for array in (*args, *kwargs.values()):
                if is_a(array, np.ndarray):
                    before_change(array)
    if fn is np.fromiter and is_a(args[0], list):
        return call(np.array, args[0], *args[1:2], **{k: v for k, v in kwargs.items() if k == "dtype"})
    if is_kernel(fn, args):
        return kernel(fn, args, kwargs)
    if overridden(args, fn) and not _only_hands_on(fn):
        return of_own_arrays(fn, args, kwargs, bound)
    out_arg: Any = kwargs.get("out")
    if out_arg is not None and not is_a(fn, np.ufunc) and is_unknown(fn):
        out_arg = None  # it may do anything with it
    if is_a(fn, np.ufunc) and len(args) > fn.nin:
        out_arg, args = args[fn.nin:], args[: fn.nin]
    elif out_arg is None and is_hashable(fn) and (place := place_of_out(fn)) is not None and len(args) > place:
        out_arg, args = args[place], (*args[:place], *([] if len(args) == place + 1 else [None]), *args[place + 1:])
    if is_a(out_arg, tuple) and len(out_arg) == 1:
        out_arg = out_arg[0]
    if out_arg is Ellipsis:  # an array, also of no dimensions
        return call(
            np.asarray, _compute(fn, args, {key: value for key, value in kwargs.items() if key != "out"}, bound)
        )
    if out_arg is not None:
        return _into(fn, args, kwargs, out_arg)
    is_given = depends(args, kwargs)
    if is_given and takes_objects(fn, args):
        return of_objects(fn, args, kwargs)
    is_hidden = not is_a(fn, np.ufunc) and hides((*args, getattr(fn, "__self__", None)), kwargs)
    ACTIVE[0].trace.append(is_given or is_hidden)  # which it may keep
    if is_hidden and not is_a(fn, PublicDerivative):
        if _only_hands_on(fn):
            return run(fn, args, kwargs, bound)
        return handed_on(fn, args, kwargs, run(fn, args, kwargs, bound))
    if is_hashable(fn) and fn in _CONTAINERS and all(_is_read_as_dict(type(arg), fn) for arg in args):
        return run(fn, args, kwargs, bound)  # it holds the very objects that it is given
    if not is_given:
        for array in changed_by(fn, args, kwargs):
            before_change(array)
        out = run(fn, args, kwargs, bound)
        rule = table.find(fn) if is_hashable(fn) else None
        is_constant = rule is not None and rule.kind == "zero"  # of ``np.zeros(3, "f8")`` the text is no number
        if any(recorder.written for recorder in ACTIVE) and not is_constant and has_new(args, kwargs, out):
            check_read(fn, getattr(fn, "__self__", None), *args, *kwargs.values())
        is_read = any(hasattr(type(arg), "__next__") for arg in args) and fn is not next and not reads_items(fn)
        if is_read and has_new(args, kwargs, out):
            raise error("S2S201", name=name_of(fn))  # what it was computed of went by unseen
        return out
    if is_draw(fn, args):
        return drawn(fn, args, kwargs)
    if moves(fn, args, kwargs):
        return moved(fn, args, kwargs)
    if (known := public(fn)) is not fn:
        return noted(known, args, kwargs, run(fn, args, kwargs, bound))
    changed = changed_by(fn, args, kwargs)
    if changed:
        return change(fn, args, kwargs, changed, bound)
    out = run(fn, args, kwargs, bound)
    return filled(args[0], out) if is_hashable(fn) and is_filled(fn, args, out) else noted(fn, args, kwargs, out)


def _elementwise(fn: Any, args: tuple[Any, ...]) -> Any:
    """The result of an elementwise function of numbers and plain arrays of real ones, noted as a step; NotImplemented
    where it is another call."""
    if len(args) != getattr(fn, "nin", len(args)) or (type(fn) is not np.ufunc and not _is_operator(fn)):
        return NotImplemented
    for a in args:
        if type(a) not in _PLAIN or (type(a) is np.ndarray and a.dtype.kind not in "fiub"):
            return NotImplemented
    rule = table.find(fn)
    if rule is None or rule.kind != "partials" or rule.by_user or rule.given:
        return NotImplemented
    out = fn(*args)
    if fn is operator.pow and type(args[0]) is np.ndarray and type(args[1]) is int and args[1] == 2:
        fn, args = np.square, args[:1]  # which is what NumPy calls
    if (type(out) is np.ndarray and out.dtype.kind == "f") or type(out) in (float, np.float64):
        for recorder in ACTIVE:
            recorder.elementwise(fn, args, out, rule.partials if len(ACTIVE) == 1 else None)
        return out
    return out if type(out) in _PLAIN else noted(fn, args, {}, out)


def _is_operator(fn: Any) -> bool:
    """Whether a function of C is one of Python's operators, or of ``math``."""
    return type(fn) is types.BuiltinFunctionType and (fn.__module__ == "math" or fn in OPERATORS)


def _of_plain_arrays(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], bound: Any) -> Any:
    """The result of a function of NumPy's of plain arrays of real numbers and options, noted as a step; NotImplemented
    where it is another call."""
    if (type(fn) is not _OF_NUMPY and type(fn) is not types.MethodDescriptorType) or ACTIVE[0].written:
        return NotImplemented
    rule = table.find(fn)
    if rule is None or rule.kind not in ("linear", "vjp") or rule.by_user or rule.stores or facts(fn).changes:
        return NotImplemented
    if "out" in kwargs or not all(map(_is_plain_part, args)) or not all(map(_is_plain_part, kwargs.values())):
        return NotImplemented
    place = place_of_out(fn)
    if place is not None and len(args) > place:
        return NotImplemented
    out = fn(*args, **kwargs) if bound is None else bound(*args[1:], **kwargs)
    if (type(out) is np.ndarray and out.dtype.kind == "f") or type(out) is np.float64:
        unread = positions_unread(fn, rule, len(args)) if len(ACTIVE) == 1 and out.nbytes >= LARGE else ()
        for recorder in ACTIVE:
            recorder.call(fn, args, kwargs, out, unread)
        return out
    return noted(fn, args, kwargs, out) if depends(args, kwargs) else out


_OF_NUMPY = type(np.sum)
_OPTIONS = frozenset({*_PLAIN, str, type(None)} - {np.ndarray})


def _is_plain_part(value: Any) -> bool:
    """Whether an argument is a plain array of real numbers, a number or an option, or a short sequence of these."""
    kind = type(value)
    if kind is np.ndarray:
        return value.dtype.kind in "fiub"
    return kind in _OPTIONS or (kind in (tuple, list) and len(value) < 64 and all(map(_is_plain_part, value)))


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


_CONTAINERS = (dict, list, tuple, set, frozenset, collections.deque)
_OF_COPIES = frozenset({"__reduce_ex__", "__reduce__", "__getstate__"})


def _is_read_as_dict(kind: Any, fn: Any) -> bool:
    """Whether a container reads an object of a class as a dict: its keys, and for a dict its values."""
    return kind is dict or (fn is not dict and issubclass(kind, dict) and kind.__iter__ is dict.__iter__)


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


TOOLS.update({
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
    "decided": decided,
    "evaluate": evaluate, "call_in_frame": call_in_frame,
    "call": call,
    "call_method": call_method,
    "slice": builtins.slice,
})
