"""Which statements may run code that nobody has read, and so may store into any array that is not the function's own.

    reg.bump()                a method of an object of which nothing is known: it may change a global array
    print(reg)                calls ``reg.__str__``
    print(3.0), np.sin(x)     run nothing but what is known
    check(n)                  a function whose source stores into variables of its own only

What is asked is the function that is called, and what it is given: a number has no method of the program, an object may
have any.
"""

from __future__ import annotations

import contextlib
import operator
import random
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from s2s import runtime as rt
from s2s.analysis import managers
from s2s.analysis.abstract.draws import is_of_stream
from s2s.analysis.functions import facts
from s2s.core import ir, ops
from s2s.core.closures import Closure
from s2s.core.inspection import by_identity, public_module
from s2s.core.values import AbstractValue, Array, DictOf, IterableOf, Known, ListOf, Mapping, Range, Scalar, Sequence
from s2s.rules import table
from s2s.specialize.keeping import keeps_nothing

if TYPE_CHECKING:
    from s2s.builder.builder import Context

__all__ = ["draws_numbers", "is_dynamic", "is_plain", "may_change_containers", "may_run_unknown", "plain_atoms"]

_DYNAMIC = by_identity(rt.call, rt.call_again, rt.call_method, rt.call_method_again)
_WRITES = by_identity(
    print, str, repr, ascii, format, str.format, str.format_map, str.join, ops.format_string, ops.format_value)
"""Functions that ask objects for a text."""

_WALKS = by_identity(
    next, list, tuple, set, frozenset, dict, sum, any, all, sorted, max, min, str.join, ops.unpack,
    ops.contains, ops.not_in)
"""Functions that ask objects for their items."""

_KEYED = by_identity(operator.getitem, ops.contains, ops.not_in, ops.make_dict, ops.make_set)
"""Functions that ask keys for an index, for a hash or whether they are equal."""

_MAKERS = ("s2s.api", "s2s.directives.differentiable", "s2s.transforms", "s2s.equations")
"""The modules whose functions make functions of those that they are given, and call none."""

_PLAIN = (int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic, np.dtype, type, types.ModuleType)
_SAFE_MANAGERS = by_identity(*managers.SETTINGS, contextlib.nullcontext, contextlib.suppress)


def may_run_unknown(s: ir.Statement, context: Context) -> bool:
    """Whether a statement, the blocks in it left out, may run code that is not known."""
    match s:
        case ir.Let(_, ir.Call() as call):
            return _call_may(call, context)
        case ir.Store("item" | "attr", target):
            value = context.value(target)
            return not isinstance(value, (Array, ListOf, DictOf, Sequence, Mapping)) and not context.is_varied(target)
        case ir.For(iterable=iterable):
            return not _is_walked(iterable, context)
        case ir.With(manager=manager):
            return not _is_safe_manager(manager, context)
        case (
            ir.Let() | ir.Store() | ir.If() | ir.While() | ir.Try() | ir.Assert() | ir.Raise() | ir.Return()
            | ir.Break() | ir.Continue() | ir.Note()
        ):
            return False
        case _ as never:
            assert_never(never)


def may_change_containers(s: ir.Statement, context: Context) -> bool:
    """Whether a statement may change a list or dict that was there before: by code that is not known, or by a method of
    one that was read from outside of the function."""
    if may_run_unknown(s, context):
        return True
    if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call) or not isinstance(s.value.fn, ir.Const):
        return False
    changed = [s.value.args[k] for k in facts(s.value.fn.value).changes if 0 <= k < len(s.value.args)]
    return any(isinstance(a, ir.Var) and _is_read(a, context) for a in changed)


def _is_read(var: ir.Var, context: Context) -> bool:
    """Whether a value, no array, is an argument, or was read from a variable, an object or a container."""
    made = context.definitions.get(var)
    if isinstance(context.value(var), Array):
        return False
    return made is None or isinstance(made, ir.Load) or (
        isinstance(made, ir.Call) and made.fn in (ir.Const(getattr), ir.Const(operator.getitem)))


