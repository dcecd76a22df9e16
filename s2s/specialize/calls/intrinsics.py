"""Intrinsics: calls of known functions that the specialiser resolves itself instead of leaving them to a rule.

Each is a handler: it takes the call, and gives the atom of the result, or None where the call is to be treated as any
other.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
import functools
import importlib
import inspect
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.folding import MOST_LISTED, NotFolded, call_pure, plain
from s2s.analysis.abstract.lattice import is_number, may_be_of_numpy, may_be_of_python, truth, type_of
from s2s.analysis.functions import makes_new
from s2s.builder import cotangents
from s2s.builder.builder import is_constant_kind
from s2s.core import ir, ops
from s2s.core.array_classes import compiled_for, has_memory
from s2s.core.closures import Closure
from s2s.core.inspection import class_attribute, has_hook, is_hashable, is_sealed, public_module, read_runs
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    Known,
    ListOf,
    Mapping,
    Scalar,
    Sequence,
    field_of,
    has_fields,
    type_of_joined,
)
from s2s.models import iterating
from s2s.specialize import logs
from s2s.specialize.calls import process
from s2s.specialize.calls.subscripts import bound_of_slice
from s2s.specialize.frames import MISSING, in_rule, name_of
from s2s.specialize.heap import variables
from s2s.specialize.heap.classes import is_setting, is_taken_by_value
from s2s.specialize.heap.items import few_iterations
from s2s.specialize.heap.live_data import ask_for_data, noted
from s2s.specialize.heap.live_objects import Place
from s2s.specialize.heap.making import is_view
from s2s.specialize.site import CallSite, Handler
from s2s.versions import facts
from s2s.versions.facts import is_replaceable
from s2s.versions.signature import has_attributes as is_user_object


def _read_attribute(site: CallSite) -> ir.Atom | None:
    receiver, attribute = site.args[0], site.args[1]
    value = site.value(receiver)
    if not isinstance(attribute, ir.Const):
        return None
    if len(site.args) == 3:
        return _attribute_or(site)
    if isinstance(value, Known):
        return _known_attribute(site, receiver, value.value, attribute)
    if isinstance(value, Closure) and attribute.value == "__annotations__" and site.specializer.is_own(site.frame.fn):
        raise site.refuse(value.function.name, "the annotations of a nested function are not kept")
    bound = bound_of_slice(site, receiver, attribute.value)
    if bound is not None:
        return bound
    flags = site.context.definition(receiver, getattr)
    if flags is not None and flags[1] == ir.Const("flags") and isinstance(site.value(flags[0]), Array):
        return _flag(site, flags[0], receiver, attribute)
    kind = type_of(value)
    if site.specializer.trying and kind is not None and not isinstance(value, Mapping) and not facts.has(
        kind, attribute.value).folded(site.guards):
        raise site.raised(AttributeError(f"'{kind.__name__}' object has no attribute '{attribute.value}'"))
    if isinstance(value, Sequence) and has_fields(value.type) and type(attribute.value) is str:
        member = facts.member(value.type, attribute.value).folded(site.guards)
        place = field_of(value.type, attribute.value)
        if place is not None:
            return site.write(operator.getitem, receiver, ir.Const(place))
        if isinstance(member, property) and isinstance(member.fget, types.FunctionType):
            return site.result_of(member.fget, [receiver])
    return None


def _has_own_parameters(kind: Any) -> bool:
    """Whether a class is made with parameters, ``list[int]``, by code that is not foreign."""
    return class_attribute(kind, "__class_getitem__") is not MISSING and not (
        has_hook(kind, "__class_getitem__") or has_hook(type(kind), "__getitem__"))


def _flag(site: CallSite, array: ir.Atom, flags: ir.Atom, attribute: ir.Const) -> ir.Atom | None:
    """``a.flags.writeable`` and its kin; what a function of NumPy has just made is writeable."""
    if not isinstance(getattr(np.zeros(1).flags, attribute.value, None), bool):
        return None
    made = site.context.definitions.get(array) if isinstance(array, ir.Var) else None
    if attribute.value == "writeable" and makes_new(made):
        return ir.Const(True)
    return site.builder.let(ir.Call(ir.Const(getattr), (flags, attribute)), Scalar(bool), site.name, site.span)


def _attribute_or(site: CallSite) -> ir.Atom | None:
    """``getattr(value, name, default)`` where it is known whether values of this kind have the attribute."""
    value, attribute = site.value(site.args[0]), site.args[1]
    assert isinstance(attribute, ir.Const)
    owner = value.value if isinstance(value, Known) else type_of(value)
    if owner is None or type(attribute.value) is not str or read_runs(owner, attribute.value):
        return site.call(getattr, site.args).leave()
    fact = facts.attribute(owner, attribute.value, site.guards)
    if fact.is_missing:
        fact.folded(site.guards)
        return site.args[2]
    return site.result_of(getattr, site.args[:2])


def _static_attribute(site: CallSite) -> ir.Atom | None:
    """``inspect.getattr_static`` of a number or array, which have no attributes but those of their class, or of an
    object that is known."""
    value, attribute = site.value(site.args[0]), site.args[1]
    kind = type_of(value)
    if kind is None or not isinstance(attribute, ir.Const):
        return None
    if isinstance(value, Known) and isinstance(value.value, type):
        found = facts.static(value.value, attribute.value).folded(site.guards)
    elif isinstance(value, Known):
        found = inspect.getattr_static(value.value, attribute.value, MISSING)
    else:
        found = next((vars(c)[attribute.value] for c in kind.__mro__ if attribute.value in vars(c)), MISSING)
    if found is MISSING and len(site.args) < 3:
        raise site.raised(AttributeError(attribute.value))
    return site.args[2] if found is MISSING else ir.Const(found)


def _constant(site: CallSite, fn: Any) -> ir.Atom | None:
    """A function that is made of constants."""
    if not all(isinstance(a, ir.Const) and type(a.value) in (str, int) for a in site.args):
        return None
    return ir.Const(fn(*(a.value for a in site.args if isinstance(a, ir.Const))))


def _reflected(site: CallSite, fn: Any) -> ir.Atom | None:
    """What a function of ``inspect`` says of a function that is known."""
    known = site.args[0].value if len(site.args) == 1 and isinstance(site.args[0], ir.Const) else None
    if not isinstance(known, types.FunctionType):
        return None
    inner: Any = known
    while type(inner) is types.FunctionType:
        if "__signature__" in vars(inner):
            return None
        inner = vars(inner).get("__wrapped__")
    if inner is not None:
        return None
    facts.signature(known, site.guards).folded(site.guards)
    return ir.Const(fn(known))


def _known_attribute(site: CallSite, receiver: ir.Atom, owner: Any, attribute: ir.Const) -> ir.Atom | None:
    if type(attribute.value) is not str or read_runs(owner, attribute.value):
        return site.call(getattr, [receiver, attribute]).leave()
    if isinstance(owner, types.ModuleType) and is_replaceable(owner):
        stored = variables.stored(site, variables.of_module(site, owner, attribute.value))
        if stored is not None:
            return stored
    fact = facts.attribute(owner, attribute.value, site.guards)
    if fact.is_missing:
        fact.folded(site.guards)
        raise site.raised(AttributeError(f"{name_of(owner)} has no attribute {attribute.value!r}"))
    logs.note_read(site.specializer, fact, site.span, is_attribute=True)
    site.specializer.read_statics.add(attribute.value)
    made = ir.Call(ir.Const(getattr), (receiver, attribute))
    if fact.is_(is_sealed):
        return site.call(getattr, [receiver, attribute]).leave()
    if site.specializer.unsure and fact.is_(is_setting) and is_replaceable(owner) and not in_rule(site.frame):
        return site.builder.let(made, UNKNOWN, site.name, site.span)
    if fact.is_made_anew and not in_rule(site.frame):
        return site.builder.let(made, UNKNOWN, site.name, site.span)
    is_number = fact.is_(lambda found: issubclass(type(found), (int, float)))
    if isinstance(owner, (inspect.Signature, inspect.Parameter)):
        return ir.Const(fact.folded(site.guards))
    if fact.is_(is_taken_by_value) or (is_number and (in_rule(site.frame) or isinstance(owner, (enum.Enum, np.dtype)))):
        return ir.Const(fact.folded(site.guards))
    if isinstance(owner, types.ModuleType) and fact.is_(is_user_object) and not in_rule(site.frame):
        place = Place("module", (owner.__name__, attribute.value), None)
        return site.specializer.live_objects.refer(site.builder, fact, place, site.name)
    if is_replaceable(owner) and not in_rule(site.frame):
        place = Place.of(owner).step(attribute.value)
        live = site.specializer.live_objects
        return live.value_at(site.builder, fact, place, attribute.value, site.name, folds=False)
    if fact.is_(lambda found: isinstance(found, (list, dict))) and not facts.is_stable(owner):  # as sys.argv: live
        return site.builder.let(made, UNKNOWN, site.name, site.span)
    value, found = fact.described(site.guards, site.context.assumed.data)
    return noted(site.context, site.builder.let(made, value, site.name, site.span), found)


def _map(site: CallSite) -> ir.Atom | None:
    columns = [site.items(a) for a in site.args[1:]]
    if any(c is None for c in columns):
        return None
    rows = zip(*columns)  # type: ignore[arg-type]
    made = [site.apply_atom(site.args[0], list(row), {}) for row in rows]
    return site.write(ops.make_list, *made)


def _dict_view(which: str) -> Handler:
    def read(site: CallSite) -> ir.Atom | None:
        value = site.value(site.args[0])
        if not isinstance(value, Mapping):
            return None
        items = [site.compute(operator.getitem, site.args[0], ir.Const(k)) for k in value.keys]
        if which == "values":
            return site.compute(ops.make_list, *items)
        keys = [ir.Const(k) for k in value.keys]
        if which == "keys":
            return site.compute(ops.make_list, *keys)
        pairs = [site.compute(ops.make_tuple, k, i) for k, i in zip(keys, items, strict=True)]
        return site.compute(ops.make_list, *pairs)

    return read


def _dict_get(site: CallSite) -> ir.Atom | None:
    value = site.value(site.args[0])
    if not isinstance(value, Mapping) or not isinstance(site.args[1], ir.Const) or not is_hashable(site.args[1].value):
        return None
    if site.args[1].value in value.keys:
        return site.compute(operator.getitem, site.args[0], site.args[1])
    return site.args[2] if len(site.args) > 2 else ir.Const(None)


def _make_list(kind: Any) -> Handler:
    make = ops.make_list if kind is list else ops.make_tuple

    def convert(site: CallSite) -> ir.Atom | None:
        if not site.args:
            return site.write(make)
        if isinstance(site.args[0], ir.Const) and type(site.args[0].value) is frozenset:
            return site.write(make, *map(ir.Const, site.args[0].value))
        if kind is tuple and type_of(site.value(site.args[0])) is tuple:
            return site.args[0]  # type: ignore[no-any-return]
        items = site.items(site.args[0])
        iterations = few_iterations(site.context, site.args[0]) if kind is tuple else None
        if iterations is not None:
            return site.write(make, *map(ir.Const, iterations))
        if items is None and kind is tuple and is_view(site, site.args[0]):
            return site.apply(tuple, site.inline(iterating.listed, [site.args[0]]))
        if items is None or isinstance(site.value(site.args[0]), Known):
            return None
        return site.write(make, *items)

    return convert


def _import(site: CallSite) -> ir.Atom | None:
    assert isinstance(site.args[0], ir.Const)
    found = facts.module(site.args[0].value).folded(site.guards)
    if isinstance(found, ImportError):
        raise site.raised(found)
    if found is not None:
        return ir.Const(found)
    return site.keep()


def _power(site: CallSite) -> ir.Atom | None:
    """In a rule body ``a ** 1`` is ``a``: what the derivative of a square leaves."""
    return site.args[0] if in_rule(site.frame) and site.args[1] in (ir.Const(1), ir.Const(1.0)) else None


def _without_error(site: CallSite, operation: Callable[..., Any], is_safe: Callable[[Any], bool]) -> ir.Atom | None:
    """``rt.quotient`` and ``rt.power`` as the operators that they are, where these cannot raise: for NumPy's numbers
    and arrays, and for divisors and exponents that are known and fit: a power that is within the range of numbers has a
    derivative there too where its exponent is at least 1, and one of a smaller exponent is small."""
    fits = is_literal_number(site.args[1]) and not is_literal_number(site.args[0]) and is_safe(literal(site.args[1]))
    if not fits and all(map(may_be_of_python, map(site.context.value, site.args))):
        return fold_number(operation, site.args) if all(map(is_literal_number, site.args)) else None
    return _operation(site, operation, site.args)


def _operation(site: CallSite, operation: Any, args: list[ir.Atom]) -> ir.Atom:
    """An operation in place of another one."""
    handler = HANDLERS.get(operation)
    found = None if handler is None else handler(dataclasses.replace(site, fn=operation, args=args))
    return found if found is not None else site.write(operation, *args)


def _quotient_again(site: CallSite) -> ir.Atom | None:
    """``rt.quotient_again(c, a, b)``: the divisor may be 0 where ``a / b`` was not computed with Python's numbers. A
    length is not taken for 0: at worst the derivative raises."""
    c, a, b = site.args
    may_be_zero = may_be_of_numpy(site.value(a)) and may_be_of_python(site.value(b), float, complex)
    if may_be_zero or is_literal_number(b):
        return _operation(site, rt.quotient, [c, b])
    return site.write(operator.truediv, c, b)


def _or(site: CallSite) -> ir.Atom | None:
    """In a rule body a condition that is known decides or goes."""
    for one, other in (site.args, site.args[::-1]):
        if in_rule(site.frame) and isinstance(one, ir.Const) and isinstance(one.value, bool):
            return one if one.value else other
    return None


def _check_kind(site: CallSite) -> ir.Atom | None:
    """Whether a container is as it was: a reverse sweep is given one that was put together of the parts it is to find
    the cotangents of, which nothing else changes."""
    made = site.context.definitions.get(site.args[0])  # type: ignore[arg-type]
    return ir.Const(None) if isinstance(made, ir.Call) and made.fn in _DISPLAYS else None


_DISPLAYS = tuple(map(ir.Const, (ops.make_list, ops.make_tuple, ops.make_dict)))


def _unbroadcast(site: CallSite) -> ir.Atom | None:
    if public_module(site.frame.fn) == rt.__name__:
        return None
    return cotangents.unbroadcast(site.builder, site.args[0], site.args[1], site.span)


def _concatenate_displays(site: CallSite) -> ir.Atom | None:
    """The sum of two lists or tuples of known length is a display of all items."""
    values = [site.value(a) for a in site.args]
    kinds = [type_of_joined(v.type, "__add__") if isinstance(v, Sequence) else None for v in values]
    if kinds[0] not in (tuple, list) or kinds[0] is not kinds[1]:
        return None
    if sum(len(v.items) for v in values if isinstance(v, Sequence)) > MOST_LISTED:
        return None
    items = [i for a in site.args for i in site.items(a) or ()]
    return site.write(ops.make_tuple if kinds[0] is tuple else ops.make_list, *items)


def _repeat_display(site: CallSite) -> ir.Atom | None:
    """A list or tuple of known length times a known number is a display of the items repeated. In a rule body a
    factor of one goes."""
    if in_rule(site.frame):
        for one, other in (site.args, site.args[::-1]):
            if one == ir.Const(1.0) and isinstance(site.value(other), (Array, Scalar)):
                return other
    for items, count in (site.args, site.args[::-1]):
        value = site.value(items)
        kind = type_of_joined(value.type, "__mul__") if isinstance(value, Sequence) else None
        if kind not in (tuple, list):
            continue
        assert isinstance(value, Sequence)
        if isinstance(count, ir.Const) and type(count.value) is int:
            if len(value.items) * count.value > MOST_LISTED:
                return None
            made = (site.items(items) or []) * count.value
            return site.write(ops.make_tuple if kind is tuple else ops.make_list, *made)
        if kind is tuple and site.is_varied and type_of(site.value(count)) is int:
            return site.inline(iterating.repeated_tuple, [items, count])
    return None


def _known_item(site: CallSite) -> ir.Atom | None:
    """An item that a container of known length or keys does not have raises the user's error when it is read."""
    known, key = site.value(site.args[0]), site.args[1]
    if process.is_modules(site.context, site.args[0]):
        return process.module_item(site.specializer, key)
    if not isinstance(key, ir.Const):
        ask_for_data(site.context, site.args[0], ())
        return None
    if isinstance(known, Known) and isinstance(known.value, type) and _has_own_parameters(known.value):
        return ir.Const(known.value[key.value])  # type: ignore[index]
    if isinstance(known, Mapping) and key.value not in known.keys:
        if site.specializer.trying:
            raise site.raised(KeyError(key.value))
        return site.keep()
    if isinstance(known, Sequence) and type(key.value) is int and known.type is not slice:
        if not -len(known.items) <= key.value < len(known.items):
            if site.specializer.trying:
                raise site.raised(IndexError(f"{known.type.__name__} index out of range"))
            return site.keep()
    return None


