"""What depends on what is differentiated, by identity, and the steps between.

A number is known by the object that it is: Python hands objects on, through variables, containers, attributes, closures
and iterators, and makes a new one for each result. An array is known by its memory. So nothing is wrapped, and the
program runs with the objects that it always has.

Arrays that steps hold are copied before something changes them.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import types
import weakref
from array import array as TypedArray
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.inspection import has_own_operators, mro_of, name_of, namespace, own_dict
from s2s.core.values import is_record_class
from s2s.errors import error
from s2s.recorded.memory import Place, array_at, copy_of, owner_of, place_in, view_at
from s2s.recorded.values_read import LARGE, positions_read, without_numbers
from s2s.versions.carriers import carries_arrays, parts_of, put_together

__all__ = [
    "NAMES_OF_MEMORY", "Leaf", "Parts", "Recorder", "Ref", "digits_of", "has_own_class", "is_a", "is_number",
    "is_own_sequence", "items_in", "items_of", "kind_of", "number_type", "pack", "unpack",
]

Ref = int | Place | None
"""What of a recording a value is: the number of a slot, a place in memory, or nothing."""


class Leaf:
    """In a structure of containers, the number of a value that is none."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


class Parts:
    """In a structure of containers an object with parts: what its attributes are, by name, and which object it was."""

    __slots__ = ("items", "like")

    def __init__(self, like: Any, items: dict[str, Any]) -> None:
        self.like = like
        self.items = items


def _is_leaf(value: Any) -> bool:
    return False


def pack(value: Any, leaves: list[Any], has_parts: Callable[[Any], bool] = _is_leaf) -> Any:
    """A value with a ``Leaf`` for each part that is no container, nor an object that ``has_parts``. A sequence with
    operators of its own is no container."""
    kind = type(value)
    if is_own_sequence(value):
        leaves.append(value)
        return Leaf(len(leaves) - 1)
    if issubclass(kind, tuple):
        items = [pack(item, leaves, has_parts) for item in tuple.__iter__(value)]
        if hasattr(kind, "_fields"):
            return _named_tuple(value, items)
        return kind(items) if _is_plain_tuple(kind) else tuple(items)
    if issubclass(kind, (list, collections.deque)):
        return [pack(item, leaves, has_parts) for item in items_in(value)]
    if issubclass(kind, dict):
        return {key: pack(item, leaves, has_parts) for key, item in dict.items(value)}
    if has_parts(value):
        return Parts(value, {name: pack(part, leaves, has_parts) for name, part in _parts_of(value).items()})
    leaves.append(value)
    return Leaf(len(leaves) - 1)


def is_own_sequence(value: Any) -> bool:
    """Whether a value is a list or tuple of a class with operators of its own."""
    kind = type(value)
    return kind is not list and kind is not tuple and issubclass(kind, (list, tuple)) and has_own_operators(kind)


def _named_tuple(like: Any, items: list[Any]) -> Any:
    """A named tuple as another one, with other items; one that has more than its items keeps that."""
    if is_record_class(type(like)):
        return type(like)(*items)
    made = tuple.__new__(type(like), items)
    if hasattr(made, "__dict__"):
        made.__dict__.update(like.__dict__)
    return made


def _parts_of(value: Any) -> dict[str, Any]:
    parts = parts_of(value)
    return {name: getattr(value, name) for name in rt.attributes_of(value)} if parts is None else parts


def _is_plain_tuple(kind: type) -> bool:
    return kind is tuple or hasattr(kind, "n_sequence_fields")


def unpack(value: Any, leaves: list[Any]) -> Any:
    """A structure with the leaves in place."""
    kind = type(value)
    if kind is Leaf:
        return leaves[value.number]
    if kind is Parts:
        parts = {name: unpack(item, leaves) for name, item in value.items.items()}
        if carries_arrays(value.like):
            return put_together(value.like, parts)
        return rt.gradient_object(value.like, **parts)
    if kind is list or kind is tuple:
        return kind([unpack(item, leaves) for item in value])
    if kind is dict:
        return {key: unpack(item, leaves) for key, item in value.items()}
    if hasattr(kind, "_fields"):
        return _named_tuple(value, [unpack(item, leaves) for item in value])
    return kind([unpack(item, leaves) for item in value])


_dtype: Any = np.ndarray.__dict__["dtype"].__get__


def kind_of(array: Any) -> str:
    """The kind of numbers of an array, whatever its class has for ``dtype``."""
    return _dtype(array).kind  # type: ignore[no-any-return]