def _call_may(call: ir.Call, context: Context) -> bool:
    given = list(plain_atoms(call))
    if not isinstance(call.fn, ir.Const):
        return not (draws_numbers(call.fn, context) or (
            _is_method_of_plain(call.fn, context) and all(is_plain(a, context) for a in given)))
    fn = call.fn.value
    if id(call) in context.quiet or draws_numbers(call.fn, context):
        return False
    if id(fn) in _DYNAMIC:
        return True
    known, module = facts(fn), public_module(fn)
    if id(fn) in _WRITES and not all(is_plain(a, context) for a in given):
        return True
    if id(fn) in _WALKS and not all(is_plain(a, context) or _is_walked(a, context) for a in given):
        return True
    if id(fn) in _KEYED and any(_is_object(a, context) for a in _keys(fn, given)):
        return True
    if getattr(fn, "__module__", None) in _MAKERS:
        return False
    if known.calls_back and any(_may_call(a, context) for a in given):
        return True
    if module.split(".")[0] == "s2s" or id(fn) in _WRITES or id(fn) in _WALKS:
        return False
    if known.changes and _is_of_numpy(fn, module):
        bound = isinstance(getattr(fn, "__self__", None), np.ndarray)
        return bound or any(isinstance(context.value(a), Array) or _is_array(a) for a in given)
    if not known.acts and not known.changes:
        return len(call.args) > known.before_copy or any(key is None or key == "out" for key, _ in call.kwargs)
    return not _is_known_to_store_nothing(fn, given, context)


def _keys(fn: Any, given: list[ir.Atom]) -> list[ir.Atom]:
    """The keys among the arguments of a function that asks them."""
    return given[::2] if fn is ops.make_dict else given if fn is ops.make_set else given[1:]


def _is_object(atom: ir.Atom, context: Context) -> bool:
    """Whether a value was read from a variable of which nothing is known: it may have any method."""
    made = context.definitions.get(atom) if isinstance(atom, ir.Var) else None
    return isinstance(made, ir.Load) and not is_plain(atom, context)


def _is_known_to_store_nothing(fn: Any, given: list[ir.Atom], context: Context) -> bool:
    """Whether a call that acts leaves every array alone."""
    if isinstance(fn, type):
        return issubclass(fn, (BaseException, *_PLAIN)) and all(is_plain(a, context) for a in given)
    plain = all(is_plain(a, context) for a in given)
    rule = table.find(fn)
    if rule is not None and rule.by_user:  # its rule says all that it does
        return True
    if rule is not None and rule.kind != "model" and not facts(fn).changes:
        return True
    if isinstance(fn, types.FunctionType):
        return plain and keeps_nothing(fn)
    if isinstance(fn, types.BuiltinFunctionType):  # of a module, not bound to an object
        arrays = any(isinstance(context.value(a), Array) or _is_array(a) for a in given)
        return (fn.__self__ is None or isinstance(fn.__self__, types.ModuleType)) and plain and not arrays
    if type(fn) in (types.MethodDescriptorType, types.WrapperDescriptorType):
        arrays = any(isinstance(context.value(a), Array) or _is_array(a) for a in given)
        return not arrays or not facts(fn).changes
    return type(fn) is np.ufunc and not facts(fn).acts


def _is_of_numpy(fn: Any, module: str) -> bool:
    return module.split(".")[0] in ("numpy", "scipy") or getattr(fn, "__objclass__", None) is np.ndarray


def _is_array(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Const) and isinstance(atom.value, np.ndarray)


_STREAMS = frozenset(
    name for kind in (np.random.Generator, np.random.RandomState, random.Random) for name in dir(kind)
    if not name.startswith("_"))
"""The methods of streams of random numbers. Of a class of the program they are followed; others have them as NumPy."""


def is_dynamic(s: ir.Statement, context: Context) -> bool:
    """Whether a statement is a call of a function that is differentiated when the program runs."""
    return isinstance(s, ir.Let) and s.target is not None and context.is_varied(s.target)


def draws_numbers(callee: ir.Atom, context: Context) -> bool:
    """Whether a function is a method of a stream of random numbers: what it shuffles is noted before the call."""
    if isinstance(callee, ir.Const):
        owner = getattr(callee.value, "__objclass__", type(getattr(callee.value, "__self__", None)))
        is_of_python = any(owner is kind for kind in random.Random.__mro__[:-1])
        return is_of_python or public_module(callee.value).split(".")[0] == "random" or is_of_stream(callee.value)
    found = context.definition(callee, getattr)
    return found is not None and isinstance(found[1], ir.Const) and found[1].value in _STREAMS


