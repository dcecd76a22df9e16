"""What a program changes outside of itself, set back: so that it runs again as from the same state, and unnoticed.

Containers, attributes, class and global variables, those of modules, cells of closures, arrays, random generators
and streams in memory that the function can reach are noted by what they hold; so are the environment, the context of
decimal numbers, the filters of warnings and what NumPy does about errors. Iterators such as ``itertools.count()``
cannot be set back: a function that runs again is given copies. Generators can be neither. What is kept elsewhere, in
files or in memory of compiled code, is not noted.
"""

from __future__ import annotations

import array
import collections
import copy
import decimal
import io
import itertools
import operator
import os
import pickle
import random
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from s2s.core.inspection import is_own_module, is_written, module_of, namespace, own_dict
from s2s.core.reachable import reachable, slots_of

__all__ = ["Surroundings"]

MOST_OBJECTS = 20_000
MOST_BYTES = 1 << 26
"""So much is looked at; what is found after is not noted."""


class _Place(NamedTuple):
    """Something that can change: ``read`` gives what it holds, ``write`` lets it hold that again. ``array`` is that
    whose numbers it holds."""

    read: Callable[[], Any]
    write: Callable[[Any], None]
    is_random: bool = False
    array: Any = None


class Surroundings:
    """What the objects hold that some objects lead to, as it is when this is made."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self.places = [
            _Place(random.getstate, random.setstate, True),  # type: ignore[arg-type]
            _Place(np.random.get_state, np.random.set_state, True),
            _Place(lambda: dict(os.environ), _set_environment), _Place(_decimals, _set_decimals),
            _Place(np.geterr, _set_errors), _Place(lambda: list(warnings.filters), _set_filters),
        ]
        self.settings = len(self.places)
        left = MOST_BYTES
        self.iterators: dict[int, Any] = {}
        self.generators: list[tuple[Any, Any]] = []
        for found in itertools.islice(reachable(roots), MOST_OBJECTS):
            if type(found) in _COPIED:
                self.iterators[id(found)] = _copied_iterator(found)
            elif type(found) is types.GeneratorType and not found.gi_running:
                self.generators.append((found, _progress(found)))
            if issubclass(type(found), np.ndarray):
                left -= found.nbytes
                if left < 0:
                    continue
            self.places += _places_of(found)
        self.before = self.now()

    def draws(self) -> bytes:
        """How far the random generators are."""
        return pickle.dumps([place.read() for place in self.places if place.is_random])

    def now(self) -> list[Any]:
        """What everything holds at this time."""
        return [place.read() for place in self.places]

    def is_as(self, held: list[Any]) -> bool:
        """Whether everything holds what it held at a time, random generators and settings aside."""
        pairs = zip(self.places[self.settings :], held[self.settings :])
        return all(place.is_random or _is_equal(place.read(), then) for place, then in pairs)

    def is_unchanged(self) -> bool:
        """Whether everything holds what it held at first, random generators included; never where there are iterators,
        which do not tell."""
        if self.iterators or self.generators:
            return False
        drawn = [then for place, then in zip(self.places, self.before) if place.is_random]
        return self.is_as(self.before) and pickle.dumps(drawn) == self.draws()

    def changed(self) -> Iterator[Any]:
        """What those places hold that hold something else than at first; and all arrays, which may hold equal
        numbers."""
        for place, then in zip(self.places, self.before):
            if place.array is not None:
                yield place.array
            elif not _is_same(now := place.read(), then):
                yield now

    def put(self, held: list[Any]) -> None:
        """Let everything hold again what it held at a time."""
        for place, then in zip(self.places, held):
            if not _is_same(place.read(), then):
                place.write(then)

    def put_before(self) -> None:
        """Let everything hold again what it held at first, and iterators be as far as they were: as copies."""
        copies = {key: _copied_iterator(iterator) for key, iterator in self.iterators.items()}
        self.put([_with_copies(held, copies) for held in self.before] if copies else self.before)

    def is_used_up(self) -> bool:
        """Whether a generator has been read since, so that what reads it cannot run again."""
        return any(
            place != _progress(generator)[0] or not _is_same(held, _progress(generator)[1])
            for generator, (place, held) in self.generators
        )


def _set_environment(held: dict[str, str]) -> None:
    """Let the environment hold what it held; only what differs is written, as each write tells the system."""
    for name in os.environ.keys() - held.keys():
        del os.environ[name]
    for name, text in held.items():
        if os.environ.get(name) != text:
            os.environ[name] = text


def _set_errors(held: Any) -> None:
    np.seterr(**held)


def _set_filters(held: Any) -> None:
    warnings.resetwarnings()  # which lets Python look at them again
    warnings.filters[:] = held  # type: ignore[index]


_OF_DECIMALS = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")


def _decimals() -> tuple[Any, ...]:
    """The context of decimal numbers, and what it holds."""
    context = decimal.getcontext()
    values = tuple(getattr(context, name) for name in _OF_DECIMALS)
    return context, values, tuple(context.flags.items()), tuple(context.traps.items())


def _set_decimals(held: tuple[Any, ...]) -> None:
    context, values, flags, traps = held
    for name, value in zip(_OF_DECIMALS, values):
        setattr(context, name, value)
    context.flags.update(flags)
    context.traps.update(traps)
    decimal.setcontext(context)


_COPIED: frozenset[type] = frozenset({
    itertools.count, itertools.cycle, itertools.chain, itertools.islice, itertools.repeat, itertools.accumulate,
    zip, map, enumerate, filter, reversed,
    *map(type, (iter([]), iter(()), iter(range(0)), iter(dict[int, int]()), iter(""), iter(b""), iter(set[int]()))),
})
"""Iterators of C code that tell how far they are."""


def _copied_iterator(value: Any) -> Any:
    """An iterator that is as far as another one, over the same objects; the same one where Python cannot tell."""
    if type(value) not in _COPIED:
        return value
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that Python 3.14 will not tell
            if type(value) in _OVER_HASHED:
                return copy.copy(value)
            make, args, *state = value.__reduce__()
            made = make(*map(_copied_iterator, args))
            for held in filter(None, state):
                made.__setstate__(tuple(map(_copied_part, held)) if isinstance(held, tuple) else held)
            return made
    except (TypeError, ValueError, RuntimeError):
        return value


def _copied_part(part: Any) -> Any:
    """A part of an iterator's state; ``cycle`` appends to a list."""
    return list(part) if isinstance(part, list) else _copied_iterator(part)