def items_of(array: Any) -> list[Any]:
    """The elements of an array of Python objects."""
    return np.ndarray.view(array, np.ndarray).ravel().tolist()  # type: ignore[no-any-return]


def is_a(value: Any, kinds: Any) -> bool:
    """Whether a value is of one of these classes, whatever it says of its ``__class__``."""
    return issubclass(type(value), kinds)


def is_number(value: Any) -> bool:
    """Whether a value is a number that may carry a derivative."""
    return is_a(value, _NUMBERS)


_NUMBERS = (float, complex, np.inexact)


def has_own_class(value: Any) -> bool:
    """Whether a number is of a class that derives from Python's, which may have attributes and operators."""
    return type(value) is not float and is_a(value, (float, complex)) and not (
        type(value) is complex or is_a(value, np.inexact))


def number_type(value: Any) -> Any:
    """The type of a number; of one of a class of its own, that of Python that it derives from."""
    return (float if is_a(value, float) else complex) if has_own_class(value) else type(value)


MOST_WRITTEN = 1000
"""Of so many numbers at most the digits are known that were written to texts."""


def digits_of(text: str) -> str:
    """The digits of a number that a text begins with, without zeros at its ends; 0 for zero."""
    mantissa = text.lstrip("+-").partition("e")[0]
    return "".join(c for c in mantissa if c.isdigit()).strip("0") or "0"


NAMES_OF_MEMORY = frozenset({np.void, np.record, memoryview})
"""Types of objects that are names for the memory of an array: a record of a table, for one."""

_ITEMS: Any = (list, tuple, set, frozenset, collections.deque, type({}.values()), type({}.items()))
_PLAIN = frozenset({dict, *_ITEMS})
"""Containers that have no attributes."""
_SIMPLE = (int, str, bytes, type(None), type, types.ModuleType, types.BuiltinFunctionType, np.dtype, slice)
_WITHOUT_PARTS = frozenset({*_SIMPLE, bool, float, complex, np.float64})

_BY_ITEMS = 6
"""Containers in containers are looked into so deep."""


_TEXT, _FIXED, _NUMBER, _OWN_NUMBER, _ARRAY, _MEMORY, _CONTAINER, _OBJECT = (
    "text", "fixed", "number", "own number", "array", "memory", "container", "object")
"""What a value is to a recording, by its type: what has no parts and never carries a derivative (``_FIXED`` if C code
may have given it something), a number, one of a class of its own, an array, another name for the memory of one, a
container, or an object with attributes."""

_ROLES: dict[type, str] = {}
_MOST_ROLES = 4096


def _role_of(kind: type) -> str:
    """The role of the values of a type, which is asked for the first time."""
    if len(_ROLES) >= _MOST_ROLES:
        _ROLES.clear()  # a program may make types without end
    _ROLES[kind] = found = _find_role(kind)
    return found


def _find_role(kind: type) -> str:
    if issubclass(kind, _NUMBERS):
        is_own = kind is not float and kind is not complex and not issubclass(kind, np.inexact)
        return _OWN_NUMBER if is_own else _NUMBER
    if issubclass(kind, np.ndarray):
        return _ARRAY
    if kind in NAMES_OF_MEMORY or kind is TypedArray:
        return _MEMORY
    if issubclass(kind, (*_ITEMS, dict)):
        return _CONTAINER
    if issubclass(kind, (int, str, bytes, type(None))):
        return _TEXT
    return _FIXED if issubclass(kind, _SIMPLE) else _OBJECT


def _parts(value: Any) -> Iterator[Any]:
    """What an object, a function or a method refers to."""
    if is_a(value, types.FunctionType):
        for cell in value.__closure__ or ():
            if cell != types.CellType():
                yield cell.cell_contents
        yield from value.__defaults__ or ()
        return
    if is_a(value, types.MethodType):
        yield value.__self__
        return
    yield from own_dict(value).values()
    kind: Any = type(value)
    for slot in _slots(kind):
        with contextlib.suppress(AttributeError):
            yield slot.__get__(value)


@functools.lru_cache(4096)
def _slots(kind: type) -> list[types.MemberDescriptorType]:
    """The slots of a class, which it has from its beginning."""
    parts = [part for base in mro_of(kind) for part in namespace(base).values()]
    return [part for part in parts if type(part) is types.MemberDescriptorType]


