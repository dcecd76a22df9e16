"""Objects with attributes: what making them, reading, changing and operating on them does to the virtual heap.

Calling a class whose ``__init__`` is a Python function makes a virtual object; its methods are inlined like any
function, so of the object only its attributes are left. Attributes are found as Python finds them: data descriptors of
the class, then the object's own, then what else the class has, then ``__getattr__``.

An object that was there before the program ran (in a global, a closure, a bound method) is *live*: its options and
methods are taken by value under guards, its numbers and arrays are read when the program runs. What the program stores
into it is kept on the heap, and done to the object itself (``effects``).
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import inspect
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from s2s import runtime as rt
from s2s.analysis import raising
from s2s.analysis.abstract.lattice import type_of
from s2s.builder import virtual_heap
from s2s.builder.builder import Builder, is_constant_kind
from s2s.builder.virtual_heap import Cell, State, cell_of, is_instance, state_of
from s2s.core import ir
from s2s.core.inspection import (
    class_attribute,
    is_slot,
    mro_of,
    namespace,
    read_runs,
)
from s2s.core.operators import OPERATORS, PLAIN
from s2s.core.values import UNKNOWN, Array, Known, Scalar, Unknown
from s2s.directives.checkpointing import Checkpoint
from s2s.directives.decorated import Differentiable
from s2s.errors import error
from s2s.rules import table
from s2s.specialize.frames import MISSING, is_function_like, with_sizes
from s2s.specialize.heap import effects, lacking
from s2s.specialize.heap.classes import (
    check_lacks,
    class_seen,
    is_data_descriptor,
    is_descriptor,
    is_generated,
    own_names,
)
from s2s.specialize.heap.live_objects import Place, bound
from s2s.specialize.speculation import speculate
from s2s.versions import facts
from s2s.versions.array_kinds import of_program
from s2s.versions.boundary import Raised
from s2s.versions.facts import Guards
from s2s.versions.signature import describe
from s2s.versions.signature import has_attributes as is_user_object
from s2s.versions.target import own_signature

if TYPE_CHECKING:
    from s2s.specialize.site import At
    from s2s.specialize.specializer import Specializer

_CODE = (types.FunctionType, Differentiable)
"""The classes of the methods that are written in Python."""

UNARY: dict[Any, str] = {
    abs: "__abs__", operator.abs: "__abs__", float: "__float__", int: "__int__", complex: "__complex__",
    round: "__round__", iter: "__iter__", operator.index: "__index__", len: "__len__",
}
"""Functions that call a method of their argument, beside the operators of one operand."""


class Instances:
    """The part of the specialiser that knows objects and classes."""

    def __init__(self, specializer: Specializer) -> None:
        self.specializer = specializer
        self.context = specializer.context
        self.live = specializer.live_objects
        self.freezing: set[Cell] = set()
        self.context.freeze_instance = self.freeze

    # --- making objects

    def make(self, at: At, cls: type, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom | None:
        """``cls(*args, **kwargs)`` as a virtual object; None where the class cannot be followed."""
        self_ = self.specializer
        if inspect.isabstract(cls):
            raise self.specializer.raised(TypeError(f"Can't instantiate abstract class {cls.__name__}"))
        if isinstance(cls.__new__, types.FunctionType):
            self.look_up(cls, "__new__")
            given = [ir.Const(cls), *args]
            made = self_.apply(ir.Const(cls.__new__), given, dict(kwargs), at.frame, at.builder, at.span)
        else:
            made = self.new(at, cls)
        state = state_of(self.context, made)
        kind = type_of(self.context.value(made)) if state is None else state.kind
        if kind is None or (state is None and issubclass(kind, cls)):  # ``__init__`` may follow, of an object not seen
            raise at.refusal("S2S201", name=f"{cls.__name__}.__new__")
        if not issubclass(kind, cls):
            return made
        init = self.look_up(cls, "__init__")
        if isinstance(init, types.FunctionType):
            if is_generated(cls, init):
                self._init_dataclass(at, cls, made, args, kwargs)
            else:
                self_.apply(ir.Const(init), [made, *args], dict(kwargs), at.frame, at.builder, at.span)
        elif init is object.__init__ and cls.__new__ is object.__new__ and (args or kwargs):
            raise self_.raised(TypeError(f"{cls.__name__}() takes no arguments"))
        return made

    def new(self, at: At, cls: type) -> ir.Atom:
        """An object without attributes."""
        name = at.name if not at.name.startswith("%") else cls.__name__.lower()
        return virtual_heap.make_cell(self.context, State(cls), name, at.span).var

    def _init_dataclass(
        self, at: At, cls: type, made: ir.Atom, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]
    ) -> None:
        """What the ``__init__`` that ``dataclass`` generates does."""
        init: Any = inspect.getattr_static(cls, "__init__")
        facts.code(init, self.specializer.guards).folded(self.specializer.guards)
        try:
            given = own_signature(init).bind(made, *args, **kwargs).arguments
        except TypeError as problem:
            facts.signature(init, self.specializer.guards).folded(self.specializer.guards)
            raise self.specializer.raised(problem) from None
        after = []
        written_for = next(base for base in mro_of(cls) if "__init__" in namespace(base))
        is_frozen = "__setattr__" in init.__code__.co_names
        for field in written_for.__dataclass_fields__.values():
            kind = getattr(field._field_type, "name", "")
            if kind == "_FIELD_CLASSVAR":
                continue
            if field.init and field.name in given:
                value = given[field.name]
            elif field.default_factory is not dataclasses.MISSING:
                value = at.apply(field.default_factory)
            elif field.init:
                value = self.live.default(at.builder, init, field.name)
            elif field.default is not dataclasses.MISSING:
                value = self.constant(at, cls, field.name, field.default)
            else:
                continue
            if kind == "_FIELD_INITVAR":
                after.append(value)
            elif is_frozen:
                self.store_plainly(at, made, field.name, value)
            else:
                self.store_attribute(at, made, ir.Const(field.name), value)
        if "__post_init__" in init.__code__.co_names:
            at.apply_atom(self.get(at, made, "__post_init__"), after, {})

    def constant(self, at: At, cls: type, name: str, value: Any) -> ir.Atom:
        """A default, or what a class has under a name: an option by value, a number or array read from the class."""
        if is_constant_kind(value) or isinstance(value, (int, float, complex)) or is_function_like(value):
            return ir.Const(value)
        if is_user_object(value):
            return self.live.refer(at.builder, facts.known(value), Place("value", (ir.Const(value),), None), name)
        known = of_program(with_sizes(describe(value, "?"), value), name)
        read = ir.Call(ir.Const(getattr), (ir.Const(cls), ir.Const(name)))
        return at.builder.let(read, UNKNOWN if isinstance(known, Known) else known, name, at.span)

    # --- attributes

    def get(self, at: At, ref: ir.Atom, name: str, default: ir.Atom | None = None) -> ir.Atom:
        """``ref.name``."""
        cell = cell_of(self.context, ref)
        assert cell is not None
        if lacking.says_whether(self.specializer, cell, name) is not None:
            return lacking.on_both(self.specializer, at, cell, name, lambda side: self.get(side, ref, name, default))
        kind = self.context.heap.peek(cell).kind
        reader = MISSING if kind is super else self.look_up(kind, "__getattribute__")
        if isinstance(reader, types.FunctionType):
            return self._by_reader(at, reader, ref, name, default)
        return self.get_plainly(at, ref, name, default)

    def _by_reader(
        self, at: At, reader: types.FunctionType, ref: ir.Atom, name: str, default: ir.Atom | None
    ) -> ir.Atom:
        """``ref.name`` of a class with a ``__getattribute__`` of its own."""
        state = state_of(self.context, ref)
        assert state is not None
        if default is not None or self.look_up(state.kind, "__getattr__") is not MISSING:
            raise at.refuse(state.kind.__name__, "whether its `__getattribute__` finds an attribute cannot be followed")
        return self._call(at, reader, ref, ir.Const(name))

    def get_plainly(self, at: At, ref: ir.Atom, name: str, default: ir.Atom | None = None) -> ir.Atom:
        """``object.__getattribute__(ref, name)``, then ``__getattr__``."""
        cell = cell_of(self.context, ref)
        assert cell is not None
        if lacking.says_whether(self.specializer, cell, name) is not None:
            return lacking.on_both(
                self.specializer, at, cell, name, lambda side: self.get_plainly(side, ref, name, default))
        if default is not None:
            found = self._attempted(at, ref, name, self._with_hook)
            return default if found is None else found
        return self._with_hook(at, ref, name)

    def _with_hook(self, at: At, ref: ir.Atom, name: str) -> ir.Atom:
        cell = cell_of(self.context, ref)
        assert cell is not None
        kind = self.context.heap.peek(cell).kind
        hook = self.look_up(kind, "__getattr__")
        if not isinstance(hook, types.FunctionType):
            return self._without_hook(at, ref, name)
        found = self._attempted(at, ref, name, self._without_hook)
        return self._call(at, hook, ref, ir.Const(name)) if found is None else found

    def _without_hook(self, at: At, ref: ir.Atom, name: str) -> ir.Atom:
        found = self.find(at, ref, name)
        if found is not None:
            return found
        cell = cell_of(self.context, ref)
        assert cell is not None
        kind = self.context.heap.peek(cell).kind
        check_lacks(at, self.context.heap.peek(cell), name)
        raise self.specializer.raised(AttributeError(f"'{kind.__name__}' object has no attribute '{name}'"))

    def _attempted(self, at: At, ref: ir.Atom, name: str, read: Callable[..., ir.Atom]) -> ir.Atom | None:
        """What ``read`` gives, or None where it raises AttributeError, by itself or in a getter or ``__getattr__``.
        Refused where that depends on the run."""
        before, relied_on = self.specializer.guards.copy(), Guards()
        try:
            with speculate(self.specializer, at.builder) as speculation:
                try:
                    found = read(dataclasses.replace(at, builder=speculation.builder), ref, name)
                finally:
                    relied_on = self.specializer.guards.since(before)
                made = speculation.builder
                raises = [s for s in ir.walk(made.block()) if isinstance(s, (ir.Assert, ir.Raise))]
                kinds = list(map(self._raised_class, raises))
                if not any(kind is None or issubclass(kind, AttributeError) for kind in kinds):
                    return found
                speculation.discard()
                if len(kinds) != 1 or kinds[0] is None or made.statements[-1] is not raises[0]:
                    cell = cell_of(self.context, ref)
                    assert cell is not None
                    raise at.refuse(cell.name, f"whether it has the attribute `{name}` depends on the run")
        except Raised as raised:
            if not isinstance(raised.problem, AttributeError):
                raise
        self.specializer.guards.update(relied_on)  # there is no such attribute
        return None

    def _raised_class(self, s: ir.Assert | ir.Raise) -> type[BaseException] | None:
        """The class of what a statement raises, where it is known."""
        if isinstance(s, ir.Assert):
            return AssertionError
        made = self.context.definitions.get(s.exception) if isinstance(s.exception, ir.Var) else None
        if isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) and isinstance(made.fn.value, type):
            return made.fn.value if issubclass(made.fn.value, BaseException) else None
        return raising.class_of(s.exception, self.context.value)

    def find(self, at: At, ref: ir.Atom, name: str) -> ir.Atom | None:
        """The attribute as ``object.__getattribute__`` finds it, or None."""
        cell = cell_of(self.context, ref)
        assert cell is not None
        state = self.context.heap.state(cell, at.span)
        if state.kind is super:
            return self._of_super(at, state, name)
        found = self.look_up(state.kind, name)
        if name == "__class__":
            return ir.Const(class_seen(at, state) or state.kind)
        if name == "__dict__":
            return self._dict(at, cell)
        if is_data_descriptor(found) and not is_slot(found, name):
            return self._bind(at, found, ref, name)
        own = virtual_heap.read(at.builder, cell, name, at.name, at.span)
        if own is not None:
            return own
        is_live = self.context.heap.peek(cell).borrowed and cell in self.live.places
        if found is MISSING or is_slot(found, name):
            if is_live:
                facts.absent(self.live.places[cell].site, self.live.objects[cell], name).folded(self.specializer.guards)
            return None
        if is_live and is_descriptor(found) and hasattr(self.live.objects[cell], "__dict__"):
            facts.shadow(self.live.places[cell].site, name).folded(self.specializer.guards)
        return self._bind(at, found, ref, name)

    def held(self, cell: Cell, name: str) -> facts.Reading | None:
        """What an object from outside has under a name, by itself or by its class, where reading it runs nothing, and
        the program has put nothing there."""
        state, place, owner = self.context.heap.peek(cell), self.live.places[cell], self.live.objects[cell]
        if not is_instance(state) or state.find(name) is not None:
            return None
        if isinstance(self.look_up(state.kind, "__getattribute__"), types.FunctionType):
            return None
        found = self.look_up(state.kind, name)
        if is_data_descriptor(found) and not is_slot(found, name):
            return None
        if name in own_names(owner):
            return facts.own(owner, name, place.site)
        if found is MISSING or is_descriptor(found):
            return None
        if hasattr(owner, "__dict__"):
            facts.shadow(place.site, name).folded(self.specializer.guards)
        return facts.own(owner, name, place.site)

    def look_up(self, cls: type, name: str) -> Any:
        """What a class has under a name, ``MISSING`` where there is nothing."""
        return facts.member(cls, name).folded(self.specializer.guards)

    def _class_value(self, at: At, ref: ir.Atom, cls: type, name: str, found: Any) -> ir.Atom:
        """A value that a class has for its objects: options and integers by value, others read when the program
        runs. A live object may get an attribute of its own, which then hides it."""
        self.specializer.read_statics.add(name)
        cell, place = cell_of(self.context, ref), Place.of(cls).step(name)
        fact = facts.member_value(cls, name, found)
        if cell in self.live.places:
            place = self.live.places[cell].step(name)
            fact = facts.own(self.live.objects[cell], name, self.live.places[cell].site)
        return self.live.value_at(at.builder, fact, place, name, at.name)

    def _bind(self, at: At, found: Any, ref: ir.Atom, name: str) -> ir.Atom:
        """What a class attribute gives for an object."""
        state = state_of(self.context, ref)
        assert state is not None
        match found:
            case types.FunctionType() | Differentiable() | functools.partialmethod() | Checkpoint() | (
                functools.singledispatchmethod()
            ):
                return bound(self.context, found, ref)
            case property():
                assert found.fget is not None
                return self._call(at, found.fget, ref)
            case staticmethod():
                return ir.Const(found.__func__)
            case classmethod():
                return ir.Const(types.MethodType(found.__func__, state.kind))
            case functools.cached_property():
                value = self._call(at, found.func, ref)
                self.put(at, ref, name, value, is_found_anew=True)
                return value
        getter = self.look_up(type(found), "__get__")
        if table.carries_rule(found) and getter is not MISSING:
            return bound(self.context, found, ref)
        if isinstance(getter, types.FunctionType):
            return self._call(at, getter, self.live.known(at, found, name), ref, ir.Const(state.kind))
        if callable(found) and (table.find(found) is not None or is_constant_kind(found)) and getter is not MISSING:
            return bound(self.context, found, ref)
        return self._class_value(at, ref, state.kind, name, found)

    def _call(self, at: At, fn: Any, *args: ir.Atom) -> ir.Atom:
        return self.specializer.apply(ir.Const(fn), list(args), {}, at.frame, at.builder, at.span, at.name)

    def _dict(self, at: At, cell: Cell) -> ir.Atom:
        """``vars(o)``: a dict of the attributes, to be read."""
        from s2s.specialize.heap.making import new_dict

        lacking.check_complete(at, cell)
        state = self.context.heap.state(cell, at.span)
        entries = state.entries()
        if state.borrowed and cell in self.live.objects:
            for name in self.live.names(cell):
                if name not in entries:
                    found = virtual_heap.read(at.builder, cell, name, "%", at.span)
                    assert found is not None
                    entries[name] = found
        made = new_dict(at, entries)
        objects_cell = cell_of(self.context, made)
        assert objects_cell is not None
        self.context.heap.closed[objects_cell] = "it is the `__dict__` of an object; assign the attributes"
        self.context.heap.frozen.pop(objects_cell, None)
        objects_cell.viewed = cell, self.context.heap.peek(cell), "attributes"
        return made

    def super_of(self, at: At, cls: type, ref: ir.Atom) -> ir.Atom:
        """``super(cls, ref)``."""
        state = State(super, ("__thisclass__", "__self__"), (ir.Const(cls), ref))
        return virtual_heap.make_cell(self.context, state, "super", at.span).var

    def _of_super(self, at: At, state: State, name: str) -> ir.Atom | None:
        entries = state.entries()
        cls, ref = entries["__thisclass__"], entries["__self__"]
        inner = state_of(self.context, ref)
        assert isinstance(cls, ir.Const) and inner is not None
        mro = mro_of(inner.kind)
        for base in mro[mro.index(cls.value) + 1 :]:
            self.look_up(base, name)
            if name in namespace(base):
                found = namespace(base)[name]
                if isinstance(found, types.WrapperDescriptorType):
                    return bound(self.context, found, ref)
                return self._bind(at, found, ref, name)
        return None

    def store_attribute(self, at: At, ref: ir.Atom, key: ir.Atom, value: ir.Atom) -> None:
        """``ref.key = value``."""
        cell = cell_of(self.context, ref)
        assert cell is not None
        state = self.context.heap.state(cell, at.span)
        if not isinstance(key, ir.Const) or not isinstance(key.value, str):
            raise at.refuse(cell.name, "which attribute it is is not known before the program runs")
        if state.kind is collections.defaultdict and key.value == "default_factory":
            self.context.heap.change(cell, State(
                state.kind, state.keys, state.items, state.whole, state.borrowed, value), at.span)
            return
        if not is_instance(state):
            if class_attribute(state.kind, key.value) is not MISSING:
                raise at.refuse(cell.name, f"what its attribute `{key.value}` does is not known to s2s")
            text = f"'{state.kind.__name__}' object has no attribute '{key.value}'"
            raise self.specializer.raised(AttributeError(text))
        setter = self.look_up(state.kind, "__setattr__")
        if isinstance(setter, types.FunctionType):
            if is_generated(state.kind, setter):
                raise self.specializer.raised(dataclasses.FrozenInstanceError(f"cannot assign to field {key.value!r}"))
            self._call(at, setter, ref, key, value)
            return
        self.store_plainly(at, ref, key.value, value)

    def store_plainly(self, at: At, ref: ir.Atom, name: str, value: ir.Atom) -> None:
        """What ``object.__setattr__`` does."""
        state = state_of(self.context, ref)
        assert state is not None
        found = self.look_up(state.kind, name)
        if isinstance(found, property):
            if found.fset is None:
                text = f"property '{name}' of '{state.kind.__name__}' object has no setter"
                raise self.specializer.raised(AttributeError(text))
            self._call(at, found.fset, ref, value)
        elif is_data_descriptor(found) and not is_slot(found, name):
            setter = self.look_up(type(found), "__set__")
            if not isinstance(setter, types.FunctionType):
                raise error("S2S113", span=at.span, asked_by=at.frame.called_from)
            self._call(at, setter, self.live.known(at, found, name), ref, value)
        else:
            self.put(at, ref, name, value)

    def put(self, at: At, ref: ir.Atom, name: str, value: ir.Atom, is_found_anew: bool = False) -> None:
        """Give an object an attribute; with ``is_found_anew`` one from outside is left as it is."""
        cell = cell_of(self.context, ref)
        assert cell is not None
        state = self.context.heap.state(cell, at.span)
        self.context.heap.change(cell, state.with_entry(name, value), at.span)
        if not is_found_anew:
            effects.attribute(at, cell, name, value)

    def delete(self, at: At, ref: ir.Atom, name: ir.Atom) -> ir.Atom:
        """``del ref.name``."""
        cell = cell_of(self.context, ref)
        assert cell is not None
        state = self.context.heap.state(cell, at.span)
        entries = state.entries()
        if isinstance(name, ir.Const) and lacking.says_whether(self.specializer, cell, name.value) is not None:
            return lacking.on_both(self.specializer, at, cell, name.value, lambda side: self.delete(side, ref, name))
        if isinstance(name, ir.Const) and not state.borrowed and name.value not in entries and (
                self.look_up(state.kind, name.value) is MISSING):
            text = f"'{state.kind.__name__}' object has no attribute '{name.value}'"
            raise self.specializer.raised(AttributeError(text))
        if not isinstance(name, ir.Const) or state.borrowed or name.value not in entries:
            raise at.refuse(cell.name, "whether it has the attribute is not known here")
        del entries[name.value]
        self.context.heap.change(cell, state.with_entries(entries), at.span)
        return ir.Const(None)

    def has(self, at: At, ref: ir.Atom, name: str) -> ir.Atom:
        """``hasattr(ref, name)``."""
        cell = cell_of(self.context, ref)
        assert cell is not None
        if lacking.says_whether(self.specializer, cell, name) is not None:
            return lacking.whether(self.specializer, at, cell, name, lambda side: self.has(side, ref, name))
        return ir.Const(self._has(at, ref, cell, name))

    def _has(self, at: At, ref: ir.Atom, cell: Cell, name: str) -> bool:
        state = self.context.heap.state(cell, at.span)
        if isinstance(self.look_up(state.kind, "__getattribute__"), types.FunctionType):
            raise at.refuse(cell.name, "`hasattr` of an object with `__getattribute__` cannot be followed")
        found = self.look_up(state.kind, name)
        if name in state.keys:
            return True
        if state.borrowed and cell in self.live.objects:
            if read_runs(self.live.objects[cell], name):
                raise at.refuse(cell.name, "`hasattr` of an object with `__getattr__` cannot be followed")
            return self.live.has(cell, name)
        hook = self.look_up(state.kind, "__getattr__")
        if found is MISSING or is_slot(found, name):
            if not isinstance(hook, types.FunctionType):
                check_lacks(at, state, name)
                return False
        elif not is_descriptor(found) or is_function_like(found):
            return True
        return self._attempted(at, ref, name, self._with_hook) is not None

    def names(self, at: At, ref: ir.Atom) -> ir.Atom | None:
        """``dir(ref)``; None where the class has a ``__dir__`` of its own."""
        cell = cell_of(self.context, ref)
        assert cell is not None
        state = self.context.heap.state(cell, at.span)
        if self.look_up(state.kind, "__dir__") is not object.__dict__["__dir__"]:
            return None
        lacking.check_complete(at, cell)
        if cell in self.live.objects:
            self.live.guard_identity(cell)
            self.live.names(cell)
        is_live = state.borrowed and cell in self.live.objects
        own = {*state.keys, *(own_names(self.live.objects[cell]) if is_live else ())}
        from s2s.specialize.heap.making import new_list

        return new_list(at, [ir.Const(name) for name in sorted({*dir(state.kind), *own})])

    # --- operations

    def operate(self, at: At, fn: Any, method: str, ref: ir.Atom, *args: ir.Atom) -> Any:
        """A special method of an object; None where its class has none."""
        state = state_of(self.context, ref)
        assert state is not None
        found = self.look_up(state.kind, method)
        if isinstance(found, _CODE):
            return self._call(at, found, ref, *args)
        if isinstance(found, (staticmethod, classmethod)):
            bound = self._bind(at, found, ref, method)
            return at.apply_atom(bound, list(args), {})
        return None

    def binary(self, at: At, fn: Any, a: ir.Atom, b: ir.Atom) -> ir.Atom | None:
        """An operator between objects, or an object and something else."""
        plain, reflected = OPERATORS[fn].method, OPERATORS[fn].reflected
        states = [state_of(self.context, x) for x in (a, b)]
        tries = [(a, b, plain), (b, a, reflected)]
        first, second = states
        if first is not None and second is not None and first.kind is not second.kind and issubclass(
            second.kind, first.kind
        ):
            tries.reverse()
        for left, right, method in tries:
            state = state_of(self.context, left)
            if state is None:
                self._check_deferring(at, left, right, fn)
                continue
            if not is_instance(state):
                continue
            found = self.look_up(state.kind, method)
            if isinstance(found, _CODE):
                result = (
                    self._compare_generated(at, fn, left, right)
                    if is_generated(state.kind, found) else self._call(at, found, left, right)
                )
                if result != ir.Const(NotImplemented):
                    return result
        if fn in (operator.eq, operator.ne):
            if fn is operator.ne:
                equal = self.binary(at, operator.eq, a, b)
                assert equal is not None
                return self.specializer.apply(ir.Const(operator.not_), [equal], {}, at.frame, at.builder, at.span)
            return ir.Const(cell_of(self.context, a) is cell_of(self.context, b))
        names = [state.kind.__name__ if state else "value" for state in states]
        text = f"unsupported operand type(s) for {fn.__name__}: '{names[0]}' and '{names[1]}'"
        raise self.specializer.raised(TypeError(text))

    def _check_deferring(self, at: At, left: ir.Atom, right: ir.Atom, fn: Any) -> None:
        """Refuse an operator of an array with an object, which NumPy applies item by item."""
        known, state = self.context.value(left), state_of(self.context, right)
        if isinstance(known, (Scalar, Known)) or state is None:
            return
        defers = getattr(state.kind, "__array_ufunc__", 0) is None or hasattr(state.kind, "__array_priority__")
        if not isinstance(known, (Array, Unknown)) or not defers:
            raise at.refusal("S2S137", name=state.kind.__name__)

    def _compare_generated(self, at: At, fn: Any, a: ir.Atom, b: ir.Atom) -> ir.Atom:
        """The ``==`` and ``<`` that ``dataclass`` writes: those of the tuples of fields."""
        from s2s.specialize.heap.making import new_list

        states = [state_of(self.context, x) for x in (a, b)]
        if states[0] is None or states[1] is None or states[0].kind is not states[1].kind:
            return ir.Const(NotImplemented)
        names = [f.name for f in dataclasses.fields(states[0].kind) if f.compare]
        tuples = [new_list(at, [self.get(at, x, n) for n in names], tuple) for x in (a, b)]
        return self.specializer.apply(ir.Const(fn), tuples, {}, at.frame, at.builder, at.span, at.name)

    def unary(self, at: At, fn: Any, ref: ir.Atom, *args: ir.Atom) -> ir.Atom | None:
        """``-o``, ``abs(o)``, ``float(o)``."""
        return self.operate(at, fn, UNARY.get(fn) or OPERATORS[fn].method, ref, *args)  # type: ignore[no-any-return]

    def augmented(self, at: At, fn: Any, ref: ir.Atom, change: ir.Atom) -> ir.Atom | None:
        """``o += change`` by the object's own method; None where it has none."""
        method = OPERATORS[PLAIN[fn]].in_place_method
        return self.operate(at, fn, method, ref, change)  # type: ignore[no-any-return]

    def truth(self, at: At, ref: ir.Atom) -> ir.Atom:
        """``bool(o)``."""
        found = self.operate(at, bool, "__bool__", ref)
        if found is None:
            found = self.operate(at, len, "__len__", ref)
            if found is None:
                return ir.Const(True)
            return at.apply(bool, found)
        return found  # type: ignore[no-any-return]

    def items(self, at: At, ref: ir.Atom) -> list[ir.Atom] | None:
        """What iterating over an object gives, where that is known."""
        found = self.operate(at, iter, "__iter__", ref)
        if found is not None:
            return self.specializer.items.known(found, at.builder, at.span) if found != ref else None
        length = self.operate(at, len, "__len__", ref)
        if not isinstance(length, ir.Const):
            return None
        made = [
            self.operate(at, operator.getitem, "__getitem__", ref, ir.Const(k))
            for k in range(length.value)
        ]
        return None if None in made else made

    def call(self, at: At, ref: ir.Atom, args: list[Any], kwargs: dict[Any, ir.Atom]) -> ir.Atom:
        """``o(*args, **kwargs)``."""
        state = state_of(self.context, ref)
        assert state is not None
        found = self.look_up(state.kind, "__call__")
        if found is not MISSING and not isinstance(found, _CODE) and table.find(found) is None:
            raise at.refusal("S2S301", name=f"{state.kind.__name__}.__call__")
        if found is MISSING:
            raise self.specializer.raised(TypeError(f"'{state.kind.__name__}' object is not callable"))
        return self.specializer.apply(
            ir.Const(found), [ref, *args], kwargs, at.frame, at.builder, at.span, at.name)

    # --- copies and values

    def copied(self, at: At, cell: Cell) -> ir.Atom:
        """``copy.copy``: an object of the same class with the same attributes."""
        state = self.context.heap.state(cell, at.span)
        for hook in ("__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"):
            if self.look_up(state.kind, hook) not in (MISSING, object.__dict__.get(hook)):
                raise at.refuse(cell.name, f"its class copies its objects in its own way (`{hook}`)")
        entries = state.entries()
        if state.borrowed and cell in self.live.objects:
            self.live.names(cell)
            for name in own_names(self.live.objects[cell]):
                if name not in entries:
                    found = virtual_heap.read(at.builder, cell, name, "%", at.span)
                    assert found is not None
                    entries[name] = found
        made = State(state.kind, tuple(entries), tuple(entries.values()), lacks=state.lacks)
        return virtual_heap.make_cell(self.context, made, cell.name, at.span).var

    def freeze(self, builder: Builder, cell: Cell, name: str) -> ir.Atom:
        """An ordinary object with the attributes that a virtual one has now."""
        heap = self.context.heap
        state = heap.state(cell)
        if cell.origin is not None and not virtual_heap.is_changed(heap, cell):
            return virtual_heap.origin_atom(builder, cell, name)
        if cell in self.live.objects and not virtual_heap.is_varied(self.context, cell) and cell not in heap.written:
            return virtual_heap.origin_atom(builder, cell, name)  # all that was done to it was done to the object
        severs = virtual_heap.is_varied(self.context, cell) and not self.context.for_value
        if severs or cell.origin is not None or state.kind is super:
            raise error("S2S138", span=cell.span, name=state.kind.__name__)
        for lacked in state.lacks:
            raise error("S2S132", span=cell.span, name=cell.name, label=lacking.DEPENDS.format(lacked))
        if cell in self.freezing:
            raise error("S2S133", span=cell.span, name=cell.name)
        self.freezing.add(cell)
        try:
            values = [builder.frozen(a) for a in state.items]
        finally:
            self.freezing.remove(cell)
        flat = [a for key, value in zip(state.keys, values, strict=True) for a in (ir.Const(key), value)]
        made = builder.let(ir.Call(ir.Const(rt.make_object), (ir.Const(state.kind), *flat)), UNKNOWN, name)
        virtual_heap.close(self.context, cell.var, "a function that is not known may refer to it")
        return made


__all__ = ["UNARY", "Instances"]