def _merge_dict(site: CallSite) -> ir.Atom | None:
    return site.specializer.items.dict_display(site.args, {}, site.builder, site.span, site.name)


def _sorted(site: CallSite) -> ir.Atom | None:
    """Known items are sorted now."""
    items = site.items(site.args[0])
    if items is None or not all(isinstance(i, ir.Const) for i in items):
        return None
    try:
        ordered = call_pure(sorted, [[plain(i.value) for i in items if isinstance(i, ir.Const)]])
    except NotFolded:
        return None
    except Exception as problem:
        raise site.raised(problem) from None
    return site.write(ops.make_list, *map(ir.Const, ordered))


def _quantified(decides: bool, site: CallSite) -> ir.Atom | None:
    """``any`` (which True decides) or ``all`` (which False decides) of items whose truth is known. An item that is not
    known is left out of account where a later one decides: a number, whose truth is no error."""
    items = site.items(site.args[0])
    if items is None or any(map(site.context.is_virtual, items)):
        return None
    values = [site.value(i) for i in items]
    for value in values:
        found = truth(value)
        if found is decides:
            return ir.Const(decides)
        if found is None and not isinstance(value, Scalar):
            return None
    return ir.Const(not decides) if all(truth(v) is not None for v in values) else None


def _of_source(fn: Any, site: CallSite) -> ir.Atom | None:
    """In a rule body the shape or size of an array is read from an argument that has the same shape."""
    if not in_rule(site.frame):
        return None
    like = site.context.shape_source(site.args[0])
    if fn is np.size and isinstance(site.value(like), Array) and has_memory(compiled_for()):
        return site.compute(getattr, like, ir.Const("size"))
    return site.compute(fn, like) if like != site.args[0] else None


