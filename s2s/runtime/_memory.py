"""Arrays of NumPy that share memory: where their adjoints lie, copies that lie as they do, checks that others do not.

In code for arrays of other modules, which have no buffer that NumPy could look at, ``s2s.arrays.memory`` has the four
that look at one in other words, and the rest of this module is run as it stands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, MutableMapping, MutableSequence, MutableSet
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from s2s.errors import error

# --- adjoints -------------------------------------------------------------------------------------------------------


class Adjoints:
    """The adjoints of arrays, found by the memory that the arrays lie in: arrays that share memory have adjoints that
    share memory in the same way. For programs in which it depends on the run which arrays these are.

    ``adjoint_of = Adjoints()`` knows none; ``adjoint_of(a)`` is the adjoint of ``a``, to be changed in place, zeros at
    first; ``adjoint_of.take(a)`` gives it as an array of its own and puts zeros in its place.
    """

    def __init__(self) -> None:
        self._found: dict[int, tuple[Any, int, Any]] = {}

    def __call__(self, a: Any) -> Any:
        """The adjoint of an array: same shape, dtype and layout.

        Raises SharedMemoryError for a broadcast array: several of its elements are one place in memory, and what is
        added to them would not add up.
        """
        if any(stride == 0 and length > 1 for stride, length in zip(a.strides, a.shape, strict=True)):
            raise error("S2S125")
        low, memory = self._memory(a)
        offset = a.__array_interface__["data"][0] - low
        return np.ndarray(a.shape, a.dtype, memory, offset, a.strides)

    def take(self, a: Any, *others: Any) -> Any:
        """The adjoint of an array that was made just now, which is thereby passed on; zeros where the array only shares
        the memory of one of ``others``, so that nothing has to be passed on."""
        if any(isinstance(other, np.ndarray) and self._owner(other) is self._owner(a) for other in others):
            return np.zeros_like(a)
        bar = self(a)
        taken = bar.copy()
        bar[...] = 0.0
        return taken

    def _owner(self, a: Any) -> Any:
        while isinstance(a.base, np.ndarray):
            a = a.base
        return a

    def _memory(self, a: Any) -> tuple[int, Any]:
        """Where the memory of an array begins, and the bytes that hold its adjoint."""
        owner = self._owner(a)
        found = self._found.get(id(owner))
        if found is None:
            low, high = np.lib.array_utils.byte_bounds(owner)
            if any(low < start + memory.size and start < high for _, start, memory in self._found.values()):
                raise error("S2S126")
            found = self._found[id(owner)] = owner, low, np.zeros((high - low + 15) // 16, complex).view(np.uint8)
        return found[1], found[2]


def own_tangent(y_dot: Any, y: Any, *sources: Any) -> Any:
    """The tangent of an array ``y`` that is changed in place, as an array of its own. Raises SharedMemoryError where
    ``y`` turns out to be, or to be a view of, one of the ``sources`` that it was computed from: their tangents would
    have to change together."""
    if any(isinstance(source, np.ndarray) and np.may_share_memory(y, source) for source in sources):
        raise error("S2S127")
    return np.copy(y_dot)


# --- memory of arrays -----------------------------------------------------------------------------------------------

_NOTHING = bytes(np.dtype(np.clongdouble).itemsize)


def outline(x: Any) -> Any:
    """An array that has the shape and dtype of an array and takes no memory, to be kept where only these are read;
    anything else as it is."""
    if type(x) is not np.ndarray or x.dtype.kind not in "biufc":
        return x
    return np.ndarray(x.shape, x.dtype, _NOTHING, 0, (0,) * x.ndim)


def copy_in_memory(x: Any, like: Any = None) -> Any:
    """A copy of an array that lies in memory as the array does, or as another one, with the same gaps: what is a view
    of it is one of the copy. Elements that the array has many times are there once each."""
    x = np.asarray(x)
    like = x if like is None else np.asarray(like)
    if 0 in like.strides or not x.size:
        return np.copy(x)
    ends = [(n - 1) * s for n, s in zip(like.shape, like.strides, strict=True)]
    memory = np.empty(sum(map(abs, ends)) + like.itemsize, np.uint8)
    first = -sum(min(0, end) for end in ends)
    made: np.ndarray[Any, Any] = np.ndarray(like.shape, like.dtype, memory, first, like.strides)
    made[...] = x
    return made


def kept(value: Any) -> Any:
    """What an array from outside of the function holds at this time, for the reverse sweep: a copy of it, and of the
    arrays in a container; a number as it is. Calls that nobody has read may change the array itself."""
    if type(value) in (float, int, bool, str) or isinstance(value, np.generic):
        return value
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    return _copied(value, {})


def _copied(value: Any, made: dict[int, Any]) -> Any:
    """A copy of a container or of an item of one; ``made`` has those of the containers around, as one may hold itself,
    and of arrays, as one may be there twice."""
    kind = type(value)
    if id(value) in made:
        return made[id(value)]
    if kind is list:
        items = made[id(value)] = []
        items.extend(_copied(item, made) for item in value)
        return items
    if kind is dict:
        entries = made[id(value)] = {}
        entries.update((key, _copied(item, made)) for key, item in value.items())
        return entries
    if kind in (tuple, set):
        return kind(_copied(item, made) for item in value)
    if isinstance(value, np.ndarray):
        copied = made[id(value)] = value.copy(order="K")
        return copied
    if hasattr(kind, "dtype") and hasattr(kind, "shape") and hasattr(kind, "copy"):  # a sparse matrix, for instance
        return value.copy()
    return value


def now(fn: Any, *args: Any) -> Any:
    """What a function gives at this time that reads what others may change: an item, an attribute."""
    return fn(*args)


def read_now(value: Any) -> Any:
    """What a variable of a module holds at this time, to which the function assigns something else."""
    return value


def before_calls(array: Any) -> Any:
    """What an argument holds before calls that nobody has read may change it, for ``check_unchanged``."""
    return array.copy(order="K")


def give_back(array: Any, before: Any) -> None:
    """Let an argument hold again what it held before a call that was given it has changed it: the caller's arrays stay
    as they were."""
    if array.flags.writeable and array.shape == before.shape:
        array[...] = before


def check_unchanged(array: Any, before: Any, name: str) -> None:
    """Raise ArgumentError where a call that nobody has read has changed an argument of the function, which it knows by
    another name; what the argument held is given back to it first. Copies, as a recording gives, would hide that."""
    if not np.array_equal(array, before, equal_nan=array.dtype.kind in "fc"):
        array[...] = before
        problem = f"`{name}` is changed in place, by another name, by a function that is not read"
        raise error("S2S511", problem=problem, hint="pass a copy of it")


def axes_in_memory(x: Any) -> tuple[int, ...]:
    """The axes of an array, from that whose neighbours lie farthest apart in memory to that whose lie side by side. An
    axis along which all is one element stays where it is, as NumPy has it."""
    x = np.asarray(x)
    strides = [abs(s) if n > 1 else 0 for s, n in zip(x.strides, x.shape, strict=True)]
    inner: list[int] = []
    for axis in reversed(range(len(strides))):
        at = len(inner)
        for k in reversed(range(len(inner))):
            if strides[axis] and 0 < strides[inner[k]] <= strides[axis]:
                break
            at = k if strides[axis] and strides[inner[k]] else at
        inner.insert(at, axis)
    return tuple(reversed(inner))


# --- what strides show ----------------------------------------------------------------------------------------------


def gather(x: Any, places: Any) -> Any:
    """The elements of an array at places of the flattened array: what a view by strides shows now."""
    return np.take(x, places)


def places_of_strides(x: Any, shape: Any, strides: Any) -> Any:
    """The places in the flattened array that ``as_strided(x, shape, strides)`` shows. Raises SharedMemoryError where it
    shows memory between or beyond the elements of the array."""
    x = np.asarray(x)
    shape = x.shape if shape is None else tuple(np.atleast_1d(shape).tolist())
    if strides is None:  # NumPy tells of none where the memory is contiguous: then it is for the new shape
        strides = np.empty(shape, x.dtype).strides if x.flags.c_contiguous else x.strides
    strides = tuple(np.atleast_1d(strides).tolist())
    shown, own = _offsets(shape, strides), np.ravel(_offsets(x.shape, x.strides))
    order = np.argsort(own, kind="stable")
    found = np.searchsorted(own, shown, sorter=order)
    if np.any(found >= own.size) or np.any(own[order[found]] != shown):
        raise error("S2S129")
    return order[found]


def _offsets(shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """How many bytes after the first element each element lies."""
    total: Any = np.zeros(shape, np.intp)
    for axis, (n, stride) in enumerate(zip(shape, strides, strict=True)):
        total = total + np.reshape(np.arange(n) * stride, (-1,) + (1,) * (len(shape) - axis - 1))
    return total


# --- checks ---------------------------------------------------------------------------------------------------------


def check_apart(changed: Any, foreign: Any, name: str) -> None:
    """Raise SharedMemoryError where an argument that is changed in place is, or shares memory with, what the function
    reads from outside: an array, or a list, dict or object, or one inside of these."""
    if isinstance(changed, np.ndarray):
        shared = any(isinstance(a, np.ndarray) and np.may_share_memory(changed, a) for a in _changeable_in(foreign))
    else:
        shared = not {id(one) for one in _changeable_in(changed)}.isdisjoint(map(id, _changeable_in(foreign)))
    if shared:
        raise error("S2S124", name=name)


def _changeable_in(value: Any) -> Iterator[Any]:
    """The arrays, lists, dicts and objects that a value is and holds."""
    seen, todo = set[int](), [value]
    while todo:
        value = todo.pop()
        if isinstance(value, tuple):
            todo += value
        elif id(value) not in seen and (inside := _inside(value)) is not None:
            seen.add(id(value))
            todo += inside
            yield value


def _inside(value: Any) -> list[Any] | None:
    """What an array, list, dict or object holds; None for what cannot be changed."""
    if isinstance(value, np.ndarray):
        return []
    if isinstance(value, (list, set, deque)):
        return list(value)
    if isinstance(value, dict):
        return list(value.values())
    return list(vars(value).values()) if _has_attributes(value) else None


def _has_attributes(value: Any) -> bool:
    """Whether a value is an object with attributes: no class, module or function, but one that can be called may be."""
    return hasattr(value, "__dict__") and not isinstance(value, (type, ModuleType, FunctionType, MethodType))


def check_disjoint(changed: Any, value: Any, place: str) -> None:
    """Raise SharedMemoryError where an array that NumPy fills one element after the other shares memory with what
    it is filled with: what is read then depends on what has been stored."""
    if any(np.shares_memory(changed, other) for other in arrays_in([value])):
        raise error("S2S123", label=f"in {place}")


def check_new(made: Any, name: str, /, *given: Any) -> None:
    """Raise SharedMemoryError where an array that a function with a rule gave, in a container or not, shares memory
    with one that it was given, and one of them is changed in place."""
    arrays = arrays_in(given)
    if any(np.may_share_memory(one, other) for one in arrays_in([made]) for other in arrays):
        raise error("S2S128", name=name)


def check_two(*arrays: Any) -> None:
    """Raise SharedMemoryError where two of several arrays are one: a deep copy has one copy of it."""
    if len({*map(id, arrays)}) < len(arrays):
        raise error("S2S130")


def check_separate(*arguments: Any) -> None:
    """Raise UnsupportedSyntaxError where a list or dict is reached in two ways: generated code keeps what is stored
    one way apart from the other."""
    seen: set[int] = set()
    todo = list(arguments)
    while todo:
        value = todo.pop()
        if isinstance(value, (list, dict)):
            if id(value) in seen:
                raise error("S2S140", kind=type(value).__name__)
            seen.add(id(value))
        if isinstance(value, (list, tuple, dict)):
            todo += value.values() if isinstance(value, dict) else value
        elif _has_attributes(value):
            if id(value) in seen:
                raise error("S2S140", kind=type(value).__name__)
            seen.add(id(value))
            todo += vars(value).values()


_CHANGEABLE = (MutableSequence, MutableSet, MutableMapping)


def check_own(value: Any, name: str) -> None:
    """Raise UnsupportedSyntaxError where ``name += ...`` would change an array or container that others may refer to.
    """
    if (isinstance(value, np.ndarray) and value.ndim) or isinstance(value, _CHANGEABLE):
        raise error("S2S117", name=name, hint=f"write `{name} = {name} + ...`, which makes a new array")


# --- what containers hold -------------------------------------------------------------------------------------------


def arrays_in(values: Any) -> list[Any]:
    """The arrays among values, and in lists, tuples and dicts of them."""
    found = [v for v in values if isinstance(v, np.ndarray)]
    return found + [a for c in containers_in(values) for a in items_of(c) if isinstance(a, np.ndarray)]


def containers_in(values: Any) -> list[Any]:
    found: dict[int, Any] = {}
    todo = list(values)
    while todo:
        value = todo.pop()
        if isinstance(value, (list, tuple, dict)) and id(value) not in found:
            found[id(value)] = value
            todo += items_of(value)
    return list(found.values())


def items_of(container: Any) -> list[Any]:
    return list(container.values() if isinstance(container, dict) else container)