def items_in(value: Any) -> Iterator[Any]:
    """The items of a container, the values of a dict, whatever a class of its own makes of iterating over it."""
    kind = type(value)
    if issubclass(kind, dict):
        return iter(dict.values(value))
    base = kind if kind in _ITEMS else next(base for base in _ITEMS if issubclass(kind, base))
    return base.__iter__(value)  # type: ignore[no-any-return]


def _contents(value: Any) -> Iterator[Any]:
    """What a container, an object, a function or a method refers to: an object of a subclass of a container has items,
    and attributes as well."""
    if is_a(value, (*_ITEMS, dict)):
        yield from items_in(value)
    if type(value) not in _PLAIN:
        yield from _parts(value)


def _referred(value: Any) -> Iterable[Any]:
    """What a value refers to, its items and attributes; nothing for a number, an array or a name of memory."""
    if is_a(value, (*_SIMPLE, np.ndarray)) or (is_number(value) and not has_own_class(value)):
        return ()
    return () if type(value) in NAMES_OF_MEMORY else _contents(value)


def reached(values: Iterable[Any], parts_of: Callable[[Any], Iterable[Any]], depth: int) -> Iterator[Any]:
    """Values, and what they lead to in so many steps, the nearest first; of each the parts are looked at once."""
    seen: dict[int, Any] = {}
    level = list(values)
    while level:
        yield from level
        following: list[Any] = []
        if depth > 0:
            for one in level:
                if id(one) not in seen:
                    parts = list(parts_of(one))
                    if parts:
                        seen[id(one)] = one  # is kept, so that nothing new has its id
                        following += parts
        level, depth = following, depth - 1