def _unpack(site: CallSite) -> ir.Atom | None:
    """``a, *b, c = value`` of a container of known length."""
    before, after = site.args[1], site.args[2]
    is_view = any(site.context.definition(site.args[0], view) is not None for view in (zip, enumerate, reversed))
    if not is_view and not isinstance(site.value(site.args[0]), (Sequence, Mapping)):
        return None
    items = site.items(site.args[0])
    if items is None:
        return None
    assert isinstance(before, ir.Const) and isinstance(after, ir.Const)
    count = before.value if after.value is None else before.value + after.value
    if len(items) < count or (after.value is None and len(items) != count):
        if site.specializer.trying:
            raise site.raised(ValueError(f"{len(items)} values to unpack (expected {count})"))
        return site.keep()
    if after.value is None:
        return site.compute(ops.make_tuple, *items)
    stop = len(items) - after.value
    middle = site.compute(ops.make_list, *items[before.value : stop])
    return site.compute(ops.make_tuple, *items[: before.value], middle, *items[stop:])


def map_elements(f: Callable[..., Any], *args: Any) -> Any:
    """What ``np.vectorize(f)`` does with arrays of one shape, or that broadcast to one, written out."""
    shape = np.broadcast_shapes(*[np.shape(a) for a in args])
    given = [np.ravel(np.broadcast_to(a, shape)) for a in args]
    made = np.empty(len(given[0]))
    for i in range(len(made)):
        made[i] = f(*[items[i] for items in given])
    return np.reshape(made, shape)