_OVER_HASHED = (type(iter(dict[int, int]())), type(iter(set[int]())))


def _with_copies(held: Any, copies: dict[int, Any]) -> Any:
    """A record with copies in place of iterators."""
    if isinstance(held, dict) and any(id(part) in copies for part in held.values()):
        return {key: copies.get(id(part), part) for key, part in held.items()}
    if isinstance(held, list) and any(id(part) in copies for part in held):
        return [copies.get(id(part), part) for part in held]
    return held


def _progress(generator: Any) -> tuple[int, list[Any]]:
    """How far a generator is: where, and with which variables."""
    frame = generator.gi_frame
    return (-2, []) if frame is None else (frame.f_lasti, [*frame.f_locals.values()])


def _places_of(found: Any) -> list[_Place]:
    kind = type(found)
    if kind is types.FunctionType:
        return [] if is_own_module(found.__globals__.get("__name__")) else _of_function(found)
    if issubclass(kind, type):
        if is_own_module(module_of(found)) or not is_written(found):
            return []
        return [_Place(lambda: dict(namespace(found)), lambda held: _put_class(found, held))]
    if issubclass(kind, np.random.Generator):
        bits = found.bit_generator
        return [_Place(lambda: bits.state, lambda state: setattr(bits, "state", state), True)]
    if issubclass(kind, np.random.RandomState):
        return [_Place(found.get_state, found.set_state, True)]
    if issubclass(kind, random.Random):
        return [_Place(lambda: _state_of_draws(found), lambda held: _put_draws(found, held), True)]
    places = [_Place(lambda: slots_of(found), lambda held: _put_slots(found, held))] if slots_of(found) else []
    own = own_dict(found)
    if isinstance(own, dict) and not issubclass(kind, types.ModuleType):
        places.append(_of_container(dict, own))
    if issubclass(kind, np.ndarray):
        if np.ndarray.flags.__get__(found).writeable:  # type: ignore[attr-defined]
            places.append(_of_array(found))
    for base in _CONTAINERS:
        if issubclass(kind, base):
            return [*places, _of_container(base, found)]
    if kind in (array.array, bytearray):
        places.append(_Place(lambda: bytes(found), lambda held: _put_bytes(found, held)))
    elif kind in (io.StringIO, io.BytesIO) and not found.closed:
        places.append(_Place(lambda: _state_of_stream(found), lambda held: held and found.__setstate__(held)))
    return places


_DRAWS: Any = random.Random.__base__


def _state_of_draws(draws: random.Random) -> Any:
    """How far a generator is; the methods of a class of its own may ask for what it has not been given."""
    return _DRAWS.getstate(draws), own_dict(draws).get("gauss_next")