class Recorder:
    """One recording: what it knows by identity, and its steps in the order in which they ran.

    ``has_strong_zeros`` says whether the reverse sweep takes zero times inf or NaN for zero, ``cancels`` that what is
    NaN by inf - inf is computed by tangents. ``left_out`` says where sweeps have taken such products for zero.
    ``trace`` has the sides of branches that were taken, and what was called, in order. ``met`` counts what was found to
    depend on what is differentiated, and changes of arrays that are known. ``calls`` are those in which that is noted;
    None where functions in ``unreached`` are not watched instead (``recorded/unreached.py``)."""

    def __init__(self) -> None:
        self.slots: dict[int, int] = {}
        self.numbers: list[Any] = []
        self.owners: dict[int, int] = {}
        """The numbers of pieces of memory, by their owners."""
        self.memories: list[np.ndarray[Any, Any] | int] = []
        """By number, the owner of a piece of memory; of one that may be freed the bytes."""
        self._freed: list[Any] = []
        self.steps: list[Any] = []
        self.holders: dict[int, list[tuple[Any, int]]] = {}
        self.tainted: dict[int, Any] = {}
        self.given: dict[int, list[Any]] = {}
        self.written: set[str] = set()
        """The digits of numbers that became a part of a text; the empty str where any text may hold one."""
        self.before: dict[int, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = {}
        self.apart: dict[int, tuple[str, str, str]] = {}
        """Arguments that share memory in the caller's call and not here, by their owners: the names of the function and
        of two of its parameters."""
        self.trace: list[Any] = []
        self.unseen: dict[int, tuple[Any, Any]] = {}
        """Calls whose results carry no derivative: what was called, and where."""
        self.has_strong_zeros = True
        self.left_out: list[int] = []
        self.cancels = False
        self.met = 0
        self.calls: list[Any] | None = None
        self.unreached: dict[int, types.CodeType] = {}

    # -- what is known

    def ref(self, value: Any) -> Ref:
        """What a value is in this recording; None where it does not depend on what is differentiated."""
        if is_number(value):
            return self.slots.get(id(value))
        if is_a(value, np.ndarray) and kind_of(value) in "fcV":
            owner = owner_of(value)
            if id(owner) in self.owners:
                return place_in(owner, value, self.owners[id(owner)])
        if type(value) in NAMES_OF_MEMORY:
            return self.ref(array_at(value))
        return None

    def depends(self, value: Any) -> bool:
        """Whether a value, or what a container holds, depends on what is differentiated."""
        return self._is_led_to((value,), 0)

    def holds(self, *values: Any) -> bool:
        """Whether one of the values depends on what is differentiated, or is an object with attributes that do."""
        return self._is_led_to(values, 4)

    def _is_led_to(self, values: Iterable[Any], steps: int) -> bool:
        """Whether values lead to what depends on what is differentiated, in so many steps by items and attributes, and
        a few more by items. Each is looked at once; this is asked so often that it is one loop."""
        seen: dict[int, Any] = {}
        level = list(values)
        for left in range(steps + _BY_ITEMS, -1, -1):
            following: list[Any] = []
            for one in level:
                role = _ROLES.get(type(one)) or _role_of(type(one))
                if role is _TEXT or (steps and role is _FIXED):
                    continue
                if role is _NUMBER:
                    found = id(one) in self.slots
                elif role is _ARRAY:
                    kind = _dtype(one).kind
                    found = kind in "fcV" and id(owner_of(one)) in self.owners
                    if kind == "O" and left:
                        following += items_of(one)
                elif id(one) in seen:
                    continue
                else:
                    found = id(one) in self.tainted or id(one) in self.slots
                    if role is _MEMORY:
                        found = found or self._is_in_memory(one)
                    elif left and role is not _FIXED:
                        seen[id(one)] = one  # is kept, so that nothing new has its id
                        if left > _BY_ITEMS:
                            following += _contents(one)
                        elif role is _CONTAINER:
                            following += items_in(one)
                if found:
                    self.met += 1
                    return True
            if not following:
                return False
            level = following
        return False

    def _is_in_memory(self, value: Any) -> bool:
        """Whether the memory that something is a name for depends on what is differentiated."""
        is_known = type(value) in NAMES_OF_MEMORY or (type(value) is TypedArray and value.typecode in "fd")
        return is_known and id(owner_of(array_at(value))) in self.owners

    def parts_of(self, value: Any, depth: int = 4) -> Iterator[Any]:
        """The numbers and arrays that an object refers to."""
        for one in reached([value], _referred, depth - 1):
            if is_number(one) or is_a(one, np.ndarray):
                yield one
            elif type(one) in NAMES_OF_MEMORY:
                yield array_at(one)

    def hides(self, *values: Any) -> bool:
        """Whether a value is an object that holds what depends on what is differentiated, or a container of one."""
        objects: list[Any] = []
        seen: dict[int, Any] = {}
        level: list[Any] = list(values)
        for left in range(3, -1, -1):
            following: list[Any] = []
            for one in level:
                role = _ROLES.get(type(one)) or _role_of(type(one))
                if role is _CONTAINER:
                    if type(one) not in _PLAIN:
                        objects += _parts(one)
                    if left and id(one) not in seen:
                        seen[id(one)] = one
                        following += [part for part in items_in(one) if type(part) not in _WITHOUT_PARTS]
                elif role is _OBJECT or role is _MEMORY:
                    objects.append(one)
                elif role is _ARRAY and left and kind_of(one) == "O":
                    following += items_of(one)
            level = following
        return bool(objects) and self.holds(*objects)

    def new(self, value: Any) -> Ref:
        """Let a new number, or a new array, depend on what is differentiated."""
        if is_a(value, np.ndarray):
            owner = owner_of(value)
            return place_in(owner, value, self._number_of(owner))
        self.slots[id(value)] = slot = len(self.numbers)
        self.numbers.append(value)
        return slot

    def _number_of(self, owner: np.ndarray[Any, Any]) -> int:
        """The number of a piece of memory. A small array is kept as long as the recording; the number of a large one is
        forgotten when it is freed, as another object may be where it was."""
        key = id(owner)
        number = self.owners.get(key)
        if number is None:
            self.owners[key] = number = len(self.memories)
            if type(owner) is np.ndarray and owner.nbytes >= LARGE and owner.flags.c_contiguous:
                self.memories.append(owner.nbytes)
                self._freed.append(weakref.ref(owner, lambda _: self.owners.pop(key, None)))
            else:
                self.memories.append(owner)
        return number

    def write(self, values: tuple[Any, ...]) -> None:
        """Note that values became a part of a text."""
        if "" in self.written:
            return
        held = (part for value in values for part in self.parts_of(value))
        found = list(itertools.islice(held, MOST_WRITTEN + 1))
        parts = [np.asarray(_plain(part)) for part in found if self.depends(part)]
        is_known = bool(parts) and all(part.dtype.kind in "fc" for part in parts)
        if not is_known or max(len(found), sum(part.size for part in parts), len(self.written)) > MOST_WRITTEN:
            self.written.add("")
            return
        for number in (n for part in parts for n in part.ravel()):
            for one in (number.real, number.imag):
                self.written |= {digits_of(text) for text in (str(one), repr(float(one)), f"{float(one):.17g}")}

    # -- memory that changes

    def hold(self, step: Any, number: int, array: np.ndarray[Any, Any]) -> None:
        """Note that a step reads an array when it is swept."""
        self.holders.setdefault(id(owner_of(array)), []).append((step, number))

    def changes(self, array: np.ndarray[Any, Any], recorders: list[Recorder]) -> None:
        """Something is about to change an array: steps that hold its memory get a copy, of which other recordings
        know."""
        owner = owner_of(array)
        self.met += any(id(owner) in known for known in (self.holders, self.before, self.apart))
        if id(owner) in self.apart:
            name, first, second = self.apart[id(owner)]
            raise error("S2S510", name=name, first=first, second=second)
        held = self.holders.pop(id(owner), None)
        if held:
            kept, made, whole = copy_of(owner)
            for other in recorders:
                if other is not self:
                    other.store(made, ..., whole)
            for step, number in held:
                step.leaves[number] = view_at(kept, place_in(owner, step.leaves[number]))
        guarded = self.before.get(id(owner))
        if guarded is not None and guarded[1] is None:
            self.before[id(owner)] = owner, owner.copy()  # type: ignore[assignment]

    def guard(self, array: np.ndarray[Any, Any]) -> None:
        """Let an array of the caller be as it was when the recording ends."""
        owner = owner_of(array)
        self.before.setdefault(id(owner), (owner, None))  # type: ignore[arg-type]

    def give_back(self) -> None:
        """Give the arrays of the caller what they held before."""
        for owner, content in self.before.values():
            if content is not None:
                self.changes(owner, [])
                owner[...] = content

    # -- steps

    def arithmetic(self, op: Any, a: Any, b: Any, out: Any) -> None:
        """Note an operation with two numbers."""
        one, other = self.slots.get(id(a)), self.slots.get(id(b))
        if (one is None and other is None) or out is a or out is b:
            return
        self.steps.append(Arithmetic(op, a, b, one, other, out, self.new(out)))

    def elementwise(self, fn: Any, args: tuple[Any, ...], out: Any, partials: tuple[Any, ...] | None = None) -> None:
        """Note a call of an elementwise function with numbers and plain arrays of real numbers. What no one of its
        ``partials`` reads is not kept."""
        refs = [self.slots.get(id(a)) if type(a) is not np.ndarray else self.ref(a) for a in args]
        if all(ref is None for ref in refs):
            return
        ref = self.new(out)
        if partials is not None and type(out) is np.ndarray and out.nbytes >= LARGE:
            read = {k for to, one in zip(refs, partials) if to is not None for k in positions_read(one)}
            if 0 not in read:
                args = tuple(a if k + 1 in read else without_numbers(a) for k, a in enumerate(args))
                out = without_numbers(out)
        self.add(Plain(fn, args, refs, out, ref))

    def call(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any, unread: Any = None) -> None:
        """Note a call of a function with a derivative. One with arguments as ``Plain`` has them, that gives a number or
        an array, has positions of arguments that are ``unread``."""
        step = Step(fn, args, kwargs)
        step.leaves = [_plain(leaf) for leaf in step.leaves]
        step.refs = [self.ref(leaf) for leaf in step.leaves]
        if not any(ref is not None for ref in step.refs):
            return
        memory = {id(owner_of(leaf)) for leaf in step.leaves if is_a(leaf, np.ndarray)}
        outs: list[Any] = []
        step.result = pack(out, outs)
        step.outs = outs
        given = set(map(id, step.leaves))
        for leaf in outs:
            is_new = is_number(leaf) and id(leaf) not in given
            if is_a(leaf, np.ndarray) and kind_of(leaf) in "fcV":
                owner = id(owner_of(leaf))
                is_new = owner not in memory and owner not in self.owners
            step.out_refs.append(self.new(leaf) if is_new else None)
        if unread is not None:
            if step.out_refs[0] is not None:
                self.add(Plain.of(step, unread))
            return
        known = set(map(id, outs)) | given
        if any(id(part) not in known and not self.depends(part) for part in self.parts_of(out, 6)):
            raise error("S2S201", name=name_of(fn))  # it gives an object with numbers that no cotangent comes to
        if any(ref is not None for ref in step.out_refs):
            self.add(step)

    def add(self, step: Any) -> None:
        """Add a step, which holds its arrays from here on."""
        self.steps.append(step)
        for number, leaf in enumerate(step.leaves):
            if type(leaf) is np.ndarray or is_a(leaf, np.ndarray):
                self.hold(step, number, leaf)

    def read(self, array: np.ndarray[Any, Any], index: Any, out: Any) -> None:
        """Note that items of an array were read which are no view of it."""
        if is_a(array, np.ndarray):
            owner = owner_of(array)
            number = self.owners.get(id(owner))
            if number is not None:
                place = place_in(owner, array, number)
                self.steps.append(Read(place, _kept_index(index), out, self.new(out)))

    def store(self, array: np.ndarray[Any, Any], index: Any, value: Any) -> None:
        """Note that items of an array were written."""
        owner = owner_of(array)
        ref = self.ref(value)
        if kind_of(array) not in "fcV" or (ref is None and id(owner) not in self.owners):
            return
        place = place_in(owner, array, self._number_of(owner))
        self.steps.append(Store(place, _kept_index(index), ref, np.shape(value), value))


def _plain(value: Any) -> Any:
    """An array of a class of its own as the array that it is, and so what is a name for its memory."""
    kind = type(value)
    if kind in NAMES_OF_MEMORY:
        return array_at(value)
    return np.ndarray.view(value, np.ndarray) if kind is not np.ndarray and is_a(value, np.ndarray) else value


def _kept_index(index: Any) -> Any:
    if type(index) is int:
        return index
    if is_a(index, tuple):
        return tuple(map(_kept_index, index))
    return index.copy() if is_a(index, np.ndarray) else list(index) if is_a(index, list) else index


class Arithmetic:
    """One of Python's operators with real numbers: ``one`` and ``other`` are the slots of its operands."""

    __slots__ = ("a", "b", "one", "op", "other", "out", "slot")

    def __init__(self, op: Any, a: Any, b: Any, one: Ref, other: Ref, out: Any, slot: Ref) -> None:
        self.op, self.a, self.b, self.one, self.other, self.out, self.slot = op, a, b, one, other, out, slot


class Step:
    """A call of a function with a derivative."""

    __slots__ = ("args", "fn", "kwargs", "leaves", "out_refs", "outs", "refs", "result")

    def __init__(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.fn = fn
        self.leaves: list[Any] = []
        self.args = tuple(pack(arg, self.leaves) for arg in args)
        self.kwargs = {key: pack(arg, self.leaves) for key, arg in kwargs.items()}
        self.refs: list[Ref] = []
        self.result: Any = None
        self.outs: list[Any] = []
        self.out_refs: list[Ref] = []


class Plain(Step):
    """A call with numbers, plain arrays of real numbers and options that gives one number or array. The last of its
    leaves is the result."""

    __slots__ = ()

    def __init__(self, fn: Any, args: tuple[Any, ...], refs: list[Ref], out: Any, out_ref: Ref) -> None:
        """A call by position with numbers and arrays."""
        self.fn, self.args, self.kwargs = fn, _LEAVES[: len(args)], {}
        self.leaves, self.refs = [*args, out], [*refs, None]
        self.result, self.outs, self.out_refs = _LEAVES[0], [out], [out_ref]

    @staticmethod
    def of(step: Step, unread: tuple[int, ...]) -> Plain:
        """Another step as one of this kind, without the numbers of arguments at some positions, and of the result where
        there are such."""
        made = Plain.__new__(Plain)
        made.fn, made.args, made.kwargs = step.fn, step.args, step.kwargs
        made.leaves, made.refs = [*step.leaves, *step.outs], [*step.refs, None]
        for number in [part.number for part in (step.args[k] for k in unread) if type(part) is Leaf]:
            made.leaves[number] = without_numbers(made.leaves[number])
        if unread:
            made.leaves[-1] = without_numbers(made.leaves[-1])
        made.result, made.outs, made.out_refs = step.result, [made.leaves[-1]], step.out_refs
        return made


_LEAVES = tuple(map(Leaf, range(8)))


class Read:
    """``out = array[index]``, which is no view."""

    __slots__ = ("index", "out", "place", "ref")

    def __init__(self, place: Place, index: Any, out: Any, ref: Ref) -> None:
        self.place, self.index, self.out, self.ref = place, index, out, ref


class Store:
    """``array[index] = value``."""

    __slots__ = ("index", "place", "ref", "shape", "value")

    def __init__(self, place: Place, index: Any, ref: Ref, shape: tuple[int, ...], value: Any) -> None:
        self.place, self.index, self.ref, self.shape, self.value = place, index, ref, shape, value