def _as_type(kind: Any, site: CallSite) -> ir.Atom | None:
    """``np.float64(a)`` of an array is an array of that type; of what may be a number it is that type's number."""
    value = site.value(site.args[0]) if len(site.args) == 1 else None
    if value is None or isinstance(value, Known):
        return None
    if not isinstance(value, Array) or not value.shape:
        if not site.context.is_varied(site.args[0]):
            return None
        made = site.apply(np.asarray, *site.args, dtype=ir.Const(np.dtype(kind)))
        return site.result_of(operator.getitem, [made, ir.Const(())])
    return site.write(np.asarray, site.args[0], ir.Const(np.dtype(kind)))  # itself, of that type


def _ndindex(site: CallSite) -> ir.Atom | None:
    """``np.ndindex(n, m)``: a list of pairs of integers."""
    is_tuple = len(site.args) == 1 and not is_number(site.value(site.args[0]))
    sizes = site.items(site.args[0]) if is_tuple else site.args
    if sizes is None:
        return None
    pairs = site.builder.let(ir.Call(ir.Const(np.ndindex), tuple(site.args)), UNKNOWN, span=site.span)
    known = ListOf(Sequence(tuple, (Scalar(int),) * len(sizes)))
    return site.builder.let(ir.Call(ir.Const(list), (pairs,)), known, span=site.span)