def _put_draws(draws: random.Random, held: Any) -> None:
    _DRAWS.setstate(draws, held[0])
    own_dict(draws)["gauss_next"] = held[1]


_CONTAINERS = (list, collections.deque, collections.OrderedDict, dict, set)
"""Built-in containers; subclasses are read and filled as these."""


def _of_container(base: Any, container: Any) -> _Place:
    def write(held: Any) -> None:
        base.clear(container)
        if base is collections.OrderedDict:
            for key, value in held.items():
                base.__setitem__(container, key, value)
        else:
            (base.update if base in (dict, set) else base.extend)(container, held)

    if issubclass(base, dict):
        return _Place(lambda: dict(base.items(container)), write)
    return _Place(lambda: list(base.__iter__(container)), write)


def _put_bytes(owner: Any, held: bytes) -> None:
    owner[:] = held if isinstance(owner, bytearray) else array.array(owner.typecode, held)


def _state_of_stream(stream: Any) -> Any:
    return None if stream.closed else stream.__getstate__()


def _of_array(found: Any) -> _Place:
    def plain() -> Any:  # no view is kept: the memory may be another one, after ``resize``
        return np.ndarray.view(found, np.ndarray)

    def write(held: Any) -> None:
        if plain().shape != held.shape:
            np.ndarray.resize(found, held.shape, refcheck=False)
        np.copyto(plain(), held)

    return _Place(lambda: plain().copy(order="K"), write, array=found)


def _of_function(fn: types.FunctionType) -> list[_Place]:
    """The variables outside of a function that it, or one inside it, may assign; and its attributes."""
    names, codes = set[str](), [fn.__code__]
    while codes:
        code = codes.pop()
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
        names.update(code.co_names)
    own = {name for name in vars(fn) if not name.startswith("__s2s")}
    scopes = {id(fn.__globals__): fn.__globals__}
    held = [cell.cell_contents for cell in fn.__closure__ or () if cell != types.CellType()]
    _add_modules([*held, *(fn.__globals__.get(name) for name in names)], names, scopes)
    return [*map(_of_cell, fn.__closure__ or ()), _of_names(vars(fn), own),
            *(_of_names(scope, names) for scope in scopes.values())]


def _add_modules(held: list[Any], names: set[str], scopes: dict[int, dict[str, Any]]) -> None:
    """Add the variables of modules, and of those that names lead to in these: ``package.module.NAME``."""
    for module in held:
        if type(module) is types.ModuleType and not is_own_module(module.__name__) and id(vars(module)) not in scopes:
            scopes[id(vars(module))] = scope = vars(module)
            _add_modules([scope.get(name) for name in names], names, scopes)


def _of_names(scope: dict[str, Any], names: set[str]) -> _Place:
    def write(held: dict[str, Any]) -> None:
        for name in names - held.keys():
            scope.pop(name, None)
        scope.update(held)

    return _Place(lambda: {name: scope[name] for name in names if name in scope}, write)


def _of_cell(cell: types.CellType) -> _Place:
    def read() -> Any:
        return [cell.cell_contents] if cell != types.CellType() else []

    def write(held: Any) -> None:
        if held:
            cell.cell_contents = held[0]
        else:
            del cell.cell_contents

    return _Place(read, write)


def _put_class(kind: type, held: dict[str, Any]) -> None:
    now = namespace(kind)
    for name in [name for name in now if name not in held]:
        type.__delattr__(kind, name)
    for name, value in held.items():
        if namespace(kind).get(name) is not value:
            type.__setattr__(kind, name, value)


def _put_slots(owner: Any, held: dict[str, Any]) -> None:
    for name in slots_of(owner).keys() - held.keys():
        object.__delattr__(owner, name)
    for name, value in held.items():
        object.__setattr__(owner, name, value)


def _is_equal(a: Any, b: Any) -> bool:
    """Whether two records of one place hold the same, or say the same where they are made anew each time."""
    if isinstance(a, np.ndarray) and a.dtype.kind == "O":
        return a.shape == b.shape and all(map(operator.is_, a.ravel().tolist(), b.ravel().tolist()))
    return _is_same(a, b) or (type(a) is tuple and a == b)


def _is_same(a: Any, b: Any) -> bool:
    """Whether two records of one place hold the same objects, or arrays the same numbers."""
    if isinstance(a, np.ndarray):
        return a.dtype.kind != "O" and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return len(a) == len(b) and all(map(operator.is_, a, b)) and all(map(operator.is_, a.values(), b.values()))
    if isinstance(a, list):
        return len(a) == len(b) and all(map(operator.is_, a, b))
    return isinstance(a, bytes) and a == b
