"""A class with annotated fields goes in, a class of immutable values comes out: ``dataclass`` for quick starts.

Like ``dataclass(frozen=True, slots=True)``, which takes ten times as long to make a class and four times as long
to make an object: with thirty classes that was most of the time until the first call of a derivative.
"""

from __future__ import annotations

import os
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

__all__ = ["record", "replace"]

T = TypeVar("T")

GUARDED = os.environ.get("S2S_CHECK_IR", "") not in ("", "0")
"""Whether assigning to a field raises. Type checkers always refuse it; a guard slows each construction."""


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """The class with slots, ``__init__``, equality by type and fields, hash, repr and ``__match_args__``.

    A field without a default must not follow one with a default; defaults are shared, so they are immutable.
    """
    names = tuple(cls.__annotations__)
    own = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
    defaults = tuple(own.pop(name) for name in names if name in own)
    methods: dict[str, Any] = {"__slots__": names, "__match_args__": names, **_methods(names, defaults)}
    if GUARDED:
        methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
    made: Any = type(cls.__name__, cls.__bases__, methods | own)
    made.__qualname__ = cls.__qualname__
    return made  # type: ignore[no-any-return]


def replace(value: T, /, **changes: Any) -> T:
    """A record with other values for some fields."""
    made: T = value.__replace__(**changes)  # type: ignore[attr-defined]
    return made


def _methods(names: tuple[str, ...], defaults: tuple[Any, ...]) -> dict[str, Any]:
    values = _values_of(names)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        kind = type(self)  # the real one is written when it is first needed: many classes never are
        kind.__init__ = _write_init(names, defaults)
        kind.__init__(self, *args, **kwargs)

    def __replace__(self: Any, **changes: Any) -> Any:
        kind = type(self)
        kind.__replace__ = _write_replace(kind, names)
        return kind.__replace__(self, **changes)

    def __eq__(self: Any, other: object) -> Any:
        if self is other:
            return True
        return values(self) == values(other) if self.__class__ is other.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    def __repr__(self: Any) -> str:
        fields = zip(names, values(self), strict=True)
        return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in fields)})"

    def __reduce__(self: Any) -> Any:
        return type(self), values(self)

    made = (__init__, __replace__, __eq__, __hash__, __repr__, __reduce__)
    return {method.__name__: method for method in made}


def _values_of(names: tuple[str, ...]) -> Any:
    """A function from a record to the tuple of its fields."""
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda self: (getattr(self, names[0]),)) if names else lambda self: ()


def _write_init(names: tuple[str, ...], defaults: tuple[Any, ...]) -> Any:
    assign = "    put(self, {0!r}, {0})\n" if GUARDED else "    self.{0} = {0}\n"
    text = f"def __init__({', '.join(('self', *names))}):\n{''.join(map(assign.format, names)) or '    pass'}"
    scope: dict[str, Any] = {"put": object.__setattr__}
    exec(text, scope)
    scope["__init__"].__defaults__ = defaults or None
    return scope["__init__"]


def _write_replace(kind: Any, names: tuple[str, ...]) -> Any:
    given = ", ".join(("self", *(["*"] if names else []), *(f"{name}=_same" for name in names)))
    values = ", ".join(f"self.{name} if {name} is _same else {name}" for name in names)
    text = f"def __replace__({given}):\n    return _kind({values})"
    scope: dict[str, Any] = {"_kind": kind, "_same": object()}
    exec(text, scope)
    return scope["__replace__"]


def _refuse(self: Any, name: str, *value: Any) -> None:
    raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be changed")