def _split(site: CallSite) -> ir.Atom | None:
    """The words of a known string."""
    if not all(isinstance(a, ir.Const) for a in site.args):
        return None
    try:
        words = call_pure(str.split, [plain(a.value) for a in site.args if isinstance(a, ir.Const)])
    except Exception:  # it raises again when the program runs
        return None
    if len(words) > MOST_LISTED:
        return None
    return site.write(ops.make_list, *map(ir.Const, words))


def _copied(site: CallSite) -> ir.Atom | None:
    """A copy of what nobody can change is itself."""
    return site.args[0] if _is_immutable(site.value(site.args[0])) else None


def _is_immutable(value: AbstractValue) -> bool:
    if isinstance(value, Sequence):
        return value.type is tuple and all(map(_is_immutable, value.items))
    return isinstance(value, Scalar) or (isinstance(value, Known) and is_constant_kind(value.value))


def _identity(negated: bool, site: CallSite) -> ir.Atom | None:
    """``a is a``: one variable is one object."""
    return ir.Const(not negated) if isinstance(site.args[0], ir.Var) and site.args[0] == site.args[1] else None


def _contains(negated: bool, site: CallSite) -> ir.Atom | None:
    """``"torch" in sys.modules``, ``name in _NAMES``."""
    if process.is_modules(site.context, site.args[1]):
        found = process.module_named(site.specializer, site.args[0])
        return None if found is None else ir.Const((found.value is not None) is not negated)
    answer = process.is_option_of(site.specializer, site.args[0], site.args[1])
    return None if answer is None else ir.Const(answer is not negated)