def _is_method_of_plain(callee: ir.Atom, context: Context) -> bool:
    """Whether a function was read from a number, a text, a container or an array."""
    found = context.definition(callee, getattr)
    value = context.value(found[0]) if found else None
    return isinstance(value, (Scalar, Sequence, Mapping, Range, ListOf, DictOf)) or (
        isinstance(value, Known) and isinstance(value.value, (str, bytes, int, float)))


def is_plain(atom: ir.Atom, context: Context) -> bool:
    """Whether a value has no method of the program: a number, a text, an array, a container of such."""
    if isinstance(atom, ir.Const):
        return _is_plain_object(atom.value)
    return context.is_varied(atom) or _is_plain_value(context.value(atom)) or _is_text(context.definitions.get(atom))


def _is_text(made: Any) -> bool:
    """Whether a call gives a text: nothing is known of it, but that it has no method of the program."""
    return isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) and id(made.fn.value) in _WRITES


def _is_plain_object(value: Any) -> bool:
    if type(value) in (tuple, list, set, frozenset):
        return all(map(_is_plain_object, value))
    return isinstance(value, _PLAIN) or type(value) is np.ndarray


def _is_plain_value(value: AbstractValue) -> bool:
    match value:
        case Scalar() | Range():
            return True
        case Array():
            return value.dtype.kind != "O"
        case Known():
            return _is_plain_object(value.value)
        case Sequence(_, items) | Mapping(_, items):
            return all(map(_is_plain_value, items))
        case ListOf(item) | IterableOf(item=item):
            return _is_plain_value(item)
        case DictOf(key, item):
            return _is_plain_value(key) and _is_plain_value(item)
    return False


def _may_call(atom: ir.Atom, context: Context) -> bool:
    """Whether a value may be a function of which it is not known that it stores nothing."""
    value = context.value(atom)
    if isinstance(value, Closure):
        return True
    if isinstance(atom, ir.Const):
        fn = atom.value
        if isinstance(fn, types.FunctionType):
            return not keeps_nothing(fn)
        if type(fn) in (types.BuiltinFunctionType, np.ufunc, type(np.sum)):
            return facts(fn).acts or bool(facts(fn).changes)
        return callable(fn) and not isinstance(fn, type)
    return not is_plain(atom, context)


def _is_walked(iterable: ir.Atom, context: Context) -> bool:
    """Whether a loop runs over an array or a container, by functions of Python that hand on its items."""
    value = context.value(iterable)
    walked = (Array, Range, Sequence, Mapping, ListOf, DictOf, Known, IterableOf)
    if isinstance(value, walked) or context.is_varied(iterable):
        return True
    made = context.definitions.get(iterable) if isinstance(iterable, ir.Var) else None
    if not isinstance(made, ir.Call) or not isinstance(made.fn, ir.Const) or facts(made.fn.value).acts:
        return False
    if facts(made.fn.value).calls_back and any(_may_call(a, context) for a in plain_atoms(made)):
        return False
    return all(_is_walked(a, context) or is_plain(a, context) for a in plain_atoms(made))


def plain_atoms(call: ir.Call) -> Iterator[ir.Atom]:
    """The arguments of a call, without stars."""
    for a in (*call.args, *(a for _, a in call.kwargs)):
        yield a.atom if isinstance(a, ir.Star) else a


def _is_safe_manager(manager: ir.Atom, context: Context) -> bool:
    """Whether entering and leaving a manager runs nothing of the program."""
    made = context.definitions.get(manager) if isinstance(manager, ir.Var) else None
    if not isinstance(made, ir.Call) or not isinstance(made.fn, ir.Const):
        return False
    fn = made.fn.value
    if public_module(fn).startswith("s2s.") and made.args and isinstance(made.args[0], ir.Var):
        return _is_safe_manager(made.args[0], context)
    return id(fn) in _SAFE_MANAGERS or public_module(fn).startswith("s2s.") or fn in managers.MAKERS_OF_SAFE
