"""What a program writes down beside what it computes: no derivative comes of it."""

from __future__ import annotations

import contextlib
import functools
import operator
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def record(method: Callable[..., Any], *values: Any, **named: Any) -> None:
    """``method(*values)`` of a container from outside, with copies of arrays: the sweeps may write over theirs."""
    if _journal.entries is not None:
        _journal.entries.append(_content_of(method.__self__))  # type: ignore[attr-defined]
    method(*map(as_it_is, values), **{key: as_it_is(value) for key, value in named.items()})


def record_item(container: Any, key: Any, value: Any, op: Callable[[Any, Any], Any] | None = None) -> None:
    """``container[key] = value``, or with an operator ``container[key] op= value``."""
    if _journal.entries is not None:
        _journal.entries.append(_content_of(container))
    container[key] = as_it_is(value) if op is None else op(container[key], value)


def record_attribute(owner: Any, name: str, value: Any) -> None:
    """``owner.name = value`` of an object from outside. What its class does then in Python is done already."""
    if _journal.entries is not None:
        _journal.entries.append(_attribute_of(owner, name))
    _of_python(type(owner), "__setattr__")(owner, name, value)


def record_variable(scope: dict[str, Any], name: str, value: Any) -> None:
    """Assign a variable of a module; ``scope`` is ``globals()``, or ``vars(module)``."""
    if _journal.entries is not None:
        _journal.entries.append(_variable_of(scope, name))
    scope[name] = value


def record_static(
    owner: Any, name: str, value: Any, op: Callable[[Any, Any], Any] | None = None
) -> None:
    """``owner.name = value`` of a class, or with an operator ``owner.name op= value``."""
    if _journal.entries is not None:
        _journal.entries.append(_attribute_of(owner, name))
    setattr(owner, name, value if op is None else op(getattr(owner, name), value))


def record_content(container: Any, items: Any) -> None:
    """A container from outside holds other items: it is the same container."""
    if _journal.entries is not None:
        _journal.entries.append(_content_of(container))
    items = items if isinstance(items, dict) else list(items)
    container.clear()
    (container.extend if hasattr(container, "extend") else container.update)(items)


def remove_item(container: Any, key: Any) -> None:
    """``del container[key]`` of a container from outside."""
    if _journal.entries is not None:
        _journal.entries.append(_content_of(container))
    operator.delitem(container, key)


def as_it_is(value: Any) -> Any:
    """What a value is at this time: a copy of an array, and of the containers around it."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(map(as_it_is, value))
    if type(value) is dict:
        return {key: as_it_is(item) for key, item in value.items()}
    if isinstance(value, tuple):  # with names
        return tuple.__new__(type(value), map(as_it_is, value))
    return value


# --- what runs again ------------------------------------------------------------------------------------------------


class _Journal(threading.local):
    """How to take back what was done; None where nothing will be."""

    entries: list[Callable[[], None]] | None = None


_journal = _Journal()


@contextlib.contextmanager
def unnoticed() -> Iterator[None]:
    """Around a run of statements that run once more: what they do outside is taken back at the end. An exception ends
    it all, and leaves what was done."""
    outer, entries = _journal.entries, list[Callable[[], None]]()
    _journal.entries = entries
    try:
        yield
    finally:
        _journal.entries = outer
    for take_back in reversed(entries):
        take_back()


def _content_of(container: Any) -> Callable[[], None]:
    """Puts back what a container holds."""
    held = container.copy()
    return lambda: record_content(container, held)


def _variable_of(scope: dict[str, Any], name: str) -> Callable[[], None]:
    """Puts back the variable of a module."""
    if name in scope:
        return functools.partial(operator.setitem, scope, name, scope[name])
    return lambda: operator.delitem(scope, name)


def _attribute_of(owner: Any, name: str) -> Callable[[], None]:
    """Puts back the attribute of an object or a class."""
    own = getattr(owner, "__dict__", None)
    if own is not None and name in own:
        held = own[name]
    elif _has_slot(owner, name):
        held = getattr(owner, name)
    else:
        return lambda: _of_python(type(owner), "__delattr__")(owner, name)
    return lambda: _of_python(type(owner), "__setattr__")(owner, name, held)


def _has_slot(owner: Any, name: str) -> bool:
    slots = (vars(base).get(name) for base in type(owner).__mro__)
    return hasattr(owner, name) and any(isinstance(slot, types.MemberDescriptorType) for slot in slots)


def _of_python(kind: type, method: str) -> Any:
    """The method of a class that is not written in Python."""
    found = (vars(base).get(method) for base in kind.__mro__)
    return next(m for m in found if m is not None and not isinstance(m, types.FunctionType))