HANDLERS: dict[Any, Handler] = {
    operator.is_: functools.partial(_identity, False),
    operator.is_not: functools.partial(_identity, True),
    copy.copy: _copied,
    copy.deepcopy: _copied,
    ops.contains: functools.partial(_contains, False),
    ops.not_in: functools.partial(_contains, True),
    str.split: _split,
    np.ndindex: _ndindex,
    **{kind: functools.partial(_as_type, kind) for kind in (np.float64, np.float32, np.float16, np.complex128)},
    ops.unpack: _unpack,
    ops.merge_dict: _merge_dict,
    operator.getitem: _known_item,
    sorted: _sorted,
    any: functools.partial(_quantified, True),
    all: functools.partial(_quantified, False),
    np.shape: functools.partial(_of_source, np.shape),
    np.size: functools.partial(_of_source, np.size),
    operator.pow: _power,
    rt.quotient: functools.partial(_without_error, operation=operator.truediv, is_safe=lambda b: b != 0),
    rt.quotient_again: _quotient_again,
    rt.power: functools.partial(_without_error, operation=operator.pow, is_safe=lambda b: b >= 0),
    operator.or_: _or,
    operator.add: _concatenate_displays,
    operator.mul: _repeat_display,
    rt.unbroadcast: _unbroadcast,
    rt.check_kind: _check_kind,
    getattr: _read_attribute,
    map: _map,
    list: _make_list(list),
    tuple: _make_list(tuple),
    dict.items: _dict_view("items"),
    dict.values: _dict_view("values"),
    dict.keys: _dict_view("keys"),
    dict.get: _dict_get,
    importlib.import_module: _import,
    **{fn: functools.partial(_constant, fn=fn) for fn in (operator.attrgetter, operator.itemgetter)},
    inspect.getattr_static: _static_attribute,
    **{fn: functools.partial(_reflected, fn=fn) for fn in (inspect.signature, inspect.getfullargspec)},
}


def is_literal_number(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Const) and type(atom.value) in (int, float, bool)


def fold_number(fn: Any, args: list[ir.Atom]) -> ir.Const | None:
    """The number that a rule's arithmetic on constants gives: ``2.0 / math.sqrt(math.pi)``."""
    if getattr(fn, "__module__", "") not in ("math", "_operator"):
        return None
    try:
        made = call_pure(fn, map(literal, args))
    except (NotFolded, ValueError, ArithmeticError, TypeError):
        return None
    return ir.Const(made) if type(made) in (int, float) else None


def literal(atom: ir.Atom) -> Any:
    return atom.value if isinstance(atom, ir.Const) else atom
