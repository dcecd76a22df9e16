"""Special forms: calls of known functions that the specialiser resolves itself instead of leaving them to a rule.

Each form takes the specialiser, the arguments and the place of the call, and gives the atom of the result, or None
where the call is to be treated as any other.
"""

from __future__ import annotations

import copy
import enum
import functools
import importlib
import inspect
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.folding import MOST_LISTED, NotFolded, call_pure, plain
from s2s.analysis.abstract.lattice import may_be_of_numpy, may_be_of_python, rank, truth, type_of
from s2s.analysis.functions import makes_new
from s2s.builder import cotangents
from s2s.builder.builder import Builder, is_constant_kind
from s2s.core import ir, ops
from s2s.core.inspection import class_attribute, has_hook, is_hashable, is_sealed, public_module, read_runs
from s2s.core.values import UNKNOWN, AbstractValue, Array, Known, ListOf, Mapping, Scalar, Sequence, has_fields
from s2s.errors import error
from s2s.rules.numpy.joining import as_columns, as_vector
from s2s.specialize.calls import process
from s2s.specialize.frames import JOINER, MISSING, Frame, in_rule, name_of
from s2s.specialize.heap.iteration import few_trips
from s2s.specialize.heap.objects import Place, is_setting, is_taken_by_value, is_user_object
from s2s.versions import facts
from s2s.versions.facts import is_replaceable

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer


def _read_attribute(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    receiver, attribute = args[0], args[1]
    value = self.context.value(receiver)
    if not isinstance(attribute, ir.Const):
        return None
    if len(args) == 3:
        return _attribute_or(self, args, frame, builder, span, name)
    if isinstance(value, Known):
        return _known_attribute(self, receiver, value.value, attribute, frame, builder, span, name)
    flags = self.context.definition(receiver, getattr)
    if flags is not None and flags[1] == ir.Const("flags") and isinstance(self.context.value(flags[0]), Array):
        return _flag(self, flags[0], receiver, attribute, builder, span, name)
    kind = type_of(value)
    if self.trying and kind is not None and not isinstance(value, Mapping) and not facts.has(
        kind, attribute.value).folded(self.guards):
        raise self.raised(AttributeError(f"'{kind.__name__}' object has no attribute '{attribute.value}'"))
    if isinstance(value, Sequence) and hasattr(value.type, "_fields") and attribute.value in value.type._fields:
        return builder.call(
            operator.getitem, receiver, ir.Const(value.type._fields.index(attribute.value)), name=name, span=span
        )
    if isinstance(value, Sequence) and has_fields(value.type) and type(attribute.value) is str:
        member = facts.member(value.type, attribute.value).folded(self.guards)
        if isinstance(member, property) and isinstance(member.fget, types.FunctionType):
            return self.apply(ir.Const(member.fget), [receiver], {}, frame, builder, span, name)
    return None


def _has_own_parameters(kind: Any) -> bool:
    """Whether a class is made with parameters, ``list[int]``, by code that is not foreign."""
    return class_attribute(kind, "__class_getitem__") is not MISSING and not (
        has_hook(kind, "__class_getitem__") or has_hook(type(kind), "__getitem__"))


def _flag(
    self: Specializer, array: ir.Atom, flags: ir.Atom, attribute: ir.Const, builder: Builder, span: ir.Span | None,
    name: str,
) -> ir.Atom | None:
    """``a.flags.writeable`` and its kin; what a function of NumPy has just made is writeable."""
    if not isinstance(getattr(np.zeros(1).flags, attribute.value, None), bool):
        return None
    made = self.context.definitions.get(array) if isinstance(array, ir.Var) else None
    if attribute.value == "writeable" and makes_new(made):
        return ir.Const(True)
    return builder.let(ir.Call(ir.Const(getattr), (flags, attribute)), Scalar(bool), name, span)


def _attribute_or(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    """``getattr(value, name, default)`` where it is known whether values of this kind have the attribute."""
    value, attribute = self.context.value(args[0]), args[1]
    assert isinstance(attribute, ir.Const)
    owner = value.value if isinstance(value, Known) else type_of(value)
    if owner is None or type(attribute.value) is not str or read_runs(owner, attribute.value):
        return self.leave(ir.Const(getattr), list(args), {}, builder, span, name)
    fact = facts.attribute(owner, attribute.value, self.guards)
    if fact.is_missing:
        fact.folded(self.guards)
        return args[2]
    return self.apply(ir.Const(getattr), args[:2], {}, frame, builder, span, name)


def _static_attribute(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    """``inspect.getattr_static`` of a number or array, which have no attributes but those of their class, or of an
    object that is known."""
    value, attribute = self.context.value(args[0]), args[1]
    kind = type_of(value)
    if kind is None or not isinstance(attribute, ir.Const):
        return None
    if isinstance(value, Known) and isinstance(value.value, type):
        found = facts.static(value.value, attribute.value).folded(self.guards)
    elif isinstance(value, Known):
        found = inspect.getattr_static(value.value, attribute.value, MISSING)
    else:
        found = next((vars(c)[attribute.value] for c in kind.__mro__ if attribute.value in vars(c)), MISSING)
    if found is MISSING and len(args) < 3:
        raise self.raised(AttributeError(attribute.value))
    return args[2] if found is MISSING else ir.Const(found)


def _constant(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str, fn: Any
) -> ir.Atom | None:
    """A function that is made of constants."""
    if not all(isinstance(a, ir.Const) and type(a.value) in (str, int) for a in args):
        return None
    return ir.Const(fn(*(a.value for a in args if isinstance(a, ir.Const))))


def _reflected(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str, fn: Any
) -> ir.Atom | None:
    """What a function of ``inspect`` says of a function that is known."""
    if len(args) != 1 or not isinstance(args[0], ir.Const) or not isinstance(args[0].value, types.FunctionType):
        return None
    inner: Any = args[0].value
    while type(inner) is types.FunctionType:
        if "__signature__" in vars(inner):
            return None
        inner = vars(inner).get("__wrapped__")
    if inner is not None:
        return None
    facts.signature(args[0].value, self.guards).folded(self.guards)
    return ir.Const(fn(args[0].value))


def _known_attribute(
    self: Specializer, receiver: ir.Atom, owner: Any, attribute: ir.Const, frame: Frame, builder: Builder,
    span: ir.Span | None, name: str,
) -> ir.Atom | None:
    if type(attribute.value) is not str or read_runs(owner, attribute.value):
        return self.leave(ir.Const(getattr), [receiver, attribute], {}, builder, span, name)
    fact = facts.attribute(owner, attribute.value, self.guards)
    if fact.is_missing:
        fact.folded(self.guards)
        raise self.raised(AttributeError(f"{name_of(owner)} has no attribute {attribute.value!r}"))
    made = ir.Call(ir.Const(getattr), (receiver, attribute))
    if fact.is_(is_sealed):
        return self.leave(made.fn, [receiver, attribute], {}, builder, span, name)
    if self.unsure and fact.is_(is_setting) and is_replaceable(owner) and not in_rule(frame):
        return builder.let(made, UNKNOWN, name, span)
    if fact.is_made_anew and not in_rule(frame):
        return builder.let(made, UNKNOWN, name, span)
    is_number = fact.is_(lambda found: issubclass(type(found), (int, float)))
    if isinstance(owner, (inspect.Signature, inspect.Parameter)):
        return ir.Const(fact.folded(self.guards))
    if fact.is_(is_taken_by_value) or (is_number and (in_rule(frame) or isinstance(owner, (enum.Enum, np.dtype)))):
        return ir.Const(fact.folded(self.guards))
    if isinstance(owner, types.ModuleType) and fact.is_(is_user_object) and not in_rule(frame):
        return self.instances.refer(builder, fact, Place("module", (owner.__name__, attribute.value), None), name)
    if is_replaceable(owner) and not in_rule(frame):
        place = Place.of(owner).step(attribute.value)
        return self.instances.value_at(builder, fact, place, attribute.value, name, folds=False)
    if fact.is_(lambda found: isinstance(found, (list, dict))) and not facts.is_stable(owner):  # as sys.argv: live
        return builder.let(made, UNKNOWN, name, span)
    return builder.let(made, fact.described(self.guards)[0], name, span)


def _map(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    columns = [self.static_items(a, builder, span) for a in args[1:]]
    if any(c is None for c in columns):
        return None
    rows = zip(*columns)  # type: ignore[arg-type]
    made = [self.apply(args[0], list(row), {}, frame, builder, span) for row in rows]
    return builder.call(ops.make_list, *made, name=name, span=span)


def _dict_view(which: str) -> Callable[..., ir.Atom | None]:
    def read(
        self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
    ) -> ir.Atom | None:
        value = self.context.value(args[0])
        if not isinstance(value, Mapping):
            return None
        items = [builder.call(operator.getitem, args[0], ir.Const(k), span=span) for k in value.keys]
        if which == "values":
            return builder.call(ops.make_list, *items, span=span)
        keys = [ir.Const(k) for k in value.keys]
        if which == "keys":
            return builder.call(ops.make_list, *keys, span=span)
        pairs = [builder.call(ops.make_tuple, k, i, span=span) for k, i in zip(keys, items, strict=True)]
        return builder.call(ops.make_list, *pairs, span=span)

    return read


def _dict_get(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    value = self.context.value(args[0])
    if not isinstance(value, Mapping) or not isinstance(args[1], ir.Const) or not is_hashable(args[1].value):
        return None
    if args[1].value in value.keys:
        return builder.call(operator.getitem, args[0], args[1], span=span)
    return args[2] if len(args) > 2 else ir.Const(None)


def _make_list(kind: Any) -> Callable[..., ir.Atom | None]:
    make = ops.make_list if kind is list else ops.make_tuple

    def convert(
        self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
    ) -> ir.Atom | None:
        if not args:
            return builder.call(make, name=name, span=span)
        if isinstance(args[0], ir.Const) and type(args[0].value) is frozenset:
            return builder.call(make, *map(ir.Const, args[0].value), name=name, span=span)
        if kind is tuple and isinstance(args[0], ir.Const) and type(args[0].value) is tuple:
            return args[0]
        items = self.static_items(args[0], builder, span)
        trips = few_trips(self, args[0]) if kind is tuple else None
        if trips is not None:
            return builder.call(make, *map(ir.Const, trips), name=name, span=span)
        if items is None or isinstance(self.context.value(args[0]), Known):
            return None
        return builder.call(make, *items, name=name, span=span)

    return convert


def _import(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    assert isinstance(args[0], ir.Const)
    found = facts.module(args[0].value).folded(self.guards)
    if isinstance(found, ImportError):
        raise self.raised(found)
    if found is not None:
        return ir.Const(found)
    return self.keep(builder, ir.Call(ir.Const(importlib.import_module), (args[0],)), span)


def _power(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    """In a rule body ``a ** 1`` is ``a``: what the derivative of a square leaves."""
    return args[0] if in_rule(frame) and args[1] in (ir.Const(1), ir.Const(1.0)) else None


def _without_error(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str,
    operation: Callable[..., Any], is_safe: Callable[[Any], bool],
) -> ir.Atom | None:
    """``rt.quotient`` and ``rt.power`` as the operators that they are, where these cannot raise: for NumPy's numbers
    and arrays, and for divisors and exponents that are known and fit: a power that is within the range of numbers has a
    derivative there too where its exponent is at least 1, and one of a smaller exponent is small."""
    fits = is_literal_number(args[1]) and not is_literal_number(args[0]) and is_safe(literal(args[1]))
    if not fits and all(map(may_be_of_python, map(self.context.value, args))):
        return fold_number(operation, args) if all(map(is_literal_number, args)) else None
    return _operation(self, operation, args, frame, builder, span, name)


def _operation(
    self: Specializer, operation: Any, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None,
    name: str,
) -> ir.Atom:
    """An operation in place of another one."""
    found = FORMS[operation](self, args, frame, builder, span, name) if operation in FORMS else None
    return found if found is not None else builder.call(operation, *args, name=name, span=span)


def _quotient_again(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    """``rt.quotient_again(c, a, b)``: the divisor may be 0 where ``a / b`` was not computed with Python's numbers. A
    length is not taken for 0: at worst the derivative raises."""
    c, a, b = args
    may_be_zero = may_be_of_numpy(self.context.value(a)) and may_be_of_python(self.context.value(b), float, complex)
    if may_be_zero or is_literal_number(b):
        return _operation(self, rt.quotient, [c, b], frame, builder, span, name)
    return builder.call(operator.truediv, c, b, name=name, span=span)


def _or(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    """In a rule body a condition that is known decides or goes."""
    for one, other in (args, args[::-1]):
        if in_rule(frame) and isinstance(one, ir.Const) and isinstance(one.value, bool):
            return one if one.value else other
    return None


def _unbroadcast(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    if public_module(frame.fn) == rt.__name__:
        return None
    return cotangents.unbroadcast(builder, args[0], args[1], span)


def _concatenate_displays(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    """The sum of two lists or tuples of known length is a display of all items."""
    values = [self.context.value(a) for a in args]
    if not all(isinstance(v, Sequence) and v.type in (tuple, list) for v in values):
        return None
    if sum(len(v.items) for v in values if isinstance(v, Sequence)) > MOST_LISTED:
        return None
    items = [i for a in args for i in self.static_items(a, builder, span) or ()]
    assert isinstance(values[0], Sequence)
    return builder.call(ops.make_tuple if values[0].type is tuple else ops.make_list, *items, name=name, span=span)


def _repeat_display(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    """A list or tuple of known length times a known number is a display of the items repeated. In a rule body a
    factor of one goes."""
    if in_rule(frame):
        for one, other in (args, args[::-1]):
            if one == ir.Const(1.0) and isinstance(self.context.value(other), (Array, Scalar)):
                return other
    for items, count in (args, args[::-1]):
        value = self.context.value(items)
        if isinstance(value, Sequence) and isinstance(count, ir.Const) and type(count.value) is int:
            if len(value.items) * count.value > MOST_LISTED:
                return None
            made = (self.static_items(items, builder, span) or []) * count.value
            return builder.call(ops.make_tuple if value.type is tuple else ops.make_list, *made, name=name, span=span)
    return None


def _known_item(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    """An item that a container of known length or keys does not have raises the user's error when it is read."""
    known, key = self.context.value(args[0]), args[1]
    if process.is_modules(self.context, args[0]):
        return process.module_item(self, key)
    if isinstance(known, Known) and isinstance(known.value, JOINER):
        return _join(self, known.value, key, frame, builder, span, name)
    if not isinstance(key, ir.Const):
        return None
    if isinstance(known, Known) and isinstance(known.value, type) and _has_own_parameters(known.value):
        return ir.Const(known.value[key.value])  # type: ignore[index]
    if isinstance(known, Mapping) and key.value not in known.keys:
        if self.trying:
            raise self.raised(KeyError(key.value))
        return self.keep(builder, ir.Call(ir.Const(operator.getitem), tuple(args)), span)
    if isinstance(known, Sequence) and type(key.value) is int and known.type is not slice:
        if not -len(known.items) <= key.value < len(known.items):
            if self.trying:
                raise self.raised(IndexError(f"{known.type.__name__} index out of range"))
            return self.keep(builder, ir.Call(ir.Const(operator.getitem), tuple(args)), span)
    return None


def _join(
    self: Specializer, joiner: Any, key: ir.Atom, frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    """``np.r_[x, 0.0, y]`` and ``np.c_[x, y]`` of something differentiated, as ``np.concatenate``."""
    if not self.context.is_varied(key):
        return None
    parts = (self.static_items(key, builder, span) if type_of(self.context.value(key)) is tuple else [key]) or []
    if not parts or joiner not in (np.r_, np.c_) or any(type_of(self.context.value(p)) is str for p in parts):
        reason = "its directives and matrices have no rule; join with np.concatenate or np.stack"
        raise error("S2S202", span=span, name=f"np.{type(joiner).__name__}", reason=reason)
    made = [_joined_part(self, joiner, part, frame, builder, span) for part in parts]
    every = builder.call(ops.make_tuple, *made, span=span)
    axis = {"axis": ir.Const(-1)} if joiner is np.c_ else {}
    return self.apply(ir.Const(np.concatenate), [every], axis, frame, builder, span, name)  # type: ignore[arg-type]


def _joined_part(
    self: Specializer, joiner: Any, part: ir.Atom, frame: Frame, builder: Builder, span: ir.Span | None
) -> ir.Atom:
    """What is joined for one item: a number as an array, a slice as its range, for ``np.c_`` a vector as a column."""
    if type_of(self.context.value(part)) is slice and not self.context.is_varied(part):
        points = Array(np.dtype(float), (self.context.evaluator.facts.fresh_dim(),))
        whole = builder.call(getattr, ir.Const(np), ir.Const("r_"), span=span)
        part = builder.let(ir.Call(ir.Const(operator.getitem), (whole, part)), points, span=span)
    dimensions = rank(self.context.value(part))
    if dimensions is None:
        fn = as_columns if joiner is np.c_ else as_vector
        return self.apply(ir.Const(fn), [part], {}, frame, builder, span)
    if joiner is np.c_ and dimensions < 2:
        shape = builder.call(ops.make_tuple, ir.Const(-1), ir.Const(1), span=span)
        return builder.call(np.reshape, part, shape, span=span)
    return builder.call(np.atleast_1d, part, span=span) if dimensions == 0 else part


def _merge_dict(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    return self.make_dict(args, {}, builder, span, name)


def _sorted(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    """Known items are sorted now."""
    items = self.static_items(args[0], builder, span)
    if items is None or not all(isinstance(i, ir.Const) for i in items):
        return None
    try:
        ordered = call_pure(sorted, [[plain(i.value) for i in items if isinstance(i, ir.Const)]])
    except NotFolded:
        return None
    except Exception as problem:
        raise self.raised(problem) from None
    return builder.call(ops.make_list, *map(ir.Const, ordered), name=name, span=span)


def _quantified(
    decides: bool, self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None,
    name: str,
) -> ir.Atom | None:
    """``any`` (which True decides) or ``all`` (which False decides) of items whose truth is known. An item that is not
    known is left out of account where a later one decides: a number, whose truth is no error."""
    items = self.static_items(args[0], builder, span)
    if items is None or any(map(self.context.is_virtual, items)):
        return None
    values = [self.context.value(i) for i in items]
    for value in values:
        found = truth(value)
        if found is decides:
            return ir.Const(decides)
        if found is None and not isinstance(value, Scalar):
            return None
    return ir.Const(not decides) if all(truth(v) is not None for v in values) else None


def _of_source(
    fn: Any, self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    """In a rule body the shape or size of an array is read from an argument that has the same shape."""
    if not in_rule(frame):
        return None
    like = self.context.shape_source(args[0])
    if fn is np.size and isinstance(self.context.value(like), Array):
        return builder.call(getattr, like, ir.Const("size"), span=span)
    return builder.call(fn, like, span=span) if like != args[0] else None


def _unpack(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    """``a, *b, c = value`` of a container of known length."""
    before, after = args[1], args[2]
    if not isinstance(self.context.value(args[0]), (Sequence, Mapping)):
        return None
    items = self.static_items(args[0], builder, span)
    assert items is not None and isinstance(before, ir.Const) and isinstance(after, ir.Const)
    count = before.value if after.value is None else before.value + after.value
    if len(items) < count or (after.value is None and len(items) != count):
        if self.trying:
            raise self.raised(ValueError(f"{len(items)} values to unpack (expected {count})"))
        return self.keep(builder, ir.Call(ir.Const(ops.unpack), tuple(args)), span)
    if after.value is None:
        return builder.call(ops.make_tuple, *items, span=span)
    stop = len(items) - after.value
    middle = builder.call(ops.make_list, *items[before.value : stop], span=span)
    return builder.call(ops.make_tuple, *items[: before.value], middle, *items[stop:], span=span)


def map_elements(f: Callable[..., Any], *args: Any) -> Any:
    """What ``np.vectorize(f)`` does with arrays of one shape, or that broadcast to one, written out."""
    shape = np.broadcast_shapes(*[np.shape(a) for a in args])
    given = [np.ravel(np.broadcast_to(a, shape)) for a in args]
    made = np.empty(len(given[0]))
    for i in range(len(made)):
        made[i] = f(*[items[i] for items in given])
    return np.reshape(made, shape)


def _as_type(
    kind: Any, self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    """``np.float64(a)`` of an array is an array of that type; of what may be a number it is that type's number."""
    value = self.context.value(args[0]) if len(args) == 1 else None
    if value is None or isinstance(value, Known):
        return None
    if not isinstance(value, Array) or not value.shape:
        if not self.context.is_varied(args[0]):
            return None
        kwargs = (("dtype", ir.Const(np.dtype(kind))),)
        made = self.apply(ir.Const(np.asarray), args, dict(kwargs), frame, builder, span)
        return self.apply(ir.Const(operator.getitem), [made, ir.Const(())], {}, frame, builder, span, name)
    return builder.call(np.asarray, args[0], ir.Const(np.dtype(kind)), name=name, span=span)  # itself, of that type


def _ndindex(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    """``np.ndindex(n, m)``: a list of pairs of integers."""
    sizes = self.static_items(args[0], builder, span) if len(args) == 1 and not self.is_number(args[0]) else args
    if sizes is None:
        return None
    pairs = builder.let(ir.Call(ir.Const(np.ndindex), tuple(args)), UNKNOWN, span=span)
    known = ListOf(Sequence(tuple, (Scalar(int),) * len(sizes)))
    return builder.let(ir.Call(ir.Const(list), (pairs,)), known, span=span)


def _split(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    """The words of a known string."""
    if not all(isinstance(a, ir.Const) for a in args):
        return None
    try:
        words = call_pure(str.split, [plain(a.value) for a in args if isinstance(a, ir.Const)])
    except Exception:  # it raises again when the program runs
        return None
    if len(words) > MOST_LISTED:
        return None
    return builder.call(ops.make_list, *map(ir.Const, words), name=name, span=span)


def _copied(
    self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None, name: str
) -> ir.Atom | None:
    """A copy of what nobody can change is itself."""
    return args[0] if _is_immutable(self.context.value(args[0])) else None


def _is_immutable(value: AbstractValue) -> bool:
    if isinstance(value, Sequence):
        return value.type is tuple and all(map(_is_immutable, value.items))
    return isinstance(value, Scalar) or (isinstance(value, Known) and is_constant_kind(value.value))


def _identity(
    negated: bool, self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None,
    name: str,
) -> ir.Atom | None:
    """``a is a``: one variable is one object."""
    return ir.Const(not negated) if isinstance(args[0], ir.Var) and args[0] == args[1] else None


def _contains(
    negated: bool, self: Specializer, args: list[ir.Atom], frame: Frame, builder: Builder, span: ir.Span | None,
    name: str,
) -> ir.Atom | None:
    """``"torch" in sys.modules``, ``name in _NAMES``."""
    if process.is_modules(self.context, args[1]):
        found = process.module_named(self, args[0])
        return None if found is None else ir.Const((found.value is not None) is not negated)
    answer = process.is_option_of(self, args[0], args[1])
    return None if answer is None else ir.Const(answer is not negated)


FORMS: dict[Any, Callable[..., ir.Atom | None]] = {
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
